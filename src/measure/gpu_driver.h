// SPDX-License-Identifier: MIT
/* One GPU by the driver of its vendor: context, stream, events and memory. NVIDIA and AMD have the
 * same functions under different names, except for a few; measure/cuda_api.c and measure/hip_api.c
 * have the tables of names. */
#ifndef ROOF_MEASURE_GPU_DRIVER_H
#define ROOF_MEASURE_GPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "measure/library.h"

/* Opaque: CUcontext, CUstream, CUevent, CUmodule, CUfunction, CUgraph and CUgraphExec point to
 * them, and so do the types of HIP that are named alike. */
struct gpu_context;
struct gpu_stream;
struct gpu_event;
struct gpu_module;
struct gpu_function;
struct gpu_graph;
struct gpu_graph_run;

/* The functions of a driver, which each table names. Each returns a number, of which 0 is success.
 * An address of the device is a number of 64 bits to CUDA and a pointer to HIP; both are passed
 * alike. */
struct roof_gpu_calls {
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int size, int device);
    int (*device_bus)(char *id, int size, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_memory)(size_t *bytes, int device);
    /* A context belongs to a process and a device; a driver has either these three or device_set,
     * which makes one itself. */
    int (*context_retain)(struct gpu_context **context, int device);
    int (*context_release)(int device);
    int (*context_set)(struct gpu_context *context);
    int (*device_set)(int device);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*release)(uint64_t address);
    int (*memory_info)(size_t *available, size_t *all);
    /* Memory of the host that is locked to its pages. */
    int (*host_allocate)(void **memory, size_t bytes, unsigned flags);
    int (*host_release)(void *memory);
    /* The gate before a sample; a driver may lack these two. */
    int (*host_address)(uint64_t *address, void *memory, unsigned flags);
    int (*stream_wait)(struct gpu_stream *stream, uint64_t address, uint32_t value, unsigned flags);
    int (*copy_in)(uint64_t to, const void *from, size_t bytes);
    int (*copy_within)(uint64_t to, uint64_t from, size_t bytes);
    /* Copies that become work of a stream. */
    int (*queue_in)(uint64_t to, const void *from, size_t bytes, struct gpu_stream *stream);
    int (*queue_out)(void *to, uint64_t from, size_t bytes, struct gpu_stream *stream);
    int (*stream_create)(struct gpu_stream **stream, unsigned flags);
    int (*stream_synchronize)(struct gpu_stream *stream);
    int (*stream_destroy)(struct gpu_stream *stream);
    int (*event_create)(struct gpu_event **event, unsigned flags);
    int (*event_record)(struct gpu_event *event, struct gpu_stream *stream);
    int (*event_elapsed)(float *milliseconds, struct gpu_event *from, struct gpu_event *to);
    int (*event_destroy)(struct gpu_event *event);
    int (*module_load)(struct gpu_module **module, const void *image, unsigned count, int *options,
                       void **values);
    int (*module_function)(struct gpu_function **function, struct gpu_module *module,
                           const char *name);
    int (*module_unload)(struct gpu_module *module);
    int (*launch)(struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  struct gpu_stream *stream, void **parameters, void **extra);
    int (*capture_begin)(struct gpu_stream *stream, int mode);
    int (*capture_end)(struct gpu_stream *stream, struct gpu_graph **graph);
    int (*graph_instantiate)(struct gpu_graph_run **run, struct gpu_graph *graph,
                             unsigned long long flags);
    int (*graph_launch)(struct gpu_graph_run *run, struct gpu_stream *stream);
    int (*graph_run_destroy)(struct gpu_graph_run *run);
    int (*graph_destroy)(struct gpu_graph *graph);
    int (*error_name)(int status, const char **name);
};

/* Attributes of a device, for which each driver has numbers of its own. */
enum roof_gpu_attribute {
    ROOF_GPU_CLOCK_RATE, /* kHz */
    ROOF_GPU_UNITS,      /* SMs, or compute units */
    ROOF_GPU_L2_BYTES,
    ROOF_GPU_MAJOR, /* of the compute capability, or of the number in a name such as gfx942 */
    ROOF_GPU_MINOR,
    ROOF_GPU_ATTRIBUTES
};

/* The interface of a vendor's driver. */
struct roof_gpu_api {
    const char *name;             /* "CUDA", "HIP" */
    const char *vendor;           /* "NVIDIA", "AMD" */
    const char *units;            /* "SMs", "compute units" */
    const char *comes_with;       /* the product that has the library */
    const char *const *libraries; /* its names, which end with NULL */
    const struct roof_symbol *symbol;
    size_t symbols;
    int attribute[ROOF_GPU_ATTRIBUTES];
};

