// SPDX-License-Identifier: MIT
/* Passes: one run of a microbatch through all pipeline stages, and the steps made of passes. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/stage.h"
#include "operator/resolve.h"
#include "predict/costed.h"
#include "predict/kernel.h"
#include "predict/pass.h"

static struct roof_places places_on(const struct roof_hardware *hardware)
{
    const double node = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    const double bridge = hardware->figure[ROOF_FIGURE_BRIDGE_DEVICES].value;
    return (struct roof_places){.bridge = isnan(bridge) ? 0 : (int64_t)bridge,
                                .node = isnan(node) ? 0 : (int64_t)node};
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

/* --- passes -------------------------------------------------------------------------------- */

/* Holds how an engine changes the expected time of a stage. */
struct engine_part {
    double alone_s;   /* time of the host while no kernel runs */
    double launches;  /* kernels that the host launches while others run */
    double launch_s;  /* the time of each, whose sum the stage takes at least; 0: none */
    double overlap_s; /* time by which each kernel begins before the previous one ends */
};

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
static void add_expected(struct roof_pass_expected *pass, const struct roof_costed *stage,
                         size_t stack, const struct engine_part *engine)
{
    struct part encoder = {0};
    struct part rest = {0};
    for (size_t i = 0; i < stage->graph.count; i++) {
        const struct roof_node *const node = &stage->graph.node[i];
        const struct roof_expected_sum *const e = &stage->expected[stack][i];
        struct part *const part = node->block == ROOF_BLOCK_ENCODER ? &encoder : &rest;
        const double count = (double)node->count *
                             roof_early_rest(node, &stage->cost[i], e->time_s, engine->overlap_s);
        part->kernels += (double)node->count * roof_node_kernels(node);
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
static double launches_of(const struct roof_costed *stage, const struct roof_scenario *s)
{
    double launches = (double)s->launches / (double)s->pp;
    for (size_t i = 0; i < stage->graph.count && s->launches == 0; i++) {
        launches += (double)stage->graph.node[i].count * roof_node_kernels(&stage->graph.node[i]);
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
static double add_costed(struct roof_pass *pass, const struct roof_costed *stage,
                         const struct roof_model *model, const struct roof_scenario *s,
                         const struct roof_cost_source *from)
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
                                   const struct roof_scenario *s,
                                   const struct roof_cost_source *from, struct roof_error *error)
{
    struct roof_costed here;
    struct roof_model_prediction *const kept = from->kept;
    const struct roof_places places = places_on(from->hardware);
    const size_t stacks = from->memo == NULL ? 1 : from->stacks->count;
    for (size_t n = 0; n < stacks; n++) {
        out[n] = (struct roof_pass){.native = true, .as_stored = true};
    }
    for (int64_t stage = 0; stage < s->pp; stage++) {
        if (kept != NULL || !roof_stage_repeats(model, s, stage, places)) {
            TRY(roof_graph_build(&here.graph, model, s, stage, places, error));
            TRY(roof_stage_costs(&here, s, from, error));
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
            TRY(roof_node_live_bytes(&live, &graph.node[i], error));
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
        const struct roof_cost_source from = {.hardware = hardware};
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
    const struct roof_cost_source from = {.hardware = hardware, .kept = kept};
    TRY(run_stages(out, model, s, &from, error));
    return add_behind(out, model, s, hardware, error);
}

enum roof_status roof_pass_recall(struct roof_pass out[ROOF_STACK_COUNT],
                                  const struct roof_model *model, const struct roof_scenario *s,
                                  const struct roof_hardware *hardware, struct roof_pass_memo *memo,
                                  const struct roof_stacks *stacks, struct roof_error *error)
{
    const struct roof_cost_source from = {.hardware = hardware, .memo = memo, .stacks = stacks};
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
    memset(d.early_s, 0, sizeof d.early_s);
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
    struct roof_costed module;
    const struct roof_graph *const graph = &module.graph;
    const struct roof_cost_source from = {.hardware = hardware};
    TRY(roof_graph_predictor(&module.graph, s->draft, &d, places_on(hardware), error));
    TRY(roof_stage_costs(&module, &d, &from, error));
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
