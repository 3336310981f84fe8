// SPDX-License-Identifier: MIT
#include "report/rate_others.h"

#include <inttypes.h>
#include <math.h>

#include "base/base.h"
#include "report/render.h"
#include "report/simulation_report.h"

void roof_rate_others_text(struct roof_text *out, const struct roof_rate_answer *a)
{
    const struct roof_rate_plans *const found = a->found;
    if (found->others > 0) {
        roof_text_put(out, "\n  Copies of this plan for each rate (at a lower rate, another plan "
                           "may need fewer devices):\n");
        roof_text_printf(out, "  %10s  %6s  %7s\n", "requests/s", "copies", "devices");
    }
    for (size_t i = 0; i < found->others; i++) {
        char rate[ROOF_QUANTITY_SIZE];
        const struct roof_rate_plan *const way = &found->other[i];
        struct roof_plan_row row;
        roof_plan_name(&row, &way->plan, 1, &a->problem->answer->problem);
        roof_text_printf(out, "  %10s  ", roof_format_short(rate, way->rate));
        if (way->plan.prefill.copies > 0) {
            roof_text_printf(out, "%6s", row.copies);
        } else {
            roof_text_printf(out, "%6" PRId64, way->plan.dp);
        }
        roof_text_printf(out, "  %7" PRId64 "\n", way->plan.devices);
    }
}

/* The percentile that the columns of the table have. */
#define SHOWN_PERCENT 99

bool roof_rate_is_other(const struct roof_latency_limit *limit)
{
    return !isnan(limit->time_s) && limit->percent != SHOWN_PERCENT;
}

void roof_rate_put_others(struct roof_text *out, const struct roof_fields *columns,
                          const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    static const char *const keys[ROOF_LATENCY_COUNT] = {"ttft_ms_p99", "tpot_ms_p99",
                                                         "e2e_ms_p99"};
    static const char begin[] =
        "p99: may be above a limit on another statistic, which each plan keeps (";
    const char *separator = begin;
    const size_t from = out->length;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        char percent[ROOF_QUANTITY_SIZE];
        if (roof_rate_is_other(&limit[i]) && roof_fields_find(columns, keys[i]) != NULL) {
            roof_text_printf(out, "%s%s of %s", separator,
                             roof_format_percentile(percent, limit[i].percent),
                             roof_report_latency((enum roof_latency)i));
            separator = ", ";
        }
    }
    if (separator != begin) {
        roof_text_put(out, ")");
        roof_text_fold(out, from, 5);
        roof_text_put(out, "\n");
    }
}
