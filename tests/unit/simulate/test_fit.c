// SPDX-License-Identifier: MIT
/* A fit finds the scale and the overhead that were put into measured times. */
#include "support.h"

#include <math.h>

#include "simulate/fit.h"

struct lab {
    struct roof_step_table *table;
    double scale;
};

/* A step takes 2 ms for all that decode, and 10 us for a token of a prompt. */
static enum roof_status plane(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    const struct lab *const lab = context;
    (void)error;
    *out_s = lab->scale * ((load->decoding > 0 ? 2e-3 : 0) + 1e-5 * load->tokens);
    return ROOF_OK;
}

static enum roof_status rescale(void *context, struct roof_simulation_inputs *inputs, double scale,
                                struct roof_error *error)
{
    struct lab *const lab = context;
    roof_step_table_free(lab->table);
    lab->scale = scale;
    assert_int_equal(roof_step_table_open(&lab->table, plane, lab, error), ROOF_OK);
    inputs->table = lab->table;
    return ROOF_OK;
}

enum { COUNT_OF = 20, PROMPT = 800, GENERATE = 11 };

/* Requests that never meet: the first token after 8 ms, each other one 2 ms later. The measured
 * engine takes 1.5 times as long, and 12 ms for a request. */
static void test_planted(void **state)
{
    (void)state;
    struct roof_arrival arrival[COUNT_OF];
    double measured[COUNT_OF][ROOF_LATENCY_COUNT];
    struct lab lab = {.table = NULL};
    for (int i = 0; i < COUNT_OF; i++) {
        arrival[i] =
            (struct roof_arrival){.time_s = 10 * i, .prompt = PROMPT, .generate = GENERATE};
        measured[i][ROOF_LATENCY_TTFT] = 1.5 * 8e-3 + 12e-3;
        measured[i][ROOF_LATENCY_TPOT] = 1.5 * 2e-3;
        measured[i][ROOF_LATENCY_E2E] = 1.5 * 8e-3 + 12e-3 + (GENERATE - 1) * 1.5 * 2e-3;
    }
    const struct roof_request_trace trace = {.count = COUNT_OF, .measured = measured};
    struct roof_simulation_inputs inputs = {
        .limits = {.budget = ROOF_BUDGET_WHOLE, .sequences = 4},
        .copies = 1,
        .trace = arrival,
        .requests = COUNT_OF,
        .seed = 1,
        .keep = true,
        .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
    struct roof_simulation result;
    struct roof_fit_errors errors;
    assert_int_equal(rescale(&lab, &inputs, 1, NULL), ROOF_OK);
    assert_int_equal(roof_simulate(&result, &inputs, NULL), ROOF_OK);
    roof_fit_compare(&errors, &result, &trace, 4);
    roof_simulation_free(&result);
    assert_int_equal(errors.requests, COUNT_OF - 4);
    assert_near(errors.measured_s[ROOF_LATENCY_TTFT], 24e-3, 1e-12);
    assert_near(errors.error[ROOF_LATENCY_TTFT], 8. / 24 - 1, 1e-9);
    assert_near(errors.error[ROOF_LATENCY_TPOT], 2. / 3 - 1, 1e-9);
    assert_near(errors.error[ROOF_LATENCY_E2E], 28. / 54 - 1, 1e-9);
    assert_int_equal(roof_fit_find(&inputs, &trace, rescale, &lab, NULL), ROOF_OK);
    /* A scale s is found for an overhead o, then o for s, and both again. Without o the errors of
     * 2 s for 3 ms and of 28 s for 54 ms are alike at s = 1.7008, then o is 24 - 8 s = 10.394 ms.
     * With it log(s / 1.5) / s = -log((28 s + o) / 54) 28 / (28 s + o) at s = 1.5223. */
    assert_near(lab.scale, 1.5223, 2e-4);
    assert_near(inputs.limits.overhead_s, 24e-3 - 8e-3 * 1.5223, 1e-3);
    assert_int_equal(roof_simulate(&result, &inputs, NULL), ROOF_OK);
    roof_fit_compare(&errors, &result, &trace, 4);
    roof_simulation_free(&result);
    assert_true(fabs(errors.error[ROOF_LATENCY_TTFT]) < 1e-3);
    assert_near(errors.error[ROOF_LATENCY_TPOT], 1.5223 / 1.5 - 1, 1e-2);
    roof_step_table_free(lab.table);
}

/* The ends of the searches. An overhead of 0 is none. */
static void test_bounds(void **state)
{
    (void)state;
    assert_null(roof_fit_bound(1, 0));
    assert_null(roof_fit_bound(0.21, 0.4));
    assert_non_null(strstr(roof_fit_bound(0.20001, 0.4), "--step-scale"));
    assert_non_null(strstr(roof_fit_bound(7.9998, 0), "--step-scale"));
    assert_non_null(strstr(roof_fit_bound(1, 0.49999), "--request-overhead"));
}

/* A fifth of the requests is fitted, one at least; the others are compared. */
static void test_part(void **state)
{
    (void)state;
    assert_int_equal(roof_fit_part(100), 20);
    assert_int_equal(roof_fit_part(101), 21);
    assert_int_equal(roof_fit_part(104), 21);
    assert_int_equal(roof_fit_part(1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted), cmocka_unit_test(test_part),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
