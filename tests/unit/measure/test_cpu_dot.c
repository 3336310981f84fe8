// SPDX-License-Identifier: MIT
#include "measure/cpu_dot.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_dot_k.h"
#include "support.h"

#define K 96 /* three blocks: an odd number of them, and six times sixteen */
#define LONG_K (3 * ROOF_BLOCK_K)
#define ROWS 16
#define INPUTS 5

/* Returns a scale of 6 bits (0 to 7), or a minimum (8 to 15), as ggml packs them. */
static int six_bits(const uint8_t *packed, int i)
{
    const int part = i % 8;
    const int shift = i < 8 ? 0 : 4;
    return part < 4 ? packed[part + shift] & 63
                    : (packed[part + 4] >> shift & 15) | packed[part - 4 + shift] >> 6 << 4;
}

/* Returns element k of a block of q4_k or q5_k. */
static double element_of_parts(const struct roof_block_q5_k *b, bool fifth, int k)
{
    const int part = k / 32;
    const int pair = b->pair[part / 2 * 32 + k % 32];
    const int whole = (part % 2 == 0 ? pair & 15 : pair >> 4) +
                      (fifth && (b->high[k % 32] >> part & 1) != 0 ? 16 : 0);
    return (double)roof_half_to_float(b->scale) * six_bits(b->packed, part) * whole -
           (double)roof_half_to_float(b->least) * six_bits(b->packed, 8 + part);
}

/* Returns element k of a block of q6_k: those of 128 are four rows of 32. */
static double element_of_q6(const struct roof_block_q6_k *b, int k)
{
    const int row = k % 128 / 32;
    const int low = b->low[k / 128 * 64 + row % 2 * 32 + k % 32];
    const int high = b->high[k / 128 * 32 + k % 32] >> 2 * row & 3;
    const int part = k / 16;
    return (double)roof_half_to_float(b->scale) * b->part[part] *
           (((row < 2 ? low & 15 : low >> 4) | high << 4) - 32);
}

