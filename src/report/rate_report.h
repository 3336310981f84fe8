// SPDX-License-Identifier: MIT
/** Reports about the copies that serve a rate of requests. */
#ifndef ROOF_RATE_REPORT_H
#define ROOF_RATE_REPORT_H

#include "decide/rate.h"
#include "report/table.h"
#include "roofline/question.h"

/** An answer has what was asked and what was found. */
struct roof_rate_answer {
    const struct roof_rate_problem *problem;
    const struct roof_rate_plans *found;
    const struct roof_question *question;
    const char *arrivals; /* the word of the process */
};

/** Each writes the ways to serve the rate (at most top), the best first: how many copies, what a
 * simulation of them has for each limit, and what they could serve. */
void roof_rate_report_text(struct roof_text *out, const struct roof_rate_answer *answer,
                           size_t top);
void roof_rate_report_json(struct roof_text *out, const struct roof_rate_answer *answer,
                           size_t top);
/** Writes the rows of a table. */
void roof_rate_report_rows(struct roof_text *out, struct roof_table *table,
                           const struct roof_rate_answer *answer, size_t top);

#endif
