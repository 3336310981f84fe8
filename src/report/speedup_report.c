// SPDX-License-Identifier: MIT
#include "report/speedup_report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/cells.h"
#include "report/rows.h"

/* --- for people ---------------------------------------------------------------------------- */

static const char *time_of(char out[ROOF_QUANTITY_SIZE], double s)
{
    return isnan(s) ? "-" : s == 0 ? "0" : roof_format_quantity(out, s, ROOF_UNIT_MICROSECONDS);
}

/* The sum of the times that causes save, and the sum of those that other causes lose. */
struct balance {
    double saved_s;
    double lost_s;
};

static struct balance balance_of(const struct roof_gain *gain)
{
    struct balance b = {0};
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        b.saved_s += gain->saved_s[i] > 0 ? gain->saved_s[i] : 0;
        b.lost_s -= gain->saved_s[i] < 0 ? gain->saved_s[i] : 0;
    }
    return b;
}

/* Tells whether gains and losses are so close that shares of their difference are misleading. */
static bool cancels(const struct roof_gain *gain)
{
    const struct balance b = balance_of(gain);
    return fmin(b.saved_s, b.lost_s) > 0.5 * fabs(b.saved_s - b.lost_s);
}

/* Says why shares are left out: gains and losses nearly cancel. */
static void put_cancelled(struct roof_text *out, const struct roof_gain *gain, const char *of)
{
    const struct balance b = balance_of(gain);
    const bool saves = b.saved_s >= b.lost_s;
    const size_t from = out->length;
    roof_text_printf(out,
                     "Shares%s are left out because gains and losses nearly cancel (%s are %.0f%% "
                     "of the %s).\n",
                     of, saves ? "losses" : "gains",
                     100 * fmin(b.saved_s, b.lost_s) / fmax(b.saved_s, b.lost_s),
                     saves ? "gains" : "losses");
    roof_text_fold(out, from, 0);
}

/* Writes the fraction of the total saved time; lost time is negative. Returns a text. */
static const char *share_of(char out[ROOF_QUANTITY_SIZE], double saved_s,
                            const struct roof_gain *gain)
{
    const double all = gain->from_s - gain->to_s;
    if (all == 0 || cancels(gain)) {
        return "-";
    }
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%.1f%%", saved_s == 0 ? 0 : 100 * saved_s / all);
    return out;
}

/* The least fraction of the saved time that a line shows. */
#define SHARE_LEAST 0.0005
/* The least fraction of the saved time that acts against it so much that a line has times in place
 * of shares. A smaller one changes the shares by little more than their last digits. */
#define BALANCE_LEAST 0.02

/* Tells if a cause acts against the total by more than a fraction of it, so that shares of the
 * others exceed 100 %. */
static bool opposes(const struct roof_gain *gain, double least)
{
    const double saved = gain->from_s - gain->to_s;
    bool any = false;
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        any = any || gain->saved_s[i] / saved < -least;
    }
    return any;
}

/* Returns a time in the given form; in one of its own if there is none (NULL). */
static const char *amount_of(char out[ROOF_QUANTITY_SIZE], double s,
                             const struct roof_time_look *look)
{
    return look == NULL ? time_of(out, s) : roof_time_text(out, s, look);
}

/* Tells whether a line shows a part of the saved time: its digits are not all 0. */
static bool is_some(double s, double saved_s, const struct roof_time_look *look)
{
    char time[ROOF_QUANTITY_SIZE];
    return look == NULL ? s > SHARE_LEAST * fabs(saved_s)
                        : s > 0 && strpbrk(roof_time_text(time, s, look), "123456789") != NULL;
}

