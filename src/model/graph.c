// SPDX-License-Identifier: MIT
/* Graphs: from a resolved scenario to the operators that one device runs. */
#include "model/graph.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/stage.h"

/* --- building ------------------------------------------------------------------------------ */

/* The sequences of a pass that are of one kind. */
struct group {
    const char *attention; /* name of the node */
    int64_t batch;         /* on this device */
    int64_t query_len;
    int64_t kv_len;
    bool expanded; /* MLA: K and V are made for every head */
};

struct builder {
    struct roof_graph *graph;
    const struct roof_model *model;
    const struct roof_scenario *s;
    const struct roof_layer *layer; /* the class that is being built; NULL outside layers */
    int64_t count;                  /* of the layers of that class in the stage */
    struct group group[2];
    int groups;
    int64_t tokens;     /* of a pass, on this device */
    int64_t moe_tokens; /* of a pass, over all devices of the expert group */
    int64_t rows;       /* tokens whose logits are wanted */
    int64_t kv_heads;   /* on this device */
    struct roof_stage stage;
    struct roof_formats formats[ROOF_WEIGHT_COUNT]; /* of the classes that are known */
    bool known[ROOF_WEIGHT_COUNT];
    bool full;
};

static int64_t divide_up(int64_t value, int64_t parts)
{
    return (value + parts - 1) / parts;
}

static enum roof_precision wider(enum roof_precision a, enum roof_precision b)
{
    return roof_precision_bits(a) >= roof_precision_bits(b) ? a : b;
}

/* Returns the format of a class of weights that neither request, layout nor file gives. */
static enum roof_precision default_format(const struct builder *b, enum roof_weight weight)
{
    const enum roof_precision w = b->s->common.formats.weights;
    return roof_weight_linear(weight) ? w : wider(w, ROOF_PRECISION_BF16);
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
        f.activations = wider(f.activations, roof_format(f.weights)->activations);
    }
    if (!roof_weight_linear(weight)) {
        f.compute = ROOF_PRECISION_AUTO; /* `compute` is for the products that `weights` is for */
    }
    return f;
}

/* Returns the formats of an operator whose weights are of a class, which are found once. */
static struct roof_formats class_formats(struct builder *b, enum roof_weight weight)
{
    if (!b->known[weight]) {
        b->formats[weight] = find_formats(b, weight);
        b->known[weight] = true;
    }
    return b->formats[weight];
}

/* Enters a class of layers; NULL: leaves all. */
static void set_layer(struct builder *b, const struct roof_layer *layer)
{
    b->layer = layer;
    memset(b->known, 0, sizeof b->known);
}

