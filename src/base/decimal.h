// SPDX-License-Identifier: MIT
/* Decimal digits of doubles: the shortest that read back, and a reader that rounds only once. */
#ifndef ROOF_BASE_DECIMAL_H
#define ROOF_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds, for a finite value > 0, digits and an exponent such that digits * 10^exponent reads back
 * to exactly value. The digits are the fewest possible, the nearest to value among these, without
 * trailing zeros.
 */
void roof_decimal_shortest(uint64_t *digits, int *exponent, double value);

/* Returns how many decimal digits a value has: 1 to 20. */
int roof_decimal_count(uint64_t value);

/* Writes the decimal digits of a value, not terminated; count is roof_decimal_count of it. */
void roof_decimal_digits(char *out, uint64_t value, int count);

/*
 * Reads a number whose digits and whose power of ten are doubles: one operation with them rounds to
 * the nearest, as strtod does. Begins at a digit, or at a sign or point before one, and moves *text
 * past the number; false, and *text unchanged, if the digits or the power are not such doubles.
 */
bool roof_decimal_read(double *out, const char **text);

#endif
