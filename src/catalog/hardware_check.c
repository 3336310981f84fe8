// SPDX-License-Identifier: MIT
/* Refuses devices whose figures contradict each other by more than real devices do, which reveals
 * mistakes in a unit or a key. */
#include "catalog/hardware_check.h"

#include <math.h>

/* The peak of a narrower format is at least this part of that of a wider one. The smallest ratio of
 * a published device is 1/30, int8 to mxfp8 on a GB300. */
#define NARROW_PART (1. / 256)

/* The most FLOPs of a unit per clock: some twenty times the largest of a published device. */
#define FLOP_PER_CLOCK_MAX 262144.

static double peak(const struct roof_hardware *hardware, enum roof_peak_table table, int format)
{
    return hardware->peak[table][format].value;
}

/* With 2:4 sparsity half of the products are left out, so no peak is lower. */
static enum roof_status check_sparse(const struct roof_hardware *hardware, const char *source,
                                     struct roof_error *error)
{
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const double dense = peak(hardware, ROOF_PEAK_MATRIX, p);
        const double sparse = peak(hardware, ROOF_PEAK_SPARSE, p);
        if (sparse < dense) {
            return roof_error_at(error, ROOF_INVALID, source, 0, 0,
                                 "sparse_tflops of %s (%g) is below its dense peak (%g)",
                                 roof_format((enum roof_precision)p)->name, sparse / 1e12,
                                 dense / 1e12);
        }
    }
    return ROOF_OK;
}

/* A matrix unit is not much slower in a narrower format. */
static enum roof_status check_narrow(const struct roof_hardware *hardware, const char *source,
                                     struct roof_error *error)
{
    for (int a = 0; a < ROOF_PRECISION_COUNT; a++) {
        for (int b = 0; b < ROOF_PRECISION_COUNT; b++) {
            const double narrow = peak(hardware, ROOF_PEAK_MATRIX, a);
            const double wide = peak(hardware, ROOF_PEAK_MATRIX, b);
            if (roof_precision_bits((enum roof_precision)a) <
                    roof_precision_bits((enum roof_precision)b) &&
                narrow < wide * NARROW_PART) {
                return roof_error_at(
                    error, ROOF_INVALID, source, 0, 0,
                    "peak_tflops of %s (%g) is far below that of the wider %s (%g)",
                    roof_format((enum roof_precision)a)->name, narrow / 1e12,
                    roof_format((enum roof_precision)b)->name, wide / 1e12);
            }
        }
    }
    return ROOF_OK;
}

/* A peak follows from units and clock; if these are too low for it, a figure has another unit. */
static enum roof_status check_clock(const struct roof_hardware *hardware, const char *source,
                                    struct roof_error *error)
{
    const double units = hardware->figure[ROOF_FIGURE_SM_COUNT].value;
    const double clock = hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const double flops = peak(hardware, ROOF_PEAK_MATRIX, p);
        if (flops / (units * clock) > FLOP_PER_CLOCK_MAX) {
            return roof_error_at(
                error, ROOF_INVALID, source, 0, 0,
                "peak_tflops of %s (%g) is more than sm_count %g at boost_clock_mhz %g can reach",
                roof_format((enum roof_precision)p)->name, flops / 1e12, units, clock / 1e6);
        }
    }
    return ROOF_OK;
}

enum roof_status roof_hardware_check(const struct roof_hardware *hardware, const char *source,
                                     struct roof_error *error)
{
    enum roof_status status = check_sparse(hardware, source, error);
    status = status == ROOF_OK ? check_narrow(hardware, source, error) : status;
    return status == ROOF_OK ? check_clock(hardware, source, error) : status;
}
