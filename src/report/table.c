// SPDX-License-Identifier: MIT
#include "report/render.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/character.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/list.h"
#include "base/nearest.h"
#include "report/cells.h"

/* --- columns ------------------------------------------------------------------------------- */

static bool for_programs(enum roof_output output)
{
    return output == ROOF_OUTPUT_JSON || output == ROOF_OUTPUT_NDJSON || output == ROOF_OUTPUT_CSV;
}

/* Tells whether the rows of a table have a field if no columns are chosen. */
static bool is_default(const struct roof_field *field, enum roof_output output)
{
    return for_programs(output) ? !field->named : field->width != 0 && !field->hidden;
}

/* Gives a table the fields of its rows, if no columns are chosen. */
static void keep_default(struct roof_table *table)
{
    struct roof_fields *const fields = &table->columns;
    size_t kept = 0;
    for (size_t i = 0; i < fields->count; i++) {
        if (is_default(&fields->field[i], table->output)) {
            fields->field[kept++] = fields->field[i];
        }
    }
    fields->count = kept;
}

const char *roof_table_document_key(const char *name)
{
    return strcmp(name, "largest_batch") == 0 ? "limits.max_batch" : NULL;
}

/* The names of figures in text reports that do not resemble their column. */
static const struct {
    const char *name;
    const char *key;
} headings[] = {
    {"time to first token", "ttft_ms"}, {"first token", "ttft_ms"}, {"time per token", "tpot_ms"},
    {"inter-token latency", "tpot_ms"}, {"itl", "tpot_ms"},         {"end to end", "e2e_ms"},
    {"decode step", "step_ms"},         {"tok/s", "tokens_per_s"},  {"throughput", "tokens_per_s"},
    {"expected", "expected_time_us"},   {"at best", "time_us"},
};

/* Returns the field whose name in text reports is given, or NULL. */
static const struct roof_field *find_heading(const struct roof_fields *all, const char *name)
{
    for (size_t i = 0; i < COUNT(headings); i++) {
        const struct roof_field *const field = roof_fields_find(all, headings[i].key);
        if (field != NULL && strcasecmp(headings[i].name, name) == 0) {
            return field;
        }
    }
    return NULL;
}

/* Adds the field with a key, which must exist and not be there yet. */
static enum roof_status choose_one(struct roof_fields *chosen, const struct roof_fields *all,
                                   const char *key, struct roof_error *error)
{
    const struct roof_field *const field = roof_fields_find(all, key);
    const char *const document = field == NULL ? roof_table_document_key(key) : NULL;
    if (document != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "unknown column '%s'; the JSON of one prediction has it: %s", key,
                              document);
    }
    const struct roof_field *const meant = field == NULL ? find_heading(all, key) : NULL;
    if (meant != NULL) {
        return roof_error_set(error, ROOF_USAGE, "unknown column '%s'; did you mean %s?", key,
                              meant->key);
    }
    if (field == NULL) {
        const char *known[ROOF_FIELDS_MAX];
        for (size_t i = 0; i < all->count; i++) {
            known[i] = all->field[i].key;
        }
        const enum roof_status status =
            roof_unknown_name(error, ROOF_USAGE, "column", key, known, all->count);
        if (all->count > ROOF_TOLD_WHOLE) {
            roof_error_append(error, " (all: the header of " ROOF_KEY(
                                         "format") " csv without " ROOF_KEY("columns") ")");
        }
        return status;
    }
    if (roof_fields_find(chosen, key) != NULL) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("columns") " names '%s' twice", key);
    }
    roof_fields_add(chosen, field, 1, field->part);
    return ROOF_OK;
}

/* Takes the fields that `columns` names, in its order. */
static enum roof_status choose(struct roof_fields *chosen, const struct roof_fields *all,
                               const char *columns, struct roof_error *error)
{
    struct roof_list_item item;
    for (const char *rest = columns; roof_list_next(&item, &rest);) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)(item.length < 63 ? item.length : 63), item.text);
        TRY(choose_one(chosen, all, key, error));
    }
    return ROOF_OK;
}

