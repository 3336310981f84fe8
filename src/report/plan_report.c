// SPDX-License-Identifier: MIT
#include "report/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "report/caveat_report.h"
#include "report/markdown.h"
#include "report/plan_parts.h"
#include "report/published_report.h"
#include "report/report.h"
#include "report/rows.h"
#include "report/speedup_report.h"

/* --- for people ---------------------------------------------------------------------------- */

/* The value by which each objective compares plans. */
static const struct {
    const char *name;
    size_t offset;
} measures[] = {[ROOF_PLAN_THROUGHPUT] = {"tokens/s per device",
                                          offsetof(struct roof_plan, tokens_per_s_per_device)},
                [ROOF_PLAN_LATENCY] = {"time per token", offsetof(struct roof_plan, tpot_s)},
                [ROOF_PLAN_COST] = {"cost", offsetof(struct roof_plan, cost)},
                [ROOF_PLAN_ENERGY] = {"energy", offsetof(struct roof_plan, joule)}};

/* The smallest ratio of two plans that is written as a number. */
#define RATIO_LEAST 0.001

/* Compares a plan by the objective: "0.450x  4 x h100-sxm ...". */
static void put_against(struct roof_text *out, const char *label, const struct roof_plan *plan,
                        const struct roof_plan *best, const struct roof_plan_problem *problem)
{
    const size_t offset = measures[problem->objective].offset;
    const double value = *(const double *)(const void *)((const char *)plan + offset);
    const double of = *(const double *)(const void *)((const char *)best + offset);
    const size_t from = out->length;
    char ratio[ROOF_QUANTITY_SIZE] = "?";
    if (value / of < RATIO_LEAST) {
        (void)snprintf(ratio, sizeof ratio, "<%.3fx", RATIO_LEAST);
    } else if (!isnan(value / of)) {
        (void)snprintf(ratio, sizeof ratio, "%.3fx", value / of);
    }
    roof_text_printf(out, "  %-22s %8s  ", label, ratio);
    roof_plan_describe(out, plan, problem);
    roof_text_put(out, "\n");
    roof_text_fold(out, from, 35);
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

/* Writes a plan that is better by its figures, but whose checkpoint is not published, unlike that
 * of the best one. */
static void put_better(struct roof_text *out, const struct roof_plans *plans,
                       const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    const double score = roof_plan_score(best, problem->objective);
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        if (p->basis == best->basis && roof_plan_score(p, problem->objective) < score) {
            put_against(out, "checkpoint to convert", p, best, problem);
            return;
        }
    }
}

/* Shows the best plan of the first device in the formats of another device's plan, so that both are
 * compared in the same formats. */
static void put_same_formats(struct roof_text *out, const struct roof_plans *plans,
                             const struct roof_plan *other, const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    struct roof_plan_row wanted;
    struct roof_plan_row row;
    roof_plan_name(&wanted, other, 0, problem);
    for (size_t i = 0; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        if (p->basis == best->basis && p->hardware == best->hardware) {
            roof_plan_name(&row, p, 0, problem);
            if (strcmp(row.formats, wanted.formats) == 0 && row.kv == wanted.kv) {
                if (i > 0) { /* otherwise both have the formats of the best plan */
                    put_against(out, "  same formats", p, best, problem);
                }
                return;
            }
        }
    }
}

/* Writes the cost of less accuracy loss, or less waiting: the best plans that have it. */
static void put_alternatives(struct roof_text *out, const struct roof_plans *plans,
                             const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    enum roof_accuracy_class loss = best->loss;
    char label[64];
    size_t fastest = 0;
    roof_text_printf(
        out, "\nAlternatives (%s relative to this plan)\n  %-22s typical accuracy loss %s\n",
        measures[problem->objective].name, "this plan", roof_accuracy_name(best->loss));
    put_better(out, plans, problem);
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        const bool same = p->basis == best->basis;
        fastest = same && p->tpot_s < plans->plan[fastest].tpot_s ? i : fastest;
        if (same && p->loss < loss) { /* plans are sorted: the first of its class is the best */
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
            label, sizeof label, "lowest TPOT %s",
            roof_format_quantity(time, plans->plan[fastest].tpot_s, ROOF_UNIT_MILLISECONDS));
        put_against(out, label, &plans->plan[fastest], best, problem);
    }
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const size_t i = roof_plan_first_on(plans, h);
        if (i == plans->count) {
            roof_text_printf(out, "  %-22s no plan", problem->hardware[h]->id);
            roof_plan_put_no_engine(out, problem, h);
            roof_text_put(out, "\n");
        } else if (plans->plan[i].basis != best->basis) {
            roof_text_printf(out, "  %-22s rank %zu, by lower bounds alone\n",
                             problem->hardware[h]->id, i + 1);
        } else if (h != best->hardware) {
            put_against(out, problem->hardware[h]->id, &plans->plan[i], best, problem);
            put_same_formats(out, plans, &plans->plan[i], problem);
        }
    }
}

/* Returns the least batch above `last` among those that were tried for all plans and that of the
 * best plan, which may be the largest that fits; 0: there is none. */
