// SPDX-License-Identifier: MIT
#include "roofline/survey_report.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "roofline/model_report.h"
#include "roofline/report.h"

#include "predict/predict.h"

/* --- Markdown ------------------------------------------------------------------------------ */

/* A text of others that was made for this; releases it. */
static void put_made(struct roof_text *out, struct roof_text *made)
{
    roof_text_markdown(out, made->data == NULL ? "" : made->data);
    out->failed = out->failed || made->failed;
    roof_text_free(made);
}

/* A table: cells are written into `text` one by one, each ended by end_cell. */
#define COLUMNS_MAX 16
struct grid {
    struct roof_text text;
    size_t cells;
    size_t columns;
    unsigned right; /* bit of a column: its cells are numbers */
};

static void end_cell(struct grid *g)
{
    roof_text_add(&g->text, "", 1);
    g->cells++;
}

static void cell(struct grid *g, const char *text)
{
    roof_text_put(&g->text, text);
    end_cell(g);
}

/* Column titles, those of numbers with a leading '>'. */
static void begin_grid(struct grid *g, const char *const *title, size_t columns)
{
    *g = (struct grid){.columns = columns};
    for (size_t i = 0; i < columns; i++) {
        const bool right = *title[i] == '>';
        g->right |= right ? 1U << i : 0;
        cell(g, title[i] + (right ? 1 : 0));
    }
}
#define BEGIN_GRID(g, ...)                                                                         \
    begin_grid(g, (const char *const[]){__VA_ARGS__},                                              \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_rule(struct roof_text *out, const struct grid *g, const size_t *width)
{
    roof_text_put(out, "|");
    for (size_t i = 0; i < g->columns; i++) {
        const bool right = (g->right >> i & 1U) != 0;
        roof_text_put(out, " ");
        roof_text_fill(out, '-', width[i] - (right ? 1 : 0));
        roof_text_put(out, right ? ": |" : " |");
    }
    roof_text_put(out, "\n");
}

/* Writes and releases it. */
static void put_grid(struct roof_text *out, struct grid *g)
{
    size_t width[COLUMNS_MAX] = {0};
    const char *at = g->text.data;
    out->failed = out->failed || g->text.failed;
    for (size_t i = 0; i < g->cells && !g->text.failed; i++, at += strlen(at) + 1) {
        const size_t wide = roof_text_width(at);
        size_t *const widest = &width[i % g->columns];
        *widest = wide > *widest ? wide : *widest;
        *widest = *widest < 3 ? 3 : *widest; /* of the rule */
    }
    at = g->text.data;
    for (size_t i = 0; i < g->cells && !g->text.failed; i++, at += strlen(at) + 1) {
        const size_t column = i % g->columns;
        const size_t blanks = width[column] - roof_text_width(at);
        const bool right = (g->right >> column & 1U) != 0;
        roof_text_put(out, column == 0 ? "| " : " ");
        roof_text_fill(out, ' ', right ? blanks : 0);
        roof_text_put(out, at);
        roof_text_fill(out, ' ', right ? 0 : blanks);
        roof_text_put(out, column + 1 == g->columns ? " |\n" : " |");
        if (i + 1 == g->columns) {
            put_rule(out, g, width);
        }
    }
    roof_text_free(&g->text);
}

/* Lines as they stand, in a fence that none of them ends. */
static void put_block(struct roof_text *out, const char *kind, const char *lines)
{
    size_t longest = 2;
    size_t run = 0;
    for (const char *p = lines; *p != '\0'; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    roof_text_fill(out, '`', longest + 1);
    roof_text_printf(out, "%s\n%s", kind, lines);
    roof_text_fill(out, '`', longest + 1);
    roof_text_put(out, "\n");
}

static void put_quantity(struct roof_text *out, double value, enum roof_unit unit)
{
    char text[ROOF_QUANTITY_SIZE];
    roof_text_put(out, roof_format_quantity(text, value, unit));
}

static void quantity_cell(struct grid *g, double value, enum roof_unit unit)
{
    put_quantity(&g->text, value, unit);
    end_cell(g);
}

static void integer_cell(struct grid *g, int64_t value)
{
    roof_text_printf(&g->text, "%" PRId64, value);
    end_cell(g);
}

static void time_cell(struct grid *g, double seconds)
{
    quantity_cell(g, seconds, ROOF_UNIT_MICROSECONDS);
}

static void share_cell(struct grid *g, double fraction)
{
    roof_text_printf(&g->text, "%.1f%%", 100 * fraction);
    end_cell(g);
}

static void number_cell(struct grid *g, double value)
{
    char text[ROOF_QUANTITY_SIZE];
    cell(g, roof_format_short(text, value));
}

/* FLOP/s with the prefix that it needs; "-" where there are none. */
static void put_rate(struct roof_text *out, double flops_per_s)
{
    const bool some = flops_per_s > 0;
    put_quantity(out, some ? flops_per_s : ROOF_UNKNOWN, ROOF_UNIT_FLOPS);
    roof_text_put(out, some ? "/s" : "");
}

/* --- what is asked ------------------------------------------------------------------------- */

static const struct roof_model_prediction *first_base(const struct roof_survey *s)
{
    return s->decode.base != NULL ? s->decode.base : s->prefill.base;
}

static bool is_prefill(const struct roof_survey_phase *phase)
{
    return phase->base->scenario.phase == ROOF_PHASE_PREFILL;
}

static const char *phase_name(const struct roof_survey_phase *phase)
{
    return is_prefill(phase) ? "Prefill" : "Decode";
}

/* Names of operators that it bounds, most time first. */
#define NAMES_MAX 4
static void put_names(struct roof_text *out, const struct roof_model_prediction *r,
                      enum roof_bottleneck bottleneck)
{
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, r);
    size_t named = 0;
    size_t more = 0;
    for (size_t i = 0; i < count; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        if (n->prediction.bottleneck != bottleneck) {
            continue;
        }
        if (named == NAMES_MAX) {
            more++;
            continue;
        }
        roof_text_printf(out, "%s%s", named == 0 ? "" : ", ", n->node.name);
        named++;
    }
    if (more > 0) {
        roof_text_printf(out, " and %zu more", more);
    }
    roof_text_put(out, named == 0 ? "-" : "");
}

/* --- the summary --------------------------------------------------------------------------- */

static void put_expected(struct roof_text *out, const struct roof_model_prediction *r)
{
    const double expected_s = roof_survey_expected(r);
    if (isnan(expected_s)) {
        roof_text_put(out, " at best; what to expect is unknown");
        return;
    }
    roof_text_put(out, " at best, ");
    put_quantity(out, expected_s, ROOF_UNIT_MILLISECONDS);
    roof_text_put(out, " expected");
}

static void put_summary_of(struct roof_text *out, const struct roof_survey_phase *phase)
{
    const struct roof_model_prediction *const r = phase->base;
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, r);
    const struct roof_scenario *const s = &r->scenario;
    roof_text_printf(out, "%s (batch %" PRId64 ", context %" PRId64, phase_name(phase),
                     s->common.shape.batch, s->context);
    if (is_prefill(phase) && s->chunk != s->context) {
        roof_text_printf(out, ", %" PRId64 " of it new", s->chunk);
    }
    roof_text_printf(out, ") is %s-bound: ", roof_bottleneck_name(r->total.bottleneck));
    put_quantity(out, roof_survey_time(r), ROOF_UNIT_MILLISECONDS);
    roof_text_put(out, !is_prefill(phase) ? " per token"
                       : isnan(r->ttft_s) ? " for the chunk"
                                          : " to the first token");
    put_expected(out, r);
    if (!isnan(r->tokens_per_s)) {
        char rate[ROOF_QUANTITY_SIZE];
        roof_text_printf(out, ", %s tokens/s at best", roof_format_short(rate, r->tokens_per_s));
    }
    if (count > 0) {
        roof_text_printf(out, "; %s has %.1f%% of the bound time", r->node[order[0]].node.name,
                         100 * roof_model_share(r, order[0]));
    }
    roof_text_put(out, ".\n");
}

