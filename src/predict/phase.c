// SPDX-License-Identifier: MIT
#include "roofline/model_prediction.h"

#include <math.h>
#include <string.h>

/* --- one pass ------------------------------------------------------------------------------ */

/* What the stages take. */
struct times {
    double path_s;    /* their sum */
    double slowest_s; /* the longest */
};

/* One pass of a microbatch through all stages. */
struct pass {
    struct times ideal;
    struct times expected;
    double weights_bytes; /* memory, of the stage that needs most */
    double kv_bytes;
    double activation_bytes;
    double kv_read_bytes; /* over all stages */
    double weights_read_bytes;
    double low_s; /* the band of the expected path */
    double high_s;
    double share_s[ROOF_BOTTLENECK_COUNT]; /* of the path, by what bounds it */
    double expected_share_s[ROOF_BOTTLENECK_COUNT];
    bool native;
    double near_s; /* of the expected path, where others stand in */
};

static int64_t node_size(const struct roof_hardware *hardware)
{
    const double devices = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    return isnan(devices) ? 0 : (int64_t)devices;
}

/* An all-reduce takes the faster of its two algorithms: by the bound, where without a latency that
 * is the ring, and of the expected times by those. */
enum roof_status roof_predict_node(struct roof_prediction *out, const struct roof_node *node,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    enum roof_status status = roof_predict(out, &node->workload, hardware, error);
    if (status != ROOF_OK || node->workload.op != ROOF_OPERATOR_ALL_REDUCE) {
        return status;
    }
    struct roof_workload other = node->workload;
    struct roof_prediction at_once;
    other.shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
    status = roof_predict(&at_once, &other, hardware, error);
    if (status != ROOF_OK) {
        return status;
    }
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
    return status;
}

/* What an operator, or the largest part of one, holds beside the weights and the cache. */
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

/* What one stage takes and needs. */
struct stage {
    double time_s;
    double expected_s;
    double weights_bytes;
    double live_bytes;
};

