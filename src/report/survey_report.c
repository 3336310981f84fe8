// SPDX-License-Identifier: MIT
#include "report/survey_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/markdown.h"
#include "report/model_report.h"
#include "report/report.h"
#include "report/scenario_report.h"
#include "report/survey.h"

/* --- the question -------------------------------------------------------------------------- */

static bool is_prefill(const struct roof_survey_phase *phase)
{
    return phase->base->scenario.phase == ROOF_PHASE_PREFILL;
}

/* The most operators that are named for a bottleneck, those with the most time first. */
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

/* Writes a row of the summary: the bound, the estimate, and the bottleneck. */
static void put_summary_row(struct roof_markdown_table *g, double bound_s, double expected_s,
                            const char *bound_by)
{
    roof_markdown_end_cell(g); /* the subject has been written before */
    roof_markdown_quantity(g, bound_s, ROOF_UNIT_MILLISECONDS);
    roof_markdown_quantity(g, expected_s, ROOF_UNIT_MILLISECONDS);
    roof_markdown_cell(g, bound_by);
}

/* Names the period that a phase's time covers. For a request it is that of a single pass, because
 * the times of requests include other passes. */
static const char *time_of(const struct roof_survey_phase *phase, bool request)
{
    const bool one = phase->base->scenario.common.shape.batch == 1;
    return is_prefill(phase) ? isnan(phase->base->ttft_s) ? "a chunk"
                               : !request                 ? "time to first token"
                               : one                      ? "prefill of one prompt"
                                                          : "prefill of all prompts"
           : request         ? "last decode step"
                             : "time per token";
}

/* Writes the rows of a phase: its time, tokens/s, and the largest contribution. The tokens/s of a
 * request are not those of its passes. */
static void put_summary_of(struct roof_markdown_table *g, const struct roof_survey_phase *phase,
                           bool request)
{
    const struct roof_model_prediction *const r = phase->base;
    const struct roof_scenario *const s = &r->scenario;
    size_t order[ROOF_GRAPH_MAX];
    char by[ROOF_MODEL_REPORT_NAME + 64];
    char name[ROOF_MODEL_REPORT_NAME];
    roof_text_printf(&g->text, "%s (%sbatch %" PRId64 ", context %" PRId64, time_of(phase, request),
                     request             ? ""
                     : is_prefill(phase) ? "prefill, "
                                         : "decode, ",
                     s->common.shape.batch, s->context);
    if (is_prefill(phase) && s->chunk != s->context) {
        roof_text_printf(&g->text, ", %" PRId64 " of it new", s->chunk);
    }
    roof_text_put(&g->text, ")");
    (void)snprintf(by, sizeof by, "%s", roof_bottleneck_name(r->total.bottleneck));
    if (roof_model_report_order(order, r) > 0) {
        (void)snprintf(by, sizeof by, "%s; %s takes %.0f%%",
                       roof_bottleneck_name(r->total.bottleneck),
                       roof_model_report_operator(name, &r->node[order[0]].node),
                       100 * roof_model_share(r, order[0]));
    }
    put_summary_row(g, roof_survey_time(r), roof_survey_expected(r), by);
    if (!isnan(r->tokens_per_s) && !request) {
        roof_text_printf(&g->text, "tokens/s (%s)", is_prefill(phase) ? "prefill" : "decode");
        roof_markdown_end_cell(g);
        roof_markdown_number(g, r->tokens_per_s);
        roof_markdown_number(g, r->expected_tokens_per_s);
        roof_markdown_cell(g, "");
    }
}

