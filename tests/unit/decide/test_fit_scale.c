// SPDX-License-Identifier: MIT
/* Fits of planted factors and host times, and their errors by hand. */
#include "support.h"

#include <math.h>

#include "decide/fit_scale.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * (b))

static struct roof_scale_fit fit(const struct roof_scale_row *row, size_t count)
{
    struct roof_scale_fit out;
    struct roof_error error = {0};
    assert_int_equal(roof_scale_fit(&out, row, count, &error), ROOF_OK);
    assert_int_equal(out.rows, count);
    return out;
}

static void test_planted(void **unused)
{
    (void)unused;
    /* Twice the expected time and 3 s for each pass: all four values are on that line. */
    const struct roof_scale_row both[] = {{1, 5, 1}, {2, 7, 1}, {4, 11, 1}, {3, 12, 2}};
    const struct roof_scale_fit f = fit(both, COUNT(both));
    assert_true(fabs(f.scale - 2) < 1e-9);
    assert_true(fabs(f.host_s - 3) < 1e-9);
    NEAR(f.mape, (0.8 + 5. / 7 + 7. / 11 + 0.75) / 4);
    assert_true(f.fitted_mape < 1e-9);
    /* A factor alone, of operators: they have no passes. */
    const struct roof_scale_row factor[] = {{1, 1.5, 0}, {2, 3, 0}, {8, 12, 0}};
    const struct roof_scale_fit g = fit(factor, COUNT(factor));
    NEAR(g.scale, 1.5);
    assert_true(g.host_s == 0);
    NEAR(g.mape, 1. / 3);
    assert_true(g.fitted_mape < 1e-12);
}

/* The error of each value is by the fit of the others: two of 1 and one of 2 give, for the 2, the
 * factor 1; for a 1, that of u = 1 and u = 1/2, 1.5 / 1.25 = 1.2. */
static void test_left_out(void **unused)
{
    (void)unused;
    const struct roof_scale_row row[] = {{1, 1, 0}, {1, 1, 0}, {1, 2, 0}};
    const struct roof_scale_fit f = fit(row, COUNT(row));
    /* Without a fit the errors are 0, 0 and 1/2; with one 0.2, 0.2 and 1/2: no factor helps. */
    NEAR(f.mape, 0.5 / 3);
    NEAR(f.fitted_mape, 0.5 / 3);
    assert_true(f.scale == 1 && f.host_s == 0);
    const struct roof_scale_row slow[] = {{1, 2, 0}, {1, 2, 0}, {1, 4, 0}};
    const struct roof_scale_fit g = fit(slow, COUNT(slow));
    /* All: (1/2 + 1/2 + 1/4) / (1/4 + 1/4 + 1/16) = 20/9. Errors left out: 1.2 x 2 / 2 - 1, twice,
     * and 2 / 4 - 1. */
    NEAR(g.scale, 20. / 9);
    NEAR(g.mape, (0.5 + 0.5 + 0.75) / 3);
    NEAR(g.fitted_mape, (0.2 + 0.2 + 0.5) / 3);
}

/* A host time below 0 is none, and values that cannot tell it from the factor have none. */
static void test_no_host_time(void **unused)
{
    (void)unused;
    const struct roof_scale_row below[] = {{2, 2, 1}, {3, 4, 1}, {4, 6, 1}}; /* m = 2 e - 2 */
    assert_true(fit(below, COUNT(below)).host_s == 0);
    const struct roof_scale_row same[] = {{1, 3, 1}, {2, 6, 2}, {4, 12, 4}};
    const struct roof_scale_fit f = fit(same, COUNT(same));
    NEAR(f.scale, 3);
    assert_true(f.host_s == 0);
}

/* Passes per expected second must differ by some parts in 100,000 for a host time: with differences
 * of 6 the fit has it, with 2 the factor takes all of the 5 s. */
static void test_alike(void **unused)
{
    (void)unused;
    for (int part = 6; part >= 2; part -= 4) {
        struct roof_scale_row row[4];
        for (size_t i = 0; i < COUNT(row); i++) {
            const double passes = 1 + (i % 2 == 0 ? 1e-5 : -1e-5) * part;
            row[i] = (struct roof_scale_row){1, 2 + 3 * passes, passes};
        }
        const struct roof_scale_fit f = fit(row, COUNT(row));
        assert_true(fabs(f.scale - (part == 6 ? 2 : 5)) < 1e-3);
        assert_true(fabs(f.host_s - (part == 6 ? 3 : 0)) < 1e-3);
    }
}

static void test_too_few(void **unused)
{
    (void)unused;
    const struct roof_scale_row row[] = {{1, 2, 0}, {1, 2, 0}};
    struct roof_scale_fit out;
    struct roof_error error = {0};
    assert_int_equal(roof_scale_fit(&out, row, COUNT(row), &error), ROOF_UNSATISFIED);
    assert_non_null(strstr(error.message, "the file has 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),      cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_no_host_time), cmocka_unit_test(test_alike),
        cmocka_unit_test(test_too_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
