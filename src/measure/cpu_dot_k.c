// SPDX-License-Identifier: MIT
/* Dot products of the formats of GGUF whose blocks have 256 elements (ggml-common.h at d99724f). */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_dot_k.h"
#include "measure/cpu_half.h"

#if defined(__x86_64__)
#include "measure/cpu_avx2.h"
#endif

/* The number of inputs for which the elements of a row are unpacked once. */
#define INPUTS 4
/* Elements that share a scale: 32 in q4_k and q5_k, 16 in q6_k. */
#define PART 32
#define PARTS (ROOF_BLOCK_K / PART)
#define SMALL_PART 16

_Static_assert(sizeof(struct roof_block_q4_k) == 144, "the layout of block_q4_K");
_Static_assert(sizeof(struct roof_block_q5_k) == 176, "the layout of block_q5_K");
_Static_assert(sizeof(struct roof_block_q6_k) == 210, "the layout of block_q6_K");
_Static_assert(sizeof(struct roof_block_q8_k) == 292, "the layout of block_q8_K");

/* --- any processor ------------------------------------------------------------------------- */

/* Unpacks eight scales and eight minima of 6 bits. */
ROOF_INLINE void unpack_six_bits(uint8_t scale[PARTS], uint8_t least[PARTS],
                                 const uint8_t packed[12])
{
    for (int i = 0; i < 4; i++) {
        scale[i] = packed[i] & 63;
        least[i] = packed[i + 4] & 63;
        scale[i + 4] = (uint8_t)((packed[i + 8] & 15) | packed[i] >> 6 << 4);
        least[i + 4] = (uint8_t)(packed[i + 8] >> 4 | packed[i + 4] >> 6 << 4);
    }
}

/* A block of weights: element i is scale[i / 16] * whole[i] - least[i / 16]. */
struct block {
    float scale[ROOF_BLOCK_K / SMALL_PART];
    float least[ROOF_BLOCK_K / SMALL_PART];
    int8_t whole[ROOF_BLOCK_K];
};

ROOF_INLINE void put_scales(struct block *out, uint16_t scale, uint16_t least,
                            const uint8_t packed[12])
{
    uint8_t scales[PARTS];
    uint8_t minima[PARTS];
    unpack_six_bits(scales, minima, packed);
    for (int i = 0; i < ROOF_BLOCK_K / SMALL_PART; i++) {
        const int part = i / 2;
        out->scale[i] = roof_half_to_float(scale) * (float)scales[part];
        out->least[i] = roof_half_to_float(least) * (float)minima[part];
    }
}

static void unpack_q4(struct block *out, const unsigned char *at)
{
    struct roof_block_q4_k in;
    memcpy(&in, at, sizeof in);
    put_scales(out, in.scale, in.least, in.packed);
    for (int i = 0; i < ROOF_BLOCK_K / 2; i++) { /* two parts share bytes */
        out->whole[i / PART * 2 * PART + i % PART] = (int8_t)(in.pair[i] & 15);
        out->whole[i / PART * 2 * PART + PART + i % PART] = (int8_t)(in.pair[i] >> 4);
    }
}

static void unpack_q5(struct block *out, const unsigned char *at)
{
    struct roof_block_q5_k in;
    memcpy(&in, at, sizeof in);
    put_scales(out, in.scale, in.least, in.packed);
    for (int i = 0; i < ROOF_BLOCK_K / 2; i++) {
        const int two = i / PART;
        const int bits = in.high[i % PART] >> 2 * two;
        out->whole[two * 2 * PART + i % PART] = (int8_t)((in.pair[i] & 15) | (bits & 1) << 4);
        out->whole[two * 2 * PART + PART + i % PART] =
            (int8_t)(in.pair[i] >> 4 | (bits >> 1 & 1) << 4);
    }
}

static void unpack_q6(struct block *out, const unsigned char *at)
{
    struct roof_block_q6_k in;
    memcpy(&in, at, sizeof in);
    for (int i = 0; i < ROOF_BLOCK_K; i++) {
        const int half = i / 128;
        const int group = i % 128 / PART; /* those of a half share bytes */
        const int low = in.low[64 * half + group % 2 * PART + i % PART] >> group / 2 * 4 & 15;
        const int high = in.high[32 * half + i % PART] >> 2 * group & 3;
        out->whole[i] = (int8_t)((low | high << 4) - 32);
    }
    for (int i = 0; i < ROOF_BLOCK_K / SMALL_PART; i++) {
        out->scale[i] = roof_half_to_float(in.scale) * (float)in.part[i];
        out->least[i] = 0;
    }
}

