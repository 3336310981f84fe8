// SPDX-License-Identifier: MIT
#include "measure/gpu_kernels.h"

#include "base/base.h"

/* --- launching ----------------------------------------------------------------------------- */

/* Threads of a block, and blocks for each SM: one wave on every GPU, of half of the threads that an
 * SM holds. */
#define THREADS 256
#define BLOCKS 4
#define VECTOR 16 /* bytes */
/* Operations of a thread in a round. */
#define OPERATIONS 64
#define ROUNDS 2048

static const struct {
    const char *name;
    int arrays; /* into which the buffer is cut */
    int flops;  /* of an operation */
} rows[ROOF_GPU_KERNELS] = {
    [ROOF_GPU_READ] = {"roof_read", 1, 0},
    [ROOF_GPU_COPY] = {"roof_copy", 2, 0},
    [ROOF_GPU_TRIAD] = {"roof_triad", 3, 0},
    [ROOF_GPU_MULTIPLY_FP32] = {"roof_multiply_fp32", 0, 2},
    [ROOF_GPU_MULTIPLY_FP16] = {"roof_multiply_fp16", 0, 4}, /* two at a time */
    [ROOF_GPU_MULTIPLY_FP64] = {"roof_multiply_fp64", 0, 2},
    [ROOF_GPU_NOTHING] = {"roof_nothing", 0, 0},
};

enum roof_status roof_gpu_kernels_open(struct roof_gpu_kernels *out, const struct roof_gpu *gpu,
                                       const char *image, struct roof_error *error)
{
    const char *names[ROOF_GPU_KERNELS];
    for (size_t i = 0; i < ROOF_GPU_KERNELS; i++) {
        names[i] = rows[i].name;
    }
    return roof_gpu_load(&out->module, out->function, gpu, image, names, ROOF_GPU_KERNELS, error);
}

void roof_gpu_kernels_close(struct roof_gpu_kernels *kernels, const struct roof_gpu *gpu)
{
    roof_gpu_unload(gpu, kernels->module);
    *kernels = (struct roof_gpu_kernels){.module = NULL};
}

/* The least bytes of a launch, so that the launch itself is a small part of the time. */
#define MOVED_BYTES ((int64_t)1 << 30)

static int64_t vectors_of(enum roof_gpu_kernel kernel, int64_t bytes)
{
    return rows[kernel].arrays == 0 ? 0 : bytes / rows[kernel].arrays / VECTOR;
}

static int64_t passes_of(enum roof_gpu_kernel kernel, int64_t bytes)
{
    return rows[kernel].arrays == 0 || bytes <= 0 ? 1 : (MOVED_BYTES + bytes - 1) / bytes;
}

double roof_gpu_kernel_amount(const struct roof_gpu *gpu, enum roof_gpu_kernel kernel,
                              int64_t bytes)
{
    const double threads = (double)gpu->units * BLOCKS * THREADS;
    return rows[kernel].flops > 0 ? threads * OPERATIONS * ROUNDS * rows[kernel].flops
                                  : (double)(vectors_of(kernel, bytes) * rows[kernel].arrays *
                                             VECTOR * passes_of(kernel, bytes));
}

enum roof_status roof_gpu_launch(const struct roof_gpu *gpu, const struct roof_gpu_kernels *kernels,
                                 enum roof_gpu_kernel kernel, uint64_t buffer, int64_t bytes,
                                 struct roof_error *error)
{
    uint64_t vectors = (uint64_t)vectors_of(kernel, bytes);
    uint64_t second = buffer + vectors * VECTOR;
    uint64_t third = second + vectors * VECTOR;
    uint32_t rounds = ROUNDS;
    uint32_t passes = (uint32_t)passes_of(kernel, bytes);
    void *moving[] = {&buffer, &vectors, &passes, &second, &third};
    void *multiplying[] = {&buffer, &rounds};
    ROOF_GPU_CALL(gpu, launch, kernels->function[kernel], (unsigned)gpu->units * BLOCKS, 1, 1,
                  THREADS, 1, 1, 0, gpu->stream, rows[kernel].flops > 0 ? multiplying : moving,
                  NULL);
    return ROOF_OK;
}
