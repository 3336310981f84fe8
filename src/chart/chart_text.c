// SPDX-License-Identifier: MIT
#include "chart/chart_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "chart/note.h"
#include "chart/page.h"
#include "chart/place.h"
#include "report/rows.h"

/* --- text ---------------------------------------------------------------------------------- */

#define ROWS_MIN 16
#define ROWS_MAX 32
/* The columns to the left of the plot. */
#define AXIS_WIDTH 7
/* With more dots, the legend has a row per mark instead. */
#define LEGEND_MAX 100
/* The points per column of a line. */
#define STEPS 4

/* The characters of marks in order; further marks share the last one. */
static const char symbols[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnpqrstuvwxyz123456789*";
#define LETTERS 26

static char symbol_of(size_t mark)
{
    const size_t last = sizeof symbols - 2;
    return symbols[mark < last ? mark : last];
}

/* Returns the character for the reached rate of a mark: its letter in lower case, unless another
 * mark has that. */
static char reached_of(const struct roof_chart_layout *l, size_t mark)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyzo";
    return small[l->marks <= LETTERS ? mark : LETTERS];
}

/* Tells whether a cell is empty or part of a line. */
static bool is_line(uint32_t cell)
{
    const uint32_t code = ROOF_CODE(cell);
    return code == 0 || (code & ~0xffU) == ROOF_BRAILLE || code == '/' || code == '-' ||
           code == '.' || code == '=' || code == '+' || code == ':' || code == 0x250a;
}

/* Draws the slope of a rate, up to an intensity. */
static void draw_slope(const struct roof_page *page, const struct roof_chart_layout *l, double rate,
                       double to, bool dashed)
{
    const double left = l->canvas.plot.left;
    const double right = l->canvas.plot.right;
    const int points = (int)((roof_chart_x(l, to) - left) * STEPS);
    for (int i = 0; i <= points; i++) {
        const double x = left + (double)i / STEPS;
        const double intensity = l->x_min * pow(l->x_max / l->x_min, (x - left) / (right - left));
        if (!dashed || i / STEPS % 2 == 0) {
            roof_page_ink(page, x, roof_chart_y(l, intensity * rate), dashed ? '.' : '/');
        }
    }
}

/* Draws a ceiling or line from its intensity to the right edge of the plot. */
static void draw_side(const struct roof_page *page, const struct roof_chart_layout *l,
                      const struct roof_side *s)
{
    const double left = l->canvas.plot.left;
    const double right = l->canvas.plot.right;
    const double begin = fmax(roof_chart_x(l, s->from), left);
    const int points = (int)ceil((right - begin) * STEPS);
    for (int i = 0; i < points; i++) {
        const double x = begin + (double)i / STEPS;
        const double intensity = l->x_min * pow(l->x_max / l->x_min, (x - left) / (right - left));
        const double y = roof_chart_y(l, roof_chart_side_rate(s, intensity));
        if (y < l->canvas.plot.bottom && (!(s->vector || s->line) || (int)x % 2 == 0)) {
            roof_page_ink(page, x, y, s->line ? '=' : '-');
        }
    }
}

static void draw_axes(const struct roof_page *page, const struct roof_chart_layout *l)
{
    const struct roof_box *const plot = &l->canvas.plot;
    char text[ROOF_QUANTITY_SIZE];
    for (int y = 0; y < (int)plot->bottom; y++) {
        roof_page_write(page, plot->left - 1, y, page->unicode ? "\u2502" : "|");
    }
    roof_page_write(page, plot->left - 1, plot->bottom, page->unicode ? "\u2514" : "+");
    for (int x = (int)plot->left; x < (int)plot->right; x++) {
        roof_page_write(page, x, plot->bottom, page->unicode ? "\u2500" : "-");
    }
    for (int decade = (int)ceil(log10(l->y_min)); decade <= (int)floor(log10(l->y_max)); decade++) {
        const double y = roof_chart_y(l, pow(10, decade));
        roof_format_short(text, roof_to_unit(pow(10, decade), ROOF_UNIT_TFLOPS));
        roof_page_write(page, fmax(plot->left - 2 - (double)strlen(text), 0), y, text);
        roof_page_write(page, plot->left - 1, y, page->unicode ? "\u2524" : "+");
    }
    double free_from = 0;
    for (int decade = (int)ceil(log10(l->x_min)); decade <= (int)floor(log10(l->x_max)); decade++) {
        const double x = roof_chart_x(l, pow(10, decade));
        roof_format_short(text, pow(10, decade));
        roof_page_write(page, x, plot->bottom, page->unicode ? "\u252c" : "+");
        const double begin = floor(x) - floor((double)strlen(text) / 2);
        if (begin >= free_from) {
            roof_page_write(page, begin, plot->bottom + 1, text);
            free_from = begin + (double)strlen(text) + 1;
        }
    }
}

