// SPDX-License-Identifier: MIT
/* A run that resumes an earlier one reads what that one wrote. */
#include "support.h"

#include <math.h>

#include "measure/rows.h"

static void assert_same(double got, double expected)
{
    if (isnan(expected)) {
        assert_true(isnan(got));
    } else {
        assert_near(got, expected, 1e-12);
    }
}

static void test_rows_come_back(void **state)
{
    const struct roof_meter_device device = {.units = 1};
    const struct roof_meter_clocks unknown = {
        .sm_hz = ROOF_UNKNOWN, .power_w = ROOF_UNKNOWN, .temperature_c = ROOF_UNKNOWN};
    const struct roof_meter_task multiply = {
        .probe = ROOF_PROBE_MULTIPLY, .format = ROOF_PRECISION_FP32, .unit = ROOF_COMPUTE_VECTOR};
    struct roof_meter_row rows[] = {
        {.time_s = 800e-6, .noise = 0.25, .noisy = true, .clocks = unknown},
        {.time_s = 900e-6,
         .noise = 0.5,
         .clocks = {.sm_hz = 1.5e9, .power_w = 250, .temperature_c = 40, .throttled = true}},
        {.task = multiply, .time_s = 1, .amount = 3e12, .clocks = unknown},
        {.task = {.probe = ROOF_PROBE_READ, .bytes = 1 << 20},
         .time_s = 2e-6,
         .noise = 0.125,
         .amount = 5e6,
         .clocks = {.sm_hz = ROOF_UNKNOWN, .power_w = 70, .temperature_c = ROOF_UNKNOWN}}};
    const struct roof_measured measured = {.row = rows, .count = 4};
    struct roof_text text[2] = {ROOF_TEXT_INIT, ROOF_TEXT_INIT};
    struct roof_meter_row found;
    (void)state;
    rows[0].task = roof_suite_product(&device, ROOF_PRECISION_BF16, 17, 19, 23);
    rows[1].task = roof_suite_product(&device, ROOF_PRECISION_BF16, 17, 19, 230);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(roof_workload_resolve(&rows[i].task.workload, NULL), ROOF_OK);
    }
    roof_rows_write(&text[0], &measured);
    roof_probes_write(&text[1], &measured);
    for (size_t i = 0; i < measured.count; i++) {
        assert_false(roof_rows_find(&found, &rows[i].task, text[1 - i / 2].data));
        assert_true(roof_rows_find(&found, &rows[i].task, text[i / 2].data));
        assert_same(found.time_s, rows[i].time_s);
        assert_same(found.noise, rows[i].noise);
        assert_int_equal(found.noisy, rows[i].noisy);
        assert_same(found.clocks.sm_hz, rows[i].clocks.sm_hz);
        assert_same(found.clocks.power_w, rows[i].clocks.power_w);
        assert_same(found.clocks.temperature_c, rows[i].clocks.temperature_c);
        assert_int_equal(found.clocks.throttled, rows[i].clocks.throttled);
        assert_same(found.amount, rows[i].amount);
    }
    /* Rates are for people: 3e12 operations in a second, and 5e6 bytes in 2 us. */
    assert_non_null(strstr(text[1].data, ",3,3000000000000\n"));
    assert_non_null(strstr(text[1].data, ",2500,,5000000\n"));
    roof_text_free(&text[0]);
    roof_text_free(&text[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
