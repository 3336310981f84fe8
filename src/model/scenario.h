// SPDX-License-Identifier: MIT
/**
 * A model at work: the phase, lengths, formats and split over devices that are asked of it.
 *
 * Nothing here allocates or locks; all functions may run in any number of threads.
 */
#ifndef ROOF_MODEL_SCENARIO_H
#define ROOF_MODEL_SCENARIO_H

#include "model/model.h"
#include "operator/operator.h"

struct roof_hardware;

/** The phases, which have the numbers of the choices of the input "phase". */
enum roof_phase {
    ROOF_PHASE_DECODE,  /**< one new token per sequence */
    ROOF_PHASE_PREFILL, /**< a prompt, or a chunk of one on top of what is cached */
    ROOF_PHASE_MIXED,   /**< some sequences in prefill, the others in decode, in one pass */
    ROOF_PHASE_ENCODE,  /**< images and audio of prompts, before their prefill */
    ROOF_PHASE_REQUEST, /**< a prompt and the tokens generated after it; given by `generate` */
    ROOF_PHASE_COUNT
};
/* The names of the phases that can be asked for, in the order of the enumeration. */
#define ROOF_PHASES_ASKED "decode", "prefill", "mixed", "encode"
const char *roof_phase_name(enum roof_phase phase);

/** The ways in which tokens are proposed. */
enum roof_drafting {
    ROOF_DRAFTING_DEFAULT, /**< the model itself where it has layers for that, else nothing that
                                takes time */
    ROOF_DRAFTING_FREE,    /**< proposals cost nothing, such as those of a look-up: "none" */
    ROOF_DRAFTING_OWN,     /**< the model's own layers for multi-token prediction: "mtp" */
    ROOF_DRAFTING_MODEL    /**< another model */
};

/** The operators of a model that share a kernel. */
enum roof_fuse {
    ROOF_FUSE_DEFAULT, /**< attention, and products over the same input; how inputs are quantised
                            is not looked at */
    ROOF_FUSE_NONE,    /**< none, and quantisation is an operator of its own */
    ROOF_FUSE_ALL,     /**< each pair that a fused operator is known for */
    ROOF_FUSE_COUNT
};
/** Their names, in their order, with a NULL behind them. */
extern const char *const roof_fuse_names[ROOF_FUSE_COUNT + 1];

/** Says which part of a model the memory of the host holds, and the host computes. */
enum roof_offload_part {
    ROOF_OFFLOAD_NONE,
    ROOF_OFFLOAD_LAYERS,  /**< the first layers, with their cache: "layers:N" */
    ROOF_OFFLOAD_EXPERTS, /**< the routed experts of the first layers: "experts:N", or "experts" */
    ROOF_OFFLOAD_PARTS
};
/** Names a part: "layers". */
const char *roof_offload_part_name(enum roof_offload_part part);
/** In place of a number of layers: the fewest with which the device has room for the rest. */
#define ROOF_OFFLOAD_FIT (ROOF_LAYERS_MAX + 1)
#define ROOF_OFFLOAD_NAME_SIZE 24
/** A pass of so many tokens has its offloaded weights copied to the device: ggml-org/llama.cpp,
 * ggml-cuda.cu (ggml_backend_cuda_device_offload_op, min_batch_size). */
#define ROOF_OFFLOAD_COPY_TOKENS 32

/** The memory bandwidth of a usual host, as text: two channels of DDR5-5600. */
#define ROOF_HOST_USUAL_GB_PER_S "89.6"
/** Packs a part and a number of layers into the input "offload"; and the inverse of it. */
int64_t roof_offload_pack(enum roof_offload_part part, int64_t layers);
enum roof_offload_part roof_offload_part(int64_t offload);
int64_t roof_offload_layers(int64_t offload);
/** Reads "none", "experts", "experts:N", "layers:N" or one of both with ":fit"; and writes it. */
enum roof_status roof_offload_read(int64_t *out, const char *text, struct roof_error *error);
const char *roof_offload_name(char out[ROOF_OFFLOAD_NAME_SIZE], int64_t offload);

