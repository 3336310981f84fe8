// SPDX-License-Identifier: MIT
/*
 * The headers of safetensors files (README of huggingface/safetensors). A file begins with 8 bytes
 * that hold the length of a JSON object, then that object, which gives each tensor its dtype, shape
 * and place. An index names the file of each tensor where a model has several.
 */
#include "model/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "model/model_make.h"
#include "model/safetensors_weights.h"

#define HEADER_MAX 100000000 /* the limit of the format itself; ours is ROOF_JSON_SIZE_MAX */
#define FILES_MAX 4096
#define FILE_NAME_MAX 255
#define INTEGER_MAX 9007199254740992.0 /* 2^53: all integers up to it are doubles */

#define BAD ROOF_SAFETENSORS_BAD

/* A line of an index's weight_map. */
struct entry {
    const char *tensor;
    const char *file;
    bool seen;
};

struct index {
    struct entry *entry; /* sorted by tensor */
    size_t count;
};

/* --- tensors ------------------------------------------------------------------------------- */

/* Reads an integer that is not negative; false for other values. */
static bool read_integer(int64_t *out, const roof_json_value *value)
{
    double real = 0;
    if (!roof_json_number(&real, value) || real < 0 || real > INTEGER_MAX || real != floor(real)) {
        return false;
    }
    *out = (int64_t)real;
    return true;
}

static enum roof_status read_shape(struct roof_safetensors *r, struct roof_stored_tensor *t,
                                   const roof_json_value *shape)
{
    bool good = roof_json_is_array(shape) && roof_json_count(shape) <= ROOF_SAFETENSORS_RANK_MAX;
    t->elements = 1;
    for (const roof_json_value *item = good ? roof_json_first(shape) : NULL; item != NULL && good;
         item = roof_json_next(item)) {
        int64_t *const size = &t->size[t->rank++];
        good = read_integer(size, item);
        t->elements = good ? roof_times(t->elements, *size) : 0;
    }
    return good ? ROOF_OK
                : BAD(r, "%.200s: shape must be an array of at most %d integers from 0 to 2^53",
                      t->name, ROOF_SAFETENSORS_RANK_MAX);
}

static enum roof_status read_place(struct roof_safetensors *r, struct roof_stored_tensor *t,
                                   const roof_json_value *offsets, uint64_t data)
{
    int64_t begin = 0;
    int64_t end = 0;
    const roof_json_value *const first = roof_json_first(offsets);
    if (!roof_json_is_array(offsets) || roof_json_count(offsets) != 2 ||
        !read_integer(&begin, first) || !read_integer(&end, roof_json_next(first)) || begin > end) {
        return BAD(r, "%.200s: data_offsets must be two integers, the first not above the second",
                   t->name);
    }
    if ((uint64_t)end > data) {
        return BAD(
            r, "%.200s ends at byte %" PRId64 " of the data, but the file has %" PRIu64 " of them",
            t->name, end, data);
    }
    t->bytes = (uint64_t)(end - begin);
    const int64_t bits = roof_times(t->elements, roof_dtype_bits(t->dtype));
    if (bits != roof_times(end - begin, 8) || bits == INT64_MAX) {
        return BAD(r,
                   "%.200s: its shape of %s makes %" PRId64 " bytes, but data_offsets say %" PRIu64,
                   t->name, roof_dtype_name(t->dtype), bits / 8 + (bits % 8 != 0), t->bytes);
    }
    return ROOF_OK;
}

static enum roof_status read_tensor(struct roof_safetensors *r, struct roof_stored_tensor *t,
                                    const roof_json_value *node, uint64_t data)
{
    t->name = roof_json_key(node);
    const char *const dtype = roof_json_string(roof_json_get(node, "dtype"));
    if (!roof_json_is_object(node) || dtype == NULL) {
        return BAD(r, "%.200s must be an object with dtype, shape and data_offsets", t->name);
    }
    if (!roof_dtype_find(&t->dtype, dtype)) {
        return BAD(r, "%.200s has the dtype %.40s, which is not known", t->name, dtype);
    }
    TRY(read_shape(r, t, roof_json_get(node, "shape")));
    return read_place(r, t, roof_json_get(node, "data_offsets"), data);
}

