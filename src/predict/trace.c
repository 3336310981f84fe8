// SPDX-License-Identifier: MIT
#include "predict/trace.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/grow.h"
#include "predict/kernel.h"
#include "predict/pass.h"
#include "predict/power.h"
#include "predict/predict_sizes.h"
#include "predict/tile.h"

/*
 * All strings go into one buffer as offsets and become pointers at the end, when it no longer
 * grows. The names known so far (dimensions and earlier results) turn a formula into numbers.
 */
#define STRINGS 6      /* per step, in the order of struct roof_step */
#define NAMES_FIRST 16 /* room for names, before it grows */

/* The time in which a host reads the weights that it copies. */
#define HOST_READ "upload_bytes / host_bandwidth"

/* A name that formulas may use. */
struct known {
    const char *name;
    double value;
};

struct builder {
    struct roof_text text;
    struct roof_text offsets; /* size_t, STRINGS per step */
    const struct roof_prediction *prediction;
    const struct roof_hardware *kernels; /* that the expected kernels run on */
    const struct roof_node *node;        /* of a model; or NULL */
    bool tiled; /* the L2 is a roof: its bandwidth is known, and so is a tile of the product */
    struct roof_tile tile;
    struct roof_workload part; /* the one being explained */
    const char *part_name;
    struct known *known;
    size_t known_count;
    size_t known_room;
    const char *extra; /* bytes that a role has beside its tensor: "bias_bytes", "indices" */
    enum roof_role extra_role;
    double extra_bytes;
};

static void put_string(struct builder *b, const char *value)
{
    const size_t offset = b->text.length;
    roof_text_add(&b->text, value, strlen(value) + 1);
    roof_text_add(&b->offsets, (const char *)&offset, sizeof offset);
}

static void put_step(struct builder *b, const char *name, const char *formula, const char *numbers,
                     const char *result, const char *source)
{
    put_string(b, b->part_name);
    put_string(b, name);
    put_string(b, formula);
    put_string(b, numbers);
    put_string(b, result);
    put_string(b, source == NULL ? "" : source);
}

/* Makes a name known to the formulas that follow. */
static void know(struct builder *b, const char *name, double value)
{
    if (b->known_count == b->known_room) {
        struct known *const grown = roof_grow(b->known, &b->known_room, NAMES_FIRST, sizeof *grown);
        if (grown == NULL) {
            b->text.failed = true;
            return;
        }
        b->known = grown;
    }
    b->known[b->known_count++] = (struct known){.name = name, .value = value};
}

static const double *value_of(const struct builder *b, const char *name, size_t length)
{
    for (size_t i = 0; i < b->known_count; i++) {
        if (strlen(b->known[i].name) == length && memcmp(b->known[i].name, name, length) == 0) {
            return &b->known[i].value;
        }
    }
    return NULL;
}

/* Copies the formula with every known name replaced by its value. */
static void put_numbers(struct roof_text *out, const struct builder *b, const char *formula)
{
    const char *p = formula;
    while (*p != '\0') {
        size_t length = 0;
        while (isalnum((unsigned char)p[length]) || p[length] == '_') {
            length++;
        }
        const double *const value = length > 0 ? value_of(b, p, length) : NULL;
        if (value != NULL) {
            roof_text_number(out, *value);
        } else {
            length = length == 0 ? 1 : length;
            roof_text_add(out, p, length);
        }
        p += length;
    }
}

static void result_text(struct roof_text *out, double value, enum roof_unit unit)
{
    char short_text[ROOF_QUANTITY_SIZE];
    roof_text_number(out, roof_to_unit(value, unit));
    if (unit == ROOF_UNIT_NONE) {
        return;
    }
    roof_text_printf(out, " %s", roof_unit_name(unit));
    if (unit == ROOF_UNIT_BYTES || unit == ROOF_UNIT_FLOPS) {
        roof_text_printf(out, " (%s)", roof_format_quantity(short_text, value, unit));
    }
}

