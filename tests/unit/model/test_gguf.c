// SPDX-License-Identifier: MIT
#include "gguf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- files --------------------------------------------------------------------------------- */

static const struct roof_layer *layer(const struct roof_model *model, int number)
{
    return &model->layer[model->layer_class[number]];
}

#define FORMAT(model, number, weight) layer(model, number)->format[ROOF_WEIGHT_##weight]

/* --- a small Llama ------------------------------------------------------------------------- */

/* 2 layers, 4 heads of 64, 2 of them for K and V, an MLP of 512, 1000 tokens. */
static void llama_metadata_of(struct builder *b, int count)
{
    text(b, "general.architecture", "llama");
    text(b, "general.name", "Tiny \xc3\xa9\xff");
    number(b, "llama.block_count", (uint64_t)count);
    number(b, "llama.embedding_length", 256);
    number(b, "llama.feed_forward_length", 512);
    number(b, "llama.attention.head_count", 4);
    number(b, "llama.attention.head_count_kv", 2);
    number(b, "llama.rope.dimension_count", 64);
    number(b, "llama.context_length", 4096);
}

static void llama_metadata(struct builder *b)
{
    llama_metadata_of(b, 2);
}

static void llama_block(struct builder *b, int i, int v, int down)
{
    in_block(b, i, "attn_norm.weight", F32, 256, 0, 0);
    in_block(b, i, "ffn_norm.weight", F32, 256, 0, 0);
    in_block(b, i, "attn_q.weight", Q4_K, 256, 256, 0);
    in_block(b, i, "attn_k.weight", Q4_K, 256, 128, 0);
    in_block(b, i, "attn_v.weight", v, 256, 128, 0);
    in_block(b, i, "attn_output.weight", Q4_K, 256, 256, 0);
    in_block(b, i, "ffn_gate.weight", Q4_K, 256, 512, 0);
    in_block(b, i, "ffn_up.weight", Q4_K, 256, 512, 0);
    in_block(b, i, "ffn_down.weight", down, 512, 256, 0);
}

static void llama_tensors(struct builder *b)
{
    tensor(b, "token_embd.weight", Q4_K, 256, 1000, 0);
    llama_block(b, 0, Q6_K, Q6_K);
    llama_block(b, 1, Q4_K, Q4_K);
    tensor(b, "output_norm.weight", F32, 256, 0, 0);
}

/* By hand: blocks of 256 elements, Q4_K 144 bytes, Q6_K 210. */
#define LLAMA_EMBEDDING (1000 * 144)
#define LLAMA_COMMON (2 * 1024 + (256 + 128 + 256 + 512 + 512) * 144)
#define LLAMA_FIRST (LLAMA_COMMON + 128 * 210 + 512 * 210)
#define LLAMA_SECOND (LLAMA_COMMON + 128 * 144 + 512 * 144)
#define LLAMA_BYTES (LLAMA_EMBEDDING + LLAMA_FIRST + LLAMA_SECOND + 1024)

static void check_llama(const struct roof_model *m)
{
    assert_int_equal(m->hidden, 256);
    assert_int_equal(m->vocab, 1000);
    assert_int_equal(m->layers, 2);
    assert_int_equal(m->heads, 4);
    assert_int_equal(m->kv_heads, 2);
    assert_int_equal(m->head_dim, 64);
    assert_int_equal(m->rotary_dim, 64);
    assert_int_equal(m->intermediate, 512);
    assert_int_equal(m->positions, 4096);
    assert_int_equal(m->position_rows, 0);
    assert_int_equal(m->window, 0);
    assert_int_equal(m->kv_lora_rank, 0);
    assert_int_equal(m->experts, 0);
    assert_int_equal(m->top_k, 0);
    assert_int_equal(m->expert_intermediate, 0);
    assert_int_equal(m->shared_intermediate, 0);
    assert_true(m->gated && m->norm_gain && m->stored);
    assert_false(m->layernorm || m->qkv_bias || m->o_bias || m->mlp_bias || m->expert_bias);
    assert_false(m->router_bias || m->qk_norm || m->post_norms || m->parallel || m->sinks);
    assert_false(m->shared_gate);
    assert_int_equal(m->layer_classes, 2);
    for (int i = 0; i < 2; i++) {
        const int mixed = i == 0 ? ROOF_PRECISION_Q6_K : ROOF_PRECISION_Q4_K;
        assert_false(layer(m, i)->windowed || layer(m, i)->moe);
        assert_int_equal(FORMAT(m, i, NORM), ROOF_PRECISION_FP32);
        assert_int_equal(FORMAT(m, i, Q), ROOF_PRECISION_Q4_K);
        assert_int_equal(FORMAT(m, i, K), ROOF_PRECISION_Q4_K);
        assert_int_equal(FORMAT(m, i, V), mixed);
        assert_int_equal(FORMAT(m, i, O), ROOF_PRECISION_Q4_K);
        assert_int_equal(FORMAT(m, i, GATE), ROOF_PRECISION_Q4_K);
        assert_int_equal(FORMAT(m, i, UP), ROOF_PRECISION_Q4_K);
        assert_int_equal(FORMAT(m, i, DOWN), mixed);
        assert_int_equal(FORMAT(m, i, EXPERT_UP), ROOF_PRECISION_AUTO);
    }
    assert_int_equal(m->format[ROOF_WEIGHT_EMBEDDING], ROOF_PRECISION_Q4_K);
    assert_int_equal(m->format[ROOF_WEIGHT_NORM], ROOF_PRECISION_FP32);
}

static void test_tied_llama(void **state)
{
    struct builder b = {0};
    llama_metadata(&b);
    llama_tensors(&b);
    struct roof_model *const m = build(&b, state);
    check_llama(m);
    assert_true(m->tied);
    assert_int_equal(m->format[ROOF_WEIGHT_LM_HEAD], ROOF_PRECISION_Q4_K);
    assert_true(m->file_bytes == LLAMA_BYTES);
    assert_int_equal(LLAMA_BYTES, 854912);
    assert_string_equal(m->name, "Tiny \xc3\xa9?");
    assert_non_null(strstr(m->id, "/model.gguf"));
    assert_null(m->remarks[0]);
    roof_model_free(m);
}

