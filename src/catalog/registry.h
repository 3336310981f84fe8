// SPDX-License-Identifier: MIT
/*
 * Named JSON documents: data/FOLDER/ID.json, embedded; or a user's file, named by its path or lying
 * in FOLDER of a search directory, which wins. A document may have aliases: an array "aliases" at
 * its top, or in its member "roofline".
 */
#ifndef ROOF_REGISTRY_H
#define ROOF_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "roofline/status.h"
#include "roofline/text.h"

/* One kind of document. */
struct roof_registry {
    const char *folder; /* "hardware" */
    const char *noun;   /* for messages: "hardware", "model" */
};

/* Finds and parses a document; *user says that it is a user's file. Unknown name: ROOF_USAGE, the
 * message lists the ids. The caller owns *out: roof_json_free. */
enum roof_status roof_registry_open(struct roof_json **out, bool *user,
                                    const struct roof_registry *registry, const char *name,
                                    const char *const *directories, struct roof_error *error);

/* Whether there is a document with this id, embedded or in a search directory. */
bool roof_registry_has(const struct roof_registry *registry, const char *id,
                       const char *const *directories);

/* Ids of all documents, each once, sorted: terminated strings, count of them in *count. */
enum roof_status roof_registry_ids(struct roof_text *out, size_t *count,
                                   const struct roof_registry *registry,
                                   const char *const *directories, struct roof_error *error);

/* Whether a name is a path: it has a '/' or ends with ".json". */
bool roof_registry_path(const char *name);

/* The id in the name of an embedded file ("hardware/gb10.json"), NULL when source is another;
 * *length is its length. */
const char *roof_registry_id(const char *source, size_t *length);

#endif
