// SPDX-License-Identifier: MIT
#include "measure/cpu_step.h"

#include <stdlib.h>

#include "base/base.h"
#include "measure/cpu_experts.h"
#include "measure/timing.h"

/* One call of the team: a phase of a run of a part. */
struct call {
    size_t part;
    int64_t number; /* number of the call within the part */
};

struct roof_cpu_step {
    const struct roof_meter_step *step;
    struct roof_cpu_job *job; /* owned, as the arrays below: one of each part */
    struct call *call;
    struct roof_cpu_call *timed; /* of each call */
    int64_t calls;
    double clock_s; /* the time of reading the clock of a thread */
};

enum roof_status roof_cpu_operator_begin(struct roof_cpu_job *job, size_t threads,
                                         int64_t cache_bytes, struct roof_error *error)
{
    return roof_cpu_vector_able(&job->task)
               ? roof_cpu_vector_begin(job, threads, cache_bytes, error)
           : roof_cpu_experts_able(&job->features, &job->task)
               ? roof_cpu_experts_begin(job, cache_bytes, error)
               : roof_cpu_product_begin(job, cache_bytes, error);
}

void roof_cpu_step_free(struct roof_cpu_step *step)
{
    if (step == NULL) {
        return;
    }
    for (size_t i = 0; i < step->step->count && step->job != NULL; i++) {
        free(step->job[i].data);
    }
    free(step->job);
    free(step->call);
    free(step->timed);
    free(step);
}

/* Lists the calls of all runs in their order. */
static enum roof_status list_calls(struct roof_cpu_step *out, struct roof_error *error)
{
    const struct roof_meter_step *const step = out->step;
    int64_t *const next = calloc(step->count, sizeof *next);
    size_t calls = 0;
    for (size_t i = 0; i < step->runs; i++) {
        calls += (size_t)out->job[step->order[i]].phases;
    }
    out->call = calloc(calls + 1, sizeof *out->call);
    out->timed = calloc(calls + 1, sizeof *out->timed);
    if (next == NULL || out->call == NULL || out->timed == NULL) {
        free(next);
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < step->runs; i++) {
        const size_t part = step->order[i];
        for (int64_t phase = 0; phase < out->job[part].phases; phase++) {
            out->call[out->calls++] = (struct call){part, next[part]++};
        }
    }
    free(next);
    return ROOF_OK;
}

static enum roof_status fill(struct roof_cpu_step *out, const struct roof_cpu_features *features,
                             size_t threads, int64_t cache_bytes, struct roof_error *error)
{
    const struct roof_meter_step *const step = out->step;
    out->job = calloc(step->count, sizeof *out->job);
    if (out->job == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < step->count; i++) {
        out->job[i] = (struct roof_cpu_job){.task = step->part[i].task,
                                            .features = *features,
                                            .phases = 1,
                                            .copies = 1,
                                            .runs = step->part[i].runs};
        TRY(roof_cpu_operator_begin(&out->job[i], threads, cache_bytes, error));
    }
    return list_calls(out, error);
}

/* Returns the shortest time between two readings of the clock of a thread. */
static double clock_cost(void)
{
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        const double start = roof_thread_seconds();
        const double took = roof_thread_seconds() - start;
        least = took < least ? took : least;
    }
    return least;
}

enum roof_status roof_cpu_step_new(struct roof_cpu_step **out, const struct roof_meter_step *step,
                                   const struct roof_cpu_features *features, size_t threads,
                                   int64_t cache_bytes, struct roof_error *error)
{
    struct roof_cpu_step *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return roof_no_memory(error);
    }
    made->step = step;
    made->clock_s = clock_cost();
    const enum roof_status status = fill(made, features, threads, cache_bytes, error);
    if (status != ROOF_OK) {
        roof_cpu_step_free(made);
        return status;
    }
    *out = made;
    return ROOF_OK;
}

static void share_step(void *context, size_t thread, size_t threads, int64_t number)
{
    struct roof_cpu_step *const step = context;
    const struct call *const call = &step->call[number];
    struct roof_cpu_job *const job = &step->job[call->part];
    job->share(job, thread, threads, call->number);
}

double roof_cpu_step_run(double *each, double *waited, struct roof_cpu_step *step,
                         struct roof_cpu_team *team)
{
    double seconds = 0;
    double took_s = 0; /* of calls that are long compared with their barriers */
    double wall_s = 0;
    roof_cpu_team_time(team, share_step, step, step->timed, step->calls);
    for (size_t i = 0; i < step->step->count; i++) {
        each[i] = 0;
    }
    for (int64_t i = 0; i < step->calls; i++) {
        const struct roof_cpu_call *const timed = &step->timed[i];
        const size_t part = step->call[i].part;
        const double ran_s = timed->ran_s > step->clock_s ? timed->ran_s - step->clock_s : 0;
        const bool telling = ran_s > ROOF_CPU_RAN_S;
        each[part] += ran_s / (double)step->step->part[part].runs;
        seconds += ran_s;
        took_s += telling ? ran_s : 0;
        wall_s += telling ? timed->wall_s : 0;
    }
    *waited = wall_s > took_s ? 1 - took_s / wall_s : 0;
    return seconds;
}
