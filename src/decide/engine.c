// SPDX-License-Identifier: MIT
#include "decide/engine.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/text.h"
#include "catalog/data.h"
#include "predict/calibration.h"

#define SCHEMA "roofline/engine/1"
#define FOLDER "engines/"
#define SERVINGS_MAX 256
#define LISTS_MAX 1024
#define FORMATS_MAX 24
#define KVS_MAX 6
#define SPLITS_MAX 8
#define STEPS_MAX 4
#define DEFAULTS_MAX 4
#define HOSTS_MAX 4
#define GIB 1073741824.

/* The arrays that an engine points into. */
struct parts {
    struct roof_engine_format format[FORMATS_MAX];
    enum roof_precision kv_of[FORMATS_MAX][KVS_MAX];
    struct roof_engine_kv kv[KVS_MAX];
    struct roof_engine_split split[SPLITS_MAX];
    struct roof_engine_step step[STEPS_MAX];
    struct roof_engine_defaults defaults[DEFAULTS_MAX];
    struct roof_engine_host host[HOSTS_MAX];
};

struct owned {
    struct roof_engines engines;
    struct roof_engine engine[ROOF_ENGINES_MAX];
    struct parts parts[ROOF_ENGINES_MAX];
    struct roof_json *json[ROOF_ENGINES_MAX];
    struct roof_serving serving[SERVINGS_MAX];
    const char **list[LISTS_MAX];
    size_t lists;
};

/* Reads the file of one engine. */
struct reader {
    struct owned *o;
    struct roof_engine *engine;
    struct parts *parts;
    const struct roof_json *json;
    struct roof_error *error;
};

void roof_engines_free(struct roof_engines *engines)
{
    if (engines != NULL) {
        struct owned *const owned = engines->private_data;
        for (size_t i = 0; i < ROOF_ENGINES_MAX; i++) {
            roof_json_free(owned->json[i]);
        }
        for (size_t i = 0; i < owned->lists; i++) {
            free(owned->list[i]);
        }
        free(owned);
    }
}

const char *const roof_split_limits[ROOF_SPLIT_LIMITS] = {"tp",     "pp",     "attention_dp",
                                                          "moe_tp", "moe_ep", "batch"};

/* --- reading ------------------------------------------------------------------------------- */

static enum roof_status complain(const struct reader *r, const roof_json_value *value,
                                 const char *message)
{
    return roof_json_error(r->json, value == NULL ? roof_json_root(r->json) : value, r->error, "%s",
                           message);
}

/* Reads an array of lines; without one the array is empty. */
static enum roof_status read_lines(const char *const **out, const struct reader *r,
                                   const roof_json_value *value)
{
    static const char *const none[] = {NULL};
    *out = none;
    if (value == NULL) {
        return ROOF_OK;
    }
    if (r->o->lists == LISTS_MAX) {
        return complain(r, value, "too many lists");
    }
    TRY(roof_json_lines(&r->o->list[r->o->lists], r->json, value, r->error));
    *out = r->o->list[r->o->lists++];
    return ROOF_OK;
}

static enum roof_status read_words(struct roof_engine_words *out, const struct reader *r,
                                   const roof_json_value *row)
{
    TRY(read_lines(&out->command, r, roof_json_get(row, "words")));
    return read_lines(&out->file, r, roof_json_get(row, "lines"));
}

