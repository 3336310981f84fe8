// SPDX-License-Identifier: MIT
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, meaning) P_##id,
#include "kernel_parameters.h"
    P_COUNT
};

static char folder[] = "/tmp/roofline-calibration-XXXXXX";
static char path[64];

static struct roof_hardware *device(const char *id)
{
    struct roof_hardware *hardware = NULL;
    struct roof_error error = {0};
    if (roof_hardware_load(&hardware, id, NULL, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return hardware;
}

static void write_file(const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* --- names and parameters ------------------------------------------------------------------ */

static void test_names(void **unused)
{
    (void)unused;
    static const char *const stacks[ROOF_STACK_COUNT] = {"best", "trtllm", "vllm", "sglang"};
    static const char *const numerics[ROOF_NUMERICS_COUNT] = {"16bit", "fp8",   "int8",
                                                              "fp4",   "w8a16", "w4a16"};
    for (int i = 0; i < ROOF_STACK_COUNT; i++) {
        assert_string_equal(roof_stack_name((enum roof_stack)i), stacks[i]);
        assert_string_equal(roof_input(ROOF_INPUT_STACK)->choices[i], stacks[i]);
    }
    for (int i = 0; i < ROOF_NUMERICS_COUNT; i++) {
        assert_string_equal(roof_numerics_name((enum roof_numerics)i), numerics[i]);
    }
    assert_string_equal(roof_kernel_name(ROOF_KERNEL_GEMM), "gemm");
}

static void test_parameters(void **unused)
{
    (void)unused;
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_GEMM, &count);
    assert_int_equal(count, P_COUNT);
    assert_true(count <= ROOF_FIT_PARAMETERS_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_true(row[i].min > 0);
        assert_true(row[i].min <= row[i].start && row[i].start <= row[i].max);
        assert_true(strlen(row[i].meaning) > 10);
        assert_int_equal(strspn(row[i].key, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                         strlen(row[i].key));
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(row[i].key, row[k].key);
        }
    }
    /* What the proof of the bound rests on: no rate above the printed one, no wave too short. */
    assert_true(row[P_DRAM].max <= 1);
    assert_true(row[P_PEAK].max <= 1);
    assert_true(row[P_WAVE].max <= 1);
    assert_true(row[P_OVERLAP].max <= 1);
}

static void test_numerics(void **unused)
{
    (void)unused;
    static const struct {
        const char *weights;
        const char *activations;
        enum roof_numerics numerics;
    } cases[] = {
        {"fp16", "fp16", ROOF_NUMERICS_16BIT},
        {"bf16", "bf16", ROOF_NUMERICS_16BIT},
        {"bf16", "fp16", ROOF_NUMERICS_16BIT},
        {"fp8", "fp8", ROOF_NUMERICS_FP8},
        {"fp8_e5m2", "fp8", ROOF_NUMERICS_FP8},
        {"mxfp8", "mxfp8", ROOF_NUMERICS_FP8},
        {"int8", "int8", ROOF_NUMERICS_INT8},
        {"nvfp4", "nvfp4", ROOF_NUMERICS_FP4},
        {"mxfp4", "mxfp4", ROOF_NUMERICS_FP4},
        {"fp8", "bf16", ROOF_NUMERICS_W8A16},
        {"int8", "fp16", ROOF_NUMERICS_W8A16},
        {"q8_0", "fp16", ROOF_NUMERICS_W8A16}, /* 8.5 bits */
        {"int4", "fp16", ROOF_NUMERICS_W4A16},
        {"q4_k", "fp16", ROOF_NUMERICS_W4A16},
        {"nvfp4", "bf16", ROOF_NUMERICS_W4A16},
        {"int2", "bf16", ROOF_NUMERICS_W4A16},
        /* No kernel was measured. */
        {"fp32", "fp32", ROOF_NUMERICS_COUNT},
        {"tf32", "tf32", ROOF_NUMERICS_COUNT},
        {"fp64", "fp64", ROOF_NUMERICS_COUNT},
        {"fp32", "fp16", ROOF_NUMERICS_COUNT},
        {"fp16", "fp32", ROOF_NUMERICS_COUNT},
        {"fp16", "fp8", ROOF_NUMERICS_COUNT},
        {"int4", "int8", ROOF_NUMERICS_COUNT},
        {"int4", "int4", ROOF_NUMERICS_COUNT},
        {"nvfp4", "fp8", ROOF_NUMERICS_COUNT},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum roof_precision w = ROOF_PRECISION_AUTO;
        enum roof_precision a = ROOF_PRECISION_AUTO;
        assert_int_equal(roof_precision_find(&w, cases[i].weights, NULL), ROOF_OK);
        assert_int_equal(roof_precision_find(&a, cases[i].activations, NULL), ROOF_OK);
        if (roof_numerics_of(w, a) != cases[i].numerics) {
            fail_msg("%s x %s: %d", cases[i].weights, cases[i].activations,
                     (int)roof_numerics_of(w, a));
        }
    }
}

/* --- embedded files ------------------------------------------------------------------------ */

/* Every embedded file is of a device that is known, and loads; its values are in range, its band
 * holds the expected time, and no two fits are of the same kernel. */
static void test_embedded(void **unused)
{
    (void)unused;
    static const char prefix[] = "calibration/";
    size_t files = 0;
    for (size_t f = 0; f < roof_data_file_count; f++) {
        const char *const name = roof_data_files[f].path;
        if (strncmp(name, prefix, strlen(prefix)) != 0) {
            continue;
        }
        char id[64];
        snprintf(id, sizeof id, "%.*s", (int)(strlen(name) - strlen(prefix) - strlen(".json")),
                 name + strlen(prefix));
        struct roof_hardware *const hardware = device(id);
        struct roof_calibration *c = NULL;
        struct roof_error error = {0};
        if (roof_calibration_load(&c, hardware, NULL, NULL, &error) != ROOF_OK) {
            fail_msg("%s:%d:%d: %s", error.source, error.line, error.column, error.message);
        }
        files++;
        assert_non_null(c);
        assert_string_equal(c->id, id);
        assert_false(c->inherited);
        assert_non_null(c->attributions[0]);
        assert_true(c->count > 0);
        for (size_t i = 0; i < c->count; i++) {
            const struct roof_kernel_fit *const fit = &c->fit[i];
            size_t parameters = 0;
            const struct roof_parameter *const row =
                roof_kernel_parameters(fit->kernel, &parameters);
            assert_true(fit->stack > ROOF_STACK_BEST && fit->stack < ROOF_STACK_COUNT);
            assert_true(fit->rows >= 100);
            assert_true(fit->mape > 0 && fit->mape < 0.4);
            assert_true(fit->low > 0.3 && fit->low < 1);
            assert_true(fit->high > 1 && fit->high < 3);
            for (size_t p = 0; p < parameters; p++) {
                assert_true(fit->parameter[p] >= row[p].min);
                assert_true(fit->parameter[p] <= row[p].max);
            }
            for (size_t k = 0; k < i; k++) {
                assert_false(c->fit[k].kernel == fit->kernel && c->fit[k].stack == fit->stack &&
                             c->fit[k].numerics == fit->numerics &&
                             c->fit[k].quantize == fit->quantize);
            }
            assert_ptr_equal(
                roof_calibration_find(c, fit->kernel, fit->stack, fit->numerics, fit->quantize),
                fit);
        }
        assert_null(roof_calibration_find(c, ROOF_KERNEL_GEMM, ROOF_STACK_TRTLLM,
                                          ROOF_NUMERICS_COUNT, ROOF_QUANTIZE_NONE));
        roof_calibration_free(c);
        roof_hardware_free(hardware);
    }
    assert_true(files >= 4);
    roof_calibration_free(NULL);
}

/* Whose calibration a device gets. */
static void test_inheritance(void **unused)
{
    (void)unused;
    static const struct {
        const char *id;
        const char *calibration; /* NULL: none */
        bool inherited;
    } cases[] = {
        {"h100-sxm", "h100-sxm", false},
        {"h100", "h100-sxm", false}, /* its product */
        {"a100", "a100-sxm-80gb", false},
        {"b200", "hgx-b200", false},
        {"h200-sxm", "h100-sxm", true},
        {"h100-pcie", "h100-sxm", true},
        {"gh200", "h100-sxm", true},
        {"a100-sxm-40gb", "a100-sxm-80gb", true},
        {"a10", "a100-sxm-80gb", true},
        {"l4", "l40s", true},
        {"rtx-4090", "l40s", true},
        {"b300", "hgx-b200", true},
        {"rtx-5090", "hgx-b200", true},
        {"gaudi2", NULL, false},
        {"gaudi3", NULL, false},
        {"tpu-v5e", NULL, false},
        {"tpu-v6e", NULL, false},
        {"mi300x", NULL, false},
        {"m4-max", NULL, false},
        {"v100", NULL, false},
        {"t4", NULL, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = device(cases[i].id);
        struct roof_calibration *c = NULL;
        struct roof_error error = {0};
        assert_int_equal(roof_calibration_load(&c, hardware, NULL, NULL, &error), ROOF_OK);
        if ((c == NULL) != (cases[i].calibration == NULL) ||
            (c != NULL &&
             (strcmp(c->id, cases[i].calibration) != 0 || c->inherited != cases[i].inherited))) {
            fail_msg("%s has the calibration of %s", cases[i].id, c == NULL ? "none" : c->id);
        }
        if (c != NULL) { /* the same, but for the band */
            struct roof_hardware *const owner = device(c->id);
            struct roof_calibration *own = NULL;
            const double wider = c->inherited ? 1.25 : 1;
            assert_int_equal(roof_calibration_load(&own, owner, NULL, NULL, &error), ROOF_OK);
            assert_int_equal(own->count, c->count);
            for (size_t k = 0; k < c->count; k++) {
                assert_near(c->fit[k].low, own->fit[k].low / wider, 1e-12);
                assert_near(c->fit[k].high, own->fit[k].high * wider, 1e-12);
                assert_true(c->fit[k].mape == own->fit[k].mape);
                assert_memory_equal(c->fit[k].parameter, own->fit[k].parameter,
                                    sizeof own->fit[k].parameter);
            }
            roof_calibration_free(own);
            roof_hardware_free(owner);
        }
        roof_calibration_free(c);
        roof_hardware_free(hardware);
    }
}

/* --- files --------------------------------------------------------------------------------- */

#define PARAMETERS                                                                                 \
    "\"launch_clocks\": 1000, \"dram\": 0.5, \"peak\": 0.5, \"l2_capacity\": 1, "                  \
    "\"feed_bytes_per_clock\": 70, \"l2_bytes_per_clock\": 11, \"stream\": 5.5, "                  \
    "\"prologue_clocks\": 400, \"k_step_clocks\": 100, \"overlap\": 0.2, \"wave\": 0.25, "         \
    "\"split_clocks\": 4000, \"reduce\": 3.9, \"tile\": 0.075, \"epilogue\": 2, "                  \
    "\"power\": 0.03, \"quantize_launch_clocks\": 5000, \"quantize_rate\": 0.8, "                  \
    "\"quantize_row_clocks\": 0.75"
#define FIT                                                                                        \
    "{\"kernel\": \"gemm\", \"stack\": \"vllm\", \"numerics\": \"fp8\", "                          \
    "\"quantize_input\": \"dynamic\", \"rows\": 12, \"mape\": 0.125, \"low\": 0.75, "              \
    "\"high\": 1.5,\n \"parameters\": {" PARAMETERS "}}"
#define FILE_TEXT                                                                                  \
    "{\"schema\": \"roofline/calibration/1\", \"hardware\": \"mine\",\n\"fits\": [\n" FIT "]}\n"

static void test_file(void **unused)
{
    (void)unused;
    struct roof_hardware *const hardware = device("mi300x"); /* has none of its own */
    struct roof_calibration *c = NULL;
    struct roof_error error = {0};
    write_file(FILE_TEXT);
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, &error), ROOF_OK);
    assert_string_equal(c->id, "mine");
    assert_false(c->inherited);
    assert_null(c->attributions[0]);
    assert_int_equal(c->count, 1);
    const struct roof_kernel_fit *const fit = &c->fit[0];
    assert_int_equal(fit->stack, ROOF_STACK_VLLM);
    assert_int_equal(fit->numerics, ROOF_NUMERICS_FP8);
    assert_int_equal(fit->quantize, ROOF_QUANTIZE_DYNAMIC);
    assert_int_equal(fit->rows, 12);
    assert_true(fit->mape == 0.125 && fit->low == 0.75 && fit->high == 1.5);
    static const double values[] = {1000, 0.5,  0.5, 1,     70, 11,   5.5,  400, 100, 0.2,
                                    0.25, 4000, 3.9, 0.075, 2,  0.03, 5000, 0.8, 0.75};
    assert_int_equal(COUNT(values), P_COUNT);
    for (size_t i = 0; i < P_COUNT; i++) {
        assert_true(fit->parameter[i] == values[i]);
    }
    roof_calibration_free(c);

    /* The path goes before the device's own; lines of attributions are kept. */
    struct roof_hardware *const known = device("h100-sxm");
    write_file("{\"schema\": \"roofline/calibration/1\", \"attributions\": [\"one\", \"two\"],"
               " \"fits\": []}");
    assert_int_equal(roof_calibration_load(&c, known, path, NULL, &error), ROOF_OK);
    assert_int_equal(c->count, 0);
    assert_string_equal(c->id, path); /* it names no device */
    assert_string_equal(c->attributions[0], "one");
    assert_string_equal(c->attributions[1], "two");
    assert_null(c->attributions[2]);
    assert_null(roof_calibration_find(c, ROOF_KERNEL_GEMM, ROOF_STACK_VLLM, ROOF_NUMERICS_16BIT,
                                      ROOF_QUANTIZE_NONE));
    roof_calibration_free(c);

    /* An id is one too. */
    assert_int_equal(roof_calibration_load(&c, hardware, "l40s", NULL, &error), ROOF_OK);
    assert_string_equal(c->id, "l40s");
    assert_false(c->inherited);
    roof_calibration_free(c);
    roof_hardware_free(known);
    roof_hardware_free(hardware);
}

/* Replaces the first `from` in the file that is right. */
static void write_changed(const char *from, const char *to)
{
    static const char text[] = FILE_TEXT;
    const char *const at = strstr(text, from);
    assert_non_null(at);
    struct roof_text changed = ROOF_TEXT_INIT;
    roof_text_add(&changed, text, (size_t)(at - text));
    roof_text_put(&changed, to);
    roof_text_put(&changed, at + strlen(from));
    write_file(changed.data);
    roof_text_free(&changed);
}

static void test_refused_files(void **unused)
{
    (void)unused;
    static const struct {
        const char *from;
        const char *to;
        int line;
        int column;
        const char *reason;
    } cases[] = {
        {"{\"schema\"", "[", 1, 0, ""},
        {"\"roofline/calibration/1\"", "\"roofline/calibration/2\"", 1, 12, "schema"},
        {"\"roofline/calibration/1\"", "1", 1, 12, "schema"},
        {"\"schema\"", "\"scheme\"", 1, 1, "schema"},
        {"\"fits\"", "\"fit\"", 1, 1, "fits must be an array"},
        {"\"fits\": [", "\"fits\": 1, \"x\": [", 2, 9, "fits must be an array"},
        {"\"mine\"", "\"mine\", \"attributions\": 1", 1, 0, ""},
        {"\"gemm\"", "\"conv\"", 3, 12, "kernel"},
        {"\"vllm\"", "\"vlm\"", 3, 29, "stack"},
        {"\"stack\"", "\"stick\"", 3, 1, "stack is missing"},
        {"\"fp8\"", "8", 3, 49, "numerics"},
        {"\"dynamic\"", "\"\"", 3, 74, "quantize_input"},
        {"\"rows\": 12", "\"rows\": 0", 3, 93, "rows must be a number from 1 to"},
        {"\"rows\": 12", "\"rows\": \"12\"", 3, 93, "rows must be a number"},
        {"\"mape\": 0.125", "\"mape\": -1", 3, 105, "mape must be a number from 0 to 100"},
        {"\"low\": 0.75", "\"lo\": 0.75", 3, 1, "low must be a number"},
        {"\"high\": 1.5", "\"high\": 1e4", 3, 133, "high must be a number"},
        {"\"parameters\"", "\"parameter\"", 3, 1, "launch_clocks must be a number"},
        {"\"launch_clocks\": 1000", "\"launch_clocks\": 299", 4, 34,
         "launch_clocks must be a number from 300 to"},
        {"\"dram\": 0.5", "\"dram\": 1.01", 4, 48, "dram must be a number from 0.4 to 1"},
        {"\"stream\": 5.5", "\"stream\": 5", 4, 0, "stream must be a number from 5.5 to 5.5"},
        {"\"reduce\": 3.9", "\"reduce\": true", 4, 0, "reduce must be a number"},
        {", \"quantize_row_clocks\": 0.75", "", 4, 16, "quantize_row_clocks must be a number"},
    };
    struct roof_hardware *const hardware = device("h100-sxm");
    struct roof_calibration *c = NULL;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        write_changed(cases[i].from, cases[i].to);
        assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, &error), ROOF_INVALID);
        assert_null(c);
        assert_string_equal(error.source, path);
        if (error.line != cases[i].line || error.column < 1 ||
            (cases[i].column != 0 && error.column != cases[i].column) ||
            strstr(error.message, cases[i].reason) == NULL) {
            fail_msg("%s: %d:%d: %s", cases[i].to, error.line, error.column, error.message);
        }
        assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, NULL), ROOF_INVALID);
    }
    struct roof_error error = {0};
    assert_int_equal(roof_calibration_load(&c, hardware, "/tmp/no/such.json", NULL, &error),
                     ROOF_IO);
    assert_int_equal(roof_calibration_load(&c, hardware, "nothing", NULL, &error), ROOF_USAGE);
    assert_null(c);
    roof_hardware_free(hardware);
}

