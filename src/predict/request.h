// SPDX-License-Identifier: MIT
/* A request in a closed loop, worked out from passes. */
#ifndef ROOF_REQUEST_H
#define ROOF_REQUEST_H

#include "predict/closed_loop.h"
#include "predict/pass.h"

/* The answer for requests in flight. */
struct roof_request_times {
    struct roof_step_times ttft;
    struct roof_step_times tpot; /* per token; 0 without a second token */
    struct roof_step_times step; /* one decode step of all sequences, without prompts */
    bool native;
    bool as_stored;
};

/* Works out the times of a resolved request that is no static batch. */
enum roof_status roof_request_run(struct roof_request_times *out, const struct roof_model *model,
                                  const struct roof_scenario *asked,
                                  const struct roof_hardware *hardware, struct roof_pass_memo *memo,
                                  struct roof_error *error);

/* Works out the memory that a resolved request needs which is no static batch. */
enum roof_status roof_request_memory(struct roof_memory *out, const struct roof_model *model,
                                     const struct roof_scenario *asked,
                                     const struct roof_hardware *hardware,
                                     struct roof_pass_memo *memo, struct roof_error *error);

/* Works out the memory that any resolved scenario needs. */
enum roof_status roof_memory_needed(struct roof_memory *out, const struct roof_model *model,
                                    const struct roof_scenario *asked,
                                    const struct roof_hardware *hardware, struct roof_error *error);

/* Predicts the request of *out, which is resolved and no static batch, with the costs of a memo. */
enum roof_status roof_predict_loop(struct roof_model_prediction *out, struct roof_pass_memo *memo,
                                   struct roof_error *error);

#endif
