// SPDX-License-Identifier: MIT
/** The table of the operators of a model, in the text report of a prediction. */
#ifndef ROOF_REPORT_OPERATOR_TABLE_H
#define ROOF_REPORT_OPERATOR_TABLE_H

#include "base/text.h"
#include "predict/model_prediction.h"

/** Finds the operators of the table, in the order of their time, then the others; `order` has space
 * for ROOF_GRAPH_MAX numbers. Returns how many the table has: the `top` largest, or for 0 the
 * ROOF_TOP_DEFAULT largest, and all with at least ROOF_SMALL_SHARE of the expected time. */
size_t roof_model_report_listed(size_t *order, const struct roof_model_prediction *model_prediction,
                                size_t top);

/** Writes the operators that roof_model_report_listed finds, and the times of the others; with
 * `wide` also their shapes. A whole request has none: it writes how to ask for a phase. */
void roof_report_operators(struct roof_text *out,
                           const struct roof_model_prediction *model_prediction,
                           const struct roof_limits *limits, size_t top, bool wide);

#endif
