// SPDX-License-Identifier: MIT
/* Recommendations: order, constraints, and reasons that are true. */
#include "accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EXACT 0
#define TIGHT 1e-12
#define SHAPE(...) ((struct roof_shape){__VA_ARGS__})
#define P(id) ROOF_PRECISION_##id

/* Large, so not on the stack. */
static struct roof_recommendation result;

static void recommend(const struct roof_workload *w, const struct roof_hardware *hardware,
                      const struct roof_accuracy *losses, struct roof_recommend_options options)
{
    struct roof_error error = {0};
    if (roof_recommend(&result, w, hardware, losses, &options, &error) != ROOF_OK) {
        fail_msg("%s on %s: %s", roof_operator_row(w->op)->name, hardware->id, error.message);
    }
}

static struct roof_recommend_options formats(const enum roof_precision *list, size_t count)
{
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    options.formats = list;
    options.format_count = count;
    return options;
}

static const struct roof_candidate *find(enum roof_precision format)
{
    for (size_t i = 0; i < result.count + result.rejected; i++) {
        if (result.candidate[i].format == format) {
            return &result.candidate[i];
        }
    }
    fail_msg("%s is no candidate", roof_format(format)->name);
    return NULL;
}

static void assert_order(const enum roof_precision *expected, size_t count)
{
    assert_int_equal(result.count, count);
    for (size_t i = 0; i < count; i++) {
        if (result.candidate[i].format != expected[i] || result.candidate[i].rank != (int)i + 1) {
            fail_msg("rank %d is %s, expected %s", result.candidate[i].rank,
                     roof_format(result.candidate[i].format)->name, roof_format(expected[i])->name);
        }
    }
}

/* --- the example that must hold ------------------------------------------------------------ */

/*
 * 1 x 4096 x 4096 on GB10, memory-bound: the speedup is a ratio of bytes. fp16 has 33570816, nvfp4
 * 9447688, int4 8398848, mxfp4 8912896 + 2176 + 8192, fp8 and int8 16789504, mxfp8 17301504 + 4224
 * + 8192. Within 20% of int4 are mxfp4 (6% more) and nvfp4 (12% more), which loses least.
 */
static void test_gemm_on_gb10(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_precision format;
        const char *method;
        double bytes;
    } expected[] = {{P(NVFP4), "native_fp4", 9447688},
                    {P(INT4), "native_int4", 8398848},
                    {P(MXFP4), "native_mxfp4", 8923264},
                    {P(FP8_E4M3), "native_fp8", 16789504}, /* before int8: less loss, same time */
                    {P(INT8), "native_int8", 16789504},
                    {P(MXFP8_E4M3), "native_mxfp8_e4m3", 17313920},
                    {P(FP16), "native_fp16", 33570816}};
    struct roof_hardware *const gb10 = load_device("gb10");
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 1, .n = 4096, .k = 4096));
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    recommend(&w, gb10, &accuracy, options);
    assert_int_equal(result.count, COUNT(expected));
    assert_int_equal(result.rejected, 0);
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct roof_candidate *const c = &result.candidate[i];
        assert_int_equal(c->format, expected[i].format);
        assert_int_equal(c->rank, i + 1);
        assert_string_equal(c->method, expected[i].method);
        assert_near(c->prediction.bytes, expected[i].bytes, EXACT);
        assert_near(c->speedup, 33570816 / expected[i].bytes, TIGHT);
        assert_int_equal(c->loss, accuracy.of[c->format].loss);
    }
    assert_true(fabs(result.candidate[0].speedup - 3.553) < 0.0005);
    assert_non_null(strstr(result.candidate[0].reason, "least accuracy loss (1-2%)"));
    assert_non_null(strstr(result.candidate[0].reason, "within 20% of the fastest (int4)"));
    assert_non_null(strstr(result.candidate[0].reason, "memory-bound"));
    assert_non_null(strstr(result.candidate[1].reason, "12% faster than nvfp4"));
    assert_non_null(strstr(result.candidate[1].reason, "more accuracy loss (2-5%)"));
    assert_non_null(strstr(result.candidate[3].reason, "78% slower than nvfp4")); /* 1.777 */
    assert_non_null(strstr(result.candidate[3].reason, "less accuracy loss (<1%)"));
    assert_non_null(strstr(result.candidate[4].reason, "the same accuracy loss (1-2%)"));
    assert_non_null(strstr(result.candidate[6].reason, "takes 3.6x the time of nvfp4"));

    options.objective = ROOF_OBJECTIVE_TIME;
    recommend(&w, gb10, &accuracy, options);
    static const enum roof_precision by_time[] = {P(INT4), P(MXFP4),      P(NVFP4), P(FP8_E4M3),
                                                  P(INT8), P(MXFP8_E4M3), P(FP16)};
    assert_order(by_time, COUNT(by_time));
    assert_true(fabs(result.candidate[0].speedup - 3.997) < 0.0005);
    assert_non_null(strstr(result.candidate[0].reason, "the fastest"));
    roof_hardware_free(gb10);
}

