// SPDX-License-Identifier: MIT
/* Rates over time, such as those of a day: intervals, each with the requests per second in it. */
#ifndef ROOF_SIMULATE_RATE_TRACE_H
#define ROOF_SIMULATE_RATE_TRACE_H

#include <stddef.h>

#include "base/error.h"

#define ROOF_RATE_TIME_SIZE 32

struct roof_rate_interval {
    char time[ROOF_RATE_TIME_SIZE]; /* when it begins, as the file says it */
    double begin_s;
    double duration_s;
    double rate;  /* requests per second */
    size_t place; /* of that rate among the rates; their number where it is 0 */
};

/* The intervals of a file, and its rates above 0: each once, the least first. */
struct roof_rate_trace {
    struct roof_rate_interval *interval;
    size_t count;
    double *rate;
    double *weight; /* how long each of these lasts, in seconds */
    size_t rates;
};

/*
 * Reads CSV with a header, whose columns `time` (seconds, HH:MM, or a date with a time) and `rate`
 * say from when on how many requests come per second. The last interval is as long as the one
 * before it. ROOF_INVALID for a file without two rows or a rate above 0, for times out of order and
 * for what is no time or rate. The caller releases *out by roof_rate_trace_free, also after a
 * failure.
 */
enum roof_status roof_rate_trace_read(struct roof_rate_trace *out, const char *path,
                                      struct roof_error *error);
void roof_rate_trace_free(struct roof_rate_trace *trace);

#endif
