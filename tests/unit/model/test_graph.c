// SPDX-License-Identifier: MIT
/*
 * A model at work: each operator of small models with its shape, worked out by hand from the sizes
 * in the configs below; splits over devices; formats of classes of weights; defaults and refusals.
 */
#include "models.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id
#define W(id) ROOF_WEIGHT_##id
#define OP(id) ROOF_OPERATOR_##id
#define SHAPE(...) ((struct roof_shape){__VA_ARGS__})

/* Q is 8 x 16 = 128 wide, which is not the 64 of the hidden states; K and V 2 x 16 = 32 each. */
#define DENSE_SIZES                                                                                \
    "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "                  \
    "\"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 80, "                    \
    "\"vocab_size\": 1001, \"max_position_embeddings\": 2048"
#define DENSE "{\"model_type\": \"llama\", " DENSE_SIZES "}"
#define TIED "{\"model_type\": \"llama\", \"tie_word_embeddings\": true, " DENSE_SIZES "}"
/* Layers 0 and 2 of 4 see 20 keys. */
#define WINDOWED                                                                                   \
    "{\"model_type\": \"llama\", \"sliding_window\": 20, \"sliding_window_pattern\": "             \
    "2, " DENSE_SIZES "}"
/* The first of three layers is dense; experts of 24, shared ones of 40 with a gate. */
#define MOE                                                                                        \
    "{\"model_type\": \"qwen2_moe\", \"hidden_size\": 64, \"num_hidden_layers\": 3, "              \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 80, "          \
    "\"vocab_size\": 1000, \"num_experts\": 8, \"num_experts_per_tok\": 2, "                       \
    "\"moe_intermediate_size\": 24, \"shared_expert_intermediate_size\": 40, "                     \
    "\"mlp_only_layers\": [0]}"
/* Latents of 24 for Q and of 32 for K and V, with 8 rotated elements beside it; heads of 16 + 8 in
 * Q and K, of 12 in V. */
#define MLA_SIZES                                                                                  \
    "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "                  \
    "\"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 8, "                    \
    "\"v_head_dim\": 12, \"intermediate_size\": 80, \"vocab_size\": 1000"
#define MLA "{\"model_type\": \"deepseek_v2\", \"q_lora_rank\": 24, " MLA_SIZES "}"
#define MLA_DIRECT "{\"model_type\": \"deepseek_v2\", \"q_lora_rank\": null, " MLA_SIZES "}"

static struct roof_scenario resolved(struct roof_scenario s, const struct roof_model *m)
{
    struct roof_error error = {0};
    if (roof_scenario_resolve(&s, m, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return s;
}

/* The operators of a stage, valid until the next call. */
static const struct roof_graph *build(const struct roof_model *m, struct roof_scenario s,
                                      int64_t stage, int64_t node_size)
{
    static struct roof_graph graph;
    struct roof_error error = {0};
    s = resolved(s, m);
    if (roof_graph_build(&graph, m, &s, stage, (struct roof_places){.node = node_size}, &error) !=
        ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return &graph;
}

struct expected {
    const char *name;
    int64_t count;
    enum roof_operator op;
    struct roof_shape shape;
};

/* Each operator in order. Dimensions that are not given have their defaults. */
static void has_nodes(const struct roof_graph *g, const struct expected *rows, size_t count)
{
    for (size_t i = 0; i < count && i < g->count; i++) {
        const struct roof_node *const node = &g->node[i];
        struct roof_workload got = node->workload;
        struct roof_workload wanted = got;
        struct roof_error error = {0};
        wanted.op = rows[i].op;
        wanted.shape = rows[i].shape;
        if (strcmp(node->name, rows[i].name) != 0 || node->count != rows[i].count ||
            node->workload.op != rows[i].op) {
            fail_msg("operator %zu is %s x %lld (%s), expected %s x %lld (%s)", i, node->name,
                     (long long)node->count, roof_operator_row(got.op)->name, rows[i].name,
                     (long long)rows[i].count, roof_operator_row(wanted.op)->name);
        }
        if (roof_workload_resolve(&got, &error) != ROOF_OK ||
            roof_workload_resolve(&wanted, &error) != ROOF_OK) {
            fail_msg("%s: %s", node->name, error.message);
        }
        for (int d = 0; d < ROOF_DIM_COUNT; d++) {
            const int64_t a = roof_input_get(&got, &roof_dimensions[d]);
            const int64_t b = roof_input_get(&wanted, &roof_dimensions[d]);
            if (a != b) {
                fail_msg("%s: %s is %lld, expected %lld", node->name, roof_dimensions[d].option,
                         (long long)a, (long long)b);
            }
        }
    }
    assert_int_equal(g->count, count);
}
#define HAS(graph, rows) has_nodes((graph), (rows), COUNT(rows))

static const struct roof_node *find(const struct roof_graph *g, const char *name)
{
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->node[i].name, name) == 0) {
            return &g->node[i];
        }
    }
    fail_msg("no operator %s", name);
    return NULL;
}

static bool has(const struct roof_graph *g, const char *name)
{
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->node[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* --- a dense model ------------------------------------------------------------------------- */

/* The operators of a dense layer for T tokens, as rows; A is the attention's. */
#define VECTOR(name_, count_, op_, tokens_, hidden_)                                               \
    {                                                                                              \
        name_, count_, OP(op_),                                                                    \
        {                                                                                          \
            .tokens = (tokens_), .hidden = (hidden_)                                               \
        }                                                                                          \
    }
#define NORM(name_, count_, tokens_, hidden_)                                                      \
    {                                                                                              \
        name_, count_, OP(RMSNORM),                                                                \
        {                                                                                          \
            .tokens = (tokens_), .hidden = (hidden_), .gain = 1                                    \
        }                                                                                          \
    }
#define GEMM(name_, count_, m_, n_, k_)                                                            \
    {                                                                                              \
        name_, count_, OP(GEMM),                                                                   \
        {                                                                                          \
            .m = (m_), .n = (n_), .k = (k_)                                                        \
        }                                                                                          \
    }
#define ROPE(count_, tokens_, heads_, kv_, dim_)                                                   \
    {                                                                                              \
        "rope", count_, OP(ROPE),                                                                  \
        {                                                                                          \
            .tokens = (tokens_), .heads = (heads_), .kv_heads = (kv_), .head_dim = (dim_)          \
        }                                                                                          \
    }
#define APPEND(count_, tokens_, heads_, kv_, dim_)                                                 \
    {                                                                                              \
        "kv_append", count_, OP(KV_APPEND),                                                        \
        {                                                                                          \
            .tokens = (tokens_), .heads = (heads_), .kv_heads = (kv_), .head_dim = (dim_)          \
        }                                                                                          \
    }
#define FLASH(name_, count_, batch_, heads_, kv_, query_, len_, window_)                           \
    {                                                                                              \
        name_, count_, OP(FLASH_ATTENTION),                                                        \
        {                                                                                          \
            .batch = (batch_), .heads = (heads_), .kv_heads = (kv_), .head_dim = 16,               \
            .query_len = (query_), .kv_len = (len_), .causal = 1, .window = (window_)              \
        }                                                                                          \
    }
#define DENSE_LAYERS(T, ...)                                                                       \
    VECTOR("embedding", 1, EMBEDDING, T, 64), NORM("attn_norm", 4, T, 64),                         \
        GEMM("qkv_proj", 4, T, 128 + 2 * 32, 64), ROPE(4, T, 8, 2, 16), APPEND(4, T, 8, 2, 16),    \
        __VA_ARGS__, GEMM("o_proj", 4, T, 64, 128), VECTOR("attn_add", 4, ADD, T, 64),             \
        NORM("mlp_norm", 4, T, 64), GEMM("gate_up_proj", 4, T, 2 * 80, 64),                        \
        VECTOR("mlp_act", 4, SILU_MUL, T, 80), GEMM("down_proj", 4, T, 64, 80),                    \
        VECTOR("mlp_add", 4, ADD, T, 64)
#define HEAD(rows) NORM("final_norm", 1, rows, 64), GEMM("lm_head", 1, rows, 1001, 64)

static void test_dense(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    /* Decode: a token of each of 3 sequences, over 50 keys. */
    const struct expected decode[] = {DENSE_LAYERS(3, FLASH("attention", 4, 3, 8, 2, 1, 50, 0)),
                                      HEAD(3)};
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    HAS(g, decode);
    assert_near(g->residual_bytes, 3 * 64 * 2, 0);
    /* Four layers of K and V: 2 x 2 heads x 16 elements of 2 bytes. */
    assert_near(g->kv_bytes, 4 * 3 * 50 * 64 * 2, 0);
    /* Prefill: logits of the last token of each sequence only. */
    const struct expected prefill[] = {
        DENSE_LAYERS(2 * 48, FLASH("attention", 4, 2, 8, 2, 48, 48, 0)), HEAD(2)};
    g = build(m, asked(ROOF_PHASE_PREFILL, 2, 48), 0, 0);
    HAS(g, prefill);
    assert_near(g->residual_bytes, 96 * 64 * 2, 0);
    assert_near(g->kv_bytes, 4 * 2 * 48 * 64 * 2, 0);
    /* A chunk of 16 on top of 32 tokens that are cached. */
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 2, 48);
    s.chunk = 16;
    const struct expected chunk[] = {
        DENSE_LAYERS(2 * 16, FLASH("attention", 4, 2, 8, 2, 16, 48, 0)), HEAD(2)};
    g = build(m, s, 0, 0);
    HAS(g, chunk);
    assert_near(g->kv_bytes, 4 * 2 * 48 * 64 * 2, 0);
    /* Mixed: 3 sequences in decode, 2 in prefill with 16 tokens each up to 40. */
    s = asked(ROOF_PHASE_MIXED, 3, 50);
    s.prefill_batch = 2;
    s.chunk = 16;
    s.prefill_context = 40;
    const struct expected mixed[] = {
        DENSE_LAYERS(3 + 2 * 16, FLASH("attention_decode", 4, 3, 8, 2, 1, 50, 0),
                     FLASH("attention_prefill", 4, 2, 8, 2, 16, 40, 0)),
        HEAD(3 + 2)};
    g = build(m, s, 0, 0);
    HAS(g, mixed);
    assert_near(g->kv_bytes, 4 * (3 * 50 + 2 * 40) * 64 * 2, 0);
    /* Three drafts per sequence: four tokens are verified at once, with logits for each. */
    s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.draft_tokens = 3;
    const struct expected drafts[] = {DENSE_LAYERS(3 * 4, FLASH("attention", 4, 3, 8, 2, 4, 53, 0)),
                                      HEAD(3 * 4)};
    g = build(m, s, 0, 0);
    HAS(g, drafts);
    assert_near(g->kv_bytes, 4 * 3 * 53 * 64 * 2, 0);
    roof_model_free(m);
}

/* DeepSeek-V4 keeps, for each sequence, keys of 512 elements in bf16: of the last 128 tokens in
 * each of 43 layers, one for 4 tokens in 21 and one for 128 in 20. The former have index keys of
 * 128 bytes with a scale of 4, and wait with three vectors and gates of both kinds for a window;
 * the latter with one. */
static void test_compressed_cache(void **state)
{
    (void)state;
    struct roof_model *const m = load("deepseek-v4-flash");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 1000);
    s.common.formats.precision = ROOF_PRECISION_BF16;
    roof_model_forget_formats(m);
    const struct roof_graph *const g = build(m, s, 0, 0);
    const double kept = 43 * 128 * 1024 + 21 * 250 * (1024 + 132) + 20 * 7 * 1024;
    const double waiting = 21 * 4 * 2 * (512 + 128) * 3 * 2 + 20 * 128 * 2 * 512 * 2;
    assert_near(g->kv_bytes, 3 * (kept + waiting), 0);
    assert_false(has(g, "index_scores")); /* all 250 are among the 512 that are chosen */
    /* 4000 tokens have 1000 compressed keys. In prefill four queries see the same ones. */
    const struct roof_node *scores =
        find(build(m, asked(ROOF_PHASE_DECODE, 3, 4000), 0, 0), "index_scores");
    assert_int_equal(scores->count, 21);
    assert_int_equal(scores->workload.shape.kv_len, 1000);
    assert_int_equal(scores->workload.shape.heads, 64);
    scores = find(build(m, asked(ROOF_PHASE_PREFILL, 2, 4000), 0, 0), "index_scores");
    assert_int_equal(scores->workload.shape.kv_len, 1000);
    assert_int_equal(scores->workload.shape.heads, 4 * 64);
    assert_int_equal(scores->workload.shape.query_len, 1000);
    /* Every layer attends to its last 128 tokens, with drafts and with prompts beside, too. */
    s = asked(ROOF_PHASE_DECODE, 3, 4000);
    s.draft_tokens = 2;
    assert_int_equal(find(build(m, s, 0, 0), "attention")->workload.shape.window, 128);
    s = asked(ROOF_PHASE_PREFILL, 2, 4000);
    assert_int_equal(find(build(m, s, 0, 0), "attention")->workload.shape.window, 128);
    roof_model_free(m);
}

/* --- fused operators ----------------------------------------------------------------------- */

#define ADD_NORM(name_, count_, op_, tokens_)                                                      \
    {                                                                                              \
        name_, count_, OP(op_),                                                                    \
        {                                                                                          \
            .tokens = (tokens_), .hidden = 64, .gain = 1                                           \
        }                                                                                          \
    }
#define ROPE_APPEND(count_, tokens_)                                                               \
    {                                                                                              \
        "rope_append", count_, OP(ROPE_APPEND),                                                    \
        {                                                                                          \
            .tokens = (tokens_), .heads = 8, .kv_heads = 2, .head_dim = 16, .qk_rope_head_dim = 16 \
        }                                                                                          \
    }
#define SWIGLU(count_, rows)                                                                       \
    {                                                                                              \
        "gate_up_proj", count_, OP(GEMM_SILU_MUL),                                                 \
        {                                                                                          \
            .m = (rows), .n = 80, .k = 64                                                          \
        }                                                                                          \
    }

/* Each sum is joined to the norm behind it: that of the next layer, and at the end the last one,
 * where it is of as many rows. */
static void test_fuse_all(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.fuse = ROOF_FUSE_ALL;
    const struct expected decode[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                      NORM("attn_norm", 1, 3, 64),
                                      ADD_NORM("add_attn_norm", 3, ADD_RMSNORM, 3),
                                      GEMM("qkv_proj", 4, 3, 128 + 2 * 32, 64),
                                      ROPE_APPEND(4, 3),
                                      FLASH("attention", 4, 3, 8, 2, 1, 50, 0),
                                      GEMM("o_proj", 4, 3, 64, 128),
                                      ADD_NORM("add_mlp_norm", 4, ADD_RMSNORM, 3),
                                      SWIGLU(4, 3),
                                      GEMM("down_proj", 4, 3, 64, 80),
                                      ADD_NORM("add_final_norm", 1, ADD_RMSNORM, 3),
                                      GEMM("lm_head", 1, 3, 1001, 64)};
    HAS(build(m, s, 0, 0), decode);
    /* A prompt has one row at its end. */
    s = asked(ROOF_PHASE_PREFILL, 2, 48);
    s.fuse = ROOF_FUSE_ALL;
    const struct roof_graph *g = build(m, s, 0, 0);
    assert_int_equal(find(g, "mlp_add")->count, 1);
    assert_int_equal(find(g, "mlp_add")->workload.shape.tokens, 96);
    assert_int_equal(find(g, "final_norm")->workload.op, OP(RMSNORM));
    /* Each stage begins with a norm and sends its last sum. */
    s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.fuse = ROOF_FUSE_ALL;
    s.pp = 2;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "attn_norm")->count, 1);
    assert_int_equal(find(g, "add_attn_norm")->count, 1);
    assert_int_equal(find(g, "mlp_add")->count, 1);
    assert_int_equal(g->node[g->count - 1].workload.op, OP(SEND));
    g = build(m, s, 1, 0);
    assert_int_equal(find(g, "attn_norm")->count, 1);
    assert_int_equal(find(g, "add_final_norm")->count, 1);
    roof_model_free(m);
}

/* Inputs that products read in fewer bits are quantised on the way out of what makes them; what
 * attention makes is not. The head reads 16 bits. */
static void test_fuse_quantised(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.common.formats.precision = P(FP8_E4M3);
    s.fuse = ROOF_FUSE_ALL;
    const struct expected all[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                   ADD_NORM("attn_norm", 1, RMSNORM_QUANTIZE, 3),
                                   ADD_NORM("add_attn_norm", 3, ADD_RMSNORM_QUANTIZE, 3),
                                   GEMM("qkv_proj", 4, 3, 128 + 2 * 32, 64),
                                   ROPE_APPEND(4, 3),
                                   FLASH("attention", 4, 3, 8, 2, 1, 50, 0),
                                   VECTOR("o_quantize", 4, QUANTIZE, 3, 128),
                                   GEMM("o_proj", 4, 3, 64, 128),
                                   ADD_NORM("add_mlp_norm", 4, ADD_RMSNORM_QUANTIZE, 3),
                                   SWIGLU(4, 3),
                                   GEMM("down_proj", 4, 3, 64, 80),
                                   ADD_NORM("add_final_norm", 1, ADD_RMSNORM, 3),
                                   GEMM("lm_head", 1, 3, 1001, 64)};
    const struct roof_graph *g = build(m, s, 0, 0);
    HAS(g, all);
    assert_int_equal(find(g, "add_mlp_norm")->workload.formats.out, P(FP8_E4M3));
    assert_int_equal(find(g, "add_mlp_norm")->workload.formats.activations, P(BF16));
    assert_int_equal(find(g, "gate_up_proj")->workload.formats.out, P(FP8_E4M3));
    assert_int_equal(find(g, "add_final_norm")->workload.formats.out, P(BF16));
    /* If one of three reads 16 bits, the norm writes them, and the others have a kernel. */
    s.weight[ROOF_WEIGHT_K] = P(BF16);
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "add_attn_norm")->workload.op, OP(ADD_RMSNORM));
    assert_int_equal(find(g, "attn_quantize")->count, 4);
    s.weight[ROOF_WEIGHT_K] = P(AUTO);
    s.fuse = ROOF_FUSE_NONE;
    static const char *const names[] = {
        "embedding", "attn_norm",    "attn_quantize", "q_proj",     "k_proj",  "v_proj",
        "rope",      "kv_append",    "attention",     "o_quantize", "o_proj",  "attn_add",
        "mlp_norm",  "mlp_quantize", "gate_proj",     "up_proj",    "mlp_act", "down_quantize",
        "down_proj", "mlp_add",      "final_norm",    "lm_head"};
    g = build(m, s, 0, 0);
    assert_int_equal(g->count, COUNT(names));
    for (size_t i = 0; i < g->count; i++) {
        assert_string_equal(g->node[i].name, names[i]);
    }
    assert_int_equal(find(g, "attention")->workload.op, OP(ATTENTION));
    assert_int_equal(find(g, "down_quantize")->workload.shape.hidden, 80);
    roof_model_free(m);
}

/* However operators are fused, the same weights are resident. */
static void test_fuse_resident(void **state)
{
    (void)state;
    static const char *const configs[] = {DENSE, MOE, MLA, WINDOWED, TIED};
    for (size_t c = 0; c < COUNT(configs); c++) {
        struct roof_model *const m = parse(configs[c]);
        double bytes[ROOF_FUSE_COUNT] = {0};
        double cache[ROOF_FUSE_COUNT] = {0};
        for (int fuse = 0; fuse < ROOF_FUSE_COUNT; fuse++) {
            struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 40);
            s.common.formats.precision = P(FP8_E4M3);
            s.fuse = fuse;
            const struct roof_graph *const g = build(m, s, 0, 0);
            for (size_t i = 0; i < g->count; i++) {
                bytes[fuse] += roof_node_bytes(&g->node[i]);
            }
            cache[fuse] = g->kv_bytes;
        }
        for (int fuse = 1; fuse < ROOF_FUSE_COUNT; fuse++) {
            assert_near(bytes[fuse], bytes[0], 1e-12);
            assert_near(cache[fuse], cache[0], 0);
        }
        roof_model_free(m);
    }
}

static void test_fuse_refused(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    struct roof_error error = {0};
    s.fuse = ROOF_FUSE_ALL;
    s.common.quantize_input = ROOF_QUANTIZE_DYNAMIC;
    assert_int_equal(roof_scenario_resolve(&s, m, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "default"));
    s.fuse = ROOF_FUSE_DEFAULT;
    assert_int_equal(roof_scenario_resolve(&s, m, &error), ROOF_OK);
    roof_model_free(m);
}

/* Matrices are resident, and vectors (gains, biases) beside them. */
static void test_resident(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double elements;
        double vectors;
    } rows[] = {
        {"embedding", 1001 * 64, 0}, {"attn_norm", 0, 64},
        {"qkv_proj", 192 * 64, 0},   {"rope", 0, 0},
        {"kv_append", 0, 0},         {"attention", 0, 0},
        {"o_proj", 64 * 128, 0},     {"attn_add", 0, 0},
        {"mlp_norm", 0, 64},         {"gate_up_proj", 160 * 64, 0},
        {"mlp_act", 0, 0},           {"down_proj", 64 * 80, 0},
        {"mlp_add", 0, 0},           {"final_norm", 0, 64},
        {"lm_head", 1001 * 64, 0},
    };
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 10);
    s.common.formats.weights = P(FP8_E4M3);
    const struct roof_graph *const g = build(m, s, 0, 0);
    assert_int_equal(g->count, COUNT(rows));
    double bytes = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct roof_node *const node = find(g, rows[i].name);
        /* Matrices in layers one byte, all else two. */
        const double one = rows[i].elements * (node->count > 1 ? 1 : 2) + rows[i].vectors * 2;
        assert_near(node->elements, rows[i].elements, 0);
        assert_near(node->vectors, rows[i].vectors, 0);
        assert_false(node->borrowed || node->routed);
        assert_near(roof_node_bytes(node), one * (double)node->count, 0);
        bytes += roof_node_bytes(node);
    }
    const double layer = 192 * 64 + 64 * 128 + 160 * 64 + 64 * 80;
    assert_near(bytes, 4 * (layer + 2 * 2 * 64) + 2 * (2 * 1001 * 64 + 64), 0);
    /* In the formats that the model itself says: none, so fp16. */
    assert_near(roof_model_bytes(m), 2 * (4 * (layer + 2 * 64) + 2 * 1001 * 64 + 64), 0);
    roof_model_free(m);
}

