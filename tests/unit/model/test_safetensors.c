// SPDX-License-Identifier: MIT
#include "safetensors_file.h"

/* --- plain weights ------------------------------------------------------------------------- */

#define LLAMA                                                                                      \
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2,"                   \
    " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 128,"         \
    " \"vocab_size\": 100"

/* Norms of BF16, matrices of matrix; the second layer's down is of down. */
static void llama_layer(struct builder *b, int i, const char *matrix, const char *down)
{
    in_layer(b, i, "input_layernorm.weight", "BF16", 64, 0);
    in_layer(b, i, "post_attention_layernorm.weight", "BF16", 64, 0);
    in_layer(b, i, "self_attn.q_proj.weight", matrix, 64, 64);
    in_layer(b, i, "self_attn.k_proj.weight", matrix, 32, 64);
    in_layer(b, i, "self_attn.v_proj.weight", matrix, 32, 64);
    in_layer(b, i, "self_attn.o_proj.weight", matrix, 64, 64);
    in_layer(b, i, "mlp.gate_proj.weight", matrix, 128, 64);
    in_layer(b, i, "mlp.up_proj.weight", matrix, 128, 64);
    in_layer(b, i, "mlp.down_proj.weight", down, 64, 128);
}

static void llama(struct builder *b)
{
    tensor(b, "embed_tokens.weight", "BF16", 100, 64);
    llama_layer(b, 0, "BF16", "BF16");
    llama_layer(b, 1, "BF16", "F32");
    tensor(b, "norm.weight", "BF16", 64, 0);
}

/* By hand: 2 bytes for each element, 4 for the last down. */
#define LLAMA_BYTES                                                                                \
    (2 * 100 * 64 + 2 * 64 + 2 * 2 * (2 * 64 + 64 * 192 + 3 * 128 * 64) + 2 * 64 * 128)

static void check_llama(const struct roof_model *m)
{
    assert_true(m->stored);
    assert_int_equal(m->layers, 2);
    assert_int_equal(m->layer_classes, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(FORMAT(m, i, NORM), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, Q), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, V), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, GATE), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, DOWN), i == 0 ? ROOF_PRECISION_BF16 : ROOF_PRECISION_FP32);
        assert_int_equal(FORMAT(m, i, EXPERT_UP), ROOF_PRECISION_AUTO);
    }
    assert_int_equal(m->format[ROOF_WEIGHT_EMBEDDING], ROOF_PRECISION_BF16);
    assert_int_equal(m->format[ROOF_WEIGHT_NORM], ROOF_PRECISION_BF16);
}

static void test_llama(void **state)
{
    static const char *const prefixes[] = {"", "model.", "model.language_model.",
                                           "language_model.model.", "transformer."};
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        struct builder b = {.prefix = prefixes[i]};
        llama(&b);
        in_layer(&b, 0, "self_attn.rotary_emb.inv_freq", "F32", 8, 0);
        b.prefix = "";
        tensor(&b, "vision_tower.layers.0.self_attn.q_proj.weight", "F32", 4, 4);
        tensor(&b, "model.visual.blocks.0.attn.qkv.weight", "F32", 4, 4);
        tensor(&b, "lm_head.weight", "F16", 100, 64);
        struct roof_model *const m = build(&b, LLAMA "}", state);
        check_llama(m);
        assert_false(m->tied);
        assert_int_equal(m->format[ROOF_WEIGHT_LM_HEAD], ROOF_PRECISION_FP16);
        assert_true(m->file_bytes == LLAMA_BYTES + 2 * 100 * 64);
        assert_null(m->remarks[0]);
        roof_model_free(m);
    }
    assert_int_equal(LLAMA_BYTES, 177280);
}

#define NEXTN(count) ", \"num_nextn_predict_layers\": " count "}"
#define GLM                                                                                        \
    "{\"model_type\": \"glm4_moe\", \"hidden_size\": 64, \"num_hidden_layers\": 2,"                \
    " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 128,"         \
    " \"vocab_size\": 100"

/* Layers behind the last are those for multi-token prediction, where there are such, and no more
 * than that; else they contradict the number of layers. */
