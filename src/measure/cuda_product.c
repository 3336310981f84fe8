// SPDX-License-Identifier: MIT
#include "measure/cuda_product.h"

#include <inttypes.h>
#include <math.h>

#include "base/base.h"

/* cudaDataType_t of library_types.h, cublasComputeType_t and cublasOperation_t of cublas_api.h */
enum {
    TYPE_32F = 0,
    TYPE_16F = 2,
    TYPE_8I = 3,
    TYPE_32I = 10,
    TYPE_16BF = 14,
    TYPE_8F_E4M3 = 28,
    TYPE_4F_E2M1 = 33,
    COMPUTE_32F = 68,
    COMPUTE_32I = 72,
    COMPUTE_32F_FAST_TF32 = 77,
    OPERATION_TRANSPOSE = 1
};
/* cublasLtMatmulDescAttributes_t, cublasLtMatmulMatrixScale_t, cublasLtMatrixLayoutAttribute_t,
 * cublasLtMatmulPreferenceAttributes_t */
enum {
    DESC_TRANSA = 3,
    DESC_A_SCALE_POINTER = 17,
    DESC_B_SCALE_POINTER = 18,
    DESC_FAST_ACCUM = 25,
    DESC_A_SCALE_MODE = 31,
    DESC_B_SCALE_MODE = 32,
    SCALE_VEC16_UE4M3 = 1,
    SCALE_VEC32_UE8M0 = 2,
    LAYOUT_BATCH_COUNT = 5,
    LAYOUT_STRIDED_BATCH_OFFSET = 6,
    PREFERENCE_MAX_WORKSPACE_BYTES = 1
};

/* Algorithms that are tried, as the autotuners of frameworks do. */
#define CANDIDATES 8
/* cuBLAS recommends 32 MiB on Hopper and newer GPUs, and less on others. */
#define WORKSPACE_BYTES ((size_t)32 << 20)
/* The best of so many runs of each. */
#define TRIES 3

static const struct type {
    enum roof_precision format;
    int type;
    int out;
    int compute;
    int scale;
    int bits;          /* of an element of the operands */
    int out_bytes;     /* of the output */
    int since;         /* 10 major + minor: the first device that multiplies it */
    int multiple;      /* of which sizes must be */
    int block;         /* elements along k that share a scale of one byte; 0: there are no scales */
    int mode;          /* of the scales */
    unsigned char one; /* the scale of 1 */
} types[] = {
    {ROOF_PRECISION_FP32, TYPE_32F, TYPE_32F, COMPUTE_32F, TYPE_32F, 32, 4, 0, 1, 0, 0, 0},
    {ROOF_PRECISION_TF32, TYPE_32F, TYPE_32F, COMPUTE_32F_FAST_TF32, TYPE_32F, 32, 4, 80, 1, 0, 0,
     0},
    {ROOF_PRECISION_BF16, TYPE_16BF, TYPE_16BF, COMPUTE_32F, TYPE_32F, 16, 2, 80, 1, 0, 0, 0},
    {ROOF_PRECISION_FP16, TYPE_16F, TYPE_16F, COMPUTE_32F, TYPE_32F, 16, 2, 70, 1, 0, 0, 0},
    {ROOF_PRECISION_FP8_E4M3, TYPE_8F_E4M3, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 89, 16, 0, 0,
     0},
    {ROOF_PRECISION_INT8, TYPE_8I, TYPE_32I, COMPUTE_32I, TYPE_32I, 8, 4, 75, 4, 0, 0, 0},
    {ROOF_PRECISION_MXFP8_E4M3, TYPE_8F_E4M3, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 100, 32, 32,
     SCALE_VEC32_UE8M0, 0x7f},
    {ROOF_PRECISION_NVFP4, TYPE_4F_E2M1, TYPE_16BF, COMPUTE_32F, TYPE_32F, 4, 2, 100, 32, 16,
     SCALE_VEC16_UE4M3, 0x38},
};

/* Scales stand in tiles of 128 rows and 4 blocks ("1D block scaling" in the documentation of
 * cuBLAS), and begin at a multiple of 256 bytes behind the elements. */
