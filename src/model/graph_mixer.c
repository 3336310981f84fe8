// SPDX-License-Identifier: MIT
/* Layers that keep a state instead of a cache, from the hidden states to their output. */
#include "model/graph_parts.h"

/* Returns the number of outputs of the projection of the input on this device for one token: the
 * inputs of the convolution, the gates of the state, and the gate of the output unless it has a
 * separate product. */
static int64_t input_width(const struct builder *b)
{
    const struct roof_mixer *const x = &b->model->mixer;
    const int64_t heads = x->heads / b->s->tp;
    const int64_t channels = roof_mixer_channels(x, b->s->tp);
    switch ((enum roof_mixer_kind)x->kind) {
    case ROOF_MIXER_GATED_DELTA: /* the gate, and a decay and a rate per head */
        return channels + heads * x->value_dim + 2 * heads;
    case ROOF_MIXER_KIMI_DELTA: /* the rates, and the inputs of two gates of low rank, or one gate
                                 */
        return channels + heads + x->value_dim +
               (x->full_gate ? heads * x->value_dim : x->value_dim);
    case ROOF_MIXER_SSD: /* the gate, and a step per head */
        return channels + heads * x->value_dim + heads;
    case ROOF_MIXER_LIGHTNING: /* the gate */
    case ROOF_MIXER_SELECTIVE:
        return channels + heads * x->value_dim;
    case ROOF_MIXER_NONE:
    case ROOF_MIXER_COUNT:
        break;
    }
    return 0;
}

/* Returns the number of scalar weights of the state itself, per device: decays, biases of steps. */
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
    case ROOF_MIXER_SELECTIVE: /* a decay per element, and that weight */
        return heads * (double)(x->key_dim + 1);
    case ROOF_MIXER_LIGHTNING: /* decays follow from the numbers of head and layer */
    case ROOF_MIXER_NONE:
    case ROOF_MIXER_COUNT:
        break;
    }
    return 0;
}

/* Adds the convolution of one kind of sequences, if the mixer has one. */
static void conv_node(struct builder *b, const struct group *g)
{
    const struct roof_mixer *const x = &b->model->mixer;
    const int64_t channels = roof_mixer_channels(x, b->s->tp);
    const bool first = g == &b->group[0]; /* the second kind of sequences has the same weights */
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
    if (x->taps > 0) {
        roof_graph_add(b, &node);
    }
}

/* Returns the shape of the state of one kind of sequences. */
static struct roof_shape state_shape(const struct builder *b, const struct group *g)
{
    const struct roof_mixer *const x = &b->model->mixer;
    const bool ssd = x->kind == ROOF_MIXER_SSD;
    const int64_t heads = x->heads / b->s->tp;
    struct roof_shape shape = {.batch = g->batch, .query_len = g->query_len};
    if (x->kind == ROOF_MIXER_SELECTIVE) {
        shape.hidden = heads;
        shape.state_size = x->key_dim;
        return shape;
    }
    shape.heads = heads;
    shape.head_dim = ssd ? x->value_dim : x->key_dim;
    shape.scan_chunk = x->chunk;
    if (ssd || x->kind == ROOF_MIXER_GATED_DELTA) {
        shape.kv_heads = roof_mixer_key_heads(x, b->s->tp);
    }
    *(ssd ? &shape.state_size : &shape.v_head_dim) = ssd ? x->key_dim : x->value_dim;
    return shape;
}

