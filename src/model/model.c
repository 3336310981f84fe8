// SPDX-License-Identifier: MIT
#include "model/model_make.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

#define REMARKS_MAX 8
#define OWNED_MAX 16

struct owned {
    struct roof_json *json;
    const struct roof_json *lender;      /* the document of the model that this is a copy of */
    struct roof_json *beside;            /* hf_quant_config.json, or NULL */
    const roof_json_value *quantization; /* an object of either, or NULL */
    const struct roof_json *quantizer;   /* the document that it stands in, also of a copy */
    const char *remark[REMARKS_MAX + 1];
    size_t remarks;
    char *string[OWNED_MAX];
    size_t strings;
    char *layout;
};

static const char *const no_strings[] = {NULL};

static struct owned *owned_by(const struct roof_model *model)
{
    return model->private_data;
}

struct roof_model *roof_model_new(void)
{
    struct roof_model *const model = calloc(1, sizeof *model);
    struct owned *const owned = calloc(1, sizeof *owned);
    if (model == NULL || owned == NULL) {
        free(model);
        free(owned);
        return NULL;
    }
    model->private_data = owned;
    model->remarks = owned->remark;
    model->notes = no_strings;
    model->sources = no_strings;
    model->confidence = "";
    model->file_bytes = ROOF_UNKNOWN;
    model->activations = ROOF_PRECISION_AUTO;
    model->kv = ROOF_PRECISION_AUTO;
    model->mixer.state = ROOF_PRECISION_FP32;
    memset(model->format, ROOF_PRECISION_AUTO, sizeof model->format);
    return model;
}

void roof_model_free(struct roof_model *model)
{
    if (model != NULL) {
        struct owned *const owned = owned_by(model);
        for (size_t i = 0; i < owned->strings; i++) {
            free(owned->string[i]);
        }
        roof_json_free(owned->json);
        roof_json_free(owned->beside);
        free(owned->layout);
        free(owned);
        free(model);
    }
}

struct roof_model *roof_model_copy(const struct roof_model *model)
{
    struct roof_model *const copy = roof_model_new();
    if (copy != NULL) {
        const struct owned *const from = owned_by(model);
        struct owned *const owned = owned_by(copy);
        *copy = *model;
        copy->private_data = owned;
        owned->quantization = from->quantization;
        owned->quantizer = from->quantizer;
        owned->lender = from->lender == NULL ? from->json : from->lender;
    }
    return copy;
}

void roof_model_attach(struct roof_model *model, struct roof_json *json)
{
    owned_by(model)->json = json;
}

const struct roof_json *roof_model_json(const struct roof_model *model)
{
    const struct owned *const owned = owned_by(model);
    return owned->lender == NULL ? owned->json : owned->lender;
}

void roof_model_attach_beside(struct roof_model *model, struct roof_json *json)
{
    owned_by(model)->beside = json;
}

void roof_model_set_quantization(struct roof_model *model, const struct roof_json *json,
                                 const roof_json_value *value)
{
    owned_by(model)->quantization = value;
    owned_by(model)->quantizer = json;
}

const struct roof_json *roof_model_quantizer(const struct roof_model *model)
{
    return owned_by(model)->quantizer;
}

const roof_json_value *roof_model_quantization(const struct roof_model *model)
{
    return owned_by(model)->quantization;
}

void *roof_model_own(struct roof_model *model, void *memory)
{
    struct owned *const owned = owned_by(model);
    if (memory == NULL || owned->strings == OWNED_MAX) {
        free(memory);
        return NULL;
    }
    owned->string[owned->strings++] = memory;
    return memory;
}

bool roof_model_set_layout(struct roof_model *model, const char *name)
{
    struct owned *const owned = owned_by(model);
    char *const copy = strdup(name);
    if (copy == NULL) {
        return false;
    }
    free(owned->layout);
    owned->layout = copy;
    model->layout = copy;
    return true;
}

void roof_model_note_predictors(struct roof_model *model)
{
    roof_model_note(
        model, "the layers for multi-token prediction (MTP) count only when they draft tokens");
}

void roof_model_note(struct roof_model *model, const char *remark)
{
    struct owned *const owned = owned_by(model);
    if (remark != NULL && owned->remarks < REMARKS_MAX) {
        owned->remark[owned->remarks++] = remark;
    }
}

