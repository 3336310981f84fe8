// SPDX-License-Identifier: MIT
/* Adds nodes to a graph: equal ones become one, and if operators are fused, each waits until it is
 * known whether the next one joins it. */
#include "model/graph_parts.h"

#include <string.h>

#include "base/base.h"

#define OP(name) ROOF_OPERATOR_##name
static const struct join {
    enum roof_operator first, second, fused;
} joins[] = {
    {OP(ADD), OP(RMSNORM), OP(ADD_RMSNORM)},
    {OP(ADD), OP(LAYERNORM), OP(ADD_LAYERNORM)},
    {OP(RMSNORM), OP(QUANTIZE), OP(RMSNORM_QUANTIZE)},
    {OP(ADD_RMSNORM), OP(QUANTIZE), OP(ADD_RMSNORM_QUANTIZE)},
    {OP(SILU_MUL), OP(QUANTIZE), OP(SILU_MUL_QUANTIZE)},
    {OP(GEMM), OP(SILU_MUL), OP(GEMM_SILU_MUL)},
    {OP(GEMM_SILU_MUL), OP(QUANTIZE), OP(GEMM_SILU_MUL)}, /* its output has any format */
    {OP(ROPE), OP(KV_APPEND), OP(ROPE_APPEND)},
};

/* Returns the fused operator of two; COUNT: there is none. */
static enum roof_operator joined(enum roof_operator first, enum roof_operator second)
{
    for (size_t i = 0; i < COUNT(joins); i++) {
        if (joins[i].first == first && joins[i].second == second) {
            return joins[i].fused;
        }
    }
    return ROOF_OPERATOR_COUNT;
}

/* The norms with which the next layer, or the second half of a layer, begins. */
static const char *const summed[][2] = {
    {"attn_norm", "add_attn_norm"}, {"mlp_norm", "add_mlp_norm"}, {"final_norm", "add_final_norm"}};

/* Returns the name of such a norm with the addition in it; NULL: it is another norm. */
static const char *name_with_sum(const char *norm)
{
    for (size_t i = 0; i < COUNT(summed); i++) {
        if (strcmp(norm, summed[i][0]) == 0) {
            return summed[i][1];
        }
    }
    return NULL;
}

static bool is_norm(enum roof_operator op)
{
    return joined(OP(ADD), op) != ROOF_OPERATOR_COUNT;
}

/* Tells whether the second of two nodes, for which there is a fused operator, works on the whole
 * result of the first. */
static bool goes_on(const struct builder *b, const struct roof_node *first,
                    const struct roof_node *second)
{
    const struct roof_shape *const x = &first->workload.shape;
    const struct roof_shape *const y = &second->workload.shape;
    switch ((int)second->workload.op) {
    case OP(SILU_MUL):
        return x->m == y->tokens && x->n == 2 * y->hidden;
    case OP(QUANTIZE):
        return b->sole && (first->workload.op == OP(GEMM_SILU_MUL)
                               ? x->m == y->tokens && x->n == y->hidden
                               : x->tokens == y->tokens && x->hidden == y->hidden);
    case OP(KV_APPEND):
        return strcmp(first->name, "rope") == 0 && x->head_dim <= y->head_dim;
    default:
        return x->tokens == y->tokens && x->hidden == y->hidden &&
               name_with_sum(second->name) != NULL;
    }
}

/* Makes the first of two nodes the fused one. */
static void join(struct roof_node *first, const struct roof_node *second, enum roof_operator fused)
{
    struct roof_workload *const w = &first->workload;
    struct roof_shape *const shape = &w->shape;
    const struct roof_workload *const next = &second->workload;
    switch ((int)next->op) {
    case OP(SILU_MUL):
        shape->n = next->shape.hidden;
        shape->batch = 0;
        break;
    case OP(QUANTIZE):
        w->formats.out = next->formats.out;
        break;
    case OP(KV_APPEND):
        first->name = "rope_append";
        shape->qk_rope_head_dim = shape->head_dim;
        shape->head_dim = next->shape.head_dim;
        w->formats.kv = next->formats.kv;
        break;
    default: /* a norm has the weights */
        *first = *second;
        first->name = name_with_sum(second->name);
        break;
    }
    w->op = fused;
}

/* Returns true if two operators read the results of the same ones. */
static bool same_reads(const struct roof_reads *a, const struct roof_reads *b)
{
    bool same = a->count == b->count && a->count > 0;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->before[i] == b->before[i] && strcmp(a->name[i], b->name[i]) == 0;
    }
    return same;
}