static void has_parameters(const struct roof_model *m, double total, double active)
{
    double got[2] = {0};
    assert_int_equal(roof_model_parameters(&got[0], &got[1], m, NULL), ROOF_OK);
    assert_near(got[0], total, 0);
    assert_near(got[1], active, 0);
}

/* Elements of matrices and vectors; of the experts those that a token meets are active, and a tied
 * head is the embedding. The smaller graphs come after a larger one. */
static void test_parameters(void **state)
{
    (void)state;
    struct roof_model *m = parse(MOE);
    const double attention = 128 * 64 + 128 + 64 * 64 + 2 * 64;
    const double mlp = 160 * 64 + 64 * 80;
    const double shared = 8 * 64 + 80 * 64 + 64 * 40 + 64;
    const double expert = 3 * 64 * 24;
    const double ends = 2 * 1000 * 64 + 64;
    has_parameters(m, 3 * attention + mlp + 2 * (shared + 8 * expert) + ends,
                   3 * attention + mlp + 2 * (shared + 2 * expert) + ends);
    roof_model_free(m);
    const double layers = 4 * (192 * 64 + 64 * 128 + mlp + 2 * 64) + 64;
    m = parse(DENSE);
    has_parameters(m, layers + 2 * 1001 * 64, layers + 2 * 1001 * 64);
    roof_model_free(m);
    m = parse(TIED);
    has_parameters(m, layers + 1001 * 64, layers + 1001 * 64);
    roof_model_free(m);
}

/* Scales: 4 bytes per tensor in NVFP4 (9 bytes per 16), per row of a matrix in INT8 by channel. */
static void test_scales(void **state)
{
    (void)state;
    struct roof_model *m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 10);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        s.weight[w] = w == W(NORM) ? P(FP16) : P(INT8_CHANNEL);
    }
    const struct roof_graph *g = build(m, s, 0, 0);
    assert_near(roof_node_bytes(find(g, "qkv_proj")), 4 * (192 * 64 + 4 * 192), 0);
    assert_near(roof_node_bytes(find(g, "down_proj")), 4 * (64 * 80 + 4 * 64), 0);
    assert_near(roof_node_bytes(find(g, "embedding")), 1001 * 64 + 4 * 1001, 0);
    assert_near(roof_node_bytes(find(g, "lm_head")), 1001 * 64 + 4 * 1001, 0);
    s.weight[W(EMBEDDING)] = s.weight[W(LM_HEAD)] = P(NVFP4);
    g = build(m, s, 0, 0);
    assert_near(roof_node_bytes(find(g, "embedding")), 1001 * 36 + 4, 0);
    assert_near(roof_node_bytes(find(g, "lm_head")), 1001 * 36 + 4, 0);
    s.weight[W(EMBEDDING)] = s.weight[W(LM_HEAD)] = P(INT8_CHANNEL);
    /* Vectors are counted without. */
    s.weight[W(NORM)] = P(NVFP4);
    assert_near(roof_node_bytes(find(build(m, s, 0, 0), "attn_norm")), 4 * 36, 0);
    s.weight[W(NORM)] = P(INT8_CHANNEL);
    assert_near(roof_node_bytes(find(build(m, s, 0, 0), "attn_norm")), 4 * 64, 0);
    s.weight[W(NORM)] = P(FP16);
    roof_model_free(m);
    /* Each matrix of the experts has rows of its own: 24, 24 and 64. */
    m = parse(MOE);
    g = build(m, s, 0, 0);
    assert_near(roof_node_bytes(find(g, "experts")), 2 * 8 * (3 * 64 * 24 + 4 * (2 * 24 + 64)), 0);
    s.weight[W(EXPERT_GATE)] = s.weight[W(EXPERT_UP)] = s.weight[W(EXPERT_DOWN)] = P(NVFP4);
    g = build(m, s, 0, 0);
    assert_near(roof_node_bytes(find(g, "experts")), 2 * 8 * 3 * (64 * 24 * 9. / 16 + 4), 0);
    roof_model_free(m);
    /* The absorbed matrices, 4 x 32 x 16 and 4 x 12 x 32, are two parts of one tensor. */
    m = parse(MLA);
    s.weight[W(KV_B)] = P(NVFP4);
    g = build(m, s, 0, 0);
    assert_near(roof_node_bytes(find(g, "q_absorb")) + roof_node_bytes(find(g, "v_absorb")),
                2 * ((2048 + 1536) * 9. / 16 + 4), 0);
    s.weight[W(KV_B)] = P(INT8_CHANNEL);
    g = build(m, s, 0, 0);
    assert_near(roof_node_bytes(find(g, "q_absorb")), 2 * (2048 + 4 * 4 * 16), 0);
    assert_near(roof_node_bytes(find(g, "v_absorb")), 2 * (1536 + 4 * 4 * 12), 0);
    roof_model_free(m);
}

static void test_options(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.split_projections = 1;
    const struct expected split[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                     NORM("attn_norm", 4, 3, 64),
                                     GEMM("q_proj", 4, 3, 128, 64),
                                     GEMM("k_proj", 4, 3, 32, 64),
                                     GEMM("v_proj", 4, 3, 32, 64),
                                     ROPE(4, 3, 8, 2, 16),
                                     APPEND(4, 3, 8, 2, 16),
                                     FLASH("attention", 4, 3, 8, 2, 1, 50, 0),
                                     GEMM("o_proj", 4, 3, 64, 128),
                                     VECTOR("attn_add", 4, ADD, 3, 64),
                                     NORM("mlp_norm", 4, 3, 64),
                                     GEMM("gate_proj", 4, 3, 80, 64),
                                     GEMM("up_proj", 4, 3, 80, 64),
                                     VECTOR("mlp_act", 4, SILU_MUL, 3, 80),
                                     GEMM("down_proj", 4, 3, 64, 80),
                                     VECTOR("mlp_add", 4, ADD, 3, 64),
                                     HEAD(3)};
    HAS(build(m, s, 0, 0), split);
    static const enum roof_weight of[] = {
        W(EMBEDDING), W(NORM), W(Q),    W(K),  W(V),    W(NORM), W(NORM), W(COUNT), W(O),
        W(NORM),      W(NORM), W(GATE), W(UP), W(NORM), W(DOWN), W(NORM), W(NORM),  W(LM_HEAD)};
    const struct roof_graph *g = build(m, s, 0, 0);
    for (size_t i = 0; i < COUNT(of); i++) {
        assert_int_equal(g->node[i].weight, of[i]);
    }
    /* Classes with one input share a product, which is named after the first of them. */
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    assert_int_equal(find(g, "qkv_proj")->weight, W(Q));
    assert_int_equal(find(g, "gate_up_proj")->weight, W(GATE));
    s = asked(ROOF_PHASE_PREFILL, 1, 30);
    s.unfused_attention = 1;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "attention")->workload.op, OP(ATTENTION));
    assert_int_equal(find(g, "attention")->workload.shape.kv_heads, 2);
    assert_int_equal(find(g, "attention")->workload.shape.query_len, 30);
    assert_int_equal(find(g, "attention")->workload.shape.causal, 1);
    /* Linear layers are pruned; the head, the cache and what other formats store are not. */
    const double dense = roof_node_bytes(find(g, "qkv_proj"));
    s.common.sparse = 1;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "qkv_proj")->workload.sparse, 1);
    assert_true(roof_node_bytes(find(g, "qkv_proj")) == dense * 9 / 16);
    assert_int_equal(find(g, "down_proj")->workload.sparse, 1);
    assert_int_equal(find(g, "lm_head")->workload.sparse, 0);
    assert_int_equal(find(g, "attention")->workload.sparse, 0);
    s.weight[ROOF_WEIGHT_DOWN] = ROOF_PRECISION_INT4;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "qkv_proj")->workload.sparse, 1);
    assert_int_equal(find(g, "down_proj")->workload.sparse, 0);
    struct roof_scenario none = s;
    none.common.formats.weights = ROOF_PRECISION_NVFP4;
    struct roof_graph refused;
    assert_int_equal(roof_scenario_resolve(&none, m, NULL), ROOF_OK);
    assert_int_equal(roof_graph_build(&refused, m, &none, 0, (struct roof_places){0}, NULL),
                     ROOF_USAGE);
    s.weight[ROOF_WEIGHT_DOWN] = ROOF_PRECISION_AUTO;
    /* So is what quantises the inputs of weights. */
    s.common.quantize_input = ROOF_QUANTIZE_DYNAMIC;
    for (int unfused = 0; unfused <= 1; unfused++) {
        s.unfused_attention = unfused;
        g = build(m, s, 0, 0);
        for (size_t i = 0; i < g->count; i++) {
            assert_int_equal(g->node[i].workload.quantize_input, g->node[i].workload.op == OP(GEMM)
                                                                     ? ROOF_QUANTIZE_DYNAMIC
                                                                     : ROOF_QUANTIZE_NONE);
        }
    }
    roof_model_free(m);
}

/* Returns how a node quantises its input; each node with this name does it in the same way. */
static int64_t quantization(const struct roof_graph *g, const char *name)
{
    const int64_t found = find(g, name)->workload.quantize_input;
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->node[i].name, name) == 0) {
            assert_int_equal(g->node[i].workload.quantize_input, found);
        }
    }
    return found;
}

/* The first product that reads a tensor quantises it for the others, in each kind of layers. Those
 * that read another tensor, and experts, do it themselves. */
static void test_shared_quantization(void **state)
{
    (void)state;
    static const char *const own[] = {"q_a_proj", "q_b_proj", "o_a_proj",           "o_b_proj",
                                      "experts",  "lm_head",  "shared_gate_up_proj"};
    static const char *const shared[] = {"kv_proj", "index_q_proj"};
    static const char *const wide[] = {"compress_proj", "index_compress_proj",
                                       "index_weights_proj"};
    struct roof_model *const m = load("deepseek-v4-flash");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.common.formats.weights = ROOF_PRECISION_FP8_BLOCK128;
    s.common.formats.activations = ROOF_PRECISION_FP8_E4M3;
    s.common.quantize_input = ROOF_QUANTIZE_BLOCK;
    const struct roof_graph *g = build(m, s, 0, 0);
    for (size_t i = 0; i < COUNT(own); i++) {
        assert_int_equal(quantization(g, own[i]), ROOF_QUANTIZE_BLOCK);
    }
    for (size_t i = 0; i < COUNT(shared); i++) {
        assert_int_equal(quantization(g, shared[i]), ROOF_QUANTIZE_NONE);
    }
    for (size_t i = 0; i < COUNT(wide); i++) {
        assert_int_equal(find(g, wide[i])->workload.formats.weights, ROOF_PRECISION_BF16);
    }
    /* The first of those that read 16 bits is the first that reads this tensor. */
    assert_int_equal(quantization(g, "compress_proj"), ROOF_QUANTIZE_BLOCK);
    assert_int_equal(quantization(g, "index_compress_proj"), ROOF_QUANTIZE_NONE);
    s.weight[ROOF_WEIGHT_COMPRESS] = ROOF_PRECISION_FP8_BLOCK128;
    g = build(m, s, 0, 0);
    for (size_t i = 0; i < COUNT(wide); i++) {
        assert_int_equal(quantization(g, wide[i]), ROOF_QUANTIZE_NONE);
    }
    roof_model_free(m);
}

/* Windowed layers have an attention of their own; all else is one operator for all layers. */
static void test_windows(void **state)
{
    (void)state;
    struct roof_model *const m = parse(WINDOWED);
    /* Layers 0 and 2 come first. */
    const struct expected decode[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                      NORM("attn_norm", 4, 3, 64),
                                      GEMM("qkv_proj", 4, 3, 192, 64),
                                      ROPE(4, 3, 8, 2, 16),
                                      APPEND(4, 3, 8, 2, 16),
                                      FLASH("attention_window", 2, 3, 8, 2, 1, 50, 20),
                                      GEMM("o_proj", 4, 3, 64, 128),
                                      VECTOR("attn_add", 4, ADD, 3, 64),
                                      NORM("mlp_norm", 4, 3, 64),
                                      GEMM("gate_up_proj", 4, 3, 160, 64),
                                      VECTOR("mlp_act", 4, SILU_MUL, 3, 80),
                                      GEMM("down_proj", 4, 3, 64, 80),
                                      VECTOR("mlp_add", 4, ADD, 3, 64),
                                      FLASH("attention", 2, 3, 8, 2, 1, 50, 0),
                                      HEAD(3)};
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    HAS(g, decode);
    /* Two layers keep all, two the last 20. */
    assert_near(g->kv_bytes, 3 * (2 * 50 + 2 * 20) * 64 * 2, 0);
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 20), 0, 0);
    assert_near(g->kv_bytes, 3 * 4 * 20 * 64 * 2, 0);
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 21), 0, 0);
    assert_near(g->kv_bytes, 3 * (2 * 21 + 2 * 20) * 64 * 2, 0);
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 7), 0, 0);
    assert_near(g->kv_bytes, 3 * 4 * 7 * 64 * 2, 0);
    struct roof_scenario s = asked(ROOF_PHASE_MIXED, 3, 50);
    s.prefill_batch = 2;
    s.chunk = 16;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "attention_decode_window")->count, 2);
    assert_int_equal(find(g, "attention_decode_window")->workload.shape.window, 20);
    assert_int_equal(find(g, "attention_prefill_window")->workload.shape.window, 20);
    assert_int_equal(find(g, "attention_prefill_window")->workload.shape.query_len, 16);
    assert_int_equal(find(g, "attention_decode")->workload.shape.window, 0);
    assert_true(find(g, "attention_decode")->part.beside_prompts);
    assert_false(find(g, "attention_prefill")->part.beside_prompts);
    assert_int_equal(find(g, "attention_prefill")->workload.shape.window, 0);
    assert_near(g->kv_bytes, (3 * (2 * 50 + 2 * 20) + 2 * 4 * 16) * 64 * 2, 0);
    /* One more token before any window is full: all layers. */
    s = resolved(asked(ROOF_PHASE_DECODE, 3, 50), m);
    assert_near(roof_kv_bytes_per_token(m, &s), 4 * 64 * 2, 0);
    assert_near(roof_kv_bytes_per_further_token(m, &s), 2 * 64 * 2, 0);
    roof_model_free(m);
}

/* The attention in layers with chunks of 20 tokens: the parts that are expected, with their
 * sequences, queries and keys. */
struct part {
    const char *name;
    int64_t batch, query_len, kv_len;
};

static void has_parts(const struct roof_graph *g, const struct part *part, size_t count)
{
    static const char *const names[] = {"attention_chunk",
                                        "attention_chunk_begin",
                                        "attention_chunk_end",
                                        "attention_decode_chunk",
                                        "attention_prefill_chunk",
                                        "attention_prefill_chunk_begin",
                                        "attention_prefill_chunk_end"};
    size_t found = 0;
    for (size_t i = 0; i < g->count; i++) {
        for (size_t k = 0; k < COUNT(names); k++) {
            found += strcmp(g->node[i].name, names[k]) == 0;
        }
    }
    assert_int_equal(found, count);
    for (size_t i = 0; i < count; i++) {
        const struct roof_node *const node = find(g, part[i].name);
        const struct roof_shape *const s = &node->workload.shape;
        assert_int_equal(node->count, 3);
        if (s->batch != part[i].batch || s->query_len != part[i].query_len ||
            s->kv_len != part[i].kv_len || s->causal != 1 || s->window != 0) {
            fail_msg("%s: %lld sequences, %lld queries, %lld keys", part[i].name,
                     (long long)s->batch, (long long)s->query_len, (long long)s->kv_len);
        }
    }
}

#define PARTS(g, ...)                                                                              \
    has_parts(g, (const struct part[]){__VA_ARGS__}, COUNT(((const struct part[]){__VA_ARGS__})))

static void test_chunks(void **state)
{
    (void)state;
    struct roof_model *const m =
        parse("{\"model_type\": \"llama4_text\", \"attention_chunk_size\": 20, "
              "\"num_local_experts\": 8, \"num_experts_per_tok\": 1, " DENSE_SIZES "}");
    /* Three of the four layers have chunks; they norm and rotate heads, the last one does not. */
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 20), 0, 0);
    PARTS(g, {"attention_chunk", 3, 1, 20});
    assert_int_equal(find(g, "attention")->count, 1);
    assert_int_equal(find(g, "attention")->workload.shape.kv_len, 20);
    assert_int_equal(find(g, "rope")->count, 3);
    assert_int_equal(find(g, "q_norm")->count, 3);
    assert_int_equal(find(g, "k_norm")->workload.shape.gain, 0);
    assert_near(find(g, "k_norm")->vectors, 0, 0);
    assert_near(g->kv_bytes, 3 * 4 * 20 * 64 * 2, 0);
    /* Beyond the first chunk a token sees 1 to 20 keys, 10.5 in the mean; 5 drafts and it 13. */
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 21), 0, 0);
    PARTS(g, {"attention_chunk", 3, 1, 10});
    assert_int_equal(find(g, "attention")->workload.shape.kv_len, 21);
    assert_near(g->kv_bytes, 3 * (3 * 20 + 21) * 64 * 2, 0);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.draft_tokens = 5;
    PARTS(build(m, s, 0, 0), {"attention_chunk", 3, 6, 13});
    /* A prompt of 50 is two whole chunks and 10 tokens. */
    PARTS(build(m, asked(ROOF_PHASE_PREFILL, 3, 50), 0, 0), {"attention_chunk", 6, 20, 20},
          {"attention_chunk_end", 3, 10, 10});
    PARTS(build(m, asked(ROOF_PHASE_PREFILL, 3, 40), 0, 0), {"attention_chunk", 6, 20, 20});
    PARTS(build(m, asked(ROOF_PHASE_PREFILL, 3, 20), 0, 0), {"attention_chunk", 3, 20, 20});
    PARTS(build(m, asked(ROOF_PHASE_PREFILL, 3, 7), 0, 0), {"attention_chunk", 3, 7, 7});
    /* Tokens 13 to 72 of 73: 7 of the first chunk, two whole ones, and 13. */
    s = asked(ROOF_PHASE_PREFILL, 2, 73);
    s.chunk = 60;
    PARTS(build(m, s, 0, 0), {"attention_chunk", 4, 20, 20}, {"attention_chunk_begin", 2, 7, 20},
          {"attention_chunk_end", 2, 13, 13});
    /* Tokens 13 to 32: no whole chunk. */
    s = asked(ROOF_PHASE_PREFILL, 2, 33);
    s.chunk = 20;
    PARTS(build(m, s, 0, 0), {"attention_chunk_begin", 2, 7, 20},
          {"attention_chunk_end", 2, 13, 13});
    /* A shorter pass may stand anywhere, beyond the first chunk. */
    s.chunk = 16;
    PARTS(build(m, s, 0, 0), {"attention_chunk", 2, 16, 18});
    s = asked(ROOF_PHASE_PREFILL, 2, 20);
    s.chunk = 16;
    PARTS(build(m, s, 0, 0), {"attention_chunk", 2, 16, 20});
    s = asked(ROOF_PHASE_MIXED, 3, 50);
    s.prefill_batch = 2;
    s.chunk = 45;
    PARTS(build(m, s, 0, 0), {"attention_decode_chunk", 3, 1, 10},
          {"attention_prefill_chunk", 4, 20, 20}, {"attention_prefill_chunk_end", 2, 5, 5});
    roof_model_free(m);
}

/* Gemma has norms around, over each head of Q and K; GPT-NeoX adds both branches to one input;
 * GPT-2 and OPT have a table of positions. */
static void test_families(void **state)
{
    (void)state;
    struct roof_model *m = parse("{\"model_type\": \"gemma3_text\", " DENSE_SIZES "}");
    const struct expected gemma[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                     NORM("attn_norm", 4, 3, 64),
                                     GEMM("qkv_proj", 4, 3, 192, 64),
                                     NORM("q_norm", 4, 3 * 8, 16),
                                     NORM("k_norm", 4, 3 * 2, 16),
                                     ROPE(4, 3, 8, 2, 16),
                                     APPEND(4, 3, 8, 2, 16),
                                     FLASH("attention", 4, 3, 8, 2, 1, 50, 0),
                                     GEMM("o_proj", 4, 3, 64, 128),
                                     NORM("attn_post_norm", 4, 3, 64),
                                     VECTOR("attn_add", 4, ADD, 3, 64),
                                     NORM("mlp_norm", 4, 3, 64),
                                     GEMM("gate_up_proj", 4, 3, 160, 64),
                                     VECTOR("mlp_act", 4, SILU_MUL, 3, 80),
                                     GEMM("down_proj", 4, 3, 64, 80),
                                     NORM("mlp_post_norm", 4, 3, 64),
                                     VECTOR("mlp_add", 4, ADD, 3, 64),
                                     HEAD(3)};
    HAS(build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0), gemma);
    roof_model_free(m);

#define BIASED(name_, count_, m_, n_, k_)                                                          \
    {                                                                                              \
        name_, count_, OP(GEMM),                                                                   \
        {                                                                                          \
            .m = (m_), .n = (n_), .k = (k_), .bias = 1                                             \
        }                                                                                          \
    }