static void test_untied_llama(void **state)
{
    static const int widths[] = {512, 0}; /* an array with one value beside zeros */
    static const int heads[] = {4, 4};
    static const int kv_heads[] = {2, 2};
    struct builder b = {.version = 2};
    /* the architecture is not first, and numbers have other types */
    entry(&b, "llama.block_count", 10);
    put(&b.meta, 2, 8);
    entry(&b, "llama.embedding_length", 2);
    put(&b.meta, 256, 2);
    list(&b, "llama.feed_forward_length", widths, 2);
    list(&b, "llama.attention.head_count", heads, 2);
    list(&b, "llama.attention.head_count_kv", kv_heads, 2);
    number(&b, "llama.attention.key_length", 64);
    number(&b, "llama.attention.value_length", 64);
    number(&b, "llama.context_length", 4096);
    number(&b, "llama.vocab_size", 1000);
    number(&b, "llama.expert_count", 0);
    number(&b, "llama.expert_used_count", 2); /* of none */
    number(&b, "other.block_count", 7);
    text(&b, "general.architecture", "llama");
    /* values of every kind, passed over: a vocabulary, arrays in arrays, a long key, booleans */
    entry(&b, "tokenizer.ggml.tokens", 9);
    put(&b.meta, 8, 4);
    put(&b.meta, 3, 8);
    put_string(&b.meta, "a");
    put_string(&b.meta, "");
    put_string(&b.meta, "ccc");
    entry(&b, "nested", 9);
    put(&b.meta, 9, 4);
    put(&b.meta, 2, 8);
    for (int i = 0; i < 2; i++) {
        put(&b.meta, 12, 4);
        put(&b.meta, 2, 8);
        put(&b.meta, 0, 8);
        put(&b.meta, 0, 8);
    }
    char key[400];
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    entry(&b, key, 7);
    put(&b.meta, 1, 1);
    tensor(&b, "output.weight", Q6_K, 256, 1000, 0);
    llama_tensors(&b);
    tensor(&b, "rope_freqs.weight", F32, 32, 0, 0);
    tensor(&b, "v.blk.0.attn_q.weight", F32, 32, 32, 0);
    struct roof_model *const m = build(&b, state);
    check_llama(m);
    assert_false(m->tied);
    assert_int_equal(m->format[ROOF_WEIGHT_LM_HEAD], ROOF_PRECISION_Q6_K);
    assert_true(m->file_bytes == LLAMA_BYTES + 1000 * 210);
    assert_string_equal(m->name, m->id); /* no general.name */
    assert_null(m->remarks[0]);
    roof_model_free(m);
}

/* block_count has the blocks for multi-token prediction in it: those are left out, be they stored
 * or not, and blocks behind it contradict it. */
