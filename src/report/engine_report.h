// SPDX-License-Identifier: MIT
/** A report about an engine, for people and for programs. It computes nothing. */
#ifndef ROOF_REPORT_ENGINE_REPORT_H
#define ROOF_REPORT_ENGINE_REPORT_H

#include "base/text.h"
#include "report/rows.h"

/** Makes a row of the table of engines; it borrows from the engine. */
void roof_engine_entry_make(struct roof_engine_entry *out, const struct roof_engine *engine);
/** Writes the formats, splits and arguments of an engine, with notes and sources. */
void roof_engine_report(struct roof_text *out, bool json, const struct roof_engine_entry *entry);

#endif
