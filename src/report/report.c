// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/shell.h"
#include "predict/power.h"
#include "predict/predict_sizes.h"
#include "predict/tile.h"
#include "predict/unexpected.h"
#include "report/advice_report.h"
#include "report/note_list.h"
#include "report/published_report.h"

void roof_report_number(struct roof_text *out, const char *separator, const char *key, double value)
{
    if (!isnan(value)) {
        roof_text_printf(out, "%s\"%s\":", separator, key);
        roof_text_number(out, value);
    }
}

void roof_report_missing(struct roof_text *out, const char *why)
{
    roof_text_put(out, ",\n  \"expected_missing\": ");
    roof_json_quote(out, why);
}

void roof_report_accuracy_classes(struct roof_text *out)
{
    roof_text_put(out,
                  "\nAccuracy classes are typical losses of quantised weights and activations, not "
                  "a guarantee\nfor this model: roofline list precisions ID\n");
}

static void json_parts(struct roof_text *out, const struct roof_prediction *p)
{
    roof_text_put(out, "\"parts\": [");
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

/* Writes the saving of a fused operator: the operators that it replaces, and the ratio of their
 * total time to its own. */
static void json_apart(struct roof_text *out, const struct roof_prediction *fused,
                       const struct roof_prediction *apart)
{
    const struct {
        const char *key;
        double value;
        enum roof_unit unit;
    } numbers[] = {
        {"bytes", apart->bytes, ROOF_UNIT_BYTES},
        {"time_us", apart->time_s, ROOF_UNIT_MICROSECONDS},
        {"expected_time_us", apart->expected_s, ROOF_UNIT_MICROSECONDS},
        {"speedup", apart->time_s / fused->time_s, ROOF_UNIT_NONE},
        {"expected_speedup", apart->expected_s / fused->expected_s, ROOF_UNIT_NONE},
    };
    roof_text_put(out, ",\n  \"unfused\": {");
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (isfinite(numbers[i].value)) {
            roof_text_printf(out, "\"%s\": ", numbers[i].key);
            roof_text_number(out, roof_to_unit(numbers[i].value, numbers[i].unit));
            roof_text_put(out, ", ");
        }
    }
    json_parts(out, apart);
    roof_text_put(out, "}");
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

/* Writes the algorithm of the expected kernel, and its tile if there is one. */
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
                     roof_stack_name(e->fit->stack), roof_kernel_limit_name(e->limit));
    for (size_t i = 0; i < (e->tiled ? COUNT(numbers) : 2); i++) {
        roof_text_printf(out, ", \"%s\": ", numbers[i].key);
        roof_text_number(out, numbers[i].value);
    }
    roof_text_put(out, "}");
}

/* Finds the kernel behind an expected time; NULL for composites, and if its tiling is not wanted.
 */
static const struct roof_expected *kernel_of(const struct roof_prediction *p, bool asked)
{
    return asked && p->part_count == 1 && !isnan(p->expected_s) ? &p->part[0].expected : NULL;
}

/* Adds the misaligned rows of a product, and the least time that accounts for them. */
static void json_misaligned(struct roof_text *out, const struct roof_prediction *prediction)
{
    struct roof_misaligned m;
    if (!roof_tile_misaligned(&m, prediction)) {
        return;
    }
    roof_text_put(out, ",\n  \"misaligned\": {\"k_bytes\": ");
    roof_text_number(out, m.k_bytes);
    roof_text_put(out, ", \"n_bytes\": ");
    roof_text_number(out, m.n_bytes);
    if (m.bounded) {
        roof_text_printf(out, ", \"tile\": \"%s\", \"tile_time_us\": ", m.tile.name);
        roof_text_number(out, roof_to_unit(m.tile.total_s, ROOF_UNIT_MICROSECONDS));
    }
    roof_text_put(out, "}");
}

void roof_report_workload(struct roof_text *out, const struct roof_workload *w)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    roof_text_put(out, row->name);
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        const int64_t value = roof_input_get(w, input);
        const bool single = row->dims[i] == ROOF_DIM_BATCH || row->dims[i] == ROOF_DIM_EP ||
                            row->dims[i] == ROOF_DIM_SUBSAMPLE;
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

void roof_report_formats(struct roof_text *out, const struct roof_prediction *p)
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

void roof_report_line(struct roof_text *out, int width, const char *label, const char *value,
                      const char *detail)
{
    const size_t from = out->length;
    const bool more = *detail != '\0';
    roof_text_printf(out, "  %-*s %-*s%s%s\n", width, label, more ? 13 : 0, value, more ? " " : "",
                     detail);
    roof_text_fold(out, from, (size_t)width + (more ? 17 : 3));
}

