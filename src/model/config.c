// SPDX-License-Identifier: MIT
#include "model/config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "catalog/registry.h"
#include "model/load.h"
#include "model/model_make.h"

/* --- tables -------------------------------------------------------------------------------- */

/* Model classes of the transformers library do these things without saying so in their config. */
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
    BIASES = QKV_BIAS | O_BIAS | MLP_BIAS
};

static const struct family {
    const char *type;
    unsigned flags;
    int window_pattern;  /* every n-th layer is global; 0: the window is on every layer */
    int position_offset; /* rows of the table beyond max_position_embeddings */
} families[] = {
    {"llama", 0, 0, 0},
    {"mistral", 0, 0, 0},
    {"mixtral", 0, 0, 0},
    {"internlm2", 0, 0, 0},
    {"granite", 0, 0, 0},
    {"smollm3", TIED, 0, 0},
    {"qwen2", QKV_BIAS | WINDOW_ASKED, 0, 0},
    {"qwen2_moe", QKV_BIAS | WINDOW_ASKED | SHARED_GATE, 0, 0},
    {"qwen3", QK_NORM | WINDOW_ASKED, 0, 0},
    {"qwen3_moe", QK_NORM | WINDOW_ASKED, 0, 0},
    {"gemma", TIED, 0, 0},
    {"gemma2", TIED | POST_NORMS, 2, 0},
    {"gemma3", TIED | POST_NORMS | QK_NORM, 6, 0},
    {"gemma3_text", TIED | POST_NORMS | QK_NORM, 6, 0},
    {"phi3", 0, 0, 0},
    {"phi", BIASES | HEAD_BIAS | LAYERNORM | UNGATED | PARALLEL, 0, 0},
    {"gpt_neox", BIASES | LAYERNORM | UNGATED | PARALLEL | OWN_NORMS, 0, 0},
    {"gpt2", BIASES | LAYERNORM | UNGATED | TIED | LEARNED, 0, 0},
    {"opt", BIASES | LAYERNORM | UNGATED | TIED | LEARNED, 0, 2},
    {"starcoder2", BIASES | LAYERNORM | UNGATED | TIED, 0, 0},
    {"gpt_oss", QKV_BIAS | O_BIAS | SINKS | EXPERT_BIAS | ROUTER_BIAS, 2, 0},
    {"deepseek_v2", 0, 0, 0},
    {"deepseek_v3", ROUTER_BIAS, 0, 0},
    {"kimi_k2", ROUTER_BIAS, 0, 0},
    {"glm4_moe", QKV_BIAS | ROUTER_BIAS, 0, 0},
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
    int64_t projection; /* word_embed_proj_dim */
    int64_t vision_layers;
};

struct reading {
    struct roof_model model;
    struct extra extra;
    double rotary; /* the fraction of a head that is rotated */
};

#define KEYS_MAX 6
#define M(field) offsetof(struct roof_model, field)
#define X(field) (sizeof(struct roof_model) + offsetof(struct extra, field))
#define SIZE_MAX_VALUE 1000000000