/* Adds a step "name = formula = numbers = value". */
static void put_computed(struct builder *b, const char *name, const char *formula, double value,
                         enum roof_unit unit)
{
    struct roof_text numbers = ROOF_TEXT_INIT;
    struct roof_text result = ROOF_TEXT_INIT;
    put_numbers(&numbers, b, formula);
    result_text(&result, value, unit);
    b->text.failed |= numbers.failed;
    b->text.failed |= result.failed;
    put_step(b, name, formula, numbers.data == NULL ? "" : numbers.data,
             result.data == NULL ? "" : result.data, "");
    roof_text_free(&numbers);
    roof_text_free(&result);
    know(b, name, value);
}

/* Adds the size of a tensor: elements by the operator's formula, bytes by the layout of its format.
 */
static void put_tensor(struct builder *b, const char *name, const char *expression, double elements,
                       enum roof_role role, double bytes)
{
    const struct roof_formats *const f = &b->part.formats;
    const bool bias =
        strcmp(name, "bias") == 0; /* part of the weights, in the format of the output */
    const enum roof_precision stored = roof_role_format(f, bias ? ROOF_ROLE_OUT : role);
    const struct roof_format *const format = roof_format(stored);
    struct roof_text formula = ROOF_TEXT_INIT;
    struct roof_text numbers = ROOF_TEXT_INIT;
    struct roof_text result = ROOF_TEXT_INIT;
    char key[48];
    strncpy(key, name, sizeof key - 1);
    key[sizeof key - 1] = '\0';
    if (strcmp(name, "indices") == 0) {
        roof_text_printf(&formula, "(%s) * 4", expression);
        roof_text_put(&numbers, "(");
        put_numbers(&numbers, b, expression);
        roof_text_put(&numbers, ") * 4");
    } else {
        if (strstr(name, "bytes") == NULL) {
            strncat(key, "_bytes", sizeof key - strlen(key) - 1);
        }
        const bool pruned = b->part.sparse > 0 && role == ROOF_ROLE_WEIGHTS && !bias;
        roof_text_printf(&formula, "(%s) * bits(%s%s) / 8", expression, pruned ? "2:4 " : "",
                         format->name);
        roof_text_put(&numbers, "(");
        put_numbers(&numbers, b, expression);
        roof_text_put(&numbers, ") * ");
        roof_text_number(&numbers, pruned ? roof_pruned_bits(stored) : roof_precision_bits(stored));
        roof_text_put(&numbers, " / 8");
        const double values =
            (pruned ? roof_pruned_bytes : roof_tensor_bytes)(stored, elements, 0, 0);
        const double scales = bytes - values;
        if (format->tensor_bytes + format->channel_bytes > 0 && scales > 0) {
            roof_text_put(&formula, " + scales");
            roof_text_put(&numbers, " + ");
            roof_text_number(&numbers, scales);
        }
    }
    result_text(&result, bytes, ROOF_UNIT_BYTES);
    b->text.failed |= formula.failed;
    b->text.failed |= numbers.failed;
    b->text.failed |= result.failed;
    if (!b->text.failed) {
        put_step(b, key, formula.data, numbers.data, result.data, "");
    }
    roof_text_free(&formula);
    roof_text_free(&numbers);
    roof_text_free(&result);
}

static void on_trace(void *context, const char *name, const char *expression, double value,
                     enum roof_role role, double bytes)
{
    struct builder *const b = context;
    if (role == ROOF_ROLE_COUNT) {
        put_computed(b, name, expression, value,
                     strcmp(name, "flops") == 0 ? ROOF_UNIT_FLOPS : ROOF_UNIT_NONE);
    } else if (value > 0) {
        if (strcmp(name, "bias") == 0 || strcmp(name, "indices") == 0) {
            b->extra = strcmp(name, "bias") == 0 ? "bias_bytes" : name;
            b->extra_role = role;
            b->extra_bytes = bytes;
        }
        put_tensor(b, name, expression, value, role, bytes);
    }
}

/* Adds a figure that is looked up: its value in the unit of its key, with source, confidence and
 * note. */
static void put_figure(struct builder *b, const char *name, const struct roof_figure *figure,
                       enum roof_unit unit)
{
    struct roof_text result = ROOF_TEXT_INIT;
    struct roof_text source = ROOF_TEXT_INIT;
    roof_text_number(&result, roof_given(figure->value, unit));
    roof_text_printf(&result, " %s", roof_unit_name(unit));
    roof_text_put(&source, figure->source == NULL ? "no source given" : figure->source);
    if (figure->confidence != ROOF_CONFIDENCE_UNKNOWN) {
        roof_text_printf(&source, "; %s confidence", roof_confidence_name(figure->confidence));
    }
    if (figure->note != NULL) {
        roof_text_printf(&source, "; %s", figure->note);
    }
    b->text.failed |= result.failed;
    b->text.failed |= source.failed;
    if (!b->text.failed) {
        put_step(b, name, "", "", result.data, source.data);
    }
    roof_text_free(&result);
    roof_text_free(&source);
}