ROOF_INLINE float multiply_block(const struct block *w, const unsigned char *at)
{
    struct roof_block_q8_k x;
    float sum = 0;
    memcpy(&x, at, sizeof x);
    for (int part = 0; part < ROOF_BLOCK_K / SMALL_PART; part++) {
        int32_t product = 0;
        for (int i = 0; i < SMALL_PART; i++) {
            product += w->whole[SMALL_PART * part + i] * x.element[SMALL_PART * part + i];
        }
        sum += w->scale[part] * (float)product - w->least[part] * (float)x.sum[part];
    }
    return sum * x.scale;
}

/* A row with one input, and with INPUTS of them. */
#define BASE(name, block_t, unpack)                                                                \
    ROOF_INLINE void name(const struct roof_dot *d, int inputs)                                    \
    {                                                                                              \
        float sum[INPUTS] = {0};                                                                   \
        for (int64_t b = 0; b < d->k / ROOF_BLOCK_K; b++) {                                        \
            struct block w;                                                                        \
            unpack(&w, d->weights + b * (int64_t)sizeof(block_t));                                 \
            for (int t = 0; t < inputs; t++) {                                                     \
                sum[t] += multiply_block(&w, d->inputs + t * d->input_bytes +                      \
                                                 b * (int64_t)sizeof(struct roof_block_q8_k));     \
            }                                                                                      \
        }                                                                                          \
        for (int t = 0; t < inputs; t++) {                                                         \
            d->out[t * d->stride] = sum[t];                                                        \
        }                                                                                          \
    }                                                                                              \
    ONE_AND_MANY(name, )
#define ONE_AND_MANY(name, target)                                                                 \
    target static void name##_one(const struct roof_dot *d)                                        \
    {                                                                                              \
        name(d, 1);                                                                                \
    }                                                                                              \
    target static void name##_many(const struct roof_dot *d)                                       \
    {                                                                                              \
        name(d, INPUTS);                                                                           \
    }

BASE(q4_base, struct roof_block_q4_k, unpack_q4)
BASE(q5_base, struct roof_block_q5_k, unpack_q5)
BASE(q6_base, struct roof_block_q6_k, unpack_q6)

#if defined(__x86_64__)

/* --- AVX2 ------------------------------------------------------------------------------------ */

ROOF_TARGET_AVX2 ROOF_INLINE __m256i load(const void *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

ROOF_TARGET_AVX2 ROOF_INLINE __m256i low_bits(__m256i bytes, int bits)
{
    return _mm256_and_si256(bytes, _mm256_set1_epi8((char)((1 << bits) - 1)));
}

/* The scales and minima of a block of q4_k or q5_k as 16-bit numbers. */
struct six_bits {
    int16_t scale[PARTS];
    __m128i least;
};

ROOF_TARGET_AVX2 ROOF_INLINE struct six_bits unpack_scales(const uint8_t packed[12])
{
    struct six_bits out;
    uint32_t word[3];
    memcpy(word, packed, sizeof word);
    const uint32_t low = 0x3f3f3f3f;
    const uint32_t four = 0x0f0f0f0f;
    const uint32_t two = 0x03030303;
    const __m128i bytes = _mm_set_epi32(
        (int)((word[2] >> 4 & four) | (word[1] >> 6 & two) << 4), (int)(word[1] & low),
        (int)((word[2] & four) | (word[0] >> 6 & two) << 4), (int)(word[0] & low));
    const __m256i wide = _mm256_cvtepu8_epi16(bytes);
    _mm_storeu_si128((__m128i *)(void *)out.scale, _mm256_castsi256_si128(wide));
    out.least = _mm256_extracti128_si256(wide, 1);
    return out;
}

/* Adds the products of a part of 32 elements, of up to 6 bits, to whole sums. */
ROOF_TARGET_AVX2 ROOF_INLINE __m256i add_part(__m256i sum, __m256i w, __m256i x, __m256i scale)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(scale, _mm256_maddubs_epi16(w, x)));
}

