// SPDX-License-Identifier: MIT
/* Fits the parameters of kernels to few measured rows. */
#ifndef ROOF_MEASURE_FIT_H
#define ROOF_MEASURE_FIT_H

#include "measure/suite.h"
#include "predict/calibration.h"

/* A kernel with fewer rows keeps its initial parameters. */
#define ROOF_FIT_ROWS_MIN 3

/* The most fits that a measured device has. */
#define ROOF_FITS_MAX 64

struct roof_fits {
    struct roof_kernel_fit fit[ROOF_FITS_MAX];
    size_t count;
};

/*
 * Fits each kernel and pair of formats that was measured. A fit begins with that of the lender, or
 * with the plain formula at the device's own rates if there is no lender or if that is closer. A
 * parameter changes only if that lowers the error on rows that are left out. Kernels that were not
 * measured are borrowed from the lender. hardware is the measured device without a calibration;
 * lender may be NULL. Strings of the lender are borrowed.
 */
enum roof_status roof_fit_measured(struct roof_fits *out, const struct roof_measured *measured,
                                   struct roof_hardware *hardware,
                                   const struct roof_calibration *lender, struct roof_error *error);

#endif