/* Adds the figures of energy; a format that several parts run at stands once. */
static void put_power_figures(struct builder *b)
{
    static const enum roof_figure_id ids[] = {ROOF_FIGURE_POWER_CAP, ROOF_FIGURE_CONSTANT_POWER,
                                              ROOF_FIGURE_BYTE_ENERGY};
    const struct roof_prediction *const p = b->prediction;
    bool shown[ROOF_PRECISION_COUNT] = {false};
    for (size_t i = 0; i < COUNT(ids); i++) {
        const struct roof_figure_key *const key = roof_figure_key(ids[i]);
        if (!isnan(p->hardware->figure[ids[i]].value)) {
            put_figure(b, key->label, &p->hardware->figure[ids[i]], key->unit);
        }
    }
    for (int i = 0; i < p->part_count; i++) {
        const enum roof_precision format = p->part[i].compute;
        if (!shown[format] && p->part[i].work.flops > 0) {
            char name[80];
            snprintf(name, sizeof name, "energy per FLOP, %s", roof_format(format)->name);
            put_figure(b, name, &p->hardware->peak[ROOF_FLOP_ENERGY][format],
                       roof_peak_table_unit(ROOF_FLOP_ENERGY));
            shown[format] = true;
        }
    }
}

static void put_figures(struct builder *b)
{
    const struct roof_prediction *const p = b->prediction;
    const struct roof_hardware *const hardware = p->hardware;
    put_figure(b, "bandwidth", &hardware->figure[ROOF_FIGURE_BANDWIDTH], ROOF_UNIT_GB_PER_S);
    bool shown[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT] = {{false}};
    for (int i = 0; i < p->part_count; i++) {
        const struct roof_part *const part = &p->part[i];
        const enum roof_peak_table table = roof_part_peaks(part);
        if (!isnan(part->peak_flops_per_s) && !shown[table][part->compute]) {
            char name[80];
            snprintf(name, sizeof name, "peak %s, %s", roof_format(part->compute)->name,
                     roof_peak_table_label(table));
            put_figure(b, name, &hardware->peak[table][part->compute], ROOF_UNIT_TFLOPS);
            shown[table][part->compute] = true;
        }
    }
    if (b->tiled) {
        put_figure(b, "L2 bandwidth", &hardware->figure[ROOF_FIGURE_L2_BANDWIDTH],
                   ROOF_UNIT_GB_PER_S);
    }
    if (!isnan(roof_power_of(p).dynamic_j)) {
        put_power_figures(b);
    }
    if (p->link.figure != NULL) {
        put_figure(b, "link", p->link.figure, ROOF_UNIT_GB_PER_S);
        if (p->link.bytes_per_s < p->link.figure->value) { /* no switch: one link to each peer */
            put_figure(b, "peer_link", &hardware->figure[ROOF_FIGURE_PEER_LINK],
                       ROOF_UNIT_GB_PER_S);
        }
    }
}

/* Puts a parameter with as many digits as files have. */
static void put_parameter(struct roof_text *out, double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", value);
    roof_text_number(out, strtod(digits, NULL));
}

/* Puts the rows of a fit, its error, and the reason why the device borrows it. */
static enum roof_status put_fit(struct roof_text *out, const struct roof_kernel_fit *fit,
                                const struct roof_hardware *hardware)
{
    char off[ROOF_QUANTITY_SIZE];
    struct roof_text reason = ROOF_TEXT_INIT;
    roof_text_printf(out, "%.0f rows", (double)fit->rows);
    if (fit->note == NULL) {
        roof_text_printf(out, " of %s", fit->device);
    }
    if (fit->stack != ROOF_STACK_BEST) {
        roof_text_printf(out, ", %s", roof_stack_name(fit->stack));
    }
    roof_text_printf(
        out, ", %s; off by %s%s%s; formulas: docs/accuracy.md", roof_numerics_name(fit->numerics),
        roof_format_quantity(off, fit->mape, ROOF_UNIT_FRACTION),
        fit->note == NULL ? " on sizes no fit saw" : "; ", fit->note == NULL ? "" : fit->note);
    enum roof_status status = roof_calibration_put_libraries(out, fit, NULL);
    if (status == ROOF_OK) {
        status = roof_calibration_reason(&reason, hardware, fit, NULL);
    }
    if (reason.length > 0) {
        roof_text_printf(out, "; borrowed: %s", reason.data);
    }
    out->failed |= reason.failed;
    roof_text_free(&reason);
    return status;
}

