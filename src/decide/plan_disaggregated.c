// SPDX-License-Identifier: MIT
#include "decide/plan_disaggregated.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/grow.h"
#include "decide/plan_largest.h"
#include "decide/plan_verdict.h"
#include "predict/power.h"
#include "simulate/deployment.h"

/* A copy of either kind, with its times. */
struct half {
    struct roof_plan plan;
    int64_t devices;
    double part_bytes; /* decode: bytes of the cache of one prompt on the device with the largest
                          part */
    size_t next;       /* the next half of its size; NONE: there is none */
    bool follows;      /* another half of its size precedes it */
};

#define NONE SIZE_MAX

struct halves {
    struct half *half; /* owned */
    size_t count;
    size_t capacity;
};

/* The state of a search over one combination of formats. */
struct search {
    const struct roof_plan_problem *problem;
    const struct roof_splits *splits;
    struct roof_plan_problem prefill; /* the problems for both kinds */
    struct roof_plan_problem decode;
    struct roof_plan_problem whole; /* decode steps at the end of requests */
    struct roof_plan_problem sent;  /* decode steps at the end of prompts */
    struct roof_plan_predictor predictor;
    struct halves prefills;
    struct halves decodes;
    struct roof_disaggregated *out;
    size_t capacity;
    struct roof_error *error;
};

/* --- numbers ------------------------------------------------------------------------------- */

static double passed(const struct roof_share *s, int64_t copies)
{
    const int64_t others = (s->devices - copies * s->prefill) / s->decode;
    return fmin((double)copies * s->requests, (double)others * s->served);
}

/* Returns a number of prefill copies, counted from `copies` in steps of 1 or -1, for which decode
 * copies use all other devices; 0: there is none. */
static int64_t next_copies(const struct roof_share *s, int64_t copies, int64_t step)
{
    for (int64_t i = 0; i < s->decode; i++, copies += step) {
        const int64_t rest = s->devices - copies * s->prefill;
        if (step < 0 ? copies <= 0 : rest <= 0) {
            return 0;
        }
        if (copies > 0 && rest > 0 && rest % s->decode == 0) {
            return copies;
        }
    }
    return 0;
}

int64_t roof_prefill_copies(const struct roof_share *share)
{
    /* Both kinds serve x requests/s if x requests = (devices - x prefill) / decode served. The best
     * whole number is next to x, or next to it among those that use all devices. */
    const double even =
        (double)share->devices * share->served /
        ((double)share->decode * share->requests + (double)share->prefill * share->served);
    const int64_t middle = isfinite(even) ? (int64_t)even : 0;
    const int64_t less = next_copies(share, middle, -1);
    const int64_t more = next_copies(share, middle + 1, 1);
    const double below = less > 0 ? passed(share, less) : 0;
    const double above = more > 0 ? passed(share, more) : 0;
    return below == 0 && above == 0 ? 0 : below >= above ? less : more;
}

/* --- the halves ---------------------------------------------------------------------------- */

static bool is_staged(const struct half *half)
{
    return half->plan.split.pp > 1;
}

/* Tells whether two halves compete: a search for one copy of each kind keeps those with pipeline
 * stages apart, because simulations compare both. */
static bool compete(const struct half *a, const struct half *b, const struct roof_plan_problem *q)
{
    return a->devices == b->devices && a->plan.batch == b->plan.batch &&
           (!q->one_copy || is_staged(a) == is_staged(b));
}

/* Adds a half, unless another one with the same number of devices, batch and stack is faster; it
 * replaces a slower one. */
static enum roof_status add_half(struct halves *list, const struct half *half, bool decodes,
                                 const struct roof_plan_problem *q, struct roof_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        struct half *const other = &list->half[i];
        if (compete(other, half, q) && other->plan.stack == half->plan.stack) {
            const bool less = decodes ? half->plan.step_s < other->plan.step_s
                                      : half->plan.ttft_s < other->plan.ttft_s;
            *other = less ? *half : *other;
            return ROOF_OK;
        }
    }
    if (list->count == list->capacity) {
        struct half *const grown = roof_grow(list->half, &list->capacity, 32, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        list->half = grown;
    }
    list->half[list->count++] = *half;
    return ROOF_OK;
}

/* Returns the engines that run a half. */
static unsigned engines_of(const struct search *s, const struct roof_plan *plan)
{
    const struct roof_plan_problem *const q = s->problem;
    return plan->engines & q->engines->disaggregated &
           roof_engines_split(q->engines, q->hardware[plan->hardware], &plan->split, plan->batch);
}

/* Tells whether a copy takes a batch of prompts in one step, or one per stage; more prompts would
 * wait. */
