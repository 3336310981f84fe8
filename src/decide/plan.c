// SPDX-License-Identifier: MIT
#include "decide/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/crew.h"
#include "base/grow.h"
#include "decide/plan_disaggregated.h"
#include "decide/plan_largest.h"
#include "decide/plan_split.h"
#include "decide/plan_verdict.h"
#include "model/layout.h"
#include "predict/power.h"
#include "predict/unexpected.h"

#define COSTS_REMEMBERED 16381

/* --- one candidate ------------------------------------------------------------------------- */

/* A search that is going on. */
struct search {
    const struct roof_plan_problem *problem;
    struct roof_plans *out;
    size_t capacity;
    size_t room; /* number of plans in the first allocation */
    bool beyond; /* only plans that lose more accuracy than is allowed are searched */
    enum roof_plan_basis first; /* beyond: the basis of the plans that rank first */
    double to_beat;             /* beyond: the least score of these, which the best one has */
    struct roof_plan_predictor predictor; /* its memo is owned */
    struct roof_plan_options options;     /* of the batch that was predicted last */
    struct roof_splits splits;            /* owned */
    struct roof_error *error;
};

/* Computes the rates that follow from the bounds. */
static void set_bound_rates(struct roof_plan *p, const struct roof_plan_problem *q)
{
    const double batch = (double)p->batch;
    const double generate = (double)q->base.generate;
    const double rate = generate > 0 ? batch * generate / p->bound_e2e_s
                                     : batch * roof_tokens_per_step(&q->base) / p->bound_step_s;
    p->bound_tokens_per_s = (double)p->dp * rate;
    p->bound_tokens_per_s_per_user = generate > 0 ? generate / p->bound_e2e_s : rate / batch;
    p->bound_tokens_per_s_per_device = rate / ((double)p->devices / (double)p->dp);
}

/* Computes what follows from the times. */
static void set_rates(struct roof_plan *p, const struct roof_plan_problem *q)
{
    const double batch = (double)p->batch;
    const double devices = (double)p->devices;
    const double generate = (double)q->base.generate;
    const double most_w = roof_power_most(q->hardware[p->hardware]);
    const double copies = (double)p->dp;
    /* This rate is that of one copy, so that values per device, token or joule are equal to the
     * last bit for any number of copies. */
    const double rate = generate > 0 ? batch * generate / p->e2e_s
                                     : batch * roof_tokens_per_step(&q->base) / p->step_s;
    const double group = devices / copies;
    p->tokens_per_s = copies * rate;
    p->tokens_per_s_per_user = generate > 0 ? generate / p->e2e_s : rate / batch;
    p->tokens_per_s_per_device = rate / group;
    set_bound_rates(p, q);
    p->watt = devices * most_w;
    p->joule = group * most_w / rate;
    p->cost = q->price == NULL ? ROOF_UNKNOWN : q->price[p->hardware] * group / 3600 / rate * 1e6;
    p->value[ROOF_PLAN_LIMIT_TTFT] = p->ttft_s;
    p->value[ROOF_PLAN_LIMIT_TPOT] = generate == 1 ? 0 : p->tpot_s; /* there is no second token */
    p->value[ROOF_PLAN_LIMIT_TOKENS_PER_S] = p->tokens_per_s;
    p->value[ROOF_PLAN_LIMIT_CONCURRENCY] = copies * batch;
    p->value[ROOF_PLAN_LIMIT_COST] = p->cost;
    p->value[ROOF_PLAN_LIMIT_POWER] = p->watt;
}

static enum roof_status add_plan(struct search *s, const struct roof_plan *plan)
{
    struct roof_plans *const out = s->out;
    if (out->count == s->capacity) {
        struct roof_plan *const grown = roof_grow(out->plan, &s->capacity, s->room, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(s->error);
        }
        out->plan = grown;
    }
    out->plan[out->count++] = *plan;
    return ROOF_OK;
}

