// SPDX-License-Identifier: MIT
/** Lists and ranges of integers, such as those of `sweep`: "1,8,64:4096:x2". */
#ifndef ROOF_BASE_VALUES_H
#define ROOF_BASE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "roofline/error.h"

/** An arithmetic run of count integers: first, first + step, ... */
struct roof_run {
    int64_t first;
    int64_t step;
    int64_t count;
};

/** The values of a list such as "1,8,64:4096:x2": runs in the order written. */
struct roof_values {
    struct roof_run *run; /**< owned */
    size_t run_count;
    int64_t count; /**< of all values */
};

/** One list or range may have at most this many values. */
#define ROOF_VALUES_MAX 1000000000000

/**
 * Reads a list of integers and ranges: a,b,c; START:STOP:STEP (arithmetic, STEP 1 when left out);
 * START:STOP:xFACTOR (geometric, rounded to integers, equal neighbours once). Both ends belong to
 * a range when a step hits them. Each value must be within min..max. Empty, reversed and endless
 * ranges are refused. On success *out is owned by the caller: roof_values_free.
 */
enum roof_status roof_parse_values(struct roof_values *out, const char *text, const char *what,
                                   int64_t min, int64_t max, struct roof_error *error);
/** Returns value number index, 0 <= index < count. */
int64_t roof_values_at(const struct roof_values *values, int64_t index);
/** Appends one run; for values that are not parsed from text. */
enum roof_status roof_values_append(struct roof_values *values, struct roof_run run,
                                    struct roof_error *error);
void roof_values_free(struct roof_values *values);

#endif
