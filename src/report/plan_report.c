// SPDX-License-Identifier: MIT
#include "report/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "predict/unexpected.h"
#include "report/markdown.h"
#include "report/plan_parts.h"
#include "report/published_report.h"
#include "report/rows.h"
#include "report/speedup_report.h"

/* --- for people ---------------------------------------------------------------------------- */

/* Each objective compares plans by one of their values. */
static const struct {
    const char *name;
    size_t offset;
} measures[] = {[ROOF_PLAN_THROUGHPUT] = {"tokens/s per device",
                                          offsetof(struct roof_plan, tokens_per_s_per_device)},
                [ROOF_PLAN_LATENCY] = {"time per token", offsetof(struct roof_plan, tpot_s)},
                [ROOF_PLAN_COST] = {"cost", offsetof(struct roof_plan, cost)},
                [ROOF_PLAN_ENERGY] = {"energy", offsetof(struct roof_plan, joule)}};

/* Compares a plan by the objective: "0.45x  4 x h100-sxm ...". */
static void put_against(struct roof_text *out, const char *label, const struct roof_plan *plan,
                        const struct roof_plan *best, const struct roof_plan_problem *problem)
{
    const size_t offset = measures[problem->objective].offset;
    const double value = *(const double *)(const void *)((const char *)plan + offset);
    const double of = *(const double *)(const void *)((const char *)best + offset);
    const size_t from = out->length;
    char ratio[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  %-22s %7sx  ", label,
                     isnan(value / of) ? "?" : roof_format_short(ratio, value / of));
    roof_plan_describe(out, plan, problem);
    roof_text_put(out, "\n");
    roof_text_fold(out, from, 35);
}

/* Tells whether any of the engines that may be used runs any format on a device. */
static bool any_engine(const struct roof_plan_problem *problem, size_t hardware)
{
    bool any = false;
    for (size_t i = 0; i < problem->engines->servings && !any; i++) {
        any = roof_plan_engines(problem, i, hardware) != 0;
    }
    return any;
}

/* Says that no known engine runs on a device, and which formats have plans all the same. */
static void put_unreached(struct roof_text *out, const struct roof_plan_problem *problem,
                          const struct roof_hardware *hardware)
{
    const bool bf16 = hardware->compute[ROOF_PRECISION_BF16].native;
    const bool fp16 = hardware->compute[ROOF_PRECISION_FP16].native;
    roof_text_put(out, ": no engine known here runs on it");
    if (problem->by_measured && problem->base.offload == ROOF_OFFLOAD_NONE && (bf16 || fp16)) {
        roof_text_printf(out, "; %s--formats %s ranks it by bounds",
                         problem->serving == NULL ? "" : "it has no units for these formats, but ",
                         bf16 ? "bf16" : "fp16");
    }
}

/* Writes why a device has no plan, where that is not said of all candidates ("Left out"). */
static void put_no_engine(struct roof_text *out, const struct roof_plan_problem *problem,
                          size_t hardware)
{
    const struct roof_hardware *const h = problem->hardware[hardware];
    if (any_engine(problem, hardware)) {
        return;
    }
    if (*h->architecture == '\0') {
        roof_text_printf(out, ": it has no peak for a format that engines run, and names no \"%s\"",
                         "architecture");
    } else if (roof_engines_reach(problem->engines, h)) {
        roof_text_put(out, ": none of the engines that may be used runs on it");
    } else {
        put_unreached(out, problem, h);
    }
}

/* Writes the best plan of the other kind. */
static void put_other_kind(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        if (p->basis == best->basis && (p->prefill.copies > 0) != (best->prefill.copies > 0)) {
            put_against(out, p->prefill.copies > 0 ? "disaggregated" : "aggregated", p, best,
                        problem);
            return;
        }
    }
}

/* Writes a plan that is better by figures alone: its checkpoint has to be made, that of the best
 * one is published. */
static void put_better(struct roof_text *out, const struct roof_plans *plans,
                       const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    const double score = roof_plan_score(best, problem->objective);
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        if (p->basis == best->basis && roof_plan_score(p, problem->objective) < score) {
            put_against(out, "checkpoint to be made", p, best, problem);
            return;
        }
    }
}

