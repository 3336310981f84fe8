// SPDX-License-Identifier: MIT
/* Rows for programs, millions of them in a sweep. Formatting the shortest text of a number
 * dominates their cost, and most cells repeat the value of the previous row, so repeated cells are
 * copied. Without this a sweep of a million products takes 50 % longer. */
#include "report/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/json.h"

struct roof_value roof_printed(const struct roof_field *field, const struct roof_value *value)
{
    struct roof_value printed = *value;
    if (roof_type_is_text(field->type) || isnan(value->number)) {
        return printed;
    }
    printed.number = field->type == ROOF_TYPE_GIVEN ? roof_given(value->number, field->unit)
                                                    : roof_to_unit(value->number, field->unit);
    return printed;
}

bool roof_absent(const struct roof_field *field, const struct roof_value *printed)
{
    return roof_type_is_text(field->type) ? printed->text == NULL || *printed->text == '\0'
                                          : !isfinite(printed->number);
}

/* Writes the blank-separated items of a text as an array. */
static void put_array(struct roof_text *out, const char *text, const char *quote)
{
    roof_text_put(out, "[");
    for (const char *item = text; item != NULL;) {
        const size_t length = strcspn(item, " ");
        roof_text_put(out, item == text ? "" : ", ");
        roof_text_put(out, quote);
        roof_text_add(out, item, length);
        roof_text_put(out, quote);
        item = item[length] == '\0' ? NULL : item + length + 1;
    }
    roof_text_put(out, "]");
}

/* Writes a number into reserved space. */
static inline void put_number(struct roof_text *out, double value)
{
    out->length += roof_format_number(out->data + out->length, value);
}

static void put_json(struct roof_text *out, enum roof_type type, const struct roof_value *value)
{
    switch (type) {
    case ROOF_TYPE_WORDS:
        put_array(out, value->text, "\"");
        break;
    case ROOF_TYPE_NUMBERS:
        put_array(out, value->text, "");
        break;
    case ROOF_TYPE_TEXT:
    case ROOF_TYPE_CHARS:
    case ROOF_TYPE_PRECISION:
        roof_json_quote(out, value->text);
        break;
    case ROOF_TYPE_FLAG:
        roof_text_put(out, value->number > 0 ? "true" : "false");
        break;
    case ROOF_TYPE_NUMBER:
    case ROOF_TYPE_GIVEN:
    case ROOF_TYPE_INTEGER:
    case ROOF_TYPE_POSITIVE:
    case ROOF_TYPE_INT:
        put_number(out, value->number);
        break;
    }
}

static void put_csv(struct roof_text *out, enum roof_type type, const struct roof_value *value)
{
    if (roof_type_is_text(type)) {
        roof_csv_cell(out, value->text);
    } else {
        put_number(out, value->number);
    }
}

/* --- repeated cells ------------------------------------------------------------------------ */

/* Tells whether a cell equals that of the previous row, byte for byte. An absent value has length
 * 0. */
static inline bool same_value(const struct roof_cell *cell, const struct roof_field *field,
                              const struct roof_value *value)
{
    if (!cell->known) {
        return false;
    }
    if (field->type > ROOF_TYPE_PRECISION) { /* comparing a precision by its number is faster */
        return value->text == NULL ? cell->length == 0 : strcmp(cell->source, value->text) == 0;
    }
    /* The bytes are compared instead of the numbers, because 0 and -0 are written differently, and
     * NAN equals NAN here. */
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
    return memcmp(&cell->number, &value->number, sizeof cell->number) == 0;
}

/* Reserves space for the rest of a row from column i on, so that whole blocks and numbers are
 * written without checks; a long cell reserves space again. */
static bool reserve_rest(const struct roof_table *table, struct roof_text *out, size_t i)
{
    const size_t columns = table->columns.count - i;
    return roof_text_room(out, (columns + 1) * 2 * (ROOF_CELL_SIZE + 1)) != NULL;
}

/* Tells whether there is space for the rest of a row after a cell that begins at `before`. */
static inline bool still_room(const struct roof_table *table, struct roof_text *out, size_t i,
                              size_t before)
{
    return out->length - before <= ROOF_CELL_SIZE || reserve_rest(table, out, i);
}

/* Appends the first `length` bytes of a block of `size` bytes into reserved space. */
static inline void put_block(struct roof_text *out, const char *block, size_t size, size_t length)
{
    memcpy(out->data + out->length, block, size);
    out->length += length;
}