/** How fast an engine copies weights of the host to the device for such a pass, fitted to measured
 * passes (data/engines). */
struct roof_upload {
    double share; /**< of the bandwidth of the link to the host; 0: unknown */
    double low;   /**< the band of the time: measured / expected */
    double high;
};

/** The largest share of a link's bandwidth that copies were seen to reach, from page-locked memory
 * over PCIe 5 (docs/accuracy.md, "Weights on the host"). */
#define ROOF_UPLOAD_MOST 0.9

/** Holds what an engine does on the host, in seconds, and how it launches kernels. */
struct roof_host_time {
    double step_s;     /**< of each step; no kernel runs beside it */
    double sequence_s; /**< of each sequence in a step; no kernel runs beside it */
    double request_s;  /**< of each request, before its first step */
    double front_s;    /**< the part of request_s in which one request is handled at a time */
    double launch_s;   /**< of each kernel of a step with prompts, beside those before it */
    double latent_s;   /**< launch_s of models with latent attention, if that is longer */
    double overlap_s;  /**< by which a kernel begins before the last one ends, where devices can */
    double compile_s;  /**< simulations: once per copy, in the first step with a full budget */
};

/** The images and the audio of each prompt, whose tokens are among those of the prompt. */
struct roof_prompt_media {
    int64_t images;
    int64_t image_size;  /**< width x height in pixels, packed (default 1024x1024) */
    int64_t seen_images; /**< which another pass has encoded, and their size; set by requests and */
    int64_t seen_size;   /**< by images, not inputs */
    int64_t audio;       /**< clips */
    int64_t audio_length_s; /**< of each clip (default 30) */
};

/**
 * The question about a model. Start with roof_scenario_init; 0 means not given. A model uses these
 * members of `common`: the formats, sparse, shape.batch (sequences), shape.routing, shape.ep, and
 * how kernels run. shape.ep is short for attention_dp, moe_ep and moe_tp (roof_scenario_resolve).
 */
