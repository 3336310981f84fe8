// SPDX-License-Identifier: MIT
/* GPUs by the AMD System Management Interface, which follows the ROCm SMI. The declarations follow
 * amdsmi.h of github.com/ROCm/rocm-systems, version 26 (ROCm 7): other versions have other layouts,
 * and another name of the library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "measure/gpus.h"
#include "measure/library.h"

/* amdsmi_status_t */
enum {
    AMDSMI_STATUS_SUCCESS = 0,
    AMDSMI_STATUS_NOT_SUPPORTED = 2,
    AMDSMI_STATUS_NOT_YET_IMPLEMENTED = 3,
    AMDSMI_STATUS_NO_PERM = 10,
    AMDSMI_STATUS_FILE_ERROR = 14,
    AMDSMI_STATUS_NO_DATA = 40,
    AMDSMI_STATUS_UNEXPECTED_DATA = 43
};
/* amdsmi_init_flags_t, amdsmi_clk_type_t, amdsmi_temperature_type_t, amdsmi_temperature_metric_t,
 * amdsmi_memory_type_t */
enum {
    AMDSMI_INIT_AMD_GPUS = 2,
    AMDSMI_CLK_TYPE_SYS = 0,
    AMDSMI_CLK_TYPE_MEM = 4,
    AMDSMI_TEMPERATURE_TYPE_EDGE = 0,
    AMDSMI_TEMPERATURE_TYPE_HOTSPOT = 1, /* Instinct GPUs have no edge sensor */
    AMDSMI_TEMP_CURRENT = 0,
    AMDSMI_MEM_TYPE_VRAM = 0
};
/* A member of a struct that the device lacks has all of its 16, 32 or 64 bits set. */
#define ABSENT_FROM UINT16_MAX

struct amdsmi_device; /* opaque: amdsmi_processor_handle points to it */
struct amdsmi_socket; /* opaque: amdsmi_socket_handle points to it */

/* amdsmi_power_info_t */
struct amdsmi_power {
    uint64_t socket_w;
    uint64_t rest[23];
};
_Static_assert(sizeof(struct amdsmi_power) == 192, "the layout of amdsmi_power_info_t");

/* amdsmi_clk_info_t */
struct amdsmi_clock {
    uint32_t megahertz;
    uint32_t rest[7];
};
_Static_assert(sizeof(struct amdsmi_clock) == 32, "the layout of amdsmi_clk_info_t");

/* amdsmi_engine_usage_t */
struct amdsmi_use {
    uint32_t percent;
    uint32_t rest[15];
};
_Static_assert(sizeof(struct amdsmi_use) == 64, "the layout of amdsmi_engine_usage_t");

/* amdsmi_proc_info_t */
struct amdsmi_process {
    char name[256];
    uint32_t process;
    uint64_t rest[55];
};
_Static_assert(sizeof(struct amdsmi_process) == 704, "the layout of amdsmi_proc_info_t");

/* amdsmi_asic_info_t, of which version 26 has less than this. */
struct amdsmi_names {
    char product[256];
    uint64_t rest[480];
};

struct amd_smi {
    int (*amdsmi_init)(uint64_t flags);
    int (*amdsmi_shut_down)(void);
    int (*amdsmi_status_code_to_string)(int status, const char **text);
    int (*amdsmi_get_socket_handles)(uint32_t *count, struct amdsmi_socket **out);
    int (*amdsmi_get_processor_handles)(struct amdsmi_socket *socket, uint32_t *count,
                                        struct amdsmi_device **out);
    int (*amdsmi_get_gpu_asic_info)(struct amdsmi_device *device, struct amdsmi_names *out);
    int (*amdsmi_get_gpu_bdf_id)(struct amdsmi_device *device, uint64_t *id);
    int (*amdsmi_get_power_info)(struct amdsmi_device *device, struct amdsmi_power *out);
    int (*amdsmi_get_clock_info)(struct amdsmi_device *device, int clock, struct amdsmi_clock *out);
    int (*amdsmi_get_temp_metric)(struct amdsmi_device *device, int sensor, int metric,
                                  int64_t *celsius);
    int (*amdsmi_get_gpu_activity)(struct amdsmi_device *device, struct amdsmi_use *out);
    int (*amdsmi_get_gpu_memory_usage)(struct amdsmi_device *device, int memory, uint64_t *bytes);
    int (*amdsmi_get_energy_count)(struct amdsmi_device *device, uint64_t *count,
                                   float *microjoules, uint64_t *time_ns);
    int (*amdsmi_get_gpu_process_list)(struct amdsmi_device *device, uint32_t *count,
                                       struct amdsmi_process *out);
};

