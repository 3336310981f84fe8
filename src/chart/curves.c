// SPDX-License-Identifier: MIT
#include "chart/curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"

/* The approximate number of ticks on a linear axis. */
#define LINEAR_TICKS 4.0
/* The most decades for which an axis also has ticks at 2 and 5. */
#define FINE_DECADES 4.0
/* The least ratio between an end of a logarithmic axis and the closest of these ticks for a tick at
 * that end. */
#define APART 1.4
/* The least ratio of the end of a logarithmic axis to its greatest value. */
#define HEADROOM 1.1
/* The least ratio of values that are drawn on a logarithmic axis. */
#define LOGARITHMIC 6.0
/* The most powers of two with a tick. */
#define POWERS_MAX 12.0

void roof_curves_init(struct roof_curves *curves)
{
    memset(curves, 0, sizeof *curves);
}

void roof_curves_free(struct roof_curves *curves)
{
    free(curves->point);
    roof_curves_init(curves);
}

enum roof_status roof_curves_find(size_t *out, struct roof_curves *curves, const char *name,
                                  bool bound, struct roof_error *error)
{
    char cut[ROOF_CHART_NAME_SIZE];
    roof_chart_name(cut, name);
    for (*out = 0; *out < curves->curves; (*out)++) {
        const struct roof_curve *const known = &curves->curve[*out];
        if (strcmp(known->name, cut) == 0 && (known->of != *out) == bound) {
            return ROOF_OK;
        }
    }
    if (curves->curves == ROOF_CURVES_MAX) {
        return roof_error_set(error, ROOF_USAGE,
                              "a chart has at most %d curves, lower bounds included",
                              ROOF_CURVES_MAX);
    }
    struct roof_curve *const curve = &curves->curve[curves->curves++];
    memcpy(curve->name, cut, sizeof cut);
    curve->of = bound && *out > 0 ? *out - 1 : *out;
    return ROOF_OK;
}

enum roof_status roof_curves_add(struct roof_curves *curves, size_t curve, double x, double y,
                                 const char *label, struct roof_error *error)
{
    const bool positive = curves->dense ? x >= 0 && y >= 0 : x > 0 && y > 0;
    if (!positive || !isfinite(x) || !isfinite(y)) {
        return ROOF_OK;
    }
    if (curves->points == ROOF_CURVE_POINTS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d points",
                              ROOF_CURVE_POINTS_MAX);
    }
    if (curves->points == curves->room) {
        const size_t room = curves->room == 0 ? 64 : 2 * curves->room;
        struct roof_curve_point *const grown = realloc(curves->point, room * sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        curves->point = grown;
        curves->room = room;
    }
    struct roof_curve_point *const point = &curves->point[curves->points++];
    *point = (struct roof_curve_point){.x = x, .y = y, .curve = curve};
    (void)snprintf(point->label, sizeof point->label, "%s", label);
    return ROOF_OK;
}

void roof_curves_add_limit(struct roof_curves *curves, const char *name, double y)
{
    if (y > 0 && isfinite(y) && curves->limits < ROOF_CURVE_LIMITS_MAX) {
        struct roof_curve_limit *const limit = &curves->limit[curves->limits++];
        roof_chart_name(limit->name, name);
        limit->y = y;
    }
}

size_t roof_curve_number(const struct roof_curves *curves, size_t curve)
{
    size_t number = 0;
    for (size_t i = 0; i < curves->curve[curve].of; i++) {
        number += curves->curve[i].of == i;
    }
    return number;
}

/* --- axes ---------------------------------------------------------------------------------- */

static void add_tick(struct roof_curve_axis *axis, double value)
{
    const double slack = 1e-9 * (axis->max - axis->min);
    if (axis->ticks < ROOF_CURVE_TICKS_MAX && value >= axis->min - slack &&
        value <= axis->max + slack) {
        axis->tick[axis->ticks++] = value;
    }
}

/* Returns the largest of 1, 2 and 5 times a power of ten that is at most a value. */
static double below(double value)
{
    const double decade = pow(10, floor(log10(value) + 1e-12));
    const double part = value / decade * (1 + 1e-12);
    return (part >= 5 ? 5 : part >= 2 ? 2 : 1) * decade;
}

static void scale_linear(struct roof_curve_axis *axis, double high)
{
    const double most = high > 0 ? high : 1;
    const double step = below(most / LINEAR_TICKS);
    axis->min = 0;
    axis->max = axis->end > 0 ? axis->end : step * ceil(most * 1.02 / step);
    for (int k = 0; k * step <= axis->max * (1 + 1e-9); k++) {
        add_tick(axis, k * step);
    }
}

