// SPDX-License-Identifier: MIT
/* The keys of a quantisation in a config: which are known. */
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/config_parts.h"
#include "model/model_make.h"
#include "model/quantization_parts.h"

/* Keys that are read, or that change neither formats nor bytes. A star stands for any characters.
 */
static const char *const known_keys[] = {
    /* read */
    "quant_method", "quant_algo", "quantized_layers", "config_groups", "kv_cache_quant_algo",
    "kv_cache_scheme", "group_size", "q_group_size", "bits", "w_bit", "weight_block_size", "fmt",
    "sparsity_config", "dynamic", "lm_head", "modules_in_block_to_quantize", "load_in_*",
    "_load_in_*", "bnb_4bit_quant_type", "bnb_4bit_use_double_quant", EXPERT_FORMAT,
    "exclude_modules", "modules_to_not_convert", "ignore", "ignored_layers",
    "llm_int8_skip_modules",
    /* how the weights were made, or are laid out and computed */
    "activation_scheme", "scale_fmt", "activation_scale_ub", "format", "quantization_status",
    "global_compression_ratio", "version", "producer", "sym", "desc_act", "static_groups",
    "true_sequential", "damp_*", "checkpoint_format", "pack_dtype", "meta", "quantizer",
    "model_name_or_path", "model_file_base_name", "tokenizer", "dataset", "backend", "*exllama*",
    "max_input_length", "use_cuda_fp16", "model_seqlen", "block_name_to_quantize",
    "module_name_preceding_first_block", "batch_size", "pad_token_id", "cache_*", "do_fuse",
    "fuse_max_seq_len", "modules_to_fuse", "bnb_4bit_compute_dtype", "bnb_4bit_quant_storage",
    "llm_int8_*", "zero_point", "has_zero_point", "pre_quant_scale", "is_marlin_format",
    "autoround_version", "packing_format", "provider", "quant_type"};

/* Keys of a group of compressed-tensors. What is done to outputs is not read. */
static const char *const group_keys[] = {"targets", "weights", "input_activations", "format"};
/* Keys of the numbers in a group; most say how they were found. */
static const char *const number_keys[] = {
    "num_bits", "type",     "group_size", "symmetric",   "strategy", "block_structure",
    "dynamic",  "actorder", "observer*",  "scale_dtype", "zp_dtype"};
/* Keys of a module of ModelOpt. */
static const char *const module_keys[] = {"quant_algo", "group_size", "has_zero_point",
                                          "pre_quant_scale"};

/* Notes keys inside the lists of groups and of modules, which may be thousands. */
static enum roof_status note_nested(const struct config *c, const roof_json_value *q)
{
    struct unknown_keys groups = {.count = 0};
    struct unknown_keys modules = {.count = 0};
    const roof_json_value *item = roof_json_first(roof_json_get(q, "config_groups"));
    for (; item != NULL; item = roof_json_next(item)) {
        roof_config_add_unknown(&groups, item, group_keys, COUNT(group_keys));
        roof_config_add_unknown(&groups, roof_json_get(item, "weights"), number_keys,
                                COUNT(number_keys));
        roof_config_add_unknown(&groups, roof_json_get(item, "input_activations"), number_keys,
                                COUNT(number_keys));
    }
    item = roof_json_first(roof_json_get(q, "quantized_layers"));
    for (; item != NULL; item = roof_json_next(item)) {
        roof_config_add_unknown(&modules, item, module_keys, COUNT(module_keys));
    }
    TRY(roof_config_note_unknown(c, &groups, "config_groups"));
    return roof_config_note_unknown(c, &modules, "quantized_layers");
}

/* Tells whether a group with weights stores 4-bit integers and does not convert inputs: W4A16, as
 * compressed-tensors calls it. */
static bool is_w4a16(const roof_json_value *group)
{
    struct numbers n;
    return roof_quantization_numbers(&n, roof_quantization_member(group, "weights")) && !n.real &&
           n.bits == 4 && roof_quantization_member(group, "input_activations") == NULL;
}

const char *roof_config_algorithm(const roof_json_value *q)
{
    const char *const method = roof_json_line(roof_json_get(q, "quant_method"));
    const roof_json_value *const groups = roof_json_get(q, "config_groups");
    if (method == NULL || strcmp(method, "compressed-tensors") != 0 ||
        roof_json_first(groups) == NULL) {
        return roof_json_line(roof_json_get(q, "quant_algo"));
    }
    bool any = false;
    bool all = true;
    for (const roof_json_value *group = roof_json_first(groups); group != NULL;
         group = roof_json_next(group)) {
        const bool weights = roof_quantization_has_weights(group);
        any = any || weights;
        all = all && (!weights || is_w4a16(group));
    }
    return any && all ? "W4A16" : NULL;
}

enum roof_status roof_config_note_quantization(struct roof_model *model, const roof_json_value *q,
                                               struct roof_error *error)
{
    const struct config c = {.model = model, .error = error};
    TRY(roof_config_note_members(&c, q, roof_json_key(q), known_keys, COUNT(known_keys)));
    TRY(note_nested(&c, q));
    return roof_quantization_note(model, q, error);
}