/* Returns element k of a row of weights. */
static double element(enum roof_precision format, const unsigned char *row, int k)
{
    struct roof_block_q4 q4;
    struct roof_block_q8 q8;
    struct roof_block_q8_1 q8_1;
    struct roof_block_q4_k q4_k;
    struct roof_block_q5_k q5_k;
    struct roof_block_q6_k q6_k;
    struct roof_block_q8_k q8_k;
    uint16_t half = 0;
    float single = 0;
    switch (format) {
    case ROOF_PRECISION_Q4_K:
        memcpy(&q4_k, row + sizeof q4_k * (size_t)(k / ROOF_BLOCK_K), sizeof q4_k);
        q5_k.scale = q4_k.scale;
        q5_k.least = q4_k.least;
        memcpy(q5_k.packed, q4_k.packed, sizeof q5_k.packed);
        memcpy(q5_k.pair, q4_k.pair, sizeof q5_k.pair);
        return element_of_parts(&q5_k, false, k % ROOF_BLOCK_K);
    case ROOF_PRECISION_Q5_K:
        memcpy(&q5_k, row + sizeof q5_k * (size_t)(k / ROOF_BLOCK_K), sizeof q5_k);
        return element_of_parts(&q5_k, true, k % ROOF_BLOCK_K);
    case ROOF_PRECISION_Q6_K:
        memcpy(&q6_k, row + sizeof q6_k * (size_t)(k / ROOF_BLOCK_K), sizeof q6_k);
        return element_of_q6(&q6_k, k % ROOF_BLOCK_K);
    case ROOF_PRECISION_Q8_K:
        memcpy(&q8_k, row + sizeof q8_k * (size_t)(k / ROOF_BLOCK_K), sizeof q8_k);
        return (double)q8_k.scale * q8_k.element[k % ROOF_BLOCK_K];
    case ROOF_PRECISION_BF16:
        memcpy((char *)&single + 2, row + 2 * k, 2);
        return (double)single;
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

/* Fills rows of weights: random bits with scales up to 1/128 that differ from block to block, or
 * random floats. */
static void fill(unsigned char *out, enum roof_precision format, int64_t bytes)
{
    uint64_t random = 7;
    const int64_t block = roof_format(format)->block_bytes;
    const int64_t at_scale = format == ROOF_PRECISION_Q6_K ? block - 2 : 0;
    const bool two = format == ROOF_PRECISION_Q4_K || format == ROOF_PRECISION_Q5_K;
    if (format == ROOF_PRECISION_FP32) {
        roof_cpu_random((float *)(void *)out, bytes / 4, &random);
        return;
    }
    if (format == ROOF_PRECISION_FP16) {
        roof_cpu_halves((uint16_t *)(void *)out, bytes / 2, &random);
        return;
    }
    roof_cpu_noise(out, bytes, &random);
    for (int64_t at = 0; format == ROOF_PRECISION_BF16 && at < bytes; at += 2) {
        out[at + 1] = (unsigned char)((out[at + 1] & 0x80) | 0x3c); /* near 2^-7 */
    }
    for (int64_t at = 0; format != ROOF_PRECISION_BF16 && at < bytes; at += block) {
        const uint16_t scale = roof_float_to_half((float)(1 + at / block % 5) / 640);
        const uint16_t least = roof_float_to_half((float)(1 + at / block % 3) / 384);
        memcpy(out + at + at_scale, &scale, sizeof scale);
        if (two) {
            memcpy(out + at + sizeof scale, &least, sizeof least);
        }
        /* Engines quantise to -127 at least; kernels rely on it. */
        for (int64_t i = 2; block == 34 && i < block; i++) {
            out[at + i] = out[at + i] == 0x80 ? 0x81 : out[at + i];
        }
    }
}

/* Packs rows of blocks by eight: the halves that begin each block, then so many bytes of each row
 * in turn. */
static void pack(unsigned char *out, const unsigned char *rows, int64_t row, int64_t block,
                 int64_t halves, int64_t bytes)
{
    for (int64_t first = 0; first < ROWS; first += ROOF_PACKED_ROWS) {
        for (int64_t at = 0; at < row; at += block) {
            unsigned char *const to = out + first * row + at * ROOF_PACKED_ROWS;
            for (int64_t r = 0; r < ROOF_PACKED_ROWS; r++) {
                const unsigned char *const from = rows + (first + r) * row + at;
                for (int64_t i = 0; i < halves; i++) {
                    memcpy(to + 2 * (i * ROOF_PACKED_ROWS + r), from + 2 * i, 2);
                }
                for (int64_t i = 0; i < block - 2 * halves; i++) {
                    to[2 * halves * ROOF_PACKED_ROWS + i / bytes * bytes * ROOF_PACKED_ROWS +
                       bytes * r + i % bytes] = from[2 * halves + i];
                }
            }
        }
    }
}

/* The products of all rows and inputs by the kernels of a format and of some units are those of
 * plain loops over the same elements. */
static void check(enum roof_precision format, bool many, const struct roof_cpu_features *features)
{
    _Alignas(64) static unsigned char weights[ROWS * LONG_K * 4];
    _Alignas(64) static unsigned char packed[ROWS * LONG_K * 4];
    _Alignas(64) static unsigned char inputs[INPUTS * LONG_K * 4];
    static float values[INPUTS * LONG_K];
    const int length = roof_format(format)->block_elements > ROOF_BLOCK ? LONG_K : K;
    float out[INPUTS * ROWS];
    struct roof_dot_kernels kernels;
    uint64_t random = 3;
    const int64_t row = (int64_t)(roof_precision_bits(format) * length / 8);
    assert_true(roof_dot_find(&kernels, format, many, features));
    const int64_t input = (int64_t)(roof_precision_bits(kernels.inputs) * length / 8);
    fill(weights, format, ROWS * row);
    if (kernels.packed) {
        pack(packed, weights, row, roof_format(format)->block_bytes,
             format == ROOF_PRECISION_Q4_K ? 2 : 1, format == ROOF_PRECISION_Q4_K ? 4 : 8);
    }
    roof_cpu_random(values, (int64_t)INPUTS * length, &random);
    for (int i = 0; i < INPUTS; i++) {
        roof_dot_convert(inputs + i * input, kernels.inputs, values + (ptrdiff_t)i * length, length,
                         features);
        for (int k = 0; k < length; k++) { /* half a step of 1/127 at most */
            assert_around(element(kernels.inputs, inputs + i * input, k), values[i * length + k],
                          0.005);
        }
    }
    const struct roof_dot dot = {.weights = kernels.packed ? packed : weights,
                                 .inputs = inputs,
                                 .out = out,
                                 .row_bytes = row,
                                 .input_bytes = input,
                                 .stride = ROWS,
                                 .k = length};
    const int count = many ? INPUTS : 1;
    roof_dot_multiply(&kernels, &dot, ROWS, count);
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < ROWS; r++) {
            double sum = 0;
            for (int k = 0; k < length; k++) {
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
    static const enum roof_precision formats[] = {
        ROOF_PRECISION_Q4_0, ROOF_PRECISION_Q8_0, ROOF_PRECISION_FP16, ROOF_PRECISION_FP32,
        ROOF_PRECISION_BF16, ROOF_PRECISION_Q4_K, ROOF_PRECISION_Q5_K, ROOF_PRECISION_Q6_K};
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        for (int many = 0; many < 2; many++) {
            struct roof_cpu_features features = roof_cpu_features();
            features.amx = false; /* test_cpu_amx */
            check(formats[i], many > 0, &features);
            features.vnni = features.bf16 = false;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
