// SPDX-License-Identifier: MIT
/* A static batch: the prefill of all prompts, and the decode steps of the tokens after it, summed
 * over a cache that grows. */
#include <math.h>

#include "base/base.h"
#include "predict/pass.h"
#include "predict/predict_sizes.h"

/* --- sums over contexts -------------------------------------------------------------------- */

/* The times of a decode step at a context, or those per token that it yields. */
struct step_times {
    double bound_s;
    double expected_s;
};

/* These times as a function of the context; the first error stays in status. */
struct curve {
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    struct roof_scenario scenario; /* decode, resolved */
    struct roof_error *error;
    enum roof_status status;
};

static struct step_times step_at(struct curve *curve, int64_t context)
{
    struct roof_pass pass = {0};
    struct roof_pass draft = {0};
    curve->scenario.context = context;
    if (curve->status == ROOF_OK) {
        curve->status = roof_pass_run(&pass, curve->model, &curve->scenario, curve->hardware, NULL,
                                      curve->error);
    }
    if (curve->status == ROOF_OK) {
        curve->status = roof_pass_draft(&draft, &curve->scenario, curve->hardware, curve->error);
    }
    return (struct step_times){
        .bound_s = roof_pass_step_s(&pass.bound, &curve->scenario) + draft.bound.path_s,
        .expected_s =
            roof_pass_step_s(&pass.expected.times, &curve->scenario) + draft.expected.times.path_s};
}

/* Returns the times per token. */
static struct step_times curve_at(struct curve *curve, int64_t context)
{
    const double tokens = roof_tokens_per_step(&curve->scenario);
    const struct step_times step = step_at(curve, context);
    return (struct step_times){.bound_s = step.bound_s / tokens,
                               .expected_s = step.expected_s / tokens};
}

static bool on_line(double value, double line)
{
    return fabs(value - line) <= 1e-12 * value;
}

/*
 * Sums the time at each context of first..last. The time is a sum of maxima of linear functions, so
 * piecewise linear: where the ends, the middle and the quarters lie on a line, the sum is that of
 * an arithmetic series; else each half is summed by itself.
 */
static double sum_curve(struct curve *curve, int64_t first, int64_t last, double at_first,
                        double at_last)
{
    const int64_t steps = last - first;
    if (steps < 4) {
        double sum = at_first;
        for (int64_t context = first + 1; context < last; context++) {
            sum += curve_at(curve, context).bound_s;
        }
        return steps > 0 ? sum + at_last : sum;
    }
    const double slope = (at_last - at_first) / (double)steps;
    const int64_t middle = first + steps / 2;
    const double at_middle = curve_at(curve, middle).bound_s;
    bool straight = on_line(at_middle, at_first + slope * (double)(middle - first));
    for (int quarter = 1; quarter <= 3 && straight; quarter += 2) {
        const int64_t context = first + steps * quarter / 4;
        straight =
            on_line(curve_at(curve, context).bound_s, at_first + slope * (double)(context - first));
    }
    if (straight || curve->status != ROOF_OK) {
        return (double)(steps + 1) * (at_first + at_last) / 2;
    }
    return sum_curve(curve, first, middle, at_first, at_middle) +
           sum_curve(curve, middle + 1, last, curve_at(curve, middle + 1).bound_s, at_last);
}

/* Sums the expected times, which are no lines, by the rule of Simpson over eight parts: its error
 * is far smaller than that of the times. */
static double expected_sum(struct curve *curve, int64_t first, int64_t last)
{
    const int64_t parts = 8;
    double sum = 0;
    for (int64_t i = 0; i <= parts; i++) {
        const double weight = i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * curve_at(curve, first + (last - first) * i / parts).expected_s;
    }
    return (double)(last - first + 1) * sum / (double)(3 * parts);
}

/* --- the request --------------------------------------------------------------------------- */

/* Makes the two phases of a request, resolved. */
static enum roof_status split_request(struct roof_scenario *prefill, struct roof_scenario *decode,
                                      const struct roof_scenario *asked,
                                      const struct roof_model *model, struct roof_error *error)
{
    roof_scenario_phases(prefill, decode, asked);
    TRY(roof_scenario_resolve(prefill, model, error));
    return roof_scenario_resolve(decode, model, error);
}

enum roof_status roof_static_memory(struct roof_memory *out, const struct roof_model *model,
                                    const struct roof_scenario *asked,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_scenario prefill;
    struct roof_scenario decode;
    struct roof_pass first;
    struct roof_pass last;
    struct roof_pass draft;
    TRY(split_request(&prefill, &decode, asked, model, error));
    TRY(roof_pass_memory(&first, model, &prefill, hardware, error));
    TRY(roof_pass_memory(&last, model, &decode, hardware, error));
    TRY(roof_pass_draft(&draft, &decode, hardware, error));
    roof_pass_widen(&last, &first);
    *out = roof_memory_of(&last, &draft, model, asked, hardware);
    return ROOF_OK;
}

/* The passes of a request and the sums over its decode steps, which the first token needs none of.
 */
struct request {
    struct roof_pass prefill;
    struct roof_pass last; /* the decode step at the end */
    struct roof_pass draft;
    struct step_times step; /* the decode step at the mean context */
    double steps;
    double decode_s; /* all steps */
    double expected_decode_s;
};

/* Each token but the first comes from a decode step whose cache holds the prompt and all tokens
 * before it. */
