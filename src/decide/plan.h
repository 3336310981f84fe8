// SPDX-License-Identifier: MIT
/**
 * How to serve a model: formats, batch, split and device, searched under constraints. With a prompt
 * every plan is one prediction, which roofline predict gives to the last digit: that of requests in
 * a closed loop. Without one it is two, a decode step of the batch and the prefill of one prompt.
 */
#ifndef ROOF_DECIDE_PLAN_H
#define ROOF_DECIDE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/halt.h"
#include "base/text.h"
#include "decide/engine.h"
#include "predict/model_prediction.h"

enum roof_plan_objective {
    ROOF_PLAN_THROUGHPUT, /**< most tokens/s per device */
    ROOF_PLAN_LATENCY,    /**< least time per token */
    ROOF_PLAN_COST,       /**< least cost per million tokens */
    ROOF_PLAN_ENERGY      /**< least energy per token, at TDP */
};

/** A limit that a plan may miss; the number of its place in `limit` of a problem. */
enum roof_plan_limit {
    ROOF_PLAN_LIMIT_TTFT,         /**< s, at most */
    ROOF_PLAN_LIMIT_TPOT,         /**< s, at most */
    ROOF_PLAN_LIMIT_TOKENS_PER_S, /**< at least */
    ROOF_PLAN_LIMIT_CONCURRENCY,  /**< sequences in flight in all copies, at least */
    ROOF_PLAN_LIMIT_COST,         /**< per million tokens, at most */
    ROOF_PLAN_LIMIT_POWER,        /**< W of all devices, at most */
    ROOF_PLAN_LIMIT_COUNT
};
const char *roof_plan_limit_name(enum roof_plan_limit limit);

/** Reasons why candidates are no plans. */
enum roof_plan_rejection {
    ROOF_REJECTED_ENGINE,  /**< no engine runs the formats on the device, or the split */
    ROOF_REJECTED_WIDER,   /**< not smaller than the published checkpoint, which runs there */
    ROOF_REJECTED_LOSS,    /**< typical loss above what is allowed */
    ROOF_REJECTED_DENSE,   /**< pruned weights are not stored in the format */
    ROOF_REJECTED_NATIVE,  /**< a product runs at a wider format */
    ROOF_REJECTED_SPLIT,   /**< the split does not divide the model, or the device lacks a figure */
    ROOF_REJECTED_MEMORY,  /**< does not fit, or the capacity is unknown */
    ROOF_REJECTED_UNKNOWN, /**< an operator has no time of the plan's basis */
    ROOF_REJECTED_LIMIT,   /**< misses one or more limits */
    ROOF_REJECTED_COUNT
};
const char *roof_plan_rejection_name(enum roof_plan_rejection rejection);

/** The times that a plan is judged and ranked by. */
enum roof_plan_basis {
    ROOF_PLAN_EXPECTED, /**< expected times of real kernels */
    ROOF_PLAN_BOUND     /**< the lower bounds, of a device without calibration */
};

/** The batches that are candidates. */
enum roof_plan_batches {
    ROOF_BATCHES_GIVEN,  /**< those of the problem */
    ROOF_BATCHES_WITHIN, /**< also the largest that fits, where it is below the last of those */
    ROOF_BATCHES_BEYOND, /**< also the largest that fits */
    ROOF_BATCHES_LARGEST /**< only that; the problem has the batch 1 alone */
};

/** The kinds of plans. */
enum roof_plan_kind {
    ROOF_PLAN_ANY,
    ROOF_PLAN_AGGREGATED,   /**< every copy prefills and decodes */
    ROOF_PLAN_DISAGGREGATED /**< some copies prefill, the others decode */
};

