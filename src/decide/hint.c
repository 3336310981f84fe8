// SPDX-License-Identifier: MIT
#include "decide/hint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/text.h"
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

/* The formats of the FP8 checkpoints that Qwen publishes, and their quantization_config. */
#define BLOCKS "fp8-block"
static const char blocks_config[] =
    "{\"quant_method\": \"fp8\", \"fmt\": \"e4m3\", \"activation_scheme\": \"dynamic\", "
    "\"weight_block_size\": [128, 128]}";

/* How names of quantised checkpoints end, and the formats that they mean. The first row that fits
 * counts, so the longer of two endings stands first. */
static const struct {
    const char *family; /* how the name of the model begins; "": in any way */
    const char *ending;
    const char *formats; /* "checkpoint": those of `model` */
    const char *model;   /* NULL: the one before the ending */
} checkpoints[] = {
    {"", "-fp8-dynamic", "fp8-dynamic", NULL},
    {"", "-fp8-block", "fp8-block", NULL},
    {"qwen", "-fp8", BLOCKS, NULL},
    {"", "-fp8", "fp8", NULL},
    {"", "-awq-int4", "awq", NULL},
    {"", "-awq", "awq", NULL},
    {"", "-gptq-int4", "int4_g128", NULL},
    {"", "-quantized.w4a16", "int4_g128", NULL},
    {"", "-quantized.w8a8", "int8", NULL},
    {"deepseek-r1", "-nvfp4-v2", "checkpoint", "deepseek-r1-0528-nvfp4-v2"},
    {"deepseek-r1", "-fp4-v2", "checkpoint", "deepseek-r1-0528-nvfp4-v2"},
    {"deepseek-r1", "-nvfp4", "deepseek-r1-nvfp4", NULL},
    {"deepseek-r1", "-fp4", "deepseek-r1-nvfp4", NULL},
    {"", "-nvfp4", "nvfp4", NULL},
    {"", "-fp4", "nvfp4", NULL},
    {"", "-mxfp4", "mxfp4", NULL},
    {"gpt-oss", "-gguf", "gpt-oss-gguf", NULL}, /* all files keep the experts in MXFP4 */
    {"", "-gguf", "q4_k_m", NULL}};

#define GGUF_ENDING "-gguf"

/* Tells whether a name begins with a text, in small or capital letters. */
static bool begins(const char *name, const char *with)
{
    return strncasecmp(name, with, strlen(with)) == 0;
}

/* Tells whether the first `length` characters of a name end with a text, and begin before it. */
static bool ends(const char *name, size_t length, const char *with)
{
    const size_t end = strlen(with);
    return length > end && strncasecmp(name + length - end, with, end) == 0;
}

/* Finds the checkpoint of a row that the first `length` characters of a name mean. */
static bool find_row(struct roof_checkpoint *out, size_t row, const char *name, size_t length,
                     const char *const *folders)
{
    const char *const model = checkpoints[row].model;
    const size_t before = length - strlen(checkpoints[row].ending);
    bool known = false;
    if (!ends(name, length, checkpoints[row].ending) || !begins(name, checkpoints[row].family) ||
        before >= sizeof out->model) {
        return false;
    }
    (void)snprintf(out->model, sizeof out->model, "%.*s",
                   model == NULL ? (int)before : (int)strlen(model), model == NULL ? name : model);
    out->formats = checkpoints[row].formats;
    out->layout = model != NULL;
    out->quantization = strcmp(out->formats, BLOCKS) == 0 && *checkpoints[row].family != '\0'
                            ? blocks_config
                            : NULL;
    return roof_model_known(&known, out->model, folders, NULL) == ROOF_OK && known;
}

bool roof_checkpoint_find(struct roof_checkpoint *out, const char *name, const char *const *folders)
{
    const char *const slash = strrchr(name, '/');
    const char *const own = slash == NULL ? name : slash + 1;
    const char *const colon = strrchr(own, ':');
    const size_t before = colon == NULL ? strlen(own) : (size_t)(colon - own);
    const bool tagged = colon != NULL && colon[1] != '\0' && ends(own, before, GGUF_ENDING);
    const size_t length = tagged ? before : strlen(own);
    const bool path = strchr("./~", *name) != NULL || (slash != NULL && strchr(name, '/') != slash);
    for (size_t i = 0; !path && i < COUNT(checkpoints); i++) {
        if (find_row(out, i, own, length, folders)) {
            if (tagged && *checkpoints[i].family == '\0') {
                out->formats = colon + 1;
                out->layout = roof_layout_known(out->formats, folders);
            }
            return true;
        }
    }
    return false;
}

enum roof_status roof_checkpoint_make(struct roof_model *model,
                                      const struct roof_checkpoint *checkpoint, const char *name,
                                      struct roof_error *error)
{
    struct roof_text repository = ROOF_TEXT_INIT;
    const bool whole = strchr(name, '/') != NULL || model->repository == NULL;
    roof_text_printf(&repository, "%s%s", whole ? name : model->repository, whole ? "" : "-FP8");
    const enum roof_status status =
        repository.failed
            ? roof_no_memory(error)
            : roof_model_quantize(model, checkpoint->quantization, repository.data, error);
    roof_text_free(&repository);
    return status;
}

const char *roof_hub_name(const char *name)
{
    static const char *const hosts[] = {"huggingface.co/", "hf.co/"};
    static const char scheme[] = "https://";
    for (size_t i = 0; name != NULL && i < COUNT(hosts); i++) {
        const char *const host = name + (begins(name, scheme) ? strlen(scheme) : 0);
        if (begins(host, hosts[i])) {
            return host + strlen(hosts[i]);
        }
    }
    return name;
}

void roof_hint_model(struct roof_error *error, const char *name, const char *const *folders)
{
    struct roof_checkpoint checkpoint;
    if (error == NULL || !roof_checkpoint_find(&checkpoint, name, folders)) {
        return;
    }
    (void)roof_error_set(error, error->status, "%s is not built in, but %s is: give %s with ", name,
                         checkpoint.model, checkpoint.model);
    if (checkpoint.layout) {
        roof_error_append(error, ROOF_KEY("layout") " %s", checkpoint.formats);
    } else {
        roof_error_append(error, ROOF_KEY("precision") " %s", checkpoint.formats);
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
