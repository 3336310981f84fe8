// SPDX-License-Identifier: MIT
#include "measure/device.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/quantity.h"

/* Writes a number with four digits, the precision of measured rates. It is rounded up, so that no
 * measured row is faster than its bound. */
static void put_rounded(struct roof_text *out, double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.3e", value);
    if (strtod(digits, NULL) < value) {
        const double last = pow(10, floor(log10(value)) - 3);
        snprintf(digits, sizeof digits, "%.3e", value + last / 2);
    }
    roof_text_number(out, strtod(digits, NULL));
}

static void put_word(struct roof_text *out, const char *key, const char *value)
{
    if (*value != '\0') {
        roof_text_printf(out, ",\n  \"%s\": ", key);
        roof_json_quote(out, value);
    }
}

/* Writes a figure that was not timed, in the unit of its key. */
static void put_told(struct roof_text *out, enum roof_figure_id figure, double si,
                     const char *source)
{
    const struct roof_figure_key *const row = roof_figure_key(figure);
    if (!isnan(si) && si > 0) {
        roof_text_printf(out, ",\n  \"%s\": {\"value\": ", row->key);
        roof_text_number(out, roof_to_unit(si, row->unit));
        roof_text_printf(out, ", \"source\": \"%s\"}", source);
    }
}

/* Writes a measured figure. A noisy one has a low confidence, so that predictions note it. */
static void put_measured(struct roof_text *out, const char *key, double value, const char *how,
                         bool noisy)
{
    roof_text_printf(out, "\"%s\": {\"value\": ", key);
    put_rounded(out, value);
    roof_text_printf(out, ", \"source\": \"measured by roofline measure: %s%s\"%s}", how,
                     noisy ? " (noisy)" : "", noisy ? ", \"confidence\": \"low\"" : "");
}

/* Tells if a probe of a kind (with its bytes, or its format and unit) is noisy. */
static bool is_noisy(const struct roof_measured *m, const struct roof_meter_task *task)
{
    bool noisy = false;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_task *const t = &m->row[i].task;
        noisy = noisy || (m->row[i].noisy && t->probe == task->probe && t->bytes == task->bytes &&
                          t->format == task->format && t->unit == task->unit);
    }
    return noisy;
}

/* Tells if multiplications of a format were measured on one of the units. */
static bool is_probed(const struct roof_measured *m, enum roof_compute_unit unit,
                      enum roof_precision format)
{
    bool probed = false;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_task *const task = &m->row[i].task;
        probed = probed || (task->probe == ROOF_PROBE_MULTIPLY && task->unit == unit &&
                            task->format == format);
    }
    return probed;
}

/* Tells if a product counts for the peak of its format on one of the units: on a GPU, because its
 * bound may not exceed the fastest product. It runs on the matrix unit if that has the format;
 * attention always does. */
static bool is_product_of(const struct roof_measured *m, const struct roof_workload *w,
                          enum roof_compute_unit unit, enum roof_precision format)
{
    const bool cached = roof_operator_row(w->op)->other == ROOF_ROLE_KV;
    const bool matrix = cached || is_probed(m, ROOF_COMPUTE_MATRIX, format);
    return !m->device.host && roof_is_product(w->op) && w->formats.weights == format &&
           w->formats.activations == format && (unit == ROOF_COMPUTE_MATRIX) == matrix;
}

/* Returns the FLOPs that a row shows for a format on one of the units; 0 if it shows none. */
static double shown_flops(const struct roof_measured *m, const struct roof_meter_row *row,
                          enum roof_compute_unit unit, enum roof_precision format)
{
    const struct roof_meter_task *const task = &row->task;
    const struct roof_workload *const w = &task->workload;
    struct roof_work work = {0};
    if (task->probe == ROOF_PROBE_MULTIPLY) {
        return task->unit == unit && task->format == format ? row->amount : 0;
    }
    if (task->probe != ROOF_PROBE_OPERATOR || !is_product_of(m, w, unit, format)) {
        return 0;
    }
    roof_operator_work(&work, w, NULL);
    return work.flops;
}

double roof_measured_peak(const struct roof_measured *m, enum roof_compute_unit unit,
                          enum roof_precision format)
{
    double best = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        best = fmax(best, shown_flops(m, row, unit, format) / row->time_s);
    }
    return is_probed(m, unit, format) ? best : ROOF_UNKNOWN;
}

