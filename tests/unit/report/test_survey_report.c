// SPDX-License-Identifier: MIT
#include "configs.h"
#include "models.h"

#include <stdio.h>
#include <stdlib.h>

/* The whole document; the caller frees it. */
static char *document(const struct roof_model *m, const struct roof_scenario *s, bool both,
                      const struct roof_hardware *h, const char *command)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_survey *study = NULL;
    struct roof_error error = {0};
    const struct roof_survey_about about = {
        .command = command, .version = "9.8.7", .top = ROOF_GRAPH_MAX};
    if (roof_survey_run(&study, m, s, both, h, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    roof_survey_report(&text, study, &about);
    assert_false(text.failed);
    roof_survey_free(study);
    return text.data;
}

/* Cell number `column` of the first row that begins with `name`, below the heading. */
static const char *cell(const char *text, const char *heading, const char *name, int column)
{
    static char found[128];
    char wanted[80];
    (void)snprintf(wanted, sizeof wanted, "\n| %s ", name);
    const char *at = strstr(text, heading);
    at = at == NULL ? NULL : strstr(at, wanted);
    if (at == NULL) {
        fail_msg("no row %s under %s in\n%s", name, heading, text);
        return "";
    }
    at += 1;
    for (int i = 0; i < column; i++) {
        at = strchr(at + 1, '|');
        assert_non_null(at);
    }
    at += 1 + strspn(at + 1, " ");
    size_t length = strcspn(at, "|");
    while (length > 0 && at[length - 1] == ' ') {
        length--;
    }
    assert_true(length < sizeof found);
    memcpy(found, at, length);
    found[length] = '\0';
    return found;
}

/* Columns of all operators: of their shapes, and of their rates. */
enum { OPERATION = 1 };
enum { RUNS_AT = 1, INTENSITY, RIDGE, BOUND_BY, ATTAINABLE };

/* Finds a cell in the table of rates, the second one below a heading. */
static const char *rate(const char *text, const char *heading, const char *name, int column)
{
    const char *const at = strstr(text, heading);
    if (at == NULL) {
        fail_msg("no heading %s", heading);
        return "";
    }
    return cell(at, "| runs at", name, column);
}

/* The figures of the source document for q_b_proj of DeepSeek-R1 at 128 tokens, by its own formula:
 * 2 x 128 x 24576 x 1536 = 9.664e9 FLOPs over 128 x 1536 x 2 + 1536 x 24576 / 2 + 128 x 24576 x 2 =
 * 25559040 bytes are 378.1 FLOP/byte, a third of the ridge point 9000 / 8 of FP4: 3025 TFLOP/s. */
static void test_q_b_proj(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_device("gb200");
    struct roof_model *const m = load("deepseek-r1");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 128, 4096);
    s.common.formats.weights = ROOF_PRECISION_INT4;
    s.common.formats.activations = ROOF_PRECISION_FP16;
    s.common.formats.compute = ROOF_PRECISION_NVFP4;
    char *const text = document(m, &s, false, h, "");
    assert_string_equal(cell(text, "<summary>All operators", "q_b_proj", OPERATION),
                        "gemm [128, 1536] x [1536, 24576]");
    assert_string_equal(rate(text, "<summary>All operators", "q_b_proj", RUNS_AT), "nvfp4");
    assert_string_equal(rate(text, "<summary>All operators", "q_b_proj", INTENSITY), "378.1");
    assert_string_equal(rate(text, "<summary>All operators", "q_b_proj", RIDGE), "1125");
    assert_string_equal(rate(text, "<summary>All operators", "q_b_proj", BOUND_BY), "memory");
    assert_string_equal(rate(text, "<summary>All operators", "q_b_proj", ATTAINABLE),
                        "3025 TFLOPS");
    /* Norms: 5 FLOPs per element over a read and a write of 2 bytes and 1/128 of the gain, and at
     * 8000 GB/s no 10 GFLOP/s: 5 / (4 + 2 / 128) x 8000 GB/s. */
    assert_string_equal(rate(text, "<summary>All operators", "attn_norm", INTENSITY), "1.245");
    assert_string_equal(rate(text, "<summary>All operators", "attn_norm", ATTAINABLE),
                        "9.961 TFLOPS");
    free(text);
    /* At one token and FP16 inputs four FLOPs per byte of weights, all but: memory-bound. */
    s.common.shape.batch = 1;
    char *const one = document(m, &s, false, h, "");
    assert_string_equal(rate(one, "<summary>All operators", "q_b_proj", INTENSITY), "3.989");
    assert_string_equal(rate(one, "<summary>All operators", "q_b_proj", BOUND_BY), "memory");
    free(one);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* q_nope x w_kc at 64 tokens in FP8: 2 x 64 x 512 x 128 over 64 x 128 + 128 x 512 + 64 x 512 bytes
 * are 78.77 FLOP/byte; the ridge point of FP8 is 4500 / 8. */
static void test_bmm(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_device("gb200");
    struct roof_model *const m = load("deepseek-r1");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 64, 4096);
    s.common.formats.precision = ROOF_PRECISION_FP8_E4M3;
    s.common.formats.out = ROOF_PRECISION_FP8_E4M3;
    char *const text = document(m, &s, false, h, "");
    assert_string_equal(cell(text, "<summary>All operators", "q_absorb", OPERATION),
                        "bmm 128 x [64, 128] x [128, 512]");
    assert_string_equal(rate(text, "<summary>All operators", "q_absorb", INTENSITY), "78.77");
    assert_string_equal(rate(text, "<summary>All operators", "q_absorb", RIDGE), "562.5");
    assert_string_equal(rate(text, "<summary>All operators", "q_absorb", BOUND_BY), "memory");
    assert_string_equal(cell(text, "## Hardware", "peak nvfp4, matrix", 1), "9000 TFLOPS");
    assert_string_equal(cell(text, "## Hardware", "peak nvfp4, matrix", 2), "1125");
    assert_string_equal(cell(text, "## Hardware", "peak fp8_e4m3, matrix", 2), "562.5");
    assert_string_equal(cell(text, "## Hardware", "peak fp16, matrix", 2), "281.2");
    free(text);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Llama-3-8B: gate and up of one token are 2 x 4096 x 28672 FLOPs over 2 (4096 x 28672 + 4096 +
 * 28672) bytes; of 4096 tokens T K N / (T K + K N + T N) = 1911. 312 TFLOP/s at 2039 GB/s. */
static void test_llama(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_calibrated("a100-sxm-80gb");
    struct roof_model *const m = load("llama-3-8b");
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 4096);
    char *const text = document(m, &s, true, h, "");
    assert_string_equal(rate(text, "All operators of the decode", "gate_up_proj", INTENSITY),
                        "0.9997");
    assert_string_equal(rate(text, "All operators of the decode", "gate_up_proj", RIDGE), "153");
    assert_string_equal(rate(text, "All operators of the prefill", "gate_up_proj", INTENSITY),
                        "1911");
    assert_string_equal(rate(text, "All operators of the prefill", "gate_up_proj", BOUND_BY),
                        "compute");
    /* Square: 4096 x 4096 x 4096 is 4096 / 3. */
    assert_string_equal(rate(text, "All operators of the prefill", "o_proj", INTENSITY), "1365");
    assert_string_equal(rate(text, "All operators of the prefill", "o_proj", ATTAINABLE),
                        "312 TFLOPS");
    assert_string_equal(rate(text, "All operators of the decode", "attn_add", ATTAINABLE),
                        "0.3398 TFLOPS");
    /* 16-bit weights are as many bytes as 114516 tokens of 128 KiB, more than the model takes. */
    assert_null(strstr(text, "weights from context"));
    assert_non_null(strstr(text, "this **fits** into 72 GiB of 80 GiB, as 10% is kept free"));
    assert_null(strstr(text, "unknown"));
    free(text);
    roof_model_free(m);
    free_calibrated(h);
}