static void put_memory(struct roof_text *out, const struct roof_model_prediction *r)
{
    roof_text_put(out, "- Memory");
    roof_text_put(out, r->devices > 1 ? " on each device: " : ": ");
    roof_markdown_put_quantity(out, r->weights_memory_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, " of weights, ");
    roof_markdown_put_quantity(out, r->kv_cache_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, r->state_bytes > 0 ? " of KV cache and states, " : " of KV cache, ");
    roof_markdown_put_quantity(out, r->activation_memory_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, " of activations");
    if (r->fits == ROOF_FIT_UNKNOWN) {
        roof_text_put(out, "; the capacity of the device is unknown.\n");
        return;
    }
    roof_text_put(out, r->fits == ROOF_FIT_YES ? "; this **fits** into "
                                               : "; this **does not fit** into ");
    roof_markdown_put_quantity(out, r->memory_capacity_bytes - r->memory_reserve_bytes,
                               ROOF_UNIT_CAPACITY);
    roof_text_put(out, " of ");
    roof_markdown_put_quantity(out, r->memory_capacity_bytes, ROOF_UNIT_CAPACITY);
    roof_text_put(out, ", as ");
    roof_markdown_put_quantity(out, r->scenario.reserve, ROOF_UNIT_FRACTION);
    roof_text_put(out, " is kept free.\n");
}

/* Says why a column of expected times is empty, or what it is based on. */
static void put_expected_note(struct roof_text *out, const struct roof_model_prediction *r)
{
    if (isnan(r->total.expected_s)) {
        struct roof_text why = ROOF_TEXT_INIT;
        roof_model_report_unexpected(&why, r);
        roof_text_put(out, "- Expected times are unknown (\"-\"): ");
        roof_markdown_put_made(out, &why);
        roof_text_put(out, ".\n");
    } else if (r->expected_near > 0.01) {
        roof_text_printf(out,
                         "- %.0f%% of the expected time is estimated from other devices, libraries "
                         "or formats.\n",
                         100 * r->expected_near);
    }
}

/* Writes what takes most of a time of a request, and of its expected time if that differs. */
static const char *bound_by(char out[64], const struct roof_bounded_by *by, double expected_s)
{
    const char *const bound = roof_bottleneck_name(by->bound);
    if (isnan(expected_s) || by->expected == by->bound) {
        (void)snprintf(out, 64, "%s", bound);
    } else {
        (void)snprintf(out, 64, "%s; expected: %s", bound, roof_bottleneck_name(by->expected));
    }
    return out;
}

/* Writes a row of tokens/s of a request. */
static void put_rate_row(struct roof_markdown_table *g, const char *what, double bound,
                         double expected, const char *by)
{
    char value[ROOF_QUANTITY_SIZE];
    roof_markdown_cell(g, what);
    roof_markdown_cell(g, roof_model_report_rate(value, bound));
    roof_markdown_cell(g, roof_model_report_rate(value, expected));
    roof_markdown_cell(g, by);
}

/* Writes the rows of a request, which are those of its text report: its first token, its other
 * tokens, the total and the throughput. */
static void put_request(struct roof_markdown_table *g, const struct roof_model_prediction *r)
{
    char by[64];
    roof_text_put(&g->text, "time to first token");
    put_summary_row(g, r->ttft_s, r->expected_ttft_s,
                    bound_by(by, &r->ttft_by, r->expected_ttft_s));
    if (!isnan(r->tpot_s)) {
        roof_text_put(&g->text, "time per token");
        put_summary_row(g, r->tpot_s, r->expected_tpot_s,
                        bound_by(by, &r->tpot_by, r->expected_tpot_s));
    }
    if (r->scenario.static_batch == 0 && r->scenario.generate > 1) {
        roof_text_put(&g->text, "decode step, without prompts");
        put_summary_row(g, r->step_s, r->expected_step_s,
                        bound_by(by, &r->step_by, r->expected_step_s));
    }
    const struct roof_bounded_by whole = {.bound = r->total.bottleneck,
                                          .expected = r->total.expected_bottleneck};
    (void)bound_by(by, &whole, r->expected_e2e_s);
    roof_text_put(&g->text, "end to end");
    put_summary_row(g, r->e2e_s, r->expected_e2e_s, by);
    if (r->fits == ROOF_FIT_NO) {
        put_rate_row(g, "tokens/s", ROOF_UNKNOWN, ROOF_UNKNOWN, "does not fit in memory");
    } else if (!isnan(r->tokens_per_s)) {
        put_rate_row(g, "tokens/s", r->tokens_per_s, r->expected_tokens_per_s, by);
        put_rate_row(g, "tokens/s per user", r->tokens_per_s_per_user,
                     r->expected_tokens_per_s_per_user, by);
    }
}

