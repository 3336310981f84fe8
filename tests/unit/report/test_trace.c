// SPDX-License-Identifier: MIT
/* A prediction taken apart: every step has a name and a result, and the numbers are put in. */
#include "support.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EXACT 0
#define SHAPE(...) ((struct roof_shape){__VA_ARGS__})

#define NO_VECTOR                                                                                  \
    "{\"id\": \"plain\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1},"                 \
    " \"devices_per_node\": 16384, \"link_gb_s\": 10}"

/* A prediction explained; part of a test, so that nothing is forgotten. */
struct explained {
    struct roof_prediction prediction;
    struct roof_trace why;
};

static void explain(struct explained *out, enum roof_operator op, struct roof_shape shape,
                    enum roof_precision precision, const struct roof_hardware *hardware)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_error error = {0};
    w.op = op;
    w.shape = shape;
    w.formats.precision = precision;
    if (roof_predict(&out->prediction, &w, hardware, &error) != ROOF_OK ||
        roof_trace_prediction(&out->why, &out->prediction, &error) != ROOF_OK) {
        fail_msg("%s: %s", roof_operator_row(op)->name, error.message);
    }
}

/* The first step of a name in a part. */
static const struct roof_step *find(const struct explained *e, const char *part, const char *name)
{
    for (size_t i = 0; i < e->why.count; i++) {
        if (strcmp(e->why.step[i].part, part) == 0 && strcmp(e->why.step[i].name, name) == 0) {
            return &e->why.step[i];
        }
    }
    fail_msg("no step '%s' in '%s'", name, part);
    return NULL;
}

/* A small valid shape of each operator; no two dimensions are alike. */
static struct roof_shape small_shape(enum roof_operator op)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    int64_t next = 3;
    for (int d = 0; d < ROOF_DIM_COUNT; d++) {
        const struct roof_input *const input = &roof_dimensions[d];
        if (roof_operator_has(op, (enum roof_dimension)d) && input->kind == ROOF_INPUT_INTEGER) {
            roof_input_put(&w, input, next);
            next += 2;
        }
    }
    if (w.shape.kv_heads > 0) {
        w.shape.heads = 3 * w.shape.kv_heads;
    }
    if (w.shape.head_dim > 0 && w.shape.qk_rope_head_dim > 0) {
        w.shape.head_dim = 3 * w.shape.qk_rope_head_dim;
    }
    if (w.shape.top_k > 0) {
        w.shape.experts = (w.shape.top_k + 2) * (w.shape.ep > 0 ? w.shape.ep : 1);
    }
    w.shape.causal = roof_operator_has(op, ROOF_DIM_CAUSAL);
    return w.shape;
}

/* --- one example in full ------------------------------------------------------------------- */