struct roof_scenario {
    struct roof_workload common;
    struct roof_tile_choice tile; /**< of an operator */
    int64_t phase;                /**< enum roof_phase */
    int64_t context; /**< KV length: tokens of the prompt, or cached by a decode step, the new one
                          included (default 4096, or the model's limit if that is less) */
    int64_t chunk;   /**< prefill: new tokens of this pass (default: the whole context); mixed: of
                          each sequence in prefill (default 512); request: the most prompt tokens
                          of a step (default 8192; ROOF_CHUNK_WHOLE: those of a whole prompt) */
    int64_t prefill_batch;          /**< mixed: sequences in prefill (default 1) */
    int64_t prefill_context;        /**< mixed: KV length of those (default: the chunk) */
    int64_t prompt;                 /**< request: tokens of the prompt */
    struct roof_prompt_media media; /**< what each prompt has beside text */
    int64_t generate;     /**< request: tokens generated, the first one from the prefill included */
    int64_t static_batch; /**< flag, request: all prompts are prefilled together, then all sequences
                               decode together; else requests follow each other without end */
    int64_t held;         /**< tokens of each sequence that the cache holds in the end, where they
                               are more than the context; set by requests, not an input */
    int64_t longest;      /**< the longest context of the sequences of a decode step, whose mean is
                               `context`; 0: all are equal; set by simulations, not an input */
    int64_t draft_tokens; /**< speculative decoding: tokens proposed per step */
    int64_t tp;           /**< tensor parallelism: devices that share each layer */
    int64_t pp;           /**< pipeline parallelism: stages */
    int64_t dp;           /**< copies of the model, each with its own devices and sequences: the
                               batch is that of one copy (default 1) */
    /** Mixtures of experts: tp x attention_dp = moe_tp x moe_ep devices share a stage. Both moe
     * members stay 0 in a model without experts. */
    int64_t attention_dp; /**< groups of tp devices, each with sequences of its own (default 1) */
    int64_t moe_tp;       /**< devices that cut each expert (default: what moe_ep leaves) */
    int64_t moe_ep;       /**< parts that the experts are dealt into (default: what moe_tp leaves,
                               else 1) */
    int64_t split_projections; /**< flag: Q, K, V and gate, up as products of their own */
    int64_t unfused_attention; /**< flag: scores are stored */
    int64_t fuse;              /**< enum roof_fuse */
    enum roof_precision weight[ROOF_WEIGHT_COUNT]; /**< by class; AUTO: layout, file or default */
    double acceptance;   /**< probability that a proposed token is accepted, 0..1 */
    double prefix_hit;   /**< prefill: fraction of the prompt that is cached already, 0..1 */
    double reserve;      /**< fraction of the memory that is kept free, 0..1 */
    double host_gap_s;   /**< seconds between two kernels in which the device waits for the host */
    double serial_s;     /**< seconds of a pass that are not split over devices, beside the graph */
    int64_t launches;    /**< waits of a pass; 0: one for each of its kernels */
    int64_t asked_stack; /**< resolved: enum roof_stack that was asked for in place of llama.cpp,
                            whose kernels weights in GGUF formats have; BEST: none was */
    /** The engine of each stack adds these to expected times. */
    struct roof_host_time host_time[ROOF_STACK_COUNT];
    /** By how much the kernels of a stack begin before the last one ends, where the fastest stack
     * has them. */
    double early_s[ROOF_STACK_COUNT];
    const char *formats_said;   /**< the one name that a question has for the formats, which must
                                     outlive this; or NULL */
    const char *host_time_said; /**< as a question gives it, which must outlive this; or NULL */
    int64_t offload;            /**< as roof_offload_pack packs it; 0: all is on the device */
    const struct roof_hardware *host; /**< what computes the part on the host, or NULL */
    /** The host with its measured kernels, which expected times need, or NULL. */
    const struct roof_hardware *host_kernels;
    struct roof_upload upload;      /**< of weights on the host, in long passes */
    enum roof_drafting drafting;    /**< resolved where there are drafts */
    const struct roof_model *draft; /**< the model that proposes, maybe the model itself, or NULL */
};
/** The chunk of a request by default. */
#define ROOF_REQUEST_CHUNK 8192
/** The chunk of a request that prefills each prompt in one step. */
#define ROOF_CHUNK_WHOLE (-1)
/** The reserve is what vLLM keeps free by default (gpu_memory_utilization 0.9). */
#define ROOF_DRAFT_TOKENS_MAX 64
#define ROOF_SCENARIO_RESERVE 0.1
/** The largest reserve. */
#define ROOF_RESERVE_MAX 0.99
#define ROOF_SCENARIO_ACCEPTANCE 0.7
/** The range of common.step_scale. */
#define ROOF_STEP_SCALE_MIN 0.001
#define ROOF_STEP_SCALE_MAX 1000
void roof_scenario_init(struct roof_scenario *scenario);

/** Tells whether the model or the scenario gives weights formats of GGUF, which only llama.cpp
 * runs: a resolved scenario has its kernels in place of the best ones. */
bool roof_scenario_gguf(const struct roof_scenario *scenario, const struct roof_model *model);

/** Returns a format of the KV cache with fewer bits than that of a resolved scenario, which its
 * engine has: llama.cpp has q8_0, others fp8. ROOF_PRECISION_AUTO: the cache has as few bits. */
enum roof_precision roof_scenario_narrower_cache(const struct roof_scenario *scenario,
                                                 const struct roof_model *model);

/** Returns what the engine of a stack does on the host in a pass of a resolved scenario: the
 * sequences of a microbatch are dealt out evenly to the groups of the attention, each of which has
 * a host process of its own. */
double roof_scenario_host_s(const struct roof_scenario *scenario, enum roof_stack stack);

/** Returns the seconds in which the host launches a kernel of a step with prompts; 0: a decode
 * step. */
double roof_scenario_launch_s(const struct roof_scenario *scenario, enum roof_stack stack,
                              const struct roof_model *model);

/**
 * Fills in every default in place and checks the scenario against the model: sizes in range, a
 * split that divides heads, widths and experts. The scenario is unchanged on failure (ROOF_USAGE).
 */
