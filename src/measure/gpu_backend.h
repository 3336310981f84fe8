// SPDX-License-Identifier: MIT
/* The differences between the backends for GPUs of NVIDIA and AMD; measure/gpu.c has the common
 * part. */
#ifndef ROOF_MEASURE_GPU_BACKEND_H
#define ROOF_MEASURE_GPU_BACKEND_H

#include "measure/gpu_driver.h"
#include "measure/gpu_kernels.h"
#include "measure/gpu_product.h"
#include "measure/gpu_vector.h"
#include "measure/gpus.h"
#include "measure/meter.h"

struct roof_gpu_backend {
    const struct roof_gpu_api *driver;
    const struct roof_gpu_product_api *products;
    /* Compiles our own kernels for a started device and loads them; those of operators may be left
     * out. The caller closes both, also after a failure. */
    enum roof_status (*load)(struct roof_gpu_kernels *kernels, struct roof_gpu_vectors *vectors,
                             const struct roof_gpu *gpu, struct roof_error *error);
    /* Names the architecture as in data/hardware; it determines the calibration. */
    void (*architecture)(char out[ROOF_METER_TEXT], const struct roof_gpu *gpu);
    /* Returns the bytes of the cache behind the L2; 0: there is none. */
    int64_t (*l3_bytes)(const struct roof_gpu *gpu);
    /* Opens the sensors of the device at a PCI bus id. */
    enum roof_status (*sensors)(struct roof_gpus **out, const char *bus, struct roof_error *error);
    bool has_cudnn;                 /* runs the attention of a prefill */
    const char *const *collectives; /* names of the library of collectives, which end with NULL */
    const char *collectives_come_with;
    /* The units of major and minor in the number of the driver's version. */
    int version_major;
    int version_minor;
};
extern const struct roof_gpu_backend roof_cuda_backend;
extern const struct roof_gpu_backend roof_hip_backend;

#endif
