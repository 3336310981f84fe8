// SPDX-License-Identifier: MIT
/*
 * Reads the embedded JSON Schemas of docs/schema: the keys that a document can have, and their
 * types. This is not a validator: it follows only "properties", "items" and "$ref", as these
 * schemas are written. tests/schema.sh compares them with the output of the program.
 */
#ifndef ROOF_CATALOG_SCHEMA_H
#define ROOF_CATALOG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

struct roof_schema;

/* The schema of a value; `value` is NULL when there is none. */
struct roof_schema_node {
    size_t file;
    const roof_json_value *value;
};

/* Opens the schema of a document by its name ("prediction"). The caller owns *out:
 * roof_schema_free.
 */
enum roof_status roof_schema_open(struct roof_schema **out, const char *name,
                                  struct roof_error *error);
void roof_schema_free(struct roof_schema *schema);

struct roof_schema_node roof_schema_root(const struct roof_schema *schema);
/* These return the schema of a member of an object, and that of the elements of an array. */
struct roof_schema_node roof_schema_member(const struct roof_schema *schema,
                                           struct roof_schema_node of, const char *key);
struct roof_schema_node roof_schema_items(const struct roof_schema *schema,
                                          struct roof_schema_node of);
/* Writes the keys that an object can have, at most `room`, and returns their number. */
size_t roof_schema_keys(const struct roof_schema *schema, struct roof_schema_node of,
                        const char **out, size_t room);
/* Returns "object", "array", "string", "number", "integer", "boolean"; "" when the schema
 * has no type. */
const char *roof_schema_type(const struct roof_schema *schema, struct roof_schema_node of);

#endif
