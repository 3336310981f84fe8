// SPDX-License-Identifier: MIT
/* A copy of an engine that serves a model on devices: the times of its steps, and its cache. */
#ifndef ROOF_DEPLOYMENT_H
#define ROOF_DEPLOYMENT_H

#include "simulate/scheduler.h"

struct roof_deployment {
    struct roof_scenario scenario; /* resolved: a request of mean lengths */
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    bool bound;                /* steps take their lower bounds */
    double devices;            /* of all copies */
    struct roof_memory memory; /* of the most sequences, were all at their ends */
    double kv_bytes_per_token; /* of the device that needs most */
    int64_t blocks;            /* of the KV cache; 0: the memory is unknown */
    struct roof_step_table *table;
    struct roof_step_table *path; /* of steps alone in a pipeline; NULL: there is one stage */
    struct roof_deployment_parts *parts;
};

/*
 * Opens a deployment. The scenario is a request with the mean lengths, and its batch is the most
 * sequences that run at once. ROOF_UNSATISFIED where the weights leave no room for a block;
 * ROOF_USAGE where there are no expected times. The caller releases *out by roof_deployment_close,
 * also after a failure.
 */
enum roof_status roof_deployment_open(struct roof_deployment *out, const struct roof_model *model,
                                      const struct roof_scenario *scenario,
                                      const struct roof_hardware *hardware, bool bound,
                                      struct roof_error *error);
void roof_deployment_close(struct roof_deployment *deployment);
/* Sets what a deployment says of a scheduler: blocks and stages. */
void roof_deployment_limit(struct roof_scheduler_limits *limits,
                           const struct roof_deployment *deployment);

#endif
