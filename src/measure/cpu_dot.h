// SPDX-License-Identifier: MIT
/* Dot products of rows of weights with rows of inputs: the inner loops of GEMV and GEMM. */
#ifndef ROOF_MEASURE_CPU_DOT_H
#define ROOF_MEASURE_CPU_DOT_H

#include "measure/cpu_half.h"
#include "measure/cpu_job.h"
#include "measure/cpu_tile.h"

/* The blocks of GGUF: a half-precision scale, then 32 elements (ggml-common.h at d99724f,
 * block_q4_0 and block_q8_0). Inputs of both are converted to blocks of 8 bits. */
#define ROOF_BLOCK 32
struct roof_block_q4 {
    uint16_t scale;
    uint8_t pair[ROOF_BLOCK / 2]; /* element i in the low half, i + 16 in the high half; less 8 */
};
struct roof_block_q8 {
    uint16_t scale;
    int8_t element[ROOF_BLOCK];
};

struct roof_block_q8_1 {
    uint16_t scale;
    uint16_t sum; /* of the elements, times the scale */
    int8_t element[ROOF_BLOCK];
};

/* Eight rows of q4_0 as engines pack them when they load a model, a block of each: their scales,
 * then twice eight bytes of each row in turn; elements i and i + 16 of a block share a byte. */
#define ROOF_PACKED_BYTES (ROOF_PACKED_ROWS * (int64_t)sizeof(struct roof_block_q4))

/* The rows of weights and of inputs of a tile. */
#define ROOF_TILE 4

/* Finds the kernels of the widest unit for a format, for one input or many; false if there are
 * none. k must be a multiple of the block of the format, and of ROOF_BLOCK, and the rows one of
 * ROOF_PACKED_ROWS. */
bool roof_dot_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                   const struct roof_cpu_features *features);

/* Multiplies rows of weights and of inputs, in whole tiles and single results at the ends. */
void roof_dot_multiply(const struct roof_dot_kernels *kernels, const struct roof_dot *first,
                       int64_t rows, int64_t inputs);

/* Converts a row of k inputs from fp32 to the format of `inputs`. */
void roof_dot_convert(unsigned char *out, enum roof_precision format, const float *in, int64_t k,
                      const struct roof_cpu_features *features);

/* Returns the bytes of a row of k elements. */
int64_t roof_cpu_row_bytes(enum roof_precision format, int64_t k);

/* Fills weights with random values. The scales of blocks are small, and `scales` of them are stored
 * together. */
void roof_cpu_fill_weights(unsigned char *out, enum roof_precision format, int64_t bytes,
                           int64_t scales, uint64_t *state);

#endif
