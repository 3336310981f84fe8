// SPDX-License-Identifier: MIT
#include "files.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "catalog/data.h"
#include "predict/calibration_parts.h"
#include "predict/kernel.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, neutral, meaning) P_##id,
#include "predict/kernel_parameters.h"
    P_COUNT
};
/* How many parameters each list has. */
#define ONE(id, key, least, most, start, neutral, meaning) +1
enum {
    DECODE_COUNT = 0
#define ROOF_DECODE_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    PREFILL_COUNT = 0
#define ROOF_PREFILL_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    MLA_DECODE_COUNT = 0
#define ROOF_MLA_DECODE_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    MLA_PREFILL_COUNT = 0
#define ROOF_MLA_PREFILL_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    MOE_COUNT = 0
#define ROOF_MOE_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    VECTOR_COUNT = 0
#define ROOF_VECTOR_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    SCAN_COUNT = 0
#define ROOF_SCAN_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    COLLECTIVE_COUNT = 0
#define ROOF_COLLECTIVE_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    INDEX_COUNT = 0
#define ROOF_INDEX_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    TOP_K_COUNT = 0
#define ROOF_TOP_K_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    SPARSE_COUNT = 0
#define ROOF_SPARSE_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    COMPRESSED_COUNT = 0
#define ROOF_COMPRESSED_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    GROUPS_COUNT = 0
#define ROOF_GROUPS_PARAMETER ONE
#include "predict/kernel_parameters.h"
};
enum {
    ONE_SHOT_COUNT = 0
#define ROOF_ONE_SHOT_PARAMETER ONE
#include "predict/kernel_parameters.h"
};

static char path[PATH_SIZE];

/* --- names and parameters ------------------------------------------------------------------ */

static void test_names(void **unused)
{
    (void)unused;
    static const char *const stacks[ROOF_STACK_COUNT] = {"best",   "trtllm", "vllm",
                                                         "sglang", "aiter",  "llama.cpp"};
    static const char *const numerics[] = {"16bit", "fp8",  "int8",  "fp4",   "w8a16",
                                           "w4a16", "w4a8", "32bit", "mx4a16"};
    static const char *const kernels[] = {"gemm",
                                          "bmm",
                                          "decode",
                                          "prefill",
                                          "mla_decode",
                                          "mla_prefill",
                                          "moe",
                                          "norm",
                                          "add",
                                          "activation",
                                          "rope",
                                          "quantize",
                                          "all_reduce",
                                          "one_shot",
                                          "all_gather",
                                          "reduce_scatter",
                                          "all_to_all",
                                          "state",
                                          "conv",
                                          "conv_prefill",
                                          "encoder",
                                          "state_prefill",
                                          "kimi_prefill",
                                          "ssd_prefill",
                                          "index_scores",
                                          "top_k",
                                          "sparse_mla",
                                          "compressed",
                                          "compressed_prefill",
                                          "hyper_collapse",
                                          "hyper_expand"};
    assert_int_equal(COUNT(numerics), ROOF_NUMERICS_COUNT);
    assert_int_equal(COUNT(kernels), ROOF_KERNEL_COUNT);
    for (int i = 0; i < ROOF_STACK_COUNT; i++) {
        assert_string_equal(roof_stack_name((enum roof_stack)i), stacks[i]);
        assert_string_equal(roof_input(ROOF_INPUT_STACK)->choices[i], stacks[i]);
    }
    for (int i = 0; i < ROOF_NUMERICS_COUNT; i++) {
        assert_string_equal(roof_numerics_name((enum roof_numerics)i), numerics[i]);
    }
    for (int i = 0; i < ROOF_KERNEL_COUNT; i++) {
        assert_string_equal(roof_kernel_name((enum roof_kernel)i), kernels[i]);
    }
}

