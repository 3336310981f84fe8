// SPDX-License-Identifier: MIT
#include "report/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/shell.h"
#include "decide/input.h"
#include "report/speedup_report.h"
#include "report/table.h"

/* --- for people ---------------------------------------------------------------------------- */

/* Writes a time with its range: "385.2 ms (356 ms to 421 ms)". */
static void put_band(struct roof_text *out, double value, double low, double high)
{
    char text[ROOF_QUANTITY_SIZE];
    roof_text_put(out, roof_format_quantity(text, value, ROOF_UNIT_MILLISECONDS));
    roof_text_printf(out, " (%s", roof_format_quantity(text, low, ROOF_UNIT_MILLISECONDS));
    roof_text_printf(out, " to %s)", roof_format_quantity(text, high, ROOF_UNIT_MILLISECONDS));
}

static void put_near(struct roof_text *out, double part, const char *what)
{
    char text[ROOF_QUANTITY_SIZE];
    if (part > 0.1) {
        roof_text_printf(out,
                         "  beware:   %s of the %s is as measured on other devices, stacks or "
                         "formats\n",
                         roof_format_quantity(text, part, ROOF_UNIT_FRACTION), what);
    }
}

static void put_best(struct roof_text *out, const struct roof_plan *plan,
                     const struct roof_plan_problem *problem)
{
    const bool requests = problem->base.generate > 0;
    char all[ROOF_QUANTITY_SIZE];
    char user[ROOF_QUANTITY_SIZE];
    char device[ROOF_QUANTITY_SIZE];
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, problem);
    roof_text_put(out, "Use ");
    roof_plan_describe(out, plan, problem);
    roof_text_printf(out, ", with %s.\n  expected: first token ", row.engines);
    put_band(out, plan->ttft_s, plan->ttft_low_s, plan->ttft_high_s);
    roof_text_put(out, ", a step ");
    put_band(out, plan->step_s, plan->step_low_s, plan->step_high_s);
    roof_text_printf(out, "\n            %s per token%s\n",
                     roof_format_quantity(all, plan->tpot_s, ROOF_UNIT_MILLISECONDS),
                     requests ? ": steps, some with prompts of others in them"
                              : ", without prompts: --prompt and --generate count them");
    roof_text_printf(out, "            %s tokens/s generated (%s per user, %s per device)\n",
                     roof_format_short(all, plan->tokens_per_s),
                     roof_format_short(user, plan->tokens_per_s_per_user),
                     roof_format_short(device, plan->tokens_per_s_per_device));
    roof_text_printf(out,
                     "  at best:  first token %s, %s per token; memory %s on each device; "
                     "accuracy loss %s\n",
                     roof_format_quantity(all, plan->bound_ttft_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(user, plan->bound_tpot_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(device, plan->memory_bytes, ROOF_UNIT_CAPACITY),
                     roof_accuracy_name(plan->loss));
    put_near(out, plan->ttft_near, "first token");
    put_near(out, plan->near, "step");
    if (problem->model->positions > 0 && row.context > problem->model->positions) {
        roof_text_printf(out, "  beware:   the model was made for contexts up to %" PRId64 "\n",
                         problem->model->positions);
    }
    if (!isnan(plan->joule)) {
        roof_text_printf(out, "  energy:   at most %s J per token, were every device at its TDP\n",
                         roof_format_short(all, plan->joule));
    }
    if (!isnan(plan->cost)) {
        roof_text_printf(out, "  cost:     %s per million generated tokens%s\n",
                         roof_format_short(all, plan->cost),
                         requests ? ", their prompts included" : ", prompts not counted");
    }
}

/* Writes the word that names a model on a command line. */
static void put_reference(struct roof_text *out, const char *reference, const char *id)
{
    roof_text_shell_word(out, reference == NULL ? id : reference);
}

/* Writes the command that predicts a scenario of a plan. */
static void put_command(struct roof_text *out, const struct roof_plan_row *row,
                        const char *hardware, const struct roof_plan_problem *problem,
                        const struct roof_scenario *s)
{
    const bool request = s->generate > 0;
    roof_text_put(out, "  roofline predict model ");
    put_reference(out, problem->model->reference, problem->model->id);
    roof_text_put(out, " -H ");
    roof_text_shell_word(out, hardware);
    roof_text_put(out, " ");
    if (row->layout != NULL) {
        roof_text_put(out, "--layout ");
        roof_text_shell_word(out, row->layout);
    } else {
        roof_text_printf(out, "-w %s -a %s", roof_format(row->weights)->name,
                         roof_format(row->activations)->name);
    }
    roof_text_printf(out, " --kv %s", roof_format(row->kv)->name);
    const struct {
        const char *option;
        int64_t value;
        int64_t usual;
    } numbers[] = {{"tp", s->tp, 1},
                   {"pp", s->pp, 1},
                   {"ep", s->common.shape.ep, 1},
                   {"batch", s->common.shape.batch, 1},
                   {"context", s->context, 0},
                   {"prompt", s->prompt, 0},
                   {"generate", s->generate, 0},
                   {"chunk", request ? s->chunk : 0, request ? ROOF_REQUEST_CHUNK : 0}};
    for (size_t k = 0; k < COUNT(numbers); k++) {
        if (numbers[k].value != numbers[k].usual) {
            roof_text_printf(out, " --%s %" PRId64, numbers[k].option, numbers[k].value);
        }
    }
    if (s->common.stack != ROOF_STACK_BEST) {
        roof_text_printf(out, " --stack %s",
                         roof_input(ROOF_INPUT_STACK)->choices[s->common.stack]);
    }
    if (!request) {
        roof_text_printf(out, " --phase %s", roof_phase_name((enum roof_phase)s->phase));
    }
    roof_text_put(out, "\n");
}

/* Writes the prediction that is the plan, or without prompts the two of them. */
static void put_commands(struct roof_text *out, const struct roof_plan *plan,
                         const struct roof_plan_problem *problem)
{
    struct roof_scenario scenario[2];
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, problem);
    roof_text_put(out, "\nThe same numbers, with what other options were given here:\n");
    if (problem->base.generate > 0) {
        roof_plan_scenario(&scenario[0], plan, problem);
        put_command(out, &row, problem->hardware[plan->hardware]->reference, problem, &scenario[0]);
        return;
    }
    roof_plan_scenarios(&scenario[0], &scenario[1], plan, problem);
    put_command(out, &row, problem->hardware[plan->hardware]->reference, problem, &scenario[0]);
    put_command(out, &row, problem->hardware[plan->hardware]->reference, problem, &scenario[1]);
}

