// SPDX-License-Identifier: MIT
/* The levers of an operator or a model, below its prediction. */
#ifndef ROOF_REPORT_ADVICE_REPORT_H
#define ROOF_REPORT_ADVICE_REPORT_H

#include "base/text.h"
#include "decide/lever.h"
#include "decide/survey.h"

/* Both write levers as a table for people, or as the member "advice" of an object, after a comma.
 */
void roof_report_advice(struct roof_text *out, bool json, const struct roof_advice *advice);
void roof_report_survey_advice(struct roof_text *out, bool json, const struct roof_survey *survey);

/* Names the change of a lever: "weights fp8_e4m3, activations fp8_e4m3". */
void roof_report_lever(struct roof_text *out, const struct roof_lever *lever);

#endif
