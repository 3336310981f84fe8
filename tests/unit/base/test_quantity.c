// SPDX-License-Identifier: MIT
#include "support.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* INFINITY is a float, and clang warns where it becomes a double. */
#define ENDLESS ((double)INFINITY)

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- integers ------------------------------------------------------------------------------ */

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"7", 7},
        {"-7", -7},
        {"4096", 4096},
        {"007", 7},
        /* one row per SI multiple and per binary multiple */
        {"1k", 1000},
        {"1M", 1000000},
        {"1G", 1000000000},
        {"1Ki", 1024},
        {"1Mi", 1048576},
        {"1Gi", 1073741824},
        {"3k", 3000},
        {"3Mi", 3145728},
        {"-4Ki", -4096},
        {"-2M", -2000000},
        {"0Gi", 0},
        /* the ends of int64_t: 2^63 - 1 = 9223372036854775807 */
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807", -INT64_MAX},
        {"9223372036854775k", INT64_C(9223372036854775000)},
        {"9223372036854M", INT64_C(9223372036854000000)},
        {"9223372036G", INT64_C(9223372036000000000)},
        {"9007199254740991Ki", INT64_C(9223372036854774784)}, /* (2^53 - 1) * 2^10 */
        {"8796093022207Mi", INT64_C(9223372036853727232)},    /* (2^43 - 1) * 2^20 */
        {"8589934591Gi", INT64_C(9223372035781033984)},       /* (2^33 - 1) * 2^30 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        int64_t value = -1;
        if (roof_parse_integer(&value, cases[i].text, "m", INT64_MIN, INT64_MAX, &error) !=
                ROOF_OK ||
            value != cases[i].value) {
            fail_msg("'%s' is %" PRId64 ", expected %" PRId64 " %s", cases[i].text, value,
                     cases[i].value, error.message);
        }
    }
}

static void test_no_integers(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "", " ", "-", "+", "+1", "--1", "-+1", " 1", "1 ", "1\n", "\t1", "abc", "12a", "a12", "1e3",
        "1E3", "1.0", "1.", ".5", "1.5k", "1,000", "1_000", "0x10", "0b1", "1-", "1:2", "inf",
        "nan", "NaN", "1e400", "k", "Ki", "-k", "1K", "1m", "1g", "1ki", "1mi", "1KI", "1 k", "1kk",
        "1kM", "1Kik", "1KiB", "1kB", "1T", "1Ti", "1P", "1i", "1u",
        "\xD9\xA1", /* U+0661, a digit of another script */
        /* one more than fits, before and after the multiple */
        "9223372036854775808", "-9223372036854775809", "18446744073709551617",
        "99999999999999999999999999999999", "9223372036854776k", "9223372036855M", "9223372037G",
        "9007199254740992Ki", "8796093022208Mi", "8589934592Gi", "-8589934592Gi"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        int64_t value = 42;
        if (roof_parse_integer(&value, cases[i], "m", -INT64_MAX, INT64_MAX, &error) !=
                ROOF_USAGE ||
            error.status != ROOF_USAGE) {
            fail_msg("'%s' was read as %" PRId64, cases[i], value);
        }
        assert_int_equal(value, 42); /* unchanged */
    }
}

static void test_integer_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool inside;
    } cases[] = {{"2", true},   {"8", true},   {"5", true},    {"1", false}, {"9", false},
                 {"-5", false}, {"8k", false}, {"2Gi", false}, {"0", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        int64_t value = 42;
        const enum roof_status status =
            roof_parse_integer(&value, cases[i].text, "--kv-len", 2, 8, &error);
        assert_int_equal(status, cases[i].inside ? ROOF_OK : ROOF_USAGE);
        if (!cases[i].inside) { /* the message says what, the range and what was given */
            assert_int_equal(value, 42);
            assert_non_null(strstr(error.message, "--kv-len"));
            assert_non_null(strstr(error.message, "from 2 to 8"));
            assert_non_null(strstr(error.message, cases[i].text));
        }
    }
    int64_t value = 42;
    assert_int_equal(roof_parse_integer(&value, "9", "m", 2, 8, NULL), ROOF_USAGE);
    assert_int_equal(roof_parse_integer(&value, "3", "m", 2, 8, NULL), ROOF_OK);
    assert_int_equal(value, 3);
}

/* --- numbers and times --------------------------------------------------------------------- */

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"1", 1},
        {"-1", -1},
        {"1.5", 1.5},
        {"-1.5", -1.5},
        {"1e3", 1000},
        {"1E3", 1000},
        {"1e+3", 1000},
        {"25e-2", 0.25},
        {"0.1", 0.1},
        {"121.6", 121.6},
        {"1e-320", 1e-320},
        {"1e-400", 0},
        {"1e308", 1e308},
        {"0012", 12},
        {"9007199254740993", 9007199254740992.0}, /* 2^53 + 1 is a tie: to even */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        double value = 42;
        if (roof_parse_number(&value, cases[i].text, "x", -DBL_MAX, DBL_MAX, &error) != ROOF_OK ||
            value != cases[i].value) {
            fail_msg("'%s' is %.17g, expected %.17g %s", cases[i].text, value, cases[i].value,
                     error.message);
        }
    }
}

static void test_no_numbers(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "", " ", "-", "+", ".", "-.", "e5", " 1", "1 ", "1\n", "abc", "1x", "x1", "1e", "1e+",
        "1.5.5", "1..5", "1,5", "1,000", "1_0", "--1", "-+1", "1-1", "1e3e3", "1e3.5",
        /* other notations, other units */
        "0x10", "0X1p3", "-0x10", "1k", "1Ki", "1%", "1/2", "\xD9\xA1",
        /* not finite */
        "inf", "-inf", "INF", "infinity", "nan", "NAN", "nan(1)", "1e400", "-1e400",
        "1e99999999999999999999"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        double value = 42;
        if (roof_parse_number(&value, cases[i], "x", -DBL_MAX, DBL_MAX, &error) != ROOF_USAGE ||
            error.status != ROOF_USAGE) {
            fail_msg("'%s' was read as %.17g", cases[i], value);
        }
        assert_true(value == 42); /* unchanged */
    }
}

static void test_numbers_are_finite_whatever_the_range(void **state)
{
    (void)state;
    static const char *const cases[] = {"1e400", "-1e400", "inf", "nan"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = 42;
        if (roof_parse_number(&value, cases[i], "x", -ENDLESS, ENDLESS, NULL) != ROOF_USAGE) {
            fail_msg("'%s' was read as %g", cases[i], value);
        }
    }
}

