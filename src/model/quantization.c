// SPDX-License-Identifier: MIT
#include "model/quantization.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/pattern.h"
#include "model/model_make.h"
#include "model/quantization_parts.h"
#include "model/weights.h"

/* --- names of modules ---------------------------------------------------------------------- */

#define MODULE_SIZE 128 /* for "model.layers.61.mlp.experts.down_proj" and the like */
/* Limits of bytes and steps for reading lists of modules, which take some seconds. Each comparison
 * of a name with an entry counts as at least EXCLUSION_WORK_EACH steps. */
#define EXCLUSION_WORK_MAX INT64_C(1000000000)
#define EXCLUSION_WORK_EACH 64
#define LINEAR_CLASS "Linear"

/* The number of a layer follows one of these, in text models and in vision models. */
static const char *const layer_prefixes[] = {"model.layers.", "language_model.model.layers.",
                                             "model.language_model.layers.", "layers."};

/* Weights have other names in some classes of models. If several weights share a name, an entry
 * means it only if it contains their word, because an entry for one of them is not for all. */
struct other_name {
    enum roof_weight weight;
    const char *module;
    const char *word; /* NULL: none is needed */
};
static const struct other_name other_names[] = {
    {ROOF_WEIGHT_Q, "self_attn.qkv_proj", "qkv"},
    {ROOF_WEIGHT_K, "self_attn.qkv_proj", "qkv"},
    {ROOF_WEIGHT_V, "self_attn.qkv_proj", "qkv"},
    {ROOF_WEIGHT_GATE, "mlp.gate_up_proj", "gate_up"},
    {ROOF_WEIGHT_UP, "mlp.gate_up_proj", "gate_up"},
    {ROOF_WEIGHT_ROUTER, "block_sparse_moe.gate", NULL},
    {ROOF_WEIGHT_EXPERT_GATE, "block_sparse_moe.experts.0.w1", NULL},
    {ROOF_WEIGHT_EXPERT_UP, "block_sparse_moe.experts.0.w3", NULL},
    {ROOF_WEIGHT_EXPERT_DOWN, "block_sparse_moe.experts.0.w2", NULL},
    {ROOF_WEIGHT_GATE, "feed_forward.gate_proj", NULL},
    {ROOF_WEIGHT_UP, "feed_forward.up_proj", NULL},
    {ROOF_WEIGHT_DOWN, "feed_forward.down_proj", NULL},
    {ROOF_WEIGHT_ROUTER, "feed_forward.router", NULL},
    {ROOF_WEIGHT_EXPERT_GATE, "feed_forward.experts.0.gate_proj", NULL},
    {ROOF_WEIGHT_EXPERT_UP, "feed_forward.experts.0.up_proj", NULL},
    {ROOF_WEIGHT_EXPERT_DOWN, "feed_forward.experts.0.down_proj", NULL},
    {ROOF_WEIGHT_SHARED_GATE, "feed_forward.shared_expert.gate_proj", NULL},
    {ROOF_WEIGHT_SHARED_UP, "feed_forward.shared_expert.up_proj", NULL},
    {ROOF_WEIGHT_SHARED_DOWN, "feed_forward.shared_expert.down_proj", NULL},
    {ROOF_WEIGHT_SHARED_GATE, "mlp.shared_expert.gate_proj", NULL},
    {ROOF_WEIGHT_SHARED_UP, "mlp.shared_expert.up_proj", NULL},
    {ROOF_WEIGHT_SHARED_DOWN, "mlp.shared_expert.down_proj", NULL},
    {ROOF_WEIGHT_MIXER_IN, "self_attn.q_proj", NULL},
    {ROOF_WEIGHT_MIXER_OUT, "self_attn.o_proj", NULL}};