/* Writes what less accuracy loss, or less waiting, would cost: the best plans that have it. */
static void put_alternatives(struct roof_text *out, const struct roof_plans *plans,
                             const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    enum roof_accuracy_class loss = best->loss;
    char label[64];
    size_t fastest = 0;
    roof_text_printf(
        out, "\nWhat it gives up (%s of other plans, against this one)\n  %-22s typically %s\n",
        measures[problem->objective].name, "accuracy", roof_accuracy_name(best->loss));
    put_better(out, plans, problem);
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        const bool same = p->basis == best->basis;
        fastest = same && p->tpot_s < plans->plan[fastest].tpot_s ? i : fastest;
        if (same && p->loss < loss) { /* they are in order: the first of its class is the best */
            loss = p->loss;
            (void)snprintf(label, sizeof label, "accuracy loss %s", roof_accuracy_name(loss));
            put_against(out, label, p, best, problem);
        }
    }
    if (plans->beyond.batch > 0) {
        (void)snprintf(label, sizeof label, "accuracy loss %s",
                       roof_accuracy_name(plans->beyond.loss));
        put_against(out, label, &plans->beyond, best, problem);
    }
    put_other_kind(out, plans, problem);
    if (fastest > 0) {
        char time[ROOF_QUANTITY_SIZE];
        (void)snprintf(
            label, sizeof label, "%s per token",
            roof_format_quantity(time, plans->plan[fastest].tpot_s, ROOF_UNIT_MILLISECONDS));
        put_against(out, label, &plans->plan[fastest], best, problem);
    }
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const size_t i = roof_plan_first_on(plans, h);
        if (i == plans->count) {
            roof_text_printf(out, "  %-22s no plan", problem->hardware[h]->id);
            put_no_engine(out, problem, h);
            roof_text_put(out, "\n");
        } else if (plans->plan[i].basis != best->basis) {
            roof_text_printf(out, "  %-22s rank %zu, by lower bounds alone\n",
                             problem->hardware[h]->id, i + 1);
        } else if (h != best->hardware) {
            put_against(out, problem->hardware[h]->id, &plans->plan[i], best, problem);
        }
    }
}

/* Writes which formats, on which device, are best from which batch on. */
static void put_by_batch(struct roof_text *out, const struct roof_plans *plans,
                         const struct roof_plan_problem *problem)
{
    const struct roof_plan *last = NULL;
    for (size_t b = 0; b < problem->batches; b++) {
        size_t i = 0;
        while (i < plans->count && plans->plan[i].batch != problem->batch[b]) {
            i++;
        }
        const struct roof_plan *const p = i == plans->count ? NULL : &plans->plan[i];
        if (p != NULL && p->basis == plans->plan[0].basis &&
            (last == NULL || p->serving != last->serving || p->hardware != last->hardware)) {
            struct roof_plan_row row;
            roof_plan_name(&row, p, 0, problem);
            roof_text_printf(out, "%s  from %-6" PRId64 " %s on %s, KV cache %s\n",
                             last == NULL ? "\nBest by batch\n" : "", p->batch, row.formats,
                             row.hardware, roof_format(row.kv)->name);
            last = p;
        }
    }
}

/* Describes a candidate that is no plan. */
static void put_candidate(struct roof_text *out, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem)
{
    roof_plan_describe(out, plan, problem);
    roof_text_put(out, plan->basis == ROOF_PLAN_BOUND ? " (its lower bound)" : "");
}

/* Writes a value that a limit looks at, in the unit that people use. */
static void put_limit(struct roof_text *out, enum roof_plan_limit limit, double value)
{
    char text[ROOF_QUANTITY_SIZE];
    if (isnan(value)) {
        roof_text_put(out, "an unknown value");
        return;
    }
    switch (limit) {
    case ROOF_PLAN_LIMIT_TTFT:
    case ROOF_PLAN_LIMIT_TPOT:
        roof_text_put(out, roof_format_quantity(text, value, ROOF_UNIT_MILLISECONDS));
        break;
    case ROOF_PLAN_LIMIT_POWER:
        roof_text_printf(out, "%s W", roof_format_short(text, value));
        break;
    case ROOF_PLAN_LIMIT_TOKENS_PER_S:
    case ROOF_PLAN_LIMIT_CONCURRENCY:
    case ROOF_PLAN_LIMIT_COST:
    case ROOF_PLAN_LIMIT_COUNT:
        roof_text_put(out, roof_format_short(text, value));
        break;
    }
}