static void test_fractions_may_be_percentages(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value; /* below 0: none */
    } cases[] = {{"29%", 0.29}, {"0%", 0},    {"100%", 1}, {"0.5%", 0.005}, {"1", 1},
                 {"50 %", 0.5}, {"101%", -1}, {"-1%", -1}, {"%", -1},       {"5%%", -1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = -1;
        const enum roof_status status =
            roof_parse_number(&value, cases[i].text, "reserve", 0, 1, NULL);
        assert_int_equal(status, cases[i].value < 0 ? ROOF_USAGE : ROOF_OK);
        assert_true(value == cases[i].value);
    }
}

static void test_units_of_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum roof_unit unit;
        bool read;
    } cases[] = {{"300", ROOF_UNIT_WATTS, true},     {"300W", ROOF_UNIT_WATTS, true},
                 {"300 W", ROOF_UNIT_WATTS, true},   {"3e2W", ROOF_UNIT_WATTS, true},
                 {"300w", ROOF_UNIT_WATTS, false},   {"300 ", ROOF_UNIT_WATTS, false},
                 {"300  W", ROOF_UNIT_WATTS, false}, {"300WW", ROOF_UNIT_WATTS, false},
                 {"W", ROOF_UNIT_WATTS, false},      {"300GB/s", ROOF_UNIT_GB_PER_S, true},
                 {"300%", ROOF_UNIT_WATTS, false},   {"300 ", ROOF_UNIT_NONE, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        double value = 42;
        const enum roof_status status =
            roof_parse_quantity(&value, cases[i].text, "x", cases[i].unit, 0, 1000, &error);
        assert_int_equal(status, cases[i].read ? ROOF_OK : ROOF_USAGE);
        assert_true(value == (cases[i].read ? 300 : 42));
    }
    static const struct {
        const char *text;
        double bytes; /* 0: refused */
    } sizes[] = {{"48M", 48e6},
                 {"48MB", 48e6},
                 {"48 MiB", 48. * 1024 * 1024},
                 {"1.5Ki", 1536},
                 {"2k", 2000},
                 {"3Gi", 3. * 1024 * 1024 * 1024},
                 {"7 bytes", 7},
                 {"48m", 0},
                 {"48 M B", 0},
                 {"M", 0},
                 {"48MiBs", 0},
                 {"1e3G", 1e12},
                 {"1e9G", 0 /* more */}};
    for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
        double bytes = 0;
        const enum roof_unit unit = i % 2 == 0 ? ROOF_UNIT_BYTES : ROOF_UNIT_CAPACITY;
        const enum roof_status status =
            roof_parse_quantity(&bytes, sizes[i / 2].text, "x", unit, 1, 1e13, NULL);
        assert_int_equal(status, sizes[i / 2].bytes > 0 ? ROOF_OK : ROOF_USAGE);
        assert_true(bytes == sizes[i / 2].bytes);
    }
    struct roof_error error = {0};
    double value = 0;
    assert_int_equal(roof_parse_quantity(&value, "48M", "x", ROOF_UNIT_WATTS, 0, 1e9, NULL),
                     ROOF_USAGE);
    assert_int_equal(roof_parse_quantity(&value, "3W", "cap", ROOF_UNIT_WATTS, 5, 9, &error),
                     ROOF_USAGE);
    assert_string_equal(error.message, "cap must be a number from 5 to 9 W, not '3W'");
}

static void test_number_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool inside;
    } cases[] = {{"0.5", true}, {"2", true},  {"1e0", true},       {"0.4999999", false},
                 {"-1", false}, {"0", false}, {"2.000001", false}, {"1e9", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        double value = 42;
        const enum roof_status status =
            roof_parse_number(&value, cases[i].text, "tdp_w", 0.5, 2, &error);
        assert_int_equal(status, cases[i].inside ? ROOF_OK : ROOF_USAGE);
        if (!cases[i].inside) {
            assert_true(value == 42);
            assert_non_null(strstr(error.message, "tdp_w"));
            assert_non_null(strstr(error.message, "from 0.5 to 2"));
            assert_non_null(strstr(error.message, cases[i].text));
        }
    }
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {
        {"1ns", 1e-9},   {"1us", 1e-6},    {"1ms", 1e-3},    {"1s", 1},
        {"83us", 83e-6}, {"250ns", 25e-8}, {"1.5ms", 15e-4}, {"0.25s", 0.25},
        {"1e3us", 1e-3}, {".5s", 0.5},     {"90s", 90},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        double seconds = 42;
        if (roof_parse_time(&seconds, cases[i].text, "--measured", &error) != ROOF_OK ||
            seconds != cases[i].seconds) {
            fail_msg("'%s' is %.17g s, expected %.17g %s", cases[i].text, seconds, cases[i].seconds,
                     error.message);
        }
    }
}

static void test_no_times(void **state)
{
    (void)state;
    static const char *const cases[] = {
        /* without a number, without a unit, with another unit, not above 0 */
        "", "us", "s", "83", "83 us", " 83us", "83us ", "83uss", "83u", "83m", "83S", "83US",
        "83Ms", "83min", "83h", "83ps", "83\xC2\xB5s", "83e", "1es", "0us", "-0us", "0.0s", "-1us",
        "-5s", "1,5us", "0x10us", "infs", "nans", "inf us", "nanus", "1e400s", "1e-400s", "--1s",
        "1us1us",
        /* out of range */
        "1.001e9s", "1e305s", "1e18us", "0.999e-12s", "1e-320ns", "1e-310s"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        double seconds = 42;
        if (roof_parse_time(&seconds, cases[i], "--measured", &error) != ROOF_USAGE) {
            fail_msg("'%s' was read as %.17g s", cases[i], seconds);
        }
        assert_true(seconds == 42);
        assert_non_null(strstr(error.message, "--measured"));
        assert_non_null(strstr(error.message, "ns, us, ms or s"));
    }
}

static void test_seconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds; /* 0: refused */
    } cases[] = {{"10", 10},  {"10s", 10}, {"1500ms", 1.5}, {"1", 1},       {"60.5", 60.5},
                 {"0.5s", 0}, {"0.5", 0},  {"61s", 0},      {"61000ms", 0}, {"10h", 0},
                 {"10 s", 0}, {"s", 0},    {"", 0},         {"-1s", 0},     {"1%", 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        double seconds = 0;
        const enum roof_status status =
            roof_parse_seconds(&seconds, cases[i].text, "--seconds", 1, 60.5, &error);
        assert_int_equal(status, cases[i].seconds > 0 ? ROOF_OK : ROOF_USAGE);
        assert_true(seconds == cases[i].seconds);
        assert_true(status == ROOF_OK || strstr(error.message, "from 1 to 60.5") != NULL);
    }
}