static void test_parameters(void **unused)
{
    (void)unused;
    static const size_t counts[ROOF_KERNEL_COUNT] = {
        [ROOF_KERNEL_GEMM] = P_COUNT,
        [ROOF_KERNEL_BMM] = P_COUNT,
        [ROOF_KERNEL_DECODE] = DECODE_COUNT,
        [ROOF_KERNEL_PREFILL] = PREFILL_COUNT,
        [ROOF_KERNEL_MLA_DECODE] = MLA_DECODE_COUNT,
        [ROOF_KERNEL_MLA_PREFILL] = MLA_PREFILL_COUNT,
        [ROOF_KERNEL_MOE] = MOE_COUNT,
        [ROOF_KERNEL_NORM] = VECTOR_COUNT,
        [ROOF_KERNEL_ADD] = VECTOR_COUNT,
        [ROOF_KERNEL_ACTIVATION] = VECTOR_COUNT,
        [ROOF_KERNEL_ROPE] = VECTOR_COUNT,
        [ROOF_KERNEL_QUANTIZE] = VECTOR_COUNT,
        [ROOF_KERNEL_ALL_REDUCE] = COLLECTIVE_COUNT,
        [ROOF_KERNEL_ONE_SHOT] = ONE_SHOT_COUNT,
        [ROOF_KERNEL_ALL_GATHER] = COLLECTIVE_COUNT,
        [ROOF_KERNEL_REDUCE_SCATTER] = COLLECTIVE_COUNT,
        [ROOF_KERNEL_ALL_TO_ALL] = COLLECTIVE_COUNT,
        [ROOF_KERNEL_STATE] = VECTOR_COUNT,
        [ROOF_KERNEL_CONV] = VECTOR_COUNT,
        [ROOF_KERNEL_CONV_PREFILL] = VECTOR_COUNT,
        [ROOF_KERNEL_ENCODER] = PREFILL_COUNT,
        [ROOF_KERNEL_STATE_PREFILL] = SCAN_COUNT,
        [ROOF_KERNEL_KIMI_PREFILL] = SCAN_COUNT,
        [ROOF_KERNEL_SSD_PREFILL] = SCAN_COUNT,
        [ROOF_KERNEL_INDEX_SCORES] = INDEX_COUNT,
        [ROOF_KERNEL_TOP_K] = TOP_K_COUNT,
        [ROOF_KERNEL_SPARSE_MLA] = SPARSE_COUNT,
        [ROOF_KERNEL_COMPRESSED] = COMPRESSED_COUNT,
        [ROOF_KERNEL_COMPRESSED_PREFILL] = GROUPS_COUNT,
        [ROOF_KERNEL_HYPER_COLLAPSE] = VECTOR_COUNT,
        [ROOF_KERNEL_HYPER_EXPAND] = VECTOR_COUNT,
    };
    for (int kernel = 0; kernel < ROOF_KERNEL_COUNT; kernel++) {
        size_t count = 0;
        const struct roof_parameter *const row =
            roof_kernel_parameters((enum roof_kernel)kernel, &count);
        assert_int_equal(count, counts[kernel]);
        assert_true(count > 0 && count <= ROOF_FIT_PARAMETERS_MAX);
        assert_string_equal(row[0].key, "launch_clocks");
        for (size_t i = 0; i < count; i++) {
            assert_true(row[i].min > 0);
            assert_true(row[i].min <= row[i].start && row[i].start <= row[i].max);
            const double neutral = row[i].neutral;
            assert_true(isnan(neutral) || (row[i].min <= neutral && neutral <= row[i].max));
            assert_true(strlen(row[i].meaning) > 5);
            assert_int_equal(strspn(row[i].key, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                             strlen(row[i].key));
            for (size_t k = 0; k < i; k++) {
                assert_string_not_equal(row[i].key, row[k].key);
            }
            /* No rate above the printed one. */
            static const char *const shares[] = {"dram", "peak", "link", "overlap", "wave"};
            for (size_t k = 0; k < COUNT(shares); k++) {
                const bool wave = strcmp(shares[k], "wave") == 0;
                if (strcmp(row[i].key, shares[k]) == 0 &&
                    !(wave && (kernel == ROOF_KERNEL_PREFILL ||
                               kernel == ROOF_KERNEL_ENCODER))) { /* other waves */
                    assert_true(row[i].max <= 1);
                }
            }
        }
    }
    /* The proof of the bound rests on these ranges. */
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_GEMM, &count);
    assert_string_equal(row[P_DRAM].key, "dram");
    assert_string_equal(row[P_PEAK].key, "peak");
    assert_string_equal(row[P_WAVE].key, "wave");
    assert_string_equal(row[P_OVERLAP].key, "overlap");
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
        {"mxfp4", "bf16", ROOF_NUMERICS_MX4A16},
        {"int2", "bf16", ROOF_NUMERICS_W4A16},
        {"mxfp6_e3m2", "bf16", ROOF_NUMERICS_W4A16},
        {"int4", "int8", ROOF_NUMERICS_W4A8},
        {"int4", "fp8", ROOF_NUMERICS_W4A8},
        {"nvfp4", "fp8", ROOF_NUMERICS_W4A8},
        {"mxfp4", "mxfp8", ROOF_NUMERICS_W4A8},
        {"mxfp6_e2m3", "fp8", ROOF_NUMERICS_W4A8},
        {"fp8", "int8", ROOF_NUMERICS_INT8}, /* the activations decide */
        {"int8", "fp8", ROOF_NUMERICS_FP8},
        {"int4", "nvfp4", ROOF_NUMERICS_FP4},
        /* Narrower activations are widened. */
        {"fp16", "fp8", ROOF_NUMERICS_16BIT},
        {"bf16", "int8", ROOF_NUMERICS_16BIT},
        {"bf16", "nvfp4", ROOF_NUMERICS_16BIT},
        {"fp32", "fp32", ROOF_NUMERICS_32BIT},
        {"tf32", "tf32", ROOF_NUMERICS_32BIT},
        {"fp64", "fp64", ROOF_NUMERICS_32BIT},
        {"fp32", "fp16", ROOF_NUMERICS_32BIT},
        {"fp16", "fp32", ROOF_NUMERICS_32BIT},
        {"fp32", "int4", ROOF_NUMERICS_32BIT},
        {"int4", "fp32", ROOF_NUMERICS_32BIT},
        /* There is no kernel. */
        {"int4", "int4", ROOF_NUMERICS_COUNT},
        {"nvfp4", "int4", ROOF_NUMERICS_COUNT},
        {"fp8", "nvfp4", ROOF_NUMERICS_COUNT},
        {"fp8", "mxfp6_e3m2", ROOF_NUMERICS_COUNT},
        {"mxfp6_e3m2", "mxfp6_e3m2", ROOF_NUMERICS_COUNT},
        {"q8_1", "bf16", ROOF_NUMERICS_COUNT}, /* 9 bits */
        {"q8_k", "fp8", ROOF_NUMERICS_COUNT},
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

/* By their bits: above 16, 16, 9 to 16, 8 to 9, 5 to 8, below 5. */
static int width(enum roof_precision precision)
{
    const double bits = roof_precision_bits(precision);
    static const double least[] = {16.5, 16, 9, 8, 5, 0};
    int i = 0;
    while (bits < least[i]) {
        i++;
    }
    return i;
}

/* All pairs of formats, by their widths. */
static void test_all_numerics(void **unused)
{
    (void)unused;
#define N(name) ROOF_NUMERICS_##name
    /* Rows: weights; columns: activations. FP8 and FP4 are of no integer. */
    static const enum roof_numerics table[6][6] = {
        {N(32BIT), N(32BIT), N(32BIT), N(32BIT), N(32BIT), N(32BIT)},
        {N(32BIT), N(16BIT), N(16BIT), N(16BIT), N(16BIT), N(16BIT)},
        {N(32BIT), N(COUNT), N(COUNT), N(COUNT), N(COUNT), N(COUNT)},
        {N(32BIT), N(W8A16), N(COUNT), N(FP8), N(COUNT), N(COUNT)},
        {N(32BIT), N(W4A16), N(COUNT), N(W4A8), N(COUNT), N(COUNT)},
        {N(32BIT), N(W4A16), N(COUNT), N(W4A8), N(COUNT), N(FP4)},
    };
    bool seen[6] = {false};
    for (int w = 0; w < ROOF_PRECISION_COUNT; w++) {
        for (int a = 0; a < ROOF_PRECISION_COUNT; a++) {
            const int row = width((enum roof_precision)w);
            const bool integer = roof_format((enum roof_precision)a)->family == ROOF_FAMILY_INTEGER;
            enum roof_numerics expected = table[row][width((enum roof_precision)a)];
            if (w == ROOF_PRECISION_MXFP4 && expected == N(W4A16)) {
                expected = N(MX4A16);
            } else if (integer && expected == N(FP8)) {
                expected = N(INT8);
            } else if (integer && expected == N(FP4)) {
                expected = N(COUNT);
            }
            seen[row] = true;
            const enum roof_numerics got =
                roof_numerics_of((enum roof_precision)w, (enum roof_precision)a);
            if (got != expected) {
                fail_msg("%s x %s: %d", roof_format((enum roof_precision)w)->name,
                         roof_format((enum roof_precision)a)->name, (int)got);
            }
        }
    }
#undef N
    for (size_t i = 0; i < COUNT(seen); i++) {
        assert_true(seen[i]);
    }
}

/* --- embedded files ------------------------------------------------------------------------ */

/* Returns true if the fits are for the same kernel in some stack; llama.cpp has kernels of its own
 * beside those that are common to the others. */
static bool same_kernel(const struct roof_kernel_fit *a, const struct roof_kernel_fit *b)
{
    if ((a->stack == ROOF_STACK_LLAMA_CPP) != (b->stack == ROOF_STACK_LLAMA_CPP)) {
        return false;
    }
    return a->kernel == b->kernel && a->numerics == b->numerics && a->quantize == b->quantize &&
           a->least_heads == b->least_heads && a->own_kv_heads == b->own_kv_heads &&
           (!a->one_format || !b->one_format || a->weights == b->weights) &&
           (a->stack == b->stack || a->stack == ROOF_STACK_BEST || b->stack == ROOF_STACK_BEST);
}

/* Returns heads for which a fit is found, if there are others for the same kernel. */
static struct roof_shape heads_of(const struct roof_kernel_fit *fit)
{
    const int64_t heads = fit->least_heads > 0 ? fit->least_heads : 4;
    return (struct roof_shape){.heads = heads, .kv_heads = fit->own_kv_heads ? heads : 1};
}

/* A fit that is lent is one that the lender measured itself. */
static void check_lender(const struct roof_kernel_fit *fit, const char *borrower)
{
    assert_string_not_equal(fit->lent, borrower);
    struct roof_hardware *const hardware = load_device(fit->lent);
    struct roof_calibration *c = NULL;
    assert_int_equal(roof_calibration_load(&c, hardware, NULL, NULL, NULL), ROOF_OK);
    assert_non_null(c);
    if (fit->stack != ROOF_STACK_LLAMA_CPP) { /* whose kernels join the calibration of a family */
        assert_string_equal(c->id, fit->lent);
    }
    const struct roof_shape shape = heads_of(fit);
    const struct roof_kernel_fit *const own =
        roof_calibration_find_for(c, fit->kernel, fit->stack, fit->numerics, fit->quantize,
                                  fit->one_format ? fit->weights : ROOF_PRECISION_AUTO, &shape);
    if (own == NULL || own->lent != NULL || own->quantize != fit->quantize ||
        own->rows != fit->rows) {
        fail_msg("%s has no %s kernel of %s to lend to %s", fit->lent,
                 roof_kernel_name(fit->kernel), roof_numerics_name(fit->numerics), borrower);
    }
    roof_calibration_free(c);
    roof_hardware_free(hardware);
}

/* Every embedded file is of a device that is known, and loads; its values are in range, its band
 * holds the expected time, and no two fits are of the same kernel. */
static void test_embedded(void **unused)
{
    (void)unused;
    static const char prefix[] = "calibration/";
    size_t files = 0;
    for (size_t f = 0; f < roof_data_file_count; f++) {
        const char *const name = roof_data_files[f].path;
        if (strncmp(name, prefix, strlen(prefix)) != 0 || strstr(name, "/llama.cpp-") != NULL) {
            continue;
        }
        char id[64];
        snprintf(id, sizeof id, "%.*s", (int)(strlen(name) - strlen(prefix) - strlen(".json")),
                 name + strlen(prefix));
        struct roof_hardware *const hardware = load_device(id);
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
            const struct roof_parameter *const row = roof_fit_parameters(fit, &parameters);
            assert_true(fit->rows > 0);
            assert_true(fit->mape > 0 && fit->mape < 1);
            assert_true(fit->low > 0.2 && fit->low <= 1);
            assert_true(fit->high >= 1 && fit->high < 5);
            for (size_t p = 0; p < parameters; p++) {
                assert_true(fit->parameter[p] >= row[p].min);
                assert_true(fit->parameter[p] <= row[p].max);
            }
            for (size_t k = 0; k < i; k++) {
                assert_false(same_kernel(&c->fit[k], fit));
            }
            for (int stack = 0; stack < ROOF_STACK_COUNT; stack++) {
                const bool common = fit->stack == ROOF_STACK_BEST && stack != ROOF_STACK_LLAMA_CPP;
                if (common || (int)fit->stack == stack) {
                    const enum roof_precision weights =
                        fit->one_format ? fit->weights : ROOF_PRECISION_AUTO;
                    const struct roof_shape shape = heads_of(fit);
                    assert_ptr_equal(
                        roof_calibration_find_for(c, fit->kernel, (enum roof_stack)stack,
                                                  fit->numerics, fit->quantize, weights, &shape),
                        fit);
                }
            }
            if (fit->lent != NULL) {
                check_lender(fit, id);
            }
        }
        assert_null(roof_calibration_find(c, ROOF_KERNEL_GEMM, ROOF_STACK_TRTLLM,
                                          ROOF_NUMERICS_COUNT, ROOF_QUANTIZE_NONE));
        roof_calibration_free(c);
        roof_hardware_free(hardware);
    }
    assert_true(files >= 4);
    roof_calibration_free(NULL);
}

