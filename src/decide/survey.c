// SPDX-License-Identifier: MIT
#include "decide/survey.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* A prediction that belongs to the survey. */
struct holder {
    struct holder *next;
    struct roof_model_prediction model_prediction;
};

/* The objects that belong to a survey, beside its formulas. */
struct owned {
    struct holder *first;
    struct roof_model *reformed; /* the model without the formats of its file or layout */
    struct roof_hardware raised[ROOF_RAISED_COUNT]; /* the device with one figure raised */
};

/* The state while a survey is made. */
struct builder {
    struct roof_survey *survey;
    struct owned *owned;
    const struct roof_model *model;
    const struct roof_hardware *hardware;
    struct roof_accuracy accuracy;
    bool levers; /* only bases and changes are needed */
    const struct roof_model_prediction
        *tried; /* the last change that was tried; NULL: it is not possible */
    struct roof_error *error;
};

static enum roof_status predict(struct builder *b, const struct roof_model_prediction **out,
                                const struct roof_model *model, const struct roof_scenario *s,
                                struct roof_error *error)
{
    struct holder *const h = calloc(1, sizeof *h);
    if (h == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status =
        roof_predict_model(&h->model_prediction, model, s, b->hardware, error);
    if (status != ROOF_OK) {
        free(h);
        return status;
    }
    h->next = b->owned->first;
    b->owned->first = h;
    *out = &h->model_prediction;
    return ROOF_OK;
}

const struct roof_model_prediction *roof_survey_first(const struct roof_survey *survey)
{
    return survey->decode.base != NULL ? survey->decode.base : survey->prefill.base;
}

double roof_survey_time(const struct roof_model_prediction *model_prediction)
{
    return model_prediction->scenario.phase == ROOF_PHASE_PREFILL ? model_prediction->step_s
                                                                  : model_prediction->tpot_s;
}

double roof_survey_expected(const struct roof_model_prediction *model_prediction)
{
    return model_prediction->scenario.phase == ROOF_PHASE_PREFILL
               ? model_prediction->expected_step_s
               : model_prediction->expected_tpot_s;
}

/* --- shares -------------------------------------------------------------------------------- */

static void share_part(double cause[ROOF_SURVEY_CAUSE_COUNT], const struct roof_part *part,
                       double share)
{
    static const enum roof_survey_cause of_role[ROOF_ROLE_COUNT] = {
        [ROOF_ROLE_WEIGHTS] = ROOF_SURVEY_WEIGHTS,
        [ROOF_ROLE_ACTIVATIONS] = ROOF_SURVEY_ACTIVATIONS,
        [ROOF_ROLE_OUT] = ROOF_SURVEY_ACTIVATIONS,
        [ROOF_ROLE_KV] = ROOF_SURVEY_KV,
    };
    if (part->bottleneck == ROOF_BOTTLENECK_MEMORY) {
        for (int role = 0; role < ROOF_ROLE_COUNT && part->bytes > 0; role++) {
            cause[of_role[role]] += share * (part->work.bytes[role] / part->bytes);
        }
    } else {
        cause[part->bottleneck == ROOF_BOTTLENECK_NETWORK ? ROOF_SURVEY_NETWORK
                                                          : ROOF_SURVEY_COMPUTE] += share;
    }
}

/* Sums the shares of a phase; a request has no operators, and thus no shares. */
static struct roof_survey_shares shares_of(const struct roof_model_prediction *r)
{
    struct roof_survey_shares out = {0};
    for (size_t i = 0; i < r->count; i++) {
        const struct roof_prediction *const p = &r->node[i].prediction;
        const struct roof_operator_row *const row = roof_operator_row(p->workload.op);
        const double share = roof_model_share(r, i);
        out.bottleneck[p->bottleneck] += share;
        if (row->other == ROOF_ROLE_KV && roof_is_product(p->workload.op)) {
            out.attention += share;
        }
        for (int k = 0; k < p->part_count; k++) {
            const double time_s = (double)r->node[i].node.count * p->part[k].time_s;
            share_part(out.cause, &p->part[k], time_s / r->total.time_s);
        }
    }
    return out;
}

/* --- points -------------------------------------------------------------------------------- */

#define BATCH_LAST 4096     /* batches are doubled up to this */
#define BATCH_UNBOUNDED 128 /* the last batch if none fits or the memory is unknown */
#define CONTEXT_FIRST 1024
#define CONTEXT_LAST 131072

static int64_t *size_of(struct roof_scenario *s)
{
    return s->phase == ROOF_PHASE_PREFILL ? &s->context : &s->common.shape.batch;
}

/* Adds a point, unless its size is impossible. */
static enum roof_status add_point(struct builder *b, struct roof_survey_phase *phase, int64_t size,
                                  bool scaling, bool detail)
{
    struct roof_scenario at = phase->base->scenario;
    const struct roof_model_prediction *model_prediction = NULL;
    size_t i = 0;
    while (i < phase->points && phase->point[i].size < size) {
        i++;
    }
    if (i == phase->points || phase->point[i].size != size) {
        if (phase->points == ROOF_SURVEY_POINTS_MAX) {
            return ROOF_OK;
        }
        if (*size_of(&at) == size) {
            model_prediction = phase->base;
        } else {
            at = phase->scenario;
            at.context = phase->base->scenario.context;
            *size_of(&at) = size;
            const enum roof_status status = predict(b, &model_prediction, b->model, &at, NULL);
            if (status != ROOF_OK) {
                return status == ROOF_USAGE ? ROOF_OK : roof_no_memory(b->error);
            }
        }
        for (size_t k = phase->points++; k > i; k--) {
            phase->point[k] = phase->point[k - 1];
        }
        phase->point[i] = (struct roof_survey_point){.size = size,
                                                     .model_prediction = model_prediction,
                                                     .share = shares_of(model_prediction)};
    }
    phase->point[i].scaling = phase->point[i].scaling || scaling;
    phase->point[i].detail = phase->point[i].detail || detail;
    return ROOF_OK;
}

static enum roof_status decode_points(struct builder *b, struct roof_survey_phase *phase)
{
    static const int64_t named[] = {1, 8, 32, 128};
    const double most = phase->limits.max_batch;
    const int64_t last = most >= 1 ? (int64_t)fmin(most, BATCH_LAST) : BATCH_UNBOUNDED;
    TRY(add_point(b, phase, phase->base->scenario.common.shape.batch, true, true));
    for (size_t i = 0; i < COUNT(named); i++) {
        TRY(add_point(b, phase, named[i], false, true));
    }
    for (int64_t batch = 1; batch <= last; batch *= 2) {
        TRY(add_point(b, phase, batch, true, false));
    }
    return most >= 1 ? add_point(b, phase, (int64_t)most, true, false) : ROOF_OK;
}

static enum roof_status prefill_points(struct builder *b, struct roof_survey_phase *phase)
{
    const double most = phase->limits.max_context;
    const int64_t made_for = b->model->positions > 0 ? b->model->positions : CONTEXT_LAST;
    double last = fmin((double)made_for, CONTEXT_LAST);
    last = most >= 1 ? fmin(last, most) : last;
    TRY(add_point(b, phase, phase->base->scenario.context, true, true));
    TRY(add_point(b, phase, CONTEXT_FIRST, false, true));
    for (int64_t context = CONTEXT_FIRST; (double)context <= last; context *= 2) {
        TRY(add_point(b, phase, context, true, false));
    }
    return ROOF_OK;
}

/* --- changes ------------------------------------------------------------------------------- */

/* Returns the gain in tokens per second of all sequences, with unlimited memory. */
static double gain(double batch, double time_s, double base_batch, double base_s)
{
    return batch / time_s / (base_batch / base_s);
}

static void add_change(struct roof_survey_phase *phase, const struct roof_survey_change *change)
{
    if (phase->changes < ROOF_SURVEY_CHANGES_MAX) {
        phase->change[phase->changes++] = *change;
    }
}

/* Predicts a change, which may be impossible. */
static enum roof_status try_change(struct builder *b, struct roof_survey_phase *phase,
                                   struct roof_survey_change change, const struct roof_model *model,
                                   const struct roof_scenario *s)
{
    const struct roof_model_prediction *const base = phase->base;
    const struct roof_model_prediction *r = NULL;
    change.time_s = change.expected_s = change.gain = change.expected_gain = ROOF_UNKNOWN;
    const enum roof_status status = predict(b, &r, model, s, &change.refused);
    b->tried = r;
    if (status == ROOF_MEMORY) {
        return roof_no_memory(b->error);
    }
    if (r != NULL) {
        const double batch = (double)r->scenario.common.shape.batch;
        const double base_batch = (double)base->scenario.common.shape.batch;
        change.model_prediction = r;
        change.time_s = roof_survey_time(r);
        change.expected_s = roof_survey_expected(r);
        change.gain = gain(batch, change.time_s, base_batch, roof_survey_time(base));
        change.expected_gain =
            gain(batch, change.expected_s, base_batch, roof_survey_expected(base));
    }
    if (change.kind == ROOF_SURVEY_ATTENTION &&
        (change.gain - 1) * (change.expected_gain - 1) < 0) {
        /* The kernels of the two kinds have fits of their own, whose errors exceed the difference.
         */
        change.expected_s = change.expected_gain = ROOF_UNKNOWN;
    }
    add_change(phase, &change);
    return ROOF_OK;
}

/* Returns the model without the formats of its file or layout. */
static const struct roof_model *reformed(struct builder *b)
{
    if (b->owned->reformed == NULL) {
        b->owned->reformed = roof_model_copy(b->model);
        if (b->owned->reformed != NULL) {
            roof_model_forget_formats(b->owned->reformed);
        }
    }
    return b->owned->reformed;
}

/* Tries narrower weights for which the device has a unit, or that it only stores; other formats are
 * unchanged. */
static enum roof_status change_formats(struct builder *b, struct roof_survey_phase *phase)
{
    const struct roof_formats *const now = &phase->base->scenario.common.formats;
    const struct roof_model *const model = reformed(b);
    if (model == NULL) {
        return roof_no_memory(b->error);
    }
    for (size_t i = 0; roof_lever_format(i) != ROOF_PRECISION_AUTO; i++) {
        const enum roof_precision format = roof_lever_format(i);
        struct roof_scenario s = phase->scenario;
        if (!roof_lever_format_runs(b->hardware, format)) {
            continue;
        }
        s.common.formats = (struct roof_formats)ROOF_FORMATS_AUTO;
        s.common.formats.precision = format;
        s.common.formats.out = now->out;
        s.common.formats.kv = now->kv;
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_FORMATS,
                                                  .loss = b->accuracy.of[format].loss};
        TRY(try_change(b, phase, change, model, &s));
        if (b->tried != NULL &&
            !(b->tried->weights_memory_bytes < phase->base->weights_memory_bytes)) {
            phase->changes--; /* the weights are not narrower */
        }
    }
    return ROOF_OK;
}

