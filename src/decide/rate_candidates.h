// SPDX-License-Identifier: MIT
/* The plans that are worth a simulation, by the closed form. */
#ifndef ROOF_DECIDE_RATE_CANDIDATES_H
#define ROOF_DECIDE_RATE_CANDIDATES_H

#include "decide/rate.h"

/* The sort key of a candidate. */
struct roof_rate_place {
    size_t way;
    bool bound;
    double score;
};
/* Orders places for qsort: those with expected times first, then by score. */
int roof_rate_by_score(const void *a, const void *b);

/* Returns the score of a plan with a number of devices: lower is better. */
double roof_rate_score(const struct roof_plan *plan, const struct roof_plan_problem *problem,
                       double devices);

/* Returns the devices that a rate needs in the closed form, with at least one copy of each kind. */
double roof_rate_devices(const struct roof_rate_plan *way, double rate);

/* Chooses the candidates of a problem: those with the least need, some for each device. */
enum roof_status roof_rate_candidates(struct roof_rate_plans *out,
                                      const struct roof_rate_problem *problem,
                                      struct roof_error *error);

#endif
