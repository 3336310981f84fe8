// SPDX-License-Identifier: MIT
/* Lists such as "a,b,c": cuts them into their items, and joins items in a sentence. */
#ifndef ROOF_BASE_LIST_H
#define ROOF_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* One item; text points into the list and is not terminated at length. */
struct roof_list_item {
    const char *text;
    size_t length;
};

/*
 * Cuts the next item off a list and moves *rest past it; false if none is left. Start with the list
 * itself, which NULL makes one without items:
 *
 *     for (const char *rest = list; roof_list_next(&item, &rest);) { ... }
 *
 * Items may be empty: "" has one such item, and "a," has "a" and an empty one. The commas of an
 * item that is a JSON object, {"id": "a", "links": 4}, are its own.
 */
bool roof_list_next(struct roof_list_item *item, const char **rest);

/* Reads the value of the name with this number. */
typedef enum roof_status roof_list_take(void *context, size_t name, const char *value,
                                        struct roof_error *error);

/* Reads a list of name=value, such as "tp=4,pp=2", with at most 64 names. Other names and
 * duplicates are ROOF_USAGE; messages begin with the marked key of the list. */
enum roof_status roof_list_pairs(const char *list, const char *key, const char *const *names,
                                 size_t count, roof_list_take *take, void *context,
                                 struct roof_error *error);

/* Copies an item, terminated; false, and out is "", when it has size bytes or more. */
bool roof_list_item_copy(char *out, size_t size, const struct roof_list_item *item);

/* Returns what stands before item `i` of `count` in a sentence: "A, B and C". */
const char *roof_list_separator(size_t i, size_t count);

#endif
