// SPDX-License-Identifier: MIT
#include "model/quantization.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/model_make.h"
#include "model/quantization_parts.h"
#include "model/weights.h"

/* --- formats of all modules ---------------------------------------------------------------- */

/* Gives linear weights a format, or those of routed experts alone; all others get 16 bits. */
static void put_formats(struct quantization *r, enum roof_precision format, bool experts_only)
{
    struct roof_model *const m = r->model;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const enum roof_weight weight = (enum roof_weight)w;
        const bool routed = weight >= ROOF_WEIGHT_EXPERT_GATE && weight <= ROOF_WEIGHT_EXPERT_DOWN;
        const bool linear = experts_only ? routed : roof_weight_linear(weight);
        if (!linear) {
            m->format[w] = ROOF_PRECISION_BF16;
        }
        for (int64_t i = 0; i < m->layers; i++) {
            r->layer[i].format[w] = (int8_t)(linear ? format : ROOF_PRECISION_BF16);
        }
    }
}

/* Gives routed experts the format that DeepSeek-V4 has for them beside FP8: MXFP4, or NVFP4 if
 * ModelOpt converted them. */
static void put_experts(struct quantization *r, const char *method, const roof_json_value *q)
{
    const char *const word = roof_json_string(roof_quantization_member(q, EXPERT_FORMAT));
    const bool narrow = r->model->fp4_experts && method != NULL && strcmp(method, "fp8") == 0;
    const enum roof_precision format =
        word != NULL && strcmp(word, "NVFP4") == 0 ? ROOF_PRECISION_NVFP4 : ROOF_PRECISION_MXFP4;
    for (int64_t i = 0; i < r->model->layers && narrow; i++) {
        for (int w = ROOF_WEIGHT_EXPERT_GATE; w <= ROOF_WEIGHT_EXPERT_DOWN; w++) {
            r->layer[i].format[w] = (int8_t)format;
        }
    }
}

/*
 * Tells whether a checkpoint with several formats keeps weights that its list does not name in the
 * FP8 of the original one, not in 16 bits, though the list of exclusions has them: ModelOpt
 * converts only the routed experts of DeepSeek-V4. Sources: NVIDIA/TensorRT-LLM#16433,
 * vllm-project/recipes#541, ai-dynamo/aiconfigurator#1513.
 */
static bool keeps_fp8(const struct quantization *r)
{
    return r->model->key_is_value;
}

/*
 * Puts the projections of Kimi-K3 around its experts in 16 bits: its checkpoint has only the
 * experts in MXFP4, though its group targets Linear, which these projections are, and no list
 * excludes them. Sources: sgl-project/sglang#35406; vllm-project/vllm#50000, which reads it as
 * method mxfp4.
 */
static void keep_latents(struct quantization *r, const roof_json_value *q)
{
    const char *const format = roof_json_line(roof_json_get(q, "format"));
    const bool experts_only =
        r->model->latent_norm && format != NULL && strcmp(format, "mxfp4-pack-quantized") == 0;
    for (int64_t i = 0; i < r->model->layers && experts_only; i++) {
        r->layer[i].format[ROOF_WEIGHT_LATENT_IN] = ROOF_PRECISION_BF16;
        r->layer[i].format[ROOF_WEIGHT_LATENT_OUT] = ROOF_PRECISION_BF16;
    }
}

/* Tells whether a list of modules named a weight of the model. */
static bool names_any(const struct quantization *r, const unsigned *claimed)
{
    unsigned any = 0;
    for (int64_t i = 0; i < r->model->layers; i++) {
        any |= claimed[i];
    }
    return any != 0;
}

/* --- several formats ------------------------------------------------------------------------ */

/* Formats of inputs that weights ask for; AUTO: inputs are not converted. */
struct inputs {
    bool any;                      /* some weights were read */
    bool mixed;                    /* two ask for different formats */
    enum roof_precision first;     /* that of the first */
    enum roof_precision narrowest; /* 16 bits if inputs are not converted */
};

static void add_inputs(struct inputs *inputs, enum roof_precision asked)
{
    inputs->first = inputs->any ? inputs->first : asked;
    inputs->mixed = inputs->mixed || asked != inputs->first;
    inputs->any = true;
    asked = asked == ROOF_PRECISION_AUTO ? ROOF_PRECISION_BF16 : asked;
    if (inputs->narrowest == ROOF_PRECISION_AUTO ||
        roof_precision_bits(asked) < roof_precision_bits(inputs->narrowest)) {
        inputs->narrowest = asked;
    }
}

