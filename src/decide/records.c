// SPDX-License-Identifier: MIT
/* Reads records: rows of CSV and lines of NDJSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json_scan.h"
#include "decide/record_columns.h"

/* --- CSV ----------------------------------------------------------------------------------- */

/* Refuses a header with separators other than commas. */
static enum roof_status check_separator(const struct roof_csv *csv, struct roof_error *error)
{
    const char *const other = csv->count == 1 ? strpbrk(csv->cell[0], ";\t|") : NULL;
    return other == NULL
               ? ROOF_OK
               : roof_error_at(
                     error, ROOF_INVALID, csv->name, csv->line, 0,
                     "the header has one column, '%s': separate columns with commas, not %s",
                     csv->cell[0],
                     *other == ';'    ? "semicolons"
                     : *other == '\t' ? "tabs"
                                      : "bars");
}

static enum roof_status read_header(struct roof_records *r, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    struct roof_csv *const csv = &p->csv;
    bool more = false;
    TRY(roof_csv_read(csv, &more, error));
    for (size_t i = 0; more && i < csv->count; i++) {
        const char *const name = csv->cell[i];
        const size_t found = roof_column_find(r, name, strlen(name));
        if (found != ROOF_NO_COLUMN) {
            const bool same = strcmp(p->name[found], name) == 0;
            return roof_error_at(error, ROOF_INVALID, csv->name, csv->line, 0,
                                 "the column %s appears twice%s%s", p->name[found],
                                 same ? "" : ", also as ", same ? "" : name);
        }
        TRY(roof_column_add(r, name, strlen(name), error));
    }
    r->line = csv->line;
    r->cell = csv->cell;
    return more ? check_separator(csv, error) : ROOF_OK;
}

static enum roof_status next_row(struct roof_records *r, bool *more, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_csv *const csv = &p->csv;
    TRY(roof_csv_read(&p->csv, more, error));
    if (!*more) {
        return ROOF_OK;
    }
    if (csv->count != r->columns) {
        return roof_error_at(error, ROOF_INVALID, csv->name, csv->line, 0,
                             "the row has %zu cell%s, the header %zu", csv->count,
                             csv->count == 1 ? "" : "s", r->columns);
    }
    for (size_t i = 0; r->carried_count > 0 && i < r->columns; i++) {
        if (p->column[i].role == ROOF_COLUMN_CARRIED) {
            p->carried[p->column[i].carried].text = csv->cell[i];
        }
    }
    return ROOF_OK;
}

/* --- JSON that is not NDJSON --------------------------------------------------------------- */

/* Returns what follows the object at the beginning of a text; NULL if it does not end in the text.
 */
static const char *after_first(const char *text, size_t length)
{
    bool quoted = false;
    size_t depth = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (quoted) {
            quoted = c != '"';
            i += c == '\\' ? 1U : 0U;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return text + i + 1;
        }
    }
    return NULL;
}

/* Replaces the error of a line with several objects, such as files that were joined without an end
 * of line. */
static enum roof_status refuse_several(struct roof_records_private *p, const char *line,
                                       size_t length, enum roof_status status,
                                       struct roof_error *error)
{
    const struct roof_csv *const csv = &p->csv;
    const char *const rest = line[strspn(line, " \t")] == '{' ? after_first(line, length) : NULL;
    p->unfit = status == ROOF_INVALID && rest != NULL && rest[strspn(rest, " \t\r")] == '{';
    return !p->unfit
               ? status
               : roof_error_at(error, ROOF_INVALID, csv->name, csv->line, (int)(rest - line) + 1,
                               "the line has several objects, but must have one (jq -c . converts "
                               "the file)");
}

/* A longer line has more than the beginning of an object. */
#define FIRST_LINE_MAX ((size_t)1 << 12)

/* Refuses an object whose members are in the following lines. */
static enum roof_status check_first(struct roof_csv *csv, struct roof_error *error)
{
    size_t length = 0;
    const char *const lines = roof_csv_lines(csv, &length, FIRST_LINE_MAX);
    const size_t blanks = length == 0 ? 0 : strspn(lines, " \t\r\n");
    const char *const end = blanks >= length ? NULL : memchr(lines + blanks, '\n', length - blanks);
    if (end == NULL || after_first(lines + blanks, (size_t)(end - lines) - blanks) != NULL) {
        return ROOF_OK;
    }
    const char next = end[strspn(end, " \t\r\n")];
    return next != '"' && next != '}'
               ? ROOF_OK
               : roof_error_at(error, ROOF_INVALID, csv->name, csv->lines + 1, 0,
                               "the object has several lines, but must be in one (jq -c . converts "
                               "the file)");
}

/* --- NDJSON -------------------------------------------------------------------------------- */

/* Decodes a string with escapes, of `length` bytes including its quotes; `decoded` has enough
 * space. */
static enum roof_status decode(const char **out, struct roof_records_private *p, const char *string,
                               size_t length, struct roof_error *error)
{
    struct roof_json *json = NULL;
    const enum roof_status status = roof_json_parse(&json, string, length, p->csv.name, error);
    if (status == ROOF_OK) {
        const char *const text = roof_json_string(roof_json_root(json));
        *out = p->decoded.data + p->decoded.length;
        roof_text_add(&p->decoded, text, strlen(text) + 1);
    }
    roof_json_free(json);
    return status;
}

