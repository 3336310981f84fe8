// SPDX-License-Identifier: MIT
/** Reports on the result of a search for plans, for people and for programs. */
#ifndef ROOF_REPORT_PLAN_REPORT_H
#define ROOF_REPORT_PLAN_REPORT_H

#include "base/text.h"
#include "decide/plan_inputs.h"
#include "decide/read.h"

/** Both write the best plans (at most `top`), why the first is first, the Pareto front of both
 * rates, and rejected candidates with their distance to the limits. Without a plan they say how
 * many requests fit and which changes of the question would help. The question determines the
 * columns that the text must have. */
void roof_plan_report_text(struct roof_text *out, const struct roof_plan_answer *answer, size_t top,
                           const struct roof_kept_columns *kept);
void roof_plan_report_json(struct roof_text *out, const struct roof_plan_answer *answer,
                           size_t top);
/** Writes a page-wide table of the best plans, and the text below it, folded. */
void roof_plan_report_markdown(struct roof_text *out, const struct roof_plan_answer *answer,
                               size_t top, const struct roof_kept_columns *kept);

/** Both explain one change for both phases, with at most `top` operators of each, at the split and
 * batch of the best plan. */
void roof_plan_report_why_text(struct roof_text *out, const struct roof_plan_speedup *speedup,
                               const struct roof_plan *best,
                               const struct roof_plan_problem *problem, size_t top);
void roof_plan_report_why_json(struct roof_text *out, const struct roof_plan_speedup *speedup,
                               const struct roof_plan *best,
                               const struct roof_plan_problem *problem);

#endif
