// SPDX-License-Identifier: MIT
#include "roofline/kernel.h"

#include "base/base.h"

#include <math.h>

/* INFINITY is a float. */
#define ROOF_UNBOUNDED ((double)INFINITY)

const char *roof_kernel_limit_name(enum roof_kernel_limit bound)
{
    static const char *const names[ROOF_KERNEL_LIMIT_COUNT] = {
        [ROOF_KERNEL_LIMIT_LAUNCH] = "launch",   [ROOF_KERNEL_LIMIT_MEMORY] = "memory",
        [ROOF_KERNEL_LIMIT_COMPUTE] = "compute", [ROOF_KERNEL_LIMIT_OPERANDS] = "operands",
        [ROOF_KERNEL_LIMIT_LATENCY] = "latency", [ROOF_KERNEL_LIMIT_QUANTIZE] = "quantize",
        [ROOF_KERNEL_LIMIT_NETWORK] = "network",
    };
    return names[bound];
}

/* --- shared pieces ------------------------------------------------------------------------- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ceil for 0 <= x < 2^51, by rounding to an integer; the slack forgives the rounding of a product
 * with an inverse. */
static double up(double x)
{
    const double whole = (x + 0x1p52) - 0x1p52;
    return whole < x - 1e-9 ? whole + 1 : whole;
}

/* Two times that overlap: the longer, and the share of the shorter that is not hidden. */
static double overlap(double a, double b, double shown)
{
    return a > b ? a + shown * b : b + shown * a;
}

/* Share of a set, read over and over, that a cache of some room still holds. The eighth power is as
 * steep as the cliff of a 96 MiB L2 was measured; set x (1 - hit) grows with the set. */
static double l2_hit(double set, double room)
{
    const double x = set / room;
    const double x4 = x * x * x * x;
    return 1 / (1 + x4 * x4);
}

/* What is asked, and the figures of the device that the models use. */
struct task {
    const struct roof_workload *workload;
    const struct roof_work *work;
    double peak, ideal;
    double bandwidth, sms, clock, l2;
    double nodes, hop; /* of a collective: nodes that it spans, and s to wait for another one */
    const struct roof_calibration *calibration;
    enum roof_numerics numerics;
    enum roof_quantize quantize; /* none for inputs of 16 bits, and where there is no product */
};

/* Bytes touched between two uses of the same data, which `own` is: infinite when it is cold. */
static double working_set(const struct roof_workload *w, double own)
{
    return w->working_set > 0            ? larger(own, (double)w->working_set)
           : w->cache == ROOF_CACHE_WARM ? own
                                         : ROOF_UNBOUNDED;
}

/* --- GEMM ---------------------------------------------------------------------------------- */

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, meaning) P_##id,
#include "predict/kernel_parameters.h"
};

/* A product as its kernel sees it; bytes are of the whole batch. */
struct product {
    double m, n, k, batch;
    double x, w, y;
    double x_element, w_element, y_element;
    double peak, bandwidth, sms, clock, l2;
    double working_set; /* bytes; infinite: cold */
    bool vector;        /* a matrix-vector kernel may be taken */
};

/* What kernel libraries are built for; the first is a good guess, which prunes the others. */
static const struct tile {
    double m, n;
} tiles[] = {{128, 128}, {128, 256}, {256, 128}, {256, 256}, {64, 128}, {128, 64},
             {64, 256},  {64, 64},   {32, 128},  {32, 64},   {16, 128}, {16, 64}};
static const double splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

/* Costs that every tiling shares. */
struct gemm {
    double bytes;   /* s: DRAM and L2 traffic */
    double flop;    /* s per FLOP of one SM */
    double feed;    /* s per byte of operands into one SM */
    double step;    /* s per element of K, at least */
    double lone_w;  /* s per element of K and column of a lone thread block, from DRAM */
    double lone_x;  /* likewise per row */
    double k_block; /* elements of K in a step */
    double split;   /* s of split-K, fixed */
    double reduce;  /* s of adding up the results of one more split */
    double prologue;
    double epilogue; /* s per element of a tile */
    double weights_hit;
};

static struct gemm gemm_costs(const struct product *g, const double *p)
{
    const double room = p[P_L2_CAPACITY] * g->l2;
    const bool cold = isinf(g->working_set);
    const double weights_hit = cold ? 0 : l2_hit(g->working_set, room);
    const double inputs_hit = cold ? 0 : l2_hit(g->x + g->w + g->y, room);
    const double dram = g->bandwidth * p[P_DRAM];
    const double missed = g->w * (1 - weights_hit) + (g->x + g->y) * (1 - inputs_hit);
    const double hit = g->x + g->w + g->y - missed;
    const double ideal_compute = 2 * g->batch * g->m * g->n * g->k / g->peak;
    const double power = 1 + p[P_POWER] * log1p(ideal_compute / 1e-4);
    const double tick = 1 / g->clock;
    const double lone = g->sms / (p[P_STREAM] * g->bandwidth);
    const double k_block = 128 / larger(g->x_element, g->w_element);
    return (struct gemm){.bytes =
                             missed / dram + hit / larger(dram, p[P_L2_RATE] * g->clock * g->sms),
                         .flop = power * g->sms / (g->peak * p[P_PEAK]),
                         .feed = tick / p[P_FEED],
                         .step = p[P_K_STEP] * tick / k_block,
                         .lone_w = lone * g->w_element * (1 - weights_hit),
                         .lone_x = lone * g->x_element * (1 - inputs_hit),
                         .k_block = k_block,
                         .split = p[P_SPLIT] * tick,
                         .reduce = g->batch * g->m * g->n * 8 / (p[P_REDUCE] * g->bandwidth),
                         .prologue = p[P_PROLOGUE] * tick,
                         .epilogue = g->y_element * g->sms / (p[P_EPILOGUE] * g->bandwidth),
                         .weights_hit = weights_hit};
}

