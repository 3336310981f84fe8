// SPDX-License-Identifier: MIT
/* Answers `simulate`: requests that arrive over time. */
#include <math.h>
#include <string.h>

#include "ask/curves.h"
#include "ask/draw.h"
#include "ask/simulate_read.h"
#include "base/base.h"
#include "report/simulation_report.h"
#include "simulate/capacity.h"

/* --- documents ----------------------------------------------------------------------------- */

/* Writes a row per accepted request. */
static enum roof_status write_served(struct roof_table *table, struct roof_text *text,
                                     const struct roof_simulation *result, struct roof_asking *a,
                                     struct roof_error *error)
{
    for (uint64_t i = 0; i < result->served_count; i++) {
        if (result->served[i].generate > 0) { /* it was not rejected */
            roof_table_served(table, text, &result->served[i]);
            TRY(roof_asking_put(a, text, error));
        }
    }
    return ROOF_OK;
}

/* Writes a row per interval of time. */
static enum roof_status write_moments(struct roof_table *table, struct roof_text *text,
                                      const struct simulate_input *in, struct roof_asking *a,
                                      struct roof_error *error)
{
    for (size_t i = 0; i < roof_timeline_count(&in->timeline); i++) {
        const struct roof_moment_row row = roof_moment_row(&in->timeline, i, &in->inputs);
        roof_table_moment(table, text, &row);
        TRY(roof_asking_put(a, text, error));
    }
    return ROOF_OK;
}

/* Opens the table, which checks the columns; a chart has none. */
static enum roof_status check_output(struct roof_table *table, const struct simulate_input *in,
                                     const struct roof_asking *a, struct roof_error *error)
{
    return in->chart > 0 ? ROOF_OK
                         : roof_table_open(table, a->form.rows,
                                           in->requests  ? ROOF_TABLE_SERVED
                                           : in->moments ? ROOF_TABLE_MOMENTS
                                                         : ROOF_TABLE_SIMULATIONS,
                                           ROOF_OPERATOR_GEMM, a->form.columns, error);
}

/* Writes a report, or the row with the chosen columns. */
static void write_markdown(struct roof_text *text, struct roof_table *table,
                           const struct simulate_input *in, const struct roof_question *question)
{
    struct roof_kept_columns kept;
    roof_read_kept_columns(&kept, question);
    if (!kept.all) {
        roof_simulation_report_markdown(text, &in->row, in->inputs.limit);
        return;
    }
    roof_table_begin(table, text);
    roof_table_simulation(table, text, &in->row);
    roof_table_end(table, text);
}

static enum roof_status write_result(struct roof_text *text, struct roof_table *table,
                                     const struct simulate_input *in, struct roof_asking *a,
                                     struct roof_error *error)
{
    if (in->chart > 0) {
        return roof_ask_load_curves(text, a, in, error);
    }
    if (a->form.report) {
        roof_simulation_report_text(text, &in->row, in->inputs.limit);
        return ROOF_OK;
    }
    if (a->form.format == ROOF_JSON) {
        roof_simulation_report_json(text, &in->row, in->inputs.limit);
        return ROOF_OK;
    }
    if (a->form.format == ROOF_MARKDOWN && !in->requests && !in->moments) {
        write_markdown(text, table, in, a->question);
        return ROOF_OK;
    }
    roof_table_begin(table, text);
    if (in->requests) {
        TRY(write_served(table, text, &in->row.result, a, error));
    } else if (in->moments) {
        TRY(write_moments(table, text, in, a, error));
    } else {
        roof_table_simulation(table, text, &in->row);
    }
    roof_table_end(table, text);
    return ROOF_OK;
}

/* --- the answer ---------------------------------------------------------------------------- */

