// SPDX-License-Identifier: MIT
/* The nodes of a graph, and their formats. */
#include "model/graph_parts.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/weights.h"

enum roof_precision roof_graph_wider(enum roof_precision a, enum roof_precision b)
{
    return roof_precision_bits(a) >= roof_precision_bits(b) ? a : b;
}

/* Returns the default format of a class of weights, which neither question, layout nor file gives.
 */
static enum roof_precision default_format(const struct builder *b, enum roof_weight weight)
{
    const enum roof_precision w = b->s->common.formats.weights;
    return roof_weight_linear(weight) ? w : roof_graph_wider(w, ROOF_PRECISION_BF16);
}

/* Returns the first of two formats that is given. */
static enum roof_precision first_of(enum roof_precision a, enum roof_precision b)
{
    return a != ROOF_PRECISION_AUTO ? a : b;
}

/*
 * Returns the formats of an operator with weights of a class. If the format of the class is given
 * apart from `weights`, its inputs have the wider of `activations` and the activations that
 * `precision` would choose for that format: a bf16 head has bf16 inputs in a model with FP8 layers.
 * Int4 weights of a checkpoint that converts their inputs have these.
 */
static struct roof_formats find_formats(const struct builder *b, enum roof_weight weight)
{
    struct roof_formats f = b->s->common.formats;
    const int8_t *const stored = b->layer != NULL ? b->layer->format : b->model->format;
    const enum roof_weight partner = roof_weight_partner(weight);
    const enum roof_precision asked = first_of(b->s->weight[weight], b->s->weight[partner]);
    const enum roof_precision given = first_of(
        asked, first_of((enum roof_precision)stored[weight], (enum roof_precision)stored[partner]));
    const bool plain = given == ROOF_PRECISION_AUTO && roof_weight_linear(weight);
    f.weights = given == ROOF_PRECISION_AUTO ? default_format(b, weight) : given;
    const bool narrow = asked == ROOF_PRECISION_AUTO && b->model->narrow_inputs &&
                        roof_weight_linear(weight) && roof_precision_weight_only(f.weights);
    if (!plain && !narrow) {
        f.activations = roof_graph_wider(f.activations, roof_format(f.weights)->activations);
    }
    if (!roof_weight_linear(weight)) {
        f.compute = ROOF_PRECISION_AUTO; /* `compute` applies to the same products as `weights` */
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
    b->block = ROOF_BLOCK_ENDS;
    b->heads = layer == NULL ? 0 : roof_heads(b->model, layer) / b->s->tp;
    b->kv_heads = layer == NULL ? 0 : roof_kv_heads(b->model, layer, b->s->tp);
    memset(b->known, 0, sizeof b->known);
    b->quantized_count = 0;
}

struct roof_formats roof_graph_vector_formats(struct builder *b)
{
    struct roof_formats f = roof_graph_formats(b, ROOF_WEIGHT_NORM);
    f.activations = b->s->common.formats.out;
    f.compute = ROOF_PRECISION_AUTO;
    return f;
}

void roof_graph_vector(struct builder *b, const char *name, enum roof_operator op,
                       struct roof_shape shape, double vectors)
{
    struct roof_node node = {
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
    struct roof_node node = roof_graph_make_product(b, name, weight, rows, n, k, bias);
    roof_graph_add(b, &node);
}

void roof_graph_collective(struct builder *b, const char *name, enum roof_operator op,
                           enum roof_precision sent, int64_t elements, int64_t devices,
                           int64_t within)
{
    struct roof_formats f = b->s->common.formats;
    f.activations = sent;
    f.compute = ROOF_PRECISION_AUTO;
    struct roof_node node = {
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

void roof_graph_collapse(struct builder *b, const char *name)
{
    const struct roof_model *const m = b->model;
    const double mixes = (double)(m->streams * (m->streams + 2));
    struct roof_node node = {
        .name = name,
        .weight = ROOF_WEIGHT_ROUTER,
        .workload = {.op = ROOF_OPERATOR_HYPER_COLLAPSE,
                     .shape = {.tokens = b->tokens, .hidden = m->hidden, .streams = m->streams},
                     .formats = roof_graph_formats(b, ROOF_WEIGHT_ROUTER)},
        .elements = mixes * (double)m->streams * (double)m->hidden,
        .tensors = 1,
        .channels = mixes,
        .vectors = mixes + 3, /* biases, and three scales */
        .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
    if (m->streams > 0) {
        node.workload.formats.activations = b->s->common.formats.out;
        roof_graph_add(b, &node);
    }
}

void roof_graph_mix_sums(struct builder *b, const char *name, int64_t tokens, int64_t sums)
{
    if (sums > 0) {
        roof_graph_vector(
            b, name, ROOF_OPERATOR_DEPTH_MIX,
            (struct roof_shape){.tokens = tokens, .hidden = b->model->hidden, .streams = sums + 1},
            2 * (double)b->model->hidden);
    }
}

int64_t roof_graph_sums(const struct roof_model *model, int64_t layers)
{
    return model->block_layers > 0 ? roof_divide_up(layers, model->block_layers) + 1 : 1;
}

void roof_graph_residual(struct builder *b, const char *name)
{
    if (b->model->streams > 0) {
        roof_graph_vector(b, name, ROOF_OPERATOR_HYPER_EXPAND,
                          (struct roof_shape){.tokens = b->tokens,
                                              .hidden = b->model->hidden,
                                              .streams = b->model->streams},
                          0);
        return;
    }
    roof_graph_vector(b, name, ROOF_OPERATOR_ADD,
                      (struct roof_shape){.tokens = b->tokens, .hidden = b->model->hidden}, 0);
}

void roof_graph_quantize(struct builder *b, const char *name, int64_t tokens, int64_t width,
                         const enum roof_weight *readers, int count)
{
    const enum roof_precision residual = b->s->common.formats.out;
    enum roof_precision narrow[ROOF_WEIGHT_COUNT];
    int kinds = 0;
    b->sole = true;
    if (b->s->fuse == ROOF_FUSE_DEFAULT) {
        return;
    }
    for (int i = 0; i < count; i++) {
        const enum roof_precision read = roof_graph_formats(b, readers[i]).activations;
        const bool narrower = roof_precision_bits(read) < roof_precision_bits(residual);
        bool known = !narrower;
        for (int k = 0; k < kinds; k++) {
            known = known || narrow[k] == read;
        }
        if (!known) {
            narrow[kinds++] = read;
        }
        b->sole = b->sole && narrower && kinds == 1;
    }
    for (int k = 0; k < kinds; k++) {
        struct roof_node node = {.name = name,
                                 .weight = ROOF_WEIGHT_COUNT,
                                 .workload = {.op = ROOF_OPERATOR_QUANTIZE,
                                              .shape = {.tokens = tokens, .hidden = width},
                                              .formats = roof_graph_vector_formats(b)},
                                 .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
        node.workload.formats.out = narrow[k];
        roof_graph_add(b, &node);
    }
}

bool roof_graph_fuses(struct builder *b, enum roof_weight first, enum roof_weight second)
{
    const struct roof_formats x = roof_graph_formats(b, first);
    const struct roof_formats y = roof_graph_formats(b, second);
    return b->s->split_projections == 0 && memcmp(&x, &y, sizeof x) == 0;
}

/* The bytes that a layer keeps for all sequences, not only those of one pass. */
struct kept {
    double cache;
    double states;
};

static struct kept kept_bytes(const struct builder *b, const struct roof_layer *layer)
{
    const struct roof_scenario *const s = b->s;
    double tokens = 0;
    double all = 0;
    double compressed = 0;
    double blocks = 0;
    for (int i = 0; i < b->groups; i++) {
        const int64_t sequences = i == 0 ? s->common.shape.batch : s->prefill_batch;
        const int64_t held = s->held > b->group[i].kv_len ? s->held : b->group[i].kv_len;
        const int64_t seen = layer->crossed ? roof_image_keys(s, b->model) : held;
        const int64_t kept = layer->windowed && b->model->window < seen ? b->model->window : seen;
        const double here = (double)roof_divide_up(sequences, s->attention_dp);
        tokens += here * (double)kept;
        all += here;
        blocks += here * (double)roof_whole_blocks(b->model, held);
        compressed += layer->ratio > 0 ? here * floor((double)held / (double)layer->ratio) : 0;
    }
    const double cache = roof_kv_bytes(b->model, layer, s->common.formats.kv, s->tp, tokens) +
                         roof_kv_bytes(b->model, layer, s->common.formats.kv, s->tp, blocks);
    const double states =
        layer->stateful ? all * roof_state_bytes(b->model, s->common.formats.out, s->tp) : 0;
    const double more =
        layer->ratio == 0
            ? 0
            : roof_compressed_bytes(b->model, layer, s->common.formats.kv, compressed) +
                  all * roof_compressor_bytes(b->model, layer, s->common.formats.out);
    return (struct kept){.cache = cache + more, .states = states};
}

void roof_graph_cache(struct builder *b)
{
    const struct kept kept = kept_bytes(b, b->layer);
    const bool host = roof_graph_on_host(b);
    *(host ? &b->graph->host_kv_bytes : &b->graph->kv_bytes) +=
        (double)b->count * (kept.cache + kept.states);
    b->graph->state_bytes += host ? 0 : (double)b->count * kept.states;
}

double roof_node_bytes(const struct roof_node *node)
{
    const double matrix =
        node->borrowed
            ? 0
            : (node->workload.sparse > 0 ? roof_pruned_bytes : roof_tensor_bytes)(
                  node->workload.formats.weights, node->elements, node->tensors, node->channels);
    const double vectors = roof_tensor_bytes(node->vector_format, node->vectors, 0, 0);
    return (double)node->count * (matrix + vectors);
}

struct roof_node roof_graph_attention_node(struct builder *b, const struct group *g,
                                           enum roof_operator op)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = b->heads;
    const bool sinks = m->sinks || (m->window_sinks && b->layer->windowed);
    struct roof_formats f = b->s->common.formats;
    f.activations = f.out;
    f.compute = ROOF_PRECISION_AUTO;
    return (struct roof_node){
        .name = g->attention,
        .weight = ROOF_WEIGHT_COUNT,
        .workload = {.op = op,
                     .shape = {.batch = g->batch,
                               .heads = heads,
                               .query_len = g->query_len,
                               .kv_len = g->kv_len,
                               .causal = 1},
                     .formats = f},
        .part = {.beside_prompts = b->groups > 1 && !g->expanded, .longest = g->longest},
        .vectors = sinks ? (double)heads : 0,
        .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
}
