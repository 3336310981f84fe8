// SPDX-License-Identifier: MIT
#include "simulate/scheduler.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/quantity.h"
#include "simulate/scheduler_parts.h"

/* The number of steps between two calls that ask whether to stop. */
#define STEPS_UNASKED 1024

/* --- a step -------------------------------------------------------------------------------- */

/* The prompts of a step. */
struct prompts {
    int64_t budget; /* tokens that the rank with most room may still add to the step */
    int64_t tokens;
    double contexts; /* sum of the contexts of these tokens */
    double encoded;  /* prompts whose images are encoded */
    double decoding; /* sequences that arrived with their cache and decode at once */
    double decode_contexts;
    double decode_longest;
    bool preempted;
    bool memory; /* the cache has no room for more */
    bool again;  /* some of the tokens were computed before their request was preempted */
    double kept; /* tokens for which room is kept */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* This avoids fmax, a call that takes as long as the rest of a step. */
static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* Names the whole blocks of a prompt that are being computed, frees those that another sequence
 * also has, and evicts idle blocks that do not fit. */
static enum roof_status name_blocks(struct roof_scheduler *s, struct sequence *q,
                                    struct roof_error *error)
{
    const int64_t whole = least(q->prefilled, q->request.prompt) / ROOF_BLOCK_TOKENS;
    int64_t others = 0;
    if (q->request.ids != NULL) {
        TRY(roof_prefix_cache_use(&others, s->cache, q->request.ids, q->named, whole, error));
        q->named = whole;
        s->free += others;
    }
    roof_prefix_cache_evict(s->cache, s->free);
    return ROOF_OK;
}

/* Returns the rank whose step has room for most prompt tokens; the first one of several. */
static struct rank *roomiest(const struct roof_scheduler *s)
{
    struct rank *best = s->rank;
    for (size_t i = 1; i < s->ranks; i++) {
        best = s->rank[i].left > best->left ? &s->rank[i] : best;
    }
    return best;
}

/* Returns the largest share of a rank in some tokens of decoding sequences. */
static int64_t share_of_rank(const struct roof_scheduler *s, int64_t tokens)
{
    return s->ranks == 1 ? tokens : (tokens + (int64_t)s->ranks - 1) / (int64_t)s->ranks;
}

/* Adds the next tokens of a prompt to the step of a group, in a rank. */
static enum roof_status add_chunk(struct roof_scheduler *s, struct group *g, struct prompts *p,
                                  struct rank *rank, size_t number, int64_t tokens,
                                  struct roof_error *error)
{
    struct sequence *const q = &s->sequence[number];
    const bool partial = q->prefilled + tokens < q->prefill;
    s->free -= blocks_of(q->prefilled + tokens) - blocks_of(q->prefilled);
    if (q->request.has_cache) { /* it computes one token, as a sequence that decodes */
        p->decoding++;
        p->decode_contexts += (double)(q->prefilled + tokens);
        p->decode_longest = later(p->decode_longest, (double)(q->prefilled + tokens));
        rank->left -= s->limits.budget_has_decode ? tokens : 0;
    } else {
        p->contexts += (double)tokens * ((double)q->prefilled + ((double)tokens + 1) / 2);
        p->tokens += tokens;
        p->again = p->again || q->request.preemptions > 0;
        rank->tokens += tokens;
        rank->left -= tokens;
    }
    q->prefilled += tokens;
    q->rank = (size_t)(rank - s->rank);
    s->partials += (partial ? 1 : 0);
    s->partials -= (rank->partial != NONE ? 1 : 0);
    rank->partial = partial ? number : NONE;
    if (!partial) {
        q->group = (size_t)(g - s->group);
        g->complete[g->completes++] = number;
    }
    p->kept += keeps_room(s) ? roof_room_of_prompt(s, q) : 0;
    return s->cache == NULL ? ROOF_OK : name_blocks(s, q, error);
}

/* Continues the partly prefilled prompt of a rank. Its last chunk may still be under way, because
 * engines count the tokens of a step when it begins (vllm-project/vllm,
 * vllm/v1/core/sched/scheduler.py). */
static enum roof_status go_on(struct roof_scheduler *s, struct group *g, struct prompts *p,
                              struct rank *rank, struct roof_error *error)
{
    if (rank->partial == NONE || rank->left <= 0) {
        return ROOF_OK;
    }
    const struct sequence *const q = &s->sequence[rank->partial];
    const int64_t tokens = least(q->prefill - q->prefilled, rank->left);
    if (blocks_of(q->prefilled + tokens) - blocks_of(q->prefilled) > s->free) {
        p->preempted = true;
        /* If prompts have steps alone, the next group would admit it at once, and both would
         * prefill and preempt it for ever while no sequence decodes. */
        s->yields = s->limits.separates && s->stages > 1;
        return roof_sequence_preempt(s, rank->partial, error); /* the rank admitted it last */
    }
    return add_chunk(s, g, p, rank, rank->partial, tokens, error);
}

/* Continues the partly prefilled prompts. */
static enum roof_status go_on_all(struct roof_scheduler *s, struct group *g, struct prompts *p,
                                  struct roof_error *error)
{
    for (size_t i = 0; i < s->ranks && s->partials > 0; i++) {
        TRY(go_on(s, g, p, &s->rank[i], error));
    }
    return ROOF_OK;
}

/* Returns the prompt tokens of a request that need no prefill; *used are those of their blocks that
 * other sequences use. The last token is always computed. */
static int64_t cached_of(int64_t *used, const struct roof_scheduler *s, const struct roof_served *r)
{
    *used = 0;
    if (r->has_cache) {
        return r->prompt + r->done - 1;
    }
    if (s->cache == NULL || r->ids == NULL) {
        return r->prompt - roof_uncached(r->prompt, s->limits.prefix_hit);
    }
    const int64_t whole = least(r->prompt, r->prompt + r->done - 1) / ROOF_BLOCK_TOKENS;
    return ROOF_BLOCK_TOKENS * roof_prefix_cache_find(used, s->cache, r->ids, whole);
}

/* Returns the most sequences that a group may have: an equal share of the running ones, so that the
 * groups are balanced. */
static size_t share_of(const struct roof_scheduler *s)
{
    const size_t there = s->running + s->queue.count;
    const size_t most = (size_t)s->limits.sequences;
    const size_t of = there < most ? there : most;
    return s->stages == 1 ? of : (of + s->stages - 1) / s->stages;
}

/* Returns when the first request in the queue reaches the engine. */
static double first_comes(const struct roof_scheduler *s)
{
    return s->queue.request[s->queue.first].ready_s;
}

/* Finds the cached prompt tokens of the first request in the queue, and the tokens of its first
 * chunk within a budget; false if the memory is too small for them, or for all of its tokens beside
 * those for which room is kept. */
static bool finds_room(int64_t *cached, int64_t *tokens, const struct roof_scheduler *s,
                       int64_t budget, double kept)
{
    const struct roof_served *const r = &s->queue.request[s->queue.first];
    int64_t used = 0;
    *cached = cached_of(&used, s, r);
    const int64_t whole = r->prompt + r->done;
    *tokens = least(whole - *cached, budget);
    if (keeps_room(s)) {
        return roof_room_fits(s, r, blocks_of(whole) - used, kept);
    }
    const int64_t needed = s->limits.whole_prompts ? whole : *cached + *tokens;
    return blocks_of(needed) - used <= s->free &&
           (!s->limits.reserves ||
            s->promised + blocks_at_end(&s->limits, r->prompt, r->generate) <= s->blocks);
}

/* Tells whether the cache has room for all tokens of the first request in the queue. */
static bool whole_fits(const struct roof_scheduler *s)
{
    int64_t cached = 0;
    int64_t tokens = 0;
    return s->queue.count == 0 || finds_room(&cached, &tokens, s, INT64_MAX, 0);
}

/* Admits requests into the step of a group while all limits allow it. */
static enum roof_status admit_all(struct roof_scheduler *s, struct group *g, struct prompts *p,
                                  struct roof_error *error)
{
    const size_t share = share_of(s);
    struct rank *rank = roomiest(s);
    int64_t cached = 0;
    int64_t tokens = 0;
    s->yields = s->yields && s->running > 0 && !whole_fits(s);
    p->kept += keeps_room(s) && s->queue.count > 0 ? roof_room_of_running(s, g) : 0;
    while (!p->preempted && !s->yields && s->queue.count > 0 && rank->left > 0 && s->spares > 0 &&
           g->decoding + g->completes < share) {
        if (first_comes(s) > s->seen_s) {
            return ROOF_OK;
        }
        if (g->full || !finds_room(&cached, &tokens, s, rank->left, p->kept)) {
            p->memory = true;
            g->full = keeps_room(s) && g->decoding > 0;
            return ROOF_OK;
        }
        /* Engines keep the encoded images of a preempted prompt (vllm-project/vllm,
         * vllm/v1/core/encoder_cache_manager.py). */
        p->encoded += isnan(s->queue.request[s->queue.first].scheduled_s) ? 1 : 0;
        s->free -= blocks_of(cached);
        TRY(add_chunk(s, g, p, rank, roof_sequence_admit(s, cached), tokens, error));
        rank = roomiest(s);
    }
    return ROOF_OK;
}

/* Adds time during which a step is under way to the sums. */
static inline void add_to_sums(struct roof_scheduler_sums *sums, double time, double running,
                               double waiting, double blocks)
{
    sums->busy_s += time;
    sums->running_s += time * running;
    sums->waiting_s += time * waiting;
    sums->blocks_s += time * blocks;
}

/* Adds time after the clock during which a step is under way. */
static void add_time(struct roof_scheduler *s, double time)
{
    struct roof_scheduler_sums *const sums = &s->sums;
    if (s->limits.timeline != NULL) {
        const bool counts = s->limits.blocks > 0 && !s->limits.timeline_passes_cache;
        const struct roof_moment what = {.running = (double)s->running,
                                         .waiting = (double)s->queue.count,
                                         .blocks =
                                             counts ? (double)(s->limits.blocks - s->free) : 0};
        roof_timeline_add(s->limits.timeline, s->clock_s, time, &what);
    }
    add_to_sums(sums, time, (double)s->running, (double)s->queue.count,
                (double)(s->limits.blocks - s->free));
    sums->tokens_s += s->now.tokens ? time : 0;
    if (s->now.limit != NULL) {
        s->now.limit->time_s += time;
        s->now.limit->waiting_s += time * (double)s->queue.count;
    }
}

/* Sets the clock. */
static void pass_time(struct roof_scheduler *s, double until_s)
{
    if (s->flights > 0) {
        add_time(s, until_s - s->clock_s);
    }
    s->clock_s = until_s;
}

/* Gives the sequences of a group their tokens from a step with drafts. */
static enum roof_status end_drafts(struct roof_scheduler *s, struct group *g,
                                   struct roof_error *error)
{
    const struct roof_drafts drafts = s->limits.drafts;
    for (size_t i = 0; i < g->decoding;) {
        const size_t number = g->heap[i];
        struct sequence *const q = &s->sequence[number];
        const struct roof_served *const r = &q->request;
        const int64_t tokens =
            roof_drafts_yield(&drafts, r->number, r->done + q->made, r->generate);
        q->made += tokens;
        g->contexts += (double)tokens;
        s->sums.decodes++;
        s->sums.decoded += (double)tokens;
        if (r->done + q->made < r->generate) {
            i++;
        } else { /* the last one in the list moves into its place */
            TRY(roof_sequence_finish(s, number, error));
        }
    }
    return ROOF_OK;
}

/* Ends the step of a group: first for its decoding sequences, then for completed prompts. */
static enum roof_status end_step(struct roof_scheduler *s, struct group *g,
                                 struct roof_error *error)
{
    if (g->decoding > 0 && !g->rests && s->limits.drafts.tokens > 0) {
        TRY(end_drafts(s, g, error));
    } else if (g->decoding > 0 && !g->rests) {
        g->round++;
        g->contexts += (double)g->decoding;
    }
    while (g->decoding > 0 && end_at(s, g, 0) <= g->round) {
        TRY(roof_sequence_finish(s, g->heap[0], error));
    }
    for (size_t i = 0; i < g->completes; i++) {
        struct roof_served *const request = &s->sequence[g->complete[i]].request;
        request->first_s = isnan(request->first_s) ? s->clock_s : request->first_s;
        if (++request->done >= request->generate) {
            TRY(roof_sequence_finish(s, g->complete[i], error));
        } else {
            roof_sequence_decode(s, g->complete[i]);
        }
    }
    g->completes = 0;
    roof_sequences_settle(s);
    return ROOF_OK;
}

/* Returns the next number in a ring of stages. */
static size_t after(const struct roof_scheduler *s, size_t number)
{
    return number + 1 == s->stages ? 0 : number + 1;
}

/* Advances the clock to the end of the earliest step, and ends that step. */
static enum roof_status land(struct roof_scheduler *s, struct roof_error *error)
{
    struct group *const g = &s->group[s->flight[s->first_flight]];
    pass_time(s, g->exit_s);
    s->stalled = false;
    s->first_flight = after(s, s->first_flight);
    s->flights--;
    g->flies = false;
    return end_step(s, g, error);
}

/* Sends the step of a group through the stages, each of which runs one step at a time: step i
 * leaves stage k at e(i, k) = max(e(i, k - 1), e(i - 1, k)) + t(i, k). The last stage, which has
 * the output head, takes the time of the slowest, and the others share the rest of the path. The
 * first one also takes `before_s`. */
static void take_off(struct roof_scheduler *s, struct group *g, double slowest, double path,
                     double before_s)
{
    double at = later(s->clock_s, s->free_s[0]) + before_s;
    for (size_t k = 0; k < s->stages; k++) {
        const bool is_last = k + 1 == s->stages;
        at = later(at, s->free_s[k]) +
             (is_last ? slowest : (path - slowest) / (double)(s->stages - 1));
        s->free_s[k] = at;
    }
    g->exit_s = at;
    g->flies = true;
    s->flight[s->next_flight] = (size_t)(g - s->group);
    s->next_flight = after(s, s->next_flight);
    s->flights++;
}

/* Returns the sums of the limit that keeps requests waiting in a step. Prompts that are computed
 * again wait for the memory that was taken from them, though the step may be full. */
static struct roof_limit_sums *limit_of(struct roof_scheduler *s, const struct prompts *p)
{
    const bool waits = s->queue.count > 0;
    return p->memory || p->preempted || p->again          ? &s->sums.memory
           : waits && s->spares == 0                      ? &s->sums.sequences
           : p->budget <= 0 && (s->partials > 0 || waits) ? &s->sums.budget
                                                          : NULL;
}

/* Tells whether a step has neither decoding sequences nor prompt tokens. */
static bool does_nothing(const struct roof_step_load *load)
{
    return load->decoding <= 0 && load->tokens <= 0;
}

/* Adds the decoding sequences of a group to its next step, unless prompts have that step alone. */
static enum roof_status decode(struct roof_step_load *out, struct roof_scheduler *s,
                               struct group *g, struct prompts *p, struct roof_error *error)
{
    g->rests = s->limits.separates && p->tokens > 0;
    if (g->rests) {
        return ROOF_OK;
    }
    if (s->limits.blocks > 0) {
        TRY(roof_room_make(&p->preempted, s, g, error));
    }
    const int64_t tokens = (int64_t)g->decoding * (1 + s->limits.drafts.tokens);
    for (size_t i = 0; i < s->ranks && s->limits.budget_has_decode; i++) {
        s->rank[i].left -= share_of_rank(s, tokens);
    }
    out->decoding = (double)g->decoding;
    return ROOF_OK;
}

/* Fills the next step of a group. */
static enum roof_status load_step(struct roof_step_load *out, struct roof_scheduler *s,
                                  struct group *g, struct roof_error *error)
{
    struct prompts p = {.tokens = 0};
    *out = (struct roof_step_load){.decoding = 0};
    for (size_t i = 0; i < s->ranks; i++) {
        s->rank[i].left = s->limits.budget;
        s->rank[i].tokens = 0;
    }
    if (!s->limits.separates) {
        TRY(decode(out, s, g, &p, error));
    }
    TRY(go_on_all(s, g, &p, error));
    TRY(admit_all(s, g, &p, error));
    if (s->limits.separates) {
        TRY(decode(out, s, g, &p, error));
    }
    const double contexts = out->decoding > 0 ? g->contexts : 0;
    out->decoding += p.decoding;
    out->context = out->decoding > 0 ? (contexts + p.decode_contexts) / out->decoding : 0;
    out->longest = s->waits ? later(out->decoding > p.decoding ? roof_sequences_longest(s, g) : 0,
                                    p.decode_longest)
                            : 0;
    p.budget = roomiest(s)->left;
    out->tokens = (double)p.tokens;
    for (size_t i = 0; i < s->ranks && p.tokens > 0; i++) {
        out->widest = later(out->widest, (double)s->rank[i].tokens);
    }
    out->prompt_context = p.tokens > 0 ? p.contexts / out->tokens : 0;
    out->encoded = p.encoded;
    if (!does_nothing(out)) {
        g->tokens = p.tokens;
        s->now = (struct now){.tokens = p.tokens > 0,
                              .fills = p.tokens > 0 && p.budget <= 0,
                              .limit = limit_of(s, &p)};
        s->sums.steps++;
    }
    return ROOF_OK;
}

/* --- steps that are alike ------------------------------------------------------------------- */

/* Tells whether no request is admitted until a sequence ends or the next request arrives; *p
 * receives the limit that keeps requests waiting. */
static bool admits_none(struct prompts *p, const struct roof_scheduler *s)
{
    const int64_t decoding =
        s->limits.budget_has_decode ? share_of_rank(s, (int64_t)s->group->decoding) : 0;
    /* Engines with separate prompt steps put prompts first. */
    const int64_t budget = s->limits.budget - (s->limits.separates ? 0 : decoding);
    int64_t cached = 0;
    int64_t tokens = 0;
    *p = (struct prompts){.budget = s->limits.budget - decoding};
    if (s->queue.count == 0 || s->spares == 0 || budget <= 0 || first_comes(s) > s->clock_s) {
        return true;
    }
    if (first_comes(s) > s->seen_s) {
        return false; /* the next step may know it */
    }
    /* Blocks that a prefix cache evicts change what the first request needs. */
    p->memory = keeps_room(s) ? s->group->full
                              : s->cache == NULL && !finds_room(&cached, &tokens, s, budget, 0);
    return p->memory;
}

/* Returns the time until which steps are alike: when the next request may be admitted. */
static double alike_until(const struct roof_scheduler *s, double until_s)
{
    const double ready = s->queue.count > 0 ? first_comes(s) : HUGE_VAL;
    return ready > s->clock_s && s->spares > 0 ? fmin(ready, until_s) : until_s;
}

/* Brings the group and the cache to the round in which steps that are alike have ended. */
static void end_alike(struct roof_scheduler *s, int64_t round)
{
    struct group *const g = s->group;
    roof_scheduler_count(s, round - g->round);
    s->decays += round - g->round;
    g->exit_s = s->clock_s;
    g->round = round;
    g->tokens = 0;
    g->rests = false;
    if (s->cache != NULL && s->limits.blocks > 0) {
        roof_prefix_cache_evict(s->cache, s->free);
    }
}

/* Runs steps that begin before a time and differ only in the contexts of their sequences. The
 * results equal those of run_step to the last bit, apart from the waiting of limits, which is added
 * once. It stops before a step in which a sequence ends, or for which blocks are lacking. */
static void run_alike(struct roof_scheduler *s, const struct prompts *p, double until_s)
{
    struct group *const g = s->group;
    struct roof_scheduler_sums sums = s->sums;
    struct roof_step_lines lines; /* clearing all of it would take as long as some steps */
    const double decoding = (double)g->decoding;
    double longest = roof_sequences_longest(s, g);
    const double running = (double)s->running;
    const double waiting = (double)s->queue.count;
    const int64_t last = end_at(s, g, 0) - 1;
    struct roof_limit_sums *const limit = limit_of(s, p);
    double limited = limit == NULL ? 0 : limit->time_s;
    roof_step_lines_open(&lines);
    double clock = s->clock_s;
    double began = s->began_s;
    double contexts = g->contexts;
    int64_t blind = roof_scheduler_blind(s);
    int64_t round = g->round;
    for (; round < last && clock < until_s; round++) {
        const int64_t blocks =
            s->limits.blocks > 0 ? g->boundary[round & (ROOF_BLOCK_TOKENS - 1)] : 0;
        const struct roof_step_load load = {
            .decoding = decoding, .context = contexts / decoding, .longest = longest};
        if (blocks > s->free || (!roof_step_lines_have(&lines, load.context, longest) &&
                                 !roof_step_lines_find(&lines, s->table, &load))) {
            break;
        }
        const double time = roof_step_lines_time(&lines, load.context, longest);
        if (blind-- == 0) {
            s->seen_s = s->limits.ahead ? began : clock;
            blind = s->limits.interval - 1;
        }
        s->free -= blocks;
        add_to_sums(&sums, time, running, waiting, (double)(s->limits.blocks - s->free));
        limited += time;
        began = clock;
        clock += time;
        contexts += decoding;
        longest++;
    }
    if (round == g->round) {
        return;
    }
    const double waited = sums.waiting_s - s->sums.waiting_s;
    sums.steps += (uint64_t)(round - g->round);
    s->asked += (uint64_t)(round - g->round);
    s->sums = sums;
    if (limit != NULL) {
        limit->time_s = limited;
        limit->waiting_s += waited; /* equal up to rounding errors */
    }
    s->began_s = began;
    s->clock_s = clock;
    g->contexts = contexts;
    end_alike(s, round);
    s->now = (struct now){.limit = limit};
}

/* Runs the steps that are alike, if there are any. */
static void run_all_alike(struct roof_scheduler *s, double until_s)
{
    struct prompts p;
    const struct group *const g = s->group;
    if (s->stages == 1 && s->limits.drafts.tokens == 0 && s->limits.timeline == NULL &&
        g->decoding > 0 && g->decoding == s->running && g->round + 1 < end_at(s, g, 0) &&
        admits_none(&p, s)) {
        run_alike(s, &p, alike_until(s, until_s));
    }
}

/* --- steps ---------------------------------------------------------------------------------- */

/* Finds the time of a step; ROOF_USAGE if it is unknown. */
static enum roof_status time_of(double *out_s, struct roof_step_table *table,
                                const struct roof_step_load *load, struct roof_error *error)
{
    TRY(roof_step_time(out_s, table, load, error));
    return !isnan(*out_s)
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "a step with %.0f sequences and %.0f prompt tokens has no "
                                "expected time; " ROOF_KEY("by") " ideal takes its lower bound",
                                load->decoding, load->tokens);
}