static void test_layers_behind(void **state)
{
    static const struct {
        const char *config;
        int layers; /* of the file */
        bool remark;
        const char *bad;
        int predictors; /* that the model has then */
    } cases[] = {
        {LLAMA "}", 3, false, "model.layers.2.input_layernorm.weight: config.json says 2 layers",
         0},
        {LLAMA NEXTN("1"), 3, true, NULL, 1},
        {LLAMA NEXTN("2"), 4, true, NULL, 2},
        {LLAMA NEXTN("1"), 4, true,
         "layers.3.input_layernorm.weight: config.json says 2 layers, and 1 for multi-token "
         "prediction",
         0},
        {LLAMA NEXTN("0"), 3, false, "config.json says 2 layers", 0},
        {LLAMA NEXTN("null"), 3, false, "config.json says 2 layers", 0},
        {"{\"text_config\": " LLAMA NEXTN("1") "}", 3, true, NULL, 1},
        {GLM "}", 2, false, NULL, 0},
        {GLM "}", 3, true, NULL, 1},
        {GLM "}", 4, true, "config.json says 2 layers, and 1 for multi-token prediction", 0},
        {GLM NEXTN("0"), 3, true, "config.json says 2 layers", 0},
        {GLM NEXTN("null"), 3, true, NULL, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct builder b = {.prefix = "model."};
        llama(&b);
        for (int k = 2; k < cases[i].layers; k++) {
            llama_layer(&b, k, "BF16", "BF16");
        }
        if (cases[i].bad != NULL) {
            build_bad(&b, cases[i].config, state, cases[i].bad);
            continue;
        }
        struct roof_model *const m = build(&b, cases[i].config, state);
        check_llama(m);
        assert_true(m->file_bytes == LLAMA_BYTES);
        assert_int_equal(m->predict_layers, cases[i].predictors);
        assert_int_equal(has_remark(m, "multi-token prediction"), cases[i].remark);
        roof_model_free(m);
    }
}

static void test_tied(void **state)
{
    static const char config[] = LLAMA ", \"tie_word_embeddings\": true}";
    struct builder b[3] = {{.prefix = "model."}, {.prefix = "model."}, {.prefix = "model."}};
    llama(&b[0]);
    struct roof_model *m = build(&b[0], config, state);
    check_llama(m);
    assert_true(m->tied);
    assert_int_equal(m->format[ROOF_WEIGHT_LM_HEAD], ROOF_PRECISION_BF16);
    assert_true(m->file_bytes == LLAMA_BYTES);
    assert_null(m->remarks[0]);
    roof_model_free(m);
    /* a copy in the file is not read */
    llama(&b[1]);
    tensor(&b[1], "lm_head.weight", "F32", 100, 64);
    m = build(&b[1], config, state);
    assert_int_equal(m->format[ROOF_WEIGHT_LM_HEAD], ROOF_PRECISION_BF16);
    assert_true(m->file_bytes == LLAMA_BYTES);
    roof_model_free(m);
    /* the config does not say so, but there is none */
    llama(&b[2]);
    m = build(&b[2], LLAMA "}", state);
    assert_true(m->tied);
    assert_true(has_remark(m, "shares the weights of the embedding"));
    roof_model_free(m);
}

static void test_unknown_tensors(void **state)
{
    struct builder b = {.prefix = "model."};
    llama(&b);
    in_layer(&b, 0, "novelty.weight", "BF16", 8, 8);
    in_layer(&b, 1, "self_attn.k_scale", "F32", 1, 0);
    struct roof_model *const m = build(&b, LLAMA "}", state);
    check_llama(m); /* one small vector does not change what norms are stored in */
    assert_true(m->file_bytes == LLAMA_BYTES + 4);
    assert_true(has_remark(m, "unknown tensors of the file"));
    roof_model_free(m);
}

static void test_phi3(void **state)
{
    struct builder b = {.prefix = "model."};
    tensor(&b, "embed_tokens.weight", "BF16", 100, 64);
    tensor(&b, "norm.weight", "BF16", 64, 0);
    in_layer(&b, 0, "input_layernorm.weight", "BF16", 64, 0);
    in_layer(&b, 0, "self_attn.qkv_proj.weight", "F16", 128, 64);
    in_layer(&b, 0, "self_attn.o_proj.weight", "BF16", 64, 64);
    in_layer(&b, 0, "mlp.gate_up_proj.weight", "F32", 256, 64);
    in_layer(&b, 0, "mlp.down_proj.weight", "BF16", 64, 128);
    tensor(&b, "lm_head.weight", "BF16", 100, 64);
    struct roof_model *const m =
        build(&b,
              "{\"model_type\": \"phi3\", \"hidden_size\": 64, \"num_hidden_layers\": 1,"
              " \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
              " \"intermediate_size\": 128, \"vocab_size\": 100}",
              state);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_FP16);
    assert_int_equal(FORMAT(m, 0, K), ROOF_PRECISION_FP16);
    assert_int_equal(FORMAT(m, 0, V), ROOF_PRECISION_FP16);
    assert_int_equal(FORMAT(m, 0, GATE), ROOF_PRECISION_FP32);
    assert_int_equal(FORMAT(m, 0, UP), ROOF_PRECISION_FP32);
    assert_true(m->file_bytes ==
                2 * (2 * 6400 + 2 * 64 + 128 * 64 + 64 * 64 + 64 * 128) + 4 * 256 * 64);
    roof_model_free(m);
}

/* The bias of Phi's head is read where its matrix is the table of the embedding. */
static void test_phi(void **state)
{
    static const char *const config[] = {"false", "true"};
    for (int tied = 0; tied < 2; tied++) {
        struct builder b = {.prefix = "model."};
        tensor(&b, "embed_tokens.weight", "F16", 100, 64);
        tensor(&b, "final_layernorm.weight", "F16", 64, 0);
        tensor(&b, "final_layernorm.bias", "F16", 64, 0);
        in_layer(&b, 0, "input_layernorm.weight", "F16", 64, 0);
        in_layer(&b, 0, "input_layernorm.bias", "F16", 64, 0);
        static const char *const heads[] = {"q_proj", "k_proj", "v_proj", "dense"};
        for (size_t i = 0; i < COUNT(heads); i++) {
            char name[64];
            snprintf(name, sizeof name, "self_attn.%s.weight", heads[i]);
            in_layer(&b, 0, name, "F16", 64, 64);
            snprintf(name, sizeof name, "self_attn.%s.bias", heads[i]);
            in_layer(&b, 0, name, "F16", 64, 0);
        }
        in_layer(&b, 0, "mlp.fc1.weight", "F16", 128, 64);
        in_layer(&b, 0, "mlp.fc1.bias", "F16", 128, 0);
        in_layer(&b, 0, "mlp.fc2.weight", "F16", 64, 128);
        in_layer(&b, 0, "mlp.fc2.bias", "F16", 64, 0);
        tensor(&b, "lm_head.weight", "F16", 100, 64);
        tensor(&b, "lm_head.bias", "F16", 100, 0);
        char text[512];
        snprintf(text, sizeof text,
                 "{\"model_type\": \"phi\", \"hidden_size\": 64, \"num_hidden_layers\": 1,"
                 " \"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100,"
                 " \"tie_word_embeddings\": %s}",
                 config[tied]);
        struct roof_model *const m = build(&b, text, state);
        assert_null(m->remarks[0]);
        const int matrices = 6400 * (tied ? 1 : 2) + 4 * 64 * 64 + 2 * 64 * 128;
        const int vectors = 4 * 64 + 4 * 64 + 128 + 64 + 100;
        assert_true(m->file_bytes == 2 * (matrices + vectors));
        assert_true(roof_model_bytes(m) == m->file_bytes);
        roof_model_free(m);
    }
}

static void gpt2(struct builder *b, int c_attn_rows, int c_attn_columns)
{
    static const int mask[4] = {1, 1, 32, 32};
    tensor(b, "wte.weight", "F32", 100, 64);
    tensor(b, "wpe.weight", "F16", 32, 64);
    tensor4(b, "h.0.attn.bias", "F32", mask);
    tensor(b, "h.0.attn.masked_bias", "F32", 0, 0);
    tensor(b, "h.0.ln_1.weight", "F32", 64, 0);
    tensor(b, "h.0.ln_1.bias", "F32", 64, 0);
    tensor(b, "h.0.ln_2.weight", "F32", 64, 0);
    tensor(b, "h.0.ln_2.bias", "F32", 64, 0);
    tensor(b, "h.0.attn.c_attn.weight", "F32", c_attn_rows, c_attn_columns);
    tensor(b, "h.0.attn.c_attn.bias", "F32", 192, 0);
    tensor(b, "h.0.attn.c_proj.weight", "F32", 64, 64);
    tensor(b, "h.0.attn.c_proj.bias", "F32", 64, 0);
    tensor(b, "h.0.mlp.c_fc.weight", "F32", 64, 256);
    tensor(b, "h.0.mlp.c_fc.bias", "F32", 256, 0);
    tensor(b, "h.0.mlp.c_proj.weight", "F32", 256, 64);
    tensor(b, "h.0.mlp.c_proj.bias", "F32", 64, 0);
    tensor(b, "ln_f.weight", "F32", 64, 0);
    tensor(b, "ln_f.bias", "F32", 64, 0);
}

