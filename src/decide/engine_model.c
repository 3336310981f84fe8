// SPDX-License-Identifier: MIT
/* The engines that run a model, and what they need for it. */
#include <string.h>

#include "base/base.h"
#include "decide/engine.h"

static bool is_listed(const struct roof_engine *engine, const char *architecture)
{
    const char *const *line = engine->models;
    while (*line != NULL && strcmp(*line, architecture) != 0) {
        line++;
    }
    return *line != NULL;
}

/* Returns the engines whose list has the class of a model, as bits by number. */
static unsigned listing(const struct roof_engines *engines, const struct roof_model *model)
{
    unsigned set = 0;
    for (size_t i = 0; i < engines->count && model->architecture != NULL; i++) {
        set |= (unsigned)is_listed(&engines->engine[i], model->architecture) << i;
    }
    return set;
}

unsigned roof_engines_model(const struct roof_engines *engines, const struct roof_model *model)
{
    unsigned run = listing(engines, model);
    for (size_t i = 0; i < engines->count && run != 0; i++) {
        run |= (unsigned)(*engines->engine[i].models == NULL) << i;
    }
    return run == 0 ? ~0U : run;
}

const struct roof_engine_class *roof_engine_class(const struct roof_engine *engine,
                                                  const struct roof_model *model)
{
    size_t i = 0;
    while (i < engine->classes &&
           (model->architecture == NULL || strcmp(engine->class[i].id, model->architecture) != 0)) {
        i++;
    }
    return i < engine->classes ? &engine->class[i] : NULL;
}

const struct roof_engine_kv *roof_engine_kv(const struct roof_engine *engine,
                                            const struct roof_model *model, enum roof_precision kv)
{
    const struct roof_engine_class *const class = roof_engine_class(engine, model);
    const bool own = class != NULL && class->kvs > 0;
    const struct roof_engine_kv *const list = own ? class->kv : engine->kv;
    const size_t count = own ? class->kvs : engine->kvs;
    size_t i = 0;
    while (i < count && list[i].format != kv) {
        i++;
    }
    return i < count ? &list[i] : NULL;
}

bool roof_engine_class_on(const struct roof_engine_class *class,
                          const struct roof_hardware *hardware)
{
    return *class->on == NULL || *hardware->architecture == '\0' ||
           roof_engine_on(class->on, hardware);
}

/* Tells whether an engine runs a model with a format of its KV cache on a device, if its formats
 * are those of the engine there. */
static bool keeps(const struct roof_engine *engine, const struct roof_model *model,
                  enum roof_precision kv, const struct roof_hardware *hardware)
{
    const struct roof_engine_class *const class = roof_engine_class(engine, model);
    return (class == NULL || roof_engine_class_on(class, hardware)) &&
           roof_engine_kv(engine, model, kv) != NULL;
}

unsigned roof_engines_serve(const struct roof_engines *engines, size_t serving,
                            const struct roof_model *model, const struct roof_hardware *hardware)
{
    unsigned run = roof_engines_run(engines, serving, hardware);
    for (size_t i = 0; i < engines->count && run != 0; i++) {
        const enum roof_precision kv = engines->serving[serving].kv;
        run &= keeps(&engines->engine[i], model, kv, hardware) ? ~0U : ~(1U << i);
    }
    return run;
}

/* Appends the ids of engines. */
static void append_ids(struct roof_error *error, const struct roof_engines *engines, unsigned set)
{
    const char *separator = " ";
    for (size_t i = 0; i < engines->count; i++) {
        if ((set >> i & 1U) != 0) {
            roof_error_append(error, "%s%s", separator, engines->engine[i].id);
            separator = ", ";
        }
    }
}

enum roof_status roof_engines_check_model(const struct roof_engines *engines, unsigned asked,
                                          const struct roof_model *model, const char *key,
                                          struct roof_error *error)
{
    if ((asked & roof_engines_model(engines, model)) != 0) {
        return ROOF_OK;
    }
    const enum roof_status status = roof_error_set(error, ROOF_USAGE, ROOF_KEY("%s"), key);
    append_ids(error, engines, asked);
    roof_error_append(error, " cannot run %s; engines that list it:", model->architecture);
    append_ids(error, engines, listing(engines, model));
    return status;
}
