// SPDX-License-Identifier: MIT
/* Arrays that grow. */
#ifndef ROOF_BASE_GROW_H
#define ROOF_BASE_GROW_H

#include <stddef.h>

/* Doubles an array of *capacity elements, or makes its first ones. The result replaces the array,
 * and the caller owns it. It is NULL without memory; then the array and *capacity are unchanged. */
void *roof_grow(void *array, size_t *capacity, size_t first, size_t element_size);

#endif
