// SPDX-License-Identifier: MIT
/** The scenario of a model in words, and the inputs that its parts are about. */
#ifndef ROOF_REPORT_SCENARIO_REPORT_H
#define ROOF_REPORT_SCENARIO_REPORT_H

#include "base/text.h"
#include "predict/model_prediction.h"

/** The most parts of a scenario. */
#define ROOF_SCENARIO_PARTS 32
/** Stands between two parts. */
#define ROOF_SCENARIO_SEPARATOR ", "

/** A part of a scenario, as bytes of its text: "batch 8", whose value is "8". */
struct roof_scenario_part {
    size_t input; /**< that it is about */
    size_t begin;
    size_t value;
    size_t end;
};

/** Writes the scenario: "decode, batch 8, context 8192, tp 2, devices 2". `part` has space for
 * ROOF_SCENARIO_PARTS parts. Returns their number. */
size_t roof_report_scenario_parts(struct roof_text *out, struct roof_scenario_part *part,
                                  const struct roof_model_prediction *model_prediction);

/** Writes the same text. */
void roof_report_scenario(struct roof_text *out,
                          const struct roof_model_prediction *model_prediction);

#endif
