// SPDX-License-Identifier: MIT
/**
 * A grid of predictions: axes, their ordered product, one callback per point. Memory does not grow
 * with the number of points.
 */
#ifndef ROOF_DECIDE_SWEEP_H
#define ROOF_DECIDE_SWEEP_H

#include <stdint.h>

#include "decide/input.h"
#include "predict/model_prediction.h"
#include "predict/tile.h"

#define ROOF_SWEEP_AXES_MAX 24
/** Most points of a sweep. */
#define ROOF_SWEEP_POINTS_MAX 1000000000000000

/** One axis: an input and its values. */
struct roof_axis {
    const struct roof_input *input;
    struct roof_values values; /**< owned by the sweep */
};

/** Inputs that one name of formats gives values. */
#define ROOF_NAMED_INPUTS 4
#define ROOF_NAMED_KEPT (-2)

/** A variant is what a name of formats, a value of the axis `precision`, means for a model. */
struct roof_variant {
    const char *name;
    const struct roof_model *model; /**< in the layout of the name */
    /** Those of roof_named_inputs; ROOF_NAMED_KEPT where the question gives the input itself. */
    int64_t value[ROOF_NAMED_INPUTS];
};

/** The precision, the weights, the activations and the KV cache, by their numbers. */
extern const size_t roof_named_inputs[ROOF_NAMED_INPUTS];

/**
 * Build with roof_sweep_add, release with roof_sweep_free. Devices are the outermost axis, then
 * models; the other axes nest in the order they were added in, the last varies fastest.
 */
struct roof_sweep {
    struct roof_scenario base; /**< what no axis sets; of an operator its `common` */
    const struct roof_hardware *const *hardware; /**< borrowed; at least one */
    size_t hardware_count;
    const struct roof_model *const *model; /**< borrowed; NULL: the points are operators */
    size_t model_count;
    /** Borrowed: the variants of the first model, then those of the next. Values of the axis
     * `precision` are their numbers; NULL: they are precisions. */
    const struct roof_variant *variant;
    size_t variants; /**< of each model */
    struct roof_axis axis[ROOF_SWEEP_AXES_MAX];
    size_t axis_count;
    struct roof_tile *tile; /**< has the tile of a point, where points have one, before the callback
                                 is called; NULL: nobody reads it */
    /** Told of points that are not valid, which are then left out; NULL: the first ends the sweep.
     */
    void (*refused)(void *context, const struct roof_error *error);
};

/** Adds an axis and takes the values over, also on failure. */
enum roof_status roof_sweep_add(struct roof_sweep *sweep, const struct roof_input *input,
                                struct roof_values *values, struct roof_error *error);
/** Number of points; ROOF_USAGE when there are more than ROOF_SWEEP_POINTS_MAX. */
enum roof_status roof_sweep_count(uint64_t *out, const struct roof_sweep *sweep,
                                  struct roof_error *error);

/** Writes the value that a point has on an axis. */
void roof_axis_show(struct roof_text *out, const struct roof_axis *axis,
                    const struct roof_scenario *scenario);

/** The part of `count` points that shard number `index` of `shards` has (1 <= index <= shards): the
 * parts are contiguous, in order, and together all points; their sizes differ by one at most. */
void roof_sweep_shard(uint64_t *first, uint64_t *points, uint64_t count, uint64_t index,
                      uint64_t shards);

/** Receives the points in order; model is NULL for operators, else prediction is its total.
 * Anything but ROOF_OK ends the sweep with that status. */
typedef enum roof_status (*roof_sweep_callback)(void *context,
                                                const struct roof_prediction *prediction,
                                                const struct roof_model_prediction *model,
                                                struct roof_error *error);

/**
 * Predicts count points from number first on, in order. A point that is not valid ends the sweep,
 * or with `refused` is left out; the message names the values that make the point.
 */
enum roof_status roof_sweep_run(const struct roof_sweep *sweep, uint64_t first, uint64_t count,
                                roof_sweep_callback callback, void *context,
                                struct roof_error *error);

void roof_sweep_free(struct roof_sweep *sweep);

#endif
