// SPDX-License-Identifier: MIT
#include "simulate/deployment.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* Costs of operators that steps share. */
#define COSTS_REMEMBERED 509

struct roof_deployment_parts {
    struct roof_request request;
    struct roof_pass_memo memo;
    struct roof_request_steps steps;
    struct roof_request_steps paths;
    struct roof_remembered cost[COSTS_REMEMBERED];
};

/* Refuses a device without expected times. */
static enum roof_status check_expected(struct roof_deployment *d, struct roof_error *error)
{
    const struct roof_step_load one = {.decoding = 1, .context = (double)d->scenario.prompt};
    double time = 0;
    TRY(roof_step_time(&time, d->table, &one, error));
    return !isnan(time) ? ROOF_OK
                        : roof_error_set(error, ROOF_USAGE, "%s has no %s for a step of %s%s",
                                         d->hardware->id,
                                         d->bound ? "lower bound" : "expected time", d->model->id,
                                         d->bound ? ""
                                                  : "; " ROOF_KEY("by") " ideal takes its "
                                                                        "lower bound");
}

/* Counts the blocks that the memory has room for, beside weights and activations. */
static enum roof_status count_blocks(struct roof_deployment *d, struct roof_error *error)
{
    const struct roof_memory *const m = &d->memory;
    const double sequences = (double)d->scenario.common.shape.batch;
    const double tokens = (double)(d->scenario.prompt + d->scenario.generate);
    const double rest = m->capacity - m->reserve - m->weights - m->activations;
    char need[ROOF_QUANTITY_SIZE];
    char have[ROOF_QUANTITY_SIZE];
    d->kv_bytes_per_token = m->kv / (sequences * tokens);
    d->blocks = 0;
    if (isnan(m->capacity)) {
        return ROOF_OK;
    }
    const double blocks = floor(rest / (d->kv_bytes_per_token * ROOF_BLOCK_TOKENS));
    if (blocks < 1) {
        return roof_error_set(
            error, ROOF_UNSATISFIED,
            "%s on %s leaves no memory for a KV cache: weights and activations take %s of %s",
            d->model->id, d->hardware->id,
            roof_format_quantity(need, m->weights + m->activations, ROOF_UNIT_CAPACITY),
            roof_format_quantity(have, m->capacity - m->reserve, ROOF_UNIT_CAPACITY));
    }
    d->blocks = blocks < 1e15 ? (int64_t)blocks : (int64_t)1e15;
    return ROOF_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static enum roof_status open_table(struct roof_step_table **out, struct roof_request_steps *steps,
                                   const struct roof_deployment *d, struct roof_error *error)
{
    TRY(roof_step_table_open(out, roof_request_steps, steps, error));
    /* Requests that are all alike have full chunks, and the rest of each prompt. */
    roof_step_table_pin(*out, least(steps->request->uncached, d->scenario.chunk));
    roof_step_table_pin(*out, steps->request->uncached % d->scenario.chunk);
    return ROOF_OK;
}

static enum roof_status open_parts(struct roof_deployment *d, struct roof_error *error)
{
    struct roof_deployment_parts *const p = d->parts;
    p->memo = (struct roof_pass_memo){.entry = p->cost, .size = COSTS_REMEMBERED};
    p->steps = (struct roof_request_steps){
        .request = &p->request, .value = d->bound ? ROOF_STEP_BOUND : ROOF_STEP_EXPECTED};
    const struct roof_stacks stacks = roof_one_stack(&d->scenario);
    TRY(roof_request_open(&p->request, d->model, &d->scenario, d->hardware, &p->memo, &stacks,
                          error));
    TRY(roof_request_memory_alone(&d->memory, &p->request, error));
    TRY(count_blocks(d, error));
    TRY(open_table(&d->table, &p->steps, d, error));
    if (d->scenario.pp > 1) {
        p->paths = (struct roof_request_steps){
            .request = &p->request, .value = d->bound ? ROOF_STEP_PATH : ROOF_STEP_EXPECTED_PATH};
        TRY(open_table(&d->path, &p->paths, d, error));
    }
    return check_expected(d, error);
}

enum roof_status roof_deployment_open(struct roof_deployment *out, const struct roof_model *model,
                                      const struct roof_scenario *scenario,
                                      const struct roof_hardware *hardware, bool bound,
                                      struct roof_error *error)
{
    *out = (struct roof_deployment){
        .scenario = *scenario, .model = model, .hardware = hardware, .bound = bound};
    TRY(roof_scenario_resolve(&out->scenario, model, error));
    out->devices = (double)roof_scenario_devices(&out->scenario);
    out->parts = calloc(1, sizeof *out->parts);
    return out->parts == NULL ? roof_no_memory(error) : open_parts(out, error);
}

void roof_deployment_close(struct roof_deployment *deployment)
{
    roof_step_table_free(deployment->table);
    roof_step_table_free(deployment->path);
    free(deployment->parts);
    deployment->table = deployment->path = NULL;
    deployment->parts = NULL;
}

void roof_deployment_limit(struct roof_scheduler_limits *limits,
                           const struct roof_deployment *deployment)
{
    limits->blocks = deployment->blocks;
    limits->stages = deployment->scenario.pp;
    limits->path = deployment->path;
}
