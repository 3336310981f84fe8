// SPDX-License-Identifier: MIT
/* A document about the tile of a product. */
#ifndef ROOF_REPORT_TILE_REPORT_H
#define ROOF_REPORT_TILE_REPORT_H

#include "base/text.h"
#include "predict/tile.h"

/* Writes a prediction and its tile: for people, or as a JSON object. */
void roof_report_tile(struct roof_text *out, bool json, const struct roof_prediction *prediction,
                      const struct roof_tile *tile);
/* Writes, below a ranking, the number of tiles that do not fit, and what the ranking ignores. */
void roof_report_tiles_left(struct roof_text *out, size_t left, const struct roof_hardware *device);

#endif