/* Tells whether a plan with this verdict comes before one with the given excess over a limit. A
 * plan by bounds is never preferred to one with expected times. */
static bool comes_before(const struct roof_verdict *v, enum roof_plan_basis basis, double most)
{
    return v->basis == basis ? v->most < most : v->basis < basis;
}

/* Tells whether a plan that misses one limit alone is nearer to it than those before. */
static bool is_nearer(const struct search *s, const struct roof_verdict *v)
{
    const enum roof_plan_limit limit = v->last;
    const struct roof_plan *const nearest = &s->out->nearest[limit];
    return s->out->missed[limit] == 0 ||
           comes_before(v, nearest->basis,
                        roof_plan_excess(limit, nearest->value[limit], s->problem->limit[limit]));
}

/* Tells whether a plan is closer to all limits than those before. An infinite excess is that of an
 * unknown value. */
static bool is_closer(const struct search *s, const struct roof_verdict *v)
{
    return isfinite(v->most) && (isinf(s->out->closest_excess) ||
                                 comes_before(v, s->out->closest.basis, s->out->closest_excess));
}

static enum roof_status judge(struct search *s, const struct roof_plan *plan)
{
    const struct roof_verdict v = roof_plan_verdict(s->problem, plan);
    if (is_closer(s, &v)) {
        s->out->closest_excess = v.most;
        s->out->closest = *plan;
    }
    if (v.misses == 0) {
        const double score = roof_plan_ranked_score(plan, s->problem);
        s->to_beat = plan->basis == s->first ? fmin(s->to_beat, score) : s->to_beat;
        return add_plan(s, plan);
    }
    s->out->rejected[ROOF_REJECTED_LIMIT]++;
    if (v.misses == 1) {
        if (is_nearer(s, &v)) {
            s->out->nearest[v.last] = *plan;
        }
        s->out->missed[v.last]++;
    }
    return ROOF_OK;
}

/* Tells whether a plan whose times are only bounds is out. It is when it misses a limit in any
 * case, it is known how many limits it misses, and it comes no nearer to them than others did. */
static bool surely_out(const struct search *s, const struct roof_verdict *v)
{
    return v->misses > 0 && !is_closer(s, v) && (v->misses > 1 || (!v->open && !is_nearer(s, v)));
}

/* --- the search ---------------------------------------------------------------------------- */

/* Returns which of the engines that run a plan's formats also run a batch over its split. */
static unsigned engines_of(const struct roof_plan_problem *q, const struct roof_plan *plan,
                           unsigned formats, int64_t batch)
{
    return formats &
           roof_engines_split(q->engines, q->hardware[plan->hardware], &plan->split, batch);
}

static void set_copies(struct roof_plan *plan, const struct roof_plan_problem *q, int64_t devices)
{
    plan->devices = devices;
    plan->dp = devices / roof_split_devices(&plan->split);
    set_rates(plan, q);
}

/* Judges one batch over one split, on each number of devices that copies of it fill, with the
 * kernels of the best stack for each. */
static enum roof_status judge_copies(struct search *s)
{
    const struct roof_plan_problem *const q = s->problem;
    struct roof_plan *const plan = s->options.plan;
    for (size_t n = 0; n < q->device_counts; n++) {
        if (!roof_plan_fills(q, &plan->split, q->devices[n])) {
            continue;
        }
        size_t best = 0;
        for (size_t i = 0; i < s->options.count; i++) {
            set_copies(&plan[i], q, q->devices[n]);
            best = roof_plan_is_better(q, &plan[i], &plan[best]) ? i : best;
        }
        TRY(judge(s, &plan[best]));
    }
    return ROOF_OK;
}

/* Tells whether all batches of a range are surely out with at least these times; with count it
 * counts them as plans that miss a limit. */
