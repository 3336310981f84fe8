// SPDX-License-Identifier: MIT
/* Parts of the reports on plans. */
#ifndef ROOFLINE_PLAN_PARTS_H
#define ROOFLINE_PLAN_PARTS_H

#include "base/text.h"
#include "decide/plan_speedup.h"
#include "roofline/question.h"

/* Writes the figures of the best plan, expected ones or its bounds. */
void roof_plan_put_best(struct roof_text *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem);

/* Writes the prediction that is the plan, or without prompts the two of them. */
void roof_plan_put_commands(struct roof_text *out, const struct roof_plan *plan,
                            const struct roof_plan_problem *problem);

/* Writes the command that simulates an aggregated plan, without its load: arrivals, lengths, limits
 * and the end of the line. */
void roof_plan_put_simulation(struct roof_text *out, const struct roof_plan *plan,
                              const struct roof_plan_problem *problem);

/* Writes against which other plan the best one was taken apart, and what it gains. */
void roof_plan_put_why(struct roof_text *out, const struct roof_plan_speedup *speedup);

/* Returns the place of the best plan on a device; the number of plans where there is none. */
size_t roof_plan_first_on(const struct roof_plans *plans, size_t hardware);

/* Writes the best plans and the Pareto front: those with expected times, then those of bounds. They
 * are at most as wide as a page, unless the question wants them wide. */
void roof_plan_put_tables(struct roof_text *out, const struct roof_plans *plans,
                          const struct roof_plan_problem *problem, size_t top,
                          const struct roof_question *question);

#endif
