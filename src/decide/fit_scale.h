// SPDX-License-Identifier: MIT
/**
 * Fits the two numbers that bring expected times in line with measured ones: a factor, and a host
 * time of each pass. A number is taken only if it brings down the error of rows that it was not
 * fitted to. docs/accuracy.md ("One number for your engine") has the derivation.
 */
#ifndef ROOF_DECIDE_FIT_SCALE_H
#define ROOF_DECIDE_FIT_SCALE_H

#include "decide/compare.h"

/** A measured value and its prediction. */
struct roof_scale_row {
    double expected_s; /**< as predicted, without a factor and a host time */
    double measured_s;
    double passes; /**< by how much it grows with the host time of a pass; 0: of an operator */
};

/** The fit of at least ROOF_SCALE_ROWS values. Errors are means of |predicted / measured - 1|. */
struct roof_scale_fit {
    size_t rows;
    double scale;       /**< measured = scale x expected + host time x passes; 1: none helps */
    double host_s;      /**< 0: none helps */
    double mape;        /**< without the fit */
    double fitted_mape; /**< of each value by the fit of all others */
};
/** Fewer values say nothing of a fit: none is left to judge it by. */
#define ROOF_SCALE_ROWS 3

/** Makes the row of a measured value, which has an expected time. A model is predicted again, in
 * room. ROOF_INVALID for a row that has numbers of such a fit itself. */
enum roof_status roof_scale_row_of(struct roof_scale_row *out, const struct roof_compared *row,
                                   struct roof_model_prediction *room, struct roof_error *error);
/** Fits count rows; ROOF_UNSATISFIED for fewer than ROOF_SCALE_ROWS. */
enum roof_status roof_scale_fit(struct roof_scale_fit *out, const struct roof_scale_row *row,
                                size_t count, struct roof_error *error);

#endif
