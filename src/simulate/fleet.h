// SPDX-License-Identifier: MIT
/* All copies of an engine that serve together: of one kind, or prefill copies and decode copies. In
 * the second case the cache of each prompt moves over the link between them: docs/simulation.md has
 * the rules. */
#ifndef ROOF_SIMULATE_FLEET_H
#define ROOF_SIMULATE_FLEET_H

#include "simulate/copies.h"

/* The transfer of a prompt to the decode copy. A lane sends or receives one prompt at a time; each
 * attention group of a copy's devices has one lane. */
struct roof_transfer {
    double send_s;    /* per prompt token: transfer time, during which the sending lane is busy */
    double receive_s; /* per prompt token: time during which the receiving lane is busy */
    size_t senders;   /* lanes of a prefill copy */
    size_t receivers; /* lanes of a decode copy */
    bool again;       /* the decode copy computes the first output token again */
};

/* The prefill copies. */
struct roof_prefills {
    size_t copies;
    struct roof_scheduler_limits limits; /* of each copy */
    struct roof_step_table *table;       /* borrowed */
    struct roof_transfer transfer;
};

/* The copies of a fleet, and its prefill copies if there are any. */
struct roof_fleet_inputs {
    size_t copies; /* number of all copies, or of decode copies */
    enum roof_router router;
    const struct roof_scheduler_limits *limits;
    struct roof_step_table *table;
    const struct roof_prefills *prefills; /* NULL: every copy prefills and decodes */
    bool closed; /* the end of a request lets another one arrive at that time */
};

/* Time sums of the prefill copies and of the link. */
struct roof_prefill_sums {
    double busy_s;   /* steps of the prefill copies */
    double budget_s; /* steps with a full token budget */
    double sends_s;  /* busy time of all sending lanes */
    double receives_s;
    double transfer_s; /* from the end of each prefill to the arrival of its cache */
    uint64_t transfers;
};

struct roof_fleet;

/* Opens a fleet, which the caller owns: roof_fleet_free. on_served may push another request at the
 * end time of the reported one. */
enum roof_status roof_fleet_open(struct roof_fleet **out, const struct roof_fleet_inputs *inputs,
                                 roof_on_served *on_served, void *context,
                                 struct roof_error *error);
void roof_fleet_free(struct roof_fleet *fleet);

/* Returns true if a request fits the caches of both kinds of copies. Others must not be pushed. */
bool roof_fleet_fits(const struct roof_fleet *fleet, int64_t prompt, int64_t generate);
/* Lets a request arrive. */
enum roof_status roof_fleet_push(struct roof_fleet *fleet, uint64_t number,
                                 const struct roof_arrival *request, struct roof_error *error);
/* Processes all events that begin before a time. */
enum roof_status roof_fleet_run(struct roof_fleet *fleet, double until_s, struct roof_error *error);

/* Returns the requests that wait for a prefill, for the link, or for decoding. */
size_t roof_fleet_waiting(const struct roof_fleet *fleet);
double roof_fleet_clock(const struct roof_fleet *fleet);
/* Adds up all copies. With prefill copies, the busy and full times and the steps count the decode
 * copies; running and waiting requests count all. */
void roof_fleet_sums(struct roof_scheduler_sums *out, const struct roof_fleet *fleet);
void roof_fleet_prefill_sums(struct roof_prefill_sums *out, const struct roof_fleet *fleet);

#endif