static void test_blocks_behind(void **state)
{
    static const struct {
        int blocks; /* of the metadata */
        int extra;  /* -1: not said */
        int stored;
        const char *bad;
    } cases[] = {
        {2, 0, 2, NULL},
        {3, 1, 3, NULL},
        {4, 2, 4, NULL},
        {3, 1, 2, NULL},
        {2, -1, 3, "blk.2.attn_norm.weight: llama.block_count is 2"},
        {2, -1, 8, "blk.2.attn_norm.weight: llama.block_count is 2"},
        {2, 1, 3, "blk.2.attn_norm.weight: llama.block_count is 2"},
        {3, 1, 4, "blk.3.attn_norm.weight: llama.block_count is 3"},
        {3, -1, 2, "blk.2.attn_q.weight is missing"},
        {4, 1, 2, "blk.2.attn_q.weight is missing"},
        {2, 2, 2, "nextn_predict_layers must be below the 2 of block_count"},
        {2, 3, 2, "nextn_predict_layers must be below the 2 of block_count"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct builder b = {0};
        llama_metadata_of(&b, cases[i].blocks);
        if (cases[i].extra >= 0) {
            number(&b, "llama.nextn_predict_layers", (uint64_t)cases[i].extra);
        }
        llama_tensors(&b);
        for (int k = 2; k < cases[i].stored; k++) {
            llama_block(&b, k, Q6_K, Q6_K);
        }
        if (cases[i].bad != NULL) {
            build_bad(&b, state, cases[i].bad);
            continue;
        }
        struct roof_model *const m = build(&b, state);
        check_llama(m);
        assert_true(m->file_bytes == LLAMA_BYTES);
        assert_int_equal(has_note(m, "multi-token prediction"), cases[i].extra > 0);
        roof_model_free(m);
    }
}

/* Whatever the tensor is, a number that is not that of a block contradicts; other names do not. */
static void test_names_behind(void **state)
{
    static const struct {
        const char *name;
        bool bad;
    } cases[] = {
        {"blk.2.nextn.eh_proj.weight", true},
        {"blk.2.strange", true},
        {"blk.512.attn_q.weight", true},
        {"blk.100000.attn_q.weight", true},
        {"blk.18446744073709551616.attn_q.weight", true}, /* 2^64 */
        {"v.blk.2.attn_q.weight", false},
        {"mtp.blk.2.attn_q.weight", false},
        {"rope_freqs.weight", false},
        {"blk.weight", false},
        {"blk..weight", false},
        {"blk.2", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct builder b = {0};
        llama_metadata(&b);
        llama_tensors(&b);
        tensor(&b, cases[i].name, F32, 32, 0, 0);
        if (cases[i].bad) {
            char reason[128];
            snprintf(reason, sizeof reason, "%s: llama.block_count is 2", cases[i].name);
            build_bad(&b, state, reason);
            continue;
        }
        struct roof_model *const m = build(&b, state);
        check_llama(m);
        assert_true(m->file_bytes == LLAMA_BYTES);
        roof_model_free(m);
    }
}

/* Experts of the metadata must be somewhere; test_mla has them in some blocks only. */
static void test_no_experts(void **state)
{
    struct builder b = {0};
    llama_metadata(&b);
    number(&b, "llama.expert_count", 8);
    number(&b, "llama.expert_used_count", 2);
    llama_tensors(&b);
    build_bad(&b, state, "expert_count is 8, but no block has experts");
}

static void test_unknown_tensors(void **state)
{
    struct builder b = {0};
    llama_metadata(&b);
    llama_tensors(&b);
    in_block(&b, 0, "novelty.weight", F32, 64, 0, 0);
    in_block(&b, 1, "novelty.weight", F32, 64, 0, 0);
    in_block(&b, 0, "attn_q.scale", F32, 1, 0, 0);
    tensor(&b, "strange", F16, 64, 0, 0);
    tensor(&b, "cls.output.weight", F16, 64, 2, 0);
    struct roof_model *m = build(&b, state);
    check_llama(m);
    assert_true(m->file_bytes == LLAMA_BYTES + 4);
    assert_string_equal(m->remarks[0], "unknown vectors of the file are not counted: "
                                       "blk.0.novelty.weight, strange");
    assert_null(m->remarks[1]);
    roof_model_free(m);
    struct builder more = {0};
    llama_metadata(&more);
    llama_tensors(&more);
    static const char *const names[] = {"a1", "a2", "a3", "a4"};
    for (size_t i = 0; i < COUNT(names); i++) {
        tensor(&more, names[i], F32, 8, 1, 0);
    }
    m = build(&more, state);
    assert_true(has_note(m, ": a1, a2, a3 and others"));
    roof_model_free(m);
}

/* A matrix that is not known would make another model, as would some metadata. */
static void test_other_parts(void **state)
{
    static const char *const names[] = {"blk.0.novelty.weight",      "blk.1.indexer.k_norm.weight",
                                        "blk.0.hc_attn_base.weight", "altup_proj.weight",
                                        "blk.0.laurel_l.weight",     "per_layer_token_embd.weight",
                                        "blk.0.cls.weight"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct builder b = {0};
        char reason[128];
        llama_metadata(&b);
        llama_tensors(&b);
        tensor(&b, names[i], F32, 64, i == 1 ? 0 : 2, 0);
        snprintf(reason, sizeof reason, "%s is not known for the architecture llama", names[i]);
        build_bad(&b, state, reason);
    }
    static const struct {
        const char *key;
        int value;
        const char *reason;
    } keys[] = {{"llama.attention.indexer.top_k", 2048, "llama.attention.indexer.top_k is not"},
                {"llama.ssm.inner_size", 1, "llama.ssm.inner_size is not known"},
                {"llama.attention.causal", 0, "llama.attention.causal is false"},
                {"llama.ssm.inner_size", 0, NULL},
                {"llama.attention.causal", 1, NULL}};
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct builder b = {0};
        llama_metadata(&b);
        llama_tensors(&b);
        number(&b, keys[i].key, (uint64_t)keys[i].value);
        if (keys[i].reason != NULL) {
            build_bad(&b, state, keys[i].reason);
            continue;
        }
        struct roof_model *const m = build(&b, state);
        check_llama(m);
        roof_model_free(m);
    }
}

/* --- other architectures ------------------------------------------------------------------- */

/* Biases, sinks, experts in MXFP4 and a window on the even layers. */
static void test_gpt_oss(void **state)
{
    struct builder b = {0};
    text(&b, "general.architecture", "gpt-oss");
    number(&b, "gpt-oss.block_count", 4);
    number(&b, "gpt-oss.embedding_length", 64);
    number(&b, "gpt-oss.feed_forward_length", 32);
    number(&b, "gpt-oss.expert_feed_forward_length", 32);
    number(&b, "gpt-oss.attention.head_count", 4);
    number(&b, "gpt-oss.attention.head_count_kv", 1);
    number(&b, "gpt-oss.attention.key_length", 32);
    number(&b, "gpt-oss.attention.value_length", 32);
    number(&b, "gpt-oss.attention.sliding_window", 128);
    number(&b, "gpt-oss.expert_count", 8);
    number(&b, "gpt-oss.expert_used_count", 2);
    tensor(&b, "token_embd.weight", Q8_0, 64, 100, 0);
    tensor(&b, "output.weight", Q8_0, 64, 100, 0);
    tensor(&b, "output_norm.weight", F32, 64, 0, 0);
    for (int i = 0; i < 4; i++) {
        in_block(&b, i, "attn_norm.weight", F32, 64, 0, 0);
        in_block(&b, i, "post_attention_norm.weight", F32, 64, 0, 0);
        in_block(&b, i, "attn_q.weight", Q8_0, 64, 128, 0);
        in_block(&b, i, "attn_q.bias", F32, 128, 0, 0);
        in_block(&b, i, "attn_k.weight", Q8_0, 64, 32, 0);
        in_block(&b, i, "attn_k.bias", F32, 32, 0, 0);
        in_block(&b, i, "attn_v.weight", Q8_0, 64, 32, 0);
        in_block(&b, i, "attn_v.bias", F32, 32, 0, 0);
        in_block(&b, i, "attn_output.weight", Q8_0, 128, 64, 0);
        in_block(&b, i, "attn_output.bias", F32, 64, 0, 0);
        in_block(&b, i, "attn_sinks.weight", F32, 4, 0, 0);
        in_block(&b, i, "ffn_gate_inp.weight", F32, 64, 8, 0);
        in_block(&b, i, "ffn_gate_inp.bias", F32, 8, 0, 0);
        in_block(&b, i, "ffn_gate_exps.weight", MXFP4, 64, 32, 8);
        in_block(&b, i, "ffn_gate_exps.bias", F32, 32, 8, 0);
        in_block(&b, i, "ffn_up_exps.weight", MXFP4, 64, 32, 8);
        in_block(&b, i, "ffn_up_exps.bias", F32, 32, 8, 0);
        in_block(&b, i, "ffn_down_exps.weight", MXFP4, 32, 64, 8);
        in_block(&b, i, "ffn_down_exps.bias", F32, 64, 8, 0);
    }
    struct roof_model *const m = build(&b, state);
    assert_int_equal(m->experts, 8);
    assert_int_equal(m->top_k, 2);
    assert_int_equal(m->expert_intermediate, 32);
    assert_int_equal(m->shared_intermediate, 0);
    assert_int_equal(m->kv_heads, 1);
    assert_int_equal(m->head_dim, 32);
    assert_int_equal(m->rotary_dim, 32);
    assert_int_equal(m->window, 128);
    assert_true(m->gated && m->sinks && m->qkv_bias && m->o_bias && m->expert_bias);
    assert_true(m->router_bias);
    assert_false(m->mlp_bias || m->post_norms || m->parallel || m->tied || m->layernorm);
    assert_int_equal(m->layer_classes, 2);
    for (int i = 0; i < 4; i++) {
        assert_true(layer(m, i)->moe);
        assert_int_equal(layer(m, i)->windowed, i % 2 == 0);
        assert_int_equal(FORMAT(m, i, ROUTER), ROOF_PRECISION_FP32);
        assert_int_equal(FORMAT(m, i, EXPERT_GATE), ROOF_PRECISION_MXFP4);
        assert_int_equal(FORMAT(m, i, EXPERT_DOWN), ROOF_PRECISION_MXFP4);
        assert_int_equal(FORMAT(m, i, Q), ROOF_PRECISION_Q8_0);
        assert_int_equal(FORMAT(m, i, GATE), ROOF_PRECISION_AUTO);
    }
    /* Q8_0: 34 bytes for 32; MXFP4: 17 for 32 */
    const int attention = 2 * (128 + 32 + 32) * 34 + 4 * 64 * 34;
    const int vectors = 4 * (64 + 64 + 128 + 32 + 32 + 64 + 4 + 8);
    const int experts = 3 * 8 * 2 * 32 * 17 + 4 * 8 * (32 + 32 + 64);
    const int ends = 2 * 100 * 2 * 34 + 4 * 64;
    assert_true(m->file_bytes == ends + 4 * (attention + vectors + 4 * 64 * 8 + experts));
    roof_model_free(m);
}

/* With what newer files have: kv_b in halves, a block for multi-token prediction. */
static void deepseek(struct builder *b, bool halves, bool mla_lengths)
{
    text(b, "general.architecture", "deepseek2");
    number(b, "deepseek2.block_count", 3);
    number(b, "deepseek2.embedding_length", 64);
    number(b, "deepseek2.feed_forward_length", 128);
    number(b, "deepseek2.leading_dense_block_count", 1);
    number(b, "deepseek2.attention.head_count", 2);
    number(b, "deepseek2.attention.head_count_kv", 1);
    number(b, "deepseek2.attention.q_lora_rank", 32);
    number(b, "deepseek2.attention.kv_lora_rank", 48);
    number(b, "deepseek2.rope.dimension_count", 16);
    number(b, "deepseek2.attention.key_length", mla_lengths ? 64 : 40);
    number(b, "deepseek2.attention.value_length", mla_lengths ? 48 : 20);
    if (mla_lengths) {
        number(b, "deepseek2.attention.key_length_mla", 40);
        number(b, "deepseek2.attention.value_length_mla", 20);
    }
    number(b, "deepseek2.expert_count", 4);
    number(b, "deepseek2.expert_used_count", 2);
    number(b, "deepseek2.expert_feed_forward_length", 32);
    number(b, "deepseek2.expert_shared_count", 2);
    tensor(b, "token_embd.weight", F16, 64, 100, 0);
    tensor(b, "output.weight", F16, 64, 100, 0);
    tensor(b, "output_norm.weight", F32, 64, 0, 0);
    for (int i = 0; i < 3; i++) {
        in_block(b, i, "attn_norm.weight", F32, 64, 0, 0);
        in_block(b, i, "ffn_norm.weight", F32, 64, 0, 0);
        in_block(b, i, "attn_q_a.weight", F16, 64, 32, 0);
        in_block(b, i, "attn_q_a_norm.weight", F32, 32, 0, 0);
        in_block(b, i, "attn_q_b.weight", F16, 32, 80, 0);
        in_block(b, i, "attn_kv_a_mqa.weight", F16, 64, 64, 0);
        in_block(b, i, "attn_kv_a_norm.weight", F32, 48, 0, 0);
        in_block(b, i, "attn_kv_b.weight", F16, 48, 88, 0);
        if (halves) {
            in_block(b, i, "attn_k_b.weight", F16, 24, 48, 2);
            in_block(b, i, "attn_v_b.weight", F32, 48, 20, 2);
        }
        in_block(b, i, "attn_output.weight", F16, 40, 64, 0);
        if (i == 0) {
            in_block(b, i, "ffn_gate.weight", F16, 64, 128, 0);
            in_block(b, i, "ffn_up.weight", F16, 64, 128, 0);
            in_block(b, i, "ffn_down.weight", F16, 128, 64, 0);
            continue;
        }
        in_block(b, i, "ffn_gate_inp.weight", F32, 64, 4, 0);
        in_block(b, i, "exp_probs_b.bias", F32, 4, 0, 0);
        in_block(b, i, "ffn_gate_exps.weight", Q8_0, 64, 32, 4);
        in_block(b, i, "ffn_up_exps.weight", Q8_0, 64, 32, 4);
        in_block(b, i, "ffn_down_exps.weight", Q8_0, 32, 64, 4);
        in_block(b, i, "ffn_gate_shexp.weight", F16, 64, 64, 0);
        in_block(b, i, "ffn_up_shexp.weight", F16, 64, 64, 0);
        in_block(b, i, "ffn_down_shexp.weight", F16, 64, 64, 0);
    }
    in_block(b, 2, "nextn.eh_proj.weight", F16, 128, 64, 0);
}

static void check_deepseek(const struct roof_model *m, int kv_b_bytes, int kv_b_format)
{
    assert_int_equal(m->layers, 2);
    assert_true(has_note(m, "multi-token prediction"));
    assert_int_equal(m->heads, 2);
    assert_int_equal(m->kv_heads, 2);
    assert_int_equal(m->q_lora_rank, 32);
    assert_int_equal(m->kv_lora_rank, 48);
    assert_int_equal(m->qk_rope_head_dim, 16);
    assert_int_equal(m->qk_nope_head_dim, 24);
    assert_int_equal(m->v_head_dim, 20);
    assert_int_equal(m->head_dim, 40);
    assert_int_equal(m->rotary_dim, 16);
    assert_int_equal(m->intermediate, 128);
    assert_int_equal(m->expert_intermediate, 32);
    assert_int_equal(m->shared_intermediate, 64);
    assert_int_equal(m->top_k, 2);
    assert_true(m->router_bias && m->gated);
    assert_false(m->shared_gate || m->qk_norm);
    assert_int_equal(m->layer_classes, 2);
    assert_false(layer(m, 0)->moe);
    assert_true(layer(m, 1)->moe);
    assert_int_equal(FORMAT(m, 0, Q_A), ROOF_PRECISION_FP16);
    assert_int_equal(FORMAT(m, 0, KV_B), kv_b_format);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_AUTO);
    assert_int_equal(FORMAT(m, 0, DOWN), ROOF_PRECISION_FP16);
    assert_int_equal(FORMAT(m, 1, EXPERT_DOWN), ROOF_PRECISION_Q8_0);
    assert_int_equal(FORMAT(m, 1, SHARED_UP), ROOF_PRECISION_FP16);
    const int vectors = 4 * (64 + 64 + 32 + 48);
    const int attention = 2 * (64 * 32 + 32 * 80 + 64 * 64 + 40 * 64) + kv_b_bytes + vectors;
    const int dense = 2 * 3 * 64 * 128;
    const int moe = 4 * 64 * 4 + 4 * 4 + 3 * 4 * 64 * 34 + 2 * 3 * 64 * 64;
    const int ends = 2 * 2 * 64 * 100 + 4 * 64;
    assert_true(m->file_bytes == ends + 2 * attention + dense + moe);
}

