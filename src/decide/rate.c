// SPDX-License-Identifier: MIT
#include "decide/rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "simulate/deployment.h"

/* Each device has so many of its ways tried. */
#define WAYS_OF_DEVICE 4
/* A way that needs so many times the copies of the closed form is given up. */
#define GIVE_UP 16
/* Requests that are simulated for each one that is in flight: fewer than LEAST end before the
 * engine is as full as it gets. */
#define PER_FLIGHT_LEAST 5
#define PER_FLIGHT 10
/* The most that are chosen; more take longer than anyone waits unasked. */
#define REQUESTS_MAX 200000
/* How often requests are chosen: longer simulations find more of them in flight. */
#define ROUNDS 4

/* --- the ways to serve --------------------------------------------------------------------- */

/* Returns what ranks so many copies of a plan: lower is better. */
static double score_of(const struct roof_plan *plan, const struct roof_plan_problem *problem,
                       double copies)
{
    const double devices = copies * (double)plan->devices;
    if (problem->objective == ROOF_PLAN_ENERGY) {
        return copies * plan->watt;
    }
    return problem->objective == ROOF_PLAN_COST ? devices * problem->price[plan->hardware]
                                                : devices;
}

static bool same_way(const struct roof_plan *a, const struct roof_plan *b)
{
    return a->hardware == b->hardware && a->serving == b->serving && a->basis == b->basis &&
           memcmp(&a->split, &b->split, sizeof a->split) == 0;
}

