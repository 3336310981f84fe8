// SPDX-License-Identifier: MIT
/**
 * A survey: one model on one device, predicted in all the scenarios that a report about it speaks
 * of. These are decode over batches, prefill over contexts, and a number of changes.
 *
 * Every time in it is a field of a struct roof_model_prediction (roof_predict_model), or a sum or
 * ratio of such. A survey owns its predictions; it takes some milliseconds.
 */
#ifndef ROOF_DECIDE_SURVEY_H
#define ROOF_DECIDE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/lever.h"
#include "predict/model_prediction.h"
#include "predict/trace.h"

/** The causes that the bound time goes to: memory-bound operators wait for the bytes of roles. */
enum roof_survey_cause {
    ROOF_SURVEY_WEIGHTS,
    ROOF_SURVEY_KV,
    ROOF_SURVEY_ACTIVATIONS, /**< inputs and outputs of the operators */
    ROOF_SURVEY_COMPUTE,
    ROOF_SURVEY_NETWORK,
    ROOF_SURVEY_CAUSE_COUNT
};

/** The parts of the bound time of a pass, as fractions. */
struct roof_survey_shares {
    double cause[ROOF_SURVEY_CAUSE_COUNT];
    double bottleneck[ROOF_BOTTLENECK_COUNT]; /**< the parts of the operators that it bounds */
    double attention;                         /**< the part of those that read the KV cache */
};

/** A prediction at one size: the batch of a decode step, the context of a prefill. */
struct roof_survey_point {
    int64_t size;
    bool scaling; /**< one of the table over sizes */
    bool detail;  /**< one of those whose operators are named */
    const struct roof_model_prediction *model_prediction;
    struct roof_survey_shares share;
};

enum roof_survey_change_kind {
    ROOF_SURVEY_FORMATS,       /**< formats of linear weights, and of activations with them */
    ROOF_SURVEY_KV_FORMAT,     /**< the format of the KV cache */
    ROOF_SURVEY_BATCH_COMPUTE, /**< the batch at which operator `node` becomes compute-bound */
    ROOF_SURVEY_BATCH_MEMORY,  /**< the largest batch that fits */
    ROOF_SURVEY_ATTENTION,     /**< fused, or unfused */
    ROOF_SURVEY_PROJECTIONS,   /**< Q, K, V and gate, up as one product each, or apart */
    ROOF_SURVEY_TP,            /**< more devices share each layer: twice as many, until it fits */
    ROOF_SURVEY_FUSE,          /**< all operators fused that can be, or as by default */
    ROOF_SURVEY_SPARSE,        /**< weights pruned 2:4 */
    ROOF_SURVEY_LAUNCH,        /**< launches hidden: expected times only */
    ROOF_SURVEY_HOST,          /**< no waits for the host */
    ROOF_SURVEY_BANDWIDTH,     /**< twice the memory bandwidth */
    ROOF_SURVEY_PEAKS,         /**< twice the peaks */
    ROOF_SURVEY_LINKS,         /**< twice the bandwidth of the links */
    ROOF_SURVEY_KERNEL,        /**< operator `node` takes its bound instead of what is expected */
    ROOF_SURVEY_CHANGE_KIND_COUNT
};

/** A change, compared to the base of its phase. */
struct roof_survey_change {
    enum roof_survey_change_kind kind;
    size_t node;                   /**< the operator of the base that it is about */
    int64_t size;                  /**< BATCH, TP: what it becomes */
    enum roof_accuracy_class loss; /**< FORMATS: it is typical for the weights */
    const struct roof_model_prediction
        *model_prediction;     /**< NULL: KERNEL, and what is not possible */
    struct roof_error refused; /**< why it is not possible; else status is ROOF_OK */
    double time_s;             /**< as roof_survey_time, like the next */
    double expected_s;
    double gain;          /**< tokens/s of all sequences over those of the base, by the bound */
    double expected_gain; /**< that gain by expected times; NAN: unknown */
};

#define ROOF_SURVEY_POINTS_MAX 48
#define ROOF_SURVEY_CHANGES_MAX 32

/** One phase; base is NULL when it is not part of the survey. */
struct roof_survey_phase {
    struct roof_scenario scenario; /**< the scenario of the base, not resolved */
    const struct roof_model_prediction *base;
    struct roof_limits limits;
    size_t points; /**< they are in the order of their sizes */
    struct roof_survey_point point[ROOF_SURVEY_POINTS_MAX];
    size_t changes; /**< the largest gain comes first; changes that are not possible come last */
    struct roof_survey_change change[ROOF_SURVEY_CHANGES_MAX];
};

/** The formulas of an operator, with the numbers of the instance that takes the most time: one of a
 * decode step, if it has one. */
struct roof_survey_formula {
    const struct roof_node_prediction *node;
    struct roof_trace explanation;
};

struct roof_survey {
    const struct roof_model_prediction *request; /**< NULL: no whole request is asked */
    struct roof_survey_phase decode;
    struct roof_survey_phase prefill;
    size_t formulas; /**< one for each kind of operator that there is, in the catalog's order */
    struct roof_survey_formula formula[ROOF_OPERATOR_COUNT];
    size_t example; /**< the formula whose node is the largest linear layer */
    void *private_data;
};

/**
 * Predicts a survey of what the scenario asks. This is its phase alone or, with `both`, decode and
 * the prefill of one prompt at that context; a request has both of its phases. model and hardware
 * must outlive it. ROOF_USAGE as roof_predict_model, and for passes that mix the phases. On success
 * the caller owns *out: roof_survey_free.
 */
enum roof_status roof_survey_run(struct roof_survey **out, const struct roof_model *model,
                                 const struct roof_scenario *scenario, bool both,
                                 const struct roof_hardware *hardware, struct roof_error *error);
/** Predicts the bases and changes of what the scenario asks, and nothing else: its phase, or both
 * phases of a request. All else is as for roof_survey_run. */
enum roof_status roof_survey_levers(struct roof_survey **out, const struct roof_model *model,
                                    const struct roof_scenario *scenario,
                                    const struct roof_hardware *hardware, struct roof_error *error);
void roof_survey_free(struct roof_survey *survey);

/** Returns the operator of a pass whose instances lose the most time above their bound, and that
 * time; `without` marks operators that are left out, or is NULL. count of the prediction: none. */
size_t roof_survey_worst(double *lost_s, const struct roof_model_prediction *model_prediction,
                         const bool *without);

/** Returns the base that a report begins with: decode, or prefill when there is no decode. */
const struct roof_model_prediction *roof_survey_first(const struct roof_survey *survey);

/** These return the time that a phase is judged by: the time per token of a decode step, or the
 * time of a prefill. */
double roof_survey_time(const struct roof_model_prediction *model_prediction);
double roof_survey_expected(const struct roof_model_prediction *model_prediction);

#endif