static enum roof_status read_precision(enum roof_precision *out, const struct reader *r,
                                       const roof_json_value *value)
{
    const char *const name = roof_json_string(value);
    return name == NULL
               ? complain(r, value, "weights, activations and each of kv are names of formats")
               : roof_precision_find(out, name, r->error);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Adds a combination of formats, unless an earlier engine has it. */
static enum roof_status add_serving(const struct reader *r, const struct roof_engine_format *f,
                                    enum roof_precision kv)
{
    struct owned *const o = r->o;
    for (size_t i = 0; i < o->engines.servings; i++) {
        const struct roof_serving *const s = &o->serving[i];
        if (s->weights == f->weights && s->activations == f->activations && s->kv == kv &&
            same_text(s->layout, f->layout) && same_text(s->quantization, f->quantization)) {
            return ROOF_OK;
        }
    }
    if (o->engines.servings == SERVINGS_MAX) {
        return roof_error_set(r->error, ROOF_INVALID, "more than %d combinations of formats",
                              SERVINGS_MAX);
    }
    o->serving[o->engines.servings++] = (struct roof_serving){.id = f->id,
                                                              .layout = f->layout,
                                                              .quantization = f->quantization,
                                                              .weights = f->weights,
                                                              .activations = f->activations,
                                                              .kv = kv};
    return ROOF_OK;
}

static enum roof_status read_format(const struct reader *r, const roof_json_value *row)
{
    const size_t number = r->engine->formats;
    const roof_json_value *const kv = roof_json_get(row, "kv");
    if (number == FORMATS_MAX) {
        return complain(r, row, "too many formats");
    }
    enum roof_precision *const kvs = r->parts->kv_of[number];
    struct roof_engine_format *const f = &r->parts->format[number];
    *f = (struct roof_engine_format){
        .id = roof_json_line(roof_json_get(row, "id")),
        .layout = roof_json_line(roof_json_get(row, "layout")),
        .quantization = roof_json_line(roof_json_get(row, "quantization")),
        .checkpoint = roof_json_line(roof_json_get(row, "checkpoint")),
        .kv = kvs,
    };
    if (f->id == NULL || !roof_json_is_array(kv) || !roof_json_is_array(roof_json_get(row, "on")) ||
        !roof_json_is_array(roof_json_get(row, "words"))) {
        return complain(r, row, "a format needs id, kv, on and words");
    }
    TRY(read_words(&f->words, r, row));
    TRY(read_lines(&f->on, r, roof_json_get(row, "on")));
    TRY(read_lines(&f->make, r, roof_json_get(row, "make")));
    TRY(read_precision(&f->weights, r, roof_json_get(row, "weights")));
    TRY(read_precision(&f->activations, r, roof_json_get(row, "activations")));
    for (const roof_json_value *item = roof_json_first(kv); item != NULL;
         item = roof_json_next(item)) {
        if (f->kvs == KVS_MAX) {
            return complain(r, item, "too many formats of the KV cache");
        }
        TRY(read_precision(&kvs[f->kvs], r, item));
        TRY(add_serving(r, f, kvs[f->kvs++]));
    }
    r->engine->formats++;
    return ROOF_OK;
}

static enum roof_status read_kv(const struct reader *r, const roof_json_value *row)
{
    if (r->engine->kvs == KVS_MAX || !roof_json_is_array(roof_json_get(row, "words"))) {
        return complain(r, row, "too many formats of the KV cache, or one has no words");
    }
    struct roof_engine_kv *const kv = &r->parts->kv[r->engine->kvs++];
    TRY(roof_precision_find(&kv->format, roof_json_key(row), r->error));
    return read_words(&kv->words, r, row);
}

static enum roof_status read_split(const struct reader *r, const roof_json_value *row)
{
    if (r->engine->splits == SPLITS_MAX || !roof_json_is_array(roof_json_get(row, "words"))) {
        return complain(r, row, "too many splits, or one has no words");
    }
    struct roof_engine_split *const s = &r->parts->split[r->engine->splits++];
    for (int i = 0; i < ROOF_SPLIT_LIMITS; i++) {
        const roof_json_value *const value = roof_json_get(row, roof_split_limits[i]);
        double size = 0;
        if (value != NULL && (!roof_json_number(&size, value) || !(size >= 1 && size <= 1e6))) {
            return complain(r, value, "tp, pp, ep and batch of a split must be 1 or more");
        }
        s->most[i] = value == NULL ? INT64_MAX : (int64_t)size;
    }
    s->note = roof_json_line(roof_json_get(row, "note"));
    return read_words(&s->words, r, row);
}

/* Reads the words for what is offloaded, and for nothing; without them all is on the device. */
static enum roof_status read_offload(const struct reader *r)
{
    const roof_json_value *const words = roof_json_get(roof_json_root(r->json), "offload");
    for (int i = 0; i < ROOF_OFFLOAD_PARTS; i++) {
        const char *const key = roof_offload_part_name((enum roof_offload_part)i);
        const roof_json_value *const lines = words == NULL ? NULL : roof_json_get(words, key);
        if (words != NULL && !roof_json_is_array(lines)) {
            return complain(r, words, "offload has the words of none, layers and experts");
        }
        TRY(read_lines(&r->engine->offload[i].command, r, lines));
        TRY(read_lines(&r->engine->offload[i].file, r, NULL));
    }
    r->o->engines.offload |= words == NULL ? 0 : 1U << (r->o->engines.count - 1);
    return ROOF_OK;
}

static enum roof_status read_step(const struct reader *r, const roof_json_value *row)
{
    if (r->engine->steps == STEPS_MAX) {
        return complain(r, row, "too many steps");
    }
    struct roof_engine_step *const step = &r->parts->step[r->engine->steps++];
    step->file = roof_json_line(roof_json_get(row, "file"));
    return read_lines(&step->line, r, roof_json_get(row, step->file == NULL ? "command" : "lines"));
}

static enum roof_status read_each(const struct reader *r, const char *key,
                                  enum roof_status (*read)(const struct reader *,
                                                           const roof_json_value *))
{
    const roof_json_value *const list = roof_json_get(roof_json_root(r->json), key);
    if (list == NULL || roof_json_first(list) == NULL) {
        return complain(r, list, "an engine needs formats, kv, splits and run");
    }
    for (const roof_json_value *row = roof_json_first(list); row != NULL;
         row = roof_json_next(row)) {
        TRY(read(r, row));
    }
    return ROOF_OK;
}

/* Finds the stack of an engine's own kernels. An engine without one has a warning about its times,
 * and so does one whose kernels were measured on few devices. */
static enum roof_status read_stack(const struct reader *r)
{
    const roof_json_value *const value = roof_json_get(roof_json_root(r->json), "stack");
    const char *const name = roof_json_string(value);
    int stack = ROOF_STACK_BEST + 1;
    if (value == NULL && r->engine->beware != NULL) {
        return ROOF_OK;
    }
    while (name != NULL && stack < ROOF_STACK_COUNT &&
           strcmp(name, roof_stack_name((enum roof_stack)stack)) != 0) {
        stack++;
    }
    if (name == NULL || stack == ROOF_STACK_COUNT) {
        return complain(r, value, "an engine needs a stack that was measured, or else beware");
    }
    r->engine->stack = (enum roof_stack)stack;
    return ROOF_OK;
}

/* Reads a number of a row; without one it stays what it is. */
static enum roof_status read_number(double *out, const struct reader *r, const roof_json_value *row,
                                    const char *key)
{
    const roof_json_value *const value = roof_json_get(row, key);
    return value == NULL || (roof_json_number(out, value) && *out >= 1 && *out <= 1e6)
               ? ROOF_OK
               : complain(r, value, "scheduler defaults must be 1 or more");
}

static enum roof_status read_defaults(const struct reader *r, const roof_json_value *row)
{
    struct roof_engine_scheduler *const s = &r->engine->scheduler;
    double gib = 0;
    double chunk = 0;
    double sequences = 0;
    if (s->count == DEFAULTS_MAX) {
        return complain(r, row, "too many defaults of a scheduler");
    }
    TRY(read_number(&gib, r, row, "memory_gib_from"));
    TRY(read_number(&chunk, r, row, "chunk"));
    TRY(read_number(&sequences, r, row, "max_num_seqs"));
    if (chunk < 1 || sequences < 1) {
        return complain(r, row, "scheduler defaults need chunk and max_num_seqs");
    }
    r->parts->defaults[s->count++] =
        (struct roof_engine_defaults){.memory_from = gib * GIB,
                                      .except = roof_json_line(roof_json_get(row, "except")),
                                      .chunk = (int64_t)chunk,
                                      .max_num_seqs = (int64_t)sequences};
    return ROOF_OK;
}

/* Reads the scheduler of an engine; without it the scheduler is unknown. */
static enum roof_status read_scheduler(const struct reader *r)
{
    const roof_json_value *const value = roof_json_get(roof_json_root(r->json), "scheduler");
    struct roof_engine_scheduler *const s = &r->engine->scheduler;
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {{"counts_decode", &s->counts_decode},
                 {"mixes", &s->mixes},
                 {"preempts", &s->preempts},
                 {"keeps_prefixes", &s->keeps_prefixes},
                 {"ahead", &s->ahead},
                 {"passes_first_token", &s->passes_first_token}};
    if (value == NULL) {
        return ROOF_OK;
    }
    for (size_t i = 0; i < COUNT(flags); i++) {
        if (!roof_json_boolean(flags[i].flag, roof_json_get(value, flags[i].key))) {
            return complain(r, value,
                            "a scheduler has counts_decode, mixes, preempts, keeps_prefixes, ahead "
                            "and passes_first_token, true or false");
        }
    }
    s->known = true;
    s->defaults = r->parts->defaults;
    r->o->engines.passing |= s->passes_first_token ? 1U << r->engine->stack : 0;
    const roof_json_value *row = roof_json_first(roof_json_get(value, "defaults"));
    for (; row != NULL; row = roof_json_next(row)) {
        TRY(read_defaults(r, row));
    }
    return s->count > 0 && s->defaults[s->count - 1].memory_from == 0 &&
                   s->defaults[s->count - 1].except == NULL
               ? ROOF_OK
               : complain(r, value, "the last entry of defaults must hold for all devices");
}

/* Reads a host time in a unit of which a second has `per_s`; a missing time is 0. */
static enum roof_status read_time(double *out_s, const struct reader *r, const roof_json_value *row,
                                  const char *key, double per_s)
{
    const roof_json_value *const value = roof_json_get(row, key);
    double number = 0;
    if (value != NULL && (!roof_json_number(&number, value) || !(number >= 0 && number <= 1e6))) {
        return complain(r, value, "host times must be from 0 to 1e6");
    }
    *out_s = number / per_s;
    return ROOF_OK;
}

static enum roof_status read_times(struct roof_host_time *time, const struct reader *r,
                                   const roof_json_value *row)
{
    TRY(read_time(&time->step_s, r, row, "step_us", 1e6));
    TRY(read_time(&time->sequence_s, r, row, "sequence_us", 1e6));
    TRY(read_time(&time->request_s, r, row, "request_ms", 1e3));
    TRY(read_time(&time->front_s, r, row, "front_ms", 1e3));
    TRY(read_time(&time->launch_s, r, row, "launch_us", 1e6));
    TRY(read_time(&time->latent_s, r, row, "latent_us", 1e6));
    TRY(read_time(&time->overlap_s, r, row, "overlap_us", 1e6));
    return time->front_s <= time->request_s ? ROOF_OK
                                            : complain(r, row, "front_ms is a part of request_ms");
}

/* Reads the host times of the versions of an engine; without any they are unknown. */
static enum roof_status read_hosts(const struct reader *r)
{
    const roof_json_value *const rows = roof_json_get(roof_json_root(r->json), "host");
    for (const roof_json_value *row = roof_json_first(rows); row != NULL;
         row = roof_json_next(row)) {
        struct roof_engine_host *const host = &r->parts->host[r->engine->hosts];
        host->version = roof_json_line(roof_json_get(row, "version"));
        host->source = roof_json_line(roof_json_get(row, "source"));
        if (++r->engine->hosts == HOSTS_MAX || host->version == NULL || host->source == NULL) {
            return complain(r, row, "a host has a version and a source, and an engine a few hosts");
        }
        TRY(read_times(&host->time, r, row));
    }
    r->engine->host = r->parts->host;
    return ROOF_OK;
}

static enum roof_status read_engine(struct owned *o, const char *path, struct roof_error *error)
{
    const size_t number = o->engines.count;
    if (number == ROOF_ENGINES_MAX) {
        return roof_error_set(error, ROOF_INVALID, "more than %d engines", ROOF_ENGINES_MAX);
    }
    TRY(roof_data_json(&o->json[number], path, error));
    struct parts *const p = &o->parts[number];
    struct roof_engine *const e = &o->engine[number];
    const struct reader r = {
        .o = o, .engine = e, .parts = p, .json = o->json[number], .error = error};
    const roof_json_value *const root = roof_json_root(r.json);
    const char *const schema = roof_json_string(roof_json_get(root, "schema"));
    *e = (struct roof_engine){.id = roof_json_line(roof_json_get(root, "id")),
                              .name = roof_json_line(roof_json_get(root, "name")),
                              .beware = roof_json_line(roof_json_get(root, "beware")),
                              .nodes = roof_json_line(roof_json_get(root, "nodes")),
                              .disaggregated = roof_json_line(roof_json_get(root, "disaggregated")),
                              .format = p->format,
                              .kv = p->kv,
                              .split = p->split,
                              .step = p->step};
    o->engines.disaggregated |= e->disaggregated == NULL ? 0 : 1U << number;
    o->engines.lent |= e->beware == NULL ? 0 : 1U << number;
    o->engines.count++;
    if (schema == NULL || strcmp(schema, SCHEMA) != 0 || e->id == NULL || e->name == NULL) {
        return complain(&r, root, "an engine needs \"schema\": \"" SCHEMA "\", id and name");
    }
    const struct {
        const char *key;
        enum roof_status (*read)(const struct reader *, const roof_json_value *);
    } parts[] = {
        {"formats", read_format}, {"kv", read_kv}, {"splits", read_split}, {"run", read_step}};
    TRY(read_stack(&r));
    TRY(read_scheduler(&r));
    TRY(read_hosts(&r));
    TRY(read_lines(&e->sources, &r, roof_json_get(root, "source")));
    TRY(read_lines(&e->notes, &r, roof_json_get(root, "notes")));
    TRY(read_lines(&e->models, &r, roof_json_get(root, "models")));
    TRY(read_offload(&r));
    for (size_t i = 0; i < COUNT(parts); i++) {
        TRY(read_each(&r, parts[i].key, parts[i].read));
    }
    return ROOF_OK;
}

enum roof_status roof_engines_load(struct roof_engines **out, struct roof_error *error)
{
    *out = NULL;
    struct owned *const o = calloc(1, sizeof *o);
    if (o == NULL) {
        return roof_no_memory(error);
    }
    o->engines.private_data = o;
    o->engines.engine = o->engine;
    o->engines.serving = o->serving;
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < roof_data_file_count && status == ROOF_OK; i++) {
        const char *const path = roof_data_files[i].path;
        if (strncmp(path, FOLDER, strlen(FOLDER)) == 0) {
            status = read_engine(o, path, error);
        }
    }
    if (status != ROOF_OK) {
        roof_engines_free(&o->engines);
        return status;
    }
    *out = &o->engines;
    return ROOF_OK;
}