static bool is_nested(const char *value)
{
    return *value == '{' || *value == '[';
}

/* Finds the column of a key, and adds a new one; ROOF_NO_COLUMN if the value is nested and not an
 * input. The same member of the previous record likely has the same column. */
static enum roof_status member_column(size_t *out, struct roof_records *r, size_t member,
                                      char *line, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    size_t length = p->member[member].key_length;
    char *const raw = line + p->member[member].key;
    const char *key = raw;
    const bool escaped = memchr(raw, '\\', length) != NULL;
    *out = p->at[member];
    if (!escaped && *out < r->columns && p->column[*out].name_length == length &&
        memcmp(p->name[*out], raw, length) == 0) {
        return ROOF_OK;
    }
    if (escaped) {
        TRY(decode(&key, p, raw - 1, length + 2, error));
        length = strlen(key);
    } else {
        raw[length] = '\0'; /* replaces the quote */
    }
    *out = roof_column_find(r, key, length);
    if (*out == ROOF_NO_COLUMN && is_nested(line + p->member[member].value)) {
        size_t input = ROOF_INPUT_COUNT;
        const enum roof_column_role role = roof_column_role(key, p->options.kind, &input);
        if (role == ROOF_COLUMN_CARRIED || role == ROOF_COLUMN_IGNORED) {
            return ROOF_OK;
        }
    }
    if (*out == ROOF_NO_COLUMN) {
        *out = r->columns;
        TRY(roof_column_add(r, key, length, error));
    }
    p->at[member] = *out;
    return ROOF_OK;
}

/* Takes the text of a member's value, which it terminates in the line, as a cell and as a carried
 * text. */
static enum roof_status read_member(struct roof_records *r, size_t i, char *line,
                                    const struct roof_json_member *member, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_record_column *const column = &p->column[i];
    char *text = line + member->value;
    const char *cell = text;
    const bool quoted = *text == '"';
    const bool null = *text == 'n' || roof_json_python_word(text, text + member->length) > 0;
    if (is_nested(text)) {
        return column->role == ROOF_COLUMN_CARRIED || column->role == ROOF_COLUMN_IGNORED
                   ? ROOF_OK
                   : roof_error_set(error, ROOF_INVALID,
                                    "%s must be a string, a number, true, false or null",
                                    p->name[i]);
    }
    if (quoted && memchr(text, '\\', member->length) != NULL) {
        TRY(decode(&cell, p, text, member->length, error));
        text++;
    } else if (quoted) {
        cell = ++text;
    }
    line[member->value + member->length - quoted] = '\0';
    if (column->role == ROOF_COLUMN_CARRIED) {
        struct roof_carried *const carried = &p->carried[column->carried];
        carried->text = null ? "" : cell;
        carried->json = null ? "null" : text;
        carried->quoted = quoted;
    } else if (column->role == ROOF_COLUMN_INPUT && !quoted) {
        const enum roof_input_kind kind = column->input->kind;
        cell = kind == ROOF_INPUT_FLAG && *cell == 't'   ? "1"
               : kind == ROOF_INPUT_FLAG && *cell == 'f' ? "0"
                                                         : cell;
    }
    p->cell[i] = null ? "" : cell;
    return ROOF_OK;
}

/* Reads the cells of a record; those of missing keys are empty. */
static enum roof_status read_members(struct roof_records *r, char *line, size_t count,
                                     struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    for (size_t i = 0; i < r->columns; i++) {
        p->cell[i] = "";
    }
    for (size_t i = 0; i < r->carried_count; i++) {
        p->carried[i].text = "";
        p->carried[i].json = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t column = ROOF_NO_COLUMN;
        TRY(member_column(&column, r, i, line, error));
        if (column == ROOF_NO_COLUMN) {
            continue;
        }
        if (p->seen[column] == r->count) {
            return roof_error_set(error, ROOF_INVALID, "the key '%s' appears twice in its object",
                                  p->name[column]);
        }
        p->seen[column] = r->count;
        TRY(read_member(r, column, line, &p->member[i], error));
    }
    return ROOF_OK;
}

static enum roof_status next_object(struct roof_records *r, bool *more, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    char *line = NULL;
    size_t length = 0;
    size_t count = 0;
    enum roof_status status = roof_csv_line(&p->csv, &line, &length, more, error);
    p->unfit = status == ROOF_INVALID;
    if (p->unfit) { /* it is too long */
        roof_error_append(error, " (jq -c 'del(.[] | arrays)' leaves out arrays)");
    }
    if (status != ROOF_OK || !*more) {
        return status;
    }
    status = roof_json_members(p->member, &count, ROOF_RECORD_COLUMNS_MAX, line, length,
                               p->csv.name, p->csv.line, error);
    if (status != ROOF_OK) {
        return refuse_several(p, line, length, status, error);
    }
    /* Cells point into it, so it must not grow while they are read. */
    roof_text_clear(&p->decoded);
    if (roof_text_room(&p->decoded, length) == NULL) {
        return roof_no_memory(error);
    }
    return read_members(r, line, count, error);
}