static void test_defaults(void **unused)
{
    (void)unused;
    static const enum roof_precision expected[] = {P(FP16),       P(FP8_E4M3), P(INT8), P(INT4),
                                                   P(MXFP8_E4M3), P(MXFP4),    P(NVFP4)};
    size_t count = 0;
    const enum roof_precision *const defaults = roof_recommend_defaults(&count);
    assert_int_equal(count, COUNT(expected));
    assert_memory_equal(defaults, expected, sizeof expected);
    const struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    assert_int_equal(options.objective, ROOF_OBJECTIVE_BALANCED);
    assert_int_equal(options.max_loss, ROOF_ACCURACY_2_TO_5);
    assert_false(options.native_only);
    assert_near(ROOF_BALANCED_SLACK, 0.2, EXACT);
}

/* --- order --------------------------------------------------------------------------------- */

/* Compute-bound: 10^4 x 10^4 x 3 x 10^4 are 6 x 10^12 FLOPs, so 1 TFLOP/s takes 6 s and 1.2 5 s. */
#define PEAKS(peaks)                                                                               \
    "{\"id\": \"peaks\", \"bandwidth_gb_s\": 10000, \"peak_tflops\": {" peaks "},"                 \
    " \"vector_tflops\": {\"fp32\": 0.1}}"

static struct roof_workload six_tera(void)
{
    return workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 10000, .n = 10000, .k = 30000));
}

/* Losses as the test wants them; all others severe. */
static struct roof_accuracy losses(enum roof_accuracy_class fp16, enum roof_accuracy_class fp8,
                                   enum roof_accuracy_class int8, enum roof_accuracy_class nvfp4)
{
    struct roof_accuracy made = {.document = NULL};
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        made.of[p].loss = ROOF_ACCURACY_SEVERE;
    }
    made.of[P(FP16)].loss = fp16;
    made.of[P(FP8_E4M3)].loss = fp8;
    made.of[P(FP8_E5M2)].loss = fp8;
    made.of[P(INT8)].loss = int8;
    made.of[P(NVFP4)].loss = nvfp4;
    return made;
}

/* "Within 20%" holds at exactly 20%. */
static void test_edge_of_twenty_percent(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        double slower, faster; /* seconds: fp16, fp8 */
        enum roof_precision balanced;
    } cases[] = {
        {PEAKS("\"fp16\": 1, \"fp8\": 1.2"), 6, 5, P(FP16)},
        {PEAKS("\"fp16\": 1, \"fp8\": 1.25"), 6, 4.8, P(FP8_E4M3)},
        {PEAKS("\"fp16\": 1, \"fp8\": 1.2000001"), 6, 5, P(FP8_E4M3)},
        {PEAKS("\"fp16\": 1, \"fp8\": 1.1999999"), 6, 5, P(FP16)},
    };
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3)};
    const struct roof_accuracy made = losses(ROOF_ACCURACY_NONE, ROOF_ACCURACY_BELOW_1,
                                             ROOF_ACCURACY_SEVERE, ROOF_ACCURACY_SEVERE);
    const struct roof_workload w = six_tera();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const device = parse_device(cases[i].device);
        struct roof_recommend_options options = formats(list, COUNT(list));
        recommend(&w, device, &made, options);
        assert_near(find(P(FP16))->prediction.time_s, cases[i].slower, 1e-6);
        assert_near(find(P(FP8_E4M3))->prediction.time_s, cases[i].faster, 1e-6);
        assert_int_equal(result.candidate[0].format, cases[i].balanced);
        assert_string_equal(
            result.candidate[0].reason,
            cases[i].balanced == P(FP16)
                ? "least accuracy loss (none) within 20% of the fastest "
                  "(fp8_e4m3); compute-bound"
                : "the fastest, and no format near it loses less accuracy; compute-bound");
        options.objective = ROOF_OBJECTIVE_TIME;
        recommend(&w, device, &made, options);
        assert_int_equal(result.candidate[0].format, P(FP8_E4M3));
        assert_string_equal(result.candidate[0].reason, "the fastest; compute-bound");
        roof_hardware_free(device);
    }
}

