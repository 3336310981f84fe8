// SPDX-License-Identifier: MIT
/*
 * GGUF files of built-in models whose layers differ in their parts, with the keys and names that
 * the conversion of llama.cpp writes (ggml-org/llama.cpp, conversion/). Their graphs must be those
 * of the built-in models, which come from a config.json.
 */
#include "gguf_file.h"
#include "models.h"

#include "model/graph.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A file in the making of a model. */
struct file {
    struct builder b;
    const char *architecture;
    const struct roof_model *m;
    int blocks;
    int (*type)(const char *name); /* of matrices; NULL: all are F16 */
};

static int type_of(const struct file *f, const char *name)
{
    return f->type == NULL ? F16 : f->type(name);
}

static void key(struct file *f, const char *name, int64_t value)
{
    char full[96];
    snprintf(full, sizeof full, "%s.%s", f->architecture, name);
    number(&f->b, full, (uint64_t)value);
}

/* An integer for each block. */
static void keys(struct file *f, const char *name, int (*value)(const struct file *, int))
{
    char full[96];
    int values[ROOF_LAYERS_MAX];
    for (int i = 0; i < f->blocks; i++) {
        values[i] = value(f, i);
    }
    snprintf(full, sizeof full, "%s.%s", f->architecture, name);
    list(&f->b, full, values, (size_t)f->blocks);
}

static const struct roof_layer *layer_of(const struct file *f, int i)
{
    return &f->m->layer[f->m->layer_class[i]];
}

static void matrix(struct file *f, int block, const char *name, int64_t columns, int64_t rows)
{
    in_block(&f->b, block, name, type_of(f, name), (int)columns, (int)rows, 0);
}

static void vector(struct file *f, int block, const char *name, int64_t elements)
{
    in_block(&f->b, block, name, F32, (int)elements, 0, 0);
}

/* Begins a file with what all have. */
static void begin_with(struct file *f, const char *architecture, const struct roof_model *m,
                       int64_t predictors)
{
    *f = (struct file){.architecture = architecture, .m = m, .blocks = (int)m->layers};
    text(&f->b, "general.architecture", architecture);
    key(f, "block_count", m->layers + predictors);
    if (predictors > 0) {
        key(f, "nextn_predict_layers", predictors);
    }
    key(f, "embedding_length", m->hidden);
    key(f, "context_length", m->positions);
    key(f, "attention.head_count", m->heads);
    tensor(&f->b, "token_embd.weight", F16, (int)m->hidden, (int)m->vocab, 0);
    tensor(&f->b, "output_norm.weight", F32, (int)m->hidden, 0, 0);
    if (!m->tied) {
        tensor(&f->b, "output.weight", F16, (int)m->hidden, (int)m->vocab, 0);
    }
}

static void begin(struct file *f, const char *architecture, const struct roof_model *m)
{
    begin_with(f, architecture, m, m->predict_layers);
}

static void heads(struct file *f)
{
    key(f, "attention.head_count_kv", f->m->kv_heads);
    key(f, "attention.key_length", f->m->head_dim);
    key(f, "attention.value_length", f->m->head_dim);
    if (f->m->rotary_dim > 0) {
        key(f, "rope.dimension_count", f->m->rotary_dim);
    }
}

static void expert_keys(struct file *f)
{
    key(f, "expert_count", f->m->experts);
    key(f, "expert_used_count", f->m->top_k);
    key(f, "expert_feed_forward_length", f->m->expert_intermediate);
}

static void attention(struct file *f, int i)
{
    const struct roof_model *const m = f->m;
    const int64_t dim = roof_head_dim(m, layer_of(f, i));
    const int64_t q = m->heads * dim;
    const int64_t kv = roof_kv_heads(m, layer_of(f, i), 1);
    const int64_t value_dim = roof_value_dim(m, layer_of(f, i));
    matrix(f, i, "attn_q.weight", m->hidden, (m->query_gate ? 2 : 1) * q);
    matrix(f, i, "attn_k.weight", m->hidden, kv * dim);
    if (!layer_of(f, i)->value_is_key) {
        matrix(f, i, "attn_v.weight", m->hidden, kv * value_dim);
    }
    matrix(f, i, "attn_output.weight", m->heads * value_dim, m->hidden);
    if (m->sinks || (m->window_sinks && layer_of(f, i)->windowed)) {
        vector(f, i, "attn_sinks.weight", m->heads);
    }
    if (m->qk_norm && !m->bare_qk_norm) {
        vector(f, i, "attn_q_norm.weight", dim);
        vector(f, i, "attn_k_norm.weight", dim);
    }
}

static void mla_keys(struct file *f)
{
    const struct roof_model *const m = f->m;
    if (m->q_lora_rank > 0) {
        key(f, "attention.q_lora_rank", m->q_lora_rank);
    }
    key(f, "attention.kv_lora_rank", m->kv_lora_rank);
    key(f, "attention.key_length", m->kv_lora_rank + m->qk_rope_head_dim);
    key(f, "attention.value_length", m->kv_lora_rank);
    key(f, "attention.key_length_mla", m->head_dim);
    key(f, "attention.value_length_mla", m->v_head_dim);
    key(f, "rope.dimension_count", m->qk_rope_head_dim);
}

static void mla(struct file *f, int i)
{
    const struct roof_model *const m = f->m;
    if (m->q_lora_rank > 0) {
        matrix(f, i, "attn_q_a.weight", m->hidden, m->q_lora_rank);
        vector(f, i, "attn_q_a_norm.weight", m->q_lora_rank);
        matrix(f, i, "attn_q_b.weight", m->q_lora_rank, m->heads * m->head_dim);
    } else {
        matrix(f, i, "attn_q.weight", m->hidden, m->heads * m->head_dim);
    }
    matrix(f, i, "attn_kv_a_mqa.weight", m->hidden, m->kv_lora_rank + m->qk_rope_head_dim);
    vector(f, i, "attn_kv_a_norm.weight", m->kv_lora_rank);
    in_block(&f->b, i, "attn_k_b.weight", F16, (int)m->qk_nope_head_dim, (int)m->kv_lora_rank,
             (int)m->heads);
    in_block(&f->b, i, "attn_v_b.weight", F16, (int)m->kv_lora_rank, (int)m->v_head_dim,
             (int)m->heads);
    matrix(f, i, "attn_output.weight", m->heads * m->v_head_dim, m->hidden);
}

