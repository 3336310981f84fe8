// SPDX-License-Identifier: MIT
/* CSV by RFC 4180, row by row: quoted cells, LF or CRLF, '#' lines are comments. Memory is one row.
 */
#ifndef ROOF_CSV_H
#define ROOF_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "roofline/status.h"
#include "roofline/text.h"

#define ROOF_CSV_CELLS_MAX 256
#define ROOF_CSV_ROW_MAX (1U << 20) /* bytes */

struct roof_csv {
    FILE *file;
    const char *name;
    int line;                             /* of the row that was read last */
    int lines;                            /* read so far */
    size_t count;                         /* cells of that row */
    const char *cell[ROOF_CSV_CELLS_MAX]; /* terminated; until the next row is read */
    struct roof_text text;                /* private */
};

/* Opens a regular file; release with roof_csv_close, also after a failure. */
enum roof_status roof_csv_open(struct roof_csv *out, const char *path, struct roof_error *error);
/* Reads the next row that is no comment and not empty; *more is false at the end. A row that is not
 * CSV: ROOF_INVALID with its line; the next call goes on behind it. */
enum roof_status roof_csv_read(struct roof_csv *csv, bool *more, struct roof_error *error);
void roof_csv_close(struct roof_csv *csv);

/* Adds a cell, in quotes where it needs them. */
void roof_csv_cell(struct roof_text *out, const char *text);

#endif