static void put_peaks(struct roof_text *out, const struct roof_measured *m,
                      enum roof_compute_unit unit)
{
    bool any = false;
    for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
        const double peak = roof_measured_peak(m, unit, (enum roof_precision)format);
        const double multiplied =
            m->device.host || unit == ROOF_COMPUTE_VECTOR
                ? roof_measured_rate(m, ROOF_PROBE_MULTIPLY, 0, (enum roof_precision)format)
                : 0; /* the probe of a matrix unit is a product, too */
        if (isnan(peak)) {
            continue;
        }
        roof_text_put(out, any ? ",\n    " : "");
        if (!any) {
            roof_text_printf(out, ",\n  \"%s\": {\n    ",
                             roof_peak_table_key(unit == ROOF_COMPUTE_MATRIX ? ROOF_PEAK_MATRIX
                                                                             : ROOF_PEAK_VECTOR));
        }
        any = true;
        put_measured(out, roof_precision_name((enum roof_precision)format),
                     roof_to_unit(peak, ROOF_UNIT_TFLOPS),
                     peak > multiplied ? "the fastest product" : "multiplications in registers",
                     is_noisy(m, &(struct roof_meter_task){.probe = ROOF_PROBE_MULTIPLY,
                                                           .format = (enum roof_precision)format,
                                                           .unit = unit}));
    }
    roof_text_put(out, any ? "\n  }" : "");
}

/* Writes the energies of work, as far as they are known. */
static void put_power(struct roof_text *out, const struct roof_power_term *power)
{
    char how[64];
    bool any = false;
    if (isnan(power->constant_w)) {
        return;
    }
    snprintf(how, sizeof how, "kernels that ran for long, %.1f%% off", 100 * power->error);
    roof_text_put(out, ",\n  ");
    put_measured(out, roof_figure_key(ROOF_FIGURE_CONSTANT_POWER)->key, power->constant_w, how,
                 false);
    roof_text_put(out, ",\n  ");
    put_measured(out, roof_figure_key(ROOF_FIGURE_BYTE_ENERGY)->key,
                 roof_to_unit(power->byte_j, ROOF_UNIT_PICOJOULES), how, false);
    for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
        if (isnan(power->flop_j[format])) {
            continue;
        }
        if (any) {
            roof_text_put(out, ",\n    ");
        } else {
            roof_text_printf(out, ",\n  \"%s\": {\n    ", roof_peak_table_key(ROOF_FLOP_ENERGY));
        }
        any = true;
        put_measured(out, roof_precision_name((enum roof_precision)format),
                     roof_to_unit(power->flop_j[format], ROOF_UNIT_PICOJOULES), how, false);
    }
    roof_text_put(out, any ? "\n  }" : "");
}

/* Returns the bytes of a level; NAN if there is none of this name, or if they are unknown. */
static double level_bytes(const struct roof_meter_device *device, const char *name)
{
    for (size_t i = 0; i < device->level_count; i++) {
        if (strcmp(device->level[i].name, name) == 0 && device->level[i].bytes > 0) {
            return (double)device->level[i].bytes;
        }
    }
    return ROOF_UNKNOWN;
}

/* Returns the highest clock that the system tells or that was measured; NAN if there is none. */
static double highest_clock(const struct roof_measured *m)
{
    double highest = m->device.clock_hz;
    for (size_t i = 0; i < m->count; i++) {
        const double clock = m->row[i].clocks.sm_hz;
        highest = clock > highest || isnan(highest) ? clock : highest;
    }
    return highest;
}

/* Returns the highest rate at which a device sent in a collective; NAN if none was measured. */
static double link_of(const struct roof_measured *m)
{
    double highest = ROOF_UNKNOWN;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        struct roof_work work = {.network_bytes = ROOF_UNKNOWN};
        if (row->task.probe == ROOF_PROBE_OPERATOR) {
            roof_operator_work(&work, &row->task.workload, NULL);
        }
        highest = fmax(highest, work.network_bytes / row->time_s);
    }
    return highest;
}

/* Writes a remark on the link to the host, whose traffic no command counts. */
static void put_host_link(struct roof_text *out, const struct roof_measured *m)
{
    char to[ROOF_QUANTITY_SIZE];
    char from[ROOF_QUANTITY_SIZE];
    const double rates[] = {roof_measured_rate(m, ROOF_PROBE_TO_DEVICE, 0, ROOF_PRECISION_AUTO),
                            roof_measured_rate(m, ROOF_PROBE_FROM_DEVICE, 0, ROOF_PRECISION_AUTO)};
    if (!isnan(rates[0]) && !isnan(rates[1])) {
        roof_text_printf(out, ",\n    \"host link: %s to the device, %s from the device\"",
                         roof_format_quantity(to, rates[0], ROOF_UNIT_GB_PER_S),
                         roof_format_quantity(from, rates[1], ROOF_UNIT_GB_PER_S));
    }
}

