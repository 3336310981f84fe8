// SPDX-License-Identifier: MIT
/* Kernels that stream vectors: norms, activations, additions, rotary embeddings, quantisations. */
#include "predict/kernel_task.h"

enum {
#define ROOF_VECTOR_PARAMETER(id, key, least, most, start, neutral, meaning) V_##id,
#include "predict/kernel_parameters.h"
};

/* Returns the rows of a kernel: tokens, heads of a softmax or a state, or the channels of the
 * sequences through which a convolution passes. If streams are combined, each token has an SM of
 * its own as long as there are enough SMs, and all SMs read the same weights. So the time of few
 * tokens grows as if every SM had all of them. With more tokens than SMs, the tokens of an SM share
 * what it has read. */
static double rows_of(const struct roof_kernel_task *t)
{
    const struct roof_shape *const s = &t->workload->shape;
    const double queries = (double)s->batch * (double)s->query_len;
    const bool of_heads = t->workload->op == ROOF_OPERATOR_SOFTMAX ||
                          (t->kernel == ROOF_KERNEL_STATE && s->heads > 0);
    return of_heads                                  ? (double)s->heads * queries
           : t->kernel == ROOF_KERNEL_CONV_PREFILL   ? (double)s->batch * (double)s->hidden
           : t->kernel == ROOF_KERNEL_HYPER_COLLAPSE ? fmin((double)s->tokens, t->sms) * t->sms
           : s->tokens > 0                           ? (double)s->tokens
                                                     : queries;
}

/* Returns the bytes of a kernel. If a step has several tokens of a sequence, of which not all may
 * be accepted, the states after each of them are written; the operator counts a state that is read
 * and written once. */
static double bytes_of(const struct roof_kernel_task *t)
{
    const double states = t->kernel == ROOF_KERNEL_STATE ? t->work->bytes[ROOF_ROLE_KV] : 0;
    return roof_work_bytes(t->work) + states / 2 * ((double)t->workload->shape.query_len - 1);
}

void roof_expect_vector(struct roof_expected *out, const struct roof_kernel_task *t,
                        const double *p)
{
    const double memory =
        roof_stream_s(out, t, bytes_of(t), p[V_L2_CAPACITY] * t->l2, p[V_DRAM], p[V_L2_RATE]);
    const struct roof_shape *const s = &t->workload->shape;
    const double count = rows_of(t);
    /* A thread of a norm has a few elements of a row, so more short rows run at once. */
    const double share = t->kernel == ROOF_KERNEL_NORM ? (double)s->hidden / ROOF_ROW_ELEMENTS : 1;
    const double rows = p[V_ROW] * count * share / (t->sms * t->clock);
    /* The append to the cache is launched, and was measured, with attention. */
    out->launch_s = t->workload->op == ROOF_OPERATOR_KV_APPEND ? 0 : p[V_LAUNCH] / t->clock;
    out->time_s = memory + rows;
    out->limit = rows > memory ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_MEMORY;
}
