// SPDX-License-Identifier: MIT
/* Compares the simulation of a trace with its measured requests, and fits it to them. */
#ifndef ROOF_SIMULATE_FIT_H
#define ROOF_SIMULATE_FIT_H

#include "simulate/trace.h"

/* The mean times of some requests, measured and simulated. */
struct roof_fit_errors {
    double measured_s[ROOF_LATENCY_COUNT];
    double simulated_s[ROOF_LATENCY_COUNT]; /* of the same requests */
    double error[ROOF_LATENCY_COUNT];       /* simulated over measured, less 1; NAN: not measured */
    uint64_t requests;
};

/* Compares the requests from number `first` on. The simulation must have kept its requests. */
void roof_fit_compare(struct roof_fit_errors *out, const struct roof_simulation *simulation,
                      const struct roof_request_trace *trace, uint64_t first);

/* Says which fitted number is at a bound of its search, so that the fit means little; NULL: none.
 * An overhead of 0 is not a bound, as requests cannot have less. */
const char *roof_fit_bound(double scale, double overhead_s);

/* Returns how many of the requests, from the first one on, a fit uses: a fifth, rounded up. */
uint64_t roof_fit_part(uint64_t requests);

/* Gives the steps of a simulation another factor of their expected times. */
typedef enum roof_status roof_fit_rescale(void *context, struct roof_simulation_inputs *inputs,
                                          double scale, struct roof_error *error);

/* Finds the step scale and the request overhead for which the simulation fits the first requests of
 * a trace best. In the end the steps have the scale, and inputs->limits has the overhead. */
enum roof_status roof_fit_find(struct roof_simulation_inputs *inputs,
                               const struct roof_request_trace *trace, roof_fit_rescale *rescale,
                               void *context, struct roof_error *error);

#endif
