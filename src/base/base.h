// SPDX-License-Identifier: MIT
/* The few lines that every file of the library may use. */
#ifndef ROOF_BASE_BASE_H
#define ROOF_BASE_BASE_H

#include "base/error.h"

/* Returns from a function that owns nothing with the status of a call that failed. A function that
 * owns something calls one that does the work, then releases, then returns its status. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const enum roof_status try_status = (call);                                                \
        if (try_status != ROOF_OK) {                                                               \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* The number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
