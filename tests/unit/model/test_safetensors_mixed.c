// SPDX-License-Identifier: MIT
/*
 * Safetensors of models with states, indexers and latents, under the names of published
 * checkpoints: the modeling files that src/model/module_names.c lists. Shapes and bytes are by
 * hand.
 */
#include "safetensors_file.h"

/* A matrix in FP8 with a scale for 128 x 128 elements. */
#define BLOCKS(name, rows, columns)                                                                \
    {name ".weight", "F8_E4M3", {rows, columns}},                                                  \
    {                                                                                              \
        name ".weight_scale_inv", "F32",                                                           \
        {                                                                                          \
            (rows + 127) / 128, (columns + 127) / 128                                              \
        }                                                                                          \
    }

/* --- Qwen3-Next ---------------------------------------------------------------------------- */

#define QWEN_WITH(more)                                                                            \
    "{\"model_type\": \"qwen3_next\", \"hidden_size\": 256, \"intermediate_size\": 512,"           \
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 1,"           \
    " \"head_dim\": 64, \"vocab_size\": 100, \"full_attention_interval\": 2,"                      \
    " \"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 64, \"linear_value_head_dim\": 64,"  \
    " \"linear_num_key_heads\": 2, \"linear_num_value_heads\": 4, \"num_experts\": 2,"             \
    " \"num_experts_per_tok\": 1, \"moe_intermediate_size\": 128,"                                 \
    " \"shared_expert_intermediate_size\": 128, \"decoder_sparse_step\": 1" more "}"
#define QWEN QWEN_WITH("")

static const struct row qwen_outside[] = {{"model.embed_tokens.weight", "BF16", {100, 256}},
                                          {"model.norm.weight", "BF16", {256}},
                                          {"lm_head.weight", "BF16", {100, 256}},
                                          {"mtp.fc.weight", "BF16", {256, 512}}};
/* 2 x 2 x 64 of keys, 2 x 4 x 64 of values and gates; 2 x 4 rates. */
static const struct row qwen_state[] = {BLOCKS("linear_attn.in_proj_qkvz", 768, 256),
                                        {"linear_attn.in_proj_ba.weight", "BF16", {8, 256}},
                                        {"linear_attn.conv1d.weight", "BF16", {512, 1, 4}},
                                        {"linear_attn.A_log", "F32", {4}},
                                        {"linear_attn.dt_bias", "BF16", {4}},
                                        {"linear_attn.norm.weight", "BF16", {64}},
                                        BLOCKS("linear_attn.out_proj", 256, 256)};
static const struct row qwen_attention[] = {
    BLOCKS("self_attn.q_proj", 512, 256),      BLOCKS("self_attn.k_proj", 64, 256),
    BLOCKS("self_attn.v_proj", 64, 256),       BLOCKS("self_attn.o_proj", 256, 256),
    {"self_attn.q_norm.weight", "BF16", {64}}, {"self_attn.k_norm.weight", "BF16", {64}}};
static const struct row qwen_experts[] = {BLOCKS("mlp.experts.0.gate_proj", 128, 256),
                                          BLOCKS("mlp.experts.0.up_proj", 128, 256),
                                          BLOCKS("mlp.experts.0.down_proj", 256, 128),
                                          BLOCKS("mlp.experts.1.gate_proj", 128, 256),
                                          BLOCKS("mlp.experts.1.up_proj", 128, 256),
                                          BLOCKS("mlp.experts.1.down_proj", 256, 128),
                                          BLOCKS("mlp.shared_expert.gate_proj", 128, 256),
                                          BLOCKS("mlp.shared_expert.up_proj", 128, 256),
                                          BLOCKS("mlp.shared_expert.down_proj", 256, 128),
                                          {"mlp.gate.weight", "BF16", {2, 256}},
                                          {"mlp.shared_expert_gate.weight", "BF16", {1, 256}},
                                          {"input_layernorm.weight", "BF16", {256}},
                                          {"post_attention_layernorm.weight", "BF16", {256}}};

