// SPDX-License-Identifier: MIT
/* The expected time of a mixture of experts: each term alone on a device that makes mental
 * arithmetic, then what holds for all shapes. */
#include "properties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_MOE_PARAMETER(id, key, least, most, start, neutral, meaning) M_##id,
#include "predict/kernel_parameters.h"
};

/* 100 GB/s, 1 TFLOP/s at fp16, 10 SMs at 1 GHz: 100 bytes and 1000 FLOP per nanosecond, which is a
 * clock. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"      \
    " \"l2_bytes\": 300000, \"peak_tflops\": {\"fp16\": 1, \"fp8\": 2, \"int8\": 2, \"nvfp4\": "   \
    "4},"                                                                                          \
    " \"vector_tflops\": {\"fp32\": 0.1}}"

struct fixture {
    struct roof_hardware *device;
    struct roof_kernel_fit fit;
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
    double hit;   /* share that is found in the L2 */
    double wider; /* than the fit's band, on either side */
};

/* Five experts, each of which gets 3 of 15 rows: 30 kB each, 450 kFLOP; the activations are 12.5
 * kB: every row of 100 in and out and three times 50 between, every token once in and once out. */
#define EXPERTS                                                                                    \
    {                                                                                              \
        .tokens = 5, .hidden = 100, .intermediate = 50, .experts = 5, .top_k = 3,                  \
        .routing = ROOF_ROUTING_BALANCED                                                           \
    }
#define WEIGHTS_US 1.5
#define PRODUCTS_US 0.45
#define MOVES_US 0.125

/* No term shows, but for the memory's and the matrix unit's own and one pass of activations. */
static void begin(struct fixture *f)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){
        .device = parse_device(DEVICE),
        .workload = {.formats = ROOF_FORMATS_AUTO, .op = ROOF_OPERATOR_MOE, .shape = EXPERTS},
        .fit = empty_fit(ROOF_KERNEL_MOE, ROOF_STACK_VLLM),
        .wider = 1};
    f->calibration =
        (struct roof_calibration){.id = "ten", .attributions = none, .fit = &f->fit, .count = 1};
    f->device->calibration = &f->calibration;
    f->workload.formats.precision = ROOF_PRECISION_FP16;
    double *const p = f->fit.parameter;
    p[M_DRAM] = p[M_PEAK] = p[M_PASSES] = 1;
    p[M_L2_CAPACITY] = 0.5;
    p[M_L2_RATE] = p[M_STREAM] = 1e12;
}

static void check(struct fixture *f, double us, enum roof_kernel_limit bound)
{
    check_time(&f->prediction, &f->workload, f->device, us, bound, f->hit, f->wider);
    assert_ptr_equal(f->prediction.part[0].expected.fit, &f->fit);
}

