// SPDX-License-Identifier: MIT
/* Keys of a config.json that no part reads: which are refused, noted and passed over. */
#include "models.h"

#include "base/text.h"
#include "catalog/data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SIZES                                                                                      \
    "\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 6, "                   \
    "\"num_attention_heads\": 8, \"vocab_size\": 100, \"intermediate_size\": 96"

/* Reads a small llama with a member more; returns NULL when it is refused. */
static struct roof_model *with(const char *member, struct roof_error *error)
{
    struct roof_model *model = NULL;
    char text[1024];
    snprintf(text, sizeof text, "{" SIZES ",\n%s}", member);
    *error = (struct roof_error){0};
    const enum roof_status status = roof_model_parse(&model, text, strlen(text), "x.json", error);
    assert_int_equal(status, model == NULL ? ROOF_INVALID : ROOF_OK);
    return model;
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        int column;
        const char *message;
    } cases[] = {
        {"\"compress_ratios\": [4, 128]", 20,
         "the key compress_ratios is not supported: keys and values are compressed by a ratio for "
         "each layer"},
        {"\"hybrid_layer_pattern\": [0, 1]", 25,
         "the key hybrid_layer_pattern is not supported: layers differ in their attention"},
        {"\"routed_expert_hidden_size\": 32", 30,
         "the key routed_expert_hidden_size is not supported: routed experts work on a narrower "
         "latent"},
        {"\"encoder_layers\": 6", 19, "the key encoder_layers is not supported: it has an encoder"},
        {"\"use_cla\": true", 12,
         "the key use_cla is not supported: some layers use the keys and values of others"},
        {"\"cla_share_factor\": 2", 21,
         "the key cla_share_factor is not supported: some layers use the keys and values of "
         "others"},
        {"\"full_attn_mod\": 2", 18,
         "the key full_attn_mod is not known and may change the layers; remove it if it does not"},
        {"\"moe_topk\": [2, 3]", 13,
         "moe_topk must be an integer, or a list with the same one for each of the 6 layers"},
        {"\"moe_topk\": []", 13, "moe_topk must be an integer from 0 to 1000000000"},
        {"\"moe_topk\": [2, 2, 2, 2, 2]", 13,
         "moe_topk must be an integer, or a list with the same one for each of the 6 layers"},
        {"\"moe_topk\": [\"a\"]", 13,
         "moe_topk must be an integer, or a list with the same one for each of the 6 layers"},
        {"\"num_wonder_layers\": 3", 22,
         "the key num_wonder_layers is not known and may change the layers; remove it if it does "
         "not"},
        {"\"use_odd_attention\": true", 22,
         "the key use_odd_attention is not known and may change the layers; remove it if it does "
         "not"},
        {"\"head_map\": {\"a\": 1}", 13,
         "the key head_map is not known and may change the layers; remove it if it does not"},
        {"\"skip_layers\": [1, 2]", 16,
         "the key skip_layers is not known and may change the layers; remove it if it does not"},
        {"\"num_query_groups\": 4", 21,
         "num_query_groups must be num_key_value_heads, which is 8 (num_attention_heads) here"},
        {"\"num_query_groups\": 4, \"num_key_value_heads\": 2", 21,
         "num_query_groups must be num_key_value_heads, which is 2"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error;
        assert_null(with(cases[i].member, &error));
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.line, 2);
        assert_int_equal(error.column, cases[i].column);
    }
}

/* Unknown keys whose names have the stem of a part that changes the work are refused. */
static void test_stems(void **state)
{
    (void)state;
    static const char *const members[] = {
        "\"kv_sharing_group\": 2",   "\"use_mla\": true",        "\"recurrence\": 2",
        "\"mtp_depth\": 1",          "\"value_residual\": true", "\"memory_tokens\": 16",
        "\"qkv_bias\": true",        "\"ffn_multiplier\": 1.5",  "\"ffn_dim_multiplier\": 1.3",
        "\"num_mem_recurrences\": 2"};
    for (size_t i = 0; i < COUNT(members); i++) {
        struct roof_error error;
        assert_null(with(members[i], &error));
        assert_non_null(strstr(error.message, "is not known and may change the layers"));
    }
}

/* NaN and infinities are refused in keys that set a shape, at any depth: as null, they would mean
 * the default of the class. */
static void test_not_finite(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        int column;
        const char *begin;
    } cases[] = {{"\"num_key_value_heads\": NaN", 24, "num_key_value_heads is NaN, which"},
                 {"\"head_dim\": Infinity", 13, "head_dim is Infinity, which"},
                 {"\"sliding_window\": -Infinity", 19, "sliding_window is -Infinity, which"},
                 {"\"tie_word_embeddings\": NaN", 24, "tie_word_embeddings is NaN, which"},
                 {"\"layer_types\": [NaN]", 17, "layer_types is NaN, which"},
                 {"\"num_wonder_layers\": NaN", 22, "num_wonder_layers is NaN, which"},
                 {"\"x\": null, \"use_cla\": NaN", 23, "use_cla is NaN, which"},
                 {"\"quantization_config\": {\"quant_method\": \"awq\", \"bits\": NaN}", 56,
                  "bits is NaN, which"},
                 {"\"vision_config\": {\"depth\": NaN}", 28, "depth is NaN, which"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error;
        assert_null(with(cases[i].member, &error));
        if (strncmp(error.message, cases[i].begin, strlen(cases[i].begin)) != 0) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(error.line, 2);
        assert_int_equal(error.column, cases[i].column);
    }
}

