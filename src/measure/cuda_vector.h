// SPDX-License-Identifier: MIT
/* Our own kernels for operators that are no products, in 16 bits: rows of activations, and the
 * attention of a decode step. */
#ifndef ROOF_MEASURE_CUDA_VECTOR_H
#define ROOF_MEASURE_CUDA_VECTOR_H

#include "measure/cuda_driver.h"
#include "operator/operator.h"

enum roof_cuda_vector_kernel {
    ROOF_CUDA_NORM,
    ROOF_CUDA_ADD,
    ROOF_CUDA_GATE,
    ROOF_CUDA_ROTATE,
    ROOF_CUDA_QUANTIZE,
    ROOF_CUDA_ATTEND_64, /* a part of the keys of some queries, for heads of 64 elements */
    ROOF_CUDA_ATTEND_128,
    ROOF_CUDA_MERGE, /* puts such parts together */
    ROOF_CUDA_VECTORS
};

struct roof_cuda_vectors {
    struct cuda_module *module;
    struct cuda_function *function[ROOF_CUDA_VECTORS];
};

/* Loads the kernels; older devices than Turing have none, and the module is NULL. The caller closes
 * *out with roof_cuda_vectors_close, also after a failure. */
enum roof_status roof_cuda_vectors_open(struct roof_cuda_vectors *out, const struct roof_cuda *cuda,
                                        struct roof_error *error);
void roof_cuda_vectors_close(struct roof_cuda_vectors *vectors, const struct roof_cuda *cuda);

/* Tells if the kernels can run an operator. */
bool roof_cuda_vector_able(const struct roof_workload *workload);

/* Returns the bytes of the data of a call. */
int64_t roof_cuda_vector_bytes(const struct roof_cuda *cuda, const struct roof_workload *workload);

/* Queues an operator whose data is at an address. */
enum roof_status roof_cuda_vector_run(const struct roof_cuda *cuda,
                                      const struct roof_cuda_vectors *vectors,
                                      const struct roof_workload *workload, uint64_t data,
                                      struct roof_error *error);

#endif
