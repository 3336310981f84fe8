// SPDX-License-Identifier: MIT
/* The expected time of attention: each term alone on a device that makes mental arithmetic, then
 * what holds for all shapes. */
#include "properties.h"

#include "predict/kernel.h"
#include "predict/pass.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_DECODE_PARAMETER(id, key, least, most, start, neutral, meaning) D_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_PREFILL_PARAMETER(id, key, least, most, start, neutral, meaning) F_##id,
#include "predict/kernel_parameters.h"
};

/* 100 GB/s, 1 TFLOP/s at fp16, 10 SMs at 1 GHz; a clock is a nanosecond. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"      \
    " \"l2_bytes\": 1600000, \"peak_tflops\": {\"fp16\": 1},"                                      \
    " \"vector_tflops\": {\"fp32\": 0.1}}"

struct fixture {
    struct roof_hardware *device;
    struct roof_kernel_fit fit[2];
    double *decode;
    double *prefill;
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
};

/* No term shows, but for the memory's and the matrix unit's own. */
static void begin(struct fixture *f)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){
        .device = parse_device(DEVICE),
        .workload = {.formats = ROOF_FORMATS_AUTO, .op = ROOF_OPERATOR_FLASH_ATTENTION}};
    for (int i = 0; i < 2; i++) {
        f->fit[i] = empty_fit(i == 0 ? ROOF_KERNEL_DECODE : ROOF_KERNEL_PREFILL, ROOF_STACK_VLLM);
    }
    f->decode = f->fit[0].parameter;
    f->prefill = f->fit[1].parameter;
    f->calibration =
        (struct roof_calibration){.id = "ten", .attributions = none, .fit = f->fit, .count = 2};
    f->device->calibration = &f->calibration;
    f->workload.formats.precision = ROOF_PRECISION_FP16;
    f->decode[D_DRAM] = f->decode[D_PEAK] = f->decode[D_L2_CAPACITY] = f->decode[D_CHUNK] = 1;
    f->decode[D_L2_RATE] = f->decode[D_STREAM] = 1e12;
    f->prefill[F_PEAK] = f->prefill[F_L2_CAPACITY] = 1;
}

