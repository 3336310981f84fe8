// SPDX-License-Identifier: MIT
/* Our own kernels on NVIDIA GPUs, as PTX, which the driver compiles for the device. */
#ifndef ROOF_MEASURE_CUDA_KERNELS_H
#define ROOF_MEASURE_CUDA_KERNELS_H

#include <stdint.h>

#include "base/text.h"
#include "measure/cuda_driver.h"

enum roof_cuda_kernel {
    ROOF_CUDA_READ,
    ROOF_CUDA_COPY,
    ROOF_CUDA_TRIAD,
    ROOF_CUDA_MULTIPLY_FP32,
    ROOF_CUDA_MULTIPLY_FP16,
    ROOF_CUDA_MULTIPLY_FP64,
    ROOF_CUDA_NOTHING,
    ROOF_CUDA_KERNELS
};

struct roof_cuda_kernels {
    struct cuda_module *module;
    struct cuda_function *function[ROOF_CUDA_KERNELS];
};

/* Loads the kernels. The caller closes *out with roof_cuda_kernels_close, also after a failure. */
enum roof_status roof_cuda_kernels_open(struct roof_cuda_kernels *out, const struct roof_cuda *cuda,
                                        struct roof_error *error);
void roof_cuda_kernels_close(struct roof_cuda_kernels *kernels, const struct roof_cuda *cuda);

/* Returns the FLOPs of a launch, or the bytes that it moves when its buffer has `bytes` bytes:
 * whole vectors of 16 bytes in each of the arrays, which are gone over several times where they are
 * small. */
double roof_cuda_kernel_amount(const struct roof_cuda *cuda, enum roof_cuda_kernel kernel,
                               int64_t bytes);

/* Queues a kernel on a buffer of `bytes` bytes, which holds all of its arrays. */
enum roof_status roof_cuda_launch(const struct roof_cuda *cuda,
                                  const struct roof_cuda_kernels *kernels,
                                  enum roof_cuda_kernel kernel, uint64_t buffer, int64_t bytes,
                                  struct roof_error *error);

/* Writes the text of the kernels. */
void roof_cuda_ptx(struct roof_text *out);

#endif
