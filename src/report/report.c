// SPDX-License-Identifier: MIT
#include "roofline/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/json.h"
#include "roofline/speedup_report.h"

/* --- one prediction ------------------------------------------------------------------------ */

static void json_parts(struct roof_text *out, const struct roof_prediction *p)
{
    roof_text_put(out, ",\n  \"parts\": [");
    for (int i = 0; i < p->part_count; i++) {
        const struct roof_part *const part = &p->part[i];
        const struct {
            const char *key;
            double value;
            enum roof_unit unit;
        } numbers[] = {
            {"flops", part->work.flops, ROOF_UNIT_FLOPS},
            {"bytes", part->bytes, ROOF_UNIT_BYTES},
            {"memory_time_us", part->memory_time_s, ROOF_UNIT_MICROSECONDS},
            {"compute_time_us", part->compute_time_s, ROOF_UNIT_MICROSECONDS},
            {"time_us", part->time_s, ROOF_UNIT_MICROSECONDS},
        };
        roof_text_printf(out, "%s\n    {\"operator\": \"%s\"", i == 0 ? "" : ",",
                         roof_operator_row(part->op)->name);
        for (size_t n = 0; n < COUNT(numbers); n++) {
            if (isfinite(numbers[n].value)) {
                roof_text_printf(out, ", \"%s\": ", numbers[n].key);
                roof_text_number(out, roof_to_unit(numbers[n].value, numbers[n].unit));
            }
        }
        roof_text_printf(out, ", \"bottleneck\": \"%s\"}", roof_bottleneck_name(part->bottleneck));
    }
    roof_text_put(out, "\n  ]");
}

static void json_steps(struct roof_text *out, const struct roof_trace *explanation)
{
    roof_text_put(out, ",\n  \"why\": [");
    for (size_t i = 0; i < explanation->count; i++) {
        const struct roof_step *const s = &explanation->step[i];
        const struct {
            const char *key;
            const char *value;
        } members[] = {{"part", s->part},       {"name", s->name},     {"formula", s->formula},
                       {"numbers", s->numbers}, {"result", s->result}, {"source", s->source}};
        roof_text_put(out, i == 0 ? "\n    {" : ",\n    {");
        bool begun = false;
        for (size_t m = 0; m < COUNT(members); m++) {
            if (*members[m].value != '\0') {
                roof_text_printf(out, "%s\"%s\": ", begun ? ", " : "", members[m].key);
                roof_json_quote(out, members[m].value);
                begun = true;
            }
        }
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n  ]");
}

/* How the expected kernel works; the tile of those that have one. */
static void json_tiling(struct roof_text *out, const struct roof_expected *e)
{
    const struct roof_tiling *const t = &e->tiling;
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"launch_us", roof_to_unit(e->launch_s, ROOF_UNIT_MICROSECONDS)},
                   {"l2_hit", t->l2_hit},
                   {"tile_m", t->tile_m},
                   {"tile_n", t->tile_n},
                   {"split_k", t->split_k},
                   {"grid", t->grid},
                   {"waves", t->waves},
                   {"sm_utilisation", t->utilisation}};
    roof_text_printf(out, ",\n  \"tiling\": {\"stack\": \"%s\", \"bound\": \"%s\"",
                     roof_stack_name(e->fit->stack), roof_kernel_limit_name(e->bound));
    for (size_t i = 0; i < (e->tiled ? COUNT(numbers) : 2); i++) {
        roof_text_printf(out, ", \"%s\": ", numbers[i].key);
        roof_text_number(out, numbers[i].value);
    }
    roof_text_put(out, "}");
}

/* The kernel that is expected; NULL for composites, and where none is asked for. */
static const struct roof_expected *kernel_of(const struct roof_prediction *p, bool asked)
{
    return asked && p->part_count == 1 && !isnan(p->expected_s) ? &p->part[0].expected : NULL;
}

void roof_report_json(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_trace *explanation, bool tiling)
{
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_PREDICTIONS, prediction->workload.op, "\n  ");
    roof_text_put(out, "{");
    roof_table_prediction(&table, out, prediction);
    if (prediction->part_count > 1) {
        json_parts(out, prediction);
    }
    const struct roof_expected *const kernel = kernel_of(prediction, tiling);
    if (kernel != NULL) {
        json_tiling(out, kernel);
    }
    if (explanation != NULL) {
        json_steps(out, explanation);
    }
    roof_text_put(out, "\n}\n");
}

/* "gemv n=4096 k=4096" */
void roof_report_workload(struct roof_text *out, const struct roof_workload *w)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    roof_text_put(out, row->name);
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        const int64_t value = roof_input_get(w, input);
        const bool single = row->dims[i] == ROOF_DIM_BATCH || row->dims[i] == ROOF_DIM_EP;
        const bool plain = value == 0 || (single && value == 1) ||
                           (row->dims[i] == ROOF_DIM_WITHIN && value == w->shape.devices);
        if (input->kind == ROOF_INPUT_FLAG && value > 0) {
            roof_text_printf(out, " %s", input->option);
        } else if (input->kind == ROOF_INPUT_CHOICE && value > 0) {
            roof_text_printf(out, " %s=%s", input->option, input->choices[value]);
        } else if (input->kind == ROOF_INPUT_INTEGER && !plain) {
            roof_text_printf(out, " %s=%" PRId64, input->option, value);
        }
    }
}

