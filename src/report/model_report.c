// SPDX-License-Identifier: MIT
#include "report/model_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/quantization.h"
#include "predict/calibration.h"
#include "predict/pass.h"
#include "predict/unexpected.h"
#include "report/advice_report.h"
#include "report/block_report.h"
#include "report/cells.h"
#include "report/fusion_report.h"
#include "report/media_report.h"
#include "report/note_list.h"
#include "report/operator_table.h"
#include "report/published_report.h"
#include "report/render.h"
#include "report/scenario_report.h"

/* --- for people ---------------------------------------------------------------------------- */

static void put_line(struct roof_text *out, const char *label, const char *value,
                     const char *detail)
{
    roof_report_line(out, ROOF_MODEL_REPORT_LABEL, label, value, detail);
}

void roof_model_report_weights(struct roof_text *out, const struct roof_model *model,
                               const struct roof_formats *formats)
{
    const char *const layout = model->layout;
    roof_text_printf(out, "weights %s%s", layout == NULL ? "" : "as in ",
                     layout == NULL ? roof_format(formats->weights)->name : layout);
}

void roof_model_report_formats(struct roof_text *out,
                               const struct roof_model_prediction *model_prediction)
{
    const struct roof_formats *const f = &model_prediction->scenario.common.formats;
    roof_model_report_weights(out, model_prediction->model, f);
    roof_text_printf(out, ", activations %s%s, out %s, kv %s", roof_format(f->activations)->name,
                     roof_model_report_int8(model_prediction) ? " (multiplied as int8)" : "",
                     roof_format(f->out)->name, roof_format(f->kv)->name);
}

const char *roof_model_report_rate(char out[ROOF_QUANTITY_SIZE], double value)
{
    return value < 1e6 ? roof_format_short(out, value)
                       : roof_format_quantity(out, value, ROOF_UNIT_COUNTS);
}

/* Writes that the kernels of the host are unknown, or the link to it; false: neither is missing. */
static bool put_unexpected_host(struct roof_text *out, const struct roof_model_prediction *r)
{
    char why[ROOF_UNEXPECTED_SIZE];
    const struct roof_hardware *const hardware = r->total.hardware;
    for (size_t i = 0; i < r->count; i++) {
        const struct roof_node *const node = &r->node[i].node;
        const bool copied = node->upload.share > 0;
        if (node->host != NULL && (copied ? isnan(hardware->figure[ROOF_FIGURE_HOST_LINK].value)
                                          : node->host_kernels == NULL)) {
            roof_text_put(out, roof_unexpected_host(why, &r->scenario, hardware, copied));
            return true;
        }
    }
    return false;
}

void roof_model_report_unexpected(struct roof_text *out,
                                  const struct roof_model_prediction *model_prediction)
{
    char why[ROOF_UNEXPECTED_SIZE];
    const struct roof_scenario *const s = &model_prediction->scenario;
    const struct roof_hardware *const hardware = model_prediction->total.hardware;
    const bool offloads = s->offload != ROOF_OFFLOAD_NONE;
    if (put_unexpected_host(out, model_prediction)) {
        return;
    }
    if (roof_unexpected_device(why, hardware) != NULL) {
        roof_text_put(out, why);
        return;
    }
    for (size_t i = 0; i < model_prediction->count; i++) {
        const struct roof_node_prediction *const n = &model_prediction->node[i];
        if (isnan(n->prediction.expected_s)) {
            roof_text_printf(out, "%s: %s", n->node.name, roof_unexpected(why, &n->prediction));
            return;
        }
    }
    /* The prompts of a whole request have no nodes here. */
    const char *const lacks =
        offloads ? NULL : roof_unexpected_operator(model_prediction->model, hardware);
    if (lacks != NULL) {
        roof_text_printf(out,
                         "%s: no similar kernel was measured; --phase prefill or decode shows "
                         "the others",
                         lacks);
        return;
    }
    roof_text_put(out, offloads ? roof_unexpected_host(why, s, hardware, false)
                                : "one of its operators was not measured");
}

