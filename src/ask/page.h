// SPDX-License-Identifier: MIT
/* Pages for the browser: a model with sliders for its sizes. */
#ifndef ROOF_ASK_PAGE_H
#define ROOF_ASK_PAGE_H

#include "chart/chart_page.h"
#include "decide/grid.h"

/* Finds what the sliders of a page move, for a grid of one model whose phase alone takes several
 * values; false for any other grid. */
bool roof_page_grid(struct roof_page_sizes *out, const struct roof_grid *grid,
                    const struct roof_question *question);

#endif