/* "fp16 weights and activations, bf16 out": the formats of the roles that the operator has. */
static void put_formats(struct roof_text *out, const struct roof_prediction *p)
{
    const struct roof_formats *const f = &p->workload.formats;
    bool begun = false;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        if (p->role_bytes[role] > 0) {
            roof_text_printf(out, "%s%s %s", begun ? ", " : "",
                             roof_role_name((enum roof_role)role),
                             roof_format(roof_role_format(f, (enum roof_role)role))->name);
            begun = true;
        }
    }
}

static void line(struct roof_text *out, const char *label, const char *value, const char *detail)
{
    roof_text_printf(out, "  %-13s %-13s %s", label, value, detail);
    while (out->length > 0 && out->data[out->length - 1] == ' ') {
        out->length--;
    }
    roof_text_put(out, "\n");
}

static const char *peak_name(char out[64], const struct roof_prediction *p)
{
    snprintf(out, 64, "%s, %s unit%s", roof_format(p->compute)->name,
             roof_compute_unit_name(p->unit), p->sparse ? ", 2:4 sparse" : "");
    return out;
}

static void put_compute(struct roof_text *out, const struct roof_prediction *p)
{
    char value[ROOF_QUANTITY_SIZE];
    char work[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    char unit[64];
    char detail[300];
    roof_format_quantity(value, p->compute_time_s, ROOF_UNIT_MICROSECONDS);
    roof_format_quantity(work, p->flops, ROOF_UNIT_FLOPS);
    if (p->flops == 0) {
        snprintf(detail, sizeof detail, "no FLOPs");
    } else if (p->part_count > 1) {
        snprintf(detail, sizeof detail, "%s, each part at its own peak", work);
    } else if (isnan(p->peak_flops_per_s)) {
        snprintf(detail, sizeof detail, "%s, but %s has no known peak for %s", work,
                 p->hardware->id, roof_format(p->compute)->name);
    } else {
        snprintf(detail, sizeof detail, "%s at %s (%s)", work,
                 roof_format_quantity(rate, p->peak_flops_per_s, ROOF_UNIT_TFLOPS),
                 peak_name(unit, p));
    }
    line(out, "compute time", value, detail);
}

static void put_parts(struct roof_text *out, const struct roof_prediction *p)
{
    roof_text_put(out, "\n");
    for (int i = 0; i < p->part_count; i++) {
        const struct roof_part *const part = &p->part[i];
        char time[ROOF_QUANTITY_SIZE];
        char bytes[ROOF_QUANTITY_SIZE];
        char flops[ROOF_QUANTITY_SIZE];
        roof_text_printf(out, "  %-17s %-10s %-8s %s, %s\n", roof_operator_row(part->op)->name,
                         roof_format_quantity(time, part->time_s, ROOF_UNIT_MICROSECONDS),
                         roof_bottleneck_name(part->bottleneck),
                         roof_format_quantity(bytes, part->bytes, ROOF_UNIT_BYTES),
                         roof_format_quantity(flops, part->work.flops, ROOF_UNIT_FLOPS));
    }
}

void roof_report_why(struct roof_text *out, const struct roof_trace *explanation)
{
    const char *part = "";
    roof_text_put(out, "\nWhy\n");
    for (size_t i = 0; i < explanation->count; i++) {
        const struct roof_step *const s = &explanation->step[i];
        if (strcmp(part, s->part) != 0) {
            part = s->part;
            roof_text_printf(out, "%s%s%s\n", *part == '\0' ? "" : " [",
                             *part == '\0' ? " [sum" : part, "]");
        }
        if (*s->formula == '\0') {
            roof_text_printf(out, "  %s = %s\n", s->name, s->result);
            roof_text_printf(out, "      [%s]\n", s->source);
            continue;
        }
        roof_text_printf(out, "  %s = %s\n", s->name, s->formula);
        if (*s->numbers != '\0' && strcmp(s->numbers, s->result) != 0) {
            roof_text_printf(out, "      = %s\n", s->numbers);
        }
        roof_text_printf(out, "      = %s\n", s->result);
    }
}

void roof_report_basis(struct roof_text *out, const struct roof_prediction *p,
                       const struct roof_hardware *product)
{
    const struct roof_hardware *const hardware = p->hardware;
    if (product == NULL || !roof_hardware_differs(hardware, product)) {
        return;
    }
    char value[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "\n%s is as the source documents specify it; published figures differ",
                     hardware->id);
    const char *separator = " (";
    const double bandwidth = product->figure[ROOF_FIGURE_BANDWIDTH].value;
    if (bandwidth != hardware->figure[ROOF_FIGURE_BANDWIDTH].value) {
        roof_text_printf(out, "%s%s", separator,
                         roof_format_quantity(value, bandwidth, ROOF_UNIT_GB_PER_S));
        separator = ", ";
    }
    if (p->part_count == 1 && p->unit == ROOF_COMPUTE_MATRIX) {
        const struct roof_compute *const theirs = &product->compute[p->wanted];
        if (theirs->peak_flops_per_s != hardware->compute[p->wanted].peak_flops_per_s &&
            !isnan(theirs->peak_flops_per_s)) {
            roof_text_printf(
                out, "%s%s %s", separator, roof_format(theirs->precision)->name,
                roof_format_quantity(value, theirs->peak_flops_per_s, ROOF_UNIT_TFLOPS));
            separator = ", ";
        }
    }
    roof_text_printf(out, "%s: -H %s\n", *separator == ',' ? ")" : "", product->id);
}

/* Where the parameters are from, when not from such kernels on this device. */
static const char *near_note(char *out, size_t size, const struct roof_prediction *p)
{
    const struct roof_calibration *const c = p->hardware->calibration;
    *out = '\0';
    for (int i = p->part_count; i > 0; i--) {
        const struct roof_expected *const e = &p->part[i - 1].expected;
        const bool any = e->near && e->fit->stack == ROOF_STACK_BEST;
        if (e->near) {
            snprintf(out, size, "; measured on %s kernels (%s%s%s)",
                     roof_kernel_name(e->fit->kernel), roof_numerics_name(e->fit->numerics),
                     any ? "" : ", ", any ? "" : roof_stack_name(e->fit->stack));
        }
    }
    for (int i = p->part_count; i > 0; i--) { /* another device says more */
        const struct roof_expected *const e = &p->part[i - 1].expected;
        if (e->near && (e->fit->lent != NULL || c->inherited)) {
            snprintf(out, size, "; measured on %s, not on this device",
                     e->fit->lent != NULL ? e->fit->lent : c->id);
        }
    }
    return out;
}

/* How the expected kernel is cut and what holds it up. */
static void put_kernel(struct roof_text *out, const struct roof_expected *e)
{
    const struct roof_tiling *const t = &e->tiling;
    const bool any = e->fit->stack == ROOF_STACK_BEST;
    char tile[64];
    char cut[160] = "";
    char busy[ROOF_QUANTITY_SIZE];
    char hit[ROOF_QUANTITY_SIZE];
    char launch[ROOF_QUANTITY_SIZE];
    char waves[ROOF_QUANTITY_SIZE];
    char detail[300];
    snprintf(tile, sizeof tile, "%d x %d", t->tile_m, t->tile_n);
    if (e->tiled) {
        snprintf(
            cut, sizeof cut,
            "split-K %d, %.0f thread blocks, %s waves, %s of the SMs, %s of the weights in the "
            "L2; ",
            t->split_k, t->grid, roof_format_short(waves, t->waves),
            roof_format_quantity(busy, t->utilisation, ROOF_UNIT_FRACTION),
            roof_format_quantity(hit, t->l2_hit, ROOF_UNIT_FRACTION));
    } else if (t->l2_hit > 0) {
        snprintf(cut, sizeof cut, "%s of the data in the L2; ",
                 roof_format_quantity(hit, t->l2_hit, ROOF_UNIT_FRACTION));
    }
    snprintf(detail, sizeof detail, "%s kernel; %s%s-bound, launch %s",
             any ? "common" : roof_stack_name(e->fit->stack), cut, roof_kernel_limit_name(e->bound),
             roof_format_quantity(launch, e->launch_s, ROOF_UNIT_MICROSECONDS));
    line(out, e->tiled ? "tiling" : "kernel", e->tiled ? tile : roof_kernel_name(e->fit->kernel),
         detail);
}

/* What a real kernel is expected to take, beside what none can beat. */
static void put_expected(struct roof_text *out, const struct roof_prediction *p, bool tiling)
{
    char value[ROOF_QUANTITY_SIZE];
    char low[ROOF_QUANTITY_SIZE];
    char high[ROOF_QUANTITY_SIZE];
    char note[128];
    char detail[300];
    if (isnan(p->expected_s)) {
        line(out, "expected", "-",
             p->hardware->calibration == NULL ? "no kernels of a device like this were measured"
                                              : "no kernel like this was measured");
        return;
    }
    snprintf(detail, sizeof detail, "%s to %s for eight kernels of ten; %s-bound%s",
             roof_format_quantity(low, p->expected_low_s, ROOF_UNIT_MICROSECONDS),
             roof_format_quantity(high, p->expected_high_s, ROOF_UNIT_MICROSECONDS),
             roof_bottleneck_name(p->expected_bottleneck), near_note(note, sizeof note, p));
    line(out, "expected", roof_format_quantity(value, p->expected_s, ROOF_UNIT_MICROSECONDS),
         detail);
    const struct roof_expected *const kernel = kernel_of(p, tiling);
    if (kernel != NULL) {
        put_kernel(out, kernel);
    }
}

void roof_report_text(struct roof_text *out, const struct roof_prediction *p,
                      const struct roof_hardware *product, const struct roof_trace *explanation,
                      bool tiling)
{
    char value[ROOF_QUANTITY_SIZE];
    char other[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    char detail[300];
    char bound[32];
    snprintf(bound, sizeof bound, "%s-bound", roof_bottleneck_name(p->bottleneck));
    roof_report_workload(out, &p->workload);
    roof_text_printf(out, " on %s: ", p->hardware->id);
    put_formats(out, p);
    roof_text_put(out, "\n\n");

    snprintf(detail, sizeof detail, "at best; %s",
             isnan(p->compute_time_s) ? "the memory alone, the peak is unknown" : bound);
    line(out, "time", roof_format_quantity(value, p->time_s, ROOF_UNIT_MICROSECONDS), detail);
    snprintf(detail, sizeof detail, "%s at %s",
             roof_format_quantity(other, p->bytes, ROOF_UNIT_BYTES),
             roof_format_quantity(rate, p->bandwidth_bytes_per_s, ROOF_UNIT_GB_PER_S));
    line(out, "memory time", roof_format_quantity(value, p->memory_time_s, ROOF_UNIT_MICROSECONDS),
         detail);
    put_compute(out, p);
    if (!isnan(p->network_time_s)) {
        if (p->network_bytes > 0) {
            char latency[ROOF_QUANTITY_SIZE];
            snprintf(detail, sizeof detail, "%s sent at %s per direction%s%s%s",
                     roof_format_quantity(other, p->network_bytes, ROOF_UNIT_BYTES),
                     roof_format_quantity(rate, p->link.bytes_per_s, ROOF_UNIT_GB_PER_S),
                     p->link.latency_s > 0 ? ", " : "",
                     p->link.latency_s > 0
                         ? roof_format_quantity(latency, p->link.latency_s, ROOF_UNIT_MICROSECONDS)
                         : "",
                     p->link.latency_s > 0 ? " per step" : "");
        } else {
            snprintf(detail, sizeof detail, "a group of one sends nothing");
        }
        line(out, "network time",
             roof_format_quantity(value, p->network_time_s, ROOF_UNIT_MICROSECONDS), detail);
    }
    roof_format_short(value, p->intensity);
    if (isnan(p->ridge)) {
        snprintf(detail, sizeof detail, "FLOP/byte");
    } else {
        snprintf(detail, sizeof detail, "FLOP/byte; ridge point %s",
                 roof_format_short(other, p->ridge));
    }
    line(out, "intensity", value, detail);
    roof_format_quantity(value, p->attainable_flops_per_s, ROOF_UNIT_TFLOPS);
    if (isnan(p->fraction_of_peak)) {
        detail[0] = '\0';
    } else {
        snprintf(detail, sizeof detail, "%s of peak",
                 roof_format_quantity(other, p->fraction_of_peak, ROOF_UNIT_FRACTION));
    }
    line(out, "attainable", value, detail);
    put_expected(out, p, tiling);
    if (!isnan(p->measured_s)) {
        snprintf(detail, sizeof detail, "%s of the bound: %s, %s",
                 roof_format_quantity(other, p->fraction_of_bound, ROOF_UNIT_FRACTION),
                 roof_format_quantity(rate, p->achieved_flops_per_s, ROOF_UNIT_TFLOPS),
                 roof_format_quantity(value, p->achieved_bytes_per_s, ROOF_UNIT_GB_PER_S));
        line(out, "measured", roof_format_quantity(other, p->measured_s, ROOF_UNIT_MICROSECONDS),
             detail);
    }
    if (p->part_count > 1) {
        put_parts(out, p);
    }
    if (!p->native && p->flops > 0 && !isnan(p->compute_time_s)) {
        roof_text_printf(out, "\n%s has no %s unit: computed at %s\n", p->hardware->id,
                         roof_format(p->wanted)->name, roof_format(p->compute)->name);
    }
    if (p->workload.sparse > 0 && !p->sparse && roof_is_product(p->workload.op)) {
        roof_text_printf(out, "\n%s has no sparse peak for %s: the dense one is used\n",
                         p->hardware->id, roof_format(p->compute)->name);
    }
    if (!isnan(p->fraction_of_bound) && p->fraction_of_bound > 1) {
        roof_text_put(out, "\nThe measured time is below the bound: data that stayed in a cache, "
                           "or a figure of the hardware that is too low.\n");
    }
    if (explanation != NULL) {
        roof_report_why(out, explanation);
    }
    roof_report_basis(out, p, product);
}

/* --- recommendations ----------------------------------------------------------------------- */

/* A number of rows, absent when there is none. */
static void json_rows(struct roof_text *out, const char *key, int64_t rows)
{
    if (rows > 0) {
        roof_text_printf(out, ", \"%s\": %" PRId64, key, rows);
    }
}

static void json_crossovers(struct roof_text *out, const struct roof_crossovers *c)
{
    roof_text_printf(out,
                     ",\n\"crossovers\": {\"along\": \"%s\", \"last\": %" PRId64 ",\n\"best\": [",
                     roof_dimensions[c->along].key, c->last);
    for (size_t i = 0; i < c->winners; i++) {
        roof_text_printf(out, "%s{\"from\": %" PRId64, i == 0 ? "" : ", ", c->winner[i].from);
        if (c->winner[i].format != ROOF_PRECISION_AUTO) {
            roof_text_printf(out, ", \"precision\": \"%s\"",
                             roof_format(c->winner[i].format)->name);
        }
        roof_text_put(out, "}");
    }
    roof_text_put(out, "],\n\"formats\": [");
    for (size_t i = 0; i < c->count; i++) {
        roof_text_printf(out, "%s{\"precision\": \"%s\"", i == 0 ? "" : ", ",
                         roof_format(c->of[i].format)->name);
        json_rows(out, "compute_bound_from", c->of[i].compute_bound);
        json_rows(out, "no_gain_from", c->of[i].no_gain);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "]}");
}

void roof_report_recommendation_json(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons, enum roof_operator op)
{
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_RECOMMENDATIONS, op, "");
    const size_t total = recommendation->count + recommendation->rejected;
    roof_text_put(out, "{\n\"schema\": \"roofline/recommendation/1\",\n\"candidates\": [");
    for (size_t i = 0; i < total; i++) {
        if (i == recommendation->count) {
            roof_text_put(out, "\n],\n\"rejected\": [");
        }
        roof_text_put(out, i == 0 || i == recommendation->count ? "\n{" : ",\n{");
        roof_table_candidate(&table, out, &recommendation->candidate[i]);
        roof_text_put(out, "}");
    }
    if (recommendation->rejected == 0) {
        roof_text_put(out, "\n],\n\"rejected\": [");
    }
    roof_text_put(out, "\n]");
    if (reasons->why != NULL) {
        roof_table_open_members(&table, ROOF_TABLE_SPEEDUPS, op, "");
        roof_text_put(out, ",\n\"why\": {");
        roof_table_speedup(&table, out, reasons->why);
        roof_text_put(out, "}");
    }
    if (reasons->crossovers != NULL) {
        json_crossovers(out, reasons->crossovers);
    }
    roof_text_put(out, "\n}\n");
}

/* "Why nvfp4: it saves 7.2 us of the fp16 time of 10 us: memory 100.0%; memory-bound as before." */
static void put_why(struct roof_text *out, const struct roof_speedup_row *why, bool by_expected)
{
    const struct roof_gain *const gain = by_expected ? &why->expected : &why->ideal;
    const enum roof_bottleneck from =
        by_expected ? why->expected_from_bottleneck : why->from_bottleneck;
    const enum roof_bottleneck to = by_expected ? why->expected_to_bottleneck : why->to_bottleneck;
    const double saved = gain->from_s - gain->to_s;
    char time[ROOF_QUANTITY_SIZE];
    if (isnan(saved) || fabs(saved) < 0.02 * gain->from_s) { /* shares of nothing are noise */
        return;
    }
    roof_text_printf(out, "\nWhy %s: it saves %s of the %s", why->to,
                     roof_format_quantity(time, saved, ROOF_UNIT_MICROSECONDS), why->from);
    roof_text_printf(
        out, " time of %s:", roof_format_quantity(time, gain->from_s, ROOF_UNIT_MICROSECONDS));
    roof_speedup_report_shares(out, gain, " ");
    roof_text_printf(out, from == to ? "; %s-bound as before.\n" : "; %s-bound, now ",
                     roof_bottleneck_name(from));
    if (from != to) {
        roof_text_printf(out, "%s-bound.\n", roof_bottleneck_name(to));
    }
}

static const char *rows_text(char out[ROOF_QUANTITY_SIZE], int64_t rows)
{
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%" PRId64, rows);
    return rows > 0 ? out : "never";
}

static void put_crossovers(struct roof_text *out, const struct roof_crossovers *c)
{
    char bound[ROOF_QUANTITY_SIZE];
    char gain[ROOF_QUANTITY_SIZE];
    char name[ROOF_INPUT_NAME_SIZE];
    (void)roof_input_name(name, &roof_dimensions[c->along]);
    roof_text_printf(out, "\nBest along %s, up to %" PRId64 ":", name, c->last);
    for (size_t i = 0; i < c->winners; i++) {
        const enum roof_precision format = c->winner[i].format;
        roof_text_printf(out, "%s %s from %" PRId64, i == 0 ? "" : ",",
                         format == ROOF_PRECISION_AUTO ? "none" : roof_format(format)->name,
                         c->winner[i].from);
    }
    roof_text_printf(out, "%s\n\n  %-12s  %18s  %22s\n", c->more ? ", and it changes again" : "",
                     "precision", "compute-bound from", "no gain over fp16 from");
    for (size_t i = 0; i < c->count; i++) {
        const bool baseline = c->of[i].format == ROOF_PRECISION_FP16;
        roof_text_printf(out, "  %-12s  %18s  %22s\n", roof_format(c->of[i].format)->name,
                         rows_text(bound, c->of[i].compute_bound),
                         baseline ? "-" : rows_text(gain, c->of[i].no_gain));
    }
}

void roof_report_recommendation_text(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons,
                                     const struct roof_workload *workload,
                                     const struct roof_hardware *hardware,
                                     const struct roof_hardware *product, enum roof_ranking ranking)
{
    const bool by_expected = ranking == ROOF_RANKING_EXPECTED;
    bool expected = false;
    roof_report_workload(out, workload);
    roof_text_printf(out, " on %s\n\n", hardware->id);
    for (size_t i = 0; i < recommendation->count; i++) {
        expected = expected || !isnan(recommendation->candidate[i].prediction.expected_s);
    }
    if (recommendation->count > 0) {
        const struct roof_candidate *const best = &recommendation->candidate[0];
        char time[ROOF_QUANTITY_SIZE];
        roof_text_printf(out, "Use %s (%s): %s%s, %.2fx over fp16, accuracy loss %s.\n\n",
                         roof_format(best->format)->name, best->method,
                         roof_format_quantity(time, best->ranked_s, ROOF_UNIT_MICROSECONDS),
                         by_expected ? " expected" : "",
                         by_expected ? best->expected_speedup : best->speedup,
                         roof_accuracy_name(best->loss));
        roof_text_printf(out, "  %4s  %-12s  %-22s  %10s  %7s", "rank", "precision", "method",
                         "time", "speedup");
        if (expected) {
            roof_text_printf(out, "  %10s  %7s", "expected", "speedup");
        }
        roof_text_printf(out, "  %-8s  %s\n", "accuracy", "reason");
        for (size_t i = 0; i < recommendation->count; i++) {
            const struct roof_candidate *const c = &recommendation->candidate[i];
            roof_text_printf(
                out, "  %4d  %-12s  %-22s  %10s  %6.2fx", c->rank, roof_format(c->format)->name,
                c->method, roof_format_quantity(time, c->prediction.time_s, ROOF_UNIT_MICROSECONDS),
                c->speedup);
            if (expected && isnan(c->expected_speedup)) {
                roof_text_printf(out, "  %10s  %7s", "-", "-");
            } else if (expected) {
                roof_text_printf(
                    out, "  %10s  %6.2fx",
                    roof_format_quantity(time, c->prediction.expected_s, ROOF_UNIT_MICROSECONDS),
                    c->expected_speedup);
            }
            roof_text_printf(out, "  %-8s  %s\n", roof_accuracy_name(c->loss), c->reason);
        }
    } else {
        roof_text_put(out, "No format satisfies the constraints.\n");
    }
    for (size_t i = 0; i < recommendation->rejected; i++) {
        const struct roof_candidate *const c =
            &recommendation->candidate[recommendation->count + i];
        roof_text_printf(out, "%s  %-12s  %6.2fx  %s\n", i == 0 ? "\nRejected\n" : "",
                         roof_format(c->format)->name, c->speedup, c->reason);
    }
    if (reasons->why != NULL) {
        put_why(out, reasons->why, by_expected);
    }
    if (reasons->crossovers != NULL) {
        put_crossovers(out, reasons->crossovers);
    }
    roof_text_put(out, "\nAccuracy classes are typical losses of quantised weights and "
                       "activations, not a promise\n"
                       "for the model at hand: "
                       "roofline list precisions ID\n");
    roof_report_basis(out, &recommendation->candidate[0].prediction, product);
}

/* --- comparisons --------------------------------------------------------------------------- */

static const char *const compared_keys[] = {"time_us", "expected_time_us", "ratio", "error"};

/* Whether a column of the file has the name of a key that follows. As with predict --from it is no
 * input, and what is predicted now stands in its place. */
static bool is_replaced(const char *column)
{
    size_t i = 0;
    while (i < COUNT(compared_keys) && strcmp(column, compared_keys[i]) != 0) {
        i++;
    }
    return i < COUNT(compared_keys);
}

void roof_report_compared_header(struct roof_text *out, const char *const *column, size_t columns)
{
    bool begun = false;
    for (size_t i = 0; i < columns + COUNT(compared_keys); i++) {
        if (i < columns && is_replaced(column[i])) {
            continue;
        }
        roof_text_put(out, begun ? "," : "");
        roof_csv_cell(out, i < columns ? column[i] : compared_keys[i - columns]);
        begun = true;
    }
    roof_text_put(out, "\n");
}

void roof_report_compared(struct roof_text *out, bool csv, const struct roof_compared *row)
{
    const double best = isnan(row->expected_s) ? row->time_s : row->expected_s;
    const double values[] = {roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS),
                             roof_to_unit(row->expected_s, ROOF_UNIT_MICROSECONDS),
                             best / row->measured_s, best / row->measured_s - 1};
    roof_text_put(out, csv ? "" : "{");
    bool begun = false;
    for (size_t i = 0; i < row->cells; i++) {
        if ((!csv && *row->cell[i] == '\0') || is_replaced(row->column[i])) {
            continue;
        }
        roof_text_put(out, begun ? "," : "");
        if (csv) {
            roof_csv_cell(out, row->cell[i]);
        } else {
            roof_json_quote(out, row->column[i]);
            roof_text_put(out, ":");
            roof_json_cell(out, row->cell[i]);
        }
        begun = true;
    }
    for (size_t i = 0; i < COUNT(values); i++) {
        if (csv) {
            roof_text_put(out, ",");
            roof_text_number(out, values[i]);
        } else if (!isnan(values[i])) {
            roof_text_printf(out, "%s\"%s\":", begun ? "," : "", compared_keys[i]);
            roof_text_number(out, values[i]);
            begun = true;
        }
    }
    roof_text_put(out, csv ? "\n" : "}\n");
}