static void test_time_or_none(void **state)
{
    (void)state;
    static const char *const none[] = {"0s", "0us", "0.0ms", "0e9ns"};
    static const char *const not_one[] = {"0", "", "s", "-0s", "-1us", "0min", "1e-13s", "1e10s"};
    double seconds = 42;
    for (size_t i = 0; i < COUNT(none); i++) {
        seconds = 42;
        assert_int_equal(roof_parse_time_or_none(&seconds, none[i], "t", NULL), ROOF_OK);
        assert_true(seconds == 0);
    }
    assert_int_equal(roof_parse_time_or_none(&seconds, "2ms", "t", NULL), ROOF_OK);
    assert_true(seconds == 2e-3);
    for (size_t i = 0; i < COUNT(not_one); i++) {
        struct roof_error error = {0};
        assert_int_equal(roof_parse_time_or_none(&seconds, not_one[i], "t", &error), ROOF_USAGE);
        assert_non_null(strstr(error.message, "t must be 0s or a time from 1e-12"));
    }
}

/* --- units --------------------------------------------------------------------------------- */

static void test_units(void **state)
{
    (void)state;
    static const struct {
        enum roof_unit unit;
        const char *name;
        double value; /* in the key's unit */
        double si;
    } cases[] = {
        {ROOF_UNIT_NONE, "", 48, 48},
        {ROOF_UNIT_BYTES, "bytes", 33570816, 33570816},
        {ROOF_UNIT_CAPACITY, "bytes", 25165824, 25165824},
        {ROOF_UNIT_FLOPS, "FLOP", 1e9, 1e9},
        {ROOF_UNIT_MICROSECONDS, "us", 83, 83e-6},
        {ROOF_UNIT_MICROSECONDS, "us", 2e6, 2},
        {ROOF_UNIT_COUNTS, "", 8030261248, 8030261248},
        {ROOF_UNIT_MILLISECONDS, "ms", 83, 83e-3},
        {ROOF_UNIT_MILLISECONDS, "ms", 2e3, 2},
        {ROOF_UNIT_GB_PER_S, "GB/s", 1, 1000000000.0}, /* not 2^30 = 1073741824 */
        {ROOF_UNIT_GB_PER_S, "GB/s", 287, 287e9},
        {ROOF_UNIT_TFLOPS, "TFLOPS", 1, 1000000000000.0}, /* not 1024 G, not 10 T */
        {ROOF_UNIT_TFLOPS, "TFLOPS", 62, 62e12},
        {ROOF_UNIT_GIGABYTES, "GB", 128, 128e9},
        {ROOF_UNIT_MEGAHERTZ, "MHz", 2550, 2.55e9},
        {ROOF_UNIT_WATTS, "W", 140, 140},
        {ROOF_UNIT_JOULES, "J", 8250, 8250},
        {ROOF_UNIT_PICOJOULES, "pJ", 5, 5e-12},
        {ROOF_UNIT_FLOP_PER_BYTE, "FLOP/byte", 4096, 4096},
        {ROOF_UNIT_FRACTION, "%", 50, 0.5},
    };
    bool seen[ROOF_UNIT_COUNT] = {false};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double si = roof_from_unit(cases[i].value, cases[i].unit);
        const double value = roof_to_unit(cases[i].si, cases[i].unit);
        assert_string_equal(roof_unit_name(cases[i].unit), cases[i].name);
        if (si != cases[i].si || value != cases[i].value) {
            fail_msg("%g %s is %.17g, and back %.17g", cases[i].value, cases[i].name, si, value);
        }
        assert_true(isnan(roof_from_unit(ROOF_UNKNOWN, cases[i].unit)));
        assert_true(isnan(roof_to_unit(ROOF_UNKNOWN, cases[i].unit)));
        seen[cases[i].unit] = true;
    }
    for (int unit = 0; unit < ROOF_UNIT_COUNT; unit++) {
        assert_true(seen[unit]);
    }
}

/* A figure of up to 15 digits comes back unchanged, though (0.061 / 10^6) 10^6 is not 0.061. */
static void test_given(void **state)
{
    (void)state;
    bool rounds = false;
    for (int n = 0; n < ROOF_UNIT_COUNT; n++) {
        const enum roof_unit unit = (enum roof_unit)n;
        for (int i = 1; i < 20000; i++) {
            const double thousandths = i / 1000.;
            const double digits = (1e14 + i * 7919.) / 1e12; /* 100.000000007919 */
            const double si = roof_from_unit(thousandths, unit);
            rounds = rounds || roof_to_unit(si, unit) != thousandths;
            assert_true(roof_given(si, unit) == thousandths);
            assert_true(roof_given(roof_from_unit(digits, unit), unit) == digits);
        }
        assert_true(roof_given(0, unit) == 0);
        assert_true(isnan(roof_given(ROOF_UNKNOWN, unit)));
    }
    assert_true(rounds);
    /* With more digits it is a number that comes to the same. */
    const double third = roof_from_unit(1. / 3, ROOF_UNIT_MICROSECONDS);
    assert_true(roof_from_unit(roof_given(third, ROOF_UNIT_MICROSECONDS), ROOF_UNIT_MICROSECONDS) ==
                third);
}

/* --- formatting ---------------------------------------------------------------------------- */

