// SPDX-License-Identifier: MIT
#include "simulate/capacity.h"

#include <math.h>

#include "base/base.h"
#include "base/quantity.h"

/* Requests of the first, coarse search. */
#define COARSE_REQUESTS 600
/* A search ends when the ratio of its bounds is at most this. */
#define COARSE_RATIO 1.15
#define FINE_RATIO 1.005
/* A rate is unknown if there are fewer requests than this for each one in flight. */
#define PER_FLIGHT 3
/* A run is steady with at least this many requests for each one in flight: the engine starts empty,
 * and fills up during the first of them. */
#define STEADY_PER_FLIGHT 20
/* With this many requests waiting on average, the engine may be at its limit. What it completes is
 * measured at a rate that is higher by the second factor. */
#define WAITING_LEAST 5
#define OVERLOAD 1.3
/* More requests are simulated there, by the second factor, if the engine still fills up: if this
 * fraction of what it served did not end. */
#define FILLING 0.02
#define LONGER 4
/* The factor of requests that is asked for if there are too few. */
#define MORE 10
/* An interval needs more requests if the ratio of its ends is at least the first of these, and is
 * unknown from the second one on. */
#define RATIO_WIDE 2
#define RATIO_KNOWN 10
/* Half the logarithm of that ratio from which the slope is taken again, and the ratio of the rates
 * between which it is then taken. */
#define HALF_WIDE 0.15
#define FAR_RATIO 1.5
/* The most simulations of a search. */
#define RUNS_MAX 200

#define POINTS 32

/* A simulation of the search. */
struct point {
    double rate;
    double excess;      /* the largest latency / limit; HUGE_VAL: saturated */
    double uncertainty; /* half the confidence interval of that latency, relative to it */
    int limit;          /* the limit of that latency */
};

struct search {
    const struct roof_simulation_inputs *inputs;
    uint64_t requests; /* per simulation */
    bool coarse;       /* only the bounds are of interest */
    struct roof_capacity *out;
    struct point low;           /* the highest rate known to keep the limits */
    struct point high;          /* the lowest rate known to miss them */
    struct point point[POINTS]; /* all points of the fine search, up to POINTS */
    int points;
};

/* Finds the limit with the least room, or the largest excess. */
static void judge(struct point *out, const struct roof_simulation *s,
                  const struct roof_latency_limit *limit)
{
    out->excess = 0;
    out->uncertainty = ROOF_UNKNOWN;
    out->limit = ROOF_LATENCY_COUNT;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const struct roof_latency_result *const r = &s->latency[i];
        const double excess = r->limited_s / limit[i].time_s;
        if (excess > out->excess) {
            *out = (struct point){out->rate, excess, r->limited_ci_s / r->limited_s, i};
        }
    }
    if (s->saturated || s->stopped) {
        out->excess = HUGE_VAL;
        out->limit = ROOF_LATENCY_COUNT;
    }
}

/* Simulates a rate; a point that keeps the limits becomes the lower bound of the search. */
static enum roof_status try_rate(struct search *s, double rate, bool *kept,
                                 struct roof_error *error)
{
    struct roof_simulation_inputs inputs = *s->inputs;
    struct roof_arrivals arrivals;
    struct roof_simulation result;
    struct point point = {.rate = rate};
    roof_simulation_set_rate(&inputs, &arrivals, rate);
    inputs.requests = s->requests;
    inputs.keep = false;
    inputs.verdict = s->coarse;
    s->out->runs++;
    TRY(roof_simulate(&result, &inputs, error));
    judge(&point, &result, inputs.limit);
    *kept = point.excess <= 1;
    if (s->points < POINTS) {
        s->point[s->points++] = point;
    }
    if (*kept) {
        s->low = point;
        s->out->at = result;
    } else {
        s->high = point;
        s->out->at = s->low.rate > 0 ? s->out->at : result;
    }
    return ROOF_OK;
}

