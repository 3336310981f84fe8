// SPDX-License-Identifier: MIT
/* Draws charts of requests that arrive over time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/curves.h"
#include "base/base.h"
#include "report/simulation_report.h"

static double milliseconds(double seconds)
{
    return roof_to_unit(seconds, ROOF_UNIT_MILLISECONDS);
}

static void set_axes(struct roof_curves *curves, const char *x, const char *y,
                     enum roof_curve_scale scale)
{
    roof_chart_name(curves->x.name, x);
    roof_chart_name(curves->y.name, y);
    curves->x.scale = ROOF_SCALE_LINEAR;
    curves->y.scale = scale;
}

static enum roof_status add_point(struct roof_curves *curves, const char *name, double x, double y,
                                  struct roof_error *error)
{
    size_t curve = 0;
    TRY(roof_curves_find(&curve, curves, name, false, error));
    return roof_curves_add(curves, curve, x, y, "", error);
}

static const char *const latency_names[ROOF_LATENCY_COUNT] = {"first token", "each further token",
                                                              "whole request"};

static const char *const limit_names[ROOF_LATENCY_COUNT] = {
    "limit of the first token", "limit of each further token", "limit of the whole request"};

/* Names a percentile of a latency, or its mean (percent 0). */
static void name_statistic(char out[ROOF_CHART_NAME_SIZE], const char *latency, double percent)
{
    if (percent > 0) {
        (void)snprintf(out, ROOF_CHART_NAME_SIZE, "%s, p%g", latency, percent);
    } else {
        (void)snprintf(out, ROOF_CHART_NAME_SIZE, "%s, mean", latency);
    }
}

/* Draws the limits on the latencies in a chart. */
static void add_limits(struct roof_curves *curves, const struct simulate_input *in, int count)
{
    for (int i = 0; i < count; i++) {
        const struct roof_latency_limit *const limit = &in->inputs.limit[i];
        char name[ROOF_CHART_NAME_SIZE];
        name_statistic(name, limit_names[i], limit->percent);
        roof_curves_add_limit(curves, name, milliseconds(limit->time_s));
    }
}

/* --- over rates ---------------------------------------------------------------------------- */

/* The rates of the chart, as fractions of the greatest. */
static const double parts[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0};

static enum roof_status add_rate(struct roof_curves *curves, double rate,
                                 const struct roof_simulation *result,
                                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT],
                                 struct roof_error *error)
{
    static const char *const names[][2] = {{"first token, p50", "first token, p99"},
                                           {"each further token, p50", "each further token, p99"}};
    for (int i = 0; i < 2; i++) {
        const struct roof_latency_result *const r = &result->latency[i];
        TRY(add_point(curves, names[i][0], rate, milliseconds(r->p50_s), error));
        TRY(add_point(curves, names[i][1], rate, milliseconds(r->p99_s), error));
    }
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const double percent = limit[i].percent;
        const bool is_drawn = i < 2 && (percent == 50 || percent == 99);
        if (!isnan(limit[i].time_s) && !is_drawn) {
            char name[ROOF_CHART_NAME_SIZE];
            name_statistic(name, latency_names[i], percent);
            TRY(add_point(curves, name, rate, milliseconds(result->latency[i].limited_s), error));
        }
    }
    return ROOF_OK;
}

/* Simulates the same requests at each rate. */
static enum roof_status add_simulations(struct roof_curves *curves, const struct simulate_input *in,
                                        double greatest, struct roof_error *error)
{
    struct roof_simulation_inputs inputs = in->inputs;
    struct roof_arrivals arrivals = in->arrivals;
    inputs.arrivals = &arrivals;
    inputs.keep = false;
    for (size_t i = 0; i < COUNT(parts); i++) {
        struct roof_simulation result;
        arrivals.rate = fmax(parts[i] * greatest, ROOF_RATE_MIN);
        enum roof_status status = roof_simulate(&result, &inputs, error);
        if (status == ROOF_OK) {
            status = add_rate(curves, arrivals.rate, &result, inputs.limit, error);
        }
        roof_simulation_free(&result);
        TRY(status);
    }
    return ROOF_OK;
}

static enum roof_status make_rates(struct roof_curves *curves, const struct simulate_input *in,
                                   struct roof_error *error)
{
    set_axes(curves, "requests per second", "time (ms)", ROOF_SCALE_TEN);
    add_limits(curves, in, ROOF_LATENCY_COUNT);
    return add_simulations(curves, in, in->capacity ? in->row.max_rate : in->arrivals.rate, error);
}

/* --- over time ----------------------------------------------------------------------------- */

