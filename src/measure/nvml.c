// SPDX-License-Identifier: MIT
/* GPUs by the NVIDIA Management Library. The declarations follow the NVML API Reference Guide
 * (docs.nvidia.com/deploy/nvml-api): names, numbers and layouts are those of its ABI. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "measure/gpus.h"
#include "measure/library.h"

/* nvmlReturn_t */
enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_INSUFFICIENT_SIZE = 7
};
/* nvmlClockType_t and nvmlTemperatureSensors_t */
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };
/* The field of the power at the moment; nvmlDeviceGetPowerUsage is a mean over a second from Ampere
 * on. */
enum { NVML_FI_DEV_POWER_INSTANT = 186 };

struct nvml_device; /* opaque: nvmlDevice_t points to it */

struct nvml_utilization {
    unsigned gpu; /* percent */
    unsigned memory;
};

struct nvml_memory {
    unsigned long long total; /* bytes */
    unsigned long long free;
    unsigned long long used;
};

/* nvmlFieldValue_t */
struct nvml_field {
    unsigned id;
    unsigned scope;
    long long timestamp;
    long long latency_us;
    int type;
    int status; /* nvmlReturn_t */
    union {
        double number;
        unsigned whole;
        unsigned long long wide;
    } value;
};
_Static_assert(sizeof(struct nvml_field) == 40, "the layout of nvmlFieldValue_t");

struct nvml {
    int (*nvmlInit_v2)(void);
    int (*nvmlShutdown)(void);
    const char *(*nvmlErrorString)(int status);
    int (*nvmlDeviceGetCount_v2)(unsigned *count);
    int (*nvmlDeviceGetHandleByIndex_v2)(unsigned index, struct nvml_device **device);
    int (*nvmlDeviceGetHandleByPciBusId_v2)(const char *bus, struct nvml_device **device);
    int (*nvmlDeviceGetComputeRunningProcesses_v3)(struct nvml_device *device, unsigned *count,
                                                   void *processes);
    int (*nvmlDeviceGetMigMode)(struct nvml_device *device, unsigned *mode, unsigned *pending);
    int (*nvmlDeviceGetName)(struct nvml_device *device, char *name, unsigned size);
    int (*nvmlDeviceGetPowerUsage)(struct nvml_device *device, unsigned *milliwatts);
    int (*nvmlDeviceGetClockInfo)(struct nvml_device *device, int clock, unsigned *megahertz);
    int (*nvmlDeviceGetTemperature)(struct nvml_device *device, int sensor, unsigned *celsius);
    int (*nvmlDeviceGetUtilizationRates)(struct nvml_device *device, struct nvml_utilization *out);
    int (*nvmlDeviceGetMemoryInfo)(struct nvml_device *device, struct nvml_memory *out);
    int (*nvmlDeviceGetFieldValues)(struct nvml_device *device, int count, struct nvml_field *out);
    int (*nvmlDeviceGetTotalEnergyConsumption)(struct nvml_device *device,
                                               unsigned long long *millijoules);
    int (*nvmlDeviceGetCurrentClocksThrottleReasons)(struct nvml_device *device,
                                                     unsigned long long *bits);
};

static const struct roof_symbol symbols[] = {
    ROOF_SYMBOL(nvml, nvmlInit_v2),
    ROOF_SYMBOL(nvml, nvmlShutdown),
    ROOF_SYMBOL(nvml, nvmlErrorString),
    ROOF_SYMBOL(nvml, nvmlDeviceGetCount_v2),
    ROOF_SYMBOL(nvml, nvmlDeviceGetHandleByIndex_v2),
    ROOF_OPTIONAL(nvml, nvmlDeviceGetHandleByPciBusId_v2),
    ROOF_OPTIONAL(nvml, nvmlDeviceGetComputeRunningProcesses_v3),
    ROOF_OPTIONAL(nvml, nvmlDeviceGetMigMode),
    ROOF_SYMBOL(nvml, nvmlDeviceGetName),
    ROOF_SYMBOL(nvml, nvmlDeviceGetPowerUsage),
    ROOF_SYMBOL(nvml, nvmlDeviceGetClockInfo),
    ROOF_SYMBOL(nvml, nvmlDeviceGetTemperature),
    ROOF_SYMBOL(nvml, nvmlDeviceGetUtilizationRates),
    ROOF_SYMBOL(nvml, nvmlDeviceGetMemoryInfo),
    /* Drivers from before Volta lack the counter, and older ones the fields and the reasons. */
    ROOF_OPTIONAL(nvml, nvmlDeviceGetFieldValues),
    ROOF_OPTIONAL(nvml, nvmlDeviceGetTotalEnergyConsumption),
    ROOF_OPTIONAL(nvml, nvmlDeviceGetCurrentClocksThrottleReasons),
};

