// SPDX-License-Identifier: MIT
/* Fits tables for people to a page, by leaving out the least important columns. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "decide/read.h"
#include "predict/prediction_fields.h"
#include "predict/tile_fields.h"
#include "report/render.h"
#include "report/rows.h"

/* The width of a column that a report adds. */
#define SHOWN_WIDTH 8
#define LEFT_OUT_MAX 20
/* The characters of a Markdown table on a page of 1012 pixels, as GitHub shows it. */
#define MARKDOWN_WIDTH 118

/* The columns that may be left out, by kind of table, in the order of removal. */
static const struct {
    enum roof_table_kind kind;
    const char *key[LEFT_OUT_MAX];
} left_out[] = {
    {ROOF_TABLE_PREDICTIONS,
     {"batch", "activations", "arithmetic_intensity", "compute_precision", "attainable_tflops",
      "out", "kv", "bottleneck"}},
    {ROOF_TABLE_TILES, {"cluster", "time_us", "tile_grid", "weights", "tile_dram_intensity"}},
    {ROOF_TABLE_MODEL_PREDICTIONS,
     {"pp", "ep", "kv", "activations", "tp", "tokens_per_s_per_user", "phase", "generate", "prompt",
      "context", "weights", "bottleneck", "fits", "expected_ttft_ms", "ttft_ms", "tokens_per_s",
      "expected_tokens_per_s"}},
    {ROOF_TABLE_PLANS,
     {"expected_step_ms", "step_ms", "expected_tokens_per_s", "tokens_per_s", "devices",
      "expected_tokens_per_s_per_user", "tokens_per_s_per_user", "expected_ttft_ms", "ttft_ms",
      "kv"}},
    {ROOF_TABLE_RATES, {"cost_per_million_tokens", "e2e_ms_p99", "kv"}},
    {ROOF_TABLE_SIMULATIONS,
     {"model", "hardware", "e2e_ms_mean", "waiting", "preemptions", "running", "kv_use", "devices",
      "tpot_ms_mean", "ttft_ms_mean"}},
    {ROOF_TABLE_SPEEDUPS, {"from", "to", "count"}},
    {ROOF_TABLE_HARDWARE, {"int4_tflops", "int8_tflops", "tdp_w", "basis"}},
    {ROOF_TABLE_PRECISIONS, {"block_elements", "block_bytes", "highest", "family"}},
    {ROOF_TABLE_OPERATORS, {"dimensions"}},
    {ROOF_TABLE_MODELS, {"window", "positions", "vocab", "head_dim", "top_k", "kv_heads"}},
};

/* Tells whether the key precision sets this column. */
static bool is_format(const char *key)
{
    return strcmp(key, "weights") == 0 || strcmp(key, "activations") == 0 || strcmp(key, "kv") == 0;
}

static bool is_input(const char *key)
{
    return roof_input_number(key) < ROOF_INPUT_COUNT || strcmp(key, "model") == 0;
}

/* Tells whether a column is kept because the question varies it. */
static bool is_kept(const struct roof_kept_columns *kept, const char *key)
{
    const size_t input = roof_input_number(key);
    return (input < ROOF_INPUT_COUNT && kept->input[input]) ||
           (is_format(key) && kept->input[ROOF_INPUT_PRECISION_BOTH]);
}

/* --- variety of the rows ------------------------------------------------------------------- */

static bool equal(const struct roof_value *a, const struct roof_value *b)
{
    if (a->text != NULL || b->text != NULL) {
        return a->text != NULL && b->text != NULL && strcmp(a->text, b->text) == 0;
    }
    return a->number == b->number || (isnan(a->number) && isnan(b->number));
}

/* Tells whether a value repeats that of an earlier column of formats. */
static bool repeats(const struct roof_fields *columns, const struct roof_value *value, size_t i)
{
    for (size_t k = 0; k < i && is_format(columns->field[i].key); k++) {
        if (is_format(columns->field[k].key) && equal(&value[i], &value[k])) {
            return true;
        }
    }
    return false;
}

void roof_variety_add(struct roof_variety *variety, const struct roof_table *table,
                      const struct roof_prediction *prediction,
                      const struct roof_model_prediction *model, const struct roof_tile *tile)
{
    struct roof_value value[ROOF_FIELDS_MAX];
    const struct roof_fields *const columns = &table->columns;
    if (table->kind == ROOF_TABLE_TILES) {
        variety->tile = variety->rows == 0 ? *tile : variety->tile; /* the copy owns its texts */
        roof_tile_values(value, columns, prediction, variety->rows == 0 ? &variety->tile : tile);
    } else if (model != NULL) {
        roof_model_prediction_values(value, columns, model);
    } else {
        roof_prediction_values(value, columns, 0, prediction);
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (variety->rows == 0) {
            variety->first[i] = value[i];
        }
        variety->varies[i] |= !equal(&value[i], &variety->first[i]);
        variety->differs[i] |= !repeats(columns, value, i);
        variety->present[i] |= !isnan(value[i].number) || value[i].text != NULL;
    }
    variety->columns = *columns;
    variety->rows++;
}

/* The importance of a column for a reader, in ascending order. */
enum worth {
    WORTH_NOTHING, /* it is empty */
    WORTH_LITTLE,  /* it repeats the question, or another column */
    WORTH_MUCH,
    WORTH_MOST /* it tells which rows are possible, or has a latency with common limits */
};