/* A model has one format of inputs: the one that all weights ask for, or else the narrowest.
 * Products of int4 weights use it only if all weights ask for the same format. */
static void put_inputs(struct quantization *r, const struct inputs *inputs)
{
    r->model->activations = inputs->mixed ? inputs->narrowest : inputs->first;
    r->model->narrow_inputs = !inputs->mixed && inputs->first != ROOF_PRECISION_AUTO;
}

/* Tells whether weights get the inputs that they ask for: the wider of those of the model and of
 * those that belong to their format. Inputs of less than 16 bits need the same unit: INT8 inputs
 * are no FP8 inputs. */
static bool meets_inputs(enum roof_precision weights, enum roof_precision asked,
                         enum roof_precision inputs)
{
    const enum roof_precision pair = roof_format(weights)->activations;
    const enum roof_precision met =
        roof_precision_bits(pair) > roof_precision_bits(inputs) ? pair : inputs;
    asked = asked == ROOF_PRECISION_AUTO ? ROOF_PRECISION_BF16 : asked;
    return roof_precision_bits(met) == roof_precision_bits(asked) &&
           (roof_precision_bits(asked) >= 16 || roof_format(met)->unit == roof_format(asked)->unit);
}

/* --- modelopt with several formats --------------------------------------------------------- */

/* Reads a module of the list. */
static enum roof_status read_quantized(struct quantization *r, const roof_json_value *item,
                                       struct inputs *inputs, unsigned *claimed)
{
    struct method method = {.weights = ROOF_PRECISION_AUTO};
    TRY(roof_quantization_method(&method, r, item));
    add_inputs(inputs, method.activations);
    return roof_quantization_put(r, item, roof_json_key(item), method.weights, claimed);
}

/* Refuses a module whose inputs would have another format than that of its method. */
static enum roof_status check_inputs(struct quantization *r, const roof_json_value *item,
                                     enum roof_precision inputs)
{
    struct method method = {.weights = ROOF_PRECISION_AUTO};
    TRY(roof_quantization_method(&method, r, item));
    return meets_inputs(method.weights, method.activations, inputs)
               ? ROOF_OK
               : roof_json_error(r->json, item, r->error,
                                 "quantized_layers with such different formats of inputs are not "
                                 "supported" GIVE_FORMATS);
}

/* Reads the formats of individually named modules; others keep theirs. */
static enum roof_status read_mixed(struct quantization *r, const roof_json_value *q)
{
    const roof_json_value *const modules = roof_json_get(q, "quantized_layers");
    unsigned claimed[ROOF_LAYERS_MAX] = {0};
    struct inputs inputs = {.narrowest = ROOF_PRECISION_AUTO};
    if (!roof_json_is_object(modules)) {
        return roof_json_error(r->json, modules == NULL ? q : modules, r->error,
                               "MIXED_PRECISION needs an object "
                               "quantized_layers" GIVE_FORMATS);
    }
    put_formats(r, keeps_fp8(r) ? ROOF_PRECISION_FP8_BLOCK128 : ROOF_PRECISION_BF16, false);
    for (const roof_json_value *item = roof_json_first(modules); item != NULL;
         item = roof_json_next(item)) {
        TRY(read_quantized(r, item, &inputs, claimed));
    }
    for (const roof_json_value *item = roof_json_first(modules); item != NULL && inputs.mixed;
         item = roof_json_next(item)) {
        TRY(check_inputs(r, item, inputs.narrowest));
    }
    put_inputs(r, &inputs);
    return names_any(r, claimed) ? ROOF_OK
                                 : roof_json_error(r->json, modules, r->error,
                                                   "quantized_layers name no weight of this "
                                                   "model" GIVE_FORMATS);
}

/* --- compressed-tensors -------------------------------------------------------------------- */

