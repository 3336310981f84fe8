// SPDX-License-Identifier: MIT
/*
 * Small checkpoints of DeepSeek-V4, MiniMax-M3, Gemma 3n and Gemma 4, each in two shards with an
 * index, under the names of published checkpoints and under those of transformers
 * (src/model/module_names.c lists the sources). The reader compares the number of all elements
 * with config.json, so it refuses a file of which it does not know a name. To find exchanged
 * matrices, the tests write those of one weight after the other in another format.
 */
#include "safetensors_file.h"

#include <fnmatch.h>

#include "model/weights.h"

/* Tensors of a checkpoint. */
struct part {
    int shard;
    const char *prefix;
    const struct row *rows;
    size_t count;
    bool ignored; /* the graph does not have them */
};

struct family {
    const char *config;
    const struct part *parts;
    size_t count;
};

#define PART(shard, prefix, rows)                                                                  \
    {                                                                                              \
        shard, prefix, rows, COUNT(rows), false                                                    \
    }
#define IGNORED(shard, prefix, rows)                                                               \
    {                                                                                              \
        shard, prefix, rows, COUNT(rows), true                                                     \
    }
#define FAMILY(config, parts)                                                                      \
    {                                                                                              \
        config, parts, COUNT(parts)                                                                \
    }

#define BIT ROOF_WEIGHT_BIT

/* The weights, as bits, that matrices belong to; the first pattern that fits counts. Of several
 * matrices of a weight, the largest has the format that is read. */
static const struct {
    const char *pattern;
    unsigned weights;
} roles[] = {
    {"*attn.wq_a.*", BIT(Q_A)},
    {"*attn.wq_b.*", BIT(Q_B)},
    {"*attn.wkv.*", BIT(KV_A)},
    {"*attn.wo_?.*", BIT(O)},
    {"*self_attn.q_a_proj.*", BIT(Q_A)},
    {"*self_attn.q_b_proj.*", BIT(Q_B)},
    {"*self_attn.kv_proj.*", BIT(KV_A)},
    {"*self_attn.o_?_proj.*", BIT(O)},
    {"*self_attn.q_proj.*", BIT(Q)},
    {"*self_attn.k_proj.*", BIT(K)},
    {"*self_attn.v_proj.*", BIT(V)},
    {"*self_attn.o_proj.*", BIT(O)},
    {"*.indexer.wq_b.*", BIT(INDEX)},
    {"*.indexer.q_b_proj.*", BIT(INDEX)},
    {"*self_attn.index_?_proj.*", BIT(INDEX)},
    {"*self_attn.indexer.?_proj.*", BIT(INDEX)},
    {"*.compressor.w*", BIT(COMPRESS)},
    {"*.indexer.weights_proj.*", BIT(COMPRESS)},
    {"*.compressor.*proj.*", BIT(COMPRESS)},
    {"*.ffn.gate.*", BIT(ROUTER)},
    {"*.mlp.gate.*", BIT(ROUTER)},
    {"*.block_sparse_moe.gate.*", BIT(ROUTER)},
    {"*.router.proj.*", BIT(ROUTER)},
    {"*.altup.modality_router.*", BIT(ROUTER)},
    {"*.experts.?.w1.*", BIT(EXPERT_GATE)},
    {"*.experts.?.w3.*", BIT(EXPERT_UP)},
    {"*.experts.?.w2.*", BIT(EXPERT_DOWN)},
    {"*.experts.gate_up_proj", BIT(EXPERT_GATE) | BIT(EXPERT_UP)},
    {"*.experts.down_proj", BIT(EXPERT_DOWN)},
    {"*.shared_experts.w1.*", BIT(SHARED_GATE)},
    {"*.shared_experts.w3.*", BIT(SHARED_UP)},
    {"*.shared_experts.w2.*", BIT(SHARED_DOWN)},
    {"*.shared_experts.gate_proj.*", BIT(SHARED_GATE)},
    {"*.shared_experts.up_proj.*", BIT(SHARED_UP)},
    {"*.shared_experts.down_proj.*", BIT(SHARED_DOWN)},
    {"*.shared_experts.gate_up_proj.*", BIT(SHARED_GATE) | BIT(SHARED_UP)},
    {"*.mlp.gate_up_proj.*", BIT(GATE) | BIT(UP)},
    {"*.mlp.gate_proj.*", BIT(GATE)},
    {"*.mlp.up_proj.*", BIT(UP)},
    {"*.mlp.down_proj.*", BIT(DOWN)},
    {"*.per_layer_input_gate.*", BIT(PER_LAYER_IN)},
    {"*.per_layer_projection.*", BIT(PER_LAYER_OUT)},
    {"*.laurel.linear_left.*", BIT(UP)},
    {"*.laurel.linear_right.*", BIT(DOWN)},
    {"embed.*", BIT(EMBEDDING)},
    {"*.embed_tokens*", BIT(EMBEDDING)},
    {"*.per_layer_model_projection.*", BIT(EMBEDDING)},
    {"*.altup_*projections.*", BIT(EMBEDDING)},
    {"*head.weight", BIT(LM_HEAD)},
};