#define REASON_SIZE 128

/* Writes why candidates are no plans; returns out. Published weights have their format named: "not
 * smaller than the published checkpoint (fp8_block128)". */
static const char *reason_of(char out[REASON_SIZE], enum roof_plan_rejection reason,
                             const struct roof_plans *plans,
                             const struct roof_plan_problem *problem)
{
    const struct roof_engines *const engines = problem->engines;
    const char *published = NULL;
    for (size_t i = 0; i < engines->servings && reason == ROOF_REJECTED_WIDER; i++) {
        if (plans->model[i] != NULL && roof_serving_published(&engines->serving[i])) {
            published = roof_plan_of_gguf(problem) ? "a GGUF file"
                                                   : roof_format(engines->serving[i].weights)->name;
        }
    }
    (void)snprintf(out, REASON_SIZE, published == NULL ? "%s" : "%s (%s)",
                   roof_plan_rejection_name(reason), published);
    return out;
}

/* Tells whether a candidate is the one that serves the most requests, of which put_changes tells.
 */
static bool is_told(const struct roof_plan *plan, const struct roof_plan_answer *answer)
{
    const struct roof_plan *const most = &answer->shortage.most;
    return answer->shortage.served > 0 && plan->hardware == most->hardware &&
           plan->serving == most->serving && plan->devices == most->devices &&
           plan->batch == most->batch && plan->tpot_s == most->tpot_s;
}

/* Tells whether all candidates that miss a limit miss the same one, and no other. */
static bool one_limit(const struct roof_plans *plans)
{
    bool one = false;
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        one = one || plans->missed[i] == plans->rejected[ROOF_REJECTED_LIMIT];
    }
    return one;
}

static void put_rejected(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan_problem *const problem = &answer->problem;
    char reason[REASON_SIZE];
    bool begun = false;
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        const bool told = i == ROOF_REJECTED_LIMIT && one_limit(plans);
        if (plans->rejected[i] > 0 && !told) {
            roof_text_printf(out, "%s  %8zu  %s\n", begun ? "" : "\nLeft out\n", plans->rejected[i],
                             reason_of(reason, (enum roof_plan_rejection)i, plans, problem));
            begun = true;
        }
    }
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        if (plans->missed[i] > 0) {
            const bool all = one_limit(plans);
            roof_text_printf(out, "%s  %8zu  %s the %s%s", begun ? "" : "\nLeft out\n",
                             plans->missed[i], all ? "misses" : "of these miss",
                             roof_plan_limit_name(limit), all ? "" : " alone");
            begun = true;
            if (is_told(&plans->nearest[i], answer)) {
                roof_text_put(out, "\n");
                continue;
            }
            roof_text_put(out, "; nearest, with ");
            put_limit(out, limit, plans->nearest[i].value[i]);
            roof_text_put(out, " for ");
            put_limit(out, limit, problem->limit[i]);
            roof_text_put(out, ":\n");
            const size_t line = out->length;
            roof_text_put(out, "            ");
            put_candidate(out, &plans->nearest[i], problem);
            roof_text_fold(out, line, 14);
            roof_text_put(out, "\n");
        }
    }
}

/* Returns the engines that run formats that may be used on one of the devices, but may not be used
 * there themselves. */
static unsigned engines_left_out(const struct roof_plan_problem *problem)
{
    unsigned run = 0;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const struct roof_hardware *const device = problem->hardware[h];
        const bool chosen = problem->by_measured ? roof_expects_times(device) : problem->by != 0;
        for (size_t i = 0; i < problem->engines->servings && chosen; i++) {
            const bool usable = problem->serving == NULL || problem->serving[i];
            run |= usable ? roof_engines_run(problem->engines, i, device) : 0;
        }
    }
    return run & ~problem->by;
}