#define G(member) offsetof(struct roof_compare_group, member)
static const struct {
    const char *key;
    size_t offset;
    bool count;
    const char *label;
} statistics[] = {
    {"rows", G(rows), true, "rows"},
    {"skipped", G(skipped), true, "skipped"},
    {"ideal_mape", G(ideal_mape), false, "ideal MAPE"},
    {"expected_mape", G(expected_mape), false, "MAPE"},
    {"expected_median_ape", G(expected_median_ape), false, "median"},
    {"expected_p90_ape", G(expected_p90_ape), false, "p90"},
    {"expected_bias", G(expected_bias), false, "bias"},
    {"band_coverage", G(band_coverage), false, "in band"},
    {"below_ideal", G(below_ideal), false, "below ideal"},
};

bool roof_report_is_statistic(const char *key, size_t length)
{
    size_t i = 0;
    while (i < COUNT(statistics) &&
           (strlen(statistics[i].key) != length || memcmp(key, statistics[i].key, length) != 0)) {
        i++;
    }
    return i < COUNT(statistics);
}

static double statistic(const struct roof_compare_group *group, size_t i)
{
    const void *const at = (const char *)group + statistics[i].offset;
    return statistics[i].count ? (double)*(const size_t *)at : *(const double *)at;
}

static void json_group(struct roof_text *out, const struct roof_comparison *comparison,
                       const struct roof_compare_group *group, bool named)
{
    roof_text_put(out, "{");
    for (size_t i = 0; i < comparison->columns && named; i++) {
        roof_json_quote(out, comparison->column[i]);
        roof_text_put(out, ":");
        roof_json_quote(out, group->value[i]);
        roof_text_put(out, ",");
    }
    bool begun = false;
    for (size_t i = 0; i < COUNT(statistics); i++) {
        const double value = statistic(group, i);
        if (!isnan(value)) {
            roof_text_printf(out, "%s\"%s\":", begun ? "," : "", statistics[i].key);
            roof_text_number(out, value);
            begun = true;
        }
    }
    roof_text_put(out, "}");
}

