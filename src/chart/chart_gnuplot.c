// SPDX-License-Identifier: MIT
/* Writes scripts for gnuplot. Lines and dots are blocks of data, which users may change; labels
 * have the positions from place.c, as fractions of the screen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/character.h"
#include "chart/chart_text.h"
#include "chart/note.h"
#include "chart/place.h"
#include "chart/script.h"

/* The layout is in pixels of an image; a font of FONT pixels has characters about CHARACTER wide.
 */
#define FONT 13.0
#define CHARACTER 7.3
#define LINE 18.0
#define RIDGE_RADIUS 2.5
#define LEGEND_RADIUS 5.0
#define LEGEND_LEFT 8.0 /* from the left of the plot to the middle of the first shape */
/* The number of points on a line that bends. */
#define BENT_POINTS 64
#define TITLE_TOP 24.0
#define EDGE 8.0        /* free at the right of a line of text */
#define LEGEND_TOP 52.0 /* from the top of the image to the middle of the first line */
#define LEGEND_GAP 32.0 /* the width of an item without its text */
#define PLOT_LEFT 78.0
#define PLOT_BOTTOM 66.0 /* below the plot */
/* The least fraction of the height for the plot. */
#define HEIGHT_SHARE 0.25
#define BESIDE 22.0 /* between the plot and the labels on its right */
/* The radius in pixels of a point of size 1, by terminal. */
static const double point_radius[] = {
    [ROOF_CHART_SVG] = 4.5, [ROOF_CHART_PNG] = 2.8, [ROOF_CHART_PDF] = 3.8};

/* The palette of Okabe and Ito, which is safe for colour blindness; in grey the shapes differ. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#000000"};
/* The numbers of filled shapes in gnuplot; the preceding number is the hollow shape. */
static const int shapes[] = {7, 5, 9, 11, 13, 15};
/* The first roof is dark; others use the first colours. */
static const char *const roof_colours[] = {"#404040", "#0072B2", "#D55E00",
                                           "#009E73", "#CC79A7", "#E69F00"};
#define TEXT_COLOUR "#202020"
#define GREY "#606060"
#define FAINT "#8A8A8A"   /* ticks of ceilings without dots */
#define WARNING "#B00020" /* a model that does not fit */
#define MEMORY_ZONE "#EEF5FA"
#define COMPUTE_ZONE "#FBF2EC"
#define TICK 8.0 /* length of the tick of a ceiling, in pixels */

struct drawing {
    struct roof_text *out;
    const struct roof_chart *chart;
    const struct roof_chart_layout *layout;
    enum roof_chart_image image;
    double scale; /* pixels of the image per pixel of the layout */
};

/* Writes the point size for a radius in the layout. */
static void put_radius(const struct drawing *d, double radius)
{
    roof_script_number(d->out,
                       radius / point_radius[d->image] * roof_script_points(d->image, d->scale));
}

/* Writes a position in pixels as "screen x,y". */
static void put_place(const struct drawing *d, double x, double y)
{
    const struct roof_canvas *const canvas = &d->layout->canvas;
    roof_text_put(d->out, "screen ");
    roof_script_number(d->out, x / canvas->width);
    roof_text_put(d->out, ",");
    roof_script_number(d->out, 1 - y / canvas->height);
}

static const char *roof_colour(const struct drawing *d, size_t roof)
{
    return roof < d->chart->roofs ? roof_colours[roof % COUNT(roof_colours)] : "#7F3C8D";
}

/* With several devices the colour shows the device, and the shape the group; with one device both
 * show the group. */
static const char *mark_colour(const struct drawing *d, size_t group, size_t roof)
{
    return d->chart->roofs > 1 ? roof_colour(d, roof) : colours[group % COUNT(colours)];
}

/* The colour of a mark's label: that of the mark if marks have several, and the label is its own.
 */
static const char *label_colour(const struct drawing *d, const struct roof_mark *mark)
{
    const bool several = d->chart->roofs > 1 || d->chart->groups > 1;
    return several && !mark->shared ? mark_colour(d, mark->group, mark->roof) : TEXT_COLOUR;
}