static void check(struct fixture *f, double us, enum roof_kernel_limit bound)
{
    struct roof_error error = {0};
    if (roof_predict(&f->prediction, &f->workload, f->device, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    assert_near(f->prediction.expected_s * 1e6, us, 1e-9);
    assert_int_equal(f->prediction.part[0].expected.limit, bound);
}

/* With a window, or if each head has its own KV head, a query head may have a tile of its own. */
static void test_decode_alone(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape = (struct roof_shape){
        .batch = 2, .heads = 8, .kv_heads = 4, .head_dim = 50, .kv_len = 1000, .window = 100};
    check(&f, 1.632, ROOF_KERNEL_LIMIT_MEMORY);
    f.decode[D_ALONE] = 10; /* 2 x 8 x 10 rows x 4 x 50 x 100 FLOP */
    check(&f, 3.2, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.batch = 1; /* one of 8 tiles, on one of 10 SMs */
    check(&f, 2, ROOF_KERNEL_LIMIT_LATENCY);
    f.decode[D_STREAM] = 0.5; /* 20 kB of one KV head at 5 bytes per ns */
    check(&f, 4, ROOF_KERNEL_LIMIT_LATENCY);
    f.decode[D_STREAM] = 1e12;
    f.decode[D_BLOCK] = 1000; /* 8 blocks on 10 SMs */
    check(&f, 2.8, ROOF_KERNEL_LIMIT_LATENCY);
    f.decode[D_BLOCK] = 0;
    f.workload.shape.window = 0; /* the heads of a KV head share a tile */
    check(&f, 8.016, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.kv_heads = 8; /* of a single head each */
    check(&f, 20, ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

static void test_decode(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape =
        (struct roof_shape){.batch = 2, .heads = 8, .kv_heads = 4, .head_dim = 50, .kv_len = 1000};
    /* 2 x 2 sequences x 4 heads x 50 x 1000 values of 2 bytes, Q and the result 3200 bytes. */
    check(&f, 16.032, ROOF_KERNEL_LIMIT_MEMORY);
    assert_true(f.prediction.expected_s >= f.prediction.time_s);
    f.decode[D_LAUNCH] = 3000;
    check(&f, 19.032, ROOF_KERNEL_LIMIT_MEMORY);
    assert_near(f.prediction.part[0].expected.launch_s, 3e-6, 1e-12);
    assert_near(f.prediction.expected_high_s, 2 * 19.032e-6, 1e-12);
    f.decode[D_LAUNCH] = 0;
    f.decode[D_DRAM] = 0.5;
    check(&f, 32.064, ROOF_KERNEL_LIMIT_MEMORY);
    f.decode[D_DRAM] = 1;
    f.decode[D_OVERLAP] = 0.5; /* of 4 x 2 x 8 x 50 x 1000 FLOP: 3.2 us */
    check(&f, 17.632, ROOF_KERNEL_LIMIT_MEMORY);
    f.decode[D_OVERLAP] = 0;
    f.decode[D_PEAK] = 0.1;
    check(&f, 32, ROOF_KERNEL_LIMIT_COMPUTE);
    f.decode[D_PAD_HEADS] = 6; /* 8 + 4 x 6 rows for 8 */
    check(&f, 128, ROOF_KERNEL_LIMIT_COMPUTE);
    f.decode[D_PAD_HEADS] = 0;
    f.decode[D_PAD_TOKENS] = 500;
    check(&f, 48, ROOF_KERNEL_LIMIT_COMPUTE);
    f.decode[D_PAD_TOKENS] = 0;
    f.decode[D_PEAK] = 1;
    f.decode[D_DOUBLING] = 5000; /* log2(1 + 3000 / 1000) = 2 of them */
    f.decode[D_CHUNK] = 1000.0 / 3;
    check(&f, 26.032, ROOF_KERNEL_LIMIT_MEMORY);
    f.decode[D_DOUBLING] = 0;
    f.decode[D_BLOCK] = 1000; /* 8 blocks on 10 SMs */
    check(&f, 16.832, ROOF_KERNEL_LIMIT_MEMORY);
    f.decode[D_BLOCK] = 50000;
    check(&f, 56.032, ROOF_KERNEL_LIMIT_LATENCY);
    f.decode[D_BLOCK] = 0;
    f.decode[D_STREAM] = 1; /* 200 kB of one KV head at 10 bytes per ns */
    check(&f, 20, ROOF_KERNEL_LIMIT_LATENCY);
    f.decode[D_STREAM] = 1e12;
    f.workload.shape.window = 100;
    check(&f, 1.632, ROOF_KERNEL_LIMIT_MEMORY);
    f.decode[D_WINDOW] = 0.5; /* 550 tokens are read */
    check(&f, 8.832, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.window = 0;
    f.workload.cache = ROOF_CACHE_WARM; /* as large as the L2: half of it hits */
    f.decode[D_L2_RATE] = 2;
    check(&f, 8 + 4.016, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* Does the same for an operator of a step that has prompts, by itself and with other stacks. */
static void check_beside(struct fixture *f, double us, enum roof_kernel_limit limit)
{
    struct roof_error error = {0};
    struct roof_node node = {.workload = f->workload, .part = {.beside_prompts = true}};
    const struct roof_stacks stacks = {
        .count = 2, .stack = {ROOF_STACK_BEST, (enum roof_stack)f->workload.stack}};
    struct roof_expected_sum sum[ROOF_STACK_COUNT];
    struct roof_prediction bound;
    bool done = roof_workload_resolve(&node.workload, &error) == ROOF_OK;
    done = done && roof_predict_node(&f->prediction, &node, f->device, &error) == ROOF_OK;
    done = done && roof_predict_node_in(&bound, sum, &node, f->device, &stacks, &error) == ROOF_OK;
    if (!done) {
        fail_msg("%s", error.message);
    }
    assert_near(f->prediction.expected_s * 1e6, us, 1e-9);
    assert_near(f->prediction.part[0].expected.time_s * 1e6, us, 1e-9);
    assert_int_equal(f->prediction.part[0].expected.limit, limit);
    assert_int_equal(f->prediction.expected_bottleneck, roof_kernel_limit_bottleneck(limit));
    assert_near(sum[1].time_s * 1e6, us, 1e-9);
    assert_near(sum[1].high_s, f->prediction.expected_high_s, 1e-15);
    assert_int_equal(sum[1].bottleneck, f->prediction.expected_bottleneck);
}

/* Returns how much longer the operator of a step is than the usual one. */
static double wait_us(struct fixture *f, bool beside_prompts, int64_t longest)
{
    struct roof_node node = {.workload = f->workload, .part = {.beside_prompts = beside_prompts}};
    const struct roof_stacks stacks = {.count = 1, .stack = {ROOF_STACK_VLLM}};
    struct roof_expected_sum sum[ROOF_STACK_COUNT];
    struct roof_prediction bound;
    struct roof_prediction out[2];
    assert_int_equal(roof_workload_resolve(&node.workload, NULL), ROOF_OK);
    for (int i = 0; i < 2; i++) {
        node.part.longest = i == 0 ? 0 : longest;
        assert_int_equal(roof_predict_node(&out[i], &node, f->device, NULL), ROOF_OK);
    }
    assert_int_equal(roof_predict_node_in(&bound, sum, &node, f->device, &stacks, NULL), ROOF_OK);
    if (node.workload.stack == ROOF_STACK_VLLM) {
        assert_near(sum[0].time_s, out[1].expected_s, 1e-15);
    }
    assert_true(out[0].time_s == out[1].time_s);
    return (out[1].expected_s - out[0].expected_s) * 1e6;
}

/* FlashAttention 2 waits for the longest context, here for 550 tokens. Beside prompts each takes 64
 * rows x 4 x 50 FLOP on one of ten SMs, 128 ns; else its key and value, 200 bytes at 55 GB/s. */
static void test_longest_context(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape =
        (struct roof_shape){.batch = 4, .heads = 8, .kv_heads = 4, .head_dim = 50, .kv_len = 1000};
    f.workload.stack = ROOF_STACK_VLLM;
    f.device->architecture = "Ampere (SM80)";
    assert_near(wait_us(&f, true, 1550), 70.4, 1e-9);
    assert_near(wait_us(&f, false, 1550), 2, 1e-9);
    assert_near(wait_us(&f, false, 1000), 0, 1e-9);
    f.prefill[F_EXP] = 1; /* ns of a score on an SM, beside the 2 ns of its product */
    assert_near(wait_us(&f, true, 1550), 105.6, 1e-9);
    f.prefill[F_EXP] = 0;
    f.workload.step_scale = 2;
    assert_near(wait_us(&f, true, 1550), 140.8, 1e-9);
    assert_near(wait_us(&f, false, 1550), 4, 1e-9);
    f.workload.step_scale = 1;
    f.workload.shape.window = 1200;
    assert_near(wait_us(&f, true, 1550), 25.6, 1e-9);
    assert_near(wait_us(&f, false, 1550), 8.0 / 11, 1e-9);
    f.workload.shape.window = 0;
    f.workload.shape.batch = 3; /* 12 blocks: less than 0.8 of two for each SM, so caches are cut */
    assert_near(wait_us(&f, true, 1550), 70.4, 1e-9);
    assert_near(wait_us(&f, false, 1550), 0, 1e-9);
    f.decode[D_ALONE] = 10;
    f.workload.shape.window = 1000000; /* each head has a tile of 10 rows: 20 ns */
    assert_near(wait_us(&f, false, 1550), 11, 1e-9);
    f.decode[D_ALONE] = 1.5; /* 3 ns */
    assert_near(wait_us(&f, false, 1550), 2, 1e-9);
    f.decode[D_ALONE] = 0;
    f.workload.shape.window = 0;
    f.workload.shape.batch = 4;
    static const char *const others[] = {"Hopper", "Blackwell (SM100)"};
    for (size_t i = 0; i < COUNT(others); i++) {
        f.device->architecture = others[i];
        assert_near(wait_us(&f, true, 1550), 0, 1e-9);
        assert_near(wait_us(&f, false, 1550), 0, 1e-9);
    }
    f.device->architecture = "Blackwell (SM120)";
    assert_near(wait_us(&f, false, 1550), 2, 1e-9);
    f.workload.stack = ROOF_STACK_BEST;
    assert_near(wait_us(&f, false, 1550), 0, 1e-9);
    roof_hardware_free(f.device);
}

/* vLLM's decode attention beside prompts, on devices with FlashAttention 2: a tile of 64 rows for
 * each head, and the keys and values once for each of those that do not share them. */
static void test_decode_beside_prompts(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape =
        (struct roof_shape){.batch = 2, .heads = 8, .kv_heads = 4, .head_dim = 50, .kv_len = 1000};
    f.device->architecture = "Ampere (SM80)";
    check(&f, 16.032, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.stack = ROOF_STACK_VLLM;
    /* 2 x 8 tiles of 64 x 1000 scores at 4 x 50 FLOP; five SMs for each sequence share reads */
    check_beside(&f, 204.8, ROOF_KERNEL_LIMIT_COMPUTE);
    f.decode[D_OVERLAP] = 0.5; /* of 16 us */
    check_beside(&f, 212.8, ROOF_KERNEL_LIMIT_COMPUTE);
    f.decode[D_OVERLAP] = 0;
    f.prefill[F_BLOCK] = 1000; /* 16 blocks on 10 SMs */
    check_beside(&f, 206.4, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_BLOCK] = 0;
    f.prefill[F_WAVE] = 0.5; /* half a tile more on each of 10 SMs */
    check_beside(&f, 268.8, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_WAVE] = 0;
    f.workload.shape.window = 100;
    f.decode[D_WINDOW] = 0.5; /* 550 tokens */
    check_beside(&f, 112.64, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.window = 0;
    /* A KV head of all sequences is as large as the L2, so half is found there. Of 20 sequences no
     * two heads run at once; of 8, the heads of 1.25. */
    assert_int_equal(roof_hardware_set(f.device, "peak_tflops.fp16=1000000", NULL), ROOF_OK);
    f.workload.shape.batch = 20;
    f.workload.shape.kv_len = 400;
    check_beside(&f, 96, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.batch = 8;
    f.workload.shape.kv_len = 1000;
    check_beside(&f, 83.2, ROOF_KERNEL_LIMIT_MEMORY);
    assert_int_equal(roof_hardware_set(f.device, "peak_tflops.fp16=1", NULL), ROOF_OK);
    /* Other devices, stacks and formats have a kernel for each kind of sequence. */
    static const char *const others[] = {"Hopper", "Blackwell (SM100)", "CDNA3 (gfx942)", ""};
    for (size_t i = 0; i < COUNT(others); i++) {
        f.device->architecture = others[i];
        check_beside(&f, 64.128, ROOF_KERNEL_LIMIT_MEMORY);
    }
    static const char *const same[] = {"Ada Lovelace (SM89)", "Blackwell (SM120)",
                                       "Blackwell (SM121)"};
    for (size_t i = 0; i < COUNT(same); i++) {
        f.device->architecture = same[i];
        check_beside(&f, 819.2, ROOF_KERNEL_LIMIT_COMPUTE);
    }
    f.workload.stack = ROOF_STACK_BEST;
    check_beside(&f, 64.128, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.stack = ROOF_STACK_VLLM;
    f.workload.step_scale = 2;
    check_beside(&f, 1638.4, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.step_scale = 1;
    f.decode[D_LAUNCH] = 3000;
    check_beside(&f, 822.2, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_near(f.prediction.expected_high_s, 2 * 822.2e-6, 1e-12);
    f.workload.no_launch_overhead = 1;
    check_beside(&f, 819.2, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.no_launch_overhead = 0;
    f.decode[D_LAUNCH] = 0;
    f.fit[0].stack = f.fit[1].stack = ROOF_STACK_SGLANG;
    check_beside(&f, 64.128, ROOF_KERNEL_LIMIT_MEMORY);
    f.fit[0].stack = ROOF_STACK_VLLM; /* without a kernel for prompts */
    check_beside(&f, 64.128, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

static void test_prefill(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape = (struct roof_shape){
        .batch = 1, .heads = 10, .kv_heads = 5, .head_dim = 50, .query_len = 256, .kv_len = 256};
    /* 65,536 scores of 10 heads at 4 x 50 FLOP */
    check(&f, 131.072, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_LAUNCH] = 3000;
    check(&f, 134.072, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_LAUNCH] = 0;
    f.prefill[F_PASSES] = 2; /* Q and the result 512 kB, K and V 256 kB in and out */
    check(&f, 131.072 + 20.48, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_PASSES] = 20;
    check(&f, 131.072 + 204.8, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_WARM;
    f.prefill[F_L2_CAPACITY] = 0.64; /* 1,024,000 bytes: half hits, a quarter of it is paid */
    check(&f, 131.072 + 204.8 * (1 - 0.375), ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.cache = ROOF_CACHE_COLD;
    f.prefill[F_PASSES] = 0;
    f.prefill[F_PEAK] = 0.5;
    check(&f, 262.144, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_PEAK] = 1;
    f.prefill[F_TILE] = 64; /* 320 scores per query */
    check(&f, 163.84, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_TILE] = 0;
    f.prefill[F_EXP] = 2; /* clocks of an SM: as long as 200 FLOP of ten */
    check(&f, 262.144, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_PEAK] = 4; /* products at a quarter of the rate take 50 of 250 FLOP */
    check(&f, 131.072 * 1.25, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_EXP] = 1; /* 150: no less than the products take at the peak */
    check(&f, 131.072, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_PEAK] = 1;
    f.prefill[F_EXP] = 0;
    f.prefill[F_WIDE] = 0.25; /* of heads above 128 */
    check(&f, 131.072, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_NARROW] = 0.5;
    check(&f, 262.144, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_NARROW] = 0.25; /* but no more than heads of 128 take */
    check(&f, 131.072 * 128 / 50, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_NARROW] = 1;
    f.workload.shape.head_dim = 200;
    check(&f, 4 * 524.288, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_WIDE] = 1.25;
    check(&f, 524.288, ROOF_KERNEL_LIMIT_COMPUTE); /* the bound */
    f.prefill[F_PEAK] = 0.25;
    check(&f, 4 / 1.25 * 524.288, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_WIDE] = 2; /* no less than heads of 128 take */
    check(&f, 4 * 131.072 * 128 / 50, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_PEAK] = f.prefill[F_WIDE] = 1;
    f.workload.shape.head_dim = 50;
    f.prefill[F_BLOCK] = 1000; /* 10 x (256 + 127) / 128 blocks on 10 SMs */
    check(&f, 131.072 + 383 / 128.0, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_BLOCK] = 0;
    f.workload.shape.causal = 1; /* 32,896 scores */
    check(&f, 65.792, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.window = 64; /* 64 x 65 / 2 + 192 x 64 = 14,368 scores */
    check(&f, 28.736, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_WINDOW] = 0.5; /* and half of the other 18,528 */
    check(&f, 47.264, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.window = 0;
    f.workload.shape.causal = 0;
    f.workload.shape.query_len = f.workload.shape.kv_len = 127;
    check(&f, 32.258, ROOF_KERNEL_LIMIT_COMPUTE);
    f.prefill[F_WAVE] = 1; /* half of 128 x 127 scores on one SM, 2 ns each */
    check(&f, 32.258 + 16.256, ROOF_KERNEL_LIMIT_COMPUTE);
    f.decode[D_LAUNCH] = 1e6;                           /* one query alone takes longer */
    check(&f, 1000 + 32.258, ROOF_KERNEL_LIMIT_LAUNCH); /* and no less than the bound of all */
    f.calibration.fit = &f.fit[1];
    f.calibration.count = 1;
    check(&f, 32.258 + 16.256, ROOF_KERNEL_LIMIT_COMPUTE);
    roof_hardware_free(f.device);
}

/* The band: that of the fit, or a wider one where the fit only stands in. */
static void check_band(const struct fixture *f, const struct roof_kernel_fit *fit, bool near)
{
    const struct roof_expected *const e = &f->prediction.part[0].expected;
    const double wider = e->high_s / (e->time_s * fit->high); /* test_bands has the widths */
    assert_true(near ? wider > 1.14 : wider < 1 + 1e-9);
    assert_ptr_equal(e->fit, fit);
    assert_true(e->near == near);
    assert_near(e->low_s, fmax(e->time_s * fit->low / wider, f->prediction.time_s), 1e-12);
    assert_near(e->high_s, e->time_s * fit->high * wider, 1e-12);
}

static void check_absent(struct fixture *f)
{
    assert_int_equal(roof_predict(&f->prediction, &f->workload, f->device, NULL), ROOF_OK);
    assert_true(isnan(f->prediction.expected_s));
    assert_true(isnan(f->prediction.expected_high_s));
}

/* Formats of which nothing is known, those that stand in for others, and stacks. */
static void test_which(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape =
        (struct roof_shape){.batch = 2, .heads = 8, .kv_heads = 4, .head_dim = 50, .kv_len = 1000};
    f.workload.formats.kv = ROOF_PRECISION_INT8; /* by 16-bit kernels, for want of others */
    check(&f, 8.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[0], true);
    f.fit[0].numerics = ROOF_NUMERICS_W8A16;
    check(&f, 8.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[0], false);
    f.workload.formats.kv = ROOF_PRECISION_INT4; /* half of the bytes, by the same kernel */
    check(&f, 4.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[0], true);
    f.workload.formats.kv = ROOF_PRECISION_FP8_E4M3; /* 16-bit queries go before 8-bit ones */
    f.fit[0].numerics = ROOF_NUMERICS_FP8;
    check(&f, 8.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[0], true);
    f.fit[1] = f.fit[0];
    f.fit[1].numerics = ROOF_NUMERICS_W8A16;
    f.fit[1].parameter[D_LAUNCH] = 1000;
    check(&f, 9.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[1], false);
    f.workload.op = ROOF_OPERATOR_ATTENTION; /* no batched product */
    check_absent(&f);
    f.workload.op = ROOF_OPERATOR_FLASH_ATTENTION;
    f.workload.formats.kv = ROOF_PRECISION_AUTO;
    f.fit[0].numerics = f.fit[1].numerics = ROOF_NUMERICS_16BIT;
    f.fit[1].stack = ROOF_STACK_SGLANG;
    check(&f, 16.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[0], false);
    f.workload.stack = ROOF_STACK_SGLANG;
    check(&f, 17.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[1], false);
    f.workload.stack = ROOF_STACK_TRTLLM; /* the faster of the others */
    check(&f, 16.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[0], true);
    f.fit[1].stack = ROOF_STACK_TRTLLM;
    check(&f, 17.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[1], false);
    f.fit[1].lent = "other";
    check(&f, 17.032, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[1], true);
    /* 8-bit queries over a 16-bit cache are widened. */
    f.fit[1].lent = NULL;
    f.workload.formats.kv = ROOF_PRECISION_FP16;
    f.workload.formats.activations = ROOF_PRECISION_FP8_E4M3;
    f.workload.formats.out = ROOF_PRECISION_FP16;
    check(&f, 17.024, ROOF_KERNEL_LIMIT_MEMORY);
    check_band(&f, &f.fit[1], false);
    roof_hardware_free(f.device);
}

/* Several queries, of which the decode kernel's fit is that of another stack. */
static void test_prefill_near(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape = (struct roof_shape){.batch = 1,
                                           .heads = 10,
                                           .kv_heads = 5,
                                           .head_dim = 50,
                                           .query_len = 256,
                                           .kv_len = 256,
                                           .causal = 1};
    f.workload.stack = ROOF_STACK_VLLM;
    f.fit[0].stack = ROOF_STACK_SGLANG;
    check(&f, 65.792, ROOF_KERNEL_LIMIT_COMPUTE); /* it is shorter, and of no matter */
    check_band(&f, &f.fit[1], false);
    f.decode[D_LAUNCH] = 1e6;
    check(&f, 1065.792, ROOF_KERNEL_LIMIT_LAUNCH);
    check_band(&f, &f.fit[0], true);
    f.fit[1].stack = ROOF_STACK_TRTLLM;
    f.decode[D_LAUNCH] = 0;
    check(&f, 65.792, ROOF_KERNEL_LIMIT_COMPUTE);
    check_band(&f, &f.fit[1], true);
    f.calibration.count = 1; /* decode alone is no prefill */
    check_absent(&f);
    roof_hardware_free(f.device);
}

/* Without a mask, several queries have a kernel of their own, for which that of prompts stands in.
 */
static void test_encoder(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    f.workload.shape = (struct roof_shape){
        .batch = 1, .heads = 10, .kv_heads = 10, .head_dim = 50, .query_len = 256, .kv_len = 256};
    check(&f, 131.072, ROOF_KERNEL_LIMIT_COMPUTE);
    check_band(&f, &f.fit[1], true);
    f.fit[1].kernel = ROOF_KERNEL_ENCODER;
    check(&f, 131.072, ROOF_KERNEL_LIMIT_COMPUTE);
    check_band(&f, &f.fit[1], false);
    assert_true(f.prediction.part[0].expected.tiling.l2_hit == 0);
    f.workload.cache = ROOF_CACHE_WARM; /* all of it stays in the L2 */
    check(&f, 131.072, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_true(f.prediction.part[0].expected.tiling.l2_hit > 0);
    f.workload.cache = ROOF_CACHE_COLD;
    f.workload.formats.kv = ROOF_PRECISION_FP16;
    f.workload.formats.activations = ROOF_PRECISION_FP32; /* the fit is for 16 bits */
    assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
    check_band(&f, &f.fit[1], true);
    f.workload.formats.activations = ROOF_PRECISION_FP16;
    f.decode[D_LAUNCH] = 1e6; /* one query alone takes longer */
    check(&f, 1131.072, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.shape.causal = 1;
    check_absent(&f);
    f.workload.shape.causal = 0;
    f.workload.shape.window = 64;
    check_absent(&f);
    f.workload.shape.window = 0;
    f.workload.formats.kv = ROOF_PRECISION_FP8_E4M3;
    check_absent(&f);
    roof_hardware_free(f.device);
}

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, neutral, meaning) P_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_VECTOR_PARAMETER(id, key, least, most, start, neutral, meaning) V_##id,
#include "predict/kernel_parameters.h"
};

/* Scores, softmax and values: two batched products and the rows between them. */
static void test_unfused(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f);
    double *const bmm = f.decode;
    double *const norm = f.prefill;
    for (int i = 0; i < ROOF_FIT_PARAMETERS_MAX; i++) {
        bmm[i] = norm[i] = 0;
    }
    f.fit[0].kernel = ROOF_KERNEL_BMM;
    bmm[P_DRAM] = bmm[P_PEAK] = bmm[P_L2_CAPACITY] = bmm[P_WAVE] = 1;
    bmm[P_FEED] = bmm[P_L2_RATE] = bmm[P_STREAM] = bmm[P_REDUCE] = bmm[P_EPILOGUE] = 1e12;
    bmm[P_SPLIT] = 1e15;
    bmm[P_LAUNCH] = 2000;
    f.fit[1].kernel = ROOF_KERNEL_ACTIVATION;
    f.fit[1].stack = ROOF_STACK_BEST;
    norm[V_DRAM] = 0.5;
    norm[V_L2_CAPACITY] = norm[V_L2_RATE] = 1;
    norm[V_LAUNCH] = 1000;
    /* 20 products of 64 x 256 x 64 and of 64 x 64 x 256, a tile each, in two waves on 10 SMs; and
     * 327,680 scores of 2 bytes, read and written at half of the bandwidth. */
    f.workload.op = ROOF_OPERATOR_ATTENTION;
    f.workload.shape = (struct roof_shape){
        .batch = 10, .heads = 4, .kv_heads = 2, .head_dim = 64, .query_len = 32, .kv_len = 256};
    check(&f, 2 + 41.94304 + 1 + 26.2144 + 2 + 41.94304, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_int_equal(f.prediction.part_count, 3);
    const struct roof_part *const part = f.prediction.part;
    assert_ptr_equal(part[0].expected.fit, &f.fit[0]);
    assert_ptr_equal(part[1].expected.fit, &f.fit[1]);
    assert_ptr_equal(part[2].expected.fit, &f.fit[0]);
    assert_near(f.prediction.expected_high_s,
                part[0].expected.high_s + part[1].expected.high_s + part[2].expected.high_s, 1e-12);
    assert_int_equal(f.prediction.expected_bottleneck, ROOF_BOTTLENECK_COMPUTE);
    /* The cache in 8 bits is another product; the rows between are the same. */
    f.workload.formats.kv = ROOF_PRECISION_FP8_E4M3;
    f.fit[0].numerics = ROOF_NUMERICS_FP4; /* which stands in for nothing */
    check_absent(&f);
    assert_true(isnan(part[0].expected.time_s) && isnan(part[2].expected.time_s));
    assert_near(part[1].expected.time_s, 27.2144e-6, 1e-9);
    f.fit[0].numerics = ROOF_NUMERICS_FP8;
    check(&f, 2 + 41.94304 + 1 + 26.2144 + 2 + 41.94304, ROOF_KERNEL_LIMIT_COMPUTE);
    assert_true(part[0].expected.near && part[1].expected.near && part[2].expected.near);
    assert_true(f.prediction.expected_near);
    f.calibration.count = 1; /* without one of them it is not known */
    check_absent(&f);
    roof_hardware_free(f.device);
}

/* --- what holds for all -------------------------------------------------------------------- */

static bool draw_attention(struct roof_workload *w, const struct roof_calibration *c)
{
    const struct roof_kernel_fit *const fit = &c->fit[draw() % c->count];
    if (fit->kernel != ROOF_KERNEL_DECODE && fit->kernel != ROOF_KERNEL_PREFILL) {
        return false;
    }
    w->op = ROOF_OPERATOR_FLASH_ATTENTION;
    /* The stack of the fit, the best, or any. */
    const uint64_t other = draw() % 8;
    w->stack = other == 0   ? (int64_t)(draw() % ROOF_STACK_COUNT)
               : other == 1 ? ROOF_STACK_BEST
                            : fit->stack;
    const bool narrow = fit->numerics == ROOF_NUMERICS_FP8;
    const bool wide = fit->numerics == ROOF_NUMERICS_16BIT;
    w->formats.activations = narrow ? ROOF_PRECISION_FP8_E4M3 : ROOF_PRECISION_BF16;
    w->formats.kv = wide ? ROOF_PRECISION_BF16 : ROOF_PRECISION_FP8_E4M3;
    struct roof_shape *const s = &w->shape;
    s->batch = draw_size(8);
    s->kv_heads = draw_size(5);
    s->heads = s->kv_heads * draw_size(4);
    s->head_dim = draw_size(8);
    s->kv_len = draw_size(17);
    s->query_len = fit->kernel == ROOF_KERNEL_DECODE ? 1 : 1 + draw_size(14);
    s->causal = (int64_t)(draw() % 2);
    if (s->causal > 0 && s->query_len > s->kv_len) {
        s->kv_len = s->query_len;
    }
    s->window = draw() % 3 == 0 ? draw_size(12) : 0;
    return true;
}

static bool allowed(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown)
{
    const struct roof_shape *const s = &w->shape;
    if (s->heads % s->kv_heads != 0 || (s->causal > 0 && s->query_len > s->kv_len)) {
        return false;
    }
    /* Heads with a KV head each have other kernels than heads that share one. */
    if ((grown == ROOF_DIM_HEADS && s->heads == 2 * s->kv_heads) ||
        (grown == ROOF_DIM_KV_HEADS && s->heads == s->kv_heads)) {
        return false;
    }
    /* With these formats decode may have been measured, and prefill not. */
    struct roof_prediction p;
    return grown != ROOF_DIM_QUERY_LEN || roof_predict(&p, w, device, NULL) != ROOF_OK ||
           !isnan(p.expected_s);
}

static void test_properties(void **unused)
{
    (void)unused;
    static const char *const devices[] = {"a100-sxm-80gb", "h100-sxm", "hgx-b200", "l40s",
                                          "dgx-spark",     "h200-sxm", NULL};
    check_properties(
        &(struct properties){.devices = devices, .draw = draw_attention, .allowed = allowed});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_decode_alone),
        cmocka_unit_test(test_decode_beside_prompts),
        cmocka_unit_test(test_longest_context),
        cmocka_unit_test(test_prefill),
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_prefill_near),
        cmocka_unit_test(test_unfused),
        cmocka_unit_test(test_encoder),
        cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
