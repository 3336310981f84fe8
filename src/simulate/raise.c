// SPDX-License-Identifier: MIT
#include "simulate/raise.h"

#include "base/base.h"

/* Requests of each simulation. */
#define REQUESTS 1000
/* A smaller gain is within the noise of so few requests. */
#define GAIN_LEAST 1.1
#define CHUNK_LEAST 256

/* The engine with a change. */
struct changed {
    struct roof_scenario scenario;
    struct roof_scheduler_limits limits;
    uint64_t copies;
    struct roof_raise raise;
};

/* Finds the greatest rate of a changed engine; 0 where the change is not valid for the model. */
static enum roof_status rate_of(double *out, const struct changed *c,
                                const struct roof_deployment *d,
                                const struct roof_simulation_inputs *inputs,
                                struct roof_error *error)
{
    struct roof_deployment changed;
    struct roof_capacity found = {.rate = 0};
    struct roof_simulation_inputs shorter = *inputs;
    enum roof_status status =
        roof_deployment_open(&changed, d->model, &c->scenario, d->hardware, d->bound, error);
    *out = 0;
    if (status == ROOF_OK) {
        shorter.requests = shorter.requests < REQUESTS ? shorter.requests : REQUESTS;
        shorter.limits = c->limits;
        shorter.copies = c->copies;
        roof_deployment_limit(&shorter.limits, &changed);
        shorter.table = changed.table;
        status = roof_capacity_find(&found, &shorter, error);
        *out = found.rate;
    }
    roof_deployment_close(&changed);
    /* A split that is not valid is no change. */
    return status == ROOF_MEMORY || status == ROOF_IO ? status : ROOF_OK;
}

/* Puts a change among the best ones. */
static void keep(struct roof_raise out[ROOF_RAISES_MAX], size_t *count,
                 const struct roof_raise *raise)
{
    size_t at = *count;
    while (at > 0 && out[at - 1].factor < raise->factor) {
        at--;
    }
    if (at == ROOF_RAISES_MAX) {
        return;
    }
    *count += *count < ROOF_RAISES_MAX ? 1 : 0;
    for (size_t i = *count - 1; i > at; i--) {
        out[i] = out[i - 1];
    }
    out[at] = *raise;
}

/* Makes the engine with another budget; false where there is none like it. */
static bool change_chunk(struct changed *c, int64_t chunk, int64_t longest)
{
    if (c->limits.budget == ROOF_BUDGET_WHOLE || chunk < CHUNK_LEAST ||
        (chunk > c->limits.budget && c->limits.budget >= longest)) {
        return false;
    }
    c->scenario.chunk = c->limits.budget = chunk;
    c->raise = (struct roof_raise){.key = "chunk", .value = chunk};
    return true;
}

/* Makes change number `index` of an engine; false where it does not apply. */
static bool make_change(struct changed *c, size_t index, const struct roof_deployment *d,
                        const struct roof_simulation_inputs *inputs)
{
    *c = (struct changed){
        .scenario = d->scenario, .limits = inputs->limits, .copies = inputs->copies};
    const int64_t chunk = c->limits.budget;
    switch (index) {
    case 0:
        return change_chunk(c, chunk / 4, d->scenario.prompt);
    case 1:
        return change_chunk(c, chunk / 2, d->scenario.prompt);
    case 2:
        return change_chunk(c, chunk < INT64_MAX / 2 ? 2 * chunk : chunk, d->scenario.prompt);
    case 3:
        c->limits.sequences *= 2;
        c->scenario.common.shape.batch = c->limits.sequences;
        c->raise = (struct roof_raise){.key = "max_num_seqs", .value = c->limits.sequences};
        return true;
    case 4:
        c->scenario.tp *= 2;
        c->scenario.moe_tp = c->scenario.moe_ep = 0; /* follow from the split */
        c->raise = (struct roof_raise){.key = "tp", .value = c->scenario.tp};
        return c->scenario.common.shape.ep == 1 && c->scenario.attention_dp == 1;
    case 5:
        c->scenario.dp *= 2;
        c->copies = (uint64_t)c->scenario.dp;
        c->raise = (struct roof_raise){.key = "dp", .value = c->scenario.dp};
        return true;
    default:
        return false;
    }
}
#define CHANGES 6

enum roof_status roof_raises_find(struct roof_raise out[ROOF_RAISES_MAX], size_t *count,
                                  const struct roof_deployment *deployment,
                                  const struct roof_simulation_inputs *inputs,
                                  struct roof_error *error)
{
    struct changed c = {
        .scenario = deployment->scenario, .limits = inputs->limits, .copies = inputs->copies};
    double base = 0;
    *count = 0;
    TRY(rate_of(&base, &c, deployment, inputs, error));
    for (size_t i = 0; i < CHANGES; i++) {
        double rate = 0;
        if (make_change(&c, i, deployment, inputs)) {
            TRY(rate_of(&rate, &c, deployment, inputs, error));
        }
        c.raise.devices = roof_scenario_devices(&c.scenario);
        c.raise.factor = base > 0 ? rate / base : 0;
        if (c.raise.factor > GAIN_LEAST) {
            keep(out, count, &c.raise);
        }
    }
    return ROOF_OK;
}
