// SPDX-License-Identifier: MIT
/* The simulation of a trace against what was measured of its requests. */
#ifndef ROOF_SIMULATE_FIT_H
#define ROOF_SIMULATE_FIT_H

#include "simulate/trace.h"

/* The mean times of some requests, measured and simulated. */
struct roof_fit_errors {
    double measured_s[ROOF_LATENCY_COUNT];
    double error[ROOF_LATENCY_COUNT]; /* simulated over measured, less 1; NAN: not measured */
    uint64_t requests;
};

/* Compares the requests from number `first` on. The simulation has kept its requests. */
void roof_fit_compare(struct roof_fit_errors *out, const struct roof_simulation *simulation,
                      const struct roof_request_trace *trace, uint64_t first);

/* The part of the requests that a fit looks at, the first ones. */
#define ROOF_FIT_PART 0.2

/* Finds the scale of steps and the overhead of requests with which the simulation agrees best with
 * the first requests of a trace; inputs->limits gets them. */
enum roof_status roof_fit_find(struct roof_simulation_inputs *inputs,
                               const struct roof_request_trace *trace, struct roof_error *error);

#endif
