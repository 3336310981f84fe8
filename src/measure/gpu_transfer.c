// SPDX-License-Identifier: MIT
#include "measure/gpu_transfer.h"

#include <string.h>

#include "base/base.h"
#include "measure/cpu_job.h"

/* The number of random floats; the rest repeats them, because links do not compress data. */
#define RANDOM_FLOATS ((size_t)1 << 18)

bool roof_gpu_is_transfer(const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_TO_DEVICE || task->probe == ROOF_PROBE_FROM_DEVICE;
}

static void fill(unsigned char *out, size_t bytes)
{
    uint64_t state = 1;
    const size_t floats = bytes / sizeof(float);
    size_t done = floats < RANDOM_FLOATS ? floats : RANDOM_FLOATS;
    roof_cpu_random((float *)(void *)out, (int64_t)done, &state);
    done *= sizeof(float);
    while (done > 0 && done < bytes) {
        const size_t more = bytes - done < done ? bytes - done : done;
        memcpy(out + done, out, more);
        done += more;
    }
}

enum roof_status roof_gpu_transfer_begin(struct roof_gpu_transfer *out, const struct roof_gpu *gpu,
                                         const struct roof_meter_task *task,
                                         struct roof_error *error)
{
    void *host = NULL;
    *out = (struct roof_gpu_transfer){.bytes = (size_t)task->bytes,
                                      .back = task->probe == ROOF_PROBE_FROM_DEVICE};
    ROOF_GPU_CALL(gpu, host_allocate, &host, out->bytes, 0);
    out->host = host;
    if (!out->back) {
        fill(host, out->bytes);
    }
    return ROOF_OK;
}

enum roof_status roof_gpu_transfer_run(const struct roof_gpu_transfer *transfer,
                                       const struct roof_gpu *gpu, uint64_t device,
                                       struct roof_error *error)
{
    if (transfer->back) {
        ROOF_GPU_CALL(gpu, queue_out, transfer->host, device, transfer->bytes, gpu->stream);
    } else {
        ROOF_GPU_CALL(gpu, queue_in, device, transfer->host, transfer->bytes, gpu->stream);
    }
    return ROOF_OK;
}

void roof_gpu_transfer_end(struct roof_gpu_transfer *transfer, const struct roof_gpu *gpu)
{
    if (transfer->host != NULL) {
        (void)gpu->call.host_release(transfer->host);
    }
    *transfer = (struct roof_gpu_transfer){.host = NULL};
}
