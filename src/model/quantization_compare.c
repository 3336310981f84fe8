// SPDX-License-Identifier: MIT
/* Whether two quantisations of a model mean the same formats. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/model_make.h"
#include "model/quantization.h"
#include "model/quantization_parts.h"

/* A quantisation that was read into a copy of a model. */
struct side {
    struct roof_model model;
    struct roof_layer layer[ROOF_LAYERS_MAX];
    bool known;
};

static void read_side(struct side *side, const struct roof_model *model,
                      const struct roof_json *json, const roof_json_value *q)
{
    struct roof_error problem;
    side->model = *model;
    roof_model_spread(side->layer, &side->model);
    struct quantization r = {
        .model = &side->model, .layer = side->layer, .json = json, .error = &problem};
    side->known = roof_quantization_read(&r, q) == ROOF_OK;
}

static bool same_formats(const struct side *a, const struct side *b)
{
    bool same = a->model.activations == b->model.activations && a->model.kv == b->model.kv &&
                memcmp(a->model.format, b->model.format, sizeof a->model.format) == 0;
    for (int64_t i = 0; i < a->model.layers && same; i++) {
        same = memcmp(a->layer[i].format, b->layer[i].format, sizeof a->layer[i].format) == 0;
    }
    return same;
}

/* Returns the most frequent format of fewer than 16 bits. Each class of weights counts once in each
 * layer, whatever its size. AUTO: there is none. */
static enum roof_precision main_format(const struct side *side)
{
    int64_t count[ROOF_PRECISION_COUNT] = {0};
    enum roof_precision most = ROOF_PRECISION_AUTO;
    int64_t times = 0;
    for (int64_t i = 0; i < side->model.layers; i++) {
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            const enum roof_precision p = (enum roof_precision)side->layer[i].format[w];
            if (p != ROOF_PRECISION_AUTO && roof_precision_bits(p) < 16 && ++count[p] > times) {
                times = count[p];
                most = p;
            }
        }
    }
    return most;
}

enum roof_status roof_quantization_compare(struct roof_quantization_pair *out,
                                           const struct roof_model *model,
                                           const struct roof_json *json, const roof_json_value *q,
                                           struct roof_error *error)
{
    struct side *const side = calloc(2, sizeof *side);
    if (side == NULL) {
        return roof_no_memory(error);
    }
    read_side(&side[0], model, roof_model_quantizer(model), roof_model_quantization(model));
    read_side(&side[1], model, json, q);
    *out = (struct roof_quantization_pair){.differs = side[0].known && side[1].known &&
                                                      !same_formats(&side[0], &side[1]),
                                           .unknown = side[0].known && !side[1].known,
                                           .config = main_format(&side[0]),
                                           .other = main_format(&side[1])};
    free(side);
    return ROOF_OK;
}
