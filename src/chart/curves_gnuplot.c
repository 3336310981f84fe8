// SPDX-License-Identifier: MIT
/* Writes gnuplot scripts that draw curves: a block of data for each, and labels in free places. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "chart/curves.h"
#include "chart/script.h"

/* The layout is in pixels of an image; a font of FONT pixels has characters about CHARACTER wide.
 */
#define FONT 13.0
#define CHARACTER 7.3
#define SMALL (FONT - 2)
#define LINE 18.0
#define LEFT 82.0
#define RIGHT 34.0
#define BOTTOM 62.0
#define TITLE_TOP 24.0
#define LEGEND_TOP 50.0
#define LEGEND_GAP 46.0 /* the width of an item without its text */
#define SWATCH 22.0
#define POINT 4.0      /* the radius of a point */
#define POINT_SIZE 0.9 /* the point size in gnuplot for that radius */
#define BEHIND_SIZE 0.4
#define BEHIND_SHAPE 7
#define BEHIND_ALPHA "B0"
/* Points behind the front that nearly cover each other are drawn once in each such square. */
#define BEHIND_CELL 4.0
#define CELLS 512
#define DASHED "linewidth 1.4 dashtype (10,6)"
#define LABELS_MAX 200
#define TICK_SLACK 1e-6
/* The number of points on a line that are tested against the box of a label. */
#define STEPS 48
/* The least fraction of the height for the plot. */
#define HEIGHT_SHARE 0.3

/* The palette of Okabe and Ito, which is safe for colour blindness, and five darker colours: enough
 * for all curves of a chart that have a bound. In grey the shapes differ. */
static const char *const colours[] = {"0072B2", "D55E00", "009E73", "CC79A7", "E69F00", "56B4E9",
                                      "404040", "882255", "332288", "999933", "8B4513", "44AA99"};
/* The numbers of filled shapes in gnuplot. */
static const int shapes[] = {7, 5, 9, 11, 13, 15};

struct box {
    double left, top, right, bottom;
};

struct drawing {
    struct roof_text *out;
    const struct roof_curves *curves;
    enum roof_chart_image image;
    double width, height; /* of the layout */
    double scale;         /* pixels of the image per pixel of the layout */
    double legend_top;    /* middle of the first line of the legend */
    struct box plot;
    struct box taken[LABELS_MAX]; /* boxes of labels */
    size_t labels;
};

static const char *colour_of(const struct drawing *d, size_t curve)
{
    return colours[roof_curve_number(d->curves, curve) % COUNT(colours)];
}

static int shape_of(const struct drawing *d, size_t curve)
{
    const size_t number = roof_curve_number(d->curves, curve);
    /* A colour that is used again has another shape. */
    return shapes[(number + number / COUNT(colours)) % COUNT(shapes)];
}

static bool is_bound(const struct drawing *d, size_t curve)
{
    return d->curves->curve[curve].of != curve;
}

static void put_place(const struct drawing *d, double x, double y)
{
    roof_text_put(d->out, "screen ");
    roof_script_number(d->out, x / d->width);
    roof_text_put(d->out, ",");
    roof_script_number(d->out, 1 - y / d->height);
}

static void put_label(const struct drawing *d, const char *text, double x, double y,
                      const char *place, double size, const char *colour)
{
    char ink[ROOF_INK_SIZE];
    roof_text_put(d->out, "set label ");
    roof_script_quote(d->out, text);
    roof_text_put(d->out, " at ");
    put_place(d, x, y);
    roof_text_printf(d->out, " %s front textcolor rgb '#%s' font ',", place,
                     roof_script_ink(ink, colour));
    roof_script_number(d->out, roof_script_text_size(d->image, size * d->scale));
    roof_text_put(d->out, "'\n");
}

static void put_line(const struct drawing *d, double x0, double x1, double y, const char *style,
                     const char *colour)
{
    roof_text_put(d->out, "set arrow from ");
    put_place(d, x0, y);
    roof_text_put(d->out, " to ");
    put_place(d, x1, y);
    roof_text_printf(d->out, " nohead front %s linecolor rgb '#%s'\n", style, colour);
}