/* Tells whether two fits say the same; those of a file may be borrowed. */
static bool same_fit(const struct roof_kernel_fit *a, const struct roof_kernel_fit *b)
{
    size_t count = 0;
    (void)roof_fit_parameters(a, &count);
    bool same = same_kernel(a, b) && a->plain == b->plain && a->rows == b->rows &&
                a->mape == b->mape && a->low == b->low && a->high == b->high && a->own == b->own &&
                a->same_sm == b->same_sm && (a->lent == NULL) == (b->lent == NULL) &&
                (a->lent == NULL || strcmp(a->lent, b->lent) == 0);
    for (size_t p = 0; p < count; p++) {
        same = same && a->parameter[p] == b->parameter[p];
    }
    return same;
}

/* A calibration that is read for some kernels has their fits, all of them and no other, as the
 * whole one has them: for each kernel alone, for every second one, and for none. */
static void test_some_kernels(void **unused)
{
    (void)unused;
    static const char *const devices[] = {"h100-sxm", "gb10", "rtx-4090", "mi300x", "t4"};
    for (size_t d = 0; d < COUNT(devices); d++) {
        struct roof_hardware *const hardware = load_device(devices[d]);
        struct roof_calibration *all = NULL;
        assert_int_equal(roof_calibration_load(&all, hardware, NULL, NULL, NULL), ROOF_OK);
        for (int k = 0; k < ROOF_KERNEL_COUNT + 2; k++) {
            const unsigned wanted = k < ROOF_KERNEL_COUNT    ? 1U << k
                                    : k == ROOF_KERNEL_COUNT ? 0x15555
                                                             : 0;
            struct roof_calibration *some = NULL;
            size_t next = 0;
            bool measured = false;
            assert_int_equal(roof_calibration_load_some(&some, hardware, NULL, NULL, wanted, NULL),
                             ROOF_OK);
            assert_string_equal(some->id, all->id);
            assert_int_equal(some->inherited, all->inherited);
            assert_int_equal(some->local, all->local);
            for (size_t i = 0; i < all->count; i++) {
                measured = measured || (int)all->fit[i].kernel == k;
                if ((wanted >> all->fit[i].kernel & 1) != 0) {
                    assert_true(next < some->count);
                    assert_true(same_fit(&some->fit[next++], &all->fit[i]));
                }
            }
            assert_int_equal(some->count, next);
            assert_true(roof_calibration_measures(all, (enum roof_kernel)k) == measured);
            assert_true(roof_calibration_measures(some, (enum roof_kernel)k) == measured);
            roof_calibration_free(some);
        }
        roof_calibration_free(all);
        roof_hardware_free(hardware);
    }
}

