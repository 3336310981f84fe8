// SPDX-License-Identifier: MIT
/* The kinds of weights: sets of them, the shapes of their matrices, and which of them a layer
 * needs. */
#ifndef ROOF_MODEL_WEIGHTS_H
#define ROOF_MODEL_WEIGHTS_H

#include "model/model.h"

/* Sets of weights are bits. */
#define ROOF_WEIGHT_BIT(name) (1U << ROOF_WEIGHT_##name)

struct roof_matrix {
    int64_t rows;
    int64_t columns;
};

/* Returns the product of two numbers that are not negative; INT64_MAX if it would be larger. */
int64_t roof_times(int64_t a, int64_t b);

/* The matrix that holds a set of weights, one below the other. Sizes that the model leaves open are
 * 0, and those that would overflow INT64_MAX. */
struct roof_matrix roof_weights_shape(const struct roof_model *model, unsigned weights);

/* The weights without which a layer is not one of attention and MLP. */
unsigned roof_weights_needed(const struct roof_model *model, bool moe);

/* The small weights, those with a partner, that no layer of the model has. */
unsigned roof_weights_lacking(const struct roof_model *model);

/* Tells whether the model has a weight of this kind outside its layers. */
bool roof_weight_outside(enum roof_weight weight);

/* Returns the larger weight whose format a small one has if it has none of its own. All others are
 * their own partners. */
enum roof_weight roof_weight_partner(enum roof_weight weight);

/* Gives a set of weights a format; weights that have a wider one keep it. */
void roof_weights_widen(int8_t format[ROOF_WEIGHT_COUNT], unsigned weights,
                        enum roof_precision precision);

/* Gives a layer the formats of its matrices, of which it knows the largest of each weight. The
 * projections of a state may have the names of those of attention, and those of a dense MLP the
 * names of shared experts. */
void roof_layer_take_formats(struct roof_layer *layer, const int8_t format[ROOF_WEIGHT_COUNT],
                             const int64_t largest[ROOF_WEIGHT_COUNT]);

/* Finds the format of 4-bit integers that have a scale, and maybe a zero point, for each group of
 * so many; false when there is none. */
bool roof_int4_format(enum roof_precision *out, double group, bool zeros);

#endif