static void expect_number(double value, const char *expected)
{
    char text[ROOF_NUMBER_SIZE];
    memset(text, 'x', sizeof text);
    const size_t length = roof_format_number(text, value);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

static void test_format_number(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-1, "-1"},
        {33570816, "33570816"},
        {-4096, "-4096"},
        {1e6, "1000000"},
        {1e15, "1000000000000000"},
        /* whole numbers around 2^53, from which on doubles are 2 apart, then 4 at 2^54 */
        {9007199254740991.0, "9007199254740991"},
        {9007199254740992.0, "9007199254740992"},
        {9007199254740994.0, "9007199254740994"},
        {-9007199254740994.0, "-9007199254740994"},
        {18014398509481988.0, "18014398509481988"},
        {9223372036854775808.0, "9223372036854776000"}, /* 2^63, 16 digits are enough */
        {1e20, "100000000000000000000"},
        {1.5e20, "150000000000000000000"},
        {1e21, "1e21"},
        {1.25e21, "1.25e21"},
        {1e22, "1e22"},
        {-1e300, "-1e300"},
        {0.1, "0.1"},
        {0.5, "0.5"},
        {-0.25, "-0.25"},
        {1.5, "1.5"},
        {123.456, "123.456"},
        {0.1 + 0.2, "0.30000000000000004"}, /* the next double above 0.3 */
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {116.97149128919861, "116.97149128919861"},
        {2251799813685248.5, "2251799813685248.5"}, /* 2^51 + 1/2: 17 digits */
        {0.01, "0.01"},
        {0.00015, "0.00015"},
        {0.00001, "0.00001"},
        {0.000012345, "0.000012345"},
        {1e-6, "1e-6"},
        {1.5e-7, "1.5e-7"},
        {-2.5e-9, "-2.5e-9"},
        {1e-100, "1e-100"},
        {DBL_MAX, "1.7976931348623157e308"},
        {-DBL_MAX, "-1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},                   /* the smallest normal number */
        {2.225073858507201e-308, "2.225073858507201e-308"},     /* the largest subnormal one */
        {-1.2345678901234568e-300, "-1.2345678901234568e-300"}, /* the longest text */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_number(cases[i].value, cases[i].text);
    }
}

static void test_format_number_of_unknown_is_empty(void **state)
{
    (void)state;
    expect_number(ROOF_UNKNOWN, "");
    expect_number(ENDLESS, "");
    expect_number(-ENDLESS, "");
}

static void test_format_number_is_the_shortest(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        /* Subnormal numbers lie 4.94e-324 apart: one or two digits tell them from each other. */
        {4.9406564584124654e-324, "5e-324"},
        {9.8813129168249309e-324, "1e-323"},
        {1e-320, "1e-320"},
        /* Below a power of two the doubles are half as far apart as above. 2^-44 is
         * 5.68434188608080148...e-14; ...801e-14 is nearer but reads back as the double below,
         * ...802e-14 reads back. The same for 2^-24 = 5.9604644775390625e-8. */
        {5.6843418860808015e-14, "5.684341886080802e-14"},
        {5.9604644775390625e-08, "5.960464477539063e-8"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_number(cases[i].value, cases[i].text);
    }
}

/* xorshift64*: our own, so that a seed means the same numbers everywhere. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

/* The digits of a decimal text that carry information: no leading and no trailing zeros. */
static size_t significant(char out[32], const char *text)
{
    size_t digits = 0;
    size_t kept = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (isdigit((unsigned char)*text) && (*text != '0' || digits > 0) && digits < 31) {
            out[digits++] = *text;
            kept = *text == '0' ? kept : digits;
        }
    }
    out[kept] = '\0';
    return kept;
}