static double x_of(const struct drawing *d, double x)
{
    return d->plot.left + roof_curve_place(&d->curves->x, x) * (d->plot.right - d->plot.left);
}

static double y_of(const struct drawing *d, double y)
{
    return d->plot.bottom - roof_curve_place(&d->curves->y, y) * (d->plot.bottom - d->plot.top);
}

static struct roof_script_title title_of(const struct drawing *d)
{
    return roof_script_title(d->curves->title, d->width - LEFT - 8, FONT + 4, FONT);
}

/* --- the legend ---------------------------------------------------------------------------- */

/* The rows and the width of a legend during layout. */
struct legend {
    double x;
    size_t row;
    bool drawn; /* it is drawn; otherwise only its rows are counted */
};

/* Writes the name of a curve beside a piece of its line (NULL: none), with its shape (0: none).
 */
static void put_item(const struct drawing *d, struct legend *legend, const char *name,
                     const char *style, const char *colour, int shape)
{
    const double width = LEGEND_GAP + roof_script_text_width(name, FONT - 1);
    if (legend->x > LEFT && legend->x + width > d->width - RIGHT + LEGEND_GAP / 2) {
        legend->x = LEFT;
        legend->row++;
    }
    if (legend->drawn) {
        const double y = d->legend_top + LINE * (double)legend->row;
        if (style != NULL) {
            put_line(d, legend->x, legend->x + SWATCH, y, style, colour);
        }
        if (shape > 0) {
            roof_text_put(d->out, "set label '' at ");
            put_place(d, legend->x + SWATCH / 2, y);
            roof_text_printf(d->out, " point pointtype %d pointsize ", shape);
            roof_script_number(d->out, (style == NULL ? BEHIND_SIZE : POINT_SIZE) *
                                           roof_script_points(d->image, d->scale));
            roof_text_printf(d->out, " linecolor rgb '#%s' front\n", colour);
        }
        put_label(d, name, legend->x + SWATCH + 6, y, "left", FONT - 1, "202020");
    }
    legend->x += width;
}

/* Arranges the names of the curves in rows, and returns the number of rows. */
static size_t put_legend(const struct drawing *d, bool drawn)
{
    struct legend legend = {.x = LEFT, .drawn = drawn};
    bool bounds = false;
    for (size_t c = 0; c < d->curves->curves; c++) {
        bounds = bounds || is_bound(d, c);
        if (!is_bound(d, c)) {
            put_item(d, &legend, d->curves->curve[c].name, "linewidth 1.8", colour_of(d, c),
                     d->curves->dense ? 0 : shape_of(d, c));
        }
    }
    if (bounds) {
        put_item(d, &legend, "lower bound", DASHED, "606060", 0);
    }
    if (roof_curves_behind(d->curves)) {
        put_item(d, &legend, ROOF_CURVES_BEHIND, NULL, BEHIND_ALPHA "606060", BEHIND_SHAPE);
    }
    return legend.row + 1;
}

/* --- labels -------------------------------------------------------------------------------- */

static bool overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* Returns true if a line between two points crosses a box. */
static bool crosses(const struct drawing *d, const struct roof_curve_point *from,
                    const struct roof_curve_point *to, const struct box *box)
{
    for (int i = 0; i <= STEPS; i++) {
        const double part = (double)i / STEPS;
        const double x = x_of(d, from->x) * (1 - part) + x_of(d, to->x) * part;
        const double y = y_of(d, from->y) * (1 - part) + y_of(d, to->y) * part;
        if (x > box->left && x < box->right && y > box->top && y < box->bottom) {
            return true;
        }
    }
    return false;
}

/* Returns true if a box is free for a label: inside the plot, and apart from labels, points and
 * lines. */
static bool is_free(const struct drawing *d, const struct box *box)
{
    if (box->left < d->plot.left + 2 || box->right > d->width - 4 ||
        box->top < d->plot.top - LINE || box->bottom > d->plot.bottom - 2) {
        return false;
    }
    for (size_t i = 0; i < d->labels; i++) {
        if (overlap(box, &d->taken[i])) {
            return false;
        }
    }
    const struct roof_curve_point *last = NULL;
    for (size_t i = 0; i < d->curves->points; i++) {
        const struct roof_curve_point *const point = &d->curves->point[i];
        const double x = x_of(d, point->x);
        const double y = y_of(d, point->y);
        const struct box at = {x - POINT, y - POINT, x + POINT, y + POINT};
        if (point->behind) {
            continue;
        }
        if (overlap(box, &at) ||
            (last != NULL && last->curve == point->curve && crosses(d, last, point, box))) {
            return false;
        }
        last = point;
    }
    return true;
}