static const struct key {
    size_t offset; /* into the model, or behind it into struct extra */
    bool required;
    int64_t min;
    int64_t max;
    const char *names[KEYS_MAX]; /* spellings, the first is the one to name */
} keys[] = {
    {M(hidden), true, 0, SIZE_MAX_VALUE, {"hidden_size", "n_embd", "d_model", "n_embed"}},
    {M(layers),
     true,
     0,
     ROOF_LAYERS_MAX,
     {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}},
    {M(heads), true, 0, SIZE_MAX_VALUE, {"num_attention_heads", "n_head", "n_heads"}},
    {M(vocab), true, 0, SIZE_MAX_VALUE, {"vocab_size", "padded_vocab_size"}},
    {M(kv_heads), false, 1, SIZE_MAX_VALUE, {"num_key_value_heads", "num_kv_heads", "n_head_kv"}},
    {M(head_dim), false, 0, SIZE_MAX_VALUE, {"head_dim"}},
    {M(intermediate),
     false,
     0,
     SIZE_MAX_VALUE,
     {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"}},
    {M(positions),
     false,
     0,
     SIZE_MAX_VALUE,
     {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"}},
    {M(window), false, 0, SIZE_MAX_VALUE, {"sliding_window"}},
    {M(q_lora_rank), false, 0, SIZE_MAX_VALUE, {"q_lora_rank"}},
    {M(kv_lora_rank), false, 0, SIZE_MAX_VALUE, {"kv_lora_rank"}},
    {M(qk_nope_head_dim), false, 0, SIZE_MAX_VALUE, {"qk_nope_head_dim"}},
    {M(qk_rope_head_dim), false, 0, SIZE_MAX_VALUE, {"qk_rope_head_dim"}},
    {M(v_head_dim), false, 0, SIZE_MAX_VALUE, {"v_head_dim"}},
    {M(experts),
     false,
     0,
     SIZE_MAX_VALUE,
     {"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"}},
    {M(top_k),
     false,
     0,
     SIZE_MAX_VALUE,
     {"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk", "moe_top_k",
      "moe_k"}},
    {M(expert_intermediate),
     false,
     0,
     SIZE_MAX_VALUE,
     {"moe_intermediate_size", "expert_ffn_hidden_size"}},
    {M(shared_intermediate), false, 0, SIZE_MAX_VALUE, {"shared_expert_intermediate_size"}},
    {X(shared_experts), false, 0, 1000, {"n_shared_experts", "num_shared_experts"}},
    {M(predict_layers), false, 0, ROOF_LAYERS_MAX, {"num_nextn_predict_layers"}},
    {X(first_dense), false, 0, ROOF_LAYERS_MAX, {"first_k_dense_replace"}},
    {X(sparse_step), false, 1, ROOF_LAYERS_MAX, {"decoder_sparse_step"}},
    {X(interleave), false, 0, ROOF_LAYERS_MAX, {"interleave_moe_layer_step"}},
    {X(window_pattern), false, 0, ROOF_LAYERS_MAX, {"sliding_window_pattern"}},
    {X(max_window_layers), false, 0, SIZE_MAX_VALUE, {"max_window_layers"}},
    {X(projection), false, 0, SIZE_MAX_VALUE, {"word_embed_proj_dim"}},
};

/* Classes set these values when published configs leave them out: huggingface/transformers,
 * configuration_gemma3.py (Gemma3TextConfig), configuration_qwen2.py and its siblings. */
static const struct {
    const char *type;
    size_t offset;
    int64_t value;
} defaults[] = {{"qwen2", X(max_window_layers), 28}, {"qwen2_moe", X(max_window_layers), 28},
                {"qwen3", X(max_window_layers), 28}, {"qwen3_moe", X(max_window_layers), 28},
                {"gemma3", M(vocab), 262208},        {"gemma3", M(heads), 8},
                {"gemma3", M(kv_heads), 4},          {"gemma3", M(head_dim), 256},
                {"gemma3_text", M(vocab), 262208},   {"gemma3_text", M(heads), 8},
                {"gemma3_text", M(kv_heads), 4},     {"gemma3_text", M(head_dim), 256}};

/* --- values -------------------------------------------------------------------------------- */

struct config {
    struct roof_model *model;
    const struct roof_json *json;
    const roof_json_value *root;
    const roof_json_value *text; /* the language model's object: text_config, or the root */
    struct roof_error *error;
    const struct family *family;
    const roof_json_value *no_flag; /* the first value that should be true or false */
};

/* Returns the value at an offset of a row of keys[] or defaults[]. */
static int64_t *field(struct reading *reading, size_t offset)
{
    return (int64_t *)(void *)((char *)reading + offset);
}

/* Returns a member of the language model's object, else of the root; null counts as absent. */
static const roof_json_value *find_member(const struct config *c, const char *key)
{
    const roof_json_value *value = roof_json_get(c->text, key);
    if (value == NULL || roof_json_is_null(value)) {
        value = roof_json_get(c->root, key);
    }
    return value == NULL || roof_json_is_null(value) ? NULL : value;
}

/* Tells whether a config has a key, if only with null. */
static bool has_key(const struct config *c, const char *key)
{
    return roof_json_get(c->text, key) != NULL || roof_json_get(c->root, key) != NULL;
}

/* Tells whether a config has the key of a field, in any spelling. */
static bool has_field(const struct config *c, size_t offset)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        for (size_t k = 0; keys[i].offset == offset && k < KEYS_MAX && keys[i].names[k] != NULL;
             k++) {
            if (has_key(c, keys[i].names[k])) {
                return true;
            }
        }
    }
    return false;
}

static enum roof_status read_integer(int64_t *out, const struct config *c,
                                     const roof_json_value *value, const char *name, int64_t min,
                                     int64_t max)
{
    double number = 0;
    if (!roof_json_number(&number, value) || number != floor(number) || number < (double)min ||
        number > (double)max) {
        return roof_json_error(c->json, value, c->error,
                               "%s must be an integer from %" PRId64 " to %" PRId64, name, min,
                               max);
    }
    *out = (int64_t)number;
    return ROOF_OK;
}

/* Finds another spelling of a size with another value. Positions and vocabularies may have several
 * meanings. */
static const roof_json_value *find_contradiction(const struct config *c, const struct key *key,
                                                 int64_t value)
{
    const bool size = key->offset != M(vocab) && key->offset != M(positions);
    for (size_t k = 0; size && k < KEYS_MAX && key->names[k] != NULL; k++) {
        const roof_json_value *const other = roof_json_get(c->text, key->names[k]);
        double number = 0;
        if (roof_json_number(&number, other) && number != (double)value) {
            return other;
        }
    }
    return NULL;
}

/* Reads a key in the first of its spellings that the config has. */
static enum roof_status read_key(int64_t *out, const struct config *c, const struct key *key)
{
    const roof_json_value *value = NULL;
    const char *name = NULL;
    for (size_t k = 0; k < KEYS_MAX && key->names[k] != NULL && value == NULL; k++) {
        name = key->names[k];
        value = find_member(c, name);
    }
    if (value == NULL) {
        return ROOF_OK;
    }
    TRY(read_integer(out, c, value, name, key->min, key->max));
    const roof_json_value *const other = find_contradiction(c, key, *out);
    return other == NULL ? ROOF_OK
                         : roof_json_error(c->json, other, c->error, "%s is not the %s of %" PRId64,
                                           roof_json_key(other), name, *out);
}

static enum roof_status read_keys(struct reading *out, const struct config *c)
{
    char missing[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < COUNT(defaults); i++) {
        if (strcmp(defaults[i].type, c->family->type) == 0) {
            *field(out, defaults[i].offset) = defaults[i].value;
        }
    }
    for (size_t i = 0; i < COUNT(keys); i++) {
        int64_t *const value = field(out, keys[i].offset);
        TRY(read_key(value, c, &keys[i]));
        if (keys[i].required && *value == 0) {
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s",
                                     used == 0 ? "" : ", ", keys[i].names[0]);
        }
    }
    return used == 0
               ? ROOF_OK
               : roof_json_error(c->json, c->text, c->error,
                                 "not the config.json of a transformer: %s missing, or 0", missing);
}

/* Reads a flag of the config; a class does otherwise when its config says nothing. The first value
 * that is no flag is remembered, and refused later. */
static bool read_flag(struct config *c, const char *key, bool otherwise)
{
    const roof_json_value *const value = find_member(c, key);
    if (value != NULL && !roof_json_boolean(&otherwise, value) && c->no_flag == NULL) {
        c->no_flag = value;
    }
    return otherwise;
}

/* --- the architecture ---------------------------------------------------------------------- */

static enum roof_status note_unknown_type(struct config *c, const char *type)
{
    struct roof_text remark = ROOF_TEXT_INIT;
    roof_text_printf(
        &remark,
        "%s%s: taken for a decoder like Llama (pre-norm, gated MLP, no biases unless the "
        "config says so); check the parameters",
        type == NULL ? "no model_type" : "unknown model_type ", type == NULL ? "" : type);
    if (remark.failed) {
        roof_text_free(&remark);
        return roof_no_memory(c->error);
    }
    roof_model_note(c->model, roof_model_own(c->model, remark.data));
    return ROOF_OK;
}

static enum roof_status find_family(struct config *c)
{
    const char *type = roof_json_line(roof_json_get(c->text, "model_type"));
    if (type == NULL) {
        type = roof_json_line(roof_json_get(c->root, "model_type"));
    }
    for (size_t i = 0; type != NULL && i < COUNT(families); i++) {
        if (strcmp(type, families[i].type) == 0) {
            c->family = &families[i];
            return ROOF_OK;
        }
    }
    c->family = &families[0];
    return note_unknown_type(c, type);
}

/* Models of these types have layers, projections or shared parts that differ in ways that their
 * config does not say. */
static const char *const refused_types[] = {
    "falcon",     "bloom",      "mpt",        "gptj",   "gpt_bigcode",  "codegen",
    "chatglm",    "qwen",       "baichuan",   "cohere", "cohere2",      "command-r",
    "dbrx",       "llama4",     "olmo2",      "bert",   "roberta",      "albert",
    "electra",    "distilbert", "modernbert", "t5",     "bart",         "mamba",
    "mamba2",     "rwkv",       "jamba",      "zamba2", "nemotron_h",   "granitemoehybrid",
    "qwen3_next", "minimax",    "openelm",    "deci",   "nemotron-nas", "gemma3n",
    "vit",        "clip"};

/* Only models that are not made of attention and MLP alone have these keys. */
static const char *const refused_keys[] = {"ssm_cfg",        "mamba_d_state",        "state_size",
                                           "conv_kernel",    "linear_num_key_heads", "rnn_width",
                                           "encoder_layers", "num_encoder_layers"};

static enum roof_status refuse_type(const struct config *c, const roof_json_value *value)
{
    const char *const type = roof_json_string(value);
    if (type == NULL && value != NULL && !roof_json_is_null(value)) {
        return roof_json_error(c->json, value, c->error, "model_type must be a string");
    }
    for (size_t i = 0; i < COUNT(refused_types) && type != NULL; i++) {
        const size_t length = strlen(refused_types[i]); /* nested ones end in _text */
        if (strncmp(type, refused_types[i], length) == 0 &&
            (type[length] == '\0' || strcmp(type + length, "_text") == 0)) {
            return roof_json_error(c->json, value, c->error,
                                   "the architecture of model_type %s is not known", type);
        }
    }
    return ROOF_OK;
}

/* Refuses models that are not decoders of attention and MLP layers. */
static enum roof_status refuse_others(struct config *c)
{
    TRY(refuse_type(c, roof_json_get(c->text, "model_type")));
    TRY(refuse_type(c, roof_json_get(c->root, "model_type")));
    for (size_t i = 0; i < COUNT(refused_keys); i++) {
        const roof_json_value *const value = find_member(c, refused_keys[i]);
        if (value != NULL) {
            return roof_json_error(c->json, value, c->error,
                                   "only decoders of attention and MLP layers are known; this "
                                   "model has %s",
                                   refused_keys[i]);
        }
    }
    return read_flag(c, "is_encoder_decoder", false)
               ? roof_json_error(c->json, find_member(c, "is_encoder_decoder"), c->error,
                                 "only decoders are known, not encoder-decoder models")
               : ROOF_OK;
}

static enum roof_status check_sizes(const struct reading *r, const struct config *c)
{
    const struct roof_model *const m = &r->model;
    if (r->extra.projection > 0 && r->extra.projection != m->hidden) {
        return roof_json_error(c->json, find_member(c, "word_embed_proj_dim"), c->error,
                               "word_embed_proj_dim other than hidden_size is not known");
    }
    if ((m->q_lora_rank > 0 || m->qk_nope_head_dim > 0) && m->kv_lora_rank == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "latent attention without kv_lora_rank is not known");
    }
    return ROOF_OK;
}