static bool same_bits(double a, double b)
{
    uint64_t bits[2] = {0, 0};
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

/*
 * value must read back to the same bits, from no more digits than %.17g has; thoroughly: not from
 * one digit less, and from the nearest text of that many digits if that reads back at all.
 */
static void expect_read_back(double value, bool thoroughly, uint64_t seed, int round)
{
    char text[ROOF_NUMBER_SIZE];
    char other[40];
    char digits[32];
    char nearest[32];
    const size_t length = roof_format_number(text, value);
    snprintf(other, sizeof other, "%.17g", value);
    const size_t count = significant(digits, text);
    bool right = length == strlen(text) && length < sizeof text &&
                 same_bits(strtod(text, NULL), value) && count <= significant(nearest, other);
    if (right && thoroughly && value != 0) {
        snprintf(other, sizeof other, "%.*e", (int)count - 1, value);
        significant(nearest, other);
        right = strcmp(nearest, digits) == 0 || !same_bits(strtod(other, NULL), value);
        snprintf(other, sizeof other, "%.*e", (int)count - 2, value);
        right = right && (count == 1 || !same_bits(strtod(other, NULL), value));
    }
    if (!right) {
        fail_msg("seed 0x%" PRIx64 ", round %d: %.17g (%a) is written as '%s'", seed, round, value,
                 value, text);
    }
}

static void test_random_numbers_read_back(void **state)
{
    (void)state;
    const uint64_t first = UINT64_C(0x726F6F666C696E65);
    uint64_t seed = first;
    for (int round = 0; round < 100000; round++) {
        const uint64_t bits = next_random(&seed);
        double value = 0;
        memcpy(&value, &bits, sizeof value); /* every exponent and sign */
        if (isfinite(value) && value != 0) {
            expect_read_back(value, round % 8 == 0, first, round);
        }
        /* and numbers as they occur: whole ones and quotients of whole ones */
        const double whole = (double)(int64_t)(bits >> (bits & 63));
        expect_read_back(whole, round % 8 == 1, first, round);
        expect_read_back((whole + 1) / (double)(1 + (next_random(&seed) >> 40)), round % 8 == 2,
                         first, round);
    }
}

static void test_powers_and_their_neighbours_read_back(void **state)
{
    (void)state;
    /* The distance of the doubles changes at powers of two, the number of digits at powers of ten.
     */
    for (int e = -1074; e <= 1023; e++) {
        const double power = ldexp(1, e);
        expect_read_back(power, true, 2, e);
        expect_read_back(nextafter(power, 0), true, 2, e);
        expect_read_back(nextafter(power, DBL_MAX), true, 2, e);
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        const double power = strtod(text, NULL);
        expect_read_back(power, true, 10, e);
        expect_read_back(nextafter(power, 0), true, 10, e);
        expect_read_back(nextafter(power, DBL_MAX), true, 10, e);
    }
}

struct written {
    double si;
    enum roof_unit unit;
    const char *text;
};

static void expect_written(const struct written *cases, size_t count,
                           const char *(*format)(char *, double, enum roof_unit))
{
    for (size_t i = 0; i < count; i++) {
        char text[ROOF_QUANTITY_SIZE];
        assert_ptr_equal(format(text, cases[i].si, cases[i].unit), text);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_format_quantity(void **state)
{
    (void)state;
    static const struct written cases[] = {
        /* one row per SI prefix */
        {1.5e15, ROOF_UNIT_FLOPS, "1.5 PFLOP"},
        {1.5e12, ROOF_UNIT_FLOPS, "1.5 TFLOP"},
        {1.5e9, ROOF_UNIT_FLOPS, "1.5 GFLOP"},
        {1.5e6, ROOF_UNIT_FLOPS, "1.5 MFLOP"},
        {1.5e3, ROOF_UNIT_FLOPS, "1.5 kFLOP"},
        {1.5, ROOF_UNIT_FLOPS, "1.5 FLOP"},
        {1.5e-3, ROOF_UNIT_MICROSECONDS, "1.5 ms"},
        {1.5e-6, ROOF_UNIT_MICROSECONDS, "1.5 us"},
        {1.5e-9, ROOF_UNIT_MICROSECONDS, "1.5 ns"},
        {1.5, ROOF_UNIT_MICROSECONDS, "1.5 s"},
        {2e15, ROOF_UNIT_BYTES, "2 PB"},
        {2e12, ROOF_UNIT_BYTES, "2 TB"},
        {2e9, ROOF_UNIT_BYTES, "2 GB"},
        {2e6, ROOF_UNIT_BYTES, "2 MB"},
        {2e3, ROOF_UNIT_BYTES, "2 kB"},
        {2, ROOF_UNIT_BYTES, "2 B"},
        /* one row per binary prefix */
        {1649267441664.0, ROOF_UNIT_CAPACITY, "1.5 TiB"},
        {1610612736.0, ROOF_UNIT_CAPACITY, "1.5 GiB"},
        {1572864.0, ROOF_UNIT_CAPACITY, "1.5 MiB"},
        {1536.0, ROOF_UNIT_CAPACITY, "1.5 KiB"},
        {512, ROOF_UNIT_CAPACITY, "0.5 KiB"},
        {1024, ROOF_UNIT_CAPACITY, "1 KiB"},
        {1048576, ROOF_UNIT_CAPACITY, "1 MiB"},
        {1073741824, ROOF_UNIT_CAPACITY, "1 GiB"},
        {1099511627776.0, ROOF_UNIT_CAPACITY, "1 TiB"},
        {130567005798.0, ROOF_UNIT_CAPACITY, "121.6 GiB"},
        {25165824, ROOF_UNIT_CAPACITY, "24 MiB"},
        /* of the documentation */
        {117e-6, ROOF_UNIT_MICROSECONDS, "117 us"},
        {33570816, ROOF_UNIT_BYTES, "33.57 MB"},
        {287e9, ROOF_UNIT_GB_PER_S, "287 GB/s"},
        {0.0046, ROOF_UNIT_FRACTION, "0.46%"},
        /* the units without prefixes */
        {8e12, ROOF_UNIT_GB_PER_S, "8000 GB/s"},
        {1e9, ROOF_UNIT_GB_PER_S, "1 GB/s"},
        {62e12, ROOF_UNIT_TFLOPS, "62 TFLOPS"},
        {0.48e12, ROOF_UNIT_TFLOPS, "0.48 TFLOPS"},
        {128e9, ROOF_UNIT_GIGABYTES, "128 GB"},
        {2.55e9, ROOF_UNIT_MEGAHERTZ, "2550 MHz"},
        {140, ROOF_UNIT_WATTS, "140 W"},
        {8250, ROOF_UNIT_JOULES, "8.25 kJ"},
        {0.42, ROOF_UNIT_JOULES, "0.42 J"},
        {1.5, ROOF_UNIT_FLOP_PER_BYTE, "1.5 FLOP/byte"},
        {1, ROOF_UNIT_FRACTION, "100%"},
        {48, ROOF_UNIT_NONE, "48"},
        /* four digits: 999.94 stays below, 999.95 rounds up to the next prefix */
        {999.94, ROOF_UNIT_BYTES, "999.9 B"},
        {999.95, ROOF_UNIT_BYTES, "1 kB"},
        {999940, ROOF_UNIT_BYTES, "999.9 kB"},
        {999950, ROOF_UNIT_BYTES, "1 MB"},
        {999940e-9, ROOF_UNIT_MICROSECONDS, "999.9 us"},
        {999960e-9, ROOF_UNIT_MICROSECONDS, "1 ms"},
        {0.99996, ROOF_UNIT_MICROSECONDS, "1 s"},
        {999.96e12, ROOF_UNIT_FLOPS, "1 PFLOP"},
        {1234.4, ROOF_UNIT_BYTES, "1.234 kB"},
        {1234.6, ROOF_UNIT_BYTES, "1.235 kB"},
        {99.996e9, ROOF_UNIT_FLOPS, "100 GFLOP"},
        {9.9996e9, ROOF_UNIT_FLOPS, "10 GFLOP"},
        /* the ends */
        {0, ROOF_UNIT_BYTES, "0 B"},
        {0, ROOF_UNIT_FLOPS, "0 FLOP"},
        {0, ROOF_UNIT_MICROSECONDS, "0 s"},
        {0, ROOF_UNIT_GB_PER_S, "0 GB/s"},
        {0.5, ROOF_UNIT_BYTES, "0.5 B"}, /* a count has no milli */
        {5e-10, ROOF_UNIT_MICROSECONDS, "0.5 ns"},
        {-33570816, ROOF_UNIT_BYTES, "-33.57 MB"},
        {-1.5e-6, ROOF_UNIT_MICROSECONDS, "-1.5 us"},
        {2e18, ROOF_UNIT_BYTES, "2 EB"},
        /* unknown, in every unit */
        {ROOF_UNKNOWN, ROOF_UNIT_NONE, "-"},
        {ROOF_UNKNOWN, ROOF_UNIT_BYTES, "-"},
        {ROOF_UNKNOWN, ROOF_UNIT_CAPACITY, "-"},
        {ROOF_UNKNOWN, ROOF_UNIT_MICROSECONDS, "-"},
        {ROOF_UNKNOWN, ROOF_UNIT_GB_PER_S, "-"},
        {ROOF_UNKNOWN, ROOF_UNIT_FRACTION, "-"},
        {ENDLESS, ROOF_UNIT_BYTES, "-"},
        {-ENDLESS, ROOF_UNIT_TFLOPS, "-"},
    };
    expect_written(cases, COUNT(cases), roof_format_quantity);
}

static void test_format_short(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {-1, "-1"},
        {10, "10"},
        {1000, "1000"},
        {1.5, "1.5"},
        {-2.5, "-2.5"},
        {0.9995, "0.9995"},
        {1.23449, "1.234"},
        {1.23451, "1.235"},
        {12.3449, "12.34"},
        {123.451, "123.5"},
        {1234.4, "1234"},
        {1234.6, "1235"},
        {0.123449, "0.1234"},
        {0.0123451, "0.01235"},
        {0.000123449, "0.0001234"},
        /* rounding up to one more digit */
        {999.94, "999.9"},
        {999.95, "1000"}, /* the double is 999.9500000000000455 */
        {99.996, "100"},
        {9.9996, "10"},
        {0.99996, "1"},
        {0.099996, "0.1"},
        {9999.6, "10000"},
        /* whole up to a million, then with an exponent */
        {12345, "12345"},
        {999999, "999999"},
        {1e6, "1e+06"},
        {1234567, "1.235e+06"},
        {1.234e10, "1.234e+10"},
        {-1.5e300, "-1.5e+300"},
        {1e-6, "0.000001"},
        {1.5e-7, "1.5e-07"},
        {1.2344e-100, "1.234e-100"},
        {DBL_MAX, "1.798e+308"},
        {ROOF_UNKNOWN, "-"},
        {ENDLESS, "-"},
        {-ENDLESS, "-"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[ROOF_QUANTITY_SIZE];
        assert_ptr_equal(roof_format_short(text, cases[i].value), text);
        assert_string_equal(text, cases[i].text);
    }
}

/* The unit stays, however large or small the value is. */
static void test_format_in(void **state)
{
    (void)state;
    static const struct written cases[] = {
        {43.44421, ROOF_UNIT_MILLISECONDS, "43444 ms"},
        {135.6e-9, ROOF_UNIT_MICROSECONDS, "0.1356 us"},
        {30.094e-6, ROOF_UNIT_MILLISECONDS, "0.03009 ms"},
        {0, ROOF_UNIT_MILLISECONDS, "0 ms"},
        {ROOF_UNKNOWN, ROOF_UNIT_MILLISECONDS, "-"},
    };
    expect_written(cases, COUNT(cases), roof_format_in);
}

static void test_every_quantity_fits(void **state)
{
    (void)state;
    static const double extremes[] = {DBL_MAX, -DBL_MAX, DBL_MIN, 4.9406564584124654e-324, 0};
    for (size_t i = 0; i < COUNT(extremes); i++) {
        for (int unit = 0; unit < ROOF_UNIT_FRACTION; unit++) {
            char text[ROOF_QUANTITY_SIZE];
            memset(text, 'x', sizeof text);
            roof_format_quantity(text, extremes[i], (enum roof_unit)unit);
            assert_true(strnlen(text, sizeof text) < sizeof text);
        }
    }
}

static void test_a_percentage_beyond_all_doubles(void **state)
{
    (void)state;
    /* 100 * DBL_MAX is not finite, and what is not finite is "-". */
    char text[ROOF_QUANTITY_SIZE];
    assert_string_equal(roof_format_quantity(text, DBL_MAX, ROOF_UNIT_FRACTION), "-");
}

static void test_format_range(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        enum roof_unit unit;
        const char *text;
    } cases[] = {{32.92e-6, 57.42e-6, ROOF_UNIT_MICROSECONDS, "32.9 to 57.4 us"},
                 {850e-6, 1.2e-3, ROOF_UNIT_MILLISECONDS, "850 us to 1.2 ms"},
                 {4.583e-3, 7.545e-3, ROOF_UNIT_MILLISECONDS, "4.58 to 7.54 ms"},
                 {0.5, 0.75, ROOF_UNIT_FRACTION, "50% to 75%"},
                 {999.6e-6, 2e-3, ROOF_UNIT_MILLISECONDS, "1 to 2 ms"},
                 {1e-3, (double)NAN, ROOF_UNIT_MILLISECONDS, "1 ms to -"}};
    char text[ROOF_RANGE_SIZE];
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(roof_format_range(text, cases[i].low, cases[i].high, cases[i].unit),
                            cases[i].text);
    }
}

/* A range that begins at a bound does not seem to begin below it. */
static void test_format_range_above(void **state)
{
    (void)state;
    static const struct {
        double bound, low;
        const char *text;
    } cases[] = {{58.04009e-6, 58.04009e-6, "58.04 to 85.2 us"},
                 {58.04009e-6, 58.044e-6, "58.04 to 85.2 us"},
                 {58.04009e-6, 58.06e-6, "58.1 to 85.2 us"},
                 {57.96e-6, 57.96e-6, "58 to 85.2 us"},
                 {58.04009e-6, 57.02e-6, "57 to 85.2 us"}, /* data in a cache */
                 {ROOF_UNKNOWN, 58.04009e-6, "58 to 85.2 us"}};
    char text[ROOF_RANGE_SIZE];
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(roof_format_range_above(text, cases[i].bound, cases[i].low, 85.2e-6,
                                                    ROOF_UNIT_MICROSECONDS),
                            cases[i].text);
    }
}

