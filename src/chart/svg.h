// SPDX-License-Identifier: MIT
/* Gives an SVG image of gnuplot the title and the description that browsers show and screen readers
 * read. */
#ifndef ROOF_CHART_SVG_H
#define ROOF_CHART_SVG_H

#include "base/text.h"
#include "chart/chart.h"

/* Copies an image, with the title of the chart and a summary of its devices, dots and notes in
 * place of the name of gnuplot. An image that has no such elements is copied as it is. */
void roof_chart_entitle(struct roof_text *out, const char *svg, size_t length,
                        const struct roof_chart *chart);

#endif