static bool range_is_out(struct search *s, struct roof_plan least, size_t from, size_t to,
                         bool count)
{
    const struct roof_plan_problem *const q = s->problem;
    for (size_t b = from; b < to; b++) {
        least.batch = q->batch[b];
        for (size_t n = 0; n < q->device_counts; n++) {
            if (!roof_plan_fills(q, &least.split, q->devices[n])) {
                continue;
            }
            set_copies(&least, q, q->devices[n]);
            const struct roof_verdict v = roof_plan_verdict(q, &least);
            if (!surely_out(s, &v)) {
                return false;
            }
            if (count) {
                s->out->rejected[ROOF_REJECTED_LIMIT]++;
                s->out->missed[v.last] += v.misses == 1;
            }
        }
    }
    return true;
}

/* Makes a plan whose times are lower limits for all larger batches: no time is shorter with more
 * sequences, and a cold kernel takes at least its bound. */
static struct roof_plan least_of(const struct roof_plan *plan, const struct roof_plan_problem *q)
{
    struct roof_plan least = *plan;
    least.step_s = plan->bound_step_s;
    least.tpot_s = plan->bound_tpot_s;
    least.e2e_s = plan->bound_e2e_s;
    least.ttft_s = q->base.generate > 0 ? plan->bound_ttft_s : plan->ttft_s;
    return least;
}

/* Tells by a plan with a smaller batch whether a batch of plans beyond the allowed loss cannot be
 * the best of all plans; only the best of these is kept. */
static bool is_hopeless(const struct search *s, const struct roof_plan *plan, int64_t batch)
{
    const struct roof_plan_problem *const q = s->problem;
    struct roof_plan least = least_of(plan, q);
    bool hopeless = s->beyond && q->base.common.cache == ROOF_CACHE_COLD && plan->basis == s->first;
    least.batch = batch;
    for (size_t n = 0; n < q->device_counts && hopeless; n++) {
        if (roof_plan_fills(q, &least.split, q->devices[n])) {
            set_copies(&least, q, q->devices[n]);
            hopeless = roof_plan_ranked_score(&least, q) > s->to_beat;
        }
    }
    return hopeless;
}

/*
 * Prunes the batches of a range by the ideal bounds of a smaller one. If all are out, only the
 * number that fits in memory is found, by bisection and without expected times.
 */
static enum roof_status prune(struct search *s, const struct roof_plan *plan, size_t from,
                              size_t *to)
{
    const struct roof_plan_problem *const q = s->problem;
    struct roof_plan least = least_of(plan, q);
    if (q->base.common.cache != ROOF_CACHE_COLD || !range_is_out(s, least, from, *to, false)) {
        return ROOF_OK;
    }
    if (s->beyond) { /* nobody counts them */
        *to = from;
        return ROOF_OK;
    }
    size_t fits = from; /* the batches before this one fit */
    for (size_t end = *to; fits < end;) {
        const size_t middle = fits + (end - fits) / 2;
        double room = 0;
        least.batch = q->batch[middle];
        TRY(roof_plan_room(&room, &s->predictor, &least));
        if (room >= 0) {
            fits = middle + 1;
        } else {
            end = middle;
        }
    }
    (void)range_is_out(s, least, from, fits, true);
    s->out->rejected[ROOF_REJECTED_MEMORY] += roof_plan_uses(q, &plan->split) * (*to - fits);
    *to = from;
    return ROOF_OK;
}

/* Judges the largest batch that fits, from one that does. `more` is one that does not, if it is
 * known. */
static enum roof_status judge_largest(struct search *s, struct roof_plan plan, unsigned formats,
                                      struct roof_sized fits, struct roof_sized more)
{
    const struct roof_plan_problem *const q = s->problem;
    int64_t batch = 0;
    if (more.batch > 0 && is_hopeless(s, &plan, more.batch - 1)) {
        return ROOF_OK;
    }
    plan.engines = formats;
    TRY(roof_plan_largest(&batch, &s->predictor, &plan, fits, more));
    if (roof_plan_listed(q, batch) || is_hopeless(s, &plan, batch)) {
        return ROOF_OK;
    }
    plan.batch = batch;
    plan.engines = engines_of(q, &plan, formats, batch);
    TRY(roof_plan_predict(&s->options, &s->predictor, &plan, false));
    return s->options.against == ROOF_REJECTED_COUNT ? judge_copies(s) : ROOF_OK;
}