enum roof_status roof_table_open(struct roof_table *out, enum roof_output output,
                                 enum roof_table_kind kind, enum roof_operator op,
                                 const char *columns, struct roof_error *error)
{
    *out = (struct roof_table){.output = output, .kind = kind, .op = op};
    if (columns == NULL) {
        roof_table_fields(&out->columns, kind, op, !for_programs(output));
        keep_default(out);
        return ROOF_OK;
    }
    if (output == ROOF_OUTPUT_JSON) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("columns") " needs " ROOF_KEY("format") " text, csv, ndjson or md");
    }
    struct roof_fields all;
    roof_table_fields(&all, kind, op, false);
    const enum roof_status status = choose(&out->columns, &all, columns, error);
    if (status != ROOF_OK) {
        out->columns.count = 0;
    }
    return status;
}

void roof_table_open_members(struct roof_table *out, enum roof_table_kind kind,
                             enum roof_operator op, const char *separator)
{
    *out = (struct roof_table){
        .output = ROOF_OUTPUT_JSON, .kind = kind, .op = op, .form = ROOF_FORM_MEMBERS};
    roof_table_fields(&out->columns, kind, op, false);
    out->separator = separator;
}

void roof_table_open_lines(struct roof_table *out, enum roof_table_kind kind)
{
    (void)roof_table_open(out, ROOF_OUTPUT_JSON, kind, ROOF_OPERATOR_GEMM, NULL, NULL);
    out->form = ROOF_FORM_LINES;
}

void roof_table_carry(struct roof_table *table, const struct roof_carried *carried, size_t count)
{
    table->carried = carried;
    table->carried_count = count;
}

/* --- for people ---------------------------------------------------------------------------- */

/* Writes one of our own texts, whose brackets and "<1%" have no meaning in Markdown; a name from a
 * file may have a tag. */
static void markdown_cell(struct roof_text *out, const char *text)
{
    roof_text_put(out, " ");
    for (const char *p = text; *p != '\0'; p++) {
        const size_t control = roof_control(p);
        const bool tag =
            *p == '<' && (isalpha((unsigned char)p[1]) != 0 || ispunct((unsigned char)p[1]) != 0);
        roof_text_put(out, *p == '|' || *p == '\\' || tag ? "\\" : "");
        roof_text_add(out, control > 0 ? " " : p, 1);
        p += control > 0 ? control - 1 : 0;
    }
    roof_text_put(out, " |");
}

/* Writes a carried cell, which may have arbitrary content. */
static void carried_markdown(struct roof_text *out, const char *text)
{
    roof_text_put(out, " ");
    roof_text_markdown(out, text);
    roof_text_put(out, " |");
}

const char *roof_table_readable(char out[ROOF_QUANTITY_SIZE], const struct roof_field *field,
                                const struct roof_value *value)
{
    const struct roof_value printed = roof_printed(field, value);
    if (roof_absent(field, &printed)) {
        return "-";
    }
    if (roof_type_is_text(field->type)) {
        return printed.text;
    }
    if (field->type == ROOF_TYPE_FLAG) {
        return printed.number > 0 ? "yes" : "no";
    }
    if (field->unit == ROOF_UNIT_COUNTS) {
        roof_format_quantity(out, printed.number, ROOF_UNIT_COUNTS);
    } else if (fabs(printed.number) < 1e9 && printed.number == floor(printed.number)) {
        roof_format_number(out, printed.number);
    } else {
        roof_format_short(out, printed.number);
    }
    if (printed.text != NULL) {
        const size_t length = strlen(out);
        (void)snprintf(out + length, ROOF_QUANTITY_SIZE - length, " %s", printed.text);
    }
    return out;
}

/* Pads a text to a width; a negative width pads on the left. The last column of a row is not
 * padded. */
static void padded(struct roof_text *out, const char *text, int width, bool last)
{
    const size_t wanted = (size_t)(width < 0 ? -width : width);
    const size_t used = roof_text_width(text);
    const size_t blanks = used < wanted ? wanted - used : 0;
    if (width > 0) {
        roof_text_fill(out, ' ', blanks);
    }
    roof_text_plain(out, text);
    if (width < 0 && !last) {
        roof_text_fill(out, ' ', blanks);
    }
}

static const char *column_label(const struct roof_field *column)
{
    return column->label == NULL ? column->key : column->label;
}

