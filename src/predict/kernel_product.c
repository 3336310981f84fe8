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
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, neutral, meaning) P_##id,
#include "predict/kernel_parameters.h"
};

/* The rows and columns of the tiles of kernel libraries, with likely winners first, and their
 * inverses, which are exact because sizes are powers of two. Values for all tiles are in arrays, of
 * which a processor computes several at a time. */
static const double tile_m[ROOF_TILES] = {128, 128, 256, 256, 64, 128, 64, 64, 32, 32, 16, 16};
static const double tile_n[ROOF_TILES] = {128, 256, 128, 256, 128, 64, 256, 64, 128, 64, 128, 64};
static const double per_m[ROOF_TILES] = {1. / 128, 1. / 128, 1. / 256, 1. / 256, 1. / 64, 1. / 128,
                                         1. / 64,  1. / 64,  1. / 32,  1. / 32,  1. / 16, 1. / 16};
static const double per_n[ROOF_TILES] = {1. / 128, 1. / 256, 1. / 128, 1. / 256, 1. / 128, 1. / 64,
                                         1. / 256, 1. / 64,  1. / 128, 1. / 64,  1. / 128, 1. / 64};

/* The numbers of parts into which K may be cut. */
static const double splits[ROOF_CUTS] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

/* The costs that every tiling shares. */
struct gemm {
    double bytes;  /* s: DRAM and L2 traffic */
    double flop;   /* s per FLOP of one SM with an endless tile */
    double peak;   /* s per FLOP of one SM at its peak */
    double feed;   /* s per byte of operands into one SM */
    double step;   /* s per element of K, at least */
    double lone_w; /* s per element of K and column: the DRAM limit of a lone thread block */
    double lone_x; /* s per element of K and row, as well */
    double split;  /* s of split-K, fixed */
    double reduce; /* s of adding up the results of one more split */
    double prologue;
    double epilogue; /* s per element of a tile */
    double weights_hit;
};

static struct gemm gemm_costs(const struct roof_product *g, const struct roof_kernel_task *t,
                              const double *p)
{
    const double room = p[P_L2_CAPACITY] * t->l2;
    const bool cold = isinf(g->working_set);
    const double weights_hit = cold ? 0 : roof_l2_hit(g->working_set, room);
    const double inputs_hit = cold ? 0 : roof_l2_hit(g->x + g->w + g->y, room);
    const double dram = t->bandwidth * p[P_DRAM];
    const double missed = g->w * (1 - weights_hit) + (g->x + g->y) * (1 - inputs_hit);
    const double hit = g->x + g->w + g->y - missed;
    const double power = 1 + p[P_POWER] * g->folds;
    const double tick = 1 / t->clock;
    const double lone = t->sms / (p[P_STREAM] * t->bandwidth);
    return (struct gemm){.bytes = missed / dram +
                                  hit / roof_larger(dram, p[P_L2_RATE] * t->clock * t->sms),
                         .flop = power * t->sms / (t->peak * p[P_PEAK]),
                         .peak = t->sms / t->peak,
                         .feed = tick / p[P_FEED],
                         .step = p[P_K_STEP] * tick / g->k_block,
                         .lone_w = lone * g->w_element * (1 - weights_hit),
                         .lone_x = lone * g->x_element * (1 - inputs_hit),
                         .split = p[P_SPLIT] * tick,
                         .reduce = g->batch * g->m * g->n * 8 / (p[P_REDUCE] * t->bandwidth),
                         .prologue = p[P_PROLOGUE] * tick,
                         .epilogue = g->y_element * t->sms / (p[P_EPILOGUE] * t->bandwidth),
                         .weights_hit = weights_hit};
}

/* Returns the time of a kernel without tiles, for one row, or for a few in some libraries; infinite
 * if there is none. */
