// SPDX-License-Identifier: MIT
/* Disaggregated plans: some copies of a model prefill, others decode, and the cache of each prompt
 * goes from the former to the latter over the link between them. docs/formulas.md derives it. */
#ifndef ROOF_DECIDE_PLAN_DISAGGREGATED_H
#define ROOF_DECIDE_PLAN_DISAGGREGATED_H

#include "decide/plan_predict.h"
#include "decide/plan_split.h"

struct roof_disaggregated {
    struct roof_plan *plan; /* owned */
    size_t count;
    size_t rejected[ROOF_REJECTED_COUNT]; /* copies of either kind */
};

/* Finds the plans of one combination of formats on one device, which `plan` gives: for each copy
 * that decodes, and each number of devices, the best copies that prefill for it. There are none
 * without requests of two tokens or more, and none where no engine runs them. On success the caller
 * owns out->plan. */
enum roof_status roof_plan_disaggregate(struct roof_disaggregated *out,
                                        const struct roof_plan_predictor *predictor,
                                        const struct roof_splits *splits,
                                        const struct roof_plan *plan);

/* Two kinds of copies that share a number of devices. */
struct roof_share {
    int64_t devices;
    int64_t prefill; /* devices of a copy that prefills */
    int64_t decode;  /* of one that decodes */
    double requests; /* prompts/s of a copy that prefills */
    double served;   /* requests/s of a copy that decodes */
};
/* Returns how many copies prefill, so that the most requests/s pass through both kinds and all
 * devices are used; 0: no numbers of copies use all. */
int64_t roof_prefill_copies(const struct roof_share *share);

#endif
