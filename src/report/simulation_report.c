// SPDX-License-Identifier: MIT
#include "report/simulation_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/shell.h"
#include "report/media_report.h"
#include "report/model_report.h"
#include "report/note_list.h"
#include "report/published_report.h"
#include "report/report.h"
#include "report/simulation_idle.h"
#include "report/simulation_parts.h"

/* Rows of latencies are in milliseconds up to this mean, so that their columns compare; longer ones
 * are read in seconds. */
#define LONG_S 10

/* The smallest relative uncertainty that is written. */
#define SHOWN 1e-3

/* --- for people ---------------------------------------------------------------------------- */

const char *roof_simulation_time(char out[ROOF_QUANTITY_SIZE], double time_s,
                                 const struct roof_latency_result *row)
{
    return row->mean_s >= LONG_S ? roof_simulation_short(out, time_s)
                                 : roof_format_in(out, time_s, ROOF_UNIT_MILLISECONDS);
}

/* Writes "tp 4, 2 copies", and the number of devices. */
static void put_copies(struct roof_text *out, const struct roof_scenario *s)
{
    roof_text_printf(out, "tp %" PRId64, s->tp);
    if (s->pp > 1) {
        roof_text_printf(out, ", pp %" PRId64, s->pp);
    }
    if (s->attention_dp > 1) {
        roof_text_printf(out, ", attention-dp %" PRId64, s->attention_dp);
    }
    if (s->dp > 1) {
        roof_text_printf(out, ", %" PRId64 " copies", s->dp);
    }
}

static void put_split(struct roof_text *out, const struct roof_simulation_row *row)
{
    const double devices = roof_simulation_devices(row);
    if (!(devices > 1)) {
        return;
    }
    if (row->prefill != NULL) {
        roof_text_put(out, "; prefill ");
        put_copies(out, &row->prefill->scenario);
        roof_text_put(out, "; decode ");
    } else {
        roof_text_put(out, "; ");
    }
    put_copies(out, &row->deployment->scenario);
    if (row->router != NULL) {
        roof_text_printf(out, " (%s)", row->router);
    }
    roof_text_printf(out, ", devices %.0f", devices);
}

static void put_formats(struct roof_text *out, const struct roof_deployment *d)
{
    const struct roof_formats *const f = &d->scenario.common.formats;
    roof_text_put(out, "; ");
    roof_model_report_weights(out, d->model, f);
    roof_text_printf(out, ", activations %s, kv %s", roof_format(f->activations)->name,
                     roof_format(f->kv)->name);
}

void roof_simulation_report_about(struct roof_text *out, const struct roof_simulation_row *row)
{
    roof_text_put(out, row->engine != NULL ? "engine " : "generic scheduler");
    roof_text_plain(out, row->engine != NULL ? row->engine : "");
    put_split(out, row);
    put_formats(out, row->deployment);
}

void roof_simulation_put_asked(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_deployment *const d = row->deployment;
    if (row->concurrency > 0) {
        roof_text_printf(out, "%" PRId64 " requests in flight", row->concurrency);
    } else if (row->max_rate <= 0) { /* at the rate that the search ends with, each runs alone */
        roof_text_put(out, "requests that run alone");
    } else if (row->open) { /* at the rate that the search ends with, all have arrived */
        roof_text_put(out, "all requests");
        if (row->trace != NULL) {
            roof_text_put(out, " of ");
            roof_text_plain(out, row->trace);
        }
        roof_text_put(out, " at once");
    } else {
        roof_report_requests(out, row->result.rate);
        roof_text_put(out, ", ");
        roof_text_plain(out, row->trace != NULL ? row->trace : row->arrivals);
        if (row->trace_users > 0) {
            roof_text_printf(out, ", %" PRId64 " requests in flight", row->trace_users);
        }
    }
    if (row->trace == NULL) {
        roof_text_put(out, "; prompt ");
        roof_text_plain(out, row->prompt);
        roof_text_put(out, ", generate ");
        roof_text_plain(out, row->generate);
    }
    roof_report_media(out, &d->scenario, d->model);
    put_split(out, row);
    if (row->engine != NULL) {
        roof_text_put(out, "; engine ");
        roof_text_plain(out, row->engine);
    }
    put_formats(out, d);
}

