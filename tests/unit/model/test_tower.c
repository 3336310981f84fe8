// SPDX-License-Identifier: MIT
/* Encoders of images: sizes of images, parameters as published, and configs that lack shapes. */
#include "models.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/audio.h"
#include "model/graph.h"
#include "model/tower.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define TEXT(type)                                                                                 \
    "\"text_config\": {\"model_type\": \"" type "\", \"hidden_size\": 64, "                        \
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 96, "            \
    "\"vocab_size\": 100}"
#define QWEN25_VISION                                                                              \
    "\"vision_config\": {\"depth\": 32, \"hidden_size\": 1280, \"intermediate_size\": 3420, "      \
    "\"num_heads\": 16, \"in_chans\": 3, \"out_hidden_size\": 3584, \"patch_size\": 14, "          \
    "\"spatial_merge_size\": 2, \"window_size\": 112, \"temporal_patch_size\": 2, "                \
    "\"fullatt_block_indexes\": [7, 15, 23, 31]}"
#define QWEN3_VISION                                                                               \
    "\"vision_config\": {\"deepstack_visual_indexes\": [8, 16, 24], \"depth\": 27, "               \
    "\"hidden_size\": 1152, \"intermediate_size\": 4304, \"num_heads\": 16, "                      \
    "\"num_position_embeddings\": 2304, \"out_hidden_size\": 4096, \"patch_size\": 16}"
#define SIGLIP                                                                                     \
    "\"vision_config\": {\"hidden_size\": 1152, \"num_hidden_layers\": 27, "                       \
    "\"num_attention_heads\": 16, \"intermediate_size\": 4304, \"patch_size\": 14, "               \
    "\"image_size\": 896}"
#define LLAMA4_VISION                                                                              \
    "\"vision_config\": {\"hidden_size\": 1408, \"num_hidden_layers\": 34, "                       \
    "\"num_attention_heads\": 16, \"intermediate_size\": 5632, \"patch_size\": 14, "               \
    "\"image_size\": 336}"
#define PIXTRAL                                                                                    \
    "\"vision_config\": {\"hidden_size\": 1024, \"num_hidden_layers\": 24, "                       \
    "\"num_attention_heads\": 16, \"intermediate_size\": 4096, \"patch_size\": 14, "               \
    "\"image_size\": 1540}"
#define CLIP                                                                                       \
    "\"vision_config\": {\"model_type\": \"clip_vision_model\", \"hidden_size\": 1024, "           \
    "\"num_hidden_layers\": 24, \"num_attention_heads\": 16, \"intermediate_size\": 4096, "        \
    "\"patch_size\": 14, \"image_size\": 336, \"projection_dim\": 768, \"vocab_size\": 32000}"
#define INTERNVIT(root)                                                                            \
    root "\"vision_config\": {\"hidden_size\": 1024, \"num_hidden_layers\": 24, "                  \
         "\"num_attention_heads\": 16, \"intermediate_size\": 4096, \"patch_size\": 14, "          \
         "\"image_size\": 448, \"norm_type\": \"layer_norm\", \"qk_normalization\": false, "       \
         "\"qkv_bias\": true}"
#define DYNAMIC "\"dynamic_image_size\": true, \"use_thumbnail\": true, \"max_dynamic_patch\": 12, "
#define INTERNVIT_6B                                                                               \
    "\"vision_config\": {\"hidden_size\": 3200, \"num_hidden_layers\": 45, "                       \
    "\"num_attention_heads\": 25, \"intermediate_size\": 12800, \"patch_size\": 14, "              \
    "\"image_size\": 448, \"norm_type\": \"rms_norm\", \"qk_normalization\": true, "               \
    "\"qkv_bias\": false}"
#define GLM45V                                                                                     \
    "\"vision_config\": {\"depth\": 24, \"hidden_size\": 1536, \"num_heads\": 12, "                \
    "\"image_size\": 336, \"in_channels\": 3, \"intermediate_size\": 10944, "                      \
    "\"out_hidden_size\": 4096, \"attention_bias\": false, \"patch_size\": 14}"
#define MOONVIT                                                                                    \
    "\"vision_config\": {\"vt_hidden_size\": 1152, \"vt_intermediate_size\": 4304, "               \
    "\"vt_num_attention_heads\": 16, \"vt_num_hidden_layers\": 27, \"patch_size\": 14, "           \
    "\"merge_kernel_size\": [2, 2], \"init_pos_emb_height\": 64, \"init_pos_emb_width\": 64}"
#define KIMI_K3_WITH(more)                                                                         \
    "\"vision_config\": {\"vt_hidden_size\": 1024, \"vt_intermediate_size\": 4096, "               \
    "\"vt_num_attention_heads\": 12, \"vt_num_hidden_layers\": 27, \"patch_size\": 14, "           \
    "\"qkv_hidden_size\": 1536" more "}"
#define KIMI_K3 KIMI_K3_WITH("")
#define PINPOINTS(list) "\"image_grid_pinpoints\": [" list "], "
#define NEXT PINPOINTS("[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]")
/* IBM's Granite Vision, with fewer canvases. */
#define SIGLIP_384                                                                                 \
    "\"vision_config\": {\"model_type\": \"siglip_vision_model\", \"hidden_size\": 1152, "         \
    "\"num_hidden_layers\": 27, \"num_attention_heads\": 16, \"intermediate_size\": 4304, "        \
    "\"patch_size\": 14, \"image_size\": 384}"
#define GRANITE                                                                                    \
    PINPOINTS("[384, 768], [768, 768]")                                                            \
    "\"vision_feature_layer\": [-24, -20, -12, -1], "                                              \
    "\"vision_feature_select_strategy\": \"full\", " SIGLIP_384
#define COMMAND_A(root)                                                                            \
    root "\"vision_config\": {\"hidden_size\": 1152, \"num_hidden_layers\": 27, "                  \
         "\"num_attention_heads\": 16, \"intermediate_size\": 4304, \"patch_size\": 16, "          \
         "\"image_size\": 512, \"vision_use_head\": false}"
