// SPDX-License-Identifier: MIT
/* The totals per block of a model. */
#ifndef ROOF_REPORT_BLOCK_REPORT_H
#define ROOF_REPORT_BLOCK_REPORT_H

#include "base/text.h"
#include "predict/model_prediction.h"

/* Writes the totals as a table for people, or as the member "blocks" of an object, after a comma;
 * nothing if they are unknown. */
void roof_report_blocks(struct roof_text *out, bool json, const struct roof_blocks *blocks);

#endif
