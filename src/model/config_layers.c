// SPDX-License-Identifier: MIT
/* The layers of a config.json, one by one. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

/* Reads which layers have a window from layer_types; asked: windows are in use. */
static enum roof_status read_layer_types(struct roof_layer *layer, const struct roof_model *m,
                                         const struct config *c, const roof_json_value *types,
                                         bool asked)
{
    int64_t i = 0;
    if (!roof_json_is_array(types) || roof_json_count(types) != (size_t)m->layers) {
        return roof_json_error(c->json, types, c->error,
                               "layer_types must be an array with a name for each of the "
                               "%" PRId64 " layers",
                               m->layers);
    }
    for (const roof_json_value *item = roof_json_first(types); item != NULL;
         item = roof_json_next(item), i++) {
        const char *const type = roof_json_string(item);
        const bool sliding = type != NULL && strcmp(type, "sliding_attention") == 0;
        if (type == NULL || (!sliding && !roof_config_layer_word(&layer[i], c, type))) {
            return roof_json_error(c->json, item, c->error,
                                   c->family->mixer == ROOF_MIXER_NONE
                                       ? "layer_types: only full_attention and sliding_attention "
                                         "are known"
                                       : "layer_types: only the words for attention and for the "
                                         "state of this model_type are known");
        }
        if (sliding && (!asked || !roof_config_has(c, "sliding_window"))) {
            return roof_json_error(
                c->json, item, c->error, "layer_types has sliding_attention, and %s",
                asked ? "sliding_window is missing" : "use_sliding_window is not true");
        }
        layer[i].windowed = sliding && m->window > 0;
    }
    return ROOF_OK;
}

/* --- windows with KV heads of their own (MiMo-V2) ------------------------------------------ */

/* Refuses sizes of windowed layers that differ from those of other layers. */
static enum roof_status check_window_sizes(const struct roof_model *m, const struct config *c)
{
    const struct {
        const char *key;
        const char *usual;
        int64_t value;
    } same[] = {{"swa_num_attention_heads", "num_attention_heads", m->heads},
                {"swa_head_dim", "head_dim", m->head_dim},
                {"swa_v_head_dim", "v_head_dim", m->v_head_dim},
                {"sliding_window_size", "sliding_window", m->window}};
    for (size_t i = 0; i < COUNT(same); i++) {
        const roof_json_value *const value = roof_config_member(c, same[i].key);
        double number = 0;
        if (value != NULL &&
            (!roof_json_number(&number, value) || number != (double)same[i].value)) {
            return roof_json_error(c->json, value, c->error, "%s other than %s is not known",
                                   same[i].key, same[i].usual);
        }
    }
    return ROOF_OK;
}

/* Reads the layers with a window, a 1 for each, and the other sizes that differ in them. */
static enum roof_status read_own_windows(struct roof_layer *layer, struct reading *r,
                                         struct config *c)
{
    struct roof_model *const m = &r->model;
    const roof_json_value *const pattern = roof_config_member(c, "hybrid_layer_pattern");
    const roof_json_value *const kv_heads = roof_config_member(c, "swa_num_key_value_heads");
    int64_t own = 0;
    int64_t i = 0;
    if (!roof_json_is_array(pattern) || roof_json_count(pattern) != (size_t)m->layers) {
        return roof_json_error(c->json, pattern == NULL ? c->text : pattern, c->error,
                               "hybrid_layer_pattern must be an array with a number for each of "
                               "the %" PRId64 " layers",
                               m->layers);
    }
    if (kv_heads == NULL || m->window == 0 || m->head_dim == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "hybrid_layer_pattern needs swa_num_key_value_heads, "
                               "sliding_window and head_dim");
    }
    TRY(roof_config_integer(&own, c, kv_heads, "swa_num_key_value_heads", 1, m->heads));
    TRY(check_window_sizes(m, c));
    m->sinks = roof_config_flag(c, "add_full_attention_sink_bias", false);
    m->window_sinks = roof_config_flag(c, "add_swa_attention_sink_bias", false);
    for (const roof_json_value *item = roof_json_first(pattern); item != NULL;
         item = roof_json_next(item), i++) {
        int64_t windowed = 0;
        TRY(roof_config_integer(&windowed, c, item, "hybrid_layer_pattern", 0, 1));
        layer[i].windowed = windowed > 0;
        layer[i].kv_heads = windowed > 0 ? (int32_t)own : 0;
    }
    roof_config_drop_predictors(r, c);
    return ROOF_OK;
}

