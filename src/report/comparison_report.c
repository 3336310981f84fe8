// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/list.h"
#include "report/advice_report.h"
#include "report/fit_report.h"
#include "report/model_report.h"
#include "report/scenario_report.h"

/* The keys that follow the columns of the file. The first one only occurs if there are several
 * metrics. */
struct keys {
    const char *const *key;
    size_t count;
};
static const char *const compared_names[] = {"metric", "time_us", "expected_time_us", "ratio",
                                             "error"};
static const struct keys compared_keys = {compared_names, COUNT(compared_names)};
#define COMPARED_VALUES 4 /* number of keys with numbers */
static const char *const lost_names[] = {
    "metric",  "time_us",       "expected_time_us", "fraction_of_bound",
    "lost_us", "lever_speedup", "regime",           "lever"};
static const struct keys lost_keys = {lost_names, COUNT(lost_names)};

/* Tells whether a column of the file has the name of one of the following keys, whose value
 * replaces it. */
static bool is_replaced(const char *column, const struct keys *keys, bool metrics)
{
    size_t i = metrics ? 0 : 1;
    while (i < keys->count && strcmp(column, keys->key[i]) != 0) {
        i++;
    }
    return i < keys->count;
}

static void put_header(struct roof_text *out, const char *const *column, size_t columns,
                       const struct keys *keys, bool metrics)
{
    const char *comma = "";
    for (size_t i = 0; i < columns; i++) {
        if (!is_replaced(column[i], keys, metrics)) {
            roof_text_put(out, comma);
            roof_csv_cell(out, column[i]);
            comma = ",";
        }
    }
    for (size_t i = metrics ? 0 : 1; i < keys->count; i++) {
        roof_text_put(out, comma);
        roof_text_put(out, keys->key[i]);
        comma = ",";
    }
    roof_text_put(out, "\n");
}

void roof_report_compared_header(struct roof_text *out, const char *const *column, size_t columns,
                                 bool metrics, bool lost)
{
    put_header(out, column, columns, lost ? &lost_keys : &compared_keys, metrics);
}

/* Writes the names of the file's columns; false if there are none. */
static bool put_columns(struct roof_text *out, bool csv, const struct keys *keys,
                        const struct roof_compared *row)
{
    bool begun = false;
    for (size_t i = 0; i < row->cells; i++) {
        if ((!csv && *row->cell[i] == '\0') || is_replaced(row->column[i], keys, row->metrics)) {
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
    return begun;
}

/* Writes the cells of the file's columns and the values that follow them. */
static void put_values(struct roof_text *out, bool csv, const struct keys *keys,
                       const struct roof_compared *row, const double *values, size_t count)
{
    bool begun = put_columns(out, csv, keys, row);
    if (row->metrics) {
        roof_text_put(out, begun ? "," : "");
        roof_text_printf(out, csv ? "%s" : "\"metric\":\"%s\"", row->metric);
        begun = true;
    }
    for (size_t i = 0; i < count; i++) {
        if (csv) {
            roof_text_put(out, begun ? "," : "");
            roof_text_number(out, values[i]);
            begun = true;
        } else if (!isnan(values[i])) {
            roof_text_printf(out, "%s\"%s\":", begun ? "," : "", keys->key[i + 1]);
            roof_text_number(out, values[i]);
            begun = true;
        }
    }
}

/* Computes the numbers that follow the metric in compared_names. */
static void find_values(double out[COMPARED_VALUES], const struct roof_compared *row)
{
    const double best = isnan(row->expected_s) ? row->time_s : row->expected_s;
    out[0] = roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS);
    out[1] = roof_to_unit(row->expected_s, ROOF_UNIT_MICROSECONDS);
    out[2] = best / row->measured_s;
    out[3] = best / row->measured_s - 1;
}

void roof_report_compared(struct roof_text *out, bool csv, const struct roof_compared *row)
{
    double values[COMPARED_VALUES];
    find_values(values, row);
    roof_text_put(out, csv ? "" : "{");
    put_values(out, csv, &compared_keys, row, values, COUNT(values));
    roof_text_put(out, csv ? "\n" : "}\n");
}

/* --- chosen columns ------------------------------------------------------------------------ */

static bool is_item(const char *name, const struct roof_list_item *item)
{
    return strlen(name) == item->length && memcmp(name, item->text, item->length) == 0;
}

/* Finds the index of a key; the number of keys if it is unknown, or if it is the metric without
 * several metrics. */
static size_t find_key(const struct roof_list_item *item, bool metrics)
{
    size_t i = metrics ? 0 : 1;
    while (i < compared_keys.count && !is_item(compared_keys.key[i], item)) {
        i++;
    }
    return i;
}

static enum roof_status unknown_column(const struct roof_list_item *item, const char *const *column,
                                       size_t columns, bool metrics, struct roof_error *error)
{
    const char *known[ROOF_RECORD_COLUMNS_MAX + COUNT(compared_names)];
    char name[64];
    size_t count = 0;
    for (size_t i = 0; i < columns && i < ROOF_RECORD_COLUMNS_MAX; i++) {
        known[count++] = column[i];
    }
    for (size_t i = metrics ? 0 : 1; i < compared_keys.count; i++) {
        known[count++] = compared_keys.key[i];
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)item->length,
                   item->text); /* truncated if long */
    return roof_unknown_name(error, ROOF_USAGE, "column", name, known, count);
}

