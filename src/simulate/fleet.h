// SPDX-License-Identifier: MIT
/*
 * All copies of an engine that serve together: of one kind, or some that prefill and others that
 * decode. Then the cache of each prompt goes from the former to the latter over the link between
 * them: docs/simulation.md has the rules.
 */
#ifndef ROOF_SIMULATE_FLEET_H
#define ROOF_SIMULATE_FLEET_H

#include "simulate/copies.h"

/* The way of a prompt to the copy that decodes. A lane sends or gets one prompt at a time: each
 * group of devices of a copy that shares attention has one. */
struct roof_transfer {
    double send_s;    /* for each token of the prompt: it is on its way, and keeps its lane */
    double receive_s; /* for each token: it keeps the lane where it arrives */
    size_t senders;   /* lanes of a copy that prefills */
    size_t receivers; /* and of one that decodes */
    bool again;       /* the first token is worked out again where the others are */
};

/* The copies that prefill. */
struct roof_prefills {
    size_t copies;
    struct roof_scheduler_limits limits; /* of a copy */
    struct roof_step_table *table;       /* borrowed */
    struct roof_transfer transfer;
};

/* These copies serve, with those that prefill for them. */
struct roof_fleet_inputs {
    size_t copies; /* all, or those that decode */
    enum roof_router router;
    const struct roof_scheduler_limits *limits;
    struct roof_step_table *table;
    const struct roof_prefills *prefills; /* NULL: every copy prefills and decodes */
    bool closed; /* a request that ends lets another one arrive at that time */
};

/* Sums over time of the copies that prefill, and of the link. */
struct roof_prefill_sums {
    double busy_s;   /* steps of the copies */
    double budget_s; /* of those with a full budget */
    double sends_s;  /* of all lanes */
    double receives_s;
    double transfer_s; /* from the end of a prefill to the arrival of its cache, of all requests */
    uint64_t transfers;
};

struct roof_fleet;

/* Opens a fleet, which the caller owns: roof_fleet_free. on_served may push another request, at the
 * time when the one it is told of ended. */
enum roof_status roof_fleet_open(struct roof_fleet **out, const struct roof_fleet_inputs *inputs,
                                 roof_on_served *on_served, void *context,
                                 struct roof_error *error);
void roof_fleet_free(struct roof_fleet *fleet);

/* Returns true if the caches of copies of each kind hold a request. Others must not be pushed. */
bool roof_fleet_fits(const struct roof_fleet *fleet, int64_t prompt, int64_t generate);
/* Lets a request arrive. */
enum roof_status roof_fleet_push(struct roof_fleet *fleet, uint64_t number,
                                 const struct roof_arrival *request, struct roof_error *error);
/* Does all that begins before a time. */
enum roof_status roof_fleet_run(struct roof_fleet *fleet, double until_s, struct roof_error *error);

/* Returns the requests that wait for a prefill, for the link, or to decode. */
size_t roof_fleet_waiting(const struct roof_fleet *fleet);
double roof_fleet_clock(const struct roof_fleet *fleet);
/* Adds up all copies; where some prefill, what is busy or full and the steps are those that decode,
 * and requests run or wait anywhere. */
void roof_fleet_sums(struct roof_scheduler_sums *out, const struct roof_fleet *fleet);
void roof_fleet_prefill_sums(struct roof_prefill_sums *out, const struct roof_fleet *fleet);

#endif