void roof_speedup_report_times(struct roof_text *out, const struct roof_gain *gain,
                               const char *separator, const struct roof_time_look *look)
{
    const double saved = gain->from_s - gain->to_s;
    const double sign = saved < 0 ? -1 : 1;
    const char *const unit = look == NULL ? "" : " ms";
    char time[ROOF_QUANTITY_SIZE];
    if (!(fabs(saved) > 0.02 * gain->from_s)) { /* unknown, or too small */
        return;
    }
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        const double own = sign * gain->saved_s[i];
        if (is_some(own, saved, look)) {
            roof_text_printf(out, "%s%s %s%s", separator, roof_cause_name((enum roof_cause)i),
                             amount_of(time, own, look), unit);
            separator = ", ";
        }
    }
    separator = saved < 0 ? "; saved: " : "; lost: ";
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        const double own = -sign * gain->saved_s[i];
        if (is_some(own, saved, look)) {
            roof_text_printf(out, "%s%s %s%s", separator, roof_cause_name((enum roof_cause)i),
                             amount_of(time, own, look), unit);
            separator = ", ";
        }
    }
}

void roof_speedup_report_shares(struct roof_text *out, const struct roof_gain *gain,
                                const char *separator)
{
    const double saved = gain->from_s - gain->to_s;
    if (!(fabs(saved) > 0.02 * gain->from_s)) { /* unknown, or too small */
        return;
    }
    if (opposes(gain, BALANCE_LEAST)) {
        roof_speedup_report_times(out, gain, separator, NULL);
        return;
    }
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        if (fabs(gain->saved_s[i]) > SHARE_LEAST * fabs(saved)) {
            roof_text_printf(out, "%s%s %.1f%%", separator, roof_cause_name((enum roof_cause)i),
                             100 * gain->saved_s[i] / saved);
            separator = ", ";
        }
    }
}

void roof_speedup_report_legend(struct roof_text *out, bool expected)
{
    roof_text_put(out, "  (memory, compute, network: time to move bytes, compute and send");
    roof_text_put(out, expected ? ";\n   launch: time to launch kernels; kernels: how close "
                                  "kernels come to the bound)\n"
                                : ")\n");
}

static void put_gain(struct roof_text *out, const char *label, const struct roof_gain *gain)
{
    char from[ROOF_QUANTITY_SIZE];
    char to[ROOF_QUANTITY_SIZE];
    if (!isnan(gain->from_s)) {
        roof_text_printf(out, "  %-11s %12s -> %-12s %.2fx%s\n", label, time_of(from, gain->from_s),
                         time_of(to, gain->to_s), gain->speedup,
                         gain->speedup < 1 ? ", slower" : "");
    }
}

/* Writes what a cause saves; what only the rounding of sums left is 0. Returns a text. */
static const char *saving_of(char out[ROOF_QUANTITY_SIZE], double saved_s,
                             const struct roof_gain *gain)
{
    return time_of(out, fabs(saved_s) < 1e-12 * gain->from_s ? 0 : saved_s);
}

/* Writes the saving of each cause, in the bound and in the expected time. */
static void put_causes(struct roof_text *out, const struct roof_speedup_row *total, bool expected)
{
    static const char *const meaning[ROOF_CAUSE_COUNT] = {
        [ROOF_CAUSE_MEMORY] = "time to move the bytes",
        [ROOF_CAUSE_COMPUTE] = "time to compute the FLOPs",
        [ROOF_CAUSE_NETWORK] = "time on the links",
        [ROOF_CAUSE_LAUNCH] = "time to launch kernels",
        [ROOF_CAUSE_KERNELS] = "kernel efficiency (tiles, caches)"};
    const struct roof_gain *const bound = &total->bound;
    const struct roof_gain *const real = expected ? &total->expected : bound;
    char saved[ROOF_QUANTITY_SIZE];
    char share[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "\n  %-8s %12s %7s", "saved by", "lower bound", "share");
    if (expected) {
        roof_text_printf(out, " %12s %7s", "expected", "share");
    }
    roof_text_put(out, "    alone\n");
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        const bool bounded = i < ROOF_CAUSE_LAUNCH;
        if (!bounded && !expected) {
            continue;
        }
        roof_text_printf(out, "  %-8s %12s %7s", roof_cause_name((enum roof_cause)i),
                         bounded ? saving_of(saved, bound->saved_s[i], bound) : "",
                         bounded ? share_of(share, bound->saved_s[i], bound) : "");
        if (expected) {
            roof_text_printf(out, " %12s %7s", saving_of(saved, real->saved_s[i], real),
                             share_of(share, real->saved_s[i], real));
        }
        roof_text_printf(out, "  %6.2fx  %s\n", real->from_s / real->alone_s[i], meaning[i]);
    }
    roof_text_put(out,
                  "\nThe shares divide the change of the time among the causes (Shapley values).\n"
                  "The column \"alone\" has the speedup if only this cause changes.\n");
    if (cancels(bound) || cancels(real)) {
        if (expected && cancels(bound)) {
            put_cancelled(out, bound, " of the lower bound");
        }
        if (cancels(real)) {
            put_cancelled(out, real, expected ? " of the expected time" : "");
        }
    } else if (opposes(bound, SHARE_LEAST) || opposes(real, SHARE_LEAST)) {
        roof_text_put(out,
                      "A negative share goes the other way, so the other shares add up to more "
                      "than 100%.\n");
    }
}

