// SPDX-License-Identifier: MIT
/**
 * The time to expect of a kernel: closed formulas with fitted parameters (calibration.h).
 * docs/accuracy.md derives them. Nothing here allocates, locks or writes anything but its result.
 */
#ifndef ROOF_PREDICT_KERNEL_H
#define ROOF_PREDICT_KERNEL_H

#include "model/graph.h"
#include "predict/calibration.h"
#include "roofline/predict.h"

const char *roof_kernel_limit_name(enum roof_kernel_limit limit);
enum roof_bottleneck roof_kernel_limit_bottleneck(enum roof_kernel_limit limit);

/** Returns the kernel of a workload; COUNT: there is none. */
enum roof_kernel roof_kernel_of(const struct roof_workload *workload);
/** Returns the kernel of a workload in a calibration: where kernels of states, convolutions or
 * encoders were not measured, similar ones stand in. */
enum roof_kernel roof_kernel_in(const struct roof_calibration *calibration,
                                const struct roof_workload *workload);

/** Tells whether a kernel has the formula of vector operators. */
bool roof_kernel_is_vector(enum roof_kernel kernel);
/** Returns the kernels that an operator may need, a bit for each, including those of the operators
 * that it fuses. */
unsigned roof_operator_kernels(enum roof_operator op);
/** Returns the formats that meet in a resolved workload; COUNT when no kernel is known for them. */
enum roof_numerics roof_workload_numerics(const struct roof_workload *workload);

/** The upper end of the band of the fastest of all stacks is at least the time of the next fastest,
 * but grows at most by this factor. */
#define ROOF_SECOND_BAND 1.25

/** The factor by which the band of an expected time is wider than that of its fit on either side,
 * and the reason; NULL if the factor is 1. */
struct roof_widening {
    double factor;
    const char *reason;
};
/** Returns this for the kernel that was found for a resolved workload that is not a composite. */
struct roof_widening roof_kernel_widening(const struct roof_expected *expected,
                                          const struct roof_workload *workload,
                                          const struct roof_hardware *hardware);
/** Tells whether a kernel of a device's calibration was measured on another device. */
bool roof_kernel_is_lent(const struct roof_hardware *hardware, const struct roof_kernel_fit *fit);

/**
 * Computes the expected time of a resolved workload that is not a composite. work is its work; rate
 * is its peak in FLOP/s, or for a collective the bytes/s of a link inside the node (NAN: unknown);
 * bound_s is the lower bound for a cold kernel. hardware->calibration may be NULL.
 */
void roof_kernel_expect(struct roof_expected *out, const struct roof_workload *workload,
                        const struct roof_hardware *hardware, const struct roof_work *work,
                        double rate, double bound_s);

/** Tells whether vLLM on a device uses one kernel, that for prompts, for all sequences of a step.
 */
bool roof_attends_in_one_kernel(const struct roof_hardware *hardware);

/** Tells whether a kernel can begin on a device before the last one has ended (programmatic
 * dependent launch: CUDA C++ Programming Guide, compute capability 9.0). */
bool roof_overlaps_kernels(const struct roof_hardware *hardware);
/** Returns the factor, at least 1, by which vLLM's attention of decoding sequences takes longer
 * where one kernel attends to all sequences of a step: with prompts it is the kernel for these, and
 * it waits for the longest context. `rate` is the peak of the workload, which is resolved. *limit
 * is changed if the other kernel takes longer. */
double roof_step_factor(enum roof_kernel_limit *limit, const struct roof_workload *workload,
                        const struct roof_step_part *part, const struct roof_hardware *hardware,
                        double rate, double expected_s);

/** Stacks that are requested together, each with its own result. */
struct roof_stacks {
    size_t count;
    enum roof_stack stack[ROOF_STACK_COUNT];
};
/** Like roof_kernel_expect, with the kernels of each of some stacks instead of that of the
 * workload. */
void roof_kernel_expect_in(struct roof_expected out[ROOF_STACK_COUNT],
                           const struct roof_stacks *asked, const struct roof_workload *workload,
                           const struct roof_hardware *hardware, const struct roof_work *work,
                           double rate, double bound_s);

#endif
