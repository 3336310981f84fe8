// SPDX-License-Identifier: MIT
/* One NVIDIA GPU by the CUDA driver (libcuda.so.1): context, stream, events and memory. */
#ifndef ROOF_MEASURE_CUDA_DRIVER_H
#define ROOF_MEASURE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "measure/library.h"

/* Opaque: CUcontext, CUstream, CUevent, CUmodule, CUfunction, CUgraph and CUgraphExec point to
 * them. */
struct cuda_context;
struct cuda_stream;
struct cuda_event;
struct cuda_module;
struct cuda_function;
struct cuda_graph;
struct cuda_graph_run;

/* The functions, by the names in the CUDA Driver API reference (docs.nvidia.com/cuda), with the
 * suffixes that cuda.h gives them. Each returns a CUresult, of which 0 is success. */
struct roof_cuda_calls {
    int (*cuInit)(unsigned flags);
    int (*cuDriverGetVersion)(int *version);
    int (*cuDeviceGetCount)(int *count);
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDeviceGetName)(char *name, int size, int device);
    int (*cuDeviceGetPCIBusId)(char *id, int size, int device);
    int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
    int (*cuDeviceTotalMem_v2)(size_t *bytes, int device);
    int (*cuDevicePrimaryCtxRetain)(struct cuda_context **context, int device);
    int (*cuDevicePrimaryCtxRelease_v2)(int device);
    int (*cuCtxSetCurrent)(struct cuda_context *context);
    int (*cuMemAlloc_v2)(uint64_t *address, size_t bytes);
    int (*cuMemFree_v2)(uint64_t address);
    int (*cuMemGetInfo_v2)(size_t *available, size_t *all);
    int (*cuMemAllocHost_v2)(void **memory, size_t bytes);
    int (*cuMemFreeHost)(void *memory);
    int (*cuMemHostGetDevicePointer_v2)(uint64_t *address, void *memory, unsigned flags);
    int (*cuMemcpyHtoD_v2)(uint64_t to, const void *from, size_t bytes);
    int (*cuMemcpyDtoH_v2)(void *to, uint64_t from, size_t bytes);
    int (*cuMemcpyDtoD_v2)(uint64_t to, uint64_t from, size_t bytes);
    int (*cuStreamCreate)(struct cuda_stream **stream, unsigned flags);
    int (*cuStreamSynchronize)(struct cuda_stream *stream);
    int (*cuStreamDestroy_v2)(struct cuda_stream *stream);
    int (*cuStreamWaitValue32_v2)(struct cuda_stream *stream, uint64_t address, uint32_t value,
                                  unsigned flags);
    int (*cuEventCreate)(struct cuda_event **event, unsigned flags);
    int (*cuEventRecord)(struct cuda_event *event, struct cuda_stream *stream);
    int (*cuEventElapsedTime)(float *milliseconds, struct cuda_event *from, struct cuda_event *to);
    int (*cuEventDestroy_v2)(struct cuda_event *event);
    int (*cuModuleLoadDataEx)(struct cuda_module **module, const void *image, unsigned count,
                              int *options, void **values);
    int (*cuModuleGetFunction)(struct cuda_function **function, struct cuda_module *module,
                               const char *name);
    int (*cuModuleUnload)(struct cuda_module *module);
    int (*cuLaunchKernel)(struct cuda_function *function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, struct cuda_stream *stream, void **parameters,
                          void **extra);
    int (*cuStreamBeginCapture_v2)(struct cuda_stream *stream, int mode);
    int (*cuStreamEndCapture)(struct cuda_stream *stream, struct cuda_graph **graph);
    int (*cuGraphInstantiateWithFlags)(struct cuda_graph_run **run, struct cuda_graph *graph,
                                       unsigned long long flags);
    int (*cuGraphLaunch)(struct cuda_graph_run *run, struct cuda_stream *stream);
    int (*cuGraphExecDestroy)(struct cuda_graph_run *run);
    int (*cuGraphDestroy)(struct cuda_graph *graph);
    int (*cuGetErrorName)(int status, const char **name);
};

