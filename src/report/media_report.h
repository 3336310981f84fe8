// SPDX-License-Identifier: MIT
/* Reports the images and the audio of each prompt. Without any, nothing is written. */
#ifndef ROOF_REPORT_MEDIA_REPORT_H
#define ROOF_REPORT_MEDIA_REPORT_H

#include "base/text.h"
#include "model/scenario.h"

/* Write them in words: "2 of 896x896 (512 tokens)". */
void roof_report_images(struct roof_text *out, const struct roof_scenario *scenario,
                        const struct roof_model *model);
void roof_report_audio(struct roof_text *out, const struct roof_scenario *scenario,
                       const struct roof_model *model);
/* Continues a line with both. */
void roof_report_media(struct roof_text *out, const struct roof_scenario *scenario,
                       const struct roof_model *model);
/* Writes a line of a plan for each kind. */
void roof_report_media_lines(struct roof_text *out, const struct roof_scenario *scenario,
                             const struct roof_model *model);
/* Adds members to a JSON object. */
void roof_report_media_json(struct roof_text *out, const struct roof_scenario *scenario,
                            const struct roof_model *model);

#endif
