// SPDX-License-Identifier: MIT
/*
 * The parts of the reader of config.json (config.h): its values, sizes, family, layers, and unknown
 * keys.
 */
#ifndef ROOF_MODEL_CONFIG_PARTS_H
#define ROOF_MODEL_CONFIG_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "model/model.h"

/* Features of model classes of the transformers library that their config does not have. */
enum {
    QKV_BIAS = 1 << 0,
    O_BIAS = 1 << 1,
    MLP_BIAS = 1 << 2,
    LAYERNORM = 1 << 3,
    UNGATED = 1 << 4,
    QK_NORM = 1 << 5,
    POST_NORMS = 1 << 6,
    TIED = 1 << 7,
    LEARNED = 1 << 8, /* positions are a learned table */
    SINKS = 1 << 9,
    EXPERT_BIAS = 1 << 10,
    ROUTER_BIAS = 1 << 11,
    WINDOW_ASKED = 1 << 12, /* sliding_window counts only with use_sliding_window */
    SHARED_GATE = 1 << 13,
    PARALLEL = 1 << 14,
    OWN_NORMS = 1 << 15, /* parallel with a norm each */
    HEAD_BIAS = 1 << 16,
    QUERY_GATE = 1 << 17,
    QUARTER_ROPE = 1 << 18, /* a quarter of each head is rotated */
    NO_ROPE = 1 << 19,
    ONE_PART = 1 << 20,     /* a layer is attention, or a state, or an MLP */
    BESIDE = 1 << 21,       /* a state parallel to attention in each layer */
    WIDE_QK_NORM = 1 << 22, /* one norm over all heads of Q, and of K */
    POST_ONLY = 1 << 23,    /* norms only after attention and MLP */
    OWN_WINDOWS = 1 << 24,  /* layers with a window have another number of KV heads, and V another
                               size than K */
    CHUNKS = 1 << 25,       /* layers attend within chunks, and MLPs have two widths (Llama 4) */
    GEMMA4 = 1 << 26,       /* layers without a window have heads of another size (Gemma 4) */
    HEAD_LISTS = 1 << 27,   /* layers differ in their heads, each with a gate (Laguna) */
    BLOCKS = 1 << 29,       /* a query sees chosen blocks of keys (MiniMax-M3) */
    NO_O_BIAS = 1 << 30,    /* attention_bias covers only Q, K and V */
    COMPRESSED = 1 << 28,   /* keys are compressed, and the residual has streams (DeepSeek-V4) */
    BIASES = QKV_BIAS | O_BIAS | MLP_BIAS
};

struct family {
    const char *type;
    unsigned flags;
    int window_pattern;  /* every n-th layer is global; 0: the window is on every layer */
    int position_offset; /* rows of the table beyond max_position_embeddings */
    enum roof_mixer_kind mixer;
    bool altup;         /* the residual has streams that layers predict (Gemma 3n) */
    bool native_sparse; /* attention has three branches (NSA) */
    bool crossed;       /* some layers attend to images (Llama 3.2 Vision) */
    bool shares_choice; /* some layers reuse the keys that an earlier one chose (GLM-5.2) */
    bool doubled; /* a layer of the config is two, of which the first has experts, too (LongCat) */
};

/* These values are not fields of the model. */
struct extra {
    int64_t shared_experts;
    int64_t first_dense;
    int64_t sparse_step;
    int64_t moe_frequency;
    int64_t interleave;
    int64_t window_pattern;
    int64_t max_window_layers;
    int64_t interval;         /* every n-th layer has attention, the others a state */
    int64_t last_moe;         /* the last layer that may have experts; -1 or 0: the last of all */
    int64_t rotary_dim;       /* elements of a head that are rotated; 0: by their fraction */
    int64_t attention_period; /* layers with attention: the offset, and every period after it */
    int64_t attention_offset;
    int64_t expert_period; /* layers with experts */
    int64_t expert_offset;
    int64_t state_width;  /* of all heads with a state */
    int64_t state_expand; /* that width over hidden */
    int64_t projection;   /* word_embed_proj_dim */
};

struct reading {
    struct roof_model model;
    struct extra extra;
    double rotary; /* the fraction of a head that is rotated */
};

