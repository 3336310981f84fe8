// SPDX-License-Identifier: MIT
/* The operators of a model's step, run by a team of threads one after another. */
#ifndef ROOF_MEASURE_CPU_STEP_H
#define ROOF_MEASURE_CPU_STEP_H

#include "measure/cpu_job.h"

/* Calls from this length on are timed by the clocks of the threads. Shorter ones are timed by the
 * wall clock: other processes disturb few of their samples, which medians ignore. */
#define ROOF_CPU_RAN_S 5e-5

/* Prepares the operator of a job, whose caller owns its data. */
enum roof_status roof_cpu_operator_begin(struct roof_cpu_job *job, size_t threads,
                                         int64_t cache_bytes, struct roof_error *error);

struct roof_cpu_step;

/* Prepares a step, which must outlive *out. The caller owns *out: roof_cpu_step_free. */
enum roof_status roof_cpu_step_new(struct roof_cpu_step **out, const struct roof_meter_step *step,
                                   const struct roof_cpu_features *features, size_t threads,
                                   int64_t cache_bytes, struct roof_error *error);
void roof_cpu_step_free(struct roof_cpu_step *step);

/* Runs the step once. Returns its seconds; each[i] becomes the seconds of one run of part i, and
 * *waited the share of the time in which threads waited for processors. */
double roof_cpu_step_run(double *each, double *waited, struct roof_cpu_step *step,
                         struct roof_cpu_team *team);

#endif
