// SPDX-License-Identifier: MIT
/*
 * The files of a GGUF model (ggml-org/ggml docs/gguf.md). A file begins with metadata, then the
 * name, shape, type and place of each tensor; a model may be split into several files.
 */
#include "model/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/gguf_model.h"

/* Far more than real files have: a header that claims more is refused. */
#define ENTRIES_MAX 100000
#define PARTS_MAX 4096

#define BAD ROOF_GGUF_BAD

/* --- one file ------------------------------------------------------------------------------ */

static enum roof_status take_version(struct roof_gguf_stream *in)
{
    unsigned char magic[4] = {0};
    uint64_t version = 0;
    if (in->size >= sizeof magic) {
        TRY(roof_gguf_take(in, magic, sizeof magic));
    }
    if (memcmp(magic, "FUGG", 4) == 0) {
        return BAD(in, "a big-endian GGUF file; only little-endian files are supported");
    }
    if (memcmp(magic, "GGUF", 4) != 0) {
        return BAD(in, "not a GGUF file: it does not begin with GGUF");
    }
    TRY(roof_gguf_take_number(in, &version, 4));
    if (version != 0 && (version & 0xffffff) == 0) {
        return BAD(in, "a big-endian GGUF file; only little-endian files are supported");
    }
    if (version != 2 && version != 3) {
        return BAD(in, "GGUF version %" PRIu64 "; versions 2 and 3 are read", version);
    }
    return ROOF_OK;
}

static enum roof_status take_counts(struct roof_gguf_stream *in, uint64_t *tensors,
                                    uint64_t *entries)
{
    TRY(roof_gguf_take_number(in, tensors, 8));
    TRY(roof_gguf_take_number(in, entries, 8));
    if (*tensors > ROOF_GGUF_TENSORS_MAX || *entries > ENTRIES_MAX) {
        return BAD(in,
                   "the header claims %" PRIu64 " tensors and %" PRIu64
                   " metadata entries; at most %d and %d are read",
                   *tensors, *entries, ROOF_GGUF_TENSORS_MAX, ENTRIES_MAX);
    }
    return ROOF_OK;
}

/* Reads everything before the tensors; *metadata must be all 0. */
static enum roof_status take_head(struct roof_gguf_stream *in, uint64_t *tensors,
                                  struct roof_gguf_metadata *metadata)
{
    uint64_t entries = 0;
    TRY(take_version(in));
    TRY(take_counts(in, tensors, &entries));
    return roof_gguf_take_metadata(in, metadata, entries);
}

/* Reads the file that has the metadata: the first, in a model of several files. */
static enum roof_status take_first(struct roof_gguf *g)
{
    TRY(take_head(&g->stream, &g->tensors, &g->metadata));
    if (g->metadata.part > 0) {
        return BAD(&g->stream,
                   "part %" PRId64 " of a model in %" PRId64
                   " files; name the first, which has the metadata",
                   g->metadata.part + 1, g->metadata.parts);
    }
    TRY(roof_gguf_begin_model(g));
    return roof_gguf_take_tensors(g, g->tensors, g->metadata.alignment);
}

static enum roof_status read_first(struct roof_gguf *g, const char *path, struct roof_error *error)
{
    enum roof_status status = roof_gguf_open(&g->stream, path, "", error);
    if (status == ROOF_OK) {
        status = take_first(g);
    }
    roof_gguf_close(&g->stream);
    return status;
}

/* --- the other files ----------------------------------------------------------------------- */

static enum roof_status take_sibling(struct roof_gguf *g, int64_t part)
{
    struct roof_gguf_stream *const in = &g->stream;
    struct roof_gguf_metadata metadata;
    memset(&metadata, 0, sizeof metadata);
    uint64_t tensors = 0;
    TRY(take_head(in, &tensors, &metadata));
    g->tensors += tensors;
    if (g->tensors > ROOF_GGUF_TENSORS_MAX) {
        return BAD(in, "the files have more than %d tensors together", ROOF_GGUF_TENSORS_MAX);
    }
    if (metadata.part != part || metadata.parts != g->metadata.parts) {
        return BAD(
            in, "it says to be part %" PRId64 " of %" PRId64 ", not part %" PRId64 " of %" PRId64,
            metadata.part + 1, metadata.parts, part + 1, g->metadata.parts);
    }
    return roof_gguf_take_tensors(g, tensors, metadata.alignment);
}

