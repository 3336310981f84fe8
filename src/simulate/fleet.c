// SPDX-License-Identifier: MIT
#include "simulate/fleet.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/grow.h"
#include "base/quantity.h"

/* A timed event of a request. */
struct event {
    double time_s;
    size_t copy; /* the copy of its prefill, or the one that decodes it */
    struct roof_served request;
};

/* A heap of events: the earliest is at the top; of simultaneous ones, that of the lowest request
 * number. */
struct events {
    struct event *event; /* owned */
    size_t count;
    size_t room;
};

struct roof_fleet {
    struct roof_copies *copies;
    struct roof_copies *prefills; /* NULL: all copies are of one kind */
    struct roof_fleet_inputs in;
    roof_on_served *on_served;
    void *context;
    struct events arrivals; /* requests that will arrive */
    struct events ends;     /* prefills that will end */
    struct events moves;    /* caches that will arrive */
    double *send_free_s;    /* when each lane becomes free; the lanes of a copy are adjacent */
    double *receive_free_s;
    size_t *coming; /* requests in transfer to each decode copy */
    size_t next;    /* the decode copy whose turn is next */
    struct roof_prefill_sums sums;
    double moving_s;  /* time integral of the requests in transfer */
    double waiting_s; /* total wait for the link */
};

/* --- events -------------------------------------------------------------------------------- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time_s < b->time_s ||
           (a->time_s == b->time_s && a->request.number < b->request.number);
}

static enum roof_status add_event(struct events *list, const struct event *event,
                                  struct roof_error *error)
{
    if (list->count == list->room) {
        struct event *const grown = roof_grow(list->event, &list->room, 64, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        list->event = grown;
    }
    size_t at = list->count++;
    while (at > 0 && is_before(event, &list->event[(at - 1) / 2])) {
        list->event[at] = list->event[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    list->event[at] = *event;
    return ROOF_OK;
}

static void take_event(struct event *out, struct events *list)
{
    const struct event moved = list->event[--list->count];
    size_t at = 0;
    *out = list->event[0];
    for (size_t child = 1; child < list->count; child = 2 * at + 1) {
        if (child + 1 < list->count && is_before(&list->event[child + 1], &list->event[child])) {
            child++;
        }
        if (!is_before(&list->event[child], &moved)) {
            break;
        }
        list->event[at] = list->event[child];
        at = child;
    }
    list->event[at] = moved;
}

static double first_of(const struct events *list)
{
    return list->count == 0 ? HUGE_VAL : list->event[0].time_s;
}

/* --- the link ------------------------------------------------------------------------------ */

/* Returns the requests of a decode copy, including those in transfer to it; always 0 for round
 * robin. */
static size_t requests_of(const struct roof_fleet *f, size_t copy)
{
    return f->in.router == ROOF_ROUTER_ROUND_ROBIN
               ? 0
               : roof_copies_present(f->copies, copy) + f->coming[copy];
}

/* Returns the copy that decodes a prompt: the one with the fewest requests; ties go to the next in
 * turn. */
static size_t choose(struct roof_fleet *f)
{
    size_t found = f->next;
    for (size_t i = 1; i < f->in.copies; i++) {
        const size_t copy = (f->next + i) % f->in.copies;
        found = requests_of(f, copy) < requests_of(f, found) ? copy : found;
    }
    f->next = (found + 1) % f->in.copies;
    return found;
}

/* Returns the lane of a copy that is free first. */
static double *lane_of(double *free_s, size_t copy, size_t lanes)
{
    double *const first = free_s + copy * lanes;
    double *found = first;
    for (size_t i = 1; i < lanes; i++) {
        found = first[i] < *found ? first + i : found;
    }
    return found;
}

/* Rounds the end of a transfer to the nearest nanosecond, but not below its begin. Transfers that
 * end together then do so in spite of rounding errors. */
static double end_of(double begin, double time)
{
    return fmax(begin, floor((begin + time) * 1e9 + 0.5) / 1e9);
}

/* Sends the cache of a prompt when both ends have a free lane. */
static enum roof_status send(struct roof_fleet *f, struct roof_error *error)
{
    const struct roof_transfer *const way = &f->in.prefills->transfer;
    struct event e;
    take_event(&e, &f->ends);
    const double tokens = (double)e.request.prompt;
    const size_t to = choose(f);
    double *const sender = lane_of(f->send_free_s, e.copy, way->senders);
    double *const receiver = lane_of(f->receive_free_s, to, way->receivers);
    const double begin = fmax(e.time_s, fmax(*sender, *receiver));
    const double moved = end_of(begin, way->send_s * tokens);
    *sender = moved;
    *receiver = end_of(begin, way->receive_s * tokens);
    f->coming[to]++;
    e.copy = to;
    e.time_s = e.request.ready_s = e.request.moved_s = moved;
    return add_event(&f->moves, &e, error);
}

