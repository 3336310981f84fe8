// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "decide/plan_verdict.h"
#include "predict/power.h"
#include "predict/unexpected.h"
#include "report/model_report.h"
#include "report/plan_parts.h"
#include "report/simulation_parts.h"
#include "report/simulation_report.h"

bool roof_plan_any_engine(const struct roof_plan_problem *problem, size_t hardware)
{
    bool any = false;
    for (size_t i = 0; i < problem->engines->servings && !any; i++) {
        any = roof_plan_engines(problem, i, hardware) != 0;
    }
    return any;
}

/* Says that no known engine runs on a device, and which formats have plans anyway. */
static void put_unreached(struct roof_text *out, const struct roof_plan_problem *problem,
                          const struct roof_hardware *hardware)
{
    const bool bf16 = hardware->compute[ROOF_PRECISION_BF16].native;
    const bool fp16 = hardware->compute[ROOF_PRECISION_FP16].native;
    roof_text_put(out, ": no known engine runs on it");
    if (problem->by_measured && problem->base.offload == ROOF_OFFLOAD_NONE && (bf16 || fp16)) {
        roof_text_printf(out, "; %s--formats %s ranks it%s",
                         problem->serving == NULL ? "" : "it has no units for these formats, but ",
                         bf16 ? "bf16" : "fp16",
                         roof_expects_times(hardware) ? "" : " by lower bounds");
    }
}

void roof_plan_put_no_engine(struct roof_text *out, const struct roof_plan_problem *problem,
                             size_t hardware)
{
    const struct roof_hardware *const h = problem->hardware[hardware];
    if (roof_plan_any_engine(problem, hardware)) {
        return;
    }
    if (*h->architecture == '\0') {
        roof_text_printf(out, ": its file has no peak for a format that engines run, and no \"%s\"",
                         "architecture");
    } else if (roof_engines_reach(problem->engines, ~0U, h)) {
        roof_text_put(out, ": none of the engines considered runs on it");
    } else {
        put_unreached(out, problem, h);
    }
}

/* Describes a rejected candidate. */
static void put_candidate(struct roof_text *out, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem)
{
    roof_plan_describe(out, plan, problem);
    roof_text_put(out, plan->basis == ROOF_PLAN_BOUND ? " (its lower bound)" : "");
}

/* Returns the key of the link that is unknown on a device; NULL: none of those that plans may use.
 */
static const char *unknown_link(const struct roof_plan_problem *problem,
                                const struct roof_hardware *hardware)
{
    const double most = (double)roof_plan_most_devices(problem);
    enum roof_figure_id missing = ROOF_FIGURE_COUNT;
    if (most > 1) {
        missing = roof_hardware_unlinked(hardware, 2);
        missing = missing == ROOF_FIGURE_COUNT ? roof_hardware_unlinked(hardware, most) : missing;
    }
    return missing == ROOF_FIGURE_COUNT ? NULL : roof_figure_key(missing)->key;
}

/* Names the first figure of a device that is unknown and that plans need; false: there is none. */
static bool name_figure(char out[ROOF_PLAN_REASON_SIZE], const struct roof_plan_problem *problem)
{
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const struct roof_hardware *const hardware = problem->hardware[h];
        const char *const key = unknown_link(problem, hardware);
        const bool several = problem->hardware_count > 1;
        if (key != NULL) {
            (void)snprintf(out, ROOF_PLAN_REASON_SIZE, "%s%s%s is unknown: --set %s=VALUE", key,
                           several ? " of " : "", several ? hardware->id : "", key);
            return true;
        }
        if (roof_power_capped(hardware)) {
            (void)snprintf(out, ROOF_PLAN_REASON_SIZE,
                           "the energies of %s, which a power cap needs, are unknown",
                           hardware->id);
            return true;
        }
    }
    return false;
}

