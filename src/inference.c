// SPDX-License-Identifier: MIT
#include "roofline/inference.h"

#include <math.h>
#include <string.h>

/* --- one pass ------------------------------------------------------------------------------ */

/* One pass of a microbatch through all stages, without its operators. */
struct pass {
    double path_s;        /* sum over the stages */
    double slowest_s;     /* of the stages */
    double weights_bytes; /* memory, of the stage that needs most */
    double kv_bytes;
    double activation_bytes;
    double kv_read_bytes; /* over all stages */
    double weights_read_bytes;
};

static double node_size(const struct roof_hardware *hardware)
{
    const double devices = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    return isnan(devices) ? 0 : devices;
}

/* A collective takes the faster of its two algorithms; without a latency that is the ring. */
static enum roof_status predict_node(struct roof_prediction *out, const struct roof_node *node,
                                     const struct roof_hardware *hardware, struct roof_error *error)
{
    enum roof_status status = roof_predict(out, &node->workload, hardware, error);
    if (status == ROOF_OK && node->workload.op == ROOF_OPERATOR_ALL_REDUCE &&
        out->link.latency_s > 0) {
        struct roof_workload other = node->workload;
        struct roof_prediction at_once;
        other.shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
        status = roof_predict(&at_once, &other, hardware, error);
        if (status == ROOF_OK && at_once.time_s < out->time_s) {
            *out = at_once;
        }
    }
    return status;
}

/* What an operator holds beside the weights and the cache while it runs. */
static double live_bytes(const struct roof_prediction *p)
{
    const bool expanded = p->workload.op == ROOF_OPERATOR_MLA_PREFILL; /* K and V are temporary */
    return p->role_bytes[ROOF_ROLE_ACTIVATIONS] + p->role_bytes[ROOF_ROLE_OUT] +
           (expanded ? p->role_bytes[ROOF_ROLE_KV] : 0);
}

/* Adds a stage to a pass; called for each of its nodes. */
struct stage {
    double time_s;
    double weights_bytes;
    double live_bytes;
};

static void add_to_stage(struct stage *stage, struct pass *pass, const struct roof_node *node,
                         const struct roof_prediction *p)
{
    const double count = (double)node->count;
    stage->time_s += count * p->time_s;
    stage->weights_bytes += roof_node_bytes(node);
    stage->live_bytes = fmax(stage->live_bytes, live_bytes(p));
    pass->weights_read_bytes += count * p->role_bytes[ROOF_ROLE_WEIGHTS];
    if (p->workload.op != ROOF_OPERATOR_KV_APPEND) {
        pass->kv_read_bytes += count * p->role_bytes[ROOF_ROLE_KV];
    }
}

static void end_stage(struct pass *pass, const struct stage *stage, const struct roof_graph *graph)
{
    const double activations = graph->residual_bytes + stage->live_bytes;
    pass->path_s += stage->time_s;
    pass->slowest_s = fmax(pass->slowest_s, stage->time_s);
    if (stage->weights_bytes + graph->kv_bytes + activations >
        pass->weights_bytes + pass->kv_bytes + pass->activation_bytes) {
        pass->weights_bytes = stage->weights_bytes;
        pass->kv_bytes = graph->kv_bytes;
        pass->activation_bytes = activations;
    }
}

/* Where the formats are those of a file, its own bytes count: scales and padding included. */
static void use_file_bytes(struct pass *pass, const struct roof_model *model)
{
    if (!isnan(model->file_bytes)) {
        const double formula = roof_model_bytes(model);
        pass->weights_bytes *= formula > 0 ? model->file_bytes / formula : 1;
    }
}