static void dense(struct file *f, int i)
{
    const int64_t width = roof_intermediate(f->m, layer_of(f, i));
    if (f->m->gated) {
        matrix(f, i, "ffn_gate.weight", f->m->hidden, width);
    }
    matrix(f, i, "ffn_up.weight", f->m->hidden, width);
    matrix(f, i, "ffn_down.weight", width, f->m->hidden);
}

static void stack(struct file *f, int i, const char *name, int64_t columns, int64_t rows)
{
    in_block(&f->b, i, name, type_of(f, name), (int)columns, (int)rows, (int)f->m->experts);
}

static void experts(struct file *f, int i)
{
    const struct roof_model *const m = f->m;
    const int64_t in = roof_expert_hidden(m);
    in_block(&f->b, i, "ffn_gate_inp.weight", F32, (int)m->hidden, (int)m->experts, 0);
    if (m->router_bias && !m->mlp_beside) {
        vector(f, i, "exp_probs_b.bias", m->experts);
    }
    if (m->gated) {
        stack(f, i, "ffn_gate_exps.weight", in, m->expert_intermediate);
    }
    stack(f, i, "ffn_up_exps.weight", in, m->expert_intermediate);
    stack(f, i, "ffn_down_exps.weight", m->expert_intermediate, in);
    if (m->expert_latent > 0) {
        matrix(f, i, "ffn_latent_down.weight", m->hidden, in);
        matrix(f, i, "ffn_latent_up.weight", in, m->hidden);
    }
    if (m->shared_intermediate > 0) {
        if (m->gated) {
            matrix(f, i, "ffn_gate_shexp.weight", m->hidden, m->shared_intermediate);
        }
        matrix(f, i, "ffn_up_shexp.weight", m->hidden, m->shared_intermediate);
        matrix(f, i, "ffn_down_shexp.weight", m->shared_intermediate, m->hidden);
    }
    if (m->shared_gate) {
        vector(f, i, "ffn_gate_inp_shexp.weight", m->hidden);
    }
}

/* The MLP of a layer, and the norms of both parts. */
static void rest(struct file *f, int i, const char *second_norm)
{
    vector(f, i, "attn_norm.weight", f->m->hidden);
    if (second_norm != NULL) {
        vector(f, i, second_norm, f->m->hidden);
    }
    if (layer_of(f, i)->moe) {
        experts(f, i);
    } else {
        dense(f, i);
    }
}

/* A block for multi-token prediction behind the others, which is not counted. */
static void predictor(struct file *f)
{
    const int64_t hidden = f->m->hidden;
    matrix(f, f->blocks, "nextn.eh_proj.weight", 2 * hidden, hidden);
    vector(f, f->blocks, "nextn.enorm.weight", hidden);
    vector(f, f->blocks, "attn_norm.weight", hidden);
    matrix(f, f->blocks, "attn_q.weight", hidden, hidden);
    matrix(f, f->blocks, "novelty.weight", hidden, hidden);
}

/* --- graphs -------------------------------------------------------------------------------- */

