// SPDX-License-Identifier: MIT
/* Attention, from the hidden states to its output. */
#include "model/graph_parts.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* The parts of attention, and the operators that made them last. */
struct made {
    struct roof_reads q;
    struct roof_reads k; /* of latent attention: the rotated part */
    struct roof_reads v; /* of latent attention: the latent */
};

/* Returns the union of both. */
static struct roof_reads both(struct roof_reads one, const struct roof_reads *other)
{
    roof_reads_join(&one, other);
    return one;
}

static struct made qkv(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const struct roof_reads input = b->from;
    struct made made;
    const int64_t q = (m->query_gate ? 2 : 1) * b->heads * roof_head_dim(m, b->layer);
    const int64_t k = b->kv_heads * roof_head_dim(m, b->layer);
    const int64_t v = b->layer->value_is_key ? 0 : b->kv_heads * roof_value_dim(m, b->layer);
    if (!b->layer->keyless && roof_graph_fuses(b, ROOF_WEIGHT_Q, ROOF_WEIGHT_K) &&
        roof_graph_fuses(b, ROOF_WEIGHT_Q, ROOF_WEIGHT_V)) {
        roof_graph_product(b, "qkv_proj", ROOF_WEIGHT_Q, b->tokens, q + k + v, m->hidden,
                           m->qkv_bias);
        return (struct made){b->from, b->from, b->from};
    }
    roof_graph_product(b, "q_proj", ROOF_WEIGHT_Q, b->tokens, q, m->hidden, m->qkv_bias);
    made.q = made.k = made.v = b->from;
    if (b->layer->keyless) {
        return made;
    }
    b->from = input;
    roof_graph_product(b, "k_proj", ROOF_WEIGHT_K, b->tokens, k, m->hidden, m->qkv_bias);
    made.k = made.v = b->from;
    if (b->layer->value_is_key) {
        return made;
    }
    b->from = input;
    roof_graph_product(b, "v_proj", ROOF_WEIGHT_V, b->tokens, v, m->hidden, m->qkv_bias);
    made.v = b->from;
    return made;
}

/* The most parts that the attention of a group has in a layer. */
enum { PARTS_MAX = 3 };

/* Returns the name of attention in windowed layers: that of a window, or of a part by chunks. */
static const char *windowed_name(const struct group *g, bool chunked, int part)
{
    static const char *const names[][1 + PARTS_MAX] = {
        {"attention_window", "attention_chunk", "attention_chunk_begin", "attention_chunk_end"},
        {"attention_decode_window", "attention_decode_chunk", "attention_decode_chunk_begin",
         "attention_decode_chunk_end"},
        {"attention_prefill_window", "attention_prefill_chunk", "attention_prefill_chunk_begin",
         "attention_prefill_chunk_end"}};
    const int kind = strcmp(g->attention, "attention") == 0          ? 0
                     : strcmp(g->attention, "attention_decode") == 0 ? 1
                                                                     : 2;
    return names[kind][chunked ? 1 + part : 0];
}

/*
 * Cuts the attention of a group at the ends of chunks, so that each part is causal attention: whole
 * chunks, the rest of the chunk in which the pass begins, and the chunk in which it ends; a missing
 * part has no sequences. Sequences may be at any place of their chunk. So a pass that is shorter
 * than a chunk, at a context beyond the first one, counts the mean over all places: a token sees
 * (chunk + 1) / 2 keys, which equals query_len tokens at the end of (chunk + query_len) / 2 keys.
 */
static void cut_chunks(struct group part[PARTS_MAX], const struct group *g, int64_t chunk)
{
    const int64_t before = g->kv_len - g->query_len;
    for (int i = 0; i < PARTS_MAX; i++) {
        part[i] = *g;
        part[i].batch = 0;
    }
    if (g->kv_len <= chunk || (before > 0 && g->query_len < chunk)) {
        part[0].batch = g->batch;
        part[0].kv_len = g->kv_len <= chunk ? g->kv_len : (chunk + g->query_len) / 2;
        return;
    }
    const int64_t begin = before % chunk == 0 ? 0 : chunk - before % chunk;
    const int64_t rest = g->query_len - begin;
    part[0].batch = g->batch * (rest / chunk);
    part[0].query_len = part[0].kv_len = chunk;
    part[1].batch = begin > 0 ? g->batch : 0;
    part[1].query_len = begin;
    part[1].kv_len = chunk;
    part[2].batch = rest % chunk > 0 ? g->batch : 0;
    part[2].query_len = part[2].kv_len = rest % chunk;
}

