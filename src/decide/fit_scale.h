// SPDX-License-Identifier: MIT
/**
 * Fits two numbers that adapt expected times to measured ones: a factor, and a host time of each
 * pass. A number is kept only if it lowers the error of rows to which it was not fitted.
 * docs/accuracy.md ("One number for your engine") has the derivation.
 */
#ifndef ROOF_DECIDE_FIT_SCALE_H
#define ROOF_DECIDE_FIT_SCALE_H

#include "decide/compare.h"

/** A measured value and its prediction. */
struct roof_scale_row {
    double expected_s; /**< as predicted, without a factor and a host time */
    double measured_s;
    double passes; /**< its growth with the host time of a pass; 0 for an operator */
};

/** The fit of at least ROOF_SCALE_ROWS values. Errors are means of |predicted / measured - 1|. */
struct roof_scale_fit {
    size_t rows;
    double scale;       /**< measured = scale x expected + host time x passes; 1: none helps */
    double host_s;      /**< 0: none helps */
    double mape;        /**< without the fit */
    double fitted_mape; /**< of each value by the fit of all others */
};
/** With fewer values none is left to test a fit. */
#define ROOF_SCALE_ROWS 3

/** Makes the row of a measured value, which has an expected time. A model is predicted again, in
 * room. ROOF_INVALID for a row that has numbers of such a fit itself. */
enum roof_status roof_scale_row_of(struct roof_scale_row *out, const struct roof_compared *row,
                                   struct roof_model_prediction *room, struct roof_error *error);
/** Fits count rows; ROOF_UNSATISFIED for fewer than ROOF_SCALE_ROWS. */
enum roof_status roof_scale_fit(struct roof_scale_fit *out, const struct roof_scale_row *row,
                                size_t count, struct roof_error *error);

#endif
