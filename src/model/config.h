// SPDX-License-Identifier: MIT
/* A model from a Hugging Face config.json. */
#ifndef ROOF_MODEL_CONFIG_H
#define ROOF_MODEL_CONFIG_H

#include "base/json.h"
#include "model/model.h"

/* Makes a model from a document, which it takes over, even if it fails. The caller owns *out:
 * roof_model_free. */
enum roof_status roof_config_read(struct roof_model **out, struct roof_json *json,
                                  struct roof_error *error);

/* Reads the hf_quant_config.json in the folder of a config.json. It takes the document over, even
 * if it fails. A model whose own config describes a quantisation keeps that. */
enum roof_status roof_config_read_beside(struct roof_model *model, struct roof_json *json,
                                         struct roof_error *error);

#endif
