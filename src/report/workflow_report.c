// SPDX-License-Identifier: MIT
#include "report/workflow_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "operator/operator.h"
#include "report/report.h"

/* --- JSON ---------------------------------------------------------------------------------- */

struct member {
    const char *key;
    double value;
};

/* Writes known members, each after a comma. */
static void put_members(struct roof_text *out, const struct member *member, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isfinite(member[i].value)) {
            roof_text_printf(out, ", \"%s\": ", member[i].key);
            roof_text_number(out, member[i].value);
        }
    }
}

static double us(double time_s)
{
    return roof_to_unit(time_s, ROOF_UNIT_MICROSECONDS);
}

/* Writes the sums of a stage or a run. */
static void json_sum(struct roof_text *out, const struct roof_workflow_sum *sum)
{
    const struct member members[] = {{"launches", sum->launches},
                                     {"flops", sum->flops},
                                     {"bytes", sum->bytes},
                                     {"time_us", us(sum->time_s)},
                                     {"expected_time_us", us(sum->expected_s)},
                                     {"expected_low_us", us(sum->low_s)},
                                     {"expected_high_us", us(sum->high_s)},
                                     {"expected_or_bound_us", us(sum->mixed_s)},
                                     {"host_us", us(sum->host_s)},
                                     {"whole_us", us(sum->whole_s)}};
    roof_text_printf(out, "\"bottleneck\": \"%s\"", roof_bottleneck_name(sum->bottleneck));
    put_members(out, members, COUNT(members));
}

static void json_operator(struct roof_text *out, const struct roof_workflow *w,
                          const struct roof_workflow_operator *op)
{
    const struct roof_prediction *const p = &op->prediction;
    const struct member members[] = {{"count", (double)op->count},
                                     {"flops", p->flops},
                                     {"bytes", p->bytes},
                                     {"time_us", us(p->time_s)},
                                     {"expected_time_us", us(p->expected_s)},
                                     {"all_time_us", us(roof_workflow_time(w, op))},
                                     {"all_expected_time_us", us(roof_workflow_expected(w, op))}};
    roof_text_put(out, "{\"name\": ");
    roof_json_quote(out, op->name);
    roof_text_printf(out, ", \"operator\": \"%s\", \"split\": %s, \"bottleneck\": \"%s\"",
                     roof_operator_name(p->workload.op), op->split ? "true" : "false",
                     roof_bottleneck_name(p->bottleneck));
    put_members(out, members, COUNT(members));
    roof_text_put(out, "}");
}

static void json_stage(struct roof_text *out, const struct roof_workflow *w,
                       const struct roof_workflow_stage *s)
{
    roof_text_put(out, "    {\"name\": ");
    roof_json_quote(out, s->name);
    roof_text_printf(out, ", \"repeat\": %" PRId64 ", ", s->repeat);
    json_sum(out, &s->sum);
    roof_text_put(out, ", \"operators\": [");
    for (size_t i = 0; i < s->count; i++) {
        roof_text_put(out, i == 0 ? "\n      " : ",\n      ");
        json_operator(out, w, &w->operators[s->first + i]);
    }
    roof_text_put(out, s->count == 0 ? "]}" : "\n    ]}");
}

void roof_workflow_report_json(struct roof_text *out, const struct roof_workflow *workflow)
{
    const struct roof_workflow *const w = workflow;
    const struct member rates[] = {{"yields", w->yields},
                                   {"per_s", w->yields / w->total.time_s},
                                   {"expected_per_s", w->yields / w->total.expected_s}};
    roof_text_put(out, "{\n  \"schema\": \"roofline/graph-prediction/1\",\n  \"name\": ");
    roof_json_quote(out, w->name);
    roof_text_printf(out, ",\n  \"hardware\": \"%s\",\n  \"devices\": %" PRId64 ",\n  \"unit\": ",
                     w->hardware->id, w->devices);
    roof_json_quote(out, w->unit);
    put_members(out, rates, COUNT(rates));
    roof_text_put(out, ",\n  \"total\": {");
    json_sum(out, &w->total);
    roof_text_put(out, "},\n  \"stages\": [\n");
    for (size_t i = 0; i < w->stages; i++) {
        roof_text_put(out, i == 0 ? "" : ",\n");
        json_stage(out, w, &w->stage[i]);
    }
    roof_text_put(out, "\n  ]\n}\n");
}

