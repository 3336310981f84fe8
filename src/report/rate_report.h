// SPDX-License-Identifier: MIT
/** Reports about the copies that serve a rate of requests. */
#ifndef ROOF_REPORT_RATE_REPORT_H
#define ROOF_REPORT_RATE_REPORT_H

#include "decide/rate.h"
#include "report/rows.h"
#include "simulate/rate_trace.h"

/** An input of the load as the question says it. */
struct roof_rate_said {
    size_t input;
    const char *text;
};
#define ROOF_RATE_SAID_MAX 12

/** An answer has what was asked and what was found. */
struct roof_rate_answer {
    const struct roof_rate_problem *problem;
    const struct roof_rate_plans *found;
    const char *prompt; /* the lengths as the question says them */
    const char *generate;
    const struct roof_rate_said *said; /* what a simulation of the load is given, in its order */
    size_t said_count;
    const struct roof_kept_columns *kept;
    const struct roof_rate_trace *trace; /* NULL: no rates over time */
    const char *arrivals;                /* the word of the process */
};

/** Each writes the ways to serve the rate (at most top), the best first: how many copies, what a
 * simulation of them has for each limit, and what they could serve. */
/* Writes in one line what the best way serves, and the values of its limits. */
void roof_rate_report_remark(struct roof_text *out, const struct roof_rate_answer *answer);
void roof_rate_report_text(struct roof_text *out, const struct roof_rate_answer *answer,
                           size_t top);
void roof_rate_report_markdown(struct roof_text *out, const struct roof_rate_answer *answer,
                               size_t top);
void roof_rate_report_json(struct roof_text *out, const struct roof_rate_answer *answer,
                           size_t top);
/** Writes the rows of a table. */
void roof_rate_report_rows(struct roof_text *out, struct roof_table *table,
                           const struct roof_rate_answer *answer, size_t top);

#endif
