// SPDX-License-Identifier: MIT
/* Every answer without an expected time names the true cause. */
#include "support.h"

#include <string.h>

#include "model/load.h"
#include "predict/unexpected.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define CHIP "{\"id\": \"chip\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1}"
#define LIKE CHIP ", \"like\": \"h100-sxm\""

static void test_causes(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        enum roof_precision precision;
        const char *cause;
    } cases[] = {
        {CHIP "}", ROOF_PRECISION_FP16, "no kernels of a device like chip were measured"},
        {CHIP ", \"like\": \"mi250x\"}", ROOF_PRECISION_FP16,
         "no kernels of a device like mi250x were measured"},
        {LIKE "}", ROOF_PRECISION_FP16,
         "sm_count, boost_clock_mhz and l2_bytes of chip are unknown (add to its file, or give "
         "each: --set "
         "sm_count=VALUE)"},
        {LIKE ", \"sm_count\": 9}", ROOF_PRECISION_FP16,
         "boost_clock_mhz and l2_bytes of chip are unknown (add to its file, or give each: --set "
         "boost_clock_mhz=VALUE)"},
        {LIKE ", \"sm_count\": 9, \"boost_clock_mhz\": 9}", ROOF_PRECISION_FP16,
         "l2_bytes of chip is unknown (add to its file, or --set l2_bytes=VALUE)"},
        {LIKE ", \"sm_count\": 9, \"boost_clock_mhz\": 9, \"l2_bytes\": 9}", ROOF_PRECISION_FP32,
         "the peak of fp32 on chip is unknown"},
        {LIKE ", \"sm_count\": 9, \"boost_clock_mhz\": 9, \"l2_bytes\": 9}", ROOF_PRECISION_INT4,
         "no kernel with int4 activations was measured; weights only: -w int4 -a fp16"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const device = parse_device(cases[i].device);
        struct roof_error error = {0};
        assert_int_equal(roof_hardware_calibrate(device, NULL, NULL, &error), ROOF_OK);
        struct roof_workload w = ROOF_WORKLOAD_INIT;
        struct roof_prediction p;
        w.op = ROOF_OPERATOR_GEMM;
        w.shape.m = w.shape.n = w.shape.k = 16;
        w.formats.activations = cases[i].precision;
        w.formats.weights = cases[i].precision;
        assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
        assert_true(isnan(p.expected_s));
        char why[ROOF_UNEXPECTED_SIZE];
        assert_string_equal(roof_unexpected(why, &p), cases[i].cause);
        roof_hardware_free(device);
    }
}

/* A device has no expected time of a model if it lacks the kernels of one of its operators: no scan
 * of a prompt like that of Mamba-1 was measured, and MI300X has no kernels of latent attention. */
static void test_operators(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        const char *model;
        const char *lacks;
    } cases[] = {
        {"h100-sxm", "qwen3-next-80b-a3b", NULL}, {"h100-sxm", "jamba-1.5-mini", "selective-scan"},
        {"h100-sxm", "deepseek-v3", NULL},        {"mi300x", "deepseek-v3", "mla-prefill"},
        {"mi300x", "llama-3.1-8b", NULL},         {"mi210", "qwen3-next-80b-a3b", NULL}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *device = NULL;
        struct roof_model *model = NULL;
        struct roof_error error = {0};
        assert_int_equal(roof_hardware_load(&device, cases[i].device, NULL, &error), ROOF_OK);
        assert_int_equal(roof_hardware_calibrate(device, NULL, NULL, &error), ROOF_OK);
        assert_int_equal(roof_model_load(&model, cases[i].model, NULL, &error), ROOF_OK);
        const char *const lacks = roof_unexpected_operator(model, device);
        if (cases[i].lacks == NULL) {
            assert_null(lacks);
        } else {
            assert_string_equal(lacks, cases[i].lacks);
        }
        roof_model_free(model);
        roof_hardware_free(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes),
        cmocka_unit_test(test_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