static void test_gpt2(void **state)
{
    static const char config[] =
        "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 1, \"n_head\": 4,"
        " \"n_positions\": 32, \"vocab_size\": 100}";
    struct builder b[2] = {{.prefix = ""}, {.prefix = "transformer."}};
    gpt2(&b[0], 64, 192);
    struct roof_model *const m = build(&b[0], config, state);
    assert_true(m->tied);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_FP32);
    assert_int_equal(FORMAT(m, 0, UP), ROOF_PRECISION_FP32);
    assert_int_equal(FORMAT(m, 0, GATE), ROOF_PRECISION_AUTO);
    assert_int_equal(m->format[ROOF_WEIGHT_EMBEDDING], ROOF_PRECISION_FP32);
    const int vectors = 4 * 64 + 192 + 64 + 256 + 64 + 2 * 64;
    const int matrices = 100 * 64 + 64 * 192 + 64 * 64 + 2 * 64 * 256;
    assert_true(m->file_bytes == 4 * (vectors + matrices) + 2 * 32 * 64);
    assert_null(m->remarks[0]);
    roof_model_free(m);
    gpt2(&b[1], 64, 128);
    build_bad(&b[1], config, state, "layers.0.attn.c_attn (F32 of 64 x 128 x 1) does not have");
}

/* --- experts ------------------------------------------------------------------------------- */

#define MOE(type)                                                                                  \
    "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_hidden_layers\": 1,"                \
    " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 32,"          \
    " \"vocab_size\": 100, \"tie_word_embeddings\": true, \"num_experts_per_tok\": 1,"             \
    " \"num_local_experts\": 2"

static void attention(struct builder *b)
{
    tensor(b, "embed_tokens.weight", "BF16", 100, 64);
    tensor(b, "norm.weight", "BF16", 64, 0);
    in_layer(b, 0, "self_attn.q_proj.weight", "BF16", 64, 64);
    in_layer(b, 0, "self_attn.k_proj.weight", "BF16", 32, 64);
    in_layer(b, 0, "self_attn.v_proj.weight", "BF16", 32, 64);
    in_layer(b, 0, "self_attn.o_proj.weight", "BF16", 64, 64);
}
#define ATTENTION_BYTES (2 * (100 * 64 + 64 + 64 * 192))

static void mixtral(struct builder *b, int experts, const char *second_down)
{
    attention(b);
    in_layer(b, 0, "block_sparse_moe.gate.weight", "F32", 2, 64);
    for (int e = 0; e < experts; e++) {
        char name[64];
        snprintf(name, sizeof name, "block_sparse_moe.experts.%d.w1.weight", e);
        in_layer(b, 0, name, "BF16", 32, 64);
        snprintf(name, sizeof name, "block_sparse_moe.experts.%d.w2.weight", e);
        in_layer(b, 0, name, e == 1 ? second_down : "BF16", 64, 32);
        snprintf(name, sizeof name, "block_sparse_moe.experts.%d.w3.weight", e);
        in_layer(b, 0, name, "BF16", 32, 64);
    }
}

static void test_mixtral(void **state)
{
    struct builder b[3] = {{.prefix = "model."}, {.prefix = "model."}, {.prefix = "model."}};
    mixtral(&b[0], 2, "F32");
    struct roof_model *const m = build(&b[0], MOE("mixtral") "}", state);
    assert_true(layer(m, 0)->moe);
    assert_int_equal(FORMAT(m, 0, ROUTER), ROOF_PRECISION_FP32);
    assert_int_equal(FORMAT(m, 0, EXPERT_GATE), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 0, EXPERT_UP), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 0, EXPERT_DOWN), ROOF_PRECISION_FP32); /* the widest */
    assert_true(m->file_bytes == ATTENTION_BYTES + 4 * 128 + 2 * 5 * 2048 + 4 * 2048);
    roof_model_free(m);
    mixtral(&b[1], 1, "BF16");
    build_bad(&b[1], MOE("mixtral") "}", state, "1 of 2 experts are there");
    mixtral(&b[2], 3, "BF16");
    build_bad(&b[2], MOE("mixtral") "}", state, "experts.2.w1: config.json says 2 experts");
}

static void gpt_oss(struct builder *b, int words)
{
    static const int up_blocks[4] = {2, 64, 2, 16};
    static const int up_scales[4] = {2, 64, 2, 0};
    const int down_blocks[4] = {2, 64, 1, words};
    static const int down_scales[4] = {2, 64, 1, 0};
    attention(b);
    in_layer(b, 0, "self_attn.q_proj.bias", "BF16", 64, 0);
    in_layer(b, 0, "self_attn.sinks", "BF16", 4, 0);
    in_layer(b, 0, "mlp.router.weight", "BF16", 2, 64);
    in_layer(b, 0, "mlp.router.bias", "BF16", 2, 0);
    tensor4(b, "layers.0.mlp.experts.gate_up_proj_blocks", "U8", up_blocks);
    tensor4(b, "layers.0.mlp.experts.gate_up_proj_scales", "U8", up_scales);
    in_layer(b, 0, "mlp.experts.gate_up_proj_bias", "BF16", 2, 64);
    tensor4(b, "layers.0.mlp.experts.down_proj_blocks", "U8", down_blocks);
    tensor4(b, "layers.0.mlp.experts.down_proj_scales", "U8", down_scales);
    in_layer(b, 0, "mlp.experts.down_proj_bias", "BF16", 2, 64);
}

static void test_gpt_oss(void **state)
{
    struct builder b[2] = {{.prefix = "model."}, {.prefix = "model."}};
    gpt_oss(&b[0], 16);
    struct roof_model *const m = build(&b[0], MOE("gpt_oss") "}", state);
    assert_int_equal(FORMAT(m, 0, EXPERT_GATE), ROOF_PRECISION_MXFP4);
    assert_int_equal(FORMAT(m, 0, EXPERT_UP), ROOF_PRECISION_MXFP4);
    assert_int_equal(FORMAT(m, 0, EXPERT_DOWN), ROOF_PRECISION_MXFP4);
    assert_int_equal(FORMAT(m, 0, ROUTER), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 0, NORM), ROOF_PRECISION_BF16);
    /* 17 bytes for 32 elements */
    const int experts = 3 * 2 * 64 * 32 / 32 * 17;
    assert_true(m->file_bytes == ATTENTION_BYTES + 2 * (64 + 4 + 128 + 2 + 128 + 128) + experts);
    roof_model_free(m);
    gpt_oss(&b[1], 8);
    build_bad(&b[1], MOE("gpt_oss") "}", state, "mlp.experts.down_proj (U8 of 2 x 64 x 1)");
}

