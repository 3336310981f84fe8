// SPDX-License-Identifier: MIT
#include "roofline/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
        return roof_error_set(error, ROOF_USAGE, "an axis needs a value");
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
    uint64_t count = sweep->hardware_count;
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

/* Where the sweep stands on each axis. */
struct cursor {
    int64_t at[ROOF_SWEEP_AXES_MAX];
    size_t hardware;
    struct roof_workload workload;
};

static void apply(struct cursor *cursor, const struct roof_sweep *sweep, size_t axis)
{
    const struct roof_axis *const a = &sweep->axis[axis];
    roof_input_put(&cursor->workload, a->input, roof_values_at(&a->values, cursor->at[axis]));
}

static void seek(struct cursor *cursor, const struct roof_sweep *sweep, uint64_t point)
{
    cursor->workload = sweep->base;
    for (size_t i = sweep->axis_count; i-- > 0;) {
        const uint64_t count = (uint64_t)sweep->axis[i].values.count;
        cursor->at[i] = (int64_t)(point % count);
        point /= count;
        apply(cursor, sweep, i);
    }
    cursor->hardware = (size_t)point;
}

/* The next point: the last axis first, a full one starts again and carries to the one before. */
static void advance(struct cursor *cursor, const struct roof_sweep *sweep)
{
    for (size_t i = sweep->axis_count; i-- > 0;) {
        const bool wrap = ++cursor->at[i] == sweep->axis[i].values.count;
        if (wrap) {
            cursor->at[i] = 0;
        }
        apply(cursor, sweep, i);
        if (!wrap) {
            return;
        }
    }
    cursor->hardware++;
}

/* Says which point was refused. */
static enum roof_status name_point(const struct cursor *cursor, const struct roof_sweep *sweep,
                                   enum roof_status status, struct roof_error *error)
{
    if (error == NULL || sweep->axis_count + sweep->hardware_count <= 1) {
        return status;
    }
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_printf(&text, "%s (at -H %s", error->message, sweep->hardware[cursor->hardware]->id);
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct roof_input *const input = sweep->axis[i].input;
        const int64_t value = roof_input_get(&cursor->workload, input);
        char name[ROOF_INPUT_NAME_SIZE];
        roof_text_printf(&text, " %s", roof_input_name(name, input));
        if (input->kind == ROOF_INPUT_PRECISION) {
            roof_text_printf(&text, " %s", roof_format((enum roof_precision)value)->name);
        } else if (input->kind == ROOF_INPUT_CHOICE) {
            roof_text_printf(&text, " %s", input->choices[value]);
        } else {
            roof_text_printf(&text, " %" PRId64, value);
        }
    }
    roof_text_put(&text, ")");
    if (!text.failed) {
        snprintf(error->message, sizeof error->message, "%s", text.data);
    }
    roof_text_free(&text);
    return status;
}

enum roof_status roof_sweep_run(const struct roof_sweep *sweep, uint64_t first, uint64_t count,
                                roof_sweep_callback callback, void *context,
                                struct roof_error *error)
{
    struct cursor cursor;
    memset(&cursor, 0, sizeof cursor);
    uint64_t all = 0;
    const enum roof_status counted = roof_sweep_count(&all, sweep, error);
    if (counted != ROOF_OK) {
        return counted;
    }
    if (first > all || count > all - first) {
        return roof_error_set(error, ROOF_USAGE, "the sweep has only %" PRIu64 " points", all);
    }
    if (count > 0) {
        seek(&cursor, sweep, first);
    }
    for (uint64_t i = 0; i < count; i++) {
        struct roof_prediction prediction;
        enum roof_status status =
            roof_predict(&prediction, &cursor.workload, sweep->hardware[cursor.hardware], error);
        if (status != ROOF_OK) {
            return name_point(&cursor, sweep, status, error);
        }
        status = callback(context, &prediction, error);
        if (status != ROOF_OK) {
            return status;
        }
        if (i + 1 < count) {
            advance(&cursor, sweep);
        }
    }
    return ROOF_OK;
}

void roof_sweep_free(struct roof_sweep *sweep)
{
    for (size_t i = 0; i < sweep->axis_count; i++) {
        roof_values_free(&sweep->axis[i].values);
    }
    sweep->axis_count = 0;
}
