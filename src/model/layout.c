// SPDX-License-Identifier: MIT
#include "model/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "catalog/registry.h"
#include "catalog/storage.h"
#include "model/model_make.h"
#include "model/quantization.h"
#include "model/weights.h"

static const struct roof_registry layouts = {.folder = "layouts", .noun = "layout"};

enum roof_status roof_layout_ids(struct roof_text *out, size_t *count,
                                 const char *const *directories, struct roof_error *error)
{
    return roof_registry_ids(out, count, &layouts, directories, error);
}

/* --- classes ------------------------------------------------------------------------------- */

#define LAYOUT_SCHEMA "roofline/layout/1"

struct layout_reader {
    struct roof_model *model;
    struct roof_layer *layer; /* the layers one by one */
    const struct roof_json *json;
    struct roof_error *error;
};

/*
 * Tells whether a rule of a layout is for layer i. "else" is for all of them, "first 4" for the
 * first 4, and "first 1/8" for the first eighth (rounded down). "more_bits" is for those to which
 * llama.cpp gives more bits: the first and the last eighth, and every third between (use_more_bits
 * in src/llama-quant.cpp). *known is false for other words.
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

static enum roof_status read_format(enum roof_precision *out, const struct layout_reader *r,
                                    const roof_json_value *value, const char *key)
{
    const char *const name = roof_json_string(value);
    if (name == NULL) {
        return roof_json_error(r->json, value, r->error, "%s must be the name of a format", key);
    }
    const enum roof_status status = roof_precision_find(out, name, r->error);
    return status == ROOF_OK ? ROOF_OK
                             : roof_json_place_error(r->json, value, key, r->error, status);
}

/* Checks all rules of a class, including those that no layer of this model needs. */
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
    for (const roof_json_value *rule = roof_json_first(value); rule != NULL;
         rule = roof_json_next(rule)) {
        bool known = false;
        (void)rule_holds(&known, roof_json_key(rule), 0, 1);
        if (!known) {
            return roof_json_error(r->json, rule, r->error,
                                   "a rule is \"first N\", \"first 1/N\", \"more_bits\" or "
                                   "\"else\"");
        }
        TRY(read_format(&format, r, rule, name));
    }
    return roof_json_get(value, "else") != NULL
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error, "%s needs an \"else\"", name);
}

/* Returns the value of a class for layer i: that of its first rule that applies, or outside the
 * layers (-1) that of "else". */
static const roof_json_value *find_value(const struct layout_reader *r,
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
        TRY(read_format(&format, r, find_value(r, value, i), roof_json_key(value)));
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            if ((bits & (1U << w)) != 0 && (i >= 0 || roof_weight_outside((enum roof_weight)w))) {
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
    for (const roof_json_value *item = roof_json_first(classes); item != NULL;
         item = roof_json_next(item)) {
        unsigned bits = 0;
        TRY(find_class(&bits, r, item));
        TRY(check_class(r, item, bits));
    }
    return ROOF_OK;
}

/* Applies the widest names first, so that a narrower one wins at any place. */
static enum roof_status apply_classes(const struct layout_reader *r, const roof_json_value *classes)
{
    for (int width = ROOF_WEIGHT_COUNT; width > 0; width--) {
        for (const roof_json_value *item = roof_json_first(classes); item != NULL;
             item = roof_json_next(item)) {
            unsigned bits = 0;
            TRY(find_class(&bits, r, item));
            if (roof_weight_width(bits) == width) {
                TRY(apply_class(r, item, bits));
            }
        }
    }
    return ROOF_OK;
}

/* --- special cases ------------------------------------------------------------------------- */

/* Tells whether the model meets the condition of a special case. */
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

/* Reads a special case. It is also checked if its condition does not hold. */
static enum roof_status read_case(const struct layout_reader *r, const roof_json_value *item)
{
    static const char *const keys[] = {"if", "classes"};
    bool holds = false;
    if (!roof_json_is_object(item)) {
        return roof_json_error(r->json, item, r->error,
                               "a case must be an object: {\"if\": {\"tied\": true}, \"classes\": "
                               "{\"embedding\": \"fp8\"}}");
    }
    TRY(roof_json_only(r->json, item, keys, COUNT(keys), r->error));
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (roof_json_get(item, keys[i]) == NULL) {
            return roof_json_error(r->json, item, r->error, "a case needs %s", keys[i]);
        }
    }
    const roof_json_value *const classes = roof_json_get(item, "classes");
    TRY(case_holds(&holds, r, roof_json_get(item, "if")));
    TRY(check_classes(r, classes));
    return holds ? apply_classes(r, classes) : ROOF_OK;
}

static enum roof_status read_cases(const struct layout_reader *r, const roof_json_value *when)
{
    if (when != NULL && !roof_json_is_array(when)) {
        return roof_json_error(r->json, when, r->error,
                               "when must be an array of cases: [{\"if\": ..., \"classes\": ...}]");
    }
    for (const roof_json_value *item = roof_json_first(when); item != NULL;
         item = roof_json_next(item)) {
        TRY(read_case(r, item));
    }
    return ROOF_OK;
}

