// SPDX-License-Identifier: MIT
#include "measure/cpu_dot.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_amx.h"
#include "measure/cpu_dot_k.h"
#include "measure/cpu_dot_q4.h"

#if defined(__x86_64__)
#include "measure/cpu_avx2.h"
#endif

/* --- tiles --------------------------------------------------------------------------------- */

/*
 * A tile is a loop over blocks of K. `load_w` and `load_x` read the block of a row, and `add` adds
 * their product to the sum of a row and an input. R and T are constants, so that the compiler keeps
 * sums and operands in registers.
 */
#define TILE(name, target, R, T, step, sum_t, w_t, x_t, zero, load_w, load_x, add, total)          \
    target static void name(const struct roof_dot *d)                                              \
    {                                                                                              \
        sum_t sum[R][T];                                                                           \
        ROOF_UNROLL for (int r = 0; r < (R); r++)                                                  \
        {                                                                                          \
            ROOF_UNROLL for (int t = 0; t < (T); t++)                                              \
            {                                                                                      \
                sum[r][t] = zero;                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int64_t k = 0; k < d->k; k += (step)) {                                               \
            x_t x[T];                                                                              \
            ROOF_UNROLL for (int t = 0; t < (T); t++)                                              \
            {                                                                                      \
                x[t] = load_x(d->inputs + t * d->input_bytes, k);                                  \
            }                                                                                      \
            ROOF_UNROLL for (int r = 0; r < (R); r++)                                              \
            {                                                                                      \
                const w_t w = load_w(d->weights + r * d->row_bytes, k);                            \
                ROOF_UNROLL for (int t = 0; t < (T); t++)                                          \
                {                                                                                  \
                    sum[r][t] = add(sum[r][t], &w, &x[t]);                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        ROOF_UNROLL for (int r = 0; r < (R); r++)                                                  \
        {                                                                                          \
            ROOF_UNROLL for (int t = 0; t < (T); t++)                                              \
            {                                                                                      \
                d->out[t * d->stride + r] = total(sum[r][t]);                                      \
            }                                                                                      \
        }                                                                                          \
    }

/* The three tiles of a format and a vector unit. */
#define TILES(name, target, ...)                                                                   \
    TILE(name##_whole, target, ROOF_TILE, ROOF_TILE, __VA_ARGS__)                                  \
    TILE(name##_column, target, ROOF_TILE, 1, __VA_ARGS__)                                         \
    TILE(name##_single, target, 1, 1, __VA_ARGS__)

/* Tiles of floats for a number of inputs at a time. The binaries of llama.cpp keep their sums in
 * registers, but also store all of them in each step (tinyBLAS::gemm_bloc as gcc compiles it),
 * which takes as long as the rest of the step. These do the same, so their sums are volatile. */
#define FLOATS(name, target, inputs, step, sum_t, ...)                                             \
    TILE(name##_whole, target, ROOF_TILE, inputs, step, volatile sum_t, __VA_ARGS__)               \
    TILE(name##_column, target, ROOF_TILE, 1, step, sum_t, __VA_ARGS__)

/* Those, and one for a single result that keeps its sum in the same way. */
#define ALL_FLOATS(name, target, inputs, step, ...)                                                \
    FLOATS(name, target, inputs, step, __VA_ARGS__)                                                \
    TILE(name##_single, target, 1, 1, step, __VA_ARGS__)

/* Inputs of a tile of floats: with four rows of weights their sums fill the registers, 32 of
 * AVX-512 and 16 of AVX2. */
#define INPUTS_512 6
#define INPUTS_256 3

/* --- any processor ------------------------------------------------------------------------- */

/* A block of 8-bit elements with its scale. */
struct block {
    float scale;
    int8_t element[ROOF_BLOCK];
};
struct floats {
    float element[ROOF_BLOCK];
};

ROOF_INLINE struct block base_q8(const unsigned char *row, int64_t k)
{
    struct block out;
    struct roof_block_q8 in;
    memcpy(&in, row + k / ROOF_BLOCK * (int64_t)sizeof in, sizeof in);
    out.scale = roof_half_to_float(in.scale);
    memcpy(out.element, in.element, sizeof out.element);
    return out;
}

ROOF_INLINE struct block base_q4(const unsigned char *row, int64_t k)
{
    struct block out;
    struct roof_block_q4 in;
    memcpy(&in, row + k / ROOF_BLOCK * (int64_t)sizeof in, sizeof in);
    out.scale = roof_half_to_float(in.scale);
    for (int i = 0; i < ROOF_BLOCK / 2; i++) {
        out.element[i] = (int8_t)((in.pair[i] & 15) - 8);
        out.element[i + ROOF_BLOCK / 2] = (int8_t)((in.pair[i] >> 4) - 8);
    }
    return out;
}

ROOF_INLINE struct floats base_half(const unsigned char *row, int64_t k)
{
    struct floats out;
    uint16_t half[ROOF_BLOCK];
    memcpy(half, row + 2 * k, sizeof half);
    for (int i = 0; i < ROOF_BLOCK; i++) {
        out.element[i] = roof_half_to_float(half[i]);
    }
    return out;
}

ROOF_INLINE struct floats base_bf16(const unsigned char *row, int64_t k)
{
    struct floats out;
    uint16_t high[ROOF_BLOCK];
    memcpy(high, row + 2 * k, sizeof high);
    for (int i = 0; i < ROOF_BLOCK; i++) {
        const uint32_t bits = (uint32_t)high[i] << 16;
        memcpy(&out.element[i], &bits, sizeof bits);
    }
    return out;
}

ROOF_INLINE struct floats base_float(const unsigned char *row, int64_t k)
{
    struct floats out;
    memcpy(out.element, row + 4 * k, sizeof out.element);
    return out;
}

ROOF_INLINE float base_add_blocks(float sum, const struct block *w, const struct block *x)
{
    int32_t product = 0;
    for (int i = 0; i < ROOF_BLOCK; i++) {
        product += w->element[i] * x->element[i];
    }
    return sum + w->scale * x->scale * (float)product;
}

ROOF_INLINE float base_add_floats(float sum, const struct floats *w, const struct floats *x)
{
    float product[4] = {0};
    for (int i = 0; i < ROOF_BLOCK; i++) {
        product[i % 4] += w->element[i] * x->element[i];
    }
    return sum + product[0] + product[1] + product[2] + product[3];
}

#define BASE_TOTAL(sum) (sum)

TILES(q4_base, , ROOF_BLOCK, float, struct block, struct block, 0, base_q4, base_q8,
      base_add_blocks, BASE_TOTAL)
TILES(q8_base, , ROOF_BLOCK, float, struct block, struct block, 0, base_q8, base_q8,
      base_add_blocks, BASE_TOTAL)
TILES(fp16_base, , ROOF_BLOCK, float, struct floats, struct floats, 0, base_half, base_half,
      base_add_floats, BASE_TOTAL)
TILES(bf16_base, , ROOF_BLOCK, float, struct floats, struct floats, 0, base_bf16, base_bf16,
      base_add_floats, BASE_TOTAL)
TILES(fp32_base, , ROOF_BLOCK, float, struct floats, struct floats, 0, base_float, base_float,
      base_add_floats, BASE_TOTAL)

#if defined(__x86_64__)

/* --- AVX2 and VNNI: blocks of 8 bits ------------------------------------------------------- */

struct wide_block {
    __m256i element;
    __m256 scale;
};

ROOF_TARGET_AVX2 ROOF_INLINE struct wide_block avx2_q8(const unsigned char *row, int64_t k)
{
    const unsigned char *const at = row + k / ROOF_BLOCK * (int64_t)sizeof(struct roof_block_q8);
    return (struct wide_block){_mm256_loadu_si256((const __m256i *)(const void *)(at + 2)),
                               roof_avx2_scale(at)};
}

ROOF_TARGET_AVX2 ROOF_INLINE __m256 avx2_add_blocks(__m256 sum, const struct wide_block *w,
                                                    const struct wide_block *x)
{
    const __m256i fours = roof_avx2_add_signed(_mm256_setzero_si256(), w->element, x->element);
    return _mm256_fmadd_ps(_mm256_mul_ps(w->scale, x->scale), _mm256_cvtepi32_ps(fours), sum);
}

ROOF_TARGET_VNNI ROOF_INLINE __m256 vnni_add_blocks(__m256 sum, const struct wide_block *w,
                                                    const struct wide_block *x)
{
    const __m256i fours = roof_vnni_add_signed(_mm256_setzero_si256(), w->element, x->element);
    return _mm256_fmadd_ps(_mm256_mul_ps(w->scale, x->scale), _mm256_cvtepi32_ps(fours), sum);
}

TILE(q8_avx2_column, ROOF_TARGET_AVX2, ROOF_TILE, 1, ROOF_BLOCK, __m256, struct wide_block,
     struct wide_block, _mm256_setzero_ps(), avx2_q8, avx2_q8, avx2_add_blocks, roof_avx2_total)
TILE(q8_avx2_single, ROOF_TARGET_AVX2, 1, 1, ROOF_BLOCK, __m256, struct wide_block,
     struct wide_block, _mm256_setzero_ps(), avx2_q8, avx2_q8, avx2_add_blocks, roof_avx2_total)
TILE(q8_vnni_column, ROOF_TARGET_VNNI, ROOF_TILE, 1, ROOF_BLOCK, __m256, struct wide_block,
     struct wide_block, _mm256_setzero_ps(), avx2_q8, avx2_q8, vnni_add_blocks, roof_avx2_total)
TILE(q8_vnni_single, ROOF_TARGET_VNNI, 1, 1, ROOF_BLOCK, __m256, struct wide_block,
     struct wide_block, _mm256_setzero_ps(), avx2_q8, avx2_q8, vnni_add_blocks, roof_avx2_total)

/* Returns the scales of four blocks in each half. */
ROOF_TARGET_AVX2 ROOF_INLINE __m256 four_scales(const unsigned char *block, int64_t row_bytes)
{
    uint64_t halves = 0;
    ROOF_UNROLL for (int r = 0; r < ROOF_TILE; r++)
    {
        uint16_t half = 0;
        memcpy(&half, block + r * row_bytes, sizeof half);
        halves |= (uint64_t)half << 16 * r;
    }
    const __m128 scale = _mm_cvtph_ps(_mm_cvtsi64_si128((long long)halves));
    return _mm256_set_m128(scale, scale);
}

ROOF_TARGET_AVX2 ROOF_INLINE __m256i elements_of(const unsigned char *block)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)(block + 2));
}

/* Loads the elements of a block of four rows. */
ROOF_TARGET_AVX2 ROOF_INLINE void load_rows(__m256i w[ROOF_TILE], const unsigned char *weights,
                                            int64_t row_bytes)
{
    ROOF_UNROLL for (int r = 0; r < ROOF_TILE; r++)
    {
        w[r] = elements_of(weights + r * row_bytes);
    }
}

ROOF_TARGET_AVX2 ROOF_INLINE void clear_sums(__m256 sum[][ROOF_TILE], int inputs)
{
    ROOF_UNROLL for (int t = 0; t < inputs; t++)
    {
        ROOF_UNROLL for (int r = 0; r < ROOF_TILE; r++)
        {
            sum[t][r] = _mm256_setzero_ps();
        }
    }
}

ROOF_TARGET_AVX2 ROOF_INLINE void store_sums(const struct roof_dot *d, __m256 sum[][ROOF_TILE],
                                             int inputs)
{
    ROOF_UNROLL for (int t = 0; t < inputs; t++)
    {
        ROOF_UNROLL for (int r = 0; r < ROOF_TILE; r++)
        {
            d->out[t * d->stride + r] = roof_avx2_total(sum[t][r]);
        }
    }
}

/* Adds to the sums of an input, whose scale is in all lanes. */
#define ADD_INPUT(name, target, add)                                                               \
    target ROOF_INLINE void name(__m256 sum[ROOF_TILE], const __m256i w[ROOF_TILE], __m256 scales, \
                                 __m256 of_input, const unsigned char *input)                      \
    {                                                                                              \
        const __m256i none = _mm256_setzero_si256();                                               \
        const __m256 scale = _mm256_mul_ps(scales, of_input);                                      \
        const __m256i x = elements_of(input);                                                      \
        sum[0] = _mm256_fmadd_ps(_mm256_permute_ps(scale, 0),                                      \
                                 _mm256_cvtepi32_ps(add(none, w[0], x)), sum[0]);                  \
        sum[1] = _mm256_fmadd_ps(_mm256_permute_ps(scale, 0x55),                                   \
                                 _mm256_cvtepi32_ps(add(none, w[1], x)), sum[1]);                  \
        sum[2] = _mm256_fmadd_ps(_mm256_permute_ps(scale, 0xaa),                                   \
                                 _mm256_cvtepi32_ps(add(none, w[2], x)), sum[2]);                  \
        sum[3] = _mm256_fmadd_ps(_mm256_permute_ps(scale, 0xff),                                   \
                                 _mm256_cvtepi32_ps(add(none, w[3], x)), sum[3]);                  \
    }

ADD_INPUT(avx2_add_input, ROOF_TARGET_AVX2, roof_avx2_add_signed)
ADD_INPUT(vnni_add_input, ROOF_TARGET_VNNI, roof_vnni_add_signed)

/* The inputs of a tile of AVX2: with four rows, sums and operands fill the 16 registers. */
#define Q8_INPUTS_256 2

/* Four rows and two inputs, as engines do it: the scales of four rows are converted at once. */
ROOF_TARGET_AVX2 static void q8_avx2_whole(const struct roof_dot *d)
{
    __m256 sum[Q8_INPUTS_256][ROOF_TILE];
    clear_sums(sum, Q8_INPUTS_256);
    const int64_t end = d->k / ROOF_BLOCK * (int64_t)sizeof(struct roof_block_q8);
    for (int64_t at = 0; at < end; at += (int64_t)sizeof(struct roof_block_q8)) {
        const unsigned char *const weights = d->weights + at;
        const __m256 scales = four_scales(weights, d->row_bytes);
        __m256i w[ROOF_TILE];
        load_rows(w, weights, d->row_bytes);
        ROOF_UNROLL for (int t = 0; t < Q8_INPUTS_256; t++)
        {
            const unsigned char *const input = d->inputs + t * d->input_bytes + at;
            avx2_add_input(sum[t], w, scales, roof_avx2_scale(input), input);
        }
    }
    store_sums(d, sum, Q8_INPUTS_256);
}

/* Four rows and four inputs, as engines do it: the scales of all four are converted at once. */
ROOF_TARGET_VNNI static void q8_vnni_whole(const struct roof_dot *d)
{
    __m256 sum[ROOF_TILE][ROOF_TILE];
    clear_sums(sum, ROOF_TILE);
    const int64_t end = d->k / ROOF_BLOCK * (int64_t)sizeof(struct roof_block_q8);
    for (int64_t at = 0; at < end; at += (int64_t)sizeof(struct roof_block_q8)) {
        const unsigned char *const weights = d->weights + at;
        const unsigned char *const inputs = d->inputs + at;
        const __m256 scales = four_scales(weights, d->row_bytes);
        const __m256 of_inputs = four_scales(inputs, d->input_bytes);
        __m256i w[ROOF_TILE];
        load_rows(w, weights, d->row_bytes);
        vnni_add_input(sum[0], w, scales, _mm256_permute_ps(of_inputs, 0), inputs);
        vnni_add_input(sum[1], w, scales, _mm256_permute_ps(of_inputs, 0x55),
                       inputs + d->input_bytes);
        vnni_add_input(sum[2], w, scales, _mm256_permute_ps(of_inputs, 0xaa),
                       inputs + 2 * d->input_bytes);
        vnni_add_input(sum[3], w, scales, _mm256_permute_ps(of_inputs, 0xff),
                       inputs + 3 * d->input_bytes);
    }
    store_sums(d, sum, ROOF_TILE);
}

/* --- floats -------------------------------------------------------------------------------- */

ROOF_TARGET_AVX2 ROOF_INLINE __m256 avx2_half(const unsigned char *row, int64_t k)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(row + 2 * k)));
}

ROOF_TARGET_AVX2 ROOF_INLINE __m256 avx2_float(const unsigned char *row, int64_t k)
{
    return _mm256_loadu_ps((const float *)(const void *)(row + 4 * k));
}

ROOF_TARGET_AVX2 ROOF_INLINE __m256 avx2_add(__m256 sum, const __m256 *w, const __m256 *x)
{
    return _mm256_fmadd_ps(*w, *x, sum);
}

ROOF_TARGET_AVX512 ROOF_INLINE __m512 avx512_half(const unsigned char *row, int64_t k)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(row + 2 * k)));
}

ROOF_TARGET_AVX512 ROOF_INLINE __m512 avx512_float(const unsigned char *row, int64_t k)
{
    return _mm512_loadu_ps(row + 4 * k);
}

ROOF_TARGET_AVX512 ROOF_INLINE __m512 avx512_add(__m512 sum, const __m512 *w, const __m512 *x)
{
    return _mm512_fmadd_ps(*w, *x, sum);
}

/* With one input, rows of 16 bits are multiplied in two sums each. */
struct halves {
    __m512 part[2];
};
struct quarters {
    __m256 part[2];
};

ROOF_TARGET_AVX512 ROOF_INLINE struct halves avx512_half_pair(const unsigned char *row, int64_t k)
{
    return (struct halves){{avx512_half(row, k), avx512_half(row, k + 16)}};
}

ROOF_TARGET_AVX512 ROOF_INLINE struct halves
avx512_add_pair(struct halves sum, const struct halves *w, const struct halves *x)
{
    return (struct halves){{_mm512_fmadd_ps(w->part[0], x->part[0], sum.part[0]),
                            _mm512_fmadd_ps(w->part[1], x->part[1], sum.part[1])}};
}

ROOF_TARGET_AVX512 ROOF_INLINE float avx512_total(struct halves sum)
{
    return _mm512_reduce_add_ps(_mm512_add_ps(sum.part[0], sum.part[1]));
}

ROOF_TARGET_AVX2 ROOF_INLINE struct quarters avx2_half_pair(const unsigned char *row, int64_t k)
{
    return (struct quarters){{avx2_half(row, k), avx2_half(row, k + 8)}};
}

ROOF_TARGET_AVX2 ROOF_INLINE struct quarters
avx2_add_pair(struct quarters sum, const struct quarters *w, const struct quarters *x)
{
    return (struct quarters){{_mm256_fmadd_ps(w->part[0], x->part[0], sum.part[0]),
                              _mm256_fmadd_ps(w->part[1], x->part[1], sum.part[1])}};
}

ROOF_TARGET_AVX2 ROOF_INLINE float avx2_total_pair(struct quarters sum)
{
    return roof_avx2_total(_mm256_add_ps(sum.part[0], sum.part[1]));
}

/* bf16 is the upper half of a float. */
ROOF_TARGET_AVX2 ROOF_INLINE __m256 avx2_high(const unsigned char *row, int64_t k)
{
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(row + 2 * k));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(high), 16));
}