static enum roof_status run_pass(struct pass *out, const struct roof_model *model,
                                 const struct roof_scenario *s,
                                 const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_graph graph;
    *out = (struct pass){0};
    for (int64_t stage = 0; stage < s->pp; stage++) {
        struct stage sum = {0};
        enum roof_status status =
            roof_graph_build(&graph, model, s, stage, (int64_t)node_size(hardware), error);
        for (size_t i = 0; i < graph.count && status == ROOF_OK; i++) {
            struct roof_prediction prediction;
            status = predict_node(&prediction, &graph.node[i], hardware, error);
            if (status == ROOF_OK) {
                add_to_stage(&sum, out, &graph.node[i], &prediction);
            }
        }
        if (status != ROOF_OK) {
            return status;
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
static double step_time(const struct pass *pass, const struct roof_scenario *s)
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
    *out = (struct pass){0};
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
    enum roof_status status = roof_scenario_resolve(&d, s->draft, error);
    if (status == ROOF_OK) {
        status = run_pass(out, s->draft, &d, hardware, error);
    }
    if (status == ROOF_OK) {
        out->path_s = (double)s->draft_tokens * step_time(out, &d);
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

static void add_total(struct roof_prediction *total, double share[ROOF_BOTTLENECK_COUNT],
                      const struct roof_inference_node *n)
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
    add_known(&total->network_bytes, device * p->network_bytes);
    total->memory_time_s += path * p->memory_time_s;
    total->compute_time_s += path * p->compute_time_s;
    add_known(&total->network_time_s, path * p->network_time_s);
    total->time_s += path * p->time_s;
    share[p->bottleneck] += path * p->time_s;
}

static void finish_total(struct roof_inference *out)
{
    struct roof_prediction *const total = &out->total;
    double share[ROOF_BOTTLENECK_COUNT] = {0};
    for (size_t i = 0; i < out->count; i++) {
        add_total(total, share, &out->node[i]);
    }
    for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
        if (share[b] > share[total->bottleneck]) {
            total->bottleneck = (enum roof_bottleneck)b;
        }
    }
    total->intensity = total->flops / total->bytes;
    total->attainable_flops_per_s = isnan(total->compute_time_s) || out->scenario.pp > 1
                                        ? ROOF_UNKNOWN
                                        : total->flops / total->time_s;
}

static bool same_node(const struct roof_node *a, const struct roof_node *b)
{
    return strcmp(a->name, b->name) == 0 &&
           memcmp(&a->workload.shape, &b->workload.shape, sizeof a->workload.shape) == 0 &&
           memcmp(&a->workload.formats, &b->workload.formats, sizeof a->workload.formats) == 0;
}

/* The index of the node of an earlier stage that is equal, or of a new one with its prediction. */
static enum roof_status find_node(size_t *found, struct roof_inference *out,
                                  const struct roof_node *node, struct roof_error *error)
{
    for (size_t i = 0; i < out->count && out->scenario.pp > 1; i++) {
        if (same_node(&out->node[i].node, node)) {
            *found = i;
            return ROOF_OK;
        }
    }
    if (out->count == ROOF_GRAPH_MAX) {
        return roof_error_set(error, ROOF_USAGE,
                              "the layers of %s differ in too many ways: more than %d operators",
                              out->model->id, ROOF_GRAPH_MAX);
    }
    *found = out->count++;
    struct roof_inference_node *const added = &out->node[*found];
    added->node = *node;
    added->node.count = 0;
    added->device_count = 0;
    return predict_node(&added->prediction, node, out->total.hardware, error);
}

/* All stages, with their operators; those of the slowest stage are what its device runs. */
static enum roof_status run_stages(struct pass *pass, struct roof_inference *out,
                                   struct roof_error *error)
{
    const struct roof_scenario *const s = &out->scenario;
    struct roof_graph graph;
    *pass = (struct pass){0};
    for (int64_t stage = 0; stage < s->pp; stage++) {
        struct stage sum = {0};
        size_t index[ROOF_GRAPH_MAX] = {0};
        enum roof_status status = roof_graph_build(&graph, out->model, s, stage,
                                                   (int64_t)node_size(out->total.hardware), error);
        for (size_t i = 0; i < graph.count && status == ROOF_OK; i++) {
            status = find_node(&index[i], out, &graph.node[i], error);
            if (status == ROOF_OK) {
                struct roof_inference_node *const found = &out->node[index[i]];
                found->node.count += graph.node[i].count;
                add_to_stage(&sum, pass, &graph.node[i], &found->prediction);
            }
        }
        if (status != ROOF_OK) {
            return status;
        }
        if (stage == 0 || sum.time_s > pass->slowest_s) {
            for (size_t i = 0; i < out->count; i++) {
                out->node[i].device_count = 0;
            }
            for (size_t i = 0; i < graph.count; i++) {
                out->node[index[i]].device_count += graph.node[i].count;
            }
        }
        end_stage(pass, &sum, &graph);
    }
    return ROOF_OK;
}

static void set_memory(struct roof_inference *out, struct pass pass, const struct pass *draft)
{
    const struct roof_hardware *const hardware = out->total.hardware;
    const double usable = hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY].value;
    const double nominal = hardware->figure[ROOF_FIGURE_MEMORY_NOMINAL].value;
    use_file_bytes(&pass, out->model);
    out->weights_memory_bytes = pass.weights_bytes + draft->weights_bytes;
    out->kv_cache_bytes = pass.kv_bytes + draft->kv_bytes;
    out->activation_memory_bytes = pass.activation_bytes;
    out->memory_capacity_bytes = isnan(usable) ? nominal : usable;
    out->memory_reserve_bytes = out->scenario.reserve * out->memory_capacity_bytes;
    const double needed =
        out->weights_memory_bytes + out->kv_cache_bytes + out->activation_memory_bytes;
    out->fits = isnan(out->memory_capacity_bytes) ? ROOF_FIT_UNKNOWN
                : needed <= out->memory_capacity_bytes - out->memory_reserve_bytes ? ROOF_FIT_YES
                                                                                   : ROOF_FIT_NO;
}

static void set_rates(struct roof_inference *out)
{
    const struct roof_scenario *const s = &out->scenario;
    const double batch = (double)s->common.shape.batch;
    double tokens = batch * out->tokens_per_step; /* of a step, all sequences */
    if (s->phase == ROOF_PHASE_PREFILL) {
        tokens = batch * (double)s->chunk;
        /* A chunk on top of an earlier one is not the whole wait for the first token. */
        out->ttft_s = s->chunk == s->context || s->prefix_hit > 0 ? out->step_s : ROOF_UNKNOWN;
    } else {
        out->tpot_s = out->step_s / out->tokens_per_step;
    }
    if (out->fits != ROOF_FIT_NO) {
        out->tokens_per_s = tokens / out->step_s;
        out->tokens_per_s_per_user = out->tokens_per_s / batch;
    }
}

static enum roof_status infer_phase(struct roof_inference *out, struct roof_error *error)
{
    struct pass pass;
    struct pass draft;
    enum roof_status status = run_stages(&pass, out, error);
    if (status == ROOF_OK) {
        status = draft_pass(&draft, &out->scenario, out->total.hardware, error);
    }
    if (status == ROOF_OK) {
        finish_total(out);
        set_memory(out, pass, &draft);
        out->tokens_per_step = expected_tokens(&out->scenario);
        out->step_s = step_time(&pass, &out->scenario) + draft.path_s;
        set_rates(out);
    }
    return status;
}

/* --- requests ------------------------------------------------------------------------------ */

/* Time per token of a decode step at a context. */
struct curve {
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    struct roof_scenario scenario; /* decode, resolved */
    struct roof_error *error;
    enum roof_status status;
};

static double curve_at(struct curve *curve, int64_t context)
{
    struct pass pass = {0};
    struct pass draft = {0};
    curve->scenario.context = context;
    if (curve->status == ROOF_OK) {
        curve->status =
            run_pass(&pass, curve->model, &curve->scenario, curve->hardware, curve->error);
    }
    if (curve->status == ROOF_OK) {
        curve->status = draft_pass(&draft, &curve->scenario, curve->hardware, curve->error);
    }
    return (step_time(&pass, &curve->scenario) + draft.path_s) / expected_tokens(&curve->scenario);
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
            sum += curve_at(curve, context);
        }
        return steps > 0 ? sum + at_last : sum;
    }
    const double slope = (at_last - at_first) / (double)steps;
    const int64_t middle = first + steps / 2;
    const double at_middle = curve_at(curve, middle);
    bool straight = on_line(at_middle, at_first + slope * (double)(middle - first));
    for (int quarter = 1; quarter <= 3 && straight; quarter += 2) {
        const int64_t context = first + steps * quarter / 4;
        straight = on_line(curve_at(curve, context), at_first + slope * (double)(context - first));
    }
    if (straight || curve->status != ROOF_OK) {
        return (double)(steps + 1) * (at_first + at_last) / 2;
    }
    return sum_curve(curve, first, middle, at_first, at_middle) +
           sum_curve(curve, middle + 1, last, curve_at(curve, middle + 1), at_last);
}

