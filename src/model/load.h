// SPDX-License-Identifier: MIT
/**
 * Reads models. A description comes from a Hugging Face config.json, from the header of a GGUF
 * file, or from the headers of safetensors files with the config.json beside them. Only headers are
 * read, never the weights.
 *
 * All of data/models is embedded in the library. A user's file, which is named by its path or lies
 * in a search directory, overrides it.
 */
#ifndef ROOF_MODEL_LOAD_H
#define ROOF_MODEL_LOAD_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "model/model.h"

/**
 * Loads a model by id or alias. The name is a path when it contains '/' or ends with ".json",
 * ".gguf" or ".safetensors": that of a config.json, a GGUF file, a safetensors file or index with
 * its config.json beside it, or a folder with these. directories (NULL-terminated, may be NULL) are
 * searched for models/<id>.json first. An unknown name is ROOF_USAGE, and the message suggests
 * at most three ids. On success the caller owns *out: roof_model_free.
 */
enum roof_status roof_model_load(struct roof_model **out, const char *name,
                                 const char *const *directories, struct roof_error *error);
/** Tells whether a name is that of a model, or a path that may be one. */
enum roof_status roof_model_known(bool *known, const char *name, const char *const *directories,
                                  struct roof_error *error);
/** Reads a model from the text of a config.json; source names it in messages. */
enum roof_status roof_model_parse(struct roof_model **out, const char *text, size_t length,
                                  const char *source, struct roof_error *error);
/** Changes a model without a quantisation into a checkpoint of it: its config then has this
 * quantization_config (a JSON object), and it is published under this name at Hugging Face. */
enum roof_status roof_model_quantize(struct roof_model *model, const char *quantization,
                                     const char *repository, struct roof_error *error);

/** Lists the ids of all models, in directories and embedded, each once, sorted. Adds *count
 * terminated strings to out. */
enum roof_status roof_model_ids(struct roof_text *out, size_t *count,
                                const char *const *directories, struct roof_error *error);

#endif
