// SPDX-License-Identifier: MIT
/* Reads CSV by RFC 4180, row by row: quoted cells, LF or CRLF, lines with '#' are comments. It
 * holds one row in a buffer, and its cells are terminated in place. It can also read whole lines,
 * and a file twice. */
#ifndef ROOF_BASE_CSV_H
#define ROOF_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define ROOF_CSV_CELLS_MAX 256
#define ROOF_CSV_ROW_MAX (1U << 20) /* bytes */

/* A cell as offsets from the first byte of its row. */
struct roof_csv_place {
    size_t begin;
    size_t end;
    bool doubled; /* it has quotes that are doubled */
};

struct roof_csv {
    const char *name;                         /* for messages */
    int line;                                 /* number of the row that was read last */
    int lines;                                /* lines read so far */
    size_t count;                             /* cells of the row that was read last */
    const char *cell[ROOF_CSV_CELLS_MAX];     /* terminated; they last until the next row */
    void (*wait)(void *context, bool begins); /* called before and after every read, or NULL */
    void *wait_context;
    /* Private: */
    int file; /* -1: closed */
    char *buffer;
    size_t capacity;
    size_t next;   /* the first byte that is not read yet */
    size_t end;    /* bytes in the buffer; a NUL stands behind them */
    bool ended;    /* nothing more is read */
    int failure;   /* errno of what ended it; 0: its end */
    bool open;     /* it ended inside a quoted cell */
    int64_t begin; /* offset of the first byte in a file that is read twice; -1: see kept */
    bool keeps;    /* what is read is kept for another time */
    bool again;    /* what was kept is read */
    char *kept;
    size_t kept_room;
    size_t kept_length;
    size_t kept_next;
    struct roof_csv_place place[ROOF_CSV_CELLS_MAX]; /* the cells, while the row is read */
};

/* Opens a file, FIFO or device, or for "-" standard input; a folder is refused. The caller closes
 * it with roof_csv_close, also after a failure. */
enum roof_status roof_csv_open(struct roof_csv *out, const char *path, struct roof_error *error);
/* Opens a file that is read more than once. The bytes of a FIFO or device are kept in memory. */
enum roof_status roof_csv_open_twice(struct roof_csv *out, const char *path,
                                     struct roof_error *error);
/* Starts again at the first byte of a file that roof_csv_open_twice opened. */
enum roof_status roof_csv_rewind(struct roof_csv *csv, struct roof_error *error);
/* Returns the first byte that is not a blank, which stays unread; EOF if there is none. */
int roof_csv_first(struct roof_csv *csv);
/* Tells if the next bytes, at most a megabyte, contain a word; they stay unread. */
bool roof_csv_ahead(struct roof_csv *csv, const char *word, size_t most);
/* Adds all unread bytes to a text unchanged. ROOF_INVALID if there are more than the limit. */
enum roof_status roof_csv_rest(struct roof_text *out, struct roof_csv *csv, size_t most,
                               struct roof_error *error);
/* Reads the next row that is not empty and not a comment; *more is false at the end. A row that is
 * not CSV is ROOF_INVALID with its line; the next call continues after that line, even if the row
 * had more lines. A line without an end is ROOF_IO, and nothing after it is read. */
enum roof_status roof_csv_read(struct roof_csv *csv, bool *more, struct roof_error *error);
/* Reads the next line that is not empty as it is, without its end. It is terminated, and the caller
 * may write to it until the next line is read. A line that is too long: ROOF_INVALID with its
 * number. */
enum roof_status roof_csv_line(struct roof_csv *csv, char **line, size_t *length, bool *more,
                               struct roof_error *error);

/* Opens a reader without a file, which reads the lines that it is given. */
void roof_csv_open_lines(struct roof_csv *out, const char *name);
/* Gives lines to a reader without a file, which copies them and numbers them from 1. */
enum roof_status roof_csv_give(struct roof_csv *csv, const char *lines, size_t length,
                               struct roof_error *error);
/* Returns the next complete lines, in at most the given number of bytes, which stay unread; *length
 * is 0 if there is no complete line. It reads from the file at most once, and only if the buffer
 * has no complete line. */
const char *roof_csv_lines(struct roof_csv *csv, size_t *length, size_t most);
/* Skips bytes that another reader has read, with their number of lines. */
void roof_csv_go_on(struct roof_csv *csv, size_t bytes, int lines);

void roof_csv_close(struct roof_csv *csv);

/* Adds a cell, in quotes if it needs them. */
void roof_csv_cell(struct roof_text *out, const char *text);

#endif
