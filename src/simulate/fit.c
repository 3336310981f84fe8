// SPDX-License-Identifier: MIT
#include "simulate/fit.h"

#include <math.h>

#include "base/base.h"
#include "base/quantity.h"

/* The bounds and the steps of the search: the scale as a logarithm, the overhead in seconds. The
 * texts of roof_fit_bound have the bounds, too. */
#define SCALE_LEAST 0.2
#define SCALE_MOST 8
#define OVERHEAD_MOST 0.5
#define OVERHEAD_STEP 1e-5
#define ROUNDS 2
/* A result this close to a bound is at it. */
#define NEAR 1e-3
#define CUTS 24
#define GOLDEN 0.6180339887498949

static void compare(struct roof_fit_errors *out, const struct roof_simulation *s,
                    const struct roof_request_trace *trace, uint64_t first, uint64_t end)
{
    *out = (struct roof_fit_errors){.requests = 0};
    for (int l = 0; l < ROOF_LATENCY_COUNT; l++) {
        double measured = 0;
        double simulated = 0;
        double count = 0;
        for (uint64_t i = first; i < end; i++) {
            const double time = roof_served_latency(&s->served[i], (enum roof_latency)l);
            if (s->served[i].generate > 0 && !isnan(trace->measured[i][l]) && !isnan(time)) {
                measured += trace->measured[i][l];
                simulated += time;
                count++;
            }
        }
        out->measured_s[l] = count > 0 ? measured / count : ROOF_UNKNOWN;
        out->simulated_s[l] = count > 0 ? simulated / count : ROOF_UNKNOWN;
        out->error[l] = measured > 0 ? simulated / measured - 1 : ROOF_UNKNOWN;
        out->requests = (uint64_t)fmax((double)out->requests, count);
    }
}

void roof_fit_compare(struct roof_fit_errors *out, const struct roof_simulation *simulation,
                      const struct roof_request_trace *trace, uint64_t first)
{
    compare(out, simulation, trace, first, simulation->served_count);
}

/* A search for one of the two numbers. */
struct search {
    struct roof_simulation_inputs *inputs;
    const struct roof_request_trace *trace;
    roof_fit_rescale *rescale;
    void *context;
    uint64_t part; /* number of requests to compare */
    bool overhead; /* true: the overhead is searched; false: the scale */
};

/* Computes the sum of squared log ratios of simulated over measured means. The scale is fitted to
 * the times with many steps, the overhead to the time to first token. */
static enum roof_status misfit(double *out, const struct search *s, double at,
                               struct roof_error *error)
{
    struct roof_simulation result;
    struct roof_fit_errors errors;
    *out = 0;
    if (s->overhead) {
        s->inputs->limits.overhead_s = at;
    } else {
        TRY(s->rescale(s->context, s->inputs, exp(at), error));
    }
    const enum roof_status status = roof_simulate(&result, s->inputs, error);
    if (status == ROOF_OK) {
        compare(&errors, &result, s->trace, 0, s->part);
        for (int l = 0; l < ROOF_LATENCY_COUNT; l++) {
            const double off = log(1 + errors.error[l]);
            const bool looked_at = s->overhead == (l == ROOF_LATENCY_TTFT);
            *out += isnan(off) || !looked_at ? 0 : off * off;
        }
    }
    roof_simulation_free(&result);
    return status;
}

/* Minimizes the misfit by golden-section search. */
static enum roof_status search(const struct search *s, double low, double high,
                               struct roof_error *error)
{
    double a = high - GOLDEN * (high - low);
    double b = low + GOLDEN * (high - low);
    double at_a = 0;
    double at_b = 0;
    TRY(misfit(&at_a, s, a, error));
    TRY(misfit(&at_b, s, b, error));
    for (int i = 0; i < CUTS; i++) {
        const bool left =
            at_a <= at_b; /* ties go to the lower half, so that an unneeded overhead becomes 0 */
        high = left ? b : high;
        low = left ? low : a;
        if (left) {
            b = a;
            at_b = at_a;
            a = high - GOLDEN * (high - low);
            TRY(misfit(&at_a, s, a, error));
        } else {
            a = b;
            at_a = at_b;
            b = low + GOLDEN * (high - low);
            TRY(misfit(&at_b, s, b, error));
        }
    }
    double least = 0;
    double found = (low + high) / 2;
    if (s->overhead) { /* golden sections never reach the bound 0 */
        found = floor(found / OVERHEAD_STEP) * OVERHEAD_STEP;
    }
    return misfit(&least, s, found, error);
}

const char *roof_fit_bound(double scale, double overhead_s)
{
    return scale < SCALE_LEAST * (1 + NEAR) || scale > SCALE_MOST * (1 - NEAR)
               ? "--step-scale is at a bound of the search (0.2 to 8)"
           : overhead_s > OVERHEAD_MOST * (1 - NEAR)
               ? "--request-overhead is at a bound of the search (0 to 500 ms)"
               : NULL;
}

uint64_t roof_fit_part(uint64_t requests)
{
    return requests / 5 + (requests % 5 > 0);
}

enum roof_status roof_fit_find(struct roof_simulation_inputs *inputs,
                               const struct roof_request_trace *trace, roof_fit_rescale *rescale,
                               void *context, struct roof_error *error)
{
    struct search s = {.inputs = inputs, .trace = trace, .rescale = rescale, .context = context};
    s.part = roof_fit_part(inputs->requests);
    for (int round = 0; round < ROUNDS; round++) {
        s.overhead = false;
        TRY(search(&s, log(SCALE_LEAST), log(SCALE_MOST), error));
        s.overhead = true;
        TRY(search(&s, 0, OVERHEAD_MOST, error));
    }
    return ROOF_OK;
}
