// SPDX-License-Identifier: MIT
/* Makes errors with places in texts and keys of inputs, and passes on those of others. */
#ifndef ROOF_BASE_ERROR_H
#define ROOF_BASE_ERROR_H

#include <stddef.h>

#include "roofline/error.h"

/** Marks a key in the format of an error, or in a text that becomes part of one: ROOF_KEY("heads")
 * or ROOF_KEY("%s"). A key has lower-case letters, digits and '_'. The marks are not part of the
 * message; without a key between them they are control characters like others. */
#define ROOF_KEY(key) "\016" key "\017"

/** Fills error as roof_error_set does, with a place in a text: source:line:column. */
enum roof_status roof_error_at(struct roof_error *error, enum roof_status status,
                               const char *source, int line, int column, const char *format, ...)
    ROOF_PRINTF(6, 7);

/** Reports that memory ran out; returns ROOF_MEMORY. It is inline, so that analysers see that. */
static inline enum roof_status roof_no_memory(struct roof_error *error)
{
    (void)roof_error_set(error, ROOF_MEMORY, "out of memory");
    return ROOF_MEMORY;
}

/** Puts text, which may have keys, before the message of an error and gives the error another
 * status, which it returns. The place and the keys of the error stay. ROOF_MEMORY is not changed:
 * the message stays, and ROOF_MEMORY is returned. error may be NULL. */
enum roof_status roof_error_prefix(struct roof_error *error, enum roof_status status,
                                   const char *format, ...) ROOF_PRINTF(3, 4);

/** Appends text, which may have keys, to the message of an error. ROOF_MEMORY is not changed. error
 * may be NULL. */
void roof_error_append(struct roof_error *error, const char *format, ...) ROOF_PRINTF(2, 3);

/** Gives an error another place and status, which it returns; the old place becomes part of the
 * message. error may be NULL. */
enum roof_status roof_error_move(struct roof_error *error, enum roof_status status,
                                 const char *source, int line, int column);

/**
 * Reports an unknown name: "unknown KIND 'WANTED'; did you mean A, B or C?" with at most three of
 * the count names, the nearest first (base/nearest.h). If there are at most eight names, it lists
 * all. Returns status, or ROOF_MEMORY.
 */
enum roof_status roof_unknown_name(struct roof_error *error, enum roof_status status,
                                   const char *kind, const char *wanted, const char *const *names,
                                   size_t count);

#endif
