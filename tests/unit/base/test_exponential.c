// SPDX-License-Identifier: MIT
#include "base/exponential.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_same_bits(double got, double want)
{
    uint64_t bits[2];
    memcpy(&bits[0], &got, sizeof got);
    memcpy(&bits[1], &want, sizeof want);
    assert_true(bits[0] == bits[1]);
}

/* Tells by how many units in the last place of the second number the two differ. */
static double ulps(double a, double b)
{
    return fabs(a - b) / (nextafter(fabs(b), HUGE_VAL) - fabs(b));
}

/* A few results are known to every digit, of which the last may be another. */
static void test_known(void **state)
{
    (void)state;
    static const struct {
        double x, expm1, log1p;
    } known[] = {{1, 0x1.b7e151628aed3p+0, 0x1.62e42fefa39efp-1},
                 {3, 0x1.315e5bf6fb106p+4, 0x1.62e42fefa39efp+0},
                 {-0.5, -0x1.92e9a0720d3ecp-2, -0x1.62e42fefa39efp-1}};
    for (size_t i = 0; i < COUNT(known); i++) {
        assert_true(ulps(roof_expm1(known[i].x), known[i].expm1) <= 1);
        assert_true(ulps(roof_log1p(known[i].x), known[i].log1p) <= 1);
    }
}

/* The bits that the functions of FreeBSD return, which every platform shall have. */
static void test_bits(void **state)
{
    (void)state;
    assert_same_bits(roof_expm1(1), 0x1.b7e151628aed2p+0);
    assert_same_bits(roof_expm1(-0.3), -0x1.0966f2c7907f6p-2);
    assert_same_bits(roof_expm1(20.5), 0x1.7d6c4f03cdd5cp+29);
    assert_same_bits(roof_log1p(0.1), 0x1.8663f793c46c7p-4);
    assert_same_bits(roof_log1p(-0.9), -0x1.26bb1bbb55516p+1);
    assert_same_bits(roof_log1p(1e6), 0x1.ba18abb1dedc8p+3);
}

static void test_edges(void **state)
{
    (void)state;
    assert_same_bits(roof_expm1(0), 0);
    assert_same_bits(roof_expm1(-0.0), -0.0);
    assert_same_bits(roof_log1p(0), 0);
    assert_same_bits(roof_expm1(1e-300), 1e-300);
    assert_same_bits(roof_expm1(-1000), -1);
    assert_same_bits(roof_expm1(-HUGE_VAL), -1);
    assert_true(isinf(roof_expm1(710)));
    assert_true(isinf(roof_expm1(HUGE_VAL)));
    assert_true(isnan(roof_expm1((double)NAN)));
    assert_same_bits(roof_log1p(1e-300), 1e-300);
    assert_same_bits(roof_log1p(-1), -HUGE_VAL);
    assert_true(isnan(roof_log1p(-2)));
    assert_true(isnan(roof_log1p((double)NAN)));
    assert_true(isinf(roof_log1p(HUGE_VAL)));
}

/* The C library's functions are another implementation, whose last digit may differ. */
static void test_against_the_c_library(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252U;
    for (int i = 0; i < 300000; i++) {
        static const double spans[] = {1e-3, 1, 3, 60, 700};
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const double unit = (double)(random >> 11) * 0x1p-53;
        const double x = (2 * unit - 1) * spans[(size_t)i % COUNT(spans)];
        assert_true(ulps(roof_expm1(x), expm1(x)) <= 2);
        if (x > -1) {
            assert_true(ulps(roof_log1p(x), log1p(x)) <= 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_against_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
