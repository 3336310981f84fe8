// SPDX-License-Identifier: MIT
/* The options of a command line that give a scenario. */
#ifndef ROOF_REPORT_SCENARIO_OPTIONS_H
#define ROOF_REPORT_SCENARIO_OPTIONS_H

#include "base/text.h"
#include "model/scenario.h"
#include "roofline/question.h"

/* Writes the name of a model, which is its id if it has no reference. */
void roof_put_reference(struct roof_text *out, const char *reference, const char *id);

/* Writes all inputs of a scenario that a command takes and that differ from the usual ones: fields
 * of the scenario, and texts. */
void roof_put_options(struct roof_text *out, const struct roof_scenario *s,
                      const struct roof_scenario *usual, enum roof_command command);

#endif