static void scale_ten(struct roof_curve_axis *axis, double low, double high)
{
    const double least = pow(10, floor(log10(low)));
    const double most = pow(10, floor(log10(high)));
    axis->min = least * floor(low / least);
    axis->max = most * ceil(high * HEADROOM / most);
    const bool fine = log10(axis->max / axis->min) <= FINE_DECADES;
    for (int k = (int)floor(log10(axis->min)); k <= (int)ceil(log10(axis->max)); k++) {
        static const double parts[] = {1, 2, 5};
        for (size_t i = 0; i < (fine ? COUNT(parts) : 1); i++) {
            add_tick(axis, parts[i] * pow(10, k));
        }
    }
    if (axis->ticks < ROOF_CURVE_TICKS_MAX &&
        (axis->ticks == 0 || axis->tick[0] > axis->min * APART)) {
        memmove(axis->tick + 1, axis->tick, axis->ticks * sizeof *axis->tick);
        axis->tick[0] = axis->min;
        axis->ticks++;
    }
    if (axis->max > axis->tick[axis->ticks - 1] * APART) {
        add_tick(axis, axis->max);
    }
}

static void scale_two(struct roof_curve_axis *axis, double low, double high)
{
    const double first = floor(log2(low) + 1e-12);
    const double last = fmax(ceil(log2(high) - 1e-12), first + 1);
    const double step = ceil((last - first + 1) / POWERS_MAX);
    /* Points at the ends do not lie on the edge. */
    axis->min = exp2(first - 0.2);
    axis->max = exp2(last + 0.2);
    for (int k = 0; first + k * step <= last; k++) {
        add_tick(axis, exp2(first + k * step));
    }
}

static void scale(struct roof_curve_axis *axis, double low, double high)
{
    axis->ticks = 0;
    if (high / low < LOGARITHMIC) {
        axis->scale = ROOF_SCALE_LINEAR;
    }
    if (axis->scale == ROOF_SCALE_TWO) {
        scale_two(axis, low, high);
    } else if (axis->scale == ROOF_SCALE_TEN) {
        scale_ten(axis, low, high);
    } else {
        scale_linear(axis, high);
    }
}

double roof_curve_place(const struct roof_curve_axis *axis, double value)
{
    return axis->scale == ROOF_SCALE_LINEAR ? (value - axis->min) / (axis->max - axis->min)
                                            : log(value / axis->min) / log(axis->max / axis->min);
}

/* --- fronts -------------------------------------------------------------------------------- */

/* Orders points by their curves, then x, then y. */
static int compare(const void *a, const void *b)
{
    const struct roof_curve_point *const p = a;
    const struct roof_curve_point *const q = b;
    return p->curve != q->curve ? (p->curve > q->curve) - (p->curve < q->curve)
           : p->x != q->x       ? (p->x > q->x) - (p->x < q->x)
                                : (p->y > q->y) - (p->y < q->y);
}

/* Marks the points that another point of their curve dominates on both axes. */
static void find_front(struct roof_curves *curves)
{
    double best = 0;
    for (size_t i = curves->points; i-- > 0;) {
        struct roof_curve_point *const point = &curves->point[i];
        if (i + 1 == curves->points || point[1].curve != point->curve) {
            best = 0;
        }
        point->behind = point->y <= best;
        best = fmax(best, point->y);
    }
}

enum roof_status roof_curves_finish(struct roof_curves *curves, struct roof_error *error)
{
    double x_low = HUGE_VAL;
    double x_high = 0;
    double y_low = HUGE_VAL;
    double y_high = 0;
    if (curves->points == 0) {
        return curves->unfit == 0
                   ? roof_error_set(error, ROOF_USAGE, "no point of the chart has a value")
                   : roof_error_set(error, ROOF_UNSATISFIED,
                                    "no point of the chart fits its device");
    }
    qsort(curves->point, curves->points, sizeof *curves->point, compare);
    if (curves->front) {
        find_front(curves);
    }
    for (size_t i = 0; i < curves->points; i++) {
        x_low = fmin(x_low, curves->point[i].x);
        x_high = fmax(x_high, curves->point[i].x);
        y_low = fmin(y_low, curves->point[i].y);
        y_high = fmax(y_high, curves->point[i].y);
    }
    for (size_t i = 0; i < curves->limits; i++) {
        y_low = fmin(y_low, curves->limit[i].y);
        y_high = fmax(y_high, curves->limit[i].y);
    }
    scale(&curves->x, x_low, x_high);
    scale(&curves->y, y_low, y_high);
    return ROOF_OK;
}

bool roof_curves_behind(const struct roof_curves *curves)
{
    bool any = false;
    for (size_t i = 0; i < curves->points; i++) {
        any = any || curves->point[i].behind;
    }
    return any;
}

/* --- words --------------------------------------------------------------------------------- */

/* The notes below a chart. */
enum note { NOTE_ABOUT, NOTE_UNFIT, NOTE_KEY, NOTE_COUNT };

/* Writes a note, or nothing if it does not apply. */
static void put_note(struct roof_text *out, const struct roof_curves *curves, enum note note)
{
    if (note == NOTE_ABOUT) {
        roof_text_put(out, curves->about == NULL ? "" : curves->about);
    } else if (note == NOTE_KEY) {
        roof_text_put(out, curves->key);
    } else if (curves->unfit > 0) {
        roof_text_put(out, "not drawn, because the memory is too small: ");
        if (curves->unfit_names[0] != '\0') {
            roof_text_put(out, curves->unfit_names);
        } else {
            roof_text_printf(out, "%zu point%s", curves->unfit, curves->unfit == 1 ? "" : "s");
        }
    }
}