/* 6, 5.5, 5 and 7.5 s: three are near the fastest and go by their loss; the rest by time. */
static void test_near_ones_go_by_accuracy(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(
        PEAKS("\"fp16\": 0.8, \"fp8\": 1, \"int8\": 1.0909090909090909, \"nvfp4\": 1.2"));
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3), P(INT8), P(NVFP4)};
    static const enum roof_precision expected[] = {P(FP8_E4M3), P(INT8), P(NVFP4), P(FP16)};
    const struct roof_accuracy made = losses(ROOF_ACCURACY_NONE, ROOF_ACCURACY_MINIMAL,
                                             ROOF_ACCURACY_BELOW_1, ROOF_ACCURACY_1_TO_2);
    const struct roof_workload w = six_tera();
    recommend(&w, device, &made, formats(list, COUNT(list)));
    assert_order(expected, COUNT(expected));
    assert_near(result.candidate[0].speedup, 1.25, TIGHT);
    assert_non_null(strstr(result.candidate[0].reason, "within 20% of the fastest (nvfp4)"));
    assert_non_null(strstr(result.candidate[0].reason, "compute-bound"));
    assert_non_null(strstr(result.candidate[2].reason, "20% faster than fp8_e4m3"));
    assert_non_null(strstr(result.candidate[3].reason, "25% slower than fp8_e4m3"));
    roof_hardware_free(device);
}

/* A ratio that rounds to 0% reads "as fast"; from 1.95 on it rounds to twice. Ratios are exact. */
static void test_edges_of_reasons(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        enum roof_objective objective; /* that the other one does not win by */
        enum roof_precision other;
        const char *reason;
    } cases[] = {
        {PEAKS("\"fp16\": 1, \"fp8\": 1.005"), ROOF_OBJECTIVE_TIME, P(FP16), "as fast as fp8_e4m3"},
        {PEAKS("\"fp16\": 1, \"fp8\": 1.006"), ROOF_OBJECTIVE_TIME, P(FP16), "1% slower than"},
        {PEAKS("\"fp16\": 0.996, \"fp8\": 1"), ROOF_OBJECTIVE_BALANCED, P(FP8_E4M3), "as fast as"},
        {PEAKS("\"fp16\": 0.995, \"fp8\": 1"), ROOF_OBJECTIVE_BALANCED, P(FP8_E4M3), "1% faster"},
        {PEAKS("\"fp16\": 1, \"fp8\": 1.949"), ROOF_OBJECTIVE_TIME, P(FP16), "95% slower than"},
        {PEAKS("\"fp16\": 1, \"fp8\": 1.95"), ROOF_OBJECTIVE_TIME, P(FP16), "takes 2.0x the time"},
    };
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3)};
    const struct roof_accuracy made = losses(ROOF_ACCURACY_NONE, ROOF_ACCURACY_BELOW_1,
                                             ROOF_ACCURACY_SEVERE, ROOF_ACCURACY_SEVERE);
    const struct roof_workload w = six_tera();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const device = parse_device(cases[i].device);
        struct roof_recommend_options options = formats(list, COUNT(list));
        options.objective = cases[i].objective;
        recommend(&w, device, &made, options);
        assert_int_equal(result.candidate[1].format, cases[i].other);
        if (strstr(result.candidate[1].reason, cases[i].reason) != result.candidate[1].reason) {
            fail_msg("%s, expected %s", result.candidate[1].reason, cases[i].reason);
        }
        roof_hardware_free(device);
    }
}

/* Same time: less loss first; same loss too: the catalog's order, whatever order was asked in. */
static void test_ties(void **unused)
{
    (void)unused;
    struct roof_hardware *const device =
        parse_device(PEAKS("\"fp16\": 1, \"fp8\": 2, \"int8\": 2"));
    static const enum roof_precision list[] = {P(INT8), P(FP8_E5M2), P(FP8_E4M3)};
    static const enum roof_precision by_loss[] = {P(INT8), P(FP8_E4M3), P(FP8_E5M2)};
    static const enum roof_precision by_catalog[] = {P(FP8_E4M3), P(FP8_E5M2), P(INT8)};
    const struct roof_workload w = six_tera();
    for (int objective = ROOF_OBJECTIVE_BALANCED; objective <= ROOF_OBJECTIVE_TIME; objective++) {
        struct roof_recommend_options options = formats(list, COUNT(list));
        options.objective = (enum roof_objective)objective;
        struct roof_accuracy made = losses(ROOF_ACCURACY_NONE, ROOF_ACCURACY_1_TO_2,
                                           ROOF_ACCURACY_BELOW_1, ROOF_ACCURACY_SEVERE);
        recommend(&w, device, &made, options);
        assert_order(by_loss, COUNT(by_loss));
        assert_non_null(strstr(result.candidate[1].reason, "as fast as int8"));
        made = losses(ROOF_ACCURACY_NONE, ROOF_ACCURACY_BELOW_1, ROOF_ACCURACY_BELOW_1,
                      ROOF_ACCURACY_SEVERE);
        recommend(&w, device, &made, options);
        assert_order(by_catalog, COUNT(by_catalog));
    }
    roof_hardware_free(device);
}