enum roof_status roof_report_chosen_header(struct roof_text *out, bool csv, const char *chosen,
                                           const char *const *column, size_t columns, bool metrics,
                                           struct roof_error *error)
{
    struct roof_list_item item;
    const char *comma = "";
    for (const char *rest = chosen; roof_list_next(&item, &rest); comma = ",") {
        size_t i = 0;
        while (i < columns && !is_item(column[i], &item)) {
            i++;
        }
        if (i == columns && find_key(&item, metrics) == compared_keys.count) {
            return unknown_column(&item, column, columns, metrics, error);
        }
        if (csv) {
            roof_text_put(out, comma);
            roof_csv_cell(out,
                          i < columns ? column[i] : compared_keys.key[find_key(&item, metrics)]);
        }
    }
    roof_text_put(out, csv ? "\n" : "");
    return ROOF_OK;
}

/* Returns the value of a numeric key; NAN: unknown. */
static double key_value(size_t key, const struct roof_compared *row)
{
    double values[COMPARED_VALUES];
    find_values(values, row);
    return values[key - 1];
}

/* Tells whether a row of JSON omits a column: its value is unknown, or its cell empty. */
static bool lacks(const struct roof_compared *row, size_t key, size_t cell)
{
    return key < compared_keys.count ? key > 0 && isnan(key_value(key, row))
                                     : *row->cell[cell] == '\0';
}

void roof_report_chosen(struct roof_text *out, bool csv, const char *chosen,
                        const struct roof_compared *row)
{
    struct roof_list_item item;
    const char *comma = "";
    roof_text_put(out, csv ? "" : "{");
    for (const char *rest = chosen; roof_list_next(&item, &rest);) {
        const size_t key = find_key(&item, row->metrics);
        const bool own = key < compared_keys.count;
        size_t i = 0;
        while (i < row->cells && !is_item(row->column[i], &item)) {
            i++;
        }
        if (!csv && lacks(row, key, i)) {
            continue;
        }
        roof_text_put(out, comma);
        comma = ",";
        if (!csv) {
            roof_json_quote(out, own ? compared_keys.key[key] : row->column[i]);
            roof_text_put(out, ":");
        }
        if (own && key == 0) {
            roof_text_printf(out, csv ? "%s" : "\"%s\"", row->metric);
        } else if (own) {
            roof_text_number(out, key_value(key, row));
        } else if (csv) {
            roof_csv_cell(out, row->cell[i]);
        } else {
            roof_json_cell(out, row->cell[i]);
        }
    }
    roof_text_put(out, csv ? "\n" : "}\n");
}

/* --- lost time ----------------------------------------------------------------------------- */

/* Names a change that would recover the lost time. */
static void put_cure(struct roof_text *out, const struct roof_loss *loss)
{
    switch (loss->cure) {
    case ROOF_CURE_BOUND:
        roof_text_put(out, "a kernel at its bound");
        break;
    case ROOF_CURE_EXPECTED:
        roof_text_put(out, "kernels as fast as expected");
        break;
    case ROOF_CURE_LEVER:
        roof_report_lever(out, &loss->lever);
        break;
    case ROOF_CURE_NODE:
        roof_text_printf(out, "%s at its bound", loss->node);
        break;
    }
}

/* Writes the formats of a model in a row, whether nothing but its config gives them, and the stack.
 */
