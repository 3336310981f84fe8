// SPDX-License-Identifier: MIT
/*
 * Llama 4: layers that rotate their heads attend within chunks of the sequence, and every fourth
 * layer does neither. Dense layers, whose MLP has another width, may stand between layers with
 * experts. Source: huggingface/transformers, configuration_llama4.py and modeling_llama4.py.
 */
#include <inttypes.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

/* The class sets these if a config leaves them out. */
enum { CHUNK = 8192, INTERVAL = 4, DENSE = 16384 };

static enum roof_status read_size(int64_t *out, const struct config *c, const char *key,
                                  int64_t otherwise, int64_t max)
{
    const roof_json_value *const value = roof_config_member(c, key);
    *out = otherwise;
    return value == NULL ? ROOF_OK : roof_config_integer(out, c, value, key, 1, max);
}

/* Reads which layers rotate their heads, a 1 for each of them. */
static enum roof_status read_rope(struct roof_layer *layer, const struct roof_model *m,
                                  const struct config *c)
{
    const roof_json_value *const list = roof_config_member(c, "no_rope_layers");
    const roof_json_value *item = roof_json_first(list);
    int64_t interval = 0;
    TRY(read_size(&interval, c, "no_rope_layer_interval", INTERVAL, ROOF_LAYERS_MAX));
    if (list != NULL && (!roof_json_is_array(list) ||
                         (item != NULL && roof_json_count(list) != (size_t)m->layers))) {
        return roof_json_error(c->json, list, c->error,
                               "no_rope_layers must be an array, empty or with a number for each "
                               "of the %" PRId64 " layers",
                               m->layers);
    }
    for (int64_t i = 0; i < m->layers; i++) {
        int64_t rotates = (i + 1) % interval != 0;
        if (item != NULL) {
            TRY(roof_config_integer(&rotates, c, item, "no_rope_layers", 0, 1));
            item = roof_json_next(item);
        }
        layer[i].no_rope = rotates == 0;
        layer[i].windowed = rotates != 0;
    }
    return ROOF_OK;
}

enum roof_status roof_config_chunks(struct roof_layer *layer, struct reading *r,
                                    const struct config *c)
{
    struct roof_model *const m = &r->model;
    if (m->window > 0 || m->experts < 2) {
        return roof_json_error(c->json, c->text, c->error,
                               m->window > 0 ? "sliding_window is not known with this model_type"
                                             : "num_local_experts missing, or less than 2");
    }
    TRY(read_size(&m->window, c, "attention_chunk_size", CHUNK, 1000000000));
    m->chunked = true;
    m->bare_qk_norm = true;
    m->expert_intermediate = m->shared_intermediate = m->intermediate;
    TRY(read_size(&m->intermediate, c, "intermediate_size_mlp", DENSE, 1000000000));
    return read_rope(layer, m, c);
}

enum roof_status roof_config_chunk_experts(struct roof_layer *layer, const struct roof_model *m,
                                           const struct config *c)
{
    const roof_json_value *const list = roof_config_member(c, "moe_layers");
    if (list == NULL) {
        return ROOF_OK;
    }
    if (!roof_json_is_array(list)) {
        return roof_json_error(c->json, list, c->error,
                               "moe_layers must be an array of layer "
                               "numbers");
    }
    for (int64_t i = 0; i < m->layers; i++) {
        layer[i].moe = false;
    }
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item)) {
        int64_t i = 0;
        TRY(roof_config_integer(&i, c, item, "moe_layers", 0, m->layers - 1));
        layer[i].moe = true;
    }
    return ROOF_OK;
}