const char *roof_plan_experts(const struct roof_model *model, const struct roof_serving *serving)
{
    const bool fp8 = serving->quantization != NULL && strcmp(serving->quantization, "fp8") == 0;
    return model->fp4_experts && fp8 ? ROOF_REPORT_FP4_EXPERTS : "";
}

/* Finds the combination of formats in which the model itself is published; NULL: there is none. */
static const struct roof_serving *own_serving(const struct roof_plans *plans,
                                              const struct roof_plan_problem *problem)
{
    const struct roof_engines *const engines = problem->engines;
    size_t i = 0;
    while (i < engines->servings &&
           (plans->model[i] == NULL || !roof_serving_own(&engines->serving[i], problem->model))) {
        i++;
    }
    return i < engines->servings ? &engines->serving[i] : NULL;
}

const char *roof_plan_reason(char out[ROOF_PLAN_REASON_SIZE], enum roof_plan_rejection reason,
                             const struct roof_plans *plans,
                             const struct roof_plan_problem *problem)
{
    const struct roof_serving *const own =
        reason == ROOF_REJECTED_WIDER ? own_serving(plans, problem) : NULL;
    const char *published = NULL;
    const char *experts = "";
    if (reason == ROOF_REJECTED_FIGURE && name_figure(out, problem)) {
        return out;
    }
    if (own != NULL) {
        const size_t number = (size_t)(own - problem->engines->serving);
        published = roof_plan_of_gguf(problem)
                        ? "a GGUF file"
                        : roof_format(roof_plan_weights(problem, number))->name;
        experts = roof_plan_experts(problem->model, own);
    }
    (void)snprintf(out, ROOF_PLAN_REASON_SIZE, published == NULL ? "%s" : "%s (%s%s)",
                   roof_plan_rejection_name(reason), published, experts);
    return out;
}

/* Tells whether a candidate is the one with the most requests, which put_changes reports. */
static bool is_told(const struct roof_plan *plan, const struct roof_plan_answer *answer)
{
    const struct roof_plan *const most = &answer->shortage.most;
    return answer->shortage.served > 0 && plan->hardware == most->hardware &&
           plan->serving == most->serving && plan->devices == most->devices &&
           plan->batch == most->batch && plan->tpot_s == most->tpot_s;
}

/* Tells whether all candidates that miss a limit miss the same single one. */
static bool one_limit(const struct roof_plans *plans)
{
    bool one = false;
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        one = one || plans->missed[i] == plans->rejected[ROOF_REJECTED_LIMIT];
    }
    return one;
}

/* Tells whether plans fail because the memory of a device is unknown. */
static bool lacks_figure(const struct roof_plan_answer *answer,
                         const struct roof_hardware *hardware)
{
    return answer->plans.rejected[ROOF_REJECTED_MEMORY] > 0 &&
           isnan(roof_memory_capacity(hardware));
}

/* Tells whether it is unknown what fits on any of the devices. */
static bool fits_unknown(const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    bool unknown = true;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        unknown = unknown && lacks_figure(answer, problem->hardware[h]);
    }
    return unknown;
}

/* Writes a value that misses its limit, a time with so many digits that it differs from it. */
static void put_missed(struct roof_text *out, enum roof_plan_limit limit, double value, double most)
{
    char time[ROOF_QUANTITY_SIZE];
    if ((limit == ROOF_PLAN_LIMIT_TTFT || limit == ROOF_PLAN_LIMIT_TPOT) && !isnan(value)) {
        roof_text_put(out, roof_simulation_missed(time, value, most));
    } else {
        roof_plan_put_value(out, limit, value);
    }
}

/* Begins the table after an empty line, unless it has begun. */
static void begin_left_out(struct roof_text *out, bool *begun)
{
    if (*begun) {
        return;
    }
    *begun = true;
    const bool apart = out->length > 1 && strcmp(out->data + out->length - 2, "\n\n") == 0;
    roof_text_put(out, apart ? "Plans left out\n" : "\nPlans left out\n");
}