static void put_heading(struct roof_text *out, const struct roof_simulation_row *row)
{
    const size_t title = out->length;
    roof_text_printf(out, "%s on ", row->deployment->model->id);
    roof_report_device(out, row->deployment->hardware);
    roof_text_put(out, ": ");
    roof_simulation_put_asked(out, row);
    roof_text_fold(out, title, 4);
    roof_text_put(out, row->engine != NULL
                           ? "\n\n"
                           : "\n    scheduler: generic, without the host time of an engine "
                             "(--engine NAME)\n\n");
}

/* Writes a line "label value note". */
static void put_line(struct roof_text *out, const char *label, const char *value)
{
    roof_text_printf(out, "  %-20s %s", label, value);
}

const char *roof_report_no_interval(enum roof_no_interval why)
{
    static const char *const reasons[] = {
        [ROOF_INTERVAL_KNOWN] = "unknown",
        [ROOF_NO_INTERVAL_SATURATION] = "the engine is saturated above it",
        [ROOF_NO_INTERVAL_FEW] = "too few --requests",
        [ROOF_NO_INTERVAL_WIDE] = "the latency varies too much",
        [ROOF_NO_INTERVAL_SLOPE] = "the latency does not rise steadily"};
    return reasons[why];
}

/* Says how many requests would give what these do not. A trace has no more. */
static void put_wanted(struct roof_text *out, const struct roof_simulation_row *row)
{
    if (row->trace != NULL) {
        roof_text_put(out, "the trace has too few requests");
    } else {
        roof_text_printf(out, "too few requests; --requests %" PRIu64, row->wanted);
    }
}

/* Writes the interval of the greatest rate, or why it has none. */
static void put_interval(struct roof_text *out, const struct roof_simulation_row *row)
{
    char range[ROOF_RANGE_SIZE];
    if (!isnan(row->max_rate_low)) {
        roof_text_printf(
            out, " (95%% interval: %s",
            roof_format_range(range, row->max_rate_low, row->max_rate_high, ROOF_UNIT_NONE));
    } else {
        roof_text_put(out, " (no 95% interval");
    }
    const bool other =
        row->no_interval != ROOF_INTERVAL_KNOWN && row->no_interval != ROOF_NO_INTERVAL_FEW;
    if (other) {
        roof_text_printf(out, ": %s", roof_report_no_interval(row->no_interval));
    } else if (row->wanted > 0) {
        roof_text_put(out, ": ");
        put_wanted(out, row);
    }
    roof_text_put(out, ")");
}

/* Says which limits a request misses that runs alone, and by how much. */
static void put_none(struct roof_text *out, const struct roof_simulation *s,
                     const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    const char *separator = ": without load, ";
    const size_t from = out->length;
    put_line(out, "greatest rate", "none");
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const struct roof_latency_result *const r = &s->latency[i];
        char name[ROOF_QUANTITY_SIZE];
        char time[ROOF_QUANTITY_SIZE];
        char most[ROOF_QUANTITY_SIZE];
        if (!r->met && isfinite(r->limited_s)) {
            roof_text_printf(out, "%sthe %s of %s is %s (limit %s)", separator,
                             roof_format_percentile(name, limit[i].percent),
                             roof_report_latency((enum roof_latency)i),
                             roof_simulation_missed(time, r->limited_s, limit[i].time_s),
                             roof_simulation_short(most, limit[i].time_s));
            separator = ", ";
        }
    }
    roof_text_put(out, *separator == ':' ? ": a request misses a limit even without load" : "");
    roof_text_fold(out, from, 23);
    roof_text_put(out, "\n\n");
}