/* Compares a plan by the objective: "0.45x the tokens/s per device, with 4 x h100-sxm ...". */
static void put_against(struct roof_text *out, const char *label, const struct roof_plan *plan,
                        const struct roof_plan *best, const struct roof_plan_problem *problem)
{
    static const struct {
        const char *name;
        size_t offset;
    } measures[] = {[ROOF_PLAN_THROUGHPUT] = {"tokens/s per device",
                                              offsetof(struct roof_plan, tokens_per_s_per_device)},
                    [ROOF_PLAN_LATENCY] = {"time per token", offsetof(struct roof_plan, tpot_s)},
                    [ROOF_PLAN_COST] = {"cost", offsetof(struct roof_plan, cost)},
                    [ROOF_PLAN_ENERGY] = {"energy", offsetof(struct roof_plan, joule)}};
    const size_t offset = measures[problem->objective].offset;
    const double value = *(const double *)(const void *)((const char *)plan + offset);
    const double of = *(const double *)(const void *)((const char *)best + offset);
    char ratio[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  %-22s %sx the %s, with ", label,
                     isnan(value / of) ? "?" : roof_format_short(ratio, value / of),
                     measures[problem->objective].name);
    roof_plan_describe(out, plan, problem);
    roof_text_put(out, "\n");
}

/* Returns the place of the best plan on a device; the number of plans where there is none. */
static size_t first_on(const struct roof_plans *plans, size_t hardware)
{
    size_t i = 0;
    while (i < plans->count && plans->plan[i].hardware != hardware) {
        i++;
    }
    return i;
}

#define NOT_MEASURED                                                                               \
    ": kernels of no device like it were measured, so no times are expected (bounds: sweep model)"

/* Writes what less accuracy loss, or less waiting, would cost: the best plans that have it. */
static void put_alternatives(struct roof_text *out, const struct roof_plans *plans,
                             const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    enum roof_accuracy_class loss = best->loss;
    char label[64];
    size_t fastest = 0;
    roof_text_printf(out, "\nWhat it gives up\n  %-22s typically %s\n", "accuracy",
                     roof_accuracy_name(best->loss));
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        fastest = p->tpot_s < plans->plan[fastest].tpot_s ? i : fastest;
        if (p->loss < loss) { /* they are in order: the first of its class is the best */
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
    if (fastest > 0) {
        char time[ROOF_QUANTITY_SIZE];
        (void)snprintf(
            label, sizeof label, "%s per token",
            roof_format_quantity(time, plans->plan[fastest].tpot_s, ROOF_UNIT_MILLISECONDS));
        put_against(out, label, &plans->plan[fastest], best, problem);
    }
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const size_t i = first_on(plans, h);
        if (i == plans->count) {
            roof_text_printf(out, "  %-22s no plan%s\n", problem->hardware[h]->id,
                             problem->hardware[h]->calibration == NULL ? NOT_MEASURED : "");
        } else if (h != best->hardware) {
            put_against(out, problem->hardware[h]->id, &plans->plan[i], best, problem);
        }
    }
}

