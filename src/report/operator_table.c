// SPDX-License-Identifier: MIT
#include "report/operator_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "decide/read.h"
#include "report/cells.h"
#include "report/model_report.h"
#include "report/report.h"

size_t roof_model_report_order(size_t *order, const struct roof_model_prediction *model_prediction)
{
    for (size_t i = 0; i < model_prediction->count; i++) {
        const struct roof_node_prediction *const node = model_prediction->node;
        size_t at = i;
        while (at > 0 && roof_model_time(&node[order[at - 1]]) < roof_model_time(&node[i])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    return model_prediction->count;
}

size_t roof_model_report_listed(size_t *order, const struct roof_model_prediction *model_prediction,
                                size_t top)
{
    size_t rest[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, model_prediction);
    const size_t largest = top > 0 ? top : ROOF_TOP_DEFAULT;
    size_t listed = 0;
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        const double expected = roof_model_expected_share(model_prediction, order[i]);
        if (i < largest || (top == 0 && expected >= ROOF_SMALL_SHARE)) {
            order[listed++] = order[i];
        } else {
            rest[others++] = order[i];
        }
    }
    for (size_t i = 0; i < others; i++) {
        order[listed + i] = rest[i];
    }
    return listed;
}

#define BOUND_WIDTH 7 /* width of "compute" */

/* Tells whether another operator has the same name, but weights in another format, as layers of a
 * GGUF file do. */
static bool has_twin(const struct roof_model_prediction *r, size_t node)
{
    const struct roof_node_prediction *const n = &r->node[node];
    for (size_t i = 0; i < r->count; i++) {
        const struct roof_node_prediction *const other = &r->node[i];
        if (strcmp(other->node.name, n->node.name) == 0 &&
            other->prediction.workload.formats.weights != n->prediction.workload.formats.weights &&
            (other->node.host == NULL) == (n->node.host == NULL)) {
            return true;
        }
    }
    return false;
}

/* Names an operator, with the format of its weights if the name alone does not tell which it is. */
static const char *name_of(char out[ROOF_MODEL_REPORT_NAME], const struct roof_model_prediction *r,
                           size_t node)
{
    const struct roof_node_prediction *const n = &r->node[node];
    (void)roof_model_report_operator(out, &n->node);
    if (has_twin(r, node)) {
        const size_t used = strlen(out);
        snprintf(out + used, ROOF_MODEL_REPORT_NAME - used, " (%s)",
                 roof_format(n->prediction.workload.formats.weights)->name);
    }
    return out;
}

/* Writes a row of the table of operators, with its shape if the table may be wide. */
static void put_operator(struct roof_text *out, const struct roof_model_prediction *r, size_t node,
                         double batch, const struct roof_time_look *look, bool wide)
{
    const struct roof_node_prediction *const n = &r->node[node];
    const struct roof_prediction *const p = &n->prediction;
    const char *const bound = roof_bottleneck_name(p->bottleneck);
    const bool expected = !isnan(r->total.expected_s);
    const bool product = roof_is_product(p->workload.op);
    char time[ROOF_QUANTITY_SIZE];
    char percent[ROOF_QUANTITY_SIZE];
    char from[32] = "never", name[ROOF_MODEL_REPORT_NAME];
    if (isnan(p->compute_time_s)) {
        snprintf(from, sizeof from, "unknown");
    } else if (!isnan(batch)) {
        snprintf(from, sizeof from, "%.0f", batch);
    }
    snprintf(percent, sizeof percent, "%.1f%%", 100 * roof_model_share(r, node));
    roof_text_printf(out, "  %-24s %5" PRId64 "  %10s  %6s  %s", name_of(name, r, node),
                     n->node.count, roof_time_text(time, roof_model_time(n), look), percent, bound);
    if (expected || wide || product) { /* lines have no trailing blanks */
        roof_text_fill(out, ' ', strlen(bound) < BOUND_WIDTH ? BOUND_WIDTH - strlen(bound) : 0);
        roof_text_printf(out, "  %10s", product ? from : "");
    }
    if (expected) {
        roof_text_printf(out, "  %11s",
                         roof_time_text(time, (double)n->node.count * p->expected_s, look));
    }
    if (wide) {
        roof_text_put(out, "  ");
        roof_report_workload(out, &p->workload);
    }
    if (wide && p->role_bytes[ROOF_ROLE_WEIGHTS] > 0) {
        roof_text_printf(out, " (%s)", roof_format(p->workload.formats.weights)->name);
    }
    roof_text_put(out, "\n");
}

/* Writes the times of the operators after the first `listed`. */
static void put_others(struct roof_text *out, const struct roof_model_prediction *r,
                       const size_t *order, size_t listed, const struct roof_time_look *look)
{
    char label[48];
    char time[ROOF_QUANTITY_SIZE];
    char percent[ROOF_QUANTITY_SIZE];
    double rest = 0;
    double expected = 0;
    for (size_t i = listed; i < r->count; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        rest += roof_model_time(n);
        expected += (double)n->node.count * n->prediction.expected_s;
    }
    snprintf(percent, sizeof percent, "%.1f%%", 100 * rest / r->total.time_s);
    snprintf(label, sizeof label, "others (all: --top %zu)", r->count);
    roof_text_printf(out, "  %-24s %5s  %10s  %6s", label, "", roof_time_text(time, rest, look),
                     percent);
    if (!isnan(r->total.expected_s)) {
        roof_text_printf(out, "  %*s  %10s  %11s", BOUND_WIDTH, "", "",
                         roof_time_text(time, expected, look));
    }
    roof_text_put(out, "\n");
}

void roof_report_operators(struct roof_text *out,
                           const struct roof_model_prediction *model_prediction,
                           const struct roof_limits *limits, size_t top, bool wide)
{
    const struct roof_model_prediction *const r = model_prediction;
    size_t order[ROOF_GRAPH_MAX];
    const size_t listed = roof_model_report_listed(order, r, top);
    if (r->count == 0) {
        roof_text_put(
            out,
            "\nFor a table of operators, replace --prompt and --generate by --phase prefill or "
            "--phase\ndecode, with --context.\n");
        return;
    }
    const struct roof_time_look look =
        roof_time_look(fmax(r->total.time_s, r->total.expected_s), ROOF_UNIT_MILLISECONDS);
    roof_text_printf(out, "\n  %-24s %5s  %10s  %6s  %-7s  %10s%s%s\n", "operator", "count",
                     "time ms", "share", "bound", "from batch",
                     isnan(r->total.expected_s) ? "" : "  expected ms", wide ? "  shape" : "");
    for (size_t i = 0; i < listed; i++) {
        put_operator(out, r, order[i], limits->compute_bound_batch[order[i]], &look, wide);
    }
    if (r->count > listed) {
        put_others(out, r, order, listed, &look);
    }
    if (r->scenario.draft_tokens > 0) {
        roof_text_printf(out, "  (the step that verifies the drafts%s)\n",
                         r->scenario.drafting == ROOF_DRAFTING_FREE
                             ? ""
                             : "; the passes that draft are not in this table");
    }
}
