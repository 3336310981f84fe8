// SPDX-License-Identifier: MIT
#include "model/module_names.h"

#include <string.h>

#include "base/base.h"

/* --- tables -------------------------------------------------------------------------------- */

#define PLAIN ROOF_MODULE_PLAIN
#define STACKED ROOF_MODULE_STACKED
#define TRANSPOSED ROOF_MODULE_TRANSPOSED
#define STREAMS ROOF_MODULE_STREAMS
#define POSITIONS ROOF_MODULE_POSITIONS
#define SHARE ROOF_MODULE_SHARE
#define DENSE ROOF_MODULE_DENSE

struct extra {
    const char *name;
    unsigned weights;
    enum roof_module_trait trait;
};

#define BIT ROOF_WEIGHT_BIT
#define QKV (BIT(Q) | BIT(K) | BIT(V))
#define GATE_UP (BIT(GATE) | BIT(UP))

/* Modules of a layer beyond those of roof_weight_module; an expert's number is written 0. */
static const struct extra extras[] = {
    {"self_attn.qkv_proj", QKV, PLAIN},
    {"self_attn.out_proj", BIT(O), PLAIN},
    {"self_attn.dense", BIT(O), PLAIN},
    {"attn.c_attn", QKV, TRANSPOSED},
    {"attn.c_proj", BIT(O), TRANSPOSED},
    {"attention.query_key_value", QKV, PLAIN},
    {"attention.dense", BIT(O), PLAIN},
    {"attention.wqkv", QKV, PLAIN},
    {"attention.wo", BIT(O), PLAIN},
    {"mlp.gate_up_proj", GATE_UP, PLAIN},
    {"mlp.c_fc", BIT(UP), TRANSPOSED},
    {"mlp.c_proj", BIT(DOWN), TRANSPOSED},
    {"mlp.fc1", BIT(UP), PLAIN},
    {"mlp.fc2", BIT(DOWN), PLAIN},
    {"fc1", BIT(UP), PLAIN},
    {"fc2", BIT(DOWN), PLAIN},
    {"mlp.dense_h_to_4h", BIT(UP), PLAIN},
    {"mlp.dense_4h_to_h", BIT(DOWN), PLAIN},
    {"feed_forward.w1", BIT(GATE), PLAIN},
    {"feed_forward.w3", BIT(UP), PLAIN},
    {"feed_forward.w2", BIT(DOWN), PLAIN},
    {"mlp.router", BIT(ROUTER), PLAIN},
    {"block_sparse_moe.gate", BIT(ROUTER), PLAIN},
    {"block_sparse_moe.experts.0.w1", BIT(EXPERT_GATE), PLAIN},
    {"block_sparse_moe.experts.0.w3", BIT(EXPERT_UP), PLAIN},
    {"block_sparse_moe.experts.0.w2", BIT(EXPERT_DOWN), PLAIN},
    {"mlp.experts.gate_up_proj", BIT(EXPERT_GATE) | BIT(EXPERT_UP), STACKED},
    {"mlp.experts.down_proj", BIT(EXPERT_DOWN), STACKED},
    {"mlp.shared_expert.gate_proj", BIT(SHARED_GATE), PLAIN},
    {"mlp.shared_expert.up_proj", BIT(SHARED_UP), PLAIN},
    {"mlp.shared_expert.down_proj", BIT(SHARED_DOWN), PLAIN},
    {"mlp.shared_expert_gate", BIT(NORM), PLAIN},
};

/*
 * Modules of layers with other parts. Sources: huggingface/transformers, modeling_qwen3_next.py and
 * _qwen3_5.py (linear_attn), _bamba.py, _falcon_h1.py, _granitemoehybrid.py and _jamba.py (mamba,
 * feed_forward, shared_mlp, block_sparse_moe.input_linear), _nemotron_h.py (mixer), _llama4.py,
 * _deepseek_v32.py and _glm_moe_dsa.py (indexer), _minimax.py (output_gate), _mllama.py;
 * _deepseek_v4.py (compressor, attn_hc), _minimax_m3_vl.py (indexer.q_proj), _gemma3n.py (altup,
 * laurel) and _gemma4.py (router, experts); deepseek-ai/DeepSeek-V4-Flash, inference/model.py
 * (attn, ffn); the index of MiniMaxAI/MiniMax-M3 (index_q_proj);
 * moonshotai/Kimi-Linear-48B-A3B-Instruct, modeling_kimi.py (convolutions and gates of self_attn),
 * and moonshotai/Kimi-K3, modeling_kimi_k3.py (g_proj, routed_expert_down_proj).
 */