/* Writes an expected time and its range, which does not go below the lower bound. */
static void put_expected(struct roof_text *out, const struct roof_model_prediction *r,
                         double bound_s, double expected_s)
{
    char value[ROOF_QUANTITY_SIZE];
    char range[ROOF_RANGE_SIZE];
    char user[ROOF_QUANTITY_SIZE];
    char near[96] = "";
    char detail[256];
    if (isnan(expected_s)) {
        struct roof_text why = ROOF_TEXT_INIT;
        roof_model_report_unexpected(&why, r);
        put_line(out, "  expected", "-", why.data == NULL ? "" : why.data);
        out->failed |= why.failed;
        roof_text_free(&why);
        return;
    }
    const struct roof_prediction *const total = &r->total;
    double low_s = 0;
    double high_s = 0;
    roof_model_band(&low_s, &high_s, r, expected_s);
    if (r->expected_near > ROOF_NEAR_SHOWN) {
        snprintf(near, sizeof near, "%.0f%% is estimated from other devices, libraries or formats",
                 100 * r->expected_near);
    }
    const bool request = r->scenario.phase == ROOF_PHASE_REQUEST; /* prefill and decode in one */
    snprintf(detail, sizeof detail, request ? "range %s; mostly %s time" : "range %s; %s-bound",
             roof_format_range_above(range, bound_s, low_s, high_s, ROOF_UNIT_MILLISECONDS),
             roof_bottleneck_name(total->expected_bottleneck));
    put_line(out, "  expected", roof_format_quantity(value, expected_s, ROOF_UNIT_MILLISECONDS),
             detail);
    if (*near != '\0') {
        put_line(out, "", "", near);
    }
    roof_model_report_gguf(out, r);
    if (!isnan(r->expected_tokens_per_s)) {
        char taken[ROOF_QUANTITY_SIZE];
        char basis[128] = "";
        if (request) {
            snprintf(basis, sizeof basis, ": %" PRId64 " token%s in %s, first token included",
                     r->scenario.generate, r->scenario.generate == 1 ? "" : "s",
                     roof_format_quantity(taken, expected_s, ROOF_UNIT_MILLISECONDS));
        }
        snprintf(detail, sizeof detail, "%s per user%s",
                 roof_model_report_rate(user, r->expected_tokens_per_s_per_user), basis);
        put_line(out, "  expected tokens/s",
                 roof_model_report_rate(value, r->expected_tokens_per_s), detail);
    }
}

/* Writes "lower bound; 12 ms expected". Returns out. */
static const char *with_expected(char *out, size_t size, double expected_s)
{
    char value[ROOF_QUANTITY_SIZE];
    if (isnan(expected_s)) {
        snprintf(out, size, "lower bound");
    } else {
        snprintf(out, size, "lower bound; %s expected",
                 roof_format_quantity(value, expected_s, ROOF_UNIT_MILLISECONDS));
    }
    return out;
}

/* Writes the least time of a pass with experts if its tokens may choose fewer of them. */
static void put_least(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    const double least_s = roof_model_least_time(r);
    if (least_s < r->total.time_s && r->scenario.pp == 1 && r->scenario.draft_tokens == 0) {
        put_line(out, "  least", roof_format_quantity(value, least_s, ROOF_UNIT_MILLISECONDS),
                 ROOF_LEAST_NOTE);
    }
}

static void put_prefill(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char detail[256];
    const bool chunk = isnan(r->ttft_s);
    snprintf(detail, sizeof detail, "lower bound; %s-bound%s",
             roof_bottleneck_name(r->total.bottleneck),
             chunk ? "; a chunk after earlier ones" : "");
    put_line(out, chunk ? "time" : "time to first token",
             roof_format_quantity(value, r->step_s, ROOF_UNIT_MILLISECONDS), detail);
    put_least(out, r);
    put_expected(out, r, r->step_s, r->expected_step_s);
}

/* Writes a labelled time with its expected time and a note on its meaning. */
static void put_time(struct roof_text *out, const char *label, double time_s, double expected_s,
                     const char *what)
{
    char value[ROOF_QUANTITY_SIZE];
    char best[128];
    char detail[256];
    snprintf(detail, sizeof detail, "%s%s", with_expected(best, sizeof best, expected_s), what);
    put_line(out, label, roof_format_quantity(value, time_s, ROOF_UNIT_MILLISECONDS), detail);
}