/* What bounds a tiling whose SMs take longer than its memory. */
static enum roof_kernel_limit sm_bound(const struct gemm *c, double compute, double operands,
                                       double ends, double depth)
{
    const double inner = larger(compute, larger(operands, c->step));
    return ends > depth * inner || (c->step > compute && c->step > operands)
               ? ROOF_KERNEL_LIMIT_LATENCY
           : operands > compute ? ROOF_KERNEL_LIMIT_OPERANDS
                                : ROOF_KERNEL_LIMIT_COMPUTE;
}

/*
 * The fastest tiling: thread blocks of tile.m x tile.n results over the SMs, in waves of which a
 * share of the last one's idle part is lost; K cut in `split` parts whose results are added up. An
 * SM needs the longest of multiplying, fetching operands and the latency of K steps, and the ends
 * of each block; memory needs all bytes, and a block its own.
 */
static double gemm_time(struct roof_expected *out, const struct product *g, const double *p)
{
    const struct gemm c = gemm_costs(g, p);
    double best = ROOF_UNBOUNDED;
    out->tiling = (struct roof_tiling){.tile_m = 1,
                                       .tile_n = 1,
                                       .split_k = 1,
                                       .grid = g->batch * g->n,
                                       .waves = 1,
                                       .utilisation = 1,
                                       .l2_hit = c.weights_hit,
                                       .bound = ROOF_KERNEL_LIMIT_MEMORY};
    if (g->vector) { /* a matrix-vector kernel has no tiles */
        const double sm = larger(larger(g->k * c.step, g->w * c.feed / g->sms),
                                 2 * g->batch * g->n * g->k / g->peak);
        best = overlap(sm, c.bytes, p[P_OVERLAP]);
        out->tiling.bound = sm > c.bytes ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_MEMORY;
    }
    for (size_t q = 0; q < COUNT(tiles); q++) {
        /* Likely winners first; the order does not change the result. */
        const struct tile *const t = &tiles[g->m < 64 ? COUNT(tiles) - 1 - q : q];
        const double grid = g->batch * up(g->m / t->m) * up(g->n / t->n);
        const double compute = c.flop * 2 * t->m * t->n * (1 + p[P_TILE] * (64 / t->m + 64 / t->n));
        const double operands = (t->n * g->w_element + t->m * g->x_element) * c.feed;
        const double inner = larger(compute, larger(operands, c.step));
        const double ends = c.prologue + t->m * t->n * c.epilogue;
        const double load = grid / g->sms;
        const double least = overlap(larger(load * g->k * inner, ends), c.bytes, p[P_OVERLAP]);
        if (least >= best) {
            continue; /* no split of this tile can be faster */
        }
        for (size_t j = 0; j < COUNT(splits); j++) {
            const double full = load * splits[j];
            const double reduce = j == 0 ? 0 : c.split + splits[j] * c.reduce;
            if (j > 0 && (full > 2 || least + reduce >= best)) {
                break;
            }
            const double waves = full <= 1 ? 1 : full + p[P_WAVE] * (up(full) - full);
            const double depth = up(g->k / (c.k_block * splits[j])) * c.k_block;
            const double sm = waves * (ends + depth * inner);
            const double memory = larger(c.bytes, depth * (t->n * c.lone_w + t->m * c.lone_x));
            const double time = overlap(sm, memory, p[P_OVERLAP]) + reduce;
            if (time < best) {
                best = time;
                out->tiling = (struct roof_tiling){
                    .tile_m = (int)t->m,
                    .tile_n = (int)t->n,
                    .split_k = (int)splits[j],
                    .grid = grid * splits[j],
                    .waves = waves,
                    .utilisation = full / up(full),
                    .l2_hit = c.weights_hit,
                    .bound = memory > sm ? ROOF_KERNEL_LIMIT_MEMORY
                                         : sm_bound(&c, compute, operands, ends, depth)};
            }
        }
    }
    out->tiled = out->tiling.tile_m > 1; /* a matrix-vector kernel has none */
    out->bound = out->tiling.bound;
    return best;
}

/* The quantisation of the input, before the product: it reads 16 bits, twice where the scale is of
 * the whole tensor and must be found first, and writes the input's format. */
static double quantize_time(const struct product *g, const double *p, enum roof_quantize how)
{
    const double element = (how == ROOF_QUANTIZE_DYNAMIC ? 4 : 2) + g->x_element;
    const double bytes = g->batch * g->m * g->k * element;
    return larger(g->batch * g->m * p[P_Q_ROW] / g->clock, bytes / (p[P_Q_RATE] * g->bandwidth));
}

/* The products of attention in three steps: all heads of a KV head share its keys or values. */
static void attention_product(struct product *g, const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    const bool scores = w->op == ROOF_OPERATOR_ATTENTION_SCORES;
    g->m = (double)s->query_len * (double)s->heads / (double)s->kv_heads;
    g->n = (double)(scores ? s->kv_len : s->head_dim);
    g->k = (double)(scores ? s->head_dim : s->kv_len);
    g->batch = (double)s->batch * (double)s->kv_heads;
    g->w_element = roof_precision_bits(w->formats.kv) / 8;
}

