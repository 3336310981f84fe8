// SPDX-License-Identifier: MIT
/** Reports on the copies that serve a request rate. */
#ifndef ROOF_REPORT_RATE_REPORT_H
#define ROOF_REPORT_RATE_REPORT_H

#include "decide/rate.h"
#include "report/rows.h"
#include "simulate/rate_trace.h"

/** An input of the load as given in the question. */
struct roof_rate_said {
    size_t input;
    const char *text;
};
#define ROOF_RATE_SAID_MAX 12

/** An answer with its question. */
struct roof_rate_answer {
    const struct roof_rate_problem *problem;
    const struct roof_rate_plans *found;
    const char *prompt; /* the lengths as given in the question */
    const char *generate;
    const struct roof_rate_said *said; /* inputs for a simulation of the load, in their order */
    size_t said_count;
    const struct roof_kept_columns *kept;
    const struct roof_rate_trace *trace; /* NULL: the rate is constant */
    const char *arrivals;                /* name of the arrival process */
};

/** Both write the plans that serve the rate (at most `top`), the best first: the number of copies,
 * the simulated value for each limit, and the greatest rate. */
/* Writes a one-line summary of the best plan: its rate, and the values of its limits. */
void roof_rate_report_remark(struct roof_text *out, const struct roof_rate_answer *answer);
/* Writes the simulated plan that comes nearest to the limits, and its latencies, if no plan keeps
 * them; nothing if none was simulated. */
void roof_rate_report_nearest(struct roof_text *out, const struct roof_rate_answer *answer);
void roof_rate_report_text(struct roof_text *out, const struct roof_rate_answer *answer,
                           size_t top);
void roof_rate_report_markdown(struct roof_text *out, const struct roof_rate_answer *answer,
                               size_t top);
void roof_rate_report_json(struct roof_text *out, const struct roof_rate_answer *answer,
                           size_t top);
/** Writes why the best plan of another search of the question is better than that of the answer, in
 * words; false: it is not. */
bool roof_rate_report_gain(struct roof_text *out, const struct roof_rate_answer *answer,
                           const struct roof_rate_plans *other);
/** Writes the rows of a table. */
void roof_rate_report_rows(struct roof_text *out, struct roof_table *table,
                           const struct roof_rate_answer *answer, size_t top);

#endif