static void text_group(struct roof_text *out, const struct roof_compare_group *group)
{
    for (size_t i = 0; i < COUNT(statistics); i++) {
        char value[ROOF_QUANTITY_SIZE];
        if (statistics[i].count) {
            snprintf(value, sizeof value, "%.0f", statistic(group, i));
        } else {
            roof_format_quantity(value, statistic(group, i), ROOF_UNIT_FRACTION);
        }
        roof_text_printf(out, "  %11s", value);
    }
    roof_text_put(out, "\n");
}

void roof_report_comparison(struct roof_text *out, bool json,
                            const struct roof_comparison *comparison)
{
    const struct roof_comparison *const c = comparison;
    if (json) {
        roof_text_put(out, "{\"schema\":\"roofline/comparison/1\",\"overall\":");
        json_group(out, c, &c->overall, false);
        roof_text_put(out, ",\n\"groups\":[");
        for (size_t i = 0; i < c->groups && c->columns > 0; i++) {
            roof_text_put(out, i == 0 ? "\n" : ",\n");
            json_group(out, c, &c->group[i], true);
        }
        roof_text_put(out, "]}\n");
        return;
    }
    for (size_t i = 0; i < COUNT(statistics); i++) {
        roof_text_printf(out, "  %11s", statistics[i].label);
    }
    for (size_t i = 0; i < c->columns; i++) {
        roof_text_put(out, "  ");
        roof_text_plain(out, c->column[i]);
    }
    roof_text_put(out, "\n");
    for (size_t i = 0; i < c->groups && c->columns > 0; i++) {
        text_group(out, &c->group[i]);
        out->length -= out->length > 0 ? 1U : 0U; /* the names stand on the same line */
        for (size_t k = 0; k < c->columns; k++) {
            roof_text_put(out, "  ");
            roof_text_plain(out, *c->group[i].value[k] == '\0' ? "-" : c->group[i].value[k]);
        }
        roof_text_put(out, "\n");
    }
    text_group(out, &c->overall);
    if (c->columns > 0) {
        out->length -= out->length > 0 ? 1U : 0U;
        roof_text_put(out, "  all\n");
    }
}

