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

#include "base/grow.h"

/* The buffer has this size at first. */
#define CAPACITY (1U << 17)
/* A row may have this many bytes, quotes included. */
#define ROW_MAX (ROOF_CSV_ROW_MAX + 1)
/* A skipped line may have this many bytes more. There is a limit because a device such as /dev/zero
 * has no end. */
#define SKIP_MAX ((size_t)1 << 26)
/* byte_at returns this for a byte beyond the longest row, and EOF for one after the end. */
#define TOO_LONG (EOF - 1)

/* --- bytes --------------------------------------------------------------------------------- */

/* Counts a line that ends with a newline, up to the last number that a message can name. */
static void count_line(struct roof_csv *csv, bool whole)
{
    csv->lines += whole && csv->lines < INT_MAX - 1 ? 1 : 0;
}

/* Keeps bytes for another time. Returns 0 or an errno. */
static int keep(struct roof_csv *csv, const char *bytes, size_t count)
{
    while (csv->kept_room - csv->kept_length < count) {
        char *const kept = roof_grow(csv->kept, &csv->kept_room, CAPACITY, 1);
        if (kept == NULL) {
            return ENOMEM;
        }
        csv->kept = kept;
    }
    memcpy(csv->kept + csv->kept_length, bytes, count);
    csv->kept_length += count;
    return 0;
}

/* Reads at most `size` bytes of the file, or of its kept bytes. Returns 0 or an errno. */
static int read_bytes(size_t *out, struct roof_csv *csv, char *buffer, size_t size)
{
    if (csv->again) {
        const size_t left = csv->kept_length - csv->kept_next;
        *out = left < size ? left : size;
        if (*out > 0) {
            memcpy(buffer, csv->kept + csv->kept_next, *out);
            csv->kept_next += *out;
        }
        return 0;
    }
    ssize_t got = 0;
    do {
        got = read(csv->file, buffer, size);
    } while (got < 0 && errno == EINTR);
    const int failure = got < 0                 ? errno
                        : got > 0 && csv->keeps ? keep(csv, buffer, (size_t)got)
                                                : 0;
    *out = failure == 0 ? (size_t)got : 0;
    return failure;
}

/* Moves the bytes from `next` on to the front and reads more after them; false if there are none.
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
    size_t got = 0;
    if (csv->wait != NULL) {
        csv->wait(csv->wait_context, true);
    }
    csv->failure = read_bytes(&got, csv, csv->buffer + csv->end, csv->capacity - csv->end - 1);
    if (csv->wait != NULL) {
        csv->wait(csv->wait_context, false);
    }
    csv->ended = got == 0;
    csv->end += got;
    csv->buffer[csv->end] = '\0';
    return got > 0;
}

/* Returns the byte at an offset from `next`. It may move the buffer: no pointer into that outlives
 * a call. */
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

/* Tells the end of the file from a failure to read. */
static enum roof_status ended(const struct roof_csv *csv, struct roof_error *error)
{
    return csv->failure == 0        ? ROOF_OK
           : csv->failure == ENOMEM ? roof_no_memory(error)
           : csv->failure == EFBIG
               ? roof_error_at(error, ROOF_IO, csv->name, csv->line, 0,
                               "the line does not end within 64 MiB; the rest is not read")
               : roof_error_at(error, ROOF_IO, csv->name, 0, 0, "cannot read: %s",
                               strerror(csv->failure));
}

/* Returns the end of the line, or of the file, as an offset from `next`; the buffer holds all
 * before it. For a line that is too long it is some offset after ROW_MAX. */
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

/* Skips the rest of the line from an offset on, which need not fit into the buffer. */
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

/* Skips the mark with which spreadsheets begin UTF-8. */
static void skip_mark(struct roof_csv *csv)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    size_t at = 0;
    while (at < sizeof mark && byte_at(csv, at) == mark[at]) {
        at++;
    }
    csv->next = at == sizeof mark ? csv->next + at : csv->next;
}

static enum roof_status open_path(struct roof_csv *out, const char *path, bool twice,
                                  struct roof_error *error)
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
    out->begin = S_ISREG(info.st_mode) ? lseek(out->file, 0, SEEK_CUR) : -1;
    out->keeps = twice && out->begin < 0;
    skip_mark(out);
    return ROOF_OK;
}

