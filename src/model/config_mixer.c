// SPDX-License-Identifier: MIT
/* Layers that keep a state: which of a config.json have one, and its sizes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

/* Sets the kind of a layer by a word of the lists of layers; false for an unknown word. */
bool roof_config_layer_word(struct roof_layer *layer, const struct config *c, const char *word)
{
    static const struct {
        const char *word;
        bool stateful, attention, mlp, moe;
    } words[] = {{"full_attention", false, true, true, true},
                 {"attention", false, true, true, true},
                 {"deepseek_sparse_attention", false, true, true, true},
                 {"linear_attention", true, false, true, true},
                 {"mamba", true, false, true, true}};
    /* A layer of Nemotron-H has only one part. */
    static const struct {
        const char *word;
        bool stateful, attention, mlp, moe;
    } parts[] = {
        {"M", true, false, false, false},     {"*", false, true, false, false},
        {"-", false, false, true, false},     {"E", false, false, true, true},
        {"mamba", true, false, false, false}, {"linear_attention", true, false, false, false},
        {"mlp", false, false, true, false},   {"attention", false, true, false, false},
        {"moe", false, false, true, true},    {"full_attention", false, true, false, false}};
    const bool alone = (c->family->flags & ONE_PART) != 0;
    const size_t count = alone ? COUNT(parts) : COUNT(words);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, alone ? parts[i].word : words[i].word) == 0) {
            layer->stateful = alone ? parts[i].stateful : words[i].stateful;
            layer->no_attention = !(alone ? parts[i].attention : words[i].attention);
            layer->no_mlp = alone && !parts[i].mlp;
            layer->moe = alone && parts[i].moe;
            return !layer->stateful || c->family->mixer != ROOF_MIXER_NONE;
        }
    }
    return false;
}

/* --- Kimi-Linear --------------------------------------------------------------------------- */

static enum roof_status read_kimi_layers(struct roof_layer *layer, const struct reading *r,
                                         const struct config *c, const roof_json_value *list)
{
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item)) {
        int64_t number = 0; /* from 1 */
        TRY(roof_config_integer(&number, c, item, "kda_layers", 1, r->model.layers));
        layer[number - 1].stateful = true;
        layer[number - 1].no_attention = true;
    }
    return ROOF_OK;
}

/* Reads the additions of Kimi-K3: gates, a norm of the latent of the experts, and blocks of layers
 * whose sums later ones mix. A layer mixes before attention, and after that keeps the sum if it
 * begins a block. Source: NVIDIA/TensorRT-LLM, _torch/models/modeling_kimi_linear.py. */
static enum roof_status read_kimi_k3(struct roof_layer *layer, struct roof_model *m,
                                     struct config *c)
{
    static const char key[] = "attn_res_block_size";
    const roof_json_value *const block = roof_config_member(c, key);
    m->latent_nope = roof_config_flag(c, "mla_use_nope", false);
    m->latent_gate = roof_config_flag(c, "mla_use_output_gate", false);
    m->latent_norm = m->expert_latent > 0 && roof_config_flag(c, "latent_moe_use_norm", false);
    if (block == NULL) {
        return ROOF_OK;
    }
    TRY(roof_config_integer(&m->block_layers, c, block, key, 1, ROOF_LAYERS_MAX));
    for (int64_t i = 0; i < m->layers; i++) {
        layer[i].attention_sums = (int32_t)roof_divide_up(i, m->block_layers);
        layer[i].mlp_sums = (int32_t)(i / m->block_layers + 1);
    }
    return ROOF_OK;
}

