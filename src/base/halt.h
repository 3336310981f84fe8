// SPDX-License-Identifier: MIT
/* Lets the caller of long work end it early. */
#ifndef ROOF_BASE_HALT_H
#define ROOF_BASE_HALT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Is asked between the parts of long work; zeroed, it never ends it. */
struct roof_halt {
    bool (*asked)(void *context); /* NULL: nobody asks */
    void *context;
};

/* ROOF_IO where the work is to end. */
static inline enum roof_status roof_halt_check(const struct roof_halt *halt,
                                               struct roof_error *error)
{
    return halt->asked != NULL && halt->asked(halt->context)
               ? roof_error_set(error, ROOF_IO, "interrupted")
               : ROOF_OK;
}

#endif
