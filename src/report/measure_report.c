// SPDX-License-Identifier: MIT
#include "report/measure_report.h"

#include <inttypes.h>
#include <math.h>

#include "base/base.h"
#include "base/json.h"
#include "base/quantity.h"
#include "measure/device.h"
#include "measure/fit.h"
#include "measure/rows.h"
#include "measure/timing.h"
#include "report/markdown.h"

/* --- for people ---------------------------------------------------------------------------- */

/* Returns the probe of a level; NULL if it was not measured. */
static const struct roof_meter_row *level_row(const struct roof_measured *m, enum roof_probe probe,
                                              size_t level)
{
    const int64_t bytes = roof_level_bytes(&m->device, level);
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        if (row->task.probe == probe && row->task.bytes == bytes) {
            return row;
        }
    }
    return NULL;
}

/* Names the uncertain probes of a level. */
static void put_noisy(struct roof_text *out, const struct roof_measured *m, size_t level)
{
    bool any = false;
    for (int probe = ROOF_PROBE_READ; probe <= ROOF_PROBE_TRIAD; probe++) {
        const struct roof_meter_row *const row = level_row(m, (enum roof_probe)probe, level);
        if (row != NULL && row->noisy) {
            roof_text_printf(out, "%s%s",
                             any ? ", " : "  noisy: ", roof_probe_name((enum roof_probe)probe));
            any = true;
        }
    }
}

static void put_levels(struct roof_text *out, const struct roof_measured *m)
{
    static const enum roof_probe probes[] = {ROOF_PROBE_READ, ROOF_PROBE_COPY, ROOF_PROBE_TRIAD};
    char cell[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "\n  %-8s %10s %12s %12s %12s\n", "level", "size", "read", "copy",
                     "triad");
    for (size_t i = 0; i < m->device.level_count; i++) {
        const struct roof_meter_level *const level = &m->device.level[i];
        const double bytes = level->bytes > 0 ? (double)level->bytes : m->device.memory_bytes;
        roof_text_printf(out, "  %-8s %10s", level->name,
                         roof_format_quantity(cell, bytes, ROOF_UNIT_CAPACITY));
        for (size_t p = 0; p < COUNT(probes); p++) {
            const struct roof_meter_row *const row = level_row(m, probes[p], i);
            const double rate = row == NULL ? ROOF_UNKNOWN : row->amount / row->time_s;
            roof_text_printf(out, " %12s", roof_format_quantity(cell, rate, ROOF_UNIT_GB_PER_S));
        }
        put_noisy(out, m, i);
        roof_text_put(out, "\n");
    }
}

/* Returns the direction of a copy between host and device; NULL: the task does not copy. */
static const char *direction_of(const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_TO_DEVICE     ? "to the device"
           : task->probe == ROOF_PROBE_FROM_DEVICE ? "from the device"
                                                   : NULL;
}

/* Writes the link to the host, the peaks and the launch, in the order of measurement. */
static void put_figures(struct roof_text *out, const struct roof_measured *m)
{
    char cell[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "\n");
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        const char *const direction = direction_of(&row->task);
        if (direction != NULL) {
            roof_text_printf(
                out, "  host     %-10s %s%s\n",
                roof_format_quantity(cell, row->amount / row->time_s, ROOF_UNIT_GB_PER_S),
                direction, row->noisy ? ", noisy" : "");
        }
        if (row->task.probe == ROOF_PROBE_MULTIPLY) {
            roof_text_printf(
                out, "  peak     %-10s %-12s %s unit%s\n", roof_precision_name(row->task.format),
                roof_format_quantity(cell, roof_measured_peak(m, row->task.unit, row->task.format),
                                     ROOF_UNIT_TFLOPS),
                roof_compute_unit_name(row->task.unit), row->noisy ? ", noisy" : "");
        }
        if (row->task.probe == ROOF_PROBE_LAUNCH) {
            roof_text_printf(out, "  launch   %s%s\n",
                             roof_format_quantity(cell, row->time_s, ROOF_UNIT_MICROSECONDS),
                             row->noisy ? ", noisy" : "");
        }
    }
}

