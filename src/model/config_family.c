// SPDX-License-Identifier: MIT
/* Families of models: details of their class that their config.json leaves out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

static const struct family families[] = {
    {.type = "llama"},
    {.type = "mistral"},
    {.type = "mixtral"},
    {.type = "internlm2"},
    {.type = "granite"},
    {.type = "smollm3", .flags = TIED},
    {.type = "qwen2", .flags = QKV_BIAS | WINDOW_ASKED},
    {.type = "qwen2_moe", .flags = QKV_BIAS | WINDOW_ASKED | SHARED_GATE},
    {.type = "qwen3", .flags = QK_NORM | WINDOW_ASKED},
    {.type = "qwen3_moe", .flags = QK_NORM | WINDOW_ASKED},
    {.type = "gemma", .flags = TIED},
    {.type = "gemma2", .flags = TIED | POST_NORMS, .window_pattern = 2},
    {.type = "gemma3", .flags = TIED | POST_NORMS | QK_NORM, .window_pattern = 6},
    {.type = "gemma3_text", .flags = TIED | POST_NORMS | QK_NORM, .window_pattern = 6},
    {.type = "gemma3n", .flags = TIED | POST_NORMS | QK_NORM, .window_pattern = 5, .altup = true},
    {.type = "gemma3n_text",
     .flags = TIED | POST_NORMS | QK_NORM,
     .window_pattern = 5,
     .altup = true},
    {.type = "gemma4",
     .flags = TIED | POST_NORMS | QK_NORM | ROUTER_BIAS | GEMMA4,
     .window_pattern = 6},
    {.type = "gemma4_text",
     .flags = TIED | POST_NORMS | QK_NORM | ROUTER_BIAS | GEMMA4,
     .window_pattern = 6},
    {.type = "deepseek_v4", .flags = ROUTER_BIAS | SINKS | COMPRESSED},
    {.type = "laguna", .flags = QK_NORM | ROUTER_BIAS | HEAD_LISTS},
    {.type = "phi3"},
    {.type = "phi4mm"},
    {.type = "phimoe", .flags = LAYERNORM},
    {.type = "phi", .flags = BIASES | HEAD_BIAS | LAYERNORM | UNGATED | PARALLEL},
    {.type = "gpt_neox", .flags = BIASES | LAYERNORM | UNGATED | PARALLEL | OWN_NORMS},
    {.type = "gpt2", .flags = BIASES | LAYERNORM | UNGATED | TIED | LEARNED},
    {.type = "opt", .flags = BIASES | LAYERNORM | UNGATED | TIED | LEARNED, .position_offset = 2},
    {.type = "starcoder2", .flags = BIASES | LAYERNORM | UNGATED | TIED},
    {.type = "gpt_oss",
     .flags = QKV_BIAS | O_BIAS | SINKS | EXPERT_BIAS | ROUTER_BIAS,
     .window_pattern = 2},
    {.type = "mimo", .flags = NO_O_BIAS},
    {.type = "deepseek_v2"},
    {.type = "deepseek_v3", .flags = ROUTER_BIAS},
    {.type = "deepseek_v32", .flags = ROUTER_BIAS},
    {.type = "longcat_flash", .flags = ROUTER_BIAS, .doubled = true},
    {.type = "kimi_k2", .flags = ROUTER_BIAS},
    {.type = "kimi_k25", .flags = ROUTER_BIAS},
    {.type = "glm4_moe", .flags = NO_O_BIAS | ROUTER_BIAS},
    {.type = "glm4v_moe", .flags = QKV_BIAS | NO_O_BIAS | ROUTER_BIAS},
    {.type = "glm4v_moe_text", .flags = QKV_BIAS | NO_O_BIAS | ROUTER_BIAS},
    {.type = "glm4_moe_lite", .flags = ROUTER_BIAS},
    {.type = "glm_moe_dsa", .flags = ROUTER_BIAS, .shares_choice = true},
    {.type = "olmoe", .flags = WIDE_QK_NORM},
    {.type = "olmo2", .flags = WIDE_QK_NORM | POST_ONLY},
    {.type = "olmo3", .flags = WIDE_QK_NORM | POST_ONLY, .window_pattern = 4},
    {.type = "minimax_m2", .flags = WIDE_QK_NORM | ROUTER_BIAS},
    {.type = "minimax_m3", .flags = QK_NORM | ROUTER_BIAS | BLOCKS},
    {.type = "minimax_m3_text", .flags = QK_NORM | ROUTER_BIAS | BLOCKS},
    {.type = "minimax_m3_vl", .flags = QK_NORM | ROUTER_BIAS | BLOCKS},
    {.type = "minimax_m3_vl_text", .flags = QK_NORM | ROUTER_BIAS | BLOCKS},
    {.type = "cohere", .flags = TIED | PARALLEL},
    {.type = "cohere2", .flags = TIED | PARALLEL, .window_pattern = 4},
    {.type = "ernie4_5", .flags = TIED},
    {.type = "ernie4_5_moe", .flags = TIED | ROUTER_BIAS},
    {.type = "glm4", .flags = NO_O_BIAS | POST_NORMS},
    {.type = "glm4v", .flags = QKV_BIAS | NO_O_BIAS | POST_NORMS},
    {.type = "glm4v_text", .flags = QKV_BIAS | NO_O_BIAS | POST_NORMS},
    {.type = "qwen2_vl", .flags = QKV_BIAS | WINDOW_ASKED},
    {.type = "qwen2_vl_text", .flags = QKV_BIAS | WINDOW_ASKED},
    {.type = "qwen2_5_vl", .flags = QKV_BIAS | WINDOW_ASKED},
    {.type = "qwen2_5_vl_text", .flags = QKV_BIAS | WINDOW_ASKED},
    {.type = "qwen3_vl", .flags = QK_NORM | WINDOW_ASKED},
    {.type = "qwen3_vl_text", .flags = QK_NORM | WINDOW_ASKED},
    {.type = "qwen3_vl_moe", .flags = QK_NORM | WINDOW_ASKED},
    {.type = "qwen3_vl_moe_text", .flags = QK_NORM | WINDOW_ASKED},
    {.type = "qwen3_next",
     .flags = QK_NORM | SHARED_GATE | QUERY_GATE | QUARTER_ROPE,
     .mixer = ROOF_MIXER_GATED_DELTA},
    {.type = "qwen3_5_moe",
     .flags = QK_NORM | SHARED_GATE | QUERY_GATE | QUARTER_ROPE,
     .mixer = ROOF_MIXER_GATED_DELTA},
    {.type = "qwen3_5_moe_text",
     .flags = QK_NORM | SHARED_GATE | QUERY_GATE | QUARTER_ROPE,
     .mixer = ROOF_MIXER_GATED_DELTA},
    {.type = "qwen3_5",
     .flags = QK_NORM | SHARED_GATE | QUERY_GATE | QUARTER_ROPE,
     .mixer = ROOF_MIXER_GATED_DELTA},
    {.type = "qwen3_5_text",
     .flags = QK_NORM | SHARED_GATE | QUERY_GATE | QUARTER_ROPE,
     .mixer = ROOF_MIXER_GATED_DELTA},
    {.type = "kimi_linear", .flags = ROUTER_BIAS, .mixer = ROOF_MIXER_KIMI_DELTA},
    {.type = "kimi_k3", .flags = ROUTER_BIAS, .mixer = ROOF_MIXER_KIMI_DELTA},
    {.type = "nemotron_h",
     .flags = UNGATED | NO_ROPE | ONE_PART | ROUTER_BIAS,
     .mixer = ROOF_MIXER_SSD},
    {.type = "granitemoehybrid", .flags = NO_ROPE, .mixer = ROOF_MIXER_SSD},
    {.type = "mimo_v2_flash", .flags = ROUTER_BIAS | OWN_WINDOWS},
    {.type = "mimo_v2", .flags = ROUTER_BIAS | OWN_WINDOWS},
    {.type = "hunyuan"},
    {.type = "hunyuan_v1_dense", .flags = QK_NORM},
    {.type = "hunyuan_v1_moe", .flags = QK_NORM},
    {.type = "nsa", .native_sparse = true},
    {.type = "mllama", .crossed = true},
    {.type = "mllama_text_model", .crossed = true},
    {.type = "llama4", .flags = QK_NORM | CHUNKS},
    {.type = "llama4_text", .flags = QK_NORM | CHUNKS},
    {.type = "falcon_h1", .flags = BESIDE, .mixer = ROOF_MIXER_SSD},
    {.type = "minimax", .mixer = ROOF_MIXER_LIGHTNING},
    {.type = "minimax_text_01", .mixer = ROOF_MIXER_LIGHTNING},
    {.type = "minimax_m1", .mixer = ROOF_MIXER_LIGHTNING},
    {.type = "jamba", .flags = NO_ROPE, .mixer = ROOF_MIXER_SELECTIVE},
};

/* --- the architecture ---------------------------------------------------------------------- */

