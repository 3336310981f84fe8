// SPDX-License-Identifier: MIT
/*
 * A simulation: requests arrive, copies of an engine serve them, and the times that they took
 * become means, percentiles and confidence intervals. docs/simulation.md has the definitions.
 */
#ifndef ROOF_SIMULATE_SIMULATION_H
#define ROOF_SIMULATE_SIMULATION_H

#include "simulate/arrivals.h"
#include "simulate/distribution.h"
#include "simulate/fleet.h"

/* The times of a request. */
enum roof_latency { ROOF_LATENCY_TTFT, ROOF_LATENCY_TPOT, ROOF_LATENCY_E2E, ROOF_LATENCY_COUNT };
const char *roof_latency_key(enum roof_latency latency);

/* A limit on a percentile of a time, or on its mean. */
struct roof_latency_limit {
    double time_s;  /* NAN: none */
    double percent; /* 0: the mean */
};
/* Reads "p99:1s", "mean:1s" or "1s", which means p99; `key` is the input, for messages. */
enum roof_status roof_latency_limit_read(struct roof_latency_limit *out, const char *key,
                                         const char *text, struct roof_error *error);

/* Requests that are read one by one while they are served. */
struct roof_request_source {
    /* Gives a request; they are asked for in the order of their numbers, from 0 on. */
    enum roof_status (*next)(struct roof_arrival *out, uint64_t number, void *context,
                             struct roof_error *error);
    /* Takes back the ids of a request that has ended. They must last until the next request. */
    void (*end_ids)(void *context, const uint64_t *ids);
    void *context;
};

struct roof_simulation_inputs {
    struct roof_step_table *table;        /* borrowed, as all here */
    struct roof_scheduler_limits limits;  /* of a copy */
    uint64_t copies;                      /* 0: one; those that decode, where others prefill */
    const struct roof_prefills *prefills; /* NULL: there is one kind of copies */
    enum roof_router router;
    int64_t least_prompt; /* what a shorter prompt is raised to: the tokens of its images */
    const struct roof_arrivals *arrivals;     /* random requests, when there is no trace */
    const struct roof_arrival *trace;         /* NULL: none in memory */
    const struct roof_request_source *source; /* NULL: none are read */
    uint64_t requests;                        /* how many there are */
    uint64_t concurrency;                     /* closed loop: requests in flight; 0: an open one */
    uint64_t seed;
    double warm_up; /* fraction of the requests that are not measured, the first ones */
    struct roof_latency_limit limit[ROOF_LATENCY_COUNT];
    bool keep; /* the requests themselves are wanted */
};

/* The means and percentiles of a time. */
struct roof_latency_result {
    double mean_s;
    double p50_s;
    double p90_s;
    double p99_s;
    double mean_ci_s; /* half of the 95 % confidence interval; NAN: too few requests */
    double p99_ci_s;
    double limited_s; /* what the limit looks at; NAN: there is no limit */
    double limited_ci_s;
    bool met; /* the limit, or there is none */
};

struct roof_simulation {
    uint64_t requests; /* measured */
    uint64_t rejected; /* requests that no empty cache holds */
    double rate;       /* arrivals per second */
    double completed_per_s;
    double goodput_per_s; /* of those that keep all limits themselves */
    double tokens_per_s;  /* generated */
    struct roof_latency_result latency[ROOF_LATENCY_COUNT];
    double running; /* means over time, of all copies */
    double waiting;
    double kv_use;     /* NAN: the memory is unknown */
    double prefix_hit; /* tokens of prompts that needed no prefill, over all; NAN: no cache */
    double busy;       /* fraction of the time in which steps run, mean of the copies */
    double step_s;     /* mean of all steps */
    uint64_t steps;
    double tokens_per_step; /* of a sequence that decodes; NAN: without drafts */
    uint64_t preemptions;
    double growth_per_s; /* of the requests that wait */
    bool saturated;
    double prefill_busy; /* fraction of the time in which copies that prefill have a step; NAN: none
                            only prefill, as for the next three */
    double prefill_full_budget;
    double link_busy;   /* fraction of the time of the lanes at the end that is busier */
    double transfer_s;  /* mean time from the end of a prefill to the arrival of its cache */
    double full_budget; /* fractions of the time in which a limit kept prompts waiting */
    double full_memory;
    double full_sequences;
    double duration_s;
    struct roof_served *served; /* by their numbers, where they are wanted; owned */
    uint64_t served_count;
};

/* Runs a simulation. The caller releases *out by roof_simulation_free, also after a failure. */
enum roof_status roof_simulate(struct roof_simulation *out,
                               const struct roof_simulation_inputs *inputs,
                               struct roof_error *error);
void roof_simulation_free(struct roof_simulation *simulation);

/* Returns the times of a request that has ended; NAN: it has none. */
double roof_served_latency(const struct roof_served *served, enum roof_latency latency);

/* True where all limits are met. */
bool roof_simulation_meets(const struct roof_simulation *simulation);

#endif
