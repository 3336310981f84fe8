// SPDX-License-Identifier: MIT
/* Plans against the limits of a problem. */
#ifndef ROOF_DECIDE_PLAN_VERDICT_H
#define ROOF_DECIDE_PLAN_VERDICT_H

#include "decide/plan.h"

/* The limits that a plan misses. */
struct roof_verdict {
    int misses;
    enum roof_plan_limit last; /* the last limit that it misses */
    double most;               /* the largest excess, 1 when there is none */
    bool open;                 /* a limit on times holds so far: longer ones may miss it */
    enum roof_plan_basis basis;
};
struct roof_verdict roof_plan_verdict(const struct roof_plan_problem *q,
                                      const struct roof_plan *plan);

/* Returns how far a value is from a limit: above 1 it misses it. An unknown value misses every
 * limit. */
double roof_plan_excess(enum roof_plan_limit limit, double value, double bound);

/* Tells whether a plan is better than one of the same basis: it misses fewer limits, or misses them
 * by less, or is faster by what ranks them. */
bool roof_plan_is_better(const struct roof_plan_problem *q, const struct roof_plan *plan,
                         const struct roof_plan *than);

#endif
