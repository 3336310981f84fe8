// SPDX-License-Identifier: MIT
/* The interfaces of NVIDIA: the CUDA driver, cuBLASLt, and kernels as PTX. */
#include <stdio.h>

#include "base/base.h"
#include "catalog/data.h"
#include "measure/cuda_kernels.h"
#include "measure/gpu_backend.h"

/* --- the driver ----------------------------------------------------------------------------- */

/* CUdevice_attribute */
enum {
    ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    ATTRIBUTE_L2_CACHE_SIZE = 38,
    ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};

/* The names in the CUDA Driver API reference (docs.nvidia.com/cuda), with the suffixes that cuda.h
 * gives them. */
static const struct roof_symbol driver_symbols[] = {
    ROOF_NAMED(roof_gpu_calls, init, cuInit),
    ROOF_NAMED(roof_gpu_calls, driver_version, cuDriverGetVersion),
    ROOF_NAMED(roof_gpu_calls, device_count, cuDeviceGetCount),
    ROOF_NAMED(roof_gpu_calls, device_get, cuDeviceGet),
    ROOF_NAMED(roof_gpu_calls, device_name, cuDeviceGetName),
    ROOF_NAMED(roof_gpu_calls, device_bus, cuDeviceGetPCIBusId),
    ROOF_NAMED(roof_gpu_calls, device_attribute, cuDeviceGetAttribute),
    ROOF_NAMED(roof_gpu_calls, device_memory, cuDeviceTotalMem_v2),
    ROOF_NAMED(roof_gpu_calls, context_retain, cuDevicePrimaryCtxRetain),
    ROOF_NAMED(roof_gpu_calls, context_release, cuDevicePrimaryCtxRelease_v2),
    ROOF_NAMED(roof_gpu_calls, context_set, cuCtxSetCurrent),
    ROOF_NAMED(roof_gpu_calls, allocate, cuMemAlloc_v2),
    ROOF_NAMED(roof_gpu_calls, release, cuMemFree_v2),
    ROOF_NAMED(roof_gpu_calls, memory_info, cuMemGetInfo_v2),
    ROOF_NAMED(roof_gpu_calls, host_allocate, cuMemHostAlloc),
    ROOF_NAMED(roof_gpu_calls, host_release, cuMemFreeHost),
    ROOF_NAMED(roof_gpu_calls, host_address, cuMemHostGetDevicePointer_v2),
    ROOF_NAMED(roof_gpu_calls, copy_in, cuMemcpyHtoD_v2),
    ROOF_NAMED(roof_gpu_calls, copy_within, cuMemcpyDtoD_v2),
    ROOF_NAMED(roof_gpu_calls, queue_in, cuMemcpyHtoDAsync_v2),
    ROOF_NAMED(roof_gpu_calls, queue_out, cuMemcpyDtoHAsync_v2),
    ROOF_NAMED(roof_gpu_calls, stream_create, cuStreamCreate),
    ROOF_NAMED(roof_gpu_calls, stream_synchronize, cuStreamSynchronize),
    ROOF_NAMED(roof_gpu_calls, stream_destroy, cuStreamDestroy_v2),
    ROOF_NAMED_OPTIONAL(roof_gpu_calls, stream_wait,
                        cuStreamWaitValue32_v2), /* from CUDA 11.7 on */
    ROOF_NAMED(roof_gpu_calls, event_create, cuEventCreate),
    ROOF_NAMED(roof_gpu_calls, event_record, cuEventRecord),
    ROOF_NAMED(roof_gpu_calls, event_elapsed, cuEventElapsedTime),
    ROOF_NAMED(roof_gpu_calls, event_destroy, cuEventDestroy_v2),
    ROOF_NAMED(roof_gpu_calls, module_load, cuModuleLoadDataEx),
    ROOF_NAMED(roof_gpu_calls, module_function, cuModuleGetFunction),
    ROOF_NAMED(roof_gpu_calls, module_unload, cuModuleUnload),
    ROOF_NAMED(roof_gpu_calls, launch, cuLaunchKernel),
    ROOF_NAMED(roof_gpu_calls, capture_begin, cuStreamBeginCapture_v2),
    ROOF_NAMED(roof_gpu_calls, capture_end, cuStreamEndCapture),
    ROOF_NAMED(roof_gpu_calls, graph_instantiate,
               cuGraphInstantiateWithFlags), /* from CUDA 11.4 on */
    ROOF_NAMED(roof_gpu_calls, graph_launch, cuGraphLaunch),
    ROOF_NAMED(roof_gpu_calls, graph_run_destroy, cuGraphExecDestroy),
    ROOF_NAMED(roof_gpu_calls, graph_destroy, cuGraphDestroy),
    ROOF_NAMED(roof_gpu_calls, error_name, cuGetErrorName),
};