static void put_memory(struct roof_text *out, const struct roof_model_prediction *r)
{
    roof_text_put(out, "Memory");
    roof_text_put(out, r->devices > 1 ? " on each device: " : ": ");
    put_quantity(out, r->weights_memory_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, " of weights, ");
    put_quantity(out, r->kv_cache_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, " of KV cache, ");
    put_quantity(out, r->activation_memory_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, " of activations");
    if (r->fits == ROOF_FIT_UNKNOWN) {
        roof_text_put(out, "; the capacity of the device is unknown.\n");
        return;
    }
    roof_text_put(out,
                  r->fits == ROOF_FIT_YES ? ": it **fits** into " : ": it **does not fit** into ");
    put_quantity(out, r->memory_capacity_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, " less ");
    put_quantity(out, r->scenario.reserve, ROOF_UNIT_FRACTION);
    roof_text_put(out, " kept free.\n");
}

/* Why a column of expected times is empty, or what it stands on. */
static void put_expected_note(struct roof_text *out, const struct roof_model_prediction *r)
{
    if (isnan(r->total.expected_s)) {
        struct roof_text why = ROOF_TEXT_INIT;
        roof_model_report_unexpected(&why, r);
        roof_text_put(out, "Expected times are unknown (\"-\"): ");
        put_made(out, &why);
        roof_text_put(out, ".\n");
    } else if (r->expected_near > 0.01) {
        put_quantity(out, r->expected_near, ROOF_UNIT_FRACTION);
        roof_text_put(out, " of the expected time is as measured on other devices, stacks or "
                           "formats.\n");
    }
}