enum roof_status roof_model_note_text(struct roof_model *model, struct roof_text *remark,
                                      struct roof_error *error)
{
    if (remark->failed || remark->length == 0) {
        const enum roof_status status = remark->failed ? roof_no_memory(error) : ROOF_OK;
        roof_text_free(remark);
        return status;
    }
    const char *const owned = roof_model_own(model, remark->data);
    roof_model_note(model, owned);
    return owned == NULL ? roof_no_memory(error) : ROOF_OK;
}

const char *roof_attention_name(const struct roof_model *model)
{
    return model->kv_lora_rank > 0           ? "MLA"
           : model->kv_heads == model->heads ? "MHA"
           : model->kv_heads == 1            ? "MQA"
                                             : "GQA";
}

/* --- layers -------------------------------------------------------------------------------- */

void roof_layers_clear(struct roof_layer *layer, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        memset(layer[i].format, ROOF_PRECISION_AUTO, sizeof layer[i].format);
    }
}

void roof_model_spread(struct roof_layer out[ROOF_LAYERS_MAX], const struct roof_model *model)
{
    for (int64_t i = 0; i < model->layers; i++) {
        out[i] = model->layer[model->layer_class[i]];
    }
}

void roof_model_forget_formats(struct roof_model *model)
{
    roof_layers_clear(model->layer, model->layer_classes);
    memset(model->format, ROOF_PRECISION_AUTO, sizeof model->format);
    model->activations = model->kv = ROOF_PRECISION_AUTO;
    model->stored = model->gguf = model->narrow_inputs = false;
    model->layout = NULL;
    model->file_bytes = ROOF_UNKNOWN;
}

int64_t roof_heads(const struct roof_model *model, const struct roof_layer *layer)
{
    return layer->heads > 0 ? layer->heads : model->heads;
}

int64_t roof_kv_heads(const struct roof_model *model, const struct roof_layer *layer, int64_t tp)
{
    const int64_t heads = layer->kv_heads > 0 ? layer->kv_heads : model->kv_heads;
    return heads >= tp ? heads / tp : 1;
}

int64_t roof_head_dim(const struct roof_model *model, const struct roof_layer *layer)
{
    return layer->head_dim > 0 ? layer->head_dim : model->head_dim;
}

int64_t roof_value_dim(const struct roof_model *model, const struct roof_layer *layer)
{
    return layer->head_dim == 0 && model->v_head_dim > 0 ? model->v_head_dim
                                                         : roof_head_dim(model, layer);
}

int64_t roof_intermediate(const struct roof_model *model, const struct roof_layer *layer)
{
    return layer->intermediate > 0 ? layer->intermediate : model->intermediate;
}

int64_t roof_expert_hidden(const struct roof_model *model)
{
    return model->expert_latent > 0 ? model->expert_latent : model->hidden;
}

bool roof_chooses_keys(const struct roof_model *model, const struct roof_layer *layer)
{
    return model->index_topk > 0 && !model->key_is_value && !layer->reuses_choice;
}

static bool equal_layers(const struct roof_layer *a, const struct roof_layer *b)
{
    return a->windowed == b->windowed && a->moe == b->moe && a->stateful == b->stateful &&
           a->no_attention == b->no_attention && a->no_mlp == b->no_mlp &&
           a->no_rope == b->no_rope && a->keyless == b->keyless && a->blocks == b->blocks &&
           a->reuses_choice == b->reuses_choice && a->value_is_key == b->value_is_key &&
           a->crossed == b->crossed && a->heads == b->heads && a->kv_heads == b->kv_heads &&
           a->head_dim == b->head_dim && a->rotary_dim == b->rotary_dim &&
           a->intermediate == b->intermediate && a->ratio == b->ratio &&
           a->attention_sums == b->attention_sums && a->mlp_sums == b->mlp_sums &&
           memcmp(a->format, b->format, sizeof a->format) == 0;
}

void roof_model_classes(struct roof_model *model, const struct roof_layer layer[ROOF_LAYERS_MAX])
{
    model->layer_classes = 0;
    for (int64_t i = 0; i < model->layers; i++) {
        int64_t found = 0;
        while (found < model->layer_classes && !equal_layers(&model->layer[found], &layer[i])) {
            found++;
        }
        if (found == model->layer_classes) {
            model->layer[model->layer_classes++] = layer[i];
        }
        model->layer_class[i] = (int16_t)found;
    }
}

/* --- checks -------------------------------------------------------------------------------- */

/* The widest row of all heads. A layer multiplies matrices with a few times as many rows, and
 * operators have a limit. */
#define WIDTH_MAX 1e11