static void build_graph(struct roof_graph *out, const struct roof_model *m, bool prefill,
                        int64_t context)
{
    struct roof_scenario s;
    struct roof_error error = {0};
    roof_scenario_init(&s);
    s.phase = prefill ? ROOF_PHASE_PREFILL : ROOF_PHASE_DECODE;
    s.context = context;
    s.common.shape.batch = 2;
    if (roof_scenario_resolve(&s, m, &error) != ROOF_OK ||
        roof_graph_build(out, m, &s, 0, (struct roof_places){0}, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

/* Fails where the operators of two models are not the same. */
static void same_graphs(const struct roof_model *a, const struct roof_model *b)
{
    struct roof_graph *const one = malloc(sizeof *one);
    struct roof_graph *const other = malloc(sizeof *other);
    static const int64_t contexts[] = {4096, 131072};
    assert_true(one != NULL && other != NULL);
    for (int k = 0; k < 4; k++) {
        const int64_t context =
            contexts[k % 2] < a->positions || a->positions == 0 ? contexts[k % 2] : 4096;
        build_graph(one, a, k > 1, context);
        build_graph(other, b, k > 1, context);
        assert_int_equal(one->count, other->count);
        for (size_t i = 0; i < one->count; i++) {
            const struct roof_node *const x = &one->node[i];
            const struct roof_node *const y = &other->node[i];
            assert_string_equal(x->name, y->name);
            if (x->count != y->count || !roof_same_workload(&x->workload, &y->workload) ||
                x->elements != y->elements || x->vectors != y->vectors) {
                fail_msg("%s: %d x %.0f + %.0f, not %d x %.0f + %.0f", x->name, (int)x->count,
                         x->elements, x->vectors, (int)y->count, y->elements, y->vectors);
            }
        }
        assert_true(one->kv_bytes == other->kv_bytes);
        assert_true(one->state_bytes == other->state_bytes);
    }
    free(one);
    free(other);
}

/* Reads the file, compares it with the model, and returns what it read. */
static struct roof_model *expect_same(struct file *f, void **state)
{
    struct roof_model *const read = build(&f->b, state);
    struct roof_model *const plain = roof_model_copy(read);
    struct roof_model *const known = roof_model_copy(f->m);
    double a[2] = {0};
    double b[2] = {0};
    assert_non_null(plain);
    assert_non_null(known);
    memset(&known->tower, 0, sizeof known->tower);
    memset(&known->audio, 0, sizeof known->audio);
    assert_int_equal(plain->predict_layers, known->predict_layers);
    roof_model_forget_formats(plain);
    roof_model_forget_formats(known);
    assert_int_equal(plain->layers, known->layers);
    assert_int_equal(roof_model_parameters(&a[0], &a[1], plain, NULL), ROOF_OK);
    assert_int_equal(roof_model_parameters(&b[0], &b[1], known, NULL), ROOF_OK);
    same_graphs(plain, known);
    assert_true(a[0] == b[0] && a[1] == b[1]);
    assert_true(read->stored && read->file_bytes > 2 * a[0] * 0.99);
    assert_true(read->file_bytes < 2 * a[0] * 1.01);
    roof_model_free(plain);
    roof_model_free(known);
    return read;
}

static void expect_formats(const struct roof_model *m, const enum roof_weight *weights,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (int64_t c = 0; c < m->layer_classes; c++) {
            found = found || m->layer[c].format[weights[i]] == ROOF_PRECISION_FP16;
        }
        if (!found) {
            fail_msg("no format of %s", roof_weight_name(weights[i]));
        }
    }
}

/* --- families ------------------------------------------------------------------------------ */

static void test_llama4(void **state)
{
    static const char *const ids[] = {"llama-4-scout", "llama-4-maverick"};
    for (size_t k = 0; k < COUNT(ids); k++) {
        struct roof_model *const m = load(ids[k]);
        struct file f;
        begin(&f, "llama4", m);
        heads(&f);
        key(&f, "vocab_size", m->vocab);
        key(&f, "feed_forward_length", m->intermediate);
        key(&f, "interleave_moe_layer_step", (int64_t)k + 1);
        expert_keys(&f);
        for (int i = 0; i < f.blocks; i++) {
            attention(&f, i);
            rest(&f, i, "ffn_norm.weight");
        }
        struct roof_model *const read = expect_same(&f, state);
        assert_null(read->remarks[0]);
        int full = 0;
        for (int i = 0; i < f.blocks; i++) {
            full += !read->layer[read->layer_class[i]].windowed;
        }
        assert_int_equal(full, 12);
        assert_true(read->chunked && read->window == 8192);
        roof_model_free(read);
        roof_model_free(m);
    }
}

static void test_indexers(void **state)
{
    static const struct {
        const char *id;
        const char *architecture;
    } cases[] = {{"deepseek-v3.2", "deepseek32"}, {"glm-5", "glm-dsa"}, {"glm-5.2", "glm-dsa"}};
    static const enum roof_weight weights[] = {ROOF_WEIGHT_INDEX, ROOF_WEIGHT_KV_B,
                                               ROOF_WEIGHT_EXPERT_UP, ROOF_WEIGHT_SHARED_DOWN};
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct roof_model *const m = load(cases[k].id);
        struct file f;
        begin(&f, cases[k].architecture, m);
        mla_keys(&f);
        key(&f, "attention.head_count_kv", 1);
        key(&f, "feed_forward_length", m->intermediate);
        key(&f, "leading_dense_block_count", 3);
        key(&f, "expert_shared_count", 1);
        expert_keys(&f);
        if (m->expert_groups > 0) {
            key(&f, "expert_group_count", m->expert_groups);
            key(&f, "expert_group_used_count", m->group_topk);
        }
        key(&f, "attention.indexer.head_count", m->index_heads);
        key(&f, "attention.indexer.key_length", m->index_head_dim);
        key(&f, "attention.indexer.top_k", m->index_topk);
        for (int i = 0; i < f.blocks; i++) {
            mla(&f, i);
            rest(&f, i, "ffn_norm.weight");
            if (layer_of(&f, i)->reuses_choice) {
                continue;
            }
            matrix(&f, i, "indexer.attn_q_b.weight", m->q_lora_rank,
                   m->index_heads * m->index_head_dim);
            matrix(&f, i, "indexer.attn_k.weight", m->hidden, m->index_head_dim);
            in_block(&f.b, i, "indexer.proj.weight", F32, (int)m->hidden, (int)m->index_heads, 0);
            vector(&f, i, "indexer.k_norm.weight", m->index_head_dim);
            vector(&f, i, "indexer.k_norm.bias", m->index_head_dim);
        }
        predictor(&f);
        struct roof_model *const read = expect_same(&f, state);
        expect_formats(read, weights, COUNT(weights));
        assert_true(has_note(read, "multi-token prediction"));
        assert_null(read->remarks[1]);
        roof_model_free(read);
        roof_model_free(m);
    }
}

static int ratio_of(const struct file *f, int i)
{
    return i < f->m->layers ? layer_of(f, i)->ratio : 0;
}

static void compressor(struct file *f, int i, const char *part, int64_t dim)
{
    const int64_t ratio = ratio_of(f, i);
    const int64_t width = (ratio == 4 ? 2 : 1) * dim;
    const char *const names[] = {"kv", "gate", "ape", "norm"};
    for (int k = 0; k < 4; k++) {
        char name[48];
        snprintf(name, sizeof name, "%s_compressor_%s.weight", part, names[k]);
        if (k < 2) {
            matrix(f, i, name, f->m->hidden, width);
        } else if (k == 2) {
            in_block(&f->b, i, name, F32, (int)width, (int)ratio, 0);
        } else {
            vector(f, i, name, dim);
        }
    }
}

/* A product that makes the weights of streams, with the bias and the scales of its results. */
static void streams(struct file *f, int i, const char *part)
{
    const int64_t mixes = (2 + f->m->streams) * f->m->streams;
    const char *const names[] = {"fn", "base", "scale"};
    for (int k = 0; k < 3; k++) {
        char name[48];
        snprintf(name, sizeof name, "hc_%s_%s.weight", part, names[k]);
        if (k == 0) {
            in_block(&f->b, i, name, F32, (int)(f->m->streams * f->m->hidden), (int)mixes, 0);
        } else {
            vector(f, i, name, k == 1 ? mixes : 3);
        }
    }
}

static void compressed(struct file *f, int i)
{
    const struct roof_model *const m = f->m;
    matrix(f, i, "attn_q_a.weight", m->hidden, m->q_lora_rank);
    vector(f, i, "attn_q_a_norm.weight", m->q_lora_rank);
    matrix(f, i, "attn_q_b.weight", m->q_lora_rank, m->heads * m->head_dim);
    matrix(f, i, "attn_kv.weight", m->hidden, m->head_dim);
    vector(f, i, "attn_kv_a_norm.weight", m->head_dim);
    vector(f, i, "attn_sinks.weight", m->heads);
    matrix(f, i, "attn_output_a.weight", m->heads / m->out_groups * m->head_dim,
           m->out_groups * m->out_rank);
    matrix(f, i, "attn_output_b.weight", m->out_groups * m->out_rank, m->hidden);
    if (ratio_of(f, i) > 0) {
        compressor(f, i, "attn", m->head_dim);
    }
    if (ratio_of(f, i) == 4) {
        compressor(f, i, "indexer", m->index_head_dim);
        matrix(f, i, "indexer.attn_q_b.weight", m->q_lora_rank, m->index_heads * m->index_head_dim);
        in_block(&f->b, i, "indexer.proj.weight", F32, (int)m->hidden, (int)m->index_heads, 0);
    }
    streams(f, i, "attn");
    streams(f, i, "ffn");
}

/* Begins a file of DeepSeek-V4 with so many ratios. */
static void begin_deepseek4(struct file *f, const struct roof_model *m, int ratios)
{
    int values[ROOF_LAYERS_MAX];
    begin_with(f, "deepseek4", m, 1);
    key(f, "attention.head_count_kv", 1);
    key(f, "attention.key_length", m->head_dim);
    key(f, "attention.value_length", m->head_dim);
    key(f, "rope.dimension_count", m->qk_rope_head_dim);
    key(f, "attention.q_lora_rank", m->q_lora_rank);
    key(f, "attention.output_lora_rank", m->out_rank);
    key(f, "attention.output_group_count", m->out_groups);
    key(f, "attention.sliding_window", m->window);
    key(f, "attention.indexer.head_count", m->index_heads);
    key(f, "attention.indexer.key_length", m->index_head_dim);
    key(f, "attention.indexer.top_k", m->index_topk);
    key(f, "hyper_connection.count", m->streams);
    key(f, "hyper_connection.sinkhorn_iterations", 20);
    key(f, "hash_layer_count", 3);
    key(f, "expert_shared_count", 1);
    expert_keys(f);
    for (int i = 0; i < ratios; i++) {
        values[i] = ratio_of(f, i);
    }
    list(&f->b, "deepseek4.attention.compress_ratios", values, (size_t)ratios);
}

static void blocks_deepseek4(struct file *f)
{
    const struct roof_model *const m = f->m;
    tensor(&f->b, "output_hc_fn.weight", F32, (int)(m->streams * m->hidden), (int)m->streams, 0);
    tensor(&f->b, "output_hc_base.weight", F32, (int)m->streams, 0, 0);
    tensor(&f->b, "output_hc_scale.weight", F32, 1, 0, 0);
    for (int i = 0; i < f->blocks; i++) {
        compressed(f, i);
        rest(f, i, "ffn_norm.weight");
        if (i < 3) {
            in_block(&f->b, i, "ffn_gate_tid2eid.weight", I32, (int)m->top_k, (int)m->vocab, 0);
        }
    }
    predictor(f);
}

/* The first three layers route by tables of tokens instead of a bias. */
static void test_deepseek4(void **state)
{
    static const enum roof_weight weights[] = {ROOF_WEIGHT_INDEX,     ROOF_WEIGHT_COMPRESS,
                                               ROOF_WEIGHT_KV_A,      ROOF_WEIGHT_O,
                                               ROOF_WEIGHT_EXPERT_UP, ROOF_WEIGHT_SHARED_DOWN};
    struct roof_model *const m = load("deepseek-v4-flash");
    struct file f;
    begin_deepseek4(&f, m, 44);
    blocks_deepseek4(&f);
    struct roof_model *const read = expect_same(&f, state);
    expect_formats(read, weights, COUNT(weights));
    roof_model_free(read);
    begin_deepseek4(&f, m, 43);
    build_bad(&f.b, state,
              "attention.compress_ratios without a number for each block is not known");
    roof_model_free(m);
}

/* The types of a published mix: experts in about two bits with their way down in four, compressors
 * in 16 bits, and the rest in eight. */
static int mixed_type(const char *name)
{
    return strncmp(name, "ffn_down_exps", 13) == 0 ? MXFP4
           : strstr(name, "_exps") != NULL         ? IQ2_XXS
           : strstr(name, "compressor") != NULL    ? F16
                                                   : Q8_0;
}

/* Returns the bytes of the weights of a class in all layers. */
static double bytes_of(const struct roof_model *m, enum roof_weight weight)
{
    struct roof_graph *const graph = malloc(sizeof *graph);
    double bytes = 0;
    assert_non_null(graph);
    build_graph(graph, m, false, 4096);
    for (size_t i = 0; i < graph->count; i++) {
        const struct roof_node *const node = &graph->node[i];
        bytes += node->weight == weight ? roof_node_bytes(node) : 0;
    }
    free(graph);
    return bytes;
}

/* Each tensor of a file has a type of its own, also where several make one operator. By hand, a
 * layer has 256 experts of 2 x 2048 x 4096 elements in IQ2_XXS (66 bytes for 256) and 4096 x 2048
 * in MXFP4 (17 for 32). */
static void test_deepseek4_types(void **state)
{
    static const struct {
        enum roof_weight weight;
        enum roof_precision format;
    } expected[] = {{ROOF_WEIGHT_EXPERT_GATE, ROOF_PRECISION_IQ2_XXS},
                    {ROOF_WEIGHT_EXPERT_UP, ROOF_PRECISION_IQ2_XXS},
                    {ROOF_WEIGHT_EXPERT_DOWN, ROOF_PRECISION_MXFP4},
                    {ROOF_WEIGHT_Q_A, ROOF_PRECISION_Q8_0},
                    {ROOF_WEIGHT_Q_B, ROOF_PRECISION_Q8_0},
                    {ROOF_WEIGHT_KV_A, ROOF_PRECISION_Q8_0},
                    {ROOF_WEIGHT_O, ROOF_PRECISION_Q8_0},
                    {ROOF_WEIGHT_INDEX, ROOF_PRECISION_Q8_0},
                    {ROOF_WEIGHT_SHARED_DOWN, ROOF_PRECISION_Q8_0},
                    {ROOF_WEIGHT_COMPRESS, ROOF_PRECISION_FP16},
                    {ROOF_WEIGHT_ROUTER, ROOF_PRECISION_FP32}};
    struct roof_model *const m = load("deepseek-v4-flash");
    struct file f;
    begin_deepseek4(&f, m, 44);
    f.type = mixed_type;
    blocks_deepseek4(&f);
    struct roof_model *const read = build(&f.b, state);
    for (size_t i = 0; i < COUNT(expected); i++) {
        bool found = false;
        for (int64_t c = 0; c < read->layer_classes; c++) {
            const int8_t format = read->layer[c].format[expected[i].weight];
            found = found || format == (int8_t)expected[i].format;
            assert_true(format == (int8_t)expected[i].format || format == ROOF_PRECISION_AUTO);
        }
        if (!found) {
            fail_msg("no format of %s", roof_weight_name(expected[i].weight));
        }
    }
    const double expert = 4096. * 2048;
    const double experts = 43 * 256 * expert * (2 * 66 / 256. + 17 / 32.);
    assert_true(bytes_of(read, ROOF_WEIGHT_EXPERT_UP) + bytes_of(read, ROOF_WEIGHT_EXPERT_GATE) +
                    bytes_of(read, ROOF_WEIGHT_EXPERT_DOWN) ==
                experts);
    assert_true(read->file_bytes > experts && read->file_bytes < experts * 1.2);
    roof_model_free(read);
    roof_model_free(m);
}

static int state_kv_heads(const struct file *f, int i)
{
    return layer_of(f, i)->no_attention ? 0 : (int)f->m->kv_heads;
}

static void state_keys(struct file *f)
{
    const struct roof_mixer *const x = &f->m->mixer;
    key(f, "ssm.conv_kernel", x->taps);
    key(f, "ssm.state_size", x->key_dim);
    key(f, "ssm.group_count", x->key_heads);
    key(f, "ssm.time_step_rank", x->heads);
    key(f, "ssm.inner_size", x->heads * x->value_dim);
}

/* One file has the projections of a state as Qwen3-Next has them, another with Qwen3.5's names and
 * a layer for multi-token prediction. */
static void test_gated_delta(void **state)
{
    static const struct {
        const char *id;
        const char *architecture;
    } cases[] = {{"qwen3-next-80b-a3b", "qwen3next"}, {"qwen3.5-397b-a17b", "qwen35moe"}};
    static const enum roof_weight weights[] = {ROOF_WEIGHT_MIXER_IN, ROOF_WEIGHT_MIXER_OUT,
                                               ROOF_WEIGHT_Q, ROOF_WEIGHT_EXPERT_DOWN};
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct roof_model *const m = load(cases[k].id);
        const struct roof_mixer *const x = &m->mixer;
        const int64_t keys_width = x->key_heads * x->key_dim;
        const int64_t values = x->heads * x->value_dim;
        struct file f;
        begin(&f, cases[k].architecture, m);
        heads(&f);
        state_keys(&f);
        expert_keys(&f);
        key(&f, "expert_shared_feed_forward_length", m->shared_intermediate);
        key(&f, "full_attention_interval", 4);
        if (m->intermediate > 0) {
            key(&f, "feed_forward_length", m->intermediate);
        }
        for (int i = 0; i < f.blocks; i++) {
            rest(&f, i, "post_attention_norm.weight");
            if (!layer_of(&f, i)->stateful) {
                attention(&f, i);
                continue;
            }
            matrix(&f, i, "attn_qkv.weight", m->hidden, 2 * keys_width + values);
            matrix(&f, i, "attn_gate.weight", m->hidden, values);
            if (k == 0) {
                in_block(&f.b, i, "ssm_ba.weight", F32, (int)m->hidden, (int)(2 * x->heads), 0);
            } else {
                matrix(&f, i, "ssm_alpha.weight", m->hidden, x->heads);
                matrix(&f, i, "ssm_beta.weight", m->hidden, x->heads);
            }
            in_block(&f.b, i, "ssm_conv1d.weight", F32, (int)x->taps,
                     (int)(2 * keys_width + values), 0);
            vector(&f, i, "ssm_dt.bias", x->heads);
            vector(&f, i, "ssm_a", x->heads);
            vector(&f, i, "ssm_norm.weight", x->value_dim);
            matrix(&f, i, "ssm_out.weight", values, m->hidden);
        }
        if (k == 1) {
            predictor(&f);
        }
        struct roof_model *const read = expect_same(&f, state);
        expect_formats(read, weights, COUNT(weights));
        assert_null(read->remarks[k]);
        roof_model_free(read);
        roof_model_free(m);
    }
}