static void norm_heads(struct builder *b, const char *name, int64_t rows, int64_t width)
{
    if (b->model->bare_qk_norm) {
        roof_graph_vector(b, name, ROOF_OPERATOR_RMSNORM,
                          (struct roof_shape){.tokens = rows, .hidden = width}, 0);
    } else {
        roof_graph_norm(b, name, rows, width);
    }
}

/* Adds the norms over the heads of Q, K and V. */
static void norm_qkv(struct builder *b, struct made *made)
{
    const struct roof_model *const m = b->model;
    const int64_t head_dim = roof_head_dim(m, b->layer);
    const int64_t rows = m->wide_norm ? 1 : b->heads; /* parts of Q with separate norms */
    const int64_t kv_rows = m->wide_norm ? 1 : b->kv_heads;
    if (m->qk_norm && !b->layer->no_rope) {
        b->from = made->q;
        norm_heads(b, "q_norm", b->tokens * rows, b->heads / rows * head_dim);
        made->q = b->from;
        if (b->layer->keyless) {
            return;
        }
        b->from = made->k;
        norm_heads(b, "k_norm", b->tokens * kv_rows, b->kv_heads / kv_rows * head_dim);
        made->k = b->from;
    }
    if (m->value_norm && !b->layer->keyless) {
        b->from = made->v;
        roof_graph_vector(
            b, "v_norm", ROOF_OPERATOR_RMSNORM,
            (struct roof_shape){.tokens = b->tokens * b->kv_heads, .hidden = head_dim}, 0);
        made->v = b->from;
    }
}

void roof_graph_rotate(struct builder *b, const char *name, int64_t heads, int64_t rotated)
{
    roof_graph_vector(
        b, name, ROOF_OPERATOR_ROPE,
        (struct roof_shape){
            .tokens = b->tokens * heads, .heads = 1, .kv_heads = 1, .head_dim = rotated / 2},
        0);
}

/* Adds the norms and the rotation of Q and K. */
static void prepare_qk(struct builder *b, struct made *made)
{
    const struct roof_layer *const layer = b->layer;
    const int64_t rotated = layer->rotary_dim > 0 ? layer->rotary_dim : b->model->rotary_dim;
    norm_qkv(b, made);
    if (rotated == 0 || layer->no_rope) {
        return;
    }
    b->from = made->q;
    if (layer->keyless) {
        roof_graph_rotate(b, "rope", b->heads, rotated);
        made->q = b->from;
        return;
    }
    roof_reads_join(&b->from, &made->k);
    roof_graph_vector(
        b, "rope", ROOF_OPERATOR_ROPE,
        (struct roof_shape){
            .tokens = b->tokens, .heads = b->heads, .kv_heads = b->kv_heads, .head_dim = rotated},
        0);
    made->q = made->k = b->from;
}

/* Returns the mean of the sizes of K and V. FLOPs and elements are linear in both, so operators
 * with one size use it for both. */
static int64_t mean_head_dim(const struct builder *b)
{
    return (roof_head_dim(b->model, b->layer) + roof_value_dim(b->model, b->layer)) / 2;
}

/* Adds a part of the attention of a group. */
static void add_attention(struct builder *b, const struct group *g, int group, int part)
{
    const struct roof_model *const m = b->model;
    struct roof_node node = roof_graph_attention_node(
        b, g,
        b->s->unfused_attention > 0 ? ROOF_OPERATOR_ATTENTION : ROOF_OPERATOR_FLASH_ATTENTION);
    node.workload.shape.kv_heads = b->kv_heads;
    node.workload.shape.head_dim = mean_head_dim(b);
    if (b->layer->windowed) {
        node.name = windowed_name(g, m->chunked, part);
        node.workload.shape.window = m->chunked ? 0 : m->window;
    }
    if (m->native_sparse) {
        node.workload.op = ROOF_OPERATOR_NSA;
        node.workload.shape.causal = 0;
        node.workload.shape.window = m->window;
        node.workload.shape.compression = m->block_keys;
        node.workload.shape.selected = m->block_topk * m->block_keys;
    }
    if (roof_graph_has_choice(b, g)) {
        static const char *const names[] = {"attention_blocks", "attention_decode_blocks",
                                            "attention_prefill_blocks"};
        node.name = names[b->groups > 1 ? group + 1 : 0];
        node.workload.shape.window = m->block_topk * m->block_keys;
    }
    node.vectors = group == 0 && part == 0 ? node.vectors : 0;
    roof_graph_add(b, &node);
}