/* --- questions ----------------------------------------------------------------------------- */

enum roof_status roof_engine_find(size_t *out, const struct roof_engines *engines, const char *id,
                                  struct roof_error *error)
{
    const char *names[ROOF_ENGINES_MAX];
    for (*out = 0; *out < engines->count; (*out)++) {
        names[*out] = engines->engine[*out].id;
        if (strcasecmp(names[*out], id) == 0) {
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "engine", id, names, engines->count);
}

const struct roof_engine_defaults *roof_engine_defaults(const struct roof_engine *engine,
                                                        const struct roof_hardware *hardware)
{
    const struct roof_engine_scheduler *const s = &engine->scheduler;
    const double memory = hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY].value;
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_engine_defaults *const d = &s->defaults[i];
        const bool left_out =
            d->except != NULL && strncmp(hardware->id, d->except, strlen(d->except)) == 0;
        if (!left_out && (d->memory_from == 0 || memory >= d->memory_from)) {
            return d;
        }
    }
    return NULL;
}

const struct roof_engine_host *roof_engine_host(const struct roof_engine *engine,
                                                const char *version)
{
    size_t i = 0;
    while (version != NULL && i < engine->hosts && strcmp(engine->host[i].version, version) != 0) {
        i++;
    }
    return engine->hosts == 0 ? NULL : &engine->host[i < engine->hosts ? i : 0];
}

