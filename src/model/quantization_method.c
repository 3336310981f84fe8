// SPDX-License-Identifier: MIT
/* The methods of a quantisation, by name, algorithm and bits. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/quantization_parts.h"
#include "model/weights.h"

#define MODELOPT "modelopt"

/* The formats of methods. Those of modelopt are the words of process_layer_quant_config in
 * NVIDIA/Model-Optimizer, modelopt/torch/export/quant_utils.py, and FP8_BLOCK_SCALES, W4A16_MXFP4
 * and W8A16 of QuantAlgo in NVIDIA/TensorRT-LLM. Each width of a method has a row; 4 bits are the
 * default. */
static const struct method methods[] = {
    {"mxfp4", NULL, 0, ROOF_PRECISION_MXFP4, ROOF_PRECISION_BF16, true},
    {MODELOPT, "NVFP4", 0, ROOF_PRECISION_NVFP4, ROOF_PRECISION_NVFP4, false},
    {MODELOPT, "NVFP4_AWQ", 0, ROOF_PRECISION_NVFP4, ROOF_PRECISION_NVFP4, false},
    {MODELOPT, "W4A16_NVFP4", 0, ROOF_PRECISION_NVFP4, ROOF_PRECISION_AUTO, false},
    {MODELOPT, "W4A8_MXFP4_FP8", 0, ROOF_PRECISION_MXFP4, ROOF_PRECISION_FP8_E4M3, false},
    {MODELOPT, "MXFP8", 0, ROOF_PRECISION_MXFP8_E4M3, ROOF_PRECISION_MXFP8_E4M3, false},
    {MODELOPT, "FP8", 0, ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3, false},
    {MODELOPT, "FP8_PER_CHANNEL_PER_TOKEN", 0, ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3,
     false},
    {MODELOPT, "FP8_PB_WO", 0, ROOF_PRECISION_FP8_BLOCK128, ROOF_PRECISION_AUTO, false},
    {MODELOPT, "fp8_pb_wo", 0, ROOF_PRECISION_FP8_BLOCK128, ROOF_PRECISION_AUTO, false},
    {MODELOPT, "FP8_BLOCK_SCALES", 0, ROOF_PRECISION_FP8_BLOCK128, ROOF_PRECISION_FP8_E4M3, false},
    {MODELOPT, "W8A8_SQ_PER_CHANNEL", 0, ROOF_PRECISION_INT8_CHANNEL, ROOF_PRECISION_INT8, false},
    {MODELOPT, "W4A16_AWQ", 0, ROOF_PRECISION_INT4_G128, ROOF_PRECISION_AUTO, false},
    {MODELOPT, "W4A8_AWQ", 0, ROOF_PRECISION_INT4_G128, ROOF_PRECISION_FP8_E4M3, false},
    {MODELOPT, "W4A16_MXFP4", 0, ROOF_PRECISION_MXFP4, ROOF_PRECISION_AUTO, false},
    {MODELOPT, "W8A16", 0, ROOF_PRECISION_INT8_CHANNEL, ROOF_PRECISION_AUTO, false},
    {"fp8", NULL, 0, ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3, false},
    {"fbgemm_fp8", NULL, 0, ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3, false},
    {"awq", NULL, 4, ROOF_PRECISION_INT4_G128_ZP, ROOF_PRECISION_AUTO, false},
    {"gptq", NULL, 4, ROOF_PRECISION_INT4_G128_ZP, ROOF_PRECISION_AUTO, false},
    {"gptq", NULL, 8, ROOF_PRECISION_INT8_CHANNEL, ROOF_PRECISION_AUTO, false},
    {"bitsandbytes", NULL, 8, ROOF_PRECISION_INT8_CHANNEL, ROOF_PRECISION_AUTO, false},
    {"bitsandbytes", NULL, 4, ROOF_PRECISION_NF4_FP32, ROOF_PRECISION_AUTO, false},
};

/* Returns a member; null counts as absent. */
const roof_json_value *roof_quantization_member(const roof_json_value *object, const char *key)
{
    const roof_json_value *const value = roof_json_get(object, key);
    return value == NULL || roof_json_is_null(value) ? NULL : value;
}

bool roof_quantization_has_weights(const roof_json_value *group)
{
    return !roof_json_is_object(group) || roof_quantization_member(group, "weights") != NULL;
}

static const roof_json_value *find_either(const roof_json_value *object, const char *key,
                                          const char *other)
{
    const roof_json_value *const value = roof_quantization_member(object, key);
    return value == NULL ? roof_quantization_member(object, other) : value;
}

/* Reads a number; *out stays when there is no value. */
static enum roof_status read_number(double *out, struct quantization *r,
                                    const roof_json_value *value)
{
    return value == NULL || roof_json_number(out, value)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error, "%s must be a number",
                                 roof_json_key(value));
}

static enum roof_status read_truth(bool *out, struct quantization *r, const roof_json_value *value)
{
    return value == NULL || roof_json_boolean(out, value)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error, "%s must be true or false",
                                 roof_json_key(value));
}

/* Reads the size of the blocks that FP8 scales are for: [128, 128], or in old files "128x128". */
enum roof_status roof_quantization_block(enum roof_precision *out, struct quantization *r,
                                         const roof_json_value *block)
{
    const char *const text = roof_json_string(block);
    const roof_json_value *const rows = roof_json_is_array(block) ? roof_json_first(block) : NULL;
    double size[2] = {0, 0};
    const bool known =
        (text != NULL && strcmp(text, "128x128") == 0) ||
        (roof_json_count(block) == 2 && roof_json_number(&size[0], rows) &&
         roof_json_number(&size[1], roof_json_next(rows)) && size[0] == 128 && size[1] == 128);
    *out = ROOF_PRECISION_FP8_BLOCK128;
    return known ? ROOF_OK
                 : roof_json_error(r->json, block, r->error, "%s must be [128, 128]" GIVE_FORMATS,
                                   roof_json_key(block));
}

