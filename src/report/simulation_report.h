// SPDX-License-Identifier: MIT
/** Documents about one simulation. Reports compute nothing. */
#ifndef ROOF_SIMULATION_REPORT_H
#define ROOF_SIMULATION_REPORT_H

#include "report/table.h"

/** Each writes a simulation, and whether its limits were met: for people, or as a JSON object. */
void roof_simulation_report_text(struct roof_text *out, const struct roof_simulation_row *row,
                                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);
void roof_simulation_report_json(struct roof_text *out, const struct roof_simulation_row *row,
                                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);

#endif