/* Writes the change of a deployment: options, and the devices that it needs. */
static void put_change(struct roof_text *out, const struct roof_raise *raise, double devices)
{
    char name[ROOF_INPUT_NAME_SIZE];
    roof_text_put(out, roof_input_name(name, roof_input_find(raise->key)));
    if (raise->format != NULL) {
        roof_text_printf(out, " %s", raise->format);
    } else {
        roof_text_printf(out, " %" PRId64, raise->value);
    }
    if (raise->other_key != NULL) {
        roof_text_printf(out, " %s %" PRId64,
                         roof_input_name(name, roof_input_find(raise->other_key)),
                         raise->other_value);
    }
    if ((double)raise->devices > devices) {
        roof_text_printf(out, " (%" PRId64 " devices)", raise->devices);
    }
}

/* Writes a factor with its interval, or with one digit if that is unknown. */
static void put_factor(struct roof_text *out, const struct roof_raise *raise)
{
    if (isnan(raise->factor_low)) {
        roof_text_printf(out, ": about x%.1g\n", raise->factor);
    } else {
        char ends[2][ROOF_QUANTITY_SIZE];
        (void)snprintf(ends[0], sizeof ends[0], "%.2g", raise->factor_low);
        (void)snprintf(ends[1], sizeof ends[1], "%.2g", raise->factor_high);
        const int digits = strcmp(ends[0], ends[1]) == 0 ? 3 : 2;
        roof_text_printf(out, ": about x%.*g (95%% interval: %.*g to %.*g)\n", digits,
                         raise->factor, digits, raise->factor_low, digits, raise->factor_high);
    }
}

void roof_report_requests(struct roof_text *out, double per_s)
{
    char rate[ROOF_QUANTITY_SIZE];
    const char *const number = roof_format_short(rate, per_s);
    roof_text_printf(out, "%s request%s/s", number, strcmp(number, "1") == 0 ? "" : "s");
}

void roof_simulation_put_greatest(struct roof_text *out, const struct roof_simulation_row *row)
{
    roof_report_requests(out, row->max_rate);
    put_interval(out, row);
    if (strcmp(row->max_rate_limit, "saturation") == 0) {
        roof_text_put(out, "; above it, the engine is saturated");
    } else {
        roof_text_printf(out, "; above it, %s is too long", row->max_rate_limit);
    }
}

/* Writes the greatest rate within the limits, and the limit that a higher one misses. */
static void put_capacity(struct roof_text *out, const struct roof_simulation_row *row,
                         const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    char rate[ROOF_QUANTITY_SIZE];
    if (row->open) {
        put_line(out, "greatest rate", "unknown: ");
        put_wanted(out, row);
        roof_text_put(out, "\n\n");
        return;
    }
    if (row->max_rate <= 0) {
        put_none(out, &row->result, limit);
        return;
    }
    put_line(out, "greatest rate", "");
    roof_simulation_put_greatest(out, row);
    roof_text_put(out, "\n");
    if (!isnan(row->max_rate_factor)) {
        put_line(out, "rate of the trace",
                 roof_format_short(rate, row->max_rate / row->max_rate_factor));
        roof_text_printf(out, " requests/s; the greatest is %.3g times that\n",
                         row->max_rate_factor);
    }
    for (size_t i = 0; i < row->raises; i++) {
        put_line(out, i == 0 ? "raised by" : "", "");
        put_change(out, &row->raise[i], roof_simulation_devices(row));
        put_factor(out, &row->raise[i]);
    }
    roof_text_put(out, "\n");
}

static void put_latencies(struct roof_text *out, const struct roof_simulation *s, bool bound)
{
    roof_text_printf(out, "  %-20s %9s %9s %9s %9s\n", bound ? "(steps: lower bounds)" : "", "mean",
                     "p50", "p90", "p99");
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const struct roof_latency_result *const r = &s->latency[i];
        const double value[] = {r->mean_s, r->p50_s, r->p90_s, r->p99_s};
        roof_text_printf(out, "  %-20s", roof_report_latency((enum roof_latency)i));
        for (size_t k = 0; k < COUNT(value); k++) {
            char time[ROOF_QUANTITY_SIZE];
            roof_text_printf(out, " %9s", roof_simulation_time(time, value[k], r));
        }
        if (r->p99_ci_s > SHOWN * r->p99_s) {
            char time[ROOF_QUANTITY_SIZE];
            roof_text_printf(out, " +- %s", roof_simulation_time(time, r->p99_ci_s, r));
        }
        roof_text_put(out, "\n");
    }
}