static const struct roof_symbol symbols[] = {
    ROOF_SYMBOL(amd_smi, amdsmi_init),
    ROOF_SYMBOL(amd_smi, amdsmi_shut_down),
    ROOF_SYMBOL(amd_smi, amdsmi_status_code_to_string),
    ROOF_SYMBOL(amd_smi, amdsmi_get_socket_handles),
    ROOF_SYMBOL(amd_smi, amdsmi_get_processor_handles),
    ROOF_SYMBOL(amd_smi, amdsmi_get_gpu_asic_info),
    ROOF_SYMBOL(amd_smi, amdsmi_get_gpu_bdf_id),
    ROOF_SYMBOL(amd_smi, amdsmi_get_power_info),
    ROOF_SYMBOL(amd_smi, amdsmi_get_clock_info),
    ROOF_SYMBOL(amd_smi, amdsmi_get_temp_metric),
    ROOF_SYMBOL(amd_smi, amdsmi_get_gpu_activity),
    ROOF_SYMBOL(amd_smi, amdsmi_get_gpu_memory_usage),
    ROOF_SYMBOL(amd_smi, amdsmi_get_energy_count),
    ROOF_SYMBOL(amd_smi, amdsmi_get_gpu_process_list),
};

struct amd_gpus {
    struct roof_gpus base;
    struct roof_library library;
    struct amd_smi call;
    bool begun; /* amdsmi_init succeeded */
    struct amdsmi_device *device[ROOF_GPUS_MAX];
};

/* Fails with the library's message about a call; ROOF_OK if the call succeeded. */
static enum roof_status check(const struct amd_gpus *gpus, int status, const char *call,
                              struct roof_error *error)
{
    const char *text = NULL;
    if (status == AMDSMI_STATUS_SUCCESS) {
        return ROOF_OK;
    }
    if (gpus->call.amdsmi_status_code_to_string(status, &text) != AMDSMI_STATUS_SUCCESS ||
        text == NULL) {
        return roof_error_set(error, ROOF_IO, "%s: status %d", call, status);
    }
    return roof_error_set(error, ROOF_IO, "%s: %s", call, text);
}

/* Tells if a value is available. A device without it, or one that hides it from this user, is not a
 * failure: *status is then ROOF_OK. */
static bool got(enum roof_status *status, const struct amd_gpus *gpus, int result, const char *call,
                struct roof_error *error)
{
    static const int absent[] = {AMDSMI_STATUS_NOT_SUPPORTED, AMDSMI_STATUS_NOT_YET_IMPLEMENTED,
                                 AMDSMI_STATUS_NO_PERM,       AMDSMI_STATUS_FILE_ERROR,
                                 AMDSMI_STATUS_NO_DATA,       AMDSMI_STATUS_UNEXPECTED_DATA};
    *status = ROOF_OK;
    for (size_t i = 0; i < COUNT(absent); i++) {
        if (result == absent[i]) {
            return false;
        }
    }
    *status = check(gpus, result, call, error);
    return *status == ROOF_OK;
}