/* Models with compressed keys (DeepSeek-V4) have these. */
static const struct other_name compressed_names[] = {
    {ROOF_WEIGHT_Q_A, "attn.wq_a", NULL},
    {ROOF_WEIGHT_Q_A, "attn.fused_wqa_wkv", NULL},
    {ROOF_WEIGHT_KV_A, "attn.wkv", NULL},
    {ROOF_WEIGHT_KV_A, "attn.fused_wqa_wkv", NULL},
    {ROOF_WEIGHT_Q_B, "attn.wq_b", NULL},
    {ROOF_WEIGHT_O, "attn.wo_a", NULL},
    {ROOF_WEIGHT_INDEX, "attn.indexer.wq_b", NULL},
    {ROOF_WEIGHT_ROUTER, "ffn.gate", NULL},
    {ROOF_WEIGHT_EXPERT_GATE, "ffn.experts.0.gate_proj", NULL},
    {ROOF_WEIGHT_EXPERT_UP, "ffn.experts.0.up_proj", NULL},
    {ROOF_WEIGHT_EXPERT_DOWN, "ffn.experts.0.down_proj", NULL},
    {ROOF_WEIGHT_EXPERT_GATE, "ffn.experts.0.w1", NULL},
    {ROOF_WEIGHT_EXPERT_UP, "ffn.experts.0.w3", NULL},
    {ROOF_WEIGHT_EXPERT_DOWN, "ffn.experts.0.w2", NULL},
    {ROOF_WEIGHT_SHARED_GATE, "ffn.shared_experts.gate_proj", NULL},
    {ROOF_WEIGHT_SHARED_UP, "ffn.shared_experts.up_proj", NULL},
    {ROOF_WEIGHT_SHARED_DOWN, "ffn.shared_experts.down_proj", NULL},
    {ROOF_WEIGHT_SHARED_GATE, "ffn.shared_experts.w1", NULL},
    {ROOF_WEIGHT_SHARED_UP, "ffn.shared_experts.w3", NULL},
    {ROOF_WEIGHT_SHARED_DOWN, "ffn.shared_experts.w2", NULL}};

/* Tells whether a model has the other names of a weight: among layers with a state only those with
 * Kimi delta attention name their projections as in attention. */
static bool has_other_names(const struct roof_model *model, enum roof_weight weight)
{
    return (weight != ROOF_WEIGHT_MIXER_IN && weight != ROOF_WEIGHT_MIXER_OUT) ||
           model->mixer.kind == ROOF_MIXER_KIMI_DELTA;
}

/* Tells whether module contains name as whole components: "lm_head", "layers.61", "mlp.gate". */
static bool has_components(const char *module, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(module, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at == module || at[-1] == '.') && (at[length] == '\0' || at[length] == '.')) {
            return true;
        }
    }
    return false;
}

/* Tells whether a pattern matches the name, or the name without its last components. */
static bool matches_pattern(const char *pattern, const char *module)
{
    char name[MODULE_SIZE];
    snprintf(name, sizeof name, "%s", module);
    for (char *end = name + strlen(name); end != NULL; end = strrchr(name, '.')) {
        *end = '\0';
        if (fnmatch(pattern, name, 0) == 0) {
            return true;
        }
    }
    return has_components(module, pattern);
}

/* --- lists of modules ---------------------------------------------------------------------- */

/* An entry of a list of modules. It is a pattern of the whole name, components of it, or with "re:"
 * a regular expression. */
struct entry {
    const char *text;
    size_t length;
    bool literal;                          /* it has no pattern characters, like most entries */
    const struct roof_pattern *expression; /* NULL: it is not a regular expression */
};

static bool matches_module(const struct entry *entry, const char *module, int64_t *work)
{
    return entry->expression != NULL ? roof_pattern_matches(entry->expression, module, work)
           : entry->literal          ? has_components(module, entry->text)
                                     : matches_pattern(entry->text, module);
}

/* Tells whether an entry names a weight of a layer by one of its names. */
static bool names_weight(struct quantization *r, const struct entry *entry, enum roof_weight weight,
                         int64_t layer)
{
    const bool others = has_other_names(r->model, weight);
    const bool compressed = r->model->out_rank > 0;
    const struct other_name *const other = compressed ? compressed_names : other_names;
    const size_t count = compressed ? COUNT(compressed_names) : COUNT(other_names);
    char module[MODULE_SIZE];
    bool found = false;
    if (entry->expression == NULL && entry->literal && entry->length >= MODULE_SIZE) {
        return false; /* it is longer than any name */
    }
    for (size_t p = 0; p < COUNT(layer_prefixes) && !found; p++) {
        for (size_t n = 0; n <= count && !found; n++) {
            const bool usual = n == count;
            if (usual || (others && other[n].weight == weight &&
                          (other[n].word == NULL || strstr(entry->text, other[n].word) != NULL))) {
                snprintf(module, sizeof module, "%s%" PRId64 ".%s", layer_prefixes[p], layer,
                         usual ? roof_weight_module(weight) : other[n].module);
                found = matches_module(entry, module, &r->work);
            }
        }
    }
    return found;
}

