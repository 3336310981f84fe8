// SPDX-License-Identifier: MIT
/** Notes on figures of an answer that are less certain than the others, or assume something of the
 * machine: uncertain figures of the device, few measured times, a bridge between cards, copies on
 * several nodes, collectives that were measured on one machine, and kernels of another stack than
 * the one that was asked for. Every report writes them by these functions. */
#ifndef ROOF_REPORT_CAVEAT_REPORT_H
#define ROOF_REPORT_CAVEAT_REPORT_H

#include "base/text.h"
#include "decide/plan.h"
#include "predict/model_prediction.h"

/** The parts of a device that an answer uses. */
struct roof_used {
    const struct roof_hardware *hardware;
    const struct roof_hardware
        *host; /**< the measured host that runs a part; NULL: there is none */
    bool peak[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT];
    bool bridge;    /**< a collective goes over the bridge */
    bool host_link; /**< devices of a model send over the link to the host */
    double devices; /**< devices of a copy of a model; 0: unknown */
    double copies;  /**< copies of the model; at most 1: one, or unknown */
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
/** Names the devices of a problem whose collectives have times that may be far off, as paragraphs:
 * plans on them may be rejected or rank lower for that reason alone. The device of the best plan is
 * left out, because the notes of the plan have it; NULL: there is no plan. */
void roof_plan_put_collectives(struct roof_text *out, const struct roof_plan_problem *problem,
                               const struct roof_plan *best);
/** Says that plans with separate prefill copies were left out on a device, because they are in
 * several nodes whose link is unknown; `separator` goes first. `devices` of such a plan: 0 if none
 * was left out, for which nothing is written. */
void roof_report_unlinked(struct roof_text *out, const char *separator,
                          const struct roof_hardware *device, double devices);

/* Says after a separator, if some devices of a problem have a price and others have none, how to
 * give it. */
void roof_plan_put_unpriced(struct roof_text *out, const char *separator,
                            const struct roof_plan_problem *problem);

#endif
