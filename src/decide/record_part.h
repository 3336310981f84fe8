// SPDX-License-Identifier: MIT
/* Parts of an open file of records: whole lines, whose records one thread reads and predicts while
 * others work on later lines. The file takes over the parts in order, as if it had read the lines
 * itself. */
#ifndef ROOF_DECIDE_RECORD_PART_H
#define ROOF_DECIDE_RECORD_PART_H

#include "decide/records.h"

/* A part, which is reused for other lines. A zeroed part is not open. */
struct roof_record_part {
    struct roof_records records; /* reads the lines; its columns are those of the file */
    size_t columns;              /* number of columns in the file */
    /* The current record and the rest are not for this part: a cell continues after the lines, a
     * key is new to the file, or the thread has no device for it. */
    bool stopped;
    /* The state after the last record that was read and answered. */
    struct {
        size_t bytes;
        int lines;
        uint64_t count;
        uint64_t bad;
    } done;
    struct roof_error
        bad[ROOF_RECORDS_BAD_SHOWN]; /* the first bad records, with line numbers from 1 */
};

/* Returns the next whole lines of the file, like roof_csv_lines. */
const char *roof_records_lines(struct roof_records *records, size_t *length, size_t most);

/* Copies lines into a part, and opens it if needed. */
enum roof_status roof_record_part_begin(struct roof_record_part *part,
                                        const struct roof_records *records, const char *lines,
                                        size_t length, struct roof_error *error);
/* Reads the next record of a part; *more is false at its end, and if it has stopped. */
enum roof_status roof_record_part_next(struct roof_record_part *part, bool *more,
                                       struct roof_error *error);
/* Marks the current record as answered. A bad one is refused (roof_records_refuse) instead. */
void roof_record_part_keep(struct roof_record_part *part);
/* Continues the file after the work of a part, and reports the bad records of the part. */
void roof_records_take(struct roof_records *records, const struct roof_record_part *part);

void roof_record_part_close(struct roof_record_part *part);

#endif