static void test_mla(void **state)
{
    struct builder whole = {0};
    deepseek(&whole, false, false);
    struct roof_model *m = build(&whole, state);
    check_deepseek(m, 2 * 48 * 88, ROOF_PRECISION_FP16);
    roof_model_free(m);
    struct builder halves = {0};
    deepseek(&halves, true, true);
    m = build(&halves, state);
    check_deepseek(m, 2 * 24 * 48 * 2 + 4 * 48 * 20 * 2, ROOF_PRECISION_FP32);
    roof_model_free(m);
}

/* Norms around both parts, a norm over heads of 32, and windows in a pattern of six. */
static void gemma(struct builder *b, const char *architecture, int layers)
{
    char key[64];
    text(b, "general.architecture", architecture);
    static const struct {
        const char *name;
        int value;
    } values[] = {{"embedding_length", 64},         {"feed_forward_length", 96},
                  {"attention.head_count", 4},      {"attention.head_count_kv", 2},
                  {"attention.key_length", 32},     {"attention.value_length", 32},
                  {"attention.sliding_window", 512}};
    snprintf(key, sizeof key, "%s.block_count", architecture);
    number(b, key, (uint64_t)layers);
    for (size_t i = 0; i < COUNT(values); i++) {
        snprintf(key, sizeof key, "%s.%s", architecture, values[i].name);
        number(b, key, (uint64_t)values[i].value);
    }
    tensor(b, "token_embd.weight", F16, 64, 100, 0);
    tensor(b, "output_norm.weight", F32, 64, 0, 0);
    for (int i = 0; i < layers; i++) {
        in_block(b, i, "attn_norm.weight", F32, 64, 0, 0);
        in_block(b, i, "post_attention_norm.weight", F32, 64, 0, 0);
        in_block(b, i, "ffn_norm.weight", F32, 64, 0, 0);
        in_block(b, i, "post_ffw_norm.weight", F32, 64, 0, 0);
        in_block(b, i, "attn_q_norm.weight", F32, 32, 0, 0);
        in_block(b, i, "attn_k_norm.weight", F32, 32, 0, 0);
        in_block(b, i, "attn_q.weight", F16, 64, 128, 0);
        in_block(b, i, "attn_k.weight", F16, 64, 64, 0);
        in_block(b, i, "attn_v.weight", F16, 64, 64, 0);
        in_block(b, i, "attn_output.weight", F16, 128, 64, 0);
        in_block(b, i, "ffn_gate.weight", F16, 64, 96, 0);
        in_block(b, i, "ffn_up.weight", F16, 64, 96, 0);
        in_block(b, i, "ffn_down.weight", F16, 96, 64, 0);
    }
}

