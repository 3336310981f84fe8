// SPDX-License-Identifier: MIT
/* The report of what was measured of a device. */
#ifndef ROOF_REPORT_MEASURE_REPORT_H
#define ROOF_REPORT_MEASURE_REPORT_H

#include "base/text.h"
#include "measure/judge.h"

struct roof_measure_report {
    const struct roof_measured *measured;
    const struct roof_judgement *judgement; /* NULL: no device came of what was measured */
    const char *against; /* whose predictions are judged; NULL: the device's own */
    bool compared;       /* say if they agree */
};

void roof_report_measured_text(struct roof_text *out, const struct roof_measure_report *report);
void roof_report_measured_markdown(struct roof_text *out, const struct roof_measure_report *report);
void roof_report_measured_json(struct roof_text *out, const struct roof_measure_report *report);

#endif
