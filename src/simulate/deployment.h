// SPDX-License-Identifier: MIT
/* A copy of an engine that serves a model on devices: the times of its steps, and its cache. */
#ifndef ROOF_SIMULATE_DEPLOYMENT_H
#define ROOF_SIMULATE_DEPLOYMENT_H

#include "simulate/simulation.h"

struct roof_deployment {
    struct roof_scenario scenario; /* resolved: a request of mean lengths */
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    bool bound;     /* steps take their lower bounds */
    double devices; /* of all copies */
    char image_size[ROOF_IMAGE_SIZE_SIZE];
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
/* Sets what a deployment says of a scheduler: blocks, stages, drafts and what its engine does on
 * the host. */
void roof_deployment_limit(struct roof_scheduler_limits *limits,
                           const struct roof_deployment *deployment);

/* Returns the time of a prompt over the link: each device of the copy that decodes gets its part,
 * and those of the copy that prefills send an equal part of all of that. */
double roof_transfer_time(double part_bytes, int64_t receivers, int64_t senders, double link);

/* Works out the way of a prompt from a copy that prefills to one that decodes, whose caches are of
 * one format. ROOF_USAGE where the link between all of their devices is not known. */
enum roof_status roof_deployment_transfer(struct roof_transfer *out,
                                          const struct roof_deployment *prefill,
                                          const struct roof_deployment *decode,
                                          struct roof_error *error);

/* The deployments of copies that serve: one kind, or those that decode and those that prefill. */
struct roof_deployments {
    struct roof_deployment copy;    /* of every copy, or of those that decode */
    struct roof_deployment prefill; /* no parts: there is none */
    struct roof_prefills prefills;
};

/* Opens both; `prefill` is the scenario of a copy that prefills, whose dp are its copies, or NULL.
 * The errors are those of roof_deployment_open and roof_deployment_transfer. The caller releases
 * *out by roof_deployments_close, also after a failure; it must not move while it is used. */
enum roof_status roof_deployments_open(struct roof_deployments *out, const struct roof_model *model,
                                       const struct roof_scenario *scenario,
                                       const struct roof_scenario *prefill,
                                       const struct roof_hardware *hardware, bool bound,
                                       struct roof_error *error);
/* Changes the numbers of copies; `prefills` has no effect where none only prefill. The link may
 * then be another one. ROOF_USAGE where it is not known. */
enum roof_status roof_deployments_scale(struct roof_deployments *out, int64_t copies,
                                        int64_t prefills, struct roof_error *error);
void roof_deployments_close(struct roof_deployments *deployments);
/* Lets a simulation be one of these, whose limits of the scheduler are those of a copy of any kind:
 * what finds tokens of prompts in a cache, and gives prompts steps of their own, is then at the
 * copies that prefill. */
void roof_deployments_use(struct roof_simulation_inputs *inputs, struct roof_deployments *of);

#endif