/* These architectures have layers that their files do not describe. */
static void test_other_architectures(void **state)
{
    static const char *const names[] = {"plamo2", "step35", "lfm2moe", "llada"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct builder b = {0};
        char reason[128];
        gemma(&b, names[i], 2);
        snprintf(reason, sizeof reason,
                 "the architecture %s is not read from GGUF files: ", names[i]);
        build_bad(&b, state, reason);
    }
}

static void expect_windows(struct builder *b, void **state, const char *pattern)
{
    struct roof_model *const m = build(b, state);
    assert_int_equal(m->layers, strlen(pattern));
    for (int i = 0; i < (int)m->layers; i++) {
        assert_int_equal(layer(m, i)->windowed, pattern[i] == 'w');
    }
    assert_int_equal(m->window, 512);
    assert_true(m->post_norms && m->qk_norm && m->tied);
    assert_false(m->parallel);
    roof_model_free(m);
}

static void test_windows(void **state)
{
    struct builder b[7] = {{.version = 3}};
    gemma(&b[0], "gemma2", 4);
    expect_windows(&b[0], state, "w.w.");
    gemma(&b[1], "gemma3", 8);
    expect_windows(&b[1], state, "wwwww.ww");
    gemma(&b[2], "mistral", 2);
    expect_windows(&b[2], state, "ww");
    gemma(&b[3], "gemma3", 6);
    number(&b[3], "gemma3.attention.sliding_window_pattern", 3);
    expect_windows(&b[3], state, "ww.ww.");
    gemma(&b[4], "novel", 3);
    entry(&b[4], "novel.attention.sliding_window_pattern", 9);
    put(&b[4].meta, 7, 4);
    put(&b[4].meta, 3, 8);
    put(&b[4].meta, 0x010001, 3);
    expect_windows(&b[4], state, "w.w");
    gemma(&b[5], "gemma3", 3);
    entry(&b[5], "gemma3.attention.sliding_window_pattern", 9);
    put(&b[5].meta, 7, 4);
    put(&b[5].meta, 2, 8);
    put(&b[5].meta, 0x0101, 2);
    build_bad(&b[5], state, "2 entries for 3 layers");
    gemma(&b[6], "novel", 3);
    build_bad(&b[6], state, "attention.sliding_window without a pattern");
}

/* Phi-2: one norm for attention and MLP, and a head with a bias. */
static void test_phi2(void **state)
{
    struct builder b = {0};
    text(&b, "general.architecture", "phi2");
    number(&b, "phi2.block_count", 1);
    number(&b, "phi2.embedding_length", 64);
    number(&b, "phi2.feed_forward_length", 96);
    number(&b, "phi2.attention.head_count", 4);
    number(&b, "phi2.rope.dimension_count", 8);
    tensor(&b, "token_embd.weight", F16, 64, 100, 0);
    tensor(&b, "output.weight", Q8_0, 64, 100, 0);
    tensor(&b, "output.bias", F32, 100, 0, 0);
    tensor(&b, "output_norm.weight", F32, 64, 0, 0);
    tensor(&b, "output_norm.bias", F32, 64, 0, 0);
    in_block(&b, 0, "attn_norm.weight", F32, 64, 0, 0);
    in_block(&b, 0, "attn_norm.bias", F32, 64, 0, 0);
    in_block(&b, 0, "attn_qkv.weight", F16, 64, 192, 0);
    in_block(&b, 0, "attn_qkv.bias", F32, 192, 0, 0);
    in_block(&b, 0, "attn_output.weight", F16, 64, 64, 0);
    in_block(&b, 0, "attn_output.bias", F32, 64, 0, 0);
    in_block(&b, 0, "ffn_up.weight", F16, 64, 96, 0);
    in_block(&b, 0, "ffn_up.bias", F32, 96, 0, 0);
    in_block(&b, 0, "ffn_down.weight", F16, 96, 64, 0);
    in_block(&b, 0, "ffn_down.bias", F32, 64, 0, 0);
    struct roof_model *const m = build(&b, state);
    assert_true(m->head_bias && m->qkv_bias && m->o_bias && m->mlp_bias && m->parallel);
    assert_false(m->gated || m->tied || m->own_norms);
    const int layer0 = 2 * (64 * 192 + 64 * 64 + 2 * 64 * 96) + 4 * (2 * 64 + 192 + 64 + 96 + 64);
    assert_true(m->file_bytes == 2 * 6400 + 200 * 34 + 4 * (100 + 2 * 64) + layer0);
    roof_model_free(m);
}

/* Fused projections: QKV in one, gate and up in one. */
static void test_phi3(void **state)
{
    struct builder b = {0};
    text(&b, "general.architecture", "phi3");
    number(&b, "phi3.block_count", 1);
    number(&b, "phi3.embedding_length", 64);
    number(&b, "phi3.feed_forward_length", 96);
    number(&b, "phi3.attention.head_count", 4);
    number(&b, "phi3.attention.head_count_kv", 2);
    number(&b, "phi3.rope.dimension_count", 8);
    tensor(&b, "token_embd.weight", F16, 64, 100, 0);
    tensor(&b, "output.weight", Q8_0, 64, 100, 0);
    tensor(&b, "output_norm.weight", F32, 64, 0, 0);
    tensor(&b, "rope_factors_long.weight", F32, 8, 0, 0);
    in_block(&b, 0, "attn_norm.weight", F32, 64, 0, 0);
    in_block(&b, 0, "ffn_norm.weight", F32, 64, 0, 0);
    in_block(&b, 0, "attn_qkv.weight", Q8_0, 64, 128, 0);
    in_block(&b, 0, "attn_output.weight", F16, 64, 64, 0);
    in_block(&b, 0, "ffn_up.weight", Q8_0, 64, 192, 0);
    in_block(&b, 0, "ffn_down.weight", F16, 96, 64, 0);
    struct roof_model *const m = build(&b, state);
    assert_true(m->gated);
    assert_int_equal(m->rotary_dim, 8);
    assert_int_equal(m->head_dim, 16);
    assert_int_equal(FORMAT(m, 0, Q), ROOF_PRECISION_Q8_0);
    assert_int_equal(FORMAT(m, 0, K), ROOF_PRECISION_Q8_0);
    assert_int_equal(FORMAT(m, 0, V), ROOF_PRECISION_Q8_0);
    assert_int_equal(FORMAT(m, 0, GATE), ROOF_PRECISION_Q8_0);
    assert_int_equal(FORMAT(m, 0, UP), ROOF_PRECISION_Q8_0);
    const int layer0 = 2 * 256 + 128 * 2 * 34 + 2 * 64 * 64 + 192 * 2 * 34 + 2 * 96 * 64;
    assert_true(m->file_bytes == 2 * 6400 + 200 * 34 + 256 + layer0);
    roof_model_free(m);
}

