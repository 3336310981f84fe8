// SPDX-License-Identifier: MIT AND LicenseRef-SunPro
/*
 * Both functions follow s_expm1.c and s_log1p.c of FreeBSD's msun step by step, so that the results
 * have the same bits; the constants are theirs. Their notice:
 *
 * Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
 * Developed at SunPro, a Sun Microsystems, Inc. business.
 * Permission to use, copy, modify, and distribute this software is freely granted, provided that
 * this notice is preserved.
 */
#include "base/exponential.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double ln2_high = 6.93147180369123816490e-01; /* its low 32 bits are 0 */
static const double ln2_low = 1.90821492927058770002e-10;
static const double inverse_ln2 = 1.44269504088896338700e+00;

static uint64_t bits_of(double x)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x = 0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns 2^exponent, for exponents of normal numbers. */
static double power_of_two(int exponent)
{
    return of_bits((uint64_t)(0x3ff + exponent) << 52);
}

/* --- exp(x) - 1 ---------------------------------------------------------------------------- */

/* x = exponent * ln 2 + rest, with |rest| <= ln 2 / 2 but for what rounding takes from it. */
struct reduced {
    int exponent;
    double rest;
    double lost; /* true rest - rest */
};

static struct reduced reduce(double x)
{
    const double size = fabs(x);
    const double half = x < 0 ? -0.5 : 0.5;
    if (!(bits_of(size) >> 32 > 0x3fd62e42)) { /* up to ln 2 / 2 */
        return (struct reduced){0, x, 0};
    }
    const int exponent = bits_of(size) >> 32 < 0x3ff0a2b2 /* 3/2 ln 2 */
                             ? (x < 0 ? -1 : 1)
                             : (int)(inverse_ln2 * x + half);
    const double high = x - exponent * ln2_high; /* the product is exact */
    const double low = exponent * ln2_low;
    const double rest = high - low;
    return (struct reduced){exponent, rest, (high - rest) - low};
}

/* Returns 2^k (x - e + 1) - 1 without cancellation; x and e are those of roof_expm1. */
static double scale(int k, double x, double e)
{
    if (k == -1) {
        return 0.5 * (x - e) - 0.5;
    }
    if (k == 1) {
        return x < -0.25 ? -2.0 * (e - (x + 0.5)) : 1.0 + 2.0 * (x - e);
    }
    if (k < 0 || k > 56) { /* the 1 does not matter, or all of it does */
        const double y = x - e + 1.0;
        return (k == 1024 ? y * 2.0 * 0x1p1023 : y * power_of_two(k)) - 1.0;
    }
    return (k < 20 ? x - e + (1 - power_of_two(-k)) : x - (e + power_of_two(-k)) + 1) *
           power_of_two(k);
}

/*
 * With x reduced to r, r (exp(r) + 1) / (exp(r) - 1) = 2 + r^2/6 R(r^2) for a polynomial R. Solved
 * for exp(r), the error of r in `lost` enters to first order.
 */
double roof_expm1(double x)
{
    static const double q[] = {-3.33333333333331316428e-02, 1.58730158725481460165e-03,
                               -7.93650757867487942473e-05, 4.00821782732936239552e-06,
                               -2.01099218183624371326e-07};
    const uint64_t high = bits_of(fabs(x)) >> 32;
    if (high >= 0x4043687a) { /* from 56 ln 2 on */
        if (isnan(x)) {
            return x;
        }
        if (x < 0) {
            return -1;
        }
        if (x > 7.09782712893383973096e+02) {
            return HUGE_VAL;
        }
    }
    if (high < 0x3c900000) { /* below 2^-54 */
        return x;
    }
    const struct reduced by = reduce(x);
    const double r = by.rest;
    const double half = 0.5 * r;
    const double square = r * half;
    const double r1 =
        1.0 + square * (q[0] + square * (q[1] + square * (q[2] + square * (q[3] + square * q[4]))));
    const double t = 3.0 - r1 * half;
    const double e = square * ((r1 - t) / (6.0 - r * t));
    return by.exponent == 0 ? r - (r * e - square)
                            : scale(by.exponent, r, r * (e - by.lost) - by.lost - square);
}

/* --- log(1 + x) ---------------------------------------------------------------------------- */

/* 1 + x = 2^exponent (1 + f), with 1 + f from sqrt(1/2) to sqrt(2). */
struct split {
    int exponent;
    double f;
    double correction; /* for what 1 + x lost when it was rounded */
};

static struct split split(double x)
{
    const uint64_t high = bits_of(x) >> 32;
    if (high < 0x3fda827a || (x < 0 && high <= 0xbfd2bec4)) {
        return (struct split){0, x, 0};
    }
    const double sum = 1 + x;
    const uint64_t bits = bits_of(sum);
    const uint64_t raised = (bits >> 32) + (0x3ff00000 - 0x3fe6a09e);
    const int exponent = (int)(raised >> 20) - 0x3ff;
    const double lost = exponent >= 2 ? 1 - (sum - x) : x - (sum - 1);
    const uint64_t mantissa = (raised & 0x000fffff) + 0x3fe6a09e;
    return (struct split){exponent, of_bits(mantissa << 32 | (bits & 0xffffffff)) - 1,
                          exponent < 54 ? lost / sum : 0};
}

/* With s = f / (2 + f), log(1 + f) = 2 s + s R(s^2) for a polynomial R, written so that the larger
 * terms are added last. */
double roof_log1p(double x)
{
    static const double l[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                               2.857142874366239149e-01, 2.222219843214978396e-01,
                               1.818357216161805012e-01, 1.531383769920937332e-01,
                               1.479819860511658591e-01};
    if (isnan(x) || x == HUGE_VAL) {
        return x;
    }
    if (x <= -1) {
        return x == -1 ? -HUGE_VAL : (double)NAN;
    }
    if (bits_of(fabs(x)) >> 32 < 0x3ca00000) { /* below 2^-53 */
        return x;
    }
    const struct split by = split(x);
    const double f = by.f;
    const double half_square = 0.5 * f * f;
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double w = z * z;
    const double even = w * (l[1] + w * (l[3] + w * l[5]));
    const double odd = z * (l[0] + w * (l[2] + w * (l[4] + w * l[6])));
    return s * (half_square + (odd + even)) + (by.exponent * ln2_low + by.correction) -
           half_square + f + by.exponent * ln2_high;
}
