// SPDX-License-Identifier: MIT
/* The copies that serve rates over time. */
#ifndef ROOF_REPORT_RATE_TRACE_REPORT_H
#define ROOF_REPORT_RATE_TRACE_REPORT_H

#include "report/rate_report.h"

/* Writes the copies of each interval, and what they take compared with those of the greatest rate
 * all the time; nothing without rates over time. */
void roof_rate_trace_text(struct roof_text *out, const struct roof_rate_answer *answer);
/* Writes them as members of an object, each after a comma. */
void roof_rate_trace_json(struct roof_text *out, const struct roof_rate_answer *answer);

#endif
