// SPDX-License-Identifier: MIT
#include "simulate/scheduler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

#define NONE SIZE_MAX
/* Steps between two questions whether the work is to end. */
#define STEPS_UNASKED 1024

/* A sequence that runs. */
struct sequence {
    struct roof_served request;
    int64_t prefill;   /* tokens that this run of it prefills, cached ones included */
    int64_t prefilled; /* of these so far */
    int64_t begun;     /* the round of its first decode step */
    int64_t end;       /* the round after its last one */
    size_t heap;       /* its place in the heap; NONE: it does not decode */
    size_t before;     /* the sequence that was admitted before it; NONE: it is the first */
    size_t after;
};

/* Requests that wait, in a ring: those that were preempted are put at its front. */
struct queue {
    struct roof_served *request;
    size_t room; /* a power of two */
    size_t first;
    size_t count;
};

struct roof_scheduler {
    struct roof_scheduler_limits limits;
    struct roof_step_table *table;
    roof_on_served *on_served;
    void *context;
    struct roof_scheduler_sums sums;
    double clock_s;
    uint64_t asked; /* calls of step */
    int64_t round;  /* steps with sequences that decode, so far */
    int64_t free;   /* blocks */
    struct sequence *sequence;
    size_t *spare; /* numbers of sequences that do not run */
    size_t spares;
    size_t *heap; /* those that decode, by their ends */
    size_t decoding;
    size_t *complete; /* those whose prompt ends in the step */
    size_t completes;
    size_t running;
    size_t last;     /* the sequence that was admitted last */
    size_t partial;  /* the one whose prompt is prefilled in part; NONE: none is */
    double contexts; /* of the next decode step, over all sequences */
    int64_t boundary[ROOF_BLOCK_TOKENS]; /* sequences that need a block in round r, by r mod 16 */
    struct queue queue;
};

/* --- the queue ----------------------------------------------------------------------------- */

static enum roof_status grow_queue(struct queue *q, struct roof_error *error)
{
    const size_t room = q->room == 0 ? 64 : 2 * q->room;
    struct roof_served *const more = malloc(room * sizeof *more);
    if (more == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < q->count; i++) {
        more[i] = q->request[(q->first + i) & (q->room - 1)];
    }
    free(q->request);
    q->request = more;
    q->room = room;
    q->first = 0;
    return ROOF_OK;
}

static enum roof_status put_last(struct queue *q, const struct roof_served *request,
                                 struct roof_error *error)
{
    if (q->count == q->room) {
        TRY(grow_queue(q, error));
    }
    q->request[(q->first + q->count++) & (q->room - 1)] = *request;
    return ROOF_OK;
}

static enum roof_status put_first(struct queue *q, const struct roof_served *request,
                                  struct roof_error *error)
{
    if (q->count == q->room) {
        TRY(grow_queue(q, error));
    }
    q->first = (q->first - 1) & (q->room - 1);
    q->request[q->first] = *request;
    q->count++;
    return ROOF_OK;
}

/* --- the heap of ends ---------------------------------------------------------------------- */

static void place(struct roof_scheduler *s, size_t at, size_t sequence)
{
    s->heap[at] = sequence;
    s->sequence[sequence].heap = at;
}

static int64_t end_at(const struct roof_scheduler *s, size_t at)
{
    return s->sequence[s->heap[at]].end;
}

static void sift_up(struct roof_scheduler *s, size_t at)
{
    const size_t moved = s->heap[at];
    while (at > 0 && end_at(s, (at - 1) / 2) > s->sequence[moved].end) {
        place(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(s, at, moved);
}

static void sift_down(struct roof_scheduler *s, size_t at)
{
    const size_t moved = s->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < s->decoding && end_at(s, child + 1) < end_at(s, child)) {
            child++;
        }
        if (child >= s->decoding || end_at(s, child) >= s->sequence[moved].end) {
            break;
        }
        place(s, at, s->heap[child]);
        at = child;
    }
    place(s, at, moved);
}

static void remove_from_heap(struct roof_scheduler *s, size_t sequence)
{
    const size_t at = s->sequence[sequence].heap;
    const size_t moved = s->heap[--s->decoding];
    s->sequence[sequence].heap = NONE;
    if (at < s->decoding) {
        place(s, at, moved);
        sift_up(s, at);
        sift_down(s, s->sequence[moved].heap);
    }
}

