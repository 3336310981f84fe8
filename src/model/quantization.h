// SPDX-License-Identifier: MIT
/* The quantization_config of a Hugging Face config.json: in which formats a quantised checkpoint
 * stores its weights. */
#ifndef ROOF_MODEL_QUANTIZATION_H
#define ROOF_MODEL_QUANTIZATION_H

#include "model/model.h"

/* Writes the formats that the model's own config gives into its layers, and into the model those of
 * activations and the KV cache. ROOF_USAGE when the config says nothing of a quantisation. */
enum roof_status roof_quantization_apply(struct roof_model *model, struct roof_layer *layer,
                                         struct roof_error *error);

/* Gives a model whose weights have the formats of their file what its config says of activations
 * and the KV cache, if it says anything: engines take both from there. What is not understood is a
 * remark. */
enum roof_status roof_quantization_inputs(struct roof_model *model, struct roof_error *error);

#endif
