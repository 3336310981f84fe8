// SPDX-License-Identifier: MIT
/* The loops of products on tiles of 16 inputs by 16 rows of weights.
 *
 * They reach the tiles by a table of functions, so that unit tests run them on any processor, with
 * the instructions emulated. */
#ifndef ROOF_MEASURE_CPU_AMX_TILES_H
#define ROOF_MEASURE_CPU_AMX_TILES_H

#include <string.h>

#include "measure/cpu_amx.h"

#define ROOF_AMX_INLINE static inline __attribute__((always_inline))

/* The tiles of a processor: ROOF_AMX_SUMS of sums, one of weights and one of inputs. */
struct roof_tiles {
    void (*configure)(int step);          /* for so many bytes of K */
    void (*load_weights)(const void *at); /* 64 bytes for each four of K */
    void (*load_inputs)(const void *at, int64_t row_bytes);
    void (*zero)(int sum);
    void (*add_bf16)(int sum); /* adds the products of the inputs and the weights */
    void (*add_int8)(int sum);
    void (*store)(void *at, int sum); /* 64 bytes for each input */
    float (*scale)(const void *half);
    void (*release)(void);
};

/* Sixteen numbers of 32 bits, or 64 of 8. */
typedef float roof_amx_floats __attribute__((vector_size(64)));
typedef int32_t roof_amx_integers __attribute__((vector_size(64)));
typedef uint8_t roof_amx_bytes __attribute__((vector_size(64)));

/* Loads `count` inputs, in whose place zeros fill the tile up. */
ROOF_AMX_INLINE void roof_amx_load_inputs(const struct roof_tiles *tiles, const unsigned char *at,
                                          int64_t row_bytes, int64_t count, size_t step)
{
    if (count >= ROOF_AMX_ROWS) {
        tiles->load_inputs(at, row_bytes);
        return;
    }
    _Alignas(64) unsigned char whole[ROOF_AMX_ROWS][64] = {{0}};
    for (int64_t i = 0; i < count; i++) {
        memcpy(whole[i], at + i * row_bytes, step);
    }
    tiles->load_inputs(whole, sizeof *whole);
}

/* Writes the sums of the rows and inputs that there are. */
ROOF_AMX_INLINE void roof_amx_put(const struct roof_dot *d, const roof_amx_floats *sum)
{
    for (int64_t i = 0; i < d->count; i++) {
        if (d->rows == ROOF_AMX_ROWS) {
            memcpy(d->out + i * d->stride, &sum[i], sizeof *sum);
        } else {
            memcpy(d->out + i * d->stride, &sum[i], (size_t)d->rows * sizeof(float));
        }
    }
}

/* Multiplies bf16. */
ROOF_AMX_INLINE void roof_amx_bf16(const struct roof_tiles *tiles, const struct roof_dot *d)
{
    roof_amx_floats sum[ROOF_AMX_INPUTS];
    const int used = (int)((d->count + ROOF_AMX_ROWS - 1) / ROOF_AMX_ROWS);
    for (int t = 0; t < used; t++) {
        tiles->zero(t);
    }
    for (int64_t at = 0; at < d->k * 2; at += ROOF_AMX_BF16_STEP) {
        tiles->load_weights(d->weights + at * ROOF_AMX_ROWS);
        for (int t = 0; t < used; t++) {
            const int64_t first = (int64_t)t * ROOF_AMX_ROWS;
            roof_amx_load_inputs(tiles, d->inputs + first * d->input_bytes + at, d->input_bytes,
                                 d->count - first, ROOF_AMX_BF16_STEP);
            tiles->add_bf16(t);
        }
    }
    for (int t = 0; t < used; t++) {
        tiles->store(sum + (ptrdiff_t)t * ROOF_AMX_ROWS, t);
    }
    roof_amx_put(d, sum);
}

/* Makes 8-bit integers of the packed pairs of a block of q4_0. */
ROOF_AMX_INLINE void roof_amx_unpack(roof_amx_bytes out[8], const unsigned char *pairs)
{
    for (int i = 0; i < 4; i++) {
        roof_amx_bytes pair;
        memcpy(&pair, pairs + (ptrdiff_t)64 * i, sizeof pair);
        out[i] = (pair & 15) - 8;
        out[i + 4] = (pair >> 4) - 8;
    }
}

/* Adds the products of a block, stored as integers, to the sums of up to 16 inputs. */
ROOF_AMX_INLINE void roof_amx_add_block(const struct roof_tiles *tiles, roof_amx_floats *sum,
                                        const roof_amx_integers *product,
                                        const roof_amx_floats *scale, const unsigned char *inputs,
                                        int64_t row_bytes, int64_t count)
{
    for (int64_t i = 0; i < count && i < ROOF_AMX_ROWS; i++) {
        sum[i] += __builtin_convertvector(product[i], roof_amx_floats) *
                  (*scale * tiles->scale(inputs + i * row_bytes));
    }
}

/* Multiplies weights of q8_0 or q4_0 with inputs of q8_0. Both have signs, as TDPBSSD has. */
ROOF_AMX_INLINE void roof_amx_blocks(const struct roof_tiles *tiles, const struct roof_dot *d,
                                     size_t weights_bytes)
{
    roof_amx_floats sum[ROOF_AMX_INPUTS] = {{0}};
    roof_amx_integers product[ROOF_AMX_ROWS];
    roof_amx_bytes element[8];
    const bool pairs = weights_bytes == sizeof(struct roof_block_q4);
    for (int64_t b = 0; b < d->k / ROOF_BLOCK; b++) {
        const unsigned char *const w = d->weights + b * (int64_t)weights_bytes * ROOF_AMX_ROWS;
        const unsigned char *const x = d->inputs + b * (int64_t)sizeof(struct roof_block_q8);
        const unsigned char *const packed = w + ROOF_AMX_ROWS * sizeof(uint16_t);
        roof_amx_floats scale = {0};
        for (size_t r = 0; r < ROOF_AMX_ROWS; r++) {
            scale[r] = tiles->scale(w + r * sizeof(uint16_t));
        }
        if (pairs) {
            roof_amx_unpack(element, packed);
        }
        tiles->load_weights(pairs ? (const void *)element : packed);
        for (int64_t first = 0; first < d->count; first += ROOF_AMX_ROWS) {
            const int t = (int)(first / ROOF_AMX_ROWS);
            tiles->zero(t);
            roof_amx_load_inputs(tiles, x + sizeof(uint16_t) + first * d->input_bytes,
                                 d->input_bytes, d->count - first, ROOF_AMX_BLOCK_STEP);
            tiles->add_int8(t);
        }
        for (int64_t first = 0; first < d->count; first += ROOF_AMX_ROWS) {
            tiles->store(product, (int)(first / ROOF_AMX_ROWS));
            roof_amx_add_block(tiles, sum + first, product, &scale, x + first * d->input_bytes,
                               d->input_bytes, d->count - first);
        }
    }
    roof_amx_put(d, sum);
}

#endif