#define GOT(status_, gpus_, call_, ...)                                                            \
    got((status_), (gpus_), (gpus_)->call.call_(__VA_ARGS__), #call_, error)

/* --- values -------------------------------------------------------------------------------- */

static enum roof_status read_power(const struct amd_gpus *gpus, struct roof_sample *out,
                                   struct amdsmi_device *device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    struct amdsmi_power power = {.socket_w = 0};
    if (GOT(&status, gpus, amdsmi_get_power_info, device, &power) && power.socket_w < ABSENT_FROM) {
        out->power_w = (double)power.socket_w;
    }
    return status;
}

static enum roof_status read_clock(double *out_hz, const struct amd_gpus *gpus,
                                   struct amdsmi_device *device, int clock,
                                   struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    struct amdsmi_clock found = {.megahertz = 0};
    if (GOT(&status, gpus, amdsmi_get_clock_info, device, clock, &found) &&
        found.megahertz < ABSENT_FROM) {
        *out_hz = 1e6 * found.megahertz;
    }
    return status;
}

static enum roof_status read_temperature(const struct amd_gpus *gpus, struct roof_sample *out,
                                         struct amdsmi_device *device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    int64_t celsius = 0;
    if (gpus->call.amdsmi_get_temp_metric(device, AMDSMI_TEMPERATURE_TYPE_EDGE, AMDSMI_TEMP_CURRENT,
                                          &celsius) == AMDSMI_STATUS_SUCCESS ||
        GOT(&status, gpus, amdsmi_get_temp_metric, device, AMDSMI_TEMPERATURE_TYPE_HOTSPOT,
            AMDSMI_TEMP_CURRENT, &celsius)) {
        out->temperature_c = (double)celsius;
    }
    return status;
}

static enum roof_status read_use(const struct amd_gpus *gpus, struct roof_sample *out,
                                 struct amdsmi_device *device, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    struct amdsmi_use use = {.percent = 0};
    uint64_t bytes = 0;
    if (GOT(&status, gpus, amdsmi_get_gpu_activity, device, &use) && use.percent < ABSENT_FROM) {
        out->utilization = use.percent / 1e2;
    }
    TRY(status);
    if (GOT(&status, gpus, amdsmi_get_gpu_memory_usage, device, AMDSMI_MEM_TYPE_VRAM, &bytes)) {
        out->memory_used_bytes = (double)bytes;
    }
    return status;
}

static enum roof_status read_counter(struct roof_gpus *base, struct roof_sample *out, int device,
                                     struct roof_error *error)
{
    const struct amd_gpus *const gpus = (const struct amd_gpus *)base;
    enum roof_status status = ROOF_OK;
    uint64_t count = 0;
    uint64_t time_ns = 0;
    float microjoules = 0;
    if (GOT(&status, gpus, amdsmi_get_energy_count, gpus->device[device], &count, &microjoules,
            &time_ns)) {
        out->counter_j = (double)count * (double)microjoules / 1e6;
    }
    return status;
}

static enum roof_status read_sample(struct roof_gpus *base, struct roof_sample *out, int device,
                                    struct roof_error *error)
{
    const struct amd_gpus *const gpus = (const struct amd_gpus *)base;
    struct amdsmi_device *const handle = gpus->device[device];
    TRY(read_power(gpus, out, handle, error));
    TRY(read_clock(&out->sm_hz, gpus, handle, AMDSMI_CLK_TYPE_SYS, error));
    TRY(read_clock(&out->memory_hz, gpus, handle, AMDSMI_CLK_TYPE_MEM, error));
    TRY(read_temperature(gpus, out, handle, error));
    TRY(read_use(gpus, out, handle, error));
    return read_counter(base, out, device, error);
}

/* --- devices ------------------------------------------------------------------------------- */

static void read_name(struct roof_gpus *base, char out[ROOF_GPU_NAME_SIZE], int device)
{
    const struct amd_gpus *const gpus = (const struct amd_gpus *)base;
    struct amdsmi_names names = {.product = ""};
    const int status = gpus->call.amdsmi_get_gpu_asic_info(gpus->device[device], &names);
    names.product[sizeof names.product - 1] = '\0';
    (void)snprintf(out, ROOF_GPU_NAME_SIZE, "%.*s", ROOF_GPU_NAME_SIZE - 1,
                   status == AMDSMI_STATUS_SUCCESS ? names.product : "");
}

static void close_gpus(struct roof_gpus *base)
{
    struct amd_gpus *const gpus = (struct amd_gpus *)base;
    if (gpus->begun) {
        (void)gpus->call.amdsmi_shut_down();
    }
    roof_library_close(&gpus->library);
}

/* Finds the GPUs of all sockets, at most ROOF_GPUS_MAX. */
static enum roof_status find_devices(struct amd_gpus *gpus, struct roof_error *error)
{
    struct amdsmi_socket *sockets[ROOF_GPUS_MAX];
    uint32_t count = ROOF_GPUS_MAX;
    uint32_t found = 0;
    TRY(check(gpus, gpus->call.amdsmi_get_socket_handles(&count, sockets),
              "amdsmi_get_socket_handles", error));
    for (uint32_t i = 0; i < count && i < ROOF_GPUS_MAX && found < ROOF_GPUS_MAX; i++) {
        uint32_t more = ROOF_GPUS_MAX - found;
        TRY(check(gpus,
                  gpus->call.amdsmi_get_processor_handles(sockets[i], &more, &gpus->device[found]),
                  "amdsmi_get_processor_handles", error));
        found += more < ROOF_GPUS_MAX - found ? more : ROOF_GPUS_MAX - found;
    }
    gpus->base.count = (int)found;
    return found > 0 ? ROOF_OK
                     : roof_error_set(error, ROOF_IO, "%s finds no GPU", gpus->library.name);
}

/* Leaves the GPU at a bus id as the only one. */
static enum roof_status find_bus(struct amd_gpus *gpus, const char *bus, struct roof_error *error)
{
    uint64_t wanted = 0;
    const bool known = roof_gpu_bus_number(&wanted, bus);
    for (int i = 0; i < gpus->base.count && known; i++) {
        uint64_t id = 0;
        TRY(check(gpus, gpus->call.amdsmi_get_gpu_bdf_id(gpus->device[i], &id),
                  "amdsmi_get_gpu_bdf_id", error));
        if ((id & ROOF_GPU_BUS_MASK) == wanted) {
            gpus->device[0] = gpus->device[i];
            gpus->base.count = 1;
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_IO, "%s finds no GPU at %s", gpus->library.name, bus);
}

static enum roof_status open_gpus(struct roof_gpus *base, const char *bus, struct roof_error *error)
{
    struct amd_gpus *const gpus = (struct amd_gpus *)base;
    static const char *const names[] = {"libamd_smi.so.26", NULL};
    TRY(roof_library_open(&gpus->library, names, "ROCm", error));
    TRY(roof_library_find(&gpus->library, &gpus->call, symbols, COUNT(symbols), error));
    TRY(check(gpus, gpus->call.amdsmi_init(AMDSMI_INIT_AMD_GPUS), "amdsmi_init", error));
    gpus->begun = true;
    TRY(find_devices(gpus, error));
    return bus == NULL ? ROOF_OK : find_bus(gpus, bus, error);
}

/* Some versions list the processes of all GPUs for each, so that a free GPU is also refused. */
static enum roof_status count_others(struct roof_gpus *base, unsigned *out,
                                     struct roof_error *error)
{
    const struct amd_gpus *const gpus = (const struct amd_gpus *)base;
    uint32_t count = 0;
    *out = 0;
    if (gpus->call.amdsmi_get_gpu_process_list(gpus->device[0], &count, NULL) !=
            AMDSMI_STATUS_SUCCESS ||
        count == 0) {
        return ROOF_OK;
    }
    struct amdsmi_process *const processes = calloc(count, sizeof *processes);
    if (processes == NULL) {
        return roof_no_memory(error);
    }
    uint32_t listed = count;
    const int status = gpus->call.amdsmi_get_gpu_process_list(gpus->device[0], &listed, processes);
    for (uint32_t i = 0; i < listed && i < count && status == AMDSMI_STATUS_SUCCESS; i++) {
        *out += processes[i].process != (uint32_t)getpid() ? 1 : 0;
    }
    free(processes);
    return ROOF_OK;
}

const struct roof_gpus_driver roof_amd_smi = {.source = "amd_smi",
                                              .size = sizeof(struct amd_gpus),
                                              .open = open_gpus,
                                              .close = close_gpus,
                                              .name = read_name,
                                              .read = read_sample,
                                              .count = read_counter,
                                              .others = count_others};
