// SPDX-License-Identifier: MIT
/* A team of threads, each on its own processor, that run the calls of a kernel together. */
#ifndef ROOF_MEASURE_CPU_TEAM_H
#define ROOF_MEASURE_CPU_TEAM_H

#include "measure/cpu_topology.h"

struct roof_cpu_team;

/* Does the part of one thread in one call of a kernel. Calls are counted from 0, so that a kernel
 * can rotate its buffers. */
typedef void roof_cpu_share(void *context, size_t thread, size_t threads, int64_t call);

/* Starts a team on the first processors of a topology. The caller owns it: roof_cpu_team_free. */
enum roof_status roof_cpu_team_new(struct roof_cpu_team **out,
                                   const struct roof_cpu_topology *topology, size_t threads,
                                   struct roof_error *error);
void roof_cpu_team_free(struct roof_cpu_team *team);

/* Runs `calls` calls, each of which begins when all threads have finished the one before it, and
 * returns the seconds that they took together. With `ran` they are the sum over the calls of the
 * longest time that a thread ran: the time of other processes does not count, and neither do the
 * barriers. That costs some 0.5 us per call. */
double roof_cpu_team_run(struct roof_cpu_team *team, roof_cpu_share *share, void *context,
                         int64_t first, int64_t calls, bool ran);
/* One call of a kernel that is timed by itself. */
struct roof_cpu_call {
    double ran_s;  /* the longest time that a thread ran */
    double wall_s; /* on the wall, with the barrier */
};

/* Runs the calls 0 to calls - 1, and times each of them. */
void roof_cpu_team_time(struct roof_cpu_team *team, roof_cpu_share *share, void *context,
                        struct roof_cpu_call *call, int64_t calls);

/* Returns the seconds of the last run by the clock on the wall. */
double roof_cpu_team_wall(const struct roof_cpu_team *team);

#endif
