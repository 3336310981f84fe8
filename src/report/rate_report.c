// SPDX-License-Identifier: MIT
#include "report/rate_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/shell.h"
#include "report/caveat_report.h"
#include "report/markdown.h"
#include "report/note_list.h"
#include "report/plan_parts.h"
#include "report/rate_others.h"
#include "report/rate_table.h"
#include "report/rate_trace_report.h"
#include "report/render.h"
#include "report/report.h"
#include "report/rows.h"
#include "report/simulation_report.h"

/* The least excess over the rate that is reported. */
#define ROOM_LEAST 0.005
/* The separator of values on lines of their own. */
#define BELOW ",\n               "

/* --- for people ---------------------------------------------------------------------------- */

/* Writes "2 requests/s, poisson; prompt 8k, generate 500". */
static void put_load(struct roof_text *out, const struct roof_rate_answer *a)
{
    roof_text_printf(out, "%s: ", a->problem->answer->problem.model->id);
    roof_report_requests(out, a->problem->load->arrivals->rate);
    roof_text_put(out, ", ");
    roof_text_plain(out, a->arrivals);
    roof_text_put(out, "; prompt ");
    roof_text_plain(out, a->prompt);
    roof_text_put(out, ", generate ");
    roof_text_plain(out, a->generate);
    roof_text_put(out, "\n\n");
}

/* Writes a time that has no limit: "p99 of time per token 24 ms (no limit)". */
static void put_unlimited(struct roof_text *out, const char *separator,
                          const struct roof_simulation *s, enum roof_latency latency)
{
    char time[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "%sp99 of %s %s (no limit)", separator, roof_report_latency(latency),
                     roof_format_quantity(time, s->latency[latency].p99_s, ROOF_UNIT_MILLISECONDS));
}

/* Writes the simulated value for each limit, "p99 of time to first token 890 ms (limit 1 s)";
 * `whole` adds the times to first token and per token that have none. */
static void put_latencies(struct roof_text *out, const struct roof_simulation *s,
                          const struct roof_latency_limit limit[ROOF_LATENCY_COUNT],
                          const char *between, bool whole)
{
    const char *separator = "";
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        char percent[ROOF_QUANTITY_SIZE];
        char time[ROOF_QUANTITY_SIZE];
        char most[ROOF_QUANTITY_SIZE];
        if (!isnan(limit[i].time_s)) {
            roof_text_printf(
                out, "%s%s of %s %s (limit %s", separator,
                roof_format_percentile(percent, limit[i].percent),
                roof_report_latency((enum roof_latency)i),
                isinf(s->latency[i].limited_s)
                    ? "unbounded"
                    : roof_format_quantity(time, s->latency[i].limited_s, ROOF_UNIT_MILLISECONDS),
                roof_format_quantity(most, limit[i].time_s, ROOF_UNIT_MILLISECONDS));
            roof_report_unsure(out, "; ", "", &s->latency[i], &limit[i]);
            roof_text_put(out, ")");
            separator = between;
        } else if (whole && i != ROOF_LATENCY_E2E && !isnan(s->latency[i].p99_s)) {
            put_unlimited(out, separator, s, (enum roof_latency)i);
            separator = between;
        }
    }
    roof_text_put(out, *separator == '\0' ? "no limits are set" : "");
    if (s->rejected > 0) {
        roof_text_printf(out, "%srequests larger than the KV cache of a copy are turned away",
                         between);
    }
    roof_text_put(out, s->saturated ? "; saturated: the queue grows without end" : "");
    size_t line = out->length;
    while (line > 0 && out->data[line - 1] != '\n') {
        line--;
    }
    if (strcmp(between, BELOW) == 0) {
        roof_text_fold(out, line, strlen(BELOW) - strlen(",\n"));
    }
    roof_text_put(out, "\n");
}

void roof_rate_report_remark(struct roof_text *out, const struct roof_rate_answer *answer)
{
    const struct roof_rate_plan *const way = &answer->found->way[0];
    roof_text_put(out, "for ");
    roof_report_requests(out, way->rate);
    roof_text_printf(out, ", %s, simulated: ", answer->arrivals);
    put_latencies(out, &way->at, answer->problem->load->limit, ", ", false);
    out->length -= out->failed ? 0 : 1; /* the newline */
}

