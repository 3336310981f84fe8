// SPDX-License-Identifier: MIT
/*
 * Layers of Gemma 3n: alternating updates of several streams of the residual (attention and the MLP
 * work on one of them), and a residual of low rank. Source: huggingface/transformers@00aa0f5,
 * modeling_gemma3n.py. Every device has these matrices whole.
 */
#include "model/graph_parts.h"

/* Adds the product of a normed stream from which the coefficients of all streams follow. A layer
 * runs it twice with the same norm and product. */
static void coefficients(struct builder *b, const char *norm, const char *router, bool again)
{
    const struct roof_model *const m = b->model;
    const double streams = (double)m->altup_streams;
    roof_graph_vector(b, norm, ROOF_OPERATOR_RMSNORM,
                      (struct roof_shape){.tokens = b->tokens, .hidden = m->hidden, .gain = 1},
                      again ? 0 : (double)m->hidden);
    struct roof_node node = roof_graph_make_product(b, router, ROOF_WEIGHT_ROUTER, b->tokens,
                                                    m->altup_streams, m->hidden, false);
    if (again) {
        node.elements = node.tensors = node.channels = 0;
    }
    node.vectors = streams * streams * (again ? 1 : streams); /* from these to coefficients */
    roof_graph_add(b, &node);
}

void roof_graph_altup_streams(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t others = m->altup_streams - 1;
    if (m->altup_streams > 0) {
        roof_graph_product(b, "altup_proj", ROOF_WEIGHT_EMBEDDING, b->tokens, others * m->hidden,
                           m->hidden, false);
        roof_graph_vector(b, "altup_scale", ROOF_OPERATOR_RMSNORM,
                          (struct roof_shape){.tokens = b->tokens * others, .hidden = m->hidden},
                          0);
    }
}

void roof_graph_altup_predict(struct builder *b)
{
    const struct roof_model *const m = b->model;
    if (m->altup_streams > 0) {
        const struct roof_reads streams = b->from;
        coefficients(b, "altup_norm", "altup_router", false);
        roof_reads_join(&b->from, &streams);
        roof_graph_vector(
            b, "altup_predict", ROOF_OPERATOR_GELU,
            (struct roof_shape){.tokens = b->tokens * m->altup_streams, .hidden = m->hidden}, 0);
    }
}

void roof_graph_altup_correct(struct builder *b)
{
    const struct roof_model *const m = b->model;
    if (m->altup_streams > 0) {
        struct roof_reads inputs = b->from;
        coefficients(b, "altup_correct_norm", "altup_correct_router", true);
        const struct roof_reads predicted = {.count = 1, .name = {"altup_predict"}};
        roof_reads_join(&inputs, &b->from);
        roof_reads_join(&inputs, &predicted);
        b->from = inputs;
        roof_graph_vector(b, "altup_correct", ROOF_OPERATOR_HYPER_EXPAND,
                          (struct roof_shape){.tokens = b->tokens,
                                              .hidden = m->hidden,
                                              .streams = m->altup_streams},
                          (double)m->hidden); /* a scale of each element */
    }
}

void roof_graph_laurel(struct builder *b, const struct roof_reads *normed)
{
    static const enum roof_weight weight[] = {ROOF_WEIGHT_UP, ROOF_WEIGHT_DOWN};
    const struct roof_model *const m = b->model;
    const struct roof_reads attended = b->from;
    if (m->laurel_rank > 0) {
        b->from = *normed;
        roof_graph_product(b, "laurel_left_proj", weight[0], b->tokens, m->laurel_rank, m->hidden,
                           false);
        roof_graph_product(b, "laurel_right_proj", weight[1], b->tokens, m->hidden, m->laurel_rank,
                           false);
        roof_graph_norm(b, "laurel_norm", b->tokens, m->hidden);
        roof_reads_join(&b->from, normed);
        roof_graph_residual(b, "laurel_add");
        roof_reads_join(&b->from, &attended);
        roof_graph_residual(b, "attn_laurel_add");
    }
}

void roof_graph_altup_join(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t others = m->altup_streams - 1;
    if (m->altup_streams > 0) {
        struct roof_node node = roof_graph_make_product(b, "altup_join_proj", ROOF_WEIGHT_EMBEDDING,
                                                        b->rows, m->hidden, m->hidden, false);
        node.workload.op = ROOF_OPERATOR_BMM;
        node.workload.shape.batch = others;
        node.workload.shape.bias = 0;
        node.elements *= (double)others;
        node.tensors = (double)others;
        node.channels *= (double)others;
        roof_graph_add(b, &node);
        roof_graph_vector(b, "altup_join_scale", ROOF_OPERATOR_RMSNORM,
                          (struct roof_shape){.tokens = b->rows * others, .hidden = m->hidden}, 0);
    }
}
