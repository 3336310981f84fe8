// SPDX-License-Identifier: MIT
/**
 * The time to expect of a kernel: closed formulas with fitted parameters (calibration.h).
 * docs/accuracy.md derives them. Nothing here allocates, locks or writes anything but its result.
 */
#ifndef ROOFLINE_KERNEL_H
#define ROOFLINE_KERNEL_H

#include "predict/calibration.h"

/** The resources that bound an operator, in the terms of the roofline. */
enum roof_bottleneck {
    ROOF_BOTTLENECK_MEMORY,
    ROOF_BOTTLENECK_COMPUTE,
    ROOF_BOTTLENECK_NETWORK,
    ROOF_BOTTLENECK_OVERHEAD, /**< launches: of expected times only */
    ROOF_BOTTLENECK_COUNT
};
const char *roof_bottleneck_name(enum roof_bottleneck bottleneck);

/**
 * The causes that may take most of the time of a kernel: X(constant, name, bottleneck). A kernel
 * has more causes than the roofline has terms, and --why shows them; where kernels are added up
 * with each other or beside a bound, each cause counts as the bottleneck in the third column.
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
const char *roof_kernel_limit_name(enum roof_kernel_limit limit);
enum roof_bottleneck roof_kernel_limit_bottleneck(enum roof_kernel_limit limit);

/** The tiling that the formula found fastest. */
struct roof_tiling {
    int tile_m;
    int tile_n;
    int split_k;
    double grid;        /**< thread blocks */
    double waves;       /**< of them over the SMs */
    double utilisation; /**< fraction of the SMs that are busy, on average over the waves */
    double l2_hit;      /**< fraction of the weights that are found in the L2 */
    enum roof_kernel_limit bound;
};

/** The time to expect; time_s is NAN where there is nothing to base it on, and all else is void. */
struct roof_expected {
    double time_s;
    double low_s; /**< 80% of measured times lie between low and high */
    double high_s;
    double launch_s; /**< the part of time_s that is launches */
    bool tiled;      /**< tiling holds; else only its l2_hit does */
    struct roof_tiling tiling;
    enum roof_kernel_limit bound;
    const struct roof_kernel_fit *fit;
    bool near; /**< the fit is of another device or of formats next to these; the band is wider */
};

/** Returns the kernel of a workload; COUNT: there is none. */
enum roof_kernel roof_kernel_of(const struct roof_workload *workload);
/** Returns the formats that meet in a resolved workload; COUNT when no kernel is known for them. */
enum roof_numerics roof_workload_numerics(const struct roof_workload *workload);

/**
 * Works out the expected time of a workload that is resolved and no composite. work is what it
 * does; rate is its peak in FLOP/s, or for a collective the bytes/s of a link inside the node (NAN:
 * unknown); ideal_s is the roofline bound, below which no cold kernel is expected.
 * hardware->calibration may be NULL.
 */
void roof_kernel_expect(struct roof_expected *out, const struct roof_workload *workload,
                        const struct roof_hardware *hardware, const struct roof_work *work,
                        double rate, double ideal_s);

#endif
