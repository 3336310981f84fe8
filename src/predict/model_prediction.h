// SPDX-License-Identifier: MIT
/**
 * Predicts a model on a device: the time of a phase, tokens per second, memory, and limits.
 *
 * Sums run over the operators in order, so that totals equal them to the last bit. Nothing here
 * allocates or locks; all functions may run in any number of threads. docs/formulas.md ("Models")
 * has the formulas.
 */
#ifndef ROOF_PREDICT_MODEL_PREDICTION_H
#define ROOF_PREDICT_MODEL_PREDICTION_H

#include "model/graph.h"
#include "predict/kernel.h"

/** An operator of the model with its prediction, which is for one instance. */
struct roof_node_prediction {
    struct roof_prediction prediction;
    struct roof_node node; /**< node.count: how often a pass runs it, over all pipeline stages */
    int64_t device_count;  /**< how often the device with the most work does */
};

/** Tells whether the model fits the memory of the device. */
enum roof_fit { ROOF_FIT_UNKNOWN, ROOF_FIT_NO, ROOF_FIT_YES };

/** From this share on, reports tell that a part of an expected time comes from other kernels. */
#define ROOF_NEAR_SHOWN 0.01

/** The causes that take most of a time: of its bound, and of its expected time. */
struct roof_bounded_by {
    enum roof_bottleneck bound;
    enum roof_bottleneck expected;
};

/**
 * A model on a device. FLOPs and bytes are per device of the pipeline stage that takes longest,
 * memory is per device of the stage that needs the most; times are those of one copy, tokens/s
 * those of all. NAN where a value is unknown or has no meaning.
 */
struct roof_model_prediction {
    /** The totals over the operators of one pass of a microbatch. They come first, so that the
     * prediction of a model is also a prediction; its workload has the formats, and its time_s is
     * the sum over all stages. */
    struct roof_prediction total;
    struct roof_scenario scenario; /**< resolved */
    const struct roof_model *model;
    const char *phase;
    double weights_memory_bytes;
    double kv_cache_bytes;          /**< of all sequences, with their states */
    double state_bytes;             /**< the states among them; NAN: there are none */
    double activation_memory_bytes; /**< the hidden states plus the largest operator */
    double memory_capacity_bytes;
    double memory_reserve_bytes;          /**< kept free */
    char offload[ROOF_OFFLOAD_NAME_SIZE]; /**< "experts:25"; "": nothing */
    double host_memory_bytes;             /**< bytes in the memory of the host; NAN: none */
    double host_capacity_bytes;
    enum roof_fit fits;                    /**< in both memories */
    double kv_bytes_per_token;             /**< of the whole model */
    double kv_bytes_per_further_token;     /**< the same, once windows are full */
    char image_size[ROOF_IMAGE_SIZE_SIZE]; /**< of each image, "1024x768"; "": there are none */
    double image_tokens;                   /**< of the images of a prompt; NAN: there are none */
    double audio_tokens;                   /**< of the audio of a prompt; NAN: there is none */
    double devices;                        /**< tp x attention_dp x pp x dp */
    double launches; /**< waits for the host of a pass, over all stages; NAN: none */
    double host_s;   /**< time of these waits and of the serial part of a pass; NAN: none */
    double engine_launches_s; /**< what the host of the engine needs to launch the kernels of a pass
                                 with prompts, which takes at least this; NAN: none, or a request */
    double offloaded_s;     /**< of a pass, time of the part that the host computes; NAN: none, or a
                                 request */
    double draft_s;         /**< of a step, the passes of the draft model; NAN: no drafts */
    double slowest_stage_s; /**< one pass of the slowest pipeline stage */
    double step_s;          /**< one step of the whole: all stages, all microbatches, drafts */
    double tokens_per_step; /**< per sequence: 1, or the expected number with drafts */
    double ttft_s;          /**< prefill of a whole prompt */
    double tpot_s;          /**< per token of a sequence: the inter-token latency */
    bool prompts_wait;      /**< ttft_s has the time in which a prompt waits for those of others */
    double e2e_s;           /**< request: from the prompt to the last token */
    double tokens_per_s;    /**< all sequences of all copies; NAN where it does not fit */
    double tokens_per_s_per_user;
    double power_time_s;    /**< time of the operators under a power cap; NAN: no cap */
    double energy_j;        /**< of a device in a step at the bound */
    double power_w;         /**< of a device on average at the bound */
    double joule_per_token; /**< of all devices at the bound; NAN: unknown */
    /** The expected times of real kernels; NAN if one operator has none. */
    bool as_stored;      /**< each product multiplies in its stored format, on a unit for it */
    uint64_t fallbacks;  /**< formats of products, in any step, for which the device has no unit, so
                            that  they run in another one: as bits by enum roof_precision */
    double expected_low; /**< the band, as fractions of the expected time of a step or request */
    double expected_high;
    double expected_near; /**< fraction of it that is estimated from other devices, stacks or
                               formats */
    double expected_step_s;
    double expected_ttft_s;
    double expected_tpot_s;
    double expected_e2e_s;
    double expected_tokens_per_s;
    double expected_tokens_per_s_per_user;
    /** The causes for a request: of its first token, of a further token, and of a decode step.
     */
    struct roof_bounded_by ttft_by;
    struct roof_bounded_by tpot_by;
    struct roof_bounded_by step_by;
    size_t count;
    struct roof_node_prediction node[ROOF_GRAPH_MAX];
};

