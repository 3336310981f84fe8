// SPDX-License-Identifier: MIT
/** What a report of the copies for a rate says of other rates and of other percentiles. */
#ifndef ROOF_REPORT_RATE_OTHERS_H
#define ROOF_REPORT_RATE_OTHERS_H

#include "report/rate_report.h"

/** Writes the copies of the best plan for each of several rates. */
void roof_rate_others_text(struct roof_text *out, const struct roof_rate_answer *a);

/** Tells whether a limit is on another statistic than p99. */
bool roof_rate_is_other(const struct roof_latency_limit *limit);

/** Says which columns of p99 may be above a limit, because it is on another statistic; nothing if
 * the table has none. */
void roof_rate_put_others(struct roof_text *out, const struct roof_fields *columns,
                          const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);

#endif
