// SPDX-License-Identifier: MIT
#include "report/monitor_report.h"

#include <math.h>

#include "report/rows.h"

static void put_quantity(struct roof_text *out, double value, enum roof_unit unit)
{
    char text[ROOF_QUANTITY_SIZE];
    roof_text_put(out, roof_format_quantity(text, value, unit));
}

/* If the power of a device is known for less than this share of the whole time, a note says for how
 * long. */
#define KNOWN_LEAST 0.99

/* Tells if the power of a device is known for less than the whole time. */
static bool is_partial(const struct roof_energy_sum *one, const struct roof_energy_sum *all)
{
    return one->duration_s < KNOWN_LEAST * all->duration_s;
}

static bool has_partial(const struct roof_monitor_report *report, const struct roof_energy_sum *all)
{
    for (size_t i = 0; i < report->count; i++) {
        if (is_partial(&report->sums[i], all)) {
            return true;
        }
    }
    return false;
}

static void put_partial(struct roof_text *out, const struct roof_monitor_report *report,
                        const struct roof_energy_sum *all)
{
    char seconds[ROOF_QUANTITY_SIZE];
    for (size_t i = 0; i < report->count; i++) {
        if (is_partial(&report->sums[i], all)) {
            roof_text_printf(out, "; the power of device %d is known for %s s",
                             report->sums[i].device,
                             roof_format_short(seconds, report->sums[i].duration_s));
        }
    }
}

void roof_report_monitor_line(struct roof_text *out, const struct roof_monitor_report *report)
{
    struct roof_energy_sum all;
    char seconds[ROOF_QUANTITY_SIZE];
    roof_energy_total(&all, report->sums, report->count);
    if (all.basis == NULL) {
        roof_text_put(out, "the energy is unknown: no device reports its power");
        return;
    }
    const char *const least = has_partial(report, &all) ? "at least " : "";
    roof_text_put(out, least);
    put_quantity(out, all.energy_j, ROOF_UNIT_JOULES);
    roof_text_printf(out, " in %s s, %s", roof_format_short(seconds, all.duration_s), least);
    put_quantity(out, all.average_w, ROOF_UNIT_WATTS);
    roof_text_put(out, " on average");
    if (report->count > 1) {
        roof_text_printf(out, ", %zu devices together", report->count);
    } else {
        roof_text_put(out, ", ");
        put_quantity(out, report->sums[0].peak_w, ROOF_UNIT_WATTS);
        roof_text_put(out, " at most");
    }
    roof_text_printf(out, " (by %s)", all.basis);
    if (!isnan(report->tokens)) {
        char tokens[ROOF_NUMBER_SIZE];
        roof_format_number(tokens, report->tokens);
        roof_text_printf(out, "; %s", least);
        put_quantity(out, all.energy_j / report->tokens, ROOF_UNIT_JOULES);
        roof_text_printf(out, " per token of %s", tokens);
    }
    put_partial(out, report, &all);
}

void roof_report_monitor_text(struct roof_text *out, const struct roof_monitor_report *report)
{
    struct roof_table table;
    (void)roof_table_open(&table, ROOF_OUTPUT_TEXT, ROOF_TABLE_ENERGIES, ROOF_OPERATOR_GEMM, NULL,
                          NULL); /* only columns can make it fail */
    roof_table_begin(&table, out);
    for (size_t i = 0; i < report->count; i++) {
        roof_table_energy(&table, out, &report->sums[i]);
    }
    roof_table_end(&table, out);
    roof_report_monitor_line(out, report);
    roof_text_put(out, "\n");
}

static void put_member(struct roof_text *out, const char *key, double value)
{
    if (isfinite(value)) {
        roof_text_printf(out, ",\n\"%s\":", key);
        roof_text_number(out, value);
    }
}

void roof_report_monitor_json(struct roof_text *out, const struct roof_monitor_report *report)
{
    struct roof_table table;
    struct roof_energy_sum all;
    roof_energy_total(&all, report->sums, report->count);
    (void)roof_table_open(&table, ROOF_OUTPUT_JSON, ROOF_TABLE_ENERGIES, ROOF_OPERATOR_GEMM, NULL,
                          NULL); /* only columns can make it fail */
    roof_text_put(out, ",\n\"devices\":");
    roof_table_begin(&table, out);
    for (size_t i = 0; i < report->count; i++) {
        roof_table_energy(&table, out, &report->sums[i]);
    }
    roof_text_put(out, report->count == 0 ? "]" : "\n]");
    if (all.basis == NULL) {
        return;
    }
    put_member(out, "duration_s", all.duration_s);
    put_member(out, "average_power_w", all.average_w);
    put_member(out, "energy_j", all.energy_j);
    roof_text_printf(out, ",\n\"energy_basis\":\"%s\"", all.basis);
    put_member(out, "tokens", report->tokens);
    put_member(out, "energy_per_token_j", all.energy_j / report->tokens);
}