/* Adds the attention of all kinds of sequences; it reads the cache and *inputs, and *index if an
 * indexer chooses blocks of keys. */
static void attend(struct builder *b, const struct roof_reads *inputs,
                   const struct roof_reads *index)
{
    const struct roof_model *const m = b->model;
    struct roof_reads attended = {.count = 0};
    for (int i = 0; i < b->groups; i++) {
        struct group parts[PARTS_MAX] = {b->group[i]};
        const bool chunked = b->layer->windowed && m->chunked;
        if (chunked) {
            cut_chunks(parts, &b->group[i], m->window);
        }
        struct roof_reads seen = *inputs;
        if (roof_graph_has_choice(b, &b->group[i])) {
            b->from = *index;
            roof_graph_choose_blocks(b, &b->group[i]);
            roof_reads_join(&seen, &b->from);
        }
        for (int p = 0; p < PARTS_MAX; p++) {
            if (parts[p].batch > 0) {
                b->from = seen;
                add_attention(b, &parts[p], i, p);
                roof_reads_join(&attended, &b->from);
            }
        }
    }
    b->from = attended;
}

/* Adds the gate on the output of attention. Half of the product of Q has made it, or a separate
 * product makes a gate per head from the input of the layer. */
static void gate_output(struct builder *b, const struct roof_reads *input,
                        const struct roof_reads *made)
{
    const int64_t width = b->heads * roof_value_dim(b->model, b->layer);
    const struct roof_reads attended = b->from;
    const struct roof_shape shape = {.tokens = b->tokens, .hidden = width};
    if (b->model->query_gate) {
        roof_reads_join(&b->from, made);
        roof_graph_vector(b, "attn_gate", ROOF_OPERATOR_SILU_MUL, shape, 0);
    } else if (b->model->head_gate) { /* one gate for a head: the operator with one input */
        b->from = *input;
        roof_graph_product(b, "head_gate_proj", ROOF_WEIGHT_Q, b->tokens, b->heads,
                           b->model->hidden, false);
        roof_reads_join(&b->from, &attended);
        roof_graph_vector(b, "attn_gate", ROOF_OPERATOR_GELU, shape, 0);
    }
}

/* Adds what native sparse attention has beside the others: a key and a value of each block, which
 * are means over its tokens, and three gates for each head. */
static void prepare_branches(struct builder *b, const struct roof_reads *hidden,
                             const struct made *made, struct roof_reads *inputs)
{
    const struct roof_model *const m = b->model;
    b->from = both(made->k, &made->v);
    roof_graph_vector(b, "compress_append", ROOF_OPERATOR_KV_APPEND,
                      (struct roof_shape){.tokens = roof_divide_up(b->tokens, m->block_keys),
                                          .heads = b->heads,
                                          .kv_heads = b->kv_heads,
                                          .head_dim = m->head_dim},
                      0);
    roof_reads_join(inputs, &b->from);
    b->from = *hidden;
    roof_graph_product(b, "gates_proj", ROOF_WEIGHT_Q, b->tokens, 3 * b->heads, m->hidden, false);
    roof_reads_join(inputs, &b->from);
}

void roof_graph_gqa(struct builder *b)
{
    static const enum roof_weight readers[] = {ROOF_WEIGHT_O};
    const struct roof_model *const m = b->model;
    const struct roof_reads input = b->from;
    const int64_t width = b->heads * roof_value_dim(m, b->layer);
    struct made made = qkv(b);
    const struct roof_reads gate = made.q; /* a half of the product that makes Q */
    prepare_qk(b, &made);
    struct roof_reads inputs = made.q;
    if (!b->layer->keyless) {
        b->from = both(made.k, &made.v);
        roof_graph_vector(b, "kv_append", ROOF_OPERATOR_KV_APPEND,
                          (struct roof_shape){.tokens = b->tokens,
                                              .heads = b->heads,
                                              .kv_heads = b->kv_heads,
                                              .head_dim = mean_head_dim(b)},
                          0);
        roof_reads_join(&inputs, &b->from);
    }
    if (m->native_sparse) {
        prepare_branches(b, &input, &made, &inputs);
    }
    struct roof_reads index = {.count = 0};
    if (b->layer->blocks) {
        index = roof_graph_block_index(b, &input);
    }
    attend(b, &inputs, &index);
    gate_output(b, &input, &gate);
    roof_graph_quantize(b, "o_quantize", b->tokens, width, readers, 1);
    roof_graph_product(b, "o_proj", ROOF_WEIGHT_O, b->tokens, m->hidden, width, m->o_bias);
}

