// SPDX-License-Identifier: MIT
/* Finds the files of a model and hands them to their readers. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "catalog/registry.h"
#include "model/config.h"
#include "model/gguf.h"
#include "model/load.h"
#include "model/model_make.h"
#include "model/quantization.h"
#include "model/safetensors.h"

static const struct roof_registry models = {
    .folder = "models", .noun = "model", .hub = true, .python = true};

/* The layout of a model with the formats of its file. */
#define STORED "file"
#define CONFIG "config.json"
#define QUANTIZATION "hf_quant_config.json"

/* --- paths --------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *suffix)
{
    const size_t length = strlen(text);
    const size_t wanted = strlen(suffix);
    return length >= wanted && strcmp(text + length - wanted, suffix) == 0;
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* Returns "FOLDER/FILE", which the caller frees, or NULL when out of memory. */
static char *join(const char *folder, size_t length, const char *file)
{
    const size_t size = length + strlen(file) + 2;
    char *const path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%.*s%s%s", (int)length, folder, length == 0 ? "" : "/", file);
    }
    return path;
}

/* Tells whether a name means a folder: one exists, and the name has a '/' or the folder a
 * config.json. */
static enum roof_status find_folder(bool *found, const char *name, struct roof_error *error)
{
    struct stat info;
    *found = stat(name, &info) == 0 && S_ISDIR(info.st_mode);
    if (*found && strchr(name, '/') == NULL) {
        char *const config = join(name, strlen(name), CONFIG);
        if (config == NULL) {
            return roof_no_memory(error);
        }
        *found = exists(config);
        free(config);
    }
    return ROOF_OK;
}

/* --- readers ------------------------------------------------------------------------------- */

