// SPDX-License-Identifier: MIT
/* The accuracy loss of plans, and their order by the objective. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "decide/plan.h"

enum roof_accuracy_class roof_plan_class_loss(const struct roof_plan_problem *q)
{
    enum roof_accuracy_class loss = ROOF_ACCURACY_NONE;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const enum roof_precision given = q->base.weight[w];
        if (given != ROOF_PRECISION_AUTO && q->accuracy->of[given].loss > loss) {
            loss = q->accuracy->of[given].loss;
        }
    }
    return loss;
}

enum roof_accuracy_class roof_plan_loss(const struct roof_plan_problem *q, size_t serving)
{
    const struct roof_serving *const s = &q->engines->serving[serving];
    const enum roof_precision formats[] = {s->kv, s->weights, s->activations};
    /* A checkpoint of another model, made from this one, has the accuracy loss of its formats. */
    const bool own = roof_serving_own(s, q->model);
    const size_t count = own ? 1 : COUNT(formats);
    enum roof_accuracy_class loss = roof_plan_class_loss(q);
    for (size_t i = 0; i < count; i++) {
        const enum roof_accuracy_class one = q->accuracy->of[formats[i]].loss;
        loss = one > loss ? one : loss;
    }
    return loss;
}

int roof_plan_by_loss(const struct roof_plan *a, const struct roof_plan *b,
                      const struct roof_plan_problem *problem)
{
    const struct roof_serving *const x = &problem->engines->serving[a->serving];
    const struct roof_serving *const y = &problem->engines->serving[b->serving];
    const enum roof_precision formats[][2] = {
        {x->weights, y->weights}, {x->activations, y->activations}, {x->kv, y->kv}};
    if (a->loss != b->loss) {
        return a->loss < b->loss ? -1 : 1;
    }
    for (size_t i = 0; i < COUNT(formats); i++) {
        const double more = roof_precision_bits(formats[i][0]) - roof_precision_bits(formats[i][1]);
        if (more != 0) {
            return more > 0 ? -1 : 1;
        }
    }
    return 0;
}

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

/* Tells whether the weights are stored as published. */
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

/* Tells whether all plans have a price, so that different devices can be compared. */
static bool all_priced(const struct roof_plans *plans)
{
    size_t i = 0;
    while (i < plans->count && !isnan(plans->plan[i].cost)) {
        i++;
    }
    return i == plans->count;
}

/* The sort keys of a plan. They are sorted in place of the plans, which are large. */
struct ranked {
    const struct roof_plan *plan;
    const struct roof_plan_problem *problem;
    enum roof_plan_basis basis;
    double score;
    double worth; /* more is better: tokens/s per device, or per cost if all have a price */
    double user;  /* tokens/s per user */
    size_t place; /* position in the search, which breaks ties */
};

static struct ranked ranked_of(const struct roof_plan *plan,
                               const struct roof_plan_problem *problem, bool priced, size_t place)
{
    return (struct ranked){.plan = plan,
                           .problem = problem,
                           .basis = plan->basis,
                           .score = roof_plan_ranked_score(plan, problem),
                           .worth = priced ? 1 / plan->cost : plan->tokens_per_s_per_device,
                           .user = plan->tokens_per_s_per_user,
                           .place = place};
}

static int by_score(const void *a, const void *b)
{
    const struct ranked *const x = a;
    const struct ranked *const y = b;
    if (x->basis != y->basis) {
        return x->basis < y->basis ? -1 : 1;
    }
    if (isnan(x->score) != isnan(y->score)) {
        return isnan(y->score) ? -1 : 1;
    }
    if (x->score < y->score || x->score > y->score) {
        return x->score < y->score ? -1 : 1;
    }
    const int loss = roof_plan_by_loss(x->plan, y->plan, x->problem);
    if (loss != 0) {
        return loss;
    }
    if (x->user > y->user || x->user < y->user) {
        return x->user > y->user ? -1 : 1;
    }
    return x->place < y->place ? -1 : 1;
}

static int by_user(const void *a, const void *b)
{
    const struct ranked *const x = a;
    const struct ranked *const y = b;
    if (x->basis != y->basis) {
        return x->basis < y->basis ? -1 : 1;
    }
    const double user = y->user - x->user;
    const double worth = y->worth - x->worth;
    const int order = user != 0 ? (user > 0) - (user < 0) : (worth > 0) - (worth < 0);
    return order != 0 ? order : x->place < y->place ? -1 : 1;
}

/* Marks the plans on the Pareto fronts, one per basis; `all` has all plans of *out. */
static void mark_pareto(struct roof_plans *out, struct ranked *all)
{
    double most = -1;
    qsort(all, out->count, sizeof *all, by_user);
    for (size_t i = 0; i < out->count; i++) {
        most = i > 0 && all[i].basis != all[i - 1].basis ? -1 : most;
        out->plan[all[i].place].pareto = all[i].worth > most;
        most = fmax(most, all[i].worth);
    }
}

enum roof_status roof_plans_rank(struct roof_plans *out, const struct roof_plan_problem *problem,
                                 struct roof_error *error)
{
    struct ranked *const all = malloc((out->count + 1) * sizeof *all);
    struct roof_plan *const sorted = malloc((out->count + 1) * sizeof *sorted);
    if (all == NULL || sorted == NULL) {
        free(all);
        free(sorted);
        return roof_no_memory(error);
    }
    out->priced = all_priced(out);
    for (size_t i = 0; i < out->count; i++) {
        all[i] = ranked_of(&out->plan[i], problem, out->priced, i);
    }
    mark_pareto(out, all);
    qsort(all, out->count, sizeof *all, by_score);
    for (size_t i = 0; i < out->count; i++) {
        sorted[i] = *all[i].plan;
    }
    free(all);
    free(out->plan);
    out->plan = sorted;
    return ROOF_OK;
}

/* Merges the plans of two searches into the order of one: by hardware and formats. */
static void merge(struct ranked *out, const struct roof_plans *a, const struct roof_plans *b,
                  const struct roof_plan_problem *problem)
{
    const bool priced = all_priced(a) && all_priced(b);
    size_t j = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct roof_plan *const next = &a->plan[i];
        while (j < b->count &&
               (b->plan[j].hardware < next->hardware ||
                (b->plan[j].hardware == next->hardware && b->plan[j].serving < next->serving))) {
            out[i + j] = ranked_of(&b->plan[j], problem, priced, i + j);
            j++;
        }
        out[i + j] = ranked_of(next, problem, priced, i + j);
    }
    for (; j < b->count; j++) {
        out[a->count + j] = ranked_of(&b->plan[j], problem, priced, a->count + j);
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
    const size_t count = out->count + beyond->count;
    struct ranked *const all = malloc((count + 1) * sizeof *all);
    if (all == NULL) {
        return roof_no_memory(error);
    }
    assert(count > 0);
    merge(all, out, beyond, problem);
    const struct ranked *first = all;
    for (size_t i = 1; i < count; i++) {
        first = by_score(&all[i], first) < 0 ? &all[i] : first;
    }
    if (first->plan->loss > problem->max_loss && first->basis == roof_plans_first_basis(out)) {
        out->beyond = *first->plan;
    }
    free(all);
    return ROOF_OK;
}
