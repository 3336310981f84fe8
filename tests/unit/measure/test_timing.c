// SPDX-License-Identifier: MIT
#include "measure/timing.h"

#include "base/base.h"
#include "support.h"

/* Samples that are planted, one after another; the last repeats. */
struct planted {
    const double *value;
    size_t count;
    size_t taken;
    size_t fails_at; /* 0: never */
};

static enum roof_status take(void *context, double *seconds, struct roof_error *error)
{
    struct planted *const p = context;
    *seconds = p->value[p->taken < p->count ? p->taken : p->count - 1];
    p->taken++;
    return p->taken == p->fails_at ? roof_error_set(error, ROOF_IO, "the device is gone") : ROOF_OK;
}

static const struct roof_timing_rules rules = {.warm = 2, .least = 5, .rounds = 3};

static void test_median(void **state)
{
    double odd[] = {3, 1, 2};
    double even[] = {4, 1, 3, 2};
    (void)state;
    assert_around(roof_median(odd, 3), 2, 0);
    assert_around(roof_median(even, 4), 2.5, 0);
    assert_around(roof_median(odd, 0), 0, 0);
}

/* Warm samples do not count, an outlier moves no median, and a quiet round is the only one. */
static void test_quiet(void **state)
{
    const double values[] = {90, 90, 10, 10, 10.1, 10, 70};
    struct planted planted = {values, COUNT(values), 0, 0};
    struct roof_timing timing = {0};
    (void)state;
    assert_int_equal(roof_time(&timing, take, &planted, &rules, NULL), ROOF_OK);
    assert_around(timing.median_s, 10, 0);
    assert_around(timing.noise, 0, 0);
    assert_false(timing.noisy);
    assert_int_equal(planted.taken, 7);
}

/* The deviations of 8, 9, 10, 11, 12 from 10 are 2, 1, 0, 1, 2: their median is a tenth. All rounds
 * are taken, and the quietest counts. */
static void test_noisy(void **state)
{
    const double values[] = {1, 1, 8, 9, 10, 11, 12, 18, 19, 20, 21, 22, 5, 9, 10, 15, 19};
    struct planted planted = {values, COUNT(values), 0, 0};
    struct roof_timing timing = {0};
    (void)state;
    assert_int_equal(roof_time(&timing, take, &planted, &rules, NULL), ROOF_OK);
    assert_around(timing.median_s, 20, 0);
    assert_around(timing.noise, 0.05, 1e-12);
    assert_true(timing.noisy);
    assert_int_equal(planted.taken, 17);
}

static void test_failure(void **state)
{
    const double values[] = {1};
    struct planted planted = {values, 1, 0, 4};
    struct roof_timing timing = {0};
    struct roof_error error = {0};
    (void)state;
    assert_int_equal(roof_time(&timing, take, &planted, &rules, &error), ROOF_IO);
    assert_string_equal(error.message, "the device is gone");
    assert_int_equal(planted.taken, 4);
}

/* A limit that has passed leaves one warm sample and three that count. */
static void test_limit(void **state)
{
    const double values[] = {1, 2, 3, 4};
    struct planted planted = {values, COUNT(values), 0, 0};
    struct roof_timing_rules short_rules = rules;
    struct roof_timing timing = {0};
    (void)state;
    short_rules.limit_s = 1e-12;
    assert_int_equal(roof_time(&timing, take, &planted, &short_rules, NULL), ROOF_OK);
    assert_int_equal(planted.taken, 4);
    assert_around(timing.median_s, 3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),  cmocka_unit_test(test_quiet), cmocka_unit_test(test_noisy),
        cmocka_unit_test(test_failure), cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
