// SPDX-License-Identifier: MIT
/* The formula for kernels with few measured rows, and for devices without tiles. */
#include "predict/kernel_task.h"

enum {
#define ROOF_PLAIN_PARAMETER(id, key, least, most, start, neutral, meaning) S_##id,
#include "predict/kernel_parameters.h"
};

/* Returns the rows that share a weight or a key once it is read. */
static double rows_of(const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    return (double)(s->m > 0 ? s->m : s->query_len > 0 ? s->query_len : 1);
}

/*
 * A plain kernel reads and writes its bytes at a share of the bandwidth, or at the rate of the last
 * cache, and multiplies at a share of the peak; a share of the shorter time is added. The
 * conversion of weights takes as long as some further rows.
 */
void roof_expect_plain(struct roof_expected *out, const struct roof_kernel_task *t, const double *p)
{
    const double memory =
        roof_stream_s(out, t, roof_work_bytes(t->work), p[S_CACHE_CAPACITY] * t->last_cache,
                      p[S_DRAM], p[S_CACHE_RATE]);
    const double flops = t->work->flops * (1 + p[S_NARROW] / rows_of(t->workload));
    const double compute = flops > 0 ? flops / roof_share_of_peak(t, p[S_PEAK]) : 0;
    out->launch_s = roof_expert_matrices(t->workload->op) / 3 * p[S_LAUNCH] / t->clock;
    out->time_s = roof_overlap(memory, compute, p[S_OVERLAP]);
    out->limit = compute > memory ? ROOF_KERNEL_LIMIT_COMPUTE : ROOF_KERNEL_LIMIT_MEMORY;
}
