// SPDX-License-Identifier: MIT
/*
 * The scheduler of one copy of an engine, step by step: docs/simulation.md has its rules.
 *
 * Every sequence that decodes takes part in every step, so the steps of a sequence are known when
 * it begins to decode: a heap has their ends, the sum of all contexts grows by the number of
 * sequences, and sixteen counters say how many sequences need a block of the cache in which step.
 * So a step takes a time that does not depend on how many sequences run, and steps between two
 * events are run in one loop. With drafts, whose tokens are drawn for each sequence, a step looks
 * at every sequence that decodes.
 *
 * With the S stages of a pipeline there are S groups of sequences, which take turns: a step is that
 * of one group, and as many are under way.
 */
#ifndef ROOF_SIMULATE_SCHEDULER_H
#define ROOF_SIMULATE_SCHEDULER_H

#include "base/halt.h"
#include "simulate/arrivals.h"
#include "simulate/drafts.h"
#include "simulate/prefix_cache.h"
#include "simulate/served.h"
#include "simulate/step_table.h"
#include "simulate/timeline.h"

/* The budget of an engine that prefills whole prompts. */
#define ROOF_BUDGET_WHOLE INT64_MAX

struct roof_scheduler_limits {
    int64_t stages; /* S of a pipeline, each of which has a step under way; 0: one */
    /* A table of steps that are alone in the pipeline, borrowed; NULL with one stage. The table
     * that a scheduler is opened with has S times the slowest stage. */
    struct roof_step_table *path;
    int64_t budget;         /* most tokens of prompts in a step, or ROOF_BUDGET_WHOLE */
    bool budget_has_decode; /* the tokens of sequences that decode count, too */
    bool separates;         /* prompts have separate steps, before all that decode */
    bool ahead;             /* a step is put together while the one before it runs */
    int64_t interval;       /* steps without prompts until it looks for requests again; 0: one */
    bool reserves;     /* a request is admitted only with room for all of its tokens to its end */
    int64_t sequences; /* most that run at once */
    int64_t blocks;    /* of the KV cache; 0: without end */
    struct roof_drafts drafts;
    double prefix_hit;   /* fraction of a prompt that needs no prefill */
    int64_t part_blocks; /* prefix cache: blocks for each id of a prompt; 0: there is none */
    double scale;        /* of the times of steps */
    struct roof_timeline *timeline; /* is told what all copies do, borrowed; NULL: none */
    bool timeline_passes_cache;     /* of this copy it counts no blocks */
    struct roof_halt halt;          /* asked now and then */
    double overhead_s;              /* from the arrival of a request to the engine */
    bool engine_overhead; /* that is what the engine does on the host, in expected times */
};

/* Sums over all steps, weighted with their times. */
struct roof_scheduler_sums {
    double busy_s;
    double running_s;
    double waiting_s;
    double blocks_s;
    double tokens_s;    /* time of steps with tokens of prompts */
    double budget_s;    /* of steps that a full budget kept from taking more prompts */
    double memory_s;    /* of steps that a full cache did */
    double sequences_s; /* of steps that the limit of sequences did */
    uint64_t steps;
    uint64_t preemptions;
    uint64_t finished;
    double decodes; /* with drafts: steps of each sequence that decoded */
    double decoded; /* and the tokens that these yielded */
};

struct roof_scheduler;

/* Is told of each request when it ends; may push another. */
typedef enum roof_status roof_on_served(void *context, const struct roof_served *served,
                                        struct roof_error *error);

/* Opens a scheduler, which the caller owns: roof_scheduler_free. The table is borrowed. */
enum roof_status roof_scheduler_open(struct roof_scheduler **out,
                                     const struct roof_scheduler_limits *limits,
                                     struct roof_step_table *table, roof_on_served *on_served,
                                     void *context, struct roof_error *error);
void roof_scheduler_free(struct roof_scheduler *scheduler);

/* Returns true if a request fits the cache when it is alone. Others must not be pushed. */
bool roof_scheduler_fits(const struct roof_scheduler *scheduler, int64_t prompt, int64_t generate);

/* Lets a request that another engine has begun arrive, or a new one, at its ready_s: not before one
 * that came earlier. */
enum roof_status roof_scheduler_put(struct roof_scheduler *scheduler,
                                    const struct roof_served *request, struct roof_error *error);
/* Lets a new request arrive, not before one that came earlier. */
enum roof_status roof_scheduler_push(struct roof_scheduler *scheduler, uint64_t number,
                                     const struct roof_arrival *arrival, struct roof_error *error);
/* Returns the tokens of prompts that a copy has still to compute at a time, those of steps that are
 * under way included, and one for each request that did not end: what a router weighs that knows
 * no caches. */
int64_t roof_scheduler_load(const struct roof_scheduler *scheduler, double time_s);
/* Returns the blocks that are in use, that prompts which wait will have, and that this one would
 * add: what a router weighs that knows the caches of its copies. */
int64_t roof_scheduler_burden(const struct roof_scheduler *scheduler,
                              const struct roof_arrival *request);

/* Runs all steps that begin before a time. */
enum roof_status roof_scheduler_run(struct roof_scheduler *scheduler, double until_s,
                                    struct roof_error *error);

/* Requests that arrived and did not begin, and all that did not end. */
size_t roof_scheduler_waiting(const struct roof_scheduler *scheduler);
size_t roof_scheduler_present(const struct roof_scheduler *scheduler);
/* Returns the fraction of the cache that is in use. */
double roof_scheduler_use(const struct roof_scheduler *scheduler);

/* Returns when a scheduler that was run, and has requests, has something to do again. */
double roof_scheduler_wakes(const struct roof_scheduler *scheduler);
double roof_scheduler_clock(const struct roof_scheduler *scheduler);
const struct roof_scheduler_sums *roof_scheduler_sums(const struct roof_scheduler *scheduler);

#endif
