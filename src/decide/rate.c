// SPDX-License-Identifier: MIT
#include "decide/rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/crew.h"
#include "decide/plan_split.h"
#include "decide/rate_candidates.h"
#include "decide/rate_copies.h"

/* Other candidates of a device are given up if they need this many times the devices of its first
 * ones, which have the least need in the closed form. */
#define WORSE 1.5
/* The greatest ratio of two neighbouring batches of the closed form. If the larger one misses a
 * limit, a batch between them may keep it. A copy then serves less than this many times the
 * requests of the smaller batch, because no step is shorter with more sequences. */
#define BATCH_RATIO 2
/* The token budgets to try, and the number of best plans that try them. */
static const int64_t chunks[] = {2048, 512};
#define WAYS_CHUNKED 2
/* The simulated requests per request in flight. With fewer than LEAST the engine does not fill up.
 */
#define PER_FLIGHT_LEAST 5
#define PER_FLIGHT 10
/* The most requests that are chosen, because more take too long without a request for them. */
#define REQUESTS_MAX 200000
/* The most rounds of choosing the number of requests, because longer simulations find more of them
 * in flight. */
#define ROUNDS 4

/* --- the best candidates ------------------------------------------------------------------- */

/* Tells whether two plans need the same, so that something else decides. */
static bool needs_equal(const struct roof_rate_plan *a, const struct roof_rate_plan *b,
                        const struct roof_plan_problem *problem)
{
    const double x = roof_rate_score(&a->plan, problem, (double)a->plan.devices);
    const double y = roof_rate_score(&b->plan, problem, (double)b->plan.devices);
    return a->plan.basis == b->plan.basis && (x == y || (isnan(x) && isnan(y)));
}

bool roof_rate_is_unsure(const struct roof_rate_plan *way,
                         const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    bool unsure = roof_rate_falls_short(way) || way->rate > way->max_rate_low;
    for (int i = 0; i < ROOF_LATENCY_COUNT && isnan(way->max_rate_low); i++) {
        unsure = unsure || roof_latency_is_unsure(&way->at.latency[i], &limit[i]);
    }
    return unsure;
}

/* Compares two plans. Over time, only need and margins count. */
bool roof_rate_is_better(const struct roof_rate_plan *a, const struct roof_rate_plan *b,
                         const struct roof_rate_problem *problem)
{
    const struct roof_plan_problem *const plans = &problem->answer->problem;
    const struct roof_latency_limit *const limit = problem->load->limit;
    const double x = roof_rate_score(&a->plan, plans, (double)a->plan.devices);
    const double y = roof_rate_score(&b->plan, plans, (double)b->plan.devices);
    const bool timed = problem->weight != NULL;
    if (a->plan.basis != b->plan.basis) {
        return a->plan.basis == ROOF_PLAN_EXPECTED;
    }
    if (!needs_equal(a, b, plans)) {
        return isnan(y) || x < y;
    }
    if (!timed && roof_rate_is_unsure(a, limit) != roof_rate_is_unsure(b, limit)) {
        return roof_rate_is_unsure(b, limit);
    }
    if (!timed && roof_rate_falls_short(a) != roof_rate_falls_short(b)) {
        return roof_rate_falls_short(b);
    }
    const int loss = timed ? 0 : roof_plan_by_loss(&a->plan, &b->plan, plans);
    if (loss != 0) {
        return loss < 0;
    }
    if (!isnan(a->max_rate) && !isnan(b->max_rate)) {
        return a->max_rate > b->max_rate;
    }
    return a->excess < b->excess;
}