/* Returns the role of a tensor; COUNT(roles): it is no matrix with a format of its own. */
static size_t role_of(const struct part *part, const struct row *row)
{
    char name[128];
    size_t i = 0;
    snprintf(name, sizeof name, "%s%s", part->prefix, row->name);
    while (i < COUNT(roles) && fnmatch(roles[i].pattern, name, 0) != 0) {
        i++;
    }
    return row->size[1] > 0 && !part->ignored ? i : COUNT(roles);
}

/* Tells whether a family has a matrix with a role. */
static bool has_role(const struct family *f, size_t role)
{
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < f->parts[i].count; k++) {
            if (role_of(&f->parts[i], &f->parts[i].rows[k]) == role) {
                return true;
            }
        }
    }
    return false;
}

/* Makes a tensor plain: BF16, or F32 if it is of the weights `wide`. False for a scale, which a
 * plain matrix does not have. */
static bool make_plain(struct row *row, size_t role, unsigned wide)
{
    const char *const dot = strrchr(row->name, '.');
    if (role == COUNT(roles)) {
        return true;
    }
    if (dot != NULL && (strcmp(dot, ".scale") == 0 || strcmp(dot, ".weight_scale_inv") == 0)) {
        return false;
    }
    row->size[1] *= strcmp(row->dtype, "I8") == 0 ? 2 : 1; /* two numbers in a byte */
    row->dtype = roles[role].weights == wide ? "F32" : "BF16";
    return true;
}

/* Writes the shards and the index of a checkpoint, reads it, and removes all. It is as published
 * or, if `plain`, in 16 bits, except that weights `wide` (as bits) are in 32. */
static struct roof_model *read_family(const struct family *f, bool plain, unsigned wide,
                                      void **state)
{
    static const char *const names[] = {"one.safetensors", "two.safetensors"};
    char index[PATH_SIZE];
    char path[PATH_SIZE];
    struct builder shard[2] = {{.prefix = ""}, {.prefix = ""}};
    struct roof_text map = ROOF_TEXT_INIT;
    uint64_t ignored = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct part *const part = &f->parts[i];
        struct builder *const b = &shard[part->shard];
        const uint64_t before = b->data;
        b->prefix = part->prefix;
        for (size_t k = 0; k < part->count; k++) {
            struct row row = part->rows[k];
            if (!plain || make_plain(&row, role_of(part, &row), wide)) {
                put_row(b, &row);
                put_line(&map, part->prefix, row.name, names[part->shard]);
            }
        }
        ignored += part->ignored ? b->data - before : 0;
    }
    const uint64_t bytes = shard[0].data + shard[1].data - ignored;
    write_index(path_in(index, state, "model.safetensors.index.json"), &map);
    for (int i = 0; i < 2; i++) {
        write_file(&shard[i], path_in(path, state, names[i]));
    }
    struct roof_model *const model = read_model(f->config, index);
    assert_int_equal(unlink(index), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(unlink(path_in(path, state, names[i])), 0);
    }
    assert_true(model->stored);
    assert_true(model->file_bytes == (double)bytes);
    return model;
}

/* Returns the format of a weight in a layer, or outside the layers. */
static int format_of(const struct roof_model *m, int number, int weight)
{
    return roof_weight_outside((enum roof_weight)weight) ? m->format[weight]
                                                         : layer(m, number)->format[weight];
}

/* Writes the matrices of some weights in 32 bits, and expects to find these weights so, and no
 * others. A tied head has the format of the embedding. */
static void check_wide(const struct family *f, const struct roof_model *plain, unsigned wide,
                       void **state)
{
    bool found = false;
    struct roof_model *const m = read_family(f, true, wide, state);
    wide |= m->tied && wide == BIT(EMBEDDING) ? BIT(LM_HEAD) : 0;
    for (int number = 0; number < (int)m->layers; number++) {
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            const int before = format_of(plain, number, w);
            const bool is = (wide >> w & 1U) != 0 && before == ROOF_PRECISION_BF16;
            if (format_of(m, number, w) != (is ? ROOF_PRECISION_FP32 : before)) {
                fail_msg("weights %x: weight %d of layer %d is %s", wide, w, number,
                         roof_format((enum roof_precision)format_of(m, number, w))->name);
            }
            found = found || is;
        }
    }
    assert_true(found);
    roof_model_free(m);
}

static void check_roles(const struct family *f, void **state)
{
    struct roof_model *const plain = read_family(f, true, 0, state);
    for (size_t i = 0; i < COUNT(roles); i++) {
        if (has_role(f, i)) {
            check_wide(f, plain, roles[i].weights, state);
        }
    }
    roof_model_free(plain);
}

