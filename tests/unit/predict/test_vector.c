// SPDX-License-Identifier: MIT
/* The expected time of vector operators: each term alone on a device that makes mental arithmetic,
 * then what holds for all shapes. */
#include "properties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_VECTOR_PARAMETER(id, key, least, most, start, neutral, meaning) V_##id,
#include "predict/kernel_parameters.h"
};

/* 100 GB/s, 10 SMs at 1 GHz: 100 bytes per nanosecond, which is a clock. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"      \
    " \"l2_bytes\": 400000, \"peak_tflops\": {\"fp16\": 1}, \"vector_tflops\": {\"fp32\": 10}}"

static const enum roof_kernel kernels[] = {ROOF_KERNEL_NORM,         ROOF_KERNEL_ADD,
                                           ROOF_KERNEL_ACTIVATION,   ROOF_KERNEL_ROPE,
                                           ROOF_KERNEL_QUANTIZE,     ROOF_KERNEL_STATE,
                                           ROOF_KERNEL_CONV,         ROOF_KERNEL_HYPER_COLLAPSE,
                                           ROOF_KERNEL_HYPER_EXPAND, ROOF_KERNEL_CONV_PREFILL};

struct fixture {
    struct roof_hardware *device;
    struct roof_kernel_fit fit[COUNT(kernels)];
    double *parameter; /* of the fit that is looked at */
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
    double hit; /* share that is found in the L2 */
};

/* No term shows, but for the memory's own; one fit for each kernel, the first is looked at. */
static void begin(struct fixture *f, enum roof_operator op)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){.device = parse_device(DEVICE),
                          .workload = {.formats = ROOF_FORMATS_AUTO, .op = op}};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        f->fit[i] = empty_fit(kernels[i], ROOF_STACK_BEST);
        double *const p = f->fit[i].parameter;
        p[V_DRAM] = 1;
        p[V_L2_CAPACITY] = 0.5;
        p[V_L2_RATE] = 1e12;
    }
    f->parameter = f->fit[0].parameter;
    f->calibration = (struct roof_calibration){
        .id = "ten", .attributions = none, .fit = f->fit, .count = COUNT(kernels)};
    f->device->calibration = &f->calibration;
}

static void check(struct fixture *f, double us, enum roof_kernel_limit bound)
{
    /* No kernel of these operators was measured. */
    const enum roof_operator op = f->workload.op;
    const bool near = op == ROOF_OPERATOR_LAYERNORM || op == ROOF_OPERATOR_ROUTER ||
                      op == ROOF_OPERATOR_SOFTMAX || op == ROOF_OPERATOR_GELU ||
                      roof_operator_row(op)->fuse_count > 0 ||
                      (op == ROOF_OPERATOR_RMSNORM && f->workload.shape.hidden < 1024 &&
                       bound != ROOF_KERNEL_LIMIT_LAUNCH);
    check_time(&f->prediction, &f->workload, f->device, us, bound, f->hit, near ? 1.25 : 1);
    assert_ptr_equal(f->prediction.part[0].expected.fit->parameter, f->parameter);
}

/* 1000 rows of 50 elements, in and out: 200 kB. */
#define ROWS                                                                                       \
    {                                                                                              \
        .tokens = 1000, .hidden = 50                                                               \
    }
#define ROWS_US 2.0
/* The time of a row of a norm is that of 1024 elements. */
#define AT_ONCE (1024 / 50.0)

