// SPDX-License-Identifier: MIT
/* The scheduler of one copy of an engine, step by step: docs/simulation.md has its rules.
 *
 * All decoding sequences take part in every step, so the steps of a sequence are known when it
 * begins to decode: a heap has their ends, the sum of all contexts grows by the number of
 * sequences, and sixteen counters have the number of sequences that need a new cache block, by
 * step. The cost of a step therefore does not depend on the number of running sequences, and the
 * steps between two events are run in one loop. With drafts, whose accepted tokens are drawn for
 * each sequence, a step visits every decoding sequence.
 *
 * A pipeline of S stages has S groups of sequences, which take turns: each step belongs to one
 * group, and S steps are under way. */
#ifndef ROOF_SIMULATE_SCHEDULER_H
#define ROOF_SIMULATE_SCHEDULER_H

#include "base/halt.h"
#include "simulate/arrivals.h"
#include "simulate/drafts.h"
#include "simulate/new_tokens.h"
#include "simulate/prefix_cache.h"
#include "simulate/served.h"
#include "simulate/step_table.h"
#include "simulate/timeline.h"

/* The token budget of an engine that prefills whole prompts. */
#define ROOF_BUDGET_WHOLE INT64_MAX

struct roof_scheduler_limits {
    int64_t stages; /* pipeline stages, each of which has a step under way; 0: one */
    /* Step times alone in the pipeline, borrowed; NULL with one stage. The table that the scheduler
     * is opened with has S times the slowest stage. */
    struct roof_step_table *path;
    int64_t ranks;  /* groups of the attention, each with prompts and a budget of its own; 0: one */
    int64_t budget; /* most prompt tokens of a rank in a step, or ROOF_BUDGET_WHOLE */
    bool budget_has_decode;  /* decode tokens count towards the budget */
    bool separates;          /* prompts have separate steps, which run before decode steps */
    bool passes_first_token; /* with prefill copies: it comes with the cache; otherwise the decode
                                copy computes it again */
    bool ahead;              /* a step is scheduled while the previous one runs */
    int64_t interval;        /* steps without prompts before it looks for requests again; 0: one */
    bool whole_prompts;      /* a request is admitted only if all tokens of its prompt fit */
    bool reserves;           /* a request is admitted only if all its tokens will fit */
    struct roof_new_token_ratio ratio; /* for a share of new tokens, room is kept */
    int64_t sequences;                 /* most running sequences */
    int64_t blocks;                    /* of the KV cache; 0: unlimited */
    struct roof_drafts drafts;
    double prefix_hit;   /* fraction of a prompt that needs no prefill */
    int64_t part_blocks; /* prefix cache: blocks per id of a prompt; 0: no prefix cache */
    struct roof_timeline *timeline; /* records the activity of all copies, borrowed; NULL: none */
    bool timeline_passes_cache;     /* the timeline does not count the blocks of this copy */
    struct roof_halt halt;          /* checked from time to time */
    double overhead_s;    /* from the arrival of a request until the engine can schedule it */
    double front_s;       /* the part of it in which the engine handles one request at a time */
    double compile_s;     /* by which the first step with prompts and a full budget is longer */
    bool engine_overhead; /* overhead_s is the host work of the engine in expected times */
};

/* Sums over the steps in which a limit kept requests waiting. */
struct roof_limit_sums {
    double time_s;
    double waiting_s; /* times the number of waiting requests */
};

/* Sums over all steps, weighted by their times. */
struct roof_scheduler_sums {
    double busy_s;
    double running_s;
    double waiting_s;
    double blocks_s;
    double tokens_s;                  /* time of steps with prompt tokens */
    struct roof_limit_sums budget;    /* of tokens in a step */
    struct roof_limit_sums memory;    /* the size of the cache, also by what is computed again */
    struct roof_limit_sums sequences; /* the most running sequences */
    uint64_t steps;
    uint64_t preemptions;
    uint64_t finished;
    double decodes; /* with drafts: number of decode steps, summed over sequences */
    double decoded; /* tokens that these steps yielded */
};

struct roof_scheduler;

/* Receives each request when it ends; may push another. */
typedef enum roof_status roof_on_served(void *context, const struct roof_served *served,
                                        struct roof_error *error);

/* Opens a scheduler, which the caller owns: roof_scheduler_free. The table is borrowed. */
enum roof_status roof_scheduler_open(struct roof_scheduler **out,
                                     const struct roof_scheduler_limits *limits,
                                     struct roof_step_table *table, roof_on_served *on_served,
                                     void *context, struct roof_error *error);
void roof_scheduler_free(struct roof_scheduler *scheduler);

/* Returns true if a request alone fits the cache. Others must not be pushed. */
bool roof_scheduler_fits(const struct roof_scheduler *scheduler, int64_t prompt, int64_t generate);

/* Lets a new request, or one that another engine has begun, arrive at its ready_s. Calls are in the
 * order of these times. */
enum roof_status roof_scheduler_put(struct roof_scheduler *scheduler,
                                    const struct roof_served *request, struct roof_error *error);
/* Lets a new request arrive. Calls are in the order of arrival. */
enum roof_status roof_scheduler_push(struct roof_scheduler *scheduler, uint64_t number,
                                     const struct roof_arrival *arrival, struct roof_error *error);
/* Returns the load for a router that does not know the caches: the prompt tokens that a copy has
 * yet to compute at a time, including those of steps under way, and one for each request that has
 * not ended. */
int64_t roof_scheduler_load(const struct roof_scheduler *scheduler, double time_s);
/* Returns the load for a router that knows the caches: the blocks in use, those of waiting prompts,
 * and those that this request would add. */
int64_t roof_scheduler_burden(const struct roof_scheduler *scheduler,
                              const struct roof_arrival *request);

/* Runs all steps that begin before a time. */
enum roof_status roof_scheduler_run(struct roof_scheduler *scheduler, double until_s,
                                    struct roof_error *error);

/* Return the requests that arrived and have not begun, and those that have not ended. */
size_t roof_scheduler_waiting(const struct roof_scheduler *scheduler);
size_t roof_scheduler_present(const struct roof_scheduler *scheduler);
/* Returns the fraction of the cache that is in use. */
double roof_scheduler_use(const struct roof_scheduler *scheduler);

/* Returns when a scheduler with requests has work again after a run. */
double roof_scheduler_wakes(const struct roof_scheduler *scheduler);
double roof_scheduler_clock(const struct roof_scheduler *scheduler);
const struct roof_scheduler_sums *roof_scheduler_sums(const struct roof_scheduler *scheduler);

#endif
