// SPDX-License-Identifier: MIT
/* The copies of one plan: how many a rate needs, and what they bear. */
#ifndef ROOF_DECIDE_RATE_COPIES_H
#define ROOF_DECIDE_RATE_COPIES_H

#include "decide/rate.h"

/* Returns true if some copies of a plan prefill and others decode. */
bool roof_rate_apart(const struct roof_plan *plan);
/* Returns true if copies of a plan have several pipeline stages. */
bool roof_rate_staged(const struct roof_plan *plan);
/* Returns the requests/s of one prefill copy in the closed form. */
double roof_rate_prefilled(const struct roof_plan *plan);

/* Sets the scheduler of a plan: that of its engine, with its number of sequences, and with its
 * token budget unless the question gives one. */
void roof_rate_schedule(struct roof_rate_plan *way, const struct roof_rate_problem *problem);

/* Finds the least copies that keep the limits at a rate. */
enum roof_status roof_rate_serve(struct roof_rate_plan *way,
                                 const struct roof_rate_problem *problem, double rate,
                                 struct roof_error *error);
/* Removes copies that a smaller token budget makes unnecessary. */
enum roof_status roof_rate_try_chunk(struct roof_rate_plan *way,
                                     const struct roof_rate_problem *problem, int64_t chunk,
                                     struct roof_error *error);
/* Simulates the copies of a plan at a lower rate. */
enum roof_status roof_rate_lower(struct roof_rate_plan *way,
                                 const struct roof_rate_problem *problem, double rate,
                                 struct roof_error *error);
/* Searches the greatest rate of a plan with its copies. */
enum roof_status roof_rate_greatest(struct roof_rate_plan *way,
                                    const struct roof_rate_problem *problem,
                                    struct roof_error *error);
/* Simulates one copy less, if all are of one kind and there are several. */
enum roof_status roof_rate_fewer(struct roof_rate_plan *way,
                                 const struct roof_rate_problem *problem, struct roof_error *error);
/* Searches how much longer the kernels of all steps may take before the copies miss a limit, to a
 * percent. Plans of lower bounds have no headroom. */
enum roof_status roof_rate_headroom(struct roof_rate_plan *way,
                                    const struct roof_rate_problem *problem,
                                    struct roof_error *error);

#endif
