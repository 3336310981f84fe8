// SPDX-License-Identifier: MIT
/** Reports about why one side is faster than another, for people and for programs. */
#ifndef ROOF_REPORT_SPEEDUP_REPORT_H
#define ROOF_REPORT_SPEEDUP_REPORT_H

#include "base/text.h"
#include "decide/speedup.h"

/** Writes the saved time by cause, and the operators that take most of it (at most top). */
void roof_speedup_report_text(struct roof_text *out, const struct roof_speedup *speedup,
                              size_t top);
/** Writes the causes that matter after the separator: ": memory 91.0%, kernels 9.0%". Writes
 * nothing when next to nothing is saved, because its shares would be noise. */
void roof_speedup_report_shares(struct roof_text *out, const struct roof_gain *gain,
                                const char *separator);

/** Explains the causes that the shares name; launch and kernels are those of expected times. */
void roof_speedup_report_legend(struct roof_text *out, bool expected);
/** Writes the total as an object, with the operators in it; no newline after it. */
void roof_speedup_report_json(struct roof_text *out, const struct roof_speedup *speedup);

#endif