#define TILE_ROWS 128
#define TILE_BLOCKS 4
#define ALIGNED 256

static const struct type *type_of(enum roof_precision format)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (types[i].format == format) {
            return &types[i];
        }
    }
    return NULL;
}

bool roof_cuda_product_able(const struct roof_cuda *cuda, const struct roof_cuda_shape *shape)
{
    const struct type *const type = type_of(shape->format);
    return type != NULL && 10 * cuda->major + cuda->minor >= type->since &&
           shape->n % type->multiple == 0 && shape->k % type->multiple == 0 &&
           (type->block == 0 || shape->batch == 1);
}

static int64_t rounded(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

struct roof_cuda_operand roof_cuda_operand(const struct roof_cuda_shape *shape, int64_t rows)
{
    const struct type *const type = type_of(shape->format);
    struct roof_cuda_operand out = {
        .scales_at = rounded(shape->batch * rows * shape->k * type->bits / 8, ALIGNED),
        .one = type->one};
    out.scales = type->block == 0
                     ? 0
                     : rounded(rows, TILE_ROWS) *
                           rounded((shape->k + type->block - 1) / type->block, TILE_BLOCKS);
    out.bytes = out.scales_at + rounded(out.scales, ALIGNED);
    return out;
}

int64_t roof_cuda_out_bytes(enum roof_precision format)
{
    const struct type *const type = type_of(format);
    return type == NULL ? 0 : type->out_bytes;
}

/* --- the library --------------------------------------------------------------------------- */

static const struct roof_symbol symbols[] = {
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtCreate),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtDestroy),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtGetVersion),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtGetStatusString),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmulDescCreate),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmulDescDestroy),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmulDescSetAttribute),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatrixLayoutCreate),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatrixLayoutDestroy),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatrixLayoutSetAttribute),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmulPreferenceCreate),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmulPreferenceDestroy),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmulPreferenceSetAttribute),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmulAlgoGetHeuristic),
    ROOF_SYMBOL(roof_cublaslt_calls, cublasLtMatmul),
};

static enum roof_status check(const struct roof_cublaslt *library, int status, const char *call,
                              struct roof_error *error)
{
    return status == 0 ? ROOF_OK
                       : roof_error_set(error, ROOF_IO, "%s: %s", call,
                                        library->call.cublasLtGetStatusString(status));
}

#define LT(library_, call_, ...)                                                                   \
    TRY(check((library_), (library_)->call.call_(__VA_ARGS__), #call_, error))

enum roof_status roof_cublaslt_open(struct roof_cublaslt *out, struct roof_error *error)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                        "libcublasLt.so.11", NULL};
    *out = (struct roof_cublaslt){.handle = NULL};
    TRY(roof_library_open(&out->library, names, "the CUDA toolkit", error));
    TRY(roof_library_find(&out->library, &out->call, symbols, COUNT(symbols), error));
    return check(out, out->call.cublasLtCreate(&out->handle), "cublasLtCreate", error);
}

void roof_cublaslt_close(struct roof_cublaslt *library)
{
    if (library->handle != NULL) {
        (void)library->call.cublasLtDestroy(library->handle);
    }
    roof_library_close(&library->library);
    *library = (struct roof_cublaslt){.handle = NULL};
}

/* --- a product ----------------------------------------------------------------------------- */

/* Makes the layout of a matrix that is stored row by row: cuBLAS sees its transpose, column by
 * column. */
static enum roof_status make_layout(struct cublaslt_layout **out,
                                    const struct roof_cuda_product *product, int type, int64_t rows,
                                    int64_t columns, struct roof_error *error)
{
    const struct roof_cublaslt *const library = product->library;
    const int32_t batch = (int32_t)product->shape.batch;
    const int64_t stride = rows * columns;
    LT(library, cublasLtMatrixLayoutCreate, out, type, (uint64_t)columns, (uint64_t)rows, columns);
    if (batch > 1) {
        LT(library, cublasLtMatrixLayoutSetAttribute, *out, LAYOUT_BATCH_COUNT, &batch,
           sizeof batch);
        LT(library, cublasLtMatrixLayoutSetAttribute, *out, LAYOUT_STRIDED_BATCH_OFFSET, &stride,
           sizeof stride);
    }
    return ROOF_OK;
}

