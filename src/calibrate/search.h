// SPDX-License-Identifier: MIT
/* One search for the parameters of a group: the objective, and the way to its minimum. */
#ifndef ROOF_CALIBRATE_SEARCH_H
#define ROOF_CALIBRATE_SEARCH_H

#include "calibrate/fitter.h"

struct search {
    const struct fitter *fitter;
    struct roof_hardware device[DEVICES_MAX]; /* copies with the calibration under trial */
    struct roof_calibration calibration;
    struct roof_kernel_fit known[2]; /* the fit under trial, and the one that it builds on */
    const struct roof_parameter *parameter;
    size_t count;
    int group;
    int fold;                               /* the one that is left out; -1: none */
    double start[ROOF_FIT_PARAMETERS_MAX];  /* on the scale of the search */
    double chosen[ROOF_FIT_PARAMETERS_MAX]; /* one of a few values, not searched; NAN: it is */
    bool without;   /* parameters that calibrations may leave out do nothing */
    bool held;      /* all parameters but bandwidth and peak stay at the start */
    bool near_peak; /* a row needs at least half as long for its FLOPs as for its bytes */
    bool uncached;  /* a row's bytes do not fit in the L2 */
    double launch; /* clocks of the stack's 16-bit products, if times include a quantisation; NAN */
};

/* objective.c: starts a search for the parameters of a group, with no fold left out. */
void open_search(struct search *s, const struct fitter *f, int group);
/* True if a row of the group is not of the fold that is left out. */
bool is_fitted(const struct search *s, const struct row *row);
/* The time of a row with the parameters under trial. */
double predict_row(const struct search *s, const struct row *row);
/* Parameters are searched on a scale without ends: the logarithm, or the logit for shares of 1. */
bool is_share(const struct roof_parameter *p);
double to_scale(const struct roof_parameter *p, double value);
double from_scale(const struct roof_parameter *p, double z);
/* Puts parameters, on the scale of the search, under trial. */
void try_parameters(struct search *s, const double *z);
/* Computes what a search minimises; NLopt calls it. */
double objective(unsigned count, const double *z, double *gradient, void *search);
double clamp(double value, double low, double high);

/* search.c: searches, and leaves the best parameters under trial. Those that calibrations may leave
 * out do nothing. */
void run_search(struct search *s);
/* True if the formula has parameters that calibrations may leave out, and rows to fit them to. */
bool is_extensible(const struct search *s);
/* Searches from the parameters under trial and from the start, with those that calibrations may
 * leave out. */
void extend_search(struct search *s);

#endif