#define MINIMAX                                                                                    \
    "\"vision_config\": {\"hidden_size\": 1280, \"intermediate_size\": 5120, "                     \
    "\"num_hidden_layers\": 32, \"num_attention_heads\": 16, \"image_size\": 2016, "               \
    "\"patch_size\": 14, \"temporal_patch_size\": 2, \"spatial_merge_size\": 2}"
#define GEMMA4                                                                                     \
    "\"vision_config\": {\"hidden_size\": 1152, \"intermediate_size\": 4304, "                     \
    "\"num_hidden_layers\": 27, \"num_attention_heads\": 16, \"num_key_value_heads\": 16, "        \
    "\"head_dim\": 72, \"patch_size\": 16, \"pooling_kernel_size\": 3, "                           \
    "\"position_embedding_size\": 10240, \"standardize\": true}"
#define MLLAMA_SIZES(sizes)                                                                        \
    "\"vision_config\": {\"model_type\": \"mllama_vision_model\", \"image_size\": 560" sizes "}"
#define MLLAMA MLLAMA_SIZES("")
#define MODEL(type, text, vision) "{\"model_type\": \"" type "\", " TEXT(text) ", " vision "}"

/* Returns the parameters of the encoder alone. */
static double encoder_parameters(const struct roof_model *m)
{
    double total = 0;
    double active = 0;
    assert_int_equal(roof_model_parameters(&total, &active, m, NULL), ROOF_OK);
    return total - active;
}

/* The counts are those of the published checkpoints less those of their language models:
 * Qwen2.5-VL-7B 8,292,166,656 - 7,615,616,512; Qwen3-VL-8B 8,767,123,696 - 8,190,735,360. The
 * others end in a product that is as wide as the language model, which is 64 here: Gemma 3
 * 419,816,304 with 2560, Llama 4 871,932,416 with 5120, Mistral Small 3.1 24,011,361,280 -
 * 23,572,403,200 with 5120, LLaVA-1.5-7B 7,063,427,072 - 6,738,939,904 with 4096, InternVL2.5-78B
 * 78,408,318,336 - 72,699,813,888 (Qwen2.5-72B with 151,674 rows of its tables) with 8192,
 * LLaVA-NeXT of Mistral 7B 7,566,747,648 - 7,242,256,384 with 4096, MiniMax-M3 427,040,140,160 -
 * 426,174,572,928 with 6144. Of Kimi-K2.5 the shapes of its tensors are published (27 layers of
 * 15,239,504, the rest 59,677,312); of Gemma 4 31B 31,273,088,876 with 5376, among them 60 factors
 * of layers and 2 * 1152 of the standardization, which are not counted.
 */
static void test_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double count;
    } rows[] = {
        {MODEL("qwen2_5_vl", "qwen2", QWEN25_VISION), 676550144},
        {MODEL("qwen3_vl", "qwen3", QWEN3_VISION), 576388336},
        {MODEL("gemma3", "gemma3_text", SIGLIP), 419816304 - 1152. * (2560 - 64)},
        {MODEL("llama4", "llama", LLAMA4_VISION), 871932416 - 4096. * (5120 - 64)},
        {MODEL("mistral3", "mistral", PIXTRAL),
         24011361280 - 23572403200 - 1024. * (5120 - 64) - (5120. * 5120 - 64 * 64)},
        /* The products of the MLP behind it, and their biases. */
        {MODEL("llava", "llama", CLIP), 7063427072 - 6738939904 - 1024. * (4096 - 64) -
                                            (4096. * 4096 - 64 * 64) - 2. * (4096 - 64)},
        {MODEL("minimax_m3_vl", "llama", MINIMAX), 427040140160 - 426174572928 -
                                                       (6144. + 6144) * (6144 - 64) -
                                                       2. * (6144 - 64) - 4. * 6144 * (6144 - 64)},
        {MODEL("kimi_k25", "llama", MOONVIT), 471143920 - 4609. * (7168 - 64)},
        {MODEL("llava_next", "llama", NEXT CLIP), 7566747648 - 7242256384 - 1024. * (4096 - 64) -
                                                      (4096. * 4096 - 64 * 64) - 3. * (4096 - 64)},
        /* By hand from the class: 588 * 1024 for patches, 64 * 64 positions, 27 layers of 4 * 1024
         * * 1536 + 2 * 1024 * 4096 + 2 * 1024 = 14,682,112, a norm, two products, a norm. */
        {MODEL("kimi_k3", "llama", KIMI_K3),
         588 * 1024 + 4096 * 1024 + 27 * 14682112. + 1024 + 4096. * 4096 + 4096 * 64 + 64},
        /* 27 layers of 4 * (1152^2 + 1152) + 2 * 1152 * 4304 + 4304 + 1152 + 4 * 1152 = 15,239,504
         * (SigLIP), 588 * 1152 + 1152 for patches, 27 * 27 positions, a norm that no token passes,
         * and a head for pooling: 1152, 4 * (1152^2 + 1152), 2 * 1152, and an MLP. The results of
         * four layers stand side by side, and a vector ends a line. */
        {MODEL("llava_next", "llama", GRANITE),
         27 * 15239504. + 589 * 1152 + 729 * 1152 + 2 * 1152 + 3 * 1152 +
             4. * (1152 * 1152 + 1152) + 2. * 1152 * 4304 + 4304 + 1152 + 4608 * 64 + 64 + 64 * 64 +
             64 + 64},
        /* 768 * 1152 + 1152 for patches, 32 * 32 positions, a norm; a gate and as many values of
         * 18,432 from four patches. */
        {MODEL("cohere2_vision", "cohere2", COMMAND_A("")),
         27 * 15239504. + 769 * 1152 + 1024 * 1152 + 2 * 1152 + 4609. * 36864 + 18433 * 64.},
        {MODEL("gemma4", "llama", GEMMA4),
         31273088876 - 30697345280 - 60 - 2 * 1152 - 1152. * (5376 - 64)},
        /* 24 layers of 4 * 1536^2 + 3 * 1536 * 4096 + 2 * 1536 = 28,314,624 and the rest, by hand
         * from the class; with 106,852,251,264 of the language model 107,710,933,120. */
        {MODEL("glm4v_moe", "llama", GLM45V), 858681856},
        /* 24 layers of 12,598,272 and 1,653,760 before them are the 304,012,288 of
         * InternViT-300M; a norm of 4096, and two products. */
        {MODEL("internvl_chat", "llama", INTERNVIT(DYNAMIC)),
         304012288 + 2 * 4096 + 4096 * 64 + 64 + 64 * 64 + 64},
        /* 40 layers of 4 * 1280^2 + 2 * 1280 * 5120 + 5120 + 1280 + 4 * 1280 = 19,672,320, 8 of
         * them with two gates; 588 * 1280 for patches, a class token, 1601 positions, 9 canvases of
         * 4 squares in tables of 1601, 1 and 1 rows of 1280, three gates, two norms; 7680 * 64 and
         * 64 behind them. */
        {MODEL("mllama", "llama", MLLAMA), 40 * 19672320. + 16 + 588 * 1280 + 1602 * 1280 +
                                               9 * 4 * 1603. * 1280 + 3 + 4 * 1280 + 7680 * 64 +
                                               64},
        /* 45 layers of 4 * 3200^2 + 2 * 3200 * 12800 + 12800 + 8 * 3200 = 122,918,400. */
        {MODEL("internvl_chat", "llama", INTERNVIT_6B), 45 * 122918400. + 588 * 3200 + 3200 +
                                                            1025 * 3200 + 3200 + 2 * 12800 +
                                                            12800 * 64 + 64 + 64 * 64 + 64},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        assert_near(encoder_parameters(m), rows[i].count, 0);
        roof_model_free(m);
    }
}

