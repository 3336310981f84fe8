// SPDX-License-Identifier: MIT
#include "decide/recommend.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "predict/unexpected.h"

static const enum roof_precision defaults[] = {
    ROOF_PRECISION_FP16,       ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_INT8,  ROOF_PRECISION_INT4,
    ROOF_PRECISION_MXFP8_E4M3, ROOF_PRECISION_MXFP4,    ROOF_PRECISION_NVFP4,
};

const enum roof_precision *roof_recommend_defaults(size_t *count)
{
    *count = COUNT(defaults);
    return defaults;
}

/* Returns the workload as it runs in a format on the device. If the device has a unit for the
 * format, weights and activations both have it. If not, a quantised format is stored and converted:
 * activations stay at 16 bits, as in engines that only store the format. The stored operand of
 * attention is the KV cache instead of weights. */
static struct roof_workload as_candidate(const struct roof_workload *workload,
                                         const struct roof_hardware *hardware,
                                         enum roof_precision precision, enum roof_engine_use use)
{
    const struct roof_format *const format = roof_format(precision);
    const struct roof_operator_row *const row = roof_operator_row(workload->op);
    const bool native = format->native_method[0] != '\0' && hardware->compute[precision].native &&
                        use != ROOF_ENGINE_USE_STORED;
    struct roof_workload w = *workload;
    w.formats.weights = ROOF_PRECISION_AUTO;
    w.formats.activations = ROOF_PRECISION_AUTO;
    w.formats.compute = ROOF_PRECISION_AUTO;
    w.formats.precision = precision;
    if (row->other == ROOF_ROLE_KV && w.formats.kv == ROOF_PRECISION_AUTO) {
        w.formats.kv = precision;
    }
    const bool stored = !native && format->weight_method != NULL;
    if (w.op == ROOF_OPERATOR_KV_APPEND || (roof_is_product(w.op) && stored)) {
        w.formats.activations = ROOF_PRECISION_FP16;
    }
    return w;
}

/* Tells whether the format is that of a KV cache, which attention reads in place of weights. */
static bool reads_cache(const struct roof_workload *w)
{
    return roof_operator_row(w->op)->other == ROOF_ROLE_KV;
}

/* Names the method of a candidate, according to its prediction. */
static const char *method_of(const struct roof_candidate *c)
{
    const struct roof_format *const format = roof_format(c->format);
    const struct roof_formats *const f = &c->prediction.workload.formats;
    if (!roof_is_product(c->prediction.workload.op)) {
        return "storage"; /* only the number of bytes changes: vector operators run at fp32 */
    }
    if (format->native_method[0] != '\0' && c->prediction.native &&
        c->prediction.compute == format->unit) {
        return format->native_method;
    }
    const bool kv = reads_cache(&c->prediction.workload);
    if (format->weight_method != NULL && (kv ? f->kv : f->weights) == c->format) {
        return format->weight_method;
    }
    return "fallback";
}

static void reject(struct roof_recommendation *out, const struct roof_candidate *candidate,
                   const char *format, ...) ROOF_PRINTF(3, 4);

/* Rejected candidates are stored after the accepted ones, which are swapped to the front. */
static void reject(struct roof_recommendation *out, const struct roof_candidate *candidate,
                   const char *format, ...)
{
    struct roof_candidate *const slot = &out->candidate[out->count + out->rejected++];
    va_list arguments;
    *slot = *candidate;
    slot->rank = 0;
    va_start(arguments, format);
    vsnprintf(slot->reason, sizeof slot->reason, format, arguments);
    va_end(arguments);
}

static void accept(struct roof_recommendation *out, const struct roof_candidate *candidate)
{
    out->candidate[out->count + out->rejected] = out->candidate[out->count];
    out->candidate[out->count++] = *candidate;
}

static int by_loss(const struct roof_candidate *a, const struct roof_candidate *b)
{
    return a->loss != b->loss ? (int)a->loss - (int)b->loss : (int)a->format - (int)b->format;
}