static void test_terms(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_RMSNORM);
    double *const p = f.parameter;
    f.workload.shape = (struct roof_shape)ROWS;
    check(&f, ROWS_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[V_DRAM] = 2; /* never below the bound */
    check(&f, ROWS_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[V_DRAM] = 0.5;
    check(&f, 2 * ROWS_US, ROOF_KERNEL_LIMIT_MEMORY);
    p[V_DRAM] = 1;
    p[V_ROW] = 10 * AT_ONCE; /* 100 rows in each SM */
    check(&f, ROWS_US + 1, ROOF_KERNEL_LIMIT_MEMORY);
    p[V_ROW] = 30 * AT_ONCE;
    check(&f, ROWS_US + 3, ROOF_KERNEL_LIMIT_LATENCY);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=500", NULL), ROOF_OK);
    check(&f, ROWS_US + 6, ROOF_KERNEL_LIMIT_LATENCY);
    p[V_ROW] = 0;
    p[V_LAUNCH] = 900;
    check(&f, ROWS_US + 1.8, ROOF_KERNEL_LIMIT_MEMORY);
    p[V_LAUNCH] = 1500;
    check(&f, ROWS_US + 3, ROOF_KERNEL_LIMIT_LAUNCH);
    assert_near(f.prediction.part[0].expected.launch_s, 3e-6, 1e-12);
    f.workload.no_launch_overhead = 1;
    check(&f, ROWS_US, ROOF_KERNEL_LIMIT_MEMORY);
    assert_true(f.prediction.part[0].expected.launch_s == 0);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=1000", NULL), ROOF_OK);
    f.workload.shape = (struct roof_shape){.tokens = 1000, .hidden = 2048}; /* 8.192 MB */
    p[V_ROW] = 10;
    check(&f, 81.92 + 2, ROOF_KERNEL_LIMIT_MEMORY); /* of twice 1024 elements */
    roof_hardware_free(f.device);
}

static void test_warm(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_RMSNORM);
    double *const p = f.parameter;
    f.workload.shape = (struct roof_shape)ROWS;
    p[V_L2_RATE] = 2;
    check(&f, ROWS_US, ROOF_KERNEL_LIMIT_MEMORY);
    f.hit = 0.5;
    f.workload.cache = ROOF_CACHE_WARM; /* as large as its share of the L2: half is found */
    check(&f, ROWS_US * (0.5 + 0.5 / 2), ROOF_KERNEL_LIMIT_MEMORY);
    p[V_DRAM] = 0.5;
    check(&f, ROWS_US * (0.5 * 2 + 0.5 / 2), ROOF_KERNEL_LIMIT_MEMORY);
    p[V_DRAM] = 1;
    p[V_L2_CAPACITY] = 1; /* (1/2)^8 */
    f.hit = 256 / 257.0;
    check(&f, ROWS_US * (1 / 257.0 + 256 / 257.0 / 2), ROOF_KERNEL_LIMIT_MEMORY);
    f.hit = 0.5;
    f.workload.working_set = 400000; /* bytes between two uses, however the cache began */
    check(&f, ROWS_US * (0.5 + 0.5 / 2), ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_COLD;
    check(&f, ROWS_US * (0.5 + 0.5 / 2), ROOF_KERNEL_LIMIT_MEMORY);
    p[V_ROW] = 20 * AT_ONCE;
    check(&f, ROWS_US * (0.5 + 0.5 / 2) + 2, ROOF_KERNEL_LIMIT_LATENCY);
    p[V_ROW] = 0;
    f.workload.working_set = 1; /* no less than the data itself */
    f.hit = 256 / 257.0;
    check(&f, ROWS_US * (1 / 257.0 + 256 / 257.0 / 2), ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* Which kernel an operator is, what it moves and how many rows it has. */
static void test_operators(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        enum roof_kernel kernel;
        struct roof_shape shape;
        double bytes;
        double rows;
    } cases[] = {
        {ROOF_OPERATOR_RMSNORM, ROOF_KERNEL_NORM, ROWS, 200e3, 1000},
        {ROOF_OPERATOR_RMSNORM, /* with 50 weights */
         ROOF_KERNEL_NORM,
         {.tokens = 1000, .hidden = 50, .gain = 1},
         200100,
         1000},
        {ROOF_OPERATOR_LAYERNORM, /* with twice 50 */
         ROOF_KERNEL_ACTIVATION,
         {.tokens = 1000, .hidden = 50, .gain = 1},
         200200,
         1000},
        {ROOF_OPERATOR_ROUTER, /* 8 logits in; 2 weights and 2 indices of 4 bytes out */
         ROOF_KERNEL_ACTIVATION,
         {.tokens = 1000, .experts = 8, .top_k = 2},
         28e3,
         1000},
        {ROOF_OPERATOR_HYPER_EXPAND, /* five vectors in, four out */
         ROOF_KERNEL_HYPER_EXPAND,
         {.tokens = 1000, .hidden = 5, .streams = 4},
         90e3,
         1000},
        {ROOF_OPERATOR_HYPER_COLLAPSE, /* 24 x 200 weights; each token waits for all weights */
         ROOF_KERNEL_HYPER_COLLAPSE,
         {.tokens = 4, .hidden = 50, .streams = 4},
         9600 + 4 * 500,
         4 * 10},
        {ROOF_OPERATOR_HYPER_COLLAPSE, /* as many tokens wait as there are SMs */
         ROOF_KERNEL_HYPER_COLLAPSE,
         {.tokens = 11, .hidden = 50, .streams = 4},
         9600 + 11 * 500,
         10 * 10},
        {ROOF_OPERATOR_SOFTMAX, /* a row of 50 scores for each of 4 x 25 x 10 queries */
         ROOF_KERNEL_ACTIVATION,
         {.batch = 4, .heads = 25, .query_len = 10, .kv_len = 50},
         200e3,
         1000},
        {ROOF_OPERATOR_ADD, ROOF_KERNEL_ADD, ROWS, 300e3, 1000},
        {ROOF_OPERATOR_EMBEDDING, ROOF_KERNEL_ADD, ROWS, 200e3, 1000},
        {ROOF_OPERATOR_KV_APPEND, /* K and V of 2 heads, in and out */
         ROOF_KERNEL_ADD,
         {.tokens = 1000, .kv_heads = 2, .head_dim = 25},
         400e3,
         1000},
        {ROOF_OPERATOR_SILU_MUL, ROOF_KERNEL_ACTIVATION, ROWS, 300e3, 1000},
        {ROOF_OPERATOR_GELU, ROOF_KERNEL_ACTIVATION, ROWS, 200e3, 1000},
        {ROOF_OPERATOR_ROPE, /* 8 heads of Q and 2 of K, in and out */
         ROOF_KERNEL_ROPE,
         {.tokens = 1000, .heads = 8, .kv_heads = 2, .head_dim = 10},
         400e3,
         1000},
        {ROOF_OPERATOR_QUANTIZE, ROOF_KERNEL_QUANTIZE, ROWS, 150e3, 1000}, /* 2 bytes in, 1 out */
        /* The inputs of three more tokens, in and out, and four weights for each channel. */
        {ROOF_OPERATOR_SHORT_CONV, ROOF_KERNEL_CONV, {.batch = 1000, .hidden = 20}, 320160, 1000},
        {ROOF_OPERATOR_SHORT_CONV, /* a row is a channel of a sequence */
         ROOF_KERNEL_CONV_PREFILL,
         {.batch = 10, .hidden = 100, .query_len = 77},
         320800,
         1000},
        /* Two in, the sum and its norm out. */
        {ROOF_OPERATOR_ADD_RMSNORM, ROOF_KERNEL_NORM, ROWS, 400e3, 1000},
        {ROOF_OPERATOR_ADD_LAYERNORM, ROOF_KERNEL_ACTIVATION, ROWS, 400e3, 1000},
        {ROOF_OPERATOR_RMSNORM_QUANTIZE, ROOF_KERNEL_NORM, ROWS, 150e3, 1000},
        {ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE, ROOF_KERNEL_NORM, ROWS, 350e3, 1000},
        {ROOF_OPERATOR_SILU_MUL_QUANTIZE, ROOF_KERNEL_ACTIVATION, ROWS, 250e3, 1000},
        {ROOF_OPERATOR_ROPE_APPEND, /* Q, K and V in; Q out, K and V into the cache */
         ROOF_KERNEL_ROPE,
         {.tokens = 1000, .heads = 8, .kv_heads = 2, .head_dim = 10},
         480e3,
         1000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        begin(&f, cases[i].op);
        f.workload.shape = cases[i].shape;
        for (size_t k = 0; k < COUNT(kernels); k++) {
            if (kernels[k] == cases[i].kernel) {
                f.parameter = f.fit[k].parameter;
            }
        }
        double *const p = f.parameter;
        const double memory = cases[i].bytes / 1e5;
        check(&f, memory, ROOF_KERNEL_LIMIT_MEMORY);
        p[V_ROW] = cases[i].kernel == ROOF_KERNEL_NORM ? 50 * AT_ONCE : 50;
        check(&f, memory + 50 * cases[i].rows / 1e4, ROOF_KERNEL_LIMIT_LATENCY);
        p[V_ROW] = 0;
        p[V_LAUNCH] = 5000;
        if (cases[i].op == ROOF_OPERATOR_KV_APPEND) { /* its launch is that of attention */
            check(&f, memory, ROOF_KERNEL_LIMIT_MEMORY);
            assert_true(f.prediction.part[0].expected.launch_s == 0);
        } else {
            check(&f, memory + 5, ROOF_KERNEL_LIMIT_LAUNCH);
        }
        for (size_t k = 0; k < COUNT(kernels); k++) { /* no other kernel stands in */
            if (f.fit[k].parameter == f.parameter) {
                f.fit[k].kernel = ROOF_KERNEL_GEMM;
            }
        }
        assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
        /* An addition stands in for kernels that stream like one. */
        assert_int_equal(isnan(f.prediction.expected_s) != 0, cases[i].kernel < ROOF_KERNEL_STATE);
        roof_hardware_free(f.device);
    }
}

/* Formats show in the bytes only: all have one kernel. */
static void test_formats(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_RMSNORM);
    f.workload.shape = (struct roof_shape)ROWS;
    f.workload.formats.activations = ROOF_PRECISION_FP32;
    f.workload.formats.out = ROOF_PRECISION_FP16;
    check(&f, ROWS_US * 1.5, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.formats.out = ROOF_PRECISION_FP8_E4M3;
    check(&f, ROWS_US * 1.25, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.stack = ROOF_STACK_SGLANG; /* and all stacks the same */
    f.workload.formats.activations = ROOF_PRECISION_FP16;
    check(&f, ROWS_US * 0.75, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.op = ROOF_OPERATOR_KV_APPEND;
    f.workload.shape = (struct roof_shape){.tokens = 1000, .kv_heads = 2, .head_dim = 25};
    f.workload.formats.out = ROOF_PRECISION_AUTO;
    f.workload.formats.kv = ROOF_PRECISION_FP8_E4M3;
    f.parameter = f.fit[1].parameter;
    check(&f, 3, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* --- what holds for all -------------------------------------------------------------------- */

static bool draw_vector(struct roof_workload *w, const struct roof_calibration *c)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_RMSNORM,
                                             ROOF_OPERATOR_LAYERNORM,
                                             ROOF_OPERATOR_SOFTMAX,
                                             ROOF_OPERATOR_ROUTER,
                                             ROOF_OPERATOR_ADD,
                                             ROOF_OPERATOR_EMBEDDING,
                                             ROOF_OPERATOR_KV_APPEND,
                                             ROOF_OPERATOR_SILU_MUL,
                                             ROOF_OPERATOR_GELU,
                                             ROOF_OPERATOR_ROPE,
                                             ROOF_OPERATOR_QUANTIZE,
                                             ROOF_OPERATOR_ADD_RMSNORM,
                                             ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE,
                                             ROOF_OPERATOR_ROPE_APPEND,
                                             ROOF_OPERATOR_SHORT_CONV,
                                             ROOF_OPERATOR_HYPER_COLLAPSE,
                                             ROOF_OPERATOR_HYPER_EXPAND,
                                             ROOF_OPERATOR_KIMI_DELTA};
    (void)c;
    struct roof_shape *const s = &w->shape;
    w->op = ops[draw() % COUNT(ops)];
    w->stack = (int64_t)(draw() % ROOF_STACK_COUNT);
    w->formats.precision = ROOF_PRECISION_BF16;
    switch ((int)w->op) {
    case ROOF_OPERATOR_SOFTMAX:
        s->batch = draw_size(6);
        s->heads = draw_size(6);
        s->query_len = draw_size(10);
        s->kv_len = s->query_len + draw_size(12);
        s->causal = (int64_t)(draw() % 2);
        s->window = draw() % 4 == 0 ? draw_size(12) : 0;
        return true;
    case ROOF_OPERATOR_SHORT_CONV:
        s->batch = draw_size(8);
        s->hidden = draw_size(14);
        s->query_len = draw() % 2 == 0 ? 1 : draw_size(12);
        return true;
    case ROOF_OPERATOR_KIMI_DELTA:
        s->batch = draw_size(8);
        s->heads = draw_size(6);
        s->head_dim = draw_size(7);
        return true;
    case ROOF_OPERATOR_ROUTER:
        s->experts = draw_size(8);
        s->top_k = 1 + (int64_t)(draw() % (uint64_t)s->experts);
        break;
    case ROOF_OPERATOR_ROPE:
    case ROOF_OPERATOR_ROPE_APPEND:
    case ROOF_OPERATOR_KV_APPEND:
        s->kv_heads = draw_size(5);
        s->heads = s->kv_heads * draw_size(4);
        s->head_dim = draw_size(8);
        break;
    default:
        s->hidden = draw_size(15);
        s->gain = roof_operator_has(w->op, ROOF_DIM_GAIN) ? (int64_t)(draw() % 2) : 0;
    }
    s->tokens = draw_size(17);
    return true;
}

static bool allowed(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown)
{
    (void)device;
    (void)grown;
    const struct roof_shape *const s = &w->shape;
    return !(s->causal > 0 && s->query_len > s->kv_len) &&
           (s->kv_heads == 0 || s->heads % s->kv_heads == 0) && s->top_k <= s->experts &&
           s->qk_rope_head_dim <= s->head_dim;
}

static void test_properties(void **unused)
{
    (void)unused;
    check_properties(&(struct properties){.draw = draw_vector, .allowed = allowed});
}

/* A convolution of several tokens takes no less than one of a token of each sequence: 16,800 bytes,
 * and 10 rows of 50 clocks on 10 SMs. */
static void test_convolution(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_SHORT_CONV);
    f.workload.shape = (struct roof_shape){.batch = 10, .hidden = 100, .query_len = 77};
    f.parameter = f.fit[COUNT(kernels) - 1].parameter;
    check(&f, 3.208, ROOF_KERNEL_LIMIT_MEMORY);
    for (size_t k = 0; k < COUNT(kernels); k++) {
        if (kernels[k] == ROOF_KERNEL_CONV) {
            f.parameter = f.fit[k].parameter;
            f.parameter[V_LAUNCH] = 50000;
            f.parameter[V_ROW] = 50;
        }
    }
    /* The memory takes at least 3.208 us for all tokens. */
    check(&f, 50 + 3.208, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.cache = ROOF_CACHE_WARM;
    f.hit = 1 / (1 + pow(16800 / 200000., 8));
    check(&f, 50 + 0.168 * (1 - f.hit) + 0.05, ROOF_KERNEL_LIMIT_LAUNCH);
    roof_hardware_free(f.device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),     cmocka_unit_test(test_warm),
        cmocka_unit_test(test_operators), cmocka_unit_test(test_convolution),
        cmocka_unit_test(test_formats),   cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
