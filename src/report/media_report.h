// SPDX-License-Identifier: MIT
/* Reports of the images and the audio of each prompt. Where there are none, nothing is written. */
#ifndef ROOF_REPORT_MEDIA_REPORT_H
#define ROOF_REPORT_MEDIA_REPORT_H

#include "base/text.h"
#include "model/scenario.h"

/* Continues a line with them. */
void roof_report_media(struct roof_text *out, const struct roof_scenario *scenario,
                       const struct roof_model *model);
/* Writes a line of a plan for each. */
void roof_report_media_lines(struct roof_text *out, const struct roof_scenario *scenario,
                             const struct roof_model *model);
/* Continues a JSON object with their members. */
void roof_report_media_json(struct roof_text *out, const struct roof_scenario *scenario,
                            const struct roof_model *model);

#endif