/* Tells the library where the scales of the operands are. */
static enum roof_status point_scales(const struct roof_cuda_product *product,
                                     struct roof_error *error)
{
    const struct roof_cublaslt *const library = product->library;
    const struct roof_cuda_shape *const s = &product->shape;
    const uint64_t weights = product->weights_at + (uint64_t)roof_cuda_operand(s, s->n).scales_at;
    const uint64_t inputs = product->inputs_at + (uint64_t)roof_cuda_operand(s, s->m).scales_at;
    LT(library, cublasLtMatmulDescSetAttribute, product->operation, DESC_A_SCALE_POINTER, &weights,
       sizeof weights);
    LT(library, cublasLtMatmulDescSetAttribute, product->operation, DESC_B_SCALE_POINTER, &inputs,
       sizeof inputs);
    return ROOF_OK;
}

static enum roof_status describe_scales(const struct roof_cuda_product *product,
                                        struct roof_error *error)
{
    const struct roof_cublaslt *const library = product->library;
    const int32_t mode = type_of(product->shape.format)->mode;
    LT(library, cublasLtMatmulDescSetAttribute, product->operation, DESC_A_SCALE_MODE, &mode,
       sizeof mode);
    LT(library, cublasLtMatmulDescSetAttribute, product->operation, DESC_B_SCALE_MODE, &mode,
       sizeof mode);
    return point_scales(product, error);
}

/* Describes the product. out = inputs x weights^T by rows is out^T = weights x inputs^T by columns;
 * the weights, whose columns run along k, are transposed, which is what fp8 asks for. */
static enum roof_status describe(struct roof_cuda_product *product, struct roof_error *error)
{
    const struct roof_cublaslt *const library = product->library;
    const struct roof_cuda_shape *const s = &product->shape;
    const struct type *const type = type_of(s->format);
    const int32_t transpose = OPERATION_TRANSPOSE;
    const int8_t fast = 1;
    LT(library, cublasLtMatmulDescCreate, &product->operation, type->compute, type->scale);
    LT(library, cublasLtMatmulDescSetAttribute, product->operation, DESC_TRANSA, &transpose,
       sizeof transpose);
    if (s->format == ROOF_PRECISION_FP8_E4M3) { /* as serving engines set it */
        LT(library, cublasLtMatmulDescSetAttribute, product->operation, DESC_FAST_ACCUM, &fast,
           sizeof fast);
    }
    TRY(type->block > 0 ? describe_scales(product, error) : ROOF_OK);
    TRY(make_layout(&product->weights, product, type->type, s->n, s->k, error));
    TRY(make_layout(&product->inputs, product, type->type, s->m, s->k, error));
    return make_layout(&product->out, product, type->out, s->m, s->n, error);
}

enum roof_status roof_cuda_product_run(const struct roof_cuda_product *product,
                                       struct roof_error *error)
{
    const struct roof_cublaslt *const library = product->library;
    const float one = 1;
    const float zero = 0;
    const int32_t whole_one = 1;
    const int32_t whole_zero = 0;
    const bool whole = product->shape.format == ROOF_PRECISION_INT8;
    TRY(type_of(product->shape.format)->block > 0 ? point_scales(product, error) : ROOF_OK);
    LT(library, cublasLtMatmul, library->handle, product->operation,
       whole ? (const void *)&whole_one : &one, product->weights_at, product->weights,
       product->inputs_at, product->inputs, whole ? (const void *)&whole_zero : &zero,
       product->out_at, product->out, product->out_at, product->out, &product->best.algorithm,
       product->workspace, product->best.workspace_bytes, product->cuda->stream);
    return ROOF_OK;
}

static enum roof_status run(void *context, struct roof_error *error)
{
    return roof_cuda_product_run(context, error);
}

