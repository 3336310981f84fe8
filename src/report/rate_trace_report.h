// SPDX-License-Identifier: MIT
/* The copies that serve a rate that varies over time. */
#ifndef ROOF_REPORT_RATE_TRACE_REPORT_H
#define ROOF_REPORT_RATE_TRACE_REPORT_H

#include "report/rate_report.h"

/* Writes the copies for each interval, and their cost compared with constantly running those for
 * the greatest rate; nothing if the rate is constant. */
void roof_rate_trace_text(struct roof_text *out, const struct roof_rate_answer *answer);
/* Says by what the `shown` plans of the table are ranked; nothing if the rate is constant. */
void roof_rate_trace_order(struct roof_text *out, const struct roof_rate_answer *answer,
                           size_t shown);
/* Writes the same as members of an object, each after a comma. */
void roof_rate_trace_json(struct roof_text *out, const struct roof_rate_answer *answer);

#endif
