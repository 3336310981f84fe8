// SPDX-License-Identifier: MIT
#include "catalog/registry.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/nearest.h"
#include "catalog/data.h"

#define SUFFIX ".json"

static bool has_suffix(const char *name, size_t length)
{
    return length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

bool roof_registry_path(const char *name)
{
    return strchr(name, '/') != NULL || has_suffix(name, strlen(name));
}

bool roof_registry_sealed(const char *const *directories)
{
    return directories != NULL && *directories != NULL && **directories == '\0';
}

/* Returns the directories that are searched. */
static const char *const *searched(const char *const *directories)
{
    return roof_registry_sealed(directories) ? directories + 1 : directories;
}

bool roof_registry_document(const char *name)
{
    return *name == '{';
}

/* Returns the id in "FOLDER/ID.json", of *length bytes; NULL if the path is in another folder. */
static const char *id_in_folder(const char *path, const char *folder, size_t *length)
{
    const size_t skip = strlen(folder);
    if (strncmp(path, folder, skip) != 0 || path[skip] != '/') {
        return NULL;
    }
    *length = strlen(path + skip + 1) - strlen(SUFFIX);
    return path + skip + 1;
}

const char *roof_registry_id(const char *source, size_t *length)
{
    const char *const slash = strchr(source, '/');
    if (slash == NULL || strchr(slash + 1, '/') != NULL || !has_suffix(slash, strlen(slash))) {
        return NULL;
    }
    *length = strlen(slash + 1) - strlen(SUFFIX);
    return slash + 1;
}

/* Finds an embedded document by its id. Ids are in lower case; the case of `id` does not matter. */
static const struct roof_data_file *embedded(const char *folder, const char *id)
{
    for (size_t i = 0; i < roof_data_file_count; i++) {
        size_t length = 0;
        const char *const known = id_in_folder(roof_data_files[i].path, folder, &length);
        if (known != NULL && strlen(id) == length && strncasecmp(id, known, length) == 0) {
            return &roof_data_files[i];
        }
    }
    return NULL;
}

/* Tells if DIRECTORY/FOLDER/ID.json exists. Its path is then in *path, which the caller frees. */
static bool in_directory(struct roof_text *path, const struct roof_registry *registry,
                         const char *directory, const char *id)
{
    roof_text_clear(path);
    roof_text_printf(path, "%s/%s/%s" SUFFIX, directory, registry->folder, id);
    return !path->failed && access(path->data, F_OK) == 0;
}

bool roof_registry_has(const struct roof_registry *registry, const char *id,
                       const char *const *directories)
{
    struct roof_text path = ROOF_TEXT_INIT;
    bool found = embedded(registry->folder, id) != NULL;
    const bool closed = roof_registry_sealed(directories) && roof_registry_path(id);
    const char *const *d = searched(directories);
    for (; d != NULL && *d != NULL && !found && !closed; d++) {
        found = in_directory(&path, registry, *d, id);
    }
    roof_text_free(&path);
    return found;
}

/* Returns the array of aliases of a document; NULL: it has none. */
static const roof_json_value *aliases_of(const struct roof_json *json)
{
    const roof_json_value *const root = roof_json_root(json);
    const roof_json_value *const list = roof_json_get(root, "aliases");
    return list != NULL ? list : roof_json_get(roof_json_get(root, "roofline"), "aliases");
}

static bool has_alias(const struct roof_json *json, const char *name)
{
    for (const roof_json_value *item = roof_json_first(aliases_of(json)); item != NULL;
         item = roof_json_next(item)) {
        const char *const alias = roof_json_string(item);
        if (alias != NULL && strcmp(alias, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Finds a document by an alias. Only a file whose text holds the quoted name can have that alias,
 * so the others stay unread. */
static enum roof_status by_alias(struct roof_json **out, const char *folder, const char *name,
                                 struct roof_error *error)
{
    struct roof_text quoted = ROOF_TEXT_INIT;
    roof_json_quote(&quoted, name);
    enum roof_status status = quoted.failed ? roof_no_memory(error) : ROOF_OK;
    for (size_t i = 0; i < roof_data_file_count && status == ROOF_OK && *out == NULL; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        size_t length = 0;
        if (id_in_folder(file->path, folder, &length) == NULL ||
            strstr(file->text, quoted.data) == NULL) {
            continue;
        }
        struct roof_json *json = NULL;
        status = roof_json_parse_own(&json, file->text, file->length, file->path, error);
        if (status == ROOF_OK && has_alias(json, name)) {
            *out = json;
        } else {
            roof_json_free(json);
        }
    }
    roof_text_free(&quoted);
    return status;
}

/* --- names of Hugging Face ------------------------------------------------------------------ */

/* Tells if a name is like "owner/name": one '/' between two texts. */
static bool is_hub_name(const char *name)
{
    const char *const slash = strchr(name, '/');
    return slash != NULL && slash != name && slash[1] != '\0' && strchr(slash + 1, '/') == NULL &&
           name[0] != '.' && name[0] != '~';
}

/* Tells if a document is that of "owner/name": either its hf_id equals it, or its hf_id has the
 * owner and its id or an alias is the name. Case does not matter. */
static bool has_hub_name(const struct roof_json *json, const char *id, size_t id_length,
                         const char *name)
{
    const char *const hub =
        roof_json_string(roof_json_get(roof_json_get(roof_json_root(json), "roofline"), "hf_id"));
    const char *const own = strchr(name, '/') + 1;
    const size_t owner = (size_t)(own - name);
    if (hub == NULL || strncasecmp(hub, name, owner) != 0) {
        return false;
    }
    bool found = strcasecmp(hub, name) == 0 ||
                 (strlen(own) == id_length && strncasecmp(own, id, id_length) == 0);
    for (const roof_json_value *item = roof_json_first(aliases_of(json)); item != NULL && !found;
         item = roof_json_next(item)) {
        const char *const alias = roof_json_string(item);
        found = alias != NULL && strcasecmp(alias, own) == 0;
    }
    return found;
}

/* Finds an embedded document by its name at Hugging Face; *out stays NULL when there is none. */
static enum roof_status by_hub_name(struct roof_json **out, const char *folder, const char *name,
                                    struct roof_error *error)
{
    for (size_t i = 0; i < roof_data_file_count && *out == NULL; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        size_t length = 0;
        const char *const id = id_in_folder(file->path, folder, &length);
        struct roof_json *json = NULL;
        if (id == NULL) {
            continue;
        }
        TRY(roof_json_parse_own(&json, file->text, file->length, file->path, error));
        if (has_hub_name(json, id, length, name)) {
            *out = json;
        } else {
            roof_json_free(json);
        }
    }
    return ROOF_OK;
}

/* Tells if a folder has a document of the registry, FOLDER/hardware.json, as `measure` writes it.
 * Its path is then in *path, which the caller frees. */
static bool in_own_folder(struct roof_text *path, const struct roof_registry *registry,
                          const char *folder)
{
    roof_text_clear(path);
    roof_text_printf(path, "%s/%s" SUFFIX, folder, registry->folder);
    return !path->failed && access(path->data, F_OK) == 0;
}

bool roof_registry_folder(const struct roof_registry *registry, const char *name)
{
    struct roof_text path = ROOF_TEXT_INIT;
    const bool found = in_own_folder(&path, registry, name);
    roof_text_free(&path);
    return found;
}

static enum roof_status read_file(struct roof_json **out, const struct roof_registry *registry,
                                  const char *path, struct roof_error *error)
{
    return registry->python ? roof_json_read_python(out, path, error)
                            : roof_json_read(out, path, error);
}

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Opens the document of a folder, or the file with that name. */
static enum roof_status open_file(struct roof_json **out, const struct roof_registry *registry,
                                  const char *name, struct roof_error *error)
{
    struct roof_text path = ROOF_TEXT_INIT;
    const bool folder = in_own_folder(&path, registry, name);
    const enum roof_status status =
        path.failed ? roof_no_memory(error)
        : !folder && is_directory(name)
            ? roof_error_at(error, ROOF_IO, name, 0, 0, "the folder has no %s" SUFFIX,
                            registry->folder)
            : read_file(out, registry, folder ? path.data : name, error);
    roof_text_free(&path);
    return status;
}

/* Opens a path; if there is no such file, the document with this name at Hugging Face. */
static enum roof_status open_path(struct roof_json **out, bool *user,
                                  const struct roof_registry *registry, const char *name,
                                  bool sealed, struct roof_error *error)
{
    const bool hub = registry->hub && is_hub_name(name) && (sealed || access(name, F_OK) != 0);
    if (hub) {
        TRY(by_hub_name(out, registry->folder, name, error));
    }
    if (*out != NULL) {
        *user = false;
        return ROOF_OK;
    }
    if (sealed) {
        return roof_error_set(error, ROOF_USAGE,
                              "'%s' is not a built-in %s; files cannot be named here, but a JSON "
                              "object can replace the name",
                              name, registry->noun);
    }
    const enum roof_status status = open_file(out, registry, name, error);
    const bool listed = registry->hub || registry->own != NULL;
    if (status == ROOF_IO && listed && !hub && access(name, F_OK) != 0) {
        roof_error_append(error, "; names that are built in: roofline list %s", registry->folder);
    }
    if (status == ROOF_IO && hub) {
        roof_error_append(error,
                          "; no built-in %s has this Hugging Face name (roofline list %s): "
                          "download its config.json and give the path",
                          registry->noun, registry->folder);
    }
    return status;
}

/* --- names that no document has ------------------------------------------------------------- */

/* Returns the smaller of a known distance and that of a name of a document; NULL: it has no such
 * name. */
static unsigned nearer(unsigned known, const char *wanted, const char *name)
{
    const unsigned nearness = name == NULL ? ROOF_FAR : roof_nearness(wanted, name);
    return nearness < known ? nearness : known;
}

/* Finds the distance of a document from the wanted name, by its id, its aliases and its full name,
 * "NVIDIA H100 SXM5 80GB". */
static enum roof_status document_nearness(unsigned *out, const struct roof_registry *registry,
                                          const char *wanted, const char *id,
                                          struct roof_error *error)
{
    const struct roof_data_file *const file = embedded(registry->folder, id);
    struct roof_json *json = NULL;
    *out = roof_nearness(wanted, id);
    if (file == NULL) {
        return ROOF_OK;
    }
    TRY(roof_json_parse_own(&json, file->text, file->length, file->path, error));
    for (const roof_json_value *item = roof_json_first(aliases_of(json)); item != NULL;
         item = roof_json_next(item)) {
        *out = nearer(*out, wanted, roof_json_string(item));
    }
    *out = nearer(*out, wanted, roof_json_string(roof_json_get(roof_json_root(json), "name")));
    roof_json_free(json);
    return ROOF_OK;
}

/* Reports an unknown name; ids are count terminated strings. */
static enum roof_status unknown_id(const struct roof_registry *registry, const char *name,
                                   const char *ids, size_t count, struct roof_error *error)
{
    bool near = false;
    const char **const names = calloc(count + 1, sizeof *names);
    unsigned *const nearness = calloc(count + 1, sizeof *nearness);
    enum roof_status status = names == NULL || nearness == NULL ? roof_no_memory(error) : ROOF_OK;
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        names[i] = ids;
        status = document_nearness(&nearness[i], registry, name, ids, error);
        near = near || nearness[i] < ROOF_FAR;
        ids += strlen(ids) + 1;
    }
    if (status == ROOF_OK) {
        const bool says = !near && registry->own != NULL;
        status = roof_unknown_near(error, ROOF_USAGE, registry->noun, name, names, nearness, count);
        roof_error_append(error, " (all: roofline list %s%s%s)", registry->folder, says ? "; " : "",
                          says ? registry->own : "");
    }
    free(names);
    free(nearness);
    return status;
}

void roof_registry_suggest(struct roof_error *error, const char *name,
                           const char *const *directories)
{
    struct roof_text path = ROOF_TEXT_INIT;
    roof_text_printf(&path, "./%s" SUFFIX, name);
    if (!roof_registry_sealed(directories) && !path.failed && access(path.data, F_OK) == 0) {
        roof_error_append(error, "; did you mean the file %s?", path.data);
    }
    roof_text_free(&path);
}

static enum roof_status unknown(const struct roof_registry *registry, const char *name,
                                const char *const *directories, struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    enum roof_status status = roof_registry_ids(&ids, &count, registry, directories, error);
    if (status == ROOF_OK) {
        status = unknown_id(registry, name, ids.data, count, error);
        roof_registry_suggest(error, name, directories);
    }
    roof_text_free(&ids);
    return status;
}

/* Opens a document of a search directory; *out stays NULL when there is none. */
static enum roof_status open_in_directory(struct roof_json **out,
                                          const struct roof_registry *registry,
                                          const char *directory, const char *name,
                                          struct roof_error *error)
{
    struct roof_text path = ROOF_TEXT_INIT;
    const bool found = in_directory(&path, registry, directory, name);
    const enum roof_status status = path.failed ? roof_no_memory(error)
                                    : found     ? read_file(out, registry, path.data, error)
                                                : ROOF_OK;
    roof_text_free(&path);
    return status;
}

/* Opens an embedded document by its id or an alias, in lower case; *out stays NULL if there is
 * none. */
static enum roof_status open_embedded(struct roof_json **out, const struct roof_registry *registry,
                                      const char *name, struct roof_error *error)
{
    char *const lower = strdup(name);
    if (lower == NULL) {
        return roof_no_memory(error);
    }
    for (char *p = lower; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    const struct roof_data_file *const file = embedded(registry->folder, lower);
    const enum roof_status status =
        file == NULL ? by_alias(out, registry->folder, lower, error)
        : registry->filter != NULL
            ? roof_json_parse_some(out, file->text, file->length, file->path, registry->filter,
                                   error)
            : roof_json_parse_own(out, file->text, file->length, file->path, error);
    free(lower);
    return status;
}

enum roof_status roof_registry_open(struct roof_json **out, bool *user,
                                    const struct roof_registry *registry, const char *name,
                                    const char *const *directories, struct roof_error *error)
{
    *out = NULL;
    *user = true;
    if (roof_registry_document(name)) {
        return roof_json_parse(out, name, strlen(name), registry->noun, error);
    }
    if (roof_registry_path(name)) {
        return open_path(out, user, registry, name, roof_registry_sealed(directories), error);
    }
    const char *const *d = searched(directories);
    for (; d != NULL && *d != NULL; d++) {
        TRY(open_in_directory(out, registry, *d, name, error));
        if (*out != NULL) {
            return ROOF_OK;
        }
    }
    *user = false;
    TRY(open_embedded(out, registry, name, error));
    if (*out == NULL && !roof_registry_sealed(directories) &&
        roof_registry_folder(registry, name)) {
        *user = true;
        return open_file(out, registry, name, error);
    }
    if (*out == NULL && registry->own != NULL && !roof_registry_sealed(directories) &&
        is_directory(name)) {
        return roof_error_set(error, ROOF_USAGE, "%s: the folder has no %s" SUFFIX, name,
                              registry->folder);
    }
    return *out != NULL ? ROOF_OK : unknown(registry, name, directories, error);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
    char **name;
    size_t count;
    bool failed;
};

static void add_name(struct names *names, const char *start, size_t length)
{
    char **const grown = realloc(names->name, (names->count + 1) * sizeof *grown);
    if (grown == NULL) {
        names->failed = true;
        return;
    }
    names->name = grown;
    names->name[names->count] = strndup(start, length);
    names->failed |= names->name[names->count] == NULL;
    names->count += names->name[names->count] != NULL;
}

/* Tells if a folder does not exist, or is not readable for this user. */
static bool is_absent(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == EPERM ||
           reason == ELOOP || reason == ENAMETOOLONG;
}

/* Adds the ids of a folder; one that is absent has none. */
static enum roof_status add_folder(struct names *names, const char *path, struct roof_error *error)
{
    DIR *const folder = opendir(path);
    if (folder == NULL && is_absent(errno)) {
        return ROOF_OK;
    }
    const struct dirent *entry = NULL;
    while (folder != NULL && (errno = 0, entry = readdir(folder)) != NULL) {
        const size_t length = strlen(entry->d_name);
        if (has_suffix(entry->d_name, length) && entry->d_name[0] != '.') {
            add_name(names, entry->d_name, length - strlen(SUFFIX));
        }
    }
    const int reason = errno;
    if (folder != NULL) {
        closedir(folder);
    }
    return reason == 0
               ? ROOF_OK
               : roof_error_at(error, ROOF_IO, path, 0, 0, "cannot list: %s", strerror(reason));
}

enum roof_status roof_registry_ids(struct roof_text *out, size_t *count,
                                   const struct roof_registry *registry,
                                   const char *const *directories, struct roof_error *error)
{
    struct names names = {0};
    for (size_t i = 0; i < roof_data_file_count; i++) {
        size_t length = 0;
        const char *const id = id_in_folder(roof_data_files[i].path, registry->folder, &length);
        if (id != NULL) {
            add_name(&names, id, length);
        }
    }
    enum roof_status status = ROOF_OK;
    directories = searched(directories);
    for (; directories != NULL && *directories != NULL && status == ROOF_OK; directories++) {
        struct roof_text path = ROOF_TEXT_INIT;
        roof_text_printf(&path, "%s/%s/", *directories, registry->folder);
        names.failed |= path.failed;
        status = path.failed ? ROOF_OK : add_folder(&names, path.data, error);
        roof_text_free(&path);
    }
    if (names.count > 0) {
        qsort(names.name, names.count, sizeof *names.name, by_name);
    }
    *count = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (i == 0 || strcmp(names.name[i - 1], names.name[i]) != 0) {
            roof_text_add(out, names.name[i], strlen(names.name[i]) + 1);
            ++*count;
        }
    }
    for (size_t i = 0; i < names.count; i++) {
        free(names.name[i]);
    }
    free(names.name);
    return names.failed || out->failed ? roof_no_memory(error) : status;
}

void roof_registry_names(const char **names, const struct roof_text *ids, size_t count)
{
    const char *id = ids->data;
    for (size_t i = 0; i < count; i++, id += strlen(id) + 1) {
        names[i] = id;
    }
}