/* Describes the requests. */
static void put_asked(struct roof_text *out, const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    const bool one = s->common.shape.batch == 1;
    const char *const kind = s->static_batch > 0 ? "as a static batch" : "in flight";
    roof_text_printf(out,
                     "- %" PRId64 " request%s %s, %sof %" PRId64 " prompt tokens and %" PRId64
                     " generated tokens",
                     s->common.shape.batch, one ? "" : "s", kind, one ? "" : "each ", s->prompt,
                     s->generate);
    if (s->static_batch > 0) {
        roof_text_put(out, ".\n");
    } else {
        roof_text_printf(out, "; prompts in chunks of up to %" PRId64 " tokens.\n", s->chunk);
    }
}

/* Writes a table of the request, or else of its passes. */
static void put_summary_table(struct roof_text *out, const struct roof_survey *s, bool request)
{
    struct roof_markdown_table g;
    ROOF_GRID_BEGIN(&g, "", ">lower bound", ">expected", "bound by");
    if (request) {
        put_request(&g, s->request);
    }
    if (s->decode.base != NULL && !request) {
        put_summary_of(&g, &s->decode, s->request != NULL);
    }
    if (s->prefill.base != NULL && !request) {
        put_summary_of(&g, &s->prefill, s->request != NULL);
    }
    roof_markdown_put(out, &g);
}

static void put_summary(struct roof_text *out, const struct roof_survey *s)
{
    const struct roof_model_prediction *const r = roof_survey_first(s);
    roof_text_put(out, "# Roofline report: ");
    roof_text_markdown(out, r->model->id);
    roof_text_put(out, " on ");
    roof_text_markdown(out, r->total.hardware->id);
    roof_text_put(out, "\n\n");
    struct roof_text formats = ROOF_TEXT_INIT;
    roof_model_report_formats(&formats, r);
    put_summary_table(out, s, s->request != NULL);
    roof_text_put(out, "\n- Formats: ");
    roof_markdown_put_made(out, &formats);
    if (r->devices > 1) {
        roof_text_printf(out, "; %.0f devices (tp %" PRId64 ", pp %" PRId64 ", ep %" PRId64,
                         r->devices, r->scenario.tp, r->scenario.pp, r->scenario.common.shape.ep);
        if (r->scenario.dp > 1) {
            roof_text_printf(out, ", dp %" PRId64, r->scenario.dp);
        }
        if (roof_splits_apart(&r->scenario)) {
            roof_text_printf(out, ", attention dp %" PRId64 ", moe tp %" PRId64 ", moe ep %" PRId64,
                             r->scenario.attention_dp, r->scenario.moe_tp, r->scenario.moe_ep);
        }
        roof_text_put(out, ")");
    }
    roof_text_put(out, ".\n");
    if (r->scenario.common.step_scale != 1) {
        char factor[ROOF_QUANTITY_SIZE];
        roof_text_printf(
            out, "- Expected times: those of kernels are multiplied by %s (`--step-scale`).\n",
            roof_format_short(factor, r->scenario.common.step_scale));
    }
    if (s->request != NULL) {
        put_asked(out, s->request);
    }
    put_memory(out, s->request != NULL ? s->request : r);
    put_expected_note(out, r);
    if (s->decode.base != NULL && s->prefill.base != NULL &&
        isnan(s->decode.base->total.expected_s) != isnan(s->prefill.base->total.expected_s)) {
        put_expected_note(out, s->prefill.base);
    }
    if (s->request != NULL) {
        roof_text_put(out, "\nThe operators below are those of these passes:\n\n");
        put_summary_table(out, s, false);
    }
}

