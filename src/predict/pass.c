// SPDX-License-Identifier: MIT
/* Passes: one run of a microbatch through all pipeline stages, and the steps made of passes. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/stage.h"
#include "operator/resolve.h"
#include "predict/kernel.h"
#include "predict/pass.h"

static struct roof_places places_on(const struct roof_hardware *hardware)
{
    const double node = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    const double bridge = hardware->figure[ROOF_FIGURE_BRIDGE_DEVICES].value;
    return (struct roof_places){.bridge = isnan(bridge) ? 0 : (int64_t)bridge,
                                .node = isnan(node) ? 0 : (int64_t)node};
}

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

/* Finds the live bytes of an operator that is not predicted. A graph has resolved formats. */
static enum roof_status find_live_bytes(double *out, const struct roof_node *node,
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

/* Tells whether a product multiplies in its stored format, on a unit for it; true for operators
 * that are not products. */
static bool runs_as_stored(const struct roof_prediction *p)
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
                                   .as_stored = runs_as_stored(p)};
}

static struct roof_expected_sum expected_of(const struct roof_prediction *p)
{
    return (struct roof_expected_sum){.time_s = p->expected_s,
                                      .low_s = p->expected_low_s,
                                      .high_s = p->expected_high_s,
                                      .bottleneck = p->expected_bottleneck,
                                      .near = p->expected_near};
}

/* The time and the memory that one stage needs. */
struct stage {
    double time_s;
    double weights_bytes;
    double live_bytes;
    double host_weights_bytes;
    double host_live_bytes;
};

static void add_weights(struct stage *stage, const struct roof_node *node, double live_bytes)
{
    const bool host = node->host != NULL;
    double *const live = host ? &stage->host_live_bytes : &stage->live_bytes;
    *(host ? &stage->host_weights_bytes : &stage->weights_bytes) += roof_node_bytes(node);
    *live = fmax(*live, live_bytes);
}

/* Adds the weights that are resident, and that the pass does not run. */
static void add_idle(struct stage *stage, const struct roof_graph *graph)
{
    stage->weights_bytes += graph->idle_bytes;
    stage->host_weights_bytes += graph->idle_host_bytes;
}

static void add_to_stage(struct stage *stage, struct roof_pass *pass, const struct roof_node *node,
                         const struct roof_node_cost *c)
{
    const double count = (double)node->count;
    stage->time_s += count * c->time_s;
    add_weights(stage, node, c->live_bytes);
    pass->share_s[c->bottleneck] += count * c->time_s;
    pass->weights_read_bytes += count * c->weights_bytes;
    pass->kv_read_bytes += count * c->kv_bytes;
    if (node->host != NULL) { /* it does not depend on the units of the device */
        pass->offloaded_s += count * c->time_s;
        return;
    }
    pass->native = pass->native && c->native;
    pass->fallbacks |= c->fallbacks;
    pass->as_stored = pass->as_stored && c->as_stored;
}

/* Adds the time of a stage; an unknown one makes both times unknown. */
static void add_times(struct roof_pass_times *times, double stage_s)
{
    times->path_s += stage_s;
    times->slowest_s = isnan(stage_s) || stage_s > times->slowest_s ? stage_s : times->slowest_s;
}

static void end_stage(struct roof_pass *pass, const struct stage *stage,
                      const struct roof_graph *graph)
{
    const double activations = graph->residual_bytes + stage->live_bytes;
    add_times(&pass->bound, stage->time_s);
    pass->host_weights_bytes += stage->host_weights_bytes; /* there is one stage then */
    pass->host_kv_bytes += graph->host_kv_bytes;
    pass->host_live_bytes += stage->host_live_bytes;
    if (stage->weights_bytes + graph->kv_bytes + activations >
        pass->weights_bytes + pass->kv_bytes + pass->activation_bytes) {
        pass->weights_bytes = stage->weights_bytes;
        pass->kv_bytes = graph->kv_bytes;
        pass->state_bytes = graph->state_bytes;
        pass->activation_bytes = activations;
    }
}