/* So many operators are named at most; those whose bottleneck changed are named too. */
#define TOP_OPERATORS 4

/* --- why ----------------------------------------------------------------------------------- */

/* Writes "  a step  41.2 ms -> 20.7 ms, 1.99x: by memory 91.0%, kernels 9.0%" */
static void put_phase(struct roof_text *out, const char *label, const struct roof_gain *gain)
{
    const double saved = gain->from_s - gain->to_s;
    char from[ROOF_QUANTITY_SIZE];
    char to[ROOF_QUANTITY_SIZE];
    if (isnan(saved)) {
        roof_text_printf(out, "  %-15s nothing is expected on one of the sides\n", label);
        return;
    }
    roof_text_printf(out, "  %-15s %s -> %s, %.2fx", label,
                     roof_format_quantity(from, gain->from_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(to, gain->to_s, ROOF_UNIT_MILLISECONDS), gain->speedup);
    roof_speedup_report_shares(out, gain, ": by ");
    roof_text_put(out, "\n");
}

/* Writes an operator of the step: "  gate_up_proj  9.175 ms -> 4.897 ms, 1.87x; compute-bound from
 * 389". */
static void put_operator(struct roof_text *out, const struct roof_plan_speedup *speedup, size_t i)
{
    const struct roof_speedup_row *const row = &speedup->decode.row[i];
    const double batch = speedup->compute_bound_batch[i];
    char from[ROOF_QUANTITY_SIZE];
    char to[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "    %-16s %10s -> %-10s %.2fx", row->name,
                     roof_format_quantity(from, row->expected.from_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(to, row->expected.to_s, ROOF_UNIT_MILLISECONDS),
                     row->expected.speedup);
    roof_text_printf(out, "  %s-bound", roof_bottleneck_name(row->expected_from_bottleneck));
    if (row->expected_from_bottleneck != row->expected_to_bottleneck) {
        roof_text_printf(out, " -> %s-bound", roof_bottleneck_name(row->expected_to_bottleneck));
    }
    if (isnan(batch)) {
        roof_text_put(out, "\n");
    } else {
        roof_text_printf(out, "; its bound is compute from batch %.0f on\n", batch);
    }
}

/* Writes the operators that save most of a step, and those whose bottleneck changed. */
static void put_operators(struct roof_text *out, const struct roof_plan_speedup *speedup)
{
    const struct roof_speedup *const s = &speedup->decode;
    bool used[ROOF_GRAPH_MAX] = {false};
    for (size_t n = 0; n < TOP_OPERATORS && n < s->count; n++) {
        size_t most = s->count;
        double saved = 0;
        for (size_t i = 0; i < s->count; i++) {
            const double one = s->row[i].expected.from_s - s->row[i].expected.to_s;
            if (!used[i] && one > saved) {
                most = i;
                saved = one;
            }
        }
        if (most < s->count) {
            used[most] = true;
            put_operator(out, speedup, most);
        }
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_speedup_row *const row = &s->row[i];
        if (!used[i] && row->expected_from_bottleneck != row->expected_to_bottleneck) {
            put_operator(out, speedup, i);
        }
    }
}

static void put_why(struct roof_text *out, const struct roof_plan_speedup *speedup)
{
    roof_text_printf(out, "\nWhy %s: against %s, with the same split and batch%s\n",
                     speedup->to_name, speedup->from_name,
                     speedup->from_fits == ROOF_FIT_NO ? ", which does not fit there" : "");
    put_phase(out, "first token", &speedup->prefill.total.expected);
    put_phase(out, speedup->to.pp > 1 ? "a pass" : "a step", &speedup->decode.total.expected);
    put_operators(out, speedup);
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
        if (p != NULL &&
            (last == NULL || p->serving != last->serving || p->hardware != last->hardware)) {
            struct roof_plan_row row;
            roof_plan_name(&row, p, 0, problem);
            roof_text_printf(out, "%s%s on %s, KV cache %s, from %" PRId64,
                             last == NULL ? "\nBest by batch: " : "; ", row.formats, row.hardware,
                             roof_format(row.kv)->name, p->batch);
            last = p;
        }
    }
    roof_text_put(out, last == NULL ? "" : "\n");
}

static bool same_copies(const struct roof_plan *a, const struct roof_plan *b)
{
    return a->hardware == b->hardware && a->serving == b->serving && a->tp == b->tp &&
           a->pp == b->pp && a->ep == b->ep && a->batch == b->batch;
}

static void put_table(struct roof_text *out, const struct roof_plans *plans,
                      const struct roof_plan_problem *problem, size_t top, bool pareto)
{
    struct roof_table table;
    (void)roof_table_open(&table, ROOF_OUTPUT_TEXT, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM, NULL,
                          NULL); /* fails for columns only */
    roof_table_begin(&table, out);
    size_t shown = 0;
    size_t end = 0; /* of the places that the rows are from */
    for (size_t i = 0; i < plans->count && shown < top; i++) {
        /* A plan with more copies of the one before says nothing new. */
        const bool copies = i > 0 && same_copies(&plans->plan[i - 1], &plans->plan[i]);
        if (pareto ? plans->plan[i].pareto : !copies) {
            struct roof_plan_row row;
            roof_plan_name(&row, &plans->plan[i], (int)i + 1, problem);
            roof_table_plan(&table, out, &row);
            shown++;
        }
        end = i + 1;
    }
    for (size_t h = 0; h < problem->hardware_count && !pareto; h++) {
        const size_t i = first_on(plans, h);
        if (i >= end && i < plans->count) { /* each device has a row */
            struct roof_plan_row row;
            roof_plan_name(&row, &plans->plan[i], (int)i + 1, problem);
            roof_table_plan(&table, out, &row);
        }
    }
    roof_table_end(&table, out);
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

static void put_rejected(struct roof_text *out, const struct roof_plans *plans,
                         const struct roof_plan_problem *problem)
{
    bool begun = false;
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        if (plans->rejected[i] > 0) {
            roof_text_printf(out, "%s  %8zu  %s\n", begun ? "" : "\nLeft out\n", plans->rejected[i],
                             roof_plan_rejection_name((enum roof_plan_rejection)i));
            begun = true;
        }
    }
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        if (plans->missed[i] > 0) {
            roof_text_printf(out, "  %8zu  of these miss the %s alone; nearest, with ",
                             plans->missed[i], roof_plan_limit_name(limit));
            put_limit(out, limit, plans->nearest[i].value[i]);
            roof_text_put(out, " for ");
            put_limit(out, limit, problem->limit[i]);
            roof_text_put(out, ": ");
            roof_plan_describe(out, &plans->nearest[i], problem);
            roof_text_put(out, "\n");
        }
    }
}

