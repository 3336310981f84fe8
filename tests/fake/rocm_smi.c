// SPDX-License-Identifier: MIT
/* A librocm_smi64.so.7 whose GPUs are planted (fake.h). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "fake.h"

#define OK 0
#define NOT_SUPPORTED 2

struct frequencies {
    bool has_deep_sleep;
    uint32_t count;
    uint32_t current;
    uint64_t hertz[33];
};

struct process {
    uint32_t number;
    uint32_t address_space;
    uint64_t rest[3];
};

static struct fake_count power;
static struct fake_count counter;
static struct fake_count clocks;

/* The ABI of src/measure/rocm_smi.c; a header would be AMD's. */
int rsmi_init(uint64_t flags);
int rsmi_shut_down(void);
int rsmi_status_string(int status, const char **text);
int rsmi_num_monitor_devices(uint32_t *count);
int rsmi_dev_name_get(uint32_t device, char *name, size_t size);
int rsmi_dev_gpu_clk_freq_get(uint32_t device, int clock, struct frequencies *out);
int rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, int metric, int64_t *millicelsius);
int rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent);
int rsmi_dev_memory_usage_get(uint32_t device, int memory, uint64_t *bytes);
int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *microwatts);
int rsmi_dev_energy_count_get(uint32_t device, uint64_t *count, float *microjoules,
                              uint64_t *time_ns);

int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id);
int rsmi_compute_process_info_get(struct process *processes, uint32_t *count);
int rsmi_compute_process_gpus_get(uint32_t process, uint32_t *devices, uint32_t *count);

static int begun;

FAKE_TELL_LEFT(begun, "fake ROCm SMI: begun %ld times more than ended")

int rsmi_init(uint64_t flags)
{
    (void)flags;
    const int failed = fake_failure("rsmi_init", 0, 0);
    begun += failed == 0 ? 1 : 0;
    return failed;
}

int rsmi_shut_down(void)
{
    begun--;
    return fake_failure("rsmi_shut_down", 0, 0);
}

int rsmi_status_string(int status, const char **text)
{
    *text = status == 8 ? "the driver is not there" : "an unknown error";
    return OK;
}

int rsmi_num_monitor_devices(uint32_t *count)
{
    FAKE_MAY_FAIL("rsmi_num_monitor_devices");
    *count = (uint32_t)fake_gpus();
    return OK;
}

int rsmi_dev_name_get(uint32_t device, char *name, size_t size)
{
    FAKE_MAY_FAIL("rsmi_dev_name_get");
    (void)snprintf(name, size, "Fake Instinct %u", device);
    return OK;
}

int rsmi_dev_gpu_clk_freq_get(uint32_t device, int clock, struct frequencies *out)
{
    FAKE_MAY_FAIL("rsmi_dev_gpu_clk_freq_get");
    *out = (struct frequencies){.count = 2, .current = 1};
    out->hertz[1] = clock == 4
                        ? 1300000000
                        : (uint64_t)(1e6 * fake_item("FAKE_CLOCK",
                                                     clocks.calls[device % FAKE_GPUS_MAX]++, 1500));
    return OK;
}

/* An Instinct has a sensor at the junction alone. */
int rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, int metric, int64_t *millicelsius)
{
    FAKE_MAY_FAIL("rsmi_dev_temp_metric_get");
    *millicelsius = 50000 + 1000 * (int64_t)device + metric;
    return sensor == 1 ? OK : NOT_SUPPORTED;
}

int rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent)
{
    FAKE_MAY_FAIL("rsmi_dev_busy_percent_get");
    *percent = device == 0 ? 75 : 100;
    return OK;
}

int rsmi_dev_memory_usage_get(uint32_t device, int memory, uint64_t *bytes)
{
    FAKE_MAY_FAIL("rsmi_dev_memory_usage_get");
    *bytes = (uint64_t)(1 + device) << 30;
    return memory == 0 ? OK : NOT_SUPPORTED;
}

int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *microwatts)
{
    const long index = power.calls[device % FAKE_GPUS_MAX]++;
    *microwatts = (uint64_t)(1e6 * fake_item("FAKE_POWER", index, 250)) + sensor;
    return fake_failure("rsmi_dev_power_ave_get", index, (int)device);
}

/* Counts in units of 15.3 uJ, as an Instinct does. */
int rsmi_dev_energy_count_get(uint32_t device, uint64_t *count, float *microjoules,
                              uint64_t *time_ns)
{
    FAKE_MAY_FAIL("rsmi_dev_energy_count_get");
    const long index = counter.calls[device % FAKE_GPUS_MAX]++;
    double (*joules)(void) = NULL;
    if (getenv("FAKE_ENERGY") != NULL) {
        fake_find(&joules, "libamdhip64.so.7", "fake_joules");
    }
    *microjoules = 15.3F;
    *time_ns = (uint64_t)index;
    if (joules != NULL) {
        *count = (uint64_t)(joules() * 1e6 / 15.3);
        return OK;
    }
    *count = (uint64_t)(fake_item("FAKE_COUNTER", index, 0) * 1e6 / 15.3);
    return getenv("FAKE_COUNTER") == NULL ? NOT_SUPPORTED : OK;
}

int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id)
{
    *id = (uint64_t)device << 8;
    return fake_failure("rsmi_dev_pci_id_get", 0, (int)device);
}

/* This process, and FAKE_BUSY others. */
int rsmi_compute_process_info_get(struct process *processes, uint32_t *count)
{
    FAKE_MAY_FAIL("rsmi_compute_process_info_get");
    const uint32_t all = 1 + (uint32_t)fake_item("FAKE_BUSY", 0, 0);
    for (uint32_t i = 0; processes != NULL && i < all && i < *count; i++) {
        processes[i] = (struct process){.number = i == 0 ? (uint32_t)getpid() : i};
    }
    *count = all;
    return OK;
}

/* Others compute on the first GPU. */
int rsmi_compute_process_gpus_get(uint32_t process, uint32_t *devices, uint32_t *count)
{
    FAKE_MAY_FAIL("rsmi_compute_process_gpus_get");
    (void)process;
    devices[0] = 0;
    *count = 1;
    return OK;
}