/* Writes what two best plans need by the objective: "8 devices instead of 10". */
static void put_needs(struct roof_text *out, const struct roof_rate_problem *problem, double better,
                      double own)
{
    static const struct {
        const char *constant;
        const char *over_time;
    } units[] = {[ROOF_PLAN_THROUGHPUT] = {" devices", " device-hours"},
                 [ROOF_PLAN_COST] = {" per hour", ""},
                 [ROOF_PLAN_ENERGY] = {" W", " Wh"}};
    const enum roof_plan_objective objective = problem->answer->problem.objective;
    const bool timed = problem->weight != NULL;
    const double unit = timed ? 3600 : 1;
    char number[2][ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "%s%s%s instead of %s", objective == ROOF_PLAN_COST ? "cost " : "",
                     roof_format_short(number[0], better / unit),
                     timed ? units[objective].over_time : units[objective].constant,
                     roof_format_short(number[1], own / unit));
}

bool roof_rate_report_gain(struct roof_text *out, const struct roof_rate_answer *answer,
                           const struct roof_rate_plans *other)
{
    const struct roof_rate_problem *const problem = answer->problem;
    const struct roof_rate_plan *const best = &other->way[0];
    const struct roof_rate_plan *const way = &answer->found->way[0];
    const double better = roof_rate_need(other, problem);
    const double own = roof_rate_need(answer->found, problem);
    const bool timed = problem->weight != NULL && best->plan.basis == way->plan.basis;
    char rate[2][ROOF_QUANTITY_SIZE];
    if (timed ? !(better < own) : !roof_rate_is_better(best, way, problem)) {
        return false;
    }
    if (best->plan.basis != way->plan.basis) {
        roof_text_put(out, "its times are expected ones, not lower bounds");
    } else if (better < own) {
        put_needs(out, problem, better, own);
    } else if (isnan(own) && !isnan(better)) {
        roof_text_put(out, "its price is known");
    } else if (roof_rate_is_unsure(way, problem->load->limit) &&
               !roof_rate_is_unsure(best, problem->load->limit)) {
        roof_text_put(out, "it surely keeps the limits");
    } else if (roof_plan_by_loss(&best->plan, &way->plan, &problem->answer->problem) < 0) {
        roof_text_put(out, "it loses less accuracy or has more bits");
    } else if (best->max_rate > way->max_rate) {
        roof_text_printf(out, "up to %s requests/s instead of %s",
                         roof_format_short(rate[0], best->max_rate),
                         roof_format_short(rate[1], way->max_rate));
    } else {
        roof_text_put(out, "it keeps the limits with larger margins");
    }
    return true;
}

static void put_greatest(struct roof_text *out, const struct roof_rate_plan *way,
                         const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    char range[ROOF_RANGE_SIZE];
    const size_t line = out->length;
    roof_text_put(out, "  greatest:    ");
    roof_report_requests(out, way->max_rate);
    if (!isnan(way->max_rate_low)) {
        roof_text_printf(
            out, " (95%% interval: %s)",
            roof_format_range(range, way->max_rate_low, way->max_rate_high, ROOF_UNIT_NONE));
    } else {
        roof_text_printf(out, " (no 95%% interval: %s)", roof_report_no_interval(way->no_interval));
    }
    const double more = way->max_rate / way->rate - 1;
    if (more >= ROOM_LEAST) {
        roof_text_printf(out, "; room for %.0f%% more", 100 * more);
    } else if (more < 0) {
        roof_text_put(out, "; below the rate that was asked for");
    }
    roof_text_put(out, roof_rate_is_unsure(way, limit) ? "; the rate is uncertain" : "");
    roof_text_fold(out, line, 15);
    roof_text_put(out, "\n");
}

