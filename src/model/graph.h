// SPDX-License-Identifier: MIT
/**
 * The operators of a model: from a description and a scenario to the list that one device runs.
 * docs/formulas.md ("Models") has every node and its shape.
 *
 * Nothing here allocates or locks; all functions may run in any number of threads.
 */
#ifndef ROOF_MODEL_GRAPH_H
#define ROOF_MODEL_GRAPH_H

#include "model/scenario.h"
#include "model/stage.h"

/** The format of the keys of an indexer: FP8 and a scale of 4 bytes for each key of 128 elements,
 * which are as many bytes as those of MXFP8. Source: deepseek-ai/DeepSeek-V3.2-Exp,
 * inference/model.py (Indexer). */
#define ROOF_INDEX_KEYS ROOF_PRECISION_MXFP8_E4M3

/** The most operators of a graph. */
#define ROOF_GRAPH_MAX 160

/** The most operators whose results one operator reads. */
#define ROOF_READS_MAX 8

/** Names of operators whose results are read. */
struct roof_reads {
    size_t count;
    const char *name[ROOF_READS_MAX];
    bool before[ROOF_READS_MAX]; /**< the operator of the layer before */
};

/** The blocks of a model. A fused operator counts in the block where it begins. */
enum roof_block {
    ROOF_BLOCK_ENDS,      /**< embedding, head, and what passes between stages */
    ROOF_BLOCK_ENCODER,   /**< the encoders of images and of audio */
    ROOF_BLOCK_ATTENTION, /**< what mixes tokens: attention or a state, with its norm and addition
                           */
    ROOF_BLOCK_MLP,       /**< MLP or experts, with norm and addition */
    ROOF_BLOCK_COUNT
};
/** Names a block as in keys: "mlp". */
const char *roof_block_name(enum roof_block block);
/** Returns the number of layers that have a block; the ends count as one. */
int64_t roof_block_layers(const struct roof_model *model, enum roof_block block);

/** Properties of a step that its workloads do not have. The estimates of attention of decoding
 * sequences depend on them. */
struct roof_step_part {
    bool beside_prompts; /**< the step also has new tokens of prompts */
    int64_t longest;     /**< the longest of their contexts, whose mean is the workload's kv_len; 0:
                              all are equal */
    int64_t chosen; /**< keys that attention would choose if the latent cache were longer; 0: it
                         attends to all */
};

/** An operator of the model. */
struct roof_node {
    const char *name; /**< "qkv_proj" */
    enum roof_block block;
    enum roof_weight weight; /**< the class of its weights; COUNT: it has none */
    int64_t count;           /**< number of times that a pass runs it */
    struct roof_workload workload;
    /** Weights that are resident for one instance, on one device: elements in the format of
     * workload.formats.weights (tensors and channels say how many scales), and elements of vectors
     * in vector_format. */
    double elements;
    double tensors;
    double channels;
    double vectors;
    enum roof_precision vector_format;
    bool borrowed; /**< the elements are another node's (tied embeddings); vectors are its own */
    const struct roof_hardware *host; /**< the host that computes it, from its memory; NULL: the
                                           device */
    const struct roof_hardware *host_kernels; /**< the host with its measured kernels, if it
                                                 computes the node in this pass; or NULL */
    struct roof_upload upload; /**< how its weights reach the device, which computes it in this
                                    pass although the host holds it; share 0: not so, or unknown */
    struct roof_step_part part;
    bool routed; /**< experts: a token uses top_k / experts of the resident weights */
    /** The operators whose results it reads, from all layers that have it. */
    struct roof_reads reads;
};

/** The operators that one device runs in one pass. */
struct roof_graph {
    struct roof_node node[ROOF_GRAPH_MAX];
    size_t count;
    double kv_bytes;        /**< the cache and the states of all sequences, on one device */
    double state_bytes;     /**< the states among them */
    double host_kv_bytes;   /**< that of the layers on the host */
    double idle_bytes;      /**< resident weights that this phase does not run: an encoder, layers
                                 that attend to images */
    double idle_host_bytes; /**< those of layers on the host */
    double idle_parameters;
    double residual_bytes; /**< the hidden states of all tokens of a pass */
};