/* Finds out whether the index wants a tensor, and from this file. */
static enum roof_status look_up(struct roof_safetensors *r, const struct index *index,
                                const char *name, const char *file, bool *wanted)
{
    *wanted = index == NULL;
    size_t low = 0;
    size_t high = index == NULL ? 0 : index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        struct entry *const entry = &index->entry[middle];
        const int order = strcmp(entry->tensor, name);
        if (order < 0) {
            low = middle + 1;
        } else if (order > 0) {
            high = middle;
        } else if (strcmp(entry->file, file) != 0) {
            return BAD(r, "%.200s is stored here, but the index says in %.255s", name, entry->file);
        } else {
            entry->seen = true;
            *wanted = true;
            break;
        }
    }
    r->unknown = r->unknown || !*wanted;
    return ROOF_OK;
}

static enum roof_status read_tensors(struct roof_safetensors *r, const struct index *index,
                                     const struct roof_json *json, const char *file, uint64_t data)
{
    const roof_json_value *const root = roof_json_root(json);
    uint64_t sum = 0;
    if (!roof_json_is_object(root)) {
        return BAD(r, "the header must be a JSON object");
    }
    for (const roof_json_value *node = roof_json_first(root); node != NULL;
         node = roof_json_next(node)) {
        struct roof_stored_tensor t = {.rank = 0};
        bool wanted = false;
        if (strcmp(roof_json_key(node), "__metadata__") == 0) {
            continue;
        }
        TRY(read_tensor(r, &t, node, data));
        sum += t.bytes; /* no overflow: neither is larger than the data */
        if (sum > data) {
            return BAD(r, "the tensors up to %.200s have more bytes than the file: they overlap",
                       t.name);
        }
        TRY(look_up(r, index, t.name, file, &wanted));
        if (wanted) {
            TRY(roof_safetensors_add(r, &t));
        }
    }
    return ROOF_OK;
}

/* --- files --------------------------------------------------------------------------------- */

static enum roof_status read_bytes(struct roof_safetensors *r, int file, void *out, size_t count,
                                   size_t from)
{
    char *const to = out;
    size_t done = 0;
    while (done < count) {
        const ssize_t got = pread(file, to + done, count - done, (off_t)(from + done));
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return roof_error_at(r->error, ROOF_IO, r->path, 0, 0, "cannot read: %s",
                                 got < 0 ? strerror(errno) : "the file became shorter");
        }
    }
    return ROOF_OK;
}

static enum roof_status read_length(struct roof_safetensors *r, int file, uint64_t size,
                                    uint64_t *out)
{
    unsigned char raw[8] = {0};
    if (size < sizeof raw) {
        return BAD(r, "not a safetensors file: %" PRIu64 " bytes are too few", size);
    }
    TRY(read_bytes(r, file, raw, sizeof raw, 0));
    *out = 0;
    for (size_t i = 0; i < sizeof raw; i++) {
        *out |= (uint64_t)raw[i] << (8 * i);
    }
    if (*out < 2 || *out > HEADER_MAX) {
        return BAD(r,
                   "not a safetensors file: its header would have %" PRIu64
                   " bytes; 2 to %d are allowed",
                   *out, HEADER_MAX);
    }
    if (*out > size - sizeof raw) {
        return BAD(r,
                   "the header has %" PRIu64 " bytes, but the file ends after %" PRIu64
                   ": it is cut off",
                   *out, size);
    }
    if (*out > (uint64_t)ROOF_JSON_SIZE_MAX) {
        return BAD(r, "the header has %" PRIu64 " bytes; at most %u are read", *out,
                   ROOF_JSON_SIZE_MAX);
    }
    return ROOF_OK;
}

/* Reads the JSON of a header into *out, which the caller frees. */
static enum roof_status read_json(struct roof_safetensors *r, int file, size_t length,
                                  struct roof_json **out)
{
    char *const text = malloc(length + 1);
    if (text == NULL) {
        return roof_no_memory(r->error);
    }
    enum roof_status status = read_bytes(r, file, text, length, 8);
    if (status == ROOF_OK) {
        status = roof_json_parse(out, text, length, r->path, r->error);
    }
    free(text);
    return status;
}

