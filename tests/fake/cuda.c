// SPDX-License-Identifier: MIT
/*
 * A libcuda.so.1 with a planted GPU. Time is that of its own clock, which only kernels move: a
 * kernel takes a launch and the longer of its bytes over a bandwidth and its FLOPs over a peak. Its
 * operands come from the L2 cache if no more bytes than that holds were touched since their last
 * use.
 *
 *   FAKE_SMS (100) FAKE_L2 (50e6 bytes) FAKE_BANDWIDTH (3e12 bytes/s) FAKE_L2_BANDWIDTH (8e12)
 *   FAKE_HOST (50e9,40e9 bytes/s to the device and from it)
 *   FAKE_LAUNCH (1.2e-6 s) FAKE_FP32 (60e12 FLOP/s; fp16 twice, fp64 half) FAKE_CAPABILITY (90)
 *   FAKE_NAME (Fake GPU): its number follows
 *   FAKE_ENERGY=W,J,J: watts whatever it does, joules per byte and per FLOP, for NVML's counter
 *   FAKE_NOISE (0): each queue of work takes so much longer or shorter, at most
 *   FAKE_FREE (80 GiB): the bytes that are free
 *   FAKE_NO_MEMORY=K: the K-th allocation fails, from 1
 *   FAKE_NO_WAITS=1: streams cannot wait for a value
 *   and FAKE_GPUS and FAKE_FAIL as in fake.h
 *
 * A kernel is loaded when it is launched first, for which the driver waits until the device is
 * idle: behind a gate, or while a graph is captured, that fails here, where a real one would hang.
 * So does a graph with kernels of cuDNN behind a gate.
 * What is not released when the library is closed is told on standard error. WITHOUT_GRAPHS leaves
 * a function out, as drivers before CUDA 11.4 do.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "fake.h"

#define NO_MEMORY 2
#define UNKNOWN 999
#define BUFFERS_MAX 16384 /* a power of two */
#define WORK_MAX 8192
#define LIBRARY_KERNELS_MAX 258
#define HOSTS_MAX 4
#define DEVICE_MAP 2 /* CU_MEMHOSTALLOC_DEVICEMAP, hipHostMallocMapped */
#define CUDNN_KERNELS (KERNELS + 256)

#ifdef HIP
enum { CLOCK = 5, UNITS = 63, L2 = 19, MAJOR = 23, MINOR = 61 };
#define CAPABILITY 94
#define KERNELS_THERE ATTEND_64 /* those of attention come last */
#define L3_BYTES (256.0 * (1 << 20))
#define VERSION 70051831 /* HIP 7.0 */
#else
enum { CLOCK = 13, UNITS = 16, L2 = 38, MAJOR = 75, MINOR = 76 };
#define CAPABILITY 90
#define KERNELS_THERE KERNELS
#define L3_BYTES 0
#define VERSION 13000
#endif
enum kernel {
    READ,
    COPY,
    TRIAD,
    FP32,
    FP16,
    FP64,
    NOTHING,
    NORM,
    ADD,
    GATE,
    ROTATE,
    QUANTIZE,
    ATTEND_64,
    ATTEND_128,
    MERGE,
    KERNELS
};
static const char *const names[KERNELS] = {
    "roof_read",          "roof_copy",          "roof_triad",   "roof_multiply_fp32",
    "roof_multiply_fp16", "roof_multiply_fp64", "roof_nothing", "roof_norm",
    "roof_add",           "roof_gate",          "roof_rotate",  "roof_quantize",
    "roof_attend_64",     "roof_attend_128",    "roof_merge"};

/* Work of the stream: bytes at an address, FLOPs, and the rate of these. */
struct work {
    uint64_t address;
    double bytes;
    double passes;
    double flops;
    double useful; /* the FLOPs of them that are none of padding */
    double peak;
    double slower; /* a factor */
    bool waits;    /* the host waits for the device while it queues this */
};

struct graph {
    struct work work[WORK_MAX];
    int count;
};