/* The layer whose states become tokens is counted from 1, or from the end below 0; 24 are there. */
static void test_feature_layer(void **state)
{
    (void)state;
    static const struct {
        int64_t layer;
        int64_t used;
    } cases[] = {{-1, 24}, {-2, 23}, {-24, 1}, {1, 1}, {24, 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 MODEL("llava", "llama", "\"vision_feature_layer\": %" PRId64 ", " CLIP),
                 cases[i].layer);
        struct roof_model *const m = parse(text);
        assert_int_equal(m->tower.layers, cases[i].used);
        assert_int_equal(m->tower.skipped, 24 - cases[i].used);
        roof_model_free(m);
    }
}

/* The published config of LLaVA-1.5-7B leaves the sizes of its language model to the class. */
static void test_inner_sizes(void **state)
{
    (void)state;
    static const char text[] = "{\"model_type\": \"llava\", \"vision_feature_layer\": -2, "
                               "\"text_config\": {\"model_type\": \"llama\", "
                               "\"vocab_size\": 32064}, " CLIP "}";
    struct roof_model *const m = parse(text);
    double total = 0;
    double active = 0;
    assert_int_equal(roof_model_parameters(&total, &active, m, NULL), ROOF_OK);
    assert_near(total, 7063427072, 0);
    assert_near(active, 6738939904, 0);
    assert_int_equal(m->tower.layers, 23);
    assert_int_equal(m->tower.skipped, 1);
    assert_string_equal(m->remarks[0],
                        "text_config leaves out sizes, which are those of its class");
    assert_null(m->remarks[1]);
    roof_model_free(m);
}

#define AUDIO(type, audio) "{\"model_type\": \"" type "\", " TEXT("llama") ", " audio "}"
#define GEMMA4_AUDIO                                                                               \
    "\"audio_config\": {\"hidden_size\": 1024, \"num_hidden_layers\": 12, "                        \
    "\"num_attention_heads\": 8, \"subsampling_conv_channels\": [128, 32], "                       \
    "\"conv_kernel_size\": 5, \"output_proj_dims\": 1536}"
#define WHISPER                                                                                    \
    "\"audio_config\": {\"d_model\": 1280, \"encoder_layers\": 32, \"encoder_ffn_dim\": 5120, "    \
    "\"encoder_attention_heads\": 20, \"num_mel_bins\": 128, \"max_source_positions\": 1500}"

#define GEMMA3N_AUDIO                                                                              \
    "\"audio_config\": {\"hidden_size\": 1536, \"conf_num_hidden_layers\": 12, "                   \
    "\"conf_num_attention_heads\": 8, \"conf_reduction_factor\": 4, \"vocab_size\": 128}"
#define NO_SIZES "\"audio_config\": {}"
#define CONTRADICT                                                                                 \
    "the audio encoder is not counted, because sizes in audio_config contradict each other"

/*
 * Qwen2-Audio-7B has 8,397,094,912 parameters, of which 7,754,878,976 are those of its language
 * model, which is 4096 wide; its encoder is Whisper's: two convolutions of 492,800 and 4,916,480,
 * 1,920,000 of positions, 32 layers of 19,676,160 and a norm of 2560. Gemma 4 E2B has what
 * test_config.c derives, with 1536. Gemma 3n has two convolutions of 1152 and 36,864 with norms of
 * 160, 1024 x 1536 behind them, 12 layers of two MLPs of 8 x 1536^2, 8 x 1536^2 of attention and
 * convolution, 14 x 1536 of norms and taps, and 192 scales, 129 x 1536 of a table, 1536 of a norm.
 */