/* Refuses a chart, or rows over time, without a greatest rate. */
static enum roof_status check_greatest(const struct simulate_input *in,
                                       const struct roof_capacity *found, struct roof_error *error)
{
    if (!in->moments && in->chart == 0) {
        return ROOF_OK;
    }
    if (found->open) {
        return roof_error_set(error, ROOF_UNSATISFIED,
                              "there are too few requests to find the greatest rate: simulate more "
                              "(" ROOF_KEY("requests") "), or give " ROOF_KEY("rate") " a number");
    }
    return found->rate > 0 || in->chart == ROOF_CHART_RATE
               ? ROOF_OK
               : roof_error_set(
                     error, ROOF_UNSATISFIED,
                     "a single request misses a limit even without load: there is nothing to draw");
}

/* Simulates only the greatest rate, for results that the search does not keep. */
static enum roof_status simulate_greatest(struct roof_simulation *result, struct simulate_input *in,
                                          double rate, struct roof_error *error)
{
    roof_simulation_free(result);
    in->timeline = (struct roof_timeline){0};
    roof_simulation_set_rate(&in->inputs, &in->arrivals, rate);
    in->inputs.keep = in->chart == ROOF_CHART_DISTRIBUTION;
    return roof_simulate(result, &in->inputs, error);
}

static enum roof_status rescale(void *context, struct roof_simulation_inputs *inputs, double scale,
                                struct roof_error *error)
{
    struct roof_deployments *const deployments = context;
    TRY(roof_deployment_rescale(&deployments->copy, scale, error));
    roof_deployments_use(inputs, deployments);
    return ROOF_OK;
}

/* Fits the step scale and the request overhead to the trace. The search begins at the overhead of
 * the engine. As with --request-overhead, no part of it is handled one request at a time. */
static enum roof_status fit(struct simulate_input *in, struct roof_deployments *deployments,
                            struct roof_error *error)
{
    in->row.fitted = true;
    in->row.fit_used = roof_fit_part(in->inputs.requests);
    in->inputs.limits.engine_overhead = false;
    in->inputs.limits.front_s = 0;
    return roof_fit_find(&in->inputs, &in->trace, rescale, deployments, error);
}

/* Tells whether the answer has the text report, or JSON: tables have no changes that raise the
 * rate.
 */
static bool has_report(const struct roof_asking *a)
{
    return a->form.document || (a->form.format == ROOF_MARKDOWN && a->form.columns == NULL);
}

/* Simulates the rate of the question, or the greatest one within the limits. */
static enum roof_status run(struct roof_simulation *result, struct simulate_input *in,
                            struct roof_deployments *deployments, const struct roof_asking *a,
                            struct roof_error *error)
{
    struct roof_capacity found;
    in->row.max_rate = in->row.max_rate_low = in->row.max_rate_high = ROOF_UNKNOWN;
    in->row.max_rate_factor = ROOF_UNKNOWN;
    if (in->fits) {
        TRY(fit(in, deployments, error));
    }
    in->row.step_scale = deployments->copy.scenario.common.step_scale;
    in->row.request_overhead_s = in->inputs.limits.overhead_s;
    in->row.own_overhead = !in->inputs.limits.engine_overhead;
    if (!in->capacity) {
        in->timeline = (struct roof_timeline){0}; /* excludes the simulations of a fit */
        return roof_simulate(result, &in->inputs, error);
    }
    TRY(roof_capacity_find(&found, &in->inputs, error));
    *result = found.at;
    TRY(check_greatest(in, &found, error));
    in->row.open = found.open;
    in->row.max_rate = found.rate;
    in->row.max_rate_low = found.low;
    in->row.max_rate_high = found.high;
    in->row.no_interval = found.why;
    in->row.wanted = found.wanted;
    if (in->row.trace != NULL) {
        in->row.max_rate_factor = found.rate / in->inputs.trace_rate;
    }
    in->row.max_rate_limit = found.open ? NULL
                             : found.limit == ROOF_LATENCY_COUNT
                                 ? "saturation"
                                 : roof_latency_key((enum roof_latency)found.limit);
    if (in->moments || in->chart > ROOF_CHART_RATE) {
        return simulate_greatest(result, in, found.rate, error);
    }
    if (has_report(a) && in->chart == 0 && found.rate > 0) {
        TRY(roof_raises_find(in->row.raise, &in->row.raises, deployments, &in->inputs, &found,
                             error));
    }
    return ROOF_OK;
}

