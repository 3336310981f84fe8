// SPDX-License-Identifier: MIT
/* Fits of planted factors and host times, and their errors by hand. */
#include "support.h"

#include <math.h>

#include "decide/fit_scale.h"

/* A value without host time of an engine. */
#define VALUE(expected, measured, passes_)                                                         \
    {                                                                                              \
        .expected_s = (expected), .measured_s = (measured), .passes = (passes_)                    \
    }
#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * (b))

static struct roof_scale_fit fit(const struct roof_scale_row *row, size_t count)
{
    struct roof_scale_fit out;
    struct roof_error error = {0};
    assert_int_equal(roof_scale_fit(&out, row, count, NULL, &error), ROOF_OK);
    assert_int_equal(out.rows, count);
    return out;
}

static void test_planted(void **unused)
{
    (void)unused;
    /* Twice the expected time and 3 s for each pass: all four values are on that line. */
    const struct roof_scale_row both[] = {VALUE(1, 5, 1), VALUE(2, 7, 1), VALUE(4, 11, 1),
                                          VALUE(3, 12, 2)};
    const struct roof_scale_fit f = fit(both, COUNT(both));
    assert_true(fabs(f.scale - 2) < 1e-9);
    assert_true(fabs(f.host_s - 3) < 1e-9);
    NEAR(f.mape, (0.8 + 5. / 7 + 7. / 11 + 0.75) / 4);
    assert_true(f.fitted_mape < 1e-9);
    /* A factor alone, of operators: they have no passes. */
    const struct roof_scale_row factor[] = {VALUE(1, 1.5, 0), VALUE(2, 3, 0), VALUE(8, 12, 0)};
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
    const struct roof_scale_row row[] = {VALUE(1, 1, 0), VALUE(1, 1, 0), VALUE(1, 2, 0)};
    const struct roof_scale_fit f = fit(row, COUNT(row));
    /* Without a fit the errors are 0, 0 and 1/2; with one 0.2, 0.2 and 1/2: no factor helps. */
    NEAR(f.mape, 0.5 / 3);
    NEAR(f.fitted_mape, 0.5 / 3);
    assert_true(f.scale == 1 && f.host_s == 0);
    const struct roof_scale_row slow[] = {VALUE(1, 2, 0), VALUE(1, 2, 0), VALUE(1, 4, 0)};
    const struct roof_scale_fit g = fit(slow, COUNT(slow));
    /* All: (1/2 + 1/2 + 1/4) / (1/4 + 1/4 + 1/16) = 20/9. Errors left out: 1.2 x 2 / 2 - 1, twice,
     * and 2 / 4 - 1. */
    NEAR(g.scale, 2.222); /* the digits that are printed */
    NEAR(g.mape, (0.5 + 0.5 + 0.75) / 3);
    NEAR(g.fitted_mape, (0.2 + 0.2 + 0.5) / 3);
    NEAR(g.applied_mape, (0.111 + 0.111 + 0.4445) / 3);
}

/* The factor leaves the host time of the engine as it is: m = c + 2 (x - c) + 3 p, with c half a
 * second, 1 s or 2 s of x. Without c as a part, no factor fits. */
static void test_engine(void **unused)
{
    (void)unused;
    const double engine[] = {0.5, 1, 2, 1};
    const double kernels[] = {1, 2, 4, 8};
    struct roof_scale_row row[4];
    for (size_t i = 0; i < COUNT(row); i++) {
        const double passes = (double)(i % 2 + 1);
        row[i] = (struct roof_scale_row){.expected_s = engine[i] + kernels[i],
                                         .measured_s = engine[i] + 2 * kernels[i] + 3 * passes,
                                         .passes = passes,
                                         .host_s = engine[i]};
    }
    const struct roof_scale_fit f = fit(row, COUNT(row));
    assert_true(f.hosted);
    NEAR(f.scale, 2);
    NEAR(f.host_s, 3);
    assert_true(f.fitted_mape < 1e-9);
    for (size_t i = 0; i < COUNT(row); i++) {
        row[i].host_s = 0;
    }
    assert_true(fit(row, COUNT(row)).fitted_mape > 0.01);
    /* By hand, of x = 2 with c = 1 each, and m = 3, 3 and 5: u = 1/3, 1/3 and 1/5, t = 2/3, 2/3 and
     * 4/5. s = (2/9 + 2/9 + 4/25) / (1/9 + 1/9 + 1/25) = 136/59; errors left out: those of 3 by
     * s = (2/9 + 4/25) / (1/9 + 1/25) = 43/17, and that of 5 by s = 2. */
    struct roof_scale_row three[] = {VALUE(2, 3, 0), VALUE(2, 3, 0), VALUE(2, 5, 0)};
    for (size_t i = 0; i < COUNT(three); i++) {
        three[i].host_s = 1;
    }
    const struct roof_scale_fit g = fit(three, COUNT(three));
    NEAR(g.scale, 2.305); /* 136/59 = 2.30508 */
    NEAR(g.fitted_mape, (2 * ((1 + 43. / 17) / 3 - 1) + 0.4) / 3);
    NEAR(g.mape, (1. / 3 + 1. / 3 + 0.6) / 3);
}

