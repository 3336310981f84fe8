// SPDX-License-Identifier: MIT
/** Reports about what a search of plans found, for people and for programs. */
#ifndef ROOF_REPORT_PLAN_REPORT_H
#define ROOF_REPORT_PLAN_REPORT_H

#include "base/text.h"
#include "decide/plan_inputs.h"
#include "decide/read.h"

/** Each writes the best plans (at most top), why the first is first, those that no other beats in
 * both rates, what was left out and how near it came. Where there is no plan, it says how many
 * requests fit and which changes of the question would help. The question says which columns of the
 * text there have to be. */
void roof_plan_report_text(struct roof_text *out, const struct roof_plan_answer *answer, size_t top,
                           const struct roof_kept_columns *kept);
void roof_plan_report_json(struct roof_text *out, const struct roof_plan_answer *answer,
                           size_t top);
/** Writes a table of the best plans that fits on a page, and the text below it, folded. */
void roof_plan_report_markdown(struct roof_text *out, const struct roof_plan_answer *answer,
                               size_t top, const struct roof_kept_columns *kept);

/** Each takes one change apart for both phases, with at most top operators of each, at the split
 * and batch of the best plan. */
void roof_plan_report_why_text(struct roof_text *out, const struct roof_plan_speedup *speedup,
                               const struct roof_plan *best,
                               const struct roof_plan_problem *problem, size_t top);
void roof_plan_report_why_json(struct roof_text *out, const struct roof_plan_speedup *speedup,
                               const struct roof_plan *best,
                               const struct roof_plan_problem *problem);

#endif