/* Rates a column by its values. */
static enum worth worth(const struct roof_variety *variety, const char *key)
{
    const struct roof_field *const field =
        variety == NULL ? NULL : roof_fields_find(&variety->columns, key);
    if (field == NULL) {
        return WORTH_MUCH; /* the rows are unknown */
    }
    const size_t i = (size_t)(field - variety->columns.field);
    const bool fits = strcmp(key, "fits") == 0;
    if (!variety->present[i]) {
        return WORTH_NOTHING;
    }
    if (is_input(key) || is_format(key)) {
        return variety->varies[i] && variety->differs[i] ? WORTH_MUCH : WORTH_LITTLE;
    }
    if ((fits && !variety->varies[i] && variety->first[i].number > 0) ||
        strcmp(key, "tokens_per_s_per_user") == 0 || strcmp(key, "arithmetic_intensity") == 0) {
        return WORTH_LITTLE;
    }
    return fits || strcmp(key, "ttft_ms") == 0 || strcmp(key, "expected_ttft_ms") == 0 ? WORTH_MOST
                                                                                       : WORTH_MUCH;
}

/* --- removed columns ----------------------------------------------------------------------- */

void roof_table_hide(struct roof_table *table, const char *key)
{
    struct roof_fields *const columns = &table->columns;
    size_t kept = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->field[i].key, key) != 0) {
            columns->field[kept++] = columns->field[i];
        }
    }
    columns->count = kept;
}

void roof_table_append(struct roof_table *table, enum roof_table_kind kind, const char *key,
                       const char *label)
{
    struct roof_fields all = {0};
    roof_table_fields(&all, kind, ROOF_OPERATOR_GEMM, false);
    struct roof_field column = *roof_fields_find(&all, key);
    column.label = label;
    column.width = SHOWN_WIDTH;
    roof_fields_add(&table->columns, &column, 1, column.part);
}

bool roof_table_is_too_wide(const struct roof_table *table)
{
    const bool markdown = table->output == ROOF_OUTPUT_MARKDOWN;
    return (markdown || table->output == ROOF_OUTPUT_TEXT) &&
           roof_table_width(table) > (markdown ? MARKDOWN_WIDTH : ROOF_PAGE_WIDTH);
}

/* Removes a column of at most this worth while the table is too wide. */
static void spare(struct roof_table *table, const struct roof_kept_columns *kept,
                  const struct roof_variety *variety, enum worth most, const char *key)
{
    const enum worth is = worth(variety, key);
    if (roof_table_is_too_wide(table) && is <= most && (is < WORTH_MUCH || !is_kept(kept, key))) {
        roof_table_hide(table, key);
    }
}

/* Removes columns of at most this worth: those of the list in its order, then inputs from the last
 * one back. */
static void spare_all(struct roof_table *table, const struct roof_kept_columns *kept,
                      const struct roof_variety *variety, enum worth most)
{
    for (size_t i = 0; i < COUNT(left_out); i++) {
        const char *const *const key = left_out[i].key;
        for (size_t k = 0; left_out[i].kind == table->kind && k < LEFT_OUT_MAX && key[k] != NULL;
             k++) {
            spare(table, kept, variety, most, key[k]);
        }
    }
    for (size_t i = table->columns.count; i > 0 && most < WORTH_MUCH; i--) {
        const char *const key = table->columns.field[i - 1].key;
        if (is_input(key)) {
            spare(table, kept, variety, most, key);
        }
    }
}

void roof_table_narrow(struct roof_table *table, const struct roof_kept_columns *kept,
                       const struct roof_variety *variety)
{
    const bool markdown = table->output == ROOF_OUTPUT_MARKDOWN;
    if ((table->output != ROOF_OUTPUT_TEXT && !markdown) || kept->all) {
        return;
    }
    if (markdown && table->kind == ROOF_TABLE_OPERATORS) {
        return; /* lists of dimensions have blanks, where cells can be folded */
    }
    if (variety == NULL && table->kind == ROOF_TABLE_MODEL_PREDICTIONS &&
        roof_table_is_too_wide(table)) {
        roof_table_hide(table, "expected_tokens_per_s"); /* it follows from the expected time */
    }
    for (int most = WORTH_NOTHING; most <= WORTH_MOST; most++) {
        spare_all(table, kept, variety, (enum worth)most);
    }
}

/* Writes the name of a column, and its value if the question alone sets it. */
static void put_column(struct roof_text *out, const struct roof_variety *variety, size_t i)
{
    const struct roof_field *const field = &variety->columns.field[i];
    char buffer[ROOF_QUANTITY_SIZE];
    roof_text_put(out, field->label == NULL ? field->key : field->label);
    if ((is_input(field->key) || is_format(field->key)) && !variety->varies[i] &&
        variety->present[i]) {
        roof_text_printf(out, " %s", roof_table_readable(buffer, field, &variety->first[i]));
    }
}

void roof_table_left_out(const struct roof_table *table, const struct roof_variety *variety,
                         struct roof_text *out)
{
    static const char begin[] = "\nColumns not shown: ";
    static const char end[] = " (--wide shows all)\n";
    struct roof_text name = ROOF_TEXT_INIT;
    size_t column = 0;
    for (size_t i = 0; i < variety->columns.count; i++) {
        if (roof_fields_find(&table->columns, variety->columns.field[i].key) != NULL) {
            continue;
        }
        roof_text_clear(&name);
        put_column(&name, variety, i);
        const bool fits = column + name.length + sizeof end < ROOF_PAGE_WIDTH;
        roof_text_put(out, column == 0 ? begin : fits ? ", " : ",\n  ");
        column = column == 0 ? strlen(begin) : fits ? column + 2 : 2;
        if (table->output == ROOF_OUTPUT_MARKDOWN) {
            roof_text_markdown(out, name.failed ? "" : name.data);
        } else {
            roof_text_add(out, name.data, name.length);
        }
        column += name.length;
    }
    roof_text_put(out, column == 0 ? "" : end);
    out->failed |= name.failed;
    roof_text_free(&name);
}