/* Returns by how much a loaded step is longer because the engine compiles kernels for it. */
static double compile(struct roof_scheduler *s)
{
    if (!s->now.fills) {
        return 0;
    }
    const double time = s->limits.compile_s;
    s->limits.compile_s = 0;
    return time;
}

/* Runs a whole step of an engine with one stage. */
static enum roof_status run_step(struct roof_scheduler *s, struct roof_error *error)
{
    struct roof_step_load load;
    double time = 0;
    roof_scheduler_look(s);
    TRY(load_step(&load, s, s->group, error));
    if (does_nothing(&load)) { /* the only sequence was preempted */
        return ROOF_OK;
    }
    TRY(time_of(&time, s->table, &load, error));
    time += compile(s);
    add_time(s, time);
    s->began_s = s->clock_s;
    s->clock_s += time;
    s->group->exit_s = s->clock_s;
    return end_step(s, s->group, error);
}

/* Begins a step of a group in a pipeline. *begun is false if the group has no work. */
static enum roof_status begin_step(bool *begun, struct roof_scheduler *s, struct group *g,
                                   struct roof_error *error)
{
    struct roof_step_load load;
    double slowest = 0;
    double path = 0;
    roof_scheduler_look(s);
    TRY(load_step(&load, s, g, error));
    *begun = !does_nothing(&load);
    if (!*begun) {
        return ROOF_OK;
    }
    TRY(time_of(&slowest, s->table, &load, error));
    TRY(time_of(&path, s->limits.path, &load, error));
    take_off(s, g, slowest / (double)s->stages, path, compile(s));
    return ROOF_OK;
}

