// SPDX-License-Identifier: MIT
#include "model/quantization.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/pattern.h"
#include "model/model_make.h"
#include "model/weights.h"

struct quantization {
    struct roof_model *model;
    struct roof_layer *layer; /* the layers one by one */
    const struct roof_json *json;
    struct roof_error *error;
    int64_t work; /* steps that lists of modules took */
};

/* --- names of modules ---------------------------------------------------------------------- */

#define MODULE_SIZE 128 /* for "model.layers.61.mlp.experts.down_proj" and the like */
/* Reading lists of modules may take so many bytes and steps, which are some seconds. Each name that
 * an entry is compared with counts as EXCLUSION_WORK_EACH of them, however short the entry is. */
#define EXCLUSION_WORK_MAX INT64_C(1000000000)
#define EXCLUSION_WORK_EACH 64
#define LINEAR_CLASS "Linear"

/* The number of a layer follows one of these, in text models and in vision models. */
static const char *const layer_prefixes[] = {"model.layers.", "language_model.model.layers.",
                                             "model.language_model.layers."};

/* Weights have other names in some classes of models. An entry means a name that several weights
 * share only if it has their word: an entry for one of them is not for all. */
static const struct {
    enum roof_weight weight;
    const char *module;
    const char *word; /* NULL: none is needed */
} other_names[] = {{ROOF_WEIGHT_Q, "self_attn.qkv_proj", "qkv"},
                   {ROOF_WEIGHT_K, "self_attn.qkv_proj", "qkv"},
                   {ROOF_WEIGHT_V, "self_attn.qkv_proj", "qkv"},
                   {ROOF_WEIGHT_GATE, "mlp.gate_up_proj", "gate_up"},
                   {ROOF_WEIGHT_UP, "mlp.gate_up_proj", "gate_up"},
                   {ROOF_WEIGHT_ROUTER, "block_sparse_moe.gate", NULL},
                   {ROOF_WEIGHT_EXPERT_GATE, "block_sparse_moe.experts.0.w1", NULL},
                   {ROOF_WEIGHT_EXPERT_UP, "block_sparse_moe.experts.0.w3", NULL},
                   {ROOF_WEIGHT_EXPERT_DOWN, "block_sparse_moe.experts.0.w2", NULL},
                   {ROOF_WEIGHT_SHARED_GATE, "mlp.shared_expert.gate_proj", NULL},
                   {ROOF_WEIGHT_SHARED_UP, "mlp.shared_expert.up_proj", NULL},
                   {ROOF_WEIGHT_SHARED_DOWN, "mlp.shared_expert.down_proj", NULL}};

/* Tells whether name stands in module as whole components: "lm_head", "layers.61", "mlp.gate". */
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

/* --- methods ------------------------------------------------------------------------------- */

#define GIVE_FORMATS "; give the formats with " ROOF_KEY("layout") " or " ROOF_KEY("class")

/* The formats of methods. Each width of a method has a row; 4 bits are the default. */
static const struct method {
    const char *method;
    const char *algorithm; /* quant_algo; NULL: any */
    int bits;              /* 0: any */
    enum roof_precision weights;
    enum roof_precision activations;
    bool experts_only;
} methods[] = {
    {"mxfp4", NULL, 0, ROOF_PRECISION_MXFP4, ROOF_PRECISION_BF16, true},
    {"modelopt", "NVFP4", 0, ROOF_PRECISION_NVFP4, ROOF_PRECISION_NVFP4, false},
    {"modelopt", "FP8", 0, ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3, false},
    {"fp8", NULL, 0, ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3, false},
    {"fbgemm_fp8", NULL, 0, ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3, false},
    {"awq", NULL, 4, ROOF_PRECISION_INT4_G128_ZP, ROOF_PRECISION_AUTO, false},
    {"gptq", NULL, 4, ROOF_PRECISION_INT4_G128_ZP, ROOF_PRECISION_AUTO, false},
    {"gptq", NULL, 8, ROOF_PRECISION_INT8_CHANNEL, ROOF_PRECISION_AUTO, false},
    {"bitsandbytes", NULL, 8, ROOF_PRECISION_INT8_CHANNEL, ROOF_PRECISION_AUTO, false},
    {"bitsandbytes", NULL, 4, ROOF_PRECISION_NF4_FP32, ROOF_PRECISION_AUTO, false},
};

