// SPDX-License-Identifier: MIT
#include "decide/rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/crew.h"
#include "decide/plan_split.h"
#include "simulate/deployment.h"

/* The number of candidates per device, for copies of one kind and of two kinds. */
#define WAYS_OF_DEVICE 4
#define WAYS_APART 2
/* The most simulations in a search for copies of two kinds that keep the limits. */
#define TRIES_MAX 24
/* The token budgets to try, and the number of best plans that try them. */
static const int64_t chunks[] = {2048, 512};
#define WAYS_CHUNKED 2
/* The time fraction of a full limit of memory or sequences above which requests are considered to
 * wait for decode copies. */
#define FULL 0.25
/* A plan is given up if it needs this many times the copies of the closed form. */
#define GIVE_UP 16
/* The simulated requests per request in flight. With fewer than LEAST the engine does not fill up.
 */
#define PER_FLIGHT_LEAST 5
#define PER_FLIGHT 10
/* The most requests that are chosen, because more take too long without a request for them. */
#define REQUESTS_MAX 200000
/* The most rounds of choosing the number of requests, because longer simulations find more of them
 * in flight. */
#define ROUNDS 4

/* --- candidates ---------------------------------------------------------------------------- */

/* Returns the score of a plan with a number of devices: lower is better. */
static double score_of(const struct roof_plan *plan, const struct roof_plan_problem *problem,
                       double devices)
{
    if (problem->objective == ROOF_PLAN_ENERGY) {
        return devices * plan->watt / (double)plan->devices;
    }
    return problem->objective == ROOF_PLAN_COST ? devices * problem->price[plan->hardware]
                                                : devices;
}

static bool is_apart(const struct roof_plan *plan)
{
    return plan->prefill.copies > 0;
}

static bool same_way(const struct roof_plan *a, const struct roof_plan *b)
{
    return a->hardware == b->hardware && a->serving == b->serving && a->basis == b->basis &&
           memcmp(&a->split, &b->split, sizeof a->split) == 0 && is_apart(a) == is_apart(b) &&
           (!is_apart(a) || memcmp(&a->prefill.split, &b->prefill.split, sizeof a->split) == 0);
}

/* Returns the requests/s of one prefill copy in the closed form. */
static double prefilled_by_one(const struct roof_plan *plan)
{
    return plan->prefill.requests / (double)plan->prefill.copies;
}

/* Returns the devices that a rate needs in the closed form, with at least one copy of each kind. */
static double devices_for(const struct roof_rate_plan *way, double rate)
{
    const struct roof_plan *const p = &way->plan;
    if (!is_apart(p)) {
        return fmax(1, rate / way->most) * (double)p->devices;
    }
    return fmax(1, rate / prefilled_by_one(p)) * (double)roof_split_devices(&p->prefill.split) +
           fmax(1, rate / way->most) * (double)roof_split_devices(&p->split);
}

/* Adds a plan as a candidate, or as the better batch or kernels of an existing one. */
static void add_plan(struct roof_rate_plan *way, size_t *count, const struct roof_plan *plan,
                     const struct roof_plan_problem *problem)
{
    const double most = is_apart(plan) ? plan->prefill.served / (double)plan->dp
                                       : plan->tokens_per_s / (double)problem->base.generate;
    size_t i = 0;
    while (i < *count && !same_way(&way[i].plan, plan)) {
        i++;
    }
    if (i == *count) {
        way[(*count)++] = (struct roof_rate_plan){.plan = *plan, .most = most};
    } else if (most > way[i].most) {
        way[i].plan = *plan;
        way[i].most = most;
    }
}

/* The sort key of a candidate. */
struct place {
    size_t way;
    size_t device;
    bool bound;
    bool apart;
    double score;
};

static int by_score(const void *a, const void *b)
{
    const struct place *const x = a;
    const struct place *const y = b;
    if (x->bound != y->bound) {
        return x->bound ? 1 : -1;
    }
    if (x->score != y->score && !isnan(x->score) && !isnan(y->score)) {
        return x->score < y->score ? -1 : 1;
    }
    return x->way < y->way ? -1 : 1;
}

/* Chooses the candidates for simulation: those with the least need in the closed form, some for
 * each device. */