static void expect_gemm(struct roof_expected *out, const struct task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    struct product g = {
        .m = w->op == ROOF_OPERATOR_GEMV ? 1 : (double)s->m,
        .n = (double)s->n,
        .k = (double)s->k,
        .batch = s->batch > 0 ? (double)s->batch : 1,
        .x_element = roof_precision_bits(w->formats.activations) / 8,
        .w_element = roof_precision_bits(w->formats.weights) / 8,
        .y_element = roof_precision_bits(w->formats.out) / 8,
        .peak = t->peak,
        .bandwidth = t->bandwidth,
        .sms = t->sms,
        .clock = t->clock,
        .l2 = t->l2,
    };
    g.vector = g.m == 1;
    if (roof_operator_row(w->op)->other == ROOF_ROLE_KV) {
        attention_product(&g, w);
    }
    g.x = g.batch * g.m * g.k * g.x_element;
    g.w = g.batch * g.n * g.k * g.w_element;
    g.y = g.batch * g.m * g.n * g.y_element;
    g.working_set = working_set(w, g.x + g.w + g.y);
    const double kernel = gemm_time(out, &g, p);
    out->launch_s = p[P_LAUNCH] / g.clock;
    out->time_s = kernel;
    if (t->quantize != ROOF_QUANTIZE_NONE) {
        const double quantize = quantize_time(&g, p, t->quantize);
        out->launch_s += p[P_Q_LAUNCH] / g.clock;
        out->time_s += quantize;
        out->bound = quantize > kernel ? ROOF_KERNEL_LIMIT_QUANTIZE : out->bound;
    }
}

/* --- attention ----------------------------------------------------------------------------- */

enum {
#define ROOF_DECODE_PARAMETER(id, key, least, most, start, meaning) D_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_PREFILL_PARAMETER(id, key, least, most, start, meaning) F_##id,
#include "predict/kernel_parameters.h"
};

/* Keys that a window leaves of the cache. */
static double window_span(const struct roof_shape *s)
{
    return (double)(s->window > 0 && s->window < s->kv_len ? s->window : s->kv_len);
}

/* Reading the cache, the products and what a lone sequence can draw overlap; the ends do not. */
static void finish_decode(struct roof_expected *out, double memory, double compute, double lone,
                          double shown, double ends)
{
    const double stream = overlap(overlap(memory, compute, shown), lone, shown);
    out->time_s = stream + ends;
    out->bound = ends > stream || (lone > memory && lone > compute) ? ROOF_KERNEL_LIMIT_LATENCY
                 : compute > memory                                 ? ROOF_KERNEL_LIMIT_COMPUTE
                                                                    : ROOF_KERNEL_LIMIT_MEMORY;
}

/*
 * One query per sequence: the cache is read once, by splits of its length whose results are joined
 * (the logarithm). The heads of a KV head fill rows of one matrix tile, and a sequence's KV head
 * can draw no more than some SMs' share of the bandwidth.
 */
static void expect_decode(struct roof_expected *out, const struct task *t, const double *p)
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
    const double set = working_set(w, kv);
    const bool cold = isinf(set);
    const double hit = cold ? 0 : l2_hit(set, p[D_L2_CAPACITY] * t->l2);
    out->tiling.l2_hit = hit;
    const double dram = p[D_DRAM] * t->bandwidth;
    const double l2 = p[D_L2_RATE] * t->bandwidth;
    const double memory =
        (kv * (1 - hit) + (cold ? queries : 0)) / dram + (kv * hit + (cold ? 0 : queries)) / l2;
    const double compute = 4 * batch * dim * (tokens + p[D_PAD_TOKENS]) *
                           ((double)s->heads + kv_heads * p[D_PAD_HEADS]) / (p[D_PEAK] * t->peak);
    const double lone = 2 * tokens * dim * kv_element * t->sms / (p[D_STREAM] * t->bandwidth);
    const double ends =
        (p[D_DOUBLING] * log2(1 + tokens / p[D_CHUNK]) + p[D_BLOCK] * batch * kv_heads / t->sms) /
        t->clock;
    out->launch_s = p[D_LAUNCH] / t->clock;
    finish_decode(out, memory, compute, lone, p[D_OVERLAP], ends);
}

/*
 * Tiles of 128 queries: the scores that count and the masked ones of a tile, each multiplied and
 * put through an exponential; all SMs wait for the last tile; Q, K, V and the result cross memory.
 */
static void expect_prefill(struct roof_expected *out, const struct task *t, const double *p)
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
    const double score = 4 * dim / (p[F_PEAK] * t->peak) + p[F_EXP] / (t->clock * t->sms);
    const double tile = t->sms * rows * (window_span(s) + p[F_TILE]) * score;
    const double compute =
        groups * scores * score + p[F_WAVE] * tile * queries / (queries + rows - 1);
    const double kv_heads = (double)s->batch * (double)s->kv_heads;
    const double element = roof_precision_bits(w->formats.activations) / 8;
    const double cache = 2 * kv_heads * dim * keys * roof_precision_bits(w->formats.kv) / 8;
    const double bytes =
        groups * dim * queries * (element + roof_precision_bits(w->formats.out) / 8) +
        2 * kv_heads * dim * queries * element + cache;
    const double set = working_set(w, bytes);
    const double hit = isinf(set) ? 0 : l2_hit(set, p[F_L2_CAPACITY] * t->l2);
    out->tiling.l2_hit = hit;
    const double memory = p[F_PASSES] * bytes * (1 - 0.75 * hit) / t->bandwidth;
    const double blocks = groups * (queries + rows - 1) / rows;
    const double ends = p[F_BLOCK] * blocks / (t->clock * t->sms);
    out->launch_s = p[F_LAUNCH] / t->clock;
    out->time_s = compute + memory + ends;
    out->bound = ends > compute + memory ? ROOF_KERNEL_LIMIT_LATENCY
                 : memory > compute      ? ROOF_KERNEL_LIMIT_MEMORY
                                         : ROOF_KERNEL_LIMIT_COMPUTE;
}

