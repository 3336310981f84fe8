// SPDX-License-Identifier: MIT
/** What each way to fuse operators takes, in reports of models. */
#ifndef ROOF_REPORT_FUSION_REPORT_H
#define ROOF_REPORT_FUSION_REPORT_H

#include "base/text.h"
#include "predict/model_prediction.h"

/** Writes lines for people, over what all fused takes. */
void roof_report_fusion(struct roof_text *out, const struct roof_fusion *f);
/** Writes the member "fusion" of an object, after a comma. */
void roof_report_fusion_json(struct roof_text *out, const struct roof_fusion *f);

#endif
