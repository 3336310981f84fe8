// SPDX-License-Identifier: MIT
/**
 * Predictions of operators: the roofline bound, and the time to expect of a real kernel.
 *
 *   time = max(bytes / bandwidth, FLOPs / peak)          Williams, Waterman, Patterson 2009
 *
 * and for collectives also network bytes / link bandwidth, and under a power cap also
 * energy / (cap - constant power); composites are sums over their parts.
 * docs/formulas.md derives the work of each operator, docs/accuracy.md the expected times.
 *
 *     struct roof_hardware *device = NULL;
 *     struct roof_workload workload = ROOF_WORKLOAD_INIT;
 *     struct roof_prediction prediction;
 *     struct roof_error error;
 *     workload.op = ROOF_OPERATOR_GEMM;
 *     workload.shape.m = 64;
 *     workload.shape.n = workload.shape.k = 4096;
 *     if (roof_hardware_load(&device, "h100-sxm", NULL, &error) == ROOF_OK &&
 *         roof_hardware_calibrate(device, NULL, NULL, &error) == ROOF_OK &&
 *         roof_predict(&prediction, &workload, device, &error) == ROOF_OK) {
 *         printf("%g us, %s-bound\n", prediction.time_s * 1e6,
 *                roof_bottleneck_name(prediction.bottleneck));
 *     }
 *     roof_hardware_free(device);
 *
 * roof_predict allocates nothing, takes no lock and writes nothing but its result: any number of
 * threads may call it for one device, millions of times a second.
 */
#ifndef ROOFLINE_PREDICT_H
#define ROOFLINE_PREDICT_H

#include <stdbool.h>

#include "roofline/device.h"
#include "roofline/error.h"
#include "roofline/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The resources that bound an operator, in the terms of the roofline. */
enum roof_bottleneck {
    ROOF_BOTTLENECK_MEMORY,
    ROOF_BOTTLENECK_COMPUTE,
    ROOF_BOTTLENECK_NETWORK,
    ROOF_BOTTLENECK_OVERHEAD, /**< launches: of expected times only */
    ROOF_BOTTLENECK_POWER,    /**< a power cap: of bounds only */
    ROOF_BOTTLENECK_COUNT
};
/** Names a bottleneck: "memory". Never NULL for one of the enum. */
const char *roof_bottleneck_name(enum roof_bottleneck bottleneck);

/**
 * The causes that may take most of the time of a kernel: X(constant, name, bottleneck). A kernel
 * has more causes than the roofline has terms, and the key `why` shows them. In sums over kernels
 * and next to a bound, each cause counts as the bottleneck in the third column.
 */
#define ROOF_KERNEL_LIMITS(X)                                                                      \
    X(LAUNCH, "launch", OVERHEAD)   /* the launch */                                               \
    X(MEMORY, "memory", MEMORY)     /* DRAM */                                                     \
    X(COMPUTE, "compute", COMPUTE)  /* the matrix or vector units */                               \
    X(OPERANDS, "operands", MEMORY) /* operands from the L2 to the SMs */                          \
    X(LATENCY, "latency", OVERHEAD) /* steps that wait for each other */                           \
    X(QUANTIZE, "quantize", MEMORY) /* the quantisation of the input */                            \
    X(NETWORK, "network", NETWORK)  /* the links between devices */
enum roof_kernel_limit {
#define ROOF_KERNEL_LIMIT_CONSTANT(constant, name, bottleneck) ROOF_KERNEL_LIMIT_##constant,
    ROOF_KERNEL_LIMITS(ROOF_KERNEL_LIMIT_CONSTANT)
#undef ROOF_KERNEL_LIMIT_CONSTANT
        ROOF_KERNEL_LIMIT_COUNT
};

/** Fitted parameters of a kernel; their inside is the library's. */
struct roof_kernel_fit;

/** The tiling that the formula found fastest. */
struct roof_tiling {
    int tile_m;
    int tile_n;
    int split_k;
    double grid;        /**< thread blocks */
    double waves;       /**< their time, in waves of a block per SM; it includes the fitted share of
                             the idle part of the last wave */
    double utilisation; /**< fraction of the SMs that are busy, on average over the waves */
    double l2_hit;      /**< fraction of the weights that are found in the L2 */
    enum roof_kernel_limit limit;
};

/** The estimate for a kernel. If no measured kernel applies, time_s is NAN and the other members
 * have no meaning. */
struct roof_expected {
    double time_s;
    double low_s; /**< 80% of measured times lie between low and high */
    double high_s;
    double launch_s; /**< the part of time_s that is launches */
    bool tiled;      /**< all of tiling has a meaning; else only its l2_hit has */
    struct roof_tiling tiling;
    enum roof_kernel_limit limit;
    const struct roof_kernel_fit *fit;
    bool near;      /**< the fit belongs to another device, stack or format; the band is wider */
    bool otherwise; /**< near has another reason than a fit of another device */
};

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
    double expected_s;       /**< the estimate for a real kernel; NAN: no measured kernel applies */
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

/** Sets measured_s, a time above 0, and the rates and the fraction that follow from it. */
void roof_predict_measured(struct roof_prediction *prediction, double measured_s);

/**
 * Attaches the calibration of a device, which must have none before, so that predictions have
 * expected times: from a file if path is not NULL, else the built-in one of the device, of its
 * product, of the device that the key `like` of its file names, or of its architecture's family.
 * directories (NULL-terminated, may be NULL) are searched first. A device without a calibration
 * stays without one; that is no error. The device owns the calibration: roof_hardware_free releases
 * both.
 */
enum roof_status roof_hardware_calibrate(struct roof_hardware *hardware, const char *path,
                                         const char *const *directories, struct roof_error *error);

#ifdef __cplusplus
}
#endif

#endif