/* --- DeepSeek-V4 --------------------------------------------------------------------------- */

/* Layers with a window only, with chosen compressed keys, and with all compressed keys. */
#define V4                                                                                         \
    "{\"model_type\": \"deepseek_v4\", \"hidden_size\": 256, \"num_hidden_layers\": 3,"            \
    " \"num_attention_heads\": 4, \"num_key_value_heads\": 1, \"head_dim\": 64,"                   \
    " \"vocab_size\": 100, \"q_lora_rank\": 128, \"qk_rope_head_dim\": 16, \"o_groups\": 2,"       \
    " \"o_lora_rank\": 64, \"sliding_window\": 128, \"index_n_heads\": 2, \"index_head_dim\": 32," \
    " \"index_topk\": 16, \"compress_ratios\": [0, 4, 128, 0], \"hc_mult\": 4,"                    \
    " \"hc_sinkhorn_iters\": 20, \"n_routed_experts\": 2, \"n_shared_experts\": 1,"                \
    " \"num_experts_per_tok\": 1, \"moe_intermediate_size\": 128, \"num_hash_layers\": 1,"         \
    " \"num_nextn_predict_layers\": 1, \"tie_word_embeddings\": false}"

/* FP8 with a power of two for 128 x 128 elements; FP4 in bytes with one for 32 elements. */
#define V4_FP8(name, rows, columns)                                                                \
    {name ".weight", "F8_E4M3", {rows, columns}},                                                  \
    {                                                                                              \
        name ".scale", "F8_E8M0",                                                                  \
        {                                                                                          \
            (rows + 127) / 128, (columns + 127) / 128                                              \
        }                                                                                          \
    }
#define V4_FP4(name, rows, columns)                                                                \
    {name ".weight", "I8", {rows, columns / 2}},                                                   \
    {                                                                                              \
        name ".scale", "F8_E8M0",                                                                  \
        {                                                                                          \
            rows, columns / 32                                                                     \
        }                                                                                          \
    }

static const struct row v4_outside[] = {
    {"embed.weight", "BF16", {100, 256}}, {"norm.weight", "BF16", {256}},
    {"head.weight", "BF16", {100, 256}},  {"hc_head_fn", "F32", {4, 1024}},
    {"hc_head_base", "F32", {4}},         {"hc_head_scale", "F32", {1}}};
static const struct row v4_layer[] = {V4_FP8("attn.wq_a", 128, 256),
                                      V4_FP8("attn.wq_b", 256, 128),
                                      {"attn.wkv.weight", "F8_E4M3", {64, 256}},
                                      {"attn.wkv.scale", "F8_E8M0", {1, 2}},
                                      V4_FP8("attn.wo_a", 128, 128),
                                      V4_FP8("attn.wo_b", 256, 128),
                                      {"attn.q_norm.weight", "BF16", {128}},
                                      {"attn.kv_norm.weight", "BF16", {64}},
                                      {"attn.attn_sink", "F32", {4}},
                                      {"attn_norm.weight", "BF16", {256}},
                                      {"ffn_norm.weight", "BF16", {256}},
                                      {"hc_attn_fn", "F32", {24, 1024}},
                                      {"hc_attn_base", "F32", {24}},
                                      {"hc_attn_scale", "F32", {3}},
                                      {"hc_ffn_fn", "F32", {24, 1024}},
                                      {"hc_ffn_base", "F32", {24}},
                                      {"hc_ffn_scale", "F32", {3}},
                                      {"ffn.gate.weight", "BF16", {2, 256}},
                                      V4_FP4("ffn.experts.0.w1", 128, 256),
                                      V4_FP4("ffn.experts.0.w3", 128, 256),
                                      V4_FP4("ffn.experts.0.w2", 256, 128),
                                      V4_FP4("ffn.experts.1.w1", 128, 256),
                                      V4_FP4("ffn.experts.1.w3", 128, 256),
                                      V4_FP4("ffn.experts.1.w2", 256, 128),
                                      V4_FP8("ffn.shared_experts.w1", 128, 256),
                                      V4_FP8("ffn.shared_experts.w3", 128, 256),
                                      V4_FP8("ffn.shared_experts.w2", 256, 128)};
static const struct row v4_hash[] = {{"ffn.gate.tid2eid", "I64", {100, 1}}};
static const struct row v4_bias[] = {{"ffn.gate.bias", "F32", {2}}};
static const struct row v4_chosen[] = {{"attn.compressor.wkv.weight", "BF16", {128, 256}},
                                       {"attn.compressor.wgate.weight", "BF16", {128, 256}},
                                       {"attn.compressor.ape", "F32", {4, 128}},
                                       {"attn.compressor.norm.weight", "BF16", {64}},
                                       {"attn.indexer.wq_b.weight", "F8_E4M3", {64, 128}},
                                       {"attn.indexer.wq_b.scale", "F8_E8M0", {1, 1}},
                                       {"attn.indexer.weights_proj.weight", "BF16", {2, 256}},
                                       {"attn.indexer.compressor.wkv.weight", "BF16", {64, 256}},
                                       {"attn.indexer.compressor.wgate.weight", "BF16", {64, 256}},
                                       {"attn.indexer.compressor.ape", "F32", {4, 64}},
                                       {"attn.indexer.compressor.norm.weight", "BF16", {32}}};
