// SPDX-License-Identifier: MIT
/** The table of the operators of a model, in the text report of a prediction. */
#ifndef ROOF_REPORT_OPERATOR_TABLE_H
#define ROOF_REPORT_OPERATOR_TABLE_H

#include "base/text.h"
#include "predict/model_prediction.h"

/** Writes the `top` operators with the largest shares of the time, and the time of the others; with
 * `wide` also their shapes. A whole request has none: it writes how to ask for a phase. */
void roof_report_operators(struct roof_text *out,
                           const struct roof_model_prediction *model_prediction,
                           const struct roof_limits *limits, size_t top, bool wide);

#endif