/* The first token comes with the prefill, each further one from a decode step whose cache holds the
 * prompt and all tokens before it. */
static enum roof_status infer_request(struct roof_inference *out, struct roof_error *error)
{
    const struct roof_scenario *const asked = &out->scenario;
    const struct roof_hardware *const hardware = out->total.hardware;
    struct roof_scenario prefill = *asked;
    struct pass pass;
    struct pass draft;
    const int64_t prompt = asked->prompt;
    const int64_t generate = asked->generate;
    prefill.phase = ROOF_PHASE_PREFILL;
    prefill.context = prompt;
    prefill.prompt = 0;
    prefill.generate = 0;
    prefill.draft_tokens = 0;
    enum roof_status status = roof_scenario_resolve(&prefill, out->model, error);
    struct curve curve = {
        .model = out->model, .hardware = hardware, .scenario = *asked, .error = error};
    curve.scenario.phase = ROOF_PHASE_DECODE;
    curve.scenario.prompt = 0;
    curve.scenario.generate = 0;
    curve.scenario.prefix_hit = 0;
    curve.scenario.context = prompt + generate;
    if (status == ROOF_OK) {
        status = roof_scenario_resolve(&curve.scenario, out->model, error);
    }
    if (status == ROOF_OK) {
        status = run_pass(&pass, out->model, &prefill, hardware, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    out->ttft_s = step_time(&pass, &prefill);
    const double prefill_activations = pass.activation_bytes;
    double decode_s = 0;
    if (generate > 1) {
        const int64_t first = prompt + 1;
        const int64_t last = prompt + generate - 1;
        decode_s = sum_curve(&curve, first, last, curve_at(&curve, first), curve_at(&curve, last));
        out->tpot_s = decode_s / (double)(generate - 1);
    }
    status = curve.status;
    /* The memory is that at the end, beside the larger of the two phases' activations. */
    curve.scenario.context = prompt + generate;
    if (status == ROOF_OK) {
        status = run_pass(&pass, out->model, &curve.scenario, hardware, error);
    }
    if (status == ROOF_OK) {
        status = draft_pass(&draft, &curve.scenario, hardware, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    pass.activation_bytes = fmax(pass.activation_bytes, prefill_activations);
    set_memory(out, pass, &draft);
    out->scenario.context = prompt + generate;
    out->tokens_per_step = expected_tokens(asked);
    out->e2e_s = out->ttft_s + decode_s;
    out->step_s = out->e2e_s;
    out->total.time_s = out->e2e_s;
    const double batch = (double)asked->common.shape.batch;
    if (out->fits != ROOF_FIT_NO) {
        out->tokens_per_s = batch * (double)generate / out->e2e_s;
        out->tokens_per_s_per_user = (double)generate / out->e2e_s;
    }
    /* Sums over hundreds of passes are no totals of one. */
    out->total.flops = out->total.bytes = ROOF_UNKNOWN;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        out->total.role_bytes[role] = ROOF_UNKNOWN;
    }
    out->total.intensity = out->total.attainable_flops_per_s = ROOF_UNKNOWN;
    out->total.memory_time_s = out->total.compute_time_s = ROOF_UNKNOWN;
    return ROOF_OK;
}

enum roof_status roof_infer(struct roof_inference *out, const struct roof_model *model,
                            const struct roof_scenario *scenario,
                            const struct roof_hardware *hardware, struct roof_error *error)
{
    out->scenario = *scenario;
    out->model = model;
    out->count = 0;
    out->ttft_s = out->tpot_s = out->e2e_s = ROOF_UNKNOWN;
    out->tokens_per_s = out->tokens_per_s_per_user = ROOF_UNKNOWN;
    enum roof_status status = roof_scenario_resolve(&out->scenario, model, error);
    if (status != ROOF_OK) {
        return status;
    }
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
    const struct roof_inference *inference;
    int64_t *size; /* the field of the scenario */
    int64_t least; /* its smallest valid value */
};

static bool fits_at(struct search *search, int64_t size)
{
    struct roof_inference trial; /* of it only the memory is used */
    struct pass pass;
    struct pass draft;
    *search->size = size;
    trial.scenario = search->scenario;
    trial.model = search->inference->model;
    trial.total.hardware = search->inference->total.hardware;
    if (roof_scenario_resolve(&trial.scenario, trial.model, NULL) != ROOF_OK) {
        return false;
    }
    if (trial.scenario.phase == ROOF_PHASE_REQUEST) {
        return roof_infer(&trial, trial.model, &search->scenario, trial.total.hardware, NULL) ==
                   ROOF_OK &&
               trial.fits == ROOF_FIT_YES;
    }
    if (run_pass(&pass, trial.model, &trial.scenario, trial.total.hardware, NULL) != ROOF_OK ||
        draft_pass(&draft, &trial.scenario, trial.total.hardware, NULL) != ROOF_OK) {
        return false;
    }
    set_memory(&trial, pass, &draft);
    return trial.fits == ROOF_FIT_YES;
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
                     const struct roof_inference *inference, int64_t context)
{
    struct pass here;
    struct pass next;
    const struct roof_hardware *const hardware = inference->total.hardware;
    s->context = context + 1;
    bool known = run_pass(&next, inference->model, s, hardware, NULL) == ROOF_OK;
    s->context = context;
    known = known && run_pass(&here, inference->model, s, hardware, NULL) == ROOF_OK;
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
static double crossover(const struct roof_inference *inference)
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
static bool compute_bound(const struct roof_inference *inference, const struct roof_scenario *at,
                          int64_t batch, size_t i)
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

static double compute_bound_from(const struct roof_inference *inference,
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

enum roof_status roof_infer_limits(struct roof_limits *out, const struct roof_inference *inference,
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
    /* One stage and short contexts are enough to see what grows with the batch. */
    struct roof_scenario at = *scenario;
    at.context = inference->scenario.context;
    at.pp = 1;
    for (size_t i = 0; i < inference->count; i++) {
        const bool product = roof_is_product(inference->node[i].node.workload.op);
        out->compute_bound_batch[i] =
            product ? compute_bound_from(inference, &at, i) : ROOF_UNKNOWN;
    }
    return ROOF_OK;
}