static void put_formats(struct roof_text *out, const struct roof_compared *row)
{
    const struct roof_model *const model = row->model_prediction->model;
    const struct roof_formats *const asked = &row->asked->common.formats;
    const struct roof_formats *const f = &row->model_prediction->scenario.common.formats;
    const enum roof_stack stack = (enum roof_stack)row->asked->common.stack;
    const bool assumed = model->layout == NULL && asked->precision == ROOF_PRECISION_AUTO &&
                         asked->weights == ROOF_PRECISION_AUTO &&
                         asked->activations == ROOF_PRECISION_AUTO;
    roof_text_put(out, ", ");
    if (model->layout == NULL && f->weights == f->activations && f->weights == f->kv) {
        roof_text_put(out, roof_format(f->weights)->name);
    } else {
        roof_model_report_weights(out, model, f);
        roof_text_printf(out, ", activations %s, kv %s", roof_format(f->activations)->name,
                         roof_format(f->kv)->name);
    }
    roof_text_put(out, assumed ? " (assumed)" : "");
    if (stack != ROOF_STACK_BEST) {
        roof_text_printf(out, ", %s", roof_stack_name(stack));
    }
}

/* Writes the subject of a row. */
static void put_subject(struct roof_text *out, const struct roof_compared *row)
{
    const struct roof_prediction *const p = row->prediction;
    if (row->model_prediction != NULL) {
        roof_text_plain(out, row->model_prediction->model->id);
        roof_text_put(out, ", ");
        roof_report_scenario(out, row->model_prediction);
        put_formats(out, row);
    } else {
        roof_report_workload(out, &p->workload);
        roof_text_put(out, ", ");
        roof_report_formats(out, p);
    }
    roof_text_printf(out, ", on %s (line %d)", p->hardware->id, row->line);
}

/* Returns the unit of the times in a row, which is milliseconds for models. */
static enum roof_unit unit_of(const struct roof_compared *row)
{
    return row->model_prediction == NULL ? ROOF_UNIT_MICROSECONDS : ROOF_UNIT_MILLISECONDS;
}

static void text_lost(struct roof_text *out, const struct roof_compared *row,
                      const struct roof_loss *loss)
{
    const double times[] = {loss->lost_s, row->measured_s, row->time_s};
    struct roof_text cure = ROOF_TEXT_INIT;
    char value[ROOF_QUANTITY_SIZE];
    for (size_t i = 0; i < COUNT(times); i++) {
        roof_text_printf(out, "  %10s", roof_format_in(value, times[i], unit_of(row)));
    }
    put_cure(&cure, loss);
    roof_text_printf(out, "  %8s  %-8s  %-28s",
                     roof_format_quantity(value, loss->share, ROOF_UNIT_FRACTION),
                     roof_bottleneck_name(loss->regime), cure.length == 0 ? "" : cure.data);
    roof_text_printf(out, "  %5sx\n", roof_format_short(value, loss->gain));
    out->failed |= cure.failed;
    roof_text_free(&cure);
    const size_t from = out->length;
    roof_text_fill(out, ' ', 14);
    put_subject(out, row);
    roof_text_put(out, "\n");
    roof_text_fold(out, from, 16);
}

/* Formats a compared value. Rates are stored as the time per token. */
static const char *value_text(char out[ROOF_QUANTITY_SIZE], const struct roof_compared *row,
                              double s)
{
    char rate[ROOF_QUANTITY_SIZE];
    if (row->which != ROOF_METRIC_RATE) {
        return roof_format_in(out, s, unit_of(row));
    }
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%s/s", roof_format_short(rate, 1 / s));
    return out;
}

/* The numbers of a compared value for people: measured, expected, bound and error. */
#define COMPARED_NUMBERS 4

static void format_compared(char out[COMPARED_NUMBERS][ROOF_QUANTITY_SIZE],
                            const struct roof_compared *row)
{
    double values[COMPARED_VALUES];
    find_values(values, row);
    value_text(out[0], row, row->measured_s);
    value_text(out[1], row, row->expected_s);
    value_text(out[2], row, row->time_s);
    roof_format_quantity(out[3], values[3], ROOF_UNIT_FRACTION);
}

/* Writes what a compared value is about. */
static void put_compared(struct roof_text *out, const struct roof_compared *row)
{
    if (row->metrics) {
        roof_text_printf(out, "%s: ", row->metric);
    }
    put_subject(out, row);
    roof_text_put(out, row->measured_s < row->time_s ? "; faster than its bound" : "");
}

