// SPDX-License-Identifier: MIT
/* Copies of an engine behind a router, which assigns each request to a copy when it arrives. */
#ifndef ROOF_SIMULATE_COPIES_H
#define ROOF_SIMULATE_COPIES_H

#include "simulate/scheduler.h"

enum roof_router {
    ROOF_ROUTER_ROUND_ROBIN,  /* one copy after another */
    ROOF_ROUTER_LEAST_LOADED, /* the least loaded copy; ties go to the next in turn */
    ROOF_ROUTER_PREFIX_AWARE, /* the copy whose burden would be least, which accounts for cached
                                 prompts (scheduler.h) */
    ROOF_ROUTER_COUNT
};
/* The words of the input; NULL ends the list. */
extern const char *const roof_router_names[];

struct roof_copies;

/* Opens copies, which the caller owns: roof_copies_free. The table is borrowed, and all copies
 * share it. */
enum roof_status roof_copies_open(struct roof_copies **out, size_t count, enum roof_router router,
                                  const struct roof_scheduler_limits *limits,
                                  struct roof_step_table *table, roof_on_served *on_served,
                                  void *context, struct roof_error *error);
void roof_copies_free(struct roof_copies *copies);

/* Returns true if a request fits the cache of a copy. Others must not be pushed. */
bool roof_copies_fits(const struct roof_copies *copies, int64_t prompt, int64_t generate);

/* Lets a request arrive. A request that is pushed when another one ends goes to the same copy. */
enum roof_status roof_copies_push(struct roof_copies *copies, uint64_t number,
                                  const struct roof_arrival *request, struct roof_error *error);

/* Gives a copy a request that another engine has begun; it arrives at its ready_s. */
enum roof_status roof_copies_put(struct roof_copies *copies, size_t copy,
                                 const struct roof_served *request, struct roof_error *error);
/* Returns the copy whose step has just ended, for the callback on a request. */
size_t roof_copies_stepping(const struct roof_copies *copies);
/* Returns the number of requests at a copy that have not ended. */
size_t roof_copies_present(const struct roof_copies *copies, size_t copy);
/* Returns when the first copy has work; HUGE_VAL: no copy has requests. */
double roof_copies_wakes(const struct roof_copies *copies);

/* Runs all steps that begin before a time. Without a limit (INFINITY) the copy whose clock is
 * behind goes first, so that requests end in the order of their times, except within a step. */
enum roof_status roof_copies_run(struct roof_copies *copies, double until_s,
                                 struct roof_error *error);

/* Returns the number of requests at all copies that arrived and have not begun. */
size_t roof_copies_waiting(const struct roof_copies *copies);
/* Returns the clock of the copy that is furthest ahead. */
double roof_copies_clock(const struct roof_copies *copies);
/* Adds up the sums of all copies. */
void roof_copies_sums(struct roof_scheduler_sums *out, const struct roof_copies *copies);

#endif
