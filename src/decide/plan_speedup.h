// SPDX-License-Identifier: MIT
/** Why a plan is better than another: both phases taken apart (speedup.h). */
#ifndef ROOF_DECIDE_PLAN_SPEEDUP_H
#define ROOF_DECIDE_PLAN_SPEEDUP_H

#include "decide/plan.h"
#include "decide/speedup.h"

#define ROOF_PLAN_SIDE_SIZE 160

/** Two plans with the same split and batch. Only these, the devices and the formats of `from` and
 * `to` hold. It is large: keep it off small stacks. */
struct roof_plan_speedup {
    struct roof_plan from;
    struct roof_plan to;
    /** They are named by what tells them apart: devices, formats or both. */
    char from_name[ROOF_PLAN_SIDE_SIZE];
    char to_name[ROOF_PLAN_SIDE_SIZE];
    enum roof_fit from_fits; /**< a decode step fits or not; the times are there in any case */
    enum roof_fit to_fits;
    struct roof_speedup prefill; /**< the speedup of one prompt alone */
    struct roof_speedup decode;  /**< the speedup of a step of the batch */
    /** The smallest batch from which an operator of `decode` is compute-bound on the `to` side, so
     * that fewer bytes stop helping; NAN: none. */
    double compute_bound_batch[ROOF_GRAPH_MAX];
};

/** Finds the combination of formats with the least loss that an engine runs on a device of the
 * problem. Between equal losses the published formats win, or else the widest weights. Returns the
 * number of servings when there is none. */
size_t roof_plan_least_loss(const struct roof_plans *plans, const struct roof_plan_problem *problem,
                            size_t hardware);

/**
 * Takes apart what it means to change the device or formats (hardware, serving) of one plan to
 * those of the other; split and batch of both are those of `to`. Neither has to fit. plans is what
 * a search of the problem found. *out points into itself: it must not be copied.
 */
enum roof_status roof_plan_speedup(struct roof_plan_speedup *out, const struct roof_plan *from,
                                   const struct roof_plan *to, const struct roof_plans *plans,
                                   const struct roof_plan_problem *problem,
                                   struct roof_error *error);

#endif