/* Tells whether a plan must keep other limits than that of requests in flight. */
static bool more_limits(const struct roof_plan_problem *problem)
{
    int i = 0;
    while (i < ROOF_PLAN_LIMIT_COUNT &&
           (i == ROOF_PLAN_LIMIT_CONCURRENCY || isnan(problem->limit[i]))) {
        i++;
    }
    return i < ROOF_PLAN_LIMIT_COUNT;
}

/* Adds a plan to a line and ends it, with the line folded. */
static void end_with_plan(struct roof_text *out, size_t line, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem)
{
    roof_plan_describe(out, plan, problem);
    roof_text_fold(out, line, 6);
    roof_text_put(out, "\n");
}

/* Writes with which changes a plan keeps all limits. */
static void put_kept(struct roof_text *out, const struct roof_plan_shortage *s,
                     const struct roof_plan_problem *problem)
{
    for (size_t i = 0; i < s->changes; i++) {
        const size_t line = out->length;
        roof_text_printf(out, "%s with --%s: ", i == 0 ? "All limits would be kept" : "  or",
                         s->change[i].option);
        end_with_plan(out, line, &s->change[i].plan, problem);
    }
    roof_text_put(out, s->changes == 0 ? "" : "\n");
}

/* Writes how many requests fit where too few do, and which changes of the question would help. */
static void put_changes(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const struct roof_plan_shortage *const s = &answer->shortage;
    if (s->wanted == 0) {
        put_kept(out, s, problem);
        return;
    }
    if (s->served == 0 && answer->plans.rejected[ROOF_REJECTED_UNKNOWN] > 0) {
        roof_text_put(out,
                      "Operators of the model have no expected time here: --by ideal ranks plans "
                      "by lower bounds.\n\n");
        return;
    }
    if (s->served == 0) {
        roof_text_put(out, "Not one request fits.\n");
    } else {
        const size_t line = out->length;
        roof_text_printf(out, "%" PRId64 " requests %s%s, %" PRId64 " do not: ", s->served,
                         !s->each && more_limits(problem) ? "keep the limits" : "fit",
                         s->each ? " in a copy" : "", s->wanted);
        end_with_plan(out, line, &s->most, problem);
    }
    for (size_t i = 0; i < s->changes; i++) {
        const size_t line = out->length;
        roof_text_printf(out, "  %" PRId64 " would with --%s: ", s->wanted, s->change[i].option);
        end_with_plan(out, line, &s->change[i].plan, problem);
    }
    roof_text_put(out, s->changes == 0 ? "  No small change of the question helps.\n\n" : "\n");
}

/* Says how to give the memory or the link of a device that has none, where plans need one. */
static void put_lacking(struct roof_text *out, const struct roof_plan_answer *answer,
                        const struct roof_hardware *hardware)
{
    struct roof_link link;
    if (answer->plans.rejected[ROOF_REJECTED_MEMORY] > 0 &&
        isnan(hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY].value) &&
        isnan(hardware->figure[ROOF_FIGURE_MEMORY_NOMINAL].value)) {
        roof_text_printf(out, "The memory of %s is unknown: --set memory_gb=VALUE\n", hardware->id);
    }
    if (answer->plans.rejected[ROOF_REJECTED_SPLIT] > 0 &&
        roof_hardware_link(&link, hardware, 2, 2, NULL) != ROOF_OK) {
        roof_text_printf(out,
                         "The link of %s is unknown, and splits need it: --set link_gb_s=VALUE\n",
                         hardware->id);
    }
}

/* Says which formats the published checkpoint has, where those that are asked for are not smaller.
 */
static void put_published(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_engines *const engines = answer->problem.engines;
    if (answer->plans.rejected[ROOF_REJECTED_WIDER] == 0 || !answer->formats_named) {
        return;
    }
    for (size_t i = 0; i < engines->servings; i++) {
        if (answer->plans.model[i] != NULL && roof_serving_published(&engines->serving[i]) &&
            roof_serving_suits(&engines->serving[i], answer->problem.model)) {
            roof_text_printf(out, "The published checkpoint is --formats %s\n",
                             engines->serving[i].id);
            return;
        }
    }
}

