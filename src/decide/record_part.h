// SPDX-License-Identifier: MIT
/* Parts of an open file of records: whole lines, whose records a thread reads and predicts while
 * others do the same with the lines behind them. The file takes them in order, as if it had read
 * them itself. */
#ifndef ROOF_DECIDE_RECORD_PART_H
#define ROOF_DECIDE_RECORD_PART_H

#include "decide/records.h"

/* A part, which is used again for other lines. Zero is one that is not open. */
struct roof_record_part {
    struct roof_records records; /* reads the lines; its columns are those of the file */
    size_t columns;              /* of the file */
    /* The record at hand is not for this part, nor is what follows: a cell goes on behind the
     * lines, a key is new to the file, or the thread has no device for it. */
    bool stopped;
    /* This is behind all that was read and answered so far. */
    struct {
        size_t bytes;
        int lines;
        uint64_t count;
        uint64_t bad;
    } done;
    struct roof_error bad[ROOF_RECORDS_BAD_SHOWN]; /* the first bad records, with lines from 1 */
};

/* Returns whole lines of the file that come next, as roof_csv_lines does. */
const char *roof_records_lines(struct roof_records *records, size_t *length, size_t most);

/* Gives lines to a part, which copies them, and opens it where it is not. */
enum roof_status roof_record_part_begin(struct roof_record_part *part,
                                        const struct roof_records *records, const char *lines,
                                        size_t length, struct roof_error *error);
/* Reads the next record of a part; *more is false at its end, and where it has stopped. */
enum roof_status roof_record_part_next(struct roof_record_part *part, bool *more,
                                       struct roof_error *error);
/* Says that the record at hand is answered. A bad one is refused (roof_records_refuse) instead. */
void roof_record_part_keep(struct roof_record_part *part);
/* Goes on in the file behind what a part has done, and tells of its bad records. */
void roof_records_take(struct roof_records *records, const struct roof_record_part *part);

void roof_record_part_close(struct roof_record_part *part);

#endif