static enum roof_status change_kv(struct builder *b, struct roof_survey_phase *phase)
{
    const enum roof_precision narrower = ROOF_PRECISION_FP8_E4M3;
    struct roof_scenario s = phase->scenario;
    if (roof_precision_bits(phase->base->scenario.common.formats.kv) <=
        roof_precision_bits(narrower)) {
        return ROOF_OK;
    }
    s.common.formats.kv = narrower;
    return try_change(b, phase, (struct roof_survey_change){.kind = ROOF_SURVEY_KV_FORMAT},
                      b->model, &s);
}

/* Returns the index of the slowest product; `count` if there is none. */
static size_t largest_product(const struct roof_model_prediction *r)
{
    size_t found = r->count;
    double longest = -1;
    for (size_t i = 0; i < r->count; i++) {
        const double time_s = roof_model_time(&r->node[i]);
        if (roof_is_product(r->node[i].prediction.workload.op) && time_s > longest) {
            found = i;
            longest = time_s;
        }
    }
    return found;
}

static enum roof_status change_batch(struct builder *b, struct roof_survey_phase *phase)
{
    const struct roof_model_prediction *const base = phase->base;
    const double most = phase->limits.max_batch;
    const double now = (double)base->scenario.common.shape.batch;
    const size_t node = largest_product(base);
    const double compute =
        node < base->count ? phase->limits.compute_bound_batch[node] : ROOF_UNKNOWN;
    struct roof_scenario s = phase->scenario;
    s.context = base->scenario.context;
    if (compute > now && !(compute > most)) {
        s.common.shape.batch = (int64_t)compute;
        const struct roof_survey_change change = {
            .kind = ROOF_SURVEY_BATCH_COMPUTE, .node = node, .size = s.common.shape.batch};
        TRY(try_change(b, phase, change, b->model, &s));
    }
    if (most > now) {
        s.common.shape.batch = (int64_t)most;
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_BATCH_MEMORY,
                                                  .size = s.common.shape.batch};
        TRY(try_change(b, phase, change, b->model, &s));
    }
    return ROOF_OK;
}