#define LAYERNORM(name_, count_, tokens_)                                                          \
    {                                                                                              \
        name_, count_, OP(LAYERNORM),                                                              \
        {                                                                                          \
            .tokens = (tokens_), .hidden = 64, .gain = 1                                           \
        }                                                                                          \
    }
    m = parse("{\"model_type\": \"gpt_neox\", \"rotary_pct\": 0.25, " DENSE_SIZES "}");
    const struct expected neox[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                    LAYERNORM("attn_norm", 4, 3),
                                    BIASED("qkv_proj", 4, 3, 192, 64),
                                    ROPE(4, 3, 8, 2, 4), /* a quarter of 16 */
                                    APPEND(4, 3, 8, 2, 16),
                                    FLASH("attention", 4, 3, 8, 2, 1, 50, 0),
                                    BIASED("o_proj", 4, 3, 64, 128),
                                    VECTOR("attn_add", 4, ADD, 3, 64),
                                    LAYERNORM("mlp_norm", 4, 3),
                                    BIASED("up_proj", 4, 3, 80, 64),
                                    VECTOR("mlp_act", 4, GELU, 3, 80),
                                    BIASED("down_proj", 4, 3, 64, 80),
                                    VECTOR("mlp_add", 4, ADD, 3, 64),
                                    LAYERNORM("final_norm", 1, 3),
                                    GEMM("lm_head", 1, 3, 1001, 64)};
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    HAS(g, neox);
    assert_near(find(g, "attn_norm")->vectors, 2 * 64, 0); /* gain and bias */
    assert_near(find(g, "qkv_proj")->vectors, 192, 0);
    assert_near(find(g, "o_proj")->vectors, 64, 0);
    assert_near(find(g, "up_proj")->vectors, 80, 0);
    assert_near(find(g, "down_proj")->vectors, 64, 0);
    assert_near(find(g, "lm_head")->vectors, 0, 0);
    /* The sum of both branches crosses the devices once. */
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    g = build(m, s, 0, 0);
    assert_false(has(g, "attn_all_reduce"));
    assert_int_equal(find(g, "mlp_all_reduce")->count, 4);
    roof_model_free(m);

    /* Phi's head has a bias, of which each of two devices has half, rounded up. */
    m = parse("{\"model_type\": \"phi\", " DENSE_SIZES "}");
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "lm_head")->workload.shape.bias, 1);
    assert_near(find(g, "lm_head")->vectors, 501, 0);
    assert_near(roof_node_bytes(find(g, "lm_head")), 2 * (501 * 64 + 501), 0);
    roof_model_free(m);
    /* The matrix is the embedding's where they are tied, the bias is not. */
    m = parse("{\"model_type\": \"phi\", \"tie_word_embeddings\": true, " DENSE_SIZES "}");
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    assert_near(roof_node_bytes(find(g, "lm_head")), 2 * 1001, 0);
    roof_model_free(m);

    m = parse("{\"model_type\": \"opt\", " DENSE_SIZES "}");
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    const struct expected opt[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                   VECTOR("position", 1, EMBEDDING, 3, 64),
                                   VECTOR("position_add", 1, ADD, 3, 64),
                                   LAYERNORM("attn_norm", 4, 3),
                                   BIASED("qkv_proj", 4, 3, 192, 64),
                                   APPEND(4, 3, 8, 2, 16),
                                   FLASH("attention", 4, 3, 8, 2, 1, 50, 0),
                                   BIASED("o_proj", 4, 3, 64, 128),
                                   VECTOR("attn_add", 4, ADD, 3, 64),
                                   LAYERNORM("mlp_norm", 4, 3),
                                   BIASED("up_proj", 4, 3, 80, 64),
                                   VECTOR("mlp_act", 4, GELU, 3, 80),
                                   BIASED("down_proj", 4, 3, 64, 80),
                                   VECTOR("mlp_add", 4, ADD, 3, 64),
                                   LAYERNORM("final_norm", 1, 3),
                                   GEMM("lm_head", 1, 3, 1001, 64)};
    HAS(g, opt);
    assert_near(find(g, "position")->elements, 2050 * 64, 0);
    assert_near(find(g, "embedding")->elements, 1001 * 64, 0);
    roof_model_free(m);
    /* Norms without a gain read nothing. */
    m = parse("{\"model_type\": \"opt\", \"layer_norm_elementwise_affine\": false, " DENSE_SIZES
              "}");
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    assert_int_equal(find(g, "attn_norm")->workload.shape.gain, 0);
    assert_near(find(g, "attn_norm")->vectors, 0, 0);
    roof_model_free(m);
}

/* --- experts ------------------------------------------------------------------------------- */

#define EXPERTS(count_, tokens_, width_, ep_)                                                      \
    {                                                                                              \
        "experts", count_, OP(MOE),                                                                \
        {                                                                                          \
            .tokens = (tokens_), .hidden = 64, .intermediate = (width_), .experts = 8, .top_k = 2, \
            .ep = (ep_)                                                                            \
        }                                                                                          \
    }
#define TOP_K(count_, tokens_)                                                                     \
    {                                                                                              \
        "top_k", count_, OP(ROUTER),                                                               \
        {                                                                                          \
            .tokens = (tokens_), .experts = 8, .top_k = 2                                          \
        }                                                                                          \
    }
/* Collectives: over devices that lie within so many consecutive ones. */
#define COLLECTIVE(name_, count_, op_, elements_, devices_, within_)                               \
    {                                                                                              \
        name_, count_, OP(op_),                                                                    \
        {                                                                                          \
            .elements = (elements_), .devices = (devices_), .within = (within_)                    \
        }                                                                                          \
    }

static void test_experts(void **state)
{
    (void)state;
    struct roof_model *m = parse(MOE);
    /* Layer 0 has the MLP, 1 and 2 the experts; attention, norms and residuals are those of all. */
    const struct expected decode[] = {VECTOR("embedding", 1, EMBEDDING, 5, 64),
                                      NORM("attn_norm", 3, 5, 64),
                                      BIASED("qkv_proj", 3, 5, 64 + 2 * 32, 64),
                                      ROPE(3, 5, 4, 2, 16),
                                      APPEND(3, 5, 4, 2, 16),
                                      FLASH("attention", 3, 5, 4, 2, 1, 50, 0),
                                      GEMM("o_proj", 3, 5, 64, 64),
                                      VECTOR("attn_add", 3, ADD, 5, 64),
                                      NORM("mlp_norm", 3, 5, 64),
                                      GEMM("gate_up_proj", 1, 5, 160, 64),
                                      VECTOR("mlp_act", 1, SILU_MUL, 5, 80),
                                      GEMM("down_proj", 1, 5, 64, 80),
                                      VECTOR("mlp_add", 3, ADD, 5, 64),
                                      GEMM("router", 2, 5, 8, 64),
                                      TOP_K(2, 5),
                                      EXPERTS(2, 5, 24, 1),
                                      GEMM("shared_gate_up_proj", 2, 5, 80, 64),
                                      VECTOR("shared_act", 2, SILU_MUL, 5, 40),
                                      GEMM("shared_down_proj", 2, 5, 64, 40),
                                      VECTOR("shared_add", 2, ADD, 5, 64),
                                      NORM("final_norm", 1, 5, 64),
                                      GEMM("lm_head", 1, 5, 1000, 64)};
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 5, 50), 0, 0);
    HAS(g, decode);
    const struct roof_node *const experts = find(g, "experts");
    assert_true(experts->routed);
    assert_near(experts->elements, 8 * 3 * 64 * 24, 0);
    assert_near(experts->tensors, 8 * 3, 0);
    assert_near(experts->vectors, 0, 0);
    assert_near(find(g, "shared_add")->vectors, 64, 0); /* the gate of the shared expert */
    assert_near(find(g, "router")->elements, 8 * 64, 0);
    assert_false(find(g, "shared_down_proj")->routed);
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 2, 50);
    s.common.shape.routing = ROOF_ROUTING_BALANCED;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "experts")->workload.shape.routing, ROOF_ROUTING_BALANCED);
    assert_int_equal(find(g, "experts")->workload.shape.tokens, 100);
    assert_int_equal(find(g, "router")->workload.shape.m, 100);
    s.split_projections = 1;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "shared_gate_proj")->workload.shape.n, 40);
    assert_int_equal(find(g, "shared_up_proj")->workload.shape.n, 40);
    roof_model_free(m);
    /* gpt-oss: biases of experts (two of 24, one of 64) and router, a sink per head. */
    m = parse("{\"model_type\": \"gpt_oss\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
              "\"num_attention_heads\": 4, \"head_dim\": 16, \"vocab_size\": 1000, "
              "\"num_local_experts\": 8, \"experts_per_token\": 2, \"intermediate_size\": 24, "
              "\"sliding_window\": 5}");
    g = build(m, asked(ROOF_PHASE_DECODE, 5, 50), 0, 0);
    assert_near(find(g, "experts")->vectors, 8 * (2 * 24 + 64), 0);
    assert_int_equal(find(g, "experts")->workload.shape.bias, 1);
    assert_near(find(g, "router")->vectors, 8, 0);
    assert_near(find(g, "attention")->vectors, 4, 0);
    assert_near(find(g, "attention_window")->vectors, 4, 0);
    assert_false(has(g, "shared_add"));
    /* In formats that differ: two matrices and one, biases of 2 x 24 and of 64. */
    s = asked(ROOF_PHASE_DECODE, 5, 50);
    s.weight[W(EXPERT_DOWN)] = P(FP8_E4M3);
    g = build(m, s, 0, 0);
    assert_false(has(g, "experts"));
    assert_int_equal(find(g, "experts_gate_up")->workload.op, OP(MOE_GATE_UP));
    assert_int_equal(find(g, "experts_down")->workload.op, OP(MOE_DOWN));
    assert_int_equal(find(g, "experts_down")->workload.shape.tokens, 5);
    assert_int_equal(find(g, "experts_down")->workload.shape.intermediate, 24);
    assert_near(find(g, "experts_gate_up")->elements, 8 * 2 * 64 * 24, 0);
    assert_near(find(g, "experts_down")->elements, 8 * 64 * 24, 0);
    assert_near(find(g, "experts_gate_up")->vectors, 8 * 2 * 24, 0);
    assert_near(find(g, "experts_down")->vectors, 8 * 64, 0);
    assert_true(find(g, "experts_gate_up")->routed && find(g, "experts_down")->routed);
    /* In a mixed pass the sinks are there once. */
    s = asked(ROOF_PHASE_MIXED, 5, 50);
    g = build(m, s, 0, 0);
    assert_near(find(g, "attention_decode")->vectors + find(g, "attention_prefill")->vectors, 4, 0);
    roof_model_free(m);
}

/* Experts over two devices: each has half of them and half of the sequences; all tokens of both
 * meet them. */
static void test_expert_parallel(void **state)
{
    (void)state;
    struct roof_model *m = parse(MOE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 5, 50);
    s.common.shape.ep = 2;
    /* 5 sequences: 3 on one device. A token's two experts are both here with probability
     * 4/8 x 3/7 = 3/14, else a copy of its 64 elements leaves: 3 x 64 x 11/14 = 150.9, which is
     * half of what the all-to-all is given. */
    const struct expected decode[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                      NORM("attn_norm", 3, 3, 64),
                                      BIASED("qkv_proj", 3, 3, 128, 64),
                                      ROPE(3, 3, 4, 2, 16),
                                      APPEND(3, 3, 4, 2, 16),
                                      FLASH("attention", 3, 3, 4, 2, 1, 50, 0),
                                      GEMM("o_proj", 3, 3, 64, 64),
                                      VECTOR("attn_add", 3, ADD, 3, 64),
                                      NORM("mlp_norm", 3, 3, 64),
                                      GEMM("gate_up_proj", 1, 3, 160, 64),
                                      VECTOR("mlp_act", 1, SILU_MUL, 3, 80),
                                      GEMM("down_proj", 1, 3, 64, 80),
                                      VECTOR("mlp_add", 3, ADD, 3, 64),
                                      GEMM("router", 2, 3, 8, 64),
                                      TOP_K(2, 3),
                                      COLLECTIVE("dispatch", 2, ALL_TO_ALL, 302, 2, 2),
                                      EXPERTS(2, 5, 24, 2),
                                      COLLECTIVE("combine", 2, ALL_TO_ALL, 302, 2, 2),
                                      GEMM("shared_gate_up_proj", 2, 3, 80, 64),
                                      VECTOR("shared_act", 2, SILU_MUL, 3, 40),
                                      GEMM("shared_down_proj", 2, 3, 64, 40),
                                      VECTOR("shared_add", 2, ADD, 3, 64),
                                      NORM("final_norm", 1, 3, 64),
                                      GEMM("lm_head", 1, 3, 1000, 64)};
    const struct roof_graph *g = build(m, s, 0, 0);
    HAS(g, decode);
    assert_near(find(g, "experts")->elements, 4 * 3 * 64 * 24, 0);
    /* K and V: 2 x 2 heads x 16, of the sequences of this device. */
    assert_near(g->kv_bytes, 3 * 3 * 50 * 64 * 2, 0);
    /* With tensor parallelism inside: the group is four devices wide. */
    s.tp = 2;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "dispatch")->workload.shape.devices, 2);
    assert_int_equal(find(g, "dispatch")->workload.shape.within, 4);
    assert_int_equal(find(g, "attn_all_reduce")->workload.shape.within, 2);
    assert_int_equal(find(g, "experts")->workload.shape.intermediate, 12);
    assert_near(find(g, "experts")->elements, 4 * 3 * 64 * 12, 0);
    /* The dispatch carries what the experts take in, the results come back in the output's. */
    s = asked(ROOF_PHASE_DECODE, 5, 50);
    s.common.shape.ep = 2;
    s.common.formats.precision = P(FP8_E4M3);
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "dispatch")->workload.formats.activations, P(FP8_E4M3));
    assert_int_equal(find(g, "combine")->workload.formats.activations, P(BF16));
    /* Gate and up are taken in the wider format, and so is what they take in. */
    s.weight[ROOF_WEIGHT_EXPERT_UP] = P(BF16);
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "experts_gate_up")->workload.formats.activations, P(BF16));
    assert_int_equal(find(g, "dispatch")->workload.formats.activations, P(BF16));
    roof_model_free(m);
    /* An expert on each device: a token goes to five of twelve, 5/12 of them are its own, and what
     * leaves is 11/12 of what is given. That is a whole number, and stays one. */
    m = parse("{\"model_type\": \"mixtral\", \"num_local_experts\": 12, "
              "\"num_experts_per_tok\": 5, " DENSE_SIZES "}");
    for (int64_t batch = 1; batch <= 50; batch++) {
        s = asked(ROOF_PHASE_DECODE, 12 * batch, 50);
        s.common.shape.ep = 12;
        assert_int_equal(find(build(m, s, 0, 0), "dispatch")->workload.shape.elements,
                         batch * 64 * 5);
    }
    roof_model_free(m);
    /* All experts: a copy to each device, however many of them it has. */
    static const struct {
        const char *config;
        int64_t ep;
    } all[] = {{"{\"model_type\": \"mixtral\", \"num_local_experts\": 8, "
                "\"num_experts_per_tok\": 8, " DENSE_SIZES "}",
                2},
               {"{\"model_type\": \"mixtral\", \"num_local_experts\": 37, "
                "\"num_experts_per_tok\": 37, " DENSE_SIZES "}",
                37}};
    for (size_t i = 0; i < COUNT(all); i++) {
        m = parse(all[i].config);
        s = asked(ROOF_PHASE_DECODE, 3 * all[i].ep, 50);
        s.common.shape.ep = all[i].ep;
        assert_int_equal(find(build(m, s, 0, 0), "dispatch")->workload.shape.elements,
                         3 * 64 * all[i].ep);
        roof_model_free(m);
    }
}

/* A scenario of 5 sequences on tp x attention_dp devices, with parts of the experts or not (0). */
static struct roof_scenario asked_apart(int64_t tp, int64_t attention_dp, int64_t moe_tp,
                                        int64_t moe_ep)
{
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 5, 50);
    s.tp = tp;
    s.attention_dp = attention_dp;
    s.moe_tp = moe_tp;
    s.moe_ep = moe_ep;
    return s;
}

static void is_collective(const struct roof_graph *g, const char *name, enum roof_operator op,
                          int64_t elements, int64_t devices, int64_t within)
{
    const struct roof_workload *const w = &find(g, name)->workload;
    assert_int_equal(w->op, op);
    assert_int_equal(w->shape.elements, elements);
    assert_int_equal(w->shape.devices, devices);
    assert_int_equal(w->shape.within, within);
}

/* Two groups of two devices have 3 of 5 sequences each, of 64 elements. */
static void test_attention_groups(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MOE);
    /* Two experts on each device: a token has neither with probability 6/8 x 5/7 = 15/28. The two
     * devices that have it send 1 x 13/28 copies each: 3 x 64 x 13/28 = 89.1 elements, which is 3/4
     * of 118.9. */
    const struct roof_graph *g = build(m, asked_apart(2, 2, 1, 4), 0, 0);
    is_collective(g, "dispatch", OP(ALL_TO_ALL), 119, 4, 4);
    is_collective(g, "combine", OP(ALL_TO_ALL), 119, 4, 4);
    is_collective(g, "attn_all_reduce", OP(ALL_REDUCE), 3 * 64, 2, 2);
    is_collective(g, "mlp_all_reduce", OP(ALL_REDUCE), 3 * 64, 2, 2);
    assert_int_equal(find(g, "experts")->workload.shape.tokens, 5);
    assert_int_equal(find(g, "experts")->workload.shape.intermediate, 24);
    assert_int_equal(find(g, "experts")->workload.shape.ep, 4);
    assert_near(find(g, "experts")->elements, 2 * 3 * 64 * 24, 0);
    assert_int_equal(find(g, "attention")->workload.shape.batch, 3);
    assert_int_equal(find(g, "attention")->workload.shape.heads, 2);
    assert_near(g->kv_bytes, 3 * 3 * 50 * 32 * 2, 0); /* layers, sequences, tokens, one KV head */
    /* Each device has a fourth of every expert: all 2 x 3 tokens come to all. */
    g = build(m, asked_apart(2, 2, 0, 0), 0, 0);
    is_collective(g, "dispatch", OP(ALL_GATHER), 2 * 3 * 64, 2, 4);
    is_collective(g, "combine", OP(REDUCE_SCATTER), 2 * 3 * 64, 2, 4);
    assert_int_equal(find(g, "experts")->workload.shape.intermediate, 24 / 4);
    assert_near(find(g, "experts")->elements, 8 * 3 * 64 * 6, 0);
    /* Four groups of one device with 2 sequences each, half of the experts on each pair: a token
     * has one of a half with probability 11/14, and three devices to go to: 2 x 64 x 3 x 11/14 =
     * 301.7 elements, which is half of 603.4. */
    g = build(m, asked_apart(1, 4, 2, 2), 0, 0);
    is_collective(g, "dispatch", OP(ALL_TO_ALL), 604, 2, 4);
    assert_int_equal(find(g, "experts")->workload.shape.intermediate, 12);
    assert_near(find(g, "experts")->elements, 4 * 3 * 64 * 12, 0);
    assert_false(has(g, "attn_all_reduce"));
    /* One group: its devices have all tokens already, and the sum over them adds the experts. */
    g = build(m, asked_apart(2, 1, 1, 2), 0, 0);
    assert_false(has(g, "dispatch"));
    assert_false(has(g, "combine"));
    is_collective(g, "mlp_all_reduce", OP(ALL_REDUCE), 5 * 64, 2, 2);
    assert_int_equal(find(g, "experts")->workload.shape.intermediate, 24);
    assert_near(find(g, "experts")->elements, 4 * 3 * 64 * 24, 0);
    /* The second stage of four devices crosses a border between nodes of five. */
    struct roof_scenario s = asked_apart(2, 2, 0, 0);
    s.pp = 2;
    s.common.shape.batch = 10;
    g = build(m, s, 1, 5);
    is_collective(g, "dispatch", OP(ALL_GATHER), 2 * 3 * 64, 2, 6);
    roof_model_free(m);
}

/* A scenario with ep is the same as one with what it is short for, in every bit. */
static void test_short_for_three(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MOE);
    static const enum roof_phase phases[] = {ROOF_PHASE_DECODE, ROOF_PHASE_PREFILL,
                                             ROOF_PHASE_MIXED};
    for (size_t i = 0; i < COUNT(phases); i++) {
        for (int64_t tp = 1; tp <= 2; tp++) {
            struct roof_scenario s = asked_apart(tp, 4, tp, 4);
            s.phase = phases[i];
            const struct roof_graph three = *build(m, s, 0, 3);
            struct roof_scenario one = asked(phases[i], 5, 50);
            one.tp = tp;
            one.common.shape.ep = 4;
            const struct roof_graph *const g = build(m, one, 0, 3);
            assert_int_equal(g->count, three.count);
            assert_true(has(g, "dispatch"));
            for (size_t n = 0; n < g->count; n++) {
                assert_string_equal(g->node[n].name, three.node[n].name);
                assert_int_equal(g->node[n].count, three.node[n].count);
                assert_true(roof_same_workload(&g->node[n].workload, &three.node[n].workload));
                assert_near(roof_node_bytes(&g->node[n]), roof_node_bytes(&three.node[n]), 0);
            }
            assert_near(g->kv_bytes, three.kv_bytes, 0);
            assert_near(g->residual_bytes, three.residual_bytes, 0);
        }
    }
    roof_model_free(m);
}