/* Begins a step of the next group with work, if there is one. */
static enum roof_status begin_any(bool *begun, struct roof_scheduler *s, struct roof_error *error)
{
    const size_t first = s->turn;
    *begun = false;
    for (size_t i = 0; i < s->stages && !*begun; i++) {
        struct group *const g = &s->group[s->turn];
        s->turn = after(s, s->turn);
        if (!g->flies) {
            TRY(begin_step(begun, s, g, error));
        }
    }
    s->turn = *begun ? s->turn : first;
    return ROOF_OK;
}

/* Returns the end of the earliest step. */
static double end_of_first(const struct roof_scheduler *s)
{
    return s->group[s->flight[s->first_flight]].exit_s;
}

/* Returns when the next step ends or the next request arrives, whichever is earlier; HUGE_VAL if
 * neither does. */
static double next_event(const struct roof_scheduler *s)
{
    const double ends = s->flights > 0 ? end_of_first(s) : HUGE_VAL;
    const double comes = s->queue.count > 0 ? first_comes(s) : HUGE_VAL;
    return comes > s->clock_s ? fmin(ends, comes) : ends;
}

/* Runs the next event of a pipeline: begins a step, or advances the clock until one ends. *done is
 * true if there is nothing to do before a time. Groups that had no work try again only after the
 * next event: the time of an interruption must have no effect, but an attempt may preempt a prompt,
 * which another attempt would admit. */
