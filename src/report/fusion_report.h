// SPDX-License-Identifier: MIT
/** The times, bytes and kernels for each level of fusion, in reports on models. */
#ifndef ROOF_REPORT_FUSION_REPORT_H
#define ROOF_REPORT_FUSION_REPORT_H

#include "base/text.h"
#include "predict/model_prediction.h"

/** Writes a line per level, with its times and their ratio to those of `all`. */
void roof_report_fusion(struct roof_text *out, const struct roof_fusion *f);
/** Writes the member "fusion" of an object, after a comma. */
void roof_report_fusion_json(struct roof_text *out, const struct roof_fusion *f);

#endif
