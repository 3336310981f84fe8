// SPDX-License-Identifier: MIT
/* A phase: the totals of a pass, its memory, and the service of its steps. */
#include <math.h>

#include "base/base.h"
#include "predict/pass.h"
#include "predict/power.h"
#include "predict/predict_sizes.h"

/* Adds a value that may be unknown to a sum that is unknown until a known one comes. */
static void add_known(double *sum, double value)
{
    if (!isnan(value)) {
        *sum = isnan(*sum) ? value : *sum + value;
    }
}

static void add_total(struct roof_prediction *total, const struct roof_node_prediction *n)
{
    const struct roof_prediction *const p = &n->prediction;
    const double device = (double)n->device_count;
    const double path = (double)n->node.count;
    total->native = total->native && (p->native || n->node.host != NULL);
    total->flops += device * p->flops;
    total->bytes += device * p->bytes;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        total->role_bytes[role] += device * p->role_bytes[role];
    }
    if (p->link.latency_s > total->link.latency_s) {
        total->link.latency_s = p->link.latency_s;
    }
    add_known(&total->network_bytes, device * p->network_bytes);
    total->memory_time_s += path * p->memory_time_s;
    total->compute_time_s += path * p->compute_time_s;
    add_known(&total->network_time_s, path * p->network_time_s);
    total->time_s += path * p->time_s;
    total->expected_s += path * p->expected_s;
    total->expected_low_s += path * p->expected_low_s;
    total->expected_high_s += path * p->expected_high_s;
}

static void finish_total(struct roof_model_prediction *out, const struct roof_pass *pass)
{
    struct roof_prediction *const total = &out->total;
    for (size_t i = 0; i < out->count; i++) {
        add_total(total, &out->node[i]);
    }
    out->fallbacks = pass->fallbacks;
    out->as_stored = pass->as_stored;
    total->bottleneck = roof_largest_share(pass->share_s);
    total->expected_bottleneck = roof_largest_share(pass->expected.share_s);
    total->intensity = total->flops / total->bytes;
    total->attainable_flops_per_s = isnan(total->compute_time_s) || out->scenario.pp > 1
                                        ? ROOF_UNKNOWN
                                        : total->flops / total->time_s;
}

/* Returns the bytes of a file over those of its formats, scales and padding included; 1: no file.
 */
static double file_share(const struct roof_model *model)
{
    const double formula = isnan(model->file_bytes) ? ROOF_UNKNOWN : roof_model_bytes(model);
    return formula > 0 ? model->file_bytes / formula : 1;
}

/* Returns the bytes of memory that a device has; the GB that are printed on memory chips are GiB.
 */
double roof_memory_capacity(const struct roof_hardware *hardware)
{
    const double usable = hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY].value;
    const double nominal =
        hardware->figure[ROOF_FIGURE_MEMORY_NOMINAL].value / 1e9 * (1024. * 1024 * 1024);
    return isnan(usable) ? nominal : usable;
}

double roof_memory_spare(double needed, double capacity)
{
    return floor(100 * (1 - needed / capacity)) / 100;
}

double roof_memory_room(const struct roof_memory *m)
{
    const double device = m->capacity - m->reserve - (m->weights + m->kv + m->activations);
    const double needed = m->host_weights + m->host_kv + m->host_activations;
    const double host = m->host_capacity - needed;
    return needed > 0 && !(host >= device) ? host : device;
}

static enum roof_fit fit_of(const struct roof_memory *m)
{
    const double device = m->capacity - m->reserve;
    const double host = m->host_weights + m->host_kv + m->host_activations;
    return m->weights + m->kv + m->activations > device || host > m->host_capacity ? ROOF_FIT_NO
           : isnan(device) || (host > 0 && isnan(m->host_capacity)) ? ROOF_FIT_UNKNOWN
                                                                    : ROOF_FIT_YES;
}

/* Rounds a size in memory up to whole bytes, because a share of the weights may be a fraction. A
 * sum that exceeds a whole number only in the last digits of a double is not rounded up. */
static double whole_bytes(double bytes)
{
    return ceil(bytes * (1 - 1e-13));
}