/* Draws a mark in its cell, or in a free one beside it. */
static void draw_mark(const struct roof_page *page, double x, double y, char symbol)
{
    static const int beside[][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, -1}, {0, 1}, {2, 0}, {-2, 0}};
    for (size_t i = 0; i < COUNT(beside); i++) {
        uint32_t *const cell = roof_page_cell(page, x + beside[i][0], y + beside[i][1]);
        if (cell != NULL && is_line(*cell)) {
            *cell = (uint32_t)(unsigned char)symbol | page->ink;
            return;
        }
    }
}

/* Draws the line from a mark down to its reached rate, in empty cells. */
static void draw_whisker(const struct roof_page *page, const struct roof_mark *mark)
{
    const int last = (int)floor(mark->reached_y);
    for (int y = (int)floor(mark->y) + 1; y < last; y++) {
        uint32_t *const cell = roof_page_cell(page, mark->x, y);
        if (cell != NULL && *cell == 0) {
            *cell = (page->unicode ? 0x250a : ':') | page->ink;
        }
    }
}

/* Draws the tick of a ceiling without dots. */
static void ink_tick(const struct roof_page *page, double right, double y)
{
    roof_page_write(page, right - 1, y, page->unicode ? "\u2576" : "-");
}

/* Returns the colour of a roof: that of the terminal for a single device, and for lines without a
 * device. */
static size_t roof_colour(const struct roof_chart *chart, size_t roof)
{
    return roof < chart->roofs ? roof : 0;
}

/* With several devices the colour of a mark shows its device, and with one its group, as in images.
 */
static size_t mark_colour(const struct roof_chart *chart, size_t group, size_t roof)
{
    return chart->roofs > 1 ? roof_colour(chart, roof) : group + 1;
}

/* Names a zone of intensities in the row above the axis, if that is free. */
static void name_zone(const struct roof_page *page, const char *name, double left, double right,
                      double row)
{
    const size_t length = strlen(name);
    const double from = floor((left + right - (double)length) / 2);
    if (from < left || from + (double)length > right) {
        return;
    }
    for (size_t i = 0; i < length + 2; i++) { /* with a cell before and after it */
        const uint32_t *const cell = roof_page_cell(page, from - 1 + (double)i, row);
        if (cell == NULL || *cell != 0) {
            return;
        }
    }
    roof_page_write(page, from, row, name);
}

/* Names the memory-bound and compute-bound intensities of a single device. */
static void name_zones(struct roof_page *page, const struct roof_chart *chart,
                       const struct roof_chart_layout *l)
{
    double low;
    double high;
    roof_page_colour(page, 0);
    if (chart->roofs == 1 && roof_chart_zones(&low, &high, l)) {
        const struct roof_box *const plot = &l->canvas.plot;
        name_zone(page, "memory bound", plot->left, roof_chart_x(l, low), plot->bottom - 1);
        name_zone(page, "compute bound", roof_chart_x(l, high), plot->right, plot->bottom - 1);
    }
}

