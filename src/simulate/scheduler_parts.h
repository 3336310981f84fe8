// SPDX-License-Identifier: MIT
/* Parts that the files of the scheduler share: its state, and the changes of a sequence. */
#ifndef ROOF_SIMULATE_SCHEDULER_PARTS_H
#define ROOF_SIMULATE_SCHEDULER_PARTS_H

#include "simulate/request_queue.h"
#include "simulate/scheduler.h"

#define NONE SIZE_MAX

/* A running sequence. */
struct sequence {
    struct roof_served request;
    int64_t prefill;   /* tokens to prefill since its last admission, including cached ones */
    int64_t prefilled; /* those of them that are prefilled */
    int64_t begun;     /* the round of its first decode step */
    int64_t end;       /* the round after its last one; with drafts: unknown */
    int64_t made;      /* with drafts: tokens generated since `begun` */
    int64_t room;      /* with drafts: blocks it has had since its first decode step */
    size_t group;      /* the group in which it decodes; NONE: its prompt is partly prefilled */
    size_t rank;       /* the rank that prefills it */
    size_t heap;       /* its place in the heap; NONE: it is not decoding */
    size_t before;     /* the sequence admitted before it; NONE: it is the first */
    size_t after;
    int64_t named;      /* number of its prompt blocks that the prefix cache knows */
    uint64_t admission; /* number in the order of admissions */
};

/* Sequences that decode together, in a separate microbatch. */
struct group {
    size_t *heap; /* the decoding sequences, ordered by their ends */
    size_t decoding;
    size_t *complete; /* the sequences whose prompts end in the step */
    size_t completes;
    int64_t round;   /* number of steps so far with decoding sequences */
    double contexts; /* sum over all sequences in the next decode step */
    int64_t ahead;   /* the greatest number by which the tokens of a sequence exceed the round, if
                        steps wait for the longest context */
    int64_t boundary[ROOF_BLOCK_TOKENS]; /* number of sequences that need a block in round r, by r
                                            mod 16 */
    bool rests;                          /* its sequences do not decode in the current step */
    bool full;      /* a request had no room beside these sequences: no other is tried before one of
                       them has left */
    bool flies;     /* its step is under way until exit_s */
    double exit_s;  /* remains set after the step has ended */
    int64_t tokens; /* prompt tokens in that step */
};

/* A group of the attention; its share of the decoding sequences equals that of the others. */
struct rank {
    size_t partial; /* its partly prefilled sequence; NONE: there is none */
    int64_t left;   /* prompt tokens that it may still add to the step */
    int64_t tokens; /* those that it has in the step */
};

/* The state of the engine between two steps. */
struct now {
    bool tokens;                   /* the last step has prompt tokens */
    bool fills;                    /* and with them its budget is full */
    struct roof_limit_sums *limit; /* of the limit that keeps requests waiting; NULL: none does */
};

struct roof_scheduler {
    struct roof_scheduler_limits limits;
    struct roof_step_table *table;
    bool waits; /* steps wait for the longest context */
    roof_on_served *on_served;
    void *context;
    struct roof_scheduler_sums sums;
    struct now now;
    double clock_s;
    double wakes_s; /* when there is work again */
    double began_s; /* when the last step began */
    double seen_s;  /* requests that arrived until then are known */
    double front_s; /* when the front end becomes free */
    int64_t blind;  /* steps since it looked for requests */
    uint64_t asked; /* steps since the last check whether to stop */
    int64_t free;   /* number of free blocks */
    struct sequence *sequence;
    size_t *spare; /* numbers of unused sequences */
    size_t spares;
    struct group *group; /* one per stage */
    size_t stages;
    double *free_s; /* when each stage becomes free */
    size_t *flight; /* a ring of the groups with steps under way, in their order */
    size_t first_flight;
    size_t next_flight;
    size_t flights;
    size_t turn; /* the group whose turn is next */
    size_t running;
    size_t last; /* the last admitted sequence */
    struct rank *rank;
    size_t ranks;
    size_t partials; /* partly prefilled sequences, at most one per rank */
    bool stalled;    /* no group has work before the next event */
    bool yields;     /* the first request is admitted when all of its prompt fits, or none runs */
    struct roof_request_queue queue;
    int64_t blocks;         /* size of the cache, or unlimited */
    int64_t waiting_blocks; /* of the prompts in the queue */
    int64_t
        waiting_tokens; /* prompt tokens that waiting requests have to prefill, as far as known */
    int64_t promised;   /* blocks of the running sequences at their full length */
    double share;       /* of new tokens for which room is kept, when it was last set */
    int64_t decays;     /* decode steps since then */
    struct roof_prefix_cache *cache; /* NULL: no prefix cache */
    uint64_t admissions;
};

