// SPDX-License-Identifier: MIT
#include "measure/gpu_product.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

/* Algorithms that are tried, as the autotuners of frameworks do. */
#define CANDIDATES 8
/* cuBLAS recommends 32 MiB on Hopper and newer GPUs, and less on others. */
#define WORKSPACE_BYTES ((size_t)32 << 20)
/* The best of so many runs of each. */
#define TRIES 3

/* Scales are stored in tiles of 128 rows and 4 blocks ("1D block scaling" in the documentation of
 * cuBLAS). */
#define TILE_ROWS 128
#define TILE_BLOCKS 4

const struct roof_gpu_product_type *roof_gpu_product_type(const struct roof_gpu_product_api *api,
                                                          const struct roof_gpu *gpu,
                                                          enum roof_precision format)
{
    const int capability = roof_gpu_capability(gpu);
    for (size_t i = 0; i < api->types; i++) {
        const struct roof_gpu_product_type *const type = &api->type[i];
        if (type->format == format && capability >= type->since &&
            (type->before == 0 || capability < type->before)) {
            return type;
        }
    }
    return NULL;
}

bool roof_gpu_product_able(const struct roof_gpu_product_api *api, const struct roof_gpu *gpu,
                           const struct roof_gpu_shape *shape)
{
    const struct roof_gpu_product_type *const type = roof_gpu_product_type(api, gpu, shape->format);
    return type != NULL && shape->n % type->multiple == 0 && shape->k % type->multiple == 0 &&
           (type->block == 0 || shape->batch == 1);
}

