// SPDX-License-Identifier: MIT
/* Dot products of the formats of GGUF whose blocks have 256 elements (q4_k, q5_k, q6_k), with
 * inputs in blocks of 8 bits (q8_k). */
#ifndef ROOF_MEASURE_CPU_DOT_K_H
#define ROOF_MEASURE_CPU_DOT_K_H

#include "measure/cpu_job.h"
#include "measure/cpu_tile.h"

#define ROOF_BLOCK_K 256
/* Half-precision scale and minimum of the block, 6-bit scales and minima of eight parts, then
 * elements: those of a part in the low halves of 32 bytes, those of the next in the high halves. */
struct roof_block_q4_k {
    uint16_t scale;
    uint16_t least;
    uint8_t packed[12];
    uint8_t pair[ROOF_BLOCK_K / 2];
};
/* There is a fifth bit of each element: bit p of byte i is that of element i of part p. */
struct roof_block_q5_k {
    uint16_t scale;
    uint16_t least;
    uint8_t packed[12];
    uint8_t high[ROOF_BLOCK_K / 8];
    uint8_t pair[ROOF_BLOCK_K / 2];
};
/* Four low and two high bits of elements, 8-bit scales of sixteen parts, and that of the block. */
struct roof_block_q6_k {
    uint8_t low[ROOF_BLOCK_K / 2];
    uint8_t high[ROOF_BLOCK_K / 4];
    int8_t part[ROOF_BLOCK_K / 16];
    uint16_t scale;
};
struct roof_block_q8_k {
    float scale;
    int8_t element[ROOF_BLOCK_K];
    int16_t sum[ROOF_BLOCK_K / 16];
};

/* Eight rows of q4_k as engines pack them when they load a model, a block of each: their scales,
 * their minima, three times four bytes of `packed` of each row in turn, then 32 times four bytes of
 * `pair` of each row in turn. */
#define ROOF_PACKED_K_BYTES (ROOF_PACKED_ROWS * (int64_t)sizeof(struct roof_block_q4_k))

/* Finds the kernels of the widest unit for a format; false if it is none of these. */
bool roof_dot_k_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                     const struct roof_cpu_features *features);

/* Converts a row of k inputs from fp32 to q8_k. */
void roof_dot_k_convert(unsigned char *out, const float *in, int64_t k,
                        const struct roof_cpu_features *features);

#endif