/* Writes a label: its text in a colour, left, centred or right of x, centred vertically at y. */
static void put_label(const struct drawing *d, const char *text, double x, double y,
                      const char *place, double size, const char *colour, double angle)
{
    char ink[ROOF_INK_SIZE];
    roof_text_put(d->out, "set label ");
    roof_script_quote(d->out, text);
    roof_text_put(d->out, " at ");
    put_place(d, x, y);
    roof_text_printf(d->out, " %s front textcolor rgb '#%s' font ',", place,
                     roof_script_ink(ink, colour + 1));
    roof_script_number(d->out, roof_script_text_size(d->image, size * d->scale));
    roof_text_put(d->out, "'");
    if (angle != 0) {
        roof_text_put(d->out, " rotate by ");
        roof_script_number(d->out, angle);
    }
    roof_text_put(d->out, "\n");
}

static void put_line(const struct drawing *d, double x0, double y0, double x1, double y1,
                     const char *colour)
{
    roof_text_put(d->out, "set arrow from ");
    put_place(d, x0, y0);
    roof_text_put(d->out, " to ");
    put_place(d, x1, y1);
    roof_text_printf(d->out, " nohead back linewidth 0.7 linecolor rgb '%s'\n", colour);
}

/* Writes a point of a block of data: FLOP/byte and TFLOP/s. */
static void put_point(struct roof_text *out, double intensity, double flops_per_s)
{
    roof_text_number(out, intensity);
    roof_text_put(out, " ");
    roof_text_number(out, roof_to_unit(flops_per_s, ROOF_UNIT_TFLOPS));
}

/* Writes a line between two points; a blank line ends it. */
static void put_segment(struct roof_text *out, double x0, double y0, double x1, double y1)
{
    put_point(out, x0, y0);
    roof_text_put(out, "\n");
    put_point(out, x1, y1);
    roof_text_put(out, "\n\n");
}

/* --- data ---------------------------------------------------------------------------------- */

static void put_head(const struct drawing *d)
{
    const struct roof_canvas *const canvas = &d->layout->canvas;
    roof_text_put(d->out, "# A roofline chart. gnuplot FILE > image\n");
    roof_script_terminal(d->out, d->image, round(canvas->width * d->scale),
                         round(canvas->height * d->scale), FONT, d->scale);
    roof_script_margins(d->out, canvas->plot.left / canvas->width,
                        canvas->plot.right / canvas->width, 1 - canvas->plot.top / canvas->height,
                        1 - canvas->plot.bottom / canvas->height);
    roof_text_put(d->out, "set logscale xy\nset xrange [");
    roof_text_number(d->out, d->layout->x_min);
    roof_text_put(d->out, ":");
    roof_text_number(d->out, d->layout->x_max);
    roof_text_put(d->out, "]\nset yrange [");
    roof_text_number(d->out, roof_to_unit(d->layout->y_min, ROOF_UNIT_TFLOPS));
    roof_text_put(d->out, ":");
    roof_text_number(d->out, roof_to_unit(d->layout->y_max, ROOF_UNIT_TFLOPS));
    roof_text_put(
        d->out,
        "]\nset format x '%g'\nset format y '%g'\n"
        "set border 3 linewidth 1 linecolor rgb '#808080'\n"
        "set tics nomirror textcolor rgb '#404040'\nset mxtics 10\nset mytics 10\n"
        "set grid xtics ytics back linetype 1 dashtype 1 linewidth 1 linecolor rgb '#e2e2e2'\n"
        "set xlabel 'Arithmetic intensity (FLOP/byte)' textcolor rgb '#404040'\n"
        "unset key\n"
        "set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0\n");
}

/* Writes the slope of a roof, or, if `roof` is NULL, the lines that are slopes. */
static void put_slopes(const struct drawing *d, const size_t *roof)
{
    const double from = d->layout->x_min;
    for (size_t i = 0; i < d->layout->slopes; i++) {
        const struct roof_slope *const s = &d->layout->slope[i];
        if (roof == NULL ? s->line : !s->line && s->roof == *roof) {
            put_segment(d->out, from, from * s->rate, s->to, s->to * s->rate);
        }
    }
}

/* Writes the points of a line that bends; a blank line ends it. */
static void put_bent(const struct drawing *d, const struct roof_side *s)
{
    const struct roof_chart_layout *const l = d->layout;
    for (int i = 0; i <= BENT_POINTS; i++) {
        const double x = l->x_min * pow(l->x_max / l->x_min, (double)i / BENT_POINTS);
        put_point(d->out, x, roof_chart_side_rate(s, x));
        roof_text_put(d->out, "\n");
    }
    roof_text_put(d->out, "\n");
}