static enum roof_status read_header(struct roof_safetensors *r, const struct index *index, int file,
                                    const char *name, uint64_t size)
{
    uint64_t length = 0;
    struct roof_json *json = NULL;
    TRY(read_length(r, file, size, &length));
    TRY(read_json(r, file, (size_t)length, &json));
    const enum roof_status status = read_tensors(r, index, json, name, size - 8 - length);
    roof_json_free(json);
    return status;
}

/* Opens the file at path, which the caller closes. `description` follows "cannot open" in messages.
 */
static enum roof_status open_file(struct roof_safetensors *r, int *out, const char *path,
                                  const char *description)
{
    r->path = path;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    *out = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return *out >= 0 ? ROOF_OK
                     : roof_error_at(r->error, ROOF_IO, path, 0, 0, "cannot open%s: %s",
                                     description, strerror(errno));
}

/* Reads the file at path, which is name in its folder. */
static enum roof_status read_file(struct roof_safetensors *r, const struct index *index,
                                  const char *path, const char *name, const char *description)
{
    int file = -1;
    TRY(open_file(r, &file, path, description));
    struct stat info;
    const bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    const enum roof_status status =
        regular ? read_header(r, index, file, name, (uint64_t)info.st_size)
                : roof_error_at(r->error, ROOF_IO, path, 0, 0, "not a regular file");
    close(file);
    return status;
}

/* --- an index ------------------------------------------------------------------------------ */

static int by_tensor(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->tensor, ((const struct entry *)b)->tensor);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Reads the entries of an index, which the caller frees. */
static enum roof_status read_map(struct roof_safetensors *r, struct index *out,
                                 const roof_json_value *map)
{
    const size_t count = roof_json_count(map);
    if (!roof_json_is_object(map) || count == 0) {
        return BAD(r, "an index must have a weight_map that names the file of each tensor");
    }
    out->entry = calloc(count, sizeof *out->entry);
    if (out->entry == NULL) {
        return roof_no_memory(r->error);
    }
    for (const roof_json_value *item = roof_json_first(map); item != NULL;
         item = roof_json_next(item)) {
        struct entry *const entry = &out->entry[out->count++];
        entry->tensor = roof_json_key(item);
        entry->file = roof_json_line(item);
        const char *const file = entry->file;
        if (file == NULL || *file == '\0' || strchr(file, '/') != NULL ||
            strlen(file) > FILE_NAME_MAX || strcmp(file, ".") == 0 || strcmp(file, "..") == 0) {
            return BAD(r,
                       "weight_map: %.200s must name a file in the folder of the index, without "
                       "'/', of 1 to %d bytes",
                       entry->tensor, FILE_NAME_MAX);
        }
    }
    qsort(out->entry, out->count, sizeof *out->entry, by_tensor);
    return ROOF_OK;
}

/* Lists each file of the index once, sorted; the caller frees *out. */
static enum roof_status list_files(struct roof_safetensors *r, const struct index *index,
                                   const char ***out, size_t *count)
{
    const char **const files = malloc((index->count + 1) * sizeof *files);
    *out = files;
    *count = 0;
    if (files == NULL) {
        return roof_no_memory(r->error);
    }
    for (size_t i = 0; i < index->count; i++) {
        files[i] = index->entry[i].file;
    }
    qsort(files, index->count, sizeof *files, by_text);
    for (size_t i = 0; i < index->count; i++) {
        if (*count == 0 || strcmp(files[*count - 1], files[i]) != 0) {
            files[(*count)++] = files[i];
        }
    }
    return *count <= FILES_MAX
               ? ROOF_OK
               : BAD(r, "the index names %zu files; at most %d are read", *count, FILES_MAX);
}

/* Visits the files that an index names: opens each, or reads it. */
static enum roof_status visit_files(struct roof_safetensors *r, const struct index *index,
                                    char *path, size_t folder, const char *const *files,
                                    size_t count, bool reads)
{
    static const char named[] = " a file that the index names";
    for (size_t i = 0; i < count; i++) {
        int file = -1;
        snprintf(path + folder, FILE_NAME_MAX + 1, "%s", files[i]);
        if (reads) {
            TRY(read_file(r, index, path, files[i], named));
        } else {
            TRY(open_file(r, &file, path, named));
            close(file);
        }
    }
    return ROOF_OK;
}