static void sort_ways(struct roof_rate_plans *out, size_t count,
                      const struct roof_rate_problem *problem)
{
    for (size_t i = 1; i < count; i++) {
        const struct roof_rate_plan way = out->way[i];
        size_t at = i;
        while (at > 0 && roof_rate_is_better(&way, &out->way[at - 1], problem)) {
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
    const size_t *number;         /* of those to serve */
    struct roof_rate_plan *other; /* over time: those of each plan in turn */
};

static enum roof_status serve_way(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    return roof_rate_serve(&team->way[team->number[number]], team->problem,
                           team->problem->load->arrivals->rate, error);
}

/* Returns what the simulations of a candidate take, in some unit: they grow with its copies in the
 * closed form, of both kinds. */
static double effort_of(const struct roof_rate_plan *way, double rate)
{
    const double copies = fmax(1, rate / way->most);
    return roof_rate_apart(&way->plan) ? copies + fmax(1, rate / roof_rate_prefilled(&way->plan))
                                       : copies;
}

/* Sorts candidates so that the longest work comes first and threads end at about the same time. */
static void sort_by_effort(size_t *number, size_t count, const struct roof_rate_plan *way,
                           double rate)
{
    struct roof_rate_place place[ROOF_RATE_WAYS_MAX] = {{0}};
    if (count == 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        place[i] =
            (struct roof_rate_place){.way = number[i], .score = -effort_of(&way[number[i]], rate)};
    }
    qsort(place, count, sizeof *place, roof_rate_by_score);
    for (size_t i = 0; i < count; i++) {
        number[i] = place[i].way;
    }
}

/* The rounds in which candidates are served. */
enum round {
    ROUND_FIRST,  /* the first of each device and kind */
    ROUND_OTHERS, /* given up if they need many more devices than the best of the first ones */
    ROUND_STAGED, /* with pipeline stages, given up if they need as many as the best of all */
    ROUNDS_OF_WAYS
};

/* Limits the devices of a candidate by the least number of another one, if there is any. It is
 * hopeless if it needs more in the closed form even with a greater batch. */
static void limit_devices(struct roof_rate_plan *way, double least, enum round round, double rate)
{
    if (round == ROUND_FIRST || least == 0) {
        return;
    }
    const double most = round == ROUND_STAGED ? least - 1 : WORSE * least;
    way->most_devices = (int64_t)most;
    way->hopeless = round == ROUND_STAGED && roof_rate_devices(way, rate / BATCH_RATIO) > most;
}

/* Serves the candidates of a round. */
static enum roof_status serve_some(struct roof_rate_plan *way, size_t count, enum round round,
                                   const struct roof_rate_problem *problem,
                                   struct roof_error *error)
{
    const double rate = problem->load->arrivals->rate;
    bool seen[ROOF_PLAN_HARDWARE_MAX][2] = {{false}};
    double least[ROOF_PLAN_HARDWARE_MAX] = {0};
    size_t number[ROOF_RATE_WAYS_MAX];
    struct team team = {.problem = problem, .way = way, .number = number};
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct roof_plan *const plan = &way[i].plan;
        bool *const known = &seen[plan->hardware][roof_rate_apart(plan)];
        double *const devices = &least[plan->hardware];
        const enum round own = !*known                  ? ROUND_FIRST
                               : roof_rate_staged(plan) ? ROUND_STAGED
                                                        : ROUND_OTHERS;
        if (own < round && way[i].serves && (*devices == 0 || (double)plan->devices < *devices)) {
            *devices = (double)plan->devices;
        }
        *known = true;
        if (own == round && !way[i].known) {
            number[found++] = i;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < found; i++) {
        struct roof_rate_plan *const one = &way[number[i]];
        limit_devices(one, least[one->plan.hardware], round, rate);
        number[kept] = number[i];
        kept += one->hopeless ? 0 : 1;
    }
    sort_by_effort(number, kept, way, rate);
    return roof_crew_run(kept, problem->threads, serve_way, &team, error);
}

static void count_miss(struct roof_rate_miss *miss, const struct roof_rate_plan *way)
{
    miss->tried++;
    miss->many += way->many ? 1 : 0;
    miss->unlinked = miss->unlinked > 0 ? miss->unlinked : way->unlinked;
}

/* Keeps the plans that serve the rate with a token budget (0: the usual one), and the closest one
 * if none does. `all` has the candidates as an earlier search left them, in which none served;
 * those with the same budget are not simulated again. */
static enum roof_status serve_all(struct roof_rate_plans *out, struct roof_rate_plan *all,
                                  const struct roof_rate_problem *problem, int64_t chunk,
                                  struct roof_error *error)
{
    for (size_t i = 0; i < out->tried; i++) {
        struct roof_rate_plan fresh = out->way[i];
        roof_rate_schedule(&fresh, problem);
        fresh.chunk = chunk > 0 && chunk < fresh.usual_chunk ? chunk : fresh.usual_chunk;
        all[i].known = all[i].chunk == fresh.chunk;
        all[i] = all[i].known ? all[i] : fresh;
    }
    enum roof_status status = ROOF_OK;
    for (int round = 0; round < ROUNDS_OF_WAYS && status == ROOF_OK; round++) {
        status = serve_some(all, out->tried, (enum round)round, problem, error);
    }
    memset(out->miss, 0, sizeof out->miss); /* of an earlier token budget */
    out->simulated = 0;
    for (size_t i = 0; i < out->tried && status == ROOF_OK; i++) {
        const struct roof_rate_plan *const way = &all[i];
        out->simulated += way->hopeless ? 0 : 1;
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
    sort_ways(out, out->count, problem);
    return status;
}

/* Tries smaller token budgets for a plan. */
static enum roof_status chunk_way(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    struct roof_rate_plan *const way = &team->way[number];
    for (size_t c = 0; c < COUNT(chunks) && !roof_rate_apart(&way->plan); c++) {
        if (chunks[c] < way->chunk) {
            TRY(roof_rate_try_chunk(way, team->problem, chunks[c], error));
        }
    }
    return ROOF_OK;
}

/* Tries smaller token budgets: for the best plans that serve the rate, and for all if none does. */
static enum roof_status try_chunks(struct roof_rate_plans *out, struct roof_rate_plan *all,
                                   const struct roof_rate_problem *problem,
                                   struct roof_error *error)
{
    struct team team = {.problem = problem, .way = out->way};
    for (size_t c = 0; c < COUNT(chunks) && out->count == 0; c++) {
        TRY(serve_all(out, all, problem, chunks[c], error));
    }
    TRY(roof_crew_run(out->count < WAYS_CHUNKED ? out->count : WAYS_CHUNKED, problem->threads,
                      chunk_way, &team, error));
    sort_ways(out, out->count, problem);
    return ROOF_OK;
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
    TRY(roof_rate_serve(way, problem, problem->other[i], error));
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
        sum += problem->weight[i] *
               roof_rate_score(plan, &problem->answer->problem, (double)plan->devices);
    }
    return sum;
}

double roof_rate_need(const struct roof_rate_plans *found, const struct roof_rate_problem *problem)
{
    const struct roof_plan *const plan = &found->way[0].plan;
    return problem->weight != NULL
               ? taken_by(found->other, problem)
               : roof_rate_score(plan, &problem->answer->problem, (double)plan->devices);
}

static enum roof_status serve_way_over_time(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    return serve_over_time(team->other + number * team->problem->others, &team->way[number],
                           team->problem, error);
}

/* Returns the devices of the copies for all rates over time, times the duration of each rate. */
static double device_seconds(const struct roof_rate_plan *all,
                             const struct roof_rate_problem *problem)
{
    double sum = 0;
    for (size_t i = 0; i < problem->others; i++) {
        sum += problem->weight[i] * (double)all[i].plan.devices;
    }
    return sum;
}

/* Ranks the first plans by their total cost over time, by insertion; among equals, the one that is
 * better at the greatest rate stays first. `all` has the copies of each plan in turn. */
static void rank_over_time(struct roof_rate_plans *out, size_t ways,
                           const struct roof_rate_plan *all,
                           const struct roof_rate_problem *problem)
{
    const size_t rates = problem->others;
    struct roof_rate_place place[ROOF_RATE_WAYS_MAX] = {{0}};
    for (size_t i = 0; i < ways; i++) {
        struct roof_rate_plan way = out->way[i];
        const struct roof_rate_place own = {.way = i,
                                            .bound = way.plan.basis == ROOF_PLAN_BOUND,
                                            .score = taken_by(all + i * rates, problem)};
        size_t at = i;
        way.device_seconds = device_seconds(all + i * rates, problem);
        for (; at > 0 && roof_rate_by_score(&own, &place[at - 1]) < 0; at--) {
            place[at] = place[at - 1];
            out->way[at] = out->way[at - 1];
        }
        place[at] = own;
        out->way[at] = way;
    }
    for (size_t i = 0; i < ways; i++) {
        out->at_peak = place[i].way == 0 ? i : out->at_peak;
    }
    memcpy(out->other, all + place[0].way * rates, rates * sizeof *all);
    out->compared = ways;
}

/* Finds the copies of the best plans for the rates over time, and ranks these plans by them. */
static enum roof_status choose_over_time(struct roof_rate_plans *out, size_t ways,
                                         const struct roof_rate_problem *problem,
                                         struct roof_error *error)
{
    const size_t rates = problem->others;
    struct roof_rate_plan *const other = calloc(ways * rates + 1, sizeof *other);
    struct team team = {.problem = problem, .way = out->way, .other = other};
    if (other == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status =
        roof_crew_run(ways, problem->threads, serve_way_over_time, &team, error);
    if (status == ROOF_OK) {
        rank_over_time(out, ways, other, problem);
        out->others = rates;
    }
    free(other);
    return status;
}

static enum roof_status serve_rate(void *context, size_t number, struct roof_error *error)
{
    const struct team *const team = context;
    const double rate = team->problem->other[number];
    struct roof_rate_plan *const way = &team->other[number];
    *way = team->way[0];
    if (rate == way->rate) {
        return ROOF_OK;
    }
    way->most_devices = ROOF_RATE_ANY_DEVICES; /* that of the search was to beat another plan */
    return roof_rate_serve(way, team->problem, rate, error);
}

/* If no copies were found for a rate, it takes those of the next greater rate that has some. */
static enum roof_status take_greater(struct roof_rate_plan *way, const struct roof_rate_plan *all,
                                     const struct roof_rate_problem *problem,
                                     struct roof_error *error)
{
    const struct roof_rate_plan *greater = NULL;
    for (size_t i = 0; i < problem->others; i++) {
        if (all[i].serves && all[i].rate > way->rate &&
            (greater == NULL || all[i].rate < greater->rate)) {
            greater = &all[i];
        }
    }
    if (way->serves || greater == NULL) {
        return ROOF_OK;
    }
    const double rate = way->rate;
    *way = *greater;
    return roof_rate_lower(way, problem, rate, error);
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
        TRY(take_greater(&out->other[i], out->other, problem, error));
    }
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

/* Searches the candidates that serve the rate, with their usual token budgets and smaller ones. */
static enum roof_status serve_each(struct roof_rate_plans *out,
                                   const struct roof_rate_problem *problem,
                                   struct roof_error *error)
{
    struct roof_rate_plan *const all = calloc(out->tried + 1, sizeof *all);
    if (all == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = serve_all(out, all, problem, 0, error);
    if (status == ROOF_OK && !problem->chunk_given) {
        status = try_chunks(out, all, problem, error);
    }
    free(all);
    return status;
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
        TRY(roof_rate_candidates(out, problem, error));
        TRY(serve_each(out, &longer, error));
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
    return roof_rate_greatest(&team->way[number], team->problem, error);
}

/* Returns the number of best plans whose greatest rate is searched: those that are wanted, or that
 * decide which one of them is the best. */
static size_t wanted_of(const struct roof_rate_plans *out, const struct roof_rate_problem *problem)
{
    const struct roof_plan_problem *const p = &problem->answer->problem;
    const size_t most = problem->wanted < out->count ? problem->wanted : out->count;
    const bool all = !problem->only_best || problem->weight != NULL;
    size_t equal = 0;
    while (!all && equal < most && needs_equal(&out->way[0], &out->way[equal], p)) {
        equal++;
    }
    return all ? most : equal > 1 ? equal : 0;
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
    const size_t wanted = wanted_of(out, problem);
    TRY(roof_crew_run(wanted, problem->threads, greatest_way, &team, error));
    sort_ways(out, wanted, problem);
    if (out->count == 0) {
        return ROOF_OK;
    }
    if (!problem->only_best || problem->weight != NULL) {
        TRY(serve_others(out, wanted, &chosen, error));
    }
    if (problem->only_best) {
        return ROOF_OK;
    }
    TRY(roof_rate_fewer(&out->way[0], &chosen, error));
    return roof_rate_headroom(&out->way[0], &chosen, error);
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

bool roof_rate_falls_short(const struct roof_rate_plan *way)
{
    return way->max_rate < way->rate;
}

void roof_rate_plans_free(struct roof_rate_plans *plans)
{
    free(plans->other);
    plans->other = NULL;
}