bool roof_serving_published(const struct roof_serving *serving)
{
    return serving->layout != NULL && strcmp(serving->layout, "checkpoint") == 0;
}

/* Tells whether a format of an engine is a combination. */
static bool is_serving(const struct roof_engine_format *f, const struct roof_serving *serving)
{
    bool kv = false;
    for (size_t k = 0; k < f->kvs; k++) {
        kv = kv || f->kv[k] == serving->kv;
    }
    return kv && f->weights == serving->weights && f->activations == serving->activations &&
           same_text(f->layout, serving->layout) &&
           same_text(f->quantization, serving->quantization);
}

/* Tells whether an engine has this name for a combination of formats. */
static bool has_word(const struct roof_engine *engine, const struct roof_serving *s,
                     const char *name)
{
    size_t i = 0;
    while (i < engine->formats &&
           (strcasecmp(engine->format[i].id, name) != 0 || !is_serving(&engine->format[i], s))) {
        i++;
    }
    return i < engine->formats;
}

/* Tells whether any engine has this name for a combination of formats. */
static bool is_word(const struct roof_engines *engines, const struct roof_serving *serving,
                    const char *name)
{
    size_t i = 0;
    while (i < engines->count && !has_word(&engines->engine[i], serving, name)) {
        i++;
    }
    return i < engines->count;
}