/* All devices together hold the experts once, and the matrices of the attention once per group. */
static void test_weights_of_all_devices(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MOE);
    int splits = 0;
    for (int64_t tp = 1; tp <= 4; tp *= 2) {
        for (int64_t groups = 1; groups <= 8; groups *= 2) {
            const int64_t devices = tp * groups;
            for (int64_t ep = 1; ep <= 8 && ep <= devices; ep *= 2) {
                struct roof_scenario s = asked_apart(tp, groups, devices / ep, ep);
                if (24 % s.moe_tp != 0) {
                    continue;
                }
                const struct roof_graph *const g = build(m, s, 0, 0);
                const double all = (double)devices;
                assert_near(all * find(g, "experts")->elements, 8 * 3 * 64 * 24, 0);
                assert_near(all * find(g, "o_proj")->elements, (double)groups * 64 * 64, 0);
                splits++;
            }
        }
    }
    /* 1, 2, 4, 8, 16 and 32 devices form 1, 2, 3, 3, 2 and 1 pairs of (tp, groups). The experts are
     * cut into at most 8 parts in 1, 2, 3, 4, 3 and 2 ways. */
    assert_int_equal(splits, 1 * 1 + 2 * 2 + 3 * 3 + 3 * 4 + 2 * 3 + 1 * 2);
    roof_model_free(m);
}

static void splits_into(int64_t tp, int64_t attention_dp, int64_t moe_tp, int64_t moe_ep,
                        int64_t ways_tp, int64_t ways_ep)
{
    struct roof_model *const m = parse(MOE);
    const struct roof_scenario s = resolved(asked_apart(tp, attention_dp, moe_tp, moe_ep), m);
    assert_int_equal(s.attention_dp, attention_dp > 0 ? attention_dp : 1);
    assert_int_equal(s.moe_tp, ways_tp);
    assert_int_equal(s.moe_ep, ways_ep);
    assert_int_equal(s.common.shape.ep, 1);
    assert_int_equal(roof_stage_devices(&s), ways_tp * ways_ep);
    /* A second resolution changes nothing. */
    const struct roof_scenario again = resolved(s, m);
    assert_memory_equal(&again, &s, sizeof s);
    roof_model_free(m);
}

static void test_default_splits(void **state)
{
    (void)state;
    splits_into(0, 0, 0, 0, 1, 1);
    splits_into(4, 0, 0, 0, 4, 1);
    splits_into(4, 0, 0, 2, 2, 2);
    splits_into(4, 0, 1, 0, 1, 4);
    splits_into(2, 2, 0, 0, 4, 1);
    splits_into(2, 4, 0, 8, 1, 8);
    splits_into(2, 4, 2, 0, 2, 4);
    /* A model without experts has none of them to split. */
    struct roof_model *m = parse(DENSE);
    struct roof_scenario s = resolved(asked_apart(2, 1, 1, 1), m);
    assert_int_equal(s.attention_dp, 1);
    assert_int_equal(s.moe_tp, 0);
    assert_int_equal(s.moe_ep, 0);
    assert_false(roof_splits_apart(&s));
    roof_model_free(m);
    /* "ep" says all of it, and what it says can be said again. */
    m = parse(MOE);
    s = asked(ROOF_PHASE_DECODE, 5, 50);
    s.tp = 2;
    s.common.shape.ep = 4;
    s = resolved(s, m);
    assert_int_equal(s.attention_dp, 4);
    assert_int_equal(s.moe_tp, 2);
    assert_int_equal(s.moe_ep, 4);
    assert_false(roof_splits_apart(&s));
    const struct roof_scenario again = resolved(s, m);
    assert_memory_equal(&again, &s, sizeof s);
    s = resolved(asked_apart(2, 4, 2, 4), m);
    assert_true(roof_splits_apart(&s));
    s = resolved(asked_apart(4, 1, 2, 2), m);
    assert_true(roof_splits_apart(&s));
    s = resolved(asked_apart(4, 0, 0, 0), m);
    assert_false(roof_splits_apart(&s));
    roof_model_free(m);
}

/* --- multi-token prediction ---------------------------------------------------------------- */

#define PREDICTS                                                                                   \
    "{\"model_type\": \"qwen2_moe\", \"num_nextn_predict_layers\": 2, \"hidden_size\": 64, "       \
    "\"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "           \
    "\"intermediate_size\": 80, \"vocab_size\": 1000, \"num_experts\": 8, "                        \
    "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 24, "                                  \
    "\"shared_expert_intermediate_size\": 40, \"mlp_only_layers\": [0]}"

/* One token of 5 sequences over 50 keys: the token and its hidden states are joined, go through one
 * layer like the last, and to the head. */
/* --- native sparse attention --------------------------------------------------------------- */

/* Blocks of 8 tokens, 3 of them chosen, the last 20 tokens. The width of the MLP is 64 * 4 * 2 / 3
 * = 170, filled up to 256. */
#define BRANCHED                                                                                   \
    "{\"model_type\": \"nsa\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_heads\": 8, "  \
    "\"num_kv_heads\": 2, \"head_dim\": 16, \"vocab_size\": 1001, \"block_size\": 8, "             \
    "\"block_counts\": 3, \"window_size\": 20}"

static void test_native_sparse(void **state)
{
    (void)state;
    struct roof_model *const m = parse(BRANCHED);
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    const struct expected decode[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                      NORM("attn_norm", 2, 3, 64),
                                      GEMM("qkv_proj", 2, 3, 128 + 2 * 32, 64),
                                      ROPE(2, 3, 8, 2, 16),
                                      APPEND(2, 3, 8, 2, 16),
                                      {"compress_append",
                                       2,
                                       OP(KV_APPEND),
                                       {.tokens = 1, .heads = 8, .kv_heads = 2, .head_dim = 16}},
                                      GEMM("gates_proj", 2, 3, 3 * 8, 64),
                                      {"attention",
                                       2,
                                       OP(NSA),
                                       {.batch = 3,
                                        .heads = 8,
                                        .kv_heads = 2,
                                        .head_dim = 16,
                                        .query_len = 1,
                                        .kv_len = 50,
                                        .window = 20,
                                        .compression = 8,
                                        .selected = 24}},
                                      GEMM("o_proj", 2, 3, 64, 128),
                                      VECTOR("attn_add", 2, ADD, 3, 64),
                                      NORM("mlp_norm", 2, 3, 64),
                                      GEMM("gate_up_proj", 2, 3, 2 * 256, 64),
                                      VECTOR("mlp_act", 2, SILU_MUL, 3, 256),
                                      GEMM("down_proj", 2, 3, 64, 256),
                                      VECTOR("mlp_add", 2, ADD, 3, 64),
                                      HEAD(3)};
    HAS(g, decode);
    /* 50 tokens and 6 whole blocks of each of 3 sequences: K and V of 2 x 16 elements of 2 bytes.
     */
    assert_true(g->kv_bytes == 2 * 3 * 128. * (50 + 6));
    g = build(m, asked(ROOF_PHASE_PREFILL, 1, 50), 0, 0);
    assert_int_equal(find(g, "compress_append")->workload.shape.tokens, 7);
    const struct roof_scenario s = resolved(asked(ROOF_PHASE_DECODE, 1, 1), m);
    assert_true(roof_kv_bytes_per_token(m, &s) == 2 * 128. * (1 + 1 / 8.));
    roof_model_free(m);
}

/* --- layers that attend to images ---------------------------------------------------------- */

/* Layers 1 and 2 of 4 attend to images, each of up to 2 squares of 4 x 4 patches. An image of 100 x
 * 30 fills both: 2 * (16 + 1) keys. */
#define CROSSED                                                                                    \
    "{\"model_type\": \"mllama\", \"text_config\": {\"model_type\": \"mllama_text_model\", "       \
    "\"cross_attention_layers\": [1, 2], " DENSE_SIZES                                             \
    "}, \"vision_config\": {\"hidden_size\": 32, \"num_hidden_layers\": 2, "                       \
    "\"num_global_layers\": 1, \"num_attention_heads\": 2, \"intermediate_size\": 48, "            \
    "\"image_size\": 40, \"patch_size\": 10, \"max_num_tiles\": 2, "                               \
    "\"intermediate_layers_indices\": [0], \"vision_output_dim\": 64}}"
#define CROSSED_KEYS 34

static struct roof_scenario with_images(enum roof_phase phase, int64_t images)
{
    struct roof_scenario s = asked(phase, 3, phase == ROOF_PHASE_ENCODE ? 0 : 50);
    const struct roof_sizes size = {{100, 30}};
    s.media.images = images;
    s.media.image_size = images > 0 ? roof_sizes_pack(&size) : 0;
    return s;
}

/* Returns the bytes of all weights of a graph. */
static double resident(const struct roof_graph *g)
{
    double bytes = g->idle_bytes + g->idle_host_bytes;
    for (size_t i = 0; i < g->count; i++) {
        bytes += roof_node_bytes(&g->node[i]);
    }
    return bytes;
}

static void test_crossed(void **state)
{
    (void)state;
    struct roof_model *const m = parse(CROSSED);
    const struct roof_graph *g = build(m, with_images(ROOF_PHASE_DECODE, 2), 0, 0);
    const struct expected decode[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                      NORM("attn_norm", 4, 3, 64),
                                      GEMM("qkv_proj", 2, 3, 128 + 2 * 32, 64),
                                      ROPE(2, 3, 8, 2, 16),
                                      APPEND(2, 3, 8, 2, 16),
                                      FLASH("attention", 2, 3, 8, 2, 1, 50, 0),
                                      GEMM("o_proj", 4, 3, 64, 128),
                                      VECTOR("attn_add", 4, ADD, 3, 64),
                                      NORM("mlp_norm", 4, 3, 64),
                                      GEMM("gate_up_proj", 4, 3, 2 * 80, 64),
                                      VECTOR("mlp_act", 4, SILU_MUL, 3, 80),
                                      GEMM("down_proj", 4, 3, 64, 80),
                                      VECTOR("mlp_add", 4, ADD, 3, 64),
                                      GEMM("q_proj", 2, 3, 128, 64),
                                      NORM("q_norm", 2, 3 * 8, 16),
                                      {"attention_cross",
                                       2,
                                       OP(FLASH_ATTENTION),
                                       {.batch = 3,
                                        .heads = 8,
                                        .kv_heads = 2,
                                        .head_dim = 16,
                                        .query_len = 1,
                                        .kv_len = 2 * CROSSED_KEYS}},
                                      HEAD(3)};
    HAS(g, decode);
    /* Two layers keep 50 tokens, the others the keys of the images, for 3 sequences: K and V of 2 x
     * 16 elements of 2 bytes each. */
    assert_true(g->kv_bytes == 3 * 128. * (2 * 50 + 2 * 2 * CROSSED_KEYS));
    const double weights = resident(g);
    g = build(m, with_images(ROOF_PHASE_DECODE, 0), 0, 0);
    assert_int_equal(find(g, "o_proj")->count, 2);
    assert_false(has(g, "attention_cross"));
    assert_true(g->kv_bytes == 3 * 128. * 2 * 50);
    assert_true(resident(g) == weights);
    /* A prefill makes the keys; a step with prompts has those that were made. */
    g = build(m, with_images(ROOF_PHASE_PREFILL, 2), 0, 0);
    assert_int_equal(find(g, "image_kv_proj")->workload.shape.m, 3 * 2 * CROSSED_KEYS);
    assert_int_equal(find(g, "image_kv_proj")->workload.shape.n, 2 * 32);
    assert_int_equal(find(g, "image_kv_proj")->count, 2);
    assert_int_equal(find(g, "image_attention")->workload.shape.query_len, 2 * 24);
    assert_int_equal(find(g, "attention_cross")->workload.shape.query_len, 50);
    assert_true(resident(g) == weights);
    g = build(m, with_images(ROOF_PHASE_MIXED, 1), 0, 0);
    assert_int_equal(find(g, "attention_prefill_cross")->workload.shape.kv_len, CROSSED_KEYS);
    assert_int_equal(find(g, "attention_decode_cross")->workload.shape.query_len, 1);
    assert_false(has(g, "image_kv_proj"));
    /* Alone, images leave their keys in the cache. */
    g = build(m, with_images(ROOF_PHASE_ENCODE, 1), 0, 0);
    assert_true(g->kv_bytes == 3 * 128. * 2 * CROSSED_KEYS);
    roof_model_free(m);
}

/* Weights are the same with and without images on each device and on the host, in any format. */
static void test_crossed_weights(void **state)
{
    (void)state;
    struct roof_model *const m = parse(CROSSED);
    struct roof_hardware *const host = load_device("gb10");
    for (int kind = 0; kind < 16; kind++) {
        double bytes[2];
        double there[2];
        for (int images = 0; images < 2; images++) {
            struct roof_scenario s = with_images(ROOF_PHASE_DECODE, images);
            s.tp = (kind & 1) != 0 ? 2 : 1;
            s.split_projections = (kind & 2) != 0;
            s.common.formats.weights = (kind & 4) != 0 ? P(FP8_E4M3) : P(AUTO);
            s.offload =
                (kind & 9) == 8 ? roof_offload_pack(ROOF_OFFLOAD_LAYERS, 2) : ROOF_OFFLOAD_NONE;
            s.host = host;
            const struct roof_graph *const g = build(m, s, 0, 0);
            bytes[images] = resident(g);
            there[images] = g->idle_host_bytes;
            for (size_t i = 0; i < g->count; i++) {
                there[images] += g->node[i].host != NULL ? roof_node_bytes(&g->node[i]) : 0;
            }
        }
        assert_true(fabs(bytes[0] - bytes[1]) < 1e-6);
        assert_true(fabs(there[0] - there[1]) < 1e-6);
        assert_true((there[0] > 0) == ((kind & 9) == 8));
    }
    roof_hardware_free(host);
    roof_model_free(m);
}

/* Stages hand on what the encoder gives, and the last one keeps it. */
static void test_crossed_stages(void **state)
{
    (void)state;
    struct roof_model *const m = parse(CROSSED);
    struct roof_scenario s = with_images(ROOF_PHASE_ENCODE, 1);
    s.pp = 2;
    const struct roof_graph *g = build(m, s, 0, 0);
    assert_int_equal(find(g, "image_send")->workload.shape.elements, 2 * CROSSED_KEYS * 64);
    assert_int_equal(find(g, "image_kv_proj")->count, 1);
    g = build(m, s, 1, 0);
    assert_false(has(g, "image_send"));
    assert_int_equal(find(g, "image_kv_proj")->count, 1);
    assert_int_equal(g->count, 3);
    roof_model_free(m);
}

/* --- audio --------------------------------------------------------------------------------- */

#define HEARD(type, sizes)                                                                         \
    "{\"model_type\": \"" type "\", \"text_config\": {\"model_type\": \"llama\", " DENSE_SIZES     \
    "}, \"audio_config\": {" sizes "}}"

static struct roof_scenario with_audio(int64_t clips, int64_t seconds)
{
    struct roof_scenario s = asked(ROOF_PHASE_ENCODE, 2, 0);
    s.media.audio = clips;
    s.media.audio_length_s = seconds;
    return s;
}

/* Seven rows of a clip have three means, and the last row has none. */
static void test_odd_rows(void **state)
{
    (void)state;
    struct roof_model *const m = parse(HEARD("qwen2_audio", "\"max_source_positions\": 7"));
    const struct roof_graph *const g = build(m, with_audio(3, 30), 0, 0);
    assert_int_equal(find(g, "audio_mlp_add")->workload.shape.tokens, 2 * 3 * 7);
    assert_int_equal(find(g, "audio_pool")->workload.shape.tokens, 2 * 3 * 3);
    assert_int_equal(find(g, "audio_final_norm")->workload.shape.tokens, 2 * 3 * 3);
    assert_int_equal(find(g, "audio_project_0")->workload.shape.m, 2 * 3 * 3);
    assert_near(g->residual_bytes, 2 * 3 * 7 * 1280 * 2, 0);
    roof_model_free(m);
}

static void test_predictor(void **state)
{
    (void)state;
    static struct roof_graph graph;
    struct roof_model *const m = parse(PREDICTS);
    assert_int_equal(m->layers, 3);
    assert_int_equal(m->predict_layers, 2);
    struct roof_scenario s = resolved(asked(ROOF_PHASE_DECODE, 5, 50), m);
    const struct expected module[] = {VECTOR("embedding", 1, EMBEDDING, 5, 64),
                                      NORM("embedding_norm", 1, 5, 64),
                                      NORM("hidden_norm", 1, 5, 64),
                                      GEMM("join_proj", 1, 5, 64, 2 * 64),
                                      NORM("attn_norm", 1, 5, 64),
                                      BIASED("qkv_proj", 1, 5, 64 + 2 * 32, 64),
                                      ROPE(1, 5, 4, 2, 16),
                                      APPEND(1, 5, 4, 2, 16),
                                      FLASH("attention", 1, 5, 4, 2, 1, 50, 0),
                                      GEMM("o_proj", 1, 5, 64, 64),
                                      VECTOR("attn_add", 1, ADD, 5, 64),
                                      NORM("mlp_norm", 1, 5, 64),
                                      GEMM("router", 1, 5, 8, 64),
                                      TOP_K(1, 5),
                                      EXPERTS(1, 5, 24, 1),
                                      GEMM("shared_gate_up_proj", 1, 5, 80, 64),
                                      VECTOR("shared_act", 1, SILU_MUL, 5, 40),
                                      GEMM("shared_down_proj", 1, 5, 64, 40),
                                      VECTOR("shared_add", 1, ADD, 5, 64),
                                      VECTOR("mlp_add", 1, ADD, 5, 64),
                                      NORM("final_norm", 1, 5, 64),
                                      GEMM("lm_head", 1, 5, 1000, 64)};
    assert_int_equal(roof_graph_predictor(&graph, m, &s, (struct roof_places){0}, NULL), ROOF_OK);
    HAS(&graph, module);
    /* Table and head are the model's; the cache is that of one layer. */
    assert_true(find(&graph, "embedding")->borrowed);
    assert_true(find(&graph, "lm_head")->borrowed);
    assert_false(find(&graph, "join_proj")->borrowed);
    assert_near(find(&graph, "join_proj")->elements, 64 * 128, 0);
    assert_near(graph.kv_bytes, 5 * 50 * 64 * 2, 0);
    /* In stages of a pipeline it is on the last, which has no table of its own. */
    s = asked(ROOF_PHASE_DECODE, 6, 50);
    s.pp = 3;
    s.tp = 2;
    s = resolved(s, m);
    assert_int_equal(roof_graph_predictor(&graph, m, &s, (struct roof_places){.node = 5}, NULL),
                     ROOF_OK);
    assert_false(find(&graph, "embedding")->borrowed);
    assert_true(find(&graph, "lm_head")->borrowed);
    assert_int_equal(find(&graph, "join_proj")->workload.shape.m, 2);  /* of 3 microbatches */
    assert_int_equal(find(&graph, "join_proj")->workload.shape.n, 64); /* on each device */
    is_collective(&graph, "embedding_all_reduce", OP(ALL_REDUCE), 2 * 64, 2, 6);
    assert_false(has(&graph, "send"));
    roof_model_free(m);
}

static void drafts_by(const char *config, const struct roof_model *draft,
                      enum roof_drafting drafting, enum roof_drafting resolves_to, const char *name)
{
    struct roof_model *const m = parse(config);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 5, 50);
    s.draft_tokens = 2;
    s.drafting = drafting;
    s.draft = draft;
    s = resolved(s, m);
    assert_int_equal(s.drafting, resolves_to);
    assert_ptr_equal(s.draft, resolves_to == ROOF_DRAFTING_OWN ? m : draft);
    const char *const got = roof_drafter_name(&s, m);
    assert_true(name == NULL ? got == NULL : got != NULL && strcmp(got, name) == 0);
    const struct roof_scenario again = resolved(s, m);
    assert_memory_equal(&again, &s, sizeof s);
    roof_model_free(m);
}

static void test_what_drafts(void **state)
{
    (void)state;
    struct roof_model *const other = parse(DENSE);
    drafts_by(DENSE, NULL, ROOF_DRAFTING_DEFAULT, ROOF_DRAFTING_FREE, NULL);
    drafts_by(DENSE, NULL, ROOF_DRAFTING_FREE, ROOF_DRAFTING_FREE, NULL);
    drafts_by(DENSE, other, ROOF_DRAFTING_DEFAULT, ROOF_DRAFTING_MODEL, "tiny");
    drafts_by(PREDICTS, NULL, ROOF_DRAFTING_DEFAULT, ROOF_DRAFTING_OWN, "mtp");
    drafts_by(PREDICTS, NULL, ROOF_DRAFTING_OWN, ROOF_DRAFTING_OWN, "mtp");
    drafts_by(PREDICTS, NULL, ROOF_DRAFTING_FREE, ROOF_DRAFTING_FREE, "none");
    drafts_by(PREDICTS, other, ROOF_DRAFTING_DEFAULT, ROOF_DRAFTING_MODEL, "tiny");
    /* Without drafts nothing proposes. */
    struct roof_model *const m = parse(PREDICTS);
    const struct roof_scenario s = resolved(asked(ROOF_PHASE_DECODE, 5, 50), m);
    assert_null(roof_drafter_name(&s, m));
    assert_null(s.draft);
    roof_model_free(m);
    roof_model_free(other);
}

/* --- latent attention ---------------------------------------------------------------------- */

#define LATENT(name_, op_, batch_, heads_, query_, len_)                                           \
    {                                                                                              \
        name_, 2, OP(op_),                                                                         \
        {                                                                                          \
            .batch = (batch_), .heads = (heads_), .query_len = (query_), .kv_len = (len_),         \
            .causal = 1, .kv_lora_rank = 32, .qk_nope_head_dim = 16, .qk_rope_head_dim = 8,        \
            .v_head_dim = 12                                                                       \
        }                                                                                          \
    }
#define BMM(name_, heads_, m_, n_, k_)                                                             \
    {                                                                                              \
        name_, 2, OP(BMM),                                                                         \
        {                                                                                          \
            .batch = (heads_), .m = (m_), .n = (n_), .k = (k_)                                     \
        }                                                                                          \
    }