static void draw(struct roof_page *page, const struct roof_chart *chart,
                 const struct roof_chart_layout *l)
{
    draw_axes(page, l);
    for (size_t i = 0; i < l->slopes; i++) {
        roof_page_colour(page, roof_colour(chart, l->slope[i].roof));
        draw_slope(page, l, l->slope[i].rate, l->slope[i].to, l->slope[i].line);
    }
    for (size_t i = 0; i < l->sides; i++) {
        const struct roof_side *const s = &l->side[i];
        roof_page_colour(page, roof_colour(chart, s->roof));
        if (s->tick && s->label[0] != '\0') { /* a tick needs a name */
            ink_tick(page, l->canvas.plot.right, s->at);
        } else if (!s->tick) {
            draw_side(page, l, s);
        }
        roof_page_write(page, l->canvas.plot.right + 1, s->y, s->label);
    }
    for (size_t i = 0; i < l->sides; i++) {
        const struct roof_side *const s = &l->side[i];
        if (!s->line && !s->tick) {
            roof_page_colour(page, roof_colour(chart, s->roof));
            roof_page_write(page, roof_chart_x(l, s->from), s->at, page->unicode ? "\u25c6" : "+");
        }
    }
    for (size_t i = 0; i < l->marks; i++) {
        roof_page_colour(page, mark_colour(chart, l->mark[i].group, l->mark[i].roof));
        draw_mark(page, l->mark[i].x, l->mark[i].y, symbol_of(i));
    }
    for (size_t i = 0; i < l->marks; i++) {
        const struct roof_mark *const m = &l->mark[i];
        if (!isnan(m->reached_y)) {
            roof_page_colour(page, mark_colour(chart, m->group, m->roof));
            draw_whisker(page, m);
            draw_mark(page, m->x, m->reached_y, reached_of(l, i));
        }
    }
    name_zones(page, chart, l);
}

/* The format of the legend, whose numbers are aligned at their decimal points. */
struct look {
    size_t widest; /* length of the longest name */
    int intensity; /* decimals of FLOP/byte */
    int rate;      /* decimals of TFLOPS */
    bool shares;   /* there are shares of the time */
    bool measured; /* dots have measured times */
    bool expected; /* dots have expected times, and none has a measured one */
    /* Columns of a page that is wide enough. */
    bool reached;  /* the measured or expected rate, beside its part of the bound */
    bool bound;    /* the bottleneck */
    bool attained; /* the rate of the bound */
    struct roof_page *page;
};

static struct look look_of(const struct roof_chart *chart, struct roof_page *page)
{
    struct look look = {
        .widest = 4, .reached = true, .bound = true, .attained = true, .page = page};
    double intensity = HUGE_VAL;
    double rate = HUGE_VAL;
    for (size_t i = 0; i < chart->dots; i++) {
        const struct roof_chart_dot *const dot = &chart->dot[i];
        if (!dot->folded) {
            const struct roof_prediction *const p = &dot->node.prediction;
            intensity = fmin(intensity, p->intensity);
            const double reached = roof_chart_reached(chart, dot);
            rate = fmin(rate, fmin(p->attainable_flops_per_s, reached));
            look.shares = look.shares || !isnan(dot->share);
            look.measured = look.measured || !isnan(p->measured_s);
            look.expected = look.expected || (!isnan(reached) && isnan(p->measured_s));
        }
    }
    look.intensity = roof_page_decimals(intensity);
    look.rate = roof_page_decimals(roof_to_unit(rate, ROOF_UNIT_TFLOPS));
    return look;
}

static const char *percent(char out[ROOF_QUANTITY_SIZE], double share)
{
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%.1f%%", 100 * share);
    return out;
}

/* Returns the width of a row. */
static size_t row_width(const struct look *look)
{
    const bool reached = look->measured || look->expected;
    return look->widest + 5 + 11 + (look->attained ? 10 : 0) + (look->bound ? 9 : 0) +
           (look->shares ? 9 : 0) + (reached ? 10 : 0) + (reached && look->reached ? 10 : 0);
}

/* Leaves out columns until the page has room, beginning with those that follow from others. */
static void narrow(struct look *look, size_t width)
{
    look->reached = row_width(look) <= width;
    look->bound = row_width(look) <= width;
    look->attained = row_width(look) <= width;
}

