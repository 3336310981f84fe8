// SPDX-License-Identifier: MIT
/* The quantization_config of a Hugging Face config.json: in which formats a quantised checkpoint
 * stores its weights. */
#ifndef ROOF_MODEL_QUANTIZATION_H
#define ROOF_MODEL_QUANTIZATION_H

#include <stdbool.h>

#include "base/json.h"
#include "model/model.h"

/* Writes the formats that the model's own config gives into its layers, and into the model those of
 * activations and the KV cache. ROOF_USAGE if the config has no quantisation. */
enum roof_status roof_quantization_apply(struct roof_model *model, struct roof_layer *layer,
                                         struct roof_error *error);

/* Tells whether roof_quantization_apply can read the formats that a model's own config gives; OK
 * also if it gives none. */
enum roof_status roof_quantization_check(const struct roof_model *model);

/* How another quantisation of a model compares with that of its config. */
struct roof_quantization_pair {
    bool differs; /* both can be read, and mean different formats */
    bool unknown; /* only that of the config can be read */
    /* The most frequent format of fewer than 16 bits of each; AUTO: there is none. */
    enum roof_precision config;
    enum roof_precision other;
};

/* Compares another quantisation, in a document of its own, with that of a model's config. */
enum roof_status roof_quantization_compare(struct roof_quantization_pair *out,
                                           const struct roof_model *model,
                                           const struct roof_json *json, const roof_json_value *q,
                                           struct roof_error *error);

/* Gives a model with the weight formats of its file the activations and KV cache format of its
 * config, if it has them, because engines take both from there. Parts that are not understood
 * become a remark. */
enum roof_status roof_quantization_inputs(struct roof_model *model, struct roof_error *error);

#endif