static void choose(struct roof_rate_plans *out, const struct roof_rate_plan *way,
                   struct place *place, double rate, const struct roof_plan_problem *problem)
{
    size_t of_device[ROOF_PLAN_HARDWARE_MAX][2] = {{0}};
    for (size_t i = 0; i < out->ways; i++) {
        const struct roof_plan *const plan = &way[i].plan;
        place[i] = (struct place){.way = i,
                                  .device = plan->hardware,
                                  .bound = plan->basis == ROOF_PLAN_BOUND,
                                  .apart = is_apart(plan),
                                  .score = score_of(plan, problem, devices_for(&way[i], rate))};
    }
    qsort(place, out->ways, sizeof *place, by_score);
    for (size_t i = 0; i < out->ways && out->tried < ROOF_RATE_WAYS_MAX; i++) {
        const bool apart = place[i].apart;
        if (of_device[place[i].device][apart]++ < (apart ? WAYS_APART : WAYS_OF_DEVICE)) {
            out->way[out->tried++] = way[place[i].way];
        }
    }
}

static enum roof_status find_ways(struct roof_rate_plans *out, const struct roof_plan_answer *a,
                                  double rate, struct roof_error *error)
{
    struct roof_rate_plan *const way = calloc(a->plans.count + 1, sizeof *way);
    struct place *const place = calloc(a->plans.count + 1, sizeof *place);
    if (way != NULL && place != NULL) {
        for (size_t i = 0; i < a->plans.count; i++) {
            add_plan(way, &out->ways, &a->plans.plan[i], &a->problem);
        }
        choose(out, way, place, rate, &a->problem);
    }
    const bool made = way != NULL && place != NULL;
    free(place);
    free(way);
    return made ? ROOF_OK : roof_no_memory(error);
}

/* --- the copies of a candidate ------------------------------------------------------------- */

/* A candidate whose number of copies is searched. */
struct trial {
    struct roof_simulation_inputs inputs;
    struct roof_arrivals arrivals;
    struct roof_deployments deployments;
};

/* Opens a copy of a candidate. If the memory is too small, or times are unknown, its deployment
 * stays closed. */
static enum roof_status open_trial(struct trial *t, const struct roof_rate_problem *problem,
                                   const struct roof_rate_plan *way, double rate,
                                   struct roof_error *error)
{
    const struct roof_plan_answer *const a = problem->answer;
    const struct roof_plan *const plan = &way->plan;
    struct roof_plan copy = *plan;
    struct roof_scenario scenario;
    struct roof_scenario prefill;
    copy.dp = 1;
    roof_plan_scenario(&scenario, &copy, &a->problem);
    scenario.common.shape.batch = problem->load->limits.sequences;
    if (way->chunk != problem->load->limits.budget) {
        scenario.chunk = way->chunk;
    }
    prefill = scenario;
    if (is_apart(plan)) {
        roof_split_put(&prefill, &plan->prefill.split);
    }
    t->inputs = *problem->load;
    t->inputs.limits.budget = way->chunk;
    t->inputs.limits.passes_first_token = !(plan->prefill.again_s > 0);
    t->arrivals = *problem->load->arrivals;
    t->arrivals.rate = rate;
    t->inputs.arrivals = &t->arrivals;
    const enum roof_status status = roof_deployments_open(
        &t->deployments, a->plans.model[plan->serving], &scenario, is_apart(plan) ? &prefill : NULL,
        a->problem.hardware[plan->hardware], plan->basis == ROOF_PLAN_BOUND, error);
    if (status == ROOF_UNSATISFIED || status == ROOF_USAGE) {
        roof_deployments_close(&t->deployments);
        return ROOF_OK;
    }
    return status;
}

/* Returns the largest latency / limit; above 1 if requests are rejected or the queue grows. */
static double excess_of(const struct roof_simulation *s,
                        const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    double excess = 0;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        if (!isnan(limit[i].time_s)) {
            excess = fmax(excess, s->latency[i].limited_s / limit[i].time_s);
        }
    }
    return s->saturated || s->rejected > 0 ? HUGE_VAL : excess;
}

/* Sets the copies of a candidate; `prefills` are the prefill copies, if there are any. */
static enum roof_status set_copies(struct trial *t, int64_t copies, int64_t prefills,
                                   struct roof_error *error)
{
    TRY(roof_deployments_scale(&t->deployments, copies, prefills, error));
    t->inputs.copies = (uint64_t)copies;
    roof_deployments_use(&t->inputs, &t->deployments);
    return ROOF_OK;
}