static void put_request(struct roof_text *out, const struct roof_model_prediction *r)
{
    roof_text_printf(out, "A request of %" PRId64 " prompt and %" PRId64 " generated tokens takes ",
                     r->scenario.prompt, r->scenario.generate);
    put_quantity(out, r->e2e_s, ROOF_UNIT_MILLISECONDS);
    roof_text_put(out, " at best");
    if (!isnan(r->expected_e2e_s)) {
        roof_text_put(out, ", ");
        put_quantity(out, r->expected_e2e_s, ROOF_UNIT_MILLISECONDS);
        roof_text_put(out, " expected");
    }
    roof_text_put(out, "; below are its prompt, and the decode step at its end.\n");
}

static void put_summary(struct roof_text *out, const struct roof_survey *s)
{
    const struct roof_model_prediction *const r = first_base(s);
    roof_text_put(out, "# Roofline report: ");
    roof_text_markdown(out, r->model->id);
    roof_text_put(out, " on ");
    roof_text_markdown(out, r->total.hardware->id);
    roof_text_put(out, "\n\n");
    struct roof_text formats = ROOF_TEXT_INIT;
    roof_model_report_formats(&formats, r);
    roof_text_put(out, "Formats: ");
    put_made(out, &formats);
    if (r->devices > 1) {
        roof_text_printf(out, "; %.0f devices (tp %" PRId64 ", pp %" PRId64 ", ep %" PRId64 ")",
                         r->devices, r->scenario.tp, r->scenario.pp, r->scenario.common.shape.ep);
    }
    roof_text_put(out, ".\n");
    if (s->request != NULL) {
        put_request(out, s->request);
    }
    if (s->decode.base != NULL) {
        put_summary_of(out, &s->decode);
    }
    if (s->prefill.base != NULL) {
        put_summary_of(out, &s->prefill);
    }
    put_memory(out, r);
    put_expected_note(out, r);
    if (s->decode.base != NULL && s->prefill.base != NULL &&
        isnan(s->decode.base->total.expected_s) != isnan(s->prefill.base->total.expected_s)) {
        put_expected_note(out, s->prefill.base);
    }
}

/* --- the device ---------------------------------------------------------------------------- */

/* Counts for each peak the operators that run at it. */
static void count_uses(int uses[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT],
                       const struct roof_model_prediction *r)
{
    for (size_t i = 0; r != NULL && i < r->count; i++) {
        const struct roof_prediction *const p = &r->node[i].prediction;
        for (int k = 0; k < p->part_count; k++) {
            uses[roof_part_peaks(&p->part[k])][p->part[k].compute] += p->part[k].work.flops > 0;
        }
    }
}

/* Peaks that are shown wherever the device has them. */
static bool usual(enum roof_peak_table table, int format)
{
    static const enum roof_precision formats[] = {ROOF_PRECISION_FP16,     ROOF_PRECISION_BF16,
                                                  ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_INT8,
                                                  ROOF_PRECISION_INT4,     ROOF_PRECISION_NVFP4};
    for (size_t i = 0; i < sizeof formats / sizeof *formats && table == ROOF_PEAK_MATRIX; i++) {
        if ((int)formats[i] == format) {
            return true;
        }
    }
    return table == ROOF_PEAK_VECTOR && format == ROOF_PRECISION_FP32;
}

static void put_source(struct roof_text *out, const char *what, const struct roof_figure *figure)
{
    roof_text_printf(out, "- %s: ", what);
    roof_text_markdown(out, figure->source == NULL ? "no source given" : figure->source);
    if (figure->confidence != ROOF_CONFIDENCE_UNKNOWN) {
        roof_text_printf(out, "; %s confidence", roof_confidence_name(figure->confidence));
    }
    if (figure->note != NULL) {
        roof_text_put(out, "; ");
        roof_text_markdown(out, figure->note);
    }
    roof_text_put(out, "\n");
}

static void limit_row(struct grid *g, const char *what, double value, enum roof_unit unit)
{
    cell(g, what);
    quantity_cell(g, value, unit);
    cell(g, "");
    cell(g, "");
}