#define TP_MAX 16

/* Tries twice as many devices, repeatedly until the model fits. */
static enum roof_status change_tp(struct builder *b, struct roof_survey_phase *phase)
{
    struct roof_scenario s = phase->scenario;
    bool enough = false;
    for (int64_t tp = 2 * phase->base->scenario.tp; tp <= TP_MAX && !enough; tp *= 2) {
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_TP, .size = tp};
        s.tp = tp;
        TRY(try_change(b, phase, change, b->model, &s));
        enough = b->tried == NULL || b->tried->fits != ROOF_FIT_NO;
    }
    return ROOF_OK;
}

/* Tries the opposite of each flag in the scenario. */
static enum roof_status change_flags(struct builder *b, struct roof_survey_phase *phase)
{
    struct roof_scenario s = phase->scenario;
    if (b->model->kv_lora_rank == 0) { /* latent attention has no other form */
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_ATTENTION};
        s.unfused_attention = !s.unfused_attention;
        TRY(try_change(b, phase, change, b->model, &s));
    }
    const struct roof_survey_change projections = {.kind = ROOF_SURVEY_PROJECTIONS};
    s = phase->scenario;
    s.split_projections = !s.split_projections;
    TRY(try_change(b, phase, projections, b->model, &s));
    if (phase->scenario.fuse != ROOF_FUSE_ALL) {
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_FUSE};
        s = phase->scenario;
        s.fuse = ROOF_FUSE_ALL;
        TRY(try_change(b, phase, change, b->model, &s));
    }
    if (phase->scenario.common.sparse == 0) {
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_SPARSE};
        s = phase->scenario;
        s.common.sparse = 1;
        TRY(try_change(b, phase, change, b->model, &s));
    }
    return ROOF_OK;
}

