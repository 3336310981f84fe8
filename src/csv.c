// SPDX-License-Identifier: MIT
#include "csv.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum roof_status roof_csv_open(struct roof_csv *out, const char *path, struct roof_error *error)
{
    *out = (struct roof_csv){.name = path, .text = ROOF_TEXT_INIT};
    struct stat info;
    if (stat(path, &info) != 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "not a regular file");
    }
    out->file = fopen(path, "r");
    if (out->file == NULL) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    }
    /* Spreadsheets begin UTF-8 with a byte order mark. */
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    unsigned char first[sizeof mark];
    if (fread(first, 1, sizeof first, out->file) != sizeof first ||
        memcmp(first, mark, sizeof mark) != 0) {
        rewind(out->file);
    }
    return ROOF_OK;
}

void roof_csv_close(struct roof_csv *csv)
{
    if (csv->file != NULL) {
        (void)fclose(csv->file);
    }
    roof_text_free(&csv->text);
    csv->file = NULL;
}

static enum roof_status bad(const struct roof_csv *csv, struct roof_error *error, const char *what)
{
    return roof_error_at(error, ROOF_INVALID, csv->name, csv->line, 0, "%s", what);
}

static void skip_line(struct roof_csv *csv)
{
    int c = getc_unlocked(csv->file);
    while (c != EOF && c != '\n') {
        c = getc_unlocked(csv->file);
    }
    csv->lines += c == '\n';
}

/* Cells lie one behind the other in text, each terminated. */
static enum roof_status read_cells(struct roof_csv *csv, int first, struct roof_error *error)
{
    size_t offset[ROOF_CSV_CELLS_MAX] = {0};
    struct roof_text *const text = &csv->text;
    bool quoted = false; /* inside quotes */
    bool closed = false; /* behind them */
    int c = first;
    roof_text_clear(text);
    csv->count = 1;
    offset[0] = 0;
    for (;; c = getc_unlocked(csv->file)) {
        const bool begins = text->length == offset[csv->count - 1] && !closed;
        char byte = (char)c;
        if (text->length > ROOF_CSV_ROW_MAX) {
            (void)ungetc(c, csv->file); /* it may be the end of the line */
            skip_line(csv);
            return bad(csv, error, "the row is longer than a megabyte");
        }
        if (c == EOF && quoted) {
            return bad(csv, error, "a quoted cell does not end");
        }
        if (quoted && c == '\0') {
            skip_line(csv);
            return bad(csv, error, "the row has a NUL byte");
        }
        if (quoted) {
            csv->lines += c == '\n';
            if (c != '"') {
                roof_text_add(text, &byte, 1);
                continue;
            }
            const int next = getc_unlocked(csv->file);
            if (next == '"') {
                roof_text_add(text, &byte, 1);
                continue;
            }
            (void)ungetc(next, csv->file);
            quoted = false;
            closed = true;
            continue;
        }
        if (c == '\r') {
            const int next = getc_unlocked(csv->file);
            if (next != '\n') {
                (void)ungetc(next, csv->file);
            } else {
                c = next;
            }
        }
        if (c == '\n' || c == EOF) {
            csv->lines += c == '\n';
            byte = '\0';
            roof_text_add(text, &byte, 1);
            break;
        }
        if (c == ',') {
            byte = '\0';
            roof_text_add(text, &byte, 1);
            closed = false;
            if (csv->count == ROOF_CSV_CELLS_MAX) {
                skip_line(csv);
                return bad(csv, error, "the row has more than 256 cells");
            }
            offset[csv->count++] = text->length;
        } else if (c == '"' && begins) {
            quoted = true;
        } else if (closed || c == '"' || c == '\0') {
            skip_line(csv);
            return bad(csv, error,
                       "a cell with quotes must have them around all of it, doubled "
                       "inside");
        } else {
            roof_text_add(text, &byte, 1);
        }
    }
    if (text->failed) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < csv->count; i++) {
        csv->cell[i] = text->data + offset[i];
    }
    return ROOF_OK;
}

enum roof_status roof_csv_read(struct roof_csv *csv, bool *more, struct roof_error *error)
{
    *more = true;
    for (;;) {
        csv->line = csv->lines + 1;
        const int c = getc_unlocked(csv->file);
        if (c == EOF) {
            *more = false;
            return ferror(csv->file) == 0 ? ROOF_OK
                                          : roof_error_at(error, ROOF_IO, csv->name, 0, 0,
                                                          "cannot read: %s", strerror(errno));
        }
        if (c == '#') {
            skip_line(csv);
        } else if (c == '\n') {
            csv->lines++;
        } else if (c != '\r') {
            return read_cells(csv, c, error);
        }
    }
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