/* An operator needs the kernels of all its shapes, and those that stand in for them. */
static void test_needed_kernels(void **unused)
{
    (void)unused;
    static const struct roof_shape shapes[] = {
        {.query_len = 1}, {.query_len = 2}, {.query_len = 2, .causal = 1}, {.algorithm = 1}};
    static const struct roof_calibration none = {.count = 0};
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const unsigned needed = roof_operator_kernels((enum roof_operator)op);
        for (size_t i = 0; i < COUNT(shapes); i++) {
            const struct roof_workload w = {.op = (enum roof_operator)op,
                                            .shape = shapes[i],
                                            .formats = {.kv = ROOF_PRECISION_FP16}};
            const enum roof_kernel own = roof_kernel_of(&w);
            const enum roof_kernel other = roof_kernel_in(&none, &w);
            assert_true(own == ROOF_KERNEL_COUNT || (needed >> own & 1) != 0);
            assert_true(other == ROOF_KERNEL_COUNT || (needed >> other & 1) != 0);
        }
    }
}

/* Tells whether an embedded device has an architecture that begins like this. */
static bool begins_architecture(const char *begin)
{
    static const char prefix[] = "hardware/";
    for (size_t f = 0; f < roof_data_file_count; f++) {
        const char *const file = roof_data_files[f].path;
        char id[64];
        if (strncmp(file, prefix, strlen(prefix)) != 0) {
            continue;
        }
        snprintf(id, sizeof id, "%.*s", (int)(strlen(file) - strlen(prefix) - strlen(".json")),
                 file + strlen(prefix));
        struct roof_hardware *const hardware = load_device(id);
        const bool found = strncmp(hardware->architecture, begin, strlen(begin)) == 0;
        roof_hardware_free(hardware);
        if (found) {
            return true;
        }
    }
    return false;
}

