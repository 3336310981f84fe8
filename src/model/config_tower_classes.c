// SPDX-License-Identifier: MIT
/*
 * Encoders of images by class. Their sizes are those of vision_config; what the class does and a
 * config leaves out comes from the class: huggingface/transformers, modeling_qwen2_vl.py,
 * _qwen2_5_vl.py, _qwen3_vl.py, _gemma3.py with _siglip.py, _gemma4.py, _llama4.py, _mistral3.py
 * with _pixtral.py, _internvl.py, _glm4v.py, _kimi_k25.py,
 * _minimax_m3_vl.py, _mllama.py; OpenGVLab/InternVL, modeling_intern_vit.py and
 * modeling_internvl_chat.py; vllm-project/vllm, kimi_vl.py with moonvit.py; sgl-project/sglang,
 * configs/kimi_k3.py, and ROCm/ATOM, the encoder of Kimi-K3. The limits of pixels
 * and patches are those of the published preprocessor_config.json, or of the class of the
 * processor.
 */
#include <string.h>

#include "base/base.h"
#include "model/config_tower.h"

#define SIZE_MAX_VALUE ROOF_TOWER_SIZE_MAX

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

/* --- Qwen-VL ------------------------------------------------------------------------------- */

/* Adds the MLP of two products that makes a token of m x m patches. */
static void put_qwen_products(struct roof_tower *t, int64_t out)
{
    const int64_t wide = t->hidden * t->merge * t->merge;
    roof_tower_product(t, wide, wide, ROOF_PROJECTION_GELU, true);
    roof_tower_product(t, wide, out, ROOF_PROJECTION_PLAIN, true);
}

/* Reads the common part: a patch spans two frames, so an image is used twice. `joins` has how many
 * patches and frames are joined. */
static enum roof_status read_frames(struct tower_reading *r, const roof_json_value *joins,
                                    int64_t patch)
{
    struct roof_tower *const t = &r->tower;
    int64_t channels = 0;
    int64_t frames = 0;
    const struct tower_size sizes[] = {{{"patch_size", NULL}, &t->patch, patch},
                                       {{"in_channels", "in_chans", "num_channels"}, &channels, 3}};
    const struct tower_size joined[] = {{{"spatial_merge_size", NULL}, &t->merge, 2},
                                        {{"temporal_patch_size", NULL}, &frames, 2}};
    TRY(roof_tower_sizes(r, sizes, COUNT(sizes)));
    for (size_t i = 0; i < COUNT(joined); i++) {
        TRY(roof_tower_size(r, joins, &joined[i]));
    }
    t->inputs = roof_tower_elements(channels, frames, t->patch);
    return ROOF_OK;
}

static enum roof_status read_qwen2(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t out = 0;
    double ratio = 0;
    const struct tower_size sizes[] = {{{"depth", NULL}, &t->layers, 0},
                                       {{"embed_dim", NULL}, &t->hidden, 0},
                                       {{"num_heads", NULL}, &t->heads, 0},
                                       {{"hidden_size", NULL}, &out, 0}};
    TRY(roof_tower_sizes(r, sizes, COUNT(sizes)));
    TRY(read_frames(r, r->vision, 14));
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
    const struct tower_size sizes[] = {{{"depth", NULL}, &t->layers, 0},
                                       {{"hidden_size", NULL}, &t->hidden, 0},
                                       {{"num_heads", NULL}, &t->heads, 0},
                                       {{"intermediate_size", NULL}, &t->intermediate, 0},
                                       {{"out_hidden_size", NULL}, out, 0}};
    return roof_tower_sizes(r, sizes, COUNT(sizes));
}

static enum roof_status read_qwen25(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t out = 0;
    int64_t window = 0;
    const struct tower_size size = {{"window_size", NULL}, &window, 112};
    TRY(read_depth(r, &out));
    TRY(read_frames(r, r->vision, 14));
    TRY(roof_tower_size(r, r->vision, &size));
    t->window = window / t->patch;
    t->full = (int64_t)roof_json_count(roof_json_get(r->vision, "fullatt_block_indexes"));
    put_qwen_products(t, out);
    return ROOF_OK;
}

