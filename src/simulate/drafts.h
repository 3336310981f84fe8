// SPDX-License-Identifier: MIT
/* Speculative decoding in a simulation: how many drafted tokens each step accepts. */
#ifndef ROOF_SIMULATE_DRAFTS_H
#define ROOF_SIMULATE_DRAFTS_H

#include <stdint.h>

struct roof_drafts {
    int64_t tokens;    /* drafted in a step for each sequence that decodes; 0: none */
    double acceptance; /* probability that one is accepted if all before it are */
    uint64_t seed;
};

/* Returns how many tokens a step yields to a request that has generated some and wants a number of
 * them: the accepted ones and one more. It depends on the request and on what it has generated,
 * and on no other request. */
int64_t roof_drafts_yield(const struct roof_drafts *drafts, uint64_t request, int64_t generated,
                          int64_t wanted);

#endif