enum roof_status roof_scenario_resolve(struct roof_scenario *scenario,
                                       const struct roof_model *model, struct roof_error *error);

/** Returns the devices of one stage: tp x attention_dp of a resolved scenario. */
int64_t roof_stage_devices(const struct roof_scenario *scenario);
/** Returns the devices of all stages and copies. */
int64_t roof_scenario_devices(const struct roof_scenario *scenario);
/** Returns true if attention and experts of a resolved scenario are split in ways that neither "tp"
 * nor "ep" alone says. */
bool roof_splits_apart(const struct roof_scenario *scenario);

/** Returns the id of the model that proposes, "mtp" for the layers of the model itself, "none"
 * where it has such layers and they do not propose, or NULL: without drafts, and where nothing need
 * be said. The scenario must be resolved. */
const char *roof_drafter_name(const struct roof_scenario *scenario, const struct roof_model *model);
/** Returns what proposes tokens in a scenario with drafts, which need not be resolved. */
enum roof_drafting roof_drafting_of(const struct roof_scenario *scenario,
                                    const struct roof_model *model);
/** Reads "mtp" and "none" as such a name into a scenario; false for other names. */
bool roof_drafter_find(struct roof_scenario *scenario, const char *name);

/** Makes scenarios of the two phases of what is asked, not resolved. A request gives the prefill of
 * its prompts (of one prompt unless the batch is static), and a decode step at its end, when the
 * cache holds all; other scenarios give a prefill and a decode step at the same context. Each lacks
 * the inputs that only the other takes. */
void roof_scenario_phases(struct roof_scenario *prefill, struct roof_scenario *decode,
                          const struct roof_scenario *asked);

/** Reads class assignments "NAME=P" (roof_weight_find) into a scenario; a narrower name wins over a
 * wider one in any order. */
enum roof_status roof_scenario_classes(struct roof_scenario *scenario,
                                       const char *const *assignment, int count,
                                       struct roof_error *error);

/** Returns how many parts a batch runs in: with pipeline stages min(pp, batch), where a mixed pass
 * counts the larger of its batches. */
int64_t roof_microbatches(const struct roof_scenario *scenario);

/** Returns how many tokens of a prompt are not in the prefix cache: at least one. */
int64_t roof_uncached(int64_t prompt, double prefix_hit);

/** No images and no audio. */
extern const struct roof_prompt_media roof_no_media;
/** Tells whether prompts have images or audio. */
bool roof_has_media(const struct roof_scenario *scenario);
/** Each returns how many tokens the encoders make of the images, the audio, or both of a prompt in
 * a resolved scenario. */
int64_t roof_image_tokens(const struct roof_scenario *scenario, const struct roof_model *model);
int64_t roof_audio_tokens(const struct roof_scenario *scenario, const struct roof_model *model);
int64_t roof_media_tokens(const struct roof_scenario *scenario, const struct roof_model *model);
/** Returns how many of the prompt's tokens stand for images and audio: those of the encoders, or
 * one for each image where layers of the text attend to what the encoder makes. */
int64_t roof_media_places(const struct roof_scenario *scenario, const struct roof_model *model);
/** Returns how many keys of images the tokens of a sequence attend to in such layers; 0: none. */
int64_t roof_image_keys(const struct roof_scenario *scenario, const struct roof_model *model);
/** Tells whether a pass of a resolved scenario encodes images. */
bool roof_encodes_images(const struct roof_scenario *scenario);
/** Makes images those that another pass has encoded, and leaves out audio. */
void roof_media_encoded(struct roof_prompt_media *media);
/** Writes the size of the images of a resolved scenario, "1024x768", or "" without images. */
#define ROOF_IMAGE_SIZE_SIZE 24
const char *roof_image_size_name(char out[ROOF_IMAGE_SIZE_SIZE],
                                 const struct roof_scenario *scenario);

/** Returns how many new tokens each sequence of the phase brings. */
int64_t roof_query_len(const struct roof_scenario *scenario);

#endif
