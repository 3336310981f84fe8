// SPDX-License-Identifier: MIT
/* The nodes of a graph: their formats, and how equal ones become one. */
#include "model/graph_parts.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

int64_t roof_graph_divide_up(int64_t value, int64_t parts)
{
    return (value + parts - 1) / parts;
}

enum roof_precision roof_graph_wider(enum roof_precision a, enum roof_precision b)
{
    return roof_precision_bits(a) >= roof_precision_bits(b) ? a : b;
}

/* Returns the format of a class of weights that neither request, layout nor file gives. */
static enum roof_precision default_format(const struct builder *b, enum roof_weight weight)
{
    const enum roof_precision w = b->s->common.formats.weights;
    return roof_weight_linear(weight) ? w : roof_graph_wider(w, ROOF_PRECISION_BF16);
}

/*
 * Returns the formats of an operator whose weights are of a class. A class whose format is given
 * apart from `weights` takes inputs in the wider of `activations` and what `precision` would pair
 * that format with: a bf16 head takes bf16 inputs beside FP8 layers.
 */
static struct roof_formats find_formats(const struct builder *b, enum roof_weight weight)
{
    struct roof_formats f = b->s->common.formats;
    const int8_t *const stored = b->layer != NULL ? b->layer->format : b->model->format;
    enum roof_precision given = b->s->weight[weight];
    if (given == ROOF_PRECISION_AUTO) {
        given = (enum roof_precision)stored[weight];
    }
    const bool plain = given == ROOF_PRECISION_AUTO && roof_weight_linear(weight);
    f.weights = given == ROOF_PRECISION_AUTO ? default_format(b, weight) : given;
    if (!plain) {
        f.activations = roof_graph_wider(f.activations, roof_format(f.weights)->activations);
    }
    if (!roof_weight_linear(weight)) {
        f.compute = ROOF_PRECISION_AUTO; /* `compute` is for the products that `weights` is for */
    }
    return f;
}

struct roof_formats roof_graph_formats(struct builder *b, enum roof_weight weight)
{
    if (!b->known[weight]) {
        b->formats[weight] = find_formats(b, weight);
        b->known[weight] = true;
    }
    return b->formats[weight];
}

int64_t roof_graph_sparse(struct builder *b, enum roof_weight weight)
{
    return b->s->common.sparse > 0 && roof_weight_linear(weight) &&
           roof_precision_prunable(roof_graph_formats(b, weight).weights);
}

void roof_graph_enter(struct builder *b, const struct roof_layer *layer)
{
    b->layer = layer;
    memset(b->known, 0, sizeof b->known);
}

struct roof_formats roof_graph_vector_formats(struct builder *b)
{
    struct roof_formats f = roof_graph_formats(b, ROOF_WEIGHT_NORM);
    f.activations = b->s->common.formats.out;
    f.compute = ROOF_PRECISION_AUTO;
    return f;
}