/* Says whose scheduler was simulated. */
static void put_scheduler(struct roof_text *out, const struct roof_rate_plan *way)
{
    roof_text_printf(out, "  scheduler:   %s; ",
                     way->engine == NULL ? "a generic one" : way->engine->name);
    if (way->chunk == ROOF_BUDGET_WHOLE) {
        roof_text_put(out, "whole prompts");
    } else {
        const bool apart = way->plan.prefill.copies > 0;
        const struct roof_split *const split = apart ? &way->plan.prefill.split : &way->plan.split;
        roof_text_printf(out, "%" PRId64 " tokens in a step%s", way->chunk,
                         split->attention_dp > 1 ? " of each attention group" : "");
    }
    roof_text_printf(out, ", at most %" PRId64 " sequences\n", way->sequences);
}

/* Says by how much the expected times may be too short. */
static void put_headroom(struct roof_text *out, const struct roof_rate_plan *way)
{
    if (isnan(way->headroom)) {
        return;
    }
    roof_text_put(out, "  headroom:    ");
    if (way->headroom > 0) {
        roof_text_printf(out, "kernels may take %s%.0f%% longer before a limit is missed\n",
                         way->headroom < ROOF_RATE_HEADROOM_MAX ? "" : "at least ", way->headroom);
    } else {
        roof_text_put(out, "none: kernels that take 1% longer miss a limit\n");
    }
}

/* Writes the devices and formats of a deployment. */
static void put_way(struct roof_text *out, const struct roof_rate_plan *way,
                    const struct roof_plan_row *row, const struct roof_plan_problem *problem,
                    const char *separator)
{
    roof_plan_describe_place(out, &way->plan, problem);
    roof_text_printf(out, "%s%s, KV cache %s", separator, row->formats, roof_format(row->kv)->name);
}

static void put_best(struct roof_text *out, const struct roof_rate_answer *a)
{
    const struct roof_rate_plan *const way = &a->found->way[0];
    const struct roof_plan_problem *const problem = &a->problem->answer->problem;
    const struct roof_latency_limit *const limit = a->problem->load->limit;
    const char *const bottleneck = roof_simulation_bottleneck(&way->at, false, false, false);
    struct roof_plan_row row;
    char number[ROOF_QUANTITY_SIZE];
    roof_plan_name(&row, &way->plan, 1, problem);
    roof_text_put(out, "Use ");
    put_way(out, way, &row, problem, ",\n    ");
    roof_text_printf(out, "\n  engines:     %s%s\n",
                     *row.engines == '\0' ? ROOF_PLAN_NO_ENGINE : row.engines,
                     way->plan.basis == ROOF_PLAN_BOUND ? "; steps take their lower bounds" : "");
    roof_plan_put_assumed(out, problem);
    roof_text_put(out, "  simulated:   ");
    put_latencies(out, &way->at, limit, BELOW, true);
    if (way->plan.dp > 1 || way->plan.prefill.copies > 1) {
        roof_text_printf(out, "  router:      %s\n", roof_router_names[a->problem->load->router]);
    }
    put_scheduler(out, way);
    if (bottleneck != NULL) {
        roof_text_printf(out, "  bottleneck:  %s\n", bottleneck);
    }
    if (!isnan(way->max_rate)) {
        put_greatest(out, way, limit);
    } else if (way->open) {
        roof_text_printf(
            out,
            "  greatest:    unknown, because the requests are too few (try --requests %" PRIu64
            ")\n",
            way->wanted);
    }
    put_headroom(out, way);
    if (way->plan.dp > 1 && way->fewer.steps > 0) {
        roof_text_printf(out, "  fewer:       with %" PRId64 " cop%s, ", way->plan.dp - 1,
                         way->plan.dp == 2 ? "y" : "ies");
        put_latencies(out, &way->fewer, limit, BELOW, false);
    }
    roof_text_printf(out, "  accuracy:    loss %s\n", roof_accuracy_name(way->plan.loss));
    roof_plan_put_notes(out, &way->plan, problem);
    if (problem->objective == ROOF_PLAN_ENERGY && !isnan(way->joule)) {
        roof_text_printf(out, "  energy:      at most %s J per token at the devices' TDP, ",
                         roof_format_short(number, way->joule));
        roof_text_printf(out, "%s W together; hosts not included\n",
                         roof_format_short(number, way->plan.watt));
    }
    if (!isnan(way->cost)) {
        const size_t line = out->length;
        roof_text_printf(out, "  cost:        %s per hour; ",
                         roof_format_short(number, way->price));
        roof_text_printf(out, "%s per million generated tokens with their prompts at ",
                         roof_format_short(number, way->cost));
        roof_report_requests(out, way->rate);
        roof_text_fold(out, line, 15);
        roof_text_put(out, "\n");
    }
}

