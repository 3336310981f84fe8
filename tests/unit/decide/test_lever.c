// SPDX-License-Identifier: MIT
/* Levers of operators on the device that makes mental arithmetic, and what measured rows lose. */
#include "support.h"

#include <math.h>
#include <string.h>

static struct roof_advice advice;
static struct roof_prediction base;

static void advise(const struct roof_workload *w, const struct roof_hardware *hardware)
{
    struct roof_error error = {0};
    if (roof_predict(&base, w, hardware, &error) != ROOF_OK ||
        roof_advise(&advice, &base, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

static const struct roof_lever *find(enum roof_lever_kind kind, enum roof_precision weights)
{
    for (size_t i = 0; i < advice.count; i++) {
        const struct roof_lever *const lever = &advice.lever[i];
        if (lever->kind == kind &&
            (kind != ROOF_LEVER_FORMATS || lever->formats.weights == weights)) {
            return lever;
        }
    }
    return NULL;
}

static const struct roof_lever *of(enum roof_lever_kind kind)
{
    return find(kind, ROOF_PRECISION_AUTO);
}

static struct roof_workload gemv(void)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMV;
    w.shape.n = 1000;
    w.shape.k = 1000;
    return w;
}

/* 2,004,000 bytes take 20.04 us. Of m rows the weights take 20 us, inputs and outputs 0.04 m, the
 * product 2 m: it is compute-bound from 20 / 1.96 = 10.2 on, and 11 rows take 22 us. */
static void test_product(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(SYNTHETIC);
    const struct roof_workload w = gemv();
    advise(&w, h);
    assert_near(base.time_s, 20.04e-6, 1e-12);
    const struct roof_lever *const fp8 = find(ROOF_LEVER_FORMATS, ROOF_PRECISION_FP8_E4M3);
    assert_non_null(fp8);
    assert_near(fp8->time_s, 10.03e-6, 1e-12); /* the output stays at 16 bits */
    assert_near(fp8->gain, 20.04 / 10.03, 1e-12);
    assert_int_equal(fp8->formats.out, ROOF_PRECISION_FP16);
    assert_null(find(ROOF_LEVER_FORMATS, ROOF_PRECISION_MXFP4)); /* there is no unit for it */
    assert_non_null(find(ROOF_LEVER_FORMATS, ROOF_PRECISION_INT4_G128));
    const struct roof_lever *const rows = of(ROOF_LEVER_ROWS);
    assert_non_null(rows);
    assert_int_equal(rows->size, 11);
    assert_int_equal(rows->along, ROOF_DIM_M);
    assert_near(rows->time_s, 22e-6, 1e-12);
    assert_near(rows->gain, 11 * 20.04 / 22, 1e-9);
    assert_near(of(ROOF_LEVER_SPARSE)->time_s, (2e6 * 9 / 16 + 4000) / 1e11, 1e-12);
    assert_near(of(ROOF_LEVER_BANDWIDTH)->gain, 2, 1e-12);
    assert_near(of(ROOF_LEVER_PEAKS)->gain, 1, 1e-12);
    assert_null(of(ROOF_LEVER_LINKS));
    assert_null(of(ROOF_LEVER_KERNEL)); /* nothing is expected of this device */
    assert_null(of(ROOF_LEVER_KV_FORMAT));
    for (size_t i = 1; i < advice.count; i++) {
        assert_true(advice.lever[i - 1].gain >= advice.lever[i].gain);
    }
    roof_hardware_free(h);
}

/* The product of 100 rows takes 200 us: memory matters no more, and peaks do. */
static void test_compute_bound(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(SYNTHETIC);
    struct roof_workload w = gemv();
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = 100;
    advise(&w, h);
    assert_null(of(ROOF_LEVER_ROWS));
    assert_near(of(ROOF_LEVER_BANDWIDTH)->gain, 1, 1e-12);
    assert_near(of(ROOF_LEVER_PEAKS)->gain, 2, 1e-12);
    assert_near(find(ROOF_LEVER_FORMATS, ROOF_PRECISION_FP8_E4M3)->gain, 2, 1e-12);
    w.formats.precision = ROOF_PRECISION_FP8_E4M3;
    advise(&w, h);
    assert_null(find(ROOF_LEVER_FORMATS, ROOF_PRECISION_INT8)); /* it is no narrower */
    assert_non_null(find(ROOF_LEVER_FORMATS, ROOF_PRECISION_NVFP4));
    roof_hardware_free(h);
}

/* Ten tokens of 1000: a tensor is 20 kB and takes 0.2 us. An add moves three of them, a norm
 * computes for 0.5 us, and one kernel for both moves four: 0.8 us in place of 1.1. */
static void test_fused(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(SYNTHETIC);
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_ADD;
    w.shape.tokens = 10;
    w.shape.hidden = 1000;
    advise(&w, h);
    const struct roof_lever *found = NULL;
    for (size_t i = 0; i < advice.count; i++) {
        if (advice.lever[i].op == ROOF_OPERATOR_ADD_RMSNORM) {
            found = &advice.lever[i];
        }
    }
    assert_non_null(found);
    assert_int_equal(found->kind, ROOF_LEVER_FUSE);
    assert_near(found->time_s, 0.8e-6, 1e-15);
    assert_near(found->gain, 1.375, 1e-9);
    assert_null(of(ROOF_LEVER_FORMATS)); /* an add has no weights */
    assert_null(of(ROOF_LEVER_ROWS));
    roof_hardware_free(h);
}

/* One head of 100 elements over 1000 keys: K and V are 400 kB, Q and the output 400 bytes. */
static void test_attention(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(SYNTHETIC);
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_ATTENTION;
    w.shape.heads = 1;
    w.shape.head_dim = 100;
    w.shape.kv_len = 1000;
    advise(&w, h);
    const struct roof_lever *const flash = of(ROOF_LEVER_FUSE);
    assert_non_null(flash);
    assert_int_equal(flash->op, ROOF_OPERATOR_FLASH_ATTENTION);
    assert_near(flash->time_s, 4.004e-6, 1e-12);
    assert_near(flash->gain, base.time_s / 4.004e-6, 1e-9);
    w.op = ROOF_OPERATOR_FLASH_ATTENTION;
    advise(&w, h);
    assert_near(of(ROOF_LEVER_KV_FORMAT)->time_s, 2.004e-6, 1e-12);
    assert_null(of(ROOF_LEVER_FUSE));
    roof_hardware_free(h);
}

/* A collective gains from links alone. */
static void test_links(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(SYNTHETIC);
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_ALL_REDUCE;
    w.shape.elements = 1000000;
    w.shape.devices = 2;
    advise(&w, h);
    assert_near(of(ROOF_LEVER_LINKS)->gain, 2, 1e-9);
    assert_near(of(ROOF_LEVER_BANDWIDTH)->gain, 1, 1e-9);
    roof_hardware_free(h);
}

/* A launch that is hidden and a kernel at its bound are levers where kernels were measured; the
 * latter brings what stands between both times. */
static void test_kernels(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_calibrated("h100-sxm");
    const struct roof_workload w = gemv();
    advise(&w, h);
    const struct roof_lever *const kernel = of(ROOF_LEVER_KERNEL);
    const struct roof_lever *const launch = of(ROOF_LEVER_LAUNCH);
    assert_non_null(kernel);
    assert_non_null(launch);
    assert_near(kernel->expected_s, base.time_s, 1e-15);
    assert_near(kernel->expected_gain, base.expected_s / base.time_s, 1e-9);
    assert_true(launch->expected_gain > 1 && launch->gain == 1);
    roof_hardware_free(h);
}

/* 64 x 512 results are few tiles, so that a long K is worth splitting. What the estimate splits
 * shows what that saves; a product that does not split is told to. */
static void test_split_k(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_calibrated("h100-sxm");
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = 64;
    w.shape.n = 512;
    w.shape.k = 16384;
    advise(&w, h);
    const double best_s = base.expected_s;
    const struct roof_lever *split = of(ROOF_LEVER_SPLIT_K);
    assert_non_null(split);
    assert_true(split->size == 1 && split->was > 1 && split->expected_gain < 1);
    const double without_s = split->expected_s;
    w.split_k = 1;
    advise(&w, h);
    assert_near(base.expected_s, without_s, 1e-15);
    split = of(ROOF_LEVER_SPLIT_K);
    assert_true(split->size > 1 && split->was == 1 && split->gain == 1);
    assert_true(split->expected_s >= best_s);
    assert_near(split->expected_gain, without_s / split->expected_s, 1e-12);
    w.shape.n = 64; /* a single tile: as many parts as are tried */
    w.shape.k = 1048576;
    advise(&w, h);
    assert_int_equal(of(ROOF_LEVER_SPLIT_K)->size, 32);
    w.op = ROOF_OPERATOR_RMSNORM;
    w.shape = (struct roof_shape){.tokens = 1, .hidden = 8};
    struct roof_error error = {0};
    assert_int_equal(roof_predict(&base, &w, h, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "rmsnorm has no K"));
    roof_hardware_free(h);
}

/* 14335 x 2 bytes are no multiple of 16, and 14336 is the next size that is. On the H100, the tile
 * 128 x 128 x 64 reads A 4 times and B 32 times through the L2, in parts of 128 bytes at any even
 * byte: with 30 bytes beside each on average. That takes longer than what is expected. */
static void test_padded(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_calibrated("h100-sxm");
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = 4096;
    w.shape.n = 512;
    w.shape.k = 14335;
    advise(&w, h);
    const struct roof_lever *pad = of(ROOF_LEVER_PAD);
    assert_non_null(pad);
    assert_int_equal(pad->padded_k, 14336);
    assert_int_equal(pad->padded_n, 0);
    assert_near(pad->more_flops, 1.0 / 14335, 1e-9);
    assert_near(pad->more_bytes, (4096 + 512) * 2 / (2 * (4608.0 * 14335 + 4096 * 512)), 1e-9);
    assert_near(pad->gain, 14335.0 / 14336, 1e-12); /* the padded product computes more */
    const double row = 2 * (4096.0 * 4 + 512 * 32);
    const double out = 2 * 4096.0 * 512;
    assert_near(pad->expected_gain, (row * 14335 * (1 + 30.0 / 128) + out) / (row * 14336 + out),
                1e-12);
    const double padded_s = pad->expected_s;
    w.shape.k = 14336;
    advise(&w, h);
    assert_near(base.expected_s, padded_s, 1e-15);
    assert_null(of(ROOF_LEVER_PAD));
    w.shape.n = 511;
    w.shape.k = 14337;
    advise(&w, h);
    pad = of(ROOF_LEVER_PAD);
    assert_true(pad->padded_k == 14344 && pad->padded_n == 512);
    w.shape.m = 1; /* one row of the output begins at its beginning */
    w.shape.k = 14336;
    advise(&w, h);
    assert_null(of(ROOF_LEVER_PAD));
    roof_hardware_free(h);
}

/* Returns what an operator loses in a measured time. */
static struct roof_loss lost_of(const struct roof_workload *w, const struct roof_hardware *hardware,
                                double measured_s)
{
    struct roof_error error = {0};
    struct roof_loss out;
    if (roof_predict(&base, w, hardware, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    const struct roof_compared row = {.prediction = &base,
                                      .count = 3,
                                      .measured_s = measured_s,
                                      .time_s = base.time_s,
                                      .expected_s = base.expected_s,
                                      .low_s = base.expected_low_s,
                                      .high_s = base.expected_high_s};
    assert_int_equal(roof_loss_of(&out, &row, &error), ROOF_OK);
    return out;
}

/* Returns what a gemv loses in a measured time. */
static struct roof_loss lost(const struct roof_hardware *hardware, double measured_s)
{
    const struct roof_workload w = gemv();
    return lost_of(&w, hardware, measured_s);
}

static void test_loss(void **state)
{
    (void)state;
    struct roof_hardware *const plain = parse_device(SYNTHETIC);
    struct roof_loss l = lost(plain, 40.08e-6);
    assert_near(l.share, 0.5, 1e-12);
    assert_near(l.lost_s, 3 * 20.04e-6, 1e-12);
    assert_int_equal(l.regime, ROOF_BOTTLENECK_MEMORY);
    assert_int_equal(l.cure, ROOF_CURE_BOUND);
    assert_near(l.gain, 2, 1e-12);
    roof_hardware_free(plain);
    struct roof_hardware *const h = load_calibrated("h100-sxm");
    l = lost(h, 1);
    assert_int_equal(l.cure, ROOF_CURE_EXPECTED);
    assert_near(l.gain, 1 / base.expected_s, 1e-6 * l.gain);
    l = lost(h, base.expected_s);
    assert_int_equal(l.cure, ROOF_CURE_LEVER);
    assert_int_equal(l.lever.kind, ROOF_LEVER_LAUNCH);
    assert_int_equal(l.regime, base.expected_bottleneck);
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape = (struct roof_shape){.m = 4096, .n = 512, .k = 14335};
    l = lost_of(&w, h, 1);
    assert_true(l.cure == ROOF_CURE_LEVER && l.lever.kind == ROOF_LEVER_PAD);
    assert_near(l.gain, 1 / l.lever.expected_s, 1e-12);
    l = lost_of(&w, h, base.expected_s); /* misaligned rows cost nothing here */
    assert_true(l.cure != ROOF_CURE_LEVER || l.lever.kind != ROOF_LEVER_PAD);
    roof_hardware_free(h);
}

/* Changes without an expected gain come last, each group by its gain. */
static void test_precedes(void **state)
{
    (void)state;
    assert_true(roof_lever_precedes(1, 1.1, 3, (double)NAN));
    assert_false(roof_lever_precedes(3, (double)NAN, 1, 1.1));
    assert_true(roof_lever_precedes(1, 1.2, 3, 1.1));
    assert_false(roof_lever_precedes(3, 1.1, 1, 1.1));
    assert_true(roof_lever_precedes(3, (double)NAN, 2, (double)NAN));
    assert_false(roof_lever_precedes(2, (double)NAN, 2, (double)NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product), cmocka_unit_test(test_compute_bound),
        cmocka_unit_test(test_fused),   cmocka_unit_test(test_attention),
        cmocka_unit_test(test_links),   cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_loss),    cmocka_unit_test(test_split_k),
        cmocka_unit_test(test_padded),  cmocka_unit_test(test_precedes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
