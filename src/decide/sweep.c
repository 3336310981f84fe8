// SPDX-License-Identifier: MIT
#include "decide/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "predict/predict_sizes.h"
#include "predict/tile.h"

const size_t roof_named_inputs[ROOF_NAMED_INPUTS] = {ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_WEIGHTS,
                                                     ROOF_INPUT_ACTIVATIONS, ROOF_INPUT_KV};

enum roof_status roof_sweep_add(struct roof_sweep *sweep, const struct roof_input *input,
                                struct roof_values *values, struct roof_error *error)
{
    if (sweep->axis_count == ROOF_SWEEP_AXES_MAX) {
        roof_values_free(values);
        return roof_error_set(error, ROOF_USAGE, "a sweep has at most %d axes",
                              ROOF_SWEEP_AXES_MAX);
    }
    if (values->count == 0) {
        roof_values_free(values);
        return roof_error_set(error, ROOF_USAGE, "an axis needs at least one value");
    }
    sweep->axis[sweep->axis_count].input = input;
    sweep->axis[sweep->axis_count].values = *values;
    sweep->axis_count++;
    *values = (struct roof_values){0};
    return ROOF_OK;
}

enum roof_status roof_sweep_count(uint64_t *out, const struct roof_sweep *sweep,
                                  struct roof_error *error)
{
    uint64_t count = sweep->hardware_count * (sweep->model == NULL ? 1 : sweep->model_count);
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const uint64_t values = (uint64_t)sweep->axis[i].values.count;
        if (count > ROOF_SWEEP_POINTS_MAX / values) {
            return roof_error_set(error, ROOF_USAGE, "the sweep has more than %lld points",
                                  (long long)ROOF_SWEEP_POINTS_MAX);
        }
        count *= values;
    }
    *out = count;
    return ROOF_OK;
}

void roof_sweep_shard(uint64_t *first, uint64_t *points, uint64_t count, uint64_t index,
                      uint64_t shards)
{
    const uint64_t each = count / shards;
    const uint64_t more =
        count % shards; /* number of shards with one more point, which come first */
    const uint64_t before = index - 1;
    *first = before * each + (before < more ? before : more);
    *points = each + (before < more ? 1 : 0);
}

/* The position of the sweep on each axis. */
struct cursor {
    int64_t at[ROOF_SWEEP_AXES_MAX];
    size_t hardware;
    size_t model;
    size_t variant; /* of the model; 0 if precisions are not names of formats */
    struct roof_scenario asked;
    bool resolved; /* the previous point was resolved, and this one only differs in its sizes */
};

/* Tells whether the values of an axis are indices of variants, which depend on the model. */
static bool is_named(const struct roof_sweep *sweep, const struct roof_axis *axis)
{
    return sweep->variant != NULL && axis->input == roof_input(ROOF_INPUT_PRECISION_BOTH);
}

void roof_axis_show(struct roof_text *out, const struct roof_axis *axis,
                    const struct roof_scenario *scenario)
{
    if (axis->input == roof_input(ROOF_INPUT_PRECISION_BOTH) && scenario->formats_said != NULL) {
        roof_text_put(out, scenario->formats_said);
    } else {
        roof_input_show(out, axis->input, roof_input_get(scenario, axis->input));
    }
}

static void apply(struct cursor *cursor, const struct roof_sweep *sweep, size_t axis)
{
    const struct roof_axis *const a = &sweep->axis[axis];
    const int64_t value = roof_values_at(&a->values, cursor->at[axis]);
    if (is_named(sweep, a)) {
        cursor->variant = (size_t)value;
    } else {
        roof_input_put(&cursor->asked, a->input, value);
    }
}

static void seek(struct cursor *cursor, const struct roof_sweep *sweep, uint64_t point)
{
    cursor->asked = sweep->base;
    for (size_t i = sweep->axis_count; i-- > 0;) {
        const uint64_t count = (uint64_t)sweep->axis[i].values.count;
        cursor->at[i] = (int64_t)(point % count);
        point /= count;
        apply(cursor, sweep, i);
    }
    const uint64_t models = sweep->model == NULL ? 1 : sweep->model_count;
    cursor->model = (size_t)(point % models);
    cursor->hardware = (size_t)(point / models);
}

/* Tells whether a step along an axis keeps the formats, as for sizes of the operator. */
static bool keeps_formats(const struct roof_sweep *sweep, const struct roof_axis *axis)
{
    const struct roof_input *const input = axis->input;
    return axis->values.count == 1 ||
           (input >= roof_dimensions && input < roof_dimensions + ROOF_DIM_COUNT &&
            roof_operator_has(sweep->base.common.op,
                              (enum roof_dimension)(input - roof_dimensions)));
}

/* Steps to the next point: the last axis first; at its end it restarts and carries over to the one
 * before. */
static void advance(struct cursor *cursor, const struct roof_sweep *sweep)
{
    for (size_t i = sweep->axis_count; i-- > 0;) {
        const bool wrap = ++cursor->at[i] == sweep->axis[i].values.count;
        if (wrap) {
            cursor->at[i] = 0;
        }
        apply(cursor, sweep, i);
        cursor->resolved = cursor->resolved && keeps_formats(sweep, &sweep->axis[i]);
        if (!wrap) {
            return;
        }
    }
    cursor->resolved = false;
    if (sweep->model == NULL || ++cursor->model == sweep->model_count) {
        cursor->model = 0;
        cursor->hardware++;
    }
}

