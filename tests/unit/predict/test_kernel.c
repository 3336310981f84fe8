// SPDX-License-Identifier: MIT
/* The expected time: each term alone on a device that makes mental arithmetic, then what holds for
 * all shapes and parameters. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catalog/data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, neutral, meaning) P_##id,
#include "predict/kernel_parameters.h"
    P_COUNT
};

/* 100 GB/s, 1 TFLOP/s at fp16, 10 SMs at 1 GHz: an SM multiplies 100 FLOP and gets 10 bytes per
 * nanosecond, which is a clock. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"      \
    " \"l2_bytes\": 104448, \"peak_tflops\": {\"fp16\": 1, \"fp8\": 2, \"int8\": 2, \"nvfp4\": "   \
    "4},"                                                                                          \
    " \"vector_tflops\": {\"fp32\": 0.1}, \"devices_per_node\": 8, \"link_gb_s\": 10}"

/* One pair of formats stands for each numerics. */
static const struct {
    const char *weights;
    const char *activations;
} formats[ROOF_NUMERICS_COUNT] = {
    [ROOF_NUMERICS_16BIT] = {"bf16", "bf16"},  [ROOF_NUMERICS_FP8] = {"fp8", "fp8"},
    [ROOF_NUMERICS_INT8] = {"int8", "int8"},   [ROOF_NUMERICS_FP4] = {"nvfp4", "nvfp4"},
    [ROOF_NUMERICS_W8A16] = {"fp8", "bf16"},   [ROOF_NUMERICS_W4A16] = {"int4", "bf16"},
    [ROOF_NUMERICS_W4A8] = {"int4", "fp8"},    [ROOF_NUMERICS_32BIT] = {"fp32", "fp32"},
    [ROOF_NUMERICS_MX4A16] = {"mxfp4", "bf16"}};

static void set_formats(struct roof_workload *w, enum roof_numerics numerics)
{
    w->formats = (struct roof_formats)ROOF_FORMATS_AUTO;
    assert_int_equal(roof_precision_find(&w->formats.weights, formats[numerics].weights, NULL),
                     ROOF_OK);
    assert_int_equal(
        roof_precision_find(&w->formats.activations, formats[numerics].activations, NULL), ROOF_OK);
}

static bool known(double value)
{
    return !isnan(value);
}

struct fixture {
    struct roof_hardware *device;
    struct roof_kernel_fit fit;
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
};

/* No term shows, but for the memory's and the matrix unit's own. */
static void begin(struct fixture *f)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){.device = parse_device(DEVICE),
                          .workload = {.formats = ROOF_FORMATS_AUTO, .op = ROOF_OPERATOR_GEMM},
                          .fit = {.kernel = ROOF_KERNEL_GEMM,
                                  .stack = ROOF_STACK_TRTLLM,
                                  .numerics = ROOF_NUMERICS_16BIT,
                                  .low = 0.75,
                                  .high = 1.5}};
    f->calibration =
        (struct roof_calibration){.id = "ten", .attributions = none, .fit = &f->fit, .count = 1};
    f->device->calibration = &f->calibration;
    double *const p = f->fit.parameter;
    p[P_DRAM] = p[P_PEAK] = p[P_L2_CAPACITY] = p[P_WAVE] = 1;
    p[P_FEED] = p[P_L2_RATE] = p[P_STREAM] = p[P_REDUCE] = p[P_EPILOGUE] = p[P_Q_RATE] = 1e12;
    p[P_SPLIT] = 1e15;
}

static void end(struct fixture *f)
{
    roof_hardware_free(f->device);
}

static void set(struct fixture *f, const char *assignment)
{
    assert_int_equal(roof_hardware_set(f->device, assignment, NULL), ROOF_OK);
}