/* Tries a host for which the device waits less. */
static enum roof_status change_host(struct builder *b, struct roof_survey_phase *phase)
{
    struct roof_scenario s = phase->scenario;
    if (s.host_gap_s > 0) {
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_HOST};
        s.host_gap_s = 0;
        TRY(try_change(b, phase, change, b->model, &s));
    }
    if (b->hardware->calibration != NULL && phase->scenario.common.no_launch_overhead == 0) {
        const struct roof_survey_change change = {.kind = ROOF_SURVEY_LAUNCH};
        s = phase->scenario;
        s.common.no_launch_overhead = 1;
        TRY(try_change(b, phase, change, b->model, &s));
    }
    return ROOF_OK;
}

/* Tries devices with one figure doubled. */
static enum roof_status change_device(struct builder *b, struct roof_survey_phase *phase)
{
    static const enum roof_survey_change_kind kinds[ROOF_RAISED_COUNT] = {
        [ROOF_RAISED_BANDWIDTH] = ROOF_SURVEY_BANDWIDTH,
        [ROOF_RAISED_PEAKS] = ROOF_SURVEY_PEAKS,
        [ROOF_RAISED_LINKS] = ROOF_SURVEY_LINKS};
    const struct roof_hardware *const device = b->hardware;
    enum roof_status status = ROOF_OK;
    for (int i = 0; i < ROOF_RAISED_COUNT && status == ROOF_OK; i++) {
        if (i != ROOF_RAISED_LINKS || phase->base->total.network_time_s > 0) {
            const struct roof_survey_change change = {.kind = kinds[i]};
            roof_hardware_raise(&b->owned->raised[i], device, (enum roof_raised)i, 2);
            b->hardware = &b->owned->raised[i];
            status = try_change(b, phase, change, b->model, &phase->scenario);
        }
    }
    b->hardware = device;
    return status;
}