ROOF_TARGET_AVX2 ROOF_INLINE struct quarters avx2_high_pair(const unsigned char *row, int64_t k)
{
    return (struct quarters){{avx2_high(row, k), avx2_high(row, k + 8)}};
}

ROOF_TARGET_AVX512 ROOF_INLINE __m512 avx512_high(const unsigned char *row, int64_t k)
{
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(row + 2 * k));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
}

ROOF_TARGET_AVX512 ROOF_INLINE struct halves avx512_high_pair(const unsigned char *row, int64_t k)
{
    return (struct halves){{avx512_high(row, k), avx512_high(row, k + 16)}};
}

ROOF_TARGET_BF16 ROOF_INLINE __m512i bf16_load(const unsigned char *row, int64_t k)
{
    return _mm512_loadu_si512(row + 2 * k);
}

ROOF_TARGET_BF16 ROOF_INLINE __m512 bf16_add(__m512 sum, const __m512i *w, const __m512i *x)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)*w, (__m512bh)*x);
}

/* Formats of 16 bits by a function that loads a vector of them. */
#define HALVES_256(format, load)                                                                   \
    FLOATS(format##_avx2, ROOF_TARGET_AVX2, INPUTS_256, 8, __m256, __m256, __m256,                 \
           _mm256_setzero_ps(), load, load, avx2_add, roof_avx2_total)                             \
    TILE(format##_avx2_single, ROOF_TARGET_AVX2, 1, 1, 16, struct quarters, struct quarters,       \
         struct quarters, ((struct quarters){{{0}, {0}}}), load##_pair, load##_pair,               \
         avx2_add_pair, avx2_total_pair)
