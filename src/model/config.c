// SPDX-License-Identifier: MIT
#include "roofline/config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "catalog/registry.h"
#include "model/gguf.h"
#include "model/model.h"
#include "model/safetensors.h"

/* --- config.json --------------------------------------------------------------------------- */

/* What a model class of the transformers library does that its config does not say. */
enum {
    QKV_BIAS = 1 << 0,
    O_BIAS = 1 << 1,
    MLP_BIAS = 1 << 2,
    LAYERNORM = 1 << 3,
    UNGATED = 1 << 4,
    QK_NORM = 1 << 5,
    POST_NORMS = 1 << 6,
    TIED = 1 << 7,
    LEARNED = 1 << 8, /* positions are a table */
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

struct config {
    struct roof_model *model;
    const struct roof_json *json;
    const roof_json_value *root;
    const roof_json_value *text; /* the language model's object: text_config, or the root */
    struct roof_error *error;
    const roof_json_value *no_flag; /* the first value that should be true or false */
};

/* Values that are not fields of the model. */
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
    {X(first_dense), false, 0, ROOF_LAYERS_MAX, {"first_k_dense_replace"}},
    {X(sparse_step), false, 1, ROOF_LAYERS_MAX, {"decoder_sparse_step"}},
    {X(interleave), false, 0, ROOF_LAYERS_MAX, {"interleave_moe_layer_step"}},
    {X(window_pattern), false, 0, ROOF_LAYERS_MAX, {"sliding_window_pattern"}},
    {X(max_window_layers), false, 0, SIZE_MAX_VALUE, {"max_window_layers"}},
    {X(projection), false, 0, SIZE_MAX_VALUE, {"word_embed_proj_dim"}},
};

/* A member of the language model's object, else of the root; null counts as absent. */
static const roof_json_value *member(const struct config *c, const char *key)
{
    const roof_json_value *value = roof_json_get(c->text, key);
    if (value == NULL || roof_json_is_null(value)) {
        value = roof_json_get(c->root, key);
    }
    return value == NULL || roof_json_is_null(value) ? NULL : value;
}

/* Whether a config has a key, if only with null. */
static bool said(const struct config *c, const char *key)
{
    return roof_json_get(c->text, key) != NULL || roof_json_get(c->root, key) != NULL;
}

