// SPDX-License-Identifier: MIT
#include "decide/hint.h"

#include "decide/engine.h"
#include "model/layout.h"

void roof_hint_format(struct roof_error *error, const char *name, const char *const *folders)
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
        (void)roof_error_set(error, status,
                             "%s is a layout of checkpoints, for models: " ROOF_KEY("layout") " %s",
                             name, name);
    } else if (roof_engines_load(&engines, NULL) == ROOF_OK &&
               roof_serving_find(engines, name) != NULL) {
        (void)roof_error_set(error, status,
                             "%s is a format of engines, for models: " ROOF_KEY("precision") " %s",
                             name, name);
    }
    roof_engines_free(engines);
}