/* Asks for candidates; a preference is needed for the question alone. */
static enum roof_status propose(struct cublaslt_candidate *out, int *found,
                                const struct roof_cuda_product *product,
                                struct cublaslt_preference *preference, struct roof_error *error)
{
    const struct roof_cublaslt *const library = product->library;
    const uint64_t bytes = WORKSPACE_BYTES;
    LT(library, cublasLtMatmulPreferenceSetAttribute, preference, PREFERENCE_MAX_WORKSPACE_BYTES,
       &bytes, sizeof bytes);
    LT(library, cublasLtMatmulAlgoGetHeuristic, library->handle, product->operation,
       product->weights, product->inputs, product->out, product->out, preference, CANDIDATES, out,
       found);
    return *found > 0 ? ROOF_OK
                      : roof_error_set(error, ROOF_IO,
                                       "cublasLtMatmulAlgoGetHeuristic: no kernel for m=%" PRId64
                                       " n=%" PRId64 " k=%" PRId64,
                                       product->shape.m, product->shape.n, product->shape.k);
}

/* Finds the best time of a product with the candidate that it has. */
static enum roof_status time_candidate(double *least_s, struct roof_cuda_product *product,
                                       struct roof_error *error)
{
    struct cuda_graph_run *graph = NULL;
    *least_s = HUGE_VAL;
    TRY(roof_cuda_run(product->cuda, run, product, error));
    enum roof_status status = roof_cuda_capture(&graph, product->cuda, run, product, error);
    for (int i = 0; i < TRIES && status == ROOF_OK; i++) {
        double seconds = HUGE_VAL;
        status = roof_cuda_time(&seconds, product->cuda, graph, error);
        *least_s = fmin(*least_s, seconds);
    }
    roof_cuda_release(product->cuda, &graph);
    return status;
}

/* Keeps the candidate whose best run is the fastest; one that cannot run is passed over. */
static enum roof_status choose(struct roof_cuda_product *product,
                               const struct cublaslt_candidate *candidates, int count,
                               struct roof_error *error)
{
    double fastest = HUGE_VAL;
    struct cublaslt_candidate best = {.status = 0};
    struct roof_error failure = {.status = ROOF_OK};
    enum roof_status status = ROOF_IO;
    for (int i = 0; i < count; i++) {
        double seconds = HUGE_VAL;
        product->best = candidates[i];
        status = time_candidate(&seconds, product, &failure);
        if (status == ROOF_OK && seconds < fastest) {
            fastest = seconds;
            best = candidates[i];
        }
    }
    product->best = best;
    if (fastest < HUGE_VAL) {
        return ROOF_OK;
    }
    if (error != NULL) {
        *error = failure;
    }
    return status;
}

enum roof_status roof_cuda_product_begin(struct roof_cuda_product *product,
                                         const struct roof_cublaslt *library,
                                         struct roof_cuda *cuda,
                                         const struct roof_cuda_shape *shape,
                                         struct roof_error *error)
{
    struct cublaslt_candidate candidates[CANDIDATES];
    struct cublaslt_preference *preference = NULL;
    int found = 0;
    product->library = library;
    product->cuda = cuda;
    product->shape = *shape;
    TRY(describe(product, error));
    TRY(roof_cuda_allocate(&product->workspace, cuda, WORKSPACE_BYTES, error));
    LT(library, cublasLtMatmulPreferenceCreate, &preference);
    const enum roof_status status = propose(candidates, &found, product, preference, error);
    (void)library->call.cublasLtMatmulPreferenceDestroy(preference);
    TRY(status);
    return choose(product, candidates, found, error);
}

void roof_cuda_product_end(struct roof_cuda_product *product)
{
    struct cublaslt_layout *const layouts[] = {product->weights, product->inputs, product->out};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        if (layouts[i] != NULL) {
            (void)product->library->call.cublasLtMatrixLayoutDestroy(layouts[i]);
        }
    }
    if (product->operation != NULL) {
        (void)product->library->call.cublasLtMatmulDescDestroy(product->operation);
    }
    if (product->workspace != 0) {
        (void)product->cuda->call.cuMemFree_v2(product->workspace);
    }
    *product = (struct roof_cuda_product){.library = NULL};
}
