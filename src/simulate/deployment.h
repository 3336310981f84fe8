// SPDX-License-Identifier: MIT
/* A copy of an engine that serves a model on devices: its step times and its cache. */
#ifndef ROOF_SIMULATE_DEPLOYMENT_H
#define ROOF_SIMULATE_DEPLOYMENT_H

#include "simulate/simulation.h"

struct roof_deployment {
    struct roof_scenario scenario; /* resolved; a request with the mean lengths */
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    bool bound;     /* steps take their lower bounds */
    double devices; /* of all copies */
    char image_size[ROOF_IMAGE_SIZE_SIZE];
    struct roof_memory memory; /* when all sequences of the largest batch have their full length */
    double kv_bytes_per_token; /* on the device that needs most */
    int64_t blocks;            /* of the KV cache; 0: the memory size is unknown */
    struct roof_step_table *table;
    struct roof_step_table
        *path; /* times of a step alone in the pipeline; NULL: there is one stage */
    struct roof_deployment_parts *parts;
};

/* Opens a deployment. The scenario is a request with the mean lengths, and its batch is the most
 * sequences that run at once. ROOF_UNSATISFIED if the weights leave no room for a block; ROOF_USAGE
 * if a kind of step has no time. The caller releases *out by roof_deployment_close, even after a
 * failure. */
enum roof_status roof_deployment_open(struct roof_deployment *out, const struct roof_model *model,
                                      const struct roof_scenario *scenario,
                                      const struct roof_hardware *hardware, bool bound,
                                      struct roof_error *error);
void roof_deployment_close(struct roof_deployment *deployment);
/* Predicts the steps again with another factor of their expected times (--step-scale). */
enum roof_status roof_deployment_rescale(struct roof_deployment *deployment, double step_scale,
                                         struct roof_error *error);
/* Returns how many requests of mean length the cache of a copy holds at their full lengths. */
int64_t roof_deployment_holds(const struct roof_deployment *deployment);
/* Returns the limit on running sequences with which the cache would hold an equal share of some
 * requests, because steps of fewer sequences need less memory; 0 if there is none below the present
 * limit, or if the cache holds them as it is. */
int64_t roof_deployment_enough(const struct roof_deployment *deployment, int64_t requests);
/* Sets the scheduler limits that follow from the deployment: blocks, stages, drafts and the work of
 * the engine on the host. */
void roof_deployment_limit(struct roof_scheduler_limits *limits,
                           const struct roof_deployment *deployment);

/* Returns the time of a prompt over the link: each device of the decode copy gets its part of the
 * cache, and the devices of the prefill copy send equal parts of the total. */
double roof_transfer_time(double part_bytes, int64_t receivers, int64_t senders, double link);

/* The deployments that serve together: copies of one kind, or decode copies and prefill copies. */
struct roof_deployments {
    struct roof_deployment copy;    /* every copy, or the decode copies */
    struct roof_deployment prefill; /* no parts: there are no prefill copies */
    struct roof_prefills prefills;
};

/* Opens both; `prefill` is the scenario of a prefill copy, whose dp is the number of such copies,
 * or NULL. The errors are those of roof_deployment_open, and ROOF_USAGE if the link between both
 * is unknown. The caller releases *out by roof_deployments_close, even after a failure; it must not
 * move while in use. */
enum roof_status roof_deployments_open(struct roof_deployments *out, const struct roof_model *model,
                                       const struct roof_scenario *scenario,
                                       const struct roof_scenario *prefill,
                                       const struct roof_hardware *hardware, bool bound,
                                       struct roof_error *error);
/* Changes the numbers of copies; `prefills` has no effect without prefill copies. The link may
 * change with them. ROOF_USAGE if it is unknown. */
enum roof_status roof_deployments_scale(struct roof_deployments *out, int64_t copies,
                                        int64_t prefills, struct roof_error *error);
void roof_deployments_close(struct roof_deployments *deployments);
/* Makes a simulation use these deployments. Its scheduler limits hold for copies of both kinds;
 * prefix caching and separate prefill steps then move to the prefill copies. */
void roof_deployments_use(struct roof_simulation_inputs *inputs, struct roof_deployments *of);

#endif