/* --- constraints --------------------------------------------------------------------------- */

static void test_max_loss(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb10 = load_device("gb10");
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 1, .n = 4096, .k = 4096));
    for (int max = ROOF_ACCURACY_NONE; max < ROOF_ACCURACY_CLASS_COUNT; max++) {
        struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
        options.max_loss = (enum roof_accuracy_class)max;
        struct roof_error error = {0};
        const enum roof_status status =
            roof_recommend(&result, &w, gb10, &accuracy, &options, &error);
        assert_int_equal(result.count + result.rejected, 7);
        assert_int_equal(status, result.count > 0 ? ROOF_OK : ROOF_UNSATISFIED);
        for (size_t i = 0; i < 7; i++) {
            const struct roof_candidate *const c = &result.candidate[i];
            assert_int_equal(i < result.count, c->loss <= options.max_loss);
            if (i >= result.count) {
                assert_int_equal(c->rank, 0);
                assert_non_null(strstr(c->reason, roof_accuracy_name(c->loss)));
                assert_non_null(strstr(c->reason, roof_accuracy_name(options.max_loss)));
            }
        }
    }
    roof_hardware_free(gb10);
}

/* A severe loss is never recommended unless asked for, however fast it is. */
static void test_severe(void **unused)
{
    (void)unused;
    static const enum roof_precision list[] = {P(INT2), P(FP16), P(Q2_K)};
    struct roof_hardware *const gb10 = load_device("gb10");
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 1, .n = 4096, .k = 4096));
    struct roof_recommend_options options = formats(list, COUNT(list));
    for (int objective = ROOF_OBJECTIVE_BALANCED; objective <= ROOF_OBJECTIVE_TIME; objective++) {
        options.objective = (enum roof_objective)objective;
        recommend(&w, gb10, &accuracy, options);
        assert_int_equal(result.count, 1);
        assert_int_equal(result.candidate[0].format, P(FP16));
        assert_non_null(strstr(find(P(INT2))->reason, "severe"));
        assert_non_null(strstr(find(P(INT2))->reason, "--max-accuracy-loss"));
        assert_true(find(P(INT2))->speedup > 4); /* it would have been the fastest */
    }
    options.max_loss = ROOF_ACCURACY_SEVERE;
    recommend(&w, gb10, &accuracy, options);
    assert_int_equal(result.count, 3);
    assert_int_equal(result.candidate[0].format, P(INT2));
    roof_hardware_free(gb10);
}

/* Every candidate rejected: the answer is no, and the reasons are there, in catalog order. */
static void test_unsatisfied(void **unused)
{
    (void)unused;
    static const enum roof_precision list[] = {P(NVFP4), P(FP16), P(INT8)};
    static const enum roof_precision ordered[] = {P(FP16), P(INT8), P(NVFP4)};
    struct roof_hardware *const gb10 = load_device("gb10");
    const struct roof_workload w = workload(ROOF_OPERATOR_GEMV, SHAPE(.n = 64, .k = 64));
    struct roof_recommend_options options = formats(list, COUNT(list));
    struct roof_error error = {0};
    options.max_loss = ROOF_ACCURACY_NONE;
    assert_int_equal(roof_recommend(&result, &w, gb10, &accuracy, &options, &error),
                     ROOF_UNSATISFIED);
    assert_int_equal(error.status, ROOF_UNSATISFIED);
    assert_true(error.message[0] != '\0');
    assert_int_equal(result.count, 0);
    assert_int_equal(result.rejected, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(result.candidate[i].format, ordered[i]);
        assert_int_equal(result.candidate[i].rank, 0);
        assert_true(result.candidate[i].reason[0] != '\0');
        assert_true(result.candidate[i].speedup > 0);
    }
    assert_int_equal(roof_recommend(&result, &w, gb10, &accuracy, &options, NULL),
                     ROOF_UNSATISFIED);
    options.format_count = 0; /* nothing to choose from */
    assert_int_equal(roof_recommend(&result, &w, gb10, &accuracy, &options, NULL),
                     ROOF_UNSATISFIED);
    assert_int_equal(result.count + result.rejected, 0);
    roof_hardware_free(gb10);
}

static void test_native_only(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb200 = load_device("gb200"); /* no INT4 unit */
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 1, .n = 4096, .k = 4096));
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    recommend(&w, gb200, &accuracy, options);
    assert_int_equal(result.rejected, 0);
    options.native_only = true;
    recommend(&w, gb200, &accuracy, options);
    assert_int_equal(result.rejected, 1);
    assert_int_equal(find(P(INT4))->rank, 0);
    assert_string_equal(find(P(INT4))->reason, "not native: gb200 has no int4 unit");
    for (size_t i = 0; i < result.count; i++) {
        assert_true(result.candidate[i].prediction.native);
    }
    roof_hardware_free(gb200);
}

