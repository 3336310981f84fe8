// SPDX-License-Identifier: MIT
#include "simulate/copies.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

#define NONE SIZE_MAX

const char *const roof_router_names[] = {[ROOF_ROUTER_ROUND_ROBIN] = "round-robin",
                                         [ROOF_ROUTER_LEAST_LOADED] = "least-loaded",
                                         [ROOF_ROUTER_PREFIX_AWARE] = "prefix-aware",
                                         [ROOF_ROUTER_COUNT] = NULL};

struct roof_copies {
    struct roof_scheduler **copy;
    size_t count;
    enum roof_router router;
    size_t next;  /* the copy whose turn is next */
    size_t steps; /* the copy that makes a step; NONE: no copy does */
};

enum roof_status roof_copies_open(struct roof_copies **out, size_t count, enum roof_router router,
                                  const struct roof_scheduler_limits *limits,
                                  struct roof_step_table *table, roof_on_served *on_served,
                                  void *context, struct roof_error *error)
{
    struct roof_copies *const c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL) {
        return roof_no_memory(error);
    }
    c->router = router;
    c->steps = NONE;
    c->copy = calloc(count, sizeof(struct roof_scheduler *));
    enum roof_status status = c->copy == NULL ? roof_no_memory(error) : ROOF_OK;
    while (status == ROOF_OK && c->count < count) {
        status =
            roof_scheduler_open(&c->copy[c->count++], limits, table, on_served, context, error);
    }
    if (status != ROOF_OK) {
        roof_copies_free(c);
        *out = NULL;
    }
    return status;
}

void roof_copies_free(struct roof_copies *c)
{
    if (c != NULL) {
        for (size_t i = 0; i < c->count; i++) {
            roof_scheduler_free(c->copy[i]);
        }
        free(c->copy);
        free(c);
    }
}

bool roof_copies_fits(const struct roof_copies *c, int64_t prompt, int64_t generate)
{
    return roof_scheduler_fits(c->copy[0], prompt, generate);
}

/* Returns the load that the router compares; it is always 0 for round robin. */
static int64_t burden_of(const struct roof_copies *c, size_t copy,
                         const struct roof_arrival *request)
{
    const struct roof_scheduler *const s = c->copy[copy];
    return c->router == ROOF_ROUTER_PREFIX_AWARE   ? roof_scheduler_burden(s, request)
           : c->router == ROOF_ROUTER_LEAST_LOADED ? roof_scheduler_load(s, request->time_s)
                                                   : 0;
}

/* Returns the copy for the next request: the least loaded one; ties go to the next in turn. */
static size_t route(struct roof_copies *c, const struct roof_arrival *request)
{
    size_t found = c->next;
    int64_t least = INT64_MAX;
    if (c->steps != NONE) {
        return c->steps;
    }
    for (size_t i = 0; i < c->count; i++) {
        const size_t copy = (c->next + i) % c->count;
        const int64_t burden = burden_of(c, copy, request);
        if (burden < least) {
            least = burden;
            found = copy;
        }
    }
    c->next = (found + 1) % c->count;
    return found;
}

enum roof_status roof_copies_push(struct roof_copies *c, uint64_t number,
                                  const struct roof_arrival *request, struct roof_error *error)
{
    return roof_scheduler_push(c->copy[route(c, request)], number, request, error);
}

enum roof_status roof_copies_put(struct roof_copies *c, size_t copy,
                                 const struct roof_served *request, struct roof_error *error)
{
    return roof_scheduler_put(c->copy[copy], request, error);
}

size_t roof_copies_stepping(const struct roof_copies *c)
{
    return c->steps;
}

size_t roof_copies_present(const struct roof_copies *c, size_t copy)
{
    return roof_scheduler_present(c->copy[copy]);
}

static enum roof_status run_copy(struct roof_copies *c, size_t copy, double until_s,
                                 struct roof_error *error)
{
    c->steps = copy;
    const enum roof_status status = roof_scheduler_run(c->copy[copy], until_s, error);
    c->steps = NONE;
    return status;
}

/* Finds the copy that has work first, and the time of the second one; NONE: no copy has work. */
static size_t first_to_wake(double *next_s, const struct roof_copies *c)
{
    size_t found = NONE;
    double least = HUGE_VAL;
    *next_s = HUGE_VAL;
    for (size_t i = 0; i < c->count; i++) {
        const double wakes = roof_scheduler_wakes(c->copy[i]);
        if (roof_scheduler_present(c->copy[i]) == 0) {
            continue;
        }
        if (wakes < least) {
            *next_s = least;
            least = wakes;
            found = i;
        } else {
            *next_s = fmin(*next_s, wakes);
        }
    }
    return found;
}

double roof_copies_wakes(const struct roof_copies *c)
{
    double next = 0;
    const size_t first = first_to_wake(&next, c);
    return first == NONE ? HUGE_VAL : roof_scheduler_wakes(c->copy[first]);
}

enum roof_status roof_copies_run(struct roof_copies *c, double until_s, struct roof_error *error)
{
    if (isfinite(until_s)) {
        for (size_t i = 0; i < c->count; i++) {
            TRY(run_copy(c, i, until_s, error));
        }
        return ROOF_OK;
    }
    double next = 0;
    size_t copy = first_to_wake(&next, c);
    while (copy != NONE) {
        const double step = nextafter(roof_scheduler_wakes(c->copy[copy]), HUGE_VAL);
        TRY(run_copy(c, copy, fmax(next, step), error));
        copy = first_to_wake(&next, c);
    }
    return ROOF_OK;
}

size_t roof_copies_waiting(const struct roof_copies *c)
{
    size_t waiting = 0;
    for (size_t i = 0; i < c->count; i++) {
        waiting += roof_scheduler_waiting(c->copy[i]);
    }
    return waiting;
}

double roof_copies_clock(const struct roof_copies *c)
{
    double clock = 0;
    for (size_t i = 0; i < c->count; i++) {
        clock = fmax(clock, roof_scheduler_clock(c->copy[i]));
    }
    return clock;
}

void roof_copies_sums(struct roof_scheduler_sums *out, const struct roof_copies *c)
{
    *out = *roof_scheduler_sums(c->copy[0]);
    for (size_t i = 1; i < c->count; i++) {
        const struct roof_scheduler_sums *const s = roof_scheduler_sums(c->copy[i]);
        out->busy_s += s->busy_s;
        out->running_s += s->running_s;
        out->waiting_s += s->waiting_s;
        out->blocks_s += s->blocks_s;
        out->tokens_s += s->tokens_s;
        out->budget_s += s->budget_s;
        out->memory_s += s->memory_s;
        out->sequences_s += s->sequences_s;
        out->steps += s->steps;
        out->preemptions += s->preemptions;
        out->finished += s->finished;
        out->decodes += s->decodes;
        out->decoded += s->decoded;
    }
}