/* --- latent attention ---------------------------------------------------------------------- */

enum {
#define ROOF_MLA_DECODE_PARAMETER(id, key, least, most, start, meaning) L_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_MLA_PREFILL_PARAMETER(id, key, least, most, start, meaning) E_##id,
#include "predict/kernel_parameters.h"
};

/*
 * As decode, with one latent for all heads: they fill matrix tiles of as many rows as the matrix
 * instruction has, each of which reads the cache, the further ones mostly out of the L2.
 */
static void expect_mla_decode(struct roof_expected *out, const struct task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double batch = (double)s->batch;
    const double tokens = (double)s->kv_len;
    const double key = (double)(s->kv_lora_rank + s->qk_rope_head_dim);
    const double kv = batch * tokens * key * roof_precision_bits(w->formats.kv) / 8;
    const double queries = t->work->bytes[ROOF_ROLE_ACTIVATIONS] + t->work->bytes[ROOF_ROLE_OUT];
    const double blocks = larger(1, (double)s->heads * (double)s->query_len / p[L_ROWS]);
    const double set = working_set(w, kv);
    const double hit = isinf(set) ? 0 : l2_hit(set, p[L_L2_CAPACITY] * t->l2);
    out->tiling.l2_hit = hit;
    const double dram = p[L_DRAM] * t->bandwidth;
    const double l2 = p[L_L2_RATE] * t->bandwidth;
    const double again = (blocks - 1) * p[L_REREAD];
    const double memory = kv * (1 - hit) * (1 + again) / dram +
                          (kv * hit * blocks + kv * (1 - hit) * (blocks - 1 - again)) / l2 +
                          p[L_QUERIES] * queries / t->bandwidth;
    const double compute = 2 * batch * (tokens + p[L_PAD_TOKENS]) *
                           (key + (double)s->kv_lora_rank) * p[L_ROWS] * blocks /
                           (p[L_PEAK] * t->peak);
    const double lone = kv / batch * t->sms / (p[L_STREAM] * t->bandwidth);
    const double ends =
        (p[L_DOUBLING] * log2(1 + tokens / p[L_CHUNK]) + p[L_BLOCK] * batch * blocks / t->sms) /
        t->clock;
    out->launch_s = p[L_LAUNCH] / t->clock;
    finish_decode(out, memory, compute, lone, p[L_OVERLAP], ends);
}

/* Tiles of 128 queries; one of them goes through all its keys in turn, however many SMs wait. */
static void expect_mla_prefill(struct roof_expected *out, const struct task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    const double rows = 128;
    const double groups = (double)s->batch * (double)s->heads;
    const double queries = (double)s->query_len;
    const double dims = (double)(s->qk_nope_head_dim + s->qk_rope_head_dim + s->v_head_dim);
    const double masked = 2 * dims * queries * p[E_TILE];
    const double compute = (t->work->flops + groups * masked) / (p[E_PEAK] * t->peak);
    const double lone = 2 * dims * rows * ((double)s->kv_len + p[E_TILE]) / (p[E_LONE] * t->clock);
    const double bytes = t->work->bytes[ROOF_ROLE_ACTIVATIONS] + t->work->bytes[ROOF_ROLE_KV] +
                         t->work->bytes[ROOF_ROLE_OUT];
    const double set = working_set(w, bytes);
    const double hit = isinf(set) ? 0 : l2_hit(set, p[E_L2_CAPACITY] * t->l2);
    out->tiling.l2_hit = hit;
    const double memory = p[E_PASSES] * bytes * (1 - 0.75 * hit) / t->bandwidth;
    const double ends =
        (p[E_BLOCK] * groups * queries / (rows * t->sms) + p[E_SEQUENCE] * (double)s->batch) /
        t->clock;
    const double products = overlap(compute, lone, p[E_OVERLAP]);
    out->launch_s = p[E_LAUNCH] / t->clock;
    out->time_s = products + memory + ends;
    out->bound = ends > products + memory || (lone > compute && lone > memory)
                     ? ROOF_KERNEL_LIMIT_LATENCY
                 : memory > products ? ROOF_KERNEL_LIMIT_MEMORY
                                     : ROOF_KERNEL_LIMIT_COMPUTE;
}

/* --- mixture of experts -------------------------------------------------------------------- */

enum {
#define ROOF_MOE_PARAMETER(id, key, least, most, start, meaning) M_##id,
#include "predict/kernel_parameters.h"
};

/*
 * The experts that are touched are read, those with many rows more than once; each has its rows
 * padded to a tile; a tile of columns goes through all of K in turn; and the activations of every
 * routed row are permuted, stored between the products and summed.
 */