/* Reads the files that an index names; that one is missing comes before all that they say. */
static enum roof_status read_files(struct roof_safetensors *r, const struct index *index,
                                   const char *path, const char *const *files, size_t count)
{
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *const file = malloc(folder + FILE_NAME_MAX + 1);
    if (file == NULL) {
        return roof_no_memory(r->error);
    }
    memcpy(file, path, folder);
    enum roof_status status = visit_files(r, index, file, folder, files, count, false);
    if (status == ROOF_OK) {
        status = visit_files(r, index, file, folder, files, count, true);
    }
    free(file);
    r->path = path;
    return status;
}

/* Reads the files that the index names; the caller frees its entries and *files. */
static enum roof_status read_entries(struct roof_safetensors *r, struct index *index,
                                     const char ***files, const char *path,
                                     const struct roof_json *json)
{
    size_t count = 0;
    TRY(read_map(r, index, roof_json_get(roof_json_root(json), "weight_map")));
    TRY(list_files(r, index, files, &count));
    TRY(read_files(r, index, path, *files, count));
    for (size_t i = 0; i < index->count; i++) {
        if (!index->entry[i].seen) {
            return BAD(r, "%.200s is not in %.255s, where the index says that it is",
                       index->entry[i].tensor, index->entry[i].file);
        }
    }
    return ROOF_OK;
}

static enum roof_status read_index(struct roof_safetensors *r, const char *path)
{
    struct roof_json *json = NULL;
    struct index index = {NULL, 0};
    const char **files = NULL;
    r->path = path;
    TRY(roof_json_read(&json, path, r->error));
    const enum roof_status status = read_entries(r, &index, &files, path, json);
    free(files);
    free(index.entry);
    roof_json_free(json);
    return status;
}

/* --- the model ----------------------------------------------------------------------------- */

/* Expects as many layers for multi-token prediction as config.json says, in itself or in the object
 * of its language model. Models of some types have one and need not say so. */
static void expect_extra_layers(struct roof_safetensors *r)
{
    static const char *const types[] = {"deepseek_v3", "deepseek_v32", "glm4_moe"};
    const roof_json_value *const root = roof_json_root(roof_model_json(r->model));
    const roof_json_value *given = NULL;
    for (const roof_json_value *object = root; object != NULL;
         object = object == root ? roof_json_first(root) : roof_json_next(object)) {
        const roof_json_value *const count = roof_json_get(object, "num_nextn_predict_layers");
        const char *const type = roof_json_string(roof_json_get(object, "model_type"));
        given = given == NULL && !roof_json_is_null(count) ? count : given;
        for (size_t i = 0; i < COUNT(types); i++) {
            if (type != NULL && strcmp(type, types[i]) == 0) {
                r->extra_layers = 1;
            }
        }
    }
    r->extra_assumed = given == NULL;
    if (given != NULL) {
        r->extra_layers = 0;
        (void)read_integer(&r->extra_layers, given);
    }
}

static enum roof_status read_weights(struct roof_safetensors *r, const char *path)
{
    const size_t length = strlen(path);
    expect_extra_layers(r);
    r->mixed = roof_safetensors_is_mixed(r->model);
    roof_model_spread(r->layer, r->model);
    memset(r->model->format, ROOF_PRECISION_AUTO, sizeof r->model->format);
    roof_layers_clear(r->layer, ROOF_LAYERS_MAX);
    if (length >= 5 && strcmp(path + length - 5, ".json") == 0) {
        TRY(read_index(r, path));
    } else {
        TRY(read_file(r, NULL, path, path, ""));
    }
    return roof_safetensors_finish(r);
}

enum roof_status roof_safetensors_read(struct roof_model *model, const char *path,
                                       struct roof_error *error)
{
    struct roof_safetensors *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        return roof_no_memory(error);
    }
    r->model = model;
    r->error = error;
    const enum roof_status status = read_weights(r, path);
    roof_safetensors_release(r);
    free(r);
    return status;
}