static bool takes_at_once(const struct search *s, const struct roof_plan *plan)
{
    const struct roof_scenario *const base = &s->problem->base;
    const int64_t prompt = roof_uncached(base->prompt, base->prefix_hit);
    const int64_t room = base->chunk / prompt;
    return plan->batch <= plan->split.pp * (room > 1 ? room : 1);
}

/* Finds the prefill copies for a split; given batches apply to decode copies. */
static enum roof_status find_prefills(struct search *s, struct roof_plan plan)
{
    const unsigned formats = plan.engines;
    for (plan.batch = 1; takes_at_once(s, &plan); plan.batch *= 2) {
        struct roof_plan_options options;
        plan.engines = formats;
        plan.engines = engines_of(s, &plan);
        if (plan.engines == 0) {
            s->out->rejected[ROOF_REJECTED_ENGINE] += plan.batch == 1;
            return ROOF_OK;
        }
        s->predictor.problem = &s->prefill;
        TRY(roof_plan_predict(&options, &s->predictor, &plan, true));
        if (options.against != ROOF_REJECTED_COUNT) {
            s->out->rejected[options.against] += plan.batch == 1;
            return ROOF_OK;
        }
        for (size_t i = 0; i < options.count; i++) {
            const struct half half = {.plan = options.plan[i],
                                      .devices = roof_split_devices(&plan.split)};
            TRY(add_half(&s->prefills, &half, false, s->problem, s->error));
        }
    }
    return ROOF_OK;
}

/* Finds the memory that whole requests leave free in a decode copy, and adds the copy if that is
 * requested and they fit. */
static enum roof_status find_decode(struct roof_sized *out, struct search *s,
                                    const struct roof_plan *plan, double part_bytes, bool add)
{
    struct roof_plan_options options;
    struct roof_memory memory;
    s->predictor.problem = &s->whole;
    TRY(roof_plan_memory(&memory, &s->predictor, plan));
    *out = (struct roof_sized){plan->batch, roof_memory_room(&memory)};
    if (!(out->room >= 0)) {
        s->out->rejected[ROOF_REJECTED_MEMORY]++;
        return ROOF_OK;
    }
    if (!add) {
        return ROOF_OK;
    }
    s->predictor.problem = &s->decode;
    TRY(roof_plan_predict(&options, &s->predictor, plan, false));
    if (options.against != ROOF_REJECTED_COUNT) {
        s->out->rejected[options.against]++;
        return ROOF_OK;
    }
    for (size_t i = 0; i < options.count; i++) {
        struct half half = {.plan = options.plan[i],
                            .devices = roof_split_devices(&plan->split),
                            .part_bytes = part_bytes};
        half.plan.memory_bytes = memory.weights + memory.kv + memory.activations;
        TRY(add_half(&s->decodes, &half, true, s->problem, s->error));
    }
    return ROOF_OK;
}

/* Finds the decode copy with the largest batch, unless the problem has that batch. */
static enum roof_status find_largest(struct search *s, struct roof_plan plan, double part_bytes,
                                     struct roof_sized fits, struct roof_sized more)
{
    struct roof_sized found;
    plan.engines &= s->problem->engines->disaggregated;
    s->predictor.problem = &s->whole;
    TRY(roof_plan_largest(&plan.batch, &s->predictor, &plan, fits, more));
    plan.engines = engines_of(s, &plan);
    return roof_plan_listed(s->problem, plan.batch)
               ? ROOF_OK
               : find_decode(&found, s, &plan, part_bytes, true);
}

/* Finds the decode copies for a split. */
static enum roof_status find_decodes(struct search *s, struct roof_plan plan)
{
    const struct roof_plan_problem *const q = s->problem;
    const unsigned formats = plan.engines;
    struct roof_memory sent;
    struct roof_scenario resolved;
    struct roof_sized fits = {0, ROOF_UNKNOWN};
    struct roof_sized more = {0, ROOF_UNKNOWN};
    plan.batch = 1;
    roof_plan_scenario(&resolved, &plan, &s->decode);
    if (roof_scenario_resolve(&resolved, s->predictor.model[plan.serving], NULL) != ROOF_OK) {
        s->out->rejected[ROOF_REJECTED_SPLIT]++; /* it does not divide the model */
        return ROOF_OK;
    }
    s->predictor.problem = &s->sent;
    const enum roof_status status = roof_plan_memory(&sent, &s->predictor, &plan);
    if (status != ROOF_OK) { /* draft tokens may use a link that is unknown */
        s->out->rejected[ROOF_REJECTED_FIGURE] += status == ROOF_USAGE;
        return status == ROOF_USAGE ? ROOF_OK : status;
    }
    for (size_t b = 0; b < q->batches && more.batch == 0; b++) {
        struct roof_sized one;
        plan.batch = q->batch[b];
        plan.engines = formats;
        plan.engines = engines_of(s, &plan);
        if (plan.engines == 0) {
            s->out->rejected[ROOF_REJECTED_ENGINE]++;
            return ROOF_OK;
        }
        TRY(find_decode(&one, s, &plan, sent.kv, q->largest != ROOF_BATCHES_LARGEST));
        *(one.room >= 0 ? &fits : &more) = one;
    }
    plan.engines = formats;
    return roof_plan_wants_largest(q, fits.batch, more.batch)
               ? find_largest(s, plan, sent.kv, fits, more)
               : ROOF_OK;
}

