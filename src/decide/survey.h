// SPDX-License-Identifier: MIT
/** A survey: one model on one device, predicted in all scenarios of a report. These are decode over
 * batches, prefill over contexts, and a number of changes.
 *
 * Every time in it is a field of a struct roof_model_prediction (roof_predict_model), or a sum or
 * ratio of such. A survey owns its predictions; it takes some milliseconds. */
#ifndef ROOF_DECIDE_SURVEY_H
#define ROOF_DECIDE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/lever.h"
#include "predict/model_prediction.h"
#include "predict/trace.h"

/** The causes of the bound time: memory-bound operators wait for the bytes of tensor roles. */
enum roof_survey_cause {
    ROOF_SURVEY_WEIGHTS,
    ROOF_SURVEY_KV,
    ROOF_SURVEY_ACTIVATIONS, /**< inputs and outputs of the operators */
    ROOF_SURVEY_COMPUTE,
    ROOF_SURVEY_NETWORK,
    ROOF_SURVEY_CAUSE_COUNT
};

/** The parts of a pass's bound time, as fractions. */
struct roof_survey_shares {
    double cause[ROOF_SURVEY_CAUSE_COUNT];
    double bottleneck[ROOF_BOTTLENECK_COUNT]; /**< fraction of the operators with this bottleneck */
    double attention; /**< fraction of the operators that read the KV cache */
};

/** A prediction at one size: the batch of a decode step, or the context of a prefill. */
struct roof_survey_point {
    int64_t size;
    bool scaling; /**< a row of the table over sizes */
    bool detail;  /**< its operators are named */
    const struct roof_model_prediction *model_prediction;
    struct roof_survey_shares share;
};

enum roof_survey_change_kind {
    ROOF_SURVEY_FORMATS,       /**< formats of linear weights, and their activations */
    ROOF_SURVEY_KV_FORMAT,     /**< the format of the KV cache */
    ROOF_SURVEY_BATCH_COMPUTE, /**< the batch at which operator `node` becomes compute-bound */
    ROOF_SURVEY_BATCH_MEMORY,  /**< the largest batch that fits */
    ROOF_SURVEY_ATTENTION,     /**< fused, or unfused */
    ROOF_SURVEY_PROJECTIONS,   /**< Q, K, V and gate, up as one product each, or separate */
    ROOF_SURVEY_TP,   /**< more devices share each layer: twice as many, repeatedly until it fits */
    ROOF_SURVEY_FUSE, /**< all possible operators fused, or the default */
    ROOF_SURVEY_SPARSE,    /**< weights pruned 2:4 */
    ROOF_SURVEY_LAUNCH,    /**< hidden launches, which only affect expected times */
    ROOF_SURVEY_HOST,      /**< no waits for the host */
    ROOF_SURVEY_BANDWIDTH, /**< double memory bandwidth */
    ROOF_SURVEY_PEAKS,     /**< double peaks */
    ROOF_SURVEY_LINKS,     /**< double link bandwidth */
    ROOF_SURVEY_KERNEL,    /**< operator `node` runs at its bound instead of its expected time */
    ROOF_SURVEY_CHANGE_KIND_COUNT
};

/** A change, compared to the base of its phase. */
struct roof_survey_change {
    enum roof_survey_change_kind kind;
    size_t node;                   /**< the affected operator of the base */
    int64_t size;                  /**< BATCH, TP: the new value */
    enum roof_accuracy_class loss; /**< FORMATS: typical loss of the weights */
    const struct roof_model_prediction
        *model_prediction;     /**< NULL: KERNEL, and impossible changes */
    struct roof_error refused; /**< why it is impossible; otherwise its status is ROOF_OK */
    double time_s;             /**< as in roof_survey_time, like the next */
    double expected_s;
    double gain;          /**< tokens/s of all sequences relative to the base, by the bound */
    double expected_gain; /**< the gain by expected times; NAN: unknown */
};

#define ROOF_SURVEY_POINTS_MAX 48
#define ROOF_SURVEY_CHANGES_MAX 32

/** One phase; base is NULL if it is not part of the survey. */
struct roof_survey_phase {
    struct roof_scenario scenario; /**< the unresolved scenario of the base */
    const struct roof_model_prediction *base;
    struct roof_limits limits;
    size_t points; /**< sorted by size */
    struct roof_survey_point point[ROOF_SURVEY_POINTS_MAX];
    size_t changes; /**< sorted by gain, the largest first; impossible changes come last */
    struct roof_survey_change change[ROOF_SURVEY_CHANGES_MAX];
};

/** The formulas of an operator, with the numbers of its slowest instance, in a decode step if that
 * has one. */
struct roof_survey_formula {
    const struct roof_node_prediction *node;
    struct roof_trace explanation;
};

struct roof_survey {
    const struct roof_model_prediction
        *request; /**< NULL: the question is not about a whole request */
    struct roof_survey_phase decode;
    struct roof_survey_phase prefill;
    size_t formulas; /**< one per kind of operator in the model, in the order of the catalog */
    struct roof_survey_formula formula[ROOF_OPERATOR_COUNT];
    size_t example; /**< index of the formula of the largest linear layer */
    void *private_data;
};

/** Predicts a survey of the scenario: its phase or, with `both`, decode and the prefill of one
 * prompt at that context; a request has both phases. model and hardware must outlive it.
 * ROOF_USAGE as in roof_predict_model, and for passes that mix the phases. On success the caller
 * owns *out: roof_survey_free. */
enum roof_status roof_survey_run(struct roof_survey **out, const struct roof_model *model,
                                 const struct roof_scenario *scenario, bool both,
                                 const struct roof_hardware *hardware, struct roof_error *error);
/** Predicts only the bases and changes of the scenario: its phase, or both phases of a request.
 * Otherwise it is like roof_survey_run. */
enum roof_status roof_survey_levers(struct roof_survey **out, const struct roof_model *model,
                                    const struct roof_scenario *scenario,
                                    const struct roof_hardware *hardware, struct roof_error *error);
void roof_survey_free(struct roof_survey *survey);

/** Returns the operator of a pass whose instances lose the most time above their bound, and that
 * time; `without` marks operators to skip, or is NULL. The `count` of the prediction means none. */
size_t roof_survey_worst(double *lost_s, const struct roof_model_prediction *model_prediction,
                         const bool *without);

/** Returns the first base of a report: decode, or prefill if there is no decode. */
const struct roof_model_prediction *roof_survey_first(const struct roof_survey *survey);

/** Return the time by which a phase is judged: the time per token of a decode step, or the time of
 * a prefill. */
double roof_survey_time(const struct roof_model_prediction *model_prediction);
double roof_survey_expected(const struct roof_model_prediction *model_prediction);

#endif