/* A value that says that there is nothing is as good as no key. */
static void test_passed_over(void **state)
{
    (void)state;
    static const char *const members[] = {"\"use_cla\": false, \"cla_share_factor\": 2",
                                          "\"full_attn_mod\": 1, \"interpolate_factor\": 1",
                                          "\"compress_ratios\": null",
                                          "\"compress_ratios\": []",
                                          "\"hybrid_layer_pattern\": {}",
                                          "\"num_wonder_layers\": 0",
                                          "\"use_odd_attention\": false",
                                          "\"mystery\": \"\"",
                                          "\"bos_token_id\": 1",
                                          "\"attention_dropout\": 0.1",
                                          "\"rms_norm_eps\": 1e-6",
                                          "\"rope_theta\": 1e6",
                                          "\"torch_dtype\": \"bfloat16\"",
                                          "\"n_group\": 8",
                                          "\"vision_start_token_id\": 5",
                                          "\"initializer_range\": 0.02",
                                          "\"time_step_limit\": Infinity",
                                          "\"mystery\": NaN",
                                          "\"mystery\": -Infinity",
                                          "\"rope_theta\": NaN",
                                          "\"rope_parameters\": {\"x_dim\": Infinity}",
                                          "\"residual_multiplier\": 0.2",
                                          "\"ssm_multipliers\": [1, 2]",
                                          "\"num_query_groups\": 8",
                                          "\"router_aux_loss_coef\": 0.001"};
    for (size_t i = 0; i < COUNT(members); i++) {
        struct roof_error error;
        struct roof_model *const m = with(members[i], &error);
        if (m == NULL || *m->remarks != NULL) {
            fail_msg("%s: %s", members[i], m == NULL ? error.message : *m->remarks);
        }
        roof_model_free(m);
    }
}

static void test_noted(void **state)
{
    (void)state;
    struct roof_error error;
    struct roof_model *const m =
        with("\"mystery\": 3, \"wonder\": \"x\", \"layer_kind\": \"y\"", &error);
    assert_non_null(m);
    assert_string_equal(m->remarks[0], "ignored unknown keys: mystery, wonder, layer_kind");
    assert_null(m->remarks[1]);
    roof_model_free(m);
}

/* The keys around the object of the language model count, too. */
static void test_root(void **state)
{
    (void)state;
    struct roof_model *model = NULL;
    struct roof_error error = {0};
    static const char refused[] = "{\"text_config\": {" SIZES "}, \"wonder_layers\": 2}";
    assert_int_equal(roof_model_parse(&model, refused, strlen(refused), "x.json", &error),
                     ROOF_INVALID);
    assert_memory_equal(error.message, "the key wonder_layers", 21);
    struct roof_model *const m = parse("{\"text_config\": {" SIZES "}, \"mystery\": 2}");
    assert_string_equal(m->remarks[0], "ignored unknown keys: mystery");
    roof_model_free(m);
}

/* No built-in config passes over a key that matters: one more is refused or noted in each, and
 * those that it has are all understood. */
static void test_every_config(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        const char *key; /* that refuses it; NULL: a note names the key */
    } keys[] = {
        {"\"wonder_layers\": 4,", "wonder_layers"},
        {"\"sparse_new_attention_config\": {\"block\": 64},", "sparse_new_attention_config"},
        {"\"expert_wings\": [1, 2],", "expert_wings"},
        {"\"mystery\": 4,", NULL}};
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        for (size_t k = 0; k < COUNT(keys) && strncmp(file->path, "models/", 7) == 0; k++) {
            struct roof_text text = ROOF_TEXT_INIT;
            struct roof_model *model = NULL;
            struct roof_error error = {0};
            roof_text_put(&text, "{");
            roof_text_put(&text, keys[k].member);
            roof_text_add(&text, file->text + 1, file->length - 1);
            assert_false(text.failed);
            const enum roof_status status =
                roof_model_parse(&model, text.data, text.length, "x.json", &error);
            if (keys[k].key != NULL) {
                assert_int_equal(status, ROOF_INVALID);
                assert_non_null(strstr(error.message, keys[k].key));
            } else {
                assert_int_equal(status, ROOF_OK);
                assert_string_equal(model->remarks[0], "ignored unknown keys: mystery");
                assert_null(model->remarks[1]);
            }
            roof_model_free(model);
            roof_text_free(&text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_stems),        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_noted),        cmocka_unit_test(test_root),
        cmocka_unit_test(test_every_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