static void put_hardware(struct roof_text *out, const struct roof_survey *s,
                         const struct roof_survey_about *about)
{
    const struct roof_model_prediction *const r = first_base(s);
    const struct roof_hardware *const h = r->total.hardware;
    const struct roof_figure *const bandwidth = &h->figure[ROOF_FIGURE_BANDWIDTH];
    static const char *const basis[] = {
        [ROOF_BASIS_DOCUMENTS] = "figures as the source documents specify them",
        [ROOF_BASIS_PUBLISHED] = "published figures",
        [ROOF_BASIS_USER] = "figures that a user gives",
    };
    struct roof_text sources = ROOF_TEXT_INIT;
    struct grid g;
    char name[80];
    bool unknown = false;
    int uses[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT] = {{0}};
    count_uses(uses, s->decode.base);
    count_uses(uses, s->prefill.base);
    roof_text_put(out, "\n## Hardware limits\n\n");
    roof_text_markdown(out, h->name);
    roof_text_printf(out, ", with %s.\n\n", basis[h->basis]);
    BEGIN_GRID(&g, "limit", ">value", ">ridge point (FLOP/byte)", ">operators at it");
    for (int table = 0; table < ROOF_PEAK_TABLE_COUNT; table++) {
        for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
            const struct roof_figure *const peak = &h->peak[table][format];
            const int count = uses[table][format];
            unknown = unknown || (count > 0 && isnan(peak->value));
            if (count == 0 && (isnan(peak->value) || !usual((enum roof_peak_table)table, format))) {
                continue;
            }
            snprintf(name, sizeof name, "peak %s, %s",
                     roof_format((enum roof_precision)format)->name,
                     roof_peak_table_label((enum roof_peak_table)table));
            cell(&g, name);
            put_rate(&g.text, peak->value);
            end_cell(&g);
            number_cell(&g, peak->value / bandwidth->value);
            integer_cell(&g, count);
            if (count > 0 && !isnan(peak->value)) {
                put_source(&sources, name, peak);
            }
        }
    }
    limit_row(&g, "memory bandwidth", bandwidth->value, ROOF_UNIT_GB_PER_S);
    limit_row(&g, "memory capacity", r->memory_capacity_bytes, ROOF_UNIT_CAPACITY);
    if (r->devices > 1) {
        limit_row(&g, "link, per device and direction", h->figure[ROOF_FIGURE_LINK].value,
                  ROOF_UNIT_GB_PER_S);
    }
    put_grid(out, &g);
    if (unknown) {
        roof_text_put(out, "\n\"-\": the device has no known peak for what these operators run "
                           "at, so their compute time is unknown, and memory alone bounds them.\n");
    }
    struct roof_text differs = ROOF_TEXT_INIT;
    roof_report_basis(&differs, &r->total, about->product);
    if (differs.length > 1) {
        roof_text_put(out, "\n");
        differs.data[--differs.length] = '\0';
        roof_text_markdown(out, differs.data + 1);
        roof_text_put(out, ".\n");
    }
    roof_text_put(out, "\nSources of the figures used:\n\n");
    put_source(out, "memory bandwidth", bandwidth);
    roof_text_put(out, sources.data == NULL ? "" : sources.data);
    out->failed = out->failed || differs.failed || sources.failed;
    roof_text_free(&differs);
    roof_text_free(&sources);
}

static void put_law(struct roof_text *out)
{
    roof_text_put(out, "\n## The roofline\n\n");
    put_block(out, "text",
              "time       = max(bytes / bandwidth, FLOPs / peak)\n"
              "attainable = min(peak, arithmetic intensity x bandwidth)\n"
              "intensity  = FLOPs / bytes        ridge point = peak / bandwidth\n");
    roof_text_put(
        out,
        "\nBelow its ridge point an operator waits for memory, from there on for the units "
        "that compute. The bound is what no kernel beats; the expected time is that of kernels "
        "as they are measured (docs/accuracy.md). A pass is the sum of its operators.\n");
}

/* --- kernels ------------------------------------------------------------------------------- */

/* "gemm [8, 4096] x [4096, 6144]"; others with their dimensions. */
static void put_shape(struct roof_text *out, const struct roof_workload *w)
{
    const struct roof_shape *const d = &w->shape;
    if (w->op != ROOF_OPERATOR_GEMM && w->op != ROOF_OPERATOR_BMM) {
        roof_report_workload(out, w);
        return;
    }
    roof_text_put(out, roof_operator_row(w->op)->name);
    if (d->batch > 1) {
        roof_text_printf(out, " %" PRId64 " x", d->batch);
    }
    roof_text_printf(out, " [%" PRId64 ", %" PRId64 "] x [%" PRId64 ", %" PRId64 "]", d->m, d->k,
                     d->k, d->n);
}

/* The formats of the tensors that there are: one name where all are the same. */
static void put_formats(struct roof_text *out, const struct roof_prediction *p)
{
    static const char *const letter[ROOF_ROLE_COUNT] = {
        [ROOF_ROLE_WEIGHTS] = "w",
        [ROOF_ROLE_ACTIVATIONS] = "a",
        [ROOF_ROLE_OUT] = "out",
        [ROOF_ROLE_KV] = "kv",
    };
    enum roof_precision only = ROOF_PRECISION_AUTO;
    bool same = true;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        const enum roof_precision f = roof_role_format(&p->workload.formats, (enum roof_role)role);
        if (p->role_bytes[role] > 0) {
            same = same && (only == ROOF_PRECISION_AUTO || only == f);
            only = f;
        }
    }
    if (same) {
        roof_text_put(out, only == ROOF_PRECISION_AUTO ? "-" : roof_format(only)->name);
        return;
    }
    bool begun = false;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        if (p->role_bytes[role] > 0) {
            roof_text_printf(
                out, "%s%s %s", begun ? ", " : "", letter[role],
                roof_format(roof_role_format(&p->workload.formats, (enum roof_role)role))->name);
            begun = true;
        }
    }
}

