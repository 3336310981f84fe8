// SPDX-License-Identifier: MIT
/** The table of the copies that serve a request rate. */
#ifndef ROOF_REPORT_RATE_TABLE_H
#define ROOF_REPORT_RATE_TABLE_H

#include "report/rate_report.h"

/** Tells whether a table for people has a plan: it is among the best, or the best of its device, so
 * that no device is missing. */
bool roof_rate_is_shown(const struct roof_rate_plans *found, size_t number, size_t top);

/** Tells whether some rows have expected times, and others lower bounds only. */
bool roof_rate_bases_differ(const struct roof_rate_answer *a, size_t top);

/** Writes the table, with all columns in which the splits or the token budgets of rows differ, and
 * below it the names of those that the page has no room for. Appends to the legend what the columns
 * of the split and of the token budget mean, a line each. */
void roof_rate_put_table(struct roof_text *out, enum roof_output output,
                         const struct roof_rate_answer *a, size_t top, struct roof_text *legend);

#endif
