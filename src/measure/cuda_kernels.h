// SPDX-License-Identifier: MIT
/* The kernels of probes (measure/gpu_kernels.h) for NVIDIA GPUs. */
#ifndef ROOF_MEASURE_CUDA_KERNELS_H
#define ROOF_MEASURE_CUDA_KERNELS_H

#include "base/text.h"

/* Writes the kernels as PTX, which the driver compiles for the device. */
void roof_cuda_ptx(struct roof_text *out);

#endif
