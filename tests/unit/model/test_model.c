// SPDX-License-Identifier: MIT
/* Models: the names of weights and their groups, and how the attention is called. */
#include "models.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define W(id) ROOF_WEIGHT_##id
#define BIT(id) (1U << ROOF_WEIGHT_##id)

/* In the order of the enumeration: layouts, --class and files depend on the names. */
static const struct {
    enum roof_weight weight;
    const char *name;
    const char *module;
    bool linear;
} weights[] = {
    {W(EMBEDDING), "embedding", "model.embed_tokens", false},
    {W(NORM), "norm", "model.norm", false},
    {W(Q), "q", "self_attn.q_proj", true},
    {W(K), "k", "self_attn.k_proj", true},
    {W(V), "v", "self_attn.v_proj", true},
    {W(O), "o", "self_attn.o_proj", true},
    {W(Q_A), "q_a", "self_attn.q_a_proj", true},
    {W(Q_B), "q_b", "self_attn.q_b_proj", true},
    {W(KV_A), "kv_a", "self_attn.kv_a_proj_with_mqa", true},
    {W(KV_B), "kv_b", "self_attn.kv_b_proj", true},
    {W(GATE), "gate", "mlp.gate_proj", true},
    {W(UP), "up", "mlp.up_proj", true},
    {W(DOWN), "down", "mlp.down_proj", true},
    {W(ROUTER), "router", "mlp.gate", false},
    {W(EXPERT_GATE), "expert_gate", "mlp.experts.0.gate_proj", true},
    {W(EXPERT_UP), "expert_up", "mlp.experts.0.up_proj", true},
    {W(EXPERT_DOWN), "expert_down", "mlp.experts.0.down_proj", true},
    {W(SHARED_GATE), "shared_gate", "mlp.shared_experts.gate_proj", true},
    {W(SHARED_UP), "shared_up", "mlp.shared_experts.up_proj", true},
    {W(SHARED_DOWN), "shared_down", "mlp.shared_experts.down_proj", true},
    {W(LM_HEAD), "lm_head", "lm_head", false},
    {W(INDEX), "index", "self_attn.indexer.wq_b", true},
    {W(COMPRESS), "compress", "self_attn.compressor", false},
    {W(MIXER_IN), "mixer_in", "linear_attn.in_proj_qkvz", true},
    {W(MIXER_OUT), "mixer_out", "linear_attn.out_proj", true},
    {W(MIXER_LOW), "mixer_low", "mamba.x_proj", true},
    {W(LATENT_IN), "latent_in", "mixer.fc1_latent_proj", true},
    {W(LATENT_OUT), "latent_out", "mixer.fc2_latent_proj", true},
    {W(PER_LAYER_IN), "per_layer_in", "per_layer_input_gate", true},
    {W(PER_LAYER_OUT), "per_layer_out", "per_layer_projection", true},
    {W(VISION), "vision", "visual", false},
};

static void test_weights(void **state)
{
    (void)state;
    assert_int_equal(COUNT(weights), ROOF_WEIGHT_COUNT);
    for (size_t i = 0; i < COUNT(weights); i++) {
        struct roof_error error = {0};
        unsigned bits = 0;
        assert_int_equal(weights[i].weight, i);
        assert_string_equal(roof_weight_name(weights[i].weight), weights[i].name);
        assert_string_equal(roof_weight_module(weights[i].weight), weights[i].module);
        assert_int_equal(roof_weight_linear(weights[i].weight), weights[i].linear);
        assert_int_equal(roof_weight_find(&bits, weights[i].name, &error), ROOF_OK);
        assert_int_equal(bits, 1U << i);
    }
}

