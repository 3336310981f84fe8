// SPDX-License-Identifier: MIT
/* Percentiles of many times: exact up to a number of them, and by a histogram beyond. */
#ifndef ROOF_SIMULATE_DISTRIBUTION_H
#define ROOF_SIMULATE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* So many values are kept one by one. */
#define ROOF_DISTRIBUTION_EXACT 1000000
/* The bins of the histogram have this ratio: a value stands for those of its bin with an error of
 * at most 0.5 %. */
#define ROOF_DISTRIBUTION_RATIO 1.01

/* Values of 0 or more. Begin with roof_distribution_open; release with roof_distribution_free. */
struct roof_distribution {
    size_t count;
    double sum;
    size_t exact; /* so many values are kept before bins count them */
    double *value;
    size_t room;
    uint64_t *bin; /* NULL: the values are kept */
    bool sorted;
    int looks; /* percentiles that were asked for while the values were not sorted */
};

void roof_distribution_open(struct roof_distribution *out, size_t exact);
enum roof_status roof_distribution_add(struct roof_distribution *values, double value,
                                       struct roof_error *error);
/* Returns the mean; NAN of no values. */
double roof_distribution_mean(const struct roof_distribution *values);
/* Returns the nearest-rank percentile, 0 < percent <= 100: the smallest value that as many percent
 * of all values do not exceed. NAN of no values. It moves the values. */
double roof_distribution_percentile(struct roof_distribution *values, double percent);
/* Adds all values of another. */
enum roof_status roof_distribution_merge(struct roof_distribution *values,
                                         const struct roof_distribution *other,
                                         struct roof_error *error);
/* Forgets the values and keeps the memory. */
void roof_distribution_clear(struct roof_distribution *values);
void roof_distribution_free(struct roof_distribution *values);

#endif
