// SPDX-License-Identifier: MIT
/* GPUs by the ROCm System Management Interface. The declarations follow rocm_smi.h of
 * github.com/ROCm/rocm_smi_lib, versions 6 and 7, and those of buses and processes that of
 * ROCm 5.2.3: names, numbers and layouts are those of its ABI. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "measure/gpus.h"
#include "measure/library.h"

/* rsmi_status_t */
enum {
    RSMI_STATUS_SUCCESS = 0,
    RSMI_STATUS_NOT_SUPPORTED = 2,
    RSMI_STATUS_FILE_ERROR = 3,
    RSMI_STATUS_PERMISSION = 4
};
/* rsmi_clk_type_t, rsmi_temperature_type_t, rsmi_temperature_metric_t, rsmi_memory_type_t */
enum {
    RSMI_CLK_TYPE_SYS = 0,
    RSMI_CLK_TYPE_MEM = 4,
    RSMI_TEMP_TYPE_EDGE = 0,
    RSMI_TEMP_TYPE_JUNCTION = 1, /* Instinct GPUs have no edge sensor */
    RSMI_TEMP_CURRENT = 0,
    RSMI_MEM_TYPE_VRAM = 0
};
/* RSMI_MAX_NUM_FREQUENCIES */
enum { FREQUENCIES_MAX = 33 };

/* rsmi_frequencies_t */
struct rsmi_frequencies {
    bool has_deep_sleep;
    uint32_t count;
    uint32_t current; /* number of the frequency at the moment */
    uint64_t hertz[FREQUENCIES_MAX];
};
_Static_assert(sizeof(struct rsmi_frequencies) == 280, "the layout of rsmi_frequencies_t");

/* rsmi_process_info_t */
struct rsmi_process {
    uint32_t process;
    uint32_t address_space;
    uint64_t memory_bytes;
    uint64_t copies_us;
    uint32_t occupancy;
};
_Static_assert(sizeof(struct rsmi_process) == 32, "the layout of rsmi_process_info_t");

struct rocm_smi {
    int (*rsmi_init)(uint64_t flags);
    int (*rsmi_shut_down)(void);
    int (*rsmi_status_string)(int status, const char **text);
    int (*rsmi_num_monitor_devices)(uint32_t *count);
    int (*rsmi_dev_name_get)(uint32_t device, char *name, size_t size);
    int (*rsmi_dev_gpu_clk_freq_get)(uint32_t device, int clock, struct rsmi_frequencies *out);
    int (*rsmi_dev_temp_metric_get)(uint32_t device, uint32_t sensor, int metric,
                                    int64_t *millicelsius);
    int (*rsmi_dev_busy_percent_get)(uint32_t device, uint32_t *percent);
    int (*rsmi_dev_memory_usage_get)(uint32_t device, int memory, uint64_t *bytes);
    int (*rsmi_dev_power_ave_get)(uint32_t device, uint32_t sensor, uint64_t *microwatts);
    int (*rsmi_dev_power_get)(uint32_t device, uint64_t *microwatts, int *type);
    int (*rsmi_dev_energy_count_get)(uint32_t device, uint64_t *count, float *microjoules,
                                     uint64_t *time_ns);
    int (*rsmi_dev_pci_id_get)(uint32_t device, uint64_t *id);
    int (*rsmi_compute_process_info_get)(struct rsmi_process *processes, uint32_t *count);
    int (*rsmi_compute_process_gpus_get)(uint32_t process, uint32_t *devices, uint32_t *count);
};

static const struct roof_symbol symbols[] = {
    ROOF_SYMBOL(rocm_smi, rsmi_init),
    ROOF_SYMBOL(rocm_smi, rsmi_shut_down),
    ROOF_SYMBOL(rocm_smi, rsmi_status_string),
    ROOF_SYMBOL(rocm_smi, rsmi_num_monitor_devices),
    ROOF_SYMBOL(rocm_smi, rsmi_dev_name_get),
    ROOF_SYMBOL(rocm_smi, rsmi_dev_gpu_clk_freq_get),
    ROOF_SYMBOL(rocm_smi, rsmi_dev_temp_metric_get),
    ROOF_SYMBOL(rocm_smi, rsmi_dev_busy_percent_get),
    ROOF_SYMBOL(rocm_smi, rsmi_dev_memory_usage_get),
    ROOF_SYMBOL(rocm_smi, rsmi_dev_power_ave_get),
    ROOF_OPTIONAL(rocm_smi, rsmi_dev_power_get),
    ROOF_OPTIONAL(rocm_smi, rsmi_dev_energy_count_get),
    ROOF_OPTIONAL(rocm_smi, rsmi_dev_pci_id_get),
    ROOF_OPTIONAL(rocm_smi, rsmi_compute_process_info_get),
    ROOF_OPTIONAL(rocm_smi, rsmi_compute_process_gpus_get),
};

struct rocm_gpus {
    struct roof_gpus base;
    struct roof_library library;
    struct rocm_smi call;
    bool begun;     /* rsmi_init succeeded */
    uint32_t first; /* the library's number of the GPU whose number is 0 here */
};

