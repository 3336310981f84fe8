// SPDX-License-Identifier: MIT
/**
 * Work meets hardware: the roofline bound of one operator.
 *
 *   time = max(bytes / bandwidth, FLOPs / peak)          Williams, Waterman, Patterson 2009
 *
 * and for collectives also network bytes / link bandwidth. Composite operators are sums over their
 * parts. Nothing here allocates, locks or writes anything but its result.
 */
#ifndef ROOFLINE_PREDICT_H
#define ROOFLINE_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/hardware.h"
#include "operator/operator.h"
#include "predict/kernel.h"
#include "roofline/error.h"

/** Times of one operator that is not a composite. */
struct roof_part {
    enum roof_operator op;
    struct roof_work work;
    double bytes;                /**< summed over all roles */
    enum roof_precision compute; /**< the format it runs at */
    enum roof_compute_unit unit;
    bool sparse;             /**< peak_flops_per_s is the one with 2:4 sparsity */
    double peak_flops_per_s; /**< NAN: unknown */
    double intensity;        /**< FLOP/byte */
    double ridge;            /**< FLOP/byte; NAN: unknown */
    double memory_time_s;
    double compute_time_s; /**< NAN: the device has no known peak for it */
    double network_time_s; /**< NAN: not a collective */
    double time_s;
    enum roof_bottleneck bottleneck;
    struct roof_expected expected;
};

/** A prediction. SI base units; NAN where a value is unknown or has no meaning. */
struct roof_prediction {
    struct roof_workload workload;        /**< resolved */
    const struct roof_hardware *hardware; /**< borrowed from the caller */
    enum roof_precision compute;          /**< the format the multiplications run at */
    enum roof_precision wanted; /**< the format they would run at on a device with every unit */
    enum roof_compute_unit unit;
    bool sparse; /**< the peak is the one with 2:4 sparsity */
    bool native; /**< no fallback was needed */
    double flops;
    double bytes;
    double role_bytes[ROOF_ROLE_COUNT];
    double network_bytes;
    double intensity; /**< FLOP/byte */
    double ridge;     /**< FLOP/byte where memory and compute time are equal */
    double memory_time_s;
    double compute_time_s;
    double network_time_s;
    double time_s;
    enum roof_bottleneck bottleneck;
    double attainable_flops_per_s; /**< FLOPs / time */
    double peak_flops_per_s;
    double bandwidth_bytes_per_s;
    struct roof_link link;   /**< the link of a collective; its figure is NULL for others */
    double fraction_of_peak; /**< attainable / peak */
    double expected_s;       /**< the estimate for a real kernel; NAN: nothing to base it on */
    double expected_low_s;
    double expected_high_s;
    enum roof_bottleneck expected_bottleneck;
    bool expected_near; /**< a kernel's parameters come from another device, stack or format */
    double measured_s;  /**< with roof_predict_measured, else NAN like the next three */
    double achieved_flops_per_s;
    double achieved_bytes_per_s;
    double fraction_of_bound; /**< time_s / measured_s: 1 is the bound itself */
    int part_count;
    struct roof_part part[ROOF_OPERATOR_PARTS_MAX];
};

/**
 * Predicts one workload, which need not be resolved. hardware must outlive *out. Only part_count
 * parts are written, and after a failure *out means nothing.
 * ROOF_USAGE when the workload is not valid, or a collective needs a link figure that is unknown.
 */
enum roof_status roof_predict(struct roof_prediction *out, const struct roof_workload *workload,
                              const struct roof_hardware *hardware, struct roof_error *error);

/** Adds what was reached in a measured time, above 0. */
void roof_predict_measured(struct roof_prediction *prediction, double measured_s);

#endif