/* The tensors of Mamba-2. */
static void mamba2(struct file *f, int i)
{
    const struct roof_model *const m = f->m;
    const struct roof_mixer *const x = &m->mixer;
    const int64_t inner = x->heads * x->value_dim;
    const int64_t channels = inner + 2 * x->key_heads * x->key_dim;
    matrix(f, i, "ssm_in.weight", m->hidden, inner + channels + x->heads);
    in_block(&f->b, i, "ssm_conv1d.weight", F32, (int)x->taps, (int)channels, 0);
    if (x->conv_bias) {
        vector(f, i, "ssm_conv1d.bias", channels);
    }
    vector(f, i, "ssm_dt.bias", x->heads);
    in_block(&f->b, i, "ssm_a", F32, 1, (int)x->heads, 0);
    in_block(&f->b, i, "ssm_d", F32, 1, (int)x->heads, 0);
    if (!x->plain) {
        in_block(&f->b, i, "ssm_norm.weight", F32, (int)(inner / x->key_heads), (int)x->key_heads,
                 0);
    }
    matrix(f, i, "ssm_out.weight", inner, m->hidden);
}

static int part_width(const struct file *f, int i)
{
    return layer_of(f, i)->no_mlp ? 0 : (int)f->m->intermediate;
}

static void test_nemotron(void **state)
{
    static const struct {
        const char *id;
        const char *architecture;
    } cases[] = {{"nemotron-nano-9b-v2", "nemotron_h"},
                 {"nemotron-3-nano-30b-a3b", "nemotron_h_moe"},
                 {"nemotron-3-super-120b-a12b", "nemotron_h_moe"}};
    static const enum roof_weight weights[] = {ROOF_WEIGHT_MIXER_IN, ROOF_WEIGHT_LATENT_IN,
                                               ROOF_WEIGHT_LATENT_OUT};
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct roof_model *const m = load(cases[k].id);
        struct file f;
        begin_with(&f, cases[k].architecture, m, k == 2);
        key(&f, "attention.key_length", m->head_dim);
        key(&f, "attention.value_length", m->head_dim);
        keys(&f, "attention.head_count_kv", state_kv_heads);
        keys(&f, "feed_forward_length", part_width);
        state_keys(&f);
        if (m->experts > 0) {
            expert_keys(&f);
            key(&f, "expert_group_count", 1);
        }
        if (m->expert_latent > 0) {
            key(&f, "moe_latent_size", m->expert_latent);
        }
        for (int i = 0; i < f.blocks; i++) {
            const struct roof_layer *const layer = layer_of(&f, i);
            vector(&f, i, "attn_norm.weight", m->hidden);
            if (layer->stateful) {
                mamba2(&f, i);
            } else if (!layer->no_attention) {
                attention(&f, i);
            } else if (layer->moe) {
                experts(&f, i);
            } else {
                dense(&f, i);
            }
        }
        if (k == 2) {
            predictor(&f);
        }
        struct roof_model *const read = expect_same(&f, state);
        assert_int_equal(has_note(read, "multi-token prediction"), k == 2);
        expect_formats(read, weights, k == 2 ? COUNT(weights) : 1);
        assert_null(read->remarks[k == 2]);
        roof_model_free(read);
        roof_model_free(m);
    }
}

