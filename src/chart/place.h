// SPDX-License-Identifier: MIT
/* The layout of a chart for every output format: axes, marks, and labels that do not overlap.
 * Lengths are in units of the canvas (pixels), and y grows downwards. */
#ifndef ROOF_CHART_PLACE_H
#define ROOF_CHART_PLACE_H

#include "chart/chart.h"

/* The size of a terminated label, in bytes. */
#define ROOF_LABEL_SIZE 64

struct roof_box {
    double left, top, right, bottom;
};

/* The area to draw on. */
struct roof_canvas {
    double width, height;
    struct roof_box
        plot;          /* the area inside the axes; its right edge moves to make room for labels */
    double beside;     /* between the plot and the labels on its right */
    double char_width; /* the width of a typical character */
    double line_height;
    double radius_min; /* the least radius of a mark */
    double radius_max; /* the radius of a mark with 100 % of the time */
    double side_share; /* the largest fraction of the width for the labels beside the plot */
    bool leaders;      /* labels may be apart from their objects, with a line between them */
    bool shares;       /* labels of marks have their share of the time, or the reached fraction */
};

/* A mark: overlapping dots of one group on one device. */
struct roof_mark {
    double x, y;
    double reached_y;   /* y of the first dot's reached rate; NAN: unknown */
    double whisker_x;   /* x of the whisker: beside x if several marks share it */
    double whisker_end; /* half the width of the tick at its end */
    bool beside;        /* several marks share x, and the label is at the tick */
    double radius;
    double share; /* of the time, for all its dots; NAN: unknown */
    double most;  /* the largest share of the marks that have its label, when labels are placed */
    size_t group, roof;
    size_t first; /* its dot with the most time, which is its first in the chart */
    size_t dots;
    bool labelled;
    bool leader; /* a line joins the label and the mark */
    bool shared; /* its label also belongs to marks of other devices */
    char label[ROOF_LABEL_SIZE];
    size_t named;        /* length of the label without its share */
    struct roof_box box; /* the box of the label */
};

/* A ceiling or a horizontal line with its label beside the plot. */
struct roof_side {
    char label[ROOF_LABEL_SIZE]; /* "": another label includes it */
    double at;                   /* y of the ceiling or line */
    double y;                    /* y of the middle of the label */
    size_t roof;                 /* ROOF_CHART_ROOFS_MAX: it has no device */
    bool vector;                 /* it is a ceiling of a vector unit */
    bool line;                   /* it is a line, not a ceiling */
    bool placed;                 /* its label is placed at y */
    bool tick;                   /* it is a ceiling without dots: a tick on the right */
    bool used;                   /* it is a ceiling with a dot, or of a device without dots */
    size_t lacking;              /* number of formats that its label counts without naming them */
    double rate;                 /* FLOP/s */
    double bend;                 /* byte/s: it bends from this slope; 0: it is level */
    double from;                 /* FLOP/byte at its left end */
};

/* A slope with its label, which runs along it. */
struct roof_slope {
    char label[ROOF_LABEL_SIZE];
    size_t roof;
    bool line;
    double rate;            /* byte/s */
    double to;              /* FLOP/byte at its right end */
    double x, y;            /* the middle of the label */
    double rise;            /* pixels up per pixel to the right */
    struct roof_box box[8]; /* boxes of pieces of the label */
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
    const struct roof_mark **by_size; /* marks in the order of drawing, the largest first */
    struct roof_side side[ROOF_SIDES_MAX];
    size_t sides;
    struct roof_slope slope[ROOF_SLOPES_MAX];
    size_t slopes;
    size_t unlabelled; /* number of marks without a label */
    bool joined;       /* lines join the reached rates of the marks of a group on a device */
    bool shortened; /* some labels beside the plot lack formats, a ridge point, a rate or a position
                     */
};

/* Lays out a chart. Dots of a group within a distance become one mark. Labels of marks and slopes
 * are not placed yet. The caller owns *out: roof_chart_layout_free. */
enum roof_status roof_chart_lay_out(struct roof_chart_layout **out, const struct roof_chart *chart,
                                    const struct roof_canvas *canvas, double distance,
                                    struct roof_error *error);
void roof_chart_layout_free(struct roof_chart_layout *layout);
/* A straight line from (x0, y0) to (x1, y1). */
struct roof_leader {
    double x0, y0, x1, y1;
};
/* Finds the leader from a mark to the nearest point of its label's box. */
struct roof_leader roof_leader_to(const struct roof_mark *mark, const struct roof_box *box);
/* Places the labels of marks and slopes for which there is room. */
void roof_chart_place_labels(struct roof_chart_layout *layout);

/* Finds the intensities below which each used ceiling is memory-bound, and above which it is
 * compute-bound. Returns false without used ceilings. */
bool roof_chart_zones(double *low, double *high, const struct roof_chart_layout *layout);

/* Returns the FLOP/s of a ceiling or line at an intensity. */
double roof_chart_side_rate(const struct roof_side *side, double intensity);

/* Return the position of an intensity and of a rate on the canvas. */
double roof_chart_x(const struct roof_chart_layout *layout, double intensity);
double roof_chart_y(const struct roof_chart_layout *layout, double flops_per_s);

#endif