/* Tells whether memory is what a plan on one device lacks: candidates did not fit, or the model
 * does not in 4 bits, which are the fewest that engines serve. */
static bool lacks_memory(const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const struct roof_plan_shortage *const s = &answer->shortage;
    double room = 0;
    double parameters = 0;
    double active = 0;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const struct roof_figure *const figure = problem->hardware[h]->figure;
        room = fmax(room, figure[ROOF_FIGURE_MEMORY_NOMINAL].value); /* not of what is unknown */
        room = fmax(room, figure[ROOF_FIGURE_MEMORY_CAPACITY].value);
    }
    return (s->wanted > 0 && s->served == 0 && answer->plans.rejected[ROOF_REJECTED_MEMORY] > 0) ||
           (roof_model_parameters(&parameters, &active, problem->model, NULL) == ROOF_OK &&
            parameters / 2 > room && room > 0);
}

/* Names the way out of one device whose memory is too small, where an engine knows it. */
static void put_host(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const struct roof_engines *const engines = problem->engines;
    const bool alone = problem->devices[0] == 1 && problem->base.offload == ROOF_OFFLOAD_NONE;
    if (!alone || !lacks_memory(answer)) {
        return;
    }
    for (size_t i = 0; i < engines->count; i++) {
        if ((engines->offload >> i & 1U) != 0) {
            roof_text_printf(
                out,
                "With one device the host may compute what does not fit:\n  --engine %s "
                "--offload %s:fit --host-bandwidth GB/S --host-memory GB\n",
                engines->engine[i].id, problem->model->experts > 0 ? "experts" : "layers");
            return;
        }
    }
}

/* Writes, when no plan is left, how near the closest candidate comes to all limits, and what was
 * not measured. */
static void put_nothing(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan_problem *const problem = &answer->problem;
    roof_text_put(out, "Nothing satisfies the constraints.\n");
    put_changes(out, answer);
    if (isfinite(plans->closest_excess) && !is_told(&plans->closest, answer)) {
        const char *separator = "Nearest to all limits: ";
        roof_text_put(out, separator);
        put_candidate(out, &plans->closest, problem);
        separator = "\n  with ";
        for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
            if (!isnan(problem->limit[i])) {
                const enum roof_plan_limit limit = (enum roof_plan_limit)i;
                roof_text_printf(out, "%s%s ", separator, roof_plan_limit_name(limit));
                put_limit(out, limit, plans->closest.value[i]);
                roof_text_put(out, " for ");
                put_limit(out, limit, problem->limit[i]);
                separator = ",\n       ";
            }
        }
        roof_text_put(out, "\n");
    }
    for (size_t h = 0; h < problem->hardware_count; h++) {
        put_lacking(out, answer, problem->hardware[h]);
        if (!any_engine(problem, h)) {
            const size_t line = out->length;
            roof_text_printf(out, "%s has no plan", problem->hardware[h]->id);
            put_no_engine(out, problem, h);
            roof_text_fold(out, line, 4);
            roof_text_put(out, "\n");
        }
    }
    put_published(out, answer);
    size_t candidates = 0;
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        candidates += plans->rejected[i];
    }
    if (candidates == 0) {
        roof_text_put(out, "None of the formats that were asked for is one of this model.\n");
    }
    put_host(out, answer);
    const unsigned left_out = engines_left_out(problem);
    const char *separator = "Engines left out, which --engine would take: ";
    for (size_t i = 0; i < problem->engines->count; i++) {
        if ((left_out >> i & 1U) != 0) {
            roof_text_printf(out, "%s%s", separator, problem->engines->engine[i].id);
            separator = ", ";
        }
    }
    roof_text_put(out, *separator == ',' ? "\n" : "");
}

