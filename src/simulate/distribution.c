// SPDX-License-Identifier: MIT
#include "simulate/distribution.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "simulate/random.h"

/* The bins cover 1 ns to 10^9 s; bin 0 has the shorter times. */
#define LEAST 1e-9
#define BINS 4170
/* The most percentiles that are found without sorting the values, and the most partitions for each.
 */
#define LOOKS_MAX 4
#define CUTS_MAX 64

void roof_distribution_open(struct roof_distribution *out, size_t exact)
{
    *out = (struct roof_distribution){.exact = exact};
}

void roof_distribution_free(struct roof_distribution *values)
{
    free(values->value);
    free(values->bin);
    *values = (struct roof_distribution){0};
}

void roof_distribution_clear(struct roof_distribution *values)
{
    free(values->bin);
    values->bin = NULL;
    values->count = 0;
    values->sum = 0;
    values->sorted = false;
    values->looks = 0;
}

/* --- bins ---------------------------------------------------------------------------------- */

static size_t bin_of(double value)
{
    if (value < LEAST) {
        return 0;
    }
    const double at =
        1 + floor(roof_exact_log(value / LEAST) / roof_exact_log(ROOF_DISTRIBUTION_RATIO));
    return at < BINS ? (size_t)at : BINS - 1;
}

/* Returns the geometric mean of the ends of a bin. */
static double middle_of(size_t bin)
{
    return bin == 0 ? 0
                    : LEAST * roof_exact_exp(((double)bin - 0.5) *
                                             roof_exact_log(ROOF_DISTRIBUTION_RATIO));
}

/* Moves the kept values into bins, which count all later ones. */
static enum roof_status begin_bins(struct roof_distribution *values, struct roof_error *error)
{
    values->bin = calloc(BINS, sizeof *values->bin);
    if (values->bin == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < values->count; i++) {
        values->bin[bin_of(values->value[i])]++;
    }
    free(values->value);
    values->value = NULL;
    values->room = 0;
    return ROOF_OK;
}

/* --- values -------------------------------------------------------------------------------- */

static enum roof_status grow(struct roof_distribution *values, struct roof_error *error)
{
    const size_t room = values->room == 0 ? 256 : 2 * values->room;
    double *const more = realloc(values->value, room * sizeof *more);
    if (more == NULL) {
        return roof_no_memory(error);
    }
    values->value = more;
    values->room = room;
    return ROOF_OK;
}

enum roof_status roof_distribution_add(struct roof_distribution *values, double value,
                                       struct roof_error *error)
{
    if (values->bin == NULL && values->count >= values->exact) {
        TRY(begin_bins(values, error));
    }
    if (values->bin != NULL) {
        values->bin[bin_of(value)]++;
    } else {
        if (values->count == values->room) {
            TRY(grow(values, error));
        }
        values->value[values->count] = value;
        values->sorted = false;
        values->looks = 0;
    }
    values->count++;
    values->sum += value;
    return ROOF_OK;
}

enum roof_status roof_distribution_merge(struct roof_distribution *values,
                                         const struct roof_distribution *other,
                                         struct roof_error *error)
{
    if (other->bin == NULL) {
        for (size_t i = 0; i < other->count; i++) {
            TRY(roof_distribution_add(values, other->value[i], error));
        }
        return ROOF_OK;
    }
    if (values->bin == NULL) {
        TRY(begin_bins(values, error));
    }
    for (size_t i = 0; i < BINS; i++) {
        values->bin[i] += other->bin[i];
    }
    values->count += other->count;
    values->sum += other->sum;
    return ROOF_OK;
}

size_t roof_distribution_from(const struct roof_distribution *values, double least)
{
    size_t count = 0;
    for (size_t i = 0; values->bin == NULL && i < values->count; i++) {
        count += values->value[i] >= least ? 1 : 0;
    }
    for (size_t i = bin_of(least); values->bin != NULL && i < BINS; i++) {
        count += values->bin[i];
    }
    return count;
}

double roof_distribution_mean(const struct roof_distribution *values)
{
    return values->count == 0 ? ROOF_UNKNOWN : values->sum / (double)values->count;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static void sort(struct roof_distribution *values)
{
    qsort(values->value, values->count, sizeof *values->value, by_value);
    values->sorted = true;
}

/* Moves the smallest values to the front until the value of a rank is at its place (Hoare's
 * selection). False if that takes too long. */
static bool select_rank(double *value, size_t count, size_t rank)
{
    size_t first = 0;
    size_t last = count - 1;
    for (int cuts = 0; first < last; cuts++) {
        const double pivot = value[rank];
        size_t i = first;
        size_t j = last + 1; /* one too high, because it must not fall below 0 */
        if (cuts == CUTS_MAX) {
            return false;
        }
        while (i < j) {
            while (value[i] < pivot) {
                i++;
            }
            while (pivot < value[j - 1]) {
                j--;
            }
            if (i < j) {
                const double moved = value[i];
                value[i++] = value[j - 1];
                value[--j] = moved;
            }
        }
        if (j <= rank && rank < i) {
            return true;
        }
        first = j <= rank ? i : first;
        last = j <= rank ? last : j - 1;
    }
    return true;
}

/* Returns the value of a rank, from 0. Selection is faster than sorting for a few ranks. */
static double value_of_rank(struct roof_distribution *values, size_t rank)
{
    if (!values->sorted &&
        (values->looks++ >= LOOKS_MAX || !select_rank(values->value, values->count, rank))) {
        sort(values);
    }
    return values->value[rank];
}

size_t roof_distribution_rank(size_t count, double percent)
{
    /* 99 % of 100 are 99, although the binary product may be slightly larger. */
    const double rank = ceil(percent / 100 * (double)count * (1 - 1e-14));
    return rank < 1 ? 1 : (size_t)rank;
}

double roof_distribution_percentile(struct roof_distribution *values, double percent)
{
    if (values->count == 0) {
        return ROOF_UNKNOWN;
    }
    const size_t nearest = roof_distribution_rank(values->count, percent);
    if (values->bin == NULL) {
        return value_of_rank(values, nearest - 1);
    }
    uint64_t seen = 0;
    size_t bin = 0;
    while (bin + 1 < BINS && (seen += values->bin[bin]) < nearest) {
        bin++;
    }
    return middle_of(bin);
}