static void put_law(struct roof_text *out)
{
    roof_text_put(out, "\n## The roofline\n\n");
    roof_markdown_put_block(out, "text",
                            "time       = max(bytes / bandwidth, FLOPs / peak)\n"
                            "attainable = min(peak, arithmetic intensity x bandwidth)\n"
                            "intensity  = FLOPs / bytes        ridge point = peak / bandwidth\n");
    roof_text_put(out,
                  "\nBelow its ridge point an operator is memory-bound, above it compute-bound. No "
                  "kernel is faster than the bound; the expected time is fitted to measured "
                  "kernels (docs/accuracy.md). A pass is the sum of its operators.\n");
}

/* --- kernels ------------------------------------------------------------------------------- */

/* Writes "gemm [8, 4096] x [4096, 6144]"; other operators have their dimensions. */
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

/* Writes the formats of the tensors: a single name if all are equal. */
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

/* Tells whether an operator has a small share of both the bound and the expected time. */
static bool is_small(const struct roof_model_prediction *r, size_t node)
{
    const struct roof_node_prediction *const n = &r->node[node];
    const double expected =
        (double)n->node.count * n->prediction.expected_s / roof_survey_expected(r);
    return roof_model_share(r, node) < ROOF_SMALL_SHARE && !(expected >= ROOF_SMALL_SHARE);
}

/* Writes the distribution of a phase's time over its largest operators. */
static void put_times(struct roof_text *out, const struct roof_survey_phase *phase, size_t top)
{
    const struct roof_model_prediction *const r = phase->base;
    struct roof_markdown_table g;
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, r);
    size_t left_out = 0;
    double rest = 0;
    ROOF_GRID_BEGIN(&g, "operator", ">count", "runs at", ">FLOP/byte", "bound by", ">share",
                    ">bound", ">expected");
    for (size_t i = 0; i < count; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        const struct roof_prediction *const p = &n->prediction;
        char name[ROOF_MODEL_REPORT_NAME];
        if (i >= top || (i > 0 && is_small(r, order[i]))) {
            left_out++;
            rest += roof_model_share(r, order[i]);
            continue;
        }
        roof_markdown_cell(&g, roof_model_report_operator(name, &n->node));
        roof_markdown_integer(&g, n->node.count);
        put_compute(&g.text, p);
        roof_markdown_end_cell(&g);
        roof_markdown_number(&g, p->intensity);
        roof_markdown_cell(&g, roof_bottleneck_name(p->bottleneck));
        roof_markdown_share(&g, roof_model_share(r, order[i]));
        roof_markdown_time(&g, roof_model_time(n));
        roof_markdown_time(&g, (double)n->node.count * p->expected_s);
    }
    roof_markdown_put(out, &g);
    if (left_out > 0) {
        roof_text_printf(out, "\n%zu more operator%s take%s %.1f%% of the bound%s.\n", left_out,
                         left_out == 1 ? "" : "s", left_out == 1 ? "s" : "", 100 * rest,
                         left_out == 1 ? "" : " together");
    }
}

/* Writes the computation and the formats of each operator, and then what bounds its rate: one table
 * of both would be wider than a page. */
