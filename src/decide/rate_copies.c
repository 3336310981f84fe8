// SPDX-License-Identifier: MIT
#include "decide/rate_copies.h"

#include <math.h>

#include "base/base.h"
#include "decide/plan_split.h"
#include "simulate/deployment.h"

/* The most simulations in a search for copies of two kinds that keep the limits. */
#define TRIES_MAX 24
/* The time fraction of a full limit of memory or sequences above which requests are considered to
 * wait for decode copies. */
#define FULL 0.25
/* The least fraction by which more copies must shorten a latency that misses its limit. */
#define SHORTER 1e-3
/* A plan is given up if it needs this many times the copies of the closed form. */
#define GIVE_UP 16

bool roof_rate_apart(const struct roof_plan *plan)
{
    return plan->prefill.copies > 0;
}

bool roof_rate_staged(const struct roof_plan *plan)
{
    return plan->split.pp > 1 || (roof_rate_apart(plan) && plan->prefill.split.pp > 1);
}

double roof_rate_prefilled(const struct roof_plan *plan)
{
    return plan->prefill.requests / (double)plan->prefill.copies;
}

/* --- the scheduler ------------------------------------------------------------------------- */

/* Finds the engine whose kernels a plan runs. If there is none, or its scheduler is unknown, the
 * scheduler is a generic one. */
static const struct roof_engine *engine_of(const struct roof_plan *plan,
                                           const struct roof_plan_problem *problem)
{
    const struct roof_engines *const engines = problem->engines;
    const struct roof_hardware *const device = problem->hardware[plan->hardware];
    for (size_t i = 0; i < engines->count && plan->stack != ROOF_STACK_BEST; i++) {
        const struct roof_engine *const engine = &engines->engine[i];
        if ((plan->engines >> i & 1U) != 0 && engine->stack == plan->stack) {
            return roof_engine_defaults(engine, device) == NULL ? NULL : engine;
        }
    }
    return NULL;
}

void roof_rate_schedule(struct roof_rate_plan *way, const struct roof_rate_problem *problem)
{
    const struct roof_plan_problem *const p = &problem->answer->problem;
    const struct roof_scheduler_limits *const limits = &problem->load->limits;
    way->engine = engine_of(&way->plan, p);
    way->chunk = limits->budget;
    way->sequences = limits->sequences;
    if (way->engine != NULL) {
        const struct roof_engine_defaults *const d =
            roof_engine_defaults(way->engine, p->hardware[way->plan.hardware]);
        const struct roof_plan *const plan = &way->plan;
        const bool apart = roof_rate_apart(plan);
        const int64_t groups = apart ? plan->prefill.split.attention_dp : plan->split.attention_dp;
        way->chunk = problem->chunk_given ? way->chunk : roof_engine_chunk(way->engine, d, groups);
        way->sequences = roof_engine_sequences(way->engine, d, plan->split.attention_dp);
    }
    way->usual_chunk = way->chunk;
}

/* --- the copies of a candidate ------------------------------------------------------------- */

/* Numbers of copies of both kinds. */
struct pair {
    int64_t decodes;
    int64_t prefills;
};

/* A candidate whose number of copies is searched. */
struct trial {
    struct roof_simulation_inputs inputs;
    struct roof_arrivals arrivals;
    struct roof_deployments deployments;
    double step_scale;                 /* of the question */
    struct pair missed[TRIES_MAX + 1]; /* copies of two kinds that missed a limit */
    size_t misses;
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
    scenario.common.shape.batch = way->sequences;
    if (way->chunk != problem->load->limits.budget) {
        scenario.chunk = way->chunk;
    }
    prefill = scenario;
    if (roof_rate_apart(plan)) {
        roof_split_put(&prefill, &plan->prefill.split);
    }
    t->inputs = *problem->load;
    t->inputs.limits.budget = way->chunk;
    t->inputs.limits.sequences = way->sequences;
    if (way->engine != NULL) {
        roof_engine_schedule(&t->inputs.limits, way->engine);
    }
    t->inputs.limits.passes_first_token = !(plan->prefill.again_s > 0);
    t->arrivals = *problem->load->arrivals;
    t->arrivals.rate = rate;
    t->inputs.arrivals = &t->arrivals;
    const enum roof_status status = roof_deployments_open(
        &t->deployments, a->plans.model[plan->serving], &scenario,
        roof_rate_apart(plan) ? &prefill : NULL, a->problem.hardware[plan->hardware],
        plan->basis == ROOF_PLAN_BOUND, error);
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
    return s->saturated || s->stopped || s->rejected > 0 ? HUGE_VAL : excess;
}

