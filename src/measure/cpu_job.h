// SPDX-License-Identifier: MIT
/* A task that the CPU backend has prepared: the kernel of its threads, and their data. */
#ifndef ROOF_MEASURE_CPU_JOB_H
#define ROOF_MEASURE_CPU_JOB_H

#include "measure/cpu_team.h"

/* The vector units that kernels are compiled for. Processors other than x86 have only those of the
 * compiler's baseline: NEON on ARM. */
enum roof_cpu_isa { ROOF_ISA_BASE, ROOF_ISA_AVX2, ROOF_ISA_AVX512, ROOF_ISA_COUNT };

struct roof_cpu_features {
    enum roof_cpu_isa isa; /* the widest; AVX2 comes with FMA and F16C, AVX512 with F, BW and VL */
    bool vnni;             /* 8-bit dot products of 512 bits */
    bool bf16;             /* BF16 dot products of 512 bits */
    bool amx;              /* tiles of bf16 and 8 bits, beside AVX-512 */
};
struct roof_cpu_features roof_cpu_features(void);

/* Makes AMX ready, if the processor has it: asks the system, and compares small products with those
 * of plain loops. Else features->amx becomes false. Returns why it is not used though it is there;
 * "": it is used, or not there. */
const char *roof_cpu_amx_open(struct roof_cpu_features *features);

struct roof_cpu_job {
    roof_cpu_share *share;
    double amount; /* bytes or FLOPs of a call of a probe; 0 for operators */
    struct roof_meter_task task;
    struct roof_cpu_features features;
    unsigned char
        *data;       /* owned; its use is the kernel's; the next task may have the same memory */
    size_t capacity; /* bytes of data */
    int64_t repeats; /* of a stream in one call */
    int64_t phases;  /* calls of the team that make a call of the task, one after another */
    int64_t copies;  /* of the data that calls rotate through */
    int64_t runs;    /* runs of a step, each with its own weights or cache; 0: this is not a step */
    int64_t stride;  /* bytes from one copy to the next */
    unsigned char
        *scratch; /* a part of data that all calls share: inputs, quantised inputs, output */
};

/* Prepare tasks of a kind. ROOF_MEMORY where the data does not fit. */
enum roof_status roof_cpu_stream_begin(struct roof_cpu_job *job, size_t threads,
                                       struct roof_error *error);
enum roof_status roof_cpu_peak_begin(struct roof_cpu_job *job, size_t threads,
                                     struct roof_error *error);

enum roof_status roof_cpu_product_begin(struct roof_cpu_job *job, int64_t cache_bytes,
                                        struct roof_error *error);
enum roof_status roof_cpu_vector_begin(struct roof_cpu_job *job, size_t threads,
                                       int64_t cache_bytes, struct roof_error *error);

/* Tell whether a task can be prepared. */
bool roof_cpu_peak_able(const struct roof_cpu_features *features,
                        const struct roof_meter_task *task);

bool roof_cpu_product_able(const struct roof_cpu_features *features,
                           const struct roof_meter_task *task);

bool roof_cpu_vector_able(const struct roof_meter_task *task);

/* Multiplies k numbers, silu(gate) * up, and stores them in gate. k is a multiple of 16, and rows
 * begin at multiples of 64 bytes. */
void roof_cpu_gate(float *gate, const float *up, int64_t k, enum roof_cpu_isa isa);

/* Returns the number of copies of the data that a job rotates through: those of a step, or enough
 * that a cold task finds no part of a copy in caches of cache_bytes when it uses it again. */
int64_t roof_cpu_copies(const struct roof_cpu_job *job, int64_t bytes, int64_t cache_bytes);

/* Gives a job memory, in large pages if the system has them; it reuses memory that is large enough.
 */
enum roof_status roof_cpu_allocate(struct roof_cpu_job *job, int64_t bytes,
                                   struct roof_error *error);
/* Copies the first copy of the data to the others. */
void roof_cpu_repeat(struct roof_cpu_job *job);
/* Fill memory: floats with random values in [-1, 1), half-precision numbers with some below 2^-6,
 * bytes with random bits. */
void roof_cpu_random(float *out, int64_t count, uint64_t *state);
void roof_cpu_halves(uint16_t *out, int64_t count, uint64_t *state);
void roof_cpu_noise(unsigned char *out, int64_t bytes, uint64_t *state);

/* Returns the first item of a thread; the first of the next thread is the end. Parts differ by at
 * most `step` items. */
static inline int64_t roof_cpu_part(int64_t items, int64_t step, size_t thread, size_t threads)
{
    const int64_t steps = (items + step - 1) / step;
    const int64_t first = steps * (int64_t)thread / (int64_t)threads * step;
    return first < items ? first : items;
}

/* Keeps a value that nothing reads from being optimised away. */
static inline void roof_cpu_keep(uint64_t value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

#if defined(__x86_64__)
#define ROOF_TARGET_AVX2 __attribute__((target("avx2,fma,f16c")))
#define ROOF_TARGET_AVX512                                                                         \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define ROOF_TARGET_VNNI                                                                           \
    __attribute__((target("avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define ROOF_TARGET_BF16                                                                           \
    __attribute__((target("avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#if defined(__linux__)
#define ROOF_TARGET_AMX                                                                            \
    __attribute__((target("amx-tile,amx-bf16,amx-int8,"                                            \
                          "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#endif
/* The functions of a name for each set of instructions, in the order of enum roof_cpu_isa. */
#define ROOF_EACH_ISA(name)                                                                        \
    {                                                                                              \
        name##_base, name##_avx2, name##_avx512                                                    \
    }
#else
#define ROOF_EACH_ISA(name)                                                                        \
    {                                                                                              \
        name##_base, name##_base, name##_base                                                      \
    }
#endif

#endif
