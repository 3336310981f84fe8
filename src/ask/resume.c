// SPDX-License-Identifier: MIT
/* Finds where to continue an interrupted sweep. The rows of its part have a known number, but not
 * known points, because impossible points have no row. So the points are predicted again up to the
 * same number of rows. The first and the last hundreds of rows, and a sample of the others, are
 * formatted again to check that the part belongs to this sweep. */
#include "ask/resume.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "ask/chunks.h"
#include "base/base.h"

#define READ_BYTES 1048576

/* The whole lines of a file: those with a newline. In a text table a blank line ends them, because
 * remarks follow, which are written again. */
struct lines {
    uint64_t count;
    off_t last; /* offset of the last line */
    off_t end;  /* end of the last line */
    bool text;
    bool remarks;
};

/* The points of a sweep up to the last row, and the corresponding FILE.part. */
struct search {
    struct roof_asking *asking;
    const struct roof_sweep *sweep;
    struct roof_table table;
    bool json;
    uint64_t first; /* first point of the sweep */
    uint64_t count;
    uint64_t wanted; /* number of rows in the file */
    bool near;       /* the last row is among the next points */
    struct roof_text row;
    struct roof_tile tile; /* of the current point */
    char *line;            /* current line of the file */
    size_t capacity;
    uint64_t lines; /* number of lines read */
    off_t at;       /* offset after them */
    off_t row_end;  /* offset after the last one, without its terminator */
    struct roof_resumed passed;
};

static FILE *part_of(const struct search *s)
{
    return s->asking->listener->part;
}

static const char *name_of(const struct search *s)
{
    return s->asking->listener->part_name;
}

static enum roof_status stopped(const struct search *s, struct roof_error *error)
{
    return roof_error_set(error, ROOF_IO, "interrupted; %s is unchanged", name_of(s));
}

static enum roof_status foreign(const struct search *s, uint64_t line, struct roof_error *error)
{
    return roof_error_at(error, ROOF_INVALID, name_of(s), line < INT_MAX ? (int)line : INT_MAX, 0,
                         "belongs to another sweep; remove it to start again");
}

/* --- the file ------------------------------------------------------------------------------ */

static void count_lines(struct lines *out, const char *bytes, size_t length, off_t at)
{
    const char *const end = bytes + length;
    for (const char *p = bytes; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) {
        const off_t next = at + (p - bytes) + 1;
        out->remarks = out->remarks || (out->text && next == out->end + 1);
        if (out->remarks) {
            return;
        }
        out->last = out->end;
        out->end = next;
        out->count++;
    }
}

static enum roof_status read_lines(struct lines *out, struct search *s, struct roof_error *error)
{
    FILE *const file = part_of(s);
    char *const buffer = malloc(READ_BYTES);
    if (buffer == NULL) {
        return roof_no_memory(error);
    }
    off_t at = 0;
    size_t got = 0;
    while (!roof_asking_stopped(s->asking) && (got = fread(buffer, 1, READ_BYTES, file)) > 0) {
        count_lines(out, buffer, got, at);
        at += (off_t)got;
    }
    const int reason = errno;
    free(buffer);
    if (ferror(file) != 0) {
        return roof_error_at(error, ROOF_IO, name_of(s), 0, 0, "cannot read: %s", strerror(reason));
    }
    if (s->json && out->count > 1 && out->end - out->last == 2) { /* "]": the file has all rows */
        out->end = out->last;
        out->count--;
    }
    return !roof_asking_stopped(s->asking) ? ROOF_OK : stopped(s, error);
}

/* Reads bytes of the file; fewer at its end. */
static enum roof_status read_at(struct roof_text *out, const struct search *s, off_t at,
                                size_t length, struct roof_error *error)
{
    FILE *const file = part_of(s);
    roof_text_clear(out);
    char *const room = roof_text_room(out, length);
    if (room == NULL) {
        return roof_no_memory(error);
    }
    if (fseeko(file, at, SEEK_SET) == 0) {
        out->length = fread(room, 1, length, file);
        if (ferror(file) == 0) {
            return ROOF_OK;
        }
    }
    return roof_error_at(error, ROOF_IO, name_of(s), 0, 0, "cannot read: %s", strerror(errno));
}

/* --- the expected content ------------------------------------------------------------------ */

/* Checks the header, or its first part if the file has no more; *lines counts its lines, and *rows
 * is the offset of the first row. */
