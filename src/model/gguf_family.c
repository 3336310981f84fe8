// SPDX-License-Identifier: MIT
#include "model/gguf_family.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/config.h"
#include "model/gguf_architecture.h"
#include "model/graph.h"
#include "model/model_make.h"
#include "model/weights.h"

#define BAD ROOF_GGUF_BAD

/* --- what the tensors say ------------------------------------------------------------------ */

/* The layers without those for multi-token prediction. */
static int64_t main_layers(const struct roof_gguf *g)
{
    int64_t layers = g->metadata.layers - g->metadata.extra_layers;
    while (layers > 1 && g->block[layers - 1].predicts) {
        layers--;
    }
    return layers;
}

static bool has_state(const struct roof_gguf *g, int64_t i)
{
    return roof_gguf_holds(&g->block[i], "ssm_a");
}

static bool has_experts(const struct roof_gguf *g, int64_t i)
{
    return roof_gguf_holds(&g->block[i], "ffn_gate_inp.weight");
}

/* Kimi's layers with a state have Q, K, V and O, too. */
static bool has_attention(const struct roof_gguf *g, int64_t i)
{
    return roof_gguf_holds(&g->block[i], "attn_output.weight") &&
           !roof_gguf_holds(&g->block[i], "ssm_conv1d_q.weight");
}

static bool has_dense(const struct roof_gguf *g, int64_t i)
{
    return roof_gguf_holds(&g->block[i], "ffn_up.weight");
}

/* Tells whether any of the layers has a tensor. */
static bool any_holds(const struct roof_gguf *g, const char *name)
{
    bool any = false;
    for (int64_t i = 0; i < main_layers(g) && !any; i++) {
        any = roof_gguf_holds(&g->block[i], name);
    }
    return any;
}

/* Returns the rows of the largest matrix of a weight in a layer, all of hidden elements. */
static int64_t rows(const struct roof_gguf *g, int64_t i, enum roof_weight weight)
{
    return i < 0 ? 0 : g->block[i].largest[weight] / g->metadata.hidden;
}

/* Returns the first layer with a tensor, among those with or without a window; -1: there is none.
 */
static int64_t first_layer(const struct roof_gguf *g, const char *name, bool windowed)
{
    int64_t found = -1;
    for (int64_t i = 0; i < main_layers(g) && found < 0; i++) {
        found = g->metadata.windowed[i] == windowed && roof_gguf_holds(&g->block[i], name) ? i : -1;
    }
    return found;
}

/* --- a config.json ------------------------------------------------------------------------- */

static void put_key(struct roof_text *out, const char *key)
{
    roof_text_printf(out, "%s\"%s\": ", out->length == 0 ? "{" : ", ", key);
}

static void put_number(struct roof_text *out, const char *key, int64_t value)
{
    put_key(out, key);
    roof_text_printf(out, "%" PRId64, value);
}

/* Puts a number that is 0 where it is not given. */
static void put_given(struct roof_text *out, const char *key, int64_t value)
{
    if (value > 0) {
        put_number(out, key, value);
    }
}

static void put_flag(struct roof_text *out, const char *key, bool value)
{
    put_key(out, key);
    roof_text_put(out, value ? "true" : "false");
}

/* Puts a word for each layer. */
static void put_words(struct roof_text *out, const char *key, const struct roof_gguf *g,
                      const char *(*word)(const struct roof_gguf *, int64_t))
{
    put_key(out, key);
    for (int64_t i = 0; i < main_layers(g); i++) {
        roof_text_printf(out, "%s\"%s\"", i == 0 ? "[" : ", ", word(g, i));
    }
    roof_text_put(out, "]");
}

/* Puts the numbers of the layers that a predicate picks, counted from `first`. */
static void put_picked(struct roof_text *out, const char *key, const struct roof_gguf *g,
                       bool (*picked)(const struct roof_gguf *, int64_t), int64_t first)
{
    const char *between = "";
    put_key(out, key);
    roof_text_put(out, "[");
    for (int64_t i = 0; i < main_layers(g); i++) {
        if (picked(g, i)) {
            roof_text_printf(out, "%s%" PRId64, between, i + first);
            between = ", ";
        }
    }
    roof_text_put(out, "]");
}

