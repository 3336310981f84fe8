// SPDX-License-Identifier: MIT
/**
 * A prediction taken apart: every formula with the numbers put in, and the source of every figure.
 */
#ifndef ROOF_PREDICT_TRACE_H
#define ROOF_PREDICT_TRACE_H

#include <stddef.h>

#include "model/graph.h"
#include "predict/kernel.h"

/** One step. Strings belong to the trace. */
struct roof_step {
    const char *part;    /**< operator of a composite that the step belongs to; "" for the whole */
    const char *name;    /**< the name of the value that is computed or looked up */
    const char *formula; /**< "" for a figure that is looked up */
    const char *numbers; /**< the formula with the numbers put in; "" when there is none */
    const char *result;  /**< the value with its unit */
    const char *source;  /**< the source of a figure; "" for a computed value */
};

/** The steps of a prediction, in order. */
struct roof_trace {
    struct roof_step *step;
    size_t count;
    void *private_data;
};

/** Takes a prediction apart. On success the caller owns *out: roof_trace_free. */
enum roof_status roof_trace_prediction(struct roof_trace *out,
                                       const struct roof_prediction *prediction,
                                       struct roof_error *error);
/** Takes the prediction of an operator of a model on a device apart. An operator that the host
 * holds has the kernels and the copy that its expected time is made of. */
enum roof_status roof_trace_node(struct roof_trace *out, const struct roof_node *node,
                                 const struct roof_prediction *prediction,
                                 const struct roof_hardware *device, struct roof_error *error);
void roof_trace_free(struct roof_trace *trace);

#endif