/* Returns a member; null counts as absent. */
static const roof_json_value *find_member(const roof_json_value *object, const char *key)
{
    const roof_json_value *const value = roof_json_get(object, key);
    return value == NULL || roof_json_is_null(value) ? NULL : value;
}

static const roof_json_value *find_either(const roof_json_value *object, const char *key,
                                          const char *other)
{
    const roof_json_value *const value = find_member(object, key);
    return value == NULL ? find_member(object, other) : value;
}

/* Reads a number; *out stays when there is no value. */
static enum roof_status read_number(double *out, struct quantization *r,
                                    const roof_json_value *value)
{
    return value == NULL || roof_json_number(out, value)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "quantization_config: %s must be a number", roof_json_key(value));
}

static enum roof_status read_truth(bool *out, struct quantization *r, const roof_json_value *value)
{
    return value == NULL || roof_json_boolean(out, value)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "quantization_config: %s must be true or false",
                                 roof_json_key(value));
}

/* Reads the size of the blocks that FP8 scales are for: [128, 128], or in old files "128x128". */
static enum roof_status read_block(enum roof_precision *out, struct quantization *r,
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
                 : roof_json_error(r->json, block, r->error,
                                   "quantization_config: of %s only [128, 128] is "
                                   "known" GIVE_FORMATS,
                                   roof_json_key(block));
}

/* Reads the format of 4-bit integers by the size of their groups. */
static enum roof_status read_group(enum roof_precision *out, struct quantization *r,
                                   const roof_json_value *value)
{
    double group = 128;
    TRY(read_number(&group, r, value));
    return roof_int4_format(out, group, true)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "quantization_config: groups of 128, 64 and 32 are "
                                 "known, not of %.10g" GIVE_FORMATS,
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
                                 "quantization_config: one of load_in_8bit and load_in_4bit must "
                                 "be true, and not both");
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
    const roof_json_value *const type = find_member(q, "bnb_4bit_quant_type");
    const char *const name = type == NULL ? "fp4" : roof_json_line(type); /* its default */
    bool nested = false;
    TRY(read_truth(&nested, r, find_member(q, "bnb_4bit_use_double_quant")));
    for (size_t i = 0; i < COUNT(rows) && name != NULL; i++) {
        if (strcmp(name, rows[i].type) == 0 && nested == rows[i].nested) {
            *out = rows[i].format;
            return ROOF_OK;
        }
    }
    return roof_json_error(r->json, type == NULL ? q : type, r->error,
                           "quantization_config: of bnb_4bit_quant_type nf4, and fp4 without "
                           "bnb_4bit_use_double_quant, are known" GIVE_FORMATS);
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

static enum roof_status read_method(struct method *out, struct quantization *r,
                                    const roof_json_value *q)
{
    const char *const name = roof_json_line(roof_json_get(q, "quant_method"));
    const char *const algorithm = roof_json_line(roof_json_get(q, "quant_algo"));
    const roof_json_value *const block = find_member(q, "weight_block_size");
    double bits = 4;
    if (name != NULL && strcmp(name, "bitsandbytes") == 0) {
        TRY(read_bitsandbytes(&bits, r, q));
    } else {
        TRY(read_number(&bits, r, find_either(q, "bits", "w_bit")));
    }
    if (!find_method(out, name, algorithm, bits)) {
        return roof_json_error(r->json, q, r->error,
                               "quantization_config: method '%s'%s%s is not known" GIVE_FORMATS,
                               name == NULL ? "" : name, algorithm == NULL ? "" : " ",
                               algorithm == NULL ? "" : algorithm);
    }
    if (out->weights == ROOF_PRECISION_INT4_G128_ZP) {
        return read_group(&out->weights, r, find_either(q, "group_size", "q_group_size"));
    }
    if (out->weights == ROOF_PRECISION_NF4_FP32) {
        return read_code_book(&out->weights, r, q);
    }
    if (out->weights == ROOF_PRECISION_FP8_E4M3 && block != NULL) {
        return read_block(&out->weights, r, block);
    }
    return ROOF_OK;
}

