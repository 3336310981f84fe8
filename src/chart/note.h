// SPDX-License-Identifier: MIT
/* Describes what a chart does not draw, for every output format. */
#ifndef ROOF_CHART_NOTE_H
#define ROOF_CHART_NOTE_H

#include "base/text.h"
#include "chart/chart.h"

/* The notes of a chart, in the order in which they are printed. */
enum roof_chart_note {
    ROOF_NOTE_UNFIT,  /* "decode does not fit: it needs 1.2 TiB, and t4 has 14 GiB for it, of 16" */
    ROOF_NOTE_ABOUT,  /* "decode, batch 1, context 4096; weights fp16, activations fp16, ..." */
    ROOF_NOTE_FOLDED, /* "14 operators below 1% of the time (together at most 0.3% of ...) are not
                         drawn" */
    ROOF_NOTE_LEFT_OUT, /* "4 operators without FLOPs or a known peak are not drawn" */
    ROOF_NOTE_UNKNOWN,  /* "no expected time is known for 12 dots on mi300x" */
    ROOF_NOTE_ABRIDGED, /* "other formats: --ceilings" */
    ROOF_NOTES
};

/* Writes the drawn formats of a ceiling: "bf16, fp16", "fp32 vector". Without `all`, it names the
 * first of many, and counts the others. Returns the number of formats that it does not name. */
size_t roof_chart_put_formats(struct roof_text *out, const struct roof_chart *chart,
                              const struct roof_chart_ceiling *ceiling, bool all);

/* Writes a note, or nothing if it does not apply. */
void roof_chart_note(struct roof_text *out, const struct roof_chart *chart,
                     enum roof_chart_note note);

#endif
