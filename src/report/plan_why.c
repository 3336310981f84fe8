// SPDX-License-Identifier: MIT
/* Reports why a plan is better than the one that it is compared with. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/cells.h"
#include "report/plan_parts.h"
#include "report/speedup_report.h"

/* The most operators that are named; operators with a new bottleneck are also named. */
#define TOP_OPERATORS 4

/* Returns the format of times that are compared before and after a change. */
static struct roof_time_look look_of(const struct roof_gain *gain)
{
    return roof_time_look(fmax(gain->from_s, gain->to_s), ROOF_UNIT_MILLISECONDS);
}

/* A step of the engine is shown if it differs by this fraction or more from the time of kernels. */
#define ENGINE_LEAST 0.0005

/* Writes "  decode step  41.200 -> 20.700 ms, 1.99x; time saved: memory 18.700 ms, kernels
 * 1.800 ms", on two lines or more. These are sums of kernels; a last line has the steps of the
 * engine, unless they are the same or unknown. */
static void put_phase(struct roof_text *out, const char *label, const struct roof_gain *gain,
                      const double step_s[2])
{
    const double saved = gain->from_s - gain->to_s;
    const struct roof_time_look look = look_of(gain);
    char from[ROOF_QUANTITY_SIZE];
    char to[ROOF_QUANTITY_SIZE];
    if (isnan(saved)) {
        roof_text_printf(out, "  %-15s one side has no time\n", label);
        return;
    }
    roof_text_printf(out, "  %-15s %s -> %s ms, %.2fx", label,
                     roof_time_text(from, gain->from_s, &look),
                     roof_time_text(to, gain->to_s, &look), gain->speedup);
    const size_t end = out->length;
    roof_speedup_report_times(out, gain,
                              saved < 0 ? ";\n                  time lost: "
                                        : ";\n                  time saved: ",
                              &look);
    if (out->length > end) {
        roof_text_fold(out, end + strlen(";\n"), 20);
    }
    roof_text_put(out, "\n");
    if (fabs(step_s[1] - gain->to_s) > ENGINE_LEAST * gain->to_s) {
        roof_text_printf(out,
                         "                  in the engine %s -> %s ms: with its host time and "
                         "overlapping kernels\n",
                         roof_time_text(from, step_s[0], &look),
                         roof_time_text(to, step_s[1], &look));
    }
}

static bool is_bound(const struct roof_plan_speedup *speedup)
{
    return speedup->to.basis == ROOF_PLAN_BOUND;
}

/* Writes what the time to first token has beside the prefill of a prompt that is alone: the host
 * time of the request, and the sequences that decode in the same steps. A plan with prefill copies
 * has a line of its own. */