/* Places the label of a point in a free box; otherwise the label is left out. */
static void label_point(struct drawing *d, const struct roof_curve_point *point)
{
    static const double beside[][2] = {{1, -1}, {1, -0.2}, {-1, 1}, {1, 1}, {-1, -1}, {-1, 0}};
    const double width = SMALL / FONT * CHARACTER * (double)roof_text_width(point->label);
    for (size_t i = 0; i < COUNT(beside) && d->labels < LABELS_MAX; i++) {
        const double x = x_of(d, point->x) + beside[i][0] * (POINT + 4);
        const double y = y_of(d, point->y) + beside[i][1] * (POINT + 6);
        const struct box box = {beside[i][0] > 0 ? x : x - width, y - SMALL / 2,
                                beside[i][0] > 0 ? x + width : x, y + SMALL / 2};
        if (is_free(d, &box)) {
            d->taken[d->labels++] = box;
            put_label(d, point->label, x, y, beside[i][0] > 0 ? "left boxed" : "right boxed", SMALL,
                      colour_of(d, point->curve));
            return;
        }
    }
}

/* Labels a limit at one end of its line, above or below it, in a free box. */
static void label_limit(struct drawing *d, const char *name, double y)
{
    const double width = CHARACTER * (double)roof_text_width(name);
    const double left[] = {d->plot.left + 8, d->plot.right - 8 - width};
    const double middle[] = {y - 10, y + 10};
    struct box box = {0};
    for (int i = 0; i < 5; i++) { /* the last try repeats the first, which is the fallback */
        const double x = left[i / 2 % 2];
        const double at = middle[i % 2];
        box = (struct box){x, at - 7, x + width, at + 7};
        if (is_free(d, &box)) {
            break;
        }
    }
    put_label(d, name, box.left, (box.top + box.bottom) / 2, "left boxed", FONT - 1, "B00020");
    if (d->labels < LABELS_MAX) {
        d->taken[d->labels++] = box;
    }
}

/* Draws the line of an event, and its name beside it at the top. */
static void put_event(struct drawing *d)
{
    const struct roof_curve_event *const event = &d->curves->event;
    if (!(event->x > 0)) {
        return;
    }
    const double x = x_of(d, event->x);
    const double width = CHARACTER * (double)roof_text_width(event->name);
    const double left = x + 6 + width < d->plot.right ? x + 6 : x - 6 - width;
    const double top = d->plot.top + LINE / 2;
    roof_text_put(d->out, "set arrow from ");
    put_place(d, x, d->plot.bottom);
    roof_text_put(d->out, " to ");
    put_place(d, x, d->plot.top);
    roof_text_put(d->out, " nohead front linewidth 1.4 dashtype 4 linecolor rgb '#606060'\n");
    put_label(d, event->name, left, top, "left boxed", FONT - 1, "404040");
    if (d->labels < LABELS_MAX) {
        d->taken[d->labels++] = (struct box){left, top - 7, left + width, top + 7};
    }
}

static void put_labels(struct drawing *d)
{
    put_event(d);
    for (size_t i = 0; i < d->curves->limits; i++) {
        const double y = y_of(d, d->curves->limit[i].y);
        put_line(d, d->plot.left, d->plot.right, y, "linewidth 1.4 dashtype 4", "B00020");
        label_limit(d, d->curves->limit[i].name, y);
    }
    for (size_t i = 0; i < d->curves->points; i++) {
        const struct roof_curve_point *const point = &d->curves->point[i];
        if (!point->behind && point->label[0] != '\0') {
            label_point(d, point);
        }
    }
}

/* --- data ---------------------------------------------------------------------------------- */

/* The squares of the plot in which a curve has a point behind its front. */
struct cells {
    uint64_t taken[CELLS][CELLS / 64]; /* a bit each */
};

