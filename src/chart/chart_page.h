// SPDX-License-Identifier: MIT
/**
 * A chart as one HTML page that needs nothing else: the chart to look into with the mouse or the
 * keyboard, its operators as a table and, for a model, sliders for its sizes. The page computes
 * nothing: whatever it can show was predicted when it was written.
 */
#ifndef ROOFLINE_CHART_PAGE_H
#define ROOFLINE_CHART_PAGE_H

#include "base/text.h"
#include "chart/chart.h"

/** The sizes that the sliders of a page move: the batch and the context of a model. */
struct roof_page_sizes {
    const struct roof_model *model;
    struct roof_scenario scenario; /**< not resolved; the sliders stand there first */
    bool phase[ROOF_PHASE_COUNT];  /**< the phases that are shown; a request has none */
};

/** Batches go from 1 to this, contexts from ROOF_PAGE_CONTEXT_MIN to what the model was made for
 * (unknown: to ROOF_PAGE_CONTEXT_MAX), each twice the one before; those of the scenario, and the
 * model's limit, are among them. */
#define ROOF_PAGE_BATCH_MAX 512
#define ROOF_PAGE_CONTEXT_MIN 512
#define ROOF_PAGE_CONTEXT_MAX 131072

/**
 * Writes the page. With sizes the model is predicted on each device of the chart, and the chart's
 * own dots are not used; a phase that the scenario cannot have is left out. chart->expected says
 * whether expected times are shown at first. ROOF_USAGE when the scenario itself is not valid.
 */
enum roof_status roof_chart_page(struct roof_text *out, const struct roof_chart *chart,
                                 const struct roof_page_sizes *sizes, struct roof_error *error);

#endif
