// SPDX-License-Identifier: MIT
/** What a report of the copies for a rate says of other rates and of other percentiles. */
#ifndef ROOF_REPORT_RATE_OTHERS_H
#define ROOF_REPORT_RATE_OTHERS_H

#include "report/rate_report.h"

/** Writes the copies of the best plan for each of several rates. */
void roof_rate_others_text(struct roof_text *out, const struct roof_rate_answer *a);

/** Tells whether a limit is on another statistic than p99, and whether any limit is. */
bool roof_rate_is_other(const struct roof_latency_limit *limit);
bool roof_rate_other_percentile(const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);

/** Writes these: "p95 of time to first token, mean of time per token". */
void roof_rate_percentiles(struct roof_text *out,
                           const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);

#endif
