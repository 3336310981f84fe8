// SPDX-License-Identifier: MIT
/**
 * The description of a transformer: its sizes, the parts of its layers, and the format of each
 * weight. config.h reads it from files.
 *
 * A loaded model is read only: any number of threads may use it.
 */
#ifndef ROOF_MODEL_MODEL_H
#define ROOF_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "catalog/precision.h"

/** Kinds of weights. A checkpoint may store each in another format. New ones go to the end. */
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
    ROOF_WEIGHT_INDEX,     /**< the projections of an indexer that chooses keys */
    ROOF_WEIGHT_COMPRESS,  /**< compressed keys: the projections that make them, and the weights of
                              the heads that choose them */
    ROOF_WEIGHT_MIXER_IN,  /**< layers with a state: the projections of their input */
    ROOF_WEIGHT_MIXER_OUT, /**< layers with a state: the projection of their output */
    ROOF_WEIGHT_MIXER_LOW, /**< layers with a state: the projections to and from a low rank that are
                              products of their own */
    ROOF_WEIGHT_LATENT_IN, /**< the projection into the latent that routed experts work on */
    ROOF_WEIGHT_LATENT_OUT,    /**< the projection out of it */
    ROOF_WEIGHT_PER_LAYER_IN,  /**< the gate of the input that each layer has of its own */
    ROOF_WEIGHT_PER_LAYER_OUT, /**< the projection of what that gate lets through */
    ROOF_WEIGHT_VISION,        /**< all matrices of the vision and audio encoders */
    ROOF_WEIGHT_COUNT
};

/** Returns "q", "expert_gate", ... as in --class and in layouts. */
const char *roof_weight_name(enum roof_weight weight);
/** Returns the module of a weight in Hugging Face checkpoints: "self_attn.q_proj". A weight of a
 * layer has it below "model.layers.N.". */
const char *roof_weight_module(enum roof_weight weight);
/**
 * Finds the weights that a name stands for, as bits (1 << weight). The name is that of a weight or
 * of a group: attention, mlp, experts, shared, linear (those four together). Small weights are in
 * no group: without a format of their own they have that of a larger weight. The error of an
 * unknown name, ROOF_USAGE, lists the known ones.
 */
enum roof_status roof_weight_find(unsigned *out_bits, const char *name, struct roof_error *error);
/** Counts the weights that a name stands for. */
int roof_weight_width(unsigned bits);
/** Tells whether the weight format of a question applies to this weight: not to embedding, norm,
 * router and lm_head. */
bool roof_weight_linear(enum roof_weight weight);

#define ROOF_LAYERS_MAX 512

/** The kinds of layers that keep a state instead of a cache. */
enum roof_mixer_kind {
    ROOF_MIXER_NONE,
    ROOF_MIXER_GATED_DELTA, /**< gated delta rule (Qwen3-Next) */
    ROOF_MIXER_KIMI_DELTA,  /**< Kimi delta attention */
    ROOF_MIXER_SSD,         /**< Mamba-2 */
    ROOF_MIXER_LIGHTNING,   /**< lightning attention (MiniMax-01, M1) */
    ROOF_MIXER_SELECTIVE,   /**< Mamba-1 */
    ROOF_MIXER_COUNT
};

/** The parts that keep a state, which are equal in all layers that have one. */
struct roof_mixer {
    int64_t kind;      /**< enum roof_mixer_kind */
    int64_t heads;     /**< each has a state of key_dim x value_dim elements; Mamba-1: channels */
    int64_t key_heads; /**< heads of keys and queries, which several of `heads` share */
    int64_t key_dim;
    int64_t value_dim;
    int64_t taps;   /**< tokens that the convolution before it spans; 0: there is none */
    int64_t rank;   /**< Mamba-1: elements from which the steps of all channels are made */
    int64_t chunk;  /**< tokens that a prefill passes through the state at once; 0: the default */
    bool plain;     /**< no norm behind it */
    bool full_gate; /**< Kimi: one product makes the gate of the output, else two of low rank */
    bool conv_bias;
    bool proj_bias;
    enum roof_precision state; /**< the format of the state */
};

