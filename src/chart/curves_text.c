// SPDX-License-Identifier: MIT
/* Draws curves in characters: letters at the points, lines between them, tables below. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "chart/curves.h"
#include "chart/page.h"

#define ROWS_MIN 16
#define ROWS_MAX 32
#define ROWS_SHARE 0.26 /* rows of the plot / its columns */
/* The columns to the left of the plot, and the free ones on its right. */
#define AXIS_WIDTH 8
#define RIGHT 2
/* The columns between letters on a dense curve. */
#define MARKS_APART 12
/* The points per column of a line. */
#define STEPS 4
/* The tables below a chart. */
#define TABLE_FIRST 10
#define TABLE_COLUMN 10
#define FRONT_COLUMN 12

struct drawing {
    struct roof_text *out;
    const struct roof_curves *curves;
    struct roof_page page;
};

/* Returns the letter of a curve; a lower bound has the letter of its curve. */
static char letter_of(const struct roof_curves *curves, size_t curve)
{
    return (char)('A' + roof_curve_number(curves, curve));
}

static bool is_bound(const struct roof_curves *curves, size_t curve)
{
    return curves->curve[curve].of != curve;
}

static double column_of(const struct drawing *d, double x)
{
    const double width = (double)d->page.columns - AXIS_WIDTH - RIGHT;
    return AXIS_WIDTH + roof_curve_place(&d->curves->x, x) * width;
}

static double row_of(const struct drawing *d, double y)
{
    return (1 - roof_curve_place(&d->curves->y, y)) * ((double)d->page.rows - 3);
}

static void draw_axes(const struct drawing *d)
{
    const struct roof_page *const page = &d->page;
    const double bottom = (double)page->rows - 2;
    char text[ROOF_QUANTITY_SIZE];
    double free_from = 0;
    for (size_t y = 0; y + 2 < page->rows; y++) {
        roof_page_write(page, AXIS_WIDTH - 1, (double)y, page->unicode ? "\u2502" : "|");
    }
    roof_page_write(page, AXIS_WIDTH - 1, bottom, page->unicode ? "\u2514" : "+");
    for (size_t x = AXIS_WIDTH; x < page->columns; x++) {
        roof_page_write(page, (double)x, bottom, page->unicode ? "\u2500" : "-");
    }
    for (size_t i = 0; i < d->curves->y.ticks; i++) {
        const double y = row_of(d, d->curves->y.tick[i]);
        roof_format_short(text, d->curves->y.tick[i]);
        roof_page_write(page, fmax(AXIS_WIDTH - 2 - (double)strlen(text), 0), y, text);
        roof_page_write(page, AXIS_WIDTH - 1, y, page->unicode ? "\u2524" : "+");
    }
    for (size_t i = 0; i < d->curves->x.ticks; i++) {
        const double x = floor(column_of(d, d->curves->x.tick[i]));
        roof_format_short(text, d->curves->x.tick[i]);
        const double width = (double)strlen(text);
        const double begin = fmin(x - floor(width / 2), (double)page->columns - width);
        roof_page_write(page, x, bottom, page->unicode ? "\u252c" : "+");
        if (begin >= free_from) {
            roof_page_write(page, begin, bottom + 1, text);
            free_from = begin + width + 1;
        }
    }
}

/* Draws the line between two points of a curve. */
static void draw_line(const struct drawing *d, const struct roof_curve_point *from,
                      const struct roof_curve_point *to)
{
    const bool dashed = is_bound(d->curves, to->curve);
    const double x0 = column_of(d, from->x);
    const double y0 = row_of(d, from->y);
    const double x1 = column_of(d, to->x);
    const double y1 = row_of(d, to->y);
    const int count = (int)ceil(STEPS * fmax(fabs(x1 - x0), fabs(y1 - y0))) + 1;
    for (int i = 0; i <= count; i++) {
        const double x = x0 + (x1 - x0) * i / count;
        if (!dashed || (int)x % 2 == 0) {
            roof_page_ink(&d->page, x, y0 + (y1 - y0) * i / count, dashed ? '.' : '-');
        }
    }
}

static void draw_limits(const struct drawing *d)
{
    for (size_t i = 0; i < d->curves->limits; i++) {
        const struct roof_curve_limit *const limit = &d->curves->limit[i];
        const double y = row_of(d, limit->y);
        for (size_t x = AXIS_WIDTH; x < d->page.columns; x += 2) {
            roof_page_ink(&d->page, (double)x, y, '=');
        }
        roof_page_write(&d->page, AXIS_WIDTH + 1, y, limit->name);
    }
}

/* Draws the line of an event, with its name on the side with more room. */
static void draw_event(const struct drawing *d)
{
    const struct roof_curve_event *const event = &d->curves->event;
    if (event->x > 0) {
        const double x = floor(column_of(d, event->x));
        const double width = (double)strlen(event->name);
        for (size_t y = 0; y + 2 < d->page.rows; y++) {
            roof_page_write(&d->page, x, (double)y, ":");
        }
        roof_page_write(&d->page, x + 2 + width < (double)d->page.columns ? x + 2 : x - 1 - width,
                        0, event->name);
    }
}

