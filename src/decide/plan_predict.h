// SPDX-License-Identifier: MIT
/* The times of one plan: a batch over a split, with the kernels of each stack that runs it. */
#ifndef ROOF_DECIDE_PLAN_PREDICT_H
#define ROOF_DECIDE_PLAN_PREDICT_H

#include "decide/plan.h"
#include "predict/request.h"

/* The state that the predictions of a search share. */
struct roof_plan_predictor {
    const struct roof_plan_problem *problem;
    const struct roof_model *const *model; /* one per combination of formats */
    struct roof_hardware unmeasured;       /* the current device, without expected times */
    struct roof_pass_memo memo;            /* borrowed; plans have most operators in common */
    struct roof_stacks prefilled;          /* the prefill of a split without prompts, by stack */
    struct roof_phase_times prefill;
    struct roof_error *error;
};

/* A plan in each stack: they differ in the expected times, and in the engines that run them. */
struct roof_plan_options {
    size_t count;
    struct roof_plan plan[ROOF_STACK_COUNT];
    double room; /* bytes that the plan leaves free; NAN: unknown */
    /* The reason that rules out this batch and all larger ones; ROOF_REJECTED_COUNT if there is
     * none. Only then are there plans. */
    enum roof_plan_rejection against;
};

/* Predicts a plan with given split, batch and engines. Without prompts all batches of a split share
 * the prefill of the first one, which is computed with it. */
enum roof_status roof_plan_predict(struct roof_plan_options *out, struct roof_plan_predictor *p,
                                   const struct roof_plan *plan, bool first);

/* Finds the memory on the device that needs most, without the times of the plan. */
enum roof_status roof_plan_memory(struct roof_memory *out, struct roof_plan_predictor *p,
                                  const struct roof_plan *plan);

/* Finds the memory that a plan leaves free, without its times. */
enum roof_status roof_plan_room(double *out, struct roof_plan_predictor *p,
                                const struct roof_plan *plan);

#endif