/* Tells whether a device has a plan before the simulations. */
static bool has_candidate(const struct roof_rate_answer *a, size_t hardware)
{
    const struct roof_plans *const plans = &a->problem->answer->plans;
    return roof_plan_first_on(plans, hardware) < plans->count;
}

static bool is_served(const struct roof_rate_plans *found, size_t hardware)
{
    size_t i = 0;
    while (i < found->count && found->way[i].plan.hardware != hardware) {
        i++;
    }
    return i < found->count;
}

/* Writes why a device does not serve the rate, after ": ". */
static void put_miss(struct roof_text *out, const struct roof_rate_answer *a, size_t hardware)
{
    const struct roof_plan_problem *const problem = &a->problem->answer->problem;
    const struct roof_rate_miss *const miss = &a->found->miss[hardware];
    const struct roof_hardware *const device = problem->hardware[hardware];
    const enum roof_figure_id missing =
        miss->unlinked > 0 ? roof_hardware_unlinked(device, miss->unlinked) : ROOF_FIGURE_COUNT;
    if (missing != ROOF_FIGURE_COUNT) {
        const char *const key = roof_figure_key(missing)->key;
        roof_text_printf(out, ": %s is unknown, and %.0f devices need it: --set %s=VALUE", key,
                         miss->unlinked, key);
    } else if (miss->tried == 0 && has_candidate(a, hardware)) {
        roof_text_printf(out, ": not simulated; %zu plans on other devices ranked higher",
                         a->found->simulated);
    } else if (miss->tried == 0) {
        roof_plan_put_no_engine(out, problem, hardware);
        roof_text_put(out, roof_plan_any_engine(problem, hardware)
                               ? ": no copy fits and keeps the limits without waiting"
                               : "");
    } else if (miss->many == miss->tried) {
        roof_text_printf(out, ": each of the %zu examined needs more than %d copies", miss->tried,
                         ROOF_RATE_COPIES_MAX);
    } else {
        roof_text_put(out, ": the copies that were simulated miss the limits");
    }
}

/* Writes the devices without a plan for the rate, each with its reason. */
static void put_without(struct roof_text *out, const struct roof_rate_answer *a,
                        const char *separator)
{
    const struct roof_plan_problem *const problem = &a->problem->answer->problem;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        if (!is_served(a->found, h)) {
            roof_text_put(out, separator);
            const size_t from = out->length;
            roof_text_printf(out, "  %-22s no plan", problem->hardware[h]->id);
            put_miss(out, a, h);
            roof_text_fold(out, from, 25);
            roof_text_put(out, "\n");
            separator = "";
        }
    }
}

/* Says on which devices plans with separate prefill copies were left out, although others serve the
 * rate. */
static void put_unlinked(struct roof_text *out, const struct roof_rate_answer *a,
                         const char *separator)
{
    const struct roof_plan_problem *const problem = &a->problem->answer->problem;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        if (is_served(a->found, h)) {
            roof_report_unlinked(out, separator, problem->hardware[h], a->found->miss[h].unlinked);
        }
    }
}

/* Writes "2 copies of 1 device that prefill". */
static void put_copies(struct roof_text *out, int64_t copies, int64_t devices, const char *does)
{
    roof_text_printf(out, "%" PRId64 " cop%s of %" PRId64 " device%s that %s%s", copies,
                     copies == 1 ? "y" : "ies", devices, devices == 1 ? "" : "s", does,
                     copies == 1 ? "s" : "");
}