/* All experts in one tensor, not quantised; either order of rows and columns. */
static void test_stacked_experts(void **state)
{
    static const int up[4] = {2, 64, 64, 0};
    static const int downs[][4] = {{2, 32, 64, 0}, {2, 64, 32, 0}, {1, 64, 64, 0}};
    for (size_t i = 0; i < COUNT(downs); i++) {
        struct builder b = {.prefix = "model."};
        attention(&b);
        in_layer(&b, 0, "mlp.router.weight", "BF16", 2, 64);
        tensor4(&b, "layers.0.mlp.experts.gate_up_proj", "BF16", up);
        tensor4(&b, "layers.0.mlp.experts.down_proj", "F16", downs[i]);
        if (i == 2) {
            build_bad(&b, MOE("gpt_oss") "}", state, "mlp.experts.down_proj (F16 of 1 x 64 x 64)");
            continue;
        }
        struct roof_model *const m = build(&b, MOE("gpt_oss") "}", state);
        assert_int_equal(FORMAT(m, 0, EXPERT_UP), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, 0, EXPERT_DOWN), ROOF_PRECISION_FP16);
        assert_true(m->file_bytes == ATTENTION_BYTES + 2 * 128 + 3 * 2 * 2 * 2048);
        roof_model_free(m);
    }
}

/* FP8 in blocks of 128, MLA, one dense layer, shared experts, a layer behind the last. */
static void block128(struct builder *b, int i, const char *module, int rows, int columns)
{
    char name[96];
    snprintf(name, sizeof name, "%s.weight", module);
    in_layer(b, i, name, "F8_E4M3", rows, columns);
    snprintf(name, sizeof name, "%s.weight_scale_inv", module);
    in_layer(b, i, name, "F32", (rows + 127) / 128, (columns + 127) / 128);
}

static void test_deepseek(void **state)
{
    struct builder b = {.prefix = "model."};
    tensor(&b, "embed_tokens.weight", "BF16", 100, 256);
    tensor(&b, "norm.weight", "BF16", 256, 0);
    for (int i = 0; i < 3; i++) {
        in_layer(&b, i, "input_layernorm.weight", "BF16", 256, 0);
        in_layer(&b, i, "self_attn.q_a_layernorm.weight", "BF16", 64, 0);
        block128(&b, i, "self_attn.q_a_proj", 64, 256);
        block128(&b, i, "self_attn.q_b_proj", 2 * 48, 64);
        block128(&b, i, "self_attn.kv_a_proj_with_mqa", 128 + 16, 256);
        block128(&b, i, "self_attn.kv_b_proj", 2 * 64, 128);
        block128(&b, i, "self_attn.o_proj", 256, 2 * 32);
        if (i == 0) {
            block128(&b, i, "mlp.gate_proj", 512, 256);
            block128(&b, i, "mlp.up_proj", 512, 256);
            block128(&b, i, "mlp.down_proj", 256, 512);
            continue;
        }
        in_layer(&b, i, "mlp.gate.weight", "BF16", 2, 256);
        in_layer(&b, i, "mlp.gate.e_score_correction_bias", "F32", 2, 0);
        static const char *const owners[] = {"experts.0", "experts.1", "shared_experts"};
        for (size_t e = 0; e < COUNT(owners); e++) {
            char name[64];
            snprintf(name, sizeof name, "mlp.%s.gate_proj", owners[e]);
            block128(&b, i, name, 128, 256);
            snprintf(name, sizeof name, "mlp.%s.up_proj", owners[e]);
            block128(&b, i, name, 128, 256);
            snprintf(name, sizeof name, "mlp.%s.down_proj", owners[e]);
            block128(&b, i, name, 256, 128);
        }
    }
    b.prefix = "";
    tensor(&b, "lm_head.weight", "BF16", 100, 256);
    struct roof_model *const m =
        build(&b,
              "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 256, \"num_hidden_layers\": 2,"
              " \"num_attention_heads\": 2, \"num_key_value_heads\": 2, \"vocab_size\": 100,"
              " \"intermediate_size\": 512, \"q_lora_rank\": 64, \"kv_lora_rank\": 128,"
              " \"qk_nope_head_dim\": 32, \"qk_rope_head_dim\": 16, \"v_head_dim\": 32,"
              " \"n_routed_experts\": 2, \"num_experts_per_tok\": 1, \"n_shared_experts\": 1,"
              " \"moe_intermediate_size\": 128, \"first_k_dense_replace\": 1}",
              state);
    assert_false(layer(m, 0)->moe);
    assert_true(layer(m, 1)->moe);
    assert_int_equal(FORMAT(m, 0, Q_A), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 0, Q_B), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 0, KV_A), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 0, KV_B), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 0, DOWN), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_AUTO);
    assert_int_equal(FORMAT(m, 1, ROUTER), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 1, NORM), ROOF_PRECISION_BF16); /* although the bias is FP32 */
    assert_int_equal(FORMAT(m, 1, EXPERT_UP), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 1, SHARED_DOWN), ROOF_PRECISION_FP8_BLOCK128);
    const int attention_bytes = 64 * 256 + 4 * 2 + 96 * 64 + 4 + 144 * 256 + 4 * 4 + 128 * 128 + 4 +
                                256 * 64 + 4 * 2 + 2 * (256 + 64);
    const int dense = 3 * (512 * 256 + 4 * 8);
    const int moe = 2 * 512 + 4 * 2 + 9 * (128 * 256 + 4 * 2);
    assert_true(m->file_bytes == 2 * 2 * 100 * 256 + 512 + 2 * attention_bytes + dense + moe);
    roof_model_free(m);
}

/* --- quantised weights --------------------------------------------------------------------- */

/* Every matrix of one layer is made of these parts; sizes are those of rows x columns. */
struct recipe {
    int format;
    struct {
        const char *suffix;
        const char *dtype;
        int rows_over;    /* rows divided by this; 0: one */
        int columns_over; /* 0: not there, -1: one */
    } part[6];
};

