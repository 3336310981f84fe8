// SPDX-License-Identifier: MIT
/** Predictions for one question on several devices, side by side for people. */
#ifndef ROOF_REPORT_SIDES_REPORT_H
#define ROOF_REPORT_SIDES_REPORT_H

#include "predict/model_prediction.h"

/** The most devices side by side. */
#define ROOF_SIDES_MAX 8

/** The answer for one device: `of_model` and `limits` for a model, or else `prediction`. */
struct roof_side {
    const struct roof_prediction *prediction; /**< for a model its total */
    const struct roof_model_prediction *of_model;
    const struct roof_limits *limits;
    const struct roof_hardware *product; /**< as in roof_report_text */
};

/** Writes a column per device and a row per figure that at least one of them has. There are 2 to
 * ROOF_SIDES_MAX sides. */
void roof_report_sides(struct roof_text *out, const struct roof_side *sides, size_t count);

#endif