static const struct row v4_all[] = {{"attn.compressor.wkv.weight", "BF16", {64, 256}},
                                    {"attn.compressor.wgate.weight", "BF16", {64, 256}},
                                    {"attn.compressor.ape", "F32", {128, 64}},
                                    {"attn.compressor.norm.weight", "BF16", {64}}};
static const struct row v4_drafts[] = {{"main_proj.weight", "BF16", {256, 512}}};

static const struct part v4_parts[] = {
    PART(0, "", v4_outside),          PART(0, "layers.0.", v4_layer),
    PART(0, "layers.1.", v4_layer),   PART(0, "layers.1.", v4_chosen),
    PART(0, "layers.1.", v4_bias),    PART(1, "layers.2.", v4_layer),
    PART(1, "layers.2.", v4_all),     PART(1, "layers.2.", v4_bias),
    IGNORED(1, "layers.0.", v4_hash), IGNORED(1, "mtp.0.", v4_drafts),
};
static const struct family v4 = FAMILY(V4, v4_parts);

/* By hand, the matrices of a layer: 128 x 256 four times, 64 x 256 and 128 x 128 of attention, nine
 * of 128 x 256 in the MLP, a router, and two products of streams in FP32. */
static void test_v4(void **state)
{
    check_roles(&v4, state);
    struct roof_model *const m = read_family(&v4, false, 0, state);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(FORMAT(m, i, EXPERT_GATE), ROOF_PRECISION_MXFP4);
        assert_int_equal(FORMAT(m, i, EXPERT_DOWN), ROOF_PRECISION_MXFP4);
        assert_int_equal(FORMAT(m, i, SHARED_UP), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, Q_A), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, KV_A), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, O), ROOF_PRECISION_FP8_BLOCK128);
        assert_int_equal(FORMAT(m, i, ROUTER), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, NORM), ROOF_PRECISION_FP32);
    }
    assert_int_equal(FORMAT(m, 0, COMPRESS), ROOF_PRECISION_AUTO);
    assert_int_equal(FORMAT(m, 1, COMPRESS), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 2, COMPRESS), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 2, INDEX), ROOF_PRECISION_AUTO);
    assert_int_equal(m->format[ROOF_WEIGHT_LM_HEAD], ROOF_PRECISION_BF16);
    assert_false(m->tied);
    roof_model_free(m);
}

static const struct row v4_plain_outside[] = {{"embed_tokens.weight", "BF16", {100, 256}},
                                              {"norm.weight", "BF16", {256}},
                                              {"hc_head.hc_fn", "F32", {4, 1024}},
                                              {"hc_head.hc_base", "F32", {4}},
                                              {"hc_head.hc_scale", "F32", {1}}};
static const struct row v4_head[] = {{"lm_head.weight", "BF16", {100, 256}}};
static const struct row v4_plain[] = {{"self_attn.q_a_proj.weight", "BF16", {128, 256}},
                                      {"self_attn.q_b_proj.weight", "BF16", {256, 128}},
                                      {"self_attn.kv_proj.weight", "BF16", {64, 256}},
                                      {"self_attn.o_a_proj.weight", "BF16", {128, 128}},
                                      {"self_attn.o_b_proj.weight", "BF16", {256, 128}},
                                      {"self_attn.q_norm.weight", "BF16", {128}},
                                      {"self_attn.kv_norm.weight", "BF16", {64}},
                                      {"self_attn.sinks", "F32", {4}},
                                      {"input_layernorm.weight", "BF16", {256}},
                                      {"post_attention_layernorm.weight", "BF16", {256}},
                                      {"attn_hc.fn", "F32", {24, 1024}},
                                      {"attn_hc.base", "F32", {24}},
                                      {"attn_hc.scale", "F32", {3}},
                                      {"ffn_hc.fn", "F32", {24, 1024}},
                                      {"ffn_hc.base", "F32", {24}},
                                      {"ffn_hc.scale", "F32", {3}},
                                      {"mlp.gate.weight", "BF16", {2, 256}},
                                      {"mlp.experts.gate_up_proj", "BF16", {2, 256, 256}},
                                      {"mlp.experts.down_proj", "BF16", {2, 256, 128}},
                                      {"mlp.shared_experts.gate_proj.weight", "BF16", {128, 256}},
                                      {"mlp.shared_experts.up_proj.weight", "BF16", {128, 256}},
                                      {"mlp.shared_experts.down_proj.weight", "BF16", {256, 128}}};