/* No option has a factor that is not above 0, so there is none. */
static void test_only_engine(void **unused)
{
    (void)unused;
    struct roof_scale_row row[] = {VALUE(3, 1, 0), VALUE(3, 1, 0), VALUE(3, 1, 0)};
    for (size_t i = 0; i < COUNT(row); i++) {
        row[i].host_s = 2;
    }
    assert_true(fit(row, COUNT(row)).scale == 1);
}

/* A host time below 0 is none, and values that cannot tell it from the factor have none. */
static void test_no_host_time(void **unused)
{
    (void)unused;
    const struct roof_scale_row below[] = {VALUE(2, 2, 1), VALUE(3, 4, 1),
                                           VALUE(4, 6, 1)}; /* m = 2 e - 2 */
    assert_true(fit(below, COUNT(below)).host_s == 0);
    const struct roof_scale_row same[] = {VALUE(1, 3, 1), VALUE(2, 6, 2), VALUE(4, 12, 4)};
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
            row[i] = (struct roof_scale_row)VALUE(1, 2 + 3 * passes, passes);
        }
        const struct roof_scale_fit f = fit(row, COUNT(row));
        assert_true(fabs(f.scale - (part == 6 ? 2 : 5)) < 1e-3);
        assert_true(fabs(f.host_s - (part == 6 ? 3 : 0)) < 1e-3);
    }
}

/* A run does not judge itself: x = 1 each, m = 2 twice in one run, and 2 and 4 in others. Without
 * the first run s = (1/2 + 1/4) / (1/4 + 1/16) = 2.4, without the second (1/2 + 1/2 + 1/4) / (1/4 +
 * 1/4
 * + 1/16) = 20/9, and without the third 2. */
static void test_runs(void **unused)
{
    (void)unused;
    struct roof_scale_row row[] = {VALUE(1, 2, 0), VALUE(1, 2, 0), VALUE(1, 2, 0), VALUE(1, 4, 0)};
    static const int line[] = {2, 2, 3, 4};
    for (size_t i = 0; i < COUNT(row); i++) {
        row[i].line = line[i];
    }
    NEAR(fit(row, COUNT(row)).fitted_mape, (0.2 + 0.2 + 1. / 9 + 0.5) / 4);
}

static void test_too_few(void **unused)
{
    (void)unused;
    struct roof_scale_row row[] = {VALUE(1, 2, 0), VALUE(1, 2, 0), VALUE(1, 2, 0)};
    struct roof_scale_fit out;
    struct roof_error error = {0};
    assert_int_equal(roof_scale_fit(&out, row, 2, NULL, &error), ROOF_UNSATISFIED);
    assert_non_null(strstr(error.message, "the file has 2"));
    row[1].line = row[2].line = 3; /* three values of two runs */
    assert_int_equal(roof_scale_fit(&out, row, COUNT(row), NULL, &error), ROOF_UNSATISFIED);
    assert_non_null(strstr(error.message, "the file has 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),      cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_no_host_time), cmocka_unit_test(test_alike),
        cmocka_unit_test(test_too_few),      cmocka_unit_test(test_engine),
        cmocka_unit_test(test_only_engine),  cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
