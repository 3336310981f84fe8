// SPDX-License-Identifier: MIT
/* Why a plan is better than another: the same predictions as the plans', and true bounds. */
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TIGHT 1e-12

static const char *const ids[] = {"h100-sxm", "hgx-b200", "v100"};
#define UNMEASURED 2

struct fixture {
    struct roof_hardware *hardware[COUNT(ids)];
    struct roof_model *model;
    struct roof_engines *engines;
    struct roof_accuracy accuracy;
    struct roof_plan_problem problem;
    struct roof_plans plans;
};
static struct fixture f;
static struct roof_plan_speedup why; /* large */

static int set_up(void **unused)
{
    (void)unused;
    static const int64_t batch[] = {1, 8, 64};
    static const int64_t devices[] = {2};
    for (size_t i = 0; i < COUNT(ids); i++) {
        f.hardware[i] = i == UNMEASURED ? load_device(ids[i]) : load_calibrated(ids[i]);
    }
    f.model = load("llama-3.1-8b");
    if (roof_engines_load(&f.engines, NULL) != ROOF_OK ||
        roof_accuracy_load(&f.accuracy, NULL) != ROOF_OK) {
        return -1;
    }
    roof_model_forget_formats(f.model);
    f.problem =
        (struct roof_plan_problem){.model = f.model,
                                   .hardware = (const struct roof_hardware *const *)f.hardware,
                                   .hardware_count = 2, /* V100 is not measured */
                                   .engines = f.engines,
                                   .accuracy = &f.accuracy,
                                   .base = asked(ROOF_PHASE_DECODE, 1, 4096),
                                   .batch = batch,
                                   .batches = COUNT(batch),
                                   .devices = devices,
                                   .device_counts = COUNT(devices),
                                   .max_loss = ROOF_ACCURACY_2_TO_5};
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        f.problem.limit[i] = ROOF_UNKNOWN;
    }
    for (size_t i = 0; i < f.engines->count; i++) {
        f.problem.by |= f.engines->engine[i].beware == NULL ? 1U << i : 0;
    }
    return roof_plan_search(&f.plans, &f.problem, NULL) == ROOF_OK ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(ids); i++) {
        free_calibrated(f.hardware[i]);
    }
    roof_plans_free(&f.plans);
    roof_model_free(f.model);
    roof_engines_free(f.engines);
    roof_accuracy_free(&f.accuracy);
    return 0;
}

