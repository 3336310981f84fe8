// SPDX-License-Identifier: MIT
/* The energy of processors and their memory, as Linux counts it (powercap, by the RAPL registers of
 * Intel and AMD). */
#ifndef ROOF_MEASURE_CPU_ENERGY_H
#define ROOF_MEASURE_CPU_ENERGY_H

#include <stddef.h>
#include <stdint.h>

/* At least the number of counters of any machine. */
#define ROOF_CPU_COUNTERS 32

struct roof_cpu_counter {
    char path[80];  /* of its number of microjoules, below the root */
    uint64_t last;  /* as it was read last */
    uint64_t range; /* it restarts at 0 after this; 0: unknown */
};

struct roof_cpu_energy {
    const char *root;
    struct roof_cpu_counter counter[ROOF_CPU_COUNTERS];
    size_t count;  /* 0: the system has none, or this user may not read them */
    double joules; /* of all of them, since they were opened */
};

/* Finds the counters of all packages, and of memory if it has its own, in the files of Linux below
 * root, which is "" except in tests, and must outlive *out. */
void roof_cpu_energy_open(struct roof_cpu_energy *out, const char *root);

/* Returns the joules since then; NAN: nothing is counted. A counter must not pass its range twice
 * between two calls, which takes minutes. */
double roof_cpu_energy_read(struct roof_cpu_energy *energy);

#endif
