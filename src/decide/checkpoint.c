// SPDX-License-Identifier: MIT
#include "decide/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "catalog/registry.h"
#include "model/layout.h"
#include "model/load.h"

/* The quantization_config of the FP8 checkpoints that Qwen publishes, and Z.ai since GLM-5. */
static const char blocks_config[] =
    "{\"quant_method\": \"fp8\", \"fmt\": \"e4m3\", \"activation_scheme\": \"dynamic\", "
    "\"weight_block_size\": [128, 128]}";

/* How names of quantised checkpoints begin and end, and the formats that they mean. The first row
 * that fits counts, so the longer of two endings stands first, and the rows of one organisation
 * before those of all. */
static const struct {
    const char *organisation; /* with a slash; "": any. A name without one counts as this one's */
    const char *family;       /* how the name of the model begins; "": in any way */
    const char *ending;
    const char *formats;      /* ROOF_CHECKPOINT: those of `model` */
    const char *model;        /* NULL: the one before the ending */
    const char *quantization; /* NULL: not known here */
} checkpoints[] = {
    {"", "", "-fp8-dynamic", "fp8-dynamic", NULL, NULL},
    {"", "", "-fp8-block", "fp8-block", NULL, NULL},
    {"Qwen/", "qwen3", "-fp8", "fp8-block", NULL, blocks_config},
    {"zai-org/", "glm-5", "-fp8", "fp8-block", NULL, blocks_config},
    {"", "", "-fp8", "fp8", NULL, NULL}, /* those of NVIDIA have a scale for each tensor */
    {"", "", "-awq-int4", "awq", NULL, NULL},
    {"", "", "-awq", "awq", NULL, NULL},
    {"", "", "-gptq-int4", "int4_g128", NULL, NULL},
    {"", "", "-quantized.w4a16", "int4_g128", NULL, NULL},
    {"", "", "-quantized.w8a8", "int8", NULL, NULL},
    {"", "deepseek-r1", "-nvfp4-v2", ROOF_CHECKPOINT, "deepseek-r1-0528-nvfp4-v2", NULL},
    {"", "deepseek-r1", "-fp4-v2", ROOF_CHECKPOINT, "deepseek-r1-0528-nvfp4-v2", NULL},
    {"", "deepseek-r1", "-nvfp4", "deepseek-r1-nvfp4", NULL, NULL},
    {"", "deepseek-r1", "-fp4", "deepseek-r1-nvfp4", NULL, NULL},
    {"", "deepseek-v4", "-nvfp4", "deepseek-v4-nvfp4", NULL, NULL},
    {"", "", "-nvfp4", "nvfp4", NULL, NULL},
    {"", "", "-fp4", "nvfp4", NULL, NULL},
    {"", "", "-mxfp4", "mxfp4", NULL, NULL},
    /* All files of gpt-oss keep the experts in MXFP4. */
    {"", "gpt-oss", "-gguf", "gpt-oss-gguf", NULL, NULL},
    {"", "", "-gguf", "q4_k_m", NULL, NULL}};

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

/* Finds the checkpoint of a row that the first `length` characters of a name behind the
 * organisation mean. */
static bool find_row(struct roof_checkpoint *out, size_t row, const char *own, size_t length,
                     const char *const *folders)
{
    const char *const model = checkpoints[row].model;
    const size_t before = length - strlen(checkpoints[row].ending);
    bool known = false;
    if (!ends(own, length, checkpoints[row].ending) || !begins(own, checkpoints[row].family) ||
        (own != out->name && !begins(out->name, checkpoints[row].organisation)) ||
        before >= sizeof out->model) {
        return false;
    }
    (void)snprintf(out->model, sizeof out->model, "%.*s",
                   model == NULL ? (int)before : (int)strlen(model), model == NULL ? own : model);
    out->formats = checkpoints[row].formats;
    out->quantization = checkpoints[row].quantization;
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
    const bool other = strchr("./~", *name) != NULL || strchr(name, ',') != NULL ||
                       (slash != NULL && strchr(name, '/') != slash); /* a path or a list */
    *out = (struct roof_checkpoint){.name = name};
    for (size_t i = 0; !other && i < COUNT(checkpoints); i++) {
        if (find_row(out, i, own, length, folders)) {
            out->tagged = tagged && *checkpoints[i].family == '\0';
            out->formats = out->tagged ? colon + 1 : out->formats;
            out->layout = strcmp(out->formats, ROOF_CHECKPOINT) == 0 ||
                          (out->quantization == NULL && roof_layout_known(out->formats, folders));
            return true;
        }
    }
    out->name = NULL;
    return false;
}