/* Writes the ceilings of a roof for one kind of unit, or, if `roof` is NULL, the lines that are
 * level or bend. */
static void put_levels(const struct drawing *d, const size_t *roof, bool vector)
{
    const struct roof_chart_layout *const l = d->layout;
    for (size_t i = 0; i < l->sides; i++) {
        const struct roof_side *const s = &l->side[i];
        if (roof == NULL ? s->line
                         : !s->line && !s->tick && s->roof == *roof && s->vector == vector) {
            if (s->bend > 0) {
                put_bent(d, s);
                continue;
            }
            put_segment(d->out, fmax(s->from, l->x_min), s->rate, l->x_max, s->rate);
        }
    }
}

/* Writes blocks of data: for each roof its slope with the ceilings of its matrix units, those of
 * its vector units, and its ridge points; then the attainable rates. */
static void put_roofs(const struct drawing *d)
{
    const struct roof_chart_layout *const l = d->layout;
    for (size_t r = 0; r < d->chart->roofs; r++) {
        roof_text_printf(d->out, "$matrix_%zu << EOD\n", r + 1);
        put_slopes(d, &r);
        put_levels(d, &r, false);
        roof_text_printf(d->out, "EOD\n$vector_%zu << EOD\n", r + 1);
        put_levels(d, &r, true);
        roof_text_printf(d->out, "EOD\n$ridge_%zu << EOD\n", r + 1);
        for (size_t i = 0; i < l->sides; i++) {
            if (!l->side[i].line && !l->side[i].tick && l->side[i].roof == r) {
                put_point(d->out, l->side[i].from, l->side[i].rate);
                roof_text_put(d->out, "\n");
            }
        }
        roof_text_put(d->out, "EOD\n");
    }
    roof_text_put(d->out, "$lines << EOD\n");
    put_levels(d, NULL, false);
    put_slopes(d, NULL);
    roof_text_put(d->out, "EOD\n");
}

/* Writes the first dot of each mark: intensity, TFLOPS, size, shape, the translucent colour of its
 * area, the shape of its outline, and its colour. */
static void put_marks(const struct drawing *d)
{
    roof_text_put(d->out, "$bound << EOD\n");
    for (size_t i = 0; i < d->layout->marks; i++) {
        const struct roof_mark *const m = d->layout->by_size[i];
        const struct roof_prediction *const p = &d->chart->dot[m->first].node.prediction;
        const char *const colour = mark_colour(d, m->group, m->roof) + 1;
        const int shape = shapes[m->group % COUNT(shapes)];
        put_point(d->out, p->intensity, p->attainable_flops_per_s);
        roof_text_put(d->out, " ");
        put_radius(d, m->radius);
        roof_text_printf(d->out, " %d 0x80%s %d 0x%s\n", shape, colour, shape - 1, colour);
    }
    roof_text_put(d->out, "EOD\n");
}

/* Writes a line between two points in a colour; a blank line ends it. */
static void put_coloured(struct roof_text *out, double x0, double y0, double x1, double y1,
                         const char *colour)
{
    put_point(out, x0, y0);
    roof_text_printf(out, " 0x%s\n", colour);
    put_point(out, x1, y1);
    roof_text_printf(out, " 0x%s\n\n", colour);
}

/* Writes a whisker for each mark: a line from its bound to the reached rate, with a tick at its
 * end. */
static void put_whiskers(const struct drawing *d)
{
    const struct roof_chart_layout *const l = d->layout;
    const double pixel = log(l->x_max / l->x_min) / (l->canvas.plot.right - l->canvas.plot.left);
    roof_text_put(d->out, "$whiskers << EOD\n");
    for (size_t i = 0; i < l->marks; i++) {
        const struct roof_mark *const m = &l->mark[i];
        const struct roof_chart_dot *const dot = &d->chart->dot[m->first];
        const struct roof_prediction *const p = &dot->node.prediction;
        const char *const colour = mark_colour(d, m->group, m->roof) + 1;
        const double rate = roof_chart_reached(d->chart, dot);
        const double x = p->intensity * exp(pixel * (m->whisker_x - m->x));
        const double wider = exp(pixel * m->whisker_end);
        if (!isnan(rate)) {
            put_coloured(d->out, x, p->attainable_flops_per_s, x, rate, colour);
            put_coloured(d->out, x / wider, rate, x * wider, rate, colour);
        }
    }
    roof_text_put(d->out, "EOD\n");
}