static void put_energy(struct roof_text *out, const char *what, double joules, const char *each)
{
    char cell[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  energy   %-10s %-12s %s\n", what,
                     roof_format_quantity(cell, joules, ROOF_UNIT_PICOJOULES), each);
}

/* Says why energies are left out although kernels ran for them. */
static void put_unfitted(struct roof_text *out, const struct roof_power_term *power)
{
    if (power->rows > 0 && isnan(power->error)) {
        roof_text_put(
            out, "  power    energies per byte and FLOP are left out: no positive values fit\n");
    } else if (power->rows > 0) {
        roof_text_printf(
            out,
            "  power    energies per byte and FLOP are left out: their fit is off by %.0f%% on "
            "average\n",
            100 * power->error);
    }
}

/* Writes the power of the device and the energy of work, as far as known. */
static void put_power(struct roof_text *out, const struct roof_power_term *power)
{
    char cell[ROOF_QUANTITY_SIZE];
    if (!isnan(power->idle_w)) {
        roof_text_printf(out, "  power    %-10s %s\n", "idle",
                         roof_format_quantity(cell, power->idle_w, ROOF_UNIT_WATTS));
    }
    if (isnan(power->constant_w)) {
        put_unfitted(out, power);
        return;
    }
    roof_text_printf(out, "  power    %-10s %-12s at any load\n", "constant",
                     roof_format_quantity(cell, power->constant_w, ROOF_UNIT_WATTS));
    put_energy(out, "memory", power->byte_j, "per byte");
    for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
        if (!isnan(power->flop_j[format])) {
            put_energy(out, roof_precision_name((enum roof_precision)format), power->flop_j[format],
                       "per FLOP");
        }
    }
}

/* Tells if few rows decided which constants of a fit move. */
static bool is_chosen(const struct roof_kernel_fit *fit)
{
    return fit->error_before > 0;
}

/* Writes the names of the constants that moved. */
static void put_names(struct roof_text *out, const struct roof_kernel_fit *fit)
{
    roof_fit_put_moved(out, fit, "");
    roof_text_put(out, fit->moved == 0 ? "none" : "");
}

static void put_fits(struct roof_text *out, const struct roof_fits *fits)
{
    char cell[2][ROOF_QUANTITY_SIZE];
    bool any = false;
    for (size_t i = 0; fits != NULL && i < fits->count; i++) {
        const struct roof_kernel_fit *const fit = &fits->fit[i];
        if (!is_chosen(fit)) {
            continue;
        }
        if (!any) {
            roof_text_printf(out, "\n  %-14s %-8s %-8s %9s %9s  %s\n", "fit", "formats", "weights",
                             "before", "after", "moved constants");
        }
        any = true;
        roof_text_printf(out, "  %-14s %-8s %-8s %9s %9s  ", roof_kernel_name(fit->kernel),
                         roof_numerics_name(fit->numerics),
                         fit->one_format ? roof_precision_name(fit->weights) : "",
                         roof_format_quantity(cell[0], fit->error_before, ROOF_UNIT_FRACTION),
                         roof_format_quantity(cell[1], fit->error_after, ROOF_UNIT_FRACTION));
        put_names(out, fit);
        roof_text_put(out, "\n");
    }
    roof_text_put(out,
                  any ? "\n  before, after: mean |ln(expected / measured)| of rows that a fit "
                        "did not see, with all\n  constants at their start, and with these moved "
                        "(docs/measuring.md, Constants of a fit)\n"
                      : "");
}

/* Tells whether a kernel was faster than its bound by more than the noise of reliable rows. */
static bool beyond_bound(const struct roof_judged *kernel)
{
    return kernel->of_bound > 1 + ROOF_NOISE_MAX;
}