static void test_memory(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const p = f.fit.parameter;
    check(&f, WEIGHTS_US + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_PASSES] = 3;
    check(&f, WEIGHTS_US + 3 * MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_PASSES] = 0; /* the bound reads the activations too: 4 kB, and writes 1 kB */
    check(&f, WEIGHTS_US + 0.05, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_PASSES] = 1;
    p[M_DRAM] = 0.5;
    check(&f, 2 * WEIGHTS_US + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_DRAM] = 1;
    p[M_REREAD] = 0.5;
    check(&f, WEIGHTS_US * 1.5 + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_TILE_ROWS] = 6; /* an expert's 3 rows of 3 + 6 */
    check(&f, WEIGHTS_US * (1 + 0.5 / 3) + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_REREAD] = 0;
    p[M_TILE_ROWS] = 0;
    p[M_OVERLAP] = 0.5;
    check(&f, WEIGHTS_US + PRODUCTS_US / 2 + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_OVERLAP] = 0;
    /* The weights are as large as their share of the L2: half of them is found. */
    f.workload.cache = ROOF_CACHE_WARM;
    f.hit = 0.5;
    p[M_L2_RATE] = 2;
    check(&f, WEIGHTS_US * (0.5 + 0.5 / 2) + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    assert_true(f.prediction.expected_s < f.prediction.time_s); /* faster than DRAM allows */
    p[M_DRAM] = 0.5;
    check(&f, WEIGHTS_US * (0.5 * 2 + 0.5 / 2) + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_DRAM] = 1;
    p[M_REREAD] = 1; /* further passes find as much */
    check(&f, 2 * WEIGHTS_US * (0.5 + 0.5 / 2) + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_REREAD] = 0;
    p[M_L2_CAPACITY] = 1; /* (1/2)^8 */
    f.hit = 256 / 257.0;
    check(&f, WEIGHTS_US * (1 / 257.0 + 256 / 257.0 / 2) + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.hit = 0.5;
    f.workload.working_set = 300000; /* bytes between two uses, however the cache began */
    check(&f, WEIGHTS_US * (0.5 + 0.5 / 2) + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_COLD;
    check(&f, WEIGHTS_US * (0.5 + 0.5 / 2) + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

static void test_compute(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const p = f.fit.parameter;
    p[M_PEAK] = 0.1;
    check(&f, 10 * PRODUCTS_US + MOVES_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[M_TILE_ROWS] = 3; /* as many again for each of the five experts */
    check(&f, 20 * PRODUCTS_US + MOVES_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[M_OVERLAP] = 0.5;
    check(&f, 20 * PRODUCTS_US + WEIGHTS_US / 2 + MOVES_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[M_OVERLAP] = 0;
    p[M_TILE_ROWS] = 0;
    p[M_PEAK] = 0.28125; /* 1.6 us: more than the weights, less than all that memory moves */
    check(&f, 1.6 + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_PEAK] = 0.25;
    check(&f, 4 * PRODUCTS_US + MOVES_US, ROOF_KERNEL_LIMIT_COMPUTE);
    roof_hardware_free(f.device);
}

/* An expert of 50 columns has as many tiles as one of 64. */
static void test_columns(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const p = f.fit.parameter;
    const double more = 64 / 50.;
    const double moves = 0.125 + 15 * 3 * 14 * 2 / 1e5; /* three times between, of 15 rows */
    p[M_COLUMNS] = 64;
    check(&f, WEIGHTS_US * more + moves, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_OVERLAP] = 0.5;
    check(&f, (WEIGHTS_US + PRODUCTS_US / 2) * more + moves, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_OVERLAP] = 0;
    p[M_STREAM] = 1; /* 128 columns through 100 and 64 rows, at 10 bytes per ns */
    check(&f, WEIGHTS_US * more + moves + 128 * 164 * 2 / 1e4, ROOF_KERNEL_LIMIT_LATENCY);
    p[M_STREAM] = 1e12;
    f.workload.shape.intermediate = 64; /* fills it */
    check(&f, WEIGHTS_US * more + moves, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_COLUMNS] = 1;
    check(&f, WEIGHTS_US * more + moves, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

static void test_latency(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const p = f.fit.parameter;
    const double memory = WEIGHTS_US + MOVES_US;
    p[M_LAUNCH] = 1500;
    check(&f, memory + 1.5, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_LAUNCH] = 3000;
    check(&f, memory + 3, ROOF_KERNEL_LIMIT_LAUNCH);
    assert_near(f.prediction.part[0].expected.launch_s, 3e-6, 1e-12);
    f.workload.no_launch_overhead = 1;
    check(&f, memory, ROOF_KERNEL_LIMIT_MEMORY);
    assert_true(f.prediction.part[0].expected.launch_s == 0);
    f.workload.no_launch_overhead = 0;
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=500", NULL), ROOF_OK);
    check(&f, memory + 6, ROOF_KERNEL_LIMIT_LAUNCH);
    p[M_LAUNCH] = 0;
    p[M_DOUBLING] = 100; /* log2(1 + 15 rows) = 4 of them */
    check(&f, memory + 0.8, ROOF_KERNEL_LIMIT_MEMORY);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=1000", NULL), ROOF_OK);
    check(&f, memory + 0.4, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_DOUBLING] = 500;
    check(&f, memory + 2, ROOF_KERNEL_LIMIT_LATENCY);
    p[M_DOUBLING] = 250; /* half of it waits for the sort, half for the columns */
    p[M_STREAM] = 4;     /* 128 columns of 100 + 50 elements of 2 bytes, at 40 bytes per ns */
    check(&f, memory + 1 + 0.96, ROOF_KERNEL_LIMIT_LATENCY);
    p[M_DOUBLING] = 0;
    check(&f, memory + 0.96, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_STREAM] = 2.4; /* 1.6 us: more than the weights, less than all that memory moves */
    check(&f, memory + 1.6, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_STREAM] = 2;
    check(&f, memory + 1.92, ROOF_KERNEL_LIMIT_LATENCY);
    p[M_PEAK] = 0.2; /* then the products take longer */
    check(&f, 5 * PRODUCTS_US + MOVES_US + 1.92, ROOF_KERNEL_LIMIT_COMPUTE);
    roof_hardware_free(f.device);
}

/* How many experts are touched. */
static void test_routing(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const p = f.fit.parameter;
    struct roof_shape *const s = &f.workload.shape;
    s->experts = 4;
    s->top_k = 2;
    s->tokens = 2;
    s->routing = ROOF_ROUTING_UNIFORM; /* each is left out with probability 1/4 */
    f.wider = 1.12;                    /* the fit is to even loads */
    check(&f, 3 * 0.3 + 0.036, ROOF_KERNEL_LIMIT_MEMORY); /* 4 x 350 and 2 x 200 elements, 3.6 kB */
    p[M_PEAK] = 0.1;
    p[M_TILE_ROWS] = 4; /* 4 rows and 3 x 4 */
    check(&f, 16 * 0.3 + 0.036, ROOF_KERNEL_LIMIT_COMPUTE);
    p[M_PEAK] = 1;
    p[M_REREAD] = 1; /* 4/3 rows of 4/3 + 4 */
    check(&f, 3 * 0.3 * 1.25 + 0.036, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_REREAD] = 0;
    p[M_TILE_ROWS] = 0;
    s->tokens = 1;
    check(&f, 2 * 0.3 + 0.018, ROOF_KERNEL_LIMIT_MEMORY);
    s->tokens = 2;
    s->routing = ROOF_ROUTING_BALANCED;
    f.wider = 1;
    check(&f, 4 * 0.3 + 0.036, ROOF_KERNEL_LIMIT_MEMORY);
    s->tokens = 1;
    check(&f, 2 * 0.3 + 0.018, ROOF_KERNEL_LIMIT_MEMORY);
    s->tokens = 7;
    s->top_k = 1;
    p[M_DOUBLING] = 100; /* log2(1 + 7); 7 x 350 and 2 x 700 elements, 7.7 kB */
    check(&f, 4 * 0.3 + 0.077 + 0.3, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* Spread over five devices, each has an expert and its 3 rows. */
static void test_expert_parallel(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const p = f.fit.parameter;
    f.workload.shape.ep = 5;
    p[M_PASSES] = 0;
    p[M_DRAM] = 0.5;
    check(&f, 2 * WEIGHTS_US / 5, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_PEAK] = 0.1;
    check(&f, 10 * PRODUCTS_US / 5, ROOF_KERNEL_LIMIT_COMPUTE);
    p[M_TILE_ROWS] = 6;
    check(&f, 30 * PRODUCTS_US / 5, ROOF_KERNEL_LIMIT_COMPUTE);
    p[M_PEAK] = 1;
    p[M_REREAD] = 0.5;
    check(&f, 2 * WEIGHTS_US / 5 * (1 + 0.5 / 3), ROOF_KERNEL_LIMIT_MEMORY);
    p[M_REREAD] = 0;
    p[M_TILE_ROWS] = 0;
    p[M_DOUBLING] = 100; /* log2(1 + 3) */
    check(&f, 2 * WEIGHTS_US / 5 + 0.2, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_DOUBLING] = 0;
    p[M_STREAM] = 10; /* a column tile is as deep as ever */
    check(&f, 2 * WEIGHTS_US / 5 + 0.384, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* The two products of gate and up, and the one of down. */
static void test_halves(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        double share;
        double columns_us; /* of one tile of columns, at 10 bytes per ns */
    } halves[] = {{ROOF_OPERATOR_MOE, 1, 3.84},
                  {ROOF_OPERATOR_MOE_GATE_UP, 2 / 3.0, 2.56},
                  {ROOF_OPERATOR_MOE_DOWN, 1 / 3.0, 1.28}};
    for (size_t i = 0; i < COUNT(halves); i++) {
        struct fixture f;
        begin(&f);
        double *const p = f.fit.parameter;
        const double share = halves[i].share;
        f.workload.op = halves[i].op;
        f.wider = i > 0 ? 1.25 : 1; /* no half was measured */
        check(&f, share * (WEIGHTS_US + MOVES_US), ROOF_KERNEL_LIMIT_MEMORY);
        p[M_PASSES] = 3;
        check(&f, share * (WEIGHTS_US + 3 * MOVES_US), ROOF_KERNEL_LIMIT_MEMORY);
        p[M_PASSES] = 1;
        p[M_REREAD] = 0.5;
        p[M_TILE_ROWS] = 6;
        check(&f, share * (WEIGHTS_US * (1 + 0.5 / 3) + MOVES_US), ROOF_KERNEL_LIMIT_MEMORY);
        p[M_REREAD] = 0;
        p[M_PEAK] = 0.1; /* 9 rows for 3 */
        check(&f, share * (30 * PRODUCTS_US + MOVES_US), ROOF_KERNEL_LIMIT_COMPUTE);
        p[M_PEAK] = 1;
        p[M_TILE_ROWS] = 0;
        p[M_DOUBLING] = 3000;
        check(&f, share * (WEIGHTS_US + MOVES_US + 12), ROOF_KERNEL_LIMIT_LATENCY);
        p[M_DOUBLING] = 0;
        p[M_LAUNCH] = 3000;
        check(&f, share * (WEIGHTS_US + MOVES_US + 3), ROOF_KERNEL_LIMIT_LAUNCH);
        assert_near(f.prediction.part[0].expected.launch_s, share * 3e-6, 1e-12);
        p[M_LAUNCH] = 0;
        p[M_STREAM] = 1;
        check(&f, share * (WEIGHTS_US + MOVES_US) + halves[i].columns_us,
              ROOF_KERNEL_LIMIT_LATENCY);
        roof_hardware_free(f.device);
    }
}

/* Weights of 8 and 4 bits; activations are moved in 16 bits all the same. */
static void test_formats(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const p = f.fit.parameter;
    p[M_TILE_ROWS] = 3; /* products 0.9 us */
    p[M_REREAD] = 0.5;  /* 5/4 of the weights */
    f.workload.formats.weights = ROOF_PRECISION_FP8_E4M3;
    f.fit.numerics = ROOF_NUMERICS_W8A16;
    check(&f, WEIGHTS_US / 2 * 1.25 + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_PEAK] = 0.5;
    check(&f, 4 * PRODUCTS_US + MOVES_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.formats.activations = ROOF_PRECISION_FP8_E4M3; /* on a unit twice as fast */
    f.fit.numerics = ROOF_NUMERICS_FP8;
    p[M_PEAK] = 0.25;
    check(&f, 4 * PRODUCTS_US + MOVES_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.formats.weights = ROOF_PRECISION_INT4;
    f.workload.formats.activations = ROOF_PRECISION_AUTO;
    f.fit.numerics = ROOF_NUMERICS_W4A16;
    check(&f, 8 * PRODUCTS_US + MOVES_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[M_PEAK] = 1;
    p[M_DRAM] = 0.25;
    check(&f, WEIGHTS_US * 1.25 + MOVES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_STREAM] = 0.5; /* 128 columns of 150 elements of half a byte, at 5 bytes per ns */
    check(&f, WEIGHTS_US * 1.25 + MOVES_US + 1.92, ROOF_KERNEL_LIMIT_MEMORY);
    p[M_STREAM] = 0.25;
    check(&f, WEIGHTS_US * 1.25 + MOVES_US + 3.84, ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

/* A stack or a device that stands in for what was not measured: the band is wider. */
static void test_near(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    const double us = WEIGHTS_US + MOVES_US;
    f.workload.stack = ROOF_STACK_VLLM;
    check(&f, us, ROOF_KERNEL_LIMIT_MEMORY);
    f.wider = 1.25;
    f.workload.stack = ROOF_STACK_SGLANG;
    check(&f, us, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.stack = ROOF_STACK_TRTLLM;
    check(&f, us, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.stack = ROOF_STACK_BEST;
    f.wider = 1.2; /* experts of another device in 16 bits */
    f.fit.lent = "eleven";
    check(&f, us, ROOF_KERNEL_LIMIT_MEMORY);
    f.fit.lent = NULL;
    f.calibration.inherited = true;
    check(&f, us, ROOF_KERNEL_LIMIT_MEMORY);
    f.calibration.inherited = false;
    f.wider = 1;
    check(&f, us, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* The fastest of two stacks is taken, unless one is asked for. */
static void test_stacks(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    const double us = WEIGHTS_US + MOVES_US;
    struct roof_kernel_fit fits[2] = {f.fit, f.fit};
    fits[0].stack = ROOF_STACK_SGLANG;
    f.calibration.fit = fits;
    f.calibration.count = 2;
    for (int faster = 0; faster < 2; faster++) {
        fits[faster].parameter[M_LAUNCH] = 1000;
        fits[1 - faster].parameter[M_LAUNCH] = 2000;
        for (int asked = 0; asked < 4; asked++) {
            f.workload.stack = asked;
            const int got = asked == ROOF_STACK_SGLANG ? 0 : asked == ROOF_STACK_VLLM ? 1 : faster;
            assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
            assert_ptr_equal(f.prediction.part[0].expected.fit, &fits[got]);
            assert_near(f.prediction.expected_s * 1e6, us + (got == faster ? 1 : 2), 1e-9);
            assert_int_equal(f.prediction.expected_near, asked == ROOF_STACK_TRTLLM);
        }
    }
    roof_hardware_free(f.device);
}

/* Formats that stand in for others, the nearest first. */
static void test_near_formats(void **unused)
{
    (void)unused;
    enum { none = ROOF_NUMERICS_COUNT };
    static const struct {
        const char *weights;
        const char *activations;
        int stand_in[6];
    } cases[] = {
        {"bf16", "bf16", {ROOF_NUMERICS_16BIT, none}},
        {"fp8",
         "fp8",
         {ROOF_NUMERICS_FP8, ROOF_NUMERICS_W8A16, ROOF_NUMERICS_INT8, ROOF_NUMERICS_16BIT, none}},
        {"int8",
         "int8",
         {ROOF_NUMERICS_INT8, ROOF_NUMERICS_FP8, ROOF_NUMERICS_W8A16, ROOF_NUMERICS_16BIT, none}},
        {"nvfp4",
         "nvfp4",
         {ROOF_NUMERICS_FP4, ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W4A16, ROOF_NUMERICS_16BIT, none}},
        {"fp8",
         "bf16",
         {ROOF_NUMERICS_W8A16, ROOF_NUMERICS_FP8, ROOF_NUMERICS_W4A16, ROOF_NUMERICS_16BIT, none}},
        {"int4",
         "bf16",
         {ROOF_NUMERICS_W4A16, ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W8A16, ROOF_NUMERICS_16BIT,
          none}},
        {"mxfp4",
         "bf16",
         {ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W4A16, ROOF_NUMERICS_W8A16, ROOF_NUMERICS_16BIT,
          none}},
        {"fp32", "fp32", {ROOF_NUMERICS_32BIT, ROOF_NUMERICS_16BIT, none}},
        {"mxfp4",
         "fp8",
         {ROOF_NUMERICS_W4A8, ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W4A16, ROOF_NUMERICS_FP8,
          ROOF_NUMERICS_16BIT, none}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        begin(&f);
        struct roof_formats *const formats = &f.workload.formats;
        assert_int_equal(roof_precision_find(&formats->weights, cases[i].weights, NULL), ROOF_OK);
        assert_int_equal(roof_precision_find(&formats->activations, cases[i].activations, NULL),
                         ROOF_OK);
        /* With fits of all formats the first is taken, without it the second, ... */
        struct roof_kernel_fit fits[ROOF_NUMERICS_COUNT];
        for (int n = 0; n < ROOF_NUMERICS_COUNT; n++) {
            fits[n] = f.fit;
            fits[n].numerics = (enum roof_numerics)n;
        }
        f.calibration.fit = fits;
        f.calibration.count = ROOF_NUMERICS_COUNT;
        for (int n = 0;; n++) {
            assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
            const int wanted = cases[i].stand_in[n];
            if (wanted == none) {
                assert_true(isnan(f.prediction.expected_s));
                break;
            }
            const struct roof_expected *const e = &f.prediction.part[0].expected;
            assert_ptr_equal(e->fit, &fits[wanted]);
            assert_int_equal(e->near, n > 0);
            assert_near(e->high_s, e->time_s * (n > 0 ? 3 : 2), 1e-12);
            fits[wanted].kernel = ROOF_KERNEL_GEMM; /* of no use here */
        }
        roof_hardware_free(f.device);
    }
}

/* --- what holds for all -------------------------------------------------------------------- */

/* Experts over more devices take no longer; random routing touches no more than even routing; the
 * halves are the whole. */
static void check_experts(const struct roof_hardware *device, const struct roof_workload *drawn,
                          double time)
{
    struct roof_workload w = *drawn;
    struct roof_prediction p;
    if (w.shape.experts % (2 * w.shape.ep) == 0) {
        w.shape.ep *= 2;
        const double spread = expect(&p, &w, device);
        if (!(spread <= time * (1 + 1e-9))) {
            show(device, &w, "spread over more devices", spread, time);
        }
        w.shape.ep = drawn->shape.ep;
    }
    w.shape.routing = ROOF_ROUTING_UNIFORM;
    const double uniform = expect(&p, &w, device);
    w.shape.routing = ROOF_ROUTING_BALANCED;
    const double balanced = expect(&p, &w, device);
    if (!(uniform <= balanced * (1 + 1e-9))) {
        show(device, &w, "uniform, balanced", uniform, balanced);
    }
    w.shape.routing = drawn->shape.routing;
    if (w.stack != ROOF_STACK_BEST) {   /* else each may be another's */
        w.working_set = 10000000000000; /* nothing is found, and no bound lifts a half */
        const double whole = expect(&p, &w, device);
        w.op = ROOF_OPERATOR_MOE_GATE_UP;
        double halves = expect(&p, &w, device);
        w.op = ROOF_OPERATOR_MOE_DOWN;
        halves += expect(&p, &w, device);
        if (!(fabs(whole - halves) <= 1e-9 * whole)) {
            show(device, &w, "whole, halves", whole, halves);
        }
    }
}

static const struct {
    enum roof_precision weights[2];
    enum roof_precision activations;
} formats[ROOF_NUMERICS_COUNT] = {
    [ROOF_NUMERICS_16BIT] = {{ROOF_PRECISION_BF16, ROOF_PRECISION_FP16}, ROOF_PRECISION_BF16},
    [ROOF_NUMERICS_FP8] = {{ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_BLOCK128},
                           ROOF_PRECISION_FP8_E4M3},
    [ROOF_NUMERICS_INT8] = {{ROOF_PRECISION_INT8, ROOF_PRECISION_INT8}, ROOF_PRECISION_INT8},
    [ROOF_NUMERICS_FP4] = {{ROOF_PRECISION_NVFP4, ROOF_PRECISION_MXFP4}, ROOF_PRECISION_NVFP4},
    [ROOF_NUMERICS_W8A16] = {{ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_INT8}, ROOF_PRECISION_BF16},
    [ROOF_NUMERICS_W4A16] = {{ROOF_PRECISION_NVFP4, ROOF_PRECISION_INT4_G128}, ROOF_PRECISION_BF16},
    [ROOF_NUMERICS_MX4A16] = {{ROOF_PRECISION_MXFP4, ROOF_PRECISION_MXFP4}, ROOF_PRECISION_BF16},
    [ROOF_NUMERICS_W4A8] = {{ROOF_PRECISION_MXFP4, ROOF_PRECISION_INT4_G128},
                            ROOF_PRECISION_FP8_E4M3},
};

static bool draw_experts(struct roof_workload *w, const struct roof_calibration *c)
{
    const struct roof_kernel_fit *const fit = &c->fit[draw() % c->count];
    if (fit->kernel != ROOF_KERNEL_MOE || fit->plain) { /* halves of those overlap apart */
        return false;
    }
    w->op = ROOF_OPERATOR_MOE;
    w->stack = draw() % 4 == 0 ? ROOF_STACK_BEST : fit->stack;
    w->quantize_input = fit->quantize;
    w->formats.weights = formats[fit->numerics].weights[draw() % 2];
    w->formats.activations = formats[fit->numerics].activations;
    struct roof_shape *const s = &w->shape;
    s->tokens = draw_size(15);
    s->hidden = draw_size(13);
    s->intermediate = draw_size(13);
    s->ep = (int64_t)1 << (draw() % 4);
    s->experts = s->ep * draw_size(6);
    s->top_k = 1 + (int64_t)(draw() % 16);
    if (s->top_k > s->experts) {
        s->top_k = s->experts;
    }
    s->routing = (int64_t)(draw() % 2);
    return true;
}

static bool allowed(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown)
{
    (void)device;
    const struct roof_shape *const s = &w->shape;
    return grown != ROOF_DIM_EP && s->top_k <= s->experts && s->experts % s->ep == 0;
}

static void test_properties(void **unused)
{
    (void)unused;
    check_properties(
        &(struct properties){.draw = draw_experts, .allowed = allowed, .also = check_experts});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_compute),
        cmocka_unit_test(test_columns),      cmocka_unit_test(test_latency),
        cmocka_unit_test(test_routing),      cmocka_unit_test(test_expert_parallel),
        cmocka_unit_test(test_halves),       cmocka_unit_test(test_formats),
        cmocka_unit_test(test_near),         cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_near_formats), cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