static void expect_moe(struct roof_expected *out, const struct task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const double hidden = (double)w->shape.hidden;
    const double inner = (double)w->shape.intermediate;
    /* Gate, up and down, or some of them where their formats differ. */
    const double matrices = w->op == ROOF_OPERATOR_MOE           ? 3
                            : w->op == ROOF_OPERATOR_MOE_GATE_UP ? 2
                                                                 : 1;
    const double part = matrices / 3;
    const double depth = (matrices > 1 ? hidden : 0) + (matrices != 2 ? inner : 0);
    const double element = roof_precision_bits(w->formats.weights) / 8;
    const double weights = t->work->bytes[ROOF_ROLE_WEIGHTS];
    const double touched = weights / (matrices * hidden * inner * element);
    const double routed = t->work->flops / (2 * matrices * hidden * inner);
    const double rows = routed / touched;
    const double tokens = fmin((double)w->shape.tokens, routed);
    const double set = working_set(w, weights);
    const double hit = isinf(set) ? 0 : l2_hit(set, p[M_L2_CAPACITY] * t->l2);
    out->tiling.l2_hit = hit;
    const double memory = weights * (1 + p[M_REREAD] * rows / (rows + p[M_TILE_ROWS])) *
                          ((1 - hit) / p[M_DRAM] + hit / p[M_L2_RATE]) / t->bandwidth;
    const double compute =
        2 * matrices * (routed + p[M_TILE_ROWS] * touched) * hidden * inner / (p[M_PEAK] * t->peak);
    const double lone = 128 * depth * element * t->sms / (p[M_STREAM] * t->bandwidth);
    const double moves = part * p[M_PASSES] * 2 *
                         (routed * (2 * hidden + 3 * inner) + 2 * tokens * hidden) / t->bandwidth;
    const double sort = part * p[M_DOUBLING] * log2(1 + routed) / t->clock;
    const double products = overlap(memory, compute, p[M_OVERLAP]);
    out->launch_s = part * p[M_LAUNCH] / t->clock;
    out->time_s = products + lone + moves + sort;
    out->bound = lone + sort > products + moves ? ROOF_KERNEL_LIMIT_LATENCY
                 : compute > memory + moves     ? ROOF_KERNEL_LIMIT_COMPUTE
                                                : ROOF_KERNEL_LIMIT_MEMORY;
}

/* --- vector operators ---------------------------------------------------------------------- */

enum {
#define ROOF_VECTOR_PARAMETER(id, key, least, most, start, meaning) V_##id,
#include "predict/kernel_parameters.h"
};

#define ROW_THREADS 1024

static void expect_vector(struct roof_expected *out, const struct task *t, const double *p)
{
    double bytes = 0;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        bytes += t->work->bytes[role];
    }
    const double set = working_set(t->workload, bytes);
    const double hit = isinf(set) ? 0 : l2_hit(set, p[V_L2_CAPACITY] * t->l2);
    out->tiling.l2_hit = hit;
    const double memory = bytes * ((1 - hit) / p[V_DRAM] + hit / p[V_L2_RATE]) / t->bandwidth;
    const struct roof_shape *const s = &t->workload->shape;
    const double count = t->workload->op == ROOF_OPERATOR_SOFTMAX
                             ? (double)s->batch * (double)s->heads * (double)s->query_len
                             : (double)s->tokens;
    /* A row of a norm is a block of as many threads as it has elements, up to ROW_THREADS: of short
     * ones so many more run at once. */
    const double share =
        t->workload->op == ROOF_OPERATOR_RMSNORM ? fmin(1, (double)s->hidden / ROW_THREADS) : 1;
    const double rows = p[V_ROW] * count * share / (t->sms * t->clock);
    /* The append to the cache is launched, and was measured, with attention. */
    out->launch_s = t->workload->op == ROOF_OPERATOR_KV_APPEND ? 0 : p[V_LAUNCH] / t->clock;
    out->time_s = memory + rows;
    out->bound = rows > memory ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_MEMORY;
}

/* --- collectives --------------------------------------------------------------------------- */

enum {
#define ROOF_COLLECTIVE_PARAMETER(id, key, least, most, start, meaning) C_##id,
#include "predict/kernel_parameters.h"
};

/*
 * Between two devices all-reduce sends its buffer, the others half of theirs; more devices take
 * more time per byte as their links are laid out. Short messages go at once with a flag in every
 * word, long ones in chunks through a pipeline, of the size that makes its fill the geometric mean
 * of a chunk's time and the whole; steps wait for another device.
 */
static void expect_collective(struct roof_expected *out, const struct task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const enum roof_operator op = w->op;
    const bool send = op == ROOF_OPERATOR_SEND; /* one half of an all-to-all of two devices */
    const double devices = send ? 2 : (double)w->shape.devices;
    const double buffer =
        (double)w->shape.elements * roof_precision_bits(w->formats.activations) / 8;
    const double sent = op == ROOF_OPERATOR_ALL_REDUCE || send ? buffer : buffer / 2;
    const double more = (1 - 2 / devices) / 0.75; /* from 0 for two devices to 1 for eight */
    const double wire = sent / (p[C_LINK] * t->peak);
    const double brief = wire * (1 + p[C_SHORT_GROWTH] * more) / p[C_SHORT];
    const double bulk = wire * (1 + p[C_GROWTH] * more);
    const double chunked = p[C_LONG] / t->clock + bulk + sqrt(p[C_PIPE] / t->clock * bulk);
    const double moved = brief < chunked ? brief : chunked;
    /* Sends that do not wait for data wait for each other, as deep as a tree. */
    const double steps = t->work->network_steps <= 1 ? log2(devices) : t->work->network_steps;
    /* All-reduce goes up and down a tree of nodes. */
    const double hops = (op == ROOF_OPERATOR_ALL_REDUCE ? 2 : 1) * log2(t->nodes);
    const double waits = p[C_STEP] * steps / t->clock + hops * t->hop;
    out->launch_s = p[C_LAUNCH] / t->clock;
    out->time_s = moved + waits;
    out->bound = waits > moved ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_NETWORK;
}