/* Returns the blocks of 0 or more tokens; unsigned division is faster. */
static inline int64_t blocks_of(int64_t tokens)
{
    return (int64_t)(((uint64_t)tokens + ROOF_BLOCK_TOKENS - 1) / ROOF_BLOCK_TOKENS);
}

/* Returns the most blocks of a request. Its last token is never read, but its last decode step may
 * have places for as many drafts. */
static inline int64_t blocks_at_end(const struct roof_scheduler_limits *limits, int64_t prompt,
                                    int64_t generate)
{
    const int64_t drafts = generate > 1 ? limits->drafts.tokens : 0;
    return blocks_of(prompt + generate - 1 + drafts);
}

/* Returns the tokens that a waiting request has to prefill; its cached tokens are only known at
 * admission. */
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

/* Returns the additional blocks that a decoding sequence needs for its next step. */
static inline int64_t blocks_lacking(const struct roof_scheduler *s, const struct sequence *q)
{
    return blocks_of(q->prefilled + q->made + 1 + s->limits.drafts.tokens) - q->room;
}

/* Returns the tokens of a sequence that the cache holds. */
static inline int64_t tokens_held(const struct roof_scheduler *s, const struct sequence *q)
{
    return q->heap == NONE               ? q->prefilled
           : s->limits.drafts.tokens > 0 ? q->prefilled + q->made
                                         : q->prefilled + s->group[q->group].round - q->begun;
}

/* Returns the longest context of the decoding sequences of a group in its next step, if steps wait
 * for it; otherwise 0. */
double roof_sequences_longest(const struct roof_scheduler *s, const struct group *g);

/* Updates which requests the next step knows. An idle engine waits for requests; an engine that
 * works ahead scheduled this step when the previous one began. */
void roof_scheduler_look(struct roof_scheduler *s);
/* Counts steps without prompts; the first of them follows the last step that ran. */
void roof_scheduler_count(struct roof_scheduler *s, int64_t steps);

/* Returns the number of steps without prompts before the one that looks for requests. */
int64_t roof_scheduler_blind(const struct roof_scheduler *s);

/* Tells whether the engine keeps room for new tokens. */
static inline bool keeps_room(const struct roof_scheduler *s)
{
    return s->limits.ratio.most_tokens > 0;
}

/* Sets the share of new tokens as in an engine that was idle. */
void roof_room_reset(struct roof_scheduler *s);
/* Returns the tokens for which room is kept: for the decoding sequences of a group, and for a
 * sequence that a step has prefilled, in part or whole. */
double roof_room_of_running(const struct roof_scheduler *s, const struct group *g);
double roof_room_of_prompt(const struct roof_scheduler *s, const struct sequence *q);
/* Tells whether the cache has room for a request whose prompt takes some free blocks, beside the
 * tokens for which room is kept. */
bool roof_room_fits(const struct roof_scheduler *s, const struct roof_served *r, int64_t blocks,
                    double kept);
/* Tells whether an empty cache has room for a request, however often it is put back. */
bool roof_room_ever_fits(const struct roof_scheduler_limits *limits, int64_t prompt,
                         int64_t generate);
/* Gives the decoding sequences of a group their blocks for the next step. Preempts sequences until
 * there are enough; *preempted then becomes true. */
enum roof_status roof_room_make(bool *preempted, struct roof_scheduler *s, struct group *g,
                                struct roof_error *error);

/* Moves the first request in the queue to the running sequences. */
size_t roof_sequence_admit(struct roof_scheduler *s, int64_t cached);
/* Makes a sequence decode from the next step of its group on. */
void roof_sequence_decode(struct roof_scheduler *s, size_t number);
/* Preempts a sequence: it returns to the queue and is computed again, together with its generated
 * tokens. Its place is the first one; if room is kept for new tokens and it decoded, it is the last
 * one of the requests that the engine knows. */
enum roof_status roof_sequence_preempt(struct roof_scheduler *s, size_t number,
                                       struct roof_error *error);
enum roof_status roof_sequence_finish(struct roof_scheduler *s, size_t number,
                                      struct roof_error *error);
/* Frees the named blocks of sequences that were released. */
void roof_sequences_settle(struct roof_scheduler *s);

#endif