static enum roof_status simulate(struct roof_text *text, struct simulate_input *in,
                                 struct roof_deployments *deployments, struct roof_asking *a,
                                 struct roof_error *error)
{
    struct roof_simulation *const result = &in->row.result;
    const struct roof_deployment *const deployment = &deployments->copy;
    struct roof_table table;
    TRY(check_output(&table, in, a, error));
    in->inputs.limits.timeline = in->moments || in->chart == ROOF_CHART_TIME ? &in->timeline : NULL;
    roof_deployments_use(&in->inputs, deployments);
    in->row.deployment = deployment;
    TRY(roof_read_product(&in->row.product, &a->loans, in->hardware, error));
    in->row.prefill = in->apart ? &deployments->prefill : NULL;
    TRY(run(result, in, deployments, a, error));
    if (result->rejected == in->inputs.requests) {
        return roof_error_set(
            error, ROOF_UNSATISFIED, "no request fits the KV cache of %s, which holds %.0f tokens",
            deployment->hardware->id, (double)deployment->blocks * ROOF_BLOCK_TOKENS);
    }
    in->row.measured = in->trace.measured != NULL && in->inputs.trace_rate == 0;
    if (in->row.measured) {
        roof_fit_compare(&in->row.fit, result, &in->trace, in->row.fit_used);
    }
    if (in->row.concurrency == 0 && in->row.trace == NULL) {
        result->rate = in->capacity ? in->row.max_rate : in->arrivals.rate;
    }
    if (roof_simulation_without_load(&in->row)) {
        roof_simulation_forget_load(result);
    } else {
        const char *const limit = in->row.max_rate_limit;
        /* Waiting for a copy that decodes does not delay the first token if that came with the
         * cache. */
        const enum roof_latency none = in->apart && in->inputs.limits.passes_first_token
                                           ? ROOF_LATENCY_TTFT
                                           : ROOF_LATENCY_TPOT;
        in->row.bottleneck = roof_simulation_bottleneck(
            result, in->capacity || in->row.concurrency > 0,
            limit != NULL && strcmp(limit, roof_latency_key(none)) != 0,
            limit != NULL && strcmp(limit, roof_latency_key(ROOF_LATENCY_TTFT)) == 0);
        in->row.enough_seqs = roof_deployment_enough(deployment, in->row.concurrency);
    }
    if (result->saturated && !in->capacity && !in->fits) {
        roof_asking_greatest(&in->greatest, &in->row.greatest_limited, a);
        in->row.greatest = in->greatest.data;
        TRY(in->greatest.failed ? roof_no_memory(error) : ROOF_OK);
    }
    TRY(write_result(text, &table, in, a, error));
    return roof_asking_write(a, text, error);
}

enum roof_status roof_ask_simulate(struct roof_asking *a, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_deployments deployments = {.copy = {.parts = NULL}};
    struct simulate_input in = {.row = {.seed = 0}};
    enum roof_status status = roof_read_simulate(&in, a, error);
    if (status == ROOF_OK) {
        status = roof_deployments_open(&deployments, in.model, &in.scenario,
                                       in.apart ? &in.prefill : NULL, in.hardware, in.bound, error);
    }
    if (status == ROOF_OK) {
        status = simulate(&text, &in, &deployments, a, error);
    }
    const bool missed = status == ROOF_OK && !roof_simulation_meets(&in.row.result);
    roof_simulate_close(&in);
    roof_deployments_close(&deployments);
    roof_text_free(&text);
    if (missed) {
        *error = (struct roof_error){.status = ROOF_UNSATISFIED}; /* the document has the message */
        return ROOF_UNSATISFIED;
    }
    return status;
}
