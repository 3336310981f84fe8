// SPDX-License-Identifier: MIT
#include "model/safetensors_weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/grow.h"
#include "model/model_make.h"
#include "model/module_names.h"

#define TENSORS_MAX 2000000

#define BAD ROOF_SAFETENSORS_BAD
#define BIT ROOF_WEIGHT_BIT
#define EXPERTS (BIT(EXPERT_GATE) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN))

/* --- gathering ----------------------------------------------------------------------------- */

static enum roof_status add_part(struct roof_safetensors *r, const struct roof_stored_part *part)
{
    if (r->parts == r->capacity) {
        if (r->parts >= TENSORS_MAX) {
            return BAD(r, "the files have more than %d tensors", TENSORS_MAX);
        }
        struct roof_stored_part *const grown =
            roof_grow(r->part, &r->capacity, 1024, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(r->error);
        }
        r->part = grown;
    }
    r->part[r->parts++] = *part;
    return ROOF_OK;
}

/* Norms, biases and sinks share one format: that of the largest of them. Small ones, such as the
 * correction bias of a router, are often wider. */
static void add_vector(struct roof_safetensors *r, int32_t layer, enum roof_dtype dtype,
                       int64_t elements)
{
    int8_t *const formats = layer < 0 ? r->model->format : r->layer[layer].format;
    int64_t *const largest = &r->largest[layer < 0 ? ROOF_LAYERS_MAX : layer];
    enum roof_precision format = ROOF_PRECISION_AUTO;
    if (roof_dtype_format(&format, dtype) && elements >= *largest) {
        if (elements > *largest) {
            formats[ROOF_WEIGHT_NORM] = ROOF_PRECISION_AUTO;
        }
        roof_weights_widen(formats, BIT(NORM), format);
        *largest = elements;
    }
}

/* Passes over a tensor behind the last layer. */
static enum roof_status pass_over(struct roof_safetensors *r, int64_t layer, const char *name)
{
    const int64_t layers = r->model->layers;
    r->extra_seen = true;
    if (layer - layers < r->extra_layers) {
        return ROOF_OK;
    }
    return r->extra_layers == 0
               ? BAD(r, "%.200s: config.json says %" PRId64 " layers", name, layers)
               : BAD(r,
                     "%.200s: config.json says %" PRId64 " layers, and %" PRId64
                     " for multi-token prediction",
                     name, layers, r->extra_layers);
}

/* Tells whether a tensor is more than a row or a column. */
static bool is_matrix(const struct roof_stored_tensor *t)
{
    int wide = 0;
    for (int i = 0; i < t->rank; i++) {
        wide += t->size[i] > 1;
    }
    return wide > 1;
}

static enum roof_status add_unknown(struct roof_safetensors *r, const struct roof_stored_tensor *t,
                                    int32_t layer)
{
    enum roof_precision format = ROOF_PRECISION_AUTO;
    if (layer >= r->model->layers) {
        return pass_over(r, layer, t->name);
    }
    const bool vector = r->mixed ? !is_matrix(t) : layer >= 0 && t->rank <= 1;
    if (vector && roof_dtype_format(&format, t->dtype)) {
        add_vector(r, layer, t->dtype, t->elements);
        r->bytes += t->bytes;
    } else if (r->mixed) {
        roof_safetensors_leave(r, t->name, t->dtype);
    } else {
        r->unknown = true;
    }
    return ROOF_OK;
}

enum roof_status roof_safetensors_add(struct roof_safetensors *r,
                                      const struct roof_stored_tensor *t)
{
    struct roof_stored_part part = {.dtype = t->dtype, .rank = t->rank};
    part.elements = t->elements;
    part.bytes = t->bytes;
    for (int i = 0; i < 4; i++) {
        part.size[i] = i < t->rank ? t->size[i] : 1;
    }
    switch (roof_tensor_find(&part.place, t->name, r->model->layers, r->mixed)) {
    case ROOF_TENSOR_KNOWN:
        return add_part(r, &part);
    case ROOF_TENSOR_UNKNOWN:
        return add_unknown(r, t, part.place.layer);
    case ROOF_TENSOR_IGNORED:
        break;
    }
    return ROOF_OK;
}

