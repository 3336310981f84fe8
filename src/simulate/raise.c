// SPDX-License-Identifier: MIT
#include "simulate/raise.h"

#include <math.h>

#include "base/base.h"

/* The number of requests in the simulations that choose among the changes. */
#define REQUESTS 1000
/* The least gain; smaller ones are within the noise of those requests. */
#define GAIN_LEAST 1.1
/* More devices have to gain more than this factor over fewer. */
#define GAIN_MORE 1.03
#define CHUNK_LEAST 256
#define FP8 ROOF_PRECISION_FP8_E4M3

/* The gain factors of some changes, in descending order. */
struct gains {
    struct roof_raise raise[ROOF_RAISES_EACH];
    size_t change[ROOF_RAISES_EACH]; /* the number of each change */
    size_t count;
};

/* A change runs on the devices that are there, or needs more. */
enum need { NEED_NONE, NEED_MORE, NEEDS };

/* The engine with a change. */
struct changed {
    struct roof_scenario scenario;
    struct roof_scenario prefill; /* of the prefill copies, if there are any */
    struct roof_scheduler_limits limits;
    struct roof_raise raise;
};

static struct changed unchanged(const struct roof_deployments *d,
                                const struct roof_simulation_inputs *inputs)
{
    return (struct changed){
        .scenario = d->copy.scenario, .prefill = d->prefill.scenario, .limits = inputs->limits};
}

/* Finds the greatest rate of a changed engine, with at most this many requests; 0 if the change is
 * not valid for the model, NAN if the requests are too few. */
static enum roof_status rate_of(struct roof_capacity *out, const struct changed *c,
                                uint64_t requests, const struct roof_deployments *d,
                                const struct roof_simulation_inputs *inputs,
                                struct roof_error *error)
{
    struct roof_deployments changed;
    const struct roof_deployment *const copy = &d->copy;
    struct roof_simulation_inputs shorter = *inputs;
    enum roof_status status = roof_deployments_open(&changed, copy->model, &c->scenario,
                                                    d->prefill.parts == NULL ? NULL : &c->prefill,
                                                    copy->hardware, copy->bound, error);
    *out = (struct roof_capacity){.rate = 0};
    if (status == ROOF_OK) {
        shorter.requests = shorter.requests < requests ? shorter.requests : requests;
        shorter.limits = c->limits;
        shorter.copies = (uint64_t)c->scenario.dp;
        roof_deployments_use(&shorter, &changed);
        status = roof_capacity_find(out, &shorter, error);
    }
    roof_deployments_close(&changed);
    /* A split that is not valid is skipped. */
    return status == ROOF_MEMORY || status == ROOF_IO ? status : ROOF_OK;
}

/* Adds a change with a sufficient gain to the best ones. */
static void keep(struct gains *gains, const struct roof_raise *raise, size_t change)
{
    size_t at = gains->count;
    while (at > 0 && gains->raise[at - 1].factor < raise->factor) {
        at--;
    }
    if (!(raise->factor > GAIN_LEAST) || at == ROOF_RAISES_EACH) {
        return;
    }
    gains->count += gains->count < ROOF_RAISES_EACH ? 1 : 0;
    for (size_t i = gains->count - 1; i > at; i--) {
        gains->raise[i] = gains->raise[i - 1];
        gains->change[i] = gains->change[i - 1];
    }
    gains->raise[at] = *raise;
    gains->change[at] = change;
}

/* Gives the engine another token budget; false if that does not apply. */
static bool change_chunk(struct changed *c, int64_t chunk, int64_t longest)
{
    if (c->limits.budget == ROOF_BUDGET_WHOLE || chunk < CHUNK_LEAST ||
        (chunk > c->limits.budget && c->limits.budget >= longest)) {
        return false;
    }
    c->scenario.chunk = c->prefill.chunk = c->limits.budget = chunk;
    c->raise = (struct roof_raise){.key = "chunk", .value = chunk};
    return true;
}

/* Stores weights or cache of 16 bits or more in FP8; false if they are narrower already. */
static bool narrow(struct changed *c, bool cache)
{
    struct roof_formats *const formats = &c->scenario.common.formats;
    const enum roof_precision now = cache ? formats->kv : formats->weights;
    if (roof_precision_bits(now) < 16) {
        return false;
    }
    if (cache) {
        formats->kv = FP8;
    } else {
        formats->weights = formats->activations = FP8;
    }
    c->prefill.common.formats = *formats;
    c->raise =
        (struct roof_raise){.key = cache ? "kv" : "precision", .format = roof_format(FP8)->name};
    return true;
}

/* Splits the devices of the copies in another way; false if they cannot be. */
static bool resplit(struct changed *c, bool copies)
{
    struct roof_scenario *const s = &c->scenario;
    int64_t *const more = copies ? &s->dp : &s->tp;
    int64_t *const less = copies ? &s->tp : &s->dp;
    if (*less % 2 != 0 || s->common.shape.ep != 1 || s->attention_dp != 1) {
        return false;
    }
    *more *= 2;
    *less /= 2;
    s->moe_tp = s->moe_ep = 0; /* derived again from the split */
    c->raise =
        (struct roof_raise){.key = "tp", .value = s->tp, .other_key = "dp", .other_value = s->dp};
    return true;
}

