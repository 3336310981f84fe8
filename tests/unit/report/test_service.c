// SPDX-License-Identifier: MIT
/*
 * These tests check the expected times of whole models: on a device where only launches take time,
 * so that all figures are sums in the head; with a kernel that has no parameters; and by laws that
 * hold for built-in models on the devices with parameters of their own.
 */
#include "configs.h"
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id
#define KERNEL(id) ROOF_KERNEL_##id

/* So fast that only the launches of kernels take time: 4 devices per node, a clock is 1 ns. */
#define FAST                                                                                       \
    "{\"id\": \"fast\", \"bandwidth_gb_s\": 1e7, \"sm_count\": 10, \"boost_clock_mhz\": 1000, "    \
    "\"l2_bytes\": 1000000, \"memory_capacity_bytes\": 1e9, \"peak_tflops\": {\"fp16\": 1e9, "     \
    "\"fp8\": 1e9}, \"vector_tflops\": {\"fp32\": 1e9}, \"devices_per_node\": 4, "                 \
    "\"link_gb_s\": 1e7, \"network_gb_s\": 1e7}"
/* The rest takes so little, as a fraction. */
#define LITTLE 1e-5

/*
 * Microseconds of a launch. A layer of DENSE has 4 products, 2 norms, 2 sums, an activation, rope
 * and attention; its append to the cache is launched with attention.
 */
static const struct {
    enum roof_kernel kernel;
    double launch_us;
} launches[] = {
    {KERNEL(GEMM), 1},        {KERNEL(BMM), 11},        {KERNEL(DECODE), 10},
    {KERNEL(PREFILL), 100},   {KERNEL(MLA_DECODE), 30}, {KERNEL(MLA_PREFILL), 300},
    {KERNEL(MOE), 50},        {KERNEL(NORM), 2},        {KERNEL(ADD), 3},
    {KERNEL(ACTIVATION), 5},  {KERNEL(ROPE), 7},        {KERNEL(ALL_REDUCE), 20},
    {KERNEL(ALL_GATHER), 40}, {KERNEL(ALL_TO_ALL), 80},
};
#define OUTSIDE (3 + 2 + 1)                                 /* embedding, last norm, head */
#define DECODE_LAYER (4 * 1 + 2 * 2 + 2 * 3 + 5 + 7 + 10)   /* 36 */
#define PREFILL_LAYER (DECODE_LAYER + 90)                   /* 126 */
#define MIXED_LAYER (DECODE_LAYER + 100)                    /* 136 */
#define MOE_LAYER (3 * 1 + 2 * 2 + 2 * 3 + 5 + 50 + 7 + 10) /* 85 */
#define MLA_BESIDE (3 * 1 + 4 * 2 + 2 * 3 + 5 + 7 + 2)      /* 31: all but the attention */
#define MLA_DECODE_LAYER (MLA_BESIDE + 2 * 11 + 30)         /* 83 */
#define MLA_PREFILL_LAYER (MLA_BESIDE + 1 + 300)            /* 332: K and V are expanded */

static const char *const no_attributions[] = {NULL};

/* A device with parameters for every kernel. */
struct bench {
    struct roof_hardware *device;
    struct roof_kernel_fit fit[24];
    struct roof_calibration calibration;
};

static struct roof_kernel_fit *fit_of(struct bench *b, enum roof_kernel kernel)
{
    for (size_t i = 0; i < b->calibration.count; i++) {
        if (b->fit[i].kernel == kernel) {
            return &b->fit[i];
        }
    }
    fail_msg("no parameters of %s", roof_kernel_name(kernel));
    return NULL;
}

static void put(struct bench *b, enum roof_kernel kernel, const char *key, double value)
{
    put_parameter(fit_of(b, kernel), key, value);
}

static void put_launch(struct bench *b, enum roof_kernel kernel, double us)
{
    put(b, kernel, "launch_clocks", us * 1000);
}

static struct roof_kernel_fit *add_kernel(struct bench *b, enum roof_kernel kernel,
                                          double launch_us)
{
    assert_true(b->calibration.count < COUNT(b->fit));
    struct roof_kernel_fit *const fit = &b->fit[b->calibration.count++];
    *fit = launch_only(kernel, launch_us);
    return fit;
}

static void begin(struct bench *b)
{
    *b = (struct bench){.device = parse_device(FAST)};
    b->calibration =
        (struct roof_calibration){.id = "fast", .attributions = no_attributions, .fit = b->fit};
    b->device->calibration = &b->calibration;
    for (size_t i = 0; i < COUNT(launches); i++) {
        add_kernel(b, launches[i].kernel, launches[i].launch_us);
    }
}

static void end(struct bench *b)
{
    roof_hardware_free(b->device);
}

static struct roof_scenario request(int64_t batch, int64_t prompt, int64_t generate)
{
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, batch, 0);
    s.prompt = prompt;
    s.generate = generate;
    s.static_batch = 1;
    return s;
}

/* --- sums of launches ---------------------------------------------------------------------- */

#define assert_us(got_s, us) assert_near((got_s)*1e6, us, LITTLE)

/* One pass on one device: the step is the sum, with the band of all fits here. */
static void check_pass(const struct roof_model_prediction *i, double us)
{
    assert_us(i->expected_step_s, us);
    assert_us(i->total.expected_s, us);
    if (i->total.expected_near) { /* of some kernels: wider there */
        assert_true(i->total.expected_low_s * 1e6 < 0.5 * us);
        assert_true(i->total.expected_low_s * 1e6 > 0.4 * us);
        assert_true(i->total.expected_high_s * 1e6 > 2 * us);
        assert_true(i->total.expected_high_s * 1e6 < 2.5 * us);
    } else {
        assert_us(i->total.expected_low_s, 0.5 * us);
        assert_us(i->total.expected_high_s, 2 * us);
    }
    assert_int_equal(i->total.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
    assert_true(unknown(i->expected_e2e_s));
}

static void test_decode(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        double us;
        bool split, unfused;
    } cases[] = {
        {DENSE, OUTSIDE + 4 * DECODE_LAYER, false, false},
        {DENSE, OUTSIDE + 4 * (DECODE_LAYER + 3), true, false}, /* Q, K, V; gate, up */
        {DENSE, OUTSIDE + 4 * (DECODE_LAYER - 10 + 11 + 5 + 11), false, true},
        {WINDOWED, OUTSIDE + 4 * DECODE_LAYER, false, false},
        {MOE, OUTSIDE + 4 * MOE_LAYER, false, false},
        {MLA, OUTSIDE + 2 * MLA_DECODE_LAYER, false, false},
    };
    struct bench b;
    begin(&b);
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = parse(cases[c].config);
        for (int64_t batch = 1; batch <= 100; batch += 33) {
            struct roof_scenario s = asked(ROOF_PHASE_DECODE, batch, 50);
            s.split_projections = cases[c].split;
            s.unfused_attention = cases[c].unfused;
            const struct roof_model_prediction *const i = infer(m, s, b.device);
            check_pass(i, cases[c].us);
            assert_true(unknown(i->expected_ttft_s));
            assert_near(i->expected_tpot_s, i->expected_step_s, 0);
            assert_near(i->expected_tokens_per_s, (double)batch / cases[c].us * 1e6, LITTLE);
            assert_near(i->expected_tokens_per_s_per_user, 1 / cases[c].us * 1e6, LITTLE);
        }
        roof_model_free(m);
    }
    end(&b);
}

