// SPDX-License-Identifier: MIT
/* The fields of a simulation, and of its requests. */
#ifndef ROOF_SIMULATE_SIMULATION_FIELDS_H
#define ROOF_SIMULATE_SIMULATION_FIELDS_H

#include "catalog/field.h"
#include "simulate/capacity.h"
#include "simulate/fit.h"
#include "simulate/raise.h"
#include "simulate/simulation.h"

#define ROOF_SIMULATION_SCHEMA "roofline/simulation/1"

/* A simulation with its inputs. Texts are borrowed; NULL and 0: not given. */
struct roof_simulation_row {
    const struct roof_deployment *deployment;
    const struct roof_hardware
        *product; /* the shipping product that differs from a device of the documents; NULL: none */
    const struct roof_deployment *prefill; /* the prefill copies; NULL: there are none */
    const char *arrivals;
    const char *trace;
    const char *prompt;
    const char *generate;
    const char *engine; /* the engine whose scheduler is simulated; NULL: none was named */
    const char *stack;  /* NULL: none was named */
    const char *router; /* NULL: there is one copy */
    int64_t concurrency;
    int64_t trace_users; /* constant number of requests in flight of the trace; 0: they arrive */
    bool lengths_vary;   /* prompt lengths or output lengths differ */
    int64_t chunk;       /* ROOF_CHUNK_WHOLE: whole prompts */
    int64_t max_num_seqs;
    int64_t seed;
    const char *bottleneck;
    int64_t enough_seqs; /* with this max_num_seqs the cache holds all requests in flight; 0: it
                            does, or with no such limit */
    bool open;           /* the requests are too few to find the greatest rate */
    double max_rate; /* the greatest rate within the limits, and its interval; NAN: not searched, or
                        `open` */
    double max_rate_low;
    double max_rate_high;
    enum roof_no_interval no_interval; /* why the greatest rate has no interval */
    uint64_t wanted;            /* about as many requests would give the rate, or its interval */
    double max_rate_factor;     /* that rate / the rate of the trace; NAN: no trace */
    const char *max_rate_limit; /* the latency whose limit a higher rate misses;
                                   NULL: `open` */
    struct roof_raise raise[ROOF_RAISES_MAX]; /* changes that would raise the greatest rate */
    size_t raises;
    bool measured; /* the trace has measured times */
    bool fitted;
    uint64_t fit_used; /* requests that the fit used; the others are compared */
    struct roof_fit_errors fit;
    double step_scale;
    double request_overhead_s;
    bool own_overhead;     /* the caller gave it */
    const char *greatest;  /* the command that finds the greatest rate; NULL: not needed */
    bool greatest_limited; /* it has the limits of the question, not an example of one */
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

/* Returns the number of devices of all copies. */
double roof_simulation_devices(const struct roof_simulation_row *row);

/* Tells whether the latencies are of requests that have no load to arrive at: all at once if these
 * are too few for the greatest rate, or each one alone if no rate keeps the limits. */
bool roof_simulation_without_load(const struct roof_simulation_row *row);

/* Names the bottleneck of a busy engine: "kv memory", "sequences" or "budget" if that limit kept
 * requests waiting; "link", "prefill" or "front end" if transfers, prefill copies or front ends are
 * busy most of the time; "step time" if nothing is full, but the steps are too slow for the rate or
 * for a limit on latency, or at the greatest rate; NULL otherwise. `waits` is true if requests
 * would wait too long at a higher rate, and `first` if their first tokens would come too late; with
 * prefill copies, "link" or "prefill" is then their cause. */
const char *roof_simulation_bottleneck(const struct roof_simulation *simulation, bool greatest,
                                       bool waits, bool first);

#endif