static const struct row v4_plain_chosen[] = {{"kv_proj.weight", "BF16", {128, 256}},
                                             {"gate_proj.weight", "BF16", {128, 256}},
                                             {"position_bias", "F32", {4, 128}},
                                             {"kv_norm.weight", "BF16", {64}},
                                             {"indexer.q_b_proj.weight", "BF16", {64, 128}},
                                             {"indexer.weights_proj.weight", "BF16", {2, 256}},
                                             {"indexer.kv_proj.weight", "BF16", {64, 256}},
                                             {"indexer.gate_proj.weight", "BF16", {64, 256}},
                                             {"indexer.position_bias", "F32", {4, 64}},
                                             {"indexer.kv_norm.weight", "BF16", {32}}};
static const struct row v4_plain_all[] = {{"kv_proj.weight", "BF16", {64, 256}},
                                          {"gate_proj.weight", "BF16", {64, 256}},
                                          {"position_bias", "F32", {128, 64}},
                                          {"kv_norm.weight", "BF16", {64}}};
static const struct row v4_plain_hash[] = {{"mlp.gate.tid2eid", "I64", {100, 1}}};

static const struct part v4_transformers_parts[] = {
    PART(0, "model.", v4_plain_outside),
    PART(0, "", v4_head),
    PART(0, "model.layers.0.", v4_plain),
    PART(1, "model.layers.1.", v4_plain),
    PART(1, "model.layers.1.self_attn.compressor.", v4_plain_chosen),
    PART(1, "model.layers.2.", v4_plain),
    PART(1, "model.layers.2.self_attn.compressor.", v4_plain_all),
    IGNORED(1, "model.layers.0.", v4_plain_hash),
};
static const struct family v4_transformers = FAMILY(V4, v4_transformers_parts);

static void test_v4_transformers(void **state)
{
    check_roles(&v4_transformers, state);
    struct roof_model *const m = read_family(&v4_transformers, false, 0, state);
    assert_int_equal(FORMAT(m, 1, INDEX), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 1, COMPRESS), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 0, EXPERT_UP), ROOF_PRECISION_BF16);
    roof_model_free(m);
}

/* --- MiniMax-M3 ---------------------------------------------------------------------------- */

#define M3                                                                                         \
    "{\"model_type\": \"minimax_m3_vl\", \"text_config\": {\"hidden_size\": 64,"                   \
    " \"intermediate_size\": 32, \"dense_intermediate_size\": 96,"                                 \
    " \"shared_intermediate_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"     \
    " \"num_key_value_heads\": 2, \"head_dim\": 32, \"rotary_dim\": 16, \"vocab_size\": 100,"      \
    " \"num_local_experts\": 2, \"num_experts_per_tok\": 1, \"n_shared_experts\": 1,"              \
    " \"use_routing_bias\": true, \"use_qk_norm\": true, \"qk_norm_type\": \"per_head\","          \
    " \"scoring_func\": \"sigmoid\", \"hidden_act\": \"swigluoai\","                               \
    " \"tie_word_embeddings\": false, \"moe_layer_freq\": [0, 1],"                                 \
    " \"sparse_attention_config\": {\"use_sparse_attention\": true, \"sparse_block_size\": 128,"   \
    " \"sparse_topk_blocks\": 16, \"sparse_num_index_heads\": 2, \"sparse_index_dim\": 32,"        \
    " \"sparse_attention_freq\": [0, 1], \"sparse_disable_index_value\": [0, 1]}}}"

/* MXFP8: a power of two for 32 elements. */
#define M3_FP8(name, rows, columns)                                                                \
    {name ".weight", "F8_E4M3", {rows, columns}},                                                  \
    {                                                                                              \
        name ".weight_scale_inv", "U8",                                                            \
        {                                                                                          \
            rows, columns / 32                                                                     \
        }                                                                                          \
    }

static const struct row m3_outside[] = {{"model.embed_tokens.weight", "BF16", {100, 64}},
                                        {"model.norm.weight", "BF16", {64}},
                                        {"lm_head.weight", "BF16", {100, 64}}};
static const struct row m3_attention[] = {
    M3_FP8("self_attn.q_proj", 128, 64),       M3_FP8("self_attn.k_proj", 64, 64),
    M3_FP8("self_attn.v_proj", 64, 64),        M3_FP8("self_attn.o_proj", 64, 128),
    {"self_attn.q_norm.weight", "BF16", {32}}, {"self_attn.k_norm.weight", "BF16", {32}},
    {"input_layernorm.weight", "BF16", {64}},  {"post_attention_layernorm.weight", "BF16", {64}}};
static const struct row m3_dense[] = {M3_FP8("mlp.gate_proj", 96, 64),
                                      M3_FP8("mlp.up_proj", 96, 64),
                                      M3_FP8("mlp.down_proj", 64, 96)};