/* Fails with what the library says about a call; ROOF_OK where the call succeeded. */
static enum roof_status check(const struct rocm_gpus *gpus, int status, const char *call,
                              struct roof_error *error)
{
    const char *text = NULL;
    if (status == RSMI_STATUS_SUCCESS) {
        return ROOF_OK;
    }
    if (gpus->call.rsmi_status_string(status, &text) != RSMI_STATUS_SUCCESS || text == NULL) {
        return roof_error_set(error, ROOF_IO, "%s: status %d", call, status);
    }
    return roof_error_set(error, ROOF_IO, "%s: %s", call, text);
}

/* Tells if a value is there. A device without it, whose file in sysfs is absent or closed to this
 * user, is no failure: *status is ROOF_OK then. */
static bool got(enum roof_status *status, const struct rocm_gpus *gpus, int result,
                const char *call, struct roof_error *error)
{
    const bool absent = result == RSMI_STATUS_NOT_SUPPORTED || result == RSMI_STATUS_FILE_ERROR ||
                        result == RSMI_STATUS_PERMISSION;
    *status = absent ? ROOF_OK : check(gpus, result, call, error);
    return result == RSMI_STATUS_SUCCESS;
}

/* --- values -------------------------------------------------------------------------------- */

static enum roof_status read_power(const struct rocm_gpus *gpus, struct roof_sample *out,
                                   uint32_t device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    uint64_t microwatts = 0;
    int type = 0;
    if ((gpus->call.rsmi_dev_power_get != NULL &&
         gpus->call.rsmi_dev_power_get(device, &microwatts, &type) == RSMI_STATUS_SUCCESS) ||
        got(&status, gpus, gpus->call.rsmi_dev_power_ave_get(device, 0, &microwatts),
            "rsmi_dev_power_ave_get", error)) {
        out->power_w = (double)microwatts / 1e6;
    }
    return status;
}

static enum roof_status read_clock(double *out_hz, const struct rocm_gpus *gpus, uint32_t device,
                                   int clock, struct roof_error *error)
{
    struct rsmi_frequencies found = {.count = 0};
    enum roof_status status = ROOF_OK;
    if (got(&status, gpus, gpus->call.rsmi_dev_gpu_clk_freq_get(device, clock, &found),
            "rsmi_dev_gpu_clk_freq_get", error) &&
        found.current < found.count && found.current < FREQUENCIES_MAX) {
        *out_hz = (double)found.hertz[found.current];
    }
    return status;
}

static enum roof_status read_temperature(const struct rocm_gpus *gpus, struct roof_sample *out,
                                         uint32_t device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    int64_t millicelsius = 0;
    if (gpus->call.rsmi_dev_temp_metric_get(device, RSMI_TEMP_TYPE_EDGE, RSMI_TEMP_CURRENT,
                                            &millicelsius) == RSMI_STATUS_SUCCESS ||
        got(&status, gpus,
            gpus->call.rsmi_dev_temp_metric_get(device, RSMI_TEMP_TYPE_JUNCTION, RSMI_TEMP_CURRENT,
                                                &millicelsius),
            "rsmi_dev_temp_metric_get", error)) {
        out->temperature_c = (double)millicelsius / 1e3;
    }
    return status;
}

static enum roof_status read_use(const struct rocm_gpus *gpus, struct roof_sample *out,
                                 uint32_t device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    uint32_t percent = 0;
    uint64_t bytes = 0;
    if (got(&status, gpus, gpus->call.rsmi_dev_busy_percent_get(device, &percent),
            "rsmi_dev_busy_percent_get", error)) {
        out->utilization = percent / 1e2;
    }
    TRY(status);
    if (got(&status, gpus, gpus->call.rsmi_dev_memory_usage_get(device, RSMI_MEM_TYPE_VRAM, &bytes),
            "rsmi_dev_memory_usage_get", error)) {
        out->memory_used_bytes = (double)bytes;
    }
    return status;
}

static enum roof_status read_counter(struct roof_gpus *base, struct roof_sample *out, int device,
                                     struct roof_error *error)
{
    const struct rocm_gpus *const gpus = (const struct rocm_gpus *)base;
    enum roof_status status = ROOF_OK;
    uint64_t count = 0;
    uint64_t time_ns = 0;
    float microjoules = 0;
    if (gpus->call.rsmi_dev_energy_count_get != NULL &&
        got(&status, gpus,
            gpus->call.rsmi_dev_energy_count_get(gpus->first + (uint32_t)device, &count,
                                                 &microjoules, &time_ns),
            "rsmi_dev_energy_count_get", error)) {
        out->counter_j = (double)count * (double)microjoules / 1e6;
    }
    return status;
}

static enum roof_status read_sample(struct roof_gpus *base, struct roof_sample *out, int device,
                                    struct roof_error *error)
{
    const struct rocm_gpus *const gpus = (const struct rocm_gpus *)base;
    const uint32_t number = gpus->first + (uint32_t)device;
    TRY(read_power(gpus, out, number, error));
    TRY(read_clock(&out->sm_hz, gpus, number, RSMI_CLK_TYPE_SYS, error));
    TRY(read_clock(&out->memory_hz, gpus, number, RSMI_CLK_TYPE_MEM, error));
    TRY(read_temperature(gpus, out, number, error));
    TRY(read_use(gpus, out, number, error));
    return read_counter(base, out, device, error);
}

