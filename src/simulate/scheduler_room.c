// SPDX-License-Identifier: MIT
/* The room of the cache: what engines keep for new tokens, and which sequences they preempt if it
 * is too small. docs/simulation.md has the rules ("Room for new tokens"). */
#include "base/base.h"
#include "simulate/scheduler_parts.h"

/* The tokens that each request may waste in its last block. */
#define WASTE ROOF_BLOCK_TOKENS

/* Returns how many of some new tokens count. */
static int64_t counted(const struct roof_scheduler *s, int64_t tokens)
{
    const int64_t most = s->limits.ratio.most_tokens;
    return tokens < most ? tokens : most;
}

/* Returns the tokens that a decoding sequence has generated. */
static int64_t generated(const struct roof_scheduler *s, const struct sequence *q)
{
    return q->request.done + tokens_held(s, q) - q->prefilled;
}

/* Returns the share of new tokens for which room is kept. A product instead of repeated
 * subtraction: steps that are alike are counted at once. */
static double share_now(const struct roof_scheduler *s)
{
    const struct roof_new_token_ratio *const r = &s->limits.ratio;
    if (s->decays == 0) {
        return s->share;
    }
    const double share =
        s->share - (double)s->decays * ((r->first - r->least) / (double)r->decay_steps);
    return share > r->least ? share : r->least;
}

void roof_room_reset(struct roof_scheduler *s)
{
    s->share = s->limits.ratio.first;
    s->decays = 0;
}

double roof_room_of_running(const struct roof_scheduler *s, const struct group *g)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < g->decoding; i++) {
        const struct sequence *const q = &s->sequence[g->heap[i]];
        tokens += counted(s, q->request.generate - generated(s, q));
    }
    return share_now(s) * (double)tokens;
}

double roof_room_of_prompt(const struct roof_scheduler *s, const struct sequence *q)
{
    const bool complete = q->prefilled == q->prefill;
    return (double)(WASTE + (complete ? counted(s, q->request.generate) : 0));
}

bool roof_room_fits(const struct roof_scheduler *s, const struct roof_served *r, int64_t blocks,
                    double kept)
{
    const int64_t needed = blocks * ROOF_BLOCK_TOKENS + counted(s, r->generate - r->done) + WASTE;
    return (double)needed < (double)(s->free * ROOF_BLOCK_TOKENS) - kept;
}

bool roof_room_ever_fits(const struct roof_scheduler_limits *limits, int64_t prompt,
                         int64_t generate)
{
    return prompt + generate + ROOF_BLOCK_TOKENS - 1 + WASTE < limits->blocks * ROOF_BLOCK_TOKENS;
}

/* Tells whether a decoding sequence is preempted before another one: it has generated fewer tokens;
 * if equal, its prompt is longer; if equal too, it was admitted later. */
static bool goes_before(const struct roof_scheduler *s, const struct sequence *q,
                        const struct sequence *other)
{
    const int64_t tokens = generated(s, q) - generated(s, other);
    const int64_t prompt = q->request.prompt - other->request.prompt;
    return tokens != 0 ? tokens < 0 : prompt != 0 ? prompt > 0 : q->admission > other->admission;
}

/* Returns the first decoding sequence of a group in that order. */
static size_t fewest_of(const struct roof_scheduler *s, const struct group *g)
{
    size_t found = g->heap[0];
    for (size_t i = 1; i < g->decoding; i++) {
        if (goes_before(s, &s->sequence[g->heap[i]], &s->sequence[found])) {
            found = g->heap[i];
        }
    }
    return found;
}

/* Sets the share of new tokens after sequences of a group were preempted. */
static void correct_share(struct roof_scheduler *s, const struct group *g)
{
    int64_t made = s->limits.ratio.retract_steps * (int64_t)g->decoding;
    int64_t all = 1;
    for (size_t i = 0; i < g->decoding; i++) {
        const struct sequence *const q = &s->sequence[g->heap[i]];
        made += generated(s, q);
        all += q->request.generate;
    }
    s->share = made < all ? (double)made / (double)all : 1;
    s->decays = 0;
}

/* Returns the sequence that a group preempts: one of its own, or a partly prefilled one. Other
 * groups may have steps under way. */
static size_t victim_of(const struct roof_scheduler *s, const struct group *g)
{
    if (keeps_room(s) && s->limits.drafts.tokens == 0 && (g->decoding > 1 || s->partials == 0)) {
        return fewest_of(s, g);
    }
    size_t number = s->last; /* the last one that was admitted */
    while (s->sequence[number].group != NONE && &s->group[s->sequence[number].group] != g) {
        number = s->sequence[number].before;
    }
    return number;
}

/* Returns the additional blocks that the decoding sequences of a group need for the next step. */
static int64_t lacking(const struct roof_scheduler *s, const struct group *g)
{
    int64_t blocks = 0;
    if (s->limits.drafts.tokens == 0) {
        return g->boundary[g->round & (ROOF_BLOCK_TOKENS - 1)];
    }
    for (size_t i = 0; i < g->decoding; i++) {
        blocks += blocks_lacking(s, &s->sequence[g->heap[i]]);
    }
    return blocks;
}

/* Gives the decoding sequences of a group their blocks for the next step. */
static void take_room(struct roof_scheduler *s, const struct group *g)
{
    for (size_t i = 0; i < g->decoding && s->limits.drafts.tokens > 0; i++) {
        struct sequence *const q = &s->sequence[g->heap[i]];
        q->room += blocks_lacking(s, q);
    }
}

enum roof_status roof_room_make(bool *preempted, struct roof_scheduler *s, struct group *g,
                                struct roof_error *error)
{
    int64_t blocks = lacking(s, g);
    const bool lacks = blocks > s->free;
    while (blocks > s->free) {
        *preempted = true;
        TRY(roof_sequence_preempt(s, victim_of(s, g), error));
        blocks = lacking(s, g);
    }
    if (lacks && keeps_room(s)) {
        correct_share(s, g);
    } else {
        s->decays += g->decoding > 0 ? 1 : 0;
    }
    s->free -= blocks;
    take_room(s, g);
    if (s->cache != NULL) {
        roof_prefix_cache_evict(s->cache, s->free);
    }
    return ROOF_OK;
}
