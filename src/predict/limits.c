// SPDX-License-Identifier: MIT
/* Limits: the largest batch and context that fit, and the sizes at which the bottleneck changes. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/layout.h"
#include "predict/request.h"

/* A search for the largest size of a scenario that fits the memory. */
struct search {
    struct roof_scenario scenario; /* not resolved */
    const struct roof_model_prediction *prediction;
    const struct roof_model *model; /* that of the prediction, or with other formats */
    int64_t *size;                  /* the field of the scenario that is searched */
    int64_t least;                  /* the smallest valid value of that field */
};

/* Returns the device without its calibration, because the bottleneck of a bound needs no expected
 * times. */
static struct roof_hardware unmeasured(const struct roof_model_prediction *prediction)
{
    struct roof_hardware hardware = *prediction->total.hardware;
    hardware.calibration = NULL;
    return hardware;
}

/* Tells whether the device can run the scenario at all, apart from memory: it may have no link for
 * a split. */
static bool runs_at(struct search *search, int64_t size)
{
    const struct roof_model *const model = search->model;
    const struct roof_hardware hardware = unmeasured(search->prediction);
    struct roof_scenario prefill;
    struct roof_pass pass;
    *search->size = size;
    struct roof_scenario s = search->scenario;
    if (roof_scenario_resolve(&s, model, NULL) != ROOF_OK) {
        return false;
    }
    if (s.phase == ROOF_PHASE_REQUEST) {
        const struct roof_scenario request = s;
        roof_scenario_phases(&prefill, &s, &request);
        if (roof_scenario_resolve(&s, model, NULL) != ROOF_OK) {
            return false;
        }
    }
    return roof_pass_run(&pass, model, &s, &hardware, NULL, NULL) == ROOF_OK;
}

/* --- where a quantity turns positive --------------------------------------------------------- */

/* Tells whether a condition holds at a size; *excess is the margin, negative if it does not. */
typedef bool (*holds_at)(void *context, int64_t size, double *excess);

/* The most guesses by a line. */
#define CROSSING_TRIES 3

/* Checks whether the first size at which the condition holds is this one or the next. Sets *out to
 * it, and *last and *excess to the other size that was tested. */
static bool first_near(int64_t *out, int64_t *last, double *excess, holds_at holds, void *context,
                       int64_t size)
{
    double here = 0;
    const bool now = holds(context, size, &here);
    *last = now ? size - 1 : size + 1;
    *out = now ? size : size + 1;
    return holds(context, *last, excess) != now;
}

/*
 * Finds the smallest size above `least` from which a condition holds. Most quantities are nearly
 * linear in the size, so the line through two of them gives a guess; the size before it is checked.
 * False: a search has to find it.
 */
static bool find_crossing(int64_t *out, holds_at holds, void *context, int64_t least, int64_t most)
{
    int64_t size[2] = {least, 2 * least};
    double excess[2] = {0, 0};
    if (holds(context, size[0], &excess[0]) || holds(context, size[1], &excess[1])) {
        return false;
    }
    for (int i = 0; i < CROSSING_TRIES && size[0] != size[1]; i++) {
        const double slope = (excess[1] - excess[0]) / (double)(size[1] - size[0]);
        const double root = ceil((double)size[1] - excess[1] / slope);
        if (!(slope > 0 && root > (double)least && root < (double)most)) {
            return false;
        }
        size[0] = size[1];
        excess[0] = excess[1];
        if (first_near(out, &size[1], &excess[1], holds, context, (int64_t)root)) {
            return true;
        }
    }
    return false;
}

/* --- memory ---------------------------------------------------------------------------------- */