size_t roof_survey_worst(double *lost_s, const struct roof_model_prediction *model_prediction,
                         const bool *without)
{
    const struct roof_model_prediction *const r = model_prediction;
    size_t worst = r->count;
    *lost_s = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct roof_prediction *const p = &r->node[i].prediction;
        const double lost = (double)r->node[i].node.count * (p->expected_s - p->time_s);
        if ((without == NULL || !without[i]) && lost > *lost_s) {
            worst = i;
            *lost_s = lost;
        }
    }
    return worst;
}

#define KERNELS 3

/* Adds a change for each of the operators that lose the most time above their bounds: the pass
 * without that loss. Passes with pipeline stages or drafts have none, because those do not run in
 * sequence. */
static void change_kernels(struct roof_survey_phase *phase)
{
    const struct roof_model_prediction *const base = phase->base;
    bool taken[ROOF_GRAPH_MAX] = {false};
    if (isnan(base->total.expected_s) || base->scenario.pp > 1 || base->scenario.draft != NULL) {
        return;
    }
    for (int k = 0; k < KERNELS; k++) {
        double most_s = 0;
        const size_t worst = roof_survey_worst(&most_s, base, taken);
        if (worst == base->count) {
            return;
        }
        taken[worst] = true;
        const double left = (base->expected_step_s - most_s) / base->expected_step_s;
        add_change(phase, &(struct roof_survey_change){
                              .kind = ROOF_SURVEY_KERNEL,
                              .node = worst,
                              .time_s = roof_survey_time(base),
                              .expected_s = roof_survey_expected(base) * left,
                              .gain = 1,
                              .expected_gain = 1 / left,
                          });
    }
}

/* Tells whether a change is listed before another one; impossible ones come last. */
static bool precedes(const struct roof_survey_change *change,
                     const struct roof_survey_change *other)
{
    const bool refused = change->refused.status != ROOF_OK;
    return refused != (other->refused.status != ROOF_OK)
               ? !refused
               : roof_lever_precedes(change->gain, change->expected_gain, other->gain,
                                     other->expected_gain);
}

static void sort_changes(struct roof_survey_phase *phase)
{
    for (size_t i = 1; i < phase->changes; i++) {
        const struct roof_survey_change moved = phase->change[i];
        size_t at = i;
        while (at > 0 && precedes(&moved, &phase->change[at - 1])) {
            phase->change[at] = phase->change[at - 1];
            at--;
        }
        phase->change[at] = moved;
    }
}

static enum roof_status survey_changes(struct builder *b, struct roof_survey_phase *phase)
{
    TRY(change_formats(b, phase));
    TRY(change_kv(b, phase));
    if (phase == &b->survey->decode) {
        TRY(change_batch(b, phase));
    }
    TRY(change_flags(b, phase));
    TRY(change_host(b, phase));
    TRY(change_tp(b, phase));
    TRY(change_device(b, phase));
    change_kernels(phase);
    sort_changes(phase);
    return ROOF_OK;
}

/* --- formulas ------------------------------------------------------------------------------ */

/* Finds the slowest instance of an operator in a phase; NULL: there is none. */
static const struct roof_node_prediction *find_node(const struct roof_model_prediction *r,
                                                    enum roof_operator op)
{
    const struct roof_node_prediction *found = NULL;
    for (size_t i = 0; r != NULL && i < r->count; i++) {
        if (r->node[i].prediction.workload.op == op &&
            (found == NULL || roof_model_time(&r->node[i]) > roof_model_time(found))) {
            found = &r->node[i];
        }
    }
    return found;
}

static enum roof_status survey_formulas(struct builder *b)
{
    struct roof_survey *const survey = b->survey;
    for (int i = 0; i < ROOF_OPERATOR_COUNT; i++) {
        const enum roof_operator op = (enum roof_operator)i;
        const struct roof_node_prediction *node = find_node(survey->decode.base, op);
        node = node == NULL ? find_node(survey->prefill.base, op) : node;
        if (node == NULL) {
            continue;
        }
        if (op == ROOF_OPERATOR_GEMM) { /* every model has a product, such as its output head */
            survey->example = survey->formulas;
        }
        struct roof_survey_formula *const formula = &survey->formula[survey->formulas];
        formula->node = node;
        TRY(roof_trace_node(&formula->explanation, &node->node, &node->prediction, b->hardware,
                            b->error));
        survey->formulas++;
    }
    return ROOF_OK;
}