/* --- both ---------------------------------------------------------------------------------- */

static double copies_of(const struct roof_plan *plan)
{
    return (double)plan->split.attention_dp;
}

/* Tells whether the decode copy computes the first token again. Bounds hold for all engines, and
 * some pass it on. */
static bool computes_again(const struct roof_plan *decode, const struct roof_engines *engines)
{
    return decode->basis != ROOF_PLAN_BOUND && (engines->passing >> decode->stack & 1U) == 0;
}

/* Returns how long a prompt occupies a copy; the host work of the engine before the first step
 * overlaps with steps of others. */
static double busy_s(const struct roof_plan *prefill, const struct roof_plan_problem *q)
{
    return prefill->ttft_s - roof_plan_host_s(prefill, q);
}

/* Returns the requests/s of one copy of each kind, which the link may limit: it transfers one
 * prompt at a time for each attention group of devices. */
static struct roof_share share_of(const struct half *prefill, const struct half *decode,
                                  double prefill_s, double step_s, double tpot_s,
                                  const struct roof_plan_prefill *way,
                                  const struct roof_plan_problem *q)
{
    const double later = (double)(q->base.generate - 1);
    const double receive_s = decode->part_bytes / way->link;
    const struct roof_share share = {
        .prefill = prefill->devices,
        .decode = decode->devices,
        .requests = fmin((double)prefill->plan.batch / prefill_s,
                         copies_of(&prefill->plan) / way->transfer_s),
        .served = fmin((double)decode->plan.batch / (step_s + later * tpot_s),
                       copies_of(&decode->plan) / receive_s)};
    return share;
}

/* Sets the transfer of a prompt between two halves; false if the link is unknown. */
static bool set_way(struct roof_plan_prefill *out, const struct half *prefill,
                    const struct half *decode, int64_t devices,
                    const struct roof_hardware *hardware, const struct roof_engines *engines)
{
    struct roof_link link;
    const struct roof_split *const from = &prefill->plan.split;
    const struct roof_split *const to = &decode->plan.split;
    const int64_t receivers = to->tp * to->pp;
    if (roof_hardware_link(&link, hardware, (double)devices, 2, NULL) != ROOF_OK) {
        return false;
    }
    out->split = *from;
    out->batch = prefill->plan.batch;
    out->prefill_s = prefill->plan.ttft_s;
    out->bound_s = prefill->plan.bound_ttft_s;
    out->kv_bytes = decode->part_bytes * (double)receivers;
    out->link = link.bytes_per_s;
    out->network = roof_several_nodes(hardware, devices);
    out->bridge = roof_link_is_bridge(&link, hardware);
    out->transfer_s =
        roof_transfer_time(decode->part_bytes, receivers, from->tp * from->pp, link.bytes_per_s);
    out->again_s = computes_again(&decode->plan, engines) ? decode->plan.step_s : 0;
    return true;
}

/* Sets the times of requests that pass through both halves. */
static void set_times(struct roof_plan *p, const struct roof_plan *prefill,
                      const struct roof_plan_problem *q)
{
    const double moved = p->prefill.transfer_s;
    const double later = (double)(q->base.generate - 1);
    const double step = p->prefill.again_s;
    const double near_s = prefill->ttft_near * prefill->ttft_s + p->near * step;
    p->ttft_s = prefill->ttft_s + moved + step;
    p->ttft_near = near_s / p->ttft_s;
    p->ttft_low_s = prefill->ttft_low_s + moved + (step > 0 ? p->step_low_s : 0);
    p->ttft_high_s = prefill->ttft_high_s + moved + (step > 0 ? p->step_high_s : 0);
    p->bound_ttft_s = prefill->bound_ttft_s + moved;
    p->e2e_s = p->ttft_s + later * p->tpot_s;
    p->bound_e2e_s = p->bound_ttft_s + later * p->bound_tpot_s;
    p->prefill.memory_bytes = prefill->memory_bytes;
    p->prefill.decode_bytes = p->memory_bytes;
    p->memory_bytes = fmax(p->memory_bytes, prefill->memory_bytes);
}

