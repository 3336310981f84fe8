// SPDX-License-Identifier: MIT
#include "simulate/random.h"

#include <math.h>

#define LN_2 0.69314718055994530942
/* The scale of the gamma distribution in the method of Marsaglia and Tsang. */
#define THIRD (1. / 3)

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

void roof_random_seed(struct roof_random *out, uint64_t seed, uint64_t stream)
{
    uint64_t from = seed;
    from = roof_split_mix(&from) ^ stream * 0xd1342543de82ef95U;
    for (int i = 0; i < 4; i++) {
        out->state[i] = roof_split_mix(&from);
    }
}

/* xoshiro256** 1.0 (Blackman and Vigna, prng.di.unimi.it, public domain). */
uint64_t roof_random_bits(struct roof_random *random)
{
    uint64_t *const s = random->state;
    const uint64_t out = rotate(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return out;
}

/* Draws uniformly from (0, 1]. */
static double draw_unit(struct roof_random *random)
{
    return (double)((roof_random_bits(random) >> 11) + 1) * 0x1p-53;
}

int64_t roof_random_integer(struct roof_random *random, int64_t low, int64_t high)
{
    /* The unit lies in (0, 1], so that the product lies in (0, count]. */
    const double count = (double)(high - low + 1);
    return low + (int64_t)ceil(draw_unit(random) * count) - 1;
}

/* log(m 2^e) = e ln 2 + 2 atanh((m - 1) / (m + 1)), for m between the roots of 1/2 and 2. */
double roof_exact_log(double x)
{
    int exponent = 0;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    const double t = (m - 1) / (m + 1);
    const double square = t * t;
    double sum = 0;
    for (int n = 23; n >= 1; n -= 2) {
        sum = sum * square + 1. / n;
    }
    return exponent * LN_2 + 2 * t * sum;
}

/* exp(x) = 2^k exp(r), r between -ln 2 / 2 and ln 2 / 2. */
double roof_exact_exp(double x)
{
    const double k = floor(x / LN_2 + 0.5);
    const double r = x - k * LN_2;
    double sum = 1;
    for (int n = 16; n >= 1; n--) {
        sum = 1 + sum * r / n;
    }
    return ldexp(sum, (int)k);
}

double roof_random_exponential(struct roof_random *random)
{
    return -roof_exact_log(draw_unit(random));
}

/* The polar method of Marsaglia; the second number of each pair is dropped, so that the bits are
 * the only state. */
double roof_random_normal(struct roof_random *random)
{
    double x = 0;
    double s = 0;
    do {
        x = 2 * draw_unit(random) - 1;
        const double y = 2 * draw_unit(random) - 1;
        s = x * x + y * y;
    } while (s >= 1 || s == 0);
    return x * sqrt(-2 * roof_exact_log(s) / s);
}

/* G. Marsaglia and W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).
 */
double roof_random_gamma(struct roof_random *random, double shape)
{
    const double more = shape < 1 ? shape + 1 : shape;
    const double d = more - THIRD;
    const double c = 1 / sqrt(9 * d);
    double v = 0;
    double x = 0;
    double u = 0;
    do {
        do {
            x = roof_random_normal(random);
            v = 1 + c * x;
        } while (v <= 0);
        v = v * v * v;
        u = draw_unit(random);
    } while (roof_exact_log(u) >= 0.5 * x * x + d * (1 - v + roof_exact_log(v)));
    const double power =
        shape < 1 ? roof_exact_exp(fmax(-700, roof_exact_log(draw_unit(random)) / shape)) : 1;
    return d * v * power;
}
