// SPDX-License-Identifier: MIT
#include "decide/plan_verdict.h"

#include <math.h>

#include "base/quantity.h"

double roof_plan_excess(enum roof_plan_limit limit, double value, double bound)
{
    if (isnan(value)) {
        return (double)INFINITY;
    }
    const bool at_least =
        limit == ROOF_PLAN_LIMIT_TOKENS_PER_S || limit == ROOF_PLAN_LIMIT_CONCURRENCY;
    return at_least ? bound / value : value / bound;
}

struct roof_verdict roof_plan_verdict(const struct roof_plan_problem *q,
                                      const struct roof_plan *plan)
{
    struct roof_verdict v = {.last = ROOF_PLAN_LIMIT_COUNT, .most = 1, .basis = plan->basis};
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        const double over =
            isnan(q->limit[i]) ? 1 : roof_plan_excess(limit, plan->value[i], q->limit[i]);
        if (over > 1) {
            v.misses++;
            v.last = limit;
            v.most = fmax(v.most, over);
        } else if (limit != ROOF_PLAN_LIMIT_CONCURRENCY && limit != ROOF_PLAN_LIMIT_POWER) {
            v.open = v.open || !isnan(q->limit[i]);
        }
    }
    return v;
}

bool roof_plan_is_better(const struct roof_plan_problem *q, const struct roof_plan *plan,
                         const struct roof_plan *than)
{
    const struct roof_verdict one = roof_plan_verdict(q, plan);
    const struct roof_verdict other = roof_plan_verdict(q, than);
    if (one.misses != other.misses || one.most != other.most) {
        return one.misses != other.misses ? one.misses < other.misses : one.most < other.most;
    }
    return roof_plan_score(plan, q->objective) < roof_plan_score(than, q->objective);
}

void roof_plan_put_value(struct roof_text *out, enum roof_plan_limit limit, double value)
{
    char text[ROOF_QUANTITY_SIZE];
    if (isnan(value)) {
        roof_text_put(out, "an unknown value");
        return;
    }
    switch (limit) {
    case ROOF_PLAN_LIMIT_TTFT:
    case ROOF_PLAN_LIMIT_TPOT:
        roof_text_put(out, roof_format_quantity(text, value, ROOF_UNIT_MILLISECONDS));
        break;
    case ROOF_PLAN_LIMIT_POWER:
        roof_text_printf(out, "%s W", roof_format_short(text, value));
        break;
    case ROOF_PLAN_LIMIT_TOKENS_PER_S:
    case ROOF_PLAN_LIMIT_CONCURRENCY:
    case ROOF_PLAN_LIMIT_COST:
    case ROOF_PLAN_LIMIT_COUNT:
        roof_text_put(out, roof_format_short(text, value));
        break;
    }
}

/* Writes a limit of the question: "p99 1 s". */
void roof_plan_put_asked(struct roof_text *out, enum roof_plan_limit limit,
                         const struct roof_plan_problem *problem)
{
    char percent[ROOF_QUANTITY_SIZE];
    if (problem->percent[limit] > 0) {
        roof_text_printf(out, "%s ", roof_format_percentile(percent, problem->percent[limit]));
    }
    roof_plan_put_value(out, limit, problem->limit[limit]);
}