static void qwen(struct builder *b)
{
    PUT(b, "", qwen_outside);
    PUT(b, "model.layers.0.", qwen_state);
    PUT(b, "model.layers.0.", qwen_experts);
    PUT(b, "model.layers.1.", qwen_attention);
    PUT(b, "model.layers.1.", qwen_experts);
}

/* Two tables and a norm; a layer with a state: 12 + 4 scales; attention: 8 + 2 + 2 + 4; the MLPs of
 * both: 9 matrices of 128 x 256 with 2 scales each. The layer for drafts is not counted. */
#define QWEN_BYTES                                                                                 \
    (2 * 2 * 100 * 256 + 2 * 256 + (768 + 256) * 256 + 4 * (12 + 4) + 2 * 8 * 256 + 2 * 512 * 4 +  \
     4 * 4 + 2 * 4 + 2 * 64 + (512 + 64 + 64 + 256) * 256 + 4 * (8 + 2 + 2 + 4) + 2 * 2 * 64 +     \
     2 * (9 * (128 * 256 + 4 * 2) + 2 * (2 + 1 + 1 + 1) * 256))

static void test_qwen(void **state)
{
    struct builder b = {.prefix = ""};
    qwen(&b);
    struct roof_model *const m = build(&b, QWEN, state);
    assert_true(m->stored);
    assert_true(m->file_bytes == QWEN_BYTES);
    assert_int_equal(FORMAT(m, 0, MIXER_IN), ROOF_PRECISION_FP8_BLOCK128); /* the larger one */
    assert_int_equal(FORMAT(m, 0, MIXER_OUT), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_AUTO);
    assert_int_equal(FORMAT(m, 1, Q), ROOF_PRECISION_FP8_BLOCK128);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(FORMAT(m, i, EXPERT_DOWN), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, SHARED_UP), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, ROUTER), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, NORM), ROOF_PRECISION_BF16);
    }
    assert_int_equal(m->format[ROOF_WEIGHT_LM_HEAD], ROOF_PRECISION_BF16);
    assert_null(m->remarks[0]);
    roof_model_free(m);
}

/* A matrix that is not known: its model has the formats of its config, or none if no tensor needs
 * more than its type. */
static void test_unknown_matrix(void **state)
{
    static const struct row other[] = {{"linear_attn.other.weight", "BF16", {8, 8}}};
    static const struct row vector[] = {{"linear_attn.other", "BF16", {1, 8}}};
    static const char method[] =
        QWEN_WITH(", \"quantization_config\": {\"quant_method\": \"fp8\", \"fmt\": \"e4m3\","
                  " \"weight_block_size\": [128, 128]}");
    struct builder b = {.prefix = ""};
    qwen(&b);
    PUT(&b, "model.layers.0.", other);
    build_bad(&b, QWEN, state,
              "layers.0.mlp.experts.0.gate_proj is F8_E4M3, config.json has no "
              "quantization_config, and the name or format of "
              "model.layers.0.linear_attn.other.weight is not known: name the config.json alone");
    b = (struct builder){.prefix = ""};
    qwen(&b);
    PUT(&b, "model.layers.0.", other);
    struct roof_model *m = build(&b, method, state);
    assert_false(m->stored);
    assert_int_equal(FORMAT(m, 0, MIXER_OUT), ROOF_PRECISION_FP8_BLOCK128);
    assert_true(has_remark(m, "the name or format of model.layers.0.linear_attn.other.weight"));
    roof_model_free(m);
    b = (struct builder){.prefix = ""};
    PUT(&b, "model.layers.0.", other);
    m = build(&b, QWEN, state);
    assert_false(m->stored);
    assert_int_equal(FORMAT(m, 0, MIXER_OUT), ROOF_PRECISION_AUTO);
    assert_true(has_remark(m, "so its formats are the requested ones"));
    roof_model_free(m);
    b = (struct builder){.prefix = ""};
    qwen(&b);
    PUT(&b, "model.layers.0.", vector);
    m = build(&b, QWEN, state);
    assert_true(m->file_bytes == QWEN_BYTES + 2 * 8);
    roof_model_free(m);
}