static enum roof_status run_pipeline(bool *done, struct roof_scheduler *s, double begin_s,
                                     double until_s, struct roof_error *error)
{
    bool begun = false;
    if (!s->stalled) {
        pass_time(s, begin_s);
        TRY(begin_any(&begun, s, error));
        if (begun || (s->flights == 0 && s->running == 0)) {
            return ROOF_OK; /* the only sequence may have been preempted */
        }
    }
    const double next = next_event(s); /* all others wait for it */
    *done = next >= until_s;
    s->stalled = *done;
    if (*done) {
        s->wakes_s = next;
        return ROOF_OK;
    }
    TRY(s->flights > 0 && end_of_first(s) <= next ? land(s, error) : ROOF_OK);
    pass_time(s, next);
    return ROOF_OK;
}

enum roof_status roof_scheduler_run(struct roof_scheduler *s, double until_s,
                                    struct roof_error *error)
{
    bool done = false;
    while (!done && (s->running > 0 || s->queue.count > 0)) {
        double begin = later(s->clock_s, s->free_s[0]);
        if (s->flights == s->stages || (s->flights > 0 && end_of_first(s) <= begin)) {
            TRY(land(s, error));
            continue;
        }
        if (s->running == 0 && first_comes(s) > begin) { /* nothing runs before it comes */
            begin = first_comes(s);
            roof_room_reset(s);
        }
        if (begin >= until_s) {
            s->wakes_s = begin;
            return ROOF_OK;
        }
        if (++s->asked >= STEPS_UNASKED) {
            s->asked = 0;
            TRY(roof_halt_check(&s->limits.halt, error));
        }
        if (s->stages == 1) {
            s->clock_s = begin;
            TRY(run_step(s, error));
            run_all_alike(s, until_s);
        } else {
            TRY(run_pipeline(&done, s, begin, until_s, error));
        }
    }
    return ROOF_OK;
}

