// SPDX-License-Identifier: MIT
/* The cache of keys and values: its bytes by tokens. */
#include "model/graph.h"

/* Returns the elements of the cache per token of a layer, on one device. */
static double kv_elements(const struct roof_model *m, int64_t kv_heads)
{
    return m->kv_lora_rank > 0 ? (double)(m->kv_lora_rank + m->qk_rope_head_dim)
                               : 2 * (double)kv_heads * (double)m->head_dim;
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
    return (double)model->layers *
           roof_kv_bytes(model, scenario->common.formats.kv, model->kv_heads, 1);
}
