// SPDX-License-Identifier: MIT
#include "base/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPACITY (1U << 17) /* of the buffer at first */
/* A row may have this many bytes, quotes included. */
#define ROW_MAX (ROOF_CSV_ROW_MAX + 1)
/* A line that is left out may have this many bytes more: a device such as /dev/zero has no end. */
#define SKIP_MAX ((size_t)1 << 26)
/* What stands for a byte where there is none; EOF is the other. */
#define TOO_LONG (EOF - 1)

/* --- bytes --------------------------------------------------------------------------------- */

/* Lines beyond those that a message can name count no more. */
static void count_line(struct roof_csv *csv, bool whole)
{
    csv->lines += whole && csv->lines < INT_MAX - 1 ? 1 : 0;
}

/* Reads more behind the bytes from `next` on, which move to the front; false when there are none.
 */
static bool read_more(struct roof_csv *csv)
{
    if (csv->ended) {
        return false;
    }
    csv->end -= csv->next;
    memmove(csv->buffer, csv->buffer + csv->next, csv->end);
    csv->next = 0;
    if (csv->end + 1 == csv->capacity) {
        char *const grown = realloc(csv->buffer, 2 * csv->capacity);
        if (grown == NULL) {
            csv->ended = true;
            csv->failure = ENOMEM;
            csv->buffer[csv->end] = '\0';
            return false;
        }
        csv->buffer = grown;
        csv->capacity *= 2;
    }
    ssize_t got = 0;
    if (csv->wait != NULL) {
        csv->wait(csv->wait_context, true);
    }
    do {
        got = read(csv->file, csv->buffer + csv->end, csv->capacity - csv->end - 1);
    } while (got < 0 && errno == EINTR);
    csv->failure = got < 0 ? errno : 0;
    if (csv->wait != NULL) {
        csv->wait(csv->wait_context, false);
    }
    csv->ended = got <= 0;
    csv->end += got > 0 ? (size_t)got : 0;
    csv->buffer[csv->end] = '\0';
    return got > 0;
}

/* The byte at an offset from `next`. Pointers into the buffer do not outlive a call. */
static inline int byte_at(struct roof_csv *csv, size_t at)
{
    if (at > ROW_MAX) {
        return TOO_LONG;
    }
    while (csv->next + at >= csv->end) {
        if (!read_more(csv)) {
            return EOF;
        }
    }
    return (unsigned char)csv->buffer[csv->next + at];
}

/* What the end of the bytes means. */
static enum roof_status ended(const struct roof_csv *csv, struct roof_error *error)
{
    return csv->failure == 0        ? ROOF_OK
           : csv->failure == ENOMEM ? roof_no_memory(error)
           : csv->failure == EFBIG  ? roof_error_at(error, ROOF_IO, csv->name, csv->line, 0,
                                                    "the line does not end within 64 MiB; what "
                                                     "follows is not read")
                                    : roof_error_at(error, ROOF_IO, csv->name, 0, 0,
                                                    "cannot read: %s", strerror(csv->failure));
}

/* The end of the line, or of the bytes, as an offset from `next`; the buffer has all before it. Of
 * a line that is too long it is somewhere behind ROW_MAX. */
static size_t line_end(struct roof_csv *csv)
{
    size_t at = 0;
    while (at <= ROW_MAX) {
        const char *const from = csv->buffer + csv->next + at;
        const size_t there = csv->end - csv->next - at;
        const char *const found = memchr(from, '\n', there);
        if (found != NULL) {
            return at + (size_t)(found - from);
        }
        at += there;
        if (!read_more(csv)) {
            break;
        }
    }
    return at;
}

/* Leaves out the rest of the line from an offset on, which need not fit into the buffer. */
static void skip_line(struct roof_csv *csv, size_t at)
{
    size_t skipped = 0;
    csv->next += at;
    for (;;) {
        const char *const from = csv->buffer + csv->next;
        const char *const found = memchr(from, '\n', csv->end - csv->next);
        skipped += csv->end - csv->next;
        if (found == NULL && skipped > SKIP_MAX) {
            csv->ended = true;
            csv->failure = EFBIG;
            csv->next = csv->end;
            return;
        }
        if (found != NULL) {
            csv->next += (size_t)(found - from) + 1;
            count_line(csv, true);
            return;
        }
        csv->next = csv->end;
        if (!read_more(csv)) {
            return;
        }
    }
}

