// SPDX-License-Identifier: MIT
/**
 * A model at work: from a description, a phase and a split over devices to the list of operators
 * that one device runs. docs/formulas.md ("Models") has every node and its shape.
 *
 * Nothing here allocates or locks; all functions may run in any number of threads.
 */
#ifndef ROOFLINE_GRAPH_H
#define ROOFLINE_GRAPH_H

#include "roofline/model.h"
#include "roofline/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Same numbers as the choices of the input "phase". */
enum roof_phase {
    ROOF_PHASE_DECODE,  /**< one new token per sequence */
    ROOF_PHASE_PREFILL, /**< a prompt, or a chunk of one on top of what is cached */
    ROOF_PHASE_MIXED,   /**< some sequences in prefill, the others in decode, in one pass */
    ROOF_PHASE_REQUEST, /**< a prompt and the tokens generated after it; given by `generate` */
    ROOF_PHASE_COUNT
};
const char *roof_phase_name(enum roof_phase phase);

/**
 * What is asked of a model. Start with roof_scenario_init; 0 means not given. Of `common` the
 * formats, sparse, shape.batch (sequences), shape.routing and shape.ep are used.
 */
struct roof_scenario {
    struct roof_workload common;
    int64_t phase;   /**< enum roof_phase */
    int64_t context; /**< KV length: tokens of the prompt, or cached by a decode step, the new one
                          included (default 4096, or the model's limit if that is less) */
    int64_t chunk;   /**< prefill: new tokens of this pass (default: the whole context); mixed: of
                          each sequence in prefill (default 512) */
    int64_t prefill_batch;   /**< mixed: sequences in prefill (default 1) */
    int64_t prefill_context; /**< mixed: KV length of those (default: the chunk) */
    int64_t prompt;          /**< request: tokens of the prompt */
    int64_t generate;     /**< request: tokens generated, the first one from the prefill included */
    int64_t draft_tokens; /**< speculative decoding: tokens proposed per step */
    int64_t tp;           /**< tensor parallelism: devices that share each layer */
    int64_t pp;           /**< pipeline parallelism: stages */
    int64_t split_projections; /**< flag: Q, K, V and gate, up as products of their own */
    int64_t unfused_attention; /**< flag: scores are stored */
    enum roof_precision weight[ROOF_WEIGHT_COUNT]; /**< --class; AUTO: layout, file or default */
    double acceptance; /**< probability that a proposed token is accepted, 0..1 */
    double prefix_hit; /**< prefill: fraction of the prompt that is cached already, 0..1 */
    double reserve;    /**< fraction of the memory that is kept free, 0..1 */
    const struct roof_model *draft; /**< the model that proposes; NULL: proposals cost nothing */
};
/** The reserve is what vLLM keeps free by default (gpu_memory_utilization 0.9). */
#define ROOF_DRAFT_TOKENS_MAX 64
#define ROOF_SCENARIO_RESERVE 0.1
#define ROOF_SCENARIO_ACCEPTANCE 0.7
void roof_scenario_init(struct roof_scenario *scenario);

/**
 * Fills in every default and checks the scenario against the model: sizes in range, a split that
 * divides heads, widths and experts. In place; as before on failure (ROOF_USAGE).
 */
enum roof_status roof_scenario_resolve(struct roof_scenario *scenario,
                                       const struct roof_model *model, struct roof_error *error);

/** The two phases of what is asked, not resolved: of a request the prompt, and decode at its end,
 * when the cache holds all; else a prefill and a decode step at the same context. Each is without
 * what only the other takes. */
void roof_scenario_phases(struct roof_scenario *prefill, struct roof_scenario *decode,
                          const struct roof_scenario *asked);

/** Reads class assignments "NAME=P" (roof_weight_find) into a scenario; a narrower name wins over a
 * wider one in any order. */
enum roof_status roof_scenario_classes(struct roof_scenario *scenario,
                                       const char *const *assignment, int count,
                                       struct roof_error *error);

#define ROOF_GRAPH_MAX 160

/** An operator of the model. */
struct roof_node {
    const char *name;        /**< "qkv_proj" */
    enum roof_weight weight; /**< whose format its weights have; COUNT: it has none */
    int64_t count;           /**< how often one pass runs it */
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
    bool routed;   /**< experts: of the resident weights a token uses top_k / experts */
};

struct roof_graph {
    struct roof_node node[ROOF_GRAPH_MAX];
    size_t count;
    double kv_bytes;       /**< the cache of all sequences, on one device */
    double residual_bytes; /**< the hidden states of all tokens of a pass */
};

/** Sequences of one pass: with pipeline stages the batch runs in min(pp, batch) parts,
 * a mixed one in as many as the larger of its batches allows. */
int64_t roof_microbatches(const struct roof_scenario *scenario);

/**
 * Builds what a device of pipeline stage `stage` (from 0) runs in one pass. scenario must be
 * resolved, and its phase not a request. node_size is how many devices a node has (0: unknown,
 * taken as large enough). ROOF_USAGE when the layers differ in too many formats.
 */
enum roof_status roof_graph_build(struct roof_graph *out, const struct roof_model *model,
                                  const struct roof_scenario *scenario, int64_t stage,
                                  int64_t node_size, struct roof_error *error);

/** Parameters of the whole model, counted over its graph: all, and those that one token uses (both
 * with embedding and head). */
enum roof_status roof_model_parameters(double *total, double *active,
                                       const struct roof_model *model, struct roof_error *error);

/** Whether two workloads are equal in all that matters to a prediction. */
bool roof_same_workload(const struct roof_workload *a, const struct roof_workload *b);
/** ROOF_USAGE: the layers of a model differ in too many ways for ROOF_GRAPH_MAX operators. */
enum roof_status roof_graph_full(const struct roof_model *model, struct roof_error *error);

/** Resident weights of a node, all its instances, in bytes. */
double roof_node_bytes(const struct roof_node *node);

/** Resident weights of the whole model in the formats it is stored in (those that it does not say:
 * fp16), by the formats alone: without padding and the odd scales that a file may have. NAN when
 * the model has too many different layers. */
double roof_model_bytes(const struct roof_model *model);

/** What one more token adds to the cache of the whole model, as long as windows are not full. */
double roof_kv_bytes_per_token(const struct roof_model *model,
                               const struct roof_scenario *scenario);

/** New tokens that each sequence of the phase brings. */
int64_t roof_query_len(const struct roof_scenario *scenario);

#ifdef __cplusplus
}
#endif

#endif