/* Returns the column of the next letter on a curve in a dense chart. */
static double next_mark(const struct drawing *d, size_t point)
{
    const double apart = MARKS_APART + (double)d->curves->point[point].curve;
    const double before = point > 0 ? column_of(d, d->curves->point[point - 1].x) : 0;
    return apart * (floor(before / apart) + 1);
}

static void draw(struct drawing *d)
{
    const struct roof_curves *const curves = d->curves;
    const struct roof_curve_point *last = NULL;
    draw_axes(d);
    for (size_t i = 0; i < curves->points; i++) {
        const struct roof_curve_point *const point = &curves->point[i];
        roof_page_colour(&d->page, roof_curve_number(curves, point->curve) + 1);
        if (point->behind) {
            roof_page_ink(&d->page, column_of(d, point->x), row_of(d, point->y), '.');
            continue;
        }
        if (last != NULL && last->curve == point->curve) {
            draw_line(d, last, point);
        }
        last = point;
    }
    roof_page_colour(&d->page, 0);
    draw_event(d);
    draw_limits(d);
    for (size_t i = 0; i < curves->points; i++) {
        const struct roof_curve_point *const point = &curves->point[i];
        if (curves->dense && i + 1 < curves->points && point[1].curve == point->curve &&
            column_of(d, point->x) < next_mark(d, i)) {
            continue;
        }
        uint32_t *const cell =
            roof_page_cell(&d->page, column_of(d, point->x), row_of(d, point->y));
        if (cell != NULL && !point->behind && !is_bound(curves, point->curve)) {
            roof_page_colour(&d->page, roof_curve_number(curves, point->curve) + 1);
            *cell = (uint32_t)(unsigned char)letter_of(curves, point->curve) | d->page.ink;
        }
    }
}

/* --- tables -------------------------------------------------------------------------------- */

/* Writes a number in a column, right-aligned. */
static void put_cell(struct roof_text *out, const char *text, size_t width)
{
    const size_t length = roof_text_width(text);
    roof_text_fill(out, ' ', length < width ? width - length : 1);
    roof_text_put(out, text);
}

static void put_number(struct roof_text *out, double value, int decimals, size_t width)
{
    char text[ROOF_QUANTITY_SIZE];
    (void)snprintf(text, sizeof text, "%.*f", decimals, value);
    put_cell(out, isnan(value) ? "-" : text, width);
}

/* Returns the decimals of all values of x, so that each is exact, or has three decimals. */
static int x_decimals(const struct roof_curves *curves)
{
    int decimals = 0;
    for (size_t i = 0; i < curves->points; i++) {
        double shown = curves->point[i].x * pow(10, decimals);
        while (decimals < 3 && fabs(shown - round(shown)) > 1e-6 * shown) {
            shown *= 10;
            decimals++;
        }
    }
    return decimals;
}

/* Returns the decimals of one axis of the drawn points of a curve, or of all curves. */
static int decimals_of(const struct roof_curves *curves, size_t curve, bool x)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < curves->points; i++) {
        const struct roof_curve_point *const point = &curves->point[i];
        if (!point->behind && (curve == curves->curves || point->curve == curve)) {
            least = fmin(least, x ? point->x : point->y);
        }
    }
    return roof_page_decimals(least);
}

/* Returns the value of a curve at x; NAN: there is none. */
static double value_at(const struct roof_curves *curves, size_t curve, double x)
{
    for (size_t i = 0; i < curves->points; i++) {
        if (curves->point[i].curve == curve && curves->point[i].x == x) {
            return curves->point[i].y;
        }
    }
    return ROOF_UNKNOWN;
}

/* Returns the least x of all points above another; infinite: there is none. */
static double next_x(const struct roof_curves *curves, double x)
{
    double next = HUGE_VAL;
    for (size_t i = 0; i < curves->points; i++) {
        next = curves->point[i].x > x ? fmin(next, curves->point[i].x) : next;
    }
    return next;
}

/* Writes the letters of the curves. */
static void put_legend(const struct drawing *d)
{
    const struct roof_curves *const curves = d->curves;
    roof_text_put(d->out, "\n");
    for (size_t c = 0; c < curves->curves; c++) {
        if (!is_bound(curves, c)) {
            roof_text_printf(d->out, "  %c  %s%s\n", letter_of(curves, c), curves->curve[c].name,
                             c + 1 < curves->curves && is_bound(curves, c + 1)
                                 ? "; dashed: its lower bound"
                                 : "");
        }
    }
}

