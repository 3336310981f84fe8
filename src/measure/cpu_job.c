// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* madvise */
#include "measure/cpu_job.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"

#if defined(__x86_64__)
/* The registers that the system saves (XCR0): XMM, YMM, with AVX-512 its masks and ZMM, and
 * with AMX the tiles and their configuration. */
#define SAVES_AVX 0x06U
#define SAVES_AVX512 0xe6U
#define SAVES_AMX 0x60000U
/* AMX-BF16, AMX-TILE and AMX-INT8, in EDX of leaf 7; compilers have other names for them. */
#define BITS_AMX (1U << 22 | 1U << 24 | 1U << 25)

/* Returns the registers that the system saves when it changes threads. */
static unsigned saved_registers(unsigned leaf_1)
{
    unsigned low = 0;
    unsigned high = 0;
    if ((leaf_1 & bit_OSXSAVE) != 0) {
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    }
    return low;
}

static bool all(unsigned set, unsigned wanted)
{
    return (set & wanted) == wanted;
}
#endif

/* __builtin_cpu_supports would ask the processor at the start of every program with this library,
 * which takes 50 us in a virtual machine. */
struct roof_cpu_features roof_cpu_features(void)
{
    struct roof_cpu_features out = {.isa = ROOF_ISA_BASE};
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    unsigned leaf_1 = 0;
    unsigned leaf_7_1 = 0;
    if (__get_cpuid(1, &a, &b, &leaf_1, &d) == 0 ||
        __get_cpuid_count(7, 1, &leaf_7_1, &b, &c, &d) == 0 ||
        __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) {
        return out;
    }
    const unsigned saved = saved_registers(leaf_1);
    const bool avx2 = all(saved, SAVES_AVX) && all(leaf_1, bit_FMA | bit_F16C) && all(b, bit_AVX2);
    const bool avx512 = avx2 && all(saved, SAVES_AVX512) &&
                        all(b, (unsigned)bit_AVX512F | (unsigned)bit_AVX512BW |
                                   (unsigned)bit_AVX512DQ | (unsigned)bit_AVX512VL);
    out.isa = avx512 ? ROOF_ISA_AVX512 : avx2 ? ROOF_ISA_AVX2 : ROOF_ISA_BASE;
    out.vnni = avx512 && all(c, bit_AVX512VNNI);
    out.bf16 = avx512 && all(leaf_7_1, bit_AVX512BF16);
    out.amx = avx512 && all(saved, SAVES_AMX) && all(d, BITS_AMX);
#endif
    return out;
}

/* The size of a large page. */
#define PAGE ((size_t)2 << 20)

enum roof_status roof_cpu_allocate(struct roof_cpu_job *job, int64_t bytes,
                                   struct roof_error *error)
{
    const size_t whole = ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
    void *data = NULL;
    if (whole <= job->capacity) {
        return ROOF_OK;
    }
    free(job->data);
    job->data = NULL;
    job->capacity = 0;
    if (posix_memalign(&data, PAGE, whole) != 0) {
        return roof_no_memory(error);
    }
    (void)madvise(data, whole, MADV_HUGEPAGE); /* small pages only cost time */
    job->data = data;
    job->capacity = whole;
    return ROOF_OK;
}

void roof_cpu_repeat(struct roof_cpu_job *job)
{
    for (int64_t copy = 1; copy < job->copies; copy++) {
        memcpy(job->data + copy * job->stride, job->data, (size_t)job->stride);
    }
}

int64_t roof_cpu_copies(const struct roof_cpu_job *job, int64_t bytes, int64_t cache_bytes)
{
    const bool warm = job->task.workload.cache == ROOF_CACHE_WARM;
    return job->runs > 0 ? job->runs : warm ? 1 : 1 + 3 * cache_bytes / (bytes < 1 ? 1 : bytes);
}

/* Returns the next of a sequence of random numbers (xorshift64*). */
static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1DU;
}

void roof_cpu_random(float *out, int64_t count, uint64_t *state)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)(int32_t)(random_bits(state) >> 32) * 0x1p-31F;
    }
}

void roof_cpu_noise(unsigned char *out, int64_t bytes, uint64_t *state)
{
    for (int64_t i = 0; i < bytes; i += 8) {
        const uint64_t bits = random_bits(state);
        memcpy(out + i, &bits, bytes - i < 8 ? (size_t)(bytes - i) : 8);
    }
}

void roof_cpu_halves(uint16_t *out, int64_t count, uint64_t *state)
{
    roof_cpu_noise((unsigned char *)out, count * 2, state);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (uint16_t)((out[i] & 0x83ff) | 0x2000); /* the exponent of 2^-7 */
    }
}