struct nvml_gpus {
    struct roof_gpus base;
    struct roof_library library;
    struct nvml call;
    bool begun; /* nvmlInit_v2 succeeded */
    struct nvml_device *device[ROOF_GPUS_MAX];
};

/* Fails with NVML's message about a call; ROOF_OK if the call succeeded. */
static enum roof_status check(const struct nvml_gpus *gpus, int status, const char *call,
                              struct roof_error *error)
{
    return status == NVML_SUCCESS
               ? ROOF_OK
               : roof_error_set(error, ROOF_IO, "%s: %s", call, gpus->call.nvmlErrorString(status));
}

/* --- values -------------------------------------------------------------------------------- */

/* Tells if a value is available. A device without it, or one that hides it from this user, is not a
 * failure: *status is then ROOF_OK. */
static bool got(enum roof_status *status, const struct nvml_gpus *gpus, int result,
                const char *call, struct roof_error *error)
{
    const bool absent = result == NVML_ERROR_NOT_SUPPORTED || result == NVML_ERROR_NO_PERMISSION;
    *status = absent ? ROOF_OK : check(gpus, result, call, error);
    return result == NVML_SUCCESS;
}

/* Reads the power: that of the moment where the device has it, else the mean of a second. */
static enum roof_status read_power(const struct nvml_gpus *gpus, struct roof_sample *out,
                                   struct nvml_device *device, struct roof_error *error)
{
    struct nvml_field field = {.id = NVML_FI_DEV_POWER_INSTANT, .status = NVML_ERROR_NOT_SUPPORTED};
    enum roof_status status = ROOF_OK;
    unsigned milliwatts = 0;
    if (gpus->call.nvmlDeviceGetFieldValues != NULL &&
        gpus->call.nvmlDeviceGetFieldValues(device, 1, &field) == NVML_SUCCESS &&
        field.status == NVML_SUCCESS) {
        out->power_w = field.value.whole / 1e3;
        return ROOF_OK;
    }
    if (got(&status, gpus, gpus->call.nvmlDeviceGetPowerUsage(device, &milliwatts),
            "nvmlDeviceGetPowerUsage", error)) {
        out->power_w = milliwatts / 1e3;
    }
    return status;
}

static enum roof_status read_clock(double *out_hz, const struct nvml_gpus *gpus,
                                   struct nvml_device *device, int clock, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    unsigned megahertz = 0;
    if (got(&status, gpus, gpus->call.nvmlDeviceGetClockInfo(device, clock, &megahertz),
            "nvmlDeviceGetClockInfo", error)) {
        *out_hz = roof_from_unit(megahertz, ROOF_UNIT_MEGAHERTZ);
    }
    return status;
}

static enum roof_status read_use(const struct nvml_gpus *gpus, struct roof_sample *out,
                                 struct nvml_device *device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    struct nvml_utilization use = {.gpu = 0};
    struct nvml_memory memory = {.used = 0};
    unsigned celsius = 0;
    if (got(&status, gpus,
            gpus->call.nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &celsius),
            "nvmlDeviceGetTemperature", error)) {
        out->temperature_c = celsius;
    }
    TRY(status);
    if (got(&status, gpus, gpus->call.nvmlDeviceGetUtilizationRates(device, &use),
            "nvmlDeviceGetUtilizationRates", error)) {
        out->utilization = use.gpu / 1e2;
    }
    TRY(status);
    if (got(&status, gpus, gpus->call.nvmlDeviceGetMemoryInfo(device, &memory),
            "nvmlDeviceGetMemoryInfo", error)) {
        out->memory_used_bytes = (double)memory.used;
    }
    return status;
}

/* Older devices and drivers lack the energy counter and the reasons. */
static enum roof_status read_counter(struct roof_gpus *base, struct roof_sample *out, int device,
                                     struct roof_error *error)
{
    const struct nvml_gpus *const gpus = (const struct nvml_gpus *)base;
    enum roof_status status = ROOF_OK;
    unsigned long long value = 0;
    if (gpus->call.nvmlDeviceGetTotalEnergyConsumption != NULL &&
        got(&status, gpus,
            gpus->call.nvmlDeviceGetTotalEnergyConsumption(gpus->device[device], &value),
            "nvmlDeviceGetTotalEnergyConsumption", error)) {
        out->counter_j = (double)value / 1e3;
    }
    return status;
}

static enum roof_status read_reasons(const struct nvml_gpus *gpus, struct roof_sample *out,
                                     struct nvml_device *device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    unsigned long long value = 0;
    if (gpus->call.nvmlDeviceGetCurrentClocksThrottleReasons != NULL &&
        got(&status, gpus, gpus->call.nvmlDeviceGetCurrentClocksThrottleReasons(device, &value),
            "nvmlDeviceGetCurrentClocksThrottleReasons", error)) {
        roof_throttle_reasons(out->throttle, value);
    }
    return status;
}