static void test_audio(void **state)
{
    (void)state;
    static const double whisper = 492800 + 4916480 + 1920000 + 32 * 19676160. + 2560;
    static const double gemma3n = 1152 + 36864 + 160 + 1024 * 1536. +
                                  12 * (24 * 1536. * 1536 + 14 * 1536 + 192) + 130 * 1536.;
    static const struct {
        const char *text;
        double count;
        const char *note; /* NULL: none */
    } rows[] = {
        {AUDIO("qwen2_audio", WHISPER), 8397094912 - 7754878976 - 1281. * (4096 - 64), NULL},
        {AUDIO("qwen2_audio", WHISPER), whisper + 1281 * 64, NULL},
        {AUDIO("voxtral", WHISPER), whisper + 5120 * 64 + 64 * 64, NULL},
        {AUDIO("gemma4", GEMMA4_AUDIO), 307183904 - 1536. * (1536 - 64), NULL},
        {AUDIO("gemma3n", GEMMA3N_AUDIO), gemma3n + 1536 * 64, NULL},
        /* Sizes that a config leaves out are those of its class. */
        {AUDIO("qwen2_audio", NO_SIZES), whisper + 1281 * 64, NULL},
        {AUDIO("voxtral", NO_SIZES), whisper + 5120 * 64 + 64 * 64, NULL},
        {AUDIO("gemma4", NO_SIZES), 307183904 - 1536. * (1536 - 64), NULL},
        {AUDIO("gemma3n", NO_SIZES), gemma3n + 1536 * 64, NULL},
        {AUDIO("ultravox", WHISPER), 0, "the audio encoder is not counted"},
        {AUDIO("voxtral", "\"audio_config\": {\"hidden_size\": 4}"), 0, CONTRADICT},
        {AUDIO("voxtral", "\"audio_config\": {\"hidden_size\": 60, \"num_hidden_layers\": 1, "
                          "\"num_attention_heads\": 6, \"intermediate_size\": 100}"),
         0, CONTRADICT},
        {AUDIO("voxtral", "\"audio_config\": {\"intermediate_size\": 640}"), 0, CONTRADICT},
        {AUDIO("voxtral", "\"audio_config\": {\"max_source_positions\": 1501}"), 0, CONTRADICT},
        {AUDIO("qwen2_audio", "\"audio_config\": {\"max_source_positions\": 1}"), 0, CONTRADICT},
        {AUDIO("gemma4", "\"audio_config\": {\"num_attention_heads\": 7}"), 0, CONTRADICT},
        {AUDIO("gemma4", "\"audio_config\": {\"subsampling_conv_channels\": [3, 32]}"), 0,
         CONTRADICT},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        assert_near(encoder_parameters(m), rows[i].count, 0);
        assert_string_equal(m->remarks[0] == NULL ? "" : m->remarks[0],
                            rows[i].note == NULL ? "" : rows[i].note);
        roof_model_free(m);
    }
}

/* Derived by hand from the rules in docs/formulas.md ("Audio"). */
static void test_clips(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds;
        struct roof_clip clip; /* windows, frames, rows, results, tokens */
    } rows[] = {
        {AUDIO("qwen2_audio", WHISPER), 30, {1, 3000, 1500, 750, 750}},
        {AUDIO("qwen2_audio", WHISPER), 10, {1, 3000, 1500, 750, 250}},
        {AUDIO("qwen2_audio", WHISPER), 1, {1, 3000, 1500, 750, 25}},
        {AUDIO("qwen2_audio", "\"audio_config\": {\"max_source_positions\": 7}"),
         30,
         {1, 14, 7, 3, 3}},
        {AUDIO("voxtral", WHISPER), 1, {1, 3000, 1500, 375, 375}},
        {AUDIO("voxtral", WHISPER), 30, {1, 3000, 1500, 375, 375}},
        {AUDIO("voxtral", WHISPER), 31, {2, 6000, 3000, 750, 750}},
        {AUDIO("voxtral", WHISPER), 1800, {60, 180000, 90000, 22500, 22500}},
        /* 479,839 / 160 = 2998.99; 1500, 750. */
        {AUDIO("gemma4", GEMMA4_AUDIO), 30, {1, 2999, 750, 750, 750}},
        /* 15,839 / 160 = 98.99; 50, 25. */
        {AUDIO("gemma4", GEMMA4_AUDIO), 1, {1, 99, 25, 25, 25}},
        /* 479,487 / 160 = 2996.8; 1499, 750; every fourth of 750. */
        {AUDIO("gemma3n", GEMMA3N_AUDIO), 30, {1, 2997, 750, 188, 188}},
        {AUDIO("gemma3n", GEMMA3N_AUDIO), 2, {1, 197, 50, 13, 188}},
        {AUDIO("gemma3n", NO_SIZES), 2, {1, 197, 50, 13, 188}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        const struct roof_clip clip = roof_audio_clip(&m->audio, rows[i].seconds);
        assert_int_equal(clip.windows, rows[i].clip.windows);
        assert_int_equal(clip.frames, rows[i].clip.frames);
        assert_int_equal(clip.rows, rows[i].clip.rows);
        assert_int_equal(clip.results, rows[i].clip.results);
        assert_int_equal(clip.tokens, rows[i].clip.tokens);
        roof_model_free(m);
    }
}

