// SPDX-License-Identifier: MIT
/* Where a sweep that was interrupted goes on. The rows of FILE.part say how many there are, but not
 * of which points: those that are not possible have none. So the points are predicted again,
 * without a text, until as many rows have passed. The first and the last row are written again to
 * see that the file is of this sweep. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define READ_BYTES 1048576

/* The whole lines of a file, those that end. */
struct lines {
    uint64_t count;
    off_t last;   /* where the last one begins */
    off_t before; /* and the one before it */
    off_t end;    /* of the last */
};

/* The points of a sweep, which pass until a row is found, and FILE.part beside them. */
struct search {
    struct cli_output *output;
    const struct roof_sweep *sweep;
    struct roof_table table;
    bool json;
    uint64_t first; /* point of the sweep */
    uint64_t count;
    uint64_t wanted; /* number of the row, from 1 */
    bool found;
    struct roof_text row; /* it, as it is in the file without what ends its line */
    struct cli_resumed passed;
    struct cli_progress progress;
};

static enum roof_status no_memory(struct roof_error *error)
{
    return roof_error_set(error, ROOF_MEMORY, "out of memory");
}

static enum roof_status stopped(const struct search *s, struct roof_error *error)
{
    return roof_error_set(error, ROOF_IO, "interrupted; %s is as it was", s->output->part);
}

static enum roof_status foreign(const struct search *s, uint64_t line, struct roof_error *error)
{
    return roof_error_at(error, ROOF_INVALID, s->output->part, line < INT_MAX ? (int)line : INT_MAX,
                         0, "is not of this sweep; remove it to start again");
}

/* --- the file ------------------------------------------------------------------------------ */

static void count_lines(struct lines *out, const char *bytes, size_t length, off_t at)
{
    const char *const end = bytes + length;
    for (const char *p = bytes; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) {
        out->before = out->last;
        out->last = out->end;
        out->end = at + (p - bytes) + 1;
        out->count++;
    }
}

static enum roof_status read_lines(struct lines *out, struct search *s, struct roof_error *error)
{
    FILE *const file = s->output->file;
    char *const buffer = malloc(READ_BYTES);
    if (buffer == NULL) {
        return no_memory(error);
    }
    off_t at = 0;
    size_t got = 0;
    while (cli_interrupted() == 0 && (got = fread(buffer, 1, READ_BYTES, file)) > 0) {
        count_lines(out, buffer, got, at);
        at += (off_t)got;
    }
    const int reason = errno;
    free(buffer);
    if (ferror(file) != 0) {
        return roof_error_at(error, ROOF_IO, s->output->part, 0, 0, "cannot read: %s",
                             strerror(reason));
    }
    if (s->json && out->count > 1 && out->end - out->last == 2) { /* "]": all rows are there */
        out->end = out->last;
        out->last = out->before;
        out->count--;
    }
    return cli_interrupted() == 0 ? ROOF_OK : stopped(s, error);
}

/* Bytes of the file; fewer where it ends. */
static enum roof_status read_at(struct roof_text *out, const struct search *s, off_t at,
                                size_t length, struct roof_error *error)
{
    FILE *const file = s->output->file;
    roof_text_clear(out);
    char *const room = roof_text_room(out, length);
    if (room == NULL) {
        return no_memory(error);
    }
    if (fseeko(file, at, SEEK_SET) == 0) {
        out->length = fread(room, 1, length, file);
        if (ferror(file) == 0) {
            return ROOF_OK;
        }
    }
    return roof_error_at(error, ROOF_IO, s->output->part, 0, 0, "cannot read: %s", strerror(errno));
}

/* --- what it should be --------------------------------------------------------------------- */

/* The header, or as much of it as there is; *lines of it, and where the rows begin. */
static enum roof_status check_header(uint64_t *lines, off_t *rows, struct search *s,
                                     struct roof_error *error)
{
    struct roof_text header = ROOF_TEXT_INIT;
    struct roof_text got = ROOF_TEXT_INIT;
    struct lines counted = {0};
    enum roof_status status = ROOF_OK;
    if (s->first == 0) { /* else it is a shard without one */
        roof_table_begin(&s->table, &header);
        roof_text_put(&header, s->json ? "\n" : ""); /* which the first row would bring */
    }
    if (header.failed) {
        status = no_memory(error);
    } else if (header.length > 0) {
        count_lines(&counted, header.data, header.length, 0);
        status = read_at(&got, s, 0, header.length, error);
        if (status == ROOF_OK && memcmp(header.data, got.data, got.length) != 0) {
            status = foreign(s, 1, error);
        }
    }
    *lines = counted.count;
    *rows = (off_t)header.length;
    roof_text_free(&header);
    roof_text_free(&got);
    return status;
}

static enum roof_status on_row(void *context, const struct roof_prediction *prediction,
                               struct roof_error *error)
{
    struct search *const s = context;
    s->passed.points++;
    if (++s->passed.rows < s->wanted) {
        return ROOF_OK;
    }
    s->found = true;
    roof_table_row(&s->table, &s->row, prediction);
    return s->row.failed ? no_memory(error) : ROOF_UNSATISFIED; /* no more of them */
}

