// SPDX-License-Identifier: MIT
#include "roofline/engine.h"

#include <stdlib.h>
#include <string.h>

#include "data.h"

#define SCHEMA "roofline/engine/1"
#define FOLDER "engines/"
#define SERVINGS_MAX 256
#define RULES_MAX 4096

/* An engine runs a combination where the architecture begins so. */
struct rule {
    size_t engine;
    size_t serving;
    const char *architecture;
};

struct owned {
    struct roof_engines engines;
    struct roof_json *json[ROOF_ENGINES_MAX];
    struct roof_serving serving[SERVINGS_MAX];
    struct rule rule[RULES_MAX];
    size_t rules;
};

void roof_engines_free(struct roof_engines *engines)
{
    if (engines != NULL) {
        struct owned *const owned = engines->private_data;
        for (size_t i = 0; i < ROOF_ENGINES_MAX; i++) {
            roof_json_free(owned->json[i]);
        }
        free(owned);
    }
}

static enum roof_status read_precision(enum roof_precision *out, const struct roof_json *json,
                                       const roof_json_value *value, struct roof_error *error)
{
    const char *const name = roof_json_string(value);
    if (name == NULL) {
        return roof_json_error(json, value == NULL ? roof_json_root(json) : value, error,
                               "weights, activations and each of kv are names of formats");
    }
    return roof_precision_find(out, name, error);
}

/* The number of a combination, which is new where no engine before had it. */
static enum roof_status number_of(size_t *out, struct owned *o, const struct roof_serving *s,
                                  struct roof_error *error)
{
    for (*out = 0; *out < o->engines.servings; (*out)++) {
        const struct roof_serving *const known = &o->serving[*out];
        if (known->weights == s->weights && known->activations == s->activations &&
            known->kv == s->kv) {
            return ROOF_OK;
        }
    }
    if (o->engines.servings == SERVINGS_MAX) {
        return roof_error_set(error, ROOF_INVALID, "more than %d combinations of formats",
                              SERVINGS_MAX);
    }
    o->serving[o->engines.servings++] = *s;
    return ROOF_OK;
}

static enum roof_status read_rules(struct owned *o, size_t engine, size_t serving,
                                   const struct roof_json *json, const roof_json_value *on,
                                   struct roof_error *error)
{
    for (const roof_json_value *item = roof_json_first(on); item != NULL;
         item = roof_json_next(item)) {
        if (roof_json_line(item) == NULL || o->rules == RULES_MAX) {
            return roof_json_error(json, item, error, "on has names of architectures");
        }
        o->rule[o->rules++] = (struct rule){engine, serving, roof_json_line(item)};
    }
    return ROOF_OK;
}

static enum roof_status read_format(struct owned *o, size_t engine, const struct roof_json *json,
                                    const roof_json_value *row, struct roof_error *error)
{
    struct roof_serving s = {.id = roof_json_line(roof_json_get(row, "id"))};
    const roof_json_value *const kv = roof_json_get(row, "kv");
    const roof_json_value *const on = roof_json_get(row, "on");
    if (s.id == NULL || !roof_json_is_array(kv) || !roof_json_is_array(on)) {
        return roof_json_error(json, row, error, "a format needs id, kv and on");
    }
    enum roof_status status =
        read_precision(&s.weights, json, roof_json_get(row, "weights"), error);
    if (status == ROOF_OK) {
        status = read_precision(&s.activations, json, roof_json_get(row, "activations"), error);
    }
    for (const roof_json_value *item = roof_json_first(kv); item != NULL && status == ROOF_OK;
         item = roof_json_next(item)) {
        size_t number = 0;
        status = read_precision(&s.kv, json, item, error);
        if (status == ROOF_OK) {
            status = number_of(&number, o, &s, error);
        }
        if (status == ROOF_OK) {
            status = read_rules(o, engine, number, json, on, error);
        }
    }
    return status;
}

static enum roof_status read_engine(struct owned *o, const char *path, struct roof_error *error)
{
    const size_t engine = o->engines.count;
    if (engine == ROOF_ENGINES_MAX) {
        return roof_error_set(error, ROOF_INVALID, "more than %d engines", ROOF_ENGINES_MAX);
    }
    enum roof_status status = roof_data_json(&o->json[engine], path, error);
    if (status != ROOF_OK) {
        return status;
    }
    const struct roof_json *const json = o->json[engine];
    const roof_json_value *const root = roof_json_root(json);
    const char *const schema = roof_json_string(roof_json_get(root, "schema"));
    const roof_json_value *const formats = roof_json_get(root, "formats");
    o->engines.id[engine] = roof_json_line(roof_json_get(root, "id"));
    o->engines.name[engine] = roof_json_line(roof_json_get(root, "name"));
    o->engines.count++;
    if (schema == NULL || strcmp(schema, SCHEMA) != 0 || o->engines.id[engine] == NULL ||
        o->engines.name[engine] == NULL || !roof_json_is_array(formats)) {
        return roof_json_error(json, root, error,
                               "an engine needs \"schema\": \"" SCHEMA "\", id, name and formats");
    }
    for (const roof_json_value *row = roof_json_first(formats); row != NULL && status == ROOF_OK;
         row = roof_json_next(row)) {
        status = read_format(o, engine, json, row, error);
    }
    return status;
}

enum roof_status roof_engines_load(struct roof_engines **out, struct roof_error *error)
{
    *out = NULL;
    struct owned *const o = calloc(1, sizeof *o);
    if (o == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    o->engines.private_data = o;
    o->engines.serving = o->serving;
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < roof_data_file_count && status == ROOF_OK; i++) {
        const char *const path = roof_data_files[i].path;
        if (strncmp(path, FOLDER, strlen(FOLDER)) == 0) {
            status = read_engine(o, path, error);
        }
    }
    if (status != ROOF_OK) {
        roof_engines_free(&o->engines);
        return status;
    }
    *out = &o->engines;
    return ROOF_OK;
}

unsigned roof_engines_run(const struct roof_engines *engines, size_t serving,
                          const struct roof_hardware *hardware)
{
    const struct owned *const o = engines->private_data;
    unsigned set = 0;
    for (size_t i = 0; i < o->rules; i++) {
        const struct rule *const r = &o->rule[i];
        if (r->serving == serving &&
            strncmp(hardware->architecture, r->architecture, strlen(r->architecture)) == 0) {
            set |= 1U << r->engine;
        }
    }
    return set;
}
