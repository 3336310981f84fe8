// SPDX-License-Identifier: MIT
/* The sections of the report about a model on a device that have separate files. */
#ifndef ROOF_REPORT_SURVEY_H
#define ROOF_REPORT_SURVEY_H

#include "report/survey_report.h"

/* Writes the limits of the device and their sources (survey_device.c). */
void roof_survey_put_device(struct roof_text *out, const struct roof_survey *s,
                            const struct roof_survey_about *about);
/* Write the name of a change, and what it means and implies. */
void roof_survey_put_change(struct roof_text *out, const struct roof_survey_phase *phase,
                            const struct roof_survey_change *change);
void roof_survey_put_note(struct roof_text *out, const struct roof_survey_phase *phase,
                          const struct roof_survey_change *change);
/* Tells whether a model that does not fit would fit with a change. */
bool roof_survey_makes_room(const struct roof_survey_phase *phase,
                            const struct roof_survey_change *change);
/* Writes the gains of single changes (survey_changes.c). */
void roof_survey_put_changes(struct roof_text *out, const struct roof_survey *s);

#endif