/* The cache is one latent of 32 + 8 per token: as K and V of 20 each. */
#define MLA_BEFORE(T)                                                                              \
    VECTOR("embedding", 1, EMBEDDING, T, 64), NORM("attn_norm", 2, T, 64),                         \
        GEMM("qkv_a_proj", 2, T, 24 + 32 + 8, 64), NORM("q_a_norm", 2, T, 24),                     \
        GEMM("q_b_proj", 2, T, 4 * 24, 24), NORM("kv_a_norm", 2, T, 32), ROPE(2, T, 4, 1, 8),      \
        APPEND(2, T, 4, 1, 20)
#define MLA_AFTER(T, rows)                                                                         \
    GEMM("o_proj", 2, T, 64, 4 * 12), VECTOR("attn_add", 2, ADD, T, 64),                           \
        NORM("mlp_norm", 2, T, 64), GEMM("gate_up_proj", 2, T, 160, 64),                           \
        VECTOR("mlp_act", 2, SILU_MUL, T, 80), GEMM("down_proj", 2, T, 64, 80),                    \
        VECTOR("mlp_add", 2, ADD, T, 64), NORM("final_norm", 1, rows, 64),                         \
        GEMM("lm_head", 1, rows, 1000, 64)

static void test_latent_attention(void **state)
{
    (void)state;
    struct roof_model *m = parse(MLA);
    /* Decode: Q goes into the latent (16 -> 32 per head), the result out of it (32 -> 12). */
    const struct expected decode[] = {MLA_BEFORE(3), BMM("q_absorb", 4, 3, 32, 16),
                                      LATENT("attention", MLA_DECODE, 3, 4, 1, 50),
                                      BMM("v_absorb", 4, 3, 12, 32), MLA_AFTER(3, 3)};
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    HAS(g, decode);
    assert_near(g->kv_bytes, 2 * 3 * 50 * 40 * 2, 0);
    assert_near(find(g, "q_absorb")->elements, 4 * 32 * 16, 0);
    assert_near(find(g, "v_absorb")->elements, 4 * 12 * 32, 0);
    /* Prefill: K and V of every head from the latents of all tokens attended to. */
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 2, 48);
    s.chunk = 24;
    const struct expected chunk[] = {
        MLA_BEFORE(48), GEMM("kv_b_proj", 2, 2 * 48, 4 * (16 + 12), 32),
        LATENT("attention", MLA_PREFILL, 2, 4, 24, 48), MLA_AFTER(48, 2)};
    g = build(m, s, 0, 0);
    HAS(g, chunk);
    assert_near(g->kv_bytes, 2 * 2 * 48 * 40 * 2, 0);
    assert_near(find(g, "kv_b_proj")->elements, 4 * 28 * 32, 0);
    assert_false(find(g, "kv_b_proj")->borrowed);
    /* 24 tokens see 876 keys: 876 x 36 + 48 x 32 x 28 = 74,544 against 876 x 72 + 24 x 32 x 28 =
     * 84,576. 16 tokens see 648: 66,336 against 60,992, so that they attend on the latent. */
    s.chunk = 16;
    const struct expected few[] = {MLA_BEFORE(32), BMM("q_absorb", 4, 32, 32, 16),
                                   LATENT("attention", MLA_DECODE, 2, 4, 16, 48),
                                   BMM("v_absorb", 4, 32, 12, 32), MLA_AFTER(32, 2)};
    HAS(build(m, s, 0, 0), few);
    /* Mixed: both, the weights of kv_b once. */
    s = asked(ROOF_PHASE_MIXED, 3, 50);
    s.chunk = 24;
    s.prefill_context = 48;
    s.prefill_batch = 2;
    const struct expected mixed[] = {MLA_BEFORE(51),
                                     BMM("q_absorb", 4, 3, 32, 16),
                                     LATENT("attention_decode", MLA_DECODE, 3, 4, 1, 50),
                                     BMM("v_absorb", 4, 3, 12, 32),
                                     GEMM("kv_b_proj", 2, 2 * 48, 4 * (16 + 12), 32),
                                     LATENT("attention_prefill", MLA_PREFILL, 2, 4, 24, 48),
                                     MLA_AFTER(51, 5)};
    g = build(m, s, 0, 0);
    HAS(g, mixed);
    assert_true(find(g, "kv_b_proj")->borrowed);
    assert_near(roof_node_bytes(find(g, "kv_b_proj")), 0, 0);
    /* Drafts are verified in the absorbed form. */
    s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.draft_tokens = 3;
    const struct expected drafts[] = {MLA_BEFORE(12), BMM("q_absorb", 4, 12, 32, 16),
                                      LATENT("attention", MLA_DECODE, 3, 4, 4, 53),
                                      BMM("v_absorb", 4, 12, 12, 32), MLA_AFTER(12, 12)};
    HAS(build(m, s, 0, 0), drafts);
    /* Heads are shared out, the latent is whole on each device. */
    s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "attention")->workload.shape.heads, 2);
    assert_int_equal(find(g, "q_absorb")->workload.shape.batch, 2);
    assert_int_equal(find(g, "qkv_a_proj")->workload.shape.n, 64);
    assert_int_equal(find(g, "q_b_proj")->workload.shape.n, 2 * 24);
    assert_int_equal(find(g, "o_proj")->workload.shape.k, 2 * 12);
    assert_near(g->kv_bytes, 2 * 3 * 50 * 40 * 2, 0);
    /* Down-projections apart. */
    s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.split_projections = 1;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "q_a_proj")->workload.shape.n, 24);
    assert_int_equal(find(g, "kv_a_proj")->workload.shape.n, 40);
    assert_false(has(g, "qkv_a_proj"));
    s = resolved(s, m);
    assert_near(roof_kv_bytes_per_token(m, &s), 2 * 40 * 2, 0);
    roof_model_free(m);
    /* Without a latent for Q. */
    m = parse(MLA_DIRECT);
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    assert_int_equal(find(g, "q_proj")->workload.shape.n, 4 * 24);
    assert_int_equal(find(g, "q_proj")->workload.shape.k, 64);
    assert_int_equal(find(g, "kv_a_proj")->workload.shape.n, 40);
    assert_false(has(g, "q_a_norm") || has(g, "q_b_proj"));
    roof_model_free(m);
}

/* Two layers, of which the first has a state: 4 heads of 6 x 10, keys of 2 heads, 4 taps. */
#define STATE_SIZES                                                                                \
    "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "                  \
    "\"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 80, "                    \
    "\"vocab_size\": 1000"
#define HYBRID                                                                                     \
    "{\"model_type\": \"qwen3_next\", \"full_attention_interval\": 2, "                            \
    "\"linear_num_value_heads\": 4, \"linear_num_key_heads\": 2, \"linear_key_head_dim\": 6, "     \
    "\"linear_value_head_dim\": 10, \"linear_conv_kernel_dim\": 4, " STATE_SIZES "}"

/* Mistakes: a cache in every layer; a state that grows with the context; a gate of Q left out. */
static void test_states(void **state)
{
    (void)state;
    struct roof_model *const m = parse(HYBRID);
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    const struct roof_shape conv = {.batch = 3, .query_len = 1, .hidden = 64, .taps = 4};
    const struct roof_shape delta = {
        .batch = 3, .heads = 4, .kv_heads = 2, .head_dim = 6, .v_head_dim = 10, .query_len = 1};
    /* 2 x 2 x 6 + 4 x 10 go through the convolution; 40 gates of the output, 2 of each head. */
    assert_int_equal(find(g, "mixer_in_proj")->workload.shape.n, 64 + 40 + 8);
    assert_int_equal(find(g, "mixer_in_proj")->count, 1);
    assert_memory_equal(&find(g, "short_conv")->workload.shape, &conv, sizeof conv);
    assert_memory_equal(&find(g, "state")->workload.shape, &delta, sizeof delta);
    assert_int_equal(find(g, "state")->workload.op, ROOF_OPERATOR_GATED_DELTA);
    assert_int_equal(find(g, "state")->workload.formats.kv, ROOF_PRECISION_FP32);
    assert_near(find(g, "short_conv")->vectors, 64 * 4, 0);
    assert_near(find(g, "state")->vectors, 2 * 4, 0);
    assert_int_equal(find(g, "mixer_norm")->workload.shape.tokens, 3 * 4);
    assert_int_equal(find(g, "mixer_out_proj")->workload.shape.k, 40);
    /* Q has as many gates: 2 x 4 + 2 x 2 heads of 16. */
    assert_int_equal(find(g, "qkv_proj")->workload.shape.n, 12 * 16);
    assert_int_equal(find(g, "attn_gate")->workload.shape.hidden, 64);
    assert_int_equal(find(g, "attention")->count, 1);
    /* One layer has a cache of 2 x 2 heads of 16, the other 240 elements of 4 bytes, and 3 x 64 of
     * 2 bytes, however long the context. */
    assert_near(g->kv_bytes, 3 * (50 * 64 * 2 + 240 * 4 + 192 * 2), 0);
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 500), 0, 0);
    assert_near(g->kv_bytes, 3 * (500 * 64 * 2 + 240 * 4 + 192 * 2), 0);
    /* On two devices each has half of the heads. */
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "mixer_in_proj")->workload.shape.n, (64 + 40 + 8) / 2);
    assert_near(g->kv_bytes, 3 * (50 * 32 * 2 + 120 * 4 + 96 * 2), 0);
    roof_model_free(m);
}

/* Two layers of each kind, of which the first has a state. */
#define LIGHTNING "{\"model_type\": \"minimax_m1\", \"attn_type_list\": [0, 1], " STATE_SIZES "}"
#define SCANS                                                                                      \
    "{\"model_type\": \"jamba\", \"attn_layer_period\": 2, \"attn_layer_offset\": 1, "             \
    "\"num_experts\": 1, \"mamba_d_state\": 6, \"mamba_dt_rank\": 5, " STATE_SIZES "}"

static void test_lightning(void **state)
{
    (void)state;
    struct roof_model *const m = parse(LIGHTNING);
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    const struct roof_shape shape = {.batch = 3,
                                     .heads = 4,
                                     .head_dim = 16,
                                     .v_head_dim = 16,
                                     .query_len = 1,
                                     .scan_chunk = 256};
    /* Q, K, V and the gate are 64 wide each; one norm over all heads, no convolution. */
    assert_int_equal(find(g, "mixer_in_proj")->workload.shape.n, 4 * 64);
    assert_false(has(g, "short_conv"));
    assert_int_equal(find(g, "state")->workload.op, ROOF_OPERATOR_LIGHTNING);
    assert_memory_equal(&find(g, "state")->workload.shape, &shape, sizeof shape);
    assert_int_equal(find(g, "state")->workload.formats.kv, ROOF_PRECISION_BF16);
    assert_near(find(g, "state")->vectors, 0, 0);
    assert_int_equal(find(g, "mixer_norm")->workload.shape.tokens, 3);
    assert_int_equal(find(g, "mixer_norm")->workload.shape.hidden, 64);
    /* A cache of 2 x 2 heads of 16, and 4 x 16 x 16 elements of 2 bytes. */
    assert_near(g->kv_bytes, 3 * (50 * 64 * 2 + 1024 * 2), 0);
    roof_model_free(m);
}

/* Experts of 24 elements without a gate work on a latent of 16. */
#define LATENT_EXPERTS                                                                             \
    "{\"model_type\": \"nemotron_h\", \"hybrid_override_pattern\": \"*E\", "                       \
    "\"mamba_num_heads\": 4, \"n_groups\": 2, \"ssm_state_size\": 6, \"mamba_head_dim\": 10, "     \
    "\"conv_kernel\": 4, \"n_routed_experts\": 8, \"num_experts_per_tok\": 2, "                    \
    "\"moe_intermediate_size\": 24, \"moe_latent_size\": 16, "                                     \
    "\"moe_shared_expert_intermediate_size\": 40, " STATE_SIZES "}"

/* Mistakes: a third matrix, experts as wide as the model, projections that are cut by tp. */
static void test_latent_experts(void **state)
{
    (void)state;
    struct roof_model *const m = parse(LATENT_EXPERTS);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    const struct roof_graph *g = build(m, s, 0, 0);
    const struct roof_node *const experts = find(g, "experts");
    assert_int_equal(experts->workload.op, ROOF_OPERATOR_MOE_UNGATED);
    assert_int_equal(experts->workload.shape.hidden, 16);
    assert_int_equal(experts->workload.shape.intermediate, 12);
    assert_near(experts->elements, 8 * 2 * 16 * 12, 0);
    assert_near(experts->tensors, 8 * 2, 0);
    assert_near(experts->channels, 8 * (12 + 16), 0);
    assert_int_equal(find(g, "latent_in_proj")->workload.shape.n, 16);
    assert_int_equal(find(g, "latent_in_proj")->workload.shape.k, 64);
    assert_int_equal(find(g, "latent_out_proj")->workload.shape.n, 64);
    assert_int_equal(find(g, "latent_out_proj")->workload.shape.k, 16);
    assert_int_equal(find(g, "shared_up_proj")->workload.shape.n, 20);
    assert_int_equal(find(g, "router")->workload.shape.k, 64);
    assert_int_equal(find(g, "mlp_all_reduce")->workload.shape.elements, 3 * 64);
    roof_model_free(m);
}

static enum roof_precision weights_of(const struct roof_graph *g, const char *name)
{
    return find(g, name)->workload.formats.weights;
}

/* A small matrix has the format that a source names for it, or for its larger partner; what is
 * asked is looked up before what is stored. */
static void test_small_matrices(void **state)
{
    (void)state;
    struct roof_model *const m = parse(LATENT_EXPERTS);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    struct roof_layer *const layer = &m->layer[m->layer_class[1]];
    layer->format[ROOF_WEIGHT_SHARED_UP] = ROOF_PRECISION_FP8_E4M3;
    const struct roof_graph *g = build(m, s, 0, 0);
    assert_int_equal(weights_of(g, "latent_in_proj"), ROOF_PRECISION_FP8_E4M3);
    assert_int_equal(weights_of(g, "latent_out_proj"), weights_of(g, "shared_down_proj"));
    layer->format[ROOF_WEIGHT_LATENT_IN] = ROOF_PRECISION_FP16;
    g = build(m, s, 0, 0);
    assert_int_equal(weights_of(g, "latent_in_proj"), ROOF_PRECISION_FP16);
    assert_int_equal(weights_of(g, "shared_up_proj"), ROOF_PRECISION_FP8_E4M3);
    s.weight[ROOF_WEIGHT_SHARED_UP] = ROOF_PRECISION_INT8;
    s.weight[ROOF_WEIGHT_LATENT_OUT] = ROOF_PRECISION_FP32;
    g = build(m, s, 0, 0);
    assert_int_equal(weights_of(g, "latent_in_proj"), ROOF_PRECISION_INT8);
    assert_int_equal(weights_of(g, "latent_out_proj"), ROOF_PRECISION_FP32);
    assert_int_not_equal(weights_of(g, "shared_down_proj"), ROOF_PRECISION_FP32);
    roof_model_free(m);
}

/* Mistakes: B and C in the convolution, a sum over devices left out, a state in every layer. */
static void test_selective_scan(void **state)
{
    (void)state;
    struct roof_model *const m = parse(SCANS);
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    const struct roof_shape conv = {.batch = 3, .query_len = 1, .hidden = 128, .taps = 4};
    const struct roof_shape scan = {.batch = 3, .query_len = 1, .hidden = 128, .state_size = 6};
    assert_int_equal(find(g, "mixer_in_proj")->workload.shape.n, 2 * 128);
    assert_memory_equal(&find(g, "short_conv")->workload.shape, &conv, sizeof conv);
    assert_near(find(g, "short_conv")->vectors, 128 * (4 + 1), 0);
    /* A step of 5 elements, B and C of 6; steps have a bias. */
    assert_int_equal(find(g, "mixer_x_proj")->workload.shape.n, 5 + 2 * 6);
    assert_int_equal(find(g, "mixer_x_proj")->workload.shape.k, 128);
    assert_int_equal(find(g, "mixer_x_norm")->workload.shape.hidden, 17);
    assert_int_equal(find(g, "mixer_step_proj")->workload.shape.n, 128);
    assert_int_equal(find(g, "mixer_step_proj")->workload.shape.k, 5);
    assert_near(find(g, "mixer_step_proj")->vectors, 128, 0);
    assert_int_equal(find(g, "state")->workload.op, ROOF_OPERATOR_SELECTIVE_SCAN);
    assert_memory_equal(&find(g, "state")->workload.shape, &scan, sizeof scan);
    assert_near(find(g, "state")->vectors, 128 * (6 + 1), 0);
    assert_false(has(g, "mixer_norm") || has(g, "rope") || has(g, "mixer_x_all_reduce"));
    /* The state, and the last 3 inputs of the convolution, of 2 bytes an element. */
    assert_near(g->kv_bytes, 3 * (50 * 64 * 2 + 128 * 6 * 2 + 3 * 128 * 2), 0);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "mixer_x_proj")->workload.shape.n, 17);
    assert_int_equal(find(g, "mixer_x_proj")->workload.shape.k, 64);
    assert_int_equal(find(g, "mixer_x_all_reduce")->workload.shape.elements, 3 * 17);
    assert_near(g->kv_bytes, 3 * (50 * 32 * 2 + 64 * 6 * 2 + 3 * 64 * 2), 0);
    roof_model_free(m);
}

/* Weights of GGUF are those of a file of that kind, also of one in BF16, or those that are set. */
static void test_gguf(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MLA);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    assert_false(roof_scenario_gguf(&s, m));
    m->gguf = true;
    assert_true(roof_scenario_gguf(&s, m));
    m->gguf = false;
    m->format[ROOF_WEIGHT_LM_HEAD] = ROOF_PRECISION_Q6_K;
    assert_true(roof_scenario_gguf(&s, m));
    m->format[ROOF_WEIGHT_LM_HEAD] = ROOF_PRECISION_AUTO;
    s.weight[ROOF_WEIGHT_COUNT - 1] = ROOF_PRECISION_Q6_K;
    assert_true(roof_scenario_gguf(&s, m));
    roof_model_free(m);
}

/* The latent attention of Kimi Linear rotates nothing; that of others rotates a part of Q and K. */
static void test_latent_without_rope(void **state)
{
    (void)state;
    struct roof_model *const kimi = load("kimi-linear-48b-a3b");
    struct roof_model *const other = parse(MLA);
    assert_false(has(build(kimi, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0), "rope"));
    assert_true(has(build(other, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0), "rope"));
    roof_model_free(kimi);
    roof_model_free(other);
}

/* An indexer of 5 heads of 6 chooses 20 keys of each query. */
#define CHOOSES                                                                                    \
    "{\"model_type\": \"deepseek_v32\", \"index_topk\": 20, \"index_n_heads\": 5, "                \
    "\"index_head_dim\": 6, \"q_lora_rank\": 24, " MLA_SIZES "}"
#define INDEX_INPUTS(T)                                                                            \
    GEMM("index_q_proj", 2, T, 5 * 6, 24), GEMM("index_k_proj", 2, T, 6 + 5, 64),                  \
        {"index_k_norm", 2, OP(LAYERNORM), {.tokens = (T), .hidden = 6, .gain = 1}},               \
        {"index_rope", 2, OP(ROPE), {.tokens = (T), .heads = 5, .kv_heads = 1, .head_dim = 8}},    \
    {                                                                                              \
        "index_append", 2, OP(KV_APPEND),                                                          \
        {                                                                                          \
            .tokens = (T), .heads = 1, .kv_heads = 1, .head_dim = 3                                \
        }                                                                                          \
    }
#define CHOICE(batch_, query_, len_)                                                               \
    {"index_scores",                                                                               \
     2,                                                                                            \
     OP(INDEX_SCORES),                                                                             \
     {.batch = (batch_),                                                                           \
      .heads = 5,                                                                                  \
      .head_dim = 6,                                                                               \
      .query_len = (query_),                                                                       \
      .kv_len = (len_),                                                                            \
      .causal = 1}},                                                                               \
    {                                                                                              \
        "index_top_k", 2, OP(INDEX_TOP_K),                                                         \
        {                                                                                          \
            .batch = (batch_), .query_len = (query_), .kv_len = (len_), .selected = 20             \
        }                                                                                          \
    }
#define FEW(batch_, query_, len_)                                                                  \
    {                                                                                              \
        "attention", 2, OP(SPARSE_MLA),                                                            \
        {                                                                                          \
            .batch = (batch_), .heads = 4, .kv_lora_rank = 32, .qk_rope_head_dim = 8,              \
            .query_len = (query_), .kv_len = (len_), .causal = 1, .selected = 20                   \
        }                                                                                          \
    }

