// SPDX-License-Identifier: MIT
/* Crossovers: by hand, and against every single number of rows. */
#include "accuracy.h"

#include <stdbool.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id

static struct roof_crossovers found;
static struct roof_recommendation one;

static void search(const struct roof_workload *w, const struct roof_hardware *hardware,
                   const struct roof_recommend_options *options)
{
    struct roof_error error = {0};
    if (roof_crossovers(&found, w, hardware, &accuracy, options, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

static const struct roof_crossover *of(enum roof_precision format)
{
    for (size_t i = 0; i < found.count; i++) {
        if (found.of[i].format == format) {
            return &found.of[i];
        }
    }
    fail_msg("%s is not there", roof_format(format)->name);
    return NULL;
}

/* 100 GB/s; fp16 1 TFLOP/s, fp8 2, nvfp4 4. n = k = 1000. */
static void test_by_hand(void **unused)
{
    (void)unused;
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3), P(INT4)};
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    options.formats = list;
    options.format_count = COUNT(list);
    options.objective = ROOF_OBJECTIVE_TIME;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 7, .n = 1000, .k = 1000});
    search(&w, device, &options);
    assert_int_equal(found.along, ROOF_DIM_M);
    assert_int_equal(found.last, ROOF_CROSSOVER_MAX);
    assert_int_equal(found.count, 3);
    /* fp16: 2e6 m FLOP at 1e12 against (2e6 + 4000 m) bytes at 1e11: m >= 20 / 1.96 = 10.2. */
    assert_int_equal(of(P(FP16))->compute_bound, 11);
    /* fp8 at 2e12, results of 16 bits: m >= (1e6 + 3000 m) 1e-5: 10 / 0.97 = 10.3. */
    assert_int_equal(of(P(FP8_E4M3))->compute_bound, 11);
    assert_int_equal(of(P(FP8_E4M3))->no_gain, 0);
    /* int4 by fp16: m >= (0.5e6 + 4000 m) / 2e5: 2.5 / 0.98 = 2.55. */
    assert_int_equal(of(P(INT4))->compute_bound, 3);
    /* From there on 2 m us, fp16 (20 + 0.04 m) us until it is bound likewise: 1.01 x 2 m >=
     * 20 + 0.04 m from m = 20 / 1.98 = 10.1. */
    assert_int_equal(of(P(INT4))->no_gain, 11);
    assert_int_equal(of(P(INT4))->gains, 1);
    assert_int_equal(of(P(INT4))->gain[0].from, 1);
    assert_int_equal(of(P(INT4))->gain[0].to, 10);
    assert_int_equal(of(P(FP8_E4M3))->gains, 1);
    assert_int_equal(of(P(FP8_E4M3))->gain[0].to, ROOF_CROSSOVER_MAX);
    assert_int_equal(of(P(FP16))->gains, 0);
    /* fp8 takes (10 + 0.03 m) us, int4 2 m us from 3 rows on: 10 / 1.97 = 5.1. */
    assert_int_equal(found.winners, 2);
    assert_int_equal(found.winner[0].from, 1);
    assert_int_equal(found.winner[0].format, P(INT4));
    assert_int_equal(found.winner[1].from, 6);
    assert_int_equal(found.winner[1].format, P(FP8_E4M3));
    assert_false(found.more);
    /* A gemv is the gemm with one row. */
    const struct roof_crossovers same = found;
    const struct roof_workload v =
        workload(ROOF_OPERATOR_GEMV, (struct roof_shape){.n = 1000, .k = 1000});
    search(&v, device, &options);
    assert_int_equal(found.along, ROOF_DIM_M);
    assert_int_equal(found.winner[1].from, same.winner[1].from);
    /* Constraints change what is best, not where it is bound. */
    options.max_loss = ROOF_ACCURACY_MINIMAL;
    search(&w, device, &options);
    assert_int_equal(found.winners, 1);
    assert_int_equal(found.winner[0].format, P(FP16));
    assert_int_equal(of(P(INT4))->compute_bound, 3);
    options.formats = &list[2];
    options.format_count = 1;
    search(&w, device, &options);
    assert_int_equal(found.winners, 1);
    assert_int_equal(found.winner[0].format, P(AUTO));
    roof_hardware_free(device);
}

static bool compute_bound(const struct roof_candidate *c)
{
    return c->prediction.bottleneck == ROOF_BOTTLENECK_COMPUTE;
}

/* Tells whether some rows lie in a range in which a format gains something. */
static bool gains_at(const struct roof_crossover *c, int64_t rows)
{
    bool in = false;
    for (size_t i = 0; i < c->gains; i++) {
        in = in || (rows >= c->gain[i].from && rows <= c->gain[i].to);
    }
    return in;
}

/* Every number of rows one by one says the same. */
static void check_all(struct roof_workload w, const struct roof_hardware *hardware,
                      struct roof_recommend_options options)
{
    int64_t bound[ROOF_PRECISION_COUNT] = {0};
    int64_t no_gain[ROOF_PRECISION_COUNT] = {0};
    size_t at = 0;
    search(&w, hardware, &options);
    assert_in_range(found.last, 100, 3000);
    for (int64_t rows = 1; rows <= found.last; rows++) {
        struct roof_error error = {0};
        roof_input_put(&w, &roof_dimensions[found.along], rows);
        assert_int_equal(roof_recommend(&one, &w, hardware, &accuracy, &options, &error), ROOF_OK);
        while (at + 1 < found.winners && found.winner[at + 1].from <= rows) {
            at++;
        }
        assert_int_equal(one.candidate[0].format, found.winner[at].format);
        for (size_t i = 0; i < one.count; i++) {
            const struct roof_candidate *const c = &one.candidate[i];
            if (!compute_bound(c)) {
                bound[c->format] = rows;
            }
            if (c->speedup > 1.01) {
                no_gain[c->format] = rows;
            }
            assert_int_equal(gains_at(of(c->format), rows), c->speedup > 1.01);
        }
    }
    assert_int_equal(at + 1, found.winners);
    for (size_t i = 0; i < found.count; i++) {
        const struct roof_crossover *const c = &found.of[i];
        assert_int_equal(c->compute_bound,
                         bound[c->format] == found.last ? 0 : bound[c->format] + 1);
        const bool none = c->format == P(FP16) || no_gain[c->format] == found.last;
        assert_int_equal(c->no_gain, none ? 0 : no_gain[c->format] + 1);
    }
}

