// SPDX-License-Identifier: MIT
/* The cache of keys and values: its bytes by tokens. */
#include "model/graph.h"

/* Returns the elements of the cache per token of a layer, on one device. */
static double kv_elements(const struct roof_model *m, const struct roof_layer *layer,
                          int64_t kv_heads)
{
    return m->key_is_value ? (double)m->head_dim
           : m->kv_lora_rank > 0
               ? (double)(m->kv_lora_rank + m->qk_rope_head_dim)
               : (double)kv_heads * (double)(roof_head_dim(m, layer) + roof_value_dim(m, layer));
}

double roof_kv_bytes(const struct roof_model *m, const struct roof_layer *layer,
                     enum roof_precision format, int64_t tp, double tokens)
{
    if (layer->no_attention || layer->keyless) {
        return 0;
    }
    const int64_t kv_heads = roof_kv_heads(m, layer, tp);
    const double vectors = m->kv_lora_rank > 0 || m->key_is_value ? 1 : 2 * (double)kv_heads;
    const double index = roof_chooses_keys(m, layer) ? tokens * (double)m->index_head_dim : 0;
    const double block_index = layer->blocks ? tokens * (double)m->index_head_dim : 0;
    return roof_tensor_bytes(format, tokens * kv_elements(m, layer, kv_heads), 0,
                             tokens * vectors) +
           roof_tensor_bytes(format, block_index, 0, layer->blocks ? tokens : 0) +
           roof_tensor_bytes(ROOF_INDEX_KEYS, index, 0, roof_chooses_keys(m, layer) ? tokens : 0);
}

int64_t roof_whole_blocks(const struct roof_model *m, int64_t tokens)
{
    return m->native_sparse ? tokens / m->block_keys : 0;
}

bool roof_chooses_compressed(const struct roof_layer *layer)
{
    return layer->ratio == ROOF_RATIO_CHOSEN;
}

double roof_compressed_bytes(const struct roof_model *m, const struct roof_layer *layer,
                             enum roof_precision format, double keys)
{
    const double index = roof_chooses_compressed(layer) ? keys * (double)m->index_head_dim : 0;
    return roof_tensor_bytes(format, keys * (double)m->head_dim, 0, keys) +
           roof_tensor_bytes(ROOF_INDEX_KEYS, index, 0, keys);
}

double roof_compressor_bytes(const struct roof_model *m, const struct roof_layer *layer,
                             enum roof_precision format)
{
    const double ratio = (double)layer->ratio;
    const bool chooses = roof_chooses_compressed(layer);
    const double width = (double)(m->head_dim + (chooses ? m->index_head_dim : 0));
    return roof_tensor_bytes(format, ratio * 2 * width * (chooses ? 3 : 1), 0, ratio);
}

/* Returns the bytes that a token adds to the cache; in layers with a window only if `filling`. */
static double added_bytes(const struct roof_model *model, const struct roof_scenario *scenario,
                          bool filling)
{
    double bytes = 0;
    for (int64_t c = 0; c < model->layer_classes; c++) {
        const struct roof_layer *const layer = &model->layer[c];
        int64_t layers = 0;
        for (int64_t i = 0; i < model->layers; i++) {
            layers += model->layer_class[i] == c;
        }
        const double more = model->native_sparse ? 1 / (double)model->block_keys : 0;
        /* Keys of images do not grow with the text. */
        const double tokens = layer->crossed || (layer->windowed && !filling) ? 0 : 1 + more;
        bytes +=
            (double)layers * roof_kv_bytes(model, layer, scenario->common.formats.kv, 1, tokens);
        bytes +=
            layer->ratio == 0
                ? 0
                : (double)layers * roof_compressed_bytes(model, layer, scenario->common.formats.kv,
                                                         1 / (double)layer->ratio);
    }
    return bytes;
}

double roof_kv_bytes_per_token(const struct roof_model *model, const struct roof_scenario *scenario)
{
    return added_bytes(model, scenario, true);
}

double roof_kv_bytes_per_further_token(const struct roof_model *model,
                                       const struct roof_scenario *scenario)
{
    return added_bytes(model, scenario, false);
}

int64_t roof_mixer_channels(const struct roof_mixer *mixer, int64_t tp)
{
    const bool alone = mixer->kind == ROOF_MIXER_SELECTIVE; /* B and C come after it */
    const int64_t keys = alone ? 0 : 2 * roof_mixer_key_heads(mixer, tp) * mixer->key_dim;
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
    const double before = x->taps > 0 ? (double)(x->taps - 1) : 0; /* number of tokens that are kept
                                                                    */
    const double conv = before * (double)roof_mixer_channels(x, tp);
    return roof_tensor_bytes(x->state, heads * (double)x->key_dim * (double)x->value_dim, 0,
                             heads) +
           roof_tensor_bytes(inputs, conv, 0, before);
}
