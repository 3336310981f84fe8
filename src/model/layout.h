// SPDX-License-Identifier: MIT
/**
 * Layouts: the weights that each kind of quantised checkpoint quantises, and their formats. All of
 * data/layouts is embedded in the library; docs/formats.md has the file format.
 */
#ifndef ROOF_MODEL_LAYOUT_H
#define ROOF_MODEL_LAYOUT_H

#include "base/error.h"
#include "base/text.h"
#include "model/model.h"

/** The layout of the formats in which a model is published. */
#define ROOF_CHECKPOINT "checkpoint"

/**
 * Writes a layout's formats into the model: those of each class of weights, of the inputs of
 * quantised products, and of the KV cache. name is that of a file in data/layouts (or in layouts/
 * of directories, or a path); ROOF_CHECKPOINT means the quantization_config of the model's own
 * config.json. The status is ROOF_USAGE if the layout is unknown, or if the config has no
 * quantisation.
 */
enum roof_status roof_layout_apply(struct roof_model *model, const char *name,
                                   const char *const *directories, struct roof_error *error);

/** A description of a layout, which owns its strings. */
struct roof_layout_about {
    const char *id;
    const char *name;
    const char *const *notes; /**< NULL-terminated, like sources */
    const char *const *sources;
    void *private_data;
};
/** Reads the description of a layout; the caller owns *out: roof_layout_about_free. */
enum roof_status roof_layout_load(struct roof_layout_about *out, const char *name,
                                  const char *const *directories, struct roof_error *error);
void roof_layout_about_free(struct roof_layout_about *about);

/** Tells if there is a layout with this id. */
bool roof_layout_known(const char *id, const char *const *directories);

/** Lists the ids of all layouts, like roof_model_ids. */
enum roof_status roof_layout_ids(struct roof_text *out, size_t *count,
                                 const char *const *directories, struct roof_error *error);

#endif