/* Adds a block: the whole sums by the scale of the block, less the minima by the sums of the input.
 */
ROOF_TARGET_AVX2 ROOF_INLINE __m256 add_block(__m256 sum, __m256i whole, __m128i least, float scale,
                                              float minimum, const struct roof_block_q8_k *x)
{
    const __m128i sums =
        _mm_hadd_epi16(_mm_loadu_si128((const __m128i *)(const void *)x->sum),
                       _mm_loadu_si128((const __m128i *)(const void *)(x->sum + 8)));
    const __m256 less = _mm256_cvtepi32_ps(_mm256_zextsi128_si256(_mm_madd_epi16(least, sums)));
    sum = _mm256_fmadd_ps(_mm256_set1_ps(scale * x->scale), _mm256_cvtepi32_ps(whole), sum);
    return _mm256_fnmadd_ps(_mm256_set1_ps(minimum * x->scale), less, sum);
}

ROOF_TARGET_AVX2 ROOF_INLINE float to_float(uint16_t half)
{
    return _cvtsh_ss(half);
}

ROOF_INLINE const struct roof_block_q8_k *input_of(const struct roof_dot *d, int t, int64_t b)
{
    const unsigned char *const row = d->inputs + t * d->input_bytes;
    return (const struct roof_block_q8_k *)(const void *)row + b;
}

/* The elements of two parts that share bytes, with the fifth bit of q5_k. */
ROOF_TARGET_AVX2 ROOF_INLINE void unpack_pairs(__m256i part[2], const uint8_t *pair,
                                               const uint8_t *high, int two)
{
    const __m256i bytes = load(pair + (ptrdiff_t)PART * two);
    part[0] = low_bits(bytes, 4);
    part[1] = low_bits(_mm256_srli_epi16(bytes, 4), 4);
    if (high != NULL) {
        const __m256i bits = load(high);
        for (int i = 0; i < 2; i++) {
            const __m256i bit = _mm256_set1_epi8((char)(1 << (2 * two + i)));
            const __m256i there = _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit);
            part[i] = _mm256_or_si256(part[i], _mm256_and_si256(there, _mm256_set1_epi8(16)));
        }
    }
}

/* q4_k and q5_k differ only in the fifth bit. */
#define AVX2(name, block_t, high_bits)                                                             \
    ROOF_TARGET_AVX2 ROOF_INLINE void name(const struct roof_dot *d, int inputs)                   \
    {                                                                                              \
        __m256 sum[INPUTS] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),       \
                              _mm256_setzero_ps()};                                                \
        for (int64_t b = 0; b < d->k / ROOF_BLOCK_K; b++) {                                        \
            const block_t *const w = (const block_t *)(const void *)d->weights + b;                \
            const struct six_bits scales = unpack_scales(w->packed);                               \
            __m256i whole[INPUTS] = {_mm256_setzero_si256(), _mm256_setzero_si256(),               \
                                     _mm256_setzero_si256(), _mm256_setzero_si256()};              \
            ROOF_UNROLL for (int two = 0; two < PARTS / 2; two++)                                  \
            {                                                                                      \
                const int first = 2 * PART * two;                                                  \
                __m256i part[2];                                                                   \
                unpack_pairs(part, w->pair, high_bits, two);                                       \
                ROOF_UNROLL for (int t = 0; t < inputs; t++)                                       \
                {                                                                                  \
                    const int8_t *const x = input_of(d, t, b)->element + first;                    \
                    whole[t] = add_part(whole[t], part[0], load(x),                                \
                                        _mm256_set1_epi16(scales.scale[first / PART]));            \
                    whole[t] = add_part(whole[t], part[1], load(x + PART),                         \
                                        _mm256_set1_epi16(scales.scale[first / PART + 1]));        \
                }                                                                                  \
            }                                                                                      \
            ROOF_UNROLL for (int t = 0; t < inputs; t++)                                           \
            {                                                                                      \
                sum[t] = add_block(sum[t], whole[t], scales.least, to_float(w->scale),             \
                                   to_float(w->least), input_of(d, t, b));                         \
            }                                                                                      \
        }                                                                                          \
        ROOF_UNROLL for (int t = 0; t < inputs; t++)                                               \
        {                                                                                          \
            d->out[t * d->stride] = roof_avx2_total(sum[t]);                                       \
        }                                                                                          \
    }                                                                                              \
    ONE_AND_MANY(name, ROOF_TARGET_AVX2)

