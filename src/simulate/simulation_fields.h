// SPDX-License-Identifier: MIT
/* The fields of a simulation, and of the requests that it served. */
#ifndef ROOF_SIMULATE_SIMULATION_FIELDS_H
#define ROOF_SIMULATE_SIMULATION_FIELDS_H

#include "catalog/field.h"
#include "simulate/fit.h"
#include "simulate/raise.h"
#include "simulate/simulation.h"

#define ROOF_SIMULATION_SCHEMA "roofline/simulation/1"

/* A simulation with what was asked. Texts are borrowed; NULL and 0: not given. */
struct roof_simulation_row {
    const struct roof_deployment *deployment;
    const struct roof_hardware *product;   /* shipped, of a device of the documents; NULL: none */
    const struct roof_deployment *prefill; /* of the copies that prefill; NULL: none only do that */
    const char *arrivals;
    const char *trace;
    const char *prompt;
    const char *generate;
    const char *engine; /* whose scheduler it is; NULL: none was named */
    const char *router; /* NULL: there is one copy */
    int64_t concurrency;
    bool lengths_vary; /* of prompts, or of what is generated */
    int64_t chunk;     /* ROOF_CHUNK_WHOLE: whole prompts */
    int64_t max_num_seqs;
    int64_t seed;
    const char *bottleneck;
    double max_rate; /* the greatest that keeps the limits, and its interval; NAN: not searched */
    double max_rate_low;
    double max_rate_high;
    const char *max_rate_limit; /* the latency that a higher rate takes over its limit */
    struct roof_raise raise[ROOF_RAISES_MAX]; /* what would raise it */
    size_t raises;
    bool measured; /* the trace has measured times */
    bool fitted;
    uint64_t fit_used; /* requests that the fit looked at; the others are compared */
    struct roof_fit_errors fit;
    double step_scale;
    double request_overhead_s;
    struct roof_simulation result;
};

void roof_simulation_fields(struct roof_fields *out);
void roof_simulation_values(struct roof_value *out, const struct roof_fields *fields,
                            const struct roof_simulation_row *row);

void roof_served_fields(struct roof_fields *out);
void roof_served_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_served *served);

/* An interval of a simulation. */
struct roof_moment_row {
    struct roof_moment moment;
    double kv_use; /* NAN: the memory is unknown */
};
struct roof_moment_row roof_moment_row(const struct roof_timeline *timeline, size_t number,
                                       const struct roof_simulation_inputs *inputs);
void roof_moment_fields(struct roof_fields *out);
void roof_moment_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_moment_row *row);

/* Returns the devices of all copies. */
double roof_simulation_devices(const struct roof_simulation_row *row);

/* Names what limits an engine that is as busy as this one: "compute" where its steps take all the
 * time without a full limit, "kv memory", "sequences" or "budget" where that kept requests waiting
 * most of the time, "link" or "prefill" where caches or copies that prefill take all of it, and
 * NULL where nothing is full. */
const char *roof_simulation_bottleneck(const struct roof_simulation *simulation);

#endif