static void put_compute(struct roof_text *out, const struct roof_prediction *p)
{
    if (p->part_count != 1 || p->flops == 0) {
        roof_text_put(out, "-");
        return;
    }
    roof_text_printf(out, "%s%s", roof_format(p->part[0].compute)->name,
                     p->part[0].unit == ROOF_COMPUTE_VECTOR ? " vector" : "");
}

static void kernel_row(struct grid *g, const struct roof_model_prediction *r, size_t node)
{
    const struct roof_node_prediction *const n = &r->node[node];
    const struct roof_prediction *const p = &n->prediction;
    cell(g, n->node.name);
    integer_cell(g, n->node.count);
    put_shape(&g->text, &p->workload);
    end_cell(g);
    put_formats(&g->text, p);
    end_cell(g);
    put_compute(&g->text, p);
    end_cell(g);
    number_cell(g, p->intensity);
    number_cell(g, p->ridge);
    cell(g, roof_bottleneck_name(p->bottleneck));
    put_rate(&g->text, p->attainable_flops_per_s);
    end_cell(g);
    share_cell(g, roof_model_share(r, node));
    time_cell(g, roof_model_time(n));
    time_cell(g, (double)n->node.count * p->expected_s);
}

static void put_kernels(struct roof_text *out, const struct roof_survey_phase *phase, size_t top)
{
    const struct roof_model_prediction *const r = phase->base;
    struct roof_text title = ROOF_TEXT_INIT;
    struct grid g;
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, r);
    roof_model_report_scenario(&title, r);
    roof_text_put(out, "\n### Kernels: ");
    put_made(out, &title);
    roof_text_put(out, "\n\n");
    BEGIN_GRID(&g, "operator", ">count", "operation", "formats", "runs at", ">FLOP/byte", ">ridge",
               "bound by", ">attainable", ">share", ">bound", ">expected");
    for (size_t i = 0; i < count && i < top; i++) {
        kernel_row(&g, r, order[i]);
    }
    put_grid(out, &g);
    if (count > top) {
        roof_text_printf(out, "\n%zu more operators take less (--top shows more).\n", count - top);
    }
}

/* --- formulas ------------------------------------------------------------------------------ */

/* The steps from the shape to the intensity. */
static void put_steps(struct roof_text *out, const struct roof_trace *e, bool numbers)
{
    struct roof_text lines = ROOF_TEXT_INIT;
    const char *part = "";
    bool done = false;
    for (size_t i = 0; i < e->count; i++) {
        const struct roof_step *const step = &e->step[i];
        if (strcmp(step->part, part) != 0) {
            part = step->part;
            done = false;
            roof_text_printf(&lines, "%s:\n", part);
        }
        if (*step->formula != '\0' && !done) {
            roof_text_printf(&lines, "%s = %s\n", step->name, step->formula);
            if (numbers) {
                roof_text_printf(&lines, "    = %s\n    = %s\n", step->numbers, step->result);
            }
            done = strcmp(step->name, "arithmetic_intensity") == 0;
        }
    }
    put_block(out, "text", lines.data == NULL ? "" : lines.data);
    out->failed = out->failed || lines.failed;
    roof_text_free(&lines);
}

static void put_formulas(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(out, "\n## Arithmetic intensity\n\nFor each kind of operator, as the largest of "
                       "its kind here has it; bits(format) include block scales.\n");
    for (size_t i = 0; i < s->formulas; i++) {
        const struct roof_survey_formula *const f = &s->formula[i];
        roof_text_printf(out, "\n### %s\n\n",
                         roof_operator_row(f->node->prediction.workload.op)->name);
        roof_text_printf(out, "%s, here of %s:\n\n",
                         roof_operator_row(f->node->prediction.workload.op)->summary,
                         f->node->node.name);
        put_steps(out, &f->explanation, false);
    }
    const struct roof_survey_formula *const f = &s->formula[s->example];
    roof_text_printf(out, "\n### Example: %s\n\n", f->node->node.name);
    put_shape(out, &f->node->prediction.workload);
    roof_text_printf(out, ", %s-bound:\n\n", roof_bottleneck_name(f->node->prediction.bottleneck));
    put_steps(out, &f->explanation, true);
}

/* --- bottlenecks --------------------------------------------------------------------------- */

static void put_bottlenecks_of(struct roof_text *out, const struct roof_survey_phase *phase)
{
    static const enum roof_bottleneck causes[] = {ROOF_BOTTLENECK_MEMORY, ROOF_BOTTLENECK_COMPUTE,
                                                  ROOF_BOTTLENECK_NETWORK};
    struct grid g;
    const bool prefill = is_prefill(phase);
    const size_t count = phase->base->devices > 1 ? 3 : 2;
    const char *const title[] = {prefill ? ">context" : ">batch",
                                 prefill ? ">bound" : ">time per token",
                                 "bound by",
                                 ">memory-bound",
                                 "operators",
                                 ">compute-bound",
                                 "operators",
                                 ">network-bound",
                                 "operators"};
    roof_text_printf(out, "\n### %s\n\n", prefill ? "Prefill by context" : "Decode by batch");
    begin_grid(&g, title, 3 + 2 * count);
    for (size_t i = 0; i < phase->points; i++) {
        const struct roof_survey_point *const p = &phase->point[i];
        if (!p->detail) {
            continue;
        }
        integer_cell(&g, p->size);
        quantity_cell(&g, roof_survey_time(p->inference), ROOF_UNIT_MILLISECONDS);
        cell(&g, roof_bottleneck_name(p->inference->total.bottleneck));
        for (size_t k = 0; k < count; k++) {
            share_cell(&g, p->share.bottleneck[causes[k]]);
            put_names(&g.text, p->inference, causes[k]);
            end_cell(&g);
        }
    }
    put_grid(out, &g);
}