/* Returns the number of the layer in an entry without patterns; else -1. */
static int64_t layer_of(const struct entry *entry)
{
    static const char word[] = "layers.";
    const char *at = entry->literal ? strstr(entry->text, word) : NULL;
    int64_t layer = 0;
    if (at == NULL || (at != entry->text && at[-1] != '.')) {
        return -1;
    }
    at += strlen(word);
    const char *const digits = at;
    for (; *at >= '0' && *at <= '9' && layer < ROOF_LAYERS_MAX; at++) {
        layer = 10 * layer + (*at - '0');
    }
    return at > digits && (*at == '.' || *at == '\0') ? layer : -1;
}

/* Sets the format of the weights that an entry names. In a list of exclusions claimed is NULL. For
 * the targets of a group it has, as bits, the weights of each layer that already have their format,
 * and "Linear" names all. */
static enum roof_status put_entry(struct quantization *r, const roof_json_value *item,
                                  const struct entry *entry, enum roof_precision to,
                                  unsigned *claimed)
{
    const bool all = claimed != NULL && strcmp(entry->text, LINEAR_CLASS) == 0;
    const int64_t steps = (int64_t)(entry->literal ? 1 : COUNT(layer_prefixes)) *
                          ((int64_t)entry->length + EXCLUSION_WORK_EACH);
    const int64_t only = layer_of(entry);
    const int64_t begin = only < 0 ? 0 : only;
    const int64_t end = only < 0 || only >= r->model->layers ? r->model->layers : only + 1;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const enum roof_weight weight = (enum roof_weight)w;
        for (int64_t i = begin; i < end; i++) {
            int8_t *const format = &r->layer[i].format[w];
            const bool taken = claimed == NULL
                                   ? *format == (int8_t)to
                                   : (claimed[i] & (1U << w)) != 0 || !roof_weight_linear(weight);
            r->work += taken ? 1 : steps;
            if (r->work > EXCLUSION_WORK_MAX) {
                return roof_json_error(
                    r->json, item, r->error,
                    "matching these lists of modules takes too long" GIVE_FORMATS);
            }
            if (!taken && (all || names_weight(r, entry, weight, i))) {
                *format = (int8_t)to;
                if (claimed != NULL) {
                    claimed[i] |= 1U << w;
                }
            }
        }
    }
    return ROOF_OK;
}

/* Reads an entry with its text in item, and sets the format of the weights that it names. */
static enum roof_status put_named(struct quantization *r, const roof_json_value *item,
                                  const char *text, enum roof_precision to, unsigned *claimed)
{
    struct roof_pattern pattern;
    if (text == NULL) {
        return roof_json_error(r->json, item, r->error, "a list of modules must be of strings");
    }
    if (*text == '\0') {
        return ROOF_OK;
    }
    const bool expression = strncmp(text, "re:", 3) == 0;
    const char *const problem = expression ? roof_pattern_read(&pattern, text + 3) : NULL;
    if (problem != NULL) {
        return roof_json_error(r->json, item, r->error,
                               "regular expression '%.100s': %s" GIVE_FORMATS, text + 3, problem);
    }
    char short_text[MODULE_SIZE];
    size_t length = strlen(text);
    if (!expression && length > 1 && length < MODULE_SIZE && text[length - 1] == '.') {
        length--;
        (void)snprintf(short_text, sizeof short_text, "%.*s", (int)length, text);
        text = short_text; /* "model.layers.0." means the layer */
    }
    const struct entry entry = {text, length, strcspn(text, "*?[\\") == length,
                                expression ? &pattern : NULL};
    return put_entry(r, item, &entry, to, claimed);
}

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

