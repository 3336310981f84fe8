// SPDX-License-Identifier: MIT
/* Kernels that multiply and add in registers: the peaks of the vector and matrix units. */
#include "base/base.h"
#include "measure/cpu_amx.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* Iterations of the loop of each kernel per call. */
#define ROUNDS 20000

/* This number of accumulators hides a latency of four cycles at two multiplications per cycle, and
 * fits the sixteen registers of AVX2. */
#define ACCUMULATORS 12

/* A loop over ACCUMULATORS results of a register type: `step` changes result[i]. */
#define PEAK(name, target, type, start, step)                                                      \
    target static void name(void)                                                                  \
    {                                                                                              \
        type result[ACCUMULATORS];                                                                 \
        for (int i = 0; i < ACCUMULATORS; i++) {                                                   \
            result[i] = start;                                                                     \
            __asm__ volatile("" : "+m"(result[i]));                                                \
        }                                                                                          \
        for (int round = 0; round < ROUNDS; round++) {                                             \
            _Pragma("GCC unroll 12") for (int i = 0; i < ACCUMULATORS; i++)                        \
            {                                                                                      \
                step;                                                                              \
            }                                                                                      \
        }                                                                                          \
        __asm__ volatile("" : : "m"(result) : "memory");                                           \
    }

/* A kernel with the operations of one step on one accumulator. */
struct peak {
    enum roof_precision format;
    enum roof_cpu_isa isa;
    bool (*has)(const struct roof_cpu_features *features);
    void (*run)(void);
    double operations;
    enum roof_compute_unit unit;
};

static bool always(const struct roof_cpu_features *features)
{
    (void)features;
    return true;
}

typedef float floats __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(16)));

#if defined(__x86_64__)
static bool has_vnni(const struct roof_cpu_features *features)
{
    return features->vnni;
}

#if defined(ROOF_TARGET_AMX)
static bool has_amx(const struct roof_cpu_features *features)
{
    return features->amx;
}

static void bf16_amx(void)
{
    roof_amx_peak_bf16(ACCUMULATORS * ROUNDS);
}

static void int8_amx(void)
{
    roof_amx_peak_int8(ACCUMULATORS * ROUNDS);
}
#endif

static bool has_bf16(const struct roof_cpu_features *features)
{
    return features->bf16;
}

PEAK(fp32_base, , floats, (floats){1}, result[i] = result[i] * 0.999F + 0.001F)
PEAK(fp64_base, , doubles, (doubles){1}, result[i] = result[i] * 0.999 + 0.001)
PEAK(fp32_avx2, ROOF_TARGET_AVX2, __m256, _mm256_set1_ps(1),
     result[i] = _mm256_fmadd_ps(result[i], _mm256_set1_ps(0.999F), _mm256_set1_ps(0.001F)))
PEAK(fp64_avx2, ROOF_TARGET_AVX2, __m256d, _mm256_set1_pd(1),
     result[i] = _mm256_fmadd_pd(result[i], _mm256_set1_pd(0.999), _mm256_set1_pd(0.001)))
PEAK(int8_avx2, ROOF_TARGET_AVX2, __m256i, _mm256_set1_epi8(1),
     result[i] = _mm256_add_epi32(
         result[i], _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(3), result[i]),
                                      _mm256_set1_epi16(1))))
PEAK(fp32_avx512, ROOF_TARGET_AVX512, __m512, _mm512_set1_ps(1),
     result[i] = _mm512_fmadd_ps(result[i], _mm512_set1_ps(0.999F), _mm512_set1_ps(0.001F)))
PEAK(fp64_avx512, ROOF_TARGET_AVX512, __m512d, _mm512_set1_pd(1),
     result[i] = _mm512_fmadd_pd(result[i], _mm512_set1_pd(0.999), _mm512_set1_pd(0.001)))
PEAK(int8_vnni, ROOF_TARGET_VNNI, __m512i, _mm512_set1_epi8(1),
     result[i] = _mm512_dpbusd_epi32(result[i], _mm512_set1_epi8(3), _mm512_set1_epi8(5)))
PEAK(bf16_avx512, ROOF_TARGET_BF16, __m512, _mm512_set1_ps(1),
     result[i] = _mm512_dpbf16_ps(result[i], (__m512bh)_mm512_set1_epi16(0x3f80),
                                  (__m512bh)_mm512_set1_epi16(0x3c00)))