enum roof_status roof_csv_open(struct roof_csv *out, const char *path, struct roof_error *error)
{
    const bool standard = strcmp(path, "-") == 0;
    *out = (struct roof_csv){.name = standard ? "standard input" : path, .file = -1};
    struct stat info;
    out->buffer = malloc(CAPACITY);
    out->capacity = CAPACITY;
    if (out->buffer == NULL) {
        return roof_no_memory(error);
    }
    out->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (out->file < 0 || fstat(out->file, &info) != 0) {
        return roof_error_at(error, ROOF_IO, out->name, 0, 0, "cannot read: %s", strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return roof_error_at(error, ROOF_IO, out->name, 0, 0, "not a regular file");
    }
    /* Spreadsheets begin UTF-8 with a byte order mark. */
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    size_t at = 0;
    while (at < sizeof mark && byte_at(out, at) == mark[at]) {
        at++;
    }
    out->next = at == sizeof mark ? out->next + at : out->next;
    return ROOF_OK;
}

void roof_csv_close(struct roof_csv *csv)
{
    if (csv->file > STDIN_FILENO) {
        (void)close(csv->file);
    }
    free(csv->buffer);
    *csv = (struct roof_csv){.name = csv->name, .line = csv->line, .file = -1, .ended = true};
}

int roof_csv_first(struct roof_csv *csv)
{
    size_t at = 0;
    int c = byte_at(csv, at);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        c = byte_at(csv, ++at);
    }
    return c;
}

/* --- rows ---------------------------------------------------------------------------------- */

static enum roof_status bad(const struct roof_csv *csv, struct roof_error *error, const char *what)
{
    return roof_error_at(error, ROOF_INVALID, csv->name, csv->line, 0, "%s", what);
}

static const char *const no_csv =
    "a cell with quotes must have them around all of it, doubled inside";
static const char *const too_long = "the row is longer than a megabyte";
static const char *const nul_byte = "the row has a NUL byte";

