// SPDX-License-Identifier: MIT
/* The costs of the operators of a stage: predicted, or remembered from another pass. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "operator/resolve.h"
#include "predict/costed.h"
#include "predict/kernel.h"

/* Returns the bytes of a part of an operator, without weights and cache. */
static double part_live_bytes(enum roof_operator op, const struct roof_work *work)
{
    const bool expanded = op == ROOF_OPERATOR_MLA_PREFILL; /* K and V are temporary */
    return work->bytes[ROOF_ROLE_ACTIVATIONS] + work->bytes[ROOF_ROLE_OUT] +
           (expanded ? work->bytes[ROOF_ROLE_KV] : 0);
}

/* Returns the bytes of an operator, or of its largest part, without weights and cache. */
static double live_bytes(const struct roof_prediction *p)
{
    double live = 0;
    for (int i = 0; i < p->part_count; i++) {
        live = fmax(live, part_live_bytes(p->part[i].op, &p->part[i].work));
    }
    return live;
}

enum roof_status roof_node_live_bytes(double *out, const struct roof_node *node,
                                      struct roof_error *error)
{
    struct roof_workload whole = node->workload;
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    struct roof_work work;
    TRY(roof_sizes_resolve(&whole, error));
    if (roof_operator_row(whole.op)->part_count == 0) {
        roof_operator_work(&work, &whole, NULL);
        *out = part_live_bytes(whole.op, &work);
        return ROOF_OK;
    }
    const int count = roof_workload_parts(parts, &whole);
    *out = 0;
    for (int i = 0; i < count; i++) {
        roof_operator_work(&work, &parts[i], NULL);
        *out = fmax(*out, part_live_bytes(parts[i].op, &work));
    }
    return ROOF_OK;
}

bool roof_runs_as_stored(const struct roof_prediction *p)
{
    const enum roof_role other = roof_operator_row(p->workload.op)->other;
    const enum roof_precision stored = roof_role_format(&p->workload.formats, other);
    return !roof_is_product(p->workload.op) || p->compute == roof_format(stored)->unit;
}

/* Tells whether a product runs at another format than its own, for lack of a unit. Vector operators
 * without a peak have nothing to fall back from. */
static bool falls_back(const struct roof_prediction *prediction)
{
    return roof_is_product(prediction->workload.op) &&
           !prediction->hardware->compute[prediction->wanted].native;
}

static struct roof_node_cost cost_of(const struct roof_prediction *p)
{
    const enum roof_operator op = p->workload.op;
    const bool appends = op == ROOF_OPERATOR_KV_APPEND || op == ROOF_OPERATOR_ROPE_APPEND;
    return (struct roof_node_cost){.time_s = p->time_s,
                                   .live_bytes = live_bytes(p),
                                   .weights_bytes = p->role_bytes[ROOF_ROLE_WEIGHTS],
                                   .kv_bytes = appends ? 0 : p->role_bytes[ROOF_ROLE_KV],
                                   .bottleneck = p->bottleneck,
                                   .native = p->native,
                                   .fallbacks = falls_back(p) ? UINT64_C(1) << p->wanted : 0,
                                   .as_stored = roof_runs_as_stored(p)};
}

static struct roof_expected_sum expected_of(const struct roof_prediction *p)
{
    return (struct roof_expected_sum){.time_s = p->expected_s,
                                      .low_s = p->expected_low_s,
                                      .high_s = p->expected_high_s,
                                      .bottleneck = p->expected_bottleneck,
                                      .near = p->expected_near};
}

static bool same_part(const struct roof_step_part *a, const struct roof_step_part *b)
{
    return a->beside_prompts == b->beside_prompts && a->longest == b->longest &&
           a->chosen == b->chosen;
}

static bool same_node(const struct roof_node *a, const struct roof_node *b)
{
    return strcmp(a->name, b->name) == 0 && same_part(&a->part, &b->part) &&
           roof_same_workload(&a->workload, &b->workload);
}

/* Finds the node of an earlier stage that is equal, or adds a new one with its prediction. */
static enum roof_status find_node(size_t *found, struct roof_model_prediction *out,
                                  const struct roof_node *node,
                                  const struct roof_hardware *hardware, struct roof_error *error)
{
    for (size_t i = 0; i < out->count && out->scenario.pp > 1; i++) {
        if (same_node(&out->node[i].node, node)) {
            roof_reads_join(&out->node[i].node.reads, &node->reads);
            *found = i;
            return ROOF_OK;
        }
    }
    if (out->count == ROOF_GRAPH_MAX) {
        return roof_graph_full(out->model, error);
    }
    *found = out->count++;
    struct roof_node_prediction *const added = &out->node[*found];
    added->node = *node;
    added->node.count = 0;
    added->device_count = 0;
    return roof_predict_node(&added->prediction, node, hardware, error);
}

/* --- costs that are remembered --------------------------------------------------------------- */

