// SPDX-License-Identifier: MIT
/* The fields of predictions: of operators, of models, and of the operators of a model. */
#ifndef ROOF_PREDICT_PREDICTION_FIELDS_H
#define ROOF_PREDICT_PREDICTION_FIELDS_H

#include <stdbool.h>

#include "catalog/field.h"
#include "predict/model_prediction.h"

/* Adds the fields of a prediction as a part of a result; the dimensions are those of the operator,
 * or for ROOF_OPERATOR_COUNT those of all operators. */
void roof_prediction_fields(struct roof_fields *out, enum roof_operator op, int part);
/* Reads the values of the fields of that part. */
void roof_prediction_values(struct roof_value *out, const struct roof_fields *fields, int part,
                            const struct roof_prediction *prediction);
/* Tells if the prediction of any operator is printed with a key. */
bool roof_prediction_has_key(const char *key);

void roof_model_prediction_fields(struct roof_fields *out);
void roof_model_prediction_values(struct roof_value *out, const struct roof_fields *fields,
                                  const struct roof_model_prediction *prediction);
/* Tells if predictions of models are printed with a key. */
bool roof_model_prediction_has_key(const char *key);

/* The operators of a model's prediction, without the device, which the prediction has. */
void roof_node_fields(struct roof_fields *out, enum roof_operator op);
void roof_node_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_node_prediction *node);

#endif