/* --- lists --------------------------------------------------------------------------------- */

/* A figure with the published one beside it when they differ. */
static void put_figure(struct roof_text *out, const char *label, const struct roof_figure *figure,
                       const struct roof_figure *published, const char *product,
                       enum roof_unit unit)
{
    const bool differs = published != NULL && !(published->value == figure->value) &&
                         !(isnan(published->value) && isnan(figure->value));
    if (isnan(figure->value) && !differs) {
        return;
    }
    char value[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  %-26s %s\n", label, roof_format_quantity(value, figure->value, unit));
    if (!isnan(figure->value)) {
        if (figure->note != NULL) {
            roof_text_printf(out, "  %-26s   %s\n", "", figure->note);
        }
        roof_text_printf(out, "  %-26s   source%s%s: %s\n", "",
                         figure->confidence == ROOF_CONFIDENCE_UNKNOWN ? "" : ", confidence ",
                         figure->confidence == ROOF_CONFIDENCE_UNKNOWN
                             ? ""
                             : roof_confidence_name(figure->confidence),
                         figure->source == NULL ? "none given" : figure->source);
    }
    if (differs) {
        roof_text_printf(
            out, "  %-26s   published (%s): %s\n", "", product,
            isnan(published->value) ? "none" : roof_format_quantity(value, published->value, unit));
    }
}

static void hardware_text(struct roof_text *out, const struct roof_hardware *h,
                          const struct roof_hardware *product)
{
    roof_text_printf(out, "%s: %s\n", h->id, h->name);
    roof_text_printf(out, "  %-26s %s\n", "vendor", *h->vendor == '\0' ? "-" : h->vendor);
    roof_text_printf(out, "  %-26s %s\n", "architecture",
                     *h->architecture == '\0' ? "-" : h->architecture);
    roof_text_printf(out, "  %-26s %s\n", "basis",
                     h->basis == ROOF_BASIS_DOCUMENTS   ? "as the source documents specify it"
                     : h->basis == ROOF_BASIS_PUBLISHED ? "published figures"
                                                        : "a user's file");
    for (const char *const *alias = h->aliases; *alias != NULL; alias++) {
        roof_text_printf(out, "  %-26s %s\n", "alias", *alias);
    }
    roof_text_put(out, "\n");
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure_key *const key = roof_figure_key((enum roof_figure_id)i);
        put_figure(out, key->label, &h->figure[i], product == NULL ? NULL : &product->figure[i],
                   product == NULL ? "" : product->id, key->unit);
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            char label[80];
            snprintf(label, sizeof label, "%s, %s", roof_format((enum roof_precision)p)->name,
                     roof_peak_table_label((enum roof_peak_table)t));
            put_figure(out, label, &h->peak[t][p], product == NULL ? NULL : &product->peak[t][p],
                       product == NULL ? "" : product->id, ROOF_UNIT_TFLOPS);
        }
    }
    roof_text_put(out, "\nRidge points (FLOP/byte)\n");
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_compute *const c = &h->compute[p];
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        if (c->native && format->unit == (enum roof_precision)p) {
            char value[ROOF_QUANTITY_SIZE];
            roof_text_printf(out, "  %-26s %-10s %s unit\n", format->name,
                             roof_format_short(value, c->peak_flops_per_s /
                                                          h->figure[ROOF_FIGURE_BANDWIDTH].value),
                             roof_compute_unit_name(c->unit));
        }
    }
    for (const char *const *note = h->notes; *note != NULL; note++) {
        roof_text_printf(out, "%s%s\n", note == h->notes ? "\n" : "", *note);
    }
}

