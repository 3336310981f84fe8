// SPDX-License-Identifier: MIT
/* A fit of estimates to measured rows (decide/fit_scale.h): its formula, its errors, and the
 * options that apply it. */
#ifndef ROOF_REPORT_FIT_REPORT_H
#define ROOF_REPORT_FIT_REPORT_H

#include "report/report.h"

/* Writes a fit for people: a formula and options, or that none lowers the error. */
void roof_report_fit(struct roof_text *out, const struct roof_reported_fit *fit);
/* Writes the member "fit" of a JSON document, after a comma. */
void roof_report_fit_json(struct roof_text *out, const struct roof_scale_fit *fit);

#endif
