// SPDX-License-Identifier: MIT
/* Files of tests, in a folder that is there for one test. */
#ifndef ROOF_TESTS_FILES_H
#define ROOF_TESTS_FILES_H

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 512

/* For set-up: a new folder, whose path is the state. */
static inline int make_folder(void **state)
{
    static char folder[PATH_SIZE / 2];
    const char *const base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/roofline-XXXXXX", base == NULL ? "/tmp" : base);
    *state = folder;
    return mkdtemp(folder) == NULL;
}

/* For tear-down: fails where a file is left. */
static inline int remove_folder(void **state)
{
    return rmdir(*state);
}

/* The path of a file in the folder. */
static inline const char *path_in(char out[PATH_SIZE], void **state, const char *name)
{
    snprintf(out, PATH_SIZE, "%s/%s", (const char *)*state, name);
    return out;
}

/* Makes a folder with folders in it; each follows the one that it lies in. */
static inline int make_folders(void **state, const char *const *names, size_t count)
{
    char path[PATH_SIZE];
    int status = make_folder(state);
    for (size_t i = 0; i < count && status == 0; i++) {
        status = mkdir(path_in(path, state, names[i]), 0700);
    }
    return status;
}

static inline int remove_folders(void **state, const char *const *names, size_t count)
{
    char path[PATH_SIZE];
    int status = 0;
    while (count-- > 0) {
        status |= rmdir(path_in(path, state, names[count]));
    }
    return status | remove_folder(state);
}

/* Fails where one of them is not there. */
static inline int remove_files(void **state, const char *const *names, size_t count)
{
    char path[PATH_SIZE];
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        status |= unlink(path_in(path, state, names[i]));
    }
    return status;
}

static inline void write_bytes(const char *path, const char *bytes, size_t count)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static inline void write_in(void **state, const char *name, const char *text)
{
    char path[PATH_SIZE];
    write_text(path_in(path, state, name), text);
}

#endif
