// SPDX-License-Identifier: MIT
#include "report/step_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/json.h"
#include "base/quantity.h"
#include "measure/judge.h"
#include "measure/rows.h"
#include "measure/timing.h"
#include "report/markdown.h"
#include "report/model_report.h"
#include "report/scenario_report.h"

/* --- for people ---------------------------------------------------------------------------- */

/* Writes a share with its sign: "+5.3%". */
static const char *signed_share(char out[ROOF_QUANTITY_SIZE], double value)
{
    if (isnan(value)) {
        return "-";
    }
    snprintf(out, ROOF_QUANTITY_SIZE, "%+.1f%%", 100 * value);
    return out;
}

static void put_whole(struct roof_text *out, const struct roof_measured_step *step)
{
    const struct {
        const char *name;
        double value_s;
    } lines[] = {
        {"measured", step->time_s}, {"expected", step->expected_s}, {"lower bound", step->bound_s}};
    char cell[ROOF_QUANTITY_SIZE];
    for (size_t i = 0; i < COUNT(lines); i++) {
        roof_text_printf(out, "  %-12s %-14s", lines[i].name,
                         roof_format_quantity(cell, lines[i].value_s, ROOF_UNIT_MILLISECONDS));
        if (i == 0) {
            roof_text_printf(out, "median of %zu steps%s", step->samples,
                             step->noisy ? ", noisy" : "");
        } else if (i == 1) {
            roof_text_printf(out, "%s", signed_share(cell, roof_step_error(step)));
        } else {
            roof_text_printf(
                out, "%s of the measured time",
                roof_format_quantity(cell, step->bound_s / step->time_s, ROOF_UNIT_FRACTION));
        }
        roof_text_put(out, "\n");
    }
}

/* Says what the sums leave out, or what lengthens them. */
static void put_parts(struct roof_text *out, const struct roof_measured_step *step)
{
    char cell[ROOF_QUANTITY_SIZE];
    const char *separator = "  not run: ";
    if (step->measured < step->layers) {
        roof_text_printf(out,
                         "  %" PRId64 " of %" PRId64
                         " layers ran, for lack of memory or time; the result is scaled to all\n",
                         step->measured, step->layers);
    }
    for (size_t i = 0; i < step->count; i++) {
        if (step->row[i].runs == 0) {
            roof_text_printf(out, "%s%s", separator, step->row[i].node->node.name);
            separator = ", ";
        }
    }
    if (*separator == ',') {
        roof_text_printf(out,
                         "\n    no kernel here computes these; the sums cover the others (%s of "
                         "the predicted time)\n",
                         roof_format_quantity(cell, step->covered, ROOF_UNIT_FRACTION));
    }
}

/* Writes a share of the time with at most two decimals. Returns out. */
static const char *small_share(char out[ROOF_QUANTITY_SIZE], double value)
{
    if (value > 0 && value < 5e-5) {
        return "<0.01%";
    }
    if (value < 0.1) {
        (void)snprintf(out, ROOF_QUANTITY_SIZE, "%.2f%%", 100 * value);
        return out;
    }
    return roof_format_quantity(out, value, ROOF_UNIT_FRACTION);
}

static bool is_noisy(const struct roof_measured_node *row)
{
    return row->noise > ROOF_NOISE_MAX;
}

/* Tells whether all operators that ran are noisy, and more than one did. */
static bool all_noisy(const struct roof_measured_step *step)
{
    size_t ran = 0;
    size_t noisy = 0;
    for (size_t i = 0; i < step->count; i++) {
        ran += step->row[i].runs > 0 ? 1 : 0;
        noisy += step->row[i].runs > 0 && is_noisy(&step->row[i]) ? 1 : 0;
    }
    return noisy == ran && ran > 1;
}

static void put_row(struct roof_text *out, const struct roof_measured_step *step,
                    const struct roof_measured_node *row, bool mark)
{
    const double count = (double)row->node->node.count;
    const struct roof_prediction *const p = &row->node->prediction;
    char cell[5][ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  %-24s %5.0f %14s %8s %14s %8s %9s%s\n", row->node->node.name, count,
                     roof_format_quantity(cell[0], count * row->time_s, ROOF_UNIT_MILLISECONDS),
                     small_share(cell[1], count * row->time_s / step->time_s),
                     roof_format_quantity(cell[2], count * p->expected_s, ROOF_UNIT_MILLISECONDS),
                     signed_share(cell[3], roof_step_row_error(row)),
                     roof_format_quantity(cell[4], p->time_s / row->time_s, ROOF_UNIT_FRACTION),
                     mark && is_noisy(row) ? "  noisy" : "");
}

/* Returns the unmarked operator that ran longest, and marks it; NULL: there is none. */
static const struct roof_measured_node *take_longest(bool done[ROOF_GRAPH_MAX],
                                                     const struct roof_measured_step *step)
{
    size_t most = step->count;
    double time_s = -1;
    for (size_t i = 0; i < step->count; i++) {
        const struct roof_measured_node *const row = &step->row[i];
        const double own_s = (double)row->node->node.count * row->time_s;
        if (!done[i] && row->runs > 0 && own_s > time_s) {
            most = i;
            time_s = own_s;
        }
    }
    if (most == step->count) {
        return NULL;
    }
    done[most] = true;
    return &step->row[most];
}

