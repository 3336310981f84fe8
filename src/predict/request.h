// SPDX-License-Identifier: MIT
/* A request in a closed loop, worked out from passes. */
#ifndef ROOF_PREDICT_REQUEST_H
#define ROOF_PREDICT_REQUEST_H

#include "predict/closed_loop.h"
#include "predict/pass.h"

/* The answer for requests in flight. */
struct roof_request_times {
    struct roof_step_times ttft;
    struct roof_step_times tpot;  /* per token; 0 without a second token */
    struct roof_step_times step;  /* one decode step of all sequences, without prompts */
    struct roof_step_times whole; /* a request to its last token */
    bool waits;                   /* prompts wait for each other */
    bool native;
    uint64_t fallbacks;
    bool as_stored;
};

/* A step with whole numbers of sequences and chunks, by its microbatches, each of the size of the
 * largest. */
struct roof_step_key {
    int64_t parts;
    int64_t decoding;
    int64_t chunks;
};
struct roof_whole_step {
    struct roof_step_key key;
    struct roof_step_times times[ROOF_STACK_COUNT]; /* of each stack */
};
#define ROOF_STEPS_REMEMBERED 16

/* A request that is worked out: opened, then asked for its memory, then for its times in each of
 * some stacks, which share all steps. */
struct roof_request {
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    struct roof_pass_memo *memo;
    struct roof_stacks stacks;
    size_t stack;                /* number of the one whose times are asked for */
    struct roof_scenario asked;  /* resolved */
    struct roof_scenario decode; /* resolved: a step of all sequences at the mean context */
    struct roof_scenario prefill;
    int64_t lanes;    /* microbatches in which the requests are in flight */
    int64_t uncached; /* tokens of a prompt that are prefilled */
    int64_t cached;
    int64_t chunks; /* of a prompt */
    bool native;
    uint64_t fallbacks;
    bool as_stored;
    size_t count; /* steps that are remembered */
    struct roof_whole_step known[ROOF_STEPS_REMEMBERED];
};

/* Returns the stack of a scenario as the only one. */
struct roof_stacks roof_one_stack(const struct roof_scenario *scenario);

/* Opens a resolved request that is no static batch; memo is NULL where only the memory is asked
 * for. Nothing is to be closed. */
enum roof_status roof_request_open(struct roof_request *out, const struct roof_model *model,
                                   const struct roof_scenario *asked,
                                   const struct roof_hardware *hardware,
                                   struct roof_pass_memo *memo, const struct roof_stacks *stacks,
                                   struct roof_error *error);
enum roof_status roof_request_memory(struct roof_memory *out, struct roof_request *request,
                                     struct roof_error *error);
/* Works out the memory without the times, of which a device may lack what they take. */
enum roof_status roof_request_memory_alone(struct roof_memory *out,
                                           const struct roof_request *request,
                                           struct roof_error *error);
/* Works out the times in the stack of a number. */
enum roof_status roof_request_run(struct roof_request_times *out, struct roof_request *request,
                                  size_t stack, struct roof_error *error);

/* A resolved scenario of one phase without a request, in each of some stacks. */
struct roof_phase_times {
    struct roof_step_times step[ROOF_STACK_COUNT];
    struct roof_memory memory;
    bool native;
    bool as_stored;
};
enum roof_status roof_phase_run(struct roof_phase_times *out, const struct roof_model *model,
                                const struct roof_scenario *scenario,
                                const struct roof_hardware *hardware, struct roof_pass_memo *memo,
                                const struct roof_stacks *stacks, struct roof_error *error);

/* One step of an engine: sequences that decode, and chunks of prompts that are all alike. */
struct roof_step_shape {
    int64_t decoding;
    int64_t context;        /* of each sequence that decodes, the new token included */
    int64_t longest;        /* if `context` is their mean; 0: all are equal */
    int64_t prompts;        /* 0: none */
    int64_t tokens;         /* of each chunk */
    int64_t prompt_context; /* at the end of each chunk */
};

/* Works out the times of any step with the formats and the split of a request, in the stack that
 * was run last (the first one, before any was). */
enum roof_status roof_request_step(struct roof_step_times *out, struct roof_request *request,
                                   const struct roof_step_shape *shape, struct roof_error *error);

/* Works out the times of the pass that encodes the images of some prompts, in the stack that was
 * run last. */
enum roof_status roof_request_encoding(struct roof_step_times *out, struct roof_request *request,
                                       int64_t prompts, struct roof_error *error);

/* Works out the memory that any resolved scenario needs, and no times but those of drafts: a phase
 * needs no link between devices that is known. */
enum roof_status roof_memory_needed(struct roof_memory *out, const struct roof_model *model,
                                    const struct roof_scenario *asked,
                                    const struct roof_hardware *hardware, struct roof_error *error);

#endif