struct roof_memory roof_memory_of(const struct roof_pass *pass, const struct roof_pass *draft,
                                  const struct roof_model *model, const struct roof_scenario *s,
                                  const struct roof_hardware *hardware)
{
    const double share = file_share(model);
    struct roof_memory m = {
        .weights = whole_bytes(pass->weights_bytes * share + draft->weights_bytes),
        .kv = whole_bytes(pass->kv_bytes + draft->kv_bytes),
        .state = whole_bytes(pass->state_bytes + draft->state_bytes),
        .activations = whole_bytes(pass->activation_bytes),
        .capacity = roof_memory_capacity(hardware),
        .host_weights = pass->host_weights_bytes * share,
        .host_kv = pass->host_kv_bytes,
        .host_activations = pass->host_live_bytes,
        .host_capacity = s->host == NULL ? ROOF_UNKNOWN : roof_memory_capacity(s->host)};
    m.reserve = s->reserve * m.capacity;
    m.fits = fit_of(&m);
    return m;
}

void roof_memory_put(struct roof_model_prediction *out, const struct roof_memory *memory)
{
    out->weights_memory_bytes = memory->weights;
    out->kv_cache_bytes = memory->kv;
    out->state_bytes = memory->state > 0 ? memory->state : ROOF_UNKNOWN;
    out->activation_memory_bytes = memory->activations;
    out->memory_capacity_bytes = memory->capacity;
    out->memory_reserve_bytes = memory->reserve;
    out->fits = memory->fits;
    out->host_memory_bytes = out->host_capacity_bytes = ROOF_UNKNOWN;
    out->offload[0] = '\0';
    if (out->scenario.offload != ROOF_OFFLOAD_NONE) {
        roof_offload_name(out->offload, out->scenario.offload);
        out->host_memory_bytes =
            whole_bytes(memory->host_weights + memory->host_kv + memory->host_activations);
        out->host_capacity_bytes = memory->host_capacity;
    }
}

void roof_expected_put(struct roof_model_prediction *out, const struct roof_expected_step *whole)
{
    out->expected_low = whole->low_s / whole->time_s;
    out->expected_high = whole->high_s / whole->time_s;
    out->expected_near = whole->near_s / whole->time_s;
    out->total.expected_near = whole->near_s > 0;
}

/* A request has hundreds of passes, so the totals of one pass are unknown. */
void roof_request_clear_totals(struct roof_model_prediction *out)
{
    struct roof_prediction *const total = &out->total;
    total->flops = total->bytes = ROOF_UNKNOWN;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        total->role_bytes[role] = ROOF_UNKNOWN;
    }
    total->intensity = total->attainable_flops_per_s = ROOF_UNKNOWN;
    total->memory_time_s = total->compute_time_s = ROOF_UNKNOWN;
}

void roof_request_put_rates(struct roof_model_prediction *out)
{
    const double batch = (double)out->scenario.common.shape.batch;
    const double tokens = (double)out->scenario.generate;
    const double copies = (double)out->scenario.dp;
    if (out->fits != ROOF_FIT_NO) {
        out->tokens_per_s = copies * (batch * tokens / out->e2e_s);
        out->tokens_per_s_per_user = tokens / out->e2e_s;
        out->expected_tokens_per_s = copies * (batch * tokens / out->expected_e2e_s);
        out->expected_tokens_per_s_per_user = tokens / out->expected_e2e_s;
    }
}

/* The latencies and rates that a user sees. */
struct service {
    double ttft_s;
    double tpot_s;
    double tokens_per_s;
    double tokens_per_s_per_user;
};