static double vector_time(struct roof_tiling *out, const struct roof_kernel_task *task,
                          const struct gemm *c, const double *p)
{
    const struct roof_product *const g = task->product;
    *out = (struct roof_tiling){.tile_m = 1,
                                .tile_n = 1,
                                .split_k = 1,
                                .grid = g->batch * g->n,
                                .waves = 1,
                                .utilisation = 1,
                                .l2_hit = c->weights_hit,
                                .limit = ROOF_KERNEL_LIMIT_MEMORY};
    if (g->vector_rows > roof_larger(1, p[P_VECTOR_ROWS]) || g->split_k > 1) {
        return ROOF_UNBOUNDED;
    }
    const double sm = roof_larger(roof_larger(g->k * c->step, g->w * c->feed / task->sms),
                                  2 * g->batch * g->m * g->n * g->k / task->peak);
    out->limit = sm > c->bytes ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_MEMORY;
    return roof_overlap(sm, c->bytes, p[P_OVERLAP]);
}

/* The costs of each tile, in seconds. */
struct tile_costs {
    double compute[ROOF_TILES];  /* for an element of K: multiplying */
    double operands[ROOF_TILES]; /* fetching operands */
    double inner[ROOF_TILES];    /* the longest of these and of the latency of a step */
    double ends[ROOF_TILES];     /* fill and drain of a block */
    double lone[ROOF_TILES];     /* the DRAM limit of a lone block for an element of K */
    double time[ROOF_TILES];     /* with K in one part, or in the requested number of parts */
    double parts[ROOF_TILES];    /* a lower limit with more parts, without the sum of their results
                                  */
};

/* A tile with K in some parts. Its blocks run in waves over the SMs; a share of the idle part of
 * the last wave is lost. */
struct cut {
    double full; /* blocks for each SM */
    double waves;
    double sm; /* s */
    double memory;
};

static inline struct cut cut_of(const struct tile_costs *costs, int t, double full, double depth,
                                double bytes, double wave)
{
    const double waves = full <= 1 ? 1 : full + wave * (round_up(full) - full);
    return (struct cut){.full = full,
                        .waves = waves,
                        .sm = waves * (costs->ends[t] + depth * costs->inner[t]),
                        .memory = roof_larger(bytes, depth * costs->lone[t])};
}

/* Returns the time of adding up the results of the parts of K. */
static inline double reduce_time(const struct gemm *c, double split)
{
    return split == 1 ? 0 : c->split + split * c->reduce;
}

static void cost_tiles(struct tile_costs *out, const struct roof_product *g, const struct gemm *c,
                       const double *p)
{
    const double split = g->split_k > 0 ? g->split_k : 1;
    const double reduce = reduce_time(c, split);
    const double depth = g->depth[0];
    const double shallow = 1 / splits[ROOF_CUTS - 1];
    for (int t = 0; t < ROOF_TILES; t++) {
        const double m = tile_m[t];
        const double n = tile_n[t];
        const double loss = 1 + p[P_TILE] * (64 * per_m[t] + 64 * per_n[t]);
        out->compute[t] = 2 * m * n * roof_larger(c->flop * loss, c->peak);
        out->operands[t] = (n * g->w_element + m * g->x_element) * c->feed;
        out->inner[t] = roof_larger(out->compute[t], roof_larger(out->operands[t], c->step));
        out->ends[t] = c->prologue + m * n * c->epilogue;
        out->lone[t] = n * c->lone_w + m * c->lone_x;
        const struct cut cut = cut_of(out, t, g->load[t] * split, depth, c->bytes, p[P_WAVE]);
        out->time[t] = roof_overlap(cut.sm, cut.memory, p[P_OVERLAP]) + reduce;
        /* All parts together take at least the steps of the whole. Rounding errors of a limit are
         * far smaller than the margin here. K is not cut for a tile with more than one block per
         * SM. */
        const double steps = roof_larger(g->load[t], shallow) * g->k * out->inner[t];
        const double least =
            (1 - 1e-9) * roof_overlap(out->ends[t] + steps, c->bytes, p[P_OVERLAP]);
        out->parts[t] = g->load[t] > 1 ? ROOF_UNBOUNDED : least;
    }
}

