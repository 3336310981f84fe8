// SPDX-License-Identifier: MIT
/* Dense and routed MLPs. */
#include "model/graph_parts.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

void roof_graph_mlp(struct builder *b, const struct mlp_names *names, int64_t intermediate)
{
    const struct roof_model *const m = b->model;
    const int64_t width = intermediate / b->s->tp;
    const struct roof_reads input = b->from;
    struct roof_reads gate = {.count = 0};
    if (m->gated && roof_graph_fuses(b, names->weight[0], names->weight[1])) {
        roof_graph_product(b, names->both, names->weight[0], b->tokens, 2 * width, m->hidden,
                           m->mlp_bias);
    } else {
        if (m->gated) {
            roof_graph_product(b, names->gate, names->weight[0], b->tokens, width, m->hidden,
                               m->mlp_bias);
            gate = b->from;
            b->from = input;
        }
        roof_graph_product(b, names->up, names->weight[1], b->tokens, width, m->hidden,
                           m->mlp_bias);
        roof_reads_join(&b->from, &gate);
    }
    roof_graph_vector(b, names->activation, m->gated ? ROOF_OPERATOR_SILU_MUL : ROOF_OPERATOR_GELU,
                      (struct roof_shape){.tokens = b->tokens, .hidden = width}, 0);
    roof_graph_quantize(b, "down_quantize", b->tokens, width, &names->weight[2], 1);
    roof_graph_product(b, names->down, names->weight[2], b->tokens, m->hidden, width, m->mlp_bias);
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
    struct roof_node node = {.name = name,
                             .weight = weight,
                             .workload = {.op = op,
                                          .shape = {.tokens = b->moe_tokens,
                                                    .hidden = roof_expert_hidden(m),
                                                    .intermediate = width,
                                                    .experts = m->experts,
                                                    .top_k = m->top_k,
                                                    .routing = b->s->common.shape.routing,
                                                    .ep = ep,
                                                    .bias = m->expert_bias},
                                          .formats = roof_graph_formats(b, weight),
                                          .sparse = roof_graph_sparse(b, weight)},
                             .elements =
                                 matrices * experts * (double)roof_expert_hidden(m) * (double)width,
                             .tensors = matrices * experts,
                             .channels = experts * outputs,
                             .vectors = m->expert_bias ? experts * outputs : 0,
                             .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights,
                             .routed = true};
    roof_graph_add(b, &node);
}

/* Gate and up share a kernel; if their formats differ, the kernel has the wider one. */
static enum roof_weight gate_up_weight(struct builder *b)
{
    if (!b->model->gated) {
        return ROOF_WEIGHT_EXPERT_UP;
    }
    const enum roof_precision gate = roof_graph_formats(b, ROOF_WEIGHT_EXPERT_GATE).weights;
    const enum roof_precision up = roof_graph_formats(b, ROOF_WEIGHT_EXPERT_UP).weights;
    return roof_graph_wider(gate, up) == gate ? ROOF_WEIGHT_EXPERT_GATE : ROOF_WEIGHT_EXPERT_UP;
}

/* Adds all matrices as one operator if their formats are equal enough. */
static void experts(struct builder *b)
{
    const bool gated = b->model->gated;
    const double inputs = gated ? 2 : 1; /* matrices before the activation */
    const int64_t width = b->model->expert_intermediate / b->s->moe_tp;
    const double up = inputs * (double)width;
    const double down = (double)roof_expert_hidden(b->model);
    const enum roof_weight first = gate_up_weight(b);
    const struct roof_formats first_formats = roof_graph_formats(b, first);
    const struct roof_formats down_formats = roof_graph_formats(b, ROOF_WEIGHT_EXPERT_DOWN);
    if (memcmp(&first_formats, &down_formats, sizeof down_formats) == 0) {
        experts_node(b, "experts", gated ? ROOF_OPERATOR_MOE : ROOF_OPERATOR_MOE_UNGATED, first,
                     inputs + 1, up + down);
        return;
    }
    experts_node(b, gated ? "experts_gate_up" : "experts_up",
                 gated ? ROOF_OPERATOR_MOE_GATE_UP : ROOF_OPERATOR_MOE_UP, first, inputs, up);
    experts_node(b, "experts_down", ROOF_OPERATOR_MOE_DOWN, ROOF_WEIGHT_EXPERT_DOWN, 1, down);
}

/*
 * Returns the probability that k experts, which are drawn from `from` without repetition, include
 * one of `here`. They include none with probability C(from - here, k) / C(from, k). To avoid
 * cancellation, one minus that is computed as the sum over the draws that may be the first to hit.
 */
static double meets(int64_t from, int64_t here, int64_t k)
{
    double none = 1;
    double some = 0;
    for (int64_t i = 0; i < k; i++) {
        const double left = (double)(from - i);
        some += none * (double)here / left;
        none *= fmax(0, left - (double)here) / left;
    }
    return some;
}

/* Returns C(n, k). */
static double choose(int64_t n, int64_t k)
{
    double ways = k >= 0 && k <= n ? 1 : 0;
    for (int64_t i = 0; i < k && ways > 0; i++) {
        ways = ways * (double)(n - i) / (double)(i + 1);
    }
    return ways;
}

/* Returns the number of experts that a token chooses, including those that compute nothing. */
static int64_t chosen_experts(const struct roof_model *m)
{
    return m->top_k * (m->experts + m->zero_experts) / m->experts;
}

/*
 * Returns the probability that a token has work for a device with one of `ep` parts of the experts:
 * at least one of its top_k experts. If a token first chooses `few` of the groups of experts, a
 * part inside a group has work if the group and an expert of the part are chosen; a part of several
 * groups has j chosen groups with hypergeometric probability. Parts that cut groups in other ways
 * count as without groups.
 */