/* Derived by hand from the rules in docs/formulas.md ("Images"). */
static void test_images(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t width, height;
        int64_t squares, columns, rows, tokens;
    } rows[] = {
        /* 1280 / 28 = 45.7 and 720 / 28 = 25.7, rounded. */
        {MODEL("qwen2_5_vl", "qwen2", QWEN25_VISION), 1280, 720, 1, 92, 52, 1196},
        /* Halves are rounded to the even number: 70 / 28 = 2.5, and 42 / 28 = 1.5. */
        {MODEL("qwen2_5_vl", "qwen2", QWEN25_VISION), 70, 42, 1, 4, 4, 4},
        /* One pixel: 56 x 56 are the least. */
        {MODEL("qwen2_5_vl", "qwen2", QWEN25_VISION), 1, 1, 1, 4, 4, 4},
        /* 5 * 10^7 pixels are 1.97295^2 times the most: 5068.6 x 2534.3 are 181.02 x 90.5 tokens.
         */
        {MODEL("qwen2_5_vl", "qwen2", QWEN25_VISION), 10000, 5000, 1, 362, 180, 16290},
        {MODEL("qwen3_vl", "qwen3", QWEN3_VISION), 1024, 1024, 1, 64, 64, 1024},
        {MODEL("gemma3", "gemma3_text", SIGLIP), 1280, 720, 1, 64, 64, 256},
        /* 4 x 3 squares enlarge it by 1.05, and no canvas by less; and one of all of it. */
        {MODEL("llama4", "llama", LLAMA4_VISION), 1280, 720, 13, 24, 24, 1872},
        /* It fits in one square. */
        {MODEL("llama4", "llama", LLAMA4_VISION), 336, 200, 1, 24, 24, 144},
        /* No canvas of 16 squares is as large: 4 x 4 shrink it least. */
        {MODEL("llama4", "llama", LLAMA4_VISION), 3000, 3000, 17, 24, 24, 2448},
        /* 2000 x 1000 become 1540 x 770; 770 / 28 = 27.5 is rounded up. */
        {MODEL("mistral3", "mistral", PIXTRAL), 2000, 1000, 1, 110, 56, 1540},
        /* 2 x 2 squares keep 672 x 378 pixels, 1 x 2 only 597 x 336. 48 patches across, 27 down
         * and one line more, since what fills up is as high on both sides: 24^2 + 28 * 48 + 28. */
        {MODEL("llava_next", "llama", NEXT CLIP), 1280, 720, 5, 24, 24, 1948},
        /* All canvases keep all pixels, and the first of the smallest wastes least: 24^2 twice, and
         * 24 ends of lines. */
        {MODEL("llava_next", "llama", NEXT CLIP), 336, 336, 3, 24, 24, 1176},
        /* 1 x 3 squares: 24^2 + 24 * 72 + 24. */
        {MODEL("minimax_vl_01", "llama", NEXT CLIP), 3000, 1000, 4, 24, 24, 2328},
        /* 1 x 2 squares of 27 x 27 patches, which the image fills: 27^2 + 27 * 54 + 27. */
        {MODEL("llava_next", "llama", GRANITE), 768, 384, 3, 27, 27, 2214},
        /* 3 x 2 squares enlarge it by 1.2, and one is of all of it; 2 x 2 patches make a token. */
        {MODEL("cohere2_vision", "cohere2", COMMAND_A("")), 1280, 720, 7, 32, 32, 1792},
        {MODEL("cohere2_vision", "cohere2", COMMAND_A("")), 500, 500, 1, 32, 32, 256},
        /* LLaVA cuts out a square, and leaves out the class token. */
        {MODEL("llava", "llama", CLIP), 1280, 720, 1, 24, 24, 576},
        {MODEL("llava", "llama", "\"vision_feature_select_strategy\": \"full\", " CLIP), 99, 99, 1,
         24, 24, 577},
        /* 16/9 is 0.22 from 2/1, and 5/3 or 7/4 have more than 12 squares. 4 x 2 have 1,605,632
         * pixels, less than twice those of the image. */
        {MODEL("internvl_chat", "llama", INTERNVIT(DYNAMIC)), 1280, 720, 9, 32, 32, 2304},
        /* A square has as many pixels as more than half of 4 and of 9 squares. */
        {MODEL("internvl_chat", "llama", INTERNVIT(DYNAMIC)), 1024, 1024, 10, 32, 32, 2560},
        {MODEL("internvl_chat", "llama", INTERNVIT(DYNAMIC)), 640, 640, 5, 32, 32, 1280},
        {MODEL("internvl_chat", "llama", INTERNVIT(DYNAMIC)), 448, 448, 1, 32, 32, 256},
        {MODEL("internvl_chat", "llama", INTERNVIT("")), 1280, 720, 1, 32, 32, 256},
        {MODEL("internvl_chat", "llama",
               INTERNVIT("\"dynamic_image_size\": true, \"max_dynamic_patch\": 4, ")),
         1000, 250, 4, 32, 32, 1024},
        /* The ratio counts, and no thumbnail is made of one square. */
        {MODEL("internvl", "llama", INTERNVIT("")), 300, 200, 7, 32, 32, 1792},
        /* The encoder has four squares whatever the image fills. 2 x 2 shrink it least; one has
         * room for it; 3 x 1 enlarge it by 1.12. */
        {MODEL("mllama", "llama", MLLAMA), 1280, 720, 4, 40, 40, 4 * 1601},
        {MODEL("mllama", "llama", MLLAMA), 560, 560, 4, 40, 40, 1601},
        {MODEL("mllama", "llama", MLLAMA), 1500, 500, 4, 40, 40, 3 * 1601},
        {MODEL("mllama", "llama", MLLAMA_SIZES(", \"max_num_tiles\": 1")), 1280, 720, 1, 40, 40,
         1601},
        /* As Qwen2.5-VL; at most 6144 tokens: 4000 x 3000 pixels are 1.57837^2 times too many. */
        {MODEL("glm4v_moe", "llama", GLM45V), 1280, 720, 1, 92, 52, 1196},
        {MODEL("glm4v_moe", "llama", GLM45V), 4000, 3000, 1, 180, 134, 6030},
        /* 10 x 100 is scaled to 28 x 280 first: 7840 pixels, which are enough. */
        {MODEL("glm4v_moe", "llama", GLM45V), 10, 100, 1, 2, 20, 10},
        /* 2000 / 14 = 142 and 1000 / 14 = 71 patches: 10,082 are not too many, and are filled up
         * to 144 x 72. */
        {MODEL("kimi_k25", "llama", MOONVIT), 2000, 1000, 1, 144, 72, 2592},
        /* 285 x 285 = 81,225 patches are 2.2265^2 times 16,384: 1796 pixels, 128.3 patches. */
        {MODEL("kimi_k25", "llama", MOONVIT), 4000, 4000, 1, 130, 130, 4225},
        {MODEL("kimi_vl", "llama", MOONVIT), 4000, 4000, 1, 66, 66, 1089},
        /* 81,225 are 1.11329^2 times 65,536: 3592 pixels, 128.3 tokens. */
        {MODEL("kimi_k3", "llama", KIMI_K3), 4000, 4000, 1, 258, 258, 16641},
        /* At most 512 patches on a side: 7168 of 14336 pixels, and half of 100. */
        {MODEL("kimi_k25", "llama", MOONVIT), 14336, 100, 1, 512, 4, 512},
        {MODEL("kimi_k25", "llama", MOONVIT), 1, 1, 1, 2, 2, 1},
        /* 576 tokens: 672 x 672 pixels. */
        {MODEL("minimax_m3_vl", "llama", MINIMAX), 1024, 1024, 1, 48, 48, 576},
        /* The published config names the joined patches apart: 3 x 3 of 14 x 14 pixels. 24 tokens
         * of 42 pixels are 1008 pixels. */
        {MODEL("minimax_m3_vl", "llama",
               MINIMAX ", \"img_token_compression_config\": {\"spatial_merge_size\": 3}"),
         1008, 1008, 1, 48, 48, 256},
        /* 2520 patches of 16 x 16: 1280 x 720 becomes 1070.99 x 602.43, 22.3 x 12.55 tokens. */
        {MODEL("gemma4", "llama", GEMMA4), 1280, 720, 1, 66, 36, 264},
        {MODEL("gemma4", "llama", GEMMA4), 100, 100, 1, 48, 48, 256},
        /* 0.72 tokens high: one, and as many as the image is longer than high, at most 280. */
        {MODEL("gemma4", "llama", GEMMA4), 5400, 10, 1, 840, 3, 280},
        {MODEL("gemma4", "llama", GEMMA4), 10, 5000, 1, 3, 840, 280},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        const struct roof_image image = roof_tower_image(&m->tower, rows[i].width, rows[i].height);
        assert_int_equal(image.squares, rows[i].squares);
        assert_int_equal(image.columns, rows[i].columns);
        assert_int_equal(image.rows, rows[i].rows);
        assert_int_equal(image.tokens, rows[i].tokens);
        const int64_t patches = image.squares * image.columns * image.rows;
        const int64_t embedded = patches + (m->tower.class_token ? image.squares : 0);
        assert_int_equal(roof_tower_embedded(&m->tower, &image), embedded);
        /* 1601 rows are filled up to 1608 where there are so many. */
        assert_int_equal(roof_tower_rows(&m->tower, &image),
                         embedded + (m->tower.crossed ? 7 * image.squares : 0));
        roof_model_free(m);
    }
}

