// SPDX-License-Identifier: MIT
/* Measured steps of a model as CSV, from which a later run takes them. */
#ifndef ROOF_MEASURE_STEP_ROWS_H
#define ROOF_MEASURE_STEP_ROWS_H

#include "base/text.h"
#include "measure/step.h"

/* Writes the first line of the file. */
void roof_steps_columns(struct roof_text *out);

/* Writes steps: a row for each operator that ran, and behind them one for the step. In front of
 * them stand the other steps of an earlier text; NULL: there is none. */
void roof_steps_write(struct roof_text *out, const struct roof_measured_step *const *step,
                      size_t count, const char *earlier);

/* Fills in the times of a listed step (roof_step_list) from the text of an earlier run. Returns
 * false, and leaves the step alone, if the text lacks the step or one of its operators in these
 * sizes and formats. */
bool roof_steps_find(struct roof_measured_step *step, const char *text);

#endif