/**
 * Predicts a scenario, which need not be resolved. model and hardware must outlive *out, which is
 * large: keep it off small stacks. ROOF_USAGE when the scenario is not valid for the model, or a
 * split needs a link figure that is unknown.
 */
enum roof_status roof_predict_model(struct roof_model_prediction *out,
                                    const struct roof_model *model,
                                    const struct roof_scenario *scenario,
                                    const struct roof_hardware *hardware, struct roof_error *error);

/** Replaces ROOF_OFFLOAD_FIT in a resolved scenario by the fewest layers whose offload lets the
 * rest fit on the device, or by all layers if that is not enough. ROOF_USAGE when its capacity is
 * unknown. */
enum roof_status roof_offload_solve(struct roof_scenario *scenario, const struct roof_model *model,
                                    const struct roof_hardware *hardware, struct roof_error *error);

/** Returns the bound time of all instances of an operator; those of all sum to total.time_s. */
double roof_model_time(const struct roof_node_prediction *node);

/** Returns total.time_s if the tokens chose as few experts as they can (roof_least_time); NAN: no
 * operator has experts, or that is what was predicted. */
double roof_model_least_time(const struct roof_model_prediction *prediction);

/** The work and times of a block of the model over all its layers, on one device of each stage in a
 * pass. */
struct roof_block_total {
    int64_t layers; /**< layers that have it */
    double flops;
    double bytes;
    double time_s;
    double expected_s;     /**< NAN: unknown */
    double share_of_time;  /**< of the bound */
    double share_of_flops; /**< NAN where the pass has none */
};
struct roof_blocks {
    bool known;
    struct roof_block_total of[ROOF_BLOCK_COUNT];
};
/** Sums the operators of a prediction by blocks; it must have operators. */
void roof_model_blocks(struct roof_blocks *out, const struct roof_model_prediction *prediction);

/** Returns the share of the time of a pass that all instances of operator number `node` take. */
double roof_model_share(const struct roof_model_prediction *prediction, size_t node);
/** Returns the share of the expected time of a pass; NAN: unknown. */
double roof_model_expected_share(const struct roof_model_prediction *prediction, size_t node);
/** The share of a time below which an operator is not listed or drawn by default. */
#define ROOF_SMALL_SHARE 0.01
/** Returns the band around an expected time of a model (of a step, a token, a request), if the
 * errors of all kernels have the same sign. */
void roof_model_band(double *low_s, double *high_s, const struct roof_model_prediction *prediction,
                     double expected_s);

/** The ways to fuse operators, and the time that a pass takes in each. */
struct roof_fusion {
    bool known;
    struct {
        double bytes;      /**< of a pass, on the device with the most work; NAN: a request */
        double launches;   /**< kernels that it runs there; NAN: a request */
        double time_s;     /**< of a step, or of a whole request */
        double expected_s; /**< NAN: unknown */
    } way[ROOF_FUSE_COUNT];
};

