// SPDX-License-Identifier: MIT
/* Finds the input to which a misplaced name belongs. */
#ifndef ROOF_DECIDE_HINT_H
#define ROOF_DECIDE_HINT_H

#include <stdbool.h>

#include "base/error.h"

/* Replaces the message of an error about an unknown precision or layout, if the name is one of the
 * other or an engine's format, by one with the right input. precision_given: the name was the value
 * of `precision`. Layouts are searched in the folders (NULL: only the built-in ones). */
void roof_hint_format(struct roof_error *error, const char *name, bool precision_given,
                      const char *const *folders);

/* Replaces the message of an error about an unknown model that is a vision model by its name
 * (qwen2.5-vl-7b), which may suggest models of text, by one that names the known models with a
 * vision encoder. Models are searched in the folders, too. */
void roof_hint_vision(struct roof_error *error, const char *name, const char *const *folders);

#endif
