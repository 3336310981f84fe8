// SPDX-License-Identifier: MIT
/* The closed loop: each request in flight is followed by another one when it ends, so that prefills
 * of some and decode steps of others share the steps of an engine. */
#ifndef ROOF_PREDICT_CLOSED_LOOP_H
#define ROOF_PREDICT_CLOSED_LOOP_H

#include "roofline/error.h"
#include "roofline/predict.h"

/* The values of a step. All are times, so that sums, means and interpolations are valid for each.
 */
enum roof_step_value {
    ROOF_STEP_BOUND,
    ROOF_STEP_EXPECTED,
    ROOF_STEP_LOW, /* the band of the expected time */
    ROOF_STEP_HIGH,
    ROOF_STEP_NEAR,  /* the part of the expected time from other kernels */
    ROOF_STEP_SHARE, /* the parts of the bound, by bottleneck */
    ROOF_STEP_EXPECTED_SHARE = ROOF_STEP_SHARE + ROOF_BOTTLENECK_COUNT,
    /* of one microbatch through all stages of a pipeline: the bound, and what is expected */
    ROOF_STEP_PATH = ROOF_STEP_EXPECTED_SHARE + ROOF_BOTTLENECK_COUNT,
    ROOF_STEP_EXPECTED_PATH,
    ROOF_STEP_TURN, /* of the slowest stage */
    ROOF_STEP_EXPECTED_TURN,
    ROOF_STEP_VALUES
};
struct roof_step_times {
    double value[ROOF_STEP_VALUES];
};

/* Adds weight times a step to a sum. */
void roof_step_add(struct roof_step_times *sum, double weight, const struct roof_step_times *step);

/* Computes the step s(D, h) in which `decoding` sequences decode and `chunks` chunks of a prompt
 * are prefilled, both in one lane. Neither need be a whole number. */
typedef enum roof_status roof_step_function(struct roof_step_times *out, void *context,
                                            double decoding, double chunks,
                                            struct roof_error *error);

/* The requests in the loop. */
struct roof_loop {
    double users;  /* b: requests in flight in one lane, at least 1 */
    double steps;  /* S: decode steps of a request */
    double chunks; /* K: chunks of its prompt */
    double room;   /* the most chunks that a step takes, at least 1 and `groups` */
    int64_t lanes; /* L: microbatches that follow each other through a pipeline */
    bool pipeline; /* the next chunk of a prompt may begin right after the last one */
    double groups; /* a: of the attention, each of which can have a chunk in the same step; 1: all
                      sequences share one */
};

/* With several lanes the bounds are those of a lane by itself, and expected times have the steps in
 * which a lane waits for another. Each bound is the lowest one of several schedules: chunks of
 * different prompts are in different steps as far as possible, as they are for expected times, or
 * several prompts are in the same ones. So the bounds of `ttft` and `step` can be those of
 * different schedules, and that of `whole` is at least their sum. */
struct roof_loop_times {
    bool waits; /* prompts wait for each other, because steps have no room for all their chunks */
    /* The time from when a prompt may begin to its first token: the steps of its own chunks, and if
     * prompts wait (closed_loop.c) the steps in which it waits. */
    struct roof_step_times ttft;
    struct roof_step_times step;  /* the mean step in which a sequence decodes */
    struct roof_step_times whole; /* ttft and all decode steps of a request */
};

/* Computes the loop; docs/formulas.md ("Requests") derives it. Without decode steps `step` is 0. */
enum roof_status roof_closed_loop(struct roof_loop_times *out, const struct roof_loop *loop,
                                  roof_step_function *step, void *context,
                                  struct roof_error *error);

#endif
