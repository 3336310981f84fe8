// SPDX-License-Identifier: MIT
/*
 * The encoder of images of a multimodal config. Its sizes are those of vision_config; what the
 * class does and a config leaves out comes from the class: huggingface/transformers,
 * modeling_qwen2_vl.py, _qwen2_5_vl.py, _qwen3_vl.py, _gemma3.py with _siglip.py, _llama4.py, and
 * _mistral3.py with _pixtral.py. The limits of pixels are those of the published
 * preprocessor_config.json of Qwen2-VL, Qwen2.5-VL and Qwen3-VL.
 */
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/config_parts.h"
#include "model/model_make.h"

#define SIZE_MAX_VALUE 1000000
#define KEYS_MAX 2

enum tower_family { QWEN2, QWEN25, QWEN3, GEMMA3, LLAMA4, PIXTRAL };

/* The model_type of the whole model says which class encodes its images. */
static const struct {
    const char *type;
    enum tower_family family;
} types[] = {{"qwen2_vl", QWEN2},     {"qwen2_5_vl", QWEN25}, {"qwen3_vl", QWEN3},
             {"qwen3_vl_moe", QWEN3}, {"qwen3_5", QWEN3},     {"qwen3_5_moe", QWEN3},
             {"gemma3", GEMMA3},      {"llama4", LLAMA4},     {"mistral3", PIXTRAL}};

/* Holds what each class does without saying so. */
static const struct roof_tower classes[] = {
    [QWEN2] = {.fit = ROOF_FIT_PIXELS,
               .least_pixels = 3136,
               .most_pixels = 12845056,
               .layernorm = true,
               .bias = true,
               .rotary = true,
               .project_norm = true,
               .project_bias = true},
    [QWEN25] = {.fit = ROOF_FIT_PIXELS,
                .least_pixels = 3136,
                .most_pixels = 12845056,
                .gated = true,
                .bias = true,
                .rotary = true,
                .project_norm = true,
                .project_bias = true},
    [QWEN3] = {.fit = ROOF_FIT_PIXELS,
               .least_pixels = 65536,
               .most_pixels = 16777216,
               .layernorm = true,
               .bias = true,
               .patch_bias = true,
               .rotary = true,
               .project_norm = true,
               .project_bias = true},
    [GEMMA3] = {.fit = ROOF_FIT_SQUARES,
                .squares = 1,
                .layernorm = true,
                .bias = true,
                .patch_bias = true,
                .post_norm = true,
                .project_norm = true,
                .pooled = true},
    [LLAMA4] = {.fit = ROOF_FIT_SQUARES,
                .squares = 16,
                .layernorm = true,
                .bias = true,
                .rotary = true,
                .class_token = true,
                .pre_norm = true,
                .post_norm = true},
    [PIXTRAL] = {.fit = ROOF_FIT_LONGEST,
                 .gated = true,
                 .rotary = true,
                 .pre_norm = true,
                 .project_norm = true},
};

/* Keys of vision_config that are read, or change no shape. A star stands for any characters. */
static const char *const known_keys[] = {"*_act",
                                         "*_eps",
                                         "*drop*",
                                         "*dtype",
                                         "attn_implementation",
                                         "deepstack_visual_indexes",
                                         "depth",
                                         "embed_dim",
                                         "fullatt_block_indexes",
                                         "head_dim",
                                         "hidden_size",
                                         "image_size",
                                         "intermediate_size",
                                         "mlp_ratio",
                                         "out_hidden_size",
                                         "patch_size",
                                         "pixel_shuffle_ratio",
                                         "spatial_merge_size",
                                         "spatial_patch_size",
                                         "temporal_patch_size",
                                         "window_size",
                                         "in_chan*",
                                         "initializer_*",
                                         "model_type",
                                         "multi_modal_projector_bias",
                                         "num_attention_heads",
                                         "num_channels",
                                         "num_heads",
                                         "num_hidden_layers",
                                         "num_position_embeddings",
                                         "projector_*",
                                         "rope_*",
                                         "tokens_per_second",
                                         "transformers_version",
                                         "vision_feature_*",
                                         "vision_output_dim",
                                         "vision_use_head"};

/* Notes the keys of vision_config that are not known. */
static enum roof_status note_unknown(const struct config *c, const roof_json_value *vision)
{
    struct roof_text unknown = ROOF_TEXT_INIT;
    for (const roof_json_value *member = roof_json_first(vision); member != NULL;
         member = roof_json_next(member)) {
        const char *const key = roof_json_key(member);
        if (!roof_config_says_nothing(member) &&
            !roof_config_key_in(key, known_keys, COUNT(known_keys))) {
            roof_text_put(&unknown, unknown.length == 0 ? "keys of vision_config that are not "
                                                          "known, and count for nothing: "
                                                        : ", ");
            roof_text_plain(&unknown, key);
        }
    }
    if (unknown.failed) {
        roof_text_free(&unknown);
        return roof_no_memory(c->error);
    }
    if (unknown.length == 0) {
        roof_text_free(&unknown);
        return ROOF_OK;
    }
    const char *const owned = roof_model_own(c->model, unknown.data);
    roof_model_note(c->model, owned);
    return owned == NULL ? roof_no_memory(c->error) : ROOF_OK;
}