/* Adds a finished transfer to the sums. */
static void count_transfer(struct roof_fleet *f, const struct roof_served *r)
{
    const struct roof_transfer *const way = &f->in.prefills->transfer;
    const double tokens = (double)r->prompt;
    const double all = r->moved_s - r->prefilled_s;
    f->sums.sends_s += way->send_s * tokens;
    f->sums.receives_s += way->receive_s * tokens;
    f->sums.transfer_s += all;
    f->sums.transfers++;
    if (f->in.limits->timeline != NULL) {
        static const struct roof_moment waits = {.waiting = 1};
        static const struct roof_moment moves = {.running = 1};
        const double moving = way->send_s * tokens;
        roof_timeline_add(f->in.limits->timeline, r->prefilled_s, all - moving, &waits);
        roof_timeline_add(f->in.limits->timeline, r->moved_s - moving, moving, &moves);
    }
    f->moving_s += way->send_s * tokens;
    f->waiting_s += all - way->send_s * tokens;
}

/* Gives a request whose cache has arrived to its decode copy, unless its only token is done. */
static enum roof_status receive(struct roof_fleet *f, struct roof_error *error)
{
    const struct roof_transfer *const way = &f->in.prefills->transfer;
    struct event e;
    take_event(&e, &f->moves);
    f->coming[e.copy]--;
    count_transfer(f, &e.request);
    if (!way->again) {
        e.request.first_s = e.time_s;
        e.request.done = 1;
        if (e.request.generate == 1) {
            e.request.last_s = e.time_s;
            return f->on_served(f->context, &e.request, error);
        }
    }
    e.request.has_cache = true;
    return roof_copies_put(f->copies, e.copy, &e.request, error);
}

/* Takes over a prompt from the copy that prefilled it. */
static enum roof_status on_prefilled(void *context, const struct roof_served *served,
                                     struct roof_error *error)
{
    struct roof_fleet *const f = context;
    struct event e = {
        .time_s = served->last_s, .copy = roof_copies_stepping(f->prefills), .request = *served};
    e.request.generate += served->elsewhere;
    e.request.elsewhere = 0;
    e.request.done = 0;
    e.request.prefilled_s = served->last_s;
    e.request.first_s = e.request.last_s = ROOF_UNKNOWN;
    return add_event(&f->ends, &e, error);
}

static enum roof_status arrive(struct roof_fleet *f, struct roof_error *error)
{
    struct event e;
    take_event(&e, &f->arrivals);
    const struct roof_arrival request = {.time_s = e.time_s,
                                         .prompt = e.request.prompt,
                                         .generate = 1,
                                         .elsewhere = e.request.generate - 1,
                                         .ids = e.request.ids};
    return roof_copies_push(f->prefills, e.request.number, &request, error);
}

/* --- time ---------------------------------------------------------------------------------- */

/* Runs the earliest event before a time; *done is true if there is none. At the same time, arrivals
 * of requests come first, then caches, and then ends of prefills. */
static enum roof_status advance(bool *done, struct roof_fleet *f, double until_s,
                                struct roof_error *error)
{
    const double arrives = first_of(&f->arrivals);
    const double moves = first_of(&f->moves);
    const double event = fmin(arrives, fmin(moves, first_of(&f->ends)));
    const double prefills = roof_copies_wakes(f->prefills);
    const double decodes = roof_copies_wakes(f->copies);
    const double steps = fmin(prefills, decodes);
    *done = fmin(event, steps) >= until_s;
    if (*done) {
        return ROOF_OK;
    }
    if (event <= steps) {
        return arrives <= event ? arrive(f, error)
               : moves <= event ? receive(f, error)
                                : send(f, error);
    }
    /* A step that begins now ends later, so that it cannot affect the other events. */
    const bool one = f->in.closed; /* the end of a request may let another one arrive */
    const double next = nextafter(steps, HUGE_VAL);
    return prefills <= decodes
               ? roof_copies_run(f->prefills, one ? next : fmin(until_s, arrives), error)
               : roof_copies_run(f->copies, one ? next : fmin(fmin(until_s, event), prefills),
                                 error);
}

enum roof_status roof_fleet_run(struct roof_fleet *f, double until_s, struct roof_error *error)
{
    bool done = false;
    if (f->prefills == NULL) {
        return roof_copies_run(f->copies, until_s, error);
    }
    while (!done) {
        TRY(advance(&done, f, until_s, error));
    }
    return ROOF_OK;
}

