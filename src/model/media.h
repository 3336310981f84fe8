// SPDX-License-Identifier: MIT
/* The images and the audio of prompts in a scenario: their defaults, and checks against the model.
 */
#ifndef ROOF_MODEL_MEDIA_H
#define ROOF_MODEL_MEDIA_H

#include "model/scenario.h"

/* Refuses images or audio without an encoder, in a phase that has no prompt, or with tensors that
 * are too large for an operator, and takes the usual sizes. */
enum roof_status roof_media_resolve(struct roof_scenario *scenario, const struct roof_model *model,
                                    struct roof_error *error);
/* Refuses lengths of text where images and audio alone are encoded. */
enum roof_status roof_media_alone(const struct roof_scenario *scenario, struct roof_error *error);
/* Refuses a prompt that is too short for its images and audio. */
enum roof_status roof_media_check(const struct roof_scenario *scenario,
                                  const struct roof_model *model, struct roof_error *error);

#endif
