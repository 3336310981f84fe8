// SPDX-License-Identifier: MIT
#include "decide/rate_candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "decide/plan_split.h"
#include "decide/rate_copies.h"

/* The number of candidates per device, for copies of one kind and of two kinds. */
#define WAYS_OF_DEVICE 4
/* The number of these whose prefill copies have the same number of devices. Larger copies have less
 * throughput per device, but shorter prefills and so shorter waits, which the closed form does not
 * have. */
#define WAYS_OF_PREFILL 2
/* The number of candidates with pipeline stages per device and kind, in addition to those above. */
#define WAYS_STAGED 2

double roof_rate_score(const struct roof_plan *plan, const struct roof_plan_problem *problem,
                       double devices)
{
    if (problem->objective == ROOF_PLAN_ENERGY) {
        return devices * plan->watt / (double)plan->devices;
    }
    return problem->objective == ROOF_PLAN_COST ? devices * problem->price[plan->hardware]
                                                : devices;
}

static bool same_way(const struct roof_plan *a, const struct roof_plan *b)
{
    return a->hardware == b->hardware && a->serving == b->serving && a->basis == b->basis &&
           memcmp(&a->split, &b->split, sizeof a->split) == 0 &&
           roof_rate_apart(a) == roof_rate_apart(b) &&
           (!roof_rate_apart(a) ||
            memcmp(&a->prefill.split, &b->prefill.split, sizeof a->split) == 0);
}

double roof_rate_devices(const struct roof_rate_plan *way, double rate)
{
    const struct roof_plan *const p = &way->plan;
    if (!roof_rate_apart(p)) {
        return fmax(1, rate / way->most) * (double)p->devices;
    }
    return fmax(1, rate / roof_rate_prefilled(p)) * (double)roof_split_devices(&p->prefill.split) +
           fmax(1, rate / way->most) * (double)roof_split_devices(&p->split);
}

/* Adds a plan as a candidate, or as the better batch or kernels of an existing one. */
static void add_plan(struct roof_rate_plan *way, size_t *count, const struct roof_plan *plan,
                     const struct roof_plan_problem *problem)
{
    const double most = roof_rate_apart(plan) ? plan->prefill.served / (double)plan->dp
                                              : plan->tokens_per_s / (double)problem->base.generate;
    size_t i = 0;
    while (i < *count && !same_way(&way[i].plan, plan)) {
        i++;
    }
    if (i == *count) {
        way[(*count)++] = (struct roof_rate_plan){
            .plan = *plan, .most = most, .most_devices = ROOF_RATE_ANY_DEVICES};
    } else if (most > way[i].most) {
        way[i].plan = *plan;
        way[i].most = most;
    }
}

int roof_rate_by_score(const void *a, const void *b)
{
    const struct roof_rate_place *const x = a;
    const struct roof_rate_place *const y = b;
    if (x->bound != y->bound) {
        return x->bound ? 1 : -1;
    }
    if (x->score != y->score && !isnan(x->score) && !isnan(y->score)) {
        return x->score < y->score ? -1 : 1;
    }
    return x->way < y->way ? -1 : 1;
}

/* Tells whether enough candidates were chosen that are like a plan: of its device and kind, and
 * with prefill copies of its size. */
static bool has_enough(const struct roof_rate_plans *out, const struct roof_plan *plan)
{
    const bool apart = roof_rate_apart(plan);
    const bool staged = roof_rate_staged(plan);
    const int64_t size = apart ? roof_split_devices(&plan->prefill.split) : 0;
    size_t of_device = 0;
    size_t of_prefill = 0;
    for (size_t i = 0; i < out->tried; i++) {
        const struct roof_plan *const other = &out->way[i].plan;
        if (other->hardware == plan->hardware && roof_rate_apart(other) == apart &&
            roof_rate_staged(other) == staged) {
            of_device++;
            of_prefill += apart && roof_split_devices(&other->prefill.split) == size ? 1 : 0;
        }
    }
    return of_device == (staged ? WAYS_STAGED : WAYS_OF_DEVICE) || of_prefill == WAYS_OF_PREFILL;
}

/* Tells whether copies with a number of devices and of requests/s serve at least as many per device
 * as others, in whole copies. */
static bool serves_more(int64_t devices, double rate, int64_t others, double their_rate)
{
    const int64_t copies = others / devices;
    return others % devices == 0 && rate * (double)copies >= their_rate;
}

/* Tells whether a plan without stages makes one with stages needless, in the same formats on the
 * same device: its copies fill the same devices, serve as many requests in the closed form, and
 * need no longer for a first token. The closed form has all advantages of stages but that their
 * requests wait in one queue, and the waits are the same: docs/formulas.md, "Copies for a rate". */
static bool makes_needless(const struct roof_rate_plan *whole, const struct roof_rate_plan *staged)
{
    const struct roof_plan *const a = &whole->plan;
    const struct roof_plan *const b = &staged->plan;
    if (roof_rate_staged(a) || a->hardware != b->hardware || a->serving != b->serving ||
        a->basis != b->basis || roof_rate_apart(a) != roof_rate_apart(b) || a->ttft_s > b->ttft_s) {
        return false;
    }
    return serves_more(roof_split_devices(&a->split), whole->most, roof_split_devices(&b->split),
                       staged->most) &&
           (!roof_rate_apart(a) ||
            serves_more(roof_split_devices(&a->prefill.split), roof_rate_prefilled(a),
                        roof_split_devices(&b->prefill.split), roof_rate_prefilled(b)));
}

