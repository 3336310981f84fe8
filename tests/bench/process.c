// SPDX-License-Identifier: MIT
/*
 * Whole processes, as JSON lines: median and least wall time, peak memory, and rates. The subjects
 * take turns, so that what else the machine does falls on all of them.
 * make bench
 */
#define _DEFAULT_SOURCE /* wait4; NOLINT(bugprone-reserved-identifier) */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 101

extern char **environ;

/* %s is the program. */
struct subject {
    const char *name;
    const char *command;
    const char *unit; /* of what it does; NULL: nothing to count */
    double work;
    int runs;
};

/* These sweeps are of bounds: no build has measured kernels of this device, so all answer the same.
 */
#define SWEEP(format, rows, more)                                                                  \
    "exec %s sweep gemm -m 1:" rows " -n 4096 -k 4096 -H mi250x -f " format more, "rows"

static const struct subject subjects[] = {
    {"/bin/true", "exec /bin/true", NULL, 0, 101},
    {"jq -n 1", "exec jq -n 1", NULL, 0, 101},
    {"roofline --version", "exec %s --version", NULL, 0, 101},
    {"predict gemm", "exec %s predict gemm -m 64 -n 4096 -k 4096 -H h100-sxm", NULL, 0, 101},
    {"predict gemm, json", "exec %s predict gemm -m 64 -n 4096 -k 4096 -H h100-sxm -f json", NULL,
     0, 101},
    {"predict model", "exec %s predict model llama-3-70b -H h100-sxm --tp 8 -f json", NULL, 0, 51},
    {"recommend model",
     "exec %s recommend model llama-3.3-70b -H "
     "h100-sxm,hgx-b200,a100-sxm-80gb,l40s,h200-sxm,dgx-spark --devices 1:16",
     NULL, 0, 9},
    {"recommend model, requests",
     "exec %s recommend model llama-3.3-70b -H h100-sxm,hgx-b200 --devices 1:16 --prompt 8k "
     "--generate 500",
     NULL, 0, 9},
    {"recommend model, a rate",
     "exec %s recommend model llama-3.3-70b -H "
     "a100-sxm-80gb,l40s,h100-sxm,h200,hgx-b200,rtx-pro-6000 --devices 1,2,4,8,16 --rate 10 "
     "--prompt 8k --generate 500 --max-ttft p99:1s --max-tpot p99:30ms",
     NULL, 0, 5},
    {"simulate, greatest rate",
     "exec %s simulate llama-3.3-70b -H h100-sxm --tp 4 -p fp8 --kv fp8 --prompt 8k "
     "--generate 500 --max-ttft p99:1s --max-tpot p99:30ms --columns max_rate_per_s -f csv",
     NULL, 0, 25},
    {"sweep csv 1e4, 1 thread", SWEEP("csv", "10000", " --threads 1"), 1e4, 25},
    {"sweep csv 1e4, all threads", SWEEP("csv", "10000", ""), 1e4, 25},
    {"sweep csv 1e6, 1 thread", SWEEP("csv", "1000000", " --threads 1"), 1e6, 5},
    {"sweep csv 1e6, all threads", SWEEP("csv", "1000000", ""), 1e6, 5},
    {"sweep csv 1e7, 1 thread", SWEEP("csv", "10000000", " --threads 1"), 1e7, 1},
    {"sweep csv 1e7, all threads", SWEEP("csv", "10000000", ""), 1e7, 1},
    {"sweep ndjson 1e4, 1 thread", SWEEP("ndjson", "10000", " --threads 1"), 1e4, 25},
    {"sweep ndjson 1e4, all threads", SWEEP("ndjson", "10000", ""), 1e4, 25},
    {"sweep ndjson 1e6, 1 thread", SWEEP("ndjson", "1000000", " --threads 1"), 1e6, 5},
    {"sweep ndjson 1e6, all threads", SWEEP("ndjson", "1000000", ""), 1e6, 5},
    {"sweep ndjson 1e7, 1 thread", SWEEP("ndjson", "10000000", " --threads 1"), 1e7, 1},
    {"sweep ndjson 1e7, all threads", SWEEP("ndjson", "10000000", ""), 1e7, 1},
    {"sweep json 1e4, 1 thread", SWEEP("json", "10000", " --threads 1"), 1e4, 25},
    {"sweep json 1e4, all threads", SWEEP("json", "10000", ""), 1e4, 25},
    {"sweep json 1e6, 1 thread", SWEEP("json", "1000000", " --threads 1"), 1e6, 5},
    {"sweep json 1e6, all threads", SWEEP("json", "1000000", ""), 1e6, 5},
    {"sweep json 1e7, 1 thread", SWEEP("json", "10000000", " --threads 1"), 1e7, 1},
    {"sweep json 1e7, all threads", SWEEP("json", "10000000", ""), 1e7, 1},
    {"sweep csv 1e5 expected, 1 thread",
     "exec %s sweep gemm -m 1:100000 -n 4096 -k 4096 -H h100-sxm -f csv --threads 1", "rows", 1e5,
     5},
    {"sweep csv 1e5 expected, all threads",
     "exec %s sweep gemm -m 1:100000 -n 4096 -k 4096 -H h100-sxm -f csv", "rows", 1e5, 5},
    {"from csv 1e5", "exec %s predict --from \"$MEASURED\" -H gaudi3 -f csv", "rows", 1e5, 5},
    {"compare 1e5", "exec %s compare \"$MEASURED\" -H h100-sxm --summary -f json", "rows", 1e5, 3},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

struct result {
    double wall_s[RUNS_MAX];
    int runs;
    long peak_kib;
};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One run, its output thrown away; false when it fails. */
static int run(struct result *out, const char *command)
{
    posix_spawn_file_actions_t actions;
    char shell[] = "/bin/sh";
    char flag[] = "-c";
    char text[512];
    char *argv[] = {shell, flag, text, NULL};
    struct rusage usage;
    pid_t child = 0;
    int status = 0;
    (void)snprintf(text, sizeof text, "%s", command);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    const double start = now();
    const int failed = posix_spawn(&child, shell, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed != 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        return 0;
    }
    out->wall_s[out->runs++] = now() - start;
    out->peak_kib = usage.ru_maxrss > out->peak_kib ? usage.ru_maxrss : out->peak_kib;
    return 1;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static struct result result[SUBJECTS];
    if (argc != 2) {
        fputs("usage: process PROGRAM\n", stderr);
        return 2;
    }
    for (int round = 0; round < RUNS_MAX; round++) {
        for (int i = 0; i < SUBJECTS; i++) {
            char command[512];
            /* As many rounds as the subject has runs, spread evenly. */
            if (round * subjects[i].runs / RUNS_MAX == (round + 1) * subjects[i].runs / RUNS_MAX) {
                continue;
            }
            const char *const at = strstr(subjects[i].command, "%s");
            const int before =
                at == NULL ? (int)strlen(subjects[i].command) : (int)(at - subjects[i].command);
            (void)snprintf(command, sizeof command, "%.*s%s%s", before, subjects[i].command,
                           at == NULL ? "" : argv[1], at == NULL ? "" : at + 2);
            if (!run(&result[i], command) && round == 0) {
                fprintf(stderr, "bench: cannot run %s\n", command);
            }
        }
    }
    for (int i = 0; i < SUBJECTS; i++) {
        struct result *const r = &result[i];
        if (r->runs == 0) {
            continue;
        }
        qsort(r->wall_s, (size_t)r->runs, sizeof r->wall_s[0], by_value);
        const double median = r->wall_s[r->runs / 2];
        printf("{\"name\":\"%s\",\"median_ms\":%.4g,\"least_ms\":%.4g,\"peak_kib\":%ld,\"runs\":%d",
               subjects[i].name, 1e3 * median, 1e3 * r->wall_s[0], r->peak_kib, r->runs);
        if (subjects[i].unit != NULL) {
            printf(",\"%s_per_s\":%.0f", subjects[i].unit, subjects[i].work / median);
        }
        puts("}");
    }
    return 0;
}
