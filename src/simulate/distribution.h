// SPDX-License-Identifier: MIT
/* Percentiles of many times: exact up to a number of values, and from a histogram beyond. */
#ifndef ROOF_SIMULATE_DISTRIBUTION_H
#define ROOF_SIMULATE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The largest number of values that are kept individually. */
#define ROOF_DISTRIBUTION_EXACT 1000000
/* The ratio of the bounds of a histogram bin: a value stands for those of its bin with an error of
 * at most 0.5 %. */
#define ROOF_DISTRIBUTION_RATIO 1.01

/* A set of nonnegative values. Begin with roof_distribution_open; release with
 * roof_distribution_free. */
struct roof_distribution {
    size_t count;
    double sum;
    size_t exact; /* number of values to keep before bins count them */
    double *value;
    size_t room;
    uint64_t *bin; /* NULL: the values are kept */
    bool sorted;
    int looks; /* percentiles computed since the values were last sorted */
};

void roof_distribution_open(struct roof_distribution *out, size_t exact);
enum roof_status roof_distribution_add(struct roof_distribution *values, double value,
                                       struct roof_error *error);
/* Returns the mean; NAN without values. */
double roof_distribution_mean(const struct roof_distribution *values);
/* Returns the rank of a percentile of some values, from 1: the value of this rank is the smallest
 * one that as many percent do not exceed. */
size_t roof_distribution_rank(size_t count, double percent);
/* Returns the nearest-rank percentile, 0 < percent <= 100: the smallest value v such that `percent`
 * % of all values are at most v. NAN without values. It reorders the values. */
double roof_distribution_percentile(struct roof_distribution *values, double percent);
/* Returns the number of values that are not below `least`; of a histogram, those from its bin on.
 */
size_t roof_distribution_from(const struct roof_distribution *values, double least);
/* Adds all values of another set. */
enum roof_status roof_distribution_merge(struct roof_distribution *values,
                                         const struct roof_distribution *other,
                                         struct roof_error *error);
/* Removes the values and keeps the memory. */
void roof_distribution_clear(struct roof_distribution *values);
void roof_distribution_free(struct roof_distribution *values);

#endif