static enum roof_status read_windows(struct roof_layer *layer, struct reading *r, struct config *c)
{
    const struct roof_model *const m = &r->model;
    if ((c->family->flags & OWN_WINDOWS) != 0) {
        return read_own_windows(layer, r, c);
    }
    if ((c->family->flags & CHUNKS) != 0) {
        return roof_config_chunks(layer, r, c);
    }
    const roof_json_value *types = roof_config_member(c, "layer_types");
    if (types == NULL && c->family->mixer != ROOF_MIXER_NONE) {
        types = roof_config_member(c, "layers_block_type");
    }
    const bool from_some_layer = (c->family->flags & WINDOW_ASKED) != 0;
    const bool asked = roof_config_flag(c, "use_sliding_window", !from_some_layer);
    if (types != NULL) {
        return read_layer_types(layer, m, c, types, asked);
    }
    if (m->window == 0 || !asked) {
        return ROOF_OK;
    }
    const int64_t pattern =
        r->extra.window_pattern > 0 ? r->extra.window_pattern : c->family->window_pattern;
    for (int64_t i = from_some_layer ? r->extra.max_window_layers : 0; i < m->layers; i++) {
        layer[i].windowed = pattern == 0 || (i + 1) % pattern != 0;
    }
    return ROOF_OK;
}

/* Puts experts into the layers that several keys agree on. */
static enum roof_status put_experts(struct roof_layer *layer, struct reading *r,
                                    const struct config *c)
{
    const int64_t layers = r->model.layers;
    struct extra *const x = &r->extra;
    const roof_json_value *const frequency = roof_config_member(c, "moe_layer_freq");
    const bool list = roof_json_is_array(frequency);
    if (list && roof_json_count(frequency) != (size_t)layers) {
        return roof_json_error(
            c->json, frequency, c->error,
            "moe_layer_freq must have a number for each of the %" PRId64 " layers", layers);
    }
    if (frequency != NULL && !list) {
        TRY(roof_config_integer(&x->moe_frequency, c, frequency, "moe_layer_freq", 0,
                                ROOF_LAYERS_MAX));
    }
    const roof_json_value *item = list ? roof_json_first(frequency) : NULL;
    for (int64_t i = 0; i < layers; i++) {
        int64_t listed = 1;
        if (item != NULL) {
            TRY(roof_config_integer(&listed, c, item, "moe_layer_freq", 0, 1));
            item = roof_json_next(item);
        }
        const bool here = (c->family->flags & ONE_PART) == 0 || layer[i].moe;
        layer[i].moe = here && listed > 0 && i >= x->first_dense &&
                       (x->last_moe <= 0 || i <= x->last_moe) &&
                       (x->sparse_step == 0 || (i + 1) % x->sparse_step == 0) &&
                       (x->interleave == 0 || (i + 1) % x->interleave == 0) &&
                       (x->expert_period == 0 || i % x->expert_period == x->expert_offset) &&
                       (x->moe_frequency == 0 || i % x->moe_frequency == 0);
    }
    return ROOF_OK;
}

/* Takes experts away from the layers that mlp_only_layers names. */
static enum roof_status read_dense_layers(struct roof_layer *layer, const struct roof_model *m,
                                          const struct config *c)
{
    const roof_json_value *const dense = roof_config_member(c, "mlp_only_layers");
    if (dense != NULL && !roof_json_is_array(dense)) {
        return roof_json_error(c->json, dense, c->error,
                               "mlp_only_layers must be an array of layer numbers");
    }
    for (const roof_json_value *item = roof_json_first(dense); item != NULL;
         item = roof_json_next(item)) {
        int64_t i = 0;
        TRY(roof_config_integer(&i, c, item, "mlp_only_layers", 0, m->layers - 1));
        layer[i].moe = false;
    }
    return ROOF_OK;
}

