// SPDX-License-Identifier: MIT
/*
 * A libcudnn.so.9 whose attention runs on the planted GPU of cuda.c: a kernel that does nothing,
 * and one at FAKE_ATTENTION (600e12) FLOP/s, which passes over the products of keys that are not
 * seen.
 *
 *   FAKE_NO_ATTENTION=1: it proposes no kernel
 *   FAKE_FAIL=plan:... or pack:... as for a call: cudnnBackendFinalize of the K-th such descriptor
 *
 * Like cuDNN it has kernels for a graph with all steps of an attention and no other, whose shares
 * have the type of the queries. A descriptor must be finalized before it is used, and the sizes of
 * operands must fit. The steps of a small graph are computed, and must be those of an attention.
 * The first kernel that it proposes cannot be built. Objects that are not released count with those
 * of the driver.
 */
#include <math.h>
#include <stdint.h>

#include "fake.h"

#define DRIVER "libcuda.so.1"
#define BAD_PARAM 2000
#define NOT_SUPPORTED 3000
#define EXECUTION_FAILED 5000
#define ATTRIBUTES_MAX 16
#define KERNEL 256 /* and the next, behind those of cublaslt.c */

/* The numbers of cudnn_graph.h. */
enum {
    ENGINECFG = 3,
    PLAN = 5,
    POINTWISE = 13,
    PACK = 16,
    TENSOR = 17,
    MATMUL = 19,
    REDUCTION = 22
};
enum {
    MODE = 0,
    MATH_TYPE = 1,
    AXIS = 9,
    ENGINEHEUR_GRAPH = 201,
    ENGINEHEUR_RESULTS = 202,
    PLAN_CONFIG = 401,
    PLAN_WORKSPACE = 402,
    POINTWISE_DESCRIPTOR = 750,
    POINTWISE_X = 751,
    POINTWISE_B = 752,
    POINTWISE_Y = 753,
    POINTWISE_T = 758,
    GRAPH_OPS = 801,
    ALIGNMENT = 900,
    DATA_TYPE = 901,
    DIMENSIONS = 902,
    STRIDES = 903,
    IDENTIFIER = 906,
    VIRTUAL = 907,
    BY_VALUE = 908,
    PACK_IDS = 1000,
    PACK_POINTERS = 1001,
    MATMUL_TYPE = 1500,
    MATMUL_A = 1520,
    MATMUL_B = 1521,
    MATMUL_C = 1522,
    MATMUL_DESCRIPTOR = 1523,
    OPERATOR = 1600,
    REDUCTION_TYPE = 1601,
    REDUCTION_X = 1610,
    REDUCTION_Y = 1611,
    REDUCTION_DESCRIPTOR = 1612
};
enum {
    ADD = 0,
    MUL = 1,
    DIV = 6,
    SUB = 9,
    EXP = 13,
    LOG = 15,
    CMP_GE = 303,
    GEN_INDEX = 501,
    BINARY_SELECT = 601
};
enum { REDUCE_ADD = 0, REDUCE_MAX = 3 };
enum { FLOAT = 0, HALF = 2, INT32 = 4, BFLOAT16 = 9, BOOLEAN = 11 };

struct descriptor {
    int type;
    int finalized;
    int number; /* of a proposed kernel */
    const struct descriptor *graph;
    int count;
    struct {
        int name;
        int64_t count;
        void *values;
    } attribute[ATTRIBUTES_MAX];
};

static long executed;
static long finalized;
static long plans;
static long packs;
static const struct descriptor *computed; /* the plan whose results were found to be right */

static void hold(long more)
{
    static void (*driver_hold)(long);
    if (driver_hold == NULL) {
        fake_find(&driver_hold, DRIVER, "fake_hold");
    }
    driver_hold(more);
}

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
    return 91900;
}