/* Writes a remark on each level: its size and what reading it gives. */
static void put_levels(struct roof_text *out, const struct roof_measured *m)
{
    const struct roof_meter_device *const d = &m->device;
    roof_text_put(out, ",\n  \"notes\": [");
    for (size_t level = 0; level < d->level_count; level++) {
        char size[ROOF_QUANTITY_SIZE];
        char rate[ROOF_QUANTITY_SIZE];
        double read = ROOF_UNKNOWN;
        for (size_t i = 0; i < m->count; i++) {
            const struct roof_meter_row *const row = &m->row[i];
            read =
                row->task.probe == ROOF_PROBE_READ && row->task.bytes == roof_level_bytes(d, level)
                    ? row->amount / row->time_s
                    : read;
        }
        const double bytes = level_bytes(d, d->level[level].name);
        roof_format_quantity(size, isnan(bytes) ? d->memory_bytes : bytes, ROOF_UNIT_CAPACITY);
        roof_text_printf(out, "%s\n    \"%s: %s, read at %s\"", level == 0 ? "" : ",",
                         d->level[level].name, size,
                         roof_format_quantity(rate, read, ROOF_UNIT_GB_PER_S));
    }
    put_host_link(out, m);
    roof_text_put(out, "\n  ]");
}

void roof_device_write(struct roof_text *out, const struct roof_measured *m, const char *id,
                       const char *like)
{
    const struct roof_meter_device *const d = &m->device;
    const int64_t memory = d->level_count == 0 ? 0 : roof_level_bytes(d, d->level_count - 1);
    const double bandwidth = roof_measured_rate(m, ROOF_PROBE_READ, memory, ROOF_PRECISION_AUTO);
    const double link = link_of(m);
    const double clock = highest_clock(m);
    const char *const told = d->host ? "the operating system" : "the driver of the device";
    char how[64];
    char size[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "{\n  \"schema\": \"roofline/hardware/1\",\n  \"id\": ");
    roof_json_quote(out, id);
    put_word(out, "name", d->name);
    put_word(out, "vendor", d->vendor);
    put_word(out, "architecture", d->architecture);
    put_word(out, "basis", "user");
    put_word(out, "like", like == NULL ? "" : like);
    snprintf(how, sizeof how, "reading %s with %.0f thread%s",
             roof_format_quantity(size, (double)memory, ROOF_UNIT_CAPACITY), d->units,
             d->units > 1 ? "s" : "");
    roof_text_put(out, ",\n  ");
    put_measured(out, roof_figure_key(ROOF_FIGURE_BANDWIDTH)->key,
                 roof_to_unit(bandwidth, ROOF_UNIT_GB_PER_S),
                 d->host ? how : "reading device memory",
                 is_noisy(m, &(struct roof_meter_task){.probe = ROOF_PROBE_READ, .bytes = memory}));
    put_told(out, ROOF_FIGURE_MEMORY_CAPACITY, d->memory_bytes, told);
    put_told(out, ROOF_FIGURE_SM_COUNT, d->units, d->host ? "the threads that measured" : told);
    put_told(out, ROOF_FIGURE_BOOST_CLOCK, clock,
             clock > d->clock_hz || isnan(d->clock_hz) ? "the highest clock while measuring"
                                                       : told);
    put_told(out, ROOF_FIGURE_L2, level_bytes(d, "L2"), told);
    put_told(out, ROOF_FIGURE_LLC, level_bytes(d, "L3"), told);
    put_told(out, ROOF_FIGURE_TDP, d->tdp_w, told);
    if (!isnan(link)) {
        roof_text_put(out, ",\n  ");
        put_measured(out, roof_figure_key(ROOF_FIGURE_LINK)->key,
                     roof_to_unit(link, ROOF_UNIT_GB_PER_S), "the fastest collective", false);
    }
    put_told(out, ROOF_FIGURE_DEVICES_PER_NODE, d->devices > 1 ? d->devices : 1, told);
    put_peaks(out, m, ROOF_COMPUTE_MATRIX);
    put_peaks(out, m, ROOF_COMPUTE_VECTOR);
    put_power(out, &m->power);
    if (d->host && !isnan(roof_measured_peak(m, ROOF_COMPUTE_VECTOR, ROOF_PRECISION_INT8))) {
        put_word(out, "weight_only_compute", "int8");
    }
    put_levels(out, m);
    roof_text_put(out, "\n}\n");
}