static void put_kernels(struct roof_text *out, const struct roof_measure_report *report)
{
    const struct roof_judgement *const j = report->judgement;
    bool beyond = false;
    bool few = false;
    char cell[2][ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "\n  %-14s %-8s %5s %6s %10s %10s\n", "kernel", "formats", "rows",
                     "noisy", "of bound", "error");
    for (size_t i = 0; i < j->count; i++) {
        const struct roof_judged *const k = &j->kernel[i];
        roof_text_printf(out, "  %-14s %-8s %5" PRId64 " %6" PRId64 " %10s %10s%s\n",
                         roof_kernel_name(k->kernel), roof_numerics_name(k->numerics), k->rows,
                         k->noisy, roof_format_quantity(cell[0], k->of_bound, ROOF_UNIT_FRACTION),
                         roof_format_quantity(cell[1], k->error, ROOF_UNIT_FRACTION),
                         report->compared && !(k->error <= ROOF_AGREES) ? "  beyond 15%" : "");
        beyond = beyond || beyond_bound(k);
        few = few || k->rows < ROOF_FIT_ROWS_MIN;
    }
    roof_text_printf(out, "  %-14s %-8s %5s %6s %10s %10s\n", "all", "", "", "", "",
                     roof_format_quantity(cell[0], j->error, ROOF_UNIT_FRACTION));
    roof_text_printf(out,
                     "\n  of bound: median of the lower bound over the measured time; error: mean "
                     "of\n  |expected / measured - 1| of %s\n",
                     report->against == NULL ? "the device that was written" : report->against);
    if (beyond) {
        roof_text_put(out, "  Above 100%, a rate behind the bounds was measured too low: other "
                           "programs used the\n  memory or the processors, or its probe does not "
                           "reach what the device can do.\n");
    }
    if (few && report->against == NULL && report->measured->count < report->measured->planned) {
        roof_text_printf(out,
                         "  A kernel with fewer than %d rows of one weight format is not fitted:\n"
                         "  its expected times can be far off. A longer run (--seconds) has more "
                         "rows.\n",
                         ROOF_FIT_ROWS_MIN);
    }
    if (report->compared) {
        roof_text_put(out, roof_agrees(j) ? "  Predictions and measurements agree within 15%.\n"
                                          : "  Predictions and measurements differ by more than "
                                            "15%.\n");
    }
}

/* Says what is left out, and why; nothing without a reason. */
static void put_left_out(struct roof_text *out, const char *what, const char *why)
{
    if (*why != '\0') {
        roof_text_printf(out, "  %s left out: ", what);
        roof_text_plain(out, why);
        roof_text_put(out, "\n");
    }
}

void roof_report_measured_text(struct roof_text *out, const struct roof_measure_report *report)
{
    const struct roof_measured *const m = report->measured;
    char took[ROOF_QUANTITY_SIZE];
    roof_text_plain(out, m->device.name);
    roof_text_printf(out, ": %s%s%s\n", m->device.architecture,
                     *m->device.software == '\0' ? "" : ", ", m->device.software);
    roof_text_printf(out, "  %zu of %zu measurements in %s s\n", m->count, m->planned,
                     roof_format_short(took, round(10 * m->took_s) / 10));
    put_left_out(out, "products are", m->device.lacks);
    put_left_out(out, "attention of a prefill is", m->device.no_prefill);
    put_left_out(out, "matrix units (AMX) are", m->device.no_amx);
    put_left_out(out, "collectives are", m->device.alone);
    put_left_out(out, "clock, power and temperature are", m->device.no_sensors);
    put_levels(out, m);
    put_figures(out, m);
    put_power(out, &m->power);
    if (report->judgement != NULL) {
        put_kernels(out, report);
        put_fits(out, report->fits);
    }
}

/* --- for documents ------------------------------------------------------------------------- */

/* Ends the cell of a figure that may be noisy. */
static void end_figure(struct roof_markdown_table *g, bool noisy)
{
    roof_text_put(&g->text, noisy ? " (noisy)" : "");
    roof_markdown_end_cell(g);
}

