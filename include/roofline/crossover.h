// SPDX-License-Identifier: MIT
/**
 * Where a recommendation changes as an operator gets more rows (sequences in flight, tokens of a
 * prompt): which format is best from where on, where a format turns compute-bound, and where it
 * stops being faster than fp16.
 */
#ifndef ROOFLINE_CROSSOVER_H
#define ROOFLINE_CROSSOVER_H

#include <stddef.h>
#include <stdint.h>

#include "roofline/recommend.h"
#include "roofline/speedup.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rows are looked at up to this, queries up to the keys that there are. */
#define ROOF_CROSSOVER_MAX 1048576
#define ROOF_CROSSOVER_WINNERS 32
/** Faster by less than this is no gain. */
#define ROOF_CROSSOVER_GAIN 0.01

/** A candidate, whatever the constraints say of it. 0: nowhere up to the last. */
struct roof_crossover {
    enum roof_precision format;
    int64_t compute_bound; /**< the fewest rows from which on its roofline bound is compute */
    int64_t no_gain; /**< the fewest from which on it is never faster than fp16, which has none */
};

struct roof_crossovers {
    enum roof_dimension along; /**< ROOF_DIM_COUNT: the operator has no such dimension */
    int64_t last;
    size_t count; /**< formats, in the order of the recommendation */
    struct roof_crossover of[ROOF_PRECISION_COUNT];
    size_t winners;
    struct {
        int64_t from;
        enum roof_precision format;   /**< ROOF_PRECISION_AUTO: nothing satisfies the constraints */
    } winner[ROOF_CROSSOVER_WINNERS]; /**< by rows, from 1 on */
    bool more;                        /**< it changes again after the last of them */
};

/**
 * Crossovers of a workload along -m, the queries or the tokens, whichever it has; a gemv is taken
 * as the gemm that it is. They are exact between points that lie an eighth of an octave apart:
 * shorter interludes are not seen. Best and gain are by the times that rank. Takes some
 * milliseconds.
 */
enum roof_status roof_crossovers(struct roof_crossovers *out, const struct roof_workload *workload,
                                 const struct roof_hardware *hardware,
                                 const struct roof_accuracy *accuracy,
                                 const struct roof_recommend_options *options,
                                 struct roof_error *error);

#ifdef __cplusplus
}
#endif

#endif
