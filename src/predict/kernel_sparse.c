// SPDX-License-Identifier: MIT
/* Kernels of sparse attention with an indexer: the scores of all keys, the choice of keys, and
 * latent attention to these. */
#include "predict/kernel_task.h"

enum {
#define ROOF_INDEX_PARAMETER(id, key, least, most, start, neutral, meaning) I_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_TOP_K_PARAMETER(id, key, least, most, start, neutral, meaning) K_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_SPARSE_PARAMETER(id, key, least, most, start, neutral, meaning) S_##id,
#include "predict/kernel_parameters.h"
};

/* Rows of a tile. For a prompt, a tile of index scores has twice as many. */
#define TILE_ROWS 64.
/* Queries that choose their keys in an SM at the same time. */
#define CHOICES_OF_SM 2.

/* The index heads of queries fill tiles of rows, each of which goes through all keys of its
 * queries. A tile of a prompt does so alone; for a decode step, the keys are split over the SMs. */
void roof_expect_index_scores(struct roof_expected *out, const struct roof_kernel_task *t,
                              const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double batch = (double)s->batch;
    const double rows = (double)s->query_len * (double)s->heads;
    const double tiles = batch * roof_larger(1, rows / TILE_ROWS);
    const double products = 2 * TILE_ROWS * (double)s->head_dim * (double)s->kv_len;
    const double peak = roof_share_of_peak(t, p[I_PEAK]);
    const double ends = p[I_BLOCK] / t->clock;
    const double all = roof_larger(t->work->flops, batch * products) / peak + ends * tiles / t->sms;
    const double tile = products * t->sms / peak + ends;
    const double lone = s->query_len >= ROOF_PROMPT_QUERIES ? 2 * tile : 0;
    const double bytes = roof_work_bytes(t->work);
    const double hit = roof_held(out, w, bytes, t->l2);
    const double memory = bytes * (1 - ROOF_L2_SAVES * hit) / (p[I_DRAM] * t->bandwidth);
    out->launch_s = p[I_LAUNCH] / t->clock;
    out->time_s = roof_overlap(roof_overlap(all, lone, p[I_OVERLAP]), memory, p[I_OVERLAP]);
    out->limit = lone > all && lone > memory ? ROOF_KERNEL_LIMIT_LATENCY
                 : memory > all              ? ROOF_KERNEL_LIMIT_MEMORY
                                             : ROOF_KERNEL_LIMIT_COMPUTE;
}

/* A thread block passes over the scores of a query several times. The queries are the last tokens;
 * those that have no more keys than are chosen need no choice. */
void roof_expect_top_k(struct roof_expected *out, const struct roof_kernel_task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double queries = (double)s->query_len;
    const double keys = (double)s->kv_len;
    const double choosing = fmin(queries, roof_larger(0, keys - (double)s->selected));
    const double scores = choosing * (keys - (choosing - 1) / 2);
    const double clocks =
        p[K_ROW] * (choosing + (queries - choosing) * p[K_EASY]) + p[K_KEY] * scores;
    const double all = (double)s->batch * clocks / (CHOICES_OF_SM * t->sms * t->clock);
    const double lone =
        (choosing > 0 ? p[K_ROW] + p[K_KEY] * keys : p[K_ROW] * p[K_EASY]) / t->clock;
    const double bytes =
        (double)s->batch * scores * roof_precision_bits(w->formats.activations) / 8;
    const double hit = roof_held(out, w, bytes, p[K_L2_CAPACITY] * t->l2);
    const double memory = bytes * (1 - hit) / (p[K_DRAM] * t->bandwidth);
    out->launch_s = p[K_LAUNCH] / t->clock;
    out->time_s = roof_overlap(all, lone, p[K_OVERLAP]) + memory;
    out->limit =
        memory > all && memory > lone ? ROOF_KERNEL_LIMIT_MEMORY : ROOF_KERNEL_LIMIT_LATENCY;
}

/* The heads of a query fill tiles of rows, each of which walks over as many keys as are chosen at
 * most, even if there are fewer. The tiles are of equal size, so a last wave may leave SMs idle. */
void roof_expect_sparse_mla(struct roof_expected *out, const struct roof_kernel_task *t,
                            const double *p)
{
    const struct roof_shape *const s = &t->workload->shape;
    const double rows = roof_larger(TILE_ROWS, roof_larger(p[S_ROWS], (double)s->heads));
    const double tiles = (double)s->batch * (double)s->query_len * rows / TILE_ROWS;
    const double key = (double)(2 * s->kv_lora_rank + s->qk_rope_head_dim);
    const double tile =
        2 * TILE_ROWS * (double)s->selected * key * t->sms / roof_share_of_peak(t, p[S_PEAK]);
    const double load = tiles / t->sms;
    const double waves = roof_larger(1, load + p[S_WAVE] * (ceil(load) - load));
    out->launch_s = p[S_LAUNCH] / t->clock;
    out->time_s = waves * tile;
    out->limit = load < 1 ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_COMPUTE;
}