static bool misses(const struct roof_simulation *s,
                   const struct roof_latency_limit limit[ROOF_LATENCY_COUNT], int latency)
{
    return s->latency[latency].limited_s > limit[latency].time_s;
}

/* Tells whether more copies do not help: requests are turned away, which no copy can hold; or the
 * queue grows in neither of two simulations, and no latency that misses its limit in the first one
 * is shorter with the copies of the second one. */
static bool is_hopeless(const struct roof_simulation *less, const struct roof_simulation *more,
                        const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    if (more->rejected > 0) {
        return true;
    }
    if (less->saturated || more->saturated) {
        return false;
    }
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const double before = less->latency[i].limited_s;
        if (misses(less, limit, i) && more->latency[i].limited_s < before * (1 - SHORTER)) {
            return false;
        }
    }
    return true;
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
    *excess = HUGE_VAL;
    TRY(set_copies(t, copies, prefills, error));
    TRY(roof_simulate(out, &t->inputs, error));
    *excess = excess_of(out, t->inputs.limit);
    return ROOF_OK;
}

/* Counts the devices of all prefill copies. */
static int64_t prefill_devices(const struct roof_plan *p)
{
    return roof_rate_apart(p) ? p->prefill.copies * roof_split_devices(&p->prefill.split) : 0;
}

/* Counts the devices of all copies. */
static int64_t devices_of(const struct roof_plan *p)
{
    return p->dp * roof_split_devices(&p->split) + prefill_devices(p);
}

/* Returns the most copies that the devices of a candidate allow beside its prefill copies, if it
 * has any. */
static int64_t most_copies(const struct roof_rate_plan *way)
{
    const struct roof_plan *const p = &way->plan;
    const int64_t most = (way->most_devices - prefill_devices(p)) / roof_split_devices(&p->split);
    return most < ROOF_RATE_COPIES_MAX ? most : ROOF_RATE_COPIES_MAX;
}

/* Returns the copies to try first, by the closed form. With stages they are no more than the most;
 * with more devices another plan is better. Less than 1: none are allowed. */
static int64_t first_copies(const struct roof_rate_plan *way, double needed)
{
    const int64_t most = most_copies(way);
    const int64_t copies = (int64_t)fmax(1, needed);
    return roof_rate_staged(&way->plan) && copies > most ? most : copies;
}

/* Doubles the copies until they keep the limits; *few is the largest number that is known to miss
 * one. */
static enum roof_status double_copies(struct roof_rate_plan *way, int64_t *few, struct trial *t,
                                      int64_t first, struct roof_error *error)
{
    const int64_t most = most_copies(way);
    int64_t copies = first;
    TRY(try_copies(&way->at, &way->excess, t, copies, 0, error));
    while (way->excess > 1 && copies < first * GIVE_UP && copies < most &&
           2 * copies <= ROOF_RATE_COPIES_MAX) {
        const struct roof_simulation less = way->at;
        *few = copies;
        copies = 2 * copies < most ? 2 * copies : most;
        TRY(try_copies(&way->at, &way->excess, t, copies, 0, error));
        if (way->excess > 1 && is_hopeless(&less, &way->at, t->inputs.limit)) {
            break;
        }
    }
    way->plan.dp = copies;
    return ROOF_OK;
}

