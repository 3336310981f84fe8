// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "decide/plan_inputs.h"

/* Also searches the other engines and disaggregated plans, which a script does not start, to report
 * if one of them is better. */
static enum roof_status search_others(struct roof_plan_answer *answer,
                                      const struct roof_plan_inputs *inputs,
                                      struct roof_error *error)
{
    const bool requests = answer->problem.base.generate > 1 &&
                          (answer->problem.base.dp == 0 || answer->problem.one_copy);
    if (inputs->emit == NULL || (answer->wide == answer->problem.by && !requests)) {
        return ROOF_OK;
    }
    struct roof_plan_problem problem = answer->problem;
    problem.kind = requests ? ROOF_PLAN_ANY : ROOF_PLAN_AGGREGATED;
    problem.by = answer->wide;
    problem.by_measured = answer->wide_measured;
    const enum roof_status status = roof_plan_search(&answer->others, &problem, error);
    return status == ROOF_UNSATISFIED ? ROOF_OK : status;
}

/* Gives the best plan the formats with a name: its own if they have that name, or else others with
 * its KV cache, or any. */
static enum roof_status with_formats(struct roof_plan *out, const struct roof_plan_answer *answer,
                                     const char *name, struct roof_error *error)
{
    const struct roof_engines *const engines = answer->problem.engines;
    const struct roof_serving *const s = engines->serving;
    const struct roof_plan *const best = &answer->plans.plan[0];
    *out = *best;
    out->serving = engines->servings;
    for (size_t i = 0; i < engines->servings; i++) {
        const bool found = out->serving < engines->servings;
        const bool nearer =
            !found || (s[out->serving].kv != s[best->serving].kv && s[i].kv == s[best->serving].kv);
        if (answer->plans.model[i] != NULL && roof_serving_called(engines, i, name) &&
            roof_plan_engines(&answer->problem, i, best->hardware) != 0 &&
            (nearer || i == best->serving)) {
            out->serving = i;
        }
    }
    return out->serving < engines->servings
               ? ROOF_OK
               : roof_error_set(error, ROOF_UNSATISFIED, "no engine runs %s on %s", name,
                                answer->problem.hardware[best->hardware]->id);
}

/* Moves the best plan to a device: with its formats, or else with those of the best plan there, or
 * else with those of least loss. */
static enum roof_status on_device(struct roof_plan *out, const struct roof_plan_answer *answer,
                                  size_t hardware, const char *name, struct roof_error *error)
{
    const struct roof_plans *const plans = &answer->plans;
    *out = plans->plan[0];
    out->hardware = hardware;
    if (roof_plan_engines(&answer->problem, out->serving, hardware) == 0) {
        out->serving = roof_plan_least_loss(plans, &answer->problem, hardware);
        for (size_t i = plans->count; i > 0; i--) {
            if (plans->plan[i - 1].hardware == hardware) {
                out->serving = plans->plan[i - 1].serving; /* the best plan comes last */
            }
        }
    }
    const bool found = out->serving < answer->problem.engines->servings;
    if (found && answer->problem.serving != NULL && !answer->problem.serving[out->serving]) {
        return roof_error_set(error, ROOF_UNSATISFIED, "%s has no plan with these formats", name);
    }
    return found ? ROOF_OK : roof_error_set(error, ROOF_UNSATISFIED, "no engine runs on %s", name);
}

/* Explains two devices or formats, at the split and batch of their best plan. */
static enum roof_status explain_sides(struct roof_plan_answer *answer, const char *const name[2],
                                      struct roof_error *error)
{
    struct roof_plan side[2];
    bool formats = false;
    TRY(roof_plan_sides_are_formats(&formats, answer->problem.engines, name, error));
    for (int i = 0; i < 2; i++) {
        if (formats) {
            TRY(with_formats(&side[i], answer, name[i], error));
        } else {
            TRY(on_device(&side[i], answer, (size_t)i, name[i], error));
        }
    }
    answer->explained = true;
    return roof_plan_speedup(&answer->speedup, &side[0], &side[1], &answer->plans, &answer->problem,
                             error);
}