static void put_first(struct roof_text *out, const struct roof_plan_speedup *speedup,
                      const struct roof_plan_problem *problem)
{
    const struct roof_plan *const plan = &speedup->to;
    const double prefill_s = speedup->prefill_step_s[1];
    const double host_s = roof_plan_host_s(plan, problem);
    const double more_s = plan->ttft_s - prefill_s - host_s;
    const size_t from = out->length;
    char ttft[ROOF_QUANTITY_SIZE];
    char prefill[ROOF_QUANTITY_SIZE];
    char host[ROOF_QUANTITY_SIZE];
    char more[ROOF_QUANTITY_SIZE];
    if (plan->prefill.copies > 0 || problem->base.generate == 0 ||
        !(more_s > ENGINE_LEAST * plan->ttft_s)) {
        return;
    }
    roof_text_printf(out, "  first token     %s: prefill %s",
                     roof_format_quantity(ttft, plan->ttft_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(prefill, prefill_s, ROOF_UNIT_MILLISECONDS));
    if (host_s > 0) {
        roof_text_printf(out, ", host %s",
                         roof_format_quantity(host, host_s, ROOF_UNIT_MILLISECONDS));
    }
    roof_text_printf(out, ", and %s because its steps also decode for other requests%s",
                     roof_format_quantity(more, more_s, ROOF_UNIT_MILLISECONDS),
                     plan->waits ? ", and prompts queue" : "");
    roof_text_fold(out, from, 18);
    roof_text_put(out, "\n");
}

/* Returns the gain of an operator, or the total, in the times that rank the plan. */
static const struct roof_gain *gain_of(const struct roof_speedup_row *row,
                                       const struct roof_plan_speedup *speedup)
{
    return is_bound(speedup) ? &row->bound : &row->expected;
}

/* The least width of the names of operators, and the column behind that for their bottlenecks. */
#define OPERATOR_WIDTH 16
#define OPERATOR_BOUND 37

/* Writes an operator of the step: "  gate_up_proj  9.175 -> 4.897 ms  1.87x; lower bound: compute
 * from batch 389". */
static void put_operator(struct roof_text *out, const struct roof_plan_speedup *speedup, size_t i,
                         size_t width)
{
    const struct roof_speedup_row *const row = &speedup->decode.row[i];
    const struct roof_gain *const gain = gain_of(row, speedup);
    const enum roof_bottleneck before =
        is_bound(speedup) ? row->from_bottleneck : row->expected_from_bottleneck;
    const enum roof_bottleneck after =
        is_bound(speedup) ? row->to_bottleneck : row->expected_to_bottleneck;
    const double batch = speedup->compute_bound_batch[i];
    const size_t start = out->length;
    char from[ROOF_QUANTITY_SIZE];
    char to[ROOF_QUANTITY_SIZE];
    const struct roof_time_look look = look_of(gain_of(&speedup->decode.total, speedup));
    roof_text_printf(out, "    %-*s %8s -> %8s ms  %.2fx", (int)width, row->name,
                     roof_time_text(from, gain->from_s, &look),
                     roof_time_text(to, gain->to_s, &look), gain->speedup);
    roof_text_printf(out, "  %s", roof_bottleneck_name(before));
    if (before != after) {
        roof_text_printf(out, " -> %s", roof_bottleneck_name(after));
    }
    if (batch > 1) {
        roof_text_printf(out, "; lower bound: compute from batch %.0f", batch);
    } else if (!isnan(batch)) {
        roof_text_put(out, "; lower bound: compute");
    }
    roof_text_put(out, "\n");
    roof_text_fold(out, start, width + OPERATOR_BOUND);
}

/* Puts the operators that save most of a step, and those with a new bottleneck, in an order;
 * returns how many there are. */
static size_t order_operators(size_t order[ROOF_GRAPH_MAX], const struct roof_plan_speedup *speedup)
{
    const struct roof_speedup *const s = &speedup->decode;
    bool used[ROOF_GRAPH_MAX] = {false};
    size_t count = 0;
    for (size_t n = 0; n < TOP_OPERATORS && n < s->count; n++) {
        size_t most = s->count;
        double saved = 0;
        for (size_t i = 0; i < s->count; i++) {
            const double one =
                gain_of(&s->row[i], speedup)->from_s - gain_of(&s->row[i], speedup)->to_s;
            if (!used[i] && one > saved) {
                most = i;
                saved = one;
            }
        }
        if (most < s->count) {
            used[most] = true;
            order[count++] = most;
        }
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_speedup_row *const row = &s->row[i];
        const bool changed = is_bound(speedup)
                                 ? row->from_bottleneck != row->to_bottleneck
                                 : row->expected_from_bottleneck != row->expected_to_bottleneck;
        if (!used[i] && changed) {
            order[count++] = i;
        }
    }
    return count;
}

static void put_operators(struct roof_text *out, const struct roof_plan_speedup *speedup)
{
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = order_operators(order, speedup);
    size_t width = OPERATOR_WIDTH;
    for (size_t i = 0; i < count; i++) {
        const size_t name = strlen(speedup->decode.row[order[i]].name);
        width = name > width ? name : width;
    }
    for (size_t i = 0; i < count; i++) {
        put_operator(out, speedup, order[i], width);
    }
}

void roof_plan_put_why(struct roof_text *out, const struct roof_plan_speedup *speedup,
                       const struct roof_plan_problem *problem)
{
    static const double unknown[] = {ROOF_UNKNOWN, ROOF_UNKNOWN};
    roof_text_printf(out, "\nWhy %s: compared with %s\nat the same split and batch%s\n",
                     speedup->to_name, speedup->from_name,
                     speedup->from_fits == ROOF_FIT_NO ? " (which would not fit in memory)" : "");
    const bool pass = speedup->to.split.pp > 1; /* a step has several passes */
    const bool known = !pass && !is_bound(speedup);
    put_phase(out, "one prompt", gain_of(&speedup->prefill.total, speedup),
              known ? speedup->prefill_step_s : unknown);
    if (known) {
        put_first(out, speedup, problem);
    }
    put_phase(out, pass ? "one decode pass" : "one decode step",
              gain_of(&speedup->decode.total, speedup), known ? speedup->decode_step_s : unknown);
    put_operators(out, speedup);
    roof_speedup_report_legend(out, !is_bound(speedup));
}