/* Returns the formats on which costs depend: a product with weights does not depend on the format
 * of the cache, and attention not on that of the weights. */
static struct roof_formats plain_formats(const struct roof_workload *w,
                                         const struct roof_operator_row *row)
{
    struct roof_formats plain = w->formats;
    if (row->other == ROOF_ROLE_KV || row->kind == ROOF_KIND_COLLECTIVE) {
        plain.weights = plain.activations;
    }
    if (row->other != ROOF_ROLE_KV && !row->stateful) {
        plain.kv = plain.out;
    }
    return plain;
}

/* Mixes the sizes and formats of a workload into a number. */
static uint64_t hash_of(const struct roof_workload *w, const struct roof_operator_row *row,
                        const struct roof_formats *formats)
{
    const int64_t *const sizes = roof_sizes(&w->shape);
    uint64_t hash = (uint64_t)w->op * 4 + (uint64_t)w->tokens;
    for (int i = 0; i < row->dim_count; i++) {
        hash = (hash << 7 | hash >> 57) + (uint64_t)sizes[row->dims[i]];
    }
    hash = hash * 64 + (uint64_t)formats->weights;
    hash = hash * 64 + (uint64_t)formats->activations;
    hash = (hash * 64 + (uint64_t)formats->kv) * 0x9e3779b97f4a7c15U;
    return hash >> 32;
}

/* Tells whether a cost in the memo belongs to an operator. */
static bool is_cost_of(const struct roof_remembered *at, const struct roof_node *node,
                       const struct roof_formats *formats)
{
    const struct roof_workload *const known = &at->workload;
    const struct roof_workload *const w = &node->workload;
    return same_part(&at->part, &node->part) && known->op == w->op && known->tokens == w->tokens &&
           known->sparse == w->sparse && memcmp(&known->shape, &w->shape, sizeof w->shape) == 0 &&
           memcmp(&known->formats, formats, sizeof *formats) == 0;
}

/* Fills in the missing stacks of a cost in the memo, given as bits. */
static enum roof_status remember(struct roof_remembered *at, const struct roof_node *node,
                                 const struct roof_hardware *device, unsigned missing,
                                 struct roof_error *error)
{
    struct roof_stacks stacks = {.count = 0};
    struct roof_prediction prediction;
    struct roof_expected_sum expected[ROOF_STACK_COUNT];
    for (int i = 0; missing >> i != 0; i++) {
        if ((missing >> i & 1U) != 0) {
            stacks.stack[stacks.count++] = (enum roof_stack)i;
        }
    }
    TRY(roof_predict_node_in(&prediction, expected, node, device, &stacks, error));
    at->cost = cost_of(&prediction);
    for (size_t i = 0; i < stacks.count; i++) {
        at->expected[stacks.stack[i]] = expected[i];
    }
    at->stacks |= missing;
    return ROOF_OK;
}

/* Finds the cost of an operator in the memo, or predicts it and puts it there. */
static enum roof_status recall(struct roof_remembered **out, const struct roof_node *node,
                               const struct roof_hardware *hardware, struct roof_pass_memo *memo,
                               unsigned stacks, struct roof_error *error)
{
    const struct roof_workload *const w = &node->workload;
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    const struct roof_formats formats = plain_formats(w, row);
    struct roof_remembered *const at = &memo->entry[hash_of(w, row, &formats) % memo->size];
    const struct roof_hardware *const device = hardware;
    hardware = node->upload.share > 0 ? device : roof_node_hardware(node, hardware);
    if (at->hardware != hardware || at->host != node->host || at->kernels != node->host_kernels ||
        !is_cost_of(at, node, &formats)) {
        at->stacks = 0;
        at->host = node->host;
        at->kernels = node->host_kernels;
        at->workload = *w;
        at->part = node->part;
        at->workload.formats = formats;
        at->hardware = hardware;
    }
    if ((stacks & ~at->stacks) != 0) {
        const enum roof_status status = remember(at, node, device, stacks & ~at->stacks, error);
        if (status != ROOF_OK) {
            at->hardware = NULL;
            return status;
        }
    }
    *out = at;
    return ROOF_OK;
}

double roof_node_kernels(const struct roof_node *node)
{
    const int parts = roof_operator_row(node->workload.op)->part_count;
    return parts > 0 ? parts : 1;
}

double roof_early_rest(const struct roof_node *node, const struct roof_node_cost *cost,
                       double time_s, double overlap_s)
{
    const double least_s = fmin(cost->time_s, time_s);
    const double rest_s = time_s - roof_node_kernels(node) * overlap_s;
    return time_s > 0 ? fmax(rest_s, least_s) / time_s : 1;
}

/* Returns the stacks whose kernels may start early in the fastest stack; none if that is not asked
 * for. */