/* Orders by time, then by accuracy loss, then as in the catalog. */
static int by_time(const void *x, const void *y)
{
    const struct roof_candidate *const a = x;
    const struct roof_candidate *const b = y;
    if (a->ranked_s != b->ranked_s) {
        return a->ranked_s < b->ranked_s ? -1 : 1;
    }
    return by_loss(a, b);
}

/* Orders by accuracy loss, then by time, then as in the catalog. */
static int by_accuracy(const void *x, const void *y)
{
    const struct roof_candidate *const a = x;
    const struct roof_candidate *const b = y;
    return a->loss != b->loss ? (int)a->loss - (int)b->loss : by_time(x, y);
}

static int by_format(const void *x, const void *y)
{
    const struct roof_candidate *const a = x;
    const struct roof_candidate *const b = y;
    return (int)a->format - (int)b->format;
}

/* Names the bottleneck of a candidate in the time that determines the ranking. */
static const char *bound_of(const struct roof_candidate *c, enum roof_ranking ranking)
{
    return roof_bottleneck_name(ranking == ROOF_RANKING_EXPECTED ? c->prediction.expected_bottleneck
                                                                 : c->prediction.bottleneck);
}

static void explain_winner(struct roof_candidate *winner, const struct roof_candidate *fastest,
                           const struct roof_recommend_options *options)
{
    const char *const bound = bound_of(winner, options->ranking);
    if (options->objective == ROOF_OBJECTIVE_BALANCED && fastest->format != winner->format) {
        snprintf(winner->reason, sizeof winner->reason,
                 "least accuracy loss (%s) within %.0f%% of the fastest (%s); %s-bound",
                 roof_accuracy_name(winner->loss), 100 * ROOF_BALANCED_SLACK,
                 roof_format(fastest->format)->name, bound);
    } else {
        snprintf(winner->reason, sizeof winner->reason, "the fastest%s; %s-bound",
                 options->objective == ROOF_OBJECTIVE_BALANCED
                     ? ", and no format near it loses less accuracy"
                     : "",
                 bound);
    }
}

/* Compares a candidate with the winner: the difference in speed, and its loss. */
static void explain_other(struct roof_candidate *other, const struct roof_candidate *winner,
                          enum roof_ranking ranking)
{
    const double ratio = other->ranked_s / winner->ranked_s;
    const char *const loss = other->loss > winner->loss   ? "more accuracy loss"
                             : other->loss < winner->loss ? "less accuracy loss"
                                                          : "the same accuracy loss";
    const char *const name = roof_format(winner->format)->name;
    char speed[80];
    if (ratio > 0.995 && ratio <= 1.005) {
        snprintf(speed, sizeof speed, "as fast as %s", name);
    } else if (ratio < 1) {
        snprintf(speed, sizeof speed, "%.0f%% faster than %s", 100 * (1 / ratio - 1), name);
    } else if (ratio < 1.95) {
        snprintf(speed, sizeof speed, "%.0f%% slower than %s", 100 * (ratio - 1), name);
    } else {
        const double tenths = floor(10 * ratio + 0.5);
        snprintf(speed, sizeof speed, "takes %.0f.%.0fx the time of %s", floor(tenths / 10),
                 fmod(tenths, 10), name);
    }
    snprintf(other->reason, sizeof other->reason, "%s, at %s (%s); %s-bound", speed, loss,
             roof_accuracy_name(other->loss), bound_of(other, ranking));
}