/* Searches all batches of one split. */
static enum roof_status search_batches(struct search *s, struct roof_plan plan)
{
    const struct roof_plan_problem *const q = s->problem;
    const struct roof_plan_options *const options = &s->options;
    const size_t uses = roof_plan_uses(q, &plan.split);
    const unsigned formats = plan.engines;
    size_t batches = q->batches; /* an engine runs this many, the smallest, over the split */
    while (batches > 0 && engines_of(q, &plan, formats, q->batch[batches - 1]) == 0) {
        batches--;
    }
    s->out->rejected[ROOF_REJECTED_ENGINE] += uses * (q->batches - batches);
    struct roof_plan known = plan; /* the last one with times */
    struct roof_sized fits = {0, ROOF_UNKNOWN};
    struct roof_sized more = {0, ROOF_UNKNOWN};
    for (size_t b = 0; b < batches && more.batch == 0; b++) {
        if (b > 0 && is_hopeless(s, &known, q->batch[b])) {
            continue;
        }
        plan.batch = q->batch[b];
        plan.engines = engines_of(q, &plan, formats, plan.batch);
        TRY(roof_halt_check(&q->halt, s->error));
        TRY(roof_plan_predict(&s->options, &s->predictor, &plan, b == 0));
        const struct roof_sized one = {plan.batch, options->room};
        if (options->against != ROOF_REJECTED_COUNT) {
            s->out->rejected[options->against] += uses * (batches - b);
            if (options->against != ROOF_REJECTED_MEMORY) {
                return ROOF_OK;
            }
            more = one;
            continue;
        }
        known = options->plan[0];
        fits = one;
        if (q->largest != ROOF_BATCHES_LARGEST) {
            TRY(judge_copies(s));
        }
        if (q->largest < ROOF_BATCHES_BEYOND) { /* it implies nothing about batches larger than the
                                                   given ones */
            TRY(prune(s, &known, b + 1, &batches));
        }
    }
    return roof_plan_wants_largest(q, fits.batch, more.batch)
               ? judge_largest(s, known, formats, fits, more)
               : ROOF_OK;
}

/* Searches every split of which copies fill a number of devices, unless there is a reason against
 * all. */
static enum roof_status search_splits(struct search *s, struct roof_plan plan,
                                      enum roof_plan_rejection against)
{
    const struct roof_plan_problem *const q = s->problem;
    for (size_t i = 0; i < s->splits.count; i++) {
        plan.split = s->splits.split[i];
        if (against == ROOF_REJECTED_COUNT) {
            TRY(search_batches(s, plan));
        } else {
            s->out->rejected[against] += roof_plan_uses(q, &plan.split) * q->batches;
        }
    }
    return ROOF_OK;
}

/* Judges the plans of one combination of formats that prefill and decode on copies of their own. */
static enum roof_status search_disaggregated(struct search *s, const struct roof_plan *plan)
{
    struct roof_disaggregated found;
    TRY(roof_plan_disaggregate(&found, &s->predictor, &s->splits, plan));
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < found.count && status == ROOF_OK; i++) {
        status = judge(s, &found.plan[i]);
    }
    /* Aggregated plans have the same reasons, so these would be counted twice. */
    for (size_t i = 0; i < ROOF_REJECTED_COUNT && s->problem->kind == ROOF_PLAN_DISAGGREGATED;
         i++) {
        s->out->rejected[i] += found.rejected[i];
    }
    free(found.plan);
    return status;
}

