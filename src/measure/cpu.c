// SPDX-License-Identifier: MIT
/* The backend that measures the processor that the program runs on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "measure/cpu_energy.h"
#include "measure/cpu_experts.h"
#include "measure/cpu_step.h"
#include "measure/timing.h"

/* A sample takes about as long as this, in seconds. */
#define SAMPLE_S 2e-3

struct roof_bench {
    struct roof_cpu_topology topology;
    struct roof_cpu_features features;
    const char *no_amx; /* why it is not used though the processor has it; "": else */
    struct roof_cpu_team *team;
    size_t threads;
    struct roof_cpu_job job;
    int64_t calls;              /* of a sample; 0: not known yet */
    bool ran;                   /* they are timed by the clocks of the threads */
    double waited;              /* share of the last sample */
    int64_t next;               /* number of the next call */
    struct roof_cpu_step *step; /* owned; NULL: none is begun */
    struct roof_cpu_energy energy;
};

/* --- the device ---------------------------------------------------------------------------- */

static void cpu_close(struct roof_bench *bench)
{
    if (bench != NULL) {
        roof_cpu_step_free(bench->step);
        free(bench->job.data);
        roof_cpu_team_free(bench->team);
        roof_cpu_topology_free(&bench->topology);
        free(bench);
    }
}

/* Fills in an opened device, which cpu_close releases also where this fails. */
static enum roof_status fill(struct roof_bench *bench, const struct roof_meter_options *options,
                             struct roof_error *error)
{
    TRY(roof_cpu_topology_read(&bench->topology, "", error));
    const size_t most = bench->topology.cpu_count;
    bench->threads = options->threads == 0 ? bench->topology.core_count : (size_t)options->threads;
    if (bench->threads > most) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("threads") " %zu is more than the %zu processors that this "
                                                  "process may use",
                              bench->threads, most);
    }
    bench->features = roof_cpu_features();
    bench->no_amx = roof_cpu_amx_open(&bench->features);
    roof_cpu_energy_open(&bench->energy, "");
    return roof_cpu_team_new(&bench->team, &bench->topology, bench->threads, error);
}

static enum roof_status cpu_open(struct roof_bench **out, const struct roof_meter_options *options,
                                 struct roof_error *error)
{
    if (options->index != 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "only one CPU can be measured: " ROOF_KEY("device") " cpu");
    }
    struct roof_bench *const bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = fill(bench, options, error);
    if (status != ROOF_OK) {
        cpu_close(bench);
        return status;
    }
    *out = bench;
    return ROOF_OK;
}

/* Returns the bytes of the last caches that the threads have together. */
static int64_t last_cache(const struct roof_bench *bench)
{
    const struct roof_cpu_topology *const t = &bench->topology;
    return t->cache_count == 0 ? 0 : roof_cpu_cache_total(t, t->cache_count - 1, bench->threads);
}

static void cpu_describe(struct roof_meter_device *out, const struct roof_bench *bench)
{
    static const char *const units[ROOF_ISA_COUNT] = {"baseline", "AVX2", "AVX-512"};
    const struct roof_cpu_topology *const t = &bench->topology;
    *out = (struct roof_meter_device){.units = (double)bench->threads,
                                      .clock_hz = t->clock_hz,
                                      .memory_bytes = t->memory_bytes,
                                      .tdp_w = ROOF_UNKNOWN,
                                      .host = true};
    snprintf(out->name, sizeof out->name, "%.60s, %zu thread%s", *t->name == '\0' ? "CPU" : t->name,
             bench->threads, bench->threads == 1 ? "" : "s");
    snprintf(out->vendor, sizeof out->vendor, "%s", t->vendor);
    snprintf(out->architecture, sizeof out->architecture, "CPU (%s%s%s%s)",
             units[bench->features.isa], bench->features.vnni ? ", VNNI" : "",
             bench->features.bf16 ? ", BF16" : "", bench->features.amx ? ", AMX" : "");
    snprintf(out->no_amx, sizeof out->no_amx, "%s", bench->no_amx);
    for (size_t i = 0; i < t->cache_count; i++) {
        struct roof_meter_level *const level = &out->level[out->level_count++];
        snprintf(level->name, sizeof level->name, "L%d", t->cache[i].level);
        level->bytes = roof_cpu_cache_total(t, i, bench->threads);
    }
    snprintf(out->level[out->level_count++].name, sizeof out->level->name, "memory");
}

/* --- tasks --------------------------------------------------------------------------------- */

static void share_nothing(void *context, size_t thread, size_t threads, int64_t call)
{
    (void)context;
    (void)thread;
    (void)threads;
    (void)call;
}

static bool cpu_able(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_MULTIPLY ? roof_cpu_peak_able(&bench->features, task)
           : task->probe == ROOF_PROBE_OPERATOR
               ? roof_cpu_product_able(&bench->features, task) || roof_cpu_vector_able(task) ||
                     roof_cpu_experts_able(&bench->features, task)
               : task->probe != ROOF_PROBE_TO_DEVICE && task->probe != ROOF_PROBE_FROM_DEVICE;
}

