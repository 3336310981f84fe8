// SPDX-License-Identifier: MIT
/* Our own kernels for operators other than products, in 16 bits: rows of activations, and the
 * attention of a decode step. */
#ifndef ROOF_MEASURE_GPU_VECTOR_H
#define ROOF_MEASURE_GPU_VECTOR_H

#include "measure/gpu_driver.h"
#include "operator/operator.h"

enum roof_gpu_vector_kernel {
    ROOF_GPU_NORM,
    ROOF_GPU_ADD,
    ROOF_GPU_GATE,
    ROOF_GPU_ROTATE,
    ROOF_GPU_QUANTIZE,
    ROOF_GPU_ATTEND_64, /* a part of the keys of some queries, for heads of 64 elements */
    ROOF_GPU_ATTEND_128,
    ROOF_GPU_MERGE, /* puts such parts together */
    ROOF_GPU_VECTORS
};

struct roof_gpu_vectors {
    struct gpu_module *module;
    struct gpu_function *function[ROOF_GPU_VECTORS];
};

/* Loads the kernels (PTX or a code object), which may lack those of attention. The caller closes
 * *out with roof_gpu_vectors_close, also after a failure. */
enum roof_status roof_gpu_vectors_open(struct roof_gpu_vectors *out, const struct roof_gpu *gpu,
                                       const char *image, bool attention, struct roof_error *error);
void roof_gpu_vectors_close(struct roof_gpu_vectors *vectors, const struct roof_gpu *gpu);

/* Tells if the kernels that were loaded can run an operator. */
bool roof_gpu_vector_able(const struct roof_gpu_vectors *vectors,
                          const struct roof_workload *workload);

/* Returns the bytes of the data of a call. */
int64_t roof_gpu_vector_bytes(const struct roof_gpu *gpu, const struct roof_workload *workload);

/* Queues an operator whose data is at an address. */
enum roof_status roof_gpu_vector_run(const struct roof_gpu *gpu,
                                     const struct roof_gpu_vectors *vectors,
                                     const struct roof_workload *workload, uint64_t data,
                                     struct roof_error *error);

#endif
