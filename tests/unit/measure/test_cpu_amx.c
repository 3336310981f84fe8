// SPDX-License-Identifier: MIT
/* Products on AMX. No machine with AMX need be there: the loops run on tiles that are emulated as
 * Intel's manual (Software Developer's Manual, volume 2, TDPBF16PS and TDPBSSD) describes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_amx_tiles.h"
#include "support.h"

/* --- the emulation ------------------------------------------------------------------------- */

static struct {
    int step; /* bytes of K; 0: not configured */
    unsigned char weights[16][64];
    unsigned char inputs[16][64];
    int32_t sum[ROOF_AMX_SUMS][16][16]; /* or the bits of floats */
    bool drops_last; /* a processor that is wrong: it leaves the last four bytes of K out */
} tile;

static void configure(int step)
{
    assert_int_equal(tile.step, 0);
    tile.step = step;
}

static void load_weights(const void *at)
{
    assert_true(tile.step > 0);
    memcpy(tile.weights, at, (size_t)tile.step / 4 * 64);
}

static void load_inputs(const void *at, int64_t row_bytes)
{
    assert_true(tile.step > 0);
    for (int64_t i = 0; i < 16; i++) {
        memcpy(tile.inputs[i], (const char *)at + i * row_bytes, (size_t)tile.step);
    }
}

static void zero(int sum)
{
    memset(tile.sum[sum], 0, sizeof tile.sum[sum]);
}

static void store(void *at, int sum)
{
    memcpy(at, tile.sum[sum], sizeof tile.sum[sum]);
}

static void release(void)
{
    assert_true(tile.step > 0);
    tile.step = 0;
}

static int fours(void)
{
    return tile.step / 4 - (tile.drops_last ? 1 : 0);
}

/* Denormals are zero, as operands and as results. */
static float flushed(float value)
{
    return fabsf(value) < 0x1p-126F ? copysignf(0, value) : value;
}

/* Returns number i of a row of bf16. */
static float high(const unsigned char *row, int i)
{
    float out = 0;
    memcpy((unsigned char *)&out + 2, row + (ptrdiff_t)2 * i, 2);
    return flushed(out);
}

/* Even and odd elements have sums of their own, by fused multiplications; then their sum is added
 * to that of the tile. */
static void add_bf16(int sum)
{
    for (int m = 0; m < 16; m++) {
        for (int n = 0; n < 16; n++) {
            float part[2] = {0};
            float whole = 0;
            for (int k = 0; k < fours(); k++) {
                for (int i = 0; i < 2; i++) {
                    part[i] = flushed(fmaf(high(tile.inputs[m], 2 * k + i),
                                           high(tile.weights[k], 2 * n + i), part[i]));
                }
            }
            memcpy(&whole, &tile.sum[sum][m][n], sizeof whole);
            whole = flushed(whole + flushed(part[0] + part[1]));
            memcpy(&tile.sum[sum][m][n], &whole, sizeof whole);
        }
    }
}

static void add_int8(int sum)
{
    for (int m = 0; m < 16; m++) {
        for (int n = 0; n < 16; n++) {
            for (int k = 0; k < 4 * fours(); k++) {
                tile.sum[sum][m][n] +=
                    (int8_t)tile.inputs[m][k] * (int8_t)tile.weights[k / 4][4 * n + k % 4];
            }
        }
    }
}

static float scale(const void *half)
{
    uint16_t bits = 0;
    memcpy(&bits, half, sizeof bits);
    return roof_half_to_float(bits);
}

static const struct roof_tiles emulated = {.configure = configure,
                                           .load_weights = load_weights,
                                           .load_inputs = load_inputs,
                                           .zero = zero,
                                           .add_bf16 = add_bf16,
                                           .add_int8 = add_int8,
                                           .store = store,
                                           .scale = scale,
                                           .release = release};

static void bf16(const struct roof_dot *d)
{
    roof_amx_bf16(&emulated, d);
}

static void q8_0(const struct roof_dot *d)
{
    roof_amx_blocks(&emulated, d, sizeof(struct roof_block_q8));
}

static void q4_0(const struct roof_dot *d)
{
    roof_amx_blocks(&emulated, d, sizeof(struct roof_block_q4));
}

static void enter_bf16(void)
{
    emulated.configure(ROOF_AMX_BF16_STEP);
}

static void enter_blocks(void)
{
    emulated.configure(ROOF_AMX_BLOCK_STEP);
}