/* --- lists of modules ---------------------------------------------------------------------- */

/* An entry of a list of modules. It is a pattern of the whole name, components of it, or with "re:"
 * a regular expression. */
struct entry {
    const char *text;
    size_t length;
    bool literal;                          /* it has no characters of patterns, as most have not */
    const struct roof_pattern *expression; /* NULL: it is no regular expression */
};

static bool matches_module(const struct entry *entry, const char *module, int64_t *work)
{
    return entry->expression != NULL ? roof_pattern_matches(entry->expression, module, work)
           : entry->literal          ? has_components(module, entry->text)
                                     : matches_pattern(entry->text, module);
}

/* Tells whether an entry names a weight of a layer by one of its names. */
static bool names_weight(const struct entry *entry, enum roof_weight weight, int64_t layer,
                         int64_t *work)
{
    char module[MODULE_SIZE];
    bool found = false;
    if (entry->expression == NULL && entry->literal && entry->length >= MODULE_SIZE) {
        return false; /* it is longer than any name */
    }
    for (size_t p = 0; p < COUNT(layer_prefixes) && !found; p++) {
        for (size_t n = 0; n <= COUNT(other_names) && !found; n++) {
            const bool usual = n == COUNT(other_names);
            if (usual || (other_names[n].weight == weight &&
                          (other_names[n].word == NULL ||
                           strstr(entry->text, other_names[n].word) != NULL))) {
                snprintf(module, sizeof module, "%s%" PRId64 ".%s", layer_prefixes[p], layer,
                         usual ? roof_weight_module(weight) : other_names[n].module);
                found = matches_module(entry, module, work);
            }
        }
    }
    return found;
}

/* Gives the weights that an entry names a format. In a list of exclusions claimed is NULL. For the
 * targets of a group it has the weights of each layer that have their format, as bits, and
 * "Linear" names all. */
static enum roof_status put_entry(struct quantization *r, const roof_json_value *item,
                                  const struct entry *entry, enum roof_precision to,
                                  unsigned *claimed)
{
    const bool all = claimed != NULL && strcmp(entry->text, LINEAR_CLASS) == 0;
    const int64_t steps = (int64_t)(entry->literal ? 1 : COUNT(layer_prefixes)) *
                          ((int64_t)entry->length + EXCLUSION_WORK_EACH);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const enum roof_weight weight = (enum roof_weight)w;
        for (int64_t i = 0; i < r->model->layers; i++) {
            int8_t *const format = &r->layer[i].format[w];
            const bool taken = claimed == NULL
                                   ? *format == (int8_t)to
                                   : (claimed[i] & (1U << w)) != 0 || !roof_weight_linear(weight);
            r->work += taken ? 1 : steps;
            if (r->work > EXCLUSION_WORK_MAX) {
                return roof_json_error(r->json, item, r->error,
                                       "these lists of modules take too long" GIVE_FORMATS);
            }
            if (!taken && (all || names_weight(entry, weight, i, &r->work))) {
                *format = (int8_t)to;
                if (claimed != NULL) {
                    claimed[i] |= 1U << w;
                }
            }
        }
    }
    return ROOF_OK;
}

