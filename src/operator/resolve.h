// SPDX-License-Identifier: MIT
/* The parts of operators and workloads that only the library needs. */
#ifndef ROOF_OPERATOR_RESOLVE_H
#define ROOF_OPERATOR_RESOLVE_H

#include "operator/operator.h"

/* Resolves a workload as roof_workload_resolve does, but may leave it half resolved on failure. */
enum roof_status roof_resolve(struct roof_workload *workload, struct roof_error *error);
/* Does the part of roof_resolve that depends on sizes; enough if only sizes have changed. */
enum roof_status roof_sizes_resolve(struct roof_workload *workload, struct roof_error *error);

/* Returns the dimensions of a shape as an array by enum roof_dimension: both are made from one
 * list, and the bias follows them. */
static inline const int64_t *roof_sizes(const struct roof_shape *shape)
{
    return (const int64_t *)(const void *)shape;
}

#endif
