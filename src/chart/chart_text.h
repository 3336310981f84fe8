// SPDX-License-Identifier: MIT
/**
 * A chart drawn: as text for a terminal, as a script of gnuplot that makes an image, as JSON.
 */
#ifndef ROOF_CHART_CHART_TEXT_H
#define ROOF_CHART_CHART_TEXT_H

#include "base/text.h"
#include "chart/chart.h"

#define ROOF_CHART_COLUMNS_MIN 60
#define ROOF_CHART_COLUMNS_MAX 400
/** The sizes of images, in pixels; a PDF has 100 to the inch. A narrower chart would leave no room
 * for the names of its ceilings. */
#define ROOF_CHART_WIDTH_MIN 640
#define ROOF_CHART_HEIGHT_MIN 400
#define ROOF_CHART_PIXELS_MAX 10000

enum roof_chart_image { ROOF_CHART_SVG, ROOF_CHART_PNG, ROOF_CHART_PDF };

/** How a chart of characters looks. */
struct roof_chart_look {
    size_t columns;
    bool unicode;  /**< it has finer lines; without it the chart is ASCII, except for names */
    bool coloured; /**< it has colours as terminals read them */
};

/** Writes the chart in characters, then a legend of its dots. It can fail with ROOF_MEMORY. */
enum roof_status roof_chart_text(struct roof_text *out, const struct roof_chart *chart,
                                 const struct roof_chart_look *look, struct roof_error *error);

/**
 * Writes a script for gnuplot 5.4 or later with its data, which prints the image to standard
 * output. Names are data there: none of their characters means anything to gnuplot. ROOF_USAGE when
 * the legend leaves no room for the chart.
 */
enum roof_status roof_chart_gnuplot(struct roof_text *out, const struct roof_chart *chart,
                                    enum roof_chart_image image, int pixels_x, int pixels_y,
                                    struct roof_error *error);

/** Writes the chart as a JSON object: devices with ceilings, lines, points. */
void roof_chart_json(struct roof_text *out, const struct roof_chart *chart);

#endif
