// SPDX-License-Identifier: MIT
/* Decides when an engine looks for requests: docs/simulation.md ("Engines") has the rules. */
#include "simulate/scheduler_parts.h"

void roof_scheduler_count(struct roof_scheduler *s, int64_t steps)
{
    const int64_t interval = s->limits.interval > 1 ? s->limits.interval : 1;
    if (s->now.tokens) { /* the engine looks again right after a step with prompts */
        s->blind = 0;
        steps--;
    }
    s->blind = (s->blind + steps) % interval;
}

int64_t roof_scheduler_blind(const struct roof_scheduler *s)
{
    if (s->limits.interval <= 1) {
        return INT64_MAX; /* it looks before each step, so only the last look counts */
    }
    return s->now.tokens ? 0 : s->limits.interval - 1 - s->blind;
}

void roof_scheduler_look(struct roof_scheduler *s)
{
    if (s->running == 0 || s->stages > 1) {
        s->blind = 0;
        s->seen_s = s->clock_s;
        return;
    }
    roof_scheduler_count(s, 1);
    if (s->blind == 0) {
        s->seen_s = s->limits.ahead ? s->began_s : s->clock_s;
    }
}
