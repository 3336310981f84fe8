// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/json.h"

/* The keys that follow the columns of the file; the first only where metrics are told apart. */
static const char *const compared_keys[] = {"metric", "time_us", "expected_time_us", "ratio",
                                            "error"};

/* Tells if a column of the file has the name of a key that follows, whose value stands in its
 * place. */
static bool is_replaced(const char *column, bool metrics)
{
    size_t i = metrics ? 0 : 1;
    while (i < COUNT(compared_keys) && strcmp(column, compared_keys[i]) != 0) {
        i++;
    }
    return i < COUNT(compared_keys);
}

void roof_report_compared_header(struct roof_text *out, const char *const *column, size_t columns,
                                 bool metrics)
{
    const char *comma = "";
    for (size_t i = 0; i < columns; i++) {
        if (!is_replaced(column[i], metrics)) {
            roof_text_put(out, comma);
            roof_csv_cell(out, column[i]);
            comma = ",";
        }
    }
    for (size_t i = metrics ? 0 : 1; i < COUNT(compared_keys); i++) {
        roof_text_put(out, comma);
        roof_text_put(out, compared_keys[i]);
        comma = ",";
    }
    roof_text_put(out, "\n");
}

/* Puts the columns of the file; false when there are none. */
static bool put_columns(struct roof_text *out, bool csv, const struct roof_compared *row)
{
    bool begun = false;
    for (size_t i = 0; i < row->cells; i++) {
        if ((!csv && *row->cell[i] == '\0') || is_replaced(row->column[i], row->metrics)) {
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

void roof_report_compared(struct roof_text *out, bool csv, const struct roof_compared *row)
{
    const double best = isnan(row->expected_s) ? row->time_s : row->expected_s;
    const double values[] = {roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS),
                             roof_to_unit(row->expected_s, ROOF_UNIT_MICROSECONDS),
                             best / row->measured_s, best / row->measured_s - 1};
    roof_text_put(out, csv ? "" : "{");
    bool begun = put_columns(out, csv, row);
    if (row->metrics) {
        roof_text_put(out, begun ? "," : "");
        roof_text_printf(out, csv ? "%s" : "\"metric\":\"%s\"", row->metric);
        begun = true;
    }
    for (size_t i = 0; i < COUNT(values); i++) {
        if (csv) {
            roof_text_put(out, begun ? "," : "");
            roof_text_number(out, values[i]);
            begun = true;
        } else if (!isnan(values[i])) {
            roof_text_printf(out, "%s\"%s\":", begun ? "," : "", compared_keys[i + 1]);
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

/* Returns the width of a statistic: that of its label, or of a value such as "-12.34%". */
static int width_of(size_t i)
{
    const int label = (int)strlen(statistics[i].label);
    return label > 7 ? label : 7;
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
        roof_text_printf(out, "  %*s", width_of(i), value);
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
        roof_text_printf(out, "  %*s", width_of(i), statistics[i].label);
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