static void json_figure(struct roof_text *out, const char *key, const struct roof_figure *figure,
                        const struct roof_figure *published, enum roof_unit unit)
{
    roof_text_printf(out, "\"%s\": {\"value\": ", key);
    roof_text_number(out, roof_given(figure->value, unit));
    const struct {
        const char *key;
        const char *value;
    } members[] = {{"source", figure->source},
                   {"confidence", figure->confidence == ROOF_CONFIDENCE_UNKNOWN
                                      ? NULL
                                      : roof_confidence_name(figure->confidence)},
                   {"note", figure->note}};
    for (size_t i = 0; i < COUNT(members); i++) {
        if (members[i].value != NULL) {
            roof_text_printf(out, ", \"%s\": ", members[i].key);
            roof_json_quote(out, members[i].value);
        }
    }
    if (published != NULL && !isnan(published->value) && published->value != figure->value) {
        roof_text_put(out, ", \"published\": ");
        roof_text_number(out, roof_given(published->value, unit));
    }
    roof_text_put(out, "}");
}

static void json_strings(struct roof_text *out, const char *key, const char *const *strings)
{
    roof_text_printf(out, ",\n%s: [", key);
    for (const char *const *s = strings; *s != NULL; s++) {
        roof_text_put(out, s == strings ? "" : ", ");
        roof_json_quote(out, *s);
    }
    roof_text_put(out, "]");
}