/* Tells whether a layout is one of GGUF files. */
static bool is_gguf(const char *id, const char *const *folders)
{
    struct roof_layout_about about;
    if (roof_layout_load(&about, id, folders, NULL) != ROOF_OK) {
        return false;
    }
    const bool is = begins(about.name, "GGUF ");
    roof_layout_about_free(&about);
    return is;
}

/* Refuses an unknown tag; ids are the layouts, as `count` terminated strings. */
static enum roof_status refuse_tag(const struct roof_checkpoint *checkpoint, const char *ids,
                                   size_t count, const char *const *folders,
                                   struct roof_error *error)
{
    struct roof_text known = ROOF_TEXT_INIT;
    for (size_t i = 0; i < count; i++, ids += strlen(ids) + 1) {
        if (is_gguf(ids, folders)) {
            roof_text_printf(&known, "%s, ", ids);
        }
    }
    const enum roof_status status =
        known.failed ? roof_no_memory(error)
                     : roof_error_set(error, ROOF_USAGE,
                                      "%s: the tag '%s' is not known; known: %sbf16 and fp16",
                                      checkpoint->name, checkpoint->formats,
                                      known.data == NULL ? "" : known.data);
    roof_text_free(&known);
    return status;
}

enum roof_status roof_checkpoint_check(const struct roof_checkpoint *checkpoint,
                                       const char *const *folders, struct roof_error *error)
{
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    if (!checkpoint->tagged || checkpoint->layout ||
        roof_precision_find(&precision, checkpoint->formats, NULL) == ROOF_OK) {
        return ROOF_OK;
    }
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    enum roof_status status = roof_layout_ids(&ids, &count, folders, error);
    if (status == ROOF_OK) {
        status = refuse_tag(checkpoint, ids.data, count, folders, error);
    }
    roof_text_free(&ids);
    return status;
}

enum roof_status roof_checkpoint_make(struct roof_model *model,
                                      const struct roof_checkpoint *checkpoint,
                                      struct roof_error *error)
{
    struct roof_text repository = ROOF_TEXT_INIT;
    const bool whole = strchr(checkpoint->name, '/') != NULL || model->repository == NULL;
    roof_text_printf(&repository, "%s%s", whole ? checkpoint->name : model->repository,
                     whole ? "" : "-FP8");
    const enum roof_status status =
        repository.failed
            ? roof_no_memory(error)
            : roof_model_quantize(model, checkpoint->quantization, repository.data, error);
    roof_text_free(&repository);
    return status;
}

void roof_checkpoint_say(struct roof_text *out, const char *name,
                         const struct roof_checkpoint *checkpoint, const char *id, bool own)
{
    roof_text_printf(out, "%s is read as %s", name, id);
    if (!own) {
        roof_text_put(out, "; its formats are those of the question");
    } else if (checkpoint->quantization != NULL) {
        roof_text_put(out, " in FP8 with a scale for each block of 128 x 128");
    } else {
        roof_text_printf(out, " with %s %s", checkpoint->layout ? "layout" : "precision",
                         checkpoint->formats);
    }
}

enum roof_status roof_checkpoint_note(struct roof_error *note,
                                      const struct roof_checkpoint *checkpoint, const char *id,
                                      bool own, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_checkpoint_say(&text, checkpoint->name, checkpoint, id, own);
    const enum roof_status status = text.failed ? roof_no_memory(error) : ROOF_OK;
    if (status == ROOF_OK && note->message[0] == '\0') {
        (void)roof_error_set(note, ROOF_OK, "note: %s", text.data);
    } else if (status == ROOF_OK) {
        roof_error_append(note, "; %s", text.data);
    }
    roof_text_free(&text);
    return status;
}

const char *roof_hub_name(size_t *length, const char *name)
{
    static const char *const schemes[] = {"https://", "http://"};
    static const char *const hosts[] = {"huggingface.co/", "hf.co/"};
    *length = name == NULL ? 0 : strlen(name);
    if (name == NULL || strchr(name, ',') != NULL || ends(name, *length, ".gguf")) {
        return name;
    }
    const char *host = name;
    for (size_t i = 0; i < COUNT(schemes) && host == name; i++) {
        host += begins(name, schemes[i]) ? strlen(schemes[i]) : 0;
    }
    for (size_t i = 0; i < COUNT(hosts); i++) {
        if (begins(host, hosts[i])) {
            const char *const own = host + strlen(hosts[i]);
            const size_t first = strcspn(own, "/?#");
            if (first == 0) {
                break;
            }
            *length = own[first] != '/' ? first : first + 1 + strcspn(own + first + 1, "/?#");
            return own;
        }
    }
    return name;
}
