// SPDX-License-Identifier: MIT
#include "measure/gpu_attention.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

/* --- the ABI of cuDNN ---------------------------------------------------------------------- */

/* The numbers of cudnn_graph.h: types of descriptors, ... */
enum {
    DESCRIPTOR_POINTWISE = 0,
    DESCRIPTOR_ENGINECFG = 3,
    DESCRIPTOR_ENGINEHEUR = 4,
    DESCRIPTOR_EXECUTION_PLAN = 5,
    DESCRIPTOR_OPERATION_POINTWISE = 13,
    DESCRIPTOR_OPERATIONGRAPH = 15,
    DESCRIPTOR_VARIANT_PACK = 16,
    DESCRIPTOR_TENSOR = 17,
    DESCRIPTOR_MATMUL = 18,
    DESCRIPTOR_OPERATION_MATMUL = 19,
    DESCRIPTOR_REDUCTION = 21,
    DESCRIPTOR_OPERATION_REDUCTION = 22
};
/* ... of their attributes, ... */
enum {
    POINTWISE_MODE = 0,
    POINTWISE_MATH_PREC = 1,
    POINTWISE_AXIS = 9,
    ENGINEHEUR_MODE = 200,
    ENGINEHEUR_OPERATION_GRAPH = 201,
    ENGINEHEUR_RESULTS = 202,
    EXECUTION_PLAN_HANDLE = 400,
    EXECUTION_PLAN_ENGINE_CONFIG = 401,
    EXECUTION_PLAN_WORKSPACE_SIZE = 402,
    OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
    OPERATION_POINTWISE_XDESC = 751,
    OPERATION_POINTWISE_BDESC = 752,
    OPERATION_POINTWISE_YDESC = 753,
    OPERATION_POINTWISE_TDESC = 758,
    OPERATIONGRAPH_HANDLE = 800,
    OPERATIONGRAPH_OPS = 801,
    TENSOR_BYTE_ALIGNMENT = 900,
    TENSOR_DATA_TYPE = 901,
    TENSOR_DIMENSIONS = 902,
    TENSOR_STRIDES = 903,
    TENSOR_UNIQUE_ID = 906,
    TENSOR_IS_VIRTUAL = 907,
    TENSOR_IS_BY_VALUE = 908,
    VARIANT_PACK_UNIQUE_IDS = 1000,
    VARIANT_PACK_DATA_POINTERS = 1001,
    VARIANT_PACK_WORKSPACE = 1003,
    MATMUL_COMP_TYPE = 1500,
    OPERATION_MATMUL_ADESC = 1520,
    OPERATION_MATMUL_BDESC = 1521,
    OPERATION_MATMUL_CDESC = 1522,
    OPERATION_MATMUL_DESC = 1523,
    REDUCTION_OPERATOR = 1600,
    REDUCTION_COMP_TYPE = 1601,
    OPERATION_REDUCTION_XDESC = 1610,
    OPERATION_REDUCTION_YDESC = 1611,
    OPERATION_REDUCTION_DESC = 1612
};
/* ... of the types of attributes, ... */
enum {
    TYPE_HANDLE = 0,
    TYPE_DATA_TYPE = 1,
    TYPE_BOOLEAN = 2,
    TYPE_INT64 = 3,
    TYPE_VOID_PTR = 6,
    TYPE_HEUR_MODE = 8,
    TYPE_POINTWISE_MODE = 14,
    TYPE_DESCRIPTOR = 15,
    TYPE_REDUCTION_OPERATOR = 18
};
/* ... and of what they have. */
enum {
    DATA_FLOAT = 0,
    DATA_HALF = 2,
    DATA_INT32 = 4,
    DATA_BFLOAT16 = 9,
    DATA_BOOLEAN = 11,
    POINTWISE_ADD = 0,
    POINTWISE_MUL = 1,
    POINTWISE_DIV = 6,
    POINTWISE_SUB = 9,
    POINTWISE_EXP = 13,
    POINTWISE_LOG = 15,
    POINTWISE_CMP_GE = 303,
    POINTWISE_GEN_INDEX = 501,
    POINTWISE_BINARY_SELECT = 601,
    REDUCE_ADD = 0,
    REDUCE_MAX = 3,
    HEUR_MODE_A = 3
};

