// SPDX-License-Identifier: MIT
/*
 * Finds named JSON documents. A document is the embedded data/FOLDER/ID.json, or a user's file,
 * which is named by its path or lies in FOLDER of a search directory and overrides the embedded
 * one. A document may have aliases: an array "aliases" at its top, or in its member "roofline".
 * "owner/name" is a path if such a file exists; else it finds the document with this hf_id, or with
 * this owner and the name as id or alias.
 */
#ifndef ROOF_CATALOG_REGISTRY_H
#define ROOF_CATALOG_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

/* A kind of document. */
struct roof_registry {
    const char *folder; /* "hardware" */
    const char *noun;   /* for messages: "hardware", "model" */
    const char *own;    /* for messages: other kinds of documents, named if no name is close; NULL:
                           there are none */
    bool hub;           /* documents have names at Hugging Face, too: "owner/name" */
    bool python;        /* files may have NaN and Infinity, as Python writes them */
    const struct roof_json_filter *filter; /* for documents of data/; NULL: they are read whole */
};

/* Finds and parses a document by its name, or parses the name if it is a document; *user is true
 * for a user's file. An unknown name is ROOF_USAGE, and the message suggests at most three ids. The
 * caller owns *out: roof_json_free. */
enum roof_status roof_registry_open(struct roof_json **out, bool *user,
                                    const struct roof_registry *registry, const char *name,
                                    const char *const *directories, struct roof_error *error);

/* Tells if there is a document with this id, embedded or in a search directory. */
bool roof_registry_has(const struct roof_registry *registry, const char *id,
                       const char *const *directories);

/* Adds the ids of all documents to out, each once, sorted: *count terminated strings. */
enum roof_status roof_registry_ids(struct roof_text *out, size_t *count,
                                   const struct roof_registry *registry,
                                   const char *const *directories, struct roof_error *error);
/* Points `count` names at these strings. */
void roof_registry_names(const char **names, const struct roof_text *ids, size_t count);

/* Tells if a name is a folder that has a document of the registry: hardware.json of a folder that
 * `measure` wrote. */
bool roof_registry_folder(const struct roof_registry *registry, const char *name);
/* Appends to the message of an unknown name that the current folder has NAME.json, if it has. */
void roof_registry_suggest(struct roof_error *error, const char *name,
                           const char *const *directories);
/* Tells if a name is itself a document: a JSON object. */
bool roof_registry_document(const char *name);

/* A list of directories that begins with this text is sealed: then no name is a path, because
 * others may send the names. "owner/name" still finds a document, and the directories after the
 * seal are searched. */
#define ROOF_REGISTRY_SEAL ""
/* Tells if a list of directories is sealed. */
bool roof_registry_sealed(const char *const *directories);

/* Tells if a name is a path: it has a '/' or ends with ".json". */
bool roof_registry_path(const char *name);

/* Returns the id in the name of an embedded file ("hardware/gb10.json"), of *length bytes; NULL
 * when source is another. */
const char *roof_registry_id(const char *source, size_t *length);

#endif