/* A device that only multiplies NVFP4: nothing that fp16 could fall back to. */
static void test_unknown_peak(void **unused)
{
    (void)unused;
    struct roof_hardware *const device =
        parse_device("{\"id\": \"odd\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"nvfp4\": 4}}");
    static const enum roof_precision list[] = {P(FP16), P(NVFP4)};
    const struct roof_workload w = workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 1, .n = 64, .k = 64));
    recommend(&w, device, &accuracy, formats(list, COUNT(list)));
    assert_int_equal(result.count, 1);
    assert_int_equal(result.candidate[0].format, P(NVFP4));
    assert_non_null(strstr(find(P(FP16))->reason, "no known peak for fp16"));
    roof_hardware_free(device);
}

/* --- how a candidate is run ---------------------------------------------------------------- */

/* Without a unit for the format, weights are stored in it and activations stay at 16 bits. */
static void test_methods(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_precision format;
        const char *method;
        enum roof_precision weights, activations, out, compute;
    } cases[] = {
        {P(FP16), "native_fp16", P(FP16), P(FP16), P(FP16), P(FP16)},
        {P(FP8_E4M3), "native_fp8", P(FP8_E4M3), P(FP8_E4M3), P(BF16), P(FP8_E4M3)},
        {P(INT8), "native_int8", P(INT8), P(INT8), P(BF16), P(INT8)},
        {P(NVFP4), "native_fp4", P(NVFP4), P(NVFP4), P(BF16), P(NVFP4)},
        {P(INT4), "int4_weight_only", P(INT4), P(FP16), P(FP16), P(FP16)},
        {P(MXFP4), "mxfp4_weight_only", P(MXFP4), P(FP16), P(FP16), P(FP16)},
        {P(MXFP8_E4M3), "mxfp8_e4m3_weight_only", P(MXFP8_E4M3), P(FP16), P(FP16), P(FP16)},
        {P(NF4), "nf4_weight_only", P(NF4), P(FP16), P(FP16), P(FP16)},
        {P(Q4_K), "gguf", P(Q4_K), P(FP16), P(FP16), P(INT8)}, /* its kernels convert */
        {P(INT4_G128), "int4_weight_only", P(INT4_G128), P(FP16), P(FP16), P(FP16)},
        {P(INT4_G128_ZP), "awq", P(INT4_G128_ZP), P(FP16), P(FP16), P(FP16)},
        {P(INT8_CHANNEL), "native_int8", P(INT8_CHANNEL), P(INT8_CHANNEL), P(BF16), P(INT8)},
        {P(FP8_BLOCK128), "native_fp8", P(FP8_BLOCK128), P(FP8_E4M3), P(BF16), P(FP8_E4M3)},
        {P(BF16), "fallback", P(BF16), P(BF16), P(BF16), P(FP32)}, /* not a format to store in */
    };
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload w = workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 4, .n = 64, .k = 64));
    for (size_t i = 0; i < COUNT(cases); i++) {
        recommend(&w, device, &accuracy, formats(&cases[i].format, 1));
        const struct roof_candidate *const c = &result.candidate[0];
        const struct roof_formats *const f = &c->prediction.workload.formats;
        assert_string_equal(c->method, cases[i].method);
        if (f->weights != cases[i].weights || f->activations != cases[i].activations ||
            f->out != cases[i].out || c->prediction.compute != cases[i].compute) {
            fail_msg("%s: weights %s, activations %s, out %s, computed at %s",
                     roof_format(cases[i].format)->name, roof_format(f->weights)->name,
                     roof_format(f->activations)->name, roof_format(f->out)->name,
                     roof_format(c->prediction.compute)->name);
        }
    }
    roof_hardware_free(device);
}