static enum roof_status read_kimi(struct roof_layer *layer, struct reading *r, struct config *c)
{
    static const char *const known[] = {
        "kda_layers",       "full_attn_layers",       "head_dim",          "num_heads",
        "gate_lower_bound", "short_conv_kernel_size", "use_full_rank_gate"};
    struct roof_mixer *const x = &r->model.mixer;
    const roof_json_value *const object = roof_config_member(c, "linear_attn_config");
    if (!roof_json_is_object(object)) {
        return roof_json_error(c->json, object == NULL ? c->text : object, c->error,
                               "linear_attn_config must be an object");
    }
    TRY(roof_json_only(c->json, object, known, COUNT(known), c->error));
    const struct {
        const char *key;
        int64_t *out;
    } sizes[] = {
        {"head_dim", &x->key_dim}, {"num_heads", &x->heads}, {"short_conv_kernel_size", &x->taps}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const roof_json_value *const value = roof_json_get(object, sizes[i].key);
        TRY(roof_config_integer(sizes[i].out, c, value == NULL ? object : value, sizes[i].key, 1,
                                1000000));
    }
    x->key_heads = x->heads;
    x->value_dim = x->key_dim;
    const roof_json_value *const full = roof_json_get(object, "use_full_rank_gate");
    if (full != NULL && !roof_json_boolean(&x->full_gate, full)) {
        return roof_json_error(c->json, full, c->error, "use_full_rank_gate must be true or false");
    }
    TRY(read_kimi_k3(layer, &r->model, c));
    return read_kimi_layers(layer, r, c, roof_json_get(object, "kda_layers"));
}

/* --- lightning attention ------------------------------------------------------------------- */

/* Reads which layers attend: a 1 for each, a 0 for one with lightning attention. */
static enum roof_status read_lightning(struct roof_layer *layer, const struct reading *r,
                                       const struct config *c)
{
    const roof_json_value *const list = roof_config_member(c, "attn_type_list");
    int64_t i = 0;
    if (list == NULL && roof_config_member(c, "layer_types") != NULL) {
        return ROOF_OK;
    }
    if (!roof_json_is_array(list) || roof_json_count(list) != (size_t)r->model.layers) {
        return roof_json_error(c->json, list == NULL ? c->text : list, c->error,
                               "attn_type_list must be an array with a number for each of the "
                               "%" PRId64 " layers",
                               r->model.layers);
    }
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item), i++) {
        int64_t attends = 0;
        TRY(roof_config_integer(&attends, c, item, "attn_type_list", 0, 1));
        layer[i].stateful = layer[i].no_attention = attends == 0;
    }
    return ROOF_OK;
}

/* --- patterns ------------------------------------------------------------------------------ */

/* Reads a letter for each layer. */
static enum roof_status read_letters(struct roof_layer *layer, const struct reading *r,
                                     const struct config *c, const roof_json_value *value)
{
    const char *const letters = roof_json_string(value);
    if (letters == NULL || strlen(letters) != (size_t)r->model.layers) {
        return roof_json_error(c->json, value, c->error,
                               "hybrid_override_pattern must have a letter for each of the "
                               "%" PRId64 " layers",
                               r->model.layers);
    }
    for (int64_t i = 0; i < r->model.layers; i++) {
        const char word[2] = {letters[i], '\0'};
        if (!roof_config_layer_word(&layer[i], c, word)) {
            return roof_json_error(c->json, value, c->error,
                                   "hybrid_override_pattern: only M, E, * and - are known");
        }
    }
    return ROOF_OK;
}

enum roof_status roof_config_mixer(struct roof_layer *layer, struct reading *r, struct config *c)
{
    struct roof_model *const m = &r->model;
    const roof_json_value *const letters = roof_config_member(c, "hybrid_override_pattern");
    m->mixer.kind = c->family->mixer;
    if (m->mixer.kind == ROOF_MIXER_KIMI_DELTA) {
        return read_kimi(layer, r, c);
    }
    if (m->mixer.kind == ROOF_MIXER_LIGHTNING) {
        return read_lightning(layer, r, c);
    }
    if ((c->family->flags & ONE_PART) != 0) {
        roof_config_drop_predictors(r, c); /* attention and experts: two parts */
    }
    if (letters != NULL && (c->family->flags & ONE_PART) != 0) {
        return read_letters(layer, r, c, letters);
    }
    if ((c->family->flags & ONE_PART) != 0) {
        return roof_config_member(c, "layers_block_type") != NULL ||
                       roof_config_member(c, "layer_types") != NULL
                   ? ROOF_OK
                   : roof_json_error(c->json, c->text, c->error,
                                     "hybrid_override_pattern or layers_block_type missing");
    }
    for (int64_t i = 0; i < m->layers && m->mixer.kind != ROOF_MIXER_NONE; i++) {
        const bool beside = (c->family->flags & BESIDE) != 0;
        layer[i].stateful =
            beside || (m->mixer.kind == ROOF_MIXER_SELECTIVE
                           ? i % r->extra.attention_period != r->extra.attention_offset
                           : (i + 1) % r->extra.interval != 0);
        layer[i].no_attention = layer[i].stateful && !beside;
    }
    return ROOF_OK;
}