/* --- the cache ----------------------------------------------------------------------------- */

static int64_t blocks_of(int64_t tokens)
{
    return (tokens + ROOF_BLOCK_TOKENS - 1) / ROOF_BLOCK_TOKENS;
}

/* Returns the tokens of a sequence that the cache holds. */
static int64_t held(const struct roof_scheduler *s, const struct sequence *q)
{
    return q->heap == NONE ? q->prefilled : q->prefilled + s->round - q->begun;
}

/* Returns the rounds, modulo a block, in which a sequence that decodes begins a block. */
static size_t boundary_of(const struct sequence *q)
{
    return (size_t)((q->begun - q->prefilled) & (ROOF_BLOCK_TOKENS - 1));
}

/* --- sequences ----------------------------------------------------------------------------- */

/* Takes a sequence out of all lists. */
static void release(struct roof_scheduler *s, size_t number)
{
    struct sequence *const q = &s->sequence[number];
    const int64_t tokens = held(s, q);
    s->free += blocks_of(tokens);
    if (q->heap != NONE) {
        s->contexts -= (double)(tokens + 1);
        s->boundary[boundary_of(q)]--;
        remove_from_heap(s, number);
    }
    if (q->before != NONE) {
        s->sequence[q->before].after = q->after;
    }
    if (q->after != NONE) {
        s->sequence[q->after].before = q->before;
    }
    s->last = s->last == number ? q->before : s->last;
    s->partial = s->partial == number ? NONE : s->partial;
    s->running--;
    s->spare[s->spares++] = number;
}

/* Puts the sequence that was admitted last back to the front of the queue: it is computed again,
 * with the tokens that it has generated. */
static enum roof_status preempt(struct roof_scheduler *s, struct roof_error *error)
{
    struct sequence *const q = &s->sequence[s->last];
    if (q->heap != NONE) {
        q->request.done += s->round - q->begun;
    }
    q->request.preemptions++;
    s->sums.preemptions++;
    const struct roof_served request = q->request;
    release(s, s->last);
    return put_first(&s->queue, &request, error);
}

static enum roof_status finish(struct roof_scheduler *s, size_t number, struct roof_error *error)
{
    struct roof_served served = s->sequence[number].request;
    served.last_s = s->clock_s;
    served.done = served.generate;
    release(s, number);
    s->sums.finished++;
    return s->on_served(s->context, &served, error);
}

/* Lets a sequence decode from the next step on. */
static void begin_decode(struct roof_scheduler *s, size_t number)
{
    struct sequence *const q = &s->sequence[number];
    q->begun = s->round;
    q->end = s->round + q->request.generate - q->request.done;
    s->contexts += (double)(q->prefilled + 1);
    s->boundary[boundary_of(q)]++;
    place(s, s->decoding++, number);
    sift_up(s, s->decoding - 1);
}

/* Takes the first request of the queue into the list of those that run. */
static size_t admit(struct roof_scheduler *s, int64_t cached)
{
    const size_t number = s->spare[--s->spares];
    struct sequence *const q = &s->sequence[number];
    struct queue *const queue = &s->queue;
    *q = (struct sequence){.request = queue->request[queue->first],
                           .prefilled = cached,
                           .heap = NONE,
                           .before = s->last,
                           .after = NONE};
    q->prefill = q->request.prompt + q->request.done;
    queue->first = (queue->first + 1) & (queue->room - 1);
    queue->count--;
    if (isnan(q->request.scheduled_s)) {
        q->request.scheduled_s = s->clock_s;
    }
    if (s->last != NONE) {
        s->sequence[s->last].after = number;
    }
    s->last = number;
    s->running++;
    return number;
}

/* --- a step -------------------------------------------------------------------------------- */

/* The prompts of a step. */
struct prompts {
    int64_t budget; /* tokens that may still be added */
    int64_t tokens;
    double contexts; /* of all these tokens */
    bool preempted;
    bool memory; /* the cache had no room for more */
};