/* Returns a note on other prompts and sequences within the time to first token. */
static const char *beside_prompt(const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    return s->common.shape.batch == 1 ? ""
           : s->static_batch > 0      ? "; all prompts together"
           : r->prompts_wait          ? "; prompts arrive faster than they are prefilled, and queue"
           : s->generate == 1         ? "; one prompt, while others prefill"
                                      : "; one prompt, while others decode";
}

/* Returns a note on what the times per token include beside decode steps, for a batch that is not
 * static. The bound has no prompts if another schedule keeps them apart from the steps that decode.
 */
static const char *between_tokens(const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    const bool apart = r->tpot_s * r->tokens_per_step <= r->step_s * (1 + 1e-9);
    return s->common.shape.batch == 1  ? ""
           : !apart && s->pp > 1       ? "; stages wait for prefill of others"
           : !apart                    ? "; includes prefill for others"
           : isnan(r->expected_tpot_s) ? ""
           : s->pp > 1                 ? " with stages that wait for prefill of others"
                                       : " with prefill for others";
}

static void put_request(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char mean[96];
    put_time(out, "time to first token", r->ttft_s, r->expected_ttft_s, beside_prompt(r));
    if (!isnan(r->tpot_s)) {
        snprintf(mean, sizeof mean, "; mean over %" PRId64 " tokens, with a growing context",
                 r->scenario.generate - 1);
        put_time(out, "time per token", r->tpot_s, r->expected_tpot_s,
                 r->scenario.static_batch > 0 ? mean : between_tokens(r));
    }
    if (r->scenario.static_batch == 0 && r->scenario.generate > 1) {
        put_time(out, "decode step", r->step_s, r->expected_step_s, "; without prompts");
    }
    const double sum = r->ttft_s + (double)(r->scenario.generate - 1) * r->tpot_s;
    put_line(out, "end to end", roof_format_quantity(value, r->e2e_s, ROOF_UNIT_MILLISECONDS),
             r->e2e_s > sum * (1 + 1e-9)
                 ? "lower bound; one schedule cannot reach all of these bounds"
                 : "lower bound");
    put_expected(out, r, r->e2e_s, r->expected_e2e_s);
}

static void put_decode(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char detail[256];
    const bool encodes = r->scenario.phase == ROOF_PHASE_ENCODE;
    snprintf(detail, sizeof detail, "lower bound; %s-bound%s",
             roof_bottleneck_name(r->total.bottleneck),
             r->scenario.phase == ROOF_PHASE_MIXED ? "; for the sequences in decode" : "");
    roof_format_quantity(value, encodes ? r->step_s : r->tpot_s, ROOF_UNIT_MILLISECONDS);
    put_line(out, encodes ? "encoders" : "time per token", value, detail);
    put_least(out, r);
    put_expected(out, r, encodes ? r->step_s : r->tpot_s,
                 encodes ? r->expected_step_s : r->expected_tpot_s);
}

/* Writes the gain from draft tokens, and their share of a step. */
static void put_drafts(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char other[ROOF_QUANTITY_SIZE];
    char detail[256];
    const struct roof_scenario *const s = &r->scenario;
    if (s->draft_tokens <= 0) {
        return;
    }
    roof_format_quantity(other, s->acceptance, ROOF_UNIT_FRACTION);
    snprintf(detail, sizeof detail,
             "mean with %" PRId64 " draft token%s, each accepted with %s (--acceptance)",
             s->draft_tokens, s->draft_tokens == 1 ? "" : "s", other);
    put_line(out, "tokens per step", roof_model_report_rate(value, r->tokens_per_step), detail);
    if (s->drafting == ROOF_DRAFTING_FREE) {
        put_line(out, "note", ROOF_FREE_DRAFTS, "");
    }
    if (s->phase != ROOF_PHASE_REQUEST) {
        char expected[ROOF_QUANTITY_SIZE];
        const bool known = !isnan(r->expected_step_s);
        roof_format_quantity(expected, r->expected_step_s, ROOF_UNIT_MILLISECONDS);
        snprintf(detail, sizeof detail, "lower bound: %s to verify, %s to draft%s%s%s",
                 roof_format_quantity(value, r->step_s - r->draft_s, ROOF_UNIT_MILLISECONDS),
                 roof_format_quantity(other, r->draft_s, ROOF_UNIT_MILLISECONDS), known ? "; " : "",
                 known ? expected : "", known ? " expected" : "");
        put_line(out, "step", roof_format_quantity(value, r->step_s, ROOF_UNIT_MILLISECONDS),
                 detail);
    }
}

