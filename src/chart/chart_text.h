// SPDX-License-Identifier: MIT
/** Draws a chart: as text for a terminal, as a gnuplot script for an image, and as JSON. */
#ifndef ROOF_CHART_CHART_TEXT_H
#define ROOF_CHART_CHART_TEXT_H

#include "base/text.h"
#include "chart/chart.h"

#define ROOF_CHART_COLUMNS_MIN 60
#define ROOF_CHART_COLUMNS_MAX 400
/** The least width of images, in pixels; a PDF has 100 per inch. A narrower chart would have no
 * room for the names of its ceilings. */
#define ROOF_CHART_WIDTH_MIN 640
#define ROOF_CHART_HEIGHT_MIN 400
#define ROOF_CHART_PIXELS_MAX 10000

enum roof_chart_image { ROOF_CHART_SVG, ROOF_CHART_PNG, ROOF_CHART_PDF };

/** The format of a chart in characters. */
struct roof_chart_look {
    size_t columns;
    bool unicode;  /**< Braille lines; otherwise the chart is ASCII, except for names */
    bool coloured; /**< colours, as terminal escapes */
};

/** Writes the chart in characters, then a legend of its dots. It can fail with ROOF_MEMORY. */
enum roof_status roof_chart_text(struct roof_text *out, const struct roof_chart *chart,
                                 const struct roof_chart_look *look, struct roof_error *error);

/** Writes a self-contained script for gnuplot 5.4 or later, which prints the image to standard
 * output. Names are quoted so that no character has a meaning for gnuplot. ROOF_USAGE if the
 * legend leaves no room for the chart. */
enum roof_status roof_chart_gnuplot(struct roof_text *out, const struct roof_chart *chart,
                                    enum roof_chart_image image, int pixels_x, int pixels_y,
                                    struct roof_error *error);

/** Writes the chart as a JSON object: devices with ceilings, lines, points. */
void roof_chart_json(struct roof_text *out, const struct roof_chart *chart);

#endif