void roof_report_compared_line(struct roof_text *out, const struct roof_compared *row)
{
    const size_t from = out->length;
    char number[COMPARED_NUMBERS][ROOF_QUANTITY_SIZE];
    format_compared(number, row);
    for (size_t i = 0; i < COMPARED_NUMBERS; i++) {
        roof_text_printf(out, "  %*s", i == 3 ? 7 : 10, number[i]);
    }
    roof_text_put(out, "  ");
    put_compared(out, row);
    roof_text_put(out, "\n");
    roof_text_fold(out, from, 47);
}

void roof_report_compared_cells(struct roof_markdown_table *out, const struct roof_compared *row)
{
    struct roof_text subject = ROOF_TEXT_INIT;
    char number[COMPARED_NUMBERS][ROOF_QUANTITY_SIZE];
    format_compared(number, row);
    for (size_t i = 0; i < COMPARED_NUMBERS; i++) {
        roof_markdown_cell(out, number[i]);
    }
    put_compared(&subject, row);
    roof_markdown_put_made(&out->text, &subject);
    roof_markdown_end_cell(out);
}

void roof_report_compared_heading(struct roof_text *out)
{
    roof_text_printf(out, "  %10s  %10s  %10s  %7s  %s\n", "measured", "expected", "bound", "error",
                     "row");
}

void roof_report_lost(struct roof_text *out, enum roof_output output,
                      const struct roof_compared *row, const struct roof_loss *loss)
{
    const bool csv = output == ROOF_OUTPUT_CSV;
    const double values[] = {roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS),
                             roof_to_unit(row->expected_s, ROOF_UNIT_MICROSECONDS), loss->share,
                             roof_to_unit(loss->lost_s, ROOF_UNIT_MICROSECONDS), loss->gain};
    if (output == ROOF_OUTPUT_TEXT) {
        text_lost(out, row, loss);
        return;
    }
    roof_text_put(out, csv ? "" : "{");
    put_values(out, csv, &lost_keys, row, values, COUNT(values));
    roof_text_printf(out, csv ? ",%s," : ",\"regime\":\"%s\",\"lever\":\"",
                     roof_bottleneck_name(loss->regime));
    roof_text_put(out, csv ? "\"" : "");
    put_cure(out, loss);
    roof_text_put(out, csv ? "\"\n" : "\"}\n");
}

void roof_report_lost_heading(struct roof_text *out)
{
    roof_text_printf(out, "  %10s  %10s  %10s  %8s  %-8s  %-28s  %6s\n", "lost", "measured",
                     "bound", "of bound", "regime", "lever", "gain");
}

void roof_report_losses(struct roof_text *out, bool json, double below, size_t rows, size_t count,
                        double lost_s)
{
    char share[ROOF_QUANTITY_SIZE];
    char lost[ROOF_QUANTITY_SIZE];
    if (json) {
        roof_text_put(out, "{\"schema\":\"roofline/losses/1\",\"below\":");
        roof_text_number(out, below);
        roof_text_printf(out, ",\"compared\":%zu,\"rows\":[", rows);
        return;
    }
    roof_format_quantity(share, below, ROOF_UNIT_FRACTION);
    roof_format_quantity(lost, lost_s, ROOF_UNIT_MICROSECONDS);
    if (count == 0) {
        roof_text_printf(out, "all %zu rows reach %s of their bound\n", rows, share);
    } else {
        roof_text_printf(out, "\n%zu of %zu rows reach less than %s of their bound, and lose %s\n",
                         count, rows, share, lost);
    }
}

/* No cache makes a kernel faster than its bound by this factor. */
#define FASTER_MAX 10

void roof_report_too_fast(struct roof_text *out, const struct roof_comparison *comparison)
{
    char times[ROOF_QUANTITY_SIZE];
    char bound[ROOF_QUANTITY_SIZE];
    if (comparison->fastest > FASTER_MAX) {
        roof_text_printf(
            out, "\nLine %d is %s times faster than its lower bound (%s): check its unit.\n",
            comparison->fastest_line, roof_format_short(times, comparison->fastest),
            roof_format_quantity(bound, comparison->fastest_bound, ROOF_UNIT_MILLISECONDS));
    }
}

/* --- statistics ---------------------------------------------------------------------------- */