/* Mistake: all keys attended to, or the index keys neither kept nor read. */
static void test_chosen_keys(void **state)
{
    (void)state;
    struct roof_model *const m = parse(CHOOSES);
    const struct expected decode[] = {MLA_BEFORE(3),    INDEX_INPUTS(3),
                                      CHOICE(3, 1, 50), BMM("q_absorb", 4, 3, 32, 16),
                                      FEW(3, 1, 50),    BMM("v_absorb", 4, 3, 12, 32),
                                      MLA_AFTER(3, 3)};
    const struct roof_graph *g = build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0);
    HAS(g, decode);
    /* A latent of 40 in 16 bits, and a key of 6 in 8.25 bits. */
    assert_near(g->kv_bytes, 2 * 3 * 50 * (40 * 2 + 6 * 8.25 / 8), 0);
    assert_int_equal(find(g, "index_scores")->workload.formats.kv, ROOF_PRECISION_MXFP8_E4M3);
    assert_int_equal(find(g, "index_scores")->workload.formats.out, ROOF_PRECISION_FP32);
    assert_near(find(g, "index_q_proj")->elements, 30 * 24, 0);
    assert_near(find(g, "index_k_proj")->elements, 11 * 64, 0);
    assert_near(find(g, "index_k_norm")->vectors, 2 * 6, 0);
    /* Up to 20 keys there is nothing to choose, but keys are kept for later. */
    const struct expected all[] = {MLA_BEFORE(3),
                                   INDEX_INPUTS(3),
                                   BMM("q_absorb", 4, 3, 32, 16),
                                   LATENT("attention", MLA_DECODE, 3, 4, 1, 20),
                                   BMM("v_absorb", 4, 3, 12, 32),
                                   MLA_AFTER(3, 3)};
    g = build(m, asked(ROOF_PHASE_DECODE, 3, 20), 0, 0);
    HAS(g, all);
    /* 30 tokens have 465 pairs of 16 + 8 + 12, fewer FLOPs than 410 of 2 x 32 + 8 on the latent. */
    const struct expected expanded[] = {MLA_BEFORE(30),
                                        INDEX_INPUTS(30),
                                        CHOICE(1, 30, 30),
                                        GEMM("kv_b_proj", 2, 30, 4 * (16 + 12), 32),
                                        LATENT("attention", MLA_PREFILL, 1, 4, 30, 30),
                                        MLA_AFTER(30, 1)};
    g = build(m, asked(ROOF_PHASE_PREFILL, 1, 30), 0, 0);
    HAS(g, expanded);
    /* 90 tokens have 4095 pairs, and 1610 where each sees 20 at most: 147420 and 115920 FLOPs. */
    const struct expected chosen[] = {MLA_BEFORE(90),    INDEX_INPUTS(90),
                                      CHOICE(1, 90, 90), BMM("q_absorb", 4, 90, 32, 16),
                                      FEW(1, 90, 90),    BMM("v_absorb", 4, 90, 12, 32),
                                      MLA_AFTER(90, 1)};
    g = build(m, asked(ROOF_PHASE_PREFILL, 1, 90), 0, 0);
    HAS(g, chosen);
    roof_model_free(m);
}

/* The second of two layers reuses the keys that the first one chose. Mistake: an index key in each
 * layer, or keys that the next stage does not get. */
static void test_reused_choice(void **state)
{
    (void)state;
    struct roof_model *const m =
        parse("{\"model_type\": \"glm_moe_dsa\", \"index_topk\": 20, \"index_n_heads\": 5, "
              "\"index_head_dim\": 6, \"q_lora_rank\": 24, \"num_nextn_predict_layers\": 1, "
              "\"indexer_types\": [\"full\", \"shared\"], " MLA_SIZES "}");
    static const char *const once[] = {"index_q_proj", "index_k_proj", "index_k_norm", "index_rope",
                                       "index_append", "index_scores", "index_top_k"};
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    const struct roof_graph *g = build(m, s, 0, 0);
    for (size_t i = 0; i < COUNT(once); i++) {
        assert_int_equal(find(g, once[i])->count, 1);
    }
    assert_int_equal(find(g, "attention")->count, 2);
    assert_int_equal(find(g, "attention")->workload.op, ROOF_OPERATOR_SPARSE_MLA);
    assert_near(g->kv_bytes, 3 * 50 * (2 * 40 * 2 + 6 * 8.25 / 8), 0);
    /* The larger of two parts of the batch has 2 tokens: 64 elements of 16 bits each, and 20
     * numbers of 32 bits if keys are chosen. */
    s.pp = 2;
    assert_int_equal(find(build(m, s, 0, 0), "send")->workload.shape.elements, 2 * (64 + 2 * 20));
    g = build(m, s, 1, 0);
    assert_false(has(g, "index_top_k"));
    const struct roof_reads *const reads = &find(g, "attention")->reads;
    bool sent = false;
    for (size_t i = 0; i < reads->count; i++) {
        sent = sent || (reads->before[i] && strcmp(reads->name[i], "send") == 0);
    }
    assert_true(sent);
    s = asked(ROOF_PHASE_DECODE, 3, 20);
    s.pp = 2;
    assert_int_equal(find(build(m, s, 0, 0), "send")->workload.shape.elements, 2 * 64);
    /* A module for multi-token prediction has an indexer of its own. */
    struct roof_graph module;
    s = resolved(asked(ROOF_PHASE_DECODE, 3, 50), m);
    assert_int_equal(roof_graph_predictor(&module, m, &s, (struct roof_places){0}, NULL), ROOF_OK);
    assert_true(has(&module, "index_top_k"));
    assert_near(module.kv_bytes, 3 * 50 * (40 * 2 + 6 * 8.25 / 8), 0);
    roof_model_free(m);
}

/* --- tensor parallelism -------------------------------------------------------------------- */

static void test_tensor_parallel(void **state)
{
    (void)state;
    struct roof_model *m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    /* A head of K and V each; half of the MLP; 1001 tokens are 501 on a device. */
    const struct expected two[] = {VECTOR("embedding", 1, EMBEDDING, 3, 64),
                                   COLLECTIVE("embedding_all_reduce", 1, ALL_REDUCE, 192, 2, 2),
                                   NORM("attn_norm", 4, 3, 64),
                                   GEMM("qkv_proj", 4, 3, 64 + 2 * 16, 64),
                                   ROPE(4, 3, 4, 1, 16),
                                   APPEND(4, 3, 4, 1, 16),
                                   FLASH("attention", 4, 3, 4, 1, 1, 50, 0),
                                   GEMM("o_proj", 4, 3, 64, 64),
                                   COLLECTIVE("attn_all_reduce", 4, ALL_REDUCE, 192, 2, 2),
                                   VECTOR("attn_add", 4, ADD, 3, 64),
                                   NORM("mlp_norm", 4, 3, 64),
                                   GEMM("gate_up_proj", 4, 3, 80, 64),
                                   VECTOR("mlp_act", 4, SILU_MUL, 3, 40),
                                   GEMM("down_proj", 4, 3, 64, 40),
                                   COLLECTIVE("mlp_all_reduce", 4, ALL_REDUCE, 192, 2, 2),
                                   VECTOR("mlp_add", 4, ADD, 3, 64),
                                   NORM("final_norm", 1, 3, 64),
                                   GEMM("lm_head", 1, 3, 501, 64),
                                   COLLECTIVE("logits_all_gather", 1, ALL_GATHER, 3 * 1001, 2, 2)};
    const struct roof_graph *g = build(m, s, 0, 0);
    HAS(g, two);
    assert_near(find(g, "embedding")->elements, 501 * 64, 0);
    assert_near(g->kv_bytes, 4 * 3 * 50 * 32 * 2, 0);
    assert_near(g->residual_bytes, 3 * 64 * 2, 0);
    /* More devices than KV heads: each has one of them, some the same. */
    s.tp = 8;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "qkv_proj")->workload.shape.n, 16 + 2 * 16);
    assert_int_equal(find(g, "attention")->workload.shape.heads, 1);
    assert_int_equal(find(g, "attention")->workload.shape.kv_heads, 1);
    assert_int_equal(find(g, "gate_up_proj")->workload.shape.n, 20);
    assert_int_equal(find(g, "lm_head")->workload.shape.n, 126); /* 1001 / 8 = 125.1 */
    assert_int_equal(find(g, "attn_all_reduce")->workload.shape.devices, 8);
    assert_near(g->kv_bytes, 4 * 3 * 50 * 32 * 2, 0);
    /* Collectives carry the residual's format. */
    s.common.formats.precision = P(FP8_E4M3);
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "attn_all_reduce")->workload.formats.activations, P(BF16));
    roof_model_free(m);
    /* Norms over heads: those of the device. */
    m = parse("{\"model_type\": \"qwen3\", " DENSE_SIZES "}");
    s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "q_norm")->workload.shape.tokens, 3 * 4);
    assert_int_equal(find(g, "k_norm")->workload.shape.tokens, 3);
    roof_model_free(m);
    /* Shared experts and routed ones. */
    m = parse(MOE);
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "experts")->workload.shape.intermediate, 12);
    assert_int_equal(find(g, "shared_gate_up_proj")->workload.shape.n, 40);
    assert_int_equal(find(g, "shared_down_proj")->workload.shape.k, 20);
    assert_int_equal(find(g, "router")->workload.shape.n, 8);
    assert_false(has(g, "dispatch"));
    roof_model_free(m);
}

/* Matrices of layers are halved exactly; norms and other weights that are not split stay whole. */
static void test_tensor_parallel_halves(void **state)
{
    (void)state;
    static const char *const configs[] = {DENSE, MOE, MLA};
    static const char *const whole[] = {"router", "qkv_a_proj"};
    for (size_t c = 0; c < COUNT(configs); c++) {
        struct roof_model *const m = parse(configs[c]);
        static struct roof_graph one;
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
        one = *build(m, s, 0, 0);
        s.tp = 2;
        const struct roof_graph *const two = build(m, s, 0, 0);
        for (size_t i = 0; i < one.count; i++) {
            const struct roof_node *const a = &one.node[i];
            const struct roof_node *const b = find(two, a->name);
            bool split = true;
            for (size_t k = 0; k < COUNT(whole); k++) {
                split = split && strcmp(a->name, whole[k]) != 0;
            }
            if (strcmp(a->name, "embedding") == 0 || strcmp(a->name, "lm_head") == 0) {
                assert_near(b->elements, (a->elements + (c == 0 ? 64 : 0)) / 2, 0);
            } else {
                assert_near(b->elements, split ? a->elements / 2 : a->elements, 0);
            }
        }
        roof_model_free(m);
    }
}

/* --- pipeline ------------------------------------------------------------------------------ */

#define SEVEN                                                                                      \
    "{\"model_type\": \"llama\", \"tie_word_embeddings\": true, \"hidden_size\": 64, "             \
    "\"num_hidden_layers\": 7, \"num_attention_heads\": 8, \"num_key_value_heads\": 2, "           \
    "\"head_dim\": 16, \"intermediate_size\": 80, \"vocab_size\": 1001, "                          \
    "\"sliding_window\": 20, \"sliding_window_pattern\": 3}"

/* Seven layers in three stages: 0-2, 3-4, 5-6; of these 2 and 5 are not windowed. Five sequences in
 * three parts: two at a time. */
static void test_pipeline(void **state)
{
    (void)state;
    struct roof_model *const m = parse(SEVEN);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 5, 50);
    s.pp = 3;
    static const struct {
        int64_t layers, windowed, full;
    } stages[] = {{3, 2, 1}, {2, 2, 0}, {2, 1, 1}};
    for (int64_t stage = 0; stage < 3; stage++) {
        const struct roof_graph *const g = build(m, s, stage, 0);
        assert_int_equal(find(g, "qkv_proj")->count, stages[stage].layers);
        assert_int_equal(find(g, "qkv_proj")->workload.shape.m, 2);
        assert_int_equal(find(g, "attention_window")->count, stages[stage].windowed);
        assert_int_equal(has(g, "attention"), stages[stage].full > 0);
        assert_int_equal(has(g, "embedding"), stage == 0);
        assert_int_equal(has(g, "final_norm"), stage == 2);
        assert_int_equal(has(g, "lm_head"), stage == 2);
        assert_int_equal(has(g, "send"), stage < 2);
        assert_string_equal(g->node[0].name, stage == 0 ? "embedding" : "attn_norm");
        assert_string_equal(g->node[g->count - 1].name, stage < 2 ? "send" : "lm_head");
        /* The cache of all five sequences, in the layers of the stage. */
        assert_near(g->kv_bytes,
                    5. * (double)(stages[stage].windowed * 20 + stages[stage].full * 50) * 64 * 2,
                    0);
        assert_near(g->residual_bytes, 2 * 64 * 2, 0);
        if (stage < 2) {
            assert_int_equal(find(g, "send")->workload.op, OP(SEND));
            assert_int_equal(find(g, "send")->workload.shape.elements, 2 * 64);
            assert_int_equal(find(g, "send")->count, 1);
        } else {
            /* The tied table lies on another device: a copy. */
            assert_false(find(g, "lm_head")->borrowed);
            assert_near(roof_node_bytes(find(g, "lm_head")), 1001 * 64 * 2, 0);
        }
    }
    /* More stages than sequences: one at a time. */
    s.common.shape.batch = 2;
    s = resolved(s, m);
    assert_int_equal(roof_microbatches(&s), 2);
    s.common.shape.batch = 3;
    assert_int_equal(roof_microbatches(&s), 3);
    s.common.shape.batch = 50;
    assert_int_equal(roof_microbatches(&s), 3);
    s.pp = 7;
    for (int64_t stage = 0; stage < 7; stage++) {
        assert_int_equal(find(build(m, s, stage, 0), "o_proj")->count, 1);
    }
    roof_model_free(m);
}

/* The next stage lies in the same node, or behind its border. */
static void test_send(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    static const struct {
        int64_t tp, pp, stage, node_size, within;
    } cases[] = {
        {1, 2, 0, 2, 2},                  /* devices 0 and 1 */
        {1, 4, 0, 2, 2}, {1, 4, 1, 2, 3}, /* from 1 to 2, which is in the next node */
        {1, 4, 2, 2, 2}, {1, 2, 0, 1, 2}, /* each device is a node */
        {1, 2, 0, 0, 2},                  /* unknown: large enough */
        {2, 2, 0, 4, 3},                  /* from 0, 1 to 2, 3, two further */
        {2, 4, 1, 4, 5},                  /* from 2, 3 to 4, 5 */
        {2, 4, 2, 4, 3}, {2, 2, 0, 2, 3}, /* a stage fills a node */
        {4, 2, 0, 2, 5}, {4, 2, 0, 8, 5},
        {8, 2, 0, 8, 9}, {2, 2, 0, 3, 4}, /* 1 goes to 3, 0 to 2 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 8, 50);
        s.tp = cases[i].tp;
        s.pp = cases[i].pp;
        const struct roof_graph *const g = build(m, s, cases[i].stage, cases[i].node_size);
        const int64_t within = find(g, "send")->workload.shape.within;
        if (within != cases[i].within) {
            fail_msg("tp %lld, stage %lld of %lld, node of %lld: within %lld, expected %lld",
                     (long long)cases[i].tp, (long long)cases[i].stage, (long long)cases[i].pp,
                     (long long)cases[i].node_size, (long long)within, (long long)cases[i].within);
        }
    }
    roof_model_free(m);
    /* Stages of two devices that share experts: from 2, 3 to 4, 5. */
    struct roof_model *const experts = parse(MOE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 8, 50);
    s.common.shape.ep = 2;
    s.pp = 3;
    assert_int_equal(find(build(experts, s, 0, 4), "send")->workload.shape.within, 3);
    assert_int_equal(find(build(experts, s, 1, 4), "send")->workload.shape.within, 5);
    roof_model_free(experts);
}

/* Pairs of cards with a bridge: 1 sends to 2, which is on the next bridge. With a bridge of four, 2
 * and 3 send to 4 and 5. */
static void test_send_past_bridge(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    static const struct {
        int64_t tp, pp, stage;
        struct roof_places places;
        int64_t within;
    } cases[] = {
        {1, 4, 0, {.bridge = 2, .node = 8}, 2},
        {1, 4, 1, {.bridge = 2, .node = 8}, 3},
        {1, 4, 2, {.bridge = 2}, 2},
        {2, 2, 0, {.bridge = 2, .node = 8}, 3},
        {2, 3, 0, {.bridge = 4, .node = 8}, 3},
        {2, 3, 1, {.bridge = 4, .node = 8}, 5},
        {1, 4, 1, {.bridge = 2, .node = 2}, 3},
        {4, 3, 1, {.bridge = 4, .node = 8}, 9},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        static struct roof_graph graph;
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 8, 50);
        s.tp = cases[i].tp;
        s.pp = cases[i].pp;
        s = resolved(s, m);
        assert_int_equal(roof_graph_build(&graph, m, &s, cases[i].stage, cases[i].places, NULL),
                         ROOF_OK);
        const int64_t within = find(&graph, "send")->workload.shape.within;
        if (within != cases[i].within) {
            fail_msg("case %zu: within %lld, expected %lld", i, (long long)within,
                     (long long)cases[i].within);
        }
    }
    roof_model_free(m);
}

/* Groups of neighbours that have devices of two nodes count as crossing: with three devices to a
 * node, 2 and 3 are in two, so are 0 to 3. */
static void test_groups_across_nodes(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MOE);
    static const struct {
        int64_t tp, ep, pp, stage, node_size, tp_within, ep_within;
    } cases[] =
        {
            {2, 2, 1, 0, 0, 2, 4}, {2, 2, 1, 0, 4, 2, 4}, {2, 2, 1, 0, 8, 2, 4},
            {2, 2, 1, 0, 3, 4, 4}, {2, 2, 1, 0, 2, 2, 4}, {2, 2, 1, 0, 1, 2, 4},
            {2, 2, 2, 1, 5, 6, 6},                        /* 4 to 7 with a border before 5 */
            {2, 2, 2, 1, 6, 2, 7},                        /* before 6 */
            {2, 2, 2, 1, 8, 2, 4}, {2, 2, 2, 0, 5, 2, 4}, /* 4 and 5, in two nodes, are of the next
                                                             stage */
        };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 8, 50);
        s.tp = cases[i].tp;
        s.pp = cases[i].pp;
        s.common.shape.ep = cases[i].ep;
        const struct roof_graph *const g = build(m, s, cases[i].stage, cases[i].node_size);
        const int64_t tp = find(g, "attn_all_reduce")->workload.shape.within;
        const int64_t ep = find(g, "dispatch")->workload.shape.within;
        const bool last = cases[i].stage + 1 == cases[i].pp;
        if (last) {
            assert_int_equal(find(g, "logits_all_gather")->workload.shape.within, tp);
        }
        if (tp != cases[i].tp_within || ep != cases[i].ep_within) {
            fail_msg("case %zu: within %lld and %lld", i, (long long)tp, (long long)ep);
        }
    }
    roof_model_free(m);
}

static void test_tied(void **state)
{
    (void)state;
    struct roof_model *const m = parse(TIED);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    const struct roof_graph *g = build(m, s, 0, 0);
    assert_true(find(g, "lm_head")->borrowed);
    assert_near(find(g, "lm_head")->elements, 1001 * 64, 0);
    assert_near(roof_node_bytes(find(g, "lm_head")), 0, 0);
    assert_near(roof_node_bytes(find(g, "embedding")), 1001 * 64 * 2, 0);
    s.tp = 2;
    g = build(m, s, 0, 0);
    assert_true(find(g, "lm_head")->borrowed);
    /* In another format it is a copy. */
    s.tp = 1;
    s.weight[W(LM_HEAD)] = P(FP8_E4M3);
    g = build(m, s, 0, 0);
    assert_false(find(g, "lm_head")->borrowed);
    assert_near(roof_node_bytes(find(g, "lm_head")), 1001 * 64, 0);
    s.weight[W(EMBEDDING)] = P(FP8_E4M3);
    assert_true(find(build(m, s, 0, 0), "lm_head")->borrowed);
    roof_model_free(m);
    struct roof_model *const apart = parse(DENSE);
    assert_false(find(build(apart, asked(ROOF_PHASE_DECODE, 1, 50), 0, 0), "lm_head")->borrowed);
    roof_model_free(apart);
}

/* --- formats ------------------------------------------------------------------------------- */

struct formats_case {
    enum roof_precision precision, weights, activations; /* as asked */
    enum roof_weight of;                                 /* --class */
    enum roof_precision given;
    const char *node;
    enum roof_precision node_weights, node_activations, node_out;
};

#define NONE W(COUNT), P(AUTO)
/*
 * Linear weights as -w or -p; embedding, head, norms and router in the wider of -w and BF16 (at
 * equal width that of -w). Weights that are not as -w take inputs in the wider of -a and
 * what -p would pair them with. Vector operators read and write what products write.
 */