/* Explains the copies of a plan that prefills apart: "3x1+2x4". */
static void put_halves(struct roof_text *out, const struct roof_rate_answer *a,
                       const struct roof_plan *plan)
{
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, &a->problem->answer->problem);
    roof_text_printf(out, "copies: %s is ", row.copies);
    put_copies(out, plan->prefill.copies, roof_split_devices(&plan->prefill.split), "prefill");
    roof_text_put(out, ", and ");
    put_copies(out, plan->dp, roof_split_devices(&plan->split), "decode");
    roof_text_put(out, "\n");
}

/* Says by what the rows are ordered; `searched` of those shown have a greatest rate. Over time,
 * roof_rate_trace_order says it. */
static void put_order(struct roof_text *out, const struct roof_rate_answer *a, size_t searched,
                      size_t shown)
{
    static const char *const needs[] = {[ROOF_PLAN_THROUGHPUT] = "fewest devices",
                                        [ROOF_PLAN_COST] = "lowest cost per hour",
                                        [ROOF_PLAN_ENERGY] = "lowest TDP of all devices"};
    if (a->found->compared > 0 || shown < 2) {
        return;
    }
    const size_t from = out->length;
    roof_text_printf(out,
                     "rank: %s, then limits kept beyond the 95%% interval, then least accuracy "
                     "loss, then most bits, then ",
                     needs[a->problem->answer->problem.objective]);
    roof_text_put(out, searched == shown ? "max req/s"
                       : searched == 0
                           ? "the largest margin to the limits"
                           : "max req/s (without one: the largest margin to the limits)");
    roof_text_put(out, "\n");
    roof_text_fold(out, from, 6);
}

/* Explains what the table has beside numbers, a line each. */
static void put_legend(struct roof_text *out, const struct roof_rate_answer *a, size_t top)
{
    const struct roof_rate_plan *halves = NULL;
    size_t shown = 0;
    size_t searched = 0;
    uint64_t wanted = 0;
    bool low = false;
    for (size_t i = 0; i < a->found->count; i++) {
        const struct roof_rate_plan *const way = &a->found->way[i];
        if (!roof_rate_is_shown(a->found, i, top)) {
            continue;
        }
        halves = halves == NULL && way->plan.prefill.copies > 0 ? way : halves;
        searched += isnan(way->max_rate) && !way->open ? 0 : 1;
        wanted = way->open && way->wanted > wanted ? way->wanted : wanted;
        low = low || roof_rate_falls_short(way);
        shown++;
    }
    char first[ROOF_QUANTITY_SIZE] = "";
    if (searched > 1) {
        (void)snprintf(first, sizeof first, " %zu", searched);
    }
    put_order(out, a, searched, shown);
    roof_rate_trace_order(out, a, shown);
    if (halves != NULL) {
        put_halves(out, a, &halves->plan);
    }
    if (searched < shown) {
        roof_text_printf(out, "max req/s: the greatest rate that keeps the limits, %s%s%s\n",
                         searched > 0 ? "searched for the first" : "not searched", first,
                         searched > 0 ? " only" : "");
    }
    if (low) {
        char rate[ROOF_QUANTITY_SIZE];
        roof_text_printf(out,
                         ROOF_RATE_SHORT ": below the %s requests/s that the plan is for: with "
                                         "other requests, it may miss a limit\n",
                         roof_format_short(rate, a->found->way[0].rate));
    }
    if (wanted > 0) {
        if (searched < shown) {
            roof_text_printf(out, "-, after the first%s: not searched\n", first);
        }
        roof_text_printf(
            out, "-%s: unknown, because the requests are too few (try --requests %" PRIu64 ")\n",
            searched < shown ? ", among these" : "", wanted);
    }
}