bool roof_quantization_numbers(struct numbers *out, const roof_json_value *value)
{
    const char *const type = roof_json_string(roof_json_get(value, "type"));
    const roof_json_value *const group = roof_quantization_member(value, "group_size");
    *out = (struct numbers){.symmetric = true};
    (void)roof_json_boolean(&out->symmetric, roof_json_get(value, "symmetric"));
    if (group != NULL && !roof_json_number(&out->group, group)) {
        return false;
    }
    out->group = out->group == -1 ? 0 : out->group; /* one for a channel */
    out->real = type != NULL && strcmp(type, "float") == 0;
    return type != NULL && (out->real || strcmp(type, "int") == 0) &&
           roof_json_number(&out->bits, roof_json_get(value, "num_bits"));
}

#define ANY (-1)

static bool find_weights(enum roof_precision *out, const struct numbers *n)
{
    static const struct {
        double bits;
        bool real;
        double group;
        enum roof_precision format;
    } rows[] = {{8, true, 0, ROOF_PRECISION_FP8_E4M3},
                {8, true, 32, ROOF_PRECISION_MXFP8_E4M3},
                {8, false, ANY, ROOF_PRECISION_INT8_CHANNEL},
                {4, true, 16, ROOF_PRECISION_NVFP4},
                {4, true, 32, ROOF_PRECISION_MXFP4}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (n->bits == rows[i].bits && n->real == rows[i].real &&
            (rows[i].group == ANY || n->group == rows[i].group)) {
            *out = rows[i].format;
            return true;
        }
    }
    return n->bits == 4 && !n->real && roof_int4_format(out, n->group, !n->symmetric);
}

static enum roof_status read_weights(enum roof_precision *out, struct quantization *r,
                                     const roof_json_value *weights)
{
    const char *const strategy = roof_json_string(roof_json_get(weights, "strategy"));
    const roof_json_value *const block = roof_json_get(weights, "block_structure");
    struct numbers n;
    if (!roof_quantization_numbers(&n, weights) || !find_weights(out, &n)) {
        return roof_json_error(r->json, weights, r->error,
                               "config_groups: weights with this num_bits, type and group_size are "
                               "not supported" GIVE_FORMATS);
    }
    return block != NULL && *out == ROOF_PRECISION_FP8_E4M3 && strategy != NULL &&
                   strcmp(strategy, "block") == 0
               ? roof_quantization_block(out, r, block)
               : ROOF_OK;
}

/* Reads what the inputs are converted to; AUTO when they are not. */
static enum roof_status read_inputs(enum roof_precision *out, struct quantization *r,
                                    const roof_json_value *inputs, enum roof_precision weights)
{
    static const struct {
        double bits;
        bool real;
        enum roof_precision format; /* AUTO: the format of the weights, if it is one of blocks */
    } rows[] = {{8, true, ROOF_PRECISION_FP8_E4M3},
                {8, false, ROOF_PRECISION_INT8},
                {4, false, ROOF_PRECISION_INT4},
                {4, true, ROOF_PRECISION_AUTO}};
    struct numbers n;
    *out = ROOF_PRECISION_AUTO;
    if (inputs == NULL) {
        return ROOF_OK;
    }
    const bool blocks = weights == ROOF_PRECISION_NVFP4 || weights == ROOF_PRECISION_MXFP4;
    for (size_t i = 0; i < COUNT(rows) && roof_quantization_numbers(&n, inputs); i++) {
        if (n.bits == rows[i].bits && n.real == rows[i].real &&
            (rows[i].format != ROOF_PRECISION_AUTO || blocks)) {
            *out = rows[i].format == ROOF_PRECISION_AUTO ||
                           (weights == ROOF_PRECISION_MXFP8_E4M3 && n.group == 32)
                       ? weights
                       : rows[i].format;
            return ROOF_OK;
        }
    }
    return roof_json_error(
        r->json, inputs, r->error,
        "config_groups: inputs with this num_bits and type are not supported" GIVE_FORMATS);
}

/* Gives the targets of a group its format: either those that are classes of modules, or those that
 * are names. */
static enum roof_status put_targets(struct quantization *r, const roof_json_value *group,
                                    enum roof_precision format, bool classes, unsigned *claimed)
{
    const roof_json_value *const targets = roof_json_get(group, "targets");
    if (!roof_json_is_array(targets)) {
        return roof_json_error(r->json, targets == NULL ? group : targets, r->error,
                               "config_groups: targets must be an array");
    }
    for (const roof_json_value *item = roof_json_first(targets); item != NULL;
         item = roof_json_next(item)) {
        const char *const name = roof_json_string(item);
        const bool is_class = name != NULL && *name >= 'A' && *name <= 'Z';
        if (is_class && strcmp(name, LINEAR_CLASS) != 0) {
            return roof_json_error(
                r->json, item, r->error,
                "config_groups: the only supported class is Linear" GIVE_FORMATS);
        }
        if (is_class == classes) {
            TRY(roof_quantization_put(r, item, name, format, claimed));
        }
    }
    return ROOF_OK;
}