const struct roof_serving *roof_serving_find(const struct roof_engines *engines, const char *name)
{
    for (size_t i = 0; i < engines->servings; i++) {
        if (strcasecmp(engines->serving[i].id, name) == 0) {
            return &engines->serving[i];
        }
    }
    size_t i = 0;
    while (i < engines->servings && !is_word(engines, &engines->serving[i], name)) {
        i++;
    }
    return i < engines->servings ? &engines->serving[i] : NULL;
}

bool roof_serving_suits(const struct roof_serving *serving, const struct roof_model *model)
{
    const char *const wanted = serving->quantization;
    const size_t length = model->quantization == NULL ? 0 : strlen(model->quantization);
    if (wanted == NULL || length == 0 || strncmp(wanted, model->quantization, length) != 0) {
        return wanted == NULL;
    }
    return wanted[length] == '\0' ||
           (wanted[length] == '/' && same_text(wanted + length + 1, model->algorithm));
}

bool roof_serving_called(const struct roof_engines *engines, size_t serving, const char *name)
{
    enum roof_precision weights = ROOF_PRECISION_AUTO;
    for (size_t i = 0; i < engines->servings; i++) {
        if (strcmp(engines->serving[i].id, name) == 0) {
            return strcmp(engines->serving[serving].id, name) == 0;
        }
    }
    return roof_precision_find(&weights, name, NULL) == ROOF_OK
               ? engines->serving[serving].weights == weights
               : is_word(engines, &engines->serving[serving], name);
}