static void put_biases(struct roof_model *m, struct config *c)
{
    const unsigned flags = c->family->flags;
    /* attention_bias speaks of all four projections; classes differ in what is the default. */
    m->qkv_bias = read_flag(c, "attention_bias", (flags & QKV_BIAS) != 0);
    m->o_bias = read_flag(c, "attention_bias", (flags & O_BIAS) != 0) &&
                strcmp(c->family->type, "glm4_moe") != 0;
    m->mlp_bias = read_flag(c, "mlp_bias", (flags & MLP_BIAS) != 0);
    if (find_member(c, "use_bias") != NULL) {
        m->qkv_bias = m->o_bias = m->mlp_bias = read_flag(c, "use_bias", false);
    }
    m->head_bias = (flags & HEAD_BIAS) != 0;
    m->expert_bias = (flags & EXPERT_BIAS) != 0;
    m->router_bias = (flags & ROUTER_BIAS) != 0;
}

static void put_architecture(struct roof_model *m, struct config *c)
{
    const unsigned flags = c->family->flags;
    if (read_flag(c, "multi_query", false)) {
        m->kv_heads = 1;
    }
    put_biases(m, c);
    m->qk_norm = read_flag(c, "use_qk_norm", (flags & QK_NORM) != 0);
    m->tied = read_flag(c, "tie_word_embeddings", (flags & TIED) != 0);
    m->gated = (flags & UNGATED) == 0;
    m->layernorm = (flags & LAYERNORM) != 0;
    m->norm_gain = read_flag(c, "layer_norm_elementwise_affine", true);
    m->post_norms = (flags & POST_NORMS) != 0;
    m->sinks = (flags & SINKS) != 0;
    m->shared_gate = (flags & SHARED_GATE) != 0;
    m->parallel = (flags & PARALLEL) != 0 && read_flag(c, "use_parallel_residual", true);
    m->own_norms = m->parallel && (flags & OWN_NORMS) != 0;
}

