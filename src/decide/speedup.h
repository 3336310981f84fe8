// SPDX-License-Identifier: MIT
/** The speedup between two predictions: the saved time by cause, per operator and in total.
 *
 * Two predictions of the same work differ in the times of bytes, FLOPs and communication, in
 * launches, and in the efficiency of kernels. The saving of a single cause depends on whether it
 * changes first or last, because the longest of several times counts. Its share is the mean over
 * all orders (the Shapley value): shares add up to the whole difference, over causes and over
 * operators, and no order is preferred. docs/formulas.md ("Speedups") derives it. Nothing here
 * allocates, locks or writes anything except its result. */
#ifndef ROOF_DECIDE_SPEEDUP_H
#define ROOF_DECIDE_SPEEDUP_H

#include <stddef.h>

#include "predict/model_prediction.h"

enum roof_cause {
    ROOF_CAUSE_MEMORY,  /**< bytes / bandwidth: devices differ in the latter, formats in the former
                         */
    ROOF_CAUSE_COMPUTE, /**< FLOPs / peak */
    ROOF_CAUSE_NETWORK, /**< bytes / link bandwidth */
    ROOF_CAUSE_LAUNCH,  /**< launches only count in expected times, and so do kernels */
    ROOF_CAUSE_KERNELS, /**< efficiency of kernels: tiles, SMs, clocks, caches, latencies */
    ROOF_CAUSE_COUNT
};
const char *roof_cause_name(enum roof_cause cause);

/** The saved time and its causes; all are NAN if either time is unknown. */
struct roof_gain {
    double from_s;
    double to_s;
    double speedup;                   /**< from_s / to_s */
    double saved_s[ROOF_CAUSE_COUNT]; /**< the sum is from_s - to_s; negative: lost */
    double alone_s[ROOF_CAUSE_COUNT]; /**< the time if only this cause changed */
};

/** An operator; its times cover all its instances in one pass. */
struct roof_speedup_row {
    const char *from; /**< names of the two sides; borrowed */
    const char *to;
    const char *name;
    double count;
    size_t to_node; /**< index of the operator in the model on the `to` side */
    struct roof_gain bound;
    struct roof_gain expected;
    enum roof_bottleneck from_bottleneck;
    enum roof_bottleneck to_bottleneck;
    enum roof_bottleneck expected_from_bottleneck; /**< meaningless without an expected time */
    enum roof_bottleneck expected_to_bottleneck;
};

struct roof_speedup {
    struct roof_speedup_row total; /**< sums over the rows */
    size_t count;
    struct roof_speedup_row row[ROOF_GRAPH_MAX];
};

/** One side. The other side has the same operators, on another device or in other formats. */
struct roof_speedup_side {
    const char *name;
    const struct roof_prediction *prediction; /**< the prediction of an operator */
    const struct roof_model_prediction
        *model_prediction; /**< ... or of one phase of a model; otherwise NULL */
};

/** Explains the difference of two predictions. All that the sides point to must outlive *out.
 * Operators of models are paired by name. ROOF_USAGE if the sides have different operators, or are
 * whole requests. The times of a model are those of one pass through all its layers. */
enum roof_status roof_speedup(struct roof_speedup *out, const struct roof_speedup_side *from,
                              const struct roof_speedup_side *to, struct roof_error *error);

#endif
