// SPDX-License-Identifier: MIT
/* The fields of a prediction with a tile. */
#ifndef ROOF_PREDICT_TILE_FIELDS_H
#define ROOF_PREDICT_TILE_FIELDS_H

#include "catalog/field.h"
#include "predict/tile.h"

/* Adds the fields of the prediction and of its tile; people are shown those of the tile. */
void roof_tile_fields(struct roof_fields *out, enum roof_operator op);
void roof_tile_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_prediction *prediction, const struct roof_tile *tile);

#endif
