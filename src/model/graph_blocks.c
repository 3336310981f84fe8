// SPDX-License-Identifier: MIT
/*
 * Attention over blocks of keys (MiniMax sparse attention). Each head of the indexer chooses blocks
 * for the heads of one KV head. Sources: vLLM, models/minimax_m3; TensorRT-LLM,
 * _torch/models/modeling_minimaxm3.py.
 */
#include "base/base.h"
#include "model/graph_parts.h"

/* Scores are kept in FP32. */
#define BLOCK_SCORES ROOF_PRECISION_FP32

/* Returns the heads of the indexer on a device: they are cut like the KV heads. */
static int64_t index_heads(const struct builder *b)
{
    const int64_t heads = b->model->index_heads / b->s->tp;
    return heads > 0 ? heads : 1;
}

struct roof_reads roof_graph_block_index(struct builder *b, const struct roof_reads *hidden)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = index_heads(b);
    const int64_t dim = m->index_head_dim;
    b->from = *hidden;
    roof_graph_product(b, "index_q_proj", ROOF_WEIGHT_INDEX, b->tokens, heads * dim, m->hidden,
                       false);
    roof_graph_norm(b, "index_q_norm", b->tokens * heads, dim);
    const struct roof_reads q = b->from;
    b->from = *hidden;
    roof_graph_product(b, "index_k_proj", ROOF_WEIGHT_INDEX, b->tokens, dim, m->hidden, false);
    roof_graph_norm(b, "index_k_norm", b->tokens, dim);
    roof_reads_join(&b->from, &q);
    roof_graph_vector(
        b, "index_rope", ROOF_OPERATOR_ROPE,
        (struct roof_shape){
            .tokens = b->tokens, .heads = heads, .kv_heads = 1, .head_dim = m->rotary_dim},
        0);
    struct roof_reads roped = b->from;
    /* The operator appends K and V, which are here the two halves of a key. */
    roof_graph_vector(
        b, "index_append", ROOF_OPERATOR_KV_APPEND,
        (struct roof_shape){.tokens = b->tokens, .heads = 1, .kv_heads = 1, .head_dim = dim / 2},
        0);
    roof_reads_join(&roped, &b->from);
    return roped;
}

bool roof_graph_has_choice(const struct builder *b, const struct group *g)
{
    return b->layer->blocks && g->kv_len > b->model->block_topk * b->model->block_keys;
}

void roof_graph_choose_blocks(struct builder *b, const struct group *g)
{
    const struct roof_model *const m = b->model;
    const bool first = g == &b->group[0];
    const int64_t heads = index_heads(b);
    struct roof_node scores = roof_graph_attention_node(b, g, ROOF_OPERATOR_BLOCK_SCORES);
    scores.name = first ? "block_scores" : "block_scores_prefill";
    scores.vectors = 0;
    scores.workload.shape.heads = heads;
    scores.workload.shape.head_dim = m->index_head_dim;
    scores.workload.shape.compression = m->block_keys;
    scores.workload.formats.out = BLOCK_SCORES;
    roof_graph_add(b, &scores);
    struct roof_node top = scores;
    top.name = first ? "block_top_k" : "block_top_k_prefill";
    top.workload.op = ROOF_OPERATOR_INDEX_TOP_K;
    top.workload.shape = (struct roof_shape){.batch = g->batch * heads,
                                             .query_len = g->query_len,
                                             .kv_len = roof_divide_up(g->kv_len, m->block_keys),
                                             .selected = m->block_topk};
    top.workload.formats.activations = BLOCK_SCORES;
    roof_graph_add(b, &top);
}
