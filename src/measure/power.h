// SPDX-License-Identifier: MIT
/* What work costs in energy: measured by long runs of a few kernels. docs/formulas.md, "Power". */
#ifndef ROOF_MEASURE_POWER_H
#define ROOF_MEASURE_POWER_H

#include "measure/suite.h"

/* A kernel that ran for a while: what it did in each second, and what the device drew. */
struct roof_power_row {
    double bytes;               /* of device memory, per second */
    double flops;               /* per second */
    enum roof_precision format; /* of the FLOPs */
    double power_w;
};

/* Fits power = constant + byte_j bytes + flop_j[format] flops to rows, by least squares of the
 * relative errors, with the constant at out->idle_w where a free one ends in a figure that
 * is not positive. *out is unknown
 * where the rows do not tell the figures apart, where one of them is not positive, or where the fit
 * is off by more than ROOF_POWER_ERROR_MAX on average. idle_w stays as it is. */
#define ROOF_POWER_ERROR_MAX 0.1
void roof_power_fit(struct roof_power_term *out, const struct roof_power_row *row, size_t count);

/* Returns how many of the seconds of a measurement roof_power_run should have: 0 for a CPU,
 * for a device that does not count its energy, and where they would be too few. */
double roof_power_share(const struct roof_meter *meter, struct roof_bench *bench, double seconds);

/* Runs kernels of an opened device for about so many seconds, and fits what its energy counter
 * says. *out is unknown for a CPU, without a counter, or in too short a time. */
enum roof_status roof_power_run(struct roof_power_term *out, const struct roof_meter *meter,
                                struct roof_bench *bench, const struct roof_suite_formats *formats,
                                double seconds, const struct roof_suite_calls *calls,
                                struct roof_error *error);

#endif