static void test_prefill(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        double us;
        double chunk_us; /* of ten tokens behind forty */
    } cases[] = {
        {DENSE, OUTSIDE + 4 * PREFILL_LAYER, OUTSIDE + 4 * PREFILL_LAYER},
        {WINDOWED, OUTSIDE + 4 * PREFILL_LAYER, OUTSIDE + 4 * PREFILL_LAYER},
        {MOE, OUTSIDE + 4 * (MOE_LAYER + 90), OUTSIDE + 4 * (MOE_LAYER + 90)},
        /* 455 x 36 + 50 x 32 x 28 = 61,180 is more than 455 x 72 + 10 x 32 x 28 = 41,720. */
        {MLA, OUTSIDE + 2 * MLA_PREFILL_LAYER, OUTSIDE + 2 * MLA_DECODE_LAYER},
    };
    struct bench b;
    begin(&b);
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = parse(cases[c].config);
        struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 3, 50);
        const struct roof_model_prediction *i = infer(m, s, b.device);
        check_pass(i, cases[c].us);
        assert_true(unknown(i->expected_tpot_s));
        assert_near(i->expected_ttft_s, i->expected_step_s, 0);
        assert_near(i->expected_tokens_per_s, 3 * 50 / cases[c].us * 1e6, LITTLE);
        assert_near(i->expected_tokens_per_s_per_user, 50 / cases[c].us * 1e6, LITTLE);
        /* A chunk is not the whole wait for the first token; with the rest cached it is. */
        s.chunk = 10;
        i = infer(m, s, b.device);
        check_pass(i, cases[c].chunk_us);
        assert_true(unknown(i->expected_ttft_s));
        assert_near(i->expected_tokens_per_s, 3 * 10 / cases[c].chunk_us * 1e6, LITTLE);
        s.chunk = 0;
        s.prefix_hit = 0.8;
        i = infer(m, s, b.device);
        assert_us(i->expected_ttft_s, cases[c].chunk_us);
        assert_near(i->expected_tokens_per_s, 3 * 10 / cases[c].chunk_us * 1e6, LITTLE);
        roof_model_free(m);
    }
    end(&b);
}

static void test_mixed(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        double us;
    } cases[] = {
        {DENSE, OUTSIDE + 4 * MIXED_LAYER},
        {MOE, OUTSIDE + 4 * (MOE_LAYER + 100)},
        {MLA, OUTSIDE + 2 * (MLA_DECODE_LAYER + 1 + 300)},
    };
    struct bench b;
    begin(&b);
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = parse(cases[c].config);
        struct roof_scenario s = asked(ROOF_PHASE_MIXED, 5, 50);
        s.chunk = 10;
        s.prefill_batch = 2;
        const struct roof_model_prediction *const i = infer(m, s, b.device);
        check_pass(i, cases[c].us);
        assert_true(unknown(i->expected_ttft_s));
        assert_near(i->expected_tpot_s, i->expected_step_s, 0);
        assert_near(i->expected_tokens_per_s, 5 / cases[c].us * 1e6, LITTLE);
        roof_model_free(m);
    }
    end(&b);
}

/* How kernels run reaches every operator: without launches only the bounds are left, and in a warm
 * cache the bound does not hold. */
static void test_kernel_options(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
    s.common.no_launch_overhead = 1;
    const struct roof_model_prediction *i = infer(m, s, b.device);
    assert_near(i->expected_step_s, i->step_s, 1e-12);
    assert_near(i->total.expected_low_s, i->step_s, 1e-12);
    s.common.cache = ROOF_CACHE_WARM;
    i = infer(m, s, b.device);
    assert_true(i->expected_step_s > 0 && i->expected_step_s < 0.5 * i->step_s);
    /* Two stacks: the one that is asked for, or the faster. */
    s = asked(ROOF_PHASE_DECODE, 2, 50);
    fit_of(&b, KERNEL(GEMM))->stack = ROOF_STACK_VLLM;
    add_kernel(&b, KERNEL(GEMM), 0.5)->stack = ROOF_STACK_SGLANG;
    assert_us(infer(m, s, b.device)->expected_step_s, OUTSIDE + 4 * DECODE_LAYER - 0.5 * 17);
    s.common.stack = ROOF_STACK_VLLM;
    assert_us(infer(m, s, b.device)->expected_step_s, OUTSIDE + 4 * DECODE_LAYER);
    s.common.stack = ROOF_STACK_TRTLLM; /* not measured: the faster of the others, less sure */
    i = infer(m, s, b.device);
    assert_us(i->expected_step_s, OUTSIDE + 4 * DECODE_LAYER - 0.5 * 17);
    assert_us(i->total.expected_high_s,
              2 * (OUTSIDE + 4 * DECODE_LAYER - 17) + 1.25 * 2 * (0.5 * 17));
    assert_us(i->total.expected_low_s,
              0.5 * (OUTSIDE + 4 * DECODE_LAYER - 17) + 0.5 / 1.25 * (0.5 * 17));
    roof_model_free(m);
    end(&b);
}

/* --- several devices ----------------------------------------------------------------------- */

static void nothing_expected(const struct roof_model_prediction *i)
{
    const double all[] = {
        i->expected_step_s,  i->expected_ttft_s,       i->expected_tpot_s,
        i->expected_e2e_s,   i->expected_tokens_per_s, i->expected_tokens_per_s_per_user,
        i->total.expected_s, i->total.expected_low_s,  i->total.expected_high_s};
    for (size_t k = 0; k < COUNT(all); k++) {
        if (!unknown(all[k])) {
            fail_msg("%s: field %zu is %g", i->phase, k, all[k]);
        }
    }
    assert_true(i->step_s > 0);
}

/* Sums over the devices after the embedding, the attention and the MLP; the logits are gathered. */
static void test_tensor_parallel(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    const double bare = OUTSIDE + 4 * DECODE_LAYER + 40;
    for (s.tp = 2; s.tp <= 4; s.tp *= 2) {
        check_pass(infer(m, s, b.device), bare + 9 * 20);
    }
    /* A second way that is faster, or not. */
    add_kernel(&b, KERNEL(ONE_SHOT), 6);
    s.tp = 2;
    check_pass(infer(m, s, b.device), bare + 9 * 6);
    assert_near(infer(m, s, b.device)->expected_tokens_per_s, 3 / (bare + 9 * 6) * 1e6, LITTLE);
    put_launch(&b, KERNEL(ONE_SHOT), 25);
    check_pass(infer(m, s, b.device), bare + 9 * 20);
    /* Between two nodes in rings only: nine all-reduces with two hops, one gather with one. */
    s.tp = 8;
    assert_us(infer(m, s, b.device)->expected_step_s, bare + 9 * 20 + 9 * 2 * 5 + 5);
    assert_true(infer(m, s, b.device)->expected_near > 0);
    roof_model_free(m);
    end(&b);
}

static void test_expert_parallel(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(MOE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 4, 50);
    s.common.shape.ep = 2;
    check_pass(infer(m, s, b.device), OUTSIDE + 4 * (MOE_LAYER + 2 * 80));
    s.tp = 2;
    check_pass(infer(m, s, b.device), OUTSIDE + 4 * (MOE_LAYER + 2 * 80) + 9 * 20 + 40);
    s.common.shape.ep = 4; /* two nodes: a hop each */
    const double nodes = OUTSIDE + 4 * (MOE_LAYER + 2 * 85) + 9 * 20 + 40;
    assert_us(infer(m, s, b.device)->expected_step_s, nodes);
    roof_model_free(m);
    end(&b);
}