/* Writes a labelled line about an operator. */
static void line(struct roof_text *out, const char *label, const char *value, const char *detail)
{
    roof_report_line(out, 13, label, value, detail);
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

/* Writes a line of an explanation, folded to the page width. */
static void put_why(struct roof_text *out, const char *begin, const char *name, const char *rest,
                    const char *end)
{
    const size_t from = out->length;
    roof_text_printf(out, "%s%s%s%s%s\n", begin, name, *name == '\0' ? "" : " = ", rest, end);
    roof_text_fold(out, from, *name == '\0' ? strlen(begin) : strlen(begin) + 4);
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
            put_why(out, "  ", s->name, s->result, "");
            put_why(out, "      [", "", s->source, "]");
            continue;
        }
        put_why(out, "  ", s->name, s->formula, "");
        if (*s->numbers != '\0' && strcmp(s->numbers, s->result) != 0) {
            put_why(out, "      = ", "", s->numbers, "");
        }
        put_why(out, "      = ", "", s->result, "");
        if (*s->source != '\0') {
            put_why(out, "      [", "", s->source, "]");
        }
    }
}

void roof_report_device(struct roof_text *out, const struct roof_hardware *hardware)
{
    const char *const name = hardware->name;
    roof_text_printf(out, "%s%s", hardware->id, hardware->by_default ? " (default)" : "");
    if (hardware->by_path && name != NULL && strcmp(name, hardware->id) != 0) {
        roof_text_put(out, " (");
        roof_text_plain(out, name);
        roof_text_put(out, ")");
    }
}

/* Names the source of the parameters, unless these kernels were measured on this device. */
static const char *near_note(char *out, size_t size, const struct roof_prediction *p)
{
    *out = '\0';
    for (int i = p->part_count; i > 0; i--) {
        const struct roof_expected *const e = &p->part[i - 1].expected;
        const bool any = e->near && e->fit->stack == ROOF_STACK_BEST;
        if (e->near) {
            snprintf(out, size, "; estimated from %s kernels (%s%s%s)",
                     roof_kernel_name(e->fit->kernel), roof_numerics_name(e->fit->numerics),
                     any ? "" : ", ", any ? "" : roof_stack_name(e->fit->stack));
        }
    }
    for (int i = p->part_count; i > 0; i--) { /* parameters from another device take precedence */
        const struct roof_expected *const e = &p->part[i - 1].expected;
        if (e->near && roof_kernel_is_lent(p->hardware, e->fit)) {
            snprintf(out, size, "; estimated from %s", e->fit->device);
        }
    }
    return out;
}

/* Writes the tiling of the expected kernel, and what limits it. */
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
        roof_format_short(waves, t->waves);
        snprintf(cut, sizeof cut,
                 "split-K %d, %.0f thread blocks in %s wave%s, %s of the SMs busy, %s of the "
                 "weights in the L2; ",
                 t->split_k, t->grid, waves, strcmp(waves, "1") == 0 ? "" : "s",
                 roof_format_quantity(busy, t->utilisation, ROOF_UNIT_FRACTION),
                 roof_format_quantity(hit, t->l2_hit, ROOF_UNIT_FRACTION));
    } else if (t->l2_hit > 0) {
        snprintf(cut, sizeof cut, "%s of the data in the L2; ",
                 roof_format_quantity(hit, t->l2_hit, ROOF_UNIT_FRACTION));
    }
    snprintf(detail, sizeof detail, "%s kernel; %s%s-bound, launch %s",
             any ? "common" : roof_stack_name(e->fit->stack), cut, roof_kernel_limit_name(e->limit),
             roof_format_quantity(launch, e->launch_s, ROOF_UNIT_MICROSECONDS));
    line(out, e->tiled ? "tiling" : "kernel", e->tiled ? tile : roof_kernel_name(e->fit->kernel),
         detail);
}

/* Writes the expected time. */
static void put_expected(struct roof_text *out, const struct roof_prediction *p, bool tiling)
{
    char value[ROOF_QUANTITY_SIZE];
    char interval[ROOF_RANGE_SIZE];
    char note[128];
    char detail[300];
    if (isnan(p->expected_s)) {
        char why[ROOF_UNEXPECTED_SIZE];
        line(out, "expected", "-", roof_unexpected(why, p));
        return;
    }
    roof_format_range_above(interval, p->time_s, p->expected_low_s, p->expected_high_s,
                            ROOF_UNIT_MICROSECONDS);
    snprintf(detail, sizeof detail, "80%% interval: %s; %s-bound%s", interval,
             roof_bottleneck_name(p->expected_bottleneck), near_note(note, sizeof note, p));
    line(out, "expected", roof_format_quantity(value, p->expected_s, ROOF_UNIT_MICROSECONDS),
         detail);
    const struct roof_expected *const kernel = kernel_of(p, tiling);
    if (kernel != NULL) {
        put_kernel(out, kernel);
    }
}

