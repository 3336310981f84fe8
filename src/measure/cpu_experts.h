// SPDX-License-Identifier: MIT
/* The routed experts of a mixture, as engines on CPUs run them: the inputs of an expert are
 * multiplied one by one, with the kernels for one input. */
#ifndef ROOF_MEASURE_CPU_EXPERTS_H
#define ROOF_MEASURE_CPU_EXPERTS_H

#include "measure/cpu_job.h"

/* The memory of a job. Its data has copies of the experts that some token chose: gate, up and down,
 * or those of them that the operator multiplies by. Only chosen experts are stored. */
struct roof_cpu_experts {
    int64_t chosen; /* experts that some token chose */
    int64_t routed; /* pairs of a token and one of its experts; those of a token are consecutive */
    int64_t in_bytes;     /* of gate, and of up */
    int64_t expert_bytes; /* of all matrices of an expert */
    int64_t *first; /* index of the first pair of each chosen expert; the last item is `routed` */
    int64_t *pair;  /* by expert */
    float *inputs;  /* tokens x hidden */
    unsigned char *converted;
    float *gate; /* routed x intermediate */
    float *up;
    unsigned char *middle; /* gate, converted */
    float *down;           /* routed x hidden */
    float *out;            /* tokens x hidden */
};

bool roof_cpu_experts_able(const struct roof_cpu_features *features,
                           const struct roof_meter_task *task);

enum roof_status roof_cpu_experts_begin(struct roof_cpu_job *job, int64_t cache_bytes,
                                        struct roof_error *error);

/* Finds the parts of the memory of a job that was begun. */
void roof_cpu_experts_find(struct roof_cpu_experts *out, const struct roof_cpu_job *job);

#endif
