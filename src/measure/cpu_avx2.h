// SPDX-License-Identifier: MIT
/* Functions that the kernels of products for AVX2 share (x86 only). */
#ifndef ROOF_MEASURE_CPU_AVX2_H
#define ROOF_MEASURE_CPU_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "measure/cpu_job.h"

#define ROOF_AVX2_INLINE ROOF_TARGET_AVX2 static inline __attribute__((always_inline))

/* Returns the sum of the elements. */
ROOF_AVX2_INLINE float roof_avx2_total(__m256 x)
{
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
}

/* Returns the largest magnitude of so many floats, a multiple of eight. */
ROOF_AVX2_INLINE float roof_avx2_largest(const float *in, int count)
{
    const __m256 positive = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 most = _mm256_setzero_ps();
    for (int i = 0; i < count; i += 8) {
        most = _mm256_max_ps(most, _mm256_and_ps(_mm256_loadu_ps(in + i), positive));
    }
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/* Returns 32 floats times a factor, rounded to 8-bit integers. */
ROOF_AVX2_INLINE __m256i roof_avx2_bytes(const float *in, float factor)
{
    __m256i whole[4];
    for (int i = 0; i < 4; i++) {
        whole[i] = _mm256_cvtps_epi32(
            _mm256_mul_ps(_mm256_loadu_ps(in + (ptrdiff_t)8 * i), _mm256_set1_ps(factor)));
    }
    const __m256i mixed = _mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]),
                                             _mm256_packs_epi32(whole[2], whole[3]));
    return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Returns four bytes, eight times. */
ROOF_AVX2_INLINE __m256i roof_avx2_four(const void *at)
{
    int32_t four = 0;
    memcpy(&four, at, sizeof four);
    return _mm256_set1_epi32(four);
}

/* Returns the half-precision number that begins a block, in all lanes. */
ROOF_AVX2_INLINE __m256 roof_avx2_scale(const unsigned char *block)
{
    uint16_t half = 0;
    memcpy(&half, block, sizeof half);
    return _mm256_set1_ps(_cvtsh_ss(half));
}

/* Adds the products of four elements in each lane. Both factors have signs and are within +-127, so
 * that no sum of two products leaves 16 bits. */
ROOF_AVX2_INLINE __m256i roof_avx2_add_signed(__m256i sum, __m256i w, __m256i x)
{
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_sign_epi8(w, w), _mm256_sign_epi8(x, w));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* Does so by one instruction. */
ROOF_TARGET_VNNI static inline __attribute__((always_inline)) __m256i
roof_vnni_add_signed(__m256i sum, __m256i w, __m256i x)
{
    return _mm256_dpbusd_epi32(sum, _mm256_sign_epi8(w, w), _mm256_sign_epi8(x, w));
}

#endif
