// SPDX-License-Identifier: MIT
#include "simulate/timeline.h"

#include <math.h>
#include <stdbool.h>

/* The interval width of the shortest simulation, in seconds. */
#define WIDTH_LEAST 1e-4

static void add(struct roof_moment *out, double time, const struct roof_moment *what)
{
    out->running += time * what->running;
    out->waiting += time * what->waiting;
    out->blocks += time * what->blocks;
}

/* Merges intervals in pairs. */
static void widen(struct roof_timeline *t)
{
    for (size_t i = 0; i < ROOF_TIMELINE_MOMENTS; i++) {
        const struct roof_moment one = t->moment[i];
        t->moment[i] = (struct roof_moment){0};
        add(&t->moment[i / 2], 1, &one);
    }
    t->width_s *= 2;
}

void roof_timeline_add(struct roof_timeline *t, double from_s, double duration_s,
                       const struct roof_moment *what)
{
    const double until = from_s + duration_s;
    t->width_s = t->width_s > 0 ? t->width_s : WIDTH_LEAST;
    t->end_s = fmax(t->end_s, until);
    while (until > t->width_s * ROOF_TIMELINE_MOMENTS) {
        widen(t);
    }
    size_t number = (size_t)(from_s / t->width_s);
    for (double at = from_s; at < until; number++) {
        const bool is_last = number + 1 >= ROOF_TIMELINE_MOMENTS;
        const double next = t->width_s * ((double)number + 1);
        const double end = is_last || next > until ? until : next;
        /* The first interval may end where the time begins, because its number is rounded. */
        add(&t->moment[is_last ? ROOF_TIMELINE_MOMENTS - 1 : number], fmax(0, end - at), what);
        at = fmax(at, end);
    }
}

size_t roof_timeline_count(const struct roof_timeline *t)
{
    return t->width_s > 0 ? (size_t)fmin(ROOF_TIMELINE_MOMENTS, ceil(t->end_s / t->width_s)) : 0;
}

struct roof_moment roof_timeline_moment(const struct roof_timeline *t, size_t number)
{
    const double begin = t->width_s * (double)number;
    const double time = fmin(t->width_s, t->end_s - begin);
    struct roof_moment out = {.time_s = begin};
    add(&out, 1 / time, &t->moment[number]);
    return out;
}
