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
/* The slope of a latency over the rate is taken between points whose rates differ by at least this
 * ratio. */
#define SLOPE_RATIO 1.02
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
    if (s->saturated) {
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

/* Returns the nearest point from which the slope of the latency can be taken; NULL: there is none.
 */
static const struct point *neighbour(const struct search *s)
{
    const struct point *found = NULL;
    for (int i = 0; i < s->points; i++) {
        const struct point *const p = &s->point[i];
        const double apart = fabs(log(p->rate / s->low.rate));
        if (isfinite(p->excess) && p->limit == s->low.limit && apart >= log(SLOPE_RATIO) &&
            (found == NULL || apart < fabs(log(found->rate / s->low.rate)))) {
            found = p;
        }
    }
    return found;
}

/* Computes the interval of the rate: that of the latency, divided by its logarithmic slope. */
static void put_interval(struct roof_capacity *out, const struct search *s)
{
    const struct point *const a = &s->low;
    const struct point *const b = neighbour(s);
    /* Latencies of a saturated engine have no confidence interval. */
    if (b == NULL || !(a->uncertainty < 1) || out->limit == ROOF_LATENCY_COUNT) {
        return;
    }
    const double slope = log(b->excess / a->excess) / log(b->rate / a->rate);
    if (slope > 0) {
        out->low = a->rate * exp(log(1 - a->uncertainty) / slope);
        out->high = a->rate * exp(log(1 + a->uncertainty) / slope);
    }
}

enum roof_status roof_capacity_find(struct roof_capacity *out,
                                    const struct roof_simulation_inputs *inputs,
                                    struct roof_error *error)
{
    struct search s = {.inputs = inputs, .out = out};
    *out = (struct roof_capacity){.low = ROOF_UNKNOWN, .high = ROOF_UNKNOWN};
    s.requests = inputs->requests < COARSE_REQUESTS ? inputs->requests : COARSE_REQUESTS;
    TRY(bracket(&s, 1, 4, error));
    TRY(bisect(&s, COARSE_RATIO, error));
    const double guess = s.low.rate > 0 ? s.low.rate : ROOF_RATE_MIN;
    s.requests = inputs->requests;
    s.points = 0;
    TRY(bracket(&s, guess, COARSE_RATIO, error));
    TRY(bisect(&s, FINE_RATIO, error));
    out->limit = s.high.limit;
    out->open = s.high.rate == 0;
    out->rate = out->open ? ROOF_UNKNOWN : s.low.rate;
    if (out->rate > 0) {
        put_interval(out, &s);
    }
    return ROOF_OK;
}
