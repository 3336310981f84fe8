// SPDX-License-Identifier: MIT
/* Sets the title and the description of an SVG from gnuplot, which browsers show and screen readers
 * read. */
#ifndef ROOF_CHART_SVG_H
#define ROOF_CHART_SVG_H

#include "base/text.h"
#include "chart/chart.h"

/* Copies an image, with a title and a summary in place of the name of gnuplot. An image without
 * such elements is copied unchanged. */
void roof_svg_entitle(struct roof_text *out, const char *svg, size_t length, const char *title,
                      const char *summary);

/* Writes a summary of a chart: its devices, dots and notes. */
void roof_chart_summary(struct roof_text *out, const struct roof_chart *chart);

#endif