/* --- chosen keys --------------------------------------------------------------------------- */

/* Queries of the indexer are FP8 like its keys, and scores are summed in FP32. */
#define INDEX_QUERIES ROOF_PRECISION_FP8_E4M3
#define INDEX_SCORES ROOF_PRECISION_FP32

/*
 * Adds the operators that make the index queries and keys of the new tokens, from the hidden states
 * and the latent of Q. Every device of a tensor-parallel group has the whole indexer, because all
 * heads contribute to one score. Returns the inputs of the scores: queries, keys, and the weights
 * of the heads.
 */
static struct roof_reads index_inputs(struct builder *b, const struct roof_reads *hidden,
                                      const struct roof_reads *latent)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = m->index_heads;
    const int64_t dim = m->index_head_dim;
    b->from = *latent;
    roof_graph_product(b, "index_q_proj", ROOF_WEIGHT_INDEX, b->tokens, heads * dim, m->q_lora_rank,
                       false);
    const struct roof_reads q = b->from;
    b->from = *hidden;
    roof_graph_product(b, "index_k_proj", ROOF_WEIGHT_INDEX, b->tokens, dim + heads, m->hidden,
                       false);
    const struct roof_reads weights = b->from;
    roof_graph_vector(b, "index_k_norm", ROOF_OPERATOR_LAYERNORM,
                      (struct roof_shape){.tokens = b->tokens, .hidden = dim, .gain = 1},
                      2 * (double)dim);
    roof_reads_join(&b->from, &q);
    roof_graph_vector(
        b, "index_rope", ROOF_OPERATOR_ROPE,
        (struct roof_shape){
            .tokens = b->tokens, .heads = heads, .kv_heads = 1, .head_dim = m->qk_rope_head_dim},
        0);
    const struct roof_reads roped = both(b->from, &weights);
    /* The operator appends K and V, which are here the two halves of a key. */
    struct roof_node append = {
        .name = "index_append",
        .weight = ROOF_WEIGHT_COUNT,
        .workload = {.op = ROOF_OPERATOR_KV_APPEND,
                     .shape = {.tokens = b->tokens, .heads = 1, .kv_heads = 1, .head_dim = dim / 2},
                     .formats = roof_graph_vector_formats(b)},
        .vector_format = ROOF_PRECISION_BF16};
    append.workload.formats.kv = ROOF_INDEX_KEYS;
    roof_graph_add(b, &append);
    return both(roped, &b->from);
}

/* The names of the operators that choose keys. */
struct index_names {
    const char *scores;
    const char *top;
};

/* Returns those of one kind of sequences. */
static const struct index_names *index_names(const struct builder *b, const struct group *g)
{
    static const struct index_names names[] = {{"index_scores", "index_top_k"},
                                               {"index_scores_prefill", "index_top_k_prefill"}};
    return &names[g == &b->group[0] ? 0 : 1];
}

/* Returns the operators whose choice the layers of a class reuse: that of a layer before them in
 * the stage, or what the stage before sends. */
static struct roof_reads earlier_choice(const struct builder *b, const char *top)
{
    const struct roof_model *const m = b->model;
    const int64_t number = b->layer - m->layer;
    struct roof_reads reads = {.count = 0};
    bool chosen = false; /* by a layer of the stage */
    for (int64_t i = b->stage.begin; i < b->stage.end; i++) {
        if (m->layer_class[i] == number) {
            const struct roof_reads one = {
                .count = 1, .name = {chosen ? top : "send"}, .before = {true}};
            roof_reads_join(&reads, &one);
        }
        chosen = chosen || roof_chooses_keys(m, &m->layer[m->layer_class[i]]);
    }
    return reads;
}