static const struct roof_symbol symbols[] = {
    ROOF_SYMBOL(roof_cudnn_calls, cudnnGetVersion),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnGetErrorString),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnCreate),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnDestroy),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnSetStream),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnBackendCreateDescriptor),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnBackendDestroyDescriptor),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnBackendFinalize),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnBackendSetAttribute),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnBackendGetAttribute),
    ROOF_SYMBOL(roof_cudnn_calls, cudnnBackendExecute),
};

static enum roof_status check(const struct roof_cudnn *library, int status, size_t offset,
                              struct roof_error *error)
{
    return status == 0 ? ROOF_OK
                       : roof_error_set(error, ROOF_IO, "%s: %s",
                                        roof_symbol_name(symbols, COUNT(symbols), offset),
                                        library->call.cudnnGetErrorString(status));
}

#define CUDNN_STATUS(library_, call_, ...)                                                         \
    check((library_), (library_)->call.call_(__VA_ARGS__),                                         \
          offsetof(struct roof_cudnn_calls, call_), error)
#define CUDNN(library_, call_, ...) TRY(CUDNN_STATUS(library_, call_, __VA_ARGS__))

enum roof_status roof_cudnn_open(struct roof_cudnn *out, const struct roof_gpu *gpu,
                                 struct roof_error *error)
{
    static const char *const names[] = {"libcudnn.so.9", NULL};
    *out = (struct roof_cudnn){.handle = NULL};
    TRY(roof_library_open(&out->library, names, "cuDNN", error));
    TRY(roof_library_find(&out->library, &out->call, symbols, COUNT(symbols), error));
    CUDNN(out, cudnnCreate, &out->handle);
    CUDNN(out, cudnnSetStream, out->handle, gpu->stream);
    return ROOF_OK;
}

void roof_cudnn_close(struct roof_cudnn *library)
{
    if (library->handle != NULL) {
        (void)library->call.cudnnDestroy(library->handle);
    }
    roof_library_close(&library->library);
    *library = (struct roof_cudnn){.handle = NULL};
}

/* --- the graph ----------------------------------------------------------------------------- */

/* Dimensions are in this order: sequences, heads, rows, columns. */
enum { RANK = 4 };

/* The shapes of tensors. Queries, keys, values and results are stored token by token, with all
 * heads of a token together, as written by the product before them. */
enum form {
    FORM_QUERIES, /* rows of queries, columns of a head */
    FORM_KEYS,    /* of the transpose: rows of a head, columns of keys */
    FORM_VALUES,  /* rows of keys, columns of a head */
    FORM_SCORES,  /* rows of queries, columns of keys */
    FORM_ROWS,    /* a number for each query */
    FORM_NUMBER   /* one, which the host passes */
};

enum tensor {
    QUERIES,
    KEYS,
    VALUES,
    RESULTS,
    SCALE,
    LOWEST, /* the score of keys that are not seen */
    KEY_COUNT,
    QUERY_COUNT,
    TENSORS_GIVEN,
    /* Those between the steps are never stored. */
    PRODUCTS = TENSORS_GIVEN,
    SCORES,
    ROW,
    ROW_AND_KEYS,
    LAST_SEEN,
    COLUMN,
    SEEN,
    MASKED,
    LARGEST,
    BELOW,
    POWERS,
    SUMS,
    LOGARITHMS,
    WEIGHTS,
    SHARES,
    TENSORS,
    NONE = TENSORS
};

/* The condition under which a tensor and a step are part of the graph. If a step is not, its result
 * is its first operand. */
enum when { ALWAYS, CAUSAL, LONGER /* causal, with more keys than queries */ };

