// SPDX-License-Identifier: MIT
/* Products on the matrix unit of x86 processors (AMX). */
#ifndef ROOF_MEASURE_CPU_AMX_H
#define ROOF_MEASURE_CPU_AMX_H

#include "measure/cpu_dot.h"

/* Rows of weights that are packed together, and inputs of a tile. */
#define ROOF_AMX_ROWS 16
/* Tiles of sums: so many tiles of inputs are multiplied with a tile of weights. */
#define ROOF_AMX_SUMS 4
#define ROOF_AMX_INPUTS ((int64_t)ROOF_AMX_SUMS * ROOF_AMX_ROWS)
/* The bytes of K that a tile takes at once: 32 elements of bf16, or a block of 8-bit integers. */
#define ROOF_AMX_BF16_STEP 64
#define ROOF_AMX_BLOCK_STEP ROOF_BLOCK

/* Packs rows of weights as engines do when they load a model: 16 of them together, of each block
 * their scales, then four bytes of each row in turn. The last ones are filled up with zeros. */
void roof_amx_pack(unsigned char *out, const unsigned char *rows, enum roof_precision weights,
                   int64_t count, int64_t k);

/* Finds the kernels of a format; false, and *out as it was, if there are none. They are for several
 * inputs. */
bool roof_amx_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                   const struct roof_cpu_features *features);

/* Tells if kernels for AMX multiply small tensors, with rows and inputs that fill no tile, as plain
 * loops do. */
bool roof_cpu_amx_right(const struct roof_dot_kernels *kernels, enum roof_precision weights);

/* Asks the system for the registers of AMX, for all threads; false if it refuses. */
bool roof_amx_permitted(void);

#if defined(ROOF_TARGET_AMX)
/* Multiply in registers: so many instructions, a multiple of ROOF_AMX_PEAK_STEPS. */
void roof_amx_peak_bf16(int steps);
void roof_amx_peak_int8(int steps);
#define ROOF_AMX_PEAK_STEPS 6
/* The operations of an instruction: each of 16 x 16 sums gets 32 or 64 products. */
#define ROOF_AMX_BF16_OPERATIONS (2 * 16 * 16 * 32)
#define ROOF_AMX_INT8_OPERATIONS (2 * 16 * 16 * 64)
#endif

#endif