/*
 * Stages: the first has the embedding, all but the last send, the last has the norm and the head.
 * Decode takes the longer of all stages and the slowest for every part, prefill all stages and the
 * slowest for every further part.
 */
static void test_pipeline(void **state)
{
    (void)state;
    static const struct {
        enum roof_phase phase;
        int64_t pp, batch, prefill_batch;
        double path, step; /* us */
    } cases[] = {
        /* 3 + 2 x 36 + 80 = 155 and 2 x 36 + 3 = 75 */
        {ROOF_PHASE_DECODE, 2, 1, 0, 230, 230},
        {ROOF_PHASE_DECODE, 2, 2, 0, 230, 2 * 155},
        {ROOF_PHASE_DECODE, 2, 9, 0, 230, 2 * 155},
        /* 155, 36 + 80 and 36 + 3 */
        {ROOF_PHASE_DECODE, 3, 1, 0, 310, 310},
        {ROOF_PHASE_DECODE, 3, 2, 0, 310, 310},
        {ROOF_PHASE_DECODE, 3, 3, 0, 310, 3 * 155},
        /* 119, 116, 116, 39 */
        {ROOF_PHASE_DECODE, 4, 3, 0, 390, 390},
        {ROOF_PHASE_DECODE, 4, 4, 0, 390, 4 * 119},
        /* 3 + 2 x 126 + 80 = 335 and 2 x 126 + 3 = 255 */
        {ROOF_PHASE_PREFILL, 2, 1, 0, 590, 590},
        {ROOF_PHASE_PREFILL, 2, 2, 0, 590, 590 + 335},
        /* 209, 206, 206, 129 */
        {ROOF_PHASE_PREFILL, 4, 3, 0, 750, 750 + 2 * 209},
        {ROOF_PHASE_PREFILL, 4, 9, 0, 750, 750 + 3 * 209},  /* 3, 2, 2 and 2 */
        {ROOF_PHASE_PREFILL, 4, 10, 0, 750, 750 + 3 * 209}, /* 3, 3, 2 and 2 */
        /* 3 + 2 x 136 + 80 = 355 and 275 */
        {ROOF_PHASE_MIXED, 2, 1, 1, 630, 630},
        {ROOF_PHASE_MIXED, 2, 2, 1, 630, 2 * 355},
        {ROOF_PHASE_MIXED, 2, 1, 2, 630, 2 * 355},
    };
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_scenario s = asked(cases[c].phase, cases[c].batch, 50);
        s.pp = cases[c].pp;
        s.prefill_batch = cases[c].prefill_batch;
        s.chunk = s.phase == ROOF_PHASE_MIXED ? 10 : 0;
        const struct roof_model_prediction *const i = infer(m, s, b.device);
        const double batch = (double)cases[c].batch;
        assert_us(i->expected_step_s, cases[c].step);
        /* The total and its band are those of one pass over all stages. */
        assert_us(i->total.expected_s, cases[c].path);
        assert_us(i->total.expected_low_s, 0.5 * cases[c].path);
        assert_us(i->total.expected_high_s, 2 * cases[c].path);
        if (s.phase == ROOF_PHASE_PREFILL) {
            assert_us(i->expected_ttft_s, cases[c].step);
            assert_near(i->expected_tokens_per_s, 50 * batch / cases[c].step * 1e6, LITTLE);
        } else {
            assert_us(i->expected_tpot_s, cases[c].step);
            assert_near(i->expected_tokens_per_s, batch / cases[c].step * 1e6, LITTLE);
        }
    }
    /* The last stage has a product more, and is the slowest: 947 and 966. */
    put_launch(&b, KERNEL(GEMM), 100);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
    s.pp = 2;
    assert_us(infer(m, s, b.device)->expected_step_s, 2 * 966);
    /* An unknown stage, first or last, makes all unknown. */
    put_launch(&b, KERNEL(GEMM), 1);
    struct roof_kernel_fit *const send = fit_of(&b, KERNEL(ALL_TO_ALL));
    send->numerics = ROOF_NUMERICS_FP4;
    nothing_expected(infer(m, s, b.device));
    s.phase = ROOF_PHASE_PREFILL;
    nothing_expected(infer(m, s, b.device));
    s.pp = 1;
    check_pass(infer(m, s, b.device), OUTSIDE + 4 * PREFILL_LAYER);
    roof_model_free(m);
    end(&b);
}

/* --- drafts -------------------------------------------------------------------------------- */

/* A step verifies the drafts with the kernel of several queries, and yields 1 + a + a^2 + ... */
static void test_drafts(void **state)
{
    (void)state;
    const double verify = OUTSIDE + 4 * (MOE_LAYER + 90); /* 694 */
    const double draft_step = OUTSIDE + 4 * DECODE_LAYER; /* 150 */
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(MOE);
    struct roof_model *const draft = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
    s.acceptance = 0.5;
    s.draft_tokens = 3; /* 1.875 tokens */
    const struct roof_model_prediction *i = infer(m, s, b.device);
    assert_us(i->expected_step_s, verify); /* proposals that cost nothing */
    assert_us(i->expected_tpot_s, verify / 1.875);
    assert_near(i->expected_tokens_per_s, 2 * 1.875 / verify * 1e6, LITTLE);
    s.draft = draft;
    i = infer(m, s, b.device);
    const double step = verify + 3 * draft_step;
    assert_us(i->expected_step_s, step);
    assert_us(i->expected_tpot_s, step / 1.875);
    assert_near(i->expected_tokens_per_s, 2 * 1.875 / step * 1e6, LITTLE);
    assert_near(i->expected_tokens_per_s_per_user, 1.875 / step * 1e6, LITTLE);
    assert_us(i->total.expected_s, verify);                  /* like the ideal total */
    assert_true(i->total.expected_low_s * 1e6 < verify / 2); /* a router stands in for others */
    assert_true(i->total.expected_low_s * 1e6 > 0.4 * verify);
    /* Without drafts the model that would propose costs nothing. */
    s.draft_tokens = 0;
    check_pass(infer(m, s, b.device), OUTSIDE + 4 * MOE_LAYER);
    /* Two stages with two parts: 3 + 2 x 175 + 80 = 433, twice; the draft's 155, twice. */
    s.draft_tokens = 3;
    s.pp = 2;
    i = infer(m, s, b.device);
    assert_us(i->expected_step_s, 2 * 433 + 3 * 2 * 155);
    s.pp = 1;
    roof_model_free(m);
    roof_model_free(draft);
    end(&b);
}

/* --- requests ------------------------------------------------------------------------------ */

static void check_request(const struct roof_model_prediction *i, double ttft, double tpot)
{
    const double batch = (double)i->scenario.common.shape.batch;
    const double generate = (double)i->scenario.generate;
    const double e2e = generate > 1 ? ttft + (generate - 1) * tpot : ttft;
    assert_string_equal(i->phase, "request");
    assert_us(i->expected_ttft_s, ttft);
    if (generate > 1) {
        assert_us(i->expected_tpot_s, tpot);
    } else {
        assert_true(unknown(i->expected_tpot_s));
    }
    assert_us(i->expected_e2e_s, e2e);
    assert_us(i->expected_step_s, tpot * i->tokens_per_step); /* at the mean context */
    assert_near(i->total.expected_s, i->expected_e2e_s, 0);
    assert_near(i->expected_tokens_per_s, batch * generate / e2e * 1e6, LITTLE);
    assert_near(i->expected_tokens_per_s_per_user, generate / e2e * 1e6, LITTLE);
}

