// SPDX-License-Identifier: MIT
/* How a struct roof_model is made: what the readers of config.json, GGUF and safetensors share. */
#ifndef ROOF_MODEL_MAKE_H
#define ROOF_MODEL_MAKE_H

#include "base/json.h"
#include "roofline/model.h"

/* An empty model that says nothing about formats; owned by the caller: roof_model_free. NULL when
 * out of memory. */
struct roof_model *roof_model_new(void);

/* The document that the model's strings point into, which it takes over, and what its config says
 * of a quantisation (NULL: nothing). */
void roof_model_attach(struct roof_model *model, struct roof_json *json);
const struct roof_json *roof_model_json(const struct roof_model *model);
void roof_model_set_quantization(struct roof_model *model, const roof_json_value *value);
const roof_json_value *roof_model_quantization(const struct roof_model *model);

/* Takes a string from malloc over, so that it lives as long as the model. NULL when string is, or
 * when out of memory. */
const char *roof_model_own(struct roof_model *model, char *string);
/* The name of the layout that the formats come from; false when out of memory. */
bool roof_model_set_layout(struct roof_model *model, const char *name);
/* Adds a remark; the string must live as long as the model. */
void roof_model_note(struct roof_model *model, const char *remark);

/* Layers one by one, and back to classes of equal ones. */
void roof_model_spread(struct roof_layer out[ROOF_LAYERS_MAX], const struct roof_model *model);
void roof_model_classes(struct roof_model *model, const struct roof_layer layer[ROOF_LAYERS_MAX]);

/* Fills in what follows from the other sizes (head_dim, kv_heads, ...), and checks that all fit
 * together. On failure ROOF_INVALID, error without a place. */
enum roof_status roof_model_check(struct roof_model *model, struct roof_error *error);

#endif
