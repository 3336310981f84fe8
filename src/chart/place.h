// SPDX-License-Identifier: MIT
/* Where everything of a chart stands, for whatever draws it: axes, marks, and labels that do not
 * overlap. Lengths are in the unit of the canvas (pixels), y grows downwards. */
#ifndef ROOF_CHART_LAYOUT_H
#define ROOF_CHART_LAYOUT_H

#include "roofline/chart.h"

/* What the text of a label may have. */
#define ROOF_LABEL_SIZE 64

struct roof_box {
    double left, top, right, bottom;
};

/* What is drawn on. */
struct roof_canvas {
    double width, height;
    struct roof_box plot; /* the area inside the axes; its right moves to make room for labels */
    double beside;        /* between the plot and the labels at its right */
    double char_width;    /* of a typical character */
    double line_height;
    double radius_min; /* of a mark */
    double radius_max; /* of one that takes the whole time */
};

/* Dots of one group on one device that lie upon each other. */
struct roof_mark {
    double x, y;
    double reached_y; /* where what it reached stands, of the first dot; NAN: nowhere */
    double radius;
    double share; /* of all its dots; NAN: of none is known */
    size_t group, roof;
    size_t first; /* the dot that takes most time: the first in the chart */
    size_t dots;
    bool labelled;
    bool leader; /* a line joins the label and the mark */
    char label[ROOF_LABEL_SIZE];
    struct roof_box box; /* of the label */
};

/* A ceiling or a horizontal line with its label beside the plot. */
struct roof_side {
    char label[ROOF_LABEL_SIZE]; /* "": another's names it, too */
    double at;                   /* y of what it names */
    double y;                    /* y of its middle */
    size_t roof;                 /* ROOF_CHART_ROOFS_MAX: of none */
    bool vector;                 /* a ceiling of a vector unit */
    bool line;                   /* a line, not a ceiling */
    double rate;                 /* FLOP/s */
    double from;                 /* FLOP/byte where it begins */
};

/* A slope with its label, which runs along it. */
struct roof_slope {
    char label[ROOF_LABEL_SIZE];
    size_t roof;
    bool line;
    double rate;            /* byte/s */
    double to;              /* FLOP/byte where it ends */
    double x, y;            /* of the middle of the label */
    double rise;            /* pixels up per pixel to the right */
    struct roof_box box[8]; /* pieces of the label */
    size_t boxes;
};

#define ROOF_SIDES_MAX (ROOF_CHART_ROOFS_MAX * ROOF_CHART_CEILINGS_MAX + ROOF_CHART_LINES_MAX)
#define ROOF_SLOPES_MAX (ROOF_CHART_ROOFS_MAX + ROOF_CHART_LINES_MAX)

struct roof_chart_layout {
    struct roof_canvas canvas;
    double x_min, x_max; /* FLOP/byte */
    double y_min, y_max; /* FLOP/s */
    struct roof_mark *mark;
    size_t marks;
    size_t *mark_of;                  /* of each dot */
    const struct roof_mark **by_size; /* marks, the largest first: as they are drawn */
    struct roof_side side[ROOF_SIDES_MAX];
    size_t sides;
    struct roof_slope slope[ROOF_SLOPES_MAX];
    size_t slopes;
    size_t unlabelled; /* marks that no free place was found for */
};

/* Lays a chart out; dots nearer than `near` are one mark. Labels of marks and slopes have no place
 * yet. The caller owns *out. */
enum roof_status roof_chart_lay_out(struct roof_chart_layout **out, const struct roof_chart *chart,
                                    const struct roof_canvas *canvas, double near,
                                    struct roof_error *error);
void roof_chart_layout_free(struct roof_chart_layout *layout);
/* Finds their places, as far as there is room. */
void roof_chart_place_labels(struct roof_chart_layout *layout);

/* "4 operators without FLOPs, 0.1% of the time, are not shown"; nothing when none is left out. */
void roof_chart_left_out(struct roof_text *out, const struct roof_chart *chart);

/* The place of an intensity and of a rate on the canvas. */
double roof_chart_x(const struct roof_chart_layout *layout, double intensity);
double roof_chart_y(const struct roof_chart_layout *layout, double flops_per_s);

#endif
