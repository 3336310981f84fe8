// SPDX-License-Identifier: MIT
#include "base/decimal.h"

#include <float.h>
#include <string.h>

#include "base/base.h"
#include "base/decimal_table.h"

/*
 * Schubfach: R. Giulietti, "The Schubfach way to render doubles", 2020. The interval of reals that
 * round to the double is scaled by a power of ten so that it holds between one and ten integers
 * times ten; the shortest candidate in it is then found with three multiplications. Scaled values
 * carry two extra bits, and a last bit that says whether anything was cut off ("round to odd"),
 * which is all that the comparisons need.
 */

__extension__ typedef unsigned __int128 uint128;

/* These return floor(log10(2^q)), floor(log10(3/4 * 2^q)) and floor(log2(10^k)), exactly in the
 * ranges used here. */
static int log10_pow2(int q)
{
    return (q * 1262611) >> 22;
}

static int log10_three_quarters_pow2(int q)
{
    return (q * 1262611 - 524031) >> 22;
}

static int log2_pow10(int k)
{
    return (k * 1741647) >> 19;
}

/* Returns the top 64 bits of c times the power of ten k, with the last bit set when bits were lost.
 */
static uint64_t scaled(int k, uint64_t c)
{
    const uint64_t high = roof_pow10[k - ROOF_POW10_MIN].high;
    const uint64_t low = roof_pow10[k - ROOF_POW10_MIN].low;
    const uint128 x = (uint128)low * c;
    const uint128 y = (uint128)high * c + (uint64_t)(x >> 64);
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

static void cut_zeros(uint64_t *digits, int *exponent)
{
    while (*digits % 10 == 0) {
        *digits /= 10;
        ++*exponent;
    }
}

void roof_decimal_shortest(uint64_t *digits, int *exponent, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int biased = (int)(bits >> 52 & 0x7FF);
    /* value = c * 2^q */
    const uint64_t c = biased != 0 ? fraction | UINT64_C(1) << 52 : fraction;
    const int q = (biased != 0 ? biased : 1) - 1075;
    const bool even = c % 2 == 0; /* then the ends of the interval round to value, too */
    /* Below a power of two the doubles are twice as dense. */
    const bool close = fraction == 0 && biased > 1;

    const int k = close ? log10_three_quarters_pow2(q) : log10_pow2(q);
    const int shift = q + log2_pow10(-k) + 1;
    const uint64_t lower = scaled(-k, (4 * c - 2 + close) << shift) + !even;
    const uint64_t middle = scaled(-k, (4 * c) << shift);
    const uint64_t upper = scaled(-k, (4 * c + 2) << shift) - !even;

    const uint64_t s = middle / 4;
    *exponent = k;
    if (s >= 10) { /* one digit fewer may do */
        const uint64_t tens = s / 10;
        const bool down = lower <= 40 * tens;
        const bool up = 40 * tens + 40 <= upper;
        if (down != up) {
            *digits = tens + up;
            *exponent = k + 1;
            cut_zeros(digits, exponent);
            return;
        }
    }
    const bool down = lower <= 4 * s;
    const bool up = 4 * s + 4 <= upper;
    if (down != up) {
        *digits = s + up;
    } else { /* both or neither: the nearer one, at a tie the even one */
        const uint64_t half = 4 * s + 2;
        *digits = s + (middle > half || (middle == half && s % 2 == 1));
    }
    cut_zeros(digits, exponent);
}

int roof_decimal_count(uint64_t value)
{
    static const uint64_t ten[] = {0,
                                   10,
                                   100,
                                   1000,
                                   10000,
                                   100000,
                                   1000000,
                                   10000000,
                                   100000000,
                                   1000000000,
                                   10000000000,
                                   100000000000,
                                   1000000000000,
                                   10000000000000,
                                   100000000000000,
                                   1000000000000000,
                                   10000000000000000,
                                   100000000000000000,
                                   1000000000000000000,
                                   10000000000000000000U};
    const int bits = 64 - __builtin_clzll(value | 1);
    const int low = bits * 1233 >> 12; /* floor(bits log10(2)): the digits, or one fewer */
    return low + (value >= ten[low]);
}

static void put_pair(char *out, unsigned value)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    memcpy(out, pairs + 2 * (size_t)value, 2);
}

void roof_decimal_digits(char *out, uint64_t value, int count)
{
    char *end = out + count;
    while (value >= 100000000) { /* eight digits at once: their divisions do not wait for others */
        const unsigned low = (unsigned)(value % 100000000);
        value /= 100000000;
        end -= 8;
        put_pair(end, low / 1000000);
        put_pair(end + 2, low / 10000 % 100);
        put_pair(end + 4, low / 100 % 100);
        put_pair(end + 6, low % 100);
    }
    unsigned high = (unsigned)value;
    while (high >= 100) {
        end -= 2;
        put_pair(end, high % 100);
        high /= 100;
    }
    if (high >= 10) {
        put_pair(end - 2, high);
    } else {
        end[-1] = (char)('0' + high);
    }
}

/* Reads digits into *value and counts them; a value that does not fit ends up above 2^53. */
static int read_digits(const char **p, uint64_t *value)
{
    const char *const begin = *p;
    for (; **p >= '0' && **p <= '9'; ++*p) {
        *value = *value > UINT64_C(1) << 53 ? *value : *value * 10 + (uint64_t)(**p - '0');
    }
    return (int)(*p - begin);
}

/* Reads the power of ten after the digits, if there is one. */
static int read_exponent(const char **p)
{
    const bool sign = **p != '\0' && ((*p)[1] == '-' || (*p)[1] == '+');
    const char *digits = *p + (sign ? 2 : 1);
    uint64_t exponent = 0;
    if ((**p != 'e' && **p != 'E') || *digits < '0' || *digits > '9') {
        return 0;
    }
    (void)read_digits(&digits, &exponent);
    exponent = exponent < 1000 ? exponent : 1000;
    const int power = (*p)[1] == '-' ? -(int)exponent : (int)exponent;
    *p = digits;
    return power;
}

bool roof_decimal_read(double *out, const char **text)
{
    static const double powers[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = *text;
    const bool negative = *p == '-';
    uint64_t digits = 0;
    int power = 0;
    p += negative || *p == '+';
    (void)read_digits(&p, &digits);
    if (*p == '.') {
        p++;
        power = -read_digits(&p, &digits);
    }
    power += read_exponent(&p);
    const size_t size = (size_t)(power < 0 ? -power : power);
    if (FLT_EVAL_METHOD != 0 || digits > UINT64_C(1) << 53 || size >= COUNT(powers)) {
        return false;
    }
    const double value = power < 0 ? (double)digits / powers[size] : (double)digits * powers[size];
    *out = negative ? -value : value;
    *text = p;
    return true;
}