static void test_granite(void **state)
{
    struct roof_model *const m = load("granite-4.0-h-small");
    struct file f;
    begin(&f, "granitehybrid", m);
    keys(&f, "attention.head_count_kv", state_kv_heads);
    key(&f, "feed_forward_length", m->expert_intermediate);
    key(&f, "expert_shared_feed_forward_length", m->shared_intermediate);
    key(&f, "expert_count", m->experts);
    key(&f, "expert_used_count", m->top_k);
    key(&f, "rope.dimension_count", m->head_dim);
    state_keys(&f);
    for (int i = 0; i < f.blocks; i++) {
        rest(&f, i, "ffn_norm.weight");
        if (layer_of(&f, i)->stateful) {
            mamba2(&f, i);
        } else {
            attention(&f, i);
        }
    }
    struct roof_model *const read = expect_same(&f, state);
    assert_null(read->remarks[0]);
    roof_model_free(read);
    roof_model_free(m);
}

static void test_falcon_h1(void **state)
{
    struct roof_model *const m = load("falcon-h1-0.5b");
    struct file f;
    begin(&f, "falcon-h1", m);
    key(&f, "attention.head_count_kv", m->kv_heads);
    key(&f, "attention.key_length", m->head_dim);
    key(&f, "attention.value_length", m->head_dim);
    key(&f, "feed_forward_length", m->intermediate);
    state_keys(&f);
    for (int i = 0; i < f.blocks; i++) {
        rest(&f, i, "ffn_norm");
        mamba2(&f, i);
        attention(&f, i);
    }
    struct roof_model *const read = expect_same(&f, state);
    assert_null(read->remarks[0]);
    roof_model_free(read);
    roof_model_free(m);
}