void roof_graph_index(struct builder *b, const struct group *g, int64_t keys, int64_t together)
{
    const struct roof_model *const m = b->model;
    const struct index_names *const names = index_names(b, g);
    struct roof_node scores = roof_graph_attention_node(b, g, ROOF_OPERATOR_INDEX_SCORES);
    scores.name = names->scores;
    scores.vectors = 0;
    scores.workload.shape.heads = m->index_heads * together;
    scores.workload.shape.query_len = g->query_len / together;
    scores.workload.shape.kv_len = keys;
    scores.workload.shape.head_dim = m->index_head_dim;
    scores.workload.formats.activations = INDEX_QUERIES;
    scores.workload.formats.kv = ROOF_INDEX_KEYS;
    scores.workload.formats.out = INDEX_SCORES;
    roof_graph_add(b, &scores);
    struct roof_node top = scores;
    top.name = names->top;
    top.workload.op = ROOF_OPERATOR_INDEX_TOP_K;
    top.workload.shape = (struct roof_shape){
        .batch = g->batch, .query_len = g->query_len, .kv_len = keys, .selected = m->index_topk};
    top.workload.formats.activations = INDEX_SCORES;
    roof_graph_add(b, &top);
}

/* Returns the number of pairs of query and key if a query sees at most span keys. */
static double pairs_within(const struct group *g, double span)
{
    const double first = (double)(g->kv_len - g->query_len + 1); /* keys of the first query */
    const double short_queries = fmin(fmax(0, span - first), (double)g->query_len);
    return (double)g->query_len * span -
           short_queries * (2 * (span - first) + 1 - short_queries) / 2;
}

/*
 * Decides how a prefill attends: with K and V expanded for every head, over all keys (the others
 * masked), or on the latent, over the chosen keys only. The one with fewer FLOPs is used, as in
 * DeepSeek's prefill (arXiv 2512.02556, section 2.1). kv_b multiplies each key in the first case,
 * and each query in the second, so few new tokens after a long prefix attend on the latent.
 */
static bool expands(const struct builder *b, const struct group *g)
{
    const struct roof_model *const m = b->model;
    const bool chosen = m->index_topk > 0 && g->kv_len > m->index_topk;
    const double span = (double)(chosen ? m->index_topk : g->kv_len);
    const double kv_b =
        (double)m->kv_lora_rank * (double)(m->head_dim - m->qk_rope_head_dim + m->v_head_dim);
    const double expanded =
        pairs_within(g, (double)g->kv_len) * (double)(m->head_dim + m->v_head_dim) +
        (double)g->kv_len * kv_b;
    const double absorbed =
        pairs_within(g, span) * (double)(2 * m->kv_lora_rank + m->qk_rope_head_dim) +
        (double)g->query_len * kv_b;
    return g->expanded && expanded < absorbed;
}

/* --- latent attention ---------------------------------------------------------------------- */

/* Adds a product that is absorbed into Q or into the output: one matrix per head, which holds
 * `outputs` of the outputs of kv_b. */
static void absorbed_node(struct builder *b, const struct group *g, const char *name, int64_t n,
                          int64_t k, int64_t outputs)
{
    const int64_t heads = b->model->heads / b->s->tp;
    struct roof_node node = {
        .name = name,
        .weight = ROOF_WEIGHT_KV_B,
        .workload = {.op = ROOF_OPERATOR_BMM,
                     .shape = {.batch = heads, .m = g->batch * g->query_len, .n = n, .k = k},
                     .formats = roof_graph_formats(b, ROOF_WEIGHT_KV_B),
                     .sparse = roof_graph_sparse(b, ROOF_WEIGHT_KV_B)},
        .elements = (double)heads * (double)n * (double)k,
        .tensors = 0.5, /* the two are halves of one tensor, kv_b */
        .channels = (double)heads * (double)outputs,
        .borrowed = g != &b->group[0]}; /* the first kind of sequences has the same weights */
    roof_graph_add(b, &node);
}

/* Adds the products that make Q and the latent of the new tokens, and the norm of each latent.
 * *latent is the operator with the latent of Q, if there is one. */