/* --- DeepSeek-V3.2 ------------------------------------------------------------------------- */

#define V32                                                                                        \
    "{\"model_type\": \"deepseek_v32\", \"hidden_size\": 256, \"intermediate_size\": 384,"         \
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 2,"           \
    " \"vocab_size\": 100, \"q_lora_rank\": 128, \"kv_lora_rank\": 128, \"qk_nope_head_dim\": 64," \
    " \"qk_rope_head_dim\": 64, \"v_head_dim\": 64, \"index_n_heads\": 2, \"index_head_dim\": 64," \
    " \"index_topk\": 32, \"first_k_dense_replace\": 1, \"n_routed_experts\": 2,"                  \
    " \"n_shared_experts\": 1, \"num_experts_per_tok\": 1, \"moe_intermediate_size\": 128,"        \
    " \"num_nextn_predict_layers\": 1}"

static const struct row v32_outside[] = {{"model.embed_tokens.weight", "BF16", {100, 256}},
                                         {"model.norm.weight", "BF16", {256}},
                                         {"lm_head.weight", "BF16", {100, 256}}};
static const struct row v32_attention[] = {
    BLOCKS("self_attn.q_a_proj", 128, 256),
    BLOCKS("self_attn.q_b_proj", 256, 128),
    BLOCKS("self_attn.kv_a_proj_with_mqa", 192, 256),
    BLOCKS("self_attn.kv_b_proj", 256, 128),
    BLOCKS("self_attn.o_proj", 256, 128),
    BLOCKS("self_attn.indexer.wq_b", 128, 128),
    BLOCKS("self_attn.indexer.wk", 64, 256),
    {"self_attn.indexer.weights_proj.weight", "BF16", {2, 256}},
    {"self_attn.indexer.k_norm.weight", "F32", {64}},
    {"self_attn.indexer.k_norm.bias", "F32", {64}},
    {"self_attn.q_a_layernorm.weight", "BF16", {128}},
    {"self_attn.kv_a_layernorm.weight", "BF16", {128}},
    {"input_layernorm.weight", "BF16", {256}},
    {"post_attention_layernorm.weight", "BF16", {256}}};
static const struct row v32_dense[] = {BLOCKS("mlp.gate_proj", 384, 256),
                                       BLOCKS("mlp.up_proj", 384, 256),
                                       BLOCKS("mlp.down_proj", 256, 384)};
static const struct row v32_experts[] = {BLOCKS("mlp.experts.0.gate_proj", 128, 256),
                                         BLOCKS("mlp.experts.0.up_proj", 128, 256),
                                         BLOCKS("mlp.experts.0.down_proj", 256, 128),
                                         BLOCKS("mlp.experts.1.gate_proj", 128, 256),
                                         BLOCKS("mlp.experts.1.up_proj", 128, 256),
                                         BLOCKS("mlp.experts.1.down_proj", 256, 128),
                                         BLOCKS("mlp.shared_experts.gate_proj", 128, 256),
                                         BLOCKS("mlp.shared_experts.up_proj", 128, 256),
                                         BLOCKS("mlp.shared_experts.down_proj", 256, 128),
                                         {"mlp.gate.weight", "BF16", {2, 256}},
                                         {"mlp.gate.e_score_correction_bias", "F32", {2}}};
static const struct row v32_drafts[] = {{"eh_proj.weight", "BF16", {256, 512}},
                                        {"enorm.weight", "BF16", {256}}};

/* Scales of a layer's attention: 2 + 2 + 4 + 2 + 2 + 1 + 2. */
#define V32_ATTENTION                                                                              \
    (128 * 256 + 256 * 128 + 192 * 256 + 2 * 256 * 128 + 128 * 128 + 64 * 256 + 4 * 15 +           \
     2 * 2 * 256 + 2 * 4 * 64 + 2 * 2 * 128 + 2 * 2 * 256)
