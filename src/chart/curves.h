// SPDX-License-Identifier: MIT
/** A chart of curves as data: a latency over batches or request rates, or the throughput of devices
 * over the speed that a user sees (a Pareto chart). It only computes its axes and the points on a
 * front. */
#ifndef ROOF_CHART_CURVES_H
#define ROOF_CHART_CURVES_H

#include "base/text.h"
#include "chart/chart.h"
#include "chart/chart_text.h"

#define ROOF_CURVES_MAX 24
#define ROOF_CURVE_POINTS_MAX 20000
#define ROOF_CURVE_LIMITS_MAX 4
#define ROOF_CURVE_TICKS_MAX 24
#define ROOF_CURVE_LABEL_SIZE 112

enum roof_curve_scale {
    ROOF_SCALE_LINEAR, /**< starts at 0 */
    ROOF_SCALE_TEN, /**< logarithmic if the values span a large ratio, with ticks at 1, 2 and 5 */
    ROOF_SCALE_TWO  /**< logarithmic, too, with ticks at powers of two */
};

struct roof_curve_axis {
    char name[ROOF_CHART_NAME_SIZE]; /**< "tokens/s per user" */
    enum roof_curve_scale scale;
    double end;                        /**< end of a linear axis; 0: from its values */
    double min, max;                   /**< set by roof_curves_finish, like the ticks */
    double tick[ROOF_CURVE_TICKS_MAX]; /**< ascending */
    size_t ticks;
};

struct roof_curve {
    char name[ROOF_CHART_NAME_SIZE];
    size_t of; /**< the curve whose lower bound it is; its own index: it is not a bound */
};

struct roof_curve_point {
    double x, y;
    size_t curve;
    bool behind; /**< it is not on the front of its curve, and no line goes through it */
    char label[ROOF_CURVE_LABEL_SIZE]; /**< "": none */
};

/** A line across the chart: the upper limit of a value. */
struct roof_curve_limit {
    char name[ROOF_CHART_NAME_SIZE];
    double y;
};

/** A line from the bottom to the top of the chart, where something happens. */
struct roof_curve_event {
    char name[ROOF_CHART_NAME_SIZE];
    double x; /**< 0: there is none */
};

/** Start with roof_curves_init; only one thread at a time may change it. */
struct roof_curves {
    char title[ROOF_CHART_NAME_SIZE];
    struct roof_curve_axis x, y;
    struct roof_curve curve[ROOF_CURVES_MAX];
    size_t curves;
    struct roof_curve_limit limit[ROOF_CURVE_LIMITS_MAX];
    size_t limits;
    struct roof_curve_event event;
    struct roof_curve_point *point; /**< owned */
    size_t points;
    size_t room;
    char key[ROOF_CHART_NOTE_SIZE]; /**< the meaning of labels; "": they need no explanation */
    const char *about;              /**< scenario and formats of the models; NULL: none */
    size_t unfit; /**< number of points that are left out because the model does not fit */
    char unfit_names[ROOF_CHART_NOTE_SIZE]; /**< "h100-sxm batch 256"; "": not known */
    bool dense; /**< for many points: lines without marks, no table, and zeros are drawn */
    bool front; /**< more is better on both axes: a Pareto chart */
};

void roof_curves_init(struct roof_curves *curves);
void roof_curves_free(struct roof_curves *curves);

/** Finds the curve with a name, which is truncated like a name in a chart (roof_chart_name), or
 * adds it. `bound` means that it is the lower bound of the preceding curve. ROOF_USAGE for too
 * many. */
enum roof_status roof_curves_find(size_t *out, struct roof_curves *curves, const char *name,
                                  bool bound, struct roof_error *error);

/** Adds a point. Invalid values (NAN, infinite, below 0) are skipped, and so is 0, unless the chart
 * is dense, with linear axes. */
enum roof_status roof_curves_add(struct roof_curves *curves, size_t curve, double x, double y,
                                 const char *label, struct roof_error *error);

/** Adds a limit, unless it is NAN. */
void roof_curves_add_limit(struct roof_curves *curves, const char *name, double y);

/** Sorts the points of each curve by x, marks dominated points if there is a front, and sets the
 * axes. ROOF_USAGE without points. */
enum roof_status roof_curves_finish(struct roof_curves *curves, struct roof_error *error);

/** The meaning of dots off the lines of a Pareto chart. */
#define ROOF_CURVES_BEHIND "off the curve: a point on it is at least as good on both axes"
/** Tells whether a finished chart has such dots. */
bool roof_curves_behind(const struct roof_curves *curves);

/** Returns the position of a value on an axis: 0 at its start, 1 at its end. */
double roof_curve_place(const struct roof_curve_axis *axis, double value);

/** Returns the number of a curve, or of the curve whose lower bound it is, not counting bounds. */
size_t roof_curve_number(const struct roof_curves *curves, size_t curve);

/** Writes lines below the chart: what it is about, points that are not drawn, and the meaning of
 * labels. They are folded at a number of columns, with an indent. */
void roof_curves_notes(struct roof_text *out, const struct roof_curves *curves, size_t indent,
                       size_t columns);

/** Each draws a finished chart, like roof_chart_text, roof_chart_gnuplot and roof_chart_json. */
enum roof_status roof_curves_text(struct roof_text *out, const struct roof_curves *curves,
                                  const struct roof_chart_look *look, struct roof_error *error);
enum roof_status roof_curves_gnuplot(struct roof_text *out, const struct roof_curves *curves,
                                     enum roof_chart_image image, int pixels_x, int pixels_y,
                                     struct roof_error *error);
void roof_curves_json(struct roof_text *out, const struct roof_curves *curves);

/** Describes the chart in sentences, for those who cannot see it. */
void roof_curves_summary(struct roof_text *out, const struct roof_curves *curves);

#endif