/* Adds the kernel that is expected, its parameters, and their sources. */
static void put_kernel(struct builder *b, const struct roof_expected *e)
{
    const struct roof_kernel_fit *const fit = e->fit;
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_fit_parameters(fit, &count);
    struct roof_text values = ROOF_TEXT_INIT;
    struct roof_text source = ROOF_TEXT_INIT;
    bool limited = false;
    for (size_t i = 0; i < count; i++) {
        roof_text_printf(&values, "%s%s ", i == 0 ? "" : ", ", parameter[i].key);
        put_parameter(&values, fit->parameter[i]);
        limited = limited || (strcmp(parameter[i].key, "peak") == 0 && fit->parameter[i] > 1);
    }
    const enum roof_status status = put_fit(&source, fit, b->kernels);
    if (limited) {
        roof_text_put(&source, "; peak above 1: the matrix units run at a part of the rate of this "
                               "SM, or convert inputs to a faster format; no kernel is faster than "
                               "the peak of the product (Limits of a product)");
    }
    b->text.failed |= values.failed || source.failed || status != ROOF_OK;
    put_step(b, roof_kernel_name(fit->kernel), "", "", values.data == NULL ? "" : values.data,
             source.data == NULL ? "" : source.data);
    roof_text_free(&values);
    roof_text_free(&source);
}

/* Adds the interval: the band of the fit around the expected time, which is wider if the kernel is
 * borrowed. */
static void put_interval(struct builder *b, const struct roof_part *part)
{
    const struct roof_expected *const e = &part->expected;
    const struct roof_widening wider = roof_kernel_widening(e, &b->part, b->kernels);
    const bool widened = wider.factor > 1;
    const bool elsewhere = b->kernels != b->prediction->hardware;
    const bool raised = elsewhere ? e->low_s > e->time_s * e->fit->low / wider.factor * (1 + 1e-9)
                                  : e->low_s == part->time_s;
    const char *const least = elsewhere ? "kernel_bound" : "time";
    const double high = e->time_s * e->fit->high * wider.factor;
    const bool reaches = e->high_s > high; /* to the next fastest stack, or towards it */
    const bool next = reaches && e->high_s < ROOF_SECOND_BAND * high;
    char limit[32] = "";
    struct roof_text numbers = ROOF_TEXT_INIT;
    struct roof_text result = ROOF_TEXT_INIT;
    char formula[128];
    char source[224];
    know(b, least, e->low_s); /* shown where it is the low end */
    know(b, "low", e->fit->low);
    know(b, "high", e->fit->high);
    know(b, "wider", wider.factor);
    know(b, "next_stack", e->high_s);
    if (reaches && !next) {
        snprintf(limit, sizeof limit, "%g * ", ROOF_SECOND_BAND);
    }
    snprintf(formula, sizeof formula, "%s%s%sexpected_time * low%s%s to %s%s", raised ? "max(" : "",
             raised ? least : "", raised ? ", " : "", widened ? " / wider" : "", raised ? ")" : "",
             limit,
             next      ? "next_stack"
             : widened ? "expected_time * high * wider"
                       : "expected_time * high");
    put_numbers(&numbers, b, formula);
    result_text(&result, e->low_s, ROOF_UNIT_MICROSECONDS);
    roof_text_put(&result, " to ");
    result_text(&result, e->high_s, ROOF_UNIT_MICROSECONDS);
    snprintf(source, sizeof source,
             "80%% of the rows that no fit saw are between low and high%s%s%s",
             widened ? "; wider: " : "", widened ? wider.reason : "",
             reaches ? "; up to the next fastest stack, which may be faster" : "");
    b->text.failed |= numbers.failed || result.failed;
    put_step(b, "interval", formula, numbers.data == NULL ? "" : numbers.data,
             result.data == NULL ? "" : result.data, source);
    roof_text_free(&numbers);
    roof_text_free(&result);
}

