// SPDX-License-Identifier: MIT
/** A grid of predictions: axes, their ordered product, and a callback per point. Memory does not
 * grow with the number of points. */
#ifndef ROOF_DECIDE_SWEEP_H
#define ROOF_DECIDE_SWEEP_H

#include <stdint.h>

#include "decide/input.h"
#include "predict/model_prediction.h"
#include "predict/tile.h"

#define ROOF_SWEEP_AXES_MAX 24
/** The most points of a sweep. */
#define ROOF_SWEEP_POINTS_MAX 1000000000000000

/** One axis: an input and its values. */
struct roof_axis {
    const struct roof_input *input;
    struct roof_values values; /**< owned by the sweep */
};

/** The number of inputs that a name of formats sets. */
#define ROOF_NAMED_INPUTS 4
#define ROOF_NAMED_KEPT (-2)

/** The meaning of a name of formats, a value of the axis `precision`, for a model. */
struct roof_variant {
    const char *name;
    const struct roof_model *model; /**< in the layout of the name */
    /** Values of roof_named_inputs; ROOF_NAMED_KEPT if the question has the input itself. */
    int64_t value[ROOF_NAMED_INPUTS];
};

/** The inputs for the precision, the weights, the activations and the KV cache. */
extern const size_t roof_named_inputs[ROOF_NAMED_INPUTS];

/** Build with roof_sweep_add, release with roof_sweep_free. Devices are the outermost axis, then
 * models; the other axes nest in the order in which they were added, and the last varies fastest.
 */
struct roof_sweep {
    struct roof_scenario base; /**< the inputs without axes; for an operator its `common` */
    const struct roof_hardware *const *hardware; /**< borrowed; at least one */
    size_t hardware_count;
    const struct roof_model *const *model; /**< borrowed; NULL: the points are operators */
    size_t model_count;
    /** Borrowed: the variants of the first model, then those of the next. Values of the axis
     * `precision` are their indices; NULL: they are precisions. */
    const struct roof_variant *variant;
    size_t variants; /**< number per model */
    struct roof_axis axis[ROOF_SWEEP_AXES_MAX];
    size_t axis_count;
    struct roof_tile *tile; /**< receives the tile of a point, if it has one, before the callback;
                               NULL: it is not needed */
    /** Receives the errors of invalid points, which are skipped; NULL: the first one ends the
     * sweep. */
    void (*refused)(void *context, const struct roof_error *error);
};

/** Adds an axis and takes over its values, even on failure. */
enum roof_status roof_sweep_add(struct roof_sweep *sweep, const struct roof_input *input,
                                struct roof_values *values, struct roof_error *error);
/** Counts the points; ROOF_USAGE if there are more than ROOF_SWEEP_POINTS_MAX. */
enum roof_status roof_sweep_count(uint64_t *out, const struct roof_sweep *sweep,
                                  struct roof_error *error);

/** Writes the value of a point on an axis. */
void roof_axis_show(struct roof_text *out, const struct roof_axis *axis,
                    const struct roof_scenario *scenario);

/** Computes the part of `count` points in shard number `index` of `shards` (1 <= index <= shards):
 * the parts are contiguous, in order, and together all points; their sizes differ by one at most.
 */
void roof_sweep_shard(uint64_t *first, uint64_t *points, uint64_t count, uint64_t index,
                      uint64_t shards);

/** Receives the points in order; model is NULL for operators, otherwise prediction is its total. A
 * status other than ROOF_OK ends the sweep with that status. */
typedef enum roof_status (*roof_sweep_callback)(void *context,
                                                const struct roof_prediction *prediction,
                                                const struct roof_model_prediction *model,
                                                struct roof_error *error);

/** Predicts `count` points from number `first` on, in order. An invalid point ends the sweep, or
 * with `refused` is skipped; the message names the values of the point. */
enum roof_status roof_sweep_run(const struct roof_sweep *sweep, uint64_t first, uint64_t count,
                                roof_sweep_callback callback, void *context,
                                struct roof_error *error);

void roof_sweep_free(struct roof_sweep *sweep);

#endif