/* Writes a row of the legend: a dot, or the first dot of a mark in place of all. */
static void put_row(struct roof_text *out, const struct roof_chart *chart, size_t mark,
                    const struct roof_chart_dot *dot, const char *name, double share,
                    const struct look *look)
{
    char number[ROOF_QUANTITY_SIZE];
    const struct roof_prediction *const p = &dot->node.prediction;
    roof_page_colour(look->page, mark_colour(chart, dot->group, dot->roof));
    roof_text_put(out, "  ");
    roof_page_put_colour(out, look->page, look->page->ink);
    roof_text_printf(out, "%c", symbol_of(mark));
    roof_page_put_colour(out, look->page, 0);
    roof_text_printf(out, "  %s", name);
    roof_text_fill(out, ' ', look->widest - roof_text_width(name));
    roof_text_printf(out, "  %9.*f", look->intensity, p->intensity);
    if (look->attained) {
        roof_text_printf(out, "  %8.*f", look->rate,
                         roof_to_unit(p->attainable_flops_per_s, ROOF_UNIT_TFLOPS));
    }
    if (look->bound) {
        roof_text_printf(out, "  %-7s", roof_bottleneck_name(p->bottleneck));
    }
    if (look->shares) {
        roof_text_printf(out, "  %7s", isnan(share) ? "" : percent(number, share));
    }
    const double reached = roof_chart_reached(chart, dot);
    if (!isnan(reached)) {
        const double part = reached / p->attainable_flops_per_s;
        if (look->reached) {
            roof_text_printf(out, "  %8.*f", look->rate, roof_to_unit(reached, ROOF_UNIT_TFLOPS));
        }
        roof_text_printf(out, "  %8s%s%s", percent(number, part),
                         !look->measured || !look->expected ? ""
                         : isnan(p->measured_s)             ? "  expected"
                                                            : "  measured",
                         part > 1 ? "  in a cache, or not this shape?" : "");
    }
    while (out->length > 0 && out->data[out->length - 1] == ' ') {
        out->length--;
    }
    roof_text_put(out, "\n");
}

/* Returns the width of lines below the plot: that of a page, or of a narrower chart. */
static size_t line_width(const struct roof_chart_layout *l)
{
    return l->canvas.width < ROOF_PAGE_WIDTH ? (size_t)l->canvas.width : ROOF_PAGE_WIDTH;
}

/* Headings begin this many columns before the names; long headings do not widen columns. */
#define HEADING_LEFT 5
#define HEADING_MOST 40

/* The columns beside the name of a ceiling. */
#define CEILING_NUMBERS 24

/* Writes a row of the table of ceilings: a name, TFLOPS, and unless it is NAN the ridge point. A
 * name that is wider than its column continues below. */
static void put_ceiling(struct roof_text *out, const char *name, size_t widest, double flops_per_s,
                        double ridge)
{
    size_t length = strlen(name);
    while (length > widest) {
        do {
            length--;
        } while (length > 0 && name[length] != ' ');
    }
    length = length > 0 ? length : strlen(name);
    roof_text_put(out, "  ");
    roof_text_add(out, name, length);
    roof_text_fill(out, ' ', length < widest ? widest - length : 0);
    roof_text_printf(out, "  %9.1f", roof_to_unit(flops_per_s, ROOF_UNIT_TFLOPS));
    if (!isnan(ridge)) {
        roof_text_printf(out, "  %9.1f", ridge);
    }
    roof_text_put(out, "\n");
    if (name[length] != '\0') {
        const size_t from = out->length;
        roof_text_printf(out, "    %s\n", name + length + 1);
        roof_text_fold_at(out, from, 4, widest);
    }
}

/* Tells whether the table of ceilings has a ceiling: one in use, or a tick whose label does not
 * name all its formats. */
static bool is_listed(const struct roof_chart *chart, const struct roof_chart_layout *l,
                      size_t roof, size_t ceiling)
{
    const double rate = chart->roof[roof].ceiling[ceiling].flops_per_s;
    bool listed = roof_chart_in_use(chart, roof, ceiling);
    for (size_t i = 0; i < l->sides && !listed; i++) {
        const struct roof_side *const s = &l->side[i];
        listed =
            s->tick && s->roof == roof && s->lacking > 0 && s->label[0] != '\0' && s->rate == rate;
    }
    return listed;
}