static void test_requests(void **state)
{
    (void)state;
    const double prefill = OUTSIDE + 4 * PREFILL_LAYER; /* 510 */
    const double decode = OUTSIDE + 4 * DECODE_LAYER;   /* 150 */
    static const int64_t lengths[] = {1, 2, 3, 9, 10, 66, 100, 1000};
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    for (size_t k = 0; k < COUNT(lengths); k++) {
        struct roof_scenario s = request(2, 100, lengths[k]);
        const struct roof_model_prediction *const i = infer(m, s, b.device);
        check_request(i, prefill, decode);
        assert_us(i->total.expected_low_s, 0.5e6 * i->expected_e2e_s);
        assert_us(i->total.expected_high_s, 2e6 * i->expected_e2e_s);
        assert_int_equal(i->total.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
        s.prefix_hit = 0.5;
        check_request(infer(m, s, b.device), prefill, decode);
        s.prefix_hit = 0;
        s.pp = 2; /* two parts, as in test_pipeline */
        check_request(infer(m, s, b.device), 590 + 335, 2 * 155);
        s.pp = 1;
        s.tp = 2;
        check_request(infer(m, s, b.device), prefill + 220, decode + 220);
        s.tp = 1;
        /* Steps verify and draft; the prompt does neither. */
        s.draft_tokens = 1;
        s.acceptance = 0.5;
        check_request(infer(m, s, b.device), prefill, prefill / 1.5);
        s.draft = m;
        check_request(infer(m, s, b.device), prefill, (prefill + decode) / 1.5);
    }
    roof_model_free(m);
    end(&b);
}

/* The prompt has the band of its pass, all tokens that of the last step. */
static void test_band_of_requests(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    fit_of(&b, KERNEL(DECODE))->low = 0.8;
    fit_of(&b, KERNEL(DECODE))->high = 1.25;
    fit_of(&b, KERNEL(PREFILL))->low = 0.25;
    fit_of(&b, KERNEL(PREFILL))->high = 4;
    struct roof_scenario s = request(2, 100, 9);
    const struct roof_model_prediction *i = infer(m, s, b.device);
    assert_us(i->total.expected_low_s, (0.5 * 110 + 0.25 * 400) + 8 * (0.5 * 110 + 0.8 * 40));
    assert_us(i->total.expected_high_s, (2 * 110 + 4 * 400) + 8 * (2 * 110 + 1.25 * 40));
    s.generate = 1;
    i = infer(m, s, b.device);
    assert_us(i->total.expected_low_s, 0.5 * 110 + 0.25 * 400);
    assert_us(i->total.expected_high_s, 2 * 110 + 4 * 400);
    /* Without a token after the first no step of decode is asked for. */
    struct roof_kernel_fit *const decode = fit_of(&b, KERNEL(DECODE));
    decode->numerics = ROOF_NUMERICS_FP4;
    i = infer(m, s, b.device);
    assert_us(i->total.expected_low_s, 0.5 * 110 + 0.25 * 400);
    assert_us(i->total.expected_high_s, 2 * 110 + 4 * 400);
    assert_int_equal(i->total.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
    decode->numerics = ROOF_NUMERICS_16BIT;
    /* Parts wait for each other in the same proportion. */
    s.generate = 9;
    s.pp = 2;
    i = infer(m, s, b.device);
    assert_us(i->total.expected_low_s,
              925 * (0.5 * 190 + 0.25 * 400) / 590 + 8 * 310 * (0.5 * 190 + 0.8 * 40) / 230);
    assert_us(i->total.expected_high_s,
              925 * (2 * 190 + 4 * 400.) / 590 + 8 * 310 * (2 * 190 + 1.25 * 40) / 230);
    roof_model_free(m);
    end(&b);
}

/*
 * Attention that takes 1 us per token of the cache (128 bytes), and 4 us for Q and the result (512
 * bytes): a step at context c takes 166 + 4 c us.
 */
static void grow(struct bench *b)
{
    put(b, KERNEL(DECODE), "dram", 128 / (1e16 * 1e-6));
    put_launch(b, KERNEL(PREFILL), 1000); /* longer than one query takes */
}

static void test_growing_context(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    grow(&b);
    struct roof_model *const m = parse(DENSE);
    assert_us(infer(m, asked(ROOF_PHASE_DECODE, 1, 50), b.device)->expected_step_s, 366);
    /* Two sequences read twice as much. */
    assert_us(infer(m, asked(ROOF_PHASE_DECODE, 2, 50), b.device)->expected_step_s, 582);
    /* Contexts of 101 to 101 + 8 k: the mean is that of the ends. */
    for (int64_t k = 0; k <= 100; k += 4) {
        const struct roof_model_prediction *const i =
            infer(m, request(1, 100, 2 + 8 * k), b.device);
        check_request(i, OUTSIDE + 4 * (DECODE_LAYER - 10 + 1000), 166 + 4 * (101 + 4 * (double)k));
    }
    /* Between those, contexts are whole numbers: near the mean. */
    for (int64_t generate = 2; generate <= 100; generate++) {
        const double mean = 166 + 4 * (101 + ((double)generate - 2) / 2);
        const struct roof_model_prediction *const i = infer(m, request(1, 100, generate), b.device);
        assert_near(i->expected_tpot_s * 1e6, mean, 0.005);
    }
    roof_model_free(m);
    end(&b);
}

/* The rule of Simpson over eight parts, where a step grows with the logarithm of its context. */
static void test_rule_of_simpson(void **state)
{
    (void)state;
    static const double weight[9] = {1, 4, 2, 4, 2, 4, 2, 4, 1};
    struct bench b;
    begin(&b);
    put(&b, KERNEL(DECODE), "doubling_clocks", 1e5);
    put(&b, KERNEL(DECODE), "chunk_tokens", 1);
    put_launch(&b, KERNEL(PREFILL), 1e4);
    struct roof_model *const m = parse(DENSE);
    for (int64_t part = 1; part <= 64; part *= 4) {
        double mean = 0;
        double exact = 0;
        for (int64_t k = 0; k <= 8 * part; k++) {
            const double step = 150 + 4 * 100 * log2(1 + 3 + (double)k);
            exact += step / (double)(8 * part + 1);
            mean += k % part == 0 ? weight[k / part] * step / 24 : 0;
        }
        const struct roof_model_prediction *const i =
            infer(m, request(1, 2, 8 * part + 2), b.device);
        assert_us(i->expected_tpot_s, mean);
        assert_near(i->expected_tpot_s, exact * 1e-6, 0.01);
    }
    roof_model_free(m);
    end(&b);
}

/* --- what bounds it ------------------------------------------------------------------------ */

static enum roof_bottleneck bound(const struct roof_model *m, struct roof_scenario s,
                                  const struct bench *b)
{
    return infer(m, s, b->device)->total.expected_bottleneck;
}

static void test_bottleneck(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 16); /* attention reads 20 us beside 10 */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_OVERHEAD);
    grow(&b);
    /* 4 x 30 of attention, all of it memory-bound, beside 110 of launches. */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_MEMORY);
    s.context = 12; /* 4 x 26 */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_OVERHEAD);
    /* With the sums of the devices 110 + 220 of launches. */
    s.context = 60;
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_MEMORY);
    s.tp = 2; /* half of the cache: 4 x (30 + 2 + 10) beside 330 */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_OVERHEAD);
    put(&b, KERNEL(ALL_REDUCE), "link", 64. * 2 / (1e16 * 50e-6)); /* 128 bytes take 50 us */
    put(&b, KERNEL(ALL_REDUCE), "short", 1);
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_NETWORK);
    end(&b);

    /* Requests: the prompt computes for 4 x 1000 us, a step launches for 150. */
    begin(&b);
    const double pairs = 100 * 101 / 2.;
    put(&b, KERNEL(PREFILL), "peak", 4 * 8 * 16 * pairs / (1e21 * 1e-3));
    s = request(1, 100, 1);
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_COMPUTE);
    assert_us(infer(m, s, b.device)->expected_ttft_s, 110 + 4 * 1100);
    s.generate = 29; /* 4 x 1100 beside 110 + 28 x 150 = 4310 */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_COMPUTE);
    s.generate = 30;
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_OVERHEAD);
    /* Then the steps read for longer than both; at 4 x 1000 tokens and more one is enough. */
    grow(&b);
    put_launch(&b, KERNEL(PREFILL), 100);
    s.generate = 2;
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_COMPUTE);
    s.generate = 12; /* 11 x 4 x 126 of the last step beside 4 x 1100 */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_MEMORY);
    s.generate = 10; /* 9 x 4 x 124 */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_MEMORY);
    s.generate = 9; /* 8 x 4 x 123 */
    assert_int_equal(bound(m, s, &b), ROOF_BOTTLENECK_COMPUTE);
    roof_model_free(m);
    end(&b);
}

