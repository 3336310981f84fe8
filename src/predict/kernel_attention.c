// SPDX-License-Identifier: MIT
/* Kernels of fused attention, over keys and values and over the latent of MLA. */
#include "predict/kernel_task.h"

enum {
#define ROOF_DECODE_PARAMETER(id, key, least, most, start, neutral, meaning) D_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_PREFILL_PARAMETER(id, key, least, most, start, neutral, meaning) F_##id,
#include "predict/kernel_parameters.h"
};

/* Returns how many of the keys of a context are in the window. */
static double within_window(const struct roof_shape *s, double keys)
{
    return s->window > 0 && (double)s->window < keys ? (double)s->window : keys;
}

static double window_span(const struct roof_shape *s)
{
    return within_window(s, (double)s->kv_len);
}

/* Tells whether each query head has a tile of its own in a kernel for decode. */
static bool has_lone_heads(const struct roof_shape *s, const double *p)
{
    return p[D_ALONE] > 1 && (s->window > 0 || s->heads == s->kv_heads);
}

/* Reading the cache, the products and the limit of a lone sequence overlap; the ends do not. */
static void finish_decode(struct roof_expected *out, double memory, double compute, double lone,
                          double shown, double ends)
{
    const double stream = roof_overlap(roof_overlap(memory, compute, shown), lone, shown);
    out->time_s = stream + ends;
    out->limit = ends > stream || (lone > memory && lone > compute) ? ROOF_KERNEL_LIMIT_LATENCY
                 : compute > memory                                 ? ROOF_KERNEL_LIMIT_COMPUTE
                                                                    : ROOF_KERNEL_LIMIT_MEMORY;
}

/*
 * Decode has one query per sequence. The cache is read once, in splits of its length whose results
 * are joined (the logarithm). The heads of a KV head fill rows of one matrix tile, and a sequence's
 * KV head reaches at most the bandwidth of a few SMs. FlashAttention 2 does neither with a window
 * or if each head has its own KV head: a head then has a tile of its own, which walks over all
 * tokens (vllm-project/flash-attention, csrc/flash_attn/flash_api.cpp, seqlenq_ngroups_swapped).
 */
void roof_expect_decode(struct roof_expected *out, const struct roof_kernel_task *t,
                        const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double batch = (double)s->batch;
    const double kv_heads = (double)s->kv_heads;
    const double dim = (double)s->head_dim;
    const double span = window_span(s);
    const double tokens = span + p[D_WINDOW] * ((double)s->kv_len - span);
    const double kv_element = roof_precision_bits(w->formats.kv) / 8;
    const double kv = 2 * batch * kv_heads * dim * kv_element * tokens;
    const double queries =
        batch * (double)s->heads * dim *
        (roof_precision_bits(w->formats.activations) + roof_precision_bits(w->formats.out)) / 8;
    const bool cold = isinf(roof_working_set(w, kv));
    const double hit = roof_held(out, w, kv, p[D_L2_CAPACITY] * t->l2);
    const double dram = p[D_DRAM] * t->bandwidth;
    const double l2 = p[D_L2_RATE] * t->bandwidth;
    const double memory =
        (kv * (1 - hit) + (cold ? queries : 0)) / dram + (kv * hit + (cold ? 0 : queries)) / l2;
    const bool alone = has_lone_heads(s, p);
    const double score = 4 * dim * (tokens + p[D_PAD_TOKENS]) / roof_share_of_peak(t, p[D_PEAK]);
    const double rows =
        alone ? (double)s->heads * p[D_ALONE] : (double)s->heads + kv_heads * p[D_PAD_HEADS];
    const double compute = batch * rows * score;
    const double stream = 2 * tokens * dim * kv_element * t->sms / (p[D_STREAM] * t->bandwidth);
    const double lone = alone ? roof_larger(stream, p[D_ALONE] * score * t->sms) : stream;
    const double blocks = batch * (alone ? (double)s->heads : kv_heads);
    const double ends =
        (p[D_DOUBLING] * log2(1 + tokens / p[D_CHUNK]) + p[D_BLOCK] * blocks / t->sms) / t->clock;
    out->launch_s = p[D_LAUNCH] / t->clock;
    finish_decode(out, memory, compute, lone, p[D_OVERLAP], ends);
}

