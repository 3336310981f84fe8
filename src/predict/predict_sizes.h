// SPDX-License-Identifier: MIT
/* The parts of predictions that only the library needs. */
#ifndef ROOF_PREDICT_PRIVATE_H
#define ROOF_PREDICT_PRIVATE_H

#include "predict/kernel.h"

/* Predicts the workload of *prediction again at other sizes of the same operator: its formats are
 * resolved. *prediction comes from roof_predict, or from this, also where sizes were refused. */
enum roof_status roof_predict_sizes(struct roof_prediction *prediction,
                                    const struct roof_shape *shape, struct roof_error *error);

/* Expects the workload of *prediction, which roof_predict predicted, of another stack's kernels. */
void roof_predict_stack(struct roof_prediction *prediction, enum roof_stack stack);

/* Returns the table that has the peak of a part. */
enum roof_peak_table roof_part_peaks(const struct roof_part *part);

/* Returns the bottleneck that has the largest share of a time, the first of several. */
enum roof_bottleneck roof_largest_share(const double share[ROOF_BOTTLENECK_COUNT]);

#endif