/* LayerNorm, biases, learned positions, an MLP without a gate. */
static void test_gpt2(void **state)
{
    struct builder b = {0};
    text(&b, "general.architecture", "gpt2");
    number(&b, "gpt2.block_count", 1);
    number(&b, "gpt2.embedding_length", 64);
    number(&b, "gpt2.feed_forward_length", 256);
    number(&b, "gpt2.attention.head_count", 4);
    number(&b, "gpt2.context_length", 128);
    tensor(&b, "position_embd.weight", F32, 64, 128, 0);
    tensor(&b, "token_embd.weight", Q8_0, 64, 100, 0);
    tensor(&b, "output_norm.weight", F32, 64, 0, 0);
    tensor(&b, "output_norm.bias", F32, 64, 0, 0);
    static const char *const norms[] = {"attn_norm.weight", "attn_norm.bias", "ffn_norm.weight",
                                        "ffn_norm.bias",    "ffn_down.bias",  "attn_output.bias"};
    for (size_t i = 0; i < COUNT(norms); i++) {
        in_block(&b, 0, norms[i], F32, 64, 0, 0);
    }
    in_block(&b, 0, "attn_qkv.weight", Q8_0, 64, 192, 0);
    in_block(&b, 0, "attn_qkv.bias", F32, 192, 0, 0);
    in_block(&b, 0, "attn_output.weight", Q8_0, 64, 64, 0);
    in_block(&b, 0, "ffn_up.weight", Q8_0, 64, 256, 0);
    in_block(&b, 0, "ffn_up.bias", F32, 256, 0, 0);
    in_block(&b, 0, "ffn_down.weight", Q8_0, 256, 64, 0);
    struct roof_model *const m = build(&b, state);
    assert_true(m->layernorm && m->qkv_bias && m->o_bias && m->mlp_bias && m->tied);
    assert_false(m->gated || m->parallel || m->post_norms);
    assert_int_equal(m->position_rows, 128);
    assert_int_equal(m->positions, 128);
    assert_int_equal(m->rotary_dim, 0);
    assert_int_equal(m->kv_heads, 4);
    assert_int_equal(m->format[ROOF_WEIGHT_EMBEDDING], ROOF_PRECISION_Q8_0);
    const int matrices = (192 * 2 + 64 * 2 + 256 * 2 + 64 * 8) * 34;
    const int vectors = 4 * (6 * 64 + 192 + 256);
    assert_true(m->file_bytes == 4 * 64 * 128 + 200 * 34 + 512 + matrices + vectors);
    roof_model_free(m);
}

/* Parallel attention and MLP, no positions, gates and ups of the experts in one tensor. */
static void test_odd_parts(void **state)
{
    struct builder b = {0};
    text(&b, "general.architecture", "odd");
    number(&b, "odd.block_count", 1);
    number(&b, "odd.embedding_length", 64);
    number(&b, "odd.attention.head_count", 4);
    number(&b, "odd.attention.sliding_window", 16);
    number(&b, "odd.attention.sliding_window_pattern", 2);
    number(&b, "odd.expert_count", 2);
    number(&b, "odd.expert_used_count", 1);
    entry(&b, "odd.attention.max_alibi_bias", 6);
    put(&b.meta, 0x41000000, 4);
    tensor(&b, "token_embd.weight", F16, 64, 100, 0);
    in_block(&b, 0, "attn_norm.weight", F32, 64, 0, 0);
    in_block(&b, 0, "attn_qkv.weight", F16, 64, 192, 0);
    in_block(&b, 0, "attn_output.weight", F16, 64, 64, 0);
    in_block(&b, 0, "ffn_gate_inp.weight", F32, 64, 2, 0);
    in_block(&b, 0, "ffn_gate_up_exps.weight", Q8_0, 64, 64, 2);
    in_block(&b, 0, "ffn_down_exps.weight", F16, 32, 64, 2);
    struct roof_model *const m = build(&b, state);
    assert_true(m->parallel && m->gated && layer(m, 0)->moe && layer(m, 0)->windowed);
    assert_true(has_note(m, "the architecture of the file is not known"));
    assert_int_equal(m->rotary_dim, 0);
    assert_int_equal(m->expert_intermediate, 32);
    assert_int_equal(FORMAT(m, 0, EXPERT_GATE), ROOF_PRECISION_Q8_0);
    assert_int_equal(FORMAT(m, 0, EXPERT_UP), ROOF_PRECISION_Q8_0);
    assert_int_equal(FORMAT(m, 0, EXPERT_DOWN), ROOF_PRECISION_FP16);
    assert_true(m->file_bytes ==
                2 * 64 * (100 + 192 + 64) + 256 + 512 + 64 * 2 * 2 * 34 + 2 * 2 * 2048);
    roof_model_free(m);
}

/* --- several files ------------------------------------------------------------------------- */

static void split_entries(struct builder *b, int part, int parts, int tensors)
{
    entry(b, "split.no", 2);
    put(&b->meta, (uint64_t)part, 2);
    entry(b, "split.count", 2);
    put(&b->meta, (uint64_t)parts, 2);
    entry(b, "split.tensors.count", 5);
    put(&b->meta, (uint64_t)tensors, 4);
}

static void write_parts(void **state, int second_part, int tensors)
{
    char path[PATH_SIZE];
    struct builder b[3] = {{.version = 3}};
    llama_metadata(&b[0]);
    split_entries(&b[0], 0, 3, tensors);
    tensor(&b[0], "token_embd.weight", Q4_K, 256, 1000, 0);
    split_entries(&b[1], second_part, 3, tensors);
    llama_block(&b[1], 0, Q6_K, Q6_K);
    split_entries(&b[2], 2, 3, tensors);
    llama_block(&b[2], 1, Q4_K, Q4_K);
    tensor(&b[2], "output_norm.weight", F32, 256, 0, 0);
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "m-0000%d-of-00003.gguf", i + 1);
        write_file(&b[i], path_in(path, state, name));
        free_builder(&b[i]);
    }
}

