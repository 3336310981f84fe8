// SPDX-License-Identifier: MIT
/* The peak of a matrix unit, in hardware.json and in its reports; a measured step of a model. */
#include "models.h"

#include "measure/device.h"
#include "report/measure_report.h"
#include "report/step_report.h"

#include <math.h>
#include <stdio.h>

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

/* A format that only the vector unit has runs its products there; the probe counts where it is
 * faster, and always for a format that the matrix unit has. */
static void test_peak_of_vectors(void **state)
{
    const struct roof_meter_task probe = {
        .probe = ROOF_PROBE_MULTIPLY, .format = ROOF_PRECISION_FP32, .unit = ROOF_COMPUTE_VECTOR};
    struct roof_meter_row rows[3] = {{.task = probe, .time_s = 1, .amount = 50e12},
                                     {.time_s = 2e9 / 60e12}};
    struct roof_measured measured = {.row = rows, .count = 2, .planned = 2};
    struct roof_text text = ROOF_TEXT_INIT;
    (void)state;
    rows[1].task = roof_suite_product(&measured.device, ROOF_PRECISION_FP32, 1000, 1000, 1000);
    assert_int_equal(roof_workload_resolve(&rows[1].task.workload, NULL), ROOF_OK);
    roof_device_write(&text, &measured, "measured", NULL);
    assert_non_null(strstr(text.data,
                           "\"fp32\": {\"value\": 60, \"source\": \"measured by roofline "
                           "measure: the fastest product\"}"));
    roof_text_free(&text);
    rows[0].amount = 70e12;
    roof_device_write(&text, &measured, "measured", NULL);
    assert_non_null(strstr(text.data,
                           "\"fp32\": {\"value\": 70, \"source\": \"measured by roofline "
                           "measure: multiplications in registers\"}"));
    roof_text_free(&text);
    rows[0].amount = 50e12;
    rows[2] = (struct roof_meter_row){.task = probe, .time_s = 1, .amount = 55e12};
    rows[2].task.unit = ROOF_COMPUTE_MATRIX;
    measured.count = 3;
    assert_true(roof_measured_peak(&measured, ROOF_COMPUTE_VECTOR, ROOF_PRECISION_FP32) == 50e12);
    measured.count = 2;
    rows[1].task.workload.op = ROOF_OPERATOR_FLASH_ATTENTION; /* never on the vector unit */
    assert_true(roof_measured_peak(&measured, ROOF_COMPUTE_VECTOR, ROOF_PRECISION_FP32) == 50e12);
    measured.device.host = true;
    assert_true(roof_measured_peak(&measured, ROOF_COMPUTE_VECTOR, ROOF_PRECISION_FP32) == 50e12);
}

/* Times of an operator are those of one run; what a report has are those of all its runs, and their
 * share of the step. */
static void test_rows_of_a_step(void **state)
{
    static struct roof_model_prediction p;
    static struct roof_measured_step step;
    struct roof_hardware *const h100 = load_calibrated("h100-sxm");
    struct roof_model *const model = load("llama-3-8b");
    struct roof_text text[2] = {ROOF_TEXT_INIT, ROOF_TEXT_INIT};
    static const char *const shown[] = {
        "  many                        32         3.2 ms      80%  "
        "      3.52 ms   +10.0%       50%\n"
        "  one                          1         800 us      20%  "
        "       400 us   -50.0%       25%\n",
        "| many     |    32 |   3.2 ms | 80.0% |  3.52 ms | +10.0% |    50.0% |\n"
        "| one      |     1 |   800 us | 20.0% |   400 us | -50.0% |    25.0% |\n"};
    (void)state;
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 1000);
    infer_into(&p, model, &s, h100);
    p.node[0].node.name = "one";
    p.node[1].node.name = "many";
    p.node[0].node.count = 1;
    p.node[1].node.count = 32;
    p.node[0].prediction.expected_s = 400e-6;
    p.node[0].prediction.time_s = 200e-6;
    p.node[1].prediction.expected_s = 110e-6;
    p.node[1].prediction.time_s = 50e-6;
    step = (struct roof_measured_step){.prediction = &p, .count = 2, .time_s = 4e-3};
    (void)snprintf(step.device.name, sizeof step.device.name, "a device");
    step.row[0] = (struct roof_measured_node){.node = &p.node[0], .runs = 1, .time_s = 800e-6};
    step.row[1] = (struct roof_measured_node){.node = &p.node[1], .runs = 32, .time_s = 100e-6};
    roof_report_step_text(&text[0], &step, false);
    roof_report_step_markdown(&text[1], &step, false);
    for (int i = 0; i < 2; i++) {
        if (strstr(text[i].data, shown[i]) == NULL || strstr(text[i].data, "Above 100%") != NULL ||
            strstr(text[i].data, "measured on a device, expected for h100-sxm") == NULL) {
            fail_msg("%s", text[i].data);
        }
        roof_text_free(&text[i]);
    }
    step.row[0].noise = 1; /* one of two is noisy; then both, and the other takes next to nothing */
    roof_report_step_text(&text[0], &step, false);
    assert_non_null(strstr(text[0].data, "25%  noisy\n"));
    assert_null(strstr(text[0].data, "All of these rows are noisy."));
    roof_text_clear(&text[0]);
    step.row[1].noise = 1;
    step.row[1].time_s = 1e-9;
    roof_report_step_text(&text[0], &step, false);
    assert_null(strstr(text[0].data, "  noisy\n"));
    assert_non_null(strstr(text[0].data, "\n  All of these rows are noisy.\n"));
    assert_non_null(strstr(text[0].data, "  <0.01%  "));
    roof_text_free(&text[0]);
    step.row[0].noise = step.row[1].noise = 0;
    step.row[1].time_s =
        49e-6; /* 102.04% of its bound: more than noise; then 101%, which noise explains */
    for (int i = 0; i < 2; i++) {
        text[0] = text[1] = (struct roof_text)ROOF_TEXT_INIT;
        roof_report_step_text(&text[0], &step, false);
        roof_report_step_markdown(&text[1], &step, false);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(strstr(text[k].data, "Above 100% of the bound, the device is faster "
                                                  "than its figures.") != NULL,
                             i == 0);
            roof_text_free(&text[k]);
        }
        step.row[1].time_s = 49.5e-6;
        step.row[0] = (struct roof_measured_node){.node = &p.node[0]}; /* not measured */
    }
    roof_model_free(model);
    free_calibrated(h100);
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
    row.noisy = true;
    roof_text_clear(&text[0]);
    roof_device_write(&text[0], &measured, "measured", NULL);
    assert_non_null(strstr(text[0].data, "registers (noisy)\", \"confidence\": \"low\"}"));
    assert_non_null(strstr(text[1].data, "3 TFLOPS     matrix unit"));
    assert_null(strstr(text[1].data, "AMX"));
    assert_non_null(strstr(text[2].data, "\n  matrix units (AMX) are left out: it is wrong\n"));
    for (int i = 0; i < 3; i++) {
        roof_text_free(&text[i]);
    }
}

