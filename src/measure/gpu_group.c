// SPDX-License-Identifier: MIT
#include "measure/gpu_group.h"

#include "base/base.h"

/* ncclDataType_t and ncclRedOp_t of nccl.h 2.28.9 */
enum { TYPE_FLOAT16 = 6, TYPE_BFLOAT16 = 9, OPERATION_SUM = 0 };

/* The approximate seconds of a sample, and its largest number of collectives. */
#define SAMPLE_S 5e-3
#define CALLS_MAX 200
#define HALF 2 /* bytes */

static const struct roof_symbol symbols[] = {
    ROOF_SYMBOL(roof_nccl_calls, ncclCommInitAll),    ROOF_SYMBOL(roof_nccl_calls, ncclCommDestroy),
    ROOF_SYMBOL(roof_nccl_calls, ncclGroupStart),     ROOF_SYMBOL(roof_nccl_calls, ncclGroupEnd),
    ROOF_SYMBOL(roof_nccl_calls, ncclAllReduce),      ROOF_SYMBOL(roof_nccl_calls, ncclAllGather),
    ROOF_SYMBOL(roof_nccl_calls, ncclGetErrorString),
};

static enum roof_status check(const struct roof_gpu_group *group, int status, const char *call,
                              struct roof_error *error)
{
    return status == 0 ? ROOF_OK
                       : roof_error_set(error, ROOF_IO, "%s: %s", call,
                                        group->call.ncclGetErrorString(status));
}