static void test_jamba(void **state)
{
    struct roof_model *const m = load("jamba-1.5-mini");
    const struct roof_mixer *const x = &m->mixer;
    struct file f;
    begin(&f, "jamba", m);
    keys(&f, "attention.head_count_kv", state_kv_heads);
    key(&f, "feed_forward_length", m->intermediate);
    key(&f, "expert_count", m->experts);
    key(&f, "expert_used_count", m->top_k);
    key(&f, "ssm.conv_kernel", x->taps);
    key(&f, "ssm.inner_size", x->heads);
    key(&f, "ssm.state_size", x->key_dim);
    key(&f, "ssm.time_step_rank", x->rank);
    for (int i = 0; i < f.blocks; i++) {
        rest(&f, i, "ffn_norm.weight");
        if (!layer_of(&f, i)->stateful) {
            attention(&f, i);
            continue;
        }
        matrix(&f, i, "ssm_in.weight", m->hidden, 2 * x->heads);
        in_block(&f.b, i, "ssm_conv1d.weight", F32, (int)x->taps, (int)x->heads, 0);
        vector(&f, i, "ssm_conv1d.bias", x->heads);
        matrix(&f, i, "ssm_x.weight", x->heads, x->rank + 2 * x->key_dim);
        matrix(&f, i, "ssm_dt.weight", x->rank, x->heads);
        vector(&f, i, "ssm_dt.bias", x->heads);
        vector(&f, i, "ssm_dt_norm.weight", x->rank);
        vector(&f, i, "ssm_b_norm.weight", x->key_dim);
        vector(&f, i, "ssm_c_norm.weight", x->key_dim);
        in_block(&f.b, i, "ssm_a", F32, (int)x->key_dim, (int)x->heads, 0);
        vector(&f, i, "ssm_d", x->heads);
        matrix(&f, i, "ssm_out.weight", x->heads, m->hidden);
    }
    struct roof_model *const read = expect_same(&f, state);
    assert_null(read->remarks[0]);
    roof_model_free(read);
    roof_model_free(m);
}

static int one_kv_head(const struct file *f, int i)
{
    return layer_of(f, i)->stateful ? 0 : 1;
}

static void test_kimi_linear(void **state)
{
    static const enum roof_weight weights[] = {ROOF_WEIGHT_MIXER_IN, ROOF_WEIGHT_MIXER_OUT,
                                               ROOF_WEIGHT_Q, ROOF_WEIGHT_KV_B};
    struct roof_model *const m = load("kimi-linear-48b-a3b");
    const struct roof_mixer *const x = &m->mixer;
    const int64_t width = x->heads * x->key_dim;
    struct file f;
    begin(&f, "kimi-linear", m);
    mla_keys(&f);
    keys(&f, "attention.head_count_kv", one_kv_head);
    key(&f, "feed_forward_length", m->intermediate);
    key(&f, "ssm.conv_kernel", x->taps);
    key(&f, "kda.head_dim", x->key_dim);
    key(&f, "leading_dense_block_count", 1);
    key(&f, "expert_shared_count", 1);
    expert_keys(&f);
    for (int i = 0; i < f.blocks; i++) {
        static const char *const convolutions[] = {"ssm_conv1d_q.weight", "ssm_conv1d_k.weight",
                                                   "ssm_conv1d_v.weight"};
        static const char *const products[] = {"attn_q.weight", "attn_k.weight", "attn_v.weight"};
        rest(&f, i, "ffn_norm.weight");
        if (!layer_of(&f, i)->stateful) {
            mla(&f, i);
            continue;
        }
        for (size_t k = 0; k < COUNT(products); k++) {
            in_block(&f.b, i, convolutions[k], F32, (int)x->taps, 1, (int)width);
            matrix(&f, i, products[k], m->hidden, width);
        }
        matrix(&f, i, "ssm_f_a.weight", m->hidden, x->key_dim);
        matrix(&f, i, "ssm_f_b.weight", x->key_dim, width);
        matrix(&f, i, "ssm_beta.weight", m->hidden, x->heads);
        in_block(&f.b, i, "ssm_a", F32, 1, (int)x->heads, 0);
        vector(&f, i, "ssm_dt.bias", width);
        matrix(&f, i, "ssm_g_a.weight", m->hidden, x->key_dim);
        matrix(&f, i, "ssm_g_b.weight", x->key_dim, width);
        vector(&f, i, "ssm_norm.weight", x->key_dim);
        matrix(&f, i, "attn_output.weight", width, m->hidden);
    }
    struct roof_model *const read = expect_same(&f, state);
    expect_formats(read, weights, COUNT(weights));
    assert_null(read->remarks[0]);
    roof_model_free(read);
    roof_model_free(m);
}