AVX2(q4_avx2, struct roof_block_q4_k, NULL)
AVX2(q5_avx2, struct roof_block_q5_k, w->high)

/* The four parts of a half of q6_k, whose elements are 32 too large. */
ROOF_TARGET_AVX2 ROOF_INLINE void unpack_half(__m256i part[4], const struct roof_block_q6_k *w,
                                              int half)
{
    const __m256i high = load(w->high + (ptrdiff_t)PART * half);
    for (int i = 0; i < 2; i++) {
        const __m256i low = load(w->low + (ptrdiff_t)64 * half + (ptrdiff_t)PART * i);
        part[i] = _mm256_or_si256(
            low_bits(low, 4), _mm256_slli_epi16(low_bits(_mm256_srli_epi16(high, 2 * i), 2), 4));
        part[i + 2] =
            _mm256_or_si256(low_bits(_mm256_srli_epi16(low, 4), 4),
                            _mm256_slli_epi16(low_bits(_mm256_srli_epi16(high, 2 * i + 4), 2), 4));
    }
}

ROOF_TARGET_AVX2 ROOF_INLINE void q6_avx2(const struct roof_dot *d, int inputs)
{
    __m256 sum[INPUTS] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                          _mm256_setzero_ps()};
    for (int64_t b = 0; b < d->k / ROOF_BLOCK_K; b++) {
        const struct roof_block_q6_k *const w =
            (const struct roof_block_q6_k *)(const void *)d->weights + b;
        const __m256i scales =
            _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)w->part));
        __m256i whole[INPUTS] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                                 _mm256_setzero_si256(), _mm256_setzero_si256()};
        ROOF_UNROLL for (int half = 0; half < 2; half++)
        {
            __m256i part[4];
            unpack_half(part, w, half);
            ROOF_UNROLL for (int i = 0; i < 4; i++)
            {
                const int at = 8 * half + 2 * i; /* of the scale of the first 16 elements */
                const __m256i scale =
                    _mm256_set_m128i(_mm_set1_epi16(w->part[at + 1]), _mm_set1_epi16(w->part[at]));
                ROOF_UNROLL for (int t = 0; t < inputs; t++)
                {
                    whole[t] = add_part(
                        whole[t], part[i],
                        load(input_of(d, t, b)->element + (ptrdiff_t)PART * (4 * half + i)), scale);
                }
            }
        }
        ROOF_UNROLL for (int t = 0; t < inputs; t++)
        {
            const struct roof_block_q8_k *const x = input_of(d, t, b);
            const __m256i more = _mm256_slli_epi32(_mm256_madd_epi16(scales, load(x->sum)), 5);
            sum[t] = _mm256_fmadd_ps(_mm256_set1_ps(to_float(w->scale) * x->scale),
                                     _mm256_cvtepi32_ps(_mm256_sub_epi32(whole[t], more)), sum[t]);
        }
    }
    ROOF_UNROLL for (int t = 0; t < inputs; t++)
    {
        d->out[t * d->stride] = roof_avx2_total(sum[t]);
    }
}
ONE_AND_MANY(q6_avx2, ROOF_TARGET_AVX2)

/* --- packed blocks of q4_k -------------------------------------------------------------------- */

/* The scales and minima of eight rows: each lane is a row, and has four of them. */
struct packed_six_bits {
    __m256i scale[2];
    __m256i least[2];
};

ROOF_TARGET_VNNI ROOF_INLINE struct packed_six_bits unpack_rows(const unsigned char *words)
{
    const __m256i low = _mm256_set1_epi32(0x3f3f3f3f);
    const __m256i four = _mm256_set1_epi32(0x0f0f0f0f);
    const __m256i two = _mm256_set1_epi32(0x03030303);
    const __m256i a = load(words);
    const __m256i b = load(words + 32);
    const __m256i c = load(words + 64);
    return (struct packed_six_bits){
        {_mm256_and_si256(a, low),
         _mm256_or_si256(_mm256_and_si256(c, four),
                         _mm256_slli_epi32(_mm256_and_si256(_mm256_srli_epi32(a, 6), two), 4))},
        {_mm256_and_si256(b, low),
         _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(c, 4), four),
                         _mm256_slli_epi32(_mm256_and_si256(_mm256_srli_epi32(b, 6), two), 4))}};
}

