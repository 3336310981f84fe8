// SPDX-License-Identifier: MIT
/* Products on NVIDIA GPUs by cuBLASLt: the kernels that its heuristics propose, the fastest kept.
 */
#ifndef ROOF_MEASURE_CUDA_PRODUCT_H
#define ROOF_MEASURE_CUDA_PRODUCT_H

#include <stdbool.h>

#include "catalog/precision.h"
#include "measure/cuda_driver.h"

/* Opaque: cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t and
 * cublasLtMatmulPreference_t point to them. */
struct cublaslt;
struct cublaslt_operation;
struct cublaslt_layout;
struct cublaslt_preference;

/* cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t of cublasLt.h */
struct cublaslt_algorithm {
    uint64_t data[8];
};
struct cublaslt_candidate {
    struct cublaslt_algorithm algorithm;
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};

/* The functions, by the names in the cuBLAS documentation (docs.nvidia.com/cuda/cublas). Each but
 * the version returns a cublasStatus_t, of which 0 is success. */
struct roof_cublaslt_calls {
    int (*cublasLtCreate)(struct cublaslt **handle);
    int (*cublasLtDestroy)(struct cublaslt *handle);
    size_t (*cublasLtGetVersion)(void);
    const char *(*cublasLtGetStatusString)(int status);
    int (*cublasLtMatmulDescCreate)(struct cublaslt_operation **out, int compute, int scale);
    int (*cublasLtMatmulDescDestroy)(struct cublaslt_operation *operation);
    int (*cublasLtMatmulDescSetAttribute)(struct cublaslt_operation *operation, int attribute,
                                          const void *value, size_t size);
    int (*cublasLtMatrixLayoutCreate)(struct cublaslt_layout **out, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading);
    int (*cublasLtMatrixLayoutDestroy)(struct cublaslt_layout *layout);
    int (*cublasLtMatrixLayoutSetAttribute)(struct cublaslt_layout *layout, int attribute,
                                            const void *value, size_t size);
    int (*cublasLtMatmulPreferenceCreate)(struct cublaslt_preference **out);
    int (*cublasLtMatmulPreferenceDestroy)(struct cublaslt_preference *preference);
    int (*cublasLtMatmulPreferenceSetAttribute)(struct cublaslt_preference *preference,
                                                int attribute, const void *value, size_t size);
    int (*cublasLtMatmulAlgoGetHeuristic)(struct cublaslt *handle,
                                          struct cublaslt_operation *operation,
                                          struct cublaslt_layout *a, struct cublaslt_layout *b,
                                          struct cublaslt_layout *c, struct cublaslt_layout *d,
                                          struct cublaslt_preference *preference, int wanted,
                                          struct cublaslt_candidate *out, int *found);
    int (*cublasLtMatmul)(struct cublaslt *handle, struct cublaslt_operation *operation,
                          const void *alpha, uint64_t a, struct cublaslt_layout *a_layout,
                          uint64_t b, struct cublaslt_layout *b_layout, const void *beta,
                          uint64_t c, struct cublaslt_layout *c_layout, uint64_t d,
                          struct cublaslt_layout *d_layout,
                          const struct cublaslt_algorithm *algorithm, uint64_t workspace,
                          size_t workspace_bytes, struct cuda_stream *stream);
};

struct roof_cublaslt {
    struct roof_library library;
    struct roof_cublaslt_calls call;
    struct cublaslt *handle;
};

/* Opens the library. ROOF_IO says what is missing; the caller closes *out, also then. */
enum roof_status roof_cublaslt_open(struct roof_cublaslt *out, struct roof_error *error);
void roof_cublaslt_close(struct roof_cublaslt *library);

/* The sizes and format of a product: out[m, n] = inputs[m, k] x weights[n, k], batch times. */
struct roof_cuda_shape {
    enum roof_precision format; /* of inputs and weights */
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
};

/* An operand has its elements first, and the scales of its blocks behind them. */
struct roof_cuda_operand {
    int64_t scales_at; /* bytes from the first element */
    int64_t scales;    /* bytes of the scales; 0: there are none */
    int64_t bytes;     /* of all */
    unsigned char one; /* the scale of 1 */
};
struct roof_cuda_operand roof_cuda_operand(const struct roof_cuda_shape *shape, int64_t rows);

/* Tells if the device can multiply a format by this backend; fp8 needs sizes that are multiples of
 * 16, int8 of 4, formats with blocks of 32. */
bool roof_cuda_product_able(const struct roof_cuda *cuda, const struct roof_cuda_shape *shape);
/* The bytes of an element of the output. */
int64_t roof_cuda_out_bytes(enum roof_precision format);

/* A product that is prepared; zeroed, it is not. */
struct roof_cuda_product {
    const struct roof_cublaslt *library;
    struct roof_cuda *cuda;
    struct roof_cuda_shape shape;
    struct cublaslt_operation *operation;
    struct cublaslt_layout *weights;
    struct cublaslt_layout *inputs;
    struct cublaslt_layout *out;
    struct cublaslt_candidate best;
    uint64_t workspace; /* memory of the device */
    /* The next run finds the operands here. */
    uint64_t weights_at;
    uint64_t inputs_at;
    uint64_t out_at;
};

/* Prepares a product whose operands are where the last three members say, and finds the fastest
 * algorithm. The caller closes *product, also after a failure. */
enum roof_status roof_cuda_product_begin(struct roof_cuda_product *product,
                                         const struct roof_cublaslt *library,
                                         struct roof_cuda *cuda,
                                         const struct roof_cuda_shape *shape,
                                         struct roof_error *error);
/* Queues the product. */
enum roof_status roof_cuda_product_run(const struct roof_cuda_product *product,
                                       struct roof_error *error);
void roof_cuda_product_end(struct roof_cuda_product *product);

#endif