static enum roof_status read_formats(enum roof_precision *weights, enum roof_precision *inputs,
                                     struct quantization *r, const roof_json_value *group)
{
    const roof_json_value *const stored = roof_quantization_member(group, "weights");
    TRY(read_weights(weights, r, stored == NULL ? group : stored));
    return read_inputs(inputs, r, roof_quantization_member(group, "input_activations"), *weights);
}

/* Reads a group with weights. */
static enum roof_status read_group_of_weights(struct inputs *out, struct quantization *r,
                                              const roof_json_value *group, bool classes,
                                              unsigned *claimed)
{
    enum roof_precision format = ROOF_PRECISION_AUTO;
    enum roof_precision inputs = ROOF_PRECISION_AUTO;
    TRY(read_formats(&format, &inputs, r, group));
    add_inputs(out, inputs);
    return put_targets(r, group, format, classes, claimed);
}

/* Refuses a group whose inputs would have another format than it asks for. */
static enum roof_status check_group_inputs(const struct inputs *all, struct quantization *r,
                                           const roof_json_value *group)
{
    enum roof_precision format = ROOF_PRECISION_AUTO;
    enum roof_precision inputs = ROOF_PRECISION_AUTO;
    TRY(read_formats(&format, &inputs, r, group));
    return meets_inputs(format, inputs, all->narrowest)
               ? ROOF_OK
               : roof_json_error(r->json, group, r->error,
                                 "config_groups with such different input_activations are not "
                                 "supported" GIVE_FORMATS);
}

/* Reads the groups. A group that names a weight takes precedence over one that has its class, and
 * the first of two groups over the second. Weights in no group keep their format. */
static enum roof_status read_groups(struct quantization *r, const roof_json_value *q)
{
    const roof_json_value *const groups = roof_json_get(q, "config_groups");
    unsigned claimed[ROOF_LAYERS_MAX] = {0};
    struct inputs all = {.narrowest = ROOF_PRECISION_AUTO};
    if (!roof_json_is_object(groups)) {
        return roof_json_error(r->json, groups == NULL ? q : groups, r->error,
                               "method 'compressed-tensors' needs "
                               "config_groups" GIVE_FORMATS);
    }
    put_formats(r, ROOF_PRECISION_BF16, false);
    for (int classes = 0; classes < 2; classes++) {
        for (const roof_json_value *group = roof_json_first(groups); group != NULL;
             group = roof_json_next(group)) {
            if (roof_quantization_has_weights(group)) {
                TRY(read_group_of_weights(&all, r, group, classes != 0, claimed));
            }
        }
    }
    for (const roof_json_value *group = roof_json_first(groups); group != NULL && all.mixed;
         group = roof_json_next(group)) {
        TRY(roof_quantization_has_weights(group) ? check_group_inputs(&all, r, group) : ROOF_OK);
    }
    if (all.any) { /* others may be of the cache alone */
        put_inputs(r, &all);
    }
    return !all.any || names_any(r, claimed)
               ? ROOF_OK
               : roof_json_error(r->json, groups, r->error,
                                 "config_groups: the targets name no weight "
                                 "of this model" GIVE_FORMATS);
}

/* --- what all methods have ----------------------------------------------------------------- */

static enum roof_status read_exclusions(struct quantization *r, const roof_json_value *q)
{
    const char *const *const lists = roof_quantization_lists;
    for (size_t i = 0; lists[i] != NULL; i++) {
        const roof_json_value *const list = roof_quantization_member(q, lists[i]);
        if (list != NULL && !roof_json_is_array(list)) {
            return roof_json_error(r->json, list, r->error,
                                   "%s must be an array of names of modules", lists[i]);
        }
        for (const roof_json_value *item = roof_json_first(list); item != NULL;
             item = roof_json_next(item)) {
            TRY(roof_quantization_put(r, item, roof_json_string(item), ROOF_PRECISION_BF16, NULL));
        }
    }
    return ROOF_OK;
}

