// SPDX-License-Identifier: MIT
/* The vision encoder of a multimodal config, by its class (config_tower_classes.c); notes say
 * what is not counted, and why. */
#include "model/config_tower.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/model_make.h"

/* Keys of vision_config that are read, or change no shape. A star stands for any characters. */
static const char *const known_keys[] = {"*_act",
                                         "*_eps",
                                         "*drop*",
                                         "*dtype",
                                         "*attn_implementation",
                                         "activation_func",
                                         "attention_bias",
                                         "attn_bias",
                                         "attention_heads",
                                         "deepstack_visual_indexes",
                                         "default_output_length", /* tokens of an image, at most */
                                         "depth",
                                         "embed_dim",
                                         "fullatt_block_indexes",
                                         "global_head_dim",
                                         "head_dim",
                                         "hidden_size",
                                         "id2label",
                                         "image_size",
                                         "img_token_compression_config",
                                         "init_pos_emb_*",
                                         "intermediate_layers_indices",
                                         "intermediate_size",
                                         "interpolation_*",
                                         "label2id",
                                         "layer_scale_init_value",
                                         "linear_bias",
                                         "length_penalty", /* what a class writes for all models */
                                         "max_length",
                                         "max_num_tiles",
                                         "max_position_embeddings",
                                         "merge_kernel_size",
                                         "merge_type",
                                         "mlp_ratio",
                                         "mlp_type",
                                         "mm_*",
                                         "norm_type",
                                         "num_key_value_heads",
                                         "out_hidden_size",
                                         "patch_embed_proj_bias",
                                         "patch_size",
                                         "pixel_shuffle_ratio",
                                         "pooling_kernel_size",
                                         "pos_emb_*",
                                         "position_embedding_size",
                                         "projection_dim", /* of CLIP with texts */
                                         "qk_normalization",
                                         "qkv_bias",
                                         "qkv_hidden_size",
                                         "spatial_merge_size",
                                         "spatial_patch_size",
                                         "supported_aspect_ratios",
                                         "standardize", /* a factor and a summand of each element */
                                         "temporal_patch_size",
                                         "text_hidden_size",
                                         "use_absolute_position_embeddings",
                                         "use_clipped_linears",
                                         "use_flash_attn",
                                         "use_mask_token",
                                         "use_mean_pooling",
                                         "use_qk_norm",
                                         "video_attn_type",
                                         "vocab_size",
                                         "vt_*",
                                         "window_size",
                                         "in_chan*",
                                         "initializer_*",
                                         "model_type",
                                         "multi_modal_projector_bias",
                                         "num_attention_heads",
                                         "num_beam*",
                                         "num_channels",
                                         "num_global_layers",
                                         "num_heads",
                                         "num_hidden_layers",
                                         "num_position_embeddings",
                                         "num_return_sequences",
                                         "projector_*",
                                         "repetition_penalty",
                                         "return_dict",
                                         "rope_*",
                                         "temperature",
                                         "tie_word_embeddings",
                                         "tokens_per_second",
                                         "top_k",
                                         "top_p",
                                         "transformers_version",
                                         "typical_p",
                                         "vision_feature_*",
                                         "vision_output_dim",
                                         "vision_use_head"};

/* Tells whether the sizes of an encoder are consistent. */
static bool fits_together(const struct roof_tower *t)
{
    const bool squares =
        t->fit == ROOF_FIT_SQUARES || t->fit == ROOF_FIT_ASPECT || t->fit == ROOF_FIT_CANVASES;
    const int64_t grid = squares ? t->side / t->patch : t->merge;
    return t->layers + t->skipped <= ROOF_LAYERS_MAX && t->inputs > 0 && t->merge > 0 &&
           grid >= t->merge && grid % t->merge == 0 && t->full <= t->layers &&
           t->taps <= t->layers && (t->window == 0 || t->window % t->merge == 0) &&
           t->side < 1 << 20 && t->squares <= 1000 && t->hidden * t->merge * t->merge <= 1000000000;
}

/* Notes why the encoder is not counted. */
static enum roof_status leave_out(const struct config *c, const char *why, const char *key)
{
    struct roof_text remark = ROOF_TEXT_INIT;
    roof_text_printf(&remark, "only the language model is counted, not its vision encoder%s%s",
                     *why == '\0' ? "" : ", because ", why);
    roof_text_plain(&remark, key);
    return roof_model_note_text(c->model, &remark, c->error);
}

