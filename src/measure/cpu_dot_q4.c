// SPDX-License-Identifier: MIT
/* Products of q4_0 in eight rows that are packed together. */
#include "measure/cpu_dot_q4.h"

#include <string.h>

#include "base/base.h"

#if defined(__x86_64__)
#include "measure/cpu_avx2.h"

/* The rows of the lanes, and the lanes of the rows. */
#define LANES 0, 4, 1, 5, 2, 6, 3, 7
#define BACK 0, 2, 4, 6, 1, 3, 5, 7

/* Brings together what two vectors have of four rows each, eight bytes of a row: out[0] becomes the
 * first four of all, out[1] the other four. */
ROOF_TARGET_AVX2 ROOF_INLINE void gather_rows(__m256i out[2], __m256i a, __m256i b)
{
    enum { SWAP = 0xb1 /* neighbours in each pair */, ODD = 0xaa };
    out[0] = _mm256_blend_epi32(a, _mm256_shuffle_epi32(b, SWAP), ODD);
    out[1] = _mm256_blend_epi32(_mm256_shuffle_epi32(a, SWAP), b, ODD);
}

/* Finds the elements of a packed block, 0 to 15 each: four of each row in each of the eight
 * vectors, in LANES. */
ROOF_TARGET_AVX2 ROOF_INLINE void unpack_rows(__m256i out[8], const unsigned char *w)
{
    const __m256i low = _mm256_set1_epi8(15);
    __m256i pairs[4];
    ROOF_UNROLL for (int i = 0; i < 4; i++)
    {
        pairs[i] = _mm256_loadu_si256((const __m256i *)(const void *)(w + 16 + (ptrdiff_t)32 * i));
    }
    ROOF_UNROLL for (int half = 0; half < 2; half++)
    {
        ROOF_UNROLL for (int i = 0; i < 4; i += 2)
        {
            gather_rows(out + (ptrdiff_t)4 * half + i,
                        _mm256_and_si256(_mm256_srli_epi16(pairs[i], 4 * half), low),
                        _mm256_and_si256(_mm256_srli_epi16(pairs[i + 1], 4 * half), low));
        }
    }
}

/* Returns the scales of a packed block, in LANES. */
ROOF_TARGET_AVX2 ROOF_INLINE __m256 scales_of(const unsigned char *w)
{
    return _mm256_permutevar8x32_ps(
        _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)w)),
        _mm256_setr_epi32(LANES));
}

ROOF_TARGET_AVX2 ROOF_INLINE void store_rows(float *out, __m256 sum)
{
    _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(sum, _mm256_setr_epi32(BACK)));
}

/* Returns 16 bytes in both halves. */
ROOF_TARGET_AVX2 ROOF_INLINE __m256i both_halves(const unsigned char *x)
{
    const __m256i in = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)x));
    return _mm256_permute2x128_si256(in, in, 0);
}

/* Returns elements of 4 bits with their signs. Engines look them up in a table of 16 bytes, which
 * also serves other formats of 4 bits. */
ROOF_TARGET_AVX2 ROOF_INLINE __m256i signed_of(__m256i elements)
{
    const __m128i values = _mm_setr_epi8(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(values), elements);
}

/* Eight rows with one input. Engines load the input as vectors and shuffle it, which costs more
 * than broadcasting four bytes of it to all lanes. */
#define PACKED_ONE(name, target, add)                                                              \
    target static void name(const struct roof_dot *d)                                              \
    {                                                                                              \
        __m256 sum = _mm256_setzero_ps();                                                          \
        for (int64_t b = 0; b < d->k / ROOF_BLOCK; b++) {                                          \
            const unsigned char *const w = d->weights + b * ROOF_PACKED_BYTES;                     \
            const unsigned char *const x = d->inputs + b * (int64_t)sizeof(struct roof_block_q8);  \
            __m256i product = _mm256_setzero_si256();                                              \
            __m256i row[8];                                                                        \
            unpack_rows(row, w);                                                                   \
            ROOF_UNROLL for (int half = 0; half < 2; half++)                                       \
            {                                                                                      \
                const __m256i in = both_halves(x + 2 + (ptrdiff_t)16 * half);                      \
                const __m256i *const four = row + (ptrdiff_t)4 * half;                             \
                product = add(product, signed_of(four[0]), _mm256_shuffle_epi32(in, 0));           \
                product = add(product, signed_of(four[1]), _mm256_shuffle_epi32(in, 0x55));        \
                product = add(product, signed_of(four[2]), _mm256_shuffle_epi32(in, 0xaa));        \
                product = add(product, signed_of(four[3]), _mm256_shuffle_epi32(in, 0xff));        \
            }                                                                                      \
            sum = _mm256_fmadd_ps(_mm256_mul_ps(scales_of(w), roof_avx2_scale(x)),                 \
                                  _mm256_cvtepi32_ps(product), sum);                               \
        }                                                                                          \
        store_rows(d->out, sum);                                                                   \
    }

PACKED_ONE(avx2_one, ROOF_TARGET_AVX2, roof_avx2_add_signed)
PACKED_ONE(vnni_one, ROOF_TARGET_VNNI, roof_vnni_add_signed)

