// SPDX-License-Identifier: MIT
/* What raises the greatest rate: of a copy that runs two sequences at a time, while more fit. */
#include "models.h"

#include <math.h>

#include "simulate/raise.h"

static void test_sequences(void **state)
{
    (void)state;
    struct roof_model *const model = load("llama-3-8b");
    struct roof_hardware *const hardware = load_calibrated("h100-sxm");
    struct roof_scenario s;
    struct roof_deployments d;
    struct roof_capacity found;
    struct roof_raise raise[ROOF_RAISES_MAX];
    size_t count = 0;
    roof_scenario_init(&s);
    s.prompt = 200;
    s.generate = 100;
    s.common.shape.batch = 2;
    s.common.formats.precision = ROOF_PRECISION_FP8_E4M3;
    assert_int_equal(roof_deployments_open(&d, model, &s, NULL, hardware, false, NULL), ROOF_OK);
    const struct roof_arrivals arrivals = {.prompt = {.low = 200, .mean = 200},
                                           .generate = {.low = 100, .mean = 100}};
    struct roof_simulation_inputs inputs = {
        .limits = {.budget = 8192, .sequences = 2},
        .copies = 1,
        .arrivals = &arrivals,
        .requests = 1000,
        .seed = 1,
        .warm_up = 0.2,
        .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
    inputs.limit[ROOF_LATENCY_E2E] = (struct roof_latency_limit){1.5, 0};
    roof_deployments_use(&inputs, &d);
    assert_int_equal(roof_capacity_find(&found, &inputs, NULL), ROOF_OK);
    roof_simulation_free(&found.at);
    assert_int_equal(roof_raises_find(raise, &count, &d, &inputs, &found, NULL), ROOF_OK);
    assert_true(count >= 2 && count <= ROOF_RAISES_MAX);
    bool copies = false;
    bool sequences = false;
    for (size_t i = 0; i < count; i++) {
        assert_true(raise[i].factor > 1.1);
        /* Changes that need no more devices come first. */
        assert_true(
            i == 0 || raise[i - 1].devices < raise[i].devices ||
            (raise[i - 1].devices == raise[i].devices && raise[i - 1].factor >= raise[i].factor));
        /* Its interval is wider than that of each rate. */
        assert_true(raise[i].factor_low < raise[i].factor * found.rate / found.high);
        assert_true(raise[i].factor_high > raise[i].factor * found.rate / found.low);
        assert_true(raise[i].factor_high < 2 * raise[i].factor_low);
        if (strcmp(raise[i].key, "dp") == 0) { /* two such queues, to which requests go in turn */
            copies = true;
            assert_int_equal(raise[i].value, 2);
            assert_int_equal(raise[i].devices, 2);
            assert_true(raise[i].factor > 1.9 && raise[i].factor < 2.5);
        } else if (strcmp(raise[i].key, "max_num_seqs") == 0) { /* steps are little longer */
            sequences = true;
            assert_int_equal(raise[i].value, 4);
            assert_int_equal(raise[i].devices, 1);
            assert_true(raise[i].factor > 1.7 && raise[i].factor < 2.5);
        } else { /* it halves the products at most */
            assert_string_equal(raise[i].key, "tp");
            assert_int_equal(raise[i].value, 2);
            assert_int_equal(raise[i].devices, 2);
            assert_true(raise[i].factor < 2.2);
        }
    }
    assert_true(copies && sequences);
    roof_deployments_close(&d);
    free_calibrated(hardware);
    roof_model_free(model);
}

/* Copies of two kinds that are both about busy at the greatest rate: twice as many of both double
 * it. */
static void test_both_kinds(void **state)
{
    (void)state;
    struct roof_model *const model = load("llama-3-8b");
    struct roof_hardware *const hardware = load_calibrated("h100-sxm");
    struct roof_scenario s;
    struct roof_deployments d;
    struct roof_capacity found;
    struct roof_raise raise[ROOF_RAISES_MAX];
    const struct roof_raise *both = NULL;
    size_t count = 0;
    roof_scenario_init(&s);
    s.prompt = 8192;
    s.generate = 200;
    s.common.shape.batch = 256;
    s.common.formats.precision = ROOF_PRECISION_FP8_E4M3;
    struct roof_scenario prefill = s;
    prefill.dp = 3;
    assert_int_equal(roof_deployments_open(&d, model, &s, &prefill, hardware, false, NULL),
                     ROOF_OK);
    const struct roof_arrivals arrivals = {.prompt = {.low = 8192, .mean = 8192},
                                           .generate = {.low = 200, .mean = 200}};
    struct roof_simulation_inputs inputs = {.limits = {.budget = 8192, .sequences = 256},
                                            .copies = 1,
                                            .arrivals = &arrivals,
                                            .requests = 1000,
                                            .seed = 1,
                                            .warm_up = 0.2,
                                            .limit = {{1, 99}, {0.03, 99}, {(double)NAN, 99}}};
    roof_deployments_use(&inputs, &d);
    assert_int_equal(roof_capacity_find(&found, &inputs, NULL), ROOF_OK);
    roof_simulation_free(&found.at);
    assert_int_equal(roof_raises_find(raise, &count, &d, &inputs, &found, NULL), ROOF_OK);
    for (size_t i = 0; i < count; i++) {
        both = raise[i].other_key != NULL ? &raise[i] : both;
    }
    assert_non_null(both);
    assert_string_equal(both->key, "dp");
    assert_int_equal(both->value, 2);
    assert_string_equal(both->other_key, "prefill_copies");
    assert_int_equal(both->other_value, 6);
    assert_int_equal(both->devices, 8);
    assert_true(both->factor > 1.7 && both->factor < 2.5);
    roof_deployments_close(&d);
    free_calibrated(hardware);
    roof_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sequences),
                                       cmocka_unit_test(test_both_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