static void test_every_row(void **unused)
{
    (void)unused;
    static const char *const ids[] = {"gb10", "h100-sxm", "a100-sxm-80gb"};
    const struct roof_workload w[] = {
        workload(ROOF_OPERATOR_FLASH_ATTENTION,
                 (struct roof_shape){.heads = 32, .kv_heads = 8, .head_dim = 128, .kv_len = 1000}),
        workload(ROOF_OPERATOR_FLASH_ATTENTION,
                 (struct roof_shape){
                     .heads = 64, .kv_heads = 1, .head_dim = 64, .kv_len = 2000, .causal = 1}),
        workload(ROOF_OPERATOR_ATTENTION,
                 (struct roof_shape){.heads = 4, .kv_heads = 4, .head_dim = 64, .kv_len = 300}),
        workload(ROOF_OPERATOR_MLA_DECODE, (struct roof_shape){.heads = 128, .kv_len = 500}),
    };
    for (size_t d = 0; d < COUNT(ids); d++) {
        struct roof_hardware *const device = load_device(ids[d]);
        for (size_t i = 0; i < COUNT(w); i++) {
            struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
            check_all(w[i], device, options);
            options.objective = ROOF_OBJECTIVE_TIME;
            check_all(w[i], device, options);
        }
        roof_hardware_free(device);
    }
}

/* Expected times are less smooth: every change that is found is one, and they are in order. */
static void test_expected(void **unused)
{
    (void)unused;
    struct roof_hardware *const device =
        load_calibrated("a100-sxm-80gb"); /* with its own kernels of all widths */
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    options.ranking = ROOF_RANKING_EXPECTED;
    struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 1, .n = 8192, .k = 8192});
    search(&w, device, &options);
    assert_true(found.winners > 1);
    for (size_t i = 1; i < found.winners; i++) {
        assert_true(found.winner[i].from > found.winner[i - 1].from);
        for (int64_t back = 0; back < 2; back++) {
            w.shape.m = found.winner[i].from - back;
            assert_int_equal(roof_recommend(&one, &w, device, &accuracy, &options, NULL), ROOF_OK);
            assert_int_equal(one.candidate[0].format, found.winner[i - (size_t)back].format);
        }
    }
    for (size_t i = 0; i < found.count; i++) {
        const struct roof_crossover *const c = &found.of[i];
        for (int64_t back = 0; back < 2 && c->no_gain > 1; back++) {
            w.shape.m = c->no_gain - back;
            assert_int_equal(roof_recommend(&one, &w, device, &accuracy, &options, NULL), ROOF_OK);
            for (size_t k = 0; k < one.count; k++) {
                if (one.candidate[k].format == c->format) {
                    assert_int_equal(one.candidate[k].expected_speedup <= 1.1, back == 0);
                }
            }
        }
        for (size_t g = 0; g < c->gains; g++) {
            assert_true(c->gain[g].from <= c->gain[g].to);
            assert_true(g == 0 || c->gain[g].from > c->gain[g - 1].to + 1);
            w.shape.m = c->gain[g].from;
            assert_int_equal(roof_recommend(&one, &w, device, &accuracy, &options, NULL), ROOF_OK);
            for (size_t k = 0; k < one.count; k++) {
                assert_true(one.candidate[k].format != c->format ||
                            one.candidate[k].expected_speedup > 1.1);
            }
        }
        for (int64_t back = 0; back < 2 && c->compute_bound > 1; back++) {
            w.shape.m = c->compute_bound - back;
            assert_int_equal(roof_recommend(&one, &w, device, &accuracy, &options, NULL), ROOF_OK);
            for (size_t k = 0; k < one.count; k++) {
                if (one.candidate[k].format == c->format) {
                    assert_int_equal(compute_bound(&one.candidate[k]), back == 0);
                }
            }
        }
    }
    free_calibrated(device);
}

static void test_none(void **unused)
{
    (void)unused;
    struct roof_hardware *device = parse_device(SYNTHETIC);
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    struct roof_workload w =
        workload(ROOF_OPERATOR_ALL_REDUCE, (struct roof_shape){.elements = 1000, .devices = 2});
    search(&w, device, &options);
    assert_int_equal(found.along, ROOF_DIM_COUNT);
    roof_hardware_free(device);
    /* Vectors are memory-bound, and narrower ones faster, at any length. */
    device = load_device("h100-sxm");
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3)};
    options.formats = list;
    options.format_count = COUNT(list);
    w = workload(ROOF_OPERATOR_RMSNORM, (struct roof_shape){.tokens = 1, .hidden = 4096});
    search(&w, device, &options);
    assert_int_equal(found.along, ROOF_DIM_TOKENS);
    assert_int_equal(of(P(FP8_E4M3))->no_gain, 0);
    assert_int_equal(of(P(FP8_E4M3))->compute_bound, 0);
    w.shape.hidden = 0;
    struct roof_error error = {0};
    assert_int_equal(roof_crossovers(&found, &w, device, &accuracy, &options, &error), ROOF_USAGE);
    roof_hardware_free(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, load_accuracy, free_accuracy);
}