static void on_refused(void *context, const struct roof_error *error)
{
    struct search *const s = context;
    s->passed.points++;
    if (s->passed.refused++ == 0) {
        s->passed.first_refused = *error;
    }
}

/* Writes the wanted row, which is among the next points; not found: it is not. */
static enum roof_status write_row(struct search *s, struct roof_error *error)
{
    struct roof_sweep sweep = *s->sweep;
    sweep.refused = on_refused;
    roof_text_clear(&s->row);
    s->table.rows = 0;
    s->found = false;
    const enum roof_status status = roof_sweep_run(&sweep, s->first + s->passed.points,
                                                   s->count - s->passed.points, on_row, s, error);
    if (status != ROOF_UNSATISFIED) {
        return status;
    }
    s->row.length--; /* all but an array have a newline at the end of a row, an array before it */
    memmove(s->row.data, s->row.data + (s->json ? 1 : 0), s->row.length);
    return ROOF_OK;
}

/* Holds the row against the line that begins at `at`. */
static enum roof_status check_row(const struct search *s, off_t at, uint64_t line,
                                  struct roof_error *error)
{
    static const char end[] = ",\n"; /* the comma between the elements of an array */
    const size_t length = s->row.length;
    struct roof_text got = ROOF_TEXT_INIT;
    enum roof_status status = read_at(&got, s, at, length + 2, error);
    if (status == ROOF_OK) {
        const char *const rest = got.data + length;
        const bool ends =
            got.length > length &&
            (*rest == '\n' || (s->json && got.length == length + 2 && memcmp(rest, end, 2) == 0));
        if (!s->found || !ends || memcmp(s->row.data, got.data, length) != 0) {
            status = foreign(s, line, error);
        }
    }
    roof_text_free(&got);
    return status;
}

/* Chunks pass until the wanted row is in one. */
static enum roof_status on_chunk(void *context, struct cli_chunk *chunk, struct roof_error *error)
{
    struct search *const s = context;
    if (cli_interrupted() != 0) {
        return stopped(s, error);
    }
    if (s->passed.rows + chunk->table.rows >= s->wanted) {
        s->found = true;
        return ROOF_UNSATISFIED;
    }
    if (s->passed.refused == 0) {
        s->passed.first_refused = chunk->first_refused;
    }
    s->passed.rows += chunk->table.rows;
    s->passed.refused += chunk->refused;
    s->passed.points += chunk->table.rows + chunk->refused;
    cli_progress_step(&s->progress, s->passed.rows);
    return ROOF_OK;
}

/* Passes all points up to the wanted row, and writes it. */
static enum roof_status pass_rows(struct search *s, int64_t threads, struct roof_error *error)
{
    s->passed = (struct cli_resumed){0};
    s->found = false;
    cli_progress_begin(&s->progress, "sweep: resuming", "rows", 0, s->wanted, s->output->file);
    const enum roof_status status =
        cli_sweep_chunks(s->sweep, NULL, s->first, s->count, threads, on_chunk, s, error);
    cli_progress_end(&s->progress);
    if (status == ROOF_UNSATISFIED && s->found) {
        return write_row(s, error);
    }
    s->found = false;
    return status;
}

/* Finds the end of the last whole row, *end, after the points that it and those before it are. */
static enum roof_status find_end(off_t *end, struct search *s, int64_t threads,
                                 struct roof_error *error)
{
    struct lines lines = {0};
    uint64_t header = 0;
    off_t rows = 0;
    *end = 0;
    enum roof_status status = read_lines(&lines, s, error);
    if (status == ROOF_OK) {
        status = check_header(&header, &rows, s, error);
    }
    if (status != ROOF_OK || lines.count <= header) {
        return status; /* no row: the header is written again, too */
    }
    s->wanted = 1;
    status = pass_rows(s, threads, error);
    if (status == ROOF_OK) {
        status = check_row(s, rows, header + 1, error);
    }
    if (status == ROOF_OK) {
        s->wanted = lines.count - header;
        status = pass_rows(s, threads, error);
    }
    if (status == ROOF_OK) {
        status = check_row(s, lines.last, lines.count, error);
    }
    /* An array's comma and newline come with the next row. */
    *end = s->json ? lines.last + (off_t)s->row.length : lines.end;
    return status;
}

enum roof_status cli_resume(struct cli_resumed *out, struct cli_output *output,
                            const struct roof_sweep *sweep, const struct roof_table *table,
                            uint64_t first, uint64_t count, int64_t threads,
                            struct roof_error *error)
{
    struct search s = {.output = output,
                       .sweep = sweep,
                       .table = *table,
                       .json = table->output == ROOF_OUTPUT_JSON,
                       .first = first,
                       .count = count,
                       .row = ROOF_TEXT_INIT};
    off_t end = 0;
    enum roof_status status = find_end(&end, &s, threads, error);
    if (status == ROOF_OK) {
        status = cli_output_cut(output, (uint64_t)end, error);
    }
    *out = s.passed;
    roof_text_free(&s.row);
    return status;
}