static struct made mla_inputs(struct builder *b, struct roof_reads *latent_q)
{
    const struct roof_model *const m = b->model;
    const int64_t latent = m->kv_lora_rank + m->qk_rope_head_dim;
    const int64_t q = m->heads / b->s->tp * m->head_dim;
    const bool fused = m->q_lora_rank > 0 && roof_graph_fuses(b, ROOF_WEIGHT_Q_A, ROOF_WEIGHT_KV_A);
    const struct roof_reads input = b->from;
    struct made made;
    if (fused) {
        roof_graph_product(b, "qkv_a_proj", ROOF_WEIGHT_Q_A, b->tokens, m->q_lora_rank + latent,
                           m->hidden, m->qkv_bias);
    } else if (m->q_lora_rank > 0) {
        roof_graph_product(b, "q_a_proj", ROOF_WEIGHT_Q_A, b->tokens, m->q_lora_rank, m->hidden,
                           m->qkv_bias);
    } else {
        roof_graph_product(b, "q_proj", ROOF_WEIGHT_Q, b->tokens, q, m->hidden, false);
    }
    made.q = made.k = b->from;
    if (!fused) {
        b->from = input;
        roof_graph_product(b, "kv_a_proj", ROOF_WEIGHT_KV_A, b->tokens, latent, m->hidden,
                           m->qkv_bias);
        made.k = b->from;
    }
    if (m->q_lora_rank > 0) {
        b->from = made.q;
        static const enum roof_weight readers[] = {ROOF_WEIGHT_Q_B, ROOF_WEIGHT_INDEX};
        roof_graph_norm(b, "q_a_norm", b->tokens, m->q_lora_rank);
        roof_graph_quantize(b, "q_b_quantize", b->tokens, m->q_lora_rank, readers,
                            roof_chooses_keys(m, b->layer) ? 2 : 1);
        *latent_q = b->from;
        roof_graph_product(b, "q_b_proj", ROOF_WEIGHT_Q_B, b->tokens, q, m->q_lora_rank, false);
        made.q = b->from;
    }
    b->from = made.k;
    roof_graph_norm(b, "kv_a_norm", b->tokens, m->kv_lora_rank);
    made.v = b->from;
    return made;
}

/* The inputs of latent attention. */
struct latent {
    struct roof_reads q;     /* before it is rotated */
    struct roof_reads roped; /* Q after that */
    struct roof_reads cache;
    struct roof_reads index; /* of the scores by which keys are chosen */
};

/*
 * Adds the attention of one kind of sequences. Decode works on the latent itself, with two matrices
 * of kv_b absorbed; prefill expands K and V of every head from the latents of all tokens that are
 * attended to, unless that takes more FLOPs. Keys are chosen where there are more of them than are
 * attended to.
 */
static void mla_attention(struct builder *b, const struct group *g, const struct latent *from)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = m->heads / b->s->tp;
    const bool chosen = m->index_topk > 0 && g->kv_len > m->index_topk;
    const bool expanded = expands(b, g);
    const bool first = g == &b->group[0];
    struct roof_reads inputs = from->roped;
    if (chosen && b->layer->reuses_choice) {
        const struct roof_reads earlier = earlier_choice(b, index_names(b, g)->top);
        roof_reads_join(&inputs, &earlier);
    } else if (chosen) {
        b->from = from->index;
        roof_graph_index(b, g, g->kv_len, 1);
        roof_reads_join(&inputs, &b->from);
    }
    struct roof_node node = roof_graph_attention_node(b, g,
                                                      expanded ? ROOF_OPERATOR_MLA_PREFILL
                                                      : chosen ? ROOF_OPERATOR_SPARSE_MLA
                                                               : ROOF_OPERATOR_MLA_DECODE);
    static const enum roof_weight readers[] = {ROOF_WEIGHT_KV_B};
    struct roof_shape *const shape = &node.workload.shape;
    const int64_t rows = g->batch * g->query_len;
    shape->kv_lora_rank = m->kv_lora_rank;
    shape->qk_rope_head_dim = m->qk_rope_head_dim;
    if (node.workload.op == ROOF_OPERATOR_SPARSE_MLA) {
        shape->selected = m->index_topk;
    } else {
        shape->qk_nope_head_dim = m->qk_nope_head_dim;
        shape->v_head_dim = m->v_head_dim;
        node.part.chosen = m->index_topk;
    }
    if (expanded) {
        /* these K and V are not in the cache */
        node.workload.formats.kv = node.workload.formats.out;
        struct roof_node expand = roof_graph_make_product(
            b, "kv_b_proj", ROOF_WEIGHT_KV_B, g->batch * g->kv_len,
            heads * (m->qk_nope_head_dim + m->v_head_dim), m->kv_lora_rank, false);
        expand.borrowed = b->groups > 1; /* next to a decode group, which has the same weights */
        b->from = from->cache;
        roof_graph_quantize(b, "kv_b_quantize", g->batch * g->kv_len, m->kv_lora_rank, readers, 1);
        roof_graph_add(b, &expand);
        roof_reads_join(&b->from, &inputs);
        roof_graph_add(b, &node);
    } else {
        b->from = from->q;
        roof_graph_quantize(b, "q_absorb_quantize", rows, heads * m->qk_nope_head_dim, readers, 1);
        absorbed_node(b, g, first ? "q_absorb" : "q_absorb_prefill", m->kv_lora_rank,
                      m->qk_nope_head_dim, m->qk_nope_head_dim);
        roof_reads_join(&b->from, &inputs);
        roof_reads_join(&b->from, &from->cache);
        roof_graph_add(b, &node);
        roof_graph_quantize(b, "v_absorb_quantize", rows, heads * m->kv_lora_rank, readers, 1);
        absorbed_node(b, g, first ? "v_absorb" : "v_absorb_prefill", m->v_head_dim, m->kv_lora_rank,
                      m->v_head_dim);
    }
}