static const struct formats_case formats_cases[] = {
    {P(AUTO), P(AUTO), P(AUTO), NONE, "qkv_proj", P(FP16), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), NONE, "lm_head", P(FP16), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), NONE, "embedding", P(FP16), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), NONE, "attn_norm", P(FP16), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), NONE, "router", P(FP16), P(FP16), P(FP16)},
    {P(FP32), P(AUTO), P(AUTO), NONE, "router", P(FP32), P(FP32), P(FP32)},
    {P(BF16), P(AUTO), P(AUTO), NONE, "lm_head", P(BF16), P(BF16), P(BF16)},
    {P(FP32), P(AUTO), P(AUTO), NONE, "lm_head", P(FP32), P(FP32), P(FP32)},
    {P(FP32), P(AUTO), P(AUTO), NONE, "attn_norm", P(FP32), P(FP32), P(FP32)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "qkv_proj", P(FP8_E4M3), P(FP8_E4M3), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "experts", P(FP8_E4M3), P(FP8_E4M3), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "shared_down_proj", P(FP8_E4M3), P(FP8_E4M3), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "lm_head", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "embedding", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "attn_norm", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "mlp_act", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "router", P(BF16), P(BF16), P(BF16)},
    {P(NVFP4), P(AUTO), P(AUTO), NONE, "router", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), NONE, "attention", P(FP8_E4M3), P(BF16), P(BF16)},
    {P(NVFP4), P(AUTO), P(AUTO), NONE, "down_proj", P(NVFP4), P(NVFP4), P(BF16)},
    {P(NVFP4), P(AUTO), P(AUTO), NONE, "lm_head", P(BF16), P(BF16), P(BF16)},
    {P(AUTO), P(INT4), P(AUTO), NONE, "down_proj", P(INT4), P(FP16), P(FP16)},
    {P(AUTO), P(INT4), P(AUTO), NONE, "lm_head", P(BF16), P(FP16), P(FP16)},
    {P(AUTO), P(Q4_K), P(AUTO), NONE, "down_proj", P(Q4_K), P(FP16), P(FP16)},
    {P(AUTO), P(FP8_E4M3), P(BF16), NONE, "down_proj", P(FP8_E4M3), P(BF16), P(BF16)},
    {P(AUTO), P(FP32), P(AUTO), NONE, "lm_head", P(FP32), P(FP32), P(FP16)},
    {P(AUTO), P(FP32), P(AUTO), NONE, "down_proj", P(FP32), P(FP16), P(FP16)},
    /* One class apart. */
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(LM_HEAD), P(FP8_E4M3), "lm_head", P(FP8_E4M3), P(FP8_E4M3),
     P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(DOWN), P(BF16), "down_proj", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(DOWN), P(BF16), "gate_up_proj", P(FP8_E4M3), P(FP8_E4M3),
     P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(DOWN), P(NVFP4), "down_proj", P(NVFP4), P(FP8_E4M3), P(BF16)},
    {P(NVFP4), P(AUTO), P(AUTO), W(DOWN), P(FP8_E4M3), "down_proj", P(FP8_E4M3), P(FP8_E4M3),
     P(BF16)},
    {P(AUTO), P(AUTO), P(AUTO), W(DOWN), P(Q4_K), "down_proj", P(Q4_K), P(FP16), P(FP16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(DOWN), P(Q4_K), "down_proj", P(Q4_K), P(FP16), P(BF16)},
    {P(AUTO), P(AUTO), P(AUTO), W(ROUTER), P(FP32), "router", P(FP32), P(FP32), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), W(EMBEDDING), P(Q4_K), "embedding", P(Q4_K), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), W(EMBEDDING), P(Q4_K), "lm_head", P(FP16), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), W(NORM), P(FP32), "final_norm", P(FP32), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), W(NORM), P(FP32), "attn_norm", P(FP32), P(FP16), P(FP16)},
    {P(AUTO), P(AUTO), P(AUTO), W(SHARED_DOWN), P(INT8), "shared_down_proj", P(INT8), P(FP16),
     P(FP16)},
    /* Products of one input but in other formats are products of their own. */
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(Q), P(BF16), "q_proj", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(Q), P(BF16), "k_proj", P(FP8_E4M3), P(FP8_E4M3), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(V), P(BF16), "v_proj", P(BF16), P(BF16), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(UP), P(BF16), "gate_proj", P(FP8_E4M3), P(FP8_E4M3), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(UP), P(BF16), "up_proj", P(BF16), P(BF16), P(BF16)},
    /* The experts are one operator, but for a down in another format; gate and up have the wider.
     */
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(EXPERT_DOWN), P(BF16), "experts_down", P(BF16), P(BF16),
     P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(EXPERT_DOWN), P(BF16), "experts_gate_up", P(FP8_E4M3),
     P(FP8_E4M3), P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(EXPERT_UP), P(BF16), "experts_gate_up", P(BF16), P(BF16),
     P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(EXPERT_UP), P(BF16), "experts_down", P(FP8_E4M3), P(FP8_E4M3),
     P(BF16)},
    {P(FP8_E4M3), P(AUTO), P(AUTO), W(EXPERT_GATE), P(NVFP4), "experts", P(FP8_E4M3), P(FP8_E4M3),
     P(BF16)},
};

static void test_formats(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MOE);
    for (size_t i = 0; i < COUNT(formats_cases); i++) {
        const struct formats_case *const c = &formats_cases[i];
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
        s.common.formats.precision = c->precision;
        s.common.formats.weights = c->weights;
        s.common.formats.activations = c->activations;
        if (c->of != W(COUNT)) {
            s.weight[c->of] = c->given;
        }
        const struct roof_formats *const f = &find(build(m, s, 0, 0), c->node)->workload.formats;
        if ((find(build(m, s, 0, 0), c->node)->weight != W(COUNT) &&
             f->weights != c->node_weights) ||
            f->activations != c->node_activations || f->out != c->node_out) {
            fail_msg("case %zu, %s: %s, %s, %s", i, c->node, roof_format(f->weights)->name,
                     roof_format(f->activations)->name, roof_format(f->out)->name);
        }
    }
    roof_model_free(m);
}

/* A layout gives the formats of a layer, unless the request gives them. */
static void test_stored_formats(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    m->layer[1] = m->layer[0];
    m->layer[1].format[W(DOWN)] = P(Q6_K);
    m->layer[0].format[W(DOWN)] = P(Q4_K);
    m->layer_classes = 2;
    m->layer_class[2] = 1;
    m->format[W(LM_HEAD)] = P(INT8);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
    const struct roof_graph *g = build(m, s, 0, 0);
    int64_t q4 = 0;
    int64_t q6 = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->node[i].name, "down_proj") == 0) {
            q4 += g->node[i].workload.formats.weights == P(Q4_K) ? g->node[i].count : 0;
            q6 += g->node[i].workload.formats.weights == P(Q6_K) ? g->node[i].count : 0;
        }
    }
    assert_int_equal(q4, 3);
    assert_int_equal(q6, 1);
    assert_int_equal(find(g, "lm_head")->workload.formats.weights, P(INT8));
    assert_int_equal(find(g, "o_proj")->count, 4);
    const double layer = 2. * (192 * 64 + 64 * 128 + 160 * 64 + 128);
    assert_near(roof_model_bytes(m),
                4 * layer + 80 * 64 * (3 * 144. + 210) / 256 + 1001 * 64 * 3 + 64 * 2, 0);
    s.weight[W(DOWN)] = P(BF16);
    s.weight[W(LM_HEAD)] = P(BF16);
    g = build(m, s, 0, 0);
    assert_int_equal(find(g, "down_proj")->count, 4);
    assert_int_equal(find(g, "down_proj")->workload.formats.weights, P(BF16));
    assert_int_equal(find(g, "lm_head")->workload.formats.weights, P(BF16));
    roof_model_free(m);
}

/* The cache in its own format; INT8 with a scale per token and head has 4 bytes more for each. */
static void test_kv_formats(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_model *const latent = parse(MLA);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.common.formats.kv = P(FP8_E4M3);
    const struct roof_graph *g = build(m, s, 0, 0);
    assert_near(g->kv_bytes, 4 * 3 * 50 * 64, 0);
    assert_int_equal(find(g, "attention")->workload.formats.kv, P(FP8_E4M3));
    assert_int_equal(find(g, "kv_append")->workload.formats.kv, P(FP8_E4M3));
    s = resolved(s, m);
    assert_near(roof_kv_bytes_per_token(m, &s), 4 * 64, 0);
    s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.common.formats.kv = P(INT8_CHANNEL);
    g = build(m, s, 0, 0);
    assert_near(g->kv_bytes, 4 * 3 * 50 * (64 + 4 * 4), 0);
    g = build(latent, s, 0, 0);
    assert_near(g->kv_bytes, 2 * 3 * 50 * (40 + 4), 0);
    /* Without the scale of a tensor: 16 elements of NVFP4 are 9 bytes. */
    s.common.formats.kv = P(NVFP4);
    g = build(m, s, 0, 0);
    assert_near(g->kv_bytes, 4 * 3 * 50 * 36, 0);
    /* K and V that prefill has just made are not the cache. */
    s = asked(ROOF_PHASE_PREFILL, 3, 50);
    s.common.formats.kv = P(FP8_E4M3);
    g = build(latent, s, 0, 0);
    assert_int_equal(find(g, "attention")->workload.formats.kv, P(FP16));
    assert_int_equal(find(g, "kv_append")->workload.formats.kv, P(FP8_E4M3));
    assert_near(g->kv_bytes, 2 * 3 * 50 * 40, 0);
    roof_model_free(m);
    roof_model_free(latent);
}

/* --- scenarios ----------------------------------------------------------------------------- */

static void test_defaults(void **state)
{
    (void)state;
    struct roof_model *m = parse(DENSE);
    struct roof_scenario s;
    roof_scenario_init(&s);
    assert_near(s.acceptance, 0.7, 0);
    assert_near(s.reserve, 0.1, 0);
    assert_int_equal(s.common.formats.weights, P(AUTO));
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        assert_int_equal(s.weight[w], P(AUTO));
    }
    s = resolved(s, m);
    assert_int_equal(s.phase, ROOF_PHASE_DECODE);
    assert_int_equal(s.common.shape.batch, 1);
    assert_int_equal(s.common.shape.ep, 1);
    assert_int_equal(s.tp, 1);
    assert_int_equal(s.pp, 1);
    assert_int_equal(s.context, 2048); /* the model's, which is less than 4096 */
    assert_int_equal(s.chunk, 0);
    assert_int_equal(s.common.formats.weights, P(FP16));
    assert_int_equal(s.common.formats.kv, P(FP16));
    assert_int_equal(roof_query_len(&s), 1);
    assert_int_equal(roof_microbatches(&s), 1);
    s = resolved(asked(ROOF_PHASE_PREFILL, 0, 0), m);
    assert_int_equal(s.context, 2048);
    assert_int_equal(s.chunk, 2048);
    assert_int_equal(roof_query_len(&s), 2048);
    s = resolved(asked(ROOF_PHASE_MIXED, 0, 0), m);
    assert_int_equal(s.chunk, 512);
    assert_int_equal(s.prefill_batch, 1);
    assert_int_equal(s.prefill_context, 512);
    assert_int_equal(roof_query_len(&s), 1);
    /* A context beyond what the model was made for is allowed when it is asked for. */
    s = resolved(asked(ROOF_PHASE_DECODE, 1, 5000), m);
    assert_int_equal(s.context, 5000);
    roof_scenario_init(&s);
    s.prompt = 100;
    s.generate = 20;
    s = resolved(s, m);
    assert_int_equal(s.phase, ROOF_PHASE_REQUEST);
    /* Twice is the same as once. */
    s = resolved(s, m);
    assert_int_equal(s.phase, ROOF_PHASE_REQUEST);
    s = asked(ROOF_PHASE_DECODE, 1, 10);
    s.draft_tokens = 4;
    assert_int_equal(roof_query_len(&s), 5);
    roof_model_free(m);
    m = parse(MOE); /* does not say for what context it was made */
    s = resolved(asked(ROOF_PHASE_DECODE, 0, 0), m);
    assert_int_equal(s.context, 4096);
    roof_model_free(m);
    static const char *const names[] = {"decode", "prefill", "mixed", "encode", "request"};
    assert_int_equal(COUNT(names), ROOF_PHASE_COUNT);
    for (int i = 0; i < ROOF_PHASE_COUNT; i++) {
        assert_string_equal(roof_phase_name((enum roof_phase)i), names[i]);
    }
}

/* The part of the prompt that is cached, rounded down; a token remains to be run. */
static void test_prefix_hit(void **state)
{
    (void)state;
    static const struct {
        double hit;
        int64_t context, chunk;
    } cases[] = {{0, 100, 100}, {0.25, 100, 75}, {0.5, 101, 51},    {0.999, 100, 1},
                 {1, 100, 1},   {1, 1, 1},       {0.009, 100, 100}, {0.29, 100, 71}};
    struct roof_model *const m = parse(DENSE);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 1, cases[i].context);
        s.prefix_hit = cases[i].hit;
        s = resolved(s, m);
        assert_int_equal(s.chunk, cases[i].chunk);
        assert_int_equal(s.context, cases[i].context);
    }
    roof_model_free(m);
}

/* --- classes of weights -------------------------------------------------------------------- */

static struct roof_scenario classes(const char *const *assignments, int count)
{
    struct roof_scenario s;
    struct roof_error error = {0};
    roof_scenario_init(&s);
    if (roof_scenario_classes(&s, assignments, count, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return s;
}

/* Eight tokens of decode and two chunks of five meet the experts together. */
static void test_experts_of_a_mixed_pass(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MOE);
    struct roof_scenario s = asked(ROOF_PHASE_MIXED, 8, 50);
    s.prefill_batch = 2;
    s.chunk = 5;
    assert_int_equal(find(build(m, s, 0, 0), "experts")->workload.shape.tokens, 18);
    roof_model_free(m);
}

/* Layers that differ in their attention only share all else, also where a norm is the first
 * operator of a stage. */
static void test_first_operator_of_a_stage(void **state)
{
    (void)state;
    struct roof_model *const m = parse(WINDOWED);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    s.pp = 2;
    const struct roof_graph *const g = build(m, s, 1, 0);
    assert_string_equal(g->node[0].name, "attn_norm");
    assert_int_equal(g->node[0].count, 2);
    for (size_t i = 1; i < g->count; i++) {
        assert_string_not_equal(g->node[i].name, "attn_norm");
    }
    roof_model_free(m);
}

/* Scales on one of two devices: 8 experts of 3 x 64 x 12 elements with 2 x 12 + 64 channels in each
 * of two layers; and of the residual, 3 x 64 elements. */
static void test_scales_of_a_part(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MOE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    s.tp = 2;
    s.common.formats.precision = P(INT8_CHANNEL);
    s.common.formats.out = P(NVFP4);
    const struct roof_graph *const g = build(m, s, 0, 0);
    assert_true(roof_node_bytes(find(g, "experts")) == 2 * (18432 + 4 * 8 * 88));
    assert_true(g->residual_bytes == 12 * 9 + 4);
    roof_model_free(m);
}

/* A latent of one element is one: two cached elements of 2 bytes in each of two layers. */
static void test_smallest_latent(void **state)
{
    (void)state;
    struct roof_model *const m =
        parse("{\"model_type\": \"deepseek_v2\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
              "\"num_attention_heads\": 4, \"kv_lora_rank\": 1, \"q_lora_rank\": 1, "
              "\"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 1, \"v_head_dim\": 12, "
              "\"intermediate_size\": 80, \"vocab_size\": 1000}");
    const struct roof_scenario s = resolved(asked(ROOF_PHASE_DECODE, 3, 50), m);
    const struct roof_graph *const g = build(m, s, 0, 0);
    assert_int_equal(find(g, "attention")->workload.op, OP(MLA_DECODE));
    assert_int_equal(find(g, "q_b_proj")->workload.shape.k, 1);
    assert_true(g->kv_bytes == 3 * 50 * 2 * 2 * 2);
    assert_true(roof_kv_bytes_per_token(m, &s) == 2 * 2 * 2);
    /* A byte for each element, and four for the scale of each latent. */
    struct roof_scenario bytes = asked(ROOF_PHASE_DECODE, 3, 50);
    bytes.common.formats.kv = P(INT8_CHANNEL);
    assert_true(build(m, bytes, 0, 0)->kv_bytes == 3 * 50 * 2 * (2 + 4));
    roof_model_free(m);
}

/* Heads of one element are rotated, a table of one position is read, and a shared expert one
 * element wide is one. */
static void test_single_elements(void **state)
{
    (void)state;
    struct roof_model *m =
        parse("{\"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, "
              "\"head_dim\": 1, \"intermediate_size\": 80, \"vocab_size\": 9}");
    assert_int_equal(
        find(build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0), "rope")->workload.shape.head_dim, 1);
    roof_model_free(m);
    m = parse("{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 1, \"n_head\": 4, "
              "\"vocab_size\": 9, \"n_positions\": 1}");
    assert_near(find(build(m, asked(ROOF_PHASE_DECODE, 3, 1), 0, 0), "position")->elements, 64, 0);
    roof_model_free(m);
    m = parse("{\"model_type\": \"qwen2_moe\", \"hidden_size\": 64, \"num_hidden_layers\": 1, "
              "\"num_attention_heads\": 4, \"intermediate_size\": 80, \"vocab_size\": 1000, "
              "\"num_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 24, "
              "\"shared_expert_intermediate_size\": 1}");
    assert_int_equal(
        find(build(m, asked(ROOF_PHASE_DECODE, 3, 50), 0, 0), "shared_down_proj")->workload.shape.k,
        1);
    roof_model_free(m);
}

/* A length of one token that is given counts, and no default does. */
static void test_single_tokens(void **state)
{
    (void)state;
    struct roof_model *m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_MIXED, 1, 1);
    s.chunk = 1;
    s = resolved(s, m);
    assert_int_equal(s.chunk, 1);
    assert_int_equal(s.prefill_context, 1);
    assert_int_equal(s.context, 1);
    s = asked(ROOF_PHASE_MIXED, 1, 1);
    s.chunk = 1;
    s.prefill_context = 3;
    s = resolved(s, m);
    assert_int_equal(s.chunk, 1);
    assert_int_equal(s.prefill_context, 3);
    s = asked(ROOF_PHASE_DECODE, 1, 0);
    s.prompt = s.generate = 1;
    s = resolved(s, m);
    assert_int_equal(s.phase, ROOF_PHASE_REQUEST);
    roof_model_free(m);
    m = parse("{\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "
              "\"intermediate_size\": 80, \"vocab_size\": 9, \"max_position_embeddings\": 1}");
    s = resolved(asked(ROOF_PHASE_DECODE, 1, 0), m);
    assert_int_equal(s.context, 1);
    roof_model_free(m);
}

/* A narrower name wins over a wider one, in whatever order they come; of one width, the last. */
static void test_classes(void **state)
{
    (void)state;
    struct roof_scenario s = classes(NULL, 0);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        assert_int_equal(s.weight[w], ROOF_PRECISION_AUTO);
    }
    const char *const widths[] = {"down=int8", "linear=fp8", "mlp=int4", "lm_head=bf16",
                                  "down=fp16"};
    s = classes(widths, COUNT(widths));
    assert_int_equal(s.weight[W(Q)], P(FP8_E4M3));
    assert_int_equal(s.weight[W(EXPERT_UP)], P(FP8_E4M3));
    assert_int_equal(s.weight[W(GATE)], P(INT4));
    assert_int_equal(s.weight[W(UP)], P(INT4));
    assert_int_equal(s.weight[W(DOWN)], P(FP16));
    assert_int_equal(s.weight[W(LM_HEAD)], P(BF16));
    assert_int_equal(s.weight[W(EMBEDDING)], ROOF_PRECISION_AUTO);
    assert_int_equal(s.weight[W(NORM)], ROOF_PRECISION_AUTO);
    const char *const first[] = {"embedding=int8"}; /* the first of all classes, and no other */
    s = classes(first, 1);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        assert_int_equal(s.weight[w], w == W(EMBEDDING) ? P(INT8) : ROOF_PRECISION_AUTO);
    }
}

/* Names of up to 31 bytes are looked up. */
static void test_refused_classes(void **state)
{
    (void)state;
    static const struct {
        const char *assignment, *message;
    } cases[] = {
        {"lm_head", "class must be NAME=P such as lm_head=bf16, not 'lm_head'"},
        {"a23456789012345678901234567890123=bf16",
         "class must be NAME=P such as lm_head=bf16, not 'a23456789012345678901234567890123=bf16'"},
        {"a2345678901234567890123456789012=bf16",
         "class must be NAME=P such as lm_head=bf16, not 'a2345678901234567890123456789012=bf16'"},
        {"a234567890123456789012345678901=bf16", "unknown class 'a234567890123456789012345678901'"},
        {"head=bf16", "unknown class 'head'"},
        {"lm_head=bf", "unknown precision 'bf'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_scenario s;
        struct roof_error error = {0};
        roof_scenario_init(&s);
        assert_int_equal(roof_scenario_classes(&s, &cases[i].assignment, 1, &error), ROOF_USAGE);
        if (strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("%s", error.message);
        }
    }
}

static void refused(const char *config, struct roof_scenario s, const char *message)
{
    struct roof_model *const m = parse(config);
    const struct roof_scenario before = s;
    struct roof_error error = {0};
    const enum roof_status status = roof_scenario_resolve(&s, m, &error);
    if (status != ROOF_USAGE || strcmp(error.message, message) != 0) {
        fail_msg("status %d: %s\nexpected: %s", (int)status, error.message, message);
    }
    assert_int_equal(error.status, ROOF_USAGE);
    assert_memory_equal(&s, &before, sizeof s);
    assert_int_equal(roof_scenario_resolve(&s, m, NULL), ROOF_USAGE);
    roof_model_free(m);
}

#define WITH(...)                                                                                  \
    ((struct roof_scenario){                                                                       \
        .common = ROOF_WORKLOAD_INIT, .acceptance = 0.7, .reserve = 0.1, __VA_ARGS__})

static void test_refused_splits(void **state)
{
    (void)state;
    refused(DENSE, WITH(.tp = 3),
            "tiny has 8 attention heads, which tp 3 does not divide; 1, 2, 4 and 8 do");
    refused(DENSE, WITH(.tp = 16),
            "tiny has 8 attention heads, which tp 16 does not divide; 1, 2, 4 and 8 do");
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 12, "
            "\"num_key_value_heads\": 4, \"head_dim\": 8, \"intermediate_size\": 60, "
            "\"vocab_size\": 9}",
            WITH(.tp = 6), "tiny has 4 KV heads, which tp 6 does not divide; 1, 2 and 4 do");
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "
            "\"intermediate_size\": 81, \"vocab_size\": 9}",
            WITH(.tp = 2),
            "tiny has 81 elements between the products of the MLP, which tp 2 does not divide; 1 "
            "does");
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "
            "\"intermediate_size\": 80, \"vocab_size\": 9, \"num_experts\": 8, \"moe_k\": 2, "
            "\"moe_intermediate_size\": 25}",
            WITH(.tp = 2),
            "tiny has 25 elements between the products of an expert, which tp 2 does not divide; 1 "
            "does");
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "
            "\"intermediate_size\": 80, \"vocab_size\": 9, \"num_experts\": 8, \"moe_k\": 2, "
            "\"moe_intermediate_size\": 24, \"shared_expert_intermediate_size\": 41}",
            WITH(.tp = 2),
            "tiny has 41 elements between the products of the shared experts, which tp 2 does "
            "not divide; 1 does");
    refused(DENSE, WITH(.pp = 5), "tiny has 4 layers, too few for pp 5");
    refused(DENSE, WITH(.common.shape.ep = 2), "tiny has no experts for ep 2");
    refused(MOE, WITH(.common.shape.ep = 3),
            "tiny has 8 experts, which ep 3 does not divide; 1, 2, 4 and 8 do");
    refused(MOE, WITH(.common.shape.ep = 16),
            "tiny has 8 experts, which ep 16 does not divide; 1, 2, 4 and 8 do");
    refused(DENSE, WITH(.attention_dp = 2), "tiny has no experts for attention_dp 2");
    refused(DENSE, WITH(.tp = 2, .moe_tp = 2), "tiny has no experts for moe_tp 2");
    refused(DENSE, WITH(.tp = 2, .moe_ep = 2), "tiny has no experts for moe_ep 2");
    refused(MOE, WITH(.tp = 4, .moe_ep = 3),
            "moe_ep 3 must divide the devices of the experts, tp 4 x attention_dp 1 = 4");
    refused(MOE, WITH(.tp = 2, .attention_dp = 2, .moe_tp = 8),
            "moe_tp 8 must divide the devices of the experts, tp 2 x attention_dp 2 = 4");
    refused(MOE, WITH(.tp = 2, .moe_tp = 2, .moe_ep = 2),
            "moe_tp 2 x moe_ep 2 = 4 must be equal to tp 2 x attention_dp 1 = 2");
    refused(MOE, WITH(.attention_dp = 16, .moe_ep = 16),
            "tiny has 8 experts, which moe_ep 16 does not divide; 1, 2, 4 and 8 do");
    refused(MOE, WITH(.attention_dp = 16),
            "tiny has 24 elements between the products of an expert, which moe_tp 16 does not "
            "divide; 6, 8, 12 and 24 do");
    refused(MOE, WITH(.common.shape.ep = 2, .attention_dp = 4),
            "ep 2 is short for attention_dp 2, moe_ep 2 and moe_tp 1: give it or those, not both");
    refused(MOE, WITH(.common.shape.ep = 2, .moe_ep = 4),
            "ep 2 is short for attention_dp 2, moe_ep 2 and moe_tp 1: give it or those, not both");
    refused(MOE, WITH(.common.shape.ep = 2, .tp = 2, .moe_tp = 1),
            "ep 2 is short for attention_dp 2, moe_ep 2 and moe_tp 2: give it or those, not both");
    refused(DENSE, WITH(.dp = 1000000001), "dp must be 1 to 1000000000, not 1000000001");
    refused(MOE, WITH(.attention_dp = 1000000001),
            "attention_dp must be 1 to 1000000000, not 1000000001");
    refused(DENSE, WITH(.common.shape.routing = 1), "tiny has no experts for routing");
    /* An MLP that no layer has need not be divided; neither do the KV heads of a latent. */
    struct roof_model *m = parse("{\"hidden_size\": 64, \"num_hidden_layers\": 4, "
                                 "\"num_attention_heads\": 8, \"intermediate_size\": 81, "
                                 "\"vocab_size\": 9, \"num_experts\": 8, \"moe_k\": 2, "
                                 "\"moe_intermediate_size\": 24}");
    (void)resolved(WITH(.tp = 2), m);
    (void)resolved(WITH(.common.shape.ep = 8, .tp = 8), m);
    roof_model_free(m);
    m = parse("{\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 12, "
              "\"num_key_value_heads\": 4, \"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16, "
              "\"qk_rope_head_dim\": 8, \"v_head_dim\": 12, \"intermediate_size\": 60, "
              "\"vocab_size\": 9}");
    (void)resolved(WITH(.tp = 6), m);
    roof_model_free(m);
}