/* Adds the launch, and the kernel by the formulas of its parameters. */
static void put_expected_time(struct builder *b, const struct roof_part *part)
{
    const struct roof_expected *const e = &part->expected;
    const struct {
        const char *name;
        double value;
    } terms[] = {{"launch", e->launch_s}, {"kernel", e->time_s - e->launch_s}};
    if (isnan(e->time_s) || e->fit == NULL) {
        return;
    }
    put_kernel(b, e);
    for (size_t i = 0; i < COUNT(terms); i++) {
        struct roof_text result = ROOF_TEXT_INIT;
        result_text(&result, terms[i].value, ROOF_UNIT_MICROSECONDS);
        b->text.failed |= result.failed;
        put_step(b, terms[i].name, "", "", result.data == NULL ? "" : result.data,
                 "from these parameters");
        roof_text_free(&result);
        know(b, terms[i].name, terms[i].value);
    }
    put_computed(b, "expected_time", "launch + kernel", e->time_s, ROOF_UNIT_MICROSECONDS);
    put_interval(b, part);
}

/* Adds the bytes of a part: its tensors, and the bytes that a role has beside its tensor. */
static void put_bytes(struct builder *b, const struct roof_part *part)
{
    static const char *const role_keys[ROOF_ROLE_COUNT] = {
        [ROOF_ROLE_WEIGHTS] = "weights_bytes",
        [ROOF_ROLE_ACTIVATIONS] = "activations_bytes",
        [ROOF_ROLE_OUT] = "out_bytes",
        [ROOF_ROLE_KV] = "kv_bytes",
    };
    struct roof_text sum = ROOF_TEXT_INIT;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        const double extra = b->extra != NULL && (int)b->extra_role == role ? b->extra_bytes : 0;
        if (part->work.bytes[role] > 0) {
            roof_text_printf(&sum, "%s%s", sum.length == 0 ? "" : " + ", role_keys[role]);
        }
        know(b, role_keys[role], part->work.bytes[role] - extra);
    }
    if (b->extra != NULL) {
        roof_text_printf(&sum, " + %s", b->extra);
        know(b, b->extra, b->extra_bytes);
    }
    b->text.failed |= sum.failed;
    if (sum.data != NULL) {
        put_computed(b, "bytes", sum.data, part->bytes, ROOF_UNIT_BYTES);
    }
    roof_text_free(&sum);
}

static void put_compute_time(struct builder *b, const struct roof_part *part)
{
    if (part->work.flops == 0) {
        put_step(b, "compute_time", "flops / peak", "", "0 us: no FLOPs", "");
    } else if (!isnan(part->compute_time_s)) {
        put_computed(b, "compute_time", "flops / peak", part->compute_time_s,
                     ROOF_UNIT_MICROSECONDS);
    } else {
        put_step(b, "compute_time", "flops / peak", "", "unknown: no peak for this format", "");
    }
}

static void put_network_time(struct builder *b, const struct roof_part *part)
{
    const bool latency = b->prediction->link.latency_s > 0;
    if (part->network_time_s == 0) {
        put_step(b, "network_time", "network_bytes / link", "",
                 "0 us: a group of one sends nothing", "");
    } else if (!isnan(part->network_time_s)) {
        put_computed(b, "network_time",
                     latency ? "network_bytes / link + network_steps * latency"
                             : "network_bytes / link",
                     part->network_time_s, ROOF_UNIT_MICROSECONDS);
    }
}

