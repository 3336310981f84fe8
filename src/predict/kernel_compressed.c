// SPDX-License-Identifier: MIT
/* Kernels of attention to compressed keys and to the last tokens (DeepSeek-V4). */
#include "predict/kernel_task.h"

enum {
#define ROOF_COMPRESSED_PARAMETER(id, key, least, most, start, neutral, meaning) C_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_GROUPS_PARAMETER(id, key, least, most, start, neutral, meaning) G_##id,
#include "predict/kernel_parameters.h"
};

/* Heads of a query in a tile, even if it has fewer, and the keys that a tile takes at a time. */
#define TILE_HEADS 64.
#define TILE_KEYS 64.

/* Sequences whose keys are gathered together: PREFILL_CHUNK_SIZE of vLLM (vllm-project/vllm,
 * vllm/models/deepseek_v4). */
#define GROUP_SEQUENCES 4.

/* Returns the tiles of all queries for each SM. */
static double load_of(const struct roof_kernel_task *t)
{
    const struct roof_shape *const s = &t->workload->shape;
    return (double)s->batch * (double)s->query_len * ceil((double)s->heads / TILE_HEADS) / t->sms;
}

/* Returns the time in which an SM multiplies a tile of heads with some keys at a share of the peak.
 */
static double keys_s(const struct roof_kernel_task *t, double keys, double peak)
{
    return 4 * TILE_HEADS * (double)t->workload->shape.head_dim * keys * t->sms /
           roof_share_of_peak(t, peak);
}

/* The tokens and the compressed keys that the last query sees are in different caches, each of
 * which is read in blocks of keys. SMs without a tile take some of the blocks, if that is faster.
 */
void roof_expect_compressed(struct roof_expected *out, const struct roof_kernel_task *t,
                            const double *p)
{
    const struct roof_shape *const s = &t->workload->shape;
    const double length = (double)s->kv_len;
    const double near = s->window > 0 ? fmin((double)s->window, length) : length;
    const double all = s->compression > 0 ? floor(length / (double)s->compression) : 0;
    const double far = s->selected > 0 ? fmin((double)s->selected, all) : all;
    const double blocks = ceil(near / TILE_KEYS) + ceil(far / TILE_KEYS);
    const double load = load_of(t);
    const double parts = roof_larger(1, floor(1 / load));
    const double alone = keys_s(t, TILE_KEYS * blocks, p[C_PEAK]);
    const double split =
        keys_s(t, TILE_KEYS * ceil(blocks / parts), p[C_PEAK]) + p[C_COMBINE] / t->clock;
    out->launch_s = p[C_LAUNCH] / t->clock;
    out->time_s = ceil(load) * (p[C_BLOCK] / t->clock + fmin(alone, split));
    out->limit = load < 1 ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_COMPUTE;
}

/* The keys of a few sequences of a prompt are gathered and converted, then these sequences attend
 * to them; the next few sequences follow. A query computes half a block of keys in vain. */
void roof_expect_compressed_prefill(struct roof_expected *out, const struct roof_kernel_task *t,
                                    const double *p)
{
    const struct roof_shape *const s = &t->workload->shape;
    const double queries = (double)s->batch * (double)s->query_len;
    const double pairs = t->work->flops / (4 * (double)s->heads * (double)s->head_dim);
    const double keys = pairs / queries + TILE_KEYS / 2;
    const double groups = ceil((double)s->batch / GROUP_SEQUENCES) * p[G_GROUP] / t->clock;
    const double tiles = load_of(t) * (p[G_BLOCK] / t->clock + keys_s(t, keys, p[G_PEAK]));
    out->launch_s = p[G_LAUNCH] / t->clock;
    out->time_s = groups + tiles;
    out->limit = groups > tiles ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_COMPUTE;
}