/* Writes the saving from fusion. */
static void put_apart(struct roof_text *out, const struct roof_prediction *fused,
                      const struct roof_prediction *apart)
{
    char value[ROOF_QUANTITY_SIZE];
    char bytes[ROOF_QUANTITY_SIZE];
    char ratio[ROOF_QUANTITY_SIZE];
    struct roof_text detail = ROOF_TEXT_INIT;
    for (int i = 0; i < apart->part_count; i++) {
        roof_text_printf(&detail, "%s%s", i == 0 ? "" : " + ",
                         roof_operator_row(apart->part[i].op)->name);
    }
    roof_text_printf(&detail, ", %s: fusion makes it %sx as fast",
                     roof_format_quantity(bytes, apart->bytes, ROOF_UNIT_BYTES),
                     roof_format_short(ratio, apart->time_s / fused->time_s));
    if (!isnan(apart->expected_s) && !isnan(fused->expected_s)) {
        roof_text_printf(&detail, "; expected %s",
                         roof_format_quantity(value, apart->expected_s, ROOF_UNIT_MICROSECONDS));
        roof_text_printf(&detail, ", %sx",
                         roof_format_short(ratio, apart->expected_s / fused->expected_s));
    }
    line(out, "unfused", roof_format_quantity(value, apart->time_s, ROOF_UNIT_MICROSECONDS),
         detail.data == NULL ? "" : detail.data);
    out->failed |= detail.failed;
    roof_text_free(&detail);
}