static enum roof_status put_positions(struct roof_model *m, const struct config *c)
{
    if ((c->family->flags & LEARNED) == 0) {
        return ROOF_OK;
    }
    if (m->positions == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "max_position_embeddings missing, or 0: it has a table of "
                               "positions");
    }
    m->position_rows = m->positions + c->family->position_offset;
    if (m->intermediate == 0) {
        m->intermediate = 4 * m->hidden; /* GPT-2: n_inner is absent or null */
    }
    return ROOF_OK;
}

static enum roof_status read_rotary(double *out, const struct config *c)
{
    const roof_json_value *value = find_member(c, "partial_rotary_factor");
    value = value == NULL ? find_member(c, "rotary_pct") : value;
    *out = 1;
    if (value != NULL && !(roof_json_number(out, value) && *out > 0 && *out <= 1)) {
        return roof_json_error(c->json, value, c->error, "%s must be a number above 0, up to 1",
                               roof_json_key(value));
    }
    return ROOF_OK;
}

static void put_rotary_dim(struct roof_model *m, const struct config *c, double rotary)
{
    if (m->kv_lora_rank == 0 && (c->family->flags & LEARNED) == 0) {
        const double dim = rotary * (double)m->head_dim;
        m->rotary_dim = dim >= 2 && dim <= (double)m->head_dim ? (int64_t)dim : m->head_dim;
    }
}