#define M(field) offsetof(struct roof_model, field)

struct config {
    struct roof_model *model;
    const struct roof_json *json;
    const roof_json_value *root;
    const roof_json_value *text; /* the language model's object: text_config, or the root */
    struct roof_error *error;
    const struct family *family;
    const roof_json_value *stranger; /* a model_type that no family has; NULL: one has it */
    const roof_json_value *no_flag;  /* the first value that is not a boolean but should be */
};

/* --- values -------------------------------------------------------------------------------- */

/* Returns a member of the language model's object, else of the root; null counts as absent. */
const roof_json_value *roof_config_member(const struct config *c, const char *key);
/* Returns the member of an object whose name is the first of its spellings that the object has;
 * null counts as absent. Names end with NULL if there are fewer than count. */
const roof_json_value *roof_config_spelled(const roof_json_value *object, const char *const *names,
                                           size_t count);
/* Tells whether a config has a key, if only with null. */
bool roof_config_has(const struct config *c, const char *key);
enum roof_status roof_config_integer(int64_t *out, const struct config *c,
                                     const roof_json_value *value, const char *name, int64_t min,
                                     int64_t max);
/* Reads a flag of the config; without the key the default of the class holds. The first value that
 * is not a flag is remembered, and refused later. */
bool roof_config_flag(struct config *c, const char *key, bool otherwise);

/* --- parts --------------------------------------------------------------------------------- */

/* Reads the sizes, with the defaults of the family. */
enum roof_status roof_config_sizes(struct reading *out, struct config *c);
/* Tells whether a config has the key of a field of the model, in any spelling. */
bool roof_config_has_size(const struct config *c, size_t offset);
/* Returns the member of a key, in any spelling; `name` is the first one, or no size. */
const roof_json_value *roof_config_any_spelling(const struct config *c, const char *name);
/* Tells whether a config has the key of a size in any spelling, if only with null, or its class has
 * a value. `name` is the first spelling. */
bool roof_config_has_value(const struct reading *r, const struct config *c, const char *name);
/* Tells whether a key is a spelling of a size. */
bool roof_config_is_size(const char *key);

enum roof_status roof_config_family(struct config *c);
/* Refuses a config of an unknown model_type because of a key, and names similar families. */
enum roof_status roof_config_stranger(const struct config *c, const roof_json_value *at,
                                      const char *key, const char *what);
/* Reads a config of an unknown model_type as a decoder like Llama, with a note, if its keys are
 * those of a plain decoder; refuses any other. */
enum roof_status roof_config_plain(const struct reading *r, const struct config *c);
/* Refuses models that are not decoders of attention and MLP layers. */
enum roof_status roof_config_refuse(struct config *c);
enum roof_status roof_config_check(const struct reading *r, const struct config *c);
/* Refuses keys that have an effect only together with another one, which is missing. */
enum roof_status roof_config_partners(const struct reading *r, const struct config *c);
/* Sets the details that follow from the family, and the flags of the config that override them. */
void roof_config_architecture(struct roof_model *m, struct config *c);
enum roof_status roof_config_positions(struct roof_model *m, const struct config *c);
enum roof_status roof_config_rotary(double *out, const struct config *c);
void roof_config_rotary_dim(struct roof_model *m, const struct config *c,
                            const struct reading *reading);

/* Reads the layers, one by one, and puts the results into the model. */
enum roof_status roof_config_layers(struct reading *r, struct config *c);

/* Reads the vision encoder into the model, or notes that it is not counted. */
enum roof_status roof_config_tower(const struct config *c);

/* Reads the audio encoder into the model, or notes that it is not counted. */
enum roof_status roof_config_audio(const struct config *c);

/* Leaves out layers for multi-token prediction that are not like the last layer, with a note. */
void roof_config_drop_predictors(struct reading *r, struct config *c);

/* Reads which layers attend within chunks, and the widths of MLPs and experts. */
enum roof_status roof_config_chunks(struct roof_layer *layer, struct reading *r,
                                    const struct config *c);
/* Puts experts into the layers that moe_layers names, if a config has it. */
enum roof_status roof_config_chunk_experts(struct roof_layer *layer, const struct roof_model *m,
                                           const struct config *c);