static const struct extra parts[] = {
    /* gated delta nets: Qwen3-Next joins what Qwen3.5 keeps apart */
    {"linear_attn.in_proj_qkv", BIT(MIXER_IN), PLAIN},
    {"linear_attn.in_proj_z", BIT(MIXER_IN), SHARE},
    {"linear_attn.in_proj_ba", BIT(MIXER_IN), SHARE},
    {"linear_attn.in_proj_b", BIT(MIXER_IN), SHARE},
    {"linear_attn.in_proj_a", BIT(MIXER_IN), SHARE},
    {"linear_attn.conv1d", BIT(NORM), PLAIN},
    /* Kimi delta attention, whose other products have the names of attention */
    {"self_attn.f_a_proj", BIT(MIXER_IN), SHARE},
    {"self_attn.f_b_proj", BIT(MIXER_LOW), PLAIN},
    {"self_attn.g_a_proj", BIT(MIXER_IN), SHARE},
    {"self_attn.g_b_proj", BIT(MIXER_LOW), PLAIN},
    {"self_attn.g_proj", BIT(MIXER_IN), SHARE}, /* of latent attention, too */
    {"self_attn.b_proj", BIT(MIXER_IN), SHARE},
    {"self_attn.q_conv1d", BIT(NORM), PLAIN},
    {"self_attn.k_conv1d", BIT(NORM), PLAIN},
    {"self_attn.v_conv1d", BIT(NORM), PLAIN},
    /* lightning attention */
    {"self_attn.output_gate", BIT(MIXER_IN), SHARE},
    /* Mamba-2, and Mamba-1 with x_proj and dt_proj */
    {"mamba.in_proj", BIT(MIXER_IN), PLAIN},
    {"mamba.dt_proj", BIT(MIXER_LOW), PLAIN},
    {"mamba.out_proj", BIT(MIXER_OUT), PLAIN},
    {"mamba.conv1d", BIT(NORM), PLAIN},
    {"mamba.A_log", BIT(NORM), PLAIN},
    /* Nemotron-H calls the one part of a layer its mixer */
    {"mixer.in_proj", BIT(MIXER_IN), PLAIN},
    {"mixer.out_proj", BIT(MIXER_OUT), PLAIN},
    {"mixer.conv1d", BIT(NORM), PLAIN},
    {"mixer.q_proj", BIT(Q), PLAIN},
    {"mixer.k_proj", BIT(K), PLAIN},
    {"mixer.v_proj", BIT(V), PLAIN},
    {"mixer.o_proj", BIT(O), PLAIN},
    {"mixer.up_proj", BIT(UP), PLAIN},
    {"mixer.down_proj", BIT(DOWN), PLAIN},
    {"mixer.gate", BIT(ROUTER), PLAIN},
    {"mixer.experts.0.up_proj", BIT(EXPERT_UP), PLAIN},
    {"mixer.experts.0.down_proj", BIT(EXPERT_DOWN), PLAIN},
    {"mixer.shared_experts.up_proj", BIT(SHARED_UP), PLAIN},
    {"mixer.shared_experts.down_proj", BIT(SHARED_DOWN), PLAIN},
    /* an indexer */
    {"self_attn.indexer.wk", BIT(INDEX), SHARE},
    {"self_attn.indexer.weights_proj", BIT(INDEX), SHARE},
    {"self_attn.index_q_proj", BIT(INDEX), PLAIN}, /* of blocks */
    {"self_attn.index_k_proj", BIT(INDEX), SHARE},
    {"self_attn.indexer.q_proj", BIT(INDEX), PLAIN},
    {"self_attn.indexer.k_proj", BIT(INDEX), SHARE},
    /* compressed keys and streams of the residual, under the names of DeepSeek */
    {"attn.wq_a", BIT(Q_A), PLAIN},
    {"attn.wq_b", BIT(Q_B), PLAIN},
    {"attn.wkv", BIT(KV_A), PLAIN},
    {"attn.fused_wqa_wkv", BIT(Q_A) | BIT(KV_A), PLAIN}, /* in vLLM */
    {"attn.wo_a", BIT(O), PLAIN},
    {"attn.wo_b", BIT(O), SHARE},
    {"attn.compressor.wkv", BIT(COMPRESS), PLAIN},
    {"attn.compressor.wgate", BIT(COMPRESS), PLAIN},
    {"attn.compressor.ape", BIT(NORM), PLAIN},
    {"attn.indexer.wq_b", BIT(INDEX), PLAIN},
    {"attn.indexer.weights_proj", BIT(COMPRESS), PLAIN},
    {"attn.indexer.compressor.wkv", BIT(COMPRESS), PLAIN},
    {"attn.indexer.compressor.wgate", BIT(COMPRESS), PLAIN},
    {"attn.indexer.compressor.ape", BIT(NORM), PLAIN},
    {"hc_attn_fn", BIT(NORM), STREAMS},
    {"hc_ffn_fn", BIT(NORM), STREAMS},
    {"ffn.gate", BIT(ROUTER), PLAIN},
    {"ffn.experts.0.w1", BIT(EXPERT_GATE), PLAIN},
    {"ffn.experts.0.w3", BIT(EXPERT_UP), PLAIN},
    {"ffn.experts.0.w2", BIT(EXPERT_DOWN), PLAIN},
    {"ffn.experts.0.gate_proj", BIT(EXPERT_GATE), PLAIN},
    {"ffn.experts.0.up_proj", BIT(EXPERT_UP), PLAIN},
    {"ffn.experts.0.down_proj", BIT(EXPERT_DOWN), PLAIN},
    {"ffn.shared_experts.gate_proj", BIT(SHARED_GATE), PLAIN},
    {"ffn.shared_experts.up_proj", BIT(SHARED_UP), PLAIN},
    {"ffn.shared_experts.down_proj", BIT(SHARED_DOWN), PLAIN},
    {"ffn.shared_experts.w1", BIT(SHARED_GATE), PLAIN},
    {"ffn.shared_experts.w3", BIT(SHARED_UP), PLAIN},
    {"ffn.shared_experts.w2", BIT(SHARED_DOWN), PLAIN},
    /* the same under the names of transformers */
    {"self_attn.kv_proj", BIT(KV_A), PLAIN},
    {"self_attn.o_a_proj", BIT(O), PLAIN},
    {"self_attn.o_b_proj", BIT(O), SHARE},
    {"self_attn.compressor.kv_proj", BIT(COMPRESS), PLAIN},
    {"self_attn.compressor.gate_proj", BIT(COMPRESS), PLAIN},
    {"self_attn.compressor.position_bias", BIT(NORM), PLAIN},
    {"self_attn.compressor.indexer.q_b_proj", BIT(INDEX), PLAIN},
    {"self_attn.compressor.indexer.weights_proj", BIT(COMPRESS), PLAIN},
    {"self_attn.compressor.indexer.kv_proj", BIT(COMPRESS), PLAIN},
    {"self_attn.compressor.indexer.gate_proj", BIT(COMPRESS), PLAIN},
    {"self_attn.compressor.indexer.position_bias", BIT(NORM), PLAIN},
    {"attn_hc.fn", BIT(NORM), STREAMS},
    {"ffn_hc.fn", BIT(NORM), STREAMS},
    /* the layers of Gemma 3n and 4 */
    {"altup.modality_router", BIT(ROUTER), SHARE},
    {"altup.prediction_coefs", BIT(NORM), PLAIN},
    {"altup.correction_coefs", BIT(NORM), PLAIN},
    {"laurel.linear_left", BIT(UP), SHARE},
    {"laurel.linear_right", BIT(DOWN), SHARE},
    {"router.proj", BIT(ROUTER), PLAIN},
    {"experts.gate_up_proj", BIT(EXPERT_GATE) | BIT(EXPERT_UP), STACKED},
    {"experts.down_proj", BIT(EXPERT_DOWN), STACKED},
    /* MLPs and experts under other names */
    {"feed_forward.gate_proj", BIT(GATE), PLAIN},
    {"feed_forward.up_proj", BIT(UP), PLAIN},
    {"feed_forward.down_proj", BIT(DOWN), PLAIN},
    {"feed_forward.router", BIT(ROUTER), PLAIN},
    {"feed_forward.experts.0.gate_proj", BIT(EXPERT_GATE), PLAIN},
    {"feed_forward.experts.0.up_proj", BIT(EXPERT_UP), PLAIN},
    {"feed_forward.experts.0.down_proj", BIT(EXPERT_DOWN), PLAIN},
    {"feed_forward.experts.gate_up_proj", BIT(EXPERT_GATE) | BIT(EXPERT_UP), STACKED},
    {"feed_forward.experts.down_proj", BIT(EXPERT_DOWN), STACKED},
    {"feed_forward.shared_expert.gate_proj", BIT(SHARED_GATE), PLAIN},
    {"feed_forward.shared_expert.up_proj", BIT(SHARED_UP), PLAIN},
    {"feed_forward.shared_expert.down_proj", BIT(SHARED_DOWN), PLAIN},
    {"block_sparse_moe.router.layer", BIT(ROUTER), PLAIN},
    {"block_sparse_moe.input_linear", BIT(EXPERT_GATE) | BIT(EXPERT_UP), STACKED},
    {"block_sparse_moe.output_linear", BIT(EXPERT_DOWN), STACKED},
    {"block_sparse_moe.shared_experts.gate_proj", BIT(SHARED_GATE), PLAIN},
    {"block_sparse_moe.shared_experts.up_proj", BIT(SHARED_UP), PLAIN},
    {"block_sparse_moe.shared_experts.down_proj", BIT(SHARED_DOWN), PLAIN},
    {"block_sparse_moe.routed_expert_down_proj", BIT(LATENT_IN), PLAIN},
    {"block_sparse_moe.routed_expert_up_proj", BIT(LATENT_OUT), PLAIN},
    {"mlp.shared_experts.gate_up_proj", BIT(SHARED_GATE) | BIT(SHARED_UP), PLAIN},
    {"mlp.shared_mlp.gate_proj", BIT(SHARED_GATE), PLAIN},
    {"mlp.shared_mlp.up_proj", BIT(SHARED_UP), PLAIN},
    {"mlp.shared_mlp.down_proj", BIT(SHARED_DOWN), PLAIN},
    {"mlp.gate.wg", BIT(ROUTER), PLAIN},
    {"shared_mlp.input_linear", BIT(SHARED_GATE) | BIT(SHARED_UP), DENSE},
    {"shared_mlp.output_linear", BIT(SHARED_DOWN), DENSE},
    /* attention to images */
    {"cross_attn.q_proj", BIT(Q), PLAIN},
    {"cross_attn.k_proj", BIT(K), PLAIN},
    {"cross_attn.v_proj", BIT(V), PLAIN},
    {"cross_attn.o_proj", BIT(O), PLAIN},
};

