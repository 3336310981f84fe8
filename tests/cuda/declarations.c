// SPDX-License-Identifier: MIT
/* Our declarations of CUDA beside those of a toolkit, where one is installed: numbers of
 * enumerations and layouts of structs. It only has to compile. */
#include <cublasLt.h>
#include <cuda.h>

/* Both files have a table of this name. */
#define symbols symbols_of_driver
#include "measure/cuda_driver.c"
#undef symbols
#include "measure/cuda_product.c"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is " #theirs)
#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " is as large as " #theirs)

SAME(ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(ATTRIBUTE_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(EVENT_DEFAULT, CU_EVENT_DEFAULT);
SAME(WAIT_GREATER_EQUAL, CU_STREAM_WAIT_VALUE_GEQ);
SAME(CAPTURE_OF_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(0, CUDA_SUCCESS);
SAME_SIZE(int, CUresult);
SAME_SIZE(int, CUdevice);
SAME_SIZE(uint64_t, CUdeviceptr);

SAME(TYPE_32F, CUDA_R_32F);
SAME(TYPE_16F, CUDA_R_16F);
SAME(TYPE_8I, CUDA_R_8I);
SAME(TYPE_32I, CUDA_R_32I);
SAME(TYPE_16BF, CUDA_R_16BF);
SAME(TYPE_8F_E4M3, CUDA_R_8F_E4M3);
SAME(COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(COMPUTE_32I, CUBLAS_COMPUTE_32I);
SAME(COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(OPERATION_TRANSPOSE, CUBLAS_OP_T);
SAME(DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(DESC_FAST_ACCUM, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
SAME(LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(LAYOUT_STRIDED_BATCH_OFFSET, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(PREFERENCE_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(0, CUBLAS_STATUS_SUCCESS);
SAME_SIZE(struct cublaslt_algorithm, cublasLtMatmulAlgo_t);
SAME_SIZE(struct cublaslt_candidate, cublasLtMatmulHeuristicResult_t);
SAME(offsetof(struct cublaslt_candidate, workspace_bytes),
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(struct cublaslt_candidate, status), offsetof(cublasLtMatmulHeuristicResult_t, state));