static double now_s;
static double touched;
static double joules;
static struct {
    double l2;
    double l2_bandwidth;
    double l3; /* of HIP */
    double l3_bandwidth;
    double bandwidth;
    double launch;
    double watts;
    double byte_j;
    double flop_j;
} planted; /* what every kernel asks for, read once */
/* Buffers stand here by a hash of their addresses; of two in one place the later one stays. */
static struct buffer {
    uint64_t address; /* 0: none */
    double touched;
} buffers[BUFFERS_MAX];
static struct graph *captured;
static uint64_t top = 1 << 20;
static long allocations;
static long launches;
static long replays;
static uint32_t random_state = 1;
static long contexts;
static long held; /* contexts, streams and the like, and memory, that are not released yet */
static bool loaded[KERNELS + LIBRARY_KERNELS_MAX];
static const volatile uint32_t *gate; /* what the stream waits for; NULL: nothing */
static uint32_t awaited;
/* Memory of the host that is locked to its pages. */
static struct host {
    char *memory; /* NULL: none */
    size_t bytes;
    bool mapped; /* the device sees it */
} hosts[HOSTS_MAX];
static int current;                  /* the device that calls are about */
static int device_of[FAKE_GPUS_MAX]; /* a context and a stream of each device point to it */
#define ADDRESS_BITS 48              /* the number of the device stands above them */

static int fail(const char *call, long index)
{
    return fake_failure(call, index, 0);
}

/* Hands something out, unless the call fails; returns the status. */
static int hand_out(int status)
{
    held += status == 0 ? 1 : 0;
    return status;
}

/* Hands out a thing that a pointer stands for; a failed call writes none. */
static int hand_out_one(void **out, void *thing, int status)
{
    *out = status == 0 ? thing : *out;
    return hand_out(status);
}

/* Takes something back, also in a call that fails. */
static int take_back(const char *call)
{
    held--;
    return fail(call, 0);
}

/* For the fake NVML, which counts the processes that have one. */
long fake_contexts(void);
long fake_contexts(void)
{
    return contexts;
}

/* For tests: what is not released yet. */
long fake_held(void);
long fake_held(void)
{
    return held;
}

FAKE_TELL_LEFT(held, "fake driver: %ld things are not released")

/* --- time ---------------------------------------------------------------------------------- */

/* Returns the bandwidth for operands at an address, and notes their use. */
static double bandwidth_of(const struct work *work)
{
    struct buffer *const last =
        &buffers[(work->address / 512 * 0x9E3779B97F4A7C15U >> 32) % BUFFERS_MAX];
    /* Bytes that were touched since the last use of these. */
    const double since =
        last->address == work->address ? touched - last->touched + work->bytes : HUGE_VAL;
    touched += work->bytes;
    *last = (struct buffer){work->address, touched};
    return since <= planted.l2   ? planted.l2_bandwidth
           : since <= planted.l3 ? planted.l3_bandwidth
                                 : planted.bandwidth;
}

static double random_share(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return (double)(random_state >> 8) / (double)(1 << 23) - 1;
}

static void run(const struct work *work)
{
    double moving = 0;
    for (double pass = 0; pass < work->passes && work->bytes > 0; pass++) {
        moving += work->bytes / bandwidth_of(work);
    }
    const double computing = work->flops > 0 ? work->flops / work->peak : 0;
    const double took = planted.launch + (moving > computing ? moving : computing) * work->slower;
    now_s += took;
    joules += planted.watts * took + planted.byte_j * work->bytes * work->passes +
              planted.flop_j * work->useful;
}

/* A gate that is closed never lets the work begin. */
static bool is_closed(void)
{
    return gate != NULL && *gate < awaited;
}

/* Runs work, or captures it. */
static int add(const struct work *work)
{
    if (captured == NULL) {
        run(work);
        return 0;
    }
    if (captured->count == WORK_MAX) {
        return UNKNOWN;
    }
    captured->work[captured->count++] = *work;
    return 0;
}

static int queue(int kernel, const struct work *work)
{
    const bool first = !loaded[kernel];
    loaded[kernel] = true;
    return first && (captured != NULL || is_closed()) ? UNKNOWN : add(work);
}

/* The energy of all work so far, for the fake NVML. */
double fake_joules(void);
double fake_joules(void)
{
    return joules;
}

