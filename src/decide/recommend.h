// SPDX-License-Identifier: MIT
/** The best format for an operator: candidates ranked under constraints, with a reason for each
 * choice or rejection. */
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

/** The time that determines the ranking. */
enum roof_ranking {
    ROOF_RANKING_IDEAL,   /**< time_s, the roofline bound */
    ROOF_RANKING_EXPECTED /**< expected_s; a candidate without it is rejected */
};

/** The largest fraction by which a candidate may be slower than the fastest and still count as near
 * it. */
#define ROOF_BALANCED_SLACK 0.2

#define ROOF_REASON_SIZE 256
#define ROOF_ENGINE_WORD_SIZE 32

/** A format on the device. The prediction is the first member, so that a candidate is also a
 * prediction. */
struct roof_candidate {
    struct roof_prediction prediction;
    enum roof_precision format;
    enum roof_engine_use use; /**< how engines use the format on the device */
    const char *method;       /**< native_fp8, int4_weight_only, ... */
    /** The requested engine, and its name for such formats; "": no request, or no name. */
    char engine[ROOF_ENGINE_WORD_SIZE];
    char engine_format[ROOF_ENGINE_WORD_SIZE];
    enum roof_accuracy_class loss;
    double speedup; /**< fp16 time over this time, same device and shape; higher is better */
    double expected_speedup; /**< the speedup of expected_s; ROOF_UNKNOWN if either is unknown */
    double ranked_s;         /**< time_s or expected_s, whichever determines the ranking */
    int rank;                /**< from 1; 0 if rejected */
    char reason[ROOF_REASON_SIZE];
};

struct roof_recommend_options {
    const enum roof_precision *formats; /**< the candidates; NULL: the default ones */
    size_t format_count;
    enum roof_objective objective;
    enum roof_ranking ranking;
    enum roof_accuracy_class max_loss;
    bool native_only;
    /** The engines, one of which must run a candidate on the device; NULL: no such limit. */
    const struct roof_engines *engines;
    const char *engine_id;            /**< the engine that must run it; NULL: any may */
    const struct roof_engine *engine; /**< that engine in the tables */
};
/** Severe loss is never recommended unless requested. */
#define ROOF_RECOMMEND_INIT                                                                        \
    {                                                                                              \
        .max_loss = ROOF_ACCURACY_2_TO_5                                                           \
    }

/** The tables for a recommendation. */
struct roof_recommend_tables {
    struct roof_accuracy accuracy;
    struct roof_engines *engines; /**< NULL if the caller names the formats and no engine */
};

/** Loads the tables, and makes their engines those of the options if the candidates are the default
 * formats, or if an engine is requested. ROOF_USAGE if that engine is unknown. Release with
 * roof_recommend_tables_free, even after a failure. */
enum roof_status roof_recommend_tables_load(struct roof_recommend_tables *out,
                                            struct roof_recommend_options *options,
                                            struct roof_error *error);
void roof_recommend_tables_free(struct roof_recommend_tables *tables);

/** Returns the default candidates, in the order of the catalog. */
const enum roof_precision *roof_recommend_defaults(size_t *count);

struct roof_recommendation {
    struct roof_prediction baseline; /**< the prediction in fp16, the reference for speedups */
    struct roof_candidate
        candidate[ROOF_PRECISION_COUNT]; /**< best first, then the rejected ones */
    size_t count;                        /**< number of ranked ones */
    size_t rejected;                     /**< number of rejected ones, which follow them */
    bool lent;                           /**< no kernels of the requested engine were measured */
};

/** Ranks the formats for a workload, whose own weights, activations and precision are ignored; its
 * formats of the KV cache and of the output, and its shape, are kept. ROOF_UNSATISFIED if every
 * candidate is rejected (*out then has the reasons). *out is large: keep it off small stacks. */
enum roof_status
roof_recommend(struct roof_recommendation *out, const struct roof_workload *workload,
               const struct roof_hardware *hardware, const struct roof_accuracy *accuracy,
               const struct roof_recommend_options *options, struct roof_error *error);

#endif
