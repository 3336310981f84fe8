// SPDX-License-Identifier: MIT
#include "measure/cpu_energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "measure/cpu_topology.h"

#define FOLDER "/sys/class/powercap/intel-rapl:"
/* The largest numbers of packages and of their parts in the system's names. */
#define PACKAGES_MAX 16
#define PARTS_MAX 8

/* Reads a file with a number; false: there is none, or this user may not read it. */
static bool read_number(uint64_t *out, const char *root, const char *path)
{
    char line[32];
    char *end = NULL;
    if (!roof_cpu_read_line(line, sizeof line, root, path)) {
        return false;
    }
    *out = strtoull(line, &end, 10);
    return end != line && *end == '\0';
}

/* Adds the counter in a folder if its name begins so. */
static void add(struct roof_cpu_energy *out, const char *folder, const char *name)
{
    char path[80];
    char line[32];
    struct roof_cpu_counter *const counter = &out->counter[out->count];
    (void)snprintf(path, sizeof path, "%s/name", folder);
    if (out->count == ROOF_CPU_COUNTERS ||
        !roof_cpu_read_line(line, sizeof line, out->root, path) ||
        strncmp(line, name, strlen(name)) != 0) {
        return;
    }
    *counter = (struct roof_cpu_counter){.range = 0};
    (void)snprintf(path, sizeof path, "%s/max_energy_range_uj", folder);
    (void)read_number(&counter->range, out->root, path);
    (void)snprintf(counter->path, sizeof counter->path, "%s/energy_uj", folder);
    out->count += read_number(&counter->last, out->root, counter->path) ? 1 : 0;
}

void roof_cpu_energy_open(struct roof_cpu_energy *out, const char *root)
{
    char folder[56];
    *out = (struct roof_cpu_energy){.root = root};
    for (int package = 0; package < PACKAGES_MAX; package++) {
        (void)snprintf(folder, sizeof folder, FOLDER "%d", package);
        add(out, folder, "package");
        /* The counter of the package includes the other parts. */
        for (int part = 0; part < PARTS_MAX; part++) {
            (void)snprintf(folder, sizeof folder, FOLDER "%d:%d", package, part);
            add(out, folder, "dram");
        }
    }
}

double roof_cpu_energy_read(struct roof_cpu_energy *energy)
{
    for (size_t i = 0; i < energy->count; i++) {
        struct roof_cpu_counter *const counter = &energy->counter[i];
        uint64_t now = 0;
        if (!read_number(&now, energy->root, counter->path)) {
            return ROOF_UNKNOWN;
        }
        /* If a counter restarted and its range is unknown, at least its new value has been counted.
         */
        energy->joules +=
            (double)(now >= counter->last              ? now - counter->last
                     : counter->range >= counter->last ? counter->range - counter->last + now
                                                       : now) /
            1e6;
        counter->last = now;
    }
    return energy->count == 0 ? ROOF_UNKNOWN : energy->joules;
}
