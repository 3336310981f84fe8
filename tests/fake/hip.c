// SPDX-License-Identifier: MIT
/*
 * A libamdhip64.so.7 with the planted GPU of cuda.c, by the names and numbers of HIP. It takes code
 * of the fake hipRTC alone, has no kernels of attention, and knows no context that is released.
 * Behind its L2 is another cache.
 *
 *   FAKE_L3 (256 MiB) FAKE_L3_BANDWIDTH (5e12 bytes/s) FAKE_CAPABILITY (94), and those of cuda.c
 */
#define HIP 1
#define cuInit hipInit
#define cuDriverGetVersion hipRuntimeGetVersion
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGet hipDeviceGet
#define cuDeviceGetName hipDeviceGetName
#define cuDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cuDeviceGetAttribute hipDeviceGetAttribute
#define cuDeviceTotalMem_v2 hipDeviceTotalMem
#define cuMemAlloc_v2 hipMalloc
#define cuMemFree_v2 hipFree
#define cuMemGetInfo_v2 hipMemGetInfo
#define cuMemHostAlloc hipHostMalloc
#define cuMemFreeHost hipHostFree
#define cuMemcpyHtoDAsync_v2 hipMemcpyHtoDAsync
#define cuMemcpyDtoHAsync_v2 hipMemcpyDtoHAsync
#define cuMemcpyHtoD_v2 hipMemcpyHtoD
#define cuMemcpyDtoD_v2 hipMemcpyDtoD
#define cuStreamCreate hipStreamCreateWithFlags
#define cuStreamSynchronize hipStreamSynchronize
#define cuStreamDestroy_v2 hipStreamDestroy
#define cuEventCreate hipEventCreateWithFlags
#define cuEventRecord hipEventRecord
#define cuEventElapsedTime hipEventElapsedTime
#define cuEventDestroy_v2 hipEventDestroy
#define cuModuleLoadDataEx hipModuleLoadDataEx
#define cuModuleGetFunction hipModuleGetFunction
#define cuModuleUnload hipModuleUnload
#define cuLaunchKernel hipModuleLaunchKernel
#define cuStreamBeginCapture_v2 hipStreamBeginCapture
#define cuStreamEndCapture hipStreamEndCapture
#define cuGraphInstantiateWithFlags hipGraphInstantiateWithFlags
#define cuGraphLaunch hipGraphLaunch
#define cuGraphExecDestroy hipGraphExecDestroy
#define cuGraphDestroy hipGraphDestroy
#define cuGetErrorName hipDrvGetErrorName
#include "cuda.c"

CALL(hipSetDevice, int device)
{
    current = device;
    return fail("hipSetDevice", 0);
}
