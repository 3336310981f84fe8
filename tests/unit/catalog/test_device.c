// SPDX-License-Identifier: MIT
/* The public functions about a device. */
#include <math.h>
#include <stdio.h>

#include "support.h"

static void test_figures(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    assert_string_equal(roof_hardware_id(device), "synthetic");
    assert_string_equal(roof_hardware_name(device), device->name);
    assert_true(roof_hardware_number(device, "bandwidth_gb_s") == 100);
    assert_true(roof_hardware_number(device, "devices_per_node") == 2);
    assert_true(roof_hardware_number(device, "peak_tflops.fp16") == 1);
    assert_true(roof_hardware_number(device, "sparse_tflops.fp16") == 2);
    assert_true(roof_hardware_number(device, "vector_tflops.fp32") == 0.1);
    assert_true(isnan(roof_hardware_number(device, "tdp_w")));
    assert_true(isnan(roof_hardware_number(device, "peak_tflops.fp64")));
    static const char *const unknown[] = {
        "", "bandwidth", "peak_tflops", "peak_tflops.", "peak_tflops.fp99", "peak.fp16"};
    for (size_t i = 0; i < COUNT(unknown); i++) {
        assert_true(isnan(roof_hardware_number(device, unknown[i])));
    }
    roof_hardware_free(device);
}

static void test_peaks(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    assert_true(roof_hardware_peak(device, ROOF_PRECISION_FP16) == 1e12);
    assert_true(roof_hardware_peak(device, ROOF_PRECISION_NVFP4) == 4e12);
    assert_true(isnan(roof_hardware_peak(device, ROOF_PRECISION_AUTO)));
    assert_true(isnan(roof_hardware_peak(device, ROOF_PRECISION_COUNT)));
    roof_hardware_free(device);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < ROOF_PRECISION_COUNT; i++) {
        const enum roof_precision precision = (enum roof_precision)i;
        assert_string_equal(roof_precision_name(precision), roof_format(precision)->name);
    }
    assert_null(roof_precision_name(ROOF_PRECISION_AUTO));
    assert_null(roof_precision_name(ROOF_PRECISION_COUNT));
}

struct seen {
    int count;
    char last[64];
};

static void see(void *context, const char *id)
{
    struct seen *const seen = context;
    assert_true(strcmp(seen->last, id) < 0);
    (void)snprintf(seen->last, sizeof seen->last, "%s", id);
    seen->count++;
}

static void test_each(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    assert_int_equal(roof_hardware_ids(&ids, &count, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_hardware_each(see, &seen, NULL, NULL), ROOF_OK);
    assert_true(count > 10);
    assert_int_equal(seen.count, count);
    roof_text_free(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
