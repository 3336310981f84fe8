// SPDX-License-Identifier: MIT
/* A planted file system: files below a root that is there for one test. A file that includes this
 * one defines _GNU_SOURCE first. */
#ifndef ROOF_TESTS_TREE_H
#define ROOF_TESTS_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support.h"

/* Writes a file, with its folders. Its path starts with a slash, below the root. */
static inline void plant(const char *root, const char *path, const char *text)
{
    char whole[512];
    const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    assert_in_range(length, 1, sizeof whole - 1);
    for (char *at = whole + strlen(root); (at = strchr(at + 1, '/')) != NULL; *at = '/') {
        *at = '\0';
        (void)mkdir(whole, 0700);
    }
    FILE *const file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline int uproot_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

/* Removes the root and all below it. */
static inline int uproot(const char *root)
{
    return nftw(root, uproot_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
