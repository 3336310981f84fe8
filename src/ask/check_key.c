// SPDX-License-Identifier: MIT
#include "ask/check_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/table.h"

#define KEYS_MAX 200
#define KEY_SIZE 64

const char *roof_check_schema(enum roof_check_document document)
{
    static const char *const names[ROOF_CHECK_DOCUMENTS] = {
        "prediction",   "model-prediction", "recommendation", "plans",     "speedup",
        "plan-speedup", "graph-prediction", "rates",          "simulation"};
    return names[document];
}

static bool has_input(const struct roof_check_asked *asked, size_t id)
{
    size_t i = 0;
    while (i < asked->count && asked->input[i].input != id) {
        i++;
    }
    return i < asked->count;
}

enum roof_check_document roof_check_document(const struct roof_check_asked *asked)
{
    const bool model = strcmp(asked->workload, "model") == 0;
    const bool recommend = asked->command == ROOF_COMMAND_RECOMMEND;
    if (strcmp(asked->workload, "graph") == 0) {
        return ROOF_CHECK_GRAPH_PREDICTION;
    }
    if (asked->command == ROOF_COMMAND_SIMULATE) {
        return ROOF_CHECK_SIMULATION;
    }
    if (model && (has_input(asked, ROOF_INPUT_RATE) || has_input(asked, ROOF_INPUT_RATE_TRACE))) {
        return ROOF_CHECK_RATES;
    }
    if (has_input(asked, ROOF_INPUT_EXPLAIN)) {
        return model && recommend ? ROOF_CHECK_PLAN_SPEEDUP : ROOF_CHECK_SPEEDUP;
    }
    return recommend ? (model ? ROOF_CHECK_PLANS : ROOF_CHECK_RECOMMENDATION)
                     : (model ? ROOF_CHECK_MODEL_PREDICTION : ROOF_CHECK_PREDICTION);
}

/* Cuts the next part off a path, up to a dot; false at its end. */
static bool next_part(char out[KEY_SIZE], const char **path)
{
    if (*path == NULL) {
        return false;
    }
    const size_t length = strcspn(*path, ".");
    snprintf(out, KEY_SIZE, "%.*s", (int)(length < KEY_SIZE ? length : KEY_SIZE - 1), *path);
    *path = (*path)[length] == '\0' ? NULL : *path + length + 1;
    return true;
}

/* Returns the place of a key in a list: lists of objects lead to most values, then objects. */
static int place_of(const struct roof_schema *schema, struct roof_schema_node member)
{
    const char *const type = roof_schema_type(schema, member);
    const bool list = strcmp(type, "array") == 0;
    const struct roof_schema_node of = list ? roof_schema_items(schema, member) : member;
    const bool objects = of.value != NULL && strcmp(roof_schema_type(schema, of), "object") == 0;
    return objects && list ? 0 : objects ? 1 : 2;
}

/* Lists the keys of a node, first those that lead further; returns their number. */
static size_t list_keys(const struct roof_schema *schema, struct roof_schema_node node,
                        const char **out)
{
    const char *all[KEYS_MAX];
    const size_t count = roof_schema_keys(schema, node, all, KEYS_MAX);
    size_t listed = 0;
    for (int place = 0; place <= 2; place++) {
        for (size_t i = 0; i < count; i++) {
            if (place_of(schema, roof_schema_member(schema, node, all[i])) == place) {
                out[listed++] = all[i];
            }
        }
    }
    return listed;
}

/* Refuses a key that a node lacks, and names the object in the node that has it. */
static enum roof_status unknown_key(const struct roof_schema *schema, struct roof_schema_node node,
                                    const char *part, struct roof_error *error)
{
    const char *known[KEYS_MAX];
    const size_t count = list_keys(schema, node, known);
    for (size_t i = 0; i < count; i++) {
        const struct roof_schema_node inner = roof_schema_member(schema, node, known[i]);
        if (strcmp(roof_schema_type(schema, inner), "object") == 0 &&
            roof_schema_member(schema, inner, part).value != NULL) {
            return roof_error_set(error, ROOF_INVALID, "unknown key '%s'; did you mean %s.%s?",
                                  part, known[i], part);
        }
    }
    return roof_unknown_name(error, ROOF_INVALID, "key", part, known, count);
}

/* Returns the path of a name that text reports use; other keys are paths themselves. */
static const char *path_of(const char *key)
{
    const char *const document = roof_table_document_key(key);
    return document != NULL ? document : key;
}

enum roof_status roof_check_key_type(const char **type, const struct roof_schema *schema,
                                     const struct roof_json *file, const roof_json_value *member,
                                     struct roof_error *error)
{
    const char *path = path_of(roof_json_key(member));
    char part[KEY_SIZE];
    struct roof_schema_node node = roof_schema_root(schema);
    *type = roof_schema_type(schema, node);
    while (next_part(part, &path)) {
        const struct roof_schema_node of = node;
        if (strcmp(*type, "array") == 0) {
            node = roof_schema_items(schema, of);
        } else {
            node = roof_schema_member(schema, of, part);
        }
        if (node.value == NULL) {
            return roof_json_place_error(file, member, "", error,
                                         unknown_key(schema, of, part, error));
        }
        *type = roof_schema_type(schema, node);
    }
    if (strcmp(*type, "array") == 0 || strcmp(*type, "object") == 0) {
        return roof_json_error(file, member, error, "%s is an %s; name what is in it: %s.%s",
                               roof_json_key(member), *type, roof_json_key(member),
                               **type == 'a' ? "0" : "KEY");
    }
    return ROOF_OK;
}

/* Finds the element of an array by its number, or the first that has the name. */
static const roof_json_value *find_element(const roof_json_value *array, const char *name)
{
    static const char *const called[] = {"name", "precision", "operator", "change", "time"};
    const bool number = *name != '\0' && name[strspn(name, "0123456789")] == '\0';
    const unsigned long wanted = number ? strtoul(name, NULL, 10) : 0;
    unsigned long at = 0;
    for (size_t i = 0; i < COUNT(called) && !number; i++) {
        for (const roof_json_value *e = roof_json_first(array); e != NULL; e = roof_json_next(e)) {
            const char *const own = roof_json_string(roof_json_get(e, called[i]));
            if (own != NULL && strcmp(own, name) == 0) {
                return e;
            }
        }
    }
    for (const roof_json_value *e = roof_json_first(array); e != NULL && number;
         e = roof_json_next(e)) {
        if (at++ == wanted) {
            return e;
        }
    }
    return NULL;
}

const roof_json_value *roof_check_key_value(bool *nowhere, const struct roof_json *document,
                                            const char *key)
{
    const char *path = path_of(key);
    const roof_json_value *value = roof_json_root(document);
    char part[KEY_SIZE];
    while (value != NULL && next_part(part, &path)) {
        value = roof_json_is_array(value) ? find_element(value, part) : roof_json_get(value, part);
    }
    *nowhere = value == NULL && next_part(part, &path);
    return value;
}
