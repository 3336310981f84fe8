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
    double time_s; /* not before the previous arrival */
    int64_t prompt;
    int64_t generate;
    /* Identifies the prompt to a prefix cache: one id for each part of a fixed number of tokens
     * (the last part may be shorter). Equal ids mean equal tokens from the start of the prompt to
     * the end of the part. Borrowed; NULL: unknown. */
    const uint64_t *ids;
    int64_t elsewhere; /* output tokens that a later copy generates after these */
};

/* The way in which requests follow each other. */
enum roof_arrival_kind { ROOF_ARRIVALS_POISSON, ROOF_ARRIVALS_CONSTANT, ROOF_ARRIVALS_GAMMA };
struct roof_arrival_process {
    enum roof_arrival_kind kind;
    double cv; /* of a gamma process: standard deviation of the gap divided by its mean */
};
/* Reads "poisson", "constant" or "gamma:CV". */
enum roof_status roof_arrivals_read(struct roof_arrival_process *out, const char *text,
                                    struct roof_error *error);

/* The lengths of prompts, or of outputs. */
enum roof_length_kind { ROOF_LENGTH_FIXED, ROOF_LENGTH_UNIFORM, ROOF_LENGTH_LOGNORMAL };
struct roof_length {
    enum roof_length_kind kind;
    int64_t low; /* of a fixed length: that length */
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

/* The least requests per second. At lower rates the clock would be too coarse for short times. */
#define ROOF_RATE_MIN 1e-6
#define ROOF_RATE_MAX 1e9
/* Reads a rate "0.6" or "0.6/s", in requests per second. */
enum roof_status roof_rate_read(double *out, const char *text, struct roof_error *error);

/* Random requests. Gaps, prompt lengths and output lengths have separate random streams, so that
 * two runs with one seed and different rates have the same requests. */
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
/* Draws only the lengths of a request. */
void roof_arrivals_lengths(struct roof_arrival *out, struct roof_arrivals *arrivals);

#endif