#define KERNELS(format, how, name)                                                                 \
    {                                                                                              \
        .inputs = ROOF_PRECISION_##format, .packed = true, .cut = true,                            \
        .tile_rows = ROOF_AMX_ROWS, .tile_inputs = ROOF_AMX_INPUTS, .enter = (how),                \
        .tile = (name), .leave = release                                                           \
    }

static const struct {
    enum roof_precision weights;
    struct roof_dot_kernels kernels;
} formats[] = {{ROOF_PRECISION_BF16, KERNELS(BF16, enter_bf16, bf16)},
               {ROOF_PRECISION_Q8_0, KERNELS(Q8_0, enter_blocks, q8_0)},
               {ROOF_PRECISION_Q4_0, KERNELS(Q8_0, enter_blocks, q4_0)}};

/* --- products ------------------------------------------------------------------------------ */

#define ROWS_MAX 40
#define INPUTS_MAX 83
#define K_MAX 160

/* Returns element k of a row, whose scales are 1. */
static double element(enum roof_precision format, const unsigned char *row, int k)
{
    const int bytes = format == ROOF_PRECISION_Q4_0 ? 18 : 34;
    const unsigned char *const at = row + k / 32 * bytes + 2;
    return format == ROOF_PRECISION_BF16   ? (double)high(row, k)
           : format == ROOF_PRECISION_Q8_0 ? (int8_t)at[k % 32]
                                           : (at[k % 16] >> k % 32 / 16 * 4 & 15) - 8;
}

/* Fills rows with random bits: numbers of bf16 of magnitudes from 2^-7 to 4, or blocks with scales
 * of 1. */
static void fill(unsigned char *out, enum roof_precision format, int64_t bytes, uint64_t *random)
{
    const int64_t block = roof_format(format)->block_bytes;
    const uint16_t one = 0x3c00;
    roof_cpu_noise(out, bytes, random);
    for (int64_t at = 0; at < bytes; at += block) {
        if (format == ROOF_PRECISION_BF16) {
            out[at + 1] = (unsigned char)((out[at + 1] & 0x83) | 0x3c);
        } else {
            memcpy(out + at, &one, sizeof one);
        }
    }
}

/* The products of so many rows and inputs are those of plain loops: exactly for integers. Sums of
 * bf16 round at most twice for each product and once more for each step, by 2^-24 of the sum of the
 * magnitudes. */
static void check(enum roof_precision format, const struct roof_dot_kernels *kernels, int rows,
                  int inputs, int k)
{
    static unsigned char weights[ROWS_MAX * K_MAX * 2];
    static unsigned char packed[(ROWS_MAX + 15) / 16 * 16 * K_MAX * 2];
    static unsigned char input[INPUTS_MAX * K_MAX * 2];
    static float out[(INPUTS_MAX + 1) * ROWS_MAX];
    const int64_t row_bytes = (int64_t)(roof_precision_bits(format) * k / 8);
    const int64_t input_bytes = (int64_t)(roof_precision_bits(kernels->inputs) * k / 8);
    const struct roof_dot dot = {.weights = packed,
                                 .inputs = input,
                                 .out = out,
                                 .row_bytes = row_bytes,
                                 .input_bytes = input_bytes,
                                 .stride = rows,
                                 .k = k};
    uint64_t random = 5;
    fill(weights, format, rows * row_bytes, &random);
    fill(input, kernels->inputs, inputs * input_bytes, &random);
    roof_amx_pack(packed, weights, format, rows, k);
    for (int i = 0; i <= inputs * rows; i++) {
        out[i] = NAN;
    }
    kernels->enter();
    roof_dot_multiply(kernels, &dot, rows, inputs);
    kernels->leave();
    for (int i = 0; i < inputs * rows; i++) {
        double sum = 0;
        double size = 0;
        for (int j = 0; j < k; j++) {
            const double product = element(format, weights + i % rows * row_bytes, j) *
                                   element(kernels->inputs, input + i / rows * input_bytes, j);
            sum += product;
            size += fabs(product);
        }
        assert_around(out[i], sum, format == ROOF_PRECISION_BF16 ? k * 0x1p-23 * size : 0);
    }
    assert_true(isnan(out[inputs * rows])); /* nothing is written behind them */
}

/* Rows and inputs that fill tiles, and such that do not; one step of K and more, also an odd one
 * for blocks. */
