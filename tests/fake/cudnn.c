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
 * operands must fit. The first kernel that it proposes cannot be built. What is not released counts
 * with the things of the driver.
 */
#include <stdint.h>

#include "fake.h"

#define DRIVER "libcuda.so.1"
#define BAD_PARAM 2000
#define NOT_SUPPORTED 3000
#define ATTRIBUTES_MAX 16
#define KERNEL 256 /* and the next, behind those of cublaslt.c */

/* The numbers of cudnn_graph.h. */
enum { ENGINECFG = 3, PLAN = 5, POINTWISE = 13, PACK = 16, TENSOR = 17, MATMUL = 19 };
enum {
    MODE = 0,
    ENGINEHEUR_GRAPH = 201,
    ENGINEHEUR_RESULTS = 202,
    PLAN_CONFIG = 401,
    PLAN_WORKSPACE = 402,
    POINTWISE_DESCRIPTOR = 750,
    GRAPH_OPS = 801,
    DATA_TYPE = 901,
    DIMENSIONS = 902,
    STRIDES = 903,
    IDENTIFIER = 906,
    PACK_IDS = 1000,
    PACK_POINTERS = 1001,
    MATMUL_A = 1520,
    MATMUL_B = 1521,
    MATMUL_C = 1522
};
enum { BINARY_SELECT = 601 };

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
    const int failed = fake_failure("cudnnBackendExecute", executed++, 0);
    /* Heads of a token lie one after another. */
    const int right = handle != NULL && pack->finalized && ids == pointers && address != 0 &&
                      numbers_of(queries, STRIDES)[1] == numbers_of(queries, DIMENSIONS)[3] &&
                      numbers_of(keys, STRIDES)[2] == 1;
    if (failed != 0 || !right) {
        return failed != 0 ? failed : BAD_PARAM;
    }
    const int first = queue(KERNEL, address, 0, 0, 0, 1, 1);
    const double flops = 4 * pairs * (double)numbers_of(queries, DIMENSIONS)[3];
    return first != 0 ? first
                      : queue(KERNEL + 1, address,
                              2 * (elements(queries) + elements(keys) + elements(values) +
                                   elements(results)),
                              flops, flops, fake_item("FAKE_ATTENTION", 0, 600e12), 1);
}
