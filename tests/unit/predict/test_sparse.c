// SPDX-License-Identifier: MIT
/* The expected time of the parts of sparse attention with an indexer and of attention to compressed
 * keys: each term alone on a device that makes mental arithmetic, then what holds for all shapes.
 */
#include "properties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_INDEX_PARAMETER(id, key, least, most, start, neutral, meaning) I_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_TOP_K_PARAMETER(id, key, least, most, start, neutral, meaning) K_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_SPARSE_PARAMETER(id, key, least, most, start, neutral, meaning) S_##id,
#include "predict/kernel_parameters.h"
};

enum {
#define ROOF_COMPRESSED_PARAMETER(id, key, least, most, start, neutral, meaning) C_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_GROUPS_PARAMETER(id, key, least, most, start, neutral, meaning) G_##id,
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
    struct roof_kernel_fit fit;
    double *parameter;
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
    double hit; /* share that is found in the L2 */
};

static void begin(struct fixture *f, enum roof_operator op, enum roof_kernel kernel,
                  struct roof_shape shape)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){
        .device = parse_device(DEVICE),
        .fit = empty_fit(kernel, ROOF_STACK_SGLANG),
        .workload = {.formats = ROOF_FORMATS_AUTO, .op = op, .shape = shape},
    };
    f->parameter = f->fit.parameter;
    f->calibration =
        (struct roof_calibration){.id = "ten", .attributions = none, .fit = &f->fit, .count = 1};
    f->device->calibration = &f->calibration;
    f->workload.formats.precision = ROOF_PRECISION_FP16;
}

static void check(struct fixture *f, double us, enum roof_kernel_limit limit)
{
    check_time(&f->prediction, &f->workload, f->device, us, limit, f->hit, 1);
}

/* 32 queries of 4 heads of 10 elements fill two tiles of 64 rows in each of 16 sequences. Scores
 * are 40.96 MFLOP, and those of 128 rows 2.56 MFLOP on one of ten SMs. 41 kB of queries, 320 kB of
 * keys, 1024 kB of scores. */