/* Returns the service of steps that take step_s. */
static struct service service_of(const struct roof_model_prediction *out, double step_s)
{
    struct service r = {ROOF_UNKNOWN, ROOF_UNKNOWN, ROOF_UNKNOWN, ROOF_UNKNOWN};
    const struct roof_scenario *const s = &out->scenario;
    const double batch = (double)s->common.shape.batch;
    double tokens = batch * out->tokens_per_step; /* in a step, of all sequences */
    if (s->phase == ROOF_PHASE_PREFILL) {
        tokens = batch * (double)s->chunk;
        /* A chunk on top of an earlier one is not the whole wait for the first token. */
        r.ttft_s = s->chunk == s->context || s->prefix_hit > 0 ? step_s : ROOF_UNKNOWN;
    } else if (s->phase == ROOF_PHASE_ENCODE) {
        tokens = batch * (double)roof_media_tokens(s, out->model);
    } else {
        r.tpot_s = step_s / out->tokens_per_step;
    }
    if (out->fits != ROOF_FIT_NO) {
        const double rate = tokens / step_s;
        r.tokens_per_s = (double)s->dp * rate;
        r.tokens_per_s_per_user = rate / batch;
    }
    return r;
}

/* Fills in the energy of a device in a step, and of all devices for a token. The constant power
 * flows for the whole step. Stages and drafts are not told apart here, so it needs one stage and no
 * draft. */
static void put_energy(struct roof_model_prediction *out)
{
    const struct roof_scenario *const s = &out->scenario;
    double energy_j = out->total.hardware->figure[ROOF_FIGURE_CONSTANT_POWER].value * out->step_s;
    out->power_time_s = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct roof_power power = roof_power_of(&out->node[i].prediction);
        energy_j += (double)out->node[i].device_count * power.dynamic_j;
        out->power_time_s += (double)out->node[i].node.count * power.power_time_s;
    }
    out->energy_j = s->pp == 1 && s->draft_tokens == 0 ? energy_j : ROOF_UNKNOWN;
    out->power_w = out->energy_j / out->step_s;
    out->joule_per_token = out->devices * out->power_w / out->tokens_per_s;
}

enum roof_status roof_predict_phase(struct roof_model_prediction *out, struct roof_error *error)
{
    const struct roof_scenario *const s = &out->scenario;
    const struct roof_hardware *const hardware = out->total.hardware;
    struct roof_pass pass;
    struct roof_pass draft;
    TRY(roof_pass_run(&pass, out->model, s, hardware, out, error));
    TRY(roof_pass_resident(&pass, out->model, s, hardware, error));
    TRY(roof_pass_draft(&draft, s, hardware, error));
    const struct roof_memory memory = roof_memory_of(&pass, &draft, out->model, s, hardware);
    finish_total(out, &pass);
    roof_memory_put(out, &memory);
    out->tokens_per_step = roof_tokens_per_step(s);
    out->slowest_stage_s = pass.bound.slowest_s;
    if (pass.host_s > 0) {
        out->launches = s->host_gap_s > 0 ? pass.launches : ROOF_UNKNOWN;
        out->host_s = pass.host_s;
    }
    if (pass.expected.launches_s > 0 && !isnan(pass.expected.times.path_s)) {
        out->engine_launches_s = pass.expected.launches_s;
    }
    out->offloaded_s = s->offload != ROOF_OFFLOAD_NONE ? pass.offloaded_s : ROOF_UNKNOWN;
    out->draft_s = s->draft_tokens > 0 ? draft.bound.path_s : ROOF_UNKNOWN;
    out->step_s = roof_pass_step_s(&pass.bound, s) + draft.bound.path_s;
    const struct roof_expected_step step =
        roof_expected_step(&pass, &draft, roof_pass_step_s(&pass.expected.times, s));
    roof_expected_put(out, &step);
    out->expected_step_s = step.time_s;
    const struct service bound = service_of(out, out->step_s);
    const struct service expected = service_of(out, out->expected_step_s);
    out->ttft_s = bound.ttft_s;
    out->tpot_s = bound.tpot_s;
    out->tokens_per_s = bound.tokens_per_s;
    out->tokens_per_s_per_user = bound.tokens_per_s_per_user;
    put_energy(out);
    out->expected_ttft_s = expected.ttft_s;
    out->expected_tpot_s = expected.tpot_s;
    out->expected_tokens_per_s = expected.tokens_per_s;
    out->expected_tokens_per_s_per_user = expected.tokens_per_s_per_user;
    return ROOF_OK;
}