/* Writes the ceilings in use, ticks whose labels lack formats, and the level lines. Returns the
 * length of the longest name; without `out` it only does that. */
static size_t put_levels(struct roof_text *out, const struct roof_chart *chart,
                         const struct roof_chart_layout *l, size_t widest, struct roof_text *name)
{
    size_t longest = 6;
    for (size_t r = 0; r < chart->roofs; r++) {
        for (size_t i = 0; i < chart->roof[r].ceilings; i++) {
            const struct roof_chart_ceiling *const c = &chart->roof[r].ceiling[i];
            if (!is_listed(chart, l, r, i)) {
                continue;
            }
            roof_text_clear(name);
            roof_text_printf(name, "%s ", chart->roof[r].hardware->id);
            (void)roof_chart_put_formats(name, chart, c, true);
            longest = name->length > longest ? name->length : longest;
            if (out != NULL) {
                put_ceiling(out, name->failed ? "" : name->data, widest, c->flops_per_s, c->ridge);
            }
        }
    }
    for (size_t i = 0; i < chart->lines; i++) {
        const struct roof_chart_line *const line = &chart->line[i];
        if (line->slope || line->bend > 0) {
            continue;
        }
        roof_text_clear(name);
        roof_text_printf(name, "%s%s%s",
                         line->roof < chart->roofs ? chart->roof[line->roof].hardware->id : "",
                         line->roof < chart->roofs ? " " : "", line->name);
        longest = name->length > longest ? name->length : longest;
        if (out != NULL) {
            put_ceiling(out, name->failed ? "" : name->data, widest, line->rate, ROOF_UNKNOWN);
        }
    }
    return longest;
}

/* Writes the ceilings in use and the level lines with all formats and numbers, if labels beside the
 * plot are incomplete. */
static void put_ceilings(struct roof_text *out, const struct roof_chart *chart,
                         const struct roof_chart_layout *l)
{
    if (!l->shortened) {
        return;
    }
    struct roof_text name = ROOF_TEXT_INIT;
    const size_t most = line_width(l) - CEILING_NUMBERS;
    const size_t longest = put_levels(NULL, chart, l, 0, &name);
    const size_t widest = longest < most ? longest : most;
    roof_text_put(out, "\nceilings");
    roof_text_fill(out, ' ', widest - 6);
    roof_text_put(out, "     TFLOPS      ridge\n");
    (void)put_levels(out, chart, l, widest, &name);
    out->failed |= name.failed;
    roof_text_free(&name);
}

/* Writes a note as a line, if it applies. */
static void put_line(struct roof_text *out, const struct roof_chart *chart,
                     const struct roof_chart_layout *l, enum roof_chart_note note)
{
    const size_t length = out->length;
    roof_chart_note(out, chart, note);
    roof_text_put(out, out->length > length ? "\n" : "");
    roof_text_fold_at(out, length, 2, line_width(l));
}

/* Writes the notes, one line each. */
static void put_notes(struct roof_text *out, const struct roof_chart *chart,
                      const struct roof_chart_layout *l)
{
    roof_text_put(out, "\n");
    for (int note = ROOF_NOTE_UNFIT + 1; note < ROOF_NOTES; note++) {
        put_line(out, chart, l, (enum roof_chart_note)note);
    }
    if (out->length > 1 && out->data[out->length - 2] == '\n') { /* there are no notes */
        out->data[--out->length] = '\0';
    }
}

/* Writes the name of a group, and its device if there are several. */
static void put_group(struct roof_text *out, const struct roof_chart *chart, size_t group,
                      size_t roof)
{
    roof_text_printf(out, "%s%s%s", chart->group[group], chart->roofs > 1 ? " on " : "",
                     chart->roofs > 1 ? chart->roof[roof].hardware->id : "");
}

/* Widens the column of names to fit the headings of groups, so that the numbers of all groups are
 * aligned. */
