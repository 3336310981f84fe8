// SPDX-License-Identifier: MIT
/* The summary at the end of `monitor`: energy and power of each GPU and in total. */
#ifndef ROOF_REPORT_MONITOR_REPORT_H
#define ROOF_REPORT_MONITOR_REPORT_H

#include "base/text.h"
#include "measure/energy.h"

struct roof_monitor_report {
    const char *source; /* "nvml", "rocm_smi", "amd_smi", "log" */
    const struct roof_energy_sum *sums;
    size_t count;
    double tokens; /* NAN: unknown */
};

/* Writes a table for people, and a sentence. */
void roof_report_monitor_text(struct roof_text *out, const struct roof_monitor_report *report);
/* Appends members to a JSON object: ',"devices":[...],...'. */
void roof_report_monitor_json(struct roof_text *out, const struct roof_monitor_report *report);
/* Writes only the sentence, without a newline. */
void roof_report_monitor_line(struct roof_text *out, const struct roof_monitor_report *report);

#endif