/* Returns the width of a column, which is at least that of its heading. */
static int column_width(const struct roof_field *column)
{
    const int width = column->width == 0 ? 8 : column->width;
    const int label = (int)strlen(column_label(column));
    return width < 0 ? (label > -width ? -label : width) : (label > width ? label : width);
}

int roof_table_width(const struct roof_table *table)
{
    /* Columns of text are separated by two blanks, and those of Markdown by the frames of cells. */
    const bool markdown = table->output == ROOF_OUTPUT_MARKDOWN;
    const int apart = markdown ? 3 : 2;
    int width = markdown ? 0 : -apart;
    for (size_t i = 0; i < table->carried_count; i++) {
        const int name = (int)roof_text_width(table->carried[i].name);
        width += (name > 12 ? name : 12) + apart;
    }
    for (size_t i = 0; i < table->columns.count; i++) {
        const int column = column_width(&table->columns.field[i]);
        width += (column < 0 ? -column : column) + apart;
    }
    return width;
}

/* Writes a carried cell of a text table, at least as wide as the name of its column. */
static void carried_text(struct roof_text *out, const struct roof_carried *carried,
                         const char *text)
{
    const int name = (int)roof_text_width(carried->name);
    padded(out, text, name > 12 ? -name : -12, false);
    roof_text_put(out, "  ");
}

static void row_for_people(const struct roof_table *table, struct roof_text *out,
                           const struct roof_value *values)
{
    const bool markdown = table->output == ROOF_OUTPUT_MARKDOWN;
    roof_text_put(out, markdown ? "|" : "");
    for (size_t i = 0; i < table->carried_count; i++) {
        const struct roof_carried *const carried = &table->carried[i];
        const char *const text = *carried->text == '\0' ? "-" : carried->text;
        if (markdown) {
            carried_markdown(out, text);
        } else {
            carried_text(out, carried, text);
        }
    }
    for (size_t i = 0; i < table->columns.count; i++) {
        const struct roof_field *const column = &table->columns.field[i];
        char buffer[ROOF_QUANTITY_SIZE];
        const char *const text = roof_table_readable(buffer, column, &values[i]);
        if (markdown) {
            markdown_cell(out, text);
        } else {
            roof_text_put(out, i == 0 ? "" : "  ");
            padded(out, text, column_width(column), i + 1 == table->columns.count);
        }
    }
    roof_text_put(out, "\n");
}

static void put_lines(const struct roof_table *table, struct roof_text *out,
                      const struct roof_value *values)
{
    for (size_t i = 0; i < table->columns.count; i++) {
        const struct roof_field *const field = &table->columns.field[i];
        const struct roof_value printed = roof_printed(field, &values[i]);
        char buffer[ROOF_QUANTITY_SIZE];
        if (!roof_absent(field, &printed)) {
            const size_t from = out->length;
            roof_text_printf(out, "  %-20s %s", field->key,
                             roof_table_readable(buffer, field, &values[i]));
            roof_text_fold(out, from, 23);
            roof_text_put(out, "\n");
        }
    }
}

/* --- headers ------------------------------------------------------------------------------- */

static void text_header(const struct roof_table *table, struct roof_text *out)
{
    for (size_t i = 0; i < table->carried_count; i++) {
        carried_text(out, &table->carried[i], table->carried[i].name);
    }
    for (size_t i = 0; i < table->columns.count; i++) {
        const struct roof_field *const column = &table->columns.field[i];
        roof_text_put(out, i == 0 ? "" : "  ");
        padded(out, column_label(column), column_width(column), i + 1 == table->columns.count);
    }
    roof_text_put(out, "\n");
}

static void csv_header(const struct roof_table *table, struct roof_text *out)
{
    for (size_t i = 0; i < table->carried_count; i++) {
        roof_csv_cell(out, table->carried[i].name);
        roof_text_put(out, ",");
    }
    for (size_t i = 0; i < table->columns.count; i++) {
        roof_text_put(out, i == 0 ? "" : ",");
        roof_text_put(out, table->columns.field[i].key);
    }
    roof_text_put(out, "\n");
}

