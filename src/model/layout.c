// SPDX-License-Identifier: MIT
#include "roofline/layout.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/pattern.h"
#include "catalog/precision.h"
#include "catalog/registry.h"
#include "model/model_make.h"
#include "roofline/quantity.h"

static const struct roof_registry layouts = {.folder = "layouts", .noun = "layout"};

enum roof_status roof_layout_ids(struct roof_text *out, size_t *count,
                                 const char *const *directories, struct roof_error *error)
{
    return roof_registry_ids(out, count, &layouts, directories, error);
}

/* --- layout files -------------------------------------------------------------------------- */

#define LAYOUT_SCHEMA "roofline/layout/1"

struct layout_reader {
    struct roof_model *model;
    struct roof_layer *layer; /* of each layer */
    const struct roof_json *json;
    struct roof_error *error;
};

/*
 * Whether a rule of a layout is for layer i: "else" all of them; "first 4"; "first 1/8" (rounded
 * down); "more_bits": those that llama.cpp favours, the first and the last eighth and every third
 * between (use_more_bits in src/llama-quant.cpp). *known is false for other words.
 */
static bool rule_holds(bool *known, const char *rule, int64_t i, int64_t layers)
{
    int64_t number = 0;
    int64_t part = 0;
    char end = 0;
    *known = true;
    if (strcmp(rule, "else") == 0) {
        return true;
    }
    if (strcmp(rule, "more_bits") == 0) {
        return i < layers / 8 || i >= 7 * layers / 8 || (i - layers / 8) % 3 == 2;
    }
    if (sscanf(rule, "first 1/%3" SCNd64 "%c", &part, &end) == 1 && part > 0) {
        return i < layers / part;
    }
    *known = sscanf(rule, "first %3" SCNd64 "%c", &number, &end) == 1 && number > 0;
    return *known && i < number;
}

static bool outside_layers(enum roof_weight weight)
{
    return weight == ROOF_WEIGHT_EMBEDDING || weight == ROOF_WEIGHT_NORM ||
           weight == ROOF_WEIGHT_LM_HEAD;
}

static enum roof_status read_format(enum roof_precision *out, const struct layout_reader *r,
                                    const roof_json_value *value, const char *what)
{
    const char *const name = roof_json_string(value);
    if (name == NULL) {
        return roof_json_error(r->json, value, r->error, "%s must be the name of a format", what);
    }
    const enum roof_status status = roof_precision_find(out, name, r->error);
    return status == ROOF_OK ? ROOF_OK
                             : roof_json_place_error(r->json, value, what, r->error, status);
}

/* A class in each of its rules, whether a layer of this model takes it or not. */
static enum roof_status check_class(const struct layout_reader *r, const roof_json_value *value,
                                    unsigned bits)
{
    const char *const name = roof_json_key(value);
    enum roof_precision format = ROOF_PRECISION_AUTO;
    if (!roof_json_is_object(value)) {
        return read_format(&format, r, value, name);
    }
    if (bits == 1U << ROOF_WEIGHT_EMBEDDING || bits == 1U << ROOF_WEIGHT_LM_HEAD) {
        return roof_json_error(r->json, value, r->error,
                               "%s is in no layer: it must be the name of a format, without rules",
                               name);
    }
    enum roof_status status = ROOF_OK;
    for (const roof_json_value *rule = roof_json_first(value); rule != NULL && status == ROOF_OK;
         rule = roof_json_next(rule)) {
        bool known = false;
        (void)rule_holds(&known, roof_json_key(rule), 0, 1);
        status = known ? read_format(&format, r, rule, name)
                       : roof_json_error(r->json, rule, r->error,
                                         "a rule is \"first N\", \"first 1/N\", \"more_bits\" or "
                                         "\"else\"");
    }
    return status != ROOF_OK || roof_json_get(value, "else") != NULL
               ? status
               : roof_json_error(r->json, value, r->error, "%s needs an \"else\"", name);
}

/* The value of a class, or of its rules the first that holds for layer i; outside the layers (-1)
 * that of "else". */
static const roof_json_value *class_value(const struct layout_reader *r,
                                          const roof_json_value *value, int64_t i)
{
    const roof_json_value *rule = roof_json_is_object(value) ? roof_json_first(value) : NULL;
    bool known = false;
    if (rule == NULL) {
        return value;
    }
    if (i < 0) {
        return roof_json_get(value, "else");
    }
    while (!rule_holds(&known, roof_json_key(rule), i, r->model->layers)) {
        rule = roof_json_next(rule); /* there is an "else" */
    }
    return rule;
}

