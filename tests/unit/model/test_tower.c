// SPDX-License-Identifier: MIT
/* Encoders of images: sizes of images, parameters as published, and configs that lack shapes. */
#include "models.h"

#include <string.h>

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
 * 23,572,403,200 with 5120. */
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
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        assert_near(encoder_parameters(m), rows[i].count, 0);
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
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = parse(rows[i].text);
        const struct roof_image image = roof_tower_image(&m->tower, rows[i].width, rows[i].height);
        assert_int_equal(image.squares, rows[i].squares);
        assert_int_equal(image.columns, rows[i].columns);
        assert_int_equal(image.rows, rows[i].rows);
        assert_int_equal(image.tokens, rows[i].tokens);
        assert_int_equal(roof_tower_rows(&m->tower, &image),
                         image.squares *
                             (image.columns * image.rows + (m->tower.class_token ? 1 : 0)));
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
    assert_string_equal(m->remarks[0], "keys of vision_config that are not known, and count for "
                                       "nothing: num_experts, wonder");
    assert_null(m->remarks[1]);
    roof_model_free(m);
}

#define NOT_TOGETHER                                                                               \
    "the language model alone: the encoder of images is not counted, because vision_config has "   \
    "sizes that do not go together"
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

/* An encoder that is not known, or whose shapes are missing, is left out with a note. */
static void test_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *note; /* its begin */
    } rows[] = {
        {MODEL("llava", "llama", SIGLIP),
         "the language model alone: the encoder of images is not counted"},
        {MODEL("gemma3", "gemma3_text", "\"vision_config\": {\"hidden_size\": 9}"),
         "the language model alone: the encoder of images is not counted, because vision_config "
         "lacks num_hidden_layers"},
        {MODEL("gemma3", "gemma3_text",
               "\"mm_tokens_per_image\": 200, \"vision_config\": {\"hidden_size\": 64, "
               "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 9, "
               "\"patch_size\": 14, \"image_size\": 896}"),
         "the language model alone: the encoder of images is not counted, because vision_config "
         "has sizes that do not go together"},
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
    static const char text[] =
        MODEL("mistral3", "mistral", "\"multimodal_projector_bias\": 3, " PIXTRAL);
    struct roof_model *model = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_model_parse(&model, text, strlen(text), "x", &error), ROOF_INVALID);
    assert_string_equal(error.message, "multimodal_projector_bias must be true or false");
    assert_null(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters),   cmocka_unit_test(test_images),
        cmocka_unit_test(test_windows),      cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_unknown_keys), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
