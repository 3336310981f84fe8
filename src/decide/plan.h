// SPDX-License-Identifier: MIT
/** How to serve a model: formats, batch, split and device, searched under constraints. With a
 * prompt every plan is one prediction, which equals that of roofline predict to the last digit:
 * requests in a closed loop. Without a prompt it is two: a decode step of the batch and the
 * prefill of one prompt. */
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

/** A limit that a plan may miss; its number is the index in `limit` of a problem. */
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

/** Reasons for rejecting candidates. */
enum roof_plan_rejection {
    ROOF_REJECTED_FORMATS, /**< no engine runs the formats on the device */
    ROOF_REJECTED_ENGINE,  /**< no engine that runs them has the split or the batch */
    ROOF_REJECTED_WIDER, /**< not smaller than the published checkpoint, which runs on the device */
    ROOF_REJECTED_LOSS,  /**< typical loss above the allowed one */
    ROOF_REJECTED_DENSE, /**< pruned weights are not stored in the format */
    ROOF_REJECTED_NATIVE,  /**< a product runs at a wider format */
    ROOF_REJECTED_SPLIT,   /**< the split does not divide the model */
    ROOF_REJECTED_FIGURE,  /**< a figure of the device is unknown: a link, or an energy */
    ROOF_REJECTED_COPIES,  /**< no copies for prefill and for decode fill the devices */
    ROOF_REJECTED_MEMORY,  /**< does not fit, or the capacity is unknown */
    ROOF_REJECTED_UNKNOWN, /**< an operator has no time of the plan's basis */
    ROOF_REJECTED_LIMIT,   /**< misses one or more limits */
    ROOF_REJECTED_COUNT
};
const char *roof_plan_rejection_name(enum roof_plan_rejection rejection);

/** The times by which a plan is judged and ranked. */
enum roof_plan_basis {
    ROOF_PLAN_EXPECTED, /**< expected times of real kernels */
    ROOF_PLAN_BOUND     /**< lower bounds, on a device without calibration */
};

/** The candidate batches. */
enum roof_plan_batches {
    ROOF_BATCHES_GIVEN,  /**< those of the problem */
    ROOF_BATCHES_WITHIN, /**< also the largest that fits, if it is below the last of those */
    ROOF_BATCHES_BEYOND, /**< also the largest that fits */
    ROOF_BATCHES_LARGEST /**< only the largest; the problem has just the batch 1 */
};

/** The kinds of plans. */
enum roof_plan_kind {
    ROOF_PLAN_ANY,
    ROOF_PLAN_AGGREGATED,   /**< every copy prefills and decodes */
    ROOF_PLAN_DISAGGREGATED /**< some copies prefill, the others decode */
};

/** The prefill copies, and the transfer of a prompt to the decode copies. */
struct roof_plan_prefill {
    int64_t copies; /**< 0: none, the plan is aggregated */
    struct roof_split split;
    int64_t batch;         /**< prompts at a time in each copy */
    double prefill_s;      /**< time of such a prefill */
    double bound_s;        /**< its bound */
    double kv_bytes;       /**< cache of one prompt, sent over the link */
    double memory_bytes;   /**< on the device of a prefill copy that needs the most */
    double decode_bytes;   /**< on that of a decode copy */
    double link;           /**< byte/s of each device and direction */
    bool network;          /**< the link connects nodes; otherwise devices of a node */
    bool bridge;           /**< it is a bridge between cards */
    double transfer_s;     /**< the time of one prompt over the link */
    double again_s;        /**< the step that computes the first token again; 0: there is none */
    double requests;       /**< prompts/s that all prefill copies can take */
    double served;         /**< requests/s that all decode copies can take */
    double bound_requests; /**< both at the bounds */
    double bound_served;
};

/** A plan for serving a model. Its times and rates are those of its basis, with the bounds beside
 * them; bands and near fractions belong to expected times, and are NAN without them. */
