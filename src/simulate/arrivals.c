// SPDX-License-Identifier: MIT
#include "simulate/arrivals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

/* Coefficients of variation that distributions may have. */
#define CV_MIN 0.01
#define CV_MAX 20
#define PART_SIZE 48

/* --- texts --------------------------------------------------------------------------------- */

/* Cuts "name:a:b" into at most three parts; returns how many it has, or 0 for more, or too long
 * ones. */
static int cut(char part[3][PART_SIZE], const char *text)
{
    int count = 0;
    for (const char *rest = text; rest != NULL;) {
        const size_t length = strcspn(rest, ":");
        if (count == 3 || length >= PART_SIZE) {
            return 0;
        }
        (void)snprintf(part[count++], PART_SIZE, "%.*s", (int)length, rest);
        rest = rest[length] == ':' ? rest + length + 1 : NULL;
    }
    return count;
}

enum roof_status roof_arrivals_read(struct roof_arrival_process *out, const char *text,
                                    struct roof_error *error)
{
    char part[3][PART_SIZE];
    const int parts = cut(part, text);
    *out = (struct roof_arrival_process){.kind = ROOF_ARRIVALS_POISSON, .cv = 1};
    if (parts == 1 && strcmp(part[0], "poisson") == 0) {
        return ROOF_OK;
    }
    if (parts == 1 && strcmp(part[0], "constant") == 0) {
        *out = (struct roof_arrival_process){.kind = ROOF_ARRIVALS_CONSTANT};
        return ROOF_OK;
    }
    if (parts == 2 && strcmp(part[0], "gamma") == 0) {
        out->kind = ROOF_ARRIVALS_GAMMA;
        return roof_parse_number(&out->cv, part[1], "the CV of " ROOF_KEY("arrivals"), CV_MIN,
                                 CV_MAX, error);
    }
    return roof_error_set(error, ROOF_USAGE,
                          ROOF_KEY("arrivals") " must be poisson, constant or gamma:CV, not '%s'",
                          text);
}

static enum roof_status read_uniform(struct roof_length *out, const char *what,
                                     char part[3][PART_SIZE], struct roof_error *error)
{
    TRY(roof_parse_integer(&out->low, part[1], what, 1, ROOF_LENGTH_MAX, error));
    TRY(roof_parse_integer(&out->high, part[2], what, 1, ROOF_LENGTH_MAX, error));
    if (out->high < out->low) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the range uniform:%s:%s is reversed; write uniform:%s:%s", what,
                              part[1], part[2], part[2], part[1]);
    }
    out->kind = ROOF_LENGTH_UNIFORM;
    out->mean = ((double)out->low + (double)out->high) / 2;
    return ROOF_OK;
}

/* A lognormal number has the mean exp(mu + sigma^2 / 2) and CV^2 = exp(sigma^2) - 1. */
static enum roof_status read_lognormal(struct roof_length *out, const char *what,
                                       char part[3][PART_SIZE], struct roof_error *error)
{
    double cv = 0;
    int64_t mean = 0;
    char cv_of[96];
    TRY(roof_parse_integer(&mean, part[1], what, 1, ROOF_LENGTH_MAX, error));
    (void)snprintf(cv_of, sizeof cv_of, "the CV of %s", what);
    TRY(roof_parse_number(&cv, part[2], cv_of, CV_MIN, CV_MAX, error));
    const double variance = roof_exact_log(1 + cv * cv);
    out->kind = ROOF_LENGTH_LOGNORMAL;
    out->mean = (double)mean;
    out->log_deviation = sqrt(variance);
    out->log_mean = roof_exact_log(out->mean) - variance / 2;
    return ROOF_OK;
}

enum roof_status roof_length_read(struct roof_length *out, const char *key, const char *text,
                                  struct roof_error *error)
{
    char what[64];
    char part[3][PART_SIZE];
    const int parts = cut(part, text);
    (void)snprintf(what, sizeof what, ROOF_KEY("%s"), key);
    *out = (struct roof_length){.kind = ROOF_LENGTH_FIXED};
    if (parts == 1) {
        TRY(roof_parse_integer(&out->low, text, what, 1, ROOF_LENGTH_MAX, error));
        out->high = out->low;
        out->mean = (double)out->low;
        return ROOF_OK;
    }
    if (parts == 3 && strcmp(part[0], "uniform") == 0) {
        return read_uniform(out, what, part, error);
    }
    if (parts == 3 && strcmp(part[0], "lognormal") == 0) {
        return read_lognormal(out, what, part, error);
    }
    return roof_error_set(
        error, ROOF_USAGE,
        ROOF_KEY("%s") " must be a number of tokens, uniform:A:B or lognormal:MEAN:CV, not '%s'",
        key, text);
}

enum roof_status roof_rate_read(double *out, const char *text, struct roof_error *error)
{
    char number[PART_SIZE];
    const size_t length = strlen(text);
    const bool unit = length > 2 && strcmp(text + length - 2, "/s") == 0;
    (void)snprintf(number, sizeof number, "%.*s", (int)(unit ? length - 2 : length), text);
    if (length >= sizeof number ||
        roof_parse_number(out, number, "", ROOF_RATE_MIN, ROOF_RATE_MAX, NULL) != ROOF_OK) {
        char low[ROOF_QUANTITY_SIZE];
        char high[ROOF_QUANTITY_SIZE];
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("rate") " must be requests per second from %s to %s, such "
                                               "as 0.6 or 0.6/s, not '%s'",
                              roof_format_short(low, ROOF_RATE_MIN),
                              roof_format_short(high, ROOF_RATE_MAX), text);
    }
    return ROOF_OK;
}

/* --- random requests ----------------------------------------------------------------------- */

int64_t roof_length_draw(const struct roof_length *length, struct roof_random *random)
{
    double x = 0;
    switch (length->kind) {
    case ROOF_LENGTH_FIXED:
        break;
    case ROOF_LENGTH_UNIFORM:
        return roof_random_integer(random, length->low, length->high);
    case ROOF_LENGTH_LOGNORMAL:
        x = length->log_mean + length->log_deviation * roof_random_normal(random);
        return (int64_t)fmin(ROOF_LENGTH_MAX, fmax(1, round(roof_exact_exp(fmin(x, 100)))));
    }
    return length->low;
}

void roof_arrivals_seed(struct roof_arrivals *arrivals, uint64_t seed)
{
    arrivals->now_s = 0;
    roof_random_seed(&arrivals->gap, seed, 1);
    roof_random_seed(&arrivals->input, seed, 2);
    roof_random_seed(&arrivals->output, seed, 3);
}

/* Draws the time between two requests, in units of its mean. */
static double draw_gap(struct roof_arrivals *a)
{
    switch (a->process.kind) {
    case ROOF_ARRIVALS_POISSON:
        return roof_random_exponential(&a->gap);
    case ROOF_ARRIVALS_GAMMA: {
        const double shape = 1 / (a->process.cv * a->process.cv);
        return roof_random_gamma(&a->gap, shape) / shape;
    }
    case ROOF_ARRIVALS_CONSTANT:
        break;
    }
    return 1;
}

void roof_arrivals_lengths(struct roof_arrival *out, struct roof_arrivals *arrivals)
{
    out->prompt = roof_length_draw(&arrivals->prompt, &arrivals->input);
    out->generate = roof_length_draw(&arrivals->generate, &arrivals->output);
}

void roof_arrivals_next(struct roof_arrival *out, struct roof_arrivals *arrivals)
{
    arrivals->now_s += draw_gap(arrivals) / arrivals->rate;
    out->time_s = arrivals->now_s;
    roof_arrivals_lengths(out, arrivals);
}