/* --- records ------------------------------------------------------------------------------- */

/* Finds the input of a key in the message of an error; ROOF_INPUT_COUNT: columns have none. */
static size_t input_of(const struct roof_error *error, int key, enum roof_records_kind kind)
{
    char name[ROOF_INPUT_NAME_SIZE];
    size_t input = ROOF_INPUT_COUNT;
    (void)snprintf(name, sizeof name, "%.*s", (int)error->key[key].length,
                   error->message + error->key[key].at);
    return roof_column_role(name, kind, &input) == ROOF_COLUMN_INPUT ? input : ROOF_INPUT_COUNT;
}

/* Makes the message of a record speak of columns, in place of options, if it is about one that the
 * record has. */
static void name_columns(struct roof_error *error, const struct roof_records *records)
{
    const enum roof_records_kind kind = records->private_data->options.kind;
    bool said = false;
    int kept = 0;
    for (int i = 0; i < error->key_count && !said; i++) {
        const size_t input = input_of(error, i, kind);
        said = input < ROOF_INPUT_COUNT && roof_record_says(records, input);
    }
    for (int i = 0; i < error->key_count && said; i++) {
        if (input_of(error, i, kind) == ROOF_INPUT_COUNT) {
            error->key[kept++] = error->key[i];
        }
    }
    error->key_count = said ? kept : error->key_count;
}

void roof_records_refuse(struct roof_records *records, const struct roof_error *why)
{
    const struct roof_records_options *const options = &records->private_data->options;
    struct roof_error placed = *why;
    name_columns(&placed, records);
    records->bad++;
    if (strcmp(why->source, records->name) !=
        0) { /* there is none, or it is that of a file in the record */
        (void)roof_error_move(&placed, ROOF_INVALID, records->name, records->line, 0);
    }
    options->bad(options->context, &placed);
}

enum roof_status roof_records_next(struct roof_records *records, bool *more,
                                   struct roof_error *error)
{
    struct roof_records_private *const p = records->private_data;
    if (p->pending) {
        p->pending = false;
        *more = true;
        return ROOF_OK;
    }
    for (;;) {
        struct roof_error why;
        records->count++;
        const enum roof_status status =
            records->json ? next_object(records, more, &why) : next_row(records, more, &why);
        records->line = p->csv.line;
        if (status == ROOF_OK && !*more) {
            records->count--;
            return ROOF_OK;
        }
        if (status == ROOF_OK) {
            records->hardware = roof_column_text(records, ROOF_COLUMN_HARDWARE);
            records->hardware =
                *records->hardware == '\0' ? p->options.hardware : records->hardware;
            return roof_records_with_memory(records, ROOF_OK, error);
        }
        if (status != ROOF_INVALID || (p->unfit && records->columns == 0)) {
            if (error != NULL) {
                *error = why;
            }
            return status;
        }
        roof_records_refuse(records, &why);
    }
}

static enum roof_status refuse_array(struct roof_records_private *p, struct roof_error *error)
{
    char *line = NULL;
    size_t length = 0;
    bool more = false;
    (void)roof_csv_line(&p->csv, &line, &length, &more, NULL); /* its line number */
    return roof_error_at(
        error, ROOF_INVALID, p->csv.name, p->csv.line, 0,
        "the file is a JSON array, but must have one object per line (jq -c '.[]' converts it)");
}

enum roof_status roof_records_open(struct roof_records *out, const char *path,
                                   const struct roof_records_options *options,
                                   struct roof_error *error)
{
    *out = (struct roof_records){.line = 0};
    struct roof_records_private *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return roof_no_memory(error);
    }
    out->private_data = p;
    out->column = p->name;
    out->cell = p->cell;
    out->carried = p->carried;
    p->options = *options;
    for (size_t i = 0; i < ROOF_COLUMN_ROLES; i++) {
        p->of_role[i] = ROOF_NO_COLUMN;
    }
    enum roof_status status = roof_csv_open(&p->csv, path, error);
    out->name = p->csv.name;
    p->csv.wait = options->wait;
    p->csv.wait_context = options->context;
    if (status != ROOF_OK) {
        return status;
    }
    const int first = roof_csv_first(&p->csv);
    if (first == '[') {
        return refuse_array(p, error);
    }
    out->json = first == '{';
    if (!out->json) {
        return read_header(out, error);
    }
    TRY(check_first(&p->csv, error));
    return roof_records_next(out, &p->pending, error);
}

void roof_records_close(struct roof_records *records)
{
    struct roof_records_private *const p = records->private_data;
    if (p == NULL) {
        return;
    }
    roof_csv_close(&p->csv);
    for (size_t i = 0; i < records->columns; i++) {
        free(p->owned[i]);
    }
    for (size_t i = 0; i < ROOF_COLUMN_ROLES; i++) {
        roof_text_free(&p->trimmed[i]);
    }
    roof_text_free(&p->decoded);
    free(p->model_prediction);
    free(p);
    *records = (struct roof_records){.private_data = NULL};
}