unsigned roof_engines_measured(const struct roof_engines *engines)
{
    unsigned measured = 0;
    for (size_t i = 0; i < engines->count; i++) {
        measured |= 1U << i & ~engines->lent;
    }
    return measured;
}

/* Tells whether a device has a unit for both formats of a product. */
static bool has_units(const struct roof_engine_format *f, const struct roof_hardware *hardware)
{
    const struct roof_compute *const weights = &hardware->compute[f->weights];
    const struct roof_compute *const activations = &hardware->compute[f->activations];
    return weights->native && activations->native;
}

/* Tells whether an engine runs a format of its own on the architecture of a device. A device
 * without an architecture may run formats for which it has units. */
static bool runs_on(const struct roof_engine_format *f, const struct roof_hardware *hardware)
{
    bool on = *hardware->architecture == '\0' && has_units(f, hardware);
    for (const char *const *a = f->on; *a != NULL; a++) {
        on = on || strncmp(hardware->architecture, *a, strlen(*a)) == 0;
    }
    return on;
}

const struct roof_engine_format *roof_engine_format(const struct roof_engine *engine,
                                                    const struct roof_serving *serving,
                                                    const struct roof_hardware *hardware)
{
    for (size_t i = 0; i < engine->formats; i++) {
        const struct roof_engine_format *const f = &engine->format[i];
        if (runs_on(f, hardware) && is_serving(f, serving)) {
            return f;
        }
    }
    return NULL;
}

const struct roof_engine_kv *roof_engine_kv(const struct roof_engine *engine,
                                            enum roof_precision kv)
{
    size_t i = 0;
    while (i < engine->kvs && engine->kv[i].format != kv) {
        i++;
    }
    return i < engine->kvs ? &engine->kv[i] : NULL;
}

const struct roof_engine_split *roof_engine_split(const struct roof_engine *engine,
                                                  const struct roof_split *split, int64_t batch)
{
    const int64_t size[ROOF_SPLIT_LIMITS] = {[ROOF_SPLIT_TP] = split->tp,
                                             [ROOF_SPLIT_PP] = split->pp,
                                             [ROOF_SPLIT_ATTENTION_DP] = split->attention_dp,
                                             [ROOF_SPLIT_MOE_TP] = split->moe_tp,
                                             [ROOF_SPLIT_MOE_EP] = split->moe_ep,
                                             [ROOF_SPLIT_BATCH] = batch};
    for (size_t i = 0; i < engine->splits; i++) {
        bool within = true;
        for (int k = 0; k < ROOF_SPLIT_LIMITS; k++) {
            within = within && size[k] <= engine->split[i].most[k];
        }
        if (within) {
            return &engine->split[i];
        }
    }
    return NULL;
}

unsigned roof_engines_run(const struct roof_engines *engines, size_t serving,
                          const struct roof_hardware *hardware)
{
    unsigned set = 0;
    for (size_t i = 0; i < engines->count && serving < engines->servings; i++) {
        if (roof_engine_format(&engines->engine[i], &engines->serving[serving], hardware) != NULL) {
            set |= 1U << i;
        }
    }
    return set;
}

