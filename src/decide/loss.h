// SPDX-License-Identifier: MIT
/**
 * The time that measured kernels take above their bound, and a change that would save it.
 */
#ifndef ROOF_DECIDE_LOSS_H
#define ROOF_DECIDE_LOSS_H

#include "decide/compare.h"
#include "decide/lever.h"

enum roof_loss_cure {
    ROOF_CURE_BOUND,    /**< a kernel at the bound: nothing better is known */
    ROOF_CURE_EXPECTED, /**< a kernel as fast as real ones are expected to be */
    ROOF_CURE_LEVER,    /**< a change to the kernels, or aligned rows */
    ROOF_CURE_NODE      /**< an operator of the model at its bound */
};

/** A measured kernel that reaches less than a given share of its bound. */
struct roof_loss {
    double share;                /**< of the bound that it reaches: bound / measured */
    double lost_s;               /**< measured - bound, of all runs */
    enum roof_bottleneck regime; /**< the bottleneck of the expected time; without one that of the
                                      bound */
    enum roof_loss_cure cure;
    struct roof_lever lever; /**< ROOF_CURE_LEVER */
    const char *node;        /**< ROOF_CURE_NODE: the name of the operator, borrowed */
    double gain;             /**< times as fast as measured */
};

/** Finds out what a compared row loses. */
enum roof_status roof_loss_of(struct roof_loss *out, const struct roof_compared *row,
                              struct roof_error *error);

#endif