struct roof_plan {
    enum roof_plan_basis basis;
    size_t hardware;  /**< index in the problem */
    size_t serving;   /**< index in the engines */
    unsigned engines; /**< the engines that run it with the kernels of the stack, a bit per index */
    enum roof_stack stack; /**< stack of the kernels of the expected times; BEST: the fastest of all
                            */
    struct roof_split split; /**< of each copy; in a disaggregated plan of the decode copies, like
                                dp, batch, step_s and tpot_s */
    struct roof_plan_prefill prefill;
    int64_t dp;      /**< independent copies of the model */
    int64_t devices; /**< of all copies */
    int64_t batch;   /**< sequences in flight in each copy */
    int64_t fills;   /**< sequences in flight in each copy if the batch is only the limit of a
                        scheduler, in a script; 0: the batch */
    int64_t offload; /**< what is in host memory; 0: nothing */
    double ttft_s;   /**< time to the first token of one prompt, while others decode */
    double step_s;   /**< a decode step of the batch */
    double tpot_s;   /**< time between two tokens of a user: steps, some of which include prompts of
                        others; NAN: there is no second token */
    bool waits;      /**< prompts arrive faster than steps can take them, so that they queue */
    double e2e_s;    /**< a request from its prompt to its last token; NAN without a prompt */
    double bound_ttft_s;
    double bound_step_s;
    double bound_tpot_s;
    double bound_e2e_s;
    double
        ttft_low_s; /**< the ends of the prediction intervals, if all kernels have the same error */
    double ttft_high_s;
    double step_low_s;
    double step_high_s;
    double tokens_per_s; /**< throughput of all copies, including prefills */
    double tokens_per_s_per_user;
    double tokens_per_s_per_device;
    double bound_tokens_per_s; /**< the rates at the bounds, which no kernels exceed */
    double bound_tokens_per_s_per_user;
    double bound_tokens_per_s_per_device;
    double memory_bytes; /**< bytes on the device that needs the most */
    double near; /**< fraction of step_s that is estimated from other devices, stacks or formats; 1
                    if no kernels of the engines were measured */
    double ttft_near; /**< the same fraction of ttft_s */
    double cost;      /**< per million tokens; NAN without a price */
    double joule;     /**< per token, with all devices at TDP or power cap; NAN without either */
    double watt;      /**< of all devices */
    enum roof_accuracy_class loss;
    bool pareto; /**< no plan of its basis has both more tokens/s per user and more tokens/s per
                    device (or, if all plans have a price, a lower cost) */
    double value[ROOF_PLAN_LIMIT_COUNT]; /**< the values that the limits apply to */
};

struct roof_plan_problem {
    const struct roof_model *model;
    const struct roof_model *published; /**< the model in the formats of its file, which make up the
                                           layout "checkpoint"; NULL: its config defines them */
    enum roof_precision stored; /**< the format of most weights that the config of a quantised model
                                   defines; AUTO: unknown */
    struct roof_model *const *checkpoint; /**< the model as published in other formats, which are
                                             removed like those of the model; borrowed */
    size_t checkpoints;
    const struct roof_hardware *const
        *hardware; /**< with calibrations; a device without one has plans at its bounds */
    /** The devices of `hardware`, with the calibrations that it lacks if plans with a part on the
     * host are ranked by bounds. The search needs none of them; NULL: the problem has no report. */
    const struct roof_hardware *const *given;
    /** The shipping product of each hardware that has the figures of the source documents; NULL:
     * none. May be NULL. */
    const struct roof_hardware *const *product;
    size_t hardware_count;
    const double *price; /**< per hour and device, of each hardware; NAN: unknown. May be NULL */
    const struct roof_engines *engines;
    const char *const *directories; /**< folders to search first for layouts; NULL: none */
    const struct roof_accuracy *accuracy;
    /** The scenario that all plans share: context, or prompt and generate; reserve, stack and so
     * on. A format of the KV cache in it is the only candidate, and so are the sizes of the split
     * and the number of copies; the search chooses those that are 0. */
    struct roof_scenario base;
    const enum roof_precision *formats; /**< allowed formats of weights; NULL: all */
    size_t format_count;
    bool own_stacks; /**< each plan uses the kernels of an engine; otherwise base names the stack */
    unsigned unable; /**< engines that do not run the model, a bit per index */
    unsigned by;     /**< allowed engines, a bit per index; 0: all */
    bool by_measured; /**< `by` is a default: a device without calibration may use all engines, and
                         named formats may use those without measured kernels if no other runs them
                       */
    const bool *serving;  /**< marks the allowed combinations of formats; NULL: all */
    const int64_t *batch; /**< ascending */
    size_t batches;
    enum roof_plan_batches
        largest; /**< whether the largest batch that fits is a candidate, for each split */
    const int64_t *devices; /**< candidate numbers of devices, ascending, at least one: a plan uses
                               all devices of one number, with several copies of the model if
                               needed */
    size_t device_counts;
    bool one_cpu; /**< the numbers are a default, so that plans on a CPU use the first only: a CPU
                     is one machine */
    enum roof_plan_objective objective;
    enum roof_plan_kind kind; /**< disaggregated plans are only for requests */
    bool one_copy; /**< base.dp only applies to aggregated plans; otherwise a given base.dp excludes
                      disaggregated ones */
    double limit[ROOF_PLAN_LIMIT_COUNT];   /**< NAN: none */
    double percent[ROOF_PLAN_LIMIT_COUNT]; /**< the percentile of requests that a limit is for in
                                              the question, 99; 0: the mean. Only reports use it */
    enum roof_accuracy_class max_loss;
    enum roof_accuracy_class
        beyond; /**< `beyond` is searched up to this loss if it exceeds the allowed one */
    struct roof_halt halt; /**< checked between predictions */
    int64_t threads;  /**< number of threads, each of which searches other devices; the plans do not
                         depend on it. 0: one */
    bool native_only; /**< each product runs on a unit for the format of its weights or KV cache: no
                         format is stored in fewer bits than it is multiplied in */
};