/** The copies that prefill, and the way of a prompt to those that decode. */
struct roof_plan_prefill {
    int64_t copies; /**< 0: none, the plan is aggregated */
    struct roof_split split;
    int64_t batch;         /**< prompts at a time in each copy */
    double prefill_s;      /**< the time of those */
    double bound_s;        /**< its bound */
    double kv_bytes;       /**< of the cache of one prompt, over the link */
    double link;           /**< byte/s of each device and direction */
    bool network;          /**< the link is that between nodes; else inside one */
    double transfer_s;     /**< the time of one prompt over the link */
    double requests;       /**< prompts/s that all prefill copies can take */
    double served;         /**< requests/s that all decode copies can take */
    double bound_requests; /**< these two at the bounds */
    double bound_served;
};

/** A way to serve a model. Its times and rates are those of its basis, with the bounds beside them;
 * the bands and the near fractions are those of expected times, and NAN without them. */
struct roof_plan {
    enum roof_plan_basis basis;
    size_t hardware;  /**< number in the problem */
    size_t serving;   /**< number in the engines */
    unsigned engines; /**< those that run it with the kernels of the stack, as bits by number */
    enum roof_stack stack; /**< stack of the kernels of the expected times; BEST: the fastest of all
                            */
    struct roof_split split; /**< of each copy; of those that decode in a disaggregated plan, as are
                                  dp, batch, step_s and tpot_s */
    struct roof_plan_prefill prefill;
    int64_t dp;      /**< copies of the model that share nothing */
    int64_t devices; /**< of all copies */
    int64_t batch;   /**< sequences in flight in each copy */
    int64_t offload; /**< what is in the memory of the host; 0: nothing */
    double ttft_s;   /**< time to the first token of one prompt, while others decode */
    double step_s;   /**< a decode step of the batch */
    double tpot_s;   /**< time between two tokens of a user: steps, some with the prompts of others;
                          NAN: there is no second token */
    bool waits;      /**< prompts come faster than steps have room for, and wait for each other */
    double e2e_s;    /**< a request from its prompt to its last token; NAN without a prompt */
    double bound_ttft_s;
    double bound_step_s;
    double bound_tpot_s;
    double bound_e2e_s;
    double ttft_low_s; /**< the ends of the bands, if all kernels have the same error */
    double ttft_high_s;
    double step_low_s;
    double step_high_s;
    double tokens_per_s; /**< rate of all sequences of all copies, their prefills in between */
    double tokens_per_s_per_user;
    double tokens_per_s_per_device;
    double bound_tokens_per_s; /**< the rates at the bounds: no kernels reach more */
    double bound_tokens_per_s_per_user;
    double bound_tokens_per_s_per_device;
    double memory_bytes; /**< bytes on the device that needs the most */
    double near;         /**< fraction of step_s that is estimated from other devices, stacks or
                              formats; 1 if no kernels of the engines were measured */
    double ttft_near;    /**< that fraction of ttft_s */
    double cost;         /**< per million tokens; NAN without a price */
    double joule;        /**< per token, every device at its TDP or power cap; NAN without one */
    double watt;         /**< that of all devices */
    enum roof_accuracy_class loss;
    bool pareto; /**< no plan of its basis has more tokens/s per user and also more tokens/s per
                      device (or, if all plans have a price, a lower cost) */
    double value[ROOF_PLAN_LIMIT_COUNT]; /**< the values that the limits are compared with */
};