/* Vector operators read and write the residual's format. */
static struct roof_formats vector_formats(struct builder *b)
{
    struct roof_formats f = class_formats(b, ROOF_WEIGHT_NORM);
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

/* Adds a node that each layer of the class runs once; equal ones of several classes become one. */
static void add_node(struct builder *b, const struct roof_node *node)
{
    struct roof_graph *const g = b->graph;
    const int64_t count = b->layer != NULL ? b->count : 1;
    const bool alone = b->layer != NULL && b->model->layer_classes == 1;
    for (size_t i = 0; i < g->count && !alone; i++) {
        if (g->node[i].workload.op == node->workload.op &&
            strcmp(g->node[i].name, node->name) == 0 &&
            roof_same_workload(&g->node[i].workload, &node->workload)) {
            g->node[i].count += count;
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
    const enum roof_operator op = node->workload.op;
    if (roof_is_product(op) && roof_operator_row(op)->other == ROOF_ROLE_WEIGHTS) {
        g->node[g->count].workload.quantize_input = b->s->common.quantize_input;
    }
    g->count++;
}

static void vector_node(struct builder *b, const char *name, enum roof_operator op,
                        struct roof_shape shape, double vectors)
{
    const struct roof_node node = {
        .name = name,
        .weight = ROOF_WEIGHT_NORM,
        .workload = {.op = op, .shape = shape, .formats = vector_formats(b)},
        .vectors = vectors,
        .vector_format = class_formats(b, ROOF_WEIGHT_NORM).weights};
    add_node(b, &node);
}

static void norm_node(struct builder *b, const char *name, int64_t tokens, int64_t hidden)
{
    const struct roof_model *const m = b->model;
    const double vectors = m->norm_gain ? (double)hidden * (m->layernorm ? 2 : 1) : 0;
    vector_node(b, name, m->layernorm ? ROOF_OPERATOR_LAYERNORM : ROOF_OPERATOR_RMSNORM,
                (struct roof_shape){.tokens = tokens, .hidden = hidden, .gain = m->norm_gain},
                vectors);
}

/* Makes the node of C = A B: rows tokens, n features out, k in, in the formats of a class. */
static struct roof_node make_product(struct builder *b, const char *name, enum roof_weight weight,
                                     int64_t rows, int64_t n, int64_t k, bool bias)
{
    return (struct roof_node){
        .name = name,
        .weight = weight,
        .workload = {.op = ROOF_OPERATOR_GEMM,
                     .shape = {.m = rows, .n = n, .k = k, .bias = bias, .batch = 1},
                     .formats = class_formats(b, weight),
                     .sparse = b->s->common.sparse},
        .elements = (double)n * (double)k,
        .tensors = 1,
        .channels = (double)n,
        .vectors = bias ? (double)n : 0,
        .vector_format = class_formats(b, ROOF_WEIGHT_NORM).weights};
}

static void product_node(struct builder *b, const char *name, enum roof_weight weight, int64_t rows,
                         int64_t n, int64_t k, bool bias)
{
    const struct roof_node node = make_product(b, name, weight, rows, n, k, bias);
    add_node(b, &node);
}

static void collective_node(struct builder *b, const char *name, enum roof_operator op,
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
    add_node(b, &node);
}

/* Adds the sum over the tensor-parallel group after a product that was cut along its inputs. */
static void tp_sum(struct builder *b, const char *name)
{
    if (b->s->tp > 1) {
        collective_node(b, name, ROOF_OPERATOR_ALL_REDUCE, b->s->common.formats.out,
                        b->tokens * b->model->hidden, b->s->tp, b->stage.tp_within);
    }
}

static void residual(struct builder *b, const char *name)
{
    vector_node(b, name, ROOF_OPERATOR_ADD,
                (struct roof_shape){.tokens = b->tokens, .hidden = b->model->hidden}, 0);
}

/* Returns true if two products over the same input have one format and so can be one product. */
static bool fuses(struct builder *b, enum roof_weight first, enum roof_weight second)
{
    const struct roof_formats x = class_formats(b, first);
    const struct roof_formats y = class_formats(b, second);
    return b->s->split_projections == 0 && memcmp(&x, &y, sizeof x) == 0;
}

static void qkv(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t q = m->heads / b->s->tp * m->head_dim;
    const int64_t kv = b->kv_heads * m->head_dim;
    if (fuses(b, ROOF_WEIGHT_Q, ROOF_WEIGHT_K) && fuses(b, ROOF_WEIGHT_Q, ROOF_WEIGHT_V)) {
        product_node(b, "qkv_proj", ROOF_WEIGHT_Q, b->tokens, q + 2 * kv, m->hidden, m->qkv_bias);
        return;
    }
    product_node(b, "q_proj", ROOF_WEIGHT_Q, b->tokens, q, m->hidden, m->qkv_bias);
    product_node(b, "k_proj", ROOF_WEIGHT_K, b->tokens, kv, m->hidden, m->qkv_bias);
    product_node(b, "v_proj", ROOF_WEIGHT_V, b->tokens, kv, m->hidden, m->qkv_bias);
}

/* Attention reads Q in the residual's format and K, V as they are cached. */
static struct roof_node attention_node(struct builder *b, const struct group *g,
                                       enum roof_operator op)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = m->heads / b->s->tp;
    struct roof_formats f = b->s->common.formats;
    f.activations = f.out;
    f.compute = ROOF_PRECISION_AUTO;
    return (struct roof_node){.name = g->attention,
                              .weight = ROOF_WEIGHT_COUNT,
                              .workload = {.op = op,
                                           .shape = {.batch = g->batch,
                                                     .heads = heads,
                                                     .query_len = g->query_len,
                                                     .kv_len = g->kv_len,
                                                     .causal = 1},
                                           .formats = f},
                              .vectors = m->sinks ? (double)heads : 0,
                              .vector_format = class_formats(b, ROOF_WEIGHT_NORM).weights};
}

static const char *windowed_name(const struct group *g)
{
    return strcmp(g->attention, "attention") == 0          ? "attention_window"
           : strcmp(g->attention, "attention_decode") == 0 ? "attention_decode_window"
                                                           : "attention_prefill_window";
}

static void gqa(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = m->heads / b->s->tp;
    qkv(b);
    if (m->qk_norm) {
        norm_node(b, "q_norm", b->tokens * heads, m->head_dim);
        norm_node(b, "k_norm", b->tokens * b->kv_heads, m->head_dim);
    }
    if (m->rotary_dim > 0) {
        vector_node(b, "rope", ROOF_OPERATOR_ROPE,
                    (struct roof_shape){.tokens = b->tokens,
                                        .heads = heads,
                                        .kv_heads = b->kv_heads,
                                        .head_dim = m->rotary_dim},
                    0);
    }
    vector_node(
        b, "kv_append", ROOF_OPERATOR_KV_APPEND,
        (struct roof_shape){
            .tokens = b->tokens, .heads = heads, .kv_heads = b->kv_heads, .head_dim = m->head_dim},
        0);
    for (int i = 0; i < b->groups; i++) {
        const struct group *const g = &b->group[i];
        struct roof_node node = attention_node(
            b, g,
            b->s->unfused_attention > 0 ? ROOF_OPERATOR_ATTENTION : ROOF_OPERATOR_FLASH_ATTENTION);
        node.workload.shape.kv_heads = b->kv_heads;
        node.workload.shape.head_dim = m->head_dim;
        if (b->layer->windowed) {
            node.name = windowed_name(g);
            node.workload.shape.window = m->window;
        }
        node.vectors = i == 0 ? node.vectors : 0;
        add_node(b, &node);
    }
    product_node(b, "o_proj", ROOF_WEIGHT_O, b->tokens, m->hidden, heads * m->head_dim, m->o_bias);
}

/* Adds a product that is absorbed into Q or into the output: one matrix per head, which holds
 * `outputs` of the outputs of kv_b. */
static void absorbed_node(struct builder *b, const char *name, int64_t rows, int64_t n, int64_t k,
                          int64_t outputs)
{
    const int64_t heads = b->model->heads / b->s->tp;
    const struct roof_node node = {
        .name = name,
        .weight = ROOF_WEIGHT_KV_B,
        .workload = {.op = ROOF_OPERATOR_BMM,
                     .shape = {.batch = heads, .m = rows, .n = n, .k = k},
                     .formats = class_formats(b, ROOF_WEIGHT_KV_B),
                     .sparse = b->s->common.sparse},
        .elements = (double)heads * (double)n * (double)k,
        .tensors = 0.5, /* the two are halves of one tensor, kv_b */
        .channels = (double)heads * (double)outputs};
    add_node(b, &node);
}

/* The products that make Q and the latent of the new tokens, and the norm of each latent. */
static void mla_inputs(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t latent = m->kv_lora_rank + m->qk_rope_head_dim;
    const int64_t q = m->heads / b->s->tp * m->head_dim;
    if (m->q_lora_rank > 0) {
        if (fuses(b, ROOF_WEIGHT_Q_A, ROOF_WEIGHT_KV_A)) {
            product_node(b, "qkv_a_proj", ROOF_WEIGHT_Q_A, b->tokens, m->q_lora_rank + latent,
                         m->hidden, m->qkv_bias);
        } else {
            product_node(b, "q_a_proj", ROOF_WEIGHT_Q_A, b->tokens, m->q_lora_rank, m->hidden,
                         m->qkv_bias);
            product_node(b, "kv_a_proj", ROOF_WEIGHT_KV_A, b->tokens, latent, m->hidden,
                         m->qkv_bias);
        }
        norm_node(b, "q_a_norm", b->tokens, m->q_lora_rank);
        product_node(b, "q_b_proj", ROOF_WEIGHT_Q_B, b->tokens, q, m->q_lora_rank, false);
    } else {
        product_node(b, "q_proj", ROOF_WEIGHT_Q, b->tokens, q, m->hidden, false);
        product_node(b, "kv_a_proj", ROOF_WEIGHT_KV_A, b->tokens, latent, m->hidden, m->qkv_bias);
    }
    norm_node(b, "kv_a_norm", b->tokens, m->kv_lora_rank);
}

/*
 * The attention of one kind of sequences. Decode works on the latent itself, with two matrices of
 * kv_b absorbed; prefill expands K and V of every head from the latents of all tokens that are
 * attended to.
 */
static void mla_attention(struct builder *b, const struct group *g)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = m->heads / b->s->tp;
    const int64_t rows = g->batch * g->query_len;
    struct roof_node node =
        attention_node(b, g, g->expanded ? ROOF_OPERATOR_MLA_PREFILL : ROOF_OPERATOR_MLA_DECODE);
    struct roof_shape *const shape = &node.workload.shape;
    shape->kv_lora_rank = m->kv_lora_rank;
    shape->qk_nope_head_dim = m->qk_nope_head_dim;
    shape->qk_rope_head_dim = m->qk_rope_head_dim;
    shape->v_head_dim = m->v_head_dim;
    if (g->expanded) {
        /* K and V just made are not the cache. */
        node.workload.formats.kv = node.workload.formats.out;
        struct roof_node expand =
            make_product(b, "kv_b_proj", ROOF_WEIGHT_KV_B, g->batch * g->kv_len,
                         heads * (m->qk_nope_head_dim + m->v_head_dim), m->kv_lora_rank, false);
        expand.borrowed = b->groups > 1; /* beside a decode group, which holds the same */
        add_node(b, &expand);
        add_node(b, &node);
    } else {
        absorbed_node(b, "q_absorb", rows, m->kv_lora_rank, m->qk_nope_head_dim,
                      m->qk_nope_head_dim);
        add_node(b, &node);
        absorbed_node(b, "v_absorb", rows, m->v_head_dim, m->kv_lora_rank, m->v_head_dim);
    }
}

/* Latent attention, from the hidden states to the output. */
static void mla(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t heads = m->heads / b->s->tp;
    const int64_t latent = m->kv_lora_rank + m->qk_rope_head_dim;
    mla_inputs(b);
    vector_node(
        b, "rope", ROOF_OPERATOR_ROPE,
        (struct roof_shape){
            .tokens = b->tokens, .heads = heads, .kv_heads = 1, .head_dim = m->qk_rope_head_dim},
        0);
    /* One latent per token: the operator appends K and V of head_dim each, here its two halves. */
    vector_node(b, "kv_append", ROOF_OPERATOR_KV_APPEND,
                (struct roof_shape){
                    .tokens = b->tokens, .heads = heads, .kv_heads = 1, .head_dim = latent / 2},
                0);
    for (int i = 0; i < b->groups; i++) {
        mla_attention(b, &b->group[i]);
    }
    product_node(b, "o_proj", ROOF_WEIGHT_O, b->tokens, m->hidden, heads * m->v_head_dim,
                 m->o_bias);
}

struct mlp_names {
    const char *both, *gate, *up, *activation, *down;
    enum roof_weight weight[3]; /* gate, up, down */
};

static void mlp(struct builder *b, const struct mlp_names *names, int64_t intermediate)
{
    const struct roof_model *const m = b->model;
    const int64_t width = intermediate / b->s->tp;
    if (m->gated && fuses(b, names->weight[0], names->weight[1])) {
        product_node(b, names->both, names->weight[0], b->tokens, 2 * width, m->hidden,
                     m->mlp_bias);
    } else {
        if (m->gated) {
            product_node(b, names->gate, names->weight[0], b->tokens, width, m->hidden,
                         m->mlp_bias);
        }
        product_node(b, names->up, names->weight[1], b->tokens, width, m->hidden, m->mlp_bias);
    }
    vector_node(b, names->activation, m->gated ? ROOF_OPERATOR_SILU_MUL : ROOF_OPERATOR_GELU,
                (struct roof_shape){.tokens = b->tokens, .hidden = width}, 0);
    product_node(b, names->down, names->weight[2], b->tokens, m->hidden, width, m->mlp_bias);
}

/* Adds an operator of the experts with 1, 2 or 3 of their matrices, in the format of a class. */
static void experts_node(struct builder *b, const char *name, enum roof_operator op,
                         enum roof_weight weight, double matrices, double outputs)
{
    const struct roof_model *const m = b->model;
    const int64_t ep = b->s->moe_ep;
    const int64_t width = m->expert_intermediate / b->s->moe_tp;
    const int64_t share = m->experts / ep;
    const double experts = (double)share;
    const struct roof_node node = {.name = name,
                                   .weight = weight,
                                   .workload = {.op = op,
                                                .shape = {.tokens = b->moe_tokens,
                                                          .hidden = m->hidden,
                                                          .intermediate = width,
                                                          .experts = m->experts,
                                                          .top_k = m->top_k,
                                                          .routing = b->s->common.shape.routing,
                                                          .ep = ep,
                                                          .bias = m->expert_bias},
                                                .formats = class_formats(b, weight),
                                                .sparse = b->s->common.sparse},
                                   .elements =
                                       matrices * experts * (double)m->hidden * (double)width,
                                   .tensors = matrices * experts,
                                   .channels = experts * outputs,
                                   .vectors = m->expert_bias ? experts * outputs : 0,
                                   .vector_format = class_formats(b, ROOF_WEIGHT_NORM).weights,
                                   .routed = true};
    add_node(b, &node);
}

/* Gate and up share a kernel; where their formats differ, the kernel has the wider one. */
static enum roof_weight gate_up_weight(struct builder *b)
{
    const enum roof_precision gate = class_formats(b, ROOF_WEIGHT_EXPERT_GATE).weights;
    const enum roof_precision up = class_formats(b, ROOF_WEIGHT_EXPERT_UP).weights;
    return wider(gate, up) == gate ? ROOF_WEIGHT_EXPERT_GATE : ROOF_WEIGHT_EXPERT_UP;
}

/* Adds all three matrices as one operator where their formats allow it. */
static void experts(struct builder *b)
{
    const int64_t width = b->model->expert_intermediate / b->s->moe_tp;
    const double up = 2 * (double)width;
    const double down = (double)b->model->hidden;
    const enum roof_weight first = gate_up_weight(b);
    const struct roof_formats first_formats = class_formats(b, first);
    const struct roof_formats down_formats = class_formats(b, ROOF_WEIGHT_EXPERT_DOWN);
    if (memcmp(&first_formats, &down_formats, sizeof down_formats) == 0) {
        experts_node(b, "experts", ROOF_OPERATOR_MOE, first, 3, up + down);
        return;
    }
    experts_node(b, "experts_gate_up", ROOF_OPERATOR_MOE_GATE_UP, first, 2, up);
    experts_node(b, "experts_down", ROOF_OPERATOR_MOE_DOWN, ROOF_WEIGHT_EXPERT_DOWN, 1, down);
}

/*
 * Returns how likely a token has work for a device, which has one of `ep` parts of the experts: at
 * least one of its top_k experts, which are drawn from all without repetition. A part has none of
 * them with probability C(E - E/ep, k) / C(E, k); one minus that is the sum over the draws that may
 * be the first to meet it, in which nothing cancels.
 */
static double met(const struct roof_model *m, int64_t ep)
{
    const int64_t share = m->experts / ep;
    const double here = (double)share;
    double none = 1;
    double some = 0;
    for (int64_t i = 0; i < m->top_k; i++) {
        const double left = (double)(m->experts - i);
        some += none * here / left;
        none *= fmax(0, left - here) / left;
    }
    return some;
}

/*
 * Adds what carries tokens between the groups of the attention and the experts. The tp devices of a
 * group have its tokens and share the sends: (attention_dp - 1) x `met` copies each, as many back.
 * An all-to-all sends (ep - 1) / ep of what it is given, rounded up but for noise.
 */
static void exchange(struct builder *b, bool before)
{
    const int64_t groups = b->s->attention_dp;
    const int64_t ep = b->s->moe_ep;
    const char *const name = before ? "dispatch" : "combine";
    const enum roof_precision sent =
        before ? class_formats(b, gate_up_weight(b)).activations : b->s->common.formats.out;
    const int64_t held = b->tokens * b->model->hidden;
    if (groups == 1) { /* each device has all tokens, and the sum over tp adds what it makes */
        return;
    }
    if (ep == 1) {
        collective_node(b, name, before ? ROOF_OPERATOR_ALL_GATHER : ROOF_OPERATOR_REDUCE_SCATTER,
                        sent, held * groups, groups, b->stage.within);
        return;
    }
    const double share = (double)(groups - 1) / (double)(ep - 1);
    const double given = (double)held * ((double)ep * met(b->model, ep)) * share;
    collective_node(b, name, ROOF_OPERATOR_ALL_TO_ALL, sent, (int64_t)ceil(given * (1 - 1e-14)), ep,
                    b->stage.within);
}

static void moe(struct builder *b)
{
    static const struct mlp_names shared = {
        "shared_gate_up_proj",
        "shared_gate_proj",
        "shared_up_proj",
        "shared_act",
        "shared_down_proj",
        {ROOF_WEIGHT_SHARED_GATE, ROOF_WEIGHT_SHARED_UP, ROOF_WEIGHT_SHARED_DOWN}};
    const struct roof_model *const m = b->model;
    product_node(b, "router", ROOF_WEIGHT_ROUTER, b->tokens, m->experts, m->hidden, m->router_bias);
    vector_node(b, "top_k", ROOF_OPERATOR_ROUTER,
                (struct roof_shape){.tokens = b->tokens, .experts = m->experts, .top_k = m->top_k},
                0);
    exchange(b, true);
    experts(b);
    exchange(b, false);
    if (m->shared_intermediate > 0) {
        mlp(b, &shared, m->shared_intermediate);
        vector_node(b, "shared_add", ROOF_OPERATOR_ADD,
                    (struct roof_shape){.tokens = b->tokens, .hidden = m->hidden},
                    m->shared_gate ? (double)m->hidden : 0);
    }
}

static void layers(struct builder *b)
{
    static const struct mlp_names dense = {
        "gate_up_proj", "gate_proj", "up_proj",
        "mlp_act",      "down_proj", {ROOF_WEIGHT_GATE, ROOF_WEIGHT_UP, ROOF_WEIGHT_DOWN}};
    const struct roof_model *const m = b->model;
    norm_node(b, "attn_norm", b->tokens, m->hidden);
    if (m->kv_lora_rank > 0) {
        mla(b);
    } else {
        gqa(b);
    }
    if (!m->parallel) { /* else both results are summed over the devices at once */
        tp_sum(b, "attn_all_reduce");
    }
    if (m->post_norms) {
        norm_node(b, "attn_post_norm", b->tokens, m->hidden);
    }
    residual(b, "attn_add");
    if (!m->parallel || m->own_norms) {
        norm_node(b, "mlp_norm", b->tokens, m->hidden);
    }
    if (b->layer->moe) {
        moe(b);
    } else {
        mlp(b, &dense, m->intermediate);
    }
    tp_sum(b, "mlp_all_reduce");
    if (m->post_norms) {
        norm_node(b, "mlp_post_norm", b->tokens, m->hidden);
    }
    residual(b, "mlp_add");
}

static void embedding_node(struct builder *b, const char *name, int64_t table_rows)
{
    const int64_t hidden = b->model->hidden;
    struct roof_formats f = class_formats(b, ROOF_WEIGHT_EMBEDDING);
    f.activations = f.out;
    f.compute = ROOF_PRECISION_AUTO;
    const struct roof_node node = {.name = name,
                                   .weight = ROOF_WEIGHT_EMBEDDING,
                                   .workload = {.op = ROOF_OPERATOR_EMBEDDING,
                                                .shape = {.tokens = b->tokens, .hidden = hidden},
                                                .formats = f},
                                   .elements = (double)table_rows * (double)hidden,
                                   .tensors = 1,
                                   .channels = (double)table_rows};
    add_node(b, &node);
}

static void token_embedding(struct builder *b)
{
    embedding_node(b, "embedding", divide_up(b->model->vocab, b->s->tp));
    tp_sum(b, "embedding_all_reduce");
}

static void first_stage(struct builder *b)
{
    const struct roof_model *const m = b->model;
    token_embedding(b);
    if (m->position_rows > 0) {
        embedding_node(b, "position", m->position_rows);
        residual(b, "position_add");
    }
}

static void last_stage(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t vocab = divide_up(m->vocab, b->s->tp);
    norm_node(b, "final_norm", b->rows, m->hidden);
    struct roof_node head =
        make_product(b, "lm_head", ROOF_WEIGHT_LM_HEAD, b->rows, vocab, m->hidden, m->head_bias);
    /* A tied head is a copy when it has another format, or lies on another device. */
    head.borrowed =
        m->tied && b->s->pp == 1 &&
        head.workload.formats.weights == class_formats(b, ROOF_WEIGHT_EMBEDDING).weights;
    add_node(b, &head);
    if (b->s->tp > 1) {
        collective_node(b, "logits_all_gather", ROOF_OPERATOR_ALL_GATHER, b->s->common.formats.out,
                        b->rows * m->vocab, b->s->tp, b->stage.tp_within);
    }
}

static void set_groups(struct builder *b)
{
    const struct roof_scenario *const s = b->s;
    const int64_t parts = roof_microbatches(s);
    const int64_t batch = divide_up(s->common.shape.batch, parts);
    const bool mixed = s->phase == ROOF_PHASE_MIXED;
    const int64_t query = roof_query_len(s);
    b->group[b->groups++] = (struct group){
        .attention = mixed ? "attention_decode" : "attention",
        .batch = divide_up(batch, s->attention_dp),
        .query_len = query,
        .kv_len = s->context + (s->phase == ROOF_PHASE_PREFILL ? 0 : s->draft_tokens),
        .expanded = s->phase == ROOF_PHASE_PREFILL};
    b->moe_tokens = batch * query;
    if (mixed) {
        const int64_t prefill = divide_up(s->prefill_batch, parts);
        b->group[b->groups++] = (struct group){.attention = "attention_prefill",
                                               .batch = divide_up(prefill, s->attention_dp),
                                               .query_len = s->chunk,
                                               .kv_len = s->prefill_context,
                                               .expanded = true};
        b->moe_tokens += prefill * s->chunk;
    }
    for (int i = 0; i < b->groups; i++) {
        b->tokens += b->group[i].batch * b->group[i].query_len;
    }
    /* The last token of each sequence; a draft is verified at each of its tokens. */
    b->rows = b->group[0].batch * (s->phase == ROOF_PHASE_PREFILL ? 1 : query) +
              (mixed ? b->group[1].batch : 0);
}

/* Returns the bytes of the cache of a layer for all sequences, not only those of one pass. */
static double cache_bytes(const struct builder *b, bool windowed)
{
    const struct roof_scenario *const s = b->s;
    double tokens = 0;
    for (int i = 0; i < b->groups; i++) {
        const int64_t sequences = i == 0 ? s->common.shape.batch : s->prefill_batch;
        const int64_t held = s->held > b->group[i].kv_len ? s->held : b->group[i].kv_len;
        const int64_t kept = windowed && b->model->window < held ? b->model->window : held;
        tokens += (double)divide_up(sequences, s->attention_dp) * (double)kept;
    }
    return roof_kv_bytes(b->model, s->common.formats.kv, b->kv_heads, tokens);
}

/* Adds the send of the hidden states to the next stage. */
static void send_node(struct builder *b)
{
    collective_node(b, "send", ROOF_OPERATOR_SEND, b->s->common.formats.out,
                    b->tokens * b->model->hidden, 0, b->stage.send_within);
}

enum roof_status roof_graph_full(const struct roof_model *model, struct roof_error *error)
{
    return roof_error_set(error, ROOF_USAGE,
                          "the layers of %s differ in too many ways: more than %d operators",
                          model->id, ROOF_GRAPH_MAX);
}

/* Returns a builder of an empty graph. */
static struct builder begin(struct roof_graph *out, const struct roof_model *model,
                            const struct roof_scenario *scenario, int64_t stage, int64_t node_size)
{
    struct builder b = {.graph = out, .model = model, .s = scenario};
    out->count = 0;
    out->kv_bytes = 0;
    set_groups(&b);
    b.stage = roof_stage_of(scenario, model->layers, stage, node_size);
    b.kv_heads = model->kv_heads >= scenario->tp ? model->kv_heads / scenario->tp : 1;
    out->residual_bytes =
        roof_tensor_bytes(scenario->common.formats.out, (double)b.tokens * (double)model->hidden, 1,
                          (double)b.tokens);
    return b;
}

enum roof_status roof_graph_build(struct roof_graph *out, const struct roof_model *model,
                                  const struct roof_scenario *scenario, int64_t stage,
                                  int64_t node_size, struct roof_error *error)
{
    struct builder b = begin(out, model, scenario, stage, node_size);
    if (stage == 0) {
        first_stage(&b);
    }
    for (int64_t c = 0; c < model->layer_classes; c++) {
        set_layer(&b, &model->layer[c]);
        b.count = 0;
        for (int64_t i = b.stage.begin; i < b.stage.end; i++) {
            b.count += model->layer_class[i] == c;
        }
        if (b.count > 0) {
            layers(&b);
            out->kv_bytes += (double)b.count * cache_bytes(&b, b.layer->windowed);
        }
    }
    set_layer(&b, NULL);
    if (stage + 1 == scenario->pp) {
        last_stage(&b);
    } else {
        send_node(&b);
    }
    return b.full ? roof_graph_full(model, error) : ROOF_OK;
}

/*
 * A module joins the embedding of the token that was chosen last to the hidden states that it was
 * chosen from, each with a norm of its own, by a product of 2 hidden x hidden, and has one layer
 * behind that: DeepSeek-V3, arXiv 2412.19437, section 2.2. Embedding and head are the model's.
 */
enum roof_status roof_graph_predictor(struct roof_graph *out, const struct roof_model *model,
                                      const struct roof_scenario *scenario, int64_t node_size,
                                      struct roof_error *error)
{
    struct builder b = begin(out, model, scenario, scenario->pp - 1, node_size);
    const int64_t hidden = model->hidden;
    token_embedding(&b);
    out->node[0].borrowed = scenario->pp == 1; /* else it is on another device, and here a copy */
    norm_node(&b, "embedding_norm", b.tokens, hidden);
    norm_node(&b, "hidden_norm", b.tokens, hidden);
    product_node(&b, "join_proj", ROOF_WEIGHT_LM_HEAD, b.tokens, hidden, 2 * hidden, false);
    set_layer(&b, &model->layer[model->layer_class[model->layers - 1]]);
    b.count = 1;
    layers(&b);
    out->kv_bytes = cache_bytes(&b, b.layer->windowed);
    set_layer(&b, NULL);
    last_stage(&b);
    out->node[out->count - (scenario->tp > 1 ? 2 : 1)].borrowed = true; /* the head */
    return b.full ? roof_graph_full(model, error) : ROOF_OK;
}
