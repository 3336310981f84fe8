// SPDX-License-Identifier: MIT
/* Families of models: what their class does and their config.json leaves out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

static const struct family families[] = {
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
    {"deepseek_v32", ROUTER_BIAS, 0, 0},
    {"kimi_k2", ROUTER_BIAS, 0, 0},
    {"kimi_k25", ROUTER_BIAS, 0, 0},
    {"glm4_moe", QKV_BIAS | ROUTER_BIAS, 0, 0},
    {"glm4_moe_lite", ROUTER_BIAS, 0, 0},
    {"glm_moe_dsa", ROUTER_BIAS, 0, 0},
};

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

enum roof_status roof_config_family(struct config *c)
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

enum roof_status roof_config_refuse(struct config *c)
{
    TRY(refuse_type(c, roof_json_get(c->text, "model_type")));
    TRY(refuse_type(c, roof_json_get(c->root, "model_type")));
    return roof_config_flag(c, "is_encoder_decoder", false)
               ? roof_json_error(c->json, roof_config_member(c, "is_encoder_decoder"), c->error,
                                 "only decoders are known, not encoder-decoder models")
               : ROOF_OK;
}

enum roof_status roof_config_check(const struct reading *r, const struct config *c)
{
    const struct roof_model *const m = &r->model;
    if (r->extra.projection > 0 && r->extra.projection != m->hidden) {
        return roof_json_error(c->json, roof_config_member(c, "word_embed_proj_dim"), c->error,
                               "word_embed_proj_dim other than hidden_size is not known");
    }
    if ((m->q_lora_rank > 0 || m->qk_nope_head_dim > 0) && m->kv_lora_rank == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "latent attention without kv_lora_rank is not known");
    }
    if (m->index_topk > 0 && (m->q_lora_rank == 0 || m->index_heads == 0 ||
                              m->index_head_dim == 0 || m->index_head_dim % 2 != 0)) {
        return roof_json_error(c->json, c->text, c->error,
                               "index_topk needs latent attention (q_lora_rank, kv_lora_rank), "
                               "index_n_heads, and an even index_head_dim");
    }
    return ROOF_OK;
}

static void put_biases(struct roof_model *m, struct config *c)
{
    const unsigned flags = c->family->flags;
    /* attention_bias speaks of all four projections; classes differ in what is the default. */
    m->qkv_bias = roof_config_flag(c, "attention_bias", (flags & QKV_BIAS) != 0);
    m->o_bias = roof_config_flag(c, "attention_bias", (flags & O_BIAS) != 0) &&
                strcmp(c->family->type, "glm4_moe") != 0;
    m->mlp_bias = roof_config_flag(c, "mlp_bias", (flags & MLP_BIAS) != 0);
    static const char *const all[] = {"use_bias", "enable_bias"};
    for (size_t i = 0; i < COUNT(all); i++) {
        if (roof_config_member(c, all[i]) != NULL) {
            m->qkv_bias = m->o_bias = m->mlp_bias = roof_config_flag(c, all[i], false);
        }
    }
    m->head_bias = (flags & HEAD_BIAS) != 0;
    m->expert_bias = (flags & EXPERT_BIAS) != 0;
    m->router_bias = (flags & ROUTER_BIAS) != 0;
}

void roof_config_architecture(struct roof_model *m, struct config *c)
{
    const unsigned flags = c->family->flags;
    if (roof_config_flag(c, "multi_query", false)) {
        m->kv_heads = 1;
    }
    put_biases(m, c);
    m->qk_norm = roof_config_flag(c, "use_qk_norm", (flags & QK_NORM) != 0);
    m->tied = roof_config_flag(c, "tie_word_embeddings", (flags & TIED) != 0);
    m->gated = (flags & UNGATED) == 0;
    m->layernorm = (flags & LAYERNORM) != 0;
    m->norm_gain = roof_config_flag(c, "layer_norm_elementwise_affine", true);
    m->post_norms = (flags & POST_NORMS) != 0;
    m->sinks = (flags & SINKS) != 0;
    m->shared_gate = (flags & SHARED_GATE) != 0;
    m->parallel = (flags & PARALLEL) != 0 && roof_config_flag(c, "use_parallel_residual", true);
    m->own_norms = m->parallel && (flags & OWN_NORMS) != 0;
}

enum roof_status roof_config_positions(struct roof_model *m, const struct config *c)
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

enum roof_status roof_config_rotary(double *out, const struct config *c)
{
    const roof_json_value *value = roof_config_member(c, "partial_rotary_factor");
    value = value == NULL ? roof_config_member(c, "rotary_pct") : value;
    *out = 1;
    if (value != NULL && !(roof_json_number(out, value) && *out > 0 && *out <= 1)) {
        return roof_json_error(c->json, value, c->error, "%s must be a number above 0, up to 1",
                               roof_json_key(value));
    }
    return ROOF_OK;
}

void roof_config_rotary_dim(struct roof_model *m, const struct config *c, double rotary)
{
    if (m->kv_lora_rank == 0 && (c->family->flags & LEARNED) == 0) {
        const double dim = rotary * (double)m->head_dim;
        m->rotary_dim = dim >= 2 && dim <= (double)m->head_dim ? (int64_t)dim : m->head_dim;
    }
}