#define V32_BYTES                                                                                  \
    (2 * 2 * 100 * 256 + 2 * 256 + 2 * V32_ATTENTION + 3 * (384 * 256 + 4 * 6) +                   \
     9 * (128 * 256 + 4 * 2) + 2 * 2 * 256 + 4 * 2)

static void test_v32(void **state)
{
    struct builder b = {.prefix = ""};
    PUT(&b, "", v32_outside);
    PUT(&b, "model.layers.0.", v32_attention);
    PUT(&b, "model.layers.0.", v32_dense);
    PUT(&b, "model.layers.1.", v32_attention);
    PUT(&b, "model.layers.1.", v32_experts);
    PUT(&b, "model.layers.2.", v32_attention);
    PUT(&b, "model.layers.2.", v32_experts);
    PUT(&b, "model.layers.2.", v32_drafts);
    struct roof_model *const m = build(&b, V32, state);
    assert_true(m->stored);
    assert_true(m->file_bytes == V32_BYTES);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(FORMAT(m, i, INDEX), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, KV_B), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, O), ROOF_PRECISION_FP8_BLOCK128);
    }
    assert_int_equal(FORMAT(m, 0, DOWN), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 1, EXPERT_UP), ROOF_PRECISION_FP8_BLOCK128);
    roof_model_free(m);
}

/* --- Nemotron-H ---------------------------------------------------------------------------- */

#define NEMOTRON                                                                                   \
    "{\"model_type\": \"nemotron_h\", \"hidden_size\": 64, \"intermediate_size\": 96,"             \
    " \"num_hidden_layers\": 4, \"hybrid_override_pattern\": \"M*-E\", \"num_attention_heads\": "  \
    "2,"                                                                                           \
    " \"num_key_value_heads\": 1, \"head_dim\": 32, \"vocab_size\": 100, \"mamba_num_heads\": 4,"  \
    " \"mamba_head_dim\": 16, \"n_groups\": 2, \"ssm_state_size\": 8, \"conv_kernel\": 4,"         \
    " \"chunk_size\": 128, \"use_conv_bias\": true, \"n_routed_experts\": 2,"                      \
    " \"num_experts_per_tok\": 1, \"moe_intermediate_size\": 32,"                                  \
    " \"moe_shared_expert_intermediate_size\": 48, \"n_shared_experts\": 1,"                       \
    " \"mlp_hidden_act\": \"relu2\"}"

