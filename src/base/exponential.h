// SPDX-License-Identifier: MIT
/* exp(x) - 1 and log(1 + x) with the same bits on every platform: C libraries differ in their last
 * digit. */
#ifndef ROOF_BASE_EXPONENTIAL_H
#define ROOF_BASE_EXPONENTIAL_H

/* Returns exp(x) - 1, with an error of less than one unit in the last place. */
double roof_expm1(double x);

/* Returns log(1 + x), with an error of less than one unit in the last place. */
double roof_log1p(double x);

#endif
