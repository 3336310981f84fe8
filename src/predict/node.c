// SPDX-License-Identifier: MIT
/* The prediction of an operator of a graph. */
#include <math.h>

#include "base/base.h"
#include "predict/pass.h"
#include "predict/predict_sizes.h"

/* An all-reduce has the faster bound of its two algorithms, which without a latency is that of the
 * ring, and the faster expected time. */
enum roof_status roof_predict_node(struct roof_prediction *out, const struct roof_node *node,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    TRY(roof_predict(out, &node->workload, hardware, error));
    if (node->workload.op != ROOF_OPERATOR_ALL_REDUCE) {
        return ROOF_OK;
    }
    struct roof_workload other = node->workload;
    struct roof_prediction at_once;
    other.shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
    TRY(roof_predict(&at_once, &other, hardware, error));
    const bool faster = at_once.expected_s < out->expected_s || isnan(out->expected_s);
    const struct roof_prediction expected = faster ? at_once : *out;
    if (at_once.time_s < out->time_s) {
        *out = at_once;
    }
    out->expected_s = expected.expected_s;
    out->expected_low_s = expected.expected_low_s;
    out->expected_high_s = expected.expected_high_s;
    out->expected_bottleneck = expected.expected_bottleneck;
    out->expected_near = expected.expected_near;
    out->part[0].expected = expected.part[0].expected;
    return ROOF_OK;
}

enum roof_status roof_predict_node_in(struct roof_prediction *prediction,
                                      const struct roof_node *node, enum roof_stack stack,
                                      struct roof_error *error)
{
    if (node->workload.op != ROOF_OPERATOR_ALL_REDUCE) {
        roof_predict_stack(prediction, stack);
        return ROOF_OK;
    }
    struct roof_node own = *node;
    own.workload.stack = stack;
    return roof_predict_node(prediction, &own, prediction->hardware, error);
}
