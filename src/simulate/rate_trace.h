// SPDX-License-Identifier: MIT
/* Request rates over time, such as over a day: intervals with the requests per second in each. */
#ifndef ROOF_SIMULATE_RATE_TRACE_H
#define ROOF_SIMULATE_RATE_TRACE_H

#include <stddef.h>

#include "base/error.h"

#define ROOF_RATE_TIME_SIZE 32

struct roof_rate_interval {
    char time[ROOF_RATE_TIME_SIZE]; /* start of the interval, as written in the file */
    double begin_s;
    double duration_s;
    double rate;  /* requests per second */
    size_t place; /* index of the rate among the distinct rates; their number if the rate is 0 */
};

/* The intervals of a file, and its distinct rates above 0 in ascending order. */
struct roof_rate_trace {
    struct roof_rate_interval *interval;
    size_t count;
    double *rate;
    double *weight; /* total time of each rate, in seconds */
    size_t rates;
};

/* Reads CSV with a header. Its column `time` (seconds, HH:MM, or a date with a time) has the start
 * of each interval, and `rate` the requests per second in it. The last interval is as long as the
 * one before it. ROOF_INVALID for a file without two rows or a rate above 0, for times out of order
 * and for cells that are not a time or a rate. The caller releases *out by roof_rate_trace_free,
 * even after a failure. */
enum roof_status roof_rate_trace_read(struct roof_rate_trace *out, const char *path,
                                      struct roof_error *error);
void roof_rate_trace_free(struct roof_rate_trace *trace);

#endif