/* A size of vision_config. */
struct size {
    const char *names[KEYS_MAX];
    int64_t *out;
    int64_t otherwise; /* what the class has where the config says nothing; 0: it must */
};

/* Reads a size; *missing names it where there is none. */
static enum roof_status read_size(const char **missing, const struct config *c,
                                  const roof_json_value *vision, const struct size *size)
{
    const roof_json_value *value = NULL;
    for (int i = 0; i < KEYS_MAX && size->names[i] != NULL && value == NULL; i++) {
        value = roof_json_get(vision, size->names[i]);
    }
    *size->out = size->otherwise;
    if (value != NULL && !roof_json_is_null(value)) {
        return roof_config_integer(size->out, c, value, roof_json_key(value), 1, SIZE_MAX_VALUE);
    }
    if (size->otherwise == 0 && *missing == NULL) {
        *missing = size->names[0];
    }
    return ROOF_OK;
}

static enum roof_status read_sizes(const char **missing, const struct config *c,
                                   const roof_json_value *vision, const struct size *sizes,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(read_size(missing, c, vision, &sizes[i]));
    }
    return ROOF_OK;
}

/* Reads Qwen-VL: a patch spans two frames, which an image gives twice, and four patches become a
 * token by an MLP of two products; Qwen3-VL has such an MLP behind some earlier layers, too. */
static enum roof_status read_qwen(struct roof_tower *t, const char **missing,
                                  enum tower_family family, const struct config *c,
                                  const roof_json_value *vision)
{
    int64_t channels = 0;
    int64_t frames = 0;
    int64_t window = 0;
    int64_t out = 0;
    int64_t side = 0;
    const bool second = family == QWEN2;
    const struct size sizes[] = {
        {{"depth", NULL}, &t->layers, 0},
        {{second ? "embed_dim" : "hidden_size", NULL}, &t->hidden, 0},
        {{"num_heads", NULL}, &t->heads, 0},
        {{"intermediate_size", NULL}, &t->intermediate, second ? -1 : 0},
        {{"patch_size", NULL}, &t->patch, second || family == QWEN25 ? 14 : 16},
        {{"spatial_merge_size", NULL}, &t->merge, 2},
        {{"temporal_patch_size", NULL}, &frames, 2},
        {{"in_channels", "in_chans"}, &channels, 3},
        {{second ? "hidden_size" : "out_hidden_size", NULL}, &out, 0},
        {{"window_size", NULL}, &window, family == QWEN25 ? 112 : -1},
        {{"num_position_embeddings", NULL}, &side, family == QWEN3 ? 2304 : -1}};
    TRY(read_sizes(missing, c, vision, sizes, COUNT(sizes)));
    if (second) {
        double ratio = 4;
        (void)roof_json_number(&ratio, roof_json_get(vision, "mlp_ratio"));
        t->intermediate = (int64_t)(ratio * (double)t->hidden);
    }
    if (family == QWEN25) {
        t->window = window / t->patch;
        t->full = (int64_t)roof_json_count(roof_json_get(vision, "fullatt_block_indexes"));
    }
    if (family == QWEN3) {
        t->position_rows = side;
        t->taps = (int64_t)roof_json_count(roof_json_get(vision, "deepstack_visual_indexes"));
    }
    t->inputs = channels * frames * t->patch * t->patch;
    t->project[0] = t->project[1] = t->hidden * t->merge * t->merge;
    t->project[2] = out;
    t->project_acts = 1;
    return ROOF_OK;
}

/* Reads the sizes that the other classes share. */
static enum roof_status read_usual(struct roof_tower *t, const char **missing,
                                   const struct config *c, const roof_json_value *vision)
{
    int64_t channels = 0;
    const struct size sizes[] = {{{"num_hidden_layers", NULL}, &t->layers, 0},
                                 {{"hidden_size", NULL}, &t->hidden, 0},
                                 {{"num_attention_heads", NULL}, &t->heads, 0},
                                 {{"intermediate_size", NULL}, &t->intermediate, 0},
                                 {{"patch_size", NULL}, &t->patch, 0},
                                 {{"image_size", NULL}, &t->side, 0},
                                 {{"num_channels", NULL}, &channels, 3}};
    TRY(read_sizes(missing, c, vision, sizes, COUNT(sizes)));
    t->inputs = channels * t->patch * t->patch;
    return ROOF_OK;
}

/* Reads Gemma 3: the patches of a square become a fixed number of tokens by their mean. */
static enum roof_status read_gemma3(struct roof_tower *t, const char **missing,
                                    const struct config *c, const roof_json_value *vision)
{
    int64_t tokens = 0;
    const struct size size = {{"mm_tokens_per_image", NULL}, &tokens, 256};
    TRY(read_usual(t, missing, c, vision));
    TRY(read_size(missing, c, c->root, &size));
    if (*missing != NULL) {
        return ROOF_OK;
    }
    const int64_t grid = t->side / t->patch;
    int64_t across = 1;
    while (across * across < tokens) {
        across++;
    }
    t->merge = grid % across == 0 && across * across == tokens ? grid / across : 0;
    t->position_rows = grid * grid;
    t->project[0] = t->hidden;
    t->project[1] = c->model->hidden;
    return ROOF_OK;
}

