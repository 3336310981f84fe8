// SPDX-License-Identifier: MIT
/* The expected time of prompts through a state: each term alone on a device that makes mental
 * arithmetic, then what holds for all shapes. */
#include "properties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_SCAN_PARAMETER(id, key, least, most, start, neutral, meaning) S_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_VECTOR_PARAMETER(id, key, least, most, start, neutral, meaning) V_##id,
#include "predict/kernel_parameters.h"
};

/* 100 GB/s, 10 SMs at 1 GHz: 100 bytes per nanosecond, which is a clock. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"      \
    " \"l2_bytes\": 400000, \"peak_tflops\": {\"fp16\": 1000}}"

/* Two sequences of 100 tokens in two chunks, and 4 heads with states of 10 x 20. */
#define SIZES .batch = 2, .heads = 4, .head_dim = 10, .query_len = 100, .scan_chunk = 64
#define DELTA                                                                                      \
    {                                                                                              \
        SIZES, .kv_heads = 2, .v_head_dim = 20                                                     \
    }
/* 51200 bytes of Q, K, V and gates, 32000 of the result, and 12800 of states in and out. */
#define DELTA_US 0.96

struct fixture {
    struct roof_hardware *device;
    struct roof_kernel_fit fit[2];
    double *parameter; /* of the first fit */
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
    double hit;   /* share that is found in the L2 */
    double wider; /* factor of the band */
};

/* Prepares a fit whose terms are all negligible, and a second one that `calibration.count` adds. */
static void begin(struct fixture *f, enum roof_kernel kernel)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){
        .device = parse_device(DEVICE),
        .fit = {empty_fit(kernel, ROOF_STACK_BEST), empty_fit(ROOF_KERNEL_STATE, ROOF_STACK_BEST)},
        .workload = {.formats = ROOF_FORMATS_AUTO, .op = ROOF_OPERATOR_GATED_DELTA, .shape = DELTA},
        .wider = 1};
    f->parameter = f->fit[0].parameter;
    f->parameter[S_RATE] = 1e12;
    f->parameter[S_L2_CAPACITY] = 1e-3;
    f->calibration =
        (struct roof_calibration){.id = "ten", .attributions = none, .fit = f->fit, .count = 1};
    f->device->calibration = &f->calibration;
}

/* Prepares fits for prompts and for decode steps, which take the time of their bytes. */
static void begin_steps(struct fixture *f)
{
    begin(f, ROOF_KERNEL_STATE_PREFILL);
    double *const p = f->fit[1].parameter;
    p[V_DRAM] = 1;
    p[V_L2_CAPACITY] = 1e-3;
    p[V_L2_RATE] = 1;
    f->calibration.count = 2;
}

static void check(struct fixture *f, double us, enum roof_kernel_limit limit)
{
    check_time(&f->prediction, &f->workload, f->device, us, limit, f->hit, f->wider);
}