/* Tells whether a size needs more memory than there is. */
static bool exceeds_at(void *context, int64_t size, double *excess)
{
    struct search *const search = context;
    const struct roof_model *const model = search->model;
    const struct roof_hardware *const hardware = search->prediction->total.hardware;
    struct roof_memory memory;
    *search->size = size;
    struct roof_scenario s = search->scenario;
    *excess = ROOF_UNKNOWN;
    if (roof_scenario_resolve(&s, model, NULL) != ROOF_OK ||
        roof_memory_needed(&memory, model, &s, hardware, NULL) != ROOF_OK) {
        return true;
    }
    *excess = -roof_memory_room(&memory);
    return memory.fits != ROOF_FIT_YES;
}

static bool fits_at(struct search *search, int64_t size)
{
    double excess = 0;
    return !exceeds_at(search, size, &excess);
}

/* Returns the largest size that fits, NAN if none is too large; memory grows with the size. */
static double largest_that_fits(struct search *search)
{
    int64_t fits = 0;
    int64_t fails = search->least;
    if (!runs_at(search, fails)) {
        return 0;
    }
    if (find_crossing(&fails, exceeds_at, search, search->least, ROOF_LIMIT_MAX)) {
        return (double)(fails - 1);
    }
    fails = search->least;
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

/* Returns the shortest prompt, of at least `least` tokens, with a given number of tokens that are
 * not cached; at most ROOF_LIMIT_MAX. */
static int64_t shortest_prompt(int64_t least, int64_t uncached, double prefix_hit)
{
    int64_t most = ROOF_LIMIT_MAX;
    while (least < most) {
        const int64_t middle = least + (most - least) / 2;
        if (roof_uncached(middle, prefix_hit) < uncached) {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    return least;
}

/* The largest number of prompts in a step for which images are counted exactly. */
#define PROMPTS_TOLD_APART 256

/*
 * Returns the size from which the longest prompt that fits is searched. Only the memory of images
 * falls as prompts grow, because fewer prompts share the tokens of a step. Between the lengths at
 * which k and k - 1 prompts share them the memory grows, so the first k whose shortest prompt fits
 * has the longest one.
 */
static int64_t least_with_media(struct search *search, int64_t least)
{
    const struct roof_scenario *const s = &search->prediction->scenario;
    const bool shares = s->phase == ROOF_PHASE_REQUEST && s->static_batch == 0 &&
                        search->scenario.chunk != ROOF_CHUNK_WHOLE;
    for (int64_t k = 1; shares && k <= PROMPTS_TOLD_APART; k++) {
        const int64_t start = shortest_prompt(least, (s->chunk + k - 1) / k, s->prefix_hit);
        if (start <= least) {
            break;
        }
        if (fits_at(search, start)) {
            return start;
        }
    }
    return least;
}

/* Finds the KV bytes that a step reads at a context, their growth by one more token, and the bytes
 * of weights that it reads. Returns false if they are unknown. */
static bool kv_reads(double *bytes, double *slope, double *weights, struct roof_scenario *s,
                     const struct roof_model_prediction *prediction, int64_t context)
{
    struct roof_pass here;
    struct roof_pass next;
    const struct roof_hardware *const hardware = prediction->total.hardware;
    s->context = context + 1;
    bool known = roof_pass_run(&next, prediction->model, s, hardware, NULL, NULL) == ROOF_OK;
    s->context = context;
    known = known && roof_pass_run(&here, prediction->model, s, hardware, NULL, NULL) == ROOF_OK;
    if (known) {
        *bytes = here.kv_read_bytes;
        *slope = next.kv_read_bytes - here.kv_read_bytes;
        *weights = here.weights_read_bytes;
    }
    return known;
}

/*
 * The KV bytes that a decode step reads grow by a constant per token, and by a smaller one once
 * windows or chunks are full or keys are chosen. From the bytes and the slope on both sides this
 * solves for the context at which they equal the bytes of the weights.
 */
static double kv_crossover(const struct roof_model_prediction *prediction)
{
    struct roof_scenario s = prediction->scenario;
    const struct roof_model *const m = prediction->model;
    const int64_t window = m->index_topk > 0 ? m->index_topk + 1 : m->window + m->chunked;
    double bytes = 0;
    double slope = 0;
    double weights = 0;
    if (s.phase != ROOF_PHASE_DECODE || s.draft_tokens > 0 || m->key_is_value ||
        m->block_topk > 0 || !kv_reads(&bytes, &slope, &weights, &s, prediction, 1)) {
        return ROOF_UNKNOWN;
    }
    const double before = 1 + (weights - bytes) / slope;
    if (window == 0 || before <= (double)window) {
        return slope > 0 ? before : ROOF_UNKNOWN; /* no layer may have a cache that grows */
    }
    if (!kv_reads(&bytes, &slope, &weights, &s, prediction, window)) {
        return ROOF_UNKNOWN;
    }
    return slope > 0 ? (double)window + (weights - bytes) / slope : ROOF_UNKNOWN;
}

/* --- what bounds ----------------------------------------------------------------------------- */

/* The largest batch for the search. */
#define BATCH_MAX (1 << 20)

/* Stands for all operators, in place of the number of one. */
#define WHOLE ROOF_GRAPH_MAX

/* A search for the batch from which an operator, or a step, is compute-bound. */
struct bound_search {
    const struct roof_model_prediction *prediction;
    const struct roof_scenario *at; /* whose batch is searched */
    size_t node;
};

/* Returns true if the operator of the search is compute-bound at a batch. */
static bool compute_bound(void *context, int64_t batch, double *excess)
{
    const struct bound_search *const search = context;
    const struct roof_model_prediction *const prediction = search->prediction;
    struct roof_graph graph;
    struct roof_prediction p;
    struct roof_scenario s = *search->at;
    const struct roof_node *const wanted = &prediction->node[search->node].node;
    const struct roof_hardware hardware = unmeasured(prediction);
    s.common.shape.batch = batch;
    *excess = ROOF_UNKNOWN;
    if (roof_scenario_resolve(&s, prediction->model, NULL) != ROOF_OK ||
        roof_graph_build(&graph, prediction->model, &s, 0, (struct roof_places){0}, NULL) !=
            ROOF_OK) {
        return false;
    }
    for (size_t k = 0; k < graph.count; k++) {
        const struct roof_node *const node = &graph.node[k];
        if (strcmp(node->name, wanted->name) == 0 && node->host == wanted->host &&
            memcmp(&node->workload.formats, &wanted->workload.formats,
                   sizeof node->workload.formats) == 0) {
            if (roof_predict(&p, &node->workload, roof_node_hardware(node, &hardware), NULL) !=
                ROOF_OK) {
                return false;
            }
            *excess = p.compute_time_s - p.memory_time_s;
            return p.flops > 0 && p.bottleneck == ROOF_BOTTLENECK_COMPUTE;
        }
    }
    return false;
}

/* Returns true if compute has the largest share of a decode step of a batch. *excess is unknown if
 * the step is, else 0. */
static bool step_compute_bound(const struct roof_model_prediction *prediction,
                               const struct roof_scenario *decode, int64_t batch, double *excess)
{
    struct roof_pass pass;
    struct roof_scenario s = *decode;
    const struct roof_hardware hardware = unmeasured(prediction);
    s.common.shape.batch = batch;
    *excess = ROOF_UNKNOWN;
    if (roof_scenario_resolve(&s, prediction->model, NULL) != ROOF_OK ||
        roof_pass_run(&pass, prediction->model, &s, &hardware, NULL, NULL) != ROOF_OK) {
        return false;
    }
    *excess = 0;
    return roof_largest_share(pass.share_s) == ROOF_BOTTLENECK_COMPUTE;
}

static bool bound_at(struct bound_search *search, int64_t batch, double *excess)
{
    return search->node == WHOLE ? step_compute_bound(search->prediction, search->at, batch, excess)
                                 : compute_bound(search, batch, excess);
}

/* Returns the smallest batch from which operator i, or the whole, is compute-bound; NAN: none. */
static double compute_bound_from(const struct roof_model_prediction *prediction,
                                 const struct roof_scenario *at, size_t i)
{
    struct bound_search search = {.prediction = prediction, .at = at, .node = i};
    double excess = 0;
    int64_t no = 0;
    int64_t yes = 1;
    if (i != WHOLE && find_crossing(&yes, compute_bound, &search, 1, BATCH_MAX)) {
        return (double)yes;
    }
    if (!bound_at(&search, BATCH_MAX, &excess) && !isnan(excess)) {
        return ROOF_UNKNOWN; /* nor is any smaller batch */
    }
    yes = 1;
    while (yes <= BATCH_MAX && !bound_at(&search, yes, &excess)) {
        no = yes;
        yes *= 2;
    }
    while (yes <= BATCH_MAX && yes - no > 1) {
        const int64_t middle = no + (yes - no) / 2;
        if (bound_at(&search, middle, &excess)) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    return yes <= BATCH_MAX ? (double)yes : ROOF_UNKNOWN;
}

void roof_predict_model_bounds(double out[ROOF_GRAPH_MAX],
                               const struct roof_model_prediction *prediction,
                               const struct roof_scenario *scenario)
{
    /* One stage is enough to see the growth with the batch, of which it processes a part at a time.
     */
    const int64_t stages = prediction->scenario.pp;
    const double parts = (double)stages;
    struct roof_scenario at = *scenario;
    at.context = prediction->scenario.context;
    at.prefill_batch = (prediction->scenario.prefill_batch + stages - 1) / stages;
    at.pp = 1;
    for (size_t i = 0; i < prediction->count; i++) {
        const bool product = roof_is_product(prediction->node[i].node.workload.op);
        const double part = product ? compute_bound_from(prediction, &at, i) : ROOF_UNKNOWN;
        out[i] = (part - 1) * parts + 1;
    }
}

/* Tells whether the device has a peak for each product of a decode step. */
static bool peaks_known(const struct roof_model_prediction *prediction,
                        const struct roof_scenario *decode)
{
    struct roof_graph graph;
    if (roof_graph_build(&graph, prediction->model, decode, 0, (struct roof_places){0}, NULL) !=
        ROOF_OK) {
        return false;
    }
    for (size_t i = 0; i < graph.count; i++) {
        const struct roof_workload *const work = &graph.node[i].workload;
        struct roof_prediction p;
        if (roof_is_product(work->op) &&
            (roof_predict(&p, work, roof_node_hardware(&graph.node[i], prediction->total.hardware),
                          NULL) != ROOF_OK ||
             isnan(p.compute_time_s))) {
            return false;
        }
    }
    return true;
}

double roof_decode_compute_bound(const struct roof_model_prediction *prediction)
{
    const struct roof_scenario *const asked = &prediction->scenario;
    struct roof_scenario prefill;
    struct roof_scenario decode;
    roof_scenario_phases(&prefill, &decode, asked);
    if ((asked->phase != ROOF_PHASE_DECODE && asked->phase != ROOF_PHASE_REQUEST) ||
        !peaks_known(prediction, &decode)) {
        return ROOF_UNKNOWN;
    }
    const double batch = compute_bound_from(prediction, &decode, WHOLE);
    return isnan(batch) ? (double)INFINITY : batch;
}

/* Returns the most sequences of a scenario that fit with a model. */
static double most_of_model(const struct roof_model_prediction *prediction,
                            const struct roof_model *model, const struct roof_scenario *scenario)
{
    struct search search = {
        .scenario = *scenario, .prediction = prediction, .model = model, .least = 1};
    search.scenario.context = scenario->generate > 0 ? 0 : prediction->scenario.context;
    search.size = &search.scenario.common.shape.batch;
    return largest_that_fits(&search);
}

/* Returns the most sequences of a scenario that fit. */
static double most_sequences(const struct roof_model_prediction *prediction,
                             const struct roof_scenario *scenario)
{
    return most_of_model(prediction, prediction->model, scenario);
}

/* The next tensor parallelism is searched up to this multiple of that of the scenario. */
#define TP_FACTOR 8

/* Tells whether tensor parallelism alone splits the layers over the devices of a stage. */
static bool splits_by_tp(const struct roof_scenario *resolved)
{
    return resolved->attention_dp <= 1 && resolved->moe_ep <= 1 && resolved->moe_tp <= resolved->tp;
}

/* Finds the split over the fewest devices that lets more sequences fit, if it needs fewer devices
 * than next_tp; among splits over as many devices, the one that fits the most sequences. Only
 * usual numbers of devices are tried. If the attention or the experts have their own split, it
 * finds none. */
static void find_nearest(struct roof_limits *out, const struct roof_model_prediction *prediction,
                         const struct roof_scenario *scenario)
{
    const struct roof_scenario *const s = &prediction->scenario;
    const int64_t devices = s->tp * s->pp;
    const int64_t tp = isnan(out->next_tp) ? TP_FACTOR * s->tp : (int64_t)out->next_tp;
    struct roof_scenario changed = *scenario;
    if (!splits_by_tp(s)) {
        return;
    }
    changed.moe_tp = changed.moe_ep = 0;
    for (int64_t d = devices + 1; d < tp * s->pp && isnan(out->max_batch_nearest); d++) {
        const bool usual = roof_hardware_comes_in(prediction->total.hardware, d, devices);
        for (changed.tp = usual ? d : 0; changed.tp >= 1; changed.tp--) {
            changed.pp = d / changed.tp;
            const double most =
                changed.tp * changed.pp == d ? most_sequences(prediction, &changed) : ROOF_UNKNOWN;
            if (most > out->max_batch &&
                (isnan(out->max_batch_nearest) || most > out->max_batch_nearest)) {
                out->max_batch_nearest = most;
                out->nearest_tp = (double)changed.tp;
                out->nearest_pp = (double)changed.pp;
            }
        }
    }
}

/* Finds how many sequences fit if the same devices share the sequences and the experts. Then no
 * token is in the cache of several devices, as it is when tensor parallelism splits latent
 * attention. */
static void find_ep(struct roof_limits *out, const struct roof_model_prediction *prediction,
                    const struct roof_scenario *scenario)
{
    struct roof_scenario changed = *scenario;
    changed.tp = 1;
    changed.common.shape.ep = prediction->scenario.tp;
    changed.moe_tp = changed.moe_ep = changed.attention_dp = 0;
    if (prediction->model->experts > 0 && prediction->scenario.tp > 1 &&
        splits_by_tp(&prediction->scenario)) {
        const double most = most_sequences(prediction, &changed);
        out->max_batch_ep = most > out->max_batch ? most : ROOF_UNKNOWN;
    }
}

/* Finds how many sequences fit with the formats of the published checkpoint, if these can be read.
 */
static enum roof_status find_checkpoint(struct roof_limits *out,
                                        const struct roof_model_prediction *prediction,
                                        const struct roof_scenario *scenario,
                                        struct roof_error *error)
{
    struct roof_error unread; /* a note of the report says so */
    struct roof_model *const published = roof_model_copy(prediction->model);
    if (published == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = roof_layout_apply(published, ROOF_CHECKPOINT, NULL, &unread);
    const double most =
        status == ROOF_OK ? most_of_model(prediction, published, scenario) : ROOF_UNKNOWN;
    out->max_batch_checkpoint = most > out->max_batch ? most : ROOF_UNKNOWN;
    roof_model_free(published);
    return status == ROOF_MEMORY ? roof_no_memory(error) : ROOF_OK;
}

/* Finds how many sequences fit with fewer bits in weights that do not fit: those of the published
 * checkpoint, unless it has none or the question names formats, which a checkpoint refuses; else 8.
 */
static enum roof_status find_narrower(struct roof_limits *out,
                                      const struct roof_model_prediction *prediction,
                                      const struct roof_scenario *scenario,
                                      struct roof_error *error)
{
    const bool named = scenario->common.formats.weights != ROOF_PRECISION_AUTO ||
                       scenario->common.formats.precision != ROOF_PRECISION_AUTO;
    if (prediction->fits != ROOF_FIT_NO || prediction->model->layout != NULL ||
        roof_precision_bits(prediction->scenario.common.formats.weights) <= 8) {
        return ROOF_OK;
    }
    if (!named && prediction->model->quantization != NULL) {
        TRY(find_checkpoint(out, prediction, scenario, error));
        if (!isnan(out->max_batch_checkpoint)) {
            return ROOF_OK;
        }
    }
    struct roof_scenario changed = *scenario;
    struct roof_formats *const said = &changed.common.formats;
    said->weights = said->activations = said->out = ROOF_PRECISION_AUTO;
    said->precision = ROOF_PRECISION_FP8_E4M3;
    const double most = most_sequences(prediction, &changed);
    out->max_batch_fp8 = most > out->max_batch ? most : ROOF_UNKNOWN;
    return ROOF_OK;
}

/* Finds other changes that let more sequences fit: fewer bits in the cache, another split, or more
 * devices. */
static void find_levers(struct roof_limits *out, const struct roof_model_prediction *prediction,
                        const struct roof_scenario *scenario)
{
    const enum roof_precision kv =
        roof_scenario_narrower_cache(&prediction->scenario, prediction->model);
    struct roof_scenario changed = *scenario;
    if (kv != ROOF_PRECISION_AUTO) {
        double *const more =
            kv == ROOF_PRECISION_Q8_0 ? &out->max_batch_kv_q8_0 : &out->max_batch_kv_fp8;
        changed.common.formats.kv = kv;
        const double most = most_sequences(prediction, &changed);
        *more = most > out->max_batch ? most : ROOF_UNKNOWN;
    }
    changed = *scenario;
    const int64_t tp = prediction->scenario.tp;
    const int64_t groups = prediction->scenario.pp * prediction->scenario.attention_dp;
    for (changed.tp = tp + 1; changed.tp <= TP_FACTOR * tp; changed.tp++) {
        const double most =
            roof_hardware_comes_in(prediction->total.hardware, changed.tp * groups, tp * groups)
                ? most_sequences(prediction, &changed)
                : ROOF_UNKNOWN;
        if (most > out->max_batch) {
            out->max_batch_next_tp = most;
            out->next_tp = (double)changed.tp;
            break;
        }
    }
    find_nearest(out, prediction, scenario);
    find_ep(out, prediction, scenario);
}

/* Offloads the fewest layers that make room on the device; false if that does not help. The host is
 * not known, so the answer has the memory that it needs. */
static bool offload_that_fits(struct roof_limits *out,
                              const struct roof_model_prediction *prediction,
                              const struct roof_scenario *scenario, enum roof_offload_part part)
{
    const struct roof_model *const model = prediction->model;
    const struct roof_hardware *const hardware = prediction->total.hardware;
    struct roof_scenario s = *scenario;
    struct roof_memory m;
    s.offload = roof_offload_pack(part, ROOF_OFFLOAD_FIT);
    s.host = hardware;
    if (roof_scenario_resolve(&s, model, NULL) != ROOF_OK ||
        roof_offload_solve(&s, model, hardware, NULL) != ROOF_OK ||
        roof_memory_needed(&m, model, &s, hardware, NULL) != ROOF_OK ||
        m.weights + m.kv + m.activations > m.capacity - m.reserve ||
        m.host_weights + m.host_kv + m.host_activations > prediction->host_capacity_bytes) {
        return false;
    }
    out->fit_offload = s.offload;
    out->fit_offload_host_bytes = m.host_weights + m.host_kv + m.host_activations;
    return true;
}

/* Finds changes that make room for a scenario that does not fit: a smaller reserve, or a host. */
static void find_room(struct roof_limits *out, const struct roof_model_prediction *prediction,
                      const struct roof_scenario *scenario)
{
    const double needed = prediction->weights_memory_bytes + prediction->kv_cache_bytes +
                          prediction->activation_memory_bytes;
    const double spare = roof_memory_spare(needed, prediction->memory_capacity_bytes);
    /* A smaller reserve does not help a host that has too little memory. */
    const bool host_fits = !(prediction->host_memory_bytes > prediction->host_capacity_bytes);
    const bool helps = host_fits && spare > 0 && spare < prediction->scenario.reserve;
    out->fit_reserve = helps ? spare : ROOF_UNKNOWN;
    /* An offload that leaves the device without room is too small. */
    const bool none = scenario->offload == ROOF_OFFLOAD_NONE;
    const enum roof_offload_part first =
        none ? ROOF_OFFLOAD_EXPERTS : roof_offload_part(scenario->offload);
    const bool lacks =
        needed > prediction->memory_capacity_bytes - prediction->memory_reserve_bytes;
    if ((none || lacks) && !offload_that_fits(out, prediction, scenario, first)) {
        (void)offload_that_fits(out, prediction, scenario, ROOF_OFFLOAD_LAYERS);
    }
    out->fit_offload_more = !none;
}

/* Tells whether a scenario names formats of the weights, but none of the KV cache. */
static bool is_kv_open(const struct roof_formats *formats, const struct roof_model *model)
{
    return formats->kv == ROOF_PRECISION_AUTO &&
           (formats->precision != ROOF_PRECISION_AUTO || formats->weights != ROOF_PRECISION_AUTO ||
            model->layout != NULL);
}

enum roof_status roof_model_limits(struct roof_limits *out,
                                   const struct roof_model_prediction *prediction,
                                   const struct roof_scenario *scenario, struct roof_error *error)
{
    struct roof_scenario fixed = *scenario;
    fixed.offload = prediction->scenario.offload; /* not more of it for more sequences */
    scenario = &fixed;
    out->fusion.known = out->blocks.known = false;
    TRY(roof_model_parameters(&out->parameters, &out->active_parameters, prediction->model, error));
    struct search search = {
        .scenario = *scenario, .prediction = prediction, .model = prediction->model, .least = 1};
    out->max_batch = out->max_context = ROOF_UNKNOWN;
    out->max_batch_checkpoint = out->max_batch_fp8 = out->max_batch_kv_fp8 =
        out->max_batch_kv_q8_0 = out->max_batch_ep = out->max_batch_next_tp = out->next_tp =
            out->max_batch_nearest = out->nearest_tp = out->nearest_pp = out->fit_reserve =
                out->fit_offload_host_bytes = out->fit_offload_s = ROOF_UNKNOWN;
    out->fit_offload = 0;
    out->fit_offload_more = false;
    out->kv_open = is_kv_open(&scenario->common.formats, prediction->model);
    if (prediction->fits == ROOF_FIT_NO) {
        find_room(out, prediction, scenario);
    }
    if (prediction->fits != ROOF_FIT_UNKNOWN) {
        out->max_batch = most_sequences(prediction, scenario);
        if (!isnan(out->max_batch) && scenario->phase != ROOF_PHASE_PREFILL) {
            TRY(find_narrower(out, prediction, scenario, error));
            find_levers(out, prediction, scenario);
        }
        search.size = scenario->generate > 0 ? &search.scenario.prompt : &search.scenario.context;
        if (scenario->phase == ROOF_PHASE_PREFILL && scenario->chunk > 0) {
            search.least = scenario->chunk;
        }
        const int64_t media = roof_media_places(&prediction->scenario, prediction->model);
        if (media > 0) {
            search.least = media > search.least ? media : search.least;
            search.least = least_with_media(&search, search.least);
        }
        out->max_context = largest_that_fits(&search);
    }
    out->kv_crossover_context = kv_crossover(prediction);
    out->decode_compute_bound = roof_decode_compute_bound(prediction);
    roof_predict_model_bounds(out->compute_bound_batch, prediction, scenario);
    return ROOF_OK;
}