/* Adds the energy of a part, and what a power cap demands. */
static void put_power(struct builder *b, const struct roof_part *part)
{
    const struct roof_hardware *const hardware = b->prediction->hardware;
    const struct roof_power power = roof_power_of_part(part, hardware);
    if (isnan(power.dynamic_j)) {
        return;
    }
    know(b, "flop_energy", hardware->peak[ROOF_FLOP_ENERGY][part->compute].value);
    know(b, "byte_energy", hardware->figure[ROOF_FIGURE_BYTE_ENERGY].value);
    put_computed(b, "dynamic_energy",
                 part->work.flops == 0 ? "bytes * byte_energy"
                                       : "flops * flop_energy + bytes * byte_energy",
                 power.dynamic_j, ROOF_UNIT_JOULES);
    if (!isnan(power.power_time_s)) {
        know(b, "power_cap", hardware->figure[ROOF_FIGURE_POWER_CAP].value);
        know(b, "constant_power", hardware->figure[ROOF_FIGURE_CONSTANT_POWER].value);
        put_computed(b, "power_time", "dynamic_energy / (power_cap - constant_power)",
                     power.power_time_s, ROOF_UNIT_MICROSECONDS);
    }
}

/* Adds the bound of a part: the longest of its times, and which one that is. */
static void put_bound_time(struct builder *b, const struct roof_part *part)
{
    struct roof_text result = ROOF_TEXT_INIT;
    char formula[80];
    result_text(&result, part->time_s, ROOF_UNIT_MICROSECONDS);
    roof_text_printf(&result, ", %s-bound", roof_bottleneck_name(part->bottleneck));
    snprintf(formula, sizeof formula, "max(memory_time, compute_time%s%s)",
             isnan(part->network_time_s) ? "" : ", network_time",
             roof_power_capped(b->prediction->hardware) ? ", power_time" : "");
    b->text.failed |= result.failed;
    put_step(b, "time", formula, "", result.data == NULL ? "" : result.data, "");
    roof_text_free(&result);
}

/* Adds the L2 as a roof of its own, with the bytes that pass through it in the tile of the shortest
 * time. */
static void put_l2(struct builder *b)
{
    const struct roof_tile *const t = &b->tile;
    struct roof_text result = ROOF_TEXT_INIT;
    char source[128];
    result_text(&result, t->bytes[ROOF_TILE_L2], ROOF_UNIT_BYTES);
    snprintf(source, sizeof source, "tile %s, order %s; formulas: docs/formulas.md", t->name,
             roof_tile_order_name(t->order));
    b->text.failed |= result.failed;
    put_step(b, "l2_bytes", "", "", result.data == NULL ? "" : result.data, source);
    roof_text_free(&result);
    know(b, "l2_bytes", t->bytes[ROOF_TILE_L2]);
    know(b, "l2_bandwidth", b->prediction->hardware->figure[ROOF_FIGURE_L2_BANDWIDTH].value);
    put_computed(b, "l2_intensity", "flops / l2_bytes", t->intensity[ROOF_TILE_L2],
                 ROOF_UNIT_FLOP_PER_BYTE);
    put_computed(b, "l2_ridge_point", "peak / l2_bandwidth",
                 b->prediction->peak_flops_per_s /
                     b->prediction->hardware->figure[ROOF_FIGURE_L2_BANDWIDTH].value,
                 ROOF_UNIT_FLOP_PER_BYTE);
    put_computed(b, "l2_time", "l2_bytes / l2_bandwidth", t->time_s[ROOF_TILE_L2],
                 ROOF_UNIT_MICROSECONDS);
}

/* Adds the steps from the work of a part to its times. */
static void put_times(struct builder *b, const struct roof_part *part)
{
    const struct roof_prediction *const p = b->prediction;
    put_bytes(b, part);
    know(b, "bandwidth", p->bandwidth_bytes_per_s);
    know(b, "peak", part->peak_flops_per_s);
    if (p->link.figure != NULL && p->link.bytes_per_s < p->link.figure->value) {
        const double peer = p->hardware->figure[ROOF_FIGURE_PEER_LINK].value;
        know(b, "peers", p->link.bytes_per_s / peer);
        know(b, "peer_link", peer);
        put_computed(b, "link", "peers * peer_link", p->link.bytes_per_s, ROOF_UNIT_GB_PER_S);
    }
    know(b, "link", p->link.bytes_per_s);
    know(b, "latency", p->link.latency_s);
    know(b, "network_steps", part->work.network_steps);
    know(b, "network_bytes", part->work.network_bytes);
    put_computed(b, "arithmetic_intensity", "flops / bytes", part->intensity,
                 ROOF_UNIT_FLOP_PER_BYTE);
    if (!isnan(part->ridge)) {
        put_computed(b, "ridge_point", "peak / bandwidth", part->ridge, ROOF_UNIT_FLOP_PER_BYTE);
    }
    put_computed(b, "memory_time", "bytes / bandwidth", part->memory_time_s,
                 ROOF_UNIT_MICROSECONDS);
    put_compute_time(b, part);
    put_network_time(b, part);
    put_power(b, part);
    put_bound_time(b, part);
    if (b->tiled) {
        put_l2(b);
    }
    put_expected_time(b, part);
}