/* For the fake cuDNN, which holds more things, or fewer. */
void fake_hold(long more);
void fake_hold(long more)
{
    held += more;
}

/* For the fake NCCL: all GPUs have the same clock. */
void fake_wait(double seconds);
void fake_wait(double seconds)
{
    now_s += seconds;
}

/* For the fakes of cuBLASLt and cuDNN and their kernels. */
int fake_queue(int kernel, uint64_t address, double bytes, double flops, double useful, double peak,
               double slower);
int fake_queue(int kernel, uint64_t address, double bytes, double flops, double useful, double peak,
               double slower)
{
    return queue(KERNELS + kernel, &(struct work){address, bytes, 1, flops, useful, peak, slower,
                                                  KERNELS + kernel >= CUDNN_KERNELS});
}

/* --- the ABI of src/measure/cuda_api.c ------------------------------------------------------ */

CALL(cuInit, unsigned flags)
{
    (void)flags;
    allocations = launches = replays = 0;
    memset(buffers, 0, sizeof buffers);
    planted.l2 = fake_item("FAKE_L2", 0, 50e6);
    planted.l2_bandwidth = fake_item("FAKE_L2_BANDWIDTH", 0, 8e12);
    planted.l3 = fake_item("FAKE_L3", 0, L3_BYTES);
    planted.l3_bandwidth = fake_item("FAKE_L3_BANDWIDTH", 0, 5e12);
    planted.bandwidth = fake_item("FAKE_BANDWIDTH", 0, 3e12);
    planted.launch = fake_item("FAKE_LAUNCH", 0, 1.2e-6);
    planted.watts = fake_item("FAKE_ENERGY", 0, 0);
    planted.byte_j = fake_item("FAKE_ENERGY", 1, 0);
    planted.flop_j = fake_item("FAKE_ENERGY", 2, 0);
    memset(loaded, 0, sizeof loaded);
    random_state = 1;
    gate = NULL;
    awaited = 0;
    current = 0;
    return fail(NAME(cuInit), 0);
}

CALL(cuDriverGetVersion, int *version)
{
    FAKE_MAY_FAIL(NAME(cuDriverGetVersion));
    *version = VERSION;
    return 0;
}

CALL(cuDeviceGetCount, int *count)
{
    FAKE_MAY_FAIL(NAME(cuDeviceGetCount));
    *count = fake_gpus();
    return 0;
}

CALL(cuDeviceGet, int *device, int ordinal)
{
    FAKE_MAY_FAIL(NAME(cuDeviceGet));
    *device = ordinal;
    return 0;
}

CALL(cuDeviceGetName, char *name, int size, int device)
{
    FAKE_MAY_FAIL(NAME(cuDeviceGetName));
    const char *const planted_name = getenv("FAKE_NAME");
    (void)snprintf(name, (size_t)size, "%s %d", planted_name == NULL ? "Fake GPU" : planted_name,
                   device);
    return 0;
}

CALL(cuDeviceGetPCIBusId, char *id, int size, int device)
{
    FAKE_MAY_FAIL(NAME(cuDeviceGetPCIBusId));
    (void)snprintf(id, (size_t)size, "0000:%02X:00.0", device);
    return 0;
}

CALL(cuDeviceGetAttribute, int *value, int attribute, int device)
{
    FAKE_MAY_FAIL(NAME(cuDeviceGetAttribute));
    const int capability = (int)fake_item("FAKE_CAPABILITY", 0, CAPABILITY);
    (void)device;
    *value = attribute == CLOCK   ? 1500000
             : attribute == UNITS ? (int)fake_item("FAKE_SMS", 0, 100)
             : attribute == L2    ? (int)fake_item("FAKE_L2", 0, 50e6)
             : attribute == MAJOR ? capability / 10
             : attribute == MINOR ? capability % 10
                                  : -1;
    return 0;
}

CALL(cuDeviceTotalMem_v2, size_t *bytes, int device)
{
    FAKE_MAY_FAIL(NAME(cuDeviceTotalMem_v2));
    (void)device;
    *bytes = (size_t)80 << 30;
    return 0;
}