static const struct row nemotron_rows[] = {
    {"embeddings.weight", "BF16", {100, 64}},
    {"norm_f.weight", "BF16", {64}},
    {"layers.0.norm.weight", "BF16", {64}},
    {"layers.0.mixer.in_proj.weight", "F8_E4M3", {164, 64}}, /* 64 of gates, 96, 4 */
    {"layers.0.mixer.in_proj.weight_scale", "F32", {1}},
    {"layers.0.mixer.in_proj.input_scale", "F32", {1}},
    {"layers.0.mixer.conv1d.weight", "BF16", {96, 1, 4}}, /* 64 + 2 x 2 x 8 */
    {"layers.0.mixer.conv1d.bias", "BF16", {96}},
    {"layers.0.mixer.A_log", "F32", {4}},
    {"layers.0.mixer.D", "F32", {4}},
    {"layers.0.mixer.dt_bias", "F32", {4}},
    {"layers.0.mixer.norm.weight", "BF16", {64}},
    {"layers.0.mixer.out_proj.weight", "BF16", {64, 64}},
    {"layers.1.norm.weight", "BF16", {64}},
    {"layers.1.mixer.q_proj.weight", "BF16", {64, 64}},
    {"layers.1.mixer.k_proj.weight", "BF16", {32, 64}},
    {"layers.1.mixer.v_proj.weight", "BF16", {32, 64}},
    {"layers.1.mixer.o_proj.weight", "BF16", {64, 64}},
    {"layers.2.norm.weight", "BF16", {64}},
    {"layers.2.mixer.up_proj.weight", "BF16", {96, 64}},
    {"layers.2.mixer.down_proj.weight", "BF16", {64, 96}},
    {"layers.3.norm.weight", "BF16", {64}},
    {"layers.3.mixer.gate.weight", "BF16", {2, 64}},
    {"layers.3.mixer.gate.e_score_correction_bias", "F32", {2}},
    {"layers.3.mixer.shared_experts.up_proj.weight", "BF16", {48, 64}},
    {"layers.3.mixer.shared_experts.down_proj.weight", "BF16", {64, 48}},
    {"layers.3.mixer.experts.0.up_proj.weight", "U8", {32, 32}}, /* NVFP4 */
    {"layers.3.mixer.experts.0.up_proj.weight_scale", "F8_E4M3", {32, 4}},
    {"layers.3.mixer.experts.0.up_proj.weight_scale_2", "F32", {1}},
    {"layers.3.mixer.experts.0.down_proj.weight", "U8", {64, 16}},
    {"layers.3.mixer.experts.0.down_proj.weight_scale", "F8_E4M3", {64, 2}},
    {"layers.3.mixer.experts.1.up_proj.weight", "U8", {32, 32}},
    {"layers.3.mixer.experts.1.up_proj.weight_scale", "F8_E4M3", {32, 4}},
    {"layers.3.mixer.experts.1.down_proj.weight", "U8", {64, 16}},
    {"layers.3.mixer.experts.1.down_proj.weight_scale", "F8_E4M3", {64, 2}},
};

static const struct row head[] = {{"lm_head.weight", "BF16", {100, 64}}};

static void test_nemotron(void **state)
{
    struct builder b = {.prefix = ""};
    PUT(&b, "backbone.", nemotron_rows);
    PUT(&b, "", head);
    const uint64_t bytes = b.data; /* all tensors belong to the model */
    struct roof_model *const m = build(&b, NEMOTRON, state);
    assert_true(m->stored);
    assert_true(m->file_bytes == (double)bytes);
    assert_int_equal(FORMAT(m, 0, MIXER_IN), ROOF_PRECISION_FP8_E4M3);
    assert_int_equal(FORMAT(m, 0, MIXER_OUT), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 1, V), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 2, UP), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 3, EXPERT_DOWN), ROOF_PRECISION_NVFP4);
    assert_int_equal(FORMAT(m, 3, SHARED_DOWN), ROOF_PRECISION_BF16);
    assert_false(m->tied);
    roof_model_free(m);
}

#define LATENT                                                                                     \
    "{\"model_type\": \"nemotron_h\", \"hidden_size\": 64, \"intermediate_size\": 96,"             \
    " \"num_hidden_layers\": 2, \"hybrid_override_pattern\": \"*E\", \"num_attention_heads\": 2,"  \
    " \"num_key_value_heads\": 1, \"head_dim\": 32, \"vocab_size\": 100, \"mamba_num_heads\": 4,"  \
    " \"mamba_head_dim\": 16, \"n_groups\": 2, \"ssm_state_size\": 8, \"conv_kernel\": 4,"         \
    " \"n_routed_experts\": 2, \"num_experts_per_tok\": 1, \"moe_intermediate_size\": 32,"         \
    " \"moe_latent_size\": 16, \"moe_shared_expert_intermediate_size\": 128,"                      \
    " \"n_shared_experts\": 1, \"mlp_hidden_act\": \"relu2\"}"