struct roof_plan_problem {
    const struct roof_model *model;
    const struct roof_model *published;   /**< the model in the formats of its file, which are then
                                               those of the layout "checkpoint"; NULL: its config says
                                               them */
    struct roof_model *const *checkpoint; /**< the model as published in other formats, which are
                                               forgotten like those of the model; borrowed */
    size_t checkpoints;
    const struct roof_hardware *const *hardware; /**< with their calibrations: the plans of a device
                                                     without one are of its bounds */
    /** The shipping product of each hardware whose figures are those of the source documents; NULL:
     * none. May be NULL. */
    const struct roof_hardware *const *product;
    size_t hardware_count;
    const double *price; /**< per hour and device, of each hardware; NAN: unknown. May be NULL */
    const struct roof_engines *engines;
    const char *const *directories; /**< folders that are searched for layouts first; NULL: none */
    const struct roof_accuracy *accuracy;
    /** The scenario that all plans share: context, or prompt and generate; reserve, stack and so
     * on. A format of the KV cache that it gives is the only one, and so is each size of the split
     * and the number of copies that it gives: the search chooses those that are 0. */
    struct roof_scenario base;
    const enum roof_precision *formats; /**< formats of weights that may be used; NULL: all */
    size_t format_count;
    bool own_stacks;      /**< plans are of the kernels of an engine; else base names the stack */
    unsigned by;          /**< engines that may run a plan, bits by number; 0: all */
    bool by_measured;     /**< `by` is a default: a device without calibration has all engines, and
                               formats that are named have those without measured kernels if need
                               be */
    const bool *serving;  /**< marks the combinations of formats that may be used; NULL: all */
    const int64_t *batch; /**< ascending */
    size_t batches;
    enum roof_plan_batches largest; /**< whether the largest that fits is one, for each split */
    const int64_t *devices; /**< numbers of devices: a plan uses all of one number, with copies of
                                 the model if need be */
    size_t device_counts;
    enum roof_plan_objective objective;
    enum roof_plan_kind kind; /**< disaggregated plans are of requests only */
    bool one_copy; /**< base.dp is for aggregated plans alone; else there are no others with it */
    double limit[ROOF_PLAN_LIMIT_COUNT]; /**< NAN: none */
    enum roof_accuracy_class max_loss;
    enum roof_accuracy_class beyond; /**< up to this loss, if it is more, `beyond` is looked for */
    struct roof_halt halt;           /**< asked between predictions */
    int64_t threads;  /**< each searches other devices; the plans do not depend on them. 0: one */
    bool native_only; /**< each product runs on a unit for the format of its weights or KV cache: no
                           format is stored in fewer bits than it is multiplied in */
};

struct roof_plans {
    struct roof_plan *plan; /**< those with expected times first, then best first; owned */
    size_t count;
    bool priced; /**< all plans have a cost, which the Pareto front then goes by */
    size_t rejected[ROOF_REJECTED_COUNT];
    /** Candidates that miss this limit alone, and the one that misses it least: one with expected
     * times where there is one. */
    size_t missed[ROOF_PLAN_LIMIT_COUNT];
    struct roof_plan nearest[ROOF_PLAN_LIMIT_COUNT];
    /** The candidate whose largest excess over a limit is least, and that excess; 1: no miss. One
     * with expected times is preferred, too. */
    struct roof_plan closest;
    double closest_excess;
    /** The best plan with more accuracy loss than is allowed, where it is better than all plans;
     * else its batch is 0. */
    struct roof_plan beyond;
    /** The model for each combination of formats, in its layout if it has one; NULL: the
     * combination is not for this model. The copies are owned. */
    const struct roof_model **model;
    struct roof_model **copy;
    size_t copies;
};

/**
 * Searches all combinations. ROOF_UNSATISFIED when none is left (*out then says why). On both the
 * caller owns *out: roof_plans_free.
 */
enum roof_status roof_plan_search(struct roof_plans *out, const struct roof_plan_problem *problem,
                                  struct roof_error *error);
void roof_plans_free(struct roof_plans *plans);

/** Returns what ranks a plan: lower is better. Rates are below 0. */
double roof_plan_score(const struct roof_plan *plan, enum roof_plan_objective objective);

/** A published checkpoint is preferred to one that has to be made if it is worse by this factor at
 * most. */
#define ROOF_PLAN_PUBLISHED 1.05
/** Returns the score by which plans of one basis are ranked: published formats are preferred. */
double roof_plan_ranked_score(const struct roof_plan *plan,
                              const struct roof_plan_problem *problem);
/** Returns the basis of the plans that rank first; there is a plan. */
enum roof_plan_basis roof_plans_first_basis(const struct roof_plans *plans);

/** Ranks plans, those with expected times before those of bounds, and marks those that no plan of
 * their basis beats in both rates. */
