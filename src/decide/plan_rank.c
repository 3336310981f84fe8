// SPDX-License-Identifier: MIT
/* The order of plans, by the objective. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "decide/plan.h"

double roof_plan_score(const struct roof_plan *p, enum roof_plan_objective objective)
{
    switch (objective) {
    case ROOF_PLAN_THROUGHPUT:
        return -p->tokens_per_s_per_device;
    case ROOF_PLAN_LATENCY:
        return isnan(p->tpot_s) ? p->ttft_s : p->tpot_s;
    case ROOF_PLAN_COST:
        return p->cost;
    case ROOF_PLAN_ENERGY:
        return p->joule;
    }
    return 0;
}

/* Tells whether the weights are stored as they are published. */
static bool as_published(const struct roof_plan *p, const struct roof_plan_problem *q)
{
    const struct roof_serving *const s = &q->engines->serving[p->serving];
    const bool plain = q->model->quantization == NULL && s->layout == NULL;
    return roof_serving_published(s) || (plain && s->weights == ROOF_PRECISION_BF16);
}

double roof_plan_ranked_score(const struct roof_plan *plan, const struct roof_plan_problem *problem)
{
    const double plain = roof_plan_score(plan, problem->objective);
    return !as_published(plan, problem) ? plain
           : plain < 0                  ? plain * ROOF_PLAN_PUBLISHED
                                        : plain / ROOF_PLAN_PUBLISHED;
}

/* Tells whether all plans have a price, so that devices of different ones can be compared. */
static bool all_priced(const struct roof_plans *plans)
{
    size_t i = 0;
    while (i < plans->count && !isnan(plans->plan[i].cost)) {
        i++;
    }
    return i == plans->count;
}

/* A plan with its score and its place in the search, which breaks ties. */
struct ranked {
    double score;
    double worth; /* more is better: tokens/s per device, or for money where all have a price */
    size_t place;
    struct roof_plan plan;
};

static int by_score(const void *a, const void *b)
{
    const struct ranked *const x = a;
    const struct ranked *const y = b;
    if (x->plan.basis != y->plan.basis) {
        return x->plan.basis < y->plan.basis ? -1 : 1;
    }
    if (isnan(x->score) != isnan(y->score)) {
        return isnan(y->score) ? -1 : 1;
    }
    if (x->score < y->score || x->score > y->score) {
        return x->score < y->score ? -1 : 1;
    }
    if (x->plan.loss != y->plan.loss) {
        return x->plan.loss < y->plan.loss ? -1 : 1;
    }
    if (x->plan.tokens_per_s_per_user > y->plan.tokens_per_s_per_user ||
        x->plan.tokens_per_s_per_user < y->plan.tokens_per_s_per_user) {
        return x->plan.tokens_per_s_per_user > y->plan.tokens_per_s_per_user ? -1 : 1;
    }
    return x->place < y->place ? -1 : 1;
}

static int by_user(const void *a, const void *b)
{
    const struct ranked *const x = a;
    const struct ranked *const y = b;
    if (x->plan.basis != y->plan.basis) {
        return x->plan.basis < y->plan.basis ? -1 : 1;
    }
    const double user = y->plan.tokens_per_s_per_user - x->plan.tokens_per_s_per_user;
    const double worth = y->worth - x->worth;
    const int order = user != 0 ? (user > 0) - (user < 0) : (worth > 0) - (worth < 0);
    return order != 0 ? order : x->place < y->place ? -1 : 1;
}

enum roof_status roof_plans_rank(struct roof_plans *out, const struct roof_plan_problem *problem,
                                 struct roof_error *error)
{
    struct ranked *const all = malloc((out->count + 1) * sizeof *all);
    if (all == NULL) {
        return roof_no_memory(error);
    }
    out->priced = all_priced(out);
    for (size_t i = 0; i < out->count; i++) {
        all[i].score = roof_plan_ranked_score(&out->plan[i], problem);
        all[i].worth = out->priced ? 1 / out->plan[i].cost : out->plan[i].tokens_per_s_per_device;
        all[i].place = i;
        all[i].plan = out->plan[i];
    }
    qsort(all, out->count, sizeof *all, by_user);
    double most = -1;
    for (size_t i = 0; i < out->count; i++) {
        most = i > 0 && all[i].plan.basis != all[i - 1].plan.basis ? -1 : most;
        all[i].plan.pareto = all[i].worth > most;
        most = fmax(most, all[i].worth);
    }
    qsort(all, out->count, sizeof *all, by_score);
    for (size_t i = 0; i < out->count; i++) {
        out->plan[i] = all[i].plan;
    }
    free(all);
    return ROOF_OK;
}

/* Puts the plans of two searches in the order of one: by hardware and formats. */
static void merge(struct roof_plan *out, const struct roof_plans *a, const struct roof_plans *b)
{
    size_t j = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct roof_plan *const next = &a->plan[i];
        while (j < b->count &&
               (b->plan[j].hardware < next->hardware ||
                (b->plan[j].hardware == next->hardware && b->plan[j].serving < next->serving))) {
            *out++ = b->plan[j++];
        }
        *out++ = *next;
    }
    while (j < b->count) {
        *out++ = b->plan[j++];
    }
}

enum roof_plan_basis roof_plans_first_basis(const struct roof_plans *plans)
{
    enum roof_plan_basis first = plans->plan[0].basis;
    for (size_t i = 1; i < plans->count; i++) {
        first = plans->plan[i].basis < first ? plans->plan[i].basis : first;
    }
    return first;
}

enum roof_status roof_plans_keep_beyond(struct roof_plans *out, const struct roof_plans *beyond,
                                        const struct roof_plan_problem *problem,
                                        struct roof_error *error)
{
    struct roof_plans all = {.count = out->count + beyond->count};
    all.plan = malloc(all.count * sizeof *all.plan);
    if (all.plan == NULL) {
        return roof_no_memory(error);
    }
    merge(all.plan, out, beyond);
    const enum roof_status status = roof_plans_rank(&all, problem, error);
    if (status == ROOF_OK && all.plan[0].loss > problem->max_loss &&
        all.plan[0].basis == roof_plans_first_basis(out)) {
        out->beyond = all.plan[0];
    }
    free(all.plan);
    return status;
}
