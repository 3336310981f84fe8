// SPDX-License-Identifier: MIT
/* Arrays that grow. */
#ifndef ROOF_BASE_GROW_H
#define ROOF_BASE_GROW_H

#include <stddef.h>

/* Makes an array of *capacity elements twice as long, or as long as first if it has none yet. The
 * caller owns what is returned in place of the array; NULL without memory, and the array and
 * *capacity are as they were. */
void *roof_grow(void *array, size_t *capacity, size_t first, size_t element_size);

#endif
