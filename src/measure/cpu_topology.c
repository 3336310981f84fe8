// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* sched_getaffinity */
#include "measure/cpu_topology.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/quantity.h"

/* The largest number of a processor in the system's names. */
#define CPU_MAX 4096

/* Reads the beginning of the file root/path as a terminated text; false if there is none. */
static bool read_file(char *out, size_t size, const char *root, const char *path)
{
    char whole[512];
    const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    const int file =
        length < 0 || (size_t)length >= sizeof whole ? -1 : open(whole, O_RDONLY | O_CLOEXEC);
    size_t filled = 0;
    ssize_t got = file < 0 ? 0 : 1;
    while (got > 0 && filled < size - 1) {
        got = read(file, out + filled, size - 1 - filled);
        filled += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0) {
        (void)close(file);
    }
    out[filled] = '\0';
    return filled > 0;
}

bool roof_cpu_read_line(char *out, size_t size, const char *root, const char *path)
{
    const bool found = read_file(out, size, root, path);
    out[strcspn(out, "\n")] = '\0';
    return found;
}

size_t roof_cpu_list(int *out, size_t max, const char *text)
{
    size_t count = 0;
    while (*text >= '0' && *text <= '9') {
        char *end = NULL;
        const long first = strtol(text, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long cpu = first; cpu <= last && cpu < CPU_MAX && count < max; cpu++) {
            out[count++] = (int)cpu;
        }
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* Returns the lowest number of the list in a file of a processor; its own number if there is none.
 */
static int lowest_sharer(const char *root, int cpu, const char *file)
{
    char path[128];
    char line[1024];
    int first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
    return roof_cpu_read_line(line, sizeof line, root, path) && roof_cpu_list(&first, 1, line) > 0
               ? first
               : cpu;
}

/* Reads a size such as "32768K"; 0 if it is none. */
static int64_t cache_size(const char *text)
{
    char *end = NULL;
    const int64_t value = strtoll(text, &end, 10);
    return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

/* Reads a file of a cache of a processor; false when there is none. */
static bool read_of_cache(char *line, size_t size, const char *root, int number, int index,
                          const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", number, index,
             name);
    return roof_cpu_read_line(line, size, root, path);
}

/* Reads the caches of data that a processor has, by level, and who shares them. */
static void read_caches(struct roof_cpu_topology *t, struct roof_cpu *cpu, const char *root)
{
    size_t count = 0;
    for (int index = 0; count < ROOF_LEVELS_MAX - 1; index++) {
        char file[64];
        char line[64];
        if (!read_of_cache(line, sizeof line, root, cpu->number, index, "type")) {
            break;
        }
        if (strcmp(line, "Instruction") == 0) {
            continue;
        }
        snprintf(file, sizeof file, "cache/index%d/shared_cpu_list", index);
        cpu->sharers[count] = lowest_sharer(root, cpu->number, file);
        const int level =
            read_of_cache(line, sizeof line, root, cpu->number, index, "level") ? atoi(line) : 0;
        const int64_t bytes = read_of_cache(line, sizeof line, root, cpu->number, index, "size")
                                  ? cache_size(line)
                                  : 0;
        t->cache[count] = (struct roof_cpu_cache){level, bytes};
        count += bytes > 0 ? 1 : 0;
    }
    t->cache_count = count;
}

/* Copies the value of a key of /proc/cpuinfo or /proc/meminfo, such as "model name". */
static bool find_value(char *out, size_t size, const char *text, const char *key)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n")) {
        line += *line == '\n' ? 1 : 0;
        const size_t length = strcspn(line, "\n");
        const char *const colon = memchr(line, ':', length);
        if (colon != NULL && strncmp(line, key, strlen(key)) == 0) {
            const char *const value = colon + 1 + strspn(colon + 1, " \t");
            snprintf(out, size, "%.*s", (int)(line + length - value), value);
            return true;
        }
    }
    return false;
}

