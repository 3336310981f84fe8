// SPDX-License-Identifier: MIT
#include "decide/hint.h"

#include "decide/engine.h"
#include "model/layout.h"

/* Says what a format of engines is where `precision`, which takes it for a model, was given. */
static void say_parts(struct roof_error *error, enum roof_status status,
                      const struct roof_serving *serving)
{
    (void)roof_error_set(error, status,
                         "%s is a format of engines, which goes with one model: give " ROOF_KEY(
                             "weights") " %s " ROOF_KEY("activations") " %s",
                         serving->id, roof_format(serving->weights)->name,
                         roof_format(serving->activations)->name);
}

void roof_hint_format(struct roof_error *error, const char *name, bool precision_given,
                      const char *const *folders)
{
    const struct roof_serving *serving = NULL;
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
        (void)roof_error_set(error, status,
                             "%s is a layout of checkpoints, for models: " ROOF_KEY("layout") " %s",
                             name, name);
    } else if (roof_engines_load(&engines, NULL) == ROOF_OK &&
               (serving = roof_serving_find(engines, name)) != NULL && precision_given) {
        say_parts(error, status, serving);
    } else if (serving != NULL) {
        (void)roof_error_set(error, status,
                             "%s is a format of engines, for models: " ROOF_KEY("precision") " %s",
                             name, name);
    }
    roof_engines_free(engines);
}