static void test_index_scores(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(
        &f, ROOF_OPERATOR_INDEX_SCORES, ROOF_KERNEL_INDEX_SCORES,
        (struct roof_shape){
            .batch = 16, .heads = 4, .head_dim = 10, .query_len = 32, .kv_len = 1000, .causal = 0});
    double *const p = f.parameter;
    p[I_PEAK] = p[I_DRAM] = 1;
    check(&f, 40.96, ROOF_KERNEL_LIMIT_COMPUTE);
    p[I_PEAK] = 0.5;
    check(&f, 81.92, ROOF_KERNEL_LIMIT_COMPUTE);
    p[I_PEAK] = 1;
    p[I_OVERLAP] = 0.5;
    check(&f, 40.96 + 25.6 / 2 + 13.8496 / 2, ROOF_KERNEL_LIMIT_COMPUTE);
    p[I_OVERLAP] = 0;
    p[I_BLOCK] = 1000; /* of 32 tiles, or two */
    check(&f, 40.96 + 3.2, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.batch = 1;
    check(&f, 25.6 + 2, ROOF_KERNEL_LIMIT_LATENCY);
    p[I_BLOCK] = 0;
    p[I_LAUNCH] = 30000;
    check(&f, 25.6 + 30, ROOF_KERNEL_LIMIT_LAUNCH);
    p[I_LAUNCH] = 0;
    p[I_OVERLAP] = 1;
    f.workload.cache = ROOF_CACHE_WARM;
    f.hit = 1 / (1 + pow(86560 / 400000., 8));
    check(&f, 2.56 + 25.6 + 0.8656 * (1 - 0.75 * f.hit), ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

/* The four heads of one query take a tile alone, whose keys all SMs share. */
static void test_scores_of_one_query(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_INDEX_SCORES, ROOF_KERNEL_INDEX_SCORES,
          (struct roof_shape){.batch = 16, .heads = 4, .head_dim = 10, .kv_len = 1000});
    double *const p = f.parameter;
    p[I_PEAK] = p[I_DRAM] = 1;
    check(&f, 20.48, ROOF_KERNEL_LIMIT_COMPUTE); /* 1.28 MFLOP in 4 rows of 64 */
    p[I_BLOCK] = 1000;
    check(&f, 20.48 + 1.6, ROOF_KERNEL_LIMIT_COMPUTE);
    p[I_BLOCK] = 0;
    p[I_DRAM] = 0.1; /* 1.28 kB of queries, 320 kB of keys, 32 kB of scores */
    check(&f, 35.328, ROOF_KERNEL_LIMIT_MEMORY);
    roof_hardware_free(f.device);
}

/* From 16 queries on, each of which adds four rows, a tile goes through all keys alone: 1.28 MFLOP
 * on one of ten SMs, twice. */
static void test_scores_of_drafts(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_INDEX_SCORES, ROOF_KERNEL_INDEX_SCORES,
          (struct roof_shape){
              .batch = 1, .heads = 4, .head_dim = 10, .query_len = 15, .kv_len = 1000});
    f.parameter[I_PEAK] = f.parameter[I_DRAM] = 1;
    check(&f, 1.28, ROOF_KERNEL_LIMIT_COMPUTE);
    f.workload.shape.query_len = 16;
    check(&f, 25.6, ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

/* Ten queries of two sequences choose 300 of up to 360 keys: 3555 scores of 2 bytes each. */
static void test_top_k(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_INDEX_TOP_K, ROOF_KERNEL_TOP_K,
          (struct roof_shape){.batch = 2, .query_len = 10, .kv_len = 360, .selected = 300});
    double *const p = f.parameter;
    p[K_DRAM] = 1;
    p[K_L2_CAPACITY] = 1e-3;
    p[K_ROW] = 1000; /* 20 at a time */
    check(&f, 1 + 0.1422, ROOF_KERNEL_LIMIT_LATENCY);
    p[K_KEY] = 10; /* one query has 360 keys, the mean 355.5 */
    check(&f, 4.6 + 0.1422, ROOF_KERNEL_LIMIT_LATENCY);
    p[K_OVERLAP] = 0.5;
    check(&f, 4.6 + 4.555 / 2 + 0.1422, ROOF_KERNEL_LIMIT_LATENCY);
    p[K_OVERLAP] = p[K_KEY] = 0;
    p[K_DRAM] = 0.01;
    check(&f, 1 + 14.22, ROOF_KERNEL_LIMIT_MEMORY);
    f.workload.cache = ROOF_CACHE_WARM;
    p[K_L2_CAPACITY] = 14220 / 400000.;
    f.hit = 0.5;
    check(&f, 1 + 7.11, ROOF_KERNEL_LIMIT_MEMORY);
    p[K_LAUNCH] = 9000;
    check(&f, 1 + 7.11 + 9, ROOF_KERNEL_LIMIT_LAUNCH);
    roof_hardware_free(f.device);
}

/* Queries with no more keys than are chosen take a share of the time. */
static void test_easy_queries(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_INDEX_TOP_K, ROOF_KERNEL_TOP_K,
          (struct roof_shape){.batch = 20, .query_len = 10, .kv_len = 305, .selected = 300});
    double *const p = f.parameter;
    p[K_DRAM] = 1;
    p[K_L2_CAPACITY] = 1e-3;
    p[K_ROW] = 1000;
    p[K_EASY] = 0.5;
    check(&f, 7.5 + 0.606, ROOF_KERNEL_LIMIT_LATENCY); /* 5 queries of 301 to 305 keys */
    f.workload.shape.kv_len = 300;
    check(&f, 5, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.batch = 1;
    check(&f, 0.5, ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

/* The measured kernel stands in for choices of more than 32768 queries of all sequences. */
static void test_many_queries(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_INDEX_TOP_K, ROOF_KERNEL_TOP_K,
          (struct roof_shape){.batch = 16384, .query_len = 2, .kv_len = 256, .selected = 256});
    f.parameter[K_DRAM] = 1;
    f.parameter[K_L2_CAPACITY] = 1e-3;
    f.parameter[K_ROW] = 1000;
    f.parameter[K_EASY] = 1;
    check(&f, 1638.4, ROOF_KERNEL_LIMIT_LATENCY); /* 20 at a time */
    f.workload.shape.batch = 10923;
    f.workload.shape.query_len = 3;
    check_time(&f.prediction, &f.workload, f.device, 1638.45, ROOF_KERNEL_LIMIT_LATENCY, 0, 1.25);
    roof_hardware_free(f.device);
}

/* 64 rows over 100 keys of 90 elements: 1.152 MFLOP on one of ten SMs. */
static void test_sparse_mla(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_SPARSE_MLA, ROOF_KERNEL_SPARSE_MLA,
          (struct roof_shape){.batch = 2,
                              .heads = 4,
                              .query_len = 2,
                              .kv_lora_rank = 40,
                              .qk_rope_head_dim = 10,
                              .kv_len = 1000,
                              .selected = 100});
    double *const p = f.parameter;
    struct roof_shape *const s = &f.workload.shape;
    p[S_PEAK] = 1;
    p[S_ROWS] = 16;
    check(&f, 11.52, ROOF_KERNEL_LIMIT_LATENCY);
    s->kv_len = 50; /* it walks over 100 all the same */
    check(&f, 11.52, ROOF_KERNEL_LIMIT_LATENCY);
    s->batch = 5;
    check(&f, 11.52, ROOF_KERNEL_LIMIT_COMPUTE);
    s->batch = 2;
    s->query_len = 10;
    check(&f, 2 * 11.52, ROOF_KERNEL_LIMIT_COMPUTE);
    s->batch = 7;
    s->query_len = 3;
    check(&f, 2.1 * 11.52, ROOF_KERNEL_LIMIT_COMPUTE);
    p[S_WAVE] = 0.5;
    check(&f, 2.55 * 11.52, ROOF_KERNEL_LIMIT_COMPUTE);
    p[S_ROWS] = 128;
    check(&f, 4.6 * 11.52, ROOF_KERNEL_LIMIT_COMPUTE);
    p[S_ROWS] = 16;
    s->heads = 96;
    check(&f, 3.575 * 11.52, ROOF_KERNEL_LIMIT_COMPUTE);
    p[S_PEAK] = 0.5;
    p[S_LAUNCH] = 100000;
    check(&f, 7.15 * 11.52 + 100, ROOF_KERNEL_LIMIT_LAUNCH);
    roof_hardware_free(f.device);
}

/* One query uses the kernel of latent attention, which has only a launch here. Several queries take
 * at least as long. */
static void test_one_query(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_SPARSE_MLA, ROOF_KERNEL_SPARSE_MLA,
          (struct roof_shape){.heads = 4,
                              .query_len = 2,
                              .kv_lora_rank = 40,
                              .qk_rope_head_dim = 10,
                              .kv_len = 1000,
                              .selected = 100});
    struct roof_kernel_fit fits[] = {f.fit, empty_fit(ROOF_KERNEL_MLA_DECODE, ROOF_STACK_SGLANG)};
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_MLA_DECODE, &count);
    for (size_t i = 0; i < count; i++) {
        fits[1].parameter[i] = row[i].start;
    }
    fits[1].parameter[0] = 50000; /* the launch */
    fits[0].parameter[S_PEAK] = 1;
    f.calibration.fit = fits;
    f.calibration.count = 2;
    assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
    const double two = f.prediction.expected_s;
    assert_ptr_equal(f.prediction.part[0].expected.fit, &fits[1]);
    assert_true(f.prediction.expected_near);
    f.workload.shape.query_len = 1;
    assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
    assert_ptr_equal(f.prediction.part[0].expected.fit, &fits[1]);
    assert_true(f.prediction.expected_near && two >= f.prediction.expected_s);
    f.workload.shape.query_len = 100; /* ten waves */
    check(&f, 10 * 11.52, ROOF_KERNEL_LIMIT_COMPUTE);
    roof_hardware_free(f.device);
}