/* Sets the formats of the point's variant, and returns the model in them. */
static const struct roof_model *take_variant(struct cursor *cursor, const struct roof_sweep *sweep)
{
    const struct roof_variant *const v =
        &sweep->variant[cursor->model * sweep->variants + cursor->variant];
    for (size_t i = 0; i < ROOF_NAMED_INPUTS; i++) {
        if (v->value[i] != ROOF_NAMED_KEPT) {
            roof_input_put(&cursor->asked, roof_input(roof_named_inputs[i]), v->value[i]);
        }
    }
    cursor->asked.formats_said = v->name;
    return v->model;
}

/* Predicts the point; for a model also *of_model. */
static enum roof_status predict_point(struct roof_prediction *prediction,
                                      struct roof_model_prediction *of_model, struct cursor *cursor,
                                      const struct roof_sweep *sweep, struct roof_error *error)
{
    const struct roof_hardware *const hardware = sweep->hardware[cursor->hardware];
    if (of_model != NULL) {
        const struct roof_model *const model =
            sweep->variant == NULL ? sweep->model[cursor->model] : take_variant(cursor, sweep);
        return roof_predict_model(of_model, model, &cursor->asked, hardware, error);
    }
    if (cursor->resolved) {
        return roof_predict_sizes(prediction, &cursor->asked.common.shape, error);
    }
    const enum roof_status status =
        roof_predict(prediction, &cursor->asked.common, hardware, error);
    cursor->resolved = status == ROOF_OK;
    return status;
}

/* Names the refused point. */
static enum roof_status name_point(const struct cursor *cursor, const struct roof_sweep *sweep,
                                   enum roof_status status, struct roof_error *error)
{
    const size_t lists =
        sweep->hardware_count + (sweep->model == NULL ? 0 : sweep->model_count - 1);
    if (error == NULL || sweep->axis_count + lists <= 1) {
        return status;
    }
    roof_error_append(error, " (at " ROOF_KEY("hardware") " %s",
                      sweep->hardware[cursor->hardware]->id);
    if (sweep->model != NULL) {
        roof_error_append(error, " model %s", sweep->model[cursor->model]->id);
    }
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct roof_input *const input = sweep->axis[i].input;
        char name[ROOF_INPUT_NAME_SIZE];
        struct roof_text value = ROOF_TEXT_INIT;
        roof_axis_show(&value, &sweep->axis[i], &cursor->asked);
        const bool failed = value.failed;
        roof_error_append(error, " %s %s", roof_input_marked(name, input),
                          failed ? "" : value.data);
        roof_text_free(&value);
        if (failed) {
            return roof_no_memory(error);
        }
    }
    roof_error_append(error, ")");
    return status;
}

/* Predicts the points; of_model, which is reused for all points, is NULL for operators. */
static enum roof_status run(const struct roof_sweep *sweep, struct cursor *cursor, uint64_t count,
                            struct roof_model_prediction *of_model, roof_sweep_callback callback,
                            void *context, struct roof_error *error)
{
    struct roof_prediction prediction = {.time_s = ROOF_UNKNOWN};
    struct roof_tile tile;
    const struct roof_prediction *const result = of_model == NULL ? &prediction : &of_model->total;
    for (uint64_t i = 0; i < count; i++) {
        enum roof_status status = predict_point(&prediction, of_model, cursor, sweep, error);
        if (status == ROOF_OK && cursor->asked.tile.tile != 0) {
            status = roof_tile_predict(sweep->tile == NULL ? &tile : sweep->tile, &prediction,
                                       &cursor->asked.tile, error);
        }
        if (status == ROOF_OK) {
            TRY(callback(context, result, of_model, error));
        } else {
            status = name_point(cursor, sweep, status, error);
            if (status != ROOF_USAGE || sweep->refused == NULL || error == NULL) {
                return status;
            }
            sweep->refused(context, error);
        }
        advance(cursor, sweep);
    }
    return ROOF_OK;
}

enum roof_status roof_sweep_run(const struct roof_sweep *sweep, uint64_t first, uint64_t count,
                                roof_sweep_callback callback, void *context,
                                struct roof_error *error)
{
    struct cursor cursor;
    memset(&cursor, 0, sizeof cursor);
    uint64_t all = 0;
    TRY(roof_sweep_count(&all, sweep, error));
    if (first > all || count > all - first) {
        return roof_error_set(error, ROOF_USAGE, "the sweep has only %" PRIu64 " points", all);
    }
    if (count > 0) {
        seek(&cursor, sweep, first);
    }
    if (sweep->model == NULL) {
        return run(sweep, &cursor, count, NULL, callback, context, error);
    }
    struct roof_model_prediction *const of_model = malloc(sizeof *of_model);
    if (of_model == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = run(sweep, &cursor, count, of_model, callback, context, error);
    free(of_model);
    return status;
}

void roof_sweep_free(struct roof_sweep *sweep)
{
    for (size_t i = 0; i < sweep->axis_count; i++) {
        roof_values_free(&sweep->axis[i].values);
    }
    sweep->axis_count = 0;
}
