// SPDX-License-Identifier: MIT
/* Answers `recommend` for a model at a request rate: how many copies serve it. */
#ifndef ROOF_ASK_RATES_H
#define ROOF_ASK_RATES_H

#include "ask/simulate_read.h"
#include "decide/plan_inputs.h"
#include "report/rate_report.h"
#include "simulate/rate_trace.h"

/* The load of a question, with its other rates. */
struct rates_input {
    struct simulate_input load;
    struct roof_question single; /* the question with only its greatest rate; borrows its texts */
    char text[64];               /* the greatest rate */
    double *other;               /* owned */
    size_t others;
    int64_t threads;
    struct roof_rate_trace trace; /* the rates over time; empty: the rates are a list */
    bool chunk_given;
    const char *emit; /* the engine whose script is requested; NULL: none */
    const char *model_name;
    bool requests_given;
    struct roof_rate_said said[ROOF_RATE_SAID_MAX];
    size_t said_count;
};

/* Returns true if a question has a rate, or rates over time. */
bool roof_ask_has_rates(const struct roof_asking *a);
/* Reads the load into a zeroed input, which must not move afterwards, and sets the resulting inputs
 * of the search for plans: one copy of each, in one stage, and the limits. The caller releases it
 * by roof_rates_close, even after a failure. */
enum roof_status roof_read_rates(struct rates_input *out, struct roof_plan_inputs *inputs,
                                 const struct roof_asking *a, struct roof_error *error);
/* Refuses load inputs in a question without a rate. */
enum roof_status roof_refuse_load(const struct roof_asking *a, struct roof_error *error);
void roof_rates_close(struct rates_input *in);

/* Writes the copies that serve the rate, as rows of an opened table if rows are requested; *found
 * tells whether there are any. */
enum roof_status roof_ask_rates(struct roof_text *out, struct roof_table *table,
                                const struct rates_input *in, const struct roof_plan_answer *answer,
                                int64_t top, const struct roof_kept_columns *kept,
                                const struct roof_form *form, enum roof_status *found,
                                struct roof_error *error);

#endif
