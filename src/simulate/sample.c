// SPDX-License-Identifier: MIT
#include "simulate/sample.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "simulate/random.h"

/* The bins cover 1 ns to 10^9 s; bin 0 has what is shorter. */
#define LEAST 1e-9
#define BINS 4170

void roof_sample_open(struct roof_sample *out, size_t exact)
{
    *out = (struct roof_sample){.exact = exact};
}

void roof_sample_free(struct roof_sample *sample)
{
    free(sample->value);
    free(sample->bin);
    *sample = (struct roof_sample){0};
}

void roof_sample_clear(struct roof_sample *sample)
{
    free(sample->bin);
    sample->bin = NULL;
    sample->count = 0;
    sample->sum = 0;
    sample->sorted = false;
}

/* --- bins ---------------------------------------------------------------------------------- */

static size_t bin_of(double value)
{
    if (value < LEAST) {
        return 0;
    }
    const double at = 1 + floor(roof_exact_log(value / LEAST) / roof_exact_log(ROOF_SAMPLE_RATIO));
    return at < BINS ? (size_t)at : BINS - 1;
}

/* Returns the value that is as far, as a ratio, from both ends of a bin. */
static double middle_of(size_t bin)
{
    return bin == 0
               ? 0
               : LEAST * roof_exact_exp(((double)bin - 0.5) * roof_exact_log(ROOF_SAMPLE_RATIO));
}

/* Counts the kept values in bins from now on. */
static enum roof_status begin_bins(struct roof_sample *sample, struct roof_error *error)
{
    sample->bin = calloc(BINS, sizeof *sample->bin);
    if (sample->bin == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < sample->count; i++) {
        sample->bin[bin_of(sample->value[i])]++;
    }
    free(sample->value);
    sample->value = NULL;
    sample->room = 0;
    return ROOF_OK;
}

/* --- values -------------------------------------------------------------------------------- */

static enum roof_status grow(struct roof_sample *sample, struct roof_error *error)
{
    const size_t room = sample->room == 0 ? 256 : 2 * sample->room;
    double *const more = realloc(sample->value, room * sizeof *more);
    if (more == NULL) {
        return roof_no_memory(error);
    }
    sample->value = more;
    sample->room = room;
    return ROOF_OK;
}

enum roof_status roof_sample_add(struct roof_sample *sample, double value, struct roof_error *error)
{
    if (sample->bin == NULL && sample->count >= sample->exact) {
        TRY(begin_bins(sample, error));
    }
    if (sample->bin != NULL) {
        sample->bin[bin_of(value)]++;
    } else {
        if (sample->count == sample->room) {
            TRY(grow(sample, error));
        }
        sample->value[sample->count] = value;
        sample->sorted = false;
    }
    sample->count++;
    sample->sum += value;
    return ROOF_OK;
}

enum roof_status roof_sample_merge(struct roof_sample *sample, const struct roof_sample *other,
                                   struct roof_error *error)
{
    if (other->bin == NULL) {
        for (size_t i = 0; i < other->count; i++) {
            TRY(roof_sample_add(sample, other->value[i], error));
        }
        return ROOF_OK;
    }
    if (sample->bin == NULL) {
        TRY(begin_bins(sample, error));
    }
    for (size_t i = 0; i < BINS; i++) {
        sample->bin[i] += other->bin[i];
    }
    sample->count += other->count;
    sample->sum += other->sum;
    return ROOF_OK;
}

double roof_sample_mean(const struct roof_sample *sample)
{
    return sample->count == 0 ? ROOF_UNKNOWN : sample->sum / (double)sample->count;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

double roof_sample_percentile(struct roof_sample *sample, double percent)
{
    if (sample->count == 0) {
        return ROOF_UNKNOWN;
    }
    /* 99 % of 100 are 99, although the product of the binary numbers may be a little more. */
    const double rank = ceil(percent / 100 * (double)sample->count * (1 - 1e-14));
    const size_t nearest = rank < 1 ? 1 : (size_t)rank;
    if (sample->bin == NULL) {
        if (!sample->sorted) {
            qsort(sample->value, sample->count, sizeof *sample->value, by_value);
            sample->sorted = true;
        }
        return sample->value[nearest - 1];
    }
    uint64_t seen = 0;
    size_t bin = 0;
    while (bin + 1 < BINS && (seen += sample->bin[bin]) < nearest) {
        bin++;
    }
    return middle_of(bin);
}