#ifndef HIP
CALL(cuDevicePrimaryCtxRetain, void **context, int device)
{
    const int failed = fail(NAME(cuDevicePrimaryCtxRetain), 0);
    contexts += failed == 0 ? 1 : 0;
    return hand_out_one(context, &device_of[device], failed);
}

CALL(cuDevicePrimaryCtxRelease_v2, int device)
{
    (void)device;
    contexts--;
    return take_back(NAME(cuDevicePrimaryCtxRelease_v2));
}

CALL(cuCtxSetCurrent, const int *context)
{
    FAKE_MAY_FAIL(NAME(cuCtxSetCurrent));
    current = (int)(context - device_of);
    return 0;
}
#endif

/* Addresses of memory that does not exist. */
CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes)
{
    FAKE_MAY_FAIL(NAME(cuMemAlloc_v2));
    const long wanted = (long)fake_item("FAKE_NO_MEMORY", 0, 0);
    *address = top | (uint64_t)current << ADDRESS_BITS;
    top += (bytes + 511) / 512 * 512;
    return hand_out(++allocations == wanted ? NO_MEMORY : 0);
}

CALL(cuMemFree_v2, uint64_t address)
{
    (void)address;
    return take_back(NAME(cuMemFree_v2));
}

CALL(cuMemGetInfo_v2, size_t *available, size_t *all)
{
    *all = (size_t)80 << 30;
    *available = (size_t)fake_item("FAKE_FREE", 0, 80.0 * (1 << 30));
    return fail(NAME(cuMemGetInfo_v2), 0);
}

/* Finds the memory of the host that has so many bytes from an address on; NULL: there is none. */
static struct host *find_host(const void *memory, size_t bytes)
{
    for (int i = 0; i < HOSTS_MAX; i++) {
        if (hosts[i].memory == memory && memory != NULL && bytes <= hosts[i].bytes) {
            return &hosts[i];
        }
    }
    return NULL;
}

CALL(cuMemHostAlloc, void **memory, size_t bytes, unsigned flags)
{
    const int failed = fail(NAME(cuMemHostAlloc), 0);
    for (int i = 0; i < HOSTS_MAX && failed == 0; i++) {
        if (hosts[i].memory == NULL) {
            hosts[i] = (struct host){malloc(bytes), bytes, (flags & DEVICE_MAP) != 0};
            return hand_out_one(memory, hosts[i].memory, hosts[i].memory == NULL ? NO_MEMORY : 0);
        }
    }
    return failed == 0 ? UNKNOWN : failed;
}

CALL(cuMemFreeHost, void *memory)
{
    struct host *const host = find_host(memory, 0);
    if (host == NULL) {
        return UNKNOWN;
    }
    gate = gate == memory ? NULL : gate;
    free(host->memory);
    host->memory = NULL;
    return take_back(NAME(cuMemFreeHost));
}

#ifndef HIP
CALL(cuMemHostGetDevicePointer_v2, uint64_t *address, void *memory, unsigned flags)
{
    FAKE_MAY_FAIL(NAME(cuMemHostGetDevicePointer_v2));
    const struct host *const host = find_host(memory, 0);
    *address = (uint64_t)(uintptr_t)memory;
    return host != NULL && host->mapped && flags == 0 ? 0 : UNKNOWN;
}
#endif

/* Copies over the link to the host: the second rate of FAKE_HOST is that from the device. */
static int transfer(const void *host, uint64_t device, size_t bytes, const void *stream, bool back)
{
    const double rate = fake_item("FAKE_HOST", back ? 1 : 0, back ? 40e9 : 50e9);
    return stream == &device_of[current] && device >> ADDRESS_BITS == (uint64_t)current &&
                   find_host(host, bytes) != NULL
               ? add(&(struct work){
                     .address = device, .flops = (double)bytes, .peak = rate, .slower = 1})
               : UNKNOWN;
}

CALL(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t bytes, void *stream)
{
    const int failed = fail(NAME(cuMemcpyHtoDAsync_v2), 0);
    return failed != 0 ? failed : transfer(from, to, bytes, stream, false);
}

