// SPDX-License-Identifier: MIT
/* Parts of the text and the Markdown report on a simulation. */
#ifndef ROOF_REPORT_SIMULATION_PARTS_H
#define ROOF_REPORT_SIMULATION_PARTS_H

#include "base/quantity.h"
#include "report/simulation_report.h"

/* Writes the load, the split, the engine and the formats: "2 requests/s, poisson; prompt 1k ...".
 */
void roof_simulation_put_asked(struct roof_text *out, const struct roof_simulation_row *row);
/* Writes the greatest rate with its interval, and the limit that a higher one misses. */
void roof_simulation_put_greatest(struct roof_text *out, const struct roof_simulation_row *row);
/* Formats a time of a row of latencies, all in the same unit. */
const char *roof_simulation_time(char out[ROOF_QUANTITY_SIZE], double time_s,
                                 const struct roof_latency_result *row);
/* Formats a time in a unit that suits it. */
const char *roof_simulation_short(char out[ROOF_QUANTITY_SIZE], double time_s);
/* Formats a latency that misses its limit with as many digits as show that. */
const char *roof_simulation_missed(char out[ROOF_QUANTITY_SIZE], double time_s, double limit_s);
/* Returns whether a limit is met: "met". */
const char *roof_simulation_verdict(const struct roof_latency_result *result);
/* Writes the simulated value of a limited latency, and its limit. */
void roof_simulation_put_limit(struct roof_text *out, const struct roof_simulation *s,
                               enum roof_latency latency, const struct roof_latency_limit *limit);

#endif