struct roof_plans {
    struct roof_plan *plan; /**< sorted: those with expected times first, then by rank; owned */
    size_t count;
    bool priced; /**< all plans have a cost, which the Pareto front then uses */
    size_t rejected[ROOF_REJECTED_COUNT];
    /** The number of candidates that miss only this limit, and the one with the least excess; one
     * with expected times if there is any. */
    size_t missed[ROOF_PLAN_LIMIT_COUNT];
    struct roof_plan nearest[ROOF_PLAN_LIMIT_COUNT];
    /** The candidate whose largest excess over a limit is least, and that excess; 1: no miss. One
     * with expected times is preferred here, too. */
    struct roof_plan closest;
    double closest_excess;
    /** The best plan with more accuracy loss than allowed, if it is better than all plans;
     * otherwise its batch is 0. */
    struct roof_plan beyond;
    /** The model for each combination of formats, in its layout if it has one; NULL: the
     * combination does not apply to this model. The copies are owned. */
    const struct roof_model **model;
    struct roof_model **copy;
    size_t copies;
    const char *gain; /**< why the first one is better than the plan of a script, in words;
                         borrowed; NULL: more tokens/s */
};

/** Searches all combinations. ROOF_UNSATISFIED if no plan is left (*out then has the reasons). In
 * both cases the caller owns *out: roof_plans_free. */
enum roof_status roof_plan_search(struct roof_plans *out, const struct roof_plan_problem *problem,
                                  struct roof_error *error);
void roof_plans_free(struct roof_plans *plans);

/** Compares what two plans lose: negative if a has the lower class of accuracy loss, or in the same
 * class more bits in weights, else in activations, else in the KV cache. */
int roof_plan_by_loss(const struct roof_plan *a, const struct roof_plan *b,
                      const struct roof_plan_problem *problem);

/** Returns the score of a plan: lower is better. Rates are negated. */
double roof_plan_score(const struct roof_plan *plan, enum roof_plan_objective objective);

/** The largest ratio by which a published checkpoint may be worse than one that has to be made and
 * still be preferred. */
#define ROOF_PLAN_PUBLISHED 1.05
/** Returns the score that ranks plans of one basis: published formats are preferred. */
double roof_plan_ranked_score(const struct roof_plan *plan,
                              const struct roof_plan_problem *problem);
/** Returns the basis of the plans that rank first; there must be a plan. */
enum roof_plan_basis roof_plans_first_basis(const struct roof_plans *plans);

/** Ranks plans, those with expected times before those at bounds, and marks the Pareto front of
 * both rates for each basis. */
enum roof_status roof_plans_rank(struct roof_plans *out, const struct roof_plan_problem *problem,
                                 struct roof_error *error);

/** Finds the best among the unranked plans and those beyond the allowed loss (at least one), and
 * keeps it in out->beyond if it is one of the latter and has the basis of the former. */
enum roof_status roof_plans_keep_beyond(struct roof_plans *out, const struct roof_plans *beyond,
                                        const struct roof_plan_problem *problem,
                                        struct roof_error *error);

/** A plan with its names, for tables. The plan is the first member, so that a row is also a plan.
 */