static const struct roof_gain *gain_of(const struct roof_speedup_row *row, bool expected)
{
    return expected ? &row->expected : &row->bound;
}

/* The width of the other columns: the count, the speedup, and the longest change of a bottleneck.
 */
#define CHANGE_WIDTH 36

/* The format of the rows in a table: times in one unit, and the causes with savings or costs. */
struct look {
    bool expected;
    struct roof_time_look time;
    int name;    /* width of the names */
    int width;   /* width of a time */
    bool narrow; /* show only the new bottleneck, because both would be too wide */
    bool cause[ROOF_CAUSE_COUNT];
};

/* Chooses the format for sorted rows, of which the first `top` are printed. */
static struct look look_of(const struct roof_speedup *s, bool expected, const size_t *order,
                           size_t printed)
{
    const double total = gain_of(&s->total, expected)->from_s;
    struct look look = {.expected = expected, .name = (int)strlen("operator")};
    const double longest = fmax(total, gain_of(&s->total, expected)->to_s);
    char widest[ROOF_QUANTITY_SIZE];
    look.time =
        roof_time_look(longest, longest < 1e-3 ? ROOF_UNIT_MICROSECONDS : ROOF_UNIT_MILLISECONDS);
    look.width = (int)strlen(roof_time_text(widest, longest, &look.time));
    look.width = look.width > 7 ? look.width : 7;
    for (size_t i = 0; i < printed; i++) {
        const int length = (int)strlen(s->row[order[i]].name);
        look.name = length > look.name ? length : look.name;
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_gain *const gain = gain_of(&s->row[i], expected);
        for (int c = 0; c < (expected ? ROOF_CAUSE_COUNT : ROOF_CAUSE_LAUNCH); c++) {
            look.cause[c] = look.cause[c] || fabs(gain->saved_s[c]) > 5e-4 * total;
        }
    }
    int columns = 2; /* before and after */
    for (int c = 0; c < ROOF_CAUSE_COUNT; c++) {
        columns += look.cause[c] ? 1 : 0;
    }
    look.narrow = look.name + columns * (look.width + 1) + CHANGE_WIDTH > ROOF_PAGE_WIDTH;
    return look;
}

/* Names the causes that save or cost too little for a column. */
static void put_small_causes(struct roof_text *out, const struct roof_gain *all,
                             const struct look *look)
{
    const char *separator = "; too small for a column: ";
    for (int c = 0; c < (look->expected ? ROOF_CAUSE_COUNT : ROOF_CAUSE_LAUNCH); c++) {
        if (!look->cause[c] && all->saved_s[c] != 0) {
            roof_text_printf(out, "%s%s", separator, roof_cause_name((enum roof_cause)c));
            separator = ", ";
        }
    }
}

static void put_time(struct roof_text *out, double s, const struct look *look)
{
    char time[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, " %*s", look->width, roof_time_text(time, s, &look->time));
}