static void recipe_module(struct builder *b, const struct recipe *r, const char *module, int rows,
                          int columns)
{
    for (size_t i = 0; i < COUNT(r->part) && r->part[i].suffix != NULL; i++) {
        const int over = r->part[i].columns_over;
        char name[96];
        snprintf(name, sizeof name, "%s.%s", module, r->part[i].suffix);
        in_layer(b, 0, name, r->part[i].dtype,
                 r->part[i].rows_over == 0 ? 1 : rows / r->part[i].rows_over,
                 over == 0  ? 0
                 : over < 0 ? 1
                            : columns / over);
    }
}

static void recipe_model(struct builder *b, const struct recipe *r, int size)
{
    tensor(b, "embed_tokens.weight", "BF16", size, size);
    tensor(b, "norm.weight", "BF16", size, 0);
    recipe_module(b, r, "self_attn.q_proj", size, size);
    recipe_module(b, r, "self_attn.k_proj", size, size);
    recipe_module(b, r, "self_attn.v_proj", size, size);
    recipe_module(b, r, "self_attn.o_proj", size, size);
    recipe_module(b, r, "mlp.gate_proj", size, size);
    recipe_module(b, r, "mlp.up_proj", size, size);
    recipe_module(b, r, "mlp.down_proj", size, size);
}

static const char quantised[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_hidden_layers\": 1,"
    " \"num_attention_heads\": 4, \"intermediate_size\": 256, \"vocab_size\": 256,"
    " \"tie_word_embeddings\": true}";

static struct roof_model *build_recipe(const struct recipe *r, void **state)
{
    static const enum roof_weight weights[] = {ROOF_WEIGHT_Q,   ROOF_WEIGHT_K,    ROOF_WEIGHT_V,
                                               ROOF_WEIGHT_O,   ROOF_WEIGHT_GATE, ROOF_WEIGHT_UP,
                                               ROOF_WEIGHT_DOWN};
    struct builder b = {.prefix = "model."};
    recipe_model(&b, r, 256);
    const uint64_t data = b.data;
    struct roof_model *const m = build(&b, quantised, state);
    for (size_t w = 0; w < COUNT(weights); w++) {
        const int8_t format = layer(m, 0)->format[weights[w]];
        if (format != (int8_t)r->format) {
            fail_msg("%s, %s: %d, expected %d", r->part[0].suffix, r->part[1].suffix, format,
                     r->format);
        }
    }
    assert_true(m->file_bytes == (double)data); /* scales and all */
    return m;
}

static void test_quantised(void **state)
{
    static const struct recipe recipes[] = {
        {ROOF_PRECISION_FP8_E4M3,
         {{"weight", "F8_E4M3", 1, 1},
          {"weight_scale", "F32", 0, 0},
          {"input_scale", "F32", 0, 0}}},
        {ROOF_PRECISION_FP8_E4M3, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "BF16", 1, -1}}},
        {ROOF_PRECISION_FP8_E4M3, {{"weight", "F8_E4M3", 1, 1}}},
        {ROOF_PRECISION_FP8_E5M2, {{"weight", "F8_E5M2", 1, 1}, {"weight_scale", "F32", 0, 0}}},
        {ROOF_PRECISION_FP8_BLOCK128,
         {{"weight", "F8_E4M3", 1, 1}, {"weight_scale_inv", "F32", 128, 128}}},
        {ROOF_PRECISION_FP8_BLOCK128,
         {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "BF16", 128, 128}}},
        {ROOF_PRECISION_INT8, {{"weight", "I8", 1, 1}}},
        {ROOF_PRECISION_INT8_CHANNEL, {{"weight", "I8", 1, 1}, {"weight_scale", "F32", 1, -1}}},
        {ROOF_PRECISION_INT8_CHANNEL, {{"weight", "I8", 1, 1}, {"SCB", "F32", 1, 0}}},
        {ROOF_PRECISION_NVFP4,
         {{"weight", "U8", 1, 2},
          {"weight_scale", "F8_E4M3", 1, 16},
          {"weight_scale_2", "F32", 0, 0},
          {"input_scale", "F32", 0, 0}}},
        {ROOF_PRECISION_NVFP4,
         {{"weight_packed", "U8", 1, 2},
          {"weight_scale", "F8_E4M3", 1, 16},
          {"weight_global_scale", "F32", 0, 0}}},
        /* GPTQ: inputs packed; AWQ: outputs packed */
        {ROOF_PRECISION_INT4_G128_ZP,
         {{"qweight", "I32", 8, 1},
          {"scales", "F16", 128, 1},
          {"qzeros", "I32", 128, 8},
          {"g_idx", "I32", 1, 0}}},
        {ROOF_PRECISION_INT4_G128_ZP,
         {{"qweight", "I32", 1, 8}, {"scales", "F16", 128, 1}, {"qzeros", "I32", 128, 8}}},
        {ROOF_PRECISION_INT4_G64_ZP,
         {{"qweight", "I32", 1, 8}, {"scales", "F16", 64, 1}, {"qzeros", "I32", 64, 8}}},
        {ROOF_PRECISION_INT4_G32_ZP,
         {{"qweight", "I32", 1, 8}, {"scales", "F16", 32, 1}, {"qzeros", "I32", 32, 8}}},
        {ROOF_PRECISION_INT4_G128, {{"qweight", "I32", 1, 8}, {"scales", "F16", 128, 1}}},
        {ROOF_PRECISION_INT4_G128,
         {{"weight_packed", "I32", 1, 8},
          {"weight_scale", "BF16", 1, 128},
          {"weight_shape", "I64", 128, 0}}},
        {ROOF_PRECISION_INT4_G32_ZP,
         {{"weight_packed", "I32", 1, 8},
          {"weight_scale", "BF16", 1, 32},
          {"weight_zero_point", "I32", 8, 32}}},
        {ROOF_PRECISION_MXFP4, {{"weight_packed", "U8", 1, 2}, {"weight_scale", "U8", 1, 32}}},
        {ROOF_PRECISION_MXFP4, {{"weight_packed", "U8", 1, 2}, {"weight_scale", "F8_E8M0", 1, 32}}},
        {ROOF_PRECISION_MXFP4, {{"weight", "U8", 1, 2}, {"weight_scale", "U8", 1, 32}}},
        {ROOF_PRECISION_MXFP8_E4M3, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "U8", 1, 32}}},
        {ROOF_PRECISION_MXFP8_E4M3,
         {{"weight", "F8_E4M3", 1, 1}, {"weight_scale_inv", "U8", 1, 32}}},
        {ROOF_PRECISION_MXFP8_E5M2, {{"weight", "F8_E5M2", 1, 1}, {"weight_scale", "U8", 1, 32}}},
        {ROOF_PRECISION_INT8_CHANNEL,
         {{"qweight", "I32", 4, 1}, {"scales", "F16", 128, 1}, {"qzeros", "I32", 128, 4}}},
        {ROOF_PRECISION_NF4_FP32,
         {{"weight", "U8", 1, 2},
          {"weight.absmax", "F32", 1, 64},
          {"weight.quant_map", "F32", 16, 0},
          {"weight.quant_state.bitsandbytes__nf4", "U8", 4, 0}}},
        {ROOF_PRECISION_NF4_DQ,
         {{"weight", "U8", 1, 2},
          {"weight.absmax", "U8", 1, 64},
          {"weight.quant_map", "F32", 16, 0},
          {"weight.nested_absmax", "F32", 64, 0},
          {"weight.nested_quant_map", "F32", 1, 0}}},
        {ROOF_PRECISION_FP4_BNB,
         {{"weight", "U8", 1, 2},
          {"weight.absmax", "F32", 1, 64},
          {"weight.quant_state.bitsandbytes__fp4", "U8", 4, 0}}},
    };
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct roof_model *const m = build_recipe(&recipes[i], state);
        assert_null(m->remarks[0]);
        roof_model_free(m);
    }
}