/* --- memory -------------------------------------------------------------------------------- */

/* A model that does not fit has no rate, but times. */
static void test_rates_need_room(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    static const struct {
        const char *capacity;
        enum roof_fit fits;
    } cases[] = {{"memory_capacity_bytes=1000", ROOF_FIT_NO},
                 {"memory_capacity_bytes=1e9", ROOF_FIT_YES}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        assert_int_equal(roof_hardware_set(b.device, cases[c].capacity, NULL), ROOF_OK);
        const struct roof_scenario scenarios[] = {
            asked(ROOF_PHASE_DECODE, 2, 50), asked(ROOF_PHASE_PREFILL, 2, 50),
            asked(ROOF_PHASE_MIXED, 2, 50), request(2, 50, 5)};
        for (size_t k = 0; k < COUNT(scenarios); k++) {
            const struct roof_model_prediction *const i = infer(m, scenarios[k], b.device);
            const bool no = cases[c].fits == ROOF_FIT_NO;
            assert_int_equal(i->fits, cases[c].fits);
            assert_true(i->expected_step_s > 0);
            assert_int_equal(unknown(i->expected_tokens_per_s), no);
            assert_int_equal(unknown(i->expected_tokens_per_s_per_user), no);
            assert_int_equal(unknown(i->tokens_per_s), no);
        }
    }
    roof_model_free(m);
    end(&b);
}

/* --- reports ------------------------------------------------------------------------------- */

static struct roof_limits limits;

static struct roof_text text_of(const struct roof_model *m, struct roof_scenario s,
                                const struct bench *b)
{
    struct roof_text text = ROOF_TEXT_INIT;
    const struct roof_model_prediction *const i = infer(m, s, b->device);
    assert_int_equal(roof_model_limits(&limits, i, &s, NULL), ROOF_OK);
    roof_model_report_text(&text, i, &limits, 3, false, NULL);
    return text;
}

static void has(const struct roof_text *text, const char *part, bool there)
{
    if ((strstr(text->data, part) != NULL) != there) {
        fail_msg("'%s' is %s in:\n%s", part, there ? "not" : "there", text->data);
    }
}

static void test_text(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    const struct {
        struct roof_scenario s;
        const char *lines;
    } cases[] = {
        {asked(ROOF_PHASE_DECODE, 3, 50),
         "\n    expected           150 us        range 75 to 300 us; "
         "overhead-bound\n"
         "    expected tokens/s  20000         6667 per user\n"},
        {asked(ROOF_PHASE_PREFILL, 2, 51),
         "\n    expected           510 us        range 255 us to 1.02 ms; "
         "overhead-bound\n"
         "    expected tokens/s  200000        100000 per user\n"},
        {asked(ROOF_PHASE_MIXED, 3, 50),
         "\n    expected           550 us        range 275 us to 1.1 ms; "
         "overhead-bound\n"
         "    expected tokens/s  5455          1818 per user\n"},
        {request(2, 100, 9),
         " lower bound\n"
         "    expected           1.71 ms       range 855 us to 3.42 ms; "
         "mostly overhead time\n"
         "    expected tokens/s  10526         5263 per user: 9 tokens in 1.71 ms, "
         "first token included\n"},
        {request(2, 100, 9),
         " lower bound; 510 us expected; all prompts together\n  time per token "},
        {request(2, 100, 9),
         " lower bound; 150 us expected;\n                                     mean over 8 tokens, "
         "with a growing context\n  end to end "},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_text text = text_of(m, cases[c].s, &b);
        has(&text, cases[c].lines, true);
        has(&text, "other devices", false);
        roof_text_free(&text);
    }
    /* The band of a pipeline's step stands around the step: 925 us for 590 in one pass. */
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 2, 50);
    s.pp = 2;
    struct roof_text text = text_of(m, s, &b);
    has(&text,
        "    expected           925 us        range 463 us to 1.85 ms; "
        "overhead-bound",
        true);
    roof_text_free(&text);
    /* A step that yields more than a token takes less time per token. */
    s = asked(ROOF_PHASE_DECODE, 2, 50);
    s.draft_tokens = 1;
    s.acceptance = 0.5;
    text = text_of(m, s, &b);
    has(&text,
        "    expected           340 us        range 170 to 680 us; "
        "overhead-bound",
        true);
    roof_text_free(&text);
    /* It does not fit: no rates. */
    assert_int_equal(roof_hardware_set(b.device, "memory_capacity_bytes=1000", NULL), ROOF_OK);
    text = text_of(m, asked(ROOF_PHASE_DECODE, 3, 50), &b);
    has(&text, "\n    expected           150 us ", true);
    has(&text, "expected tokens/s", false);
    roof_text_free(&text);
    /* Nothing to expect: that is said. */
    b.device->calibration = NULL;
    for (size_t c = 0; c < COUNT(cases); c++) {
        text = text_of(m, cases[c].s, &b);
        has(&text, "    expected           -             no kernels of a device like", true);
        has(&text, "expected tokens/s", false);
        has(&text, " lower bound", true);
        roof_text_free(&text);
    }
    roof_model_free(m);
    end(&b);
}

/* The keys of what is expected, and where they stand. */
#define FIELD(key_, member, unit_)                                                                 \
    {                                                                                              \
        (key_), offsetof(struct roof_model_prediction, member), (unit_)                            \
    }
static const struct {
    const char *key;
    size_t offset;
    double unit;
} keys[] = {FIELD("expected_time_us", total.expected_s, 1e6),
            FIELD("expected_low_us", total.expected_low_s, 1e6),
            FIELD("expected_high_us", total.expected_high_s, 1e6),
            FIELD("expected_ttft_ms", expected_ttft_s, 1e3),
            FIELD("expected_tpot_ms", expected_tpot_s, 1e3),
            FIELD("expected_e2e_ms", expected_e2e_s, 1e3),
            FIELD("expected_tokens_per_s", expected_tokens_per_s, 1),
            FIELD("expected_tokens_per_s_per_user", expected_tokens_per_s_per_user, 1)};

