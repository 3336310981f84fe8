// SPDX-License-Identifier: MIT
/* A tile of a product on the processor, and the kernels of a format of weights. */
#ifndef ROOF_MEASURE_CPU_TILE_H
#define ROOF_MEASURE_CPU_TILE_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/precision.h"

#define ROOF_INLINE static inline __attribute__((always_inline))
/* Makes the loops over a tile straight lines, so that its sums stay in registers. */
#define ROOF_UNROLL _Pragma("GCC unroll 8")

/* The number of rows that engines pack together. */
#define ROOF_PACKED_ROWS 8

/* The results of a tile: out[token * stride + row] = weights[row] . inputs[token], over k elements.
 * Rows follow one another at row_bytes and input_bytes. */
struct roof_dot {
    const unsigned char *weights;
    const unsigned char *inputs;
    float *out;
    int64_t row_bytes;
    int64_t input_bytes;
    int64_t stride;
    int64_t k;
    int64_t rows;  /* of a tile that may be cut */
    int64_t count; /* of its inputs */
};
typedef void roof_dot_tile(const struct roof_dot *dot);

/* The kernels of a format of weights. */
struct roof_dot_kernels {
    enum roof_precision inputs; /* the format that inputs are converted to */
    bool packed;                /* weights are packed: all rows come in whole tiles */
    bool cut;                   /* tiles may have fewer rows and inputs: there are no others */
    int64_t tile_rows;
    int64_t tile_inputs;
    roof_dot_tile *tile;   /* tile_rows x tile_inputs */
    roof_dot_tile *column; /* tile_rows x 1 input */
    roof_dot_tile *single; /* 1 row x 1 input */
    /* A thread calls these before its first tile and after its last; NULL: it need not. */
    void (*enter)(void);
    void (*leave)(void);
};

#endif