/* Says how many of the requests in flight fit at their full lengths, if the cache kept any waiting.
 */
static void put_room(struct roof_text *out, const struct roof_simulation_row *row)
{
    const int64_t fit = roof_deployment_holds(row->deployment) * row->deployment->scenario.dp;
    if (row->result.full_memory > 0 && fit < row->concurrency && isnan(row->result.prefix_hit)) {
        put_line(out, "", "");
        roof_text_printf(out, "%" PRId64 " of %" PRId64 " requests fit at full %slength\n", fit,
                         row->concurrency, row->lengths_vary ? "mean " : "");
    }
}

/* Says what makes room in a full cache: no more sequences than are in flight, if all then fit;
 * fewer bits, as in the prediction of a model; or more devices. Sequences that all fit at their
 * full lengths are not preempted; groups of the attention may have unequal numbers of them. */
static void put_more_room(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_deployment *const d = row->deployment;
    const enum roof_precision kv = roof_scenario_narrower_cache(&d->scenario, d->model);
    const bool alike = row->trace == NULL && !row->lengths_vary && isnan(row->result.prefix_hit);
    const bool enough = alike && row->enough_seqs > 0;
    put_line(out, "", "more room: ");
    if (enough) {
        roof_text_printf(out, "--max-num-seqs %" PRId64 " (all %" PRId64 " then fit), ",
                         row->enough_seqs, row->concurrency);
    }
    roof_text_put(out, kv == ROOF_PRECISION_AUTO   ? ""
                       : kv == ROOF_PRECISION_Q8_0 ? "--kv q8_0, "
                                                   : "--kv fp8, ");
    roof_text_put(out, "--tp (more devices)\n");
    if (row->result.preemptions == 0 || enough) {
        return;
    }
    if (alike && d->scenario.attention_dp == 1) {
        put_line(out, "", "no preemptions: ");
        roof_text_printf(out, "--max-num-seqs %" PRId64 "\n", roof_deployment_holds(d));
    } else {
        put_line(out, "", "fewer preemptions: a lower --max-num-seqs\n");
    }
}

/* Describes a bottleneck; for step time, also the share of steps with prompt tokens. */
static void put_bottleneck(struct roof_text *out, const struct roof_simulation_row *row)
{
    const char *const name = row->bottleneck;
    static const struct {
        const char *name;
        const char *meaning;
    } all[] = {{"budget", "prompts wait because steps are full of prompt tokens (--chunk)"},
               {"step time", "too long for a higher rate"},
               {"front end", "it handles one request at a time (front of --host-time)"},
               {"kv memory", "requests wait for room in the KV cache"},
               {"sequences", "a copy runs at most"},
               {"link", "KV caches wait for the link between copies"},
               {"prefill", "prompts wait for the copies that prefill"}};
    put_line(out, "bottleneck", name);
    for (size_t i = 0; i < COUNT(all); i++) {
        if (strcmp(all[i].name, name) == 0) {
            roof_text_printf(out, ": %s", all[i].meaning);
        }
    }
    if (strcmp(name, "step time") == 0 && row->prefill == NULL) {
        const double prompts = round(100 * row->result.prompts);
        roof_text_printf(out, " (%.0f%% with prefill, %.0f%% decode alone)", prompts,
                         100 - prompts);
    }
    if (strcmp(name, "sequences") == 0) {
        roof_text_printf(out, " %" PRId64 " requests at once (--max-num-seqs)",
                         row->deployment->scenario.common.shape.batch);
    }
    roof_text_put(out, "\n");
    if (strcmp(name, "kv memory") == 0) {
        put_more_room(out, row);
    }
}