static const struct {
    enum form form;
    int type; /* -1: that of the keys and values */
    enum when when;
} tensors[TENSORS] = {
    [QUERIES] = {FORM_QUERIES, -1, ALWAYS},
    [KEYS] = {FORM_KEYS, -1, ALWAYS},
    [VALUES] = {FORM_VALUES, -1, ALWAYS},
    [RESULTS] = {FORM_QUERIES, -1, ALWAYS},
    [SCALE] = {FORM_NUMBER, DATA_FLOAT, ALWAYS},
    [LOWEST] = {FORM_NUMBER, DATA_FLOAT, CAUSAL},
    [KEY_COUNT] = {FORM_NUMBER, DATA_INT32, LONGER},
    [QUERY_COUNT] = {FORM_NUMBER, DATA_INT32, LONGER},
    [PRODUCTS] = {FORM_SCORES, DATA_FLOAT, ALWAYS},
    [SCORES] = {FORM_SCORES, DATA_FLOAT, ALWAYS},
    [ROW] = {FORM_SCORES, DATA_INT32, CAUSAL},
    [ROW_AND_KEYS] = {FORM_SCORES, DATA_INT32, LONGER},
    [LAST_SEEN] = {FORM_SCORES, DATA_INT32, LONGER},
    [COLUMN] = {FORM_SCORES, DATA_INT32, CAUSAL},
    [SEEN] = {FORM_SCORES, DATA_BOOLEAN, CAUSAL},
    [MASKED] = {FORM_SCORES, DATA_FLOAT, CAUSAL},
    [LARGEST] = {FORM_ROWS, DATA_FLOAT, ALWAYS},
    [BELOW] = {FORM_SCORES, DATA_FLOAT, ALWAYS},
    [POWERS] = {FORM_SCORES, DATA_FLOAT, ALWAYS},
    [SUMS] = {FORM_ROWS, DATA_FLOAT, ALWAYS},
    [LOGARITHMS] = {FORM_ROWS, DATA_FLOAT, ALWAYS},
    [WEIGHTS] = {FORM_ROWS, DATA_FLOAT, ALWAYS},
    [SHARES] = {FORM_SCORES, -1, ALWAYS},
};

/* softmax(queries keys^T scale) values, where row r sees the columns up to r + keys - queries.
 * Nothing reads the logarithm of a row's sum of powers, but cuDNN knows attention by all of these
 * steps. */
static const struct step {
    int kind; /* the descriptor of the operation */
    int mode;
    int64_t axis; /* of an index */
    int type;     /* in which it computes */
    enum tensor in;
    enum tensor other; /* NONE: there is no such tensor */
    enum tensor mask;
    enum tensor out;
    enum when when;
} steps[] = {
#define PRODUCT(in_, other_, out_)                                                                 \
    {                                                                                              \
        .kind = DESCRIPTOR_OPERATION_MATMUL, .type = DATA_FLOAT, .in = (in_), .other = (other_),   \
        .mask = NONE, .out = (out_)                                                                \
    }
#define REDUCTION(mode_, in_, out_)                                                                \
    {                                                                                              \
        .kind = DESCRIPTOR_OPERATION_REDUCTION, .mode = (mode_), .type = DATA_FLOAT, .in = (in_),  \
        .other = NONE, .mask = NONE, .out = (out_)                                                 \
    }
#define ELEMENTS(mode_, type_, in_, other_, out_, ...)                                             \
    {                                                                                              \
        .kind = DESCRIPTOR_OPERATION_POINTWISE, .mode = POINTWISE_##mode_, .type = DATA_##type_,   \
        .in = (in_), .other = (other_), .mask = NONE, .out = (out_), __VA_ARGS__                   \
    }
    PRODUCT(QUERIES, KEYS, PRODUCTS),
    ELEMENTS(MUL, FLOAT, PRODUCTS, SCALE, SCORES, .when = ALWAYS),
    ELEMENTS(GEN_INDEX, FLOAT, SCORES, NONE, ROW, .axis = 2, .when = CAUSAL),
    ELEMENTS(ADD, INT32, ROW, KEY_COUNT, ROW_AND_KEYS, .when = LONGER),
    ELEMENTS(SUB, INT32, ROW_AND_KEYS, QUERY_COUNT, LAST_SEEN, .when = LONGER),
    ELEMENTS(GEN_INDEX, FLOAT, SCORES, NONE, COLUMN, .axis = 3, .when = CAUSAL),
    ELEMENTS(CMP_GE, BOOLEAN, LAST_SEEN, COLUMN, SEEN, .when = CAUSAL),
    {.kind = DESCRIPTOR_OPERATION_POINTWISE,
     .mode = POINTWISE_BINARY_SELECT,
     .type = DATA_FLOAT,
     .in = SCORES,
     .other = LOWEST,
     .mask = SEEN,
     .out = MASKED,
     .when = CAUSAL},
    REDUCTION(REDUCE_MAX, MASKED, LARGEST),
    ELEMENTS(SUB, FLOAT, MASKED, LARGEST, BELOW, .when = ALWAYS),
    ELEMENTS(EXP, FLOAT, BELOW, NONE, POWERS, .when = ALWAYS),
    REDUCTION(REDUCE_ADD, POWERS, SUMS),
    ELEMENTS(LOG, FLOAT, SUMS, NONE, LOGARITHMS, .when = ALWAYS),
    ELEMENTS(ADD, FLOAT, LARGEST, LOGARITHMS, WEIGHTS, .when = ALWAYS),
    ELEMENTS(DIV, FLOAT, POWERS, SUMS, SHARES, .when = ALWAYS),
    PRODUCT(SHARES, VALUES, RESULTS),
#undef PRODUCT
#undef REDUCTION
#undef ELEMENTS
};