/* --- for people ---------------------------------------------------------------------------- */

static void put_line(struct roof_text *out, const char *label, const char *value,
                     const char *detail)
{
    roof_report_line(out, 16, label, value, detail);
}

static bool expects_any(const struct roof_workflow *w)
{
    size_t i = 0;
    while (i < w->operator_count && isnan(w->operators[i].prediction.expected_s)) {
        i++;
    }
    return i < w->operator_count;
}

/* Names the kinds of operators without an expected time. */
static void put_unexpected(struct roof_text *out, const struct roof_workflow *w)
{
    bool named[ROOF_OPERATOR_COUNT] = {false};
    bool first = true;
    for (size_t i = 0; i < w->operator_count; i++) {
        const struct roof_prediction *const p = &w->operators[i].prediction;
        if (isnan(p->expected_s) && !named[p->workload.op]) {
            named[p->workload.op] = true;
            roof_text_printf(out, "%s%s", first ? "" : ", ", roof_operator_name(p->workload.op));
            first = false;
        }
    }
}

/* Writes the expected time of a run, with bounds for operators that have no expected time. */
static void put_expected(struct roof_text *out, const struct roof_workflow *w)
{
    char value[ROOF_QUANTITY_SIZE];
    char range[ROOF_RANGE_SIZE];
    struct roof_text detail = ROOF_TEXT_INIT;
    const struct roof_workflow_sum *const t = &w->total;
    if (isnan(t->expected_s)) {
        roof_text_put(&detail, "with the bounds of stages that were not measured: ");
        put_unexpected(&detail, w);
    } else {
        roof_text_printf(&detail, "range %s",
                         roof_format_range(range, t->low_s, t->high_s, ROOF_UNIT_MILLISECONDS));
    }
    put_line(out, "  expected", roof_format_quantity(value, t->mixed_s, ROOF_UNIT_MILLISECONDS),
             detail.data == NULL ? "" : detail.data);
    out->failed |= detail.failed;
    roof_text_free(&detail);
}

static void put_total(struct roof_text *out, const struct roof_workflow *w)
{
    const struct roof_workflow_sum *const t = &w->total;
    const bool expects = expects_any(w);
    char value[ROOF_QUANTITY_SIZE];
    char other[ROOF_QUANTITY_SIZE];
    char detail[160];
    char label[40];
    snprintf(detail, sizeof detail, "lower bound; %s-bound", roof_bottleneck_name(t->bottleneck));
    put_line(out, "run", roof_format_quantity(value, t->time_s, ROOF_UNIT_MILLISECONDS), detail);
    if (expects) {
        put_expected(out, w);
    } else {
        put_line(out, "  expected", "-", "no operator was measured on such a device");
    }
    snprintf(label, sizeof label, "%.12s/s", w->unit);
    snprintf(detail, sizeof detail, "upper bound; %s in a run",
             roof_format_short(other, w->yields));
    put_line(out, label, roof_format_short(value, w->yields / t->time_s), detail);
    if (expects) {
        put_line(out, "  expected", roof_format_short(value, w->yields / t->mixed_s), "");
    }
    if (t->host_s > 0) {
        snprintf(detail, sizeof detail, "%s of the run: serial parts, and waits before launches",
                 roof_format_quantity(other, t->host_s / t->time_s, ROOF_UNIT_FRACTION));
        put_line(out, "host", roof_format_quantity(value, t->host_s, ROOF_UNIT_MILLISECONDS),
                 detail);
    }
    if (w->devices > 1) {
        snprintf(detail, sizeof detail, "%s of the run: more devices do not shorten it",
                 roof_format_quantity(other, t->whole_s / t->time_s, ROOF_UNIT_FRACTION));
        put_line(out, "not split", roof_format_quantity(value, t->whole_s, ROOF_UNIT_MILLISECONDS),
                 detail);
    }
}