static enum roof_status read_experts(struct roof_layer *layer, struct reading *r, struct config *c)
{
    struct roof_model *const m = &r->model;
    if (m->top_k > 0 && m->experts == 0 && !roof_config_has_size(c, M(experts))) {
        return roof_json_error(c->json, c->text, c->error,
                               "each token chooses %" PRId64 " experts, and how many there are is "
                               "missing (num_local_experts)",
                               m->top_k);
    }
    if (m->experts < 2) { /* some dense models give 1 or 0 */
        m->experts = 0;
        m->top_k = m->expert_groups = m->group_topk = 0;
        m->expert_intermediate = 0;
        if (c->family->mixer == ROOF_MIXER_SSD && m->shared_intermediate > 0) {
            m->intermediate = m->shared_intermediate; /* Granite: the shared MLP is all */
        }
        m->shared_intermediate = 0;
        return ROOF_OK;
    }
    const int64_t group = m->expert_groups > 0 ? m->experts / m->expert_groups : 0;
    if (m->expert_groups < 2 || m->group_topk == 0 || m->experts % m->expert_groups != 0 ||
        m->group_topk >= m->expert_groups || m->group_topk * group < m->top_k) {
        m->expert_groups = m->group_topk = 0; /* a choice that excludes nothing */
    }
    if (m->expert_intermediate == 0) {
        m->expert_intermediate = m->intermediate;
    }
    if (m->shared_intermediate == 0 && roof_config_flag(c, "use_mixed_mlp_moe", true)) {
        m->shared_intermediate = r->extra.shared_experts * m->expert_intermediate;
    } else if (m->shared_intermediate > 0 && r->extra.shared_experts > 1) {
        return roof_json_error(
            c->json, c->text, c->error,
            "whether the width of shared experts is that of one or of all %" PRId64
            " is not known: leave out their number, and give that of all",
            r->extra.shared_experts);
    }
    TRY(put_experts(layer, r, c));
    if ((c->family->flags & CHUNKS) != 0) {
        return roof_config_chunk_experts(layer, m, c);
    }
    if (c->family->doubled) {
        return roof_config_doubled(layer, r, c);
    }
    TRY(roof_config_own_experts(layer, m, c));
    return read_dense_layers(layer, m, c);
}

/* Reads the layers, one by one, and puts the results into the model. */
static enum roof_status put_layers(struct roof_layer *layer, struct reading *r, struct config *c)
{
    roof_layers_clear(layer, r->model.layers);
    TRY(roof_config_mixer(layer, r, c));
    TRY(read_windows(layer, r, c));
    if ((c->family->flags & COMPRESSED) != 0) {
        TRY(roof_config_compressed(layer, r, c));
    } else if ((c->family->flags & BLOCKS) != 0) {
        TRY(roof_config_blocks(layer, r, c));
    } else if ((c->family->flags & GEMMA4) != 0) {
        TRY(roof_config_gemma4(layer, r, c));
    } else if (c->family->altup) {
        TRY(roof_config_gemma3n(layer, r, c));
    } else if (c->family->native_sparse) {
        TRY(roof_config_native_sparse(r, c));
    } else if (c->family->crossed) {
        TRY(roof_config_crossed(layer, r, c));
    } else if ((c->family->flags & HEAD_LISTS) != 0) {
        TRY(roof_config_head_lists(layer, r, c));
    } else if (c->family->shares_choice) {
        TRY(roof_config_choices(layer, &r->model, c));
    }
    if (c->no_flag != NULL) {
        return roof_json_error(c->json, c->no_flag, c->error, "%s must be true or false",
                               roof_json_key(c->no_flag));
    }
    TRY(read_experts(layer, r, c));
    TRY(roof_config_mixer_sizes(&r->model, r, c));
    *c->model = r->model;
    roof_model_classes(c->model, layer);
    const enum roof_status status = roof_model_check(c->model, c->error);
    return status == ROOF_OK ? ROOF_OK
                             : roof_json_place_error(c->json, c->text, "", c->error, status);
}

enum roof_status roof_config_layers(struct reading *r, struct config *c)
{
    struct roof_layer *const layer = calloc(ROOF_LAYERS_MAX, sizeof *layer);
    if (layer == NULL) {
        return roof_no_memory(c->error);
    }
    const enum roof_status status = put_layers(layer, r, c);
    free(layer);
    return status;
}