/* 92 x 52 patches in windows of 8 x 8: 11 x 6 whole ones, 4 columns and 4 rows are left. */
static void test_windows(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MODEL("qwen2_5_vl", "qwen2", QWEN25_VISION));
    const struct roof_image image = roof_tower_image(&m->tower, 1280, 720);
    struct roof_windows windows[ROOF_WINDOW_KINDS];
    static const struct roof_windows wanted[ROOF_WINDOW_KINDS] = {
        {66, 64}, {6, 32}, {11, 32}, {1, 16}};
    roof_tower_windows(windows, &m->tower, &image);
    for (int i = 0; i < ROOF_WINDOW_KINDS; i++) {
        assert_int_equal(windows[i].count, wanted[i].count);
        assert_int_equal(windows[i].patches, wanted[i].patches);
    }
    /* One column and one row are left of 9 x 17 patches. */
    static const struct roof_windows single[ROOF_WINDOW_KINDS] = {{2, 64}, {2, 8}, {1, 8}, {1, 1}};
    const struct roof_image small = {.columns = 9, .rows = 17};
    roof_tower_windows(windows, &m->tower, &small);
    for (int i = 0; i < ROOF_WINDOW_KINDS; i++) {
        assert_int_equal(windows[i].count, single[i].count);
        assert_int_equal(windows[i].patches, single[i].patches);
    }
    roof_model_free(m);
}

/* A key that may change the shapes is not passed over in silence. */
static void test_unknown_keys(void **state)
{
    (void)state;
    struct roof_model *const m = parse("{\"model_type\": \"gemma3\", " TEXT(
        "gemma3_text") ", "
                       "\"vision_config\": {\"hidden_size\": 64, \"num_hidden_layers\": 2, "
                       "\"num_attention_heads\": 4, \"intermediate_size\": 9, \"patch_size\": 14, "
                       "\"image_size\": 896, \"hidden_act\": \"gelu\", \"num_experts\": 4, "
                       "\"mystery\": null, \"wonder\": [1]}}");
    assert_int_equal(m->tower.layers, 2);
    assert_string_equal(m->remarks[0],
                        "ignored unknown keys of vision_config: num_experts, wonder");
    assert_null(m->remarks[1]);
    roof_model_free(m);
}

#define NOT_TOGETHER                                                                               \
    "only the language model is counted, not its vision encoder, because sizes in vision_config "  \
    "contradict each other"
#define NOT_KNOWN                                                                                  \
    "only the language model is counted, not its vision encoder, because vision_config has "       \
    "an unknown value of "
#define SQUARE(hidden, layers, side)                                                               \
    "\"vision_config\": {\"hidden_size\": " hidden ", \"num_hidden_layers\": " layers              \
    ", \"num_attention_heads\": 4, \"intermediate_size\": 9, \"patch_size\": 14, "                 \
    "\"image_size\": " side "}"
#define SHUFFLED(ratio)                                                                            \
    "\"vision_config\": {\"hidden_size\": 64, \"num_hidden_layers\": 2, "                          \
    "\"num_attention_heads\": 4, \"intermediate_size\": 9, \"patch_size\": 14, "                   \
    "\"image_size\": 336, \"pixel_shuffle_ratio\": " ratio "}"
#define QWEN(member)                                                                               \
    "\"vision_config\": {\"depth\": 2, \"hidden_size\": 64, \"num_heads\": 4, "                    \
    "\"intermediate_size\": 9, \"out_hidden_size\": 64, \"patch_size\": 14, " member "}"

#define QWEN2(member)                                                                              \
    "\"vision_config\": {\"depth\": 2, \"embed_dim\": 64, \"num_heads\": 4, "                      \
    "\"hidden_size\": 64, " member "}"

