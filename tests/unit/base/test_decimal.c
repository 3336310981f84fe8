// SPDX-License-Identifier: MIT
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"

/* Reads digits * 10^exponent back with the C library, which rounds correctly. */
static double read_back(uint64_t digits, int exponent)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", digits, exponent);
    return strtod(text, NULL);
}

/* The fewest digits with which the C library's own rounding reads back. */
static int fewest(double value)
{
    for (int count = 1; count < 17; count++) {
        char text[64];
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        if (strtod(text, NULL) == value) {
            return count;
        }
    }
    return 17;
}

static void check(double value)
{
    uint64_t digits = 0;
    int exponent = 0;
    roof_decimal_shortest(&digits, &exponent, value);
    if (read_back(digits, exponent) != value || digits % 10 == 0 ||
        roof_decimal_count(digits) > fewest(value)) {
        fail_msg("%a became %" PRIu64 "e%d", value, digits, exponent);
    }
}

static void test_known_digits(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        uint64_t digits;
        int exponent;
    } cases[] = {
        {1, 1, 0},
        {0.1, 1, -1},
        {0.3, 3, -1},
        {0.1 + 0.2, 30000000000000004, -17}, /* the double after 0.3 */
        {1e23, 1, 23},                       /* lies between two doubles, rounds to the lower */
        {5e-324, 5, -324},                   /* the smallest */
        {2.2250738585072014e-308, 22250738585072014, -324}, /* the smallest normal one */
        {1.7976931348623157e308, 17976931348623157, 292},   /* the largest */
        {9007199254740993.0, 9007199254740992, 0},          /* 2^53 + 1 is not a double */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t digits = 0;
        int exponent = 0;
        roof_decimal_shortest(&digits, &exponent, cases[i].value);
        if (digits != cases[i].digits || exponent != cases[i].exponent) {
            fail_msg("%a became %" PRIu64 "e%d", cases[i].value, digits, exponent);
        }
    }
}

/* Powers of two have uneven neighbours: every one of them, and the doubles beside it. */
static void test_every_power_of_two(void **unused)
{
    (void)unused;
    for (int e = -1074; e <= 1023; e++) {
        const double power = ldexp(1, e);
        check(power);
        check(nextafter(power, (double)INFINITY));
        if (e > -1074) {
            check(nextafter(power, 0));
        }
    }
}

/* Every entry of the table of powers of ten is used by one of these. */
static void test_every_power_of_ten(void **unused)
{
    (void)unused;
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        const double power = strtod(text, NULL);
        uint64_t digits = 0;
        int exponent = 0;
        roof_decimal_shortest(&digits, &exponent, power);
        assert_int_equal(digits, 1);
        assert_int_equal(exponent, e);
        check(nextafter(power, (double)INFINITY));
    }
}

static void test_random_bits(void **unused)
{
    (void)unused;
    uint64_t state = 0x9E3779B97F4A7C15;
    for (int i = 0; i < 50000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const uint64_t bits = state >> 1; /* without the sign */
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value > 0) {
            check(value);
        }
    }
}

static void test_digits(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {7, "7"},
                 {10, "10"},
                 {99, "99"},
                 {100, "100"},
                 {12345, "12345"},
                 {UINT64_MAX, "18446744073709551615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[20];
        const int count = roof_decimal_count(cases[i].value);
        assert_int_equal(count, strlen(cases[i].text));
        roof_decimal_digits(text, cases[i].value, count);
        assert_memory_equal(text, cases[i].text, (size_t)count);
    }
}

/* Compares with strtod, to the bit and to the character behind the number. */
static void expect_read(const char *text, bool exact)
{
    char *end = NULL;
    const char *p = text;
    double value = 7;
    uint64_t bits[2];
    const bool read = roof_decimal_read(&value, &p);
    const double wanted = exact ? strtod(text, &end) : 7;
    memcpy(&bits[0], &value, sizeof value);
    memcpy(&bits[1], &wanted, sizeof wanted);
    if (read != exact || bits[0] != bits[1] || p != (exact ? end : text)) {
        fail_msg("%s: %d, %.17g, stopped at '%s'", text, read, value, p);
    }
}

static void test_reading(void **unused)
{
    (void)unused;
    static const char *const exact[] = {"0",
                                        "-0",
                                        "+5",
                                        "12.5",
                                        "-.5",
                                        "1.",
                                        "1e5",
                                        "1E-5 s",
                                        "2e+22",
                                        "1e",
                                        "1e+ 3",
                                        "3.25GB",
                                        "1.5e3.2",
                                        "0.1",
                                        "0.30",
                                        "0e22",
                                        "1e-22x",
                                        "4096,1",
                                        "1.000e4",
                                        "00012",
                                        "5e00003",
                                        "-0.0e-7",
                                        "9007199254740992"};
    static const char *const others[] = {
        "9007199254740993",    "1e23", "1e-23", "0.30000000000000004", "1e99999999999999999999",
        "18446744073709551616"};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        expect_read(exact[i], true);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect_read(others[i], false);
    }
    for (int i = 0; i < 100000; i++) {
        char text[64];
        snprintf(text, sizeof text, "%d.%0*de%d", i * 7, 1 + i % 7, i, i % 28 - 14);
        expect_read(text, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_digits),
        cmocka_unit_test(test_every_power_of_two),
        cmocka_unit_test(test_every_power_of_ten),
        cmocka_unit_test(test_random_bits),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
