// SPDX-License-Identifier: MIT
#include "decide/hint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
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

/* How names of quantised checkpoints end, and the formats that they mean. The first row that fits
 * counts, so the longer of two endings stands first. */
static const struct {
    const char *family; /* how the name of the model begins; "": in any way */
    const char *ending;
    const char *formats;
} checkpoints[] = {{"", "-fp8-dynamic", "fp8-dynamic"},
                   {"", "-fp8-block", "fp8-block"},
                   {"qwen", "-fp8", "fp8-block"}, /* quantization_config: blocks of 128 x 128 */
                   {"", "-fp8", "fp8"},
                   {"", "-awq-int4", "awq"},
                   {"", "-awq", "awq"},
                   {"", "-gptq-int4", "int4_g128"},
                   {"", "-quantized.w4a16", "int4_g128"},
                   {"", "-quantized.w8a8", "int8"},
                   {"", "-nvfp4", "nvfp4"},
                   {"", "-fp4", "nvfp4"},
                   {"", "-mxfp4", "mxfp4"},
                   {"", "-gguf", "q4_k_m"}};

bool roof_checkpoint_find(struct roof_checkpoint *out, const char *name, const char *const *folders)
{
    const char *const slash = strrchr(name, '/');
    const char *const own = slash == NULL ? name : slash + 1;
    const size_t length = strlen(own);
    const bool path = strchr("./~", *name) != NULL || (slash != NULL && strchr(name, '/') != slash);
    for (size_t i = 0; !path && i < COUNT(checkpoints); i++) {
        const char *const ending = checkpoints[i].ending;
        bool known = false;
        if (length > strlen(ending) && length - strlen(ending) < sizeof out->model &&
            strcasecmp(own + length - strlen(ending), ending) == 0 &&
            strncasecmp(own, checkpoints[i].family, strlen(checkpoints[i].family)) == 0) {
            (void)snprintf(out->model, sizeof out->model, "%.*s", (int)(length - strlen(ending)),
                           own);
            if (roof_model_known(&known, out->model, folders, NULL) == ROOF_OK && known) {
                out->formats = checkpoints[i].formats;
                return true;
            }
        }
    }
    return false;
}

void roof_hint_model(struct roof_error *error, const char *name, const char *const *folders)
{
    struct roof_checkpoint checkpoint;
    if (error != NULL && roof_checkpoint_find(&checkpoint, name, folders)) {
        (void)roof_error_set(
            error, error->status,
            "%s is not built in, but %s is: give %s with " ROOF_KEY("precision") " %s", name,
            checkpoint.model, checkpoint.model, checkpoint.formats);
    }
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
