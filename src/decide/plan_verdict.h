// SPDX-License-Identifier: MIT
/* Compares plans with the limits of a problem. */
#ifndef ROOF_DECIDE_PLAN_VERDICT_H
#define ROOF_DECIDE_PLAN_VERDICT_H

#include "decide/plan.h"

/* The limits that a plan misses. */
struct roof_verdict {
    int misses;
    enum roof_plan_limit last; /* the last missed limit */
    double most;               /* the largest excess; 1: there is none */
    bool open;                 /* a limit on times is met so far, which larger times may miss */
    enum roof_plan_basis basis;
};
struct roof_verdict roof_plan_verdict(const struct roof_plan_problem *q,
                                      const struct roof_plan *plan);

/* Returns the ratio of a value to a limit: above 1 it misses the limit. An unknown value misses
 * every limit. */
double roof_plan_excess(enum roof_plan_limit limit, double value, double bound);

/* Tells whether a plan is better than one of the same basis: it misses fewer limits, or has a
 * smaller excess, or a better ranking value. */
bool roof_plan_is_better(const struct roof_plan_problem *q, const struct roof_plan *plan,
                         const struct roof_plan *than);

/* Writes the value that a limit applies to, in its usual unit. */
void roof_plan_put_value(struct roof_text *out, enum roof_plan_limit limit, double value);
/* Writes a limit of the question: "p99 1 s". */
void roof_plan_put_asked(struct roof_text *out, enum roof_plan_limit limit,
                         const struct roof_plan_problem *problem);

#endif