/* Writes, when no plan is left, how near the closest candidate comes to all limits, and what was
 * not measured. */
static void put_nothing(struct roof_text *out, const struct roof_plans *plans,
                        const struct roof_plan_problem *problem)
{
    roof_text_put(out, "Nothing satisfies the constraints.\n");
    if (isfinite(plans->closest_excess)) {
        const char *separator = "Nearest to all limits: ";
        roof_text_put(out, separator);
        roof_plan_describe(out, &plans->closest, problem);
        separator = "\n  with ";
        for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
            if (!isnan(problem->limit[i])) {
                const enum roof_plan_limit limit = (enum roof_plan_limit)i;
                roof_text_printf(out, "%s%s ", separator, roof_plan_limit_name(limit));
                put_limit(out, limit, plans->closest.value[i]);
                roof_text_put(out, " for ");
                put_limit(out, limit, problem->limit[i]);
                separator = ", ";
            }
        }
        roof_text_put(out, "\n");
    }
    for (size_t h = 0; h < problem->hardware_count; h++) {
        if (problem->hardware[h]->calibration == NULL) {
            roof_text_printf(out, "%s%s\n", problem->hardware[h]->id, NOT_MEASURED);
        }
    }
    size_t candidates = 0;
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        candidates += plans->rejected[i];
    }
    if (candidates == 0) {
        roof_text_put(out, "None of the formats that were asked for is one of this model.\n");
    }
    const char *separator = "Engines left out, which --engine would take: ";
    for (size_t i = 0; i < problem->engines->count && problem->by != 0; i++) {
        if ((problem->by >> i & 1U) == 0) {
            roof_text_printf(out, "%s%s", separator, problem->engines->engine[i].id);
            separator = ", ";
        }
    }
    roof_text_put(out, *separator == ',' ? "\n" : "");
}