enum roof_status roof_plans_rank(struct roof_plans *out, const struct roof_plan_problem *problem,
                                 struct roof_error *error);

/** Keeps the best of the plans, not ranked yet, and of those beyond the allowed loss (at least
 * one), in out->beyond, if it is one of the latter and has the basis of the former. */
enum roof_status roof_plans_keep_beyond(struct roof_plans *out, const struct roof_plans *beyond,
                                        const struct roof_plan_problem *problem,
                                        struct roof_error *error);

/** A plan with its names, for tables. The plan stands first, so that a row is one. */
struct roof_plan_row {
    struct roof_plan plan;
    int rank;
    const char *model; /**< the question's, or its checkpoint that is in these formats */
    const char *hardware;
    const char *hardware_basis;
    const char *formats; /**< the name that engines give the formats, "fp8" */
    const char *layout;  /**< NULL: none */
    enum roof_precision weights;
    enum roof_precision activations;
    enum roof_precision kv;
    char copies[96]; /**< "2x4", or "3x2+1x8": copies and the devices of each, prefill first */
    char offload[ROOF_OFFLOAD_NAME_SIZE]; /**< "experts:25"; "": nothing */
    char engines[128];                    /**< "trtllm vllm" */
    int64_t context;                      /**< tokens of a sequence in the end */
};
void roof_plan_name(struct roof_plan_row *out, const struct roof_plan *plan, int rank,
                    const struct roof_plan_problem *problem);

/** Returns the typical accuracy loss of a combination of formats: the largest of its members. A
 * model that is published in a format loses nothing by it. */
enum roof_accuracy_class roof_plan_loss(const struct roof_plan_problem *q, size_t serving);

/** Tells whether the model is that of a GGUF file, which is run as it is. */
static inline bool roof_plan_of_gguf(const struct roof_plan_problem *q)
{
    return q->published != NULL && q->published->gguf;
}

/** Returns the largest loss of the formats that the question gives to classes of weights. */
enum roof_accuracy_class roof_plan_class_loss(const struct roof_plan_problem *q);

/** Returns the engines of the problem that run a combination on one of its devices, as bits. */
unsigned roof_plan_engines(const struct roof_plan_problem *problem, size_t serving,
                           size_t hardware);

/** Returns the model that a combination of formats is for: the question's, or one of its
 * checkpoints; NULL: none of them. */
const struct roof_model *roof_plan_model(const struct roof_plan_problem *problem, size_t serving);

/** Returns the stack of a combination on a device: the preferred one where an engine with its
 * kernels runs it, else that of the first engine that does. */
enum roof_stack roof_plan_stack(const struct roof_plan_problem *problem, size_t serving,
                                size_t hardware, enum roof_stack preferred);

/** Writes "4 x h100-sxm (tp 4), fp8, KV cache bf16, batch 64", or one of its parts: the devices
 * with the split, and the formats with the batch. */
void roof_plan_describe(struct roof_text *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem);
void roof_plan_describe_place(struct roof_text *out, const struct roof_plan *plan,
                              const struct roof_plan_problem *problem);
void roof_plan_describe_load(struct roof_text *out, const struct roof_plan *plan,
                             const struct roof_plan_problem *problem);

/** Makes the problems of the two kinds of copies of a disaggregated plan: requests with one token,
 * and decode steps at the mean context of requests. */
void roof_plan_halves(struct roof_plan_problem *prefill, struct roof_plan_problem *decode,
                      const struct roof_plan_problem *problem);

/** Makes the scenario of a plan: a request, or a decode step. It is for the model that roof_plans
 * has for the formats of the plan. */
void roof_plan_scenario(struct roof_scenario *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem);

/** Makes scenarios of the two phases of a plan: the prefill of one prompt, and its decode step. */
void roof_plan_scenarios(struct roof_scenario *prefill, struct roof_scenario *decode,
                         const struct roof_plan *plan, const struct roof_plan_problem *problem);

#endif