/* Reads an entry and gives what it names a format. */
static enum roof_status put_named(struct quantization *r, const roof_json_value *item,
                                  enum roof_precision to, unsigned *claimed)
{
    const char *const text = roof_json_string(item);
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
    const size_t length = strlen(text);
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
    const roof_json_value *const group = find_member(value, "group_size");
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
        return roof_json_error(
            r->json, weights, r->error,
            "quantization_config: config_groups: weights of such num_bits, type and "
            "group_size are not known" GIVE_FORMATS);
    }
    return block != NULL && *out == ROOF_PRECISION_FP8_E4M3 && strategy != NULL &&
                   strcmp(strategy, "block") == 0
               ? read_block(out, r, block)
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
    return roof_json_error(r->json, inputs, r->error,
                           "quantization_config: config_groups: inputs of such num_bits and type "
                           "are not known" GIVE_FORMATS);
}

/* Gives the targets of a group its format: those that are classes of modules, or those that are
 * names. */
static enum roof_status put_targets(struct quantization *r, const roof_json_value *group,
                                    enum roof_precision format, bool classes, unsigned *claimed)
{
    const roof_json_value *const targets = roof_json_get(group, "targets");
    if (!roof_json_is_array(targets)) {
        return roof_json_error(r->json, targets == NULL ? group : targets, r->error,
                               "quantization_config: config_groups: targets must be an array");
    }
    for (const roof_json_value *item = roof_json_first(targets); item != NULL;
         item = roof_json_next(item)) {
        const char *const name = roof_json_string(item);
        const bool is_class = name != NULL && *name >= 'A' && *name <= 'Z';
        if (is_class && strcmp(name, LINEAR_CLASS) != 0) {
            return roof_json_error(r->json, item, r->error,
                                   "quantization_config: config_groups: of classes only Linear "
                                   "is known" GIVE_FORMATS);
        }
        if (is_class == classes) {
            TRY(put_named(r, item, format, claimed));
        }
    }
    return ROOF_OK;
}

/* Reads a group that has weights. *stored: another one came before. */
static enum roof_status read_group_of_weights(struct quantization *r, const roof_json_value *group,
                                              bool classes, unsigned *claimed, bool *stored)
{
    const roof_json_value *const weights = find_member(group, "weights");
    enum roof_precision format = ROOF_PRECISION_AUTO;
    enum roof_precision inputs = ROOF_PRECISION_AUTO;
    TRY(read_weights(&format, r, weights == NULL ? group : weights));
    TRY(read_inputs(&inputs, r, find_member(group, "input_activations"), format));
    if (*stored && inputs != r->model->activations) {
        return roof_json_error(r->json, group, r->error,
                               "quantization_config: config_groups whose "
                               "input_activations differ are not known" GIVE_FORMATS);
    }
    r->model->activations = inputs;
    *stored = true;
    return put_targets(r, group, format, classes, claimed);
}

/* Reads the groups. A weight that one of them names belongs to it before it belongs to one that has
 * its class, and of two groups the first counts. Weights in no group keep their format. */
static enum roof_status read_groups(struct quantization *r, const roof_json_value *q)
{
    const roof_json_value *const groups = roof_json_get(q, "config_groups");
    unsigned claimed[ROOF_LAYERS_MAX] = {0};
    bool stored = false; /* some group has weights: the others may be of the cache alone */
    if (!roof_json_is_object(groups)) {
        return roof_json_error(r->json, groups == NULL ? q : groups, r->error,
                               "quantization_config: method 'compressed-tensors' needs "
                               "config_groups" GIVE_FORMATS);
    }
    put_formats(r, ROOF_PRECISION_BF16, false);
    for (int classes = 0; classes < 2; classes++) {
        for (const roof_json_value *group = roof_json_first(groups); group != NULL;
             group = roof_json_next(group)) {
            /* A group without weights is one of attention: it has inputs alone. */
            if (!roof_json_is_object(group) || find_member(group, "weights") != NULL) {
                TRY(read_group_of_weights(r, group, classes != 0, claimed, &stored));
            }
        }
    }
    unsigned any = 0;
    for (int64_t i = 0; i < r->model->layers; i++) {
        any |= claimed[i];
    }
    return any != 0 || !stored
               ? ROOF_OK
               : roof_json_error(r->json, groups, r->error,
                                 "quantization_config: config_groups: the targets name no weight "
                                 "of this model" GIVE_FORMATS);
}