/* Adds the interval of the expected time with the copy of weights. */
static void put_copied_interval(struct builder *b, const struct roof_copy *copy)
{
    const struct roof_prediction *const p = b->prediction;
    struct roof_text numbers = ROOF_TEXT_INIT;
    struct roof_text result = ROOF_TEXT_INIT;
    char formula[96];
    know(b, "kernels_low", p->expected_low_s - copy->low_s);
    know(b, "upload_low", copy->low_s);
    know(b, "kernels_high", p->expected_high_s - copy->high_s);
    know(b, "upload_high", copy->high_s);
    (void)snprintf(formula, sizeof formula, "%s to %s",
                   p->expected_low_s == copy->least_s ? HOST_READ : "kernels_low + upload_low",
                   p->expected_high_s == copy->least_s ? HOST_READ : "kernels_high + upload_high");
    put_numbers(&numbers, b, formula);
    result_text(&result, p->expected_low_s, ROOF_UNIT_MICROSECONDS);
    roof_text_put(&result, " to ");
    result_text(&result, p->expected_high_s, ROOF_UNIT_MICROSECONDS);
    b->text.failed |= numbers.failed || result.failed;
    put_step(b, "interval", formula, numbers.data == NULL ? "" : numbers.data,
             result.data == NULL ? "" : result.data, "docs/accuracy.md (Weights on the host)");
    roof_text_free(&numbers);
    roof_text_free(&result);
}

/* Adds the time in which the weights arrive on the device, if this is the bound. */
static void put_arrival(struct builder *b)
{
    const struct roof_prediction *const p = b->prediction;
    const double arrives_s = roof_copy_arrives_s(b->node, p, b->kernels);
    if (p->hardware == b->kernels || p->time_s != arrives_s) {
        return;
    }
    b->part_name = "";
    b->known_count = 0;
    know(b, "upload_bytes", p->role_bytes[ROOF_ROLE_WEIGHTS]);
    know(b, "arrival_rate", p->role_bytes[ROOF_ROLE_WEIGHTS] / arrives_s);
    put_computed(b, "time", "upload_bytes / arrival_rate", arrives_s, ROOF_UNIT_MICROSECONDS);
}

/* Adds the copy of weights from the host, and the expected time with it. */
static void put_upload(struct builder *b)
{
    const struct roof_prediction *const p = b->prediction;
    if (b->node == NULL || b->node->upload.share == 0) {
        return;
    }
    put_arrival(b);
    if (isnan(p->expected_s)) {
        return;
    }
    const struct roof_copy copy = roof_copy_of(b->node, p, b->kernels);
    struct roof_text result = ROOF_TEXT_INIT;
    b->part_name = "";
    b->known_count = 0;
    put_figure(b, "host_link", &b->kernels->figure[ROOF_FIGURE_HOST_LINK], ROOF_UNIT_GB_PER_S);
    roof_text_number(&result, b->node->upload.share);
    b->text.failed |= result.failed;
    put_step(b, "link_share", "", "", result.data == NULL ? "" : result.data,
             "measured passes of llama.cpp; docs/accuracy.md (Weights on the host)");
    roof_text_free(&result);
    know(b, "link_share", b->node->upload.share);
    know(b, "host_link", b->kernels->figure[ROOF_FIGURE_HOST_LINK].value);
    know(b, "upload_bytes", p->role_bytes[ROOF_ROLE_WEIGHTS]);
    put_computed(b, "upload", "upload_bytes / (link_share * host_link)", copy.time_s,
                 ROOF_UNIT_MICROSECONDS);
    know(b, "kernels", p->expected_s - copy.time_s);
    know(b, "host_bandwidth", b->node->host->figure[ROOF_FIGURE_BANDWIDTH].value);
    put_computed(b, "expected_time", p->expected_s == copy.least_s ? HOST_READ : "kernels + upload",
                 p->expected_s, ROOF_UNIT_MICROSECONDS);
    put_copied_interval(b, &copy);
}