/* Attention has no weights: its stored operand is the cache. */
static void test_attention(void **unused)
{
    (void)unused;
    static const enum roof_operator ops[] = {ROOF_OPERATOR_FLASH_ATTENTION, ROOF_OPERATOR_ATTENTION,
                                             ROOF_OPERATOR_ATTENTION_SCORES,
                                             ROOF_OPERATOR_ATTENTION_VALUES};
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3), P(INT4), P(NVFP4), P(NF4)};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (size_t o = 0; o < COUNT(ops); o++) {
        struct roof_workload w =
            workload(ops[o], SHAPE(.heads = 8, .head_dim = 64, .kv_len = 1000));
        recommend(&w, device, &accuracy, formats(list, COUNT(list)));
        assert_int_equal(result.count, COUNT(list));
        for (size_t i = 0; i < COUNT(list); i++) {
            const struct roof_formats *const f = &find(list[i])->prediction.workload.formats;
            assert_int_equal(f->kv, list[i]);
            const bool stored = list[i] == P(INT4) || list[i] == P(NF4);
            assert_int_equal(f->activations, stored ? P(FP16) : list[i]);
        }
        /* A given cache format stays. */
        w.formats.kv = P(INT8);
        recommend(&w, device, &accuracy, formats(list, COUNT(list)));
        for (size_t i = 0; i < result.count; i++) {
            assert_int_equal(result.candidate[i].prediction.workload.formats.kv, P(INT8));
        }
    }
    /* Decode over a long context: the cache is nearly all of the bytes. */
    const struct roof_workload decode = workload(
        ROOF_OPERATOR_FLASH_ATTENTION, SHAPE(.heads = 8, .head_dim = 64, .kv_len = 1000000));
    recommend(&decode, device, &accuracy, formats(list, COUNT(list)));
    assert_near(find(P(FP8_E4M3))->speedup, 2, 1e-4);
    assert_near(find(P(NVFP4))->speedup, 16 / 4.5, 1e-4);
    roof_hardware_free(device);
}

/* Candidates keep the shape, --out, --kv and --sparse of the caller's workload; recommend chooses
 * -p, -w, -a and --compute. */
static void test_what_is_kept(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload plain =
        workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 8, .n = 512, .k = 512));
    struct roof_workload w = plain;
    const struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    double times[7];
    recommend(&plain, device, &accuracy, options);
    for (size_t i = 0; i < 7; i++) {
        times[i] = result.candidate[i].prediction.time_s;
    }
    w.formats.precision = P(NF4);
    w.formats.weights = P(INT2);
    w.formats.activations = P(FP8_E4M3);
    w.formats.compute = P(FP32);
    recommend(&w, device, &accuracy, options);
    for (size_t i = 0; i < 7; i++) {
        assert_near(result.candidate[i].prediction.time_s, times[i], EXACT);
    }
    w = plain;
    w.formats.out = P(FP32);
    w.sparse = 1;
    recommend(&w, device, &accuracy, options);
    for (size_t i = 0; i < result.count; i++) {
        const struct roof_prediction *const p = &result.candidate[i].prediction;
        assert_int_equal(p->workload.formats.out, P(FP32));
        assert_int_equal(p->workload.sparse, 1);
        assert_memory_equal(&p->workload.shape.n, &w.shape.n, sizeof w.shape.n);
    }
    assert_near(find(P(FP16))->prediction.peak_flops_per_s, 2e12, EXACT);
    roof_hardware_free(device);
}

/* Vector operators run at fp32 whatever they store: only the bytes change. */
static void test_vector_operator(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb200 = load_device("gb200");
    const struct roof_workload w =
        workload(ROOF_OPERATOR_SILU_MUL, SHAPE(.tokens = 64, .hidden = 1024));
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3)};
    recommend(&w, gb200, &accuracy, formats(list, COUNT(list)));
    assert_int_equal(result.candidate[0].format, P(FP8_E4M3));
    /* 2 x 2 + 2 bytes per element, and 2 x 1 + 2 (bf16 out). */
    assert_near(result.candidate[0].speedup, 6 / 4.0, TIGHT);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(result.candidate[i].method, "storage");
        assert_int_equal(result.candidate[i].prediction.compute, P(FP32));
    }
    roof_hardware_free(gb200);
}

static void test_duplicates(void **unused)
{
    (void)unused;
    static const enum roof_precision list[] = {P(FP16),  P(NVFP4), P(FP16), P(INT2),
                                               P(NVFP4), P(INT2),  P(FP16)};
    struct roof_hardware *const gb10 = load_device("gb10");
    const struct roof_workload w = workload(ROOF_OPERATOR_GEMV, SHAPE(.n = 4096, .k = 4096));
    recommend(&w, gb10, &accuracy, formats(list, COUNT(list)));
    assert_int_equal(result.count, 2);
    assert_int_equal(result.rejected, 1);
    roof_hardware_free(gb10);
}

static void test_invalid(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb10 = load_device("gb10");
    const struct roof_workload w = workload(ROOF_OPERATOR_GEMV, SHAPE(.n = 4096));
    const struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    struct roof_error error = {0};
    assert_int_equal(roof_recommend(&result, &w, gb10, &accuracy, &options, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "needs k ("));
    assert_int_equal(result.count + result.rejected, 0);
    roof_hardware_free(gb10);
}

/* --- what holds for all -------------------------------------------------------------------- */

/* Nothing is known of its vector unit. */
#define NO_VECTOR                                                                                  \
    "{\"id\": \"plain\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1, \"fp8\": 2},"     \
    " \"devices_per_node\": 8, \"link_gb_s\": 10}"

