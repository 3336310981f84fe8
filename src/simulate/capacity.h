// SPDX-License-Identifier: MIT
/* The greatest rate of requests at which a deployment keeps its limits and is not saturated. */
#ifndef ROOF_SIMULATE_CAPACITY_H
#define ROOF_SIMULATE_CAPACITY_H

#include "simulate/simulation.h"

struct roof_capacity {
    double rate; /* per second; 0: a request that is alone misses a limit */
    double low;  /* its 95 % confidence interval; NAN: unknown */
    double high;
    int limit;                 /* the limit that a higher rate misses (enum roof_latency), or
                                  ROOF_LATENCY_COUNT: the engine is saturated */
    int runs;                  /* simulations that the search took */
    struct roof_simulation at; /* the simulation at that rate */
};

/*
 * Searches the greatest rate. The rate of the inputs is not used; each simulation has the same
 * requests, closer together or further apart. With rate 0, `at` is the simulation of requests that
 * are alone. Nothing but `at`, which keeps no requests, is to be released.
 */
enum roof_status roof_capacity_find(struct roof_capacity *out,
                                    const struct roof_simulation_inputs *inputs,
                                    struct roof_error *error);

#endif
