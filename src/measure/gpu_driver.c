// SPDX-License-Identifier: MIT
#include "measure/gpu_driver.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/quantity.h"

/* CU_STREAM_NON_BLOCKING, CU_EVENT_DEFAULT, CU_STREAM_WAIT_VALUE_GEQ,
 * CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_MEMHOSTALLOC_DEVICEMAP; those of HIP have the same
 * values. */
enum {
    STREAM_NON_BLOCKING = 1,
    EVENT_DEFAULT = 0,
    WAIT_GREATER_EQUAL = 0,
    CAPTURE_OF_THREAD = 1,
    HOST_SEEN_BY_DEVICE = 2
};

int roof_gpu_capability(const struct roof_gpu *gpu)
{
    return 10 * gpu->major + gpu->minor;
}

enum roof_status roof_gpu_check(const struct roof_gpu *gpu, int status, size_t offset,
                                struct roof_error *error)
{
    const char *const call = roof_symbol_name(gpu->api->symbol, gpu->api->symbols, offset);
    const char *name = NULL;
    if (status == 0) {
        return ROOF_OK;
    }
    if (gpu->call.error_name(status, &name) != 0 || name == NULL) {
        return roof_error_set(error, ROOF_IO, "%s: %s error %d", call, gpu->api->name, status);
    }
    return roof_error_set(error, ROOF_IO, "%s: %s", call, name);
}

enum roof_status roof_gpu_load(struct gpu_module **module, struct gpu_function **function,
                               const struct roof_gpu *gpu, const char *image,
                               const char *const *name, size_t count, struct roof_error *error)
{
    *module = NULL;
    ROOF_GPU_CALL(gpu, module_load, module, image, 0, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        ROOF_GPU_CALL(gpu, module_function, &function[i], *module, name[i]);
    }
    return ROOF_OK;
}

void roof_gpu_unload(const struct roof_gpu *gpu, struct gpu_module *module)
{
    if (module != NULL) {
        (void)gpu->call.module_unload(module);
    }
}

enum roof_status roof_gpu_allocate(uint64_t *out, const struct roof_gpu *gpu, int64_t bytes,
                                   struct roof_error *error)
{
    const enum roof_status status = ROOF_GPU_STATUS(gpu, allocate, out, (size_t)bytes);
    if (status != ROOF_OK) {
        *out = 0;
        roof_error_append(error, " (%" PRId64 " bytes)", bytes);
    }
    return status;
}

/* --- the device ---------------------------------------------------------------------------- */

static enum roof_status read_figures(struct roof_gpu *gpu, struct roof_error *error)
{
    int kilohertz = 0;
    int l2 = 0;
    size_t memory = 0;
    int *const figures[ROOF_GPU_ATTRIBUTES] = {[ROOF_GPU_CLOCK_RATE] = &kilohertz,
                                               [ROOF_GPU_UNITS] = &gpu->units,
                                               [ROOF_GPU_L2_BYTES] = &l2,
                                               [ROOF_GPU_MAJOR] = &gpu->major,
                                               [ROOF_GPU_MINOR] = &gpu->minor};
    ROOF_GPU_CALL(gpu, driver_version, &gpu->driver_version);
    ROOF_GPU_CALL(gpu, device_name, gpu->name, ROOF_GPU_NAME_MAX, gpu->device);
    ROOF_GPU_CALL(gpu, device_bus, gpu->bus, ROOF_GPU_NAME_MAX, gpu->device);
    ROOF_GPU_CALL(gpu, device_memory, &memory, gpu->device);
    for (size_t i = 0; i < COUNT(figures); i++) {
        ROOF_GPU_CALL(gpu, device_attribute, figures[i], gpu->api->attribute[i], gpu->device);
    }
    gpu->clock_hz = kilohertz > 0 ? 1e3 * kilohertz : ROOF_UNKNOWN;
    gpu->l2_bytes = l2;
    gpu->memory_bytes = (double)memory;
    return gpu->units > 0 ? ROOF_OK
                          : roof_error_set(error, ROOF_IO, "the %s driver does not have %s of %s",
                                           gpu->api->name, gpu->api->units, gpu->name);
}

