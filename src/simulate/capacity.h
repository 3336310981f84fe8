// SPDX-License-Identifier: MIT
/* The greatest request rate at which a deployment keeps its limits and is not saturated. */
#ifndef ROOF_SIMULATE_CAPACITY_H
#define ROOF_SIMULATE_CAPACITY_H

#include "simulate/simulation.h"

struct roof_capacity {
    double rate; /* requests per second; 0: even a request that runs alone misses a limit; NAN: the
                    search found no rate that misses one */
    double low;  /* its 95 % confidence interval; NAN: unknown */
    double high;
    int limit; /* the limit that a higher rate misses (enum roof_latency), or ROOF_LATENCY_COUNT:
                  the engine is saturated */
    /* The search found no rate that misses a limit, as with few requests: it tried ROOF_RATE_MAX,
     * or as many rates as it may. `limit` is unused, and `at` is at the last of them. */
    bool open;
    int runs;                  /* number of simulations in the search */
    struct roof_simulation at; /* the simulation at that rate */
};

/* Searches the greatest rate. The rate in the inputs is not used; all simulations have the same
 * requests, with gaps scaled to the rate. With rate 0, `at` is the simulation of requests that run
 * alone. The caller releases only `at`, which keeps no requests. */
enum roof_status roof_capacity_find(struct roof_capacity *out,
                                    const struct roof_simulation_inputs *inputs,
                                    struct roof_error *error);

#endif