/* Searches one combination of formats, unless there is a reason against it. */
static enum roof_status search_formats(struct search *s, const struct roof_plan *plan,
                                       enum roof_plan_rejection against)
{
    const struct roof_plan_problem *const q = s->problem;
    if (q->kind != ROOF_PLAN_DISAGGREGATED || against != ROOF_REJECTED_COUNT) {
        TRY(search_splits(s, *plan, against));
    }
    return q->kind != ROOF_PLAN_AGGREGATED && against == ROOF_REJECTED_COUNT
               ? search_disaggregated(s, plan)
               : ROOF_OK;
}

/* Tells whether the formats are among those that were asked for. */
static bool asked_for(const struct roof_plan_problem *q, size_t number)
{
    const struct roof_serving *const serving = &q->engines->serving[number];
    const enum roof_precision kv = q->base.common.formats.kv;
    const bool usable = q->serving == NULL || q->serving[number];
    bool found = q->formats == NULL;
    for (size_t i = 0; i < q->format_count && !found; i++) {
        found = q->formats[i] == serving->weights;
    }
    return found && usable && (kv == ROOF_PRECISION_AUTO || kv == serving->kv);
}

/* A model that is published in few bits gains nothing by more bits if the published ones run,
 * because the wider weights would have to be made from quantised ones. Any engine that runs the
 * published ones counts, because naming one engine must not add plans. */
static bool is_wider(const struct search *s, size_t serving, size_t hardware)
{
    const struct roof_plan_problem *const q = s->problem;
    const struct roof_serving *const all = q->engines->serving;
    bool wider = false;
    for (size_t i = 0; i < q->engines->servings && !roof_serving_published(&all[serving]); i++) {
        struct roof_serving published = all[i];
        published.weights = roof_plan_weights(q, i);
        wider = wider || (roof_serving_own(&all[i], q->model) && s->out->model[i] != NULL &&
                          (roof_engines_serve(q->engines, i, q->model, q->hardware[hardware]) &
                           ~q->unable) != 0 &&
                          (roof_plan_of_gguf(q) || !roof_serving_gains(&all[serving], &published)));
    }
    return wider;
}

/* Tells whether weights are to be pruned that are not stored so. */
static bool is_dense(const struct roof_plan_problem *q, size_t serving)
{
    return q->base.common.sparse > 0 &&
           !roof_precision_prunable(q->engines->serving[serving].weights);
}

/* Searches all combinations of formats on one device. */
static enum roof_status search_formats_on(struct search *s, size_t h)
{
    const struct roof_plan_problem *const q = s->problem;
    const enum roof_plan_basis basis =
        roof_expects_times(q->hardware[h]) ? ROOF_PLAN_EXPECTED : ROOF_PLAN_BOUND;
    s->predictor.unmeasured = *q->hardware[h];
    s->predictor.unmeasured.calibration = NULL;
    for (size_t f = 0; f < q->engines->servings; f++) {
        struct roof_plan plan = {
            .basis = basis, .hardware = h, .serving = f, .offload = q->base.offload};
        if (s->out->model[f] == NULL || !asked_for(q, f)) {
            continue;
        }
        plan.engines = roof_plan_engines(q, f, h);
        plan.loss = roof_plan_loss(q, f);
        const enum roof_plan_rejection against = plan.engines == 0         ? ROOF_REJECTED_FORMATS
                                                 : is_wider(s, f, h)       ? ROOF_REJECTED_WIDER
                                                 : is_dense(q, f)          ? ROOF_REJECTED_DENSE
                                                 : plan.loss > q->max_loss ? ROOF_REJECTED_LOSS
                                                                           : ROOF_REJECTED_COUNT;
        if (!s->beyond) {
            TRY(search_formats(s, &plan, against));
        } else if (against == ROOF_REJECTED_LOSS && plan.loss <= q->beyond && basis <= s->first) {
            TRY(search_formats(s, &plan, ROOF_REJECTED_COUNT));
        }
    }
    return ROOF_OK;
}

