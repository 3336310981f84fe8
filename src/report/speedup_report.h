// SPDX-License-Identifier: MIT
/** Reports on why one side is faster than another, for people and for programs. */
#ifndef ROOF_REPORT_SPEEDUP_REPORT_H
#define ROOF_REPORT_SPEEDUP_REPORT_H

#include "base/text.h"
#include "decide/speedup.h"
#include "report/cells.h"

/** Writes the saved time by cause, and the operators that contribute most (at most `top`). */
void roof_speedup_report_text(struct roof_text *out, const struct roof_speedup *speedup,
                              size_t top);
/** Writes the main causes after the separator: ": memory 91.0%, kernels 9.0%". Writes nothing for a
 * negligible saving, whose shares would be noise. */
void roof_speedup_report_shares(struct roof_text *out, const struct roof_gain *gain,
                                const char *separator);
/** Writes the times of all causes, then of those that act against them, so that they add up to the
 * saved time: ": memory 20.100 ms, compute 5.000 ms; lost: kernels 12.000 ms". The form of the
 * times is in milliseconds; NULL: each has its own. Writes nothing for a negligible saving. */
void roof_speedup_report_times(struct roof_text *out, const struct roof_gain *gain,
                               const char *separator, const struct roof_time_look *look);
/** Explains the causes in the shares; launch and kernels only occur in expected times. */
void roof_speedup_report_legend(struct roof_text *out, bool expected);
/** Writes the total as an object that contains the operators, without a newline. */
void roof_speedup_report_json(struct roof_text *out, const struct roof_speedup *speedup);

#endif
