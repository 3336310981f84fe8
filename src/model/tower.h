// SPDX-License-Identifier: MIT
/* The vision encoder in front of a language model: what it makes of an image. */
#ifndef ROOF_MODEL_TOWER_H
#define ROOF_MODEL_TOWER_H

#include "model/model.h"

/* An image as the encoder works on it. */
struct roof_image {
    int64_t squares; /* grids of patches, which do not attend to each other; 1 unless it is cut, or
                        as many as there may be where these do (struct roof_tower.crossed) */
    int64_t columns; /* patches of a grid */
    int64_t rows;
    int64_t tokens; /* that the language model reads, of all grids of the image */
};

/* Scales an image of width x height pixels as the processors of the families do, and counts its
 * patches and tokens. */
struct roof_image roof_tower_image(const struct roof_tower *tower, int64_t width, int64_t height);

/* Returns the patches and class tokens of an image. */
int64_t roof_tower_embedded(const struct roof_tower *tower, const struct roof_image *image);
/* Returns the rows that the layers of an encoder work on for an image. */
int64_t roof_tower_rows(const struct roof_tower *tower, const struct roof_image *image);

/* Windows of one size in the grid of an image. */
struct roof_windows {
    int64_t count; /* 0: there are none */
    int64_t patches;
};
/* The inner windows, and those that the right edge, the lower edge and both cut off. */
#define ROOF_WINDOW_KINDS 4
void roof_tower_windows(struct roof_windows out[ROOF_WINDOW_KINDS], const struct roof_tower *tower,
                        const struct roof_image *image);

#endif