/* A fit stands for the best stack in no file: the best is chosen among the stacks. */
static void test_find(void **unused)
{
    (void)unused;
    static const struct roof_kernel_fit fits[] = {
        {.stack = ROOF_STACK_VLLM, .numerics = ROOF_NUMERICS_FP8, .quantize = ROOF_QUANTIZE_BLOCK},
        {.stack = ROOF_STACK_VLLM,
         .numerics = ROOF_NUMERICS_FP8,
         .quantize = ROOF_QUANTIZE_DYNAMIC},
        {.stack = ROOF_STACK_TRTLLM,
         .numerics = ROOF_NUMERICS_FP8,
         .quantize = ROOF_QUANTIZE_STATIC},
        {.stack = ROOF_STACK_TRTLLM, .numerics = ROOF_NUMERICS_FP8, .quantize = ROOF_QUANTIZE_NONE},
        {.stack = ROOF_STACK_VLLM, .numerics = ROOF_NUMERICS_16BIT, .quantize = ROOF_QUANTIZE_NONE},
    };
    const struct roof_calibration c = {.fit = fits, .count = COUNT(fits)};
    static const struct {
        enum roof_stack stack;
        enum roof_numerics numerics;
        enum roof_quantize quantize;
        int fit; /* -1: none */
    } cases[] = {
        {ROOF_STACK_VLLM, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_BLOCK, 0},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_DYNAMIC, 1},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_STATIC, -1},
        /* Without the quantisation the kernel is the same: the first way that there is. */
        {ROOF_STACK_VLLM, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_NONE, 1},
        {ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_NONE, 3},
        {ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_STATIC, 2},
        {ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_DYNAMIC, -1},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_NONE, 4},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_BLOCK, -1},
        {ROOF_STACK_TRTLLM, ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_NONE, -1},
        {ROOF_STACK_SGLANG, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_NONE, -1},
        {ROOF_STACK_BEST, ROOF_NUMERICS_FP8, ROOF_QUANTIZE_NONE, -1},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_COUNT, ROOF_QUANTIZE_NONE, -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_kernel_fit *const found = roof_calibration_find(
            &c, ROOF_KERNEL_GEMM, cases[i].stack, cases[i].numerics, cases[i].quantize);
        assert_ptr_equal(found, cases[i].fit < 0 ? NULL : &fits[cases[i].fit]);
    }
}

static int set_up(void **unused)
{
    (void)unused;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/mine.json", folder);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_numerics),      cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_inheritance),   cmocka_unit_test(test_file),
        cmocka_unit_test(test_refused_files), cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