/* Returns the least time of all tiles with K in one part; NAN does not count. */
static double least_time(const double *time)
{
    enum { HALF = ROOF_TILES / 2 };
    double half[HALF];
    for (int t = 0; t < HALF; t++) {
        half[t] = time[t] < time[t + HALF] ? time[t] : time[t + HALF];
    }
    double least = ROOF_UNBOUNDED;
    for (int t = 0; t < HALF; t++) {
        least = half[t] < least ? half[t] : least;
    }
    return least;
}

/* A tiling with the values by which it is chosen. */
struct choice {
    double time;
    int place; /* of the tile; -1: none, but a matrix-vector kernel */
    int cut;
};

/* Returns the tile at a place of the search order: for few rows small tiles come first. */
static inline int tile_at(const struct roof_product *g, int place)
{
    return g->m < 64 ? ROOF_TILES - 1 - place : place;
}

/* Tries two or more parts of K for a tile, and chooses the fastest if it is faster than the choice
 * so far, or equal and earlier in the order. */
static void cut_k(struct choice *best, int place, const struct roof_product *g,
                  const struct gemm *c, const struct tile_costs *costs, const double *p)
{
    const int t = tile_at(g, place);
    for (int j = 1; j < ROOF_CUTS && g->load[t] * splits[j] <= 2; j++) {
        const double reduce = reduce_time(c, splits[j]);
        if (costs->parts[t] + reduce > best->time) {
            break;
        }
        const struct cut cut =
            cut_of(costs, t, g->load[t] * splits[j], g->depth[j], c->bytes, p[P_WAVE]);
        const double time = roof_overlap(cut.sm, cut.memory, p[P_OVERLAP]) + reduce;
        if (time < best->time || (time == best->time && place < best->place)) {
            *best = (struct choice){time, place, j};
        }
    }
}

/* Chooses the fastest tiling, the first of those that take the same time. */
static void choose_tiling(struct choice *best, const struct roof_product *g, const struct gemm *c,
                          const struct tile_costs *costs, const double *p)
{
    const double whole = least_time(costs->time);
    if (whole < best->time) {
        *best = (struct choice){whole, 0, 0};
        while (costs->time[tile_at(g, best->place)] > whole) {
            best->place++;
        }
    }
    if (g->split_k > 0) {
        return;
    }
    const double reduce = reduce_time(c, splits[1]);
    for (int place = 0; place < ROOF_TILES; place++) {
        if (costs->parts[tile_at(g, place)] + reduce <= best->time) {
            cut_k(best, place, g, c, costs, p);
        }
    }
}

/* Describes the tiling that was chosen. */
static void describe_tiling(struct roof_tiling *out, const struct choice *best,
                            const struct roof_product *g, const struct gemm *c,
                            const struct tile_costs *costs, const double *p)
{
    const int t = tile_at(g, best->place);
    const double split = g->split_k > 0 ? g->split_k : splits[best->cut];
    const double depth = g->depth[best->cut];
    const struct cut cut = cut_of(costs, t, g->load[t] * split, depth, c->bytes, p[P_WAVE]);
    const bool steps = c->step > costs->compute[t] && c->step > costs->operands[t];
    out->tile_m = (int)tile_m[t];
    out->tile_n = (int)tile_n[t];
    out->split_k = (int)split;
    out->grid = g->batch * round_up(g->rows / tile_m[t]) * round_up(g->n / tile_n[t]) * split;
    out->waves = cut.waves;
    out->utilisation = cut.full / round_up(cut.full);
    out->limit = cut.memory > cut.sm                                 ? ROOF_KERNEL_LIMIT_MEMORY
                 : steps || costs->ends[t] > depth * costs->inner[t] ? ROOF_KERNEL_LIMIT_LATENCY
                 : costs->operands[t] > costs->compute[t]            ? ROOF_KERNEL_LIMIT_OPERANDS
                                                                     : ROOF_KERNEL_LIMIT_COMPUTE;
}