/* The descriptors and attributes of the steps of each kind. */
static const struct kind {
    int operation;
    int mode; /* the descriptor of the mode, and its attributes; -1: there is no such */
    int mode_attribute;
    int mode_type;
    int type_attribute;
    int described_by; /* the attributes of the operation */
    int in;
    int other;
    int mask;
    int out;
} kinds[] = {
    {DESCRIPTOR_OPERATION_MATMUL, DESCRIPTOR_MATMUL, -1, -1, MATMUL_COMP_TYPE,
     OPERATION_MATMUL_DESC, OPERATION_MATMUL_ADESC, OPERATION_MATMUL_BDESC, -1,
     OPERATION_MATMUL_CDESC},
    {DESCRIPTOR_OPERATION_POINTWISE, DESCRIPTOR_POINTWISE, POINTWISE_MODE, TYPE_POINTWISE_MODE,
     POINTWISE_MATH_PREC, OPERATION_POINTWISE_PW_DESCRIPTOR, OPERATION_POINTWISE_XDESC,
     OPERATION_POINTWISE_BDESC, OPERATION_POINTWISE_TDESC, OPERATION_POINTWISE_YDESC},
    {DESCRIPTOR_OPERATION_REDUCTION, DESCRIPTOR_REDUCTION, REDUCTION_OPERATOR,
     TYPE_REDUCTION_OPERATOR, REDUCTION_COMP_TYPE, OPERATION_REDUCTION_DESC,
     OPERATION_REDUCTION_XDESC, -1, -1, OPERATION_REDUCTION_YDESC},
};

/* --- descriptors --------------------------------------------------------------------------- */

/* Makes a descriptor that is released with the attention. */
static enum roof_status make(struct cudnn_descriptor **out, struct roof_gpu_attention *a, int type,
                             struct roof_error *error)
{
    CUDNN(a->library, cudnnBackendCreateDescriptor, type, out);
    a->made[a->count++] = *out;
    return ROOF_OK;
}

static enum roof_status set(const struct roof_gpu_attention *a, struct cudnn_descriptor *of,
                            int attribute, int type, int64_t count, const void *values,
                            struct roof_error *error)
{
    CUDNN(a->library, cudnnBackendSetAttribute, of, attribute, type, count, values);
    return ROOF_OK;
}

static enum roof_status finalize(const struct roof_gpu_attention *a, struct cudnn_descriptor *of,
                                 struct roof_error *error)
{
    CUDNN(a->library, cudnnBackendFinalize, of);
    return ROOF_OK;
}

/* Finds the sizes of a tensor, and how many elements lie between neighbours of each dimension. */
static void lay_out(int64_t size[RANK], int64_t stride[RANK], const struct roof_shape *s,
                    enum form form)
{
    const int64_t heads = form == FORM_KEYS || form == FORM_VALUES ? s->kv_heads : s->heads;
    const int64_t tokens = form == FORM_QUERIES ? s->query_len : s->kv_len;
    const bool stored = form == FORM_QUERIES || form == FORM_KEYS || form == FORM_VALUES;
    const bool turned = form == FORM_KEYS;
    const int64_t rows = turned ? s->head_dim : form == FORM_VALUES ? tokens : s->query_len;
    const int64_t columns = form == FORM_SCORES || turned ? s->kv_len
                            : form == FORM_ROWS           ? 1
                                                          : s->head_dim;
    const int64_t token = heads * s->head_dim;
    for (int i = 0; i < RANK; i++) {
        size[i] = stride[i] = 1;
    }
    if (form == FORM_NUMBER) {
        return;
    }
    size[0] = s->batch;
    size[1] = heads;
    size[2] = rows;
    size[3] = columns;
    stride[0] = stored ? tokens * token : heads * rows * columns;
    stride[1] = stored ? s->head_dim : rows * columns;
    stride[2] = !stored ? columns : turned ? 1 : token;
    stride[3] = turned ? token : 1;
}

