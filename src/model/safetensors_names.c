// SPDX-License-Identifier: MIT
#include "model/safetensors_names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/weights.h"

/* --- tables -------------------------------------------------------------------------------- */

static const struct {
    const char *suffix;
    enum roof_part_kind kind;
} suffixes[] = {
    {".weight", ROOF_PART_WEIGHT},
    {"", ROOF_PART_WEIGHT},
    {".bias", ROOF_PART_BIAS},
    {"_bias", ROOF_PART_BIAS},
    {".e_score_correction_bias", ROOF_PART_BIAS},
    {".qweight", ROOF_PART_QWEIGHT},
    {".weight_packed", ROOF_PART_PACKED},
    {"_blocks", ROOF_PART_BLOCKS},
    {".weight_scale", ROOF_PART_SCALE},
    {".weight_scale_inv", ROOF_PART_SCALE_INV},
    {".scales", ROOF_PART_SCALES},
    {"_scales", ROOF_PART_BLOCK_SCALES},
    {".qzeros", ROOF_PART_ZEROS},
    {".weight_zero_point", ROOF_PART_ZERO_POINT},
    {".weight.absmax", ROOF_PART_ABSMAX},
    {".weight.nested_absmax", ROOF_PART_NESTED_ABSMAX},
    {".weight.quant_state.bitsandbytes__nf4", ROOF_PART_STATE_NF4},
    {".weight.quant_state.bitsandbytes__fp4", ROOF_PART_STATE_FP4},
    {".SCB", ROOF_PART_SCB},
    {".weight_scale_2", ROOF_PART_SCALE_2},
    {".weight_global_scale", ROOF_PART_GLOBAL_SCALE},
    {".input_scale", ROOF_PART_INPUT_SCALE},
    {".input_global_scale", ROOF_PART_INPUT_GLOBAL_SCALE},
    {".output_scale", ROOF_PART_OUTPUT_SCALE},
    {".weight_shape", ROOF_PART_SHAPE},
    {".g_idx", ROOF_PART_G_IDX},
    {".weight_g_idx", ROOF_PART_WEIGHT_G_IDX},
    {".weight.quant_map", ROOF_PART_QUANT_MAP},
    {".weight.nested_quant_map", ROOF_PART_NESTED_QUANT_MAP},
    {".weight_format", ROOF_PART_WEIGHT_FORMAT},
};

#define BIT ROOF_WEIGHT_BIT
#define QKV (BIT(Q) | BIT(K) | BIT(V))
#define GATE_UP (BIT(GATE) | BIT(UP))

/* Modules of a layer beyond those of roof_weight_module; an expert's number is written 0. */
static const struct extra {
    const char *name;
    unsigned weights;
    bool stacked;    /* all experts in one tensor */
    bool transposed; /* Conv1D: columns first */
} extras[] = {
    {"self_attn.qkv_proj", QKV, false, false},
    {"self_attn.out_proj", BIT(O), false, false},
    {"self_attn.dense", BIT(O), false, false},
    {"attn.c_attn", QKV, false, true},
    {"attn.c_proj", BIT(O), false, true},
    {"attention.query_key_value", QKV, false, false},
    {"attention.dense", BIT(O), false, false},
    {"attention.wqkv", QKV, false, false},
    {"attention.wo", BIT(O), false, false},
    {"mlp.gate_up_proj", GATE_UP, false, false},
    {"mlp.c_fc", BIT(UP), false, true},
    {"mlp.c_proj", BIT(DOWN), false, true},
    {"mlp.fc1", BIT(UP), false, false},
    {"mlp.fc2", BIT(DOWN), false, false},
    {"fc1", BIT(UP), false, false},
    {"fc2", BIT(DOWN), false, false},
    {"mlp.dense_h_to_4h", BIT(UP), false, false},
    {"mlp.dense_4h_to_h", BIT(DOWN), false, false},
    {"feed_forward.w1", BIT(GATE), false, false},
    {"feed_forward.w3", BIT(UP), false, false},
    {"feed_forward.w2", BIT(DOWN), false, false},
    {"mlp.router", BIT(ROUTER), false, false},
    {"block_sparse_moe.gate", BIT(ROUTER), false, false},
    {"block_sparse_moe.experts.0.w1", BIT(EXPERT_GATE), false, false},
    {"block_sparse_moe.experts.0.w3", BIT(EXPERT_UP), false, false},
    {"block_sparse_moe.experts.0.w2", BIT(EXPERT_DOWN), false, false},
    {"mlp.experts.gate_up_proj", BIT(EXPERT_GATE) | BIT(EXPERT_UP), true, false},
    {"mlp.experts.down_proj", BIT(EXPERT_DOWN), true, false},
    {"mlp.shared_expert.gate_proj", BIT(SHARED_GATE), false, false},
    {"mlp.shared_expert.up_proj", BIT(SHARED_UP), false, false},
    {"mlp.shared_expert.down_proj", BIT(SHARED_DOWN), false, false},
    {"mlp.shared_expert_gate", BIT(NORM), false, false},
};