static const struct row latent_rows[] = {
    {"embeddings.weight", "BF16", {100, 64}},
    {"norm_f.weight", "BF16", {64}},
    {"layers.0.norm.weight", "BF16", {64}},
    {"layers.0.mixer.q_proj.weight", "BF16", {64, 64}},
    {"layers.0.mixer.k_proj.weight", "BF16", {32, 64}},
    {"layers.0.mixer.v_proj.weight", "BF16", {32, 64}},
    {"layers.0.mixer.o_proj.weight", "BF16", {64, 64}},
    {"layers.1.norm.weight", "BF16", {64}},
    {"layers.1.mixer.gate.weight", "BF16", {2, 64}},
    {"layers.1.mixer.shared_experts.up_proj.weight", "F8_E4M3", {128, 64}},
    {"layers.1.mixer.shared_experts.up_proj.weight_scale", "F32", {1}},
    {"layers.1.mixer.shared_experts.down_proj.weight", "F8_E4M3", {64, 128}},
    {"layers.1.mixer.shared_experts.down_proj.weight_scale", "F32", {1}},
    {"layers.1.mixer.fc1_latent_proj.weight", "BF16", {16, 64}},
    {"layers.1.mixer.fc2_latent_proj.weight", "F16", {64, 16}},
    {"layers.1.mixer.experts.0.up_proj.weight", "U8", {32, 8}}, /* NVFP4 */
    {"layers.1.mixer.experts.0.up_proj.weight_scale", "F8_E4M3", {32, 1}},
    {"layers.1.mixer.experts.0.down_proj.weight", "U8", {16, 16}},
    {"layers.1.mixer.experts.0.down_proj.weight_scale", "F8_E4M3", {16, 2}},
    {"layers.1.mixer.experts.1.up_proj.weight", "U8", {32, 8}},
    {"layers.1.mixer.experts.1.up_proj.weight_scale", "F8_E4M3", {32, 1}},
    {"layers.1.mixer.experts.1.down_proj.weight", "U8", {16, 16}},
    {"layers.1.mixer.experts.1.down_proj.weight_scale", "F8_E4M3", {16, 2}},
};

/* The projections of the latent have formats of their own beside the larger shared experts. */
static void test_latent(void **state)
{
    struct builder b = {.prefix = ""};
    PUT(&b, "backbone.", latent_rows);
    PUT(&b, "", head);
    struct roof_model *const m = build(&b, LATENT, state);
    assert_true(m->stored);
    assert_int_equal(FORMAT(m, 1, SHARED_UP), ROOF_PRECISION_FP8_E4M3);
    assert_int_equal(FORMAT(m, 1, SHARED_DOWN), ROOF_PRECISION_FP8_E4M3);
    assert_int_equal(FORMAT(m, 1, LATENT_IN), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 1, LATENT_OUT), ROOF_PRECISION_FP16);
    assert_int_equal(FORMAT(m, 1, EXPERT_UP), ROOF_PRECISION_NVFP4);
    roof_model_free(m);
}

/* --- Kimi-Linear --------------------------------------------------------------------------- */

#define KIMI                                                                                       \
    "{\"model_type\": \"kimi_linear\", \"hidden_size\": 64, \"intermediate_size\": 96,"            \
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 2,"           \
    " \"head_dim\": 32, \"vocab_size\": 100, \"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16,"      \
    " \"qk_rope_head_dim\": 16, \"v_head_dim\": 16, \"mla_use_nope\": true,"                       \
    " \"tie_word_embeddings\": true, \"linear_attn_config\": {\"kda_layers\": [1],"                \
    " \"full_attn_layers\": [2], \"num_heads\": 2, \"head_dim\": 32, \"short_conv_kernel_size\": " \
    "4}}"

