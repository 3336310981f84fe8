// SPDX-License-Identifier: MIT
/* The interfaces of AMD: HIP, hipBLASLt, and kernels that hipRTC compiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "catalog/data.h"
#include "measure/gpu_backend.h"
#include "measure/library.h"

/* --- the driver ----------------------------------------------------------------------------- */

/* The declarations follow hip_runtime_api.h of ROCm 5.2.3 (Debian's libamdhip64-dev); that of
 * hipDrvGetErrorName, which is newer, follows ROCm 6.0. Functions whose structs differ between
 * versions, as hipGetDeviceProperties, are not used. Streams can wait for values in memory of one
 * kind alone (hipMallocSignalMemory), so there is no gate. */
static const struct roof_symbol driver_symbols[] = {
    ROOF_NAMED(roof_gpu_calls, init, hipInit),
    ROOF_NAMED(roof_gpu_calls, driver_version, hipRuntimeGetVersion),
    ROOF_NAMED(roof_gpu_calls, device_count, hipGetDeviceCount),
    ROOF_NAMED(roof_gpu_calls, device_get, hipDeviceGet),
    ROOF_NAMED(roof_gpu_calls, device_name, hipDeviceGetName),
    ROOF_NAMED(roof_gpu_calls, device_bus, hipDeviceGetPCIBusId),
    ROOF_NAMED(roof_gpu_calls, device_attribute, hipDeviceGetAttribute),
    ROOF_NAMED(roof_gpu_calls, device_memory, hipDeviceTotalMem),
    ROOF_NAMED(roof_gpu_calls, device_set, hipSetDevice),
    ROOF_NAMED(roof_gpu_calls, allocate, hipMalloc),
    ROOF_NAMED(roof_gpu_calls, release, hipFree),
    ROOF_NAMED(roof_gpu_calls, memory_info, hipMemGetInfo),
    ROOF_NAMED(roof_gpu_calls, host_allocate, hipHostMalloc),
    ROOF_NAMED(roof_gpu_calls, host_release, hipHostFree),
    ROOF_NAMED(roof_gpu_calls, copy_in, hipMemcpyHtoD),
    ROOF_NAMED(roof_gpu_calls, copy_within, hipMemcpyDtoD),
    ROOF_NAMED(roof_gpu_calls, queue_in, hipMemcpyHtoDAsync),
    ROOF_NAMED(roof_gpu_calls, queue_out, hipMemcpyDtoHAsync),
    ROOF_NAMED(roof_gpu_calls, stream_create, hipStreamCreateWithFlags),
    ROOF_NAMED(roof_gpu_calls, stream_synchronize, hipStreamSynchronize),
    ROOF_NAMED(roof_gpu_calls, stream_destroy, hipStreamDestroy),
    ROOF_NAMED(roof_gpu_calls, event_create, hipEventCreateWithFlags),
    ROOF_NAMED(roof_gpu_calls, event_record, hipEventRecord),
    ROOF_NAMED(roof_gpu_calls, event_elapsed, hipEventElapsedTime),
    ROOF_NAMED(roof_gpu_calls, event_destroy, hipEventDestroy),
    ROOF_NAMED(roof_gpu_calls, module_load, hipModuleLoadDataEx),
    ROOF_NAMED(roof_gpu_calls, module_function, hipModuleGetFunction),
    ROOF_NAMED(roof_gpu_calls, module_unload, hipModuleUnload),
    ROOF_NAMED(roof_gpu_calls, launch, hipModuleLaunchKernel),
    ROOF_NAMED(roof_gpu_calls, capture_begin, hipStreamBeginCapture),
    ROOF_NAMED(roof_gpu_calls, capture_end, hipStreamEndCapture),
    ROOF_NAMED(roof_gpu_calls, graph_instantiate, hipGraphInstantiateWithFlags),
    ROOF_NAMED(roof_gpu_calls, graph_launch, hipGraphLaunch),
    ROOF_NAMED(roof_gpu_calls, graph_run_destroy, hipGraphExecDestroy),
    ROOF_NAMED(roof_gpu_calls, graph_destroy, hipGraphDestroy),
    ROOF_NAMED(roof_gpu_calls, error_name, hipDrvGetErrorName),
};