/* A block of 64 keys for 64 heads of 10 elements takes 163.84 kFLOP on one of ten SMs. Queries see
 * 100 tokens and 100 compressed keys, which are two blocks each. */
static void test_compressed(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_COMPRESSED_ATTENTION, ROOF_KERNEL_COMPRESSED,
          (struct roof_shape){.batch = 2,
                              .heads = 4,
                              .head_dim = 10,
                              .kv_len = 300,
                              .window = 100,
                              .compression = 3});
    double *const p = f.parameter;
    struct roof_shape *const s = &f.workload.shape;
    p[C_PEAK] = 1;
    check(&f, 1.6384, ROOF_KERNEL_LIMIT_LATENCY); /* five SMs for each sequence */
    p[C_COMBINE] = 1000;
    check(&f, 1.6384 + 1, ROOF_KERNEL_LIMIT_LATENCY);
    p[C_COMBINE] = 10000;
    check(&f, 4 * 1.6384, ROOF_KERNEL_LIMIT_LATENCY);
    p[C_COMBINE] = 0;
    s->batch = 3; /* three SMs */
    check(&f, 2 * 1.6384, ROOF_KERNEL_LIMIT_LATENCY);
    s->batch = 7;
    check(&f, 4 * 1.6384, ROOF_KERNEL_LIMIT_LATENCY);
    s->batch = 10;
    check(&f, 4 * 1.6384, ROOF_KERNEL_LIMIT_COMPUTE);
    s->batch = 11;
    check(&f, 8 * 1.6384, ROOF_KERNEL_LIMIT_COMPUTE);
    s->kv_len = 194; /* 64 compressed keys: the last two tokens have none yet */
    check(&f, 6 * 1.6384, ROOF_KERNEL_LIMIT_COMPUTE);
    s->kv_len = 300;
    s->selected = 20; /* which share no block with the tokens */
    check(&f, 6 * 1.6384, ROOF_KERNEL_LIMIT_COMPUTE);
    s->window = 0;
    check(&f, 2 * 6 * 1.6384, ROOF_KERNEL_LIMIT_COMPUTE);
    s->batch = 5;
    s->heads = 65;
    s->query_len = 2; /* two tiles for each */
    check(&f, 2 * 6 * 1.6384, ROOF_KERNEL_LIMIT_COMPUTE);
    p[C_BLOCK] = 1000;
    p[C_PEAK] = 0.5;
    check(&f, 4 * 6 * 1.6384 + 2, ROOF_KERNEL_LIMIT_COMPUTE);
    p[C_LAUNCH] = 100000;
    check(&f, 4 * 6 * 1.6384 + 102, ROOF_KERNEL_LIMIT_LAUNCH);
    roof_hardware_free(f.device);
}

