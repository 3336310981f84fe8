// SPDX-License-Identifier: MIT
/* Kernels that stream vectors: norms, activations, additions, rotary embeddings, quantisations. */
#include "predict/kernel_task.h"

enum {
#define ROOF_VECTOR_PARAMETER(id, key, least, most, start, neutral, meaning) V_##id,
#include "predict/kernel_parameters.h"
};

void roof_expect_vector(struct roof_expected *out, const struct roof_kernel_task *t,
                        const double *p)
{
    const double memory = roof_stream_s(out, t, p[V_L2_CAPACITY] * t->l2, p[V_DRAM], p[V_L2_RATE]);
    const struct roof_shape *const s = &t->workload->shape;
    const enum roof_operator op = t->workload->op;
    const double queries = (double)s->batch * (double)s->query_len;
    const double count = op == ROOF_OPERATOR_SOFTMAX ? (double)s->heads * queries
                         : s->tokens > 0             ? (double)s->tokens
                                                     : queries;
    /* A row of a norm is a block of as many threads as it has elements, up to ROOF_ROW_THREADS, so
     * more short rows run at once. */
    const double share =
        t->kernel == ROOF_KERNEL_NORM ? fmin(1, (double)s->hidden / ROOF_ROW_THREADS) : 1;
    const double rows = p[V_ROW] * count * share / (t->sms * t->clock);
    /* The append to the cache is launched, and was measured, with attention. */
    out->launch_s = t->workload->op == ROOF_OPERATOR_KV_APPEND ? 0 : p[V_LAUNCH] / t->clock;
    out->time_s = memory + rows;
    out->limit = rows > memory ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_MEMORY;
}