/** One layer. Layers with equal members share a class (struct roof_model.layer). */
struct roof_layer {
    bool windowed; /**< attention sees only the last `window` keys, or those of its chunk */
    bool no_rope;  /**< heads are not rotated, in a model whose other layers rotate them */
    bool moe;      /**< it has routed experts instead of the dense MLP */
    bool stateful; /**< it has the model's mixer, instead of attention or parallel to it */
    bool no_attention;
    bool no_mlp;
    bool keyless; /**< attention reads what an earlier layer has cached: no K and V of its own */
    bool blocks;  /**< attention sees blocks of keys that an indexer chooses */
    bool reuses_choice; /**< attention sees the keys that an earlier layer chose: no indexer */
    bool value_is_key;  /**< V is what the projection of K makes, before norm and rotation */
    /** Attention reads keys and values of images, which its weights make once for each prompt. A
     * prompt without images skips the layer. */
    bool crossed;
    /** Sizes that are other than the model's; 0: the model's. */
    int32_t heads;
    int32_t kv_heads;
    int32_t head_dim; /**< of K and V */
    int32_t rotary_dim;
    int32_t intermediate; /**< width of the dense MLP */
    int32_t ratio;        /**< tokens for each compressed key; 0: there are none */
    /** Sums of earlier blocks of layers that are mixed with the current one before attention, and
     * before the MLP; 0: the current one is read unchanged. */
    int32_t attention_sums;
    int32_t mlp_sums;
    /** The format of each weight; ROOF_PRECISION_AUTO leaves it to the question. */
    int8_t format[ROOF_WEIGHT_COUNT];
};

/** How an image becomes grids of patches. */
enum roof_image_fit {
    ROOF_FIT_PIXELS,   /**< sides are rounded to whole tokens, and the pixels are within limits */
    ROOF_FIT_LONGEST,  /**< the longest side has a limit */
    ROOF_FIT_SQUARES,  /**< it is scaled to a square, or cut into several and one of all of it */
    ROOF_FIT_ASPECT,   /**< it is cut in the same way, but only by the ratio of its sides */
    ROOF_FIT_PATCHES,  /**< the whole patches have a limit; sides are filled up to whole tokens */
    ROOF_FIT_CANVASES, /**< it is scaled to one of the canvases, and cut into its squares; what
                          fills a canvas up beside the image makes no tokens */
    ROOF_FIT_BUDGET    /**< it is scaled, also up, to as many whole tokens as a limit allows */
};

/** The activation after a product that makes tokens of the output of the encoder. */
enum roof_projection_act {
    ROOF_PROJECTION_PLAIN,
    ROOF_PROJECTION_GELU,
    ROOF_PROJECTION_GATED /**< its second half times the activation of its first half */
};

/** A product that makes tokens of the output of the encoder. */
struct roof_projection {
    int64_t in; /**< 0: there is none */
    int64_t out;
    enum roof_projection_act act;
    bool bias;
    bool of_patches; /**< it works on patches, before several become a token */
    bool norm;       /**< a layer norm stands between it and its activation */
};

/** The norm before these products. */
enum roof_projection_norm {
    ROOF_PROJECTION_NO_NORM,
    ROOF_PROJECTION_PATCH_NORM, /**< of each patch */
    ROOF_PROJECTION_TOKEN_NORM  /**< of each token, as wide as the input of the first product */
};

#define ROOF_PROJECTIONS_MAX 4
#define ROOF_CANVASES_MAX 64
#define ROOF_CANVAS_SIDE_MAX 30

