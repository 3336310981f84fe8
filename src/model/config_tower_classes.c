// SPDX-License-Identifier: MIT
/*
 * Encoders of images by class. Their sizes are those of vision_config; what the class does and a
 * config leaves out comes from the class: huggingface/transformers, modeling_qwen2_vl.py,
 * _qwen2_5_vl.py, _qwen3_vl.py, _gemma3.py with _siglip.py, _gemma4.py, _llama4.py, _mistral3.py
 * with _pixtral.py, _llava.py with _clip.py, _internvl.py, _glm4v.py, _kimi_k25.py,
 * _minimax_m3_vl.py, _mllama.py; OpenGVLab/InternVL, modeling_intern_vit.py and
 * modeling_internvl_chat.py; vllm-project/vllm, kimi_vl.py with moonvit.py. The limits of pixels
 * and patches are those of the published preprocessor_config.json, or of the class of the
 * processor.
 */
#include <string.h>

#include "base/base.h"
#include "model/config_tower.h"

#define SIZE_MAX_VALUE 1000000
#define KEYS_MAX 3

/* A size of vision_config. */
struct size {
    const char *names[KEYS_MAX];
    int64_t *out;
    int64_t otherwise; /* the default of the class; 0: the config must have it */
};

/* Returns the number that all items of a list are, NULL if they differ; any other value itself. */
static const roof_json_value *same_item(const roof_json_value *value)
{
    const roof_json_value *const first = roof_json_first(value);
    double wanted = 0;
    double number = 0;
    if (!roof_json_is_array(value) || !roof_json_number(&wanted, first)) {
        return value;
    }
    for (const roof_json_value *item = first; item != NULL; item = roof_json_next(item)) {
        if (!roof_json_number(&number, item) || number != wanted) {
            return NULL;
        }
    }
    return first;
}

/* Reads a size of an object; a missing size, or one that differs between two sides, is remembered.
 */
static enum roof_status read_size(struct tower_reading *r, const roof_json_value *object,
                                  const struct size *size)
{
    const roof_json_value *const value = roof_config_spelled(object, size->names, KEYS_MAX);
    *size->out = size->otherwise;
    if (value != NULL) {
        const char *const key = roof_json_key(value);
        const roof_json_value *const number = same_item(value);
        if (number == NULL) {
            r->unknown = key;
            return ROOF_OK;
        }
        return roof_config_integer(size->out, r->config, number, key, 1, SIZE_MAX_VALUE);
    }
    if (size->otherwise == 0 && r->missing == NULL) {
        r->missing = size->names[0];
    }
    return ROOF_OK;
}

static enum roof_status read_sizes(struct tower_reading *r, const struct size *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(read_size(r, r->vision, &sizes[i]));
    }
    return ROOF_OK;
}

/* Reads a flag of an object, with the default of the class. */
static enum roof_status read_flag(bool *out, const struct tower_reading *r,
                                  const roof_json_value *object, const char *key, bool otherwise)
{
    const roof_json_value *const value = roof_json_get(object, key);
    *out = otherwise;
    if (value != NULL && !roof_json_is_null(value) && !roof_json_boolean(out, value)) {
        return roof_json_error(r->config->json, value, r->config->error, "%s must be true or false",
                               key);
    }
    return ROOF_OK;
}

/* Reads a number of an object, with the default of the class. */
static enum roof_status read_number(double *out, const struct tower_reading *r,
                                    const roof_json_value *object, const char *key,
                                    double otherwise)
{
    const roof_json_value *const value = roof_json_get(object, key);
    *out = otherwise;
    if (value != NULL && !roof_json_is_null(value) && !roof_json_number(out, value)) {
        return roof_json_error(r->config->json, value, r->config->error, "%s must be a number",
                               key);
    }
    return ROOF_OK;
}

/* Returns the number of patches per side that a ratio joins: 2 for 0.5. 0: it is not a whole
 * number. */
