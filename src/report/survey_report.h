// SPDX-License-Identifier: MIT
/**
 * The document about a survey: a model on a device, in Markdown. Reports compute nothing but ratios
 * of what they print.
 */
#ifndef ROOF_REPORT_SURVEY_REPORT_H
#define ROOF_REPORT_SURVEY_REPORT_H

#include "base/text.h"
#include "catalog/hardware.h"
#include "decide/survey.h"

/** The facts that the document needs beside the survey. */
struct roof_survey_about {
    const struct roof_hardware *product; /**< as in roof_report_text; NULL: none */
    const char *command;                 /**< that prints it again */
    const char *version;                 /**< of the program */
    const char *chart;                   /**< a roofline chart of characters; NULL: none */
    size_t top;                          /**< operators of a table of kernels at most */
};

/** Writes CommonMark with tables (GitHub's); cells are padded, so that it reads well as plain text
 * too. */
void roof_survey_report(struct roof_text *out, const struct roof_survey *study,
                        const struct roof_survey_about *about);

#endif
