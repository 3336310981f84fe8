// SPDX-License-Identifier: MIT
/*
 * Encoders in front of an MLP that makes a token of each patch, or of a few: LLaVA, LLaVA-NeXT,
 * MiniMax-VL-01 and Command-A Vision. Sources: huggingface/transformers, modeling_llava.py,
 * _llava_next.py and _cohere2_vision.py with the configuration_ files beside them, _clip.py and
 * _siglip.py; MiniMaxAI/MiniMax-VL-01, processing_minimax_vl_01.py, as the forks of vLLM have it.
 */
#include <string.h>

#include "base/base.h"
#include "model/config_tower.h"

/* Reads the number of a layer, which counts from the end if it is negative; 0: there is none. */
static enum roof_status read_layer(int64_t *out, const struct tower_reading *r, const char *key,
                                   const roof_json_value *value, int64_t layers)
{
    TRY(roof_config_integer(out, r->config, value, key, -ROOF_TOWER_SIZE_MAX, ROOF_TOWER_SIZE_MAX));
    *out = *out < 0 ? layers + 1 + *out : *out;
    *out = *out < 1 || *out > layers ? 0 : *out;
    return ROOF_OK;
}

enum roof_status roof_tower_feature_layer(struct tower_reading *r, const char *key,
                                          int64_t otherwise, int64_t *results)
{
    struct roof_tower *const t = &r->tower;
    const roof_json_value *const value = roof_json_get(r->config->root, key);
    const bool list = results != NULL && roof_json_is_array(value);
    int64_t used = otherwise < 0 ? t->layers + 1 + otherwise : otherwise;
    bool known = list || !roof_json_is_array(value);
    if (list) {
        used = 0;
        *results = 0;
        for (const roof_json_value *item = roof_json_first(value); item != NULL;
             item = roof_json_next(item)) {
            int64_t layer = 0;
            TRY(read_layer(&layer, r, key, item, t->layers));
            known = known && layer > 0;
            used = layer > used ? layer : used;
            ++*results;
        }
    } else if (known && value != NULL && !roof_json_is_null(value)) {
        TRY(read_layer(&used, r, key, value, t->layers));
    }
    if (!known || used < 1 || used > t->layers) {
        r->unknown = key;
        return ROOF_OK;
    }
    t->skipped = t->layers - used;
    t->layers = used;
    return ROOF_OK;
}

/* Counts what the class of SigLIP has for pooling: a query, attention, a norm and an MLP. */
static enum roof_status leave_pooling(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    bool pools = true;
    TRY(roof_tower_flag(&pools, r, r->vision, "vision_use_head", true));
    if (pools) {
        const int64_t h = t->hidden;
        const int64_t wide = t->intermediate;
        t->unused += h + 4 * (h * h + h) + 2 * h + 2 * h * wide + wide + h;
    }
    return ROOF_OK;
}

/* Reads the encoder, and the MLP that makes a token of each patch. The class token is a token, too,
 * with the strategy "full". */
static enum roof_status read_patches(struct tower_reading *r, bool *full, bool of_patches)
{
    static const char strategy[] = "vision_feature_select_strategy";
    struct roof_tower *const t = &r->tower;
    const int64_t hidden = r->config->model->hidden;
    const char *const word = roof_json_string(roof_json_get(r->config->root, strategy));
    bool bias = true;
    int64_t results = 1;
    *full = word != NULL && strcmp(word, "full") == 0;
    if (word != NULL && !*full && strcmp(word, "default") != 0) {
        r->unknown = strategy;
    }
    TRY(roof_tower_square(r));
    TRY(roof_tower_feature_layer(r, "vision_feature_layer", -2, &results));
    TRY(roof_tower_flag(&bias, r, r->config->root, "multimodal_projector_bias", true));
    t->merge = 1;
    const int64_t in = results <= ROOF_LAYERS_MAX ? results * t->hidden : 0;
    roof_tower_product(t, in, hidden, ROOF_PROJECTION_GELU, bias)->of_patches = of_patches;
    roof_tower_product(t, hidden, hidden, ROOF_PROJECTION_PLAIN, bias)->of_patches = of_patches;
    if (t->class_token) {
        t->position_rows = roof_tower_patches(t) + 1;
        t->unused = 2 * t->hidden; /* the norm behind the last layer */
        return ROOF_OK;
    }
    if (!*full) {
        r->unknown = strategy; /* it would leave out the first patch */
    }
    if (!t->rotary && t->hidden <= 1000000 && t->intermediate <= 1000000) { /* SigLIP */
        t->position_rows = roof_tower_patches(t);
        t->unused = 2 * t->hidden;
        TRY(leave_pooling(r));
    }
    return ROOF_OK;
}