/* Explains the formats of the best plan by a comparison with those of least loss on the device. If
 * it already has these, it explains the device by a comparison with the next one that has a plan.
 */
static enum roof_status explain_best(struct roof_plan_answer *answer, struct roof_error *error)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan *const best = &plans->plan[0];
    struct roof_plan from = *best;
    from.serving = roof_plan_least_loss(plans, &answer->problem, best->hardware);
    bool differs = from.serving != best->serving;
    for (size_t i = 1; i < plans->count && !differs; i++) {
        differs = plans->plan[i].hardware != best->hardware && plans->plan[i].basis == best->basis;
        from.hardware = plans->plan[i].hardware;
        from.serving = plans->plan[i].serving;
        from.stack = plans->plan[i].stack;
    }
    const enum roof_status status =
        differs ? roof_plan_speedup(&answer->speedup, &from, best, plans, &answer->problem, error)
                : ROOF_OK;
    answer->explained = differs && status == ROOF_OK;
    return status == ROOF_USAGE ? ROOF_OK
                                : status; /* a failed comparison does not affect the plan */
}

static enum roof_status explain(struct roof_plan_answer *answer,
                                const struct roof_plan_inputs *inputs, struct roof_error *error)
{
    if (answer->plans.count == 0) {
        return ROOF_OK;
    }
    if (inputs->side[0] == NULL) {
        return inputs->explain && inputs->emit == NULL ? explain_best(answer, error) : ROOF_OK;
    }
    const enum roof_status status = explain_sides(answer, inputs->side, error);
    /* The question is valid; the engines or the model have no answer. */
    if (status == ROOF_USAGE && error != NULL) {
        error->status = ROOF_UNSATISFIED;
    }
    return status == ROOF_USAGE ? ROOF_UNSATISFIED : status;
}

/* Finds the largest batch of a copy that fits if the least given one does not. */
static enum roof_status find_most(struct roof_plan_answer *answer, struct roof_error *error)
{
    struct roof_plan_shortage *const out = &answer->shortage;
    const int64_t batch[] = {1, out->wanted};
    struct roof_plans plans = {0};
    struct roof_plan_problem changed = answer->problem;
    changed.batch = batch;
    changed.batches = COUNT(batch);
    changed.largest = ROOF_BATCHES_WITHIN;
    changed.kind = ROOF_PLAN_AGGREGATED;
    changed.beyond = ROOF_ACCURACY_NONE;
    const enum roof_status status = roof_plan_search(&plans, &changed, error);
    for (size_t i = 0; status == ROOF_OK && i < plans.count; i++) {
        if (plans.plan[i].batch > out->served) {
            out->most = plans.plan[i];
            out->served = out->most.batch;
        }
    }
    roof_plans_free(&plans);
    return status == ROOF_UNSATISFIED ? ROOF_OK : status;
}

/* Finds the number of requests that fit if these are too few, and changes that make room for the
 * others. */
static enum roof_status find_room(struct roof_plan_answer *answer, struct roof_error *error)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan_problem *const problem = &answer->problem;
    struct roof_plan_shortage *const out = &answer->shortage;
    if (plans->count > 0) {
        return ROOF_OK;
    }
    const double concurrency = problem->limit[ROOF_PLAN_LIMIT_CONCURRENCY];
    const bool given = problem->largest == ROOF_BATCHES_GIVEN;
    const bool missed = !given && plans->missed[ROOF_PLAN_LIMIT_CONCURRENCY] > 0;
    if (missed) {
        out->most = plans->nearest[ROOF_PLAN_LIMIT_CONCURRENCY];
        out->served = (int64_t)out->most.value[ROOF_PLAN_LIMIT_CONCURRENCY];
    }
    if (missed ||
        (plans->rejected[ROOF_REJECTED_MEMORY] > 0 && plans->rejected[ROOF_REJECTED_LIMIT] == 0)) {
        out->each = given || isnan(concurrency);
        out->wanted = out->each ? problem->batch[0] : (int64_t)concurrency;
    }
    if (out->each && out->wanted > 1) {
        TRY(find_most(answer, error));
    }
    const bool limited =
        plans->rejected[ROOF_REJECTED_LIMIT] > 0 || plans->rejected[ROOF_REJECTED_LOSS] > 0;
    return out->wanted > 0 || limited ? roof_plan_find_changes(answer, error) : ROOF_OK;
}

