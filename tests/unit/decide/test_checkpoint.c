// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/base.h"
#include "decide/checkpoint.h"
#include "decide/store.h"
#include "support.h"

/* Names of checkpoints become models with formats. Only those of Qwen are in blocks. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *model, *formats;
        bool layout, quantization;
    } cases[] = {
        {"Qwen/Qwen3-32B-FP8", "Qwen3-32B", "fp8-block", false, true},
        {"qwen3-32b-fp8", "qwen3-32b", "fp8-block", false, true},
        {"nvidia/Qwen3-8B-FP8", "Qwen3-8B", "fp8", false, false},
        {"Qwen/Qwen2.5-72B-FP8", "Qwen2.5-72B", "fp8", false, false},
        {"nobody/Llama-3.1-8B-FP8", "Llama-3.1-8B", "fp8", false, false},
        {"nobody/Llama-3.1-8B-FP8-dynamic", "Llama-3.1-8B", "fp8-dynamic", true, false},
        {"ggml-org/gpt-oss-20b-GGUF:MXFP4", "gpt-oss-20b", "gpt-oss-gguf", true, false},
        {"unsloth/Qwen3-8B-GGUF:q5_k_m", "Qwen3-8B", "q5_k_m", true, false},
        {"unsloth/Qwen3-8B-GGUF:BF16", "Qwen3-8B", "BF16", false, false},
        {"nvidia/DeepSeek-R1-FP4", "DeepSeek-R1", "deepseek-r1-nvfp4", true, false},
        {"nvidia/DeepSeek-V4-Flash-NVFP4", "DeepSeek-V4-Flash", "deepseek-v4-nvfp4", true, false},
        {"nvidia/DeepSeek-R1-FP4-v2", "deepseek-r1-0528-nvfp4-v2", "checkpoint", true, false}};
    struct roof_checkpoint found;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(roof_checkpoint_find(&found, cases[i].name, NULL));
        assert_string_equal(found.name, cases[i].name);
        assert_string_equal(found.model, cases[i].model);
        assert_string_equal(found.formats, cases[i].formats);
        assert_int_equal(found.layout, cases[i].layout);
        assert_int_equal(found.quantization != NULL, cases[i].quantization);
        assert_int_equal(roof_checkpoint_check(&found, NULL, NULL), ROOF_OK);
    }
    static const char *const none[] = {
        "Qwen/Qwen3-32B", "Qwen/Qwen3-32B:q8_0", "./Qwen3-32B-FP8",  "a/b/Qwen3-8B-FP8",
        "-gguf",          "-gguf:q8_0",          "qwen3-8b-gguf:a,b"};
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_false(roof_checkpoint_find(&found, none[i], NULL));
        assert_null(found.name);
    }
}

/* A tag that is no format is refused as a tag. */
static void test_tags(void **state)
{
    (void)state;
    struct roof_checkpoint found;
    struct roof_error error = {0};
    assert_true(roof_checkpoint_find(&found, "unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL", NULL));
    assert_int_equal(roof_checkpoint_check(&found, NULL, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "the tag 'UD-Q4_K_XL' is not known; known: q2_k, "));
    assert_non_null(strstr(error.message, ", q8_0, bf16 and fp16"));
    assert_null(strstr(error.message, "fp8"));
}

/* An address means ORGANISATION/NAME, with or without what browsers add. */
static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *name, *own;
    } cases[] = {{"https://huggingface.co/a/b", "a/b"},
                 {"http://huggingface.co/a/b/", "a/b"},
                 {"https://huggingface.co/a/b/tree/main", "a/b"},
                 {"https://hf.co/a/b?library=vllm", "a/b"},
                 {"hf.co/a/b-GGUF:Q8_0", "a/b-GGUF:Q8_0"},
                 {"hf.co/a", "a"},
                 {"hf.co/", "hf.co/"},
                 {"hf.co/a/b/blob/main/c.gguf", "hf.co/a/b/blob/main/c.gguf"},
                 {"hf.co/a/b,hf.co/c/d", "hf.co/a/b,hf.co/c/d"},
                 {"a/hf.co/b", "a/hf.co/b"}};
    size_t length = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const own = roof_hub_name(&length, cases[i].name);
        assert_int_equal(length, strlen(cases[i].own));
        assert_memory_equal(own, cases[i].own, length);
    }
    assert_null(roof_hub_name(&length, NULL));
    assert_int_equal(length, 0);
}

static const struct roof_model *load(struct roof_loans *loans, const char *name, const char *layout)
{
    const struct roof_model_wish wish = {.name = name, .layout = layout};
    const struct roof_model *model = NULL;
    assert_int_equal(roof_loan_model(&model, loans, &wish, NULL), ROOF_OK);
    return model;
}

/* The store makes checkpoints with a layout, and remarks what it did. */
static void test_store(void **state)
{
    (void)state;
    struct roof_store *store = NULL;
    assert_int_equal(roof_store_new(&store, NULL), ROOF_OK);
    struct roof_loans loans = {.store = store};
    const struct roof_model *model = load(&loans, "hf.co/Qwen/Qwen3-8B-FP8/tree/main", NULL);
    assert_string_equal(model->id, "Qwen/Qwen3-8B-FP8");
    assert_string_equal(model->layout, "checkpoint");
    assert_string_equal(model->remarks[0],
                        "it is read as qwen3-8b in FP8 with a scale for each block of 128 x 128");
    model = load(&loans, "unsloth/Qwen3-8B-GGUF:Q8_0", NULL);
    assert_string_equal(model->id, "qwen3-8b");
    assert_string_equal(model->layout, "Q8_0");
    model = load(&loans, "unsloth/Qwen3-8B-GGUF:Q8_0", "q4_k_m");
    assert_string_equal(model->layout, "q4_k_m");
    assert_non_null(strstr(model->remarks[0], "its formats are those of the question"));
    model = load(&loans, "nvidia/Qwen3-8B-FP8", NULL);
    assert_null(model->layout);
    assert_non_null(strstr(model->remarks[0], "its formats are those of the question"));
    roof_loans_return(&loans);
    roof_store_free(store);
}

/* Only names without a model or file of their own are those of checkpoints. */
static void test_meaning(void **state)
{
    (void)state;
    struct roof_store *store = NULL;
    struct roof_checkpoint found;
    assert_int_equal(roof_store_new(&store, NULL), ROOF_OK);
    struct roof_loans loans = {.store = store};
    static const struct {
        const char *name;
        bool found;
    } cases[] = {{"nvidia/Qwen3-8B-FP8", true},
                 {"nvidia/DeepSeek-R1-0528-NVFP4-v2", true}, /* of the model in that checkpoint */
                 {"deepseek-r1-0528-nvfp4-v2", false},
                 {"qwen3-8b", false},
                 {NULL, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(roof_loan_checkpoint(&found, &loans, cases[i].name, NULL), ROOF_OK);
        assert_int_equal(found.name != NULL, cases[i].found);
    }
    roof_loans_return(&loans);
    roof_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names), cmocka_unit_test(test_tags), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_store), cmocka_unit_test(test_meaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