static int64_t rounded(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

struct roof_gpu_operand roof_gpu_operand(const struct roof_gpu_product_type *type,
                                         const struct roof_gpu_shape *shape, int64_t rows)
{
    struct roof_gpu_operand out = {
        .scales_at = roof_gpu_aligned(shape->batch * rows * shape->k * type->bits / 8),
        .one = type->one};
    out.scales = type->block == 0
                     ? 0
                     : rounded(rows, TILE_ROWS) *
                           rounded((shape->k + type->block - 1) / type->block, TILE_BLOCKS);
    out.bytes = out.scales_at + roof_gpu_aligned(out.scales);
    return out;
}

/* --- the library --------------------------------------------------------------------------- */

static enum roof_status check(const struct roof_gpu_products *library, int status, size_t offset,
                              struct roof_error *error)
{
    const struct roof_gpu_product_api *const api = library->api;
    if (status == 0) {
        return ROOF_OK;
    }
    return roof_error_set(error, ROOF_IO, "%s: %s",
                          roof_symbol_name(api->symbol, api->symbols, offset),
                          library->call.status_name != NULL ? library->call.status_name(status)
                                                            : api->status_name(status));
}

#define LT(library_, call_, ...)                                                                   \
    TRY(check((library_), (library_)->call.call_(__VA_ARGS__),                                     \
              offsetof(struct roof_gpu_product_calls, call_), error))

enum roof_status roof_gpu_products_open(struct roof_gpu_products *out,
                                        const struct roof_gpu_product_api *api,
                                        struct roof_error *error)
{
    *out = (struct roof_gpu_products){.api = api};
    TRY(roof_library_open(&out->library, api->libraries, api->comes_with, error));
    TRY(roof_library_find(&out->library, &out->call, api->symbol, api->symbols, error));
    LT(out, create, &out->handle);
    return ROOF_OK;
}

void roof_gpu_products_close(struct roof_gpu_products *library)
{
    if (library->handle != NULL) {
        (void)library->call.destroy(library->handle);
    }
    roof_library_close(&library->library);
    *library = (struct roof_gpu_products){.handle = NULL};
}

size_t roof_gpu_products_version(const struct roof_gpu_products *library)
{
    int version = 0;
    if (library->call.version != NULL) {
        return library->call.version();
    }
    return library->call.version_of(library->handle, &version) == 0 ? (size_t)version : 0;
}

/* --- a product ----------------------------------------------------------------------------- */

/* Makes the layout of a matrix that is stored row by row: cuBLAS sees its transpose, column by
 * column. */
static enum roof_status make_layout(struct gpu_layout **out, const struct roof_gpu_product *product,
                                    int type, int64_t rows, int64_t columns,
                                    struct roof_error *error)
{
    const struct roof_gpu_products *const library = product->library;
    const int32_t batch = (int32_t)product->shape.batch;
    const int64_t stride = rows * columns;
    LT(library, layout_create, out, type, (uint64_t)columns, (uint64_t)rows, columns);
    if (batch > 1) {
        LT(library, layout_set, *out, library->api->attribute[ROOF_GPU_BATCH], &batch,
           sizeof batch);
        LT(library, layout_set, *out, library->api->attribute[ROOF_GPU_BATCH_STRIDE], &stride,
           sizeof stride);
    }
    return ROOF_OK;
}

/* Tells the library where the scales of the operands are. */
static enum roof_status point_scales(const struct roof_gpu_product *product,
                                     struct roof_error *error)
{
    const struct roof_gpu_products *const library = product->library;
    const struct roof_gpu_shape *const s = &product->shape;
    const uint64_t weights =
        product->weights_at + (uint64_t)roof_gpu_operand(product->type, s, s->n).scales_at;
    const uint64_t inputs =
        product->inputs_at + (uint64_t)roof_gpu_operand(product->type, s, s->m).scales_at;
    LT(library, operation_set, product->operation, library->api->attribute[ROOF_GPU_A_SCALES],
       &weights, sizeof weights);
    LT(library, operation_set, product->operation, library->api->attribute[ROOF_GPU_B_SCALES],
       &inputs, sizeof inputs);
    return ROOF_OK;
}

static enum roof_status describe_scales(const struct roof_gpu_product *product,
                                        struct roof_error *error)
{
    const struct roof_gpu_products *const library = product->library;
    const int32_t mode = product->type->mode;
    LT(library, operation_set, product->operation, library->api->attribute[ROOF_GPU_A_SCALE_MODE],
       &mode, sizeof mode);
    LT(library, operation_set, product->operation, library->api->attribute[ROOF_GPU_B_SCALE_MODE],
       &mode, sizeof mode);
    return point_scales(product, error);
}

/* Describes the product. out = inputs x weights^T by rows is out^T = weights x inputs^T by columns;
 * the weights, whose columns run along k, are transposed, as fp8 requires. */
static enum roof_status describe(struct roof_gpu_product *product, struct roof_error *error)
{
    const struct roof_gpu_products *const library = product->library;
    const struct roof_gpu_shape *const s = &product->shape;
    const struct roof_gpu_product_type *const type = product->type;
    const int32_t transpose = library->api->transpose;
    const int8_t fast = 1;
    LT(library, operation_create, &product->operation, type->compute, type->scale);
    LT(library, operation_set, product->operation, library->api->attribute[ROOF_GPU_TRANSPOSE_A],
       &transpose, sizeof transpose);
    if (s->format == ROOF_PRECISION_FP8_E4M3 &&
        library->api->attribute[ROOF_GPU_FAST_SUM] >= 0) { /* as serving engines set it */
        LT(library, operation_set, product->operation, library->api->attribute[ROOF_GPU_FAST_SUM],
           &fast, sizeof fast);
    }
    TRY(type->block > 0 ? describe_scales(product, error) : ROOF_OK);
    TRY(make_layout(&product->weights, product, type->type, s->n, s->k, error));
    TRY(make_layout(&product->inputs, product, type->type, s->m, s->k, error));
    return make_layout(&product->out, product, type->out, s->m, s->n, error);
}

/* Returns the bytes of memory that the kernel which was chosen needs. */
static size_t workspace_of(const struct roof_gpu_product *product)
{
    size_t bytes = 0;
    memcpy(&bytes, (const char *)&product->best + product->library->api->workspace_at,
           sizeof bytes);
    return bytes;
}

enum roof_status roof_gpu_product_run(const struct roof_gpu_product *product,
                                      struct roof_error *error)
{
    const struct roof_gpu_products *const library = product->library;
    const float one = 1;
    const float zero = 0;
    const int32_t whole_one = 1;
    const int32_t whole_zero = 0;
    const bool whole = product->shape.format == ROOF_PRECISION_INT8;
    TRY(product->type->block > 0 ? point_scales(product, error) : ROOF_OK);
    LT(library, multiply, library->handle, product->operation,
       whole ? (const void *)&whole_one : &one, product->weights_at, product->weights,
       product->inputs_at, product->inputs, whole ? (const void *)&whole_zero : &zero,
       product->out_at, product->out, product->out_at, product->out, &product->best,
       product->workspace, workspace_of(product), product->gpu->stream);
    return ROOF_OK;
}

static enum roof_status run(void *context, struct roof_error *error)
{
    return roof_gpu_product_run(context, error);
}

/* Asks for candidates; the preference is only needed here. */
static enum roof_status propose(struct gpu_candidate *out, int *found,
                                const struct roof_gpu_product *product,
                                struct gpu_preference *preference, struct roof_error *error)
{
    const struct roof_gpu_products *const library = product->library;
    const uint64_t bytes = WORKSPACE_BYTES;
    const size_t size = library->api->candidate_size;
    struct gpu_candidate proposed[CANDIDATES] = {
        {{0}}}; /* one after another, as the library does */
    LT(library, preference_set, preference, library->api->attribute[ROOF_GPU_WORKSPACE], &bytes,
       sizeof bytes);
    LT(library, propose, library->handle, product->operation, product->weights, product->inputs,
       product->out, product->out, preference, CANDIDATES, proposed, found);
    for (int i = 0; i < *found; i++) {
        memcpy(&out[i], (const char *)proposed + (size_t)i * size, size);
    }
    return *found > 0
               ? ROOF_OK
               : roof_error_set(error, ROOF_IO,
                                "%s: no kernel for m=%" PRId64 " n=%" PRId64 " k=%" PRId64,
                                roof_symbol_name(library->api->symbol, library->api->symbols,
                                                 offsetof(struct roof_gpu_product_calls, propose)),
                                product->shape.m, product->shape.n, product->shape.k);
}

/* Finds the best time of a product with its current candidate, which has been queued once. */
static enum roof_status time_candidate(double *least_s, struct roof_gpu_product *product,
                                       struct roof_error *error)
{
    struct gpu_graph_run *graph = NULL;
    ROOF_GPU_CALL(product->gpu, stream_synchronize, product->gpu->stream);
    enum roof_status status = roof_gpu_capture(&graph, product->gpu, run, product, error);
    for (int i = 0; i < TRIES && status == ROOF_OK; i++) {
        double seconds = HUGE_VAL;
        status = roof_gpu_time(&seconds, product->gpu, graph, ROOF_GPU_GATED, error);
        *least_s = fmin(*least_s, seconds);
    }
    roof_gpu_release(product->gpu, &graph);
    return status;
}

/* Keeps the candidate whose best run is the fastest, and skips those that the library cannot queue.
 */
static enum roof_status choose(struct roof_gpu_product *product,
                               const struct gpu_candidate *candidates, int count,
                               struct roof_error *error)
{
    double fastest = HUGE_VAL;
    struct gpu_candidate best = {{0}};
    struct roof_error refusal = {.status = ROOF_OK};
    for (int i = 0; i < count; i++) {
        double seconds = HUGE_VAL;
        product->best = candidates[i];
        if (roof_gpu_product_run(product, &refusal) != ROOF_OK) {
            continue;
        }
        TRY(time_candidate(&seconds, product, error));
        if (seconds < fastest) {
            fastest = seconds;
            best = candidates[i];
        }
    }
    product->best = best;
    if (fastest < HUGE_VAL) {
        return ROOF_OK;
    }
    if (error != NULL) {
        *error = refusal;
    }
    return ROOF_IO;
}

enum roof_status roof_gpu_product_begin(struct roof_gpu_product *product,
                                        const struct roof_gpu_products *library,
                                        struct roof_gpu *gpu, const struct roof_gpu_shape *shape,
                                        struct roof_error *error)
{
    struct gpu_candidate candidates[CANDIDATES];
    struct gpu_preference *preference = NULL;
    int found = 0;
    product->library = library;
    product->gpu = gpu;
    product->shape = *shape;
    product->type = roof_gpu_product_type(library->api, gpu, shape->format);
    TRY(describe(product, error));
    TRY(roof_gpu_allocate(&product->workspace, gpu, WORKSPACE_BYTES, error));
    LT(library, preference_create, &preference);
    const enum roof_status status = propose(candidates, &found, product, preference, error);
    (void)library->call.preference_destroy(preference);
    TRY(status);
    return choose(product, candidates, found, error);
}

void roof_gpu_product_end(struct roof_gpu_product *product)
{
    struct gpu_layout *const layouts[] = {product->weights, product->inputs, product->out};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        if (layouts[i] != NULL) {
            (void)product->library->call.layout_destroy(layouts[i]);
        }
    }
    if (product->operation != NULL) {
        (void)product->library->call.operation_destroy(product->operation);
    }
    if (product->workspace != 0) {
        (void)product->gpu->call.release(product->workspace);
    }
    *product = (struct roof_gpu_product){.library = NULL};
}