static void widen(struct look *look, struct roof_text *out, const struct roof_chart *chart,
                  const struct roof_chart_layout *l, bool each)
{
    struct roof_text name = ROOF_TEXT_INIT;
    for (size_t i = 0; i < (each ? chart->dots : l->marks); i++) {
        const size_t m = each ? l->mark_of[i] : i;
        if (m == ROOF_CHART_DOTS_MAX) {
            continue;
        }
        const size_t width =
            roof_text_width(each ? chart->dot[i].node.node.name : l->mark[i].label);
        roof_text_clear(&name);
        put_group(&name, chart, l->mark[m].group, l->mark[m].roof);
        const size_t heading = name.failed ? 0 : roof_text_width(name.data);
        look->widest = width > look->widest ? width : look->widest;
        look->widest = heading > look->widest + HEADING_LEFT && heading <= HEADING_MOST
                           ? heading - HEADING_LEFT
                           : look->widest;
    }
    out->failed = out->failed || name.failed;
    roof_text_free(&name);
}

/* Writes the group of some rows, its device, and the headings of columns. */
static void put_heading(struct roof_text *out, const struct roof_chart *chart, size_t group,
                        size_t roof, const struct look *look)
{
    struct roof_text name = ROOF_TEXT_INIT;
    put_group(&name, chart, group, roof);
    const size_t width = name.failed ? 0 : roof_text_width(name.data);
    roof_text_printf(out, "\n%s", name.failed ? "" : name.data);
    roof_text_fill(out, ' ', width < look->widest + 5 ? look->widest + 5 - width : 0);
    const bool reached = look->measured || look->expected;
    const char *const what = !look->expected   ? "measured"
                             : !look->measured ? "expected"
                                               : "reached";
    roof_text_printf(out, "  %9s%s%s%s", "FLOP/byte", look->attained ? "    TFLOPS" : "",
                     !look->bound              ? ""
                     : look->shares || reached ? "  bound  "
                                               : "  bound",
                     look->shares ? "    share" : "");
    if (reached && look->reached) {
        roof_text_printf(out, "  %8s", what);
    }
    roof_text_put(out, reached ? "  of bound" : "");
    roof_text_put(out, "\n");
    out->failed |= name.failed;
    roof_text_free(&name);
}

/* Writes the meaning of each symbol, by group and device. */
static void put_legend(struct roof_text *out, const struct roof_chart *chart,
                       const struct roof_chart_layout *l, struct roof_page *page)
{
    const bool each = chart->dots <= LEGEND_MAX;
    const size_t rows = each ? chart->dots : l->marks;
    struct look look = look_of(chart, page);
    widen(&look, out, chart, l, each);
    narrow(&look, line_width(l));
    for (size_t of = 0; of < chart->groups * chart->roofs; of++) {
        const size_t group = of / chart->roofs;
        const size_t roof = of % chart->roofs;
        bool headed = false;
        for (size_t i = 0; i < rows; i++) {
            const size_t m = each ? l->mark_of[i] : i;
            if (m == ROOF_CHART_DOTS_MAX) {
                continue;
            }
            const struct roof_mark *const mark = &l->mark[m];
            const struct roof_chart_dot *const dot = &chart->dot[each ? i : mark->first];
            if (mark->group != group || mark->roof != roof) {
                continue;
            }
            if (!headed) {
                put_heading(out, chart, group, roof, &look);
            }
            headed = true;
            put_row(out, chart, m, dot, each ? dot->node.node.name : mark->label,
                    each ? dot->share : mark->share, &look);
        }
    }
    put_ceilings(out, chart, l);
    put_notes(out, chart, l);
}