/* Nothing of the text of others ends a cell, a heading or a fence. */
static void test_text_of_others(void **state)
{
    (void)state;
    struct roof_hardware *const h =
        parse_device("{\"id\": \"a|b\", \"name\": \"<b>*x* # y\", \"bandwidth_gb_s\": 100,"
                     " \"peak_tflops\": {\"fp8\": 2}}");
    struct roof_model *const m = parse(DENSE);
    m->id = "tiny\n# `_x";
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    char *const text = document(m, &s, true, h, "roofline '```'");
    const char *const title = "# Roofline report: tiny # \\`\\_x on a\\|b\n";
    assert_int_equal(strncmp(text, title, strlen(title)), 0);
    assert_non_null(strstr(text, "\n\\<b\\>\\*x\\* # y, with figures that a user gives.\n"));
    assert_non_null(strstr(text, "prints for\n\n````sh\nroofline '```'\n````\n"));
    assert_non_null(strstr(text, "roofline 9.8.7"));
    /* Neither peaks for the formats nor kernels are known: it says so, and shows dashes. */
    assert_string_equal(rate(text, "<summary>All operators", "lm_head", RIDGE), "-");
    assert_string_equal(cell(text, "## Hardware", "peak fp16, matrix", 1), "-");
    assert_non_null(strstr(text, "no known peak for the format in which these operators compute"));
    assert_non_null(strstr(text, "Expected times are unknown (\"-\"): no kernels of a device like "
                                 "a\\|b were measured.\n"));
    assert_non_null(strstr(text, "the capacity of the device is unknown"));
    assert_null(strstr(text, "nan"));
    free(text);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Every formula of the document stands in an explanation, and none beside. */
static void test_formulas(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_device("gb200");
    struct roof_model *const m = load("llama-3-8b");
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 4096);
    char *const text = document(m, &s, false, h, "");
    const char *const example = strstr(text, "### Example: gate_up_proj\n");
    assert_non_null(example);
    assert_non_null(strstr(text, "flops = 2 * batch * m * n * k\n"));
    assert_non_null(strstr(text, "flops = 5 * tokens * hidden\n"));
    assert_non_null(strstr(example, "    = 2 * 1 * 1 * 28672 * 4096\n"
                                    "    = 234881024 FLOP (234.9 MFLOP)\n"));
    assert_null(strstr(text, "memory_time")); /* ends with the intensity */
    free(text);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Sources on GitHub are links, to the file where one is named; others, and what a link could not
 * hold, are text. */
static void test_sources(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a/b@0123abc docs/x.md (tables); c_/d@fedcba98",
         "[a/b@0123abc docs/x.md](https://github.com/a/b/blob/0123abc/docs/x.md) (tables); "
         "[c\\_/d@fedcba98](https://github.com/c_/d/tree/fedcba98)"},
        {"a/b@0123abc x*.y (all)",
         "[a/b@0123abc](https://github.com/a/b/tree/0123abc) x\\*.y (all)"},
        {"a/b@012 x", "a/b@012 x"},
        {"a/b@0123abz x", "a/b@0123abz x"},
        {"a@0123abc x", "a@0123abc x"},
        {"/b@0123abc", "/b@0123abc"},
        {"a/@0123abc", "a/@0123abc"},
        {"x) [y](z)@0123abc; a sheet", "x) \\[y\\](z)@0123abc; a sheet"},
        {"", ""},
    };
    struct roof_text text = ROOF_TEXT_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        roof_text_clear(&text);
        roof_markdown_put_sources(&text, cases[i][0]);
        assert_string_equal(text.data == NULL ? "" : text.data, cases[i][1]);
    }
    roof_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_q_b_proj), cmocka_unit_test(test_bmm),
        cmocka_unit_test(test_llama),    cmocka_unit_test(test_text_of_others),
        cmocka_unit_test(test_formulas), cmocka_unit_test(test_sources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
