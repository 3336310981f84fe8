// SPDX-License-Identifier: MIT
#include "decide/plan_split.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/grow.h"

/* --- the list ------------------------------------------------------------------------------ */

/* A list that grows. */
struct builder {
    struct roof_splits *out;
    size_t capacity;
    const struct roof_plan_problem *problem;
    struct roof_error *error;
};

static enum roof_status add(struct builder *b, const struct roof_split *split)
{
    struct roof_splits *const out = b->out;
    if (out->count == b->capacity) {
        struct roof_split *const grown = roof_grow(out->split, &b->capacity, 64, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(b->error);
        }
        out->split = grown;
    }
    out->split[out->count++] = *split;
    return ROOF_OK;
}

/* Tells whether a size equals the given one, if any. */
static bool is_given(int64_t given, int64_t size)
{
    return given == 0 || given == size;
}

/* Tells whether a split has the given sizes. */
static bool has_given(const struct roof_scenario *given, const struct roof_split *split)
{
    const int64_t ep = given->common.shape.ep;
    return is_given(given->tp, split->tp) && is_given(given->pp, split->pp) &&
           is_given(given->attention_dp, split->attention_dp) &&
           (split->moe_ep == 0 ||
            (is_given(given->moe_tp, split->moe_tp) && is_given(given->moe_ep, split->moe_ep))) &&
           (ep == 0 || (split->attention_dp == ep && !roof_split_apart(split)));
}

/* Adds the ways to split the experts over the devices of a stage. Unless one is given, only those
 * that engines have arguments for are added: each expert cut over all devices, experts dealt to all
 * devices, or dealt to the attention groups. */
static enum roof_status add_experts(struct builder *b, struct roof_split split)
{
    const struct roof_scenario *const given = &b->problem->base;
    const bool asked = given->moe_tp > 0 || given->moe_ep > 0;
    const int64_t stage = split.tp * split.attention_dp;
    if (b->problem->model->experts == 0) {
        return split.attention_dp == 1 && has_given(given, &split) ? add(b, &split) : ROOF_OK;
    }
    for (split.moe_ep = 1; split.moe_ep <= stage; split.moe_ep++) {
        const bool usual =
            split.moe_ep == 1 || split.moe_ep == stage || split.moe_ep == split.attention_dp;
        split.moe_tp = stage / split.moe_ep;
        if (stage % split.moe_ep == 0 && (usual || asked) && has_given(given, &split)) {
            TRY(add(b, &split));
        }
    }
    return ROOF_OK;
}

/* Adds the splits over a number of devices. */
static enum roof_status add_group(struct builder *b, int64_t group)
{
    const struct roof_scenario *const given = &b->problem->base;
    for (int64_t tp = 1; tp <= group; tp++) {
        const int64_t rest = group % tp == 0 && is_given(given->tp, tp) ? group / tp : 0;
        for (int64_t pp = 1; pp <= rest; pp++) {
            if (rest % pp == 0) {
                TRY(add_experts(
                    b, (struct roof_split){.tp = tp, .pp = pp, .attention_dp = rest / pp}));
            }
        }
    }
    return ROOF_OK;
}

/* Tells whether copies of a group fill a number of devices; offloading requires a single device. */
static bool fills(const struct roof_plan_problem *q, int64_t group, int64_t devices)
{
    const bool alone = q->base.offload == ROOF_OFFLOAD_NONE || devices == 1;
    return alone && devices % group == 0 && is_given(q->base.dp, devices / group);
}

bool roof_plan_fills(const struct roof_plan_problem *problem, const struct roof_split *split,
                     int64_t devices)
{
    return fills(problem, roof_split_devices(split), devices);
}

/* Counts the numbers of devices that copies of a group fill. */
static size_t uses_of(const struct roof_plan_problem *q, int64_t group)
{
    size_t uses = 0;
    for (size_t n = 0; n < q->device_counts; n++) {
        uses += fills(q, group, q->devices[n]);
    }
    return uses;
}

size_t roof_plan_uses(const struct roof_plan_problem *problem, const struct roof_split *split)
{
    return uses_of(problem, roof_split_devices(split));
}

enum roof_status roof_plan_splits(struct roof_splits *out, const struct roof_plan_problem *problem,
                                  struct roof_error *error)
{
    struct builder b = {.out = out, .problem = problem, .error = error};
    const int64_t most = roof_plan_most_devices(problem);
    enum roof_status status = ROOF_OK;
    *out = (struct roof_splits){0};
    for (int64_t group = 1; group <= most && status == ROOF_OK; group++) {
        status = uses_of(problem, group) > 0 ? add_group(&b, group) : ROOF_OK;
    }
    if (status != ROOF_OK) {
        roof_splits_free(out);
    }
    return status;
}