/* Writes the unit of the vertical axis, and the bandwidths of the slopes. */
static void put_unit(struct roof_text *out, const struct roof_chart *chart,
                     const struct roof_chart_layout *l)
{
    static const char unit[] = "TFLOPS; ";
    char number[ROOF_QUANTITY_SIZE];
    roof_text_put(out, unit);
    const size_t from = out->length;
    roof_text_put(out, "slope: ");
    for (size_t r = 0; r < chart->roofs; r++) {
        const struct roof_chart_roof *const roof = &chart->roof[r];
        roof_text_printf(out, "%s%s%s%s", r == 0 ? "" : ", ",
                         chart->roofs > 1 ? roof->hardware->id : "", chart->roofs > 1 ? " " : "",
                         roof_format_quantity(number, roof->bytes_per_s, ROOF_UNIT_GB_PER_S));
    }
    for (size_t i = 0; i < chart->lines; i++) {
        const struct roof_chart_line *const line = &chart->line[i];
        if (line->slope) {
            const bool named = chart->roofs > 1 && line->roof < chart->roofs;
            roof_text_printf(out, ", %s%s%s %s", named ? chart->roof[line->roof].hardware->id : "",
                             named ? " " : "", line->name,
                             roof_format_quantity(number, line->rate, ROOF_UNIT_GB_PER_S));
        }
    }
    roof_text_put(out, "\n");
    roof_text_fold_at(out, from, 2, line_width(l) - strlen(unit));
}

/* Explains lower-case letters, if there are any. */
static void put_key(struct roof_text *out, const struct roof_chart *chart,
                    const struct roof_chart_layout *l)
{
    const struct look look = look_of(chart, NULL);
    if (look.measured || look.expected) {
        roof_text_fill(out, ' ', AXIS_WIDTH);
        roof_text_printf(out, "%s: %s\n",
                         l->marks <= LETTERS ? "capital letter: bound, small" : "o",
                         !look.expected   ? "measured"
                         : !look.measured ? "expected"
                                          : "measured or expected");
    }
}

enum roof_status roof_chart_text(struct roof_text *out, const struct roof_chart *chart,
                                 const struct roof_chart_look *look, struct roof_error *error)
{
    const double columns = (double)look->columns;
    const double rows = fmin(fmax(floor(columns * 0.24), ROWS_MIN), ROWS_MAX);
    const struct roof_canvas canvas = {.width = columns,
                                       .height = rows + 2,
                                       .plot = {AXIS_WIDTH, 0, columns, rows},
                                       .beside = 1,
                                       .char_width = 1,
                                       .line_height = 1,
                                       .radius_min = 0.5,
                                       .radius_max = 0.5,
                                       .side_share = 0.42};
    struct roof_chart_layout *layout = NULL;
    struct roof_page page = {.columns = look->columns,
                             .rows = (size_t)rows + 2,
                             .unicode = look->unicode,
                             .coloured = look->coloured};
    const enum roof_status status = roof_chart_lay_out(&layout, chart, &canvas, 0.75, error);
    if (status != ROOF_OK) {
        return status;
    }
    page.cell = calloc(page.columns * page.rows, sizeof *page.cell);
    if (page.cell == NULL) {
        roof_chart_layout_free(layout);
        return roof_no_memory(error);
    }
    if (chart->title[0] != '\0') {
        const size_t from = out->length;
        roof_text_printf(out, "%s\n", chart->title);
        roof_text_fold_at(out, from, 2, line_width(layout));
    }
    put_line(out, chart, layout, ROOF_NOTE_UNFIT);
    put_unit(out, chart, layout);
    draw(&page, chart, layout);
    roof_page_put(out, &page);
    roof_text_fill(out, ' ', AXIS_WIDTH);
    roof_text_put(out, "arithmetic intensity, FLOP/byte\n");
    put_key(out, chart, layout);
    put_legend(out, chart, layout, &page);
    free(page.cell);
    roof_chart_layout_free(layout);
    return ROOF_OK;
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void put_member(struct roof_text *out, const char *separator, const char *key, double value)
{
    roof_text_printf(out, "%s\"%s\": ", separator, key);
    roof_text_number(out, value);
}

static void put_roof(struct roof_text *out, const struct roof_chart_roof *roof)
{
    roof_text_put(out, "{\"hardware\": ");
    roof_json_quote(out, roof->hardware->id);
    put_member(out, ", ", "bandwidth_gb_s", roof_given(roof->bytes_per_s, ROOF_UNIT_GB_PER_S));
    roof_text_put(out, ", \"ceilings\": [");
    for (size_t i = 0; i < roof->ceilings; i++) {
        const struct roof_chart_ceiling *const c = &roof->ceiling[i];
        roof_text_printf(out, "%s\n      {\"unit\": \"%s\", \"formats\": [", i == 0 ? "" : ",",
                         roof_compute_unit_name(c->unit));
        for (size_t k = 0; k < c->formats; k++) {
            roof_text_printf(out, "%s\"%s\"", k == 0 ? "" : ", ", roof_format(c->format[k])->name);
        }
        roof_text_put(out, "]");
        put_member(out, ", ", "peak_tflops", roof_given(c->flops_per_s, ROOF_UNIT_TFLOPS));
        put_member(out, ", ", "ridge_point", c->ridge);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n    ]}");
}