const char *cudnnGetErrorString(int status);
const char *cudnnGetErrorString(int status)
{
    return status == BAD_PARAM       ? "CUDNN_STATUS_BAD_PARAM"
           : status == NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
                                     : "CUDNN_STATUS_EXECUTION_FAILED";
}

CALL(cudnnCreate, void **handle)
{
    static int made;
    const int failed = fake_failure("cudnnCreate", 0, 0);
    if (failed == 0) {
        *handle = &made;
        executed = finalized = plans = packs = 0;
        hold(1);
    }
    return failed;
}

CALL(cudnnDestroy, void *handle)
{
    (void)handle;
    hold(-1);
    return fake_failure("cudnnDestroy", 0, 0);
}

CALL(cudnnSetStream, void *handle, void *stream)
{
    return handle == NULL || stream == NULL ? BAD_PARAM : fake_failure("cudnnSetStream", 0, 0);
}

CALL(cudnnBackendCreateDescriptor, int type, struct descriptor **out)
{
    FAKE_MAY_FAIL("cudnnBackendCreateDescriptor");
    *out = calloc(1, sizeof **out);
    (*out)->type = type;
    hold(1);
    return 0;
}

CALL(cudnnBackendDestroyDescriptor, struct descriptor *descriptor)
{
    for (int i = 0; i < descriptor->count; i++) {
        free(descriptor->attribute[i].values);
    }
    free(descriptor);
    hold(-1);
    return fake_failure("cudnnBackendDestroyDescriptor", 0, 0);
}

static size_t bytes_of(int type)
{
    static const size_t bytes[] = {8, 4, 1, 8, 4, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 8, 4, 4, 4};
    return type >= 0 && type < (int)(sizeof bytes / sizeof *bytes) ? bytes[type] : 0;
}

CALL(cudnnBackendSetAttribute, struct descriptor *of, int name, int type, int64_t count,
     const void *values)
{
    FAKE_MAY_FAIL("cudnnBackendSetAttribute");
    const size_t bytes = bytes_of(type) * (size_t)count;
    if (of->finalized || bytes == 0 || of->count == ATTRIBUTES_MAX) {
        return BAD_PARAM;
    }
    for (int64_t i = 0; i < count && type == 15; i++) { /* descriptors */
        if (!((struct descriptor *const *)values)[i]->finalized &&
            ((struct descriptor *const *)values)[i]->type != ENGINECFG) {
            return BAD_PARAM;
        }
    }
    void *const copy = malloc(bytes);
    memcpy(copy, values, bytes);
    of->attribute[of->count].name = name;
    of->attribute[of->count].count = count;
    of->attribute[of->count++].values = copy;
    return 0;
}

/* Returns the values of an attribute; NULL: it was not set. */
static const void *values_of(const struct descriptor *of, int name, int64_t *count)
{
    for (int i = 0; i < of->count; i++) {
        if (of->attribute[i].name == name) {
            *count = of->attribute[i].count;
            return of->attribute[i].values;
        }
    }
    *count = 0;
    return NULL;
}

static const struct descriptor *descriptor_of(const struct descriptor *of, int name)
{
    int64_t count = 0;
    const struct descriptor *const *const found = values_of(of, name, &count);
    return found == NULL ? NULL : *found;
}

static const int64_t *numbers_of(const struct descriptor *of, int name)
{
    int64_t count = 0;
    return values_of(of, name, &count);
}

/* Tells if the operands of a product fit: its heads may share those of the second. */
static int fits(const struct descriptor *product)
{
    const int64_t *const a = numbers_of(descriptor_of(product, MATMUL_A), DIMENSIONS);
    const int64_t *const b = numbers_of(descriptor_of(product, MATMUL_B), DIMENSIONS);
    const int64_t *const c = numbers_of(descriptor_of(product, MATMUL_C), DIMENSIONS);
    return a[0] == b[0] && a[0] == c[0] && a[1] % b[1] == 0 && a[1] == c[1] && a[2] == c[2] &&
           a[3] == b[2] && b[3] == c[3];
}

