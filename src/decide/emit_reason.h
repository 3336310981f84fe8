// SPDX-License-Identifier: MIT
/* Why an engine runs none of the plans of a question. */
#ifndef ROOF_DECIDE_EMIT_REASON_H
#define ROOF_DECIDE_EMIT_REASON_H

#include "base/text.h"
#include "decide/plan.h"

/* Writes why none of the plans that satisfy the constraints runs, with a remark on each line. If
 * there are none because limits are missed, these are the limits that the nearest plan misses;
 * otherwise what the engine runs: the formats on each device, the splits, and the drafts if the
 * question `q` has some. */
void roof_emit_reasons(struct roof_text *out, const struct roof_engine *engine,
                       const struct roof_plan_problem *q, const struct roof_plans *plans);

#endif
