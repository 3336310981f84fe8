// SPDX-License-Identifier: MIT
/* A request on its way through an engine. */
#ifndef ROOF_SIMULATE_SERVED_H
#define ROOF_SIMULATE_SERVED_H

#include <stdbool.h>
#include <stdint.h>

/* Times are NAN until they come. */
struct roof_served {
    uint64_t number;
    double arrival_s;
    int64_t prompt;
    int64_t generate;
    int64_t elsewhere;   /* tokens that another copy generates after these */
    const uint64_t *ids; /* of the parts of its prompt (arrivals.h), borrowed; NULL: unknown */
    double ready_s;      /* when the engine sees it */
    double scheduled_s;  /* when the first step with a part of it began */
    double prefilled_s;  /* when its prompt was computed by a copy that only prefills; else NAN */
    double moved_s;      /* when the cache of its prompt had come from there; else NAN */
    double first_s;      /* its first token */
    double last_s;       /* its last token */
    int64_t cached;      /* tokens of the prompt that were there when it was first scheduled */
    int64_t preemptions;
    int64_t done;   /* tokens generated so far */
    bool has_cache; /* all tokens but the last one need no prefill: their cache came with it */
};

#endif
