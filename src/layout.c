// SPDX-License-Identifier: MIT
#include "roofline/layout.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_make.h"
#include "pattern.h"
#include "registry.h"
#include "roofline/quantity.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

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

/* The error of a look-up by name, at the value that gave the name. */
static enum roof_status at_place(const struct layout_reader *r, const roof_json_value *value,
                                 const char *prefix, const struct roof_error *error)
{
    return error->status == ROOF_MEMORY
               ? roof_error_set(r->error, ROOF_MEMORY, "%s", error->message)
               : roof_json_error(r->json, value, r->error, "%s%s%s", prefix,
                                 *prefix == '\0' ? "" : ": ", error->message);
}

/* ROOF_INVALID at the first member that is none of the known ones. */
static enum roof_status only_keys(const struct layout_reader *r, const roof_json_value *object,
                                  const char *const *known, size_t count)
{
    for (const roof_json_value *item = roof_json_first(object); item != NULL;
         item = roof_json_next(item)) {
        struct roof_error unknown = {0};
        size_t i = 0;
        while (i < count && strcmp(roof_json_key(item), known[i]) != 0) {
            i++;
        }
        if (i == count) {
            (void)roof_unknown_name(&unknown, ROOF_INVALID, "key", roof_json_key(item), known,
                                    count);
            return at_place(r, item, "", &unknown);
        }
    }
    return ROOF_OK;
}

static enum roof_status read_format(enum roof_precision *out, const struct layout_reader *r,
                                    const roof_json_value *value, const char *what)
{
    const char *const name = roof_json_string(value);
    struct roof_error unknown = {0};
    if (name == NULL) {
        return roof_json_error(r->json, value, r->error, "%s must be the name of a format", what);
    }
    return roof_precision_find(out, name, &unknown) == ROOF_OK ? ROOF_OK
                                                               : at_place(r, value, what, &unknown);
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
        (void)rule_holds(&known, roof_json_key(rule), 0, r->model->layers);
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
    struct roof_error unknown = {0};
    return roof_weight_find(bits, roof_json_key(item), &unknown) == ROOF_OK
               ? ROOF_OK
               : at_place(r, item, "", &unknown);
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
    const struct {
        const char *key;
        double value;
        bool truth; /* true or false, not a number */
    } facts[] = {{"experts", (double)m->experts, false},
                 {"layers", (double)m->layers, false},
                 {"gqa", (double)(m->heads / m->kv_heads), false},
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
    enum roof_status status = only_keys(r, item, keys, COUNT(keys));
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
                                 "activations: %s stores weights only; allowed are fp64, fp32, "
                                 "tf32, bf16, fp16, the fp8, int and mx formats, and nvfp4",
                                 roof_format(*out)->name);
}

