// SPDX-License-Identifier: MIT
/* Safetensors files of tests: headers, with a hole where the weights would be. */
#ifndef ROOF_TESTS_SAFETENSORS_FILE_H
#define ROOF_TESTS_SAFETENSORS_FILE_H

#include "files.h"
#include "models.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/model_make.h"
#include "model/safetensors.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A safetensors file in the making, and the lines of an index. */
struct builder {
    struct roof_text header;
    uint64_t data;
    const char *prefix;
};

static inline int bits_of(const char *dtype)
{
    static const struct {
        const char *name;
        int bits;
    } dtypes[] = {{"F32", 32}, {"F16", 16}, {"BF16", 16}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
                  {"I8", 8},   {"U8", 8},   {"I32", 32},  {"I64", 64},    {"BOOL", 8}};
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        if (strcmp(dtype, dtypes[i].name) == 0) {
            return dtypes[i].bits;
        }
    }
    return 8;
}

/* Sizes from the first that is 0 on are not there. */
static inline void tensor4(struct builder *b, const char *name, const char *dtype,
                           const int size[4])
{
    uint64_t bytes = (uint64_t)bits_of(dtype) / 8;
    roof_text_printf(&b->header, "%s\"%s%s\": {\"dtype\": \"%s\", \"shape\": [",
                     b->header.length == 0 ? "{" : ",\n", b->prefix == NULL ? "" : b->prefix, name,
                     dtype);
    for (int i = 0; i < 4 && size[i] > 0; i++) {
        roof_text_printf(&b->header, "%s%d", i == 0 ? "" : ", ", size[i]);
        bytes *= (uint64_t)size[i];
    }
    roof_text_printf(&b->header, "], \"data_offsets\": [%" PRIu64 ", %" PRIu64 "]}", b->data,
                     b->data + bytes);
    b->data += bytes;
}

static inline void tensor(struct builder *b, const char *name, const char *dtype, int rows,
                          int columns)
{
    const int size[4] = {rows, columns, 0, 0};
    tensor4(b, name, dtype, size);
}

static inline void in_layer(struct builder *b, int layer, const char *name, const char *dtype,
                            int rows, int columns)
{
    char full[128];
    snprintf(full, sizeof full, "layers.%d.%s", layer, name);
    tensor(b, full, dtype, rows, columns);
}

/* A tensor of a table. */
struct row {
    const char *name;
    const char *dtype;
    int size[3]; /* those that are 0 are not there */
};

static inline void put_row(struct builder *b, const struct row *row)
{
    const int size[4] = {row->size[0], row->size[1], row->size[2], 0};
    tensor4(b, row->name, row->dtype, size);
}

static inline void put_rows(struct builder *b, const char *prefix, const struct row *rows,
                            size_t count)
{
    b->prefix = prefix;
    for (size_t i = 0; i < count; i++) {
        put_row(b, &rows[i]);
    }
    b->prefix = "";
}

#define PUT(builder, prefix, rows) put_rows(builder, prefix, rows, COUNT(rows))

/* The header, then a hole where the weights would be. */
static inline void write_header(const char *path, const char *header, size_t length, uint64_t data)
{
    struct roof_text out = ROOF_TEXT_INIT;
    for (int i = 0; i < 8; i++) {
        const char byte = (char)(unsigned char)((uint64_t)length >> (8 * i));
        roof_text_add(&out, &byte, 1);
    }
    roof_text_add(&out, header, length);
    assert_false(out.failed);
    write_bytes(path, out.data, out.length);
    assert_int_equal(truncate(path, (off_t)(out.length + data)), 0);
    roof_text_free(&out);
}

/* The metadata stands first, as in every published file. */
static inline void write_file(struct builder *b, const char *path)
{
    struct roof_text whole = ROOF_TEXT_INIT;
    roof_text_put(&whole, "{\"__metadata__\": {\"format\": \"pt\"}");
    if (b->header.length > 0) {
        roof_text_put(&whole, ", ");
        roof_text_put(&whole, b->header.data + 1);
    }
    roof_text_put(&whole, "}  ");
    assert_false(b->header.failed || whole.failed);
    write_header(path, whole.data, whole.length, b->data);
    roof_text_free(&whole);
    roof_text_free(&b->header);
}

/* Adds a tensor, and the file that has it, to the map of an index. */
static inline void put_line(struct roof_text *map, const char *prefix, const char *name,
                            const char *file)
{
    roof_text_printf(map, "%s\"%s%s\": \"%s\"", map->length == 0 ? "" : ",\n", prefix, name, file);
}

/* Writes an index, and releases its map. */
static inline void write_index(const char *path, struct roof_text *map)
{
    struct roof_text out = ROOF_TEXT_INIT;
    roof_text_printf(&out, "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {%s}}\n",
                     map->data == NULL ? "" : map->data);
    assert_false(map->failed || out.failed);
    write_bytes(path, out.data, out.length);
    roof_text_free(&out);
    roof_text_free(map);
}

static inline struct roof_model *read_model(const char *config, const char *path)
{
    struct roof_model *const model = parse(config);
    struct roof_error error = {0};
    if (roof_safetensors_read(model, path, &error) != ROOF_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return model;
}

static inline void expect_bad(const char *config, const char *path, enum roof_status expected,
                              const char *reason)
{
    struct roof_model *const model = parse(config);
    struct roof_error error = {0};
    const enum roof_status status = roof_safetensors_read(model, path, &error);
    roof_model_free(model);
    if (status != expected || error.status != expected || error.source[0] == '\0' ||
        strstr(error.message, reason) == NULL || strchr(error.message, '\n') != NULL) {
        fail_msg("status %d '%s', expected %d '%s'", (int)status, error.message, (int)expected,
                 reason);
    }
}

/* Writes, reads, removes, releases. */
static inline struct roof_model *build(struct builder *b, const char *config, void **state)
{
    char path[PATH_SIZE];
    write_file(b, path_in(path, state, "model.safetensors"));
    struct roof_model *const model = read_model(config, path);
    assert_int_equal(unlink(path), 0);
    return model;
}

static inline void build_bad(struct builder *b, const char *config, void **state,
                             const char *reason)
{
    char path[PATH_SIZE];
    write_file(b, path_in(path, state, "bad.safetensors"));
    expect_bad(config, path, ROOF_INVALID, reason);
    assert_int_equal(unlink(path), 0);
}

static inline bool has_remark(const struct roof_model *model, const char *part)
{
    for (const char *const *remark = model->remarks; *remark != NULL; remark++) {
        if (strstr(*remark, part) != NULL) {
            return true;
        }
    }
    return false;
}

static const struct roof_layer *layer(const struct roof_model *model, int number)
{
    return &model->layer[model->layer_class[number]];
}

#define FORMAT(model, number, weight) layer(model, number)->format[ROOF_WEIGHT_##weight]

#endif