/* Inputs that eight rows are multiplied with at once. */
#define PACKED_INPUTS 4

/* Eight rows with several inputs, both with signs. */
ROOF_TARGET_AVX2 static void avx2_many(const struct roof_dot *d)
{
    __m256 sum[PACKED_INPUTS] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                                 _mm256_setzero_ps()};
    for (int64_t b = 0; b < d->k / ROOF_BLOCK; b++) {
        const unsigned char *const w = d->weights + b * ROOF_PACKED_BYTES;
        const __m256 scale = scales_of(w);
        __m256i row[8];
        unpack_rows(row, w);
        ROOF_UNROLL for (int i = 0; i < 8; i++)
        {
            row[i] = signed_of(row[i]);
        }
        ROOF_UNROLL for (int t = 0; t < PACKED_INPUTS; t++)
        {
            const unsigned char *const x =
                d->inputs + t * d->input_bytes + b * (int64_t)sizeof(struct roof_block_q8);
            __m256i product = _mm256_setzero_si256();
            ROOF_UNROLL for (int i = 0; i < 8; i++)
            {
                product =
                    roof_avx2_add_signed(product, roof_avx2_four(x + 2 + (ptrdiff_t)4 * i), row[i]);
            }
            sum[t] = _mm256_fmadd_ps(_mm256_mul_ps(scale, roof_avx2_scale(x)),
                                     _mm256_cvtepi32_ps(product), sum[t]);
        }
    }
    ROOF_UNROLL for (int t = 0; t < PACKED_INPUTS; t++)
    {
        store_rows(d->out + t * d->stride, sum[t]);
    }
}

/* Eight rows of weights with several inputs. Elements are 0 to 15 here, so the result is too large
 * by eight times the sum of the input's block, which is stored with it. */
ROOF_TARGET_VNNI ROOF_INLINE void vnni_several(const struct roof_dot *d, int inputs)
{
    __m256 sum[PACKED_INPUTS] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                                 _mm256_setzero_ps()};
    for (int64_t b = 0; b < d->k / ROOF_BLOCK; b++) {
        const unsigned char *const w = d->weights + b * ROOF_PACKED_BYTES;
        const __m256 scale = scales_of(w);
        const __m256 eight = _mm256_mul_ps(scale, _mm256_set1_ps(8));
        __m256i row[8];
        unpack_rows(row, w);
        ROOF_UNROLL for (int t = 0; t < inputs; t++)
        {
            const unsigned char *const x =
                d->inputs + t * d->input_bytes + b * (int64_t)sizeof(struct roof_block_q8_1);
            __m256i product = _mm256_setzero_si256();
            ROOF_UNROLL for (int i = 0; i < 4; i++)
            {
                const ptrdiff_t at = (ptrdiff_t)4 * i;
                product = _mm256_dpbusd_epi32(product, row[i], roof_avx2_four(x + 4 + at));
                product = _mm256_dpbusd_epi32(product, row[i + 4], roof_avx2_four(x + 20 + at));
            }
            int32_t halves = 0;
            memcpy(&halves, x, sizeof halves);
            const __m128 both = _mm_cvtph_ps(_mm_cvtsi32_si128(halves)); /* the scale and the sum */
            sum[t] = _mm256_fmadd_ps(_mm256_mul_ps(scale, _mm256_broadcastss_ps(both)),
                                     _mm256_cvtepi32_ps(product), sum[t]);
            sum[t] = _mm256_fnmadd_ps(eight, _mm256_broadcastss_ps(_mm_movehdup_ps(both)), sum[t]);
        }
    }
    ROOF_UNROLL for (int t = 0; t < inputs; t++)
    {
        store_rows(d->out + t * d->stride, sum[t]);
    }
}

ROOF_TARGET_VNNI static void vnni_last(const struct roof_dot *d)
{
    vnni_several(d, 1);
}
ROOF_TARGET_VNNI static void vnni_many(const struct roof_dot *d)
{
    vnni_several(d, PACKED_INPUTS);
}

/* Eight rows that are packed together. */
#define PACKED(format, count, several, one)                                                        \
    {                                                                                              \
        .inputs = ROOF_PRECISION_##format, .packed = true, .tile_rows = ROOF_PACKED_ROWS,          \
        .tile_inputs = (count), .tile = (several), .column = (one), .single = NULL                 \
    }

bool roof_dot_q4_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                      const struct roof_cpu_features *features)
{
    static const struct roof_dot_kernels avx2[] = {
        PACKED(Q8_0, 1, avx2_one, avx2_one), PACKED(Q8_0, PACKED_INPUTS, avx2_many, avx2_one)};
    static const struct roof_dot_kernels vnni[] = {
        PACKED(Q8_0, 1, vnni_one, vnni_one), PACKED(Q8_1, PACKED_INPUTS, vnni_many, vnni_last)};
    if (weights != ROOF_PRECISION_Q4_0 || features->isa < ROOF_ISA_AVX2) {
        return false;
    }
    *out = features->isa >= ROOF_ISA_AVX512 && features->vnni ? vnni[many] : avx2[many];
    return true;
}

#endif