/* --- requests ------------------------------------------------------------------------------- */

bool roof_scheduler_fits(const struct roof_scheduler *s, int64_t prompt, int64_t generate)
{
    return s->limits.blocks == 0 ||
           (blocks_at_end(&s->limits, prompt, generate) <= s->limits.blocks &&
            (!keeps_room(s) || roof_room_ever_fits(&s->limits, prompt, generate)));
}

enum roof_status roof_scheduler_put(struct roof_scheduler *s, const struct roof_served *request,
                                    struct roof_error *error)
{
    const double came_s = request->has_cache ? request->ready_s : request->arrival_s;
    /* The time during which a step ran or still runs without this request, or before it arrived. */
    const double passed = s->flights > 0 ? s->clock_s - came_s : fmax(0, s->clock_s - came_s);
    s->sums.waiting_s += passed;
    if (s->limits.timeline != NULL && passed != 0) {
        const struct roof_moment one = {.waiting = passed > 0 ? 1 : -1};
        roof_timeline_add(s->limits.timeline, fmin(came_s, s->clock_s), fabs(passed), &one);
    }
    const double begin = fmax(fmax(s->clock_s, s->free_s[0]), request->ready_s);
    s->wakes_s = roof_scheduler_present(s) == 0 ? begin : fmin(s->wakes_s, begin);
    s->waiting_blocks += blocks_of(request->prompt);
    s->waiting_tokens += waiting_tokens_of(s, request);
    return roof_request_queue_put_last(&s->queue, request, error);
}

