// SPDX-License-Identifier: MIT
/* Why an engine runs none of the plans of a question. */
#ifndef ROOF_DECIDE_EMIT_REASON_H
#define ROOF_DECIDE_EMIT_REASON_H

#include "base/text.h"
#include "decide/plan.h"

/* Writes what the engine runs, with a remark on each line: the formats on each device, the splits,
 * and the drafts if the question `q` has some. `plans` is the number of plans that satisfy the
 * constraints. */
void roof_emit_reasons(struct roof_text *out, const struct roof_engine *engine,
                       const struct roof_plan_problem *q, size_t plans);

#endif
