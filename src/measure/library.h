// SPDX-License-Identifier: MIT
/* Opens the libraries of drivers at run time and finds their functions, so that none of them is
 * needed to build or to start the program. */
#ifndef ROOF_MEASURE_LIBRARY_H
#define ROOF_MEASURE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A function of a library, and where its pointer goes in a struct of pointers to functions. */
struct roof_symbol {
    const char *name;
    size_t offset;
    bool optional; /* the pointer stays NULL where the library lacks it */
};

/* The row of a function that has the name of its member. */
#define ROOF_SYMBOL(table_, name_)                                                                 \
    {                                                                                              \
        .name = #name_, .offset = offsetof(struct table_, name_)                                   \
    }
#define ROOF_OPTIONAL(table_, name_)                                                               \
    {                                                                                              \
        .name = #name_, .offset = offsetof(struct table_, name_), .optional = true                 \
    }

/* The row of a function whose member has a name of its own. */
#define ROOF_NAMED(table_, member_, name_)                                                         \
    {                                                                                              \
        .name = #name_, .offset = offsetof(struct table_, member_)                                 \
    }
#define ROOF_NAMED_OPTIONAL(table_, member_, name_)                                                \
    {                                                                                              \
        .name = #name_, .offset = offsetof(struct table_, member_), .optional = true               \
    }

/* A library that is open; zeroed, it is closed. */
struct roof_library {
    void *handle;
    const char *name; /* the one of its names under which it was found */
};

/* Opens the first library that is found among `names`, which ends with NULL. ROOF_IO names the
 * first one and `comes_with`, the product that brings it. */
enum roof_status roof_library_open(struct roof_library *out, const char *const *names,
                                   const char *comes_with, struct roof_error *error);

/* Fills in the pointers of `functions`, a struct of pointers to functions. ROOF_IO names the first
 * function that the library lacks. */
enum roof_status roof_library_find(const struct roof_library *library, void *functions,
                                   const struct roof_symbol *symbols, size_t count,
                                   struct roof_error *error);

/* Returns the name of the function at an offset in a struct of pointers; "" if there is none. */
const char *roof_symbol_name(const struct roof_symbol *symbols, size_t count, size_t offset);

/* Closes a library; does nothing to one that is closed. */
void roof_library_close(struct roof_library *library);

#endif