/* The JSON of a measurement has each probe with its own kind of rate, and no operators: 2e12
 * operations in a second, 3e9 bytes in one, and a launch, which has no rate. */
static void test_probes_in_json(void **state)
{
    struct roof_meter_row rows[] = {
        {.task = {.probe = ROOF_PROBE_MULTIPLY,
                  .format = ROOF_PRECISION_FP32,
                  .unit = ROOF_COMPUTE_VECTOR},
         .time_s = 1,
         .amount = 2e12,
         .noise = 0.5,
         .noisy = true},
        {.task = {.probe = ROOF_PROBE_OPERATOR}, .time_s = 1},
        {.task = {.probe = ROOF_PROBE_READ, .bytes = 1000}, .time_s = 1, .amount = 3e9},
        {.task = {.probe = ROOF_PROBE_LAUNCH}, .time_s = 4e-6}};
    struct roof_measured measured = {.row = rows,
                                     .count = 4,
                                     .planned = 5,
                                     .device = {.name = "a \"device\""},
                                     .power = {.idle_w = ROOF_UNKNOWN, .constant_w = ROOF_UNKNOWN}};
    const struct roof_measure_report report = {.measured = &measured};
    struct roof_text text = ROOF_TEXT_INIT;
    static const char expected[] =
        "{\n  \"schema\": \"roofline/measured/1\",\n  \"name\": \"a \\\"device\\\"\",\n"
        "  \"measured\": 4,\n  \"planned\": 5,\n  \"probes\": [\n"
        "    {\"probe\": \"multiply\", \"format\": \"fp32\", \"unit\": \"vector\", \"tflops\": 2, "
        "\"measured_us\": 1000000, \"noise\": 0.5, \"noisy\": true},\n"
        "    {\"probe\": \"read\", \"bytes\": 1000, \"gb_s\": 3, \"measured_us\": 1000000, "
        "\"noise\": 0, \"noisy\": false},\n"
        "    {\"probe\": \"launch\", \"measured_us\": 4, \"noise\": 0, \"noisy\": false}\n  ]";
    (void)state;
    roof_report_measured_json(&text, &report);
    if (strncmp(text.data, expected, sizeof expected - 1) != 0) {
        fail_msg("%s", text.data);
    }
    roof_text_free(&text);
}

/* The CSV of a step has the operators that ran, for a fit: one of two here. */
static void test_step_in_csv(void **state)
{
    static struct roof_measured_step step;
    const struct roof_meter_device device = {.units = 1};
    const struct roof_measured_step *const steps[] = {&step, &step};
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_error error = {0};
    (void)state;
    step = (struct roof_measured_step){.count = 2};
    step.row[0].task = step.row[1].task =
        roof_suite_product(&device, ROOF_PRECISION_BF16, 17, 19, 23);
    assert_int_equal(roof_workload_resolve(&step.row[0].task.workload, NULL), ROOF_OK);
    step.row[0].runs = 1;
    step.row[0].time_s = 800e-6;
    assert_int_equal(roof_report_steps_csv(&text, steps, 2, &error), ROOF_OK);
    size_t lines = 0;
    for (const char *c = text.data; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, 1 + 2); /* the columns, and a row of each step */
    assert_int_equal(strncmp(text.data, "operator,", 9), 0);
    assert_non_null(strstr(text.data, "\ngemm,17,19,23,"));
    assert_non_null(strstr(text.data, ",800,"));
    roof_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_peak_is_the_fastest_product),
                                       cmocka_unit_test(test_peak_of_vectors),
                                       cmocka_unit_test(test_matrix_unit_of_a_cpu),
                                       cmocka_unit_test(test_rows_of_a_step),
                                       cmocka_unit_test(test_probes_in_json),
                                       cmocka_unit_test(test_step_in_csv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
