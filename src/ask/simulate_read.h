// SPDX-License-Identifier: MIT
/* Reads the question of `simulate`: the load, the scheduler and the limits. */
#ifndef ROOF_ASK_SIMULATE_READ_H
#define ROOF_ASK_SIMULATE_READ_H

#include "ask/asking.h"
#include "ask/draw.h"

/* The question, with what was loaded for it. */
struct simulate_input {
    struct roof_scenario scenario; /* a request of mean lengths */
    struct roof_scenario prefill;  /* of a copy that prefills, where there are some */
    bool apart;                    /* some copies prefill, the others decode */
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    struct roof_arrivals arrivals;
    struct roof_request_trace trace; /* owned */
    struct roof_simulation_inputs inputs;
    struct roof_simulation_row row; /* what the question said */
    struct roof_drawing_size size;  /* of a chart, where one is drawn */
    bool bound;
    bool fits;                     /* a step scale and an overhead are fitted to the trace */
    bool requests;                 /* rows are requests */
    bool moments;                  /* rows are intervals of the time */
    int64_t chart;                 /* what is drawn (ask/curves.h); 0: no chart is asked for */
    struct roof_timeline timeline; /* what the engines did, for a chart or rows of it */
    bool capacity;                 /* the greatest rate is searched */
};

/* Reads the question into a zeroed input, which must not move after it. The caller releases it by
 * roof_simulate_close, also after a failure. */
enum roof_status roof_read_simulate(struct simulate_input *in, struct roof_asking *a,
                                    struct roof_error *error);
/* Reads the load, the scheduler and the limits alone, for a scenario that the input has. */
enum roof_status roof_read_load(struct simulate_input *in, const struct roof_asking *a,
                                struct roof_error *error);
void roof_simulate_close(struct simulate_input *in);

#endif