void roof_reads_join(struct roof_reads *reads, const struct roof_reads *more)
{
    for (size_t i = 0; i < more->count; i++) {
        size_t at = 0;
        while (at < reads->count && (reads->before[at] != more->before[i] ||
                                     (reads->name[at] != more->name[i] &&
                                      strcmp(reads->name[at], more->name[i]) != 0))) {
            at++;
        }
        if (at == reads->count && at < ROOF_READS_MAX) {
            reads->name[at] = more->name[i];
            reads->before[at] = more->before[i];
            reads->count++;
        }
    }
}

bool roof_same_workload(const struct roof_workload *a, const struct roof_workload *b)
{
    return a->op == b->op && a->sparse == b->sparse && a->quantize_input == b->quantize_input &&
           a->tokens == b->tokens && memcmp(&a->shape, &b->shape, sizeof a->shape) == 0 &&
           memcmp(&a->formats, &b->formats, sizeof a->formats) == 0;
}

/* Adds a node with its count, unchanged. Equal nodes become one only if their vectors are also
 * equal, because the count multiplies these, and a second kind of sequences has none. */
static void append(struct builder *b, const struct roof_node *node, int64_t count)
{
    struct roof_graph *const g = b->graph;
    const bool alone =
        b->layer != NULL && b->model->layer_classes == 1 && b->s->offload == ROOF_OFFLOAD_NONE;
    for (size_t i = 0; i < g->count && !alone; i++) {
        if (g->node[i].workload.op == node->workload.op && g->node[i].host == node->host &&
            strcmp(g->node[i].name, node->name) == 0 && g->node[i].vectors == node->vectors &&
            roof_same_workload(&g->node[i].workload, &node->workload)) {
            g->node[i].count += count;
            roof_reads_join(&g->node[i].reads, &node->reads);
            return;
        }
    }
    if (g->count == ROOF_GRAPH_MAX) {
        b->full = true;
        return;
    }
    g->node[g->count] = *node;
    g->node[g->count].count = count;
    /* All nodes share how kernels run. */
    g->node[g->count].workload.stack = b->s->common.stack;
    g->node[g->count].workload.cache = b->s->common.cache;
    g->node[g->count].workload.no_launch_overhead = b->s->common.no_launch_overhead;
    g->node[g->count].workload.step_scale = b->s->common.step_scale;
    g->count++;
}

void roof_graph_flush(struct builder *b)
{
    for (int i = 0; i < b->holds; i++) {
        append(b, &b->held[i], b->held_count[i]);
    }
    b->holds = 0;
}

static void hold(struct builder *b, const struct roof_node *node, int64_t count)
{
    if (count > 0) {
        b->held[b->holds] = *node;
        b->held_count[b->holds++] = count;
    }
}

/* Begins a layer: its norm is fused with the last addition of the layer before, if there is one. */
static void open_layer(struct builder *b, const struct roof_node *norm, int64_t count)
{
    const int64_t first = b->begins ? 1 : 0;
    struct roof_node sum = *norm;
    sum.name = name_with_sum(norm->name);
    sum.workload.op = joined(OP(ADD), norm->workload.op);
    roof_graph_flush(b);
    hold(b, norm, first);
    hold(b, &sum, count - first);
    b->opens = false;
}

/* Joins a node to the last one if there is a fused operator for both. */
static void fuse(struct builder *b, const struct roof_node *node, int64_t count)
{
    bool all = b->holds > 0;
    if (b->opens && is_norm(node->workload.op)) {
        open_layer(b, node, count);
        return;
    }
    for (int i = 0; i < b->holds; i++) {
        all = all && joined(b->held[i].workload.op, node->workload.op) != ROOF_OPERATOR_COUNT &&
              goes_on(b, &b->held[i], node);
    }
    if (!all) {
        roof_graph_flush(b);
        hold(b, node, count);
        return;
    }
    for (int i = 0; i < b->holds; i++) {
        join(&b->held[i], node, joined(b->held[i].workload.op, node->workload.op));
        if (node->upload.share == 0 && node->host != NULL) { /* one part stays on the host */
            b->held[i].upload = node->upload;
            b->held[i].host_kernels = node->host_kernels;
        }
    }
}

bool roof_graph_on_host(const struct builder *b)
{
    return b->offloaded && roof_offload_part(b->s->offload) == ROOF_OFFLOAD_LAYERS;
}

