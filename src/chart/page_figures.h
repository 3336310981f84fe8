// SPDX-License-Identifier: MIT
/* The figures of a page: a row for each operator, and a summary for each point of a model, as
 * arrays of JSON. */
#ifndef ROOF_PAGE_FIGURES_H
#define ROOF_PAGE_FIGURES_H

#include "base/text.h"
#include "chart/chart.h"

/* The names of the elements of a row and of a summary, in their order, as an array of JSON. */
extern const char roof_page_row_keys[];
extern const char roof_page_summary_keys[];

/* Writes the row of a dot. */
void roof_page_put_row(struct roof_text *out, const struct roof_chart *chart,
                       const struct roof_chart_dot *dot);
/* Writes the summary of a model's pass. */
void roof_page_put_summary(struct roof_text *out, const struct roof_model_prediction *r);
/* Writes the sizes of an operator, and the format of its weights. */
void roof_page_put_shape(struct roof_text *out, const struct roof_prediction *p);

#endif