/* Puts a 1 for each layer that a predicate picks, and a 0 for the others. */
static void put_bits(struct roof_text *out, const char *key, const struct roof_gguf *g,
                     bool (*picked)(const struct roof_gguf *, int64_t))
{
    put_key(out, key);
    for (int64_t i = 0; i < main_layers(g); i++) {
        roof_text_printf(out, "%s%d", i == 0 ? "[" : ", ", picked(g, i));
    }
    roof_text_put(out, "]");
}

static const char *mixer_word(const struct roof_gguf *g, int64_t i)
{
    return has_state(g, i) ? "linear_attention" : "full_attention";
}

static bool is_windowed(const struct roof_gguf *g, int64_t i)
{
    return g->metadata.windowed[i];
}

static const char *window_word(const struct roof_gguf *g, int64_t i)
{
    return is_windowed(g, i) ? "sliding_attention" : "full_attention";
}

/* A layer of Nemotron-H has one part. */
static const char *part_word(const struct roof_gguf *g, int64_t i)
{
    return has_state(g, i)       ? "mamba"
           : has_attention(g, i) ? "attention"
           : has_experts(g, i)   ? "moe"
                                 : "mlp";
}

static bool is_dense(const struct roof_gguf *g, int64_t i)
{
    return !has_experts(g, i);
}

/* --- families ------------------------------------------------------------------------------ */

/* Three of four layers attend within chunks of 8192 tokens, which the class of llama.cpp sets, as
 * that of transformers does by default; norms of Q and K are in the model with 16 experts, not in
 * that with 128: ggml-org/llama.cpp@8a5c4e0, src/models/llama4.cpp. */
static void put_llama4(struct roof_text *out, const struct roof_gguf *g)
{
    put_number(out, "intermediate_size", g->model->expert_intermediate);
    put_given(out, "intermediate_size_mlp", g->metadata.intermediate);
    put_number(out, "attention_chunk_size", 8192);
    put_number(out, "no_rope_layer_interval", 4);
    put_flag(out, "use_qk_norm", g->metadata.experts != 128);
    put_picked(out, "moe_layers", g, has_experts, 0);
}

static void put_indexer(struct roof_text *out, const struct roof_gguf *g)
{
    put_number(out, "index_n_heads", g->metadata.index_heads);
    put_number(out, "index_head_dim", g->metadata.index_head_dim);
    put_number(out, "index_topk", g->metadata.index_topk);
}

static bool has_indexer(const struct roof_gguf *g, int64_t i)
{
    return roof_gguf_holds(&g->block[i], "indexer.attn_q_b.weight");
}

static const char *indexer_word(const struct roof_gguf *g, int64_t i)
{
    return has_indexer(g, i) ? "full" : "shared";
}

/* Layers without an indexer reuse the keys that an earlier one chose. */
static void put_shared_indexer(struct roof_text *out, const struct roof_gguf *g)
{
    put_indexer(out, g);
    put_words(out, "indexer_types", g, indexer_word);
}

static bool chooses_blocks(const struct roof_gguf *g, int64_t i)
{
    return roof_gguf_holds(&g->block[i], "indexer.q_proj.weight");
}

/* Ends an object of the config, which is begun with its first key. */
static void put_object(struct roof_text *out, const char *key, struct roof_text *inner)
{
    put_key(out, key);
    roof_text_put(out, inner->failed ? "" : inner->data);
    roof_text_put(out, "}");
    out->failed = out->failed || inner->failed;
    roof_text_free(inner);
}

/* Files that were made without the indexer attend to all keys. */
static void put_minimax_m3(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    struct roof_text inner = ROOF_TEXT_INIT;
    if (!any_holds(g, "indexer.q_proj.weight")) {
        return;
    }
    put_number(&inner, "sparse_num_index_heads", m->index_heads);
    put_number(&inner, "sparse_index_dim", m->index_head_dim);
    put_number(&inner, "sparse_topk_blocks", m->index_topk);
    put_number(&inner, "sparse_block_size", m->index_block);
    put_bits(&inner, "sparse_attention_freq", g, chooses_blocks);
    put_bits(&inner, "sparse_disable_index_value", g, chooses_blocks);
    put_object(out, "sparse_attention_config", &inner);
}

static int64_t state_head(const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    return m->state_rank > 0 ? m->state_inner / m->state_rank : 0;
}

static void put_gated_delta(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    put_words(out, "layer_types", g, mixer_word);
    put_number(out, "linear_conv_kernel_dim", m->conv_taps);
    put_number(out, "linear_num_key_heads", m->state_groups);
    put_number(out, "linear_key_head_dim", m->state_size);
    put_number(out, "linear_num_value_heads", m->state_rank);
    put_number(out, "linear_value_head_dim", state_head(g));
}