static void explain(const struct roof_plan *from, const struct roof_plan *to)
{
    struct roof_error error = {0};
    if (roof_plan_speedup(&why, from, to, &f.plans, &f.problem, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

/* The times of plans are those that are taken apart. */
static void test_times(void **unused)
{
    (void)unused;
    const struct roof_plans *const plans = &f.plans;
    size_t checked = 0;
    for (size_t i = 0; i < plans->count; i++) {
        for (size_t k = 0; k < plans->count; k++) {
            const struct roof_plan *const a = &plans->plan[i];
            const struct roof_plan *const b = &plans->plan[k];
            if (a->split.pp > 1 || b->split.pp > 1 || a->batch != b->batch ||
                a->split.tp != b->split.tp || (i + k) % 7 != 0) {
                continue;
            }
            explain(a, b);
            assert_near(why.decode.total.expected.from_s, a->tpot_s, TIGHT);
            assert_near(why.decode.total.expected.to_s, b->tpot_s, TIGHT);
            assert_near(why.decode.total.bound.from_s, a->bound_tpot_s, TIGHT);
            assert_near(why.decode.total.bound.to_s, b->bound_tpot_s, TIGHT);
            assert_near(why.prefill.total.expected.from_s, a->ttft_s, TIGHT);
            assert_near(why.prefill.total.expected.to_s, b->ttft_s, TIGHT);
            assert_int_equal(why.from_fits, ROOF_FIT_YES); /* they are plans */
            assert_int_equal(why.to_fits, ROOF_FIT_YES);
            checked++;
        }
    }
    assert_true(checked > 50);
}

/* One sequence more or less moves the bound, of stages too, which take a part of the batch each. */
static void test_bounds(void **unused)
{
    (void)unused;
    for (int64_t pp = 1; pp <= 4; pp *= 2) {
        struct roof_plan plan = {.hardware = 1,
                                 .dp = 1,
                                 .split = {.tp = 4 / pp, .pp = pp, .attention_dp = 1},
                                 .devices = 4,
                                 .batch = 8};
        struct roof_plan from = plan;
        from.serving = roof_plan_least_loss(&f.plans, &f.problem, 1);
        plan.serving = from.serving + 1;
        explain(&from, &plan);
        size_t checked = 0;
        for (size_t i = 0; i < why.decode.count; i++) {
            for (int64_t less = 0; less < 2 && why.compute_bound_batch[i] > 1; less++) {
                struct roof_scenario phase[2];
                plan.batch = (int64_t)why.compute_bound_batch[i] - less;
                roof_plan_scenarios(&phase[0], &phase[1], &plan, &f.problem);
                const struct roof_model_prediction *const step =
                    infer(f.model, phase[1], f.hardware[1]);
                const size_t node = why.decode.row[i].to_node;
                assert_string_equal(step->node[node].node.name, why.decode.row[i].name);
                assert_int_equal(step->node[node].prediction.bottleneck == ROOF_BOTTLENECK_COMPUTE,
                                 less == 0);
                checked++;
            }
        }
        assert_true(checked >= 8);
    }
}

/* Nodes of other sizes group the sends of stages differently; layouts may split what others fuse.
 */
static void test_pairs(void **unused)
{
    (void)unused;
    struct roof_hardware *const large = load_calibrated("gb200-nvl72");
    const struct roof_hardware *const both[] = {f.hardware[0], large};
    struct roof_plan_problem q = f.problem;
    struct roof_error error = {0};
    q.hardware = both;
    struct roof_plan plan = {
        .dp = 1, .split = {.tp = 4, .pp = 4, .attention_dp = 1}, .devices = 16, .batch = 16};
    plan.serving = roof_plan_least_loss(&f.plans, &f.problem, 0);
    struct roof_plan to = plan;
    to.hardware = 1;
    if (roof_plan_speedup(&why, &plan, &to, &f.plans, &q, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    double sends = 0;
    for (size_t i = 0; i < why.decode.count; i++) {
        sends += strcmp(why.decode.row[i].name, "send") == 0 ? why.decode.row[i].count : 0;
    }
    assert_true(sends == 3); /* one after each stage but the last */
    assert_near(why.decode.total.expected.saved_s[ROOF_CAUSE_MEMORY] +
                    why.decode.total.expected.saved_s[ROOF_CAUSE_COMPUTE] +
                    why.decode.total.expected.saved_s[ROOF_CAUSE_NETWORK] +
                    why.decode.total.expected.saved_s[ROOF_CAUSE_LAUNCH] +
                    why.decode.total.expected.saved_s[ROOF_CAUSE_KERNELS],
                why.decode.total.expected.from_s - why.decode.total.expected.to_s, 1e-9);
    to = plan;
    while (strcmp(f.engines->serving[to.serving].id, "q4_k_m") != 0) {
        to.serving = (to.serving + 1) % f.engines->servings;
    }
    assert_int_equal(roof_plan_speedup(&why, &plan, &to, &f.plans, &q, &error), ROOF_USAGE);
    free_calibrated(large);
}

static void test_names(void **unused)
{
    (void)unused;
    const struct roof_serving *const s = f.engines->serving;
    struct roof_plan a = {.split = {.tp = 1, .pp = 1, .attention_dp = 1}, .devices = 1, .batch = 4};
    a.serving = roof_plan_least_loss(&f.plans, &f.problem, 0);
    assert_string_equal(s[a.serving].id, "bf16");
    assert_int_equal(s[a.serving].kv, ROOF_PRECISION_BF16);
    struct roof_plan b = a;
    b.hardware = 1;
    explain(&a, &b);
    assert_string_equal(why.from_name, "h100-sxm");
    assert_string_equal(why.to_name, "hgx-b200");
    assert_string_equal(why.decode.total.from, "h100-sxm");
    b.hardware = 0;
    while (strcmp(s[b.serving].id, "fp8") != 0 || s[b.serving].kv != ROOF_PRECISION_BF16) {
        b.serving++;
    }
    explain(&a, &b);
    assert_string_equal(why.from_name, "bf16");
    assert_string_equal(why.to_name, "fp8");
    while (strcmp(s[b.serving].id, "fp8") != 0 || s[b.serving].kv != ROOF_PRECISION_FP8_E4M3) {
        b.serving++;
    }
    b.hardware = 1;
    b.batch = 1000000; /* of both: fits nowhere */
    explain(&a, &b);
    assert_string_equal(why.from_name, "h100-sxm:bf16 with a KV cache in bf16");
    assert_string_equal(why.to_name, "hgx-b200:fp8 with a KV cache in fp8_e4m3");
    assert_int_equal(why.from.batch, 1000000);
    assert_int_equal(why.from_fits, ROOF_FIT_NO);
    assert_int_equal(why.to_fits, ROOF_FIT_NO);
    /* fp16 is all that runs on a V100; what runs nowhere has no number. */
    f.problem.hardware_count = 3;
    assert_string_equal(s[roof_plan_least_loss(&f.plans, &f.problem, 2)].id, "fp16");
    struct roof_hardware *const none = parse_device(SYNTHETIC);
    none->architecture = "Gaudi 3";
    const struct roof_hardware *const list[] = {none};
    f.problem.hardware = list;
    assert_int_equal(roof_plan_least_loss(&f.plans, &f.problem, 0), f.engines->servings);
    f.problem.hardware = (const struct roof_hardware *const *)f.hardware;
    f.problem.hardware_count = 2;
    roof_hardware_free(none);
    /* A serving with a layout predicts the model in that layout. */
    const unsigned measured = f.problem.by;
    f.problem.by = 0;
    a.serving = roof_plan_least_loss(&f.plans, &f.problem, 0); /* of minimal loss, and widest */
    assert_int_equal(roof_precision_bits(s[a.serving].weights), 16);
    for (a.serving = 0; strcmp(s[a.serving].id, "q8_0") != 0;) {
        a.serving++;
    }
    a.hardware = 0;
    explain(&a, &a);
    assert_non_null(f.plans.model[a.serving]->layout);
    struct roof_scenario phase[2];
    roof_plan_scenarios(&phase[0], &phase[1], &a, &f.problem);
    assert_true(why.decode.total.expected.from_s ==
                infer(f.plans.model[a.serving], phase[1], f.hardware[0])->total.expected_s);
    f.problem.by = measured;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_times), cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_pairs), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