void roof_curves_notes(struct roof_text *out, const struct roof_curves *curves, size_t indent,
                       size_t columns)
{
    for (int note = 0; note < NOTE_COUNT; note++) {
        const size_t from = out->length;
        put_note(out, curves, (enum note)note);
        roof_text_put(out, out->length > from ? "\n" : "");
        roof_text_fold_at(out, from, indent, columns);
    }
}

void roof_curves_summary(struct roof_text *out, const struct roof_curves *curves)
{
    char low[ROOF_QUANTITY_SIZE];
    char high[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "Chart of %s over %s.", curves->y.name, curves->x.name);
    for (size_t c = 0; c < curves->curves; c++) {
        double from = HUGE_VAL;
        double to = 0;
        size_t count = 0;
        for (size_t i = 0; i < curves->points; i++) {
            const struct roof_curve_point *const point = &curves->point[i];
            if (point->curve == c) {
                from = fmin(from, point->y);
                to = fmax(to, point->y);
                count++;
            }
        }
        roof_text_printf(out, " %s%s: %zu point%s, %s to %s.", curves->curve[c].name,
                         curves->curve[c].of == c ? "" : ", lower bound", count,
                         count == 1 ? "" : "s", roof_format_short(low, from),
                         roof_format_short(high, to));
    }
    for (size_t i = 0; i < curves->limits; i++) {
        roof_text_printf(out, " %s: %s.", curves->limit[i].name,
                         roof_format_short(low, curves->limit[i].y));
    }
    if (curves->event.x > 0) {
        roof_text_printf(out, " %s: %s.", curves->event.name,
                         roof_format_short(low, curves->event.x));
    }
    struct roof_text note = ROOF_TEXT_INIT;
    for (int k = 0; k < NOTE_COUNT; k++) {
        roof_text_clear(&note);
        put_note(&note, curves, (enum note)k);
        if (!note.failed && note.length > 0) {
            roof_text_printf(out, " %s.", note.data);
        }
    }
    out->failed |= note.failed;
    roof_text_free(&note);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void put_axis(struct roof_text *out, const char *key, const struct roof_curve_axis *axis)
{
    roof_text_printf(out, ",\n  \"%s\": {\"name\": ", key);
    roof_json_quote(out, axis->name);
    roof_text_printf(out, ", \"scale\": \"%s\"}",
                     axis->scale == ROOF_SCALE_LINEAR ? "linear" : "logarithmic");
}

static void put_points(struct roof_text *out, const struct roof_curves *curves, size_t curve)
{
    size_t count = 0;
    for (size_t i = 0; i < curves->points; i++) {
        const struct roof_curve_point *const point = &curves->point[i];
        if (point->curve != curve) {
            continue;
        }
        roof_text_printf(out, "%s\n      {\"x\": ", count++ == 0 ? "" : ",");
        roof_text_number(out, point->x);
        roof_text_put(out, ", \"y\": ");
        roof_text_number(out, point->y);
        if (point->label[0] != '\0') {
            roof_text_put(out, ", \"label\": ");
            roof_json_quote(out, point->label);
        }
        if (curves->front) {
            roof_text_printf(out, ", \"front\": %s", point->behind ? "false" : "true");
        }
        roof_text_put(out, "}");
    }
}

/* Writes the notes as a list, or nothing without notes. */
static void put_notes(struct roof_text *out, const struct roof_curves *curves)
{
    struct roof_text note = ROOF_TEXT_INIT;
    size_t count = 0;
    for (int k = 0; k < NOTE_COUNT; k++) {
        put_note(&note, curves, (enum note)k);
        roof_json_note(out, ",\n  ", &note, &count);
    }
    roof_text_put(out, count > 0 ? "]" : "");
    roof_text_free(&note);
}

void roof_curves_json(struct roof_text *out, const struct roof_curves *curves)
{
    roof_text_put(out, "{\n  \"schema\": \"roofline/curves/1\",\n  \"title\": ");
    roof_json_quote(out, curves->title);
    put_axis(out, "x", &curves->x);
    put_axis(out, "y", &curves->y);
    roof_text_put(out, ",\n  \"curves\": [");
    for (size_t c = 0; c < curves->curves; c++) {
        roof_text_put(out, c == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ");
        roof_json_quote(out, curves->curve[c].name);
        roof_text_printf(out, ", \"lower_bound\": %s, \"points\": [",
                         curves->curve[c].of == c ? "false" : "true");
        put_points(out, curves, c);
        roof_text_put(out, "\n    ]}");
    }
    roof_text_put(out, "\n  ]");
    put_notes(out, curves);
    roof_text_printf(out, ",\n  \"left_out\": %zu\n}\n", curves->unfit);
}
