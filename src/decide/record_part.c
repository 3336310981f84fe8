// SPDX-License-Identifier: MIT
#include "decide/record_part.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "decide/record_columns.h"

void roof_record_part_keep(struct roof_record_part *part)
{
    const struct roof_csv *const csv = &part->records.private_data->csv;
    part->done.bytes = csv->next;
    part->done.lines = csv->lines;
    part->done.count = part->records.count;
    part->done.bad = part->records.bad;
}

/* Stops a part before a record that only the file may read. */
static bool stop(struct roof_record_part *part)
{
    const struct roof_records_private *const p = part->records.private_data;
    part->stopped = part->stopped || p->csv.open || part->records.columns != part->columns;
    return part->stopped;
}

/* Keeps the error of a bad record, which follows all finished ones. */
static void on_bad(void *context, const struct roof_error *error)
{
    struct roof_record_part *const part = context;
    if (stop(part)) {
        return;
    }
    if (part->done.bad < ROOF_RECORDS_BAD_SHOWN) {
        part->bad[part->done.bad] = *error;
    }
    roof_record_part_keep(part);
}

const char *roof_records_lines(struct roof_records *records, size_t *length, size_t most)
{
    struct roof_records_private *const p = records->private_data;
    *length = 0;
    return p->pending ? NULL : roof_csv_lines(&p->csv, length, most);
}

/* Makes records with the columns of a file, which keeps them. */
static enum roof_status open_part(struct roof_record_part *part, const struct roof_records *records,
                                  struct roof_error *error)
{
    struct roof_records_private *const p = malloc(sizeof *p);
    if (p == NULL) {
        return roof_no_memory(error);
    }
    *p = *records->private_data;
    roof_csv_open_lines(&p->csv, records->name);
    memset(p->owned, 0, sizeof p->owned);
    memset(p->trimmed, 0, sizeof p->trimmed);
    memset(&p->decoded, 0, sizeof p->decoded);
    p->model_prediction = NULL;
    p->options.context = part;
    p->options.bad = on_bad;
    p->options.wait = NULL;
    part->records = *records;
    part->records.private_data = p;
    part->records.column = p->name;
    part->records.cell = records->json ? p->cell : p->csv.cell;
    part->columns = records->columns;
    part->records.carried = p->carried;
    return ROOF_OK;
}

enum roof_status roof_record_part_begin(struct roof_record_part *part,
                                        const struct roof_records *records, const char *lines,
                                        size_t length, struct roof_error *error)
{
    if (part->columns != records->columns || part->records.columns != part->columns) {
        roof_record_part_close(part);
    }
    if (part->records.private_data == NULL) {
        TRY(open_part(part, records, error));
    }
    struct roof_records_private *const p = part->records.private_data;
    TRY(roof_csv_give(&p->csv, lines, length, error));
    memset(p->seen, 0, sizeof p->seen);
    part->records.count = part->records.bad = 0;
    part->stopped = false;
    roof_record_part_keep(part);
    return ROOF_OK;
}

enum roof_status roof_record_part_next(struct roof_record_part *part, bool *more,
                                       struct roof_error *error)
{
    TRY(roof_records_next(&part->records, more, error));
    if (stop(part)) {
        *more = false;
    } else if (!*more) { /* comments may follow the last record */
        roof_record_part_keep(part);
    }
    return ROOF_OK;
}

void roof_records_take(struct roof_records *records, const struct roof_record_part *part)
{
    struct roof_csv *const csv = &records->private_data->csv;
    const struct roof_records_options *const options = &records->private_data->options;
    for (uint64_t i = 0; i < part->done.bad; i++) {
        records->bad++;
        if (i < ROOF_RECORDS_BAD_SHOWN) {
            struct roof_error error = part->bad[i];
            error.line = error.line < INT_MAX - csv->lines ? error.line + csv->lines : INT_MAX;
            options->bad(options->context, &error);
        }
    }
    records->count += part->done.count;
    roof_csv_go_on(csv, part->done.bytes, part->done.lines);
    records->line = csv->line;
}

void roof_record_part_close(struct roof_record_part *part)
{
    roof_records_close(&part->records);
}