static const struct roof_expected *predict(struct fixture *f, int64_t m, int64_t n, int64_t k)
{
    struct roof_error error = {0};
    f->workload.shape.m = f->workload.op == ROOF_OPERATOR_GEMV ? 0 : m;
    f->workload.shape.n = n;
    f->workload.shape.k = k;
    if (roof_predict(&f->prediction, &f->workload, f->device, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return &f->prediction.part[0].expected;
}

static void check(struct fixture *f, int64_t m, int64_t n, int64_t k, double us,
                  enum roof_kernel_limit bound)
{
    const struct roof_expected *const e = predict(f, m, n, k);
    assert_near(e->time_s * 1e6, us, 1e-9);
    assert_int_equal(e->limit, bound);
    assert_true(f->prediction.expected_s == e->time_s);
    assert_true(f->prediction.expected_low_s == e->low_s);
    assert_true(f->prediction.expected_high_s == e->high_s);
    assert_true(e->low_s <= e->time_s && e->time_s <= e->high_s);
    assert_near(e->high_s, 1.5 * e->time_s, 1e-12);
    assert_ptr_equal(e->fit, &f->fit);
    assert_false(e->near);
}

/* The shape of most cases: one smallest tile, 10 steps of 64 in K; 104,448 bytes. */
#define ONE_TILE 16, 64, 640
#define TILE_US (2 * 16 * 64 * 640 / 1e5) /* on one SM: 13.1072 */
#define BYTES_US (104448 / 1e5)
#define NO_MATRIX "peak_tflops.fp16=100000"

static void test_launch(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    set(&f, NO_MATRIX);
    f.fit.parameter[P_LAUNCH] = 5000; /* clocks, of a nanosecond */
    check(&f, ONE_TILE, 5 + BYTES_US, ROOF_KERNEL_LIMIT_LAUNCH);
    assert_int_equal(f.prediction.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
    assert_near(f.prediction.part[0].expected.launch_s, 5e-6, 1e-12);
    /* The band does not begin below the bound, but below the expected time it does. */
    assert_near(f.prediction.expected_low_s, 0.75 * (5 + BYTES_US) * 1e-6, 1e-9);
    f.workload.no_launch_overhead = 1;
    check(&f, ONE_TILE, BYTES_US, ROOF_KERNEL_LIMIT_MEMORY);
    assert_true(f.prediction.part[0].expected.launch_s == 0);
    assert_near(f.prediction.expected_low_s, BYTES_US * 1e-6, 1e-9);
    set(&f, "boost_clock_mhz=500");
    f.workload.no_launch_overhead = 0;
    check(&f, ONE_TILE, 10 + BYTES_US, ROOF_KERNEL_LIMIT_LAUNCH);
    end(&f);
}

static void test_memory(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    set(&f, NO_MATRIX);
    check(&f, 1000, 1000, 1000, 60, ROOF_KERNEL_LIMIT_MEMORY); /* 6 MB */
    f.fit.parameter[P_DRAM] = 2; /* never below the bound, whatever the parameters */
    check(&f, 1000, 1000, 1000, 60, ROOF_KERNEL_LIMIT_MEMORY);
    f.fit.parameter[P_DRAM] = 0.5;
    check(&f, 1000, 1000, 1000, 120, ROOF_KERNEL_LIMIT_MEMORY);
    assert_int_equal(f.prediction.expected_bottleneck, ROOF_BOTTLENECK_MEMORY);
    f.workload.op = ROOF_OPERATOR_BMM; /* seven of them */
    f.workload.shape.batch = 7;
    f.fit.kernel = ROOF_KERNEL_BMM;
    check(&f, 1000, 1000, 1000, 840, ROOF_KERNEL_LIMIT_MEMORY);
    f.fit.kernel = ROOF_KERNEL_GEMM;
    /* A lone thread block cannot pull it all: 160 bytes per element of K at 10 bytes per ns. */
    f.workload.op = ROOF_OPERATOR_GEMM;
    f.workload.shape.batch = 0;
    f.fit.parameter[P_STREAM] = 1;
    check(&f, ONE_TILE, 10.24, ROOF_KERNEL_LIMIT_MEMORY);
    f.fit.parameter[P_STREAM] = 2;
    check(&f, ONE_TILE, 5.12, ROOF_KERNEL_LIMIT_MEMORY);
    end(&f);
}

static void test_compute(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    check(&f, ONE_TILE, TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_int_equal(f.prediction.expected_bottleneck, ROOF_BOTTLENECK_COMPUTE);
    const struct roof_expected *const e = predict(&f, ONE_TILE);
    assert_true(e->tiled);
    assert_int_equal(e->tiling.tile_m, 16);
    assert_int_equal(e->tiling.tile_n, 64);
    assert_int_equal(e->tiling.split_k, 1);
    assert_near(e->tiling.grid, 1, 0);
    assert_near(e->tiling.waves, 1, 0);
    assert_near(e->tiling.utilisation, 0.1, 1e-12);
    assert_true(e->tiling.l2_hit == 0);
    /* A product that does not fill the tile, or the step of K, costs as much. */
    check(&f, 9, 33, 577, TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.fit.parameter[P_PEAK] = 0.5;
    check(&f, ONE_TILE, 2 * TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.fit.parameter[P_PEAK] = 1;
    f.fit.parameter[P_TILE] = 0.1; /* 1 + 0.1 (64/16 + 64/64) */
    check(&f, ONE_TILE, 1.5 * TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.fit.parameter[P_PEAK] = 2; /* the matrix units are limited to half of their rate */
    check(&f, ONE_TILE, TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.fit.parameter[P_TILE] = 0.3;
    check(&f, ONE_TILE, 1.25 * TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.fit.parameter[P_PEAK] = 1;
    f.fit.parameter[P_TILE] = 0;
    f.fit.parameter[P_POWER] = 0.25; /* the ideal takes 1.31072 us */
    check(&f, ONE_TILE, TILE_US * (1 + 0.25 * log(1.0131072)), ROOF_KERNEL_LIMIT_COMPUTE);
    f.fit.parameter[P_POWER] = 0;
    f.fit.parameter[P_OVERLAP] = 0.5; /* half of the shorter shows */
    check(&f, ONE_TILE, TILE_US + BYTES_US / 2, ROOF_KERNEL_LIMIT_COMPUTE);
    end(&f);
}

/* 15 tiles on 10 SMs. */
static void test_waves(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.fit.parameter[P_WAVE] = 0.5;
    check(&f, 16, 960, 640, 1.75 * TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    const struct roof_tiling *const t = &f.prediction.part[0].expected.tiling;
    assert_int_equal(t->tile_n, 64);
    assert_near(t->grid, 15, 0);
    assert_near(t->waves, 1.75, 1e-12);
    assert_near(t->utilisation, 0.75, 1e-12);
    f.fit.parameter[P_WAVE] = 0.25;
    check(&f, 16, 960, 640, 1.625 * TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    check(&f, 16, 640, 640, TILE_US, ROOF_KERNEL_LIMIT_COMPUTE); /* they fill one wave */
    check(&f, 16, 1280, 640, 2 * TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    /* A whole batch shares the waves. */
    f.workload.shape.batch = 15;
    check(&f, ONE_TILE, 1.625 * TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    end(&f);
}

static void test_split_k(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.fit.parameter[P_SPLIT] = 1000;
    f.fit.parameter[P_REDUCE] = 1;
    /* Six splits: two steps of 64 each, 1 us, and 6 x 8192 bytes. */
    check(&f, ONE_TILE, TILE_US / 5 + 1 + 6 * 0.08192, ROOF_KERNEL_LIMIT_COMPUTE);
    const struct roof_tiling *const t = &f.prediction.part[0].expected.tiling;
    assert_int_equal(t->split_k, 6);
    assert_near(t->grid, 6, 0);
    assert_near(t->utilisation, 0.6, 1e-12);
    /* Chosen parts are taken as they are: one, two, and those of the fastest. */
    static const struct {
        int64_t parts;
        double us;
    } chosen[] = {
        {1, TILE_US}, {2, TILE_US / 2 + 1 + 2 * 0.08192}, {6, TILE_US / 5 + 1 + 6 * 0.08192}};
    for (size_t i = 0; i < COUNT(chosen); i++) {
        f.workload.split_k = chosen[i].parts;
        assert_near(predict(&f, ONE_TILE)->time_s * 1e6, chosen[i].us, 1e-9);
        assert_int_equal(t->split_k, chosen[i].parts);
        assert_true(f.prediction.expected_near);
    }
    f.workload.split_k = 0;
    f.fit.parameter[P_REDUCE] = 0.05; /* then two are enough: 1.6384 us for each */
    check(&f, ONE_TILE, TILE_US / 2 + 1 + 2 * 1.6384, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_int_equal(t->split_k, 2);
    f.fit.parameter[P_SPLIT] = 20000;
    check(&f, ONE_TILE, TILE_US, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_int_equal(t->split_k, 1);
    /* However cheap, no splits beyond two waves: 16 x 128, 6 blocks, in 3 parts of 4 steps. */
    f.fit.parameter[P_SPLIT] = 1;
    f.fit.parameter[P_REDUCE] = 1e12;
    check(&f, 16, 704, 640, 1.6 * TILE_US + 0.001, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_int_equal(t->split_k, 3);
    assert_int_equal(t->tile_n, 128);
    end(&f);
}

static void test_operands_and_latency(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.fit.parameter[P_FEED] = 1; /* 160 bytes per element of K at a byte per ns */
    check(&f, ONE_TILE, 102.4, ROOF_KERNEL_LIMIT_OPERANDS);
    assert_int_equal(f.prediction.expected_bottleneck, ROOF_BOTTLENECK_MEMORY);
    f.fit.parameter[P_FEED] = 1e12;
    f.fit.parameter[P_K_STEP] = 6400; /* ten steps */
    check(&f, ONE_TILE, 64, ROOF_KERNEL_LIMIT_LATENCY);
    assert_int_equal(f.prediction.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
    f.fit.parameter[P_K_STEP] = 0;
    f.fit.parameter[P_PROLOGUE] = 2000;
    check(&f, ONE_TILE, TILE_US + 2, ROOF_KERNEL_LIMIT_COMPUTE);
    f.fit.parameter[P_PROLOGUE] = 20000;
    check(&f, ONE_TILE, TILE_US + 20, ROOF_KERNEL_LIMIT_LATENCY);
    check(&f, 16, 1280, 640, 2 * TILE_US + 20,
          ROOF_KERNEL_LIMIT_COMPUTE); /* a wide tile, one wave */
    f.fit.parameter[P_PROLOGUE] = 0;
    f.fit.parameter[P_EPILOGUE] = 1; /* 2048 bytes at 10 per ns */
    check(&f, ONE_TILE, TILE_US + 0.2048, ROOF_KERNEL_LIMIT_COMPUTE);
    end(&f);
}

/* The L2 is as large as the data of one tile: reading it over and over finds half of it. */
static void test_warm(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    set(&f, NO_MATRIX);
    f.fit.parameter[P_L2_RATE] = 100; /* 1 TB/s in all */
    check(&f, ONE_TILE, BYTES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_WARM;
    check(&f, ONE_TILE, BYTES_US * 0.55, ROOF_KERNEL_LIMIT_MEMORY);
    assert_near(f.prediction.part[0].expected.tiling.l2_hit, 0.5, 1e-12);
    assert_true(f.prediction.expected_s < f.prediction.time_s); /* faster than DRAM allows */
    assert_near(f.prediction.expected_low_s, 0.75 * 0.55 * BYTES_US * 1e-6, 1e-9);
    f.fit.parameter[P_L2_CAPACITY] = 0.5; /* (1/2)^8 */
    check(&f, ONE_TILE, BYTES_US * (256.0 / 257 + 0.1 / 257), ROOF_KERNEL_LIMIT_MEMORY);
    f.fit.parameter[P_L2_CAPACITY] = 1;
    f.fit.parameter[P_L2_RATE] = 1; /* the L2 is not slower than DRAM */
    check(&f, ONE_TILE, BYTES_US, ROOF_KERNEL_LIMIT_MEMORY);
    /* Twice the bytes between two uses: of W, 1/257 is found; X and Y are still half there. */
    f.fit.parameter[P_L2_RATE] = 100;
    f.workload.working_set = 2 * 104448;
    const double w_us = 2 * 64 * 640 / 1e5;
    check(&f, ONE_TILE, w_us * (256 + 0.1) / 257 + (BYTES_US - w_us) * 0.55,
          ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_COLD; /* the number of bytes decides */
    check(&f, ONE_TILE, w_us * (256 + 0.1) / 257 + (BYTES_US - w_us) * 0.55,
          ROOF_KERNEL_LIMIT_MEMORY);
    /* A lone block does not read what is in the L2 either: 0.5 of its 10.24 us. */
    f.workload.working_set = 104448;
    f.fit.parameter[P_STREAM] = 1;
    check(&f, ONE_TILE, 5.12, ROOF_KERNEL_LIMIT_MEMORY);
    end(&f);
}

/* One row: a kernel without tiles. */
static void test_matrix_vector(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    set(&f, NO_MATRIX);
    f.workload.op = ROOF_OPERATOR_GEMV;
    f.fit.parameter[P_PROLOGUE] = 1e6;
    check(&f, 1, 1000, 1000, 20.04, ROOF_KERNEL_LIMIT_MEMORY);
    const struct roof_tiling *const t = &f.prediction.part[0].expected.tiling;
    assert_int_equal(t->tile_m, 1);
    assert_int_equal(t->tile_n, 1);
    assert_int_equal(t->split_k, 1);
    assert_near(t->grid, 1000, 0);
    assert_near(t->waves, 1, 0);
    assert_near(t->utilisation, 1, 0);
    f.fit.parameter[P_OVERLAP] = 0.5;
    f.fit.parameter[P_K_STEP] = 640; /* 10 ns per element of K */
    check(&f, 1, 1000, 1000, 25.04, ROOF_KERNEL_LIMIT_MEMORY);
    f.fit.parameter[P_K_STEP] = 6400;
    check(&f, 1, 1000, 1000, 110.02, ROOF_KERNEL_LIMIT_LATENCY);
    f.fit.parameter[P_K_STEP] = 0;
    f.fit.parameter[P_FEED] = 4; /* 2 MB into 10 SMs at 4 bytes per ns */
    check(&f, 1, 1000, 1000, 50 + 10.02, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.op = ROOF_OPERATOR_GEMM; /* is the same with one row */
    check(&f, 1, 1000, 1000, 60.02, ROOF_KERNEL_LIMIT_LATENCY);
    f.fit.parameter[P_FEED] = 1e12;
    set(&f, "peak_tflops.fp16=0.05"); /* 2 MFLOP: 40 us */
    check(&f, 1, 1000, 1000, 40 + 10.02, ROOF_KERNEL_LIMIT_LATENCY);
    end(&f);
}

/* Libraries have such a kernel for a few rows, too. */
static void test_few_rows(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.fit.parameter[P_PROLOGUE] = 1e6; /* of a tile: a millisecond */
    assert_true(predict(&f, 2, 1000, 1000)->time_s > 1e-3);
    f.fit.parameter[P_VECTOR_ROWS] = 4;
    set(&f, NO_MATRIX);
    check(&f, 1, 1000, 1000, 20.04, ROOF_KERNEL_LIMIT_MEMORY);
    check(&f, 4, 1000, 1000, 20.16, ROOF_KERNEL_LIMIT_MEMORY); /* 4 rows in, 4 out */
    assert_int_equal(f.prediction.part[0].expected.tiling.tile_m, 1);
    assert_true(predict(&f, 5, 1000, 1000)->time_s > 1e-3);
    set(&f, "peak_tflops.fp16=0.05"); /* 2 MFLOP a row: 40 us */
    check(&f, 3, 1000, 1000, 120, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.split_k = 2; /* parts of K are those of tiles */
    assert_true(predict(&f, 3, 1000, 1000)->time_s > 1e-3);
    /* Scores of three query heads of a key head are no such product. */
    f.fit.kernel = ROOF_KERNEL_BMM;
    f.workload = (struct roof_workload){
        .formats = ROOF_FORMATS_AUTO,
        .op = ROOF_OPERATOR_ATTENTION_SCORES,
        .shape = {.batch = 1, .heads = 3, .kv_heads = 1, .head_dim = 64, .kv_len = 64}};
    assert_true(predict(&f, 0, 0, 0)->time_s > 1e-3);
    /* Neither is a convolution to three pixels, or to one. */
    f.fit.kernel = ROOF_KERNEL_GEMM;
    for (int64_t pixels = 1; pixels <= 3; pixels += 2) {
        f.workload = (struct roof_workload){.formats = ROOF_FORMATS_AUTO,
                                            .op = ROOF_OPERATOR_CONV2D,
                                            .shape = {.batch = 1, .taps = 9}};
        assert_true(predict(&f, pixels, 1000, 1000)->time_s > 1e-3);
    }
    end(&f);
}

/* Rows are a multiple of those of a cluster, or of the power of two above few of them. */
static void test_granule(void **unused)
{
    (void)unused;
    static const struct {
        double granule;
        int64_t m;
        double tiles; /* of 64 x 64 in the end, of 640 x 64 x 64 multiplications each */
    } cases[] = {{0, 65, 80 / 64.},   {1, 65, 80 / 64.}, {64, 65, 2},     {64, 33, 1},
                 {64, 32, 0.5},       {128, 65, 2},      {128, 128, 2},   {128, 129, 4},
                 {128, 257, 6},       {256, 65, 2},      {256, 129, 4},   {256, 257, 8},
                 {256, 512, 8},       {256, 513, 12},    {256, 16, 0.25}, {256, 17, 0.5},
                 {1, 257, 272 / 64.}, {64, 257, 5}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        begin(&f);
        f.fit.parameter[P_WAVE] = 0; /* ten SMs that share all of it */
        f.fit.parameter[P_GRANULE] = cases[i].granule;
        f.workload.shape.batch = 1000;
        f.workload.op = ROOF_OPERATOR_BMM;
        f.fit.kernel = ROOF_KERNEL_BMM;
        const struct roof_expected *const e = predict(&f, cases[i].m, 64, 640);
        assert_near(e->time_s, 1000 * cases[i].tiles * 2 * 64 * 64 * 640 / 1e12, 1e-12);
        assert_near(e->tiling.grid * e->tiling.tile_m * e->tiling.tile_n,
                    1000 * cases[i].tiles * 64 * 64, 1e-12);
        end(&f);
    }
}

static void test_quantisation(void **unused)
{
    (void)unused;
    static const struct {
        const char *format;
        enum roof_numerics numerics;
        enum roof_quantize quantize;
        double element; /* bytes: what is read, once or twice, and written */
    } cases[] = {{"fp8", ROOF_NUMERICS_FP8, ROOF_QUANTIZE_DYNAMIC, 5},
                 {"fp8", ROOF_NUMERICS_FP8, ROOF_QUANTIZE_STATIC, 3},
                 {"fp8", ROOF_NUMERICS_FP8, ROOF_QUANTIZE_BLOCK, 3},
                 {"int8", ROOF_NUMERICS_INT8, ROOF_QUANTIZE_DYNAMIC, 5},
                 {"nvfp4", ROOF_NUMERICS_FP4, ROOF_QUANTIZE_BLOCK, 2.5625}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        begin(&f);
        double *const p = f.fit.parameter;
        f.fit.numerics = cases[i].numerics;
        f.fit.quantize = cases[i].quantize;
        assert_int_equal(roof_precision_find(&f.workload.formats.precision, cases[i].format, NULL),
                         ROOF_OK);
        p[P_Q_LAUNCH] = 3000;
        p[P_Q_ROW] = 2;
        p[P_Q_RATE] = 2;
        p[P_LAUNCH] = 1000;
        const double kernel = predict(&f, 1000, 64, 640)->time_s * 1e6; /* without, on this fit */
        assert_near(f.prediction.part[0].expected.launch_s, 1e-6, 1e-12);
        f.workload.quantize_input = cases[i].quantize;
        check(&f, 1000, 64, 640, kernel + 3 + 640e3 * cases[i].element / 2e5,
              f.prediction.part[0].expected.limit);
        assert_near(f.prediction.part[0].expected.launch_s, 4e-6, 1e-12);
        p[P_Q_ROW] = 1000; /* a row after the other: longer than the bytes, and than the product */
        check(&f, 1000, 64, 640, kernel + 3 + 1000, ROOF_KERNEL_LIMIT_QUANTIZE);
        assert_int_equal(f.prediction.expected_bottleneck, ROOF_BOTTLENECK_MEMORY);
        f.workload.no_launch_overhead = 1;
        check(&f, 1000, 64, 640, kernel - 1 + 1000, ROOF_KERNEL_LIMIT_QUANTIZE);
        f.workload.quantize_input = cases[i].quantize == ROOF_QUANTIZE_BLOCK
                                        ? ROOF_QUANTIZE_STATIC
                                        : ROOF_QUANTIZE_BLOCK; /* never measured */
        p[P_Q_ROW] = 2;
        f.workload.no_launch_overhead = 0;
        const double narrow =
            cases[i].element - (cases[i].quantize == ROOF_QUANTIZE_DYNAMIC ? 4 : 2);
        const struct roof_expected *const e = predict(&f, 1000, 64, 640);
        assert_near(e->time_s * 1e6, kernel + 3 + 640e3 * (2 + narrow) / 2e5, 1e-9);
        assert_true(e->near);
        end(&f);
    }
}

/* --- where there is nothing to expect ------------------------------------------------------ */

static void check_absent(struct fixture *f)
{
    struct roof_error error = {0};
    if (roof_predict(&f->prediction, &f->workload, f->device, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    assert_true(!known(f->prediction.expected_s));
    assert_true(!known(f->prediction.expected_low_s));
    assert_true(!known(f->prediction.expected_high_s));
    assert_true(known(f->prediction.time_s));
    assert_false(f->prediction.part[0].expected.tiled && f->prediction.part_count == 1);
}

static void test_absent(void **unused)
{
    (void)unused;
    static const char *const removed[] = {"\"sm_count\": 10, ", "\"boost_clock_mhz\": 1000, ",
                                          "\"l2_bytes\": 104448, "};
    struct fixture f;
    begin(&f);
    assert_true(known(predict(&f, ONE_TILE)->time_s));
    f.device->calibration = NULL;
    check_absent(&f);
    f.device->calibration = &f.calibration;
    f.calibration.count = 0;
    check_absent(&f);
    f.calibration.count = 1;
    assert_true(known(predict(&f, ONE_TILE)->time_s));
    f.workload.formats.precision = ROOF_PRECISION_INT4; /* no kernel of these formats */
    f.workload.formats.activations = ROOF_PRECISION_INT4;
    check_absent(&f);
    f.workload.formats = (struct roof_formats)ROOF_FORMATS_AUTO;
    end(&f);
    static const char device[] = "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, "
                                 "\"boost_clock_mhz\": 1000, \"l2_bytes\": 104448, "
                                 "\"peak_tflops\": {\"fp16\": 1}}";
    for (size_t i = 0; i <= COUNT(removed); i++) { /* the last: nothing removed */
        struct roof_text text = ROOF_TEXT_INIT;
        const char *const at = i < COUNT(removed) ? strstr(device, removed[i]) : device;
        assert_non_null(at);
        roof_text_add(&text, device, (size_t)(at - device));
        roof_text_put(&text, at + (i < COUNT(removed) ? strlen(removed[i]) : 0));
        begin(&f);
        roof_hardware_free(f.device);
        f.device = parse_device(text.data);
        f.device->calibration = &f.calibration;
        f.workload.shape = (struct roof_shape){.m = 16, .n = 64, .k = 640};
        if (i < COUNT(removed)) {
            check_absent(&f);
        } else {
            assert_true(known(predict(&f, ONE_TILE)->time_s));
        }
        roof_text_free(&text);
        end(&f);
    }
    /* A format without a peak. */
    struct roof_hardware *const bare =
        parse_device("{\"id\": \"bare\", \"bandwidth_gb_s\": 100, \"sm_count\": 10,"
                     " \"boost_clock_mhz\": 1000, \"l2_bytes\": 1000,"
                     " \"peak_tflops\": {\"int8\": 1}}");
    bare->calibration = &f.calibration;
    f.device = bare;
    check_absent(&f);
    end(&f);
}

/* --- where this was not measured itself ---------------------------------------------------- */

/* Which fit is used (NULL: none), and that its band is wider where it only stands in. */
static void check_fit(struct fixture *f, const struct roof_kernel_fit *fit, bool near)
{
    const struct roof_expected *const e = predict(f, ONE_TILE);
    assert_ptr_equal(e->fit, fit);
    assert_true(e->near == near);
    assert_true(f->prediction.expected_near == near);
    if (fit == NULL) {
        check_absent(f);
        return;
    }
    const double wider = e->time_s * fit->low / e->low_s; /* test_bands has the widths */
    const double high = e->time_s * fit->high * wider;
    const double reach = f->workload.stack == ROOF_STACK_BEST ? 1.25 : 1; /* to the next stack */
    assert_true(near ? wider > 1.14 : wider < 1 + 1e-9);
    assert_true(e->high_s >= high * (1 - 1e-12) && e->high_s <= reach * high * (1 + 1e-12));
    assert_true(f->prediction.expected_s == e->time_s);
    assert_true(f->prediction.expected_low_s == e->low_s);
    assert_true(f->prediction.expected_high_s == e->high_s);
}

/* Like the fixture's, with another launch: the lower, the faster. */
static struct roof_kernel_fit alike(const struct fixture *f, enum roof_stack stack,
                                    enum roof_numerics numerics, double launch)
{
    struct roof_kernel_fit fit = f->fit;
    fit.stack = stack;
    fit.numerics = numerics;
    fit.parameter[P_LAUNCH] = launch;
    return fit;
}

/* The formats that stand in, one after the other, though the farther ones are faster. */
static void test_nearest_numerics(void **unused)
{
    (void)unused;
#define N(name) ROOF_NUMERICS_##name
    static const enum roof_numerics order[ROOF_NUMERICS_COUNT][6] = {
        [N(16BIT)] = {N(16BIT), N(COUNT)},
        [N(FP8)] = {N(FP8), N(W8A16), N(INT8), N(16BIT), N(COUNT)},
        [N(INT8)] = {N(INT8), N(FP8), N(W8A16), N(16BIT), N(COUNT)},
        [N(FP4)] = {N(FP4), N(MX4A16), N(W4A16), N(16BIT), N(COUNT)},
        [N(W8A16)] = {N(W8A16), N(FP8), N(W4A16), N(16BIT), N(COUNT)},
        [N(W4A16)] = {N(W4A16), N(MX4A16), N(W8A16), N(16BIT), N(COUNT)},
        [N(W4A8)] = {N(W4A8), N(MX4A16), N(W4A16), N(FP8), N(16BIT), N(COUNT)},
        [N(32BIT)] = {N(32BIT), N(16BIT), N(COUNT)},
        [N(MX4A16)] = {N(MX4A16), N(W4A16), N(W8A16), N(16BIT), N(COUNT)},
    };
#undef N
    for (int wanted = 0; wanted < ROOF_NUMERICS_COUNT; wanted++) {
        struct fixture f;
        struct roof_kernel_fit fits[ROOF_NUMERICS_COUNT];
        begin(&f);
        for (int i = 0; i < ROOF_NUMERICS_COUNT; i++) {
            fits[i] = alike(&f, ROOF_STACK_TRTLLM, (enum roof_numerics)i, 1000);
        }
        for (int i = 0; order[wanted][i] != ROOF_NUMERICS_COUNT; i++) {
            fits[order[wanted][i]].parameter[P_LAUNCH] = 9000 - 1000 * i;
        }
        f.calibration.fit = fits;
        f.calibration.count = COUNT(fits);
        set_formats(&f.workload, (enum roof_numerics)wanted);
        double time = 0;
        for (int i = 0; order[wanted][i] != ROOF_NUMERICS_COUNT; i++) {
            struct roof_kernel_fit *const fit = &fits[order[wanted][i]];
            check_fit(&f, fit, i > 0);
            /* The bytes and the peak are those of the formats that are asked. */
            const double launch = fit->parameter[P_LAUNCH] * 1e-9;
            time = i == 0 ? f.prediction.expected_s - launch : time;
            assert_near(f.prediction.expected_s - launch, time, 1e-9);
            fit->kernel = ROOF_KERNEL_BMM; /* which is none of a gemm */
        }
        check_fit(&f, NULL, false);
        end(&f);
    }
}

static void test_nearest_stack(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    const struct roof_kernel_fit one[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, 5000)};
    const struct roof_kernel_fit two[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, 5000),
                                          alike(&f, ROOF_STACK_SGLANG, ROOF_NUMERICS_16BIT, 4000)};
    const struct roof_kernel_fit all[] = {alike(&f, ROOF_STACK_BEST, ROOF_NUMERICS_16BIT, 5000)};
    const struct roof_kernel_fit mixed[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_W8A16, 1000),
                                            alike(&f, ROOF_STACK_VLLM, ROOF_NUMERICS_FP8, 5000)};
    const struct roof_kernel_fit both[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP8, 5000),
                                           alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_W8A16, 1000)};
    const struct roof_kernel_fit near[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_INT8, 1000),
                                           alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_W8A16, 5000)};
    const struct roof_kernel_fit far[] = {alike(&f, ROOF_STACK_SGLANG, ROOF_NUMERICS_INT8, 1000),
                                          alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_W8A16, 5000)};
    const struct {
        const struct roof_kernel_fit *fits;
        size_t count;
        enum roof_numerics numerics;
        enum roof_stack asked;
        int fit;
        bool near;
    } cases[] = {
        {one, COUNT(one), ROOF_NUMERICS_16BIT, ROOF_STACK_BEST, 0, false},
        {one, COUNT(one), ROOF_NUMERICS_16BIT, ROOF_STACK_TRTLLM, 0, false},
        {one, COUNT(one), ROOF_NUMERICS_16BIT, ROOF_STACK_VLLM, 0, true},
        {one, COUNT(one), ROOF_NUMERICS_16BIT, ROOF_STACK_SGLANG, 0, true},
        /* The fastest of the others is taken. */
        {two, COUNT(two), ROOF_NUMERICS_16BIT, ROOF_STACK_BEST, 1, false},
        {two, COUNT(two), ROOF_NUMERICS_16BIT, ROOF_STACK_TRTLLM, 0, false},
        {two, COUNT(two), ROOF_NUMERICS_16BIT, ROOF_STACK_VLLM, 1, true},
        /* A fit that is common to all stacks serves each. */
        {all, COUNT(all), ROOF_NUMERICS_16BIT, ROOF_STACK_BEST, 0, false},
        {all, COUNT(all), ROOF_NUMERICS_16BIT, ROOF_STACK_TRTLLM, 0, false},
        {all, COUNT(all), ROOF_NUMERICS_16BIT, ROOF_STACK_VLLM, 0, false},
        {all, COUNT(all), ROOF_NUMERICS_16BIT, ROOF_STACK_SGLANG, 0, false},
        {all, COUNT(all), ROOF_NUMERICS_32BIT, ROOF_STACK_SGLANG, 0, true},
        /* The very formats of another stack go before faster kernels of other formats. */
        {mixed, COUNT(mixed), ROOF_NUMERICS_FP8, ROOF_STACK_BEST, 1, false},
        {mixed, COUNT(mixed), ROOF_NUMERICS_FP8, ROOF_STACK_VLLM, 1, false},
        {mixed, COUNT(mixed), ROOF_NUMERICS_FP8, ROOF_STACK_TRTLLM, 1, true},
        {mixed, COUNT(mixed), ROOF_NUMERICS_FP8, ROOF_STACK_SGLANG, 1, true},
        /* They do so in one stack too, and nearer formats go before others in all. */
        {both, COUNT(both), ROOF_NUMERICS_FP8, ROOF_STACK_BEST, 0, false},
        {near, COUNT(near), ROOF_NUMERICS_FP8, ROOF_STACK_BEST, 1, true},
        {near, COUNT(near), ROOF_NUMERICS_FP8, ROOF_STACK_TRTLLM, 1, true},
        {far, COUNT(far), ROOF_NUMERICS_FP8, ROOF_STACK_BEST, 1, true},
        {far, COUNT(far), ROOF_NUMERICS_FP8, ROOF_STACK_VLLM, 1, true},
        {far, COUNT(far), ROOF_NUMERICS_FP8, ROOF_STACK_TRTLLM, 1, true},
        {far, COUNT(far), ROOF_NUMERICS_FP8, ROOF_STACK_SGLANG, 1, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        f.calibration.fit = cases[i].fits;
        f.calibration.count = cases[i].count;
        f.workload.stack = cases[i].asked;
        set_formats(&f.workload, cases[i].numerics);
        check_fit(&f, &cases[i].fits[cases[i].fit], cases[i].near);
    }
    end(&f);
}

/* A way to quantise without measurements goes before the kernel of another way; the very way goes
 * before faster kernels, and other formats come last. */
static void test_nearest_quantisation(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    struct roof_kernel_fit two[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP8, 5000),
                                    alike(&f, ROOF_STACK_SGLANG, ROOF_NUMERICS_FP8, 1000)};
    two[0].quantize = ROOF_QUANTIZE_DYNAMIC;
    two[1].quantize = ROOF_QUANTIZE_STATIC;
    struct roof_kernel_fit other[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP8, 5000),
                                      alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_W8A16, 1000)};
    other[1].quantize = ROOF_QUANTIZE_DYNAMIC;
    struct roof_kernel_fit wide[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, 5000)};
    const struct {
        const struct roof_kernel_fit *fits;
        size_t count;
        enum roof_numerics numerics;
        enum roof_stack asked;
        enum roof_quantize quantize;
        int fit;
        bool near;
    } cases[] = {
        {two, 2, ROOF_NUMERICS_FP8, ROOF_STACK_BEST, ROOF_QUANTIZE_NONE, 1, false},
        {two, 2, ROOF_NUMERICS_FP8, ROOF_STACK_BEST, ROOF_QUANTIZE_STATIC, 1, false},
        {two, 2, ROOF_NUMERICS_FP8, ROOF_STACK_BEST, ROOF_QUANTIZE_DYNAMIC, 1, true},
        {two, 2, ROOF_NUMERICS_FP8, ROOF_STACK_BEST, ROOF_QUANTIZE_BLOCK, 1, true},
        {two, 2, ROOF_NUMERICS_FP8, ROOF_STACK_TRTLLM, ROOF_QUANTIZE_BLOCK, 0, true},
        {two, 2, ROOF_NUMERICS_FP8, ROOF_STACK_TRTLLM, ROOF_QUANTIZE_NONE, 0, false},
        {two, 2, ROOF_NUMERICS_FP8, ROOF_STACK_VLLM, ROOF_QUANTIZE_DYNAMIC, 1, true},
        {two, 1, ROOF_NUMERICS_FP8, ROOF_STACK_VLLM, ROOF_QUANTIZE_DYNAMIC, 0, true},
        {other, 2, ROOF_NUMERICS_FP8, ROOF_STACK_BEST, ROOF_QUANTIZE_DYNAMIC, 0, true},
        {wide, 1, ROOF_NUMERICS_16BIT, ROOF_STACK_BEST, ROOF_QUANTIZE_NONE, 0, false},
        {wide, 1, ROOF_NUMERICS_16BIT, ROOF_STACK_BEST, ROOF_QUANTIZE_DYNAMIC, 0, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        f.calibration.fit = cases[i].fits;
        f.calibration.count = cases[i].count;
        f.workload.stack = cases[i].asked;
        f.workload.quantize_input = cases[i].quantize;
        set_formats(&f.workload, cases[i].numerics);
        check_fit(&f, &cases[i].fits[cases[i].fit], cases[i].near);
    }
    end(&f);
}

static void test_other_device(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    struct roof_kernel_fit fits[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, 5000),
                                     alike(&f, ROOF_STACK_VLLM, ROOF_NUMERICS_16BIT, 4000)};
    f.calibration.fit = fits;
    f.calibration.count = COUNT(fits);
    check_fit(&f, &fits[1], false);
    const double time = f.prediction.expected_s;
    const double low = f.prediction.expected_low_s;
    const double high = f.prediction.expected_high_s;
    fits[0].lent = "other"; /* which is not the fastest */
    check_fit(&f, &fits[1], false);
    fits[0].lent = NULL;
    fits[1].lent = "other";
    check_fit(&f, &fits[1], true);
    assert_true(f.prediction.expected_s == time); /* only the band is another */
    assert_near(f.prediction.expected_low_s, low / 1.2, 1e-12);
    assert_near(f.prediction.expected_high_s, high * 1.2, 1e-12);
    fits[1].same_sm = true;
    check_fit(&f, &fits[1], true);
    assert_near(f.prediction.expected_low_s, low / 1.15, 1e-12);
    assert_near(f.prediction.expected_high_s, high * 1.15, 1e-12);
    fits[1].same_sm = false;
    f.workload.stack = ROOF_STACK_TRTLLM;
    check_fit(&f, &fits[0], false);
    f.calibration.inherited = true;
    check_fit(&f, &fits[0], true);
    /* The widest of all reasons counts: that of another device, where the formats have fewer bits
     * or more, is 1.65, another stack 1.25. */
    f.workload.stack = ROOF_STACK_SGLANG;
    check_fit(&f, &fits[1], true);
    assert_near(f.prediction.expected_high_s, high * 1.25, 1e-12);
    f.calibration.inherited = false;
    fits[1].lent = NULL;
    check_fit(&f, &fits[1], true);
    assert_near(f.prediction.expected_high_s, high * 1.25, 1e-12);
    fits[1].lent = "other";
    set_formats(&f.workload, ROOF_NUMERICS_32BIT);
    check_fit(&f, &fits[1], true);
    assert_near(f.prediction.expected_high_s, f.prediction.expected_s * fits[1].high * 1.65, 1e-12);
    f.calibration.inherited = true;
    fits[1].same_sm = true;
    check_fit(&f, &fits[1], true);
    assert_near(f.prediction.expected_high_s, f.prediction.expected_s * fits[1].high * 1.5, 1e-12);
    end(&f);
    /* The wider band does not begin below the bound either: 0.75 / 1.25 of 1 / 0.7 would. */
    begin(&f);
    set(&f, NO_MATRIX);
    f.fit.parameter[P_DRAM] = 0.7;
    check(&f, ONE_TILE, BYTES_US / 0.7, ROOF_KERNEL_LIMIT_MEMORY);
    assert_near(f.prediction.expected_low_s, 0.75 / 0.7 * BYTES_US * 1e-6, 1e-9);
    f.fit.lent = "other";
    (void)predict(&f, ONE_TILE);
    assert_near(f.prediction.expected_low_s, BYTES_US * 1e-6, 1e-9);
    f.workload.cache = ROOF_CACHE_WARM;
    (void)predict(&f, ONE_TILE); /* a warm kernel has no bound */
    assert_true(f.prediction.expected_low_s < 0.9 * BYTES_US * 1e-6);
    end(&f);
}

/* The file of a calibration says who lent a fit. */
static void test_lent_file(void **unused)
{
    (void)unused;
    char path[] = "/tmp/roofline-kernel-XXXXXX";
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_GEMM, &count);
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *const file = fdopen(descriptor, "w");
    assert_non_null(file);
    fputs("{\"schema\": \"roofline/calibration/1\", \"hardware\": \"ten\", \"fits\": [", file);
    for (int i = 0; i < 2; i++) {
        fprintf(file,
                "%s{\"kernel\": \"gemm\", \"stack\": \"%s\", \"numerics\": \"16bit\", "
                "\"quantize_input\": \"none\", \"rows\": 9, \"mape\": 0.1, \"low\": 0.75, "
                "\"high\": 1.5, %s\"parameters\": {",
                i == 0 ? "" : ", ", i == 0 ? "trtllm" : "vllm",
                i == 0 ? "" : "\"lent\": \"eleven\", ");
        for (size_t k = 0; k < count; k++) {
            fprintf(file, "%s\"%s\": %.17g", k == 0 ? "" : ", ", row[k].key, row[k].start);
        }
        fputs("}}", file);
    }
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
    struct fixture f;
    struct roof_calibration *c = NULL;
    begin(&f);
    assert_int_equal(roof_calibration_load(&c, f.device, path, NULL, NULL), ROOF_OK);
    assert_int_equal(unlink(path), 0);
    f.device->calibration = c;
    assert_int_equal(c->count, 2);
    assert_null(c->fit[0].lent);
    assert_string_equal(c->fit[1].lent, "eleven");
    f.workload.stack = ROOF_STACK_TRTLLM;
    check_fit(&f, &c->fit[0], false);
    f.workload.stack = ROOF_STACK_VLLM;
    check_fit(&f, &c->fit[1], true);
    roof_calibration_free(c);
    end(&f);
}

/* A batch of products is a kernel of its own, but for a gemm that has one. */
static void test_batched(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    struct roof_kernel_fit fits[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, 5000),
                                     alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, 9000)};
    fits[1].kernel = ROOF_KERNEL_BMM;
    f.calibration.fit = fits;
    f.calibration.count = COUNT(fits);
    f.workload.shape.batch = 3;
    check_fit(&f, &fits[0], false);
    const double gemm = f.prediction.expected_s;
    f.workload.op = ROOF_OPERATOR_BMM;
    check_fit(&f, &fits[1], false);
    assert_near(f.prediction.expected_s, gemm + 4e-6, 1e-9);
    set_formats(&f.workload, ROOF_NUMERICS_32BIT); /* it has stand-ins too */
    check_fit(&f, &fits[1], true);
    f.workload.formats = (struct roof_formats)ROOF_FORMATS_AUTO;
    f.workload.op = ROOF_OPERATOR_GEMV;
    f.workload.shape.batch = 0;
    check_fit(&f, &fits[0], false);
    f.calibration.count = 1; /* without it there is none */
    f.workload.op = ROOF_OPERATOR_BMM;
    f.workload.shape.batch = 3;
    check_fit(&f, NULL, false);
    f.calibration.fit = &fits[1];
    check_fit(&f, &fits[1], false);
    f.workload.op = ROOF_OPERATOR_GEMM;
    check_fit(&f, NULL, false);
    end(&f);
}

/* Returns the kernel that is used where another was not measured; COUNT: none. */
static enum roof_kernel stand_in_for(enum roof_kernel kernel)
{
    switch (kernel) {
    case ROOF_KERNEL_STATE:
    case ROOF_KERNEL_CONV:
    case ROOF_KERNEL_CONV_PREFILL:
        return ROOF_KERNEL_ADD;
    case ROOF_KERNEL_ENCODER:
        return ROOF_KERNEL_PREFILL;
    case ROOF_KERNEL_KIMI_PREFILL:
    case ROOF_KERNEL_SSD_PREFILL:
        return ROOF_KERNEL_STATE_PREFILL;
    case ROOF_KERNEL_INDEX_SCORES:
        return ROOF_KERNEL_BMM;
    case ROOF_KERNEL_TOP_K:
        return ROOF_KERNEL_ACTIVATION;
    case ROOF_KERNEL_SPARSE_MLA:
        return ROOF_KERNEL_MLA_DECODE;
    case ROOF_KERNEL_HYPER_COLLAPSE:
    case ROOF_KERNEL_HYPER_EXPAND:
        return ROOF_KERNEL_ADD;
    default:
        return ROOF_KERNEL_COUNT;
    }
}

/* Which kernel each operator is, and that it is expected by a fit of that one and no other. */
static void test_operators(void **unused)
{
    (void)unused;
#define HEADS .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8, .kv_len = 9
#define ROWS .tokens = 2, .hidden = 3
#define EXPERTS .tokens = 2, .hidden = 16, .intermediate = 8, .experts = 4, .top_k = 2
#define SENT .elements = 64, .devices = 4
    static const struct {
        enum roof_operator op;
        struct roof_shape shape;
        enum roof_kernel kernel;
    } cases[] = {
        {ROOF_OPERATOR_GEMM, {.m = 3, .n = 4, .k = 5}, ROOF_KERNEL_GEMM},
        {ROOF_OPERATOR_GEMM, {.m = 3, .n = 4, .k = 5, .batch = 2}, ROOF_KERNEL_GEMM},
        {ROOF_OPERATOR_GEMV, {.n = 4, .k = 5}, ROOF_KERNEL_GEMM},
        {ROOF_OPERATOR_BMM, {.batch = 2, .m = 3, .n = 4, .k = 5}, ROOF_KERNEL_BMM},
        {ROOF_OPERATOR_ATTENTION_SCORES, {HEADS}, ROOF_KERNEL_BMM},
        {ROOF_OPERATOR_ATTENTION_VALUES, {HEADS}, ROOF_KERNEL_BMM},
        {ROOF_OPERATOR_SOFTMAX, {HEADS}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_ATTENTION, {HEADS}, ROOF_KERNEL_COUNT}, /* the three before */
        {ROOF_OPERATOR_FLASH_ATTENTION, {HEADS}, ROOF_KERNEL_DECODE},
        {ROOF_OPERATOR_FLASH_ATTENTION, {HEADS, .query_len = 1}, ROOF_KERNEL_DECODE},
        {ROOF_OPERATOR_FLASH_ATTENTION, {HEADS, .query_len = 2, .causal = 1}, ROOF_KERNEL_PREFILL},
        {ROOF_OPERATOR_FLASH_ATTENTION, {HEADS, .query_len = 2, .window = 3}, ROOF_KERNEL_PREFILL},
        {ROOF_OPERATOR_MLA_DECODE, {.heads = 4, .kv_len = 9}, ROOF_KERNEL_MLA_DECODE},
        {ROOF_OPERATOR_MLA_DECODE,
         {.heads = 4, .kv_len = 9, .query_len = 2},
         ROOF_KERNEL_MLA_DECODE},
        {ROOF_OPERATOR_MLA_PREFILL,
         {.heads = 4, .kv_len = 9, .query_len = 9},
         ROOF_KERNEL_MLA_PREFILL},
        {ROOF_OPERATOR_RMSNORM, {ROWS}, ROOF_KERNEL_NORM},
        {ROOF_OPERATOR_LAYERNORM, {ROWS}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_ADD, {ROWS}, ROOF_KERNEL_ADD},
        {ROOF_OPERATOR_SILU_MUL, {ROWS}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_GELU, {ROWS}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_QUANTIZE, {ROWS}, ROOF_KERNEL_QUANTIZE},
        {ROOF_OPERATOR_ROPE, {.tokens = 2, .heads = 4, .head_dim = 8}, ROOF_KERNEL_ROPE},
        {ROOF_OPERATOR_KV_APPEND, {.tokens = 2, .kv_heads = 4, .head_dim = 8}, ROOF_KERNEL_ADD},
        {ROOF_OPERATOR_EMBEDDING, {ROWS}, ROOF_KERNEL_ADD},
        {ROOF_OPERATOR_ROUTER, {.tokens = 2, .experts = 4, .top_k = 2}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_MOE, {EXPERTS}, ROOF_KERNEL_MOE},
        {ROOF_OPERATOR_MOE_GATE_UP, {EXPERTS}, ROOF_KERNEL_MOE},
        {ROOF_OPERATOR_MOE_DOWN, {EXPERTS}, ROOF_KERNEL_MOE},
        {ROOF_OPERATOR_MOE_UNGATED, {EXPERTS}, ROOF_KERNEL_MOE},
        {ROOF_OPERATOR_MOE_UP, {EXPERTS}, ROOF_KERNEL_MOE},
        {ROOF_OPERATOR_ALL_REDUCE, {SENT}, ROOF_KERNEL_ALL_REDUCE},
        {ROOF_OPERATOR_ALL_REDUCE,
         {SENT, .algorithm = ROOF_ALGORITHM_ONE_SHOT},
         ROOF_KERNEL_ONE_SHOT},
        {ROOF_OPERATOR_ALL_GATHER, {SENT}, ROOF_KERNEL_ALL_GATHER},
        {ROOF_OPERATOR_REDUCE_SCATTER, {SENT}, ROOF_KERNEL_REDUCE_SCATTER},
        {ROOF_OPERATOR_ALL_TO_ALL, {SENT}, ROOF_KERNEL_ALL_TO_ALL},
        {ROOF_OPERATOR_SEND, {.elements = 64}, ROOF_KERNEL_ALL_TO_ALL},
        {ROOF_OPERATOR_INDEX_SCORES,
         {.heads = 4, .head_dim = 64, .kv_len = 4},
         ROOF_KERNEL_INDEX_SCORES},
        {ROOF_OPERATOR_BLOCK_SCORES, {.heads = 4, .head_dim = 64, .kv_len = 4}, ROOF_KERNEL_BMM},
        {ROOF_OPERATOR_INDEX_TOP_K, {.kv_len = 4, .selected = 256}, ROOF_KERNEL_TOP_K},
        {ROOF_OPERATOR_INDEX_TOP_K, {.kv_len = 4, .selected = 255}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_SPARSE_MLA, {.heads = 4, .kv_len = 4}, ROOF_KERNEL_MLA_DECODE},
        {ROOF_OPERATOR_SPARSE_MLA,
         {.heads = 4, .kv_len = 4, .query_len = 2},
         ROOF_KERNEL_SPARSE_MLA},
        {ROOF_OPERATOR_SHORT_CONV, {.hidden = 64}, ROOF_KERNEL_CONV},
        {ROOF_OPERATOR_SHORT_CONV, {.hidden = 64, .query_len = 2}, ROOF_KERNEL_CONV_PREFILL},
        {ROOF_OPERATOR_DEPTH_MIX, {ROWS}, ROOF_KERNEL_ADD},
        {ROOF_OPERATOR_GATED_DELTA, {.heads = 4, .head_dim = 64}, ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_GATED_DELTA,
         {.heads = 4, .head_dim = 64, .query_len = 15},
         ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_GATED_DELTA,
         {.heads = 4, .head_dim = 64, .query_len = 16},
         ROOF_KERNEL_STATE_PREFILL},
        {ROOF_OPERATOR_KIMI_DELTA, {.heads = 4, .head_dim = 64}, ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_KIMI_DELTA,
         {.heads = 4, .head_dim = 64, .query_len = 15},
         ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_KIMI_DELTA,
         {.heads = 4, .head_dim = 64, .query_len = 16},
         ROOF_KERNEL_KIMI_PREFILL},
        {ROOF_OPERATOR_SSD, {.heads = 4, .head_dim = 64}, ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_SSD, {.heads = 4, .head_dim = 64, .query_len = 16}, ROOF_KERNEL_SSD_PREFILL},
        {ROOF_OPERATOR_LIGHTNING, {.heads = 4, .head_dim = 64}, ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_LIGHTNING, {.heads = 4, .head_dim = 64, .query_len = 15}, ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_LIGHTNING,
         {.heads = 4, .head_dim = 64, .query_len = 16},
         ROOF_KERNEL_STATE_PREFILL},
        {ROOF_OPERATOR_SELECTIVE_SCAN, {.hidden = 64}, ROOF_KERNEL_STATE},
        {ROOF_OPERATOR_SELECTIVE_SCAN, {.hidden = 64, .query_len = 16}, ROOF_KERNEL_COUNT},
        {ROOF_OPERATOR_ADD_RMSNORM, {ROWS}, ROOF_KERNEL_NORM},
        {ROOF_OPERATOR_ADD_LAYERNORM, {ROWS}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_RMSNORM_QUANTIZE, {ROWS}, ROOF_KERNEL_NORM},
        {ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE, {ROWS}, ROOF_KERNEL_NORM},
        {ROOF_OPERATOR_SILU_MUL_QUANTIZE, {ROWS}, ROOF_KERNEL_ACTIVATION},
        {ROOF_OPERATOR_GEMM_SILU_MUL, {.m = 3, .n = 4, .k = 5}, ROOF_KERNEL_GEMM},
        {ROOF_OPERATOR_ROPE_APPEND, {.tokens = 2, .heads = 4, .head_dim = 8}, ROOF_KERNEL_ROPE},
        {ROOF_OPERATOR_COMPRESSED_ATTENTION,
         {.heads = 4, .head_dim = 8, .kv_len = 4, .query_len = 15},
         ROOF_KERNEL_COMPRESSED},
        {ROOF_OPERATOR_COMPRESSED_ATTENTION,
         {.heads = 4, .head_dim = 8, .kv_len = 16, .query_len = 16},
         ROOF_KERNEL_COMPRESSED_PREFILL},
        {ROOF_OPERATOR_NSA, {.heads = 4, .head_dim = 8, .kv_len = 4}, ROOF_KERNEL_COUNT},
        {ROOF_OPERATOR_HYPER_COLLAPSE, {ROWS}, ROOF_KERNEL_HYPER_COLLAPSE},
        {ROOF_OPERATOR_HYPER_EXPAND, {ROWS}, ROOF_KERNEL_HYPER_EXPAND},
        {ROOF_OPERATOR_CONV2D, {.m = 3, .n = 4, .k = 5}, ROOF_KERNEL_GEMM},
        {ROOF_OPERATOR_CONV3D, {.m = 3, .n = 4, .k = 5}, ROOF_KERNEL_GEMM},
        {ROOF_OPERATOR_GROUPNORM, {ROWS}, ROOF_KERNEL_COUNT},
    };
#undef HEADS
#undef ROWS
#undef EXPERTS
#undef SENT
    bool seen[ROOF_OPERATOR_COUNT] = {false};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        begin(&f);
        f.workload.op = cases[i].op;
        f.workload.shape = cases[i].shape;
        seen[cases[i].op] = true;
        assert_int_equal(roof_kernel_of(&f.workload), cases[i].kernel);
        for (int kernel = 0; kernel < ROOF_KERNEL_COUNT; kernel++) {
            size_t count = 0;
            const struct roof_parameter *const row =
                roof_kernel_parameters((enum roof_kernel)kernel, &count);
            for (size_t k = 0; k < count; k++) {
                f.fit.parameter[k] = row[k].start;
            }
            f.fit.kernel = (enum roof_kernel)kernel;
            const bool like = f.fit.kernel == stand_in_for(cases[i].kernel);
            if (f.fit.kernel != cases[i].kernel && !like) {
                check_absent(&f);
                continue;
            }
            assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
            const struct roof_expected *const e = &f.prediction.part[0].expected;
            assert_true(!like || e->otherwise);
            assert_true(e->time_s >= f.prediction.time_s);
            assert_ptr_equal(e->fit, &f.fit);
            const bool product = kernel == ROOF_KERNEL_GEMM || kernel == ROOF_KERNEL_BMM;
            assert_true(product || !e->tiled);
        }
        end(&f);
    }
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        assert_true(seen[op]);
    }
}

/* The formats that decide: of a cache, where there is one; of vector operators and collectives
 * they are in the bytes. */
static void test_workload_numerics(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        enum roof_precision weights;
        enum roof_precision activations;
        enum roof_precision kv;
        enum roof_numerics numerics;
    } cases[] = {
#define P(name) ROOF_PRECISION_##name
        {ROOF_OPERATOR_GEMM, P(BF16), P(BF16), P(FP8_E4M3), ROOF_NUMERICS_16BIT},
        {ROOF_OPERATOR_GEMM, P(FP8_E4M3), P(FP8_E4M3), P(BF16), ROOF_NUMERICS_FP8},
        {ROOF_OPERATOR_GEMM, P(INT4), P(INT8), P(BF16), ROOF_NUMERICS_W4A8},
        {ROOF_OPERATOR_GEMM, P(INT4), P(INT4), P(BF16), ROOF_NUMERICS_COUNT},
        {ROOF_OPERATOR_GEMM, P(FP32), P(BF16), P(BF16), ROOF_NUMERICS_32BIT},
        {ROOF_OPERATOR_BMM, P(INT8), P(INT8), P(BF16), ROOF_NUMERICS_INT8},
        {ROOF_OPERATOR_MOE, P(MXFP4), P(BF16), P(BF16), ROOF_NUMERICS_MX4A16},
        {ROOF_OPERATOR_FLASH_ATTENTION, P(FP8_E4M3), P(BF16), P(BF16), ROOF_NUMERICS_16BIT},
        {ROOF_OPERATOR_FLASH_ATTENTION, P(BF16), P(BF16), P(FP8_E4M3), ROOF_NUMERICS_W8A16},
        {ROOF_OPERATOR_FLASH_ATTENTION, P(BF16), P(FP8_E4M3), P(FP8_E4M3), ROOF_NUMERICS_FP8},
        {ROOF_OPERATOR_FLASH_ATTENTION, P(BF16), P(FP8_E4M3), P(BF16), ROOF_NUMERICS_16BIT},
        {ROOF_OPERATOR_ATTENTION_SCORES, P(BF16), P(BF16), P(INT8), ROOF_NUMERICS_W8A16},
        {ROOF_OPERATOR_ATTENTION_VALUES, P(BF16), P(BF16), P(INT4), ROOF_NUMERICS_W4A16},
        {ROOF_OPERATOR_MLA_DECODE, P(BF16), P(BF16), P(FP8_E4M3), ROOF_NUMERICS_W8A16},
        {ROOF_OPERATOR_MLA_PREFILL, P(FP8_E4M3), P(BF16), P(BF16), ROOF_NUMERICS_16BIT},
        {ROOF_OPERATOR_RMSNORM, P(FP8_E4M3), P(FP8_E4M3), P(BF16), ROOF_NUMERICS_16BIT},
        {ROOF_OPERATOR_KV_APPEND, P(BF16), P(BF16), P(FP8_E4M3), ROOF_NUMERICS_16BIT},
        {ROOF_OPERATOR_ADD, P(BF16), P(FP32), P(BF16), ROOF_NUMERICS_16BIT},
        {ROOF_OPERATOR_ALL_REDUCE, P(INT4), P(INT4), P(BF16), ROOF_NUMERICS_16BIT},
#undef P
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_workload w = {.op = cases[i].op,
                                        .formats = {.weights = cases[i].weights,
                                                    .activations = cases[i].activations,
                                                    .kv = cases[i].kv}};
        if (roof_workload_numerics(&w) != cases[i].numerics) {
            fail_msg("case %zu: %d", i, (int)roof_workload_numerics(&w));
        }
    }
}

/* --- what holds for all -------------------------------------------------------------------- */

#define SEED 0x9e3779b97f4a7c15
static uint64_t state;

static uint64_t draw(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static double draw_share(void)
{
    return (double)(draw() >> 11) * 0x1p-53;
}

/* 1 to 2^bits, by order of magnitude; often a power of two, or one beside it. */
static int64_t draw_size(int bits)
{
    const int64_t power = (int64_t)1 << (draw() % (uint64_t)(bits + 1));
    switch (draw() % 4) {
    case 0:
        return power;
    case 1:
        return power > 1 ? power - 1 + 2 * (int64_t)(draw() % 2) : 1;
    default:
        return 1 + (int64_t)(draw() % (uint64_t)power);
    }
}

struct probe {
    const struct roof_hardware *device;
    struct roof_workload workload; /* resolved */
    double peak;
    double bound_s;
    struct roof_expected expected;
};

static double expect(struct probe *p, const struct roof_workload *w)
{
    struct roof_work work;
    double bytes = 0;
    roof_operator_work(&work, w, NULL);
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        bytes += work.bytes[role];
    }
    const double memory = bytes / p->device->figure[ROOF_FIGURE_BANDWIDTH].value;
    const double compute = work.flops / p->peak;
    p->bound_s = memory > compute ? memory : compute;
    roof_kernel_expect(&p->expected, w, p->device, &work, p->peak, p->bound_s);
    return p->expected.time_s;
}

static void show(const struct probe *p, const char *what)
{
    const struct roof_workload *const w = &p->workload;
    fail_msg("%s: %s, m %lld n %lld k %lld batch %lld, %s x %s, stack %d, quantize %d, cache %d, "
             "working set %lld",
             what, p->device->id, (long long)w->shape.m, (long long)w->shape.n,
             (long long)w->shape.k, (long long)w->shape.batch,
             roof_format(w->formats.weights)->name, roof_format(w->formats.activations)->name,
             (int)w->stack, (int)w->quantize_input, (int)w->cache, (long long)w->working_set);
}

/* All properties of one shape; the fit is there, or the stack is the best. */
static void check_properties(struct probe *p)
{
    struct roof_workload w = p->workload;
    const double time = expect(p, &w);
    if (isnan(time)) {
        show(p, "no expected time");
    }
    const struct roof_expected cold = p->expected;
    if (!(time >= p->bound_s && isfinite(time))) {
        show(p, "below the bound");
    }
    if (!(cold.low_s >= p->bound_s * (1 - 1e-12) && cold.low_s <= time && time <= cold.high_s)) {
        show(p, "band");
    }
    const double wider =
        roof_kernel_widening(&cold, &p->workload, p->device).factor; /* test_stacks: its reach */
    if (!(cold.near ? wider > 1.14 : wider == 1)) {
        show(p, "width");
    }
    const double low = fmax(time * cold.fit->low / wider, p->bound_s);
    const double high = time * cold.fit->high * wider;
    const double reach = p->workload.stack == ROOF_STACK_BEST ? ROOF_SECOND_BAND : 1;
    if (!(fabs(cold.low_s - low) <= 1e-12 * low && cold.high_s >= high * (1 - 1e-12) &&
          cold.high_s <= reach * high * (1 + 1e-12))) {
        show(p, "width of the band");
    }
    const struct roof_tiling *const t = &cold.tiling;
    if (!cold.fit->plain && !(t->utilisation > 0 && t->utilisation <= 1 + 1e-9 &&
                              t->waves >= 1 - 1e-9 && t->l2_hit == 0)) {
        show(p, "tiling");
    }
    /* The launch is a term of its own. */
    w.no_launch_overhead = 1;
    const double bare = expect(p, &w);
    const bool among =
        p->workload.stack == ROOF_STACK_BEST || /* others may become the slower ones */
        (p->workload.stack == ROOF_STACK_LLAMA_CPP && roof_kernel_is_lent(p->device, cold.fit));
    if (!among && (cold.fit->stack == ROOF_STACK_BEST || cold.fit->stack == p->workload.stack)) {
        if (!(fabs(bare - (time - cold.launch_s)) <= 1e-9 * time && cold.launch_s > 0)) {
            show(p, "launch");
        }
    } else if (!(bare <= time)) {
        show(p, "launch of the best");
    }
    w.no_launch_overhead = 0;
    /* Data in the cache helps, the more the fewer bytes lie between. */
    w.cache = ROOF_CACHE_WARM;
    const double warm = expect(p, &w);
    if (!(warm > 0 && warm <= time * (1 + 1e-12))) {
        show(p, "warm");
    }
    const int64_t own = (w.shape.m + 1) * (w.shape.n + 1) + w.shape.k;
    w.working_set = own;
    const double first = expect(p, &w);
    w.working_set = 2 * own;
    if (!(first <= expect(p, &w) * (1 + 1e-12) && first <= time * (1 + 1e-12))) {
        show(p, "working set");
    }
    w.working_set = 0;
    w.cache = ROOF_CACHE_COLD;
    /* More is never faster, cold or warm. */
    int64_t *const dimension[] = {&w.shape.m, &w.shape.n, &w.shape.k, &w.shape.batch};
    const int cache = (int)(draw() % 2);
    w.cache = cache;
    for (size_t d = 0; d < COUNT(dimension); d++) {
        const int64_t before = *dimension[d];
        const int64_t larger[] = {before + 1, 2 * before};
        for (size_t i = 0; i < COUNT(larger); i++) {
            *dimension[d] = larger[i];
            if (!(expect(p, &w) >= (cache == ROOF_CACHE_WARM ? warm : time) * (1 - 1e-9))) {
                show(p, "smaller is slower");
            }
        }
        *dimension[d] = before;
    }
}

static void draw_shape(struct roof_workload *w, enum roof_operator op)
{
    w->op = op;
    w->shape = (struct roof_shape){.m = draw_size(15),
                                   .n = draw_size(17),
                                   .k = draw_size(16),
                                   .batch = draw() % 8 == 0 ? draw_size(6) : 1};
}

static void resolve(struct probe *p, enum roof_numerics numerics)
{
    struct roof_error error = {0};
    struct roof_workload *const w = &p->workload;
    set_formats(w, numerics);
    struct roof_prediction prediction;
    if (roof_predict(&prediction, w, p->device, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    p->workload = prediction.workload;
    p->peak = prediction.peak_flops_per_s;
    assert_true(p->peak > 0);
}

#define SHAPES 100000

static int64_t draw_stack(void)
{
    return ROOF_STACK_BEST + 1 + (int64_t)(draw() % (ROOF_STACK_COUNT - 1));
}

/* The stack that is asked is taken with a fit of the very formats, if it has one. Without one
 * asked, the time is the least that any stack has when it is asked: no stack that is named is
 * faster. */
static void check_choice(const struct probe *p, const struct roof_calibration *c,
                         enum roof_kernel kernel, enum roof_numerics numerics)
{
    const struct roof_workload *const w = &p->workload;
    const struct roof_expected *const e = &p->expected;
    const bool wide = roof_precision_bits(w->formats.activations) >= 16;
    const enum roof_quantize quantize =
        wide ? ROOF_QUANTIZE_NONE : (enum roof_quantize)w->quantize_input;
    double least = (double)INFINITY;
    for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_COUNT; s++) {
        /* llama.cpp runs none of the formats below 16 bits that are drawn here but mxfp4. */
        const bool runs = s != ROOF_STACK_LLAMA_CPP || numerics == ROOF_NUMERICS_16BIT ||
                          numerics == ROOF_NUMERICS_32BIT || numerics == ROOF_NUMERICS_MX4A16;
        const struct roof_kernel_fit *const exact =
            runs ? roof_calibration_find_for(c, kernel, (enum roof_stack)s, numerics, quantize,
                                             w->formats.weights, &w->shape)
                 : NULL;
        struct probe one = *p;
        one.workload.stack = s;
        const double time_s = expect(&one, &one.workload);
        least = fmin(least, time_s);
        if (exact == NULL) {
            continue;
        }
        if (!known(e->time_s)) {
            show(p, "a stack has it");
        }
        const bool lent = (c->inherited && !exact->own) || exact->lent != NULL;
        one.workload.stack = ROOF_STACK_BEST;
        if (s == ROOF_STACK_LLAMA_CPP && lent && one.expected.fit != exact) {
            if (expect(&one, &one.workload) != time_s) {
                show(p, "a borrowed fit of llama.cpp is as fast as the best, or slower");
            }
        } else if (one.expected.fit != exact || one.expected.near != lent) {
            show(p, "another fit than that of the stack");
        }
    }
    if (w->stack == ROOF_STACK_BEST ? known(e->time_s) && !(e->time_s == least)
                                    : e->time_s < least) {
        show(p, "not the least of the stacks");
    }
    if (known(e->time_s) && e->fit->numerics != numerics && !e->near) {
        show(p, "stands in as if it were measured");
    }
}

static void check_device(const char *id)
{
    struct roof_hardware *const device = load_calibrated(id);
    const struct roof_calibration *const c = device->calibration;
    struct probe p = {.device = device};
    size_t stood_in = 0;
    for (int i = 0; i < SHAPES; i++) {
        const struct roof_kernel_fit *const fit = &c->fit[draw() % c->count];
        if (fit->kernel != ROOF_KERNEL_GEMM && fit->kernel != ROOF_KERNEL_BMM) {
            continue;
        }
        const bool best = draw() % 4 == 0;
        const bool bare = draw() % 4 == 0;
        const bool other = draw() % 4 == 0;
        p.workload = (struct roof_workload)ROOF_WORKLOAD_INIT;
        draw_shape(&p.workload,
                   fit->kernel == ROOF_KERNEL_BMM ? ROOF_OPERATOR_BMM : ROOF_OPERATOR_GEMM);
        p.workload.stack = best                            ? ROOF_STACK_BEST
                           : other                         ? draw_stack()
                           : fit->stack == ROOF_STACK_BEST ? draw_stack()
                                                           : fit->stack;
        p.workload.quantize_input = bare ? ROOF_QUANTIZE_NONE : fit->quantize;
        enum roof_numerics numerics = fit->numerics;
        if (other) { /* what may not have been measured */
            numerics = (enum roof_numerics)(draw() % ROOF_NUMERICS_COUNT);
        }
        resolve(&p, numerics);
        const bool some = known(expect(&p, &p.workload));
        check_choice(&p, c, fit->kernel, numerics);
        stood_in += some && p.expected.fit->numerics != numerics;
        if (some) {
            check_properties(&p);
        }
    }
    assert_true(stood_in > 0);
    free_calibrated(device);
}

static void test_properties(void **unused)
{
    (void)unused;
    static const char folder[] = "calibration/";
    for (size_t f = 0; f < roof_data_file_count; f++) {
        const char *const name = roof_data_files[f].path;
        if (strncmp(name, folder, strlen(folder)) == 0 && strstr(name, "/llama.cpp-") == NULL) {
            char id[64];
            snprintf(id, sizeof id, "%.*s", (int)(strlen(name) - strlen(folder) - strlen(".json")),
                     name + strlen(folder));
            print_message("%s: seed %llu\n", id, (unsigned long long)state);
            check_device(id);
        }
    }
    check_device("h200-sxm");   /* inherited */
    check_device("strix-halo"); /* llama.cpp alone */
}

/* Parameters anywhere in their ranges, devices of many sizes. */
static void test_random_parameters(void **unused)
{
    (void)unused;
    print_message("seed %llu\n", (unsigned long long)state);
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_GEMM, &count);
    struct fixture f;
    begin(&f);
    struct probe p = {.device = f.device};
    for (int i = 0; i < SHAPES; i++) {
        for (size_t k = 0; k < count; k++) {
            f.fit.parameter[k] = row[k].min * pow(row[k].max / row[k].min, draw_share());
        }
        f.fit.numerics = (enum roof_numerics)(draw() % ROOF_NUMERICS_COUNT);
        f.fit.quantize = (enum roof_quantize)(draw() % ROOF_QUANTIZE_COUNT);
        f.fit.low = 0.5 + 0.5 * draw_share();
        f.fit.high = 1 + draw_share();
        f.device->figure[ROOF_FIGURE_BANDWIDTH].value = 1e10 * pow(1000, draw_share());
        f.device->figure[ROOF_FIGURE_SM_COUNT].value = (double)(1 + draw() % 200);
        f.device->figure[ROOF_FIGURE_BOOST_CLOCK].value = 5e8 + 2e9 * draw_share();
        f.device->figure[ROOF_FIGURE_L2].value = 1e5 * pow(1000, draw_share());
        p.workload = (struct roof_workload)ROOF_WORKLOAD_INIT;
        draw_shape(&p.workload, ROOF_OPERATOR_GEMM);
        p.workload.stack = draw() % 2 == 0 ? ROOF_STACK_BEST : ROOF_STACK_TRTLLM;
        p.workload.quantize_input = draw() % 2 == 0 ? f.fit.quantize : ROOF_QUANTIZE_NONE;
        resolve(&p, f.fit.numerics);
        check_properties(&p);
    }
    end(&f);
}

/* More of anything is never faster, also more KV heads for the same heads. */
static void check_growth(struct fixture *f, struct roof_workload w, double time)
{
    struct roof_shape *const s = &w.shape;
    int64_t *const grow[] = {&s->batch,    &s->heads,     &s->kv_heads,
                             &s->head_dim, &s->query_len, &s->kv_len};
    for (size_t d = 0; d < COUNT(grow); d++) {
        const struct roof_shape before = *s;
        *grow[d] *= 2;
        if (s->heads % s->kv_heads == 0) {
            struct roof_prediction p;
            assert_int_equal(roof_predict(&p, &w, f->device, NULL), ROOF_OK);
            if (!(p.expected_s >= time * (1 - 1e-12))) {
                fail_msg("operator %d: b %lld h %lld hk %lld d %lld q %lld s %lld: %.17g s, twice "
                         "dimension %zu %.17g s",
                         (int)w.op, (long long)before.batch, (long long)before.heads,
                         (long long)before.kv_heads, (long long)before.head_dim,
                         (long long)before.query_len, (long long)before.kv_len, time, d,
                         p.expected_s);
            }
        }
        *s = before;
    }
}

/* The products of unfused attention are batched products of a KV head and its queries, whose other
 * operand has the format of the cache. One row alone may be faster as a product: by a kernel for
 * vectors, which attention is not expected to take. */
static void test_attention_products(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_precision kv;
        enum roof_precision activations;
    } pairs[] = {{ROOF_PRECISION_BF16, ROOF_PRECISION_BF16},
                 {ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_BF16},
                 {ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E4M3},
                 {ROOF_PRECISION_BF16, ROOF_PRECISION_FP8_E4M3},
                 {ROOF_PRECISION_INT4, ROOF_PRECISION_FP16}};
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_BMM, &count);
    struct fixture f;
    begin(&f);
    /* Four bits have none of their own. */
    struct roof_kernel_fit fits[] = {alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, 0),
                                     alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_W8A16, 0),
                                     alike(&f, ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP8, 0)};
    f.calibration.fit = fits;
    f.calibration.count = COUNT(fits);
    for (int i = 0; i < SHAPES / 10; i++) {
        for (size_t k = 0; k < COUNT(fits) * count; k++) {
            const struct roof_parameter *const one = &row[k % count];
            fits[k / count].kernel = ROOF_KERNEL_BMM;
            fits[k / count].parameter[k % count] =
                one->min * pow(one->max / one->min, draw_share());
        }
        const size_t pair = draw() % COUNT(pairs);
        const bool scores = draw() % 2 == 0;
        struct roof_workload w = ROOF_WORKLOAD_INIT;
        w.cache = (int64_t)(draw() % 2);
        w.working_set = draw() % 3 == 0 ? draw_size(24) : 0;
        w.formats.activations = pairs[pair].activations;
        w.formats.out = ROOF_PRECISION_BF16;
        struct roof_workload product = w;
        w.op = scores ? ROOF_OPERATOR_ATTENTION_SCORES : ROOF_OPERATOR_ATTENTION_VALUES;
        w.formats.kv = pairs[pair].kv;
        const int64_t kv_heads = draw_size(4);
        const int64_t group = draw_size(4);
        w.shape = (struct roof_shape){.batch = draw_size(5),
                                      .heads = kv_heads * group,
                                      .kv_heads = kv_heads,
                                      .head_dim = 2 * draw_size(7), /* whole bytes of four bits */
                                      .query_len = draw_size(8),
                                      .kv_len = 2 * draw_size(12)};
        product.op = ROOF_OPERATOR_BMM;
        product.formats.weights = pairs[pair].kv;
        product.shape = (struct roof_shape){.batch = w.shape.batch * kv_heads,
                                            .m = w.shape.query_len * group,
                                            .n = scores ? w.shape.kv_len : w.shape.head_dim,
                                            .k = scores ? w.shape.head_dim : w.shape.kv_len};
        struct roof_prediction other;
        assert_int_equal(roof_predict(&f.prediction, &w, f.device, NULL), ROOF_OK);
        assert_int_equal(roof_predict(&other, &product, f.device, NULL), ROOF_OK);
        const struct roof_expected *const a = &f.prediction.part[0].expected;
        const struct roof_expected *const b = &other.part[0].expected;
        assert_true(known(a->time_s));
        assert_true(f.prediction.time_s == other.time_s);
        assert_true(a->launch_s == b->launch_s);
        assert_true(a->near && b->near == (pairs[pair].kv == ROOF_PRECISION_INT4));
        assert_ptr_equal(a->fit, b->fit);
        assert_true(a->tiled);
        check_growth(&f, w, a->time_s);
        if (!b->tiled) { /* few rows have a kernel without tiles besides */
            assert_true(a->time_s >= b->time_s);
            continue;
        }
        assert_true(a->time_s == b->time_s);
        assert_int_equal(a->limit, b->limit);
        assert_int_equal(a->tiling.tile_m, b->tiling.tile_m);
        assert_int_equal(a->tiling.tile_n, b->tiling.tile_n);
        assert_int_equal(a->tiling.split_k, b->tiling.split_k);
        assert_int_equal(a->tiling.limit, b->tiling.limit);
        assert_true(a->tiling.grid == b->tiling.grid && a->tiling.waves == b->tiling.waves);
        assert_true(a->tiling.utilisation == b->tiling.utilisation &&
                    a->tiling.l2_hit == b->tiling.l2_hit);
    }
    end(&f);
}

/* All rates doubled, the clock too: half of the time. What depends on absolute time, the clock
 * that falls under load, is left out. */
static void test_units(void **unused)
{
    (void)unused;
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_GEMM, &count);
    struct fixture f;
    begin(&f);
    struct probe p = {.device = f.device};
    double *const bandwidth = &f.device->figure[ROOF_FIGURE_BANDWIDTH].value;
    double *const clock = &f.device->figure[ROOF_FIGURE_BOOST_CLOCK].value;
    for (int i = 0; i < SHAPES / 10; i++) {
        for (size_t k = 0; k < count; k++) {
            f.fit.parameter[k] = row[k].min * pow(row[k].max / row[k].min, draw_share());
        }
        f.fit.parameter[P_POWER] = 0;
        f.fit.numerics = ROOF_NUMERICS_FP8;
        f.fit.quantize = ROOF_QUANTIZE_DYNAMIC;
        p.workload = (struct roof_workload)ROOF_WORKLOAD_INIT;
        draw_shape(&p.workload, ROOF_OPERATOR_GEMM);
        p.workload.quantize_input = ROOF_QUANTIZE_DYNAMIC;
        p.workload.cache = (int)(draw() % 2);
        resolve(&p, ROOF_NUMERICS_FP8);
        const double time = expect(&p, &p.workload);
        const double launch = p.expected.launch_s;
        *bandwidth *= 2;
        *clock *= 2;
        p.peak *= 2;
        assert_near(expect(&p, &p.workload), time / 2, 1e-9);
        assert_near(p.expected.launch_s, launch / 2, 1e-12);
        *bandwidth /= 2;
        *clock /= 2;
    }
    end(&f);
}

static void test_bound_names(void **unused)
{
    (void)unused;
    static const char *const names[ROOF_KERNEL_LIMIT_COUNT] = {
        "launch", "memory", "compute", "operands", "latency", "quantize", "network"};
    for (int i = 0; i < ROOF_KERNEL_LIMIT_COUNT; i++) {
        assert_string_equal(roof_kernel_limit_name((enum roof_kernel_limit)i), names[i]);
    }
}

static int set_up(void **unused)
{
    (void)unused;
    state = SEED;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_compute),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_split_k),
        cmocka_unit_test(test_operands_and_latency),
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_matrix_vector),
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_granule),
        cmocka_unit_test(test_quantisation),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_nearest_numerics),
        cmocka_unit_test(test_nearest_stack),
        cmocka_unit_test(test_nearest_quantisation),
        cmocka_unit_test(test_other_device),
        cmocka_unit_test(test_lent_file),
        cmocka_unit_test(test_batched),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_workload_numerics),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_random_parameters),
        cmocka_unit_test(test_attention_products),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_bound_names),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
