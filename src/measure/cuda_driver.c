// SPDX-License-Identifier: MIT
#include "measure/cuda_driver.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/quantity.h"

/* CUdevice_attribute */
enum {
    ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    ATTRIBUTE_L2_CACHE_SIZE = 38,
    ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};
/* CU_STREAM_NON_BLOCKING, CU_EVENT_DEFAULT, CU_STREAM_WAIT_VALUE_GEQ,
 * CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
enum { STREAM_NON_BLOCKING = 1, EVENT_DEFAULT = 0, WAIT_GREATER_EQUAL = 0, CAPTURE_OF_THREAD = 1 };

static const struct roof_symbol symbols[] = {
    ROOF_SYMBOL(roof_cuda_calls, cuInit),
    ROOF_SYMBOL(roof_cuda_calls, cuDriverGetVersion),
    ROOF_SYMBOL(roof_cuda_calls, cuDeviceGetCount),
    ROOF_SYMBOL(roof_cuda_calls, cuDeviceGet),
    ROOF_SYMBOL(roof_cuda_calls, cuDeviceGetName),
    ROOF_SYMBOL(roof_cuda_calls, cuDeviceGetPCIBusId),
    ROOF_SYMBOL(roof_cuda_calls, cuDeviceGetAttribute),
    ROOF_SYMBOL(roof_cuda_calls, cuDeviceTotalMem_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuDevicePrimaryCtxRetain),
    ROOF_SYMBOL(roof_cuda_calls, cuDevicePrimaryCtxRelease_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuCtxSetCurrent),
    ROOF_SYMBOL(roof_cuda_calls, cuMemAlloc_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuMemFree_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuMemGetInfo_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuMemAllocHost_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuMemFreeHost),
    ROOF_SYMBOL(roof_cuda_calls, cuMemHostGetDevicePointer_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuMemcpyHtoD_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuMemcpyDtoH_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuMemcpyDtoD_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuStreamCreate),
    ROOF_SYMBOL(roof_cuda_calls, cuStreamSynchronize),
    ROOF_SYMBOL(roof_cuda_calls, cuStreamDestroy_v2),
    ROOF_OPTIONAL(roof_cuda_calls, cuStreamWaitValue32_v2), /* from CUDA 11.7 on */
    ROOF_SYMBOL(roof_cuda_calls, cuEventCreate),
    ROOF_SYMBOL(roof_cuda_calls, cuEventRecord),
    ROOF_SYMBOL(roof_cuda_calls, cuEventElapsedTime),
    ROOF_SYMBOL(roof_cuda_calls, cuEventDestroy_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuModuleLoadDataEx),
    ROOF_SYMBOL(roof_cuda_calls, cuModuleGetFunction),
    ROOF_SYMBOL(roof_cuda_calls, cuModuleUnload),
    ROOF_SYMBOL(roof_cuda_calls, cuLaunchKernel),
    ROOF_SYMBOL(roof_cuda_calls, cuStreamBeginCapture_v2),
    ROOF_SYMBOL(roof_cuda_calls, cuStreamEndCapture),
    ROOF_SYMBOL(roof_cuda_calls, cuGraphInstantiateWithFlags), /* from CUDA 11.4 on */
    ROOF_SYMBOL(roof_cuda_calls, cuGraphLaunch),
    ROOF_SYMBOL(roof_cuda_calls, cuGraphExecDestroy),
    ROOF_SYMBOL(roof_cuda_calls, cuGraphDestroy),
    ROOF_SYMBOL(roof_cuda_calls, cuGetErrorName),
};

enum roof_status roof_cuda_check(const struct roof_cuda *cuda, int status, const char *call,
                                 struct roof_error *error)
{
    const char *name = NULL;
    if (status == 0) {
        return ROOF_OK;
    }
    if (cuda->call.cuGetErrorName(status, &name) != 0 || name == NULL) {
        return roof_error_set(error, ROOF_IO, "%s: CUDA error %d", call, status);
    }
    return roof_error_set(error, ROOF_IO, "%s: %s", call, name);
}

enum roof_status roof_cuda_load(struct cuda_module **module, struct cuda_function **function,
                                const struct roof_cuda *cuda, const char *ptx,
                                const char *const *name, size_t count, struct roof_error *error)
{
    *module = NULL;
    ROOF_CUDA(cuda, cuModuleLoadDataEx, module, ptx, 0, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        ROOF_CUDA(cuda, cuModuleGetFunction, &function[i], *module, name[i]);
    }
    return ROOF_OK;
}