static const struct family *named_family(const char *name)
{
    for (size_t i = 0; name != NULL && i < COUNT(families); i++) {
        if (strcmp(name, families[i].type) == 0) {
            return &families[i];
        }
    }
    return NULL;
}

static const struct family *find_family(const roof_json_value *type)
{
    return named_family(roof_json_string(type));
}

/* Types that no class has, each with the class that `architectures` must name beside it. SGLang
 * writes deepseek_ref into configs of DeepSeek-V4 (aiconfigurator@5f2e6bb0, model_configs of
 * sgl-project). Other types are not read so: a config may name the class of another architecture,
 * such as LlamaForCausalLM. */
static const struct {
    const char *type;
    const char *architecture;
    const char *family;
} renamed_types[] = {{"deepseek_ref", "DeepseekV4ForCausalLM", "deepseek_v4"}};

/* Returns the family of a renamed type; NULL: it is none, or `architectures` names another class.
 */
static const struct family *find_renamed(const struct config *c, const roof_json_value *type)
{
    const char *const name = roof_json_string(type);
    const char *const architecture =
        roof_json_string(roof_json_first(roof_json_get(c->root, "architectures")));
    for (size_t i = 0; name != NULL && architecture != NULL && i < COUNT(renamed_types); i++) {
        if (strcmp(name, renamed_types[i].type) == 0 &&
            strcmp(architecture, renamed_types[i].architecture) == 0) {
            return named_family(renamed_types[i].family);
        }
    }
    return NULL;
}