/* Writes the number of draft tokens, and their gain. */
static void put_drafts(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_scenario *const s = &row->deployment->scenario;
    const char *const drafter = roof_drafter_name(s, row->deployment->model);
    char number[ROOF_QUANTITY_SIZE];
    if (s->draft_tokens == 0) {
        return;
    }
    put_line(out, "tokens per step", roof_format_short(number, row->result.tokens_per_step));
    roof_text_printf(out, " with %" PRId64 " draft%s", s->draft_tokens,
                     s->draft_tokens == 1 ? "" : "s");
    if (s->drafting != ROOF_DRAFTING_FREE) {
        roof_text_printf(out, " of %s", drafter);
    }
    roof_text_printf(out, ", %s accepted each%s\n",
                     roof_format_quantity(number, s->acceptance, ROOF_UNIT_FRACTION),
                     s->drafting == ROOF_DRAFTING_FREE ? "; " ROOF_FREE_DRAFTS : "");
}

/* Writes the load of the engine: rates, and means over time. */
static void put_load(struct roof_text *out, const struct roof_simulation_row *row,
                     const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    const struct roof_simulation *const s = &row->result;
    char a[ROOF_QUANTITY_SIZE];
    char b[ROOF_QUANTITY_SIZE];
    put_line(out, "completed", "");
    roof_report_requests(out, s->completed_per_s);
    roof_text_printf(out, ", %s tokens/s\n", roof_format_short(b, s->tokens_per_s));
    put_line(out, "running", roof_format_short(a, s->running));
    roof_text_printf(out, " requests on average, %s waiting\n", roof_format_short(b, s->waiting));
    if (!isnan(s->prefill_busy)) {
        put_line(out, "prefill", roof_format_quantity(a, s->prefill_busy, ROOF_UNIT_FRACTION));
        roof_text_put(out, " busy\n");
        put_line(out, "link", roof_format_quantity(a, s->link_busy, ROOF_UNIT_FRACTION));
        roof_text_printf(out, " busy; a KV cache needs %s, with its wait\n",
                         roof_simulation_short(b, s->transfer_s));
    }
    put_line(out, isnan(s->prefill_busy) ? "engine" : "decode", "a step runs ");
    roof_text_printf(out, "%s of the time, and takes %s on average\n",
                     roof_format_quantity(a, s->busy, ROOF_UNIT_FRACTION),
                     roof_format_quantity(b, s->step_s, ROOF_UNIT_MILLISECONDS));
    put_drafts(out, row);
    if (!isnan(s->kv_use)) {
        put_line(out, "KV cache", roof_format_quantity(a, s->kv_use, ROOF_UNIT_FRACTION));
        roof_text_printf(out, " of its %.0f tokens used on average; %" PRIu64 " preemptions\n",
                         (double)row->deployment->blocks * ROOF_BLOCK_TOKENS, s->preemptions);
        put_room(out, row);
    }
    if (!isnan(s->prefix_hit)) {
        put_line(out, "prefix cache", roof_format_quantity(a, s->prefix_hit, ROOF_UNIT_FRACTION));
        roof_text_put(out, " of the prompt tokens were cached\n");
    }
    if (row->bottleneck != NULL) {
        put_bottleneck(out, row);
    } else if (row->max_rate > 0 && row->prefill == NULL) {
        put_line(out, "bottleneck", "none: ");
        roof_simulation_put_idle(out, row, limit);
    }
}

/* Says that requests are longer than the model supports; engines refuse these. */
static void put_longer(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_scenario *const s = &row->deployment->scenario;
    const int64_t positions = row->deployment->model->positions;
    const uint64_t longer = row->result.longer;
    if (longer == 0) {
        return;
    }
    put_line(out, "note", "");
    if (row->trace == NULL && !row->lengths_vary) {
        roof_text_printf(out,
                         "the requests have %" PRId64 " tokens; the model supports %" PRId64 "\n",
                         s->prompt + s->generate, positions);
    } else {
        roof_text_printf(
            out, "%" PRIu64 " request%s longer than the model supports (%" PRId64 " tokens)\n",
            longer, longer == 1 ? " is" : "s are", positions);
    }
}

