// SPDX-License-Identifier: MIT
#include "chart/note.h"

#include <math.h>

/* The most formats of a ceiling in a label; with more it names the first and counts the others. */
#define NAMED_FORMATS 2

size_t roof_chart_put_formats(struct roof_text *out, const struct roof_chart *chart,
                              const struct roof_chart_ceiling *ceiling, bool all)
{
    enum roof_precision shown[ROOF_PRECISION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < ceiling->formats; i++) {
        if (chart->chosen || !ceiling->in_use || ceiling->used[i]) {
            shown[count++] = ceiling->format[i];
        }
    }
    const size_t named = all || count <= NAMED_FORMATS ? count : 1;
    for (size_t i = 0; i < named; i++) {
        roof_text_printf(out, "%s%s", i == 0 ? "" : ", ", roof_format(shown[i])->name);
    }
    if (named < count) {
        roof_text_printf(out, " +%zu more", count - named);
    }
    roof_text_put(out, ceiling->unit == ROOF_COMPUTE_VECTOR ? " vector" : "");
    return count - named;
}

static void put_unfit(struct roof_text *out, const struct roof_chart *chart)
{
    if (chart->unfits > 0) {
        roof_text_put(out, chart->unfit);
    }
    if (chart->unfits > 1) {
        roof_text_printf(out, "; %zu more %s not fit", chart->unfits - 1,
                         chart->unfits == 2 ? "does" : "do");
    }
}

static void put_about(struct roof_text *out, const struct roof_chart *chart)
{
    roof_text_put(out, chart->about == NULL ? "" : chart->about);
}

/* Adds the share of a dot to the sum of its pass, and keeps the largest sum. */
static void add_share(double *largest, double sums[], const struct roof_chart_dot *dot,
                      double share)
{
    double *const sum = &sums[dot->group * ROOF_CHART_ROOFS_MAX + dot->roof];
    *sum += share;
    *largest = fmax(*largest, *sum);
}

/* Counts the folded operators, with their total share of the time in the pass where it is largest.
 * Their expected share may be larger, because launches take time. */
static void put_folded(struct roof_text *out, const struct roof_chart *chart)
{
    double bound[ROOF_CHART_ROOFS_MAX * ROOF_CHART_GROUPS_MAX] = {0};
    double expected[ROOF_CHART_ROOFS_MAX * ROOF_CHART_GROUPS_MAX] = {0};
    double most_bound = 0;
    double most_expected = 0;
    size_t count = 0;
    for (size_t i = 0; i < chart->dots; i++) {
        const struct roof_chart_dot *const dot = &chart->dot[i];
        if (dot->folded) {
            add_share(&most_bound, bound, dot, dot->share);
            add_share(&most_expected, expected, dot, dot->expected_share);
            count++;
        }
    }
    if (count == 0) {
        return;
    }
    const bool both = chart->expected && most_expected > 0;
    roof_text_printf(out, "%zu operator%s below %g%% of the %s", count, count == 1 ? "" : "s",
                     100 * chart->fold_below, both ? "bound and of the expected time" : "time");
    roof_text_printf(out, " (together at most %.1f%% of the bound", ceil(1000 * most_bound) / 10);
    if (both) {
        roof_text_printf(out, ", %.1f%% of the expected time", ceil(1000 * most_expected) / 10);
    }
    roof_text_put(out, count == 1 ? ") is not drawn" : ") are not drawn");
}

static void put_left_out(struct roof_text *out, const struct roof_chart *chart)
{
    const bool one = chart->left_out == 1;
    if (chart->left_out == 0) {
        return;
    }
    roof_text_printf(out, "%zu operator%s without FLOPs or a known peak", chart->left_out,
                     one ? "" : "s");
    if (chart->left_out_share > 0) {
        roof_text_printf(out, ", at most %.1f%% of the time,",
                         ceil(1000 * chart->left_out_share) / 10);
    }
    roof_text_printf(out, " %s not drawn", one ? "is" : "are");
}

/* Counts the drawn dots without an expected time, if the chart shows these, and names the device of
 * the first one. */
static void put_unknown(struct roof_text *out, const struct roof_chart *chart)
{
    size_t count = 0;
    size_t roof = 0;
    for (size_t i = 0; i < chart->dots && chart->expected; i++) {
        const struct roof_chart_dot *const dot = &chart->dot[i];
        if (!dot->folded && isnan(roof_chart_reached(chart, dot))) {
            roof = count == 0 ? dot->roof : roof;
            count++;
        }
    }
    if (count > 0) {
        roof_text_printf(out, "no expected time is known for %zu dot%s (%s)", count,
                         count == 1 ? "" : "s", chart->roof[roof].hardware->id);
    }
}

static void put_abridged(struct roof_text *out, const struct roof_chart *chart)
{
    bool some = false;
    for (size_t r = 0; r < chart->roofs; r++) {
        some = some || (roof_chart_abridged(chart, r) && chart->roof[r].ceilings > 2);
    }
    roof_text_put(out, some ? "of each device the highest ceiling and the one of 16 bits; "
                              "--ceilings draws others"
                            : "");
}

void roof_chart_note(struct roof_text *out, const struct roof_chart *chart,
                     enum roof_chart_note note)
{
    static void (*const put[ROOF_NOTES])(struct roof_text *, const struct roof_chart *) = {
        [ROOF_NOTE_UNFIT] = put_unfit,     [ROOF_NOTE_ABOUT] = put_about,
        [ROOF_NOTE_FOLDED] = put_folded,   [ROOF_NOTE_LEFT_OUT] = put_left_out,
        [ROOF_NOTE_UNKNOWN] = put_unknown, [ROOF_NOTE_ABRIDGED] = put_abridged};
    put[note](out, chart);
}