static void put_levels_markdown(struct roof_text *out, const struct roof_measured *m)
{
    static const enum roof_probe probes[] = {ROOF_PROBE_READ, ROOF_PROBE_COPY, ROOF_PROBE_TRIAD};
    struct roof_markdown_table g;
    ROOF_GRID_BEGIN(&g, "level", ">size", ">read", ">copy", ">triad");
    for (size_t i = 0; i < m->device.level_count; i++) {
        const struct roof_meter_level *const level = &m->device.level[i];
        roof_markdown_cell(&g, level->name);
        roof_markdown_quantity(&g, level->bytes > 0 ? (double)level->bytes : m->device.memory_bytes,
                               ROOF_UNIT_CAPACITY);
        for (size_t p = 0; p < COUNT(probes); p++) {
            const struct roof_meter_row *const row = level_row(m, probes[p], i);
            roof_markdown_put_quantity(&g.text,
                                       row == NULL ? ROOF_UNKNOWN : row->amount / row->time_s,
                                       ROOF_UNIT_GB_PER_S);
            end_figure(&g, row != NULL && row->noisy);
        }
    }
    roof_markdown_put(out, &g);
}

static void put_figures_markdown(struct roof_text *out, const struct roof_measured *m)
{
    struct roof_markdown_table g;
    ROOF_GRID_BEGIN(&g, "figure", "format", ">value");
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        const bool peak = row->task.probe == ROOF_PROBE_MULTIPLY;
        const char *const direction = direction_of(&row->task);
        if (!peak && direction == NULL && row->task.probe != ROOF_PROBE_LAUNCH) {
            continue;
        }
        if (direction != NULL) {
            roof_text_printf(&g.text, "host, %s", direction);
            roof_markdown_end_cell(&g);
        } else if (peak) {
            roof_text_printf(&g.text, "peak, %s unit", roof_compute_unit_name(row->task.unit));
            roof_markdown_end_cell(&g);
        } else {
            roof_markdown_cell(&g, "launch");
        }
        roof_markdown_cell(&g, peak ? roof_precision_name(row->task.format) : "");
        roof_markdown_put_quantity(&g.text,
                                   peak ? roof_measured_peak(m, row->task.unit, row->task.format)
                                   : row->amount > 0 ? row->amount / row->time_s
                                                     : row->time_s,
                                   peak                ? ROOF_UNIT_TFLOPS
                                   : direction != NULL ? ROOF_UNIT_GB_PER_S
                                                       : ROOF_UNIT_MICROSECONDS);
        end_figure(&g, row->noisy);
    }
    roof_markdown_put(out, &g);
}

static void put_power_markdown(struct roof_text *out, const struct roof_power_term *power)
{
    struct roof_markdown_table g;
    if (isnan(power->idle_w)) {
        return;
    }
    ROOF_GRID_BEGIN(&g, "power and energy", "format", ">value");
    roof_markdown_cell(&g, "idle");
    roof_markdown_cell(&g, "");
    roof_markdown_quantity(&g, power->idle_w, ROOF_UNIT_WATTS);
    if (!isnan(power->constant_w)) {
        roof_markdown_cell(&g, "constant");
        roof_markdown_cell(&g, "");
        roof_markdown_quantity(&g, power->constant_w, ROOF_UNIT_WATTS);
        roof_markdown_cell(&g, "per byte of memory");
        roof_markdown_cell(&g, "");
        roof_markdown_quantity(&g, power->byte_j, ROOF_UNIT_PICOJOULES);
    }
    for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
        if (!isnan(power->constant_w) && !isnan(power->flop_j[format])) {
            roof_markdown_cell(&g, "per FLOP");
            roof_markdown_cell(&g, roof_precision_name((enum roof_precision)format));
            roof_markdown_quantity(&g, power->flop_j[format], ROOF_UNIT_PICOJOULES);
        }
    }
    roof_text_put(out, "\n");
    roof_markdown_put(out, &g);
}

