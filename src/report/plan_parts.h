// SPDX-License-Identifier: MIT
/* Parts of the reports on plans. */
#ifndef ROOF_REPORT_PLAN_PARTS_H
#define ROOF_REPORT_PLAN_PARTS_H

#include "base/text.h"
#include "decide/plan_inputs.h"
#include "decide/plan_speedup.h"
#include "decide/read.h"

/* A report tells of a part of a time that is estimated from other devices where it is more. */
#define ROOF_PLAN_NEAR 0.1

/* Stands for the engines of a plan where none is known. */
#define ROOF_PLAN_NO_ENGINE "none of those known here runs on it"

/* Writes the figures of the best plan, expected ones or its bounds, and those that it has with as
 * many requests as were asked for, unless the batch of `asked` is 0. */
void roof_plan_put_best(struct roof_text *out, const struct roof_plan *plan,
                        const struct roof_plan *asked, const struct roof_plan_problem *problem);

/* Writes what to know of the figures of a plan: how much of them is estimated from other devices,
 * what is shipped in place of the device, what the model supports; and, if the search chose the
 * batch, that no limit on the time per token did. */
void roof_plan_put_notes(struct roof_text *out, const struct roof_plan *plan,
                         const struct roof_plan_problem *problem, bool batch_chosen);

/* Writes the prediction that is the plan, or without prompts the two of them. */
void roof_plan_put_commands(struct roof_text *out, const struct roof_plan *plan,
                            const struct roof_plan_problem *problem);

/* Writes the members of a document that tell of images and of a prefix cache, where prompts have
 * such. */
void roof_plan_put_prompts_json(struct roof_text *out, const struct roof_plan_problem *problem);

/* Says what the times owe to drafts, images and a prefix cache, where the question has them. */
void roof_plan_put_assumed(struct roof_text *out, const struct roof_plan_problem *problem);

/* Writes the command that simulates an aggregated plan, without its load: arrivals, lengths, limits
 * and the end of the line. */
void roof_plan_put_simulation(struct roof_text *out, const struct roof_plan *plan,
                              const struct roof_plan_problem *problem);

/* Writes against which other plan the best one was taken apart, and what it gains. */
void roof_plan_put_why(struct roof_text *out, const struct roof_plan_speedup *speedup);

/* Writes the best plan on each device, where there are several. */
void roof_plan_put_devices(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_problem *problem,
                           const struct roof_kept_columns *kept);

/* Returns the place of the best plan on a device; the number of plans where there is none. */
size_t roof_plan_first_on(const struct roof_plans *plans, size_t hardware);

/* Writes the best plans and the Pareto front: those with expected times, then those of bounds. They
 * are at most as wide as a page, unless all columns are kept. */
void roof_plan_put_tables(struct roof_text *out, const struct roof_plans *plans,
                          const struct roof_plan_problem *problem, size_t top,
                          const struct roof_kept_columns *kept);
/* Writes the best plans as tables in Markdown, below a line about each. */
void roof_plan_put_markdown(struct roof_text *out, const struct roof_plans *plans,
                            const struct roof_plan_problem *problem, size_t top,
                            const struct roof_kept_columns *kept);

/* Adds why a device has no plan, if that is not said of all candidates ("Left out"). */
void roof_plan_put_no_engine(struct roof_text *out, const struct roof_plan_problem *problem,
                             size_t hardware);

/* Returns, in `out`, why candidates are no plans. If that is the published checkpoint, its format
 * is named: "not smaller than the published checkpoint (fp8_block128)". */
#define ROOF_PLAN_REASON_SIZE 128
const char *roof_plan_reason(char out[ROOF_PLAN_REASON_SIZE], enum roof_plan_rejection reason,
                             const struct roof_plans *plans,
                             const struct roof_plan_problem *problem);

/* Writes how many candidates are no plans, by reason, with the nearest to each limit. */
void roof_plan_put_rejected(struct roof_text *out, const struct roof_plan_answer *answer);

/* Writes, if no plan is left, which changes would help, how near the closest candidate comes to all
 * limits, and what was not measured. */
void roof_plan_put_nothing(struct roof_text *out, const struct roof_plan_answer *answer);

#endif