/* Bytes that a run of plain ones ends at; the one behind the buffer is among them. */
static const bool ends_plain[256] = {
    ['\0'] = true, [','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true};
static const bool ends_quoted[256] = {['\0'] = true, ['"'] = true, ['\n'] = true};

/* The offset of the first byte from `at` on that ends a run. */
static inline size_t run_end(const struct roof_csv *csv, size_t at, const bool ends[256])
{
    const unsigned char *const row = (const unsigned char *)csv->buffer + csv->next;
    while (!ends[row[at]]) {
        at++;
    }
    return at;
}

/* Whether a cell ends at an offset, with a comma, a line or the file; *c is the byte there. */
static inline bool cell_ends(struct roof_csv *csv, size_t at, int *c)
{
    *c = byte_at(csv, at);
    return *c == ',' || *c == '\n' || *c == EOF || (*c == '\r' && byte_at(csv, at + 1) == '\n');
}

/* Moves *at to what ends the cell, which is *c, and returns what is wrong, or NULL. */
static const char *plain_cell(struct roof_csv *csv, size_t *at, int *c)
{
    for (;;) {
        *at = run_end(csv, *at, ends_plain);
        if (cell_ends(csv, *at, c)) {
            return NULL;
        }
        if (*c == TOO_LONG) {
            return too_long;
        }
        if (*c == '"' || *c == '\0') {
            return *c == '"' ? no_csv : nul_byte;
        }
        ++*at; /* a lone CR, or the first byte that was not in the buffer before */
    }
}

/* Likewise; the text ends at *end, and *doubled says whether it has doubled quotes. */
static const char *quoted_cell(struct roof_csv *csv, size_t *at, int *c, size_t *end, bool *doubled)
{
    ++*at;
    for (;;) {
        *at = *end = run_end(csv, *at, ends_quoted);
        *c = byte_at(csv, *at);
        const bool ends = *c == '"' && byte_at(csv, *at + 1) != '"';
        if (*c < 0 || *c == '\0') {
            return *c == EOF ? "a quoted cell does not end" : *c == TOO_LONG ? too_long : nul_byte;
        }
        *at += *c == '"' && !ends ? 2 : 1;
        if (ends) {
            return cell_ends(csv, *at, c) ? NULL : *c == TOO_LONG ? too_long : no_csv;
        }
        *doubled |= *c == '"';
        count_line(csv, *c == '\n');
    }
}

/* Makes doubled quotes one, in place. */
static void undouble(char *cell)
{
    char *out = cell;
    for (const char *in = cell; *in != '\0'; in++) {
        *out++ = *in;
        in += *in == '"';
    }
    *out = '\0';
}

/* What is no row is left out up to the end of the line where it began: a quote too many says
 * nothing about the lines behind it. */
static enum roof_status no_row(struct roof_csv *csv, struct roof_error *error, const char *wrong)
{
    csv->lines = csv->line - 1;
    skip_line(csv, 0);
    return bad(csv, error, wrong);
}

/* The bytes stay as they are until the whole row is known to be one. */
static enum roof_status read_cells(struct roof_csv *csv, struct roof_error *error)
{
    size_t at = 0;
    int c = ',';
    for (csv->count = 0; c == ','; csv->count++) {
        if (csv->count == ROOF_CSV_CELLS_MAX) {
            skip_line(csv, at);
            return bad(csv, error, "the row has more than 256 cells");
        }
        const bool quoted = byte_at(csv, at) == '"';
        struct roof_csv_place *const place = &csv->place[csv->count];
        *place = (struct roof_csv_place){.begin = at + quoted};
        const char *const wrong = quoted ? quoted_cell(csv, &at, &c, &place->end, &place->doubled)
                                         : plain_cell(csv, &at, &c);
        if (wrong != NULL) {
            return no_row(csv, error, wrong);
        }
        place->end = quoted ? place->end : at;
        at += c == '\r' ? 2 : c == EOF ? 0 : 1;
    }
    char *const row = csv->buffer + csv->next;
    for (size_t i = 0; i < csv->count; i++) {
        const struct roof_csv_place *const place = &csv->place[i];
        csv->cell[i] = row + place->begin;
        row[place->end] = '\0'; /* at the end of the file it is there already */
        if (place->doubled) {
            undouble(row + place->begin);
        }
    }
    csv->next += at;
    count_line(csv, c != EOF);
    return c == EOF ? ended(csv, error) : ROOF_OK;
}

enum roof_status roof_csv_read(struct roof_csv *csv, bool *more, struct roof_error *error)
{
    *more = true;
    for (;;) {
        csv->line = csv->lines + 1;
        const int c = byte_at(csv, 0);
        if (c == EOF) {
            *more = false;
            return ended(csv, error);
        }
        if (c == '#') {
            skip_line(csv, 0);
        } else if (c == '\n' || c == '\r') {
            csv->next++;
            count_line(csv, c == '\n');
        } else {
            return read_cells(csv, error);
        }
    }
}

enum roof_status roof_csv_line(struct roof_csv *csv, char **line, size_t *length, bool *more,
                               struct roof_error *error)
{
    do {
        csv->line = csv->lines + 1;
        *length = line_end(csv);
        *more = *length > 0 || csv->next < csv->end;
        if (!*more) {
            return ended(csv, error);
        }
        if (*length > ROW_MAX) {
            skip_line(csv, *length);
            return bad(csv, error, "the line is longer than a megabyte");
        }
        *line = csv->buffer + csv->next;
        const bool whole = csv->next + *length < csv->end;
        csv->next += *length + whole;
        count_line(csv, whole);
        (*line)[*length] = '\0';
    } while (strspn(*line, " \t\r") == *length);
    return ROOF_OK;
}

void roof_csv_cell(struct roof_text *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        roof_text_put(out, text);
        return;
    }
    roof_text_put(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        roof_text_put(out, *p == '"' ? "\"" : "");
        roof_text_add(out, p, 1);
    }
    roof_text_put(out, "\"");
}