/** The vision encoder, whose results stand in the prompt like tokens. */
struct roof_tower {
    int64_t layers;  /**< that an image passes; 0: there is none, or none that is counted */
    int64_t skipped; /**< layers after these, whose weights exist but are not needed */
    int64_t hidden;
    int64_t heads;
    int64_t head_dim;
    int64_t intermediate;
    int64_t patch;  /**< pixels of the side of a patch */
    int64_t inputs; /**< elements of a patch: of its pixels, channels and frames */
    int64_t merge;  /**< patches of the side of the square that becomes a token */
    int64_t window; /**< patches of the side of a window; 0: attention is over a whole grid */
    int64_t full;   /**< layers with attention over a whole grid although there is a window */
    int64_t position_rows; /**< rows of a learned table of positions */
    int64_t tile_rows;     /**< rows of tables that say which square of how many it is */
    int64_t late_rows;     /**< those that are added before the last layers */
    int64_t scalars;       /**< gates of one element */
    int64_t row_unit; /**< rows of a square are filled up to a multiple of it; 0: they are not */
    enum roof_image_fit fit;
    int64_t least_pixels;
    int64_t most_pixels;
    int64_t most_patches; /**< of an image */
    int64_t side;         /**< pixels of the longest side, or of a square */
    int64_t squares;      /**< most squares of an image, but for the one of all of it */
    int64_t canvases;     /**< sizes that an image is scaled to, of which it takes one */
    int16_t canvas[ROOF_CANVASES_MAX][2]; /**< the rows and columns of squares of each */
    int64_t class_results; /**< tokens of a square that are made of its class token: 0 or 1 */
    struct roof_projection project[ROOF_PROJECTIONS_MAX];
    enum roof_projection_norm project_norm;
    int64_t unused;   /**< elements of norms that no token passes, or without layers all of an
                         encoder whose shapes are not known */
    int64_t taps;     /**< layers whose results are also projected, like that of the last one */
    bool grows;       /**< an image that is narrower than a token is scaled up to it first */
    bool no_overview; /**< an image that is cut has no square of all of it */
    /** Layers of the text attend to the results, which are no tokens of the prompt. The encoder has
     * as many squares of each image as there may be, and these attend to each other. */
    bool crossed;
    bool plain_out; /**< the product behind attention has no bias, in spite of `bias` */
    bool gated;
    bool layernorm;
    bool qkv_bias;
    bool bias; /**< of the other products of a layer */
    bool patch_bias;
    bool rotary;
    bool class_token;
    bool pre_norm;        /**< a norm before the layers */
    bool post_norm;       /**< a norm behind them */
    bool layer_posts;     /**< norms behind attention and MLP, too */
    bool layer_scales;    /**< a vector that the results of attention and MLP are multiplied by */
    bool wide_norm;       /**< norms over all heads of Q, and of K */
    bool head_norms;      /**< norms over each head of Q and K, and one without gain of V */
    bool project_layer;   /**< the norm before the products is a layer norm, else an RMSNorm */
    bool project_no_gain; /**< that norm has no gain */
    bool project_post;    /**< an RMSNorm of each token stands behind the products */
};

/** Says which norms stand around the last of the products that make tokens of audio. */
enum roof_audio_norm {
    ROOF_AUDIO_NO_NORM,
    ROOF_AUDIO_BARE_NORM, /**< one without gain before it */
    ROOF_AUDIO_NORM_POST  /**< one with gain before it, and one without behind it */
};

/** The audio encoder, whose results stand in the prompt like tokens: Whisper's, or a conformer.
 */
struct roof_audio {
    int64_t layers; /**< 0: there is none, or none that is counted */
    int64_t hidden;
    int64_t heads;
    int64_t intermediate;
    int64_t mels;   /**< bins of a frame of the spectrogram, of which a second has 100 */
    int64_t most_s; /**< seconds of the longest clip; 0: any */
    struct roof_projection project[2]; /**< the products that make tokens */
    enum roof_audio_norm norm;
    /* Whisper's; 0 in a conformer. */
    int64_t positions; /**< rows that its layers work on for a window of 30 s */
    int64_t pooled;    /**< rows of which the mean becomes one */
    int64_t joined;    /**< rows that stand side by side in a token */
    bool windows;      /**< a longer clip is cut into windows, and all of each becomes tokens */
    /* A conformer's; 0 in Whisper's. */
    int64_t channels[2]; /**< of its convolutions over time and bins */
    int64_t inputs;      /**< elements that the product behind them reads */
    int64_t taps;        /**< of the convolution in its layers */
    int64_t window;      /**< keys that a query sees */
    int64_t lead;        /**< samples, of which a second has 16,000, up to the end of a frame */
    int64_t stride;      /**< rows behind the layers, of which one is kept */
    int64_t tokens;      /**< of a clip, however long it is; 0: its rows */
    int64_t unused;      /**< elements of a table that audio does not read */
};