static int is_windowed(const struct file *f, int i)
{
    return layer_of(f, i)->windowed;
}

static int own_kv_heads(const struct file *f, int i)
{
    return (int)roof_kv_heads(f->m, layer_of(f, i), 1);
}

static int own_width(const struct file *f, int i)
{
    return (int)roof_intermediate(f->m, layer_of(f, i));
}

static int mimo_windowed(const struct file *f, int i)
{
    return i == (int)f->m->layers || is_windowed(f, i);
}

static int mimo_kv_heads(const struct file *f, int i)
{
    return own_kv_heads(f, i == (int)f->m->layers ? 1 : i);
}

/* The layers of Gemma 3n and 4 have these tensors. */
static void gemma_layer(struct file *f, int i)
{
    const struct roof_model *const m = f->m;
    vector(f, i, "attn_norm.weight", m->hidden);
    vector(f, i, "post_attention_norm.weight", m->hidden);
    vector(f, i, "ffn_norm.weight", m->hidden);
    vector(f, i, "post_ffw_norm.weight", m->hidden);
    attention(f, i);
    dense(f, i);
    if (m->layer_embedding > 0) {
        matrix(f, i, "inp_gate.weight", m->hidden, m->layer_embedding);
        matrix(f, i, "proj.weight", m->layer_embedding, m->hidden);
        vector(f, i, "post_norm.weight", m->hidden);
    }
}

static void gemma_keys(struct file *f)
{
    const struct roof_model *const m = f->m;
    const int64_t width = m->layer_embedding * m->layers;
    key(f, "attention.sliding_window", m->window);
    key(f, "embedding_length_per_layer_input", m->layer_embedding);
    keys(f, "attention.sliding_window_pattern", is_windowed);
    if (width > 0) {
        tensor(&f->b, "per_layer_token_embd.weight", F16, (int)width, (int)m->layer_vocab, 0);
        tensor(&f->b, "per_layer_model_proj.weight", F16, (int)m->hidden, (int)width, 0);
        tensor(&f->b, "per_layer_proj_norm.weight", F32, (int)m->layer_embedding, 0, 0);
    }
}

/* With and without the indexer of blocks. */
static void test_minimax_m3(void **state)
{
    for (int with = 1; with >= 0; with--) {
        struct roof_model *const m = load("minimax-m3");
        struct file f;
        begin_with(&f, "minimax-m3", m, 0);
        heads(&f);
        key(&f, "feed_forward_length", m->intermediate);
        key(&f, "expert_shared_count", 1);
        key(&f, "leading_dense_block_count", 3);
        expert_keys(&f);
        if (with > 0) {
            key(&f, "attention.indexer.head_count", m->index_heads);
            key(&f, "attention.indexer.key_length", m->index_head_dim);
            key(&f, "attention.indexer.top_k", m->block_topk);
            key(&f, "attention.indexer.block_size", m->block_keys);
            key(&f, "attention.indexer.local_blocks", 1);
        }
        for (int i = 0; i < f.blocks; i++) {
            attention(&f, i);
            rest(&f, i, "ffn_norm.weight");
            if (with > 0 && layer_of(&f, i)->blocks) {
                matrix(&f, i, "indexer.q_proj.weight", m->hidden,
                       m->index_heads * m->index_head_dim);
                matrix(&f, i, "indexer.k_proj.weight", m->hidden, m->index_head_dim);
                vector(&f, i, "indexer.q_norm.weight", m->index_head_dim);
                vector(&f, i, "indexer.k_norm.weight", m->index_head_dim);
            }
        }
        struct roof_model *const read = with > 0 ? expect_same(&f, state) : build(&f.b, state);
        int choosing = 0;
        for (int i = 0; i < f.blocks; i++) {
            choosing += read->layer[read->layer_class[i]].blocks;
        }
        assert_int_equal(choosing, with > 0 ? 57 : 0);
        assert_null(read->remarks[0]);
        roof_model_free(read);
        roof_model_free(m);
    }
}

static void test_mimo2(void **state)
{
    struct roof_model *const m = load("mimo-v2-flash");
    struct file f;
    begin_with(&f, "mimo2", m, 1);
    f.blocks++; /* lists have numbers for the last block, too */
    keys(&f, "attention.head_count_kv", mimo_kv_heads);
    keys(&f, "attention.sliding_window_pattern", mimo_windowed);
    f.blocks--;
    key(&f, "attention.sliding_window", m->window);
    key(&f, "attention.key_length", m->head_dim);
    key(&f, "attention.value_length", m->v_head_dim);
    key(&f, "rope.dimension_count", m->rotary_dim);
    key(&f, "feed_forward_length", m->intermediate);
    expert_keys(&f);
    for (int i = 0; i < f.blocks; i++) {
        attention(&f, i);
        rest(&f, i, "ffn_norm.weight");
    }
    predictor(&f);
    struct roof_model *const read = expect_same(&f, state);
    assert_true(has_note(read, "multi-token prediction"));
    assert_null(read->remarks[1]);
    roof_model_free(read);
    roof_model_free(m);
}

static void test_gemma3n(void **state)
{
    static const char *const ids[] = {"gemma-3n-e4b", "gemma-3n-e2b"};
    for (size_t k = 0; k < COUNT(ids); k++) {
        struct roof_model *const m = load(ids[k]);
        const int streams = (int)m->altup_streams;
        struct file f;
        begin(&f, "gemma3n", m);
        heads(&f);
        gemma_keys(&f);
        keys(&f, "feed_forward_length", own_width);
        key(&f, "altup.active_idx", 0);
        key(&f, "altup.num_inputs", streams);
        key(&f, "attention.shared_kv_layers", m->layers - 20);
        tensor(&f.b, "altup_proj.weight", F16, (int)m->hidden, (int)m->hidden, streams - 1);
        tensor(&f.b, "altup_unembd_proj.weight", F16, (int)m->hidden, (int)m->hidden, streams - 1);
        for (int i = 0; i < f.blocks; i++) {
            gemma_layer(&f, i);
            matrix(&f, i, "laurel_l.weight", m->hidden, m->laurel_rank);
            matrix(&f, i, "laurel_r.weight", m->laurel_rank, m->hidden);
            vector(&f, i, "laurel_post_norm.weight", m->hidden);
            in_block(&f.b, i, "altup_correct_coef.weight", F32, streams, streams, 0);
            in_block(&f.b, i, "altup_predict_coef.weight", F32, streams, streams * streams, 0);
            in_block(&f.b, i, "altup_router.weight", F32, (int)m->hidden, streams, 0);
            vector(&f, i, "altup_correct_scale.weight", m->hidden);
            vector(&f, i, "altup_router_norm.weight", m->hidden);
        }
        struct roof_model *const read = expect_same(&f, state);
        assert_true(has_note(read, "never read"));
        roof_model_free(read);
        roof_model_free(m);
    }
}

