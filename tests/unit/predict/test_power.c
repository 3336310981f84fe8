// SPDX-License-Identifier: MIT
/* Energy and power caps, on a device whose figures can be reckoned with in the head. */
#include "support.h"

#include <string.h>

#include "predict/power.h"

/* 100 GB/s, 10 TFLOPS; 40 W, 100 pJ per byte and 5 pJ per FLOP on top. */
#define HOT                                                                                        \
    "{\"id\": \"hot\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 10}, "                 \
    "\"vector_tflops\": {\"fp32\": 1}, \"constant_w\": 40, \"byte_pj\": 100, "                     \
    "\"flop_pj\": {\"fp16\": 5, \"fp32\": 20}}"

static void close_to(double got, double wanted)
{
    assert_true(fabs(got - wanted) <= 1e-12 * fabs(wanted));
}

static enum roof_status predict(struct roof_prediction *out, const struct roof_hardware *hardware,
                                int64_t size, struct roof_error *error)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = w.shape.n = w.shape.k = size;
    return roof_predict(out, &w, hardware, error);
}

/* 1000^3: 2e9 FLOPs are 0.01 J, 6e6 bytes 0.0006 J, and 200 us at the peak 0.008 J. */
static void test_energy(void **unused)
{
    (void)unused;
    struct roof_hardware *const hot = parse_device(HOT);
    struct roof_error error = {0};
    struct roof_prediction p;
    assert_int_equal(predict(&p, hot, 1000, &error), ROOF_OK);
    close_to(p.time_s, 200e-6);
    close_to(roof_power_of(&p).dynamic_j, 0.0106);
    close_to(roof_power_of(&p).energy_j, 0.0186);
    close_to(roof_power_of(&p).power_w, 93);
    assert_true(isnan(roof_power_of(&p).power_time_s));
    roof_hardware_free(hot);
}

/* 70 W leave 30 W: 0.0106 J take 353.3 us. 200 W leave 160 W, more than the peak needs. */
static void test_cap(void **unused)
{
    (void)unused;
    struct roof_hardware *const hot = parse_device(HOT);
    struct roof_error error = {0};
    struct roof_prediction p;
    assert_int_equal(roof_hardware_set(hot, "power_cap_w=70", &error), ROOF_OK);
    assert_int_equal(predict(&p, hot, 1000, &error), ROOF_OK);
    close_to(roof_power_of(&p).power_time_s, 0.0106 / 30);
    close_to(p.time_s, 0.0106 / 30);
    close_to(roof_power_of(&p).power_w, 70);
    close_to(p.attainable_flops_per_s, 2e9 / (0.0106 / 30));
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_POWER);
    assert_string_equal(roof_bottleneck_name(p.bottleneck), "power");
    assert_int_equal(roof_hardware_set(hot, "power_cap_w=200", &error), ROOF_OK);
    assert_int_equal(predict(&p, hot, 1000, &error), ROOF_OK);
    close_to(roof_power_of(&p).power_time_s, 0.0106 / 160);
    close_to(p.time_s, 200e-6);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_COMPUTE);
    roof_hardware_free(hot);
}

static void test_refused(void **unused)
{
    (void)unused;
    struct roof_hardware *const bare = parse_device("{\"id\": \"bare\", \"bandwidth_gb_s\": 100, "
                                                    "\"peak_tflops\": {\"fp16\": 10}}");
    static const struct {
        const char *set;
        const char *missing;
    } steps[] = {{"power_cap_w=50", "constant_w"},
                 {"constant_w=40", "byte_pj"},
                 {"byte_pj=1", "flop_pj.fp16"},
                 {"flop_pj.fp16=1", NULL},
                 {"power_cap_w=40", "is not above the constant power"}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct roof_error error = {0};
        struct roof_prediction p;
        assert_int_equal(roof_hardware_set(bare, steps[i].set, &error), ROOF_OK);
        assert_int_equal(predict(&p, bare, 10, &error),
                         steps[i].missing == NULL ? ROOF_OK : ROOF_USAGE);
        assert_true(steps[i].missing == NULL || strstr(error.message, steps[i].missing) != NULL);
    }
    roof_hardware_free(bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