/* --- layers -------------------------------------------------------------------------------- */

/* Reads which layers have a window from layer_types; asked: windows are in use. */
static enum roof_status read_layer_types(struct roof_layer *layer, const struct roof_model *m,
                                         const struct config *c, const roof_json_value *types,
                                         bool asked)
{
    int64_t i = 0;
    if (!roof_json_is_array(types) || roof_json_count(types) != (size_t)m->layers) {
        return roof_json_error(c->json, types, c->error,
                               "layer_types must be an array with a name for each of the "
                               "%" PRId64 " layers",
                               m->layers);
    }
    for (const roof_json_value *item = roof_json_first(types); item != NULL;
         item = roof_json_next(item), i++) {
        const char *const type = roof_json_string(item);
        const bool sliding = type != NULL && strcmp(type, "sliding_attention") == 0;
        if (type == NULL || (!sliding && strcmp(type, "full_attention") != 0)) {
            return roof_json_error(c->json, item, c->error,
                                   "layer_types: only full_attention and sliding_attention "
                                   "are known");
        }
        if (sliding && (!asked || !has_key(c, "sliding_window"))) {
            return roof_json_error(
                c->json, item, c->error, "layer_types has sliding_attention, and %s",
                asked ? "sliding_window is missing" : "use_sliding_window is not true");
        }
        layer[i].windowed = sliding && m->window > 0;
    }
    return ROOF_OK;
}