static bool is_needless(const struct roof_rate_plan *way, size_t ways,
                        const struct roof_rate_plan *staged)
{
    for (size_t i = 0; i < ways; i++) {
        if (makes_needless(&way[i], staged)) {
            return true;
        }
    }
    return false;
}

/* Chooses candidates, with pipeline stages or without, in the order of their need. */
static void choose_some(struct roof_rate_plans *out, const struct roof_rate_plan *way,
                        const struct roof_rate_place *place, bool staged)
{
    const size_t most = staged ? out->tried + ROOF_RATE_STAGED_MAX : ROOF_RATE_WHOLE_MAX;
    for (size_t i = 0; i < out->ways && out->tried < most; i++) {
        const struct roof_rate_plan *const one = &way[place[i].way];
        if (roof_rate_staged(&one->plan) == staged && !has_enough(out, &one->plan) &&
            !(staged && is_needless(way, out->ways, one))) {
            out->way[out->tried++] = *one;
        }
    }
}

static bool is_chosen(const struct roof_rate_plans *out, const struct roof_rate_plan *one)
{
    size_t i = 0;
    while (i < out->tried && !same_way(&out->way[i].plan, &one->plan)) {
        i++;
    }
    return i < out->tried;
}

/* Returns the score of a candidate with whole copies of each kind. */
static double whole_score(const struct roof_rate_plan *way, const struct roof_plan_problem *problem,
                          double rate)
{
    const struct roof_plan *const p = &way->plan;
    const bool apart = roof_rate_apart(p);
    const double size = (double)(apart ? roof_split_devices(&p->split) : p->devices);
    const double prefill = apart ? ceil(fmax(1, rate / roof_rate_prefilled(p))) *
                                       (double)roof_split_devices(&p->prefill.split)
                                 : 0;
    return roof_rate_score(p, problem, prefill + ceil(fmax(1, rate / way->most)) * size);
}

/* Chooses, on each device, the candidate that loses the least accuracy among those that need the
 * least in whole copies, because it ranks first if its simulation needs no more. */
static void choose_accurate(struct roof_rate_plans *out, const struct roof_rate_plan *way,
                            const struct roof_plan_problem *problem, double rate)
{
    for (size_t h = 0; h < problem->hardware_count && out->tried < ROOF_RATE_WHOLE_MAX; h++) {
        const struct roof_rate_plan *best = NULL;
        double least = 0;
        for (size_t i = 0; i < out->ways; i++) {
            const struct roof_plan *const p = &way[i].plan;
            const double score = whole_score(&way[i], problem, rate);
            if (p->hardware != h || roof_rate_staged(p) ||
                (best != NULL && p->basis > best->plan.basis)) {
                continue;
            }
            if (best == NULL || p->basis < best->plan.basis || score < least ||
                (score == least && roof_plan_by_loss(p, &best->plan, problem) < 0)) {
                best = &way[i];
                least = score;
            }
        }
        if (best != NULL && !is_chosen(out, best)) {
            out->way[out->tried++] = *best;
        }
    }
}

/* Chooses the candidates for simulation: those with the least need in the closed form, some for
 * each device. */
static void choose(struct roof_rate_plans *out, const struct roof_rate_plan *way,
                   struct roof_rate_place *place, const struct roof_rate_problem *q)
{
    const struct roof_plan_problem *const problem = &q->answer->problem;
    const double rate = q->load->arrivals->rate;
    for (size_t i = 0; i < out->ways; i++) {
        const struct roof_plan *const plan = &way[i].plan;
        place[i] = (struct roof_rate_place){
            .way = i,
            .bound = plan->basis == ROOF_PLAN_BOUND,
            .score = roof_rate_score(plan, problem, roof_rate_devices(&way[i], rate))};
    }
    qsort(place, out->ways, sizeof *place, roof_rate_by_score);
    choose_some(out, way, place, false);
    if (q->weight == NULL) {
        choose_accurate(out, way, problem, rate);
    }
    choose_some(out, way, place, true);
}

enum roof_status roof_rate_candidates(struct roof_rate_plans *out,
                                      const struct roof_rate_problem *problem,
                                      struct roof_error *error)
{
    const struct roof_plan_answer *const a = problem->answer;
    struct roof_rate_plan *const way = calloc(a->plans.count + 1, sizeof *way);
    struct roof_rate_place *const place = calloc(a->plans.count + 1, sizeof *place);
    if (way != NULL && place != NULL) {
        for (size_t i = 0; i < a->plans.count; i++) {
            add_plan(way, &out->ways, &a->plans.plan[i], &a->problem);
        }
        choose(out, way, place, problem);
    }
    const bool made = way != NULL && place != NULL;
    free(place);
    free(way);
    return made ? ROOF_OK : roof_no_memory(error);
}
