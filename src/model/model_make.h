// SPDX-License-Identifier: MIT
/* Construction of a struct roof_model, shared by the readers of config.json, GGUF and safetensors.
 */
#ifndef ROOF_MODEL_MODEL_MAKE_H
#define ROOF_MODEL_MODEL_MAKE_H

#include "base/json.h"
#include "model/model.h"

/* Returns an empty model without formats, or NULL if memory runs out. The caller owns it:
 * roof_model_free. */
struct roof_model *roof_model_new(void);

/* Gives the model the document that its strings point into; the model then owns it. */
void roof_model_attach(struct roof_model *model, struct roof_json *json);
/* Returns that document; NULL for a copy. */
const struct roof_json *roof_model_json(const struct roof_model *model);
/* Gives it a second document. */
void roof_model_attach_beside(struct roof_model *model, struct roof_json *json);

/* The object that describes a quantisation, and the document that has it; NULL when there is none.
 */
void roof_model_set_quantization(struct roof_model *model, const struct roof_json *json,
                                 const roof_json_value *value);
const struct roof_json *roof_model_quantizer(const struct roof_model *model);
const roof_json_value *roof_model_quantization(const struct roof_model *model);

/* Takes over memory from malloc, so that it lives as long as the model. Returns it, or NULL if it
 * is NULL or memory runs out. */
void *roof_model_own(struct roof_model *model, void *memory);
/* Sets the name of the layout that the formats come from; false when out of memory. */
bool roof_model_set_layout(struct roof_model *model, const char *name);
/* Adds a remark; the string must live as long as the model. */
void roof_model_note(struct roof_model *model, const char *remark);
/* Adds a composed remark, and frees it. */
enum roof_status roof_model_note_text(struct roof_model *model, struct roof_text *remark,
                                      struct roof_error *error);
/* Adds the remark on layers for multi-token prediction. */
void roof_model_note_predictors(struct roof_model *model);

/* Leaves the formats of `count` layers to the question. */
void roof_layers_clear(struct roof_layer *layer, int64_t count);
/* Writes the layers one by one. */
void roof_model_spread(struct roof_layer out[ROOF_LAYERS_MAX], const struct roof_model *model);
/* Gathers layers into classes of equal ones. */
void roof_model_classes(struct roof_model *model, const struct roof_layer layer[ROOF_LAYERS_MAX]);

/* Fills in sizes that follow from others (head_dim, kv_heads, ...), and checks that all are
 * consistent. On failure it returns ROOF_INVALID, with an error without a place. */
enum roof_status roof_model_check(struct roof_model *model, struct roof_error *error);
/* Ends the reading of a file of weights: gathers the layers and checks the model. path is the place
 * of errors. */
enum roof_status roof_model_finish(struct roof_model *model,
                                   const struct roof_layer layer[ROOF_LAYERS_MAX], const char *path,
                                   struct roof_error *error);

#endif