/* Returns the bytes of a key of /proc/meminfo; NAN if it has none. */
static double memory_figure(const char *root, const char *key)
{
    char text[8192];
    char line[ROOF_METER_TEXT];
    (void)read_file(text, sizeof text, root, "/proc/meminfo");
    return find_value(line, sizeof line, text, key) ? strtod(line, NULL) * 1024 : ROOF_UNKNOWN;
}

static void read_identity(struct roof_cpu_topology *t, const char *root)
{
    char text[8192]; /* the first processor of the file has room */
    char line[ROOF_METER_TEXT];
    (void)read_file(text, sizeof text, root, "/proc/cpuinfo");
    (void)find_value(t->name, sizeof t->name, text, "model name");
    if (find_value(line, sizeof line, text, "vendor_id")) {
        snprintf(t->vendor, sizeof t->vendor, "%s",
                 strcmp(line, "AuthenticAMD") == 0   ? "AMD"
                 : strcmp(line, "GenuineIntel") == 0 ? "Intel"
                                                     : line);
    }
    t->clock_hz =
        find_value(line, sizeof line, text, "cpu MHz") ? strtod(line, NULL) * 1e6 : ROOF_UNKNOWN;
    if (roof_cpu_read_line(line, sizeof line, root,
                           "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")) {
        t->clock_hz = strtod(line, NULL) * 1e3;
    }
    t->memory_bytes = memory_figure(root, "MemTotal");
}

double roof_cpu_memory_free(const char *root)
{
    return memory_figure(root, "MemAvailable");
}

/* Keeps the numbers of processors that this process may use. */
static size_t keep_allowed(int *number, size_t count)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return count; /* more processors than the set has room for: all are kept */
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (number[i] < CPU_SETSIZE && CPU_ISSET((size_t)number[i], &allowed)) {
            number[kept++] = number[i];
        }
    }
    return kept;
}

/* Puts one processor of each core first; both groups keep their order. */
static void cores_first(struct roof_cpu_topology *t)
{
    for (size_t i = 0; i < t->cpu_count; i++) {
        bool seen = false;
        for (size_t j = 0; j < t->core_count && !seen; j++) {
            seen = t->cpu[j].core == t->cpu[i].core;
        }
        if (!seen) {
            const struct roof_cpu moved = t->cpu[i];
            memmove(&t->cpu[t->core_count + 1], &t->cpu[t->core_count],
                    (i - t->core_count) * sizeof moved);
            t->cpu[t->core_count++] = moved;
        }
    }
}

enum roof_status roof_cpu_topology_read(struct roof_cpu_topology *out, const char *root,
                                        struct roof_error *error)
{
    int number[CPU_MAX];
    char line[1024];
    *out = (struct roof_cpu_topology){.clock_hz = ROOF_UNKNOWN, .memory_bytes = ROOF_UNKNOWN};
    size_t count = roof_cpu_read_line(line, sizeof line, root, "/sys/devices/system/cpu/online")
                       ? roof_cpu_list(number, CPU_MAX, line)
                       : 0;
    count = *root == '\0' ? keep_allowed(number, count) : count;
    if (count == 0) {
        return roof_error_set(error, ROOF_IO,
                              "cannot find the processors: /sys/devices/system/cpu/online names "
                              "none that may be used");
    }
    out->cpu = calloc(count, sizeof *out->cpu);
    if (out->cpu == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        struct roof_cpu *const cpu = &out->cpu[out->cpu_count++];
        cpu->number = number[i];
        cpu->core = lowest_sharer(root, number[i], "topology/thread_siblings_list");
        read_caches(out, cpu, root);
    }
    cores_first(out);
    read_identity(out, root);
    return ROOF_OK;
}

void roof_cpu_topology_free(struct roof_cpu_topology *topology)
{
    free(topology->cpu);
    topology->cpu = NULL;
}

int64_t roof_cpu_cache_total(const struct roof_cpu_topology *topology, size_t index, size_t threads)
{
    int64_t instances = 0;
    for (size_t i = 0; i < threads && i < topology->cpu_count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) {
            seen = topology->cpu[j].sharers[index] == topology->cpu[i].sharers[index];
        }
        instances += seen ? 0 : 1;
    }
    return instances * topology->cache[index].bytes;
}