void roof_plan_report_text(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_problem *problem,
                           const struct roof_plan_speedup *speedup, size_t top)
{
    roof_text_printf(out, "%s", problem->model->id);
    if (problem->base.generate > 0) {
        roof_text_printf(out, ": prompts of %" PRId64 " tokens, %" PRId64 " generated",
                         problem->base.prompt, problem->base.generate);
    } else {
        roof_text_printf(out, ": a context of %" PRId64 " tokens", problem->base.context);
    }
    roof_text_put(out, "\n\n");
    if (plans->count == 0) {
        put_nothing(out, plans, problem);
    } else {
        put_best(out, &plans->plan[0], problem);
        if (speedup != NULL) {
            put_why(out, speedup);
        }
        put_alternatives(out, plans, problem);
        put_by_batch(out, plans, problem);
        roof_text_put(out, "\n");
        put_table(out, plans, problem, top, false);
        roof_text_printf(out,
                         "\n%zu plans; nothing has both more tokens/s per user and per device "
                         "than these:\n\n",
                         plans->count);
        put_table(out, plans, problem, plans->count, true);
    }
    put_rejected(out, plans, problem);
    if (plans->count > 0) {
        put_commands(out, &plans->plan[0], problem);
        roof_text_put(out,
                      "\nAccuracy classes are typical losses of quantised models, not a promise "
                      "for the model at hand: roofline list precisions ID\n");
    }
}

void roof_plan_report_changes(struct roof_text *out, const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const struct roof_plan *const most = &answer->plans.nearest[ROOF_PLAN_LIMIT_CONCURRENCY];
    if (!problem->largest || answer->plans.count > 0 ||
        answer->plans.missed[ROOF_PLAN_LIMIT_CONCURRENCY] == 0) {
        return;
    }
    const double wanted = problem->limit[ROOF_PLAN_LIMIT_CONCURRENCY];
    const double served = most->value[ROOF_PLAN_LIMIT_CONCURRENCY];
    roof_text_printf(out, "\n%.0f requests fit, %.0f do not: ", served, wanted);
    roof_plan_describe(out, most, problem);
    roof_text_put(out, "\n");
    for (size_t i = 0; i < answer->changes; i++) {
        roof_text_printf(out, "  %.0f would with --%s: ", wanted, answer->change[i].option);
        roof_plan_describe(out, &answer->change[i].plan, problem);
        roof_text_put(out, "\n");
    }
    if (answer->changes == 0) {
        roof_text_put(out, "  No small change of the question helps.\n");
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

void roof_plan_report_json(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_problem *problem,
                           const struct roof_plan_speedup *speedup, size_t top)
{
    roof_text_put(out, "{\"schema\": \"roofline/plans/1\",\n  \"request\": ");
    put_request(out, problem);
    roof_text_put(out, ",\n  \"candidates\": [");
    for (size_t i = 0; i < plans->count && i < top; i++) {
        roof_text_put(out, i == 0 ? "\n    " : ",\n    ");
        put_object(out, &plans->plan[i], (int)i + 1, problem);
    }
    roof_text_printf(out, "],\n  \"count\": %zu,\n  \"rejected\": [", plans->count);
    const char *separator = "\n    ";
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        if (plans->rejected[i] > 0) {
            roof_text_printf(out, "%s{\"reason\": ", separator);
            roof_json_quote(out, roof_plan_rejection_name((enum roof_plan_rejection)i));
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
    if (plans->beyond.batch > 0) {
        roof_text_put(out, ",\n  \"beyond\": ");
        put_object(out, &plans->beyond, 0, problem);
    }
    if (speedup != NULL) {
        roof_text_put(out, ",\n  \"why\": {");
        put_why_members(out, speedup);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n}\n");
}

/* --- one change ---------------------------------------------------------------------------- */

void roof_plan_report_why_text(struct roof_text *out, const struct roof_plan_speedup *speedup,
                               const struct roof_plan *best,
                               const struct roof_plan_problem *problem, size_t top)
{
    const char *const fits[] = {speedup->from_fits == ROOF_FIT_NO ? speedup->from_name : NULL,
                                speedup->to_fits == ROOF_FIT_NO ? speedup->to_name : NULL};
    roof_text_printf(out, "%s, the split and batch of the best plan of both: ", problem->model->id);
    roof_plan_describe(out, best, problem);
    roof_text_put(out, "\n");
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
