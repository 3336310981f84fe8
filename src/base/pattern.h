// SPDX-License-Identifier: MIT
/*
 * Regular expressions of names, as Python's re.match has them: from the first byte on, to any
 * last one. They come from files of strangers, so that none takes long: work is bounded by
 * the length of the expression times that of the name, where regexec of the C library may need
 * minutes and gigabytes for forty bytes.
 */
#ifndef ROOF_PATTERN_H
#define ROOF_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROOF_PATTERN_STEPS_MAX 1024

struct roof_pattern_step {
    int16_t kind;
    int16_t to[2];        /* where it goes on, counted from here */
    unsigned char of[32]; /* a bit for each byte that it takes */
};

struct roof_pattern {
    size_t count;
    struct roof_pattern_step step[ROOF_PATTERN_STEPS_MAX];
};

/* Reads an expression of bytes, '.', classes, \d \w \s \D \W \S, escaped punctuation, groups, '|',
 * '*', '+', '?', '^' and '$'. NULL, or what of it is not read: other escapes, counts in braces,
 * groups with a '?' but (?:, groups in more than 32 others, more steps than there is room for. */
const char *roof_pattern_read(struct roof_pattern *out, const char *text);

/* *work grows by the steps that were looked at. */
bool roof_pattern_matches(const struct roof_pattern *pattern, const char *name, int64_t *work);

#endif