void roof_cuda_unload(const struct roof_cuda *cuda, struct cuda_module *module)
{
    if (module != NULL) {
        (void)cuda->call.cuModuleUnload(module);
    }
}

enum roof_status roof_cuda_allocate(uint64_t *out, const struct roof_cuda *cuda, int64_t bytes,
                                    struct roof_error *error)
{
    *out = 0;
    const enum roof_status status =
        roof_cuda_check(cuda, cuda->call.cuMemAlloc_v2(out, (size_t)bytes), "cuMemAlloc_v2", error);
    if (status != ROOF_OK) {
        *out = 0;
        roof_error_append(error, " (%" PRId64 " bytes)", bytes);
    }
    return status;
}

/* --- the device ---------------------------------------------------------------------------- */

static enum roof_status read_figures(struct roof_cuda *cuda, struct roof_error *error)
{
    int kilohertz = 0;
    int l2 = 0;
    size_t memory = 0;
    const struct {
        int attribute;
        int *value;
    } figures[] = {{ATTRIBUTE_CLOCK_RATE, &kilohertz},
                   {ATTRIBUTE_MULTIPROCESSOR_COUNT, &cuda->units},
                   {ATTRIBUTE_L2_CACHE_SIZE, &l2},
                   {ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &cuda->major},
                   {ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &cuda->minor}};
    ROOF_CUDA(cuda, cuDriverGetVersion, &cuda->driver_version);
    ROOF_CUDA(cuda, cuDeviceGetName, cuda->name, ROOF_CUDA_NAME_SIZE, cuda->device);
    ROOF_CUDA(cuda, cuDeviceGetPCIBusId, cuda->bus, ROOF_CUDA_NAME_SIZE, cuda->device);
    ROOF_CUDA(cuda, cuDeviceTotalMem_v2, &memory, cuda->device);
    for (size_t i = 0; i < COUNT(figures); i++) {
        ROOF_CUDA(cuda, cuDeviceGetAttribute, figures[i].value, figures[i].attribute, cuda->device);
    }
    cuda->clock_hz = kilohertz > 0 ? 1e3 * kilohertz : ROOF_UNKNOWN;
    cuda->l2_bytes = l2;
    cuda->memory_bytes = (double)memory;
    return cuda->units > 0
               ? ROOF_OK
               : roof_error_set(error, ROOF_IO, "the CUDA driver knows no SMs of %s", cuda->name);
}

static enum roof_status find_device(struct roof_cuda *cuda, int64_t index, struct roof_error *error)
{
    int count = 0;
    ROOF_CUDA(cuda, cuInit, 0);
    ROOF_CUDA(cuda, cuDeviceGetCount, &count);
    if (index >= count) {
        return roof_error_set(error, count == 0 ? ROOF_IO : ROOF_USAGE,
                              "there is no CUDA device %" PRId64 ": the driver has %d", index,
                              count);
    }
    ROOF_CUDA(cuda, cuDeviceGet, &cuda->device, (int)index);
    return read_figures(cuda, error);
}

/* Makes the gate where the driver has it; without it the first kernel waits for the others to be
 * queued, which a graph of many hides. */
static enum roof_status make_gate(struct roof_cuda *cuda, struct roof_error *error)
{
    void *memory = NULL;
    if (cuda->call.cuStreamWaitValue32_v2 == NULL) {
        return ROOF_OK;
    }
    ROOF_CUDA(cuda, cuMemAllocHost_v2, &memory, sizeof *cuda->gate);
    cuda->gate = memory;
    *cuda->gate = 0;
    ROOF_CUDA(cuda, cuMemHostGetDevicePointer_v2, &cuda->gate_address, memory, 0);
    /* Some systems have the function and no such waits. */
    if (cuda->call.cuStreamWaitValue32_v2(cuda->stream, cuda->gate_address, cuda->gates,
                                          WAIT_GREATER_EQUAL) != 0) {
        cuda->gate = NULL;
        ROOF_CUDA(cuda, cuMemFreeHost, memory);
    }
    return ROOF_OK;
}

enum roof_status roof_cuda_find(struct roof_cuda *out, int64_t index, struct roof_error *error)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    *out = (struct roof_cuda){.clock_hz = ROOF_UNKNOWN};
    TRY(roof_library_open(&out->library, names, "the NVIDIA driver", error));
    TRY(roof_library_find(&out->library, &out->call, symbols, COUNT(symbols), error));
    return find_device(out, index, error);
}