/* Says which of the simulated deployments the table has, and what happened to the others. */
static void put_counts(struct roof_text *out, const struct roof_rate_answer *a, size_t top)
{
    const struct roof_rate_plans *const found = a->found;
    const size_t missing = found->simulated - found->count;
    const size_t from = out->length;
    size_t shown = 0;
    for (size_t i = 0; i < found->count; i++) {
        shown += roof_rate_is_shown(found, i, top) ? 1 : 0;
    }
    if (missing == 0) {
        roof_text_printf(out, "%s within the limits",
                         found->count == 1 ? "It serves the rate" : "All of them serve the rate");
    } else {
        roof_text_printf(out,
                         "%zu of them serve%s the rate; %zu miss%s a limit, or %s not finished "
                         "because smaller deployments already serve the rate",
                         found->count, found->count == 1 ? "s" : "", missing,
                         missing == 1 ? "es" : "", missing == 1 ? "was" : "were");
    }
    if (shown < found->count) {
        roof_text_printf(out, "; the table has %zu (--top)", shown);
    }
    roof_text_put(out, ".\n");
    roof_text_fold(out, from, 0);
}

static void put_ways(struct roof_text *out, const struct roof_rate_answer *a, size_t top)
{
    const struct roof_simulation_inputs *const load = a->problem->load;
    const struct roof_plan_problem *const problem = &a->problem->answer->problem;
    roof_text_printf(
        out,
        "\n%zu deployment%s ranked by a formula, and the best %zu %s simulated with %" PRIu64
        " requests each\n(seed %" PRIu64 ").\n",
        a->found->ways, a->found->ways == 1 ? " was" : "s were", a->found->simulated,
        a->found->simulated == 1 ? "was" : "were", a->found->requests, load->seed);
    put_counts(out, a, top);
    roof_text_put(out, "Times are in ms. A copy has ");
    for (size_t i = 0; i < problem->device_counts; i++) {
        const bool last = i + 1 == problem->device_counts;
        roof_text_printf(out, "%s%" PRId64,
                         i == 0 ? ""
                         : last ? " or "
                                : ", ",
                         problem->devices[i]);
    }
    roof_text_put(out,
                  problem->device_counts == 1 && problem->devices[0] == 1 ? " device" : " devices");
    roof_text_put(
        out, " (--devices).\n"
             "Real engines had later first tokens than their simulations (docs/errors.md).\n\n");
    struct roof_text legend = ROOF_TEXT_INIT;
    struct roof_text split = ROOF_TEXT_INIT;
    roof_rate_put_table(out, ROOF_OUTPUT_TEXT, a, top, &split);
    put_legend(&legend, a, top);
    roof_text_add(&legend, split.data, split.length);
    roof_text_put(out, legend.length > 0 ? "\n" : "");
    roof_text_add(out, legend.data, legend.length);
    out->failed |= legend.failed || split.failed;
    roof_text_free(&legend);
    roof_text_free(&split);
    if (roof_rate_bases_differ(a, top)) {
        roof_text_put(out,
                      "\nbound: steps take their lower bounds (real kernels are slower). These "
                      "plans rank behind\nthose with estimates (expected), even if they need "
                      "less.\n");
    }
    put_without(out, a, "\n");
    put_unlinked(out, a, "\n");
    roof_plan_put_collectives(out, problem, &a->found->way[0].plan);
    roof_plan_put_unpriced(out, "\n", problem);
}

/* Writes the command that simulates the best plan. */
static void put_command(struct roof_text *out, const struct roof_rate_answer *a)
{
    const struct roof_rate_plan *const way = &a->found->way[0];
    const struct roof_plan *const plan = &way->plan;
    roof_text_put(out, "\nReproduce (with the same --set and --calibration, if you gave any):\n");
    roof_plan_put_simulation(out, plan, &a->problem->answer->problem, way->engine);
    if (way->chunk != way->usual_chunk) {
        roof_text_printf(out, " --chunk %" PRId64, way->chunk);
    }
    roof_text_put(out, " --rate ");
    roof_text_number(out, a->found->way[0].rate);
    if (!a->problem->requests_given && a->found->requests != a->problem->load->requests) {
        roof_text_printf(out, " --requests %" PRIu64, a->found->requests);
    }
    for (size_t i = 0; i < a->said_count; i++) {
        char name[ROOF_INPUT_NAME_SIZE];
        if (a->said[i].input != ROOF_INPUT_ROUTER || plan->dp > 1 || plan->prefill.copies > 1) {
            roof_text_printf(out, " %s ", roof_input_name(name, roof_input(a->said[i].input)));
            roof_text_shell_word(out, a->said[i].text);
        }
    }
    roof_text_put(out, "\n");
}

