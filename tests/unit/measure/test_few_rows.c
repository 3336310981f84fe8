// SPDX-License-Identifier: MIT
#include "measure/fit.h"
#include "support.h"

#define ROWS 20

/* A measured device, its rows, and the calibration that lends. */
struct fixture {
    struct roof_hardware *device; /* without a calibration */
    struct roof_hardware *lender;
    struct roof_meter_row row[ROWS];
    struct roof_measured measured;
};

/* Products of 20 sizes, as a device would take for them whose kernels have one fit. */
static void plant(struct fixture *f, const struct roof_kernel_fit *fit)
{
    const struct roof_calibration own = {.id = "planted", .fit = fit, .count = 1};
    struct roof_calibration planted = own;
    f->measured = (struct roof_measured){.row = f->row, .count = ROWS};
    for (int i = 0; i < ROWS; i++) {
        struct roof_prediction p;
        struct roof_scenario s;
        roof_scenario_init(&s);
        s.common.op = ROOF_OPERATOR_GEMM;
        s.common.shape.m = INT64_C(1) << i % 13;
        s.common.shape.n = 1024 * (1 + i % 7);
        s.common.shape.k = 2048 * (1 + i % 3);
        f->device->calibration = &planted;
        assert_int_equal(roof_predict(&p, &s.common, f->device, NULL), ROOF_OK);
        f->device->calibration = NULL;
        assert_true(p.expected_s > 0);
        f->row[i] = (struct roof_meter_row){
            .task = {.probe = ROOF_PROBE_OPERATOR, .workload = p.workload}, .time_s = p.expected_s};
    }
}

static const struct roof_kernel_fit *product_of(const struct fixture *f, enum roof_stack stack)
{
    const struct roof_kernel_fit *const fit = roof_calibration_find(
        f->lender->calibration, ROOF_KERNEL_GEMM, stack, ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_NONE);
    assert_non_null(fit);
    assert_int_equal(fit->stack, stack);
    return fit;
}

/* The fit of products in 16 bits that rows give; the rest is of the lender. */
static struct roof_kernel_fit fitted(struct fixture *f)
{
    struct roof_fits fits;
    assert_int_equal(
        roof_fit_measured(&fits, &f->measured, f->device, f->lender->calibration, NULL), ROOF_OK);
    assert_true(fits.count > 10);
    assert_int_equal(fits.fit[0].kernel, ROOF_KERNEL_GEMM);
    assert_int_equal(fits.fit[0].numerics, ROOF_NUMERICS_16BIT);
    assert_int_equal(fits.fit[0].stack, ROOF_STACK_BEST);
    assert_null(fits.fit[0].lent);
    for (size_t i = 1; i < fits.count; i++) {
        assert_non_null(fits.fit[i].lent);
        assert_false(fits.fit[i].kernel == ROOF_KERNEL_GEMM &&
                     fits.fit[i].numerics == ROOF_NUMERICS_16BIT);
    }
    return fits.fit[0];
}

static double parameter(const struct roof_kernel_fit *fit, const char *key)
{
    size_t count = 0;
    const struct roof_parameter *const row = roof_fit_parameters(fit, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(row[i].key, key) == 0) {
            return fit->parameter[i];
        }
    }
    fail_msg("%s is no parameter", key);
    return 0;
}

static void set_parameter(struct roof_kernel_fit *fit, const char *key, double value)
{
    size_t count = 0;
    const struct roof_parameter *const row = roof_fit_parameters(fit, &count);
    for (size_t i = 0; i < count; i++) {
        fit->parameter[i] = strcmp(row[i].key, key) == 0 ? value : fit->parameter[i];
    }
}

/* --- tests --------------------------------------------------------------------------------- */