void roof_splits_free(struct roof_splits *splits)
{
    free(splits->split);
    *splits = (struct roof_splits){0};
}

void roof_split_put(struct roof_scenario *out, const struct roof_split *split)
{
    const bool apart = roof_split_apart(split);
    out->tp = split->tp;
    out->pp = split->pp;
    out->common.shape.ep = roof_split_ep(split);
    out->attention_dp = apart ? split->attention_dp : 0;
    out->moe_tp = apart ? split->moe_tp : 0;
    out->moe_ep = apart ? split->moe_ep : 0;
}

/* --- checks -------------------------------------------------------------------------------- */

static int64_t at_least_1(int64_t size)
{
    return size > 0 ? size : 1;
}

/* Returns the devices per stage that the given sizes need. */
static int64_t stage_needed(const struct roof_scenario *given)
{
    const int64_t ep = at_least_1(given->common.shape.ep);
    const int64_t attention_dp = at_least_1(given->attention_dp);
    const int64_t attention = at_least_1(given->tp) * (ep > attention_dp ? ep : attention_dp);
    const int64_t experts = at_least_1(given->moe_tp) * at_least_1(given->moe_ep);
    return experts > attention ? experts : attention;
}

int64_t roof_plan_most_devices(const struct roof_plan_problem *problem)
{
    return problem->devices[problem->device_counts - 1];
}

int64_t roof_plan_devices_needed(const struct roof_plan_problem *problem)
{
    return stage_needed(&problem->base) * at_least_1(problem->base.pp) *
           at_least_1(problem->base.dp);
}

/* Refuses sizes that never go together. */
static enum roof_status check_sizes(const struct roof_plan_problem *problem,
                                    struct roof_error *error)
{
    struct roof_scenario s;
    roof_scenario_init(&s);
    const struct roof_scenario *const given = &problem->base;
    s.tp = given->tp;
    s.pp = given->pp;
    s.common.shape.ep = given->common.shape.ep;
    s.attention_dp = given->attention_dp;
    s.moe_tp = given->moe_tp;
    s.moe_ep = given->moe_ep;
    return roof_scenario_resolve(&s, problem->model, error);
}

/* Refuses a split that does not divide the model. */
static enum roof_status check_division(const struct roof_split *split,
                                       const struct roof_plan_problem *problem,
                                       struct roof_error *error)
{
    struct roof_scenario s;
    roof_scenario_init(&s);
    s.tp = split->tp;
    s.pp = split->pp;
    s.attention_dp = split->attention_dp;
    s.moe_tp = split->moe_tp;
    s.moe_ep = split->moe_ep;
    s.common.shape.ep = problem->base.common.shape.ep;
    return roof_scenario_resolve(&s, problem->model, error);
}

/* Finds a split that divides the model; otherwise *error says what the first one does not divide.
 */
static enum roof_status check_any(const struct roof_splits *splits,
                                  const struct roof_plan_problem *problem, struct roof_error *error)
{
    enum roof_status status = ROOF_USAGE;
    for (size_t i = splits->count; i > 0 && status != ROOF_OK; i--) {
        status = check_division(&splits->split[i - 1], problem, error);
    }
    return status;
}

int64_t roof_plan_most_members(const struct roof_plan_problem *problem)
{
    struct roof_splits splits;
    int64_t most = 1;
    if (roof_plan_splits(&splits, problem, NULL) != ROOF_OK) {
        return most;
    }
    for (size_t i = 0; i < splits.count; i++) {
        const struct roof_split *const split = &splits.split[i];
        const int64_t members = split->tp * split->attention_dp;
        if (members > most && check_division(split, problem, NULL) == ROOF_OK) {
            most = members;
        }
    }
    roof_splits_free(&splits);
    return most;
}

/* Refuses sizes for which no split over the numbers of devices exists. */
static enum roof_status refuse_devices(const struct roof_plan_problem *problem,
                                       struct roof_error *error)
{
    const struct roof_scenario *const given = &problem->base;
    if (given->tp > 0 && given->attention_dp > 0) {
        TRY(check_sizes(problem, error));
    }
    return roof_error_set(error, ROOF_USAGE,
                          "the split needs %" PRId64
                          " devices or a multiple, and " ROOF_KEY("devices") " has none of these",
                          roof_plan_devices_needed(problem));
}

enum roof_status roof_plan_check_split(const struct roof_plan_problem *problem,
                                       struct roof_error *error)
{
    struct roof_splits splits;
    if (problem->model->experts == 0) {
        TRY(check_sizes(problem, error));
    }
    if (roof_plan_devices_needed(problem) == 1) {
        return ROOF_OK;
    }
    TRY(roof_plan_splits(&splits, problem, error));
    const enum roof_status status =
        splits.count == 0 ? refuse_devices(problem, error) : check_any(&splits, problem, error);
    roof_splits_free(&splits);
    return status;
}