/* Returns the status that finalizing a descriptor is to fail with; 0: none. */
static int finalize_failure(const struct descriptor *of)
{
    const int failed = of->type == PLAN   ? fake_asked("plan", plans++, 0)
                       : of->type == PACK ? fake_asked("pack", packs++, 0)
                                          : 0;
    return failed != 0 ? failed : fake_failure("cudnnBackendFinalize", finalized++, 0);
}

CALL(cudnnBackendFinalize, struct descriptor *of)
{
    const int failed = finalize_failure(of);
    const struct descriptor *const config =
        of->type == PLAN ? descriptor_of(of, PLAN_CONFIG) : NULL;
    if (failed != 0) {
        return failed;
    }
    if (config != NULL && config->number == 0) {
        return NOT_SUPPORTED;
    }
    of->graph = config == NULL ? NULL : config->graph;
    of->finalized = 1;
    computed = of->type == PLAN ? NULL : computed;
    return of->type == MATMUL && !fits(of) ? BAD_PARAM : 0;
}

/* Tells if there are kernels for a graph: the steps are those of all keys, of keys up to the query,
 * or of such with more keys than queries. */
static int knows(const struct descriptor *graph)
{
    int64_t count = 0;
    int64_t one = 0;
    const struct descriptor *const *const ops = values_of(graph, GRAPH_OPS, &count);
    const int *const queries = values_of(descriptor_of(ops[0], MATMUL_A), DATA_TYPE, &one);
    const int *const shares = values_of(descriptor_of(ops[count - 1], MATMUL_A), DATA_TYPE, &one);
    return (count == 10 || count == 14 || count == 16) && *shares == *queries;
}

CALL(cudnnBackendGetAttribute, struct descriptor *of, int name, int type, int64_t wanted,
     int64_t *found, void *values)
{
    FAKE_MAY_FAIL("cudnnBackendGetAttribute");
    (void)type;
    if (!of->finalized) {
        return BAD_PARAM;
    }
    if (name == PLAN_WORKSPACE) {
        *(int64_t *)values = 4096;
        *found = 1;
        return 0;
    }
    struct descriptor *const *const proposed = values;
    *found = name != ENGINEHEUR_RESULTS || fake_item("FAKE_NO_ATTENTION", 0, 0) > 0 ||
                     !knows(descriptor_of(of, ENGINEHEUR_GRAPH))
                 ? 0
             : wanted < 3 ? wanted
                          : 3;
    for (int i = 0; i < *found; i++) {
        proposed[i]->number = i;
        proposed[i]->graph = descriptor_of(of, ENGINEHEUR_GRAPH);
    }
    return 0;
}

/* Returns the elements of a tensor. */
static double elements(const struct descriptor *tensor)
{
    const int64_t *const size = numbers_of(tensor, DIMENSIONS);
    return (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3];
}

/* --- the values of a small graph ----------------------------------------------------------- */

#define UNKNOWN ((double)NAN)
#define RANK 4
#define SMALL 200 /* scores */

struct run {
    const struct descriptor *const *ops;
    int64_t count;
    const int64_t *id;
    const uint64_t *pointer;
    int64_t ids;
};

static int number_of(const struct descriptor *of, int name)
{
    int64_t count = 0;
    const int *const found = values_of(of, name, &count);
    return found == NULL ? -1 : *found;
}

static int flag_of(const struct descriptor *of, int name)
{
    int64_t count = 0;
    const char *const found = values_of(of, name, &count);
    return found == NULL ? -1 : *found;
}

static uint64_t pointer_to(const struct run *run, const struct descriptor *tensor)
{
    for (int64_t i = 0; i < run->ids; i++) {
        if (run->id[i] == *numbers_of(tensor, IDENTIFIER)) {
            return run->pointer[i];
        }
    }
    return 0;
}

/* Returns the value at a place of a stored tensor. */
static double planted(const struct descriptor *tensor, int64_t place)
{
    return sin((double)(place + 1000 * *numbers_of(tensor, IDENTIFIER)));
}