enum {
#define ROOF_ONE_SHOT_PARAMETER(id, key, least, most, start, meaning) O_##id,
#include "predict/kernel_parameters.h"
};

/* Each device reads the buffers of all others, between two barriers; only inside a node. */
static void expect_one_shot(struct roof_expected *out, const struct task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const double devices = (double)w->shape.devices;
    const double buffer =
        (double)w->shape.elements * roof_precision_bits(w->formats.activations) / 8;
    const double moved = (devices - 1) * buffer / (p[O_LINK] * t->peak);
    const double waits = p[O_STEP] * log2(devices) / t->clock;
    out->launch_s = p[O_LAUNCH] / t->clock;
    out->time_s = t->nodes > 1 ? ROOF_UNKNOWN : moved + waits;
    out->bound = waits > moved ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_NETWORK;
}

/* --- which kernel -------------------------------------------------------------------------- */

static void (*const models[ROOF_KERNEL_COUNT])(struct roof_expected *out, const struct task *task,
                                               const double *parameter) = {
    [ROOF_KERNEL_GEMM] = expect_gemm,
    [ROOF_KERNEL_BMM] = expect_gemm,
    [ROOF_KERNEL_DECODE] = expect_decode,
    [ROOF_KERNEL_PREFILL] = expect_prefill,
    [ROOF_KERNEL_MLA_DECODE] = expect_mla_decode,
    [ROOF_KERNEL_MLA_PREFILL] = expect_mla_prefill,
    [ROOF_KERNEL_MOE] = expect_moe,
    [ROOF_KERNEL_NORM] = expect_vector,
    [ROOF_KERNEL_ADD] = expect_vector,
    [ROOF_KERNEL_ACTIVATION] = expect_vector,
    [ROOF_KERNEL_ROPE] = expect_vector,
    [ROOF_KERNEL_QUANTIZE] = expect_vector,
    [ROOF_KERNEL_ALL_REDUCE] = expect_collective,
    [ROOF_KERNEL_ONE_SHOT] = expect_one_shot,
    [ROOF_KERNEL_ALL_GATHER] = expect_collective,
    [ROOF_KERNEL_REDUCE_SCATTER] = expect_collective,
    [ROOF_KERNEL_ALL_TO_ALL] = expect_collective,
};

enum roof_kernel roof_kernel_of(const struct roof_workload *workload)
{
    /* One more than the kernel; 0: none. */
    static const unsigned char of[ROOF_OPERATOR_COUNT] = {
        [ROOF_OPERATOR_GEMM] = ROOF_KERNEL_GEMM + 1,
        [ROOF_OPERATOR_GEMV] = ROOF_KERNEL_GEMM + 1,
        [ROOF_OPERATOR_BMM] = ROOF_KERNEL_BMM + 1,
        [ROOF_OPERATOR_ATTENTION_SCORES] = ROOF_KERNEL_BMM + 1,
        [ROOF_OPERATOR_ATTENTION_VALUES] = ROOF_KERNEL_BMM + 1,
        [ROOF_OPERATOR_SOFTMAX] = ROOF_KERNEL_ACTIVATION + 1,
        [ROOF_OPERATOR_FLASH_ATTENTION] = ROOF_KERNEL_DECODE + 1,
        [ROOF_OPERATOR_MLA_DECODE] = ROOF_KERNEL_MLA_DECODE + 1,
        [ROOF_OPERATOR_MLA_PREFILL] = ROOF_KERNEL_MLA_PREFILL + 1,
        [ROOF_OPERATOR_MOE] = ROOF_KERNEL_MOE + 1,
        [ROOF_OPERATOR_MOE_GATE_UP] = ROOF_KERNEL_MOE + 1,
        [ROOF_OPERATOR_MOE_DOWN] = ROOF_KERNEL_MOE + 1,
        [ROOF_OPERATOR_RMSNORM] = ROOF_KERNEL_NORM + 1,
        [ROOF_OPERATOR_LAYERNORM] = ROOF_KERNEL_ACTIVATION + 1,
        [ROOF_OPERATOR_ROUTER] = ROOF_KERNEL_ACTIVATION + 1,
        [ROOF_OPERATOR_ADD] = ROOF_KERNEL_ADD + 1,
        [ROOF_OPERATOR_EMBEDDING] = ROOF_KERNEL_ADD + 1,
        [ROOF_OPERATOR_KV_APPEND] = ROOF_KERNEL_ADD + 1,
        [ROOF_OPERATOR_SILU_MUL] = ROOF_KERNEL_ACTIVATION + 1,
        [ROOF_OPERATOR_GELU] = ROOF_KERNEL_ACTIVATION + 1,
        [ROOF_OPERATOR_ROPE] = ROOF_KERNEL_ROPE + 1,
        [ROOF_OPERATOR_QUANTIZE] = ROOF_KERNEL_QUANTIZE + 1,
        [ROOF_OPERATOR_ALL_REDUCE] = ROOF_KERNEL_ALL_REDUCE + 1,
        [ROOF_OPERATOR_ALL_GATHER] = ROOF_KERNEL_ALL_GATHER + 1,
        [ROOF_OPERATOR_REDUCE_SCATTER] = ROOF_KERNEL_REDUCE_SCATTER + 1,
        [ROOF_OPERATOR_ALL_TO_ALL] = ROOF_KERNEL_ALL_TO_ALL + 1,
        [ROOF_OPERATOR_SEND] = ROOF_KERNEL_ALL_TO_ALL + 1,
    };
    const struct roof_shape *const s = &workload->shape;
    const unsigned char found = of[workload->op];
    if (found == 0) {
        return ROOF_KERNEL_COUNT;
    }
    switch (found - 1) {
    case ROOF_KERNEL_DECODE:
        return s->query_len > 1 ? ROOF_KERNEL_PREFILL : ROOF_KERNEL_DECODE;
    case ROOF_KERNEL_ALL_REDUCE:
        return s->algorithm > 0 ? ROOF_KERNEL_ONE_SHOT : ROOF_KERNEL_ALL_REDUCE;
    default:
        return (enum roof_kernel)(found - 1);
    }
}