CALL(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes, void *stream)
{
    const int failed = fail(NAME(cuMemcpyDtoHAsync_v2), 0);
    return failed != 0 ? failed : transfer(to, from, bytes, stream, true);
}

CALL(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes)
{
    (void)to;
    (void)from;
    (void)bytes;
    return fail(NAME(cuMemcpyHtoD_v2), 0);
}

CALL(cuMemcpyDtoD_v2, uint64_t to, uint64_t from, size_t bytes)
{
    FAKE_MAY_FAIL(NAME(cuMemcpyDtoD_v2));
    (void)to;
    (void)from;
    (void)bytes;
    return 0;
}

CALL(cuStreamCreate, void **stream, unsigned flags)
{
    (void)flags;
    return hand_out_one(stream, &device_of[current], fail(NAME(cuStreamCreate), 0));
}

CALL(cuStreamSynchronize, void *stream)
{
    (void)stream;
    return is_closed() ? UNKNOWN : fail(NAME(cuStreamSynchronize), launches);
}

CALL(cuStreamDestroy_v2, void *stream)
{
    (void)stream;
    return take_back(NAME(cuStreamDestroy_v2));
}

#ifndef HIP
CALL(cuStreamWaitValue32_v2, void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    FAKE_MAY_FAIL(NAME(cuStreamWaitValue32_v2));
    (void)stream;
    if (fake_item("FAKE_NO_WAITS", 0, 0) > 0) {
        return 801; /* CUDA_ERROR_NOT_SUPPORTED */
    }
    gate = (const volatile uint32_t *)(uintptr_t)address;
    awaited = value;
    return flags == 0 ? 0 : UNKNOWN;
}
#endif

CALL(cuEventCreate, void **event, unsigned flags)
{
    FAKE_MAY_FAIL(NAME(cuEventCreate));
    (void)flags;
    *event = calloc(1, sizeof now_s);
    return hand_out(*event == NULL ? NO_MEMORY : 0);
}

CALL(cuEventRecord, void *event, void *stream)
{
    FAKE_MAY_FAIL(NAME(cuEventRecord));
    (void)stream;
    *(double *)event = now_s;
    return 0;
}

CALL(cuEventElapsedTime, float *milliseconds, void *from, void *to)
{
    FAKE_MAY_FAIL(NAME(cuEventElapsedTime));
    const double noise = 1 + fake_item("FAKE_NOISE", 0, 0) * random_share();
    *milliseconds = (float)((*(double *)to - *(double *)from) * noise * 1e3);
    return 0;
}

CALL(cuEventDestroy_v2, void *event)
{
    free(event);
    return take_back(NAME(cuEventDestroy_v2));
}

CALL(cuModuleLoadDataEx, void **module, const void *image, unsigned count, int *options,
     void **values)
{
    (void)count;
    (void)options;
    (void)values;
#ifdef HIP
    if (strcmp(image, "code of the fake hipRTC") != 0) {
        return 200; /* hipErrorInvalidImage */
    }
#else
    (void)image;
#endif
    static int one;
    return hand_out_one(module, &one, fail(NAME(cuModuleLoadDataEx), 0));
}

CALL(cuModuleGetFunction, const char *const **function, void *module, const char *name)
{
    FAKE_MAY_FAIL(NAME(cuModuleGetFunction));
    (void)module;
    for (int i = 0; i < KERNELS_THERE; i++) {
        if (strcmp(names[i], name) == 0) {
            *function = &names[i];
            return 0;
        }
    }
    return 500; /* CUDA_ERROR_NOT_FOUND */
}

CALL(cuModuleUnload, void *module)
{
    (void)module;
    return take_back(NAME(cuModuleUnload));
}