enum roof_status roof_csv_open(struct roof_csv *out, const char *path, struct roof_error *error)
{
    return open_path(out, path, false, error);
}

enum roof_status roof_csv_open_twice(struct roof_csv *out, const char *path,
                                     struct roof_error *error)
{
    return open_path(out, path, true, error);
}

enum roof_status roof_csv_rewind(struct roof_csv *csv, struct roof_error *error)
{
    csv->again = csv->again || csv->keeps;
    csv->kept_next = 0;
    if (!csv->again && lseek(csv->file, (off_t)csv->begin, SEEK_SET) < 0) {
        return roof_error_at(error, ROOF_IO, csv->name, 0, 0, "cannot read it again: %s",
                             strerror(errno));
    }
    csv->next = csv->end = csv->count = 0;
    csv->line = csv->lines = 0;
    csv->buffer[0] = '\0';
    csv->ended = false;
    csv->failure = 0;
    skip_mark(csv);
    return ROOF_OK;
}

void roof_csv_close(struct roof_csv *csv)
{
    if (csv->file > STDIN_FILENO) {
        (void)close(csv->file);
    }
    free(csv->buffer);
    free(csv->kept);
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

bool roof_csv_ahead(struct roof_csv *csv, const char *word, size_t most)
{
    const size_t length = strlen(word);
    (void)byte_at(csv, most - 1); /* a pipe may have given less so far */
    const size_t there = csv->end - csv->next;
    const char *at = csv->buffer + csv->next;
    const char *const end = at + (there < most ? there : most);
    while ((size_t)(end - at) >= length) {
        const char *const found = memchr(at, word[0], (size_t)(end - at) - length + 1);
        if (found == NULL || memcmp(found, word, length) == 0) {
            return found != NULL;
        }
        at = found + 1;
    }
    return false;
}

enum roof_status roof_csv_rest(struct roof_text *out, struct roof_csv *csv, size_t most,
                               struct roof_error *error)
{
    do {
        roof_text_add(out, csv->buffer + csv->next, csv->end - csv->next);
        csv->next = csv->end;
        if (out->failed) {
            return roof_no_memory(error);
        }
        if (out->length > most) {
            return roof_error_at(error, ROOF_INVALID, csv->name, 0, 0,
                                 "the file is longer than %zu MiB", most >> 20);
        }
    } while (read_more(csv));
    return ended(csv, error);
}

/* --- rows ---------------------------------------------------------------------------------- */

static enum roof_status invalid(const struct roof_csv *csv, struct roof_error *error,
                                const char *message)
{
    return roof_error_at(error, ROOF_INVALID, csv->name, csv->line, 0, "%s", message);
}

static const char *const wrong_quotes =
    "quotes must enclose the whole cell; write a quote inside it twice";
static const char *const too_long = "the row is longer than a megabyte";
static const char *const nul_byte =
    "the row has a NUL byte: a text in UTF-16 must be saved as UTF-8";

/* Bytes that end a run of plain ones. NUL is among them because it stands behind the buffer. */
static const bool ends_plain[256] = {
    ['\0'] = true, [','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true};
static const bool ends_quoted[256] = {['\0'] = true, ['"'] = true, ['\n'] = true};

/* Returns the offset of the first byte from `at` on that ends a run. */
static inline size_t run_end(const struct roof_csv *csv, size_t at, const bool ends[256])
{
    const unsigned char *const row = (const unsigned char *)csv->buffer + csv->next;
    while (!ends[row[at]]) {
        at++;
    }
    return at;
}

/* Tells if a cell ends at an offset, with a comma, a line or the file; *c is the byte there. */
static inline bool cell_ends(struct roof_csv *csv, size_t at, int *c)
{
    *c = byte_at(csv, at);
    return *c == ',' || *c == '\n' || *c == EOF || (*c == '\r' && byte_at(csv, at + 1) == '\n');
}

/* Moves *at to the end of a cell without quotes; *c is the byte there. Returns what is wrong, or
 * NULL. */
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
            return *c == '"' ? wrong_quotes : nul_byte;
        }
        ++*at; /* a lone CR, or the first byte of those that cell_ends has just read */
    }
}

/* Moves *at after a cell with quotes; *c is the byte there. The text of the cell ends at *end, and
 * *doubled says if it has doubled quotes. Returns what is wrong, or NULL. */