/* Gives routed experts the format that DeepSeek-V4 has for them beside FP8: MXFP4. */
static void put_experts(struct quantization *r, const char *method)
{
    const bool narrow = r->model->fp4_experts && method != NULL && strcmp(method, "fp8") == 0;
    for (int64_t i = 0; i < r->model->layers && narrow; i++) {
        for (int w = ROOF_WEIGHT_EXPERT_GATE; w <= ROOF_WEIGHT_EXPERT_DOWN; w++) {
            r->layer[i].format[w] = (int8_t)ROOF_PRECISION_MXFP4;
        }
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

/* A model has one format of inputs, the narrowest of those that its weights ask for. *inputs is
 * that of the weights so far; weights whose inputs are not converted ask for 16 bits. */
static void narrow_inputs(enum roof_precision *inputs, enum roof_precision asked)
{
    asked = asked == ROOF_PRECISION_AUTO ? ROOF_PRECISION_BF16 : asked;
    if (*inputs == ROOF_PRECISION_AUTO ||
        roof_precision_bits(asked) < roof_precision_bits(*inputs)) {
        *inputs = asked;
    }
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

/* Reads a module of the list; *inputs is the narrowest format of inputs so far. */
static enum roof_status read_quantized(struct quantization *r, const roof_json_value *item,
                                       enum roof_precision *inputs, unsigned *claimed)
{
    struct method method = {.weights = ROOF_PRECISION_AUTO};
    TRY(roof_quantization_method(&method, r, item));
    narrow_inputs(inputs, method.activations);
    if (strcmp(roof_json_key(item), "lm_head") == 0) {
        r->model->format[ROOF_WEIGHT_LM_HEAD] = (int8_t)method.weights;
    }
    return put_named(r, item, roof_json_key(item), method.weights, claimed);
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

/* Reads the formats of individually named modules; others keep 16 bits. */
static enum roof_status read_mixed(struct quantization *r, const roof_json_value *q)
{
    const roof_json_value *const modules = roof_json_get(q, "quantized_layers");
    unsigned claimed[ROOF_LAYERS_MAX] = {0};
    enum roof_precision inputs = ROOF_PRECISION_AUTO;
    if (!roof_json_is_object(modules)) {
        return roof_json_error(r->json, modules == NULL ? q : modules, r->error,
                               "MIXED_PRECISION needs an object "
                               "quantized_layers" GIVE_FORMATS);
    }
    put_formats(r, ROOF_PRECISION_BF16, false);
    for (const roof_json_value *item = roof_json_first(modules); item != NULL;
         item = roof_json_next(item)) {
        TRY(read_quantized(r, item, &inputs, claimed));
    }
    for (const roof_json_value *item = roof_json_first(modules); item != NULL;
         item = roof_json_next(item)) {
        TRY(check_inputs(r, item, inputs));
    }
    r->model->activations = inputs;
    return names_any(r, claimed) ? ROOF_OK
                                 : roof_json_error(r->json, modules, r->error,
                                                   "quantized_layers name no weight of this "
                                                   "model" GIVE_FORMATS);
}

/* --- compressed-tensors -------------------------------------------------------------------- */

/* How numbers are quantised. */
struct numbers {
    double bits;
    bool real;      /* floating point, not integers */
    double group;   /* values that share a scale; 0: those of a channel, or all */
    bool symmetric; /* they lie around 0 */
};

static bool read_numbers(struct numbers *out, const roof_json_value *value)
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
    if (!read_numbers(&n, weights) || !find_weights(out, &n)) {
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
    for (size_t i = 0; i < COUNT(rows) && read_numbers(&n, inputs); i++) {
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
            TRY(put_named(r, item, name, format, claimed));
        }
    }
    return ROOF_OK;
}

/* Demands of the groups with weights. */
struct groups {
    bool stored;                /* there is one: the others may be of the cache alone */
    bool mixed;                 /* two ask for different inputs */
    enum roof_precision first;  /* inputs of the first */
    enum roof_precision inputs; /* the narrowest; 16 bits if they are not converted */
};

static enum roof_status read_formats(enum roof_precision *weights, enum roof_precision *inputs,
                                     struct quantization *r, const roof_json_value *group)
{
    const roof_json_value *const stored = roof_quantization_member(group, "weights");
    TRY(read_weights(weights, r, stored == NULL ? group : stored));
    return read_inputs(inputs, r, roof_quantization_member(group, "input_activations"), *weights);
}

/* Reads a group with weights. */
static enum roof_status read_group_of_weights(struct groups *out, struct quantization *r,
                                              const roof_json_value *group, bool classes,
                                              unsigned *claimed)
{
    enum roof_precision format = ROOF_PRECISION_AUTO;
    enum roof_precision inputs = ROOF_PRECISION_AUTO;
    TRY(read_formats(&format, &inputs, r, group));
    out->first = out->stored ? out->first : inputs;
    out->mixed = out->mixed || inputs != out->first;
    out->stored = true;
    narrow_inputs(&out->inputs, inputs);
    return put_targets(r, group, format, classes, claimed);
}

/* Refuses a group whose inputs would have another format than it asks for. */
static enum roof_status check_group_inputs(const struct groups *all, struct quantization *r,
                                           const roof_json_value *group)
{
    enum roof_precision format = ROOF_PRECISION_AUTO;
    enum roof_precision inputs = ROOF_PRECISION_AUTO;
    TRY(read_formats(&format, &inputs, r, group));
    return meets_inputs(format, inputs, all->inputs)
               ? ROOF_OK
               : roof_json_error(r->json, group, r->error,
                                 "config_groups with such different input_activations are not "
                                 "supported" GIVE_FORMATS);
}

/* A group without weights is for attention: it has only inputs. */
static bool has_weights(const roof_json_value *group)
{
    return !roof_json_is_object(group) || roof_quantization_member(group, "weights") != NULL;
}

/* Reads the groups. A group that names a weight takes precedence over one that has its class, and
 * the first of two groups over the second. Weights in no group keep their format. */
static enum roof_status read_groups(struct quantization *r, const roof_json_value *q)
{
    const roof_json_value *const groups = roof_json_get(q, "config_groups");
    unsigned claimed[ROOF_LAYERS_MAX] = {0};
    struct groups all = {.inputs = ROOF_PRECISION_AUTO};
    if (!roof_json_is_object(groups)) {
        return roof_json_error(r->json, groups == NULL ? q : groups, r->error,
                               "method 'compressed-tensors' needs "
                               "config_groups" GIVE_FORMATS);
    }
    put_formats(r, ROOF_PRECISION_BF16, false);
    for (int classes = 0; classes < 2; classes++) {
        for (const roof_json_value *group = roof_json_first(groups); group != NULL;
             group = roof_json_next(group)) {
            if (has_weights(group)) {
                TRY(read_group_of_weights(&all, r, group, classes != 0, claimed));
            }
        }
    }
    for (const roof_json_value *group = roof_json_first(groups); group != NULL && all.mixed;
         group = roof_json_next(group)) {
        TRY(has_weights(group) ? check_group_inputs(&all, r, group) : ROOF_OK);
    }
    if (all.stored) {
        r->model->activations = all.mixed ? all.inputs : all.first;
    }
    return !all.stored || names_any(r, claimed)
               ? ROOF_OK
               : roof_json_error(r->json, groups, r->error,
                                 "config_groups: the targets name no weight "
                                 "of this model" GIVE_FORMATS);
}

/* --- what all methods have ----------------------------------------------------------------- */

static enum roof_status read_exclusions(struct quantization *r, const roof_json_value *q)
{
    static const char *const lists[] = {"exclude_modules", "modules_to_not_convert", "ignore",
                                        "ignored_layers", "llm_int8_skip_modules"};
    for (size_t i = 0; i < COUNT(lists); i++) {
        const roof_json_value *const list = roof_quantization_member(q, lists[i]);
        if (list != NULL && !roof_json_is_array(list)) {
            return roof_json_error(r->json, list, r->error,
                                   "%s must be an array of names of modules", lists[i]);
        }
        for (const roof_json_value *item = roof_json_first(list); item != NULL;
             item = roof_json_next(item)) {
            TRY(put_named(r, item, roof_json_string(item), ROOF_PRECISION_BF16, NULL));
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
    const bool numbers = roof_json_is_object(value) && read_numbers(&n, value);
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

static enum roof_status read_quantization(struct quantization *r, const roof_json_value *q)
{
    const char *const name = roof_json_line(roof_json_get(q, "quant_method"));
    const char *const algorithm = roof_json_line(roof_json_get(q, "quant_algo"));
    struct method method = {.weights = ROOF_PRECISION_AUTO};
    TRY(refuse_unknown(r, q));
    if (name != NULL && strcmp(name, "compressed-tensors") == 0) {
        TRY(read_groups(r, q));
    } else if (algorithm != NULL && strcmp(algorithm, "MIXED_PRECISION") == 0) {
        TRY(read_mixed(r, q));
    } else if (algorithm == NULL && (name == NULL || strcmp(name, "modelopt") == 0) &&
               roof_quantization_member(q, "kv_cache_quant_algo") != NULL) {
        put_formats(r, ROOF_PRECISION_BF16, false); /* the cache alone is quantised */
    } else {
        TRY(roof_quantization_method(&method, r, q));
        put_formats(r, method.weights, method.experts_only);
        put_experts(r, name);
        r->model->activations = method.activations;
    }
    TRY(read_exclusions(r, q));
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
    const enum roof_status status = read_quantization(&r, q);
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
        model->kv = copy->kv;
    } else if (status != ROOF_MEMORY) {
        roof_model_note(model, "the quantisation in its config is not known, so activations and KV "
                               "cache have the requested formats");
    }
    free(copy);
    return status == ROOF_MEMORY ? roof_no_memory(error) : ROOF_OK;
}