enum roof_status roof_config_family(struct config *c)
{
    const roof_json_value *const inner = roof_json_get(c->text, "model_type");
    const roof_json_value *const outer = roof_json_get(c->root, "model_type");
    const struct family *const whole = find_family(outer);
    /* MiniMax-M3 names an older class inside. */
    const bool blocks = whole != NULL && (whole->flags & BLOCKS) != 0;
    const roof_json_value *const type = roof_json_string(inner) == NULL || blocks ? outer : inner;
    c->family = find_family(type);
    if (c->family == NULL) {
        c->family = find_renamed(c, type);
    }
    if (c->family != NULL) {
        return ROOF_OK;
    }
    c->family = &families[0];
    if (roof_json_string(type) != NULL) {
        c->stranger = type;
        return ROOF_OK;
    }
    roof_model_note(c->model, "no model_type: read as a decoder like Llama (pre-norm, gated MLP, "
                              "no biases unless the config says so); check the parameters");
    return ROOF_OK;
}

enum roof_status roof_config_stranger(const struct config *c, const roof_json_value *at,
                                      const char *key, const char *what)
{
    const char *types[COUNT(families)];
    for (size_t i = 0; i < COUNT(families); i++) {
        types[i] = families[i].type;
    }
    const enum roof_status status = roof_unknown_name(
        c->error, ROOF_INVALID, "model_type", roof_json_string(c->stranger), types, COUNT(types));
    roof_error_append(c->error, " (not read like llama: %s%s)", key, what);
    return roof_json_place_error(c->json, at, "", c->error, status);
}

