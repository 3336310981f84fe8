// SPDX-License-Identifier: MIT
/* Tells which input takes a name that was given to another one. */
#ifndef ROOF_DECIDE_HINT_H
#define ROOF_DECIDE_HINT_H

#include <stdbool.h>

#include "base/error.h"

/* Replaces the message of an error about an unknown precision or layout, where the name is one of
 * the other or an engine's format, by one that says which input takes it. precision_given: the name
 * was the value of `precision`. Layouts are looked for in the folders (NULL: among the built-in
 * ones). */
void roof_hint_format(struct roof_error *error, const char *name, bool precision_given,
                      const char *const *folders);

#endif
