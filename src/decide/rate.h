// SPDX-License-Identifier: MIT
/* The copies of a model that serve a request rate within limits on percentiles. The closed form of
 * plans selects candidates, and simulations decide. */
#ifndef ROOF_DECIDE_RATE_H
#define ROOF_DECIDE_RATE_H

#include "decide/plan_inputs.h"
#include "simulate/capacity.h"

/* The most copies of a plan that are tried. */
#define ROOF_RATE_COPIES_MAX 1024
/* The limit of the devices of a plan that is never given up. */
#define ROOF_RATE_ANY_DEVICES INT64_MAX
/* The most plans whose copies are searched: without pipeline stages, with them, and in all. */
#define ROOF_RATE_WHOLE_MAX 48
#define ROOF_RATE_STAGED_MAX 24
#define ROOF_RATE_WAYS_MAX (ROOF_RATE_WHOLE_MAX + ROOF_RATE_STAGED_MAX)

/* The largest headroom of step times that is searched, in percent: a power of two. */
#define ROOF_RATE_HEADROOM_MAX 64

/* A plan to serve the rate. */
struct roof_rate_plan {
    struct roof_plan plan;            /* with the copies for the rate, and their devices */
    const struct roof_engine *engine; /* whose scheduler it has; NULL: a generic one; borrowed */
    int64_t sequences;                /* most running sequences of a copy */
    int64_t chunk;                    /* most prompt tokens in a step, or ROOF_BUDGET_WHOLE */
    int64_t usual_chunk;              /* that of the question, or the default of the engine */
    bool serves; /* the copies keep the limits; otherwise they are the most that were tried */
    double rate; /* requests per second */
    struct roof_simulation at;    /* with these copies at the rate */
    struct roof_simulation fewer; /* of the best plan, with one copy less; no steps: it has one */
    double most;                  /* requests per second of one copy in the closed form */
    double max_rate;     /* the greatest rate of the copies; NAN: not searched, or `open` */
    double max_rate_low; /* its 95 % confidence interval */
    double max_rate_high;
    enum roof_no_interval no_interval;
    bool open;       /* the requests are too few to find the greatest rate */
    uint64_t wanted; /* the requests that are asked for then */
    double headroom; /* how much longer the kernels of all steps may take before a limit is missed,
                        in percent; NAN: not searched */
    double price;    /* per hour of all devices; NAN: unknown */
    double cost;     /* per million output tokens */
    double joule;    /* per output token, with all devices at TDP */
    double device_seconds; /* over time, with the copies for each rate; NAN: not compared */
    double excess;         /* largest latency / limit */
    int64_t most_devices;  /* it is given up if it needs more; ROOF_RATE_ANY_DEVICES: never */
    bool hopeless;         /* it is not simulated, because it needs more in the closed form */
    double unlinked;       /* its number of devices if the link between them is unknown; 0: known */
    bool many;             /* the closed form asks for more copies than are tried */
    bool known; /* an earlier search had the same token budget, and has all of the above */
};

struct roof_rate_problem {
    const struct roof_plan_answer
        *answer; /* plans with one copy; borrowed, like all pointers here */
    const struct roof_simulation_inputs *load; /* the rate is that of its arrivals; each plan sets
                                                  the table, the copies and the cache */
    bool requests_given; /* the number of requests is fixed; otherwise longer simulations may have
                            more */
    bool chunk_given;    /* the token budget is fixed; otherwise it is that of the engine, and
                            smaller ones are also tried */
    const double *other; /* other rates for which the copies of the best plan are found */
    size_t others;
    const double
        *weight;     /* duration of each other rate; NULL: they are alternatives. With durations the
                        rates ascend, and the best plan has the least total cost */
    int64_t threads; /* simulate plans at the same time; 0: one */
    size_t wanted;   /* the number of best plans whose greatest rate is wanted */
    bool only_best;  /* only the first plan is wanted. Its headroom is not searched; its greatest
                        rate only if plans are equal otherwise; other rates only with durations */
};

/* The plans of one device that were simulated without serving the rate. */
struct roof_rate_miss {
    size_t tried;
    size_t many;     /* those that need more copies than are tried */
    double unlinked; /* devices of the first plan with an unknown link; 0: none */
};

struct roof_rate_plans {
    struct roof_rate_plan way[ROOF_RATE_WAYS_MAX]; /* best first */
    size_t count;
    uint64_t requests; /* per simulation, including the warm-up */
    size_t ways;       /* number of candidates in the closed form */
    size_t tried;      /* number of them that were chosen for simulation */
    size_t simulated;  /* number of these that were simulated */
    struct roof_rate_plan
        nearest; /* the closest plan if none keeps the limits; no steps: there is none */
    struct roof_rate_miss miss[ROOF_PLAN_HARDWARE_MAX]; /* by the device of the problem */
    struct roof_rate_plan *other; /* the best plan at the other rates; owned */
    size_t others;   /* number of rates that it serves; over time all, with the copies of a greater
                        rate if none were found */
    size_t compared; /* number of plans, from the first on, that are ranked by what they need over
                        time; 0: without durations */
    size_t at_peak;  /* the plan that is best at the greatest rate alone */
};

/* Searches the plans. They are ranked by devices, or by the price or the power of these; those with
 * expected times first. ROOF_OK even if no plan keeps the limits. ROOF_USAGE if more requests are
 * in flight than are simulated without a request for them. The caller owns *out, which is large:
 * roof_rate_plans_free, even after a failure. */
enum roof_status roof_rate_search(struct roof_rate_plans *out,
                                  const struct roof_rate_problem *problem,
                                  struct roof_error *error);
void roof_rate_plans_free(struct roof_rate_plans *plans);

/* Returns true if a plan is better than another one: it needs less; or as much, and surely keeps
 * the limits; or is as sure, and loses less accuracy, or has larger margins. With durations only
 * need and margins count. */
bool roof_rate_is_better(const struct roof_rate_plan *a, const struct roof_rate_plan *b,
                         const struct roof_rate_problem *problem);
/* Tells whether copies that keep the limits at a rate may miss one with other requests. */
bool roof_rate_is_unsure(const struct roof_rate_plan *way,
                         const struct roof_latency_limit limit[ROOF_LATENCY_COUNT]);
/* Returns what the best plan needs by the objective, the less the better: devices, their price per
 * hour or their power; with durations the sum over time, in seconds. */
double roof_rate_need(const struct roof_rate_plans *found, const struct roof_rate_problem *problem);

/* Tells whether the greatest rate lies below the rate that the copies serve, which is possible
 * because latencies do not grow steadily with the rate. */
bool roof_rate_falls_short(const struct roof_rate_plan *way);

#endif