static enum roof_status load_gguf(struct roof_model **out, const char *path,
                                  struct roof_error *error)
{
    struct roof_model *const model = roof_model_new();
    if (model == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = roof_gguf_read(model, path, error);
    if (status == ROOF_OK) {
        model->layout = STORED;
        model->gguf = true;
        model->quantization = "gguf";
        *out = model;
    } else {
        roof_model_free(model);
    }
    return status;
}

/* Reads the formats of a model from the headers of its weights. On failure the model is freed. */
static enum roof_status add_weights(struct roof_model **model, const char *path,
                                    struct roof_error *error)
{
    enum roof_status status = roof_safetensors_read(*model, path, error);
    if (status == ROOF_OK && (*model)->stored) {
        (*model)->layout = STORED;
        status = roof_quantization_inputs(*model, error);
    }
    if (status != ROOF_OK) {
        roof_model_free(*model);
        *model = NULL;
    }
    return status;
}

/* Reads the other files in the folder of a config.json. */
static enum roof_status read_beside(struct roof_model *model, const char *path,
                                    struct roof_error *error)
{
    struct roof_json *json = NULL;
    TRY(roof_json_read_python(&json, path, error));
    return roof_config_read_beside(model, json, error);
}

/* Adds it to the model, if it exists. On failure the model is freed. */
static enum roof_status add_beside(struct roof_model **model, const char *path,
                                   struct roof_error *error)
{
    const enum roof_status status = exists(path) ? read_beside(*model, path, error) : ROOF_OK;
    if (status != ROOF_OK) {
        roof_model_free(*model);
        *model = NULL;
    }
    return status;
}

/* The files that a folder may have. */
struct paths {
    char *config;
    char *quantization; /* NVIDIA ModelOpt writes it next to config.json */
    char *index;
    char *single;
};

static enum roof_status load_paths(struct roof_model **out, const struct paths *paths,
                                   const char *weights, struct roof_error *error)
{
    struct roof_json *json = NULL;
    if (!exists(paths->config)) {
        return roof_error_at(error, ROOF_IO, paths->config, 0, 0,
                             "cannot read: the shapes of attention heads and experts are in the "
                             "config.json beside the weights");
    }
    TRY(roof_json_read_python(&json, paths->config, error));
    TRY(roof_config_read(out, json, error));
    TRY(add_beside(out, paths->quantization, error));
    if (weights == NULL) {
        weights = exists(paths->index)    ? paths->index
                  : exists(paths->single) ? paths->single
                                          : NULL;
    }
    return weights == NULL ? ROOF_OK : add_weights(out, weights, error);
}

/* --- folders with GGUF --------------------------------------------------------------------- */

#define FIRST_PART "-00001-of-"

/* Tells whether a file is the first of a model in GGUF: not a later part, and not an image
 * projector, which llama.cpp keeps in a separate file. */
static bool begins_gguf(const char *name)
{
    static const char pattern[] = "-DDDDD-of-DDDDD.gguf";
    const size_t length = strlen(name);
    const size_t tail = strlen(pattern);
    if (!ends_with(name, ".gguf") || strstr(name, "mmproj") != NULL) {
        return false;
    }
    if (length <= tail) {
        return true;
    }
    const char *const part = name + length - tail;
    for (size_t i = 0; i < tail; i++) {
        const bool digit = part[i] >= '0' && part[i] <= '9';
        if (pattern[i] == 'D' ? !digit : part[i] != pattern[i]) {
            return true; /* it is no part */
        }
    }
    return strncmp(part, FIRST_PART, strlen(FIRST_PART)) == 0;
}

/* Finds the models in GGUF in a folder; *first is the path of the first one by name, which the
 * caller frees, or NULL. */
static enum roof_status find_gguf(char **first, size_t *count, const char *folder, size_t length,
                                  struct roof_error *error)
{
    char *const path = join(folder, length, "");
    DIR *const entries = path == NULL ? NULL : opendir(path);
    const struct dirent *entry = NULL;
    char *best = NULL;
    bool failed = path == NULL;
    *count = 0;
    while (entries != NULL && !failed && (entry = readdir(entries)) != NULL) {
        if (begins_gguf(entry->d_name)) {
            ++*count;
            if (best == NULL || strcmp(entry->d_name, best) < 0) {
                free(best);
                best = strdup(entry->d_name);
                failed = best == NULL;
            }
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    *first = best == NULL ? NULL : join(folder, length, best);
    failed = failed || (best != NULL && *first == NULL);
    free(best);
    free(path);
    return failed ? roof_no_memory(error) : ROOF_OK;
}

/* Loads the model in GGUF of a folder without a config.json; *out stays NULL if there is none. */
static enum roof_status load_gguf_folder(struct roof_model **out, const char *folder, size_t length,
                                         struct roof_error *error)
{
    char *first = NULL;
    size_t count = 0;
    TRY(find_gguf(&first, &count, folder, length, error));
    enum roof_status status = ROOF_OK;
    if (count > 1) {
        status = roof_error_set(error, ROOF_USAGE,
                                "%.*s has %zu models in GGUF: name the file of one, such as %s",
                                (int)length, folder, count, first);
    } else if (count == 1) {
        status = load_gguf(out, first, error);
    }
    free(first);
    return status;
}

/* --- folders and safetensors ---------------------------------------------------------------- */

/* Reads config.json in the folder, then the headers of weights, if there are any: the named ones,
 * or those in the folder. */
static enum roof_status load_folder(struct roof_model **out, const char *folder, size_t length,
                                    const char *weights, struct roof_error *error)
{
    const struct paths paths = {join(folder, length, CONFIG), join(folder, length, QUANTIZATION),
                                join(folder, length, "model.safetensors.index.json"),
                                join(folder, length, "model.safetensors")};
    enum roof_status status = ROOF_OK;
    if (paths.config == NULL || paths.quantization == NULL || paths.index == NULL ||
        paths.single == NULL) {
        status = roof_no_memory(error);
    } else if (weights == NULL && !exists(paths.config)) {
        status = load_gguf_folder(out, folder, length, error);
    }
    if (status == ROOF_OK && *out == NULL) {
        status = load_paths(out, &paths, weights, error);
    }
    free(paths.config);
    free(paths.quantization);
    free(paths.index);
    free(paths.single);
    return status;
}

static enum roof_status load_safetensors(struct roof_model **out, const char *path,
                                         struct roof_error *error)
{
    const char *const slash = strrchr(path, '/');
    if (!exists(path)) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    }
    return load_folder(out, path, slash == NULL ? 0 : (size_t)(slash - path), path, error);
}

/* --- models -------------------------------------------------------------------------------- */

/* Reads a document of the registry or of a path, and the other files next to a config.json. */
static enum roof_status load_document(struct roof_model **out, struct roof_json *json,
                                      const char *name, struct roof_error *error)
{
    const char *const slash = strrchr(name, '/');
    const bool config = strcmp(slash == NULL ? name : slash + 1, CONFIG) == 0;
    TRY(roof_config_read(out, json, error));
    if (!config) {
        return ROOF_OK;
    }
    char *const beside = join(name, slash == NULL ? 0 : (size_t)(slash - name), QUANTIZATION);
    if (beside == NULL) {
        roof_model_free(*out);
        *out = NULL;
        return roof_no_memory(error);
    }
    const enum roof_status status = add_beside(out, beside, error);
    free(beside);
    return status;
}

/* Loads a model by its name; *user is true if it is not built in. */
static enum roof_status load_any(struct roof_model **out, bool *user, const char *name,
                                 const char *const *directories, struct roof_error *error)
{
    *user = true;
    if (roof_registry_document(name) || roof_registry_sealed(directories)) {
        struct roof_json *json = NULL;
        TRY(roof_registry_open(&json, user, &models, name, directories, error));
        return roof_config_read(out, json, error);
    }
    if (ends_with(name, ".gguf")) {
        return load_gguf(out, name, error);
    }
    if (ends_with(name, ".safetensors") || ends_with(name, ".safetensors.index.json")) {
        return load_safetensors(out, name, error);
    }
    bool folder = false;
    TRY(find_folder(&folder, name, error));
    const bool plain = strchr(name, '/') == NULL; /* a known name means the same in every folder */
    if (!folder || plain) {
        struct roof_json *json = NULL;
        const enum roof_status status =
            roof_registry_open(&json, user, &models, name, directories, error);
        if (!folder || status != ROOF_USAGE) {
            return status == ROOF_OK ? load_document(out, json, name, error) : status;
        }
    }
    *user = true;
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/') {
        length--;
    }
    return load_folder(out, name, length, NULL, error);
}

enum roof_status roof_model_load(struct roof_model **out, const char *name,
                                 const char *const *directories, struct roof_error *error)
{
    *out = NULL;
    bool user = false;
    TRY(load_any(out, &user, name, directories, error));
    if (*out == NULL || !user) {
        return ROOF_OK;
    }
    /* A folder with GGUF files stands for one of them, as in other programs. */
    (*out)->reference = roof_model_own(*out, strdup((*out)->gguf ? (*out)->id : name));
    if ((*out)->reference == NULL) {
        roof_model_free(*out);
        *out = NULL;
        return roof_no_memory(error);
    }
    return ROOF_OK;
}

enum roof_status roof_model_known(bool *known, const char *name, const char *const *directories,
                                  struct roof_error *error)
{
    struct roof_json *json = NULL;
    bool user = false;
    *known = roof_registry_document(name) || strchr(name, '/') != NULL ||
             ends_with(name, ".json") || ends_with(name, ".gguf") ||
             ends_with(name, ".safetensors");
    if (!*known && !roof_registry_sealed(directories)) {
        TRY(find_folder(known, name, error));
    }
    if (*known) {
        return ROOF_OK;
    }
    const enum roof_status status =
        roof_registry_open(&json, &user, &models, name, directories, error);
    *known = status == ROOF_OK;
    roof_json_free(json);
    return status == ROOF_USAGE ? ROOF_OK : status;
}

enum roof_status roof_model_ids(struct roof_text *out, size_t *count,
                                const char *const *directories, struct roof_error *error)
{
    return roof_registry_ids(out, count, &models, directories, error);
}
