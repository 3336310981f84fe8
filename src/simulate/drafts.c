// SPDX-License-Identifier: MIT
#include "simulate/drafts.h"

#include "simulate/random.h"

int64_t roof_drafts_yield(const struct roof_drafts *drafts, uint64_t request, int64_t generated,
                          int64_t wanted)
{
    const uint64_t bits = roof_random_hash(drafts->seed, request, (uint64_t)generated);
    const double unit = (double)(bits >> 11) * 0x1p-53; /* in [0, 1) */
    const int64_t left = wanted - generated;
    double power = drafts->acceptance; /* at least j drafts are accepted with the probability a^j */
    int64_t accepted = 0;
    /* Powers fall, so that the accepted drafts are the first ones. Ending the loop early would be
     * slower, because processors cannot predict that branch. */
    for (int64_t i = 0; i < drafts->tokens; i++) {
        accepted += unit < power ? 1 : 0;
        power *= drafts->acceptance;
    }
    return accepted + 1 < left ? accepted + 1 : left;
}