/* Notes that percentiles of very many requests are not exact. */
static void put_histogram(struct roof_text *out, const struct roof_simulation_row *row)
{
    if (row->result.requests > ROOF_DISTRIBUTION_EXACT) {
        put_line(out, "note", "");
        roof_text_printf(out,
                         "percentiles come from a histogram (more than %d requests): each is "
                         "within %.2g%%\n",
                         ROOF_DISTRIBUTION_EXACT, (ROOF_DISTRIBUTION_RATIO - 1) / 2 * 100);
    }
}

/* Writes how many requests the latencies are of, and what they leave out. */
static void put_extent(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_simulation *const s = &row->result;
    roof_text_printf(out, "  %-20s %" PRIu64 " measured after warm-up, seed %" PRId64 "\n",
                     "requests", s->requests, row->seed);
    if (!row->deployment->bound && !row->fitted && row->step_scale == 1) {
        put_line(out, "not included", "the error of the step times");
        roof_text_put(out,
                      row->own_overhead ? "\n" : "; first tokens of real engines came later\n");
    }
    put_longer(out, row);
    put_histogram(out, row);
    if (s->rejected > 0) {
        roof_text_printf(out, "  %-20s %" PRIu64 " request%s larger than the whole KV cache\n",
                         "turned away", s->rejected, s->rejected == 1 ? "" : "s");
    }
}

static void put_limits(struct roof_text *out, const struct roof_simulation *s,
                       const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    bool any = false;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        if (isnan(limit[i].time_s)) {
            continue;
        }
        roof_text_put(out, any ? "" : "\n");
        put_line(out, roof_simulation_verdict(&s->latency[i]), "");
        roof_simulation_put_limit(out, s, (enum roof_latency)i, &limit[i]);
        roof_text_put(out, "\n");
        any = true;
    }
    if (any && !isnan(s->goodput_per_s)) {
        char rate[ROOF_QUANTITY_SIZE];
        put_line(out, "goodput", roof_format_short(rate, s->goodput_per_s));
        roof_text_put(out, " requests/s keep all limits\n");
    }
}

/* Repeats the options that the fitted numbers belong to: without them, the same numbers give other
 * times. */
static void put_fitted_for(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct {
        const char *option;
        const char *value;
    } all[] = {{" --engine ", row->engine},
               {" --stack ", row->stack},
               {" --host-time ", row->deployment->scenario.host_time_said}};
    bool any = false;
    for (size_t i = 0; i < COUNT(all); i++) {
        if (all[i].value != NULL) {
            if (!any) {
                put_line(out, "", "use them with");
            }
            roof_text_put(out, all[i].option);
            roof_text_shell_word(out, all[i].value);
            any = true;
        }
    }
    roof_text_put(out, any ? "\n" : "");
}

/* The size of an error above which a fit is doubtful. Those of fits to two published runs are at
 * most 1.2% (docs/simulation.md). */
#define FIT_DOUBTFUL 0.2

/* Says what to check if a fit does not hold for the requests that it did not use. */
static void put_doubt(struct roof_text *out, const struct roof_fit_errors *fit)
{
    double largest = 0;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        largest = fabs(fit->error[i]) > largest ? fabs(fit->error[i]) : largest;
    }
    if (largest > FIT_DOUBTFUL) {
        put_line(out, "note", "an error");
        roof_text_printf(out, " above %.0f%%: check --max-num-seqs, --chunk and the load\n",
                         100 * FIT_DOUBTFUL);
    }
}

/* Returns a percentage with one decimal, which is never -0.0. */
static double shown_percent(double fraction)
{
    return round(1000 * fraction) / 10 + 0.;
}