#define HALVES_512(format, load)                                                                   \
    FLOATS(format##_avx512, ROOF_TARGET_AVX512, INPUTS_512, 16, __m512, __m512, __m512,            \
           _mm512_setzero_ps(), load, load, avx512_add, _mm512_reduce_add_ps)                      \
    TILE(format##_avx512_single, ROOF_TARGET_AVX512, 1, 1, 32, struct halves, struct halves,       \
         struct halves, ((struct halves){{{0}, {0}}}), load##_pair, load##_pair, avx512_add_pair,  \
         avx512_total)

HALVES_256(fp16, avx2_half)
HALVES_256(bf16, avx2_high)
HALVES_512(fp16, avx512_half)
HALVES_512(bf16, avx512_high)
ALL_FLOATS(bf16_dot, ROOF_TARGET_BF16, INPUTS_512, 32, __m512, __m512i, __m512i,
           _mm512_setzero_ps(), bf16_load, bf16_load, bf16_add, _mm512_reduce_add_ps)
ALL_FLOATS(fp32_avx2, ROOF_TARGET_AVX2, INPUTS_256, 8, __m256, __m256, __m256, _mm256_setzero_ps(),
           avx2_float, avx2_float, avx2_add, roof_avx2_total)
ALL_FLOATS(fp32_avx512, ROOF_TARGET_AVX512, INPUTS_512, 16, __m512, __m512, __m512,
           _mm512_setzero_ps(), avx512_float, avx512_float, avx512_add, _mm512_reduce_add_ps)

