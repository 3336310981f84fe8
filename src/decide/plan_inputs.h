// SPDX-License-Identifier: MIT
/**
 * A question for plans: what a person gives, with the defaults and the choices that turn it into a
 * problem of plan.h, and the answer with all that was searched and explained for it.
 *
 * Errors name the inputs by their keys (input.h).
 */
#ifndef ROOF_DECIDE_PLAN_INPUTS_H
#define ROOF_DECIDE_PLAN_INPUTS_H

#include "decide/plan.h"
#include "decide/plan_speedup.h"
#include "decide/recommend.h"

/** Devices and numbers of devices that a question may have, and values of a list of it. */
#define ROOF_PLAN_HARDWARE_MAX 64
#define ROOF_PLAN_DEVICES_MAX 4096
#define ROOF_PLAN_VALUES_MAX 4096

/** Start with roof_plan_inputs_init. All pointers are borrowed; the answer needs them too. */
struct roof_plan_inputs {
    const struct roof_model *model; /**< as its file has it: the search gives it other formats */
    const struct roof_hardware *const *hardware; /**< each device once, with its calibration */
    const struct roof_hardware *const *product;  /**< as in struct roof_plan_problem */
    size_t hardware_count;
    const double *price; /**< per hour, of each hardware (roof_plan_read_prices); NAN: unknown */
    const struct roof_engines *engines;
    const char *const *directories; /**< where layouts are looked for first; NULL: nowhere */
    struct roof_scenario base; /**< context, or prompt and generate, and what all plans share */
    bool stack_given;          /**< base names the stack; else each engine runs its own kernels */
    const int64_t *batch; /**< in any order; NULL: powers of two up to 2048, unless `largest` */
    size_t batches;
    bool largest;           /**< the largest that fits is asked for, however large it is */
    const int64_t *devices; /**< in any order; NULL: those of 1, 2, 4 and 8 that the given sizes of
                                 the split divide, or as many as these need */
    size_t device_counts;
    const char *layout;  /**< the layout of all plans, by its name or file; NULL: any */
    const char *formats; /**< names, "fp8,bf16" (roof_serving_called); NULL or "all": any */
    const char *engine;  /**< ids, "vllm,trtllm", or "all"; NULL: those with measured kernels, and
                              all on a device without calibration */
    const char *emit; /**< the engine whose words are wanted, the only one that is searched; it is
                           one of `engine`. NULL: none */
    enum roof_plan_objective objective;
    enum roof_plan_kind kind;
    bool one_copy;                     /**< base.dp is for aggregated plans alone */
    enum roof_ranking ranking;         /**< ROOF_RANKING_IDEAL: all plans are of bounds */
    enum roof_accuracy_class max_loss; /**< where it is given */
    bool loss_given; /**< else usual losses are allowed, and those of formats that are named */
    bool native_only;
    double limit[ROOF_PLAN_LIMIT_COUNT]; /**< NAN: none. The concurrency is one more batch, too */
    struct roof_halt halt;               /**< asked between predictions */
    int64_t threads;                     /**< each searches other devices */
    const char *side[2]; /**< two devices, which `hardware` then are, or two formats; NULL: none */
    bool explain;        /**< say why the best plan is the best; `side` is explained in any case */
};

void roof_plan_inputs_init(struct roof_plan_inputs *out);

/** Reads a limit: a time with its unit, or a number. */
enum roof_status roof_plan_read_limit(double *out, enum roof_plan_limit limit, const char *text,
                                      struct roof_error *error);
/** The input (enum roof_input_id) that has a limit. */
size_t roof_plan_limit_input(enum roof_plan_limit limit);

/** Reads prices "h100-sxm=2.5,..." into those of the hardware, which start as NAN: a device gets
 * one price. */
enum roof_status roof_plan_read_prices(double *price, const struct roof_hardware *const *hardware,
                                       size_t hardware_count, const char *list,
                                       struct roof_error *error);

/** The objective of plans among the choices of the input "objective", of which some are those of
 * operators: ROOF_USAGE for these. */
enum roof_status roof_plan_read_objective(enum roof_plan_objective *out, int64_t choice,
                                          struct roof_error *error);

/** Tells whether two sides that are to be explained are formats that engines run, rather than
 * devices. ROOF_USAGE when only one of them is. */
enum roof_status roof_plan_sides_are_formats(bool *out, const struct roof_engines *engines,
                                             const char *const side[2], struct roof_error *error);

/** A change of the question with which a plan satisfies it. */
struct roof_plan_change {
    char option[64];       /**< "devices 3": an option and its value */
    struct roof_plan plan; /**< the best one with it; its hardware and serving are the problem's */
};
#define ROOF_PLAN_CHANGES 2

/** How many requests fit where too few do, and what helps where nothing is left. */
struct roof_plan_shortage {
    int64_t wanted; /**< in flight: the concurrency, or the least batch of one copy; 0: that many
                         fit, or it is no lack of memory that they miss */
    bool each;      /**< it is a batch of each copy; else of all copies */
    int64_t served; /**< as many fit, in this plan; 0: not one does */
    struct roof_plan most;
    struct roof_plan_change change[ROOF_PLAN_CHANGES]; /**< a plan satisfies each of these */
    size_t changes;
};

/** The whole question, and all that was found for it. */
struct roof_plan_answer {
    struct roof_plan_problem problem;
    struct roof_plans plans;  /**< none, where nothing satisfies the constraints: it says why */
    struct roof_plans others; /**< those of `wide`, where only the engine of `emit` was searched for
                                 `plans`; else empty */
    unsigned wide;            /**< the engines that may run a plan for all that `emit` says */
    bool wide_measured;       /**< `wide` is a default, like `by_measured` of the problem */
    struct roof_plan_shortage shortage;
    struct roof_plan asked; /**< the best plan with as many requests as were asked for, where it
                                 serves more; batch 0: it does not, or none was asked for */
    bool formats_named;     /**< the question names formats, which may be larger than published */
    size_t engine;          /**< the number of that of `emit` */
    bool explained;         /**< `speedup` holds: it explains the sides, or the best plan */
    struct roof_plan_speedup speedup;
    /* The problem points to these, which are owned. */
    struct roof_model *model;
    struct roof_model **checkpoint; /**< as many as the problem has */
    struct roof_accuracy accuracy;
    bool *serving;
    int64_t *batch;
    int64_t *devices;
    struct roof_hardware *bare; /**< the devices without their calibrations, and pointers to them */
    const struct roof_hardware **bares;
};

/**
 * Searches and explains. ROOF_OK also where no plan is left; ROOF_UNSATISFIED when a side cannot be
 * explained. On success the caller owns *out: roof_plan_answer_free. It is large.
 */
enum roof_status roof_plan_answer_open(struct roof_plan_answer **out,
                                       const struct roof_plan_inputs *inputs,
                                       struct roof_error *error);
void roof_plan_answer_free(struct roof_plan_answer *answer);

/** The part of roof_plan_answer_open that makes the problem. What it leaves in *out on failure is
 * released with the answer. */
enum roof_status roof_plan_problem_make(struct roof_plan_answer *out,
                                        const struct roof_plan_inputs *inputs,
                                        struct roof_error *error);

/** Finds small changes of a question that no plan satisfies, with which a plan would: fewer bits in
 * the cache, less memory kept free, a relaxed limit, more devices, or more accuracy loss. */
enum roof_status roof_plan_find_changes(struct roof_plan_answer *answer, struct roof_error *error);

#endif
