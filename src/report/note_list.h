// SPDX-License-Identifier: MIT
/** The notes of a text report as an array of JSON, so that a program reads what a person reads. */
#ifndef ROOF_REPORT_NOTE_LIST_H
#define ROOF_REPORT_NOTE_LIST_H

#include "base/text.h"

/** Writes `begin` and "notes": [...] with each note of `notes`, or nothing if there is none. A note
 * is a paragraph, or lines that begin with "  note: " or the label "  note  ", as the text of a
 * report has them; its lines are joined, and "Note: " is left out. */
void roof_report_note_list(struct roof_text *out, const char *begin, const struct roof_text *notes);

#endif