/* Writes the notes on what the points are; others describe what an image does not draw. */
static void put_notes_json(struct roof_text *out, const struct roof_chart *chart)
{
    static const enum roof_chart_note notes[] = {ROOF_NOTE_UNFIT, ROOF_NOTE_ABOUT,
                                                 ROOF_NOTE_LEFT_OUT, ROOF_NOTE_UNKNOWN};
    struct roof_text note = ROOF_TEXT_INIT;
    size_t count = 0;
    for (size_t i = 0; i < COUNT(notes); i++) {
        roof_chart_note(&note, chart, notes[i]);
        roof_json_note(out, ",\n  ", &note, &count);
    }
    roof_text_put(out, count > 0 ? "]" : "");
    roof_text_free(&note);
}

void roof_chart_json(struct roof_text *out, const struct roof_chart *chart)
{
    struct roof_table table;
    roof_text_put(out, "{\n  \"schema\": \"roofline/chart/1\",\n  \"title\": ");
    roof_json_quote(out, chart->title);
    roof_text_put(out, ",\n  \"devices\": [");
    for (size_t i = 0; i < chart->roofs; i++) {
        roof_text_put(out, i == 0 ? "\n    " : ",\n    ");
        put_roof(out, &chart->roof[i]);
    }
    roof_text_put(out, "\n  ],\n  \"lines\": [");
    for (size_t i = 0; i < chart->lines; i++) {
        const struct roof_chart_line *const line = &chart->line[i];
        roof_text_put(out, i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ");
        roof_json_quote(out, line->name);
        if (line->roof < chart->roofs) {
            roof_text_put(out, ", \"hardware\": ");
            roof_json_quote(out, chart->roof[line->roof].hardware->id);
        }
        if (line->bend > 0) {
            put_member(out, ", ", "bandwidth_gb_s", roof_given(line->bend, ROOF_UNIT_GB_PER_S));
        }
        put_member(out, ", ", line->slope ? "bandwidth_gb_s" : "tflops",
                   roof_given(line->rate, line->slope ? ROOF_UNIT_GB_PER_S : ROOF_UNIT_TFLOPS));
        roof_text_put(out, "}");
    }
    roof_text_put(out, chart->lines == 0 ? "],\n  \"points\": [" : "\n  ],\n  \"points\": [");
    for (size_t i = 0; i < chart->dots; i++) {
        const struct roof_chart_dot *const dot = &chart->dot[i];
        roof_text_put(out, i == 0 ? "\n    {\"group\": " : ",\n    {\"group\": ");
        roof_json_quote(out, chart->group[dot->group]);
        if (!isnan(dot->share)) {
            put_member(out, ", ", "share_of_time", dot->share);
        }
        roof_text_put(out, ", \"name\": ");
        roof_json_quote(out, dot->node.node.name);
        roof_text_printf(out, ", \"count\": %" PRId64 ", ", dot->node.node.count);
        roof_table_open_members(&table, ROOF_TABLE_PREDICTIONS, dot->node.prediction.workload.op,
                                "");
        roof_table_prediction(&table, out, &dot->node.prediction);
        roof_text_put(out, "}");
    }
    roof_text_put(out, chart->dots == 0 ? "]" : "\n  ]");
    put_notes_json(out, chart);
    roof_text_printf(out, ",\n  \"left_out\": %zu\n}\n", chart->left_out);
}