static struct roof_stacks find_early(const struct roof_scenario *s,
                                     const struct roof_cost_source *from)
{
    struct roof_stacks early = {.count = 0};
    bool best = from->memo == NULL && s->common.stack == ROOF_STACK_BEST;
    for (size_t n = 0; from->memo != NULL && n < from->stacks->count; n++) {
        best = best || from->stacks->stack[n] == ROOF_STACK_BEST;
    }
    for (int i = ROOF_STACK_BEST + 1; i < ROOF_STACK_COUNT; i++) {
        if (best && s->early_s[i] > 0 && roof_overlaps_kernels(from->hardware)) {
            early.stack[early.count++] = (enum roof_stack)i;
        }
    }
    return early;
}

/* Gives the fastest stack the kernel that begins early if it is faster then. expected is by stack.
 */
static void hasten(struct roof_expected_sum *best, const struct roof_node *node,
                   const struct roof_node_cost *cost, const struct roof_stacks *early,
                   const double *early_s, const struct roof_expected_sum *expected)
{
    for (size_t i = 0; i < early->count; i++) {
        const enum roof_stack stack = early->stack[i];
        const struct roof_expected_sum *const e = &expected[stack];
        const double rest = roof_early_rest(node, cost, e->time_s, early_s[stack]);
        if (rest * e->time_s < best->time_s) {
            *best = *e;
            best->time_s *= rest;
            best->low_s *= rest;
            best->high_s *= rest;
        }
    }
}

/* Predicts an operator of a stage with the kernels that start early, for the fastest stack, and
 * gives it their time where that is shorter. */
static enum roof_status start_early(struct roof_prediction *out, const struct roof_node *node,
                                    const struct roof_node_cost *cost,
                                    const struct roof_stacks *early, const double *early_s,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_prediction bound;
    struct roof_expected_sum best = expected_of(out);
    struct roof_expected_sum in_order[ROOF_STACK_COUNT];
    struct roof_expected_sum expected[ROOF_STACK_COUNT];
    TRY(roof_predict_node_in(&bound, in_order, node, hardware, early, error));
    for (size_t n = 0; n < early->count; n++) {
        expected[early->stack[n]] = in_order[n];
    }
    hasten(&best, node, cost, early, early_s, expected);
    roof_take_expected_sum(out, &best);
    return ROOF_OK;
}

/* Predicts operator number i of a stage, and keeps it if operators are kept. */
static enum roof_status predict_costs(struct roof_costed *stage, size_t i,
                                      const struct roof_scenario *s,
                                      const struct roof_cost_source *from,
                                      const struct roof_stacks *early, struct roof_error *error)
{
    const struct roof_node *const node = &stage->graph.node[i];
    struct roof_model_prediction *const kept = from->kept;
    struct roof_prediction alone;
    struct roof_prediction *prediction = &alone;
    if (kept == NULL) {
        TRY(roof_predict_node(&alone, node, from->hardware, error));
    } else {
        TRY(find_node(&stage->index[i], kept, node, from->hardware, error));
        kept->node[stage->index[i]].node.count += node->count;
        prediction = &kept->node[stage->index[i]].prediction;
    }
    stage->cost[i] = cost_of(prediction);
    if (early->count > 0) {
        TRY(start_early(prediction, node, &stage->cost[i], early, s->early_s, from->hardware,
                        error));
    }
    stage->expected[0][i] = expected_of(prediction);
    return ROOF_OK;
}

/* Finds the costs of operator number i of a stage in the memo. */
static enum roof_status recall_costs(struct roof_costed *stage, size_t i,
                                     const struct roof_scenario *s,
                                     const struct roof_cost_source *from, unsigned stacks,
                                     const struct roof_stacks *early, struct roof_error *error)
{
    struct roof_remembered *at = NULL;
    TRY(recall(&at, &stage->graph.node[i], from->hardware, from->memo, stacks, error));
    stage->cost[i] = at->cost;
    for (size_t n = 0; n < stage->stacks; n++) {
        const enum roof_stack stack = from->stacks->stack[n];
        stage->expected[n][i] = at->expected[stack];
        if (stack == ROOF_STACK_BEST) {
            hasten(&stage->expected[n][i], &stage->graph.node[i], &at->cost, early, s->early_s,
                   at->expected);
        }
    }
    return ROOF_OK;
}

enum roof_status roof_stage_costs(struct roof_costed *stage, const struct roof_scenario *s,
                                  const struct roof_cost_source *from, struct roof_error *error)
{
    const struct roof_stacks early = find_early(s, from);
    unsigned stacks = 0;
    for (size_t i = 0; i < early.count; i++) {
        stacks |= 1U << early.stack[i];
    }
    stage->stacks = from->memo == NULL ? 1 : from->stacks->count;
    for (size_t n = 0; n < stage->stacks && from->memo != NULL; n++) {
        stacks |= 1U << from->stacks->stack[n];
    }
    for (size_t i = 0; i < stage->graph.count; i++) {
        TRY(from->memo == NULL ? predict_costs(stage, i, s, from, &early, error)
                               : recall_costs(stage, i, s, from, stacks, &early, error));
    }
    return ROOF_OK;
}
