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
#define OVERLAP_KEY "overlap_us"
#define SERVINGS_MAX 256
#define LISTS_MAX 1024
#define FORMATS_MAX 24
#define KVS_MAX 6
#define CLASSES_MAX 8
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
    struct roof_engine_class class[CLASSES_MAX];
    struct roof_engine_kv kv_of_class[CLASSES_MAX][KVS_MAX];
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

/* Adds a combination of formats, unless an earlier engine has it. */
static enum roof_status add_serving(const struct reader *r, const struct roof_engine_format *f,
                                    enum roof_precision kv)
{
    struct owned *const o = r->o;
    const struct roof_serving serving = {.id = f->id,
                                         .layout = f->layout,
                                         .quantization = f->quantization,
                                         .weights = f->weights,
                                         .activations = f->activations,
                                         .kv = kv};
    for (size_t i = 0; i < o->engines.servings; i++) {
        if (roof_serving_same(&o->serving[i], &serving)) {
            return ROOF_OK;
        }
    }
    if (o->engines.servings == SERVINGS_MAX) {
        return roof_error_set(r->error, ROOF_INVALID, "more than %d combinations of formats",
                              SERVINGS_MAX);
    }
    o->serving[o->engines.servings++] = serving;
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

/* Adds a format of the KV cache to a list with room for KVS_MAX. */
static enum roof_status add_kv(struct roof_engine_kv *list, size_t *count, const struct reader *r,
                               const roof_json_value *row)
{
    if (*count == KVS_MAX || !roof_json_is_array(roof_json_get(row, "words"))) {
        return complain(r, row, "too many formats of the KV cache, or one has no words");
    }
    struct roof_engine_kv *const kv = &list[(*count)++];
    TRY(roof_precision_find(&kv->format, roof_json_key(row), r->error));
    return read_words(&kv->words, r, row);
}

static enum roof_status read_kv(const struct reader *r, const roof_json_value *row)
{
    return add_kv(r->parts->kv, &r->engine->kvs, r, row);
}

/* Reads what the engine needs for some classes of models; most have no needs of their own. */
static enum roof_status read_classes(const struct reader *r)
{
    const roof_json_value *const rows = roof_json_get(roof_json_root(r->json), "classes");
    r->engine->class = r->parts->class;
    for (const roof_json_value *row = roof_json_first(rows); row != NULL;
         row = roof_json_next(row)) {
        const size_t number = r->engine->classes;
        const roof_json_value *kv = roof_json_first(roof_json_get(row, "kv"));
        if (number == CLASSES_MAX) {
            return complain(r, row, "too many classes");
        }
        struct roof_engine_class *const class = &r->parts->class[number];
        struct roof_engine_kv *const kvs = r->parts->kv_of_class[number];
        *class = (struct roof_engine_class){.id = roof_json_key(row), .kv = kvs};
        TRY(read_words(&class->words, r, row));
        TRY(read_lines(&class->on, r, roof_json_get(row, "on")));
        for (; kv != NULL; kv = roof_json_next(kv)) {
            TRY(add_kv(kvs, &class->kvs, r, kv));
        }
        r->engine->classes++;
    }
    return ROOF_OK;
}

/* Reads the splits up to some sizes, with the words for them. */
static enum roof_status read_over(struct roof_engine_split *s, const struct reader *r,
                                  const roof_json_value *row)
{
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

static enum roof_status read_split(const struct reader *r, const roof_json_value *row)
{
    if (r->engine->splits == SPLITS_MAX || !roof_json_is_array(roof_json_get(row, "words"))) {
        return complain(r, row, "too many splits, or one has no words");
    }
    return read_over(&r->parts->split[r->engine->splits++], r, row);
}

/* Reads how fast weights on the host reach the device, if that was measured. */
static enum roof_status read_upload(const struct reader *r, const roof_json_value *upload)
{
    struct roof_upload *const c = &r->engine->upload;
    if (upload == NULL) {
        return ROOF_OK;
    }
    r->engine->upload_source = roof_json_line(roof_json_get(upload, "source"));
    return r->engine->upload_source != NULL &&
                   roof_json_number(&c->share, roof_json_get(upload, "link_share")) &&
                   roof_json_number(&c->low, roof_json_get(upload, "low")) &&
                   roof_json_number(&c->high, roof_json_get(upload, "high")) && c->share > 0 &&
                   c->share <= 1 && c->low > 0 && c->low <= 1 && c->high >= 1
               ? ROOF_OK
               : complain(r, upload,
                          "upload needs source, link_share and low from 0 to 1, and high from 1");
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
    return read_upload(r, words == NULL ? NULL : roof_json_get(words, "upload"));
}

/* Reads the words for each way of drafting that the engine has. */
static enum roof_status read_drafts(const struct reader *r)
{
    const roof_json_value *const ways = roof_json_get(roof_json_root(r->json), "drafts");
    for (int by = ROOF_DRAFTING_FREE; by <= ROOF_DRAFTING_MODEL && ways != NULL; by++) {
        const roof_json_value *const row = roof_json_get(ways, roof_engine_drafting[by]);
        struct roof_engine_drafts *const drafts = &r->engine->drafts[by];
        if (row != NULL) {
            drafts->checkpoint = roof_json_line(roof_json_get(row, "checkpoint"));
            TRY(read_over(&drafts->over, r, row));
            TRY(read_lines(&drafts->make, r, roof_json_get(row, "make")));
            TRY(read_lines(&drafts->unquantised.command, r, roof_json_get(row, "unquantised")));
            TRY(read_lines(&drafts->unquantised.file, r, NULL));
        }
    }
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
               : complain(r, value, "numbers of a scheduler must be from 1 to 1000000");
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

/* Reads the share of new tokens for which a scheduler keeps room; without it, it keeps none. */
static enum roof_status read_ratio(struct roof_new_token_ratio *out, const struct reader *r,
                                   const roof_json_value *row)
{
    double steps = 0;
    double most = 0;
    double retract = 0;
    if (row == NULL) {
        return ROOF_OK;
    }
    if (!roof_json_number(&out->first, roof_json_get(row, "first")) ||
        !roof_json_number(&out->least, roof_json_get(row, "least")) ||
        !(out->least >= 0 && out->least <= out->first && out->first <= 1)) {
        return complain(r, row, "new_token_ratio needs first and least, shares up to 1");
    }
    TRY(read_number(&steps, r, row, "decay_steps"));
    TRY(read_number(&most, r, row, "most_tokens"));
    TRY(read_number(&retract, r, row, "retract_steps"));
    out->decay_steps = (int64_t)steps;
    out->most_tokens = (int64_t)most;
    out->retract_steps = (int64_t)retract;
    return steps >= 1 && most >= 1 && retract >= 1
               ? ROOF_OK
               : complain(r, row,
                          "new_token_ratio needs decay_steps, most_tokens and retract_steps");
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
                 {"whole_prompts", &s->whole_prompts},
                 {"keeps_prefixes", &s->keeps_prefixes},
                 {"ahead", &s->ahead},
                 {"passes_first_token", &s->passes_first_token},
                 {"splits_limits", &s->splits_limits}};
    if (value == NULL) {
        return ROOF_OK;
    }
    for (size_t i = 0; i < COUNT(flags); i++) {
        if (!roof_json_boolean(flags[i].flag, roof_json_get(value, flags[i].key))) {
            return complain(r, value,
                            "a scheduler has counts_decode, mixes, preempts, whole_prompts, "
                            "keeps_prefixes, ahead, passes_first_token and splits_limits, true or "
                            "false");
        }
    }
    TRY(read_ratio(&s->ratio, r, roof_json_get(value, "new_token_ratio")));
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
    TRY(read_time(&time->overlap_s, r, row, OVERLAP_KEY, 1e6));
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
    TRY(read_lines(&e->aliases, &r, roof_json_get(root, "aliases")));
    TRY(read_lines(&e->sources, &r, roof_json_get(root, "source")));
    TRY(read_lines(&e->notes, &r, roof_json_get(root, "notes")));
    TRY(read_lines(&e->models, &r, roof_json_get(root, "models")));
    TRY(read_classes(&r));
    TRY(read_offload(&r));
    TRY(read_drafts(&r));
    for (size_t i = 0; i < COUNT(parts); i++) {
        TRY(read_each(&r, parts[i].key, parts[i].read));
    }
    return ROOF_OK;
}

/* Reads the overlap of the newest version of an engine, the first in its list. */
static enum roof_status read_overlap(double out_s[ROOF_STACK_COUNT], const struct roof_json *json,
                                     struct roof_error *error)
{
    struct roof_engine engine = {.stack = ROOF_STACK_BEST};
    const struct reader r = {.engine = &engine, .json = json, .error = error};
    const roof_json_value *const hosts = roof_json_get(roof_json_root(json), "host");
    TRY(read_stack(&r));
    return read_time(&out_s[engine.stack], &r, roof_json_first(hosts), OVERLAP_KEY, 1e6);
}

enum roof_status roof_engines_overlaps(double out_s[ROOF_STACK_COUNT], struct roof_error *error)
{
    memset(out_s, 0, ROOF_STACK_COUNT * sizeof *out_s);
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        if (strncmp(file->path, FOLDER, strlen(FOLDER)) == 0 &&
            strstr(file->text, "\"" OVERLAP_KEY "\"") != NULL) {
            struct roof_json *json = NULL;
            TRY(roof_data_json(&json, file->path, error));
            const enum roof_status status = read_overlap(out_s, json, error);
            roof_json_free(json);
            TRY(status);
        }
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

/* Tells whether a text is the id of an engine or an alias, in small or capital letters. */
static bool is_called(const struct roof_engine *engine, const char *id)
{
    const char *const *alias = engine->aliases;
    while (*alias != NULL && strcasecmp(*alias, id) != 0) {
        alias++;
    }
    return *alias != NULL || strcasecmp(engine->id, id) == 0;
}

enum roof_status roof_engine_find(size_t *out, const struct roof_engines *engines, const char *id,
                                  struct roof_error *error)
{
    const char *names[ROOF_ENGINES_MAX];
    for (*out = 0; *out < engines->count; (*out)++) {
        names[*out] = engines->engine[*out].id;
        if (is_called(&engines->engine[*out], id)) {
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "engine", id, names, engines->count);
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