/* Keeps a value and its text if both are short. The text begins at `text`, with space after it. */
static inline void keep_value(struct roof_cell *cell, const struct roof_field *field,
                              const struct roof_value *value, const char *text, size_t length)
{
    cell->known = length <= sizeof cell->text;
    if (roof_type_is_text(field->type)) {
        const size_t size = strlen(value->text) + 1;
        cell->known = cell->known && size <= sizeof cell->source;
        memcpy(cell->source, value->text, cell->known ? size : 0);
    }
    cell->number = value->number;
    cell->length = length;
    memcpy(cell->text, text, sizeof cell->text);
}

/* Keeps an absent value. */
static inline void keep_absent(struct roof_cell *cell, const struct roof_value *value)
{
    cell->known = true;
    cell->number = value->number;
    cell->source[0] = '\0';
    cell->length = 0;
}

/* Writes the key of a member. Its text is made once for all rows. */
static bool put_lead(struct roof_table *table, size_t i, struct roof_text *out,
                     const char *separator)
{
    struct roof_cell *const cell = &table->cell[i];
    const bool spaced = *separator != '\0';
    if (cell->lead_length == 0) {
        const char *const key = table->columns.field[i].key;
        const size_t length = strlen(key);
        cell->lead[0] = '"';
        memcpy(cell->lead + 1, key, length);
        memcpy(cell->lead + 1 + length, "\":", 2);
        cell->lead_length = length + 3;
    }
    if (spaced) {
        roof_text_put(out, separator);
        if (!reserve_rest(table, out, i)) {
            return false;
        }
    }
    put_block(out, cell->lead, sizeof cell->lead, cell->lead_length);
    put_block(out, " ", 1, spaced);
    return true;
}

void roof_cells_csv(struct roof_table *table, struct roof_text *out,
                    const struct roof_value *values)
{
    bool room = reserve_rest(table, out, 0);
    char *end = room ? out->data + out->length : NULL; /* most cells only move this on */
    for (size_t i = 0; i < table->columns.count && room; i++) {
        const struct roof_field *const field = &table->columns.field[i];
        struct roof_cell *const cell = &table->cell[i];
        *end = ',';
        end += i > 0;
        if (same_value(cell, field, &values[i])) {
            memcpy(end, cell->text, sizeof cell->text);
            end += cell->length;
            continue;
        }
        const struct roof_value printed = roof_printed(field, &values[i]);
        if (roof_absent(field, &printed)) {
            keep_absent(cell, &values[i]);
            continue;
        }
        const size_t before = (size_t)(end - out->data);
        out->length = before;
        put_csv(out, field->type, &printed);
        room = still_room(table, out, i + 1, before);
        if (room) {
            keep_value(cell, field, &values[i], out->data + before, out->length - before);
            end = out->data + out->length;
        }
    }
    if (room) {
        out->length = (size_t)(end - out->data);
    }
    roof_text_add(out, "", 0); /* restores the final zero */
}

void roof_cells_json(struct roof_table *table, struct roof_text *out,
                     const struct roof_value *values, const char *separator, bool begun)
{
    bool room = reserve_rest(table, out, 0);
    for (size_t i = 0; i < table->columns.count && room; i++) {
        const struct roof_field *const field = &table->columns.field[i];
        struct roof_cell *const cell = &table->cell[i];
        const bool same = same_value(cell, field, &values[i]);
        const struct roof_value printed = same ? values[i] : roof_printed(field, &values[i]);
        if (same ? cell->length == 0 : roof_absent(field, &printed)) {
            keep_absent(cell, &values[i]); /* objects omit absent members */
            continue;
        }
        put_block(out, ",", 1, begun);
        begun = true;
        room = put_lead(table, i, out, separator);
        if (same && room) {
            put_block(out, cell->text, sizeof cell->text, cell->length);
        } else if (room) {
            const size_t before = out->length;
            put_json(out, field->type, &printed);
            room = still_room(table, out, i + 1, before);
            if (room) {
                keep_value(cell, field, &values[i], out->data + before, out->length - before);
            }
        }
    }
    roof_text_add(out, "", 0); /* restores the final zero */
}

#define TIME_DIGITS 5
#define DECIMALS_MAX 6

struct roof_time_look roof_time_look(double longest_s, enum roof_unit unit)
{
    const double longest = roof_to_unit(longest_s, unit);
    const double before =
        longest > 0 ? floor(log10(longest)) + 1 : 1; /* digits before the decimal point */
    struct roof_time_look look = {.unit = unit};
    look.decimals = (int)fmin(fmax(TIME_DIGITS - before, 0), DECIMALS_MAX);
    return look;
}

const char *roof_time_text(char out[ROOF_QUANTITY_SIZE], double s,
                           const struct roof_time_look *look)
{
    if (isnan(s)) {
        return "-";
    }
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%.*f", look->decimals, roof_to_unit(s, look->unit));
    return out;
}