/* Writes the slowest pipeline stage, which determines the throughput. */
static void put_stage(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char all[ROOF_QUANTITY_SIZE];
    char detail[256];
    const struct roof_scenario *const s = &r->scenario;
    const int64_t parts = roof_microbatches(s);
    if (s->pp <= 1 || s->phase == ROOF_PHASE_REQUEST) {
        return;
    }
    snprintf(detail, sizeof detail,
             "slowest of %" PRId64 "; the batch runs in %" PRId64 " part%s; all stages take %s",
             s->pp, parts, parts == 1 ? "" : "s",
             roof_format_quantity(all, r->total.time_s, ROOF_UNIT_MILLISECONDS));
    put_line(out, "stage", roof_format_quantity(value, r->slowest_stage_s, ROOF_UNIT_MILLISECONDS),
             detail);
}

/* Writes the waits for the host and the serial part, which the times include. */
static void put_host(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char waits[128] = "", serial[128] = "";
    char detail[320];
    if (!isnan(r->launches)) {
        roof_format_quantity(value, r->scenario.host_gap_s, ROOF_UNIT_MICROSECONDS);
        snprintf(waits, sizeof waits, "%.0f waits of %s for the host; ", r->launches, value);
    }
    if (r->scenario.serial_s > 0) {
        roof_format_quantity(value, r->scenario.serial_s, ROOF_UNIT_MILLISECONDS);
        snprintf(serial, sizeof serial, "%s of serial work; ", value);
    }
    roof_format_quantity(value, r->host_s / r->step_s, ROOF_UNIT_FRACTION);
    snprintf(detail, sizeof detail, "%s%s%s of a step", waits, serial, value);
    put_line(out, "host", roof_format_quantity(value, r->host_s, ROOF_UNIT_MILLISECONDS), detail);
}

static void put_times(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char user[ROOF_QUANTITY_SIZE];
    char detail[256];
    switch (r->scenario.phase) {
    case ROOF_PHASE_PREFILL:
        put_prefill(out, r);
        break;
    case ROOF_PHASE_REQUEST:
        put_request(out, r);
        break;
    default:
        put_decode(out, r);
        break;
    }
    roof_model_report_below(out, r);
    put_drafts(out, r);
    put_stage(out, r);
    if (!isnan(r->host_s)) {
        put_host(out, r);
    }
    if (r->fits == ROOF_FIT_NO) {
        put_line(out, "tokens/s", "-", "does not fit in memory");
    }
    if (!isnan(r->tokens_per_s)) {
        snprintf(detail, sizeof detail, "upper bound; %s per user",
                 roof_model_report_rate(user, r->tokens_per_s_per_user));
        put_line(out, "tokens/s", roof_model_report_rate(value, r->tokens_per_s), detail);
    }
}

/* Writes the most users (of a prefill: prompts) that fit, and the changes with which more would
 * fit. */
static void put_batch_room(struct roof_text *out, const struct roof_model_prediction *r,
                           const struct roof_limits *limits)
{
    const char *const who = r->scenario.phase == ROOF_PHASE_PREFILL ? "prompt" : "user";
    struct roof_text line = ROOF_TEXT_INIT;
    if (isnan(limits->max_batch)) {
        roof_text_printf(&line, "any number of %ss fits", who);
    } else if (limits->max_batch == 0) {
        roof_text_printf(&line, "no %s fits", who);
    } else {
        roof_text_printf(&line, "%.0f %s%s%s, %.0f do not", limits->max_batch, who,
                         limits->max_batch == 1 ? " fits" : "s fit",
                         r->scenario.dp > 1 ? " in each copy" : "", limits->max_batch + 1);
        if (r->scenario.offload != ROOF_OFFLOAD_NONE) {
            roof_text_printf(&line, ", with %s on the host", r->offload);
        }
    }
    roof_model_report_levers(&line, r, limits);
    put_line(out, "largest batch", line.data == NULL ? "" : line.data, "");
    out->failed |= line.failed;
    roof_text_free(&line);
}

