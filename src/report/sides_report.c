// SPDX-License-Identifier: MIT
#include "report/sides_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "predict/costed.h"
#include "predict/prediction_fields.h"
#include "predict/unexpected.h"
#include "report/model_report.h"
#include "report/published_report.h"
#include "report/report.h"
#include "report/scenario_report.h"

/* A figure: its label for people, and the key of its field. */
struct figure {
    const char *label;
    const char *key;
};
static const struct figure of_operators[] = {{"lower bound", "time_us"},
                                             {"expected", "expected_time_us"},
                                             {"  kernels", "expected_basis"},
                                             {"  measured on", "expected_device"},
                                             {"limited by", "bottleneck"},
                                             {"  expected", "expected_bottleneck"},
                                             {"memory time", "memory_time_us"},
                                             {"compute time", "compute_time_us"},
                                             {"network time", "network_time_us"},
                                             {"intensity", "arithmetic_intensity"},
                                             {"ridge point", "ridge_point"},
                                             {"computes in", "compute_precision"},
                                             {"native", "native"},
                                             {"peak", "peak_tflops"},
                                             {"bandwidth", "bandwidth_gb_s"}};
static const struct figure of_models[] = {{"time to first token", "ttft_ms"},
                                          {"  expected", "expected_ttft_ms"},
                                          {"time per token", "tpot_ms"},
                                          {"  expected", "expected_tpot_ms"},
                                          {"end to end", "e2e_ms"},
                                          {"  expected", "expected_e2e_ms"},
                                          {"tokens/s", "tokens_per_s"},
                                          {"  expected", "expected_tokens_per_s"},
                                          {"  from other devices", "expected_near_fraction"},
                                          {"limited by", "bottleneck"},
                                          {"  expected", "expected_bottleneck"},
                                          {"native formats", "native"},
                                          {"weights", "weights_memory_bytes"},
                                          {"KV cache", "kv_cache_bytes"},
                                          {"  states in it", "state_bytes"},
                                          {"activations", "activation_memory_bytes"},
                                          {"memory capacity", "memory_capacity_bytes"},
                                          {"  kept free", "memory_reserve_bytes"},
                                          {"fits", "fits"}};
#define LABEL_WIDTH 21

/* The most rows: all figures, and two more for the limits of models. */
#define ROWS_MAX (COUNT(of_models) + 2)
struct sides {
    size_t count;
    size_t rows;
    const char *label[ROWS_MAX];
    char cell[ROWS_MAX][ROOF_SIDES_MAX][ROOF_QUANTITY_SIZE]; /* "": unknown */
    const char *id[ROOF_SIDES_MAX];
};

static bool is_time(const struct roof_field *field)
{
    return field->unit == ROOF_UNIT_MICROSECONDS || field->unit == ROOF_UNIT_MILLISECONDS;
}

/* Writes a figure; all times in the table have one unit. */
static void show(char out[ROOF_QUANTITY_SIZE], const struct roof_field *field,
                 const struct roof_value *value, enum roof_unit times)
{
    if (roof_type_is_text(field->type)) {
        snprintf(out, ROOF_QUANTITY_SIZE, "%s", value->text == NULL ? "" : value->text);
    } else if (isnan(value->number)) {
        out[0] = '\0';
    } else if (field->type == ROOF_TYPE_FLAG) {
        snprintf(out, ROOF_QUANTITY_SIZE, "%s", value->number > 0 ? "yes" : "no");
    } else if (field->unit == ROOF_UNIT_NONE && strstr(field->key, "fraction") != NULL) {
        snprintf(out, ROOF_QUANTITY_SIZE, "%.0f%%", 100 * value->number);
    } else if (field->unit == ROOF_UNIT_NONE) {
        roof_model_report_rate(out, value->number);
    } else if (is_time(field)) {
        roof_format_in(out, value->number, times);
    } else {
        roof_format_quantity(out, value->number, field->unit);
    }
}

/* Returns the unit of all times: milliseconds for models, and if an operator takes at least 1 ms.
 */
