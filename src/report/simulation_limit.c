// SPDX-License-Identifier: MIT
/* The limits of a simulation, and the values that they are compared with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/simulation_parts.h"

static const char *const latency_names[ROOF_LATENCY_COUNT] = {
    [ROOF_LATENCY_TTFT] = "time to first token",
    [ROOF_LATENCY_TPOT] = "time per token",
    [ROOF_LATENCY_E2E] = "end to end"};

const char *roof_report_latency(enum roof_latency latency)
{
    return latency_names[latency];
}

const char *roof_simulation_short(char out[ROOF_QUANTITY_SIZE], double time_s)
{
    return roof_format_quantity(out, time_s, ROOF_UNIT_MILLISECONDS);
}

const char *roof_simulation_missed(char out[ROOF_QUANTITY_SIZE], double time_s, double limit_s)
{
    char limit[ROOF_QUANTITY_SIZE];
    (void)roof_simulation_short(out, time_s);
    (void)roof_simulation_short(limit, limit_s);
    for (int digits = 5; digits < 17 && strcmp(out, limit) == 0; digits++) {
        (void)snprintf(out, ROOF_QUANTITY_SIZE, "%.*g ms", digits,
                       roof_to_unit(time_s, ROOF_UNIT_MILLISECONDS));
        (void)snprintf(limit, ROOF_QUANTITY_SIZE, "%.*g ms", digits,
                       roof_to_unit(limit_s, ROOF_UNIT_MILLISECONDS));
    }
    return out;
}

void roof_report_unsure(struct roof_text *out, const char *before, const char *after,
                        const struct roof_latency_result *result,
                        const struct roof_latency_limit *limit)
{
    char interval[ROOF_QUANTITY_SIZE];
    if (roof_latency_is_unsure(result, limit)) {
        roof_text_printf(out, "%s+- %s: uncertain%s", before,
                         roof_simulation_short(interval, result->limited_ci_s), after);
    }
}

void roof_simulation_put_limit(struct roof_text *out, const struct roof_simulation *s,
                               enum roof_latency latency, const struct roof_latency_limit *limit)
{
    const struct roof_latency_result *const r = &s->latency[latency];
    char name[ROOF_QUANTITY_SIZE];
    char time[ROOF_QUANTITY_SIZE];
    char most[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "%s of %s %s, limit %s", roof_format_percentile(name, limit->percent),
                     roof_report_latency(latency),
                     isinf(r->limited_s) ? "unbounded"
                     : r->met            ? roof_simulation_short(time, r->limited_s)
                              : roof_simulation_missed(time, r->limited_s, limit->time_s),
                     roof_simulation_short(most, limit->time_s));
    if (isinf(r->limited_s)) {
        roof_text_put(out, " (requests are turned away)");
    }
    roof_report_unsure(out, " (", ")", r, limit);
}

const char *roof_simulation_verdict(const struct roof_latency_result *result)
{
    return isnan(result->limited_s) ? "no value" : result->met ? "met" : "MISSED";
}
