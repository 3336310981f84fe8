// SPDX-License-Identifier: MIT
/* Tells which input takes a name that was given to another one. */
#ifndef ROOF_HINT_H
#define ROOF_HINT_H

#include "base/error.h"

/* Replaces the message of an error about an unknown precision or layout, where the name is one of
 * the other or an engine's format, by one that says which input takes it. */
void roof_hint_format(struct roof_error *error, const char *name);

#endif