static void test_several_files(void **state)
{
    char path[PATH_SIZE];
    char second[PATH_SIZE];
    char third[PATH_SIZE];
    char odd[PATH_SIZE];
    path_in(path, state, "m-00001-of-00003.gguf");
    path_in(second, state, "m-00002-of-00003.gguf");
    path_in(third, state, "m-00003-of-00003.gguf");
    path_in(odd, state, "m.gguf");
    write_parts(state, 1, 20);
    struct roof_model *const m = read_model(path);
    check_llama(m);
    assert_true(m->file_bytes == LLAMA_BYTES);
    assert_string_equal(m->id, path);
    roof_model_free(m);
    expect_bad(second, ROOF_INVALID, "part 2 of a model in 3 files; name the first");
    assert_int_equal(rename(path, odd), 0);
    expect_bad(odd, ROOF_INVALID, "-00001-of-00003.gguf");
    assert_int_equal(rename(odd, path), 0);
    write_parts(state, 0, 20);
    expect_bad(path, ROOF_INVALID, "part 1 of 3, not part 2 of 3");
    write_parts(state, 1, 21);
    expect_bad(path, ROOF_INVALID, "20 tensors together, not the 21");
    /* a tensor in two files */
    assert_int_equal(unlink(third), 0);
    struct builder b = {0};
    split_entries(&b, 2, 3, 20);
    llama_block(&b, 0, Q6_K, Q6_K);
    write_file(&b, third);
    free_builder(&b);
    expect_bad(path, ROOF_INVALID, "blk.0.attn_norm.weight appears twice");
    /* a file that is missing is named */
    assert_int_equal(unlink(third), 0);
    struct roof_model *const none = roof_model_new();
    struct roof_error error = {0};
    assert_int_equal(roof_gguf_read(none, path, &error), ROOF_IO);
    roof_model_free(none);
    assert_string_equal(error.source, third);
    assert_non_null(strstr(error.message, "part 3 of the model's 3 files"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(second), 0);
}

/* --- what is refused ----------------------------------------------------------------------- */

static void test_every_truncation(void **state)
{
    char path[PATH_SIZE];
    struct builder b = {0};
    llama_metadata(&b);
    entry(&b, "tokenizer.ggml.tokens", 9);
    put(&b.meta, 8, 4);
    put(&b.meta, 2, 8);
    put_string(&b.meta, "a");
    put_string(&b.meta, "bb");
    llama_tensors(&b);
    write_file(&b, path_in(path, state, "cut.gguf"));
    roof_model_free(read_model(path));
    const uint64_t whole = (b.header + 31) / 32 * 32 + b.data;
    /* without the last byte of the last tensor (its padding is none) */
    for (uint64_t left = whole - 1; left > b.header; left -= left - b.header > 20000 ? 9973 : 7) {
        assert_int_equal(truncate(path, (off_t)left), 0);
        expect_bad(path, ROOF_INVALID, "");
    }
    for (uint64_t left = b.header;; left--) {
        assert_int_equal(truncate(path, (off_t)left), 0);
        expect_bad(path, ROOF_INVALID, left < 4 ? "not a GGUF file" : "");
        if (left == 0) {
            break;
        }
    }
    free_builder(&b);
    assert_int_equal(unlink(path), 0);
}

/* The header of test_tied_llama with bytes changed behind a name. */
struct patch {
    const char *name; /* NULL: from the beginning of the file */
    size_t at;        /* bytes behind its end */
    uint64_t value;
    int bytes;
    const char *reason;
};

static size_t find_bytes(const char *in, size_t length, const char *name)
{
    const size_t wanted = strlen(name);
    for (size_t i = 0; i + wanted <= length; i++) {
        if (memcmp(in + i, name, wanted) == 0) {
            return i + wanted;
        }
    }
    fail_msg("%s is not in the file", name);
    return 0;
}

static void test_hostile_headers(void **state)
{
    static const struct patch patches[] = {
        {NULL, 0, 0x46554748, 4, "not a GGUF file"},
        {NULL, 0, 0x47475546, 4, "big-endian"},
        {NULL, 4, 0x03000000, 4, "big-endian"},
        {NULL, 4, 1, 4, "GGUF version 1; versions 2 and 3 are read"},
        {NULL, 4, 0, 4, "GGUF version 0"},
        {NULL, 4, 4, 4, "GGUF version 4"},
        {NULL, 8, UINT64_C(1) << 63, 8, "claims 9223372036854775808 tensors"},
        {NULL, 8, 200001, 8, "at most 200000 and 100000 are read"},
        {NULL, 16, UINT64_C(1) << 63, 8, "9223372036854775808 metadata entries"},
        {NULL, 16, UINT64_MAX, 8, "metadata entries"},
        {NULL, 24, UINT64_MAX, 8, "ends inside its header"}, /* length of the first key */
        {NULL, 24, UINT64_C(1) << 63, 8, "ends inside its header"},
        {"general.name", 0, 13, 4, "type 13; known are 0 to 12"},
        {"general.name", 4, UINT64_MAX - 7, 8, "ends inside its header"},
        {"general.architecture", 4, 0, 8, ""},
        {"llama.block_count", 0, 6, 4, "must be an integer"},
        {"llama.block_count", 4, 0, 4, "llama.block_count is missing, or 0"},
        {"llama.block_count", 4, 513, 4, "integer from 0 to 512"},
        {"llama.block_count", 4, 3, 4, "blk.2.attn_q.weight is missing"},
        {"llama.attention.head_count", 4, 3, 4, "no multiple"},
        {"llama.attention.head_count_kv", 4, 4, 4, "attn_k.weight is 256 x 128"},
        {"llama.attention.head_count", 4, 8, 4, "at most the head's 32, not 64"},
        {"llama.embedding_length", 4, 0xffffffff, 4, "integer from 0 to 1000000000"},
        {"llama.embedding_length", 0, 6, 4, "must be an integer"},
        {"llama.rope.dimension_count", 4, 65, 4, "at most the head's 64"},
        {"llama.feed_forward_length", 4, 511, 4, "ffn_gate.weight is 256 x 512"},
        {"blk.0.attn_q.weight", 0, 0, 4, "0 dimensions; 1 to 4"},
        {"blk.0.attn_q.weight", 0, 5, 4, "5 dimensions"},
        {"blk.0.attn_q.weight", 0, UINT32_MAX, 4, "4294967295 dimensions"},
        {"blk.0.attn_q.weight", 4, 0, 8, "dimension 1 is 0"},
        {"blk.0.attn_q.weight", 4, UINT64_C(1) << 63, 8, "below 2^63"},
        {"blk.0.attn_q.weight", 4, UINT64_C(1) << 60, 8, "below 2^63"},
        {"blk.0.attn_q.weight", 12, UINT64_C(1) << 62, 8, "below 2^63"},
        {"blk.0.attn_q.weight", 12, UINT64_C(1) << 50, 8, "does not fit into the file"},
        {"blk.0.attn_q.weight", 4, 255, 8, "no multiple of the 256 of a q4_k block"},
        {"blk.0.attn_q.weight", 12, 128, 8, "but the metadata says 256 x 256"},
        {"blk.0.ffn_down.weight", 4, 256, 8, "but the metadata says 512 x 256"},
        {"token_embd.weight", 4, 512, 8, "but the metadata says 256"},
        {"blk.0.attn_q.weight", 20, 4, 4, "ggml type 4; known are"},
        {"blk.0.attn_q.weight", 20, 26, 4, "ggml type 26; known are"},
        {"blk.0.attn_q.weight", 20, 31, 4, "ggml type 31; known are"},
        {"blk.0.attn_q.weight", 20, UINT32_MAX, 4, "ggml type 4294967295"},
        {"blk.0.attn_q.weight", 24, 33, 8, "no multiple of the alignment 32"},
        {"blk.0.attn_q.weight", 24, UINT64_MAX - 31, 8, "does not fit into the file"},
        {"blk.0.attn_q.weight", 24, 854912, 8, "ends behind the end of the file"},
    };
    char path[PATH_SIZE];
    struct builder b = {0};
    llama_metadata(&b);
    llama_tensors(&b);
    write_file(&b, path_in(path, state, "hostile.gguf"));
    char *const header = malloc(b.header);
    char *const changed = malloc(b.header);
    FILE *const file = fopen(path, "rb");
    assert_true(header != NULL && changed != NULL && file != NULL);
    assert_int_equal(fread(header, 1, b.header, file), b.header);
    assert_int_equal(fclose(file), 0);
    const uint64_t whole = (b.header + 31) / 32 * 32 + b.data;
    for (size_t i = 0; i < COUNT(patches); i++) {
        const struct patch *const p = &patches[i];
        const size_t from = p->name == NULL ? 0 : find_bytes(header, b.header, p->name);
        memcpy(changed, header, b.header);
        for (int byte = 0; byte < p->bytes; byte++) {
            changed[from + p->at + (size_t)byte] = (char)(unsigned char)(p->value >> (8 * byte));
        }
        write_bytes(path, changed, b.header);
        assert_int_equal(truncate(path, (off_t)whole), 0);
        expect_bad(path, ROOF_INVALID, p->reason);
    }
    /* every byte of the header changed in turn: no crash, whatever comes of it */
    for (size_t i = 0; i < b.header; i++) {
        memcpy(changed, header, b.header);
        changed[i] = (char)~(unsigned char)changed[i];
        write_bytes(path, changed, b.header);
        assert_int_equal(truncate(path, (off_t)whole), 0);
        struct roof_model *const model = roof_model_new();
        (void)roof_gguf_read(model, path, NULL);
        roof_model_free(model);
    }
    free(header);
    free(changed);
    free_builder(&b);
    assert_int_equal(unlink(path), 0);
}

static void test_hostile_metadata(void **state)
{
    static const int unequal[] = {2, 1};
    static const int zeros[] = {2, 0};
    static const int negative[] = {-1, -1};
    struct builder b[14] = {{.version = 3}};
    struct builder *at = b;
    llama_metadata(at);
    list(at, "llama.attention.head_count_kv", unequal, 2);
    build_bad(at++, state, "llama.attention.head_count_kv appears twice");
    static const struct {
        const int *values;
        size_t count;
        const char *reason;
    } lists[] = {{unequal, 2, "differs between layers"},
                 {zeros, 2, "differs between layers"},
                 {negative, 2, "integer from 0"},
                 {zeros, 0, "array of 1 to"}};
    for (size_t i = 0; i < COUNT(lists); i++, at++) {
        text(at, "general.architecture", "llama");
        list(at, "llama.attention.head_count_kv", lists[i].values, lists[i].count);
        build_bad(at, state, lists[i].reason);
    }
    /* arrays: too deep, too long, too long for their elements */
    entry(at, "deep", 9);
    for (int i = 0; i < 1000; i++) {
        put(&at->meta, 9, 4);
        put(&at->meta, 1, 8);
    }
    build_bad(at++, state, "nested deeper than 4");
    static const struct {
        int type;
        uint64_t count;
    } arrays[] = {{8, UINT64_C(1) << 63}, {10, UINT64_C(1) << 61}, {9, UINT64_MAX}, {0, 1 << 20}};
    for (size_t i = 0; i < COUNT(arrays); i++, at++) {
        entry(at, "long", 9);
        put(&at->meta, (uint64_t)arrays[i].type, 4);
        put(&at->meta, arrays[i].count, 8);
        build_bad(at, state, "does not fit into the file");
    }
    llama_metadata(at);
    number(at, "general.alignment", 48);
    build_bad(at++, state, "power of two");
    text(at, "general.name", "no architecture");
    build_bad(at++, state, "general.architecture is missing");
    assert_true(at <= b + COUNT(b));
}

static void test_hostile_tensors(void **state)
{
    char name[300];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    struct builder b[9] = {{.version = 3}};
    static const char *const names[] = {"", "tab\there", "caf\xc3\xa9"};
    for (size_t i = 0; i < COUNT(names); i++) {
        llama_metadata(&b[i]);
        tensor(&b[i], names[i], F32, 1, 0, 0);
        build_bad(&b[i], state, "must be 1 to 256 ASCII");
    }
    llama_metadata(&b[3]);
    tensor(&b[3], name, F32, 1, 0, 0);
    build_bad(&b[3], state, "(299 bytes) must be 1 to 256 ASCII");
    llama_metadata(&b[4]);
    llama_tensors(&b[4]);
    tensor(&b[4], "token_embd.weight", Q4_K, 256, 1000, 0);
    build_bad(&b[4], state, "token_embd.weight appears twice");
    llama_metadata(&b[5]);
    llama_tensors(&b[5]);
    in_block(&b[5], 1, "attn_q.weight", Q4_K, 256, 256, 0);
    build_bad(&b[5], state, "blk.1.attn_q.weight appears twice");
    llama_metadata(&b[6]);
    llama_tensors(&b[6]);
    in_block(&b[6], 1, "ssm_a.weight", F32, 256, 0, 0);
    build_bad(&b[6], state, "blk.1.ssm_a.weight is not known for the architecture llama");
    llama_metadata(&b[7]);
    llama_block(&b[7], 0, Q6_K, Q6_K);
    llama_block(&b[7], 1, Q6_K, Q6_K);
    build_bad(&b[7], state, "token_embd.weight is missing");
    llama_metadata(&b[8]);
    build_bad(&b[8], state, "token_embd.weight is missing");
}

/* Tensors that lie over each other claim more bytes than the file has. */
static void test_overlap(void **state)
{
    char path[PATH_SIZE];
    struct builder b = {0};
    llama_metadata(&b);
    for (int i = 0; i < 64; i++) {
        b.data = 0;
        char name[32];
        snprintf(name, sizeof name, "x%d", i);
        tensor(&b, name, F32, 4096, 0, 0);
    }
    write_file(&b, path_in(path, state, "overlap.gguf"));
    expect_bad(path, ROOF_INVALID, "have more bytes than the file");
    assert_int_equal(unlink(path), 0);
    free_builder(&b);
}

/* A header of zeros without end: read no further than the limit. */
static void test_endless_header(void **state)
{
    char path[PATH_SIZE];
    struct builder b = {0};
    entry(&b, "zeros", 9);
    put(&b.meta, 8, 4);
    put(&b.meta, UINT64_C(1) << 30, 8);
    write_file(&b, path_in(path, state, "endless.gguf"));
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    expect_bad(path, ROOF_INVALID, "does not fit into the header");
    free_builder(&b);
    assert_int_equal(unlink(path), 0);
}

static void test_no_file(void **state)
{
    const char *const folder = *state;
    char path[PATH_SIZE];
    expect_bad(path_in(path, state, "missing.gguf"), ROOF_IO, "cannot open");
    expect_bad(folder, ROOF_IO, "not a regular file");
    expect_bad("/dev/null", ROOF_IO, "not a regular file");
    write_bytes(path_in(path, state, "empty.gguf"), "", 0);
    expect_bad(path, ROOF_INVALID, "not a GGUF file");
    assert_int_equal(unlink(path), 0);
    /* The reader must not wait for a pipe without a writer; the alarm ends this program if it does.
     */
    path_in(path, state, "pipe.gguf");
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60);
    expect_bad(path, ROOF_IO, "not a regular file");
    alarm(0);
    assert_int_equal(unlink(path), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tied_llama),
        TEST(test_untied_llama),
        TEST(test_blocks_behind),
        TEST(test_names_behind),
        TEST(test_no_experts),
        TEST(test_unknown_tensors),
        TEST(test_other_parts),
        TEST(test_other_architectures),
        TEST(test_gpt_oss),
        TEST(test_mla),
        TEST(test_windows),
        TEST(test_phi2),
        TEST(test_phi3),
        TEST(test_gpt2),
        TEST(test_odd_parts),
        TEST(test_several_files),
        TEST(test_every_truncation),
        TEST(test_hostile_headers),
        TEST(test_hostile_metadata),
        TEST(test_hostile_tensors),
        TEST(test_overlap),
        TEST(test_endless_header),
        TEST(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
