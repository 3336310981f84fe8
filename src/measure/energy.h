// SPDX-License-Identifier: MIT
/* Energy, average and peak power of a device over a run of samples. docs/formulas.md ("Energy") has
 * the derivation. */
#ifndef ROOF_MEASURE_ENERGY_H
#define ROOF_MEASURE_ENERGY_H

#include <stdint.h>

#include "catalog/field.h"
#include "measure/sample.h"

/* The end of the samples so far; fill in with roof_energy_begin. */
struct roof_energy {
    int64_t samples;
    double peak_w;
    double trapezoid_j; /* between the first and the last sample with a power */
    double from_s;      /* the first of them */
    double until_s;     /* the last */
    double until_w;
    double counter_from_s; /* the first sample with a counter */
    double counter_from_j;
    double counter_until_s;
    double counter_until_j;
};

/* A device, or all of them, over a run. NAN: not known. */
struct roof_energy_sum {
    int device; /* -1: all */
    char name[ROOF_GPU_NAME_SIZE];
    int64_t samples;
    double duration_s;
    double average_w;
    double peak_w;
    double energy_j;
    const char *basis; /* "counter": of the device; "trapezoid": of the samples; NULL: unknown */
};

void roof_energy_begin(struct roof_energy *out);
/* Adds a sample; its time must not be before that of the sample before. */
void roof_energy_add(struct roof_energy *energy, const struct roof_sample *sample);
/* Uses the counter of the device if it has one, else the trapezoids. The caller sets the device and
 * its name. */
void roof_energy_sum(struct roof_energy_sum *out, const struct roof_energy *energy);
/* Adds up devices that ran at the same time; a value that is unknown for one is unknown for the
 * sum. */
void roof_energy_total(struct roof_energy_sum *out, const struct roof_energy_sum *sums,
                       size_t count);

/* The fields of samples and of sums, and their values. */
void roof_sample_fields(struct roof_fields *out);
void roof_sample_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_sample *sample);
void roof_energy_fields(struct roof_fields *out);
void roof_energy_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_energy_sum *sum);

#endif