/* Models of these types have layers, projections or shared parts that their config does not
 * describe, or for which there is no operator. */
static const struct {
    const char *type;
    const char *what; /* NULL: several details */
} refused_types[] = {
    {"falcon", NULL},
    {"bloom", NULL},
    {"mpt", NULL},
    {"gptj", NULL},
    {"gpt_bigcode", NULL},
    {"codegen", NULL},
    {"chatglm", NULL},
    {"qwen", NULL},
    {"baichuan", NULL},
    {"command-r", NULL},
    {"dbrx", NULL},
    {"bert", "it is an encoder"},
    {"roberta", "it is an encoder"},
    {"albert", "it is an encoder"},
    {"electra", "it is an encoder"},
    {"distilbert", "it is an encoder"},
    {"modernbert", "it is an encoder"},
    {"t5", "it has an encoder"},
    {"bart", "it has an encoder"},
    {"vit", "it is an encoder"},
    {"clip", "it has encoders"},
    {"mamba", "its layers are Mamba-1"},
    {"phi4flash", "Mamba-1 layers and one cache share their memory with later layers"},
    {"ernie4_5_moe_vl", "it has two sets of experts, for text and for images"},
    {"ernie4_5_vl_moe", "it has two sets of experts, for text and for images"},
    {"mamba2", "it has no attention"},
    {"rwkv", "it has no attention"},
    {"recurrent_gemma", "most of its layers are gated linear recurrences"},
    {"zamba2", "its attention layers share weights"},
    {"step3p5", "layers with a window have heads of their own"},
    {"step3p7", "the config leaves out the heads of layers with a window"},
    {"openelm", "its layers differ in their heads and widths"},
    {"deci", "its layers differ in their heads and widths"},
    {"nemotron-nas", "its layers differ in their heads and widths"},
    {"gemma4_unified", "layers differ in the size of their heads, and share keys and values"}};