/* A small shape of each operator. */
static struct roof_workload some_workload(enum roof_operator op)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = op;
    for (int d = 0; d < ROOF_DIM_COUNT; d++) {
        if (roof_operator_has(op, (enum roof_dimension)d) &&
            roof_dimensions[d].kind == ROOF_INPUT_INTEGER) {
            roof_input_put(&w, &roof_dimensions[d], 8);
        }
    }
    return w;
}

static bool before(const struct roof_candidate *a, const struct roof_candidate *b, bool by_loss)
{
    const double time_a = a->prediction.time_s;
    const double time_b = b->prediction.time_s;
    if (by_loss && a->loss != b->loss) {
        return a->loss < b->loss;
    }
    if (time_a != time_b) {
        return time_a < time_b;
    }
    return a->loss != b->loss ? a->loss < b->loss : a->format < b->format;
}

static void check_result(const struct roof_workload *w, const struct roof_hardware *device,
                         enum roof_objective objective)
{
    struct roof_workload baseline = *w;
    struct roof_prediction fp16;
    double fastest = result.candidate[0].prediction.time_s;
    baseline.formats.precision = P(FP16);
    assert_int_equal(roof_predict(&fp16, &baseline, device, NULL), ROOF_OK);
    for (size_t i = 0; i < result.count; i++) {
        fastest = fmin(fastest, result.candidate[i].prediction.time_s);
    }
    for (size_t i = 0; i < result.count + result.rejected; i++) {
        const struct roof_candidate *const c = &result.candidate[i];
        const char *const name = roof_format(c->format)->name;
        /* From its own workload it is predicted the same, to the last bit. */
        struct roof_prediction again;
        assert_int_equal(roof_predict(&again, &c->prediction.workload, device, NULL), ROOF_OK);
        assert_near(again.time_s, c->prediction.time_s, EXACT);
        assert_near(c->speedup, fp16.time_s / c->prediction.time_s, EXACT);
        assert_ptr_equal(c->prediction.hardware, device);
        assert_int_equal(c->rank, i < result.count ? i + 1 : 0);
        assert_true(c->reason[0] != '\0' && c->method[0] != '\0');
        assert_true(strlen(c->reason) < ROOF_REASON_SIZE - 1); /* not cut off */
        if (i + 1 < result.count) {
            const struct roof_candidate *const next = &result.candidate[i + 1];
            const bool near =
                objective == ROOF_OBJECTIVE_BALANCED && c->prediction.time_s <= 1.2 * fastest;
            const bool next_near =
                objective == ROOF_OBJECTIVE_BALANCED && next->prediction.time_s <= 1.2 * fastest;
            if (near != next_near ? !near : !before(c, next, near)) {
                fail_msg("%s on %s: %s before %s", roof_operator_row(w->op)->name, device->id, name,
                         roof_format(next->format)->name);
            }
        }
        /* A reason that names the device must be true. */
        char claim[100];
        snprintf(claim, sizeof claim, "has no %s unit", name);
        if (strstr(c->reason, claim) != NULL && device->compute[c->format].native &&
            roof_format(c->format)->native_method[0] != '\0') {
            fail_msg("%s: '%s', but %s has one", roof_operator_row(w->op)->name, c->reason,
                     device->id);
        }
        snprintf(claim, sizeof claim, "no known peak for %s", name);
        if (strstr(c->reason, claim) != NULL &&
            !isnan(device->compute[c->format].peak_flops_per_s)) {
            fail_msg("%s: '%s', but %s has one", roof_operator_row(w->op)->name, c->reason,
                     device->id);
        }
    }
}

static void test_every_operator(void **unused)
{
    (void)unused;
    enum roof_precision all[ROOF_PRECISION_COUNT];
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        all[p] = (enum roof_precision)(ROOF_PRECISION_COUNT - 1 - p);
    }
    struct roof_hardware *const devices[] = {load_device("gb10"), load_device("mi300x"),
                                             load_device("m4-max"), parse_device(SYNTHETIC)};
    for (size_t d = 0; d < COUNT(devices); d++) {
        for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
            if (roof_operator_row((enum roof_operator)op)->kind == ROOF_KIND_COLLECTIVE) {
                continue; /* not every device has a network */
            }
            const struct roof_workload w = some_workload((enum roof_operator)op);
            for (int o = ROOF_OBJECTIVE_BALANCED; o <= ROOF_OBJECTIVE_TIME; o++) {
                struct roof_recommend_options options = formats(all, COUNT(all));
                options.objective = (enum roof_objective)o;
                recommend(&w, devices[d], &accuracy, options);
                assert_int_equal(result.count + result.rejected, ROOF_PRECISION_COUNT);
                check_result(&w, devices[d], options.objective);
            }
        }
        roof_hardware_free(devices[d]);
    }
}