CALL(cuLaunchKernel, const char *const *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
     void **parameters, void **extra)
{
    const enum kernel kernel = (enum kernel)(function - names);
    const double threads = (double)grid_x * grid_y * grid_z * block_x * block_y * block_z;
    struct work work = {.address = *(const uint64_t *)parameters[0], .passes = 1, .slower = 1};
    (void)shared;
    (void)extra;
    if (stream != &device_of[current] || work.address >> ADDRESS_BITS != (uint64_t)current) {
        return UNKNOWN; /* of another device */
    }
    if (kernel <= TRIAD) {
        work.bytes = (double)*(const uint64_t *)parameters[1] * 16 * (1 + (int)kernel);
        work.passes = (double)*(const uint32_t *)parameters[2];
    } else if (kernel >= NORM && kernel <= QUANTIZE) { /* rows of halves: two arrays, or three */
        const double arrays = kernel == QUANTIZE ? 1.5 : kernel == ADD || kernel == GATE ? 3 : 2;
        work.bytes = 2 * arrays * *(const uint32_t *)parameters[3] *
                     (double)*(const uint32_t *)parameters[4];
    } else if (kernel == ATTEND_64 || kernel == ATTEND_128) { /* keys and values of heads */
        const double keys = *(const uint32_t *)parameters[5];
        const uint32_t blocks = (*(const uint32_t *)parameters[6] + 3) / 4; /* of a head */
        work.bytes = 4.0 * grid_x / blocks * keys * (kernel == ATTEND_64 ? 64 : 128);
    } else if (kernel >= FP32 && kernel <= FP64) {
        const double each = kernel == FP16 ? 4 : 2;
        work.flops = threads * (double)*(const uint32_t *)parameters[1] * 64 * each;
        work.useful = work.flops;
        work.peak = fake_item("FAKE_FP32", 0, 60e12) * (kernel == FP16   ? 2
                                                        : kernel == FP64 ? 0.5
                                                                         : 1);
    }
    const int failed = fail(NAME(cuLaunchKernel), launches++);
    return failed != 0 ? failed : queue((int)kernel, &work);
}

CALL(cuStreamBeginCapture_v2, void *stream, int mode)
{
    FAKE_MAY_FAIL(NAME(cuStreamBeginCapture_v2));
    (void)stream;
    (void)mode;
    captured = calloc(1, sizeof *captured);
    return captured == NULL ? NO_MEMORY : 0;
}

CALL(cuStreamEndCapture, void *stream, struct graph **graph)
{
    (void)stream;
    *graph = captured;
    captured = NULL;
    held++; /* the graph is there also where the call fails, as an invalid one */
    return fail(NAME(cuStreamEndCapture), 0);
}

#ifndef WITHOUT_GRAPHS
CALL(cuGraphInstantiateWithFlags, struct graph **out, struct graph *graph, unsigned long long flags)
{
    (void)flags;
    *out = malloc(sizeof *graph);
    if (*out == NULL) {
        return NO_MEMORY;
    }
    **out = *graph;
    const int failed = fail(NAME(cuGraphInstantiateWithFlags), 0);
    if (failed != 0) {
        free(*out);
        *out = NULL;
    }
    return hand_out(failed);
}
#endif

CALL(cuGraphLaunch, struct graph *graph, void *stream)
{
    (void)stream;
    int failed = fail(NAME(cuGraphLaunch), replays++);
    for (int i = 0; i < graph->count && failed == 0; i++) {
        failed = graph->work[i].waits && is_closed() ? UNKNOWN : 0;
        run(&graph->work[i]);
    }
    return failed;
}

CALL(cuGraphExecDestroy, struct graph *graph)
{
    free(graph);
    return take_back(NAME(cuGraphExecDestroy));
}

CALL(cuGraphDestroy, struct graph *graph)
{
    free(graph);
    return take_back(NAME(cuGraphDestroy));
}

CALL(cuGetErrorName, int status, const char **name)
{
#ifdef HIP
    *name = status == 2     ? "hipErrorOutOfMemory"
            : status == 100 ? "hipErrorNoDevice"
            : status == 200 ? "hipErrorInvalidImage"
            : status == 214 ? "hipErrorECCNotCorrectable"
            : status == 719 ? "hipErrorLaunchFailure"
                            : NULL;
    return *name == NULL ? 1 : 0; /* as HIP does */
#else
    *name = status == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : status == 100 ? "CUDA_ERROR_NO_DEVICE"
            : status == 214 ? "CUDA_ERROR_ECC_UNCORRECTABLE"
            : status == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
            : status == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
            : status == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
                            : "CUDA_ERROR_UNKNOWN";
    return 0;
#endif
}