/* Puts the sizes of Mamba-2. The tokens of a chunk are those of published configs: llama.cpp scans
 * token by token, and its files do not have them. */
static void put_mamba2(struct roof_text *out, const struct roof_gguf *g, int64_t chunk)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    put_number(out, "mamba_n_heads", m->state_rank);
    put_number(out, "mamba_n_groups", m->state_groups);
    put_number(out, "mamba_d_state", m->state_size);
    put_number(out, "mamba_d_head", state_head(g));
    put_number(out, "mamba_d_conv", m->conv_taps);
    put_number(out, "mamba_chunk_size", chunk);
    put_flag(out, "mamba_conv_bias", any_holds(g, "ssm_conv1d.bias"));
}

static void put_nemotron(struct roof_text *out, const struct roof_gguf *g)
{
    put_words(out, "layers_block_type", g, part_word);
    put_mamba2(out, g, 128);
    put_given(out, "moe_latent_size", g->metadata.expert_latent);
}

static void put_granite(struct roof_text *out, const struct roof_gguf *g)
{
    put_words(out, "layer_types", g, mixer_word);
    put_mamba2(out, g, 256);
}

static void put_falcon(struct roof_text *out, const struct roof_gguf *g)
{
    put_mamba2(out, g, 128);
    put_number(out, "mamba_d_ssm", g->metadata.state_inner);
    put_flag(out, "mamba_rms_norm", any_holds(g, "ssm_norm.weight"));
}

static void put_jamba(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    put_words(out, "layer_types", g, mixer_word);
    put_number(out, "mamba_d_conv", m->conv_taps);
    put_number(out, "mamba_d_state", m->state_size);
    put_number(out, "mamba_dt_rank", m->state_rank);
    put_number(out, "mamba_expand", m->state_inner / m->hidden);
    put_flag(out, "mamba_conv_bias", any_holds(g, "ssm_conv1d.bias"));
    put_number(out, "expert_layer_period", 1); /* mlp_only_layers says the rest */
    put_number(out, "expert_layer_offset", 0);
}

/* Nothing is rotated: ggml-org/llama.cpp@06e514f, src/models/kimi-linear.cpp. */
static void put_kimi(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    put_flag(out, "mla_use_nope", true);
    struct roof_text inner = ROOF_TEXT_INIT;
    put_picked(&inner, "kda_layers", g, has_state, 1);
    put_number(&inner, "num_heads", m->heads);
    put_number(&inner, "head_dim", m->delta_head);
    put_number(&inner, "short_conv_kernel_size", m->conv_taps);
    put_object(out, "linear_attn_config", &inner);
}

/* Puts the layers with a window, and the embeddings of layers. */
static void put_gemma(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    const int64_t width = m->layer_embedding * main_layers(g);
    put_number(out, "sliding_window", m->window);
    put_words(out, "layer_types", g, window_word);
    put_number(out, "hidden_size_per_layer_input", m->layer_embedding);
    put_given(out, "vocab_size_per_layer_input",
              width > 0 ? (int64_t)(g->layer_table / (uint64_t)width) : 0);
}

/* All but the first 20 layers use keys and values of earlier ones: ggml-org/llama.cpp@3688fa8,
 * src/models/gemma3n.cpp (n_layer_kv_from_start). */
static void put_gemma3n(struct roof_text *out, const struct roof_gguf *g)
{
    const int64_t layers = main_layers(g);
    put_gemma(out, g);
    put_number(out, "num_kv_shared_layers", layers > 20 ? layers - 20 : 0);
    put_number(out, "altup_num_inputs", g->metadata.altup_streams);
    const int64_t left =
        (int64_t)(g->block[0].elements[ROOF_WEIGHT_UP] / (uint64_t)g->metadata.hidden);
    put_number(out, "laurel_rank", left - rows(g, 0, ROOF_WEIGHT_UP));
}