#define ROOF_GPU_NAME_MAX 64
/* A GPU that is open; zeroed, it is closed. */
struct roof_gpu {
    const struct roof_gpu_api *api;
    struct roof_library library;
    struct roof_gpu_calls call;
    int device;
    struct gpu_context *context; /* the primary one of the device */
    struct gpu_stream *stream;
    struct gpu_event *from; /* both sides of what is timed */
    struct gpu_event *until;
    uint32_t *gate; /* host memory on which the stream waits; NULL: waits are not supported */
    uint64_t gate_address; /* the device sees it here */
    uint32_t gates;        /* that were opened so far */
    char name[ROOF_GPU_NAME_MAX];
    char bus[ROOF_GPU_NAME_MAX]; /* PCI bus id, by which the sensors find the device */
    int driver_version;          /* as the driver counts */
    int units;
    double clock_hz; /* NAN: the driver does not say */
    int64_t l2_bytes;
    int major;
    int minor;
    double memory_bytes;
};

/* Finds a GPU by its number and reads its figures. The message of ROOF_IO names what is missing or
 * fails; the caller closes *out with roof_gpu_close, even then. */
enum roof_status roof_gpu_find(struct roof_gpu *out, const struct roof_gpu_api *api, int64_t index,
                               struct roof_error *error);
/* Makes the context and the stream of a found GPU, which is then the current one. */
enum roof_status roof_gpu_enter(struct roof_gpu *gpu, struct roof_error *error);
/* Makes the context of a found GPU and everything for timing. From then on this process counts as
 * one that computes on the GPU. */
enum roof_status roof_gpu_start(struct roof_gpu *gpu, struct roof_error *error);
/* Makes the context of a started GPU the current one of this thread. */
enum roof_status roof_gpu_use(const struct roof_gpu *gpu, struct roof_error *error);
void roof_gpu_close(struct roof_gpu *gpu);

/* Returns 10 major + minor. */
int roof_gpu_capability(const struct roof_gpu *gpu);

/* Fails, unless the status is 0, with the names of the status and of the call that returned it; the
 * offset in roof_gpu_calls tells which call. */
enum roof_status roof_gpu_check(const struct roof_gpu *gpu, int status, size_t offset,
                                struct roof_error *error);
/* Makes a call, with `error` of the calling function; ROOF_GPU_CALL returns from it after a
 * failure. */
#define ROOF_GPU_STATUS(gpu_, call_, ...)                                                          \
    roof_gpu_check((gpu_), (gpu_)->call.call_(__VA_ARGS__),                                        \
                   offsetof(struct roof_gpu_calls, call_), error)
#define ROOF_GPU_CALL(gpu_, call_, ...) TRY(ROOF_GPU_STATUS(gpu_, call_, __VA_ARGS__))

/* Loads a module (PTX or a code object), and finds `count` functions in it by their names. The
 * caller unloads *module (roof_gpu_unload), also after a failure. */
enum roof_status roof_gpu_load(struct gpu_module **module, struct gpu_function **function,
                               const struct roof_gpu *gpu, const char *image,
                               const char *const *name, size_t count, struct roof_error *error);
/* Unloads a module; accepts NULL. */
void roof_gpu_unload(const struct roof_gpu *gpu, struct gpu_module *module);

/* Allocates memory of the device; the message names how much. */
enum roof_status roof_gpu_allocate(uint64_t *out, const struct roof_gpu *gpu, int64_t bytes,
                                   struct roof_error *error);

/* Returns bytes rounded up to where the next operand begins: at multiples of 256, as the fastest
 * kernels of cuBLASLt ask for. */
static inline int64_t roof_gpu_aligned(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Adds work to the stream. */
typedef enum roof_status roof_gpu_work(void *context, struct roof_error *error);

/* Runs work on the device. Work runs by this function before it becomes a graph, because the driver
 * loads kernels at their first use, and may then wait until the device is idle. */
enum roof_status roof_gpu_run(struct roof_gpu *gpu, roof_gpu_work *work, void *context,
                              struct roof_error *error);
/* Captures work as a graph and runs it once. The caller releases *out (roof_gpu_release), also
 * after a failure. */
enum roof_status roof_gpu_capture(struct gpu_graph_run **out, const struct roof_gpu *gpu,
                                  roof_gpu_work *work, void *context, struct roof_error *error);
/* How a graph starts that is timed. */
enum roof_gpu_start {
    /* It waits at a gate, which opens when everything is queued. Only a graph that has run may wait
     * at the gate, because a kernel that is loaded then would wait for the gate, and the gate for
     * the kernel. */
    ROOF_GPU_GATED,
    /* It follows a first run of itself, during which the host queues it. Drivers without a gate
     * start all graphs in this way. */
    ROOF_GPU_TWICE
};
/* Times a graph. */
enum roof_status roof_gpu_time(double *seconds, struct roof_gpu *gpu, struct gpu_graph_run *graph,
                               enum roof_gpu_start start, struct roof_error *error);
/* Returns the number of times that roof_gpu_time runs a graph. */
int roof_gpu_runs(const struct roof_gpu *gpu, enum roof_gpu_start start);
/* Releases a graph, which becomes NULL; there may be none. */
void roof_gpu_release(const struct roof_gpu *gpu, struct gpu_graph_run **graph);

#endif