static void put_time(struct roof_text *out, const struct roof_prediction *p)
{
    char value[ROOF_QUANTITY_SIZE];
    char bytes[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    char bound[32];
    char detail[300];
    snprintf(bound, sizeof bound, "%s-bound", roof_bottleneck_name(p->bottleneck));
    snprintf(detail, sizeof detail, "lower bound; %s",
             isnan(p->compute_time_s) ? "memory time only: the peak is unknown" : bound);
    line(out, "time", roof_format_quantity(value, p->time_s, ROOF_UNIT_MICROSECONDS), detail);
    const double least_s = roof_least_time(p);
    if (least_s < p->time_s) {
        line(out, "  least", roof_format_quantity(value, least_s, ROOF_UNIT_MICROSECONDS),
             ROOF_LEAST_NOTE);
    }
    snprintf(detail, sizeof detail, "%s at %s",
             roof_format_quantity(bytes, p->bytes, ROOF_UNIT_BYTES),
             roof_format_quantity(rate, p->bandwidth_bytes_per_s, ROOF_UNIT_GB_PER_S));
    line(out, "memory time", roof_format_quantity(value, p->memory_time_s, ROOF_UNIT_MICROSECONDS),
         detail);
}

/* Writes the size of the state, for operators that keep one. */
static void put_state(struct roof_text *out, const struct roof_prediction *p)
{
    char value[ROOF_QUANTITY_SIZE];
    const double bytes = roof_sequence_state_bytes(p);
    if (!isnan(bytes)) {
        line(out, "state", roof_format_quantity(value, bytes, ROOF_UNIT_BYTES),
             "for each sequence; it is read and written");
    }
}

/* Writes the time on links, for collectives. */
static void put_network(struct roof_text *out, const struct roof_prediction *p)
{
    char value[ROOF_QUANTITY_SIZE];
    char bytes[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    char latency[ROOF_QUANTITY_SIZE];
    char detail[300];
    if (isnan(p->network_time_s)) {
        return;
    }
    if (p->network_bytes > 0) {
        const bool known = p->link.latency_s > 0;
        roof_format_quantity(latency, p->link.latency_s, ROOF_UNIT_MICROSECONDS);
        snprintf(detail, sizeof detail, "%s sent at %s per direction%s%s%s",
                 roof_format_quantity(bytes, p->network_bytes, ROOF_UNIT_BYTES),
                 roof_format_quantity(rate, p->link.bytes_per_s, ROOF_UNIT_GB_PER_S),
                 known ? ", " : "", known ? latency : "", known ? " per step" : "");
    } else {
        snprintf(detail, sizeof detail, "a group of one sends nothing");
    }
    line(out, "network time",
         roof_format_quantity(value, p->network_time_s, ROOF_UNIT_MICROSECONDS), detail);
}

/* Writes the energy if it is known, and the effect of a power cap on the time. */
static void put_power(struct roof_text *out, const struct roof_prediction *p)
{
    const struct roof_power power = roof_power_of(p);
    char value[ROOF_QUANTITY_SIZE];
    char other[ROOF_QUANTITY_SIZE];
    char detail[300];
    if (!isnan(power.power_time_s)) {
        snprintf(detail, sizeof detail, "%s for FLOPs and bytes, under a cap of %s",
                 roof_format_quantity(value, power.dynamic_j, ROOF_UNIT_JOULES),
                 roof_format_quantity(other, p->hardware->figure[ROOF_FIGURE_POWER_CAP].value,
                                      ROOF_UNIT_WATTS));
        line(out, "power time",
             roof_format_quantity(value, power.power_time_s, ROOF_UNIT_MICROSECONDS), detail);
    }
    if (!isnan(power.energy_j)) {
        snprintf(detail, sizeof detail, "at the bound: %s on average; the host is not included",
                 roof_format_quantity(other, power.power_w, ROOF_UNIT_WATTS));
        line(out, "energy", roof_format_quantity(value, power.energy_j, ROOF_UNIT_JOULES), detail);
    }
}

/* Writes the intensity, and the FLOP/s in the predicted time. */
static void put_rates(struct roof_text *out, const struct roof_prediction *p)
{
    char value[ROOF_QUANTITY_SIZE];
    char other[ROOF_QUANTITY_SIZE];
    char detail[300];
    if (isnan(p->ridge)) {
        snprintf(detail, sizeof detail, "FLOP/byte");
    } else {
        snprintf(detail, sizeof detail, "FLOP/byte; ridge point %s",
                 roof_format_short(other, p->ridge));
    }
    line(out, "intensity", roof_format_short(value, p->intensity), detail);
    detail[0] = '\0';
    if (!isnan(p->fraction_of_peak)) {
        snprintf(detail, sizeof detail, "%s of peak",
                 roof_format_quantity(other, p->fraction_of_peak, ROOF_UNIT_FRACTION));
    }
    line(out, "attainable",
         roof_format_quantity(value, p->attainable_flops_per_s, ROOF_UNIT_TFLOPS), detail);
}

static void put_measured(struct roof_text *out, const struct roof_prediction *p)
{
    char value[ROOF_QUANTITY_SIZE];
    char flops[ROOF_QUANTITY_SIZE];
    char bytes[ROOF_QUANTITY_SIZE];
    char detail[300];
    if (isnan(p->measured_s)) {
        return;
    }
    snprintf(detail, sizeof detail, "%s of the bound: %s, %s",
             roof_format_quantity(value, p->fraction_of_bound, ROOF_UNIT_FRACTION),
             roof_format_quantity(flops, p->achieved_flops_per_s, ROOF_UNIT_TFLOPS),
             roof_format_quantity(bytes, p->achieved_bytes_per_s, ROOF_UNIT_GB_PER_S));
    line(out, "measured", roof_format_quantity(value, p->measured_s, ROOF_UNIT_MICROSECONDS),
         detail);
}

void roof_report_misaligned_rows(struct roof_text *out, bool k, double bytes)
{
    if (bytes < ROOF_ALIGNED_BYTES) {
        roof_text_printf(out, "%s is misaligned: %s begin at multiples of %g bytes, not of %d. ",
                         k ? "K" : "N", k ? "its rows" : "rows of the output", bytes,
                         ROOF_ALIGNED_BYTES);
    }
}

/* Names the misaligned rows of a product. */
static void put_misaligned_rows(struct roof_text *out, const struct roof_misaligned *m)
{
    roof_text_put(out, "\n");
    roof_report_misaligned_rows(out, true, m->k_bytes);
    roof_report_misaligned_rows(out, false, m->n_bytes);
}

void roof_report_misaligned(struct roof_text *out, const struct roof_prediction *prediction)
{
    struct roof_misaligned misaligned;
    if (roof_tile_misaligned(&misaligned, prediction)) {
        const size_t from = out->length + 1;
        put_misaligned_rows(out, &misaligned);
        roof_text_printf(
            out, "The times of %s leave out this cost; predict --advise %s the padded product.\n",
            roof_format(prediction->workload.formats.weights)->name,
            misaligned.bounded ? "includes it, and has" : "has");
        roof_text_fold(out, from, 0);
    }
}

/* Names the misaligned rows of a product, and what the estimate leaves out. */
static void put_misaligned(struct roof_text *out, const struct roof_misaligned *m)
{
    char bound[ROOF_QUANTITY_SIZE];
    const size_t from = out->length + 1;
    put_misaligned_rows(out, m);
    roof_text_put(out, "The estimate leaves out this cost");
    if (m->bounded) {
        roof_text_printf(out, "; --tile %s, %s%s, includes it: at least %s", m->tile.name,
                         m->own ? "its own tile" : "the best of the usual ones",
                         m->cut ? ", without split-K" : "",
                         roof_format_quantity(bound, m->tile.total_s, ROOF_UNIT_MICROSECONDS));
    }
    roof_text_put(out, ".\n");
    roof_text_fold(out, from, 0);
}

/* Writes notes on surprising results. */
static void put_notes(struct roof_text *out, const struct roof_prediction *p)
{
    if (!p->native && p->flops > 0 && !isnan(p->compute_time_s)) {
        roof_text_printf(out, "\n%s has no %s unit: the product is computed in %s.\n",
                         p->hardware->id, roof_format(p->wanted)->name,
                         roof_format(p->compute)->name);
    }
    if (p->workload.sparse > 0 && !p->sparse) {
        roof_text_printf(out, "\n%s has no sparse peak for %s: the dense one is used.\n",
                         p->hardware->id, roof_format(p->compute)->name);
    }
    struct roof_misaligned misaligned;
    if (roof_tile_misaligned(&misaligned, p)) {
        put_misaligned(out, &misaligned);
    }
    if (!isnan(p->fraction_of_bound) && p->fraction_of_bound > 1) {
        roof_text_put(out, "\nThe measured time is below the lower bound: data was in a cache, or "
                           "a figure of the device\nis too low.\n");
    }
}

void roof_report_json(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_report_beside *beside)
{
    const struct roof_report_beside none = {.tiling = false};
    const struct roof_report_beside *const b = beside == NULL ? &none : beside;
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_PREDICTIONS, prediction->workload.op, "\n  ");
    roof_text_put(out, "{");
    roof_table_prediction(&table, out, prediction);
    if (isnan(prediction->expected_s)) {
        char why[ROOF_UNEXPECTED_SIZE];
        roof_report_missing(out, roof_unexpected(why, prediction));
    }
    roof_report_published(out, "\n  ", prediction, b->product);
    json_misaligned(out, prediction);
    if (prediction->part_count > 1) {
        roof_text_put(out, ",\n  ");
        json_parts(out, prediction);
    }
    if (b->apart != NULL) {
        json_apart(out, prediction, b->apart);
    }
    const struct roof_expected *const kernel = kernel_of(prediction, b->tiling);
    if (kernel != NULL) {
        json_tiling(out, kernel);
    }
    if (b->advice != NULL) {
        roof_report_advice(out, true, b->advice);
    }
    if (b->explanation != NULL) {
        json_steps(out, b->explanation);
    }
    struct roof_text notes = ROOF_TEXT_INIT;
    put_notes(&notes, prediction);
    roof_report_basis(&notes, prediction, b->product);
    roof_report_note_list(out, ",\n  ", &notes);
    roof_text_free(&notes);
    roof_text_put(out, "\n}\n");
}

void roof_report_text(struct roof_text *out, const struct roof_prediction *p,
                      const struct roof_report_beside *beside)
{
    const size_t title = out->length;
    const struct roof_report_beside none = {.tiling = false};
    const struct roof_report_beside *const b = beside == NULL ? &none : beside;
    roof_report_workload(out, &p->workload);
    roof_text_put(out, " on ");
    roof_report_device(out, p->hardware);
    roof_text_put(out, ": ");
    roof_report_formats(out, p);
    roof_text_fold(out, title, 4);
    roof_text_put(out, "\n\n");
    put_time(out, p);
    put_compute(out, p);
    put_network(out, p);
    put_power(out, p);
    put_rates(out, p);
    put_state(out, p);
    put_expected(out, p, b->tiling);
    if (b->apart != NULL) {
        put_apart(out, p, b->apart);
    }
    put_measured(out, p);
    if (p->part_count > 1) {
        put_parts(out, p);
    }
    put_notes(out, p);
    if (b->advice != NULL) {
        roof_report_advice(out, false, b->advice);
    }
    if (b->explanation != NULL) {
        roof_report_why(out, b->explanation);
    }
    roof_report_basis(out, p, b->product);
}