/* Writes a row per x and a column per curve, with as many columns as fit side by side. */
static void put_table(const struct drawing *d)
{
    const struct roof_curves *const curves = d->curves;
    const size_t side = (d->page.columns - TABLE_FIRST) / TABLE_COLUMN;
    const int decimals = x_decimals(curves);
    char name[] = "A bound";
    for (size_t first = 0; first < curves->curves; first += side) {
        const size_t end = first + side < curves->curves ? first + side : curves->curves;
        roof_text_printf(d->out, "\n%s\n", curves->y.name);
        put_cell(d->out, strlen(curves->x.name) < TABLE_FIRST ? curves->x.name : "", TABLE_FIRST);
        for (size_t c = first; c < end; c++) {
            name[0] = letter_of(curves, c);
            name[1] = is_bound(curves, c) ? ' ' : '\0';
            put_cell(d->out, name, TABLE_COLUMN);
        }
        roof_text_put(d->out, "\n");
        double x = next_x(curves, 0);
        while (isfinite(x)) {
            put_number(d->out, x, decimals, TABLE_FIRST);
            for (size_t c = first; c < end; c++) {
                put_number(d->out, value_at(curves, c, x), decimals_of(curves, c, false),
                           TABLE_COLUMN);
            }
            roof_text_put(d->out, "\n");
            x = next_x(curves, x);
        }
    }
}

/* Writes the names of the axes in two lines above the columns of a front, broken at their first
 * blank, beside the name of its curve. */
static void put_front_head(const struct drawing *d, size_t curve, size_t widest)
{
    const struct roof_curves *const curves = d->curves;
    const char *const axis[] = {curves->x.name, curves->y.name};
    const char *const name = curves->curve[curve].name;
    const size_t width = roof_text_width(name);
    roof_text_printf(d->out, "\n  %c  %s", letter_of(curves, curve), name);
    if (width > widest) {
        roof_text_put(d->out, "\n     ");
    }
    roof_text_fill(d->out, ' ', width > widest ? widest : widest - width);
    for (int line = 0; line < 2; line++) {
        for (size_t i = 0; i < COUNT(axis); i++) {
            char part[ROOF_CHART_NAME_SIZE];
            const size_t first = strcspn(axis[i], " ");
            const char *const rest = axis[i][first] == '\0' ? "" : axis[i] + first + 1;
            (void)snprintf(part, sizeof part, "%.*s", line == 0 ? (int)first : (int)sizeof part,
                           line == 0 ? axis[i] : rest);
            put_cell(d->out, part, FRONT_COLUMN);
        }
        roof_text_put(d->out, "\n");
        roof_text_fill(d->out, ' ', line == 0 ? widest + 5 : 0);
    }
}

/* Writes the points on the front of each curve. */
static void put_fronts(const struct drawing *d)
{
    const struct roof_curves *const curves = d->curves;
    const int x_digits = decimals_of(curves, curves->curves, true);
    const int y_digits = decimals_of(curves, curves->curves, false);
    size_t widest = 0;
    for (size_t i = 0; i < curves->points; i++) {
        const size_t width = roof_text_width(curves->point[i].label);
        widest = curves->point[i].behind || width < widest ? widest : width;
    }
    for (size_t c = 0; c < curves->curves; c++) {
        put_front_head(d, c, widest);
        for (size_t i = curves->points; i-- > 0;) {
            const struct roof_curve_point *const point = &curves->point[i];
            if (point->curve == c && !point->behind) {
                roof_text_printf(d->out, "     %s", point->label);
                roof_text_fill(d->out, ' ', widest - roof_text_width(point->label));
                put_number(d->out, point->x, x_digits, FRONT_COLUMN);
                put_number(d->out, point->y, y_digits, FRONT_COLUMN);
                roof_text_put(d->out, "\n");
            }
        }
    }
}

static void put_chart(struct drawing *d)
{
    const struct roof_curves *const curves = d->curves;
    if (curves->title[0] != '\0') {
        roof_text_printf(d->out, "%s\n", curves->title);
    }
    roof_text_printf(d->out, "%s\n", curves->y.name);
    draw(d);
    roof_page_put(d->out, &d->page);
    roof_text_fill(d->out, ' ', AXIS_WIDTH);
    roof_text_printf(d->out, "%s\n", curves->x.name);
    if (curves->front) {
        put_fronts(d);
        roof_text_put(d->out, roof_curves_behind(curves) ? "\n  .  " ROOF_CURVES_BEHIND "\n" : "");
    } else {
        put_legend(d);
        if (!curves->dense) {
            put_table(d);
        }
    }
    roof_text_put(d->out, "\n");
    const size_t length = d->out->length;
    roof_curves_notes(d->out, curves, 2,
                      d->page.columns < ROOF_PAGE_WIDTH ? d->page.columns : ROOF_PAGE_WIDTH);
    if (d->out->length == length && !d->out->failed) { /* there are none */
        d->out->data[--d->out->length] = '\0';
    }
}

enum roof_status roof_curves_text(struct roof_text *out, const struct roof_curves *curves,
                                  const struct roof_chart_look *look, struct roof_error *error)
{
    const double rows = fmin(fmax(floor((double)look->columns * ROWS_SHARE), ROWS_MIN), ROWS_MAX);
    struct drawing d = {out,
                        curves,
                        {.columns = look->columns,
                         .rows = (size_t)rows + 2,
                         .unicode = look->unicode,
                         .coloured = look->coloured}};
    d.page.cell = calloc(d.page.columns * d.page.rows, sizeof *d.page.cell);
    if (d.page.cell == NULL) {
        return roof_no_memory(error);
    }
    put_chart(&d);
    free(d.page.cell);
    return ROOF_OK;
}