/* A query sees one key and computes 32 more: 84.48 kFLOP on one of ten SMs. */
static void test_compressed_prompt(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_COMPRESSED_ATTENTION, ROOF_KERNEL_COMPRESSED_PREFILL,
          (struct roof_shape){.batch = 5,
                              .heads = 4,
                              .head_dim = 10,
                              .query_len = 20,
                              .kv_len = 20,
                              .window = 1,
                              .compression = 0});
    double *const p = f.parameter;
    struct roof_shape *const s = &f.workload.shape;
    p[G_PEAK] = 1;
    check(&f, 8.448, ROOF_KERNEL_LIMIT_COMPUTE);
    p[G_GROUP] = 4000; /* of four sequences and one */
    check(&f, 8.448 + 8, ROOF_KERNEL_LIMIT_COMPUTE);
    s->batch = 4;
    check(&f, 0.8 * 8.448 + 4, ROOF_KERNEL_LIMIT_COMPUTE);
    p[G_GROUP] = 8000;
    check(&f, 0.8 * 8.448 + 8, ROOF_KERNEL_LIMIT_LATENCY);
    s->heads = 65;
    check(&f, 1.6 * 8.448 + 8, ROOF_KERNEL_LIMIT_COMPUTE);
    p[G_PEAK] = 0.5;
    p[G_BLOCK] = 1000;
    check(&f, 3.2 * 8.448 + 16 + 8, ROOF_KERNEL_LIMIT_COMPUTE);
    p[G_LAUNCH] = 100000;
    check(&f, 3.2 * 8.448 + 24 + 100, ROOF_KERNEL_LIMIT_LAUNCH);
    roof_hardware_free(f.device);
}

