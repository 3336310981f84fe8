// SPDX-License-Identifier: MIT
/* The fields of models and layouts, as `list models` and `list layouts` print them. */
#ifndef ROOF_MODEL_MODEL_FIELDS_H
#define ROOF_MODEL_MODEL_FIELDS_H

#include "catalog/field.h"
#include "model/layout.h"
#include "model/model.h"

void roof_model_fields(struct roof_fields *out);
void roof_model_values(struct roof_value *out, const struct roof_fields *fields,
                       const struct roof_model_entry *entry);

void roof_layout_fields(struct roof_fields *out);
void roof_layout_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_layout_about *layout);

#endif
