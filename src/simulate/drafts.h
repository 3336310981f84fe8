// SPDX-License-Identifier: MIT
/* Speculative decoding in a simulation: how many drafted tokens each step accepts. */
#ifndef ROOF_SIMULATE_DRAFTS_H
#define ROOF_SIMULATE_DRAFTS_H

#include <stdint.h>

struct roof_drafts {
    int64_t tokens;    /* draft tokens per step and decoding sequence; 0: none */
    double acceptance; /* probability that a draft token is accepted if all before it are */
    uint64_t seed;
};

/* Returns the tokens that a step yields to a request that has generated some and may get a limited
 * number more: the accepted ones and one more. It depends only on the request and on its generated
 * tokens. */
int64_t roof_drafts_yield(const struct roof_drafts *drafts, uint64_t request, int64_t generated,
                          int64_t wanted);

#endif