static bool same_part(const struct roof_step_part *a, const struct roof_step_part *b)
{
    return a->beside_prompts == b->beside_prompts && a->longest == b->longest &&
           a->prompt == b->prompt;
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

/* Counts the runs of each operator on the device of a stage, which is the slowest so far. */
static void count_for_device(struct roof_model_prediction *kept, const struct roof_graph *graph,
                             const size_t *index)
{
    for (size_t i = 0; i < kept->count; i++) {
        kept->node[i].device_count = 0;
    }
    for (size_t i = 0; i < graph->count; i++) {
        kept->node[index[i]].device_count += graph->node[i].count;
    }
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
    uint64_t hash = (uint64_t)w->op;
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
    return same_part(&at->part, &node->part) && known->op == w->op && known->sparse == w->sparse &&
           memcmp(&known->shape, &w->shape, sizeof w->shape) == 0 &&
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

/* --- passes -------------------------------------------------------------------------------- */

/* The source of the costs of the operators of a pass, and the place where the operators go. */
struct source {
    const struct roof_hardware *hardware;
    struct roof_model_prediction *kept; /* receives the operators; NULL: no operators are kept */
    struct roof_pass_memo *memo;        /* NULL: none */
    const struct roof_stacks *stacks;   /* with a memo; without one, the nodes have the only stack
                                         */
};

/* A stage with the costs of its operators. */
struct costed {
    struct roof_graph graph;
    struct roof_node_cost cost[ROOF_GRAPH_MAX];
    size_t stacks;
    struct roof_expected_sum expected[ROOF_STACK_COUNT][ROOF_GRAPH_MAX];
    size_t index[ROOF_GRAPH_MAX]; /* index of each operator among those that are kept */
};

/* Predicts operator number i of a stage, and keeps it if operators are kept. */
static enum roof_status predict_costs(struct costed *stage, size_t i, const struct source *from,
                                      struct roof_error *error)
{
    const struct roof_node *const node = &stage->graph.node[i];
    struct roof_model_prediction *const kept = from->kept;
    struct roof_prediction alone;
    const struct roof_prediction *prediction = &alone;
    if (kept == NULL) {
        TRY(roof_predict_node(&alone, node, from->hardware, error));
    } else {
        TRY(find_node(&stage->index[i], kept, node, from->hardware, error));
        kept->node[stage->index[i]].node.count += node->count;
        prediction = &kept->node[stage->index[i]].prediction;
    }
    stage->cost[i] = cost_of(prediction);
    stage->expected[0][i] = expected_of(prediction);
    return ROOF_OK;
}

/* Finds the costs of operator number i of a stage in the memo. */
static enum roof_status recall_costs(struct costed *stage, size_t i, const struct source *from,
                                     unsigned stacks, struct roof_error *error)
{
    struct roof_remembered *at = NULL;
    TRY(recall(&at, &stage->graph.node[i], from->hardware, from->memo, stacks, error));
    stage->cost[i] = at->cost;
    for (size_t n = 0; n < stage->stacks; n++) {
        stage->expected[n][i] = at->expected[from->stacks->stack[n]];
    }
    return ROOF_OK;
}

/* Finds the costs of the operators of a stage. */
static enum roof_status find_costs(struct costed *stage, const struct source *from,
                                   struct roof_error *error)
{
    unsigned stacks = 0;
    stage->stacks = from->memo == NULL ? 1 : from->stacks->count;
    for (size_t n = 0; n < stage->stacks && from->memo != NULL; n++) {
        stacks |= 1U << from->stacks->stack[n];
    }
    for (size_t i = 0; i < stage->graph.count; i++) {
        TRY(from->memo == NULL ? predict_costs(stage, i, from, error)
                               : recall_costs(stage, i, from, stacks, error));
    }
    return ROOF_OK;
}

/* Holds how an engine changes the expected time of a stage. */
struct engine_part {
    double alone_s;   /* time of the host while no kernel runs */
    double launches;  /* kernels that the host launches while others run */
    double launch_s;  /* the time of each, whose sum the stage takes at least; 0: none */
    double overlap_s; /* time by which each kernel begins before the previous one ends */
};

/* Returns how many kernels one instance of an operator launches. */
static double kernels_of(const struct roof_node *node)
{
    const int parts = roof_operator_row(node->workload.op)->part_count;
    return parts > 0 ? parts : 1;
}

/* Returns the expected time of an operator whose kernels begin before the previous ones end; it is
 * at least its bound. */
static double rest_of(const struct costed *stage, size_t stack, size_t i, double overlap_s)
{
    const double time_s = stage->expected[stack][i].time_s;
    const double least_s = fmin(stage->cost[i].time_s, time_s);
    const double rest_s = time_s - kernels_of(&stage->graph.node[i]) * overlap_s;
    return time_s > 0 ? fmax(rest_s, least_s) / time_s : 1;
}

/* Returns the longer of two times, or the first one if that is unknown. */
static double longer(double time_s, double other_s)
{
    return other_s > time_s ? other_s : time_s;
}

/* A part of a stage; after its kernels the host launches those of the next part. */
struct part {
    double kernels;
    double time_s;
    double low_s;
    double high_s;
};

/* The launches of prompts take between these factors of their expected time in 8 of 10 cases: first
 * tokens of 82 measured runs with latent attention (tests/serving_errors.py prints them). The
 * launches of other models are taken to be as uncertain. */
#define LAUNCHES_LOW 0.88
#define LAUNCHES_HIGH 1.46

/* Adds a part, which takes at least the time of its launches, to a pass; returns its time. */
static double add_part(struct roof_pass_expected *pass, const struct part *part, double alone_s,
                       double launches_s)
{
    const double time_s = longer(alone_s + part->time_s, launches_s);
    pass->share_s[ROOF_BOTTLENECK_OVERHEAD] += time_s - part->time_s;
    pass->low_s += longer(alone_s + part->low_s, LAUNCHES_LOW * launches_s);
    pass->high_s += longer(alone_s + part->high_s, LAUNCHES_HIGH * launches_s);
    pass->launches_s += launches_s;
    return time_s;
}

/* Adds what is expected of a stage in one stack to a pass: the vision encoder, which requests
 * have as a pass of its own, and what follows. */
static void add_expected(struct roof_pass_expected *pass, const struct costed *stage, size_t stack,
                         const struct engine_part *engine)
{
    struct part encoder = {0};
    struct part rest = {0};
    for (size_t i = 0; i < stage->graph.count; i++) {
        const struct roof_node *const node = &stage->graph.node[i];
        const struct roof_expected_sum *const e = &stage->expected[stack][i];
        struct part *const part = node->block == ROOF_BLOCK_ENCODER ? &encoder : &rest;
        const double count = (double)node->count * rest_of(stage, stack, i, engine->overlap_s);
        part->kernels += (double)node->count * kernels_of(node);
        part->time_s += count * e->time_s;
        part->low_s += count * e->low_s;
        part->high_s += count * e->high_s;
        pass->near_s += e->near ? count * e->time_s : 0;
        pass->share_s[e->bottleneck] += count * e->time_s;
    }
    const double kernels = fmax(1, encoder.kernels + rest.kernels);
    const double launch_s = engine->launch_s * (engine->launches / kernels);
    const bool both = encoder.kernels > 0 && rest.kernels > 0;
    double time_s = 0;
    if (both) {
        time_s = add_part(pass, &encoder, 0, encoder.kernels * launch_s);
    }
    const struct part *const last = rest.kernels > 0 ? &rest : &encoder;
    time_s += add_part(pass, last, engine->alone_s, last->kernels * launch_s);
    add_times(&pass->times, time_s);
}

/* Returns the kernels that the host launches for a stage. */
static double launches_of(const struct costed *stage, const struct roof_scenario *s)
{
    double launches = (double)s->launches / (double)s->pp;
    for (size_t i = 0; i < stage->graph.count && s->launches == 0; i++) {
        launches += (double)stage->graph.node[i].count * kernels_of(&stage->graph.node[i]);
    }
    return launches;
}

/* Adds the host time of a stage: its device waits for the host before each kernel, and stages share
 * the rest evenly. Nothing overlaps with it. */
static double add_host(struct roof_pass *pass, double launches, const struct roof_scenario *s)
{
    const double host_s = launches * s->host_gap_s + s->serial_s / (double)s->pp;
    pass->launches += launches;
    pass->host_s += host_s;
    pass->share_s[ROOF_BOTTLENECK_OVERHEAD] += host_s;
    return host_s;
}

/* Returns the effect of the engine of a stack on a stage. */
static struct engine_part engine_of(const struct roof_scenario *s, int64_t stack, double host_s,
                                    double launches, bool overlaps, const struct roof_model *model)
{
    const struct roof_host_time *const host = &s->host_time[stack];
    return (struct engine_part){
        .alone_s = host_s + roof_scenario_host_s(s, (enum roof_stack)stack) / (double)s->pp,
        .launches = launches,
        .launch_s = roof_scenario_launch_s(s, (enum roof_stack)stack, model),
        .overlap_s = overlaps ? host->overlap_s : 0};
}

/* Adds a stage to a pass of each stack, which differ only in expected times; returns its bound.
 * Without a memo there is only the stack of the scenario. */
static double add_costed(struct roof_pass *pass, const struct costed *stage,
                         const struct roof_model *model, const struct roof_scenario *s,
                         const struct source *from)
{
    const double launches = launches_of(stage, s);
    struct stage sum = {.time_s = add_host(pass, launches, s)};
    const double host_s = sum.time_s;
    const bool overlaps = roof_overlaps_kernels(from->hardware);
    for (size_t i = 0; i < stage->graph.count; i++) {
        add_to_stage(&sum, pass, &stage->graph.node[i], &stage->cost[i]);
    }
    add_idle(&sum, &stage->graph);
    end_stage(pass, &sum, &stage->graph);
    for (size_t n = 0; n < stage->stacks; n++) {
        const int64_t stack =
            from->memo == NULL ? s->common.stack : (int64_t)from->stacks->stack[n];
        const struct engine_part engine = engine_of(s, stack, host_s, launches, overlaps, model);
        add_expected(&pass[n].expected, stage, n, &engine);
    }
    return sum.time_s;
}

/* Copies everything except expected times from the pass of the first stack to the others. */
static void share_bounds(struct roof_pass *pass, size_t count)
{
    for (size_t n = 1; n < count; n++) {
        const struct roof_pass_expected expected = pass[n].expected;
        pass[n] = pass[0];
        pass[n].expected = expected;
    }
}

static enum roof_status run_stages(struct roof_pass *out, const struct roof_model *model,
                                   const struct roof_scenario *s, const struct source *from,
                                   struct roof_error *error)
{
    struct costed here;
    struct roof_model_prediction *const kept = from->kept;
    const struct roof_places places = places_on(from->hardware);
    const size_t stacks = from->memo == NULL ? 1 : from->stacks->count;
    for (size_t n = 0; n < stacks; n++) {
        out[n] = (struct roof_pass){.native = true, .as_stored = true};
    }
    for (int64_t stage = 0; stage < s->pp; stage++) {
        if (kept != NULL || !roof_stage_repeats(model, s, stage, places)) {
            TRY(roof_graph_build(&here.graph, model, s, stage, places, error));
            TRY(find_costs(&here, from, error));
        }
        const double slowest = out->bound.slowest_s;
        const double time = add_costed(out, &here, model, s, from);
        if (kept != NULL && (stage == 0 || time > slowest)) {
            count_for_device(kept, &here.graph, here.index);
        }
    }
    share_bounds(out, stacks);
    return ROOF_OK;
}

enum roof_status roof_pass_memory(struct roof_pass *out, const struct roof_model *model,
                                  const struct roof_scenario *s,
                                  const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_graph graph;
    const struct roof_places places = places_on(hardware);
    *out = (struct roof_pass){.native = true, .as_stored = true};
    for (int64_t stage = 0; stage < s->pp; stage++) {
        struct stage sum = {0};
        if (roof_stage_repeats(model, s, stage, places)) {
            continue;
        }
        TRY(roof_graph_build(&graph, model, s, stage, places, error));
        for (size_t i = 0; i < graph.count; i++) {
            double live = 0;
            TRY(find_live_bytes(&live, &graph.node[i], error));
            add_weights(&sum, &graph.node[i], live);
        }
        add_idle(&sum, &graph);
        end_stage(out, &sum, &graph);
    }
    return ROOF_OK;
}

void roof_pass_widen(struct roof_pass *pass, const struct roof_pass *other)
{
    pass->activation_bytes = fmax(pass->activation_bytes, other->activation_bytes);
    pass->host_live_bytes = fmax(pass->host_live_bytes, other->host_live_bytes);
}

enum roof_status roof_pass_resident(struct roof_pass *pass, const struct roof_model *model,
                                    const struct roof_scenario *s,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_scenario text = *s;
    struct roof_pass whole;
    if (s->phase != ROOF_PHASE_ENCODE) {
        return ROOF_OK;
    }
    text.phase = ROOF_PHASE_PREFILL;
    text.media = roof_no_media;
    text.context = text.chunk = 1;
    TRY(roof_pass_memory(&whole, model, &text, hardware, error));
    pass->weights_bytes = whole.weights_bytes;
    pass->host_weights_bytes = whole.host_weights_bytes;
    return ROOF_OK;
}

/* Adds the later microbatches of a prefill: the batch is distributed evenly, so they have the same
 * size as the first or one sequence less. */
static enum roof_status add_behind(struct roof_pass *pass, const struct roof_model *model,
                                   const struct roof_scenario *s,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    const int64_t parts = roof_microbatches(s);
    const int64_t larger = s->common.shape.batch % parts;
    struct roof_pass smaller = *pass;
    if (s->phase != ROOF_PHASE_PREFILL || parts == 1) {
        return ROOF_OK;
    }
    if (larger > 0) {
        const struct source from = {.hardware = hardware};
        struct roof_scenario even = *s;
        even.common.shape.batch -= larger;
        TRY(run_stages(&smaller, model, &even, &from, error));
    }
    const double as_large = larger > 0 ? (double)(larger - 1) : 0;
    const double others = (double)(parts - 1) - as_large;
    struct roof_pass_times *const expected = &pass->expected.times;
    pass->bound.behind_s = as_large * pass->bound.slowest_s + others * smaller.bound.slowest_s;
    expected->behind_s = as_large * expected->slowest_s + others * smaller.expected.times.slowest_s;
    return ROOF_OK;
}

enum roof_status roof_pass_run(struct roof_pass *out, const struct roof_model *model,
                               const struct roof_scenario *s, const struct roof_hardware *hardware,
                               struct roof_model_prediction *kept, struct roof_error *error)
{
    const struct source from = {.hardware = hardware, .kept = kept};
    TRY(run_stages(out, model, s, &from, error));
    return add_behind(out, model, s, hardware, error);
}

enum roof_status roof_pass_recall(struct roof_pass out[ROOF_STACK_COUNT],
                                  const struct roof_model *model, const struct roof_scenario *s,
                                  const struct roof_hardware *hardware, struct roof_pass_memo *memo,
                                  const struct roof_stacks *stacks, struct roof_error *error)
{
    const struct source from = {.hardware = hardware, .memo = memo, .stacks = stacks};
    return run_stages(out, model, s, &from, error);
}

/*
 * A batch runs in m parts, one per stage at a time. In decode a part starts its next step when it
 * has passed all stages and the slowest stage has served all parts; in prefill the slowest stage
 * serves the other parts after the first one has passed all stages.
 */
double roof_pass_step_s(const struct roof_pass_times *pass, const struct roof_scenario *s)
{
    return s->phase == ROOF_PHASE_PREFILL
               ? pass->path_s + pass->behind_s
               : fmax(pass->path_s, (double)roof_microbatches(s) * pass->slowest_s);
}

struct roof_expected_step roof_expected_step(const struct roof_pass *pass,
                                             const struct roof_pass *draft, double passes_s)
{
    const struct roof_pass_expected *const one = &pass->expected;
    const struct roof_pass_expected *const before = &draft->expected;
    const double passes = passes_s / one->times.path_s;
    return (struct roof_expected_step){
        .time_s = isnan(one->times.path_s) ? ROOF_UNKNOWN : passes_s + before->times.path_s,
        .low_s = passes * one->low_s + before->low_s,
        .high_s = passes * one->high_s + before->high_s,
        .near_s = passes * one->near_s + before->near_s};
}

/* --- speculative decoding ------------------------------------------------------------------ */

/* The sum is 1 + a + ... + a^k: Leviathan and others, arXiv 2211.17192, equation 1. */
double roof_tokens_per_step(const struct roof_scenario *s)
{
    double sum = 0;
    double power = 1;
    for (int64_t i = 0; i <= s->draft_tokens; i++) {
        sum += power;
        power *= s->acceptance;
    }
    return sum;
}

/* Returns the scenario of a decode step of the draft model, which has no drafts itself. */
static struct roof_scenario without_drafts(const struct roof_scenario *s)
{
    struct roof_scenario d = *s;
    d.drafting = ROOF_DRAFTING_DEFAULT;
    d.draft = NULL;
    d.draft_tokens = 0;
    d.offload = 0;  /* it is on the device */
    d.launches = 0; /* each of its kernels has a wait of its own */
    d.serial_s = 0;
    memset(d.host_time, 0, sizeof d.host_time);
    return d;
}

/* Multiplies a pass by the number of drafts. */
static void repeat(struct roof_pass *pass, const struct roof_scenario *step, int64_t drafts)
{
    static const struct roof_pass none = {0};
    struct roof_pass_expected *const expected = &pass->expected;
    const struct roof_expected_step all =
        roof_expected_step(pass, &none, (double)drafts * roof_pass_step_s(&expected->times, step));
    pass->bound.path_s = (double)drafts * roof_pass_step_s(&pass->bound, step);
    expected->times.path_s = all.time_s;
    expected->low_s = all.low_s;
    expected->high_s = all.high_s;
    expected->near_s = all.near_s;
}

/* Runs the model's own modules, one for each draft in turn; all are resident, and the embedding is
 * once. */
static enum roof_status run_predictor(struct roof_pass *out, const struct roof_scenario *s,
                                      const struct roof_hardware *hardware,
                                      struct roof_error *error)
{
    const struct roof_scenario d = without_drafts(s);
    const double modules = (double)s->draft->predict_layers;
    struct costed module;
    const struct roof_graph *const graph = &module.graph;
    const struct source from = {.hardware = hardware};
    TRY(roof_graph_predictor(&module.graph, s->draft, &d, places_on(hardware), error));
    TRY(find_costs(&module, &from, error));
    add_costed(out, &module, s->draft, &d, &from);
    out->kv_bytes = modules * graph->kv_bytes;
    out->state_bytes = modules * graph->state_bytes;
    out->weights_bytes = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const bool shared = graph->node[i].weight == ROOF_WEIGHT_EMBEDDING;
        out->weights_bytes += (shared ? 1 : modules) * roof_node_bytes(&graph->node[i]);
    }
    repeat(out, &d, s->draft_tokens);
    return ROOF_OK;
}

enum roof_status roof_pass_draft(struct roof_pass *out, const struct roof_scenario *s,
                                 const struct roof_hardware *hardware, struct roof_error *error)
{
    *out = (struct roof_pass){.native = true, .as_stored = true};
    if (s->draft == NULL || s->draft_tokens == 0) {
        return ROOF_OK;
    }
    if (s->drafting == ROOF_DRAFTING_OWN) {
        return run_predictor(out, s, hardware, error);
    }
    struct roof_scenario d = without_drafts(s);
    d.media = roof_no_media; /* it drafts text */
    d.common.shape.ep = 1;
    d.common.shape.routing = 0;
    d.tp = roof_stage_devices(s);
    d.attention_dp = d.moe_tp = d.moe_ep = 0;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        d.weight[w] = ROOF_PRECISION_AUTO;
    }
    if (s->draft->position_rows > 0) { /* the last draft follows the others */
        struct roof_scenario end = d;
        end.context += s->draft_tokens - 1;
        TRY(roof_scenario_resolve(&end, s->draft, error));
    }
    TRY(roof_scenario_resolve(&d, s->draft, error));
    TRY(roof_pass_run(out, s->draft, &d, hardware, NULL, error));
    repeat(out, &d, s->draft_tokens);
    return ROOF_OK;
}