static void put_kernels_markdown(struct roof_text *out, const struct roof_measure_report *report)
{
    const struct roof_judgement *const j = report->judgement;
    struct roof_markdown_table g;
    struct roof_text against = ROOF_TEXT_INIT;
    roof_text_plain(&against,
                    report->against == NULL ? "the device that was written" : report->against);
    roof_text_put(out,
                  "\n## Kernels\n\nOf bound: median of the lower bound over the measured time. "
                  "Error: mean of \\|expected / measured - 1\\| of ");
    roof_markdown_put_made(out, &against);
    roof_text_put(out, ".\n\n");
    ROOF_GRID_BEGIN(&g, "kernel", "formats", ">rows", ">noisy", ">of bound", ">error");
    for (size_t i = 0; i < j->count; i++) {
        const struct roof_judged *const k = &j->kernel[i];
        roof_markdown_cell(&g, roof_kernel_name(k->kernel));
        roof_markdown_cell(&g, roof_numerics_name(k->numerics));
        roof_markdown_integer(&g, k->rows);
        roof_markdown_integer(&g, k->noisy);
        roof_markdown_share(&g, k->of_bound);
        roof_markdown_share(&g, k->error);
    }
    roof_markdown_cell(&g, "all");
    for (int blank = 0; blank < 4; blank++) {
        roof_markdown_cell(&g, "");
    }
    roof_markdown_share(&g, j->error);
    roof_markdown_put(out, &g);
    if (report->compared) {
        roof_text_printf(out, "\nPredictions and measurements %s 15%%.\n",
                         roof_agrees(j) ? "agree within" : "differ by more than");
    }
}

static void put_fits_markdown(struct roof_text *out, const struct roof_fits *fits)
{
    struct roof_markdown_table g;
    size_t chosen = 0;
    for (size_t i = 0; fits != NULL && i < fits->count; i++) {
        chosen += is_chosen(&fits->fit[i]) ? 1 : 0;
    }
    if (chosen == 0) {
        return;
    }
    roof_text_put(out,
                  "\n## Fits\n\nBefore, after: mean \\|ln(expected / measured)\\| of rows that "
                  "a fit did not see, with all constants at their start, and with these moved "
                  "(docs/measuring.md, Constants of a fit).\n\n");
    ROOF_GRID_BEGIN(&g, "kernel", "formats", "weights", ">before", ">after", "moved constants");
    for (size_t i = 0; i < fits->count; i++) {
        const struct roof_kernel_fit *const fit = &fits->fit[i];
        if (is_chosen(fit)) {
            roof_markdown_cell(&g, roof_kernel_name(fit->kernel));
            roof_markdown_cell(&g, roof_numerics_name(fit->numerics));
            roof_markdown_cell(&g, fit->one_format ? roof_precision_name(fit->weights) : "");
            roof_markdown_share(&g, fit->error_before);
            roof_markdown_share(&g, fit->error_after);
            put_names(&g.text, fit);
            roof_markdown_end_cell(&g);
        }
    }
    roof_markdown_put(out, &g);
}