static void put_operations(struct roof_text *out, const struct roof_model_prediction *r, size_t top)
{
    struct roof_markdown_table g;
    size_t order[ROOF_GRAPH_MAX];
    char name[ROOF_MODEL_REPORT_NAME];
    const size_t count = roof_model_report_order(order, r);
    ROOF_GRID_BEGIN(&g, "operator", "operation", "formats");
    for (size_t i = 0; i < count && i < top; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        roof_markdown_cell(&g, roof_model_report_operator(name, &n->node));
        put_shape(&g.text, &n->prediction.workload);
        roof_markdown_end_cell(&g);
        put_formats(&g.text, &n->prediction);
        roof_markdown_end_cell(&g);
    }
    roof_markdown_put(out, &g);
    roof_text_put(out, "\n");
    ROOF_GRID_BEGIN(&g, "operator", "runs at", ">FLOP/byte", ">ridge", "bound by", ">attainable");
    for (size_t i = 0; i < count && i < top; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        const struct roof_prediction *const p = &n->prediction;
        roof_markdown_cell(&g, roof_model_report_operator(name, &n->node));
        put_compute(&g.text, p);
        roof_markdown_end_cell(&g);
        roof_markdown_number(&g, p->intensity);
        roof_markdown_number(&g, p->ridge);
        roof_markdown_cell(&g, roof_bottleneck_name(p->bottleneck));
        roof_markdown_put_rate(&g.text, p->attainable_flops_per_s);
        roof_markdown_end_cell(&g);
    }
    roof_markdown_put(out, &g);
    if (count > top) {
        roof_text_printf(out, "\n%zu more operators take less (--top shows more).\n", count - top);
    }
}

static void put_kernels(struct roof_text *out, const struct roof_survey_phase *phase, size_t top)
{
    struct roof_text title = ROOF_TEXT_INIT;
    roof_report_scenario(&title, phase->base);
    roof_text_put(out, "\n### Kernels: ");
    roof_markdown_put_made(out, &title);
    roof_text_put(out, "\n\n");
    put_times(out, phase, top);
    roof_markdown_fold(out, is_prefill(phase) ? "All operators of the prefill, with shapes"
                                              : "All operators of the decode step, with shapes");
    roof_text_put(out, "\n");
    put_operations(out, phase->base, top);
    roof_markdown_unfold(out);
}

/* --- formulas ------------------------------------------------------------------------------ */

/* Writes the steps from the shape to the intensity. */
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
    roof_markdown_put_block(out, "text", lines.data == NULL ? "" : lines.data);
    out->failed |= lines.failed;
    roof_text_free(&lines);
}

static void put_formulas(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(out,
                  "\n## Arithmetic intensity\n\nThe formulas of each kind of operator, with "
                  "the largest of that kind as the example; bits(format) includes block scales.\n");
    roof_markdown_fold(out, "Formulas");
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
    roof_markdown_unfold(out);
}

/* --- bottlenecks --------------------------------------------------------------------------- */

/* Writes the share of each bottleneck in the time of some sizes, with its operators. */
static void put_bottlenecks_of(struct roof_text *out, const struct roof_survey_phase *phase)
{
    static const enum roof_bottleneck causes[] = {ROOF_BOTTLENECK_MEMORY, ROOF_BOTTLENECK_COMPUTE,
                                                  ROOF_BOTTLENECK_NETWORK};
    struct roof_markdown_table g;
    const bool prefill = is_prefill(phase);
    const char *const title[] = {prefill ? ">context" : ">batch",
                                 prefill ? ">bound" : ">time per token", "bound by", ">share",
                                 "operators"};
    roof_text_printf(out, "\n### %s\n\n", prefill ? "Prefill by context" : "Decode by batch");
    roof_markdown_begin(&g, title, COUNT(title));
    for (size_t i = 0; i < phase->points; i++) {
        const struct roof_survey_point *const p = &phase->point[i];
        size_t rows = 0;
        for (size_t k = 0; k < COUNT(causes) && p->detail; k++) {
            if (!(p->share.bottleneck[causes[k]] > 0)) {
                continue;
            }
            if (rows++ == 0) {
                roof_markdown_integer(&g, p->size);
                roof_markdown_quantity(&g, roof_survey_time(p->model_prediction),
                                       ROOF_UNIT_MILLISECONDS);
            } else {
                roof_markdown_cell(&g, "");
                roof_markdown_cell(&g, "");
            }
            roof_markdown_cell(&g, roof_bottleneck_name(causes[k]));
            roof_markdown_share(&g, p->share.bottleneck[causes[k]]);
            put_names(&g.text, p->model_prediction, causes[k]);
            roof_markdown_end_cell(&g);
        }
    }
    roof_markdown_put(out, &g);
}

