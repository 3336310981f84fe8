// SPDX-License-Identifier: MIT
/* Random numbers that are the same on every machine: xoshiro256** for integers, and functions of
 * them with only exact arithmetic and square roots, because the last bit of a logarithm differs
 * among C libraries. */
#ifndef ROOF_SIMULATE_RANDOM_H
#define ROOF_SIMULATE_RANDOM_H

#include <stdint.h>

struct roof_random {
    uint64_t state[4];
};

/* Starts a sequence. Streams of one seed are independent of each other. */
void roof_random_seed(struct roof_random *out, uint64_t seed, uint64_t stream);

/* SplitMix64 (Steele, Lea and Flood, 2014), which fills states from seeds. */
static inline uint64_t roof_split_mix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

/* Returns a hash of three numbers. */
static inline uint64_t roof_random_hash(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t state = seed;
    state = roof_split_mix(&state) ^ a;
    state = roof_split_mix(&state) ^ b;
    return roof_split_mix(&state);
}

uint64_t roof_random_bits(struct roof_random *random);
/* Draws uniformly from low..high. */
int64_t roof_random_integer(struct roof_random *random, int64_t low, int64_t high);
/* Draws from the exponential distribution of mean 1. */
double roof_random_exponential(struct roof_random *random);
/* Draws from the normal distribution of mean 0 and variance 1. */
double roof_random_normal(struct roof_random *random);
/* Draws from the gamma distribution of mean and variance `shape`, which is positive. */
double roof_random_gamma(struct roof_random *random, double shape);

/* Return the natural logarithm of a positive normal number, and the exponential for -700 to 700, to
 * about 14 digits. */
double roof_exact_log(double x);
double roof_exact_exp(double x);

#endif