static const char *const driver_libraries[] = {"libcuda.so.1", NULL};

static const struct roof_gpu_api driver = {
    .name = "CUDA",
    .vendor = "NVIDIA",
    .units = "SMs",
    .comes_with = "the NVIDIA driver",
    .libraries = driver_libraries,
    .symbol = driver_symbols,
    .symbols = COUNT(driver_symbols),
    .attribute = {[ROOF_GPU_CLOCK_RATE] = ATTRIBUTE_CLOCK_RATE,
                  [ROOF_GPU_UNITS] = ATTRIBUTE_MULTIPROCESSOR_COUNT,
                  [ROOF_GPU_L2_BYTES] = ATTRIBUTE_L2_CACHE_SIZE,
                  [ROOF_GPU_MAJOR] = ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                  [ROOF_GPU_MINOR] = ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
};

/* --- products ------------------------------------------------------------------------------- */

/* cudaDataType_t of library_types.h, cublasComputeType_t and cublasOperation_t of cublas_api.h */
enum {
    TYPE_32F = 0,
    TYPE_16F = 2,
    TYPE_8I = 3,
    TYPE_32I = 10,
    TYPE_16BF = 14,
    TYPE_8F_E4M3 = 28,
    TYPE_4F_E2M1 = 33,
    COMPUTE_32F = 68,
    COMPUTE_32I = 72,
    COMPUTE_32F_FAST_TF32 = 77,
    OPERATION_TRANSPOSE = 1
};
/* cublasLtMatmulDescAttributes_t, cublasLtMatmulMatrixScale_t, cublasLtMatrixLayoutAttribute_t,
 * cublasLtMatmulPreferenceAttributes_t */
enum {
    DESC_TRANSA = 3,
    DESC_A_SCALE_POINTER = 17,
    DESC_B_SCALE_POINTER = 18,
    DESC_FAST_ACCUM = 25,
    DESC_A_SCALE_MODE = 31,
    DESC_B_SCALE_MODE = 32,
    SCALE_VEC16_UE4M3 = 1,
    SCALE_VEC32_UE8M0 = 2,
    LAYOUT_BATCH_COUNT = 5,
    LAYOUT_STRIDED_BATCH_OFFSET = 6,
    PREFERENCE_MAX_WORKSPACE_BYTES = 1
};

/* cublasLtMatmulHeuristicResult_t of cublasLt.h */
struct candidate {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};
_Static_assert(sizeof(struct candidate) <= ROOF_GPU_CANDIDATE_BYTES, "candidates are held");

static const struct roof_gpu_product_type types[] = {
    {ROOF_PRECISION_FP32, TYPE_32F, TYPE_32F, COMPUTE_32F, TYPE_32F, 32, 4, 0, 0, 1, 0, 0, 0},
    {ROOF_PRECISION_TF32, TYPE_32F, TYPE_32F, COMPUTE_32F_FAST_TF32, TYPE_32F, 32, 4, 80, 0, 1, 0,
     0, 0},
    {ROOF_PRECISION_BF16, TYPE_16BF, TYPE_16BF, COMPUTE_32F, TYPE_32F, 16, 2, 80, 0, 1, 0, 0, 0},
    {ROOF_PRECISION_FP16, TYPE_16F, TYPE_16F, COMPUTE_32F, TYPE_32F, 16, 2, 70, 0, 1, 0, 0, 0},
    {ROOF_PRECISION_FP8_E4M3, TYPE_8F_E4M3, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 89, 0, 16, 0, 0,
     0},
    {ROOF_PRECISION_INT8, TYPE_8I, TYPE_32I, COMPUTE_32I, TYPE_32I, 8, 4, 75, 0, 4, 0, 0, 0},
    {ROOF_PRECISION_MXFP8_E4M3, TYPE_8F_E4M3, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 100, 0, 32,
     32, SCALE_VEC32_UE8M0, 0x7f},
    {ROOF_PRECISION_NVFP4, TYPE_4F_E2M1, TYPE_16BF, COMPUTE_32F, TYPE_32F, 4, 2, 100, 0, 32, 16,
     SCALE_VEC16_UE4M3, 0x38},
};

/* The names in the cuBLAS documentation (docs.nvidia.com/cuda/cublas). */
static const struct roof_symbol product_symbols[] = {
    ROOF_NAMED(roof_gpu_product_calls, create, cublasLtCreate),
    ROOF_NAMED(roof_gpu_product_calls, destroy, cublasLtDestroy),
    ROOF_NAMED(roof_gpu_product_calls, version, cublasLtGetVersion),
    ROOF_NAMED(roof_gpu_product_calls, status_name, cublasLtGetStatusString),
    ROOF_NAMED(roof_gpu_product_calls, operation_create, cublasLtMatmulDescCreate),
    ROOF_NAMED(roof_gpu_product_calls, operation_destroy, cublasLtMatmulDescDestroy),
    ROOF_NAMED(roof_gpu_product_calls, operation_set, cublasLtMatmulDescSetAttribute),
    ROOF_NAMED(roof_gpu_product_calls, layout_create, cublasLtMatrixLayoutCreate),
    ROOF_NAMED(roof_gpu_product_calls, layout_destroy, cublasLtMatrixLayoutDestroy),
    ROOF_NAMED(roof_gpu_product_calls, layout_set, cublasLtMatrixLayoutSetAttribute),
    ROOF_NAMED(roof_gpu_product_calls, preference_create, cublasLtMatmulPreferenceCreate),
    ROOF_NAMED(roof_gpu_product_calls, preference_destroy, cublasLtMatmulPreferenceDestroy),
    ROOF_NAMED(roof_gpu_product_calls, preference_set, cublasLtMatmulPreferenceSetAttribute),
    ROOF_NAMED(roof_gpu_product_calls, propose, cublasLtMatmulAlgoGetHeuristic),
    ROOF_NAMED(roof_gpu_product_calls, multiply, cublasLtMatmul),
};

static const char *const product_libraries[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                                "libcublasLt.so.11", NULL};

static const struct roof_gpu_product_api products = {
    .comes_with = "the CUDA toolkit",
    .libraries = product_libraries,
    .symbol = product_symbols,
    .symbols = COUNT(product_symbols),
    .attribute = {[ROOF_GPU_TRANSPOSE_A] = DESC_TRANSA,
                  [ROOF_GPU_A_SCALES] = DESC_A_SCALE_POINTER,
                  [ROOF_GPU_B_SCALES] = DESC_B_SCALE_POINTER,
                  [ROOF_GPU_A_SCALE_MODE] = DESC_A_SCALE_MODE,
                  [ROOF_GPU_B_SCALE_MODE] = DESC_B_SCALE_MODE,
                  [ROOF_GPU_FAST_SUM] = DESC_FAST_ACCUM,
                  [ROOF_GPU_BATCH] = LAYOUT_BATCH_COUNT,
                  [ROOF_GPU_BATCH_STRIDE] = LAYOUT_STRIDED_BATCH_OFFSET,
                  [ROOF_GPU_WORKSPACE] = PREFERENCE_MAX_WORKSPACE_BYTES},
    .transpose = OPERATION_TRANSPOSE,
    .candidate_size = sizeof(struct candidate),
    .workspace_at = offsetof(struct candidate, workspace_bytes),
    .type = types,
    .types = COUNT(types),
};

/* --- the backend ---------------------------------------------------------------------------- */

/* cuda_operators.cu has the source of the kernels for operators; `make kernels` compiles it for the
 * oldest device that they run on. */
#define OPERATORS "kernels/cuda_operators.ptx"
#define CAPABILITY_MIN 75

static enum roof_status load(struct roof_gpu_kernels *kernels, struct roof_gpu_vectors *vectors,
                             const struct roof_gpu *gpu, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_cuda_ptx(&text);
    enum roof_status status =
        text.failed ? roof_no_memory(error) : roof_gpu_kernels_open(kernels, gpu, text.data, error);
    roof_text_free(&text);
    if (status == ROOF_OK && roof_gpu_capability(gpu) >= CAPABILITY_MIN) {
        status = roof_gpu_vectors_open(vectors, gpu, roof_data_file(OPERATORS)->text, true, error);
    }
    return status;
}

static void name_architecture(char out[ROOF_METER_TEXT], const struct roof_gpu *gpu)
{
    const int capability = roof_gpu_capability(gpu);
    const char *const family = capability == 70                        ? "Volta"
                               : capability == 75                      ? "Turing"
                               : capability == 89                      ? "Ada Lovelace"
                               : capability >= 80 && capability < 90   ? "Ampere"
                               : capability == 103                     ? "Blackwell Ultra"
                               : capability >= 100 && capability < 130 ? "Blackwell"
                                                                       : "CUDA";
    if (capability == 90) {
        (void)snprintf(out, ROOF_METER_TEXT, "Hopper");
    } else {
        (void)snprintf(out, ROOF_METER_TEXT, "%s (SM%d)", family, capability);
    }
}

static int64_t no_l3(const struct roof_gpu *gpu)
{
    (void)gpu;
    return 0;
}

static const char *const collectives[] = {"libnccl.so.2", NULL};

const struct roof_gpu_backend roof_cuda_backend = {
    .driver = &driver,
    .products = &products,
    .load = load,
    .architecture = name_architecture,
    .l3_bytes = no_l3,
    .sensors = roof_nvidia_open,
    .has_cudnn = true,
    .collectives = collectives,
    .collectives_come_with = "NCCL",
    .version_major = 1000,
    .version_minor = 10,
};
