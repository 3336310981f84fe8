// SPDX-License-Identifier: MIT
/* What only the library needs of predictions. */
#ifndef ROOF_PREDICT_PRIVATE_H
#define ROOF_PREDICT_PRIVATE_H

#include "roofline/predict.h"

/* Predicts the workload of *prediction again at other sizes of the same operator: its formats are
 * resolved. *prediction comes from roof_predict, or from this, also where sizes were refused. */
enum roof_status roof_predict_sizes(struct roof_prediction *prediction,
                                    const struct roof_shape *shape, struct roof_error *error);

/* The table of peaks that a part runs at. */
enum roof_peak_table roof_part_peaks(const struct roof_part *part);

#endif