static enum roof_status find_device(struct roof_gpu *gpu, int64_t index, struct roof_error *error)
{
    int count = 0;
    ROOF_GPU_CALL(gpu, init, 0);
    ROOF_GPU_CALL(gpu, device_count, &count);
    if (index >= count) {
        return roof_error_set(error, count == 0 ? ROOF_IO : ROOF_USAGE,
                              "there is no %s device %" PRId64 ": the driver has %d",
                              gpu->api->name, index, count);
    }
    ROOF_GPU_CALL(gpu, device_get, &gpu->device, (int)index);
    return read_figures(gpu, error);
}

/* Makes the gate if the driver has one; without it the first kernel waits until the others are
 * queued, which a graph of many hides. */
static enum roof_status make_gate(struct roof_gpu *gpu, struct roof_error *error)
{
    void *memory = NULL;
    if (gpu->call.stream_wait == NULL) {
        return ROOF_OK;
    }
    ROOF_GPU_CALL(gpu, host_allocate, &memory, sizeof *gpu->gate, HOST_SEEN_BY_DEVICE);
    gpu->gate = memory;
    *gpu->gate = 0;
    ROOF_GPU_CALL(gpu, host_address, &gpu->gate_address, memory, 0);
    /* Some systems have the function but do not support such waits. */
    if (gpu->call.stream_wait(gpu->stream, gpu->gate_address, gpu->gates, WAIT_GREATER_EQUAL) !=
        0) {
        gpu->gate = NULL;
        ROOF_GPU_CALL(gpu, host_release, memory);
    }
    return ROOF_OK;
}

enum roof_status roof_gpu_find(struct roof_gpu *out, const struct roof_gpu_api *api, int64_t index,
                               struct roof_error *error)
{
    *out = (struct roof_gpu){.api = api, .clock_hz = ROOF_UNKNOWN};
    TRY(roof_library_open(&out->library, api->libraries, api->comes_with, error));
    TRY(roof_library_find(&out->library, &out->call, api->symbol, api->symbols, error));
    return find_device(out, index, error);
}

enum roof_status roof_gpu_use(const struct roof_gpu *gpu, struct roof_error *error)
{
    if (gpu->call.context_retain == NULL) {
        ROOF_GPU_CALL(gpu, device_set, gpu->device);
        return ROOF_OK;
    }
    ROOF_GPU_CALL(gpu, context_set, gpu->context);
    return ROOF_OK;
}

enum roof_status roof_gpu_enter(struct roof_gpu *gpu, struct roof_error *error)
{
    if (gpu->call.context_retain != NULL) {
        ROOF_GPU_CALL(gpu, context_retain, &gpu->context, gpu->device);
    }
    TRY(roof_gpu_use(gpu, error));
    ROOF_GPU_CALL(gpu, stream_create, &gpu->stream, STREAM_NON_BLOCKING);
    return ROOF_OK;
}

enum roof_status roof_gpu_start(struct roof_gpu *gpu, struct roof_error *error)
{
    TRY(roof_gpu_enter(gpu, error));
    ROOF_GPU_CALL(gpu, event_create, &gpu->from, EVENT_DEFAULT);
    ROOF_GPU_CALL(gpu, event_create, &gpu->until, EVENT_DEFAULT);
    return make_gate(gpu, error);
}

void roof_gpu_close(struct roof_gpu *gpu)
{
    if (gpu->gate != NULL) {
        (void)gpu->call.host_release(gpu->gate);
    }
    if (gpu->until != NULL) {
        (void)gpu->call.event_destroy(gpu->until);
    }
    if (gpu->from != NULL) {
        (void)gpu->call.event_destroy(gpu->from);
    }
    if (gpu->stream != NULL) {
        (void)gpu->call.stream_destroy(gpu->stream);
    }
    if (gpu->context != NULL) {
        (void)gpu->call.context_release(gpu->device);
    }
    roof_library_close(&gpu->library);
    *gpu = (struct roof_gpu){.context = NULL};
}

