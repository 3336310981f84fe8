// SPDX-License-Identifier: MIT
#include "chart/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "chart/note.h"

/* The distance between whiskers of marks at the same position. */
#define WHISKERS_APART 7.0
#define WHISKER_END 4.0 /* a tick extends beyond its mark by this on each side */
/* The most characters in labels of marks, and in those beside the plot. */
#define MARK_CHARACTERS 34
#define SIDE_CHARACTERS 52
/* The end of the vertical axis / the highest peak of a single device. */
#define TICK_ROOM 1.4
#define TRUNCATED ".." /* the end of a truncated name */

/* --- axes ---------------------------------------------------------------------------------- */

/* Widens an axis to include a value. An unknown value changes nothing. */
static void widen(double *least, double *most, double value)
{
    *least = fmin(*least, value);
    *most = fmax(*most, value);
}

/* Finds axes that contain all dots with margins, and the slope and the ceilings of each roof. */
static void find_axes(struct roof_chart_layout *out, const struct roof_chart *chart)
{
    double x_min = HUGE_VAL;
    double x_max = 0;
    double y_min = HUGE_VAL;
    double y_max = 0;
    for (size_t i = 0; i < chart->roofs; i++) {
        const struct roof_chart_roof *const roof = &chart->roof[i];
        for (size_t k = 0; k < roof->ceilings; k++) {
            if (roof_chart_in_use(chart, i, k)) {
                widen(&x_min, &x_max, roof->ceiling[k].ridge / 6);
                widen(&x_min, &x_max, roof->ceiling[k].ridge * 5);
                widen(&y_min, &y_max, roof->ceiling[k].flops_per_s);
            }
        }
    }
    for (size_t i = 0; i < chart->lines; i++) {
        if (!chart->line[i].slope) { /* a power cap may be far above all attainable rates */
            widen(&y_min, &y_max,
                  chart->line[i].bend > 0 ? fmin(chart->line[i].rate, y_max) : chart->line[i].rate);
        }
    }
    for (size_t i = 0; i < chart->dots; i++) {
        const struct roof_prediction *const p = &chart->dot[i].node.prediction;
        if (chart->dot[i].folded) {
            continue;
        }
        widen(&x_min, &x_max, p->intensity / 2.5);
        widen(&x_min, &x_max, p->intensity * 2.5);
        widen(&y_min, &y_max, p->attainable_flops_per_s);
        widen(&y_min, &y_max, roof_chart_reached(chart, &chart->dot[i]));
    }
    for (size_t i = 0; i < chart->roofs; i++) {
        if (roof_chart_abridged(chart, i)) { /* where one sequence decodes */
            widen(&x_min, &x_max, 0.5);
        }
    }
    for (size_t i = 0; i < chart->roofs; i++) {
        widen(&y_min, &y_max, chart->roof[i].bytes_per_s * x_min);
    }
    out->x_min = x_min;
    out->x_max = x_max;
    out->y_min = y_min / 2;
    out->y_max = y_max * (out->canvas.leaders && chart->dots > 0 ? 4 : 2); /* room for labels */
    if (chart->roofs == 1) { /* ticks show the faster formats that no dot uses */
        out->y_max = fmax(out->y_max, chart->roof[0].ceiling[0].flops_per_s * TICK_ROOM);
    }
}

double roof_chart_side_rate(const struct roof_side *side, double intensity)
{
    return side->bend > 0 ? 1 / (1 / side->rate + 1 / (side->bend * intensity)) : side->rate;
}

bool roof_chart_zones(double *low, double *high, const struct roof_chart_layout *layout)
{
    *low = HUGE_VAL;
    *high = 0;
    for (size_t i = 0; i < layout->sides; i++) {
        if (layout->side[i].used) {
            *low = fmin(*low, layout->side[i].from);
            *high = fmax(*high, layout->side[i].from);
        }
    }
    return *low <= *high;
}

double roof_chart_x(const struct roof_chart_layout *layout, double intensity)
{
    const struct roof_box *const plot = &layout->canvas.plot;
    return plot->left + (plot->right - plot->left) * log(intensity / layout->x_min) /
                            log(layout->x_max / layout->x_min);
}