static enum roof_status read_windows(struct roof_layer *layer, const struct reading *r,
                                     struct config *c)
{
    const struct roof_model *const m = &r->model;
    const roof_json_value *const types = find_member(c, "layer_types");
    const bool from_some_layer = (c->family->flags & WINDOW_ASKED) != 0;
    const bool asked = read_flag(c, "use_sliding_window", !from_some_layer);
    if (types != NULL) {
        return read_layer_types(layer, m, c, types, asked);
    }
    if (m->window == 0 || !asked) {
        return ROOF_OK;
    }
    const int64_t pattern =
        r->extra.window_pattern > 0 ? r->extra.window_pattern : c->family->window_pattern;
    for (int64_t i = from_some_layer ? r->extra.max_window_layers : 0; i < m->layers; i++) {
        layer[i].windowed = pattern == 0 || (i + 1) % pattern != 0;
    }
    return ROOF_OK;
}

/* Puts experts into the layers that several keys agree on. */
static enum roof_status put_experts(struct roof_layer *layer, struct reading *r,
                                    const struct config *c)
{
    const int64_t layers = r->model.layers;
    struct extra *const x = &r->extra;
    const roof_json_value *const frequency = find_member(c, "moe_layer_freq");
    const bool list = roof_json_is_array(frequency);
    if (list && roof_json_count(frequency) != (size_t)layers) {
        return roof_json_error(
            c->json, frequency, c->error,
            "moe_layer_freq must have a number for each of the %" PRId64 " layers", layers);
    }
    if (frequency != NULL && !list) {
        TRY(read_integer(&x->moe_frequency, c, frequency, "moe_layer_freq", 0, ROOF_LAYERS_MAX));
    }
    const roof_json_value *item = list ? roof_json_first(frequency) : NULL;
    for (int64_t i = 0; i < layers; i++) {
        int64_t listed = 1;
        if (item != NULL) {
            TRY(read_integer(&listed, c, item, "moe_layer_freq", 0, 1));
            item = roof_json_next(item);
        }
        layer[i].moe = listed > 0 && i >= x->first_dense &&
                       (x->sparse_step == 0 || (i + 1) % x->sparse_step == 0) &&
                       (x->interleave == 0 || (i + 1) % x->interleave == 0) &&
                       (x->moe_frequency == 0 || i % x->moe_frequency == 0);
    }
    return ROOF_OK;
}

/* Takes experts away from the layers that mlp_only_layers names. */
static enum roof_status read_dense_layers(struct roof_layer *layer, const struct roof_model *m,
                                          const struct config *c)
{
    const roof_json_value *const dense = find_member(c, "mlp_only_layers");
    if (dense != NULL && !roof_json_is_array(dense)) {
        return roof_json_error(c->json, dense, c->error,
                               "mlp_only_layers must be an array of layer numbers");
    }
    for (const roof_json_value *item = roof_json_first(dense); item != NULL;
         item = roof_json_next(item)) {
        int64_t i = 0;
        TRY(read_integer(&i, c, item, "mlp_only_layers", 0, m->layers - 1));
        layer[i].moe = false;
    }
    return ROOF_OK;
}