#define PEAKS                                                                                      \
    {ROOF_PRECISION_FP32, ROOF_ISA_BASE, always, fp32_base, 8, ROOF_COMPUTE_VECTOR},               \
        {ROOF_PRECISION_FP64, ROOF_ISA_BASE, always, fp64_base, 4, ROOF_COMPUTE_VECTOR},           \
        {ROOF_PRECISION_FP32, ROOF_ISA_AVX2, always, fp32_avx2, 16, ROOF_COMPUTE_VECTOR},          \
        {ROOF_PRECISION_FP64, ROOF_ISA_AVX2, always, fp64_avx2, 8, ROOF_COMPUTE_VECTOR},           \
        {ROOF_PRECISION_INT8, ROOF_ISA_AVX2, always, int8_avx2, 64, ROOF_COMPUTE_VECTOR},          \
        {ROOF_PRECISION_FP32, ROOF_ISA_AVX512, always, fp32_avx512, 32, ROOF_COMPUTE_VECTOR},      \
        {ROOF_PRECISION_FP64, ROOF_ISA_AVX512, always, fp64_avx512, 16, ROOF_COMPUTE_VECTOR},      \
        {ROOF_PRECISION_INT8, ROOF_ISA_AVX512, has_vnni, int8_vnni, 128, ROOF_COMPUTE_VECTOR},     \
        {ROOF_PRECISION_BF16, ROOF_ISA_AVX512, has_bf16, bf16_avx512, 64, ROOF_COMPUTE_VECTOR},
#elif defined(__ARM_NEON) && defined(__aarch64__)
PEAK(fp32_base, , float32x4_t, vdupq_n_f32(1),
     result[i] = vfmaq_f32(vdupq_n_f32(0.001F), result[i], vdupq_n_f32(0.999F)))
PEAK(fp64_base, , float64x2_t, vdupq_n_f64(1),
     result[i] = vfmaq_f64(vdupq_n_f64(0.001), result[i], vdupq_n_f64(0.999)))
#define PEAKS                                                                                      \
    {ROOF_PRECISION_FP32, ROOF_ISA_BASE, always, fp32_base, 8, ROOF_COMPUTE_VECTOR},               \
        {ROOF_PRECISION_FP64, ROOF_ISA_BASE, always, fp64_base, 4, ROOF_COMPUTE_VECTOR},
#else
PEAK(fp32_base, , floats, (floats){1}, result[i] = result[i] * 0.999F + 0.001F)
PEAK(fp64_base, , doubles, (doubles){1}, result[i] = result[i] * 0.999 + 0.001)
#define PEAKS                                                                                      \
    {ROOF_PRECISION_FP32, ROOF_ISA_BASE, always, fp32_base, 8, ROOF_COMPUTE_VECTOR},               \
        {ROOF_PRECISION_FP64, ROOF_ISA_BASE, always, fp64_base, 4, ROOF_COMPUTE_VECTOR},
#endif

static const struct peak peaks[] = {
    PEAKS
#if defined(ROOF_TARGET_AMX)
    {ROOF_PRECISION_BF16, ROOF_ISA_AVX512, has_amx, bf16_amx, ROOF_AMX_BF16_OPERATIONS,
     ROOF_COMPUTE_MATRIX},
    {ROOF_PRECISION_INT8, ROOF_ISA_AVX512, has_amx, int8_amx, ROOF_AMX_INT8_OPERATIONS,
     ROOF_COMPUTE_MATRIX},
#endif
};

/* Returns the kernel of the widest registers that the processor has for a format and a unit; NULL
 * if it has none. */
static const struct peak *find(const struct roof_cpu_features *features,
                               const struct roof_meter_task *task)
{
    const struct peak *found = NULL;
    for (size_t i = 0; i < COUNT(peaks); i++) {
        if (peaks[i].format == task->format && peaks[i].unit == task->unit &&
            peaks[i].isa <= features->isa && peaks[i].has(features)) {
            found = &peaks[i];
        }
    }
    return found;
}

bool roof_cpu_peak_able(const struct roof_cpu_features *features,
                        const struct roof_meter_task *task)
{
    return find(features, task) != NULL;
}

static void share_peak(void *context, size_t thread, size_t threads, int64_t call)
{
    const struct roof_cpu_job *const job = context;
    (void)thread;
    (void)threads;
    (void)call;
    find(&job->features, &job->task)->run();
}

enum roof_status roof_cpu_peak_begin(struct roof_cpu_job *job, size_t threads,
                                     struct roof_error *error)
{
    (void)error;
    job->share = share_peak;
    job->amount =
        find(&job->features, &job->task)->operations * ACCUMULATORS * ROUNDS * (double)threads;
    return ROOF_OK;
}