/* Compares the simulation with the measured times of the trace. */
static void put_fit(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_fit_errors *const fit = &row->fit;
    roof_text_put(out, "\n");
    if (row->fitted) {
        char a[ROOF_QUANTITY_SIZE];
        char b[ROOF_QUANTITY_SIZE];
        put_line(out, "fitted", "--step-scale");
        roof_text_printf(out, " %s, --request-overhead %s, on the first %" PRIu64 " request%s\n",
                         roof_format_short(a, row->step_scale),
                         roof_simulation_short(b, row->request_overhead_s), row->fit_used,
                         row->fit_used == 1 ? "" : "s");
        put_fitted_for(out, row);
        const char *const bound = roof_fit_bound(row->step_scale, row->request_overhead_s);
        if (bound != NULL) {
            put_line(out, "warning", bound);
            roof_text_put(out, ":\n");
            put_line(out, "", "the times do not belong to this deployment\n");
        }
    }
    put_line(out, "measured", "");
    roof_text_printf(out, "means of %s%" PRIu64 " request%s\n", row->fitted ? "the other " : "",
                     fit->requests, fit->requests == 1 ? "" : "s");
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        char measured[ROOF_QUANTITY_SIZE];
        char simulated[ROOF_QUANTITY_SIZE];
        if (!isnan(fit->error[i])) {
            put_line(out, "", roof_report_latency((enum roof_latency)i));
            roof_text_printf(out, " %s, simulated %s: error %+.1f%%\n",
                             roof_simulation_short(measured, fit->measured_s[i]),
                             roof_simulation_short(simulated, fit->simulated_s[i]),
                             shown_percent(fit->error[i]));
        }
    }
    if (row->fitted) {
        put_doubt(out, fit);
    }
}

/* Writes the notes on the formats, the device and what was measured on it. */
static void put_basis(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_deployment *const d = row->deployment;
    struct roof_used used;
    if (roof_model_report_unquantized(d->model, &d->scenario.common.formats)) {
        roof_model_report_note_unquantized(out, d->model);
    }
    roof_used_by_scenario(&used, &d->scenario, d->hardware, !d->bound);
    roof_report_device_basis(out, &used, row->product);
}

/* Says how many requests came, how many were completed, and what finds a rate that can be kept. */
static void put_saturated(struct roof_text *out, const struct roof_simulation_row *row)
{
    const struct roof_simulation *const s = &row->result;
    char number[3][ROOF_QUANTITY_SIZE];
    roof_text_printf(
        out,
        "\nSaturated: while requests came, %s were offered per second in this run, and "
        "the queue\ngrew by %s per second. Until the last request ended, the engine "
        "completed %s per second.\nLatencies grow with the length of the "
        "simulation.\n",
        roof_format_short(number[0], s->offered_per_s),
        roof_format_short(number[1], s->growth_per_s),
        roof_format_short(number[2], s->completed_per_s));
    if (row->greatest != NULL) {
        roof_text_printf(out, "Find the greatest rate within %s:\n  %s\n",
                         row->greatest_limited ? "the limits" : "a limit (set your own)",
                         row->greatest);
    }
}

void roof_simulation_report_text(struct roof_text *out, const struct roof_simulation_row *row,
                                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    const struct roof_simulation *const s = &row->result;
    put_heading(out, row);
    if (row->open || !isnan(row->max_rate)) {
        put_capacity(out, row, limit);
    }
    put_latencies(out, s, row->deployment->bound);
    roof_text_put(out, "\n");
    if (!roof_simulation_without_load(row)) {
        put_load(out, row, limit);
    }
    put_extent(out, row);
    put_limits(out, s, limit);
    if (row->measured) {
        put_fit(out, row);
    }
    if (s->saturated) {
        put_saturated(out, row);
    }
    put_basis(out, row);
}

/* --- for programs -------------------------------------------------------------------------- */

static void put_number(struct roof_text *out, const char *key, double value)
{
    if (isfinite(value)) {
        roof_text_printf(out, ", \"%s\": ", key);
        roof_text_number(out, value);
    }
}

