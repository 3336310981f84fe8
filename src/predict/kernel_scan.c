// SPDX-License-Identifier: MIT
/* Kernels that take prompts through the states of a layer, in chunks. */
#include "predict/kernel_task.h"

enum {
#define ROOF_SCAN_PARAMETER(id, key, least, most, start, neutral, meaning) S_##id,
#include "predict/kernel_parameters.h"
};

/* Tokens of a chunk in most libraries, and bytes of an element of the state that is kept for it. */
#define CHUNK_TOKENS 64.
#define CHUNK_STATE_BYTES 2.

/* Returns the elements of the states of all sequences. */
static double elements_of(const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    const int64_t width = w->op == ROOF_OPERATOR_SSD ? s->state_size : s->v_head_dim;
    return (double)s->batch * (double)s->heads * (double)s->head_dim * (double)width;
}

/*
 * The chain of kernels reads its inputs and states once and writes the results. Between its
 * kernels it moves intermediate results of the tokens and a state for each chunk, which stay in the
 * L2 if they fit, even if the inputs are cold. Its SMs move and compute a number of bytes per
 * clock, and the chunks of a sequence follow one another. A chunk with fewer tokens is computed
 * whole. A chunk of 128 tokens counts as two, as no operator was measured with two sizes.
 */
void roof_expect_scan(struct roof_expected *out, const struct roof_kernel_task *t, const double *p)
{
    const struct roof_shape *const s = &t->workload->shape;
    const double *const bytes = t->work->bytes;
    const double tokens = bytes[ROOF_ROLE_ACTIVATIONS] + bytes[ROOF_ROLE_OUT];
    const double states = bytes[ROOF_ROLE_KV];
    const double length = (double)s->scan_chunk;
    const double chunks = ceil((double)s->query_len / length) * length / CHUNK_TOKENS;
    const double between = p[S_TOKENS] * tokens + p[S_STATES] * states +
                           p[S_CHUNKS] * chunks * CHUNK_STATE_BYTES * elements_of(t->workload);
    const double moved = tokens + states + between;
    const double room = p[S_L2_CAPACITY] * t->l2;
    const double kept = roof_l2_hit(moved, room);
    const double held = roof_held(out, t->workload, moved, room);
    const double dram = ((tokens + states) * (1 - held) + between * (1 - kept)) / t->bandwidth;
    const double in_sms = moved / (p[S_RATE] * t->sms * t->clock);
    const double steps = chunks * p[S_STEP] / t->clock;
    const double moving = roof_larger(dram, in_sms);
    out->launch_s = p[S_LAUNCH] / t->clock;
    out->time_s = roof_overlap(moving, steps, p[S_OVERLAP]);
    out->limit = steps > moving   ? ROOF_KERNEL_LIMIT_LATENCY
                 : in_sms >= dram ? ROOF_KERNEL_LIMIT_OPERANDS
                                  : ROOF_KERNEL_LIMIT_MEMORY;
}