/* The memory or the SMs move the data, intermediate results and the states of chunks. */
static void test_bytes(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_KERNEL_STATE_PREFILL);
    double *const p = f.parameter;
    check(&f, DELTA_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[S_TOKENS] = 1;
    check(&f, DELTA_US + 0.832, ROOF_KERNEL_LIMIT_MEMORY);
    p[S_STATES] = 2;
    check(&f, DELTA_US + 0.832 + 0.256, ROOF_KERNEL_LIMIT_MEMORY);
    p[S_TOKENS] = p[S_STATES] = 0;
    p[S_CHUNKS] = 3; /* 1600 elements of 2 bytes in each chunk */
    check(&f, DELTA_US + 0.192, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.scan_chunk = 96; /* two chunks of a half more */
    check(&f, DELTA_US + 0.288, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.scan_chunk = 256; /* of which 100 tokens are used */
    check(&f, DELTA_US + 0.384, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.scan_chunk = 64;
    p[S_RATE] = 2; /* 20 bytes per nanosecond */
    check(&f, 5 * (DELTA_US + 0.192), ROOF_KERNEL_LIMIT_OPERANDS);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=500", NULL), ROOF_OK);
    check(&f, 10 * (DELTA_US + 0.192), ROOF_KERNEL_LIMIT_OPERANDS);
    roof_hardware_free(f.device);
}

/* Chunks that follow one another, and the launch. */
static void test_steps(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_KERNEL_STATE_PREFILL);
    double *const p = f.parameter;
    p[S_STEP] = 1000;
    check(&f, 2, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.scan_chunk = 48; /* three of three quarters */
    check(&f, 2.25, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.scan_chunk = 64;
    p[S_OVERLAP] = 0.5;
    check(&f, 2 + DELTA_US / 2, ROOF_KERNEL_LIMIT_LATENCY);
    p[S_STEP] = 100;
    check(&f, DELTA_US + 0.1, ROOF_KERNEL_LIMIT_MEMORY);
    p[S_LAUNCH] = 5000;
    check(&f, DELTA_US + 5.1, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.no_launch_overhead = 1;
    check(&f, DELTA_US + 0.1, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* The L2 holds intermediate results even if the inputs are cold. */
static void test_cache(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_KERNEL_STATE_PREFILL);
    double *const p = f.parameter;
    p[S_L2_CAPACITY] = 0.24; /* 96000 bytes: all that is moved */
    check(&f, DELTA_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_WARM;
    f.hit = 0.5;
    check(&f, DELTA_US / 2, ROOF_KERNEL_LIMIT_MEMORY);
    p[S_TOKENS] = 1;
    p[S_L2_CAPACITY] = 0.448; /* 179200 bytes */
    check(&f, DELTA_US / 2 + 0.416, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_COLD;
    f.hit = 0;
    check(&f, DELTA_US + 0.416, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.working_set = 358400; /* twice as much */
    f.hit = 1 / 257.;
    check(&f, DELTA_US * 256 / 257 + 0.416, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.working_set = 1; /* no less than the data itself */
    f.hit = 0.5;
    check(&f, DELTA_US / 2 + 0.416, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* Each operator has a kernel and moves its own data. The kernel of gated delta layers stands in. */
static void test_operators(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        enum roof_kernel kernel;
        struct roof_shape shape;
        double us;
        bool near; /* no kernel of the operator was measured */
    } cases[] = {
        {ROOF_OPERATOR_GATED_DELTA, ROOF_KERNEL_STATE_PREFILL, DELTA, DELTA_US, false},
        /* 81600 + 32000 + 12800, 49600 + 16000 + 12800, and 64000 + 32000 + 12800 bytes. */
        {ROOF_OPERATOR_KIMI_DELTA,
         ROOF_KERNEL_KIMI_PREFILL,
         {SIZES, .v_head_dim = 20},
         1.264,
         false},
        {ROOF_OPERATOR_SSD,
         ROOF_KERNEL_SSD_PREFILL,
         {SIZES, .kv_heads = 2, .state_size = 20},
         0.784,
         false},
        {ROOF_OPERATOR_LIGHTNING,
         ROOF_KERNEL_STATE_PREFILL,
         {SIZES, .v_head_dim = 20},
         1.088,
         true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        begin(&f, cases[i].kernel);
        f.workload.op = cases[i].op;
        f.workload.shape = cases[i].shape;
        f.wider = cases[i].near ? 1.25 : 1;
        f.parameter[S_CHUNKS] = 3;
        check(&f, cases[i].us + 0.192, ROOF_KERNEL_LIMIT_MEMORY);
        f.fit[0].kernel = ROOF_KERNEL_STATE_PREFILL;
        f.wider = cases[i].op == ROOF_OPERATOR_GATED_DELTA ? 1 : 1.25;
        check(&f, cases[i].us + 0.192, ROOF_KERNEL_LIMIT_MEMORY);
        f.fit[0].kernel = ROOF_KERNEL_ADD;
        assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
        assert_true(isnan(f.prediction.expected_s));
        roof_hardware_free(f.device);
    }
}

/* A prompt takes no less than one token of each sequence: 13632 bytes. */
static void test_one_token(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_KERNEL_STATE_PREFILL);
    double *const p = f.fit[1].parameter;
    p[V_DRAM] = 1;
    p[V_L2_CAPACITY] = 0.5;
    p[V_L2_RATE] = 1e12;
    p[V_LAUNCH] = 50000;
    check(&f, DELTA_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.calibration.count = 2;
    /* The memory takes at least 0.96 us for all tokens. */
    check(&f, 50 + DELTA_US, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.cache = ROOF_CACHE_WARM;
    f.hit = 1 / (1 + pow(13632 / 200000., 8));
    check(&f, 50 + 0.13632 * (1 - f.hit), ROOF_KERNEL_LIMIT_LAUNCH);
    f.parameter[S_LAUNCH] = 60000;
    f.hit = 0;
    f.parameter[S_L2_CAPACITY] = 1e-3;
    f.workload.cache = ROOF_CACHE_COLD;
    check(&f, 60 + DELTA_US, ROOF_KERNEL_LIMIT_LAUNCH);
    roof_hardware_free(f.device);
}

/* A step with drafts writes a state of each sequence after each token: 6400 bytes, beside 6400 that
 * are read. A token of both sequences has 832 bytes. */
static void test_drafts(void **unused)
{
    (void)unused;
    struct fixture f;
    begin_steps(&f);
    f.workload.shape.query_len = 1;
    check(&f, (832 + 2 * 6400) / 100e3, ROOF_KERNEL_LIMIT_MEMORY);
    f.wider = 1.25; /* no fit saw several tokens */
    f.workload.shape.query_len = 3;
    check(&f, (3 * 832 + 4 * 6400) / 100e3, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.shape.query_len = 15;
    check(&f, (15 * 832 + 16 * 6400) / 100e3, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* A step of a model knows whose tokens these are. Prompts of 2 to 15 tokens take as long as one of
 * 16, which has 8192 + 5120 bytes and states of 12800, and 20 tokens of a decode step are drafts.
 */
static void test_tokens(void **unused)
{
    (void)unused;
    struct fixture f;
    begin_steps(&f);
    f.workload.tokens = ROOF_TOKENS_PROMPT;
    f.workload.shape.query_len = 1; /* a prompt of one token is a decode step */
    check(&f, (832 + 2 * 6400) / 100e3, ROOF_KERNEL_LIMIT_MEMORY);
    for (int64_t tokens = 2; tokens < 17; tokens++) {
        f.workload.shape.query_len = tokens;
        check(&f, (8192 + 5120 + 12800) / 100e3, ROOF_KERNEL_LIMIT_MEMORY);
    }
    f.wider = 1.25;
    f.workload.tokens = ROOF_TOKENS_DECODE;
    f.workload.shape.query_len = 20;
    check(&f, (20 * 832 + 21 * 6400) / 100e3, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* --- what holds for all -------------------------------------------------------------------- */

static bool draw_prompt(struct roof_workload *w, const struct roof_calibration *c)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_GATED_DELTA, ROOF_OPERATOR_KIMI_DELTA,
                                             ROOF_OPERATOR_SSD, ROOF_OPERATOR_LIGHTNING};
    (void)c;
    struct roof_shape *const s = &w->shape;
    w->op = ops[draw() % COUNT(ops)];
    w->stack = (int64_t)(draw() % ROOF_STACK_COUNT);
    w->formats.precision = ROOF_PRECISION_BF16;
    w->formats.kv = draw() % 2 == 0 ? ROOF_PRECISION_FP32 : ROOF_PRECISION_BF16;
    s->batch = draw_size(7);
    s->query_len = draw_size(14);
    s->head_dim = draw_size(7);
    *(w->op == ROOF_OPERATOR_SSD ? &s->state_size : &s->v_head_dim) = draw_size(7);
    s->heads = draw_size(4);
    if (roof_operator_has(w->op, ROOF_DIM_KV_HEADS)) {
        s->kv_heads = s->heads;
        s->heads *= draw_size(3);
    }
    s->scan_chunk = (int64_t)16 << draw() % 5;
    return true;
}

/* Longer chunks are fewer, and may be faster. From 16 tokens on, a sequence has another kernel. */
static bool allowed(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown)
{
    (void)device;
    const int64_t length = w->shape.query_len;
    return grown != ROOF_DIM_SCAN_CHUNK &&
           (grown != ROOF_DIM_QUERY_LEN || length < 16 || length > 2 * 15) &&
           (w->shape.kv_heads == 0 || w->shape.heads % w->shape.kv_heads == 0);
}

static void test_properties(void **unused)
{
    (void)unused;
    check_properties(&(struct properties){.draw = draw_prompt, .allowed = allowed});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),     cmocka_unit_test(test_steps),
        cmocka_unit_test(test_cache),     cmocka_unit_test(test_operators),
        cmocka_unit_test(test_one_token), cmocka_unit_test(test_drafts),
        cmocka_unit_test(test_tokens),    cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
