// SPDX-License-Identifier: MIT
/** A workflow: stages of operators that run one after another, as described by a graph file
 * (docs/formats.md, "Graph files"). A stage may repeat, an operator may stand for several of its
 * size, and part of the work may be split over devices. */
#ifndef ROOF_DECIDE_WORKFLOW_H
#define ROOF_DECIDE_WORKFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "roofline/predict.h"

/** The most stages and operators of a workflow. */
#define ROOF_WORKFLOW_STAGES_MAX 256
#define ROOF_WORKFLOW_OPERATORS_MAX 4096
/** The largest repeat of a stage or count of an operator. */
#define ROOF_WORKFLOW_COUNT_MAX 1000000000

struct roof_workflow_operator {
    const char *name;
    size_t stage;
    int64_t count; /**< in one pass through the stage */
    bool split;    /**< each device does a part of it, or it transfers bytes between them */
    struct roof_prediction prediction;
};

/** Times of a whole run on one device, and its work. */
struct roof_workflow_sum {
    double time_s;     /**< the bound, including host_s */
    double expected_s; /**< including host_s; NAN: an operator has none */
    double low_s;      /**< the interval around expected_s, if all kernels err in one direction */
    double high_s;
    double mixed_s; /**< like expected_s, but with bounds for operators that have none */
    double host_s;  /**< serial parts, and waits before launches */
    double whole_s; /**< the part of time_s that more devices do not shorten */
    double launches;
    double flops;
    double bytes;
    double share[ROOF_BOTTLENECK_COUNT]; /**< seconds of time_s by bottleneck; the host counts as
                                            overhead */
    enum roof_bottleneck bottleneck;     /**< the largest of these */
};

struct roof_workflow_stage {
    const char *name;
    int64_t repeat;
    size_t first; /**< index of its first operator */
    size_t count;
    double serial_s;  /**< per pass */
    double gap_s;     /**< before each launch */
    int64_t launches; /**< per pass; 0: one for each operator that it counts */
    struct roof_workflow_sum sum;
};

struct roof_workflow {
    struct roof_json *json; /**< owns the names */
    const char *name;
    const char *unit; /**< unit of the result of a run: "frames"; "runs" if the file names none */
    double yields;    /**< number of units per run */
    int64_t devices;
    const struct roof_hardware *hardware;
    struct roof_workflow_stage *stage;
    size_t stages;
    struct roof_workflow_operator *operators;
    size_t operator_count;
    struct roof_workflow_sum total;
};

/** Sums the operators of the stages, and the stages: the time of a stage is repeat * (sum of count
 * * time of each operator + serial part + gap * launches). */
void roof_workflow_sum(struct roof_workflow *workflow);

/** Returns the total time of an operator in a run: its bound, or its expected time. */
double roof_workflow_time(const struct roof_workflow *workflow,
                          const struct roof_workflow_operator *op);
double roof_workflow_expected(const struct roof_workflow *workflow,
                              const struct roof_workflow_operator *op);

/** Releases the contents; the struct belongs to the caller. */
void roof_workflow_free(struct roof_workflow *workflow);

#endif