void roof_report_measured_markdown(struct roof_text *out, const struct roof_measure_report *report)
{
    const struct roof_measured *const m = report->measured;
    struct roof_text name = ROOF_TEXT_INIT;
    char took[ROOF_QUANTITY_SIZE];
    roof_text_plain(&name, m->device.name);
    roof_text_put(out, "# ");
    roof_markdown_put_made(out, &name);
    roof_text_plain(&name, m->device.architecture);
    roof_text_put(&name, *m->device.software == '\0' ? "" : ", ");
    roof_text_plain(&name, m->device.software);
    roof_text_put(out, "\n\n");
    roof_markdown_put_made(out, &name);
    roof_text_printf(out, ": %zu of %zu measurements in %s s, by `roofline measure`.\n\n", m->count,
                     m->planned, roof_format_short(took, round(10 * m->took_s) / 10));
    put_levels_markdown(out, m);
    roof_text_put(out, "\n");
    put_figures_markdown(out, m);
    put_power_markdown(out, &m->power);
    if (report->judgement != NULL) {
        put_kernels_markdown(out, report);
        put_fits_markdown(out, report->fits);
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

static void put_judgement(struct roof_text *out, const struct roof_measure_report *report)
{
    const struct roof_judgement *const j = report->judgement;
    roof_text_put(out, ",\n  \"kernels\": [");
    for (size_t i = 0; i < j->count; i++) {
        const struct roof_judged *const k = &j->kernel[i];
        roof_text_printf(out, "%s\n    {\"kernel\": \"%s\", \"numerics\": \"%s\"",
                         i == 0 ? "" : ",", roof_kernel_name(k->kernel),
                         roof_numerics_name(k->numerics));
        put_member(out, "rows", (double)k->rows);
        put_member(out, "noisy", (double)k->noisy);
        put_member(out, "of_bound", k->of_bound);
        put_member(out, "expected_mape", k->error);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n  ]");
    if (!isnan(j->error)) {
        roof_text_put(out, ",\n  \"expected_mape\": ");
        roof_text_number(out, j->error);
    }
    roof_text_printf(out, ",\n  \"agrees\": %s", roof_agrees(j) ? "true" : "false");
}

/* Writes the power term as an object; nothing if it is unknown. */
static void put_power_term(struct roof_text *out, const struct roof_power_term *power)
{
    bool any = false;
    if (isnan(power->constant_w)) {
        return;
    }
    roof_text_put(out, ",\n  \"power\": {\"constant_w\": ");
    roof_text_number(out, power->constant_w);
    put_member(out, "idle_w", power->idle_w);
    put_member(out, "byte_pj", roof_to_unit(power->byte_j, ROOF_UNIT_PICOJOULES));
    put_member(out, "fit_error", power->error);
    roof_text_put(out, ", \"flop_pj\": {");
    for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
        if (!isnan(power->flop_j[format])) {
            roof_text_printf(out, "%s\"%s\": ", any ? ", " : "",
                             roof_precision_name((enum roof_precision)format));
            roof_text_number(out, roof_to_unit(power->flop_j[format], ROOF_UNIT_PICOJOULES));
            any = true;
        }
    }
    roof_text_put(out, "}}");
}

void roof_report_measured_json(struct roof_text *out, const struct roof_measure_report *report)
{
    const struct roof_measured *const m = report->measured;
    roof_text_put(out, "{\n  \"schema\": \"roofline/measured/1\",\n  \"name\": ");
    roof_json_quote(out, m->device.name);
    roof_text_printf(out, ",\n  \"measured\": %zu,\n  \"planned\": %zu,\n  \"probes\": [", m->count,
                     m->planned);
    bool any = false;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        if (row->task.probe == ROOF_PROBE_OPERATOR) {
            continue;
        }
        roof_text_printf(out, "%s\n    {\"probe\": \"%s\"", any ? "," : "",
                         roof_probe_name(row->task.probe));
        any = true;
        if (row->task.probe == ROOF_PROBE_MULTIPLY) {
            roof_text_printf(out, ", \"format\": \"%s\", \"unit\": \"%s\"",
                             roof_precision_name(row->task.format),
                             roof_compute_unit_name(row->task.unit));
            put_member(out, "tflops", roof_to_unit(row->amount / row->time_s, ROOF_UNIT_TFLOPS));
        } else if (row->task.bytes > 0) {
            put_member(out, "bytes", (double)row->task.bytes);
            put_member(out, "gb_s", roof_to_unit(row->amount / row->time_s, ROOF_UNIT_GB_PER_S));
        }
        put_member(out, "measured_us", roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS));
        put_member(out, "noise", row->noise);
        roof_text_printf(out, ", \"noisy\": %s}", row->noisy ? "true" : "false");
    }
    roof_text_put(out, "\n  ]");
    put_power_term(out, &m->power);
    if (report->judgement != NULL) {
        put_judgement(out, report);
    }
    roof_text_put(out, "\n}\n");
}