static enum roof_status make_tensor(struct cudnn_descriptor **out, struct roof_gpu_attention *a,
                                    enum tensor tensor, int format, struct roof_error *error)
{
    const int type = tensors[tensor].type < 0 ? format : tensors[tensor].type;
    const int64_t id = (int64_t)tensor + 1;
    const int64_t alignment = 16;
    const bool between = tensor >= TENSORS_GIVEN;
    const bool number = tensors[tensor].form == FORM_NUMBER;
    int64_t size[RANK];
    int64_t stride[RANK];
    lay_out(size, stride, &a->shape, tensors[tensor].form);
    TRY(make(out, a, DESCRIPTOR_TENSOR, error));
    TRY(set(a, *out, TENSOR_DATA_TYPE, TYPE_DATA_TYPE, 1, &type, error));
    TRY(set(a, *out, TENSOR_DIMENSIONS, TYPE_INT64, RANK, size, error));
    TRY(set(a, *out, TENSOR_STRIDES, TYPE_INT64, RANK, stride, error));
    TRY(set(a, *out, TENSOR_UNIQUE_ID, TYPE_INT64, 1, &id, error));
    TRY(set(a, *out, TENSOR_BYTE_ALIGNMENT, TYPE_INT64, 1, &alignment, error));
    TRY(set(a, *out, TENSOR_IS_VIRTUAL, TYPE_BOOLEAN, 1, &between, error));
    TRY(set(a, *out, TENSOR_IS_BY_VALUE, TYPE_BOOLEAN, 1, &number, error));
    return finalize(a, *out, error);
}

/* Makes the operation of a step. */
static enum roof_status make_operation(struct cudnn_descriptor **out, struct roof_gpu_attention *a,
                                       const struct step *step,
                                       struct cudnn_descriptor *const *tensor,
                                       struct roof_error *error)
{
    const struct kind *kind = kinds;
    struct cudnn_descriptor *mode = NULL;
    while (kind->operation != step->kind) {
        kind++;
    }
    const struct {
        int attribute;
        enum tensor tensor;
    } operands[] = {{kind->in, step->in},
                    {kind->other, step->other},
                    {kind->mask, step->mask},
                    {kind->out, step->out}};
    TRY(make(&mode, a, kind->mode, error));
    if (kind->mode_attribute >= 0) {
        TRY(set(a, mode, kind->mode_attribute, kind->mode_type, 1, &step->mode, error));
    }
    TRY(set(a, mode, kind->type_attribute, TYPE_DATA_TYPE, 1, &step->type, error));
    if (step->axis > 0) {
        TRY(set(a, mode, POINTWISE_AXIS, TYPE_INT64, 1, &step->axis, error));
    }
    TRY(finalize(a, mode, error));
    TRY(make(out, a, kind->operation, error));
    TRY(set(a, *out, kind->described_by, TYPE_DESCRIPTOR, 1, &mode, error));
    for (size_t i = 0; i < COUNT(operands); i++) {
        if (operands[i].tensor != NONE) {
            TRY(set(a, *out, operands[i].attribute, TYPE_DESCRIPTOR, 1, &tensor[operands[i].tensor],
                    error));
        }
    }
    return finalize(a, *out, error);
}

static bool has(const struct roof_shape *s, enum when when)
{
    return when == ALWAYS || (s->causal != 0 && (when == CAUSAL || s->kv_len > s->query_len));
}

