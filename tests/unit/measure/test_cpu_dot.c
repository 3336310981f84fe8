// SPDX-License-Identifier: MIT
#include "measure/cpu_dot.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "support.h"

#define K 96 /* three blocks: an odd number of them, and six times sixteen */
#define ROWS 16
#define INPUTS 5

static void test_half(void **state)
{
    (void)state;
    assert_around(roof_half_to_float(0x3c00), 1, 0);
    assert_around(roof_half_to_float(0xc000), -2, 0);
    assert_around(roof_half_to_float(0x0001), 0x1p-24, 0);
    assert_around(roof_half_to_float(0x7bff), 65504, 0);
    assert_int_equal(roof_float_to_half(1), 0x3c00);
    assert_int_equal(roof_float_to_half(-2), 0xc000);
    assert_int_equal(roof_float_to_half(0x1p-24F), 1);
    assert_int_equal(roof_float_to_half(1 + 0x1p-11F), 0x3c00); /* a tie goes to even */
    assert_int_equal(roof_float_to_half(1 + 0x1.8p-10F), 0x3c02);
    for (int i = 0; i < 0x7c00; i++) {
        assert_int_equal(roof_float_to_half(roof_half_to_float((uint16_t)i)), i);
    }
}

/* Returns element k of a row of weights. */
static double element(enum roof_precision format, const unsigned char *row, int k)
{
    struct roof_block_q4 q4;
    struct roof_block_q8 q8;
    struct roof_block_q8_1 q8_1;
    uint16_t half = 0;
    float single = 0;
    switch (format) {
    case ROOF_PRECISION_Q4_0:
        memcpy(&q4, row + sizeof q4 * (size_t)(k / ROOF_BLOCK), sizeof q4);
        k %= ROOF_BLOCK;
        return (double)roof_half_to_float(q4.scale) *
               ((k < 16 ? q4.pair[k] & 15 : q4.pair[k - 16] >> 4) - 8);
    case ROOF_PRECISION_Q8_0:
        memcpy(&q8, row + sizeof q8 * (size_t)(k / ROOF_BLOCK), sizeof q8);
        return (double)roof_half_to_float(q8.scale) * q8.element[k % ROOF_BLOCK];
    case ROOF_PRECISION_Q8_1:
        memcpy(&q8_1, row + sizeof q8_1 * (size_t)(k / ROOF_BLOCK), sizeof q8_1);
        return (double)roof_half_to_float(q8_1.scale) * q8_1.element[k % ROOF_BLOCK];
    case ROOF_PRECISION_FP16:
        memcpy(&half, row + 2 * k, sizeof half);
        return (double)roof_half_to_float(half);
    default:
        memcpy(&single, row + 4 * k, sizeof single);
        return (double)single;
    }
}

/* Fills rows of weights: random bits with scales of 1/128, or random floats. */
static void fill(unsigned char *out, enum roof_precision format, int64_t bytes)
{
    uint64_t random = 7;
    const int64_t block = format == ROOF_PRECISION_Q4_0 ? 18 : 34;
    const uint16_t scale = roof_float_to_half(1.F / 128);
    if (format == ROOF_PRECISION_FP32) {
        roof_cpu_random((float *)(void *)out, bytes / 4, &random);
        return;
    }
    if (format == ROOF_PRECISION_FP16) {
        roof_cpu_halves((uint16_t *)(void *)out, bytes / 2, &random);
        return;
    }
    roof_cpu_noise(out, bytes, &random);
    for (int64_t at = 0; at < bytes; at += block) {
        memcpy(out + at, &scale, sizeof scale);
        /* Engines quantise to -127 at least; kernels rely on it. */
        for (int64_t i = 2; block == 34 && i < block; i++) {
            out[at + i] = out[at + i] == 0x80 ? 0x81 : out[at + i];
        }
    }
}

/* Packs rows of q4_0 by eight. */
static void pack(unsigned char *out, const unsigned char *rows)
{
    const int64_t row = K / ROOF_BLOCK * (int64_t)sizeof(struct roof_block_q4);
    for (int64_t first = 0; first < ROWS; first += ROOF_PACKED_ROWS) {
        for (int64_t b = 0; b < K / ROOF_BLOCK; b++) {
            unsigned char *const to = out + first * row + b * ROOF_PACKED_BYTES;
            for (int64_t r = 0; r < ROOF_PACKED_ROWS; r++) {
                struct roof_block_q4 from;
                memcpy(&from, rows + (first + r) * row + b * (int64_t)sizeof from, sizeof from);
                memcpy(to + 2 * r, &from.scale, sizeof from.scale);
                for (int i = 0; i < ROOF_BLOCK / 2; i++) {
                    to[16 + i / 4 * 32 + 4 * r + i % 4] = from.pair[i];
                }
            }
        }
    }
}

/* The products of all rows and inputs by the kernels of a format and of some units are those of
 * plain loops over the same elements. */
static void check(enum roof_precision format, bool many, const struct roof_cpu_features *features)
{
    _Alignas(64) static unsigned char weights[ROWS * K * 4];
    _Alignas(64) static unsigned char packed[ROWS * K * 4];
    _Alignas(64) static unsigned char inputs[INPUTS * K * 4];
    static float values[INPUTS * K];
    float out[INPUTS * ROWS];
    struct roof_dot_kernels kernels;
    uint64_t random = 3;
    const int64_t row = (int64_t)(roof_precision_bits(format) * K / 8);
    assert_true(roof_dot_find(&kernels, format, many, features));
    const int64_t input = (int64_t)(roof_precision_bits(kernels.inputs) * K / 8);
    fill(weights, format, ROWS * row);
    if (kernels.packed) {
        pack(packed, weights);
    }
    roof_cpu_random(values, (int64_t)INPUTS * K, &random);
    for (int i = 0; i < INPUTS; i++) {
        roof_dot_convert(inputs + i * input, kernels.inputs, values + (ptrdiff_t)i * K, K,
                         features);
        for (int k = 0; k < K; k++) { /* half a step of 1/127 at most */
            assert_around(element(kernels.inputs, inputs + i * input, k), values[i * K + k], 0.005);
        }
    }
    const struct roof_dot dot = {
        kernels.packed ? packed : weights, inputs, out, row, input, ROWS, K};
    const int count = many ? INPUTS : 1;
    roof_dot_multiply(&kernels, &dot, ROWS, count);
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < ROWS; r++) {
            double sum = 0;
            for (int k = 0; k < K; k++) {
                sum += element(format, weights + r * row, k) *
                       element(kernels.inputs, inputs + i * input, k);
            }
            /* The sum of the block of an input is rounded to half precision. */
            assert_around(out[i * ROWS + r], sum, kernels.packed ? 5e-3 : 1e-4);
        }
    }
}

/* Each format, with the units of this processor and all narrower ones. */
static void test_products(void **state)
{
    static const enum roof_precision formats[] = {ROOF_PRECISION_Q4_0, ROOF_PRECISION_Q8_0,
                                                  ROOF_PRECISION_FP16, ROOF_PRECISION_FP32};
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        for (int many = 0; many < 2; many++) {
            struct roof_cpu_features features = roof_cpu_features();
            check(formats[i], many > 0, &features);
            features.vnni = false;
            check(formats[i], many > 0, &features);
            while (features.isa > ROOF_ISA_BASE) {
                features.isa--;
                check(formats[i], many > 0, &features);
            }
        }
    }
    struct roof_dot_kernels kernels;
    assert_false(roof_dot_find(&kernels, ROOF_PRECISION_NVFP4, false,
                               &(struct roof_cpu_features){.isa = ROOF_ISA_BASE}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_half),
                                       cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