static enum roof_status put_latent_heads(struct roof_model *m, struct roof_error *error)
{
    if (m->qk_nope_head_dim == 0 || m->qk_rope_head_dim == 0 || m->v_head_dim == 0) {
        return roof_error_set(error, ROOF_INVALID,
                              "a model with kv_lora_rank needs qk_nope_head_dim, "
                              "qk_rope_head_dim and v_head_dim");
    }
    if ((m->kv_lora_rank + m->qk_rope_head_dim) % 2 != 0) {
        return roof_error_set(error, ROOF_INVALID, "kv_lora_rank + qk_rope_head_dim must be even");
    }
    m->head_dim = m->qk_nope_head_dim + m->qk_rope_head_dim;
    m->rotary_dim = m->qk_rope_head_dim;
    return ROOF_OK;
}

static enum roof_status put_heads(struct roof_model *m, struct roof_error *error)
{
    if (m->kv_heads == 0) {
        m->kv_heads = m->heads;
    }
    if (m->kv_lora_rank > 0) {
        return put_latent_heads(m, error);
    }
    if (m->head_dim == 0) {
        if (m->hidden % m->heads != 0) {
            return roof_error_set(error, ROOF_INVALID,
                                  "head_dim is missing, and hidden_size %" PRId64
                                  " is not a multiple of num_attention_heads %" PRId64,
                                  m->hidden, m->heads);
        }
        m->head_dim = m->hidden / m->heads;
    }
    return ROOF_OK;
}

/* Checks the layers whose heads differ from the model's. */
static enum roof_status check_layer_heads(const struct roof_model *m, struct roof_error *error)
{
    for (int64_t c = 0; c < m->layer_classes; c++) {
        const struct roof_layer *const layer = &m->layer[c];
        const int64_t heads = roof_heads(m, layer);
        const int64_t kv_heads = roof_kv_heads(m, layer, 1);
        if (!layer->no_attention && heads % kv_heads != 0) {
            return roof_error_set(error, ROOF_INVALID,
                                  "%" PRId64
                                  " attention heads of a layer must be a multiple of its "
                                  "%" PRId64 " KV heads",
                                  heads, kv_heads);
        }
    }
    return ROOF_OK;
}

static enum roof_status check_heads(const struct roof_model *m, struct roof_error *error)
{
    if ((double)m->heads * (double)m->head_dim > WIDTH_MAX) {
        return roof_error_set(error, ROOF_INVALID,
                              "%" PRId64 " attention heads of %" PRId64
                              " are wider than the %.0e that are possible",
                              m->heads, m->head_dim, WIDTH_MAX);
    }
    if (m->kv_lora_rank == 0 && m->v_head_dim > 0 && (m->head_dim + m->v_head_dim) % 2 != 0) {
        return roof_error_set(error, ROOF_INVALID, "head_dim + v_head_dim must be even");
    }
    if (m->heads % m->kv_heads != 0) {
        return roof_error_set(error, ROOF_INVALID,
                              "num_attention_heads %" PRId64
                              " must be a multiple of num_key_value_heads %" PRId64,
                              m->heads, m->kv_heads);
    }
    return check_layer_heads(m, error);
}

static enum roof_status check_mlp(struct roof_model *m, struct roof_error *error)
{
    if (m->experts > 0 && (m->top_k == 0 || m->top_k > m->experts)) {
        return roof_error_set(error, ROOF_INVALID,
                              "experts per token must be 1 to %" PRId64 ", not %" PRId64,
                              m->experts, m->top_k);
    }
    if (m->experts > 0 && m->expert_intermediate == 0) {
        m->expert_intermediate = m->intermediate;
    }
    for (int64_t c = 0; c < m->layer_classes; c++) {
        if (!m->layer[c].no_mlp &&
            (m->layer[c].moe ? m->expert_intermediate : roof_intermediate(m, &m->layer[c])) == 0) {
            return roof_error_set(error, ROOF_INVALID, "%s is missing",
                                  m->layer[c].moe ? "moe_intermediate_size" : "intermediate_size");
        }
    }
    return ROOF_OK;
}

enum roof_status roof_model_check(struct roof_model *model, struct roof_error *error)
{
    TRY(put_heads(model, error));
    TRY(check_heads(model, error));
    return check_mlp(model, error);
}

enum roof_status roof_model_finish(struct roof_model *model,
                                   const struct roof_layer layer[ROOF_LAYERS_MAX], const char *path,
                                   struct roof_error *error)
{
    roof_model_classes(model, layer);
    const enum roof_status status = roof_model_check(model, error);
    return status == ROOF_OK ? ROOF_OK : roof_error_move(error, status, path, 0, 0);
}
