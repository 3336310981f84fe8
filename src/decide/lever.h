// SPDX-License-Identifier: MIT
/**
 * Levers: what would make an operator faster, each predicted like the operator itself.
 *
 * Every time is one of roof_predict, for the workload with one change or for the device with twice
 * as much of something, so that a lever that does nothing says so, too.
 */
#ifndef ROOF_DECIDE_LEVER_H
#define ROOF_DECIDE_LEVER_H

#include <stddef.h>
#include <stdint.h>

#include "predict/kernel.h"

enum roof_lever_kind {
    ROOF_LEVER_FORMATS,   /**< formats of the weights, and of the activations with them */
    ROOF_LEVER_KV_FORMAT, /**< the format of the KV cache */
    ROOF_LEVER_SPARSE,    /**< weights pruned 2:4 */
    ROOF_LEVER_ROWS,      /**< as many rows as make it compute-bound */
    ROOF_LEVER_FUSE,      /**< one kernel for it and its neighbours */
    ROOF_LEVER_SPLIT_K,   /**< another number of parts of K: expected times only */
    ROOF_LEVER_PAD,       /**< aligned rows of K and N: expected times only */
    ROOF_LEVER_LAUNCH,    /**< the launch hidden: expected times only */
    ROOF_LEVER_KERNEL,    /**< a kernel that takes the bound: expected times only */
    ROOF_LEVER_BANDWIDTH, /**< twice the memory bandwidth */
    ROOF_LEVER_PEAKS,     /**< twice the peaks */
    ROOF_LEVER_LINKS,     /**< twice the bandwidth of the links */
    ROOF_LEVER_KIND_COUNT
};

/** One change. A gain is work over time, relative to that before the change; for a fused operator,
 * relative to the operators that it replaces. */
struct roof_lever {
    enum roof_lever_kind kind;
    enum roof_operator op;         /**< the operator with the change, which FUSE replaces */
    struct roof_formats formats;   /**< resolved, with the change */
    enum roof_accuracy_class loss; /**< FORMATS: it is typical for the weights */
    enum roof_dimension along;     /**< ROWS: the dimension that has them */
    int64_t size;                  /**< ROWS, SPLIT_K: what it becomes */
    int64_t was;                   /**< SPLIT_K: what it was */
    int64_t padded_k;              /**< PAD: what K becomes; 0: what it was */
    int64_t padded_n;              /**< PAD: what N becomes; 0: what it was */
    double more_flops;             /**< PAD: the part of the work that padding adds */
    double more_bytes;             /**< PAD: the part of the bytes that padding adds */
    double time_s;
    double expected_s; /**< NAN: unknown */
    double gain;
    double expected_gain; /**< NAN: unknown */
};

#define ROOF_LEVERS_MAX 24
/** A gain below this is none. */
#define ROOF_LEVER_NO_GAIN 1.01

struct roof_advice {
    size_t count;
    struct roof_lever lever[ROOF_LEVERS_MAX]; /**< in the order of roof_lever_precedes */
};

/** Returns narrower formats that are tried for weights; AUTO from the end of the list on. */
enum roof_precision roof_lever_format(size_t i);
/** Tells if weights in such a format make sense on a device: it multiplies or unpacks them. */
bool roof_lever_format_runs(const struct roof_hardware *hardware, enum roof_precision format);

/** Returns the gain that ranks a lever and that people go by. */
double roof_lever_best(double gain, double expected_gain);

/** Tells whether a change is listed before another one: those with an expected gain come first,
 * and then the larger gain counts. */
bool roof_lever_precedes(double gain, double expected_gain, double other_gain,
                         double other_expected_gain);

/** Finds the levers of a prediction that roof_predict made. ROOF_MEMORY only. */
enum roof_status roof_advise(struct roof_advice *out, const struct roof_prediction *base,
                             struct roof_error *error);

#endif