static double met(const struct roof_model *m, int64_t ep)
{
    const int64_t groups = m->expert_groups;
    const int64_t few = m->group_topk;
    const int64_t share = m->experts / ep;
    double some = 0;
    if (groups == 0 || (ep % groups != 0 && groups % ep != 0)) {
        return meets(m->experts + m->zero_experts, share, chosen_experts(m));
    }
    const int64_t group = m->experts / groups;
    if (ep % groups == 0) {
        return (double)few / (double)groups * meets(few * group, share, m->top_k);
    }
    const int64_t own = groups / ep; /* groups of a part */
    for (int64_t j = 1; j <= own && j <= few; j++) {
        some += choose(own, j) * choose(groups - own, few - j) / choose(groups, few) *
                meets(few * group, j * group, m->top_k);
    }
    return some;
}

/*
 * Adds the collectives that carry tokens between the groups of the attention and the experts. The
 * tp devices of a group have its tokens and share the sends: (attention_dp - 1) x `met` copies
 * each, and as many back. An all-to-all sends (ep - 1) / ep of its size, so its size is larger; it
 * is rounded up, except for floating-point noise.
 */
static void exchange(struct builder *b, bool before)
{
    const int64_t groups = b->s->attention_dp;
    const int64_t ep = b->s->moe_ep;
    const char *const name = before ? "dispatch" : "combine";
    const enum roof_precision sent =
        before ? roof_graph_formats(b, gate_up_weight(b)).activations : b->s->common.formats.out;
    const int64_t held = b->tokens * roof_expert_hidden(b->model);
    if (groups == 1) { /* each device has all tokens, and the sum over tp adds its results */
        return;
    }
    if (ep == 1) {
        roof_graph_collective(b, name,
                              before ? ROOF_OPERATOR_ALL_GATHER : ROOF_OPERATOR_REDUCE_SCATTER,
                              sent, held * groups, groups, b->stage.within);
        return;
    }
    const double share = (double)(groups - 1) / (double)(ep - 1);
    const double given = (double)held * ((double)ep * met(b->model, ep)) * share;
    roof_graph_collective(b, name, ROOF_OPERATOR_ALL_TO_ALL, sent,
                          (int64_t)ceil(given * (1 - 1e-14)), ep, b->stage.within);
}

/*
 * Adds a projection into the latent that routed experts work on, or out of it. Every device has it
 * whole, as in engines. After the experts it multiplies the device's part of the sum, or the whole
 * sum if that has a norm.
 */
static void latent_product(struct builder *b, bool in)
{
    static const enum roof_weight weight[] = {ROOF_WEIGHT_LATENT_OUT, ROOF_WEIGHT_LATENT_IN};
    const struct roof_model *const m = b->model;
    if (m->latent_norm && !in) { /* it needs the sum over all devices */
        if (b->s->tp > 1) {
            roof_graph_collective(b, "latent_all_reduce", ROOF_OPERATOR_ALL_REDUCE,
                                  b->s->common.formats.out, b->tokens * m->expert_latent, b->s->tp,
                                  b->stage.tp_within);
        }
        roof_graph_norm(b, "latent_norm", b->tokens, m->expert_latent);
    }
    if (m->expert_latent > 0) {
        const int64_t from = in ? m->hidden : m->expert_latent;
        const int64_t to = in ? m->expert_latent : m->hidden;
        roof_graph_quantize(b, in ? "latent_in_quantize" : "latent_out_quantize", b->tokens, from,
                            &weight[in], 1);
        roof_graph_product(b, in ? "latent_in_proj" : "latent_out_proj", weight[in], b->tokens, to,
                           from, m->mlp_bias);
    }
}

void roof_graph_moe(struct builder *b, const struct roof_reads *router)
{
    static const struct mlp_names shared = {
        "shared_gate_up_proj",
        "shared_gate_proj",
        "shared_up_proj",
        "shared_act",
        "shared_down_proj",
        {ROOF_WEIGHT_SHARED_GATE, ROOF_WEIGHT_SHARED_UP, ROOF_WEIGHT_SHARED_DOWN}};
    const struct roof_model *const m = b->model;
    const struct roof_reads input = b->from;
    b->from = router == NULL ? input : *router;
    const int64_t all = m->experts + m->zero_experts;
    roof_graph_product(b, "router", ROOF_WEIGHT_ROUTER, b->tokens, all, m->hidden, m->router_bias);
    roof_graph_vector(
        b, "top_k", ROOF_OPERATOR_ROUTER,
        (struct roof_shape){.tokens = b->tokens, .experts = all, .top_k = chosen_experts(m)}, 0);
    const struct roof_reads chosen = b->from;
    b->from = input;
    latent_product(b, true);
    const struct roof_reads tokens = b->from;
    b->from = chosen;
    roof_reads_join(&b->from, &tokens);
    exchange(b, true);
    experts(b);
    exchange(b, false);
    latent_product(b, false);
    if (m->shared_intermediate > 0) {
        const struct roof_reads routed = b->from;
        b->from = input;
        roof_graph_quantize(b, "shared_quantize", b->tokens, m->hidden,
                            &shared.weight[m->gated ? 0 : 1], m->gated ? 2 : 1);
        roof_graph_mlp(b, &shared, m->shared_intermediate);
        roof_reads_join(&b->from, &routed);
        roof_graph_vector(b, "shared_add", ROOF_OPERATOR_ADD,
                          (struct roof_shape){.tokens = b->tokens, .hidden = m->hidden},
                          m->shared_gate ? (double)m->hidden : 0);
    }
}