/* Finds the format of a KV cache, which is the name of an algorithm, or numbers as for weights;
 * AUTO for anything else. */
static enum roof_precision find_cache(const roof_json_value *value)
{
    static const struct {
        const char *algorithm;
        double bits;
        bool real;
        enum roof_precision format;
    } rows[] = {{"FP8", 8, true, ROOF_PRECISION_FP8_E4M3},
                {"static", 8, true, ROOF_PRECISION_FP8_E4M3}, /* AutoFP8: FP8 with scales */
                {"INT8", 8, false, ROOF_PRECISION_INT8},
                {"NVFP4", 4, true, ROOF_PRECISION_NVFP4}};
    const char *const name = roof_json_string(value);
    struct numbers n = {0};
    const bool numbers = roof_json_is_object(value) && roof_quantization_numbers(&n, value);
    enum roof_precision format = ROOF_PRECISION_AUTO;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if ((name != NULL && strcmp(name, rows[i].algorithm) == 0) ||
            (numbers && n.bits == rows[i].bits && n.real == rows[i].real)) {
            format = rows[i].format;
        }
    }
    return format;
}

static enum roof_status read_cache(struct quantization *r, const roof_json_value *q)
{
    static const char *const keys[] = {"kv_cache_quant_algo", "kv_cache_scheme"};
    r->model->kv = ROOF_PRECISION_AUTO;
    for (size_t k = 0; k < COUNT(keys); k++) {
        const roof_json_value *const value = roof_quantization_member(q, keys[k]);
        if (value == NULL) {
            continue;
        }
        const enum roof_precision format = find_cache(value);
        if (format == ROOF_PRECISION_AUTO ||
            (r->model->kv != ROOF_PRECISION_AUTO && r->model->kv != format)) {
            return roof_json_error(r->json, value, r->error, "%s %s" GIVE_FORMATS, keys[k],
                                   format == ROOF_PRECISION_AUTO
                                       ? "is none of FP8, INT8 and NVFP4"
                                       : "contradicts kv_cache_quant_algo");
        }
        r->model->kv = format;
    }
    return ROOF_OK;
}

/* Reads the format of the KV cache of a model alone; AUTO: it is not known. */
static enum roof_precision cache_alone(const struct roof_model *model)
{
    struct roof_error problem;
    struct roof_model *const copy = malloc(sizeof *copy);
    if (copy == NULL) {
        return ROOF_PRECISION_AUTO;
    }
    *copy = *model;
    struct quantization r = {.model = copy, .json = roof_model_quantizer(model), .error = &problem};
    const bool known = read_cache(&r, roof_model_quantization(model)) == ROOF_OK;
    const enum roof_precision kv = known ? copy->kv : ROOF_PRECISION_AUTO;
    free(copy);
    return kv;
}

static bool says_nothing(const roof_json_value *value)
{
    bool truth = true;
    const bool empty = roof_json_is_array(value) || roof_json_is_object(value);
    return value == NULL || (empty && roof_json_first(value) == NULL) ||
           (roof_json_boolean(&truth, value) && !truth);
}

/* Refuses members that change the formats of some weights, or their bytes, in unknown ways. */
static enum roof_status refuse_unknown(struct quantization *r, const roof_json_value *q)
{
    static const char *const gptq_keys[] = {"dynamic", "lm_head", "modules_in_block_to_quantize"};
    const roof_json_value *unknown = NULL;
    for (size_t i = 0; i < COUNT(gptq_keys) && unknown == NULL; i++) {
        const roof_json_value *const value = roof_quantization_member(q, gptq_keys[i]);
        unknown = says_nothing(value) ? NULL : value;
    }
    const roof_json_value *const format = roof_quantization_member(q, "format");
    const char *const packing = roof_json_string(format);
    if (packing != NULL && strcmp(packing, "marlin-24") == 0) { /* weights that are pruned 2:4 */
        unknown = format;
    }
    const struct {
        const roof_json_value *value;
        const char *known;
    } words[] = {
        {roof_quantization_member(roof_quantization_member(q, "sparsity_config"), "format"),
         "dense"},
        {roof_quantization_member(q, "fmt"), "e4m3"}};
    for (size_t i = 0; i < COUNT(words) && unknown == NULL; i++) {
        const char *const text = roof_json_string(words[i].value);
        const bool known = text != NULL && strstr(text, words[i].known) != NULL;
        unknown = known ? NULL : words[i].value;
    }
    return unknown == NULL ? ROOF_OK
                           : roof_json_error(r->json, unknown, r->error,
                                             "this value of %s is not supported" GIVE_FORMATS,
                                             roof_json_key(unknown));
}

