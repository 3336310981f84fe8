// SPDX-License-Identifier: MIT
/* The shortest decimal digits that read back to a double. */
#ifndef ROOF_BASE_DECIMAL_H
#define ROOF_BASE_DECIMAL_H

#include <stdint.h>

/*
 * Finds, for a finite value > 0, digits and an exponent such that digits * 10^exponent reads back
 * to exactly value. The digits are as few as can be, nearest to value among those, without trailing
 * zeros.
 */
void roof_decimal_shortest(uint64_t *digits, int *exponent, double value);

/* Returns how many decimal digits a value has: 1 to 20. */
int roof_decimal_count(uint64_t value);

/* Writes the decimal digits of a value, not terminated; count is roof_decimal_count of it. */
void roof_decimal_digits(char *out, uint64_t value, int count);

#endif