/* Rejections are true for an operator that is not a product, too. */
static void check_every_operator(const char *device_text, bool native_only)
{
    struct roof_hardware *const device = parse_device(device_text);
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const struct roof_workload w = some_workload((enum roof_operator)op);
        struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
        options.native_only = native_only;
        struct roof_error error = {0};
        const enum roof_status status =
            roof_recommend(&result, &w, device, &accuracy, &options, &error);
        assert_true(status == ROOF_OK || status == ROOF_UNSATISFIED);
        check_result(&w, device, options.objective);
    }
    roof_hardware_free(device);
}

static void test_native_only_says_what_is_so(void **unused)
{
    (void)unused;
    check_every_operator(SYNTHETIC, true);
}

static void test_unknown_vector_peak_says_what_is_so(void **unused)
{
    (void)unused;
    check_every_operator(NO_VECTOR, false);
}

/* With a given cache the products may run wider than the candidate: then that is not native. */
static void test_native_only_with_a_given_cache(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC); /* no bf16 unit */
    struct roof_workload w =
        workload(ROOF_OPERATOR_FLASH_ATTENTION, SHAPE(.heads = 8, .head_dim = 64, .kv_len = 100));
    w.formats.kv = P(BF16);
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3)};
    struct roof_recommend_options options = formats(list, COUNT(list));
    options.native_only = true;
    recommend(&w, device, &accuracy, options);
    for (size_t i = 0; i < result.count; i++) {
        const struct roof_candidate *const c = &result.candidate[i];
        if (!c->prediction.native) {
            fail_msg("%s (%s) is ranked, but computed at %s", roof_format(c->format)->name,
                     c->method, roof_format(c->prediction.compute)->name);
        }
    }
    roof_hardware_free(device);
}

/* With a given cache nothing is left to store: the candidate would be the fp16 run renamed. */
static void test_nothing_left_to_store(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_workload w =
        workload(ROOF_OPERATOR_FLASH_ATTENTION, SHAPE(.heads = 8, .head_dim = 64, .kv_len = 100));
    w.formats.kv = P(FP16);
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3), P(MXFP4)};
    recommend(&w, device, &accuracy, formats(list, COUNT(list)));
    for (size_t i = 0; i < result.count + result.rejected; i++) {
        const struct roof_candidate *const c = &result.candidate[i];
        if (c->format == P(MXFP4)) { /* no unit: it could only have been stored */
            assert_int_equal(c->rank, 0);
            assert_non_null(strstr(c->reason, "--kv fp16 sets the format of the KV cache"));
        } else if (c->format == P(FP8_E4M3)) { /* Q in fp8, but the product runs at fp16 */
            assert_int_equal(c->prediction.compute, P(FP16));
            assert_string_not_equal(c->method, "native_fp8");
        }
    }
    roof_hardware_free(device);
}

/* The appended keys and values are read at 16 bits and stored in the candidate's format: 2 * 4 * 2
 * * 8 = 128 elements at 2 bytes read and at 1 byte (fp8) or 2 (fp16) stored: 384 and 512 bytes. */
static void test_kv_append(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload w =
        workload(ROOF_OPERATOR_KV_APPEND, SHAPE(.tokens = 4, .kv_heads = 2, .head_dim = 8));
    static const enum roof_precision list[] = {P(FP16), P(FP8_E4M3)};
    struct roof_recommend_options options = formats(list, COUNT(list));
    options.objective = ROOF_OBJECTIVE_TIME;
    recommend(&w, device, &accuracy, options);
    assert_int_equal(result.candidate[0].format, P(FP8_E4M3));
    assert_near(result.candidate[0].prediction.bytes, 384, EXACT);
    assert_near(result.candidate[0].speedup, 512.0 / 384, EXACT);
    roof_hardware_free(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm_on_gb10),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_edge_of_twenty_percent),
        cmocka_unit_test(test_near_ones_go_by_accuracy),
        cmocka_unit_test(test_edges_of_reasons),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_max_loss),
        cmocka_unit_test(test_severe),
        cmocka_unit_test(test_unsatisfied),
        cmocka_unit_test(test_native_only),
        cmocka_unit_test(test_unknown_peak),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_vector_operator),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_native_only_says_what_is_so),
        cmocka_unit_test(test_unknown_vector_peak_says_what_is_so),
        cmocka_unit_test(test_native_only_with_a_given_cache),
        cmocka_unit_test(test_nothing_left_to_store),
        cmocka_unit_test(test_kv_append),
    };
    return cmocka_run_group_tests(tests, load_accuracy, free_accuracy);
}