/* --- what all methods have ----------------------------------------------------------------- */

static enum roof_status read_exclusions(struct quantization *r, const roof_json_value *q)
{
    static const char *const lists[] = {"exclude_modules", "modules_to_not_convert", "ignore",
                                        "ignored_layers", "llm_int8_skip_modules"};
    for (size_t i = 0; i < COUNT(lists); i++) {
        const roof_json_value *const list = find_member(q, lists[i]);
        if (list != NULL && !roof_json_is_array(list)) {
            return roof_json_error(r->json, list, r->error,
                                   "quantization_config: %s must be an array of names of modules",
                                   lists[i]);
        }
        for (const roof_json_value *item = roof_json_first(list); item != NULL;
             item = roof_json_next(item)) {
            TRY(put_named(r, item, ROOF_PRECISION_BF16, NULL));
        }
    }
    return ROOF_OK;
}

/* Finds the format of a KV cache, which is the name of an algorithm, or numbers like those of
 * weights; AUTO when it is neither. */
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
        const roof_json_value *const value = find_member(q, keys[k]);
        if (value == NULL) {
            continue;
        }
        const enum roof_precision format = find_cache(value);
        if (format == ROOF_PRECISION_AUTO ||
            (r->model->kv != ROOF_PRECISION_AUTO && r->model->kv != format)) {
            return roof_json_error(
                r->json, value, r->error, "quantization_config: %s %s" GIVE_FORMATS, keys[k],
                format == ROOF_PRECISION_AUTO ? "is none of FP8, INT8 and NVFP4"
                                              : "is another than kv_cache_quant_algo");
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

/* Refuses members that change the formats of some weights, or their bytes, in ways that are not
 * known. */
static enum roof_status refuse_unknown(struct quantization *r, const roof_json_value *q)
{
    static const char *const gptq_keys[] = {"dynamic", "lm_head", "modules_in_block_to_quantize"};
    const roof_json_value *unknown = NULL;
    for (size_t i = 0; i < COUNT(gptq_keys) && unknown == NULL; i++) {
        const roof_json_value *const value = find_member(q, gptq_keys[i]);
        unknown = says_nothing(value) ? NULL : value;
    }
    const struct {
        const roof_json_value *value;
        const char *known;
    } words[] = {{find_member(find_member(q, "sparsity_config"), "format"), "dense"},
                 {find_member(q, "fmt"), "e4m3"}};
    for (size_t i = 0; i < COUNT(words) && unknown == NULL; i++) {
        const char *const text = roof_json_string(words[i].value);
        const bool known = text != NULL && strstr(text, words[i].known) != NULL;
        unknown = known ? NULL : words[i].value;
    }
    return unknown == NULL
               ? ROOF_OK
               : roof_json_error(r->json, unknown, r->error,
                                 "quantization_config: what %s says is not known" GIVE_FORMATS,
                                 roof_json_key(unknown));
}

static enum roof_status read_quantization(struct quantization *r, const roof_json_value *q)
{
    const char *const name = roof_json_line(roof_json_get(q, "quant_method"));
    struct method method = {.weights = ROOF_PRECISION_AUTO};
    TRY(refuse_unknown(r, q));
    if (name != NULL && strcmp(name, "compressed-tensors") == 0) {
        TRY(read_groups(r, q));
    } else {
        TRY(read_method(&method, r, q));
        put_formats(r, method.weights, method.experts_only);
        r->model->activations = method.activations;
    }
    TRY(read_exclusions(r, q));
    return read_cache(r, q);
}

enum roof_status roof_quantization_apply(struct roof_model *model, struct roof_layer *layer,
                                         struct roof_error *error)
{
    struct quantization r = {
        .model = model, .layer = layer, .json = roof_model_json(model), .error = error};
    const roof_json_value *const q = roof_model_quantization(model);
    return q == NULL ? roof_error_set(error, ROOF_USAGE,
                                      "the config of %s says nothing of a quantisation", model->id)
                     : read_quantization(&r, q);
}