/* Returns true if a point is the first in its square, which it then takes. */
static bool take_cell(struct cells *cells, const struct drawing *d,
                      const struct roof_curve_point *point)
{
    const double x = (x_of(d, point->x) - d->plot.left) / BEHIND_CELL;
    const double y = (y_of(d, point->y) - d->plot.top) / BEHIND_CELL;
    if (!(x >= 0 && x < CELLS && y >= 0 && y < CELLS)) { /* in a poster, beyond the squares */
        return true;
    }
    uint64_t *const taken = &cells->taken[(size_t)y][(size_t)x / 64];
    const uint64_t bit = UINT64_C(1) << (size_t)x % 64;
    const bool first = (*taken & bit) == 0;
    *taken |= bit;
    return first;
}

/* Writes a block of data with the points of a curve on its front, or behind it. */
static void put_data(const struct drawing *d, size_t curve, bool behind)
{
    struct cells cells = {{{0}}};
    roof_text_printf(d->out, "$%s_%zu << EOD\n", behind ? "behind" : "curve", curve + 1);
    for (size_t i = 0; i < d->curves->points; i++) {
        const struct roof_curve_point *const point = &d->curves->point[i];
        if (point->curve == curve && point->behind == behind &&
            (!behind || take_cell(&cells, d, point))) {
            roof_text_number(d->out, point->x);
            roof_text_put(d->out, " ");
            roof_text_number(d->out, point->y);
            roof_text_put(d->out, "\n");
        }
    }
    roof_text_put(d->out, "EOD\n");
}

static void put_axis(const struct drawing *d, char letter, const struct roof_curve_axis *axis)
{
    char text[ROOF_QUANTITY_SIZE];
    if (axis->scale != ROOF_SCALE_LINEAR) {
        roof_text_printf(d->out, "set logscale %c\n", letter);
    }
    /* gnuplot leaves a tick out that is at the start of a logarithmic axis, up to rounding. */
    const double slack = axis->scale == ROOF_SCALE_LINEAR ? 0 : TICK_SLACK;
    roof_text_printf(d->out, "set %crange [", letter);
    roof_text_number(d->out, axis->min * (1 - slack));
    roof_text_put(d->out, ":");
    roof_text_number(d->out, axis->max * (1 + slack));
    roof_text_printf(d->out, "]\nset %ctics (", letter);
    for (size_t i = 0; i < axis->ticks; i++) {
        roof_text_printf(d->out, "%s\"%s\" ", i == 0 ? "" : ", ",
                         roof_format_short(text, axis->tick[i]));
        roof_text_number(d->out, axis->tick[i]);
    }
    roof_text_printf(d->out, ")\nset %clabel ", letter);
    roof_script_quote(d->out, axis->name);
    roof_text_put(d->out, " textcolor rgb '#404040'\n");
}

static void put_head(const struct drawing *d)
{
    roof_text_put(d->out, "# A chart of curves. gnuplot FILE > image\n");
    roof_script_terminal(d->out, d->image, round(d->width * d->scale), round(d->height * d->scale),
                         FONT, d->scale);
    roof_script_margins(d->out, d->plot.left / d->width, d->plot.right / d->width,
                        1 - d->plot.top / d->height, 1 - d->plot.bottom / d->height);
    put_axis(d, 'x', &d->curves->x);
    put_axis(d, 'y', &d->curves->y);
    roof_text_put(
        d->out,
        "set border 3 linewidth 1 linecolor rgb '#808080'\n"
        "set tics nomirror textcolor rgb '#404040'\n"
        "set grid xtics ytics back linetype 1 dashtype 1 linewidth 1 linecolor rgb '#e2e2e2'\n"
        "unset key\n"
        "set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0\n");
}