static enum roof_status make_graph(struct cudnn_descriptor **out, struct roof_gpu_attention *a,
                                   int format, struct roof_error *error)
{
    struct cudnn_descriptor *tensor[TENSORS];
    struct cudnn_descriptor *operation[COUNT(steps)];
    int64_t count = 0;
    for (enum tensor i = QUERIES; i < TENSORS_GIVEN; i++) {
        if (has(&a->shape, tensors[i].when)) {
            TRY(make_tensor(&tensor[i], a, i, format, error));
        }
    }
    for (size_t i = 0; i < COUNT(steps); i++) {
        if (has(&a->shape, steps[i].when)) {
            if (steps[i].out >= TENSORS_GIVEN) {
                TRY(make_tensor(&tensor[steps[i].out], a, steps[i].out, format, error));
            }
            TRY(make_operation(&operation[count++], a, &steps[i], tensor, error));
        } else {
            tensor[steps[i].out] = tensor[steps[i].in];
        }
    }
    TRY(make(out, a, DESCRIPTOR_OPERATIONGRAPH, error));
    TRY(set(a, *out, OPERATIONGRAPH_HANDLE, TYPE_HANDLE, 1, &a->library->handle, error));
    TRY(set(a, *out, OPERATIONGRAPH_OPS, TYPE_DESCRIPTOR, count, operation, error));
    return finalize(a, *out, error);
}

/* --- an attention -------------------------------------------------------------------------- */

/* The number of kernels that cuDNN is asked to propose; the first that it can build is used, as in
 * engines. */
#define PROPOSED 8

#define CAPABILITY_MIN 80
#define HEAD_DIM_MAX 128
#define HALF 2 /* bytes */

bool roof_gpu_attention_able(const struct roof_cudnn *library, const struct roof_gpu *gpu,
                             const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    return library->handle != NULL && roof_gpu_capability(gpu) >= CAPABILITY_MIN &&
           w->op == ROOF_OPERATOR_FLASH_ATTENTION &&
           (w->formats.kv == ROOF_PRECISION_FP16 || w->formats.kv == ROOF_PRECISION_BF16) &&
           s->query_len > 1 && s->kv_len >= s->query_len && s->kv_len <= INT32_MAX &&
           s->window == 0 && s->head_dim % 8 == 0 && s->head_dim <= HEAD_DIM_MAX &&
           s->heads % s->kv_heads == 0;
}

/* The places of queries, keys, values and results in the data of a call, and its length. */
struct places {
    int64_t keys;
    int64_t values;
    int64_t results;
    int64_t bytes;
};

static struct places places_of(const struct roof_shape *s)
{
    const int64_t token = HALF * s->batch * s->head_dim;
    const int64_t queries = roof_gpu_aligned(token * s->heads * s->query_len);
    const int64_t keys = roof_gpu_aligned(token * s->kv_heads * s->kv_len);
    return (struct places){queries, queries + keys, queries + 2 * keys, 2 * (queries + keys)};
}

int64_t roof_gpu_attention_bytes(const struct roof_workload *workload)
{
    return places_of(&workload->shape).bytes;
}

/* Makes the plan of a proposed kernel. */
static enum roof_status make_plan(struct roof_gpu_attention *a, struct cudnn_descriptor *proposed,
                                  struct roof_error *error)
{
    struct cudnn_descriptor *plan = NULL;
    TRY(make(&plan, a, DESCRIPTOR_EXECUTION_PLAN, error));
    TRY(set(a, plan, EXECUTION_PLAN_HANDLE, TYPE_HANDLE, 1, &a->library->handle, error));
    TRY(set(a, plan, EXECUTION_PLAN_ENGINE_CONFIG, TYPE_DESCRIPTOR, 1, &proposed, error));
    TRY(finalize(a, plan, error));
    a->plan = plan;
    return ROOF_OK;
}

/* Makes a plan of the graph with the first kernel that can be built. */
static enum roof_status choose(struct roof_gpu_attention *a, struct cudnn_descriptor *graph,
                               struct roof_error *error)
{
    const int mode = HEUR_MODE_A;
    struct cudnn_descriptor *heuristics = NULL;
    struct cudnn_descriptor *proposed[PROPOSED];
    int64_t found = 0;
    TRY(make(&heuristics, a, DESCRIPTOR_ENGINEHEUR, error));
    TRY(set(a, heuristics, ENGINEHEUR_OPERATION_GRAPH, TYPE_DESCRIPTOR, 1, &graph, error));
    TRY(set(a, heuristics, ENGINEHEUR_MODE, TYPE_HEUR_MODE, 1, &mode, error));
    TRY(finalize(a, heuristics, error));
    for (int i = 0; i < PROPOSED; i++) {
        TRY(make(&proposed[i], a, DESCRIPTOR_ENGINECFG, error));
    }
    CUDNN(a->library, cudnnBackendGetAttribute, heuristics, ENGINEHEUR_RESULTS, TYPE_DESCRIPTOR,
          PROPOSED, &found, proposed);
    struct roof_error refusal; /* a kernel that cannot be built is not a failure of the call */
    enum roof_status status =
        roof_error_set(&refusal, ROOF_IO, "cuDNN has no kernel for this attention");
    for (int64_t i = 0; i < found && i < PROPOSED && status != ROOF_OK; i++) {
        status = make_plan(a, proposed[i], &refusal);
    }
    if (status != ROOF_OK && error != NULL) {
        *error = refusal;
    }
    return status;
}

