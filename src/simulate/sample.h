// SPDX-License-Identifier: MIT
/* Percentiles of many times: exact up to a number of them, and by a histogram beyond. */
#ifndef ROOF_SAMPLE_H
#define ROOF_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* So many values are kept one by one. */
#define ROOF_SAMPLE_EXACT 1000000
/* The bins of the histogram have this ratio: a value stands for those of its bin with an error of
 * at most 0.5 %. */
#define ROOF_SAMPLE_RATIO 1.01

/* Values of 0 or more. Begin with roof_sample_open; release with roof_sample_free. */
struct roof_sample {
    size_t count;
    double sum;
    size_t exact; /* so many values are kept before bins count them */
    double *value;
    size_t room;
    uint64_t *bin; /* NULL: the values are kept */
    bool sorted;
};

void roof_sample_open(struct roof_sample *out, size_t exact);
enum roof_status roof_sample_add(struct roof_sample *sample, double value,
                                 struct roof_error *error);
/* Returns the mean; NAN of no values. */
double roof_sample_mean(const struct roof_sample *sample);
/* Returns the nearest-rank percentile, 0 < percent <= 100: the smallest value that as many percent
 * of all values do not exceed. NAN of no values. It sorts the values. */
double roof_sample_percentile(struct roof_sample *sample, double percent);
/* Adds all values of another sample. */
enum roof_status roof_sample_merge(struct roof_sample *sample, const struct roof_sample *other,
                                   struct roof_error *error);
/* Forgets the values and keeps the memory. */
void roof_sample_clear(struct roof_sample *sample);
void roof_sample_free(struct roof_sample *sample);

#endif
