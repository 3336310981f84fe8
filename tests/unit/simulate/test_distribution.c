// SPDX-License-Identifier: MIT
/* Percentiles: nearest ranks that one counts by hand, and the error of the histogram. */
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "simulate/distribution.h"
#include "simulate/random.h"

static void fill(struct roof_distribution *values, const double *value, size_t count, size_t exact)
{
    roof_distribution_open(values, exact);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(roof_distribution_add(values, value[i], NULL), ROOF_OK);
    }
}

static void test_by_hand(void **state)
{
    (void)state;
    struct roof_distribution values;
    const double five[] = {50, 10, 40, 20, 30};
    fill(&values, five, 5, 1000);
    assert_true(roof_distribution_mean(&values) == 30);
    assert_true(roof_distribution_percentile(&values, 20) == 10); /* rank 1 */
    assert_true(roof_distribution_percentile(&values, 20.1) == 20);
    assert_true(roof_distribution_percentile(&values, 50) == 30); /* rank 2.5, so the third */
    assert_true(roof_distribution_percentile(&values, 99) == 50);
    assert_true(roof_distribution_percentile(&values, 100) == 50);
    roof_distribution_free(&values);

    double hundred[100];
    for (int i = 0; i < 100; i++) {
        hundred[i] = 100 - i;
    }
    fill(&values, hundred, 100, 1000);
    for (int p = 1; p <= 100; p++) {
        assert_true(roof_distribution_percentile(&values, p) == p);
    }
    assert_int_equal(roof_distribution_add(&values, 0.5, NULL), ROOF_OK); /* after it was sorted */
    assert_true(roof_distribution_percentile(&values, 1) == 1);
    assert_true(roof_distribution_percentile(&values, 0.9) == 0.5);
    roof_distribution_free(&values);
}

/* The values from some value on, which are counted by bins beyond those that are kept. */
static void test_from(void **state)
{
    (void)state;
    for (size_t exact = 2; exact <= 10; exact += 8) {
        struct roof_distribution values;
        roof_distribution_open(&values, exact);
        for (int i = 1; i <= 5; i++) {
            assert_int_equal(roof_distribution_add(&values, i, NULL), ROOF_OK);
        }
        assert_int_equal(roof_distribution_from(&values, 0), 5);
        assert_int_equal(roof_distribution_from(&values, 4), 2);
        assert_int_equal(roof_distribution_from(&values, 5.1), 0);
        roof_distribution_free(&values);
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct roof_distribution values;
    roof_distribution_open(&values, 10);
    assert_true(isnan(roof_distribution_mean(&values)));
    assert_true(isnan(roof_distribution_percentile(&values, 50)));
    roof_distribution_free(&values);
}

/* Beyond the values that are kept, each percentile is within half a percent. */
static void test_histogram(void **state)
{
    (void)state;
    static double value[20000];
    static const double percents[] = {0.5, 1, 10, 50, 90, 99, 99.9, 100};
    struct roof_random random;
    struct roof_distribution exact;
    struct roof_distribution bins;
    struct roof_distribution merged;
    roof_random_seed(&random, 5, 1);
    for (int i = 0; i < 20000; i++) {
        value[i] = roof_exact_exp(3 * roof_random_normal(&random) - 4);
    }
    fill(&exact, value, 20000, 20000);
    fill(&bins, value, 20000, 500);
    fill(&merged, value, 100, 20000);
    struct roof_distribution rest;
    fill(&rest, value + 100, 19900, 500);
    assert_int_equal(roof_distribution_merge(&merged, &rest, NULL), ROOF_OK);
    assert_true(exact.bin == NULL && bins.bin != NULL && merged.bin != NULL);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        const double right = roof_distribution_percentile(&exact, percents[i]);
        assert_near(roof_distribution_percentile(&bins, percents[i]), right, 0.005);
        assert_near(roof_distribution_percentile(&merged, percents[i]), right, 0.005);
    }
    assert_near(roof_distribution_mean(&bins), roof_distribution_mean(&exact), 1e-12);
    assert_near(roof_distribution_mean(&merged), roof_distribution_mean(&exact), 1e-12);
    roof_distribution_clear(&bins);
    assert_int_equal(bins.count, 0);
    roof_distribution_free(&exact);
    roof_distribution_free(&bins);
    roof_distribution_free(&merged);
    roof_distribution_free(&rest);
}

#define AWKWARD 20000

/* Value number i of distributions with gaps, ties, long tails or ends of bins, in seconds. */
static double awkward(int kind, int i)
{
    const double part = (i * 7919 % AWKWARD + 0.5) / AWKWARD;
    const double end = 1e-9 * pow(1.01, i % 4160); /* of a bin, or next to it */
    switch (kind) {
    case 0:
        return 0.25;
    case 1:
        return i % 100 == 0 ? 100 : 0.001;
    case 2:
        return i % 2 == 0 ? 1e-9 : 9e8;
    case 3:
        return 1e-6 / (part * part * part); /* most of the sum in one value */
    case 4:
        return part;
    case 5:
        return end;
    case 6:
        return nextafter(end, 0) > 1e-9 ? nextafter(end, 0) : end;
    default:
        return nextafter(end, 1e9);
    }
}

/* The error that the documentation states, 0.5%, holds for every rank of such values. */
static void test_awkward(void **state)
{
    (void)state;
    static double value[AWKWARD];
    for (int kind = 0; kind < 8; kind++) {
        struct roof_distribution exact;
        struct roof_distribution bins;
        for (int i = 0; i < AWKWARD; i++) {
            value[i] = awkward(kind, i);
        }
        fill(&exact, value, AWKWARD, AWKWARD);
        fill(&bins, value, AWKWARD, 100);
        for (int rank = 1; rank <= AWKWARD; rank++) {
            const double percent = (rank - 0.5) * 100 / AWKWARD;
            const double right = roof_distribution_percentile(&exact, percent);
            assert_near(roof_distribution_percentile(&bins, percent), right, 0.005);
        }
        roof_distribution_free(&exact);
        roof_distribution_free(&bins);
    }
}

/* Value number i of n in an order that a selection may find hard. */
static double hard(int order, size_t i, size_t n)
{
    const size_t turned = i < n / 2 ? i : n - i;
    const double values[] = {(double)i, (double)(n - i),          (double)turned, (double)(i % 3),
                             7,         (double)(i * 7919 % 1009)};
    return values[order];
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Every rank is that of the sorted values, whichever ranks were asked for before. */
static void test_ranks(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 4, 5, 10, 100, 333};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (int order = 0; order < 6; order++) {
            const size_t n = counts[c];
            double sorted[333];
            double value[333];
            for (size_t i = 0; i < n; i++) {
                sorted[i] = value[i] = hard(order, i, n);
            }
            qsort(sorted, n, sizeof *sorted, by_value);
            for (size_t rank = 0; rank < n; rank++) {
                struct roof_distribution values;
                fill(&values, value, n, 1000);
                for (size_t look = 0; look < 7; look++) {
                    const size_t at = (rank + look * n / 3) % n;
                    const double percent = ((double)at + 0.5) * 100 / (double)n;
                    assert_true(roof_distribution_percentile(&values, percent) == sorted[at]);
                }
                roof_distribution_free(&values);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_from),    cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_awkward), cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