static enum roof_status read_experts(struct roof_layer *layer, struct reading *r,
                                     const struct config *c)
{
    struct roof_model *const m = &r->model;
    if (m->top_k > 0 && !has_field(c, M(experts))) {
        return roof_json_error(c->json, c->text, c->error,
                               "each token chooses %" PRId64 " experts, and how many there are is "
                               "missing (num_local_experts)",
                               m->top_k);
    }
    if (m->experts < 2) { /* some dense models give 1 or 0 */
        m->experts = 0;
        m->top_k = 0;
        m->expert_intermediate = 0;
        m->shared_intermediate = 0;
        return ROOF_OK;
    }
    if (m->expert_intermediate == 0) {
        m->expert_intermediate = m->intermediate;
    }
    if (m->shared_intermediate == 0) {
        m->shared_intermediate = r->extra.shared_experts * m->expert_intermediate;
    }
    TRY(put_experts(layer, r, c));
    return read_dense_layers(layer, m, c);
}

/* Reads the layers, one by one, and puts all that was read into the model. */
static enum roof_status put_layers(struct roof_layer *layer, struct reading *r, struct config *c)
{
    roof_layers_clear(layer, r->model.layers);
    TRY(read_windows(layer, r, c));
    if (c->no_flag != NULL) {
        return roof_json_error(c->json, c->no_flag, c->error, "%s must be true or false",
                               roof_json_key(c->no_flag));
    }
    TRY(read_experts(layer, r, c));
    *c->model = r->model;
    roof_model_classes(c->model, layer);
    const enum roof_status status = roof_model_check(c->model, c->error);
    return status == ROOF_OK ? ROOF_OK
                             : roof_json_place_error(c->json, c->text, "", c->error, status);
}

static enum roof_status read_layers(struct reading *r, struct config *c)
{
    struct roof_layer *const layer = calloc(ROOF_LAYERS_MAX, sizeof *layer);
    if (layer == NULL) {
        return roof_no_memory(c->error);
    }
    const enum roof_status status = put_layers(layer, r, c);
    free(layer);
    return status;
}

/* --- the document -------------------------------------------------------------------------- */

/* Reads what the registry says of a model. */
static enum roof_status read_about(struct config *c)
{
    struct roof_model *const m = c->model;
    const roof_json_value *const about = roof_json_get(c->root, "roofline");
    const char *const name = roof_json_line(roof_json_get(about, "name"));
    const char *const confidence = roof_json_line(roof_json_get(about, "confidence"));
    m->name = name == NULL ? m->id : name;
    m->confidence = confidence == NULL ? "" : confidence;
    m->repository = roof_json_line(roof_json_get(about, "hf_id"));
    const struct {
        const char *key;
        const char *const **list;
    } lists[] = {{"notes", &m->notes}, {"sources", &m->sources}};
    for (size_t i = 0; i < COUNT(lists); i++) {
        const roof_json_value *const value = roof_json_get(about, lists[i].key);
        const char **list = NULL;
        if (value == NULL) {
            continue;
        }
        TRY(roof_json_lines(&list, c->json, value, c->error));
        if (roof_model_own(m, (char *)list) == NULL) {
            return roof_no_memory(c->error);
        }
        *lists[i].list = list;
    }
    return ROOF_OK;
}

/* Finds the object of the language model: multimodal configs nest it. */
static const roof_json_value *find_language_model(const roof_json_value *root)
{
    static const char *const names[] = {"text_config", "llm_config", "language_config"};
    const roof_json_value *const thinker = roof_json_get(root, "thinker_config");
    for (size_t i = 0; i < COUNT(names); i++) {
        const roof_json_value *const inner = roof_json_get(root, names[i]);
        const roof_json_value *const deep = roof_json_get(thinker, names[i]);
        if (roof_json_is_object(inner)) {
            return inner;
        }
        if (roof_json_is_object(deep)) {
            return deep;
        }
    }
    return root;
}