static void put_row(struct roof_text *out, const struct roof_speedup_row *row,
                    const struct look *look)
{
    const struct roof_gain *const gain = gain_of(row, look->expected);
    const enum roof_bottleneck from =
        look->expected ? row->expected_from_bottleneck : row->from_bottleneck;
    const enum roof_bottleneck to =
        look->expected ? row->expected_to_bottleneck : row->to_bottleneck;
    char times[32] = "";
    if (row->count > 1) {
        (void)roof_format_number(times, row->count);
    }
    roof_text_printf(out, "  %-*s %5s", look->name, row->name, times);
    put_time(out, gain->from_s, look);
    put_time(out, gain->to_s, look);
    roof_text_printf(out, " %6.2fx", gain->speedup);
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        if (look->cause[i]) {
            put_time(out, gain->saved_s[i], look);
        }
    }
    roof_text_put(out, "  ");
    if (from == to || !look->narrow) {
        roof_text_put(out, roof_bottleneck_name(from));
    }
    if (from != to && look->narrow) {
        roof_text_printf(out, "-> %s", roof_bottleneck_name(to));
    } else if (from != to) {
        roof_text_printf(out, " -> %s", roof_bottleneck_name(to));
    }
    roof_text_put(out, "\n");
}

/* Writes the rows with the longest times before the change, the longest first. */
static void put_rows(struct roof_text *out, const struct roof_speedup *s, size_t top, bool expected)
{
    size_t order[ROOF_GRAPH_MAX];
    for (size_t i = 0; i < s->count; i++) {
        size_t at = i;
        const double time = gain_of(&s->row[i], expected)->from_s;
        while (at > 0 && gain_of(&s->row[order[at - 1]], expected)->from_s < time) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    const struct look look = look_of(s, expected, order, s->count < top ? s->count : top);
    roof_text_printf(out, "\n  (times in %s", roof_unit_name(look.time.unit));
    put_small_causes(out, gain_of(&s->total, expected), &look);
    roof_text_printf(out, ")\n  %-*s %5s %*s %*s %7s", look.name, "operator", "count", look.width,
                     "from", look.width, "to", "speedup");
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        if (look.cause[i]) {
            roof_text_printf(out, " %*s", look.width, roof_cause_name((enum roof_cause)i));
        }
    }
    roof_text_put(out, "  bound\n");
    for (size_t i = 0; i < s->count && i < top; i++) {
        put_row(out, &s->row[order[i]], &look);
    }
    if (s->count > top) {
        roof_text_printf(out, "  (--top %zu shows all)\n", s->count);
    }
    put_row(out, &s->total, &look);
}

void roof_speedup_report_text(struct roof_text *out, const struct roof_speedup *speedup, size_t top)
{
    const struct roof_speedup_row *const total = &speedup->total;
    const bool expected = !isnan(total->expected.from_s);
    size_t from = out->length; /* the line began earlier */
    while (from > 0 && out->data[from - 1] != '\n') {
        from--;
    }
    roof_text_printf(out, "from %s to %s\n", total->from, total->to);
    roof_text_fold(out, from, 4);
    roof_text_put(out, "\n");
    put_gain(out, "lower bound", &total->bound);
    put_gain(out, "expected", &total->expected);
    put_causes(out, total, expected);
    if (speedup->count > 1) {
        roof_text_put(out, expected ? "Expected times here are sums of kernels: without host time, "
                                      "and without early starts.\n"
                                    : "");
        put_rows(out, speedup, top, expected);
    }
}

/* --- for programs -------------------------------------------------------------------------- */

void roof_speedup_report_json(struct roof_text *out, const struct roof_speedup *speedup)
{
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_SPEEDUPS, ROOF_OPERATOR_GEMM, "\n  ");
    roof_text_put(out, "{");
    roof_table_speedup(&table, out, &speedup->total);
    roof_text_put(out, ",\n  \"operators\": [");
    roof_table_open_members(&table, ROOF_TABLE_SPEEDUPS, ROOF_OPERATOR_GEMM, "");
    for (size_t i = 0; i < speedup->count; i++) {
        roof_text_put(out, i == 0 ? "\n    {" : ",\n    {");
        roof_table_speedup(&table, out, &speedup->row[i]);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "]\n}");
}
