// SPDX-License-Identifier: MIT
/*
 * Points of one operator side by side, so that its formula runs over all of them in one loop. The
 * formulas are those of single points: the results are the same to the last bit.
 */
#ifndef ROOF_OPERATOR_PRIVATE_H
#define ROOF_OPERATOR_PRIVATE_H

#include "roofline/operator.h"

/* What fits the first-level cache with its results. */
#define ROOF_LANES 64

/* Begins as zeros, which the dimensions that the operator does not have keep. */
struct roof_lanes {
    double dim[ROOF_DIM_COUNT][ROOF_LANES];
};

struct roof_work_lanes {
    double flops[ROOF_LANES];
    double bytes[ROOF_ROLE_COUNT][ROOF_LANES];
    double network_bytes[ROOF_LANES];
    double network_steps[ROOF_LANES];
};

/* roof_workload_resolve, which may leave half of its work after a failure. */
enum roof_status roof_resolve(struct roof_workload *workload, struct roof_error *error);
/* What of it looks at the operator's own sizes: all that is left where only they differ. */
enum roof_status roof_sizes_resolve(struct roof_workload *workload, struct roof_error *error);

/* Puts the sizes of a resolved workload into a lane. */
void roof_lanes_put(struct roof_lanes *lanes, size_t lane, const struct roof_workload *workload);

/* roof_operator_work in all lanes; of workload only the operator, formats and bias count. */
void roof_lanes_work(struct roof_work_lanes *restrict out, const struct roof_workload *workload,
                     const struct roof_lanes *restrict in);

#endif