static enum roof_status apply_class(const struct layout_reader *r, const roof_json_value *value,
                                    unsigned bits)
{
    for (int64_t i = -1; i < r->model->layers; i++) {
        int8_t *const formats = i < 0 ? r->model->format : r->layer[i].format;
        enum roof_precision format = ROOF_PRECISION_AUTO;
        const enum roof_status status =
            read_format(&format, r, class_value(r, value, i), roof_json_key(value));
        if (status != ROOF_OK) {
            return status;
        }
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            if ((bits & (1U << w)) != 0 && (i >= 0 || outside_layers((enum roof_weight)w))) {
                formats[w] = (int8_t)format;
            }
        }
    }
    return ROOF_OK;
}

static enum roof_status find_class(unsigned *bits, const struct layout_reader *r,
                                   const roof_json_value *item)
{
    const enum roof_status status = roof_weight_find(bits, roof_json_key(item), r->error);
    return status == ROOF_OK ? ROOF_OK : roof_json_place_error(r->json, item, "", r->error, status);
}

static enum roof_status check_classes(const struct layout_reader *r, const roof_json_value *classes)
{
    if (!roof_json_is_object(classes)) {
        return roof_json_error(r->json, classes == NULL ? roof_json_root(r->json) : classes,
                               r->error, "classes must be an object: {\"linear\": \"fp8\"}");
    }
    enum roof_status status = ROOF_OK;
    for (const roof_json_value *item = roof_json_first(classes); item != NULL && status == ROOF_OK;
         item = roof_json_next(item)) {
        unsigned bits = 0;
        status = find_class(&bits, r, item);
        if (status == ROOF_OK) {
            status = check_class(r, item, bits);
        }
    }
    return status;
}

/* The widest names first, so that a narrower one wins wherever it stands. */
static enum roof_status apply_classes(const struct layout_reader *r, const roof_json_value *classes)
{
    enum roof_status status = ROOF_OK;
    for (int width = ROOF_WEIGHT_COUNT; width > 0; width--) {
        for (const roof_json_value *item = roof_json_first(classes);
             item != NULL && status == ROOF_OK; item = roof_json_next(item)) {
            unsigned bits = 0;
            status = find_class(&bits, r, item);
            if (status == ROOF_OK && roof_weight_width(bits) == width) {
                status = apply_class(r, item, bits);
            }
        }
    }
    return status;
}

/* Whether the model is what a special case speaks of. */
static enum roof_status case_holds(bool *out, const struct layout_reader *r,
                                   const roof_json_value *condition)
{
    const struct roof_model *const m = r->model;
    const int64_t gqa = m->heads / m->kv_heads;
    const struct {
        const char *key;
        double value;
        bool truth; /* true or false, not a number */
    } facts[] = {{"experts", (double)m->experts, false},
                 {"layers", (double)m->layers, false},
                 {"gqa", (double)gqa, false},
                 {"tied", m->tied ? 1 : 0, true}};
    *out = true;
    if (!roof_json_is_object(condition) || roof_json_first(condition) == NULL) {
        return roof_json_error(r->json, condition, r->error,
                               "if must be an object with a condition or more: {\"tied\": true}");
    }
    for (const roof_json_value *item = roof_json_first(condition); item != NULL;
         item = roof_json_next(item)) {
        const char *const key = roof_json_key(item);
        size_t i = 0;
        while (i < COUNT(facts) && strcmp(key, facts[i].key) != 0) {
            i++;
        }
        if (i == COUNT(facts)) {
            return roof_json_error(r->json, item, r->error,
                                   "a case may ask for experts, layers, gqa and tied");
        }
        bool truth = false;
        double wanted = 0;
        if (facts[i].truth ? !roof_json_boolean(&truth, item) : !roof_json_number(&wanted, item)) {
            return roof_json_error(r->json, item, r->error, "%s must be %s", key,
                                   facts[i].truth ? "true or false" : "a number");
        }
        *out = *out && facts[i].value == (facts[i].truth ? (double)truth : wanted);
    }
    return ROOF_OK;
}

/* A special case, which is looked at whether it holds or not. */
static enum roof_status read_case(const struct layout_reader *r, const roof_json_value *item)
{
    static const char *const keys[] = {"if", "classes"};
    bool holds = false;
    if (!roof_json_is_object(item)) {
        return roof_json_error(r->json, item, r->error,
                               "a case must be an object: {\"if\": {\"tied\": true}, \"classes\": "
                               "{\"embedding\": \"fp8\"}}");
    }
    enum roof_status status = roof_json_only(r->json, item, keys, COUNT(keys), r->error);
    for (size_t i = 0; i < COUNT(keys) && status == ROOF_OK; i++) {
        if (roof_json_get(item, keys[i]) == NULL) {
            status = roof_json_error(r->json, item, r->error, "a case needs %s", keys[i]);
        }
    }
    const roof_json_value *const classes = roof_json_get(item, "classes");
    if (status == ROOF_OK) {
        status = case_holds(&holds, r, roof_json_get(item, "if"));
    }
    if (status == ROOF_OK) {
        status = check_classes(r, classes);
    }
    return status == ROOF_OK && holds ? apply_classes(r, classes) : status;
}

