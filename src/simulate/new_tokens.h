// SPDX-License-Identifier: MIT
/* The share of their new tokens for which an engine keeps room: new_token_ratio of SGLang. */
#ifndef ROOF_SIMULATE_NEW_TOKENS_H
#define ROOF_SIMULATE_NEW_TOKENS_H

#include <stdint.h>

/* docs/simulation.md ("Room for new tokens") has the rules and their sources. */
struct roof_new_token_ratio {
    double first; /* the share when the engine was idle */
    double least;
    int64_t decay_steps;   /* decode steps in which it falls from the first to the least */
    int64_t most_tokens;   /* new tokens of a request that count at most; 0: no room is kept */
    int64_t retract_steps; /* steps that the share of a full cache looks ahead */
};

#endif