enum roof_status roof_scheduler_push(struct roof_scheduler *s, uint64_t number,
                                     const struct roof_arrival *arrival, struct roof_error *error)
{
    const double began_s =
        s->limits.front_s > 0 ? later(s->front_s, arrival->time_s) : arrival->time_s;
    s->front_s = began_s + s->limits.front_s;
    const struct roof_served request = {.number = number,
                                        .arrival_s = arrival->time_s,
                                        .prompt = arrival->prompt,
                                        .generate = arrival->generate,
                                        .elsewhere = arrival->elsewhere,
                                        .ids = arrival->ids,
                                        .ready_s = began_s + s->limits.overhead_s,
                                        .scheduled_s = ROOF_UNKNOWN,
                                        .prefilled_s = ROOF_UNKNOWN,
                                        .moved_s = ROOF_UNKNOWN,
                                        .first_s = ROOF_UNKNOWN,
                                        .last_s = ROOF_UNKNOWN};
    return roof_scheduler_put(s, &request, error);
}

int64_t roof_scheduler_load(const struct roof_scheduler *s, double time_s)
{
    int64_t load = s->waiting_tokens + (int64_t)roof_scheduler_present(s);
    for (size_t i = 0; i < s->ranks && s->partials > 0; i++) {
        if (s->rank[i].partial != NONE) {
            const struct sequence *const q = &s->sequence[s->rank[i].partial];
            load += q->prefill - q->prefilled;
        }
    }
    for (size_t i = 0; i < s->stages; i++) {
        load += s->group[i].exit_s > time_s ? s->group[i].tokens : 0;
    }
    return load;
}

int64_t roof_scheduler_burden(const struct roof_scheduler *s, const struct roof_arrival *request)
{
    const struct roof_served served = {.prompt = request->prompt, .ids = request->ids};
    int64_t used = 0;
    return s->blocks - s->free + s->waiting_blocks + blocks_of(request->prompt) -
           cached_of(&used, s, &served) / ROOF_BLOCK_TOKENS;
}
