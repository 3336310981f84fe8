// SPDX-License-Identifier: MIT
/* Changes of a deployment that raise the greatest rate that keeps its limits. */
#ifndef ROOF_SIMULATE_RAISE_H
#define ROOF_SIMULATE_RAISE_H

#include "simulate/capacity.h"
#include "simulate/deployment.h"

/* A change of one input, or of two. */
struct roof_raise {
    const char *key; /* the key of the input */
    int64_t value;
    const char *format;    /* the new value is this number format; NULL: it is `number` */
    const char *other_key; /* the key of a second input; NULL: there is none */
    int64_t other_value;
    int64_t devices;   /* number of devices after the change */
    double factor;     /* gain in the greatest rate, above 1 */
    double factor_low; /* its 95 % confidence interval; NAN: that of a rate is unknown */
    double factor_high;
};
/* The most changes that need no more devices, and the most that need more. */
#define ROOF_RAISES_EACH 2
#define ROOF_RAISES_MAX (2 * ROOF_RAISES_EACH)

/* Finds the changes that raise the greatest rate by more than a tenth: those that need no more
 * devices, the best first, and then those that do. `found`
 * is the result of roof_capacity_find for the inputs; factors are relative to its rate, with the
 * same number of requests. Shorter simulations select the changes to try. */
enum roof_status roof_raises_find(struct roof_raise out[ROOF_RAISES_MAX], size_t *count,
                                  const struct roof_deployments *deployments,
                                  const struct roof_simulation_inputs *inputs,
                                  const struct roof_capacity *found, struct roof_error *error);

#endif
