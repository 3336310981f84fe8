// SPDX-License-Identifier: MIT
#include "catalog/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "catalog/data.h"

#define FILES_MAX 8
#define NAME_SIZE 64
#define FOLDER "schema/"

struct roof_schema {
    struct roof_json *file[FILES_MAX];
    char name[FILES_MAX][NAME_SIZE]; /* "prediction.json" */
    size_t count;
};

static const struct roof_schema_node none = {0, NULL};

/* Returns the index of a file among the open ones; count if it is not open. */
static size_t find_file(const struct roof_schema *schema, const char *name, size_t length)
{
    size_t i = 0;
    while (i < schema->count &&
           (strlen(schema->name[i]) != length || memcmp(schema->name[i], name, length) != 0)) {
        i++;
    }
    return i;
}

/* --- references ---------------------------------------------------------------------------- */

/* Follows the "$ref" of a node, which is FILE.json, #/$defs/NAME, or both together. */
static struct roof_schema_node resolve(const struct roof_schema *schema, struct roof_schema_node of)
{
    const char *const ref = roof_json_string(roof_json_get(of.value, "$ref"));
    if (ref == NULL) {
        return none;
    }
    const size_t length = strcspn(ref, "#");
    struct roof_schema_node to = {length == 0 ? of.file : find_file(schema, ref, length), NULL};
    if (to.file == schema->count) {
        return none;
    }
    to.value = roof_json_root(schema->file[to.file]);
    const char *const slash = strrchr(ref, '/');
    if (slash != NULL) {
        to.value = roof_json_get(roof_json_get(to.value, "$defs"), slash + 1);
    }
    return to;
}

/* Opens a file and those that it refers to. */
static enum roof_status open_file(struct roof_schema *schema, const char *name, size_t length,
                                  struct roof_error *error);

static enum roof_status open_references(struct roof_schema *schema, const roof_json_value *value,
                                        struct roof_error *error)
{
    const char *const ref = roof_json_string(roof_json_get(value, "$ref"));
    if (ref != NULL && *ref != '#') {
        TRY(open_file(schema, ref, strcspn(ref, "#"), error));
    }
    for (const roof_json_value *child = roof_json_first(value); child != NULL;
         child = roof_json_next(child)) {
        TRY(open_references(schema, child, error));
    }
    return ROOF_OK;
}

static enum roof_status open_file(struct roof_schema *schema, const char *name, size_t length,
                                  struct roof_error *error)
{
    if (find_file(schema, name, length) < schema->count) {
        return ROOF_OK;
    }
    char path[sizeof FOLDER + NAME_SIZE];
    if (schema->count == FILES_MAX || length >= NAME_SIZE) {
        return roof_error_set(error, ROOF_INVALID, "too many schemas");
    }
    const size_t i = schema->count;
    snprintf(schema->name[i], NAME_SIZE, "%.*s", (int)length, name);
    snprintf(path, sizeof path, FOLDER "%s", schema->name[i]);
    TRY(roof_data_json(&schema->file[i], path, error));
    schema->count++;
    return open_references(schema, roof_json_root(schema->file[i]), error);
}

enum roof_status roof_schema_open(struct roof_schema **out, const char *name,
                                  struct roof_error *error)
{
    char file[NAME_SIZE];
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    snprintf(file, sizeof file, "%s.json", name);
    const enum roof_status status = open_file(*out, file, strlen(file), error);
    if (status != ROOF_OK) {
        roof_schema_free(*out);
        *out = NULL;
    }
    return status;
}

void roof_schema_free(struct roof_schema *schema)
{
    for (size_t i = 0; schema != NULL && i < schema->count; i++) {
        roof_json_free(schema->file[i]);
    }
    free(schema);
}

/* --- nodes --------------------------------------------------------------------------------- */

struct roof_schema_node roof_schema_root(const struct roof_schema *schema)
{
    return (struct roof_schema_node){0, roof_json_root(schema->file[0])};
}

/* A node may have some members itself and take the rest from the node that it refers to. */
struct roof_schema_node roof_schema_member(const struct roof_schema *schema,
                                           struct roof_schema_node of, const char *key)
{
    for (; of.value != NULL; of = resolve(schema, of)) {
        const roof_json_value *const properties = roof_json_get(of.value, "properties");
        const roof_json_value *const value = roof_json_get(properties, key);
        if (value != NULL) {
            return (struct roof_schema_node){of.file, value};
        }
        const roof_json_value *const others = roof_json_get(of.value, "additionalProperties");
        if (roof_json_is_object(others)) { /* any key: a map of formats, say */
            return (struct roof_schema_node){of.file, others};
        }
    }
    return none;
}

struct roof_schema_node roof_schema_items(const struct roof_schema *schema,
                                          struct roof_schema_node of)
{
    for (; of.value != NULL; of = resolve(schema, of)) {
        const roof_json_value *const value = roof_json_get(of.value, "items");
        if (value != NULL) {
            return (struct roof_schema_node){of.file, value};
        }
    }
    return none;
}

size_t roof_schema_keys(const struct roof_schema *schema, struct roof_schema_node of,
                        const char **out, size_t room)
{
    size_t count = 0;
    for (; of.value != NULL; of = resolve(schema, of)) {
        for (const roof_json_value *member = roof_json_first(roof_json_get(of.value, "properties"));
             member != NULL && count < room; member = roof_json_next(member)) {
            out[count++] = roof_json_key(member);
        }
    }
    return count;
}

const char *roof_schema_type(const struct roof_schema *schema, struct roof_schema_node of)
{
    for (; of.value != NULL; of = resolve(schema, of)) {
        const char *const type = roof_json_string(roof_json_get(of.value, "type"));
        if (type != NULL) {
            return type;
        }
    }
    return "";
}