static enum roof_unit unit_of(const struct roof_side *sides, size_t count)
{
    bool long_time = sides[0].of_model != NULL;
    for (size_t i = 0; i < count; i++) {
        long_time = long_time || sides[i].prediction->time_s >= 1e-3 ||
                    sides[i].prediction->expected_s >= 1e-3;
    }
    return long_time ? ROOF_UNIT_MILLISECONDS : ROOF_UNIT_MICROSECONDS;
}

/* Tells whether kernels convert what a side stores to the format of a unit that multiplies it. */
static bool converts(const struct roof_side *side)
{
    const struct roof_model_prediction *const r = side->of_model;
    return side->prediction->native &&
           !(r == NULL ? roof_runs_as_stored(side->prediction) : r->as_stored);
}

/* Fills in the cells of one device. */
static void fill(struct sides *s, size_t device, const struct roof_side *side, enum roof_unit times)
{
    struct roof_fields fields = {.count = 0};
    struct roof_value values[ROOF_FIELDS_MAX];
    const bool model = side->of_model != NULL;
    const struct figure *const figures = model ? of_models : of_operators;
    s->rows = model ? COUNT(of_models) : COUNT(of_operators);
    s->id[device] = side->prediction->hardware->id;
    if (model) {
        roof_model_prediction_fields(&fields);
        roof_model_prediction_values(values, &fields, side->of_model);
    } else {
        roof_prediction_fields(&fields, side->prediction->workload.op, 0);
        roof_prediction_values(values, &fields, 0, side->prediction);
    }
    for (size_t i = 0; i < s->rows; i++) {
        const struct roof_field *const field = roof_fields_find(&fields, figures[i].key);
        s->label[i] = figures[i].label;
        if (field != NULL) {
            show(s->cell[i][device], field, &values[field - fields.field], times);
        }
        if (strcmp(figures[i].key, "native") == 0 && converts(side)) {
            snprintf(s->cell[i][device], ROOF_QUANTITY_SIZE, "no, converted");
        }
    }
}

/* Adds the rows for the limits of models. */
static void fill_limits(struct sides *s, const struct roof_side *sides)
{
    s->label[s->rows] = "largest batch";
    s->label[s->rows + 1] = "decode compute-bound";
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_limits *const limits = sides[i].limits;
        if (!isnan(limits->max_batch)) {
            snprintf(s->cell[s->rows][i], ROOF_QUANTITY_SIZE, "%.0f", limits->max_batch);
        }
        if (!isnan(limits->decode_compute_bound)) {
            roof_model_report_bound(s->cell[s->rows + 1][i], limits->decode_compute_bound);
        }
    }
    s->rows += 2;
}

/* Returns the width of a column. */
static size_t width_of(const struct sides *s, size_t device)
{
    size_t width = strlen(s->id[device]);
    for (size_t i = 0; i < s->rows; i++) {
        const size_t length = strlen(s->cell[i][device]);
        width = length > width ? length : width;
    }
    return width;
}

static void put_cell(struct roof_text *out, const struct sides *s, size_t device, const char *text)
{
    roof_text_fill(out, ' ', 2 + width_of(s, device) - strlen(text));
    roof_text_put(out, text);
}

/* Returns the end of the range of devices from `from` on that fit on a page. */
static size_t last_of(const struct sides *s, size_t from)
{
    size_t width = 2 + LABEL_WIDTH + 2 + width_of(s, from);
    size_t end = from + 1;
    while (end < s->count && width + 2 + width_of(s, end) <= ROOF_PAGE_WIDTH) {
        width += 2 + width_of(s, end);
        end++;
    }
    return end;
}

/* Writes the rows that have a figure for at least one device, for a range of devices. */
static void put_rows(struct roof_text *out, const struct sides *s, size_t from, size_t end)
{
    roof_text_fill(out, ' ', 2 + LABEL_WIDTH);
    for (size_t i = from; i < end; i++) {
        put_cell(out, s, i, s->id[i]);
    }
    roof_text_put(out, "\n");
    for (size_t row = 0; row < s->rows; row++) {
        bool known = false;
        for (size_t i = 0; i < s->count; i++) {
            known = known || s->cell[row][i][0] != '\0';
        }
        if (!known) {
            continue;
        }
        roof_text_printf(out, "  %-*s", LABEL_WIDTH, s->label[row]);
        for (size_t i = from; i < end; i++) {
            put_cell(out, s, i, s->cell[row][i][0] == '\0' ? "-" : s->cell[row][i]);
        }
        roof_text_put(out, "\n");
    }
}