static bool is_kernel(const char *name)
{
    for (int k = 0; k < ROOF_KERNEL_COUNT; k++) {
        if (strcmp(name, roof_kernel_name((enum roof_kernel)k)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_calibrated(const char *id)
{
    char file[100];
    snprintf(file, sizeof file, "calibration/%s.json", id);
    return roof_data_file(file) != NULL;
}

/* Every row of data/borrowing.json has what its list needs, and names what there is. No row stands
 * behind one that begins its architecture, too: it would never count. */
static void test_borrowing(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        size_t least;
        bool measured; /* the calibration is a file */
    } lists[] = {{"families", 7, true},
                 {"llama.cpp", 8, true},
                 {"same_sm", 10, false},
                 {"collectives", 1, true},
                 {"lenders", 8, true}};
    struct roof_json *json = NULL;
    assert_int_equal(roof_data_json(&json, "borrowing.json", NULL), ROOF_OK);
    for (size_t l = 0; l < COUNT(lists); l++) {
        const roof_json_value *const rows = roof_json_get(roof_json_root(json), lists[l].name);
        assert_true(roof_json_count(rows) >= lists[l].least);
        for (const roof_json_value *row = roof_json_first(rows); row != NULL;
             row = roof_json_next(row)) {
            const char *const id = roof_json_line(roof_json_get(row, "calibration"));
            const char *const begin = roof_json_line(roof_json_get(row, "architecture"));
            const char *const kernel = roof_json_line(roof_json_get(row, "kernel"));
            const roof_json_value *const from = roof_json_get(row, "from");
            assert_non_null(id);
            assert_non_null(roof_json_line(roof_json_get(row, "reason")));
            assert_true(!lists[l].measured || is_calibrated(id));
            if (strcmp(lists[l].name, "lenders") == 0) {
                assert_true(roof_json_count(from) > 0);
                assert_true(kernel == NULL || is_kernel(kernel));
                for (const roof_json_value *one = roof_json_first(from); one != NULL;
                     one = roof_json_next(one)) {
                    assert_true(is_calibrated(roof_json_line(one)));
                    assert_string_not_equal(roof_json_line(one), id);
                }
                continue;
            }
            if (strcmp(lists[l].name, "collectives") == 0) {
                double devices = 0;
                assert_true(roof_json_number(&devices, roof_json_get(row, "devices")));
                assert_true(devices >= 2 && devices == floor(devices));
                continue;
            }
            assert_non_null(begin);
            assert_true(begins_architecture(begin));
            for (const roof_json_value *before = roof_json_first(rows); before != row;
                 before = roof_json_next(before)) {
                const char *const other = roof_json_line(roof_json_get(before, "architecture"));
                assert_true(strcmp(lists[l].name, "same_sm") == 0 ||
                            strncmp(begin, other, strlen(other)) != 0);
            }
        }
    }
    roof_json_free(json);
}

/* The products whose matrix units have the full rate of their SMs. */
static void test_full_rates(void **unused)
{
    (void)unused;
    struct roof_json *json = NULL;
    assert_int_equal(roof_data_json(&json, "borrowing.json", NULL), ROOF_OK);
    const roof_json_value *const rows = roof_json_get(roof_json_root(json), "full_rate");
    assert_true(roof_json_count(rows) >= 4);
    for (const roof_json_value *row = roof_json_first(rows); row != NULL;
         row = roof_json_next(row)) {
        const char *const begin = roof_json_line(roof_json_get(row, "architecture"));
        struct roof_hardware *const full =
            load_device(roof_json_line(roof_json_get(row, "device")));
        assert_non_null(begin);
        assert_memory_equal(full->architecture, begin, strlen(begin));
        assert_non_null(roof_json_line(roof_json_get(row, "reason")));
        roof_hardware_free(full);
    }
    roof_json_free(json);
}

/* A device that takes the calibration of its family says why; one that has its own does not. */
static void test_reasons(void **unused)
{
    (void)unused;
    static const struct {
        const char *id;
        const char *reason; /* a part of it; NULL: none */
    } cases[] = {{"a10", "A100 is the only"},
                 {"h200", "same SM"},
                 {"h100-sxm", NULL},
                 {"gb10", NULL},
                 {"t4", "Turing"},
                 {"m4-max", "Apple GPUs"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = load_device(cases[i].id);
        struct roof_calibration *c = NULL;
        assert_int_equal(roof_calibration_load(&c, hardware, NULL, NULL, NULL), ROOF_OK);
        assert_int_equal(c->reason == NULL, cases[i].reason == NULL);
        assert_true(cases[i].reason == NULL ||
                    (c->reason != NULL && strstr(c->reason, cases[i].reason) != NULL));
        roof_calibration_free(c);
        roof_hardware_free(hardware);
    }
}

/* Each kernel of another device has a reason, and names that device; others have none. */
static void test_reasons_of_kernels(void **unused)
{
    (void)unused;
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    size_t lent = 0;
    assert_int_equal(roof_hardware_ids(&ids, &count, NULL, NULL), ROOF_OK);
    const char *id = ids.data;
    for (size_t i = 0; i < count; i++, id += strlen(id) + 1) {
        struct roof_hardware *const hardware = load_device(id);
        assert_int_equal(roof_hardware_calibrate(hardware, NULL, NULL, NULL), ROOF_OK);
        const struct roof_calibration *const c = hardware->calibration;
        for (size_t n = 0; c != NULL && n < c->count; n++) {
            const struct roof_kernel_fit *const fit = &c->fit[n];
            struct roof_text reason = ROOF_TEXT_INIT;
            assert_int_equal(roof_calibration_reason(&reason, hardware, fit, NULL), ROOF_OK);
            if ((reason.length > 0) != roof_kernel_is_lent(hardware, fit)) {
                fail_msg("%s, %s of %s", id, roof_kernel_name(fit->kernel), fit->device);
            }
            assert_int_equal(fit->note != NULL, fit->stack == ROOF_STACK_LLAMA_CPP);
            lent += reason.length > 0;
            roof_text_free(&reason);
            struct roof_text libraries = ROOF_TEXT_INIT;
            if (strcmp(id, c->id) == 0) { /* other devices have the same fits */
                assert_int_equal(roof_calibration_put_libraries(&libraries, fit, NULL), ROOF_OK);
                if (libraries.length < 20) {
                    fail_msg("%s, %s of %s has no versions", id, roof_kernel_name(fit->kernel),
                             roof_stack_name(fit->stack));
                }
            }
            roof_text_free(&libraries);
        }
        roof_hardware_free(hardware);
    }
    assert_true(lent > 1000);
    roof_text_free(&ids);
}

/* Returns a parameter of the first fit for products on a device. */
static double products(const char *id, const char *key, enum roof_numerics numerics)
{
    struct roof_hardware *const hardware = load_device(id);
    struct roof_calibration *c = NULL;
    assert_int_equal(roof_calibration_load(&c, hardware, NULL, NULL, NULL), ROOF_OK);
    assert_non_null(c);
    struct roof_kernel_fit *const fit = roof_calibration_fits(c);
    size_t n = 0;
    while (n < c->count && (fit[n].kernel != ROOF_KERNEL_GEMM || fit[n].numerics != numerics)) {
        n++;
    }
    assert_true(n < c->count);
    const double *const value = roof_fit_parameter(&fit[n], key);
    assert_non_null(value);
    const double found = *value;
    roof_calibration_free(c);
    roof_hardware_free(hardware);
    return found;
}

/* Borrowed kernels on products that are slower than their SMs: with matrix units at a part of their
 * rate, or with less power. */
static void test_limits(void **unused)
{
    (void)unused;
    static const struct {
        const char *id;
        const char *lender;
        enum roof_numerics numerics;
        double rate;  /* of the matrix units */
        double power; /* W of an SM, over those of the lender; 1: at least as many */
    } cases[] = {
        {"rtx-4090", "l40s", ROOF_NUMERICS_16BIT, (165.2 / 128) / (362.05 / 142), 1},
        {"rtx-4090", "l40s", ROOF_NUMERICS_FP8, 0.5, 1},
        {"rtx-4090", "l40s", ROOF_NUMERICS_W4A16, (165.2 / 128) / (362.05 / 142), 1},
        {"rtx-4090", "l40s", ROOF_NUMERICS_INT8, 1, 1},
        {"rtx-5090", "rtx-pro-6000", ROOF_NUMERICS_16BIT, 0.5, 1},
        {"rtx-5090", "rtx-pro-6000", ROOF_NUMERICS_FP4, 1, 1},
        {"rtx-3090", "a100-sxm-80gb", ROOF_NUMERICS_16BIT, 0.5, 1}, /* has other SMs */
        {"a40", "a100-sxm-80gb", ROOF_NUMERICS_16BIT, 1, 1},
        {"h20", "h100-sxm", ROOF_NUMERICS_16BIT, 0.25, (400. / 78) / (700. / 132)},
        {"l4", "l40s", ROOF_NUMERICS_16BIT, 1, (72. / 58) / (350. / 142)},
        {"h100-pcie", "h100-sxm", ROOF_NUMERICS_FP8, 1, (350. / 114) / (700. / 132)},
        {"gb10", "dgx-spark", ROOF_NUMERICS_16BIT, 1, 1}, /* the same product */
        {"h200-sxm", "h100-sxm", ROOF_NUMERICS_16BIT, 1, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const enum roof_numerics numerics = cases[i].numerics;
        /* A product of 10 ms is 100 times as long as the unit of `power`. */
        const double before = 1 + log(101) * products(cases[i].lender, "power", numerics);
        const double after = 1 + log(101) * products(cases[i].id, "power", numerics);
        assert_near(products(cases[i].id, "peak", numerics) * cases[i].rate,
                    products(cases[i].lender, "peak", numerics), 1e-3);
        assert_near(after, before * pow(cases[i].power, -0.8), 1e-9);
    }
}

/* Copies the parameters that depend on the limits of a product, which test_limits checks. */
static void copy_limits(struct roof_kernel_fit *out, const struct roof_kernel_fit *from)
{
    static const char *const keys[] = {"peak", "power"};
    struct roof_kernel_fit other = *from;
    for (size_t i = 0; i < COUNT(keys); i++) {
        double *const limited = roof_fit_parameter(out, keys[i]);
        if (limited != NULL) {
            *limited = *roof_fit_parameter(&other, keys[i]);
        }
    }
}

/* Devices whose collectives were measured on one slow machine know the reason, whether these are
 * their own or borrowed; others have none. */
static void test_collectives(void **unused)
{
    (void)unused;
    static const struct {
        const char *id;
        bool warned;
    } cases[] = {{"l40s", true},          {"l4", true},        {"rtx-4090", true},
                 {"rtx-pro-6000", false}, {"h100-sxm", false}, {"dgx-spark", false},
                 {"a40", false},          {"m4-max", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = load_device(cases[i].id);
        struct roof_calibration *c = NULL;
        assert_int_equal(roof_calibration_load(&c, hardware, NULL, NULL, NULL), ROOF_OK);
        assert_int_equal(c->collectives != NULL, cases[i].warned);
        assert_true(c->collectives == NULL ||
                    (strstr(c->collectives, "peer-to-peer") != NULL && c->collectives_to == 2));
        roof_calibration_free(c);
        roof_hardware_free(hardware);
    }
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
        {"b200", "hgx-b200", true}, /* its product, with another bandwidth */
        {"dgx-spark", "dgx-spark", false},
        {"gb10", "dgx-spark", true},
        {"h200-sxm", "h100-sxm", true},
        {"h100-pcie", "h100-sxm", true},
        {"gh200", "h100-sxm", true},
        {"a100-sxm-40gb", "a100-sxm-80gb", true},
        {"a10", "a100-sxm-80gb", true},
        {"l4", "l40s", true},
        {"rtx-4090", "l40s", true},
        {"b300", "hgx-b200", true},
        {"gb300", "hgx-b200", true},
        {"rtx-5090", "rtx-pro-6000", true}, /* the same SM, not that of a data centre */
        {"rtx-pro-6000", "rtx-pro-6000", false},
        {"jetson-thor", "hgx-b200", true},
        {"gaudi2", NULL, false},
        {"gaudi3", NULL, false},
        {"tpu-v5e", NULL, false},
        {"tpu-v6e", NULL, false},
        {"mi300x", "mi300x", false},
        {"mi325x", "mi300x", true},
        {"mi355x", "mi355x", false},
        {"mi250x", NULL, false},
        {"m4-max", "m1-max", true}, /* no L2 is known, which its kernels do not need */
        {"r9700", "r9700", false},  /* of llama.cpp */
        {"v100", "dgx-spark", true},
        {"t4", "dgx-spark", true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = load_device(cases[i].id);
        struct roof_calibration *c = NULL;
        struct roof_error error = {0};
        assert_int_equal(roof_calibration_load(&c, hardware, NULL, NULL, &error), ROOF_OK);
        if ((c == NULL) != (cases[i].calibration == NULL) ||
            (c != NULL &&
             (strcmp(c->id, cases[i].calibration) != 0 || c->inherited != cases[i].inherited))) {
            fail_msg("%s has the calibration of %s", cases[i].id, c == NULL ? "none" : c->id);
        }
        if (c != NULL && !c->local) { /* the same: what is inherited is told, not changed */
            struct roof_hardware *const owner = load_device(c->id);
            struct roof_calibration *own = NULL;
            assert_int_equal(roof_calibration_load(&own, owner, NULL, NULL, &error), ROOF_OK);
            assert_false(own->inherited);
            assert_int_equal(own->count, c->count);
            for (size_t k = 0; k < c->count; k++) {
                assert_true(c->fit[k].low == own->fit[k].low);
                assert_true(c->fit[k].high == own->fit[k].high);
                assert_true(c->fit[k].mape == own->fit[k].mape);
                assert_true(own->fit[k].stack == ROOF_STACK_LLAMA_CPP ||
                            (c->fit[k].lent == NULL) == (own->fit[k].lent == NULL));
                if (roof_kernel_has_tiles(own->fit[k].kernel)) {
                    continue; /* has the rows of the device's own matrix instruction */
                }
                struct roof_kernel_fit fit = c->fit[k];
                copy_limits(&fit, &own->fit[k]);
                assert_memory_equal(fit.parameter, own->fit[k].parameter, sizeof fit.parameter);
            }
            roof_calibration_free(own);
            roof_hardware_free(owner);
        }
        roof_calibration_free(c);
        roof_hardware_free(hardware);
    }
}

/* Returns the calibration of a device file, which has these members beside a bandwidth and a peak.
 */
static struct roof_calibration *calibration_of(const char *members)
{
    char text[300];
    snprintf(text, sizeof text,
             "{\"id\": \"mine\", \"bandwidth_gb_s\": 9, \"peak_tflops\": {\"fp16\": 9}%s}",
             members);
    struct roof_hardware *hardware = NULL;
    struct roof_calibration *c = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_hardware_parse(&hardware, text, strlen(text), "mine.json", &error),
                     ROOF_OK);
    if (roof_calibration_load(&c, hardware, NULL, NULL, &error) != ROOF_OK) {
        assert_int_equal(error.status, ROOF_INVALID);
        assert_non_null(strstr(error.message, "like of mine: unknown hardware 'h300'"));
        assert_null(c);
    }
    roof_hardware_free(hardware);
    return c;
}

/* Returns the rows of the matrix instruction that MLA decode has in a calibration. */
static double rows_of(const struct roof_calibration *c)
{
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_MLA_DECODE, &count);
    for (size_t i = 0; i < c->count; i++) {
        for (size_t p = 0; c->fit[i].kernel == ROOF_KERNEL_MLA_DECODE && p < count; p++) {
            if (strcmp(row[p].key, "tile_rows") == 0) {
                return c->fit[i].parameter[p];
            }
        }
    }
    return 0;
}

/* The device that a file names by `like` lends its own calibration or that of its family, before
 * the family of the file's architecture does. */
static void test_like(void **unused)
{
    (void)unused;
    static const struct {
        const char *members;
        const char *calibration; /* NULL: none */
        double rows;             /* of the matrix instruction: Hopper 64, Ampere and Ada 16 */
    } cases[] = {
        {"", NULL, 0},
        {", \"like\": \"h100-sxm\"", "h100-sxm", 64},
        {", \"like\": \"h200\"", "h100-sxm", 64},
        {", \"like\": \"gb10\"", "dgx-spark", 16},
        {", \"like\": \"mi250x\"", NULL, 0},
        {", \"like\": \"h300\"", NULL, 0},
        {", \"architecture\": \"Hopper\"", "h100-sxm", 64},
        {", \"architecture\": \"Ampere\", \"like\": \"h100-sxm\"", "h100-sxm", 16},
        {", \"architecture\": \"Ampere\", \"like\": \"mi250x\"", "dgx-spark", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_calibration *const c = calibration_of(cases[i].members);
        if ((c == NULL) != (cases[i].calibration == NULL) ||
            (c != NULL && (strcmp(c->id, cases[i].calibration) != 0 || !c->inherited ||
                           rows_of(c) != cases[i].rows))) {
            fail_msg("%s: the calibration of %s", cases[i].members, c == NULL ? "none" : c->id);
        }
        roof_calibration_free(c);
    }
}

/* Nothing of TensorRT-LLM, which runs on NVIDIA alone, is lent to devices of another vendor. */
static void test_other_vendor(void **unused)
{
    (void)unused;
    static const char *const ids[] = {"mi300x", "mi355x"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        struct roof_hardware *const hardware = load_device(ids[i]);
        struct roof_calibration *c = NULL;
        size_t lent = 0;
        assert_int_equal(roof_calibration_load(&c, hardware, NULL, NULL, NULL), ROOF_OK);
        for (size_t k = 0; k < c->count; k++) {
            assert_int_not_equal(c->fit[k].stack, ROOF_STACK_TRTLLM);
            lent += c->fit[k].lent != NULL;
        }
        assert_true(lent > 0 && lent < c->count);
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
    struct roof_hardware *const hardware = load_device("mi250x"); /* has none of its own */
    struct roof_calibration *c = NULL;
    struct roof_error error = {0};
    write_text(path, FILE_TEXT);
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, &error), ROOF_OK);
    assert_string_equal(c->id, "mine");
    assert_true(c->inherited); /* it is of another device */
    assert_null(c->attributions[0]);
    assert_int_equal(c->count, 1);
    const struct roof_kernel_fit *const fit = &c->fit[0];
    assert_int_equal(fit->stack, ROOF_STACK_VLLM);
    assert_int_equal(fit->numerics, ROOF_NUMERICS_FP8);
    assert_int_equal(fit->quantize, ROOF_QUANTIZE_DYNAMIC);
    assert_int_equal(fit->rows, 12);
    assert_true(fit->mape == 0.125 && fit->low == 0.75 && fit->high == 1.5);
    assert_null(fit->lent);
    static const double values[] = {
        1000, 0.5, 0.5,   1, 70,   11,   5.5, 400,  100, 0.2, 0.25,
        4000, 3.9, 0.075, 2, 0.03, 5000, 0.8, 0.75, 1,   1 /* those that the file leaves out */};
    assert_int_equal(COUNT(values), P_COUNT);
    for (size_t i = 0; i < P_COUNT; i++) {
        assert_true(fit->parameter[i] == values[i]);
    }
    roof_calibration_free(c);

    /* The path goes before the device's own; lines of attributions are kept. */
    struct roof_hardware *const known = load_device("h100-sxm");
    write_text(path,
               "{\"schema\": \"roofline/calibration/1\", \"attributions\": [\"one\", \"two\"],"
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
    assert_true(c->inherited);
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
    write_text(path, changed.data);
    roof_text_free(&changed);
}

/* Fits that others lend, of any stack, and of kernels with other parameters. */
static void test_lent(void **unused)
{
    (void)unused;
    struct roof_hardware *const hardware = load_device("mi300x");
    struct roof_calibration *c = NULL;
    write_changed("\"rows\"", "\"lent\": \"yours\", \"rows\"");
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, NULL), ROOF_OK);
    assert_int_equal(c->count, 1);
    assert_string_equal(c->id, "mine");
    assert_string_equal(c->fit[0].lent, "yours");
    assert_true(c->fit[0].low == 0.75 && c->fit[0].high == 1.5); /* a user of it widens it */
    roof_calibration_free(c);

    write_changed("\"vllm\"", "\"best\"");
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, NULL), ROOF_OK);
    assert_int_equal(c->fit[0].stack, ROOF_STACK_BEST);
    roof_calibration_free(c);

    write_changed("\"gemm\"", "\"bmm\"");
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, NULL), ROOF_OK);
    assert_int_equal(c->fit[0].kernel, ROOF_KERNEL_BMM);
    assert_true(c->fit[0].parameter[P_DRAM] == 0.5);
    roof_calibration_free(c);

    write_text(path,
               "{\"schema\": \"roofline/calibration/1\", \"fits\": [{\"kernel\": \"one_shot\", "
               "\"stack\": \"trtllm\", \"numerics\": \"w4a8\", \"quantize_input\": \"none\", "
               "\"rows\": 12, \"mape\": 0.125, \"low\": 0.75, \"high\": 1.5, \"parameters\": "
               "{\"launch_clocks\": 1000, \"step_clocks\": 10, \"link\": 0.25}}]}");
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, NULL), ROOF_OK);
    assert_int_equal(c->fit[0].kernel, ROOF_KERNEL_ONE_SHOT);
    assert_int_equal(c->fit[0].numerics, ROOF_NUMERICS_W4A8);
    assert_true(c->fit[0].parameter[0] == 1000 && c->fit[0].parameter[1] == 10 &&
                c->fit[0].parameter[2] == 0.25);
    roof_calibration_free(c);
    roof_hardware_free(hardware);
}