/* Says how near the closest plan comes if none keeps the limits. */
static void put_nearest(struct roof_text *out, const struct roof_rate_answer *a)
{
    const struct roof_rate_plan *const nearest = &a->found->nearest;
    struct roof_plan_row row;
    if (nearest->at.steps == 0) {
        put_without(out, a, "");
        return;
    }
    roof_plan_name(&row, &nearest->plan, 1, &a->problem->answer->problem);
    roof_text_put(out, "Nearest: ");
    roof_plan_describe_place(out, &nearest->plan, &a->problem->answer->problem);
    roof_text_printf(out, ", %s, KV cache %s\n  simulated:   ", row.formats,
                     roof_format(row.kv)->name);
    put_latencies(out, &nearest->at, a->problem->load->limit, BELOW, true);
    if (a->problem->answer->problem.hardware_count > 1 ||
        a->found->miss[nearest->plan.hardware].unlinked > 0) {
        put_without(out, a, "\n");
    }
}

void roof_rate_report_nearest(struct roof_text *out, const struct roof_rate_answer *answer)
{
    const struct roof_rate_plan *const nearest = &answer->found->nearest;
    struct roof_plan_row row;
    if (nearest->at.steps == 0) {
        return;
    }
    roof_plan_name(&row, &nearest->plan, 1, &answer->problem->answer->problem);
    roof_text_put(out, "the nearest plan is ");
    put_way(out, nearest, &row, &answer->problem->answer->problem, ", ");
    roof_text_put(out, ", with ");
    put_latencies(out, &nearest->at, answer->problem->load->limit, ", ", false);
    if (!out->failed) {
        out->data[--out->length] = '\0'; /* the newline */
    }
}

void roof_rate_report_text(struct roof_text *out, const struct roof_rate_answer *answer, size_t top)
{
    put_load(out, answer);
    if (answer->found->count == 0) {
        roof_text_put(out, "No deployment keeps these limits at this rate.\n");
        put_nearest(out, answer);
        roof_plan_put_collectives(out, &answer->problem->answer->problem, NULL);
        return;
    }
    put_best(out, answer);
    if (answer->trace == NULL) {
        roof_rate_others_text(out, answer);
    }
    roof_rate_trace_text(out, answer);
    put_ways(out, answer, top);
    roof_report_accuracy_classes(out);
    put_command(out, answer);
}

/* --- for programs -------------------------------------------------------------------------- */

static void put_request(struct roof_text *out, const struct roof_rate_answer *a)
{
    const struct roof_simulation_inputs *const load = a->problem->load;
    roof_text_put(out, "{\"model\": ");
    roof_json_quote(out, a->problem->answer->problem.model->id);
    roof_text_put(out, ", \"rate_per_s\": ");
    roof_text_number(out, load->arrivals->rate);
    roof_text_put(out, ", \"arrivals\": ");
    roof_json_quote(out, a->arrivals);
    roof_text_put(out, ", \"prompt\": ");
    roof_json_quote(out, a->prompt);
    roof_text_put(out, ", \"generate\": ");
    roof_json_quote(out, a->generate);
    roof_text_printf(out, ", \"requests\": %" PRIu64 ", \"seed\": %" PRIu64 "}", a->found->requests,
                     load->seed);
}

static void put_members(struct roof_text *out, struct roof_table *table,
                        const struct roof_rate_answer *a, const struct roof_rate_plan *way,
                        int rank)
{
    struct roof_rate_row row = {.way = way};
    roof_plan_name(&row.row, &way->plan, rank, &a->problem->answer->problem);
    roof_text_put(out, "{");
    roof_table_rate(table, out, &row);
}

