// SPDX-License-Identifier: MIT
/* Our own kernels of probes on GPUs: bandwidth, vector units and launch. */
#ifndef ROOF_MEASURE_GPU_KERNELS_H
#define ROOF_MEASURE_GPU_KERNELS_H

#include <stdint.h>

#include "measure/gpu_driver.h"

enum roof_gpu_kernel {
    ROOF_GPU_READ,
    ROOF_GPU_COPY,
    ROOF_GPU_TRIAD,
    ROOF_GPU_MULTIPLY_FP32,
    ROOF_GPU_MULTIPLY_FP16,
    ROOF_GPU_MULTIPLY_FP64,
    ROOF_GPU_NOTHING,
    ROOF_GPU_KERNELS
};

struct roof_gpu_kernels {
    struct gpu_module *module;
    struct gpu_function *function[ROOF_GPU_KERNELS];
};

/* Loads the kernels (PTX or a code object). The caller closes *out with roof_gpu_kernels_close,
 * also after a failure. */
enum roof_status roof_gpu_kernels_open(struct roof_gpu_kernels *out, const struct roof_gpu *gpu,
                                       const char *image, struct roof_error *error);
void roof_gpu_kernels_close(struct roof_gpu_kernels *kernels, const struct roof_gpu *gpu);

/* Returns the FLOPs of a launch, or the bytes that it moves when its buffer has `bytes` bytes:
 * whole vectors of 16 bytes in each of the arrays, which are gone over several times where they are
 * small. */
double roof_gpu_kernel_amount(const struct roof_gpu *gpu, enum roof_gpu_kernel kernel,
                              int64_t bytes);

/* Queues a kernel on a buffer of `bytes` bytes, which holds all of its arrays. */
enum roof_status roof_gpu_launch(const struct roof_gpu *gpu, const struct roof_gpu_kernels *kernels,
                                 enum roof_gpu_kernel kernel, uint64_t buffer, int64_t bytes,
                                 struct roof_error *error);

#endif
