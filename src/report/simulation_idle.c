// SPDX-License-Identifier: MIT
#include "report/simulation_idle.h"

#include <string.h>

#include "base/base.h"
#include "report/render.h"

/* A limit is near if half of the requests need more than this part of it. */
#define NEAR_LIMIT 0.5

void roof_simulation_put_idle(struct roof_text *out, const struct roof_simulation_row *row,
                              const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    char time[ROOF_QUANTITY_SIZE];
    char most[ROOF_QUANTITY_SIZE];
    char busy[ROOF_QUANTITY_SIZE];
    int near = ROOF_LATENCY_COUNT;
    for (int i = 0; i < ROOF_LATENCY_COUNT && row->max_rate_limit != NULL; i++) {
        const char *const key = roof_latency_key((enum roof_latency)i);
        const bool missed = strcmp(row->max_rate_limit, key) == 0;
        near = missed && row->result.latency[i].p50_s > NEAR_LIMIT * limit[i].time_s ? i : near;
    }
    roof_format_quantity(busy, row->result.busy, ROOF_UNIT_FRACTION);
    if (near == ROOF_LATENCY_COUNT) {
        roof_text_printf(out, "requests come in bursts; the engine is busy %s of the time\n", busy);
        return;
    }
    roof_text_printf(
        out,
        "the engine is busy %s of the time, but half of the\n"
        "                       requests need %s or more of the limit of %s\n",
        busy, roof_format_quantity(time, row->result.latency[near].p50_s, ROOF_UNIT_MILLISECONDS),
        roof_format_quantity(most, limit[near].time_s, ROOF_UNIT_MILLISECONDS));
}