/* The class takes the ratio of Qwen2-VL, 4 where there is none, and leaves out a fraction. */
static void test_ratio(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t intermediate;
    } rows[] = {{MODEL("qwen2_vl", "qwen2", QWEN2("\"mlp_ratio\": null")), 256},
                {MODEL("qwen2_vl", "qwen2", QWEN2("\"mlp_ratio\": 2")), 128},
                {MODEL("qwen2_vl", "qwen2", QWEN2("\"mlp_ratio\": 2.67")), 170}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        assert_int_equal(m->tower.layers, 2);
        assert_int_equal(m->tower.intermediate, rows[i].intermediate);
        roof_model_free(m);
    }
}

/* Phi-4-multimodal holds 907,966,432 of encoders, and adapters of rank 3 + 5 for four products in
 * each of two layers: 64 to 64 + 2 * 32 (four heads of 16, two of them for K and V), 64 to 64, 64
 * to 2 * 96 and 96 to 64. */
static void test_adapters(void **state)
{
    (void)state;
    static const char text[] =
        "{\"model_type\": \"phi4mm\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
        "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"vocab_size\": 100, "
        "\"intermediate_size\": 96, \"full_attn_mod\": 1, \"embd_layer\": {\"a\": 1}, "
        "\"vision_lora\": {\"r\": 3}, \"speech_lora\": {\"r\": 5}}";
    struct roof_model *const m = parse(text);
    const double wide = (64 + 128) + (64 + 64) + (64 + 192) + (96 + 64);
    assert_near(encoder_parameters(m), 441550016 + 466416416 + 8 * 2 * wide, 0);
    assert_int_equal(m->tower.layers, 0);
    assert_string_equal(m->remarks[0],
                        "the encoders of images and audio, whose shapes the config lacks, and the "
                        "adapters that only images and audio use are counted in memory only");
    roof_model_free(m);
}

/* A MobileNet that vision_config names is held: 294,126,912 parameters, a table of so many rows and
 * two norms as wide as its results, and a product from these to the language model, which is 64
 * wide. It has no layers to run. */