/* --- sizes --------------------------------------------------------------------------------- */

/* Reads the format of the state, which is fp32 unless the config has another. */
static enum roof_status read_state_format(struct roof_mixer *x, const struct config *c)
{
    static const char *const keys[] = {"mamba_ssm_dtype", "mamba_ssm_cache_dtype"};
    static const struct {
        const char *name;
        enum roof_precision format;
    } formats[] = {{"float32", ROOF_PRECISION_FP32},
                   {"bfloat16", ROOF_PRECISION_BF16},
                   {"float16", ROOF_PRECISION_FP16}};
    for (size_t i = 0; i < COUNT(keys); i++) {
        const roof_json_value *const value = roof_config_member(c, keys[i]);
        const char *const name = roof_json_string(value);
        size_t k = 0;
        while (name != NULL && k < COUNT(formats) && strcmp(formats[k].name, name) != 0) {
            k++;
        }
        if (value != NULL && (name == NULL || k == COUNT(formats))) {
            return roof_json_error(c->json, value, c->error,
                                   "%s must be float32, bfloat16 or float16", keys[i]);
        }
        x->state = value != NULL ? formats[k].format : x->state;
    }
    return ROOF_OK;
}

/*
 * Fills in the sizes of two kinds of states that follow from other sizes. Engines keep these states
 * in the model's format: huggingface/transformers, modeling_minimax.py and modeling_jamba.py; vLLM,
 * model_executor/layers/mamba/mamba_utils.py (MambaStateDtypeCalculator).
 */
static void put_kind(struct roof_model *m, const struct reading *r)
{
    struct roof_mixer *const x = &m->mixer;
    if (x->kind == ROOF_MIXER_LIGHTNING) {
        x->heads = x->key_heads = m->heads;
        x->key_dim = x->value_dim = m->head_dim > 0 ? m->head_dim : m->hidden / m->heads;
        x->state = ROOF_PRECISION_BF16;
    } else if (x->kind == ROOF_MIXER_SELECTIVE) {
        x->heads = r->extra.state_expand * m->hidden;
        x->key_heads = x->value_dim = 1;
        x->rank = x->rank > 0 ? x->rank : (m->hidden + 15) / 16; /* "auto" */
        x->plain = true;
        x->state = ROOF_PRECISION_BF16;
    }
}

enum roof_status roof_config_mixer_sizes(struct roof_model *m, const struct reading *r,
                                         struct config *c)
{
    struct roof_mixer *const x = &m->mixer;
    if (x->kind == ROOF_MIXER_NONE) {
        return ROOF_OK;
    }
    x->plain = !roof_config_flag(c, "mamba_rms_norm", true);
    put_kind(m, r);
    x->conv_bias =
        (x->kind == ROOF_MIXER_SSD || x->kind == ROOF_MIXER_SELECTIVE) &&
        roof_config_flag(c, "use_conv_bias", roof_config_flag(c, "mamba_conv_bias", true));
    x->proj_bias = roof_config_flag(c, "mamba_proj_bias", false);
    if (x->kind == ROOF_MIXER_SSD && x->value_dim == 0 && x->heads > 0) {
        const int64_t inner =
            r->extra.state_width > 0 ? r->extra.state_width : r->extra.state_expand * m->hidden;
        x->value_dim = inner / x->heads;
    }
    if (x->heads == 0 || x->key_heads == 0 || x->key_dim == 0 || x->value_dim == 0 ||
        (x->taps == 0 && x->kind != ROOF_MIXER_LIGHTNING) || x->heads % x->key_heads != 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "layers with a state need heads (a multiple of their key heads or "
                               "groups), the sizes of keys and values, and a convolution");
    }
    return read_state_format(x, c);
}