enum roof_numerics roof_workload_numerics(const struct roof_workload *workload)
{
    const struct roof_formats *const f = &workload->formats;
    if (roof_kernel_of(workload) >= ROOF_KERNEL_NORM) {
        return ROOF_NUMERICS_16BIT; /* vector operators: their formats are in the bytes */
    }
    if (roof_operator_row(workload->op)->other == ROOF_ROLE_KV) {
        /* Attention: queries that are narrower than the cache are widened. */
        const bool narrow = roof_precision_bits(f->activations) < roof_precision_bits(f->kv);
        return roof_numerics_of(f->kv, narrow ? f->kv : f->activations);
    }
    return roof_numerics_of(f->weights, f->activations);
}

/* What stands in for formats that nobody measured, in this order; COUNT ends a list. */
#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, ROOF_NUMERICS_16BIT, ROOF_NUMERICS_COUNT                                      \
    }
static const enum roof_numerics nearest[ROOF_NUMERICS_COUNT][5] = {
    [ROOF_NUMERICS_16BIT] = {ROOF_NUMERICS_16BIT, ROOF_NUMERICS_COUNT},
    [ROOF_NUMERICS_FP8] = LIST(ROOF_NUMERICS_FP8, ROOF_NUMERICS_W8A16, ROOF_NUMERICS_INT8),
    [ROOF_NUMERICS_INT8] = LIST(ROOF_NUMERICS_INT8, ROOF_NUMERICS_FP8, ROOF_NUMERICS_W8A16),
    [ROOF_NUMERICS_FP4] = LIST(ROOF_NUMERICS_FP4, ROOF_NUMERICS_W4A16),
    [ROOF_NUMERICS_W8A16] = LIST(ROOF_NUMERICS_W8A16, ROOF_NUMERICS_FP8, ROOF_NUMERICS_W4A16),
    [ROOF_NUMERICS_W4A16] = LIST(ROOF_NUMERICS_W4A16, ROOF_NUMERICS_W8A16),
    [ROOF_NUMERICS_W4A8] = LIST(ROOF_NUMERICS_W4A8, ROOF_NUMERICS_W4A16, ROOF_NUMERICS_FP8),
    [ROOF_NUMERICS_32BIT] = LIST(ROOF_NUMERICS_32BIT),
};
#undef LIST

/* A band that is this much wider, on either side, where this was not measured itself; and where it
 * runs between nodes, of which nothing at all was measured. */
#define NEAR_BAND 1.25
#define NODES_BAND 2.0

/* Waiting for another node, where the device does not say it: NCCL's constant for a step of a tree
 * over the network with short messages (NVIDIA/nccl@b647562 src/graph/tuning.cc, hwLat). */
#define HOP_S 5e-6

/* Operators whose kernels nobody measured: others stand in. */
static bool stands_in(enum roof_operator op)
{
    static const bool of[ROOF_OPERATOR_COUNT] = {
        [ROOF_OPERATOR_ATTENTION_SCORES] = true,
        [ROOF_OPERATOR_ATTENTION_VALUES] = true,
        [ROOF_OPERATOR_SOFTMAX] = true,
        [ROOF_OPERATOR_LAYERNORM] = true,
        [ROOF_OPERATOR_GELU] = true,
        [ROOF_OPERATOR_ROUTER] = true,
        [ROOF_OPERATOR_MOE_GATE_UP] = true,
        [ROOF_OPERATOR_MOE_DOWN] = true,
    };
    return of[op];
}

/* Of norms only long rows were measured; where short ones take most of the time, it is less sure.
 */
static bool is_short(const struct roof_workload *w, const struct roof_expected *expected)
{
    return w->op == ROOF_OPERATOR_RMSNORM && w->shape.hidden < ROW_THREADS &&
           expected->bound == ROOF_KERNEL_LIMIT_LATENCY;
}