static int64_t next_batch(int64_t last, const struct roof_plans *plans,
                          const struct roof_plan_problem *problem)
{
    const int64_t best = plans->plan[0].batch;
    int64_t next = best > last ? best : 0;
    for (size_t b = 0; b < problem->batches; b++) {
        const int64_t batch = problem->batch[b];
        next = batch > last && (next == 0 || batch < next) ? batch : next;
    }
    return next;
}

/* Writes the best formats on a device from each batch on. */
static void put_by_batch(struct roof_text *out, const struct roof_plans *plans,
                         const struct roof_plan_problem *problem)
{
    const struct roof_plan *last = NULL;
    for (int64_t batch = next_batch(0, plans, problem); batch > 0;
         batch = next_batch(batch, plans, problem)) {
        size_t i = 0;
        while (i < plans->count && plans->plan[i].batch != batch) {
            i++;
        }
        const struct roof_plan *const p = i == plans->count ? NULL : &plans->plan[i];
        if (p != NULL && p->basis == plans->plan[0].basis &&
            (last == NULL || p->serving != last->serving || p->hardware != last->hardware)) {
            struct roof_plan_row row;
            roof_plan_name(&row, p, 0, problem);
            roof_text_printf(out, "%s  from %-6" PRId64 " %s on %s, KV cache %s\n",
                             last == NULL ? "\nBest format by batch (of all copies)\n" : "",
                             p->batch, row.formats, row.hardware, roof_format(row.kv)->name);
            last = p;
        }
    }
}

/* Writes the text report. `above` says that the best plans are listed above it. */
static void put_text(struct roof_text *out, const struct roof_plan_answer *answer, size_t top,
                     const struct roof_kept_columns *kept, bool above)
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
        roof_plan_put_nothing(out, answer);
    } else {
        roof_plan_put_best(out, plans, &answer->asked, problem);
        if (answer->explained) {
            roof_plan_put_why(out, &answer->speedup, problem);
        }
        roof_plan_put_devices(out, plans, problem, kept);
        put_alternatives(out, plans, problem);
        put_by_batch(out, plans, problem);
        roof_plan_put_tables(out, plans, problem, top, kept, above);
    }
    roof_plan_put_rejected(out, answer);
    roof_plan_put_collectives(out, problem, plans->count > 0 ? &plans->plan[0] : NULL);
    roof_plan_put_unpriced(out, "\n", problem);
    if (plans->count > 0) {
        roof_plan_put_commands(out, &plans->plan[0], problem);
        roof_report_accuracy_classes(out);
    }
}

void roof_plan_report_text(struct roof_text *out, const struct roof_plan_answer *answer, size_t top,
                           const struct roof_kept_columns *kept)
{
    put_text(out, answer, top, kept, false);
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

/* Writes the inputs that all plans share: sizes of the split, prefix cache, drafts, classes. */
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

/* Writes the inputs that are not lists: {"model": "...", "prompt": 8000, ...}. */
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
        roof_text_printf(out, ", \"prompt\": %" PRId64 ", \"generate\": %" PRId64, s->prompt,
                         s->generate);
    } else {
        roof_text_printf(out, ", \"context\": %" PRId64, s->context);
    }
    roof_text_printf(out, ", \"chunk\": %" PRId64, roof_plan_chunk(s));
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

/* Writes what fits, if too little does, and the changes with which everything would. */
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

/* Writes a plan as a member, if there is one. */
static void put_other(struct roof_text *out, const char *key, const struct roof_plan *plan,
                      const struct roof_plan_problem *problem)
{
    if (plan->batch > 0) {
        roof_text_printf(out, ",\n  \"%s\": ", key);
        put_object(out, plan, 0, problem);
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
    char reason[ROOF_PLAN_REASON_SIZE];
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        if (plans->rejected[i] > 0) {
            roof_text_printf(out, "%s{\"reason\": ", separator);
            roof_json_quote(out,
                            roof_plan_reason(reason, (enum roof_plan_rejection)i, plans, problem));
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
    put_other(out, "asked", &answer->asked, problem);
    put_other(out, "beyond", &plans->beyond, problem);
    if (plans->count > 0) {
        roof_plan_json_notes(out, ",\n  ", &plans->plan[0], problem, plans);
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
    struct roof_text best = ROOF_TEXT_INIT;
    roof_text_put(out, "# Ways to serve ");
    roof_text_markdown(out, answer->problem.model->id);
    roof_text_put(out, "\n");
    if (answer->plans.count > 0) {
        roof_plan_describe(&best, &answer->plans.plan[0], &answer->problem);
        roof_text_put(out, "\n**Use ");
        roof_text_markdown(out, best.failed ? "" : best.data);
        roof_text_put(out, ".**\n");
    }
    out->failed |= best.failed;
    roof_text_free(&best);
    roof_plan_put_markdown(out, &answer->plans, &answer->problem, top, kept);
    put_text(&report, answer, top, kept, true);
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
    roof_text_printf(out, "%s, with the split and batch of the best plan: ", problem->model->id);
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