static void put_gemma4(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    const int64_t layers = main_layers(g);
    const int64_t inside = first_layer(g, "attn_k.weight", true);
    const int64_t outside = first_layer(g, "attn_k.weight", false);
    put_gemma(out, g);
    put_number(out, "num_kv_shared_layers", m->keyless);
    put_given(out, "head_dim", m->window_key_length);
    put_given(out, "global_head_dim", m->key_length);
    if (m->window_key_length > 0 && m->key_length > 0) {
        put_given(out, "num_key_value_heads",
                  rows(g, inside, ROOF_WEIGHT_K) / m->window_key_length);
        put_given(out, "num_global_key_value_heads",
                  rows(g, outside, ROOF_WEIGHT_K) / m->key_length);
    }
    put_flag(out, "attention_k_eq_v",
             outside >= 0 && !roof_gguf_holds(&g->block[outside], "attn_v.weight"));
    put_flag(out, "use_double_wide_mlp",
             rows(g, layers - 1, ROOF_WEIGHT_UP) > rows(g, 0, ROOF_WEIGHT_UP));
    put_flag(out, "enable_moe_block", any_holds(g, "ffn_gate_inp.weight"));
}

static int64_t heads_of(const struct roof_gguf *g, bool windowed)
{
    const int64_t dim = g->metadata.key_length;
    const int64_t layer = first_layer(g, "attn_k.weight", windowed);
    return dim > 0 ? rows(g, layer, ROOF_WEIGHT_K) / dim : 0;
}

static bool has_sinks(const struct roof_gguf *g, bool windowed)
{
    return first_layer(g, "attn_sinks.weight", windowed) >= 0;
}

/* Layers with a window have another number of KV heads, and V another size than K. */
static void put_mimo(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    put_number(out, "sliding_window", m->window);
    put_bits(out, "hybrid_layer_pattern", g, is_windowed);
    put_given(out, "head_dim", m->key_length);
    put_given(out, "v_head_dim", m->value_length);
    put_given(out, "rotary_dim", m->rotary_dim);
    put_given(out, "num_key_value_heads", heads_of(g, false));
    put_given(out, "swa_num_key_value_heads", heads_of(g, true));
    put_flag(out, "add_full_attention_sink_bias", has_sinks(g, false));
    put_flag(out, "add_swa_attention_sink_bias", has_sinks(g, true));
}

/* Source: ggml-org/llama.cpp@01a723d, conversion/deepseek.py (DeepseekV4Model), and
 * src/models/deepseek4.cpp: all layers have the window. */
static void put_deepseek4(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    put_number(out, "num_key_value_heads", 1);
    put_given(out, "head_dim", m->key_length);
    put_given(out, "qk_rope_head_dim", m->rotary_dim);
    put_given(out, "q_lora_rank", m->q_lora_rank);
    put_given(out, "sliding_window", m->window);
    put_given(out, "o_groups", m->out_groups);
    put_given(out, "o_lora_rank", m->out_rank);
    put_given(out, "hc_mult", m->streams);
    put_indexer(out, g);
    put_key(out, "compress_ratios");
    for (int64_t i = 0; i < main_layers(g); i++) {
        roof_text_printf(out, "%s%d", i == 0 ? "[" : ", ", m->ratio[i]);
    }
    roof_text_put(out, "]");
}

/* The parts of a config that families leave out, or put in themselves. */
enum {
    OWN_WIDTHS = 1 << 0, /* of MLPs */
    OWN_HEADS = 1 << 1,
    OWN_EXPERTS = 1 << 2 /* which layers have them */
};

static const struct mixed {
    const char *architecture;
    const char *type; /* model_type of the config */
    unsigned own;
    void (*put)(struct roof_text *out, const struct roof_gguf *g);
} families[] = {
    {"llama4", "llama4_text", OWN_WIDTHS | OWN_EXPERTS, put_llama4},
    {"deepseek32", "deepseek_v32", 0, put_indexer},
    {"deepseek4", "deepseek_v4", OWN_HEADS | OWN_EXPERTS, put_deepseek4},
    {"glm-dsa", "glm_moe_dsa", 0, put_shared_indexer},
    {"qwen3next", "qwen3_next", 0, put_gated_delta},
    {"qwen35", "qwen3_5_text", 0, put_gated_delta},
    {"qwen35moe", "qwen3_5_moe_text", 0, put_gated_delta},
    {"kimi-linear", "kimi_linear", 0, put_kimi},
    {"nemotron_h", "nemotron_h", OWN_EXPERTS, put_nemotron},
    {"nemotron_h_moe", "nemotron_h", OWN_EXPERTS, put_nemotron},
    {"falcon-h1", "falcon_h1", 0, put_falcon},
    {"granitehybrid", "granitemoehybrid", 0, put_granite},
    {"jamba", "jamba", 0, put_jamba},
    {"minimax-m3", "minimax_m3", 0, put_minimax_m3},
    {"mimo2", "mimo_v2", OWN_HEADS, put_mimo},
    {"gemma3n", "gemma3n_text", OWN_EXPERTS, put_gemma3n},
    {"gemma4", "gemma4_text", OWN_HEADS | OWN_EXPERTS, put_gemma4},
};