enum roof_status roof_tower_llava(struct tower_reading *r)
{
    bool full = false;
    TRY(read_patches(r, &full, false));
    r->tower.class_results = full && r->tower.class_token ? 1 : 0;
    return ROOF_OK;
}

/* Reads the canvases, each a list of two sides in pixels, of which the first is the height. */
static enum roof_status read_canvases(struct tower_reading *r)
{
    static const char key[] = "image_grid_pinpoints";
    struct roof_tower *const t = &r->tower;
    const roof_json_value *const list = roof_json_get(r->config->root, key);
    t->canvases = 0;
    for (const roof_json_value *item = roof_json_is_array(list) ? roof_json_first(list) : NULL;
         item != NULL && r->unknown == NULL; item = roof_json_next(item)) {
        const roof_json_value *side = roof_json_first(item);
        if (!roof_json_is_array(item) || roof_json_count(item) != 2 ||
            t->canvases == ROOF_CANVASES_MAX) {
            r->unknown = key;
            return ROOF_OK;
        }
        for (int i = 0; i < 2; i++, side = roof_json_next(side)) {
            int64_t pixels = 0;
            TRY(roof_config_integer(&pixels, r->config, side, key, 1, ROOF_TOWER_SIZE_MAX));
            const int64_t squares = t->side > 0 ? pixels / t->side : 0;
            if (t->side == 0 || pixels % t->side != 0 || squares > ROOF_CANVAS_SIDE_MAX) {
                r->unknown = key;
                return ROOF_OK;
            }
            t->canvas[t->canvases][i] = (int16_t)squares;
        }
        t->canvases++;
    }
    if (t->canvases == 0 && r->unknown == NULL) {
        r->unknown = key;
    }
    return ROOF_OK;
}

/* Reads LLaVA-NeXT: an image is cut into the squares of a canvas, and a vector ends each of its
 * lines. */
enum roof_status roof_tower_llava_next(struct tower_reading *r)
{
    bool full = false;
    TRY(read_patches(r, &full, true));
    if (full && r->tower.class_token) {
        r->unknown = "vision_feature_select_strategy"; /* its lines would not fit */
    }
    r->tower.unused += r->config->model->hidden; /* the vector that ends a line */
    return read_canvases(r);
}

/* Reads Command-A Vision: the elements of m x m patches pass an MLP with a gate. */
enum roof_status roof_tower_cohere2(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t wide = 0;
    const struct tower_size sizes[] = {{{"downsample_factor", NULL}, &t->merge, 2},
                                       {{"alignment_intermediate_size", NULL}, &wide, 36864}};
    TRY(roof_tower_square(r));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        TRY(roof_tower_size(r, r->config->root, &sizes[i]));
    }
    if (wide % 2 != 0) {
        r->unknown = "alignment_intermediate_size"; /* gates and values are equally many */
    }
    t->position_rows = roof_tower_patches(t);
    TRY(leave_pooling(r));
    const int64_t in = t->merge <= 1000 ? t->hidden * t->merge * t->merge : 0;
    roof_tower_product(t, in, wide / 2, ROOF_PROJECTION_GATED, true);
    roof_tower_product(t, wide / 2, r->config->model->hidden, ROOF_PROJECTION_PLAIN, true);
    return ROOF_OK;
}