void roof_plan_report_text(struct roof_text *out, const struct roof_plan_answer *answer, size_t top,
                           const struct roof_kept_columns *kept)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan_problem *const problem = &answer->problem;
    roof_text_printf(out, "%s", problem->model->id);
    if (problem->hardware[0]->by_default) {
        roof_text_printf(out, " on %s (default)", problem->hardware[0]->id);
    }
    if (problem->base.generate > 0) {
        roof_text_printf(out, ": prompts of %" PRId64 " tokens, %" PRId64 " generated",
                         problem->base.prompt, problem->base.generate);
    } else {
        roof_text_printf(out, ": a context of %" PRId64 " tokens", problem->base.context);
    }
    roof_text_put(out, "\n\n");
    if (plans->count == 0) {
        put_nothing(out, answer);
    } else {
        roof_plan_put_best(out, &plans->plan[0], &answer->asked, problem);
        if (answer->explained) {
            roof_plan_put_why(out, &answer->speedup);
        }
        roof_plan_put_devices(out, plans, problem, kept);
        put_alternatives(out, plans, problem);
        put_by_batch(out, plans, problem);
        roof_plan_put_tables(out, plans, problem, top, kept);
    }
    put_rejected(out, answer);
    if (plans->count > 0) {
        roof_plan_put_commands(out, &plans->plan[0], problem);
        roof_text_put(out,
                      "\nAccuracy classes are typical losses of quantised weights and "
                      "activations, not a promise\nfor the model at hand: roofline list precisions "
                      "ID\n");
    }
}

/* --- for programs -------------------------------------------------------------------------- */

static void put_object(struct roof_text *out, const struct roof_plan *plan, int rank,
                       const struct roof_plan_problem *problem)
{
    struct roof_table table;
    struct roof_plan_row row;
    roof_table_open_members(&table, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM, "");
    roof_plan_name(&row, plan, rank, problem);
    roof_text_put(out, "{");
    roof_table_plan(&table, out, &row);
    roof_text_put(out, "}");
}

/* Writes what the question says of all plans: sizes of the split, prefix cache, drafts, classes. */
static void put_shape(struct roof_text *out, const struct roof_plan_problem *problem)
{
    const struct roof_scenario *const s = &problem->base;
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"dp", s->dp},
                 {"tp", s->tp},
                 {"pp", s->pp},
                 {"ep", s->common.shape.ep},
                 {"attention_dp", s->attention_dp},
                 {"moe_tp", s->moe_tp},
                 {"moe_ep", s->moe_ep},
                 {"draft_tokens", s->draft_tokens}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (sizes[i].value > 0) {
            roof_text_printf(out, ", \"%s\": %" PRId64, sizes[i].key, sizes[i].value);
        }
    }
    if (s->draft_tokens > 0) {
        roof_text_put(out, ", \"acceptance\": ");
        roof_text_number(out, s->acceptance);
    }
    roof_plan_put_prompts_json(out, problem);
    const char *separator = ", \"class\": [";
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if (s->weight[w] != ROOF_PRECISION_AUTO) {
            roof_text_printf(out, "%s\"%s=%s\"", separator, roof_weight_name((enum roof_weight)w),
                             roof_format(s->weight[w])->name);
            separator = ", ";
        }
    }
    roof_text_put(out, separator[2] == '\0' ? "]" : "");
}

/* Writes the inputs that are no lists: {"model": "...", "prompt": 8000, ...}. */
static void put_request(struct roof_text *out, const struct roof_plan_problem *problem)
{
    static const char *const keys[ROOF_PLAN_LIMIT_COUNT] = {
        [ROOF_PLAN_LIMIT_TTFT] = "max_ttft_ms",
        [ROOF_PLAN_LIMIT_TPOT] = "max_tpot_ms",
        [ROOF_PLAN_LIMIT_TOKENS_PER_S] = "min_tokens_per_s",
        [ROOF_PLAN_LIMIT_CONCURRENCY] = "concurrency",
        [ROOF_PLAN_LIMIT_COST] = "max_cost",
        [ROOF_PLAN_LIMIT_POWER] = "max_power_w"};
    const struct roof_scenario *const s = &problem->base;
    roof_text_put(out, "{\"model\": ");
    roof_json_quote(out, problem->model->id);
    if (s->generate > 0) {
        roof_text_printf(
            out, ", \"prompt\": %" PRId64 ", \"generate\": %" PRId64 ", \"chunk\": %" PRId64,
            s->prompt, s->generate, s->chunk);
    } else {
        roof_text_printf(out, ", \"context\": %" PRId64, s->context);
    }
    roof_text_put(out, ", \"reserve\": ");
    roof_text_number(out, s->reserve);
    put_shape(out, problem);
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const bool time = i == ROOF_PLAN_LIMIT_TTFT || i == ROOF_PLAN_LIMIT_TPOT;
        if (!isnan(problem->limit[i])) {
            roof_text_printf(out, ", \"%s\": ", keys[i]);
            roof_text_number(out, time ? roof_given(problem->limit[i], ROOF_UNIT_MILLISECONDS)
                                       : problem->limit[i]);
        }
    }
    roof_text_put(out, "}");
}