/** The limits at other sizes; NAN where a limit does not exist. */
struct roof_limits {
    double parameters;
    double active_parameters;
    double max_batch; /**< the most sequences that fit; 0: not even one */
    /** max_batch with the formats of the published quantised checkpoint, if the prediction does not
     * fit and has neither them nor formats that the question names; NAN: it fits, or that is not
     * larger. */
    double max_batch_checkpoint;
    double max_batch_fp8;    /**< max_batch with precision fp8, if the prediction does not fit, has
                                weights of more than 8 bits, and max_batch_checkpoint does not apply;
                                NAN: it fits, or that is not larger */
    double max_batch_kv_fp8; /**< max_batch with a KV cache in fp8; NAN if that is not larger, or if
                                llama.cpp runs the model, which has none */
    double max_batch_kv_q8_0; /**< the same in q8_0, the cache of 8 bits of llama.cpp; NAN with
                                 other engines */
    bool kv_open;        /**< the scenario names formats of weights, but none of the KV cache */
    double max_batch_ep; /**< max_batch with ep devices instead of as many of tp, in a model with
                              experts; NAN if that is not larger */
    double max_batch_next_tp; /**< max_batch with the next larger tp that the model and the links of
                                   the device allow and that fits more; NAN: none */
    double next_tp;           /**< that tp */
    double max_batch_nearest; /**< max_batch with the split below, which needs fewer devices than
                                   next_tp, in a usual number, and fits more than the question's;
                                   NAN: none */
    double nearest_tp;
    double nearest_pp;
    double fit_reserve;    /**< the largest reserve, in hundredths, with which the model fits if it
                                does not now; NAN: none of 1% or more */
    int64_t fit_offload;   /**< the fewest layers whose offload lets it fit, as offload is packed;
                                0: it fits, or that does not help */
    bool fit_offload_more; /**< an offload was given, and it is too small */
    double fit_offload_host_bytes; /**< the host memory that it needs; NAN: none */
    double fit_offload_s; /**< lower bound with it, of a token, of a prompt in a prefill, or of a
                               request; with the host of the question, or else a usual one; NAN:
                               none, or unknown */
    double max_context;   /**< the longest context that fits; 0: none */
    /** Decode: context at which reading the KV cache takes as many bytes as reading weights. */
    double kv_crossover_context;
    double decode_compute_bound; /**< roof_decode_compute_bound */
    /** Per operator of the prediction: the smallest batch from which it is compute-bound. */
    double compute_bound_batch[ROOF_GRAPH_MAX];
    struct roof_fusion fusion; /**< roof_model_fusion fills it in */
    struct roof_blocks blocks; /**< roof_model_blocks does */
};
/** Batches and contexts are searched up to this. */
#define ROOF_LIMIT_MAX 1000000000

/** Returns the smallest batch from which a decode step as a whole is compute-bound: its
 * compute-bound operators have the largest share of its time. For a request the last step counts.
 * INFINITY: none up to 2^20; NAN: another phase, or the device lacks a peak that a product needs.
 */
double roof_decode_compute_bound(const struct roof_model_prediction *prediction);

/** Finds compute_bound_batch of the limits alone. */
void roof_predict_model_bounds(double out[ROOF_GRAPH_MAX],
                               const struct roof_model_prediction *prediction,
                               const struct roof_scenario *scenario);

/** Predicts a scenario, which is not resolved, in each way to fuse operators. room is for the
 * predictions. */
enum roof_status roof_model_fusion(struct roof_fusion *out, struct roof_model_prediction *room,
                                   const struct roof_model *model,
                                   const struct roof_scenario *scenario,
                                   const struct roof_hardware *hardware, struct roof_error *error);

/** Finds the limits around a prediction; scenario is the one it was made from (not resolved). */
enum roof_status roof_model_limits(struct roof_limits *out,
                                   const struct roof_model_prediction *prediction,
                                   const struct roof_scenario *scenario, struct roof_error *error);
/** Finds fit_offload_s of limits, which roof_model_limits leaves unknown. */
enum roof_status roof_model_time_room(struct roof_limits *limits,
                                      const struct roof_model_prediction *prediction,
                                      const struct roof_scenario *scenario,
                                      struct roof_error *error);

#endif
