// SPDX-License-Identifier: MIT
/* The combinations of formats that engines run, and on what devices. */
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "decide/engine.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool roof_serving_same(const struct roof_serving *a, const struct roof_serving *b)
{
    return a->weights == b->weights && a->activations == b->activations && a->kv == b->kv &&
           same_text(a->layout, b->layout) && same_text(a->quantization, b->quantization);
}

bool roof_serving_published(const struct roof_serving *serving)
{
    return serving->layout != NULL && strcmp(serving->layout, "checkpoint") == 0;
}

/* Tells whether a format of an engine has a format of the KV cache. */
static bool has_kv(const struct roof_engine_format *f, enum roof_precision kv)
{
    size_t k = 0;
    while (k < f->kvs && f->kv[k] != kv) {
        k++;
    }
    return k < f->kvs;
}

/* Tells whether a format of an engine is a combination. */
static bool is_serving(const struct roof_engine_format *f, const struct roof_serving *serving)
{
    const struct roof_serving own = {.layout = f->layout,
                                     .quantization = f->quantization,
                                     .weights = f->weights,
                                     .activations = f->activations,
                                     .kv = serving->kv};
    return has_kv(f, serving->kv) && roof_serving_same(&own, serving);
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

bool roof_serving_own(const struct roof_serving *serving, const struct roof_model *model)
{
    return roof_serving_published(serving) && roof_serving_suits(serving, model);
}

bool roof_serving_gains(const struct roof_serving *serving, const struct roof_serving *published)
{
    const int bits = roof_format(serving->weights)->element_bits;
    const int fewest = roof_format(published->weights)->element_bits;
    const bool smaller =
        roof_precision_bits(serving->weights) <= roof_precision_bits(published->weights);
    return bits < fewest ||
           (bits == fewest && smaller && roof_format(serving->activations)->element_bits == bits &&
            roof_format(published->activations)->element_bits > bits);
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

bool roof_engine_on(const char *const *on, const struct roof_hardware *hardware)
{
    while (*on != NULL && strncmp(hardware->architecture, *on, strlen(*on)) != 0) {
        on++;
    }
    return *on != NULL;
}

/* Tells whether an engine runs a format of its own on the architecture of a device. A device
 * without an architecture may run formats for which it has units. */
static bool runs_on(const struct roof_engine_format *f, const struct roof_hardware *hardware)
{
    return roof_engine_on(f->on, hardware) ||
           (*hardware->architecture == '\0' && has_units(f, hardware));
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

bool roof_engines_reach(const struct roof_engines *engines, unsigned by,
                        const struct roof_hardware *hardware)
{
    bool reach = false;
    for (size_t i = 0; i < engines->servings && !reach; i++) {
        reach = (roof_engines_run(engines, i, hardware) & by) != 0;
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
        return has_kv(f, format) ? ROOF_ENGINE_USE_COMPUTED : ROOF_ENGINE_USE_NONE;
    }
    return !same_kind(f->weights, format)      ? ROOF_ENGINE_USE_NONE
           : f->quantization != NULL           ? ROOF_ENGINE_USE_PUBLISHED
           : same_kind(f->activations, format) ? ROOF_ENGINE_USE_COMPUTED
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
