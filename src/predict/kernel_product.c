// SPDX-License-Identifier: MIT
/* Kernels of matrix products: GEMMs, batched ones, and those of routed experts. */
#include "base/base.h"
#include "base/exponential.h"
#include "predict/kernel_task.h"

/* Rounds up 0 <= x < 2^51 by rounding to an integer; the slack forgives the rounding of a product
 * with an inverse. */
static inline double round_up(double x)
{
    const double whole = (x + 0x1p52) - 0x1p52;
    return whole < x - 1e-9 ? whole + 1 : whole;
}

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, meaning) P_##id,
#include "predict/kernel_parameters.h"
};

/* A product as its kernel sees it: sizes, bytes of the whole batch, and figures of the device. */
struct product {
    double m, n, k, batch;
    double x, w, y;
    double x_element, w_element, y_element;
    double peak, bandwidth, sms, clock, l2;
    double working_set; /* bytes; infinite when the data is cold */
    double split_k;     /* the parts of K; 0: any number */
    bool vector;        /* a matrix-vector kernel may be taken */
};

/* The tiles that kernel libraries are built for; the first is a good guess, which prunes others. */
static const struct tile {
    double m, n;
    double per_m, per_n; /* inverses, which are exact: sizes are powers of two */
} tiles[] = {
#define TILE(m, n)                                                                                 \
    {                                                                                              \
        (m), (n), 1. / (m), 1. / (n)                                                               \
    }
    TILE(128, 128), TILE(128, 256), TILE(256, 128), TILE(256, 256), TILE(64, 128),
    TILE(128, 64),  TILE(64, 256),  TILE(64, 64),   TILE(32, 128),  TILE(32, 64),
    TILE(16, 128),  TILE(16, 64)
#undef TILE
};
static const double splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