/* Returns the time of a score on all SMs: its products and its exponential. */
static double score_time(const struct roof_kernel_task *t, const double *p, double dim)
{
    return 4 * dim / (p[F_PEAK] * t->peak) + p[F_EXP] / (t->clock * t->sms);
}

/* Returns that time for a head dimension. Kernels are built for 128; other sizes have their own
 * rates, but wider heads never take less time. Where the device limits its matrix units, the rest
 * of a score ends while they multiply. */
static double scaled_score(const struct roof_kernel_task *t, const double *p, double dim)
{
    const double own = score_time(t, p, dim);
    const double usual = score_time(t, p, 128);
    const double scaled = dim > 128   ? roof_larger(usual, own / p[F_WIDE])
                          : dim < 128 ? fmin(usual, own / p[F_NARROW])
                                      : usual;
    return p[F_PEAK] > 1 ? roof_larger(scaled, 4 * dim / t->peak) : scaled;
}

/*
 * Prefill works on tiles of 128 queries: the scores that count and the masked ones of a tile are
 * each multiplied and put through an exponential; all SMs wait for the last tile; Q, K, V and the
 * result cross memory.
 */
void roof_expect_prefill(struct roof_expected *out, const struct roof_kernel_task *t,
                         const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double rows = 128;
    const double groups = (double)s->batch * (double)s->heads;
    const double dim = (double)s->head_dim;
    const double queries = (double)s->query_len;
    const double keys = (double)s->kv_len;
    const double pairs = t->work->flops / (4 * groups * dim);
    const double all =
        s->causal > 0 ? queries * keys - queries * (queries - 1) / 2 : queries * keys;
    const double scores = pairs + queries * p[F_TILE] + p[F_WINDOW] * (all - pairs);
    const double score = scaled_score(t, p, dim);
    const double tile = t->sms * rows * (window_span(s) + p[F_TILE]) * score;
    const double compute =
        groups * scores * score + p[F_WAVE] * tile * queries / (queries + rows - 1);
    const double kv_heads = (double)s->batch * (double)s->kv_heads;
    const double element = roof_precision_bits(w->formats.activations) / 8;
    const double cache = 2 * kv_heads * dim * keys * roof_precision_bits(w->formats.kv) / 8;
    const double bytes =
        groups * dim * queries * (element + roof_precision_bits(w->formats.out) / 8) +
        2 * kv_heads * dim * queries * element + cache;
    const double hit = roof_held(out, w, bytes, p[F_L2_CAPACITY] * t->l2);
    const double memory = p[F_PASSES] * bytes * (1 - ROOF_L2_SAVES * hit) / t->bandwidth;
    const double blocks = groups * (queries + rows - 1) / rows;
    const double ends = p[F_BLOCK] * blocks / (t->clock * t->sms);
    out->launch_s = p[F_LAUNCH] / t->clock;
    out->time_s = compute + memory + ends;
    out->limit = ends > compute + memory ? ROOF_KERNEL_LIMIT_LATENCY
                 : memory > compute      ? ROOF_KERNEL_LIMIT_MEMORY
                                         : ROOF_KERNEL_LIMIT_COMPUTE;
}

/* The rows of a tile of the kernel for prompts. */
#define DECODE_TILE 64

/*
 * FlashAttention 2 has one tile of these rows for each query head of a sequence that decodes beside
 * prompts, with one row in use, and each of them reads the keys and values by itself. The heads of
 * a KV head find these in the L2, or share them if they run at the same time.
 */