#endif

/* --- the table ----------------------------------------------------------------------------- */

/* Tiles of four rows and so many inputs; rows one by one with one input. */
#define TILED(format, count, name)                                                                 \
    {                                                                                              \
        .inputs = ROOF_PRECISION_##format, .tile_rows = ROOF_TILE, .tile_inputs = (count),         \
        .tile = name##_whole, .column = name##_column, .single = name##_single                     \
    }

static const struct {
    enum roof_precision weights;
    enum roof_cpu_isa isa;
    bool vnni; /* needs such products of 8 bits, or of bf16 */
    bool bf16;
    bool many; /* for several inputs only */
    struct roof_dot_kernels kernels;
} table[] = {
    {ROOF_PRECISION_Q4_0, ROOF_ISA_BASE, false, false, false, TILED(Q8_0, ROOF_TILE, q4_base)},
    {ROOF_PRECISION_Q8_0, ROOF_ISA_BASE, false, false, false, TILED(Q8_0, ROOF_TILE, q8_base)},
    {ROOF_PRECISION_FP16, ROOF_ISA_BASE, false, false, false, TILED(FP16, ROOF_TILE, fp16_base)},
    {ROOF_PRECISION_BF16, ROOF_ISA_BASE, false, false, false, TILED(BF16, ROOF_TILE, bf16_base)},
    {ROOF_PRECISION_FP32, ROOF_ISA_BASE, false, false, false, TILED(FP32, ROOF_TILE, fp32_base)},
#if defined(__x86_64__)
    {ROOF_PRECISION_Q8_0, ROOF_ISA_AVX2, false, false, false, TILED(Q8_0, Q8_INPUTS_256, q8_avx2)},
    {ROOF_PRECISION_FP16, ROOF_ISA_AVX2, false, false, false, TILED(FP16, INPUTS_256, fp16_avx2)},
    {ROOF_PRECISION_BF16, ROOF_ISA_AVX2, false, false, false, TILED(BF16, INPUTS_256, bf16_avx2)},
    {ROOF_PRECISION_FP32, ROOF_ISA_AVX2, false, false, false, TILED(FP32, INPUTS_256, fp32_avx2)},
    {ROOF_PRECISION_Q8_0, ROOF_ISA_AVX512, true, false, false, TILED(Q8_0, ROOF_TILE, q8_vnni)},
    {ROOF_PRECISION_FP16, ROOF_ISA_AVX512, false, false, false,
     TILED(FP16, INPUTS_512, fp16_avx512)},
    {ROOF_PRECISION_BF16, ROOF_ISA_AVX512, false, false, false,
     TILED(BF16, INPUTS_512, bf16_avx512)},
    {ROOF_PRECISION_BF16, ROOF_ISA_AVX512, false, true, false, TILED(BF16, INPUTS_512, bf16_dot)},
    {ROOF_PRECISION_FP32, ROOF_ISA_AVX512, false, false, false,
     TILED(FP32, INPUTS_512, fp32_avx512)},
#endif
};