/* --- life ---------------------------------------------------------------------------------- */

static enum roof_status open_prefills(struct roof_fleet *f, struct roof_error *error)
{
    const struct roof_prefills *const p = f->in.prefills;
    f->send_free_s = calloc(p->copies * p->transfer.senders, sizeof *f->send_free_s);
    f->receive_free_s = calloc(f->in.copies * p->transfer.receivers, sizeof *f->receive_free_s);
    f->coming = calloc(f->in.copies, sizeof *f->coming);
    if (f->send_free_s == NULL || f->receive_free_s == NULL || f->coming == NULL) {
        return roof_no_memory(error);
    }
    return roof_copies_open(&f->prefills, p->copies, f->in.router, &p->limits, p->table,
                            on_prefilled, f, error);
}

enum roof_status roof_fleet_open(struct roof_fleet **out, const struct roof_fleet_inputs *inputs,
                                 roof_on_served *on_served, void *context, struct roof_error *error)
{
    struct roof_fleet *const f = calloc(1, sizeof *f);
    *out = f;
    if (f == NULL) {
        return roof_no_memory(error);
    }
    f->in = *inputs;
    f->on_served = on_served;
    f->context = context;
    /* Users of a closed loop stay at their first copy, so that all copies serve equal numbers of
     * users. */
    const bool stay = inputs->closed && inputs->prefills == NULL;
    const enum roof_router router = stay && inputs->router == ROOF_ROUTER_LEAST_LOADED
                                        ? ROOF_ROUTER_ROUND_ROBIN
                                        : inputs->router;
    enum roof_status status = roof_copies_open(&f->copies, inputs->copies, router, inputs->limits,
                                               inputs->table, on_served, context, error);
    if (status == ROOF_OK && inputs->prefills != NULL) {
        status = open_prefills(f, error);
    }
    if (status != ROOF_OK) {
        roof_fleet_free(f);
        *out = NULL;
    }
    return status;
}

void roof_fleet_free(struct roof_fleet *f)
{
    if (f != NULL) {
        roof_copies_free(f->copies);
        roof_copies_free(f->prefills);
        free(f->arrivals.event);
        free(f->ends.event);
        free(f->moves.event);
        free(f->send_free_s);
        free(f->receive_free_s);
        free(f->coming);
        free(f);
    }
}

bool roof_fleet_fits(const struct roof_fleet *f, int64_t prompt, int64_t generate)
{
    return roof_copies_fits(f->copies, prompt, generate) &&
           (f->prefills == NULL || roof_copies_fits(f->prefills, prompt, 1));
}

enum roof_status roof_fleet_push(struct roof_fleet *f, uint64_t number,
                                 const struct roof_arrival *request, struct roof_error *error)
{
    if (f->prefills == NULL) {
        return roof_copies_push(f->copies, number, request, error);
    }
    const struct event e = {.time_s = request->time_s,
                            .request = {.number = number,
                                        .prompt = request->prompt,
                                        .generate = request->generate,
                                        .ids = request->ids}};
    return add_event(&f->arrivals, &e, error);
}

/* --- sums ---------------------------------------------------------------------------------- */

size_t roof_fleet_waiting(const struct roof_fleet *f)
{
    const size_t waiting = roof_copies_waiting(f->copies);
    return f->prefills == NULL ? waiting
                               : waiting + roof_copies_waiting(f->prefills) + f->arrivals.count +
                                     f->ends.count + f->moves.count;
}

double roof_fleet_clock(const struct roof_fleet *f)
{
    const double clock = roof_copies_clock(f->copies);
    return f->prefills == NULL ? clock : fmax(clock, roof_copies_clock(f->prefills));
}

void roof_fleet_sums(struct roof_scheduler_sums *out, const struct roof_fleet *f)
{
    struct roof_scheduler_sums prefills;
    roof_copies_sums(out, f->copies);
    if (f->prefills != NULL) {
        roof_copies_sums(&prefills, f->prefills);
        out->running_s += prefills.running_s + f->moving_s;
        out->waiting_s += prefills.waiting_s + f->waiting_s;
        out->preemptions += prefills.preemptions;
    }
}

void roof_fleet_prefill_sums(struct roof_prefill_sums *out, const struct roof_fleet *f)
{
    struct roof_scheduler_sums prefills;
    *out = f->sums;
    if (f->prefills != NULL) {
        roof_copies_sums(&prefills, f->prefills);
        out->busy_s = prefills.busy_s;
        out->budget_s = prefills.budget.time_s;
    }
}
