// SPDX-License-Identifier: MIT
#include "roofline/kernel.h"

#include <math.h>

/* INFINITY is a float. */
#define ROOF_UNBOUNDED ((double)INFINITY)

const char *roof_bound_name(enum roof_bound bound)
{
    static const char *const names[ROOF_BOUND_COUNT] = {
        [ROOF_BOUND_LAUNCH] = "launch",   [ROOF_BOUND_MEMORY] = "memory",
        [ROOF_BOUND_COMPUTE] = "compute", [ROOF_BOUND_OPERANDS] = "operands",
        [ROOF_BOUND_LATENCY] = "latency", [ROOF_BOUND_QUANTIZE] = "quantize",
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
    double flops, peak, ideal;
    double bandwidth, sms, clock, l2;
};

/* Bytes touched between two uses of the same data, which `own` is: infinite when it is cold. */
static double working_set(const struct roof_workload *w, double own)
{
    return w->working_set > 0            ? (double)w->working_set
           : w->cache == ROOF_CACHE_WARM ? own
                                         : ROOF_UNBOUNDED;
}

/* --- GEMM ---------------------------------------------------------------------------------- */

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, meaning) P_##id,
#include "kernel_parameters.h"
};

/* A product as its kernel sees it; bytes are of the whole batch. */
struct product {
    double m, n, k, batch;
    double x, w, y;
    double x_element, w_element, y_element;
    double peak, bandwidth, sms, clock, l2;
    double working_set; /* bytes; infinite: cold */
};

/* What kernel libraries are built for; the first is a good guess, which prunes the others. */
static const struct tile {
    double m, n;
} tiles[] = {{128, 128}, {128, 256}, {256, 128}, {256, 256}, {64, 128}, {128, 64},
             {64, 256},  {64, 64},   {32, 128},  {32, 64},   {16, 128}, {16, 64}};
static const double splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
#define COUNT(array) (sizeof(array) / sizeof *(array))

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
static enum roof_bound sm_bound(const struct gemm *c, double compute, double operands, double ends,
                                double depth)
{
    const double inner = larger(compute, larger(operands, c->step));
    return ends > depth * inner || (c->step > compute && c->step > operands) ? ROOF_BOUND_LATENCY
           : operands > compute                                              ? ROOF_BOUND_OPERANDS
                                                                             : ROOF_BOUND_COMPUTE;
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
                                       .bound = ROOF_BOUND_MEMORY};
    if (g->m == 1) { /* a matrix-vector kernel has no tiles */
        const double sm = larger(larger(g->k * c.step, g->w * c.feed / g->sms),
                                 2 * g->batch * g->n * g->k / g->peak);
        best = overlap(sm, c.bytes, p[P_OVERLAP]);
        out->tiling.bound = sm > c.bytes ? ROOF_BOUND_LATENCY : ROOF_BOUND_MEMORY;
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
                    .bound = memory > sm ? ROOF_BOUND_MEMORY
                                         : sm_bound(&c, compute, operands, ends, depth)};
            }
        }
    }
    out->tiled = true;
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
    g.x = g.batch * g.m * g.k * g.x_element;
    g.w = g.batch * g.n * g.k * g.w_element;
    g.y = g.batch * g.m * g.n * g.y_element;
    g.working_set = working_set(w, g.x + g.w + g.y);
    const double kernel = gemm_time(out, &g, p);
    out->launch_s = p[P_LAUNCH] / g.clock;
    out->time_s = kernel;
    if (w->quantize_input != ROOF_QUANTIZE_NONE) {
        const double quantize = quantize_time(&g, p, (enum roof_quantize)w->quantize_input);
        out->launch_s += p[P_Q_LAUNCH] / g.clock;
        out->time_s += quantize;
        out->bound = quantize > kernel ? ROOF_BOUND_QUANTIZE : out->bound;
    }
}

/* --- attention ----------------------------------------------------------------------------- */

enum {
#define ROOF_DECODE_PARAMETER(id, key, least, most, start, meaning) D_##id,
#include "kernel_parameters.h"
};
enum {
#define ROOF_PREFILL_PARAMETER(id, key, least, most, start, meaning) F_##id,
#include "kernel_parameters.h"
};

/* Keys that a window leaves of the cache. */
static double window_span(const struct roof_shape *s)
{
    return (double)(s->window > 0 && s->window < s->kv_len ? s->window : s->kv_len);
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
    const double dram = p[D_DRAM] * t->bandwidth;
    const double l2 = p[D_L2_RATE] * t->bandwidth;
    const double memory =
        (kv * (1 - hit) + (cold ? queries : 0)) / dram + (kv * hit + (cold ? 0 : queries)) / l2;
    const double compute = 4 * batch * dim * (tokens + p[D_PAD_TOKENS]) *
                           ((double)s->heads + kv_heads * p[D_PAD_HEADS]) / (p[D_PEAK] * t->peak);
    const double lone = 2 * tokens * dim * kv_element * t->sms / (p[D_STREAM] * t->bandwidth);
    const double stream = overlap(overlap(memory, compute, p[D_OVERLAP]), lone, p[D_OVERLAP]);
    const double ends =
        (p[D_DOUBLING] * log2(1 + tokens / p[D_CHUNK]) + p[D_BLOCK] * batch * kv_heads / t->sms) /
        t->clock;
    out->launch_s = p[D_LAUNCH] / t->clock;
    out->time_s = stream + ends;
    out->bound = ends > stream || (lone > memory && lone > compute) ? ROOF_BOUND_LATENCY
                 : compute > memory                                 ? ROOF_BOUND_COMPUTE
                                                                    : ROOF_BOUND_MEMORY;
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
    const double pairs = t->flops / (4 * groups * dim);
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
    const double memory = p[F_PASSES] * bytes * (1 - 0.75 * hit) / t->bandwidth;
    const double blocks = groups * (queries + rows - 1) / rows;
    const double ends = p[F_BLOCK] * blocks / (t->clock * t->sms);
    out->launch_s = p[F_LAUNCH] / t->clock;
    out->time_s = compute + memory + ends;
    out->bound = ends > compute + memory ? ROOF_BOUND_LATENCY
                 : memory > compute      ? ROOF_BOUND_MEMORY
                                         : ROOF_BOUND_COMPUTE;
}