/*
 * Holds the weights of an encoder that vision_config names without its shapes, and of the embedder
 * behind it: a table for tokens of other kinds, two norms and a product. Sources:
 * huggingface/transformers, modular_gemma3n.py (Gemma3nMultimodalEmbedder) and
 * configuration_gemma3n.py (Gemma3nVisionConfig). The parameters of the encoder are those of the
 * published safetensors less all others: 5,439,438,272 of google/gemma-3n-E2B-it and 7,849,978,192
 * of google/gemma-3n-E4B-it leave the same number, which timm rounds to 294.13 M.
 */
static enum roof_status hold_named(bool *held, const struct config *c, const char *type,
                                   const roof_json_value *vision)
{
    const char *const name = roof_json_string(roof_json_get(vision, "architecture"));
    const int64_t parameters = 294126912;
    int64_t size[] = {2048, 128};
    static const char *const keys[] = {"hidden_size", "vocab_size"};
    *held = type != NULL && strcmp(type, "gemma3n") == 0 &&
            (name == NULL || strcmp(name, "mobilenetv5_300m_enc") == 0);
    for (size_t i = 0; i < COUNT(keys) && *held; i++) {
        const roof_json_value *const value = roof_json_get(vision, keys[i]);
        if (value != NULL) {
            TRY(roof_config_integer(&size[i], c, value, keys[i], 1, 1000000));
        }
    }
    if (*held) {
        c->model->tower.unused = parameters + size[0] * (size[1] + 2 + c->model->hidden);
    }
    if (*held && *c->model->notes == NULL) { /* else the registry says it in its own words */
        roof_model_note(c->model, "the vision encoder is counted in memory only, because "
                                  "vision_config has no shapes of it");
    }
    return ROOF_OK;
}

/*
 * Holds the weights of Phi-4-multimodal that only images and audio use: two encoders, whose shapes
 * its code has and its config lacks, and low-rank adapters of all products of the layers. Source:
 * microsoft/Phi-4-multimodal-instruct, 5,574,460,384 parameters of its safetensors: 4,666,493,952
 * of the language model with its adapters, 441,550,016 and 466,416,416 of the encoders.
 */
static enum roof_status hold_phi4(const struct config *c)
{
    static const char *const adapters[] = {"vision_lora", "speech_lora"};
    struct roof_model *const m = c->model;
    const int64_t attention = m->heads * m->head_dim;
    const int64_t layer = (m->hidden + attention + 2 * m->kv_heads * m->head_dim) +
                          (attention + m->hidden) + (m->hidden + 2 * m->intermediate) +
                          (m->intermediate + m->hidden);  /* the widths of four products */
    const double all = (double)layer * (double)m->layers; /* of rank 1 */
    const int64_t most = (int64_t)fmin(1e6, 1e18 / all);
    m->tower.unused = 441550016 + 466416416;
    for (size_t i = 0; i < COUNT(adapters); i++) {
        const roof_json_value *const rank = roof_json_get(roof_json_get(c->root, adapters[i]), "r");
        int64_t r = 0;
        if (rank != NULL) {
            TRY(roof_config_integer(&r, c, rank, "r", 0, most));
        }
        m->tower.unused += r * layer * m->layers;
    }
    roof_model_note(m, "the encoders of images and audio, whose shapes the config lacks, and the "
                       "adapters that only images and audio use are counted in memory only");
    return ROOF_OK;
}

enum roof_status roof_config_tower(const struct config *c)
{
    bool held = false;
    const roof_json_value *const vision = roof_json_get(c->root, "vision_config");
    const char *const type = roof_json_string(roof_json_get(c->root, "model_type"));
    if (type != NULL && strcmp(type, "phi4mm") == 0) {
        return hold_phi4(c);
    }
    const char *const inner = roof_json_string(roof_json_get(vision, "model_type"));
    if (!roof_json_is_object(vision)) {
        return ROOF_OK;
    }
    const struct tower_class *const class = roof_config_tower_class(type, inner);
    if (class == NULL) {
        TRY(hold_named(&held, c, type, vision));
        return held ? ROOF_OK : leave_out(c, "", "");
    }
    struct tower_reading r = {.tower = class->tower, .config = c, .vision = vision};
    TRY(class->read(&r));
    if (r.missing != NULL) {
        return leave_out(c, "vision_config lacks ", r.missing);
    }
    if (r.unknown != NULL) {
        return leave_out(c, "vision_config has an unknown value of ", r.unknown);
    }
    if (r.tower.head_dim == 0 && r.tower.hidden % r.tower.heads == 0) {
        r.tower.head_dim = r.tower.hidden / r.tower.heads;
    }
    if (r.tower.head_dim == 0 || !fits_together(&r.tower)) {
        return leave_out(c, "sizes in vision_config contradict each other", "");
    }
    c->model->tower = r.tower;
    return roof_config_note_members(c, vision, "vision_config", known_keys, COUNT(known_keys));
}
