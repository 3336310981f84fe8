// SPDX-License-Identifier: MIT
/* The room that an engine keeps for new tokens, and which sequence it puts back when that was too
 * little: docs/simulation.md ("Room for new tokens") has the rules. */
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

void roof_estimate_reset(struct roof_scheduler *s)
{
    s->share = s->limits.ratio.first;
    s->decays = 0;
}

double roof_estimate_of_running(const struct roof_scheduler *s, const struct group *g)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < g->decoding; i++) {
        const struct sequence *const q = &s->sequence[g->heap[i]];
        tokens += counted(s, q->request.generate - generated(s, q));
    }
    return share_now(s) * (double)tokens;
}

double roof_estimate_of_prompt(const struct roof_scheduler *s, const struct sequence *q)
{
    const bool complete = q->prefilled == q->prefill;
    return (double)(WASTE + (complete ? counted(s, q->request.generate) : 0));
}

bool roof_estimate_has_room(const struct roof_scheduler *s, const struct roof_served *r,
                            int64_t blocks, double kept)
{
    const int64_t needed = blocks * ROOF_BLOCK_TOKENS + counted(s, r->generate - r->done) + WASTE;
    return (double)needed < (double)(s->free * ROOF_BLOCK_TOKENS) - kept;
}

bool roof_estimate_ever_fits(const struct roof_scheduler_limits *limits, int64_t prompt,
                             int64_t generate)
{
    return prompt + generate + ROOF_BLOCK_TOKENS - 1 + WASTE < limits->blocks * ROOF_BLOCK_TOKENS;
}

size_t roof_estimate_victim(const struct roof_scheduler *s, const struct group *g)
{
    size_t victim = g->heap[0];
    for (size_t i = 1; i < g->decoding; i++) {
        const struct sequence *const q = &s->sequence[g->heap[i]];
        const struct sequence *const v = &s->sequence[victim];
        const int64_t fewer = generated(s, v) - generated(s, q);
        const int64_t longer = q->request.prompt - v->request.prompt;
        if (fewer > 0 || (fewer == 0 && (longer > 0 || (longer == 0 && //
                                                        q->admission > v->admission)))) {
            victim = g->heap[i];
        }
    }
    return victim;
}

void roof_estimate_correct(struct roof_scheduler *s, const struct group *g)
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