static void expect_by_fit(struct roof_expected *out, const struct task *task,
                          enum roof_kernel kernel, const struct roof_kernel_fit *fit)
{
    const struct roof_workload *const w = task->workload;
    const enum roof_stack asked = (enum roof_stack)w->stack;
    const bool collective = roof_operator_row(w->op)->kind == ROOF_KIND_COLLECTIVE;
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    models[kernel](out, task, fit->parameter);
    if (w->no_launch_overhead > 0) {
        out->launch_s = 0;
    }
    /* No cold kernel beats the bound, nor any a link; the launch comes before it. */
    const bool cold = collective || (w->working_set == 0 && w->cache == ROOF_CACHE_COLD);
    if (cold && out->time_s < task->ideal) {
        out->time_s = task->ideal;
        out->bound = collective                                      ? ROOF_KERNEL_LIMIT_NETWORK
                     : task->work->flops / task->peak >= task->ideal ? ROOF_KERNEL_LIMIT_COMPUTE
                                                                     : ROOF_KERNEL_LIMIT_MEMORY;
    }
    if (out->launch_s > out->time_s) {
        out->bound = ROOF_KERNEL_LIMIT_LAUNCH;
    }
    /* Experts have their quantisation in all measured times, products apart. */
    const bool other_way = fit->quantize != task->quantize &&
                           (task->quantize != ROOF_QUANTIZE_NONE || kernel == ROOF_KERNEL_MOE);
    out->near = task->nodes > 1 || task->calibration->inherited || fit->lent != NULL ||
                stands_in(w->op) || is_short(w, out) || fit->numerics != task->numerics ||
                other_way ||
                (asked != ROOF_STACK_BEST && fit->stack != ROOF_STACK_BEST && fit->stack != asked);
    const double wider = task->nodes > 1 ? NODES_BAND : out->near ? NEAR_BAND : 1;
    out->time_s += out->launch_s;
    out->low_s = out->time_s * fit->low / wider;
    out->high_s = out->time_s * fit->high * wider;
    if (cold && out->low_s < task->ideal) {
        out->low_s = task->ideal;
    }
    out->fit = fit;
}

/* The fastest of some stacks, with the nearest formats that they have, and where nobody measured
 * this way to quantise the input, with that before the kernel alone. */
static void expect_in_stacks(struct roof_expected *out, const struct task *task,
                             enum roof_kernel kernel, int first, int last)
{
    const int ways = task->quantize == ROOF_QUANTIZE_NONE ? 1 : 2;
    const enum roof_numerics *near = nearest[task->numerics];
    const struct roof_kernel_fit *tried = NULL;
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    for (; isnan(out->time_s) && *near != ROOF_NUMERICS_COUNT; near++) {
        for (int way = 0; isnan(out->time_s) && way < ways; way++) {
            const enum roof_quantize quantize = way == 0 ? task->quantize : ROOF_QUANTIZE_NONE;
            for (int stack = first; stack <= last; stack++) {
                const struct roof_kernel_fit *const fit = roof_calibration_find(
                    task->calibration, kernel, (enum roof_stack)stack, *near, quantize);
                if (fit == NULL || fit == tried) { /* common to all stacks */
                    continue;
                }
                struct roof_expected one;
                expect_by_fit(&one, task, kernel, fit);
                tried = fit;
                if (isnan(out->time_s) || one.time_s < out->time_s) {
                    *out = one;
                }
            }
        }
    }
}

/* Of the stack that is asked for, where it was measured, or of the fastest. */
static void expect_fastest(struct roof_expected *out, const struct task *task,
                           enum roof_kernel kernel)
{
    const enum roof_stack asked = (enum roof_stack)task->workload->stack;
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    if (asked != ROOF_STACK_BEST) {
        expect_in_stacks(out, task, kernel, (int)asked, (int)asked);
    }
    if (isnan(out->time_s)) {
        expect_in_stacks(out, task, kernel, ROOF_STACK_BEST + 1, ROOF_STACK_COUNT - 1);
    }
}

void roof_kernel_expect(struct roof_expected *out, const struct roof_workload *workload,
                        const struct roof_hardware *hardware, const struct roof_work *work,
                        double rate, double ideal_s)
{
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    if (hardware->calibration == NULL) {
        return;
    }
    const enum roof_kernel kernel = roof_kernel_of(workload);
    const bool quantized =
        roof_precision_bits(workload->formats.activations) < 16 &&
        (kernel == ROOF_KERNEL_GEMM || kernel == ROOF_KERNEL_BMM || kernel == ROOF_KERNEL_MOE);
    const double node = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    const double within = (double)workload->shape.within;
    const double latency = hardware->figure[ROOF_FIGURE_NETWORK_LATENCY].value;
    const double members = workload->op == ROOF_OPERATOR_SEND ? 2 : (double)workload->shape.devices;
    const struct task task = {
        /* No more nodes than members; an unknown size is taken for inside. */
        .nodes = within > node ? fmin(ceil(within / node), members) : 1,
        .hop = isnan(latency) ? HOP_S : latency,
        .workload = workload,
        .work = work,
        .peak = rate,
        .ideal = ideal_s,
        .bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .sms = hardware->figure[ROOF_FIGURE_SM_COUNT].value,
        .clock = hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value,
        .l2 = hardware->figure[ROOF_FIGURE_L2].value,
        .calibration = hardware->calibration,
        .quantize = quantized ? (enum roof_quantize)workload->quantize_input : ROOF_QUANTIZE_NONE,
        .numerics =
            kernel == ROOF_KERNEL_COUNT ? ROOF_NUMERICS_COUNT : roof_workload_numerics(workload),
    };
    const bool vector = models[kernel == ROOF_KERNEL_COUNT ? 0 : kernel] == expect_vector;
    if (task.numerics == ROOF_NUMERICS_COUNT || (isnan(task.peak) && !vector) || isnan(task.sms) ||
        isnan(task.clock) || isnan(task.l2)) {
        return;
    }
    expect_fastest(out, &task, kernel);
    if (kernel == ROOF_KERNEL_PREFILL) { /* no less than one query over the same cache */
        struct roof_expected other;
        expect_fastest(&other, &task, ROOF_KERNEL_DECODE);
        if (other.time_s > out->time_s) {
            *out = other;
        }
    }
}
