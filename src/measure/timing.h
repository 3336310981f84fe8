// SPDX-License-Identifier: MIT
/* The rules of measuring: warm runs, then samples until their median is sure. */
#ifndef ROOF_MEASURE_TIMING_H
#define ROOF_MEASURE_TIMING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A median is sure when the median absolute deviation of its samples is within this share of it. */
#define ROOF_NOISE_MAX 0.02

struct roof_timing_rules {
    int warm;        /* samples before those that count */
    int least;       /* samples that count, at least */
    double window_s; /* they are taken for so long, at least */
    int rounds;      /* so often samples are taken until they are sure */
    double limit_s;  /* no sample after the third begins later than this; 0: no limit */
};
#define ROOF_TIMING_RULES                                                                          \
    {                                                                                              \
        .warm = 3, .least = 7, .window_s = 0.05, .rounds = 5                                       \
    }

struct roof_timing {
    double median_s;
    double noise; /* median absolute deviation over the median */
    bool noisy;   /* it stayed above ROOF_NOISE_MAX in all rounds; this is the quietest of them */
};

/* Takes one sample: *seconds becomes the time of a call. */
typedef enum roof_status roof_sample(void *context, double *seconds, struct roof_error *error);

/* Times by the rules. The clock is that of roof_seconds. */
enum roof_status roof_time(struct roof_timing *out, roof_sample *sample, void *context,
                           const struct roof_timing_rules *rules, struct roof_error *error);

/* Returns the median of values, which it sorts; 0 of none. */
double roof_median(double *values, size_t count);
/* Returns the median of values, and their median absolute deviation over it; they are changed. */
double roof_median_noise(double *noise, double *values, size_t count);

/* Returns the seconds since some moment, by a clock that is never set back. */
double roof_seconds(void);
/* Returns the seconds that this thread has run. */
double roof_thread_seconds(void);

#endif