/* Searches one device; a CPU only in its first number, unless the question names numbers. */
static enum roof_status search_device(struct search *s, size_t h)
{
    const struct roof_plan_problem *const all = s->problem;
    struct roof_plan_problem one = *all;
    if (all->one_cpu && roof_hardware_is_cpu(all->hardware[h])) {
        one.device_counts = 1;
    }
    s->problem = s->predictor.problem = &one;
    const enum roof_status status = search_formats_on(s, h);
    s->problem = s->predictor.problem = all;
    return status;
}

/* --- devices, each by itself ----------------------------------------------------------------- */

/* The number of plans per device in the first allocation. Unused memory costs nothing, but moving
 * it stops the other threads. */
#define ROOM_EACH 8192

/* Fewer batches over splits are searched before other threads have begun. */
#define WORTH_THREADS 1000

/* The search on one device. */
struct part {
    struct search search;
    struct roof_plans found;
};

/* The search on all devices. A memo goes from one device to the next that a thread searches: they
 * share no costs, and room that was used before costs nothing. */
struct parts {
    struct part *part;
    pthread_mutex_t lock;
    struct roof_remembered **memo; /* those that no thread has, owned */
    size_t memos;
};

/* Empties a memo, which writes to all of its pages: a page that is read before it is written costs
 * a second fault, for which the other threads stop. */
static void empty_memo(struct roof_remembered *memo)
{
    for (size_t i = 0; i < COSTS_REMEMBERED; i++) {
        memo[i].hardware = NULL;
    }
}

/* Takes a memo, or makes one; NULL: no memory. */
static struct roof_remembered *take_memo(struct parts *all)
{
    struct roof_remembered *memo = NULL;
    (void)pthread_mutex_lock(&all->lock);
    if (all->memos > 0) {
        memo = all->memo[--all->memos];
    }
    (void)pthread_mutex_unlock(&all->lock);
    if (memo == NULL) {
        memo = malloc(COSTS_REMEMBERED * sizeof *memo);
        if (memo != NULL) {
            empty_memo(memo);
        }
    }
    return memo;
}

static enum roof_status search_part(void *context, size_t h, struct roof_error *error)
{
    struct parts *const all = context;
    struct search *const s = &all->part[h].search;
    s->out = &all->part[h].found;
    s->error = error;
    s->predictor.error = error;
    s->predictor.memo.entry = take_memo(all);
    if (s->predictor.memo.entry == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = search_device(s, h);
    (void)pthread_mutex_lock(&all->lock);
    all->memo[all->memos++] = s->predictor.memo.entry;
    (void)pthread_mutex_unlock(&all->lock);
    return status;
}

/* Takes the plans of all devices, in their order. */
static enum roof_status take_plans(struct search *s, struct part *part, size_t count)
{
    struct roof_plans *const out = s->out;
    size_t plans = 0;
    for (size_t h = 0; h < count; h++) {
        plans += part[h].found.count;
    }
    out->plan = malloc((plans + 1) * sizeof *out->plan);
    if (out->plan == NULL) {
        return roof_no_memory(s->error);
    }
    for (size_t h = 0; h < count; h++) {
        struct roof_plans *const found = &part[h].found;
        if (found->count > 0) {
            memcpy(&out->plan[out->count], found->plan, found->count * sizeof *out->plan);
        }
        out->count += found->count;
        free(found->plan);
        found->plan = NULL;
    }
    s->capacity = plans + 1;
    return ROOF_OK;
}

/* Takes what one device tells of plans that miss limits. */
static void take_misses(struct search *s, const struct roof_plans *found)
{
    struct roof_plans *const out = s->out;
    const struct roof_verdict closest = {.most = found->closest_excess,
                                         .basis = found->closest.basis};
    if (is_closer(s, &closest)) {
        out->closest_excess = found->closest_excess;
        out->closest = found->closest;
    }
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        out->rejected[i] += found->rejected[i];
    }
    for (int limit = 0; limit < ROOF_PLAN_LIMIT_COUNT; limit++) {
        const struct roof_plan *const nearest = &found->nearest[limit];
        const struct roof_verdict v = {.last = (enum roof_plan_limit)limit,
                                       .most = roof_plan_excess((enum roof_plan_limit)limit,
                                                                nearest->value[limit],
                                                                s->problem->limit[limit]),
                                       .basis = nearest->basis};
        if (found->missed[limit] > 0 && is_nearer(s, &v)) {
            out->nearest[limit] = *nearest;
        }
        out->missed[limit] += found->missed[limit];
    }
}