static void add_to_stage(struct stage *stage, struct pass *pass, const struct roof_node *node,
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

/* An unknown stage makes both unknown. */
static void add_times(struct times *times, double stage_s)
{
    times->path_s += stage_s;
    times->slowest_s = isnan(stage_s) || stage_s > times->slowest_s ? stage_s : times->slowest_s;
}

static void end_stage(struct pass *pass, const struct stage *stage, const struct roof_graph *graph)
{
    const double activations = graph->residual_bytes + stage->live_bytes;
    add_times(&pass->ideal, stage->time_s);
    add_times(&pass->expected, stage->expected_s);
    if (stage->weights_bytes + graph->kv_bytes + activations >
        pass->weights_bytes + pass->kv_bytes + pass->activation_bytes) {
        pass->weights_bytes = stage->weights_bytes;
        pass->kv_bytes = graph->kv_bytes;
        pass->activation_bytes = activations;
    }
}

static bool same_node(const struct roof_node *a, const struct roof_node *b)
{
    return strcmp(a->name, b->name) == 0 && roof_same_workload(&a->workload, &b->workload);
}

/* The index of the node of an earlier stage that is equal, or of a new one with its prediction. */
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

/* Counts of the stage that is slowest so far: those are what its device runs. */
static void keep_slowest(struct roof_model_prediction *keep, const struct roof_graph *graph,
                         const size_t *index)
{
    for (size_t i = 0; i < keep->count; i++) {
        keep->node[i].device_count = 0;
    }
    for (size_t i = 0; i < graph->count; i++) {
        keep->node[index[i]].device_count += graph->node[i].count;
    }
}

/* Runs all stages; keep (NULL: nobody wants them) receives the operators. */
static enum roof_status run_pass(struct pass *out, const struct roof_model *model,
                                 const struct roof_scenario *s,
                                 const struct roof_hardware *hardware,
                                 struct roof_model_prediction *keep, struct roof_error *error)
{
    struct roof_graph graph;
    *out = (struct pass){.native = true};
    for (int64_t stage = 0; stage < s->pp; stage++) {
        struct stage sum = {0};
        size_t index[ROOF_GRAPH_MAX] = {0};
        enum roof_status status =
            roof_graph_build(&graph, model, s, stage, node_size(hardware), error);
        for (size_t i = 0; i < graph.count && status == ROOF_OK; i++) {
            const struct roof_node *const node = &graph.node[i];
            struct roof_prediction prediction;
            if (keep == NULL) {
                status = roof_predict_node(&prediction, node, hardware, error);
            } else {
                status = find_node(&index[i], keep, node, hardware, error);
            }
            if (status == ROOF_OK && keep != NULL) {
                keep->node[index[i]].node.count += node->count;
            }
            if (status == ROOF_OK) {
                add_to_stage(&sum, out, node,
                             keep == NULL ? &prediction : &keep->node[index[i]].prediction);
            }
        }
        if (status != ROOF_OK) {
            return status;
        }
        if (keep != NULL && (stage == 0 || sum.time_s > out->ideal.slowest_s)) {
            keep_slowest(keep, &graph, index);
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
static double step_time(const struct times *pass, const struct roof_scenario *s)
{
    const double parts = (double)roof_microbatches(s);
    return s->phase == ROOF_PHASE_PREFILL ? pass->path_s + (parts - 1) * pass->slowest_s
                                          : fmax(pass->path_s, parts * pass->slowest_s);
}

/* --- speculative decoding ------------------------------------------------------------------ */

/* Tokens that a step is expected to yield: drafts up to the first that is refused, and one more.
 * 1 + a + ... + a^k; Leviathan and others, arXiv 2211.17192, equation 1. */
static double expected_tokens(const struct roof_scenario *s)
{
    double sum = 0;
    double power = 1;
    for (int64_t i = 0; i <= s->draft_tokens; i++) {
        sum += power;
        power *= s->acceptance;
    }
    return sum;
}

/* The model that proposes runs one decode step per proposed token, on the same devices. */
static enum roof_status draft_pass(struct pass *out, const struct roof_scenario *s,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    *out = (struct pass){.native = true};
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
    enum roof_status status = ROOF_OK;
    if (s->draft->position_rows > 0) { /* the last draft follows the others */
        struct roof_scenario end = d;
        end.context += s->draft_tokens - 1;
        status = roof_scenario_resolve(&end, s->draft, error);
    }
    if (status == ROOF_OK) {
        status = roof_scenario_resolve(&d, s->draft, error);
    }
    if (status == ROOF_OK) {
        status = run_pass(out, s->draft, &d, hardware, NULL, error);
    }
    if (status == ROOF_OK) {
        out->ideal.path_s = (double)s->draft_tokens * step_time(&out->ideal, &d);
        out->expected.path_s = (double)s->draft_tokens * step_time(&out->expected, &d);
    }
    return status;
}

/* --- the whole ----------------------------------------------------------------------------- */

static void clear_total(struct roof_prediction *total, const struct roof_scenario *s,
                        const struct roof_hardware *hardware)
{
    *total = (struct roof_prediction){
        .workload = s->common,
        .hardware = hardware,
        .compute = ROOF_PRECISION_AUTO,
        .wanted = ROOF_PRECISION_AUTO,
        .native = true,
        .network_bytes = ROOF_UNKNOWN,
        .ridge = ROOF_UNKNOWN,
        .network_time_s = ROOF_UNKNOWN,
        .peak_flops_per_s = ROOF_UNKNOWN,
        .bandwidth_bytes_per_s = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .link = {.bytes_per_s = ROOF_UNKNOWN},
        .fraction_of_peak = ROOF_UNKNOWN,
        .measured_s = ROOF_UNKNOWN,
        .achieved_flops_per_s = ROOF_UNKNOWN,
        .achieved_bytes_per_s = ROOF_UNKNOWN,
        .fraction_of_bound = ROOF_UNKNOWN,
    };
}

/* Sums that begin with nothing known. */
static void add_known(double *sum, double value)
{
    if (!isnan(value)) {
        *sum = isnan(*sum) ? value : *sum + value;
    }
}

static void add_total(struct roof_prediction *total, const struct roof_node_prediction *n)
{
    const struct roof_prediction *const p = &n->prediction;
    const double device = (double)n->device_count;
    const double path = (double)n->node.count;
    total->native = total->native && p->native;
    total->flops += device * p->flops;
    total->bytes += device * p->bytes;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        total->role_bytes[role] += device * p->role_bytes[role];
    }
    if (p->link.latency_s > total->link.latency_s) {
        total->link.latency_s = p->link.latency_s;
    }
    add_known(&total->network_bytes, device * p->network_bytes);
    total->memory_time_s += path * p->memory_time_s;
    total->compute_time_s += path * p->compute_time_s;
    add_known(&total->network_time_s, path * p->network_time_s);
    total->time_s += path * p->time_s;
    total->expected_s += path * p->expected_s;
    total->expected_low_s += path * p->expected_low_s;
    total->expected_high_s += path * p->expected_high_s;
}

/* The same sums in the unit that is printed, so that they equal those of printed operators. */
static void add_microseconds(struct roof_model_prediction *out,
                             const struct roof_node_prediction *n)
{
    const struct roof_prediction *const p = &n->prediction;
    const double path = (double)n->node.count;
    const enum roof_unit us = ROOF_UNIT_MICROSECONDS;
    out->time_us += path * roof_to_unit(p->time_s, us);
    out->memory_time_us += path * roof_to_unit(p->memory_time_s, us);
    out->compute_time_us += path * roof_to_unit(p->compute_time_s, us);
    add_known(&out->network_time_us, path * roof_to_unit(p->network_time_s, us));
}

static enum roof_bottleneck longest(const double share[ROOF_BOTTLENECK_COUNT])
{
    int found = 0;
    for (int b = 1; b < ROOF_BOTTLENECK_COUNT; b++) {
        found = share[b] > share[found] ? b : found;
    }
    return (enum roof_bottleneck)found;
}

static void finish_total(struct roof_model_prediction *out, const struct pass *pass)
{
    struct roof_prediction *const total = &out->total;
    for (size_t i = 0; i < out->count; i++) {
        add_total(total, &out->node[i]);
        add_microseconds(out, &out->node[i]);
    }
    total->bottleneck = longest(pass->share_s);
    total->expected_bottleneck = longest(pass->expected_share_s);
    out->expected_near = pass->near_s / pass->expected.path_s;
    total->expected_near = pass->near_s > 0;
    total->intensity = total->flops / total->bytes;
    total->attainable_flops_per_s = isnan(total->compute_time_s) || out->scenario.pp > 1
                                        ? ROOF_UNKNOWN
                                        : total->flops / total->time_s;
}

/* Memory of the device that needs most. */
struct memory {
    double weights;
    double kv;
    double activations;
    double capacity;
    double reserve;
    enum roof_fit fits;
};

/* Where the formats are those of a file, its own bytes count: scales and padding included. */
static double file_share(const struct roof_model *model)
{
    const double formula = isnan(model->file_bytes) ? ROOF_UNKNOWN : roof_model_bytes(model);
    return formula > 0 ? model->file_bytes / formula : 1;
}

static struct memory memory_of(const struct pass *pass, const struct pass *draft,
                               const struct roof_model *model, const struct roof_scenario *s,
                               const struct roof_hardware *hardware)
{
    const double usable = hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY].value;
    /* What is printed as GB are GiB, of memory chips. */
    const double nominal =
        hardware->figure[ROOF_FIGURE_MEMORY_NOMINAL].value / 1e9 * (1024. * 1024 * 1024);
    struct memory m = {.weights = pass->weights_bytes * file_share(model) + draft->weights_bytes,
                       .kv = pass->kv_bytes + draft->kv_bytes,
                       .activations = pass->activation_bytes,
                       .capacity = isnan(usable) ? nominal : usable};
    m.reserve = s->reserve * m.capacity;
    m.fits = isnan(m.capacity)                                            ? ROOF_FIT_UNKNOWN
             : m.weights + m.kv + m.activations <= m.capacity - m.reserve ? ROOF_FIT_YES
                                                                          : ROOF_FIT_NO;
    return m;
}

static void set_memory(struct roof_model_prediction *out, const struct memory *memory)
{
    out->weights_memory_bytes = memory->weights;
    out->kv_cache_bytes = memory->kv;
    out->activation_memory_bytes = memory->activations;
    out->memory_capacity_bytes = memory->capacity;
    out->memory_reserve_bytes = memory->reserve;
    out->fits = memory->fits;
}

/* What a user sees. */
struct service {
    double ttft_s;
    double tpot_s;
    double tokens_per_s;
    double tokens_per_s_per_user;
};

/* Of a step that takes step_s. */
static struct service service_of(const struct roof_model_prediction *out, double step_s)
{
    struct service r = {ROOF_UNKNOWN, ROOF_UNKNOWN, ROOF_UNKNOWN, ROOF_UNKNOWN};
    const struct roof_scenario *const s = &out->scenario;
    const double batch = (double)s->common.shape.batch;
    double tokens = batch * out->tokens_per_step; /* of a step, all sequences */
    if (s->phase == ROOF_PHASE_PREFILL) {
        tokens = batch * (double)s->chunk;
        /* A chunk on top of an earlier one is not the whole wait for the first token. */
        r.ttft_s = s->chunk == s->context || s->prefix_hit > 0 ? step_s : ROOF_UNKNOWN;
    } else {
        r.tpot_s = step_s / out->tokens_per_step;
    }
    if (out->fits != ROOF_FIT_NO) {
        r.tokens_per_s = tokens / step_s;
        r.tokens_per_s_per_user = r.tokens_per_s / batch;
    }
    return r;
}

static enum roof_status infer_phase(struct roof_model_prediction *out, struct roof_error *error)
{
    const struct roof_scenario *const s = &out->scenario;
    const struct roof_hardware *const hardware = out->total.hardware;
    struct pass pass;
    struct pass draft;
    enum roof_status status = run_pass(&pass, out->model, s, hardware, out, error);
    if (status == ROOF_OK) {
        status = draft_pass(&draft, s, hardware, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    const struct memory memory = memory_of(&pass, &draft, out->model, s, hardware);
    finish_total(out, &pass);
    set_memory(out, &memory);
    out->tokens_per_step = expected_tokens(s);
    out->slowest_stage_s = pass.ideal.slowest_s;
    out->draft_s = s->draft_tokens > 0 ? draft.ideal.path_s : ROOF_UNKNOWN;
    out->step_s = step_time(&pass.ideal, s) + draft.ideal.path_s;
    out->expected_step_s = step_time(&pass.expected, s) + draft.expected.path_s;
    const struct service ideal = service_of(out, out->step_s);
    const struct service expected = service_of(out, out->expected_step_s);
    out->ttft_s = ideal.ttft_s;
    out->tpot_s = ideal.tpot_s;
    out->tokens_per_s = ideal.tokens_per_s;
    out->tokens_per_s_per_user = ideal.tokens_per_s_per_user;
    out->expected_ttft_s = expected.ttft_s;
    out->expected_tpot_s = expected.tpot_s;
    out->expected_tokens_per_s = expected.tokens_per_s;
    out->expected_tokens_per_s_per_user = expected.tokens_per_s_per_user;
    return ROOF_OK;
}

/* --- requests ------------------------------------------------------------------------------ */

/* Times per token of a decode step at a context. */
struct point {
    double ideal_s;
    double expected_s;
};

struct curve {
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    struct roof_scenario scenario; /* decode, resolved */
    struct roof_error *error;
    enum roof_status status;
};

static struct point curve_at(struct curve *curve, int64_t context)
{
    struct pass pass = {0};
    struct pass draft = {0};
    curve->scenario.context = context;
    if (curve->status == ROOF_OK) {
        curve->status =
            run_pass(&pass, curve->model, &curve->scenario, curve->hardware, NULL, curve->error);
    }
    if (curve->status == ROOF_OK) {
        curve->status = draft_pass(&draft, &curve->scenario, curve->hardware, curve->error);
    }
    const double tokens = expected_tokens(&curve->scenario);
    return (struct point){
        .ideal_s = (step_time(&pass.ideal, &curve->scenario) + draft.ideal.path_s) / tokens,
        .expected_s =
            (step_time(&pass.expected, &curve->scenario) + draft.expected.path_s) / tokens};
}

static bool on_line(double value, double line)
{
    return fabs(value - line) <= 1e-12 * value;
}

/*
 * Sum over first..last of the time at each context. It is a sum of maxima of linear functions, so
 * piecewise linear: where the ends, the middle and the quarters lie on a line, the sum is that of
 * an arithmetic series; else each half is summed by itself.
 */
static double sum_curve(struct curve *curve, int64_t first, int64_t last, double at_first,
                        double at_last)
{
    const int64_t steps = last - first;
    if (steps < 4) {
        double sum = at_first;
        for (int64_t context = first + 1; context < last; context++) {
            sum += curve_at(curve, context).ideal_s;
        }
        return steps > 0 ? sum + at_last : sum;
    }
    const double slope = (at_last - at_first) / (double)steps;
    const int64_t middle = first + steps / 2;
    const double at_middle = curve_at(curve, middle).ideal_s;
    bool straight = on_line(at_middle, at_first + slope * (double)(middle - first));
    for (int quarter = 1; quarter <= 3 && straight; quarter += 2) {
        const int64_t context = first + steps * quarter / 4;
        straight =
            on_line(curve_at(curve, context).ideal_s, at_first + slope * (double)(context - first));
    }
    if (straight || curve->status != ROOF_OK) {
        return (double)(steps + 1) * (at_first + at_last) / 2;
    }
    return sum_curve(curve, first, middle, at_first, at_middle) +
           sum_curve(curve, middle + 1, last, curve_at(curve, middle + 1).ideal_s, at_last);
}

/* The same of the expected times, which are no lines: their mean by the rule of Simpson over eight
 * parts, far nearer than the times are known. */
static double expected_sum(struct curve *curve, int64_t first, int64_t last)
{
    const int64_t parts = 8;
    double sum = 0;
    for (int64_t i = 0; i <= parts; i++) {
        const double weight = i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * curve_at(curve, first + (last - first) * i / parts).expected_s;
    }
    return (double)(last - first + 1) * sum / (double)(3 * parts);
}

/* The two phases of a request, resolved. */
static enum roof_status split_request(struct roof_scenario *prefill, struct roof_scenario *decode,
                                      const struct roof_scenario *asked,
                                      const struct roof_model *model, struct roof_error *error)
{
    roof_scenario_phases(prefill, decode, asked);
    const enum roof_status status = roof_scenario_resolve(prefill, model, error);
    return status == ROOF_OK ? roof_scenario_resolve(decode, model, error) : status;
}

/* Passes of a scenario that decide over its memory: the last of a request, with the activations of
 * the larger phase. first is the prefill of a request. */
static enum roof_status memory_passes(struct pass *pass, struct pass *draft, struct pass *first,
                                      const struct roof_scenario *asked,
                                      const struct roof_model *model,
                                      const struct roof_hardware *hardware,
                                      struct roof_error *error)
{
    struct roof_scenario prefill;
    struct roof_scenario decode = *asked;
    enum roof_status status = ROOF_OK;
    if (asked->phase == ROOF_PHASE_REQUEST) {
        status = split_request(&prefill, &decode, asked, model, error);
        if (status == ROOF_OK) {
            status = run_pass(first, model, &prefill, hardware, NULL, error);
        }
    } else {
        *first = (struct pass){.native = true};
    }
    if (status == ROOF_OK) {
        status = run_pass(pass, model, &decode, hardware, NULL, error);
    }
    if (status == ROOF_OK) {
        status = draft_pass(draft, &decode, hardware, error);
    }
    if (status == ROOF_OK) {
        pass->activation_bytes = fmax(pass->activation_bytes, first->activation_bytes);
    }
    return status;
}

/* The first token comes with the prefill, each further one from a decode step whose cache holds the
 * prompt and all tokens before it. */
static enum roof_status infer_request(struct roof_model_prediction *out, struct roof_error *error)
{
    const struct roof_scenario asked = out->scenario;
    const struct roof_hardware *const hardware = out->total.hardware;
    struct roof_scenario prefill;
    struct curve curve = {.model = out->model, .hardware = hardware, .error = error};
    struct pass first;
    struct pass last;
    struct pass draft;
    enum roof_status status = split_request(&prefill, &curve.scenario, &asked, out->model, error);
    if (status == ROOF_OK) {
        status = memory_passes(&last, &draft, &first, &asked, out->model, hardware, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    const struct memory memory = memory_of(&last, &draft, out->model, &asked, hardware);
    const double steps = (double)(asked.generate - 1);
    double decode_s = 0;
    double expected_s = 0;
    if (asked.generate > 1) {
        const int64_t from = asked.prompt + 1;
        const int64_t to = asked.prompt + asked.generate - 1;
        decode_s = sum_curve(&curve, from, to, curve_at(&curve, from).ideal_s,
                             curve_at(&curve, to).ideal_s);
        expected_s = isnan(last.expected.path_s) ? ROOF_UNKNOWN : expected_sum(&curve, from, to);
        out->tpot_s = decode_s / steps;
        out->expected_tpot_s = expected_s / steps;
    }
    if (curve.status != ROOF_OK) {
        return curve.status;
    }
    /* What bounds it: the prefill, and as many steps as there are, taken as the last one is. */
    double share[ROOF_BOTTLENECK_COUNT];
    double expected_share[ROOF_BOTTLENECK_COUNT];
    for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
        share[b] = first.share_s[b];
        expected_share[b] = first.expected_share_s[b];
        if (steps > 0) {
            share[b] += steps * last.share_s[b];
            expected_share[b] += steps * last.expected_share_s[b];
        }
    }
    out->total.bottleneck = longest(share);
    out->total.expected_bottleneck = longest(expected_share);
    out->total.native = first.native && last.native;
    set_memory(out, &memory);
    out->scenario.context = asked.prompt + asked.generate;
    out->tokens_per_step = expected_tokens(&asked);
    out->ttft_s = step_time(&first.ideal, &prefill);
    out->e2e_s = out->ttft_s + decode_s;
    out->expected_ttft_s = step_time(&first.expected, &prefill);
    out->expected_e2e_s = out->expected_ttft_s + expected_s;
    out->expected_step_s = out->total.expected_s = out->expected_e2e_s;
    out->total.expected_low_s = out->expected_ttft_s * first.low_s / first.expected.path_s;
    out->total.expected_high_s = out->expected_ttft_s * first.high_s / first.expected.path_s;
    if (steps > 0) { /* all have the band of the last one */
        out->total.expected_low_s += expected_s * last.low_s / last.expected.path_s;
        out->total.expected_high_s += expected_s * last.high_s / last.expected.path_s;
    }
    double near_s = out->expected_ttft_s * first.near_s / first.expected.path_s;
    if (steps > 0) {
        near_s += expected_s * last.near_s / last.expected.path_s;
    }
    out->expected_near = near_s / out->expected_e2e_s;
    out->total.expected_near = near_s > 0;
    out->step_s = out->total.time_s = out->e2e_s;
    out->time_us = roof_to_unit(out->e2e_s, ROOF_UNIT_MICROSECONDS);
    const double batch = (double)asked.common.shape.batch;
    if (out->fits != ROOF_FIT_NO) {
        out->tokens_per_s = batch * (double)asked.generate / out->e2e_s;
        out->tokens_per_s_per_user = (double)asked.generate / out->e2e_s;
        out->expected_tokens_per_s = batch * (double)asked.generate / out->expected_e2e_s;
        out->expected_tokens_per_s_per_user = (double)asked.generate / out->expected_e2e_s;
    }
    /* Sums over hundreds of passes are no totals of one. */
    out->total.flops = out->total.bytes = ROOF_UNKNOWN;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        out->total.role_bytes[role] = ROOF_UNKNOWN;
    }
    out->total.intensity = out->total.attainable_flops_per_s = ROOF_UNKNOWN;
    out->total.memory_time_s = out->total.compute_time_s = ROOF_UNKNOWN;
    out->memory_time_us = out->compute_time_us = ROOF_UNKNOWN;
    return ROOF_OK;
}

double roof_model_time(const struct roof_node_prediction *node)
{
    return (double)node->node.count * node->prediction.time_s;
}

enum roof_status roof_predict_model(struct roof_model_prediction *out,
                                    const struct roof_model *model,
                                    const struct roof_scenario *scenario,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    out->scenario = *scenario;
    out->model = model;
    out->count = 0;
    out->ttft_s = out->tpot_s = out->e2e_s = ROOF_UNKNOWN;
    out->tokens_per_s = out->tokens_per_s_per_user = ROOF_UNKNOWN;
    out->expected_ttft_s = out->expected_tpot_s = out->expected_e2e_s = ROOF_UNKNOWN;
    out->expected_tokens_per_s = out->expected_tokens_per_s_per_user = ROOF_UNKNOWN;
    out->expected_near = ROOF_UNKNOWN;
    enum roof_status status = roof_scenario_resolve(&out->scenario, model, error);
    if (status != ROOF_OK) {
        return status;
    }
    out->devices = (double)(out->scenario.tp * out->scenario.pp * out->scenario.common.shape.ep);
    out->draft_s = ROOF_UNKNOWN;
    out->slowest_stage_s = ROOF_UNKNOWN;
    out->time_us = out->memory_time_us = out->compute_time_us = 0;
    out->network_time_us = ROOF_UNKNOWN;
    out->phase = roof_phase_name((enum roof_phase)out->scenario.phase);
    out->kv_bytes_per_token = roof_kv_bytes_per_token(model, &out->scenario);
    clear_total(&out->total, &out->scenario, hardware);
    return out->scenario.phase == ROOF_PHASE_REQUEST ? infer_request(out, error)
                                                     : infer_phase(out, error);
}

/* --- limits -------------------------------------------------------------------------------- */

/* What a search changes. */
struct search {
    struct roof_scenario scenario; /* not resolved */
    const struct roof_model_prediction *inference;
    int64_t *size; /* the field of the scenario */
    int64_t least; /* its smallest valid value */
};

static bool fits_at(struct search *search, int64_t size)
{
    const struct roof_model *const model = search->inference->model;
    const struct roof_hardware *const hardware = search->inference->total.hardware;
    struct pass pass;
    struct pass draft;
    struct pass first;
    *search->size = size;
    struct roof_scenario s = search->scenario;
    return roof_scenario_resolve(&s, model, NULL) == ROOF_OK &&
           memory_passes(&pass, &draft, &first, &s, model, hardware, NULL) == ROOF_OK &&
           memory_of(&pass, &draft, model, &s, hardware).fits == ROOF_FIT_YES;
}

/* The largest size that fits, NAN where none is too large; memory grows with it. */
static double largest(struct search *search)
{
    int64_t fits = 0;
    int64_t fails = search->least;
    while (fails <= ROOF_LIMIT_MAX && fits_at(search, fails)) {
        fits = fails;
        fails *= 2;
    }
    while (fits > 0 && fails - fits > 1) {
        const int64_t middle = fits + (fails - fits) / 2;
        if (middle <= ROOF_LIMIT_MAX && fits_at(search, middle)) {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    return fits == ROOF_LIMIT_MAX ? ROOF_UNKNOWN : (double)fits;
}

/* KV bytes that a step reads at a context, and by how much one more token makes them grow. */
static bool kv_reads(double *bytes, double *slope, double *weights, struct roof_scenario *s,
                     const struct roof_model_prediction *inference, int64_t context)
{
    struct pass here;
    struct pass next;
    const struct roof_hardware *const hardware = inference->total.hardware;
    s->context = context + 1;
    bool known = run_pass(&next, inference->model, s, hardware, NULL, NULL) == ROOF_OK;
    s->context = context;
    known = known && run_pass(&here, inference->model, s, hardware, NULL, NULL) == ROOF_OK;
    if (known) {
        *bytes = here.kv_read_bytes;
        *slope = next.kv_read_bytes - here.kv_read_bytes;
        *weights = here.weights_read_bytes;
    }
    return known;
}

/*
 * KV bytes that a decode step reads grow with the context by a constant per token, a smaller one
 * where windows are full: from the bytes and the slope before and beyond, solve for the context at
 * which they are as many as those of the weights.
 */
static double crossover(const struct roof_model_prediction *inference)
{
    struct roof_scenario s = inference->scenario;
    const int64_t window = inference->model->window;
    double bytes = 0;
    double slope = 0;
    double weights = 0;
    if (s.phase != ROOF_PHASE_DECODE || s.draft_tokens > 0 ||
        !kv_reads(&bytes, &slope, &weights, &s, inference, 1)) {
        return ROOF_UNKNOWN;
    }
    const double before = 1 + (weights - bytes) / slope;
    if (window == 0 || before <= (double)window) {
        return before;
    }
    if (!kv_reads(&bytes, &slope, &weights, &s, inference, window)) {
        return ROOF_UNKNOWN;
    }
    return slope > 0 ? (double)window + (weights - bytes) / slope : ROOF_UNKNOWN;
}

#define BATCH_MAX (1 << 20)

/* Whether node i of the inference is compute-bound at another batch. */
static bool compute_bound(const struct roof_model_prediction *inference,
                          const struct roof_scenario *at, int64_t batch, size_t i)
{
    struct roof_graph graph;
    struct roof_prediction p;
    struct roof_scenario s = *at;
    const struct roof_node *const wanted = &inference->node[i].node;
    s.common.shape.batch = batch;
    if (roof_scenario_resolve(&s, inference->model, NULL) != ROOF_OK ||
        roof_graph_build(&graph, inference->model, &s, 0, 0, NULL) != ROOF_OK) {
        return false;
    }
    for (size_t k = 0; k < graph.count; k++) {
        const struct roof_node *const node = &graph.node[k];
        if (strcmp(node->name, wanted->name) == 0 &&
            memcmp(&node->workload.formats, &wanted->workload.formats,
                   sizeof node->workload.formats) == 0) {
            return roof_predict(&p, &node->workload, inference->total.hardware, NULL) == ROOF_OK &&
                   p.flops > 0 && p.bottleneck == ROOF_BOTTLENECK_COMPUTE;
        }
    }
    return false;
}

static double compute_bound_from(const struct roof_model_prediction *inference,
                                 const struct roof_scenario *at, size_t i)
{
    int64_t no = 0;
    int64_t yes = 1;
    while (yes <= BATCH_MAX && !compute_bound(inference, at, yes, i)) {
        no = yes;
        yes *= 2;
    }
    while (yes <= BATCH_MAX && yes - no > 1) {
        const int64_t middle = no + (yes - no) / 2;
        if (compute_bound(inference, at, middle, i)) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    return yes <= BATCH_MAX ? (double)yes : ROOF_UNKNOWN;
}

double roof_model_share(const struct roof_model_prediction *inference, size_t node)
{
    return roof_model_time(&inference->node[node]) / inference->total.time_s;
}

void roof_model_band(double *low_s, double *high_s, const struct roof_model_prediction *inference,
                     double expected_s)
{
    const struct roof_prediction *const total = &inference->total;
    const double scale = expected_s / total->expected_s;
    *low_s = total->expected_low_s * scale;
    *high_s = total->expected_high_s * scale;
}

void roof_predict_model_bounds(double out[ROOF_GRAPH_MAX],
                               const struct roof_model_prediction *inference,
                               const struct roof_scenario *scenario)
{
    /* One stage is enough to see what grows with the batch, of which it has a part at a time. */
    const int64_t stages = inference->scenario.pp;
    const double parts = (double)stages;
    struct roof_scenario at = *scenario;
    at.context = inference->scenario.context;
    at.prefill_batch = (inference->scenario.prefill_batch + stages - 1) / stages;
    at.pp = 1;
    for (size_t i = 0; i < inference->count; i++) {
        const bool product = roof_is_product(inference->node[i].node.workload.op);
        const double part = product ? compute_bound_from(inference, &at, i) : ROOF_UNKNOWN;
        out[i] = (part - 1) * parts + 1;
    }
}

enum roof_status roof_model_limits(struct roof_limits *out,
                                   const struct roof_model_prediction *inference,
                                   const struct roof_scenario *scenario, struct roof_error *error)
{
    const enum roof_status status =
        roof_model_parameters(&out->parameters, &out->active_parameters, inference->model, error);
    if (status != ROOF_OK) {
        return status;
    }
    struct search search = {.scenario = *scenario, .inference = inference, .least = 1};
    out->max_batch = out->max_context = ROOF_UNKNOWN;
    if (inference->fits != ROOF_FIT_UNKNOWN) {
        search.scenario.context = scenario->generate > 0 ? 0 : inference->scenario.context;
        search.size = &search.scenario.common.shape.batch;
        out->max_batch = largest(&search);
        search.scenario = *scenario;
        search.size = scenario->generate > 0 ? &search.scenario.prompt : &search.scenario.context;
        if (scenario->phase == ROOF_PHASE_PREFILL && scenario->chunk > 0) {
            search.least = scenario->chunk;
        }
        out->max_context = largest(&search);
    }
    out->kv_crossover_context = crossover(inference);
    roof_predict_model_bounds(out->compute_bound_batch, inference, scenario);
    return ROOF_OK;
}