/* The shape of a hardware file, so that the output can be edited and read again. */
static void hardware_json(struct roof_text *out, const struct roof_hardware *h,
                          const struct roof_hardware *product)
{
    const struct {
        const char *key;
        const char *value;
    } strings[] = {{"id", h->id},
                   {"name", h->name},
                   {"vendor", *h->vendor == '\0' ? NULL : h->vendor},
                   {"architecture", *h->architecture == '\0' ? NULL : h->architecture},
                   {"basis", roof_basis_name(h->basis)},
                   {"product", product == NULL ? NULL : product->id}};
    roof_text_put(out, "{\n\"schema\": \"roofline/hardware/1\"");
    for (size_t i = 0; i < COUNT(strings); i++) {
        if (strings[i].value != NULL) {
            roof_text_printf(out, ",\n\"%s\": ", strings[i].key);
            roof_json_quote(out, strings[i].value);
        }
    }
    json_strings(out, "\"aliases\"", h->aliases);
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure_key *const key = roof_figure_key((enum roof_figure_id)i);
        if (!isnan(h->figure[i].value)) {
            roof_text_put(out, ",\n");
            json_figure(out, key->key, &h->figure[i], product == NULL ? NULL : &product->figure[i],
                        key->unit);
        }
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        bool begun = false;
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            if (!isnan(h->peak[t][p].value)) {
                if (!begun) {
                    roof_text_printf(out, ",\n\"%s\": {",
                                     roof_peak_table_key((enum roof_peak_table)t));
                }
                roof_text_put(out, begun ? ",\n  " : "\n  ");
                json_figure(out, roof_format((enum roof_precision)p)->name, &h->peak[t][p],
                            product == NULL ? NULL : &product->peak[t][p], ROOF_UNIT_TFLOPS);
                begun = true;
            }
        }
        roof_text_put(out, begun ? "\n}" : "");
    }
    json_strings(out, "\"notes\"", h->notes);
    roof_text_put(out, "\n}\n");
}