/* Tells whether a key is read for the family of a config, if its layers differ in size. */
bool roof_config_own_key(const struct config *c, const char *key);
/* Each reads the sizes that differ between layers in a family: DeepSeek-V4, Gemma 4, Laguna. */
enum roof_status roof_config_compressed(struct roof_layer *layer, struct reading *r,
                                        struct config *c);
enum roof_status roof_config_blocks(struct roof_layer *layer, struct reading *r, struct config *c);
enum roof_status roof_config_gemma4(struct roof_layer *layer, struct reading *r, struct config *c);
enum roof_status roof_config_gemma3n(struct roof_layer *layer, struct reading *r,
                                     const struct config *c);
enum roof_status roof_config_head_lists(struct roof_layer *layer, struct reading *r,
                                        const struct config *c);
/* Reads the blocks and the window of native sparse attention. */
enum roof_status roof_config_native_sparse(struct reading *r, struct config *c);
/* Reads which layers reuse the keys that an earlier one chose. */
enum roof_status roof_config_choices(struct roof_layer *layer, const struct roof_model *m,
                                     const struct config *c);
/* Tells whether a key is read for families with such layers. */
bool roof_config_choice_key(const char *key);
/* Reads which layers attend to images. */
enum roof_status roof_config_crossed(struct roof_layer *layer, struct reading *r,
                                     const struct config *c);
/* Reads the experts of a family whose layers are two each. */
enum roof_status roof_config_doubled(struct roof_layer *layer, struct reading *r,
                                     const struct config *c);
/* Takes experts away from the dense layers of such a family. */
enum roof_status roof_config_own_experts(struct roof_layer *layer, const struct roof_model *m,
                                         const struct config *c);

/* Finds the layers with a state, if no list of types has them. */
enum roof_status roof_config_mixer(struct roof_layer *layer, struct reading *r, struct config *c);
/* Sets the kind of a layer by a word of a list of layers; false for an unknown word. */
bool roof_config_layer_word(struct roof_layer *layer, const struct config *c, const char *word);
/* Fills in and checks the sizes of the state. */
enum roof_status roof_config_mixer_sizes(struct roof_model *m, const struct reading *r,
                                         struct config *c);

/* Tells whether a key is one of count patterns, in which a star stands for any characters. */
bool roof_config_key_in(const char *key, const char *const *patterns, size_t count);
/* Unknown keys of some objects, each once; there may be thousands. */
#define UNKNOWN_KEYS_MAX 32
struct unknown_keys {
    const char *key[UNKNOWN_KEYS_MAX];
    size_t count;
    bool more; /* there are others */
};
/* Adds the members of an object that are none of the known patterns and say something. */
void roof_config_add_unknown(struct unknown_keys *out, const roof_json_value *object,
                             const char *const *known, size_t count);
/* Adds a note with unknown keys, if there are any; `name` is that of their object. */
enum roof_status roof_config_note_unknown(const struct config *c,
                                          const struct unknown_keys *unknown, const char *name);
/* Adds a note with the members of an object that are none of the known patterns and say something;
 * `name` is that of the object. */
enum roof_status roof_config_note_members(const struct config *c, const roof_json_value *object,
                                          const char *name, const char *const *known, size_t count);
/* Returns the quant_algo of a quantisation, an object of a config; W4A16 if all groups of
 * compressed-tensors that have weights store INT4 and convert no inputs; NULL: none. */
const char *roof_config_algorithm(const roof_json_value *q);
/* Adds a note with the keys of a quantisation that are not known. */
enum roof_status roof_config_note_quantization(struct roof_model *model,
                                               const roof_json_value *quantization,
                                               struct roof_error *error);
/* Tells whether a value means nothing: null, false, 0, or an empty text or list. */
bool roof_config_says_nothing(const roof_json_value *value);
/* Refuses a key that changes the architecture and that no part reads; notes a key whose meaning is
 * unknown. */
enum roof_status roof_config_keys(const struct config *c);
/* Refuses NaN and infinities, which are read as null, in keys that set a shape. */
enum roof_status roof_config_finite(const struct config *c);

#endif