static void test_gemma4(void **state)
{
    static const char *const ids[] = {"gemma-4-31b", "gemma-4-26b-a4b", "gemma-4-e2b"};
    for (size_t k = 0; k < COUNT(ids); k++) {
        struct roof_model *const m = load(ids[k]);
        int keyless = 0;
        struct file f;
        begin(&f, "gemma4", m);
        for (int i = 0; i < f.blocks; i++) {
            keyless += layer_of(&f, i)->keyless;
        }
        gemma_keys(&f);
        key(&f, "attention.key_length", 512);
        key(&f, "attention.value_length", 512);
        key(&f, "attention.key_length_swa", m->head_dim);
        key(&f, "attention.value_length_swa", m->head_dim);
        key(&f, "rope.dimension_count", 512);
        key(&f, "rope.dimension_count_swa", m->head_dim);
        key(&f, "attention.shared_kv_layers", keyless);
        keys(&f, "attention.head_count_kv", own_kv_heads);
        keys(&f, "feed_forward_length", own_width);
        if (m->experts > 0) {
            expert_keys(&f);
        }
        tensor(&f.b, "rope_freqs.weight", F32, 256, 0, 0);
        for (int i = 0; i < f.blocks; i++) {
            gemma_layer(&f, i);
            vector(&f, i, "layer_output_scale.weight", 1);
            if (m->experts > 0) {
                experts(&f, i);
                vector(&f, i, "ffn_gate_inp.scale", m->hidden);
                vector(&f, i, "ffn_down_exps.scale", m->experts);
                vector(&f, i, "pre_ffw_norm_2.weight", m->hidden);
                vector(&f, i, "post_ffw_norm_1.weight", m->hidden);
                vector(&f, i, "post_ffw_norm_2.weight", m->hidden);
            }
        }
        struct roof_model *const read = expect_same(&f, state);
        assert_null(read->remarks[0]);
        roof_model_free(read);
        roof_model_free(m);
    }
}

/* --- what is refused ----------------------------------------------------------------------- */

/* A small hybrid with one change each. */
static void test_refused(void **state)
{
    static const struct {
        const char *key; /* an additional one */
        int value;
        const char *tensor; /* another one of 2 x 2 */
        int layers;         /* that have all parts */
        const char *reason;
    } cases[] = {
        {NULL, 0, NULL, 36, NULL},
        {NULL, 0, NULL, 35, "its matrices have"},
        {NULL, 0, "novelty.weight", 36, "blk.0.novelty.weight is not known for the architecture"},
        {NULL, 0, "ssm_x.weight", 36, "its matrices have"},
        {"hyper_connection.count", 4, NULL, 36, "falcon-h1.hyper_connection.count is not known"},
        {"ssm.group_count", 7, NULL, 36, "as a config.json of model_type falcon_h1: layers with"},
    };
    struct roof_model *const m = load("falcon-h1-0.5b");
    for (size_t k = 0; k < COUNT(cases); k++) {
        const bool groups = cases[k].key != NULL && strcmp(cases[k].key, "ssm.group_count") == 0;
        struct file f;
        begin(&f, "falcon-h1", m);
        heads(&f);
        key(&f, "feed_forward_length", m->intermediate);
        key(&f, "ssm.conv_kernel", m->mixer.taps);
        key(&f, "ssm.state_size", m->mixer.key_dim);
        key(&f, "ssm.time_step_rank", m->mixer.heads);
        key(&f, "ssm.inner_size", m->mixer.heads * m->mixer.value_dim);
        if (!groups) {
            key(&f, "ssm.group_count", m->mixer.key_heads);
        }
        if (cases[k].key != NULL) {
            key(&f, cases[k].key, cases[k].value);
        }
        for (int i = 0; i < f.blocks; i++) {
            rest(&f, i, "ffn_norm");
            mamba2(&f, i);
            if (i < cases[k].layers) {
                attention(&f, i);
            }
        }
        if (cases[k].tensor != NULL) {
            matrix(&f, 0, cases[k].tensor, 2, 2);
        }
        if (cases[k].reason == NULL) {
            roof_model_free(expect_same(&f, state));
        } else {
            build_bad(&f.b, state, cases[k].reason);
        }
    }
    roof_model_free(m);
}

/* Files of GLM 5.2 have an indexer only in layers that choose keys, and those of Gemma 4 must say
 * which layers have a window. */
static void test_refused_by_name(void **state)
{
    static const char indexers[] =
        "an indexer in layers that reuse the keys of others is not known";
    static const int types[] = {1, 0};
    struct roof_model *const m = load("glm-5");
    struct file f[3];
    begin(&f[0], "glm-dsa", m);
    list(&f[0].b, "glm-dsa.attention.indexer.types", types, 2);
    build_bad(&f[0].b, state, indexers);
    struct roof_model *const longer = roof_model_copy(m);
    assert_non_null(longer);
    longer->positions = 1048576;
    begin(&f[1], "glm-dsa", longer);
    for (int i = 0; i < f[1].blocks; i++) {
        matrix(&f[1], i, "indexer.attn_q_b.weight", m->q_lora_rank,
               m->index_heads * m->index_head_dim);
    }
    build_bad(&f[1].b, state, indexers);
    begin(&f[2], "gemma4", m);
    key(&f[2], "attention.sliding_window", 512);
    key(&f[2], "attention.sliding_window_pattern", 6);
    build_bad(&f[2].b, state, "attention.sliding_window without a list of the layers");
    roof_model_free(longer);
    roof_model_free(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_deepseek4),       TEST(test_deepseek4_types), TEST(test_llama4),
        TEST(test_indexers),        TEST(test_gated_delta),     TEST(test_nemotron),
        TEST(test_granite),         TEST(test_falcon_h1),       TEST(test_jamba),
        TEST(test_kimi_linear),     TEST(test_mimo2),           TEST(test_minimax_m3),
        TEST(test_gemma3n),         TEST(test_gemma4),          TEST(test_refused),
        TEST(test_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
