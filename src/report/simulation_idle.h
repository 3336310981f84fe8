// SPDX-License-Identifier: MIT
/** Why an engine that is often idle serves no higher rate. */
#ifndef ROOF_REPORT_SIMULATION_IDLE_H
#define ROOF_REPORT_SIMULATION_IDLE_H

#include "report/rows.h"

/** Writes the reason, and ends its line: most requests are near the limit that a higher rate
 * misses, or they come in bursts. */
void roof_simulation_put_idle(struct roof_text *out, const struct roof_simulation_row *row,
                              const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);

#endif