static void test_refused_sizes(void **state)
{
    (void)state;
    static const double unknown = ROOF_UNKNOWN;
    refused(DENSE, WITH(.context = -1), "context must be 1 to 1000000000, not -1");
    refused(DENSE, WITH(.context = 1000000001), "context must be 1 to 1000000000, not 1000000001");
    refused(DENSE, WITH(.common.shape.batch = 1000000001),
            "batch must be 1 to 1000000000, not 1000000001");
    refused(DENSE, WITH(.chunk = -5), "chunk must be 1 to 1000000000, not -5");
    refused(DENSE, WITH(.phase = ROOF_PHASE_MIXED, .prefill_batch = -1),
            "prefill_batch must be 1 to 1000000000, not -1");
    refused(DENSE, WITH(.prefill_context = -1), "prefill_context must be 1 to 1000000000, not -1");
    refused(DENSE, WITH(.prompt = -1), "prompt must be 1 to 1000000000, not -1");
    refused(DENSE, WITH(.generate = -1), "generate must be 1 to 1000000000, not -1");
    refused(DENSE, WITH(.draft_tokens = 2, .drafting = ROOF_DRAFTING_OWN),
            "tiny has no layers for multi-token prediction (draft_model mtp)");
    refused(DENSE, WITH(.media.audio_length_s = -1),
            "audio_length_s must be 1 to 1000000000, not -1");
    refused(DENSE, WITH(.draft_tokens = -1), "draft_tokens must be 0 to 64, not -1");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .context = 48, .chunk = 49),
            "chunk must be 1 to 48, not 49");
    refused(DENSE, WITH(.phase = ROOF_PHASE_MIXED, .prefill_context = 100, .chunk = 101),
            "chunk must be 1 to 100, not 101");
    refused(DENSE, WITH(.phase = ROOF_PHASE_MIXED, .prefill_context = 100),
            "chunk must be 1 to 100, not 512");
    refused(DENSE, WITH(.phase = ROOF_PHASE_MIXED, .prefill_context = 1, .chunk = 3),
            "chunk must be 1 to 1, not 3");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .prefix_hit = 1.5),
            "prefix_hit must be 0 to 1, not 1.5");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .prefix_hit = -0.5),
            "prefix_hit must be 0 to 1, not -0.5");
    struct roof_scenario s = WITH(.context = 10);
    s.acceptance = 1.01;
    refused(DENSE, s, "acceptance must be 0 to 1, not 1.01");
    s.acceptance = unknown;
    refused(DENSE, s, "acceptance must be 0 to 1, not -");
    s = WITH(.context = 10);
    s.reserve = 1;
    refused(DENSE, s, "reserve must be 0 to 0.99, not 1");
    s.reserve = -0.1;
    refused(DENSE, s, "reserve must be 0 to 0.99, not -0.1");
    s.reserve = unknown;
    refused(DENSE, s, "reserve must be 0 to 0.99, not -");
    s = WITH(.context = 10);
    s.prefix_hit = unknown;
    refused(DENSE, s, "prefix_hit must be 0 to 1, not -");
}

/* Inputs that do not go together are refused. */
static void test_refused_combinations(void **state)
{
    (void)state;
    refused(DENSE, WITH(.prompt = 10), "prompt and generate need each other: give both");
    refused(DENSE, WITH(.generate = 10), "prompt and generate need each other: give both");
    refused(DENSE, WITH(.prompt = 10, .generate = 10, .phase = ROOF_PHASE_PREFILL),
            "prompt and generate ask for a whole request: leave out phase");
    refused(DENSE, WITH(.prompt = 10, .generate = 10, .phase = ROOF_PHASE_MIXED),
            "prompt and generate ask for a whole request: leave out phase");
    refused(DENSE, WITH(.prompt = 10, .generate = 10, .context = 20),
            "prompt and generate give the lengths: leave out context");
    refused(DENSE, WITH(.prompt = 10, .generate = 10, .chunk = 5, .static_batch = 1),
            "static prefills whole prompts: leave out chunk");
    refused(DENSE, WITH(.prompt = 10, .generate = 10, .chunk = ROOF_CHUNK_WHOLE, .static_batch = 1),
            "static prefills whole prompts: leave out chunk");
    refused(DENSE, WITH(.static_batch = 1), "static needs prompt and generate");
    refused(DENSE, WITH(.chunk = ROOF_CHUNK_WHOLE), "chunk 0 needs prompt and generate");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .draft_tokens = 2),
            "draft_tokens needs phase decode");
    refused(DENSE, WITH(.phase = ROOF_PHASE_MIXED, .draft_tokens = 2),
            "draft_tokens needs phase decode");
    refused(DENSE, WITH(.chunk = 5), "chunk needs prompt and generate, or phase prefill or mixed");
    refused(DENSE, WITH(.prefill_batch = 2), "prefill_batch needs phase mixed");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .prefill_context = 2),
            "prefill_context needs phase mixed");
    refused(DENSE, WITH(.prefix_hit = 0.5),
            "prefix_hit needs prompt and generate, or phase prefill without chunk");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .chunk = 5, .prefix_hit = 0.5),
            "prefix_hit needs prompt and generate, or phase prefill without chunk");
    /* One is as much as ten. */
    refused(DENSE, WITH(.prompt = 1), "prompt and generate need each other: give both");
    refused(DENSE, WITH(.generate = 1), "prompt and generate need each other: give both");
    refused(DENSE, WITH(.prompt = 1, .generate = 1, .context = 1),
            "prompt and generate give the lengths: leave out context");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .draft_tokens = 1),
            "draft_tokens needs phase decode");
    refused(DENSE, WITH(.chunk = 1), "chunk needs prompt and generate, or phase prefill or mixed");
    refused(DENSE, WITH(.prefill_batch = 1), "prefill_batch needs phase mixed");
    refused(DENSE, WITH(.prompt = 10, .generate = 10, .prefill_batch = 2),
            "prefill_batch needs phase mixed");
    refused(DENSE, WITH(.prompt = 10, .generate = 10, .prefill_context = 2),
            "prefill_context needs phase mixed");
    refused(DENSE, WITH(.prefill_context = 1), "prefill_context needs phase mixed");
    refused(DENSE, WITH(.phase = ROOF_PHASE_PREFILL, .chunk = 1, .prefix_hit = 0.5),
            "prefix_hit needs prompt and generate, or phase prefill without chunk");
    struct roof_scenario s = WITH(.context = 10);
    s.common.formats.activations = P(Q4_K);
    struct roof_model *const m = parse(DENSE);
    struct roof_error error = {0};
    assert_int_equal(roof_scenario_resolve(&s, m, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "q4_k stores weights only"));
    roof_model_free(m);
}

/* The logits of a pass are at most 10^12 elements: 999,000,999 rows of 1001. */
static void test_too_many_tokens(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    (void)resolved(asked(ROOF_PHASE_DECODE, 999000999, 10), m);
    roof_model_free(m);
    refused(DENSE, WITH(.common.shape.batch = 999001000),
            "a pass of 999001000 tokens is more than the 999000999 that are possible with tiny: "
            "lower batch");
    refused(DENSE,
            WITH(.phase = ROOF_PHASE_PREFILL, .common.shape.batch = 1000000, .context = 1000),
            "a pass of 1000000000 tokens is more than the 999000999 that are possible with tiny: "
            "lower batch or chunk");
    refused(DENSE,
            WITH(.phase = ROOF_PHASE_MIXED, .prefill_batch = 1000000, .chunk = 999,
                 .common.shape.batch = 1000000),
            "a pass of 1000000000 tokens is more than the 999000999 that are possible with tiny: "
            "lower batch, prefill_batch or chunk");
    /* All prompts of a static batch stand in one pass, but for what the cache has. */
    const struct roof_scenario whole =
        WITH(.prompt = 1000, .generate = 2, .static_batch = 1, .common.shape.batch = 1000000);
    refused(DENSE, whole,
            "a pass of 1000000000 tokens is more than the 999000999 that are possible with tiny: "
            "lower batch or prompt, or leave out static");
    struct roof_model *const tiny = parse(DENSE);
    struct roof_scenario cached = whole;
    cached.prefix_hit = 0.5;
    (void)resolved(cached, tiny);
    cached.static_batch = 0; /* a step has a chunk, and a token of each sequence */
    (void)resolved(cached, tiny);
    cached.chunk = 998500000;
    cached.common.shape.batch = 999000;
    cached.prefix_hit = 0;
    refused(DENSE, cached,
            "a pass of 999499000 tokens is more than the 999000999 that are possible with tiny: "
            "lower batch, prompt or chunk");
    cached.prefix_hit = 0.5; /* the chunk is not filled */
    (void)resolved(cached, tiny);
    roof_model_free(tiny);
}

/* A window of 10^6 keys has 8 * 750 * 10^6 scores of positions for each clip; 10^6 channels of 32
 * bins have 24 * 10^9 elements. Tokens beyond 2^63 are refused before they are counted. */
static void test_refused_clips(void **state)
{
    (void)state;
    refused(HEARD("gemma4", "\"attention_context_left\": 1000000"), with_audio(100, 30),
            "tiny takes at most 166 clips in a pass, not 200: lower batch, "
            "audio or audio_length_s");
    refused(HEARD("gemma4", "\"subsampling_conv_channels\": [4, 1000000]"), with_audio(21, 30),
            "tiny takes at most 41 clips in a pass, not 42: lower batch, "
            "audio or audio_length_s");
    refused(HEARD("voxtral", ""),
            WITH(.phase = ROOF_PHASE_PREFILL,
                 .media = {.audio = 1000000000, .audio_length_s = 1000000000}),
            "tiny takes at most 0 clips in a pass, not 1000000000: lower batch, "
            "audio or audio_length_s");
}

/* Inputs of experts are wider than the logits: 10^12 over 8 times 64 elements. */
static void test_too_many_tokens_for_the_experts(void **state)
{
    (void)state;
    static const char config[] =
        "{\"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, "
        "\"intermediate_size\": 80, \"vocab_size\": 100, \"num_experts\": 8, \"moe_k\": 8}";
    struct roof_model *const m = parse(config);
    (void)resolved(
        WITH(.phase = ROOF_PHASE_PREFILL, .common.shape.batch = 1000000, .context = 1953), m);
    roof_model_free(m);
    refused(config,
            WITH(.phase = ROOF_PHASE_PREFILL, .common.shape.batch = 1000000, .context = 1954),
            "a pass of 1954000000 tokens is more than the 1953125000 that are possible with tiny: "
            "lower batch or chunk");
}

/* A learned table ends: no request, context, prompt or draft goes beyond it. */
static void test_learned_positions(void **state)
{
    (void)state;
#define LEARNED "{\"model_type\": \"gpt2\", " DENSE_SIZES "}"
    struct roof_model *m = parse(LEARNED);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 2048);
    (void)resolved(s, m);
    s = asked(ROOF_PHASE_DECODE, 1, 0);
    s.prompt = 2000;
    s.generate = 48;
    (void)resolved(s, m);
    s = asked(ROOF_PHASE_DECODE, 1, 2044);
    s.draft_tokens = 4;
    (void)resolved(s, m);
    /* The default leaves room for drafts. */
    s.context = 0;
    assert_int_equal(resolved(s, m).context, 2044);
    roof_model_free(m);
    m = parse("{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 1, \"n_head\": 4, "
              "\"vocab_size\": 9, \"n_positions\": 4098}");
    assert_int_equal(resolved(s, m).context, 4094);
    roof_model_free(m);
    m = parse(DENSE); /* no table: 2048 is advice */
    assert_int_equal(resolved(s, m).context, 2048);
    roof_model_free(m);
    refused(LEARNED, WITH(.context = 2045, .draft_tokens = 4),
            "tiny has a table of 2048 positions, too few for 2049 tokens, drafts included");
    refused(LEARNED, WITH(.prompt = 2000, .generate = 48, .draft_tokens = 1),
            "tiny has a table of 2048 positions, too few for 2049 tokens, drafts included");
    refused(LEARNED, WITH(.context = 2049),
            "tiny has a table of 2048 positions, too few for 2049 tokens");
    refused(LEARNED, WITH(.phase = ROOF_PHASE_PREFILL, .context = 2049),
            "tiny has a table of 2048 positions, too few for 2049 tokens");
    refused(LEARNED, WITH(.prompt = 2000, .generate = 49),
            "tiny has a table of 2048 positions, too few for 2049 tokens");
    refused(LEARNED, WITH(.phase = ROOF_PHASE_MIXED, .context = 10, .prefill_context = 3000),
            "tiny has a table of 2048 positions, too few for 3000 tokens");
    refused(LEARNED, WITH(.phase = ROOF_PHASE_MIXED, .context = 2049, .prefill_context = 600),
            "tiny has a table of 2048 positions, too few for 2049 tokens");
}

/* The model's checkpoint gives the formats of activations and cache if the request does not. */
static void test_formats_of_the_model(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    m->activations = P(FP8_E4M3);
    m->kv = P(INT8);
    struct roof_scenario s = resolved(asked(ROOF_PHASE_DECODE, 1, 10), m);
    assert_int_equal(s.common.formats.weights, P(FP16));
    assert_int_equal(s.common.formats.activations, P(FP8_E4M3));
    assert_int_equal(s.common.formats.kv, P(INT8));
    assert_int_equal(s.common.formats.out, P(BF16));
    s = asked(ROOF_PHASE_DECODE, 1, 10);
    s.common.formats.activations = P(FP16);
    s.common.formats.kv = P(FP8_E4M3);
    s = resolved(s, m);
    assert_int_equal(s.common.formats.activations, P(FP16));
    assert_int_equal(s.common.formats.kv, P(FP8_E4M3));
    s = asked(ROOF_PHASE_DECODE, 1, 10);
    s.common.formats.precision = P(BF16);
    s = resolved(s, m);
    assert_int_equal(s.common.formats.activations, P(BF16));
    assert_int_equal(s.common.formats.kv, P(INT8));
    roof_model_free(m);
}

/* Layers that differ in more ways than a graph has room for. */
static void test_full_graph(void **state)
{
    (void)state;
    static struct roof_graph graph;
    struct roof_model *const m = parse("{\"hidden_size\": 64, \"num_hidden_layers\": 50, "
                                       "\"num_attention_heads\": 8, \"intermediate_size\": 80, "
                                       "\"vocab_size\": 9}");
    for (int i = 1; i < 50; i++) {
        m->layer[i] = m->layer[0];
        m->layer_class[i] = (int16_t)i;
        for (int w = W(Q); w <= W(DOWN); w++) {
            m->layer[i].format[w] = (int8_t)i;
        }
    }
    m->layer_classes = 50;
    struct roof_error error = {0};
    const struct roof_scenario s = resolved(asked(ROOF_PHASE_DECODE, 1, 10), m);
    assert_int_equal(roof_graph_build(&graph, m, &s, 0, (struct roof_places){0}, &error),
                     ROOF_USAGE);
    assert_string_equal(error.message,
                        "the layers of tiny differ in too many ways: more than 160 operators");
    assert_int_equal(roof_graph_build(&graph, m, &s, 0, (struct roof_places){0}, NULL), ROOF_USAGE);
    double total = 0;
    double active = 0;
    assert_int_equal(roof_model_parameters(&total, &active, m, &error), ROOF_USAGE);
    roof_model_free(m);
}

/* Each phase is without what only the other takes, so both can be resolved. */
static void test_phases(void **state)
{
    (void)state;
    struct roof_scenario asked;
    struct roof_scenario prefill;
    struct roof_scenario decode;
    roof_scenario_init(&asked);
    asked.context = 4096;
    asked.chunk = 512;
    asked.draft_tokens = 2;
    roof_scenario_phases(&prefill, &decode, &asked);
    assert_int_equal(prefill.phase, ROOF_PHASE_PREFILL);
    assert_int_equal(prefill.context, 4096);
    assert_int_equal(prefill.chunk, 512);
    assert_int_equal(prefill.draft_tokens, 0);
    assert_int_equal(decode.phase, ROOF_PHASE_DECODE);
    assert_int_equal(decode.context, 4096);
    assert_int_equal(decode.chunk, 0);
    assert_int_equal(decode.draft_tokens, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_native_sparse),
        cmocka_unit_test(test_crossed),
        cmocka_unit_test(test_crossed_weights),
        cmocka_unit_test(test_crossed_stages),
        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_refused_clips),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_fuse_all),
        cmocka_unit_test(test_fuse_quantised),
        cmocka_unit_test(test_fuse_resident),
        cmocka_unit_test(test_fuse_refused),
        cmocka_unit_test(test_resident),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_shared_quantization),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_expert_parallel),
        cmocka_unit_test(test_attention_groups),
        cmocka_unit_test(test_short_for_three),
        cmocka_unit_test(test_weights_of_all_devices),
        cmocka_unit_test(test_default_splits),
        cmocka_unit_test(test_predictor),
        cmocka_unit_test(test_what_drafts),
        cmocka_unit_test(test_latent_attention),
        cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_latent_without_rope),
        cmocka_unit_test(test_chosen_keys),
        cmocka_unit_test(test_reused_choice),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_lightning),
        cmocka_unit_test(test_selective_scan),
        cmocka_unit_test(test_latent_experts),
        cmocka_unit_test(test_small_matrices),
        cmocka_unit_test(test_compressed_cache),
        cmocka_unit_test(test_tensor_parallel),
        cmocka_unit_test(test_tensor_parallel_halves),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_send_past_bridge),
        cmocka_unit_test(test_groups_across_nodes),
        cmocka_unit_test(test_tied),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_stored_formats),
        cmocka_unit_test(test_kv_formats),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_prefix_hit),
        cmocka_unit_test(test_experts_of_a_mixed_pass),
        cmocka_unit_test(test_first_operator_of_a_stage),
        cmocka_unit_test(test_scales_of_a_part),
        cmocka_unit_test(test_smallest_latent),
        cmocka_unit_test(test_single_elements),
        cmocka_unit_test(test_single_tokens),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_refused_classes),
        cmocka_unit_test(test_refused_splits),
        cmocka_unit_test(test_refused_sizes),
        cmocka_unit_test(test_refused_combinations),
        cmocka_unit_test(test_too_many_tokens),
        cmocka_unit_test(test_too_many_tokens_for_the_experts),
        cmocka_unit_test(test_learned_positions),
        cmocka_unit_test(test_formats_of_the_model),
        cmocka_unit_test(test_full_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