static enum roof_status cpu_begin(double *amount, struct roof_bench *bench,
                                  const struct roof_meter_task *task, struct roof_error *error)
{
    struct roof_cpu_job *const job = &bench->job;
    *job = (struct roof_cpu_job){.task = *task,
                                 .features = bench->features,
                                 .phases = 1,
                                 .copies = 1,
                                 .data = job->data,
                                 .capacity = job->capacity};
    bench->calls = 0;
    bench->ran = false;
    switch (task->probe) {
    case ROOF_PROBE_READ:
    case ROOF_PROBE_COPY:
    case ROOF_PROBE_TRIAD:
        TRY(roof_cpu_stream_begin(job, bench->threads, error));
        break;
    case ROOF_PROBE_MULTIPLY:
        TRY(roof_cpu_peak_begin(job, bench->threads, error));
        break;
    case ROOF_PROBE_OPERATOR:
        TRY(roof_cpu_operator_begin(job, bench->threads, last_cache(bench), error));
        break;
    default:
        job->share = share_nothing;
        break;
    }
    *amount = job->amount;
    return ROOF_OK;
}

static enum roof_status cpu_sample(double *seconds, struct roof_bench *bench,
                                   struct roof_error *error)
{
    (void)error;
    const int64_t calls = bench->calls == 0 ? 1 : bench->calls;
    const int64_t phases = bench->job.phases;
    const double took = roof_cpu_team_run(bench->team, bench->job.share, &bench->job,
                                          bench->next * phases, calls * phases, bench->ran);
    const double wall = roof_cpu_team_wall(bench->team);
    bench->waited = bench->ran && wall > took ? 1 - took / wall : 0;
    bench->next += calls;
    *seconds = took / (double)calls;
    /* Samples reach their length while a task warms up. */
    const double wanted = SAMPLE_S / (*seconds > 1e-8 ? *seconds : 1e-8);
    bench->calls = wanted < 1 ? 1 : (int64_t)wanted;
    bench->ran = *seconds > ROOF_CPU_RAN_S * (double)phases;
    return ROOF_OK;
}

static double cpu_waited(const struct roof_bench *bench)
{
    return bench->waited;
}

/* The memory stays for the next task, because allocating it takes long. */
static void cpu_end(struct roof_bench *bench)
{
    (void)bench;
}

/* --- steps --------------------------------------------------------------------------------- */

static double cpu_room(const struct roof_bench *bench)
{
    const double available = roof_cpu_memory_free("");
    return isnan(available) ? bench->topology.memory_bytes : available;
}

static void cpu_step_end(struct roof_bench *bench)
{
    roof_cpu_step_free(bench->step);
    bench->step = NULL;
}

static enum roof_status cpu_step_begin(struct roof_bench *bench, const struct roof_meter_step *step,
                                       struct roof_error *error)
{
    return roof_cpu_step_new(&bench->step, step, &bench->features, bench->threads,
                             last_cache(bench), error);
}

static enum roof_status cpu_step_sample(double *seconds, double *each, struct roof_bench *bench,
                                        struct roof_error *error)
{
    (void)error;
    *seconds = roof_cpu_step_run(each, &bench->waited, bench->step, bench->team);
    return ROOF_OK;
}

/* Returns the clock of the processor, measured by dependent additions, which take a cycle each. */
static double clock_hz(void)
{
    const int64_t rounds = 200000;
    uint64_t value = 1;
    const double start = roof_thread_seconds();
    for (int64_t i = 0; i < rounds; i++) {
        __asm__ volatile("" : "+r"(value));
        value += 1;
        __asm__ volatile("" : "+r"(value));
    }
    const double took = roof_thread_seconds() - start;
    roof_cpu_keep(value);
    return (double)rounds / took;
}

static void cpu_clocks(struct roof_meter_clocks *out, struct roof_bench *bench)
{
    (void)bench;
    *out = (struct roof_meter_clocks){
        .sm_hz = clock_hz(), .power_w = ROOF_UNKNOWN, .temperature_c = ROOF_UNKNOWN};
}

static double cpu_energy(struct roof_bench *bench)
{
    return roof_cpu_energy_read(&bench->energy);
}

const struct roof_meter roof_meter_cpu = {.name = "cpu",
                                          .formats = "q4_0,q4_k,q6_k,q8_0,fp16,fp32",
                                          .open = cpu_open,
                                          .describe = cpu_describe,
                                          .able = cpu_able,
                                          .begin = cpu_begin,
                                          .sample = cpu_sample,
                                          .waited = cpu_waited,
                                          .end = cpu_end,
                                          .room = cpu_room,
                                          .step_begin = cpu_step_begin,
                                          .step_sample = cpu_step_sample,
                                          .step_end = cpu_step_end,
                                          .clocks = cpu_clocks,
                                          .energy = cpu_energy,
                                          .close = cpu_close};
