// SPDX-License-Identifier: MIT
/* Predictions one after another that differ in their sizes alone. */
#ifndef ROOF_PREDICT_PRIVATE_H
#define ROOF_PREDICT_PRIVATE_H

#include "roofline/predict.h"

/* Predicts the workload of *prediction again at other sizes of the same operator: its formats are
 * resolved. *prediction comes from roof_predict, or from this, also where sizes were refused. */
enum roof_status roof_predict_sizes(struct roof_prediction *prediction,
                                    const struct roof_shape *shape, struct roof_error *error);

#endif