static enum roof_status read_cases(const struct layout_reader *r, const roof_json_value *when)
{
    if (when != NULL && !roof_json_is_array(when)) {
        return roof_json_error(r->json, when, r->error,
                               "when must be an array of cases: [{\"if\": ..., \"classes\": ...}]");
    }
    enum roof_status status = ROOF_OK;
    for (const roof_json_value *item = roof_json_first(when); item != NULL && status == ROOF_OK;
         item = roof_json_next(item)) {
        status = read_case(r, item);
    }
    return status;
}

static enum roof_status read_activations(const struct layout_reader *r,
                                         const roof_json_value *value)
{
    enum roof_precision *const out = &r->model->activations;
    const enum roof_status status = read_format(out, r, value, "activations");
    return status != ROOF_OK || !roof_precision_weight_only(*out)
               ? status
               : roof_json_error(r->json, value, r->error,
                                 "activations: %s stores weights only; allowed "
                                 "are " ROOF_TENSOR_FORMATS,
                                 roof_format(*out)->name);
}

/* What does not hang on the model. */
static enum roof_status check_layout(const struct layout_reader *r)
{
    static const char *const keys[] = {"schema",      "id", "name",    "source", "notes",
                                       "activations", "kv", "classes", "when"};
    const roof_json_value *const root = roof_json_root(r->json);
    const roof_json_value *const schema = roof_json_get(root, "schema");
    if (roof_json_string(schema) == NULL || strcmp(roof_json_string(schema), LAYOUT_SCHEMA) != 0) {
        return roof_json_error(r->json, schema == NULL ? root : schema, r->error,
                               "a layout has \"schema\": \"" LAYOUT_SCHEMA "\"");
    }
    const enum roof_status status = roof_json_only(r->json, root, keys, COUNT(keys), r->error);
    return status == ROOF_OK ? check_classes(r, roof_json_get(root, "classes")) : status;
}

static enum roof_status read_layout(const struct layout_reader *r)
{
    const roof_json_value *const root = roof_json_root(r->json);
    const roof_json_value *const activations = roof_json_get(root, "activations");
    const roof_json_value *const kv = roof_json_get(root, "kv");
    enum roof_status status = check_layout(r);
    if (status == ROOF_OK) {
        status = apply_classes(r, roof_json_get(root, "classes"));
    }
    if (status == ROOF_OK) {
        status = read_cases(r, roof_json_get(root, "when"));
    }
    if (status == ROOF_OK && activations != NULL) {
        status = read_activations(r, activations);
    }
    if (status == ROOF_OK && kv != NULL) {
        status = read_format(&r->model->kv, r, kv, "kv");
    }
    return status;
}

/* --- what a config.json says of its own quantisation --- */

#define MODULE_SIZE 128 /* of "model.layers.61.mlp.experts.down_proj" and the like */
/* Bytes and steps that lists of modules may take to look at: some seconds. Each name that an entry
 * is held against counts as some of them, however short the entry is. */
#define EXCLUSION_WORK_MAX INT64_C(1000000000)
#define EXCLUSION_WORK_EACH 64
#define LINEAR_CLASS "Linear"

/* What stands before the number of a layer, in models of text alone and in those that see. */
static const char *const layer_prefixes[] = {"model.layers.", "language_model.model.layers.",
                                             "model.language_model.layers."};

/* Other names of weights in some classes. Those that several have in common are only meant by an
 * entry with their word: what is for one of them is not for all. */
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

/* Whether name stands in module as whole components: "lm_head", "layers.61", "mlp.gate". */
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

static bool is_literal(const char *entry)
{
    return entry[strcspn(entry, "*?[\\")] == '\0';
}

/* Whether a pattern is that of the name, or of one that ends before its last components. */
static bool matches(const char *entry, const char *module)
{
    char name[MODULE_SIZE];
    if (is_literal(entry)) { /* most are */
        return has_components(module, entry);
    }
    snprintf(name, sizeof name, "%s", module);
    for (char *end = name + strlen(name); end != NULL; end = strrchr(name, '.')) {
        *end = '\0';
        if (fnmatch(entry, name, 0) == 0) {
            return true;
        }
    }
    return has_components(module, entry);
}