/* A matrix of 128 x 128 with a single scale is one block if the name of the scale says so, which is
 * that of blocks; otherwise the scale is that of the tensor. */
static void test_single_scale(void **state)
{
    static const char small[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 128, \"num_hidden_layers\": 1,"
        " \"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 128,"
        " \"tie_word_embeddings\": true}";
    static const struct recipe recipes[] = {
        {ROOF_PRECISION_FP8_BLOCK128,
         {{"weight", "F8_E4M3", 1, 1}, {"weight_scale_inv", "F32", 128, 128}}},
        {ROOF_PRECISION_FP8_E4M3,
         {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "F32", 128, 128}}}};
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct builder b = {.prefix = "model."};
        recipe_model(&b, &recipes[i], 128);
        struct roof_model *const m = build(&b, small, state);
        assert_int_equal(FORMAT(m, 0, Q), recipes[i].format);
        assert_int_equal(FORMAT(m, 0, DOWN), recipes[i].format);
        roof_model_free(m);
    }
}

/* Groups of 32 and 64 without zero points have no bytes for them. */
static void test_zeroless(void **state)
{
    static const struct recipe recipes[] = {
        {ROOF_PRECISION_INT4_G64,
         {{"weight_packed", "I32", 1, 8},
          {"weight_scale", "F16", 1, 64},
          {"weight_shape", "I64", 128, 0}}},
        {ROOF_PRECISION_INT4_G32,
         {{"weight_packed", "I32", 1, 8},
          {"weight_scale", "BF16", 1, 32},
          {"weight_shape", "I32", 128, 0}}},
        {ROOF_PRECISION_INT4_G64, {{"qweight", "I32", 8, 1}, {"scales", "F16", 64, 1}}},
        {ROOF_PRECISION_INT4_G32, {{"qweight", "I32", 8, 1}, {"scales", "F16", 32, 1}}},
    };
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct roof_model *const m = build_recipe(&recipes[i], state);
        assert_null(m->remarks[0]);
        roof_model_free(m);
    }
}

static void test_unknown_formats(void **state)
{
    static const struct recipe recipes[] = {
        {0, {{"weight", "U8", 1, 1}}},
        {0, {{"weight", "I32", 1, 1}}},
        {0, {{"weight", "BOOL", 1, 1}}},
        {0, {{"weight", "BF16", 1, 2}}},
        {0, {{"weight", "BF16", 2, 1}}},
        {0, {{"weight", "I8", 1, 1}, {"weight_scale", "F32", 2, -1}}},
        {0, {{"weight", "U8", 1, 2}, {"weight_scale", "F8_E4M3", 1, 32}}},
        {0, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "U8", 1, 16}}},
        {0, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "U8", 1, 64}}},
        {0, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "U8", 32, 1}}}, /* along the outputs */
        {0, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "I8", 1, 32}}},
        {0, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale", "U8", 0, 0}}},
        {0, {{"weight_packed", "U8", 1, 2}, {"weight_scale", "U8", 1, 16}}},
        {0, {{"weight_packed", "U8", 1, 2}, {"weight_scale", "U8", 32, 1}}},
        {0, {{"weight_packed", "U8", 1, 1}, {"weight_scale", "U8", 1, 32}}},
        {0, {{"weight_packed", "U8", 1, 2}, {"weight_scale", "F16", 1, 32}}},
        {0, {{"weight", "F8_E4M3", 1, 1}, {"weight_scale_inv", "F32", 64, 64}}},
        {0, {{"qweight", "I32", 1, 8}}},
        {0, {{"qweight", "I32", 1, 8}, {"scales", "F16", 16, 1}, {"qzeros", "I32", 16, 8}}},
        {0, {{"qweight", "I32", 1, 8}, {"scales", "F16", 16, 1}}},
        {0, {{"weight_packed", "I32", 1, 8}, {"weight_scale", "BF16", 1, 16}}},
        {0, {{"weight_packed", "I32", 1, 8}, {"weight_scale", "U8", 1, 32}}},
        {0, {{"qweight", "I32", 1, 16}, {"scales", "F16", 128, 1}}},
        {0, {{"scales", "F16", 128, 1}}},
        {0, {{"weight_packed", "U8", 1, 2}}},
    };
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct builder b = {.prefix = "model."};
        recipe_model(&b, &recipes[i], 256);
        build_bad(&b, quantised, state, "layers.0.self_attn.q_proj (");
    }
}

/* --- an index ------------------------------------------------------------------------------ */

static void write_lines(const char *path, const char *const (*lines)[2], size_t count)
{
    struct roof_text map = ROOF_TEXT_INIT;
    for (size_t i = 0; i < count; i++) {
        put_line(&map, "", lines[i][0], lines[i][1]);
    }
    write_index(path, &map);
}

#define ONE "m-1.safetensors"
#define TWO "m-2.safetensors"

