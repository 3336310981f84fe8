// SPDX-License-Identifier: MIT
/* The shortest decimal digits that read back to a double. */
#ifndef ROOF_DECIMAL_H
#define ROOF_DECIMAL_H

#include <stdint.h>

/*
 * For a finite value > 0: the digits and exponent with digits * 10^exponent reading back to exactly
 * value, digits as short as can be, nearest to value among those, without trailing zeros.
 */
void roof_decimal_shortest(uint64_t *digits, int *exponent, double value);

/* Writes the decimal digits of value, not terminated, and returns how many (1 to 20). */
int roof_decimal_digits(char out[20], uint64_t value);

#endif
