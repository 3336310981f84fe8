// SPDX-License-Identifier: MIT
/* The cache of keys and values: its bytes by tokens. */
#include "model/graph.h"

int64_t roof_kv_heads(const struct roof_model *model, const struct roof_layer *layer, int64_t tp)
{
    const int64_t heads =
        layer->windowed && model->window_kv_heads > 0 ? model->window_kv_heads : model->kv_heads;
    return heads >= tp ? heads / tp : 1;
}

int64_t roof_value_dim(const struct roof_model *model)
{
    return model->v_head_dim > 0 ? model->v_head_dim : model->head_dim;
}

/* Returns the elements of the cache per token of a layer, on one device. */
static double kv_elements(const struct roof_model *m, int64_t kv_heads)
{
    return m->kv_lora_rank > 0 ? (double)(m->kv_lora_rank + m->qk_rope_head_dim)
                               : (double)kv_heads * (double)(m->head_dim + roof_value_dim(m));
}

double roof_kv_bytes(const struct roof_model *m, enum roof_precision format, int64_t kv_heads,
                     double tokens)
{
    const double vectors = m->kv_lora_rank > 0 ? 1 : 2 * (double)kv_heads;
    const double index = m->index_topk > 0 ? tokens * (double)m->index_head_dim : 0;
    return roof_tensor_bytes(format, tokens * kv_elements(m, kv_heads), 0, tokens * vectors) +
           roof_tensor_bytes(ROOF_INDEX_KEYS, index, 0, tokens);
}

double roof_kv_bytes_per_token(const struct roof_model *model, const struct roof_scenario *scenario)
{
    double bytes = 0;
    for (int64_t c = 0; c < model->layer_classes; c++) {
        const struct roof_layer *const layer = &model->layer[c];
        int64_t layers = 0;
        for (int64_t i = 0; i < model->layers; i++) {
            layers += model->layer_class[i] == c && !layer->no_attention;
        }
        bytes += (double)layers * roof_kv_bytes(model, scenario->common.formats.kv,
                                                roof_kv_heads(model, layer, 1), 1);
    }
    return bytes;
}

int64_t roof_mixer_channels(const struct roof_mixer *mixer, int64_t tp)
{
    const int64_t keys = 2 * roof_mixer_key_heads(mixer, tp) * mixer->key_dim;
    return keys + mixer->heads / tp * mixer->value_dim;
}

int64_t roof_mixer_key_heads(const struct roof_mixer *mixer, int64_t tp)
{
    return mixer->key_heads >= tp ? mixer->key_heads / tp : 1;
}

double roof_state_bytes(const struct roof_model *model, enum roof_precision inputs, int64_t tp)
{
    const struct roof_mixer *const x = &model->mixer;
    const int64_t share = x->heads / tp; /* heads of a device */
    const double heads = (double)share;
    const double conv = (double)(x->taps - 1) * (double)roof_mixer_channels(x, tp);
    return roof_tensor_bytes(x->state, heads * (double)x->key_dim * (double)x->value_dim, 0,
                             heads) +
           roof_tensor_bytes(inputs, conv, 0, (double)(x->taps - 1));
}
