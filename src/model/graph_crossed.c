// SPDX-License-Identifier: MIT
/*
 * Layers whose attention reads keys and values of images (Llama 3.2 Vision). Source:
 * huggingface/transformers, modeling_mllama.py. docs/formulas.md ("Cross attention").
 */
#include "model/graph_parts.h"

/* The gates of a layer: one of its attention, one of its MLP. */
#define GATES 2

/* Returns the elements of all heads of K on a device. */
static int64_t keys_width(const struct builder *b)
{
    return b->kv_heads * roof_head_dim(b->model, b->layer);
}

/* Returns the elements of all heads of Q on a device. */
static int64_t queries_width(const struct builder *b)
{
    return b->heads * roof_head_dim(b->model, b->layer);
}

/* Returns where the idle weights of the class count: on the device, or on the host. */
static double *idle_bytes(struct builder *b)
{
    return roof_graph_on_host(b) ? &b->graph->idle_host_bytes : &b->graph->idle_bytes;
}

/* Counts a resident matrix that does not run, in all layers of the class. */
static void leave_matrix(struct builder *b, enum roof_weight weight, int64_t n, int64_t k,
                         bool bias)
{
    struct roof_node node = roof_graph_make_product(b, "", weight, 1, n, k, bias);
    node.count = b->count;
    *idle_bytes(b) += roof_node_bytes(&node);
    b->graph->idle_parameters += (double)b->count * (node.elements + node.vectors);
}

/* Counts two matrices over the same input, which are one where they can be. */
static void leave_both(struct builder *b, enum roof_weight first, enum roof_weight second,
                       int64_t n, int64_t k, bool bias)
{
    if (roof_graph_fuses(b, first, second)) {
        leave_matrix(b, first, 2 * n, k, bias);
    } else {
        leave_matrix(b, first, n, k, bias);
        leave_matrix(b, second, n, k, bias);
    }
}

/* Counts the elements of vectors that do not run. */
static void leave_vectors(struct builder *b, int64_t elements)
{
    const enum roof_precision format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights;
    const double count = (double)b->count * (double)elements;
    *idle_bytes(b) += roof_tensor_bytes(format, count, 0, 0);
    b->graph->idle_parameters += count;
}

/* Adds what makes keys and values of images for a class of layers. */
static void make_keys(struct builder *b, const struct roof_reads *images, int64_t keys)
{
    static const enum roof_weight readers[] = {ROOF_WEIGHT_K, ROOF_WEIGHT_V};
    const struct roof_model *const m = b->model;
    const int64_t width = keys_width(b);
    const bool fuses = roof_graph_fuses(b, ROOF_WEIGHT_K, ROOF_WEIGHT_V);
    b->from = *images;
    roof_graph_quantize(b, "image_kv_quantize", keys, m->hidden, readers, 2);
    const struct roof_reads read = b->from;
    struct roof_reads values = {.count = 0};
    if (!fuses) {
        roof_graph_product(b, "image_v_proj", ROOF_WEIGHT_V, keys, width, m->hidden, false);
        values = b->from;
        b->from = read;
    }
    roof_graph_product(b, fuses ? "image_kv_proj" : "image_k_proj", ROOF_WEIGHT_K, keys,
                       fuses ? 2 * width : width, m->hidden, false);
    if (fuses) {
        values = b->from;
    }
    roof_graph_norm(b, "image_k_norm", keys * b->kv_heads, roof_head_dim(m, b->layer));
    roof_reads_join(&b->from, &values);
    roof_graph_vector(b, "image_kv_append", ROOF_OPERATOR_KV_APPEND,
                      (struct roof_shape){.tokens = keys,
                                          .heads = b->heads,
                                          .kv_heads = b->kv_heads,
                                          .head_dim = roof_head_dim(m, b->layer)},
                      0);
    roof_graph_flush(b);
}

/* Enters a class of layers, offloaded or not, and returns how many of them the stage has. */
static int64_t enter(struct builder *b, int64_t number, bool offloaded)
{
    roof_graph_enter(b, &b->model->layer[number]);
    b->block = ROOF_BLOCK_ENCODER;
    b->offloaded = offloaded;
    b->count = 0;
    for (int64_t i = b->stage.begin; i < b->stage.end; i++) {
        b->count += (i < roof_offload_layers(b->s->offload)) == offloaded &&
                    b->model->layer_class[i] == number;
    }
    return b->count;
}