/* --- lists and ranges ---------------------------------------------------------------------- */

#define VALUES_SHOWN 12

static void test_lists_and_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t count;
        int64_t value[VALUES_SHOWN];
    } cases[] = {
        /* lists, in the order written and as often as written */
        {"7", 1, {7}},
        {"1,8,64", 3, {1, 8, 64}},
        {"8,1,8", 3, {8, 1, 8}},
        {"4Ki,1k", 2, {4096, 1000}},
        /* arithmetic, both ends when hit */
        {"1:4", 4, {1, 2, 3, 4}},
        {"1:10:3", 4, {1, 4, 7, 10}},
        {"1:9:3", 3, {1, 4, 7}},
        {"1:12:3", 4, {1, 4, 7, 10}},
        {"0:6:2", 4, {0, 2, 4, 6}},
        {"1Ki:4Ki:1Ki", 4, {1024, 2048, 3072, 4096}},
        {"5:5", 1, {5}},
        {"5:5:3", 1, {5}},
        {"1:4:100", 1, {1}},
        /* geometric */
        {"1:64:x2", 7, {1, 2, 4, 8, 16, 32, 64}},
        {"1:63:x2", 6, {1, 2, 4, 8, 16, 32}},
        {"64:4096:x2", 7, {64, 128, 256, 512, 1024, 2048, 4096}},
        {"1:1000:x10", 4, {1, 10, 100, 1000}},
        {"3:100:x3", 4, {3, 9, 27, 81}},
        {"7:7:x2", 1, {7}},
        {"1:2:x100", 1, {1}},
        /* 1, 1.5, 2.25, 3.375, 5.0625, 7.59375, 11.39: rounded 1, 2, (2), 3, 5, 8, 11 */
        {"1:10:x1.5", 5, {1, 2, 3, 5, 8}},
        {"1:11:x1.5", 6, {1, 2, 3, 5, 8, 11}},
        /* 2, 2.5, 3.125, 3.90625, 4.88, 6.10, 7.63: rounded 2, 3, (3), 4, 5, 6, 8 */
        {"2:8:x1.25", 6, {2, 3, 4, 5, 6, 8}},
        /* 10, 11, 12.1, 13.31, 14.641 */
        {"10:14:x1.1", 4, {10, 11, 12, 13}},
        /* mixed */
        {"1,8,64:256:x2", 5, {1, 8, 64, 128, 256}},
        {"1:3,10:30:10,1", 7, {1, 2, 3, 10, 20, 30, 1}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        struct roof_values values = {0};
        if (roof_parse_values(&values, cases[i].text, "m", 0, 1000000, &error) != ROOF_OK) {
            fail_msg("'%s': %s", cases[i].text, error.message);
        }
        if (values.count != cases[i].count) {
            fail_msg("'%s' has %" PRId64 " values, expected %" PRId64, cases[i].text, values.count,
                     cases[i].count);
        }
        for (int64_t v = 0; v < values.count; v++) {
            if (roof_values_at(&values, v) != cases[i].value[v]) {
                fail_msg("value %" PRId64 " of '%s' is %" PRId64 ", expected %" PRId64, v,
                         cases[i].text, roof_values_at(&values, v), cases[i].value[v]);
            }
        }
        roof_values_free(&values);
    }
}

