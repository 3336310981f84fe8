// SPDX-License-Identifier: MIT
/**
 * The description of a transformer: its sizes, what its layers are made of, and what each weight is
 * stored in. checkpoint.h reads it from files.
 *
 * A loaded model is read only: any number of threads may use it.
 */
#ifndef ROOFLINE_MODEL_H
#define ROOFLINE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roofline/precision.h"
#include "roofline/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of weights. A checkpoint stores each in a format of its own. Append only. */
enum roof_weight {
    ROOF_WEIGHT_EMBEDDING, /**< tables of tokens and of learned positions */
    ROOF_WEIGHT_NORM,      /**< norms, biases and other vectors */
    ROOF_WEIGHT_Q,
    ROOF_WEIGHT_K,
    ROOF_WEIGHT_V,
    ROOF_WEIGHT_O,
    ROOF_WEIGHT_Q_A, /**< MLA: down-projection of Q */
    ROOF_WEIGHT_Q_B,
    ROOF_WEIGHT_KV_A,
    ROOF_WEIGHT_KV_B,
    ROOF_WEIGHT_GATE, /**< dense MLP */
    ROOF_WEIGHT_UP,
    ROOF_WEIGHT_DOWN,
    ROOF_WEIGHT_ROUTER,
    ROOF_WEIGHT_EXPERT_GATE,
    ROOF_WEIGHT_EXPERT_UP,
    ROOF_WEIGHT_EXPERT_DOWN,
    ROOF_WEIGHT_SHARED_GATE,
    ROOF_WEIGHT_SHARED_UP,
    ROOF_WEIGHT_SHARED_DOWN,
    ROOF_WEIGHT_LM_HEAD,
    ROOF_WEIGHT_COUNT
};

/** "q", "expert_gate", ... as in --class and in layouts. */
const char *roof_weight_name(enum roof_weight weight);
/** The module of a weight in Hugging Face checkpoints, below "model.layers.N." where it is in a
 * layer: "self_attn.q_proj". */
const char *roof_weight_module(enum roof_weight weight);
/**
 * The weights that a name stands for, as bits (1 << weight): one of them, or a group: attention,
 * mlp, experts, shared, linear (those four together). ROOF_USAGE with the known names.
 */
enum roof_status roof_weight_find(unsigned *out_bits, const char *name, struct roof_error *error);
/** How many weights a name stands for. */
int roof_weight_width(unsigned bits);
/** Whether a weight is a matrix that -w speaks of: not embedding, norm, router, lm_head. */
bool roof_weight_linear(enum roof_weight weight);

#define ROOF_LAYERS_MAX 512

/** One layer. Layers that are equal in all of it share a class (struct roof_model.layer). */
struct roof_layer {
    bool windowed; /**< attention sees the last `window` keys only */
    bool moe;      /**< routed experts in place of the dense MLP */
    /** What each weight is stored in; ROOF_PRECISION_AUTO: as the request says. */
    int8_t format[ROOF_WEIGHT_COUNT];
};

/** A decoder-only transformer. Sizes are elements; 0 where a part is absent. */
struct roof_model {
    const char *id;
    const char *name;
    const char *const *remarks; /**< NULL-terminated; what was assumed when it was read */
    const char *quantization;   /**< method that the config names, NULL: none */
    const char *repository;     /**< Hugging Face, that the registry names; NULL: unknown */
    const char *layout; /**< where the formats come from: a layout, "file"; NULL: the request */
    const char *const *notes; /**< NULL-terminated; what the registry says of it */
    const char *const *sources;
    const char *confidence; /**< "" when unknown */
    int64_t hidden;
    int64_t vocab;
    int64_t layers;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_dim;
    int64_t rotary_dim;    /**< elements of a head that are rotated; 0: none */
    int64_t intermediate;  /**< of the dense MLP */
    int64_t positions;     /**< longest context the model was made for; 0: unknown */
    int64_t position_rows; /**< rows of a learned table of positions */
    int64_t window;
    int64_t q_lora_rank;  /**< MLA; 0 also when Q is projected directly */
    int64_t kv_lora_rank; /**< above 0: the attention is MLA */
    int64_t qk_nope_head_dim;
    int64_t qk_rope_head_dim;
    int64_t v_head_dim;
    int64_t experts;
    int64_t top_k;
    int64_t expert_intermediate;
    int64_t shared_intermediate; /**< of all shared experts together */
    bool tied;                   /**< lm_head is the table of the embedding */
    bool gated;                  /**< the MLP has a gate (SwiGLU, GeGLU) */
    bool layernorm;              /**< with mean and bias; else RMSNorm */
    bool norm_gain;              /**< norms have a gain (and layer norms a bias) */
    bool qkv_bias;
    bool o_bias;
    bool mlp_bias;
    bool head_bias; /**< lm_head has one (Phi), also where its matrix is the embedding's */
    bool expert_bias;
    bool router_bias;
    bool qk_norm;    /**< a norm over each head of Q and K */
    bool post_norms; /**< norms after the attention and the MLP too */
    bool
        parallel; /**< attention and MLP have the same input, and their results are added at once */
    bool own_norms;   /**< parallel, each with an input norm of its own; else they share one */
    bool sinks;       /**< a learned scalar per head in the softmax */
    bool shared_gate; /**< a gate vector on the shared expert */
    /** Formats of what lies outside the layers (embedding, norm, lm_head); AUTO: as the request
     * says. */
    int8_t format[ROOF_WEIGHT_COUNT];
    struct roof_layer layer[ROOF_LAYERS_MAX]; /**< the classes, in order of first use */
    int64_t layer_classes;
    int16_t layer_class[ROOF_LAYERS_MAX]; /**< of each layer */
    enum roof_precision activations;      /**< what a layout says; AUTO: as the request says */
    enum roof_precision kv;               /**< likewise */
    bool stored;                          /**< formats and bytes are those of a file */
    double file_bytes; /**< of all its tensors that belong to the graph; NAN: not from a file */
    void *private_data;
};

/** Releases a model; NULL is fine. */
void roof_model_free(struct roof_model *model);
/** A copy whose formats can be changed. It borrows strings of the model, which must outlive it;
 * NULL when out of memory. */
struct roof_model *roof_model_copy(const struct roof_model *model);
/** Lets the request decide the formats again, whatever file or layout said. */
void roof_model_forget_formats(struct roof_model *model);
/** "MLA", "MHA", "GQA" or "MQA". */
const char *roof_attention_name(const struct roof_model *model);

/** A model with figures that are computed from it: a row of the table of models. */
struct roof_model_entry {
    const struct roof_model *model;
    double parameters;
    double active_parameters;
    double kv_bytes_per_token; /**< at 16 bits */
};

#ifdef __cplusplus
}
#endif

#endif