void roof_plan_put_rejected(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan_problem *const problem = &answer->problem;
    char reason[ROOF_PLAN_REASON_SIZE];
    bool begun = false;
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        const bool told = i == ROOF_REJECTED_LIMIT && one_limit(plans);
        if (plans->rejected[i] > 0 && !told) {
            begin_left_out(out, &begun);
            roof_text_printf(
                out, "  %8zu  %s\n", plans->rejected[i],
                i == ROOF_REJECTED_MEMORY && fits_unknown(answer)
                    ? "the memory of the device is unknown"
                    : roof_plan_reason(reason, (enum roof_plan_rejection)i, plans, problem));
        }
    }
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        if (plans->missed[i] > 0) {
            const bool all = one_limit(plans);
            begin_left_out(out, &begun);
            roof_text_printf(out, "  %8zu  %s the limit on %s (", plans->missed[i],
                             all ? "misses" : "of these miss", roof_plan_limit_name(limit));
            roof_plan_put_asked(out, limit, problem);
            roof_text_put(out, all ? ")" : ") alone");
            if (is_told(&plans->nearest[i], answer)) {
                roof_text_put(out, "\n");
                continue;
            }
            roof_text_put(out, "; the nearest has ");
            put_missed(out, limit, plans->nearest[i].value[i], problem->limit[i]);
            roof_text_put(out, limit == ROOF_PLAN_LIMIT_CONCURRENCY &&
                                       plans->nearest[i].prefill.copies > 0
                                   ? " in prefill and decode:\n"
                                   : ":\n");
            const size_t line = out->length;
            roof_text_put(out, "            ");
            put_candidate(out, &plans->nearest[i], problem);
            roof_text_fold(out, line, 14);
            roof_text_put(out, "\n");
        }
    }
}

/* Returns the engines that run allowed formats on one of the devices, but were not considered. */
static unsigned engines_left_out(const struct roof_plan_problem *problem)
{
    unsigned run = 0;
    unsigned considered = problem->by;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const struct roof_hardware *const device = problem->hardware[h];
        const bool chosen = problem->by_measured ? roof_expects_times(device) : problem->by != 0;
        for (size_t i = 0; i < problem->engines->servings && chosen; i++) {
            const bool usable = (problem->serving == NULL || problem->serving[i]) &&
                                roof_plan_loss(problem, i) <= problem->max_loss;
            run |= usable ? roof_engines_serve(problem->engines, i, problem->model, device) : 0;
            considered |= usable ? roof_plan_engines(problem, i, h) : 0;
        }
    }
    return run & ~considered & ~problem->unable;
}

/* Names those engines; by default they are the ones whose own kernels were measured on few devices,
 * or on none. */
static void put_engines(struct roof_text *out, const struct roof_plan_problem *problem)
{
    const unsigned left_out = engines_left_out(problem);
    const bool unmeasured =
        problem->by_measured && (left_out & roof_engines_measured(problem->engines)) == 0;
    const size_t from = out->length;
    const char *separator = unmeasured ? "Left out unless --engine names them: "
                                       : "Engines not considered (--engine includes them): ";
    for (size_t i = 0; i < problem->engines->count; i++) {
        const struct roof_engine *const engine = &problem->engines->engine[i];
        if ((left_out >> i & 1U) != 0) {
            roof_text_printf(out, "%s%s%s", separator, engine->id,
                             !unmeasured                        ? ""
                             : engine->stack == ROOF_STACK_BEST ? " (not measured)"
                                                                : " (measured on few devices)");
            separator = ", ";
        }
    }
    roof_text_fold(out, from, 4);
    roof_text_put(out, *separator == ',' ? "\n" : "");
}

/* Tells whether a plan has limits beside the requests in flight. */
static bool more_limits(const struct roof_plan_problem *problem)
{
    int i = 0;
    while (i < ROOF_PLAN_LIMIT_COUNT &&
           (i == ROOF_PLAN_LIMIT_CONCURRENCY || isnan(problem->limit[i]))) {
        i++;
    }
    return i < ROOF_PLAN_LIMIT_COUNT;
}