static void expect_no_values(const char *text, int64_t min, int64_t max)
{
    struct roof_error error = {0};
    struct roof_values values;
    memset(&values, 1, sizeof values);
    if (roof_parse_values(&values, text, "--kv-len", min, max, &error) != ROOF_USAGE) {
        fail_msg("'%s' was taken, with %" PRId64 " values", text, values.count);
    }
    assert_int_equal(error.status, ROOF_USAGE);
    assert_non_null(strstr(error.message, "--kv-len")); /* every message says what is meant */
    assert_null(values.run);
    assert_int_equal(values.run_count, 0);
    assert_int_equal(values.count, 0);
}

static void test_no_lists(void **state)
{
    (void)state;
    static const char *const cases[] = {
        /* empty elements */
        "", ",", "1,", ",1", "1,,2", ":", "1:", ":5", "1::2", "::", "1:5:", "1:2,",
        /* reversed, standing still, going back */
        "5:1", "5:1:1", "5:1:x2", "1:5:0", "1:5:-1", "1:5:x1", "1:5:x0.5", "1:5:x0", "1:5:x-2",
        "1:5:x1e400", "1:5:xinf", "1:5:xnan", "1:5:x", "1:5:xa", "1:5:x2x", "1:5:x2:3", "1:5:x 2",
        "1:5:X2", "0:8:x2",
        /* no numbers */
        "a", "1,a", "1:a", "a:5", "1:5:a", "1:2:3:4", "1;2", "1 2", "1, 2", "1-5", "1..5", "1.5",
        "1:5:1.5", "1:5:0x2",
        /* outside 0..1000, at each place */
        "1001", "-1", "1,1001", "5,-1", "1:1001", "-1:5", "1001:1002", "1:1001:x2", "1,2:1001,3",
        "1:2000:1000", "1k,1Ki", "99999999999999999999"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_no_values(cases[i], 0, 1000);
    }
    struct roof_error error = {0};
    struct roof_values values = {0};
    assert_int_equal(roof_parse_values(&values, "1,2", "m", 0, 9, NULL), ROOF_OK);
    roof_values_free(&values);
    assert_int_equal(roof_parse_values(&values, "1,2000", "m", 0, 1000, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "from 0 to 1000"));
    assert_non_null(strstr(error.message, "2000"));
}

static void test_reasons_are_given(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *reason;
    } cases[] = {
        {"1,,2", "empty element"}, {"5:1", "reversed"},      {"1:5:0", "step"},
        {"1:5:x1", "above 1"},     {"0:8:x2", "start at 1"}, {"1-8", "START:STOP"},
        {"1k..8k", "START:STOP"},  {"2-", "START:STOP"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        struct roof_values values = {0};
        assert_int_equal(roof_parse_values(&values, cases[i].text, "m", 0, 1000, &error),
                         ROOF_USAGE);
        assert_non_null(strstr(error.message, cases[i].reason));
        assert_non_null(strstr(error.message, cases[i].text)); /* the range as it was written */
    }
}

static void test_geometric_values_rise(void **state)
{
    (void)state;
    /* 1 * 1.01^i for i up to ln 100000 / ln 1.01 = 1157.02, rounded, equal neighbours once */
    struct roof_values values = {0};
    assert_int_equal(roof_parse_values(&values, "1:100000:x1.01", "m", 1, 100000, NULL), ROOF_OK);
    double exact = 1;
    int64_t index = 0;
    assert_int_equal(roof_values_at(&values, 0), 1);
    for (int i = 0; i <= 1157; i++) {
        if ((double)roof_values_at(&values, index) < floor(exact + 0.5)) {
            index++;
        }
        assert_true(index < values.count);
        assert_true((double)roof_values_at(&values, index) == floor(exact + 0.5));
        exact *= 1.01;
    }
    assert_int_equal(index, values.count - 1);
    roof_values_free(&values);
}

static void test_many_values_take_no_memory(void **state)
{
    (void)state;
    struct roof_values values = {0};
    assert_int_equal(roof_parse_values(&values, "1:1000000000000", "m", 1, INT64_MAX, NULL),
                     ROOF_OK); /* exactly ROOF_VALUES_MAX */
    assert_int_equal(values.run_count, 1);
    assert_int_equal(values.count, ROOF_VALUES_MAX);
    assert_int_equal(roof_values_at(&values, 0), 1);
    assert_int_equal(roof_values_at(&values, 123456789012), 123456789013);
    assert_int_equal(roof_values_at(&values, values.count - 1), ROOF_VALUES_MAX);
    roof_values_free(&values);

    assert_int_equal(roof_parse_values(&values, "5:9223372036854775807:9223372036854775000", "m", 0,
                                       INT64_MAX, NULL),
                     ROOF_OK); /* 5 and 5 + 9223372036854775000 */
    assert_int_equal(values.count, 2);
    assert_int_equal(roof_values_at(&values, 1), INT64_C(9223372036854775005));
    roof_values_free(&values);
}

static void test_too_many_values(void **state)
{
    (void)state;
    expect_no_values("1:1000000000001", 1, INT64_MAX);
    expect_no_values("1:1000000000000,5", 1, INT64_MAX);
    expect_no_values("1:1000000000000,1:1000000000000", 1, INT64_MAX);
    expect_no_values("1:9223372036854775807", 1, INT64_MAX);
}

