// SPDX-License-Identifier: MIT
/* Speedups taken apart: by hand on small numbers, against all orders written out, and what holds
 * for every pair of sides. */
#include "models.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TIGHT 1e-12

static struct roof_speedup result; /* large, so not on the stack */

static struct roof_workload gemm(int64_t m, int64_t n, int64_t k, enum roof_precision precision)
{
    struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = m, .n = n, .k = k});
    w.formats.precision = precision;
    return w;
}

static void predict(struct roof_prediction *out, const struct roof_workload *w,
                    const struct roof_hardware *hardware)
{
    struct roof_error error = {0};
    if (roof_predict(out, w, hardware, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

static void compare(const struct roof_prediction *a, const struct roof_prediction *b)
{
    struct roof_error error = {0};
    const struct roof_speedup_side from = {"a", a, NULL};
    const struct roof_speedup_side to = {"b", b, NULL};
    if (roof_speedup(&result, &from, &to, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

/* One workload on two devices. */
static void contrast(const struct roof_workload *w, const struct roof_hardware *a,
                     const struct roof_hardware *b)
{
    static struct roof_prediction from;
    static struct roof_prediction to;
    predict(&from, w, a);
    predict(&to, w, b);
    compare(&from, &to);
}

/* A device that takes 1 s per so many bytes and FLOPs. */
static struct roof_hardware *device(double gb_s, double tflops)
{
    char json[256];
    (void)snprintf(json, sizeof json,
                   "{\"id\": \"d\", \"bandwidth_gb_s\": %.17g, \"peak_tflops\": {\"fp16\": %.17g,"
                   " \"fp8\": %.17g}, \"link_gb_s\": 10, \"devices_per_node\": 8}",
                   gb_s, tflops, 2 * tflops);
    return parse_device(json);
}

/* 1000 x 1000 x 1000 at 16 bits: 6 MB and 2 GFLOP. */
static void test_by_hand(void **unused)
{
    (void)unused;
    const struct roof_workload w = gemm(1000, 1000, 1000, ROOF_PRECISION_FP16);
    struct roof_hardware *const a = device(1.5, 1);   /* 4 ms of bytes, 2 ms of FLOPs */
    struct roof_hardware *const b = device(6, 2);     /* 1 ms and 1 ms */
    struct roof_hardware *const c = device(1.5, 0.4); /* 4 ms and 5 ms */
    const struct roof_gain *const g = &result.total.bound;
    contrast(&w, a, b);
    assert_near(g->from_s, 4e-3, TIGHT);
    assert_near(g->to_s, 1e-3, TIGHT);
    assert_near(g->speedup, 4, TIGHT);
    /* Bytes first: 4 to 2, then FLOPs to 1; FLOPs first: nothing, then bytes 4 to 1. */
    assert_near(g->saved_s[ROOF_CAUSE_MEMORY], (2e-3 + 3e-3) / 2, TIGHT);
    assert_near(g->saved_s[ROOF_CAUSE_COMPUTE], (1e-3 + 0) / 2, TIGHT);
    assert_near(g->alone_s[ROOF_CAUSE_MEMORY], 2e-3, TIGHT);
    assert_near(g->alone_s[ROOF_CAUSE_COMPUTE], 4e-3, TIGHT);
    assert_int_equal(result.total.from_bottleneck, ROOF_BOTTLENECK_MEMORY);
    assert_int_equal(result.total.to_bottleneck, ROOF_BOTTLENECK_COMPUTE);
    /* 5 to 1: bytes first save nothing, then FLOPs 4; FLOPs first 1, then bytes 3. */
    contrast(&w, c, b);
    assert_near(g->saved_s[ROOF_CAUSE_MEMORY], (0 + 3e-3) / 2, TIGHT);
    assert_near(g->saved_s[ROOF_CAUSE_COMPUTE], (4e-3 + 1e-3) / 2, TIGHT);
    assert_true(g->saved_s[ROOF_CAUSE_NETWORK] == 0 && g->saved_s[ROOF_CAUSE_LAUNCH] == 0 &&
                g->saved_s[ROOF_CAUSE_KERNELS] == 0);
    assert_string_equal(result.row[0].name, "gemm");
    assert_int_equal(result.count, 1);
    assert_true(isnan(result.total.expected.from_s) &&
                isnan(result.total.expected.saved_s[ROOF_CAUSE_MEMORY]));
    /* In 8 bits it has 2 MB of operands in place of 4; results stay at 16 bits. */
    static struct roof_prediction from;
    static struct roof_prediction to;
    const struct roof_workload half = gemm(1000, 1000, 1000, ROOF_PRECISION_FP8_E4M3);
    predict(&from, &w, c);
    predict(&to, &half, c);
    compare(&from, &to); /* 4 and 5 ms to 8/3 and 2.5 ms */
    assert_near(g->to_s, 8e-3 / 3, TIGHT);
    assert_near(g->saved_s[ROOF_CAUSE_MEMORY], (0 + 4e-3 / 3) / 2, 1e-11);
    assert_near(g->saved_s[ROOF_CAUSE_COMPUTE], (7e-3 / 3 + 1e-3) / 2, 1e-11);
    roof_hardware_free(a);
    roof_hardware_free(b);
    roof_hardware_free(c);
}

/* An all-reduce inside a node: only its links differ. */
static void test_network(void **unused)
{
    (void)unused;
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_ALL_REDUCE;
    w.shape = (struct roof_shape){.elements = 10000000, .devices = 4};
    struct roof_hardware *const a = device(100, 1);
    struct roof_hardware *const b = device(100, 1);
    assert_int_equal(roof_hardware_set(b, "link_gb_s=30", NULL), ROOF_OK);
    contrast(&w, a, b);
    assert_near(result.total.bound.speedup, 3, TIGHT);
    assert_near(result.total.bound.saved_s[ROOF_CAUSE_NETWORK], 2e-3, TIGHT); /* 3 ms to 1 */
    assert_true(result.total.bound.saved_s[ROOF_CAUSE_MEMORY] == 0);
    roof_hardware_free(a);
    roof_hardware_free(b);
}

static double sum_of(const double *values)
{
    double sum = 0;
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        sum += values[i];
    }
    return sum;
}

static void check_gain(const struct roof_gain *g)
{
    if (!isnan(g->from_s)) {
        const double scale = fmax(g->from_s, g->to_s);
        assert_true(fabs(sum_of(g->saved_s) - (g->from_s - g->to_s)) <= TIGHT * scale);
        assert_near(g->speedup, g->from_s / g->to_s, TIGHT);
    }
}

static struct roof_workload drawn(void)
{
    static const enum roof_precision formats[] = {ROOF_PRECISION_FP16, ROOF_PRECISION_BF16,
                                                  ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_NVFP4,
                                                  ROOF_PRECISION_INT8};
    struct roof_workload w = gemm(pick(1, 5000), pick(1, 20000), pick(1, 20000),
                                  formats[(size_t)pick(1, (int64_t)COUNT(formats)) - 1]);
    switch (pick(1, 4)) {
    case 1:
        w.op = ROOF_OPERATOR_FLASH_ATTENTION;
        w.shape = (struct roof_shape){.batch = pick(1, 64),
                                      .heads = 8 * pick(1, 8),
                                      .kv_heads = 8,
                                      .head_dim = 128,
                                      .query_len = pick(1, 2) == 1 ? 1 : pick(1, 4096),
                                      .kv_len = 4096 + pick(1, 4096)};
        break;
    case 2:
        w.op = ROOF_OPERATOR_ATTENTION; /* of three parts */
        w.shape = (struct roof_shape){.batch = pick(1, 8),
                                      .heads = 8 * pick(1, 8),
                                      .kv_heads = 8,
                                      .head_dim = 128,
                                      .query_len = pick(1, 512),
                                      .kv_len = 4096};
        break;
    case 3:
        w.op = ROOF_OPERATOR_RMSNORM;
        w.shape = (struct roof_shape){.tokens = pick(1, 10000), .hidden = 8 * pick(1, 1000)};
        break;
    default:
        break;
    }
    w.cache = pick(1, 2) - 1;
    return w;
}

static const char *const ids[] = {"a100-sxm-80gb", "h100-sxm", "hgx-b200", "l40s"};

/* Shares add up, change sign with the direction, and a side against itself saves nothing. */
static void test_properties(void **unused)
{
    (void)unused;
    struct roof_hardware *of[COUNT(ids)];
    int expected = 0;
    random_state = 20261121;
    for (size_t i = 0; i < COUNT(ids); i++) {
        of[i] = load_calibrated(ids[i]);
    }
    print_message("seed %llu\n", (unsigned long long)random_state);
    for (int n = 0; n < 3000; n++) {
        static struct roof_prediction a;
        static struct roof_prediction b;
        struct roof_workload w = drawn();
        predict(&a, &w, of[pick(1, 4) - 1]);
        if (pick(1, 2) == 1) {
            w.formats.precision = ROOF_PRECISION_FP8_E4M3;
        }
        predict(&b, &w, of[pick(1, 4) - 1]);
        compare(&a, &b);
        const struct roof_speedup_row there = result.total;
        assert_true(there.bound.from_s == a.time_s && there.bound.to_s == b.time_s);
        assert_true(isnan(there.expected.from_s) == (isnan(a.expected_s) || isnan(b.expected_s)));
        check_gain(&there.bound);
        check_gain(&there.expected);
        compare(&b, &a);
        for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
            const double scale = TIGHT * fmax(there.bound.from_s, there.bound.to_s);
            assert_true(fabs(there.bound.saved_s[i] + result.total.bound.saved_s[i]) <= scale);
            if (!isnan(there.expected.from_s)) {
                /* Kernels on a device with the other's times are these of either side. */
                assert_true(fabs(there.expected.saved_s[i] + result.total.expected.saved_s[i]) <=
                            1e-9 * fmax(there.expected.from_s, there.expected.to_s));
            }
        }
        compare(&a, &a);
        for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
            assert_true(result.total.bound.saved_s[i] == 0);
            assert_true(isnan(a.expected_s) || result.total.expected.saved_s[i] == 0);
        }
        expected += isnan(there.expected.from_s) ? 0 : 1;
    }
    assert_true(expected > 2000);
    for (size_t i = 0; i < COUNT(ids); i++) {
        free_calibrated(of[i]);
    }
}

/* If one cause differs, it has all of the saving, also for expected times. */
static void test_single_causes(void **unused)
{
    (void)unused;
    static const struct {
        const char *set;
        enum roof_cause cause;
    } changes[] = {{"bandwidth_gb_s=7000", ROOF_CAUSE_MEMORY},
                   {"peak_tflops.fp16=4000", ROOF_CAUSE_COMPUTE},
                   {"sm_count=200", ROOF_CAUSE_KERNELS},
                   {"l2_bytes=500000000", ROOF_CAUSE_KERNELS}};
    struct roof_workload w[] = {gemm(3, 8192, 8192, ROOF_PRECISION_FP16),
                                gemm(600, 8192, 8192, ROOF_PRECISION_FP16),
                                gemm(8192, 8192, 8192, ROOF_PRECISION_FP16)};
    struct roof_hardware *const a = load_calibrated("h100-sxm");
    int moved = 0;
    for (size_t k = 0; k < COUNT(w); k++) {
        w[k].stack = ROOF_STACK_TRTLLM; /* the fastest stack may change, and its launch with it */
    }
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct roof_hardware *const b = load_calibrated("h100-sxm");
        assert_int_equal(roof_hardware_set(b, changes[i].set, NULL), ROOF_OK);
        for (size_t k = 0; k < COUNT(w); k++) {
            contrast(&w[k], a, b);
            const struct roof_gain *const g = &result.total.expected;
            const double saved = g->from_s - g->to_s;
            assert_true(fabs(g->saved_s[changes[i].cause] - saved) <= 1e-11 * g->from_s);
            assert_near(g->alone_s[changes[i].cause], g->to_s, 1e-11);
            moved += saved != 0;
        }
        free_calibrated(b);
    }
    assert_true(moved >= 6);
    /* So slow that the bound is what is expected: vectors, and a link with its latency. */
    static const struct {
        const char *from[2];
        const char *to[2];
        enum roof_cause cause;
    } slow[] = {{{"vector_tflops.fp32=0.001"}, {"vector_tflops.fp32=0.003"}, ROOF_CAUSE_COMPUTE},
                {{"link_gb_s=0.01", "link_latency_us=100000"},
                 {"link_gb_s=0.02", "link_latency_us=50000"},
                 ROOF_CAUSE_NETWORK},
                {{"network_gb_s=0.01", "network_latency_us=100000"},
                 {"network_gb_s=0.02", "network_latency_us=50000"},
                 ROOF_CAUSE_NETWORK}};
    for (size_t i = 0; i < COUNT(slow); i++) {
        struct roof_hardware *const before = load_calibrated("h100-sxm");
        struct roof_hardware *const after = load_calibrated("h100-sxm");
        for (size_t k = 0; k < 2 && slow[i].from[k] != NULL; k++) {
            assert_int_equal(roof_hardware_set(before, slow[i].from[k], NULL), ROOF_OK);
            assert_int_equal(roof_hardware_set(after, slow[i].to[k], NULL), ROOF_OK);
        }
        struct roof_workload v = ROOF_WORKLOAD_INIT;
        v.op = i == 0 ? ROOF_OPERATOR_RMSNORM : ROOF_OPERATOR_ALL_REDUCE;
        v.shape = i == 0 ? (struct roof_shape){.tokens = 1000, .hidden = 4096}
                         : (struct roof_shape){.elements = 1000000,
                                               .devices = i == 1 ? 4 : 16}; /* of 8 per node */
        contrast(&v, before, after);
        const struct roof_gain *const g = &result.total.expected;
        assert_true(g->from_s > 1.9 * g->to_s);
        assert_near(g->saved_s[slow[i].cause], g->from_s - g->to_s, 1e-9);
        free_calibrated(before);
        free_calibrated(after);
    }
    /* A launch that is left out on one side is all that the other saves. */
    static struct roof_prediction with;
    static struct roof_prediction without;
    struct roof_workload bare = w[0];
    bare.no_launch_overhead = 1;
    predict(&with, &w[0], a);
    predict(&without, &bare, a);
    compare(&with, &without);
    assert_near(result.total.expected.saved_s[ROOF_CAUSE_LAUNCH], with.part[0].expected.launch_s,
                1e-9);
    assert_true(fabs(result.total.expected.saved_s[ROOF_CAUSE_KERNELS]) < 1e-15);
    free_calibrated(a);
}

/* --- all orders ---------------------------------------------------------------------------- */

/* The figures of two devices of which a third has some of either, and the launch of either. */
static const char *const of_cause[][2] = {
    [ROOF_CAUSE_MEMORY] = {"bandwidth_gb_s=2000", "bandwidth_gb_s=5000"},
    [ROOF_CAUSE_COMPUTE] = {"peak_tflops.fp16=500", "peak_tflops.fp16=2000"},
    [ROOF_CAUSE_NETWORK] = {"link_gb_s=100", "link_gb_s=300"},
    [ROOF_CAUSE_LAUNCH] = {"tdp_w=1", "tdp_w=1"},
    [ROOF_CAUSE_KERNELS] = {"sm_count=100", "sm_count=180"}};

/* The prediction once the causes of a set have changed, by a device that is made so. */
static void predict_set(struct roof_prediction *out, struct roof_workload w, unsigned set)
{
    struct roof_hardware *const hardware = load_calibrated("h100-sxm");
    for (unsigned c = 0; c < ROOF_CAUSE_COUNT; c++) {
        assert_int_equal(roof_hardware_set(hardware, of_cause[c][set >> c & 1U], NULL), ROOF_OK);
    }
    w.no_launch_overhead = (set >> ROOF_CAUSE_LAUNCH & 1U) != 0;
    predict(out, &w, hardware);
    out->hardware = NULL; /* is gone */
    free_calibrated(hardware);
}

/* The mean over all 120 orders, each walked. */
static void mean_of_orders(double saved[ROOF_CAUSE_COUNT], const double *time)
{
    int orders = 0;
    for (int code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
        unsigned set = 0;
        double step[ROOF_CAUSE_COUNT] = {0};
        int rest = code;
        for (int k = 0; k < 5; k++, rest /= 5) {
            const unsigned cause = (unsigned)(rest % 5);
            step[cause] = time[set] - time[set | 1U << cause];
            set |= 1U << cause;
        }
        if (set != (1U << 5) - 1) {
            continue; /* no order: one comes twice */
        }
        orders++;
        for (int c = 0; c < ROOF_CAUSE_COUNT; c++) {
            saved[c] += step[c] / 120;
        }
    }
    assert_int_equal(orders, 120);
}

static void test_all_orders(void **unused)
{
    (void)unused;
    struct roof_workload w[] = {
        gemm(64, 4096, 4096, ROOF_PRECISION_FP16), gemm(700, 8192, 2048, ROOF_PRECISION_FP16),
        workload(ROOF_OPERATOR_ALL_REDUCE, (struct roof_shape){.elements = 4000000, .devices = 8})};
    struct roof_hardware *const a = load_calibrated("h100-sxm");
    struct roof_hardware *const b = load_calibrated("h100-sxm");
    for (int c = 0; c < ROOF_CAUSE_COUNT; c++) {
        assert_int_equal(roof_hardware_set(a, of_cause[c][0], NULL), ROOF_OK);
        assert_int_equal(roof_hardware_set(b, of_cause[c][1], NULL), ROOF_OK);
    }
    for (size_t i = 0; i < COUNT(w); i++) {
        static struct roof_prediction from;
        static struct roof_prediction to;
        static struct roof_prediction p;
        double time[1 << ROOF_CAUSE_COUNT];
        double ideal[1 << ROOF_CAUSE_COUNT];
        double saved[ROOF_CAUSE_COUNT] = {0};
        double ideal_saved[ROOF_CAUSE_COUNT] = {0};
        w[i].stack = ROOF_STACK_TRTLLM;
        for (unsigned set = 0; set < COUNT(time); set++) {
            predict_set(&p, w[i], set);
            time[set] = p.expected_s;
            ideal[set] = p.time_s;
        }
        struct roof_workload bare = w[i];
        bare.no_launch_overhead = 1;
        predict(&from, &w[i], a);
        predict(&to, &bare, b);
        compare(&from, &to);
        mean_of_orders(saved, time);
        mean_of_orders(ideal_saved, ideal);
        int matter = 0;
        for (int c = 0; c < ROOF_CAUSE_COUNT; c++) {
            const struct roof_speedup_row *const t = &result.total;
            assert_true(fabs(t->expected.saved_s[c] - saved[c]) <= 1e-9 * from.expected_s);
            assert_true(fabs(t->bound.saved_s[c] - ideal_saved[c]) <= 1e-9 * from.time_s);
            matter += fabs(saved[c]) > 1e-3 * from.expected_s;
        }
        assert_true(matter >= 2);
    }
    free_calibrated(a);
    free_calibrated(b);
}

/* --- models -------------------------------------------------------------------------------- */

static struct roof_model_prediction sides[2];

static void test_models(void **unused)
{
    (void)unused;
    static const char *const names[] = {"llama-3.1-8b", "mixtral-8x7b", "deepseek-v3"};
    struct roof_hardware *const a = load_calibrated("h100-sxm");
    struct roof_hardware *const b = load_calibrated("hgx-b200");
    const struct roof_speedup_side from = {"a", NULL, &sides[0]};
    const struct roof_speedup_side to = {"b", NULL, &sides[1]};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct roof_model *const model = load(names[i]);
        struct roof_error error = {0};
        roof_model_forget_formats(model);
        for (int phase = 0; phase < 2; phase++) {
            struct roof_scenario s =
                asked(phase == 0 ? ROOF_PHASE_DECODE : ROOF_PHASE_PREFILL, 4, 4096);
            s.tp = 8;
            s.common.formats.precision = ROOF_PRECISION_BF16;
            infer_into(&sides[0], model, &s, a);
            s.common.formats.precision = ROOF_PRECISION_FP8_E4M3;
            infer_into(&sides[1], model, &s, b);
            if (roof_speedup(&result, &from, &to, &error) != ROOF_OK) {
                fail_msg("%s", error.message);
            }
            const struct roof_speedup_row *const total = &result.total;
            assert_true(total->bound.from_s == sides[0].total.time_s);
            assert_true(total->bound.to_s == sides[1].total.time_s);
            assert_true(total->expected.from_s == sides[0].total.expected_s);
            assert_true(total->expected.to_s == sides[1].total.expected_s);
            check_gain(&total->bound);
            check_gain(&total->expected);
            double saved[ROOF_CAUSE_COUNT] = {0};
            bool network = false;
            for (size_t k = 0; k < result.count; k++) {
                check_gain(&result.row[k].bound);
                check_gain(&result.row[k].expected);
                assert_string_equal(result.row[k].name, sides[0].node[k].node.name);
                for (int c = 0; c < ROOF_CAUSE_COUNT; c++) {
                    saved[c] += result.row[k].expected.saved_s[c];
                }
                network = network || result.row[k].expected.saved_s[ROOF_CAUSE_NETWORK] != 0;
            }
            for (int c = 0; c < ROOF_CAUSE_COUNT; c++) {
                assert_true(fabs(saved[c] - total->expected.saved_s[c]) <=
                            TIGHT * total->expected.from_s);
            }
            assert_true(network); /* links of the two differ */
        }
        roof_model_free(model);
    }
    free_calibrated(a);
    free_calibrated(b);
}

static void test_refusals(void **unused)
{
    (void)unused;
    struct roof_hardware *const a = load_calibrated("h100-sxm");
    static struct roof_prediction one;
    static struct roof_prediction other;
    struct roof_error error = {0};
    struct roof_workload w = gemm(1, 2, 3, ROOF_PRECISION_FP16);
    predict(&one, &w, a);
    w.op = ROOF_OPERATOR_RMSNORM;
    w.shape = (struct roof_shape){.tokens = 1, .hidden = 8};
    predict(&other, &w, a);
    struct roof_speedup_side from = {"a", &one, NULL};
    struct roof_speedup_side to = {"b", &other, NULL};
    assert_int_equal(roof_speedup(&result, &from, &to, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "the same workload"));
    struct roof_model *const model = load("llama-3.1-8b");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 0);
    infer_into(&sides[0], model, &s, a);
    to.model_prediction = &sides[0];
    assert_int_equal(roof_speedup(&result, &from, &to, &error), ROOF_USAGE);
    s.tp = 2; /* has collectives, which the other has not */
    infer_into(&sides[1], model, &s, a);
    from.model_prediction = &sides[1];
    assert_int_equal(roof_speedup(&result, &from, &to, &error), ROOF_USAGE);
    from.model_prediction = &sides[0]; /* the other way round, too */
    to.model_prediction = &sides[1];
    assert_int_equal(roof_speedup(&result, &from, &to, &error), ROOF_USAGE);
    s.tp = 1;
    s.prompt = s.generate = 10; /* a whole request has no operators of one pass */
    infer_into(&sides[0], model, &s, a);
    for (int i = 1; i < 4; i++) { /* on either side, or on both */
        from.model_prediction = &sides[(i & 1) == 0];
        to.model_prediction = &sides[(i & 2) == 0];
        assert_int_equal(roof_speedup(&result, &from, &to, &error), ROOF_USAGE);
        assert_non_null(strstr(error.message, "compares one phase"));
        assert_non_null(strstr(error.message, "prefill context 10, or by phase decode context 15"));
    }
    roof_model_free(model);
    free_calibrated(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_network),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_single_causes),
        cmocka_unit_test(test_all_orders), cmocka_unit_test(test_models),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