/* From which batch products are compute-bound. */
static void put_bounds(struct roof_text *out, const struct roof_survey_phase *phase)
{
    const struct roof_model_prediction *const r = phase->base;
    struct grid g;
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, r);
    roof_text_printf(
        out, "\nThe batch from which on a product is compute-bound, at context %" PRId64 ":\n\n",
        r->scenario.context);
    BEGIN_GRID(&g, "operator", ">FLOP/byte now", ">ridge", ">from batch");
    for (size_t i = 0; i < count; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        const double batch = phase->limits.compute_bound_batch[order[i]];
        if (roof_is_product(n->prediction.workload.op)) {
            cell(&g, n->node.name);
            number_cell(&g, n->prediction.intensity);
            number_cell(&g, n->prediction.ridge);
            roof_text_printf(&g.text, isnan(batch) ? "never" : "%.0f", batch);
            end_cell(&g);
        }
    }
    put_grid(out, &g);
}

static void put_bottlenecks(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(out, "\n## Bottlenecks\n\nShares are of the bound time; operators are named "
                       "with the most time first.\n");
    if (s->decode.base != NULL) {
        put_bottlenecks_of(out, &s->decode);
        put_bounds(out, &s->decode);
    }
    if (s->prefill.base != NULL) {
        put_bottlenecks_of(out, &s->prefill);
    }
}

/* --- scaling ------------------------------------------------------------------------------- */

static const char *fits(const struct roof_model_prediction *r)
{
    return r->fits == ROOF_FIT_YES ? "yes" : r->fits == ROOF_FIT_NO ? "no" : "-";
}

static void put_limit(struct roof_text *out, const char *what, double most)
{
    if (isnan(most)) {
        roof_text_printf(out, "a %s of any size fits", what);
    } else if (most == 0) {
        roof_text_put(out, "nothing fits");
    } else {
        roof_text_printf(out, "a %s up to %.0f fits", what, most);
    }
}

static void put_room(struct roof_text *out, const struct roof_survey_phase *phase)
{
    const struct roof_model_prediction *const r = phase->base;
    const struct roof_scenario *const s = &r->scenario;
    if (r->fits == ROOF_FIT_UNKNOWN) {
        roof_text_put(out, "\nThe capacity of the device is unknown, and so is what fits.\n");
    } else if (phase->limits.max_batch == 0 && phase->limits.max_context == 0) {
        roof_text_put(out, "\nNo batch and no context fits.\n");
    } else {
        roof_text_printf(out, "\nAt context %" PRId64 " ", s->context);
        put_limit(out, "batch", phase->limits.max_batch);
        roof_text_printf(out, ", at batch %" PRId64 " ", s->common.shape.batch);
        put_limit(out, "context", phase->limits.max_context);
        roof_text_put(out, ".\n");
    }
    if (!isnan(phase->limits.kv_crossover_context)) {
        roof_text_printf(out,
                         "At this batch, reading the KV cache takes as many bytes as reading the "
                         "weights from context %.0f on.\n",
                         phase->limits.kv_crossover_context);
    }
}

/* The cells that rows of both phases begin with. */
static void begin_scaling(struct grid *g, const struct roof_survey_point *p)
{
    integer_cell(g, p->size);
    quantity_cell(g, roof_survey_time(p->inference), ROOF_UNIT_MILLISECONDS);
    quantity_cell(g, roof_survey_expected(p->inference), ROOF_UNIT_MILLISECONDS);
    number_cell(g, p->inference->tokens_per_s);
}

static void put_scaling_decode(struct roof_text *out, const struct roof_survey_phase *phase)
{
    static const char *const title[] = {
        ">batch", ">bound",   ">expected", ">tokens/s",    ">expected tokens/s", "bound by",
        "fits",   ">weights", ">KV cache", ">activations", ">compute",           ">network"};
    const int causes = ROOF_SURVEY_CAUSE_COUNT - (phase->base->devices > 1 ? 0 : 1);
    struct grid g;
    roof_text_printf(out, "\n### Decode over batch, context %" PRId64 "\n\n",
                     phase->base->scenario.context);
    begin_grid(&g, title, 7 + (size_t)causes);
    for (size_t i = 0; i < phase->points; i++) {
        const struct roof_survey_point *const p = &phase->point[i];
        if (!p->scaling) {
            continue;
        }
        begin_scaling(&g, p);
        number_cell(&g, p->inference->expected_tokens_per_s);
        cell(&g, roof_bottleneck_name(p->inference->total.bottleneck));
        cell(&g, fits(p->inference));
        for (int cause = 0; cause < causes; cause++) {
            share_cell(&g, p->share.cause[cause]);
        }
    }
    put_grid(out, &g);
    put_room(out, phase);
}