double roof_chart_y(const struct roof_chart_layout *layout, double flops_per_s)
{
    const struct roof_box *const plot = &layout->canvas.plot;
    return plot->bottom - (plot->bottom - plot->top) * log(flops_per_s / layout->y_min) /
                              log(layout->y_max / layout->y_min);
}

/* --- beside the plot ----------------------------------------------------------------------- */

/* Copies a text, truncated so that it fits with the whole tail. */
static void cut(char out[ROOF_LABEL_SIZE], const char *text, size_t characters, const char *tail)
{
    const size_t after = strlen(tail);
    size_t length = 0;
    size_t count = after;
    while (text[length] != '\0' && length + after + 1 < ROOF_LABEL_SIZE) {
        count += ((unsigned char)text[length] & 0xc0) != 0x80;
        if (count > characters) {
            break;
        }
        length++;
    }
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        length--;
    }
    memcpy(out, text, length);
    memcpy(out + length, tail, after + 1);
}

/* Tells whether the preceding ceiling also names this one: they have the same peak, and are drawn
 * alike. */
static bool named_before(const struct roof_chart *chart, size_t roof, size_t ceiling)
{
    const struct roof_chart_ceiling *const c = &chart->roof[roof].ceiling[ceiling];
    return ceiling > 0 && c->flops_per_s == c[-1].flops_per_s &&
           roof_chart_in_use(chart, roof, ceiling) == roof_chart_in_use(chart, roof, ceiling - 1);
}

/* Writes the name of a ceiling and of those with the same peak: "h100-sxm fp32 vector and fp64".
 * The device is named only if there are several. Returns the number of formats that it lacks. */
static size_t name_ceiling(struct roof_text *out, const struct roof_chart *chart, size_t roof,
                           size_t ceiling)
{
    const struct roof_chart_roof *const r = &chart->roof[roof];
    if (chart->roofs > 1) {
        roof_text_printf(out, "%s ", r->hardware->id);
    }
    size_t lacking = roof_chart_put_formats(out, chart, &r->ceiling[ceiling], false);
    for (size_t i = ceiling + 1; i < r->ceilings && named_before(chart, roof, i); i++) {
        roof_text_put(out, " and ");
        lacking += roof_chart_put_formats(out, chart, &r->ceiling[i], false);
    }
    return lacking;
}

