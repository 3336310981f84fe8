// SPDX-License-Identifier: MIT
/* The few lines that every file of the library may use. */
#ifndef ROOF_BASE_BASE_H
#define ROOF_BASE_BASE_H

#include <stdint.h>

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

/* Returns the quotient of two numbers, which are not negative, rounded up. */
static inline int64_t roof_divide_up(int64_t value, int64_t parts)
{
    return value / parts + (value % parts != 0);
}

#endif