/* A layer is in two files; a scale is in another file than its weight. */
static void test_index(void **state)
{
    static const char *const lines[][2] = {
        {"model.embed_tokens.weight", ONE},
        {"model.norm.weight", TWO},
        {"model.layers.0.self_attn.q_proj.weight", ONE},
        {"model.layers.0.self_attn.q_proj.weight_scale_inv", TWO},
        {"model.layers.0.self_attn.k_proj.weight", ONE},
        {"model.layers.0.self_attn.v_proj.weight", ONE},
        {"model.layers.0.self_attn.o_proj.weight", ONE},
        {"model.layers.0.mlp.gate_proj.weight", TWO},
        {"model.layers.0.mlp.up_proj.weight", TWO},
        {"model.layers.0.mlp.down_proj.weight", TWO},
        {"model.extra", TWO},
    };
    char one[PATH_SIZE];
    char two[PATH_SIZE];
    char index[PATH_SIZE];
    struct builder b[2] = {{.prefix = "model."}, {.prefix = "model."}};
    tensor(&b[0], "embed_tokens.weight", "BF16", 256, 256);
    in_layer(&b[0], 0, "self_attn.q_proj.weight", "F8_E4M3", 256, 256);
    in_layer(&b[0], 0, "self_attn.k_proj.weight", "BF16", 256, 256);
    in_layer(&b[0], 0, "self_attn.v_proj.weight", "BF16", 256, 256);
    in_layer(&b[0], 0, "self_attn.o_proj.weight", "BF16", 256, 256);
    in_layer(&b[1], 0, "self_attn.q_proj.weight_scale_inv", "F32", 2, 2);
    in_layer(&b[1], 0, "mlp.gate_proj.weight", "BF16", 256, 256);
    in_layer(&b[1], 0, "mlp.up_proj.weight", "BF16", 256, 256);
    in_layer(&b[1], 0, "mlp.down_proj.weight", "BF16", 256, 256);
    tensor(&b[1], "norm.weight", "BF16", 256, 0);
    write_file(&b[0], path_in(one, state, ONE));
    write_file(&b[1], path_in(two, state, TWO));
    path_in(index, state, "model.safetensors.index.json");
    const size_t count = COUNT(lines) - 1;
    write_lines(index, lines, count);
    struct roof_model *const m = read_model(quantised, index);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_FP8_BLOCK128);
    assert_int_equal(FORMAT(m, 0, DOWN), ROOF_PRECISION_BF16);
    assert_true(m->file_bytes == 2 * 7 * 65536 + 65536 + 16 + 512);
    assert_null(m->remarks[0]);
    roof_model_free(m);
    /* one file alone is not the model */
    expect_bad(quantised, one, ROOF_INVALID, "of a model in several files");
    /* named, but not there; there, but not named; there, but elsewhere */
    write_lines(index, lines, count + 1);
    expect_bad(quantised, index, ROOF_INVALID, "model.extra is not in m-2.safetensors");
    write_lines(index, lines + 1, count - 1);
    expect_bad(quantised, index, ROOF_INVALID, "embed_tokens.weight is missing");
    const char *moved[COUNT(lines)][2];
    memcpy(moved, lines, sizeof lines);
    moved[2][1] = TWO;
    write_lines(index, (const char *const(*)[2])moved, count);
    expect_bad(quantised, index, ROOF_INVALID, "is stored here, but the index says in m-2");
    /* names that are no files of this folder */
    char long_name[300];
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const char *const bad[] = {"../m-1.safetensors", "/etc/passwd", "",       "..", ".",
                               "a\\u0000b",          "a\\nb",       long_name};
    for (size_t i = 0; i < COUNT(bad); i++) {
        moved[2][1] = bad[i];
        write_lines(index, (const char *const(*)[2])moved, count);
        expect_bad(quantised, index, ROOF_INVALID, "");
    }
    moved[2][1] = ONE;
    moved[count][1] = "missing.safetensors";
    write_lines(index, (const char *const(*)[2])moved, count + 1);
    expect_bad(quantised, index, ROOF_IO, "cannot open a file that the index names");
    static const char *const texts[] = {"{}",
                                        "[]",
                                        "{\"weight_map\": {}}",
                                        "{\"weight_map\": []}",
                                        "{\"weight_map\": {\"a\": 1}}",
                                        "",
                                        "{\"weight_map\": {"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        write_bytes(index, texts[i], strlen(texts[i]));
        expect_bad(quantised, index, ROOF_INVALID, "");
    }
    assert_int_equal(unlink(one), 0);
    assert_int_equal(unlink(two), 0);
    assert_int_equal(unlink(index), 0);
}

static void test_too_many_files(void **state)
{
    char index[PATH_SIZE];
    struct roof_text out = ROOF_TEXT_INIT;
    roof_text_put(&out, "{\"weight_map\": {");
    for (int i = 0; i < 4097; i++) {
        roof_text_printf(&out, "%s\"%d\": \"%d\"", i == 0 ? "" : ",", i, i);
    }
    roof_text_put(&out, "}}");
    write_bytes(path_in(index, state, "i.json"), out.data, out.length);
    roof_text_free(&out);
    expect_bad(quantised, index, ROOF_INVALID, "names 4097 files; at most 4096 are read");
    assert_int_equal(unlink(index), 0);
}

/* --- what is refused ----------------------------------------------------------------------- */

static void test_every_truncation(void **state)
{
    char path[PATH_SIZE];
    struct builder b = {.prefix = "model."};
    llama(&b);
    const uint64_t data = b.data;
    write_file(&b, path_in(path, state, "cut.safetensors"));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    const uint64_t header = (uint64_t)info.st_size - data;
    roof_model_free(read_model(LLAMA "}", path));
    for (uint64_t left = header + data - 1; left > header;
         left -= left - header > 9973 ? 9973 : 1) {
        assert_int_equal(truncate(path, (off_t)left), 0);
        expect_bad(LLAMA "}", path, ROOF_INVALID, "of the data, but the file has");
        if (left < header + data - 1 && left - header <= 9973) {
            break;
        }
    }
    for (uint64_t left = header;; left--) {
        assert_int_equal(truncate(path, (off_t)left), 0);
        expect_bad(LLAMA "}", path, ROOF_INVALID, left < 8 ? "too few" : "");
        if (left == 0) {
            break;
        }
    }
    assert_int_equal(unlink(path), 0);
}