#define GIVE_FORMATS "; give the formats with " ROOF_KEY("layout") " or " ROOF_KEY("class")

/* By method, and where one says it, by bits: 4 when they are not given. */
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

/* Null counts as absent. */
static const roof_json_value *given(const roof_json_value *object, const char *key)
{
    const roof_json_value *const value = roof_json_get(object, key);
    return value == NULL || roof_json_is_null(value) ? NULL : value;
}

static const roof_json_value *either(const roof_json_value *object, const char *key,
                                     const char *other)
{
    const roof_json_value *const value = given(object, key);
    return value == NULL ? given(object, other) : value;
}

/* *out stays when there is no value. */
static enum roof_status read_number(double *out, const struct layout_reader *r,
                                    const roof_json_value *value)
{
    return value == NULL || roof_json_number(out, value)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "quantization_config: %s must be a number", roof_json_key(value));
}

static enum roof_status read_truth(bool *out, const struct layout_reader *r,
                                   const roof_json_value *value)
{
    return value == NULL || roof_json_boolean(out, value)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "quantization_config: %s must be true or false",
                                 roof_json_key(value));
}

/* FP8 whose scales are for blocks: [128, 128], or in old files "128x128". */
static enum roof_status read_block(enum roof_precision *out, const struct layout_reader *r,
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

/* The format of 4-bit integers in groups of so many. */
static enum roof_status read_group(enum roof_precision *out, const struct layout_reader *r,
                                   const roof_json_value *value)
{
    static const struct {
        double size;
        enum roof_precision format;
    } rows[] = {{128, ROOF_PRECISION_INT4_G128_ZP},
                {64, ROOF_PRECISION_INT4_G64_ZP},
                {32, ROOF_PRECISION_INT4_G32_ZP}};
    double size = rows[0].size;
    const enum roof_status status = read_number(&size, r, value);
    for (size_t i = 0; i < COUNT(rows) && status == ROOF_OK; i++) {
        if (size == rows[i].size) {
            *out = rows[i].format;
            return ROOF_OK;
        }
    }
    return status != ROOF_OK ? status
                             : roof_json_error(r->json, value, r->error,
                                               "quantization_config: groups of 128, 64 and 32 are "
                                               "known, not of %.10g" GIVE_FORMATS,
                                               size);
}

static enum roof_status read_bitsandbytes(double *bits, const struct layout_reader *r,
                                          const roof_json_value *q)
{
    bool eight = false;
    bool four = false;
    enum roof_status status = read_truth(&eight, r, either(q, "load_in_8bit", "_load_in_8bit"));
    if (status == ROOF_OK) {
        status = read_truth(&four, r, either(q, "load_in_4bit", "_load_in_4bit"));
    }
    *bits = eight ? 8 : 4;
    return status != ROOF_OK || eight != four
               ? status
               : roof_json_error(r->json, q, r->error,
                                 "quantization_config: one of load_in_8bit and load_in_4bit must "
                                 "be true, and not both");
}

/* The kind of its 4 bits, and whether their scales are quantised as well. */
static enum roof_status read_code_book(enum roof_precision *out, const struct layout_reader *r,
                                       const roof_json_value *q)
{
    static const struct {
        const char *type;
        bool nested;
        enum roof_precision format;
    } rows[] = {{"nf4", false, ROOF_PRECISION_NF4_FP32},
                {"nf4", true, ROOF_PRECISION_NF4_DQ},
                {"fp4", false, ROOF_PRECISION_FP4_BNB}};
    const roof_json_value *const type = given(q, "bnb_4bit_quant_type");
    const char *const name = type == NULL ? "fp4" : roof_json_line(type); /* its default */
    bool nested = false;
    const enum roof_status status = read_truth(&nested, r, given(q, "bnb_4bit_use_double_quant"));
    for (size_t i = 0; i < COUNT(rows) && status == ROOF_OK && name != NULL; i++) {
        if (strcmp(name, rows[i].type) == 0 && nested == rows[i].nested) {
            *out = rows[i].format;
            return ROOF_OK;
        }
    }
    return status != ROOF_OK
               ? status
               : roof_json_error(r->json, type == NULL ? q : type, r->error,
                                 "quantization_config: of bnb_4bit_quant_type nf4, and fp4 without "
                                 "bnb_4bit_use_double_quant, are known" GIVE_FORMATS);
}

/* The row for a method, its algorithm and its bits. */
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

static enum roof_status read_method(struct method *out, const struct layout_reader *r,
                                    const roof_json_value *q)
{
    const char *const name = roof_json_line(roof_json_get(q, "quant_method"));
    const char *const algorithm = roof_json_line(roof_json_get(q, "quant_algo"));
    const roof_json_value *const block = given(q, "weight_block_size");
    double bits = 4;
    enum roof_status status = name != NULL && strcmp(name, "bitsandbytes") == 0
                                  ? read_bitsandbytes(&bits, r, q)
                                  : read_number(&bits, r, either(q, "bits", "w_bit"));
    if (status != ROOF_OK) {
        return status;
    }
    if (!find_method(out, name, algorithm, bits)) {
        return roof_json_error(r->json, q, r->error,
                               "quantization_config: method '%s'%s%s is not known" GIVE_FORMATS,
                               name == NULL ? "" : name, algorithm == NULL ? "" : " ",
                               algorithm == NULL ? "" : algorithm);
    }
    if (out->weights == ROOF_PRECISION_INT4_G128_ZP) {
        status = read_group(&out->weights, r, either(q, "group_size", "q_group_size"));
    } else if (out->weights == ROOF_PRECISION_NF4_FP32) {
        status = read_code_book(&out->weights, r, q);
    } else if (out->weights == ROOF_PRECISION_FP8_E4M3 && block != NULL) {
        status = read_block(&out->weights, r, block);
    }
    return status;
}

/* Whether an entry names a weight of layer i by one of its names. */
static bool names(const char *entry, const struct roof_pattern *pattern, enum roof_weight weight,
                  int64_t i, int64_t *work)
{
    char module[MODULE_SIZE];
    bool found = false;
    for (size_t p = 0; p < COUNT(layer_prefixes) && !found; p++) {
        for (size_t n = 0; n <= COUNT(other_names) && !found; n++) {
            const bool own = n == COUNT(other_names);
            if (own ||
                (other_names[n].weight == weight &&
                 (other_names[n].word == NULL || strstr(entry, other_names[n].word) != NULL))) {
                snprintf(module, sizeof module, "%s%" PRId64 ".%s", layer_prefixes[p], i,
                         own ? roof_weight_module(weight) : other_names[n].module);
                found = pattern != NULL ? roof_pattern_matches(pattern, module, work)
                                        : matches(entry, module);
            }
        }
    }
    return found;
}

/* Gives what one entry of a list names, by a pattern of the whole name, by components of it, or
 * with "re:" by a regular expression, a format: of an exclusion list, or (claimed: the weights of
 * each layer that have theirs, as bits) of the targets of a group, where "Linear" names all. */
static enum roof_status put_named(const struct layout_reader *r, const roof_json_value *item,
                                  enum roof_precision to, unsigned *claimed, int64_t *work)
{
    const char *const entry = roof_json_string(item);
    struct roof_pattern pattern;
    if (entry == NULL) {
        return roof_json_error(r->json, item, r->error, "a list of modules must be of strings");
    }
    if (*entry == '\0') {
        return ROOF_OK;
    }
    const bool all = claimed != NULL && strcmp(entry, LINEAR_CLASS) == 0;
    const bool expression = strncmp(entry, "re:", 3) == 0;
    const char *const problem = expression ? roof_pattern_read(&pattern, entry + 3) : NULL;
    if (problem != NULL) {
        return roof_json_error(r->json, item, r->error,
                               "regular expression '%.100s': %s" GIVE_FORMATS, entry + 3, problem);
    }
    const int64_t steps = (int64_t)(is_literal(entry) ? 1 : COUNT(layer_prefixes)) *
                          ((int64_t)strlen(entry) + EXCLUSION_WORK_EACH);
    /* No name of a module is as long as this, so that none has it as components. */
    const bool too_long = !expression && is_literal(entry) && strlen(entry) >= MODULE_SIZE;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const unsigned bit = 1U << w;
        for (int64_t i = 0; i < r->model->layers; i++) {
            int8_t *const format = &r->layer[i].format[w];
            const bool taken = claimed == NULL ? *format == (int8_t)to
                                               : (claimed[i] & bit) != 0 ||
                                                     !roof_weight_linear((enum roof_weight)w);
            *work += taken ? 1 : steps;
            if (*work > EXCLUSION_WORK_MAX) {
                return roof_json_error(r->json, item, r->error,
                                       "these lists of modules take too long" GIVE_FORMATS);
            }
            if (taken || too_long) {
                continue;
            }
            if (all || names(entry, expression ? &pattern : NULL, (enum roof_weight)w, i, work)) {
                *format = (int8_t)to;
                if (claimed != NULL) {
                    claimed[i] |= bit;
                }
            }
        }
    }
    return ROOF_OK;
}

