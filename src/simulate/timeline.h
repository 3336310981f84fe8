// SPDX-License-Identifier: MIT
/* The activity of engines over a simulation, in intervals of equal length. */
#ifndef ROOF_SIMULATE_TIMELINE_H
#define ROOF_SIMULATE_TIMELINE_H

#include <stddef.h>

#define ROOF_TIMELINE_MOMENTS 256

/* Time sums over an interval; roof_timeline_moment makes means of them. */
struct roof_moment {
    double time_s;  /* start of the interval */
    double running; /* requests at all copies */
    double waiting;
    double blocks; /* fraction of the KV caches of all decode copies */
};

/* Starts as zeros. Its memory does not depend on the length of the simulation: when the intervals
 * run out, each becomes twice as long. */
struct roof_timeline {
    double width_s;
    double end_s;
    struct roof_moment moment[ROOF_TIMELINE_MOMENTS];
};

/* Adds a state that holds from a time on, for some time. */
void roof_timeline_add(struct roof_timeline *timeline, double from_s, double duration_s,
                       const struct roof_moment *what);

/* Returns how many intervals there are. */
size_t roof_timeline_count(const struct roof_timeline *timeline);
/* Returns the means of an interval. */
struct roof_moment roof_timeline_moment(const struct roof_timeline *timeline, size_t number);

#endif