/* Writes the longest context that fits with the batch of the prediction. */
static void put_context_room(struct roof_text *out, const struct roof_model_prediction *r,
                             const struct roof_limits *limits)
{
    const bool request = r->scenario.generate > 0;
    const double positions = (double)r->model->positions; /* 0: unknown */
    char line[96];
    if (positions > 0 && !(limits->max_context <= positions)) {
        snprintf(line, sizeof line, "%.0f at this batch, the model's limit", positions);
    } else if (isnan(limits->max_context)) {
        snprintf(line, sizeof line, "any length fits at this batch");
    } else if (limits->max_context > 0) {
        snprintf(line, sizeof line, "%.0f at this batch", limits->max_context);
    } else {
        return;
    }
    put_line(out, request ? "longest prompt" : "longest context", line, "");
}

/* Notes a context that the model does not support. */
static void put_longer(struct roof_text *out, const struct roof_model_prediction *r)
{
    char detail[64];
    if (r->model->positions > 0 && r->scenario.context > r->model->positions) {
        snprintf(detail, sizeof detail, "the model supports contexts up to %" PRId64,
                 r->model->positions);
        put_line(out, "note", detail, "");
    }
}

/* Room for a size, " of " and a size. */
#define PART_SIZE (2 * ROOF_QUANTITY_SIZE + 4)

/* Writes "72 of 80 GiB", or "900 MiB of 1 GiB" if the units differ. Returns out. */
static const char *put_part_of(char out[PART_SIZE], double part, double whole)
{
    char a[ROOF_QUANTITY_SIZE];
    char b[ROOF_QUANTITY_SIZE];
    roof_format_quantity(a, part, ROOF_UNIT_CAPACITY);
    roof_format_quantity(b, whole, ROOF_UNIT_CAPACITY);
    char *const unit = strchr(a, ' ');
    const char *const other = strchr(b, ' ');
    if (unit != NULL && other != NULL && strcmp(unit, other) == 0) {
        *unit = '\0'; /* the unit follows the second size */
    }
    snprintf(out, PART_SIZE, "%s of %s", a, b);
    return out;
}

static void put_memory(struct roof_text *out, const struct roof_model_prediction *r,
                       const struct roof_limits *limits)
{
    char a[ROOF_QUANTITY_SIZE];
    char b[ROOF_QUANTITY_SIZE];
    char c[ROOF_QUANTITY_SIZE];
    char part[PART_SIZE];
    char states[ROOF_QUANTITY_SIZE + 16] = "";
    char detail[256];
    const double needed = r->weights_memory_bytes + r->kv_cache_bytes + r->activation_memory_bytes;
    if (isnan(r->memory_capacity_bytes)) {
        snprintf(detail, sizeof detail, "the capacity of %s is unknown", r->total.hardware->id);
    } else {
        const double usable = r->memory_capacity_bytes - r->memory_reserve_bytes;
        snprintf(detail, sizeof detail, "%s: %s usable%s (%s kept free)",
                 needed <= usable ? "fits" : "does not fit",
                 put_part_of(part, usable, r->memory_capacity_bytes),
                 r->devices > 1 ? " per device" : "",
                 roof_format_quantity(c, r->scenario.reserve, ROOF_UNIT_FRACTION));
    }
    put_line(out, "memory", roof_format_quantity(a, needed, ROOF_UNIT_CAPACITY), detail);
    const bool stateful = r->state_bytes > 0;
    if (stateful) {
        snprintf(states, sizeof states, ", states %s",
                 roof_format_quantity(a, r->state_bytes, ROOF_UNIT_CAPACITY));
    }
    snprintf(detail, sizeof detail, "weights %s, KV cache %s%s, activations %s",
             roof_format_quantity(a, r->weights_memory_bytes, ROOF_UNIT_CAPACITY),
             roof_format_quantity(b, r->kv_cache_bytes - (stateful ? r->state_bytes : 0),
                                  ROOF_UNIT_CAPACITY),
             states, roof_format_quantity(c, r->activation_memory_bytes, ROOF_UNIT_CAPACITY));
    put_line(out, "", detail, "");
    roof_model_report_cache(out, r);
    roof_model_report_host_memory(out, r);
    if (r->fits != ROOF_FIT_UNKNOWN) {
        put_batch_room(out, r, limits);
        roof_model_report_room(out, false, r, limits);
        put_context_room(out, r, limits);
    }
    put_longer(out, r);
}