static enum roof_status refuse_type(const struct config *c, const roof_json_value *value)
{
    const char *const type = roof_json_string(value);
    if (type == NULL && value != NULL && !roof_json_is_null(value)) {
        return roof_json_error(c->json, value, c->error, "model_type must be a string");
    }
    for (size_t i = 0; i < COUNT(refused_types) && type != NULL; i++) {
        const size_t length = strlen(refused_types[i].type); /* nested ones end in _text */
        const char *const what = refused_types[i].what;
        if (strncmp(type, refused_types[i].type, length) == 0 &&
            (type[length] == '\0' || strcmp(type + length, "_text") == 0)) {
            return roof_json_error(c->json, value, c->error,
                                   "the architecture of model_type %s is not supported%s%s", type,
                                   what == NULL ? "" : ": ", what == NULL ? "" : what);
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
                                 "only decoders are supported, not encoder-decoder models")
               : ROOF_OK;
}

enum roof_status roof_config_check(const struct reading *r, const struct config *c)
{
    const struct roof_model *const m = &r->model;
    if (r->extra.projection > 0 && r->extra.projection != m->hidden) {
        return roof_json_error(c->json, roof_config_member(c, "word_embed_proj_dim"), c->error,
                               "word_embed_proj_dim other than hidden_size is not known");
    }
    const bool compressed = (c->family->flags & COMPRESSED) != 0;
    if (!compressed && (m->q_lora_rank > 0 || m->qk_nope_head_dim > 0) && m->kv_lora_rank == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "latent attention without kv_lora_rank is not known");
    }
    if (m->kv_lora_rank == 0 && m->v_head_dim > 0 && m->v_head_dim != m->head_dim &&
        (c->family->flags & OWN_WINDOWS) == 0) {
        return roof_json_error(c->json, roof_config_member(c, "v_head_dim"), c->error,
                               "v_head_dim other than head_dim is not known with this model_type");
    }
    if (m->expert_latent > 0 && (c->family->flags & ONE_PART) == 0 &&
        c->family->mixer != ROOF_MIXER_KIMI_DELTA) {
        return roof_json_error(c->json, roof_config_member(c, "moe_latent_size"), c->error,
                               "moe_latent_size is not known with this model_type");
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
    /* attention_bias covers all four projections; classes have different defaults. */
    m->qkv_bias = roof_config_flag(c, "attention_bias", (flags & QKV_BIAS) != 0);
    m->o_bias =
        roof_config_flag(c, "attention_bias", (flags & O_BIAS) != 0) && (flags & NO_O_BIAS) == 0;
    m->mlp_bias = roof_config_flag(c, "mlp_bias", (flags & MLP_BIAS) != 0);
    static const char *const all[] = {"use_bias", "enable_bias"};
    for (size_t i = 0; i < COUNT(all); i++) {
        if (roof_config_member(c, all[i]) != NULL) {
            m->qkv_bias = m->o_bias = m->mlp_bias = roof_config_flag(c, all[i], false);
        }
    }
    m->head_bias = roof_config_flag(c, "lm_head_bias", (flags & HEAD_BIAS) != 0);
    m->expert_bias = (flags & EXPERT_BIAS) != 0;
    m->router_bias = (flags & ROUTER_BIAS) != 0;
}

void roof_config_architecture(struct roof_model *m, struct config *c)
{
    const unsigned flags = c->family->flags;
    put_biases(m, c);
    m->wide_norm = (flags & WIDE_QK_NORM) != 0;
    m->qk_norm = roof_config_flag(c, "use_qk_norm", (flags & (QK_NORM | WIDE_QK_NORM)) != 0);
    m->tied = roof_config_flag(c, "tie_word_embeddings", (flags & TIED) != 0);
    m->gated = (flags & UNGATED) == 0;
    m->layernorm = (flags & LAYERNORM) != 0;
    m->norm_gain = roof_config_flag(c, "layer_norm_elementwise_affine", true);
    m->post_norms = (flags & (POST_NORMS | POST_ONLY)) != 0;
    m->no_pre_norms = (flags & POST_ONLY) != 0;
    m->sinks = (flags & SINKS) != 0;
    m->shared_gate = (flags & SHARED_GATE) != 0;
    m->query_gate = roof_config_flag(c, "attn_output_gate", (flags & QUERY_GATE) != 0);
    m->parallel = (flags & PARALLEL) != 0 && roof_config_flag(c, "use_parallel_residual", true);
    m->own_norms = m->parallel && (flags & OWN_NORMS) != 0;
}

void roof_config_drop_predictors(struct reading *r, struct config *c)
{
    if (r->model.predict_layers > 0) {
        r->model.predict_layers = 0;
        if (*c->model->notes != NULL) {
            return; /* the registry has its own notes */
        }
        roof_model_note(c->model, "the layers for multi-token prediction (MTP) differ from the "
                                  "others and are not counted");
    }
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
    if (value == NULL) {
        value = roof_json_get(roof_config_member(c, "rope_parameters"), "partial_rotary_factor");
    }
    *out = (c->family->flags & QUARTER_ROPE) != 0 ? 0.25 : 1;
    if (value != NULL && !(roof_json_number(out, value) && *out > 0 && *out <= 1)) {
        return roof_json_error(c->json, value, c->error, "%s must be a number above 0, up to 1",
                               roof_json_key(value));
    }
    return ROOF_OK;
}

void roof_config_rotary_dim(struct roof_model *m, const struct config *c,
                            const struct reading *reading)
{
    if (m->kv_lora_rank == 0 && (c->family->flags & (LEARNED | NO_ROPE)) == 0) {
        const double dim = reading->extra.rotary_dim > 0 ? (double)reading->extra.rotary_dim
                                                         : reading->rotary * (double)m->head_dim;
        m->rotary_dim = dim >= 2 && dim <= (double)m->head_dim ? (int64_t)dim : m->head_dim;
    }
}