static void rank(struct roof_recommendation *out, const struct roof_recommend_options *options)
{
    struct roof_candidate *const c = out->candidate;
    qsort(c, out->count, sizeof *c, by_time);
    const struct roof_candidate fastest = c[0];
    if (options->objective == ROOF_OBJECTIVE_BALANCED) {
        size_t near = 1; /* the fastest candidate */
        while (near < out->count &&
               c[near].ranked_s <= (1 + ROOF_BALANCED_SLACK) * fastest.ranked_s) {
            near++;
        }
        qsort(c, near, sizeof *c, by_accuracy);
    }
    for (size_t i = 0; i < out->count; i++) {
        c[i].rank = (int)i + 1;
        if (i == 0) {
            explain_winner(&c[0], &fastest, options);
        } else {
            explain_other(&c[i], &c[0], options->ranking);
        }
    }
}

/* Tells whether no tensor would have the format: with a fixed cache, a format that is only stored
 * does not affect attention. */
static bool is_unused(const struct roof_candidate *c)
{
    const struct roof_formats *const f = &c->prediction.workload.formats;
    return roof_is_product(c->prediction.workload.op) && reads_cache(&c->prediction.workload) &&
           f->kv != c->format && f->activations != c->format;
}

/* Names the format of a part with an unknown peak, for which the time is only that of memory; NULL
 * if all peaks are known. */
static const char *missing_peak(const struct roof_prediction *p)
{
    const struct roof_part *part = p->part;
    if (!isnan(p->compute_time_s)) {
        return NULL;
    }
    while (!isnan(part->compute_time_s)) { /* the sum is unknown if a part is */
        part++;
    }
    return part->unit == ROOF_COMPUTE_VECTOR ? "fp32 vectors" : roof_format(part->compute)->name;
}

/* Returns how engines use a format for an operator, if that matters. */
static enum roof_engine_use use_of(const struct roof_workload *workload,
                                   const struct roof_hardware *hardware, enum roof_precision format,
                                   const struct roof_recommend_options *options)
{
    const bool cache = reads_cache(workload);
    return options->engines == NULL
               ? ROOF_ENGINE_USE_UNKNOWN
               : roof_engines_use(options->engines, options->engine, format, cache, hardware);
}

/* Rejects a candidate for the first applicable reason, or else accepts it. */
static void judge(struct roof_recommendation *out, const struct roof_candidate *c,
                  const struct roof_hardware *hardware,
                  const struct roof_recommend_options *options)
{
    const struct roof_format *const format = roof_format(c->format);
    const bool has_unit = format->native_method[0] != '\0' && hardware->compute[c->format].native;
    const char *const unknown = missing_peak(&c->prediction);
    if (c->loss > options->max_loss) {
        reject(out, c, "accuracy loss %s is above the limit %s%s", roof_accuracy_name(c->loss),
               roof_accuracy_name(options->max_loss),
               options->max_loss == ROOF_ACCURACY_2_TO_5 ? " (--max-accuracy-loss severe allows it)"
                                                         : "");
    } else if (c->use == ROOF_ENGINE_USE_NONE && options->engine != NULL) {
        reject(out, c, "%s does not run %s on %s", options->engine->id, format->name, hardware->id);
    } else if (c->use == ROOF_ENGINE_USE_NONE) {
        reject(out, c,
               reads_cache(&c->prediction.workload)
                   ? "no engine has a KV cache in %s on %s (--formats ranks it)"
                   : "no engine runs %s on %s (--formats ranks it)",
               format->name, hardware->id);
    } else if (c->use == ROOF_ENGINE_USE_PUBLISHED && options->engine != NULL) {
        reject(out, c, "%s runs %s only in models published in it (--formats ranks it)",
               options->engine->id, format->name);
    } else if (c->use == ROOF_ENGINE_USE_PUBLISHED) {
        reject(out, c, "engines run %s only in models published in it (--formats ranks it)",
               format->name);
    } else if (options->native_only && !has_unit) {
        reject(out, c, "not native: %s has no %s unit", hardware->id, format->name);
    } else if (options->native_only && !c->prediction.native) {
        reject(out, c, "not native: the device computes these formats in %s",
               roof_format(c->prediction.compute)->name);
    } else if (out->baseline.workload.sparse > 0 && c->prediction.workload.sparse == 0) {
        reject(out, c, "weights in %s cannot be pruned and stay dense", format->name);
    } else if (is_unused(c)) {
        reject(out, c, "%s changes nothing: --kv %s sets the format of the KV cache", format->name,
               roof_format(c->prediction.workload.formats.kv)->name);
    } else if (unknown != NULL) {
        reject(out, c, "%s has no known peak for %s", hardware->id, unknown);
    } else if (isnan(c->ranked_s)) {
        char why[ROOF_UNEXPECTED_SIZE];
        reject(out, c, "no expected time: %s", roof_unexpected(why, &c->prediction));
    } else {
        accept(out, c);
    }
}

