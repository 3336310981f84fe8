// SPDX-License-Identifier: MIT
#include "roofline/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "roofline/table.h"

/* --- for people ---------------------------------------------------------------------------- */

static void put_best(struct roof_text *out, const struct roof_plan *plan,
                     const struct roof_plan_query *query)
{
    char ttft[ROOF_QUANTITY_SIZE];
    char tpot[ROOF_QUANTITY_SIZE];
    char all[ROOF_QUANTITY_SIZE];
    char user[ROOF_QUANTITY_SIZE];
    char device[ROOF_QUANTITY_SIZE];
    char memory[ROOF_QUANTITY_SIZE];
    char joule[ROOF_QUANTITY_SIZE];
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, query);
    roof_text_put(out, "Use ");
    roof_plan_describe(out, plan, query);
    roof_text_printf(out, ", with %s.\n", row.engines);
    roof_text_printf(
        out, "  expected: first token %s, %s per token, %s tokens/s (%s per user, %s per device)\n",
        roof_format_quantity(ttft, plan->ttft_s, ROOF_UNIT_MILLISECONDS),
        roof_format_quantity(tpot, plan->tpot_s, ROOF_UNIT_MILLISECONDS),
        roof_format_short(all, plan->tokens_per_s),
        roof_format_short(user, plan->tokens_per_s_per_user),
        roof_format_short(device, plan->tokens_per_s_per_device));
    roof_text_printf(out,
                     "  at best:  first token %s, %s per token; memory %s on each device; "
                     "accuracy loss %s\n",
                     roof_format_quantity(ttft, plan->ideal_ttft_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(tpot, plan->ideal_tpot_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(memory, plan->memory_bytes, ROOF_UNIT_CAPACITY),
                     roof_accuracy_name(plan->loss));
    if (plan->near > 0.1) {
        roof_text_printf(out,
                         "  beware:   %s of the time per token is as measured on other devices, "
                         "stacks or formats\n",
                         roof_format_quantity(joule, plan->near, ROOF_UNIT_FRACTION));
    }
    if (!isnan(plan->joule)) {
        roof_text_printf(out, "  energy:   at most %s J per token, were every device at its TDP\n",
                         roof_format_short(joule, plan->joule));
    }
    if (!isnan(plan->cost)) {
        roof_text_printf(out, "  cost:     %s per million tokens\n",
                         roof_format_short(joule, plan->cost));
    }
}

/* The two predictions that the plan is. */
static void put_commands(struct roof_text *out, const struct roof_plan *plan,
                         const struct roof_plan_query *query)
{
    struct roof_scenario scenario[2];
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, query);
    roof_plan_scenarios(&scenario[0], &scenario[1], plan, query);
    roof_text_put(out, "\nThe same numbers, with what other options were given here:\n");
    for (size_t i = 0; i < 2; i++) {
        const struct roof_scenario *const s = &scenario[i];
        roof_text_printf(out, "  roofline predict model %s -H %s ", row.model, row.hardware);
        if (row.layout != NULL) {
            roof_text_printf(out, "--layout %s", row.layout);
        } else {
            roof_text_printf(out, "-w %s -a %s", roof_format(row.weights)->name,
                             roof_format(row.activations)->name);
        }
        roof_text_printf(out, " --kv %s", roof_format(row.kv)->name);
        const struct {
            const char *option;
            int64_t value;
            int64_t usual;
        } numbers[] = {{"tp", s->tp, 1},
                       {"pp", s->pp, 1},
                       {"ep", s->common.shape.ep, 1},
                       {"batch", s->common.shape.batch, 1},
                       {"context", s->context, 0}};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            if (numbers[k].value != numbers[k].usual) {
                roof_text_printf(out, " --%s %" PRId64, numbers[k].option, numbers[k].value);
            }
        }
        roof_text_printf(out, " --phase %s\n", i == 0 ? "prefill" : "decode");
    }
}

/* What less accuracy loss, or less waiting, would cost: the best plans that have it. */
static void put_alternatives(struct roof_text *out, const struct roof_plans *plans,
                             const struct roof_plan_query *query)
{
    const struct roof_plan *const best = &plans->plan[0];
    enum roof_accuracy_class loss = best->loss;
    char ratio[ROOF_QUANTITY_SIZE];
    size_t fastest = 0;
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        fastest = p->tpot_s < plans->plan[fastest].tpot_s ? i : fastest;
        if (p->loss < loss) { /* they are in order: the first of its class is the best */
            loss = p->loss;
            roof_text_printf(out, "  accuracy loss %s: %sx the tokens/s per device, with ",
                             roof_accuracy_name(loss),
                             roof_format_short(ratio, p->tokens_per_s_per_device /
                                                          best->tokens_per_s_per_device));
            roof_plan_describe(out, p, query);
            roof_text_put(out, "\n");
        }
    }
    if (fastest > 0) {
        roof_text_printf(
            out, "  fastest: %s per token, with ",
            roof_format_quantity(ratio, plans->plan[fastest].tpot_s, ROOF_UNIT_MILLISECONDS));
        roof_plan_describe(out, &plans->plan[fastest], query);
        roof_text_put(out, "\n");
    }
}