/* A row of csv with the columns asked for, without its end. */
static void csv_row(char *out, size_t size, const struct roof_model_prediction *i,
                    const char *columns)
{
    struct roof_table table;
    struct roof_text text = ROOF_TEXT_INIT;
    assert_int_equal(roof_table_open(&table, ROOF_OUTPUT_CSV, ROOF_TABLE_MODEL_PREDICTIONS,
                                     ROOF_OPERATOR_GEMM, columns, NULL),
                     ROOF_OK);
    roof_table_model_prediction(&table, &text, i);
    assert_true(text.length > 0 && text.data[text.length - 1] == '\n');
    snprintf(out, size, "%.*s", (int)text.length - 1, text.data);
    roof_text_free(&text);
}

/* Every key holds its field in its unit, in json and in csv; unknown ones are absent and empty. */
static void check_keys(const struct roof_model_prediction *i, const struct roof_scenario *s)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_json *json = NULL;
    char cell[512];
    assert_int_equal(roof_model_limits(&limits, i, s, NULL), ROOF_OK);
    roof_model_report_json(&text, i, &limits, NULL, NULL);
    assert_int_equal(roof_json_parse(&json, text.data, text.length, "report", NULL), ROOF_OK);
    const roof_json_value *const root = roof_json_root(json);
    for (size_t k = 0; k < COUNT(keys); k++) {
        const double value = *(const double *)(const void *)((const char *)i + keys[k].offset);
        const roof_json_value *const found = roof_json_get(root, keys[k].key);
        double number = 0;
        csv_row(cell, sizeof cell, i, keys[k].key);
        if (unknown(value)) {
            assert_null(found);
            assert_string_equal(cell, "");
        } else {
            assert_true(roof_json_number(&number, found));
            assert_near(number, value * keys[k].unit, 1e-15);
            assert_near(strtod(cell, NULL), value * keys[k].unit, 1e-15);
        }
    }
    const bool any = !unknown(i->total.expected_s);
    const struct {
        const char *key;
        const char *value;
    } words[] = {{"expected_bottleneck", roof_bottleneck_name(i->total.expected_bottleneck)},
                 {"expected_basis", i->total.expected_near ? "nearest" : "measured"}};
    for (size_t k = 0; k < COUNT(words); k++) {
        const roof_json_value *const found = roof_json_get(root, words[k].key);
        csv_row(cell, sizeof cell, i, words[k].key);
        if (any) {
            assert_non_null(found);
            assert_string_equal(roof_json_string(found), words[k].value);
        } else {
            assert_null(found);
        }
        assert_string_equal(cell, any ? words[k].value : "");
    }
    roof_json_free(json);
    roof_text_free(&text);
}

/* One scenario of each kind. */
static struct roof_scenario kinds[7];

static void make_kinds(void)
{
    kinds[0] = asked(ROOF_PHASE_DECODE, 3, 50);
    kinds[1] = asked(ROOF_PHASE_PREFILL, 3, 50);
    kinds[2] = asked(ROOF_PHASE_PREFILL, 3, 50);
    kinds[2].chunk = 10;
    kinds[3] = asked(ROOF_PHASE_MIXED, 3, 50);
    kinds[3].chunk = 10;
    kinds[4] = asked(ROOF_PHASE_DECODE, 3, 50);
    kinds[4].draft_tokens = 2;
    kinds[5] = request(3, 40, 12);
    kinds[6] = asked(ROOF_PHASE_DECODE, 3, 50);
    kinds[6].pp = 2;
}

static void test_keys(void **state)
{
    (void)state;
    static const char *const there[COUNT(kinds)] = {"p", "t", "", "p", "p", "tpe", "p"};
    char cell[512];
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    make_kinds();
    for (size_t k = 0; k < COUNT(kinds); k++) {
        const struct roof_model_prediction *const i = infer(m, kinds[k], b.device);
        check_keys(i, &kinds[k]);
        /* Which of them each phase has. */
        assert_int_equal(unknown(i->expected_ttft_s), strchr(there[k], 't') == NULL);
        assert_int_equal(unknown(i->expected_tpot_s), strchr(there[k], 'p') == NULL);
        assert_int_equal(unknown(i->expected_e2e_s), strchr(there[k], 'e') == NULL);
    }
    csv_row(cell, sizeof cell, infer(m, kinds[0], b.device),
            "expected_bottleneck,expected_ttft_ms,expected_e2e_ms,expected_basis,phase");
    assert_string_equal(cell, "overhead,,,measured,decode");
    roof_model_free(m);
    end(&b);
}

/* A prediction tells if a kernel that is run has parameters of something else. */
static void test_basis(void **state)
{
    (void)state;
    static const struct {
        enum roof_kernel kernel;
        unsigned near; /* kinds that run it, as bits */
    } cases[] = {{KERNEL(GEMM), 0x7f},       {KERNEL(ROPE), 0x7f},    {KERNEL(ADD), 0x7f},
                 {KERNEL(DECODE), 0x69},     {KERNEL(PREFILL), 0x3e}, {KERNEL(MOE), 0},
                 {KERNEL(ALL_TO_ALL), 0x40}, {KERNEL(MLA_DECODE), 0}};
    static struct roof_model_prediction own;
    struct bench b;
    begin(&b);
    struct roof_model *const m = parse(DENSE);
    make_kinds();
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (size_t k = 0; k < COUNT(kinds); k++) {
            const bool near = (cases[c].near >> k & 1) != 0;
            infer_into(&own, m, &kinds[k], b.device);
            assert_false(own.total.expected_near);
            fit_of(&b, cases[c].kernel)->lent = "slow";
            const struct roof_model_prediction *const i = infer(m, kinds[k], b.device);
            assert_int_equal(i->total.expected_near, near);
            check_keys(i, &kinds[k]);
            struct roof_text text = text_of(m, kinds[k], &b);
            has(&text, "% is estimated from other devices, libraries or formats\n", near);
            roof_text_free(&text);
            /* The step takes as long, but its band is wider. */
            assert_true(i->expected_step_s == own.expected_step_s);
            assert_int_equal(i->total.expected_high_s > own.total.expected_high_s, near);
            assert_int_equal(i->total.expected_low_s < own.total.expected_low_s, near);
            fit_of(&b, cases[c].kernel)->lent = NULL;
        }
    }
    roof_model_free(m);
    end(&b);
}

/* --- where one kernel has no parameters ---------------------------------------------------- */