#define PREFILL_TEXT(more)                                                                         \
    "{\"schema\": \"roofline/calibration/1\", \"fits\": [{\"kernel\": \"prefill\", "               \
    "\"stack\": \"vllm\", \"numerics\": \"16bit\", \"quantize_input\": \"none\", "                 \
    "\"rows\": 12, \"mape\": 0.125, \"low\": 0.75, \"high\": 1.5, \"parameters\": "                \
    "{\"launch_clocks\": 1000, \"passes\": 1, \"peak\": 0.5, \"exp_clocks\": 0.5, "                \
    "\"tile_scores\": 2, \"wave\": 0.5, \"block_clocks\": 10, \"l2_capacity\": 1, "                \
    "\"window\": 0.5" more "}}]}"

/* Parameters that a file may leave out do nothing then, and are not written. */
static void test_left_out(void **unused)
{
    (void)unused;
    struct roof_hardware *const hardware = load_device("l40s");
    struct roof_calibration *c = NULL;
    write_text(path, PREFILL_TEXT(", \"wide\": 0.25"));
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, NULL), ROOF_OK);
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(ROOF_KERNEL_PREFILL, &count);
    for (size_t i = 0; i < count; i++) {
        const bool narrow = strcmp(row[i].key, "narrow") == 0;
        const bool wide = strcmp(row[i].key, "wide") == 0;
        assert_true(narrow || wide == !isnan(row[i].neutral));
        assert_true(!narrow || c->fit[0].parameter[i] == 1);
        assert_true(!wide || c->fit[0].parameter[i] == 0.25);
        if (narrow) { /* the last digits are not written */
            roof_calibration_fits(c)[0].parameter[i] = 1 + 1e-9;
        }
    }
    struct roof_text text = ROOF_TEXT_INIT;
    roof_calibration_write(&text, c);
    assert_non_null(strstr(text.data, "\"wide\": 0.25"));
    assert_null(strstr(text.data, "narrow"));
    roof_text_free(&text);
    roof_calibration_free(c);
    write_text(path, PREFILL_TEXT(", \"wide\": 0"));
    assert_int_equal(roof_calibration_load(&c, hardware, path, NULL, NULL), ROOF_INVALID);
    roof_hardware_free(hardware);
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
        {"\"mine\"", "\"mine\", \"note\": 1", 1, 0, "note must be a line of text"},
        {"\"gemm\"", "\"wave\"", 3, 12, "kernel"},
        {"\"gemm\"", "\"norm\"", 4, 16, "l2_rate must be a number"}, /* it has other parameters */
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
        {"\"fits\": [", "\"fits\": [" FIT ",", 4, 1, "these kernels have a fit already"},
    };
    struct roof_hardware *const hardware = load_device("h100-sxm");
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