/* Says why a device has no expected time. */
static void put_unexpected(struct roof_text *out, const struct roof_side *side)
{
    const bool model = side->of_model != NULL;
    char why[ROOF_UNEXPECTED_SIZE];
    if (!isnan(model ? side->of_model->expected_step_s : side->prediction->expected_s)) {
        return;
    }
    roof_text_put(out, "\n");
    const size_t line = out->length;
    roof_text_printf(out, "Note: no expected time on %s: ", side->prediction->hardware->id);
    if (model) {
        roof_model_report_unexpected(out, side->of_model);
    } else {
        roof_text_put(out, roof_unexpected(why, side->prediction));
    }
    roof_text_put(out, ".");
    roof_text_fold(out, line, 4);
    roof_text_put(out, "\n");
}

/* Says what would make room on a device that the model does not fit. */
static void put_no_room(struct roof_text *out, const struct roof_side *side)
{
    if (side->of_model->fits != ROOF_FIT_NO) {
        return;
    }
    roof_text_put(out, "\n");
    const size_t line = out->length;
    roof_text_printf(out, "Note: on %s ", side->prediction->hardware->id);
    if (side->limits->max_batch > 0) {
        roof_text_printf(out, "batches up to %.0f fit", side->limits->max_batch);
    } else {
        roof_text_put(out, "no batch fits");
    }
    roof_model_report_levers(out, side->of_model, side->limits);
    roof_text_put(out, ".\n");
    roof_text_fold(out, line, 4);
}

/* Writes the notes on the estimates of all models: whose kernels they assume. */
static void put_estimates(struct roof_text *out, const struct roof_side *sides, size_t count)
{
    bool near = false;
    bool fastest = false;
    for (size_t i = 0; i < count; i++) {
        near = near || sides[i].of_model->expected_near > 0;
        fastest = fastest || roof_report_is_fastest(sides[i].of_model);
    }
    roof_text_put(out, near || fastest ? "\n" : "");
    if (near) {
        roof_text_put(out, "From other devices: share of the expected time that other devices, "
                           "libraries or formats give.\n");
    }
    if (fastest) {
        roof_text_put(out, "The expected time has the fastest kernels of all engines; --stack "
                           "NAME has those of one.\n");
    }
}

void roof_report_sides(struct roof_text *out, const struct roof_side *sides, size_t count)
{
    struct sides s = {.count = count};
    const size_t from = out->length;
    const struct roof_model_prediction *const model = sides[0].of_model;
    const enum roof_unit times = unit_of(sides, count);
    for (size_t i = 0; i < count; i++) {
        fill(&s, i, &sides[i], times);
    }
    if (model != NULL) {
        fill_limits(&s, sides);
        roof_text_printf(out, "%s: ", model->model->id);
        roof_report_scenario(out, model);
        roof_text_put(out, "; ");
        roof_model_report_formats(out, model);
    } else {
        roof_report_workload(out, &sides[0].prediction->workload);
        roof_text_put(out, ": ");
        roof_report_formats(out, sides[0].prediction);
    }
    roof_text_put(out, "\n");
    roof_text_fold(out, from, 4);
    roof_text_put(out, "\n");
    for (size_t end = 0; end < count;) {
        const size_t first = end;
        roof_text_put(out, first == 0 ? "" : "\n");
        end = last_of(&s, first);
        put_rows(out, &s, first, end);
    }
    if (model != NULL &&
        roof_model_report_unquantized(model->model, &model->scenario.common.formats)) {
        roof_model_report_note_unquantized(out, model->model);
    }
    if (model != NULL) {
        put_estimates(out, sides, count);
    }
    for (size_t i = 0; i < count; i++) {
        put_unexpected(out, &sides[i]);
        if (model != NULL) {
            put_no_room(out, &sides[i]);
            if (sides[i].of_model->fallbacks != 0) {
                roof_model_report_fallback(out, sides[i].of_model);
            }
            roof_report_model_basis(out, sides[i].of_model, sides[i].product);
        } else {
            roof_report_basis(out, sides[i].prediction, sides[i].product);
        }
    }
}