/* All that is no expected time, to the last bit. */
static void same_ideal(const struct roof_model_prediction *a, const struct roof_model_prediction *b)
{
#define I(member) offsetof(struct roof_model_prediction, member)
    static const size_t numbers[] = {I(total.flops),
                                     I(total.bytes),
                                     I(total.network_bytes),
                                     I(total.intensity),
                                     I(total.memory_time_s),
                                     I(total.compute_time_s),
                                     I(total.network_time_s),
                                     I(total.time_s),
                                     I(total.link.latency_s),
                                     I(total.attainable_flops_per_s),
                                     I(weights_memory_bytes),
                                     I(kv_cache_bytes),
                                     I(state_bytes),
                                     I(memory_capacity_bytes),
                                     I(activation_memory_bytes),
                                     I(memory_reserve_bytes),
                                     I(kv_bytes_per_token),
                                     I(devices),
                                     I(draft_s),
                                     I(slowest_stage_s),
                                     I(step_s),
                                     I(tokens_per_step),
                                     I(ttft_s),
                                     I(tpot_s),
                                     I(e2e_s),
                                     I(tokens_per_s),
                                     I(tokens_per_s_per_user)};
    for (size_t k = 0; k < COUNT(numbers); k++) {
        const double x = *(const double *)(const void *)((const char *)a + numbers[k]);
        const double y = *(const double *)(const void *)((const char *)b + numbers[k]);
        if (x != y && !(unknown(x) && unknown(y))) {
            fail_msg("%s: number %zu is %.17g and %.17g", a->phase, k, x, y);
        }
    }
    assert_int_equal(a->total.bottleneck, b->total.bottleneck);
    assert_int_equal(a->total.native, b->total.native);
    assert_int_equal(a->fits, b->fits);
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; k++) {
        const struct roof_prediction *const p = &a->node[k].prediction;
        const struct roof_prediction *const q = &b->node[k].prediction;
        assert_string_equal(a->node[k].node.name, b->node[k].node.name);
        assert_true(p->time_s == q->time_s && p->bottleneck == q->bottleneck);
        assert_int_equal(a->node[k].device_count, b->node[k].device_count);
    }
}

/* The prompt of a request may be known without its steps, or they without it; never the whole. */
static void half_expected(const struct roof_model_prediction *i, bool prompt, bool steps)
{
    static struct roof_model_prediction rest; /* large */
    rest = *i;
    assert_int_equal(unknown(i->expected_ttft_s), !prompt);
    assert_int_equal(unknown(i->expected_tpot_s), !steps);
    assert_int_equal(unknown(i->expected_step_s), !steps);
    rest.expected_ttft_s = rest.expected_tpot_s = rest.expected_step_s = ROOF_UNKNOWN;
    nothing_expected(&rest);
}

static void test_missing_kernel(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        enum roof_kernel kernel;
        unsigned without; /* kinds that do without it, as bits */
    } cases[] = {
        {DENSE, KERNEL(GEMM), 0},          {DENSE, KERNEL(NORM), 0},
        {DENSE, KERNEL(ADD), 0},           {DENSE, KERNEL(ACTIVATION), 0},
        {DENSE, KERNEL(ROPE), 0},          {DENSE, KERNEL(DECODE), 0x16},
        {DENSE, KERNEL(PREFILL), 0x41},    {MOE, KERNEL(MOE), 0},
        {MOE, KERNEL(ACTIVATION), 0},      {DENSE, KERNEL(ALL_TO_ALL), 0x3f},
        {MLA, KERNEL(BMM), 0x02},          {MLA, KERNEL(MLA_DECODE), 0x02},
        {MLA, KERNEL(MLA_PREFILL), 0x55},  {DENSE, KERNEL(MLA_DECODE), 0x7f},
        {DENSE, KERNEL(ALL_REDUCE), 0x7f},
    };
    static struct roof_model_prediction with;
    static struct roof_model_prediction without;
    struct bench b;
    begin(&b);
    make_kinds();
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = parse(cases[c].config);
        struct roof_kernel_fit *const fit = fit_of(&b, cases[c].kernel);
        for (size_t k = 0; k < COUNT(kinds); k++) {
            struct roof_text text = ROOF_TEXT_INIT;
            infer_into(&with, m, &kinds[k], b.device);
            assert_true(with.expected_step_s > with.step_s);
            fit->numerics = ROOF_NUMERICS_FP4; /* which no kernel here is asked for */
            infer_into(&without, m, &kinds[k], b.device);
            same_ideal(&with, &without);
            check_keys(&without, &kinds[k]);
            roof_model_report_text(&text, &without, &limits, 3, false, NULL);
            const unsigned known = cases[c].without;
            if ((known >> k & 1) != 0) {
                assert_true(without.expected_step_s == with.expected_step_s);
            } else if (kinds[k].generate > 0) {
                half_expected(&without, (known & 2) != 0, (known & 1) != 0);
            } else {
                nothing_expected(&without);
            }
            has(&text, "\n    expected           -", (known >> k & 1) == 0);
            has(&text, "\n    expected tokens/s ", (known >> k & 1) != 0);
            roof_text_free(&text);
            fit->numerics = ROOF_NUMERICS_16BIT;
            b.device->calibration = NULL;
            infer_into(&without, m, &kinds[k], b.device);
            same_ideal(&with, &without);
            nothing_expected(&without);
            b.device->calibration = &b.calibration;
        }
        roof_model_free(m);
    }
    end(&b);
}

/* --- built-in models and devices ----------------------------------------------------------- */

static const char *const model_ids[] = {"llama-3-8b", "mixtral-8x7b", "deepseek-v3", "gemma-3-4b"};
static const char *const device_ids[] = {"a100-sxm-80gb", "h100-sxm", "hgx-b200", "l40s"};

/* Checks what holds for every prediction with expected times. */
static void check_laws(const struct roof_model_prediction *i)
{
    const struct roof_prediction *const t = &i->total;
    const char *const what = i->model->id;
    if (!(i->expected_step_s >= i->step_s * (1 - 1e-12) && isfinite(i->expected_step_s))) {
        fail_msg("%s on %s, %s: %g s expected, at best %g", what, t->hardware->id, i->phase,
                 i->expected_step_s, i->step_s);
    }
    assert_true(t->expected_s >= t->time_s * (1 - 1e-12));
    if (!(t->expected_low_s <= t->expected_s && t->expected_s <= t->expected_high_s &&
          t->expected_low_s >= t->time_s * (1 - 1e-12))) {
        fail_msg("%s on %s, %s: %g s expected, %g to %g, at best %g", what, t->hardware->id,
                 i->phase, t->expected_s, t->expected_low_s, t->expected_high_s, t->time_s);
    }
    const struct {
        double bound, expected;
    } times[] = {{i->ttft_s, i->expected_ttft_s},
                 {i->tpot_s, i->expected_tpot_s},
                 {i->e2e_s, i->expected_e2e_s}};
    for (size_t k = 0; k < COUNT(times); k++) {
        assert_int_equal(unknown(times[k].bound), unknown(times[k].expected));
        assert_true(unknown(times[k].bound) || times[k].expected >= times[k].bound * (1 - 1e-12));
    }
    assert_int_equal(unknown(i->tokens_per_s), unknown(i->expected_tokens_per_s));
    if (!unknown(i->tokens_per_s)) {
        assert_true(i->expected_tokens_per_s <= i->tokens_per_s * (1 + 1e-12));
        const bool request = !unknown(i->e2e_s);
        assert_near(i->expected_tokens_per_s * (request ? i->expected_e2e_s : i->expected_step_s),
                    i->tokens_per_s * (request ? i->e2e_s : i->step_s), 1e-12);
        assert_near(i->expected_tokens_per_s_per_user,
                    i->expected_tokens_per_s / (double)i->scenario.common.shape.batch, 1e-12);
    }
    /* A pass is the sum of its operators. */
    double sum = 0;
    double low = 0;
    double high = 0;
    for (size_t k = 0; k < i->count; k++) {
        const struct roof_prediction *const p = &i->node[k].prediction;
        sum += (double)i->node[k].node.count * p->expected_s;
        low += (double)i->node[k].node.count * p->expected_low_s;
        high += (double)i->node[k].node.count * p->expected_high_s;
    }
    if (i->count > 0) {
        assert_true(t->expected_s == sum && t->expected_low_s == low && t->expected_high_s == high);
    }
}

