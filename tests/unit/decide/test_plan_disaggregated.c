// SPDX-License-Identifier: MIT
/* Copies that prefill and copies that decode: numbers of them by hand, and by trying all. */
#include "models.h"

#include <math.h>

#include "decide/plan_disaggregated.h"
#include "simulate/deployment.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct roof_share share(int64_t devices, int64_t prefill, int64_t decode, double requests,
                               double served)
{
    return (struct roof_share){.devices = devices,
                               .prefill = prefill,
                               .decode = decode,
                               .requests = requests,
                               .served = served};
}

/* A prompt takes 100 ms, 10 per second; 16 sequences take 100 steps of 10 ms, 16 per second. Of 13
 * devices 8 prefill and 5 decode: 80 requests per second in both. */
static void test_by_hand(void **unused)
{
    (void)unused;
    struct roof_share s = share(13, 1, 1, 10, 16);
    assert_int_equal(roof_prefill_copies(&s), 8);
    s.devices = 2;
    assert_int_equal(roof_prefill_copies(&s), 1);
    s.devices = 1; /* nothing is left for the other kind */
    assert_int_equal(roof_prefill_copies(&s), 0);
    /* Decode copies of four devices: 8 = 4 x 1 + 4, all of which fit only so. */
    s = share(8, 1, 4, 10, 1000);
    assert_int_equal(roof_prefill_copies(&s), 4);
    s = share(8, 1, 4, 10, 0.001);
    assert_int_equal(roof_prefill_copies(&s), 4);
    s = share(8, 3, 4, 10, 10); /* 3 x + 4 y = 8 has no solution */
    assert_int_equal(roof_prefill_copies(&s), 0);
    s = share(8, 8, 1, 10, 10);
    assert_int_equal(roof_prefill_copies(&s), 0);
    s = share(8, 1, 1, (double)INFINITY, (double)INFINITY);
    assert_true(roof_prefill_copies(&s) >= 0);
}

/* No other number of copies lets more requests pass. */
static void test_all(void **unused)
{
    (void)unused;
    for (int64_t i = 0; i < 20000; i++) {
        const struct roof_share s =
            share(1 + i % 67, 1 + i % 5, 1 + i % 7, 1 + (double)(i % 11), 1 + (double)(i % 13) / 2);
        double most = 0;
        double got = 0;
        const int64_t copies = roof_prefill_copies(&s);
        for (int64_t x = 1; x * s.prefill < s.devices; x++) {
            const int64_t rest = s.devices - x * s.prefill;
            const int64_t y = rest / s.decode;
            const double both =
                rest % s.decode != 0 ? 0 : fmin((double)x * s.requests, (double)y * s.served);
            most = fmax(most, both);
            got = x == copies ? both : got;
        }
        assert_true(got == most);
    }
}

/* 1 GB for each of 4 receivers at 100 GB/s is 10 ms, where as many send; one sender takes 40 ms,
 * and more senders than receivers help nothing. */
static void test_transfer(void **unused)
{
    (void)unused;
    assert_true(fabs(roof_transfer_time(1e9, 4, 4, 100e9) - 0.01) < 1e-15);
    assert_true(fabs(roof_transfer_time(1e9, 4, 1, 100e9) - 0.04) < 1e-15);
    assert_true(fabs(roof_transfer_time(1e9, 4, 8, 100e9) - 0.01) < 1e-15);
}

/* The search has plans of both kinds. A disaggregated one uses all devices, its engines are of
 * those that can, and its rates are those of the slower kind of copies. */
static void test_search(void **unused)
{
    (void)unused;
    static const int64_t batch[] = {1, 16, 64};
    static const int64_t devices[] = {2, 4, 12};
    struct roof_hardware *const hardware = load_calibrated("h100-sxm");
    struct roof_model *const model = load("llama-3.1-8b");
    struct roof_engines *engines = NULL;
    struct roof_accuracy accuracy;
    struct roof_plans plans;
    size_t found[3] = {0};
    assert_int_equal(roof_engines_load(&engines, NULL), ROOF_OK);
    assert_int_equal(roof_accuracy_load(&accuracy, NULL), ROOF_OK);
    roof_model_forget_formats(model);
    struct roof_plan_problem q = {.model = model,
                                  .hardware = (const struct roof_hardware *const *)&hardware,
                                  .hardware_count = 1,
                                  .engines = engines,
                                  .own_stacks = true,
                                  .accuracy = &accuracy,
                                  .batch = batch,
                                  .batches = COUNT(batch),
                                  .devices = devices,
                                  .device_counts = COUNT(devices),
                                  .max_loss = ROOF_ACCURACY_1_TO_2};
    roof_scenario_init(&q.base);
    q.base.prompt = 1000;
    q.base.generate = 101;
    q.base.chunk = 8192;
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        q.limit[i] = ROOF_UNKNOWN;
    }
    assert_int_equal(roof_plan_search(&plans, &q, NULL), ROOF_OK);
    for (size_t i = 0; i < plans.count; i++) {
        const struct roof_plan *const p = &plans.plan[i];
        const struct roof_plan_prefill *const way = &p->prefill;
        if (way->copies == 0) {
            found[ROOF_PLAN_AGGREGATED]++;
            continue;
        }
        found[ROOF_PLAN_DISAGGREGATED]++;
        assert_int_equal(way->copies * roof_split_devices(&way->split) +
                             p->dp * roof_split_devices(&p->split),
                         p->devices);
        assert_int_equal(p->engines & ~engines->disaggregated, 0);
        assert_true(way->network == (p->devices > 8));
        assert_true(way->link == (way->network ? 50e9 : 450e9));
        /* 2 x 32 layers x 8 heads x 128 x 1000 tokens of one or two bytes; a cache has no more
         * parts than heads. */
        const double kv = engines->serving[p->serving].kv == ROOF_PRECISION_FP8_E4M3 ? 1 : 2;
        assert_true(way->kv_bytes >= 65536000 * kv);
        assert_true(p->split.tp > 8 || p->split.pp > 1 || way->kv_bytes == 65536000 * kv);
        assert_true(p->tokens_per_s == 101 * fmin(way->requests, way->served));
        /* Only vLLM computes the first token again. */
        assert_true(way->again_s == (p->stack == ROOF_STACK_VLLM ? p->step_s : 0));
        assert_true(p->ttft_s == way->prefill_s + way->transfer_s + way->again_s);
        assert_true(p->bound_ttft_s == way->bound_s + way->transfer_s);
        assert_true(p->tpot_s == p->step_s);
        assert_true(p->bound_ttft_s <= p->ttft_s && p->bound_tokens_per_s >= p->tokens_per_s);
    }
    assert_true(found[ROOF_PLAN_AGGREGATED] > 0 && found[ROOF_PLAN_DISAGGREGATED] > 0);
    roof_plans_free(&plans);
    q.kind = ROOF_PLAN_AGGREGATED;
    assert_int_equal(roof_plan_search(&plans, &q, NULL), ROOF_OK);
    assert_int_equal(plans.count, found[ROOF_PLAN_AGGREGATED]);
    roof_plans_free(&plans);
    q.kind = ROOF_PLAN_DISAGGREGATED;
    assert_int_equal(roof_plan_search(&plans, &q, NULL), ROOF_OK);
    assert_int_equal(plans.count, found[ROOF_PLAN_DISAGGREGATED]);
    roof_plans_free(&plans);
    roof_accuracy_free(&accuracy);
    roof_engines_free(engines);
    roof_model_free(model);
    roof_hardware_free(hardware);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_transfer),
                                       cmocka_unit_test(test_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
