// SPDX-License-Identifier: MIT
/* The splits that a search goes through, counted by hand. */
#include "models.h"

#include <stdlib.h>

#include "decide/plan_split.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct roof_model *dense;   /* 32 heads, 8 of them of keys and values, 32 layers */
static struct roof_model *experts; /* 8 experts */

static int set_up(void **unused)
{
    (void)unused;
    dense = load("llama-3.1-8b");
    experts = load("mixtral-8x7b");
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    roof_model_free(dense);
    roof_model_free(experts);
    return 0;
}

static struct roof_plan_problem ask(const struct roof_model *model, const int64_t *devices,
                                    size_t counts)
{
    struct roof_plan_problem q = {.model = model, .devices = devices, .device_counts = counts};
    roof_scenario_init(&q.base);
    return q;
}

/* Counts the splits, and checks that each is one. */
static size_t count(const struct roof_plan_problem *q)
{
    struct roof_splits splits;
    assert_int_equal(roof_plan_splits(&splits, q, NULL), ROOF_OK);
    const size_t all = splits.count;
    for (size_t i = 0; i < all; i++) {
        const struct roof_split *const s = &splits.split[i];
        assert_true(roof_plan_uses(q, s) > 0);
        assert_int_equal(roof_split_devices(s), s->tp * s->pp * s->attention_dp);
        if (q->model->experts > 0) {
            assert_int_equal(s->moe_tp * s->moe_ep, s->tp * s->attention_dp);
        }
        for (size_t k = 0; k < i; k++) {
            assert_memory_not_equal(s, &splits.split[k], sizeof *s);
        }
    }
    roof_splits_free(&splits);
    return all;
}

/* Dense: the pairs of factors of 1, 2 and 4. With experts also the ways to spread them: over 4
 * devices (tp, dp) = (4, 1) and (1, 4) have two, (2, 2) has three, and 2 devices have four. */
static void test_lists(void **unused)
{
    (void)unused;
    static const int64_t devices[] = {4};
    struct roof_plan_problem q = ask(dense, devices, 1);
    assert_int_equal(count(&q), 1 + 2 + 3);
    q.model = experts;
    assert_int_equal(count(&q), 1 + (4 + 1) + (2 + 3 + 2) + 4 + 1);
    q.base.dp = 1; /* one copy over all four */
    assert_int_equal(count(&q), (2 + 3 + 2) + 4 + 1);
    q.base.dp = 3;
    assert_int_equal(count(&q), 0);
}

/* Sizes that are given hold, and nothing else does. */
static void test_given(void **unused)
{
    (void)unused;
    static const int64_t devices[] = {8};
    struct roof_plan_problem q = ask(experts, devices, 1);
    const struct {
        int64_t *size;
        int64_t value;
        size_t splits;
    } cases[] = {{&q.base.moe_ep, 8, 4}, /* tp x dp = 8, in four ways */
                 {&q.base.tp, 8, 2},     /* moe ep 1 or 8 */
                 {&q.base.pp, 8, 1},     /* a device is a stage */
                 {&q.base.attention_dp, 8, 2},
                 {&q.base.common.shape.ep, 8, 1},
                 {&q.base.common.shape.ep, 1, 1 + 2 + 3 + 4}, /* no groups, no parts */
                 {&q.base.moe_tp, 8, 4}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        *cases[i].size = cases[i].value;
        assert_int_equal(count(&q), cases[i].splits);
        *cases[i].size = 0;
    }
    /* One group of four devices, two of them, and two stages of one. Experts in four parts, each
     * cut by two devices, are no usual way, but asked for. */
    q.base.tp = 4;
    q.base.moe_tp = 2;
    struct roof_splits splits;
    assert_int_equal(roof_plan_splits(&splits, &q, NULL), ROOF_OK);
    assert_int_equal(splits.count, 3);
    assert_memory_equal(&splits.split[1], (&(struct roof_split){4, 1, 2, 2, 4}),
                        sizeof splits.split[0]);
    roof_splits_free(&splits);
}

/* A scenario gets "ep" where that says it all, and the three sizes where it does not. */
static void test_scenarios(void **unused)
{
    (void)unused;
    const struct {
        struct roof_split split;
        int64_t ep;
        bool apart;
    } cases[] = {{{2, 3, 1, 0, 0}, 1, false}, /* dense */
                 {{2, 3, 1, 2, 1}, 1, false}, {{2, 1, 4, 2, 4}, 4, false},
                 {{2, 1, 4, 1, 8}, 1, true},  {{2, 1, 4, 8, 1}, 1, true},
                 {{8, 1, 1, 1, 8}, 1, true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_split *const split = &cases[i].split;
        struct roof_scenario s;
        roof_scenario_init(&s);
        roof_split_put(&s, split);
        assert_int_equal(roof_split_ep(split), cases[i].ep);
        assert_int_equal(roof_split_apart(split), cases[i].apart);
        assert_int_equal(s.tp, split->tp);
        assert_int_equal(s.pp, split->pp);
        assert_int_equal(s.common.shape.ep, cases[i].ep);
        assert_int_equal(s.moe_ep, cases[i].apart ? split->moe_ep : 0);
        assert_int_equal(roof_scenario_resolve(&s, i == 0 ? dense : experts, NULL), ROOF_OK);
        assert_int_equal(roof_stage_devices(&s) * s.pp, roof_split_devices(split));
        assert_int_equal(s.moe_tp, split->moe_tp);
        assert_int_equal(s.moe_ep, split->moe_ep);
    }
}

static void test_checks(void **unused)
{
    (void)unused;
    static const int64_t devices[] = {8, 12};
    struct roof_error error;
    struct roof_plan_problem q = ask(dense, devices, COUNT(devices));
    assert_int_equal(roof_plan_check_split(&q, &error), ROOF_OK);
    assert_int_equal(roof_plan_devices_needed(&q), 1);
    q.base.tp = 3;
    q.base.pp = 2;
    q.base.dp = 2;
    assert_int_equal(roof_plan_devices_needed(&q), 12);
    assert_int_equal(roof_plan_check_split(&q, &error), ROOF_USAGE); /* of 32 heads */
    q.base.tp = 5;
    q.base.pp = 0;
    q.model = experts;
    assert_int_equal(roof_plan_check_split(&q, &error), ROOF_USAGE); /* no number of devices */
    q = ask(experts, devices, COUNT(devices));
    q.base.moe_ep = 8;
    assert_int_equal(roof_plan_devices_needed(&q), 8);
    assert_int_equal(roof_plan_check_split(&q, &error), ROOF_OK);
    q.base.moe_ep = 12;
    assert_int_equal(roof_plan_check_split(&q, &error), ROOF_USAGE); /* of 8 experts */
    q.model = dense;
    q.base.moe_ep = 0;
    q.base.attention_dp = 2;
    assert_int_equal(roof_plan_check_split(&q, &error), ROOF_USAGE); /* no experts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_given),
                                       cmocka_unit_test(test_scenarios),
                                       cmocka_unit_test(test_checks)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