bool roof_same_workload(const struct roof_workload *a, const struct roof_workload *b)
{
    return a->op == b->op && a->sparse == b->sparse &&
           memcmp(&a->shape, &b->shape, sizeof a->shape) == 0 &&
           memcmp(&a->formats, &b->formats, sizeof a->formats) == 0;
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

void roof_graph_add(struct builder *b, const struct roof_node *node)
{
    struct roof_graph *const g = b->graph;
    const struct roof_reads reads = b->from;
    b->from.count = 1;
    b->from.name[0] = node->name;
    b->from.before[0] = false;
    const int64_t count = b->layer != NULL ? b->count : 1;
    const bool alone = b->layer != NULL && b->model->layer_classes == 1;
    for (size_t i = 0; i < g->count && !alone; i++) {
        if (g->node[i].workload.op == node->workload.op &&
            strcmp(g->node[i].name, node->name) == 0 &&
            roof_same_workload(&g->node[i].workload, &node->workload)) {
            g->node[i].count += count;
            roof_reads_join(&g->node[i].reads, &reads);
            return;
        }
    }
    if (g->count == ROOF_GRAPH_MAX) {
        b->full = true;
        return;
    }
    g->node[g->count] = *node;
    g->node[g->count].count = count;
    g->node[g->count].reads = reads;
    /* All nodes share how kernels run. */
    g->node[g->count].workload.stack = b->s->common.stack;
    g->node[g->count].workload.cache = b->s->common.cache;
    g->node[g->count].workload.no_launch_overhead = b->s->common.no_launch_overhead;
    const enum roof_operator op = node->workload.op;
    if (roof_is_product(op) && roof_operator_row(op)->other == ROOF_ROLE_WEIGHTS) {
        g->node[g->count].workload.quantize_input = b->s->common.quantize_input;
    }
    g->count++;
}

void roof_graph_vector(struct builder *b, const char *name, enum roof_operator op,
                       struct roof_shape shape, double vectors)
{
    const struct roof_node node = {
        .name = name,
        .weight = ROOF_WEIGHT_NORM,
        .workload = {.op = op, .shape = shape, .formats = roof_graph_vector_formats(b)},
        .vectors = vectors,
        .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
    roof_graph_add(b, &node);
}

void roof_graph_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden)
{
    const struct roof_model *const m = b->model;
    const double vectors = m->norm_gain ? (double)hidden * (m->layernorm ? 2 : 1) : 0;
    roof_graph_vector(b, name, m->layernorm ? ROOF_OPERATOR_LAYERNORM : ROOF_OPERATOR_RMSNORM,
                      (struct roof_shape){.tokens = tokens, .hidden = hidden, .gain = m->norm_gain},
                      vectors);
}

struct roof_node roof_graph_make_product(struct builder *b, const char *name,
                                         enum roof_weight weight, int64_t rows, int64_t n,
                                         int64_t k, bool bias)
{
    return (struct roof_node){
        .name = name,
        .weight = weight,
        .workload = {.op = ROOF_OPERATOR_GEMM,
                     .shape = {.m = rows, .n = n, .k = k, .bias = bias, .batch = 1},
                     .formats = roof_graph_formats(b, weight),
                     .sparse = roof_graph_sparse(b, weight)},
        .elements = (double)n * (double)k,
        .tensors = 1,
        .channels = (double)n,
        .vectors = bias ? (double)n : 0,
        .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
}

void roof_graph_product(struct builder *b, const char *name, enum roof_weight weight, int64_t rows,
                        int64_t n, int64_t k, bool bias)
{
    const struct roof_node node = roof_graph_make_product(b, name, weight, rows, n, k, bias);
    roof_graph_add(b, &node);
}

void roof_graph_collective(struct builder *b, const char *name, enum roof_operator op,
                           enum roof_precision sent, int64_t elements, int64_t devices,
                           int64_t within)
{
    struct roof_formats f = b->s->common.formats;
    f.activations = sent;
    f.compute = ROOF_PRECISION_AUTO;
    const struct roof_node node = {
        .name = name,
        .weight = ROOF_WEIGHT_COUNT,
        .workload = {.op = op,
                     .shape = {.elements = elements, .devices = devices, .within = within},
                     .formats = f}};
    roof_graph_add(b, &node);
}

void roof_graph_tp_sum(struct builder *b, const char *name)
{
    if (b->s->tp > 1) {
        roof_graph_collective(b, name, ROOF_OPERATOR_ALL_REDUCE, b->s->common.formats.out,
                              b->tokens * b->model->hidden, b->s->tp, b->stage.tp_within);
    }
}

void roof_graph_residual(struct builder *b, const char *name)
{
    roof_graph_vector(b, name, ROOF_OPERATOR_ADD,
                      (struct roof_shape){.tokens = b->tokens, .hidden = b->model->hidden}, 0);
}

bool roof_graph_fuses(struct builder *b, enum roof_weight first, enum roof_weight second)
{
    const struct roof_formats x = roof_graph_formats(b, first);
    const struct roof_formats y = roof_graph_formats(b, second);
    return b->s->split_projections == 0 && memcmp(&x, &y, sizeof x) == 0;
}
