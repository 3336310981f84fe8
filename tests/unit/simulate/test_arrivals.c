// SPDX-License-Identifier: MIT
/* Arrivals and lengths: what is read, what is refused, and the moments of what is drawn. */
#include "support.h"

#include <math.h>

#include "simulate/arrivals.h"

#define DRAWS 100000

static void check_refused(enum roof_status status, const struct roof_error *error, const char *why)
{
    assert_int_equal(status, ROOF_USAGE);
    assert_string_equal(error->message, why);
}

static void test_refused(void **state)
{
    (void)state;
    struct roof_arrival_process process;
    struct roof_length length;
    struct roof_error e = {0};
    double rate = 0;
    check_refused(roof_arrivals_read(&process, "bursty", &e), &e,
                  "arrivals must be poisson, constant or gamma:CV, not 'bursty'");
    check_refused(roof_arrivals_read(&process, "gamma", &e), &e,
                  "arrivals must be poisson, constant or gamma:CV, not 'gamma'");
    assert_int_equal(roof_arrivals_read(&process, "gamma:0", &e), ROOF_USAGE);
    assert_int_equal(roof_arrivals_read(&process, "gamma:1:2:3", &e), ROOF_USAGE);
    assert_int_equal(roof_arrivals_read(&process, "poisson:1", &e), ROOF_USAGE);
    check_refused(
        roof_length_read(&length, "prompt", "normal:5:1", &e), &e,
        "prompt must be a number of tokens, uniform:A:B or lognormal:MEAN:CV, not 'normal:5:1'");
    assert_int_equal(roof_length_read(&length, "prompt", "0", &e), ROOF_USAGE);
    assert_int_equal(roof_length_read(&length, "prompt", "uniform:8:7", &e), ROOF_USAGE);
    assert_int_equal(roof_length_read(&length, "prompt", "uniform:8", &e), ROOF_USAGE);
    check_refused(roof_length_read(&length, "prompt", "lognormal:8:0", &e), &e,
                  "the CV of prompt must be a number from 0.01 to 20, not '0'");
    assert_int_equal(roof_rate_read(&rate, "0", &e), ROOF_USAGE);
    assert_int_equal(roof_rate_read(&rate, "-1", &e), ROOF_USAGE);
    assert_int_equal(roof_rate_read(&rate, "2e9", &e), ROOF_USAGE);
    assert_int_equal(roof_rate_read(&rate, "2/min", &e), ROOF_USAGE);
    assert_int_equal(roof_rate_read(&rate, "/s", &e), ROOF_USAGE);
    assert_int_equal(roof_rate_read(&rate, "0.62/s", &e), ROOF_OK);
    assert_true(rate == 0.62);
    assert_int_equal(roof_rate_read(&rate, "1e9", &e), ROOF_OK);
}

/* The mean and the coefficient of variation of what is drawn. */
static void check_length(const char *text, double mean, double cv, int64_t low, int64_t high)
{
    struct roof_length length;
    struct roof_random random;
    double sum = 0;
    double squares = 0;
    roof_random_seed(&random, 1, 2);
    assert_int_equal(roof_length_read(&length, "prompt", text, NULL), ROOF_OK);
    assert_near(length.mean, mean, 1e-12);
    for (int i = 0; i < DRAWS; i++) {
        const int64_t x = roof_length_draw(&length, &random);
        assert_true(x >= low && x <= high);
        sum += (double)x;
        squares += (double)x * (double)x;
    }
    const double got = sum / DRAWS;
    assert_near(got, mean, 0.02);
    assert_true(fabs(sqrt(fmax(0, squares / DRAWS - got * got)) / got - cv) < 0.05 * cv + 1e-9);
}

static void test_lengths(void **state)
{
    (void)state;
    check_length("2k", 2000, 0, 2000, 2000);
    check_length("uniform:100:300", 200, 200 / sqrt(12) / 200, 100, 300);
    check_length("lognormal:1000:0.5", 1000, 0.5, 1, ROOF_LENGTH_MAX);
    check_length("lognormal:1000:1.5", 1000, 1.5, 1, ROOF_LENGTH_MAX);
}

static struct roof_arrivals requests(const char *process, double rate)
{
    struct roof_arrivals a = {.rate = rate};
    assert_int_equal(roof_arrivals_read(&a.process, process, NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&a.prompt, "prompt", "uniform:1:1000", NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&a.generate, "generate", "lognormal:100:1", NULL), ROOF_OK);
    roof_arrivals_seed(&a, 1);
    return a;
}

static void check_gaps(const char *process, double cv)
{
    struct roof_arrivals a = requests(process, 4);
    double last = 0;
    double squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct roof_arrival arrival;
        roof_arrivals_next(&arrival, &a);
        squares += (arrival.time_s - last) * (arrival.time_s - last);
        last = arrival.time_s;
    }
    const double mean = last / DRAWS;
    assert_near(mean, 0.25, 0.02);
    assert_true(fabs(sqrt(fmax(0, squares / DRAWS - mean * mean)) / mean - cv) < 0.03 * cv + 1e-6);
}

static void test_gaps(void **state)
{
    (void)state;
    check_gaps("constant", 0);
    check_gaps("poisson", 1);
    check_gaps("gamma:0.5", 0.5);
    check_gaps("gamma:3", 3);
}

/* Another rate brings the same requests, in other times: at twice the rate in half of them. */
static void test_common_numbers(void **state)
{
    (void)state;
    struct roof_arrivals slow = requests("gamma:2", 1);
    struct roof_arrivals fast = requests("gamma:2", 2);
    for (int i = 0; i < 1000; i++) {
        struct roof_arrival a;
        struct roof_arrival b;
        roof_arrivals_next(&a, &slow);
        roof_arrivals_next(&b, &fast);
        assert_near(a.time_s, 2 * b.time_s, 1e-12);
        assert_int_equal(a.prompt, b.prompt);
        assert_int_equal(a.generate, b.generate);
    }
}

/* Gaps, prompts and outputs of 10,000 requests do not depend on one another: correlations of random
 * numbers are within 5 standard deviations of 0.01. */
static void test_independent(void **state)
{
    (void)state;
    enum { COUNT = 10000, VALUES = 3 };
    struct roof_arrivals a = requests("poisson", 4);
    double sum[VALUES] = {0};
    double product[VALUES][VALUES] = {{0}};
    double last = 0;
    for (int i = 0; i < COUNT; i++) {
        struct roof_arrival r;
        roof_arrivals_next(&r, &a);
        const double value[VALUES] = {r.time_s - last, (double)r.prompt, (double)r.generate};
        last = r.time_s;
        for (int x = 0; x < VALUES; x++) {
            sum[x] += value[x] / COUNT;
            for (int y = 0; y < VALUES; y++) {
                product[x][y] += value[x] * value[y] / COUNT;
            }
        }
    }
    for (int x = 0; x < VALUES; x++) {
        for (int y = 0; y < x; y++) {
            const double both =
                (product[x][x] - sum[x] * sum[x]) * (product[y][y] - sum[y] * sum[y]);
            assert_true(fabs(product[x][y] - sum[x] * sum[y]) < 0.05 * sqrt(both));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_gaps),        cmocka_unit_test(test_common_numbers),
        cmocka_unit_test(test_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