#define NCCL(group_, call_, ...)                                                                   \
    TRY(check((group_), (group_)->call.call_(__VA_ARGS__), #call_, error))

/* --- the library and its groups ------------------------------------------------------------- */

enum roof_status roof_gpu_group_open(struct roof_gpu_group *out, const struct roof_gpu *gpu,
                                     const char *const *libraries, const char *comes_with,
                                     struct roof_error *error)
{
    *out = (struct roof_gpu_group){.present = 1};
    ROOF_GPU_CALL(gpu, device_count, &out->devices);
    if (out->devices < 2) {
        return ROOF_OK;
    }
    TRY(roof_library_open(&out->library, libraries, comes_with, error));
    TRY(roof_library_find(&out->library, &out->call, symbols, COUNT(symbols), error));
    out->present = out->devices < ROOF_GROUP_MAX ? out->devices : ROOF_GROUP_MAX;
    return ROOF_OK;
}

/* Ends the group that is there. */
static void leave(struct roof_gpu_group *group, const struct roof_gpu *gpu)
{
    if (group->count == 0) {
        return;
    }
    for (int i = 0; i < group->count; i++) {
        if (group->comm[i] != NULL) {
            (void)group->call.ncclCommDestroy(group->comm[i]);
        }
        group->comm[i] = NULL;
    }
    for (int i = 1; i < group->count; i++) {
        group->member[i].library = (struct roof_library){.handle = NULL}; /* it is that of `gpu` */
        (void)roof_gpu_use(&group->member[i], NULL);
        roof_gpu_close(&group->member[i]);
    }
    group->count = 0;
    (void)roof_gpu_use(gpu, NULL);
}

void roof_gpu_group_close(struct roof_gpu_group *group, const struct roof_gpu *gpu)
{
    leave(group, gpu);
    roof_library_close(&group->library);
    *group = (struct roof_gpu_group){.count = 0};
}

enum roof_status roof_gpu_group_device(int *out, const struct roof_gpu_group *group,
                                       const struct roof_gpu *gpu, int place,
                                       struct roof_error *error)
{
    ROOF_GPU_CALL(gpu, device_get, out, (gpu->device + place) % group->devices);
    return ROOF_OK;
}

/* Adds so many GPUs to a group that has none. */
static enum roof_status enter(struct roof_gpu_group *group, const struct roof_gpu *gpu, int count,
                              struct roof_error *error)
{
    int devices[ROOF_GROUP_MAX] = {gpu->device};
    group->member[0] = *gpu;
    group->count = 1;
    for (int i = 1; i < count; i++) {
        struct roof_gpu *const member = &group->member[i];
        *member = (struct roof_gpu){.api = gpu->api, .call = gpu->call};
        TRY(roof_gpu_group_device(&member->device, group, gpu, i, error));
        devices[i] = member->device;
        group->count++;
        TRY(roof_gpu_enter(member, error));
    }
    NCCL(group, ncclCommInitAll, group->comm, count, devices);
    return roof_gpu_use(gpu, error);
}

enum roof_status roof_gpu_group_join(struct roof_gpu_group *group, const struct roof_gpu *gpu,
                                     int count, struct roof_error *error)
{
    leave(group, gpu);
    const enum roof_status status = enter(group, gpu, count, error);
    if (status != ROOF_OK) {
        leave(group, gpu);
    }
    return status;
}

/* --- collectives ---------------------------------------------------------------------------- */

bool roof_gpu_group_able(const struct roof_gpu_group *group, const struct roof_workload *w)
{
    const enum roof_precision format = w->formats.activations;
    return (w->op == ROOF_OPERATOR_ALL_REDUCE || w->op == ROOF_OPERATOR_ALL_GATHER) &&
           group->present > 1 && w->shape.devices <= group->present &&
           w->shape.elements % w->shape.devices == 0 &&
           (format == ROOF_PRECISION_BF16 || format == ROOF_PRECISION_FP16);
}

/* Allocates what a GPU sends and receives. */
static enum roof_status allocate(struct roof_gpu_group *group, int i, struct roof_error *error)
{
    struct roof_gpu *const member = &group->member[i];
    TRY(roof_gpu_use(member, error));
    return roof_gpu_allocate(&group->data[i], member, 2 * group->bytes, error);
}

enum roof_status roof_gpu_group_begin(struct roof_gpu_group *group, struct roof_gpu *gpu,
                                      const struct roof_workload *w, struct roof_error *error)
{
    group->workload = *w;
    group->bytes = w->shape.elements * HALF;
    group->calls = 0;
    if (group->count != (int)w->shape.devices) {
        TRY(roof_gpu_group_join(group, gpu, (int)w->shape.devices, error));
    }
    for (int i = 0; i < group->count; i++) {
        TRY(allocate(group, i, error));
    }
    return roof_gpu_use(gpu, error);
}

void roof_gpu_group_end(struct roof_gpu_group *group, struct roof_gpu *gpu)
{
    for (int i = 0; i < group->count; i++) {
        if (group->data[i] != 0) {
            /* The address implies its device if this fails. */
            (void)roof_gpu_use(&group->member[i], NULL);
            (void)gpu->call.release(group->data[i]);
        }
        group->data[i] = 0;
    }
    (void)roof_gpu_use(gpu, NULL);
}

/* Queues a collective on all GPUs. */
static enum roof_status queue(struct roof_gpu_group *group, struct roof_error *error)
{
    const struct roof_workload *const w = &group->workload;
    const int type = w->formats.activations == ROOF_PRECISION_BF16 ? TYPE_BFLOAT16 : TYPE_FLOAT16;
    const size_t elements = (size_t)w->shape.elements;
    enum roof_status status = check(group, group->call.ncclGroupStart(), "ncclGroupStart", error);
    TRY(status);
    for (int i = 0; i < group->count && status == ROOF_OK; i++) {
        struct gpu_stream *const stream = group->member[i].stream;
        const uint64_t from = group->data[i];
        const uint64_t to = from + (uint64_t)group->bytes;
        status = w->op == ROOF_OPERATOR_ALL_REDUCE
                     ? check(group,
                             group->call.ncclAllReduce(from, to, elements, type, OPERATION_SUM,
                                                       group->comm[i], stream),
                             "ncclAllReduce", error)
                     : check(group,
                             group->call.ncclAllGather(from, to, elements / (size_t)group->count,
                                                       type, group->comm[i], stream),
                             "ncclAllGather", error);
    }
    const int ended = group->call.ncclGroupEnd();
    return status == ROOF_OK ? check(group, ended, "ncclGroupEnd", error) : status;
}

/* Waits for all GPUs. */
static enum roof_status wait_for_all(const struct roof_gpu_group *group, struct roof_error *error)
{
    for (int i = 0; i < group->count; i++) {
        ROOF_GPU_CALL(&group->member[i], stream_synchronize, group->member[i].stream);
    }
    return ROOF_OK;
}

/* Times a number of collectives after a first one, during which the host queues them. */
static enum roof_status time_calls(double *seconds, struct roof_gpu_group *group,
                                   struct roof_gpu *gpu, int64_t calls, struct roof_error *error)
{
    float milliseconds = 0;
    TRY(queue(group, error));
    ROOF_GPU_CALL(gpu, event_record, gpu->from, gpu->stream);
    for (int64_t i = 0; i < calls; i++) {
        TRY(queue(group, error));
    }
    ROOF_GPU_CALL(gpu, event_record, gpu->until, gpu->stream);
    TRY(wait_for_all(group, error));
    ROOF_GPU_CALL(gpu, event_elapsed, &milliseconds, gpu->from, gpu->until);
    *seconds = (double)milliseconds / 1e3;
    return ROOF_OK;
}

enum roof_status roof_gpu_group_sample(double *seconds, double *busy_s,
                                       struct roof_gpu_group *group, struct roof_gpu *gpu,
                                       struct roof_error *error)
{
    if (group->calls == 0) {
        TRY(time_calls(seconds, group, gpu, 1, error)); /* kernels are loaded now */
        TRY(time_calls(seconds, group, gpu, 1, error));
        const double wanted = SAMPLE_S / (*seconds > 1e-7 ? *seconds : 1e-7);
        group->calls = wanted < 1 ? 1 : wanted > CALLS_MAX ? CALLS_MAX : (int64_t)wanted;
    }
    TRY(time_calls(seconds, group, gpu, group->calls, error));
    *seconds /= (double)group->calls;
    *busy_s = *seconds * (double)(group->calls + 1);
    return ROOF_OK;
}