static enum roof_status try_copies(struct roof_simulation *out, double *excess, struct trial *t,
                                   int64_t copies, int64_t prefills, struct roof_error *error)
{
    TRY(set_copies(t, copies, prefills, error));
    TRY(roof_simulate(out, &t->inputs, error));
    *excess = excess_of(out, t->inputs.limit);
    return ROOF_OK;
}

/* Doubles the copies until they keep the limits; *few is the largest number that is known to miss
 * one. */
static enum roof_status double_copies(struct roof_rate_plan *way, int64_t *few, struct trial *t,
                                      int64_t first, struct roof_error *error)
{
    int64_t copies = first;
    TRY(try_copies(&way->at, &way->excess, t, copies, 0, error));
    while (way->excess > 1 && copies < first * GIVE_UP && 2 * copies <= ROOF_RATE_COPIES_MAX) {
        *few = copies;
        way->fewer = way->at;
        copies *= 2;
        TRY(try_copies(&way->at, &way->excess, t, copies, 0, error));
    }
    way->plan.dp = copies;
    return ROOF_OK;
}

/* Finds the least number of copies that keeps the limits, if there is any. */
static enum roof_status least_copies(struct roof_rate_plan *way, struct trial *t,
                                     struct roof_error *error)
{
    const double first = fmax(1, floor(t->arrivals.rate / way->most));
    int64_t few = 0;
    way->many = first > ROOF_RATE_COPIES_MAX;
    if (way->many) {
        return ROOF_OK;
    }
    TRY(double_copies(way, &few, t, (int64_t)first, error));
    way->serves = way->excess <= 1;
    while (way->serves && way->plan.dp - few > 1) {
        /* After the first guess it tries one less; between two tested numbers, the middle. */
        const int64_t middle = few == 0 && way->plan.dp == (int64_t)first
                                   ? way->plan.dp - 1
                                   : few + (way->plan.dp - few) / 2;
        struct roof_simulation tried;
        double excess = 0;
        TRY(try_copies(&tried, &excess, t, middle, 0, error));
        if (excess > 1) {
            few = middle;
            way->fewer = tried;
        } else {
            way->plan.dp = middle;
            way->at = tried;
            way->excess = excess;
        }
    }
    return ROOF_OK;
}

/* --- the copies of two kinds --------------------------------------------------------------- */

static int64_t more_copies(int64_t n)
{
    return n + (n < 4 ? 1 : n / 4);
}

/* Adds copies of the kind that a simulation lacks: decode copies for the time per token, and if
 * requests wait for their memory; prefill copies for the time to first token; both if the link is
 * busy all the time. */
static void grow(struct roof_plan *plan, const struct roof_simulation *s,
                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    const bool steps = s->latency[ROOF_LATENCY_TPOT].limited_s > limit[ROOF_LATENCY_TPOT].time_s;
    const bool full = s->full_memory >= FULL || s->full_sequences >= FULL;
    const bool link = s->link_busy > s->prefill_busy && s->saturated;
    const bool first =
        s->saturated || s->latency[ROOF_LATENCY_TTFT].limited_s > limit[ROOF_LATENCY_TTFT].time_s;
    const bool prefills = first && !full;
    plan->dp = steps || full || link || !prefills ? more_copies(plan->dp) : plan->dp;
    plan->prefill.copies = prefills ? more_copies(plan->prefill.copies) : plan->prefill.copies;
}

/* Removes copies of one kind while the limits are kept. */
static enum roof_status shrink(struct roof_rate_plan *way, int64_t *copies, struct trial *t,
                               struct roof_error *error)
{
    bool kept = true;
    while (kept && *copies > 1) {
        struct roof_simulation tried;
        double excess = 0;
        --*copies;
        TRY(try_copies(&tried, &excess, t, way->plan.dp, way->plan.prefill.copies, error));
        kept = excess <= 1;
        way->at = kept ? tried : way->at;
        way->excess = kept ? excess : way->excess;
        *copies += kept ? 0 : 1;
    }
    return ROOF_OK;
}

