// SPDX-License-Identifier: MIT
/* Reads the question of `simulate`: the load, the scheduler and the limits. */
#ifndef ROOF_ASK_SIMULATE_READ_H
#define ROOF_ASK_SIMULATE_READ_H

#include "ask/asking.h"
#include "ask/draw.h"

/* The question, and the objects loaded for it. */
struct simulate_input {
    struct roof_scenario scenario; /* a request with the mean lengths */
    struct roof_scenario prefill;  /* of a prefill copy, if there are any */
    bool apart;                    /* some copies prefill, and the others decode */
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    const struct roof_engine *engine; /* NULL: none was named */
    struct roof_arrivals arrivals;
    struct roof_request_trace trace; /* owned */
    struct roof_simulation_inputs inputs;
    struct roof_simulation_row row; /* the inputs of the question */
    struct roof_drawing_size size;  /* of a chart, if one is drawn */
    bool bound;
    bool fits;                     /* step scale and overhead are fitted to the trace */
    bool requests;                 /* rows are requests */
    bool moments;                  /* rows are intervals of time */
    int64_t chart;                 /* the kind of chart (ask/curves.h); 0: none */
    struct roof_timeline timeline; /* activity of the engines, for a chart or rows of it */
    bool capacity;                 /* the greatest rate is searched */
    struct roof_text greatest;     /* the command that searches it, of the row; owned */
};

/* Refuses an operator in the place of the model. */
enum roof_status roof_simulate_refuse_operator(const char *op, struct roof_error *error);

/* Reads the question into a zeroed input, which must not move afterwards. The caller releases it by
 * roof_simulate_close, even after a failure. */
enum roof_status roof_read_simulate(struct simulate_input *in, struct roof_asking *a,
                                    struct roof_error *error);
/* Reads only the load, the scheduler and the limits, for the scenario in the input. */
enum roof_status roof_read_load(struct simulate_input *in, const struct roof_asking *a,
                                struct roof_error *error);
void roof_simulate_close(struct simulate_input *in);

#endif