/* Reads the format of 4-bit integers by the size of their groups. */
static enum roof_status read_group(enum roof_precision *out, struct quantization *r,
                                   const roof_json_value *value, bool zeros)
{
    double group = 128;
    TRY(read_number(&group, r, value));
    return roof_int4_format(out, group, zeros)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "groups must have 128, 64 or 32 elements, not %.10g" GIVE_FORMATS,
                                 group);
}

static enum roof_status read_bitsandbytes(double *bits, struct quantization *r,
                                          const roof_json_value *q)
{
    bool eight = false;
    bool four = false;
    TRY(read_truth(&eight, r, find_either(q, "load_in_8bit", "_load_in_8bit")));
    TRY(read_truth(&four, r, find_either(q, "load_in_4bit", "_load_in_4bit")));
    *bits = eight ? 8 : 4;
    return eight != four
               ? ROOF_OK
               : roof_json_error(r->json, q, r->error,
                                 "exactly one of load_in_8bit and load_in_4bit must be true");
}

/* Reads the kind of its 4 bits, and whether their scales are quantised as well. */
static enum roof_status read_code_book(enum roof_precision *out, struct quantization *r,
                                       const roof_json_value *q)
{
    static const struct {
        const char *type;
        bool nested;
        enum roof_precision format;
    } rows[] = {{"nf4", false, ROOF_PRECISION_NF4_FP32},
                {"nf4", true, ROOF_PRECISION_NF4_DQ},
                {"fp4", false, ROOF_PRECISION_FP4_BNB}};
    const roof_json_value *const type = roof_quantization_member(q, "bnb_4bit_quant_type");
    const char *const name = type == NULL ? "fp4" : roof_json_line(type); /* its default */
    bool nested = false;
    TRY(read_truth(&nested, r, roof_quantization_member(q, "bnb_4bit_use_double_quant")));
    for (size_t i = 0; i < COUNT(rows) && name != NULL; i++) {
        if (strcmp(name, rows[i].type) == 0 && nested == rows[i].nested) {
            *out = rows[i].format;
            return ROOF_OK;
        }
    }
    return roof_json_error(
        r->json, type == NULL ? q : type, r->error,
        "bnb_4bit_quant_type must be nf4, or fp4 without bnb_4bit_use_double_quant" GIVE_FORMATS);
}

/* Finds the row of a method, its algorithm and its bits. */
static bool find_method(struct method *out, const char *name, const char *algorithm, double bits)
{
    for (size_t i = 0; i < COUNT(methods) && name != NULL; i++) {
        const struct method *const row = &methods[i];
        if (strcmp(row->method, name) == 0 &&
            (row->algorithm == NULL ||
             (algorithm != NULL && strcmp(row->algorithm, algorithm) == 0)) &&
            (row->bits == 0 || bits == row->bits)) {
            *out = *row;
            return true;
        }
    }
    return false;
}

/* Refuses groups of another size than those of the format. */
static enum roof_status check_group(struct quantization *r, const roof_json_value *value,
                                    double wanted)
{
    double group = wanted;
    TRY(read_number(&group, r, value));
    return group == wanted
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "group_size must be %.0f with this method" GIVE_FORMATS, wanted);
}

/* Reads the details of the weight format that the method leaves open. */
static enum roof_status read_details(struct method *out, struct quantization *r,
                                     const roof_json_value *q)
{
    const roof_json_value *const block = roof_quantization_member(q, "weight_block_size");
    const roof_json_value *const group = find_either(q, "group_size", "q_group_size");
    switch (out->weights) {
    case ROOF_PRECISION_INT4_G128:
    case ROOF_PRECISION_INT4_G128_ZP:
        return read_group(&out->weights, r, group, out->weights == ROOF_PRECISION_INT4_G128_ZP);
    case ROOF_PRECISION_NF4_FP32:
        return read_code_book(&out->weights, r, q);
    case ROOF_PRECISION_NVFP4:
        return check_group(r, group, 16);
    case ROOF_PRECISION_FP8_E4M3:
        return block == NULL ? ROOF_OK : roof_quantization_block(&out->weights, r, block);
    default:
        return ROOF_OK;
    }
}

enum roof_status roof_quantization_method(struct method *out, struct quantization *r,
                                          const roof_json_value *q)
{
    const char *const algorithm = roof_json_line(roof_json_get(q, "quant_algo"));
    const char *name = roof_json_line(roof_json_get(q, "quant_method"));
    double bits = 4;
    name = name == NULL && algorithm != NULL ? MODELOPT : name;
    if (name != NULL && strcmp(name, "bitsandbytes") == 0) {
        TRY(read_bitsandbytes(&bits, r, q));
    } else {
        TRY(read_number(&bits, r, find_either(q, "bits", "w_bit")));
    }
    return find_method(out, name, algorithm, bits)
               ? read_details(out, r, q)
               : roof_json_error(r->json, q, r->error,
                                 "method '%s'%s%s is not supported" GIVE_FORMATS,
                                 name == NULL ? "" : name, algorithm == NULL ? "" : " ",
                                 algorithm == NULL ? "" : algorithm);
}