const char *roof_model_report_bound(char out[ROOF_QUANTITY_SIZE], double batch)
{
    if (isinf(batch)) {
        snprintf(out, ROOF_QUANTITY_SIZE, "never");
    } else {
        snprintf(out, ROOF_QUANTITY_SIZE, "from batch %.0f on", batch);
    }
    return out;
}

static void put_limits(struct roof_text *out, const struct roof_model_prediction *r,
                       const struct roof_limits *limits)
{
    char a[ROOF_QUANTITY_SIZE];
    char b[ROOF_QUANTITY_SIZE];
    char detail[256];
    if (limits->active_parameters < limits->parameters) {
        snprintf(detail, sizeof detail, "%s active",
                 roof_format_quantity(b, limits->active_parameters, ROOF_UNIT_COUNTS));
    } else {
        detail[0] = '\0';
    }
    put_line(out, "parameters", roof_format_quantity(a, limits->parameters, ROOF_UNIT_COUNTS),
             detail);
    if (!isnan(limits->kv_crossover_context)) {
        if (roof_model_report_crosses(r, limits)) {
            snprintf(detail, sizeof detail,
                     "from context %.0f on, the KV cache takes more reads than the weights",
                     limits->kv_crossover_context);
        } else {
            snprintf(detail, sizeof detail,
                     "none: the weights take more reads than the KV cache up to context %.0f",
                     roof_model_report_longest(r, limits));
        }
        put_line(out, "crossover", detail, "");
    }
    if (!isnan(limits->decode_compute_bound)) {
        snprintf(detail, sizeof detail, "decode as a whole: %s",
                 roof_model_report_bound(a, limits->decode_compute_bound));
        put_line(out, "compute-bound", detail, "");
    }
}

bool roof_model_report_unquantized(const struct roof_model *model,
                                   const struct roof_formats *formats)
{
    return model->quantization != NULL && model->layout == NULL &&
           roof_precision_bits(formats->weights) >= 16;
}

bool roof_model_report_readable(struct roof_text *out, const struct roof_model *model)
{
    const enum roof_status status = roof_quantization_check(model);
    out->failed = out->failed || status == ROOF_MEMORY;
    return status == ROOF_OK;
}

/* Says that a checkpoint is quantised, and how its formats can be given. */
static void put_unquantized(struct roof_text *out, const struct roof_model *model)
{
    roof_text_printf(out, "the checkpoint is quantised (%s%s)", model->quantization,
                     model->fp4_experts ? ROOF_REPORT_FP4_EXPERTS : "");
    roof_text_put(out, roof_model_report_readable(out, model)
                           ? "; --layout checkpoint predicts it as published"
                           : " in a way that is not supported; give its formats with --layout NAME "
                             "or --class");
}

void roof_model_report_note_unquantized(struct roof_text *out, const struct roof_model *model)
{
    roof_text_put(out, "\n");
    const size_t from = out->length;
    roof_text_put(out, "Note: ");
    put_unquantized(out, model);
    roof_text_put(out, ".\n");
    roof_text_fold(out, from, 0);
}

