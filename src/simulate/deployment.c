// SPDX-License-Identifier: MIT
#include "simulate/deployment.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* The number of remembered costs of operators, which steps share. */
#define COSTS_REMEMBERED 509

struct roof_deployment_parts {
    struct roof_request request;
    struct roof_pass_memo memo;
    struct roof_request_steps steps;
    struct roof_request_steps paths;
    struct roof_remembered cost[COSTS_REMEMBERED];
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Refuses a device on which a kind of step has no time: prompt tokens, a token of a sequence, or
 * both. Copies that generate one token have only the first kind. */
static enum roof_status check_times(struct roof_deployment *d, struct roof_error *error)
{
    const struct roof_scenario *const s = &d->scenario;
    const double tokens = fmax(1, (double)least(d->parts->request.uncached, s->chunk));
    const double context = (double)s->prompt - (tokens - 1) / 2; /* of the last tokens */
    const double encoded = roof_has_media(s) ? 1 : 0;
    const struct roof_step_load kinds[] = {
        {.tokens = tokens, .prompt_context = context, .encoded = encoded},
        {.decoding = 1, .context = (double)s->prompt},
        {.decoding = 1,
         .context = (double)s->prompt,
         .tokens = tokens,
         .prompt_context = context,
         .encoded = encoded}};
    for (size_t i = 0; i < (s->generate > 1 ? COUNT(kinds) : 1); i++) {
        double time = 0;
        TRY(roof_step_time(&time, d->table, &kinds[i], error));
        if (isnan(time)) {
            return roof_error_set(
                error, ROOF_USAGE, "%s has no %s for a step of %s%s", d->hardware->id,
                d->bound ? "lower bound" : "expected time", d->model->id,
                d->bound ? "" : "; " ROOF_KEY("by") " ideal takes its lower bound");
        }
    }
    return ROOF_OK;
}

/* Returns the bytes of a token on the device that needs most, of the memory of a scenario. */
static double bytes_per_token(const struct roof_memory *m, const struct roof_scenario *s)
{
    return m->kv / ((double)s->common.shape.batch * (double)(s->prompt + s->generate));
}

/* Returns the blocks that fit in the memory beside weights and activations. */
static double blocks_beside(const struct roof_memory *m, const struct roof_scenario *s)
{
    const double rest = m->capacity - m->reserve - m->weights - m->activations;
    return floor(rest / (bytes_per_token(m, s) * ROOF_BLOCK_TOKENS));
}

/* Counts the blocks of the cache. */
static enum roof_status count_blocks(struct roof_deployment *d, struct roof_error *error)
{
    const struct roof_memory *const m = &d->memory;
    char need[ROOF_QUANTITY_SIZE];
    char have[ROOF_QUANTITY_SIZE];
    d->kv_bytes_per_token = bytes_per_token(m, &d->scenario);
    d->blocks = 0;
    if (isnan(m->capacity)) {
        return ROOF_OK;
    }
    const double blocks = blocks_beside(m, &d->scenario);
    if (blocks < 1) {
        return roof_error_set(
            error, ROOF_UNSATISFIED,
            "%s on %s leaves no memory for a KV cache: weights and activations take %s, and %s are "
            "usable; " ROOF_KEY("tp") " splits them over devices",
            d->model->id, d->hardware->id,
            roof_format_quantity(need, m->weights + m->activations, ROOF_UNIT_CAPACITY),
            roof_format_quantity(have, m->capacity - m->reserve, ROOF_UNIT_CAPACITY));
    }
    d->blocks = blocks < 1e15 ? (int64_t)blocks : (int64_t)1e15;
    return ROOF_OK;
}

/* Returns the blocks of a request of mean length at its end: its last token is never read. */
static int64_t blocks_of_request(const struct roof_scenario *s)
{
    const int64_t drafts = s->generate > 1 ? s->draft_tokens : 0;
    return (s->prompt + s->generate - 1 + drafts + ROOF_BLOCK_TOKENS - 1) / ROOF_BLOCK_TOKENS;
}

int64_t roof_deployment_holds(const struct roof_deployment *d)
{
    const int64_t each = blocks_of_request(&d->scenario);
    return each > 0 ? d->blocks / each : 0;
}

int64_t roof_deployment_enough(const struct roof_deployment *d, int64_t requests)
{
    struct roof_scenario s = d->scenario;
    struct roof_memory m;
    const int64_t own = (requests + s.dp - 1) / s.dp;
    if (own <= roof_deployment_holds(d) || own >= s.common.shape.batch) {
        return 0;
    }
    s.common.shape.batch = own;
    if (roof_memory_needed(&m, d->model, &s, d->hardware, NULL) != ROOF_OK) {
        return 0;
    }
    return blocks_beside(&m, &s) >= (double)(own * blocks_of_request(&s)) ? own : 0;
}

static enum roof_status open_table(struct roof_step_table **out, struct roof_request_steps *steps,
                                   const struct roof_deployment *d, struct roof_error *error)
{
    TRY(roof_step_table_open(out, roof_request_steps, steps, error));
    /* Requests of one length have full chunks and one remainder per prompt. */
    roof_step_table_pin(*out, least(steps->request->uncached, d->scenario.chunk));
    roof_step_table_pin(*out, steps->request->uncached % d->scenario.chunk);
    TRY(roof_step_table_groups(*out, d->scenario.attention_dp, error));
    if (roof_has_media(&d->scenario)) {
        TRY(roof_step_table_encode(*out, error));
    }
    if (d->bound || d->scenario.common.stack != ROOF_STACK_VLLM ||
        !roof_attends_in_one_kernel(d->hardware)) {
        return ROOF_OK;
    }
    TRY(roof_step_table_beside(*out, error));
    return roof_step_table_longest(*out, error);
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
    return check_times(d, error);
}

/* Opens the tables of a deployment whose scenario is resolved. */
static enum roof_status open_deployment(struct roof_deployment *d, struct roof_error *error)
{
    d->parts = calloc(1, sizeof *d->parts);
    return d->parts == NULL ? roof_no_memory(error) : open_parts(d, error);
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
    (void)roof_image_size_name(out->image_size, &out->scenario);
    return open_deployment(out, error);
}

void roof_deployment_close(struct roof_deployment *deployment)
{
    roof_step_table_free(deployment->table);
    roof_step_table_free(deployment->path);
    free(deployment->parts);
    deployment->table = deployment->path = NULL;
    deployment->parts = NULL;
}

enum roof_status roof_deployment_rescale(struct roof_deployment *deployment, double step_scale,
                                         struct roof_error *error)
{
    roof_deployment_close(deployment);
    deployment->scenario.common.step_scale = step_scale;
    return open_deployment(deployment, error);
}

void roof_deployment_limit(struct roof_scheduler_limits *limits,
                           const struct roof_deployment *deployment)
{
    limits->blocks = deployment->blocks;
    limits->stages = deployment->scenario.pp;
    limits->ranks = deployment->scenario.attention_dp;
    limits->path = deployment->path;
    limits->drafts.tokens = deployment->scenario.draft_tokens;
    limits->drafts.acceptance = deployment->scenario.acceptance;
    limits->ahead =
        limits->ahead && !deployment->bound; /* lower bounds have no host work to run ahead of */
    const struct roof_scenario *const s = &deployment->scenario;
    const struct roof_host_time *const host = &s->host_time[s->common.stack];
    limits->compile_s = deployment->bound ? 0 : host->compile_s;
    if (limits->engine_overhead) {
        limits->overhead_s = deployment->bound ? 0 : host->request_s;
        limits->front_s = deployment->bound ? 0 : host->front_s;
    }
}

/* --- the link ------------------------------------------------------------------------------ */

double roof_transfer_time(double part_bytes, int64_t receivers, int64_t senders, double link)
{
    return part_bytes * fmax(1, (double)receivers / (double)senders) / link;
}

/* Computes the bytes of the cache of a mean prompt on the device with the largest part. */
static enum roof_status find_part(double *bytes, const struct roof_deployment *d,
                                  struct roof_error *error)
{
    struct roof_scenario one = d->scenario;
    struct roof_memory memory;
    one.phase = ROOF_PHASE_DECODE;
    one.context = one.prompt;
    one.prompt = one.generate = one.chunk = 0;
    one.prefix_hit = 0;
    roof_media_encoded(&one.media);
    one.draft_tokens = 0; /* the cache of the draft model is not sent */
    one.common.shape.batch = 1;
    TRY(roof_scenario_resolve(&one, d->model, error));
    TRY(roof_memory_needed(&memory, d->model, &one, d->hardware, error));
    *bytes = memory.kv;
    return ROOF_OK;
}

/* Computes the transfer of a prompt from a prefill copy to a decode copy, whose caches have one
 * format. ROOF_USAGE if the link between all their devices is unknown. */
static enum roof_status find_transfer(struct roof_transfer *out,
                                      const struct roof_deployment *prefill,
                                      const struct roof_deployment *decode,
                                      struct roof_error *error)
{
    const struct roof_scenario *const from = &prefill->scenario;
    const struct roof_scenario *const to = &decode->scenario;
    struct roof_link link;
    double part = 0;
    TRY(roof_hardware_link(&link, decode->hardware, prefill->devices + decode->devices, 2, error));
    TRY(find_part(&part, decode, error));
    const double tokens = (double)to->prompt;
    *out = (struct roof_transfer){
        .send_s = roof_transfer_time(part, to->tp * to->pp, from->tp * from->pp, link.bytes_per_s) /
                  tokens,
        .receive_s = part / link.bytes_per_s / tokens,
        .senders = (size_t)from->attention_dp,
        .receivers = (size_t)to->attention_dp};
    return ROOF_OK;
}

/* --- both kinds ---------------------------------------------------------------------------- */

enum roof_status roof_deployments_open(struct roof_deployments *out, const struct roof_model *model,
                                       const struct roof_scenario *scenario,
                                       const struct roof_scenario *prefill,
                                       const struct roof_hardware *hardware, bool bound,
                                       struct roof_error *error)
{
    out->prefill = (struct roof_deployment){.parts = NULL};
    TRY(roof_deployment_open(&out->copy, model, scenario, hardware, bound, error));
    if (prefill == NULL) {
        return ROOF_OK;
    }
    struct roof_scenario first = *prefill;
    first.generate = 1;
    first.draft_tokens = 0;
    TRY(roof_deployment_open(&out->prefill, model, &first, hardware, bound, error));
    return find_transfer(&out->prefills.transfer, &out->prefill, &out->copy, error);
}

static void scale(struct roof_deployment *d, int64_t copies)
{
    d->scenario.dp = copies;
    d->devices = (double)roof_scenario_devices(&d->scenario);
}

enum roof_status roof_deployments_scale(struct roof_deployments *out, int64_t copies,
                                        int64_t prefills, struct roof_error *error)
{
    scale(&out->copy, copies);
    if (out->prefill.parts == NULL) {
        return ROOF_OK;
    }
    scale(&out->prefill, prefills);
    return find_transfer(&out->prefills.transfer, &out->prefill, &out->copy, error);
}

void roof_deployments_close(struct roof_deployments *d)
{
    roof_deployment_close(&d->copy);
    roof_deployment_close(&d->prefill);
}

void roof_deployments_use(struct roof_simulation_inputs *inputs, struct roof_deployments *of)
{
    const struct roof_prefills *const had = inputs->prefills;
    inputs->prefills = NULL;
    inputs->table = of->copy.table;
    inputs->positions = of->copy.model->positions;
    inputs->least_prompt = roof_media_places(&of->copy.scenario, of->copy.model);
    if (of->prefill.parts != NULL) {
        struct roof_prefills *const p = &of->prefills;
        struct roof_scheduler_limits limits = inputs->limits;
        if (had != NULL) {
            limits.part_blocks = had->limits.part_blocks;
            limits.prefix_hit = had->limits.prefix_hit;
        }
        p->copies = (size_t)of->prefill.scenario.dp;
        p->table = of->prefill.table;
        p->limits = limits;
        p->limits.timeline_passes_cache = true;
        p->transfer.again = !of->copy.bound && !inputs->limits.passes_first_token;
        roof_deployment_limit(&p->limits, &of->prefill);
        inputs->limits.separates =
            false; /* a first token that is computed again shares steps with decoding */
        inputs->limits.ratio = (struct roof_new_token_ratio){.most_tokens = 0};
        inputs->limits.part_blocks = 0;
        inputs->limits.prefix_hit = 0;
        inputs->prefills = p;
    }
    roof_deployment_limit(&inputs->limits, &of->copy);
    if (inputs->prefills != NULL) {
        inputs->limits.compile_s = 0; /* the other copies prefill */
    }
}