/* Tells whether a node of the layers that are being built is on the host. */
static bool on_host(const struct builder *b, const struct roof_node *node)
{
    return roof_graph_on_host(b) || (b->offloaded && node->routed);
}

/* Returns true if a product of the layer has quantised the input of another to its format. */
static bool is_quantized(struct builder *b, const struct roof_node *node)
{
    const enum roof_precision format = node->workload.formats.activations;
    for (int i = 0; i < b->quantized_count; i++) {
        const struct quantized *const q = &b->quantized[i];
        if (q->format == format && same_reads(&q->of, &node->reads)) {
            return true;
        }
    }
    if (b->quantized_count < QUANTIZED_MAX) {
        b->quantized[b->quantized_count++] =
            (struct quantized){.of = node->reads, .format = format};
    }
    return false;
}

/* Returns how a node quantises its input. Products of the same input share one quantisation. The
 * kernels of experts have their own. */
static int64_t quantization_of(struct builder *b, const struct roof_node *node)
{
    const enum roof_operator op = node->workload.op;
    const int64_t way = b->s->common.quantize_input;
    if (way == ROOF_QUANTIZE_NONE || !roof_is_product(op) ||
        roof_operator_row(op)->other != ROOF_ROLE_WEIGHTS) {
        return ROOF_QUANTIZE_NONE;
    }
    return op == ROOF_OPERATOR_GEMM && is_quantized(b, node) ? ROOF_QUANTIZE_NONE : way;
}

/* Places a node. A long pass copies the weights of the host to the device, which then computes the
 * operator; what reads a cache or a state stays on the host, where these are. */
static void place(const struct builder *b, struct roof_node *node)
{
    const struct roof_operator_row *const row = roof_operator_row(node->workload.op);
    const enum roof_operator op = node->workload.op;
    const bool keeps =
        row->other == ROOF_ROLE_KV || row->stateful || op == OP(KV_APPEND) || op == OP(ROPE_APPEND);
    const bool copied = b->tokens >= ROOF_OFFLOAD_COPY_TOKENS && !keeps;
    node->host = on_host(b, node) ? b->s->host : NULL;
    node->host_kernels = node->host != NULL && !copied ? b->s->host_kernels : NULL;
    node->upload = node->host != NULL && copied ? b->s->upload : (struct roof_upload){0};
}

/* The operators that a fused one reads are unknown, because those that it joins have other names.
 */
void roof_graph_add(struct builder *b, struct roof_node *node)
{
    const int64_t outside = b->times > 0 ? b->times : 1;
    const int64_t count = b->layer != NULL ? b->count : outside;
    node->reads = b->from;
    node->block = b->block;
    node->workload.quantize_input = quantization_of(b, node);
    place(b, node);
    b->from = (struct roof_reads){.count = 1, .name = {node->name}};
    if (b->s->fuse == ROOF_FUSE_ALL) {
        node->reads.count = 0;
        fuse(b, node, count);
    } else {
        append(b, node, count);
    }
}

/* Tells whether each layer begins with a norm of the residual, and so also has an addition at its
 * end. */
static bool chained(const struct roof_model *m)
{
    bool all = !m->no_pre_norms && m->streams == 0 && m->block_layers == 0 && m->altup_streams == 0;
    for (int64_t c = 0; c < m->layer_classes; c++) {
        const struct roof_layer *const layer = &m->layer[c];
        const bool mixes = !layer->no_attention || layer->stateful;
        all = all && (mixes || (!layer->no_mlp && (!m->parallel || m->own_norms)));
    }
    return all;
}

void roof_graph_open_layers(struct builder *b, bool begins, bool ends)
{
    roof_graph_flush(b);
    /* The results of parallel halves are summed over the devices after the last addition. */
    const bool last = b->model->parallel && b->s->tp > 1;
    b->chained = b->s->fuse == ROOF_FUSE_ALL && chained(b->model) && !last;
    b->opens = b->chained;
    b->begins = begins;
    b->ends = ends;
}

void roof_graph_end_layer(struct builder *b)
{
    if (b->chained && b->holds == 1) {
        if (b->ends) { /* other kinds of layers may be on the host, or end differently */
            b->tail = b->held[0];
            b->tailed = true;
        }
        b->holds = 0;
    }
}

void roof_graph_close_layers(struct builder *b)
{
    roof_graph_flush(b);
    if (b->tailed) {
        hold(b, &b->tail, 1);
    }
}