static int by_place(const void *a, const void *b)
{
    const struct roof_side *const x = a;
    const struct roof_side *const y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Tells whether a label may move away from others: not that of a tick, nor one without a leader. */
static bool is_moved(const struct roof_chart_layout *out, const struct roof_side *side)
{
    return out->canvas.leaders && !side->tick && side->label[0] != '\0';
}

/* Moves overlapping labels apart: down from the top, then up from the bottom. */
static void spread(struct roof_chart_layout *out)
{
    const double step = out->canvas.line_height;
    double least = step / 2;
    for (size_t i = 0; i < out->sides; i++) {
        struct roof_side *const side = &out->side[i];
        side->y = side->at;
        if (is_moved(out, side)) {
            side->y = fmax(side->at, least);
            least = side->y + step;
        }
    }
    double most = out->canvas.plot.bottom;
    for (size_t i = out->sides; i > 0; i--) {
        struct roof_side *const side = &out->side[i - 1];
        if (is_moved(out, side)) {
            side->y = fmin(side->y, most);
            most = side->y - step;
        }
    }
}

/* Tells whether a label at its line overlaps a placed one. In text, labels only overlap in the same
 * row. */
static bool is_taken(const struct roof_chart_layout *out, const struct roof_side *side)
{
    for (size_t i = 0; i < out->sides; i++) {
        const struct roof_side *const other = &out->side[i];
        const double away =
            out->canvas.leaders ? fabs(other->y - side->y) : fabs(floor(other->y) - floor(side->y));
        if (other != side && other->placed && other->label[0] != '\0' &&
            away < out->canvas.line_height) {
            return true;
        }
    }
    return false;
}

/* Places the labels beside the plot: first those that move; then, at their own lines if there is
 * room, the user's lines, ceilings in use and ticks. A label without room becomes empty. */
static void place_sides(struct roof_chart_layout *out)
{
    qsort(out->side, out->sides, sizeof *out->side, by_place);
    spread(out);
    for (size_t i = 0; i < out->sides; i++) {
        out->side[i].placed = is_moved(out, &out->side[i]);
    }
    for (int rank = 0; rank < 3; rank++) {
        for (size_t i = 0; i < out->sides; i++) {
            struct roof_side *const side = &out->side[i];
            if (side->placed || side->label[0] == '\0' ||
                rank != (side->line   ? 0
                         : side->tick ? 2
                                      : 1)) {
                continue;
            }
            side->placed = !is_taken(out, side);
            if (!side->placed) {
                side->label[0] = '\0';
                out->shortened = out->shortened || !side->tick;
            }
        }
    }
}

/* Labels a ceiling or level line: its name and rate. A detail of 1 omits the unit, which the axis
 * has, and 0 the rate, too; so does a name that leaves no room for them. Only a name that is too
 * long alone is truncated. */
static void label_side(struct roof_side *side, const struct roof_text *name, size_t characters,
                       int detail)
{
    char number[ROOF_QUANTITY_SIZE];
    char rate[2 * ROOF_QUANTITY_SIZE] = "";
    const size_t width = name->failed ? 0 : roof_text_width(name->data);
    if (detail > 1 && side->bend == 0) {
        snprintf(rate, sizeof rate, " %s",
                 roof_format_quantity(number, side->rate, ROOF_UNIT_TFLOPS));
    }
    if ((detail == 1 || width + strlen(rate) > characters) && side->bend == 0) {
        snprintf(rate, sizeof rate, " %s",
                 roof_format_short(number, roof_to_unit(side->rate, ROOF_UNIT_TFLOPS)));
    }
    if (detail > 2 && !side->line && !side->tick) {
        const size_t length = strlen(rate);
        snprintf(rate + length, sizeof rate - length, ", ridge %s",
                 roof_format_short(number, side->from));
    }
    const bool whole = width + strlen(rate) <= characters;
    cut(side->label, name->failed ? "" : name->data, characters,
        whole                 ? rate
        : width <= characters ? ""
                              : TRUNCATED);
}

/* Adds the ceilings of a roof within the axes. */
static void add_ceilings(struct roof_chart_layout *out, const struct roof_chart *chart, size_t roof,
                         size_t characters, int detail, struct roof_text *text)
{
    const struct roof_chart_roof *const r = &chart->roof[roof];
    for (size_t i = 0; i < r->ceilings; i++) {
        const struct roof_chart_ceiling *const c = &r->ceiling[i];
        const bool tick = !roof_chart_in_use(chart, roof, i);
        /* A tick needs a name, and there is no room for those of several devices. */
        if (tick &&
            !(chart->roofs == 1 && c->flops_per_s > out->y_min && c->flops_per_s < out->y_max)) {
            continue;
        }
        struct roof_side *const side = &out->side[out->sides++];
        *side = (struct roof_side){.roof = roof,
                                   .tick = tick,
                                   .used = c->in_use || !r->in_use,
                                   .vector = c->unit == ROOF_COMPUTE_VECTOR,
                                   .rate = c->flops_per_s,
                                   .from = c->ridge};
        if (!named_before(chart, roof, i)) {
            roof_text_clear(text);
            side->lacking = name_ceiling(text, chart, roof, i);
            label_side(side, text, characters, detail);
        }
    }
}

/* Adds a line that is level or bends. A level one begins at the steepest slope that it may belong
 * to. */
static void add_level(struct roof_chart_layout *out, const struct roof_chart *chart,
                      const struct roof_chart_line *line, size_t characters, int detail,
                      struct roof_text *text)
{
    double fastest = 0;
    for (size_t r = 0; r < chart->roofs; r++) {
        if (line->roof == r || line->roof == ROOF_CHART_ROOFS_MAX) {
            fastest = fmax(fastest, chart->roof[r].bytes_per_s);
        }
    }
    struct roof_side *const side = &out->side[out->sides++];
    *side = (struct roof_side){.roof = line->roof,
                               .line = true,
                               .rate = line->rate,
                               .bend = line->bend,
                               .from = line->bend > 0 ? out->x_min : line->rate / fastest};
    roof_text_clear(text);
    if (chart->roofs > 1 && line->roof < chart->roofs) {
        roof_text_printf(text, "%s ", chart->roof[line->roof].hardware->id);
    }
    roof_text_put(text, line->name);
    label_side(side, text, characters, detail);
}

/* Finds the ceilings and level lines with labels in a detail: 3 has rates and ridge points, 2 has
 * rates, 1 has rates without their unit, 0 has names. Returns the length of the longest label. */
static size_t label_sides(struct roof_chart_layout *out, const struct roof_chart *chart,
                          size_t characters, int detail, struct roof_text *text)
{
    size_t widest = 0;
    out->sides = 0;
    for (size_t r = 0; r < chart->roofs; r++) {
        add_ceilings(out, chart, r, characters, detail, text);
    }
    for (size_t i = 0; i < chart->lines; i++) {
        if (!chart->line[i].slope) {
            add_level(out, chart, &chart->line[i], characters, detail, text);
        }
    }
    for (size_t i = 0; i < out->sides; i++) {
        const size_t width = roof_text_width(out->side[i].label);
        widest = width > widest && !out->side[i].tick ? width : widest;
        out->side[i].at =
            roof_chart_y(out, fmin(roof_chart_side_rate(&out->side[i], out->x_max), out->y_max));
    }
    return widest;
}

/* Keeps the labels of ticks that fit. Returns the length of the longest label. */
static size_t fit_ticks(struct roof_chart_layout *out, size_t widest, size_t most)
{
    for (size_t i = 0; i < out->sides; i++) {
        struct roof_side *const side = &out->side[i];
        const size_t width = roof_text_width(side->label);
        if (side->tick && width > most) {
            side->label[0] = '\0';
        } else {
            widest = width > widest ? width : widest;
        }
    }
    return widest;
}

/* Finds the ceilings and level lines, and reserves space for their labels beside the plot, in as
 * much detail as fits. */
static void find_sides(struct roof_chart_layout *out, const struct roof_chart *chart,
                       struct roof_text *text)
{
    struct roof_canvas *const canvas = &out->canvas;
    const double room = (canvas->width * canvas->side_share - canvas->beside) / canvas->char_width;
    const size_t most = room < SIDE_CHARACTERS ? (size_t)room : SIDE_CHARACTERS;
    int detail = 3;
    size_t widest = label_sides(out, chart, SIDE_CHARACTERS, detail, text);
    while (widest > most && detail > 0) {
        widest = label_sides(out, chart, SIDE_CHARACTERS, --detail, text);
    }
    if (widest > most) { /* as many rates as fit */
        widest = label_sides(out, chart, most, 2, text);
    }
    out->shortened = detail < 3;
    widest = fit_ticks(out, widest, most);
    for (size_t i = 0; i < out->sides; i++) {
        out->shortened =
            out->shortened || (out->side[i].lacking > 0 && out->side[i].label[0] != '\0');
    }
    const size_t margin = canvas->leaders ? 1 : 0; /* characters differ in width */
    canvas->plot.right =
        canvas->width - canvas->beside - (double)(widest + margin) * canvas->char_width;
    place_sides(out);
}

/* --- marks --------------------------------------------------------------------------------- */

static double mark_radius(const struct roof_canvas *canvas, double share)
{
    return isnan(share) ? canvas->radius_min * 1.5
                        : canvas->radius_min +
                              (canvas->radius_max - canvas->radius_min) * sqrt(fmin(share, 1));
}

/* Tells whether a dot is within a distance of a mark. */
static bool same_place(const struct roof_mark *mark, double x, double y, double reached_y,
                       double distance)
{
    const bool reached =
        isnan(reached_y) ? isnan(mark->reached_y) : fabs(mark->reached_y - reached_y) < distance;
    return reached && fabs(mark->x - x) < distance && fabs(mark->y - y) < distance;
}

static int by_radius(const void *a, const void *b)
{
    const struct roof_mark *const x = *(const struct roof_mark *const *)a;
    const struct roof_mark *const y = *(const struct roof_mark *const *)b;
    return x->radius != y->radius ? (x->radius < y->radius) - (x->radius > y->radius)
                                  : (x > y) - (x < y);
}

/* Puts whiskers side by side if they would coincide. The longest is on the left, so that none is
 * between a tick and its label on the right. */
static void spread_whiskers(struct roof_chart_layout *out)
{
    for (size_t i = 0; i < out->marks; i++) {
        struct roof_mark *const mark = &out->mark[i];
        double before = 0;
        double column = 1;
        for (size_t k = 0; k < out->marks && !isnan(mark->reached_y); k++) {
            const struct roof_mark *const other = &out->mark[k];
            if (k != i && fabs(other->x - mark->x) < WHISKERS_APART && other->y < mark->reached_y &&
                mark->y < other->reached_y) {
                column++;
                before += other->reached_y != mark->reached_y ? other->reached_y > mark->reached_y
                                                              : k < i;
            }
        }
        mark->beside = column > 1 && mark->reached_y > mark->y + mark->radius;
        mark->whisker_x = mark->x + (before - (column - 1) / 2) * WHISKERS_APART;
        mark->whisker_end = column > 1 ? WHISKERS_APART / 2 : mark->radius + WHISKER_END;
    }
}

/* Merges dots within a distance into marks. */
static void find_marks(struct roof_chart_layout *out, const struct roof_chart *chart,
                       double distance)
{
    for (size_t i = 0; i < chart->dots; i++) {
        const struct roof_chart_dot *const dot = &chart->dot[i];
        const double reached = roof_chart_reached(chart, dot);
        out->mark_of[i] = ROOF_CHART_DOTS_MAX;
        if (dot->folded) {
            continue;
        }
        const double x = roof_chart_x(out, dot->node.prediction.intensity);
        const double y = roof_chart_y(out, dot->node.prediction.attainable_flops_per_s);
        const double reached_y = isnan(reached) ? ROOF_UNKNOWN : roof_chart_y(out, reached);
        size_t at = 0;
        while (at < out->marks &&
               (out->mark[at].group != dot->group || out->mark[at].roof != dot->roof ||
                !same_place(&out->mark[at], x, y, reached_y, distance))) {
            at++;
        }
        struct roof_mark *const mark = &out->mark[at];
        if (at == out->marks) {
            out->marks++;
            *mark = (struct roof_mark){.x = x,
                                       .y = y,
                                       .reached_y = reached_y,
                                       .share = dot->share,
                                       .group = dot->group,
                                       .roof = dot->roof,
                                       .first = i};
        } else {
            mark->share += dot->share;
        }
        mark->dots++;
        out->mark_of[i] = at;
    }
    for (size_t i = 0; i < out->marks; i++) {
        out->mark[i].radius = mark_radius(&out->canvas, out->mark[i].share);
        out->by_size[i] = &out->mark[i];
    }
    qsort(out->by_size, out->marks, sizeof *out->by_size, by_radius);
    spread_whiskers(out);
}

/* Appends the mark's share of the time; for a single dot without a share, the fraction of its bound
 * that it reached. */
static void put_share(char *out, size_t size, const struct roof_chart *chart,
                      const struct roof_mark *mark)
{
    const size_t length = strlen(out);
    const struct roof_chart_dot *const dot = &chart->dot[mark->first];
    const double reached =
        roof_chart_reached(chart, dot) / dot->node.prediction.attainable_flops_per_s;
    if (!isnan(mark->share)) {
        snprintf(out + length, size - length, ", %.0f%%", 100 * mark->share);
    } else if (mark->dots == 1 && !isnan(reached)) {
        snprintf(out + length, size - length, ", %.0f%%", 100 * reached);
    }
}

/* Labels each mark with as many names of its dots as fit. */
static void name_marks(struct roof_chart_layout *out, const struct roof_chart *chart,
                       struct roof_text *text)
{
    for (size_t m = 0; m < out->marks; m++) {
        struct roof_mark *const mark = &out->mark[m];
        size_t shown = 0;
        size_t width = 0;
        /* " +12 more" and ", 99%" follow the names. */
        const size_t room = MARK_CHARACTERS - (out->canvas.shares ? 14 : 9);
        bool full = false;
        roof_text_clear(text);
        for (size_t i = mark->first; shown < mark->dots && !full; i++) {
            const char *const name = chart->dot[i].node.node.name;
            if (out->mark_of[i] == m) {
                width += roof_text_width(name) + (shown > 0 ? 2 : 0);
                full = shown > 0 && width > room;
                if (!full) {
                    roof_text_printf(text, "%s%s", shown > 0 ? ", " : "", name);
                    shown++;
                }
            }
        }
        char more[MARK_CHARACTERS] = "";
        if (shown < mark->dots) {
            snprintf(more, sizeof more, " +%zu more", mark->dots - shown);
        }
        const size_t tail = strlen(more);
        if (out->canvas.shares) {
            put_share(more, sizeof more, chart, mark);
        }
        cut(mark->label, text->failed ? "" : text->data, MARK_CHARACTERS, more);
        mark->named = strlen(mark->label) - (strlen(more) - tail);
    }
}

/* --- slopes -------------------------------------------------------------------------------- */

/* Returns the highest ceiling that is drawn in full, where the roof ends. */
static const struct roof_chart_ceiling *top_in_use(const struct roof_chart *chart, size_t roof)
{
    size_t top = 0;
    while (top + 1 < chart->roof[roof].ceilings && !roof_chart_in_use(chart, roof, top)) {
        top++;
    }
    return &chart->roof[roof].ceiling[top];
}

static void find_slopes(struct roof_chart_layout *out, const struct roof_chart *chart,
                        struct roof_text *text)
{
    char number[ROOF_QUANTITY_SIZE];
    double highest = 0;
    for (size_t r = 0; r < chart->roofs; r++) {
        const struct roof_chart_roof *const roof = &chart->roof[r];
        const struct roof_chart_ceiling *const top = top_in_use(chart, r);
        highest = fmax(highest, top->flops_per_s);
        struct roof_slope *const slope = &out->slope[out->slopes++];
        *slope = (struct roof_slope){.roof = r, .rate = roof->bytes_per_s, .to = top->ridge};
        roof_text_clear(text);
        if (chart->roofs > 1) {
            roof_text_printf(text, "%s ", roof->hardware->id);
        }
        roof_format_quantity(number, roof->bytes_per_s, ROOF_UNIT_GB_PER_S);
        cut(slope->label, text->failed ? "" : text->data, SIDE_CHARACTERS, number);
    }
    for (size_t i = 0; i < chart->lines; i++) {
        const struct roof_chart_line *const line = &chart->line[i];
        if (line->slope) {
            struct roof_slope *const slope = &out->slope[out->slopes++];
            *slope = (struct roof_slope){.roof = line->roof, .line = true, .rate = line->rate};
            slope->to =
                (line->roof < chart->roofs ? top_in_use(chart, line->roof)->flops_per_s : highest) /
                line->rate;
            roof_text_clear(text);
            roof_text_printf(text, "%s ", line->name);
            roof_format_quantity(number, line->rate, ROOF_UNIT_GB_PER_S);
            cut(slope->label, text->failed ? "" : text->data, SIDE_CHARACTERS, number);
        }
    }
}

void roof_chart_layout_free(struct roof_chart_layout *layout)
{
    if (layout != NULL) {
        free(layout->mark);
        free(layout->mark_of);
        free(layout->by_size);
        free(layout);
    }
}

enum roof_status roof_chart_lay_out(struct roof_chart_layout **out, const struct roof_chart *chart,
                                    const struct roof_canvas *canvas, double distance,
                                    struct roof_error *error)
{
    *out = NULL;
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_chart_layout *const layout = calloc(1, sizeof *layout);
    if (layout != NULL) {
        layout->canvas = *canvas;
        layout->mark = calloc(chart->dots + 1, sizeof *layout->mark);
        layout->mark_of = calloc(chart->dots + 1, sizeof *layout->mark_of);
        layout->by_size = calloc(chart->dots + 1, sizeof *layout->by_size);
    }
    if (layout == NULL || layout->mark == NULL || layout->mark_of == NULL ||
        layout->by_size == NULL) {
        roof_chart_layout_free(layout);
        return roof_no_memory(error);
    }
    find_axes(layout, chart);
    find_sides(layout, chart, &text);
    find_marks(layout, chart, distance);
    name_marks(layout, chart, &text);
    find_slopes(layout, chart, &text);
    layout->joined = chart->joined;
    const bool failed = text.failed;
    roof_text_free(&text);
    if (failed) {
        roof_chart_layout_free(layout);
        return roof_no_memory(error);
    }
    *out = layout;
    return ROOF_OK;
}
