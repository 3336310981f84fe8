// SPDX-License-Identifier: MIT
/* The names of modules in checkpoints, and the weights that each of them has. Names of tensors and
 * lists of modules in a quantisation are looked up here. */
#ifndef ROOF_MODEL_MODULE_NAMES_H
#define ROOF_MODEL_MODULE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"
#include "model/weights.h"

/* How a module differs from the only matrix of one product. */
enum roof_module_trait {
    ROOF_MODULE_PLAIN,
    ROOF_MODULE_STACKED,    /* it has all experts */
    ROOF_MODULE_TRANSPOSED, /* Conv1D: columns first */
    ROOF_MODULE_STREAMS,    /* it makes the weights of streams, and has the format of norms */
    ROOF_MODULE_POSITIONS,  /* it is a table of learned positions */
    ROOF_MODULE_SHARE,      /* a larger module has the same weights, and sets their format */
    ROOF_MODULE_DENSE       /* in layers without experts it is the MLP */
};

#define ROOF_MODULES_MAX 320

/* Modules have numbers from 0 on: first those that all models may have, then those of layers with
 * other parts, then those outside the layers. */
struct roof_module_numbers {
    int parts;   /* the first of layers with other parts */
    int outside; /* the first outside the layers */
    int end;
};
const struct roof_module_numbers *roof_module_numbers(void);

/* Returns the name of a module below its layer, with 0 for the number of an expert. */
const char *roof_module_name(int module);
/* The weights that a module has, as bits. */
unsigned roof_module_weights(int module);
enum roof_module_trait roof_module_trait(int module);
/* Tells whether a module may be in a layer. */
bool roof_module_in_layers(int module);
/* Tells whether a class of models with these layers may have a module of this name. */
bool roof_module_fits(int module, const struct roof_model *model);

/* Returns the name without what stands before "layers.N.". */
const char *roof_module_without_prefix(const char *name);
/* Tells whether a name is of no module of the language model, or of none of its forward pass. */
bool roof_module_is_other(const char *name);

/* Returns what follows a prefix of a text, or NULL if it has another one. */
const char *roof_text_after(const char *text, const char *prefix);
/* Tells whether a name begins with one of a list, or is one of it. */
bool roof_is_listed(const char *name, const char *const *list, size_t count, bool whole);

#endif