/* Returns a value that is given: by the host, or in the memory of the device. */
static double given(const struct run *run, const struct descriptor *tensor, const int64_t at[RANK])
{
    const uint64_t pointer = pointer_to(run, tensor);
    const int type = number_of(tensor, DATA_TYPE);
    const int by_value = flag_of(tensor, BY_VALUE);
    int64_t place = 0;
    if (pointer == 0 || flag_of(tensor, VIRTUAL) != 0 || by_value < 0) {
        return UNKNOWN;
    }
    if (by_value == 1) {
        float real = 0;
        int32_t whole = 0;
        const void *host = NULL;
        memcpy(&host, &pointer, sizeof host);
        memcpy(&real, host, sizeof real);
        memcpy(&whole, host, sizeof whole);
        return type == FLOAT ? (double)real : type == INT32 ? whole : UNKNOWN;
    }
    for (int i = 0; i < RANK; i++) {
        place += at[i] * numbers_of(tensor, STRIDES)[i];
    }
    return (type == HALF || type == BFLOAT16) &&
                   pointer % (uint64_t)*numbers_of(tensor, ALIGNMENT) == 0
               ? planted(tensor, place)
               : UNKNOWN;
}

static double value_of(const struct run *run, const struct descriptor *tensor,
                       const int64_t at[RANK]);

/* The value of an operand at a place of the result; a dimension of one is that of all. */
static double operand(const struct run *run, const struct descriptor *op, int name,
                      const int64_t at[RANK])
{
    const struct descriptor *const tensor = descriptor_of(op, name);
    int64_t place[RANK];
    if (tensor == NULL) {
        return UNKNOWN;
    }
    for (int i = 0; i < RANK; i++) {
        place[i] = numbers_of(tensor, DIMENSIONS)[i] == 1 ? 0 : at[i];
    }
    return value_of(run, tensor, place);
}

static double product(const struct run *run, const struct descriptor *op, const int64_t at[RANK])
{
    const struct descriptor *const a = descriptor_of(op, MATMUL_A);
    const struct descriptor *const b = descriptor_of(op, MATMUL_B);
    const int64_t group = numbers_of(a, DIMENSIONS)[1] / numbers_of(b, DIMENSIONS)[1];
    double sum =
        number_of(descriptor_of(op, MATMUL_DESCRIPTOR), MATMUL_TYPE) == FLOAT ? 0 : UNKNOWN;
    for (int64_t k = 0; k < numbers_of(a, DIMENSIONS)[3]; k++) {
        sum += value_of(run, a, (const int64_t[]){at[0], at[1], at[2], k}) *
               value_of(run, b, (const int64_t[]){at[0], at[1] / group, k, at[3]});
    }
    return sum;
}

/* The sum or the largest of a row. */
static double reduction(const struct run *run, const struct descriptor *op, const int64_t at[RANK])
{
    const struct descriptor *const x = descriptor_of(op, REDUCTION_X);
    const struct descriptor *const mode = descriptor_of(op, REDUCTION_DESCRIPTOR);
    const int kind = number_of(mode, OPERATOR);
    double value = kind == REDUCE_MAX ? -HUGE_VAL : 0;
    for (int64_t k = 0; k < numbers_of(x, DIMENSIONS)[3]; k++) {
        const double element = value_of(run, x, (const int64_t[]){at[0], at[1], at[2], k});
        value = kind == REDUCE_MAX ? fmax(value, element) : value + element;
    }
    return (kind == REDUCE_MAX || kind == REDUCE_ADD) && number_of(mode, REDUCTION_TYPE) == FLOAT
               ? value
               : UNKNOWN;
}

