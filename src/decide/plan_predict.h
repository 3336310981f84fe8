// SPDX-License-Identifier: MIT
/* The times of one plan: a batch over a split, with the kernels of each stack that runs it. */
#ifndef ROOF_DECIDE_PLAN_PREDICT_H
#define ROOF_DECIDE_PLAN_PREDICT_H

#include "decide/plan.h"
#include "predict/request.h"

/* Predictions of a search share these. */
struct roof_plan_predictor {
    const struct roof_plan_problem *problem;
    const struct roof_model *const *model; /* for each combination of formats */
    struct roof_hardware unmeasured;       /* the device that is searched, without expected times */
    struct roof_pass_memo memo;            /* borrowed; plans share most of their operators */
    struct roof_stacks prefilled; /* the stacks of the prefill of a split without prompts */
    struct roof_phase_times prefill;
    struct roof_error *error;
};

/* One plan in each stack: they differ in what is expected, and in the engines that run it. */
struct roof_plan_options {
    size_t count;
    struct roof_plan plan[ROOF_STACK_COUNT];
    double room; /* bytes that the plan leaves free; NAN: not known */
    /* Tells what rules it and all larger batches out; ROOF_REJECTED_COUNT when nothing does. Only
     * then are there plans. */
    enum roof_plan_rejection against;
};

/* Predicts a plan, whose split, batch and engines are given. Without prompts all batches of a split
 * have the prefill of the first one, which is worked out with it. */
enum roof_status roof_plan_predict(struct roof_plan_options *out, struct roof_plan_predictor *p,
                                   const struct roof_plan *plan, bool first);

/* Finds the memory of the device that needs most, without the times of the plan. */
enum roof_status roof_plan_memory(struct roof_memory *out, struct roof_plan_predictor *p,
                                  const struct roof_plan *plan);

/* Finds the room that a plan leaves, without its times. */
enum roof_status roof_plan_room(double *out, struct roof_plan_predictor *p,
                                const struct roof_plan *plan);

#endif