static int64_t whole_inverse(double ratio)
{
    return ratio > 0.001 && 1 / ratio == (double)(int64_t)(1 / ratio) ? (int64_t)(1 / ratio) : 0;
}

/* Returns the elements of a patch; 0: there are more than make sense. */
static int64_t elements(int64_t channels, int64_t frames, int64_t patch)
{
    const double count = (double)channels * (double)frames * (double)patch * (double)patch;
    return count <= 1e9 ? (int64_t)count : 0;
}

/* Adds the next product, from one width to another. */
static struct roof_projection *put_product(struct roof_tower *t, int64_t in, int64_t out,
                                           enum roof_projection_act act, bool bias)
{
    int i = 0;
    while (i < ROOF_PROJECTIONS_MAX - 1 && t->project[i].in > 0) {
        i++;
    }
    t->project[i] = (struct roof_projection){.in = in, .out = out, .act = act, .bias = bias};
    return &t->project[i];
}

/* --- Qwen-VL ------------------------------------------------------------------------------- */

/* Adds the MLP of two products that makes a token of m x m patches. */
static void put_qwen_products(struct roof_tower *t, int64_t out)
{
    const int64_t wide = t->hidden * t->merge * t->merge;
    put_product(t, wide, wide, ROOF_PROJECTION_GELU, true);
    put_product(t, wide, out, ROOF_PROJECTION_PLAIN, true);
}

/* Reads the common part: a patch spans two frames, so an image is used twice. */
static enum roof_status read_frames(struct tower_reading *r, int64_t patch)
{
    struct roof_tower *const t = &r->tower;
    int64_t channels = 0;
    int64_t frames = 0;
    const struct size sizes[] = {{{"patch_size", NULL}, &t->patch, patch},
                                 {{"spatial_merge_size", NULL}, &t->merge, 2},
                                 {{"temporal_patch_size", NULL}, &frames, 2},
                                 {{"in_channels", "in_chans", "num_channels"}, &channels, 3}};
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    t->inputs = elements(channels, frames, t->patch);
    return ROOF_OK;
}

static enum roof_status read_qwen2(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t out = 0;
    double ratio = 0;
    const struct size sizes[] = {{{"depth", NULL}, &t->layers, 0},
                                 {{"embed_dim", NULL}, &t->hidden, 0},
                                 {{"num_heads", NULL}, &t->heads, 0},
                                 {{"hidden_size", NULL}, &out, 0}};
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    TRY(read_frames(r, 14));
    TRY(read_number(&ratio, r, r->vision, "mlp_ratio", 4));
    const double width = ratio * (double)t->hidden;
    if (width >= 1 && width < SIZE_MAX_VALUE) {
        t->intermediate = (int64_t)width; /* the class leaves out the fraction, too */
    } else {
        r->unknown = "mlp_ratio";
    }
    put_qwen_products(t, out);
    return ROOF_OK;
}

/* Reads the sizes that have the same names in Qwen2.5-VL, Qwen3-VL and GLM-4V. */
static enum roof_status read_depth(struct tower_reading *r, int64_t *out)
{
    struct roof_tower *const t = &r->tower;
    const struct size sizes[] = {{{"depth", NULL}, &t->layers, 0},
                                 {{"hidden_size", NULL}, &t->hidden, 0},
                                 {{"num_heads", NULL}, &t->heads, 0},
                                 {{"intermediate_size", NULL}, &t->intermediate, 0},
                                 {{"out_hidden_size", NULL}, out, 0}};
    return read_sizes(r, sizes, COUNT(sizes));
}

static enum roof_status read_qwen25(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t out = 0;
    int64_t window = 0;
    const struct size size = {{"window_size", NULL}, &window, 112};
    TRY(read_depth(r, &out));
    TRY(read_frames(r, 14));
    TRY(read_size(r, r->vision, &size));
    t->window = window / t->patch;
    t->full = (int64_t)roof_json_count(roof_json_get(r->vision, "fullatt_block_indexes"));
    put_qwen_products(t, out);
    return ROOF_OK;
}

