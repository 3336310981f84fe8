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
    /* When each copy has work again, as a tree: node 1 is the root, the children of node i are 2 i
     * and 2 i + 1, and the leaves from node `leaves` on are the copies. A leaf without requests, or
     * without a copy, is HUGE_VAL; each other node is the least of its children. */
    double *wakes_s;
    size_t leaves; /* a power of two */
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
    c->leaves = 1;
    while (c->leaves < count) {
        c->leaves *= 2;
    }
    c->wakes_s = malloc(2 * c->leaves * sizeof *c->wakes_s);
    enum roof_status status =
        c->copy == NULL || c->wakes_s == NULL ? roof_no_memory(error) : ROOF_OK;
    for (size_t i = 0; status == ROOF_OK && i < 2 * c->leaves; i++) {
        c->wakes_s[i] = HUGE_VAL;
    }
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
        free(c->wakes_s);
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

/* Returns the copy whose turn is after that of `copy`. */
static size_t following(const struct roof_copies *c, size_t copy)
{
    return copy + 1 < c->count ? copy + 1 : 0;
}

/* Returns the copy for the next request: the least loaded one; ties go to the next in turn. */
static size_t route(struct roof_copies *c, const struct roof_arrival *request)
{
    size_t found = c->next;
    int64_t least = INT64_MAX;
    if (c->steps != NONE) {
        return c->steps;
    }
    size_t copy = c->next;
    for (size_t i = 0; i < c->count; i++, copy = following(c, copy)) {
        const int64_t burden = burden_of(c, copy, request);
        if (burden < least) {
            least = burden;
            found = copy;
        }
    }
    c->next = following(c, found);
    return found;
}

/* Notes when a copy has work again. */
static void note(struct roof_copies *c, size_t copy)
{
    const struct roof_scheduler *const s = c->copy[copy];
    size_t node = c->leaves + copy;
    c->wakes_s[node] = roof_scheduler_present(s) == 0 ? HUGE_VAL : roof_scheduler_wakes(s);
    for (node /= 2; node > 0; node /= 2) {
        const double *const child = &c->wakes_s[2 * node];
        const double least = child[0] <= child[1] ? child[0] : child[1];
        if (c->wakes_s[node] == least) {
            break;
        }
        c->wakes_s[node] = least;
    }
}

enum roof_status roof_copies_push(struct roof_copies *c, uint64_t number,
                                  const struct roof_arrival *request, struct roof_error *error)
{
    const size_t copy = route(c, request);
    TRY(roof_scheduler_push(c->copy[copy], number, request, error));
    note(c, copy);
    return ROOF_OK;
}

enum roof_status roof_copies_put(struct roof_copies *c, size_t copy,
                                 const struct roof_served *request, struct roof_error *error)
{
    TRY(roof_scheduler_put(c->copy[copy], request, error));
    note(c, copy);
    return ROOF_OK;
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
    note(c, copy);
    return status;
}

/* Finds the copy that has work first, and the time of the second one; NONE: no copy has work. */
static size_t first_to_wake(double *next_s, const struct roof_copies *c)
{
    const double *const wakes = c->wakes_s;
    size_t node = 1;
    *next_s = HUGE_VAL;
    while (node < c->leaves) {
        const size_t first = wakes[2 * node] <= wakes[2 * node + 1] ? 2 * node : 2 * node + 1;
        *next_s = fmin(*next_s, wakes[first ^ 1]);
        node = first;
    }
    return wakes[node] < HUGE_VAL ? node - c->leaves : NONE;
}

/* Finds the first copy from a number on that has work before a time; NONE: no copy does. */
static size_t first_before(const struct roof_copies *c, size_t from, double until_s)
{
    size_t node = c->leaves + from;
    if (from >= c->count) {
        return NONE;
    }
    while (!(c->wakes_s[node] < until_s)) { /* up, and to the right */
        while (node % 2 == 1) {
            node /= 2;
        }
        if (node == 0) {
            return NONE;
        }
        node++;
    }
    while (node < c->leaves) {
        node = c->wakes_s[2 * node] < until_s ? 2 * node : 2 * node + 1;
    }
    return node - c->leaves;
}

double roof_copies_wakes(const struct roof_copies *c)
{
    return c->wakes_s[1];
}

enum roof_status roof_copies_run(struct roof_copies *c, double until_s, struct roof_error *error)
{
    if (isfinite(until_s)) {
        /* A copy whose work begins later would do nothing. */
        for (size_t i = first_before(c, 0, until_s); i != NONE;
             i = first_before(c, i + 1, until_s)) {
            TRY(run_copy(c, i, until_s, error));
        }
        return ROOF_OK;
    }
    double next = 0;
    size_t copy = first_to_wake(&next, c);
    while (copy != NONE) {
        const double step = nextafter(c->wakes_s[c->leaves + copy], HUGE_VAL);
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

static void add_limit(struct roof_limit_sums *out, const struct roof_limit_sums *more)
{
    out->time_s += more->time_s;
    out->waiting_s += more->waiting_s;
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
        add_limit(&out->budget, &s->budget);
        add_limit(&out->memory, &s->memory);
        add_limit(&out->sequences, &s->sequences);
        out->steps += s->steps;
        out->preemptions += s->preemptions;
        out->finished += s->finished;
        out->decodes += s->decodes;
        out->decoded += s->decoded;
    }
}