/* Reads Llama 4: the elements of four patches pass through three products. */
static enum roof_status read_llama4(struct roof_tower *t, const char **missing,
                                    const struct config *c, const roof_json_value *vision)
{
    const struct size sizes[] = {{{"projector_input_dim", NULL}, &t->project[1], 4096},
                                 {{"projector_output_dim", NULL}, &t->project[2], 4096}};
    double ratio = 0.5;
    TRY(read_usual(t, missing, c, vision));
    TRY(read_sizes(missing, c, vision, sizes, COUNT(sizes)));
    (void)roof_json_number(&ratio, roof_json_get(vision, "pixel_shuffle_ratio"));
    t->merge = ratio > 0 && 1 / ratio == (double)(int64_t)(1 / ratio) ? (int64_t)(1 / ratio) : 0;
    t->project[0] = t->hidden * t->merge * t->merge;
    t->project[3] = c->model->hidden;
    t->project_acts = 3;
    if (*missing == NULL) {
        const int64_t grid = t->side / t->patch;
        t->position_rows = grid * grid + 1; /* and one of the class token */
    }
    return ROOF_OK;
}

/* Reads Pixtral behind Mistral Small: four patches are joined by a product, and two more follow. */
static enum roof_status read_pixtral(struct roof_tower *t, const char **missing,
                                     const struct config *c, const roof_json_value *vision)
{
    const struct size size = {{"spatial_merge_size", NULL}, &t->merge, 2};
    const roof_json_value *const bias = roof_json_get(c->root, "multimodal_projector_bias");
    TRY(read_usual(t, missing, c, vision));
    TRY(read_size(missing, c, c->root, &size));
    if (bias != NULL && !roof_json_boolean(&t->project_bias, bias)) {
        return roof_json_error(c->json, bias, c->error,
                               "multimodal_projector_bias must be true or false");
    }
    t->project[0] = t->hidden * t->merge * t->merge;
    t->project[1] = t->hidden;
    t->project[2] = t->project[3] = c->model->hidden;
    t->project_acts = 2;
    return ROOF_OK;
}

/* Tells whether the sizes of an encoder go together. */
static bool fits_together(const struct roof_tower *t)
{
    const int64_t grid = t->fit == ROOF_FIT_SQUARES ? t->side / t->patch : t->merge;
    return t->layers <= ROOF_LAYERS_MAX && t->hidden % t->heads == 0 && t->merge > 0 &&
           grid >= t->merge && grid % t->merge == 0 && t->full <= t->layers &&
           t->taps <= t->layers && (t->window == 0 || t->window % t->merge == 0) &&
           t->side < 1 << 20 && t->hidden * t->merge * t->merge <= 1000000000;
}

/* Says why the encoder is not counted. */
static enum roof_status leave_out(const struct config *c, const char *missing)
{
    struct roof_text remark = ROOF_TEXT_INIT;
    roof_text_put(&remark, "the language model alone: the encoder of images is not counted");
    if (missing != NULL) {
        roof_text_printf(&remark, ", because vision_config %s",
                         *missing == '\0' ? "has sizes that do not go together" : "lacks ");
        roof_text_plain(&remark, missing);
    }
    if (remark.failed) {
        roof_text_free(&remark);
        return roof_no_memory(c->error);
    }
    const char *const owned = roof_model_own(c->model, remark.data);
    roof_model_note(c->model, owned);
    return owned == NULL ? roof_no_memory(c->error) : ROOF_OK;
}

static enum roof_status read_family(struct roof_tower *t, const char **missing,
                                    enum tower_family family, const struct config *c,
                                    const roof_json_value *vision)
{
    switch (family) {
    case GEMMA3:
        return read_gemma3(t, missing, c, vision);
    case LLAMA4:
        return read_llama4(t, missing, c, vision);
    case PIXTRAL:
        return read_pixtral(t, missing, c, vision);
    default:
        return read_qwen(t, missing, family, c, vision);
    }
}

enum roof_status roof_config_tower(const struct config *c)
{
    const roof_json_value *const vision = roof_json_get(c->root, "vision_config");
    const char *const type = roof_json_string(roof_json_get(c->root, "model_type"));
    const char *missing = NULL;
    size_t i = 0;
    if (!roof_json_is_object(vision)) {
        return ROOF_OK;
    }
    while (i < COUNT(types) && (type == NULL || strcmp(types[i].type, type) != 0)) {
        i++;
    }
    if (i == COUNT(types)) {
        return leave_out(c, NULL);
    }
    struct roof_tower tower = classes[types[i].family];
    TRY(read_family(&tower, &missing, types[i].family, c, vision));
    if (missing == NULL && !fits_together(&tower)) {
        missing = "";
    }
    if (missing != NULL) {
        return leave_out(c, missing);
    }
    c->model->tower = tower;
    return note_unknown(c, vision);
}