/* Compares the simulation with the measured times of the trace. */
static void put_measured(struct roof_text *out, const struct roof_simulation_row *row)
{
    roof_text_printf(out, ",\n  \"measured\": {\"requests\": %" PRIu64, row->fit.requests);
    if (row->fitted) {
        roof_text_printf(out, ", \"fitted_on\": %" PRIu64, row->fit_used);
        roof_text_printf(out, ", \"at_bound\": %s",
                         roof_fit_bound(row->step_scale, row->request_overhead_s) == NULL ? "false"
                                                                                          : "true");
    }
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const char *const name = roof_latency_key((enum roof_latency)i);
        char key[32];
        (void)snprintf(key, sizeof key, "%s_ms_mean", name);
        put_number(out, key, roof_to_unit(row->fit.measured_s[i], ROOF_UNIT_MILLISECONDS));
        (void)snprintf(key, sizeof key, "%s_ms_simulated", name);
        put_number(out, key, roof_to_unit(row->fit.simulated_s[i], ROOF_UNIT_MILLISECONDS));
        (void)snprintf(key, sizeof key, "%s_error", name);
        put_number(out, key, row->fit.error[i]);
    }
    roof_text_put(out, "}");
}

void roof_report_limits_json(struct roof_text *out, const struct roof_simulation *simulation,
                             const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    bool any = false;
    roof_text_put(out, ",\n  \"limits\": [");
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const struct roof_latency_result *const r = &simulation->latency[i];
        if (isnan(limit[i].time_s)) {
            continue;
        }
        roof_text_printf(out, "%s\n    {\"time\": \"%s\"", any ? "," : "",
                         roof_latency_key((enum roof_latency)i));
        if (limit[i].percent > 0) {
            put_number(out, "percent", limit[i].percent);
        }
        put_number(out, "limit_ms", roof_to_unit(limit[i].time_s, ROOF_UNIT_MILLISECONDS));
        put_number(out, "value_ms", roof_to_unit(r->limited_s, ROOF_UNIT_MILLISECONDS));
        put_number(out, "value_ms_ci", roof_to_unit(r->limited_ci_s, ROOF_UNIT_MILLISECONDS));
        roof_text_printf(out, ", \"met\": %s}", r->met ? "true" : "false");
        any = true;
    }
    roof_text_put(out, any ? "\n  ]" : "]");
}

void roof_simulation_report_json(struct roof_text *out, const struct roof_simulation_row *row,
                                 const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_SIMULATIONS, ROOF_OPERATOR_GEMM, "\n  ");
    roof_text_put(out, "{");
    roof_table_simulation(&table, out, row);
    if (roof_report_is_other(row->deployment->hardware, row->product)) {
        roof_text_put(out, ",\n  \"published\": ");
        roof_report_published_device(out, row->deployment->hardware, row->product);
    }
    roof_report_limits_json(out, &row->result, limit);
    for (size_t i = 0; i < row->raises; i++) {
        const struct roof_raise *const raise = &row->raise[i];
        roof_text_printf(out, "%s{\"key\": \"%s\", \"value\": ",
                         i == 0 ? ",\n  \"raises\": [\n    " : ",\n    ", raise->key);
        if (raise->format != NULL) {
            roof_text_printf(out, "\"%s\"", raise->format);
        } else {
            roof_text_printf(out, "%" PRId64, raise->value);
        }
        if (raise->other_key != NULL) {
            roof_text_printf(out, ", \"with\": {\"key\": \"%s\", \"value\": %" PRId64 "}",
                             raise->other_key, raise->other_value);
        }
        put_number(out, "devices", (double)raise->devices);
        put_number(out, "factor", raise->factor);
        put_number(out, "factor_low", raise->factor_low);
        put_number(out, "factor_high", raise->factor_high);
        roof_text_put(out, i + 1 == row->raises ? "}\n  ]" : "}");
    }
    if (row->measured) {
        put_measured(out, row);
    }
    struct roof_text notes = ROOF_TEXT_INIT;
    put_longer(&notes, row);
    put_histogram(&notes, row);
    put_basis(&notes, row);
    roof_report_note_list(out, ",\n  ", &notes);
    roof_text_free(&notes);
    roof_text_put(out, "\n}\n");
}