static enum roof_status read_layout(const struct layout_reader *r)
{
    static const char *const keys[] = {"schema",      "id", "name",    "source", "notes",
                                       "activations", "kv", "classes", "when"};
    const roof_json_value *const root = roof_json_root(r->json);
    const roof_json_value *const schema = roof_json_get(root, "schema");
    const roof_json_value *const classes = roof_json_get(root, "classes");
    const roof_json_value *const activations = roof_json_get(root, "activations");
    const roof_json_value *const kv = roof_json_get(root, "kv");
    if (roof_json_string(schema) == NULL || strcmp(roof_json_string(schema), LAYOUT_SCHEMA) != 0) {
        return roof_json_error(r->json, schema == NULL ? root : schema, r->error,
                               "a layout has \"schema\": \"" LAYOUT_SCHEMA "\"");
    }
    enum roof_status status = only_keys(r, root, keys, COUNT(keys));
    if (status == ROOF_OK) {
        status = check_classes(r, classes);
    }
    if (status == ROOF_OK) {
        status = apply_classes(r, classes);
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

/* Whether a pattern is that of the name, or of one that ends before its last components. */
static bool matches(const char *entry, const char *module)
{
    char name[MODULE_SIZE];
    snprintf(name, sizeof name, "%s", module);
    for (char *end = name + strlen(name); end != NULL; end = strrchr(name, '.')) {
        *end = '\0';
        if (fnmatch(entry, name, 0) == 0) {
            return true;
        }
    }
    return has_components(module, entry);
}

/* By method, and where one says it, by bits. */
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
    {"bitsandbytes", NULL, 0, ROOF_PRECISION_NF4_FP32, ROOF_PRECISION_AUTO, false},
};

static enum roof_precision group_format(enum roof_precision format, double group)
{
    if (format != ROOF_PRECISION_INT4_G128_ZP) {
        return format;
    }
    return group == 32   ? ROOF_PRECISION_INT4_G32_ZP
           : group == 64 ? ROOF_PRECISION_INT4_G64_ZP
                         : format;
}

/* compressed-tensors says it by the numbers of a group: bits, kind and group size of the weights,
 * and of the inputs where they are quantised. */
static bool compressed_tensors(struct method *out, double *group, const roof_json_value *q)
{
    const roof_json_value *const groups = roof_json_get(q, "config_groups");
    const roof_json_value *const first = roof_json_first(groups);
    const roof_json_value *const weights = roof_json_get(first, "weights");
    const roof_json_value *const inputs = roof_json_get(first, "input_activations");
    const char *const type = roof_json_string(roof_json_get(weights, "type"));
    double bits = 0;
    bool symmetric = true;
    (void)roof_json_number(group, roof_json_get(weights, "group_size"));
    (void)roof_json_boolean(&symmetric, roof_json_get(weights, "symmetric"));
    if (type == NULL || !roof_json_number(&bits, roof_json_get(weights, "num_bits"))) {
        return false;
    }
    const bool real = strcmp(type, "float") == 0;
    *out = (struct method){.weights = ROOF_PRECISION_AUTO, .activations = ROOF_PRECISION_AUTO};
    if (bits == 8) {
        out->weights = real ? ROOF_PRECISION_FP8_E4M3 : ROOF_PRECISION_INT8_CHANNEL;
    } else if (bits == 4 && real) {
        out->weights = *group == 32 ? ROOF_PRECISION_MXFP4 : ROOF_PRECISION_NVFP4;
    } else if (bits == 4) {
        out->weights =
            symmetric && *group == 128 ? ROOF_PRECISION_INT4_G128 : ROOF_PRECISION_INT4_G128_ZP;
    }
    if (roof_json_is_object(inputs)) {
        out->activations = bits == 8 && !real ? ROOF_PRECISION_INT8 : out->weights;
    }
    return out->weights != ROOF_PRECISION_AUTO;
}

/* The row for a method, its algorithm and its bits. */
static bool find_method(struct method *out, const char *name, const char *algorithm, double bits)
{
    for (size_t i = 0; i < COUNT(methods) && name != NULL; i++) {
        const struct method *const row = &methods[i];
        if (strcmp(row->method, name) == 0 &&
            (row->algorithm == NULL ||
             (algorithm != NULL && strcmp(row->algorithm, algorithm) == 0)) &&
            (row->bits == 0 || bits == row->bits || (bits == 0 && row->bits == 4))) {
            *out = *row;
            return true;
        }
    }
    return false;
}

/* Takes what one entry of an exclusion list names, by a pattern of the whole name, by components of
 * it, or with "re:" by a regular expression, out of the quantised. */
static enum roof_status exclude(const struct layout_reader *r, const roof_json_value *item,
                                int64_t *work)
{
    const struct roof_json *const json = roof_model_json(r->model);
    const char *const entry = roof_json_string(item);
    struct roof_pattern pattern;
    if (entry == NULL || *entry == '\0') {
        return ROOF_OK;
    }
    const bool expression = strncmp(entry, "re:", 3) == 0;
    const char *const problem = expression ? roof_pattern_read(&pattern, entry + 3) : NULL;
    if (problem != NULL) {
        return roof_json_error(json, item, r->error,
                               "regular expression '%.100s': %s; give the formats with --layout "
                               "or --class",
                               entry + 3, problem);
    }
    const int64_t length = (int64_t)strlen(entry);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        for (int64_t i = 0; i < r->model->layers; i++) {
            int8_t *const format = &r->layer[i].format[w];
            if (*format == ROOF_PRECISION_BF16) {
                continue;
            }
            char module[MODULE_SIZE];
            snprintf(module, sizeof module, "model.layers.%" PRId64 ".%s", i,
                     roof_weight_module((enum roof_weight)w));
            if (expression ? roof_pattern_matches(&pattern, module, work)
                           : matches(entry, module)) {
                *format = ROOF_PRECISION_BF16;
            }
            *work += length + EXCLUSION_WORK_EACH;
            if (*work > EXCLUSION_WORK_MAX) {
                return roof_json_error(json, item, r->error,
                                       "these lists of modules take too long; give the formats "
                                       "with --layout or --class");
            }
        }
    }
    return ROOF_OK;
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
    const char *const algorithm = roof_json_line(roof_json_get(q, "quant_algo"));
    double bits = 0;
    double group = 0;
    bool eight = false;
    if (!roof_json_number(&bits, roof_json_get(q, "bits"))) {
        (void)roof_json_number(&bits, roof_json_get(q, "w_bit"));
    }
    if (roof_json_boolean(&eight, roof_json_get(q, "load_in_8bit")) && eight) {
        bits = 8;
    }
    if (!roof_json_number(&group, roof_json_get(q, "group_size"))) {
        (void)roof_json_number(&group, roof_json_get(q, "q_group_size"));
    }
    struct method method;
    const struct method *const found = &method;
    const bool known = name != NULL && strcmp(name, "compressed-tensors") == 0
                           ? compressed_tensors(&method, &group, q)
                           : find_method(&method, name, algorithm, bits);
    if (!known) {
        return roof_json_error(roof_model_json(m), q, r->error,
                               "quantization_config: method '%s'%s%s is not known; give the "
                               "formats with --layout or --class",
                               name == NULL ? "" : name, algorithm == NULL ? "" : " ",
                               algorithm == NULL ? "" : algorithm);
    }
    enum roof_precision format = group_format(found->weights, group);
    if (format == ROOF_PRECISION_FP8_E4M3 && roof_json_get(q, "weight_block_size") != NULL) {
        format = ROOF_PRECISION_FP8_BLOCK128;
    }
    const roof_json_value *list = NULL;
    static const char *const lists[] = {"exclude_modules", "modules_to_not_convert", "ignore"};
    for (size_t i = 0; i < COUNT(lists) && list == NULL; i++) {
        list = roof_json_get(q, lists[i]);
    }
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const enum roof_weight weight = (enum roof_weight)w;
        const bool routed = weight >= ROOF_WEIGHT_EXPERT_GATE && weight <= ROOF_WEIGHT_EXPERT_DOWN;
        const bool linear = found->experts_only ? routed : roof_weight_linear(weight);
        if (!linear) {
            m->format[w] = ROOF_PRECISION_BF16;
        }
        for (int64_t i = 0; i < m->layers; i++) {
            r->layer[i].format[w] = (int8_t)(linear ? format : ROOF_PRECISION_BF16);
        }
    }
    int64_t work = 0;
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item)) {
        const enum roof_status status = exclude(r, item, &work);
        if (status != ROOF_OK) {
            return status;
        }
    }
    m->activations = found->activations;
    const char *const kv = roof_json_line(roof_json_get(q, "kv_cache_quant_algo"));
    m->kv = kv != NULL && strcmp(kv, "FP8") == 0 ? ROOF_PRECISION_FP8_E4M3 : ROOF_PRECISION_AUTO;
    return ROOF_OK;
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
    enum roof_status status = layer == NULL || copy == NULL
                                  ? roof_error_set(error, ROOF_MEMORY, "out of memory")
                                  : ROOF_OK;
    if (layer != NULL && copy != NULL) {
        *copy = *model;
        status = apply(copy, layer, name, directories, error);
        if (status == ROOF_OK && !roof_model_set_layout(copy, name)) {
            status = roof_error_set(error, ROOF_MEMORY, "out of memory");
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
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    out->private_data = about;
    enum roof_status status =
        roof_registry_open(&about->json, &user, &layouts, name, directories, error);
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