/* Returns the numbers of a part from those of the rows. */
ROOF_TARGET_VNNI ROOF_INLINE __m256 of_part(const __m256i numbers[2], int part)
{
    const __m256i shifted = _mm256_srli_epi32(numbers[part / 4], 8 * (part % 4));
    return _mm256_cvtepi32_ps(_mm256_and_si256(shifted, _mm256_set1_epi32(63)));
}

/* Adds the products of four elements of eight rows with those of an input. */
ROOF_TARGET_VNNI ROOF_INLINE __m256i add_four(__m256i sum, __m256i w, const int8_t *x)
{
    return _mm256_dpbusd_epi32(sum, w, roof_avx2_four(x));
}

/* Eight rows of weights, each a lane, with some inputs. */
ROOF_TARGET_VNNI ROOF_INLINE void q4_packed(const struct roof_dot *d, int inputs)
{
    __m256 sum[INPUTS] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                          _mm256_setzero_ps()};
    for (int64_t b = 0; b < d->k / ROOF_BLOCK_K; b++) {
        const unsigned char *const w = d->weights + b * ROOF_PACKED_K_BYTES;
        const struct packed_six_bits six = unpack_rows(w + 32);
        const __m256 scale = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)w));
        const __m256 least =
            _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(w + 16)));
        __m256 more[INPUTS] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                               _mm256_setzero_ps()};
        __m256 less[INPUTS] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                               _mm256_setzero_ps()};
        for (int two = 0; two < PARTS / 2; two++) {
            const unsigned char *const pairs = w + 128 + (ptrdiff_t)256 * two;
            __m256i product[2][INPUTS];
            ROOF_UNROLL for (int t = 0; t < inputs; t++)
            {
                product[0][t] = product[1][t] = _mm256_setzero_si256();
            }
            ROOF_UNROLL for (int i = 0; i < PART / 4; i++)
            {
                const __m256i bytes = load(pairs + (ptrdiff_t)32 * i);
                const __m256i low = low_bits(bytes, 4);
                const __m256i high = low_bits(_mm256_srli_epi16(bytes, 4), 4);
                ROOF_UNROLL for (int t = 0; t < inputs; t++)
                {
                    const int first = 2 * PART * two + 4 * i;
                    const int8_t *const x = input_of(d, t, b)->element + first;
                    product[0][t] = add_four(product[0][t], low, x);
                    product[1][t] = add_four(product[1][t], high, x + PART);
                }
            }
            ROOF_UNROLL for (int part = 0; part < 2; part++)
            {
                const __m256 own = of_part(six.scale, 2 * two + part);
                const __m256 minimum = of_part(six.least, 2 * two + part);
                ROOF_UNROLL for (int t = 0; t < inputs; t++)
                {
                    const int at = 4 * two + 2 * part;
                    const int16_t *const sums = input_of(d, t, b)->sum + at;
                    more[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(product[part][t]), own, more[t]);
                    less[t] = _mm256_fmadd_ps(_mm256_set1_ps((float)(sums[0] + sums[1])), minimum,
                                              less[t]);
                }
            }
        }
        ROOF_UNROLL for (int t = 0; t < inputs; t++)
        {
            const __m256 of_input = _mm256_set1_ps(input_of(d, t, b)->scale);
            sum[t] = _mm256_fmadd_ps(_mm256_mul_ps(scale, of_input), more[t], sum[t]);
            sum[t] = _mm256_fnmadd_ps(_mm256_mul_ps(least, of_input), less[t], sum[t]);
        }
    }
    ROOF_UNROLL for (int t = 0; t < inputs; t++)
    {
        _mm256_storeu_ps(d->out + t * d->stride, sum[t]);
    }
}

/* Engines use fewer inputs at once here than with rows that are not packed. */
#define PACKED_INPUTS 2
ROOF_TARGET_VNNI static void q4_packed_one(const struct roof_dot *d)
{
    q4_packed(d, 1);
}
ROOF_TARGET_VNNI static void q4_packed_many(const struct roof_dot *d)
{
    q4_packed(d, PACKED_INPUTS);
}

