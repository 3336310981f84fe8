// SPDX-License-Identifier: MIT
/* Lays a chart out, for every way to draw it: axes, marks, and labels that do not overlap. Lengths
 * are in the unit of the canvas (pixels), y grows downwards. */
#ifndef ROOF_CHART_PLACE_H
#define ROOF_CHART_PLACE_H

#include "chart/chart.h"

/* A label has at most this many bytes, terminated. */
#define ROOF_LABEL_SIZE 64

struct roof_box {
    double left, top, right, bottom;
};

/* The area to draw on. */
struct roof_canvas {
    double width, height;
    struct roof_box plot; /* the area inside the axes; its right moves to make room for labels */
    double beside;        /* between the plot and the labels at its right */
    double char_width;    /* the width of a typical character */
    double line_height;
    double radius_min; /* the least radius of a mark */
    double radius_max; /* the radius of a mark that takes the whole time */
    double side_share; /* the largest share of the width for the labels beside the plot */
    bool leaders;      /* labels may stand apart from what they name, joined to it by a line */
    bool shares;       /* labels of marks tell their share of the time, or what they reached */
};

/* A mark: dots of one group on one device that lie upon each other. */
struct roof_mark {
    double x, y;
    double reached_y; /* y of what the first dot reached; NAN: unknown */
    double whisker_x; /* x of the line to what it reached: beside x where several marks share it */
    double whisker_end; /* half of the width of the tick at its end */
    bool beside;        /* several marks share x, and the label stands at the tick */
    double radius;
    double share; /* of the time, for all its dots; NAN: unknown */
    size_t group, roof;
    size_t first; /* its dot that takes most time, which is its first in the chart */
    size_t dots;
    bool labelled;
    bool leader; /* a line joins the label and the mark */
    bool shared; /* the label, if it has one, is that of marks of other devices, too */
    char label[ROOF_LABEL_SIZE];
    struct roof_box box; /* the box of the label */
};

/* A ceiling or a horizontal line with its label beside the plot. */
struct roof_side {
    char label[ROOF_LABEL_SIZE]; /* "": the label of another names it, too */
    double at;                   /* y of the ceiling or line */
    double y;                    /* y of the middle of the label */
    size_t roof;                 /* ROOF_CHART_ROOFS_MAX: it belongs to none */
    bool vector;                 /* it is a ceiling of a vector unit */
    bool line;                   /* it is a line, not a ceiling */
    bool placed;                 /* its label stands at y */
    bool tick;                   /* it is a ceiling that no dot runs at: a tick at the right */
    bool used;   /* it is a ceiling that a dot runs at, or of a device without dots */
    double rate; /* FLOP/s */
    double bend; /* byte/s: it bends from this slope; 0: it is level */
    double from; /* FLOP/byte of its left end */
};

/* A slope with its label, which runs along it. */
struct roof_slope {
    char label[ROOF_LABEL_SIZE];
    size_t roof;
    bool line;
    double rate;            /* byte/s */
    double to;              /* FLOP/byte of its right end */
    double x, y;            /* the middle of the label */
    double rise;            /* pixels up per pixel to the right */
    struct roof_box box[8]; /* the boxes of pieces of the label */
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
    size_t *mark_of; /* the mark of each dot; ROOF_CHART_DOTS_MAX: it is not drawn */
    const struct roof_mark **by_size; /* marks, the largest first: as they are drawn */
    struct roof_side side[ROOF_SIDES_MAX];
    size_t sides;
    struct roof_slope slope[ROOF_SLOPES_MAX];
    size_t slopes;
    size_t unlabelled; /* marks without a label */
    bool shortened;    /* labels beside the plot lack a ridge point, a rate or their place */
};

/* Lays a chart out. Dots of a group that are nearer than a distance become one mark. Labels of
 * marks and slopes have no place yet. The caller owns *out: roof_chart_layout_free. */
enum roof_status roof_chart_lay_out(struct roof_chart_layout **out, const struct roof_chart *chart,
                                    const struct roof_canvas *canvas, double distance,
                                    struct roof_error *error);
void roof_chart_layout_free(struct roof_chart_layout *layout);
/* A straight line from (x0, y0) to (x1, y1). */
struct roof_leader {
    double x0, y0, x1, y1;
};
/* Finds the leader from a mark to its label in a box: to the nearest place of the box. */
struct roof_leader roof_leader_to(const struct roof_mark *mark, const struct roof_box *box);
/* Finds places for the labels of marks and slopes, as far as there is room. */
void roof_chart_place_labels(struct roof_chart_layout *layout);

/* Returns the FLOP/s of a ceiling or line at an intensity. */
double roof_chart_side_rate(const struct roof_side *side, double intensity);

/* These return the place of an intensity and of a rate on the canvas. */
double roof_chart_x(const struct roof_chart_layout *layout, double intensity);
double roof_chart_y(const struct roof_chart_layout *layout, double flops_per_s);

#endif
