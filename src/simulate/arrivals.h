// SPDX-License-Identifier: MIT
/* Requests that arrive over time: random ones, or those of a trace. */
#ifndef ROOF_SIMULATE_ARRIVALS_H
#define ROOF_SIMULATE_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "simulate/random.h"

/* The longest prompt, and the most tokens generated. */
#define ROOF_LENGTH_MAX 100000000

/* A request, which knows nothing of engines. */
struct roof_arrival {
    double time_s; /* not less than that of the one before */
    int64_t prompt;
    int64_t generate;
    /* A prefix cache knows the prompt by these, one for each part of so many tokens (of the last
     * part there may be fewer): equal ids mean equal tokens, from the first one to the end of the
     * part. Borrowed; NULL: unknown. */
    const uint64_t *ids;
    int64_t elsewhere; /* tokens that another copy generates after these */
};

/* The way in which requests follow each other. */
enum roof_arrival_kind { ROOF_ARRIVALS_POISSON, ROOF_ARRIVALS_CONSTANT, ROOF_ARRIVALS_GAMMA };
struct roof_arrival_process {
    enum roof_arrival_kind kind;
    double cv; /* of a gamma process: the deviation of the time between arrivals over its mean */
};
/* Reads "poisson", "constant" or "gamma:CV". */
enum roof_status roof_arrivals_read(struct roof_arrival_process *out, const char *text,
                                    struct roof_error *error);

/* The lengths of prompts, or of what is generated. */
enum roof_length_kind { ROOF_LENGTH_FIXED, ROOF_LENGTH_UNIFORM, ROOF_LENGTH_LOGNORMAL };
struct roof_length {
    enum roof_length_kind kind;
    int64_t low; /* the length itself, when it is fixed */
    int64_t high;
    double mean;
    double log_mean; /* lognormal: of the logarithm */
    double log_deviation;
};
/* Reads a number, "uniform:A:B" or "lognormal:MEAN:CV"; `key` is the input, for messages. */
enum roof_status roof_length_read(struct roof_length *out, const char *key, const char *text,
                                  struct roof_error *error);
/* Draws a length of at least 1. */
int64_t roof_length_draw(const struct roof_length *length, struct roof_random *random);

/* Requests per second. At lower rates the clock would be too coarse for short times. */
#define ROOF_RATE_MIN 1e-6
#define ROOF_RATE_MAX 1e9
/* Reads a rate "0.6" or "0.6/s", in requests per second. */
enum roof_status roof_rate_read(double *out, const char *text, struct roof_error *error);

/* Random requests. Gaps, prompts and generated tokens are drawn from streams of their own, so that
 * two runs of one seed that differ in their rates have the same requests. */
struct roof_arrivals {
    struct roof_arrival_process process;
    struct roof_length prompt;
    struct roof_length generate;
    double rate; /* per second */
    double now_s;
    struct roof_random gap;
    struct roof_random input;
    struct roof_random output;
};
void roof_arrivals_seed(struct roof_arrivals *arrivals, uint64_t seed);
/* Draws the next request. */
void roof_arrivals_next(struct roof_arrival *out, struct roof_arrivals *arrivals);
/* Draws the lengths of a request alone. */
void roof_arrivals_lengths(struct roof_arrival *out, struct roof_arrivals *arrivals);

#endif