static const char *quoted_cell(struct roof_csv *csv, size_t *at, int *c, size_t *end, bool *doubled)
{
    ++*at;
    for (;;) {
        *at = *end = run_end(csv, *at, ends_quoted);
        *c = byte_at(csv, *at);
        const bool ends = *c == '"' && byte_at(csv, *at + 1) != '"';
        csv->open = *c == EOF;
        if (*c < 0 || *c == '\0') {
            return *c == EOF        ? "the quoted cell does not end"
                   : *c == TOO_LONG ? too_long
                                    : nul_byte;
        }
        *at += *c == '"' && !ends ? 2 : 1;
        if (ends) {
            return cell_ends(csv, *at, c) ? NULL : *c == TOO_LONG ? too_long : wrong_quotes;
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

/* Refuses a row and skips the line where it began, but not the following lines of the row: a stray
 * quote does not make them invalid. */
static enum roof_status refuse_row(struct roof_csv *csv, struct roof_error *error,
                                   const char *wrong)
{
    csv->lines = csv->line - 1;
    skip_line(csv, 0);
    return invalid(csv, error, wrong);
}

/* Reads the cells of a row. The bytes are not changed until the whole row is known to be valid. */
static enum roof_status read_cells(struct roof_csv *csv, struct roof_error *error)
{
    size_t at = 0;
    int c = ',';
    for (csv->count = 0; c == ','; csv->count++) {
        if (csv->count == ROOF_CSV_CELLS_MAX) {
            skip_line(csv, at);
            return invalid(csv, error, "the row has more than 256 cells");
        }
        const bool quoted = byte_at(csv, at) == '"';
        struct roof_csv_place *const place = &csv->place[csv->count];
        *place = (struct roof_csv_place){.begin = at + quoted};
        const char *const wrong = quoted ? quoted_cell(csv, &at, &c, &place->end, &place->doubled)
                                         : plain_cell(csv, &at, &c);
        if (wrong != NULL) {
            return refuse_row(csv, error, wrong);
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
            return invalid(csv, error, "the line is longer than a megabyte");
        }
        *line = csv->buffer + csv->next;
        const bool whole = csv->next + *length < csv->end;
        csv->next += *length + whole;
        count_line(csv, whole);
        (*line)[*length] = '\0';
    } while (strspn(*line, " \t\r") == *length);
    return ROOF_OK;
}

/* --- lines that another reader reads -------------------------------------------------------- */

void roof_csv_open_lines(struct roof_csv *out, const char *name)
{
    *out = (struct roof_csv){.name = name, .file = -1, .ended = true};
}

/* Makes the buffer at least this large; without memory it is unchanged. */
static bool grow_buffer(struct roof_csv *csv, size_t capacity)
{
    if (csv->capacity < capacity) {
        char *const grown = realloc(csv->buffer, capacity);
        if (grown == NULL) {
            return false;
        }
        csv->buffer = grown;
        csv->capacity = capacity;
    }
    return true;
}

enum roof_status roof_csv_give(struct roof_csv *csv, const char *lines, size_t length,
                               struct roof_error *error)
{
    if (!grow_buffer(csv, length + 1)) {
        return roof_no_memory(error);
    }
    memcpy(csv->buffer, lines, length);
    csv->buffer[length] = '\0';
    csv->next = 0;
    csv->end = length;
    csv->line = csv->lines = 0;
    csv->open = false;
    return ROOF_OK;
}

/* Returns the bytes of the complete lines in the buffer, at most the given number. */
static size_t whole_lines(const struct roof_csv *csv, size_t most)
{
    const size_t there = csv->end - csv->next;
    size_t length = there < most ? there : most;
    while (length > 0 && csv->buffer[csv->next + length - 1] != '\n') {
        length--;
    }
    return length;
}

const char *roof_csv_lines(struct roof_csv *csv, size_t *length, size_t most)
{
    *length = whole_lines(csv, most);
    if (*length == 0) {
        (void)grow_buffer(csv, most + 1);
        (void)read_more(csv);
        *length = whole_lines(csv, most);
    }
    return csv->buffer + csv->next;
}

void roof_csv_go_on(struct roof_csv *csv, size_t bytes, int lines)
{
    csv->next += bytes;
    csv->lines = lines < INT_MAX - 1 - csv->lines ? csv->lines + lines : INT_MAX - 1;
    csv->line = csv->lines;
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