/* Adds the next tokens of a prompt to the step. */
static void add_chunk(struct roof_scheduler *s, struct prompts *p, size_t number, int64_t tokens)
{
    struct sequence *const q = &s->sequence[number];
    s->free -= blocks_of(q->prefilled + tokens) - blocks_of(q->prefilled);
    p->contexts += (double)tokens * ((double)q->prefilled + ((double)tokens + 1) / 2);
    p->tokens += tokens;
    p->budget -= tokens;
    q->prefilled += tokens;
    s->partial = q->prefilled < q->prefill ? number : NONE;
    if (s->partial == NONE) {
        s->complete[s->completes++] = number;
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Makes room for the next token of all sequences that decode. */
static enum roof_status make_room(struct roof_scheduler *s, struct prompts *p,
                                  struct roof_error *error)
{
    const size_t here = (size_t)(s->round & (ROOF_BLOCK_TOKENS - 1));
    while (s->boundary[here] > s->free) {
        p->preempted = true;
        TRY(preempt(s, error));
    }
    s->free -= s->boundary[here];
    return ROOF_OK;
}

/* Goes on with the prompt that was prefilled in part. */
static enum roof_status go_on(struct roof_scheduler *s, struct prompts *p, struct roof_error *error)
{
    if (s->partial == NONE || p->budget <= 0) {
        return ROOF_OK;
    }
    const struct sequence *const q = &s->sequence[s->partial];
    const int64_t tokens = least(q->prefill - q->prefilled, p->budget);
    if (blocks_of(q->prefilled + tokens) - blocks_of(q->prefilled) > s->free) {
        p->preempted = true;
        return preempt(s, error); /* it was admitted last */
    }
    add_chunk(s, p, s->partial, tokens);
    return ROOF_OK;
}

static int64_t cached_of(const struct roof_scheduler *s, int64_t prompt)
{
    return prompt - roof_uncached(prompt, s->limits.prefix_hit);
}

/* Admits requests while all limits allow it. */
static void admit_all(struct roof_scheduler *s, struct prompts *p)
{
    while (!p->preempted && s->partial == NONE && s->queue.count > 0 && p->budget > 0 &&
           s->spares > 0) {
        const struct roof_served *const next = &s->queue.request[s->queue.first];
        if (next->arrival_s + s->limits.overhead_s > s->clock_s) {
            return;
        }
        const int64_t cached = cached_of(s, next->prompt);
        const int64_t tokens = least(next->prompt + next->done - cached, p->budget);
        if (blocks_of(cached + tokens) > s->free) {
            p->memory = true;
            return;
        }
        s->free -= blocks_of(cached);
        add_chunk(s, p, admit(s, cached), tokens);
    }
}

/* Adds the step that takes a time to the sums, with the limit that kept requests waiting. */
static void count_step(struct roof_scheduler *s, const struct prompts *p, double time)
{
    struct roof_scheduler_sums *const sums = &s->sums;
    sums->steps++;
    sums->busy_s += time;
    sums->running_s += time * (double)s->running;
    sums->waiting_s += time * (double)s->queue.count;
    sums->blocks_s += time * (double)(s->limits.blocks - s->free);
    sums->tokens_s += p->tokens > 0 ? time : 0;
    if (p->memory || p->preempted) {
        sums->memory_s += time;
    } else if (s->queue.count > 0 && s->spares == 0) {
        sums->sequences_s += time;
    } else if (p->budget <= 0 && (s->partial != NONE || s->queue.count > 0)) {
        sums->budget_s += time;
    }
}

/* Ends the step for those that decoded, and then for the prompts that are complete. */
static enum roof_status end_step(struct roof_scheduler *s, struct roof_error *error)
{
    if (s->decoding > 0) {
        s->round++;
        s->contexts += (double)s->decoding;
    }
    while (s->decoding > 0 && end_at(s, 0) <= s->round) {
        TRY(finish(s, s->heap[0], error));
    }
    for (size_t i = 0; i < s->completes; i++) {
        struct roof_served *const request = &s->sequence[s->complete[i]].request;
        request->first_s = isnan(request->first_s) ? s->clock_s : request->first_s;
        if (++request->done >= request->generate) {
            TRY(finish(s, s->complete[i], error));
        } else {
            begin_decode(s, s->complete[i]);
        }
    }
    return ROOF_OK;
}

static enum roof_status step(struct roof_scheduler *s, struct roof_error *error)
{
    const int64_t decode = s->limits.budget_has_decode ? (int64_t)s->decoding : 0;
    struct prompts p = {.budget = s->limits.budget - decode};
    double time = 0;
    s->completes = 0;
    if (s->limits.blocks > 0) {
        TRY(make_room(s, &p, error));
    }
    TRY(go_on(s, &p, error));
    admit_all(s, &p);
    struct roof_step_load load = {.decoding = (double)s->decoding, .tokens = (double)p.tokens};
    load.context = s->decoding > 0 ? s->contexts / load.decoding : 0;
    load.prompt_context = p.tokens > 0 ? p.contexts / load.tokens : 0;
    TRY(roof_step_time(&time, s->table, &load, error));
    time *= s->limits.scale;
    count_step(s, &p, time);
    s->clock_s += time;
    return end_step(s, error);
}

enum roof_status roof_scheduler_run(struct roof_scheduler *s, double until_s,
                                    struct roof_error *error)
{
    while (s->running > 0 || s->queue.count > 0) {
        if (s->running == 0) { /* nothing runs before the next request comes */
            const double next = s->queue.request[s->queue.first].arrival_s + s->limits.overhead_s;
            s->clock_s = fmax(s->clock_s, next);
        }
        if (s->clock_s >= until_s) {
            return ROOF_OK;
        }
        if (++s->asked % STEPS_UNASKED == 0) {
            TRY(roof_halt_check(&s->limits.halt, error));
        }
        TRY(step(s, error));
    }
    return ROOF_OK;
}

/* --- life ---------------------------------------------------------------------------------- */

static enum roof_status allocate(struct roof_scheduler *s, struct roof_error *error)
{
    const size_t most = (size_t)s->limits.sequences;
    s->sequence = calloc(most, sizeof *s->sequence);
    s->spare = calloc(most, sizeof *s->spare);
    s->heap = calloc(most, sizeof *s->heap);
    s->complete = calloc(most, sizeof *s->complete);
    if (s->sequence == NULL || s->spare == NULL || s->heap == NULL || s->complete == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < most; i++) {
        s->spare[s->spares++] = most - 1 - i;
    }
    return ROOF_OK;
}

enum roof_status roof_scheduler_open(struct roof_scheduler **out,
                                     const struct roof_scheduler_limits *limits,
                                     struct roof_step_table *table, roof_on_served *on_served,
                                     void *context, struct roof_error *error)
{
    struct roof_scheduler *const s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL) {
        return roof_no_memory(error);
    }
    s->limits = *limits;
    s->table = table;
    s->on_served = on_served;
    s->context = context;
    s->last = s->partial = NONE;
    s->free = limits->blocks > 0 ? limits->blocks : INT64_MAX / 2;
    const enum roof_status status = allocate(s, error);
    if (status != ROOF_OK) {
        roof_scheduler_free(s);
        return status;
    }
    *out = s;
    return ROOF_OK;
}

void roof_scheduler_free(struct roof_scheduler *s)
{
    if (s != NULL) {
        free(s->sequence);
        free(s->spare);
        free(s->heap);
        free(s->complete);
        free(s->queue.request);
        free(s);
    }
}

bool roof_scheduler_fits(const struct roof_scheduler *s, int64_t prompt, int64_t generate)
{
    return s->limits.blocks == 0 || blocks_of(prompt + generate - 1) <= s->limits.blocks;
}

enum roof_status roof_scheduler_push(struct roof_scheduler *s, uint64_t number, double arrival_s,
                                     int64_t prompt, int64_t generate, struct roof_error *error)
{
    const struct roof_served request = {.number = number,
                                        .arrival_s = arrival_s,
                                        .prompt = prompt,
                                        .generate = generate,
                                        .scheduled_s = ROOF_UNKNOWN,
                                        .first_s = ROOF_UNKNOWN,
                                        .last_s = ROOF_UNKNOWN};
    /* The step under way began without it. */
    s->sums.waiting_s += fmax(0, s->clock_s - arrival_s);
    return put_last(&s->queue, &request, error);
}

size_t roof_scheduler_waiting(const struct roof_scheduler *s)
{
    return s->queue.count;
}

size_t roof_scheduler_present(const struct roof_scheduler *s)
{
    return s->queue.count + s->running;
}

double roof_scheduler_use(const struct roof_scheduler *s)
{
    return s->limits.blocks == 0 ? ROOF_UNKNOWN : 1 - (double)s->free / (double)s->limits.blocks;
}

double roof_scheduler_clock(const struct roof_scheduler *s)
{
    return s->clock_s;
}

const struct roof_scheduler_sums *roof_scheduler_sums(const struct roof_scheduler *s)
{
    return &s->sums;
}