/* Writes the members "from", "to", "prefill": {...}, "decode": {...} and the batches. */
static void put_why_members(struct roof_text *out, const struct roof_plan_speedup *speedup)
{
    const struct roof_speedup *const phase[] = {&speedup->prefill, &speedup->decode};
    roof_text_put(out, "\"from\": ");
    roof_json_quote(out, speedup->from_name);
    roof_text_put(out, ", \"to\": ");
    roof_json_quote(out, speedup->to_name);
    const enum roof_fit fits[] = {speedup->from_fits, speedup->to_fits};
    for (int i = 0; i < 2; i++) {
        if (fits[i] != ROOF_FIT_UNKNOWN) {
            roof_text_printf(out, ", \"%s_fits\": %s", i == 0 ? "from" : "to",
                             fits[i] == ROOF_FIT_YES ? "true" : "false");
        }
    }
    for (int i = 0; i < 2; i++) {
        roof_text_printf(out, ",\n\"%s\": ", i == 0 ? "prefill" : "decode");
        roof_speedup_report_json(out, phase[i]);
    }
    roof_text_put(out, ",\n\"compute_bound_batch\": [");
    const char *separator = "";
    for (size_t i = 0; i < speedup->decode.count; i++) {
        if (!isnan(speedup->compute_bound_batch[i])) {
            roof_text_printf(out, "%s{\"name\": \"%s\", \"count\": ", separator,
                             speedup->decode.row[i].name);
            roof_text_number(out, speedup->decode.row[i].count);
            roof_text_put(out, ", \"from\": ");
            roof_text_number(out, speedup->compute_bound_batch[i]);
            roof_text_put(out, "}");
            separator = ", ";
        }
    }
    roof_text_put(out, "]");
}

/* Writes what fits where too little does, and the changes with which all of it would. */
static void put_shortage(struct roof_text *out, const struct roof_plan_shortage *shortage,
                         const struct roof_plan_problem *problem)
{
    if (shortage->served > 0) {
        roof_text_put(out, ",\n  \"most\": ");
        put_object(out, &shortage->most, 0, problem);
    }
    for (size_t i = 0; i < shortage->changes; i++) {
        roof_text_put(out, i == 0 ? ",\n  \"changes\": [\n    " : ",\n    ");
        roof_text_put(out, "{\"option\": ");
        roof_json_quote(out, shortage->change[i].option);
        roof_text_put(out, ", \"plan\": ");
        put_object(out, &shortage->change[i].plan, 0, problem);
        roof_text_put(out, i + 1 == shortage->changes ? "}]" : "}");
    }
}

