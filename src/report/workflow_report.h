// SPDX-License-Identifier: MIT
/* What `predict graph` writes. */
#ifndef ROOF_REPORT_WORKFLOW_REPORT_H
#define ROOF_REPORT_WORKFLOW_REPORT_H

#include "base/text.h"
#include "decide/workflow.h"

void roof_workflow_report_json(struct roof_text *out, const struct roof_workflow *workflow);
/* For people, with the operators that take the most time, at most `top`. */
void roof_workflow_report_text(struct roof_text *out, const struct roof_workflow *workflow,
                               size_t top);

#endif