/* Writes lines that join the reached rates of each group on each device, in the order of dots. */
static void put_paths(const struct drawing *d)
{
    const struct roof_chart *const chart = d->chart;
    roof_text_put(d->out, "$paths << EOD\n");
    for (size_t of = 0; chart->roofs > 0 && of < chart->groups * chart->roofs; of++) {
        for (size_t i = 0; i < chart->dots; i++) {
            const struct roof_chart_dot *const dot = &chart->dot[i];
            const double rate = roof_chart_reached(chart, dot);
            if (dot->group == of / chart->roofs && dot->roof == of % chart->roofs && !isnan(rate)) {
                put_point(d->out, dot->node.prediction.intensity, rate);
                roof_text_printf(d->out, " 0x%s\n", mark_colour(d, dot->group, dot->roof) + 1);
            }
        }
        roof_text_put(d->out, "\n");
    }
    roof_text_put(d->out, "EOD\n");
}

static bool any_reached(const struct roof_chart *chart)
{
    bool any = false;
    for (size_t i = 0; i < chart->dots && !any; i++) {
        any = !chart->dot[i].folded && !isnan(roof_chart_reached(chart, &chart->dot[i]));
    }
    return any;
}

/* Writes the reached rates, if there are any, and the lines that join them. */
static void put_reached(const struct drawing *d, bool any)
{
    if (d->chart->joined && any) {
        put_paths(d);
    }
    if (any) {
        put_whiskers(d);
    }
}

/* --- labels -------------------------------------------------------------------------------- */

static void put_labels(const struct drawing *d)
{
    const struct roof_chart_layout *const l = d->layout;
    const struct roof_canvas *const canvas = &l->canvas;
    const double edge = canvas->plot.right;
    put_label(d, "TFLOPS", 14, (canvas->plot.top + canvas->plot.bottom) / 2, "center", FONT,
              "#404040", 90);
    for (size_t i = 0; i < l->sides; i++) {
        const struct roof_side *const s = &l->side[i];
        const char *const colour = s->tick ? FAINT : roof_colour(d, s->roof);
        if (s->label[0] == '\0') { /* nobody could tell what a tick without a name is */
            continue;
        }
        if (s->tick) {
            put_line(d, edge - TICK, s->at, edge, s->at, roof_colour(d, s->roof));
        }
        put_label(d, s->label, edge + BESIDE, s->y, "left", FONT - (s->tick ? 2 : 1), colour, 0);
        put_line(d, edge + 2, s->at, edge + BESIDE - 4, s->y, colour);
    }
    for (size_t i = 0; i < l->slopes; i++) {
        const struct roof_slope *const s = &l->slope[i];
        if (s->label[0] != '\0') {
            put_label(d, s->label, s->x, s->y, "center", FONT - 1, roof_colour(d, s->roof),
                      atan(s->rise) * 180 / acos(-1));
        }
    }
    for (size_t i = 0; i < l->marks; i++) {
        const struct roof_mark *const m = &l->mark[i];
        if (!m->labelled) {
            continue;
        }
        const double x = (m->box.left + m->box.right) / 2;
        const double y = (m->box.top + m->box.bottom) / 2;
        put_label(d, m->label, x, y, "center boxed", FONT - 1, label_colour(d, m), 0);
        if (m->leader) {
            const struct roof_leader leader = roof_leader_to(m, &m->box);
            put_line(d, leader.x0, leader.y0, leader.x1, leader.y1, "#909090");
        }
    }
}

/* The items of the legend: the devices if there are several, the groups, and a key to sizes, fills
 * and dashes. */
enum { ITEMS_MAX = ROOF_CHART_ROOFS_MAX + ROOF_CHART_GROUPS_MAX + 1 };
struct legend {
    double x[ITEMS_MAX]; /* from the left of the plot */
    size_t line[ITEMS_MAX];
    size_t devices;
    size_t items;
    size_t lines;
    char key[ROOF_CHART_NOTE_SIZE]; /* text of the last item; "": there is none */
};