/* Spreads the tiles of a product over the SMs. */
static void spread_tiles(struct roof_product *g, double sms)
{
    for (int t = 0; t < ROOF_TILES; t++) {
        g->load[t] = g->batch * round_up(g->rows * per_m[t]) * round_up(g->n * per_n[t]) / sms;
    }
}

/* Returns the product with the rows that a kernel computes. The thread blocks of a cluster share
 * columns of W, so rows are rounded up to a multiple of those of all its tiles; for few rows the
 * multiple is a smaller power of two. */
static const struct roof_product *pad_product(struct roof_product *out,
                                              const struct roof_kernel_task *t, double granule)
{
    const struct roof_product *const g = t->product;
    while (granule >= 2 * g->m) {
        granule /= 2;
    }
    const double rows = granule > 1 ? granule * round_up(g->m / granule) : g->m;
    if (rows == g->m) {
        return g;
    }
    *out = *g;
    out->rows = rows;
    spread_tiles(out, t->sms);
    return out;
}

/*
 * Finds the fastest tiling: thread blocks over the SMs, in waves; K cut in parts whose results are
 * added up. An SM needs the longest of multiplying, fetching operands and the latency of K steps,
 * and the ends of each block; memory needs all bytes, and a block its own.
 */
static double gemm_time(struct roof_expected *out, const struct roof_kernel_task *t,
                        const double *p)
{
    const struct gemm c = gemm_costs(t->product, t, p);
    struct roof_product padded;
    const struct roof_product *const g = pad_product(&padded, t, p[P_GRANULE]);
    struct tile_costs costs;
    struct choice best = {.time = vector_time(&out->tiling, t, &c, p), .place = -1};
    cost_tiles(&costs, g, &c, p);
    choose_tiling(&best, g, &c, &costs, p);
    out->tiled = best.place >= 0;
    if (out->tiled) {
        describe_tiling(&out->tiling, &best, g, &c, &costs, p);
    }
    out->limit = out->tiling.limit;
    return best.time;
}

/* Returns the time of the quantisation of the input, before the product: it reads 16 bits (twice if
 * it must first find the scale of the whole tensor) and writes the input's format. */
static double quantize_time(const struct roof_kernel_task *t, const double *p)
{
    const struct roof_product *const g = t->product;
    const double element = (t->quantize == ROOF_QUANTIZE_DYNAMIC ? 4 : 2) + g->x_element;
    const double bytes = g->batch * g->m * g->k * element;
    return roof_larger(g->batch * g->m * p[P_Q_ROW] / t->clock,
                       bytes / (p[P_Q_RATE] * t->bandwidth));
}

/* Fills in a product of attention in three steps: all heads of a KV head share its keys or values.
 * The scores of an indexer have one key for all heads. */
static void attention_product(struct roof_product *g, const struct roof_workload *w)
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

/* Cuts the K of a product, and spreads its tiles over the SMs. */
static void spread_product(struct roof_product *g, double sms)
{
    for (int j = 0; j < ROOF_CUTS; j++) {
        g->depth[j] = round_up(g->k / (g->k_block * splits[j])) * g->k_block;
    }
    if (g->split_k > 0) {
        g->depth[0] = round_up(g->k / (g->k_block * g->split_k)) * g->k_block;
    }
    spread_tiles(g, sms);
}

/* Fills in a convolution, which is a product over its taps: its windows share their inputs. */
static void convolution(struct roof_product *g, const struct roof_workload *w)
{
    const double taps = (double)w->shape.taps;
    g->k *= taps;
    g->x *= fmin((double)w->shape.subsample, taps);
    g->vector_rows = ROOF_UNBOUNDED;
}