static void put_table(struct roof_text *out, const struct roof_plans *plans,
                      const struct roof_plan_query *query, size_t top, bool pareto)
{
    struct roof_table table;
    (void)roof_table_open(&table, ROOF_OUTPUT_TEXT, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM, NULL,
                          NULL); /* fails for columns only */
    roof_table_begin(&table, out);
    size_t shown = 0;
    for (size_t i = 0; i < plans->count && shown < top; i++) {
        if (!pareto || plans->plan[i].pareto) {
            struct roof_plan_row row;
            roof_plan_name(&row, &plans->plan[i], (int)i + 1, query);
            roof_table_row(&table, out, &row);
            shown++;
        }
    }
    roof_table_end(&table, out);
}

/* A value and the limit it misses, in the unit that people use. */
static void put_limit(struct roof_text *out, enum roof_plan_limit limit, double value)
{
    char text[ROOF_QUANTITY_SIZE];
    if (isnan(value)) {
        roof_text_put(out, "an unknown value");
        return;
    }
    switch (limit) {
    case ROOF_LIMIT_TTFT:
    case ROOF_LIMIT_TPOT:
        roof_text_put(out, roof_format_quantity(text, value, ROOF_UNIT_MILLISECONDS));
        break;
    case ROOF_LIMIT_POWER:
        roof_text_printf(out, "%s W", roof_format_short(text, value));
        break;
    case ROOF_LIMIT_TOKENS_PER_S:
    case ROOF_LIMIT_CONCURRENCY:
    case ROOF_LIMIT_COST:
    case ROOF_LIMIT_COUNT:
        roof_text_put(out, roof_format_short(text, value));
        break;
    }
}

static void put_rejected(struct roof_text *out, const struct roof_plans *plans,
                         const struct roof_plan_query *query)
{
    bool begun = false;
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        if (plans->rejected[i] > 0) {
            roof_text_printf(out, "%s  %8zu  %s\n", begun ? "" : "\nLeft out\n", plans->rejected[i],
                             roof_plan_rejection_name((enum roof_plan_rejection)i));
            begun = true;
        }
    }
    for (int i = 0; i < ROOF_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        if (plans->missed[i] > 0) {
            roof_text_printf(out, "  %8zu  of these miss the %s alone; nearest, with ",
                             plans->missed[i], roof_plan_limit_name(limit));
            put_limit(out, limit, plans->nearest[i].value[i]);
            roof_text_put(out, " for ");
            put_limit(out, limit, query->limit[i]);
            roof_text_put(out, ": ");
            roof_plan_describe(out, &plans->nearest[i], query);
            roof_text_put(out, "\n");
        }
    }
}

void roof_plan_report_text(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_query *query, size_t top)
{
    roof_text_printf(out, "%s", query->model->id);
    if (query->base.generate > 0) {
        roof_text_printf(out, ": prompts of %" PRId64 " tokens, %" PRId64 " generated",
                         query->base.prompt, query->base.generate);
    } else {
        roof_text_printf(out, ": a context of %" PRId64 " tokens", query->base.context);
    }
    roof_text_put(out, "\n\n");
    if (plans->count == 0) {
        roof_text_put(out, "Nothing satisfies the constraints.\n");
    } else {
        put_best(out, &plans->plan[0], query);
        put_alternatives(out, plans, query);
        roof_text_put(out, "\n");
        put_table(out, plans, query, top, false);
        roof_text_printf(out,
                         "\n%zu plans; nothing has both more tokens/s per user and per device "
                         "than these:\n\n",
                         plans->count);
        put_table(out, plans, query, plans->count, true);
    }
    put_rejected(out, plans, query);
    if (plans->count > 0) {
        put_commands(out, &plans->plan[0], query);
        roof_text_put(out,
                      "\nAccuracy classes are typical losses of quantised models, not a promise "
                      "for the model at hand: roofline list precisions ID\n");
    }
}

/* --- for programs -------------------------------------------------------------------------- */

static void put_object(struct roof_text *out, const struct roof_plan *plan, int rank,
                       const struct roof_plan_query *query)
{
    struct roof_table table;
    struct roof_plan_row row;
    (void)roof_table_open(&table, ROOF_OUTPUT_JSON, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM, NULL,
                          NULL);
    roof_plan_name(&row, plan, rank, query);
    roof_text_put(out, "{");
    roof_table_object(&table, out, &row, "");
    roof_text_put(out, "}");
}

void roof_plan_report_json(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_query *query, size_t top)
{
    roof_text_put(out, "{\"schema\": \"roofline/plans/1\",\n  \"candidates\": [");
    for (size_t i = 0; i < plans->count && i < top; i++) {
        roof_text_put(out, i == 0 ? "\n    " : ",\n    ");
        put_object(out, &plans->plan[i], (int)i + 1, query);
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
    for (int i = 0; i < ROOF_LIMIT_COUNT; i++) {
        if (plans->missed[i] > 0) {
            roof_text_printf(out, "%s{\"limit\": ", separator);
            roof_json_quote(out, roof_plan_limit_name((enum roof_plan_limit)i));
            roof_text_printf(out, ", \"count\": %zu, \"nearest\": ", plans->missed[i]);
            put_object(out, &plans->nearest[i], 0, query);
            roof_text_put(out, "}");
            separator = ",\n    ";
        }
    }
    roof_text_put(out, "]\n}\n");
}
