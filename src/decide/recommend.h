// SPDX-License-Identifier: MIT
/**
 * Which format to run an operator in: candidates ranked under constraints, and a reason for each,
 * chosen or rejected.
 */
#ifndef ROOF_DECIDE_RECOMMEND_H
#define ROOF_DECIDE_RECOMMEND_H

#include <stdbool.h>
#include <stddef.h>

#include "decide/engine.h"
#include "predict/kernel.h"

enum roof_objective {
    ROOF_OBJECTIVE_BALANCED, /**< least accuracy loss among those near the fastest */
    ROOF_OBJECTIVE_TIME      /**< the fastest */
};

/** The time that ranks. */
enum roof_ranking {
    ROOF_RANKING_IDEAL,   /**< time_s, the roofline bound */
    ROOF_RANKING_EXPECTED /**< expected_s; a candidate that has none is rejected */
};

/** A candidate that is slower than the fastest by up to this fraction counts as near it. */
#define ROOF_BALANCED_SLACK 0.2

#define ROOF_REASON_SIZE 256
#define ROOF_ENGINE_WORD_SIZE 32

/** A format on the device. The prediction stands first, so that a candidate is one. */
struct roof_candidate {
    struct roof_prediction prediction;
    enum roof_precision format;
    enum roof_engine_use use; /**< what engines do with the format on the device */
    const char *method;       /**< native_fp8, int4_weight_only, ... */
    /** The engine that is asked for, and its name for such formats; "": none is, or it has none. */
    char engine[ROOF_ENGINE_WORD_SIZE];
    char engine_format[ROOF_ENGINE_WORD_SIZE];
    enum roof_accuracy_class loss;
    double speedup; /**< fp16 time over this time, same device and shape; higher is better */
    double expected_speedup; /**< that speedup of expected_s; ROOF_UNKNOWN if either is unknown */
    double ranked_s;         /**< time_s or expected_s, whichever ranks */
    int rank;                /**< from 1; 0 when rejected */
    char reason[ROOF_REASON_SIZE];
};

struct roof_recommend_options {
    const enum roof_precision *formats; /**< the candidates; NULL: the default ones */
    size_t format_count;
    enum roof_objective objective;
    enum roof_ranking ranking;
    enum roof_accuracy_class max_loss;
    bool native_only;
    /** The engines that must run a candidate on the device; NULL: none need to. */
    const struct roof_engines *engines;
    const char *engine_id;            /**< the engine that must run it; NULL: any may */
    const struct roof_engine *engine; /**< the same, from the tables */
};
/** Severe loss is never recommended unless asked for. */
#define ROOF_RECOMMEND_INIT                                                                        \
    {                                                                                              \
        .max_loss = ROOF_ACCURACY_2_TO_5                                                           \
    }

/** The tables that a recommendation reads. */
struct roof_recommend_tables {
    struct roof_accuracy accuracy;
    struct roof_engines *engines; /**< NULL where the caller names the formats and no engine */
};

/** Loads the tables, and makes the engines of them those of the options where the default formats
 * are the candidates, or where an engine is asked for. ROOF_USAGE where that is unknown. Release
 * with roof_recommend_tables_free, also after a failure. */
enum roof_status roof_recommend_tables_load(struct roof_recommend_tables *out,
                                            struct roof_recommend_options *options,
                                            struct roof_error *error);
void roof_recommend_tables_free(struct roof_recommend_tables *tables);

/** Returns the default candidates, in the order of the catalog. */
const enum roof_precision *roof_recommend_defaults(size_t *count);

struct roof_recommendation {
    struct roof_prediction baseline; /**< the prediction in fp16, with which speedups compare */
    struct roof_candidate candidate[ROOF_PRECISION_COUNT]; /**< best first, then the rejected */
    size_t count;                                          /**< ranked */
    size_t rejected;                                       /**< those after them */
    bool lent; /**< no kernels of the engine that is asked for were measured */
};

/**
 * Ranks the formats for one workload, whose own weights, activations and precision are ignored;
 * its formats of the KV cache and of the output, and its shape, are kept. ROOF_UNSATISFIED when
 * every candidate is rejected (*out then holds the reasons). *out is large: keep it off small
 * stacks.
 */
enum roof_status
roof_recommend(struct roof_recommendation *out, const struct roof_workload *workload,
               const struct roof_hardware *hardware, const struct roof_accuracy *accuracy,
               const struct roof_recommend_options *options, struct roof_error *error);

#endif