/* Fills in what all kernels of a product share. */
static void see_product(struct roof_product *g, const struct roof_kernel_task *t)
{
    const struct roof_workload *const w = t->workload;
    const struct roof_shape *const s = &w->shape;
    /* Gate and up become one result. */
    const double halves = w->op == ROOF_OPERATOR_GEMM_SILU_MUL ? 2 : 1;
    g->known = true;
    g->m = w->op == ROOF_OPERATOR_GEMV ? 1 : (double)s->m;
    g->n = (double)s->n * halves;
    g->k = (double)s->k;
    g->batch = s->batch > 0 ? (double)s->batch : 1;
    g->x_element = roof_precision_bits(w->formats.activations) / 8;
    g->w_element = roof_precision_bits(w->formats.weights) / 8;
    g->y_element = roof_precision_bits(w->formats.out) / 8 / halves;
    g->split_k = (double)w->split_k;
    g->vector_rows = g->m;
    if (roof_operator_row(w->op)->other == ROOF_ROLE_KV) {
        attention_product(g, w);
        g->vector_rows = ROOF_UNBOUNDED;
    }
    g->x = g->batch * g->m * g->k * g->x_element;
    if (w->op == ROOF_OPERATOR_CONV2D || w->op == ROOF_OPERATOR_CONV3D) {
        convolution(g, w);
    }
    g->rows = g->m;
    g->w = g->batch * g->n * g->k * g->w_element;
    g->y = g->batch * g->m * g->n * g->y_element;
    g->working_set = roof_working_set(w, g->x + g->w + g->y);
    g->folds = roof_log1p(2 * g->batch * g->m * g->n * g->k / t->peak / 1e-4);
    g->k_block = 128 / roof_larger(g->x_element, g->w_element);
    spread_product(g, t->sms);
}

void roof_expect_gemm(struct roof_expected *out, const struct roof_kernel_task *t, const double *p)
{
    if (!t->product->known) {
        see_product(t->product, t);
    }
    const double kernel = gemm_time(out, t, p);
    out->launch_s = p[P_LAUNCH] / t->clock;
    out->time_s = kernel;
    if (t->quantize != ROOF_QUANTIZE_NONE) {
        const double quantize = quantize_time(t, p);
        out->launch_s += p[P_Q_LAUNCH] / t->clock;
        out->time_s += quantize;
        out->limit = quantize > kernel ? ROOF_KERNEL_LIMIT_QUANTIZE : out->limit;
    }
}

/* --- mixture of experts -------------------------------------------------------------------- */

enum {
#define ROOF_MOE_PARAMETER(id, key, least, most, start, neutral, meaning) M_##id,
#include "predict/kernel_parameters.h"
};

/*
 * The experts that are touched are read, those with many rows more than once; each has its rows
 * padded to a tile; a tile of columns goes through all of K in turn; and the activations of every
 * routed row are permuted, stored between the products and summed.
 */
static void expect_experts(struct roof_expected *out, const struct roof_kernel_task *t,
                           const double *p)
{
    const struct roof_workload *const w = t->workload;
    const double hidden = (double)w->shape.hidden;
    const double inner = (double)w->shape.intermediate;
    /* Gate, up and down, or some of them if their formats differ or there is no gate. */
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
    const double hit = roof_held(out, w, weights, p[M_L2_CAPACITY] * t->l2);
    const double memory = weights * (1 + p[M_REREAD] * rows / (rows + p[M_TILE_ROWS])) *
                          ((1 - hit) / p[M_DRAM] + hit / p[M_L2_RATE]) / t->bandwidth;
    const double compute = 2 * matrices * (routed + p[M_TILE_ROWS] * touched) * hidden * inner /
                           roof_share_of_peak(t, p[M_PEAK]);
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

/* Some libraries store the weights of whole tiles of columns, with zeros, and compute all of them.
 */
void roof_expect_moe(struct roof_expected *out, const struct roof_kernel_task *t, const double *p)
{
    const double inner = (double)t->workload->shape.intermediate;
    const double columns = p[M_COLUMNS] * round_up(inner / p[M_COLUMNS]);
    if (!(columns > inner)) { /* NAN: a granule of 0 */
        expect_experts(out, t, p);
        return;
    }
    struct roof_workload padded = *t->workload;
    struct roof_work work;
    struct roof_kernel_task whole = *t;
    padded.shape.intermediate = (int64_t)columns;
    roof_operator_work(&work, &padded, NULL);
    whole.workload = &padded;
    whole.work = &work;
    expect_experts(out, &whole, p);
}
