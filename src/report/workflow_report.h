// SPDX-License-Identifier: MIT
/* The output of `predict graph`. */
#ifndef ROOF_REPORT_WORKFLOW_REPORT_H
#define ROOF_REPORT_WORKFLOW_REPORT_H

#include "base/text.h"
#include "decide/workflow.h"

void roof_workflow_report_json(struct roof_text *out, const struct roof_workflow *workflow);
/* Writes the report for people, with at most `top` of the slowest operators. */
void roof_workflow_report_text(struct roof_text *out, const struct roof_workflow *workflow,
                               size_t top);

#endif