static enum roof_status read_sibling(struct roof_gguf *g, const char *path, int64_t part,
                                     struct roof_error *error)
{
    char description[64];
    snprintf(description, sizeof description, " part %" PRId64 " of the model's %" PRId64 " files",
             part + 1, g->metadata.parts);
    enum roof_status status = roof_gguf_open(&g->stream, path, description, error);
    if (status == ROOF_OK) {
        status = take_sibling(g, part);
    }
    roof_gguf_close(&g->stream);
    return status;
}

/* Returns the number of bytes of path before "-00001-of-0000N.gguf". */
static enum roof_status find_stem(size_t *out, const char *path, int64_t parts,
                                  struct roof_error *error)
{
    char ending[64];
    const int tail = snprintf(ending, sizeof ending, "-00001-of-%05" PRId64 ".gguf", parts);
    const size_t length = strlen(path);
    const size_t stem = length > (size_t)tail ? length - (size_t)tail : 0;
    if (parts > PARTS_MAX) {
        return roof_error_at(error, ROOF_INVALID, path, 0, 0,
                             "a model in %" PRId64 " files; at most %d are read", parts, PARTS_MAX);
    }
    if (stem == 0 || strcmp(path + stem, ending) != 0) {
        return roof_error_at(error, ROOF_INVALID, path, 0, 0,
                             "the first of %" PRId64
                             " files of a model; its name must end with %s, so that the others "
                             "are found",
                             parts, ending);
    }
    *out = stem;
    return ROOF_OK;
}

static enum roof_status read_siblings(struct roof_gguf *g, const char *path, size_t stem,
                                      struct roof_error *error)
{
    const int64_t parts = g->metadata.parts;
    const size_t size = stem + 64;
    char *const sibling = malloc(size);
    if (sibling == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = ROOF_OK;
    for (int64_t part = 1; part < parts && status == ROOF_OK; part++) {
        snprintf(sibling, size, "%.*s-%05" PRId64 "-of-%05" PRId64 ".gguf", (int)stem, path,
                 part + 1, parts);
        status = read_sibling(g, sibling, part, error);
    }
    g->stream.path = path;
    free(sibling);
    return status;
}

/* Reads NAME-00002-of-0000N.gguf and all that follow, if the first file has their number. */
static enum roof_status read_others(struct roof_gguf *g, const char *path, struct roof_error *error)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    size_t stem = 0;
    if (m->parts < 2) {
        return ROOF_OK;
    }
    TRY(find_stem(&stem, path, m->parts, error));
    TRY(read_siblings(g, path, stem, error));
    if (m->part_tensors > 0 && (uint64_t)m->part_tensors != g->tensors) {
        return BAD(&g->stream,
                   "the files have %" PRIu64 " tensors together, not the %" PRId64
                   " of the metadata",
                   g->tensors, m->part_tensors);
    }
    return ROOF_OK;
}

/* --- the model ----------------------------------------------------------------------------- */

static enum roof_status read_files(struct roof_gguf *g, const char *path, struct roof_error *error)
{
    TRY(read_first(g, path, error));
    TRY(read_others(g, path, error));
    return roof_gguf_finish_model(g, path, error);
}

enum roof_status roof_gguf_read(struct roof_model *out, const char *path, struct roof_error *error)
{
    struct roof_gguf *const g = calloc(1, sizeof *g);
    if (g == NULL) {
        return roof_no_memory(error);
    }
    g->model = out;
    const enum roof_status status = read_files(g, path, error);
    free(g);
    return status;
}