static void check_sizes(enum roof_precision format, const struct roof_dot_kernels *kernels)
{
    static const int rows[] = {8, 16, 24, 40};
    static const int inputs[] = {1, 2, 15, 16, 17, 63, 64, 65, 83};
    static const int lengths[] = {32, 96, 160};
    for (size_t i = 0; i < COUNT(inputs); i++) {
        for (size_t j = 0; j < COUNT(rows); j++) {
            check(format, kernels, rows[j], inputs[i], lengths[(i + j) % COUNT(lengths)]);
        }
    }
}

static void test_products(void **state)
{
    struct roof_cpu_features features = roof_cpu_features();
    (void)state;
    (void)roof_cpu_amx_open(&features);
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct roof_dot_kernels kernels;
        check_sizes(formats[i].weights, &formats[i].kernels);
        if (features.amx) { /* the instructions themselves */
            assert_true(roof_amx_find(&kernels, formats[i].weights, true, &features));
            check_sizes(formats[i].weights, &kernels);
        }
    }
}

/* Kernels that are right pass the check before they are used, those of a wrong processor do not. */
static void test_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        assert_true(roof_cpu_amx_right(&formats[i].kernels, formats[i].weights));
        tile.drops_last = true;
        assert_false(roof_cpu_amx_right(&formats[i].kernels, formats[i].weights));
        tile.drops_last = false;
    }
}

/* A processor without AMX, or one whose registers the system refuses, runs the other kernels. */
static void test_absent(void **state)
{
    struct roof_cpu_features absent = {.isa = ROOF_ISA_AVX512};
    struct roof_cpu_features features = {.isa = ROOF_ISA_AVX512, .amx = true};
    (void)state;
    assert_string_equal(roof_cpu_amx_open(&absent), "");
    if (!roof_cpu_features().amx) {
        assert_string_equal(roof_cpu_amx_open(&features),
                            "the system refuses its registers (ARCH_REQ_XCOMP_PERM)");
        assert_false(features.amx);
    }
}

#if defined(ROOF_TARGET_AMX)
/* Several inputs are multiplied on tiles, in the formats that have such kernels; one is not. */
static void test_choice(void **state)
{
    static const struct roof_cpu_features features = {
        .isa = ROOF_ISA_AVX512, .vnni = true, .bf16 = true, .amx = true};
    struct roof_dot_kernels kernels;
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        assert_true(roof_dot_find(&kernels, formats[i].weights, true, &features));
        assert_true(kernels.cut);
        assert_int_equal(kernels.inputs, formats[i].kernels.inputs);
        assert_true(roof_dot_find(&kernels, formats[i].weights, false, &features));
        assert_false(kernels.cut);
    }
    assert_true(roof_dot_find(&kernels, ROOF_PRECISION_FP16, true, &features));
    assert_false(kernels.cut);
}

/* Rows that fill no tile have the memory of a whole one. */
static void test_memory(void **state)
{
    struct roof_cpu_job job = {
        .task = {.probe = ROOF_PROBE_OPERATOR, .workload = ROOF_WORKLOAD_INIT},
        .features = {.isa = ROOF_ISA_AVX512, .amx = true}};
    struct roof_workload *const w = &job.task.workload;
    (void)state;
    w->op = ROOF_OPERATOR_GEMM;
    w->formats.weights = ROOF_PRECISION_Q8_0;
    w->shape.batch = 1;
    w->shape.m = 3;
    w->shape.n = 24;
    w->shape.k = 64;
    assert_int_equal(roof_cpu_product_begin(&job, 0, NULL), ROOF_OK);
    assert_int_equal(job.stride, 32 * 68);
    free(job.data);
}
#endif

/* Inputs are rounded to the nearest number of bf16, ties to even. */
static void test_rounding(void **state)
{
    static const float values[] = {1, 1 + 0x1p-8F, 1 + 0x1.8p-7F, 1 + 0x1.02p-8F, -1 - 0x1p-8F};
    static const uint16_t wanted[] = {0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xbf80};
    uint16_t out[COUNT(values)];
    const struct roof_cpu_features features = roof_cpu_features();
    (void)state;
    roof_dot_convert((unsigned char *)out, ROOF_PRECISION_BF16, values, COUNT(values), &features);
    assert_memory_equal(out, wanted, sizeof wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_absent),
#if defined(ROOF_TARGET_AMX)
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_memory),
#endif
        cmocka_unit_test(test_rounding)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