/* Linear weights have the format, or those of routed experts alone; all others are 16 bits. */
static void put_formats(const struct layout_reader *r, enum roof_precision format,
                        bool experts_only)
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

/* --- compressed-tensors --- */

/* What it says of values: bits, kind, group size (0: none), whether they lie around 0. */
struct numbers {
    double bits;
    bool real;
    double group;
    bool symmetric;
};

static bool read_numbers(struct numbers *out, const roof_json_value *value)
{
    const char *const type = roof_json_string(roof_json_get(value, "type"));
    const roof_json_value *const group = given(value, "group_size");
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

static enum roof_status read_weights(enum roof_precision *out, const struct layout_reader *r,
                                     const roof_json_value *weights)
{
    static const struct {
        double bits;
        bool real;
        double group;
        int symmetric;
        enum roof_precision format;
    } rows[] = {{8, true, 0, ANY, ROOF_PRECISION_FP8_E4M3},
                {8, true, 32, ANY, ROOF_PRECISION_MXFP8_E4M3},
                {8, false, ANY, ANY, ROOF_PRECISION_INT8_CHANNEL},
                {4, true, 16, ANY, ROOF_PRECISION_NVFP4},
                {4, true, 32, ANY, ROOF_PRECISION_MXFP4},
                {4, false, 128, true, ROOF_PRECISION_INT4_G128},
                {4, false, 128, false, ROOF_PRECISION_INT4_G128_ZP},
                {4, false, 64, ANY, ROOF_PRECISION_INT4_G64_ZP},
                {4, false, 32, ANY, ROOF_PRECISION_INT4_G32_ZP}};
    const char *const strategy = roof_json_string(roof_json_get(weights, "strategy"));
    const roof_json_value *const block = roof_json_get(weights, "block_structure");
    struct numbers n;
    if (read_numbers(&n, weights)) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            if (n.bits == rows[i].bits && n.real == rows[i].real &&
                (rows[i].group == ANY || n.group == rows[i].group) &&
                (rows[i].symmetric == ANY || n.symmetric == rows[i].symmetric)) {
                *out = rows[i].format;
                return block != NULL && *out == ROOF_PRECISION_FP8_E4M3 && strategy != NULL &&
                               strcmp(strategy, "block") == 0
                           ? read_block(out, r, block)
                           : ROOF_OK;
            }
        }
    }
    return roof_json_error(r->json, weights, r->error,
                           "quantization_config: config_groups: weights of such num_bits, type and "
                           "group_size are not known" GIVE_FORMATS);
}