static void note_omissions(const struct config *c)
{
    if (*c->model->notes != NULL) {
        return; /* the registry says it in its own words */
    }
    if (roof_json_get(c->root, "vision_config") != NULL) {
        roof_model_note(c->model, "the language model alone; the vision tower is not counted");
    }
    if (c->model->predict_layers > 0) {
        roof_model_note_predictors(c->model);
    }
}

/* Refuses members that no prediction depends on, where their values show that the file is broken.
 */
static enum roof_status check_others(const struct config *c)
{
    const roof_json_value *const activation = find_member(c, "hidden_act");
    const roof_json_value *const scaling = find_member(c, "rope_scaling");
    const roof_json_value *const factor = roof_json_get(scaling, "factor");
    double value = 1;
    if (activation != NULL && roof_json_line(activation) == NULL) {
        return roof_json_error(c->json, activation, c->error, "hidden_act must be a string");
    }
    if (scaling != NULL && !roof_json_is_object(scaling)) {
        return roof_json_error(c->json, scaling, c->error, "rope_scaling must be an object");
    }
    if (factor != NULL && (!roof_json_number(&value, factor) || !(value > 0 && value <= 1e6))) {
        return roof_json_error(c->json, factor, c->error,
                               "factor of rope_scaling must be a number above 0, up to 1e6");
    }
    return ROOF_OK;
}

static enum roof_status read_config(struct config *c)
{
    struct reading reading = {.model = *c->model};
    TRY(find_family(c));
    TRY(refuse_others(c));
    TRY(check_others(c));
    TRY(read_keys(&reading, c));
    TRY(check_sizes(&reading, c));
    put_architecture(&reading.model, c);
    TRY(put_positions(&reading.model, c));
    TRY(read_rotary(&reading.rotary, c));
    TRY(read_layers(&reading, c));
    put_rotary_dim(c->model, c, reading.rotary);
    note_omissions(c);
    return ROOF_OK;
}

/* Names the model: by its id in the registry, else by its source. */
static enum roof_status put_id(struct config *c)
{
    const char *const source = roof_json_source(c->json);
    size_t length = 0;
    const char *const id = roof_registry_id(source, &length);
    c->model->id = id == NULL || strncmp(source, "models/", 7) != 0
                       ? source
                       : roof_model_own(c->model, strndup(id, length));
    return c->model->id == NULL ? roof_no_memory(c->error) : ROOF_OK;
}

static enum roof_status read_document(struct config *c)
{
    if (!roof_json_is_object(c->root)) {
        return roof_json_error(c->json, c->root, c->error, "a config.json is an object");
    }
    c->text = find_language_model(c->root);
    const roof_json_value *const quantization = find_member(c, "quantization_config");
    roof_model_set_quantization(c->model, quantization);
    c->model->quantization = roof_json_line(roof_json_get(quantization, "quant_method"));
    TRY(put_id(c));
    TRY(read_about(c));
    return read_config(c);
}

enum roof_status roof_config_read(struct roof_model **out, struct roof_json *json,
                                  struct roof_error *error)
{
    *out = NULL;
    struct roof_model *const model = roof_model_new();
    if (model == NULL) {
        roof_json_free(json);
        return roof_no_memory(error);
    }
    roof_model_attach(model, json);
    struct config c = {.model = model, .json = json, .root = roof_json_root(json), .error = error};
    const enum roof_status status = read_document(&c);
    if (status == ROOF_OK) {
        *out = model;
    } else {
        roof_model_free(model);
    }
    return status;
}

enum roof_status roof_model_parse(struct roof_model **out, const char *text, size_t length,
                                  const char *source, struct roof_error *error)
{
    *out = NULL;
    struct roof_json *json = NULL;
    TRY(roof_json_parse(&json, text, length, source, error));
    return roof_config_read(out, json, error);
}
