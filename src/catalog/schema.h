// SPDX-License-Identifier: MIT
/*
 * The JSON Schemas of docs/schema, embedded: which keys a document can have, and of which type.
 * This is no validator. It follows "properties", "items" and "$ref", which is how these schemas are
 * written; tests/schema.sh holds them against what the program prints.
 */
#ifndef ROOF_SCHEMA_H
#define ROOF_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "roofline/status.h"

struct roof_schema;

/* The schema of a value; `value` is NULL where there is none. */
struct roof_schema_node {
    size_t file;
    const roof_json_value *value;
};

/* The schema of a document by its name ("prediction"); owned by the caller. */
enum roof_status roof_schema_open(struct roof_schema **out, const char *name,
                                  struct roof_error *error);
void roof_schema_free(struct roof_schema *schema);

struct roof_schema_node roof_schema_root(const struct roof_schema *schema);
/* Of the member of an object, and of the elements of an array. */
struct roof_schema_node roof_schema_member(const struct roof_schema *schema,
                                           struct roof_schema_node of, const char *key);
struct roof_schema_node roof_schema_items(const struct roof_schema *schema,
                                          struct roof_schema_node of);
/* The keys that an object can have, at most `room`; how many. */
size_t roof_schema_keys(const struct roof_schema *schema, struct roof_schema_node of,
                        const char **out, size_t room);
/* "object", "array", "string", "number", "integer", "boolean"; "" when it is not said. */
const char *roof_schema_type(const struct roof_schema *schema, struct roof_schema_node of);

#endif