void roof_graph_image_keys(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const bool encodes = roof_encodes_images(b->s) && m->tower.crossed;
    const int64_t keys = b->group[0].batch * roof_image_keys(b->s, m);
    const struct roof_reads images = {
        .count = 1,
        .name = {b->stage.begin == 0 ? "image_project_0" : "image_send"},
        .before = {b->stage.begin > 0}};
    for (int64_t c = 0; c < m->layer_classes; c++) {
        for (int there = b->s->offload == ROOF_OFFLOAD_NONE ? 0 : 1; there >= 0; there--) {
            if (!m->layer[c].crossed || enter(b, c, there > 0) == 0) {
                continue;
            }
            if (encodes) {
                make_keys(b, &images, keys);
                if (b->s->phase == ROOF_PHASE_ENCODE) { /* else the layers count it */
                    roof_graph_cache(b);
                }
            } else {
                leave_both(b, ROOF_WEIGHT_K, ROOF_WEIGHT_V, keys_width(b), m->hidden, false);
                leave_vectors(b, roof_head_dim(m, b->layer)); /* the norm of K */
            }
        }
    }
    roof_graph_enter(b, NULL);
    b->offloaded = false;
    if (encodes && b->stage.end < m->layers) { /* the results, for the layers behind */
        b->block = ROOF_BLOCK_ENCODER;
        b->from = images;
        roof_graph_collective(b, "image_send", ROOF_OPERATOR_SEND, b->s->common.formats.out,
                              keys * m->hidden, 0, b->stage.send_within);
        roof_graph_flush(b);
    }
    b->block = ROOF_BLOCK_ENDS;
}

void roof_graph_skip_crossed(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t width = roof_intermediate(m, b->layer) / b->s->tp;
    leave_matrix(b, ROOF_WEIGHT_Q, queries_width(b), m->hidden, false);
    leave_matrix(b, ROOF_WEIGHT_O, m->hidden, queries_width(b), m->o_bias);
    leave_both(b, ROOF_WEIGHT_GATE, ROOF_WEIGHT_UP, width, m->hidden, m->mlp_bias);
    leave_matrix(b, ROOF_WEIGHT_DOWN, m->hidden, width, m->mlp_bias);
    /* The norms before attention and MLP, and that of Q. */
    leave_vectors(b, 2 * m->hidden + roof_head_dim(m, b->layer) + GATES);
}

/* Names the attention of one kind of sequences. */
static const char *name_of(const struct builder *b, int group)
{
    return b->groups <= 1 ? "attention_cross"
           : group == 0   ? "attention_decode_cross"
                          : "attention_prefill_cross";
}

void roof_graph_crossed(struct builder *b)
{
    static const enum roof_weight readers[] = {ROOF_WEIGHT_O};
    const struct roof_model *const m = b->model;
    const int64_t head_dim = roof_head_dim(m, b->layer);
    const int64_t width = queries_width(b);
    struct roof_reads attended = {.count = 0};
    roof_graph_product(b, "q_proj", ROOF_WEIGHT_Q, b->tokens, width, m->hidden, false);
    roof_graph_norm(b, "q_norm", b->tokens * b->heads, head_dim);
    struct roof_reads inputs = b->from;
    if (roof_encodes_images(b->s)) {
        const struct roof_reads made = {.count = 1, .name = {"image_kv_append"}};
        roof_reads_join(&inputs, &made);
    }
    for (int i = 0; i < b->groups; i++) {
        struct roof_node node = roof_graph_attention_node(
            b, &b->group[i],
            b->s->unfused_attention > 0 ? ROOF_OPERATOR_ATTENTION : ROOF_OPERATOR_FLASH_ATTENTION);
        node.name = name_of(b, i);
        node.workload.shape.kv_heads = b->kv_heads;
        node.workload.shape.head_dim = head_dim;
        node.workload.shape.kv_len = roof_image_keys(b->s, m);
        node.workload.shape.causal = 0;
        node.vectors = i == 0 ? GATES : 0;
        b->from = inputs;
        roof_graph_add(b, &node);
        roof_reads_join(&attended, &b->from);
    }
    b->from = attended;
    roof_graph_quantize(b, "o_quantize", b->tokens, width, readers, 1);
    roof_graph_product(b, "o_proj", ROOF_WEIGHT_O, b->tokens, m->hidden, width, m->o_bias);
}
