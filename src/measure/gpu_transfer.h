// SPDX-License-Identifier: MIT
/* Copies between the memory of the host and that of a GPU, which show the rate of the link between
 * both. The memory of the host is locked to its pages, so that the device reads and writes it
 * itself. */
#ifndef ROOF_MEASURE_GPU_TRANSFER_H
#define ROOF_MEASURE_GPU_TRANSFER_H

#include "measure/gpu_driver.h"
#include "measure/meter.h"

/* Copies that are begun; zeroed, none are. */
struct roof_gpu_transfer {
    void *host;
    size_t bytes;
    bool back; /* from the device to the host */
};

/* Tells if a task copies between the host and the device. */
bool roof_gpu_is_transfer(const struct roof_meter_task *task);

/* Makes the memory of the host that a task copies to or from, with random data. The caller ends
 * *out with roof_gpu_transfer_end, also after a failure. */
enum roof_status roof_gpu_transfer_begin(struct roof_gpu_transfer *out, const struct roof_gpu *gpu,
                                         const struct roof_meter_task *task,
                                         struct roof_error *error);
/* Queues a copy, to or from an address of the device. */
enum roof_status roof_gpu_transfer_run(const struct roof_gpu_transfer *transfer,
                                       const struct roof_gpu *gpu, uint64_t device,
                                       struct roof_error *error);
void roof_gpu_transfer_end(struct roof_gpu_transfer *transfer, const struct roof_gpu *gpu);

#endif