static void test_held(void **state)
{
    (void)state;
    static const char note[] = "the vision encoder is counted in memory only, because "
                               "vision_config has no shapes of it";
    static const struct {
        const char *text;
        double count;
        const char *note;
    } rows[] = {
        {MODEL("gemma3n", "llama", "\"vision_config\": {}"), 294126912 + 2048. * (128 + 2 + 64),
         note},
        {MODEL("gemma3n", "llama",
               "\"vision_config\": {\"architecture\": \"mobilenetv5_300m_enc\", "
               "\"hidden_size\": 100, \"vocab_size\": 7}"),
         294126912 + 100. * (7 + 2 + 64), note},
        {MODEL("gemma3n", "llama", "\"vision_config\": {\"architecture\": \"resnet50\"}"), 0,
         "only the language model is counted, not its vision encoder"},
        {MODEL("florence2", "llama",
               "\"vision_config\": {\"architecture\": \"mobilenetv5_300m_enc\"}"),
         0, "only the language model is counted, not its vision encoder"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        assert_near(encoder_parameters(m), rows[i].count, 0);
        assert_int_equal(m->tower.layers, 0);
        assert_string_equal(m->remarks[0], rows[i].note);
        roof_model_free(m);
    }
}

/* An encoder that is not known, or whose shapes are missing, is left out with a note. */
static void test_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *note; /* its begin */
    } rows[] = {
        {MODEL("florence2", "llama", SIGLIP),
         "only the language model is counted, not its vision encoder"},
        {MODEL("llava", "llama", "\"vision_config\": {\"model_type\": \"dinov2\"}"),
         "only the language model is counted, not its vision encoder"},
        {MODEL("llava", "llama", "\"vision_feature_layer\": [-2, -25], " CLIP),
         NOT_KNOWN "vision_feature_layer"},
        {MODEL("llava", "llama", "\"vision_feature_layer\": 25, " CLIP),
         NOT_KNOWN "vision_feature_layer"},
        {MODEL("llava", "llama", "\"vision_feature_select_strategy\": \"none\", " CLIP),
         NOT_KNOWN "vision_feature_select_strategy"},
        {MODEL("llava", "llama",
               "\"vision_config\": {\"model_type\": \"pixtral\", \"hidden_size\": 64, "
               "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 9, "
               "\"patch_size\": 16, \"image_size\": 1024}"),
         NOT_KNOWN "vision_feature_select_strategy"},
        /* Five results of 1280 elements stand beside the last one, one square has one ratio of
         * sides, and 1000 squares are the most. */
        {MODEL("mllama", "llama", MLLAMA_SIZES(", \"intermediate_layers_indices\": [3, 7]")),
         NOT_KNOWN "vision_output_dim"},
        {MODEL(
             "mllama", "llama",
             MLLAMA_SIZES(", \"max_num_tiles\": 1, \"supported_aspect_ratios\": [[1, 1], [1, 2]]")),
         NOT_KNOWN "supported_aspect_ratios"},
        {MODEL("mllama", "llama", MLLAMA_SIZES(", \"max_num_tiles\": 1001")),
         NOT_KNOWN "max_num_tiles"},
        {MODEL("llava_next", "llama", CLIP), NOT_KNOWN "image_grid_pinpoints"},
        {MODEL("llava_next", "llama", PINPOINTS("[336, 500]") CLIP),
         NOT_KNOWN "image_grid_pinpoints"},
        {MODEL("llava_next", "llama", PINPOINTS("[336]") CLIP), NOT_KNOWN "image_grid_pinpoints"},
        {MODEL("llava_next", "llama",
               NEXT "\"vision_feature_select_strategy\": \"full\", " SIGLIP_384),
         NOT_KNOWN "image_grid_pinpoints"}, /* its squares have 384 pixels on a side */
        {MODEL("minimax_vl_01", "llama",
               NEXT "\"vision_feature_select_strategy\": \"full\", " CLIP),
         NOT_KNOWN "vision_feature_select_strategy"},
        {MODEL("cohere2_vision", "cohere2", COMMAND_A("\"alignment_intermediate_size\": 99, ")),
         NOT_KNOWN "alignment_intermediate_size"},
        {MODEL("kimi_k3", "llama", KIMI_K3_WITH(", \"attn_bias\": true")), NOT_KNOWN "attn_bias"},
        {MODEL("kimi_k3", "llama", KIMI_K3_WITH(", \"mlp_type\": \"mlp3\"")), NOT_KNOWN "mlp_type"},
        {MODEL("kimi_k3", "llama", KIMI_K3_WITH(", \"mm_hidden_size\": 512")),
         NOT_KNOWN "mm_hidden_size"},
        {MODEL("internvl_chat", "llama", INTERNVIT("\"min_dynamic_patch\": 2, ")),
         NOT_KNOWN "min_dynamic_patch"},
        {MODEL("internvl_chat", "llama", INTERNVIT("\"downsample_ratio\": 0.3, ")), NOT_TOGETHER},
        {MODEL("kimi_k25", "llama",
               "\"vision_config\": {\"hidden_size\": 64, \"num_hidden_layers\": 2, "
               "\"num_attention_heads\": 4, \"intermediate_size\": 9, \"patch_size\": 14, "
               "\"merge_kernel_size\": [2, 3]}"),
         NOT_KNOWN "merge_kernel_size"},
        {MODEL("gemma3", "gemma3_text", "\"vision_config\": {\"hidden_size\": 9}"),
         "only the language model is counted, not its vision encoder, because vision_config "
         "lacks num_hidden_layers"},
        {MODEL("gemma3", "gemma3_text",
               "\"mm_tokens_per_image\": 200, \"vision_config\": {\"hidden_size\": 64, "
               "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 9, "
               "\"patch_size\": 14, \"image_size\": 896}"),
         "only the language model is counted, not its vision encoder, because sizes in "
         "vision_config contradict each other"},
        /* 65 elements in four heads. */
        {MODEL("gemma3", "gemma3_text", SQUARE("65", "2", "896")), NOT_TOGETHER},
        {MODEL("gemma3", "gemma3_text", SQUARE("64", "5000", "896")), NOT_TOGETHER},
        /* 65 patches across in 16 tokens across. */
        {MODEL("gemma3", "gemma3_text", SQUARE("64", "2", "910")), NOT_TOGETHER},
        /* 25 patches, or one, across in pairs; and ratios that make no number of patches. */
        {MODEL("llama4", "llama", SQUARE("64", "2", "350")), NOT_TOGETHER},
        {MODEL("llama4", "llama", SQUARE("64", "2", "14")), NOT_TOGETHER},
        {MODEL("llama4", "llama", SHUFFLED("0.3")), NOT_TOGETHER},
        {MODEL("llama4", "llama", SHUFFLED("0")), NOT_TOGETHER},
        /* 1024 x 1000 x 1000 elements of a token. */
        {MODEL("mistral3", "mistral", "\"spatial_merge_size\": 1000, " PIXTRAL), NOT_TOGETHER},
        /* Three of two layers see the whole image, or hand on what they found; and a window of 8
         * patches in threes. */
        {MODEL("qwen2_vl", "qwen2", QWEN2("\"mlp_ratio\": 0.015")), NOT_KNOWN "mlp_ratio"},
        {MODEL("qwen2_vl", "qwen2", QWEN2("\"mlp_ratio\": -4")), NOT_KNOWN "mlp_ratio"},
        {MODEL("qwen2_vl", "qwen2", QWEN2("\"mlp_ratio\": 1e300")), NOT_KNOWN "mlp_ratio"},
        {MODEL("qwen2_5_vl", "qwen2", QWEN("\"fullatt_block_indexes\": [0, 1, 0]")), NOT_TOGETHER},
        {MODEL("qwen2_5_vl", "qwen2", QWEN("\"spatial_merge_size\": 3")), NOT_TOGETHER},
        {MODEL("qwen3_vl", "qwen3", QWEN("\"deepstack_visual_indexes\": [0, 1, 0]")), NOT_TOGETHER},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        size_t notes = 0;
        assert_int_equal(m->tower.layers, 0);
        for (const char *const *note = m->remarks; *note != NULL; note++) {
            notes += strcmp(*note, rows[i].note) == 0;
        }
        assert_int_equal(notes, 1);
        roof_model_free(m);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {MODEL("mistral3", "mistral", "\"multimodal_projector_bias\": 3, " PIXTRAL),
         "multimodal_projector_bias must be true or false"},
        {MODEL("qwen2_vl", "qwen2", QWEN2("\"mlp_ratio\": \"4\"")), "mlp_ratio must be a number"},
        {MODEL("llama4", "llama", SHUFFLED("[0.5]")), "pixel_shuffle_ratio must be a number"},
        {MODEL("internvl_chat", "llama", INTERNVIT("\"downsample_ratio\": true, ")),
         "downsample_ratio must be a number"},
        /* 500 layers with 208,007,000,000 parameters for each rank: 10^18 at a rank of 9615. */
        {"{\"model_type\": \"phi4mm\", \"hidden_size\": 1000000, \"num_hidden_layers\": 500, "
         "\"num_attention_heads\": 100, \"head_dim\": 1000000000, \"vocab_size\": 100, "
         "\"num_key_value_heads\": 4, \"intermediate_size\": 1000000, \"full_attn_mod\": 1, "
         "\"embd_layer\": {\"a\": 1}, \"vision_lora\": {\"r\": 1000000}}",
         "r must be an integer from 0 to 9615"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *model = NULL;
        struct roof_error error = {0};
        assert_int_equal(roof_model_parse(&model, rows[i].text, strlen(rows[i].text), "x", &error),
                         ROOF_INVALID);
        assert_string_equal(error.message, rows[i].message);
        assert_null(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters),    cmocka_unit_test(test_images),
        cmocka_unit_test(test_inner_sizes),   cmocka_unit_test(test_audio),
        cmocka_unit_test(test_clips),         cmocka_unit_test(test_windows),
        cmocka_unit_test(test_feature_layer), cmocka_unit_test(test_held),
        cmocka_unit_test(test_adapters),      cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_unknown_keys),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