enum roof_status roof_cuda_start(struct roof_cuda *cuda, struct roof_error *error)
{
    ROOF_CUDA(cuda, cuDevicePrimaryCtxRetain, &cuda->context, cuda->device);
    ROOF_CUDA(cuda, cuCtxSetCurrent, cuda->context);
    ROOF_CUDA(cuda, cuStreamCreate, &cuda->stream, STREAM_NON_BLOCKING);
    ROOF_CUDA(cuda, cuEventCreate, &cuda->from, EVENT_DEFAULT);
    ROOF_CUDA(cuda, cuEventCreate, &cuda->until, EVENT_DEFAULT);
    return make_gate(cuda, error);
}

void roof_cuda_close(struct roof_cuda *cuda)
{
    if (cuda->gate != NULL) {
        (void)cuda->call.cuMemFreeHost(cuda->gate);
    }
    if (cuda->until != NULL) {
        (void)cuda->call.cuEventDestroy_v2(cuda->until);
    }
    if (cuda->from != NULL) {
        (void)cuda->call.cuEventDestroy_v2(cuda->from);
    }
    if (cuda->stream != NULL) {
        (void)cuda->call.cuStreamDestroy_v2(cuda->stream);
    }
    if (cuda->context != NULL) {
        (void)cuda->call.cuDevicePrimaryCtxRelease_v2(cuda->device);
    }
    roof_library_close(&cuda->library);
    *cuda = (struct roof_cuda){.context = NULL};
}

/* --- work ---------------------------------------------------------------------------------- */

static enum roof_status queue(struct roof_cuda *cuda, struct cuda_graph_run *graph,
                              struct roof_error *error)
{
    if (cuda->gate != NULL) {
        ROOF_CUDA(cuda, cuStreamWaitValue32_v2, cuda->stream, cuda->gate_address, cuda->gates + 1,
                  WAIT_GREATER_EQUAL);
    }
    ROOF_CUDA(cuda, cuEventRecord, cuda->from, cuda->stream);
    ROOF_CUDA(cuda, cuGraphLaunch, graph, cuda->stream);
    ROOF_CUDA(cuda, cuEventRecord, cuda->until, cuda->stream);
    return ROOF_OK;
}

enum roof_status roof_cuda_run(struct roof_cuda *cuda, roof_cuda_work *work, void *context,
                               struct roof_error *error)
{
    TRY(work(context, error));
    ROOF_CUDA(cuda, cuStreamSynchronize, cuda->stream);
    return ROOF_OK;
}

enum roof_status roof_cuda_time(double *seconds, struct roof_cuda *cuda,
                                struct cuda_graph_run *graph, struct roof_error *error)
{
    float milliseconds = 0;
    const enum roof_status status = queue(cuda, graph, error);
    cuda->gates++;
    if (cuda->gate != NULL) { /* it opens also after a failure: the stream must not wait for ever */
        atomic_thread_fence(memory_order_seq_cst);
        *(volatile uint32_t *)cuda->gate = cuda->gates;
    }
    TRY(status);
    ROOF_CUDA(cuda, cuStreamSynchronize, cuda->stream);
    ROOF_CUDA(cuda, cuEventElapsedTime, &milliseconds, cuda->from, cuda->until);
    *seconds = (double)milliseconds / 1e3;
    return ROOF_OK;
}

enum roof_status roof_cuda_capture(struct cuda_graph_run **out, const struct roof_cuda *cuda,
                                   roof_cuda_work *work, void *context, struct roof_error *error)
{
    struct cuda_graph *graph = NULL;
    ROOF_CUDA(cuda, cuStreamBeginCapture_v2, cuda->stream, CAPTURE_OF_THREAD);
    enum roof_status status = work(context, error);
    const int ended = cuda->call.cuStreamEndCapture(cuda->stream, &graph);
    if (status == ROOF_OK) {
        status = roof_cuda_check(cuda, ended, "cuStreamEndCapture", error);
    }
    if (status == ROOF_OK) {
        status = roof_cuda_check(cuda, cuda->call.cuGraphInstantiateWithFlags(out, graph, 0),
                                 "cuGraphInstantiateWithFlags", error);
    }
    if (graph != NULL) {
        (void)cuda->call.cuGraphDestroy(graph);
    }
    TRY(status);
    ROOF_CUDA(cuda, cuGraphLaunch, *out, cuda->stream);
    ROOF_CUDA(cuda, cuStreamSynchronize, cuda->stream);
    return ROOF_OK;
}

void roof_cuda_release(const struct roof_cuda *cuda, struct cuda_graph_run **graph)
{
    if (*graph != NULL) {
        (void)cuda->call.cuGraphExecDestroy(*graph);
    }
    *graph = NULL;
}
