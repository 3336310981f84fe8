// SPDX-License-Identifier: MIT
/* Drafts that are accepted: their distribution, and what it does not depend on. */
#include "support.h"

#include <math.h>

#include "simulate/drafts.h"

#define DRAWS 200000

/* Each number of accepted tokens is as frequent as a^j (1 - a) says, and all of k as a^k. */
static void test_distribution(void **state)
{
    (void)state;
    const struct roof_drafts drafts = {.tokens = 3, .acceptance = 0.7, .seed = 1};
    const double expected[] = {0.3, 0.21, 0.147, 0.343};
    double found[4] = {0};
    for (int64_t i = 0; i < DRAWS; i++) {
        const int64_t tokens = roof_drafts_yield(&drafts, (uint64_t)(i % 1000), i / 1000, DRAWS);
        assert_in_range(tokens, 1, 4);
        found[tokens - 1] += 1. / DRAWS;
    }
    for (int j = 0; j < 4; j++) {
        assert_near(found[j], expected[j], 0.01);
    }
}

static void test_ends(void **state)
{
    (void)state;
    const struct roof_drafts never = {.tokens = 5, .acceptance = 0, .seed = 1};
    const struct roof_drafts always = {.tokens = 5, .acceptance = 1, .seed = 1};
    const struct roof_drafts none = {.tokens = 0, .acceptance = 1, .seed = 1};
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(roof_drafts_yield(&never, 7, i, 2000), 1);
        assert_int_equal(roof_drafts_yield(&always, 7, i, 2000), 6);
        assert_int_equal(roof_drafts_yield(&none, 7, i, 2000), 1);
    }
    assert_int_equal(roof_drafts_yield(&always, 7, 10, 16), 6); /* no more than are wanted */
    assert_int_equal(roof_drafts_yield(&always, 7, 10, 17), 6);
    assert_int_equal(roof_drafts_yield(&always, 7, 10, 15), 5);
    assert_int_equal(roof_drafts_yield(&always, 7, 10, 14), 4);
    assert_int_equal(roof_drafts_yield(&always, 7, 10, 11), 1);
}

/* Counts the draws in which two differ, of a seed and a request each. */
static int differences(uint64_t seed, uint64_t request, uint64_t other_seed, uint64_t other)
{
    const struct roof_drafts a = {.tokens = 1, .acceptance = 0.5, .seed = seed};
    const struct roof_drafts b = {.tokens = 1, .acceptance = 0.5, .seed = other_seed};
    int count = 0;
    for (int64_t i = 1; i <= 1000; i++) {
        count += roof_drafts_yield(&a, request, i, 2000) != roof_drafts_yield(&b, other, i, 2000)
                     ? 1
                     : 0;
    }
    return count;
}

/* Other requests and seeds have other draws: half of them differ, within four deviations. */
static void test_independence(void **state)
{
    (void)state;
    assert_int_equal(differences(1, 3, 1, 3), 0);
    assert_in_range(differences(1, 3, 1, 4), 437, 563);
    assert_in_range(differences(1, 3, 2, 3), 437, 563);
    assert_in_range(differences(1, 3, 3, 1), 437, 563);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_independence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