/* 4096 x 4096 at fp16 on a device with 100 GB/s and 1 TFLOP/s. */
static void test_gemv_in_full(void **unused)
{
    (void)unused;
    static const struct roof_step expected[] = {
        {"", "bandwidth", "", "", "100 GB/s", "no source given"},
        {"", "peak fp16, matrix", "", "", "1 TFLOPS", "no source given"},
        {"", "flops", "2 * n * k", "2 * 4096 * 4096", "33554432 FLOP (33.55 MFLOP)", ""},
        {"", "weights_bytes", "(n * k) * bits(fp16) / 8", "(4096 * 4096) * 16 / 8",
         "33554432 bytes (33.55 MB)", ""},
        {"", "activations_bytes", "(k) * bits(fp16) / 8", "(4096) * 16 / 8",
         "8192 bytes (8.192 kB)", ""},
        {"", "out_bytes", "(n) * bits(fp16) / 8", "(4096) * 16 / 8", "8192 bytes (8.192 kB)", ""},
        {"", "bytes", "weights_bytes + activations_bytes + out_bytes", "33554432 + 8192 + 8192",
         "33570816 bytes (33.57 MB)", ""},
        {"", "arithmetic_intensity", "flops / bytes", "33554432 / 33570816", NULL, ""},
        {"", "ridge_point", "peak / bandwidth", "1000000000000 / 100000000000", "10 FLOP/byte", ""},
        {"", "memory_time", "bytes / bandwidth", "33570816 / 100000000000", "335.70816 us", ""},
        {"", "compute_time", "flops / peak", "33554432 / 1000000000000", "33.554432 us", ""},
        {"", "time", "max(memory_time, compute_time)", NULL, "335.70816 us, memory-bound", ""},
    };
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct explained e;
    explain(&e, ROOF_OPERATOR_GEMV, SHAPE(.n = 4096, .k = 4096), ROOF_PRECISION_FP16, device);
    assert_int_equal(e.why.count, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_string_equal(e.why.step[i].part, expected[i].part);
        assert_string_equal(e.why.step[i].name, expected[i].name);
        assert_string_equal(e.why.step[i].formula, expected[i].formula);
        assert_string_equal(e.why.step[i].source, expected[i].source);
        if (expected[i].numbers != NULL) {
            assert_string_equal(e.why.step[i].numbers, expected[i].numbers);
        }
        if (expected[i].result != NULL) {
            assert_string_equal(e.why.step[i].result, expected[i].result);
        }
    }
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

/* Scale bytes are shown apart: 4 blocks of 9 bytes and 4 for the tensor. */
static void test_scales(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct explained e;
    explain(&e, ROOF_OPERATOR_GEMV, SHAPE(.n = 4, .k = 16), ROOF_PRECISION_NVFP4, device);
    const struct roof_step *const weights = find(&e, "", "weights_bytes");
    assert_string_equal(weights->formula, "(n * k) * bits(nvfp4) / 8 + scales");
    assert_string_equal(weights->numbers, "(4 * 16) * 4.5 / 8 + 4");
    assert_string_equal(weights->result, "40 bytes (40 B)");
    roof_trace_free(&e.why);
    /* 4 output channels of 4 bytes. */
    explain(&e, ROOF_OPERATOR_GEMV, SHAPE(.n = 4, .k = 16), ROOF_PRECISION_INT8_CHANNEL, device);
    assert_string_equal(find(&e, "", "weights_bytes")->numbers, "(4 * 16) * 8 / 8 + 16");
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

/* Only tensors that there are: a norm reads its gain when asked to; the indices have 4 bytes. */
static void test_tensors(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct explained e;
    explain(&e, ROOF_OPERATOR_RMSNORM, SHAPE(.tokens = 2, .hidden = 3), ROOF_PRECISION_FP16,
            device);
    for (size_t i = 0; i < e.why.count; i++) {
        assert_true(strcmp(e.why.step[i].name, "weights_bytes") != 0);
    }
    assert_string_equal(find(&e, "", "bytes")->formula, "activations_bytes + out_bytes");
    roof_trace_free(&e.why);
    explain(&e, ROOF_OPERATOR_ROUTER, SHAPE(.tokens = 4, .experts = 8, .top_k = 2),
            ROOF_PRECISION_FP16, device);
    assert_string_equal(find(&e, "", "indices")->formula, "(tokens * top_k) * 4");
    assert_string_equal(find(&e, "", "indices")->numbers, "(4 * 2) * 4");
    assert_string_equal(find(&e, "", "indices")->result, "32 bytes (32 B)");
    roof_trace_free(&e.why);
    /* The least there can be: one element, one byte. */
    explain(&e, ROOF_OPERATOR_GEMV, SHAPE(.n = 1, .k = 1), ROOF_PRECISION_FP8_E4M3, device);
    assert_string_equal(find(&e, "", "weights_bytes")->result, "1 bytes (1 B)");
    assert_string_equal(find(&e, "", "bytes")->numbers, "1 + 1 + 2");
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

/* --- what holds for every operator --------------------------------------------------------- */

/* Only functions may remain of the names in a formula. */
static void check_numbers(const char *op, const struct roof_step *s)
{
    static const char *const functions[] = {"fmin", "fmax", "expm1", "log1p", "ceil"};
    const char *p = s->numbers;
    while (*p != '\0') {
        size_t length = 0;
        while (isalnum((unsigned char)p[length]) || p[length] == '_' || p[length] == '.') {
            length++;
        }
        bool allowed = length == 0 || isdigit((unsigned char)*p); /* also 1.5e-7 */
        for (size_t i = 0; i < COUNT(functions); i++) {
            allowed =
                allowed || (strlen(functions[i]) == length && memcmp(functions[i], p, length) == 0);
        }
        if (!allowed) {
            fail_msg("%s: %s = %s leaves a name in '%s'", op, s->name, s->formula, s->numbers);
        }
        p += length == 0 ? 1 : length;
    }
    /* A number is missing where an operator has nothing after it. */
    const size_t length = strlen(s->numbers);
    if (length > 0 && strchr(" +-*/(,", s->numbers[length - 1]) != NULL) {
        fail_msg("%s: %s = %s has no number at the end of '%s'", op, s->name, s->formula,
                 s->numbers);
    }
    if (strstr(s->numbers, "  ") != NULL || strstr(s->numbers, "( ") != NULL ||
        strstr(s->numbers, "()") != NULL) {
        fail_msg("%s: %s = %s has a gap in '%s'", op, s->name, s->formula, s->numbers);
    }
}

static void check_steps(const struct explained *e)
{
    const char *const op = roof_operator_row(e->prediction.workload.op)->name;
    assert_true(e->why.count >= 5);
    for (size_t i = 0; i < e->why.count; i++) {
        const struct roof_step *const s = &e->why.step[i];
        assert_non_null(s->part);
        if (s->name[0] == '\0' || s->result[0] == '\0') {
            fail_msg("%s: step %zu has no name or no result", op, i);
        }
        /* Looked up: a source and no formula; computed: a formula and no source. */
        if ((s->formula[0] == '\0') == (s->source[0] == '\0')) {
            fail_msg("%s: %s has formula '%s' and source '%s'", op, s->name, s->formula, s->source);
        }
        assert_true(s->formula[0] != '\0' || s->numbers[0] == '\0');
        check_numbers(op, s);
        assert_null(strstr(s->result, "nan"));
        assert_null(strstr(s->result, "inf"));
        assert_null(strstr(s->numbers, "nan"));
        for (const char *p = s->formula; *p != '\0'; p++) {
            assert_true((unsigned char)*p >= 0x20);
        }
    }
}

/* The trace as JSON can be read back, step by step. */
static void check_json(const struct explained *e)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    roof_report_json(&text, &e->prediction, &(struct roof_report_beside){.explanation = &e->why});
    assert_false(text.failed);
    if (roof_json_parse(&json, text.data, text.length, "report", &error) != ROOF_OK) {
        fail_msg("%d:%d: %s in %s", error.line, error.column, error.message, text.data);
    }
    size_t count = 0;
    for (const roof_json_value *item = roof_json_first(roof_json_get(roof_json_root(json), "why"));
         item != NULL; item = roof_json_next(item)) {
        const struct roof_step *const s = &e->why.step[count++];
        assert_string_equal(roof_json_string(roof_json_get(item, "name")), s->name);
        assert_string_equal(roof_json_string(roof_json_get(item, "result")), s->result);
        assert_int_equal(roof_json_get(item, "numbers") == NULL, s->numbers[0] == '\0');
        assert_int_equal(roof_json_get(item, "source") == NULL, s->source[0] == '\0');
    }
    assert_int_equal(count, e->why.count);
    roof_json_free(json);
    roof_text_free(&text);
}

static void test_every_operator(void **unused)
{
    (void)unused;
    static const char *const devices[] = {SYNTHETIC, NO_VECTOR};
    static const enum roof_precision formats[] = {ROOF_PRECISION_FP16, ROOF_PRECISION_NVFP4,
                                                  ROOF_PRECISION_INT8_CHANNEL, ROOF_PRECISION_NF4,
                                                  ROOF_PRECISION_FP64 /* no peak */};
    for (size_t d = 0; d < COUNT(devices); d++) {
        struct roof_hardware *const device = parse_device(devices[d]);
        for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
            for (size_t f = 0; f < COUNT(formats); f++) {
                struct explained e;
                explain(&e, (enum roof_operator)op, small_shape((enum roof_operator)op), formats[f],
                        device);
                check_steps(&e);
                check_json(&e);
                roof_trace_free(&e.why);
            }
        }
        roof_hardware_free(device);
    }
}

/* A group of one sends nothing; nothing is divided by an unknown link. */
static void test_group_of_one(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(
        "{\"id\": \"alone\", \"bandwidth_gb_s\": 1, \"vector_tflops\": {\"fp32\": 1}}");
    struct explained e;
    explain(&e, ROOF_OPERATOR_ALL_REDUCE, SHAPE(.elements = 1000, .devices = 1),
            ROOF_PRECISION_FP16, device);
    check_steps(&e);
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

/* The results are those of the prediction: the number in front of the unit reads back. */
static void test_results_are_the_prediction(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        struct explained e;
        explain(&e, (enum roof_operator)op, small_shape((enum roof_operator)op),
                ROOF_PRECISION_FP8_E4M3, device);
        const struct roof_prediction *const p = &e.prediction;
        if (p->part_count == 1) {
            const struct {
                const char *name;
                double value;
            } results[] = {
                {"flops", p->flops},
                {"bytes", p->bytes},
                {"arithmetic_intensity", p->intensity},
                {"ridge_point", p->ridge},
                {"memory_time", roof_to_unit(p->memory_time_s, ROOF_UNIT_MICROSECONDS)},
                {"compute_time", roof_to_unit(p->compute_time_s, ROOF_UNIT_MICROSECONDS)},
                {"time", roof_to_unit(p->time_s, ROOF_UNIT_MICROSECONDS)},
            };
            for (size_t i = 0; i < COUNT(results); i++) {
                assert_near(strtod(find(&e, "", results[i].name)->result, NULL), results[i].value,
                            EXACT);
            }
        }
        assert_non_null(strstr(e.why.step[e.why.count - 1].result, " us"));
        roof_trace_free(&e.why);
    }
    roof_hardware_free(device);
}

/* --- figures and parts --------------------------------------------------------------------- */

#define SOURCED                                                                                    \
    "{\"id\": \"sourced\", \"bandwidth_gb_s\": {\"value\": 100, \"source\": \"a data sheet\","     \
    " \"confidence\": \"high\", \"note\": \"HBM\"},"                                               \
    " \"peak_tflops\": {\"fp16\": {\"value\": 1, \"source\": \"a white paper\"}},"                 \
    " \"sparse_tflops\": {\"fp16\": {\"value\": 2, \"source\": \"the same, sparse\"}},"            \
    " \"vector_tflops\": {\"fp32\": {\"value\": 0.1, \"source\": \"a wiki\"}},"                    \
    " \"devices_per_node\": 2, \"link_gb_s\": {\"value\": 10, \"source\": \"a cable\"},"           \
    " \"network_gb_s\": {\"value\": 1, \"source\": \"a switch\"}}"

static void test_sources(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SOURCED);
    struct explained e;
    explain(&e, ROOF_OPERATOR_GEMM, SHAPE(.m = 2, .n = 3, .k = 4), ROOF_PRECISION_FP16, device);
    assert_string_equal(find(&e, "", "bandwidth")->result, "100 GB/s");
    assert_string_equal(find(&e, "", "bandwidth")->source, "a data sheet; high confidence; HBM");
    assert_string_equal(find(&e, "", "peak fp16, matrix")->source, "a white paper");
    roof_trace_free(&e.why);

    /* The trace shows the peak of a vector operator, and the format that a fallback leads to. */
    explain(&e, ROOF_OPERATOR_RMSNORM, SHAPE(.tokens = 2, .hidden = 3), ROOF_PRECISION_FP16,
            device);
    assert_string_equal(find(&e, "", "peak fp32, vector")->source, "a wiki");
    roof_trace_free(&e.why);
    explain(&e, ROOF_OPERATOR_GEMM, SHAPE(.m = 2, .n = 3, .k = 4), ROOF_PRECISION_MXFP4, device);
    assert_string_equal(find(&e, "", "peak fp16, matrix")->source, "a white paper");
    roof_trace_free(&e.why);

    /* The link that is used. */
    explain(&e, ROOF_OPERATOR_ALL_GATHER, SHAPE(.elements = 8, .devices = 2), ROOF_PRECISION_FP16,
            device);
    assert_string_equal(find(&e, "", "link")->source, "a cable");
    assert_string_equal(find(&e, "", "time")->formula,
                        "max(memory_time, compute_time, network_time)");
    assert_string_equal(find(&e, "", "network_time")->numbers, "8 / 10000000000"); /* 4 x 2 bytes */
    roof_trace_free(&e.why);
    explain(&e, ROOF_OPERATOR_ALL_GATHER, SHAPE(.elements = 8, .devices = 4), ROOF_PRECISION_FP16,
            device);
    assert_string_equal(find(&e, "", "link")->source, "a switch");
    roof_trace_free(&e.why);

    /* Sparse peaks have a source of their own. */
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape = SHAPE(.m = 2, .n = 3, .k = 4);
    w.sparse = 1;
    assert_int_equal(roof_predict(&e.prediction, &w, device, NULL), ROOF_OK);
    assert_int_equal(roof_trace_prediction(&e.why, &e.prediction, NULL), ROOF_OK);
    assert_string_equal(find(&e, "", "peak fp16, matrix, 2:4 sparse")->source, "the same, sparse");
    roof_trace_free(&e.why);

    /* An overridden figure says so. */
    assert_int_equal(roof_hardware_set(device, "bandwidth_gb_s=500", NULL), ROOF_OK);
    explain(&e, ROOF_OPERATOR_GEMM, SHAPE(.m = 2, .n = 3, .k = 4), ROOF_PRECISION_FP16, device);
    assert_string_equal(find(&e, "", "bandwidth")->result, "500 GB/s");
    assert_non_null(strstr(find(&e, "", "bandwidth")->source, "--set"));
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

/* A cap shows the figures that a power time is reckoned from, a format's once. */
static void test_power(void **unused)
{
    (void)unused;
    struct roof_hardware *const device =
        parse_device("{\"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 10}, "
                     "\"power_cap_w\": 70, \"constant_w\": 40, \"byte_pj\": 100, "
                     "\"flop_pj\": {\"fp16\": 5}}");
    struct explained e;
    explain(&e, ROOF_OPERATOR_GEMM, SHAPE(.m = 2, .n = 3, .k = 4), ROOF_PRECISION_FP16, device);
    assert_string_equal(find(&e, "", "power cap")->result, "70 W");
    assert_string_equal(find(&e, "", "constant power")->result, "40 W");
    assert_string_equal(find(&e, "", "energy per byte")->result, "100 pJ");
    assert_string_equal(find(&e, "", "energy per FLOP, fp16")->result, "5 pJ");
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

/* Every figure that an embedded device is predicted with has a source. */
static void test_embedded_sources(void **unused)
{
    (void)unused;
    static const char *const ids[] = {"gb10", "gb200", "a100", "h200-sxm", "mi300x"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        struct roof_hardware *const device = load_device(ids[i]);
        for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
            if (roof_operator_row((enum roof_operator)op)->kind == ROOF_KIND_COLLECTIVE) {
                continue; /* not every device has a network */
            }
            struct explained e;
            explain(&e, (enum roof_operator)op, small_shape((enum roof_operator)op),
                    ROOF_PRECISION_FP16, device);
            check_steps(&e);
            for (size_t s = 0; s < e.why.count; s++) {
                assert_null(strstr(e.why.step[s].source, "no source given"));
            }
            roof_trace_free(&e.why);
        }
        roof_hardware_free(device);
    }
}

/* Figures first, then the parts in order, then their sum. */
static void test_composite(void **unused)
{
    (void)unused;
    static const char *const parts[] = {"", "attention-scores", "softmax", "attention-values", ""};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct explained e;
    explain(&e, ROOF_OPERATOR_ATTENTION, SHAPE(.heads = 4, .head_dim = 8, .kv_len = 10),
            ROOF_PRECISION_FP16, device);
    size_t at = 0;
    for (size_t i = 0; i < e.why.count; i++) {
        if (strcmp(e.why.step[i].part, parts[at]) != 0) {
            at++;
            assert_true(at < COUNT(parts));
            assert_string_equal(e.why.step[i].part, parts[at]);
        }
    }
    assert_int_equal(at, COUNT(parts) - 1);
    /* Both units: the products run on one, the softmax on the other. */
    find(&e, "", "peak fp16, matrix");
    find(&e, "", "peak fp32, vector");
    /* 10 keys, 4 heads: 40 pairs of 8 multiply-adds; 5 FLOPs per score. */
    assert_string_equal(find(&e, "attention-scores", "flops")->result, "640 FLOP (640 FLOP)");
    assert_string_equal(find(&e, "softmax", "flops")->result, "200 FLOP (200 FLOP)");
    assert_string_equal(find(&e, "attention-values", "flops")->result, "640 FLOP (640 FLOP)");
    assert_string_equal(find(&e, "softmax", "ridge_point")->result, "1 FLOP/byte");
    assert_string_equal(find(&e, "attention-values", "ridge_point")->result, "10 FLOP/byte");

    const struct roof_step *const sum = &e.why.step[e.why.count - 1];
    assert_string_equal(sum->part, "");
    assert_string_equal(sum->name, "time");
    /* The three times, as the parts show them. */
    struct roof_text numbers = ROOF_TEXT_INIT;
    for (int i = 0; i < 3; i++) {
        roof_text_put(&numbers, i == 0 ? "" : " + ");
        roof_text_number(&numbers,
                         roof_to_unit(e.prediction.part[i].time_s, ROOF_UNIT_MICROSECONDS));
    }
    assert_string_equal(sum->numbers, numbers.data);
    assert_near(strtod(sum->result, NULL),
                roof_to_unit(e.prediction.time_s, ROOF_UNIT_MICROSECONDS), EXACT);
    roof_text_free(&numbers);
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

/* An unknown peak is said to be unknown. */
static void test_unknown_peak(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct explained e;
    explain(&e, ROOF_OPERATOR_GEMM, SHAPE(.m = 2, .n = 3, .k = 4), ROOF_PRECISION_FP64, device);
    assert_non_null(strstr(find(&e, "", "compute_time")->result, "unknown"));
    for (size_t i = 0; i < e.why.count; i++) {
        assert_true(strcmp(e.why.step[i].name, "ridge_point") != 0);
        assert_null(strstr(e.why.step[i].name, "peak"));
    }
    assert_non_null(strstr(find(&e, "", "time")->result, "memory-bound"));
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

static void test_release(void **unused)
{
    (void)unused;
    struct roof_trace none = {0};
    roof_trace_free(NULL);
    roof_trace_free(&none);
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct explained e;
    explain(&e, ROOF_OPERATOR_GEMV, SHAPE(.n = 1, .k = 1), ROOF_PRECISION_FP16, device);
    roof_trace_free(&e.why);
    assert_int_equal(e.why.count, 0);
    assert_null(e.why.step);
    roof_trace_free(&e.why);
    roof_hardware_free(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemv_in_full), cmocka_unit_test(test_scales),
        cmocka_unit_test(test_tensors),      cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_group_of_one), cmocka_unit_test(test_results_are_the_prediction),
        cmocka_unit_test(test_sources),      cmocka_unit_test(test_embedded_sources),
        cmocka_unit_test(test_composite),    cmocka_unit_test(test_unknown_peak),
        cmocka_unit_test(test_power),        cmocka_unit_test(test_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
