// SPDX-License-Identifier: MIT
/* Finds the known names that are close to an unknown one. */
#ifndef ROOF_BASE_NEAREST_H
#define ROOF_BASE_NEAREST_H

#include <stddef.h>

#include "base/error.h"

/* Messages list so many names in full, and only some of more. */
#define ROOF_TOLD_WHOLE 8U

/* The distance of a name that is not similar to the wanted one. */
#define ROOF_FAR 1000U

/*
 * Returns the distance of a name from the wanted text, which is not a name. A name that differs
 * only in case, blanks and marks is the nearest, and then it is the only suggestion. Then come
 * names that begin with the wanted text, names that contain it, names that have all its words,
 * names that differ by a few letters, names that it begins with up to a mark ("tp" of "tp_size"),
 * names that it contains, and names that share half of its words, one of them long. Case, and
 * dashes at the beginning, do not matter.
 */
unsigned roof_nearness(const char *wanted, const char *name);

/* Returns the one of count names that a misspelt name probably means: in longer names at most two
 * letters differ. NULL if none is close. */
const char *roof_near_name(const char *wanted, const char *const *names, size_t count);

/* Does the work of roof_unknown_name (base/error.h) for names whose distance the caller knows, such
 * as names with aliases. */
enum roof_status roof_unknown_near(struct roof_error *error, enum roof_status status,
                                   const char *kind, const char *wanted, const char *const *names,
                                   const unsigned *nearness, size_t count);

#endif