static double pointwise(const struct run *run, const struct descriptor *op, const int64_t at[RANK])
{
    const struct descriptor *const how = descriptor_of(op, POINTWISE_DESCRIPTOR);
    const int mode = number_of(how, MODE);
    const int type = number_of(how, MATH_TYPE);
    const double x = mode == GEN_INDEX ? 0 : operand(run, op, POINTWISE_X, at);
    const double b = operand(run, op, POINTWISE_B, at);
    if (type != FLOAT && type != INT32 && type != BOOLEAN) {
        return UNKNOWN;
    }
    switch (mode) {
    case ADD:
        return x + b;
    case MUL:
        return x * b;
    case DIV:
        return x / b;
    case SUB:
        return x - b;
    case EXP:
        return exp(x);
    case LOG:
        return log(x);
    case CMP_GE:
        return type == BOOLEAN ? x >= b : UNKNOWN;
    case GEN_INDEX:
        return numbers_of(how, AXIS) == NULL ? UNKNOWN : (double)at[*numbers_of(how, AXIS)];
    case BINARY_SELECT:
        return operand(run, op, POINTWISE_T, at) != 0 ? x : b;
    default:
        return UNKNOWN;
    }
}

/* The value of a tensor at a place: that of the step whose result it is, or a given one. */
static double value_of(const struct run *run, const struct descriptor *tensor,
                       const int64_t at[RANK])
{
    for (int64_t i = 0; i < run->count; i++) {
        const struct descriptor *const op = run->ops[i];
        const int result = op->type == MATMUL      ? MATMUL_C
                           : op->type == REDUCTION ? REDUCTION_Y
                                                   : POINTWISE_Y;
        if (descriptor_of(op, result) == tensor) {
            return flag_of(tensor, BY_VALUE) != 0 ||
                           flag_of(tensor, VIRTUAL) != (i + 1 < run->count)
                       ? UNKNOWN
                   : op->type == MATMUL    ? product(run, op, at)
                   : op->type == REDUCTION ? reduction(run, op, at)
                                           : pointwise(run, op, at);
        }
    }
    return given(run, tensor, at);
}

/* An attention by its formula. Tokens lie one after another, with all of their heads. */
static double attended(const struct run *run, const int64_t at[RANK])
{
    const struct descriptor *const queries = descriptor_of(run->ops[0], MATMUL_A);
    const struct descriptor *const keys = descriptor_of(run->ops[0], MATMUL_B);
    const struct descriptor *const values = descriptor_of(run->ops[run->count - 1], MATMUL_B);
    const int64_t heads = numbers_of(queries, DIMENSIONS)[1];
    const int64_t rows = numbers_of(queries, DIMENSIONS)[2];
    const int64_t size = numbers_of(queries, DIMENSIONS)[3];
    const int64_t shared = numbers_of(keys, DIMENSIONS)[1];
    const int64_t tokens = numbers_of(keys, DIMENSIONS)[3];
    const int64_t head = at[1] * shared / heads;
    const int64_t seen = run->count > 10 ? at[2] + 1 + tokens - rows : tokens;
    double sum = 0;
    double powers = 0;
    for (int64_t k = 0; k < seen; k++) {
        const int64_t token = ((at[0] * tokens + k) * shared + head) * size;
        double score = 0;
        for (int64_t d = 0; d < size; d++) {
            score += planted(queries, ((at[0] * rows + at[2]) * heads + at[1]) * size + d) *
                     planted(keys, token + d);
        }
        const double power = exp(score / sqrt((double)size));
        powers += power;
        sum += power * planted(values, token + at[3]);
    }
    return sum / powers;
}

/* Tells if the tensors in memory lie apart. */
static int are_apart(const struct run *run, const struct descriptor *const tensor[4])
{
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            const uint64_t one = pointer_to(run, tensor[i]);
            const uint64_t other = pointer_to(run, tensor[k]);
            if (i != k && one <= other && one + (uint64_t)(2 * elements(tensor[i])) > other) {
                return 0;
            }
        }
    }
    return 1;
}

/* Tells if a graph computes an attention, and stores it token by token: in the first and the last
 * column of each head. */