/* --- weights ------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct roof_tensor_place *const x = &((const struct roof_stored_part *)a)->place;
    const struct roof_tensor_place *const y = &((const struct roof_stored_part *)b)->place;
    const int32_t order[][2] = {
        {x->layer, y->layer}, {x->module, y->module}, {x->expert, y->expert}, {x->kind, y->kind}};
    for (size_t i = 0; i < COUNT(order); i++) {
        if (order[i][0] != order[i][1]) {
            return order[i][0] < order[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static bool is_same_weight(const struct roof_tensor_place *a, const struct roof_tensor_place *b)
{
    return a->layer == b->layer && a->module == b->module && a->expert == b->expert;
}

#define LABEL_SIZE ROOF_TENSOR_LABEL_SIZE

static enum roof_status refuse_weight(struct roof_safetensors *r,
                                      const struct roof_stored_weight *w, const char *problem)
{
    char label[LABEL_SIZE];
    const struct roof_stored_part *p = w->first;
    for (int kind = ROOF_PART_BLOCKS; kind >= ROOF_PART_WEIGHT; kind--) {
        p = w->part[kind] != NULL && kind != ROOF_PART_BIAS ? w->part[kind] : p;
    }
    return BAD(r,
               "%s (%s of %" PRId64 " x %" PRId64 " x %" PRId64 ") %s: config.json says %" PRId64
               " x %" PRId64 "%s",
               roof_tensor_label(label, &w->first->place), roof_dtype_name(p->dtype), p->size[0],
               p->size[1], p->size[2], problem, w->shape.rows, w->shape.columns,
               w->stack > 1 ? " for each expert" : "");
}

static void put_shape(const struct roof_safetensors *r, struct roof_stored_weight *w)
{
    const int module = w->first->place.module;
    w->shape = roof_weights_shape(r->model, roof_module_weights(module));
    if (roof_tensor_is_positions(module)) {
        w->shape.rows = r->model->position_rows;
    }
    w->stack = roof_tensor_is_stacked(module) ? r->model->experts : 1;
    w->elements = roof_times(w->stack, roof_times(w->shape.rows, w->shape.columns));
}

/* Counts how many experts a layer has of each of the three matrices. */
static enum roof_status count_experts(struct roof_safetensors *r,
                                      const struct roof_stored_weight *w, unsigned weights)
{
    const struct roof_tensor_place *const place = &w->first->place;
    if (place->expert >= r->model->experts) {
        char label[LABEL_SIZE];
        return BAD(r, "%s: config.json says %" PRId64 " experts", roof_tensor_label(label, place),
                   r->model->experts);
    }
    for (unsigned i = 0; i < 3; i++) {
        if ((weights & (1U << (ROOF_WEIGHT_EXPERT_GATE + i))) != 0) {
            r->experts[place->layer][i] += (int32_t)w->stack;
        }
    }
    return ROOF_OK;
}

/* Notes that weights are there, which no other tensor may have. */
static enum roof_status note_weights(struct roof_safetensors *r, const struct roof_stored_weight *w,
                                     unsigned weights)
{
    const struct roof_tensor_place *const place = &w->first->place;
    unsigned *const found = place->layer < 0 ? &r->outside : &r->found[place->layer];
    const bool positions = roof_tensor_is_positions(place->module);
    if ((weights & EXPERTS) != 0) {
        TRY(count_experts(r, w, weights));
    } else if ((*found & weights & ~BIT(NORM)) != 0 && !positions) {
        char label[LABEL_SIZE];
        return BAD(r, "%s: the weight is stored twice, under two names",
                   roof_tensor_label(label, place));
    }
    *found |= positions ? 0 : weights;
    return ROOF_OK;
}

/* Adds the bytes of a weight, and its vectors. */
static void put_bytes(struct roof_safetensors *r, const struct roof_stored_weight *w,
                      unsigned weights, bool copy)
{
    for (int kind = 0; kind < ROOF_PART_KINDS; kind++) {
        /* A bias is no copy. */
        const struct roof_stored_part *const part =
            copy && kind != ROOF_PART_BIAS ? NULL : w->part[kind];
        r->bytes += part == NULL ? 0 : part->bytes;
        if (part != NULL &&
            (kind == ROOF_PART_BIAS || (kind == ROOF_PART_WEIGHT && weights == BIT(NORM)))) {
            add_vector(r, part->place.layer, part->dtype, part->elements);
        }
    }
}

