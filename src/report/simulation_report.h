// SPDX-License-Identifier: MIT
/** Documents about a simulation. Reports compute nothing. */
#ifndef ROOF_REPORT_SIMULATION_REPORT_H
#define ROOF_REPORT_SIMULATION_REPORT_H

#include "report/rows.h"

/** Both write a simulation, and whether it met its limits: for people, or as a JSON object. */
/** Writes the engine, the split and the formats of a simulation, for a chart of it. */
void roof_simulation_report_about(struct roof_text *out, const struct roof_simulation_row *row);
void roof_simulation_report_text(struct roof_text *out, const struct roof_simulation_row *row,
                                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);
/** Writes a simulation in Markdown, with the text report folded below its tables. */
void roof_simulation_report_markdown(struct roof_text *out, const struct roof_simulation_row *row,
                                     const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);
/* Names a latency in words: "time to first token". */
const char *roof_report_latency(enum roof_latency latency);
/* Writes "+- 58 ms: uncertain" between two texts if it does; otherwise nothing. */
void roof_report_unsure(struct roof_text *out, const char *before, const char *after,
                        const struct roof_latency_result *result,
                        const struct roof_latency_limit *limit);
/* Writes the member "limits": the limits, and the simulated value for each. */
void roof_report_limits_json(struct roof_text *out, const struct roof_simulation *simulation,
                             const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);

void roof_simulation_report_json(struct roof_text *out, const struct roof_simulation_row *row,
                                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);

/* Says why a greatest rate has no confidence interval. */
const char *roof_report_no_interval(enum roof_no_interval why);

/** Writes a rate: "2 requests/s" or "1 request/s". */
void roof_report_requests(struct roof_text *out, double per_s);

#endif