/* Writes the batch at which products become compute-bound. */
static void put_bounds(struct roof_text *out, const struct roof_survey_phase *phase)
{
    const struct roof_model_prediction *const r = phase->base;
    struct roof_markdown_table g;
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, r);
    roof_text_printf(out,
                     "\nThe smallest batch at which a product is compute-bound, at context %" PRId64
                     ":\n\n",
                     r->scenario.context);
    ROOF_GRID_BEGIN(&g, "operator", ">FLOP/byte now", ">ridge", ">from batch");
    for (size_t i = 0; i < count; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        const double batch = phase->limits.compute_bound_batch[order[i]];
        if (roof_is_product(n->prediction.workload.op)) {
            const char *const none = isnan(n->prediction.compute_time_s) ? "unknown" : "never";
            char name[ROOF_MODEL_REPORT_NAME];
            roof_markdown_cell(&g, roof_model_report_operator(name, &n->node));
            roof_markdown_number(&g, n->prediction.intensity);
            roof_markdown_number(&g, n->prediction.ridge);
            if (isnan(batch)) {
                roof_text_put(&g.text, none);
            } else {
                roof_text_printf(&g.text, "%.0f", batch);
            }
            roof_markdown_end_cell(&g);
        }
    }
    roof_markdown_put(out, &g);
    if (!isnan(phase->limits.decode_compute_bound)) {
        char whole[ROOF_QUANTITY_SIZE];
        if (isinf(phase->limits.decode_compute_bound)) {
            roof_text_put(out, "\nDecode as a whole is never compute-bound.\n");
        } else {
            roof_text_printf(out, "\nDecode as a whole is compute-bound %s.\n",
                             roof_model_report_bound(whole, phase->limits.decode_compute_bound));
        }
    }
}

static void put_bottlenecks(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(out, "\n## Bottlenecks\n\nShares refer to the lower bound; the operators that "
                       "take longest come first.\n");
    roof_markdown_fold(out, "By batch and by context");
    if (s->decode.base != NULL) {
        put_bottlenecks_of(out, &s->decode);
        put_bounds(out, &s->decode);
    }
    if (s->prefill.base != NULL) {
        put_bottlenecks_of(out, &s->prefill);
    }
    roof_markdown_unfold(out);
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
        roof_text_put(
            out, "\nThe memory capacity of the device is unknown, so it is unknown what fits.\n");
    } else if (phase->limits.max_batch == 0 && phase->limits.max_context == 0) {
        roof_text_put(out, "\nNo batch and no context fits.\n");
    } else {
        roof_text_printf(out, "\nAt context %" PRId64 " ", s->context);
        put_limit(out, "batch", phase->limits.max_batch);
        roof_model_report_levers(out, r, &phase->limits);
        roof_text_printf(out, ". At batch %" PRId64 " ", s->common.shape.batch);
        put_limit(out, "context", phase->limits.max_context);
        roof_text_put(out, ".\n");
    }
    if (roof_model_report_crosses(r, &phase->limits)) {
        roof_text_printf(
            out,
            "At this batch, the KV cache takes more reads than the weights from context "
            "%.0f on.\n",
            phase->limits.kv_crossover_context);
    }
}

/* Writes the first cells of a row, which are alike in both phases. */
static void begin_scaling(struct roof_markdown_table *g, const struct roof_survey_point *p)
{
    roof_markdown_integer(g, p->size);
    roof_markdown_quantity(g, roof_survey_time(p->model_prediction), ROOF_UNIT_MILLISECONDS);
    roof_markdown_quantity(g, roof_survey_expected(p->model_prediction), ROOF_UNIT_MILLISECONDS);
    roof_markdown_number(g, p->model_prediction->tokens_per_s);
}

