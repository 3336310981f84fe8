// SPDX-License-Identifier: MIT
/* The greatest request rate at which a deployment keeps its limits and is not saturated. */
#ifndef ROOF_SIMULATE_CAPACITY_H
#define ROOF_SIMULATE_CAPACITY_H

#include "simulate/simulation.h"

/* The reasons why the greatest rate has no confidence interval. */
enum roof_no_interval {
    ROOF_INTERVAL_KNOWN,         /* it has one, or there is no greatest rate */
    ROOF_NO_INTERVAL_SATURATION, /* it is what the engine completes, which is unknown */
    ROOF_NO_INTERVAL_FEW,        /* too few requests for the interval of the latency */
    ROOF_NO_INTERVAL_WIDE,       /* it spans a factor of 10 or more */
    ROOF_NO_INTERVAL_SLOPE       /* it is unknown how the latency grows with the rate */
};

struct roof_capacity {
    double rate; /* requests per second; 0: even a request that runs alone misses a limit; NAN: the
                    search found no rate that misses one */
    double low;  /* its 95 % confidence interval; NAN: unknown, or it spans a factor of 10 */
    double high;
    enum roof_no_interval why; /* why that is unknown */
    int limit; /* the limit that a higher rate misses (enum roof_latency), or ROOF_LATENCY_COUNT:
                  the engine is saturated */
    /* The search found no rate that misses a limit, or the requests are too few for one: most of
     * them are in flight at once, so that the engine does not fill up. `limit` is unused, and `at`
     * has requests that arrive at once. */
    bool open;
    uint64_t wanted; /* about as many requests would give the rate, or a narrower interval; 0: these
                        are enough */
    int runs;        /* number of simulations in the search */
    struct roof_simulation at; /* the simulation at that rate */
};

/* Searches the greatest rate. The rate in the inputs is not used; all simulations have the same
 * requests, with gaps scaled to the rate. With rate 0, `at` is the simulation of requests that run
 * alone. The caller releases only `at`, which keeps no requests. */
enum roof_status roof_capacity_find(struct roof_capacity *out,
                                    const struct roof_simulation_inputs *inputs,
                                    struct roof_error *error);

#endif