/* --- the whole ----------------------------------------------------------------------------- */

static enum roof_status survey_phase(struct builder *b, struct roof_survey_phase *phase)
{
    TRY(predict(b, &phase->base, b->model, &phase->scenario, b->error));
    TRY(roof_model_limits(&phase->limits, phase->base, &phase->scenario, b->error));
    if (!b->levers) {
        TRY(phase == &b->survey->decode ? decode_points(b, phase) : prefill_points(b, phase));
    }
    return survey_changes(b, phase);
}

static enum roof_status survey_all(struct builder *b, const struct roof_scenario *asked, bool both)
{
    struct roof_survey *const s = b->survey;
    const bool request = asked->generate > 0 || asked->prompt > 0;
    if (asked->phase == ROOF_PHASE_MIXED) {
        return roof_error_set(
            b->error, ROOF_USAGE,
            b->levers ? ROOF_KEY("%s") " needs decode or prefill, not " ROOF_KEY("%s") " mixed"
                      : "a report covers decode and prefill; for " ROOF_KEY(
                            "%s") " mixed choose another format, or " ROOF_KEY("%s"),
            b->levers ? "advise" : "phase", b->levers ? "phase" : "columns");
    }
    roof_scenario_phases(&s->prefill.scenario, &s->decode.scenario, asked);
    if (request) {
        TRY(predict(b, &s->request, b->model, asked, b->error));
    } else if (both) {
        s->prefill.scenario.common.shape.batch = 1;
    }
    if (both || request || asked->phase == ROOF_PHASE_DECODE) {
        TRY(survey_phase(b, &s->decode));
    }
    if (both || request || asked->phase == ROOF_PHASE_PREFILL) {
        TRY(survey_phase(b, &s->prefill));
    }
    return b->levers ? ROOF_OK : survey_formulas(b);
}

static enum roof_status make(struct roof_survey **out, struct builder *b,
                             const struct roof_scenario *scenario, bool both)
{
    *out = NULL;
    b->survey = calloc(1, sizeof *b->survey);
    b->owned = calloc(1, sizeof *b->owned);
    if (b->survey == NULL || b->owned == NULL) {
        free(b->survey);
        free(b->owned);
        return roof_no_memory(b->error);
    }
    b->survey->private_data = b->owned;
    enum roof_status status = roof_accuracy_load(&b->accuracy, b->error);
    if (status == ROOF_OK) {
        status = survey_all(b, scenario, both);
    }
    roof_accuracy_free(&b->accuracy);
    if (status != ROOF_OK) {
        roof_survey_free(b->survey);
        return status;
    }
    *out = b->survey;
    return ROOF_OK;
}

enum roof_status roof_survey_run(struct roof_survey **out, const struct roof_model *model,
                                 const struct roof_scenario *scenario, bool both,
                                 const struct roof_hardware *hardware, struct roof_error *error)
{
    struct builder b = {.model = model, .hardware = hardware, .error = error};
    return make(out, &b, scenario, both);
}

enum roof_status roof_survey_levers(struct roof_survey **out, const struct roof_model *model,
                                    const struct roof_scenario *scenario,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    struct builder b = {.model = model, .hardware = hardware, .error = error, .levers = true};
    return make(out, &b, scenario, false);
}

void roof_survey_free(struct roof_survey *survey)
{
    if (survey == NULL) {
        return;
    }
    struct owned *const owned = survey->private_data;
    while (owned->first != NULL) {
        struct holder *const next = owned->first->next;
        free(owned->first);
        owned->first = next;
    }
    roof_model_free(owned->reformed);
    free(owned);
    for (size_t i = 0; i < survey->formulas; i++) {
        roof_trace_free(&survey->formula[i].explanation);
    }
    free(survey);
}