static enum roof_status put_weight(struct roof_safetensors *r, struct roof_stored_weight *w)
{
    const struct roof_tensor_place *const place = &w->first->place;
    const unsigned weights = roof_module_weights(place->module);
    const bool copy = weights == BIT(LM_HEAD) && r->model->tied; /* of the embedding, not read */
    put_bytes(r, w, weights, copy);
    if (copy || weights == BIT(NORM)) {
        r->elements += roof_tensor_makes_streams(place->module) ? (double)w->first->elements : 0;
        return ROOF_OK;
    }
    if (r->mixed) {
        roof_safetensors_put_mixed(r, w, weights);
        return ROOF_OK;
    }
    put_shape(r, w);
    enum roof_precision format = ROOF_PRECISION_AUTO;
    const char *const problem = roof_stored_format(&format, w);
    if (problem != NULL) {
        return refuse_weight(r, w, problem);
    }
    TRY(note_weights(r, w, weights));
    if (!roof_tensor_is_positions(place->module)) {
        roof_weights_widen(place->layer < 0 ? r->model->format : r->layer[place->layer].format,
                           weights, format);
    }
    return ROOF_OK;
}

/* Puts the parts that are a weight together, weight by weight. */
static enum roof_status put_weights(struct roof_safetensors *r)
{
    if (r->parts > 0) {
        qsort(r->part, r->parts, sizeof *r->part, by_place);
    }
    size_t end = 0;
    for (size_t begin = 0; begin < r->parts; begin = end) {
        struct roof_stored_weight weight = {.first = &r->part[begin]};
        const struct roof_tensor_place *const place = &weight.first->place;
        for (; end < r->parts && is_same_weight(&r->part[end].place, place); end++) {
            const struct roof_stored_part **const part = &weight.part[r->part[end].place.kind];
            if (*part != NULL) {
                char label[LABEL_SIZE];
                return BAD(r, "%s is stored twice", roof_tensor_label(label, place));
            }
            *part = &r->part[end];
        }
        TRY(put_weight(r, &weight));
    }
    return ROOF_OK;
}

/* --- the model ----------------------------------------------------------------------------- */

static enum roof_status check_layer(struct roof_safetensors *r, int64_t number)
{
    const struct roof_model *const m = r->model;
    const unsigned missing = roof_weights_needed(m, r->layer[number].moe) & ~r->found[number];
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((missing & (1U << w)) != 0) {
            return BAD(r,
                       "layers.%" PRId64 ".%s is missing; of a model in several files, give the "
                       "index (model.safetensors.index.json)",
                       number, roof_weight_module((enum roof_weight)w));
        }
    }
    for (int i = 0; i < 3; i++) {
        const int32_t count = r->experts[number][i];
        if (count > 0 && count != m->experts) {
            return BAD(r, "layers.%" PRId64 ".%s: %" PRId32 " of %" PRId64 " experts are there",
                       number, roof_weight_module((enum roof_weight)(ROOF_WEIGHT_EXPERT_GATE + i)),
                       count, m->experts);
        }
    }
    return ROOF_OK;
}

static enum roof_status put_outside(struct roof_safetensors *r)
{
    struct roof_model *const m = r->model;
    if ((r->outside & BIT(EMBEDDING)) == 0) {
        return BAD(r, "embed_tokens.weight is missing; of a model in several files, give the index "
                      "(model.safetensors.index.json)");
    }
    if ((r->outside & BIT(LM_HEAD)) == 0) {
        if (!m->tied) {
            roof_model_note(
                m, "lm_head is not in the file, so it shares the weights of the embedding");
        }
        m->tied = true;
        m->format[ROOF_WEIGHT_LM_HEAD] = m->format[ROOF_WEIGHT_EMBEDDING];
    }
    return ROOF_OK;
}

static void note_assumptions(struct roof_safetensors *r)
{
    struct roof_model *const m = r->model;
    if (r->unknown) {
        roof_model_note(m, "unknown tensors of the file are not counted");
    }
    if (r->extra_seen && r->extra_assumed) {
        m->predict_layers = r->extra_layers;
        roof_model_note_predictors(m);
    }
}

enum roof_status roof_safetensors_finish(struct roof_safetensors *r)
{
    struct roof_model *const m = r->model;
    TRY(put_weights(r));
    if (r->unread[0] != '\0') {
        return roof_safetensors_take_config(r);
    }
    for (int64_t i = 0; i < m->layers && !r->mixed; i++) {
        TRY(check_layer(r, i));
    }
    TRY(put_outside(r));
    if (r->mixed) {
        TRY(roof_safetensors_finish_mixed(r));
    }
    note_assumptions(r);
    m->stored = true;
    m->file_bytes = (double)r->bytes;
    return roof_model_finish(m, r->layer, r->path, r->error);
}

void roof_safetensors_release(struct roof_safetensors *r)
{
    free(r->part);
}
