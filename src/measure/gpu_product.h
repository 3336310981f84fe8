// SPDX-License-Identifier: MIT
/* Products on GPUs by the library of the vendor (cuBLASLt, hipBLASLt): the kernels that its
 * heuristics propose, the fastest kept. */
#ifndef ROOF_MEASURE_GPU_PRODUCT_H
#define ROOF_MEASURE_GPU_PRODUCT_H

#include <stdbool.h>

#include "catalog/precision.h"
#include "measure/gpu_driver.h"

/* Opaque: the types of a handle, an operation, a layout and a preference point to them. */
struct gpu_products_handle;
struct gpu_operation;
struct gpu_layout;
struct gpu_preference;

/* A kernel that the library proposes, with its algorithm at the front. The libraries have structs
 * of different sizes, of which this holds the largest. */
#define ROOF_GPU_CANDIDATE_BYTES 96
struct gpu_candidate {
    uint64_t data[ROOF_GPU_CANDIDATE_BYTES / sizeof(uint64_t)];
};

/* The functions of a library, which each table names. Each but the version and the names returns a
 * status, of which 0 is success. A library has either `version` or `version_of`. */
struct roof_gpu_product_calls {
    int (*create)(struct gpu_products_handle **handle);
    int (*destroy)(struct gpu_products_handle *handle);
    size_t (*version)(void);
    int (*version_of)(struct gpu_products_handle *handle, int *version);
    const char *(*status_name)(int status);
    int (*operation_create)(struct gpu_operation **out, int compute, int scale);
    int (*operation_destroy)(struct gpu_operation *operation);
    int (*operation_set)(struct gpu_operation *operation, int attribute, const void *value,
                         size_t size);
    int (*layout_create)(struct gpu_layout **out, int type, uint64_t rows, uint64_t columns,
                         int64_t leading);
    int (*layout_destroy)(struct gpu_layout *layout);
    int (*layout_set)(struct gpu_layout *layout, int attribute, const void *value, size_t size);
    int (*preference_create)(struct gpu_preference **out);
    int (*preference_destroy)(struct gpu_preference *preference);
    int (*preference_set)(struct gpu_preference *preference, int attribute, const void *value,
                          size_t size);
    int (*propose)(struct gpu_products_handle *handle, struct gpu_operation *operation,
                   struct gpu_layout *a, struct gpu_layout *b, struct gpu_layout *c,
                   struct gpu_layout *d, struct gpu_preference *preference, int wanted, void *out,
                   int *found);
    int (*multiply)(struct gpu_products_handle *handle, struct gpu_operation *operation,
                    const void *alpha, uint64_t a, struct gpu_layout *a_layout, uint64_t b,
                    struct gpu_layout *b_layout, const void *beta, uint64_t c,
                    struct gpu_layout *c_layout, uint64_t d, struct gpu_layout *d_layout,
                    const void *algorithm, uint64_t workspace, size_t workspace_bytes,
                    struct gpu_stream *stream);
};

/* A format that the library multiplies, on devices of some capabilities (10 major + minor). */
struct roof_gpu_product_type {
    enum roof_precision format;
    int type; /* the numbers of the library for the operands, the output, and so on */
    int out;
    int compute;
    int scale;
    int bits;          /* of an element of the operands */
    int out_bytes;     /* of the output */
    int since;         /* the first device that multiplies it */
    int before;        /* devices from this on do not; 0: all do */
    int multiple;      /* of which sizes must be */
    int block;         /* elements along k that share a scale of one byte; 0: there are no scales */
    int mode;          /* of the scales */
    unsigned char one; /* the scale of 1 */
};

/* Attributes of operations, layouts and preferences that a library has numbers for. */
enum roof_gpu_product_attribute {
    ROOF_GPU_TRANSPOSE_A,
    ROOF_GPU_A_SCALES, /* where they are */
    ROOF_GPU_B_SCALES,
    ROOF_GPU_A_SCALE_MODE,
    ROOF_GPU_B_SCALE_MODE,
    ROOF_GPU_FAST_SUM, /* of fp8; -1: there is none */
    ROOF_GPU_BATCH,
    ROOF_GPU_BATCH_STRIDE,
    ROOF_GPU_WORKSPACE,
    ROOF_GPU_PRODUCT_ATTRIBUTES
};

