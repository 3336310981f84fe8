// SPDX-License-Identifier: MIT
/* A step of a model, measured operator by operator beside its prediction. */
#ifndef ROOF_MEASURE_STEP_H
#define ROOF_MEASURE_STEP_H

#include "base/halt.h"
#include "measure/meter.h"
#include "predict/model_prediction.h"

/* An operator of the step. Times are of one run of it. */
struct roof_measured_node {
    const struct roof_node_prediction *node;
    struct roof_meter_task task; /* what ran */
    int64_t runs;                /* of a measured step; 0: the backend has no kernel for it */
    double time_s;               /* median; NAN: it did not run */
    double noise;                /* median absolute deviation over the median */
};

/* A measured step. Sums are over the operators that ran, as often as the model runs them. */
struct roof_measured_step {
    const struct roof_model_prediction *prediction;
    struct roof_meter_device device;
    struct roof_measured_node row[ROOF_GRAPH_MAX];
    size_t count;
    int64_t layers;   /* the largest count of an operator */
    int64_t measured; /* so many of them ran, and the others count as they do */
    size_t samples;
    double time_s; /* median */
    double noise;
    bool noisy;
    double expected_s; /* NAN: one of the operators has no estimate */
    double bound_s;
    double covered; /* share of the predicted time of all operators that those which ran have */
};

/* The measured operators have so much of the predicted time at least where a step is judged. */
#define ROOF_STEP_COVERED 0.9

/* The largest part of the free memory that the data of a step takes. */
#define ROOF_STEP_ROOM 0.8

/* Lists the operators of a pass with their predictions; none is measured. The prediction must
 * outlive *out. */
void roof_step_list(struct roof_measured_step *out, const struct roof_meter *meter,
                    const struct roof_bench *bench, const struct roof_model_prediction *prediction);
/* Sets how many of the layers of a listed step run. */
void roof_step_run_layers(struct roof_measured_step *step, int64_t layers);

/* Runs the operators of a listed step in their order, again and again for about so many seconds; a
 * caller that is halted gets the samples so far if there are three. If memory or time is too short
 * for all layers, fewer run. ROOF_IO if not even one fits. */
enum roof_status roof_step_measure(struct roof_measured_step *step, const struct roof_meter *meter,
                                   struct roof_bench *bench, double seconds,
                                   const struct roof_halt *halt, struct roof_error *error);

/* Returns expected over measured time, less 1, of a step or one of its operators; NAN: unknown. */
double roof_step_error(const struct roof_measured_step *step);
double roof_step_row_error(const struct roof_measured_node *row);

/* Tells if the estimate of a step is within ROOF_AGREES of it. */
bool roof_step_agrees(const struct roof_measured_step *step);

#endif