/* --- what holds for all -------------------------------------------------------------------- */

static bool draw_sparse(struct roof_workload *w, const struct roof_calibration *c)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_INDEX_SCORES, ROOF_OPERATOR_INDEX_TOP_K,
                                             ROOF_OPERATOR_SPARSE_MLA,
                                             ROOF_OPERATOR_COMPRESSED_ATTENTION};
    (void)c;
    struct roof_shape *const s = &w->shape;
    w->op = ops[draw() % COUNT(ops)];
    w->stack = (int64_t)(draw() % ROOF_STACK_COUNT);
    w->formats.precision = ROOF_PRECISION_BF16;
    s->batch = draw_size(9);
    s->kv_len = draw_size(17);
    s->query_len = 1 + (int64_t)(draw() % (uint64_t)(s->kv_len < 8192 ? s->kv_len : 8192));
    const bool compressed = w->op == ROOF_OPERATOR_COMPRESSED_ATTENTION;
    if (compressed) {
        s->window = (int64_t)(draw() % 200);
        s->compression = (int64_t)(draw() % 5);
    }
    if (w->op != ROOF_OPERATOR_INDEX_SCORES) {
        s->selected = draw_size(12);
    }
    if (w->op != ROOF_OPERATOR_INDEX_TOP_K) {
        s->heads = draw_size(7);
        s->causal = compressed ? 0 : (int64_t)(draw() % 2);
    }
    if (w->op == ROOF_OPERATOR_INDEX_SCORES || compressed) {
        s->head_dim = draw_size(7);
    }
    return true;
}

/* A choice of more keys can be one of all, which is faster, and a key that stands for more tokens
 * leaves fewer keys. */
static bool allowed(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown)
{
    (void)device;
    /* From 16 queries on, attention to compressed keys has another kernel. */
    if (w->op == ROOF_OPERATOR_COMPRESSED_ATTENTION && grown == ROOF_DIM_QUERY_LEN &&
        w->shape.query_len >= 16 && w->shape.query_len <= 2 * 15) {
        return false;
    }
    return w->shape.query_len <= w->shape.kv_len && grown != ROOF_DIM_CAUSAL &&
           grown != ROOF_DIM_COMPRESSION &&
           (w->op != ROOF_OPERATOR_INDEX_TOP_K || grown != ROOF_DIM_SELECTED);
}

static void test_properties(void **unused)
{
    (void)unused;
    check_properties(&(struct properties){.draw = draw_sparse, .allowed = allowed});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index_scores),
        cmocka_unit_test(test_scores_of_one_query),
        cmocka_unit_test(test_scores_of_drafts),
        cmocka_unit_test(test_many_queries),
        cmocka_unit_test(test_top_k),
        cmocka_unit_test(test_easy_queries),
        cmocka_unit_test(test_sparse_mla),
        cmocka_unit_test(test_one_query),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_compressed_prompt),
        cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