static void test_groups(void **state)
{
    (void)state;
    static const unsigned attention = BIT(Q) | BIT(K) | BIT(V) | BIT(O) | BIT(Q_A) | BIT(Q_B) |
                                      BIT(KV_A) | BIT(KV_B) | BIT(INDEX) | BIT(MIXER_IN) |
                                      BIT(MIXER_OUT);
    static const unsigned mlp = BIT(GATE) | BIT(UP) | BIT(DOWN);
    static const unsigned experts = BIT(EXPERT_GATE) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN);
    static const unsigned shared = BIT(SHARED_GATE) | BIT(SHARED_UP) | BIT(SHARED_DOWN);
    /* They take the format of a larger weight that is in a group. */
    static const unsigned small =
        BIT(MIXER_LOW) | BIT(LATENT_IN) | BIT(LATENT_OUT) | BIT(PER_LAYER_IN) | BIT(PER_LAYER_OUT);
    const struct {
        const char *name;
        unsigned bits;
    } groups[] = {{"attention", attention},
                  {"mlp", mlp},
                  {"experts", experts},
                  {"shared", shared},
                  {"linear", attention | mlp | experts | shared}};
    unsigned linear = 0;
    for (size_t i = 0; i < COUNT(groups); i++) {
        unsigned bits = 0;
        assert_int_equal(roof_weight_find(&bits, groups[i].name, NULL), ROOF_OK);
        assert_int_equal(bits, groups[i].bits);
    }
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        linear |= roof_weight_linear((enum roof_weight)w) ? 1U << w : 0;
    }
    assert_int_equal(linear, groups[4].bits | small);
}

/* The name as it stands, no other case, nothing around it; the nearest names come first. */
static void test_unknown_weights(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *begins;
    } cases[] = {
        {"lm_haed", "unknown class 'lm_haed'; did you mean lm_head"},
        {"expert", "unknown class 'expert'; did you mean experts"},
        {"", "unknown class ''; known: "},
        {"Q", "unknown class 'Q'; did you mean q"},
        {" q", "unknown class ' q'; "},
        {"attention,mlp", "unknown class 'attention,mlp'; did you mean attention"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        unsigned bits = 77;
        assert_int_equal(roof_weight_find(&bits, cases[i].name, &error), ROOF_USAGE);
        assert_int_equal(error.status, ROOF_USAGE);
        assert_memory_equal(error.message, cases[i].begins, strlen(cases[i].begins));
        assert_int_equal(bits, 77);
        assert_int_equal(roof_weight_find(&bits, cases[i].name, NULL), ROOF_USAGE);
    }
}

/* As many KV heads as heads, one for all, or some; a latent is none of these. */
static void test_attention_names(void **state)
{
    (void)state;
    static const struct {
        int64_t heads, kv_heads, kv_lora_rank;
        const char *name;
    } cases[] = {{32, 32, 0, "MHA"}, {32, 8, 0, "GQA"}, {32, 1, 0, "MQA"}, {128, 128, 512, "MLA"},
                 {16, 1, 64, "MLA"}, {2, 1, 0, "MQA"},  {1, 1, 0, "MHA"}};
    static struct roof_model model;
    for (size_t i = 0; i < COUNT(cases); i++) {
        model.heads = cases[i].heads;
        model.kv_heads = cases[i].kv_heads;
        model.kv_lora_rank = cases[i].kv_lora_rank;
        assert_string_equal(roof_attention_name(&model), cases[i].name);
    }
}

/* A layout writes formats of layers and outside of them; all of it is forgotten, and only that. */
static void test_formats_forgotten(void **state)
{
    (void)state;
    struct roof_model *const model = load("mistral-7b-v0.1");
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        assert_int_equal(model->format[w], ROOF_PRECISION_AUTO);
        assert_int_equal(model->layer[0].format[w], ROOF_PRECISION_AUTO);
    }
    assert_int_equal(model->layer_classes, 1);
    assert_int_equal(roof_layout_apply(model, "q4_k_m", NULL, NULL), ROOF_OK);
    assert_int_equal(model->layer_classes, 2);
    assert_string_equal(model->layout, "q4_k_m");
    model->stored = true;
    model->file_bytes = 5;
    roof_model_forget_formats(model);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        assert_int_equal(model->format[w], ROOF_PRECISION_AUTO);
        for (int64_t c = 0; c < model->layer_classes; c++) {
            assert_int_equal(model->layer[c].format[w], ROOF_PRECISION_AUTO);
            assert_true(model->layer[c].windowed);
        }
    }
    assert_null(model->layout);
    assert_false(model->stored);
    assert_true(model->file_bytes != model->file_bytes);
    assert_int_equal(model->layers, 32);
    roof_model_free(model);
    roof_model_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),           cmocka_unit_test(test_groups),
        cmocka_unit_test(test_unknown_weights),   cmocka_unit_test(test_attention_names),
        cmocka_unit_test(test_formats_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