static void test_too_many_values_for_an_integer(void **state)
{
    (void)state;
    expect_no_values("1,1:9223372036854775807", 1, INT64_MAX); /* 1 + (2^63 - 1) values */
    expect_no_values("0:9223372036854775807", 0, INT64_MAX);   /* 2^63 values */
    expect_no_values("-9223372036854775807:9223372036854775807", -INT64_MAX, INT64_MAX);
}

static void test_a_factor_near_one_ends(void **state)
{
    (void)state;
    /* 1 + 2^-52 takes 2^52 * ln 4096 = 4e16 steps: years. Endless ranges are refused, and at once.
     * This is the last test, because the alarm ends the program. */
    alarm(20);
    expect_no_values("1:4096:x1.0000000000000002", 1, INT64_MAX);
    alarm(0);
}

static void test_values_at_over_runs(void **state)
{
    (void)state;
    /* 3 + 4 + 1 + 5 values: each index against the list written out */
    static const int64_t expected[] = {1, 2, 3, 10, 20, 30, 40, 7, 1, 3, 9, 27, 81};
    struct roof_values values = {0};
    assert_int_equal(roof_parse_values(&values, "1:3,10:40:10,7,1:100:x3", "m", 1, 100, NULL),
                     ROOF_OK);
    assert_int_equal(values.count, COUNT(expected));
    for (size_t i = COUNT(expected); i-- > 0;) { /* in any order */
        assert_int_equal(roof_values_at(&values, (int64_t)i), expected[i]);
    }
    roof_values_free(&values);
}

static void test_append(void **state)
{
    (void)state;
    struct roof_values values = {0};
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(
            roof_values_append(&values, (struct roof_run){.first = i, .step = 5, .count = 3}, NULL),
            ROOF_OK);
    }
    assert_int_equal(values.run_count, 1000);
    assert_int_equal(values.count, 3000);
    for (int64_t i = 0; i < 3000; i++) {
        assert_int_equal(roof_values_at(&values, i), i / 3 + i % 3 * 5);
    }
    roof_values_free(&values);
    assert_null(values.run);
    assert_int_equal(values.count, 0);
    roof_values_free(&values);
    roof_values_free(NULL);
}

/* --- locales ------------------------------------------------------------------------------- */

/* Everything once more, in a locale whose decimal point is another. */
static void check_in_locale(const char *name)
{
    if (setlocale(LC_NUMERIC, name) == NULL) {
        print_message("skipped: the locale %s is not installed\n", name);
        return;
    }
    char shown[16];
    snprintf(shown, sizeof shown, "%.1f", 1.5);
    const bool other = strcmp(shown, "1.5") != 0;
    double value = 0;
    double seconds = 0;
    double wrong = 42;
    char number[ROOF_NUMBER_SIZE];
    char small[ROOF_NUMBER_SIZE];
    char quantity[ROOF_QUANTITY_SIZE];
    char brief[ROOF_QUANTITY_SIZE];
    char exponent[ROOF_QUANTITY_SIZE];
    struct roof_values values = {0};
    const enum roof_status parsed = roof_parse_number(&value, "-12.25e1", "x", -1e3, 1e3, NULL);
    const enum roof_status timed = roof_parse_time(&seconds, "1.5ms", "t", NULL);
    const enum roof_status comma = roof_parse_number(&wrong, "1,5", "x", 0, 10, NULL);
    const enum roof_status two = roof_parse_number(&wrong, "1.5.5", "x", 0, 10, NULL);
    const enum roof_status listed = roof_parse_values(&values, "1:10:x1.5", "m", 1, 10, NULL);
    const int64_t count = values.count;
    roof_values_free(&values);
    roof_format_number(number, 116.97149128919861);
    roof_format_number(small, 1.5e-7);
    roof_format_quantity(quantity, 33570816, ROOF_UNIT_BYTES);
    roof_format_short(brief, 0.9995);
    roof_format_short(exponent, 1.234e10);
    setlocale(LC_NUMERIC, "C"); /* before anything can fail */

    assert_true(other);
    assert_int_equal(parsed, ROOF_OK);
    assert_true(value == -122.5);
    assert_int_equal(timed, ROOF_OK);
    assert_true(seconds == 1.5e-3);
    assert_int_equal(comma, ROOF_USAGE);
    assert_int_equal(two, ROOF_USAGE);
    assert_true(wrong == 42);
    assert_int_equal(listed, ROOF_OK);
    assert_int_equal(count, 5);
    assert_string_equal(number, "116.97149128919861");
    assert_string_equal(small, "1.5e-7");
    assert_string_equal(quantity, "33.57 MB");
    assert_string_equal(brief, "0.9995");
    assert_string_equal(exponent, "1.234e+10");
}

static void test_locale_with_a_comma(void **state)
{
    (void)state;
    check_in_locale("de_DE.UTF-8");
}

static void test_locale_with_a_point_of_two_bytes(void **state)
{
    (void)state;
    check_in_locale("ps_AF.UTF-8"); /* U+066B */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_no_integers),
        cmocka_unit_test(test_integer_range),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_numbers_are_finite_whatever_the_range),
        cmocka_unit_test(test_number_range),
        cmocka_unit_test(test_fractions_may_be_percentages),
        cmocka_unit_test(test_units_of_numbers),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_no_times),
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_time_or_none),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_format_number),
        cmocka_unit_test(test_format_number_of_unknown_is_empty),
        cmocka_unit_test(test_format_number_is_the_shortest),
        cmocka_unit_test(test_random_numbers_read_back),
        cmocka_unit_test(test_powers_and_their_neighbours_read_back),
        cmocka_unit_test(test_format_quantity),
        cmocka_unit_test(test_format_range),
        cmocka_unit_test(test_format_range_above),
        cmocka_unit_test(test_format_short),
        cmocka_unit_test(test_format_in),
        cmocka_unit_test(test_every_quantity_fits),
        cmocka_unit_test(test_a_percentage_beyond_all_doubles),
        cmocka_unit_test(test_lists_and_ranges),
        cmocka_unit_test(test_no_lists),
        cmocka_unit_test(test_reasons_are_given),
        cmocka_unit_test(test_geometric_values_rise),
        cmocka_unit_test(test_many_values_take_no_memory),
        cmocka_unit_test(test_too_many_values),
        cmocka_unit_test(test_too_many_values_for_an_integer),
        cmocka_unit_test(test_values_at_over_runs),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_locale_with_a_comma),
        cmocka_unit_test(test_locale_with_a_point_of_two_bytes),
        cmocka_unit_test(test_a_factor_near_one_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
