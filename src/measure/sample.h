// SPDX-License-Identifier: MIT
/* What a GPU reports at one moment. */
#ifndef ROOF_MEASURE_SAMPLE_H
#define ROOF_MEASURE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/quantity.h"

/* More GPUs than these are in no machine. */
#define ROOF_GPUS_MAX 64
#define ROOF_THROTTLE_SIZE 256
#define ROOF_GPU_NAME_SIZE 96

/* One report of a GPU, in SI units; NAN and "": it does not say. */
struct roof_sample {
    double time_s; /* since the first sample */
    int device;
    double power_w;
    double sm_hz;
    double memory_hz;
    double temperature_c;
    double utilization; /* share of the time in which a kernel ran, 0 to 1 */
    double memory_used_bytes;
    double counter_j;                  /* the energy counter of the device */
    char throttle[ROOF_THROTTLE_SIZE]; /* reasons, with blanks between them; "none" */
};

/* A sample in which nothing is known. */
void roof_sample_clear(struct roof_sample *out);

/* Writes the reasons in a set of bits of NVML, which logs of nvidia-smi have, too. */
void roof_throttle_reasons(char out[ROOF_THROTTLE_SIZE], unsigned long long bits);

/* Reads a bus id as HIP writes it, "0000:c1:00.0" in hexadecimal digits, as the number that AMD's
 * libraries have for it; false: it is none. Bits outside of the mask number a partition. */
#define ROOF_GPU_BUS_MASK (~((uint64_t)0xf << 28))
bool roof_gpu_bus_number(uint64_t *out, const char *bus);

#endif
