// SPDX-License-Identifier: MIT
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>

void *roof_grow(void *array, size_t *capacity, size_t first, size_t element_size)
{
    const size_t wanted = *capacity == 0 ? first : 2 * *capacity;
    if (*capacity > SIZE_MAX / 2 || wanted > SIZE_MAX / element_size) {
        return NULL;
    }
    void *const grown = realloc(array, wanted * element_size);
    if (grown != NULL) {
        *capacity = wanted;
    }
    return grown;
}