/* Finds the least number of copies that keeps the limits, if there is any. */
static enum roof_status least_copies(struct roof_rate_plan *way, struct trial *t,
                                     struct roof_error *error)
{
    const double needed = floor(t->arrivals.rate / way->most);
    int64_t few = 0;
    way->many = needed > ROOF_RATE_COPIES_MAX;
    const int64_t first = way->many ? 0 : first_copies(way, needed);
    if (first < 1) {
        return ROOF_OK;
    }
    TRY(double_copies(way, &few, t, first, error));
    way->serves = way->excess <= 1;
    t->inputs.verdict = true;
    while (way->serves && way->plan.dp - few > 1) {
        /* After the first guess it tries one less; between two tested numbers, the middle. */
        const int64_t middle =
            few == 0 && way->plan.dp == first ? way->plan.dp - 1 : few + (way->plan.dp - few) / 2;
        struct roof_simulation tried;
        double excess = 0;
        TRY(try_copies(&tried, &excess, t, middle, 0, error));
        if (excess > 1) {
            few = middle;
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
 * busy all the time, and if only whole requests are too slow. */
static void grow(struct roof_plan *plan, const struct roof_simulation *s,
                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    const bool steps = misses(s, limit, ROOF_LATENCY_TPOT);
    const bool ttft = misses(s, limit, ROOF_LATENCY_TTFT);
    const bool whole = misses(s, limit, ROOF_LATENCY_E2E) && !steps && !ttft;
    const bool full = s->full_memory >= FULL || s->full_sequences >= FULL;
    const bool link = s->link_busy > s->prefill_busy && s->saturated;
    const bool prefills = (s->saturated || ttft || whole) && !full;
    plan->dp = steps || full || link || whole || !prefills ? more_copies(plan->dp) : plan->dp;
    plan->prefill.copies = prefills ? more_copies(plan->prefill.copies) : plan->prefill.copies;
}

/* Tells whether the search has simulated these copies, and they missed a limit. */
static bool has_missed(const struct trial *t, const struct roof_plan *plan)
{
    size_t i = 0;
    while (i < t->misses &&
           (t->missed[i].decodes != plan->dp || t->missed[i].prefills != plan->prefill.copies)) {
        i++;
    }
    return i < t->misses;
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
        kept = !has_missed(t, &way->plan);
        if (kept) {
            TRY(try_copies(&tried, &excess, t, way->plan.dp, way->plan.prefill.copies, error));
            kept = excess <= 1;
        }
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
    const double prefills = fmax(1, ceil(t->arrivals.rate / roof_rate_prefilled(p)));
    const double decodes = ceil(t->arrivals.rate / way->most);
    way->many = fmax(prefills, decodes) > ROOF_RATE_COPIES_MAX;
    if (way->many) {
        return ROOF_OK;
    }
    p->prefill.copies = (int64_t)prefills;
    p->dp = first_copies(way, decodes);
    if (p->dp < 1) {
        return ROOF_OK;
    }
    TRY(try_copies(&way->at, &way->excess, t, p->dp, p->prefill.copies, error));
    for (int i = 0; i < TRIES_MAX && way->excess > 1; i++) {
        struct roof_plan grown = *p;
        t->missed[t->misses++] = (struct pair){.decodes = p->dp, .prefills = p->prefill.copies};
        grow(&grown, &way->at, t->inputs.limit);
        if (grown.dp > ROOF_RATE_COPIES_MAX || grown.prefill.copies > ROOF_RATE_COPIES_MAX ||
            devices_of(&grown) > way->most_devices) {
            return ROOF_OK;
        }
        const struct roof_simulation less = way->at;
        TRY(try_copies(&way->at, &way->excess, t, grown.dp, grown.prefill.copies, error));
        *p = grown;
        if (way->excess > 1 && is_hopeless(&less, &way->at, t->inputs.limit)) {
            return ROOF_OK;
        }
    }
    way->serves = way->excess <= 1;
    t->inputs.verdict = true;
    if (way->serves) {
        TRY(shrink(way, &p->dp, t, error));
        TRY(shrink(way, &p->prefill.copies, t, error));
    }
    return ROOF_OK;
}

/* --- one candidate ------------------------------------------------------------------------- */

/* Returns the output tokens per second of a plan: of one that serves, those that are asked for,
 * which do not depend on when a simulation ends. */
static double tokens_per_s(const struct roof_rate_plan *way)
{
    const double each = way->at.tokens_per_s / way->at.completed_per_s;
    return way->serves ? way->rate * each : way->at.tokens_per_s;
}

/* Computes the values that follow from the number of copies. */
static void count_devices(struct roof_rate_plan *way, const struct roof_plan_problem *problem)
{
    const double price = problem->price == NULL ? ROOF_UNKNOWN : problem->price[way->plan.hardware];
    struct roof_plan *const p = &way->plan;
    const double watt = p->watt / (double)p->devices;
    p->devices = devices_of(p);
    p->watt = watt * (double)p->devices;
    way->price = price * (double)way->plan.devices;
    way->cost = way->price / 3600 / tokens_per_s(way) * 1e6;
    way->joule = way->plan.watt / tokens_per_s(way);
    way->max_rate = way->max_rate_low = way->max_rate_high = way->headroom = ROOF_UNKNOWN;
    way->device_seconds = ROOF_UNKNOWN;
    way->open = false;
}

enum roof_status roof_rate_serve(struct roof_rate_plan *way,
                                 const struct roof_rate_problem *problem, double rate,
                                 struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    enum roof_status status = open_trial(&trial, problem, way, rate, error);
    way->rate = rate;
    way->serves = false;
    if (status == ROOF_OK && trial.deployments.copy.parts != NULL) {
        status = roof_rate_apart(&way->plan) ? least_halves(way, &trial, error)
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

enum roof_status roof_rate_try_chunk(struct roof_rate_plan *way,
                                     const struct roof_rate_problem *problem, int64_t chunk,
                                     struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    struct roof_rate_plan less = *way;
    bool kept = true;
    less.chunk = chunk;
    enum roof_status status = open_trial(&trial, problem, &less, way->rate, error);
    trial.inputs.verdict = true;
    while (status == ROOF_OK && trial.deployments.copy.parts != NULL && kept && less.plan.dp > 1) {
        status = try_copies(&less.at, &less.excess, &trial, --less.plan.dp, 0, error);
        kept = less.excess <= 1;
        if (status == ROOF_OK && kept) {
            *way = less;
        }
    }
    roof_deployments_close(&trial.deployments);
    if (status == ROOF_OK && way->chunk == chunk) {
        count_devices(way, &problem->answer->problem);
    }
    return status;
}

/* --- what the copies bear ------------------------------------------------------------------ */

/* Opens a plan with its copies at its rate. */
static enum roof_status open_copies(struct trial *t, const struct roof_rate_plan *way,
                                    const struct roof_rate_problem *problem,
                                    struct roof_error *error)
{
    TRY(open_trial(t, problem, way, way->rate, error));
    return set_copies(t, way->plan.dp, way->plan.prefill.copies, error);
}

enum roof_status roof_rate_lower(struct roof_rate_plan *way,
                                 const struct roof_rate_problem *problem, double rate,
                                 struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    way->rate = rate;
    enum roof_status status = open_copies(&trial, way, problem, error);
    if (status == ROOF_OK) {
        status = try_copies(&way->at, &way->excess, &trial, way->plan.dp, way->plan.prefill.copies,
                            error);
    }
    roof_deployments_close(&trial.deployments);
    if (status == ROOF_OK) {
        count_devices(way, &problem->answer->problem);
    }
    return status;
}

enum roof_status roof_rate_greatest(struct roof_rate_plan *way,
                                    const struct roof_rate_problem *problem,
                                    struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    struct roof_capacity found;
    enum roof_status status = open_copies(&trial, way, problem, error);
    if (status == ROOF_OK) {
        status = roof_capacity_find(&found, &trial.inputs, error);
    }
    roof_deployments_close(&trial.deployments);
    if (status == ROOF_OK) {
        way->open = found.open;
        way->wanted = found.wanted;
        way->max_rate = found.rate;
        way->max_rate_low = found.low;
        way->max_rate_high = found.high;
        way->no_interval = found.why;
        roof_simulation_free(&found.at);
    }
    return status;
}

enum roof_status roof_rate_fewer(struct roof_rate_plan *way,
                                 const struct roof_rate_problem *problem, struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    double excess = 0;
    if (roof_rate_apart(&way->plan) || way->plan.dp == 1) {
        return ROOF_OK;
    }
    enum roof_status status = open_trial(&trial, problem, way, way->rate, error);
    if (status == ROOF_OK) {
        status = try_copies(&way->fewer, &excess, &trial, way->plan.dp - 1, 0, error);
    }
    roof_deployments_close(&trial.deployments);
    return status;
}

/* Simulates copies whose steps take longer by some percent; *kept: the limits are kept. */
static enum roof_status try_longer(bool *kept, struct trial *t, const struct roof_rate_plan *way,
                                   int percent, struct roof_error *error)
{
    struct roof_deployments *const d = &t->deployments;
    const double scale = t->step_scale * (1 + percent / 100.);
    struct roof_simulation at;
    double excess = 0;
    TRY(roof_deployment_rescale(&d->copy, scale, error));
    if (d->prefill.parts != NULL) {
        TRY(roof_deployment_rescale(&d->prefill, scale, error));
    }
    TRY(try_copies(&at, &excess, t, way->plan.dp, way->plan.prefill.copies, error));
    *kept = excess <= 1;
    return ROOF_OK;
}

enum roof_status roof_rate_headroom(struct roof_rate_plan *way,
                                    const struct roof_rate_problem *problem,
                                    struct roof_error *error)
{
    struct trial trial = {.arrivals = {.rate = 0}};
    bool kept = false;
    int percent = 0;
    if (way->plan.basis == ROOF_PLAN_BOUND || way->excess == 0) { /* no limit is set */
        return ROOF_OK;
    }
    enum roof_status status = open_copies(&trial, way, problem, error);
    trial.inputs.verdict = true;
    trial.step_scale = trial.deployments.copy.scenario.common.step_scale;
    for (int add = ROOF_RATE_HEADROOM_MAX;
         add > 0 && percent < ROOF_RATE_HEADROOM_MAX && status == ROOF_OK; add /= 2) {
        status = try_longer(&kept, &trial, way, percent + add, error);
        percent += kept ? add : 0;
    }
    roof_deployments_close(&trial.deployments);
    way->headroom = status == ROOF_OK ? percent : ROOF_UNKNOWN;
    return status;
}