static void test_hostile_headers(void **state)
{
    static const struct {
        const char *header;
        const char *reason;
    } cases[] = {
        {"[]", "must be a JSON object"},
        {"{}", "is missing"},
        {"{\"a\": 1}", "a must be an object with dtype"},
        {"{\"a\": {}}", "a must be an object with dtype"},
        {"{\"a\": {\"dtype\": 1}}", "a must be an object with dtype"},
        {"{\"a\": {\"dtype\": \"Q4\"}}", "dtype Q4, which is not known"},
        {"{\"a\": {\"dtype\": \"F32\"}}", "a: shape must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1,1,1,1,1,1,1,1,1]}}", "a: shape must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [-1]}}", "a: shape must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1.5]}}", "a: shape must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [\"1\"]}}", "a: shape must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1e300]}}", "a: shape must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1]}}", "a: data_offsets must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0]}}",
         "a: data_offsets must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4, 8]}}",
         "a: data_offsets must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 0]}}",
         "a: data_offsets must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": {\"x\": 0, \"y\": 4}}}",
         "a: data_offsets must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [1e19, 2e19]}}",
         "a: data_offsets must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [64, 68]}}",
         "a ends at byte 68 of the data, but the file has 64"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 8]}}",
         "a: its shape of F32 makes 4 bytes, but data_offsets say 8"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4294967296, 4294967296, 4294967296, 0],"
         " \"data_offsets\": [0, 8]}}",
         "a: its shape"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [9007199254740992, 9007199254740992],"
         " \"data_offsets\": [0, 0]}}",
         "a: its shape"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [16], \"data_offsets\": [0, 64]},"
         " \"b\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}",
         "up to b have more bytes than the file"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]},"
         " \"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 8]}}",
         "a"},
        {"{\"a\\n\": 1}", "must be an object with dtype"},
        {"{\"a\": ", ""},
        {"{\"\\u0000\": 1}", ""},
        {"{\"__metadata__\": {\"format\": \"pt\"}} x", ""},
    };
    char path[PATH_SIZE];
    path_in(path, state, "hostile.safetensors");
    for (size_t i = 0; i < COUNT(cases); i++) {
        write_header(path, cases[i].header, strlen(cases[i].header), 64);
        expect_bad(LLAMA "}", path, ROOF_INVALID, cases[i].reason);
    }
    struct roof_text deep = ROOF_TEXT_INIT;
    roof_text_put(&deep, "{\"a\": ");
    roof_text_fill(&deep, '[', 100000);
    write_header(path, deep.data, deep.length, 64);
    roof_text_free(&deep);
    expect_bad(LLAMA "}", path, ROOF_INVALID, "");
    assert_int_equal(unlink(path), 0);
}

static void test_hostile_lengths(void **state)
{
    static const struct {
        uint64_t length;
        off_t size;
        const char *reason;
    } cases[] = {
        {0, 100, "would have 0 bytes"},
        {1, 100, "would have 1 bytes"},
        {93, 100, "but the file ends after 100"},
        {UINT64_MAX, 100, "18446744073709551615 bytes; 2 to 100000000"},
        {UINT64_C(1) << 63, 100, "9223372036854775808 bytes"},
        {100000001, (off_t)1 << 40, "would have 100000001 bytes"},
        {100000000, (off_t)1 << 40, "100000000 bytes; at most 16777216 are read"},
    };
    char path[PATH_SIZE];
    path_in(path, state, "lengths.safetensors");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char bytes[8];
        for (int k = 0; k < 8; k++) {
            bytes[k] = (char)(unsigned char)(cases[i].length >> (8 * k));
        }
        write_bytes(path, bytes, sizeof bytes);
        assert_int_equal(truncate(path, cases[i].size), 0);
        expect_bad(LLAMA "}", path, ROOF_INVALID, cases[i].reason);
    }
    assert_int_equal(unlink(path), 0);
}

static void test_wrong_models(void **state)
{
    struct builder b[5] = {{.prefix = "model."},
                           {.prefix = "model."},
                           {.prefix = "model."},
                           {.prefix = "model."},
                           {.prefix = "model."}};
    tensor(&b[0], "embed_tokens.weight", "BF16", 99, 64);
    build_bad(&b[0], LLAMA "}", state,
              "embed_tokens (BF16 of 99 x 64 x 1) does not have the shape of the model: "
              "config.json says 100 x 64");
    llama(&b[1]);
    b[1].prefix = "";
    llama_layer(&b[1], 0, "BF16", "BF16");
    build_bad(&b[1], LLAMA "}", state, "layers.0.self_attn.q_proj is stored twice");
    llama(&b[2]);
    in_layer(&b[2], 0, "self_attn.qkv_proj.weight", "BF16", 128, 64);
    build_bad(&b[2], LLAMA "}", state, "stored twice, under two names");
    tensor(&b[3], "embed_tokens.weight", "BF16", 100, 64);
    llama_layer(&b[3], 0, "BF16", "BF16");
    build_bad(&b[3], LLAMA "}", state, "layers.1.self_attn.q_proj is missing");
    llama(&b[4]);
    in_layer(&b[4], 0, "mlp.experts.0.up_proj.weight", "BF16", 128, 64);
    build_bad(&b[4], LLAMA "}", state, "mlp.experts.0.up_proj");
}

static void test_no_file(void **state)
{
    const char *const folder = *state;
    char path[PATH_SIZE];
    expect_bad(LLAMA "}", path_in(path, state, "none.safetensors"), ROOF_IO, "cannot open");
    expect_bad(LLAMA "}", path_in(path, state, "none.json"), ROOF_IO, "cannot open");
    expect_bad(LLAMA "}", folder, ROOF_IO, "not a regular file");
    expect_bad(LLAMA "}", "/dev/null", ROOF_IO, "not a regular file");
    write_bytes(path_in(path, state, "empty.safetensors"), "", 0);
    expect_bad(LLAMA "}", path, ROOF_INVALID, "0 bytes are too few");
    assert_int_equal(unlink(path), 0);
    /* The reader must not wait for a pipe without a writer; the alarm ends this program if it does.
     */
    path_in(path, state, "pipe.safetensors");
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60);
    expect_bad(LLAMA "}", path, ROOF_IO, "not a regular file");
    alarm(0);
    assert_int_equal(unlink(path), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_llama),
        TEST(test_layers_behind),
        TEST(test_tied),
        TEST(test_unknown_tensors),
        TEST(test_phi),
        TEST(test_phi3),
        TEST(test_gpt2),
        TEST(test_mixtral),
        TEST(test_gpt_oss),
        TEST(test_stacked_experts),
        TEST(test_deepseek),
        TEST(test_quantised),
        TEST(test_single_scale),
        TEST(test_zeroless),
        TEST(test_unknown_formats),
        TEST(test_index),
        TEST(test_too_many_files),
        TEST(test_every_truncation),
        TEST(test_hostile_headers),
        TEST(test_hostile_lengths),
        TEST(test_wrong_models),
        TEST(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