/* Finds minimal numbers of copies of both kinds that keep the limits, if there are any. */
static enum roof_status least_halves(struct roof_rate_plan *way, struct trial *t,
                                     struct roof_error *error)
{
    struct roof_plan *const p = &way->plan;
    const double prefills = fmax(1, floor(t->arrivals.rate / prefilled_by_one(p)));
    const double decodes = fmax(1, floor(t->arrivals.rate / way->most));
    way->many = fmax(prefills, decodes) > ROOF_RATE_COPIES_MAX;
    if (way->many) {
        return ROOF_OK;
    }
    p->prefill.copies = (int64_t)prefills;
    p->dp = (int64_t)decodes;
    TRY(try_copies(&way->at, &way->excess, t, p->dp, p->prefill.copies, error));
    for (int i = 0; i < TRIES_MAX && way->excess > 1; i++) {
        struct roof_plan grown = *p;
        grow(&grown, &way->at, t->inputs.limit);
        if (grown.dp > ROOF_RATE_COPIES_MAX || grown.prefill.copies > ROOF_RATE_COPIES_MAX) {
            return ROOF_OK;
        }
        *p = grown;
        TRY(try_copies(&way->at, &way->excess, t, p->dp, p->prefill.copies, error));
    }
    way->serves = way->excess <= 1;
    if (way->serves) {
        TRY(shrink(way, &p->dp, t, error));
        TRY(shrink(way, &p->prefill.copies, t, error));
    }
    return ROOF_OK;
}

/* --- one candidate ------------------------------------------------------------------------- */

/* Computes the values that follow from the number of copies. */
static void count_devices(struct roof_rate_plan *way, const struct roof_plan_problem *problem)
{
    const double price = problem->price == NULL ? ROOF_UNKNOWN : problem->price[way->plan.hardware];
    struct roof_plan *const p = &way->plan;
    const double watt = p->watt / (double)p->devices;
    p->devices = p->dp * roof_split_devices(&p->split) +
                 (is_apart(p) ? p->prefill.copies * roof_split_devices(&p->prefill.split) : 0);
    p->watt = watt * (double)p->devices;
    way->price = price * (double)way->plan.devices;
    way->cost = way->price / 3600 / way->at.tokens_per_s * 1e6;
    way->joule = way->plan.watt / way->at.tokens_per_s;
    way->max_rate = way->max_rate_low = way->max_rate_high = ROOF_UNKNOWN;
    way->open = false;
}

/* Finds the copies of a candidate for a rate. */
static enum roof_status serve(struct roof_rate_plan *way, const struct roof_rate_problem *problem,
                              double rate, struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    enum roof_status status = open_trial(&trial, problem, way, rate, error);
    way->rate = rate;
    way->serves = false;
    if (status == ROOF_OK && trial.deployments.copy.parts != NULL) {
        status = is_apart(&way->plan) ? least_halves(way, &trial, error)
                                      : least_copies(way, &trial, error);
    }
    if (status == ROOF_USAGE) { /* the link between that many devices is unknown: nothing serves */
        status = ROOF_OK;
        way->unlinked = trial.deployments.copy.devices + trial.deployments.prefill.devices;
    }
    roof_deployments_close(&trial.deployments);
    if (status == ROOF_OK && way->at.steps > 0) {
        count_devices(way, &problem->answer->problem);
    }
    return status;
}

/* --- the best candidates ------------------------------------------------------------------- */

/* Returns true if a plan is better than another one: it needs less, or has larger margins. */
static bool is_better(const struct roof_rate_plan *a, const struct roof_rate_plan *b,
                      const struct roof_plan_problem *problem)
{
    const double x = score_of(&a->plan, problem, (double)a->plan.devices);
    const double y = score_of(&b->plan, problem, (double)b->plan.devices);
    if (a->plan.basis != b->plan.basis) {
        return a->plan.basis == ROOF_PLAN_EXPECTED;
    }
    if (x != y && !(isnan(x) && isnan(y))) {
        return isnan(y) || x < y;
    }
    if (!isnan(a->max_rate) && !isnan(b->max_rate)) {
        return a->max_rate > b->max_rate;
    }
    return a->excess < b->excess;
}

/* Sorts plans by insertion, because there are few. */
static void sort_ways(struct roof_rate_plans *out, size_t count,
                      const struct roof_plan_problem *problem)
{
    for (size_t i = 1; i < count; i++) {
        const struct roof_rate_plan way = out->way[i];
        size_t at = i;
        while (at > 0 && is_better(&way, &out->way[at - 1], problem)) {
            out->way[at] = out->way[at - 1];
            at--;
        }
        out->way[at] = way;
    }
}