/* The library of a vendor. */
struct roof_gpu_product_api {
    const char *comes_with;
    const char *const *libraries; /* its names, which end with NULL */
    const struct roof_symbol *symbol;
    size_t symbols;
    const char *(*status_name)(int status); /* where the library has no such function */
    int attribute[ROOF_GPU_PRODUCT_ATTRIBUTES];
    int transpose;         /* the operation */
    size_t candidate_size; /* bytes of a proposed kernel */
    size_t workspace_at;   /* where it has the bytes of memory that it needs, a size_t */
    const struct roof_gpu_product_type *type;
    size_t types;
};

struct roof_gpu_products {
    const struct roof_gpu_product_api *api;
    struct roof_library library;
    struct roof_gpu_product_calls call;
    struct gpu_products_handle *handle;
};

/* Opens the library. ROOF_IO says what is missing; the caller closes *out, also then. */
enum roof_status roof_gpu_products_open(struct roof_gpu_products *out,
                                        const struct roof_gpu_product_api *api,
                                        struct roof_error *error);
void roof_gpu_products_close(struct roof_gpu_products *library);
/* Returns the version of an open library, as it counts. */
size_t roof_gpu_products_version(const struct roof_gpu_products *library);

/* The sizes and format of a product: out[m, n] = inputs[m, k] x weights[n, k], batch times. */
struct roof_gpu_shape {
    enum roof_precision format; /* of inputs and weights */
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
};

/* An operand has its elements first, and the scales of its blocks behind them. */
struct roof_gpu_operand {
    int64_t scales_at; /* bytes from the first element */
    int64_t scales;    /* bytes of the scales; 0: there are none */
    int64_t bytes;     /* of all */
    unsigned char one; /* the scale of 1 */
};
struct roof_gpu_operand roof_gpu_operand(const struct roof_gpu_product_type *type,
                                         const struct roof_gpu_shape *shape, int64_t rows);

/* Finds how the library multiplies a format on a device; NULL: it does not. */
const struct roof_gpu_product_type *roof_gpu_product_type(const struct roof_gpu_product_api *api,
                                                          const struct roof_gpu *gpu,
                                                          enum roof_precision format);
/* Tells if the device can multiply a shape: fp8 needs sizes that are multiples of 16, int8 of 4,
 * formats with blocks of 32. */
bool roof_gpu_product_able(const struct roof_gpu_product_api *api, const struct roof_gpu *gpu,
                           const struct roof_gpu_shape *shape);

/* A product that is prepared; zeroed, it is not. */
struct roof_gpu_product {
    const struct roof_gpu_products *library;
    struct roof_gpu *gpu;
    const struct roof_gpu_product_type *type;
    struct roof_gpu_shape shape;
    struct gpu_operation *operation;
    struct gpu_layout *weights;
    struct gpu_layout *inputs;
    struct gpu_layout *out;
    struct gpu_candidate best;
    uint64_t workspace; /* memory of the device */
    /* The next run finds the operands here. */
    uint64_t weights_at;
    uint64_t inputs_at;
    uint64_t out_at;
};

/* Prepares a product whose operands are where the last three members say, and finds the fastest
 * algorithm. The caller closes *product, also after a failure. */
enum roof_status roof_gpu_product_begin(struct roof_gpu_product *product,
                                        const struct roof_gpu_products *library,
                                        struct roof_gpu *gpu, const struct roof_gpu_shape *shape,
                                        struct roof_error *error);
/* Queues the product. */
enum roof_status roof_gpu_product_run(const struct roof_gpu_product *product,
                                      struct roof_error *error);
void roof_gpu_product_end(struct roof_gpu_product *product);

#endif
