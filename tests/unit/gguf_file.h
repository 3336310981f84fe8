// SPDX-License-Identifier: MIT
/* GGUF files of tests: metadata and tensors, with a hole where the weights would be. */
#ifndef ROOF_TESTS_GGUF_FILE_H
#define ROOF_TESTS_GGUF_FILE_H

#include "files.h"

#include "model/gguf.h"
#include "model/model_make.h"

/* A GGUF file in the making. */
struct builder {
    struct roof_text meta;
    struct roof_text infos;
    uint64_t entries;
    uint64_t tensors;
    uint64_t data;
    uint64_t header; /* bytes of the header, once it is written */
    uint32_t version;
};

static inline void put(struct roof_text *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const char byte = (char)(unsigned char)(value >> (8 * i));
        roof_text_add(out, &byte, 1);
    }
}

static inline void put_string(struct roof_text *out, const char *text)
{
    put(out, strlen(text), 8);
    roof_text_put(out, text);
}

static inline void entry(struct builder *b, const char *key, uint32_t type)
{
    put_string(&b->meta, key);
    put(&b->meta, type, 4);
    b->entries++;
}

static inline void number(struct builder *b, const char *key, uint64_t value)
{
    entry(b, key, 4);
    put(&b->meta, value, 4);
}

static inline void text(struct builder *b, const char *key, const char *value)
{
    entry(b, key, 8);
    put_string(&b->meta, value);
}

static inline void list(struct builder *b, const char *key, const int *values, size_t count)
{
    entry(b, key, 9);
    put(&b->meta, 5, 4);
    put(&b->meta, count, 8);
    for (size_t i = 0; i < count; i++) {
        put(&b->meta, (uint64_t)(int64_t)values[i], 4);
    }
}

enum { F32 = 0, F16 = 1, Q8_0 = 8, Q4_K = 12, Q6_K = 14, IQ2_XXS = 16, I32 = 26, MXFP4 = 39 };

static const struct {
    int elements;
    int bytes;
} blocks[] = {[F32] = {1, 4},      [F16] = {1, 2},        [Q8_0] = {32, 34}, [Q4_K] = {256, 144},
              [Q6_K] = {256, 210}, [IQ2_XXS] = {256, 66}, [I32] = {1, 4},    [MXFP4] = {32, 17}};

/* Sizes that are 0 are not there. */
static inline void tensor(struct builder *b, const char *name, int type, int columns, int rows,
                          int stack)
{
    const int size[] = {columns, rows, stack};
    put_string(&b->infos, name);
    put(&b->infos, stack > 0 ? 3 : rows > 0 ? 2 : 1, 4);
    uint64_t elements = 1;
    for (int i = 0; i < 3 && size[i] > 0; i++) {
        put(&b->infos, (uint64_t)size[i], 8);
        elements *= (uint64_t)size[i];
    }
    put(&b->infos, (uint64_t)type, 4);
    put(&b->infos, b->data, 8);
    b->data += elements / (uint64_t)blocks[type].elements * (uint64_t)blocks[type].bytes;
    b->data = (b->data + 31) / 32 * 32;
    b->tensors++;
}

static inline void in_block(struct builder *b, int block, const char *name, int type, int columns,
                            int rows, int stack)
{
    char full[64];
    snprintf(full, sizeof full, "blk.%d.%s", block, name);
    tensor(b, full, type, columns, rows, stack);
}

/* The header, then a hole where the weights would be. */
static inline void write_file(struct builder *b, const char *path)
{
    struct roof_text out = ROOF_TEXT_INIT;
    roof_text_put(&out, "GGUF");
    put(&out, b->version == 0 ? 3 : b->version, 4);
    put(&out, b->tensors, 8);
    put(&out, b->entries, 8);
    roof_text_add(&out, b->meta.data, b->meta.length);
    roof_text_add(&out, b->tensors == 0 ? "" : b->infos.data, b->infos.length);
    assert_false(out.failed || b->meta.failed || b->infos.failed);
    b->header = out.length;
    write_bytes(path, out.data, out.length);
    const uint64_t begin = (out.length + 31) / 32 * 32;
    assert_int_equal(truncate(path, (off_t)(begin + b->data)), 0);
    roof_text_free(&out);
}

static inline void free_builder(struct builder *b)
{
    roof_text_free(&b->meta);
    roof_text_free(&b->infos);
}

static inline struct roof_model *read_model(const char *path)
{
    struct roof_model *const model = roof_model_new();
    struct roof_error error = {0};
    assert_non_null(model);
    if (roof_gguf_read(model, path, &error) != ROOF_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return model;
}

static inline void expect_bad(const char *path, enum roof_status expected, const char *reason)
{
    struct roof_model *const model = roof_model_new();
    struct roof_error error = {0};
    assert_non_null(model);
    const enum roof_status status = roof_gguf_read(model, path, &error);
    roof_model_free(model);
    if (status != expected || error.status != expected || error.source[0] == '\0' ||
        error.line != 0 || strstr(error.message, reason) == NULL ||
        strchr(error.message, '\n') != NULL) {
        fail_msg("status %d '%s', expected %d '%s'", (int)status, error.message, (int)expected,
                 reason);
    }
}

/* Writes, reads, removes, releases. */
static inline struct roof_model *build(struct builder *b, void **state)
{
    char path[PATH_SIZE];
    write_file(b, path_in(path, state, "model.gguf"));
    struct roof_model *const model = read_model(path);
    assert_int_equal(unlink(path), 0);
    free_builder(b);
    return model;
}

static inline void build_bad(struct builder *b, void **state, const char *reason)
{
    char path[PATH_SIZE];
    write_file(b, path_in(path, state, "bad.gguf"));
    expect_bad(path, ROOF_INVALID, reason);
    assert_int_equal(unlink(path), 0);
    free_builder(b);
}

static inline bool has_note(const struct roof_model *model, const char *part)
{
    for (const char *const *note = model->remarks; *note != NULL; note++) {
        if (strstr(*note, part) != NULL) {
            return true;
        }
    }
    return false;
}

#endif
