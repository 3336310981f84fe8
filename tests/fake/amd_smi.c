// SPDX-License-Identifier: MIT
/* A libamd_smi.so.26 whose GPUs are planted (fake.h), each in a socket of its own. What a device
 * lacks has all bits set. */
#include <stdint.h>
#include <unistd.h>

#include "fake.h"

#define OK 0
#define INVALID 1
#define NOT_SUPPORTED 2

struct device {
    uint32_t number;
    long power;
    long counter;
    long clock;
};

struct power {
    uint64_t socket_w;
    uint32_t others[4];
    uint64_t voltages[2];
    uint64_t limits;
    uint64_t reserved[18];
};

struct clock {
    uint32_t megahertz;
    uint32_t least;
    uint32_t most;
    uint8_t flags[4];
    uint32_t reserved[4];
};

struct use {
    uint32_t percent;
    uint32_t memory;
    uint32_t media;
    uint32_t reserved[13];
};

struct process {
    char name[256];
    uint32_t number;
    uint64_t memory;
    uint64_t engines[8];
    uint64_t memories[8];
    char container[256];
    uint32_t reserved[12];
};

static struct device devices[FAKE_GPUS_MAX];
static int begun;

FAKE_TELL_LEFT(begun, "fake AMD SMI: begun %ld times more than ended")

CALL(amdsmi_init, uint64_t flags)
{
    const int failed = fake_failure("amdsmi_init", 0, 0);
    for (uint32_t i = 0; i < FAKE_GPUS_MAX; i++) {
        devices[i] = (struct device){.number = i};
    }
    begun += failed == 0 ? 1 : 0;
    return failed != 0 ? failed : flags == 2 ? OK : INVALID;
}

CALL(amdsmi_shut_down, void)
{
    begun--;
    return fake_failure("amdsmi_shut_down", 0, 0);
}

CALL(amdsmi_status_code_to_string, int status, const char **text)
{
    *text = status == 34 ? "the driver is not loaded" : "an unknown error";
    return OK;
}

/* A socket has the address of its device. */
CALL(amdsmi_get_socket_handles, uint32_t *count, struct device **out)
{
    FAKE_MAY_FAIL("amdsmi_get_socket_handles");
    const uint32_t all = (uint32_t)fake_gpus();
    for (uint32_t i = 0; out != NULL && i < all && i < *count; i++) {
        out[i] = &devices[i];
    }
    *count = out == NULL || all < *count ? all : *count;
    return OK;
}

CALL(amdsmi_get_processor_handles, struct device *socket, uint32_t *count, struct device **out)
{
    FAKE_MAY_FAIL("amdsmi_get_processor_handles");
    if (out != NULL && *count > 0) {
        *out = socket;
    }
    *count = 1;
    return OK;
}

CALL(amdsmi_get_gpu_asic_info, const struct device *device, char *names)
{
    FAKE_MAY_FAIL("amdsmi_get_gpu_asic_info");
    memset(names, 0xff, 1024); /* the other members are known to no one */
    (void)snprintf(names, 256, "Fake Instinct %u", device->number);
    return OK;
}

CALL(amdsmi_get_gpu_bdf_id, const struct device *device, uint64_t *id)
{
    FAKE_MAY_FAIL("amdsmi_get_gpu_bdf_id");
    *id = (uint64_t)device->number << 8 | (uint64_t)3 << 28; /* a partition */
    return OK;
}

CALL(amdsmi_get_power_info, struct device *device, struct power *out)
{
    const long index = device->power++;
    memset(out, 0xff, sizeof *out);
    if (getenv("FAKE_ABSENT") == NULL) {
        out->socket_w = (uint64_t)fake_item("FAKE_POWER", index, 250);
    }
    return fake_failure("amdsmi_get_power_info", index, (int)device->number);
}

CALL(amdsmi_get_clock_info, struct device *device, int clock, struct clock *out)
{
    FAKE_MAY_FAIL("amdsmi_get_clock_info");
    memset(out, 0xff, sizeof *out);
    if (getenv("FAKE_ABSENT") == NULL) {
        out->megahertz =
            clock == 4 ? 1300 : (uint32_t)fake_item("FAKE_CLOCK", device->clock++, 1500);
    }
    return clock == 0 || clock == 4 ? OK : INVALID;
}

/* An Instinct has a sensor at the junction alone. */
CALL(amdsmi_get_temp_metric, const struct device *device, int sensor, int metric, int64_t *celsius)
{
    FAKE_MAY_FAIL("amdsmi_get_temp_metric");
    *celsius = 50 + (int64_t)device->number + metric;
    return sensor == 1 ? OK : NOT_SUPPORTED;
}

CALL(amdsmi_get_gpu_activity, const struct device *device, struct use *out)
{
    FAKE_MAY_FAIL("amdsmi_get_gpu_activity");
    memset(out, 0xff, sizeof *out);
    if (getenv("FAKE_ABSENT") == NULL) {
        out->percent = device->number == 0 ? 75 : 100;
    }
    return OK;
}

CALL(amdsmi_get_gpu_memory_usage, const struct device *device, int memory, uint64_t *bytes)
{
    FAKE_MAY_FAIL("amdsmi_get_gpu_memory_usage");
    *bytes = (uint64_t)(1 + device->number) << 30;
    return memory == 0 ? OK : NOT_SUPPORTED;
}

/* Counts in units of 15.3 uJ, as an Instinct does. */
CALL(amdsmi_get_energy_count, struct device *device, uint64_t *count, float *microjoules,
     uint64_t *time_ns)
{
    FAKE_MAY_FAIL("amdsmi_get_energy_count");
    const long index = device->counter++;
    *microjoules = 15.3F;
    *time_ns = (uint64_t)index;
    *count = (uint64_t)(fake_item("FAKE_COUNTER", index, 0) * 1e6 / 15.3);
    return getenv("FAKE_COUNTER") == NULL ? NOT_SUPPORTED : OK;
}

/* This process, and FAKE_BUSY others on the first GPU. */
CALL(amdsmi_get_gpu_process_list, const struct device *device, uint32_t *count,
     struct process *processes)
{
    FAKE_MAY_FAIL("amdsmi_get_gpu_process_list");
    const uint32_t all = 1 + (device->number == 0 ? (uint32_t)fake_item("FAKE_BUSY", 0, 0) : 0);
    for (uint32_t i = 0; processes != NULL && i < all && i < *count; i++) {
        processes[i] = (struct process){.number = i == 0 ? (uint32_t)getpid() : i};
    }
    *count = all;
    return OK;
}