/* What the inputs are converted to, if they are. */
static enum roof_status read_inputs(enum roof_precision *out, const struct layout_reader *r,
                                    const roof_json_value *inputs, enum roof_precision weights)
{
    static const struct {
        double bits;
        bool real;
        enum roof_precision format; /* AUTO: that of the weights, if it is of this kind */
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

/* The targets of a group that are classes of modules, or those that are names. */
static enum roof_status put_targets(const struct layout_reader *r, const roof_json_value *group,
                                    enum roof_precision format, bool classes, unsigned *claimed,
                                    int64_t *work)
{
    const roof_json_value *const targets = roof_json_get(group, "targets");
    if (!roof_json_is_array(targets)) {
        return roof_json_error(r->json, targets == NULL ? group : targets, r->error,
                               "quantization_config: config_groups: targets must be an array");
    }
    enum roof_status status = ROOF_OK;
    for (const roof_json_value *item = roof_json_first(targets); item != NULL && status == ROOF_OK;
         item = roof_json_next(item)) {
        const char *const name = roof_json_string(item);
        const bool is_class = name != NULL && *name >= 'A' && *name <= 'Z';
        if (is_class && strcmp(name, LINEAR_CLASS) != 0) {
            status = roof_json_error(r->json, item, r->error,
                                     "quantization_config: config_groups: of classes only Linear "
                                     "is known" GIVE_FORMATS);
        } else if (is_class == classes) {
            status = put_named(r, item, format, claimed, work);
        }
    }
    return status;
}

/* The groups: what one names is its own before what another has by its class, and of two the first
 * counts. What is in none stays as it is. */
static enum roof_status read_groups(const struct layout_reader *r, const roof_json_value *q,
                                    int64_t *work)
{
    const roof_json_value *const groups = roof_json_get(q, "config_groups");
    unsigned claimed[ROOF_LAYERS_MAX] = {0};
    bool stored = false; /* some group has weights: the others may be of the cache alone */
    enum roof_status status = ROOF_OK;
    if (!roof_json_is_object(groups)) {
        return roof_json_error(r->json, groups == NULL ? q : groups, r->error,
                               "quantization_config: method 'compressed-tensors' needs "
                               "config_groups" GIVE_FORMATS);
    }
    put_formats(r, ROOF_PRECISION_BF16, false);
    for (int classes = 0; classes < 2; classes++) {
        for (const roof_json_value *group = roof_json_first(groups);
             group != NULL && status == ROOF_OK; group = roof_json_next(group)) {
            const roof_json_value *const weights = given(group, "weights");
            if (roof_json_is_object(group) && weights == NULL) {
                continue; /* of attention: its inputs alone */
            }
            enum roof_precision format = ROOF_PRECISION_AUTO;
            enum roof_precision inputs = ROOF_PRECISION_AUTO;
            status = read_weights(&format, r, weights == NULL ? group : weights);
            if (status == ROOF_OK) {
                status = read_inputs(&inputs, r, given(group, "input_activations"), format);
            }
            if (status == ROOF_OK && stored && inputs != r->model->activations) {
                status = roof_json_error(r->json, group, r->error,
                                         "quantization_config: config_groups whose "
                                         "input_activations differ are not known" GIVE_FORMATS);
            }
            r->model->activations = inputs;
            stored = true;
            if (status == ROOF_OK) {
                status = put_targets(r, group, format, classes != 0, claimed, work);
            }
        }
    }
    unsigned any = 0;
    for (int64_t i = 0; i < r->model->layers; i++) {
        any |= claimed[i];
    }
    return status != ROOF_OK || any != 0 || !stored
               ? status
               : roof_json_error(r->json, groups, r->error,
                                 "quantization_config: config_groups: the targets name no weight "
                                 "of this model" GIVE_FORMATS);
}

/* --- what all methods have --- */

static enum roof_status read_exclusions(const struct layout_reader *r, const roof_json_value *q,
                                        int64_t *work)
{
    static const char *const lists[] = {"exclude_modules", "modules_to_not_convert", "ignore",
                                        "ignored_layers", "llm_int8_skip_modules"};
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < COUNT(lists) && status == ROOF_OK; i++) {
        const roof_json_value *const list = given(q, lists[i]);
        if (list != NULL && !roof_json_is_array(list)) {
            return roof_json_error(r->json, list, r->error,
                                   "quantization_config: %s must be an array of names of modules",
                                   lists[i]);
        }
        for (const roof_json_value *item = roof_json_first(list); item != NULL && status == ROOF_OK;
             item = roof_json_next(item)) {
            status = put_named(r, item, ROOF_PRECISION_BF16, NULL, work);
        }
    }
    return status;
}

/* The KV cache: by the name of an algorithm, or by numbers like those of weights. */
static enum roof_status read_cache(const struct layout_reader *r, const roof_json_value *q)
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
    static const char *const keys[] = {"kv_cache_quant_algo", "kv_cache_scheme"};
    r->model->kv = ROOF_PRECISION_AUTO;
    for (size_t k = 0; k < COUNT(keys); k++) {
        const roof_json_value *const value = given(q, keys[k]);
        const char *const name = roof_json_string(value);
        const bool scheme = roof_json_is_object(value);
        enum roof_precision format = ROOF_PRECISION_AUTO;
        struct numbers n = {0};
        const bool numbers = scheme && read_numbers(&n, value);
        if (value == NULL) {
            continue;
        }
        for (size_t i = 0; i < COUNT(rows); i++) {
            if ((name != NULL && strcmp(name, rows[i].algorithm) == 0) ||
                (numbers && n.bits == rows[i].bits && n.real == rows[i].real)) {
                format = rows[i].format;
            }
        }
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

static bool is_nothing(const roof_json_value *value)
{
    bool truth = true;
    const bool empty = roof_json_is_array(value) || roof_json_is_object(value);
    return value == NULL || (empty && roof_json_first(value) == NULL) ||
           (roof_json_boolean(&truth, value) && !truth);
}

/* What changes the formats of some weights, or their bytes, in ways that are not known. */
static enum roof_status refuse_unknown(const struct layout_reader *r, const roof_json_value *q)
{
    static const char *const of_gptq[] = {"dynamic", "lm_head", "modules_in_block_to_quantize"};
    const roof_json_value *unknown = NULL;
    for (size_t i = 0; i < COUNT(of_gptq) && unknown == NULL; i++) {
        const roof_json_value *const value = given(q, of_gptq[i]);
        unknown = is_nothing(value) ? NULL : value;
    }
    const struct {
        const roof_json_value *value;
        const char *known;
    } words[] = {{given(given(q, "sparsity_config"), "format"), "dense"},
                 {given(q, "fmt"), "e4m3"}};
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

static enum roof_status own_layout(const struct layout_reader *r)
{
    struct roof_model *const m = r->model;
    const roof_json_value *const q = roof_model_quantization(m);
    if (q == NULL) {
        return roof_error_set(r->error, ROOF_USAGE,
                              "the config of %s says nothing of a quantisation", m->id);
    }
    const char *const name = roof_json_line(roof_json_get(q, "quant_method"));
    struct method method = {.weights = ROOF_PRECISION_AUTO};
    int64_t work = 0;
    enum roof_status status = refuse_unknown(r, q);
    if (status == ROOF_OK && name != NULL && strcmp(name, "compressed-tensors") == 0) {
        status = read_groups(r, q, &work);
    } else if (status == ROOF_OK) {
        status = read_method(&method, r, q);
        if (status == ROOF_OK) {
            put_formats(r, method.weights, method.experts_only);
            m->activations = method.activations;
        }
    }
    if (status == ROOF_OK) {
        status = read_exclusions(r, q, &work);
    }
    return status == ROOF_OK ? read_cache(r, q) : status;
}

/* Reads the layout into a copy, which starts with no formats. */
static enum roof_status apply(struct roof_model *copy, struct roof_layer *layer, const char *name,
                              const char *const *directories, struct roof_error *error)
{
    struct layout_reader r = {.model = copy, .layer = layer, .error = error};
    struct roof_json *json = NULL;
    bool user = false;
    roof_model_forget_formats(copy);
    roof_model_spread(layer, copy);
    if (strcmp(name, "checkpoint") == 0) {
        r.json = roof_model_json(copy);
        return own_layout(&r);
    }
    enum roof_status status = roof_registry_open(&json, &user, &layouts, name, directories, error);
    r.json = json;
    if (status == ROOF_OK) {
        status = read_layout(&r);
    }
    roof_json_free(json);
    return status;
}

enum roof_status roof_layout_apply(struct roof_model *model, const char *name,
                                   const char *const *directories, struct roof_error *error)
{
    struct roof_layer *const layer = calloc(ROOF_LAYERS_MAX, sizeof *layer);
    struct roof_model *const copy = malloc(sizeof *copy);
    enum roof_status status = layer == NULL || copy == NULL ? roof_no_memory(error) : ROOF_OK;
    if (layer != NULL && copy != NULL) {
        *copy = *model;
        status = apply(copy, layer, name, directories, error);
        if (status == ROOF_OK && !roof_model_set_layout(copy, name)) {
            status = roof_no_memory(error);
        }
        if (status == ROOF_OK) {
            *model = *copy;
            roof_model_classes(model, layer);
        }
    }
    free(copy);
    free(layer);
    return status;
}

/* --- what is known of a layout ------------------------------------------------------------- */

struct about {
    struct roof_json *json;
    const char **list[2]; /* notes, sources */
};

enum roof_status roof_layout_load(struct roof_layout_about *out, const char *name,
                                  const char *const *directories, struct roof_error *error)
{
    static const char *const none[] = {NULL};
    static const char *const keys[] = {"notes", "source"};
    *out = (struct roof_layout_about){.notes = none, .sources = none};
    struct about *const about = calloc(1, sizeof *about);
    bool user = false;
    if (about == NULL) {
        return roof_no_memory(error);
    }
    out->private_data = about;
    enum roof_status status =
        roof_registry_open(&about->json, &user, &layouts, name, directories, error);
    if (status == ROOF_OK) {
        const struct layout_reader reader = {.json = about->json, .error = error};
        status = check_layout(&reader);
    }
    const roof_json_value *const root = status == ROOF_OK ? roof_json_root(about->json) : NULL;
    for (size_t i = 0; i < COUNT(keys) && status == ROOF_OK; i++) {
        const roof_json_value *const list = roof_json_get(root, keys[i]);
        if (list != NULL) {
            status = roof_json_lines(&about->list[i], about->json, list, error);
        }
    }
    if (status != ROOF_OK) {
        roof_layout_about_free(out);
        return status;
    }
    const char *const id = roof_json_line(roof_json_get(root, "id"));
    const char *const label = roof_json_line(roof_json_get(root, "name"));
    out->id = id == NULL ? roof_json_source(about->json) : id;
    out->name = label == NULL ? out->id : label;
    out->notes = about->list[0] == NULL ? none : about->list[0];
    out->sources = about->list[1] == NULL ? none : about->list[1];
    return ROOF_OK;
}

void roof_layout_about_free(struct roof_layout_about *about)
{
    struct about *const owned = about->private_data;
    if (owned != NULL) {
        roof_json_free(owned->json);
        free(owned->list[0]);
        free(owned->list[1]);
        free(owned);
    }
    *about = (struct roof_layout_about){0};
}