/* Writes the measured operators, the longest first. */
static void put_rows(struct roof_text *out, const struct roof_measured_step *step)
{
    bool done[ROOF_GRAPH_MAX] = {false};
    const struct roof_measured_node *row = NULL;
    const bool noisy = all_noisy(step);
    roof_text_printf(out, "\n  %-24s %5s %14s %8s %14s %8s %9s\n", "operator", "count", "measured",
                     "share", "expected", "error", "of bound");
    while ((row = take_longest(done, step)) != NULL) {
        put_row(out, step, row, !noisy);
    }
    roof_text_put(out, noisy ? "\n  All of these rows are noisy.\n" : "");
}

/* Tells whether the step or an operator was faster than its bound by more than noise. */
static bool beyond_bound(const struct roof_measured_step *step)
{
    const double least = 1 + ROOF_NOISE_MAX;
    bool beyond = step->bound_s / step->time_s > least;
    for (size_t i = 0; i < step->count; i++) {
        const struct roof_measured_node *const row = &step->row[i];
        beyond = beyond || (row->runs > 0 && row->node->prediction.time_s / row->time_s > least);
    }
    return beyond;
}

/* Explains times below their bounds; nothing if there are none. `indent` begins each line. */
static void put_beyond(struct roof_text *out, const struct roof_measured_step *step,
                       const char *indent)
{
    if (beyond_bound(step)) {
        roof_text_printf(out,
                         "\n%sAbove 100%% of the bound, the device is faster than its figures. If "
                         "they come from\n%smeasure, other programs may have used the machine "
                         "then: measure the device again.\n",
                         indent, indent);
    }
}

/* Says whether a step agrees with its prediction; a line without a newline. */
static const char *verdict_of(const struct roof_measured_step *step)
{
    return roof_step_agrees(step) ? "Prediction and measurement agree within 15%."
           : step->covered < ROOF_STEP_COVERED
               ? "The step is not judged: the operators that ran have less than 90% of the "
                 "predicted time."
               : "Prediction and measurement differ by more than 15%.";
}

void roof_report_step_text(struct roof_text *out, const struct roof_measured_step *step,
                           bool compared)
{
    roof_text_plain(out, step->prediction->model->id);
    roof_text_put(out, ", ");
    roof_report_scenario(out, step->prediction);
    roof_text_put(out, ";\n    ");
    roof_model_report_formats(out, step->prediction);
    roof_text_put(out, "\n    measured on ");
    roof_text_plain(out, step->device.name);
    roof_text_put(out, ", expected for ");
    roof_text_plain(out, step->prediction->total.hardware->id);
    roof_text_put(out, "\n\n");
    put_whole(out, step);
    put_parts(out, step);
    put_rows(out, step);
    put_beyond(out, step, "  ");
    if (compared) {
        roof_text_printf(out, "\n  %s\n", verdict_of(step));
    }
}

/* --- for documents ------------------------------------------------------------------------- */

void roof_report_step_markdown(struct roof_text *out, const struct roof_measured_step *step,
                               bool compared)
{
    bool done[ROOF_GRAPH_MAX] = {false};
    const struct roof_measured_node *row = NULL;
    struct roof_text made = ROOF_TEXT_INIT;
    struct roof_markdown_table g;
    char cell[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "## ");
    roof_text_plain(&made, step->prediction->model->id);
    roof_text_put(&made, ", ");
    roof_report_scenario(&made, step->prediction);
    roof_markdown_put_made(out, &made);
    roof_text_put(out, "\n\n");
    roof_model_report_formats(&made, step->prediction);
    roof_text_put(&made, "; measured on ");
    roof_text_plain(&made, step->device.name);
    roof_text_put(&made, ", expected for ");
    roof_text_plain(&made, step->prediction->total.hardware->id);
    roof_text_put(&made, ".");
    roof_markdown_put_made(out, &made);
    roof_text_put(out, "\n\n```text\n");
    put_whole(out, step);
    put_parts(out, step);
    roof_text_put(out, "```\n\n");
    ROOF_GRID_BEGIN(&g, "operator", ">count", ">measured", ">share", ">expected", ">error",
                    ">of bound");
    while ((row = take_longest(done, step)) != NULL) {
        const double count = (double)row->node->node.count;
        roof_markdown_cell(&g, row->node->node.name);
        roof_markdown_integer(&g, row->node->node.count);
        roof_markdown_quantity(&g, count * row->time_s, ROOF_UNIT_MILLISECONDS);
        roof_markdown_share(&g, count * row->time_s / step->time_s);
        roof_markdown_quantity(&g, count * row->node->prediction.expected_s,
                               ROOF_UNIT_MILLISECONDS);
        roof_markdown_cell(&g, signed_share(cell, roof_step_row_error(row)));
        roof_markdown_share(&g, row->node->prediction.time_s / row->time_s);
    }
    roof_markdown_put(out, &g);
    put_beyond(out, step, "");
    if (compared) {
        roof_text_printf(out, "\n%s\n", verdict_of(step));
    }
}