static const struct row kimi_rows[] = {
    {"embed_tokens.weight", "BF16", {100, 64}},
    {"norm.weight", "BF16", {64}},
    {"layers.0.self_attn.q_proj.weight", "F16", {64, 64}},
    {"layers.0.self_attn.k_proj.weight", "F16", {64, 64}},
    {"layers.0.self_attn.v_proj.weight", "F16", {64, 64}},
    {"layers.0.self_attn.q_conv1d.weight", "BF16", {64, 1, 4}},
    {"layers.0.self_attn.k_conv1d.weight", "BF16", {64, 1, 4}},
    {"layers.0.self_attn.v_conv1d.weight", "BF16", {64, 1, 4}},
    {"layers.0.self_attn.dt_bias", "F32", {64}},
    {"layers.0.self_attn.f_a_proj.weight", "BF16", {32, 64}},
    {"layers.0.self_attn.f_b_proj.weight", "BF16", {64, 32}},
    {"layers.0.self_attn.g_a_proj.weight", "BF16", {32, 64}},
    {"layers.0.self_attn.g_b_proj.weight", "BF16", {64, 32}},
    {"layers.0.self_attn.b_proj.weight", "BF16", {2, 64}},
    {"layers.0.self_attn.o_norm.weight", "BF16", {32}},
    {"layers.0.self_attn.o_proj.weight", "F32", {64, 64}},
    {"layers.1.self_attn.q_proj.weight", "BF16", {64, 64}},
    {"layers.1.self_attn.kv_a_proj_with_mqa.weight", "BF16", {48, 64}},
    {"layers.1.self_attn.kv_b_proj.weight", "BF16", {64, 32}},
    {"layers.1.self_attn.o_proj.weight", "BF16", {64, 32}},
};
static const struct row kimi_mlp[] = {{"mlp.gate_proj.weight", "BF16", {96, 64}},
                                      {"mlp.up_proj.weight", "BF16", {96, 64}},
                                      {"mlp.down_proj.weight", "BF16", {64, 96}}};

/* A layer with a state has the projections of attention under their names. */
static void test_kimi(void **state)
{
    struct builder b = {.prefix = ""};
    PUT(&b, "model.", kimi_rows);
    PUT(&b, "model.layers.0.", kimi_mlp);
    PUT(&b, "model.layers.1.", kimi_mlp);
    const uint64_t bytes = b.data;
    struct roof_model *const m = build(&b, KIMI, state);
    assert_true(m->file_bytes == (double)bytes);
    assert_int_equal(FORMAT(m, 0, MIXER_IN), ROOF_PRECISION_FP16);
    assert_int_equal(FORMAT(m, 0, MIXER_LOW), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 0, MIXER_OUT), ROOF_PRECISION_FP32);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_AUTO);
    assert_int_equal(FORMAT(m, 1, Q), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 1, O), ROOF_PRECISION_BF16);
    roof_model_free(m);
}

/* --- files that are missing ---------------------------------------------------------------- */

static void test_missing(void **state)
{
    static const char index[] = "{\"weight_map\": {\"model.norm.weight\": \"one.safetensors\","
                                " \"lm_head.weight\": \"two.safetensors\"}}";
    char path[PATH_SIZE];
    char one[PATH_SIZE];
    struct builder b = {.prefix = ""};
    PUT(&b, "", qwen_outside);
    PUT(&b, "model.layers.0.", qwen_state);
    build_bad(&b, QWEN, state, "of config.json");
    write_bytes(path_in(path, state, "i.json"), index, strlen(index));
    expect_bad(QWEN, path, ROOF_IO, "cannot open a file that the index names");
    b = (struct builder){.prefix = ""};
    PUT(&b, "", qwen_outside);
    write_file(&b, path_in(one, state, "one.safetensors"));
    expect_bad(QWEN, path, ROOF_IO, "cannot open a file that the index names");
    b = (struct builder){.prefix = ""};
    put_rows(&b, "", &qwen_outside[1], 1);
    write_file(&b, one);
    expect_bad(QWEN, path, ROOF_IO, "cannot open a file that the index names");
    assert_int_equal(unlink(one), 0);
    assert_int_equal(unlink(path), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_qwen),   TEST(test_unknown_matrix), TEST(test_v32),     TEST(test_nemotron),
        TEST(test_latent), TEST(test_kimi),           TEST(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
