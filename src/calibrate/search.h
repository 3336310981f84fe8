// SPDX-License-Identifier: MIT
/* A search for the parameters of a group: the objective, and its minimization. */
#ifndef ROOF_CALIBRATE_SEARCH_H
#define ROOF_CALIBRATE_SEARCH_H

#include "calibrate/fitter.h"

struct search {
    const struct fitter *fitter;
    struct roof_hardware device[DEVICES_MAX]; /* copies with the current calibration */
    struct roof_calibration calibration;
    struct roof_kernel_fit known[2]; /* the current fit, and the one that it builds on */
    const struct roof_parameter *parameter;
    size_t count;
    int group;
    int fold;                               /* the held-out fold; -1: none */
    double start[ROOF_FIT_PARAMETERS_MAX];  /* on the scale of the search */
    double chosen[ROOF_FIT_PARAMETERS_MAX]; /* selected from a few values; NAN: the parameter is
                                               searched */
    bool without;                           /* optional parameters of calibrations have no effect */
    bool held;      /* all parameters except bandwidth and peak stay at the start */
    bool near_peak; /* some row needs at least half as long for its FLOPs as for its bytes */
    bool uncached;  /* the bytes of some row do not fit in the L2 */
    double launch;  /* clocks of the stack's 16-bit products, if times include quantisation;
                       otherwise NAN */
};

/* objective.c: starts a search for the parameters of a group, without a held-out fold. */
void open_search(struct search *s, const struct fitter *f, int group);
/* Returns true if a row of the group is not held out. */
bool is_fitted(const struct search *s, const struct row *row);
/* Predicts the time of a row with the current parameters. */
double predict_row(const struct search *s, const struct row *row);
/* Returns true for shares of 1. Parameters are searched on an unbounded scale: the logarithm, or
 * the logit for shares. */
bool is_share(const struct roof_parameter *p);
double to_scale(const struct roof_parameter *p, double value);
double from_scale(const struct roof_parameter *p, double z);
/* Makes parameters, on the scale of the search, the current ones. */
void try_parameters(struct search *s, const double *z);
/* Computes the objective of a search; NLopt calls it. */
double objective(unsigned count, const double *z, double *gradient, void *search);
double clamp(double value, double low, double high);

/* search.c: searches, and makes the best parameters the current ones. Optional parameters have no
 * effect. */
void run_search(struct search *s);
/* Returns true if the formula has optional parameters, and rows to fit them. */
bool is_extensible(const struct search *s);
/* Searches from the current parameters and from the start, including optional parameters. */
void extend_search(struct search *s);

#endif