/* Qwen3-VL also has such an MLP after some earlier layers: three if the config does not name them
 * (configuration_qwen3_vl.py). Qwen3.5 has none. */
static enum roof_status read_qwen3(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t out = 0;
    const struct tower_size size = {{"num_position_embeddings", NULL}, &t->position_rows, 2304};
    TRY(read_depth(r, &out));
    TRY(read_frames(r, r->vision, 16));
    TRY(roof_tower_size(r, r->vision, &size));
    const roof_json_value *const taps = roof_json_get(r->vision, "deepstack_visual_indexes");
    const char *const type = roof_json_string(roof_json_get(r->config->root, "model_type"));
    const bool by_class = type != NULL && strncmp(type, "qwen3_vl", strlen("qwen3_vl")) == 0;
    t->taps = taps == NULL && by_class ? 3 : (int64_t)roof_json_count(taps);
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
    const struct tower_size size = {{"image_size", NULL}, &side, 336};
    TRY(read_depth(r, &out));
    TRY(read_frames(r, r->vision, 14));
    TRY(roof_tower_size(r, r->vision, &size));
    TRY(roof_tower_flag(&t->qkv_bias, r, r->vision, "attention_bias", false));
    inner = t->intermediate;
    t->intermediate = out;
    t->position_rows = (side / t->patch) * (side / t->patch);
    roof_tower_product(t, t->hidden * t->merge * t->merge, out, ROOF_PROJECTION_PLAIN, true);
    roof_tower_product(t, out, out, ROOF_PROJECTION_GELU, false)->norm = true;
    roof_tower_product(t, out, inner, ROOF_PROJECTION_GATED, false);
    roof_tower_product(t, inner, out, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* --- towers with the usual names ----------------------------------------------------------- */

/* Reads Gemma 3: the patches of a square become a fixed number of tokens by their mean. */
static enum roof_status read_gemma3(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t tokens = 0;
    int64_t across = 1;
    const struct tower_size size = {{"mm_tokens_per_image", NULL}, &tokens, 256};
    TRY(roof_tower_square(r));
    TRY(roof_tower_size(r, r->config->root, &size));
    if (r->missing != NULL || t->patch == 0) {
        return ROOF_OK;
    }
    const int64_t grid = t->side / t->patch;
    while (across * across < tokens) {
        across++;
    }
    t->merge = grid % across == 0 && across * across == tokens ? grid / across : 0;
    t->position_rows = roof_tower_patches(t);
    roof_tower_product(t, t->hidden, r->config->model->hidden, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* Reads Gemma 4: a position has a row for each axis; k x k patches become a token by their mean. */
static enum roof_status read_gemma4(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t rows = 0;
    int64_t kv_heads = 0;
    TRY(roof_tower_usual(r));
    const struct tower_size sizes[] = {{{"head_dim", NULL}, &t->head_dim, 64},
                                       {{"num_key_value_heads", NULL}, &kv_heads, t->heads},
                                       {{"pooling_kernel_size", NULL}, &t->merge, 3},
                                       {{"position_embedding_size", NULL}, &rows, 10240}};
    TRY(roof_tower_sizes(r, sizes, COUNT(sizes)));
    if (kv_heads != t->heads) {
        r->unknown = "num_key_value_heads";
    }
    t->position_rows = 2 * rows;
    t->most_patches = 280 * t->merge * t->merge;
    roof_tower_product(t, t->hidden, r->config->model->hidden, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* Reads Llama 4: the elements of four patches pass through three products. */
static enum roof_status read_llama4(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t in = 0;
    int64_t out = 0;
    double ratio = 0;
    const struct tower_size sizes[] = {{{"projector_input_dim", NULL}, &in, 4096},
                                       {{"projector_output_dim", NULL}, &out, 4096}};
    TRY(roof_tower_square(r));
    TRY(roof_tower_sizes(r, sizes, COUNT(sizes)));
    TRY(read_number(&ratio, r, r->vision, "pixel_shuffle_ratio", 0.5));
    t->merge = whole_inverse(ratio);
    t->position_rows = roof_tower_patches(t) + 1; /* and one of the class token */
    roof_tower_product(t, t->hidden * t->merge * t->merge, in, ROOF_PROJECTION_GELU, false);
    roof_tower_product(t, in, out, ROOF_PROJECTION_GELU, false);
    roof_tower_product(t, out, r->config->model->hidden, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* Reads Pixtral in Mistral Small: a product joins four patches, and two more products follow. */
static enum roof_status read_mistral3(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    const int64_t hidden = r->config->model->hidden;
    const struct tower_size size = {{"spatial_merge_size", NULL}, &t->merge, 2};
    bool bias = false;
    TRY(roof_tower_square(r));
    TRY(roof_tower_size(r, r->config->root, &size));
    TRY(roof_tower_flag(&bias, r, r->config->root, "multimodal_projector_bias", false));
    roof_tower_product(t, t->hidden * t->merge * t->merge, t->hidden, ROOF_PROJECTION_PLAIN, bias);
    roof_tower_product(t, t->hidden, hidden, ROOF_PROJECTION_GELU, bias);
    roof_tower_product(t, hidden, hidden, ROOF_PROJECTION_PLAIN, bias);
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
    roof_tower_product(t, wide, hidden, ROOF_PROJECTION_GELU, true);
    roof_tower_product(t, hidden, hidden, ROOF_PROJECTION_PLAIN, true);
    t->position_rows = roof_tower_patches(t) + 1;
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
    TRY(roof_tower_square(r));
    TRY(roof_tower_feature_layer(r, "vision_feature_layer", -1, NULL));
    TRY(roof_tower_flag(&t->qkv_bias, r, r->vision, "attention_bias", false));
    TRY(roof_tower_flag(&t->wide_norm, r, r->vision, "use_qk_norm", false));
    TRY(roof_tower_flag(&pools, r, r->vision, "use_mean_pooling", true));
    TRY(roof_tower_flag(&positions, r, r->vision, "use_absolute_position_embeddings", true));
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
    TRY(roof_tower_square(r));
    const struct tower_size sizes[] = {{{"force_image_size", NULL}, &t->side, t->side},
                                       {{"max_dynamic_patch", NULL}, &t->squares, 6},
                                       {{"min_dynamic_patch", NULL}, &least, 1}};
    for (size_t i = 0; i < COUNT(sizes) && r->missing == NULL; i++) {
        TRY(roof_tower_size(r, root, &sizes[i]));
    }
    TRY(roof_tower_feature_layer(r, "select_layer", -1, NULL));
    TRY(roof_tower_flag(&t->qkv_bias, r, r->vision, "qkv_bias", false));
    TRY(roof_tower_flag(&t->wide_norm, r, r->vision, "qk_normalization", true));
    TRY(roof_tower_flag(&cuts, r, root, "dynamic_image_size", false));
    TRY(roof_tower_flag(&overview, r, root, "use_thumbnail", false));
    TRY(roof_tower_flag(&experts, r, r->vision, "use_moe", false));
    read_norm_type(r, "rms_norm");
    r->unknown = experts ? "use_moe" : least > 1 ? "min_dynamic_patch" : r->unknown;
    t->squares = cuts ? t->squares : 1;
    t->no_overview = !overview;
    return read_shuffle(r);
}

/* --- MoonViT ------------------------------------------------------------------------------- */

/* Reads the sizes that all classes of MoonViT have. */
static enum roof_status read_moonvit_sizes(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t columns = 0;
    int64_t rows = 0;
    const struct tower_size sizes[] = {{{"merge_kernel_size", NULL}, &t->merge, 2},
                                       {{"init_pos_emb_height", "pos_emb_height"}, &rows, 64},
                                       {{"init_pos_emb_width", "pos_emb_width"}, &columns, 64}};
    TRY(roof_tower_usual(r));
    TRY(roof_tower_sizes(r, sizes, COUNT(sizes)));
    t->position_rows = rows * columns;
    t->side = 512 * t->patch;
    return ROOF_OK;
}

/* Reads MoonViT of Kimi-VL and Kimi-K2.5: each patch is normed, and four become a token. */
static enum roof_status read_moonvit(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    TRY(read_moonvit_sizes(r));
    const int64_t wide = t->hidden * t->merge * t->merge;
    roof_tower_product(t, wide, wide, ROOF_PROJECTION_GELU, true);
    roof_tower_product(t, wide, r->config->model->hidden, ROOF_PROJECTION_PLAIN, true);
    return ROOF_OK;
}

/* Remembers a word of vision_config that is not the one that the class has by default. */
static void expect_word(struct tower_reading *r, const char *key, const char *word)
{
    const char *const given = roof_json_string(roof_json_get(r->vision, key));
    r->unknown = given != NULL && strcmp(given, word) != 0 ? key : r->unknown;
}

/* Reads MoonViT of Kimi-K3: heads are wider than the hidden states, products have no bias, and the
 * norm stands behind those that make tokens. */
static enum roof_status read_kimi_k3(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t heads_width = 0;
    int64_t joined = 0;
    bool attention_bias = false;
    TRY(read_moonvit_sizes(r));
    const struct tower_size sizes[] = {{{"qkv_hidden_size", NULL}, &heads_width, 1536},
                                       {{"mm_hidden_size", NULL}, &joined, t->hidden}};
    for (size_t i = 0; i < COUNT(sizes) && r->missing == NULL; i++) {
        TRY(roof_tower_size(r, r->vision, &sizes[i]));
    }
    TRY(roof_tower_flag(&attention_bias, r, r->vision, "attn_bias", false));
    TRY(roof_tower_flag(&t->bias, r, r->vision, "linear_bias", false));
    TRY(roof_tower_flag(&t->patch_bias, r, r->vision, "patch_embed_proj_bias", false));
    expect_word(r, "norm_type", "rmsnorm");
    expect_word(r, "mlp_type", "mlp2");
    expect_word(r, "mm_projector_type", "patchmergerv2");
    t->qkv_bias = attention_bias;
    r->unknown = joined != t->hidden         ? "mm_hidden_size"
                 : attention_bias != t->bias ? "attn_bias"
                                             : r->unknown;
    t->head_dim = t->heads > 0 && heads_width % t->heads == 0 ? heads_width / t->heads : 0;
    if (t->head_dim == 0) {
        r->unknown = "qkv_hidden_size";
    }
    const int64_t wide = t->hidden * t->merge * t->merge;
    roof_tower_product(t, wide, wide, ROOF_PROJECTION_GELU, false);
    roof_tower_product(t, wide, r->config->model->hidden, ROOF_PROJECTION_PLAIN, false);
    return ROOF_OK;
}

/* --- MiniMax-M3 ---------------------------------------------------------------------------- */

/* Returns the object with the numbers of joined patches and frames: a member of vision_config or of
 * the root, else vision_config itself. A method of joining that is not known is remembered. */
static const roof_json_value *joins_of(struct tower_reading *r)
{
    static const char key[] = "img_token_compression_config";
    static const char method[] = "image_token_compression_method";
    const roof_json_value *const inner = roof_json_get(r->vision, key);
    const roof_json_value *const joins =
        inner == NULL ? roof_json_get(r->config->root, key) : inner;
    const roof_json_value *const name = roof_json_get(joins, method);
    const char *const word = roof_json_string(name);
    if (name != NULL && (word == NULL || strcmp(word, "patch_merge") != 0)) {
        r->unknown = method;
    }
    return roof_json_is_object(joins) ? joins : r->vision;
}

/* Reads MiniMax-M3: patches pass an MLP one by one, and then tokens of m x m of them another. */
static enum roof_status read_minimax(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    const int64_t hidden = r->config->model->hidden;
    int64_t wide = 0;
    const struct tower_size size = {{"projector_hidden_size", NULL}, &wide, 6144};
    TRY(roof_tower_usual(r));
    TRY(read_frames(r, joins_of(r), 14));
    TRY(roof_tower_size(r, r->config->root, &size));
    roof_tower_product(t, t->hidden, wide, ROOF_PROJECTION_GELU, true)->of_patches = true;
    roof_tower_product(t, wide, hidden, ROOF_PROJECTION_PLAIN, true)->of_patches = true;
    roof_tower_product(t, t->merge <= 1000 ? hidden * t->merge * t->merge : 0, wide,
                       ROOF_PROJECTION_GELU, true);
    roof_tower_product(t, wide, hidden, ROOF_PROJECTION_PLAIN, true);
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
    const struct tower_size sizes[] = {{{"num_hidden_layers", NULL}, &t->layers, 32},
                                       {{"num_global_layers", NULL}, &late, 8},
                                       {{"hidden_size", NULL}, &t->hidden, 1280},
                                       {{heads, "attention_heads"}, &t->heads, 16},
                                       {{"intermediate_size", NULL}, &t->intermediate, 5120},
                                       {{"image_size", NULL}, &t->side, 448},
                                       {{"patch_size", NULL}, &t->patch, 14},
                                       {{"num_channels", NULL}, &channels, 3},
                                       {{"max_num_tiles", NULL}, &t->squares, 4},
                                       {{"vision_output_dim", NULL}, &out, 7680}};
    TRY(roof_tower_sizes(r, sizes, COUNT(sizes)));
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
    t->inputs = roof_tower_elements(channels, 1, t->patch);
    t->merge = 1;
    t->position_rows = roof_tower_patches(t) + 1;
    t->tile_rows = each * (t->position_rows + 1);
    t->late_rows = each;
    t->scalars = 3 + 2 * late;
    t->layers += late;
    roof_tower_product(t, out, r->config->model->hidden, ROOF_PROJECTION_PLAIN, true);
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
                                              roof_tower_llava};
static const struct tower_class llava_pixtral = {
    {.fit = ROOF_FIT_LONGEST, .gated = true, .rotary = true, .pre_norm = true}, roof_tower_llava};
#define SIGLIP .layernorm = true, BIASES, .patch_bias = true
static const struct tower_class llava_siglip = {{.fit = ROOF_FIT_SQUARES, .squares = 1, SIGLIP},
                                                roof_tower_llava};
static const struct tower_class llava_next_clip = {
    {.fit = ROOF_FIT_CANVASES, .layernorm = true, BIASES, .class_token = true, .pre_norm = true},
    roof_tower_llava_next};
static const struct tower_class llava_next_siglip = {{.fit = ROOF_FIT_CANVASES, SIGLIP},
                                                     roof_tower_llava_next};
static const struct tower_class cohere2 = {
    {.fit = ROOF_FIT_SQUARES, .squares = 12, SIGLIP, .post_norm = true}, roof_tower_cohere2};
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
static const struct tower_class kimi_k3 = {{.fit = ROOF_FIT_PATCHES,
                                            .most_patches = 65536,
                                            .rotary = true,
                                            .post_norm = true,
                                            .project_post = true},
                                           read_kimi_k3};
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
             {"llava", "siglip_vision_model", &llava_siglip},
             {"llava_next", "clip_vision_model", &llava_next_clip},
             {"llava_next", "siglip_vision_model", &llava_next_siglip},
             {"minimax_vl_01", "clip_vision_model", &llava_next_clip},
             {"cohere2_vision", "siglip_vision_model", &cohere2},
             {"glm4v", NULL, &glm4v},
             {"glm4v_moe", NULL, &glm4v},
             {"internvl", NULL, &internvl},
             {"internvl_chat", NULL, &internvl_chat},
             {"kimi_vl", NULL, &kimi_vl},
             {"kimi_k25", NULL, &kimi_k25},
             {"kimi_k3", NULL, &kimi_k3},
             {"minimax_m3", NULL, &minimax},
             {"minimax_m3_vl", NULL, &minimax}};

const struct tower_class *roof_config_tower_class(const char *whole, const char *vision)
{
    /* LlavaConfig and its successor use CLIP if vision_config has no model_type, and
     * Cohere2VisionConfig SigLIP. */
    const bool cohere = whole != NULL && strcmp(whole, "cohere2_vision") == 0;
    const char *const inner = vision != NULL ? vision
                              : cohere       ? "siglip_vision_model"
                                             : "clip_vision_model";
    for (size_t i = 0; i < COUNT(types) && whole != NULL; i++) {
        if (strcmp(types[i].whole, whole) == 0 &&
            (types[i].vision == NULL || strcmp(types[i].vision, inner) == 0)) {
            return types[i].tower;
        }
    }
    return NULL;
}