bool roof_engines_reach(const struct roof_engines *engines, const struct roof_hardware *hardware)
{
    bool reach = false;
    for (size_t i = 0; i < engines->servings && !reach; i++) {
        reach = roof_engines_run(engines, i, hardware) != 0;
    }
    return reach;
}

unsigned roof_engines_units(const struct roof_engines *engines, size_t serving,
                            const struct roof_hardware *hardware)
{
    unsigned set = 0;
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        for (size_t k = 0; k < e->formats; k++) {
            const bool has = is_serving(&e->format[k], &engines->serving[serving]) &&
                             has_units(&e->format[k], hardware);
            set |= has ? 1U << i : 0;
        }
    }
    return set;
}

/* Tells whether two formats differ at most in their scales: int4 and int4_g128. */
static bool same_kind(enum roof_precision a, enum roof_precision b)
{
    return a == b || (roof_format(a)->weight_method != NULL &&
                      same_text(roof_format(a)->weight_method, roof_format(b)->weight_method));
}

/* Returns the use that one format of an engine makes of another format. */
static enum roof_engine_use use_of(const struct roof_engine_format *f, enum roof_precision format,
                                   bool cache)
{
    if (cache) {
        bool kept = false;
        for (size_t k = 0; k < f->kvs; k++) {
            kept = kept || f->kv[k] == format;
        }
        return kept ? ROOF_ENGINE_USE_COMPUTED : ROOF_ENGINE_USE_NONE;
    }
    const bool any_model = f->quantization == NULL;
    return !any_model || !same_kind(f->weights, format) ? ROOF_ENGINE_USE_NONE
           : same_kind(f->activations, format)          ? ROOF_ENGINE_USE_COMPUTED
                                                        : ROOF_ENGINE_USE_STORED;
}

/* Returns the widest use that one engine makes of a format. */
static enum roof_engine_use use_by(const struct roof_engine *engine, enum roof_precision format,
                                   bool cache, const struct roof_hardware *hardware)
{
    enum roof_engine_use widest = ROOF_ENGINE_USE_NONE;
    for (size_t n = 0; n < engine->formats; n++) {
        const enum roof_engine_use use = runs_on(&engine->format[n], hardware)
                                             ? use_of(&engine->format[n], format, cache)
                                             : ROOF_ENGINE_USE_NONE;
        widest = use > widest ? use : widest;
    }
    return widest;
}

enum roof_engine_use roof_engines_use(const struct roof_engines *engines,
                                      const struct roof_engine *engine, enum roof_precision format,
                                      bool cache, const struct roof_hardware *hardware)
{
    if (*hardware->architecture == '\0') {
        return ROOF_ENGINE_USE_UNKNOWN;
    }
    if (roof_precision_bits(format) >= 16) {
        return ROOF_ENGINE_USE_COMPUTED;
    }
    if (engine != NULL) {
        return use_by(engine, format, cache, hardware);
    }
    enum roof_engine_use widest = ROOF_ENGINE_USE_NONE;
    for (size_t i = 0; i < engines->count; i++) {
        const enum roof_engine_use use = use_by(&engines->engine[i], format, cache, hardware);
        widest = use > widest ? use : widest;
    }
    return widest;
}

/* Tells whether two formats differ at most in their scales, or both have 16 bits. */
static bool alike(enum roof_precision a, enum roof_precision b)
{
    return same_kind(a, b) || (roof_precision_bits(a) == 16 && roof_precision_bits(b) == 16);
}

const struct roof_engine_format *roof_engine_stores(const struct roof_engine *engine,
                                                    const struct roof_formats *formats, bool cache,
                                                    const struct roof_hardware *hardware)
{
    const struct roof_engine_format *first = NULL;
    for (size_t i = 0; i < engine->formats; i++) {
        const struct roof_engine_format *const f = &engine->format[i];
        bool same = alike(f->weights, formats->weights) &&
                    alike(f->activations, formats->activations) && f->quantization == NULL;
        if (cache) {
            same = false;
            for (size_t k = 0; k < f->kvs; k++) {
                same = same || alike(f->kv[k], formats->kv);
            }
        }
        if (same && runs_on(f, hardware)) {
            if (cache || f->weights == formats->weights) {
                return f;
            }
            first = first == NULL ? f : first;
        }
    }
    return first;
}
