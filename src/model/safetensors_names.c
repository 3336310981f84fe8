// SPDX-License-Identifier: MIT
#include "model/safetensors_names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/module_names.h"
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
    {".scale", ROOF_PART_SCALE},
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

static const char *const layer_lists[] = {"layers.", "h.", "blocks."};
/* Old checkpoints carry tables of angles and masks along. The last two say the experts of each
 * token, and no operator counts them. */
static const char *const buffers[] = {"self_attn.rotary_emb.inv_freq",
                                      "attention.rotary_emb.inv_freq",
                                      "attn.bias",
                                      "attn.masked_bias",
                                      "attention.bias",
                                      "attention.masked_bias",
                                      "self_attn.bias",
                                      "ffn.gate.tid2eid",
                                      "mlp.gate.tid2eid"};

/* --- modules ------------------------------------------------------------------------------- */

bool roof_tensor_is_stacked(int module)
{
    return roof_module_trait(module) == ROOF_MODULE_STACKED;
}

bool roof_tensor_is_transposed(int module)
{
    return roof_module_trait(module) == ROOF_MODULE_TRANSPOSED;
}

bool roof_tensor_makes_streams(int module)
{
    return roof_module_trait(module) == ROOF_MODULE_STREAMS;
}

bool roof_tensor_is_positions(int module)
{
    return roof_module_trait(module) == ROOF_MODULE_POSITIONS;
}

const char *roof_tensor_label(char out[ROOF_TENSOR_LABEL_SIZE],
                              const struct roof_tensor_place *place)
{
    const char *const module = roof_module_name(place->module);
    const char *const experts = strstr(module, "experts.0.");
    if (place->layer < 0) {
        snprintf(out, ROOF_TENSOR_LABEL_SIZE, "%s", module);
    } else if (experts == NULL) {
        snprintf(out, ROOF_TENSOR_LABEL_SIZE, "layers.%" PRId32 ".%s", place->layer, module);
    } else {
        snprintf(out, ROOF_TENSOR_LABEL_SIZE, "layers.%" PRId32 ".%.*s%" PRId32 ".%s", place->layer,
                 (int)(experts + 8 - module), module, place->expert, experts + 10);
    }
    return out;
}

/* --- names --------------------------------------------------------------------------------- */

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
        const char *const behind = roof_text_after(name, layer_lists[i]);
        const int32_t layer = behind == NULL ? -1 : read_number(behind, rest);
        if (layer >= 0) {
            return layer;
        }
    }
    return -1;
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
        if (module < ROOF_WEIGHT_COUNT && !roof_module_in_layers(module)) {
            continue; /* no layer has a module of that name */
        }
        const char *const rest = roof_text_after(name, roof_module_name(module));
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
static bool find_in_layer(struct roof_tensor_place *out, const char *name, bool mixed)
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
    return find_module(out, name, 0,
                       mixed ? roof_module_numbers()->outside : roof_module_numbers()->parts);
}

enum roof_tensor_role roof_tensor_find(struct roof_tensor_place *out, const char *name,
                                       int64_t layers, bool mixed)
{
    const char *const plain = roof_module_without_prefix(name);
    const char *rest = NULL;
    *out = (struct roof_tensor_place){.layer = read_layer(plain, &rest), .expert = -1};
    if (roof_module_is_other(plain) || roof_module_is_other(name)) {
        return ROOF_TENSOR_IGNORED;
    }
    if (out->layer >= layers) {
        return ROOF_TENSOR_UNKNOWN;
    }
    if (out->layer < 0) {
        return find_module(out, plain, roof_module_numbers()->outside, roof_module_numbers()->end)
                   ? ROOF_TENSOR_KNOWN
                   : ROOF_TENSOR_UNKNOWN;
    }
    if (roof_is_listed(rest, buffers, COUNT(buffers), true)) {
        return ROOF_TENSOR_IGNORED;
    }
    return find_in_layer(out, rest, mixed) ? ROOF_TENSOR_KNOWN : ROOF_TENSOR_UNKNOWN;
}
