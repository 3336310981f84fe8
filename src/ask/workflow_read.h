// SPDX-License-Identifier: MIT
/* Reads a graph file and predicts its operators. */
#ifndef ROOF_ASK_WORKFLOW_READ_H
#define ROOF_ASK_WORKFLOW_READ_H

#include "ask/asking.h"
#include "decide/workflow.h"

/** Reads the graph file of the question, and predicts every operator on its device. Missing inputs
 * of an operator come from its stage, or else the question, or else the file. Release *out with
 * roof_workflow_free, even after a failure. */
enum roof_status roof_workflow_read(struct roof_workflow *out, struct roof_asking *a,
                                    struct roof_error *error);

#endif