/* Writes a time in milliseconds, or "-". */
static void put_ms(struct roof_text *out, double time_s)
{
    if (isnan(time_s)) {
        roof_text_printf(out, " %12s", "-");
    } else {
        roof_text_printf(out, " %12.3f", roof_to_unit(time_s, ROOF_UNIT_MILLISECONDS));
    }
}

static void put_stages(struct roof_text *out, const struct roof_workflow *w)
{
    roof_text_printf(out, "\n  %-20s %8s %9s %12s %7s  %-8s %12s\n", "stage", "repeat", "launches",
                     "time ms", "share", "bound", "expected ms");
    for (size_t i = 0; i < w->stages; i++) {
        const struct roof_workflow_stage *const s = &w->stage[i];
        roof_text_printf(out, "  %-20.40s %8" PRId64 " %9.0f", s->name, s->repeat, s->sum.launches);
        put_ms(out, s->sum.time_s);
        roof_text_printf(out, " %6.1f%%  %-8s", 100 * s->sum.time_s / w->total.time_s,
                         roof_bottleneck_name(s->sum.bottleneck));
        put_ms(out, s->sum.expected_s);
        roof_text_put(out, "\n");
    }
}

/* Finds the slowest operator that is not shown yet. */
static size_t next_operator(const struct roof_workflow *w, const bool *shown)
{
    size_t best = w->operator_count;
    for (size_t i = 0; i < w->operator_count; i++) {
        if (!shown[i] &&
            (best == w->operator_count || roof_workflow_time(w, &w->operators[i]) >
                                              roof_workflow_time(w, &w->operators[best]))) {
            best = i;
        }
    }
    return best;
}

static void put_operators(struct roof_text *out, const struct roof_workflow *w, size_t top)
{
    bool shown[ROOF_WORKFLOW_OPERATORS_MAX] = {false};
    double rest_s = w->total.time_s - w->total.host_s;
    roof_text_printf(out, "\n  %-20s %-12s %7s %12s %7s  %-8s %12s\n", "operator", "stage", "count",
                     "time ms", "share", "bound", "expected ms");
    for (size_t k = 0; k < top && k < w->operator_count; k++) {
        const size_t i = next_operator(w, shown);
        const struct roof_workflow_operator *const op = &w->operators[i];
        shown[i] = true;
        rest_s -= roof_workflow_time(w, op);
        roof_text_printf(out, "  %-20.40s %-12.24s %7" PRId64, op->name, w->stage[op->stage].name,
                         op->count);
        put_ms(out, roof_workflow_time(w, op));
        roof_text_printf(out, " %6.1f%%  %-8s", 100 * roof_workflow_time(w, op) / w->total.time_s,
                         roof_bottleneck_name(op->prediction.bottleneck));
        put_ms(out, roof_workflow_expected(w, op));
        roof_text_put(out, "\n");
    }
    if (w->operator_count > top) {
        roof_text_printf(out, "  %-20s %-12s %7s", "the others", "", "");
        put_ms(out, rest_s);
        roof_text_printf(out, " %6.1f%%\n", 100 * rest_s / w->total.time_s);
    }
}

void roof_workflow_report_text(struct roof_text *out, const struct roof_workflow *workflow,
                               size_t top)
{
    const struct roof_workflow *const w = workflow;
    roof_text_plain(out, w->name);
    roof_text_put(out, " on ");
    roof_report_device(out, w->hardware);
    roof_text_printf(out, ": %zu stage%s, %" PRId64 " device%s\n\n", w->stages,
                     w->stages == 1 ? "" : "s", w->devices, w->devices == 1 ? "" : "s");
    put_total(out, w);
    put_stages(out, w);
    put_operators(out, w, top);
}