/* hipDeviceAttribute_t, in which these have had the same places from ROCm 5.2.3 to 7.0 */
enum {
    ATTRIBUTE_CLOCK_RATE = 5, /* kHz */
    ATTRIBUTE_L2_CACHE_SIZE = 19,
    ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 23,
    ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 61,
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 63
};

static const char *const driver_libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", NULL};

static const struct roof_gpu_api driver = {
    .name = "HIP",
    .vendor = "AMD",
    .units = "compute units",
    .comes_with = "ROCm",
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

/* hipDataType of hip/library_types.h (ROCm 7.0), hipblasComputeType_t and hipblasOperation_t of
 * hipblas-common.h 1.0 */
enum {
    TYPE_32F = 0,
    TYPE_16F = 2,
    TYPE_8I = 3,
    TYPE_32I = 10,
    TYPE_16BF = 14,
    TYPE_8F_E4M3 = 28,
    TYPE_8F_E4M3_FNUZ = 1000, /* that of CDNA3: it has other exponents, and no infinities */
    COMPUTE_32F = 2,
    COMPUTE_32F_FAST_TF32 = 6,
    COMPUTE_32I = 9,
    OPERATION_TRANSPOSE = 112
};
/* hipblasLtMatmulDescAttributes_t, hipblasLtMatmulMatrixScale_t, hipblasLtMatrixLayoutAttribute_t
 * and hipblasLtMatmulPreferenceAttributes_t of hipblaslt.h 1.0 (ROCm 7.0) */
enum {
    DESC_TRANSA = 0,
    DESC_A_SCALE_POINTER = 5,
    DESC_B_SCALE_POINTER = 6,
    DESC_A_SCALE_MODE = 31,
    DESC_B_SCALE_MODE = 32,
    SCALE_VEC32_UE8M0 = 2,
    LAYOUT_BATCH_COUNT = 0,
    LAYOUT_STRIDED_BATCH_OFFSET = 1,
    PREFERENCE_MAX_WORKSPACE_BYTES = 1
};

/* hipblasLtMatmulHeuristicResult_t of hipblaslt.h 1.0 */
struct candidate {
    struct {
        uint8_t data[16];
        size_t workspace_most;
    } algorithm;
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};
_Static_assert(sizeof(struct candidate) <= ROOF_GPU_CANDIDATE_BYTES, "candidates are held");

/* Devices by the number in their names: 90 is gfx90a (CDNA2), 94 gfx942 (CDNA3), 95 gfx950 (CDNA4),
 * 110 and 115 gfx11 (RDNA 3), 120 gfx12 (RDNA 4). */
static const struct roof_gpu_product_type types[] = {
    {ROOF_PRECISION_FP32, TYPE_32F, TYPE_32F, COMPUTE_32F, TYPE_32F, 32, 4, 90, 0, 1, 0, 0, 0},
    {ROOF_PRECISION_TF32, TYPE_32F, TYPE_32F, COMPUTE_32F_FAST_TF32, TYPE_32F, 32, 4, 94, 95, 1, 0,
     0, 0},
    {ROOF_PRECISION_BF16, TYPE_16BF, TYPE_16BF, COMPUTE_32F, TYPE_32F, 16, 2, 90, 0, 1, 0, 0, 0},
    {ROOF_PRECISION_FP16, TYPE_16F, TYPE_16F, COMPUTE_32F, TYPE_32F, 16, 2, 90, 0, 1, 0, 0, 0},
    {ROOF_PRECISION_FP8_E4M3, TYPE_8F_E4M3_FNUZ, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 94, 95, 16,
     0, 0, 0},
    {ROOF_PRECISION_FP8_E4M3, TYPE_8F_E4M3, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 95, 100, 16, 0,
     0, 0},
    {ROOF_PRECISION_FP8_E4M3, TYPE_8F_E4M3, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 120, 0, 16, 0,
     0, 0},
    {ROOF_PRECISION_INT8, TYPE_8I, TYPE_32I, COMPUTE_32I, TYPE_32I, 8, 4, 90, 0, 4, 0, 0, 0},
    {ROOF_PRECISION_MXFP8_E4M3, TYPE_8F_E4M3, TYPE_16BF, COMPUTE_32F, TYPE_32F, 8, 2, 95, 100, 32,
     32, SCALE_VEC32_UE8M0, 0x7f},
};

/* The names in hipblaslt.h 1.0. */
static const struct roof_symbol product_symbols[] = {
    ROOF_NAMED(roof_gpu_product_calls, create, hipblasLtCreate),
    ROOF_NAMED(roof_gpu_product_calls, destroy, hipblasLtDestroy),
    ROOF_NAMED(roof_gpu_product_calls, version_of, hipblasLtGetVersion),
    ROOF_NAMED(roof_gpu_product_calls, operation_create, hipblasLtMatmulDescCreate),
    ROOF_NAMED(roof_gpu_product_calls, operation_destroy, hipblasLtMatmulDescDestroy),
    ROOF_NAMED(roof_gpu_product_calls, operation_set, hipblasLtMatmulDescSetAttribute),
    ROOF_NAMED(roof_gpu_product_calls, layout_create, hipblasLtMatrixLayoutCreate),
    ROOF_NAMED(roof_gpu_product_calls, layout_destroy, hipblasLtMatrixLayoutDestroy),
    ROOF_NAMED(roof_gpu_product_calls, layout_set, hipblasLtMatrixLayoutSetAttribute),
    ROOF_NAMED(roof_gpu_product_calls, preference_create, hipblasLtMatmulPreferenceCreate),
    ROOF_NAMED(roof_gpu_product_calls, preference_destroy, hipblasLtMatmulPreferenceDestroy),
    ROOF_NAMED(roof_gpu_product_calls, preference_set, hipblasLtMatmulPreferenceSetAttribute),
    ROOF_NAMED(roof_gpu_product_calls, propose, hipblasLtMatmulAlgoGetHeuristic),
    ROOF_NAMED(roof_gpu_product_calls, multiply, hipblasLtMatmul),
};

/* hipblasStatus_t of hipblas-common.h 1.0; the library has no function that names them. */
static const char *name_status(int status)
{
    static const char *const names[] = {
        "HIPBLAS_STATUS_SUCCESS",        "HIPBLAS_STATUS_NOT_INITIALIZED",
        "HIPBLAS_STATUS_ALLOC_FAILED",   "HIPBLAS_STATUS_INVALID_VALUE",
        "HIPBLAS_STATUS_MAPPING_ERROR",  "HIPBLAS_STATUS_EXECUTION_FAILED",
        "HIPBLAS_STATUS_INTERNAL_ERROR", "HIPBLAS_STATUS_NOT_SUPPORTED",
        "HIPBLAS_STATUS_ARCH_MISMATCH",  "HIPBLAS_STATUS_HANDLE_IS_NULLPTR",
        "HIPBLAS_STATUS_INVALID_ENUM"};
    return status >= 0 && (size_t)status < COUNT(names) ? names[status] : "HIPBLAS_STATUS_UNKNOWN";
}

static const char *const product_libraries[] = {"libhipblaslt.so.1", "libhipblaslt.so.0", NULL};

static const struct roof_gpu_product_api products = {
    .comes_with = "ROCm",
    .libraries = product_libraries,
    .symbol = product_symbols,
    .symbols = COUNT(product_symbols),
    .status_name = name_status,
    .attribute = {[ROOF_GPU_TRANSPOSE_A] = DESC_TRANSA,
                  [ROOF_GPU_A_SCALES] = DESC_A_SCALE_POINTER,
                  [ROOF_GPU_B_SCALES] = DESC_B_SCALE_POINTER,
                  [ROOF_GPU_A_SCALE_MODE] = DESC_A_SCALE_MODE,
                  [ROOF_GPU_B_SCALE_MODE] = DESC_B_SCALE_MODE,
                  [ROOF_GPU_FAST_SUM] = -1,
                  [ROOF_GPU_BATCH] = LAYOUT_BATCH_COUNT,
                  [ROOF_GPU_BATCH_STRIDE] = LAYOUT_STRIDED_BATCH_OFFSET,
                  [ROOF_GPU_WORKSPACE] = PREFERENCE_MAX_WORKSPACE_BYTES},
    .transpose = OPERATION_TRANSPOSE,
    .candidate_size = sizeof(struct candidate),
    .workspace_at = offsetof(struct candidate, workspace_bytes),
    .type = types,
    .types = COUNT(types),
};

/* --- kernels -------------------------------------------------------------------------------- */

/* The source of all kernels; AMD has no text for machines that later devices take, so hipRTC
 * compiles it for the device that is there. */
#define SOURCE "kernels/hip_kernels.hip"

struct hiprtc_program; /* opaque: hiprtcProgram points to it */

/* The declarations follow hiprtc.h of ROCm 5.2.3 (Debian's libamdhip64-dev). */
struct hiprtc {
    int (*hiprtcCreateProgram)(struct hiprtc_program **program, const char *source,
                               const char *name, int headers, const char **header,
                               const char **header_name);
    int (*hiprtcCompileProgram)(struct hiprtc_program *program, int options, const char **option);
    int (*hiprtcGetProgramLogSize)(struct hiprtc_program *program, size_t *size);
    int (*hiprtcGetProgramLog)(struct hiprtc_program *program, char *log);
    int (*hiprtcGetCodeSize)(struct hiprtc_program *program, size_t *size);
    int (*hiprtcGetCode)(struct hiprtc_program *program, char *code);
    int (*hiprtcDestroyProgram)(struct hiprtc_program **program);
    const char *(*hiprtcGetErrorString)(int status);
};

static const struct roof_symbol compiler_symbols[] = {
    ROOF_SYMBOL(hiprtc, hiprtcCreateProgram),     ROOF_SYMBOL(hiprtc, hiprtcCompileProgram),
    ROOF_SYMBOL(hiprtc, hiprtcGetProgramLogSize), ROOF_SYMBOL(hiprtc, hiprtcGetProgramLog),
    ROOF_SYMBOL(hiprtc, hiprtcGetCodeSize),       ROOF_SYMBOL(hiprtc, hiprtcGetCode),
    ROOF_SYMBOL(hiprtc, hiprtcDestroyProgram),    ROOF_SYMBOL(hiprtc, hiprtcGetErrorString),
};

/* A compiler that is open. */
struct compiler {
    struct roof_library library;
    struct hiprtc call;
    struct hiprtc_program *program;
    char *code; /* owned: what was compiled */
};

static enum roof_status check(const struct compiler *compiler, int status, const char *call,
                              struct roof_error *error)
{
    return status == 0 ? ROOF_OK
                       : roof_error_set(error, ROOF_IO, "%s: %s", call,
                                        compiler->call.hiprtcGetErrorString(status));
}

#define RTC(compiler_, call_, ...)                                                                 \
    TRY(check((compiler_), (compiler_)->call.call_(__VA_ARGS__), #call_, error))

/* Adds the first line of what the compiler says to an error. */
static void add_log(struct roof_error *error, const struct compiler *compiler)
{
    size_t size = 0;
    char *log = NULL;
    if (compiler->call.hiprtcGetProgramLogSize(compiler->program, &size) == 0 && size > 1) {
        log = calloc(size + 1, 1);
    }
    if (log != NULL && compiler->call.hiprtcGetProgramLog(compiler->program, log) == 0) {
        roof_error_append(error, " (%.*s)", (int)strcspn(log, "\r\n"), log);
    }
    free(log);
}

/* Compiles the kernels for the device of this thread, which is what hipRTC does where no
 * architecture is named. */
static enum roof_status compile(struct compiler *out, struct roof_error *error)
{
    static const char *const names[] = {"libhiprtc.so.7", "libhiprtc.so.6", NULL};
    const char *options[] = {"-O3", "-ffp-contract=fast"};
    size_t size = 0;
    TRY(roof_library_open(&out->library, names, "ROCm", error));
    TRY(roof_library_find(&out->library, &out->call, compiler_symbols, COUNT(compiler_symbols),
                          error));
    RTC(out, hiprtcCreateProgram, &out->program, roof_data_file(SOURCE)->text, "roofline.hip", 0,
        NULL, NULL);
    const enum roof_status status =
        check(out, out->call.hiprtcCompileProgram(out->program, (int)COUNT(options), options),
              "hiprtcCompileProgram", error);
    if (status != ROOF_OK) {
        add_log(error, out);
        return status;
    }
    RTC(out, hiprtcGetCodeSize, out->program, &size);
    out->code = malloc(size + 1);
    if (out->code == NULL) {
        return roof_no_memory(error);
    }
    RTC(out, hiprtcGetCode, out->program, out->code);
    return ROOF_OK;
}

static enum roof_status load(struct roof_gpu_kernels *kernels, struct roof_gpu_vectors *vectors,
                             const struct roof_gpu *gpu, struct roof_error *error)
{
    struct compiler compiler = {.code = NULL};
    enum roof_status status = compile(&compiler, error);
    if (status == ROOF_OK) {
        status = roof_gpu_kernels_open(kernels, gpu, compiler.code, error);
    }
    if (status == ROOF_OK) {
        status = roof_gpu_vectors_open(vectors, gpu, compiler.code, false, error);
    }
    if (compiler.program != NULL) {
        (void)compiler.call.hiprtcDestroyProgram(&compiler.program);
    }
    free(compiler.code);
    roof_library_close(&compiler.library);
    return status;
}

/* --- the backend ---------------------------------------------------------------------------- */

/* The devices by the number in their names, of which HIP tells the first two parts: gfx908 and
 * gfx90a are 9.0, and differ in the name of the product. Sizes are those of the largest cache
 * behind the L2 of a family (AMD's "Infinity Cache", in data sheets of the MI300X, MI355X, RX 6900
 * XT, RX 7900 XTX, Ryzen AI Max+ 395 and RX 9070 XT). */
static const struct {
    int capability;
    const char *product; /* is in the name; NULL: any */
    const char *name;
    int64_t l3_mib;
} families[] = {
    {90, "MI2", "CDNA2 (gfx90a)", 0},
    {90, "MI1", "CDNA (gfx908)", 0},
    {94, NULL, "CDNA3 (gfx942)", 256},
    {95, NULL, "CDNA4 (gfx950)", 256},
    {103, NULL, "RDNA 2", 128},
    {110, NULL, "RDNA 3 (gfx1100)", 96},
    {115, NULL, "RDNA 3.5 (gfx1151)", 32},
    {120, NULL, "RDNA 4 (gfx1201)", 64},
};

/* Returns the place of the family of a device; COUNT(families): it is not known. */
static size_t find_family(const struct roof_gpu *gpu)
{
    size_t i = 0;
    while (i < COUNT(families) &&
           (families[i].capability != roof_gpu_capability(gpu) ||
            (families[i].product != NULL && strstr(gpu->name, families[i].product) == NULL))) {
        i++;
    }
    return i;
}

static void name_architecture(char out[ROOF_METER_TEXT], const struct roof_gpu *gpu)
{
    const size_t family = find_family(gpu);
    if (family < COUNT(families)) {
        (void)snprintf(out, ROOF_METER_TEXT, "%s", families[family].name);
    } else {
        (void)snprintf(out, ROOF_METER_TEXT, "AMD GPU (%d.%d)", gpu->major, gpu->minor);
    }
}

static int64_t l3_bytes(const struct roof_gpu *gpu)
{
    const size_t family = find_family(gpu);
    return family < COUNT(families) ? families[family].l3_mib << 20 : 0;
}

/* It has the functions of NCCL by the same names (rccl.h of ROCm 6 and 7). */
static const char *const collectives[] = {"librccl.so.1", NULL};

const struct roof_gpu_backend roof_hip_backend = {
    .driver = &driver,
    .products = &products,
    .load = load,
    .architecture = name_architecture,
    .l3_bytes = l3_bytes,
    .sensors = roof_amd_open,
    .collectives = collectives,
    .collectives_come_with = "RCCL",
    .version_major = 10000000, /* HIP_VERSION: major, minor and patch */
    .version_minor = 100000,
};