/* Adds the gate on the output of latent attention, which a product makes of the hidden states. */
static void gate_latent(struct builder *b, const struct roof_reads *hidden)
{
    const struct roof_model *const m = b->model;
    const int64_t width = m->heads / b->s->tp * m->v_head_dim;
    const struct roof_reads attended = b->from;
    if (m->latent_gate) {
        b->from = *hidden;
        roof_graph_product(b, "attn_gate_proj",
                           m->q_lora_rank > 0 ? ROOF_WEIGHT_Q_A : ROOF_WEIGHT_Q, b->tokens, width,
                           m->hidden, false);
        roof_reads_join(&b->from, &attended);
        roof_graph_vector(b, "attn_gate", ROOF_OPERATOR_SILU_MUL,
                          (struct roof_shape){.tokens = b->tokens, .hidden = width}, 0);
    }
}

void roof_graph_mla(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = m->heads / b->s->tp;
    const int64_t latent = m->kv_lora_rank + m->qk_rope_head_dim;
    const struct roof_reads hidden = b->from;
    struct roof_reads latent_q = {.count = 0};
    struct roof_reads attended = {.count = 0};
    const struct made made = mla_inputs(b, &latent_q);
    struct latent from = {.q = made.q};
    b->from = both(made.q, &made.k);
    if (!m->latent_nope) {
        roof_graph_vector(b, "rope", ROOF_OPERATOR_ROPE,
                          (struct roof_shape){.tokens = b->tokens,
                                              .heads = heads,
                                              .kv_heads = 1,
                                              .head_dim = m->qk_rope_head_dim},
                          0);
    }
    from.roped = b->from;
    b->from = both(made.v, &from.roped);
    /* There is one latent per token. The operator appends K and V of head_dim each, which are here
     * its two halves. */
    roof_graph_vector(
        b, "kv_append", ROOF_OPERATOR_KV_APPEND,
        (struct roof_shape){
            .tokens = b->tokens, .heads = heads, .kv_heads = 1, .head_dim = latent / 2},
        0);
    from.cache = b->from;
    if (roof_chooses_keys(m, b->layer)) {
        from.index = index_inputs(b, &hidden, &latent_q);
    }
    for (int i = 0; i < b->groups; i++) {
        mla_attention(b, &b->group[i], &from);
        roof_reads_join(&attended, &b->from);
    }
    b->from = attended;
    gate_latent(b, &hidden);
    static const enum roof_weight readers[] = {ROOF_WEIGHT_O};
    roof_graph_quantize(b, "o_quantize", b->tokens, heads * m->v_head_dim, readers, 1);
    roof_graph_product(b, "o_proj", ROOF_WEIGHT_O, b->tokens, m->hidden, heads * m->v_head_dim,
                       m->o_bias);
}
