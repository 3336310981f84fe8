// SPDX-License-Identifier: MIT
/* The expected time of latent attention: each term alone on a device that makes mental arithmetic,
 * then what holds for all shapes. */
#include "properties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_MLA_DECODE_PARAMETER(id, key, least, most, start, neutral, meaning) L_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_MLA_PREFILL_PARAMETER(id, key, least, most, start, neutral, meaning) E_##id,
#include "predict/kernel_parameters.h"
};

/* 100 GB/s, 1 TFLOP/s at fp16, 10 SMs at 1 GHz: 100 bytes and 1000 FLOP per nanosecond, which is a
 * clock. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"      \
    " \"l2_bytes\": 400000, \"peak_tflops\": {\"fp16\": 1, \"fp8\": 2},"                           \
    " \"vector_tflops\": {\"fp32\": 0.1}}"

struct fixture {
    struct roof_hardware *device;
    struct roof_kernel_fit fit[2];
    double *decode;
    double *prefill;
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
    double hit; /* share that is found in the L2 */
};

/* No term shows, but for the memory's and the matrix unit's own. */
static void begin(struct fixture *f, enum roof_operator op)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){.device = parse_device(DEVICE),
                          .workload = {.formats = ROOF_FORMATS_AUTO, .op = op}};
    for (int i = 0; i < 2; i++) {
        f->fit[i] =
            empty_fit(i == 0 ? ROOF_KERNEL_MLA_DECODE : ROOF_KERNEL_MLA_PREFILL, ROOF_STACK_TRTLLM);
    }
    f->decode = f->fit[0].parameter;
    f->prefill = f->fit[1].parameter;
    f->calibration =
        (struct roof_calibration){.id = "ten", .attributions = none, .fit = f->fit, .count = 2};
    f->device->calibration = &f->calibration;
    f->workload.formats.precision = ROOF_PRECISION_FP16;
    f->decode[L_DRAM] = f->decode[L_PEAK] = f->decode[L_CHUNK] = f->decode[L_QUERIES] = 1;
    f->decode[L_L2_CAPACITY] = 0.5;
    f->decode[L_ROWS] = 4;
    f->decode[L_L2_RATE] = f->decode[L_STREAM] = 1e12;
    f->prefill[E_PEAK] = 1;
    f->prefill[E_L2_CAPACITY] = 0.5;
    f->prefill[E_LONE] = 1e12;
}

static void check(struct fixture *f, double us, enum roof_kernel_limit bound)
{
    const struct roof_workload *const w = &f->workload;
    check_time(&f->prediction, w, f->device, us, bound, f->hit, 1);
    const struct roof_expected *const e = &f->prediction.part[0].expected;
    const bool decode = w->op == ROOF_OPERATOR_MLA_DECODE;
    const double launch = decode ? f->decode[L_LAUNCH] : f->prefill[E_LAUNCH];
    assert_ptr_equal(e->fit, &f->fit[decode ? 0 : 1]);
    assert_near(e->launch_s * 1e9, w->no_launch_overhead > 0 ? 0 : launch, 1e-9);
}

/* 1000 tokens of two sequences, 50 elements of which 40 are values, 4 heads: 200 kB, and 1440 bytes
 * of Q and results; 1.44 MFLOP. */
#define LATENT                                                                                     \
    {                                                                                              \
        .batch = 2, .heads = 4, .kv_lora_rank = 40, .qk_rope_head_dim = 10, .kv_len = 1000         \
    }
#define CACHE_US 2.0
#define QUERIES_US 0.0144
#define PRODUCTS_US 1.44

