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

/* --- GEMM ---------------------------------------------------------------------------------- */

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, meaning) P_##id,
#include "kernel_gemm.h"
#undef ROOF_GEMM_PARAMETER
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

static void expect_gemm(struct roof_expected *out, const struct roof_workload *w,
                        const struct roof_hardware *hardware, const struct roof_kernel_fit *fit,
                        double peak)
{
    const double *const p = fit->parameter;
    const struct roof_shape *const s = &w->shape;
    struct product g = {
        .m = w->op == ROOF_OPERATOR_GEMV ? 1 : (double)s->m,
        .n = (double)s->n,
        .k = (double)s->k,
        .batch = s->batch > 0 ? (double)s->batch : 1,
        .x_element = roof_precision_bits(w->formats.activations) / 8,
        .w_element = roof_precision_bits(w->formats.weights) / 8,
        .y_element = roof_precision_bits(w->formats.out) / 8,
        .peak = peak,
        .bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .sms = hardware->figure[ROOF_FIGURE_SM_COUNT].value,
        .clock = hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value,
        .l2 = hardware->figure[ROOF_FIGURE_L2].value,
    };
    g.x = g.batch * g.m * g.k * g.x_element;
    g.w = g.batch * g.n * g.k * g.w_element;
    g.y = g.batch * g.m * g.n * g.y_element;
    g.working_set = w->working_set > 0            ? (double)w->working_set
                    : w->cache == ROOF_CACHE_WARM ? g.x + g.w + g.y
                                                  : ROOF_UNBOUNDED;
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

/* --- which kernel -------------------------------------------------------------------------- */

static bool is_gemm(enum roof_operator op)
{
    return op == ROOF_OPERATOR_GEMM || op == ROOF_OPERATOR_GEMV || op == ROOF_OPERATOR_BMM;
}

static void expect_in_stack(struct roof_expected *out, const struct roof_workload *w,
                            const struct roof_hardware *hardware, double peak, double ideal_s,
                            enum roof_stack stack)
{
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    const enum roof_numerics numerics =
        roof_numerics_of(w->formats.weights, w->formats.activations);
    const struct roof_kernel_fit *const fit =
        roof_calibration_find(hardware->calibration, ROOF_KERNEL_GEMM, stack, numerics,
                              (enum roof_quantize)w->quantize_input);
    if (fit == NULL) {
        return;
    }
    expect_gemm(out, w, hardware, fit, peak);
    if (w->no_launch_overhead > 0) {
        out->launch_s = 0;
    }
    /* No cold kernel beats the bound; the launch comes before it. */
    const bool cold = w->working_set == 0 && w->cache == ROOF_CACHE_COLD;
    if (cold && out->time_s < ideal_s) {
        out->time_s = ideal_s;
    }
    if (out->launch_s > out->time_s) {
        out->bound = ROOF_BOUND_LAUNCH;
    }
    out->time_s += out->launch_s;
    out->low_s = out->time_s * fit->low;
    out->high_s = out->time_s * fit->high;
    if (cold && out->low_s < ideal_s) {
        out->low_s = ideal_s;
    }
    out->fit = fit;
}

void roof_kernel_expect(struct roof_expected *out, const struct roof_workload *workload,
                        const struct roof_hardware *hardware, double peak_flops_per_s,
                        double ideal_s)
{
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    const double sms = hardware->figure[ROOF_FIGURE_SM_COUNT].value;
    const double clock = hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value;
    const double l2 = hardware->figure[ROOF_FIGURE_L2].value;
    if (hardware->calibration == NULL || !is_gemm(workload->op) || isnan(peak_flops_per_s) ||
        isnan(sms) || isnan(clock) || isnan(l2)) {
        return;
    }
    if (workload->stack != ROOF_STACK_BEST) {
        expect_in_stack(out, workload, hardware, peak_flops_per_s, ideal_s,
                        (enum roof_stack)workload->stack);
        return;
    }
    for (int stack = ROOF_STACK_BEST + 1; stack < ROOF_STACK_COUNT; stack++) {
        struct roof_expected one;
        expect_in_stack(&one, workload, hardware, peak_flops_per_s, ideal_s,
                        (enum roof_stack)stack);
        if (isnan(out->time_s) || one.time_s < out->time_s) {
            *out = one;
        }
    }
}