/* Sets the values that follow from the requests/s of both kinds of copies. */
static void set_rates(struct roof_plan *p, const struct roof_plan_problem *q)
{
    const double generate = (double)q->base.generate;
    const double devices = (double)p->devices;
    const double rate = fmin(p->prefill.requests, p->prefill.served);
    const double bound = fmin(p->prefill.bound_requests, p->prefill.bound_served);
    p->tokens_per_s = generate * rate;
    p->tokens_per_s_per_user = generate / p->e2e_s;
    p->tokens_per_s_per_device = p->tokens_per_s / devices;
    p->bound_tokens_per_s = generate * bound;
    p->bound_tokens_per_s_per_user = generate / p->bound_e2e_s;
    p->bound_tokens_per_s_per_device = p->bound_tokens_per_s / devices;
    p->watt = devices * roof_power_most(q->hardware[p->hardware]);
    p->joule = p->watt / p->tokens_per_s;
    p->cost = q->price == NULL ? ROOF_UNKNOWN
                               : q->price[p->hardware] * devices / 3600 / p->tokens_per_s * 1e6;
    p->value[ROOF_PLAN_LIMIT_TTFT] = p->ttft_s;
    p->value[ROOF_PLAN_LIMIT_TPOT] = p->tpot_s;
    p->value[ROOF_PLAN_LIMIT_TOKENS_PER_S] = p->tokens_per_s;
    p->value[ROOF_PLAN_LIMIT_CONCURRENCY] = floor(rate * p->e2e_s * (1 + 1e-12));
    p->value[ROOF_PLAN_LIMIT_COST] = p->cost;
    p->value[ROOF_PLAN_LIMIT_POWER] = p->watt;
}

/* Combines two halves on a number of devices; false if they cannot use all of them. */
static bool join(struct roof_plan *out, const struct half *prefill, const struct half *decode,
                 int64_t devices, const struct roof_plan_problem *q)
{
    struct roof_plan *const p = out;
    const struct roof_plan *const d = &decode->plan;
    const unsigned engines = d->engines & prefill->plan.engines;
    struct roof_plan_prefill way = d->prefill;
    if (engines == 0 || d->stack != prefill->plan.stack ||
        prefill->devices + decode->devices > devices ||
        !set_way(&way, prefill, decode, devices, q->hardware[d->hardware], q->engines)) {
        return false;
    }
    struct roof_share share =
        share_of(prefill, decode, busy_s(&prefill->plan, q), way.again_s, d->tpot_s, &way, q);
    share.devices = devices;
    const int64_t copies = roof_prefill_copies(&share);
    if (copies == 0) { /* the usual case, in which no plan is made */
        return false;
    }
    const struct roof_share bound =
        share_of(prefill, decode, prefill->plan.bound_ttft_s, 0, d->bound_tpot_s, &way, q);
    *p = *d;
    p->engines = engines;
    p->prefill = way;
    p->devices = devices;
    p->dp = (devices - copies * share.prefill) / share.decode;
    p->prefill.copies = copies;
    p->prefill.requests = (double)copies * share.requests;
    p->prefill.served = (double)p->dp * share.served;
    p->prefill.bound_requests = (double)copies * bound.requests;
    p->prefill.bound_served = (double)p->dp * bound.served;
    set_times(p, &prefill->plan, q);
    set_rates(p, q);
    return true;
}

static enum roof_status add_plan(struct search *s, const struct roof_plan *plan)
{
    struct roof_disaggregated *const out = s->out;
    if (out->count == s->capacity) {
        struct roof_plan *const grown = roof_grow(out->plan, &s->capacity, 64, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(s->error);
        }
        out->plan = grown;
    }
    out->plan[out->count++] = *plan;
    return ROOF_OK;
}

/* Keeps the better of the best plan so far, if any, and the best one with some decode copies. If
 * one copy of each kind is wanted, the prefill copy has several stages or one. */
static bool keep_best(struct roof_plan *best, bool any, const struct search *s,
                      const struct half *decode, int64_t devices, bool staged)
{
    for (size_t i = 0; i < s->prefills.count; i++) {
        const struct half *const prefill = &s->prefills.half[i];
        struct roof_plan plan;
        if (s->problem->one_copy &&
            (prefill->devices + decode->devices != devices || is_staged(prefill) != staged)) {
            continue;
        }
        if (join(&plan, prefill, decode, devices, s->problem) &&
            (!any || roof_plan_is_better(s->problem, &plan, best))) {
            *best = plan;
            any = true;
        }
    }
    return any;
}

