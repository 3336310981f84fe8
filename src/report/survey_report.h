// SPDX-License-Identifier: MIT
/** The document about a survey: a model on a device, in Markdown. Reports compute nothing but
 * ratios of printed values. */
#ifndef ROOF_REPORT_SURVEY_REPORT_H
#define ROOF_REPORT_SURVEY_REPORT_H

#include "base/text.h"
#include "catalog/hardware.h"
#include "decide/survey.h"

/** The facts for the document beside the survey. */
struct roof_survey_about {
    const struct roof_hardware *product; /**< as in roof_report_text; NULL: none */
    const char *command;                 /**< the command that prints the document */
    const char *version;                 /**< version of the program */
    const char *chart;                   /**< a roofline chart in characters; NULL: none */
    size_t top;                          /**< the most operators in a table of kernels */
};

/** Writes CommonMark with GitHub's tables; cells are padded, so that it also reads well as plain
 * text. */
void roof_survey_report(struct roof_text *out, const struct roof_survey *study,
                        const struct roof_survey_about *about);

#endif