/** A decoder-only transformer. Sizes are elements; a part that is absent has 0. */
struct roof_model {
    const char *id;
    const char *reference; /**< the name that loads it again; NULL: its id */
    const char *name;
    const char *const *remarks; /**< assumptions that its reader made; NULL-terminated */
    const char *quantization;   /**< the method that the config names, or "gguf"; NULL: none */
    const char *algorithm;      /**< of a method that has several ("NVFP4"); NULL: none is named */
    const char *const *checkpoints; /**< ids of this model in other published formats;
                                         NULL-terminated, or NULL: none */
    const char *repository;         /**< on Hugging Face, from the registry; NULL: unknown */
    const char *architecture;       /**< the class that the config names first
                                         ("LlamaForCausalLM"); NULL: none */
    const char *layout; /**< the layout of the formats, or "file"; NULL: the question decides */
    const char *const *notes; /**< remarks of the registry; NULL-terminated, like sources */
    const char *const *sources;
    const char *confidence; /**< "" when unknown */
    int64_t hidden;
    int64_t vocab;
    int64_t extra_rows; /**< of the embedding, beyond the vocabulary */
    int64_t layers;
    int64_t predict_layers; /**< modules for multi-token prediction, in addition to the layers; each
                                 is like the last layer */
    int64_t heads;
    int64_t kv_heads;
    int64_t head_dim;
    int64_t rotary_dim;    /**< elements of a head that are rotated; 0: none */
    int64_t intermediate;  /**< width of the dense MLP */
    int64_t positions;     /**< the longest context that the model was made for; 0: unknown */
    int64_t position_rows; /**< rows of a learned table of positions */
    int64_t streams;       /**< of the residual; 0: it is one */
    int64_t altup_streams; /**< streams of the residual of which layers work on one, and predict and
                                correct the others (Gemma 3n); 0: it is one */
    int64_t laurel_rank;   /**< rank of the low-rank residual parallel to attention; 0: there is
                                none */
    int64_t block_layers;  /**< number of layers after which the residual begins again; the sum so
                                far is kept and mixed with later ones; 0: there is one sum */
    int64_t out_groups;    /**< groups of heads that O maps apart first; 0: there are none */
    int64_t out_rank;      /**< elements that it maps each group to */
    int64_t layer_embedding; /**< elements of each layer's own embedding; 0: none */
    int64_t layer_vocab;     /**< rows of the table of these embeddings */
    int64_t window;          /**< keys that windowed layers see, at most */
    int64_t q_lora_rank;     /**< MLA; 0 also when Q is projected directly */
    int64_t kv_lora_rank;    /**< above 0: the attention is MLA */
    int64_t qk_nope_head_dim;
    int64_t qk_rope_head_dim;
    int64_t v_head_dim;     /**< elements of a head of V; without MLA, 0: as many as of K */
    int64_t index_topk;     /**< keys that a query attends to, chosen by an indexer; 0: all */
    int64_t index_heads;    /**< heads of the indexer */
    int64_t index_head_dim; /**< elements of an index key, of which each token has one */
    int64_t block_keys;     /**< keys of a block, of which an indexer chooses some for a query */
    int64_t block_topk;     /**< such blocks for each head of the indexer */
    bool native_sparse;     /**< attention has three branches: what stands for each block, the keys
                                 of chosen blocks, and the last `window` keys */
    struct roof_mixer mixer;
    struct roof_tower tower;
    struct roof_audio audio;
    int64_t experts;
    int64_t top_k;
    int64_t zero_experts;  /**< additional experts that compute nothing; a token chooses among all,
                                on average top_k of the others */
    int64_t expert_groups; /**< a token chooses some groups of experts first; 0: it does not */
    int64_t group_topk;    /**< groups that a token chooses, and its experts among theirs */
    int64_t expert_intermediate;
    int64_t expert_latent;       /**< elements of a token that routed experts work on; 0: hidden */
    bool latent_norm;            /**< a norm of that, after the experts */
    int64_t shared_intermediate; /**< width of all shared experts together */
    bool tied;                   /**< lm_head is the table of the embedding */
    bool gated;                  /**< the MLP has a gate (SwiGLU, GeGLU) */
    bool layernorm;              /**< with mean and bias; else RMSNorm */
    bool norm_gain;              /**< norms have a gain (and layer norms a bias) */
    bool qkv_bias;
    bool o_bias;
    bool mlp_bias;
    bool head_bias; /**< lm_head has a bias (Phi), even if its matrix is that of the embedding */
    bool expert_bias;
    bool router_bias;
    bool qk_norm;      /**< a norm over each head of Q and K */
    bool bare_qk_norm; /**< that norm has no gain, and only layers that rotate heads have it */
    bool wide_norm;    /**< that norm is over all heads at once */
    bool mlp_beside;   /**< layers with experts also have the dense MLP in parallel, with its own
                            norms */
    bool no_pre_norms; /**< no norms before attention and MLP */
    bool key_is_value; /**< one head of K, which is V, too (DeepSeek-V4) */
    bool value_norm;   /**< a norm without gain over each head of V */
    bool latent_nope;  /**< MLA: nothing is rotated */
    bool latent_gate;  /**< MLA: a gate of each element, from the hidden states, on the output */
    bool head_gate;    /**< a gate per head, from the hidden states, on the output of attention */
    bool query_gate;   /**< the product of Q also makes as many gates, which multiply the output of
                            the attention */
    bool post_norms;   /**< norms after the attention and the MLP too */
    /** Attention and MLP have the same input, and their results are added at once. */
    bool parallel;
    bool own_norms; /**< parallel, each with an input norm of its own; else they share one */
    /** Windowed layers see the keys of their chunk: the sequence is cut into chunks of `window`
     * tokens. */
    bool chunked;
    bool sinks;        /**< a learned scalar per head in the softmax */
    bool window_sinks; /**< such scalars, only in layers with a window */
    bool shared_gate;  /**< a gate vector on the shared expert */
    /** The formats of weights outside the layers (embedding, norm, lm_head); AUTO leaves them to
     * the request. */
    int8_t format[ROOF_WEIGHT_COUNT];
    struct roof_layer layer[ROOF_LAYERS_MAX]; /**< the classes, in order of first use */
    int64_t layer_classes;
    int16_t layer_class[ROOF_LAYERS_MAX]; /**< the class of each layer */
    bool fp4_experts; /**< beside FP8, a checkpoint has its routed experts in MXFP4 */
    enum roof_precision activations; /**< their format in a layout; AUTO: the question decides */
    bool narrow_inputs; /**< products of weights that are only stored (int4) read the activations of
                             the layout, not 16 bits: kernels convert the weights to that format */
    enum roof_precision kv; /**< the cache's format in a layout; AUTO: the question decides */
    bool stored;            /**< formats and bytes come from a file of weights */
    bool gguf;              /**< that file is a GGUF file */
    double file_bytes; /**< bytes of all tensors that belong to the graph; NAN: no file was read */
    void *private_data;
};

