// SPDX-License-Identifier: MIT
#include "measure/energy.h"

#include <stddef.h>

#include "base/base.h"

void roof_energy_begin(struct roof_energy *out)
{
    *out = (struct roof_energy){.peak_w = ROOF_UNKNOWN,
                                .from_s = ROOF_UNKNOWN,
                                .until_s = ROOF_UNKNOWN,
                                .until_w = ROOF_UNKNOWN,
                                .counter_from_s = ROOF_UNKNOWN,
                                .counter_from_j = ROOF_UNKNOWN,
                                .counter_until_s = ROOF_UNKNOWN,
                                .counter_until_j = ROOF_UNKNOWN};
}

static void add_power(struct roof_energy *e, double time_s, double power_w)
{
    if (isnan(e->from_s)) {
        e->from_s = time_s;
        e->peak_w = power_w;
    } else {
        e->trapezoid_j += (e->until_w + power_w) / 2 * (time_s - e->until_s);
        e->peak_w = power_w > e->peak_w ? power_w : e->peak_w;
    }
    e->until_s = time_s;
    e->until_w = power_w;
}

void roof_energy_add(struct roof_energy *energy, const struct roof_sample *sample)
{
    energy->samples++;
    if (!isnan(sample->power_w)) {
        add_power(energy, sample->time_s, sample->power_w);
    }
    if (!isnan(sample->counter_j)) {
        if (isnan(energy->counter_from_s)) {
            energy->counter_from_s = sample->time_s;
            energy->counter_from_j = sample->counter_j;
        }
        energy->counter_until_s = sample->time_s;
        energy->counter_until_j = sample->counter_j;
    }
}

void roof_energy_sum(struct roof_energy_sum *out, const struct roof_energy *energy)
{
    const double counted_j = energy->counter_until_j - energy->counter_from_j;
    /* A counter that decreases was reset with the driver. */
    const bool counter = counted_j >= 0;
    *out = (struct roof_energy_sum){.samples = energy->samples, .peak_w = energy->peak_w};
    out->duration_s = counter ? energy->counter_until_s - energy->counter_from_s
                              : energy->until_s - energy->from_s;
    out->energy_j = counter                 ? counted_j
                    : isnan(energy->from_s) ? ROOF_UNKNOWN
                                            : energy->trapezoid_j;
    out->average_w = out->duration_s > 0 ? out->energy_j / out->duration_s : energy->until_w;
    out->basis = counter ? "counter" : isnan(energy->from_s) ? NULL : "trapezoid";
}

void roof_energy_total(struct roof_energy_sum *out, const struct roof_energy_sum *sums,
                       size_t count)
{
    double together_w = 0; /* if no time passed */
    *out = (struct roof_energy_sum){.device = -1, .peak_w = ROOF_UNKNOWN};
    for (size_t i = 0; i < count; i++) {
        const struct roof_energy_sum *const one = &sums[i];
        out->samples += one->samples;
        out->energy_j += one->energy_j;
        together_w += one->average_w;
        out->duration_s = isnan(one->duration_s) || one->duration_s > out->duration_s
                              ? one->duration_s
                              : out->duration_s;
        out->basis = i == 0 || out->basis == one->basis ? one->basis : "mixed";
    }
    out->average_w = out->duration_s > 0 ? out->energy_j / out->duration_s : together_w;
}

/* --- fields -------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(struct roof_sample, member)

static const struct roof_field sample_fields[] = {
    {.key = "time_s", AT(time_s), .width = 9, .label = "time s"},
    {.key = "device", .type = ROOF_TYPE_INT, AT(device), .width = 6},
    {.key = "power_w", .unit = ROOF_UNIT_WATTS, AT(power_w), .width = 7, .label = "W"},
    {.key = "sm_mhz", .unit = ROOF_UNIT_MEGAHERTZ, AT(sm_hz), .width = 6, .label = "SM MHz"},
    {.key = "memory_mhz",
     .unit = ROOF_UNIT_MEGAHERTZ,
     AT(memory_hz),
     .width = 10,
     .label = "memory MHz"},
    {.key = "temperature_c", AT(temperature_c), .width = 4, .label = "C"},
    {.key = "utilization", AT(utilization), .width = 5, .label = "use"},
    {.key = "memory_used_bytes", .unit = ROOF_UNIT_BYTES, AT(memory_used_bytes)},
    {.key = "throttle", .type = ROOF_TYPE_CHARS, AT(throttle), .width = -12},
};

void roof_sample_fields(struct roof_fields *out)
{
    roof_fields_add(out, sample_fields, COUNT(sample_fields), 0);
}

void roof_sample_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_sample *sample)
{
    roof_fields_read(out, fields, 0, (const char *)sample);
}

#undef AT
#define AT(member) .offset = offsetof(struct roof_energy_sum, member)

static const struct roof_field energy_fields[] = {
    {.key = "device", .type = ROOF_TYPE_INT, AT(device), .width = 6},
    {.key = "name", .type = ROOF_TYPE_CHARS, AT(name), .width = -24},
    {.key = "samples", .type = ROOF_TYPE_INTEGER, AT(samples), .width = 7},
    {.key = "duration_s", AT(duration_s), .width = 9, .label = "time s"},
    {.key = "average_power_w",
     .unit = ROOF_UNIT_WATTS,
     AT(average_w),
     .width = 9,
     .label = "average W"},
    {.key = "peak_power_w", .unit = ROOF_UNIT_WATTS, AT(peak_w), .width = 7, .label = "peak W"},
    {.key = "energy_j", AT(energy_j), .width = 9, .label = "energy J"},
    {.key = "energy_basis", .type = ROOF_TYPE_TEXT, AT(basis), .width = -9, .label = "by"},
};

void roof_energy_fields(struct roof_fields *out)
{
    roof_fields_add(out, energy_fields, COUNT(energy_fields), 0);
}

void roof_energy_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_energy_sum *sum)
{
    roof_fields_read(out, fields, 0, (const char *)sum);
}