/* Adds the best plan on a number of devices with decode copies of a given size, in any stack. */
static enum roof_status add_best(struct search *s, size_t first, int64_t devices, bool staged)
{
    struct roof_plan best;
    bool any = false;
    for (size_t i = first; i != NONE; i = s->decodes.half[i].next) {
        any = keep_best(&best, any, s, &s->decodes.half[i], devices, staged);
    }
    return any ? add_plan(s, &best) : ROOF_OK;
}

/* Links the halves of each size. */
static void link_sizes(struct halves *list, const struct roof_plan_problem *q)
{
    for (size_t i = 0; i < list->count; i++) {
        struct half *const half = &list->half[i];
        size_t next = i + 1;
        while (next < list->count && !compete(half, &list->half[next], q)) {
            next++;
        }
        half->next = next < list->count ? next : NONE;
        if (half->next != NONE) {
            list->half[next].follows = true;
        }
    }
}

/* Tells whether the reason is known why a half has no copies. */
static bool any_rejected(const struct roof_disaggregated *out)
{
    int i = 0;
    while (i < ROOF_REJECTED_COUNT && out->rejected[i] == 0) {
        i++;
    }
    return i < ROOF_REJECTED_COUNT;
}

/* Adds the best plans with decode copies of a given size: on each number of devices, or, if one
 * copy of each kind is wanted, with prefill copies of each number of devices. */
static enum roof_status add_each(struct search *s, size_t decode)
{
    const struct roof_plan_problem *const q = s->problem;
    const int64_t own = q->one_copy ? s->decodes.half[decode].devices : 0;
    for (size_t n = 0; n < q->device_counts; n++) {
        TRY(add_best(s, decode, own + q->devices[n], false));
        TRY(q->one_copy ? add_best(s, decode, own + q->devices[n], true) : ROOF_OK);
    }
    return ROOF_OK;
}

static enum roof_status run(struct search *s, const struct roof_plan *plan)
{
    const struct roof_plan_problem *const q = s->problem;
    const int64_t largest = roof_plan_most_devices(q);
    const int64_t most = q->one_copy ? 2 * largest : largest;
    struct roof_plan half = *plan;
    struct roof_link link;
    for (size_t i = 0; i < s->splits->count; i++) {
        half.split = s->splits->split[i];
        if (roof_split_devices(&half.split) < most) {
            TRY(find_prefills(s, half));
            TRY(find_decodes(s, half));
        }
    }
    link_sizes(&s->decodes, q);
    for (size_t i = 0; i < s->decodes.count; i++) {
        if (!s->decodes.half[i].follows) {
            TRY(add_each(s, i));
        }
    }
    if (s->out->count == 0) {
        const bool linked = roof_hardware_link(&link, q->hardware[plan->hardware], (double)most, 2,
                                               NULL) == ROOF_OK;
        const bool both = s->prefills.count > 0 && s->decodes.count > 0;
        s->out->rejected[ROOF_REJECTED_FIGURE] += !linked;
        s->out->rejected[ROOF_REJECTED_COPIES] += linked && (both || !any_rejected(s->out));
    }
    return ROOF_OK;
}

enum roof_status roof_plan_disaggregate(struct roof_disaggregated *out,
                                        const struct roof_plan_predictor *predictor,
                                        const struct roof_splits *splits,
                                        const struct roof_plan *plan)
{
    const struct roof_plan_problem *const q = predictor->problem;
    struct search s = {.problem = q,
                       .splits = splits,
                       .predictor = *predictor,
                       .out = out,
                       .error = predictor->error};
    *out = (struct roof_disaggregated){0};
    if (q->base.generate < 2 || (q->base.dp != 0 && !q->one_copy) ||
        (plan->engines & q->engines->disaggregated) == 0) {
        out->rejected[ROOF_REJECTED_ENGINE]++;
        return ROOF_OK;
    }
    roof_plan_halves(&s.prefill, &s.decode, q);
    s.whole = s.sent = s.decode;
    s.whole.base.context = q->base.prompt + q->base.generate;
    s.sent.base.context = q->base.prompt;
    s.predictor.prefilled = (struct roof_stacks){0};
    s.predictor.prefill = (struct roof_phase_times){0};
    const enum roof_status status = run(&s, plan);
    free(s.prefills.half);
    free(s.decodes.half);
    if (status != ROOF_OK) {
        free(out->plan);
        *out = (struct roof_disaggregated){0};
    }
    return status;
}