/* Writes an engine's name for the formats of a candidate. */
static void name_for(struct roof_candidate *c, const struct roof_engine *engine)
{
    const struct roof_workload *const w = &c->prediction.workload;
    const bool cache = reads_cache(w);
    const struct roof_engine_format *const f =
        roof_is_product(w->op) && c->use != ROOF_ENGINE_USE_NONE
            ? roof_engine_stores(engine, &w->formats, cache, c->prediction.hardware)
            : NULL;
    snprintf(c->engine, sizeof c->engine, "%s", engine->id);
    snprintf(c->engine_format, sizeof c->engine_format, "%s", f == NULL ? "" : f->id);
}

/* Predicts a candidate after its format is set. */
static enum roof_status
fill_candidate(struct roof_candidate *c, const struct roof_prediction *baseline,
               const struct roof_workload *workload, const struct roof_hardware *hardware,
               const struct roof_recommend_options *options, struct roof_error *error)
{
    struct roof_workload w = as_candidate(workload, hardware, c->format, c->use);
    w.sparse = w.sparse > 0 && roof_precision_prunable(c->format);
    const bool expected = options->ranking == ROOF_RANKING_EXPECTED;
    TRY(roof_predict(&c->prediction, &w, hardware, error));
    c->speedup = baseline->time_s / c->prediction.time_s;
    c->expected_speedup = baseline->expected_s / c->prediction.expected_s;
    c->ranked_s = expected ? c->prediction.expected_s : c->prediction.time_s;
    c->method = method_of(c);
    if (options->engine != NULL) {
        name_for(c, options->engine);
    }
    return ROOF_OK;
}

/* Selects the kernels of the requested engine if they were measured. */
static enum roof_status take_stack(struct roof_workload *workload, const struct roof_engine *engine,
                                   struct roof_error *error)
{
    if (engine == NULL || engine->stack == ROOF_STACK_BEST) {
        return ROOF_OK;
    }
    if (workload->stack != ROOF_STACK_BEST && workload->stack != (int64_t)engine->stack) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("stack") " %s with " ROOF_KEY(
                                  "engine") " %s: the engine does not use these kernels; leave "
                                            "out " ROOF_KEY("stack"),
                              roof_stack_name((enum roof_stack)workload->stack), engine->id);
    }
    workload->stack = engine->stack;
    return ROOF_OK;
}

/* The inputs that all candidates share. */
struct task {
    const struct roof_workload *workload;
    const struct roof_hardware *hardware;
    const struct roof_accuracy *accuracy;
    const struct roof_recommend_options *options;
    struct roof_error *error;
};

static bool has_candidate(const struct roof_recommendation *out, enum roof_precision format)
{
    bool found = false;
    for (size_t i = 0; i < out->count + out->rejected; i++) {
        found = found || out->candidate[i].format == format;
    }
    return found;
}

static enum roof_status add(struct roof_recommendation *out, const struct task *t,
                            enum roof_precision format, enum roof_engine_use use)
{
    struct roof_candidate c = {.format = format, .use = use, .loss = t->accuracy->of[format].loss};
    TRY(fill_candidate(&c, &out->baseline, t->workload, t->hardware, t->options, t->error));
    judge(out, &c, t->hardware, t->options);
    return ROOF_OK;
}