#endif

/* --- the table ----------------------------------------------------------------------------- */

#define KERNELS(name)                                                                              \
    {                                                                                              \
        .inputs = ROOF_PRECISION_Q8_K, .tile_rows = 1, .tile_inputs = INPUTS, .tile = name##_many, \
        .column = name##_one, .single = name##_one                                                 \
    }

bool roof_dot_k_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                     const struct roof_cpu_features *features)
{
    static const struct {
        enum roof_precision weights;
        enum roof_cpu_isa isa;
        struct roof_dot_kernels kernels;
    } table[] = {
        {ROOF_PRECISION_Q4_K, ROOF_ISA_BASE, KERNELS(q4_base)},
        {ROOF_PRECISION_Q5_K, ROOF_ISA_BASE, KERNELS(q5_base)},
        {ROOF_PRECISION_Q6_K, ROOF_ISA_BASE, KERNELS(q6_base)},
#if defined(__x86_64__)
        {ROOF_PRECISION_Q4_K, ROOF_ISA_AVX2, KERNELS(q4_avx2)},
        {ROOF_PRECISION_Q5_K, ROOF_ISA_AVX2, KERNELS(q5_avx2)},
        {ROOF_PRECISION_Q6_K, ROOF_ISA_AVX2, KERNELS(q6_avx2)},
#endif
    };
    bool found = false;
    for (size_t i = 0; i < COUNT(table); i++) {
        if (table[i].weights == weights && table[i].isa <= features->isa) {
            *out = table[i].kernels;
            found = true;
        }
    }
#if defined(__x86_64__)
    if (weights == ROOF_PRECISION_Q4_K && many && features->vnni) {
        *out = (struct roof_dot_kernels){.inputs = ROOF_PRECISION_Q8_K,
                                         .packed = true,
                                         .tile_rows = ROOF_PACKED_ROWS,
                                         .tile_inputs = PACKED_INPUTS,
                                         .tile = q4_packed_many,
                                         .column = q4_packed_one,
                                         .single = q4_avx2_one};
    }
#endif
    (void)many;
    return found;
}

/* --- inputs -------------------------------------------------------------------------------- */

/* Adds up parts of 16 elements. */
static void add_up(struct roof_block_q8_k *block)
{
    for (int part = 0; part < ROOF_BLOCK_K / SMALL_PART; part++) {
        int sum = 0;
        for (int i = 0; i < SMALL_PART; i++) {
            sum += block->element[SMALL_PART * part + i];
        }
        block->sum[part] = (int16_t)sum;
    }
}

static void quantize_base(struct roof_block_q8_k *out, const float *in)
{
    float most = 0;
    for (int i = 0; i < ROOF_BLOCK_K; i++) {
        most = fmaxf(most, fabsf(in[i]));
    }
    const float inverse = most > 0 ? 127 / most : 0;
    out->scale = most / 127;
    for (int i = 0; i < ROOF_BLOCK_K; i++) {
        out->element[i] = (int8_t)lrintf(in[i] * inverse);
    }
    add_up(out);
}

#if defined(__x86_64__)
ROOF_TARGET_AVX2 static void quantize_avx2(struct roof_block_q8_k *out, const float *in)
{
    const float largest = roof_avx2_largest(in, ROOF_BLOCK_K);
    const float inverse = largest > 0 ? 127 / largest : 0;
    for (int i = 0; i < ROOF_BLOCK_K; i += PART) {
        _mm256_storeu_si256((__m256i *)(void *)(out->element + i),
                            roof_avx2_bytes(in + i, inverse));
    }
    out->scale = largest / 127;
    add_up(out);
}
#endif

void roof_dot_k_convert(unsigned char *out, const float *in, int64_t k,
                        const struct roof_cpu_features *features)
{
    void (*quantize)(struct roof_block_q8_k *, const float *) = quantize_base;
#if defined(__x86_64__)
    if (features->isa >= ROOF_ISA_AVX2) {
        quantize = quantize_avx2;
    }
#endif
    (void)features;
    for (int64_t b = 0; b < k / ROOF_BLOCK_K; b++) {
        quantize((struct roof_block_q8_k *)(void *)out + b, in + b * ROOF_BLOCK_K);
    }
}