/* Finds a rate that keeps the limits and one that does not, by factors from a first guess. */
static enum roof_status bracket(struct search *s, double rate, double factor,
                                struct roof_error *error)
{
    bool kept = false;
    s->low.rate = s->high.rate = 0;
    TRY(try_rate(s, rate, &kept, error));
    while (s->low.rate == 0 && s->high.rate > ROOF_RATE_MIN && s->out->runs < RUNS_MAX) {
        TRY(try_rate(s, fmax(ROOF_RATE_MIN, s->high.rate / factor), &kept, error));
        factor *= factor;
    }
    while (s->high.rate == 0 && s->low.rate < ROOF_RATE_MAX && s->out->runs < RUNS_MAX) {
        TRY(try_rate(s, fmin(ROOF_RATE_MAX, s->low.rate * factor), &kept, error));
    }
    return ROOF_OK;
}

/* Bisects the logarithm of the rate until the bounds are close. */
static enum roof_status bisect(struct search *s, double ratio, struct roof_error *error)
{
    while (s->low.rate > 0 && s->high.rate > s->low.rate * ratio) {
        bool kept = false;
        TRY(try_rate(s, sqrt(s->low.rate * s->high.rate), &kept, error));
    }
    return ROOF_OK;
}

/* Returns the slope of the logarithm of the latency over that of the rate: of the line through the
 * rate found and closest to the other points. Those far away weigh most, because latencies rise in
 * steps. NAN: there are no others. */
static double slope_of(const struct search *s)
{
    double products = 0;
    double squares = 0;
    for (int i = 0; i < s->points; i++) {
        const struct point *const p = &s->point[i];
        if (isfinite(p->excess) && p->limit == s->low.limit) {
            const double apart = log(p->rate / s->low.rate);
            products += apart * log(p->excess / s->low.excess);
            squares += apart * apart;
        }
    }
    return squares > 0 ? products / squares : ROOF_UNKNOWN;
}

/* Simulates some requests at a rate that is not part of the search. */
static enum roof_status simulate_at(struct roof_simulation *out, const struct search *s,
                                    double rate, uint64_t requests, struct roof_error *error)
{
    struct roof_simulation_inputs inputs = *s->inputs;
    struct roof_arrivals arrivals;
    roof_simulation_set_rate(&inputs, &arrivals, rate);
    inputs.requests = requests;
    inputs.keep = false;
    s->out->runs++;
    return roof_simulate(out, &inputs, error);
}

/* Computes the interval of the rate: that of the logarithm of the latency, divided by its slope. If
 * that is wide, the slope between rates that are close is uncertain, and a rate that is far away
 * gives a better one. */
static enum roof_status put_interval(struct roof_capacity *out, struct search *s,
                                     struct roof_error *error)
{
    double half = s->low.uncertainty / slope_of(s);
    if (!(half > 0 && half < HALF_WIDE) && !isnan(s->low.uncertainty) && s->points < POINTS) {
        struct point *const far = &s->point[s->points++];
        struct roof_simulation result;
        *far = (struct point){.rate = s->low.rate / FAR_RATIO};
        TRY(simulate_at(&result, s, far->rate, s->requests, error));
        judge(far, &result, s->inputs->limit);
        half = s->low.uncertainty / slope_of(s);
    }
    out->low = out->rate * exp(-half);
    out->high = out->rate * exp(half);
    return ROOF_OK;
}

/* Lowers the rate to what the engine completes when more requests arrive. A short run may keep the
 * limits above it, because the queue takes time to grow. Its interval is from there, less chance,
 * to the rate that is too high. */
