// SPDX-License-Identifier: MIT
#include "measure/sample.h"

#include <stdio.h>

#include "base/base.h"

void roof_sample_clear(struct roof_sample *out)
{
    *out = (struct roof_sample){.time_s = ROOF_UNKNOWN,
                                .power_w = ROOF_UNKNOWN,
                                .sm_hz = ROOF_UNKNOWN,
                                .memory_hz = ROOF_UNKNOWN,
                                .temperature_c = ROOF_UNKNOWN,
                                .utilization = ROOF_UNKNOWN,
                                .memory_used_bytes = ROOF_UNKNOWN,
                                .counter_j = ROOF_UNKNOWN};
}

/* nvmlClocksEventReasons of the NVML API reference; the names are those of nvidia-smi
 * (clocks_event_reasons.NAME). */
static const struct {
    unsigned long long bit;
    const char *name;
} reasons[] = {{0x1, "gpu_idle"},
               {0x2, "applications_clocks_setting"},
               {0x4, "sw_power_cap"},
               {0x8, "hw_slowdown"},
               {0x10, "sync_boost"},
               {0x20, "sw_thermal_slowdown"},
               {0x40, "hw_thermal_slowdown"},
               {0x80, "hw_power_brake_slowdown"},
               {0x100, "display_clock_setting"}};

void roof_throttle_reasons(char out[ROOF_THROTTLE_SIZE], unsigned long long bits)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < COUNT(reasons); i++) {
        if ((bits & reasons[i].bit) != 0) {
            used += (size_t)snprintf(out + used, ROOF_THROTTLE_SIZE - used, "%s%s",
                                     used == 0 ? "" : " ", reasons[i].name);
            bits &= ~reasons[i].bit;
        }
    }
    if (bits != 0) { /* reasons that are newer than the table */
        (void)snprintf(out + used, ROOF_THROTTLE_SIZE - used, "%s0x%llx", used == 0 ? "" : " ",
                       bits);
    } else if (used == 0) {
        (void)snprintf(out, ROOF_THROTTLE_SIZE, "none");
    }
}

bool roof_gpu_bus_number(uint64_t *out, const char *bus)
{
    unsigned domain = 0;
    unsigned number = 0;
    unsigned device = 0;
    unsigned function = 0;
    const int parts = sscanf(bus, "%x:%x:%x.%x", &domain, &number, &device, &function);
    *out = (uint64_t)domain << 32 | number << 8 | device << 3 | function;
    return parts >= 3;
}