/* Explains the marks of this chart. */
static void put_key(char out[ROOF_CHART_NOTE_SIZE], const struct roof_chart *chart)
{
    bool measured = false;
    bool shares = false;
    bool vector = false;
    for (size_t i = 0; i < chart->dots; i++) {
        measured = measured || !isnan(chart->dot[i].node.prediction.measured_s);
        shares = shares || !isnan(chart->dot[i].share);
    }
    for (size_t r = 0; r < chart->roofs; r++) {
        for (size_t i = 0; i < chart->roof[r].ceilings; i++) {
            vector = vector || (chart->roof[r].ceiling[i].unit == ROOF_COMPUTE_VECTOR &&
                                roof_chart_in_use(chart, r, i));
        }
    }
    const bool reached = any_reached(chart);
    snprintf(out, ROOF_CHART_NOTE_SIZE, "%s%s%s%s",
             shares ? "area and percent: share of the time; " : "",
             reached ? "dot: bound; tick: " : "",
             !reached          ? ""
             : !measured       ? (shares ? "expected; " : "expected, percent of the bound; ")
             : chart->expected ? "measured or expected, percent of the bound; "
                               : "measured, percent of the bound; ",
             vector ? "dashed: vector unit; " : "");
    const size_t length = strlen(out);
    out[length < 2 ? 0 : length - 2] = '\0';
}

static const char *legend_text(const struct roof_chart *chart, const struct legend *legend,
                               size_t item)
{
    return item < legend->devices                   ? chart->roof[item].hardware->id
           : item < legend->devices + chart->groups ? chart->group[item - legend->devices]
                                                    : legend->key;
}

/* Arranges the items in lines of a given width; a longer item has a separate line. */
static struct legend lay_legend(const struct roof_chart *chart, double width)
{
    struct legend out = {.devices = chart->roofs > 1 ? chart->roofs : 0};
    put_key(out.key, chart);
    out.items = out.devices + chart->groups + (out.key[0] != '\0' ? 1 : 0);
    double x = 0;
    for (size_t i = 0; i < out.items; i++) {
        const double item = LEGEND_GAP + roof_script_text_width(legend_text(chart, &out, i), FONT);
        if (out.lines == 0 || x + item > width) {
            out.lines++;
            x = 0;
        }
        out.x[i] = x;
        out.line[i] = out.lines - 1;
        x += item;
    }
    return out;
}

/* Writes an item of the legend: a line for a device, a shape for a group. */
static void put_item(const struct drawing *d, const struct legend *legend, size_t item, double top)
{
    const bool device = item < legend->devices;
    const bool key = item >= legend->devices + d->chart->groups;
    const double x = d->layout->canvas.plot.left + LEGEND_LEFT + legend->x[item];
    const double y = top + LINE * (double)legend->line[item];
    put_label(d, legend_text(d->chart, legend, item), x + (key ? 0 : 12), y, "left",
              key ? FONT - 1 : FONT,
              key      ? GREY
              : device ? roof_colour(d, item)
                       : TEXT_COLOUR,
              0);
    if (device) {
        for (int i = -1; i <= 1; i++) { /* as thick as three lines */
            put_line(d, x - LEGEND_RADIUS - 2, y + 0.7 * i, x + LEGEND_RADIUS + 2, y + 0.7 * i,
                     roof_colour(d, item));
        }
    } else if (!key) {
        const size_t group = item - legend->devices;
        roof_text_put(d->out, "set label '' at ");
        put_place(d, x, y);
        roof_text_put(d->out, " point pointsize ");
        put_radius(d, LEGEND_RADIUS);
        roof_text_printf(d->out, " pointtype %d linecolor rgb '%s' front\n",
                         shapes[group % COUNT(shapes)],
                         d->chart->roofs > 1 ? GREY : mark_colour(d, group, 0));
    }
}

/* Lays out the title of an image of some width. */
static struct roof_script_title title_of(const struct roof_chart *chart, double width)
{
    return roof_script_title(chart->title, width - PLOT_LEFT - EDGE, FONT + 4, FONT);
}