static int is_attention(const struct run *run, const struct descriptor *results)
{
    const int64_t *const size = numbers_of(results, DIMENSIONS);
    const int64_t *const stride = numbers_of(results, STRIDES);
    int right = stride[3] == 1 && stride[1] == size[3] && stride[2] == size[1] * size[3] &&
                stride[0] == size[2] * stride[2];
    for (int64_t i = 0; i < 2 * size[0] * size[1] * size[2]; i++) {
        const int64_t at[RANK] = {i / 2 / size[2] / size[1], i / 2 / size[2] % size[1],
                                  i / 2 % size[2], i % 2 * (size[3] - 1)};
        right = right && fabs(value_of(run, results, at) - attended(run, at)) < 1e-6;
    }
    return right;
}

CALL(cudnnBackendExecute, void *handle, const struct descriptor *plan,
     const struct descriptor *pack)
{
    static int (*queue)(int, uint64_t, double, double, double, double, double);
    int64_t count = 0;
    int64_t ids = 0;
    int64_t pointers = 0;
    const struct descriptor *const *const ops = values_of(plan->graph, GRAPH_OPS, &count);
    const int64_t *const id = values_of(pack, PACK_IDS, &ids);
    const uint64_t *const pointer = values_of(pack, PACK_POINTERS, &pointers);
    const struct descriptor *const queries = descriptor_of(ops[0], MATMUL_A);
    const struct descriptor *const keys = descriptor_of(ops[0], MATMUL_B);
    const struct descriptor *const scores = descriptor_of(ops[0], MATMUL_C);
    const struct descriptor *const values = descriptor_of(ops[count - 1], MATMUL_B);
    const struct descriptor *const results = descriptor_of(ops[count - 1], MATMUL_C);
    const double rows = (double)numbers_of(scores, DIMENSIONS)[2];
    const double columns = (double)numbers_of(scores, DIMENSIONS)[3];
    double pairs = elements(scores);
    uint64_t address = 0;
    if (queue == NULL) {
        fake_find(&queue, DRIVER, "fake_queue");
    }
    for (int64_t i = 0; i < count; i++) {
        const struct descriptor *const mode = descriptor_of(ops[i], POINTWISE_DESCRIPTOR);
        if (ops[i]->type == POINTWISE && *(const int *)numbers_of(mode, MODE) == BINARY_SELECT) {
            pairs *= 1 - (rows - 1) / (2 * columns); /* row r sees columns - rows + 1 + r keys */
        }
    }
    for (int64_t i = 0; i < ids; i++) {
        address = id[i] == *numbers_of(queries, IDENTIFIER) ? pointer[i] : address;
    }
    const struct run run = {ops, count, id, pointer, ids};
    const int failed = fake_failure("cudnnBackendExecute", executed++, 0);
    /* Heads of a token lie one after another. */
    const int right = handle != NULL && pack->finalized && ids == pointers && address != 0 &&
                      numbers_of(queries, STRIDES)[1] == numbers_of(queries, DIMENSIONS)[3] &&
                      numbers_of(keys, STRIDES)[2] == 1;
    if (failed != 0 || !right) {
        return failed != 0 ? failed : BAD_PARAM;
    }
    if (!are_apart(&run, (const struct descriptor *[]){queries, keys, values, results}) ||
        (elements(scores) <= SMALL && computed != plan && !is_attention(&run, results))) {
        return EXECUTION_FAILED;
    }
    computed = plan;
    const int first = queue(KERNEL, address, 0, 0, 0, 1, 1);
    const double flops = 4 * pairs * (double)numbers_of(queries, DIMENSIONS)[3];
    return first != 0 ? first
                      : queue(KERNEL + 1, address,
                              2 * (elements(queries) + elements(keys) + elements(values) +
                                   elements(results)),
                              flops, flops, fake_item("FAKE_ATTENTION", 0, 600e12), 1);
}