/* A fit of the best stack is one of every stack; the best stack itself is chosen among them. */
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
        {.stack = ROOF_STACK_BEST, .numerics = ROOF_NUMERICS_FP4, .quantize = ROOF_QUANTIZE_BLOCK},
        {.kernel = ROOF_KERNEL_BMM,
         .stack = ROOF_STACK_SGLANG,
         .numerics = ROOF_NUMERICS_FP8,
         .quantize = ROOF_QUANTIZE_NONE},
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
        /* Without the quantisation the kernel is the same: the simplest way that there is. */
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
        /* These fits are common to all stacks. */
        {ROOF_STACK_BEST, ROOF_NUMERICS_FP4, ROOF_QUANTIZE_BLOCK, 5},
        {ROOF_STACK_TRTLLM, ROOF_NUMERICS_FP4, ROOF_QUANTIZE_BLOCK, 5},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_FP4, ROOF_QUANTIZE_NONE, 5},
        {ROOF_STACK_SGLANG, ROOF_NUMERICS_FP4, ROOF_QUANTIZE_NONE, 5},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_FP4, ROOF_QUANTIZE_DYNAMIC, -1},
        /* Nothing stands in here: that is for who uses it. */
        {ROOF_STACK_VLLM, ROOF_NUMERICS_W8A16, ROOF_QUANTIZE_NONE, -1},
        {ROOF_STACK_VLLM, ROOF_NUMERICS_32BIT, ROOF_QUANTIZE_NONE, -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_kernel_fit *const found = roof_calibration_find(
            &c, ROOF_KERNEL_GEMM, cases[i].stack, cases[i].numerics, cases[i].quantize);
        assert_ptr_equal(found, cases[i].fit < 0 ? NULL : &fits[cases[i].fit]);
    }
    assert_ptr_equal(roof_calibration_find(&c, ROOF_KERNEL_BMM, ROOF_STACK_SGLANG,
                                           ROOF_NUMERICS_FP8, ROOF_QUANTIZE_NONE),
                     &fits[6]);
    assert_null(roof_calibration_find(&c, ROOF_KERNEL_BMM, ROOF_STACK_VLLM, ROOF_NUMERICS_FP8,
                                      ROOF_QUANTIZE_NONE));
    assert_null(roof_calibration_find(&c, ROOF_KERNEL_DECODE, ROOF_STACK_VLLM, ROOF_NUMERICS_FP4,
                                      ROOF_QUANTIZE_BLOCK));
}