/* Adds the state of one kind of sequences. */
static void state_node(struct builder *b, const struct group *g)
{
    static const enum roof_operator ops[ROOF_MIXER_COUNT] = {
        [ROOF_MIXER_GATED_DELTA] = ROOF_OPERATOR_GATED_DELTA,
        [ROOF_MIXER_KIMI_DELTA] = ROOF_OPERATOR_KIMI_DELTA,
        [ROOF_MIXER_SSD] = ROOF_OPERATOR_SSD,
        [ROOF_MIXER_LIGHTNING] = ROOF_OPERATOR_LIGHTNING,
        [ROOF_MIXER_SELECTIVE] = ROOF_OPERATOR_SELECTIVE_SCAN};
    const struct roof_mixer *const x = &b->model->mixer;
    const bool first = g == &b->group[0];
    struct roof_node node = {
        .name = first ? "state" : "state_prefill",
        .weight = ROOF_WEIGHT_NORM,
        .workload = {.op = ops[x->kind],
                     .shape = state_shape(b, g),
                     .formats = roof_graph_vector_formats(b),
                     .tokens = g->expanded ? ROOF_TOKENS_PROMPT : ROOF_TOKENS_DECODE},
        .vectors = first ? state_vectors(b) : 0,
        .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
    node.workload.formats.kv = x->state;
    roof_graph_add(b, &node);
}

/*
 * Adds the operators that make the steps, B and C of Mamba-1 from the output of the convolution: a
 * narrow product, which is summed over the channels of all devices, a norm of each of its parts,
 * and the product that expands the steps to the channels. Returns the inputs of the scan among
 * them.
 */
static struct roof_reads selective_inputs(struct builder *b)
{
    static const enum roof_weight readers[] = {ROOF_WEIGHT_MIXER_LOW};
    const struct roof_mixer *const x = &b->model->mixer;
    const int64_t channels = roof_mixer_channels(x, b->s->tp);
    const int64_t narrow = x->rank + 2 * x->key_dim;
    roof_graph_quantize(b, "mixer_x_quantize", b->tokens, channels, readers, 1);
    roof_graph_product(b, "mixer_x_proj", ROOF_WEIGHT_MIXER_LOW, b->tokens, narrow, channels,
                       false);
    if (b->s->tp > 1) {
        roof_graph_collective(b, "mixer_x_all_reduce", ROOF_OPERATOR_ALL_REDUCE,
                              b->s->common.formats.out, b->tokens * narrow, b->s->tp,
                              b->stage.tp_within);
    }
    roof_graph_norm(b, "mixer_x_norm", b->tokens, narrow);
    struct roof_reads made = b->from;
    roof_graph_quantize(b, "mixer_step_quantize", b->tokens, x->rank, readers, 1);
    roof_graph_product(b, "mixer_step_proj", ROOF_WEIGHT_MIXER_LOW, b->tokens, channels, x->rank,
                       true);
    roof_reads_join(&made, &b->from);
    return made;
}

/* Adds convolutions and states of all kinds of sequences. The states read decays and rates, and the
 * output of the convolution. */
static void state_nodes(struct builder *b, struct roof_reads decay)
{
    const struct roof_reads input = b->from;
    const bool selective = b->model->mixer.kind == ROOF_MIXER_SELECTIVE;
    struct roof_reads convolved[2] = {{.count = 0}, {.count = 0}};
    struct roof_reads states = {.count = 0};
    for (int i = 0; i < b->groups && selective; i++) {
        b->from = input;
        conv_node(b, &b->group[i]);
        convolved[i] = b->from;
    }
    if (selective) {
        b->from = convolved[0];
        roof_reads_join(&b->from, &convolved[1]);
        decay = selective_inputs(b);
    }
    for (int i = 0; i < b->groups; i++) {
        b->from = selective ? convolved[i] : input;
        if (!selective) {
            conv_node(b, &b->group[i]);
        }
        roof_reads_join(&b->from, &decay);
        state_node(b, &b->group[i]);
        roof_reads_join(&states, &b->from);
    }
    b->from = states;
}

/* Adds the norm after the state: the delta rules have one gain for all heads, the others one for
 * each element. */
static void mixer_norm(struct builder *b)
{
    const struct roof_mixer *const x = &b->model->mixer;
    const int64_t heads = x->heads / b->s->tp;
    const bool wide = x->kind == ROOF_MIXER_SSD || x->kind == ROOF_MIXER_LIGHTNING;
    const int64_t row = wide ? heads * x->value_dim : x->value_dim;
    roof_graph_vector(b, "mixer_norm", ROOF_OPERATOR_RMSNORM,
                      (struct roof_shape){
                          .tokens = wide ? b->tokens : b->tokens * heads, .hidden = row, .gain = 1},
                      (double)row);
}

void roof_graph_mixer(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const struct roof_mixer *const x = &m->mixer;
    const int64_t heads = x->heads / b->s->tp;
    const int64_t width = heads * x->value_dim;
    roof_graph_product(b, "mixer_in_proj", ROOF_WEIGHT_MIXER_IN, b->tokens, input_width(b),
                       m->hidden, x->proj_bias);
    static const enum roof_weight readers[] = {ROOF_WEIGHT_MIXER_LOW, ROOF_WEIGHT_MIXER_OUT};
    const struct roof_reads input = b->from;
    struct roof_reads decay = input; /* and the rates of the state */
    struct roof_reads gate = input;
    if (x->kind == ROOF_MIXER_KIMI_DELTA) { /* gates of low rank */
        roof_graph_quantize(b, "mixer_gates_quantize", b->tokens,
                            (x->full_gate ? 1 : 2) * x->value_dim, readers, 1);
        const struct roof_reads low = b->from;
        roof_graph_product(b, "mixer_decay_proj", ROOF_WEIGHT_MIXER_LOW, b->tokens,
                           heads * x->key_dim, x->value_dim, false);
        roof_reads_join(&decay, &b->from);
        if (!x->full_gate) {
            b->from = low;
            roof_graph_product(b, "mixer_gate_proj", ROOF_WEIGHT_MIXER_LOW, b->tokens, width,
                               x->value_dim, false);
            gate = b->from;
        }
    }
    b->from = input;
    state_nodes(b, decay);
    if (!x->plain) {
        mixer_norm(b);
    }
    roof_reads_join(&b->from, &gate);
    roof_graph_vector(b, "mixer_gate", ROOF_OPERATOR_SILU_MUL,
                      (struct roof_shape){.tokens = b->tokens, .hidden = width}, 0);
    roof_graph_quantize(b, "mixer_out_quantize", b->tokens, width, &readers[1], 1);
    roof_graph_product(b, "mixer_out_proj", ROOF_WEIGHT_MIXER_OUT, b->tokens, m->hidden, width,
                       x->proj_bias);
}