/* The costs that every tiling shares. */
struct gemm {
    double bytes;   /* s: DRAM and L2 traffic */
    double flop;    /* s per FLOP of one SM */
    double feed;    /* s per byte of operands into one SM */
    double step;    /* s per element of K, at least */
    double lone_w;  /* s per element of K and column: what a lone thread block draws from DRAM */
    double lone_x;  /* s per element of K and row, as well */
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
    const double weights_hit = cold ? 0 : roof_l2_hit(g->working_set, room);
    const double inputs_hit = cold ? 0 : roof_l2_hit(g->x + g->w + g->y, room);
    const double dram = g->bandwidth * p[P_DRAM];
    const double missed = g->w * (1 - weights_hit) + (g->x + g->y) * (1 - inputs_hit);
    const double hit = g->x + g->w + g->y - missed;
    const double bound_compute = 2 * g->batch * g->m * g->n * g->k / g->peak;
    const double power = 1 + p[P_POWER] * roof_log1p(bound_compute / 1e-4);
    const double tick = 1 / g->clock;
    const double lone = g->sms / (p[P_STREAM] * g->bandwidth);
    const double k_block = 128 / roof_larger(g->x_element, g->w_element);
    return (struct gemm){.bytes = missed / dram +
                                  hit / roof_larger(dram, p[P_L2_RATE] * g->clock * g->sms),
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

/* Returns what bounds a tiling whose SMs take longer than its memory. */
static enum roof_kernel_limit sm_limit(const struct gemm *c, double compute, double operands,
                                       double ends, double depth)
{
    const double inner = roof_larger(compute, roof_larger(operands, c->step));
    return ends > depth * inner || (c->step > compute && c->step > operands)
               ? ROOF_KERNEL_LIMIT_LATENCY
           : operands > compute ? ROOF_KERNEL_LIMIT_OPERANDS
                                : ROOF_KERNEL_LIMIT_COMPUTE;
}

/* Returns the time of a matrix-vector kernel, which has no tiles; infinite where there is none. */
static double vector_time(struct roof_tiling *out, const struct product *g, const struct gemm *c,
                          double shown)
{
    *out = (struct roof_tiling){.tile_m = 1,
                                .tile_n = 1,
                                .split_k = 1,
                                .grid = g->batch * g->n,
                                .waves = 1,
                                .utilisation = 1,
                                .l2_hit = c->weights_hit,
                                .limit = ROOF_KERNEL_LIMIT_MEMORY};
    if (!g->vector || g->split_k > 1) {
        return ROOF_UNBOUNDED;
    }
    const double sm = roof_larger(roof_larger(g->k * c->step, g->w * c->feed / g->sms),
                                  2 * g->batch * g->n * g->k / g->peak);
    out->limit = sm > c->bytes ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_MEMORY;
    return roof_overlap(sm, c->bytes, shown);
}

/*
 * Finds the fastest tiling: thread blocks of tile.m x tile.n results over the SMs, in waves of
 * which a share of the last one's idle part is lost; K cut in `split` parts whose results are added
 * up. An SM needs the longest of multiplying, fetching operands and the latency of K steps, and the
 * ends of each block; memory needs all bytes, and a block its own.
 */
static double gemm_time(struct roof_expected *out, const struct product *g, const double *p)
{
    const struct gemm c = gemm_costs(g, p);
    const bool any = g->split_k == 0;
    const double *const split = any ? splits : &g->split_k;
    double best = vector_time(&out->tiling, g, &c, p[P_OVERLAP]);
    for (size_t q = 0; q < COUNT(tiles); q++) {
        /* Likely winners first; the order does not change the result. */
        const struct tile *const t = &tiles[g->m < 64 ? COUNT(tiles) - 1 - q : q];
        const double grid = g->batch * round_up(g->m * t->per_m) * round_up(g->n * t->per_n);
        const double compute =
            c.flop * 2 * t->m * t->n * (1 + p[P_TILE] * (64 * t->per_m + 64 * t->per_n));
        const double operands = (t->n * g->w_element + t->m * g->x_element) * c.feed;
        const double inner = roof_larger(compute, roof_larger(operands, c.step));
        const double ends = c.prologue + t->m * t->n * c.epilogue;
        const double load = grid / g->sms;
        const double least =
            roof_overlap(roof_larger(load * g->k * inner, ends), c.bytes, p[P_OVERLAP]);
        if (least >= best) {
            continue; /* no split of this tile can be faster */
        }
        for (size_t j = 0; j < (any ? COUNT(splits) : 1); j++) {
            const double full = load * split[j];
            const double reduce = split[j] == 1 ? 0 : c.split + split[j] * c.reduce;
            if (j > 0 && (full > 2 || least + reduce >= best)) {
                break;
            }
            const double waves = full <= 1 ? 1 : full + p[P_WAVE] * (round_up(full) - full);
            const double depth = round_up(g->k / (c.k_block * split[j])) * c.k_block;
            const double sm = waves * (ends + depth * inner);
            const double memory = roof_larger(c.bytes, depth * (t->n * c.lone_w + t->m * c.lone_x));
            const double time = roof_overlap(sm, memory, p[P_OVERLAP]) + reduce;
            if (time < best) {
                best = time;
                out->tiling = (struct roof_tiling){
                    .tile_m = (int)t->m,
                    .tile_n = (int)t->n,
                    .split_k = (int)split[j],
                    .grid = grid * split[j],
                    .waves = waves,
                    .utilisation = full / round_up(full),
                    .l2_hit = c.weights_hit,
                    .limit = memory > sm ? ROOF_KERNEL_LIMIT_MEMORY
                                         : sm_limit(&c, compute, operands, ends, depth)};
            }
        }
    }
    out->tiled = out->tiling.tile_m > 1;
    out->limit = out->tiling.limit;
    return best;
}

/* Returns the time of the quantisation of the input, before the product: it reads 16 bits, twice
 * where the scale is of the whole tensor and must be found first, and writes the input's format. */
static double quantize_time(const struct product *g, const double *p, enum roof_quantize quantize)
{
    const double element = (quantize == ROOF_QUANTIZE_DYNAMIC ? 4 : 2) + g->x_element;
    const double bytes = g->batch * g->m * g->k * element;
    return roof_larger(g->batch * g->m * p[P_Q_ROW] / g->clock,
                       bytes / (p[P_Q_RATE] * g->bandwidth));
}

/* Fills in a product of attention in three steps: all heads of a KV head share its keys or values.
 * The scores of an indexer have one key for all heads. */
static void attention_product(struct product *g, const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    const bool blocks = w->op == ROOF_OPERATOR_BLOCK_SCORES;
    const bool index = w->op == ROOF_OPERATOR_INDEX_SCORES || blocks;
    const bool scores = index || w->op == ROOF_OPERATOR_ATTENTION_SCORES;
    const double kv_heads = index ? 1 : (double)s->kv_heads;
    g->m = (double)s->query_len * (double)s->heads / kv_heads;
    g->n = (double)(scores ? s->kv_len : s->head_dim);
    g->k = (double)(scores ? s->head_dim : s->kv_len);
    g->batch = (double)s->batch * kv_heads;
    if (index) { /* heads are summed, or each block has one score */
        g->y_element /= (double)(blocks ? s->compression : s->heads);
    }
    g->w_element = roof_precision_bits(w->formats.kv) / 8;
}

void roof_expect_gemm(struct roof_expected *out, const struct roof_kernel_task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    /* Gate and up become one result. */
    const double halves = w->op == ROOF_OPERATOR_GEMM_SILU_MUL ? 2 : 1;
    struct product g = {
        .m = w->op == ROOF_OPERATOR_GEMV ? 1 : (double)s->m,
        .n = (double)s->n * halves,
        .k = (double)s->k,
        .batch = s->batch > 0 ? (double)s->batch : 1,
        .x_element = roof_precision_bits(w->formats.activations) / 8,
        .w_element = roof_precision_bits(w->formats.weights) / 8,
        .y_element = roof_precision_bits(w->formats.out) / 8 / halves,
        .peak = t->peak,
        .bandwidth = t->bandwidth,
        .sms = t->sms,
        .clock = t->clock,
        .l2 = t->l2,
        .split_k = (double)w->split_k,
    };
    g.vector = g.m == 1;
    if (roof_operator_row(w->op)->other == ROOF_ROLE_KV) {
        attention_product(&g, w);
    }
    g.x = g.batch * g.m * g.k * g.x_element;
    g.w = g.batch * g.n * g.k * g.w_element;
    g.y = g.batch * g.m * g.n * g.y_element;
    g.working_set = roof_working_set(w, g.x + g.w + g.y);
    const double kernel = gemm_time(out, &g, p);
    out->launch_s = p[P_LAUNCH] / g.clock;
    out->time_s = kernel;
    if (t->quantize != ROOF_QUANTIZE_NONE) {
        const double quantize = quantize_time(&g, p, t->quantize);
        out->launch_s += p[P_Q_LAUNCH] / g.clock;
        out->time_s += quantize;
        out->limit = quantize > kernel ? ROOF_KERNEL_LIMIT_QUANTIZE : out->limit;
    }
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
void roof_expect_moe(struct roof_expected *out, const struct roof_kernel_task *t, const double *p)
{
    const struct roof_workload *const w = t->workload;
    const double hidden = (double)w->shape.hidden;
    const double inner = (double)w->shape.intermediate;
    /* Gate, up and down, or some of them where their formats differ or there is no gate. */
    const bool in = w->op != ROOF_OPERATOR_MOE_DOWN;
    const bool down = w->op != ROOF_OPERATOR_MOE_GATE_UP && w->op != ROOF_OPERATOR_MOE_UP;
    const double matrices = roof_expert_matrices(w->op);
    const double part = matrices / 3;
    const double depth = (in ? hidden : 0) + (down ? inner : 0);
    const double element = roof_precision_bits(w->formats.weights) / 8;
    const double weights = t->work->bytes[ROOF_ROLE_WEIGHTS];
    const double touched = weights / (matrices * hidden * inner * element);
    const double routed = t->work->flops / (2 * matrices * hidden * inner);
    const double rows = routed / touched;
    const double tokens = fmin((double)w->shape.tokens, routed);
    const double set = roof_working_set(w, weights);
    const double hit = isinf(set) ? 0 : roof_l2_hit(set, p[M_L2_CAPACITY] * t->l2);
    out->tiling.l2_hit = hit;
    const double memory = weights * (1 + p[M_REREAD] * rows / (rows + p[M_TILE_ROWS])) *
                          ((1 - hit) / p[M_DRAM] + hit / p[M_L2_RATE]) / t->bandwidth;
    const double compute =
        2 * matrices * (routed + p[M_TILE_ROWS] * touched) * hidden * inner / (p[M_PEAK] * t->peak);
    const double lone = 128 * depth * element * t->sms / (p[M_STREAM] * t->bandwidth);
    const double moves = part * p[M_PASSES] * 2 *
                         (routed * (2 * hidden + 3 * inner) + 2 * tokens * hidden) / t->bandwidth;
    const double sort = part * p[M_DOUBLING] * log2(1 + routed) / t->clock;
    const double products = roof_overlap(memory, compute, p[M_OVERLAP]);
    out->launch_s = part * p[M_LAUNCH] / t->clock;
    out->time_s = products + lone + moves + sort;
    out->limit = lone + sort > products + moves ? ROOF_KERNEL_LIMIT_LATENCY
                 : compute > memory + moves     ? ROOF_KERNEL_LIMIT_COMPUTE
                                                : ROOF_KERNEL_LIMIT_MEMORY;
}
