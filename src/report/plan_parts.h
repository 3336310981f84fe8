// SPDX-License-Identifier: MIT
/* Parts of the reports on plans. */
#ifndef ROOF_REPORT_PLAN_PARTS_H
#define ROOF_REPORT_PLAN_PARTS_H

#include "base/text.h"
#include "decide/plan_inputs.h"
#include "decide/plan_speedup.h"
#include "decide/read.h"

/* The least fraction of a time estimated from other devices that a report mentions. */
#define ROOF_PLAN_NEAR 0.1

/* The text in place of a plan's engines if none is known. */
#define ROOF_PLAN_NO_ENGINE "none of those known here runs on it"

/* Writes the figures of the first plan, expected ones or its bounds, and those for the requested
 * number of requests, unless the batch of `asked` is 0. */
void roof_plan_put_best(struct roof_text *out, const struct roof_plans *plans,
                        const struct roof_plan *asked, const struct roof_plan_problem *problem);

/* Writes notes on the figures of a plan: the fraction that is estimated from other devices, the
 * shipping product in place of the device, the caveats of caveat_report.h, and the context that the
 * model supports. */
void roof_plan_put_notes(struct roof_text *out, const struct roof_plan *plan,
                         const struct roof_plan_problem *problem);

/* Writes the same notes, after `begin`, as an array of JSON; nothing if there are none. For the
 * best of `plans` they include the one on a time per token without a limit. */
void roof_plan_json_notes(struct roof_text *out, const char *begin, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem, const struct roof_plans *plans);

/* Writes the prediction of the plan, or without prompts the two of them. */
void roof_plan_put_commands(struct roof_text *out, const struct roof_plan *plan,
                            const struct roof_plan_problem *problem);

/* Writes the members about images and a prefix cache, if prompts have them. */
void roof_plan_put_prompts_json(struct roof_text *out, const struct roof_plan_problem *problem);

/* Says what the times assume about drafts, images and a prefix cache, if the question has them. */
void roof_plan_put_assumed(struct roof_text *out, const struct roof_plan_problem *problem);

/* Writes the command that simulates a plan with the scheduler of an engine (NULL: a generic one),
 * without its load (arrivals, lengths and limits) and end of line. */
void roof_plan_put_simulation(struct roof_text *out, const struct roof_plan *plan,
                              const struct roof_plan_problem *problem,
                              const struct roof_engine *engine);

/* Writes the plan that the best one is compared with, and its gains over that plan. */
void roof_plan_put_why(struct roof_text *out, const struct roof_plan_speedup *speedup,
                       const struct roof_plan_problem *problem);

/* Writes the best plan on each of several devices. */
void roof_plan_put_devices(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_problem *problem,
                           const struct roof_kept_columns *kept);

/* Returns the index of the best plan on a device; the number of plans if there is none. */
size_t roof_plan_first_on(const struct roof_plans *plans, size_t hardware);

/* Writes the best plans and the Pareto front: those with expected times, then those with bounds.
 * Tables fit the page unless all columns are kept. `above` says that the best plans are listed
 * already. */
void roof_plan_put_tables(struct roof_text *out, const struct roof_plans *plans,
                          const struct roof_plan_problem *problem, size_t top,
                          const struct roof_kept_columns *kept, bool above);
/* Writes the best plans as Markdown tables, below a line about each. */
void roof_plan_put_markdown(struct roof_text *out, const struct roof_plans *plans,
                            const struct roof_plan_problem *problem, size_t top,
                            const struct roof_kept_columns *kept);

/* Appends why a device has no plan, unless "Left out" gives this reason for all candidates. */
void roof_plan_put_no_engine(struct roof_text *out, const struct roof_plan_problem *problem,
                             size_t hardware);

/* Tells whether any allowed engine runs any format on a device. */
bool roof_plan_any_engine(const struct roof_plan_problem *problem, size_t hardware);

/* Returns what follows the format of a checkpoint in a text: the format of its routed experts, if
 * that is another one. */
const char *roof_plan_experts(const struct roof_model *model, const struct roof_serving *serving);
/* Returns, in `out`, why candidates are rejected. If the reason is the published checkpoint, its
 * format is named: "not smaller than the published checkpoint (fp8_block128)". An unknown link is
 * named by its key. */
#define ROOF_PLAN_REASON_SIZE 128
const char *roof_plan_reason(char out[ROOF_PLAN_REASON_SIZE], enum roof_plan_rejection reason,
                             const struct roof_plans *plans,
                             const struct roof_plan_problem *problem);

/* Writes the number of rejected candidates, by reason, with the nearest to each limit. */
void roof_plan_put_rejected(struct roof_text *out, const struct roof_plan_answer *answer);

/* Writes, if no plan is left, which changes would help, how near the closest candidate comes to all
 * limits, and which measurements are missing. */
void roof_plan_put_nothing(struct roof_text *out, const struct roof_plan_answer *answer);

#endif
