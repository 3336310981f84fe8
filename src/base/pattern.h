// SPDX-License-Identifier: MIT
/*
 * Regular expressions for names, as Python's re.match has them: a match begins at the first byte
 * and may end at any. They come from untrusted files, so the number of steps is bounded by the
 * length of the expression times that of the name; regexec of the C library may need minutes and
 * gigabytes for forty bytes.
 */
#ifndef ROOF_BASE_PATTERN_H
#define ROOF_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROOF_PATTERN_STEPS_MAX 1024

struct roof_pattern_step {
    int16_t kind;
    int16_t to[2];           /* the steps that follow it, counted from here */
    unsigned char bytes[32]; /* a bit for each byte that it takes */
};

struct roof_pattern {
    size_t count;
    struct roof_pattern_step step[ROOF_PATTERN_STEPS_MAX];
};

/* Reads an expression of bytes, '.', classes, \d \w \s \D \W \S, escaped punctuation, groups, '|',
 * '*', '+', '?', '^' and '$'. Returns NULL, or the name of the part that it cannot read: other
 * escapes, counts in braces, groups with a '?' except (?:, groups in more than 32 others, more
 * steps than there is room for. */
const char *roof_pattern_read(struct roof_pattern *out, const char *text);

/* Tells if a name begins with a match; adds the number of visited steps to *steps. */
bool roof_pattern_matches(const struct roof_pattern *pattern, const char *name, int64_t *steps);

#endif
