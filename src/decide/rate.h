// SPDX-License-Identifier: MIT
/*
 * The copies of a model that serve a rate of requests within limits on percentiles. The closed form
 * of the plans chooses which ways to serve are tried, and simulations decide.
 */
#ifndef ROOF_DECIDE_RATE_H
#define ROOF_DECIDE_RATE_H

#include "decide/plan_inputs.h"
#include "simulate/capacity.h"

/* The most copies of a way that are tried, and ways of which copies are searched. */
#define ROOF_RATE_COPIES_MAX 1024
#define ROOF_RATE_WAYS_MAX 48

/* A way to serve the rate. */
struct roof_rate_plan {
    struct roof_plan plan;        /* with the copies that the rate needs, and their devices */
    int64_t chunk;                /* most tokens of prompts in a step, or ROOF_BUDGET_WHOLE */
    bool serves;                  /* they keep the limits; else they are the most that were tried */
    double rate;                  /* requests per second */
    struct roof_simulation at;    /* of these copies at the rate */
    struct roof_simulation fewer; /* of one copy less; no steps: there is one copy */
    double most;                  /* requests per second that the closed form gives one copy */
    double max_rate;              /* the greatest of the copies; NAN: not searched */
    double max_rate_low;          /* its 95 % confidence interval */
    double max_rate_high;
    double price;  /* per hour of all devices; NAN without one */
    double cost;   /* per million generated tokens */
    double joule;  /* per generated token, every device at its TDP */
    double excess; /* largest quotient of a latency and its limit */
};

struct roof_rate_problem {
    const struct roof_plan_answer *answer;     /* with plans of one copy; borrowed, as all here */
    const struct roof_simulation_inputs *load; /* the rate is that of its arrivals; the table, the
                                                  copies and the cache are those of each way */
    bool requests_given; /* as many are simulated as the load has; else more where it takes more */
    bool chunk_given;    /* steps have the budget of the load; else smaller ones are tried, too */
    const double *other; /* other rates, of which the best way says its copies */
    size_t others;
    const double *weight; /* how long each of these lasts; NULL: they are alternatives. Then they
                             rise, and the best way is that which takes least in all of the time */
    int64_t threads;      /* that simulate ways at the same time; 0: one */
    size_t wanted;        /* ways whose greatest rate is wanted, the best first */
};

struct roof_rate_plans {
    struct roof_rate_plan way[ROOF_RATE_WAYS_MAX]; /* best first */
    size_t count;
    uint64_t requests;             /* of each simulation, with those of the warm-up */
    size_t ways;                   /* that the closed form has */
    size_t tried;                  /* of these, those that were simulated */
    struct roof_rate_plan nearest; /* where none keeps the limits; no steps: none came so far */
    struct roof_rate_plan *other;  /* the best way at the other rates; owned */
    size_t others; /* those that it serves; over time all, by the copies of a greater one where
                      none were found */
};

/*
 * Searches. Ways are ranked by devices, or by the price or the power of these; those with expected
 * times first. ROOF_OK also where no way keeps the limits. ROOF_USAGE where more requests are in
 * flight than are simulated unasked. The caller owns *out, which is large: roof_rate_plans_free,
 * also after a failure.
 */
enum roof_status roof_rate_search(struct roof_rate_plans *out,
                                  const struct roof_rate_problem *problem,
                                  struct roof_error *error);
void roof_rate_plans_free(struct roof_rate_plans *plans);

#endif