#define G(member) offsetof(struct roof_compare_group, member)
static const struct {
    const char *key;
    size_t offset;
    bool count;
    const char *label;
} statistics[] = {
    {"rows", G(rows), true, "rows"},
    {"skipped", G(skipped), true, "skipped"},
    {"ideal_mape", G(ideal_mape), false, "bound MAPE"},
    {"expected_mape", G(expected_mape), false, "MAPE"},
    {"expected_median_ape", G(expected_median_ape), false, "median"},
    {"expected_p90_ape", G(expected_p90_ape), false, "p90"},
    {"expected_bias", G(expected_bias), false, "bias"},
    {"band_coverage", G(band_coverage), false, "in band"},
    {"below_ideal", G(below_ideal), false, "below"},
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

const char *roof_report_statistic_label(size_t i)
{
    return i < COUNT(statistics) ? statistics[i].label : NULL;
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

/* Returns the width of a statistic: that of its label, or of a value like "-12.34%". */
static int width_of(size_t i)
{
    const int label = (int)strlen(statistics[i].label);
    return label > 7 ? label : 7;
}

const char *roof_report_statistic(char out[ROOF_QUANTITY_SIZE],
                                  const struct roof_compare_group *group, size_t i)
{
    if (statistics[i].count) {
        (void)snprintf(out, ROOF_QUANTITY_SIZE, "%.0f", statistic(group, i));
    } else {
        roof_format_quantity(out, statistic(group, i), ROOF_UNIT_FRACTION);
    }
    return out;
}

static void text_group(struct roof_text *out, const struct roof_compare_group *group)
{
    for (size_t i = 0; i < COUNT(statistics); i++) {
        char value[ROOF_QUANTITY_SIZE];
        roof_text_printf(out, "  %*s", width_of(i), roof_report_statistic(value, group, i));
    }
    roof_text_put(out, "\n");
}

void roof_report_statistics_legend(struct roof_text *out)
{
    roof_text_put(
        out,
        "MAPE, median, p90: errors of expected times (mean, median, and 90th percentile).\nbound "
        "MAPE: that of the lower bounds. bias: mean of expected / measured - 1; above 0: too "
        "long.\nin band: measured within the 80% interval. below: measured faster than the lower "
        "bound.\nskipped: rows with an error, or on an unknown device. tokens/s are compared as "
        "time "
        "per token.\n-f csv prints every row; its error is expected / measured - 1.\n");
}

/* Notes which waits the expected times of requests lack, and the commands that have them. */
static void text_waits(struct roof_text *out, const struct roof_reported_waits *waits, bool fits)
{
    if (waits->rows == 0) {
        return;
    }
    roof_text_printf(
        out, "\nExpected ttft_ms and e2e_ms have no wait for the prompts of other requests%s.\n",
        waits->unhosted ? ",\nand without --stack no host time" : "");
    roof_text_put(out, fits ? "So the fit leaves them out for such requests.\n" : "");
    roof_text_put(out, "This command predicts the waits");
    if (waits->rows > 1) {
        roof_text_printf(out, " of line %d", waits->line);
    }
    roof_text_printf(out, ":\n  %s\n", waits->command);
    roof_text_put(out, "To fit estimates to each request of a run: bench serve --save-detailed, "
                       "then\nroofline simulate with --trace FILE --fit.\n");
}

void roof_report_comparison_notes(struct roof_text *out, const struct roof_comparison *comparison,
                                  const struct roof_reported_fit *fit,
                                  const struct roof_reported_waits *waits)
{
    text_waits(out, waits, fit != NULL);
    roof_report_too_fast(out, comparison);
    if (fit != NULL) {
        roof_report_fit(out, fit);
    }
    if (fit != NULL && fit->fit.fitted_mape >= fit->fit.mape && comparison->fastest > 1) {
        roof_text_printf(out, "Line %d is faster than its lower bound: leave it out.\n",
                         comparison->fastest_line);
    }
}

void roof_report_comparison(struct roof_text *out, bool json,
                            const struct roof_comparison *comparison,
                            const struct roof_reported_fit *fit,
                            const struct roof_reported_waits *waits)
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
        roof_text_put(out, "]");
        if (fit != NULL) {
            roof_report_fit_json(out, &fit->fit);
        }
        roof_text_put(out, "}\n");
        return;
    }
    for (size_t i = 0; i < COUNT(statistics); i++) {
        roof_text_printf(out, "  %*s", width_of(i), statistics[i].label);
    }
    for (size_t i = 0; i < c->columns; i++) {
        roof_text_put(out, "  ");
        roof_text_plain(out, c->column[i]);
    }
    roof_text_put(out, "\n");
    for (size_t i = 0; i < c->groups && c->columns > 0; i++) {
        text_group(out, &c->group[i]);
        out->length -= out->length > 0 ? 1U : 0U; /* the names follow on the same line */
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
    roof_text_put(out, "\n");
    roof_report_statistics_legend(out);
    roof_report_comparison_notes(out, c, fit, waits);
}