/* Modules outside the layers. */
static const struct {
    const char *name;
    enum roof_weight weight;
    bool positions;
} outside[] = {
    {"embed_tokens", ROOF_WEIGHT_EMBEDDING, false},
    {"wte", ROOF_WEIGHT_EMBEDDING, false},
    {"tok_embeddings", ROOF_WEIGHT_EMBEDDING, false},
    {"embed_in", ROOF_WEIGHT_EMBEDDING, false},
    {"embed_positions", ROOF_WEIGHT_EMBEDDING, true},
    {"wpe", ROOF_WEIGHT_EMBEDDING, true},
    {"norm", ROOF_WEIGHT_NORM, false},
    {"ln_f", ROOF_WEIGHT_NORM, false},
    {"final_layernorm", ROOF_WEIGHT_NORM, false},
    {"final_layer_norm", ROOF_WEIGHT_NORM, false},
    {"lm_head", ROOF_WEIGHT_LM_HEAD, false},
    {"embed_out", ROOF_WEIGHT_LM_HEAD, false},
    {"output", ROOF_WEIGHT_LM_HEAD, false},
};

/* Modules are numbered: weights, then extras, then those outside the layers. */
#define FIRST_EXTRA ROOF_WEIGHT_COUNT
#define FIRST_OUTSIDE (ROOF_WEIGHT_COUNT + (int)COUNT(extras))

/* These may stand before "layers.N."; the longer ones come first. */
static const char *const prefixes[] = {"model.language_model.",
                                       "language_model.model.",
                                       "model.decoder.",
                                       "thinker.model.",
                                       "language_model.",
                                       "transformer.",
                                       "gpt_neox.",
                                       "decoder.",
                                       "thinker.",
                                       "model."};
static const char *const layer_lists[] = {"layers.", "h.", "blocks."};
/* Tensors whose names begin so are not part of the language model, or not of its forward pass. */
static const char *const towers[] = {
    "vision_", "visual.",       "vit.",         "audio_",    "multi_modal", "mm_",
    "image_",  "embed_vision.", "embed_audio.", "connector", "projector.",  "aligner.",
    "talker.", "code2wav.",     "token2wav.",   "mtp.",      "mlp1."};
/* Old checkpoints carry these tables along. */
static const char *const buffers[] = {"self_attn.rotary_emb.inv_freq",
                                      "attention.rotary_emb.inv_freq",
                                      "attn.bias",
                                      "attn.masked_bias",
                                      "attention.bias",
                                      "attention.masked_bias",
                                      "self_attn.bias"};

/* --- modules ------------------------------------------------------------------------------- */

const char *roof_tensor_module_name(int module)
{
    return module < FIRST_EXTRA     ? roof_weight_module((enum roof_weight)module)
           : module < FIRST_OUTSIDE ? extras[module - FIRST_EXTRA].name
                                    : outside[module - FIRST_OUTSIDE].name;
}

unsigned roof_tensor_module_weights(int module)
{
    return module < FIRST_EXTRA     ? 1U << module
           : module < FIRST_OUTSIDE ? extras[module - FIRST_EXTRA].weights
                                    : 1U << outside[module - FIRST_OUTSIDE].weight;
}

static const struct extra *find_extra(int module)
{
    return module >= FIRST_EXTRA && module < FIRST_OUTSIDE ? &extras[module - FIRST_EXTRA] : NULL;
}

bool roof_tensor_is_stacked(int module)
{
    const struct extra *const extra = find_extra(module);
    return extra != NULL && extra->stacked;
}