static void put_scaling_prefill(struct roof_text *out, const struct roof_survey_phase *phase)
{
    struct grid g;
    roof_text_printf(out, "\n### Prefill over context, batch %" PRId64 "\n\n",
                     phase->base->scenario.common.shape.batch);
    BEGIN_GRID(&g, ">context", ">bound", ">expected", ">tokens/s", ">attention", ">weights",
               ">compute", "bound by", ">KV cache", "fits");
    for (size_t i = 0; i < phase->points; i++) {
        const struct roof_survey_point *const p = &phase->point[i];
        if (!p->scaling) {
            continue;
        }
        begin_scaling(&g, p);
        share_cell(&g, p->share.attention);
        share_cell(&g, p->share.cause[ROOF_SURVEY_WEIGHTS]);
        share_cell(&g, p->share.cause[ROOF_SURVEY_COMPUTE]);
        cell(&g, roof_bottleneck_name(p->inference->total.bottleneck));
        quantity_cell(&g, p->inference->kv_cache_bytes, ROOF_UNIT_CAPACITY);
        cell(&g, fits(p->inference));
    }
    put_grid(out, &g);
    put_room(out, phase);
}

static void put_scaling(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(out, "\n## Scaling\n\nWhat the bound time goes to: to bytes of weights, KV cache "
                       "and activations in operators that wait for memory, to computing and "
                       "sending in the others.\n");
    if (s->decode.base != NULL) {
        put_scaling_decode(out, &s->decode);
    }
    if (s->prefill.base != NULL) {
        put_scaling_prefill(out, &s->prefill);
    }
}

/* --- opportunities ------------------------------------------------------------------------- */

static void put_change(struct roof_text *out, const struct roof_survey_phase *phase,
                       const struct roof_survey_change *c)
{
    const struct roof_model_prediction *const base = phase->base;
    const struct roof_model_prediction *const r = c->inference;
    switch (c->kind) {
    case ROOF_SURVEY_FORMATS:
        if (r != NULL) {
            const struct roof_formats *const f = &r->scenario.common.formats;
            roof_text_printf(out, "weights %s, activations %s", roof_format(f->weights)->name,
                             roof_format(f->activations)->name);
        } else {
            roof_text_put(out, "narrower weights");
        }
        break;
    case ROOF_SURVEY_KV_FORMAT:
        roof_text_printf(out, "KV cache %s",
                         r == NULL ? "narrower" : roof_format(r->scenario.common.formats.kv)->name);
        break;
    case ROOF_SURVEY_BATCH_COMPUTE:
    case ROOF_SURVEY_BATCH_MEMORY:
        roof_text_printf(out, "batch %" PRId64, c->size);
        break;
    case ROOF_SURVEY_ATTENTION:
        roof_text_put(out, base->scenario.unfused_attention != 0 ? "fused attention"
                                                                 : "unfused attention");
        break;
    case ROOF_SURVEY_PROJECTIONS:
        roof_text_put(out, base->scenario.split_projections != 0 ? "joined projections"
                                                                 : "split projections");
        break;
    case ROOF_SURVEY_TP:
        roof_text_printf(out, "tensor parallelism %" PRId64, c->size);
        break;
    case ROOF_SURVEY_LAUNCH:
        roof_text_put(out, "no launch overhead");
        break;
    case ROOF_SURVEY_KERNEL:
        roof_text_printf(out, "%s at its bound", base->node[c->node].node.name);
        break;
    case ROOF_SURVEY_CHANGE_KIND_COUNT:
        break;
    }
}

#define NO_GAIN 1.01