/* Rows that a stack of the lender explains to the last digit are of that stack. */
static void test_nearest_stack(void **state)
{
    struct fixture *const f = *state;
    static const enum roof_stack stacks[] = {ROOF_STACK_TRTLLM, ROOF_STACK_VLLM, ROOF_STACK_SGLANG};
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const struct roof_kernel_fit *const planted = product_of(f, stacks[i]);
        plant(f, planted);
        const struct roof_kernel_fit found = fitted(f);
        assert_false(found.plain);
        assert_int_equal(found.rows, ROWS);
        assert_float_equal(found.mape, 0, 1e-12);
        assert_float_equal(found.low, 1, 1e-12);
        assert_float_equal(found.high, 1, 1e-12);
        for (int p = 0; p < 10; p++) {
            assert_float_equal(found.parameter[p], planted->parameter[p], 1e-12);
        }
    }
}

/* A share of the bandwidth and of the peak that differ from the lender's come back; the other
 * parameters stay the lender's. */
static void test_planted_shares(void **state)
{
    struct fixture *const f = *state;
    struct roof_kernel_fit planted = *product_of(f, ROOF_STACK_VLLM);
    set_parameter(&planted, "dram", 0.6);
    set_parameter(&planted, "peak", 0.5);
    plant(f, &planted);
    const struct roof_kernel_fit found = fitted(f);
    assert_false(found.plain);
    assert_float_equal(parameter(&found, "dram"), 0.6, 0.02);
    assert_float_equal(parameter(&found, "peak"), 0.5, 0.02);
    assert_true(found.mape < 0.05);
    assert_float_equal(parameter(&found, "k_step_clocks"), parameter(&planted, "k_step_clocks"),
                       1e-9);
}

/* Rows of the plain formula are fitted by it where a lender's is more than a tenth worse. */
static void test_plain_rows(void **state)
{
    struct fixture *const f = *state;
    struct roof_kernel_fit planted = {.kernel = ROOF_KERNEL_GEMM,
                                      .stack = ROOF_STACK_BEST,
                                      .numerics = ROOF_NUMERICS_16BIT,
                                      .low = 1,
                                      .high = 1,
                                      .rows = 1,
                                      .plain = true};
    size_t count = 0;
    const struct roof_parameter *const row = roof_plain_parameters(&count);
    for (size_t i = 0; i < count; i++) {
        planted.parameter[i] = row[i].start;
    }
    set_parameter(&planted, "launch_clocks", 40000);
    set_parameter(&planted, "dram", 0.3);
    set_parameter(&planted, "peak", 0.05);
    plant(f, &planted);
    const struct roof_kernel_fit found = fitted(f);
    assert_true(found.plain);
    assert_true(found.mape < 0.03);
    assert_float_equal(parameter(&found, "dram"), 0.3, 0.02);
    assert_float_equal(parameter(&found, "peak"), 0.05, 0.002);
}

/* Fewer than three rows tell nothing: the fit is the lender's first one. Without a lender it is the
 * plain formula. */
static void test_too_few(void **state)
{
    struct fixture *const f = *state;
    plant(f, product_of(f, ROOF_STACK_VLLM));
    f->measured.count = 2;
    const struct roof_kernel_fit found = fitted(f);
    const struct roof_kernel_fit *const first = product_of(f, ROOF_STACK_TRTLLM);
    assert_int_equal(found.rows, 2);
    assert_false(found.plain);
    for (int p = 0; p < 10; p++) {
        assert_float_equal(found.parameter[p], first->parameter[p], 1e-12);
    }
    struct roof_fits alone;
    assert_int_equal(roof_fit_measured(&alone, &f->measured, f->device, NULL, NULL), ROOF_OK);
    assert_int_equal(alone.count, 1);
    assert_true(alone.fit[0].plain);
}

static int set_up(void **state)
{
    static struct fixture f;
    f.device = load_device("h200");
    f.lender = load_calibrated("h100-sxm");
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *const f = *state;
    roof_hardware_free(f->device);
    roof_hardware_free(f->lender);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_stack),
        cmocka_unit_test(test_planted_shares),
        cmocka_unit_test(test_plain_rows),
        cmocka_unit_test(test_too_few),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