static void put_scaling_decode(struct roof_text *out, const struct roof_survey_phase *phase)
{
    static const char *const title[] = {">batch",         ">bound",   ">expected", ">tokens/s",
                                        ">exp. tokens/s", "fits",     ">weights",  ">KV",
                                        ">activations",   ">compute", ">network"};
    const int causes =
        ROOF_SURVEY_CAUSE_COUNT - (phase->base->devices > (double)phase->base->scenario.dp ? 0 : 1);
    struct roof_markdown_table g;
    roof_text_printf(out, "\n### Decode over batch, context %" PRId64 "\n\n",
                     phase->base->scenario.context);
    roof_markdown_begin(&g, title, 6 + (size_t)causes);
    for (size_t i = 0; i < phase->points; i++) {
        const struct roof_survey_point *const p = &phase->point[i];
        if (!p->scaling) {
            continue;
        }
        begin_scaling(&g, p);
        roof_markdown_number(&g, p->model_prediction->expected_tokens_per_s);
        roof_markdown_cell(&g, fits(p->model_prediction));
        for (int cause = 0; cause < causes; cause++) {
            roof_markdown_share(&g, p->share.cause[cause]);
        }
    }
    roof_markdown_put(out, &g);
    put_room(out, phase);
}

static void put_scaling_prefill(struct roof_text *out, const struct roof_survey_phase *phase)
{
    struct roof_markdown_table g;
    roof_text_printf(out, "\n### Prefill over context, batch %" PRId64 "\n\n",
                     phase->base->scenario.common.shape.batch);
    ROOF_GRID_BEGIN(&g, ">context", ">bound", ">expected", ">tokens/s", ">attention", ">weights",
                    ">compute", "bound by", ">KV cache", "fits");
    for (size_t i = 0; i < phase->points; i++) {
        const struct roof_survey_point *const p = &phase->point[i];
        if (!p->scaling) {
            continue;
        }
        begin_scaling(&g, p);
        roof_markdown_share(&g, p->share.attention);
        roof_markdown_share(&g, p->share.cause[ROOF_SURVEY_WEIGHTS]);
        roof_markdown_share(&g, p->share.cause[ROOF_SURVEY_COMPUTE]);
        roof_markdown_cell(&g, roof_bottleneck_name(p->model_prediction->total.bottleneck));
        roof_markdown_quantity(&g, p->model_prediction->kv_cache_bytes, ROOF_UNIT_CAPACITY);
        roof_markdown_cell(&g, fits(p->model_prediction));
    }
    roof_markdown_put(out, &g);
    put_room(out, phase);
}

static void put_scaling(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(out, "\n## Scaling\n\nShares of the lower bound. Memory-bound operators read "
                       "weights, KV cache or activations; the others compute or send.\n");
    if (s->decode.base != NULL) {
        put_scaling_decode(out, &s->decode);
    }
    if (s->prefill.base != NULL) {
        put_scaling_prefill(out, &s->prefill);
    }
}

/* --- the report ---------------------------------------------------------------------------- */

void roof_survey_report(struct roof_text *out, const struct roof_survey *study,
                        const struct roof_survey_about *about)
{
    struct roof_text command = ROOF_TEXT_INIT;
    put_summary(out, study);
    roof_survey_put_device(out, study, about);
    put_law(out);
    if (about->chart != NULL) {
        roof_text_put(out, "\n");
        roof_markdown_put_block(out, "text", about->chart);
    }
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
    roof_survey_put_changes(out, study);
    roof_text_printf(out, "\n## Reproduce\n\nThis is what roofline %s prints for\n\n",
                     about->version);
    roof_text_printf(&command, "%s\n", about->command);
    roof_markdown_put_block(out, "sh", command.data == NULL ? "" : command.data);
    out->failed |= command.failed;
    roof_text_free(&command);
}
