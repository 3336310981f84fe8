// SPDX-License-Identifier: MIT
/* The splits of a model over devices that a search for plans tries. */
#ifndef ROOF_DECIDE_PLAN_SPLIT_H
#define ROOF_DECIDE_PLAN_SPLIT_H

#include "decide/plan.h"

struct roof_splits {
    struct roof_split *split; /* sorted by devices, then tp, pp and moe_ep; owned */
    size_t count;
};

/* Lists the splits that have the sizes in the problem and whose copies fill one of its numbers of
 * devices; not all of them divide the model. On success the caller owns *out: roof_splits_free. */
enum roof_status roof_plan_splits(struct roof_splits *out, const struct roof_plan_problem *problem,
                                  struct roof_error *error);
void roof_splits_free(struct roof_splits *splits);

/* Puts a split into a scenario: as "ep" if that describes all of it. */
void roof_split_put(struct roof_scenario *out, const struct roof_split *split);

/* Tells whether an allowed number of copies fills a number of devices. */
bool roof_plan_fills(const struct roof_plan_problem *problem, const struct roof_split *split,
                     int64_t devices);
/* Counts the numbers of devices that such copies fill. */
size_t roof_plan_uses(const struct roof_plan_problem *problem, const struct roof_split *split);

/* Returns the least number of devices for the given sizes of a split and the given copies. */
int64_t roof_plan_devices_needed(const struct roof_plan_problem *problem);

/* Refuses sizes that no split of the model has, or none over the numbers of devices. */
enum roof_status roof_plan_check_split(const struct roof_plan_problem *problem,
                                       struct roof_error *error);

#endif
