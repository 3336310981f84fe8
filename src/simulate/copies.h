// SPDX-License-Identifier: MIT
/*
 * Copies of an engine behind a router, which gives each request to one of them when it arrives.
 */
#ifndef ROOF_SIMULATE_COPIES_H
#define ROOF_SIMULATE_COPIES_H

#include "simulate/scheduler.h"

enum roof_router {
    ROOF_ROUTER_ROUND_ROBIN,  /* one copy after another */
    ROOF_ROUTER_LEAST_LOADED, /* the one with the least load; of several, the next in turn */
    ROOF_ROUTER_PREFIX_AWARE, /* so with the least burden, which knows what each has cached */
    ROOF_ROUTER_COUNT
};
/* The words of the input, with NULL at the end. */
extern const char *const roof_router_names[];

struct roof_copies;

/* Opens copies, which the caller owns: roof_copies_free. The table is borrowed, and shared. */
enum roof_status roof_copies_open(struct roof_copies **out, size_t count, enum roof_router router,
                                  const struct roof_scheduler_limits *limits,
                                  struct roof_step_table *table, roof_on_served *on_served,
                                  void *context, struct roof_error *error);
void roof_copies_free(struct roof_copies *copies);

/* Returns true if a request fits the cache of a copy. Others must not be pushed. */
bool roof_copies_fits(const struct roof_copies *copies, int64_t prompt, int64_t generate);

/* Lets a request arrive. One that is pushed when another ends goes to the copy of that one. */
enum roof_status roof_copies_push(struct roof_copies *copies, uint64_t number,
                                  const struct roof_arrival *request, struct roof_error *error);

/* Lets a request that another engine has begun arrive at a copy, at its ready_s. */
enum roof_status roof_copies_put(struct roof_copies *copies, size_t copy,
                                 const struct roof_served *request, struct roof_error *error);
/* Returns the copy whose step has just ended, for what is told of a request. */
size_t roof_copies_stepping(const struct roof_copies *copies);
/* Returns the requests of a copy that did not end. */
size_t roof_copies_present(const struct roof_copies *copies, size_t copy);
/* Returns when the first of the copies has something to do; HUGE_VAL: none has requests. */
double roof_copies_wakes(const struct roof_copies *copies);

/* Runs all steps that begin before a time. Without end (INFINITY) the copy whose clock is behind
 * goes first, so that requests end in the order of their times, but for those of a step. */
enum roof_status roof_copies_run(struct roof_copies *copies, double until_s,
                                 struct roof_error *error);

/* Requests that arrived and did not begin, at all copies. */
size_t roof_copies_waiting(const struct roof_copies *copies);
/* Returns the clock of the copy that is furthest. */
double roof_copies_clock(const struct roof_copies *copies);
/* Adds up the sums of all copies. */
void roof_copies_sums(struct roof_scheduler_sums *out, const struct roof_copies *copies);

#endif