/* Each returns a size of a layer: heads of Q; KV heads on one of tp devices; elements of a head of
 * K, and of V where the attention is not MLA; the width of the dense MLP. */
int64_t roof_heads(const struct roof_model *model, const struct roof_layer *layer);
int64_t roof_kv_heads(const struct roof_model *model, const struct roof_layer *layer, int64_t tp);
int64_t roof_head_dim(const struct roof_model *model, const struct roof_layer *layer);
int64_t roof_value_dim(const struct roof_model *model, const struct roof_layer *layer);
int64_t roof_intermediate(const struct roof_model *model, const struct roof_layer *layer);
/** Returns the elements of a token that routed experts work on. */
int64_t roof_expert_hidden(const struct roof_model *model);

/** Tells whether a layer has an indexer that chooses keys of latent attention. */
bool roof_chooses_keys(const struct roof_model *model, const struct roof_layer *layer);

/** Releases a model; NULL is fine. */
void roof_model_free(struct roof_model *model);
/** Copies a model, so that formats can be changed. The copy borrows strings of the model, which
 * must outlive it. Returns NULL when out of memory. */
struct roof_model *roof_model_copy(const struct roof_model *model);
/** Resets the formats of file or layout, so that the question decides again. */
void roof_model_forget_formats(struct roof_model *model);
/** Returns "MLA", "MHA", "GQA" or "MQA". */
const char *roof_attention_name(const struct roof_model *model);

/** A model with figures that are computed from it: a row of the table of models. */
struct roof_model_entry {
    const struct roof_model *model;
    double parameters;
    double active_parameters;
    double kv_bytes_per_token; /**< at 16 bits */
};

#endif
