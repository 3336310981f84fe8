// SPDX-License-Identifier: MIT
/* The peak of a matrix unit, in hardware.json and in its reports. */
#include "support.h"

#include "measure/device.h"
#include "report/measure_report.h"

#include <math.h>

/* The peak of the matrix unit is the fastest product, 2 * 1000^3 FLOPs in 2.5 us, and not the
 * slower one that its probe ran; in four digits it is rounded up, as 800.04 TFLOPS are not 800. */
static void test_peak_is_the_fastest_product(void **state)
{
    const struct roof_meter_task probe = {
        .probe = ROOF_PROBE_MULTIPLY, .format = ROOF_PRECISION_BF16, .unit = ROOF_COMPUTE_MATRIX};
    struct roof_meter_row rows[2] = {{.task = probe, .time_s = 1, .amount = 700e12},
                                     {.time_s = 2e9 / 800.04e12}};
    struct roof_measured measured = {.row = rows, .count = 2, .planned = 2};
    const struct roof_measure_report report = {.measured = &measured};
    struct roof_text text[3] = {ROOF_TEXT_INIT, ROOF_TEXT_INIT, ROOF_TEXT_INIT};
    static const char *const shown[] = {"\"bf16\": {\"value\": 800.1,", "800 TFLOPS", "800 TFLOPS"};
    (void)state;
    rows[1].task = roof_suite_product(&measured.device, ROOF_PRECISION_BF16, 1000, 1000, 1000);
    assert_int_equal(roof_workload_resolve(&rows[1].task.workload, NULL), ROOF_OK);
    assert_true(
        fabs(roof_measured_peak(&measured, ROOF_COMPUTE_MATRIX, ROOF_PRECISION_BF16) / 800.04e12 -
             1) < 1e-12);
    assert_true(isnan(roof_measured_peak(&measured, ROOF_COMPUTE_MATRIX, ROOF_PRECISION_FP16)));
    roof_device_write(&text[0], &measured, "measured", NULL);
    roof_report_measured_text(&text[1], &report);
    roof_report_measured_markdown(&text[2], &report);
    for (int i = 0; i < 3; i++) {
        assert_non_null(strstr(text[i].data, shown[i]));
        roof_text_free(&text[i]);
    }
    measured.device.host = true; /* the kernels of a CPU are its probes */
    assert_true(roof_measured_peak(&measured, ROOF_COMPUTE_MATRIX, ROOF_PRECISION_BF16) == 700e12);
}

/* The matrix unit of a CPU has the peak of its probe; if it is not used, the report says why. */
static void test_matrix_unit_of_a_cpu(void **state)
{
    struct roof_meter_row row = {.task = {.probe = ROOF_PROBE_MULTIPLY,
                                          .format = ROOF_PRECISION_INT8,
                                          .unit = ROOF_COMPUTE_MATRIX},
                                 .time_s = 1,
                                 .amount = 3e12};
    struct roof_measured measured = {
        .row = &row, .count = 1, .planned = 1, .device = {.host = true}};
    const struct roof_measure_report report = {.measured = &measured};
    struct roof_text text[3] = {ROOF_TEXT_INIT, ROOF_TEXT_INIT, ROOF_TEXT_INIT};
    (void)state;
    roof_device_write(&text[0], &measured, "measured", NULL);
    roof_report_measured_text(&text[1], &report);
    snprintf(measured.device.no_amx, sizeof measured.device.no_amx, "it is wrong");
    roof_report_measured_text(&text[2], &report);
    assert_non_null(strstr(text[0].data,
                           "\"int8\": {\"value\": 3, \"source\": \"measured by roofline "
                           "measure: multiplications in registers\"}"));
    assert_non_null(strstr(text[1].data, "3 TFLOPS     matrix unit"));
    assert_null(strstr(text[1].data, "AMX"));
    assert_non_null(strstr(text[2].data, "\n  matrix units (AMX) are left out: it is wrong\n"));
    for (int i = 0; i < 3; i++) {
        roof_text_free(&text[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_peak_is_the_fastest_product),
                                       cmocka_unit_test(test_matrix_unit_of_a_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
