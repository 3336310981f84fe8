// SPDX-License-Identifier: MIT
/* Disaggregated plans: some copies of a model prefill, others decode, and the cache of each prompt
 * is transferred from the former to the latter. docs/formulas.md derives the formulas. */
#ifndef ROOF_DECIDE_PLAN_DISAGGREGATED_H
#define ROOF_DECIDE_PLAN_DISAGGREGATED_H

#include "decide/plan_predict.h"
#include "decide/plan_split.h"

struct roof_disaggregated {
    struct roof_plan *plan; /* owned */
    size_t count;
    size_t rejected[ROOF_REJECTED_COUNT]; /* rejected copies of either kind */
};

/* Finds the plans for one combination of formats on one device, both given by `plan`: for each
 * decode copy, and each number of devices, the best prefill copies. There are none for requests
 * with fewer than two tokens, or without an engine that runs them. On success the caller owns
 * out->plan. */
enum roof_status roof_plan_disaggregate(struct roof_disaggregated *out,
                                        const struct roof_plan_predictor *predictor,
                                        const struct roof_splits *splits,
                                        const struct roof_plan *plan);

/* Two kinds of copies that share a number of devices. */
struct roof_share {
    int64_t devices;
    int64_t prefill; /* devices of a prefill copy */
    int64_t decode;  /* devices of a decode copy */
    double requests; /* prompts/s of a prefill copy */
    double served;   /* requests/s of a decode copy */
};
/* Returns the number of prefill copies that gives the most requests/s through both kinds of copies
 * and uses all devices; 0: no numbers of copies use all. */
int64_t roof_prefill_copies(const struct roof_share *share);

#endif