/* Tells whether an engine's format with narrow weights and wide activations runs on the device, but
 * is not a candidate. */
static bool is_left_out(const struct roof_recommendation *out, const struct task *t,
                        const struct roof_engine_format *f)
{
    struct roof_formats formats = ROOF_FORMATS_AUTO;
    formats.weights = f->weights;
    formats.activations = f->activations;
    bool found = has_candidate(out, f->weights);
    for (size_t i = 0; i < out->count + out->rejected; i++) {
        found = found || strcmp(out->candidate[i].engine_format, f->id) == 0;
    }
    return !found && roof_precision_bits(f->weights) < 16 &&
           roof_precision_bits(f->activations) == 16 &&
           roof_engine_stores(t->options->engine, &formats, false, t->hardware) == f;
}

/* Adds the engine's formats that only store weights, even if the device has a unit for them: that
 * candidate exists already. */
static enum roof_status add_stored(struct roof_recommendation *out, const struct task *t)
{
    const struct roof_engine *const engine = t->options->engine;
    const struct roof_operator_row *const row = roof_operator_row(t->workload->op);
    for (size_t i = 0;
         roof_is_product(t->workload->op) && row->other != ROOF_ROLE_KV && i < engine->formats;
         i++) {
        if (is_left_out(out, t, &engine->format[i])) {
            TRY(add(out, t, engine->format[i].weights, ROOF_ENGINE_USE_STORED));
        }
    }
    return ROOF_OK;
}

enum roof_status
roof_recommend(struct roof_recommendation *out, const struct roof_workload *workload,
               const struct roof_hardware *hardware, const struct roof_accuracy *accuracy,
               const struct roof_recommend_options *options, struct roof_error *error)
{
    memset(out, 0, sizeof *out);
    size_t count = options->format_count;
    const enum roof_precision *formats = options->formats;
    if (formats == NULL) {
        formats = roof_recommend_defaults(&count);
    }
    struct roof_workload own = *workload;
    TRY(take_stack(&own, options->engine, error));
    const struct roof_workload fp16 =
        as_candidate(&own, hardware, ROOF_PRECISION_FP16, ROOF_ENGINE_USE_UNKNOWN);
    TRY(roof_predict(&out->baseline, &fp16, hardware, error));
    out->lent = options->engine != NULL && options->engine->stack == ROOF_STACK_BEST;
    const struct task task = {.workload = &own,
                              .hardware = hardware,
                              .accuracy = accuracy,
                              .options = options,
                              .error = error};
    for (size_t i = 0; i < count; i++) {
        if (!has_candidate(out, formats[i])) {
            TRY(add(out, &task, formats[i], use_of(&own, hardware, formats[i], options)));
        }
    }
    if (options->formats == NULL && options->engine != NULL) {
        TRY(add_stored(out, &task));
    }
    qsort(out->candidate + out->count, out->rejected, sizeof *out->candidate, by_format);
    if (out->count == 0) {
        return roof_error_set(error, ROOF_UNSATISFIED, "every candidate is rejected");
    }
    rank(out, options);
    return ROOF_OK;
}

enum roof_status roof_recommend_tables_load(struct roof_recommend_tables *out,
                                            struct roof_recommend_options *options,
                                            struct roof_error *error)
{
    *out = (struct roof_recommend_tables){.engines = NULL};
    TRY(roof_accuracy_load(&out->accuracy, error));
    if (options->formats == NULL || options->engine_id != NULL) {
        TRY(roof_engines_load(&out->engines, error));
        options->engines = out->engines;
    }
    if (options->engine_id != NULL) {
        size_t number = 0;
        TRY(roof_engine_find(&number, out->engines, options->engine_id, error));
        options->engine = &out->engines->engine[number];
    }
    return ROOF_OK;
}

void roof_recommend_tables_free(struct roof_recommend_tables *tables)
{
    roof_engines_free(tables->engines);
    roof_accuracy_free(&tables->accuracy);
}