static enum roof_status check_header(uint64_t *lines, off_t *rows, struct search *s,
                                     struct roof_error *error)
{
    struct roof_text header = ROOF_TEXT_INIT;
    struct roof_text got = ROOF_TEXT_INIT;
    struct lines counted = {0};
    enum roof_status status = ROOF_OK;
    if (s->first == 0) { /* otherwise it is a shard without a header */
        roof_table_begin(&s->table, &header);
        roof_text_put(&header, s->json ? "\n" : ""); /* as the first row would write it */
    }
    if (header.failed) {
        status = roof_no_memory(error);
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

/* Takes the next line of the file, which must equal this row; NULL: it may be any. */
static enum roof_status take_line(struct search *s, const char *row, size_t length,
                                  struct roof_error *error)
{
    const ssize_t got = getline(&s->line, &s->capacity, part_of(s));
    s->lines++;
    if (got < 0 || ferror(part_of(s)) != 0) { /* the buffer may contain an earlier line */
        return roof_error_at(error, ROOF_IO, name_of(s), 0, 0, "cannot read: %s", strerror(errno));
    }
    size_t end = (size_t)got - 1; /* length of a whole line */
    end -= s->json && end > 0 && s->line[end - 1] == ',' ? 1 : 0;
    s->row_end = s->at + (off_t)end;
    s->at += (off_t)got;
    return row == NULL || (end == length && memcmp(s->line, row, length) == 0)
               ? ROOF_OK
               : foreign(s, s->lines, error);
}

/* Takes the next line for a row as tables write it: a newline after it, or before it for an
 * element. */
static enum roof_status take_row(struct search *s, const char *row, size_t length,
                                 struct roof_error *error)
{
    return take_line(s, row + (s->json ? 1 : 0), length - 1, error);
}

static enum roof_status on_row(void *context, const struct roof_prediction *prediction,
                               const struct roof_model_prediction *model, struct roof_error *error)
{
    struct search *const s = context;
    roof_text_clear(&s->row);
    s->table.rows = 0;
    roof_table_point(&s->table, &s->row, prediction, model, &s->tile);
    const enum roof_status status =
        s->row.failed ? roof_no_memory(error) : take_row(s, s->row.data, s->row.length, error);
    s->passed.points++;
    s->passed.rows++;
    return status == ROOF_OK && s->passed.rows == s->wanted ? ROOF_UNSATISFIED : status;
}

static void on_refused(void *context, const struct roof_error *error)
{
    struct search *const s = context;
    s->passed.points++;
    if (s->passed.refused++ == 0) {
        s->passed.first_refused = *error;
    }
}

/* Compares lines with the sampled rows of a chunk. */
static enum roof_status take_samples(struct search *s, const struct roof_chunk *chunk,
                                     struct roof_error *error)
{
    const char *sample = chunk->text.data;
    enum roof_status status = chunk->text.failed ? roof_no_memory(error) : ROOF_OK;
    for (uint64_t row = 0; row < chunk->rows && status == ROOF_OK; row++) {
        if (!roof_chunk_sampled(chunk->number, row)) {
            status = take_line(s, NULL, 0, error);
            continue;
        }
        const size_t length = 1 + strcspn(sample + 1, "\n"); /* an element begins with a newline */
        const size_t whole = length + (s->json ? 0 : 1);
        status = take_row(s, sample, whole, error);
        sample += whole;
    }
    return status;
}

/* Takes chunks up to the one with the last row. */
static enum roof_status on_chunk(void *context, struct roof_chunk *chunk, struct roof_error *error)
{
    struct search *const s = context;
    if (roof_asking_stopped(s->asking)) {
        return stopped(s, error);
    }
    if (s->passed.rows + chunk->rows >= s->wanted) {
        s->near = true;
        return ROOF_UNSATISFIED;
    }
    if (s->passed.refused == 0) {
        s->passed.first_refused = chunk->first_refused;
    }
    s->passed.rows += chunk->rows;
    s->passed.refused += chunk->refused;
    s->passed.points += chunk->rows + chunk->refused;
    roof_asking_progress(s->asking, "sweep: resuming", "rows", s->passed.rows, s->wanted);
    return take_samples(s, chunk, error);
}

/* Skips all points up to the last row. */
static enum roof_status pass_rows(struct search *s, int64_t threads, struct roof_error *error)
{
    roof_asking_progress(s->asking, "sweep: resuming", "rows", 0, s->wanted);
    enum roof_status status = roof_sweep_chunks(s->sweep, &s->table, true, s->first, s->count,
                                                threads, on_chunk, s, error);
    if (status == ROOF_UNSATISFIED && s->near) {
        struct roof_sweep sweep = *s->sweep;
        sweep.refused = on_refused;
        sweep.tile = &s->tile;
        status = roof_sweep_run(&sweep, s->first + s->passed.points, s->count - s->passed.points,
                                on_row, s, error);
    }
    return status == ROOF_OK ? foreign(s, s->lines + 1, error) /* the file has more rows */
           : status == ROOF_UNSATISFIED ? ROOF_OK
                                        : status;
}

/* Finds the end of the last whole row, *end, after counting the points up to it. */
static enum roof_status find_end(off_t *end, struct search *s, int64_t threads,
                                 struct roof_error *error)
{
    struct lines lines = {.text = s->table.output == ROOF_OUTPUT_TEXT};
    *end = 0;
    enum roof_status status = read_lines(&lines, s, error);
    if (status == ROOF_OK) {
        status = check_header(&s->lines, &s->at, s, error);
    }
    if (status != ROOF_OK || lines.count <= s->lines) {
        return status; /* without a row the header is also written again */
    }
    s->wanted = lines.count - s->lines;
    if (fseeko(part_of(s), s->at, SEEK_SET) != 0) {
        return roof_error_at(error, ROOF_IO, name_of(s), 0, 0, "cannot read: %s", strerror(errno));
    }
    status = pass_rows(s, threads, error);
    /* The comma and newline of an array belong to the next row. */
    *end = s->json ? s->row_end : s->at;
    return status;
}

enum roof_status roof_resume(struct roof_resumed *out, struct roof_asking *a,
                             const struct roof_sweep *sweep, const struct roof_table *table,
                             uint64_t first, uint64_t count, int64_t threads,
                             struct roof_error *error)
{
    struct search s = {.asking = a,
                       .sweep = sweep,
                       .table = *table,
                       .json = table->output == ROOF_OUTPUT_JSON,
                       .first = first,
                       .count = count,
                       .row = ROOF_TEXT_INIT};
    off_t end = 0;
    enum roof_status status = find_end(&end, &s, threads, error);
    if (status == ROOF_OK) {
        status = a->listener->keep(a->listener->context, (uint64_t)end, error);
    }
    *out = s.passed;
    free(s.line);
    roof_text_free(&s.row);
    return status;
}