/* Prepares the search on each device. */
static void open_parts(struct parts *all, const struct search *s,
                       const struct roof_plan_problem *problem)
{
    for (size_t h = 0; h < problem->hardware_count; h++) {
        struct part *const part = &all->part[h];
        part->search = *s;
        part->search.room = ROOM_EACH;
        part->search.problem = problem;
        part->search.predictor.problem = problem;
        part->found =
            (struct roof_plans){.closest_excess = (double)INFINITY, .model = s->out->model};
    }
    (void)pthread_mutex_init(&all->lock, NULL);
    all->memo[all->memos++] = s->predictor.memo.entry;
}

/* Frees the memory of the search, except the first memo, which belongs to the whole search. */
static void close_parts(struct parts *all, const struct search *s)
{
    for (size_t h = 0; h < s->problem->hardware_count; h++) {
        free(all->part[h].found.plan);
    }
    for (size_t i = 0; i < all->memos; i++) {
        if (all->memo[i] != s->predictor.memo.entry) {
            free(all->memo[i]);
        }
    }
    (void)pthread_mutex_destroy(&all->lock);
}

/* Searches each device separately, in several threads, and joins the results in the order of the
 * devices. So neither threads nor other devices change the result for one. */
static enum roof_status search_apart(struct search *s)
{
    const size_t count = s->problem->hardware_count;
    struct roof_plan_problem problem = *s->problem;
    struct roof_halt_guard guard;
    struct parts all = {.part = calloc(count, sizeof *all.part),
                        .memo = calloc(count + 1, sizeof(struct roof_remembered *))};
    enum roof_status status = ROOF_OK;
    if (all.part == NULL || all.memo == NULL) {
        status = roof_no_memory(s->error);
    } else {
        roof_halt_guard_open(&guard, &problem.halt);
        problem.halt = roof_halt_guarded(&guard);
        open_parts(&all, s, &problem);
        problem.threads *= s->splits.count * problem.batches * count >= WORTH_THREADS;
        if (problem.threads > 1) {
            empty_memo(s->predictor.memo.entry);
        }
        status = roof_crew_run(count, problem.threads, search_part, &all, s->error);
        for (size_t h = 0; h < count && status == ROOF_OK; h++) {
            take_misses(s, &all.part[h].found);
        }
        status = status == ROOF_OK ? take_plans(s, all.part, count) : status;
        close_parts(&all, s);
        roof_halt_guard_close(&guard);
    }
    free(all.part);
    free(all.memo);
    return status;
}

static enum roof_status search_all(struct search *s)
{
    if (s->problem->hardware_count > 1 && !s->beyond) {
        return search_apart(s);
    }
    for (size_t h = 0; h < s->problem->hardware_count; h++) {
        TRY(search_device(s, h));
    }
    return ROOF_OK;
}

/* Searches the plans that lose more than is allowed. */
static enum roof_status search_beyond(struct search *s)
{
    struct roof_plans *const out = s->out;
    struct roof_plans beyond = {.closest_excess = (double)INFINITY, .model = out->model};
    s->out = &beyond;
    s->capacity = 0;
    s->beyond = true;
    s->first = roof_plans_first_basis(out);
    s->to_beat = (double)INFINITY;
    for (size_t i = 0; i < out->count; i++) {
        if (out->plan[i].basis == s->first) {
            s->to_beat = fmin(s->to_beat, roof_plan_ranked_score(&out->plan[i], s->problem));
        }
    }
    enum roof_status status = search_all(s);
    if (status == ROOF_OK && beyond.count > 0) {
        status = roof_plans_keep_beyond(out, &beyond, s->problem, s->error);
    }
    free(beyond.plan);
    s->out = out;
    return status;
}