/* --- work ---------------------------------------------------------------------------------- */

static bool has_gate(const struct roof_gpu *gpu, enum roof_gpu_start start)
{
    return start == ROOF_GPU_GATED && gpu->gate != NULL;
}

static enum roof_status queue(struct roof_gpu *gpu, struct gpu_graph_run *graph,
                              enum roof_gpu_start start, struct roof_error *error)
{
    if (has_gate(gpu, start)) {
        ROOF_GPU_CALL(gpu, stream_wait, gpu->stream, gpu->gate_address, gpu->gates + 1,
                      WAIT_GREATER_EQUAL);
    } else {
        ROOF_GPU_CALL(gpu, graph_launch, graph, gpu->stream);
    }
    ROOF_GPU_CALL(gpu, event_record, gpu->from, gpu->stream);
    ROOF_GPU_CALL(gpu, graph_launch, graph, gpu->stream);
    ROOF_GPU_CALL(gpu, event_record, gpu->until, gpu->stream);
    return ROOF_OK;
}

int roof_gpu_runs(const struct roof_gpu *gpu, enum roof_gpu_start start)
{
    return has_gate(gpu, start) ? 1 : 2;
}

enum roof_status roof_gpu_run(struct roof_gpu *gpu, roof_gpu_work *work, void *context,
                              struct roof_error *error)
{
    TRY(work(context, error));
    ROOF_GPU_CALL(gpu, stream_synchronize, gpu->stream);
    return ROOF_OK;
}

enum roof_status roof_gpu_time(double *seconds, struct roof_gpu *gpu, struct gpu_graph_run *graph,
                               enum roof_gpu_start start, struct roof_error *error)
{
    float milliseconds = 0;
    const enum roof_status status = queue(gpu, graph, start, error);
    if (has_gate(gpu, start)) { /* it also opens after a failure, so that the stream does not wait
                                   forever */
        gpu->gates++;
        atomic_thread_fence(memory_order_seq_cst);
        *(volatile uint32_t *)gpu->gate = gpu->gates;
    }
    TRY(status);
    ROOF_GPU_CALL(gpu, stream_synchronize, gpu->stream);
    ROOF_GPU_CALL(gpu, event_elapsed, &milliseconds, gpu->from, gpu->until);
    *seconds = (double)milliseconds / 1e3;
    return ROOF_OK;
}

enum roof_status roof_gpu_capture(struct gpu_graph_run **out, const struct roof_gpu *gpu,
                                  roof_gpu_work *work, void *context, struct roof_error *error)
{
    struct gpu_graph *graph = NULL;
    ROOF_GPU_CALL(gpu, capture_begin, gpu->stream, CAPTURE_OF_THREAD);
    enum roof_status status = work(context, error);
    const int ended = gpu->call.capture_end(gpu->stream, &graph);
    if (status == ROOF_OK) {
        status = roof_gpu_check(gpu, ended, offsetof(struct roof_gpu_calls, capture_end), error);
    }
    if (status == ROOF_OK) {
        status = ROOF_GPU_STATUS(gpu, graph_instantiate, out, graph, 0);
    }
    if (graph != NULL) {
        (void)gpu->call.graph_destroy(graph);
    }
    TRY(status);
    ROOF_GPU_CALL(gpu, graph_launch, *out, gpu->stream);
    ROOF_GPU_CALL(gpu, stream_synchronize, gpu->stream);
    return ROOF_OK;
}

void roof_gpu_release(const struct roof_gpu *gpu, struct gpu_graph_run **graph)
{
    if (*graph != NULL) {
        (void)gpu->call.graph_run_destroy(*graph);
    }
    *graph = NULL;
}