static void test_decode(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_DECODE);
    double *const p = f.decode;
    f.workload.shape = (struct roof_shape)LATENT;
    check(&f, CACHE_US + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    assert_near(f.prediction.time_s * 1e6, CACHE_US + QUERIES_US, 1e-12); /* it is the bound */
    p[L_DRAM] = 1.25; /* which no parameter goes below */
    check(&f, CACHE_US + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_DRAM] = 0.5;
    check(&f, 2 * CACHE_US + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_DRAM] = 1;
    p[L_QUERIES] = 2.5;
    check(&f, CACHE_US + 2.5 * QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_QUERIES] = 1;
    p[L_OVERLAP] = 0.5;
    check(&f, CACHE_US + QUERIES_US + PRODUCTS_US / 2, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_OVERLAP] = 0;
    p[L_PEAK] = 0.1;
    check(&f, 10 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_PAD_TOKENS] = 500;
    check(&f, 15 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_PAD_TOKENS] = 0;
    p[L_ROWS] = 8; /* half of the rows are empty */
    check(&f, 20 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_ROWS] = 2; /* two tiles, both full */
    check(&f, 10 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_ROWS] = 127; /* nearly all rows are empty */
    check(&f, 127.0 / 4 * 10 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_ROWS] = 128; /* heads are 16 columns instead */
    check(&f, 4 * 10 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.query_len = 4; /* of which 4 queries fill all */
    check(&f, 4 * 10 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.query_len = 5; /* and 5 are too many */
    check(&f, 32 * 10 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    roof_hardware_free(f.device);
}

static void test_decode_tiles(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_DECODE);
    double *const p = f.decode;
    f.workload.shape = (struct roof_shape)LATENT;
    p[L_ROWS] = 2;
    p[L_L2_RATE] = 2; /* the second tile reads the cache out of the L2 */
    check(&f, CACHE_US + CACHE_US / 2 + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_REREAD] = 0.25; /* and a quarter of it from DRAM */
    check(&f, CACHE_US * (1.25 + 0.75 / 2) + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.heads = 8; /* four tiles: one and three quarters from DRAM */
    assert_int_equal(roof_hardware_set(f.device, "peak_tflops.fp16=10", NULL), ROOF_OK);
    check(&f, CACHE_US * (1.75 + 2.25 / 2) + 2 * QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.heads = 4; /* the rows of a tile are heads of any query */
    f.workload.shape.query_len = 2;
    check(&f, CACHE_US * (1.75 + 2.25 / 2) + 2 * QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.query_len = 1;
    f.workload.shape.heads = 3; /* a share of a tile counts as a share */
    check(&f, CACHE_US * (1.125 + 0.375 / 2) + 0.75 * QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.heads = 4;
    /* The cache is as large as its share of the L2: both tiles find half of it there. */
    f.workload.cache = ROOF_CACHE_WARM;
    f.hit = 0.5;
    const double half = CACHE_US / 2;
    check(&f, half * (1.25 + 0.75 / 2) + half * 2 / 2 + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_ROWS] = 4;
    check(&f, half + half / 2 + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    assert_true(f.prediction.expected_s < f.prediction.time_s); /* faster than DRAM allows */
    p[L_L2_CAPACITY] = 1;                                       /* (1/2)^8 */
    f.hit = 256 / 257.0;
    check(&f, CACHE_US * (1 / 257.0 + 256 / 257.0 / 2) + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.hit = 0.5;
    f.workload.working_set = 400000; /* bytes between two uses, however the cache began */
    check(&f, half + half / 2 + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_COLD;
    check(&f, half + half / 2 + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* A kernel that does not split a cache: SMs walk over a sequence, and the others wait. */
static void test_decode_waves(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_DECODE);
    double *const p = f.decode;
    f.workload.shape = (struct roof_shape)LATENT;
    p[L_STREAM] = 1; /* 100 kB of one sequence at 10 bytes per ns */
    p[L_SEQUENCE_SMS] = 5;
    check(&f, 10, ROOF_KERNEL_LIMIT_LATENCY); /* both at once */
    p[L_SEQUENCE_SMS] = 6;
    check(&f, 20, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.batch = 4; /* 24 of 10 SMs */
    check(&f, 30, ROOF_KERNEL_LIMIT_LATENCY);
    p[L_BLOCK] = 1000; /* before each wave but the first */
    check(&f, 32, ROOF_KERNEL_LIMIT_LATENCY);
    p[L_ROWS] = 0.5; /* 32 blocks on 10 SMs take longer */
    check(&f, 33.2, ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

/* Queries that stay in the L2 beside the cache move at its rate. */
static void test_decode_queries(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_DECODE);
    double *const p = f.decode;
    f.workload.shape = (struct roof_shape)LATENT;
    p[L_L2_CAPACITY] = 1e-60; /* the cache is too large */
    p[L_L2_RATE] = 2;
    p[L_QUERY_CAPACITY] = (200000 + 1440) / 400000.0;           /* half of them */
    check(&f, CACHE_US + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY); /* a cold cache has none */
    f.workload.cache = ROOF_CACHE_WARM;
    check(&f, CACHE_US + 0.75 * QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

static void test_decode_latency(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_DECODE);
    double *const p = f.decode;
    f.workload.shape = (struct roof_shape)LATENT;
    const double memory = CACHE_US + QUERIES_US;
    p[L_LAUNCH] = 2000;
    check(&f, memory + 2, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_LAUNCH] = 3000;
    check(&f, memory + 3, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.cache = ROOF_CACHE_WARM; /* half of the cache is found */
    f.hit = 0.5;
    p[L_L2_RATE] = 2;
    check(&f, CACHE_US * 0.75 + QUERIES_US + 3, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.no_launch_overhead = 1;
    check(&f, CACHE_US * 0.75 + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_L2_RATE] = 1e12;
    f.workload.cache = ROOF_CACHE_COLD;
    f.hit = 0;
    check(&f, memory, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.no_launch_overhead = 0;
    p[L_LAUNCH] = 0;
    p[L_DOUBLING] = 600; /* log2(1 + 7000 / 1000) = 3 of them */
    p[L_CHUNK] = 1000.0 / 7;
    check(&f, memory + 1.8, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_BLOCK] = 1500; /* 2 blocks on 10 SMs */
    check(&f, memory + 1.8 + 0.3, ROOF_KERNEL_LIMIT_LATENCY);
    p[L_DOUBLING] = 0;
    p[L_BLOCK] = 500;
    p[L_ROWS] = 1; /* 8 blocks */
    check(&f, memory + 0.4, ROOF_KERNEL_LIMIT_MEMORY);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=500", NULL), ROOF_OK);
    check(&f, memory + 0.8, ROOF_KERNEL_LIMIT_MEMORY);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=1000", NULL), ROOF_OK);
    p[L_BLOCK] = 0;
    p[L_ROWS] = 4;
    p[L_STREAM] = 1; /* 100 kB of one sequence at 10 bytes per ns */
    check(&f, 10, ROOF_KERNEL_LIMIT_LATENCY);
    p[L_OVERLAP] = 0.5; /* of what the others take together */
    check(&f, 10 + (memory + PRODUCTS_US / 2) / 2, ROOF_KERNEL_LIMIT_LATENCY);
    p[L_OVERLAP] = 0;
    p[L_PEAK] = 0.1; /* then the products take longer */
    check(&f, 10 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_PEAK] = 1;
    p[L_STREAM] = 6; /* a lone sequence takes 1.67 us: more than the products, less than memory */
    check(&f, memory, ROOF_KERNEL_LIMIT_MEMORY);
    p[L_PEAK] = 0.5; /* products before memory before a lone sequence */
    check(&f, 2 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_STREAM] = 4; /* 2.5 us: more than memory, less than the products */
    check(&f, 2 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[L_PEAK] = 0.6; /* 2.4 us: more than memory, less than a lone sequence */
    check(&f, 2.5, ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

/* A cache of 8 bits: half of the bytes; with queries of 8 bits too, twice the peak. */
static void test_decode_formats(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_DECODE);
    f.workload.shape = (struct roof_shape)LATENT;
    f.workload.formats.kv = ROOF_PRECISION_FP8_E4M3;
    f.decode[L_DRAM] = 0.5;
    f.decode[L_STREAM] = 2; /* 2.5 us */
    f.fit[0].numerics = ROOF_NUMERICS_W8A16;
    check(&f, 2.5, ROOF_KERNEL_LIMIT_LATENCY);
    f.decode[L_STREAM] = 1e12;
    check(&f, CACHE_US + QUERIES_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.decode[L_PEAK] = 0.25;
    check(&f, 4 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.formats.activations = ROOF_PRECISION_FP8_E4M3;
    f.fit[0].numerics = ROOF_NUMERICS_FP8;
    check(&f, 2 * PRODUCTS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.decode[L_PEAK] = 1;
    f.decode[L_QUERIES] = 2; /* 2 x (400 bytes of Q and 640 of results) */
    check(&f, CACHE_US + 2 * 0.0104, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.formats.kv = ROOF_PRECISION_FP16; /* queries of 8 bits are widened to 16 */
    f.fit[0].numerics = ROOF_NUMERICS_16BIT;
    f.decode[L_DRAM] = 1;
    check(&f, CACHE_US + 2 * 0.0104, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* 256 queries and keys of 10 heads, 32 + 8 elements of Q and K and 10 of V: 65.536 MFLOP; Q and the
 * result 256 kB, K and V 256 kB. */
#define EXPANDED                                                                                   \
    {                                                                                              \
        .batch = 1, .heads = 10, .qk_nope_head_dim = 32, .qk_rope_head_dim = 8, .v_head_dim = 10,  \
        .query_len = 256, .kv_len = 256                                                            \
    }
#define ALL_US 65.536
#define PASS_US 5.12

static void test_prefill(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_PREFILL);
    double *const p = f.prefill;
    f.workload.shape = (struct roof_shape)EXPANDED;
    check(&f, ALL_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_PEAK] = 2; /* never below the bound */
    check(&f, ALL_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_PEAK] = 0.5;
    check(&f, 2 * ALL_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_PEAK] = 1;
    p[E_TILE] = 64; /* 320 scores per query instead of 256 */
    check(&f, ALL_US * 1.25, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_TILE] = 0;
    p[E_PASSES] = 2;
    check(&f, ALL_US + 2 * PASS_US, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_PASSES] = 20;
    check(&f, ALL_US + 20 * PASS_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_WARM;
    f.hit = 0.5;
    p[E_L2_CAPACITY] = 1.28; /* as large as the data: half hits, a quarter of it is paid */
    check(&f, ALL_US + 20 * PASS_US * 0.625, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_L2_CAPACITY] = 2.56;
    f.hit = 256 / 257.0;
    check(&f, ALL_US + 20 * PASS_US * (1 - 0.75 * 256 / 257), ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.working_set = 1024000;
    f.hit = 0.5;
    check(&f, ALL_US + 20 * PASS_US * 0.625, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.cache = ROOF_CACHE_COLD;
    check(&f, ALL_US + 20 * PASS_US * 0.625, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.working_set = 0;
    f.hit = 0;
    p[E_PASSES] = 0;
    f.workload.shape.causal = 1; /* 256 x 257 / 2 scores */
    check(&f, ALL_US * 257 / 512, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_TILE] = 128; /* and 128 per query */
    check(&f, ALL_US * (257 + 256) / 512, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_TILE] = 0;
    f.workload.shape.kv_len = 512; /* 256 more keys for every query */
    check(&f, ALL_US * (257 + 512) / 512, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_TILE] = 128;
    check(&f, ALL_US * (257 + 512 + 256) / 512, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_BLOCK] = 1000; /* two tiles of queries for each of ten heads, whatever the keys */
    check(&f, ALL_US * (257 + 512 + 256) / 512 + 2, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_BLOCK] = 0;
    p[E_TILE] = 0;
    f.workload.shape = (struct roof_shape)EXPANDED;
    f.workload.formats.kv = ROOF_PRECISION_FP8_E4M3; /* 128 kB of K and V */
    f.fit[1].numerics = ROOF_NUMERICS_W8A16;
    p[E_PASSES] = 20;
    check(&f, ALL_US + 20 * 3.84, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

static void test_prefill_latency(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_MLA_PREFILL);
    double *const p = f.prefill;
    f.workload.shape = (struct roof_shape)EXPANDED;
    p[E_LAUNCH] = 3000;
    check(&f, ALL_US + 3, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_LAUNCH] = 66000;
    check(&f, ALL_US + 66, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.no_launch_overhead = 1;
    check(&f, ALL_US, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.no_launch_overhead = 0;
    p[E_LAUNCH] = 0;
    p[E_BLOCK] = 1000; /* 10 heads x 2 tiles on 10 SMs */
    check(&f, ALL_US + 2, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=500", NULL), ROOF_OK);
    check(&f, ALL_US + 4, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=1000", NULL), ROOF_OK);
    p[E_BLOCK] = 33000;
    check(&f, ALL_US + 66, ROOF_KERNEL_LIMIT_LATENCY);
    p[E_PASSES] = 1; /* products and memory together are longer */
    check(&f, ALL_US + PASS_US + 66, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_PASSES] = 0;
    p[E_BLOCK] = 0;
    p[E_SEQUENCE] = 1000;
    check(&f, ALL_US + 1, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.batch = 3;
    check(&f, 3 * ALL_US + 3, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.batch = 1;
    p[E_SEQUENCE] = 0;
    /* A tile: 128 queries x 256 keys x 100 FLOP, 10 per clock. */
    const double lone = 327.68;
    p[E_LONE] = 10;
    check(&f, lone, ROOF_KERNEL_LIMIT_LATENCY);
    p[E_OVERLAP] = 0.5;
    check(&f, lone + ALL_US / 2, ROOF_KERNEL_LIMIT_LATENCY);
    p[E_TILE] = 64;
    check(&f, 1.25 * (lone + ALL_US / 2), ROOF_KERNEL_LIMIT_LATENCY);
    p[E_TILE] = 0;
    f.workload.shape.causal = 1; /* the last tile sees all keys */
    check(&f, lone + ALL_US * 257 / 1024, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.causal = 0;
    f.workload.shape.kv_len = 512;
    check(&f, 2 * (lone + ALL_US / 2), ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.kv_len = 256;
    f.workload.shape.query_len = 128; /* one tile of two */
    check(&f, lone + ALL_US / 4, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.query_len = 256;
    p[E_PASSES] = 80; /* memory 409.6 us */
    check(&f, lone + ALL_US / 2 + 409.6, ROOF_KERNEL_LIMIT_MEMORY);
    p[E_BLOCK] = 250000; /* 500 us: more than either, less than both */
    check(&f, lone + ALL_US / 2 + 409.6 + 500, ROOF_KERNEL_LIMIT_MEMORY);
    p[E_BLOCK] = 0;
    p[E_PASSES] = 70; /* memory between a lone tile and the products */
    check(&f, lone + ALL_US / 2 + 358.4, ROOF_KERNEL_LIMIT_COMPUTE);
    p[E_PASSES] = 20; /* memory between the products and a lone tile */
    check(&f, lone + ALL_US / 2 + 102.4, ROOF_KERNEL_LIMIT_LATENCY);
    p[E_PASSES] = 0;
    p[E_LONE] = 100; /* shorter than all tiles together */
    check(&f, ALL_US + lone / 20, ROOF_KERNEL_LIMIT_COMPUTE);
    roof_hardware_free(f.device);
}

/* There is no expected time if there is nothing to base it on. */
static void test_absent(void **unused)
{
    (void)unused;
    static const enum roof_operator ops[] = {ROOF_OPERATOR_MLA_DECODE, ROOF_OPERATOR_MLA_PREFILL};
    for (size_t i = 0; i < COUNT(ops); i++) {
        struct fixture f;
        begin(&f, ops[i]);
        f.workload.shape = i == 0 ? (struct roof_shape)LATENT : (struct roof_shape)EXPANDED;
        f.calibration.fit = &f.fit[1 - i]; /* each has a kernel of its own */
        f.calibration.count = 1;
        assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
        assert_true(isnan(f.prediction.expected_s));
        assert_true(isnan(f.prediction.expected_low_s));
        assert_true(f.prediction.time_s > 0);
        f.calibration.fit = &f.fit[i];
        f.workload.formats.kv = ROOF_PRECISION_FP8_E4M3; /* 16 bits stand in for 8 */
        assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
        assert_true(f.prediction.expected_s > 0 && f.prediction.expected_near);
        f.workload.formats.kv = ROOF_PRECISION_AUTO;
        assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
        assert_true(f.prediction.expected_s > 0);
        f.device->calibration = NULL;
        assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
        assert_true(isnan(f.prediction.expected_s));
        roof_hardware_free(f.device);
    }
}

/* --- what holds for all -------------------------------------------------------------------- */

static bool draw_latent(struct roof_workload *w, const struct roof_calibration *c)
{
    const struct roof_kernel_fit *const fit = &c->fit[draw() % c->count];
    const bool decode = fit->kernel == ROOF_KERNEL_MLA_DECODE;
    if (!decode && fit->kernel != ROOF_KERNEL_MLA_PREFILL) {
        return false;
    }
    w->op = decode ? ROOF_OPERATOR_MLA_DECODE : ROOF_OPERATOR_MLA_PREFILL;
    w->stack = draw() % 4 == 0 ? ROOF_STACK_BEST : fit->stack;
    const bool narrow = fit->numerics == ROOF_NUMERICS_FP8;
    const bool wide = fit->numerics == ROOF_NUMERICS_16BIT;
    w->formats.activations = narrow ? ROOF_PRECISION_FP8_E4M3 : ROOF_PRECISION_BF16;
    w->formats.kv = wide ? ROOF_PRECISION_BF16 : ROOF_PRECISION_FP8_E4M3;
    struct roof_shape *const s = &w->shape;
    s->batch = draw_size(8);
    s->heads = draw_size(7);
    s->kv_len = draw_size(17);
    s->query_len = decode ? draw_size(3) : draw_size(14);
    s->causal = (int64_t)(draw() % 2);
    if (s->causal > 0 && s->query_len > s->kv_len) {
        s->kv_len = s->query_len;
    }
    if (draw() % 4 != 0) { /* else the usual ones */
        s->kv_lora_rank = draw_size(9);
        s->qk_nope_head_dim = draw_size(8);
        s->qk_rope_head_dim = draw_size(7);
        s->v_head_dim = draw_size(8);
    }
    return true;
}

static bool allowed(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown)
{
    (void)device;
    (void)grown;
    return !(w->shape.causal > 0 && w->shape.query_len > w->shape.kv_len);
}

static void test_properties(void **unused)
{
    (void)unused;
    check_properties(&(struct properties){.draw = draw_latent, .allowed = allowed});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),         cmocka_unit_test(test_decode_tiles),
        cmocka_unit_test(test_decode_waves),   cmocka_unit_test(test_decode_queries),
        cmocka_unit_test(test_decode_latency), cmocka_unit_test(test_decode_formats),
        cmocka_unit_test(test_prefill),        cmocka_unit_test(test_prefill_latency),
        cmocka_unit_test(test_absent),         cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
