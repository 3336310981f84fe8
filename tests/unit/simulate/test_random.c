// SPDX-License-Identifier: MIT
/* Random numbers: the logarithm and the exponential of our own, and the moments of distributions.
 */
#include "support.h"

#include <math.h>

#include "simulate/random.h"

#define DRAWS 200000

static void test_functions(void **state)
{
    (void)state;
    assert_true(roof_exact_log(1) == 0);
    assert_true(roof_exact_exp(0) == 1);
    for (int i = -1000; i <= 1000; i++) {
        const double x = pow(2, 0.99 * i);
        assert_near(roof_exact_log(x), log(x), 2e-15);
    }
    for (int i = -1860; i <= 1860; i++) {
        const double x = 0.37 * i;
        assert_near(roof_exact_exp(x), exp(x), 2e-13);
    }
}

/* Blackman and Vigna's generator from a state of 1, 2, 3, 4: their own first outputs. */
static void test_bits(void **state)
{
    (void)state;
    static const uint64_t first[] = {11520U, 0U, 1509978240U, 1215971899390074240U};
    struct roof_random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        assert_true(roof_random_bits(&random) == first[i]);
    }
}

static void test_streams(void **state)
{
    (void)state;
    struct roof_random a;
    struct roof_random b;
    struct roof_random again;
    roof_random_seed(&a, 1, 1);
    roof_random_seed(&b, 1, 2);
    roof_random_seed(&again, 1, 1);
    for (int i = 0; i < 100; i++) {
        const uint64_t bits = roof_random_bits(&a);
        assert_true(bits == roof_random_bits(&again));
        assert_true(bits != roof_random_bits(&b));
    }
}

static void test_integers(void **state)
{
    (void)state;
    struct roof_random random;
    int seen[6] = {0};
    roof_random_seed(&random, 7, 1);
    for (int i = 0; i < DRAWS; i++) {
        const int64_t value = roof_random_integer(&random, 3, 8);
        assert_true(value >= 3 && value <= 8);
        seen[value - 3]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_near(seen[i], DRAWS / 6., 0.02);
    }
}

struct moments {
    double mean;
    double variance;
};

static struct moments moments_of(double (*draw)(struct roof_random *, double), double of)
{
    struct roof_random random;
    double sum = 0;
    double squares = 0;
    roof_random_seed(&random, 3, 1);
    for (int i = 0; i < DRAWS; i++) {
        const double x = draw(&random, of);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / DRAWS;
    return (struct moments){mean, squares / DRAWS - mean * mean};
}

static double exponential(struct roof_random *random, double of)
{
    (void)of;
    return roof_random_exponential(random);
}

static double normal(struct roof_random *random, double of)
{
    return of + roof_random_normal(random);
}

static void test_moments(void **state)
{
    (void)state;
    static const double shapes[] = {0.04, 0.5, 1, 4, 100};
    struct moments m = moments_of(exponential, 0);
    assert_near(m.mean, 1, 0.01);
    assert_near(m.variance, 1, 0.03);
    m = moments_of(normal, 5);
    assert_near(m.mean, 5, 0.002);
    assert_near(m.variance, 1, 0.02);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        m = moments_of(roof_random_gamma, shapes[i]);
        assert_near(m.mean, shapes[i], 0.03);
        assert_near(m.variance, shapes[i], 0.08);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_bits),
        cmocka_unit_test(test_streams),   cmocka_unit_test(test_integers),
        cmocka_unit_test(test_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
