// SPDX-License-Identifier: MIT
/** A question for plans: the inputs of a person, the defaults and choices that turn them into a
 * problem of plan.h, and the answer with all search results and explanations.
 *
 * Errors name the inputs by their keys (input.h). */
#ifndef ROOF_DECIDE_PLAN_INPUTS_H
#define ROOF_DECIDE_PLAN_INPUTS_H

#include "decide/checkpoint.h"
#include "decide/plan.h"
#include "decide/plan_speedup.h"
#include "decide/recommend.h"

/** The most devices and numbers of devices in a question, and the most values in its lists. */
#define ROOF_PLAN_HARDWARE_MAX 64
#define ROOF_PLAN_DEVICES_MAX 4096
#define ROOF_PLAN_VALUES_MAX 4096

/** The inputs. Start with roof_plan_inputs_init. All pointers are borrowed; the answer needs them
 * too. */
struct roof_plan_inputs {
    const struct roof_model *model;           /**< as in its file: the search sets other formats */
    const struct roof_checkpoint *checkpoint; /**< of the model, which is then searched, too; NULL,
                                                   or without a name: none */
    const struct roof_hardware *const *hardware; /**< each device once, with its calibration */
    const struct roof_hardware *const *product;  /**< as in struct roof_plan_problem */
    size_t hardware_count;
    const double *price; /**< per hour, of each hardware (roof_plan_read_prices); NAN: unknown */
    const struct roof_engines *engines;
    const char *const *directories; /**< folders to search first for layouts; NULL: none */
    struct roof_scenario base; /**< context, or prompt and generate, and all that plans share */
    bool stack_given;     /**< base names the stack; otherwise each engine runs its own kernels */
    const int64_t *batch; /**< in any order; NULL: powers of two up to 2048, unless `largest` */
    size_t batches;
    bool largest;           /**< the largest batch that fits is requested, without a limit */
    const int64_t *devices; /**< in any order; NULL: those of 1, 2, 4 and 8 that are multiples of
                               the given split, or as many as it needs */
    size_t device_counts;
    const char *layout;  /**< the layout of all plans, by its name or file; NULL: any */
    const char *formats; /**< names, "fp8,bf16" (roof_serving_called); NULL or "all": any */
    const char *engine;  /**< ids, "vllm,trtllm", or "all"; NULL: those with measured kernels, and
                              all on a device without calibration */
    const char *emit; /**< the engine whose arguments are requested, the only one in the search; it
                         is one of `engine`. NULL: none */
    enum roof_plan_objective objective;
    enum roof_plan_kind kind;
    bool one_copy;                     /**< as in struct roof_plan_problem */
    enum roof_ranking ranking;         /**< ROOF_RANKING_IDEAL: all plans are at bounds */
    enum roof_accuracy_class max_loss; /**< valid if loss_given */
    bool loss_given; /**< otherwise the default losses are allowed, and those of named formats */
    bool native_only;
    double limit[ROOF_PLAN_LIMIT_COUNT];   /**< NAN: none. The concurrency is also a batch */
    double percent[ROOF_PLAN_LIMIT_COUNT]; /**< as in struct roof_plan_problem */
    struct roof_halt halt;                 /**< checked between predictions */
    int64_t threads; /**< number of threads, each of which searches other devices */
    const char
        *side[2]; /**< two devices, which `hardware` then contains, or two formats; NULL: none */
    bool explain; /**< explain why the best plan is the best; `side` is always explained */
};

void roof_plan_inputs_init(struct roof_plan_inputs *out);

/** Reads a limit: a time with its unit, or a number. */
enum roof_status roof_plan_read_limit(double *out, enum roof_plan_limit limit, const char *text,
                                      struct roof_error *error);
/** Returns the input (enum roof_input_id) for a limit. */
size_t roof_plan_limit_input(enum roof_plan_limit limit);

/** Reads prices "h100-sxm=2.5,..." into those of the hardware, which start as NAN. A device gets
 * one price. */
enum roof_status roof_plan_read_prices(double *price, const struct roof_hardware *const *hardware,
                                       size_t hardware_count, const char *list,
                                       struct roof_error *error);

