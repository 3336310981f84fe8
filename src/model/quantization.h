// SPDX-License-Identifier: MIT
/* The quantization_config of a Hugging Face config.json: in which formats a quantised checkpoint
 * stores its weights. */
#ifndef ROOF_MODEL_QUANTIZATION_H
#define ROOF_MODEL_QUANTIZATION_H

#include "model/model.h"

/* Writes the formats that the model's own config gives into its layers, and into the model those of
 * activations and the KV cache. ROOF_USAGE if the config has no quantisation. */
enum roof_status roof_quantization_apply(struct roof_model *model, struct roof_layer *layer,
                                         struct roof_error *error);

/* Tells whether roof_quantization_apply can read the formats that a model's own config gives; OK
 * also if it gives none. */
enum roof_status roof_quantization_check(const struct roof_model *model);

/* Gives a model with the weight formats of its file the activations and KV cache format of its
 * config, if it has them, because engines take both from there. Parts that are not understood
 * become a remark. */
enum roof_status roof_quantization_inputs(struct roof_model *model, struct roof_error *error);

#endif
