// SPDX-License-Identifier: MIT
/* The images of prompts in a scenario: their defaults, and the checks against the model. */
#ifndef ROOF_MODEL_IMAGES_H
#define ROOF_MODEL_IMAGES_H

#include "model/scenario.h"

/* Refuses images without an encoder, or in a phase without a prompt, and sets the default size. */
enum roof_status roof_images_resolve(struct roof_scenario *scenario, const struct roof_model *model,
                                     struct roof_error *error);
/* Refuses lengths of text if only images are encoded. */
enum roof_status roof_images_alone(const struct roof_scenario *scenario, struct roof_error *error);
/* Refuses a prompt that is too short for its images. */
enum roof_status roof_images_check(const struct roof_scenario *scenario,
                                   const struct roof_model *model, struct roof_error *error);
/* Refuses images whose tensors have more elements than an operator takes. */
enum roof_status roof_images_fit(const struct roof_scenario *scenario,
                                 const struct roof_model *model, struct roof_error *error);

#endif