struct roof_plan_row {
    struct roof_plan plan;
    int rank;
    const char *model; /**< the model of the question, or its checkpoint in these formats */
    const char *hardware;
    const char *hardware_basis;
    const char *formats; /**< the name of the formats in engines, "fp8" */
    const char *layout;  /**< NULL: none */
    enum roof_precision weights;
    enum roof_precision activations;
    enum roof_precision kv;
    char copies[96]; /**< "2x4", or "3x2+1x8": copies x devices per copy, prefill copies first */
    char offload[ROOF_OFFLOAD_NAME_SIZE]; /**< "experts:25"; "": nothing */
    char engines[128];                    /**< "trtllm vllm" */
    int64_t context;                      /**< final number of tokens of a sequence */
};
void roof_plan_name(struct roof_plan_row *out, const struct roof_plan *plan, int rank,
                    const struct roof_plan_problem *problem);

/** Returns the typical accuracy loss of a combination of formats: the largest of its members. A
 * format in which the model is published loses nothing. */
enum roof_accuracy_class roof_plan_loss(const struct roof_plan_problem *q, size_t serving);

/** Tells whether the model is a GGUF file, whose formats do not change. */
static inline bool roof_plan_of_gguf(const struct roof_plan_problem *q)
{
    return q->published != NULL && q->published->gguf;
}

/** Returns the format of most weights of a combination: in a published checkpoint, the format that
 * its file or its config defines. */
enum roof_precision roof_plan_weights(const struct roof_plan_problem *q, size_t serving);

/** Returns the format of most weights of a model: that of its MLP. */
enum roof_precision roof_plan_main_format(const struct roof_model *model);

/** Returns the largest loss of the formats that the question sets for classes of weights. */
enum roof_accuracy_class roof_plan_class_loss(const struct roof_plan_problem *q);

/** Returns the largest of the numbers of devices that are tried. */
int64_t roof_plan_most_devices(const struct roof_plan_problem *problem);
/** Returns the devices of the largest collective over all splits that divide the model: pipeline
 * stages send to each other in pairs. 1: there is none. */
int64_t roof_plan_most_members(const struct roof_plan_problem *problem);

/** Returns the engines of the problem that run a combination on one of its devices, as bits. */
unsigned roof_plan_engines(const struct roof_plan_problem *problem, size_t serving,
                           size_t hardware);

/** Returns the model for a combination of formats: that of the question, or one of its checkpoints;
 * NULL: there is none. */
const struct roof_model *roof_plan_model(const struct roof_plan_problem *problem, size_t serving);

/** Returns the stack of a combination on a device: the preferred one if an engine with its kernels
 * runs it, or else that of the first engine that does. */
enum roof_stack roof_plan_stack(const struct roof_plan_problem *problem, size_t serving,
                                size_t hardware, enum roof_stack preferred);

/** Returns the time of a plan that its engine spends on the host before the first step of a
 * request; lower bounds have none. */
double roof_plan_host_s(const struct roof_plan *plan, const struct roof_plan_problem *problem);

/** Writes "4 x h100-sxm (tp 4), fp8, KV cache bf16, batch 64", or one of its parts: the devices and
 * the split, or the formats and the batch. */
void roof_plan_describe(struct roof_text *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem);
void roof_plan_describe_place(struct roof_text *out, const struct roof_plan *plan,
                              const struct roof_plan_problem *problem);
void roof_plan_describe_load(struct roof_text *out, const struct roof_plan *plan,
                             const struct roof_plan_problem *problem);

/** Returns the tokens of a prompt that a prefix cache does not have. Without a prompt, the whole
 * context is one. */
int64_t roof_plan_computed(const struct roof_scenario *base);
/** Returns the most tokens of prompts in a step of all plans: without a prompt, of one. */
int64_t roof_plan_chunk(const struct roof_scenario *base);
/** Returns the most tokens of a step of a plan that llama.cpp runs, which reserves memory for as
 * many: those of the chunk, but no more than a prompt or a decode step has. */
int64_t roof_plan_local_pass(const struct roof_plan *plan, const struct roof_scenario *base);

/** Makes the problems for both kinds of copies in a disaggregated plan: requests with one token,
 * and decode steps at the mean context of requests. */
void roof_plan_halves(struct roof_plan_problem *prefill, struct roof_plan_problem *decode,
                      const struct roof_plan_problem *problem);

/** Makes the scenario of a plan: a request, or a decode step. It belongs to the model that
 * roof_plans has for the formats of the plan. */
void roof_plan_scenario(struct roof_scenario *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem);

/** Makes the scenarios of both phases of a plan: the prefill of one prompt, and a decode step. */
void roof_plan_scenarios(struct roof_scenario *prefill, struct roof_scenario *decode,
                         const struct roof_plan *plan, const struct roof_plan_problem *problem);

#endif
