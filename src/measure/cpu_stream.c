// SPDX-License-Identifier: MIT
/* Kernels that move data: the bandwidth of a level of the memory. */
#include <string.h>

#include "base/base.h"
#include "measure/cpu_job.h"

/* The bytes that one round of a kernel moves of each array; a thread has a multiple of them. */
#define STEP ((int64_t)512)

/* A call repeats small arrays until it has moved about this many bytes, so that barriers are
 * negligible. */
#define CALL_BYTES ((int64_t)64 << 20)

/* The three kernels for one kind of vector unit, whose registers have `size` bytes. Types have the
 * size of a register: the compiler keeps sums of a larger type in memory. Eight sums hide the
 * latency of additions, and fit the sixteen registers of SSE2 and AVX2. */
#define STREAMS(isa, target, size)                                                                 \
    typedef uint64_t isa##_block __attribute__((vector_size(size)));                               \
    typedef float isa##_floats __attribute__((vector_size(size)));                                 \
    target static void read_##isa(const unsigned char *data, int64_t bytes)                        \
    {                                                                                              \
        isa##_block a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0};        \
        for (int64_t at = 0; at < bytes; at += INT64_C(8) * (size)) {                              \
            const isa##_block *const from = (const isa##_block *)(const void *)(data + at);        \
            a += from[0];                                                                          \
            b += from[1];                                                                          \
            c += from[2];                                                                          \
            d += from[3];                                                                          \
            e += from[4];                                                                          \
            f += from[5];                                                                          \
            g += from[6];                                                                          \
            h += from[7];                                                                          \
        }                                                                                          \
        a += b + c + d + e + f + g + h;                                                            \
        __asm__ volatile("" : : "m"(a) : "memory"); /* something seems to read the sum */          \
    }                                                                                              \
    target static void copy_##isa(unsigned char *to, const unsigned char *from, int64_t bytes)     \
    {                                                                                              \
        for (int64_t at = 0; at < bytes; at += INT64_C(4) * (size)) {                              \
            const isa##_block *const source = (const isa##_block *)(const void *)(from + at);      \
            isa##_block *const target_ = (isa##_block *)(void *)(to + at);                         \
            const isa##_block a = source[0], b = source[1], c = source[2], d = source[3];          \
            target_[0] = a;                                                                        \
            target_[1] = b;                                                                        \
            target_[2] = c;                                                                        \
            target_[3] = d;                                                                        \
        }                                                                                          \
        roof_cpu_keep((uint64_t)(uintptr_t)to);                                                    \
    }                                                                                              \
    target static void triad_##isa(unsigned char *to, const unsigned char *one,                    \
                                   const unsigned char *two, int64_t bytes)                        \
    {                                                                                              \
        for (int64_t at = 0; at < bytes; at += INT64_C(4) * (size)) {                              \
            const isa##_floats *const b = (const isa##_floats *)(const void *)(one + at);          \
            const isa##_floats *const c = (const isa##_floats *)(const void *)(two + at);          \
            isa##_floats *const a = (isa##_floats *)(void *)(to + at);                             \
            for (int i = 0; i < 4; i++) {                                                          \
                a[i] = b[i] + 0.5F * c[i];                                                         \
            }                                                                                      \
        }                                                                                          \
        roof_cpu_keep((uint64_t)(uintptr_t)to);                                                    \
    }

STREAMS(base, , 16)
#if defined(__x86_64__)
STREAMS(avx2, ROOF_TARGET_AVX2, 32)
STREAMS(avx512, ROOF_TARGET_AVX512, 64)
#endif

static void (*const reads[ROOF_ISA_COUNT])(const unsigned char *, int64_t) = ROOF_EACH_ISA(read);
static void (*const copies[ROOF_ISA_COUNT])(unsigned char *, const unsigned char *,
                                            int64_t) = ROOF_EACH_ISA(copy);
static void (*const triads[ROOF_ISA_COUNT])(unsigned char *, const unsigned char *,
                                            const unsigned char *, int64_t) = ROOF_EACH_ISA(triad);

/* The arrays of a call are stored one after another, and each thread has a slice of each. */
static void share_stream(void *context, size_t thread, size_t threads, int64_t call)
{
    const struct roof_cpu_job *const job = context;
    const enum roof_cpu_isa isa = job->features.isa;
    const int64_t length = job->stride;
    const int64_t first = roof_cpu_part(length, STEP, thread, threads);
    const int64_t bytes = roof_cpu_part(length, STEP, thread + 1, threads) - first;
    unsigned char *const from = job->data + first;
    (void)call;
    for (int64_t i = 0; i < job->repeats; i++) {
        switch (job->task.probe) {
        case ROOF_PROBE_COPY:
            copies[isa](from, from + length, bytes);
            break;
        case ROOF_PROBE_TRIAD:
            triads[isa](from, from + length, from + 2 * length, bytes);
            break;
        default:
            reads[isa](from, bytes);
            break;
        }
    }
}

/* The bytes of random numbers that are generated; the rest are copies. */
#define PIECE_BYTES ((int64_t)1 << 20)

static void fill(unsigned char *out, int64_t bytes)
{
    uint64_t state = 1;
    int64_t done = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
    roof_cpu_random((float *)(void *)out, done / (int64_t)sizeof(float), &state);
    while (done < bytes) {
        const int64_t more = bytes - done < done ? bytes - done : done;
        memcpy(out + done, out, (size_t)more);
        done += more;
    }
}

enum roof_status roof_cpu_stream_begin(struct roof_cpu_job *job, size_t threads,
                                       struct roof_error *error)
{
    const int64_t arrays = job->task.probe == ROOF_PROBE_TRIAD  ? 3
                           : job->task.probe == ROOF_PROBE_COPY ? 2
                                                                : 1;
    const int64_t least = STEP * (int64_t)threads;
    const int64_t length = job->task.bytes / arrays / STEP * STEP;
    job->stride = length < least ? least : length;
    job->repeats = 1 + CALL_BYTES / (job->stride * arrays);
    job->amount = (double)(job->stride * arrays * job->repeats);
    job->share = share_stream;
    TRY(roof_cpu_allocate(job, job->stride * arrays, error));
    fill(job->data, job->stride * arrays);
    return ROOF_OK;
}
