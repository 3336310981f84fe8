// SPDX-License-Identifier: MIT
#include "decide/hint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/text.h"
#include "catalog/registry.h"
#include "decide/engine.h"
#include "model/layout.h"
#include "model/load.h"

/* Writes how to give the formats of an engine (NULL: the name belongs to no engine) in place of a
 * precision. For the value of `precision` it names the weights and activations. */
static void hint_serving(struct roof_error *error, const char *name,
                         const struct roof_serving *serving, bool precision_given)
{
    if (serving == NULL) {
        return;
    }
    if (precision_given) {
        (void)roof_error_set(error, error->status,
                             "%s is a format of engines, for models only; here give " ROOF_KEY(
                                 "weights") " %s " ROOF_KEY("activations") " %s",
                             serving->id, roof_format(serving->weights)->name,
                             roof_format(serving->activations)->name);
    } else {
        (void)roof_error_set(error, error->status,
                             "%s is a format of engines, for models: " ROOF_KEY("precision") " %s",
                             name, name);
    }
}

/* The room for the name of a precision at the beginning of a layout's. */
#define LAYOUT_SIZE 64

/* Names the option of a layout, and the precision of an operator with such weights: q4_k for
 * q4_k_m. */
static void hint_layout(struct roof_error *error, enum roof_status status, const char *name)
{
    char precision[LAYOUT_SIZE];
    (void)snprintf(precision, sizeof precision, "%s", name);
    char *const last = strrchr(precision, '_');
    enum roof_precision found = ROOF_PRECISION_AUTO;
    if (last != NULL) {
        *last = '\0';
    }
    const bool known = roof_precision_find(&found, precision, NULL) == ROOF_OK;
    (void)roof_error_set(
        error, status, "%s is a layout of checkpoints, for models: " ROOF_KEY("layout") " %s%s%s",
        name, name, known ? "; operators have " : "", known ? roof_format(found)->name : "");
}

void roof_hint_format(struct roof_error *error, const char *name, bool precision_given,
                      const char *const *folders)
{
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    struct roof_engines *engines = NULL;
    if (error == NULL || error->status == ROOF_MEMORY) {
        return;
    }
    const enum roof_status status = error->status;
    if (roof_precision_find(&precision, name, NULL) == ROOF_OK) {
        (void)roof_error_set(error, status, "%s is a precision: " ROOF_KEY("precision") " %s", name,
                             name);
    } else if (roof_layout_known(name, folders)) {
        hint_layout(error, status, name);
    } else if (roof_engines_load(&engines, NULL) == ROOF_OK) {
        hint_serving(error, name, roof_serving_find(engines, name), precision_given);
    }
    roof_engines_free(engines);
}

/* Tells whether a name has the part "-vl", the mark of vision models in many families. */
static bool is_vision(const char *name)
{
    static const char mark[] = "-vl";
    const size_t length = strlen(mark);
    for (const char *at = strchr(name, '-'); at != NULL; at = strchr(at + 1, '-')) {
        if (strncasecmp(at, mark, length) == 0 && strchr("-:", at[length]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Appends the models with a vision encoder; ids are all models, as `count` terminated strings. */
static void append_vision(struct roof_text *out, const char *ids, size_t count,
                          const char *const *folders)
{
    for (size_t i = 0; i < count; i++, ids += strlen(ids) + 1) {
        struct roof_model *model = NULL;
        if (roof_model_load(&model, ids, folders, NULL) == ROOF_OK && model->tower.layers > 0) {
            roof_text_printf(out, "%s%s", out->length == 0 ? "" : ", ", ids);
        }
        roof_model_free(model);
    }
}

void roof_hint_vision(struct roof_error *error, const char *name, const char *const *folders)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    struct roof_text vision = ROOF_TEXT_INIT;
    size_t count = 0;
    if (error == NULL || error->status != ROOF_USAGE || roof_registry_path(name) ||
        roof_registry_document(name) || !is_vision(name)) {
        return;
    }
    if (roof_model_ids(&ids, &count, folders, NULL) == ROOF_OK) {
        append_vision(&vision, ids.data, count, folders);
    }
    if (vision.data != NULL && !vision.failed) {
        (void)roof_error_set(error, ROOF_USAGE,
                             "unknown model '%s'; give its config.json, or one of the models with "
                             "a vision encoder: %s",
                             name, vision.data);
    }
    roof_text_free(&vision);
    roof_text_free(&ids);
}