/* The same of a field of the model, in any spelling. */
static bool said_key(const struct config *c, size_t offset)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        for (size_t k = 0; keys[i].offset == offset && k < KEYS_MAX && keys[i].names[k] != NULL;
             k++) {
            if (said(c, keys[i].names[k])) {
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

/* What a class sets when its published configs leave it out: huggingface/transformers,
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

/* Whether another spelling of a size says something else. Positions and vocabularies may have
 * several meanings. */
static const roof_json_value *other_value(const struct config *c, const struct key *key,
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

static enum roof_status read_keys(struct reading *out, const struct config *c,
                                  const struct family *family)
{
    char missing[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < COUNT(defaults); i++) {
        if (strcmp(defaults[i].type, family->type) == 0) {
            *(int64_t *)(void *)((char *)out + defaults[i].offset) = defaults[i].value;
        }
    }
    for (size_t i = 0; i < COUNT(keys); i++) {
        int64_t *const at = (int64_t *)(void *)((char *)out + keys[i].offset);
        const roof_json_value *value = NULL;
        const char *name = NULL;
        for (size_t k = 0; k < KEYS_MAX && keys[i].names[k] != NULL && value == NULL; k++) {
            name = keys[i].names[k];
            value = member(c, name);
        }
        if (value != NULL) {
            const enum roof_status status =
                read_integer(at, c, value, name, keys[i].min, keys[i].max);
            const roof_json_value *const other =
                status == ROOF_OK ? other_value(c, &keys[i], *at) : NULL;
            if (status != ROOF_OK) {
                return status;
            }
            if (other != NULL) {
                return roof_json_error(c->json, other, c->error, "%s is not the %s of %" PRId64,
                                       roof_json_key(other), name, *at);
            }
        }
        if (keys[i].required && *at == 0) {
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s",
                                     used == 0 ? "" : ", ", keys[i].names[0]);
        }
    }
    return used == 0
               ? ROOF_OK
               : roof_json_error(c->json, c->text, c->error,
                                 "not the config.json of a transformer: %s missing, or 0", missing);
}

/* A flag of the config, or what the class does when the config says nothing. A value that is none
 * is remembered, for read_config to refuse. */
static bool flag(struct config *c, const char *key, bool otherwise)
{
    const roof_json_value *const value = member(c, key);
    if (value != NULL && !roof_json_boolean(&otherwise, value) && c->no_flag == NULL) {
        c->no_flag = value;
    }
    return otherwise;
}

static const struct family *find_family(const struct config *c, struct roof_text *unknown)
{
    const char *type = roof_json_line(roof_json_get(c->text, "model_type"));
    if (type == NULL) {
        type = roof_json_line(roof_json_get(c->root, "model_type"));
    }
    for (size_t i = 0; type != NULL && i < COUNT(families); i++) {
        if (strcmp(type, families[i].type) == 0) {
            return &families[i];
        }
    }
    roof_text_printf(
        unknown,
        "%s%s: taken for a decoder like Llama (pre-norm, gated MLP, no biases unless the "
        "config says so); check the parameters",
        type == NULL ? "no model_type" : "unknown model_type ", type == NULL ? "" : type);
    return &families[0];
}

/* Models whose layers, projections or shared parts differ in ways that their config does not say.
 */
static const char *const others[] = {
    "falcon",     "bloom",      "mpt",        "gptj",   "gpt_bigcode",  "codegen",
    "chatglm",    "qwen",       "baichuan",   "cohere", "cohere2",      "command-r",
    "dbrx",       "llama4",     "olmo2",      "bert",   "roberta",      "albert",
    "electra",    "distilbert", "modernbert", "t5",     "bart",         "mamba",
    "mamba2",     "rwkv",       "jamba",      "zamba2", "nemotron_h",   "granitemoehybrid",
    "qwen3_next", "minimax",    "openelm",    "deci",   "nemotron-nas", "gemma3n",
    "vit",        "clip"};

/* Keys of models that are not made of attention and MLP alone. */
static enum roof_status refuse_others(struct config *c)
{
    const roof_json_value *const types[] = {roof_json_get(c->text, "model_type"),
                                            roof_json_get(c->root, "model_type")};
    for (size_t k = 0; k < COUNT(types); k++) {
        const char *const type = roof_json_string(types[k]);
        if (type == NULL && types[k] != NULL && !roof_json_is_null(types[k])) {
            return roof_json_error(c->json, types[k], c->error, "model_type must be a string");
        }
        for (size_t i = 0; i < COUNT(others) && type != NULL; i++) {
            const size_t length = strlen(others[i]); /* nested ones end in _text */
            if (strncmp(type, others[i], length) == 0 &&
                (type[length] == '\0' || strcmp(type + length, "_text") == 0)) {
                return roof_json_error(c->json, types[k], c->error,
                                       "the architecture of model_type %s is not known", type);
            }
        }
    }
    static const char *const keys_of_others[] = {
        "ssm_cfg",   "mamba_d_state",  "state_size",        "conv_kernel", "linear_num_key_heads",
        "rnn_width", "encoder_layers", "num_encoder_layers"};
    for (size_t i = 0; i < COUNT(keys_of_others); i++) {
        const roof_json_value *const value = member(c, keys_of_others[i]);
        if (value != NULL) {
            return roof_json_error(c->json, value, c->error,
                                   "only decoders of attention and MLP layers are known; this "
                                   "model has %s",
                                   keys_of_others[i]);
        }
    }
    return flag(c, "is_encoder_decoder", false)
               ? roof_json_error(c->json, member(c, "is_encoder_decoder"), c->error,
                                 "only decoders are known, not encoder-decoder models")
               : ROOF_OK;
}

static enum roof_status read_windows(struct roof_layer layer[ROOF_LAYERS_MAX],
                                     const struct reading *r, struct config *c,
                                     const struct family *family)
{
    const struct roof_model *const m = &r->model;
    const roof_json_value *const types = member(c, "layer_types");
    const bool asked = flag(c, "use_sliding_window", (family->flags & WINDOW_ASKED) == 0);
    if (types != NULL) {
        int64_t i = 0;
        const bool fits = roof_json_is_array(types) && roof_json_count(types) == (size_t)m->layers;
        for (const roof_json_value *item = roof_json_first(types); fits && item != NULL;
             item = roof_json_next(item), i++) {
            const char *const type = roof_json_string(item);
            const bool sliding = type != NULL && strcmp(type, "sliding_attention") == 0;
            if (type == NULL || (!sliding && strcmp(type, "full_attention") != 0)) {
                return roof_json_error(c->json, item, c->error,
                                       "layer_types: only full_attention and sliding_attention "
                                       "are known");
            }
            if (sliding && (!asked || !said(c, "sliding_window"))) {
                return roof_json_error(
                    c->json, item, c->error, "layer_types has sliding_attention, and %s",
                    asked ? "sliding_window is missing" : "use_sliding_window is not true");
            }
            layer[i].windowed = sliding && m->window > 0;
        }
        return fits ? ROOF_OK
                    : roof_json_error(c->json, types, c->error,
                                      "layer_types must be an array with a name for each of the "
                                      "%" PRId64 " layers",
                                      m->layers);
    }
    if (m->window == 0 || !asked) {
        return ROOF_OK;
    }
    const int64_t pattern =
        r->extra.window_pattern > 0 ? r->extra.window_pattern : family->window_pattern;
    const int64_t first = (family->flags & WINDOW_ASKED) != 0 ? r->extra.max_window_layers : 0;
    for (int64_t i = first; i < m->layers; i++) {
        layer[i].windowed = pattern == 0 || (i + 1) % pattern != 0;
    }
    return ROOF_OK;
}

static enum roof_status read_experts(struct roof_layer layer[ROOF_LAYERS_MAX], struct reading *r,
                                     const struct config *c)
{
    struct roof_model *const m = &r->model;
    if (m->top_k > 0 && !said_key(c, M(experts))) {
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
    const roof_json_value *const frequency = member(c, "moe_layer_freq");
    const bool list = roof_json_is_array(frequency);
    if (list && roof_json_count(frequency) != (size_t)m->layers) {
        return roof_json_error(
            c->json, frequency, c->error,
            "moe_layer_freq must have a number for each of the %" PRId64 " layers", m->layers);
    }
    enum roof_status status = ROOF_OK;
    if (frequency != NULL && !list) {
        status = read_integer(&r->extra.moe_frequency, c, frequency, "moe_layer_freq", 0,
                              ROOF_LAYERS_MAX);
    }
    const roof_json_value *item = list ? roof_json_first(frequency) : NULL;
    for (int64_t i = 0; i < m->layers && status == ROOF_OK; i++) {
        const struct extra *const x = &r->extra;
        int64_t listed = 1;
        if (item != NULL) {
            status = read_integer(&listed, c, item, "moe_layer_freq", 0, 1);
            item = roof_json_next(item);
        }
        layer[i].moe = listed > 0 && i >= x->first_dense &&
                       (x->sparse_step == 0 || (i + 1) % x->sparse_step == 0) &&
                       (x->interleave == 0 || (i + 1) % x->interleave == 0) &&
                       (x->moe_frequency == 0 || i % x->moe_frequency == 0);
    }
    const roof_json_value *const dense = member(c, "mlp_only_layers");
    if (status == ROOF_OK && dense != NULL && !roof_json_is_array(dense)) {
        return roof_json_error(c->json, dense, c->error,
                               "mlp_only_layers must be an array of layer numbers");
    }
    for (item = roof_json_first(dense); item != NULL && status == ROOF_OK;
         item = roof_json_next(item)) {
        int64_t i = 0;
        status = read_integer(&i, c, item, "mlp_only_layers", 0, m->layers - 1);
        layer[i].moe = layer[i].moe && status != ROOF_OK;
    }
    return status;
}

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
        const enum roof_status status = roof_json_lines(&list, c->json, value, c->error);
        if (status != ROOF_OK) {
            return status;
        }
        if (roof_model_own(m, (char *)list) == NULL) {
            return roof_no_memory(c->error);
        }
        *lists[i].list = list;
    }
    return ROOF_OK;
}

/* The object of the language model: multimodal configs nest it. */
static const roof_json_value *language_object(const roof_json_value *root)
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

static enum roof_status read_config(struct config *c)
{
    struct reading reading = {.model = *c->model};
    struct roof_model *const m = &reading.model;
    struct roof_text unknown = ROOF_TEXT_INIT;
    const struct family *const family = find_family(c, &unknown);
    const unsigned flags = family->flags;
    if (unknown.failed) {
        roof_text_free(&unknown);
        return roof_no_memory(c->error);
    }
    if (unknown.length > 0) {
        roof_model_note(c->model, roof_model_own(c->model, unknown.data));
    }
    enum roof_status status = refuse_others(c);
    if (status == ROOF_OK) {
        status = read_keys(&reading, c, family);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (reading.extra.projection > 0 && reading.extra.projection != m->hidden) {
        return roof_json_error(c->json, member(c, "word_embed_proj_dim"), c->error,
                               "word_embed_proj_dim other than hidden_size is not known");
    }
    if ((m->q_lora_rank > 0 || m->qk_nope_head_dim > 0) && m->kv_lora_rank == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "latent attention without kv_lora_rank is not known");
    }
    if (flag(c, "multi_query", false)) {
        m->kv_heads = 1;
    }
    /* attention_bias speaks of all four projections; classes differ in what is the default. */
    m->qkv_bias = flag(c, "attention_bias", (flags & QKV_BIAS) != 0);
    m->o_bias =
        flag(c, "attention_bias", (flags & O_BIAS) != 0) && strcmp(family->type, "glm4_moe") != 0;
    m->mlp_bias = flag(c, "mlp_bias", (flags & MLP_BIAS) != 0);
    if (member(c, "use_bias") != NULL) {
        m->qkv_bias = m->o_bias = m->mlp_bias = flag(c, "use_bias", false);
    }
    m->head_bias = (flags & HEAD_BIAS) != 0;
    m->qk_norm = flag(c, "use_qk_norm", (flags & QK_NORM) != 0);
    m->tied = flag(c, "tie_word_embeddings", (flags & TIED) != 0);
    m->gated = (flags & UNGATED) == 0;
    m->layernorm = (flags & LAYERNORM) != 0;
    m->norm_gain = flag(c, "layer_norm_elementwise_affine", true);
    m->post_norms = (flags & POST_NORMS) != 0;
    m->sinks = (flags & SINKS) != 0;
    m->expert_bias = (flags & EXPERT_BIAS) != 0;
    m->router_bias = (flags & ROUTER_BIAS) != 0;
    m->shared_gate = (flags & SHARED_GATE) != 0;
    m->parallel = (flags & PARALLEL) != 0 && flag(c, "use_parallel_residual", true);
    m->own_norms = m->parallel && (flags & OWN_NORMS) != 0;
    if ((flags & LEARNED) != 0) {
        if (m->positions == 0) {
            return roof_json_error(c->json, c->text, c->error,
                                   "max_position_embeddings missing, or 0: it has a table of "
                                   "positions");
        }
        m->position_rows = m->positions + family->position_offset;
        if (m->intermediate == 0) {
            m->intermediate = 4 * m->hidden; /* GPT-2: n_inner is absent or null */
        }
    }
    const roof_json_value *partial = member(c, "partial_rotary_factor");
    partial = partial == NULL ? member(c, "rotary_pct") : partial;
    double rotary = 1;
    if (partial != NULL && !(roof_json_number(&rotary, partial) && rotary > 0 && rotary <= 1)) {
        return roof_json_error(c->json, partial, c->error, "%s must be a number above 0, up to 1",
                               roof_json_key(partial));
    }
    struct roof_layer *const layer = calloc(ROOF_LAYERS_MAX, sizeof *layer);
    if (layer == NULL) {
        return roof_no_memory(c->error);
    }
    for (int64_t i = 0; i < m->layers; i++) {
        memset(layer[i].format, ROOF_PRECISION_AUTO, sizeof layer[i].format);
    }
    status = read_windows(layer, &reading, c, family);
    if (status == ROOF_OK && c->no_flag != NULL) {
        status = roof_json_error(c->json, c->no_flag, c->error, "%s must be true or false",
                                 roof_json_key(c->no_flag));
    }
    if (status == ROOF_OK) {
        status = read_experts(layer, &reading, c);
    }
    if (status == ROOF_OK) {
        *c->model = *m;
        roof_model_classes(c->model, layer);
        status = roof_model_check(c->model, c->error);
        if (status == ROOF_INVALID) {
            char why[ROOF_ERROR_MESSAGE_SIZE];
            snprintf(why, sizeof why, "%s", c->error == NULL ? "" : c->error->message);
            status = roof_json_error(c->json, c->text, c->error, "%s", why);
        }
    }
    free(layer);
    if (status == ROOF_OK && c->model->kv_lora_rank == 0 && (flags & LEARNED) == 0) {
        const double dim = rotary * (double)c->model->head_dim;
        c->model->rotary_dim =
            dim >= 2 && dim <= (double)c->model->head_dim ? (int64_t)dim : c->model->head_dim;
    }
    if (roof_json_get(c->root, "vision_config") != NULL && *c->model->notes == NULL) {
        roof_model_note(c->model, "the language model alone; the vision tower is not counted");
    }
    double predicted = 0;
    (void)roof_json_number(&predicted, member(c, "num_nextn_predict_layers"));
    if (predicted > 0 && *c->model->notes == NULL) {
        roof_model_note(c->model, "the layers for multi-token prediction are not counted");
    }
    return status;
}

/* Takes json over. */
static enum roof_status from_json(struct roof_model **out, struct roof_json *json,
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
    enum roof_status status = ROOF_OK;
    if (!roof_json_is_object(c.root)) {
        status = roof_json_error(json, c.root, error, "a config.json is an object");
    }
    if (status == ROOF_OK) {
        c.text = language_object(c.root);
        roof_model_set_quantization(model, member(&c, "quantization_config"));
        model->quantization =
            roof_json_line(roof_json_get(roof_model_quantization(model), "quant_method"));
        size_t length = 0;
        const char *const id = roof_registry_id(roof_json_source(json), &length);
        model->id = id == NULL || strncmp(roof_json_source(json), "models/", 7) != 0
                        ? roof_json_source(json)
                        : roof_model_own(model, strndup(id, length));
        status = model->id == NULL ? roof_no_memory(error) : read_about(&c);
    }
    if (status == ROOF_OK) {
        status = read_config(&c);
    }
    if (status != ROOF_OK) {
        roof_model_free(model);
        return status;
    }
    *out = model;
    return ROOF_OK;
}

enum roof_status roof_model_parse(struct roof_model **out, const char *text, size_t length,
                                  const char *source, struct roof_error *error)
{
    *out = NULL;
    struct roof_json *json = NULL;
    const enum roof_status status = roof_json_parse(&json, text, length, source, error);
    return status == ROOF_OK ? from_json(out, json, error) : status;
}

/* --- finding models ------------------------------------------------------------------------ */

static const struct roof_registry models = {.folder = "models", .noun = "model"};

static bool ends_with(const char *text, const char *suffix)
{
    const size_t length = strlen(text);
    const size_t wanted = strlen(suffix);
    return length >= wanted && strcmp(text + length - wanted, suffix) == 0;
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* The layout of a model whose formats are those of its file. */
#define STORED "file"

/* folder/file, or NULL. */
static char *join(const char *folder, size_t length, const char *file)
{
    const size_t size = length + strlen(file) + 2;
    char *const path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%.*s%s%s", (int)length, folder, length == 0 ? "" : "/", file);
    }
    return path;
}

/* Whether a name is that of a folder: it looks like one, or there is one with a config.json. */
static enum roof_status find_folder(bool *found, const char *name, struct roof_error *error)
{
    struct stat info;
    *found = stat(name, &info) == 0 && S_ISDIR(info.st_mode);
    if (*found && strchr(name, '/') == NULL) {
        char *const config = join(name, strlen(name), "config.json");
        if (config == NULL) {
            return roof_no_memory(error);
        }
        *found = exists(config);
        free(config);
    }
    return ROOF_OK;
}

static enum roof_status from_gguf(struct roof_model **out, const char *path,
                                  struct roof_error *error)
{
    struct roof_model *const model = roof_model_new();
    if (model == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = roof_gguf_read(model, path, error);
    if (status == ROOF_OK) {
        model->layout = STORED;
        *out = model;
    } else {
        roof_model_free(model);
    }
    return status;
}

/* config.json in the folder, then the headers of weights when it has any. */
static enum roof_status from_folder(struct roof_model **out, const char *folder, size_t length,
                                    const char *weights_path, struct roof_error *error)
{
    char *const config = join(folder, length, "config.json");
    char *const index = join(folder, length, "model.safetensors.index.json");
    char *const single = join(folder, length, "model.safetensors");
    enum roof_status status =
        config == NULL || index == NULL || single == NULL ? roof_no_memory(error) : ROOF_OK;
    struct roof_json *json = NULL;
    if (status == ROOF_OK && !exists(config)) {
        status = roof_error_at(error, ROOF_IO, config, 0, 0,
                               "cannot read: the shapes of attention heads and experts are in the "
                               "config.json beside the weights");
    }
    if (status == ROOF_OK) {
        status = roof_json_read(&json, config, error);
    }
    struct roof_model *model = NULL;
    if (status == ROOF_OK) {
        status = from_json(&model, json, error);
    }
    const char *path = weights_path;
    if (status == ROOF_OK && path == NULL) {
        path = exists(index) ? index : exists(single) ? single : NULL;
    }
    if (model != NULL && path != NULL) {
        status = roof_safetensors_read(model, path, error);
        model->layout = STORED;
    }
    if (status == ROOF_OK) {
        *out = model;
    } else {
        roof_model_free(model);
    }
    free(config);
    free(index);
    free(single);
    return status;
}

enum roof_status roof_model_load(struct roof_model **out, const char *name,
                                 const char *const *directories, struct roof_error *error)
{
    *out = NULL;
    if (ends_with(name, ".gguf")) {
        return from_gguf(out, name, error);
    }
    if (ends_with(name, ".safetensors") || ends_with(name, ".safetensors.index.json")) {
        const char *const slash = strrchr(name, '/');
        if (!exists(name)) {
            return roof_error_at(error, ROOF_IO, name, 0, 0, "cannot open: %s", strerror(errno));
        }
        return from_folder(out, name, slash == NULL ? 0 : (size_t)(slash - name), name, error);
    }
    bool folder = false;
    enum roof_status status = find_folder(&folder, name, error);
    if (status != ROOF_OK) {
        return status;
    }
    struct roof_json *json = NULL;
    bool user = false;
    const bool plain = strchr(name, '/') == NULL; /* a known name is the same wherever one works */
    if (!folder || plain) {
        status = roof_registry_open(&json, &user, &models, name, directories, error);
        if (!folder || status != ROOF_USAGE) {
            return status == ROOF_OK ? from_json(out, json, error) : status;
        }
    }
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/') {
        length--;
    }
    return from_folder(out, name, length, NULL, error);
}

enum roof_status roof_model_ids(struct roof_text *out, size_t *count,
                                const char *const *directories, struct roof_error *error)
{
    return roof_registry_ids(out, count, &models, directories, error);
}
