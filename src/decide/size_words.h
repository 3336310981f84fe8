// SPDX-License-Identifier: MIT
/* Sizes that stand as words after an operator ("gemm 8 4096 4096", "gemm m=8"), where options are
 * expected. */
#ifndef ROOF_DECIDE_SIZE_WORDS_H
#define ROOF_DECIDE_SIZE_WORDS_H

#include <stdbool.h>

#include "roofline/error.h"
#include "roofline/workload.h"

/* Tells whether a word is a size: "8", "4k" or "m=8". */
bool roof_is_size(const char *word);

/* Appends to a message the inputs that an operator needs, with the sizes among its words, of which
 * the first names the operator: "-m 8 -n 4096 -k 4096". */
void roof_hint_sizes(struct roof_error *error, enum roof_operator op, const char *const *word,
                     int count);

#endif
