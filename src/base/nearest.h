// SPDX-License-Identifier: MIT
/* Finds the known names that somebody may have meant by an unknown one. */
#ifndef ROOF_BASE_NEAREST_H
#define ROOF_BASE_NEAREST_H

#include <stddef.h>

#include "base/error.h"

/* The nearness of a name that has no likeness to the wanted one. */
#define ROOF_FAR 1000U

/*
 * Returns how far a name is from the wanted one, which is no name: less is nearer. A name that is
 * the same but for case, blanks and marks is the nearest, and no other is suggested beside it. Then
 * come names that begin with the wanted text, names that contain it, names that have all
 * its words, names that differ by a few letters, names that it contains, and names that share half
 * of its words, one of them long. Case, and dashes at the beginning, do not matter.
 */
unsigned roof_nearness(const char *wanted, const char *name);

/* Returns the one of count names that a misspelt name is likely to mean: at most a letter or two
 * differ, in longer names. NULL when none is near. */
const char *roof_near_name(const char *wanted, const char *const *names, size_t count);

/* Does the work of roof_unknown_name (base/error.h) for names whose nearness the caller knows, such
 * as names with aliases. */
enum roof_status roof_unknown_near(struct roof_error *error, enum roof_status status,
                                   const char *kind, const char *wanted, const char *const *names,
                                   const unsigned *nearness, size_t count);

#endif