/* Modules outside the layers. */
static const struct {
    const char *name;
    enum roof_weight weight;
    enum roof_module_trait trait;
} outside[] = {
    {"embed_tokens", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"wte", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"tok_embeddings", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"embed_in", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"embeddings", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"embed_positions", ROOF_WEIGHT_EMBEDDING, POSITIONS},
    {"wpe", ROOF_WEIGHT_EMBEDDING, POSITIONS},
    {"norm", ROOF_WEIGHT_NORM, PLAIN},
    {"ln_f", ROOF_WEIGHT_NORM, PLAIN},
    {"norm_f", ROOF_WEIGHT_NORM, PLAIN},
    {"final_layernorm", ROOF_WEIGHT_NORM, PLAIN},
    {"final_layer_norm", ROOF_WEIGHT_NORM, PLAIN},
    {"lm_head", ROOF_WEIGHT_LM_HEAD, PLAIN},
    {"embed_out", ROOF_WEIGHT_LM_HEAD, PLAIN},
    {"output", ROOF_WEIGHT_LM_HEAD, PLAIN},
    {"head", ROOF_WEIGHT_LM_HEAD, PLAIN},
    {"embed", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"hc_head_fn", ROOF_WEIGHT_NORM, STREAMS},
    {"hc_head.hc_fn", ROOF_WEIGHT_NORM, STREAMS},
    {"embed_tokens_per_layer", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"per_layer_model_projection", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"altup_projections.0", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"altup_projections.1", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"altup_projections.2", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"altup_unembed_projections.0", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"altup_unembed_projections.1", ROOF_WEIGHT_EMBEDDING, PLAIN},
    {"altup_unembed_projections.2", ROOF_WEIGHT_EMBEDDING, PLAIN},
};