static void markdown_header(const struct roof_table *table, struct roof_text *out)
{
    roof_text_put(out, "|");
    for (size_t i = 0; i < table->carried_count; i++) {
        carried_markdown(out, table->carried[i].name);
    }
    for (size_t i = 0; i < table->columns.count; i++) {
        markdown_cell(out, column_label(&table->columns.field[i]));
    }
    roof_text_put(out, "\n|");
    for (size_t i = 0; i < table->carried_count; i++) {
        roof_text_put(out, " --- |");
    }
    for (size_t i = 0; i < table->columns.count; i++) {
        roof_text_put(out, column_width(&table->columns.field[i]) < 0 ? " --- |" : " ---: |");
    }
    roof_text_put(out, "\n");
}

void roof_table_begin(struct roof_table *table, struct roof_text *out)
{
    switch (table->output) {
    case ROOF_OUTPUT_TEXT:
        text_header(table, out);
        break;
    case ROOF_OUTPUT_JSON:
        roof_text_put(out, "[");
        break;
    case ROOF_OUTPUT_NDJSON:
        break;
    case ROOF_OUTPUT_CSV:
        csv_header(table, out);
        break;
    case ROOF_OUTPUT_MARKDOWN:
        markdown_header(table, out);
        break;
    }
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Writes a row as an object: first the carried cells, unchanged, then the values. */
static void object_row(struct roof_table *table, struct roof_text *out,
                       const struct roof_value *values)
{
    bool begun = false;
    roof_text_put(out, "{");
    for (size_t i = 0; i < table->carried_count; i++) {
        const struct roof_carried *const carried = &table->carried[i];
        if (carried->json == NULL && *carried->text == '\0') {
            continue;
        }
        roof_text_put(out, begun ? "," : "");
        roof_json_quote(out, carried->name);
        roof_text_put(out, ":");
        if (carried->json == NULL) {
            roof_json_cell(out, carried->text);
        } else {
            roof_text_put(out, carried->quoted ? "\"" : "");
            roof_text_put(out, carried->json);
            roof_text_put(out, carried->quoted ? "\"" : "");
        }
        begun = true;
    }
    roof_cells_json(table, out, values, "", begun);
    roof_text_put(out, "}");
}

static void csv_row(struct roof_table *table, struct roof_text *out,
                    const struct roof_value *values)
{
    for (size_t i = 0; i < table->carried_count; i++) {
        roof_csv_cell(out, table->carried[i].text);
        roof_text_add(out, ",", 1);
    }
    roof_cells_csv(table, out, values);
    roof_text_add(out, "\n", 1);
}

/* Writes a row in the output format. */
static void put_row(struct roof_table *table, struct roof_text *out,
                    const struct roof_value *values)
{
    switch (table->output) {
    case ROOF_OUTPUT_TEXT:
    case ROOF_OUTPUT_MARKDOWN:
        row_for_people(table, out, values);
        break;
    case ROOF_OUTPUT_JSON:
        roof_text_put(out, table->rows == 0 ? "\n" : ",\n");
        object_row(table, out, values);
        break;
    case ROOF_OUTPUT_NDJSON:
        object_row(table, out, values);
        roof_text_put(out, "\n");
        break;
    case ROOF_OUTPUT_CSV:
        csv_row(table, out, values);
        break;
    }
}

void roof_table_row(struct roof_table *table, struct roof_text *out,
                    const struct roof_value *values)
{
    switch (table->form) {
    case ROOF_FORM_ROW:
        put_row(table, out, values);
        break;
    case ROOF_FORM_MEMBERS:
        roof_cells_json(table, out, values, table->separator, false);
        break;
    case ROOF_FORM_LINES:
        put_lines(table, out, values);
        break;
    }
    table->rows++;
}

void roof_table_end(struct roof_table *table, struct roof_text *out)
{
    if (table->output == ROOF_OUTPUT_JSON) {
        roof_text_put(out, table->rows == 0 ? "]\n" : "\n]\n");
    }
}

/* --- entries ------------------------------------------------------------------------------- */

void roof_table_begin_entry(struct roof_table *table, struct roof_text *out, bool json,
                            enum roof_table_kind kind)
{
    if (json) {
        roof_table_open_members(table, kind, ROOF_OPERATOR_GEMM, "\n  ");
        roof_text_put(out, "{");
    } else {
        roof_table_open_lines(table, kind);
    }
}

void roof_table_end_entry(struct roof_text *out, bool json)
{
    roof_text_put(out, json ? "\n}\n" : "");
}