/* --- for programs -------------------------------------------------------------------------- */

/* Writes a member with a number; nothing if it is unknown. */
static void put_member(struct roof_text *out, const char *key, double value)
{
    if (!isnan(value)) {
        roof_text_printf(out, ", \"%s\": ", key);
        roof_text_number(out, value);
    }
}

static void put_json_row(struct roof_text *out, const struct roof_measured_node *row)
{
    const struct roof_node *const node = &row->node->node;
    roof_text_put(out, "{\"name\": ");
    roof_json_quote(out, node->name);
    roof_text_printf(out, ", \"operator\": \"%s\", \"count\": %" PRId64 ", \"runs\": %" PRId64,
                     roof_operator_row(node->workload.op)->name, node->count, row->runs);
    put_member(out, "measured_us", roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS));
    put_member(out, "noise", row->noise);
    put_member(out, "expected_time_us",
               roof_to_unit(row->node->prediction.expected_s, ROOF_UNIT_MICROSECONDS));
    put_member(out, "time_us", roof_to_unit(row->node->prediction.time_s, ROOF_UNIT_MICROSECONDS));
    put_member(out, "error", roof_step_row_error(row));
    roof_text_put(out, "}");
}

static void put_json_step(struct roof_text *out, const struct roof_measured_step *step)
{
    const struct roof_scenario *const s = &step->prediction->scenario;
    roof_text_printf(out, "{\"phase\": \"%s\", \"batch\": %" PRId64 ", \"context\": %" PRId64,
                     step->prediction->phase, s->common.shape.batch, s->context);
    roof_text_printf(out, ", \"layers\": %" PRId64 ", \"layers_measured\": %" PRId64, step->layers,
                     step->measured);
    put_member(out, "samples", (double)step->samples);
    put_member(out, "measured_ms", roof_to_unit(step->time_s, ROOF_UNIT_MILLISECONDS));
    put_member(out, "noise", step->noise);
    roof_text_printf(out, ", \"noisy\": %s", step->noisy ? "true" : "false");
    put_member(out, "expected_ms", roof_to_unit(step->expected_s, ROOF_UNIT_MILLISECONDS));
    put_member(out, "time_ms", roof_to_unit(step->bound_s, ROOF_UNIT_MILLISECONDS));
    put_member(out, "error", roof_step_error(step));
    put_member(out, "covered", step->covered);
    roof_text_printf(out, ", \"agrees\": %s,\n   \"operators\": [",
                     roof_step_agrees(step) ? "true" : "false");
    for (size_t i = 0; i < step->count; i++) {
        roof_text_put(out, i == 0 ? "\n    " : ",\n    ");
        put_json_row(out, &step->row[i]);
    }
    roof_text_put(out, "\n   ]}");
}

void roof_report_steps_json(struct roof_text *out, const struct roof_measured_step *const *step,
                            size_t count)
{
    roof_text_put(out, "{\n  \"schema\": \"roofline/measured-model/1\",\n  \"model\": ");
    roof_json_quote(out, step[0]->prediction->model->id);
    roof_text_put(out, ",\n  \"name\": ");
    roof_json_quote(out, step[0]->device.name);
    roof_text_put(out, ",\n  \"hardware\": ");
    roof_json_quote(out, step[0]->prediction->total.hardware->id);
    roof_text_put(out, ",\n  \"steps\": [");
    for (size_t i = 0; i < count; i++) {
        roof_text_put(out, i == 0 ? "\n  " : ",\n  ");
        put_json_step(out, step[i]);
    }
    roof_text_put(out, "\n  ]\n}\n");
}

enum roof_status roof_report_steps_csv(struct roof_text *out,
                                       const struct roof_measured_step *const *step, size_t count,
                                       struct roof_error *error)
{
    struct roof_measured rows = {.row = calloc(count * ROOF_GRAPH_MAX, sizeof *rows.row)};
    const struct roof_meter_clocks unknown = {
        .sm_hz = ROOF_UNKNOWN, .power_w = ROOF_UNKNOWN, .temperature_c = ROOF_UNKNOWN};
    if (rows.row == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < step[i]->count; k++) {
            const struct roof_measured_node *const row = &step[i]->row[k];
            if (row->runs > 0) {
                rows.row[rows.count++] =
                    (struct roof_meter_row){.task = row->task,
                                            .time_s = row->time_s,
                                            .noise = row->noise,
                                            .noisy = row->noise > ROOF_NOISE_MAX,
                                            .clocks = unknown};
            }
        }
    }
    roof_rows_write(out, &rows);
    free(rows.row);
    return ROOF_OK;
}