/* These may stand before "layers.N."; the longer ones come first. */
static const char *const prefixes[] = {"model.language_model.",
                                       "language_model.model.",
                                       "model.decoder.",
                                       "thinker.model.",
                                       "language_model.",
                                       "transformer.",
                                       "language_model.backbone.",
                                       "backbone.",
                                       "gpt_neox.",
                                       "decoder.",
                                       "thinker.",
                                       "model."};
/* Tensors whose names begin so are not part of the language model, or not of its forward pass. */
static const char *const towers[] = {
    "vision_", "visual.",       "vit.",         "audio_",    "multi_modal", "mm_",
    "image_",  "embed_vision.", "embed_audio.", "connector", "projector.",  "aligner.",
    "talker.", "code2wav.",     "token2wav.",   "mtp.",      "mlp1.",       "patch_merge_mlp."};
/* Modules that only models with one of these mixers have, by how their names begin. The usual names
 * of roof_weight_module are in all models. */
#define MIXER(kind) (1U << ROOF_MIXER_##kind)
static const struct {
    const char *begin;
    unsigned mixers;
} owners[] = {
    {"linear_attn.", MIXER(GATED_DELTA)},
    {"mamba.", MIXER(SSD) | MIXER(SELECTIVE)},
    {"mixer.", MIXER(SSD) | MIXER(SELECTIVE)},
    {"self_attn.output_gate", MIXER(LIGHTNING)},
    {"self_attn.out_proj", MIXER(NONE) | MIXER(LIGHTNING)},
    {"self_attn.f_", MIXER(KIMI_DELTA)},
    {"self_attn.g_", MIXER(KIMI_DELTA)},
    {"self_attn.b_proj", MIXER(KIMI_DELTA)},
    {"self_attn.dense", MIXER(NONE)},
    {"attn.c_", MIXER(NONE)},
    {"mlp.fc", MIXER(NONE)},
    {"fc", MIXER(NONE)},
};