/* Appends a plan to a line, ends the line, and folds it. */
static void end_with_plan(struct roof_text *out, size_t line, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem)
{
    roof_plan_describe(out, plan, problem);
    roof_text_fold(out, line, 6);
    roof_text_put(out, "\n");
}

/* Tells whether an engine runs a split for more requests in each copy. */
static bool runs_batch(const struct roof_plan_problem *problem, const struct roof_plan *plan,
                       int64_t batch)
{
    return (plan->engines & roof_engines_split(problem->engines, problem->hardware[plan->hardware],
                                               &plan->split, batch)) != 0;
}

/* Tells whether not the memory limits the requests that fit, but the engines of that plan. */
static bool limited_by_engine(const struct roof_plan_shortage *s,
                              const struct roof_plan_problem *problem)
{
    return s->served > 0 && s->most.engines != 0 &&
           !runs_batch(problem, &s->most, s->most.batch + 1);
}

/* Says that the engines of a plan run its split for no larger batch. */
static void put_engine_limit(struct roof_text *out, const struct roof_plan *plan,
                             const struct roof_plan_problem *problem)
{
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, problem);
    roof_text_printf(
        out,
        "  The limit is not the memory: with this split, the engine (%s) has plans for "
        "batch %" PRId64 "%s only.\n",
        row.engines, plan->batch, plan->batch == 1 ? "" : " or less");
}

/* Writes the changes with which one request alone keeps the limits of a request rate. Waiting for
 * other requests is simulated only for plans that keep the limits without it. */
static void put_alone(struct roof_text *out, const struct roof_plan_shortage *s,
                      const struct roof_plan_problem *problem)
{
    for (size_t i = 0; i < s->changes; i++) {
        const struct roof_plan_change *const change = &s->change[i];
        const size_t line = out->length;
        if (change->limit == ROOF_PLAN_LIMIT_COUNT) {
            roof_text_printf(out,
                             "With --%s, one request alone keeps the limits: ", change->option);
        } else {
            roof_text_printf(out, "One request alone, without waiting, has a %s of ",
                             roof_plan_limit_name(change->limit));
            roof_plan_put_value(out, change->limit, change->plan.value[change->limit]);
            roof_text_put(out, " (limit ");
            roof_plan_put_asked(out, change->limit, problem);
            roof_text_put(out, "): ");
        }
        end_with_plan(out, line, &change->plan, problem);
    }
    roof_text_put(out, s->changes == 0 ? "" : "\n");
}

/* Writes the changes with which a plan keeps all limits. */
static void put_kept(struct roof_text *out, const struct roof_plan_shortage *s,
                     const struct roof_plan_problem *problem)
{
    for (size_t i = 0; i < s->changes; i++) {
        const size_t line = out->length;
        roof_text_printf(out, "%s with --%s: ", i == 0 ? "All limits are kept" : "  or",
                         s->change[i].option);
        end_with_plan(out, line, &s->change[i].plan, problem);
    }
    roof_text_put(out, s->changes == 0 ? "" : "\n");
}

/* Writes how many requests fit, and the engine that has no plan for more. */
static void put_served(struct roof_text *out, const struct roof_plan_shortage *s,
                       const struct roof_plan_problem *problem)
{
    const bool one = s->served == 1;
    const bool kept = !s->each && more_limits(problem);
    const size_t line = out->length;
    roof_text_printf(out, "%" PRId64 " request%s %s%s%s, %" PRId64 " do not: ", s->served,
                     one ? "" : "s", kept ? "keep" : "fit", one ? "s" : "",
                     s->each ? " in a copy"
                     : kept  ? " the limits"
                             : "",
                     s->wanted);
    end_with_plan(out, line, &s->most, problem);
    if (limited_by_engine(s, problem)) {
        put_engine_limit(out, &s->most, problem);
    }
}

/* Returns the formats of the published checkpoint if the requested ones are not smaller; NULL:
 * there are none, or that is not so. */