/* --- devices ------------------------------------------------------------------------------- */

static void read_name(struct roof_gpus *base, char out[ROOF_GPU_NAME_SIZE], int device)
{
    const struct rocm_gpus *const gpus = (const struct rocm_gpus *)base;
    if (gpus->call.rsmi_dev_name_get(gpus->first + (uint32_t)device, out, ROOF_GPU_NAME_SIZE) !=
        RSMI_STATUS_SUCCESS) {
        out[0] = '\0';
    }
    out[ROOF_GPU_NAME_SIZE - 1] = '\0';
}

static void close_gpus(struct roof_gpus *base)
{
    struct rocm_gpus *const gpus = (struct rocm_gpus *)base;
    if (gpus->begun) {
        (void)gpus->call.rsmi_shut_down();
    }
    roof_library_close(&gpus->library);
}

/* Finds the GPU at a bus id. */
static enum roof_status find_bus(struct rocm_gpus *gpus, uint32_t count, const char *bus,
                                 struct roof_error *error)
{
    uint64_t wanted = 0;
    if (gpus->call.rsmi_dev_pci_id_get == NULL || !roof_gpu_bus_number(&wanted, bus)) {
        return roof_error_set(error, ROOF_IO, "%s finds no GPU by its bus", gpus->library.name);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = 0;
        TRY(check(gpus, gpus->call.rsmi_dev_pci_id_get(i, &id), "rsmi_dev_pci_id_get", error));
        if ((id & ROOF_GPU_BUS_MASK) == wanted) {
            gpus->first = i;
            gpus->base.count = 1;
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_IO, "%s finds no GPU at %s", gpus->library.name, bus);
}

static enum roof_status open_gpus(struct roof_gpus *base, const char *bus, struct roof_error *error)
{
    struct rocm_gpus *const gpus = (struct rocm_gpus *)base;
    static const char *const names[] = {"librocm_smi64.so.7", "librocm_smi64.so.6", NULL};
    uint32_t count = 0;
    TRY(roof_library_open(&gpus->library, names, "ROCm", error));
    TRY(roof_library_find(&gpus->library, &gpus->call, symbols, COUNT(symbols), error));
    TRY(check(gpus, gpus->call.rsmi_init(0), "rsmi_init", error));
    gpus->begun = true;
    TRY(check(gpus, gpus->call.rsmi_num_monitor_devices(&count), "rsmi_num_monitor_devices",
              error));
    if (bus != NULL) {
        return find_bus(gpus, count, bus, error);
    }
    gpus->base.count = count < ROOF_GPUS_MAX ? (int)count : ROOF_GPUS_MAX;
    return count > 0 ? ROOF_OK
                     : roof_error_set(error, ROOF_IO, "%s finds no GPU", gpus->library.name);
}

/* Returns how many of the GPU's processes are others than this one. */
static uint32_t count_on_first(const struct rocm_gpus *gpus, const struct rsmi_process *processes,
                               uint32_t count)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t devices[ROOF_GPUS_MAX];
        uint32_t uses = ROOF_GPUS_MAX;
        if (processes[i].process == (uint32_t)getpid() ||
            gpus->call.rsmi_compute_process_gpus_get(processes[i].process, devices, &uses) !=
                RSMI_STATUS_SUCCESS) {
            continue;
        }
        for (uint32_t k = 0; k < uses && k < ROOF_GPUS_MAX; k++) {
            others += devices[k] == gpus->first ? 1 : 0;
        }
    }
    return others;
}

static enum roof_status count_others(struct roof_gpus *base, unsigned *out,
                                     struct roof_error *error)
{
    const struct rocm_gpus *const gpus = (const struct rocm_gpus *)base;
    uint32_t count = 0;
    *out = 0;
    if (gpus->call.rsmi_compute_process_info_get == NULL ||
        gpus->call.rsmi_compute_process_gpus_get == NULL ||
        gpus->call.rsmi_compute_process_info_get(NULL, &count) != RSMI_STATUS_SUCCESS ||
        count == 0) {
        return ROOF_OK;
    }
    struct rsmi_process *const processes = calloc(count, sizeof *processes);
    if (processes == NULL) {
        return roof_no_memory(error);
    }
    const int status = gpus->call.rsmi_compute_process_info_get(processes, &count);
    *out = status == RSMI_STATUS_SUCCESS ? count_on_first(gpus, processes, count) : 0;
    free(processes);
    return ROOF_OK;
}

const struct roof_gpus_driver roof_rocm_smi = {.source = "rocm_smi",
                                               .size = sizeof(struct rocm_gpus),
                                               .open = open_gpus,
                                               .close = close_gpus,
                                               .name = read_name,
                                               .read = read_sample,
                                               .count = read_counter,
                                               .others = count_others};