/* Writes which model does not fit, centred at a height; returns whether there is one. */
static bool put_warning(const struct drawing *d, double y)
{
    struct roof_text note = ROOF_TEXT_INIT;
    roof_chart_note(&note, d->chart, ROOF_NOTE_UNFIT);
    const bool some = note.length > 0 && !note.failed;
    if (some) {
        put_label(d, note.data, PLOT_LEFT, y, "left",
                  roof_script_fitting(note.data, d->layout->canvas.width - PLOT_LEFT - EDGE, FONT),
                  WARNING, 0);
    }
    d->out->failed |= note.failed;
    roof_text_free(&note);
    return some;
}

/* Finds the last blank within `most` bytes of a text, or the first one after them; NULL: there is
 * none. */
static char *last_blank(char *text, size_t most)
{
    for (size_t i = most; i > 0; i--) {
        if (text[i] == ' ') {
            return &text[i];
        }
    }
    return strchr(text, ' ');
}

/* Splits the notes below the plot into lines that fit the image, and returns their number; with a
 * drawing it also writes them. */
static size_t lay_notes(struct roof_text *scratch, const struct roof_chart *chart, double width,
                        const struct drawing *d, double y)
{
    const size_t most = (size_t)((width - PLOT_LEFT) / (CHARACTER / FONT * (FONT - 2)));
    size_t count = 0;
    for (int note = ROOF_NOTE_UNFIT + 1; note < ROOF_NOTES; note++) {
        roof_text_clear(scratch);
        roof_chart_note(scratch, chart, (enum roof_chart_note)note);
        for (char *line = scratch->data; scratch->length > 0 && line != NULL; count++) {
            char *const end = roof_text_width(line) > most ? last_blank(line, most) : NULL;
            if (end != NULL) {
                *end = '\0';
            }
            if (d != NULL) {
                put_label(d, line, PLOT_LEFT, y + LINE * (double)count, "left", FONT - 2, GREY, 0);
            }
            line = end == NULL ? NULL : end + 1;
        }
    }
    return count;
}

/* Writes the title, a warning, the legend, and the notes. */
static void put_around(const struct drawing *d, const struct legend *legend, size_t notes)
{
    const struct roof_canvas *const canvas = &d->layout->canvas;
    struct roof_text scratch = ROOF_TEXT_INIT;
    const struct roof_script_title title = title_of(d->chart, canvas->width);
    for (size_t i = 0; i < title.lines; i++) {
        put_label(d, title.line[i], canvas->plot.left, TITLE_TOP + LINE * (double)i, "left",
                  title.font, "#000000", 0);
    }
    const double under = LEGEND_TOP + (title.lines > 1 ? LINE : 0);
    const bool warned = put_warning(d, under - 3);
    for (size_t i = 0; i < legend->items; i++) {
        put_item(d, legend, i, under + (warned ? LINE : 0));
    }
    (void)lay_notes(&scratch, d->chart, canvas->width, d,
                    canvas->height - 14 - LINE * ((double)notes - 1));
    d->out->failed |= scratch.failed;
    roof_text_free(&scratch);
}

/* Tints the memory-bound and compute-bound intensities for each ceiling if there is only one
 * device, and labels them. */
static void put_zones(const struct drawing *d)
{
    const struct roof_chart_layout *const l = d->layout;
    const struct roof_box *const plot = &l->canvas.plot;
    double low;
    double high;
    if (d->chart->roofs != 1 || !roof_chart_zones(&low, &high, l)) {
        return;
    }
    const struct {
        const char *name, *colour;
        double left, right;
    } zones[] = {{"memory bound", MEMORY_ZONE, plot->left, roof_chart_x(l, low)},
                 {"compute bound", COMPUTE_ZONE, roof_chart_x(l, high), plot->right}};
    for (size_t i = 0; i < COUNT(zones); i++) {
        roof_text_printf(d->out, "set object %zu rectangle from ", i + 1);
        put_place(d, zones[i].left, plot->top);
        roof_text_put(d->out, " to ");
        put_place(d, zones[i].right, plot->bottom);
        roof_text_printf(d->out, " behind fillcolor rgb '%s' fillstyle solid noborder\n",
                         zones[i].colour);
        const double width = roof_script_text_width(zones[i].name, FONT - 2);
        if (width < zones[i].right - zones[i].left) {
            put_label(d, zones[i].name, (zones[i].left + zones[i].right) / 2,
                      plot->bottom - LINE * 0.6, "center", FONT - 2, FAINT, 0);
        }
    }
}