static const struct mixed *find_mixed(const char *architecture)
{
    for (size_t i = 0; i < COUNT(families); i++) {
        if (strcmp(families[i].architecture, architecture) == 0) {
            return &families[i];
        }
    }
    return NULL;
}

bool roof_gguf_is_mixed(const char *architecture)
{
    return find_mixed(architecture) != NULL;
}

/* --- the model ----------------------------------------------------------------------------- */

/* Puts the heads, and the ranks of latent attention. */
static void put_heads(struct roof_text *out, const struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    put_number(out, "num_attention_heads", m->heads);
    if (m->kv_lora_rank == 0) {
        put_given(out, "num_key_value_heads", m->kv_heads);
        put_given(out, "head_dim", m->key_length);
        put_given(out, "rotary_dim", m->rotary_dim);
        return;
    }
    put_number(out, "num_key_value_heads", m->heads);
    put_given(out, "q_lora_rank", m->q_lora_rank);
    put_number(out, "kv_lora_rank", m->kv_lora_rank);
    put_number(out, "qk_rope_head_dim", m->rotary_dim);
    put_number(out, "qk_nope_head_dim",
               m->key_length_mla > m->rotary_dim ? m->key_length_mla - m->rotary_dim : 0);
    put_number(out, "v_head_dim", m->value_length_mla);
}

static void put_experts(struct roof_text *out, const struct roof_gguf *g,
                        const struct mixed *family)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    if (m->experts < 2) {
        put_number(out, "num_experts", 0);
        return;
    }
    put_number(out, "num_experts", m->experts);
    put_number(out, "num_experts_per_tok", m->top_k);
    put_given(out, "n_group", m->expert_groups);
    put_given(out, "topk_group", m->group_topk);
    if ((family->own & OWN_WIDTHS) == 0) {
        put_given(out, "moe_intermediate_size", g->model->expert_intermediate);
        put_given(out, "shared_expert_intermediate_size", g->model->shared_intermediate);
    }
    if ((family->own & OWN_EXPERTS) == 0) {
        put_picked(out, "mlp_only_layers", g, is_dense, 0);
    }
}

static void put_config(struct roof_text *out, const struct roof_gguf *g, const struct mixed *family)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    int64_t dense = 0;
    while (dense + 1 < main_layers(g) && !has_dense(g, dense)) {
        dense++;
    }
    put_key(out, "model_type");
    roof_text_printf(out, "\"%s\"", family->type);
    put_number(out, "hidden_size", m->hidden);
    put_number(out, "num_hidden_layers", main_layers(g));
    put_number(out, "vocab_size", g->model->vocab);
    put_given(out, "max_position_embeddings", m->positions);
    put_given(out, "num_nextn_predict_layers", m->layers - main_layers(g));
    put_flag(out, "tie_word_embeddings",
             g->model->format[ROOF_WEIGHT_LM_HEAD] == ROOF_PRECISION_AUTO);
    put_flag(out, "attention_bias", g->model->qkv_bias);
    put_flag(out, "mlp_bias", g->model->mlp_bias);
    if ((family->own & OWN_WIDTHS) == 0) {
        put_given(out, "intermediate_size",
                  has_dense(g, dense) ? rows(g, dense, ROOF_WEIGHT_UP) : m->intermediate);
    }
    if ((family->own & OWN_HEADS) == 0) {
        put_heads(out, g);
    } else {
        put_number(out, "num_attention_heads", m->heads);
    }
    put_experts(out, g, family);
    family->put(out, g);
    roof_text_put(out, "}");
}

/* Reads the config into a model, which takes the place of the one of the tensors. */
static enum roof_status read_config(struct roof_gguf *g, const struct mixed *family,
                                    struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_json *json = NULL;
    struct roof_model *made = NULL;
    struct roof_error problem = {0};
    put_config(&text, g, family);
    enum roof_status status =
        text.failed ? roof_no_memory(&problem)
                    : roof_json_parse(&json, text.data, text.length, g->stream.path, &problem);
    if (status == ROOF_OK) {
        status = roof_config_read(&made, json, &problem);
    }
    roof_text_free(&text);
    if (status != ROOF_OK) {
        return status == ROOF_MEMORY ? roof_no_memory(error)
                                     : BAD(&g->stream, "as a config.json of model_type %s: %s",
                                           family->type, problem.message);
    }
    const struct roof_model tensors = *g->model;
    *g->model = *made;
    *made = tensors;
    memcpy(g->model->format, made->format, sizeof made->format);
    roof_model_free(made);
    return ROOF_OK;
}

