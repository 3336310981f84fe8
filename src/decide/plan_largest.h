// SPDX-License-Identifier: MIT
/* Solves for the largest batch of a plan. */
#ifndef ROOF_DECIDE_PLAN_LARGEST_H
#define ROOF_DECIDE_PLAN_LARGEST_H

#include "decide/plan_predict.h"

/* A batch and its free memory in bytes: below 0 it does not fit, NAN: unknown. */
struct roof_sized {
    int64_t batch;
    double room;
};

/* Tells whether a batch is one of the candidates of the problem. */
bool roof_plan_listed(const struct roof_plan_problem *problem, int64_t batch);

/* Tells whether the largest batch is a wanted candidate, from the largest that is known to fit and
 * the least that is known not to; 0: none. */
bool roof_plan_wants_largest(const struct roof_plan_problem *problem, int64_t fits, int64_t more);

/* Finds the largest batch of a plan that fits in memory and that one of its engines runs over its
 * split, starting from one that does. `more` is a larger batch that does not; its batch is 0 if
 * none is known. */
enum roof_status roof_plan_largest(int64_t *out, struct roof_plan_predictor *p,
                                   const struct roof_plan *plan, struct roof_sized fits,
                                   struct roof_sized more);

#endif