static bool same_split(const struct roof_split *a, const struct roof_split *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->attention_dp == b->attention_dp &&
           a->moe_tp == b->moe_tp && a->moe_ep == b->moe_ep;
}

/* Predicts the best plan at the requested number of requests, if it serves more. Its times are
 * defined as in the search. */
static enum roof_status find_asked(struct roof_plan_answer *answer, struct roof_error *error)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const double concurrency = problem->limit[ROOF_PLAN_LIMIT_CONCURRENCY];
    if (answer->plans.count == 0 || isnan(concurrency) || problem->largest == ROOF_BATCHES_GIVEN) {
        return ROOF_OK;
    }
    const struct roof_plan *const best = &answer->plans.plan[0];
    const int64_t batch = (int64_t)ceil(concurrency / (double)best->dp);
    if (best->prefill.copies > 0 || batch >= best->batch) {
        return ROOF_OK;
    }
    struct roof_plans plans = {0};
    struct roof_plan_problem changed = *problem;
    changed.batch = &batch;
    changed.batches = 1;
    changed.largest = ROOF_BATCHES_GIVEN;
    changed.devices = &best->devices;
    changed.device_counts = 1;
    changed.kind = ROOF_PLAN_AGGREGATED;
    changed.beyond = ROOF_ACCURACY_NONE;
    const enum roof_status status = roof_plan_search(&plans, &changed, error);
    for (size_t i = 0; status == ROOF_OK && i < plans.count; i++) {
        const struct roof_plan *const plan = &plans.plan[i];
        if (plan->hardware == best->hardware && plan->serving == best->serving &&
            plan->stack == best->stack && plan->dp == best->dp &&
            same_split(&plan->split, &best->split)) {
            answer->asked = *plan;
        }
    }
    roof_plans_free(&plans);
    return status == ROOF_UNSATISFIED ? ROOF_OK : status;
}

static enum roof_status fill_answer(struct roof_plan_answer *out,
                                    const struct roof_plan_inputs *inputs, struct roof_error *error)
{
    TRY(roof_plan_problem_make(out, inputs, error));
    TRY(search_others(out, inputs, error));
    if (inputs->explain && inputs->emit == NULL && inputs->side[0] == NULL) {
        out->problem.beyond =
            ROOF_ACCURACY_2_TO_5; /* the worst class that is recommended by default */
    }
    const enum roof_status status = roof_plan_search(&out->plans, &out->problem, error);
    if (status != ROOF_OK && status != ROOF_UNSATISFIED) {
        return status;
    }
    TRY(find_room(out, error));
    TRY(roof_plan_find_host(out, error));
    TRY(find_asked(out, error));
    return explain(out, inputs, error);
}

enum roof_status roof_plan_answer_open(struct roof_plan_answer **out,
                                       const struct roof_plan_inputs *inputs,
                                       struct roof_error *error)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = fill_answer(*out, inputs, error);
    if (status != ROOF_OK) {
        roof_plan_answer_free(*out);
        *out = NULL;
    }
    return status;
}

void roof_plan_answer_free(struct roof_plan_answer *answer)
{
    if (answer != NULL) {
        roof_plans_free(&answer->plans);
        roof_plans_free(&answer->others);
        roof_accuracy_free(&answer->accuracy);
        for (size_t i = 0; i < answer->problem.checkpoints; i++) {
            roof_model_free(answer->checkpoint[i]);
        }
        free(answer->checkpoint);
        roof_model_free(answer->model);
        free(answer->serving);
        free(answer->batch);
        free(answer->devices);
        free(answer->bare);
        free(answer->bares);
        free(answer);
    }
}
