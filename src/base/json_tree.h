// SPDX-License-Identifier: MIT
/* The trees of the files of data/ and docs/schema, for json.c. Most answers begin with such a file.
 * The texts are known to be well-formed, and few have escapes or long numbers, so a tree takes a
 * fifth of the instructions of cJSON, and fewer pages of memory. */
#ifndef ROOF_BASE_JSON_TREE_H
#define ROOF_BASE_JSON_TREE_H

#include "base/json.h"

struct roof_json_tree {
    struct cJSON *root; /* as cJSON has it, but without `prev` */
    char *strings;
    struct roof_json_nodes *nodes;
};

/* Builds the tree of a terminated text of length bytes, which must be well-formed, without the
 * items that a filter does not want (NULL: all are wanted). The caller owns what is in *out, also
 * after a failure. ROOF_INVALID: the text has an escape, or a number with more digits than are read
 * here. */
enum roof_status roof_json_tree_build(struct roof_json_tree *out, const char *text, size_t length,
                                      const struct roof_json_filter *filter);
void roof_json_tree_free(struct roof_json_tree *tree);

#endif