/* Writes the assumptions, before the numbers that depend on them. */
static void put_remarks(struct roof_text *out, const struct roof_model_prediction *r)
{
    bool any = false;
    for (const char *const *note = r->model->remarks; *note != NULL; note++) {
        const size_t from = out->length;
        roof_text_printf(out, "  note: %s\n", *note);
        roof_text_fold(out, from, 8);
        any = true;
    }
    if (roof_model_report_unquantized(r->model, &r->scenario.common.formats)) {
        const size_t from = out->length;
        roof_text_put(out, "  note: ");
        put_unquantized(out, r->model);
        roof_text_put(out, "\n");
        roof_text_fold(out, from, 8);
        any = true;
    }
    roof_text_put(out, any ? "\n" : "");
}

void roof_model_report_fallback(struct roof_text *out, const struct roof_model_prediction *r)
{
    const struct roof_hardware *const device = r->total.hardware;
    const size_t from = out->length + 1;
    const char *separator = "";
    roof_text_printf(out, "\n%s ", device->id);
    roof_text_put(out, device->basis == ROOF_BASIS_USER ? "has no figure in its file for "
                                                        : "has no unit for ");
    for (int i = 0; i < ROOF_PRECISION_COUNT; i++) {
        if ((r->fallbacks >> i & 1U) != 0) {
            roof_text_printf(out, "%s%s (computed in %s)", separator,
                             roof_format((enum roof_precision)i)->name,
                             roof_format(device->compute[i].precision)->name);
            separator = ", ";
        }
    }
    roof_text_put(out, ".\n");
    roof_text_fold(out, from, 0);
}

/* Writes the notes below the numbers. */
static void put_notes(struct roof_text *out, const struct roof_model_prediction *r,
                      const struct roof_hardware *product)
{
    if (r->devices > (double)r->scenario.dp && r->total.link.latency_s == 0) {
        roof_text_put(out, "\nThe lower bound counts only the bytes of collectives; "
                           "--set link_latency_us=VALUE adds latency.\n");
    }
    if (r->fallbacks != 0) {
        roof_model_report_fallback(out, r);
    }
    roof_report_fastest(out, r);
    roof_report_model_basis(out, r, product);
}

void roof_model_report_text(struct roof_text *out,
                            const struct roof_model_prediction *model_prediction,
                            const struct roof_limits *limits, size_t top, bool wide,
                            const struct roof_hardware *product)
{
    const struct roof_model_prediction *const r = model_prediction;
    const size_t title = out->length;
    roof_text_printf(out, "%s on ", r->model->id);
    roof_report_device(out, r->total.hardware);
    roof_text_put(out, ": ");
    roof_report_scenario(out, r);
    roof_text_put(out, "; ");
    roof_model_report_formats(out, r);
    roof_model_report_open_cache(out, r, limits);
    roof_text_fold(out, title, 4);
    roof_text_put(out, "\n\n");
    put_remarks(out, r);
    put_times(out, r);
    if (limits->fusion.known) {
        roof_report_fusion(out, &limits->fusion);
    }
    put_memory(out, r, limits);
    put_limits(out, r, limits);
    roof_report_blocks(out, false, &limits->blocks);
    roof_report_operators(out, r, limits, top, wide);
    put_notes(out, r, product);
}

/* --- JSON ---------------------------------------------------------------------------------- */

/* Writes the inputs of an operator from its own layer, or from the previous one. */
static void put_reads(struct roof_text *out, const char *key, const struct roof_reads *reads,
                      bool before)
{
    bool begun = false;
    for (size_t i = 0; i < reads->count; i++) {
        if (reads->before[i] == before) {
            roof_text_put(out, begun ? ",\"" : key);
            roof_text_put(out, reads->name[i]);
            roof_text_put(out, "\"");
            begun = true;
        }
    }
    roof_text_put(out, begun ? "]" : "");
}

/* Writes why there is no expected time, if there is none. */
static void put_missing(struct roof_text *out, const struct roof_model_prediction *r)
{
    struct roof_text why = ROOF_TEXT_INIT;
    if (isnan(r->total.expected_s)) {
        roof_model_report_unexpected(&why, r);
        roof_report_missing(out, why.data == NULL ? "" : why.data);
    }
    out->failed |= why.failed;
    roof_text_free(&why);
}

