// SPDX-License-Identifier: MIT
/*
 * Attention over a window and compressed keys (DeepSeek-V4), from the hidden states to its output.
 * Source: huggingface/transformers, modeling_deepseek_v4.py.
 */
#include "model/graph_parts.h"

#include "base/base.h"

/* The operators that made the parts of attention. */
struct parts {
    struct roof_reads q;
    struct roof_reads latent; /* of Q */
    struct roof_reads key;
    struct roof_reads cached; /* the keys, and what compresses them */
    struct roof_reads index;  /* of the scores by which compressed keys are chosen */
};

/* Adds the operators that make the latent of Q, Q, and the key of each token. */
static struct parts inputs(struct builder *b)
{
    static const enum roof_weight readers[] = {ROOF_WEIGHT_Q_B, ROOF_WEIGHT_INDEX};
    const struct roof_model *const m = b->model;
    const struct roof_reads hidden = b->from;
    struct parts made;
    roof_graph_product(b, "q_a_proj", ROOF_WEIGHT_Q_A, b->tokens, m->q_lora_rank, m->hidden, false);
    roof_graph_norm(b, "q_a_norm", b->tokens, m->q_lora_rank);
    roof_graph_quantize(b, "q_b_quantize", b->tokens, m->q_lora_rank, readers,
                        roof_chooses_compressed(b->layer) ? 2 : 1);
    made.latent = b->from;
    roof_graph_product(b, "q_b_proj", ROOF_WEIGHT_Q_B, b->tokens, b->heads * m->head_dim,
                       m->q_lora_rank, false);
    roof_graph_vector(b, "q_norm", ROOF_OPERATOR_RMSNORM,
                      (struct roof_shape){.tokens = b->tokens * b->heads, .hidden = m->head_dim},
                      0);
    roof_graph_rotate(b, "rope", b->heads, b->model->qk_rope_head_dim);
    made.q = b->from;
    b->from = hidden;
    roof_graph_product(b, "kv_proj", ROOF_WEIGHT_KV_A, b->tokens, m->head_dim, m->hidden, false);
    roof_graph_norm(b, "kv_norm", b->tokens, m->head_dim);
    roof_graph_rotate(b, "k_rope", 1, b->model->qk_rope_head_dim);
    made.key = b->from;
    /* The operator appends K and V, here two halves of a key. */
    roof_graph_vector(
        b, "kv_append", ROOF_OPERATOR_KV_APPEND,
        (struct roof_shape){
            .tokens = b->tokens, .heads = 1, .kv_heads = 1, .head_dim = m->head_dim / 2},
        0);
    made.cached = b->from;
    made.index.count = 0;
    return made;
}

/*
 * Adds a compressor: a product makes a vector and a gate of each token, two of each where windows
 * overlap, and these become a vector for each `ratio` tokens, with a norm. A kernel reads and
 * writes at least the vectors; its FLOPs are negligible.
 */
static void compress(struct builder *b, const char *const name[2], int64_t dim)
{
    const int64_t series = roof_chooses_compressed(b->layer) ? 2 : 1;
    roof_graph_product(b, name[0], ROOF_WEIGHT_COMPRESS, b->tokens, 2 * series * dim,
                       b->model->hidden, false);
    roof_graph_vector(b, name[1], ROOF_OPERATOR_GELU,
                      (struct roof_shape){.tokens = b->tokens, .hidden = series * dim},
                      (double)(b->layer->ratio * series * dim + dim)); /* positions, norm */
}

/* Adds the compressors, and if compressed keys are chosen, the operators that make the index
 * queries. */
