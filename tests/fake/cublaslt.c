// SPDX-License-Identifier: MIT
/*
 * A libcublasLt.so.13 whose kernels run on the planted GPU of cuda.c: tiles of 128 rows of inputs
 * and 256 of weights, at FAKE_TENSOR (900e12) FLOP/s for 16 bits, twice that for 8, half of it for
 * tf32, four times for 4 bits, and at FAKE_FP32 for fp32. Scales of blocks are read, too. Of the
 * eight kernels that it proposes the third is the fastest, and the sixth does not run.
 */
#include <stdint.h>

#include "fake.h"

#define PROPOSED 8

/* The numbers of the library. */
#ifdef HIP
#define DRIVER "libamdhip64.so.7"
#define CREATE "hipblasLtCreate"
#define PROPOSE "hipblasLtMatmulAlgoGetHeuristic"
#define MATMUL "hipblasLtMatmul"
enum { TRANSPOSE_A = 0, A_SCALES = 5, A_MODE = 31, BATCH = 0, STRIDE = 1 };
enum { OPERATION_TRANSPOSE = 112, TF32 = 6, NOT_SUPPORTED = 7, INVALID_VALUE = 3 };
#define WORDS 3
#else
#define DRIVER "libcuda.so.1"
#define CREATE "cublasLtCreate"
#define PROPOSE "cublasLtMatmulAlgoGetHeuristic"
#define MATMUL "cublasLtMatmul"
enum { TRANSPOSE_A = 3, A_SCALES = 17, A_MODE = 31, BATCH = 5, STRIDE = 6 };
enum { OPERATION_TRANSPOSE = 1, TF32 = 77, NOT_SUPPORTED = 15, INVALID_VALUE = 7 };
#define WORDS 8
#endif
#define FP8(type_) ((type_) == 28 || (type_) == 1000)

struct operation {
    int compute;
    int transposed;
    int mode; /* of scales: 1 for blocks of 16, 2 for blocks of 32 */
    uint64_t scales[2];
};

struct layout {
    int type;
    uint64_t rows;
    uint64_t columns;
    int64_t stride;
    int32_t batch;
};

struct candidate {
    uint64_t algorithm[WORDS];
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
};

static long calls;
static const double slower[PROPOSED] = {1.3, 1.2, 1, 1.1, 1.4, 0.5, 1.6, 1.05};

/* Counts a thing that is handed out (1) or taken back (-1) with those of the driver. */
static void hold(long more)
{
    static void (*driver_hold)(long);
    if (driver_hold == NULL) {
        fake_find(&driver_hold, DRIVER, "fake_hold");
    }
    driver_hold(more);
}

#ifdef HIP
CALL(hipblasLtGetVersion, void *handle, int *version)
{
    (void)handle;
    *version = 100000;
    return 0;
}
#else
size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
    return 130000;
}

const char *cublasLtGetStatusString(int status);
const char *cublasLtGetStatusString(int status)
{
    return status == 15 ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INTERNAL_ERROR";
}
#endif

CALL(cublasLtCreate, void **handle)
{
    static int made;
    calls = 0;
    const int failed = fake_failure(CREATE, 0, 0);
    *handle = failed == 0 ? &made : NULL;
    hold(failed == 0 ? 1 : 0);
    return failed;
}

CALL(cublasLtDestroy, void *handle)
{
    (void)handle;
    hold(-1);
    return fake_failure(NAME(cublasLtDestroy), 0, 0);
}

CALL(cublasLtMatmulDescCreate, struct operation **out, int compute, int scale)
{
    FAKE_MAY_FAIL(NAME(cublasLtMatmulDescCreate));
    (void)scale;
    *out = calloc(1, sizeof **out);
    (*out)->compute = compute;
    hold(1);
    return 0;
}

CALL(cublasLtMatmulDescDestroy, struct operation *operation)
{
    free(operation);
    hold(-1);
    return fake_failure(NAME(cublasLtMatmulDescDestroy), 0, 0);
}

CALL(cublasLtMatmulDescSetAttribute, struct operation *operation, int attribute, const void *value,
     size_t size)
{
    FAKE_MAY_FAIL(NAME(cublasLtMatmulDescSetAttribute));
    if (attribute == TRANSPOSE_A && size == 4) {
        operation->transposed = *(const int32_t *)value;
    } else if ((attribute == A_MODE || attribute == A_MODE + 1) && size == 4) {
        operation->mode = *(const int32_t *)value;
    } else if ((attribute == A_SCALES || attribute == A_SCALES + 1) && size == 8) {
        operation->scales[attribute - A_SCALES] = *(const uint64_t *)value;
    }
    return 0;
}

CALL(cublasLtMatrixLayoutCreate, struct layout **out, int type, uint64_t rows, uint64_t columns,
     int64_t leading)
{
    FAKE_MAY_FAIL(NAME(cublasLtMatrixLayoutCreate));
    *out = calloc(1, sizeof **out);
    hold(1);
    **out = (struct layout){.type = type, .rows = rows, .columns = columns, .batch = 1};
    return leading == (int64_t)rows ? 0 : INVALID_VALUE;
}

CALL(cublasLtMatrixLayoutDestroy, struct layout *layout)
{
    free(layout);
    hold(-1);
    return fake_failure(NAME(cublasLtMatrixLayoutDestroy), 0, 0);
}