/* Plans that threads work on independently. */
struct team {
    const struct roof_rate_problem *problem;
    struct roof_rate_plan *way;
    struct roof_rate_plan *other; /* over time: those of each plan in turn */
};

static enum roof_status serve_way(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    return serve(&team->way[number], team->problem, team->problem->load->arrivals->rate, error);
}

static void count_miss(struct roof_rate_miss *miss, const struct roof_rate_plan *way)
{
    miss->tried++;
    miss->many += way->many ? 1 : 0;
    miss->unlinked = miss->unlinked > 0 ? miss->unlinked : way->unlinked;
}

/* Keeps the plans that serve the rate, and the closest one if none does. */
static enum roof_status serve_all(struct roof_rate_plans *out,
                                  const struct roof_rate_problem *problem, int64_t chunk,
                                  struct roof_error *error)
{
    struct roof_rate_plan *const all = calloc(out->tried + 1, sizeof *all);
    struct team team = {.problem = problem, .way = all};
    if (all == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < out->tried; i++) {
        all[i] = out->way[i];
        all[i].chunk = chunk;
    }
    const enum roof_status status =
        roof_crew_run(out->tried, problem->threads, serve_way, &team, error);
    memset(out->miss, 0, sizeof out->miss); /* of an earlier token budget */
    for (size_t i = 0; i < out->tried && status == ROOF_OK; i++) {
        const struct roof_rate_plan *const way = &all[i];
        if (way->serves) {
            out->way[out->count++] = *way;
            continue;
        }
        count_miss(&out->miss[way->plan.hardware], way);
        if (way->at.steps > 0 &&
            (out->nearest.at.steps == 0 || way->excess < out->nearest.excess)) {
            out->nearest = *way;
        }
    }
    free(all);
    sort_ways(out, out->count, &problem->answer->problem);
    return status;
}

/* Removes copies of a plan that a smaller token budget makes unnecessary. */
static enum roof_status try_chunk(struct roof_rate_plan *way,
                                  const struct roof_rate_problem *problem, int64_t chunk,
                                  struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    struct roof_rate_plan less = *way;
    bool kept = true;
    less.chunk = chunk;
    less.fewer = (struct roof_simulation){.steps = 0};
    enum roof_status status = open_trial(&trial, problem, &less, way->rate, error);
    while (status == ROOF_OK && trial.deployments.copy.parts != NULL && kept && less.plan.dp > 1) {
        status = try_copies(&less.at, &less.excess, &trial, --less.plan.dp, 0, error);
        kept = less.excess <= 1;
        if (status == ROOF_OK && kept) {
            *way = less;
        } else if (way->chunk == chunk) {
            way->fewer = less.at;
        }
    }
    roof_deployments_close(&trial.deployments);
    if (status == ROOF_OK && way->chunk == chunk) {
        count_devices(way, &problem->answer->problem);
    }
    return status;
}

/* Tries smaller token budgets for a plan. */
static enum roof_status chunk_way(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    struct roof_rate_plan *const way = &team->way[number];
    for (size_t c = 0; c < COUNT(chunks) && !is_apart(&way->plan); c++) {
        TRY(try_chunk(way, team->problem, chunks[c], error));
    }
    return ROOF_OK;
}

/* Tries smaller token budgets: for the best plans that serve the rate, and for all if none does. */
static enum roof_status try_chunks(struct roof_rate_plans *out,
                                   const struct roof_rate_problem *problem,
                                   struct roof_error *error)
{
    struct team team = {.problem = problem, .way = out->way};
    for (size_t c = 0; c < COUNT(chunks) && out->count == 0; c++) {
        TRY(serve_all(out, problem, chunks[c], error));
    }
    TRY(roof_crew_run(out->count < WAYS_CHUNKED ? out->count : WAYS_CHUNKED, problem->threads,
                      chunk_way, &team, error));
    sort_ways(out, out->count, &problem->answer->problem);
    return ROOF_OK;
}

