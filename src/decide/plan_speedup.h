// SPDX-License-Identifier: MIT
/** Why a plan is better than another: the speedups of both phases by cause (speedup.h). */
#ifndef ROOF_DECIDE_PLAN_SPEEDUP_H
#define ROOF_DECIDE_PLAN_SPEEDUP_H

#include "decide/plan.h"
#include "decide/speedup.h"

#define ROOF_PLAN_SIDE_SIZE 160

/** Two plans with the same split and batch. Only these and the devices and formats of `from` and
 * `to` are valid. It is large: keep it off small stacks. */
struct roof_plan_speedup {
    struct roof_plan from;
    struct roof_plan to;
    /** Names by the difference: devices, formats or both. */
    char from_name[ROOF_PLAN_SIDE_SIZE];
    char to_name[ROOF_PLAN_SIDE_SIZE];
    enum roof_fit from_fits; /**< whether a decode step fits; the times are set in any case */
    enum roof_fit to_fits;
    struct roof_speedup prefill; /**< the speedup of a single prompt */
    struct roof_speedup decode;  /**< the speedup of a step of the batch */
    /** Expected steps of both phases, of `from` and `to`. Unlike the sums of kernels above, they
     * have the host time of the engine, and kernels that begin before the previous ones end. */
    double prefill_step_s[2];
    double decode_step_s[2];
    /** The least batch at which an operator of `decode` is compute-bound on the `to` side, so that
     * fewer bytes stop helping; NAN: none. */
    double compute_bound_batch[ROOF_GRAPH_MAX];
};

/** Finds the combination of formats with the least loss that an engine runs on a device of the
 * problem. Ties go to the published formats, or else to the widest weights. Returns the number of
 * servings if there is none. */
size_t roof_plan_least_loss(const struct roof_plans *plans, const struct roof_plan_problem *problem,
                            size_t hardware);

/** Explains a change of device or formats (hardware, serving) from one plan to the other, at the
 * split and batch of `to`. Neither plan has to fit. `plans` is the search result for the problem.
 * *out points into itself: it must not be copied. */
enum roof_status roof_plan_speedup(struct roof_plan_speedup *out, const struct roof_plan *from,
                                   const struct roof_plan *to, const struct roof_plans *plans,
                                   const struct roof_plan_problem *problem,
                                   struct roof_error *error);

#endif