/* --- the file ------------------------------------------------------------------------------ */

static enum roof_status read_activations(const struct layout_reader *r,
                                         const roof_json_value *value)
{
    enum roof_precision *const out = &r->model->activations;
    TRY(read_format(out, r, value, "activations"));
    return !roof_precision_weight_only(*out)
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "activations: %s stores weights only; allowed "
                                 "are " ROOF_TENSOR_FORMATS,
                                 roof_format(*out)->name);
}

/* Checks all that does not depend on the model. */
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
    TRY(roof_json_only(r->json, root, keys, COUNT(keys), r->error));
    return check_classes(r, roof_json_get(root, "classes"));
}

static enum roof_status read_layout(const struct layout_reader *r)
{
    const roof_json_value *const root = roof_json_root(r->json);
    const roof_json_value *const activations = roof_json_get(root, "activations");
    const roof_json_value *const kv = roof_json_get(root, "kv");
    TRY(check_layout(r));
    TRY(apply_classes(r, roof_json_get(root, "classes")));
    TRY(read_cases(r, roof_json_get(root, "when")));
    if (activations != NULL) {
        TRY(read_activations(r, activations));
    }
    if (kv != NULL) {
        TRY(read_format(&r->model->kv, r, kv, "kv"));
    }
    return ROOF_OK;
}

/* --- applying ------------------------------------------------------------------------------ */

static enum roof_status apply_file(struct roof_model *model, struct roof_layer *layer,
                                   const char *name, const char *const *directories,
                                   struct roof_error *error)
{
    struct roof_json *json = NULL;
    bool user = false;
    TRY(roof_registry_open(&json, &user, &layouts, name, directories, error));
    const struct layout_reader r = {.model = model, .layer = layer, .json = json, .error = error};
    const enum roof_status status = read_layout(&r);
    roof_json_free(json);
    return status;
}

/* Reads the layout into a copy, which starts with no formats. */
static enum roof_status apply(struct roof_model *copy, struct roof_layer *layer, const char *name,
                              const char *const *directories, struct roof_error *error)
{
    roof_model_forget_formats(copy);
    roof_model_spread(layer, copy);
    if (strcmp(name, ROOF_CHECKPOINT) == 0) {
        TRY(roof_quantization_apply(copy, layer, error));
    } else {
        TRY(apply_file(copy, layer, name, directories, error));
    }
    return roof_model_set_layout(copy, name) ? ROOF_OK : roof_no_memory(error);
}

enum roof_status roof_layout_apply(struct roof_model *model, const char *name,
                                   const char *const *directories, struct roof_error *error)
{
    struct roof_layer *const layer = calloc(ROOF_LAYERS_MAX, sizeof *layer);
    struct roof_model *const copy = malloc(sizeof *copy);
    enum roof_status status = ROOF_OK;
    if (layer == NULL || copy == NULL) {
        status = roof_no_memory(error);
    } else {
        *copy = *model;
        status = apply(copy, layer, name, directories, error);
    }
    if (status == ROOF_OK) {
        *model = *copy;
        roof_model_classes(model, layer);
    }
    free(copy);
    free(layer);
    return status;
}

/* --- descriptions -------------------------------------------------------------------------- */

struct about {
    struct roof_json *json;
    const char **list[2]; /* notes, sources */
};

static enum roof_status load(struct roof_layout_about *out, struct about *about, const char *name,
                             const char *const *directories, struct roof_error *error)
{
    static const char *const keys[] = {"notes", "source"};
    bool user = false;
    TRY(roof_registry_open(&about->json, &user, &layouts, name, directories, error));
    const struct layout_reader reader = {.json = about->json, .error = error};
    TRY(check_layout(&reader));
    const roof_json_value *const root = roof_json_root(about->json);
    for (size_t i = 0; i < COUNT(keys); i++) {
        const roof_json_value *const list = roof_json_get(root, keys[i]);
        if (list != NULL) {
            TRY(roof_json_lines(&about->list[i], about->json, list, error));
        }
    }
    const char *const id = roof_json_line(roof_json_get(root, "id"));
    const char *const label = roof_json_line(roof_json_get(root, "name"));
    out->id = id == NULL ? roof_json_source(about->json) : id;
    out->name = label == NULL ? out->id : label;
    out->notes = about->list[0] == NULL ? out->notes : about->list[0];
    out->sources = about->list[1] == NULL ? out->sources : about->list[1];
    return ROOF_OK;
}

enum roof_status roof_layout_load(struct roof_layout_about *out, const char *name,
                                  const char *const *directories, struct roof_error *error)
{
    static const char *const none[] = {NULL};
    *out = (struct roof_layout_about){.notes = none, .sources = none};
    struct about *const about = calloc(1, sizeof *about);
    if (about == NULL) {
        return roof_no_memory(error);
    }
    out->private_data = about;
    const enum roof_status status = load(out, about, name, directories, error);
    if (status != ROOF_OK) {
        roof_layout_about_free(out);
    }
    return status;
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

bool roof_layout_known(const char *id, const char *const *directories)
{
    return roof_registry_has(&layouts, id, directories);
}