void roof_plan_report_json(struct roof_text *out, const struct roof_plan_answer *answer, size_t top)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan_problem *const problem = &answer->problem;
    roof_text_put(out, "{\"schema\": \"roofline/plans/1\",\n  \"request\": ");
    put_request(out, problem);
    roof_report_published_devices(out, problem->hardware, problem->product,
                                  problem->hardware_count);
    roof_text_put(out, ",\n  \"candidates\": [");
    for (size_t i = 0; i < plans->count && i < top; i++) {
        roof_text_put(out, i == 0 ? "\n    " : ",\n    ");
        put_object(out, &plans->plan[i], (int)i + 1, problem);
    }
    roof_text_printf(out, "],\n  \"count\": %zu,\n  \"rejected\": [", plans->count);
    const char *separator = "\n    ";
    char reason[REASON_SIZE];
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        if (plans->rejected[i] > 0) {
            roof_text_printf(out, "%s{\"reason\": ", separator);
            roof_json_quote(out, reason_of(reason, (enum roof_plan_rejection)i, plans, problem));
            roof_text_printf(out, ", \"count\": %zu}", plans->rejected[i]);
            separator = ",\n    ";
        }
    }
    roof_text_put(out, "],\n  \"missed\": [");
    separator = "\n    ";
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        if (plans->missed[i] > 0) {
            roof_text_printf(out, "%s{\"limit\": ", separator);
            roof_json_quote(out, roof_plan_limit_name((enum roof_plan_limit)i));
            roof_text_printf(out, ", \"count\": %zu, \"nearest\": ", plans->missed[i]);
            put_object(out, &plans->nearest[i], 0, problem);
            roof_text_put(out, "}");
            separator = ",\n    ";
        }
    }
    roof_text_put(out, "]");
    if (plans->count == 0 && isfinite(plans->closest_excess)) {
        roof_text_put(out, ",\n  \"closest\": ");
        put_object(out, &plans->closest, 0, problem);
    }
    put_shortage(out, &answer->shortage, problem);
    if (answer->asked.batch > 0) {
        roof_text_put(out, ",\n  \"asked\": ");
        put_object(out, &answer->asked, 0, problem);
    }
    if (plans->beyond.batch > 0) {
        roof_text_put(out, ",\n  \"beyond\": ");
        put_object(out, &plans->beyond, 0, problem);
    }
    if (answer->explained) {
        roof_text_put(out, ",\n  \"why\": {");
        put_why_members(out, &answer->speedup);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n}\n");
}

void roof_plan_report_markdown(struct roof_text *out, const struct roof_plan_answer *answer,
                               size_t top, const struct roof_kept_columns *kept)
{
    struct roof_text report = ROOF_TEXT_INIT;
    roof_text_put(out, "# Ways to serve ");
    roof_text_markdown(out, answer->problem.model->id);
    roof_text_put(out, "\n");
    roof_plan_put_markdown(out, &answer->plans, &answer->problem, top, kept);
    roof_plan_report_text(&report, answer, top, kept);
    roof_markdown_put_report(
        out, "The whole report: the best plan, why it is best, and what is left out", &report);
}

/* --- one change ---------------------------------------------------------------------------- */

void roof_plan_report_why_text(struct roof_text *out, const struct roof_plan_speedup *speedup,
                               const struct roof_plan *best,
                               const struct roof_plan_problem *problem, size_t top)
{
    const char *const fits[] = {speedup->from_fits == ROOF_FIT_NO ? speedup->from_name : NULL,
                                speedup->to_fits == ROOF_FIT_NO ? speedup->to_name : NULL};
    const size_t from = out->length;
    roof_text_printf(out, "%s, the split and batch of the best plan of both: ", problem->model->id);
    roof_plan_describe(out, best, problem);
    roof_text_put(out, "\n");
    roof_text_fold(out, from, 4);
    for (int i = 0; i < 2; i++) {
        if (fits[i] != NULL) {
            roof_text_printf(out, "It does not fit with %s.\n", fits[i]);
        }
    }
    roof_text_put(out, "\nOne decode step, ");
    roof_speedup_report_text(out, &speedup->decode, top);
    roof_text_put(out, "\nPrefill of one prompt, ");
    roof_speedup_report_text(out, &speedup->prefill, top);
}

void roof_plan_report_why_json(struct roof_text *out, const struct roof_plan_speedup *speedup,
                               const struct roof_plan *best,
                               const struct roof_plan_problem *problem)
{
    roof_text_put(out, "{\"schema\": \"roofline/plan-speedup/1\",\n\"plan\": ");
    put_object(out, best, 1, problem);
    roof_text_put(out, ",\n");
    put_why_members(out, speedup);
    roof_text_put(out, "\n}\n");
}