static void compressors(struct builder *b, struct parts *made, const struct roof_reads *hidden)
{
    static const char *const keys[] = {"compress_proj", "compress"};
    static const char *const index[] = {"index_compress_proj", "index_compress"};
    const struct roof_model *const m = b->model;
    if (b->layer->ratio == 0) {
        return;
    }
    b->from = *hidden;
    compress(b, keys, m->head_dim);
    roof_reads_join(&made->cached, &b->from);
    if (!roof_chooses_compressed(b->layer)) {
        return;
    }
    b->from = *hidden;
    compress(b, index, m->index_head_dim);
    made->index = b->from;
    b->from = *hidden;
    roof_graph_product(b, "index_weights_proj", ROOF_WEIGHT_COMPRESS, b->tokens, m->index_heads,
                       m->hidden, false);
    roof_reads_join(&made->index, &b->from);
    b->from = made->latent;
    roof_graph_product(b, "index_q_proj", ROOF_WEIGHT_INDEX, b->tokens,
                       m->index_heads * m->index_head_dim, m->q_lora_rank, false);
    roof_graph_rotate(b, "index_rope", m->index_heads, b->model->qk_rope_head_dim);
    roof_reads_join(&made->index, &b->from);
}

/*
 * Adds the choice of compressed keys for one kind of sequences. Neighbouring queries, as many as
 * become one key, see the same keys except for one, so they count as heads of one query.
 */
static void choose(struct builder *b, const struct group *g, int64_t keys)
{
    const int64_t ratio = b->layer->ratio;
    roof_graph_index(b, g, keys, g->query_len < ratio ? g->query_len : ratio);
}

/* Adds the attention of one kind of sequences. */
static void attend(struct builder *b, const struct group *g, const struct parts *made)
{
    const struct roof_model *const m = b->model;
    const int64_t ratio = b->layer->ratio;
    const int64_t keys = ratio > 0 ? g->kv_len / ratio : 0;
    const bool chooses = roof_chooses_compressed(b->layer);
    struct roof_reads read = made->q;
    roof_reads_join(&read, &made->cached);
    if (chooses && keys > m->index_topk) {
        b->from = made->index;
        choose(b, g, keys);
        roof_reads_join(&read, &b->from);
    }
    struct roof_node node = roof_graph_attention_node(b, g, ROOF_OPERATOR_COMPRESSED_ATTENTION);
    node.workload.shape.causal = 0;
    node.workload.shape.head_dim = m->head_dim;
    node.workload.shape.window = m->window;
    node.workload.shape.compression = ratio;
    node.workload.shape.selected = chooses ? m->index_topk : 0;
    node.workload.tokens = g->expanded ? ROOF_TOKENS_BY_NUMBER : ROOF_TOKENS_DECODE;
    node.vectors = g == &b->group[0] ? node.vectors : 0;
    b->from = read;
    roof_graph_add(b, &node);
}

/* Adds the output projection: first for each group of heads, then for all. */
static void output(struct builder *b)
{
    static const enum roof_weight readers[] = {ROOF_WEIGHT_O};
    const struct roof_model *const m = b->model;
    const int64_t groups = m->out_groups / b->s->tp;
    const int64_t width = m->heads / m->out_groups * m->head_dim;
    roof_graph_quantize(b, "o_a_quantize", b->tokens, groups * width, readers, 1);
    struct roof_node node =
        roof_graph_make_product(b, "o_a_proj", ROOF_WEIGHT_O, b->tokens, m->out_rank, width, false);
    node.workload.op = ROOF_OPERATOR_BMM;
    node.workload.shape.batch = groups;
    node.elements *= (double)groups;
    node.channels *= (double)groups;
    roof_graph_add(b, &node);
    roof_graph_quantize(b, "o_b_quantize", b->tokens, groups * m->out_rank, readers, 1);
    roof_graph_product(b, "o_b_proj", ROOF_WEIGHT_O, b->tokens, m->hidden, groups * m->out_rank,
                       false);
}

void roof_graph_compressed(struct builder *b)
{
    const struct roof_reads hidden = b->from;
    struct roof_reads attended = {.count = 0};
    struct parts made = inputs(b);
    compressors(b, &made, &hidden);
    for (int i = 0; i < b->groups; i++) {
        attend(b, &b->group[i], &made);
        roof_reads_join(&attended, &b->from);
    }
    b->from = attended;
    /* The keys are also the values, so their rotation is reverted here. */
    roof_graph_rotate(b, "o_rope", b->heads, b->model->qk_rope_head_dim);
    output(b);
}