static enum roof_status read_sample(struct roof_gpus *base, struct roof_sample *out, int device,
                                    struct roof_error *error)
{
    const struct nvml_gpus *const gpus = (const struct nvml_gpus *)base;
    struct nvml_device *const handle = gpus->device[device];
    TRY(read_power(gpus, out, handle, error));
    TRY(read_clock(&out->sm_hz, gpus, handle, NVML_CLOCK_SM, error));
    TRY(read_clock(&out->memory_hz, gpus, handle, NVML_CLOCK_MEM, error));
    TRY(read_use(gpus, out, handle, error));
    TRY(read_counter(base, out, device, error));
    return read_reasons(gpus, out, handle, error);
}

/* --- devices ------------------------------------------------------------------------------- */

static void read_name(struct roof_gpus *base, char out[ROOF_GPU_NAME_SIZE], int device)
{
    const struct nvml_gpus *const gpus = (const struct nvml_gpus *)base;
    if (gpus->call.nvmlDeviceGetName(gpus->device[device], out, ROOF_GPU_NAME_SIZE) !=
        NVML_SUCCESS) {
        out[0] = '\0';
    }
    out[ROOF_GPU_NAME_SIZE - 1] = '\0';
}

static void close_gpus(struct roof_gpus *base)
{
    struct nvml_gpus *const gpus = (struct nvml_gpus *)base;
    if (gpus->begun) {
        (void)gpus->call.nvmlShutdown();
    }
    roof_library_close(&gpus->library);
}

static enum roof_status find_devices(struct nvml_gpus *gpus, const char *bus,
                                     struct roof_error *error)
{
    unsigned count = 0;
    if (bus != NULL) {
        gpus->base.count = 1;
        return gpus->call.nvmlDeviceGetHandleByPciBusId_v2 == NULL
                   ? roof_error_set(error, ROOF_IO, "%s finds no GPU by its bus",
                                    gpus->library.name)
                   : check(gpus, gpus->call.nvmlDeviceGetHandleByPciBusId_v2(bus, gpus->device),
                           "nvmlDeviceGetHandleByPciBusId_v2", error);
    }
    TRY(check(gpus, gpus->call.nvmlDeviceGetCount_v2(&count), "nvmlDeviceGetCount_v2", error));
    if (count == 0) {
        return roof_error_set(error, ROOF_IO, "%s finds no GPU", gpus->library.name);
    }
    for (unsigned i = 0; i < count && i < ROOF_GPUS_MAX; i++) {
        TRY(check(gpus, gpus->call.nvmlDeviceGetHandleByIndex_v2(i, &gpus->device[i]),
                  "nvmlDeviceGetHandleByIndex_v2", error));
        gpus->base.count++;
    }
    return ROOF_OK;
}

static enum roof_status open_gpus(struct roof_gpus *base, const char *bus, struct roof_error *error)
{
    struct nvml_gpus *const gpus = (struct nvml_gpus *)base;
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    TRY(roof_library_open(&gpus->library, names, "the NVIDIA driver", error));
    TRY(roof_library_find(&gpus->library, &gpus->call, symbols, COUNT(symbols), error));
    TRY(check(gpus, gpus->call.nvmlInit_v2(), "nvmlInit_v2", error));
    gpus->begun = true;
    return find_devices(gpus, bus, error);
}

static bool is_divided(struct roof_gpus *gpus)
{
    const struct nvml_gpus *const nvml = (const struct nvml_gpus *)gpus;
    unsigned mode = 0;
    unsigned pending = 0;
    return nvml->call.nvmlDeviceGetMigMode != NULL &&
           nvml->call.nvmlDeviceGetMigMode(nvml->device[0], &mode, &pending) == NVML_SUCCESS &&
           mode != 0;
}

static enum roof_status count_others(struct roof_gpus *gpus, unsigned *out,
                                     struct roof_error *error)
{
    const struct nvml_gpus *const nvml = (const struct nvml_gpus *)gpus;
    (void)error;
    *out = 0;
    /* Without room for the processes it returns their number. */
    if (nvml->call.nvmlDeviceGetComputeRunningProcesses_v3 != NULL &&
        nvml->call.nvmlDeviceGetComputeRunningProcesses_v3(nvml->device[0], out, NULL) !=
            NVML_ERROR_INSUFFICIENT_SIZE) {
        *out = 0;
    }
    return ROOF_OK;
}

const struct roof_gpus_driver roof_nvml = {.source = "nvml",
                                           .size = sizeof(struct nvml_gpus),
                                           .open = open_gpus,
                                           .close = close_gpus,
                                           .name = read_name,
                                           .read = read_sample,
                                           .count = read_counter,
                                           .divided = is_divided,
                                           .others = count_others};