static int set_up(void **state)
{
    const int status = make_folder(state);
    path_in(path, state, "mine.json");
    return status;
}

static int tear_down(void **state)
{
    (void)unlink(path);
    return remove_folder(state);
}

/* A fit of one format of weights serves that format first, then others of its numerics. */
static void test_fits_of_one_format(void **state)
{
    const struct roof_kernel_fit fits[] = {
        {.kernel = ROOF_KERNEL_GEMM,
         .numerics = ROOF_NUMERICS_W4A16,
         .one_format = true,
         .weights = ROOF_PRECISION_Q4_0},
        {.kernel = ROOF_KERNEL_GEMM,
         .numerics = ROOF_NUMERICS_W4A16,
         .one_format = true,
         .weights = ROOF_PRECISION_Q6_K},
        {.kernel = ROOF_KERNEL_GEMM, .numerics = ROOF_NUMERICS_W4A16},
    };
    static const char *const none[] = {NULL};
    struct roof_calibration c = {.id = "x", .attributions = none, .fit = fits, .count = 2};
    (void)state;
    assert_ptr_equal(roof_calibration_find_for(&c, ROOF_KERNEL_GEMM, ROOF_STACK_BEST,
                                               ROOF_NUMERICS_W4A16, ROOF_QUANTIZE_NONE,
                                               ROOF_PRECISION_Q6_K, NULL),
                     &fits[1]);
    assert_ptr_equal(roof_calibration_find_for(&c, ROOF_KERNEL_GEMM, ROOF_STACK_BEST,
                                               ROOF_NUMERICS_W4A16, ROOF_QUANTIZE_NONE,
                                               ROOF_PRECISION_Q3_K, NULL),
                     &fits[0]);
    c.count = 3; /* that of all formats is nearer than that of another one */
    assert_ptr_equal(roof_calibration_find_for(&c, ROOF_KERNEL_GEMM, ROOF_STACK_BEST,
                                               ROOF_NUMERICS_W4A16, ROOF_QUANTIZE_NONE,
                                               ROOF_PRECISION_Q3_K, NULL),
                     &fits[2]);
    assert_ptr_equal(roof_calibration_find(&c, ROOF_KERNEL_GEMM, ROOF_STACK_BEST,
                                           ROOF_NUMERICS_W4A16, ROOF_QUANTIZE_NONE),
                     &fits[2]);
}

static void test_matrix_rows(void **state)
{
    (void)state;
    static const struct {
        const char *architecture;
        enum roof_stack stack;
        double rows;
    } rows[] = {{"Hopper (SM90)", ROOF_STACK_VLLM, 64},
                {"Blackwell (SM100)", ROOF_STACK_TRTLLM, 128},
                {"Blackwell Ultra (SM103)", ROOF_STACK_VLLM, 128},
                {"Blackwell (SM120)", ROOF_STACK_TRTLLM, 64},
                {"Blackwell (SM120)", ROOF_STACK_SGLANG, 16},
                {"Ampere (SM80)", ROOF_STACK_VLLM, 16}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(roof_matrix_rows(rows[i].architecture, rows[i].stack) == rows[i].rows);
    }
}

/* A kernel for some heads serves those alone, and is then preferred. */
static void test_fits_of_some_heads(void **state)
{
    const struct roof_kernel_fit fits[] = {
        {.kernel = ROOF_KERNEL_MLA_DECODE, .least_heads = 128},
        {.kernel = ROOF_KERNEL_MLA_DECODE},
        {.kernel = ROOF_KERNEL_DECODE},
        {.kernel = ROOF_KERNEL_DECODE, .own_kv_heads = true},
    };
    static const char *const none[] = {NULL};
    struct roof_calibration c = {.id = "x", .attributions = none, .fit = fits, .count = 4};
    (void)state;
    static const struct {
        enum roof_kernel kernel;
        struct roof_shape shape;
        size_t fit;
    } rows[] = {{ROOF_KERNEL_MLA_DECODE, {.heads = 127}, 1},
                {ROOF_KERNEL_MLA_DECODE, {.heads = 128}, 0},
                {ROOF_KERNEL_MLA_DECODE, {.heads = 256}, 0},
                {ROOF_KERNEL_DECODE, {.heads = 128, .kv_heads = 8}, 2},
                {ROOF_KERNEL_DECODE, {.heads = 8, .kv_heads = 8}, 3}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_ptr_equal(roof_calibration_find_for(&c, rows[i].kernel, ROOF_STACK_BEST,
                                                   ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_NONE,
                                                   ROOF_PRECISION_AUTO, &rows[i].shape),
                         &fits[rows[i].fit]);
    }
    assert_ptr_equal(roof_calibration_find(&c, ROOF_KERNEL_DECODE, ROOF_STACK_BEST,
                                           ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_NONE),
                     &fits[2]);
    c.count = 1; /* there is no kernel for any heads */
    assert_null(roof_calibration_find(&c, ROOF_KERNEL_MLA_DECODE, ROOF_STACK_BEST,
                                      ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits_of_one_format),
        cmocka_unit_test(test_fits_of_some_heads),
        cmocka_unit_test(test_matrix_rows),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_numerics),
        cmocka_unit_test(test_all_numerics),
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_inheritance),
        cmocka_unit_test(test_other_vendor),
        cmocka_unit_test(test_like),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_lent),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_some_kernels),
        cmocka_unit_test(test_needed_kernels),
        cmocka_unit_test(test_borrowing),
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_reasons_of_kernels),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_full_rates),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
