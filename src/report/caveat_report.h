// SPDX-License-Identifier: MIT
/** Notes on figures of an answer that are less certain than the others, or assume something of the
 * machine: uncertain figures of the device, few measured times, a bridge between cards,
 * collectives that were measured on one machine, and kernels of another stack than the one that was
 * asked for. Every report writes them by these functions. */
#ifndef ROOF_REPORT_CAVEAT_REPORT_H
#define ROOF_REPORT_CAVEAT_REPORT_H

#include "base/text.h"
#include "decide/plan.h"
#include "predict/model_prediction.h"

/** The parts of a device that an answer uses. */
struct roof_used {
    const struct roof_hardware *hardware;
    bool peak[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT];
    bool bridge;    /**< a collective goes over the bridge */
    double members; /**< devices of the largest collective; at most 1: there is none */
    double rivals;  /**< the same of the plans that this one was preferred to; 0: it is no plan */
    bool expected;  /**< the answer has expected times */
    enum roof_stack asked; /**< a stack that was asked for, whose kernels were not measured; BEST:
                                there is none */
    const struct roof_kernel_fit *instead; /**< a kernel that stands in for its kernels; NULL: it
                                                depends on the operator */
};
void roof_used_by(struct roof_used *out, const struct roof_prediction *prediction);
void roof_used_by_model(struct roof_used *out, const struct roof_model_prediction *model);
/** The split and formats of a scenario, which is resolved. */
void roof_used_by_scenario(struct roof_used *out, const struct roof_scenario *scenario,
                           const struct roof_hardware *hardware, bool expected);

/** Writes the notes as paragraphs that begin with "Note:". */
void roof_report_caveats(struct roof_text *out, const struct roof_used *used);
/** Writes them as lines "  note:        ..." of a plan. */
void roof_plan_put_caveats(struct roof_text *out, const struct roof_used *used);

#endif