enum roof_status roof_quantization_read(struct quantization *r, const roof_json_value *q)
{
    const char *const name = roof_json_line(roof_json_get(q, "quant_method"));
    const char *const algorithm = roof_json_line(roof_json_get(q, "quant_algo"));
    const bool mixed = algorithm != NULL && strcmp(algorithm, "MIXED_PRECISION") == 0;
    struct method method = {.weights = ROOF_PRECISION_AUTO};
    TRY(refuse_unknown(r, q));
    roof_quantization_list(r);
    if (name != NULL && strcmp(name, "compressed-tensors") == 0) {
        TRY(read_groups(r, q));
        keep_latents(r, q);
    } else if (mixed) {
        TRY(read_mixed(r, q));
    } else if (algorithm == NULL && (name == NULL || strcmp(name, "modelopt") == 0) &&
               roof_quantization_member(q, "kv_cache_quant_algo") != NULL) {
        put_formats(r, ROOF_PRECISION_BF16, false); /* the cache alone is quantised */
    } else {
        TRY(roof_quantization_method(&method, r, q));
        put_formats(r, method.weights, method.experts_only);
        put_experts(r, name, q);
        r->model->activations = method.activations;
        r->model->narrow_inputs = method.activations != ROOF_PRECISION_AUTO;
    }
    if (!mixed || !keeps_fp8(r)) {
        TRY(read_exclusions(r, q));
    }
    return read_cache(r, q);
}

enum roof_status roof_quantization_apply(struct roof_model *model, struct roof_layer *layer,
                                         struct roof_error *error)
{
    struct quantization r = {
        .model = model, .layer = layer, .json = roof_model_quantizer(model), .error = error};
    const roof_json_value *const q = roof_model_quantization(model);
    if (q == NULL) {
        return roof_error_set(error, ROOF_USAGE, "the config of %s has no quantisation", model->id);
    }
    const enum roof_status status = roof_quantization_read(&r, q);
    return status == ROOF_OK ? ROOF_OK : roof_error_prefix(error, status, "%s: ", roof_json_key(q));
}

/* Reads the quantisation of a model into *copy, which is a copy of it without its layers. */
static enum roof_status try_quantization(struct roof_model *copy, const struct roof_model *model)
{
    struct roof_layer *const layer = calloc(ROOF_LAYERS_MAX, sizeof *layer);
    struct roof_error problem;
    if (layer == NULL) {
        return ROOF_MEMORY;
    }
    *copy = *model;
    roof_model_spread(layer, copy);
    const enum roof_status status = roof_quantization_apply(copy, layer, &problem);
    free(layer);
    return status;
}

enum roof_status roof_quantization_check(const struct roof_model *model)
{
    if (roof_model_quantization(model) == NULL) {
        return ROOF_OK;
    }
    struct roof_model *const copy = malloc(sizeof *copy);
    const enum roof_status status = copy == NULL ? ROOF_MEMORY : try_quantization(copy, model);
    free(copy);
    return status;
}

enum roof_status roof_quantization_inputs(struct roof_model *model, struct roof_error *error)
{
    if (roof_model_quantization(model) == NULL) {
        return ROOF_OK;
    }
    struct roof_model *const copy = malloc(sizeof *copy);
    const enum roof_status status = copy == NULL ? ROOF_MEMORY : try_quantization(copy, model);
    if (status == ROOF_OK) {
        model->activations = copy->activations;
        model->narrow_inputs = copy->narrow_inputs;
        model->kv = copy->kv;
    } else if (status != ROOF_MEMORY) {
        model->kv = cache_alone(model);
        roof_model_note(model, model->kv == ROOF_PRECISION_AUTO
                                   ? "the quantisation in its config is not known, so activations "
                                     "and KV cache have the requested formats"
                                   : "of the quantisation in its config only the KV cache is "
                                     "known, so activations have the requested format");
    }
    free(copy);
    return status == ROOF_MEMORY ? roof_no_memory(error) : ROOF_OK;
}
