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
        {"\"indexer_types\": [\"full\", \"shared\"]", 18,
         "the key indexer_types is not supported: some layers use the keys that the indexer of "
         "another chose"},
        {"\"attn_type_list\": [1, 1, 1, 1, 1]", 19,
         "attn_type_list must have an item for each of the 6 layers"},
        {"\"qk_head_dim\": 256, \"qk_rope_head_dim\": 64, \"qk_nope_head_dim\": 128", 16,
         "the key qk_head_dim is not known and may change the layers; remove it if it does not"},
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

/* A key without the one that it needs is refused; one whose partner turns the feature off is not.
 */
static void test_partners(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        const char *message; /* NULL: read */
    } cases[] = {
        {"\"index_n_heads\": 4", "index_n_heads needs index_topk, which is missing: each query "
                                 "attends to the keys that an indexer chooses"},
        {"\"index_head_dim\": 16", "index_head_dim needs index_topk, which is missing: each query "
                                   "attends to the keys that an indexer chooses"},
        {"\"index_head_dim\": 16, \"index_topk\": 0", NULL},
        {"\"qk_rope_head_dim\": 8",
         "qk_rope_head_dim needs kv_lora_rank, which is missing: attention is latent"},
        {"\"qk_rope_head_dim\": 8, \"kv_lora_rank\": null", NULL},
        {"\"moe_intermediate_size\": 32",
         "moe_intermediate_size needs num_local_experts, which is missing: layers have experts"},
        {"\"moe_intermediate_size\": 32, \"n_routed_experts\": null", NULL},
        {"\"expert_ffn_hidden_size\": 32",
         "expert_ffn_hidden_size needs num_local_experts, which is missing: layers have experts"},
        {"\"num_shared_experts\": 2, \"num_experts\": 1", NULL},
        {"\"mlp_only_layers\": [0]",
         "mlp_only_layers needs num_local_experts, which is missing: layers have experts"},
        {"\"mlp_only_layers\": []", NULL},
        {"\"n_group\": 4, \"num_experts\": 8, \"num_experts_per_tok\": 2",
         "n_group needs topk_group, which is missing: experts are chosen from some of their "
         "groups"},
        {"\"n_group\": 1, \"num_experts\": 8, \"num_experts_per_tok\": 2", NULL},
        {"\"n_group\": false, \"topk_group\": false, \"routed_scaling_factor\": false, "
         "\"num_experts\": 8, \"num_experts_per_tok\": 2",
         NULL},
        {"\"n_group\": true, \"num_experts\": 8, \"num_experts_per_tok\": 2",
         "n_group must be an integer from 0 to 1000000000"},
        {"\"_sliding_window_pattern\": 2",
         "_sliding_window_pattern needs sliding_window, which is missing: layers have a window"},
        {"\"_sliding_window_pattern\": 2, \"sliding_window_pattern\": 3, \"sliding_window\": 9",
         "_sliding_window_pattern is not the sliding_window_pattern of 3"},
        {"\"sliding_window_pattern\": 2",
         "sliding_window_pattern needs sliding_window, which is missing: layers have a window"},
        {"\"sliding_window_pattern\": 2, \"sliding_window\": null", NULL},
        {"\"use_sliding_window\": true",
         "use_sliding_window needs sliding_window, which is missing: layers have a window"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error;
        struct roof_model *const m = with(cases[i].member, &error);
        if (cases[i].message == NULL ? m == NULL
                                     : m != NULL || strcmp(error.message, cases[i].message) != 0) {
            fail_msg("%s: %s", cases[i].member, m == NULL ? error.message : "read");
        }
        roof_model_free(m);
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

#define FULL_INDEXERS                                                                              \
    "\"indexer_types\": [\"full\", \"full\", \"full\", \"full\", \"full\", \"full\"]"

/* A value that says that there is nothing is as good as no key. */
static void test_passed_over(void **state)
{
    (void)state;
    static const char *const members[] = {"\"use_cla\": false, \"cla_share_factor\": 2",
                                          "\"full_attn_mod\": 1, \"interpolate_factor\": 1",
                                          FULL_INDEXERS,
                                          "\"attn_type_list\": [1, 1, 1, 1, 1, 1]",
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
                                          "\"org_vocab_size\": 90",
                                          "\"anyres_pooling_size\": 2",
                                          "\"num_media_embeds\": 257",
                                          "\"initializer_range\": 0.02",
                                          "\"time_step_limit\": Infinity",
                                          "\"mystery\": NaN",
                                          "\"mystery\": -Infinity",
                                          "\"rope_theta\": NaN",
                                          "\"rope_parameters\": {\"x_dim\": Infinity}",
                                          "\"residual_multiplier\": 0.2",
                                          "\"ssm_multipliers\": [1, 2]",
                                          "\"num_query_groups\": 8",
                                          "\"router_aux_loss_coef\": 0.001",
                                          "\"cache_implementation\": \"hybrid\""};
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
    static const struct {
        const char *member;
        const char *note;
    } cases[] = {
        {"\"hidden_act\": \"sinc\"",
         "hidden_act has an unknown function, which counts like silu: sinc"},
        {"\"quantization_config\": {\"quant_method\": \"fp8\", \"activation_scheme\": \"dynamic\", "
         "\"mystery\": 3, \"wonder\": null}",
         "ignored unknown keys of quantization_config: mystery"},
        {"\"quantization_config\": {\"quant_method\": \"compressed-tensors\", \"config_groups\": "
         "{\"a\": {\"targets\": [\"Linear\"], \"wonder\": 1, \"output_activations\": null, "
         "\"weights\": "
         "{\"num_bits\": 8, \"type\": \"float\", \"observer\": \"mse\", \"mystery\": 3}}, "
         "\"b\": {\"targets\": [\"lm_head\"], \"wonder\": 1}}}",
         "ignored unknown keys of config_groups: wonder, mystery"},
        {"\"quantization_config\": {\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": "
         "{\"model.layers.0.mlp\": {\"quant_algo\": \"FP8\", \"mystery\": 3}, "
         "\"model.layers.1.mlp\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16, \"mystery\": "
         "3}}}",
         "ignored unknown keys of quantized_layers: mystery"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const noted = with(cases[i].member, &error);
        assert_non_null(noted);
        assert_string_equal(noted->remarks[0], cases[i].note);
        assert_null(noted->remarks[1]);
        roof_model_free(noted);
    }
    static const char *const known[] = {"silu", "gelu_pytorch_tanh", "relu2", "swigluoai"};
    for (size_t i = 0; i < COUNT(known); i++) {
        char member[64];
        snprintf(member, sizeof member, "\"hidden_act\": \"%s\"", known[i]);
        struct roof_model *const quiet = with(member, &error);
        assert_null(quiet->remarks[0]);
        roof_model_free(quiet);
    }
}

/* A note names at most 32 unknown keys, each once. */
static void test_many_noted(void **state)
{
    (void)state;
    for (int keys = 31; keys <= 33; keys++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_text note = ROOF_TEXT_INIT;
        struct roof_error error;
        roof_text_put(&text, "\"quantization_config\": {\"quant_method\": \"fp8\"");
        roof_text_put(&note, "ignored unknown keys of quantization_config: ");
        for (int i = 0; i < keys; i++) {
            roof_text_printf(&text, ", \"mystery%d\": 1", i);
            if (i < 32) {
                roof_text_printf(&note, "%smystery%d", i == 0 ? "" : ", ", i);
            }
        }
        roof_text_put(&text, "}");
        roof_text_put(&note, keys > 32 ? " and more" : "");
        assert_false(text.failed || note.failed);
        struct roof_model *const m = with(text.data, &error);
        assert_non_null(m);
        assert_string_equal(m->remarks[0], note.data);
        roof_model_free(m);
        roof_text_free(&text);
        roof_text_free(&note);
    }
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
        {"\"mamba_extra_heads\": 4,", "mamba_extra_heads"},
        {"\"linear_num_heads\": 4,", "linear_num_heads"},
        {"\"altup_extra_size\": 4,", "altup_extra_size"},
        {"\"router_experts\": 4,", "router_experts"},
        {"\"moe_gate_layers\": 4,", "moe_gate_layers"},
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

/* Objects inside a config are checked like it, but for that of the quantisation, and for a vision
 * encoder that is not counted. */
static void test_every_object(void **state)
{
    (void)state;
    static const char open[] = "_config\": {";
    static const char added[] = "\"wonder_layers\": 4, ";
    size_t objects = 0;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        const char *at = strncmp(file->path, "models/", 7) == 0 ? strstr(file->text, open) : NULL;
        for (; at != NULL; at = strstr(at + 1, open)) {
            if (strncmp(at - strlen("quantization"), "quantization", strlen("quantization")) == 0 ||
                strstr(file->path, "gemma-3n") != NULL) {
                continue;
            }
            struct roof_text text = ROOF_TEXT_INIT;
            struct roof_model *model = NULL;
            struct roof_error error = {0};
            const size_t head = (size_t)(at - file->text) + strlen(open);
            bool noted = false;
            roof_text_add(&text, file->text, head);
            roof_text_put(&text, added);
            roof_text_add(&text, file->text + head, file->length - head);
            assert_false(text.failed);
            objects++;
            if (roof_model_parse(&model, text.data, text.length, "x.json", &error) != ROOF_OK) {
                noted = strstr(error.message, "wonder_layers") != NULL;
            }
            for (size_t n = 0; model != NULL && model->remarks[n] != NULL; n++) {
                noted = noted || strstr(model->remarks[n], "wonder_layers") != NULL;
            }
            assert_true(noted);
            roof_model_free(model);
            roof_text_free(&text);
        }
    }
    assert_true(objects > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_partners),     cmocka_unit_test(test_stems),
        cmocka_unit_test(test_not_finite),   cmocka_unit_test(test_noted),
        cmocka_unit_test(test_many_noted),   cmocka_unit_test(test_root),
        cmocka_unit_test(test_every_config), cmocka_unit_test(test_every_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