static const char *published_formats(const struct roof_plan_answer *answer)
{
    const bool wider = answer->plans.rejected[ROOF_REJECTED_WIDER] > 0 && answer->formats_named;
    const struct roof_serving *const own =
        wider ? own_serving(&answer->plans, &answer->problem) : NULL;
    return own == NULL ? NULL : own->id;
}

/* Says that no option helps: only fewer requests, if some fit. Other hints stand for themselves. */
static void put_no_change(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plan_shortage *const s = &answer->shortage;
    if (s->served > 0) {
        roof_text_printf(out, "  With --%s %" PRId64 ", there is a plan.\n",
                         s->each ? "batch" : "concurrency", s->served);
    } else if (s->host_gb == 0 && published_formats(answer) == NULL) {
        roof_text_put(out, "  No single change of an option helps.\n");
    }
}

/* Writes how many requests fit if these are too few, and which changes of the question would help.
 */
static void put_changes(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const struct roof_plan_shortage *const s = &answer->shortage;
    if (s->wanted == 0) {
        (problem->one_copy ? put_alone : put_kept)(out, s, problem);
        return;
    }
    if (s->served == 0 && answer->plans.rejected[ROOF_REJECTED_UNKNOWN] > 0) {
        roof_text_put(out, "Operators of the model have no expected time here; --by ideal ranks "
                           "plans by lower bounds.\n\n");
        return;
    }
    if (s->served == 0) {
        roof_text_put(out, "No request fits.\n");
    } else {
        put_served(out, s, problem);
    }
    for (size_t i = 0; i < s->changes; i++) {
        const size_t line = out->length;
        roof_text_printf(out, "  With --%s, ", s->change[i].option);
        if (s->wanted > 1) {
            roof_text_printf(out, "%" PRId64 " or more do: ", s->wanted);
        } else {
            roof_text_put(out, "requests do: ");
        }
        end_with_plan(out, line, &s->change[i].plan, problem);
    }
    if (s->changes == 0) {
        put_no_change(out, answer);
    }
    roof_text_put(out, "\n");
}

/* Says how to give the memory or the link of a device if plans need it and it is unknown. */
static void put_lacking(struct roof_text *out, const struct roof_plan_answer *answer,
                        const struct roof_hardware *hardware)
{
    const char *const key = unknown_link(&answer->problem, hardware);
    if (lacks_figure(answer, hardware)) {
        roof_text_printf(out,
                         "The memory of %s is unknown, and so is what fits: give --set "
                         "memory_gb=VALUE\n",
                         hardware->id);
    }
    if (answer->plans.rejected[ROOF_REJECTED_FIGURE] > 0 && key != NULL) {
        roof_text_printf(out,
                         "The link of %s is unknown, and several devices need it: give --set "
                         "%s=VALUE\n",
                         hardware->id, key);
    }
}

/* Names the formats of the published checkpoint if the requested ones are not smaller. */
static void put_published(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const char *const formats = published_formats(answer);
    if (formats != NULL) {
        roof_text_printf(out, "The published checkpoint is --formats %s\n", formats);
    }
}

/* Writes the options that offload to a usual host, if there is then a plan on one device. */
static void put_host(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const struct roof_plan_shortage *const s = &answer->shortage;
    char time[ROOF_QUANTITY_SIZE];
    if (s->host_gb == 0 || problem->base.offload != ROOF_OFFLOAD_NONE) {
        return;
    }
    roof_text_put(out, "With one device, the host can compute what does not fit. Add these options "
                       "(with the GB/s and\nGB of your host):\n");
    roof_text_printf(out,
                     "  %s--engine %s --offload %s:fit --host-bandwidth " ROOF_HOST_USUAL_GB_PER_S
                     " --host-memory %.0f\n",
                     problem->devices[0] == 1 ? "" : "--devices 1 ",
                     problem->engines->engine[s->host_engine].id,
                     problem->model->experts > 0 ? "experts" : "layers", s->host_gb);
    if (isfinite(s->host_tpot_s)) {
        roof_text_printf(out, "A token then takes %s or more.\n",
                         roof_format_quantity(time, s->host_tpot_s, ROOF_UNIT_MILLISECONDS));
    }
}

