// SPDX-License-Identifier: MIT
/* The report on measured steps of a model. */
#ifndef ROOF_REPORT_STEP_REPORT_H
#define ROOF_REPORT_STEP_REPORT_H

#include "base/text.h"
#include "measure/step.h"

/* `compared`: say whether the predictions agree. */
void roof_report_step_text(struct roof_text *out, const struct roof_measured_step *step,
                           bool compared);
void roof_report_step_markdown(struct roof_text *out, const struct roof_measured_step *step,
                               bool compared);
/* Writes all steps as one document. */
void roof_report_steps_json(struct roof_text *out, const struct roof_measured_step *const *step,
                            size_t count);
/* Writes the operators of all steps with the columns of rows.csv, which compare reads. */
enum roof_status roof_report_steps_csv(struct roof_text *out,
                                       const struct roof_measured_step *const *step, size_t count,
                                       struct roof_error *error);

#endif