bool roof_dot_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                   const struct roof_cpu_features *features)
{
    bool found = roof_dot_k_find(out, weights, many, features);
    for (size_t i = 0; i < COUNT(table); i++) {
        if (table[i].weights == weights && table[i].isa <= features->isa &&
            (!table[i].vnni || features->vnni) && (!table[i].bf16 || features->bf16) &&
            (!table[i].many || many)) {
            *out = table[i].kernels;
            found = true;
        }
    }
#if defined(__x86_64__)
    found = roof_dot_q4_find(out, weights, many, features) || found;
#endif
    return roof_amx_find(out, weights, many, features) || found;
}

void roof_dot_multiply(const struct roof_dot_kernels *kernels, const struct roof_dot *first,
                       int64_t rows, int64_t inputs)
{
    for (int64_t row = 0; row < rows;) {
        /* With one input memory is fastest for consecutive rows, as packed ones are. */
        const bool full = kernels->packed || (inputs > 1 && rows - row >= kernels->tile_rows);
        for (int64_t input = 0; input < inputs;) {
            const bool tile = kernels->cut || (full && inputs - input >= kernels->tile_inputs);
            struct roof_dot d = *first;
            d.rows = rows - row < kernels->tile_rows ? rows - row : kernels->tile_rows;
            d.count = inputs - input < kernels->tile_inputs ? inputs - input : kernels->tile_inputs;
            d.weights += row * d.row_bytes;
            d.inputs += input * d.input_bytes;
            d.out += input * d.stride + row;
            (tile ? kernels->tile : full ? kernels->column : kernels->single)(&d);
            input += tile ? kernels->tile_inputs : 1;
        }
        row += full ? kernels->tile_rows : 1;
    }
}