/* Says with how much memory of the host there is a plan, if that of the question is too small. */
static void put_small_host(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    char text[ROOF_QUANTITY_SIZE];
    if (answer->shortage.host_gb == 0 || problem->base.offload == ROOF_OFFLOAD_NONE) {
        return;
    }
    const double memory = problem->base.host->figure[ROOF_FIGURE_MEMORY_NOMINAL].value;
    roof_text_printf(out, "The host has %s GB; plans fit with --host-memory %.0f.\n",
                     roof_format_short(text, memory / 1e9), answer->shortage.host_gb);
}

/* Tells whether every plan within the allowed loss was left out because of its memory. */
static bool all_too_large(const struct roof_plans *plans)
{
    static const enum roof_plan_rejection others[] = {
        ROOF_REJECTED_ENGINE, ROOF_REJECTED_DENSE,   ROOF_REJECTED_NATIVE, ROOF_REJECTED_FIGURE,
        ROOF_REJECTED_COPIES, ROOF_REJECTED_UNKNOWN, ROOF_REJECTED_LIMIT};
    size_t count = 0;
    for (size_t i = 0; i < COUNT(others); i++) {
        count += plans->rejected[others[i]];
    }
    return count == 0 && plans->rejected[ROOF_REJECTED_MEMORY] > 0;
}

/* Says that there is no plan, and why if memory is the only reason. */
static void put_verdict(struct roof_text *out, const struct roof_plan_answer *answer, bool unknown)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    if (unknown || !all_too_large(&answer->plans)) {
        roof_text_put(out, "Nothing satisfies the constraints.\n");
        return;
    }
    roof_text_put(out, "No plan ");
    if (problem->largest == ROOF_BATCHES_GIVEN) {
        roof_text_printf(out, "with batch %" PRId64 "%s ", problem->batch[0],
                         problem->batches > 1 ? " or more" : "");
    }
    roof_text_printf(
        out, "fits in memory%s.\n",
        answer->plans.rejected[ROOF_REJECTED_LOSS] > 0 ? " within the limit on accuracy loss" : "");
}

void roof_plan_put_nothing(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plans *const plans = &answer->plans;
    const struct roof_plan_problem *const problem = &answer->problem;
    const bool unknown = fits_unknown(answer);
    put_verdict(out, answer, unknown);
    if (!unknown) {
        put_changes(out, answer);
    }
    if (isfinite(plans->closest_excess) && !is_told(&plans->closest, answer)) {
        const char *separator = "Nearest to all limits: ";
        roof_text_put(out, separator);
        put_candidate(out, &plans->closest, problem);
        separator = "\n  with ";
        for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
            if (!isnan(problem->limit[i])) {
                const enum roof_plan_limit limit = (enum roof_plan_limit)i;
                roof_text_printf(out, "%s%s ", separator, roof_plan_limit_name(limit));
                roof_plan_put_value(out, limit, plans->closest.value[i]);
                roof_text_put(out, " for ");
                roof_plan_put_asked(out, limit, problem);
                separator = ",\n       ";
            }
        }
        roof_text_put(out, "\n");
    }
    for (size_t h = 0; h < problem->hardware_count; h++) {
        put_lacking(out, answer, problem->hardware[h]);
        if (!roof_plan_any_engine(problem, h)) {
            const size_t line = out->length;
            roof_text_printf(out, "%s has no plan", problem->hardware[h]->id);
            roof_plan_put_no_engine(out, problem, h);
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
        roof_text_put(out, "No engine has these formats for this model.\n");
    }
    if (!unknown) {
        put_host(out, answer);
    }
    put_small_host(out, answer);
    put_engines(out, problem);
}
