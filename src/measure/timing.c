// SPDX-License-Identifier: MIT
#include "measure/timing.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"

/* Samples of a round beyond this do not change its median enough. */
#define SAMPLES_MAX 1000

double roof_seconds(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double roof_thread_seconds(void)
{
    struct timespec spent = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double roof_median(double *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof *values, ascending);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double roof_median_noise(double *noise, double *values, size_t count)
{
    const double median = roof_median(values, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = fabs(values[i] - median);
    }
    *noise = median > 0 ? roof_median(values, count) / median : 0;
    return median;
}

/* Samples that count are at least so many, however long they take. */
#define SAMPLES_MIN 3

struct timer {
    roof_sample *sample;
    void *context;
    const struct roof_timing_rules *rules;
    double start;
};

/* True where the limit of the rules is reached. */
static bool late(const struct timer *t)
{
    return t->rules->limit_s > 0 && roof_seconds() - t->start > t->rules->limit_s;
}

/* Takes the samples of one round, and finds their median and noise. */
static enum roof_status take_round(struct roof_timing *out, const struct timer *t,
                                   struct roof_error *error)
{
    double value[SAMPLES_MAX] = {0};
    size_t count = 0;
    const double start = roof_seconds();
    while (count < SAMPLES_MAX && (count < SAMPLES_MIN || !late(t)) &&
           (count < (size_t)t->rules->least || roof_seconds() - start < t->rules->window_s)) {
        TRY(t->sample(t->context, &value[count], error));
        count++;
    }
    out->median_s = roof_median_noise(&out->noise, value, count);
    return ROOF_OK;
}

enum roof_status roof_time(struct roof_timing *out, roof_sample *sample, void *context,
                           const struct roof_timing_rules *rules, struct roof_error *error)
{
    const struct timer timer = {sample, context, rules, roof_seconds()};
    for (int i = 0; i < rules->warm && (i == 0 || !late(&timer)); i++) {
        double ignored = 0;
        TRY(sample(context, &ignored, error));
    }
    for (int round = 0; round < rules->rounds && (round == 0 || !late(&timer)); round++) {
        struct roof_timing next = {0};
        TRY(take_round(&next, &timer, error));
        if (round == 0 || next.noise < out->noise) {
            *out = next;
        }
        if (out->noise <= ROOF_NOISE_MAX) {
            break;
        }
    }
    out->noisy = out->noise > ROOF_NOISE_MAX;
    return ROOF_OK;
}
