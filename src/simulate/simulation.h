// SPDX-License-Identifier: MIT
/* A simulation: requests arrive, copies of an engine serve them, and their times become means,
 * percentiles and confidence intervals. docs/simulation.md has the definitions. */
#ifndef ROOF_SIMULATE_SIMULATION_H
#define ROOF_SIMULATE_SIMULATION_H

#include "simulate/arrivals.h"
#include "simulate/distribution.h"
#include "simulate/fleet.h"

/* The latencies of a request. */
enum roof_latency { ROOF_LATENCY_TTFT, ROOF_LATENCY_TPOT, ROOF_LATENCY_E2E, ROOF_LATENCY_COUNT };
const char *roof_latency_key(enum roof_latency latency);

/* A limit on a percentile of a latency, or on its mean. */
struct roof_latency_limit {
    double time_s;  /* NAN: none */
    double percent; /* 0: the mean */
};
/* Reads "p99:1s", "mean:1s" or "1s", which means p99; `key` is the input, for messages. */
enum roof_status roof_latency_limit_read(struct roof_latency_limit *out, const char *key,
                                         const char *text, struct roof_error *error);

/* Requests that are read one by one while they are served. */
struct roof_request_source {
    /* Gives a request. The calls are in the order of the numbers, from 0 on. */
    enum roof_status (*next)(struct roof_arrival *out, uint64_t number, void *context,
                             struct roof_error *error);
    /* Takes back the ids of a request that has ended. They must last until the next request. */
    void (*end_ids)(void *context, const uint64_t *ids);
    void *context;
};

struct roof_simulation_inputs {
    struct roof_step_table *table;       /* borrowed, like all pointers here */
    struct roof_scheduler_limits limits; /* of each copy */
    uint64_t copies; /* 0: one; with prefill copies, the number of decode copies */
    const struct roof_prefills *prefills; /* NULL: all copies are of one kind */
    enum roof_router router;
    int64_t least_prompt; /* the tokens of images per prompt; shorter prompts are raised to this */
    int64_t positions;    /* the longest context that the model supports; 0: unknown */
    const struct roof_arrivals *arrivals;     /* random requests; NULL with a trace */
    const struct roof_arrival *trace;         /* requests in memory; NULL: there are none */
    const struct roof_request_source *source; /* NULL: no requests are read during the simulation */
    double trace_rate;    /* arrivals per second of a trace, as it is; 0: no rate was
                             given, so its times are kept */
    double trace_scale;   /* factor of its times; 0: 1 */
    uint64_t requests;    /* number of requests */
    uint64_t concurrency; /* closed loop: requests in flight; 0: an open loop */
    uint64_t seed;
    double warm_up; /* fraction of the requests, from the first one on, that is not measured */
    struct roof_latency_limit limit[ROOF_LATENCY_COUNT];
    bool keep;    /* keep each request for the caller */
    bool verdict; /* the caller only asks whether the limits are kept: the simulation may stop as
                     soon as one is sure to be missed */
};

/* The mean and the percentiles of a latency. */
struct roof_latency_result {
    double mean_s;
    double p50_s;
    double p90_s;
    double p99_s;
    double mean_ci_s; /* half the 95 % confidence interval; NAN: too few requests */
    double p99_ci_s;
    double limited_s; /* the statistic that the limit compares, for which requests that were turned
                         away take for ever; NAN: there is no limit */
    double limited_ci_s;
    bool met; /* the limit is met, or there is none */
};

/* Tells whether a limit lies inside the confidence interval of the simulated value. */
bool roof_latency_is_unsure(const struct roof_latency_result *result,
                            const struct roof_latency_limit *limit);

struct roof_simulation {
    uint64_t requests;    /* number of measured requests */
    uint64_t rejected;    /* requests that do not fit even an empty cache */
    uint64_t longer;      /* requests, of all, that are longer than the model supports */
    double rate;          /* arrivals per second: those of the question, if it has a rate */
    double offered_per_s; /* arrivals per second in the measured time */
    double completed_per_s;
    double goodput_per_s; /* requests per second that meet all limits */
    double tokens_per_s;  /* output tokens per second */
    struct roof_latency_result latency[ROOF_LATENCY_COUNT];
    double running; /* means over time, for all copies */
    double waiting;
    double kv_use;     /* NAN: the memory is unknown */
    double prefix_hit; /* cached fraction of prompt tokens; NAN: no prefix cache */
    double busy;       /* fraction of the time during which steps run, averaged over the copies */
    double step_s;     /* mean over all steps */
    double prompts;    /* fraction of the time of steps in those with prompt tokens */
    uint64_t steps;
    double tokens_per_step; /* tokens per step of a decoding sequence; NAN: without drafts */
    uint64_t preemptions;
    double growth_per_s; /* growth of the queue, in requests; NAN: 10 or fewer are measured */
    bool saturated;
    double served_per_s; /* requests that were served while the measured ones arrived */
    double filling;      /* the fraction of these that began and did not end */
    double noise;        /* relative standard deviation of the arrivals in that time */
    double prefill_busy; /* fraction of the time during which prefill copies run steps; NAN without
                            prefill copies, like the next three */
    double prefill_full_budget;
    double link_busy;   /* busy fraction of the lanes, at the busier end of the link */
    double transfer_s;  /* mean time from the end of a prefill to the arrival of its cache */
    double full_budget; /* fractions of the time during which a limit kept prompts waiting */
    double full_memory;
    double full_sequences;
    double waited_memory; /* fractions of the waiting, each request by its time, in these times */
    double waited_sequences;
    double front_busy; /* fraction of the time during which the front ends have a request */
    double duration_s;
    double last_arrival_s; /* when the last request came, from the beginning; 0: a closed loop */
    bool stopped;          /* a limit is missed, and nothing else is known: `verdict` */
    bool without_load;     /* the load was removed: roof_simulation_forget_load */
    struct roof_served *served; /* each request by its number, if kept; owned */
    uint64_t served_count;
};

/* Makes the requests of a simulation arrive at a rate: random ones by *arrivals, which must last as
 * long as the inputs, and those of a trace by a factor of its times. */
void roof_simulation_set_rate(struct roof_simulation_inputs *inputs, struct roof_arrivals *arrivals,
                              double rate);

/* Runs a simulation. The caller releases *out by roof_simulation_free, even after a failure. */
enum roof_status roof_simulate(struct roof_simulation *out,
                               const struct roof_simulation_inputs *inputs,
                               struct roof_error *error);
void roof_simulation_free(struct roof_simulation *simulation);

/* Removes the load from a simulation whose requests arrive at once, where only their latencies have
 * a meaning. Its figures become NAN, and the counts of steps and preemptions are not to be shown.
 */
void roof_simulation_forget_load(struct roof_simulation *simulation);

/* Returns a latency of a request that has ended; NAN: it has none. */
double roof_served_latency(const struct roof_served *served, enum roof_latency latency);

/* Returns true if all limits are met. */
bool roof_simulation_meets(const struct roof_simulation *simulation);

#endif