static void put_plot(const struct drawing *d)
{
    roof_text_put(d->out, "plot \\\n");
    for (size_t c = 0; c < d->curves->curves && d->curves->front; c++) {
        roof_text_printf(d->out, "  $behind_%zu using 1:2 with points pointtype %d pointsize ",
                         c + 1, BEHIND_SHAPE);
        roof_script_number(d->out, BEHIND_SIZE * roof_script_points(d->image, d->scale));
        roof_text_printf(d->out, " linecolor rgb '#" BEHIND_ALPHA "%s', \\\n", colour_of(d, c));
    }
    for (size_t c = 0; c < d->curves->curves; c++) {
        const char *const colour = colour_of(d, c);
        if (is_bound(d, c)) {
            roof_text_printf(d->out,
                             "  $curve_%zu using 1:2 with lines " DASHED " "
                             "linecolor rgb '#%s', \\\n",
                             c + 1, colour);
        } else if (d->curves->dense) {
            roof_text_printf(d->out,
                             "  $curve_%zu using 1:2 with lines linewidth 1.4 "
                             "linecolor rgb '#%s', \\\n",
                             c + 1, colour);
        } else {
            roof_text_printf(d->out,
                             "  $curve_%zu using 1:2 with linespoints linewidth 1.8 "
                             "pointtype %d pointsize ",
                             c + 1, shape_of(d, c));
            roof_script_number(d->out, POINT_SIZE * roof_script_points(d->image, d->scale));
            roof_text_printf(d->out, " linecolor rgb '#%s', \\\n", colour);
        }
    }
    roof_text_put(d->out, "  NaN notitle\n");
}

/* Lays out the lines below the plot. Returns their number. */
static size_t lay_notes(struct roof_text *out, const struct roof_curves *curves, double width)
{
    size_t lines = 0;
    roof_curves_notes(out, curves, 0, (size_t)((width - LEFT) / (CHARACTER / FONT * SMALL)));
    for (size_t i = 0; i < out->length; i++) {
        lines += out->data[i] == '\n';
    }
    return lines;
}

static void put_notes(const struct drawing *d, struct roof_text *notes, size_t lines)
{
    char *line = notes->failed ? NULL : notes->data;
    for (size_t i = 0; i < lines && line != NULL; i++) {
        char *const end = strchr(line, '\n');
        *end = '\0';
        put_label(d, line, LEFT, d->height - 10 - LINE * (double)(lines - 1 - i), "left", SMALL,
                  "606060");
        line = end + 1;
    }
    d->out->failed |= notes->failed;
}

static void put_around(const struct drawing *d)
{
    const struct roof_script_title title = title_of(d);
    for (size_t i = 0; i < title.lines; i++) {
        put_label(d, title.line[i], LEFT, TITLE_TOP + LINE * (double)i, "left", title.font,
                  "202020");
    }
    (void)put_legend(d, true);
}

enum roof_status roof_curves_gnuplot(struct roof_text *out, const struct roof_curves *curves,
                                     enum roof_chart_image image, int pixels_x, int pixels_y,
                                     struct roof_error *error)
{
    const double scale = roof_script_scale(pixels_x, pixels_y);
    struct drawing *const d = calloc(1, sizeof *d);
    if (d == NULL) {
        return roof_no_memory(error);
    }
    *d = (struct drawing){.out = out,
                          .curves = curves,
                          .image = image,
                          .scale = scale,
                          .width = pixels_x / scale,
                          .height = pixels_y / scale};
    const double width = d->width;
    const double height = d->height;
    const double legend = LINE * (double)put_legend(d, false);
    struct roof_text notes = ROOF_TEXT_INIT;
    const size_t lines = lay_notes(&notes, curves, width);
    const double bottom = height - BOTTOM - LINE * (double)lines;
    d->legend_top = LEGEND_TOP + (title_of(d).lines > 1 ? LINE : 0);
    d->plot = (struct box){LEFT, d->legend_top + legend + 4, width - RIGHT, bottom};
    if (bottom - d->plot.top < HEIGHT_SHARE * height) {
        roof_text_free(&notes);
        free(d);
        return roof_error_set(error, ROOF_USAGE,
                              "an image of %dx%d is too small for the names of %zu curves: give it "
                              "a larger " ROOF_KEY("size"),
                              pixels_x, pixels_y, curves->curves);
    }
    put_head(d);
    for (size_t c = 0; c < curves->curves; c++) {
        put_data(d, c, false);
        if (curves->front) {
            put_data(d, c, true);
        }
    }
    put_labels(d);
    put_around(d);
    put_notes(d, &notes, lines);
    roof_text_free(&notes);
    put_plot(d);
    free(d);
    return ROOF_OK;
}
