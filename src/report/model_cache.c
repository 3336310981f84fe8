// SPDX-License-Identifier: MIT
/* The KV cache of a model per token, and the layers that keep less than all of it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "model/scenario.h"
#include "report/model_report.h"
#include "report/render.h"

/* Returns the bytes that a token adds to the cache beyond all windows, in words. */
static const char *further_token(char out[ROOF_QUANTITY_SIZE],
                                 const struct roof_model_prediction *r)
{
    return r->kv_bytes_per_further_token > 0
               ? roof_format_quantity(out, r->kv_bytes_per_further_token, ROOF_UNIT_CAPACITY)
               : "nothing";
}

void roof_model_report_cache(struct roof_text *out, const struct roof_model_prediction *r)
{
    const struct roof_model *const model = r->model;
    char token[ROOF_QUANTITY_SIZE];
    struct roof_text detail = ROOF_TEXT_INIT;
    int64_t windowed = 0;
    int64_t crossed = 0;
    int64_t compressed = 0; /* layers with compressed keys beside those in their window */
    int64_t cached = 0;     /* layers with a cache of their own */
    int64_t choosing = 0;
    const int64_t keys = roof_image_keys(&r->scenario, model);
    for (int64_t i = 0; i < model->layers; i++) {
        const struct roof_layer *const layer = &model->layer[model->layer_class[i]];
        const bool caches = !layer->no_attention && !layer->keyless;
        cached += caches;
        windowed += layer->windowed && caches;
        compressed += layer->ratio > 0;
        crossed += layer->crossed;
        choosing += roof_chooses_keys(model, layer);
    }
    roof_text_printf(&detail, "KV cache of the whole model: %s per token",
                     roof_format_quantity(token, r->kv_bytes_per_token, ROOF_UNIT_CAPACITY));
    const char *const which = cached < model->layers ? " with a cache" : "";
    if (windowed > 0 && windowed == cached && !(r->kv_bytes_per_further_token > 0)) {
        roof_text_printf(
            &detail, " for the last %" PRId64 " tokens only (window of all %" PRId64 " layers%s)",
            model->window, cached, which);
    } else if (windowed > 0) {
        char share[32] = "all";
        if (windowed < cached) {
            snprintf(share, sizeof share, "%" PRId64 " of", windowed);
        }
        roof_text_printf(&detail,
                         ", %s beyond the last %" PRId64 " (window of %s %" PRId64 " layers%s)",
                         further_token(token, r), model->window, share, cached, which);
    }
    if (compressed > 0) {
        roof_text_printf(&detail, ", %" PRId64 " layers also keep compressed keys", compressed);
    }
    if (choosing > 0 && choosing < model->layers) {
        roof_text_printf(&detail,
                         "; %" PRId64 " of %" PRId64
                         " layers choose keys, also for the layers after them",
                         choosing, model->layers);
    }
    if (crossed > 0 && keys > 0) {
        roof_text_printf(
            &detail, "; %" PRId64 " of %" PRId64 " layers keep %" PRId64 " image tokens instead",
            crossed, model->layers, keys);
    } else if (crossed > 0) {
        roof_text_printf(&detail, "; %" PRId64 " of %" PRId64 " layers do not run without images",
                         crossed, model->layers);
    }
    roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "", detail.data == NULL ? "" : detail.data, "");
    out->failed |= detail.failed;
    roof_text_free(&detail);
}

/* Returns the fewest bits of the weights in any class of them. */
static double least_bits(const struct roof_model_prediction *r)
{
    double bits = roof_precision_bits(r->scenario.common.formats.weights);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        const enum roof_precision format = (enum roof_precision)r->model->format[w];
        bits = format == ROOF_PRECISION_AUTO ? bits : fmin(bits, roof_precision_bits(format));
    }
    return bits;
}

void roof_model_report_open_cache(struct roof_text *out, const struct roof_model_prediction *r,
                                  const struct roof_limits *limits)
{
    const enum roof_precision narrow = roof_scenario_narrower_cache(&r->scenario, r->model);
    const bool any = r->kv_cache_bytes > (r->state_bytes > 0 ? r->state_bytes : 0);
    if (any && limits->kv_open && narrow != ROOF_PRECISION_AUTO &&
        roof_precision_bits(r->scenario.common.formats.kv) > least_bits(r)) {
        roof_text_printf(out, " (default: --kv %s it)",
                         narrow == ROOF_PRECISION_Q8_0 ? "q8_0 nearly halves" : "fp8 halves");
    }
}