static enum roof_status make_times(struct roof_curves *curves, const struct simulate_input *in,
                                   struct roof_error *error)
{
    const struct roof_timeline *const t = &in->timeline;
    curves->dense = true;
    set_axes(curves, "time (s)", "requests; % of the KV cache", ROOF_SCALE_LINEAR);
    curves->x.end = t->width_s * (double)roof_timeline_count(t);
    if (in->row.result.saturated) {
        roof_chart_name(curves->event.name, "the last request arrives");
        curves->event.x = in->row.result.last_arrival_s;
    }
    for (size_t i = 0; i < roof_timeline_count(t); i++) {
        const struct roof_moment_row row = roof_moment_row(t, i, &in->inputs);
        const double middle = row.moment.time_s + t->width_s / 2;
        TRY(add_point(curves, "running requests", middle, row.moment.running, error));
        TRY(add_point(curves, "waiting requests", middle, row.moment.waiting, error));
        if (!isnan(row.kv_use)) {
            TRY(add_point(curves, "KV cache in use (%)", middle, 100 * row.kv_use, error));
        }
    }
    return ROOF_OK;
}

/* --- distributions ------------------------------------------------------------------------- */

static const double percents[] = {1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.9};

/* Adds the percentiles of a latency over the measured requests. */
static enum roof_status add_percentiles(struct roof_curves *curves, const struct simulate_input *in,
                                        enum roof_latency latency, struct roof_error *error)
{
    const struct roof_simulation *const s = &in->row.result;
    const uint64_t warm = (uint64_t)floor(in->inputs.warm_up * (double)in->inputs.requests);
    struct roof_distribution values;
    enum roof_status status = ROOF_OK;
    roof_distribution_open(&values, ROOF_DISTRIBUTION_EXACT);
    for (uint64_t i = warm; i < s->served_count && status == ROOF_OK; i++) {
        const double time = roof_served_latency(&s->served[i], latency);
        if (s->served[i].generate > 0 && !isnan(time)) { /* it was not rejected */
            status = roof_distribution_add(&values, time, error);
        }
    }
    for (size_t i = 0; i < COUNT(percents) && status == ROOF_OK && values.count > 0; i++) {
        const double time = roof_distribution_percentile(&values, percents[i]);
        status = add_point(curves, latency_names[latency], percents[i], milliseconds(time), error);
    }
    roof_distribution_free(&values);
    return status;
}

static enum roof_status make_distributions(struct roof_curves *curves,
                                           const struct simulate_input *in,
                                           struct roof_error *error)
{
    set_axes(curves, "% of the requests within this time", "time (ms)", ROOF_SCALE_TEN);
    curves->x.end = 100;
    add_limits(curves, in, ROOF_LATENCY_COUNT);
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        TRY(add_percentiles(curves, in, (enum roof_latency)i, error));
    }
    return ROOF_OK;
}

/* --- all ----------------------------------------------------------------------------------- */

/* The end of a title, which is left out if there is no room for it. */
#define LENGTHS " (prompt %s, generate %s)"

/* Writes the load of a chart that is for one of them: " at 0.5 requests/s". */
static void put_load(char out[ROOF_CHART_NAME_SIZE], const struct simulate_input *in)
{
    char rate[ROOF_QUANTITY_SIZE];
    out[0] = '\0';
    if (in->row.concurrency > 0) {
        (void)snprintf(out, ROOF_CHART_NAME_SIZE, " with %" PRId64 " in flight",
                       in->row.concurrency);
    } else if (in->chart != ROOF_CHART_RATE && in->row.result.rate > 0) {
        (void)snprintf(out, ROOF_CHART_NAME_SIZE, " at %s requests/s",
                       roof_format_short(rate, in->row.result.rate));
    }
}

enum roof_status roof_ask_load_curves(struct roof_text *out, struct roof_asking *a,
                                      const struct simulate_input *in, struct roof_error *error)
{
    static const struct {
        const char *title;
        enum roof_status (*make)(struct roof_curves *, const struct simulate_input *,
                                 struct roof_error *);
    } kinds[] = {{"latency over load", make_rates},
                 {"queue over time", make_times},
                 {"latencies", make_distributions}};
    char title[ROOF_CHART_NAME_SIZE];
    char load[ROOF_CHART_NAME_SIZE];
    struct roof_text about = ROOF_TEXT_INIT;
    struct roof_curves *const curves = calloc(1, sizeof *curves);
    const size_t kind = (size_t)(in->chart - ROOF_CHART_RATE);
    if (curves == NULL) {
        return roof_no_memory(error);
    }
    const char *const prompt = a->question->value[ROOF_INPUT_PROMPT];
    const char *const generate = a->question->value[ROOF_INPUT_GENERATE];
    put_load(load, in);
    const int length = snprintf(title, sizeof title, "%.32s on %.32s: %s%.32s", in->model->id,
                                in->hardware->id, kinds[kind].title, load);
    if (prompt != NULL && generate != NULL &&
        (size_t)length + strlen(prompt) + strlen(generate) + strlen(LENGTHS) < sizeof title) {
        (void)snprintf(title + length, sizeof title - (size_t)length, LENGTHS, prompt, generate);
    }
    roof_title_curves(curves, a, title);
    roof_simulation_report_about(&about, &in->row);
    curves->about = about.data;
    enum roof_status status =
        about.failed ? roof_no_memory(error) : kinds[kind].make(curves, in, error);
    if (status == ROOF_OK) {
        status = roof_write_curves(out, a, curves, &in->size, error);
    }
    roof_curves_free(curves);
    roof_text_free(&about);
    free(curves);
    return status;
}
