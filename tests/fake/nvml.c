// SPDX-License-Identifier: MIT
/* A libnvidia-ml.so.1 whose GPUs are planted (fake.h). WITHOUT_POWER leaves a function out. */
#include <stdio.h>

#include "fake.h"

#define OK 0
#define INVALID_ARGUMENT 2
#define NOT_SUPPORTED 3
#define INSUFFICIENT_SIZE 7

struct nvml_device {
    int number;
    long power;
    long counter;
    long clock;
    long reasons;
};

static struct nvml_device devices[FAKE_GPUS_MAX];

/* The ABI of src/measure/nvml.c; a header would be NVIDIA's. */
int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int status);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, struct nvml_device **device);
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count,
                                            void *processes);
int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned *mode, unsigned *pending);
int nvmlDeviceGetName(struct nvml_device *device, char *name, unsigned size);
int nvmlDeviceGetPowerUsage(struct nvml_device *device, unsigned *milliwatts);
int nvmlDeviceGetClockInfo(struct nvml_device *device, int clock, unsigned *megahertz);
int nvmlDeviceGetTemperature(struct nvml_device *device, int sensor, unsigned *celsius);
int nvmlDeviceGetUtilizationRates(struct nvml_device *device, unsigned out[2]);
int nvmlDeviceGetMemoryInfo(struct nvml_device *device, unsigned long long out[3]);
int nvmlDeviceGetTotalEnergyConsumption(struct nvml_device *device,
                                        unsigned long long *millijoules);
int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device, unsigned long long *bits);

static int begun;

FAKE_TELL_LEFT(begun, "fake NVML: begun %ld times more than ended")

int nvmlInit_v2(void)
{
    for (int i = 0; i < FAKE_GPUS_MAX; i++) {
        devices[i] = (struct nvml_device){.number = i};
    }
    const int failed = fake_failure("nvmlInit_v2", 0, 0);
    begun += failed == 0 ? 1 : 0;
    return failed;
}

int nvmlShutdown(void)
{
    begun--;
    return fake_failure("nvmlShutdown", 0, 0);
}

const char *nvmlErrorString(int status)
{
    return status == 9    ? "Driver Not Loaded"
           : status == 15 ? "GPU is lost"
           : status == 18 ? "Driver/library version mismatch"
                          : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    FAKE_MAY_FAIL("nvmlDeviceGetCount_v2");
    *count = (unsigned)fake_gpus();
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device)
{
    if (index >= FAKE_GPUS_MAX || (int)index >= fake_gpus()) {
        return INVALID_ARGUMENT;
    }
    *device = &devices[index];
    return fake_failure("nvmlDeviceGetHandleByIndex_v2", 0, (int)index);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, struct nvml_device **device)
{
    *device = &devices[strtol(bus + strlen("0000:"), NULL, 16) % FAKE_GPUS_MAX];
    return fake_failure("nvmlDeviceGetHandleByPciBusId_v2", 0, 0);
}

/* Returns how many contexts this process has. */
static unsigned own_contexts(void)
{
    long (*count)(void) = NULL;
    fake_find(&count, "libcuda.so.1", "fake_contexts");
    return count == NULL ? 0 : (unsigned)count();
}

/* FAKE_BUSY processes compute, until one has asked FAKE_LEAVE times where that is set; and this one
 * if it has a context. */
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count,
                                            void *processes)
{
    static int asked;
    FAKE_MAY_FAIL("nvmlDeviceGetComputeRunningProcesses_v3");
    const int left = asked >= (int)fake_item("FAKE_LEAVE", 0, 1e9);
    asked++;
    (void)device;
    (void)processes;
    *count = (left ? 0 : (unsigned)fake_item("FAKE_BUSY", 0, 0)) + (own_contexts() > 0 ? 1 : 0);
    return *count == 0 ? OK : INSUFFICIENT_SIZE;
}

int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned *mode, unsigned *pending)
{
    FAKE_MAY_FAIL("nvmlDeviceGetMigMode");
    (void)device;
    *mode = *pending = (unsigned)fake_item("FAKE_MIG", 0, 0);
    return OK;
}

int nvmlDeviceGetName(struct nvml_device *device, char *name, unsigned size)
{
    FAKE_MAY_FAIL("nvmlDeviceGetName");
    (void)snprintf(name, size, "Fake GPU %d", device->number);
    return OK;
}

#ifndef WITHOUT_POWER
int nvmlDeviceGetPowerUsage(struct nvml_device *device, unsigned *milliwatts)
{
    const long index = device->power++;
    *milliwatts = (unsigned)(1e3 * fake_item("FAKE_POWER", index, 250));
    return fake_failure("nvmlDeviceGetPowerUsage", index, device->number);
}
#endif

int nvmlDeviceGetClockInfo(struct nvml_device *device, int clock, unsigned *megahertz)
{
    if (clock == 2) { /* the memory's */
        *megahertz = 2619;
        return OK;
    }
    const long index = device->clock++;
    *megahertz = (unsigned)fake_item("FAKE_CLOCK", index, 1500);
    return fake_failure("nvmlDeviceGetClockInfo", index, device->number);
}

int nvmlDeviceGetTemperature(struct nvml_device *device, int sensor, unsigned *celsius)
{
    FAKE_MAY_FAIL("nvmlDeviceGetTemperature");
    *celsius = 40 + (unsigned)(device->number + sensor);
    return OK;
}

int nvmlDeviceGetUtilizationRates(struct nvml_device *device, unsigned out[2])
{
    FAKE_MAY_FAIL("nvmlDeviceGetUtilizationRates");
    out[0] = device->number == 0 ? 75 : 100;
    out[1] = 50;
    return OK;
}

int nvmlDeviceGetMemoryInfo(struct nvml_device *device, unsigned long long out[3])
{
    FAKE_MAY_FAIL("nvmlDeviceGetMemoryInfo");
    out[0] = 80ULL << 30;
    out[2] = (unsigned long long)(1 + device->number) << 30;
    out[1] = out[0] - out[2];
    return OK;
}

int nvmlDeviceGetTotalEnergyConsumption(struct nvml_device *device, unsigned long long *millijoules)
{
    FAKE_MAY_FAIL("nvmlDeviceGetTotalEnergyConsumption");
    const long index = device->counter++;
    double (*joules)(void) = NULL;
    if (getenv("FAKE_ENERGY") != NULL) {
        fake_find(&joules, "libcuda.so.1", "fake_joules");
    }
    if (joules != NULL) {
        *millijoules = (unsigned long long)(1e3 * joules());
        return OK;
    }
    if (getenv("FAKE_COUNTER") == NULL) {
        return NOT_SUPPORTED;
    }
    *millijoules = (unsigned long long)(1e3 * fake_item("FAKE_COUNTER", index, 0));
    return OK;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device, unsigned long long *bits)
{
    FAKE_MAY_FAIL("nvmlDeviceGetCurrentClocksThrottleReasons");
    *bits = (unsigned long long)fake_item("FAKE_THROTTLE", device->reasons++, 0);
    return OK;
}
