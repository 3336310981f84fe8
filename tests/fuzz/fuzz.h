// SPDX-License-Identifier: MIT
/*
 * All fuzz targets include this. A target is a file tests/fuzz/NAME.c with LLVMFuzzerTestOneInput;
 * its inputs are the files of tests/fuzz/corpus/NAME. Its dictionary is the string literals of
 * files that its comment names: "Words: FILE..." as they are, "Keys: FILE..." in quotes, as JSON
 * has them, "Arguments: FILE..." with their ends, also as options. "Bytes: N" says how long inputs
 * may be.
 */
#ifndef ROOF_FUZZ_H
#define ROOF_FUZZ_H

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../library.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition, "does not hold"))

static inline void fuzz_fail(const char *file, int line, const char *what, const char *why)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, why);
    abort();
}

/* A copy with a NUL behind it, so that what reads farther is noticed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static inline void fuzz_one_line(const char *text)
{
    for (; *text != '\0'; text++) {
        CHECK((unsigned char)*text >= 0x20 && *text != 0x7f);
    }
}

/* A failure that the input causes keeps these promises. */
static inline void fuzz_refused(enum roof_status status, const struct roof_error *error)
{
    char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    CHECK(status == ROOF_UNSATISFIED || status == ROOF_USAGE || status == ROOF_INVALID ||
          status == ROOF_IO);
    CHECK(error->status == status);
    CHECK(error->message[0] != '\0');
    CHECK(error->line >= 0 && error->column >= 0);
    fuzz_one_line(roof_error_line(line, sizeof line, error));
}

/* A failure leaves NULL in *out. */
#define FUZZ_EMPTY(status, error, out)                                                             \
    do {                                                                                           \
        if ((status) != ROOF_OK) {                                                                 \
            fuzz_refused(status, error);                                                           \
            CHECK((out) == NULL);                                                                  \
        }                                                                                          \
    } while (0)

/* That a document is JSON; frees it. */
static inline void fuzz_json(struct roof_text *text)
{
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    CHECK(!text->failed);
    if (roof_json_parse(&json, text->data, text->length, "report", &error) != ROOF_OK) {
        fprintf(stderr, "%s\n", text->data);
        fuzz_fail(__FILE__, __LINE__, "a report is JSON", error.message);
    }
    roof_json_free(json);
    roof_text_free(text);
}

/* --- what lives as long as the process ----------------------------------------------------- */

static struct roof_hardware *fuzz_hardware;
static struct roof_model *fuzz_models[4];
static size_t fuzz_model_count;

static inline void fuzz_release(void)
{
    roof_hardware_free(fuzz_hardware);
    for (size_t i = 0; i < fuzz_model_count; i++) {
        roof_model_free(fuzz_models[i]);
    }
}

/* The one device of a target, loaded first. */
static inline struct roof_hardware *fuzz_device(void)
{
    CHECK(atexit(fuzz_release) == 0);
    CHECK(roof_hardware_load(&fuzz_hardware, "h100-sxm", NULL, NULL) == ROOF_OK);
    return fuzz_hardware;
}

static inline const struct roof_model *fuzz_model(const char *config)
{
    struct roof_model **const out = &fuzz_models[fuzz_model_count++];
    CHECK(fuzz_model_count <= sizeof fuzz_models / sizeof *fuzz_models);
    CHECK(fuzz_model_count > 1 || fuzz_hardware != NULL || atexit(fuzz_release) == 0);
    CHECK(roof_model_parse(out, config, strlen(config), "config.json", NULL) == ROOF_OK);
    return *out;
}

/* --- files --------------------------------------------------------------------------------- */

/* A file in $TMPDIR that lives as long as the process, of which only the content changes. */
struct fuzz_file {
    int file;
    char path[512];
};

/* The folder for all of them, which is removed at the end. */
static char fuzz_folder[256];

static inline void fuzz_leave(void)
{
    DIR *const folder = opendir(fuzz_folder);
    for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[sizeof fuzz_folder + sizeof entry->d_name];
        snprintf(path, sizeof path, "%s/%s", fuzz_folder, entry->d_name);
        (void)unlink(path); /* a folder is none */
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(fuzz_folder);
}

static inline void fuzz_open(struct fuzz_file *out, const char *name)
{
    if (fuzz_folder[0] == '\0') {
        const char *const tmpdir = getenv("TMPDIR");
        snprintf(fuzz_folder, sizeof fuzz_folder, "%s/roofline-fuzz-XXXXXX",
                 tmpdir == NULL ? "/tmp" : tmpdir);
        CHECK(mkdtemp(fuzz_folder) != NULL);
        CHECK(atexit(fuzz_leave) == 0);
    }
    snprintf(out->path, sizeof out->path, "%s/%s", fuzz_folder, name);
    out->file = open(out->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(out->file >= 0);
}

/* Fills the file; behind the bytes is a hole, for formats whose headers promise weights. */
static inline void fuzz_fill(const struct fuzz_file *file, const void *bytes, size_t size,
                             uint64_t hole)
{
    CHECK(ftruncate(file->file, 0) == 0);
    CHECK(size == 0 || pwrite(file->file, bytes, size, 0) == (ssize_t)size);
    CHECK(hole == 0 || ftruncate(file->file, (off_t)(size + hole)) == 0);
}

#endif
