// SPDX-License-Identifier: MIT
/* What engines do over the time of a simulation, in intervals of equal length. */
#ifndef ROOF_SIMULATE_TIMELINE_H
#define ROOF_SIMULATE_TIMELINE_H

#include <stddef.h>

#define ROOF_TIMELINE_MOMENTS 256

/* Sums over the time of an interval; roof_timeline_moment makes means of them. */
struct roof_moment {
    double time_s;  /* when it begins */
    double running; /* requests at all copies */
    double waiting;
    double blocks; /* of the KV caches of all copies that decode */
};

/* Starts as zeros. Its memory does not depend on the length of the simulation: where the intervals
 * are too few, each takes twice as long. */
struct roof_timeline {
    double width_s;
    double end_s;
    struct roof_moment moment[ROOF_TIMELINE_MOMENTS];
};

/* Adds what is so from a time on, for some time. */
void roof_timeline_add(struct roof_timeline *timeline, double from_s, double duration_s,
                       const struct roof_moment *what);

/* Returns how many intervals there are. */
size_t roof_timeline_count(const struct roof_timeline *timeline);
/* Returns the means of an interval. */
struct roof_moment roof_timeline_moment(const struct roof_timeline *timeline, size_t number);

#endif