/* Puts a layer's formats where its weights are, and counts its elements and bytes. */
static void put_layer(struct roof_gguf *g, int64_t i, uint64_t *elements, uint64_t *bytes)
{
    const struct roof_gguf_block *const block = &g->block[i];
    struct roof_layer *const layer = &g->layer[i];
    int8_t format[ROOF_WEIGHT_COUNT];
    const bool halves = roof_gguf_has(block, ROOF_GGUF_K_B) && roof_gguf_has(block, ROOF_GGUF_V_B);
    memcpy(format, layer->format, sizeof format);
    *layer = g->model->layer[g->model->layer_class[i]];
    roof_layer_take_formats(layer, format, block->largest);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const bool unused = layer->keyless && (w == ROOF_WEIGHT_K || w == ROOF_WEIGHT_V);
        *elements += unused ? 0 : block->elements[w];
        *bytes -= unused ? block->weight_bytes[w] : 0;
    }
    /* A block with both halves of kv_b has it as a copy. */
    *elements -= halves ? block->kv_b_elements : 0;
    *bytes += block->bytes + (halves ? 0 : block->kv_b_bytes);
}

/* Refuses metadata for which the config has no key. */
static enum roof_status check_metadata(struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    int64_t reusing = 0;
    for (int64_t i = 0; i < main_layers(g); i++) {
        reusing += !has_indexer(g, i);
    }
    /* GLM 5.2, whose context is this long, shares the chosen keys between layers, and files from
     * before llama.cpp read the list of these layers had an indexer in each:
     * ggml-org/llama.cpp@06e514f, src/models/glm-dsa.cpp. */
    const bool shares = m->index_types > 0 || m->positions >= 1048576;
    if (strcmp(m->architecture, "glm-dsa") == 0 && shares &&
        (reusing == 0 || (m->index_types > 0 && m->index_types != reusing))) {
        return roof_gguf_refuse(g, "an indexer in layers that reuse the keys of others");
    }
    const bool compressed = strcmp(m->architecture, "deepseek4") == 0;
    if (m->streams > 0 && !compressed) {
        char key[ROOF_GGUF_NAME_MAX];
        snprintf(key, sizeof key, "%.64s.hyper_connection.count", m->architecture);
        return roof_gguf_refuse(g, key);
    }
    if (compressed && m->ratios < m->layers) {
        return roof_gguf_refuse(g, "attention.compress_ratios without a number for each block");
    }
    const bool windows =
        strncmp(m->architecture, "gemma", 5) == 0 || strcmp(m->architecture, "mimo2") == 0;
    if (windows && m->windows != m->layers) {
        return roof_gguf_refuse(g, "attention.sliding_window without a list of the layers that "
                                   "have it");
    }
    return ROOF_OK;
}

enum roof_status roof_gguf_put_mixed(struct roof_gguf *g, struct roof_error *error)
{
    uint64_t elements = g->elements;
    uint64_t bytes = g->bytes;
    TRY(check_metadata(g));
    TRY(read_config(g, find_mixed(g->metadata.architecture), error));
    struct roof_model *const m = g->model;
    for (int64_t i = 0; i < m->layers; i++) {
        put_layer(g, i, &elements, &bytes);
    }
    if (m->format[ROOF_WEIGHT_LM_HEAD] == ROOF_PRECISION_AUTO) {
        m->format[ROOF_WEIGHT_LM_HEAD] = m->format[ROOF_WEIGHT_EMBEDDING];
    }
    const double expected = roof_model_matrices(m);
    if (!isnan(expected) &&
        expected != (double)elements) { /* NAN: the graph reports what is wrong */
        return BAD(&g->stream,
                   "its matrices have %" PRIu64 " elements, but those of %s with its metadata "
                   "%.0f: the file is not complete, or another kind of this architecture",
                   elements, g->metadata.architecture, expected);
    }
    m->stored = true;
    m->file_bytes = (double)bytes;
    return ROOF_OK;
}
