// SPDX-License-Identifier: MIT
/* The parts of predictions that only the library needs. */
#ifndef ROOF_PREDICT_PREDICT_SIZES_H
#define ROOF_PREDICT_PREDICT_SIZES_H

#include "predict/kernel.h"

/* Predicts the workload of *prediction again at other sizes of the same operator: its formats are
 * resolved. *prediction comes from roof_predict, or from this, also where sizes were refused. */
enum roof_status roof_predict_sizes(struct roof_prediction *prediction,
                                    const struct roof_shape *shape, struct roof_error *error);

/* The expected time of an operator, over its parts. */
struct roof_expected_sum {
    double time_s;
    double low_s;
    double high_s;
    enum roof_bottleneck bottleneck;
    bool near;
};

/* Predicts a workload whose formats are resolved, as those of graphs are. */
enum roof_status roof_predict_formatted(struct roof_prediction *out,
                                        const struct roof_workload *workload,
                                        const struct roof_hardware *hardware,
                                        struct roof_error *error);

/* Predicts the bound of a workload whose formats are resolved; nothing is expected. */
enum roof_status roof_predict_bound(struct roof_prediction *out,
                                    const struct roof_workload *workload,
                                    const struct roof_hardware *hardware, struct roof_error *error);

/* Returns the bound of a prediction if its tokens chose as few experts as they can, which is a
 * bound however they choose; NAN: it has no experts, or that is what was predicted. */
double roof_least_time(const struct roof_prediction *prediction);

/* Returns the bytes of the state that an operator keeps for a sequence; NAN: it keeps none. */
double roof_sequence_state_bytes(const struct roof_prediction *prediction);

/* Predicts the operators that do the work of a fused one when each is a kernel of its own, as the
 * parts of *out. The operator must be one that is fused. */
enum roof_status roof_predict_apart(struct roof_prediction *out,
                                    const struct roof_prediction *fused, struct roof_error *error);

/* Works out the expected times of a workload in each of some stacks, from its bound. */
void roof_expect_in(struct roof_expected_sum out[ROOF_STACK_COUNT],
                    const struct roof_prediction *bound, const struct roof_stacks *stacks);

/* Returns the table that has the peak of a part. */
enum roof_peak_table roof_part_peaks(const struct roof_part *part);

/* Returns the bottleneck that has the largest share of a time, the first of several. */
enum roof_bottleneck roof_largest_share(const double share[ROOF_BOTTLENECK_COUNT]);

#endif