/* --- models with layouts ------------------------------------------------------------------- */

/* Finds or makes the model with a layout; combinations that differ only in the KV cache share it.
 */
static enum roof_status model_with(const struct roof_model **out, struct search *s, size_t serving)
{
    const struct roof_plan_problem *const q = s->problem;
    const struct roof_model *const plain = roof_plan_model(q, serving);
    const char *const layout = q->engines->serving[serving].layout;
    if (q->published != NULL && roof_serving_own(&q->engines->serving[serving], q->model)) {
        *out = q->published;
        return ROOF_OK;
    }
    for (size_t i = 0; i < serving; i++) {
        const char *const before = q->engines->serving[i].layout;
        if (s->out->model[i] != NULL && before != NULL && strcmp(before, layout) == 0 &&
            roof_plan_model(q, i) == plain) {
            *out = s->out->model[i];
            return ROOF_OK;
        }
    }
    struct roof_model *const copy = roof_model_copy(plain);
    if (copy == NULL) {
        return roof_no_memory(s->error);
    }
    s->out->copy[s->out->copies++] = copy;
    *out = copy;
    return roof_layout_apply(copy, layout, q->directories, s->error);
}

static enum roof_status make_models(struct search *s)
{
    const struct roof_engines *const engines = s->problem->engines;
    s->out->model = calloc(engines->servings + 1, sizeof *s->out->model);
    s->out->copy = calloc(engines->servings + 1, sizeof *s->out->copy);
    if (s->out->model == NULL || s->out->copy == NULL) {
        return roof_no_memory(s->error);
    }
    for (size_t i = 0; i < engines->servings; i++) {
        if (engines->serving[i].layout == NULL) {
            s->out->model[i] = s->problem->model;
        } else if (roof_plan_model(s->problem, i) != NULL) {
            TRY(model_with(&s->out->model[i], s, i));
        }
    }
    return ROOF_OK;
}

static enum roof_status run_search(struct search *s)
{
    TRY(make_models(s));
    TRY(roof_plan_splits(&s->splits, s->problem, s->error));
    s->predictor.model = s->out->model;
    TRY(search_all(s));
    if (s->out->count > 0 && s->problem->beyond > s->problem->max_loss) {
        TRY(search_beyond(s));
    }
    return roof_plans_rank(s->out, s->problem, s->error);
}

enum roof_status roof_plan_search(struct roof_plans *out, const struct roof_plan_problem *problem,
                                  struct roof_error *error)
{
    *out = (struct roof_plans){.closest_excess = (double)INFINITY};
    struct search s = {.problem = problem,
                       .out = out,
                       .room = 256,
                       .predictor = {.problem = problem, .error = error},
                       .error = error};
    struct roof_pass_memo *const memo = &s.predictor.memo;
    memo->entry = calloc(COSTS_REMEMBERED, sizeof *memo->entry);
    memo->size = COSTS_REMEMBERED;
    const enum roof_status status = memo->entry == NULL ? roof_no_memory(error) : run_search(&s);
    roof_splits_free(&s.splits);
    free(memo->entry);
    if (status != ROOF_OK) {
        roof_plans_free(out);
        return status;
    }
    return out->count > 0
               ? ROOF_OK
               : roof_error_set(error, ROOF_UNSATISFIED, "nothing satisfies the constraints");
}

void roof_plans_free(struct roof_plans *plans)
{
    if (plans != NULL) {
        for (size_t i = 0; i < plans->copies; i++) {
            roof_model_free(plans->copy[i]);
        }
        free(plans->copy);
        free(plans->model);
        free(plans->plan);
        *plans = (struct roof_plans){.plan = NULL};
    }
}