/* What a kind of change means, and what comes with it. */
static void put_note(struct roof_text *out, const struct roof_survey_phase *phase,
                     const struct roof_survey_change *c)
{
    const struct roof_model_prediction *const base = phase->base;
    const struct roof_node_prediction *const node = &base->node[c->node];
    const double best = isnan(c->expected_gain) ? c->gain : c->expected_gain;
    char text[ROOF_QUANTITY_SIZE];
    if (c->refused.status != ROOF_OK) {
        roof_text_put(out, "not possible: ");
        roof_text_markdown(out, c->refused.message);
        return;
    }
    roof_text_put(out, !(best >= NO_GAIN) ? "does not help; " : "");
    switch (c->kind) {
    case ROOF_SURVEY_FORMATS:
        roof_text_printf(out, "typical accuracy loss %s", roof_accuracy_name(c->loss));
        break;
    case ROOF_SURVEY_KV_FORMAT:
        put_quantity(out, c->inference->kv_cache_bytes, ROOF_UNIT_CAPACITY);
        roof_text_put(out, " of cache in place of ");
        put_quantity(out, base->kv_cache_bytes, ROOF_UNIT_CAPACITY);
        break;
    case ROOF_SURVEY_BATCH_COMPUTE:
        roof_text_printf(out, "%s becomes compute-bound; each user waits longer", node->node.name);
        break;
    case ROOF_SURVEY_BATCH_MEMORY:
        roof_text_put(out, "the largest that fits; each user waits longer");
        break;
    case ROOF_SURVEY_ATTENTION:
        roof_text_put(out, base->scenario.unfused_attention != 0 ? "scores stay on the chip"
                                                                 : "scores are stored and read");
        break;
    case ROOF_SURVEY_PROJECTIONS:
        roof_text_put(out, base->scenario.split_projections != 0
                               ? "one product reads its input once"
                               : "each product reads its input again");
        break;
    case ROOF_SURVEY_TP:
        roof_text_printf(out, "on %.0f devices, %.2fx per device", c->inference->devices,
                         best * base->devices / c->inference->devices);
        break;
    case ROOF_SURVEY_LAUNCH:
        roof_text_put(out, "kernels launched ahead, as by a captured graph");
        break;
    case ROOF_SURVEY_KERNEL:
        roof_text_printf(
            out, "its kernels are expected to take %s times their bound",
            roof_format_short(text, node->prediction.expected_s / node->prediction.time_s));
        break;
    case ROOF_SURVEY_CHANGE_KIND_COUNT:
        break;
    }
    if (c->inference != NULL && c->inference->fits != base->fits) {
        roof_text_put(out, c->inference->fits == ROOF_FIT_YES ? "; fits" : "; does not fit");
    }
}

static void gain_cell(struct grid *g, double gain)
{
    if (isnan(gain)) {
        cell(g, "-");
    } else {
        roof_text_printf(&g->text, "%.2fx", gain);
        end_cell(g);
    }
}

static void put_changes(struct roof_text *out, const struct roof_survey_phase *phase)
{
    struct grid g;
    const struct roof_model_prediction *const base = phase->base;
    roof_text_printf(out, "\n### %s\n\n", phase_name(phase));
    BEGIN_GRID(&g, "change", ">bound time", ">expected time", ">gain at best", ">expected gain",
               "note");
    cell(&g, "(as it is)");
    quantity_cell(&g, roof_survey_time(base), ROOF_UNIT_MILLISECONDS);
    quantity_cell(&g, roof_survey_expected(base), ROOF_UNIT_MILLISECONDS);
    gain_cell(&g, 1);
    gain_cell(&g, isnan(base->total.expected_s) ? ROOF_UNKNOWN : 1);
    cell(&g, base->fits == ROOF_FIT_NO ? "does not fit" : "");
    for (size_t i = 0; i < phase->changes; i++) {
        const struct roof_survey_change *const c = &phase->change[i];
        put_change(&g.text, phase, c);
        end_cell(&g);
        quantity_cell(&g, c->time_s, ROOF_UNIT_MILLISECONDS);
        quantity_cell(&g, c->expected_s, ROOF_UNIT_MILLISECONDS);
        gain_cell(&g, c->gain);
        gain_cell(&g, c->expected_gain);
        put_note(&g.text, phase, c);
        end_cell(&g);
    }
    put_grid(out, &g);
}

static void put_opportunities(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(out, "\n## Opportunities\n\nOne change at a time, each predicted like the rest; "
                       "the gain is in tokens/s of all sequences, memory aside. Expected gains "
                       "rank where they are known. Times are ");
    roof_text_put(out, s->decode.base == NULL    ? "of the prefill.\n"
                       : s->prefill.base == NULL ? "per token.\n"
                                                 : "per token, and of the prefill.\n");
    if (s->decode.base != NULL) {
        put_changes(out, &s->decode);
    }
    if (s->prefill.base != NULL) {
        put_changes(out, &s->prefill);
    }
}

void roof_survey_report(struct roof_text *out, const struct roof_survey *study,
                        const struct roof_survey_about *about)
{
    struct roof_text command = ROOF_TEXT_INIT;
    put_summary(out, study);
    put_hardware(out, study, about);
    put_law(out);
    roof_text_put(out, "\n## Kernel placement\n");
    if (study->decode.base != NULL) {
        put_kernels(out, &study->decode, about->top);
    }
    if (study->prefill.base != NULL) {
        put_kernels(out, &study->prefill, about->top);
    }
    put_formulas(out, study);
    put_bottlenecks(out, study);
    put_scaling(out, study);
    put_opportunities(out, study);
    roof_text_printf(out, "\n## Reproduce\n\nThis is what roofline %s prints for\n\n",
                     about->version);
    roof_text_printf(&command, "%s\n", about->command);
    put_block(out, "sh", command.data == NULL ? "" : command.data);
    out->failed = out->failed || command.failed;
    roof_text_free(&command);
}