/* Makes change number `index` of an engine; false if it does not apply. */
static bool make_change(struct changed *c, size_t index, const struct roof_deployments *d,
                        const struct roof_simulation_inputs *inputs)
{
    const int64_t prompt = d->copy.scenario.prompt;
    *c = unchanged(d, inputs);
    const int64_t chunk = c->limits.budget;
    switch (index) {
    case 0:
        return change_chunk(c, chunk / 4, prompt);
    case 1:
        return change_chunk(c, chunk / 2, prompt);
    case 2:
        return change_chunk(c, chunk < INT64_MAX / 2 ? 2 * chunk : chunk, prompt);
    case 3:
        c->limits.sequences *= 2;
        c->scenario.common.shape.batch = c->limits.sequences;
        c->raise = (struct roof_raise){.key = "max_num_seqs", .value = c->limits.sequences};
        return true;
    case 4:
        c->scenario.tp *= 2;
        c->scenario.moe_tp = c->scenario.moe_ep = 0; /* derived again from the split */
        c->raise = (struct roof_raise){.key = "tp", .value = c->scenario.tp};
        return c->scenario.common.shape.ep == 1 && c->scenario.attention_dp == 1;
    case 5:
        c->scenario.dp *= 2;
        c->raise = (struct roof_raise){.key = "dp", .value = c->scenario.dp};
        return true;
    case 6:
        c->prefill.dp *= 2;
        c->raise = (struct roof_raise){.key = "prefill_copies", .value = c->prefill.dp};
        return d->prefill.parts != NULL;
    case 7: /* if only one kind is doubled, the other one becomes the bottleneck */
        c->scenario.dp *= 2;
        c->prefill.dp *= 2;
        c->raise = (struct roof_raise){.key = "dp",
                                       .value = c->scenario.dp,
                                       .other_key = "prefill_copies",
                                       .other_value = c->prefill.dp};
        return d->prefill.parts != NULL;
    case 8:
        return narrow(c, true);
    case 9:
        return narrow(c, false);
    case 10:
        return d->prefill.parts == NULL && resplit(c, true);
    default:
        return d->prefill.parts == NULL && resplit(c, false);
    }
}
#define CHANGES 12

/* Returns the ratio of a quotient to the end of its interval. The ratios of its two numbers to
 * theirs are errors that add up as if they were independent: as logarithms, by their squares. */
static double combined(double ratio, double other)
{
    return exp(sqrt(log(ratio) * log(ratio) + log(other) * log(other)));
}

static void put_factor(struct roof_raise *out, const struct roof_capacity *raised,
                       const struct roof_capacity *base)
{
    out->factor = raised->rate / base->rate;
    out->factor_low = out->factor / combined(raised->rate / raised->low, base->high / base->rate);
    out->factor_high = out->factor * combined(raised->high / raised->rate, base->rate / base->low);
}

static int64_t devices_of(const struct changed *c, const struct roof_deployments *d)
{
    return roof_scenario_devices(&c->scenario) +
           (d->prefill.parts == NULL ? 0 : roof_scenario_devices(&c->prefill));
}

/* Finds the gain of a change over the rate of the same number of requests, and keeps it. */
static enum roof_status weigh(struct gains gains[NEEDS], size_t change,
                              const struct roof_capacity *base, uint64_t requests,
                              const struct roof_deployments *d,
                              const struct roof_simulation_inputs *inputs, struct roof_error *error)
{
    struct changed c;
    struct roof_capacity raised;
    if (!make_change(&c, change, d, inputs)) {
        return ROOF_OK;
    }
    TRY(rate_of(&raised, &c, requests, d, inputs, error));
    if (isnan(raised.rate) && requests < inputs->requests) { /* that many are in flight at once */
        TRY(rate_of(&raised, &c, inputs->requests, d, inputs, error));
    }
    const struct changed same = unchanged(d, inputs);
    c.raise.devices = devices_of(&c, d);
    put_factor(&c.raise, &raised, base);
    keep(&gains[c.raise.devices > devices_of(&same, d) ? NEED_MORE : NEED_NONE], &c.raise, change);
    return ROOF_OK;
}

/* Tells whether another change gains about as much with fewer devices. */
static bool is_wasteful(const struct gains *gains, size_t change)
{
    const struct roof_raise *const raise = &gains->raise[change];
    bool wasteful = false;
    for (size_t i = 0; i < gains->count; i++) {
        const struct roof_raise *const other = &gains->raise[i];
        wasteful = wasteful ||
                   (other->devices < raise->devices && other->factor * GAIN_MORE >= raise->factor);
    }
    return wasteful;
}

enum roof_status roof_raises_find(struct roof_raise out[ROOF_RAISES_MAX], size_t *count,
                                  const struct roof_deployments *deployments,
                                  const struct roof_simulation_inputs *inputs,
                                  const struct roof_capacity *found, struct roof_error *error)
{
    const struct changed same = unchanged(deployments, inputs);
    struct gains rough[NEEDS] = {{.count = 0}};
    struct gains gains[NEEDS] = {{.count = 0}};
    struct roof_capacity base;
    *count = 0;
    uint64_t requests = REQUESTS;
    TRY(rate_of(&base, &same, requests, deployments, inputs, error));
    if (isnan(base.rate)) { /* that many are in flight at once */
        requests = inputs->requests;
        base = *found;
    }
    for (size_t i = 0; i < CHANGES && base.rate > 0; i++) {
        TRY(weigh(rough, i, &base, requests, deployments, inputs, error));
    }
    /* Percentiles of few requests are uncertain: the changes that seem best are simulated again. */
    for (int need = 0; need < NEEDS && found->rate > 0; need++) {
        for (size_t i = 0; i < rough[need].count; i++) {
            TRY(weigh(gains, rough[need].change[i], found, inputs->requests, deployments, inputs,
                      error));
        }
    }
    for (int need = 0; need < NEEDS; need++) {
        for (size_t i = 0; i < gains[need].count; i++) {
            if (!is_wasteful(&gains[need], i)) {
                out[(*count)++] = gains[need].raise[i];
            }
        }
    }
    return ROOF_OK;
}
