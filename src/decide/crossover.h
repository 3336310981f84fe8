// SPDX-License-Identifier: MIT
/**
 * Finds where a recommendation changes as an operator gets more rows (sequences in flight, tokens
 * of a prompt): from which number of rows each format is best, a format is compute-bound, and for
 * which numbers of rows it is faster than fp16.
 */
#ifndef ROOF_DECIDE_CROSSOVER_H
#define ROOF_DECIDE_CROSSOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/recommend.h"
#include "decide/speedup.h"

/** The scan goes up to this many rows, or up to as many queries as there are keys. */
#define ROOF_CROSSOVER_MAX 1048576
#define ROOF_CROSSOVER_WINNERS 32
/** A format that is faster by less than this fraction gains nothing. If expected times decide, the
 * second one counts, because they have errors of some per cent. */
#define ROOF_CROSSOVER_GAIN 0.01
#define ROOF_CROSSOVER_GAIN_EXPECTED 0.1

/** The most ranges of rows in which a format gains something: the scan has 161 points. */
#define ROOF_CROSSOVER_GAINS 81

/** A candidate, which the constraints may reject. 0 means that there is no such number up to the
 * last. */
struct roof_crossover {
    enum roof_precision format;
    int64_t compute_bound; /**< the fewest rows from which on its roofline bound is compute */
    int64_t no_gain; /**< the fewest rows from which on it is never faster than fp16; 0 for fp16 */
    size_t gains;
    struct {
        int32_t from;
        int32_t to;
    } gain[ROOF_CROSSOVER_GAINS]; /**< the rows for which it is faster than fp16, in order */
};

struct roof_crossovers {
    enum roof_dimension
        along; /**< the dimension that has the rows; ROOF_DIM_COUNT: there is none */
    int64_t last;
    double gain;   /**< the fraction by which a format must be faster to gain something */
    bool balanced; /**< best is the format with the least loss that is nearly the fastest */
    size_t count;  /**< formats, in the order of the recommendation */
    struct roof_crossover of[ROOF_PRECISION_COUNT];
    size_t winners;
    struct {
        int64_t from;
        enum roof_precision format;   /**< ROOF_PRECISION_AUTO: nothing satisfies the constraints */
    } winner[ROOF_CROSSOVER_WINNERS]; /**< by rows, from 1 on */
    bool more;                        /**< it changes again after the last of them */
};

/**
 * Finds the crossovers of a workload along m, the queries or the tokens, whichever it has; a gemv
 * counts as a gemm. They are exact between points an eighth of an octave apart; shorter intervals
 * are missed. The ranking times decide about best and gain. It takes some milliseconds.
 */
enum roof_status roof_crossovers(struct roof_crossovers *out, const struct roof_workload *workload,
                                 const struct roof_hardware *hardware,
                                 const struct roof_accuracy *accuracy,
                                 const struct roof_recommend_options *options,
                                 struct roof_error *error);

#endif