enum roof_status roof_gpu_attention_begin(struct roof_gpu_attention *out,
                                          const struct roof_cudnn *library,
                                          const struct roof_gpu *gpu, const struct roof_workload *w,
                                          struct roof_error *error)
{
    const bool wide = w->formats.kv == ROOF_PRECISION_BF16;
    struct cudnn_descriptor *graph = NULL;
    int64_t bytes = 0;
    int64_t found = 0;
    *out = (struct roof_gpu_attention){.library = library,
                                       .gpu = gpu,
                                       .shape = w->shape,
                                       .scale = 1 / sqrtf((float)w->shape.head_dim),
                                       .queries = (int32_t)w->shape.query_len,
                                       .keys = (int32_t)w->shape.kv_len};
    TRY(make_graph(&graph, out, wide ? DATA_BFLOAT16 : DATA_HALF, error));
    TRY(choose(out, graph, error));
    CUDNN(library, cudnnBackendGetAttribute, out->plan, EXECUTION_PLAN_WORKSPACE_SIZE, TYPE_INT64,
          1, &found, &bytes);
    return bytes > 0 ? roof_gpu_allocate(&out->workspace, gpu, bytes, error) : ROOF_OK;
}

enum roof_status roof_gpu_attention_run(const struct roof_gpu_attention *a, uint64_t data,
                                        struct roof_error *error)
{
    static const float lowest = -FLT_MAX;
    const struct places at = places_of(&a->shape);
    const uint64_t address[] = {[QUERIES] = data,
                                [KEYS] = data + (uint64_t)at.keys,
                                [VALUES] = data + (uint64_t)at.values,
                                [RESULTS] = data + (uint64_t)at.results};
    const void *pointer[TENSORS_GIVEN] = {[SCALE] = &a->scale,
                                          [LOWEST] = &lowest,
                                          [KEY_COUNT] = &a->keys,
                                          [QUERY_COUNT] = &a->queries};
    int64_t id[TENSORS_GIVEN];
    int64_t count = 0;
    struct cudnn_descriptor *pack = NULL;
    memcpy(pointer, address, sizeof address);
    for (int i = 0; i < TENSORS_GIVEN; i++) {
        if (has(&a->shape, tensors[i].when)) {
            id[count] = i + 1;
            pointer[count++] = pointer[i];
        }
    }
    CUDNN(a->library, cudnnBackendCreateDescriptor, DESCRIPTOR_VARIANT_PACK, &pack);
    enum roof_status status = set(a, pack, VARIANT_PACK_UNIQUE_IDS, TYPE_INT64, count, id, error);
    if (status == ROOF_OK) {
        status = set(a, pack, VARIANT_PACK_DATA_POINTERS, TYPE_VOID_PTR, count, pointer, error);
    }
    if (status == ROOF_OK) {
        status = set(a, pack, VARIANT_PACK_WORKSPACE, TYPE_VOID_PTR, 1, &a->workspace, error);
    }
    if (status == ROOF_OK) {
        status = finalize(a, pack, error);
    }
    if (status == ROOF_OK) {
        status = CUDNN_STATUS(a->library, cudnnBackendExecute, a->library->handle, a->plan, pack);
    }
    (void)a->library->call.cudnnBackendDestroyDescriptor(pack);
    return status;
}

void roof_gpu_attention_end(struct roof_gpu_attention *a)
{
    while (a->count > 0) {
        (void)a->library->call.cudnnBackendDestroyDescriptor(a->made[--a->count]);
    }
    if (a->workspace != 0) {
        (void)a->gpu->call.release(a->workspace);
    }
    *a = (struct roof_gpu_attention){.library = NULL};
}