/* --- which kernel -------------------------------------------------------------------------- */

static void (*const models[ROOF_KERNEL_COUNT])(struct roof_expected *out, const struct task *task,
                                               const double *parameter) = {
    [ROOF_KERNEL_GEMM] = expect_gemm,
    [ROOF_KERNEL_DECODE] = expect_decode,
    [ROOF_KERNEL_PREFILL] = expect_prefill,
};

enum roof_kernel roof_kernel_of(const struct roof_workload *workload)
{
    switch (workload->op) {
    case ROOF_OPERATOR_GEMM:
    case ROOF_OPERATOR_GEMV:
    case ROOF_OPERATOR_BMM:
        return ROOF_KERNEL_GEMM;
    case ROOF_OPERATOR_FLASH_ATTENTION:
        return workload->shape.query_len > 1 ? ROOF_KERNEL_PREFILL : ROOF_KERNEL_DECODE;
    default:
        return ROOF_KERNEL_COUNT;
    }
}

enum roof_numerics roof_workload_numerics(const struct roof_workload *workload)
{
    const struct roof_formats *const f = &workload->formats;
    const bool kv = roof_operator_row(workload->op)->other == ROOF_ROLE_KV;
    return roof_numerics_of(kv ? f->kv : f->weights, f->activations);
}

static void expect_in_stack(struct roof_expected *out, const struct task *task,
                            const struct roof_calibration *calibration, enum roof_kernel kernel,
                            enum roof_stack stack)
{
    const struct roof_workload *const w = task->workload;
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    const struct roof_kernel_fit *const fit =
        roof_calibration_find(calibration, kernel, stack, roof_workload_numerics(w),
                              (enum roof_quantize)w->quantize_input);
    if (fit == NULL) {
        return;
    }
    models[kernel](out, task, fit->parameter);
    if (w->no_launch_overhead > 0) {
        out->launch_s = 0;
    }
    /* No cold kernel beats the bound; the launch comes before it. */
    const bool cold = w->working_set == 0 && w->cache == ROOF_CACHE_COLD;
    if (cold && out->time_s < task->ideal) {
        out->time_s = task->ideal;
    }
    if (out->launch_s > out->time_s) {
        out->bound = ROOF_BOUND_LAUNCH;
    }
    out->time_s += out->launch_s;
    out->low_s = out->time_s * fit->low;
    out->high_s = out->time_s * fit->high;
    if (cold && out->low_s < task->ideal) {
        out->low_s = task->ideal;
    }
    out->fit = fit;
}

/* Of the stack that is asked for, or of the fastest. */
static void expect_fastest(struct roof_expected *out, const struct task *task,
                           const struct roof_calibration *calibration, enum roof_kernel kernel)
{
    const enum roof_stack asked = (enum roof_stack)task->workload->stack;
    if (asked != ROOF_STACK_BEST) {
        expect_in_stack(out, task, calibration, kernel, asked);
        return;
    }
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    for (int stack = ROOF_STACK_BEST + 1; stack < ROOF_STACK_COUNT; stack++) {
        struct roof_expected one;
        expect_in_stack(&one, task, calibration, kernel, (enum roof_stack)stack);
        if (isnan(out->time_s) || one.time_s < out->time_s) {
            *out = one;
        }
    }
}

void roof_kernel_expect(struct roof_expected *out, const struct roof_workload *workload,
                        const struct roof_hardware *hardware, double flops, double peak_flops_per_s,
                        double ideal_s)
{
    const enum roof_kernel kernel = roof_kernel_of(workload);
    const struct task task = {
        .workload = workload,
        .flops = flops,
        .peak = peak_flops_per_s,
        .ideal = ideal_s,
        .bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .sms = hardware->figure[ROOF_FIGURE_SM_COUNT].value,
        .clock = hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value,
        .l2 = hardware->figure[ROOF_FIGURE_L2].value,
    };
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    if (hardware->calibration == NULL || kernel == ROOF_KERNEL_COUNT || isnan(task.peak) ||
        isnan(task.sms) || isnan(task.clock) || isnan(task.l2)) {
        return;
    }
    expect_fastest(out, &task, hardware->calibration, kernel);
    if (kernel == ROOF_KERNEL_PREFILL && !isnan(out->time_s)) {
        /* Several queries take no less than one over the same cache. */
        struct roof_expected one;
        expect_fastest(&one, &task, hardware->calibration, ROOF_KERNEL_DECODE);
        if (one.time_s > out->time_s) {
            *out = one;
        }
    }
}
