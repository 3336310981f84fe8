// SPDX-License-Identifier: MIT
/* The fields of what decisions print: candidates, plans, speedups and engines. */
#ifndef ROOF_DECIDE_DECISION_FIELDS_H
#define ROOF_DECIDE_DECISION_FIELDS_H

#include <stdbool.h>

#include "catalog/field.h"
#include "decide/engine.h"
#include "decide/plan.h"
#include "decide/recommend.h"
#include "decide/speedup.h"

/* A candidate has its own fields and those of its prediction. For people, the few that a table for
 * people has, in the order in which people read them. */
void roof_candidate_fields(struct roof_fields *out, enum roof_operator op, bool for_people);
void roof_candidate_values(struct roof_value *out, const struct roof_fields *fields,
                           const struct roof_candidate *candidate);

void roof_plan_fields(struct roof_fields *out);
void roof_plan_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_plan_row *plan);

void roof_speedup_fields(struct roof_fields *out);
void roof_speedup_values(struct roof_value *out, const struct roof_fields *fields,
                         const struct roof_speedup_row *speedup);

void roof_engine_fields(struct roof_fields *out);
void roof_engine_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_engine_entry *engine);

#endif