static enum roof_status sum_steps(struct request *r, struct curve *curve,
                                  const struct roof_scenario *asked)
{
    r->steps = (double)(asked->generate - 1);
    r->decode_s = 0;
    r->expected_decode_s = 0;
    r->step = step_at(curve, asked->prompt + asked->generate / 2); /* as in a closed loop */
    if (asked->generate > 1) {
        const int64_t first = asked->prompt + 1;
        const int64_t last = asked->prompt + asked->generate - 1;
        r->decode_s = sum_curve(curve, first, last, curve_at(curve, first).bound_s,
                                curve_at(curve, last).bound_s);
        r->expected_decode_s =
            isnan(r->last.expected.times.path_s) ? ROOF_UNKNOWN : expected_sum(curve, first, last);
    }
    return curve->status;
}

/* Fills in what bounds a request: the prefill, and all its steps taken as the last one is. */
static void put_bottlenecks(struct roof_model_prediction *out, const struct request *r)
{
    struct roof_prediction *const total = &out->total;
    double share[ROOF_BOTTLENECK_COUNT];
    double expected_share[ROOF_BOTTLENECK_COUNT];
    for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
        share[b] = r->prefill.share_s[b];
        expected_share[b] = r->prefill.expected.share_s[b];
        if (r->steps > 0) {
            share[b] += r->steps * r->last.share_s[b];
            expected_share[b] += r->steps * r->last.expected.share_s[b];
        }
    }
    total->bottleneck = roof_largest_share(share);
    total->expected_bottleneck = roof_largest_share(expected_share);
    out->ttft_by =
        (struct roof_bounded_by){.bound = roof_largest_share(r->prefill.share_s),
                                 .expected = roof_largest_share(r->prefill.expected.share_s)};
    out->tpot_by =
        (struct roof_bounded_by){.bound = roof_largest_share(r->last.share_s),
                                 .expected = roof_largest_share(r->last.expected.share_s)};
    total->native = r->prefill.native && r->last.native;
    out->fallbacks = r->prefill.fallbacks | r->last.fallbacks;
    out->as_stored = r->prefill.as_stored && r->last.as_stored;
}

static void put_bounds(struct roof_model_prediction *out, const struct request *r,
                       const struct roof_scenario *prefill)
{
    out->ttft_s = roof_pass_step_s(&r->prefill.bound, prefill);
    out->e2e_s = out->ttft_s + r->decode_s;
    out->total.time_s = out->e2e_s;
    out->step_s = r->step.bound_s;
    if (r->steps > 0) {
        out->tpot_s = r->decode_s / r->steps;
    }
}

/* Fills in the expected times with their band; all steps have the band of the last one. */
static void put_expected(struct roof_model_prediction *out, const struct request *r,
                         const struct roof_scenario *prefill, const struct roof_scenario *decode)
{
    static const struct roof_pass none = {0};
    struct roof_prediction *const total = &out->total;
    const double host_s = prefill->host_time[prefill->common.stack].request_s;
    struct roof_expected_step whole = roof_expected_step(
        &r->prefill, &none, roof_pass_step_s(&r->prefill.expected.times, prefill));
    out->expected_ttft_s = host_s + whole.time_s;
    out->expected_e2e_s = out->expected_ttft_s + r->expected_decode_s;
    out->expected_step_s = r->step.expected_s;
    whole.low_s += host_s;
    whole.high_s += host_s;
    if (r->steps > 0) {
        const struct roof_expected_step last = roof_expected_step(
            &r->last, &r->draft, roof_pass_step_s(&r->last.expected.times, decode));
        const double steps = r->expected_decode_s / last.time_s;
        out->expected_tpot_s = r->expected_decode_s / r->steps;
        whole.low_s += steps * last.low_s;
        whole.high_s += steps * last.high_s;
        whole.near_s += steps * last.near_s;
    }
    whole.time_s = out->expected_e2e_s;
    total->expected_s = whole.time_s;
    total->expected_low_s = whole.low_s;
    total->expected_high_s = whole.high_s;
    roof_expected_put(out, &whole);
}

enum roof_status roof_predict_static(struct roof_model_prediction *out, struct roof_error *error)
{
    const struct roof_scenario asked = out->scenario;
    const struct roof_hardware *const hardware = out->total.hardware;
    struct roof_scenario prefill;
    struct curve curve = {.model = out->model, .hardware = hardware, .error = error};
    struct request r;
    struct roof_memory memory;
    TRY(split_request(&prefill, &curve.scenario, &asked, out->model, error));
    TRY(roof_pass_run(&r.prefill, out->model, &prefill, hardware, NULL, error));
    TRY(roof_pass_run(&r.last, out->model, &curve.scenario, hardware, NULL, error));
    TRY(roof_pass_draft(&r.draft, &curve.scenario, hardware, error));
    TRY(roof_static_memory(&memory, out->model, &asked, hardware, error));
    roof_memory_put(out, &memory);
    TRY(sum_steps(&r, &curve, &asked));
    out->scenario.context = asked.prompt + asked.generate;
    out->tokens_per_step = roof_tokens_per_step(&asked);
    put_bottlenecks(out, &r);
    put_bounds(out, &r, &prefill);
    put_expected(out, &r, &prefill, &curve.scenario);
    roof_request_put_rates(out);
    roof_request_clear_totals(out);
    return ROOF_OK;
}
