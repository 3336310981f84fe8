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

/* Writes the decimal digits of value, not terminated, and returns how many (1 to 20). */
int roof_decimal_digits(char out[20], uint64_t value);

#endif
