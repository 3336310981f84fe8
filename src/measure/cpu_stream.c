// SPDX-License-Identifier: MIT
/* Kernels that move data: the bandwidth of a level of the memory. */
#include <string.h>

#include "base/base.h"
#include "measure/cpu_job.h"

/* 64 bytes: one register of AVX-512, two of AVX2, four of SSE2 and NEON. */
typedef uint64_t block __attribute__((vector_size(64)));
typedef float floats __attribute__((vector_size(64)));

/* A call repeats small arrays until it has moved about this many bytes, so that barriers are
 * negligible. */
#define CALL_BYTES ((int64_t)64 << 20)

/* A thread moves multiples of this at once. */
#define STEP ((int64_t)(8 * sizeof(block)))

/* The three kernels for one kind of vector unit. */
#define STREAMS(isa, target)                                                                       \
    target static void read_##isa(const unsigned char *data, int64_t bytes)                        \
    {                                                                                              \
        block sum[4] = {{0}, {0}, {0}, {0}};                                                       \
        for (int64_t at = 0; at < bytes; at += STEP / 2) {                                         \
            const block *const from = (const block *)(const void *)(data + at);                    \
            sum[0] += from[0];                                                                     \
            sum[1] += from[1];                                                                     \
            sum[2] += from[2];                                                                     \
            sum[3] += from[3];                                                                     \
        }                                                                                          \
        const block all = sum[0] + sum[1] + sum[2] + sum[3];                                       \
        roof_cpu_keep(all[0] ^ all[1] ^ all[2] ^ all[3] ^ all[4] ^ all[5] ^ all[6] ^ all[7]);      \
    }                                                                                              \
    target static void copy_##isa(unsigned char *to, const unsigned char *from, int64_t bytes)     \
    {                                                                                              \
        for (int64_t at = 0; at < bytes; at += STEP / 2) {                                         \
            const block *const source = (const block *)(const void *)(from + at);                  \
            block *const target_ = (block *)(void *)(to + at);                                     \
            const block a = source[0], b = source[1], c = source[2], d = source[3];                \
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
        for (int64_t at = 0; at < bytes; at += STEP / 2) {                                         \
            const floats *const b = (const floats *)(const void *)(one + at);                      \
            const floats *const c = (const floats *)(const void *)(two + at);                      \
            floats *const a = (floats *)(void *)(to + at);                                         \
            for (int i = 0; i < 4; i++) {                                                          \
                a[i] = b[i] + 0.5F * c[i];                                                         \
            }                                                                                      \
        }                                                                                          \
        roof_cpu_keep((uint64_t)(uintptr_t)to);                                                    \
    }

STREAMS(base, )
#if defined(__x86_64__)
STREAMS(avx2, ROOF_TARGET_AVX2)
STREAMS(avx512, ROOF_TARGET_AVX512)
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