#define ROOF_CUDA_NAME_SIZE 64
/* A GPU that is open; zeroed, it is closed. */
struct roof_cuda {
    struct roof_library library;
    struct roof_cuda_calls call;
    int device;
    struct cuda_context *context;
    struct cuda_stream *stream;
    struct cuda_event *from;
    struct cuda_event *until;
    uint32_t *gate;        /* in memory of the host: the stream waits until it has a value */
    uint64_t gate_address; /* as the device sees it */
    uint32_t gates;        /* that were opened so far */
    char name[ROOF_CUDA_NAME_SIZE];
    char bus[ROOF_CUDA_NAME_SIZE]; /* PCI bus id, by which NVML finds the device */
    int driver_version;            /* 1000 major + 10 minor */
    int units;                     /* SMs */
    double clock_hz;               /* NAN: the driver does not say */
    int64_t l2_bytes;
    int major; /* compute capability */
    int minor;
    double memory_bytes;
};

/* Finds a GPU by its number and reads its figures. ROOF_IO names what is missing or fails; the
 * caller closes *out with roof_cuda_close, also then. */
enum roof_status roof_cuda_find(struct roof_cuda *out, int64_t index, struct roof_error *error);
/* Makes the context of a found GPU and all that work needs. From then on this process is one of
 * those that compute on the GPU. */
enum roof_status roof_cuda_start(struct roof_cuda *cuda, struct roof_error *error);
void roof_cuda_close(struct roof_cuda *cuda);

/* Fails with the name of what a call returned; ROOF_OK where it succeeded. */
enum roof_status roof_cuda_check(const struct roof_cuda *cuda, int status, const char *call,
                                 struct roof_error *error);
/* Makes a call and returns from the calling function, which has `error`, where it failed. */
#define ROOF_CUDA(cuda_, call_, ...)                                                               \
    TRY(roof_cuda_check((cuda_), (cuda_)->call.call_(__VA_ARGS__), #call_, error))

/* Loads a module from a text of PTX, and finds `count` functions in it by their names; the caller
 * unloads *module (roof_cuda_unload), also after a failure. */
enum roof_status roof_cuda_load(struct cuda_module **module, struct cuda_function **function,
                                const struct roof_cuda *cuda, const char *ptx,
                                const char *const *name, size_t count, struct roof_error *error);
/* Unloads a module; accepts NULL. */
void roof_cuda_unload(const struct roof_cuda *cuda, struct cuda_module *module);

/* Allocates memory of the device; the message names how much. */
enum roof_status roof_cuda_allocate(uint64_t *out, const struct roof_cuda *cuda, int64_t bytes,
                                    struct roof_error *error);

/* Adds work to the stream. */
typedef enum roof_status roof_cuda_work(void *context, struct roof_error *error);

/* Runs work on the device. What is to become a graph runs by this first: the driver loads kernels
 * when they are used first, and may wait for the device to be idle then. */
enum roof_status roof_cuda_run(struct roof_cuda *cuda, roof_cuda_work *work, void *context,
                               struct roof_error *error);
/* Captures work as a graph and runs it once. The caller releases *out (roof_cuda_release), also
 * after a failure. */
enum roof_status roof_cuda_capture(struct cuda_graph_run **out, const struct roof_cuda *cuda,
                                   roof_cuda_work *work, void *context, struct roof_error *error);
/* Times a graph: it is queued behind a gate, which opens when all of it is there. Nothing but a
 * graph that has run is ever behind the gate, since a kernel that is loaded then would wait for it,
 * and the gate for the kernel. */
enum roof_status roof_cuda_time(double *seconds, struct roof_cuda *cuda,
                                struct cuda_graph_run *graph, struct roof_error *error);
/* Releases a graph, which becomes NULL; there may be none. */
void roof_cuda_release(const struct roof_cuda *cuda, struct cuda_graph_run **graph);

#endif
