// SPDX-License-Identifier: MIT
/* The report on a measured device. */
#ifndef ROOF_REPORT_MEASURE_REPORT_H
#define ROOF_REPORT_MEASURE_REPORT_H

#include "base/text.h"
#include "measure/fit.h"
#include "measure/judge.h"

struct roof_measure_report {
    const struct roof_measured *measured;
    const struct roof_judgement *judgement; /* NULL: the measurement gave no device */
    const struct roof_fits *fits;           /* of the measured device; NULL: none are told */
    const char *against; /* the device whose predictions are judged; NULL: the measured one */
    bool compared;       /* say whether they agree */
};

void roof_report_measured_text(struct roof_text *out, const struct roof_measure_report *report);
void roof_report_measured_markdown(struct roof_text *out, const struct roof_measure_report *report);
void roof_report_measured_json(struct roof_text *out, const struct roof_measure_report *report);

#endif
