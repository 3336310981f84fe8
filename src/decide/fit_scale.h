// SPDX-License-Identifier: MIT
/**
 * Fits two numbers that adapt expected times to measured ones: a factor of all but the host time of
 * the engine, and more host time of each pass. A number is kept only if two errors fall: that of
 * rows to which it was not fitted, and that of predictions with it as an option.
 * docs/accuracy.md ("One number for your engine") has the derivation.
 */
#ifndef ROOF_DECIDE_FIT_SCALE_H
#define ROOF_DECIDE_FIT_SCALE_H

#include "decide/compare.h"

/** The prediction of a model that a fit repeats. */
struct roof_scaled {
    struct roof_scenario scenario;
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    enum roof_metric which;
};

/** The prediction of an operator that a fit repeats. */
struct roof_scaled_operator {
    struct roof_workload workload;
    const struct roof_hardware *hardware;
};

/** A measured value and its prediction. */
struct roof_scale_row {
    double expected_s; /**< as predicted, without a factor and more host time */
    double measured_s;
    double passes; /**< its growth with the host time of a pass; 0 for an operator */
    double host_s; /**< the part of expected_s that comes from the host time of the engine */
    int line;      /**< of its run in the file, whose values follow one another; 0: a run alone */
    struct roof_scaled *model;       /**< owned; NULL: an operator */
    struct roof_scaled_operator *op; /**< owned; NULL: a model */
};

/** The fit of the values of at least ROOF_SCALE_RUNS runs. Errors are means of |predicted /
 * measured - 1|. */
struct roof_scale_fit {
    size_t rows;
    size_t models;                /**< rows of models */
    size_t of[ROOF_METRIC_COUNT]; /**< rows by what was measured */
    bool hosted;                  /**< some have host time of an engine */
    bool one_stack;               /**< all rows have the same stack */
    enum roof_stack stack;        /**< that one */
    /** new estimate = engine + scale x (expected - engine) + host time x passes, with the digits
     * that are printed; scale 1: none helps. */
    double scale;
    double host_s;       /**< 0: none helps */
    double mape;         /**< without the fit */
    double fitted_mape;  /**< the larger of applied_mape and the error of the values of each run
                              by the fit of all others */
    double applied_mape; /**< of the values when they are predicted with these options */
    bool one_engine;     /**< all rows of models have the same host times */
    struct roof_host_time engine; /**< these; step_s includes host_s */
};
/** With fewer runs none is left to test a fit. */
#define ROOF_SCALE_RUNS 3

/** Makes the row of a measured value, which has an expected time. A model is predicted again, in
 * room. ROOF_INVALID for a row that has numbers of such a fit itself. The caller owns *out:
 * roof_scale_row_free. The models and devices are borrowed until then. */
enum roof_status roof_scale_row_of(struct roof_scale_row *out, const struct roof_compared *row,
                                   struct roof_model_prediction *room, struct roof_error *error);
void roof_scale_row_free(struct roof_scale_row *row);
/** Fits count rows; ROOF_UNSATISFIED for those of fewer than ROOF_SCALE_RUNS runs. Models are
 * predicted again, in room, which may be NULL without models. */
enum roof_status roof_scale_fit(struct roof_scale_fit *out, const struct roof_scale_row *row,
                                size_t count, struct roof_model_prediction *room,
                                struct roof_error *error);

#endif
