// SPDX-License-Identifier: MIT
/* Layers that keep a state in place of a cache, from the hidden states to their output. */
#include "model/graph_parts.h"

/* Returns the outputs of the projection of the input on this device, all of one token: what goes
 * through the convolution, the gates of the state, and the gate of the output unless it has a
 * product of its own. */
static int64_t input_width(const struct builder *b)
{
    const struct roof_mixer *const x = &b->model->mixer;
    const int64_t heads = x->heads / b->s->tp;
    const int64_t channels = roof_mixer_channels(x, b->s->tp);
    switch ((enum roof_mixer_kind)x->kind) {
    case ROOF_MIXER_GATED_DELTA: /* the gate, and a decay and a rate per head */
        return channels + heads * x->value_dim + 2 * heads;
    case ROOF_MIXER_KIMI_DELTA: /* the rates, and the inputs of two gates of low rank */
        return channels + heads + 2 * x->value_dim;
    case ROOF_MIXER_SSD: /* the gate, and a step per head */
        return channels + heads * x->value_dim + heads;
    case ROOF_MIXER_NONE:
    case ROOF_MIXER_COUNT:
        break;
    }
    return 0;
}

/* Returns how many scalars the state itself has as weights, per device: decays, biases of steps. */
static double state_vectors(const struct builder *b)
{
    const struct roof_mixer *const x = &b->model->mixer;
    const int64_t share = x->heads / b->s->tp; /* heads of a device */
    const double heads = (double)share;
    switch ((enum roof_mixer_kind)x->kind) {
    case ROOF_MIXER_GATED_DELTA:
        return 2 * heads;
    case ROOF_MIXER_KIMI_DELTA:
        return heads + heads * (double)x->key_dim;
    case ROOF_MIXER_SSD: /* and a weight of the input that passes by */
        return 3 * heads;
    case ROOF_MIXER_NONE:
    case ROOF_MIXER_COUNT:
        break;
    }
    return 0;
}

/* Adds the convolution and the state of one kind of sequences. The state reads decays and rates
 * beside what comes out of the convolution. */
static void state_nodes(struct builder *b, const struct group *g, const struct roof_reads *decay)
{
    static const enum roof_operator ops[ROOF_MIXER_COUNT] = {
        [ROOF_MIXER_GATED_DELTA] = ROOF_OPERATOR_GATED_DELTA,
        [ROOF_MIXER_KIMI_DELTA] = ROOF_OPERATOR_KIMI_DELTA,
        [ROOF_MIXER_SSD] = ROOF_OPERATOR_SSD};
    const struct roof_mixer *const x = &b->model->mixer;
    const int64_t channels = roof_mixer_channels(x, b->s->tp);
    const bool first = g == &b->group[0]; /* the second kind of sequences has the same weights */
    const bool ssd = x->kind == ROOF_MIXER_SSD;
    struct roof_node node = {.name = "short_conv",
                             .weight = ROOF_WEIGHT_NORM,
                             .workload = {.op = ROOF_OPERATOR_SHORT_CONV,
                                          .shape = {.batch = g->batch,
                                                    .query_len = g->query_len,
                                                    .hidden = channels,
                                                    .taps = x->taps},
                                          .formats = roof_graph_vector_formats(b)},
                             .vectors = first ? (double)(channels * (x->taps + x->conv_bias)) : 0,
                             .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
    roof_graph_add(b, &node);
    roof_reads_join(&b->from, decay);
    node.name = first ? "state" : "state_prefill";
    node.vectors = first ? state_vectors(b) : 0;
    node.workload.op = ops[x->kind];
    node.workload.formats.kv = x->state;
    node.workload.shape = (struct roof_shape){.batch = g->batch,
                                              .heads = x->heads / b->s->tp,
                                              .head_dim = ssd ? x->value_dim : x->key_dim,
                                              .query_len = g->query_len,
                                              .scan_chunk = x->chunk};
    if (x->kind != ROOF_MIXER_KIMI_DELTA) {
        node.workload.shape.kv_heads = roof_mixer_key_heads(x, b->s->tp);
    }
    if (ssd) {
        node.workload.shape.state_size = x->key_dim;
    } else {
        node.workload.shape.v_head_dim = x->value_dim;
    }
    roof_graph_add(b, &node);
}

void roof_graph_mixer(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const struct roof_mixer *const x = &m->mixer;
    const int64_t heads = x->heads / b->s->tp;
    const int64_t width = heads * x->value_dim;
    struct roof_reads states = {.count = 0};
    roof_graph_product(b, "mixer_in_proj", ROOF_WEIGHT_MIXER_IN, b->tokens, input_width(b),
                       m->hidden, x->proj_bias);
    static const enum roof_weight readers[] = {ROOF_WEIGHT_MIXER_IN, ROOF_WEIGHT_MIXER_OUT};
    const struct roof_reads input = b->from;
    struct roof_reads decay = input; /* and the rates of the state */
    struct roof_reads gate = input;
    if (x->kind == ROOF_MIXER_KIMI_DELTA) { /* gates of low rank */
        roof_graph_quantize(b, "mixer_gates_quantize", b->tokens, 2 * x->value_dim, readers, 1);
        const struct roof_reads low = b->from;
        roof_graph_product(b, "mixer_decay_proj", ROOF_WEIGHT_MIXER_IN, b->tokens,
                           heads * x->key_dim, x->value_dim, false);
        roof_reads_join(&decay, &b->from);
        b->from = low;
        roof_graph_product(b, "mixer_gate_proj", ROOF_WEIGHT_MIXER_IN, b->tokens, width,
                           x->value_dim, false);
        gate = b->from;
    }
    for (int i = 0; i < b->groups; i++) {
        b->from = input;
        state_nodes(b, &b->group[i], &decay);
        roof_reads_join(&states, &b->from);
    }
    b->from = states;
    if (!x->plain) {
        /* Mamba-2 has a gain for each element, the delta rules one for all heads. */
        const bool ssd = x->kind == ROOF_MIXER_SSD;
        const int64_t row = ssd ? width : x->value_dim;
        roof_graph_vector(b, "mixer_norm", ROOF_OPERATOR_RMSNORM,
                          (struct roof_shape){.tokens = ssd ? b->tokens : b->tokens * heads,
                                              .hidden = row,
                                              .gain = 1},
                          (double)row);
    }
    roof_reads_join(&b->from, &gate);
    roof_graph_vector(b, "mixer_gate", ROOF_OPERATOR_SILU_MUL,
                      (struct roof_shape){.tokens = b->tokens, .hidden = width}, 0);
    roof_graph_quantize(b, "mixer_out_quantize", b->tokens, width, &readers[1], 1);
    roof_graph_product(b, "mixer_out_proj", ROOF_WEIGHT_MIXER_OUT, b->tokens, m->hidden, width,
                       x->proj_bias);
}