/**
 * Builds the operators that a device of pipeline stage `stage` (from 0) runs in one pass. scenario
 * must be resolved, and its phase not a request. ROOF_USAGE when the layers differ in too many
 * formats.
 */
enum roof_status roof_graph_build(struct roof_graph *out, const struct roof_model *model,
                                  const struct roof_scenario *scenario, int64_t stage,
                                  struct roof_places places, struct roof_error *error);

/**
 * Builds the operators that a device of the last stage runs when one module for multi-token
 * prediction proposes a token for each sequence. scenario is the decode step that verifies the
 * tokens, but without drafts. Weights that the module shares with the model are not counted again.
 */
enum roof_status roof_graph_predictor(struct roof_graph *out, const struct roof_model *model,
                                      const struct roof_scenario *scenario,
                                      struct roof_places places, struct roof_error *error);

/** Counts the parameters of the whole model over its graph: all, and those that one token uses
 * (both with embedding and head). */
enum roof_status roof_model_parameters(double *total, double *active,
                                       const struct roof_model *model, struct roof_error *error);

/** Adds those that are not there yet. */
void roof_reads_join(struct roof_reads *reads, const struct roof_reads *more);

/** Returns true if two workloads have the same prediction. */
bool roof_same_workload(const struct roof_workload *a, const struct roof_workload *b);
/** Returns ROOF_USAGE: the layers of a model differ in too many ways for ROOF_GRAPH_MAX operators.
 */
enum roof_status roof_graph_full(const struct roof_model *model, struct roof_error *error);

/** Returns the bytes of the resident weights of all instances of a node. */
double roof_node_bytes(const struct roof_node *node);

/** Returns the bytes of the resident weights of the whole model in its stored formats (else fp16),
 * computed from the formats: without padding and other scales that a file may have. NAN if the
 * model has too many different layers. */
double roof_model_bytes(const struct roof_model *model);

/** Returns the elements of all matrices of the whole model, without vectors and encoders; a tied
 * head is the embedding. NAN if the model has too many different layers. */
double roof_model_matrices(const struct roof_model *model);

/** Returns the bytes that tokens take in the cache of a layer on one of tp devices. */
double roof_kv_bytes(const struct roof_model *model, const struct roof_layer *layer,
                     enum roof_precision format, int64_t tp, double tokens);

/** Returns the whole blocks of so many tokens, each of which has a key and a value; 0: blocks have
 * none. */
int64_t roof_whole_blocks(const struct roof_model *model, int64_t tokens);

/** The number of tokens per compressed key at which an indexer chooses among the keys; with other
 * numbers all are attended to. */
#define ROOF_RATIO_CHOSEN 4
bool roof_chooses_compressed(const struct roof_layer *layer);
/** Returns the bytes of compressed keys in a layer, with their index keys. */
double roof_compressed_bytes(const struct roof_model *model, const struct roof_layer *layer,
                             enum roof_precision format, double keys);
/** Returns the bytes that a sequence keeps for tokens that are not compressed yet. */
double roof_compressor_bytes(const struct roof_model *model, const struct roof_layer *layer,
                             enum roof_precision format);

/** Returns the heads of keys of a mixer on one of `tp` devices; if there are fewer than devices,
 * they are repeated. */
int64_t roof_mixer_key_heads(const struct roof_mixer *mixer, int64_t tp);
/** Returns the channels of the convolution before a mixer on one of `tp` devices. */
int64_t roof_mixer_channels(const struct roof_mixer *mixer, int64_t tp);
/** Returns the bytes that a sequence keeps in a layer with a state, on one of `tp` devices: the
 * state, and the last inputs of the convolution. */
double roof_state_bytes(const struct roof_model *model, enum roof_precision inputs, int64_t tp);

/** Returns the bytes that one more token adds to the cache of the whole model, as long as windows
 * are not full. */
double roof_kv_bytes_per_token(const struct roof_model *model,
                               const struct roof_scenario *scenario);
/** Returns the bytes that one more token adds once windows are full. */
double roof_kv_bytes_per_further_token(const struct roof_model *model,
                                       const struct roof_scenario *scenario);

#endif
