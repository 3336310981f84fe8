// SPDX-License-Identifier: MIT
/* The prediction of a model in a scenario. */
#include "predict/model_prediction.h"

#include <math.h>

#include "base/base.h"
#include "predict/pass.h"
#include "predict/predict_sizes.h"

/* Clears the totals: sums begin at 0, and values that a model lacks are unknown. */
static void clear_total(struct roof_prediction *total, const struct roof_scenario *s,
                        const struct roof_hardware *hardware)
{
    *total = (struct roof_prediction){
        .workload = s->common,
        .hardware = hardware,
        .compute = ROOF_PRECISION_AUTO,
        .wanted = ROOF_PRECISION_AUTO,
        .native = true,
        .network_bytes = ROOF_UNKNOWN,
        .ridge = ROOF_UNKNOWN,
        .network_time_s = ROOF_UNKNOWN,
        .peak_flops_per_s = ROOF_UNKNOWN,
        .bandwidth_bytes_per_s = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .link = {.bytes_per_s = ROOF_UNKNOWN},
        .fraction_of_peak = ROOF_UNKNOWN,
        .measured_s = ROOF_UNKNOWN,
        .achieved_flops_per_s = ROOF_UNKNOWN,
        .achieved_bytes_per_s = ROOF_UNKNOWN,
        .fraction_of_bound = ROOF_UNKNOWN,
    };
}

double roof_model_time(const struct roof_node_prediction *node)
{
    return (double)node->node.count * node->prediction.time_s;
}

double roof_model_least_time(const struct roof_model_prediction *prediction)
{
    double least = prediction->total.time_s;
    bool routed = false;
    for (size_t i = 0; i < prediction->count; i++) {
        const struct roof_node_prediction *const n = &prediction->node[i];
        const double time_s = roof_least_time(&n->prediction);
        if (!isnan(time_s)) {
            least += (double)n->node.count * (time_s - n->prediction.time_s);
            routed = true;
        }
    }
    return routed ? least : ROOF_UNKNOWN;
}

static void put_media(struct roof_model_prediction *out)
{
    const struct roof_scenario *const s = &out->scenario;
    (void)roof_image_size_name(out->image_size, s);
    out->image_tokens =
        s->media.images > 0 ? (double)roof_image_tokens(s, out->model) : ROOF_UNKNOWN;
    out->audio_tokens =
        s->media.audio > 0 ? (double)roof_audio_tokens(s, out->model) : ROOF_UNKNOWN;
}

enum roof_status roof_predict_model(struct roof_model_prediction *out,
                                    const struct roof_model *model,
                                    const struct roof_scenario *scenario,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    out->scenario = *scenario;
    out->model = model;
    out->count = 0;
    out->ttft_s = out->tpot_s = out->e2e_s = ROOF_UNKNOWN;
    out->tokens_per_s = out->tokens_per_s_per_user = ROOF_UNKNOWN;
    out->expected_ttft_s = out->expected_tpot_s = out->expected_e2e_s = ROOF_UNKNOWN;
    out->expected_tokens_per_s = out->expected_tokens_per_s_per_user = ROOF_UNKNOWN;
    out->expected_low = out->expected_high = out->expected_near = ROOF_UNKNOWN;
    TRY(roof_scenario_resolve(&out->scenario, model, error));
    TRY(roof_offload_solve(&out->scenario, model, hardware, error));
    put_media(out);
    out->devices = (double)roof_scenario_devices(&out->scenario);
    out->draft_s = out->offloaded_s = out->joule_per_token = ROOF_UNKNOWN;
    out->power_time_s = out->energy_j = out->power_w = ROOF_UNKNOWN;
    out->launches = out->host_s = out->engine_launches_s = ROOF_UNKNOWN;
    out->slowest_stage_s = ROOF_UNKNOWN;
    out->phase = roof_phase_name((enum roof_phase)out->scenario.phase);
    out->kv_bytes_per_token = roof_kv_bytes_per_token(model, &out->scenario);
    out->kv_bytes_per_further_token = roof_kv_bytes_per_further_token(model, &out->scenario);
    clear_total(&out->total, &out->scenario, hardware);
    return out->scenario.phase == ROOF_PHASE_REQUEST ? roof_predict_request(out, error)
                                                     : roof_predict_phase(out, error);
}

void roof_model_blocks(struct roof_blocks *out, const struct roof_model_prediction *prediction)
{
    double flops = 0;
    *out = (struct roof_blocks){.known = true};
    for (int i = 0; i < ROOF_BLOCK_COUNT; i++) {
        out->of[i] = (struct roof_block_total){
            .layers = roof_block_layers(prediction->model, (enum roof_block)i)};
    }
    for (size_t i = 0; i < prediction->count; i++) {
        const struct roof_node_prediction *const n = &prediction->node[i];
        struct roof_block_total *const block = &out->of[n->node.block];
        const double count = (double)n->node.count;
        flops += count * n->prediction.flops;
        block->flops += count * n->prediction.flops;
        block->bytes += count * n->prediction.bytes;
        block->time_s += roof_model_time(n);
        block->expected_s += count * n->prediction.expected_s;
        block->share_of_time += roof_model_share(prediction, i);
    }
    for (int i = 0; i < ROOF_BLOCK_COUNT; i++) {
        out->of[i].share_of_flops = flops > 0 ? out->of[i].flops / flops : ROOF_UNKNOWN;
    }
}

double roof_model_share(const struct roof_model_prediction *prediction, size_t node)
{
    return roof_model_time(&prediction->node[node]) / prediction->total.time_s;
}

double roof_model_expected_share(const struct roof_model_prediction *prediction, size_t node)
{
    const struct roof_node_prediction *const n = &prediction->node[node];
    return (double)n->node.count * n->prediction.expected_s / prediction->total.expected_s;
}

void roof_model_band(double *low_s, double *high_s, const struct roof_model_prediction *prediction,
                     double expected_s)
{
    *low_s = prediction->expected_low * expected_s;
    *high_s = prediction->expected_high * expected_s;
}

enum roof_status roof_model_fusion(struct roof_fusion *out, struct roof_model_prediction *room,
                                   const struct roof_model *model,
                                   const struct roof_scenario *scenario,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    for (int fuse = 0; fuse < ROOF_FUSE_COUNT; fuse++) {
        struct roof_scenario s = *scenario;
        s.fuse = fuse;
        if (fuse != ROOF_FUSE_DEFAULT) {
            s.common.quantize_input = ROOF_QUANTIZE_NONE;
        }
        TRY(roof_predict_model(room, model, &s, hardware, error));
        const bool request = room->scenario.phase == ROOF_PHASE_REQUEST;
        out->way[fuse].bytes = room->total.bytes;
        out->way[fuse].launches = request ? ROOF_UNKNOWN : 0;
        for (size_t i = 0; i < room->count; i++) {
            out->way[fuse].launches +=
                (double)(room->node[i].device_count * room->node[i].prediction.part_count);
        }
        out->way[fuse].time_s = request ? room->e2e_s : room->step_s;
        out->way[fuse].expected_s = request ? room->expected_e2e_s : room->expected_step_s;
    }
    out->known = true;
    return ROOF_OK;
}