static void check_grows(const struct roof_model_prediction *less,
                        const struct roof_model_prediction *more)
{
    if (!(more->expected_step_s >= less->expected_step_s * (1 - 1e-12))) {
        fail_msg("%s on %s, %s, tp %lld: %.17g s at batch %lld and context %lld, %.17g s at %lld "
                 "and %lld",
                 less->model->id, less->total.hardware->id, less->phase,
                 (long long)less->scenario.tp, less->expected_step_s,
                 (long long)less->scenario.common.shape.batch, (long long)less->scenario.context,
                 more->expected_step_s, (long long)more->scenario.common.shape.batch,
                 (long long)more->scenario.context);
    }
}

/* For every model on every device. */
static void each(void (*visit)(const struct roof_model *m, const struct roof_hardware *h))
{
    for (size_t d = 0; d < COUNT(device_ids); d++) {
        struct roof_hardware *const h = load_calibrated(device_ids[d]);
        for (size_t k = 0; k < COUNT(model_ids); k++) {
            struct roof_model *const m = load(model_ids[k]);
            visit(m, h);
            roof_model_free(m);
        }
        free_calibrated(h);
    }
}

/* More sequences and longer contexts never take less. */
static void visit_phases(const struct roof_model *m, const struct roof_hardware *h)
{
    static struct roof_model_prediction here;
    static struct roof_model_prediction longer;
    static struct roof_model_prediction larger;
    for (int phase = ROOF_PHASE_DECODE; phase <= ROOF_PHASE_MIXED; phase++) {
        for (int64_t tp = 1; tp <= 4; tp *= 2) {
            for (int64_t batch = 1; batch <= 300; batch *= 7) {
                for (int64_t context = 1; context <= 5000; context = context * 3 + 50) {
                    struct roof_scenario s = asked((enum roof_phase)phase, batch, context);
                    s.tp = tp;
                    infer_into(&here, m, &s, h);
                    check_laws(&here);
                    s.context += 37;
                    infer_into(&longer, m, &s, h);
                    check_grows(&here, &longer);
                    s.context -= 37;
                    s.common.shape.batch += 3;
                    infer_into(&larger, m, &s, h);
                    check_grows(&here, &larger);
                }
            }
        }
    }
}

static void test_phases_of_models(void **state)
{
    (void)state;
    each(visit_phases);
}

static void visit_splits(const struct roof_model *m, const struct roof_hardware *h)
{
    for (int phase = ROOF_PHASE_DECODE; phase <= ROOF_PHASE_MIXED; phase++) {
        for (int64_t batch = 1; batch <= 5; batch += 2) {
            struct roof_scenario s = asked((enum roof_phase)phase, batch, 1000);
            const struct roof_model_prediction *i = infer(m, s, h);
            check_laws(i);
            s.pp = 4;
            i = infer(m, s, h);
            check_laws(i);
            assert_true(i->expected_step_s >= i->total.expected_s * (1 - 1e-12));
            s.pp = 1;
            s.common.shape.ep = m->experts > 0 ? 4 : 1;
            check_laws(infer(m, s, h));
            s.unfused_attention = m->kv_lora_rank == 0;
            s.split_projections = 1;
            check_laws(infer(m, s, h));
            s = asked((enum roof_phase)phase, batch, 1000);
            s.tp = 8;
            if (m->heads % s.tp == 0) {
                check_laws(infer(m, s, h));
            }
        }
    }
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 4, 1000);
    s.draft_tokens = 4;
    check_laws(infer(m, s, h)); /* with layers of its own, where it has such */
    s.drafting = ROOF_DRAFTING_FREE;
    const double alone = infer(m, s, h)->expected_step_s;
    check_laws(infer(m, s, h));
    s.drafting = ROOF_DRAFTING_DEFAULT;
    s.draft = m;
    check_laws(infer(m, s, h));
    const double with = infer(m, s, h)->expected_step_s;
    const double step = infer(m, asked(ROOF_PHASE_DECODE, 4, 1000), h)->expected_step_s;
    assert_near(with, alone + 4 * step, 1e-12);
}

static void test_splits_of_models(void **state)
{
    (void)state;
    each(visit_splits);
}

/* The first token is the prefill's, the others are steps one by one: the mean over nine of them is
 * near that of all. */
static void visit_requests(const struct roof_model *m, const struct roof_hardware *h)
{
    static struct roof_model_prediction whole;
    static struct roof_model_prediction step;
    static const struct {
        int64_t batch, prompt, generate;
    } cases[] = {{1, 1, 64}, {8, 1000, 64}, {32, 100, 17}, {1, 4000, 1}, {4, 20, 2}, {4, 990, 200}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_scenario s = request(cases[c].batch, cases[c].prompt, cases[c].generate);
        infer_into(&whole, m, &s, h);
        check_laws(&whole);
        s = asked(ROOF_PHASE_PREFILL, cases[c].batch, cases[c].prompt);
        infer_into(&step, m, &s, h);
        assert_true(whole.expected_ttft_s == step.expected_ttft_s);
        if (cases[c].generate == 1) {
            assert_true(whole.expected_e2e_s == whole.expected_ttft_s);
            assert_near(whole.total.expected_low_s, step.total.expected_low_s, 1e-12);
            assert_near(whole.total.expected_high_s, step.total.expected_high_s, 1e-12);
            continue;
        }
        const double steps = (double)(cases[c].generate - 1);
        assert_near(whole.expected_e2e_s, whole.expected_ttft_s + whole.expected_tpot_s * steps,
                    1e-12);
        double exact = 0;
        for (int64_t k = 1; k < cases[c].generate; k++) {
            s = asked(ROOF_PHASE_DECODE, cases[c].batch, cases[c].prompt + k);
            infer_into(&step, m, &s, h);
            exact += step.expected_tpot_s;
        }
        assert_near(whole.expected_tpot_s * steps, exact, 0.01);
    }
}

static void test_requests_of_models(void **state)
{
    (void)state;
    each(visit_requests);
}

/* The bound, which no kernel can beat, does not depend on the parameters of kernels. */
static void visit_ideal(const struct roof_model *m, const struct roof_hardware *h)
{
    static struct roof_model_prediction with;
    static struct roof_model_prediction without;
    struct roof_hardware bare = *h;
    bare.calibration = NULL;
    make_kinds();
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct roof_scenario s = kinds[k];
        for (s.tp = 1; s.tp <= 2; s.tp++) {
            infer_into(&with, m, &s, h);
            infer_into(&without, m, &s, &bare);
            same_ideal(&with, &without);
            nothing_expected(&without);
        }
    }
}

static void test_ideal_of_models(void **state)
{
    (void)state;
    each(visit_ideal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_prefill),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_kernel_options),
        cmocka_unit_test(test_tensor_parallel),
        cmocka_unit_test(test_expert_parallel),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_drafts),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_band_of_requests),
        cmocka_unit_test(test_growing_context),
        cmocka_unit_test(test_rule_of_simpson),
        cmocka_unit_test(test_bottleneck),
        cmocka_unit_test(test_rates_need_room),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_basis),
        cmocka_unit_test(test_missing_kernel),
        cmocka_unit_test(test_phases_of_models),
        cmocka_unit_test(test_splits_of_models),
        cmocka_unit_test(test_requests_of_models),
        cmocka_unit_test(test_ideal_of_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
