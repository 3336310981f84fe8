// SPDX-License-Identifier: MIT
/* What the files of the scheduler share: its state, and what happens to a sequence. */
#ifndef ROOF_SIMULATE_SCHEDULER_PARTS_H
#define ROOF_SIMULATE_SCHEDULER_PARTS_H

#include "simulate/request_queue.h"
#include "simulate/scheduler.h"

#define NONE SIZE_MAX

/* A sequence that runs. */
struct sequence {
    struct roof_served request;
    int64_t prefill;   /* tokens that this run of it prefills, cached ones included */
    int64_t prefilled; /* of these so far */
    int64_t begun;     /* the round of its first decode step */
    int64_t end;       /* the round after its last one; with drafts: not known */
    int64_t made;      /* with drafts: tokens that it has generated since then */
    int64_t room;      /* with drafts: blocks that it has had since its first step */
    size_t group;      /* the one in which it decodes; NONE: its prompt is prefilled in part */
    size_t heap;       /* its place in the heap; NONE: it does not decode */
    size_t before;     /* the sequence that was admitted before it; NONE: it is the first */
    size_t after;
    int64_t named;      /* blocks of its prompt that the prefix cache knows */
    uint64_t admission; /* in the order of which sequences were admitted */
};

/* Sequences that decode together, in a microbatch of their own. */
struct group {
    size_t *heap; /* those that decode, by their ends */
    size_t decoding;
    size_t *complete; /* those whose prompt ends in the step */
    size_t completes;
    int64_t round;                       /* steps with sequences that decode, so far */
    double contexts;                     /* of the next decode step, over all sequences */
    int64_t boundary[ROOF_BLOCK_TOKENS]; /* sequences that need a block in round r, by r mod 16 */
    bool rests;                          /* its sequences do not decode in its step */
    bool flies;                          /* its step is under way, until */
    double exit_s;                       /* also of one that has ended */
    int64_t tokens;                      /* of prompts in that step */
};

/* The state of the engine until the next step begins. */
struct now {
    bool tokens;   /* it has tokens of prompts */
    double *limit; /* the sum of what keeps requests waiting; NULL: nothing does */
};

struct roof_scheduler {
    struct roof_scheduler_limits limits;
    struct roof_step_table *table;
    roof_on_served *on_served;
    void *context;
    struct roof_scheduler_sums sums;
    struct now now;
    double clock_s;
    double wakes_s; /* when there is something to do again */
    double began_s; /* when the last step began */
    double seen_s;  /* requests that came until then are known */
    int64_t blind;  /* steps since it looked for requests */
    uint64_t asked; /* steps since the last one that looked whether to stop */
    int64_t free;   /* blocks */
    struct sequence *sequence;
    size_t *spare; /* numbers of sequences that do not run */
    size_t spares;
    struct group *group; /* one for each stage */
    size_t stages;
    double *free_s; /* from when on each stage is free */
    size_t *flight; /* a ring of the groups whose steps are under way, in their order */
    size_t first_flight;
    size_t next_flight;
    size_t flights;
    size_t turn; /* the group that comes next */
    size_t running;
    size_t last;    /* the sequence that was admitted last */
    size_t partial; /* the one whose prompt is prefilled in part; NONE: none is */
    struct roof_request_queue queue;
    int64_t blocks;         /* of the cache, or without end */
    int64_t waiting_blocks; /* of prompts in the queue */
    int64_t waiting_tokens; /* that these have to prefill, by what is known of them there */
    int64_t promised;       /* blocks of those that run, when all are at their ends */
    struct roof_prefix_cache *cache; /* NULL: there is none */
    uint64_t admissions;
};

/* Returns the blocks of tokens, of which there are 0 or more: a signed division takes longer. */
static inline int64_t blocks_of(int64_t tokens)
{
    return (int64_t)(((uint64_t)tokens + ROOF_BLOCK_TOKENS - 1) / ROOF_BLOCK_TOKENS);
}

/* Returns the most blocks of a request; its last token is never read. The last step that it decodes
 * in may have places for as many drafts. */
static inline int64_t blocks_at_end(const struct roof_scheduler_limits *limits, int64_t prompt,
                                    int64_t generate)
{
    const int64_t drafts = generate > 1 ? limits->drafts.tokens : 0;
    return blocks_of(prompt + generate - 1 + drafts);
}

/* Returns the tokens that a request which waits has to prefill. Whether the prefix cache has some
 * of them shows when it is admitted. */
static inline int64_t waiting_tokens_of(const struct roof_scheduler *s, const struct roof_served *r)
{
    const bool named = s->cache != NULL && r->ids != NULL;
    return r->has_cache
               ? 1
               : r->done + (named ? r->prompt : roof_uncached(r->prompt, s->limits.prefix_hit));
}

static inline int64_t end_at(const struct roof_scheduler *s, const struct group *g, size_t at)
{
    return s->sequence[g->heap[at]].end;
}

/* Returns how many blocks a sequence that decodes needs for the next step beyond those it has. */
static inline int64_t blocks_lacking(const struct roof_scheduler *s, const struct sequence *q)
{
    return blocks_of(q->prefilled + q->made + 1 + s->limits.drafts.tokens) - q->room;
}

/* Finds out which requests the step knows that begins now. An engine without anything to do waits
 * for requests; one that works ahead put the step together when the one before it began. */
void roof_scheduler_look(struct roof_scheduler *s);
/* Counts steps without prompts of which the first follows the last step that ran. */
void roof_scheduler_count(struct roof_scheduler *s, int64_t steps);

/* Takes the first request of the queue into the list of those that run. */
size_t roof_sequence_admit(struct roof_scheduler *s, int64_t cached);
/* Lets a sequence decode from the next step of its group on. */
void roof_sequence_decode(struct roof_scheduler *s, size_t number);
/* Puts a sequence back to the front of the queue: it is computed again, with the tokens that it has
 * generated. */
enum roof_status roof_sequence_preempt(struct roof_scheduler *s, size_t number,
                                       struct roof_error *error);
enum roof_status roof_sequence_finish(struct roof_scheduler *s, size_t number,
                                      struct roof_error *error);
/* Frees the named blocks of sequences that were taken out of all lists. */
void roof_sequences_settle(struct roof_scheduler *s);

#endif