static void put_parts(struct builder *b)
{
    const struct roof_prediction *const p = b->prediction;
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    const int count = roof_workload_parts(parts, &p->workload);
    struct roof_text sum = ROOF_TEXT_INIT;
    for (int i = 0; i < count; i++) {
        b->part = parts[i];
        b->part_name = count > 1 ? roof_operator_row(parts[i].op)->name : "";
        b->known_count = 0;
        b->extra = NULL;
        for (int d = 0; d < ROOF_DIM_COUNT; d++) {
            know(b, roof_dimensions[d].key, (double)roof_input_get(&parts[i], &roof_dimensions[d]));
        }
        struct roof_work work;
        const struct roof_steps trace = {.step = on_trace, .context = b};
        roof_operator_work(&work, &parts[i], &trace);
        put_times(b, &p->part[i]);
        roof_text_put(&sum, i == 0 ? "" : " + ");
        roof_text_number(&sum, roof_to_unit(p->part[i].time_s, ROOF_UNIT_MICROSECONDS));
    }
    b->text.failed |= sum.failed;
    if (count > 1 && sum.data != NULL) {
        struct roof_text result = ROOF_TEXT_INIT;
        result_text(&result, p->time_s, ROOF_UNIT_MICROSECONDS);
        b->part_name = "";
        b->text.failed |= result.failed;
        put_step(b, "time", "sum over the parts", sum.data, result.data == NULL ? "" : result.data,
                 "");
        roof_text_free(&result);
    }
    roof_text_free(&sum);
}

/* Returns the hardware whose kernels the expected time of an operator has. */
static const struct roof_hardware *kernels_of(const struct roof_node *node,
                                              const struct roof_prediction *prediction,
                                              const struct roof_hardware *device)
{
    return node->upload.share > 0       ? device
           : node->host_kernels != NULL ? node->host_kernels
                                        : prediction->hardware;
}

/* Takes a prediction apart; node is NULL for an operator that is no part of a model. */
static enum roof_status trace(struct roof_trace *out, const struct roof_node *node,
                              const struct roof_prediction *prediction,
                              const struct roof_hardware *kernels, struct roof_error *error)
{
    *out = (struct roof_trace){0};
    struct builder b = {
        .prediction = prediction, .kernels = kernels, .node = node, .part_name = ""};
    b.tiled = !isnan(prediction->hardware->figure[ROOF_FIGURE_L2_BANDWIDTH].value) &&
              roof_tile_best(&b.tile, prediction);
    put_figures(&b);
    put_parts(&b);
    put_upload(&b);
    free(b.known);
    const size_t count = b.offsets.length / (STRINGS * sizeof(size_t));
    out->step = calloc(count + 1, sizeof *out->step);
    if (b.text.failed || b.offsets.failed || out->step == NULL) {
        roof_text_free(&b.text);
        roof_text_free(&b.offsets);
        free(out->step);
        *out = (struct roof_trace){0};
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        size_t offset[STRINGS];
        memcpy(offset, b.offsets.data + i * sizeof offset, sizeof offset);
        out->step[i] = (struct roof_step){
            .part = b.text.data + offset[0],
            .name = b.text.data + offset[1],
            .formula = b.text.data + offset[2],
            .numbers = b.text.data + offset[3],
            .result = b.text.data + offset[4],
            .source = b.text.data + offset[5],
        };
    }
    roof_text_free(&b.offsets);
    out->count = count;
    out->private_data = b.text.data;
    return ROOF_OK;
}

enum roof_status roof_trace_prediction(struct roof_trace *out,
                                       const struct roof_prediction *prediction,
                                       struct roof_error *error)
{
    return trace(out, NULL, prediction, prediction->hardware, error);
}

enum roof_status roof_trace_node(struct roof_trace *out, const struct roof_node *node,
                                 const struct roof_prediction *prediction,
                                 const struct roof_hardware *device, struct roof_error *error)
{
    return trace(out, node, prediction, kernels_of(node, prediction, device), error);
}

void roof_trace_free(struct roof_trace *trace)
{
    if (trace != NULL) {
        free(trace->step);
        free(trace->private_data);
        *trace = (struct roof_trace){0};
    }
}