static const struct row m3_sparse[] = {M3_FP8("self_attn.index_q_proj", 64, 64),
                                       M3_FP8("self_attn.index_k_proj", 32, 64),
                                       {"self_attn.index_q_norm.weight", "BF16", {32}},
                                       {"self_attn.index_k_norm.weight", "BF16", {32}},
                                       {"block_sparse_moe.gate.weight", "F32", {2, 64}},
                                       {"block_sparse_moe.e_score_correction_bias", "F32", {2}},
                                       M3_FP8("block_sparse_moe.experts.0.w1", 32, 64),
                                       M3_FP8("block_sparse_moe.experts.0.w2", 64, 32),
                                       M3_FP8("block_sparse_moe.experts.0.w3", 32, 64),
                                       M3_FP8("block_sparse_moe.experts.1.w1", 32, 64),
                                       M3_FP8("block_sparse_moe.experts.1.w2", 64, 32),
                                       M3_FP8("block_sparse_moe.experts.1.w3", 32, 64),
                                       M3_FP8("block_sparse_moe.shared_experts.gate_proj", 32, 64),
                                       M3_FP8("block_sparse_moe.shared_experts.up_proj", 32, 64),
                                       M3_FP8("block_sparse_moe.shared_experts.down_proj", 64, 32)};
static const struct row m3_vision[] = {
    {"vision_tower.vision_model.encoder.layers.0.mlp.fc1.weight", "BF16", {32, 32}},
    {"multi_modal_projector.linear_1.weight", "BF16", {64, 32}},
    {"patch_merge_mlp.linear_1.weight", "BF16", {64, 256}}};

static const struct part m3_parts[] = {
    PART(0, "language_model.", m3_outside),
    PART(0, "language_model.model.layers.0.", m3_attention),
    PART(0, "language_model.model.layers.0.", m3_dense),
    PART(1, "language_model.model.layers.1.", m3_attention),
    PART(1, "language_model.model.layers.1.", m3_sparse),
    IGNORED(1, "", m3_vision),
};
static const struct family m3 = FAMILY(M3, m3_parts);

static void test_m3(void **state)
{
    check_roles(&m3, state);
    struct roof_model *const m = read_family(&m3, false, 0, state);
    assert_int_equal(FORMAT(m, 0, INDEX), ROOF_PRECISION_AUTO);
    assert_int_equal(FORMAT(m, 1, INDEX), ROOF_PRECISION_MXFP8_E4M3);
    assert_int_equal(FORMAT(m, 1, Q), ROOF_PRECISION_MXFP8_E4M3);
    assert_int_equal(FORMAT(m, 1, EXPERT_DOWN), ROOF_PRECISION_MXFP8_E4M3);
    assert_int_equal(FORMAT(m, 1, SHARED_GATE), ROOF_PRECISION_MXFP8_E4M3);
    assert_int_equal(FORMAT(m, 1, ROUTER), ROOF_PRECISION_FP32);
    assert_int_equal(FORMAT(m, 0, DOWN), ROOF_PRECISION_MXFP8_E4M3);
    roof_model_free(m);
}

static const struct row m3_plain[] = {{"self_attn.q_proj.weight", "BF16", {128, 64}},
                                      {"self_attn.k_proj.weight", "BF16", {64, 64}},
                                      {"self_attn.v_proj.weight", "BF16", {64, 64}},
                                      {"self_attn.o_proj.weight", "BF16", {64, 128}},
                                      {"self_attn.indexer.q_proj.weight", "BF16", {64, 64}},
                                      {"self_attn.indexer.k_proj.weight", "BF16", {32, 64}},
                                      {"self_attn.indexer.q_norm.weight", "BF16", {32}},
                                      {"mlp.gate.weight", "F32", {2, 64}},
                                      {"mlp.experts.gate_up_proj", "BF16", {2, 64, 64}},
                                      {"mlp.experts.down_proj", "BF16", {2, 64, 32}},
                                      {"mlp.shared_experts.gate_up_proj.weight", "BF16", {64, 64}},
                                      {"mlp.shared_experts.down_proj.weight", "BF16", {64, 32}}};
static const struct row m3_plain_dense[] = {
    {"self_attn.q_proj.weight", "BF16", {128, 64}}, {"self_attn.k_proj.weight", "BF16", {64, 64}},
    {"self_attn.v_proj.weight", "BF16", {64, 64}},  {"self_attn.o_proj.weight", "BF16", {64, 128}},
    {"mlp.gate_up_proj.weight", "BF16", {192, 64}}, {"mlp.down_proj.weight", "BF16", {64, 96}}};
static const struct row m3_plain_outside[] = {
    {"model.language_model.embed_tokens.weight", "BF16", {100, 64}},
    {"lm_head.weight", "BF16", {100, 64}}};

