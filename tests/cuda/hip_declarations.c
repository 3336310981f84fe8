// SPDX-License-Identifier: MIT
/* Our declarations of HIP beside the headers of ROCm, where they are installed: numbers of
 * enumerations, and parameters of functions. It only has to compile. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "measure/gpu_driver.c"
#include "measure/hip_api.c"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is " #theirs)

SAME(ATTRIBUTE_CLOCK_RATE, hipDeviceAttributeClockRate);
SAME(ATTRIBUTE_MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount);
SAME(ATTRIBUTE_L2_CACHE_SIZE, hipDeviceAttributeL2CacheSize);
SAME(ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, hipDeviceAttributeComputeCapabilityMajor);
SAME(ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, hipDeviceAttributeComputeCapabilityMinor);
SAME(STREAM_NON_BLOCKING, hipStreamNonBlocking);
SAME(EVENT_DEFAULT, hipEventDefault);
SAME(CAPTURE_OF_THREAD, hipStreamCaptureModeThreadLocal);
SAME(HOST_SEEN_BY_DEVICE, hipHostMallocMapped);
SAME(0, hipSuccess);
#if HIP_VERSION >= 60000000 /* older ones have these types elsewhere */
SAME(TYPE_32F, HIP_R_32F);
SAME(TYPE_16F, HIP_R_16F);
SAME(TYPE_8I, HIP_R_8I);
SAME(TYPE_32I, HIP_R_32I);
SAME(TYPE_16BF, HIP_R_16BF);
SAME(TYPE_8F_E4M3_FNUZ, HIP_R_8F_E4M3_FNUZ);
#endif
SAME(sizeof(int), sizeof(hipDevice_t));

/* Calls the functions with parameters of our types, made pointers of theirs: their number and order
 * are compared, and numbers stay numbers. */
void call_all(uint64_t address, void *place, const char *text, size_t bytes, int number,
              unsigned count, float *time);
void call_all(uint64_t address, void *place, const char *text, size_t bytes, int number,
              unsigned count, float *time)
{
    void *const memory = (void *)(uintptr_t)address;
    (void)(hipInit(count) + hipRuntimeGetVersion(place) + hipGetDeviceCount(place) +
           hipDeviceGet(place, number) + hipDeviceGetName(place, number, number) +
           hipDeviceGetPCIBusId(place, number, number) +
           hipDeviceGetAttribute(place, (hipDeviceAttribute_t)number, number) +
           hipDeviceTotalMem(place, number) + hipSetDevice(number) + hipMalloc(place, bytes) +
           hipFree(memory) + hipMemGetInfo(place, place) + hipMemcpyHtoD(memory, place, bytes) +
           hipMemcpyDtoD(memory, memory, bytes) + hipHostMalloc(place, bytes, count) +
           hipHostFree(place) + hipMemcpyHtoDAsync(memory, place, bytes, place) +
           hipMemcpyDtoHAsync(place, memory, bytes, place) +
           hipStreamCreateWithFlags(place, count) + hipStreamSynchronize(place) +
           hipStreamDestroy(place) + hipEventCreateWithFlags(place, count) +
           hipEventRecord(place, place) + hipEventElapsedTime(time, place, place) +
           hipEventDestroy(place) + hipModuleLoadDataEx(place, place, count, place, place) +
           hipModuleGetFunction(place, place, text) + hipModuleUnload(place) +
           hipModuleLaunchKernel(place, count, count, count, count, count, count, count, place,
                                 place, place) +
           hipStreamBeginCapture(place, (hipStreamCaptureMode)number) +
           hipStreamEndCapture(place, place) + hipGraphInstantiateWithFlags(place, place, 0) +
           hipGraphLaunch(place, place) + hipGraphExecDestroy(place) + hipGraphDestroy(place));
    (void)(hiprtcCreateProgram(place, text, text, number, place, place) +
           hiprtcCompileProgram(place, number, place) + hiprtcGetProgramLogSize(place, place) +
           hiprtcGetProgramLog(place, place) + hiprtcGetCodeSize(place, place) +
           hiprtcGetCode(place, place) + hiprtcDestroyProgram(place));
    (void)hiprtcGetErrorString((hiprtcResult)number);
#if HIP_VERSION >= 60000000
    (void)hipDrvGetErrorName((hipError_t)number, place);
#endif
}
