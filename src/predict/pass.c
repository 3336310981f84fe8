// SPDX-License-Identifier: MIT
/* Passes: one run of a microbatch through all pipeline stages, and the steps made of passes. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "predict/pass.h"

static int64_t node_size(const struct roof_hardware *hardware)
{
    const double devices = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    return isnan(devices) ? 0 : (int64_t)devices;
}

/* Returns what an operator, or the largest part of one, holds beside the weights and the cache. */
static double live_bytes(const struct roof_prediction *p)
{
    double live = 0;
    for (int i = 0; i < p->part_count; i++) {
        const double *const bytes = p->part[i].work.bytes;
        const bool expanded =
            p->part[i].op == ROOF_OPERATOR_MLA_PREFILL; /* K and V are temporary */
        live = fmax(live, bytes[ROOF_ROLE_ACTIVATIONS] + bytes[ROOF_ROLE_OUT] +
                              (expanded ? bytes[ROOF_ROLE_KV] : 0));
    }
    return live;
}

/* The time and the memory that one stage needs. */
struct stage {
    double time_s;
    double expected_s;
    double weights_bytes;
    double live_bytes;
};

static void add_to_stage(struct stage *stage, struct roof_pass *pass, const struct roof_node *node,
                         const struct roof_prediction *p)
{
    const double count = (double)node->count;
    stage->time_s += count * p->time_s;
    stage->expected_s += count * p->expected_s;
    stage->weights_bytes += roof_node_bytes(node);
    stage->live_bytes = fmax(stage->live_bytes, live_bytes(p));
    pass->low_s += count * p->expected_low_s;
    pass->high_s += count * p->expected_high_s;
    pass->share_s[p->bottleneck] += count * p->time_s;
    pass->expected_share_s[p->expected_bottleneck] += count * p->expected_s;
    pass->native = pass->native && p->native;
    pass->near_s += p->expected_near ? count * p->expected_s : 0;
    pass->weights_read_bytes += count * p->role_bytes[ROOF_ROLE_WEIGHTS];
    if (p->workload.op != ROOF_OPERATOR_KV_APPEND) {
        pass->kv_read_bytes += count * p->role_bytes[ROOF_ROLE_KV];
    }
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
    add_times(&pass->expected, stage->expected_s);
    if (stage->weights_bytes + graph->kv_bytes + activations >
        pass->weights_bytes + pass->kv_bytes + pass->activation_bytes) {
        pass->weights_bytes = stage->weights_bytes;
        pass->kv_bytes = graph->kv_bytes;
        pass->activation_bytes = activations;
    }
}

/* An all-reduce has the faster bound of its two algorithms, which without a latency is that of the
 * ring, and the faster expected time. */
enum roof_status roof_predict_node(struct roof_prediction *out, const struct roof_node *node,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    TRY(roof_predict(out, &node->workload, hardware, error));
    if (node->workload.op != ROOF_OPERATOR_ALL_REDUCE) {
        return ROOF_OK;
    }
    struct roof_workload other = node->workload;
    struct roof_prediction at_once;
    other.shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
    TRY(roof_predict(&at_once, &other, hardware, error));
    const bool faster = at_once.expected_s < out->expected_s || isnan(out->expected_s);
    const struct roof_prediction expected = faster ? at_once : *out;
    if (at_once.time_s < out->time_s) {
        *out = at_once;
    }
    out->expected_s = expected.expected_s;
    out->expected_low_s = expected.expected_low_s;
    out->expected_high_s = expected.expected_high_s;
    out->expected_bottleneck = expected.expected_bottleneck;
    out->expected_near = expected.expected_near;
    out->part[0].expected = expected.part[0].expected;
    return ROOF_OK;
}

static bool same_node(const struct roof_node *a, const struct roof_node *b)
{
    return strcmp(a->name, b->name) == 0 && roof_same_workload(&a->workload, &b->workload);
}

/* Finds the node of an earlier stage that is equal, or adds a new one with its prediction. */
static enum roof_status find_node(size_t *found, struct roof_model_prediction *out,
                                  const struct roof_node *node,
                                  const struct roof_hardware *hardware, struct roof_error *error)
{
    for (size_t i = 0; i < out->count && out->scenario.pp > 1; i++) {
        if (same_node(&out->node[i].node, node)) {
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

/* Counts how often the device of a stage runs each operator: the stage is the slowest so far. */
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

/* Predicts the operators of a stage and adds them to its sums and to the pass. kept, which may be
 * NULL, receives them, and index the place of each in it. */
static enum roof_status run_stage(struct stage *sum, struct roof_pass *pass,
                                  const struct roof_graph *graph,
                                  const struct roof_hardware *hardware,
                                  struct roof_model_prediction *kept, size_t *index,
                                  struct roof_error *error)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct roof_node *const node = &graph->node[i];
        struct roof_prediction prediction;
        const struct roof_prediction *predicted = &prediction;
        if (kept == NULL) {
            TRY(roof_predict_node(&prediction, node, hardware, error));
        } else {
            TRY(find_node(&index[i], kept, node, hardware, error));
            kept->node[index[i]].node.count += node->count;
            predicted = &kept->node[index[i]].prediction;
        }
        add_to_stage(sum, pass, node, predicted);
    }
    return ROOF_OK;
}

enum roof_status roof_pass_run(struct roof_pass *out, const struct roof_model *model,
                               const struct roof_scenario *s, const struct roof_hardware *hardware,
                               struct roof_model_prediction *kept, struct roof_error *error)
{
    struct roof_graph graph;
    *out = (struct roof_pass){.native = true};
    for (int64_t stage = 0; stage < s->pp; stage++) {
        struct stage sum = {0};
        size_t index[ROOF_GRAPH_MAX] = {0};
        TRY(roof_graph_build(&graph, model, s, stage, node_size(hardware), error));
        TRY(run_stage(&sum, out, &graph, hardware, kept, index, error));
        if (kept != NULL && (stage == 0 || sum.time_s > out->bound.slowest_s)) {
            count_for_device(kept, &graph, index);
        }
        end_stage(out, &sum, &graph);
    }
    return ROOF_OK;
}

/*
 * A batch runs in m parts, one per stage at a time. In decode a part comes round again when it has
 * passed all stages, and not before the slowest stage has served all parts; in prefill the last
 * part follows the first by m - 1 times the slowest stage.
 */
double roof_pass_step_s(const struct roof_pass_times *pass, const struct roof_scenario *s)
{
    const double parts = (double)roof_microbatches(s);
    return s->phase == ROOF_PHASE_PREFILL ? pass->path_s + (parts - 1) * pass->slowest_s
                                          : fmax(pass->path_s, parts * pass->slowest_s);
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

enum roof_status roof_pass_draft(struct roof_pass *out, const struct roof_scenario *s,
                                 const struct roof_hardware *hardware, struct roof_error *error)
{
    *out = (struct roof_pass){.native = true};
    if (s->draft == NULL || s->draft_tokens == 0) {
        return ROOF_OK;
    }
    struct roof_scenario d = *s;
    d.draft = NULL;
    d.draft_tokens = 0;
    d.common.shape.ep = 1;
    d.common.shape.routing = 0;
    d.tp = s->tp * s->common.shape.ep;
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
    out->bound.path_s = (double)s->draft_tokens * roof_pass_step_s(&out->bound, &d);
    out->expected.path_s = (double)s->draft_tokens * roof_pass_step_s(&out->expected, &d);
    return ROOF_OK;
}