/* HunYuan calls its shared experts so. An expression for the MLP of other models may match that. */
static const char *const hunyuan[] = {"mlp.shared_mlp.", "HunYuan"}; /* module, class */

/* The names of DeepSeek, in models with compressed keys, begin with one of these. */
static const char *const compressed[] = {"attn.w",       "attn.fused", "attn.compressor",
                                         "attn.indexer", "hc_",        "ffn."};

/* Modules are numbered: weights, then extras, then parts, then those outside the layers. */
#define FIRST_EXTRA ROOF_WEIGHT_COUNT
#define FIRST_PART (FIRST_EXTRA + (int)COUNT(extras))
#define FIRST_OUTSIDE (FIRST_PART + (int)COUNT(parts))
#define MODULES (FIRST_OUTSIDE + (int)COUNT(outside))

_Static_assert(MODULES <= ROOF_MODULES_MAX, "there is room for all modules");

const struct roof_module_numbers *roof_module_numbers(void)
{
    static const struct roof_module_numbers numbers = {FIRST_PART, FIRST_OUTSIDE, MODULES};
    return &numbers;
}

/* --- modules ------------------------------------------------------------------------------- */

static const struct extra *find_extra(int module)
{
    return module < FIRST_EXTRA || module >= FIRST_OUTSIDE ? NULL
           : module < FIRST_PART                           ? &extras[module - FIRST_EXTRA]
                                                           : &parts[module - FIRST_PART];
}

const char *roof_module_name(int module)
{
    const struct extra *const extra = find_extra(module);
    return extra != NULL             ? extra->name
           : module >= FIRST_OUTSIDE ? outside[module - FIRST_OUTSIDE].name
                                     : roof_weight_module((enum roof_weight)module);
}

unsigned roof_module_weights(int module)
{
    const struct extra *const extra = find_extra(module);
    if (module >= FIRST_OUTSIDE) {
        return 1U << outside[module - FIRST_OUTSIDE].weight;
    }
    return extra != NULL ? extra->weights : 1U << module;
}

enum roof_module_trait roof_module_trait(int module)
{
    const struct extra *const extra = find_extra(module);
    return extra != NULL             ? extra->trait
           : module >= FIRST_OUTSIDE ? outside[module - FIRST_OUTSIDE].trait
                                     : PLAIN;
}

bool roof_module_in_layers(int module)
{
    return module >= FIRST_EXTRA ? module < FIRST_OUTSIDE
                                 : !roof_weight_outside((enum roof_weight)module);
}

bool roof_module_fits(int module, const struct roof_model *model)
{
    const char *const name = roof_module_name(module);
    if (module < FIRST_EXTRA) {
        return true;
    }
    for (size_t i = 0; i < COUNT(owners); i++) {
        if (roof_text_after(name, owners[i].begin) != NULL) {
            return (owners[i].mixers & 1U << model->mixer.kind) != 0;
        }
    }
    if (roof_text_after(name, hunyuan[0]) != NULL) {
        return model->architecture != NULL &&
               roof_text_after(model->architecture, hunyuan[1]) != NULL;
    }
    return model->out_rank > 0 || !roof_is_listed(name, compressed, COUNT(compressed), false);
}

/* --- names --------------------------------------------------------------------------------- */

const char *roof_text_after(const char *text, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

bool roof_is_listed(const char *name, const char *const *list, size_t count, bool whole)
{
    for (size_t i = 0; i < count; i++) {
        const char *const rest = roof_text_after(name, list[i]);
        if (rest != NULL && (!whole || *rest == '\0')) {
            return true;
        }
    }
    return false;
}

const char *roof_module_without_prefix(const char *name)
{
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        const char *const rest = roof_text_after(name, prefixes[i]);
        if (rest != NULL) {
            return rest;
        }
    }
    return name;
}

bool roof_module_is_other(const char *name)
{
    return roof_is_listed(name, towers, COUNT(towers), false);
}