static const struct part m3_transformers_parts[] = {
    PART(0, "", m3_plain_outside),
    PART(0, "model.language_model.layers.0.", m3_plain_dense),
    PART(1, "model.language_model.layers.1.", m3_plain),
};
static const struct family m3_transformers = FAMILY(M3, m3_transformers_parts);

static void test_m3_transformers(void **state)
{
    check_roles(&m3_transformers, state);
    struct roof_model *const m = read_family(&m3_transformers, false, 0, state);
    assert_int_equal(FORMAT(m, 1, INDEX), ROOF_PRECISION_BF16);
    assert_int_equal(FORMAT(m, 1, SHARED_UP), ROOF_PRECISION_BF16);
    roof_model_free(m);
}

/* --- Gemma 3n ------------------------------------------------------------------------------ */

/* The second layer reads the keys and values of the first. All ways of the MLP have the same size,
 * because the format of the largest counts, and among equal ones the widest. */
#define GEMMA3N                                                                                    \
    "{\"model_type\": \"gemma3n\", \"text_config\": {\"model_type\": \"gemma3n_text\","            \
    " \"hidden_size\": 64, \"num_hidden_layers\": 2, \"intermediate_size\": [96, 96],"             \
    " \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"head_dim\": 32,"                   \
    " \"vocab_size\": 100, \"vocab_size_per_layer_input\": 90,"                                    \
    " \"hidden_size_per_layer_input\": 96, \"sliding_window\": 512,"                               \
    " \"layer_types\": [\"full_attention\", \"full_attention\"], \"num_kv_shared_layers\": 1,"     \
    " \"altup_num_inputs\": 4, \"altup_active_idx\": 0, \"altup_correct_scale\": true,"            \
    " \"laurel_rank\": 96, \"activation_sparsity_pattern\": [0.95, 0.0],"                          \
    " \"hidden_activation\": \"gelu_pytorch_tanh\"}}"

static const struct row gemma3n_outside[] = {
    {"embed_tokens.weight", "BF16", {100, 64}},
    {"norm.weight", "BF16", {64}},
    {"embed_tokens_per_layer.weight", "BF16", {90, 192}},
    {"per_layer_model_projection.weight", "BF16", {192, 64}},
    {"per_layer_projection_norm.weight", "BF16", {96}},
    {"altup_projections.0.weight", "BF16", {64, 64}},
    {"altup_projections.1.weight", "BF16", {64, 64}},
    {"altup_projections.2.weight", "BF16", {64, 64}},
    {"altup_unembed_projections.0.weight", "BF16", {64, 64}},
    {"altup_unembed_projections.1.weight", "BF16", {64, 64}},
    {"altup_unembed_projections.2.weight", "BF16", {64, 64}}};
static const struct row gemma3n_layer[] = {{"self_attn.q_proj.weight", "BF16", {64, 64}},
                                           {"self_attn.k_proj.weight", "BF16", {32, 64}},
                                           {"self_attn.v_proj.weight", "BF16", {32, 64}},
                                           {"self_attn.o_proj.weight", "BF16", {64, 64}},
                                           {"self_attn.q_norm.weight", "BF16", {32}},
                                           {"self_attn.k_norm.weight", "BF16", {32}},
                                           {"input_layernorm.weight", "BF16", {64}},
                                           {"post_attention_layernorm.weight", "BF16", {64}},
                                           {"pre_feedforward_layernorm.weight", "BF16", {64}},
                                           {"post_feedforward_layernorm.weight", "BF16", {64}},
                                           {"mlp.gate_proj.weight", "BF16", {96, 64}},
                                           {"mlp.up_proj.weight", "BF16", {96, 64}},
                                           {"mlp.down_proj.weight", "BF16", {64, 96}},
                                           {"altup.modality_router.weight", "BF16", {4, 64}},
                                           {"altup.router_norm.weight", "BF16", {64}},
                                           {"altup.prediction_coefs.weight", "BF16", {16, 4}},
                                           {"altup.correction_coefs.weight", "BF16", {4, 4}},
                                           {"altup.correct_output_scale", "BF16", {64}},
                                           {"laurel.linear_left.weight", "BF16", {96, 64}},
                                           {"laurel.linear_right.weight", "BF16", {64, 96}},
                                           {"laurel.post_laurel_norm.weight", "BF16", {64}},
                                           {"per_layer_input_gate.weight", "BF16", {96, 64}},
                                           {"per_layer_projection.weight", "BF16", {64, 96}},
                                           {"post_per_layer_input_norm.weight", "BF16", {64}}};
static const struct row gemma_towers[] = {
    {"model.vision_tower.timm_model.blocks.0.0.conv.weight", "BF16", {8, 8}},
    {"model.audio_tower.conformer.0.norm.weight", "BF16", {8}},
    {"model.embed_vision.embedding_projection.weight", "BF16", {64, 8}},
    {"model.embed_audio.embedding_projection.weight", "BF16", {64, 8}}};