/* Qwen3-VL also has such an MLP after some earlier layers. */
static enum roof_status read_qwen3(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t out = 0;
    const struct size size = {{"num_position_embeddings", NULL}, &t->position_rows, 2304};
    TRY(read_depth(r, &out));
    TRY(read_frames(r, 16));
    TRY(read_size(r, r->vision, &size));
    t->taps = (int64_t)roof_json_count(roof_json_get(r->vision, "deepstack_visual_indexes"));
    put_qwen_products(t, out);
    return ROOF_OK;
}

/* --- GLM-4V -------------------------------------------------------------------------------- */

/* Reads GLM-4V: the MLP of a layer is as wide as a token, and intermediate_size belongs to the MLP
 * after the product that joins m x m patches. */
static enum roof_status read_glm4v(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t out = 0;
    int64_t side = 0;
    int64_t inner = 0;
    const struct size size = {{"image_size", NULL}, &side, 336};
    TRY(read_depth(r, &out));
    TRY(read_frames(r, 14));
    TRY(read_size(r, r->vision, &size));
    TRY(read_flag(&t->qkv_bias, r, r->vision, "attention_bias", false));
    inner = t->intermediate;
    t->intermediate = out;
    t->position_rows = (side / t->patch) * (side / t->patch);
    put_product(t, t->hidden * t->merge * t->merge, out, ROOF_PROJECTION_PLAIN, true);
    put_product(t, out, out, ROOF_PROJECTION_GELU, false)->norm = true;
    put_product(t, out, inner, ROOF_PROJECTION_GATED, false);
    put_product(t, inner, out, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* --- towers with the usual names ----------------------------------------------------------- */

/* Reads the sizes that the other classes share. */
static enum roof_status read_usual(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t channels = 0;
    const struct size sizes[] = {
        {{"num_hidden_layers", "vt_num_hidden_layers"}, &t->layers, 0},
        {{"hidden_size", "vt_hidden_size"}, &t->hidden, 0},
        {{"num_attention_heads", "vt_num_attention_heads"}, &t->heads, 0},
        {{"intermediate_size", "vt_intermediate_size"}, &t->intermediate, 0},
        {{"patch_size", NULL}, &t->patch, 0},
        {{"num_channels", NULL}, &channels, 3}};
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    t->inputs = elements(channels, 1, t->patch);
    return ROOF_OK;
}

/* Reads these sizes and that of the square that an image is scaled to. */
static enum roof_status read_square(struct tower_reading *r)
{
    const struct size size = {{"image_size", NULL}, &r->tower.side, 0};
    TRY(read_usual(r));
    return read_size(r, r->vision, &size);
}

/* Returns the patches of such a square. */
static int64_t square_patches(const struct roof_tower *t)
{
    const int64_t grid = t->patch > 0 ? t->side / t->patch : 0;
    return grid * grid;
}

/* Reads Gemma 3: the patches of a square become a fixed number of tokens by their mean. */
static enum roof_status read_gemma3(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t tokens = 0;
    int64_t across = 1;
    const struct size size = {{"mm_tokens_per_image", NULL}, &tokens, 256};
    TRY(read_square(r));
    TRY(read_size(r, r->config->root, &size));
    if (r->missing != NULL || t->patch == 0) {
        return ROOF_OK;
    }
    const int64_t grid = t->side / t->patch;
    while (across * across < tokens) {
        across++;
    }
    t->merge = grid % across == 0 && across * across == tokens ? grid / across : 0;
    t->position_rows = square_patches(t);
    put_product(t, t->hidden, r->config->model->hidden, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* Reads Gemma 4: a position has a row for each axis; k x k patches become a token by their mean. */
static enum roof_status read_gemma4(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t rows = 0;
    int64_t kv_heads = 0;
    TRY(read_usual(r));
    const struct size sizes[] = {{{"head_dim", NULL}, &t->head_dim, 64},
                                 {{"num_key_value_heads", NULL}, &kv_heads, t->heads},
                                 {{"pooling_kernel_size", NULL}, &t->merge, 3},
                                 {{"position_embedding_size", NULL}, &rows, 10240}};
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    if (kv_heads != t->heads) {
        r->unknown = "num_key_value_heads";
    }
    t->position_rows = 2 * rows;
    t->most_patches = 280 * t->merge * t->merge;
    put_product(t, t->hidden, r->config->model->hidden, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* Reads Llama 4: the elements of four patches pass through three products. */
static enum roof_status read_llama4(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t in = 0;
    int64_t out = 0;
    double ratio = 0;
    const struct size sizes[] = {{{"projector_input_dim", NULL}, &in, 4096},
                                 {{"projector_output_dim", NULL}, &out, 4096}};
    TRY(read_square(r));
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    TRY(read_number(&ratio, r, r->vision, "pixel_shuffle_ratio", 0.5));
    t->merge = whole_inverse(ratio);
    t->position_rows = square_patches(t) + 1; /* and one of the class token */
    put_product(t, t->hidden * t->merge * t->merge, in, ROOF_PROJECTION_GELU, false);
    put_product(t, in, out, ROOF_PROJECTION_GELU, false);
    put_product(t, out, r->config->model->hidden, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* Reads Pixtral in Mistral Small: a product joins four patches, and two more products follow. */
static enum roof_status read_mistral3(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    const int64_t hidden = r->config->model->hidden;
    const struct size size = {{"spatial_merge_size", NULL}, &t->merge, 2};
    bool bias = false;
    TRY(read_square(r));
    TRY(read_size(r, r->config->root, &size));
    TRY(read_flag(&bias, r, r->config->root, "multimodal_projector_bias", false));
    put_product(t, t->hidden * t->merge * t->merge, t->hidden, ROOF_PROJECTION_PLAIN, bias);
    put_product(t, t->hidden, hidden, ROOF_PROJECTION_GELU, bias);
    put_product(t, hidden, hidden, ROOF_PROJECTION_PLAIN, bias);
    return ROOF_OK;
}

/* --- LLaVA --------------------------------------------------------------------------------- */

/* Reads the layer whose output is used; the layers after it exist, but are not needed. */
static enum roof_status read_feature_layer(struct tower_reading *r, const char *key,
                                           int64_t otherwise)
{
    struct roof_tower *const t = &r->tower;
    const roof_json_value *const value = roof_json_get(r->config->root, key);
    int64_t layer = otherwise;
    if (roof_json_is_array(value)) {
        r->unknown = key;
        return ROOF_OK;
    }
    if (value != NULL && !roof_json_is_null(value)) {
        TRY(roof_config_integer(&layer, r->config, value, key, -SIZE_MAX_VALUE, SIZE_MAX_VALUE));
    }
    const int64_t used = layer < 0 ? t->layers + 1 + layer : layer;
    if (used < 1 || used > t->layers) {
        r->unknown = key;
        return ROOF_OK;
    }
    t->skipped = t->layers - used;
    t->layers = used;
    return ROOF_OK;
}

/* Reads LLaVA: each patch becomes a token by an MLP. The class token does, too, with the strategy
 * "full". */
static enum roof_status read_llava(struct tower_reading *r)
{
    static const char strategy[] = "vision_feature_select_strategy";
    struct roof_tower *const t = &r->tower;
    const int64_t hidden = r->config->model->hidden;
    const char *const word = roof_json_string(roof_json_get(r->config->root, strategy));
    const bool full = word != NULL && strcmp(word, "full") == 0;
    bool bias = true;
    if (word != NULL && !full && strcmp(word, "default") != 0) {
        r->unknown = strategy;
    }
    TRY(read_square(r));
    TRY(read_feature_layer(r, "vision_feature_layer", -2));
    TRY(read_flag(&bias, r, r->config->root, "multimodal_projector_bias", true));
    t->merge = 1;
    put_product(t, t->hidden, hidden, ROOF_PROJECTION_GELU, bias);
    put_product(t, hidden, hidden, ROOF_PROJECTION_PLAIN, bias);
    if (t->class_token) {
        t->position_rows = square_patches(t) + 1;
        t->class_results = full ? 1 : 0;
        t->unused = 2 * t->hidden; /* the norm behind the last layer */
    } else if (!full) {
        r->unknown = strategy; /* it would leave out the first patch */
    }
    return ROOF_OK;
}

/* --- InternVL ------------------------------------------------------------------------------ */

/* Reads the parts before and after the encoder of InternVL. */
static enum roof_status read_shuffle(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    const int64_t hidden = r->config->model->hidden;
    double ratio = 0;
    TRY(read_number(&ratio, r, r->config->root, "downsample_ratio", 0.5));
    t->merge = whole_inverse(ratio);
    const int64_t wide = t->hidden * t->merge * t->merge;
    put_product(t, wide, hidden, ROOF_PROJECTION_GELU, true);
    put_product(t, hidden, hidden, ROOF_PROJECTION_PLAIN, true);
    t->position_rows = square_patches(t) + 1;
    return ROOF_OK;
}

/* Reads the norm of the layers. */
static void read_norm_type(struct tower_reading *r, const char *otherwise)
{
    const char *const word = roof_json_string(roof_json_get(r->vision, "norm_type"));
    const char *const type = word == NULL ? otherwise : word;
    r->tower.layernorm = strcmp(type, "layer_norm") == 0;
    if (!r->tower.layernorm && strcmp(type, "rms_norm") != 0) {
        r->unknown = "norm_type";
    }
}

/* Reads InternVL as transformers has it. */
static enum roof_status read_internvl(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    bool pools = true;
    bool positions = true;
    TRY(read_square(r));
    TRY(read_feature_layer(r, "vision_feature_layer", -1));
    TRY(read_flag(&t->qkv_bias, r, r->vision, "attention_bias", false));
    TRY(read_flag(&t->wide_norm, r, r->vision, "use_qk_norm", false));
    TRY(read_flag(&pools, r, r->vision, "use_mean_pooling", true));
    TRY(read_flag(&positions, r, r->vision, "use_absolute_position_embeddings", true));
    read_norm_type(r, "layer_norm");
    t->post_norm = !pools;
    TRY(read_shuffle(r));
    t->position_rows = positions ? t->position_rows : 0;
    return ROOF_OK;
}

/* Reads InternVL as it is published with code of its own. */
static enum roof_status read_internvl_chat(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    const roof_json_value *const root = r->config->root;
    bool cuts = true;
    bool overview = true;
    bool experts = false;
    int64_t least = 1;
    TRY(read_square(r));
    const struct size sizes[] = {{{"force_image_size", NULL}, &t->side, t->side},
                                 {{"max_dynamic_patch", NULL}, &t->squares, 6},
                                 {{"min_dynamic_patch", NULL}, &least, 1}};
    for (size_t i = 0; i < COUNT(sizes) && r->missing == NULL; i++) {
        TRY(read_size(r, root, &sizes[i]));
    }
    TRY(read_feature_layer(r, "select_layer", -1));
    TRY(read_flag(&t->qkv_bias, r, r->vision, "qkv_bias", false));
    TRY(read_flag(&t->wide_norm, r, r->vision, "qk_normalization", true));
    TRY(read_flag(&cuts, r, root, "dynamic_image_size", false));
    TRY(read_flag(&overview, r, root, "use_thumbnail", false));
    TRY(read_flag(&experts, r, r->vision, "use_moe", false));
    read_norm_type(r, "rms_norm");
    r->unknown = experts ? "use_moe" : least > 1 ? "min_dynamic_patch" : r->unknown;
    t->squares = cuts ? t->squares : 1;
    t->no_overview = !overview;
    return read_shuffle(r);
}

/* --- MoonViT ------------------------------------------------------------------------------- */

/* Reads MoonViT of Kimi-VL and Kimi-K2.5: each patch is normed, and four become a token. */
static enum roof_status read_moonvit(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t columns = 0;
    int64_t rows = 0;
    const struct size sizes[] = {{{"merge_kernel_size", NULL}, &t->merge, 2},
                                 {{"init_pos_emb_height", "pos_emb_height"}, &rows, 64},
                                 {{"init_pos_emb_width", "pos_emb_width"}, &columns, 64}};
    TRY(read_usual(r));
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    t->position_rows = rows * columns;
    t->side = 512 * t->patch;
    const int64_t wide = t->hidden * t->merge * t->merge;
    put_product(t, wide, wide, ROOF_PROJECTION_GELU, true);
    put_product(t, wide, r->config->model->hidden, ROOF_PROJECTION_PLAIN, true);
    return ROOF_OK;
}

/* --- MiniMax-M3 ---------------------------------------------------------------------------- */

/* Reads MiniMax-M3: patches pass an MLP one by one, and then tokens of m x m of them another. */
static enum roof_status read_minimax(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    const int64_t hidden = r->config->model->hidden;
    int64_t wide = 0;
    const struct size size = {{"projector_hidden_size", NULL}, &wide, 6144};
    TRY(read_usual(r));
    TRY(read_frames(r, 14));
    TRY(read_size(r, r->config->root, &size));
    put_product(t, t->hidden, wide, ROOF_PROJECTION_GELU, true)->of_patches = true;
    put_product(t, wide, hidden, ROOF_PROJECTION_PLAIN, true)->of_patches = true;
    put_product(t, t->merge <= 1000 ? hidden * t->merge * t->merge : 0, wide, ROOF_PROJECTION_GELU,
                true);
    put_product(t, wide, hidden, ROOF_PROJECTION_PLAIN, true);
    return ROOF_OK;
}

/* --- Llama 3.2 Vision ---------------------------------------------------------------------- */

/* Returns how many ratios of sides a canvas of at most so many squares can have. */
static int64_t count_ratios(int64_t squares)
{
    int64_t ratios = 0;
    for (int64_t width = 1; width <= squares; width++) {
        ratios += squares / width;
    }
    return ratios;
}

/* Reads an encoder whose last layers have gates. The results of some layers before them stand
 * beside those of the last one, and all are projected at once. */
static enum roof_status read_mllama(struct tower_reading *r)
{
    static const char taps[] = "intermediate_layers_indices";
    static const char heads[] = "num_attention_heads";
    static const char shapes[] = "supported_aspect_ratios";
    struct roof_tower *const t = &r->tower;
    const roof_json_value *const listed = roof_json_get(r->vision, taps);
    const roof_json_value *const canvases = roof_json_get(r->vision, shapes);
    int64_t late = 0;
    int64_t out = 0;
    int64_t channels = 0;
    const struct size sizes[] = {{{"num_hidden_layers", NULL}, &t->layers, 32},
                                 {{"num_global_layers", NULL}, &late, 8},
                                 {{"hidden_size", NULL}, &t->hidden, 1280},
                                 {{heads, "attention_heads"}, &t->heads, 16},
                                 {{"intermediate_size", NULL}, &t->intermediate, 5120},
                                 {{"image_size", NULL}, &t->side, 448},
                                 {{"patch_size", NULL}, &t->patch, 14},
                                 {{"num_channels", NULL}, &channels, 3},
                                 {{"max_num_tiles", NULL}, &t->squares, 4},
                                 {{"vision_output_dim", NULL}, &out, 7680}};
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    const int64_t results = 1 + (listed == NULL ? 5 : (int64_t)roof_json_count(listed));
    if (t->squares > 1000) {
        r->unknown = "max_num_tiles";
        return ROOF_OK;
    }
    if (out != results * t->hidden) {
        r->unknown = "vision_output_dim"; /* of results that stand side by side */
    }
    const int64_t most = count_ratios(t->squares);
    const int64_t ratios = canvases == NULL ? most : (int64_t)roof_json_count(canvases);
    if (ratios > most) {
        r->unknown = shapes;
        return ROOF_OK;
    }
    const int64_t each = t->squares * (1 + ratios); /* a row for each square of each */
    t->inputs = elements(channels, 1, t->patch);
    t->merge = 1;
    t->position_rows = square_patches(t) + 1;
    t->tile_rows = each * (t->position_rows + 1);
    t->late_rows = each;
    t->scalars = 3 + 2 * late;
    t->layers += late;
    put_product(t, out, r->config->model->hidden, ROOF_PROJECTION_PLAIN, true);
    return ROOF_OK;
}

/* --- the classes --------------------------------------------------------------------------- */

#define QWEN_PIXELS .fit = ROOF_FIT_PIXELS, .least_pixels = 3136, .most_pixels = 12845056
#define PATCH_NORM .project_norm = ROOF_PROJECTION_PATCH_NORM
#define TOKEN_NORM .project_norm = ROOF_PROJECTION_TOKEN_NORM
#define BIASES .qkv_bias = true, .bias = true

static const struct tower_class qwen2 = {
    {QWEN_PIXELS, PATCH_NORM, .project_layer = true, .layernorm = true, BIASES, .rotary = true},
    read_qwen2};
static const struct tower_class qwen25 = {
    {QWEN_PIXELS, PATCH_NORM, .gated = true, BIASES, .rotary = true}, read_qwen25};
static const struct tower_class qwen3 = {{.fit = ROOF_FIT_PIXELS,
                                          .least_pixels = 65536,
                                          .most_pixels = 16777216,
                                          PATCH_NORM,
                                          .project_layer = true,
                                          .layernorm = true,
                                          BIASES,
                                          .patch_bias = true,
                                          .rotary = true},
                                         read_qwen3};
static const struct tower_class gemma3 = {{.fit = ROOF_FIT_SQUARES,
                                           .squares = 1,
                                           TOKEN_NORM,
                                           .layernorm = true,
                                           BIASES,
                                           .patch_bias = true,
                                           .post_norm = true},
                                          read_gemma3};
static const struct tower_class gemma4 = {{.fit = ROOF_FIT_BUDGET,
                                           TOKEN_NORM,
                                           .project_no_gain = true,
                                           .gated = true,
                                           .rotary = true,
                                           .layer_posts = true,
                                           .head_norms = true},
                                          read_gemma4};
static const struct tower_class llama4 = {{.fit = ROOF_FIT_SQUARES,
                                           .squares = 16,
                                           .layernorm = true,
                                           BIASES,
                                           .rotary = true,
                                           .class_token = true,
                                           .pre_norm = true,
                                           .post_norm = true},
                                          read_llama4};
static const struct tower_class mistral3 = {
    {.fit = ROOF_FIT_LONGEST, PATCH_NORM, .gated = true, .rotary = true, .pre_norm = true},
    read_mistral3};
static const struct tower_class llava_clip = {{.fit = ROOF_FIT_SQUARES,
                                               .squares = 1,
                                               .layernorm = true,
                                               BIASES,
                                               .class_token = true,
                                               .pre_norm = true},
                                              read_llava};
static const struct tower_class llava_pixtral = {
    {.fit = ROOF_FIT_LONGEST, .gated = true, .rotary = true, .pre_norm = true}, read_llava};
static const struct tower_class glm4v = {{.fit = ROOF_FIT_PIXELS,
                                          .least_pixels = 6272, /* half of those of two frames */
                                          .most_pixels = 4816896,
                                          .grows = true,
                                          .gated = true,
                                          .patch_bias = true,
                                          .rotary = true,
                                          .pre_norm = true,
                                          .post_norm = true},
                                         read_glm4v};
#define INTERNVIT                                                                                  \
    .fit = ROOF_FIT_ASPECT, TOKEN_NORM, .project_layer = true, .bias = true, .patch_bias = true,   \
    .class_token = true, .layer_scales = true
static const struct tower_class internvl = {{INTERNVIT, .squares = 12}, read_internvl};
static const struct tower_class internvl_chat = {{INTERNVIT}, read_internvl_chat};
#define MOONVIT(patches)                                                                           \
    {                                                                                              \
        {.fit = ROOF_FIT_PATCHES,                                                                  \
         .most_patches = (patches),                                                                \
         PATCH_NORM,                                                                               \
         .project_layer = true,                                                                    \
         .layernorm = true,                                                                        \
         BIASES,                                                                                   \
         .patch_bias = true,                                                                       \
         .rotary = true,                                                                           \
         .post_norm = true},                                                                       \
            read_moonvit                                                                           \
    }
static const struct tower_class kimi_vl = MOONVIT(4096);
static const struct tower_class kimi_k25 = MOONVIT(16384);
static const struct tower_class minimax = {{.fit = ROOF_FIT_PIXELS,
                                            .least_pixels = 3136,
                                            .most_pixels = 451584,
                                            .layernorm = true,
                                            BIASES,
                                            .rotary = true,
                                            .pre_norm = true},
                                           read_minimax};

static const struct tower_class mllama = {{.fit = ROOF_FIT_SQUARES,
                                           .no_overview = true,
                                           .crossed = true,
                                           .row_unit = 8,
                                           .class_results = 1,
                                           .layernorm = true,
                                           .bias = true,
                                           .plain_out = true,
                                           .class_token = true,
                                           .pre_norm = true,
                                           .post_norm = true},
                                          read_mllama};

/* The model_type of the whole model says which class encodes its images, for some together with
 * that of vision_config. */
static const struct {
    const char *whole;
    const char *vision; /* NULL: any, or none */
    const struct tower_class *tower;
} types[] = {{"qwen2_vl", NULL, &qwen2},
             {"qwen2_5_vl", NULL, &qwen25},
             {"qwen3_vl", NULL, &qwen3},
             {"qwen3_vl_moe", NULL, &qwen3},
             {"qwen3_5", NULL, &qwen3},
             {"qwen3_5_moe", NULL, &qwen3},
             {"gemma3", NULL, &gemma3},
             {"gemma4", NULL, &gemma4},
             {"llama4", NULL, &llama4},
             {"mllama", NULL, &mllama},
             {"mistral3", NULL, &mistral3},
             {"llava", "clip_vision_model", &llava_clip},
             {"llava", "pixtral", &llava_pixtral},
             {"glm4v", NULL, &glm4v},
             {"glm4v_moe", NULL, &glm4v},
             {"internvl", NULL, &internvl},
             {"internvl_chat", NULL, &internvl_chat},
             {"kimi_vl", NULL, &kimi_vl},
             {"kimi_k25", NULL, &kimi_k25},
             {"minimax_m3", NULL, &minimax},
             {"minimax_m3_vl", NULL, &minimax}};

const struct tower_class *roof_config_tower_class(const char *whole, const char *vision)
{
    /* LlavaConfig uses CLIP if vision_config has no model_type. */
    const char *const inner = vision == NULL ? "clip_vision_model" : vision;
    for (size_t i = 0; i < COUNT(types) && whole != NULL; i++) {
        if (strcmp(types[i].whole, whole) == 0 &&
            (types[i].vision == NULL || strcmp(types[i].vision, inner) == 0)) {
            return types[i].tower;
        }
    }
    return NULL;
}
