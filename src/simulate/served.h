// SPDX-License-Identifier: MIT
/* A request on its way through an engine. */
#ifndef ROOF_SIMULATE_SERVED_H
#define ROOF_SIMULATE_SERVED_H

#include <stdbool.h>
#include <stdint.h>

/* A request with the times of its events. Times are NAN until they are known. */
struct roof_served {
    uint64_t number;
    double arrival_s;
    int64_t prompt;
    int64_t generate;
    int64_t elsewhere;   /* output tokens that a later copy generates after these */
    const uint64_t *ids; /* ids of the parts of its prompt (arrivals.h), borrowed; NULL: unknown */
    double ready_s;      /* when the engine can schedule it */
    double scheduled_s;  /* start of the first step that computes a part of it */
    double
        prefilled_s; /* when a prefill copy had computed its prompt; NAN without prefill copies */
    double moved_s;  /* when its cache had arrived from there; NAN without prefill copies */
    double first_s;  /* time of its first token */
    double last_s;   /* time of its last token */
    int64_t cached;  /* prompt tokens that were cached when it was first scheduled */
    int64_t preemptions;
    int64_t done;   /* tokens generated so far */
    bool has_cache; /* its cache came with it, so that only the last token needs a prefill */
};

#endif