static const struct part gemma3n_parts[] = {
    PART(0, "model.language_model.", gemma3n_outside),
    PART(0, "model.language_model.layers.0.", gemma3n_layer),
    PART(1, "model.language_model.layers.1.", gemma3n_layer),
    IGNORED(1, "", gemma_towers),
};
static const struct family gemma3n = FAMILY(GEMMA3N, gemma3n_parts);

static void test_gemma3n(void **state)
{
    check_roles(&gemma3n, state);
    struct roof_model *const m = read_family(&gemma3n, false, 0, state);
    assert_true(m->tied);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(FORMAT(m, i, ROUTER), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, UP), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, NORM), ROOF_PRECISION_BF16);
    }
    roof_model_free(m);
}

/* --- Gemma 4 ------------------------------------------------------------------------------- */

/* The second layer has larger heads and no values. */
#define GEMMA4                                                                                     \
    "{\"model_type\": \"gemma4\", \"text_config\": {\"model_type\": \"gemma4_text\","              \
    " \"hidden_size\": 64, \"num_hidden_layers\": 2, \"intermediate_size\": 96,"                   \
    " \"num_attention_heads\": 2, \"num_key_value_heads\": 2, \"head_dim\": 32,"                   \
    " \"global_head_dim\": 64, \"num_global_key_value_heads\": 1, \"attention_k_eq_v\": true,"     \
    " \"vocab_size\": 100, \"vocab_size_per_layer_input\": 90, \"sliding_window\": 64,"            \
    " \"hidden_size_per_layer_input\": 96, \"num_kv_shared_layers\": 0,"                           \
    " \"enable_moe_block\": true, \"num_experts\": 4, \"top_k_experts\": 2,"                       \
    " \"moe_intermediate_size\": 32, \"tie_word_embeddings\": true,"                               \
    " \"layer_types\": [\"sliding_attention\", \"full_attention\"],"                               \
    " \"hidden_activation\": \"gelu_pytorch_tanh\"}}"

static const struct row gemma4_window[] = {{"self_attn.q_proj.weight", "BF16", {64, 64}},
                                           {"self_attn.k_proj.weight", "BF16", {64, 64}},
                                           {"self_attn.v_proj.weight", "BF16", {64, 64}},
                                           {"self_attn.o_proj.weight", "BF16", {64, 64}}};
static const struct row gemma4_full[] = {{"self_attn.q_proj.weight", "BF16", {128, 64}},
                                         {"self_attn.k_proj.weight", "BF16", {64, 64}},
                                         {"self_attn.o_proj.weight", "BF16", {64, 128}}};
static const struct row gemma4_layer[] = {{"self_attn.q_norm.weight", "BF16", {32}},
                                          {"self_attn.k_norm.weight", "BF16", {32}},
                                          {"input_layernorm.weight", "BF16", {64}},
                                          {"pre_feedforward_layernorm_2.weight", "BF16", {64}},
                                          {"layer_scalar", "BF16", {1}},
                                          {"mlp.gate_proj.weight", "BF16", {96, 64}},
                                          {"mlp.up_proj.weight", "BF16", {96, 64}},
                                          {"mlp.down_proj.weight", "BF16", {64, 96}},
                                          {"router.proj.weight", "BF16", {4, 64}},
                                          {"router.scale", "BF16", {64}},
                                          {"router.per_expert_scale", "BF16", {4}},
                                          {"experts.gate_up_proj", "BF16", {4, 64, 64}},
                                          {"experts.down_proj", "BF16", {4, 64, 32}},
                                          {"per_layer_input_gate.weight", "BF16", {96, 64}},
                                          {"per_layer_projection.weight", "BF16", {64, 96}},
                                          {"post_per_layer_input_norm.weight", "BF16", {64}}};

static const struct part gemma4_parts[] = {
    {0, "model.language_model.", gemma3n_outside, 5, false},
    PART(0, "model.language_model.layers.0.", gemma4_window),
    PART(0, "model.language_model.layers.0.", gemma4_layer),
    PART(1, "model.language_model.layers.1.", gemma4_full),
    PART(1, "model.language_model.layers.1.", gemma4_layer),
    IGNORED(1, "", gemma_towers),
};
static const struct family gemma4 = FAMILY(GEMMA4, gemma4_parts);

static void test_gemma4(void **state)
{
    check_roles(&gemma4, state);
    struct roof_model *const m = read_family(&gemma4, false, 0, state);
    assert_true(m->tied);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(FORMAT(m, i, ROUTER), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, EXPERT_GATE), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, EXPERT_DOWN), ROOF_PRECISION_BF16);
        assert_int_equal(FORMAT(m, i, DOWN), ROOF_PRECISION_BF16);
    }
    roof_model_free(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_v4),      TEST(test_v4_transformers), TEST(test_m3), TEST(test_m3_transformers),
        TEST(test_gemma3n), TEST(test_gemma4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