CALL(cublasLtMatrixLayoutSetAttribute, struct layout *layout, int attribute, const void *value,
     size_t size)
{
    FAKE_MAY_FAIL(NAME(cublasLtMatrixLayoutSetAttribute));
    if (attribute == BATCH && size == 4) {
        layout->batch = *(const int32_t *)value;
    } else if (attribute == STRIDE && size == 8) {
        layout->stride = *(const int64_t *)value;
    }
    return 0;
}

CALL(cublasLtMatmulPreferenceCreate, void **out)
{
    FAKE_MAY_FAIL(NAME(cublasLtMatmulPreferenceCreate));
    *out = calloc(1, 1);
    hold(1);
    return 0;
}

CALL(cublasLtMatmulPreferenceDestroy, void *preference)
{
    free(preference);
    hold(-1);
    return fake_failure(NAME(cublasLtMatmulPreferenceDestroy), 0, 0);
}

CALL(cublasLtMatmulPreferenceSetAttribute, void *preference, int attribute, const void *value,
     size_t size)
{
    FAKE_MAY_FAIL(NAME(cublasLtMatmulPreferenceSetAttribute));
    (void)preference;
    (void)value;
    return attribute == 1 && size == 8 ? 0 : INVALID_VALUE;
}

CALL(cublasLtMatmulAlgoGetHeuristic, void *handle, struct operation *operation, struct layout *a,
     struct layout *b, struct layout *c, struct layout *d, void *preference, int wanted,
     struct candidate *out, int *found)
{
    (void)handle;
    (void)preference;
    *found = wanted < PROPOSED ? wanted : PROPOSED;
    for (int i = 0; i < *found; i++) {
        out[i] = (struct candidate){.algorithm = {(uint64_t)i}};
    }
    const int fits = operation->transposed == OPERATION_TRANSPOSE && a->rows == b->rows && c == d &&
                     d->rows == a->columns && d->columns == b->columns && a->batch == b->batch;
    const int failed = fake_failure(PROPOSE, 0, 0);
    return failed != 0 ? failed : fits ? 0 : INVALID_VALUE;
}

static double bytes_of(const struct layout *layout)
{
    const double width = layout->type == 33                        ? 0.5
                         : FP8(layout->type) || layout->type == 3  ? 1
                         : layout->type == 2 || layout->type == 14 ? 2
                                                                   : 4;
    return width * (double)layout->rows * (double)layout->columns * layout->batch;
}

/* Returns the bytes of the scales of an operand. */
static double scales_of(const struct operation *operation, const struct layout *layout)
{
    const double elements = (double)layout->rows * (double)layout->columns;
    return operation->mode == 1 ? elements / 16 : operation->mode == 2 ? elements / 32 : 0;
}

static double tiles(uint64_t size, uint64_t tile)
{
    return (double)((size + tile - 1) / tile * tile);
}

CALL(cublasLtMatmul, void *handle, struct operation *operation, const void *alpha, uint64_t a,
     struct layout *a_layout, uint64_t b, struct layout *b_layout, const void *beta, uint64_t c,
     struct layout *c_layout, uint64_t d, struct layout *d_layout, const uint64_t *algorithm,
     uint64_t workspace, size_t workspace_bytes, void *stream)
{
    static int (*queue)(int, uint64_t, double, double, double, double, double);
    const double tensor = fake_item("FAKE_TENSOR", 0, 900e12);
    const double peak = a_layout->type == 33                         ? 4 * tensor
                        : FP8(a_layout->type) || a_layout->type == 3 ? 2 * tensor
                        : operation->compute == TF32                 ? tensor / 2
                        : a_layout->type == 0 ? fake_item("FAKE_FP32", 0, 60e12)
                                              : tensor;
    (void)handle;
    (void)alpha;
    (void)beta;
    (void)c_layout;
    (void)workspace;
    (void)workspace_bytes;
    (void)stream;
    if (queue == NULL) {
        fake_find(&queue, DRIVER, "fake_queue");
    }
    const int failed = fake_failure(MATMUL, calls++, 0);
    /* Scales stand behind their operands. */
    const int scaled =
        operation->mode == 0 ||
        (operation->scales[0] >= a + (uint64_t)bytes_of(a_layout) && operation->scales[0] < b &&
         operation->scales[1] >= b + (uint64_t)bytes_of(b_layout) && operation->scales[1] < d);
    const int apart =
        b >= a + (uint64_t)bytes_of(a_layout) && d >= b + (uint64_t)bytes_of(b_layout);
    if (failed != 0 || *algorithm == 5 || !apart || c != d || !scaled) {
        return failed != 0 ? failed : NOT_SUPPORTED;
    }
    return queue((operation->compute == TF32 ? 29
                  : operation->mode == 2     ? 30
                  : a_layout->type == 33     ? 31
                  : FP8(a_layout->type)      ? 28
                                             : a_layout->type) *
                         PROPOSED +
                     (int)*algorithm,
                 a,
                 bytes_of(a_layout) + bytes_of(b_layout) + bytes_of(d_layout) +
                     scales_of(operation, a_layout) + scales_of(operation, b_layout),
                 2 * tiles(a_layout->columns, 256) * tiles(b_layout->columns, 128) *
                     (double)a_layout->rows * a_layout->batch,
                 2 * (double)a_layout->columns * (double)b_layout->columns *
                     (double)a_layout->rows * a_layout->batch,
                 peak, slower[*algorithm]);
}
