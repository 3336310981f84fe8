// SPDX-License-Identifier: MIT
/* The engines that run a model. */
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
    roof_error_append(error, " cannot run %s; engines that can:", model->architecture);
    append_ids(error, engines, listing(engines, model));
    return status;
}