/* Searches the greatest rate of a plan with its copies. */
static enum roof_status find_greatest(struct roof_rate_plan *way,
                                      const struct roof_rate_problem *problem,
                                      struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    struct roof_capacity found;
    enum roof_status status = open_trial(&trial, problem, way, way->rate, error);
    if (status == ROOF_OK) {
        status = set_copies(&trial, way->plan.dp, way->plan.prefill.copies, error);
    }
    if (status == ROOF_OK) {
        status = roof_capacity_find(&found, &trial.inputs, error);
    }
    roof_deployments_close(&trial.deployments);
    if (status == ROOF_OK) {
        way->open = found.open;
        way->max_rate = found.rate;
        way->max_rate_low = found.low;
        way->max_rate_high = found.high;
        roof_simulation_free(&found.at);
    }
    return status;
}

/* Returns true if two rates need the same copies. */
static bool same_copies(const struct roof_rate_plan *a, const struct roof_rate_plan *b)
{
    return a->plan.dp == b->plan.dp && a->plan.prefill.copies == b->plan.prefill.copies;
}

/* Finds the copies of a plan for number i of the rates over time, once. If there are none, it takes
 * those of a greater rate. */
static enum roof_status serve_number(struct roof_rate_plan *all, size_t i,
                                     const struct roof_rate_problem *problem,
                                     const struct roof_rate_plan *greater, struct roof_error *error)
{
    struct roof_rate_plan *const way = &all[i];
    if (way->rate > 0) {
        return ROOF_OK;
    }
    *way = *greater;
    TRY(serve(way, problem, problem->other[i], error));
    if (!way->serves) {
        *way = *greater;
        way->rate = problem->other[i];
    }
    return ROOF_OK;
}

/* Finds the copies of a plan for ascending rates, the greatest first: lower rates never need more
 * copies, so bisection finds the least rate with the same number. */
static enum roof_status serve_over_time(struct roof_rate_plan *all,
                                        const struct roof_rate_plan *way,
                                        const struct roof_rate_problem *problem,
                                        struct roof_error *error)
{
    const struct roof_rate_plan *greater = way;
    memset(all, 0, problem->others * sizeof *all);
    all[problem->others - 1] = *way; /* the search was for the greatest rate */
    for (size_t end = problem->others; end > 0; end--) {
        const size_t last = end - 1;
        size_t low = 0;
        TRY(serve_number(all, last, problem, greater, error));
        while (low < end - 1) {
            const size_t middle = low + (end - 1 - low) / 2;
            TRY(serve_number(all, middle, problem, &all[last], error));
            if (same_copies(&all[middle], &all[last])) {
                end = middle + 1;
            } else {
                low = middle + 1;
            }
        }
        for (size_t i = end; i < last; i++) {
            all[i] = all[last];
            all[i].rate = problem->other[i];
        }
        greater = &all[last];
    }
    return ROOF_OK;
}

/* Returns the total cost of the copies for all rates over time: devices, their price or their
 * power, times the duration of each rate. */
static double taken_by(const struct roof_rate_plan *all, const struct roof_rate_problem *problem)
{
    double sum = 0;
    for (size_t i = 0; i < problem->others; i++) {
        const struct roof_plan *const plan = &all[i].plan;
        sum +=
            problem->weight[i] * score_of(plan, &problem->answer->problem, (double)plan->devices);
    }
    return sum;
}

/* Moves a plan to the front. */
static void put_first(struct roof_rate_plans *out, size_t number)
{
    const struct roof_rate_plan way = out->way[number];
    memmove(out->way + 1, out->way, number * sizeof *out->way);
    out->way[0] = way;
}

static enum roof_status serve_way_over_time(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    return serve_over_time(team->other + number * team->problem->others, &team->way[number],
                           team->problem, error);
}

/* Finds the copies of the best plans for the rates over time, and the plan with the least total
 * cost. */