void roof_expect_decode_in_tiles(struct roof_expected *out, const struct roof_kernel_task *t,
                                 const double *decode, const double *prefill)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double batch = (double)s->batch;
    const double heads = batch * (double)s->heads;
    const double group = (double)s->heads / (double)s->kv_heads;
    const double dim = (double)s->head_dim;
    const double span = window_span(s);
    const double tokens = span + decode[D_WINDOW] * ((double)s->kv_len - span);
    const double kv =
        2 * batch * (double)s->kv_heads * dim * roof_precision_bits(w->formats.kv) / 8 * tokens;
    const double together = fmin(group, roof_larger(1, t->sms / batch));
    const double lost = 1 - roof_l2_hit(kv / (double)s->kv_heads, t->l2);
    const double memory =
        kv * (1 + lost * (group / together - 1)) / (decode[D_DRAM] * t->bandwidth);
    const double tile = DECODE_TILE * tokens * scaled_score(t, prefill, dim);
    const double compute = (heads + prefill[F_WAVE] * t->sms) * tile;
    const double ends = prefill[F_BLOCK] * heads / (t->clock * t->sms);
    out->launch_s = decode[D_LAUNCH] / t->clock;
    out->time_s = roof_overlap(compute, memory, decode[D_OVERLAP]) + ends;
    out->limit = compute > memory ? ROOF_KERNEL_LIMIT_COMPUTE : ROOF_KERNEL_LIMIT_MEMORY;
}

/* A thread block walks over all keys of its sequence. The longest one begins about when the last
 * block of equal contexts would, so the kernel ends later by the keys that it has more. */
static double longest_keys(const struct roof_kernel_task *t, double longest)
{
    const struct roof_shape *const s = &t->workload->shape;
    return within_window(s, longest) - window_span(s);
}

/* The longest block is alone in the end, and reads its keys at the rate of a lone block. A kernel
 * that has too few blocks for all SMs cuts the caches into parts of about one length
 * (vllm-project/flash-attention, csrc/flash_attn/flash_api.cpp, num_splits_heuristic: less than 0.8
 * of two blocks for each SM). It does not do so if each query head has a tile of its own. */
double roof_wait_in_decode(const struct roof_kernel_task *t, const double *decode, double longest)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const bool alone = has_lone_heads(s, decode);
    if (!alone && (double)s->batch * (double)s->kv_heads < 0.8 * 2 * t->sms) {
        return 0;
    }
    const double key = 2 * (double)s->head_dim * roof_precision_bits(w->formats.kv) / 8;
    const double read = key * t->sms / (ROOF_LONE_BLOCK * t->bandwidth);
    const double score = 4 * (double)s->head_dim / roof_share_of_peak(t, decode[D_PEAK]);
    return longest_keys(t, longest) *
           (alone ? roof_larger(read, decode[D_ALONE] * score * t->sms) : read);
}

double roof_wait_in_tiles(const struct roof_kernel_task *t, const double *prefill, double longest)
{
    const double score = scaled_score(t, prefill, (double)t->workload->shape.head_dim);
    return longest_keys(t, longest) * DECODE_TILE * score * t->sms;
}

/* --- latent attention ---------------------------------------------------------------------- */

enum {
#define ROOF_MLA_DECODE_PARAMETER(id, key, least, most, start, neutral, meaning) L_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_MLA_PREFILL_PARAMETER(id, key, least, most, start, neutral, meaning) E_##id,
#include "predict/kernel_parameters.h"
};

/* Returns the rows or columns of a matrix instruction that heads take. With few heads an
 * instruction of 128 rows has tokens in its rows, and the heads are its 16 columns. */
static double matrix_rows(double heads, double rows)
{
    return rows > 127 && heads <= 16 ? 16 : rows;
}

/*
 * MLA decodes like attention, with one latent for all heads: they fill matrix tiles of as many rows
 * as the matrix instruction has, each of which reads the cache, the further ones mostly out of the
 * L2. Some kernels do not split a cache: a few SMs walk over one sequence, and the others wait for
 * their turn.
 */