bool roof_tensor_is_transposed(int module)
{
    const struct extra *const extra = find_extra(module);
    return extra != NULL && extra->transposed;
}

bool roof_tensor_is_positions(int module)
{
    return module >= FIRST_OUTSIDE && outside[module - FIRST_OUTSIDE].positions;
}

/* --- names --------------------------------------------------------------------------------- */

static const char *after(const char *text, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static bool is_listed(const char *name, const char *const *list, size_t count, bool whole)
{
    for (size_t i = 0; i < count; i++) {
        const char *const rest = after(name, list[i]);
        if (rest != NULL && (!whole || *rest == '\0')) {
            return true;
        }
    }
    return false;
}

/* Returns the number that text begins with, and what follows its dot; -1 when there is none. */
static int32_t read_number(const char *text, const char **rest)
{
    int32_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value < 1000000; at++) {
        value = 10 * value + (*at - '0');
    }
    *rest = at + 1;
    return at > text && *at == '.' ? value : -1;
}

/* Returns the N of "layers.N.REST", and REST; -1 outside the layers. */
static int32_t read_layer(const char *name, const char **rest)
{
    for (size_t i = 0; i < COUNT(layer_lists); i++) {
        const char *const behind = after(name, layer_lists[i]);
        const int32_t layer = behind == NULL ? -1 : read_number(behind, rest);
        if (layer >= 0) {
            return layer;
        }
    }
    return -1;
}

static const char *without_prefix(const char *name)
{
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        const char *const rest = after(name, prefixes[i]);
        if (rest != NULL) {
            return rest;
        }
    }
    return name;
}

static int find_suffix(const char *suffix)
{
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        if (strcmp(suffix, suffixes[i].suffix) == 0) {
            return (int)suffixes[i].kind;
        }
    }
    return -1;
}

/* Finds the module of a name, and what the tensor is to it; false when either is not known. */
static bool find_module(struct roof_tensor_place *out, const char *name, int first, int end)
{
    for (int module = first; module < end; module++) {
        if (module < FIRST_EXTRA && roof_weight_outside((enum roof_weight)module)) {
            continue; /* no layer has a module of that name */
        }
        const char *const rest = after(name, roof_tensor_module_name(module));
        const int kind = rest == NULL ? -1 : find_suffix(rest);
        if (kind >= 0) {
            out->module = (int16_t)module;
            out->kind = (int8_t)kind;
            return true;
        }
    }
    return false;
}

/* Finds the module of a name in a layer. The number of an expert is taken out of the name. */
static bool find_in_layer(struct roof_tensor_place *out, const char *name)
{
    char plain[128];
    assert(name != NULL);
    const char *const experts = strstr(name, "experts.");
    const char *rest = NULL;
    out->expert = experts == NULL ? -1 : read_number(experts + 8, &rest);
    if (out->expert >= 0) {
        const int length =
            snprintf(plain, sizeof plain, "%.*s0.%s", (int)(experts + 8 - name), name, rest);
        if (length < 0 || (size_t)length >= sizeof plain) {
            return false;
        }
        name = plain;
    }
    return find_module(out, name, 0, FIRST_OUTSIDE);
}

enum roof_tensor_role roof_tensor_find(struct roof_tensor_place *out, const char *name,
                                       int64_t layers)
{
    const char *const plain = without_prefix(name);
    const char *rest = NULL;
    *out = (struct roof_tensor_place){.layer = read_layer(plain, &rest), .expert = -1};
    if (is_listed(plain, towers, COUNT(towers), false) ||
        is_listed(name, towers, COUNT(towers), false)) {
        return ROOF_TENSOR_IGNORED;
    }
    if (out->layer >= layers) {
        return ROOF_TENSOR_UNKNOWN;
    }
    if (out->layer < 0) {
        return find_module(out, plain, FIRST_OUTSIDE, FIRST_OUTSIDE + (int)COUNT(outside))
                   ? ROOF_TENSOR_KNOWN
                   : ROOF_TENSOR_UNKNOWN;
    }
    if (is_listed(rest, buffers, COUNT(buffers), true)) {
        return ROOF_TENSOR_IGNORED;
    }
    return find_in_layer(out, rest) ? ROOF_TENSOR_KNOWN : ROOF_TENSOR_UNKNOWN;
}