/** Reads the objective of plans. The input "objective" also has those of operators: ROOF_USAGE for
 * these. */
enum roof_status roof_plan_read_objective(enum roof_plan_objective *out, int64_t choice,
                                          struct roof_error *error);

/** Tells whether the two sides to explain are formats of engines instead of devices. ROOF_USAGE if
 * only one is. */
enum roof_status roof_plan_sides_are_formats(bool *out, const struct roof_engines *engines,
                                             const char *const side[2], struct roof_error *error);

/** A change of the question for which there is a plan. */
struct roof_plan_change {
    char option[128];           /**< "devices 3": an option and its value */
    enum roof_plan_limit limit; /**< the limit that it relaxes; ROOF_PLAN_LIMIT_COUNT: none */
    struct roof_plan
        plan; /**< the best plan with it; its hardware and serving are indices in the problem */
};
#define ROOF_PLAN_CHANGES 2

/** The number of requests that fit if these are too few, and helpful changes if no plan is left. */
struct roof_plan_shortage {
    int64_t wanted; /**< requested number in flight: the concurrency, or the least batch of a copy;
                       0: that many fit, or memory is not the reason */
    bool each;      /**< it is the batch of each copy; otherwise of all copies together */
    int64_t served; /**< the number that fits, in this plan; 0: none does */
    struct roof_plan most;
    struct roof_plan_change change[ROOF_PLAN_CHANGES]; /**< there is a plan for each of these */
    size_t changes;
    double host_gb; /**< the least usual memory of a host with which there is a plan on one device;
                       0: none, or not searched */
    size_t host_engine; /**< the engine that then offloads, if the question has no host */
    double host_tpot_s; /**< the least time between two tokens of a user there, at the bound */
};

/** A question with its whole answer. */
struct roof_plan_answer {
    struct roof_plan_problem problem;
    struct roof_plans plans; /**< empty if nothing satisfies the constraints; it has the reasons */
    struct roof_plans
        others;    /**< plans of `wide` if `plans` only has the engine of `emit`; otherwise empty */
    unsigned wide; /**< the engines that may run a plan apart from `emit` */
    bool wide_measured; /**< `wide` is a default, like `by_measured` of the problem */
    struct roof_plan_shortage shortage;
    struct roof_plan asked; /**< the best plan at the requested number of requests, if it serves
                               more; batch 0: it does not, or there is no such request */
    bool formats_named; /**< the question names formats, which may be larger than the published ones
                         */
    size_t engine;      /**< index of the engine of `emit` */
    bool explained;     /**< `speedup` is set: it explains the sides, or the best plan */
    struct roof_plan_speedup speedup;
    /* The problem points to the following objects, which are owned. */
    struct roof_model *model;
    struct roof_model **checkpoint; /**< their number is in the problem */
    struct roof_accuracy accuracy;
    bool *serving;
    int64_t *batch;
    int64_t *devices;
    struct roof_hardware *bare; /**< the devices without their calibrations, and pointers to them */
    const struct roof_hardware **bares;
};

/** Searches and explains. ROOF_OK even if no plan is left; ROOF_UNSATISFIED if a side cannot be
 * explained. On success the caller owns *out: roof_plan_answer_free. It is large. */
enum roof_status roof_plan_answer_open(struct roof_plan_answer **out,
                                       const struct roof_plan_inputs *inputs,
                                       struct roof_error *error);
void roof_plan_answer_free(struct roof_plan_answer *answer);

/** Makes the problem, as the first part of roof_plan_answer_open. On failure the contents of *out
 * are released with the answer. */
enum roof_status roof_plan_problem_make(struct roof_plan_answer *out,
                                        const struct roof_plan_inputs *inputs,
                                        struct roof_error *error);

/** Finds small changes of a question without a plan, with which there would be one: fewer bits in
 * the cache, a smaller memory reserve, a relaxed limit, more devices, or more accuracy loss. */
enum roof_status roof_plan_find_changes(struct roof_plan_answer *answer, struct roof_error *error);

/** If no plan fits, finds the host memory with which there is one on a single device. The question
 * may have no host, or a host with less memory. */
enum roof_status roof_plan_find_host(struct roof_plan_answer *answer, struct roof_error *error);

#endif