void roof_expect_mla_decode(struct roof_expected *out, const struct roof_kernel_task *t,
                            const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    /* Each query has its own chosen keys, as if it were a sequence. */
    const bool sparse = w->op == ROOF_OPERATOR_SPARSE_MLA;
    const double queries_of_one = sparse ? 1 : (double)s->query_len;
    const double batch = (double)s->batch * (sparse ? (double)s->query_len : 1);
    const double tokens = sparse ? fmin((double)s->kv_len, (double)s->selected) : (double)s->kv_len;
    const double key = (double)(s->kv_lora_rank + s->qk_rope_head_dim);
    const double kv = batch * tokens * key * roof_precision_bits(w->formats.kv) / 8;
    const double queries = t->work->bytes[ROOF_ROLE_ACTIVATIONS] + t->work->bytes[ROOF_ROLE_OUT];
    const double heads = (double)s->heads * queries_of_one;
    const double blocks = roof_larger(1, heads / p[L_ROWS]);
    const double rows = matrix_rows(heads, p[L_ROWS]);
    const double kept = roof_held(out, w, kv + queries, p[L_QUERY_CAPACITY] * t->l2);
    const double hit = roof_held(out, w, kv, p[L_L2_CAPACITY] * t->l2);
    const double dram = p[L_DRAM] * t->bandwidth;
    const double l2 = p[L_L2_RATE] * t->bandwidth;
    const double again = (blocks - 1) * p[L_REREAD];
    const double memory = kv * (1 - hit) * (1 + again) / dram +
                          (kv * hit * blocks + kv * (1 - hit) * (blocks - 1 - again)) / l2 +
                          p[L_QUERIES] * queries * ((1 - kept) / t->bandwidth + kept / l2);
    const double compute = 2 * batch * (tokens + p[L_PAD_TOKENS]) *
                           (key + (double)s->kv_lora_rank) * rows * blocks /
                           roof_share_of_peak(t, p[L_PEAK]);
    const double waves = roof_larger(1, ceil(batch * p[L_SEQUENCE_SMS] / t->sms));
    const double lone = waves * kv / batch * t->sms / (p[L_STREAM] * t->bandwidth);
    const double ends = (p[L_DOUBLING] * log2(1 + tokens / p[L_CHUNK]) +
                         p[L_BLOCK] * roof_larger(waves - 1, batch * blocks / t->sms)) /
                        t->clock;
    out->launch_s = p[L_LAUNCH] / t->clock;
    finish_decode(out, memory, compute, lone, p[L_OVERLAP], ends);
}

/* MLA prefills in tiles of 128 queries; each goes through all its keys in turn, even if other SMs
 * wait. */
void roof_expect_mla_prefill(struct roof_expected *out, const struct roof_kernel_task *t,
                             const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double rows = 128;
    const double groups = (double)s->batch * (double)s->heads;
    const double queries = (double)s->query_len;
    const double dims = (double)(s->qk_nope_head_dim + s->qk_rope_head_dim + s->v_head_dim);
    const double masked = 2 * dims * queries * p[E_TILE];
    const double compute = (t->work->flops + groups * masked) / roof_share_of_peak(t, p[E_PEAK]);
    const double lone = 2 * dims * rows * ((double)s->kv_len + p[E_TILE]) / (p[E_LONE] * t->clock);
    const double bytes = t->work->bytes[ROOF_ROLE_ACTIVATIONS] + t->work->bytes[ROOF_ROLE_KV] +
                         t->work->bytes[ROOF_ROLE_OUT];
    const double hit = roof_held(out, w, bytes, p[E_L2_CAPACITY] * t->l2);
    const double memory = p[E_PASSES] * bytes * (1 - ROOF_L2_SAVES * hit) / t->bandwidth;
    const double ends =
        (p[E_BLOCK] * groups * queries / (rows * t->sms) + p[E_SEQUENCE] * (double)s->batch) /
        t->clock;
    const double products = roof_overlap(compute, lone, p[E_OVERLAP]);
    out->launch_s = p[E_LAUNCH] / t->clock;
    out->time_s = products + memory + ends;
    out->limit = ends > products + memory || (lone > compute && lone > memory)
                     ? ROOF_KERNEL_LIMIT_LATENCY
                 : memory > products ? ROOF_KERNEL_LIMIT_MEMORY
                                     : ROOF_KERNEL_LIMIT_COMPUTE;
}