/* Opens the table of one entry, all keys of which become a JSON object or lines. */
static void begin_entry(struct roof_table *table, struct roof_text *out, bool json,
                        enum roof_table_kind kind)
{
    if (json) {
        roof_table_open_members(table, kind, ROOF_OPERATOR_GEMM, "\n  ");
        roof_text_put(out, "{");
    } else {
        roof_table_open_lines(table, kind);
    }
}

void roof_report_hardware(struct roof_text *out, bool json, const struct roof_hardware *hardware,
                          const struct roof_hardware *product)
{
    if (json) {
        hardware_json(out, hardware, product);
    } else {
        hardware_text(out, hardware, product);
    }
}

void roof_report_precision(struct roof_text *out, bool json, enum roof_precision precision,
                           const struct roof_accuracy *accuracy)
{
    const struct roof_precision_entry entry = {precision, accuracy};
    struct roof_table table;
    begin_entry(&table, out, json, ROOF_TABLE_PRECISIONS);
    roof_table_precision(&table, out, &entry);
    roof_text_put(out, json ? "\n}\n" : "");
}

void roof_report_operator(struct roof_text *out, bool json, enum roof_operator op)
{
    const struct roof_operator_row *const row = roof_operator_row(op);
    struct roof_table table;
    begin_entry(&table, out, json, ROOF_TABLE_OPERATORS);
    roof_table_operator(&table, out, row);
    if (json) {
        roof_text_put(out, "\n}\n");
        return;
    }
    roof_text_put(out, "\n");
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        char name[ROOF_INPUT_NAME_SIZE];
        roof_text_printf(out, "  %-20s %s\n", roof_input_name(name, input), input->help);
    }
}
