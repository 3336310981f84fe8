// SPDX-License-Identifier: MIT
/*
 * Safetensors of models whose layers have states, indexers, experts on a latent or sizes of their
 * own. The shapes of their matrices follow from the tensors, and the number of all elements from
 * config.json.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/graph.h"
#include "model/layout.h"
#include "model/model_make.h"
#include "model/safetensors_weights.h"

#define BAD ROOF_SAFETENSORS_BAD
#define CHECKPOINT "checkpoint" /* the layout of a model with the formats of its config */

/* Tells whether layers differ in more than formats, experts and windows. */
static bool has_own_sizes(const struct roof_model *m)
{
    bool own = m->head_gate || m->key_is_value || m->native_sparse;
    for (int64_t c = 0; c < m->layer_classes && !own; c++) {
        const struct roof_layer *const layer = &m->layer[c];
        own = layer->heads > 0 || layer->kv_heads > 0 || layer->head_dim > 0 ||
              layer->intermediate > 0 || layer->keyless || layer->value_is_key || layer->blocks ||
              layer->crossed;
    }
    return own;
}

bool roof_safetensors_is_mixed(const struct roof_model *model)
{
    return model->index_topk > 0 || model->streams > 0 || model->altup_streams > 0 ||
           model->mixer.kind != ROOF_MIXER_NONE || has_own_sizes(model) || model->chunked;
}

/* --- matrices ------------------------------------------------------------------------------ */

/* Remembers the first matrix of a type whose numbers need a scale. */
static void note_packed(struct roof_safetensors *r, const char *name, enum roof_dtype dtype)
{
    if (r->packed[0] == '\0' && !roof_dtype_is_real(dtype)) {
        snprintf(r->packed, sizeof r->packed, "%.100s is %s", name, roof_dtype_name(dtype));
    }
}

void roof_safetensors_leave(struct roof_safetensors *r, const char *name, enum roof_dtype dtype)
{
    if (r->unread[0] == '\0') {
        snprintf(r->unread, sizeof r->unread, "%.100s", name);
    }
    note_packed(r, name, dtype);
}

/* Gives weights the format of the largest of their matrices, or the widest of several. */
static void put_format(int8_t format[ROOF_WEIGHT_COUNT], int64_t largest[ROOF_WEIGHT_COUNT],
                       unsigned weights, enum roof_precision precision, int64_t elements)
{
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((weights & (1U << w)) == 0 || elements < largest[w]) {
            continue;
        }
        if (elements > largest[w]) {
            format[w] = ROOF_PRECISION_AUTO;
        }
        roof_weights_widen(format, 1U << w, precision);
        largest[w] = elements;
    }
}

void roof_safetensors_put_mixed(struct roof_safetensors *r, struct roof_stored_weight *weight,
                                unsigned weights)
{
    const struct roof_tensor_place *const place = &weight->first->place;
    const int32_t layer = place->layer;
    char label[ROOF_TENSOR_LABEL_SIZE];
    enum roof_precision format = ROOF_PRECISION_AUTO;
    roof_tensor_label(label, place);
    for (int kind = ROOF_PART_WEIGHT; kind < ROOF_PART_SCALE; kind++) {
        if (weight->part[kind] != NULL && kind != ROOF_PART_BIAS) {
            note_packed(r, label, weight->part[kind]->dtype);
        }
    }
    if (roof_stored_infer(&format, weight) != NULL) {
        roof_safetensors_leave(r, label, weight->first->dtype);
        return;
    }
    *(layer < 0 ? &r->outside : &r->found[layer]) |= weights;
    if (layer < 0) {
        put_format(r->model->format, r->matrix[ROOF_LAYERS_MAX], weights, format, weight->elements);
        r->elements += (double)weight->elements;
        return;
    }
    put_format(r->layer[layer].format, r->matrix[layer], weights, format, weight->elements);
    /* Layers that read what an earlier one has cached may have keys and values that are not used.
     */
    const bool unused =
        r->layer[layer].keyless && (weights & ~(ROOF_WEIGHT_BIT(K) | ROOF_WEIGHT_BIT(V))) == 0;
    r->elements += unused ? 0 : (double)weight->elements;
}

/* --- the model ----------------------------------------------------------------------------- */

enum roof_status roof_safetensors_finish_mixed(struct roof_safetensors *r)
{
    const double expected = roof_model_matrices(r->model);
    if (!isnan(expected) && expected != r->elements) { /* NAN: the graph reports what is wrong */
        return BAD(r,
                   "the matrices have %.0f elements, but those of config.json %.0f: a file of the "
                   "model is missing, or config.json is that of another model",
                   r->elements, expected);
    }
    for (int64_t i = 0; i < r->model->layers; i++) {
        int8_t format[ROOF_WEIGHT_COUNT];
        memcpy(format, r->layer[i].format, sizeof format);
        roof_layer_take_formats(&r->layer[i], format, r->matrix[i]);
    }
    return ROOF_OK;
}

enum roof_status roof_safetensors_take_config(struct roof_safetensors *r)
{
    struct roof_model *const m = r->model;
    struct roof_error problem;
    struct roof_text remark = ROOF_TEXT_INIT;
    const bool said = roof_model_quantization(m) != NULL;
    memset(m->format, ROOF_PRECISION_AUTO, sizeof m->format);
    const enum roof_status status =
        said ? roof_layout_apply(m, CHECKPOINT, NULL, &problem) : ROOF_USAGE;
    if (status == ROOF_MEMORY) {
        return roof_no_memory(r->error);
    }
    if (status != ROOF_OK && r->packed[0] != '\0') {
        return BAD(r,
                   "%s, %s, and the name or format of %.100s is not known: name the config.json "
                   "alone, with --layout or -w",
                   r->packed,
                   said ? "the quantisation in its config is not known"
                        : "config.json has no quantization_config",
                   r->unread);
    }
    roof_text_printf(&remark,
                     "the name or format of %s in the headers of its weights is not known, so its "
                     "formats are %s",
                     r->unread, status == ROOF_OK ? "read from its config" : "the requested ones");
    return roof_model_note_text(m, &remark, r->error);
}