static enum roof_status choose_over_time(struct roof_rate_plans *out, size_t ways,
                                         const struct roof_rate_problem *problem,
                                         struct roof_error *error)
{
    const size_t rates = problem->others;
    struct roof_rate_plan *const other = calloc(ways * rates + 1, sizeof *other);
    struct team team = {.problem = problem, .way = out->way, .other = other};
    size_t best = 0;
    if (other == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status =
        roof_crew_run(ways, problem->threads, serve_way_over_time, &team, error);
    for (size_t i = 1; i < ways && status == ROOF_OK; i++) {
        best = taken_by(other + i * rates, problem) < taken_by(other + best * rates, problem)
                   ? i
                   : best;
    }
    memcpy(out->other, other + best * rates, rates * sizeof *other);
    free(other);
    put_first(out, best);
    out->others = rates;
    return status;
}

static enum roof_status serve_rate(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    team->other[number] = team->way[0];
    return serve(&team->other[number], team->problem, team->problem->other[number], error);
}

/* Finds the copies of the best plan for the other rates. */
static enum roof_status serve_others(struct roof_rate_plans *out, size_t wanted,
                                     const struct roof_rate_problem *problem,
                                     struct roof_error *error)
{
    out->other = calloc(problem->others + 1, sizeof *out->other);
    struct team team = {.problem = problem, .way = out->way, .other = out->other};
    if (out->other == NULL) {
        return roof_no_memory(error);
    }
    if (problem->weight != NULL) {
        return choose_over_time(out, wanted > 0 ? wanted : 1, problem, error);
    }
    TRY(roof_crew_run(problem->others, problem->threads, serve_rate, &team, error));
    for (size_t i = 0; i < problem->others; i++) {
        if (out->other[i].serves) {
            out->other[out->others++] = out->other[i];
        }
    }
    return ROOF_OK;
}

/* Returns the most requests in flight in a plan, by Little's law. */
static double in_flight(const struct roof_rate_plans *out)
{
    double most = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct roof_rate_plan *const way = &out->way[i];
        most = fmax(most, way->rate * way->at.latency[ROOF_LATENCY_E2E].mean_s);
    }
    return most;
}

/* Searches the plans that serve the rate, and repeats with more requests if too few had time to
 * end. */
static enum roof_status find_serving(struct roof_rate_plans *out,
                                     const struct roof_rate_problem *problem,
                                     struct roof_error *error)
{
    struct roof_simulation_inputs load = *problem->load;
    struct roof_rate_problem longer = *problem;
    double flight = 0;
    longer.load = &load;
    for (int round = 0; round < ROUNDS; round++) {
        *out = (struct roof_rate_plans){.requests = load.requests};
        TRY(find_ways(out, problem->answer, load.arrivals->rate, error));
        TRY(serve_all(out, &longer, load.limits.budget, error));
        if (!problem->chunk_given) {
            TRY(try_chunks(out, &longer, error));
        }
        flight = in_flight(out);
        if (problem->requests_given || (double)load.requests >= PER_FLIGHT_LEAST * flight) {
            return ROOF_OK;
        }
        if (PER_FLIGHT_LEAST * flight > REQUESTS_MAX) {
            break;
        }
        load.requests = (uint64_t)fmin(REQUESTS_MAX, ceil(PER_FLIGHT * flight));
    }
    return roof_error_set(error, ROOF_USAGE,
                          "about %.0f requests are in flight at this rate: lower it, or set the "
                          "number to simulate with " ROOF_KEY("requests"),
                          flight);
}

static enum roof_status greatest_way(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    return find_greatest(&team->way[number], team->problem, error);
}

/* Searches with a halt that all threads may check. */
static enum roof_status search(struct roof_rate_plans *out, const struct roof_rate_problem *problem,
                               struct roof_error *error)
{
    struct roof_simulation_inputs load = *problem->load;
    struct roof_rate_problem chosen = *problem;
    struct team team = {.problem = &chosen, .way = out->way};
    TRY(find_serving(out, problem, error));
    load.requests = out->requests;
    chosen.load = &load;
    const size_t wanted = problem->wanted < out->count ? problem->wanted : out->count;
    TRY(roof_crew_run(wanted, problem->threads, greatest_way, &team, error));
    sort_ways(out, wanted, &problem->answer->problem);
    return out->count > 0 ? serve_others(out, wanted, &chosen, error) : ROOF_OK;
}

enum roof_status roof_rate_search(struct roof_rate_plans *out,
                                  const struct roof_rate_problem *problem, struct roof_error *error)
{
    struct roof_halt_guard guard;
    struct roof_simulation_inputs load = *problem->load;
    struct roof_rate_problem guarded = *problem;
    roof_halt_guard_open(&guard, &load.limits.halt);
    load.limits.halt = roof_halt_guarded(&guard);
    guarded.load = &load;
    const enum roof_status status = search(out, &guarded, error);
    roof_halt_guard_close(&guard);
    return status;
}

void roof_rate_plans_free(struct roof_rate_plans *plans)
{
    free(plans->other);
    plans->other = NULL;
}