static void put_plot(const struct drawing *d, bool whiskers)
{
    roof_text_put(d->out, "plot \\\n");
    for (size_t r = 0; r < d->chart->roofs; r++) {
        const char *const colour = roof_colour(d, r);
        roof_text_printf(d->out,
                         "  $vector_%zu using 1:2 with lines linewidth 1.4 dashtype 2 "
                         "linecolor rgb '%s', \\\n"
                         "  $matrix_%zu using 1:2 with lines "
                         "linewidth 1.8 linecolor rgb '%s', \\\n"
                         "  $ridge_%zu using 1:2 with points pointtype 7 linecolor rgb "
                         "'%s' pointsize ",
                         r + 1, colour, r + 1, colour, r + 1, colour);
        put_radius(d, RIDGE_RADIUS);
        roof_text_put(d->out, ", \\\n");
    }
    if (d->chart->lines > 0) {
        roof_text_put(d->out, "  $lines using 1:2 with lines linewidth 1.6 dashtype "
                              "4 linecolor rgb '#7F3C8D', \\\n");
    }
    if (d->chart->joined && whiskers) {
        roof_text_put(d->out, "  $paths using 1:2:3 with lines linewidth 0.8 linecolor "
                              "rgb variable, \\\n");
    }
    if (whiskers) {
        roof_text_put(d->out, "  $whiskers using 1:2:3 with lines "
                              "linewidth 1.6 linecolor rgb variable, \\\n");
    }
    if (d->chart->dots > 0) {
        roof_text_put(d->out, "  $bound using 1:2:3:4:5 with points pointsize "
                              "variable pointtype variable linecolor rgb variable, \\\n"
                              "  $bound using 1:2:3:6:7 with points linewidth 1.4 "
                              "pointsize variable pointtype variable linecolor rgb variable, \\\n");
    }
    roof_text_put(d->out, "  NaN notitle\n");
}

enum roof_status roof_chart_gnuplot(struct roof_text *out, const struct roof_chart *chart,
                                    enum roof_chart_image image, int pixels_x, int pixels_y,
                                    struct roof_error *error)
{
    const double scale = roof_script_scale(pixels_x, pixels_y);
    const double width = pixels_x / scale;
    const double height = pixels_y / scale;
    struct roof_chart_layout *layout = NULL;
    const struct legend legend = lay_legend(chart, width - PLOT_LEFT - LEGEND_LEFT);
    struct roof_text scratch = ROOF_TEXT_INIT;
    const size_t notes = lay_notes(&scratch, chart, width, NULL, 0);
    const bool counted = !scratch.failed;
    roof_text_free(&scratch);
    if (!counted) {
        return roof_no_memory(error);
    }
    const size_t above = legend.lines + (chart->unfits > 0) + (title_of(chart, width).lines > 1);
    const double top = LEGEND_TOP - 6 + (double)above * LINE;
    const double bottom = height - PLOT_BOTTOM - LINE * (double)notes;
    if (bottom - top < HEIGHT_SHARE * height) {
        return roof_error_set(error, ROOF_USAGE,
                              "an image of %dx%d is too small for the names of %zu groups: give it "
                              "a larger " ROOF_KEY("size"),
                              pixels_x, pixels_y, chart->groups);
    }
    const struct roof_canvas canvas = {.width = width,
                                       .height = height,
                                       .plot = {PLOT_LEFT, top, width, bottom},
                                       .beside = BESIDE,
                                       .char_width = CHARACTER,
                                       .line_height = LINE,
                                       .radius_min = 3,
                                       .radius_max = 16,
                                       .side_share = 0.34,
                                       .leaders = true,
                                       .shares = true};
    const enum roof_status status = roof_chart_lay_out(&layout, chart, &canvas, 4, error);
    if (status != ROOF_OK) {
        return status;
    }
    roof_chart_place_labels(layout);
    const struct drawing d = {out, chart, layout, image, scale};
    put_head(&d);
    put_roofs(&d);
    if (chart->dots > 0) {
        put_marks(&d);
    }
    const bool whiskers = any_reached(chart);
    put_reached(&d, whiskers);
    put_zones(&d);
    put_labels(&d);
    put_around(&d, &legend, notes);
    put_plot(&d, whiskers);
    roof_chart_layout_free(layout);
    return ROOF_OK;
}
