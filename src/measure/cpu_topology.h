// SPDX-License-Identifier: MIT
/* The processor as the system describes it: cores, caches, clock, memory. */
#ifndef ROOF_MEASURE_CPU_TOPOLOGY_H
#define ROOF_MEASURE_CPU_TOPOLOGY_H

#include "measure/meter.h"

/* A cache of data, as one core sees it. */
struct roof_cpu_cache {
    int level;
    int64_t bytes; /* of one instance */
};

/* One logical processor that may be used. */
struct roof_cpu {
    int number;                   /* as the system counts */
    int core;                     /* the lowest number among those that share its core */
    int sharers[ROOF_LEVELS_MAX]; /* the lowest number among those that share each cache */
};

struct roof_cpu_topology {
    char name[ROOF_METER_TEXT]; /* "" if the system does not tell, like vendor */
    char vendor[ROOF_METER_TEXT];
    double clock_hz;                              /* NAN if unknown */
    double memory_bytes;                          /* NAN if unknown */
    struct roof_cpu_cache cache[ROOF_LEVELS_MAX]; /* by level */
    size_t cache_count;
    struct roof_cpu *cpu; /* owned; one of each core first, then their siblings */
    size_t cpu_count;
    size_t core_count;
};

/* Reads the topology from the files of Linux below root, which is "" except in tests. Only
 * processors on which this process may run count. Values that the system lacks are unknown; ROOF_IO
 * if it lists no processors at all. The caller owns the content: roof_cpu_topology_free. */
enum roof_status roof_cpu_topology_read(struct roof_cpu_topology *out, const char *root,
                                        struct roof_error *error);
void roof_cpu_topology_free(struct roof_cpu_topology *topology);

/* Returns the bytes of free memory; NAN if the system does not report them. */
double roof_cpu_memory_free(const char *root);

/* Returns the bytes of all caches of an index that the first `threads` processors have. */
int64_t roof_cpu_cache_total(const struct roof_cpu_topology *topology, size_t index,
                             size_t threads);

/* Reads the first line of the file root/path, without its end; false: there is none, or it is
 * empty. */
bool roof_cpu_read_line(char *out, size_t size, const char *root, const char *path);

/* Reads a list such as "0-3,8" of at most max numbers; returns their number, 0 if it is not a list.
 */
size_t roof_cpu_list(int *out, size_t max, const char *text);

#endif