static enum roof_status put_saturated(struct roof_capacity *out, struct search *s,
                                      struct roof_error *error)
{
    struct roof_simulation over;
    const double rate = OVERLOAD * s->low.rate;
    uint64_t requests = s->requests;
    TRY(simulate_at(&over, s, rate, requests, error));
    if (over.filling > FILLING && s->inputs->arrivals != NULL) {
        requests *= LONGER;
        TRY(simulate_at(&over, s, rate, requests, error));
    }
    const double served = over.served_per_s / (1 - (double)over.rejected / (double)requests);
    if (served < s->low.rate) {
        out->rate = served;
        out->limit = ROOF_LATENCY_COUNT;
        TRY(simulate_at(&out->at, s, served, s->requests, error));
    }
    if (out->limit == ROOF_LATENCY_COUNT) {
        out->low = out->rate * fmax(0, 1 - 2 * over.noise);
        out->high = fmax(s->high.rate, served);
    }
    return ROOF_OK;
}

/* Returns how many requests are in flight on average at the rate that the search found. */
static double flight_of(const struct search *s)
{
    return s->low.rate * s->out->at.latency[ROOF_LATENCY_E2E].mean_s;
}

/* Judges the rate that the search found, and computes its interval. */
static enum roof_status put_rate(struct roof_capacity *out, struct search *s,
                                 struct roof_error *error)
{
    const struct roof_simulation *const at = &out->at;
    out->limit = s->high.limit;
    out->open = s->high.rate == 0 || PER_FLIGHT * flight_of(s) > (double)s->requests;
    out->rate = out->open ? ROOF_UNKNOWN : s->low.rate;
    if (out->open) {
        out->wanted = MORE * s->requests;
        return s->high.rate == 0 ? ROOF_OK
                                 : simulate_at(&out->at, s, ROOF_RATE_MAX, s->requests, error);
    }
    if (s->low.rate == 0) {
        return ROOF_OK;
    }
    if (out->limit == ROOF_LATENCY_COUNT || at->waiting >= WAITING_LEAST) {
        TRY(put_saturated(out, s, error));
    }
    if (out->limit != ROOF_LATENCY_COUNT) {
        TRY(put_interval(out, s, error));
    }
    if (!(out->low <= out->rate && out->high < RATIO_KNOWN * out->low)) {
        out->why = out->limit == ROOF_LATENCY_COUNT ? ROOF_NO_INTERVAL_SATURATION
                   : isnan(s->low.uncertainty)      ? ROOF_NO_INTERVAL_FEW
                   : out->low <= out->rate          ? ROOF_NO_INTERVAL_WIDE
                                                    : ROOF_NO_INTERVAL_SLOPE;
        out->low = out->high = ROOF_UNKNOWN;
    }
    out->wanted = out->high < RATIO_WIDE * out->low ? 0 : MORE * s->requests;
    return ROOF_OK;
}

enum roof_status roof_capacity_find(struct roof_capacity *out,
                                    const struct roof_simulation_inputs *inputs,
                                    struct roof_error *error)
{
    struct search s = {.inputs = inputs, .coarse = true, .out = out};
    *out = (struct roof_capacity){.low = ROOF_UNKNOWN, .high = ROOF_UNKNOWN};
    s.requests = inputs->requests < COARSE_REQUESTS ? inputs->requests : COARSE_REQUESTS;
    TRY(bracket(&s, 1, 4, error));
    TRY(bisect(&s, COARSE_RATIO, error));
    const double guess = s.low.rate > 0 ? s.low.rate : ROOF_RATE_MIN;
    s.requests = inputs->requests;
    s.coarse = false;
    s.points = 0;
    TRY(bracket(&s, guess, COARSE_RATIO, error));
    TRY(bisect(&s, FINE_RATIO, error));
    const double flight = flight_of(&s);
    const double n = (double)s.requests;
    const bool known = s.low.rate > 0 && s.high.rate > 0 && PER_FLIGHT * flight <= n;
    if (known && inputs->arrivals != NULL && STEADY_PER_FLIGHT * flight > n) {
        s.requests = (uint64_t)ceil(STEADY_PER_FLIGHT * flight);
        s.points = 0;
        TRY(bracket(&s, s.low.rate, COARSE_RATIO, error));
        TRY(bisect(&s, FINE_RATIO, error));
    }
    return put_rate(out, &s, error);
}