static void put_without_json(struct roof_text *out, const struct roof_rate_answer *a)
{
    const struct roof_plan_problem *const problem = &a->problem->answer->problem;
    const char *separator = "\n";
    roof_text_put(out, ",\n\"rejected\": [");
    for (size_t h = 0; h < problem->hardware_count; h++) {
        struct roof_text why = ROOF_TEXT_INIT;
        if (!is_served(a->found, h)) {
            put_miss(&why, a, h);
            roof_text_printf(out, "%s{\"hardware\": ", separator);
            roof_json_quote(out, problem->hardware[h]->id);
            roof_text_put(out, ", \"reason\": ");
            roof_json_quote(out, why.length > 2 ? why.data + 2 : "no plan");
            roof_text_put(out, "}");
            separator = ",\n";
        }
        out->failed |= why.failed;
        roof_text_free(&why);
    }
    roof_text_put(out, "\n]");
}

void roof_rate_report_json(struct roof_text *out, const struct roof_rate_answer *answer, size_t top)
{
    const struct roof_rate_plans *const found = answer->found;
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_RATES, ROOF_OPERATOR_GEMM, "");
    roof_text_put(out, "{\n\"schema\": \"roofline/rates/1\",\n\"request\": ");
    put_request(out, answer);
    roof_text_put(out, ",\n\"candidates\": [");
    for (size_t i = 0; i < found->count && i < top; i++) {
        roof_text_put(out, i == 0 ? "\n" : ",\n");
        put_members(out, &table, answer, &found->way[i], (int)i + 1);
        roof_report_limits_json(out, &found->way[i].at, answer->problem->load->limit);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n]");
    if (found->count == 0 && found->nearest.at.steps > 0) {
        roof_text_put(out, ",\n\"nearest\": ");
        put_members(out, &table, answer, &found->nearest, 0);
        roof_report_limits_json(out, &found->nearest.at, answer->problem->load->limit);
        roof_text_put(out, "}");
    }
    put_without_json(out, answer);
    roof_text_put(out, ",\n\"rates\": [");
    for (size_t i = 0; i < found->others && answer->trace == NULL; i++) {
        roof_text_put(out, i == 0 ? "\n" : ",\n");
        put_members(out, &table, answer, &found->other[i], 0);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n]");
    if (found->count > 0) {
        roof_rate_trace_json(out, answer);
        struct roof_text notes = ROOF_TEXT_INIT;
        roof_plan_put_notes(&notes, &found->way[0].plan, &answer->problem->answer->problem);
        put_unlinked(&notes, answer, "\n");
        roof_plan_put_unpriced(&notes, "\n", &answer->problem->answer->problem);
        roof_report_note_list(out, ",\n", &notes);
        roof_text_free(&notes);
    }
    roof_text_printf(out, ",\n\"ways\": %zu,\n\"simulated\": %zu,\n\"serving\": %zu\n}\n",
                     found->ways, found->simulated, found->count);
}

void roof_rate_report_markdown(struct roof_text *out, const struct roof_rate_answer *answer,
                               size_t top)
{
    const struct roof_plan_problem *const problem = &answer->problem->answer->problem;
    struct roof_text report = ROOF_TEXT_INIT;
    struct roof_text best = ROOF_TEXT_INIT;
    struct roof_plan_row row;
    roof_text_put(out, "# Ways to serve ");
    roof_text_markdown(out, problem->model->id);
    roof_text_put(out, "\n\n");
    if (answer->found->count > 0) {
        const struct roof_rate_plan *const way = &answer->found->way[0];
        roof_plan_name(&row, &way->plan, 1, problem);
        put_way(&best, way, &row, problem, ", ");
        if (!isnan(way->price)) {
            char price[ROOF_QUANTITY_SIZE];
            roof_text_printf(&best, ", cost %s per hour", roof_format_short(price, way->price));
        }
        roof_text_put(out, "**Use ");
        roof_text_markdown(out, best.failed ? "" : best.data);
        roof_text_put(out, ".**\n\n");
    }
    out->failed |= best.failed;
    roof_text_free(&best);
    struct roof_text legend = ROOF_TEXT_INIT; /* the whole report has it */
    roof_rate_put_table(out, ROOF_OUTPUT_MARKDOWN, answer, top, &legend);
    roof_text_free(&legend);
    roof_rate_report_text(&report, answer, top);
    roof_markdown_put_report(out, "The whole report: the best way to serve and its simulated times",
                             &report);
}
