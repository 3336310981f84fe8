// SPDX-License-Identifier: MIT
/* The changes of a sequence: it is admitted, decodes, may be preempted, and ends. */
#include <math.h>

#include "base/base.h"
#include "simulate/scheduler_parts.h"

/* --- the heap of ends ---------------------------------------------------------------------- */

static void place(struct roof_scheduler *s, struct group *g, size_t at, size_t sequence)
{
    g->heap[at] = sequence;
    s->sequence[sequence].heap = at;
}

static void sift_up(struct roof_scheduler *s, struct group *g, size_t at)
{
    const size_t moved = g->heap[at];
    while (at > 0 && end_at(s, g, (at - 1) / 2) > s->sequence[moved].end) {
        place(s, g, at, g->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(s, g, at, moved);
}

static void sift_down(struct roof_scheduler *s, struct group *g, size_t at)
{
    const size_t moved = g->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < g->decoding && end_at(s, g, child + 1) < end_at(s, g, child)) {
            child++;
        }
        if (child >= g->decoding || end_at(s, g, child) >= s->sequence[moved].end) {
            break;
        }
        place(s, g, at, g->heap[child]);
        at = child;
    }
    place(s, g, at, moved);
}

static void remove_from_heap(struct roof_scheduler *s, struct group *g, size_t sequence)
{
    const size_t at = s->sequence[sequence].heap;
    const size_t moved = g->heap[--g->decoding];
    s->sequence[sequence].heap = NONE;
    if (at < g->decoding) {
        place(s, g, at, moved);
        sift_up(s, g, at);
        sift_down(s, g, s->sequence[moved].heap);
    }
}

/* --- the cache ----------------------------------------------------------------------------- */

/* Returns the rounds, modulo the tokens of a block, in which a decoding sequence starts a block. */
static size_t boundary_of(const struct sequence *q)
{
    return (size_t)((q->begun - q->prefilled) & (ROOF_BLOCK_TOKENS - 1));
}

/* --- the longest context ------------------------------------------------------------------- */

/* Returns how far a decoding sequence is ahead of the rounds of its group, which does not change:
 * each round adds a token. */
static int64_t ahead_of(const struct sequence *q)
{
    return q->prefilled - q->begun;
}

/* Finds the sequence that is furthest ahead. */
static void find_ahead(const struct roof_scheduler *s, struct group *g)
{
    g->ahead = INT64_MIN;
    for (size_t i = 0; i < g->decoding; i++) {
        const int64_t ahead = ahead_of(&s->sequence[g->heap[i]]);
        g->ahead = ahead > g->ahead ? ahead : g->ahead;
    }
}

double roof_sequences_longest(const struct roof_scheduler *s, const struct group *g)
{
    int64_t longest = 0;
    if (!s->waits || g->decoding == 0) {
        return 0;
    }
    if (s->limits.drafts.tokens == 0) {
        return (double)(g->ahead + g->round + 1);
    }
    for (size_t i = 0; i < g->decoding; i++) {
        const int64_t tokens = tokens_held(s, &s->sequence[g->heap[i]]);
        longest = tokens > longest ? tokens : longest;
    }
    return (double)(longest + 1);
}

/* --- sequences ----------------------------------------------------------------------------- */

void roof_sequences_settle(struct roof_scheduler *s)
{
    s->free += s->cache == NULL ? 0 : roof_prefix_cache_settle(s->cache);
}

/* Removes a sequence from all lists. */
static void release(struct roof_scheduler *s, size_t number)
{
    struct sequence *const q = &s->sequence[number];
    const int64_t tokens = tokens_held(s, q);
    s->free += (q->room > 0 ? q->room : blocks_of(tokens)) - q->named;
    s->promised -= blocks_at_end(&s->limits, q->request.prompt, q->request.generate);
    if (q->named > 0) {
        roof_prefix_cache_leave(s->cache, q->request.ids, q->named, q->admission);
    }
    if (q->heap != NONE) {
        struct group *const g = &s->group[q->group];
        g->contexts -= (double)(tokens + 1);
        g->boundary[boundary_of(q)]--;
        remove_from_heap(s, g, number);
        if (s->waits && ahead_of(q) == g->ahead) {
            find_ahead(s, g);
        }
    }
    if (q->group != NONE) {
        s->group[q->group].full = false;
    }
    if (q->before != NONE) {
        s->sequence[q->before].after = q->after;
    }
    if (q->after != NONE) {
        s->sequence[q->after].before = q->before;
    }
    s->last = s->last == number ? q->before : s->last;
    if (s->rank[q->rank].partial == number) {
        s->rank[q->rank].partial = NONE;
        s->partials--;
    }
    s->running--;
    s->spare[s->spares++] = number;
}

enum roof_status roof_sequence_preempt(struct roof_scheduler *s, size_t number,
                                       struct roof_error *error)
{
    struct sequence *const q = &s->sequence[number];
    const bool last = keeps_room(s) && q->heap != NONE;
    q->request.done += tokens_held(s, q) - q->prefilled;
    q->request.preemptions++;
    q->request.has_cache = false;
    s->sums.preemptions++;
    const struct roof_served request = q->request;
    release(s, number);
    roof_sequences_settle(s);
    s->waiting_blocks += blocks_of(request.prompt);
    s->waiting_tokens += waiting_tokens_of(s, &request);
    return last ? roof_request_queue_put_known(&s->queue, &request, s->seen_s, error)
                : roof_request_queue_put_first(&s->queue, &request, error);
}

enum roof_status roof_sequence_finish(struct roof_scheduler *s, size_t number,
                                      struct roof_error *error)
{
    struct roof_served served = s->sequence[number].request;
    served.last_s = s->clock_s;
    served.done = served.generate;
    release(s, number);
    s->sums.finished++;
    return s->on_served(s->context, &served, error);
}

void roof_sequence_decode(struct roof_scheduler *s, size_t number)
{
    struct sequence *const q = &s->sequence[number];
    struct group *const g = &s->group[q->group];
    q->begun = g->round;
    q->end = g->round + q->request.generate - q->request.done;
    if (s->limits.drafts.tokens > 0) {
        q->end = INT64_MAX;
        q->room = blocks_of(q->prefilled);
    }
    g->contexts += (double)(q->prefilled + 1);
    g->boundary[boundary_of(q)]++;
    place(s, g, g->decoding++, number);
    sift_up(s, g, g->decoding - 1);
    g->ahead = g->decoding == 1 || ahead_of(q) > g->ahead ? ahead_of(q) : g->ahead;
}

size_t roof_sequence_admit(struct roof_scheduler *s, int64_t cached)
{
    const size_t number = s->spare[--s->spares];
    struct sequence *const q = &s->sequence[number];
    *q = (struct sequence){.prefilled = cached,
                           .group = NONE,
                           .heap = NONE,
                           .before = s->last,
                           .after = NONE,
                           .admission = s->admissions++};
    roof_request_queue_take(&q->request, &s->queue);
    q->prefill = q->request.prompt + q->request.done;
    s->waiting_blocks -= blocks_of(q->request.prompt);
    s->waiting_tokens -= waiting_tokens_of(s, &q->request);
    s->promised += blocks_at_end(&s->limits, q->request.prompt, q->request.generate);
    if (isnan(q->request.scheduled_s)) {
        q->request.scheduled_s = s->clock_s;
        q->request.cached = cached;
    }
    if (s->last != NONE) {
        s->sequence[s->last].after = number;
    }
    s->last = number;
    s->running++;
    return number;
}
