// SPDX-License-Identifier: MIT
/* Decimal digits of doubles: the shortest that read back, and those that are read without rounding
 * twice. */
#ifndef ROOF_BASE_DECIMAL_H
#define ROOF_BASE_DECIMAL_H

#include <stdbool.h>
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

/*
 * Reads a number whose digits and whose power of ten are doubles: one operation with them rounds to
 * the nearest, as strtod does. Begins at a digit, a sign or a point before one, and moves *text
 * behind the number; false, and nothing is moved, if the number has other digits or another power.
 */
bool roof_decimal_read(double *out, const char **text);

#endif