/* --- inputs -------------------------------------------------------------------------------- */

static void quantize_base(struct roof_block_q8 *out, const float *in, int64_t k)
{
    for (int64_t b = 0; b < k / ROOF_BLOCK; b++) {
        const float *const x = in + b * ROOF_BLOCK;
        float most = 0;
        for (int i = 0; i < ROOF_BLOCK; i++) {
            most = fmaxf(most, fabsf(x[i]));
        }
        const float inverse = most > 0 ? 127 / most : 0;
        out[b].scale = roof_float_to_half(most / 127);
        for (int i = 0; i < ROOF_BLOCK; i++) {
            out[b].element[i] = (int8_t)lrintf(x[i] * inverse);
        }
    }
}

static void narrow_base(uint16_t *out, const float *in, int64_t k)
{
    for (int64_t i = 0; i < k; i++) {
        out[i] = roof_float_to_half(in[i]);
    }
}

/* Rounds to the nearest number of bf16, ties to even. */
static void halve(uint16_t *out, const float *in, int64_t k)
{
    for (int64_t i = 0; i < k; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &in[i], sizeof bits);
        out[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
}

#if defined(__x86_64__)
ROOF_TARGET_AVX2 static void quantize_avx2(struct roof_block_q8 *out, const float *in, int64_t k)
{
    for (int64_t b = 0; b < k / ROOF_BLOCK; b++) {
        const float *const x = in + b * ROOF_BLOCK;
        const float largest = roof_avx2_largest(x, ROOF_BLOCK);
        out[b].scale = _cvtss_sh(largest / 127, 0);
        _mm256_storeu_si256((__m256i *)(void *)out[b].element,
                            roof_avx2_bytes(x, largest > 0 ? 127 / largest : 0));
    }
}

ROOF_TARGET_AVX2 static void narrow_avx2(uint16_t *out, const float *in, int64_t k)
{
    for (int64_t i = 0; i < k; i += 8) {
        _mm_storeu_si128((__m128i *)(void *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
    }
}
#endif

/* Converts blocks without sums to blocks with sums. */
static void add_sums(struct roof_block_q8_1 *out, const float *in, int64_t k,
                     void (*quantize)(struct roof_block_q8 *, const float *, int64_t))
{
    for (int64_t b = 0; b < k / ROOF_BLOCK; b++) {
        struct roof_block_q8 plain;
        int32_t sum = 0;
        quantize(&plain, in + b * ROOF_BLOCK, ROOF_BLOCK);
        for (int i = 0; i < ROOF_BLOCK; i++) {
            sum += plain.element[i];
        }
        out[b].scale = plain.scale;
        out[b].sum = roof_float_to_half(roof_half_to_float(plain.scale) * (float)sum);
        memcpy(out[b].element, plain.element, sizeof plain.element);
    }
}

void roof_dot_convert(unsigned char *out, enum roof_precision format, const float *in, int64_t k,
                      const struct roof_cpu_features *features)
{
    void (*quantize)(struct roof_block_q8 *, const float *, int64_t) = quantize_base;
    void (*narrow)(uint16_t *, const float *, int64_t) = narrow_base;
#if defined(__x86_64__)
    if (features->isa >= ROOF_ISA_AVX2) {
        quantize = quantize_avx2;
        narrow = narrow_avx2;
    }
#endif
    if (format == ROOF_PRECISION_Q8_1) {
        add_sums((struct roof_block_q8_1 *)(void *)out, in, k, quantize);
    } else if (format == ROOF_PRECISION_Q8_0) {
        quantize((struct roof_block_q8 *)(void *)out, in, k);
    } else if (format == ROOF_PRECISION_Q8_K) {
        roof_dot_k_convert(out, in, k, features);
    } else if (format == ROOF_PRECISION_BF16) {
        halve((uint16_t *)(void *)out, in, k);
    } else if (format == ROOF_PRECISION_FP16) {
        narrow((uint16_t *)(void *)out, in, k);
    } else {
        memcpy(out, in, (size_t)k * sizeof *in);
    }
    (void)features;
}