/* Takes a plan as a way, or as the best batch or kernels of one that is there already. */
static void add_plan(struct roof_rate_plan *way, size_t *count, const struct roof_plan *plan,
                     const struct roof_plan_problem *problem)
{
    const double most = plan->tokens_per_s / (double)problem->base.generate;
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

/* The order in which ways are tried. */
struct place {
    size_t way;
    size_t device;
    bool bound;
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

/* Chooses the ways that are tried: those that need least by the closed form, of each device some.
 */
static void choose(struct roof_rate_plans *out, const struct roof_rate_plan *way,
                   struct place *place, double rate, const struct roof_plan_problem *problem)
{
    size_t of_device[ROOF_PLAN_HARDWARE_MAX] = {0};
    for (size_t i = 0; i < out->ways; i++) {
        const struct roof_plan *const plan = &way[i].plan;
        place[i] = (struct place){.way = i,
                                  .device = plan->hardware,
                                  .bound = plan->basis == ROOF_PLAN_BOUND,
                                  .score = score_of(plan, problem, fmax(1, rate / way[i].most))};
    }
    qsort(place, out->ways, sizeof *place, by_score);
    for (size_t i = 0; i < out->ways && out->tried < ROOF_RATE_WAYS_MAX; i++) {
        if (of_device[place[i].device]++ < WAYS_OF_DEVICE) {
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

/* --- the copies of a way ------------------------------------------------------------------- */

/* A way whose copies are searched. */
struct trial {
    struct roof_simulation_inputs inputs;
    struct roof_arrivals arrivals;
    struct roof_deployment deployment;
    const struct roof_latency_limit *limit;
};

/* Opens a copy of a way. Where it has no room, or no times, its deployment stays closed. */
static enum roof_status open_trial(struct trial *t, const struct roof_rate_problem *problem,
                                   const struct roof_plan *plan, double rate,
                                   struct roof_error *error)
{
    const struct roof_plan_answer *const a = problem->answer;
    struct roof_plan copy = *plan;
    struct roof_scenario scenario;
    copy.dp = 1;
    roof_plan_scenario(&scenario, &copy, &a->problem);
    scenario.common.shape.batch = problem->load->limits.sequences;
    t->inputs = *problem->load;
    t->arrivals = *problem->load->arrivals;
    t->arrivals.rate = rate;
    t->inputs.arrivals = &t->arrivals;
    const enum roof_status status = roof_deployment_open(
        &t->deployment, a->plans.model[plan->serving], &scenario,
        a->problem.hardware[plan->hardware], plan->basis == ROOF_PLAN_BOUND, error);
    t->inputs.table = t->deployment.table;
    roof_deployment_limit(&t->inputs.limits, &t->deployment);
    if (status == ROOF_UNSATISFIED || status == ROOF_USAGE) {
        roof_deployment_close(&t->deployment);
        return ROOF_OK;
    }
    return status;
}

/* Returns the largest quotient of a latency and its limit; more than 1 where requests are turned
 * away or wait longer and longer. */
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

static enum roof_status try_copies(struct roof_simulation *out, double *excess, struct trial *t,
                                   int64_t copies, struct roof_error *error)
{
    t->inputs.copies = (uint64_t)copies;
    TRY(roof_simulate(out, &t->inputs, error));
    *excess = excess_of(out, t->inputs.limit);
    return ROOF_OK;
}

/* Doubles the copies until they keep the limits; *few is the most that is known to miss one. */
static enum roof_status double_copies(struct roof_rate_plan *way, int64_t *few, struct trial *t,
                                      int64_t first, struct roof_error *error)
{
    int64_t copies = first;
    TRY(try_copies(&way->at, &way->excess, t, copies, error));
    while (way->excess > 1 && copies < first * GIVE_UP && 2 * copies <= ROOF_RATE_COPIES_MAX) {
        *few = copies;
        way->fewer = way->at;
        copies *= 2;
        TRY(try_copies(&way->at, &way->excess, t, copies, error));
    }
    way->plan.dp = copies;
    return ROOF_OK;
}

/* Finds the least copies that keep the limits, if there are any. */
static enum roof_status least_copies(struct roof_rate_plan *way, struct trial *t,
                                     struct roof_error *error)
{
    const double first = fmax(1, floor(t->arrivals.rate / way->most));
    int64_t few = 0;
    if (first > ROOF_RATE_COPIES_MAX) {
        return ROOF_OK;
    }
    TRY(double_copies(way, &few, t, (int64_t)first, error));
    way->serves = way->excess <= 1;
    while (way->serves && way->plan.dp - few > 1) {
        /* Next to the first guess, the one below it; between two that were tried, the middle. */
        const int64_t middle = few == 0 && way->plan.dp == (int64_t)first
                                   ? way->plan.dp - 1
                                   : few + (way->plan.dp - few) / 2;
        struct roof_simulation tried;
        double excess = 0;
        TRY(try_copies(&tried, &excess, t, middle, error));
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

/* Works out what follows from the number of copies. */
static void count_devices(struct roof_rate_plan *way, const struct roof_plan_problem *problem)
{
    const double price = problem->price == NULL ? ROOF_UNKNOWN : problem->price[way->plan.hardware];
    way->plan.devices *= way->plan.dp;
    way->plan.watt *= (double)way->plan.dp;
    way->price = price * (double)way->plan.devices;
    way->cost = way->price / 3600 / way->at.tokens_per_s * 1e6;
    way->joule = way->plan.watt / way->at.tokens_per_s;
    way->max_rate = way->max_rate_low = way->max_rate_high = ROOF_UNKNOWN;
}

/* Finds the copies of a way for a rate. */
static enum roof_status serve(struct roof_rate_plan *way, const struct roof_rate_problem *problem,
                              double rate, struct roof_error *error)
{
    struct trial trial = {.deployment = {.parts = NULL}};
    enum roof_status status = open_trial(&trial, problem, &way->plan, rate, error);
    way->rate = rate;
    way->serves = false;
    if (status == ROOF_OK && trial.deployment.parts != NULL) {
        status = least_copies(way, &trial, error);
    }
    roof_deployment_close(&trial.deployment);
    if (status == ROOF_OK && way->at.steps > 0) {
        count_devices(way, &problem->answer->problem);
    }
    return status;
}

/* --- the best ways ------------------------------------------------------------------------- */

/* Returns true where a way is better than another one: it needs less, or has more to spare. */
static bool is_better(const struct roof_rate_plan *a, const struct roof_rate_plan *b,
                      const struct roof_plan_problem *problem)
{
    const double x = score_of(&a->plan, problem, 1);
    const double y = score_of(&b->plan, problem, 1);
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

/* Sorts so few ways that insertion does. */
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

/* Keeps the ways that serve the rate, and the one that comes nearest where none does. */
static enum roof_status serve_all(struct roof_rate_plans *out,
                                  const struct roof_rate_problem *problem, struct roof_error *error)
{
    for (size_t i = 0; i < out->tried; i++) {
        struct roof_rate_plan way = out->way[i];
        TRY(serve(&way, problem, problem->load->arrivals->rate, error));
        if (way.serves) {
            out->way[out->count++] = way;
        } else if (way.at.steps > 0 &&
                   (out->nearest.at.steps == 0 || way.excess < out->nearest.excess)) {
            out->nearest = way;
        }
    }
    sort_ways(out, out->count, &problem->answer->problem);
    return ROOF_OK;
}

/* Searches the greatest rate of a way with its copies. */
static enum roof_status find_greatest(struct roof_rate_plan *way,
                                      const struct roof_rate_problem *problem,
                                      struct roof_error *error)
{
    struct trial trial = {.deployment = {.parts = NULL}};
    struct roof_capacity found;
    enum roof_status status = open_trial(&trial, problem, &way->plan, way->rate, error);
    trial.inputs.copies = (uint64_t)way->plan.dp;
    if (status == ROOF_OK) {
        status = roof_capacity_find(&found, &trial.inputs, error);
    }
    roof_deployment_close(&trial.deployment);
    if (status == ROOF_OK) {
        way->max_rate = found.rate;
        way->max_rate_low = found.low;
        way->max_rate_high = found.high;
        roof_simulation_free(&found.at);
    }
    return status;
}

/* Finds the copies of the best way for the other rates. */
static enum roof_status serve_others(struct roof_rate_plans *out,
                                     const struct roof_rate_problem *problem,
                                     struct roof_error *error)
{
    out->other = calloc(problem->others + 1, sizeof *out->other);
    if (out->other == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < problem->others; i++) {
        struct roof_rate_plan *const way = &out->other[out->others];
        *way = out->way[0];
        way->plan.devices /= way->plan.dp; /* those of one copy */
        way->plan.watt /= (double)way->plan.dp;
        TRY(serve(way, problem, problem->other[i], error));
        out->others += way->serves;
    }
    return ROOF_OK;
}

/* Returns the most requests that are in flight at a way, by Little's law. */
static double in_flight(const struct roof_rate_plans *out)
{
    double most = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct roof_rate_plan *const way = &out->way[i];
        most = fmax(most, way->rate * way->at.latency[ROOF_LATENCY_E2E].mean_s);
    }
    return most;
}

/* Searches the ways that serve the rate, with more requests where too few had time to end. */
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
        TRY(serve_all(out, &longer, error));
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
                          "some %.0f requests are in flight at this rate: ask for a part of it, or "
                          "say by " ROOF_KEY("requests") " how many to simulate",
                          flight);
}

enum roof_status roof_rate_search(struct roof_rate_plans *out,
                                  const struct roof_rate_problem *problem, struct roof_error *error)
{
    struct roof_simulation_inputs load = *problem->load;
    struct roof_rate_problem chosen = *problem;
    TRY(find_serving(out, problem, error));
    load.requests = out->requests;
    chosen.load = &load;
    const size_t wanted = problem->wanted < out->count ? problem->wanted : out->count;
    for (size_t i = 0; i < wanted; i++) {
        TRY(find_greatest(&out->way[i], &chosen, error));
    }
    sort_ways(out, wanted, &problem->answer->problem);
    return out->count > 0 ? serve_others(out, &chosen, error) : ROOF_OK;
}

void roof_rate_plans_free(struct roof_rate_plans *plans)
{
    free(plans->other);
    plans->other = NULL;
}