/* Writes the assumptions and notes of the text. */
static void json_notes(struct roof_text *out, const struct roof_model_prediction *r,
                       const struct roof_hardware *product)
{
    struct roof_text notes = ROOF_TEXT_INIT;
    put_remarks(&notes, r);
    put_longer(&notes, r);
    if (r->scenario.draft_tokens > 0 && r->scenario.drafting == ROOF_DRAFTING_FREE) {
        put_line(&notes, "note", ROOF_FREE_DRAFTS, "");
    }
    put_notes(&notes, r, product);
    roof_report_note_list(out, ",\n  ", &notes);
    roof_text_free(&notes);
}

void roof_model_report_json(struct roof_text *out,
                            const struct roof_model_prediction *model_prediction,
                            const struct roof_limits *limits, const struct roof_hardware *product,
                            const struct roof_survey *advice)
{
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_MODEL_PREDICTIONS, ROOF_OPERATOR_GEMM, "\n  ");
    roof_text_put(out, "{");
    roof_table_model_prediction(&table, out, model_prediction);
    put_missing(out, model_prediction);
    roof_report_model_published(out, "\n  ", model_prediction, product);
    json_notes(out, model_prediction, product);
    roof_text_put(out, ",\n  \"limits\": {");
    roof_report_number(out, "", "parameters", limits->parameters);
    roof_report_number(out, ",", "active_parameters", limits->active_parameters);
    roof_report_number(out, ",", "max_batch", limits->max_batch);
    roof_report_number(out, ",", "max_batch_checkpoint", limits->max_batch_checkpoint);
    roof_report_number(out, ",", "max_batch_fp8", limits->max_batch_fp8);
    roof_report_number(out, ",", "max_batch_kv_fp8", limits->max_batch_kv_fp8);
    roof_report_number(out, ",", "max_batch_kv_q8_0", limits->max_batch_kv_q8_0);
    roof_report_number(out, ",", "max_batch_ep", limits->max_batch_ep);
    roof_report_number(out, ",", "max_batch_next_tp", limits->max_batch_next_tp);
    roof_report_number(out, ",", "next_tp", limits->next_tp);
    roof_report_number(out, ",", "max_batch_nearest", limits->max_batch_nearest);
    roof_report_number(out, ",", "nearest_tp", limits->nearest_tp);
    roof_report_number(out, ",", "nearest_pp", limits->nearest_pp);
    roof_model_report_room(out, true, NULL, limits);
    roof_report_number(out, ",", "fit_offload_host_bytes", limits->fit_offload_host_bytes);
    roof_report_number(out, ",", "fit_offload_ms", 1e3 * limits->fit_offload_s);
    roof_report_number(out, ",", "max_context", limits->max_context);
    roof_report_number(out, ",", "kv_crossover_context", limits->kv_crossover_context);
    roof_report_number(out, ",", "compute_bound_batch",
                       isinf(limits->decode_compute_bound) ? ROOF_UNKNOWN
                                                           : limits->decode_compute_bound);
    roof_text_put(out, "}");
    if (limits->fusion.known) {
        roof_report_fusion_json(out, &limits->fusion);
    }
    roof_report_blocks(out, true, &limits->blocks);
    if (advice != NULL) {
        roof_report_survey_advice(out, true, advice);
    }
    if (model_prediction->count > 0) {
        roof_text_put(out, ",\n  \"operators\": [");
        for (size_t i = 0; i < model_prediction->count; i++) {
            const struct roof_node_prediction *const n = &model_prediction->node[i];
            roof_table_open_members(&table, ROOF_TABLE_NODES, n->prediction.workload.op, "");
            roof_text_put(out, i == 0 ? "\n    {" : ",\n    {");
            roof_table_node(&table, out, n);
            roof_report_number(out, ",", "compute_bound_batch", limits->compute_bound_batch[i]);
            put_reads(out, ",\"reads\":[\"", &n->node.reads, false);
            put_reads(out, ",\"reads_before\":[\"", &n->node.reads, true);
            roof_text_put(out, "}");
        }
        roof_text_put(out, "\n  ]");
    }
    roof_text_put(out, "\n}\n");
}
