// SPDX-License-Identifier: MIT
/**
 * Layouts: what kinds of quantised checkpoints really quantise, by class of weights. All of
 * data/layouts is embedded in the library; docs/formats.md has the file format.
 */
#ifndef ROOFLINE_LAYOUT_H
#define ROOFLINE_LAYOUT_H

#include "roofline/model.h"
#include "roofline/status.h"
#include "roofline/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a layout's formats into the model: of each class of weights, of the inputs of quantised
 * products, of the KV cache. name is that of a file in data/layouts (or in layouts/ of directories,
 * or a path), or "checkpoint": what the model's own config.json says (quantization_config).
 * ROOF_USAGE when the layout is unknown, or the model says nothing of a quantisation.
 */
enum roof_status roof_layout_apply(struct roof_model *model, const char *name,
                                   const char *const *directories, struct roof_error *error);

/** What is known of a layout. Strings belong to it. */
struct roof_layout_about {
    const char *id;
    const char *name;
    const char *const *notes; /**< NULL-terminated, like sources */
    const char *const *sources;
    void *private_data;
};
/** Reads it; the caller owns *out: roof_layout_about_free. */
enum roof_status roof_layout_load(struct roof_layout_about *out, const char *name,
                                  const char *const *directories, struct roof_error *error);
void roof_layout_about_free(struct roof_layout_about *about);

/** Ids of all layouts, like roof_model_ids. */
enum roof_status roof_layout_ids(struct roof_text *out, size_t *count,
                                 const char *const *directories, struct roof_error *error);

#ifdef __cplusplus
}
#endif

#endif
