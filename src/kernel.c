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

/* ceil for 0 <= x < 2^53, without a call. */
static double up(double x)
{
    const double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* Two times that overlap: the longer, and the share of the shorter that is not hidden. */
static double overlap(double a, double b, double shown)
{
    return a > b ? a + shown * b : b + shown * a;
}

/* Fraction of a set that a cache of some room still holds when it comes round again. */
static double l2_hit(double set, double room)
{
    const double beyond = set / room - 1;
    return beyond <= 0 ? 1 : 1 / (1 + beyond * (2 + beyond * (1.28 + beyond * 0.64)));
}

/* --- GEMM ---------------------------------------------------------------------------------- */

enum {
#define ROOF_GEMM_PARAMETER(id, row) P_##id,
#include "kernel_gemm.h"
#undef ROOF_GEMM_PARAMETER
};

/* A product as its kernel sees it. */
struct product {
    double m, n, k, batch;
    double x, w, y; /* bytes of the operands and the result, all of the batch */
    double x_element, w_element, y_element;
    double peak;
    double bandwidth;
    double sms;
    double clock;
    double l2;
    double working_set; /* bytes; infinite: cold */
};

static const struct {
    short m;
    short n;
} tiles[] = {{16, 64},  {16, 128},  {32, 64},  {32, 128},  {64, 64},   {64, 128},
             {128, 64}, {128, 128}, {64, 256}, {128, 256}, {256, 128}, {256, 256}};
static const int splits[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What one tile costs, whatever the split. */
struct tile_cost {
    double blocks; /* thread blocks without split-K */
    double per_k;  /* seconds per element of K */
    double fixed;  /* seconds per thread block */
    double stream; /* DRAM seconds per element of K of one block */
    enum roof_bound bound;
};

static struct tile_cost cost_of_tile(const struct product *g, const double *p, double bm, double bn,
                                     double weights_missed, double inputs_missed)
{
    const double share = g->bandwidth / g->sms;
    const double step = 128 / larger(g->x_element, g->w_element);
    const double clock = 1 + p[P_POWER] * log1p(2 * g->batch * g->m * g->n * g->k / g->peak / 1e-4);
    const double compute = 2 * bm * bn / (g->peak * p[P_PEAK] / g->sms) * clock *
                           (1 + p[P_TILE] * (64 / bm + 64 / bn));
    const double feed = (bn * g->w_element + bm * g->x_element) / (p[P_L2_RATE] * g->clock);
    const double product = overlap(compute, feed, p[P_OVERLAP]);
    const double latency = p[P_K_STEP] / step;
    return (struct tile_cost){
        .blocks = g->batch * up(g->m / bm) * up(g->n / bn),
        .per_k = larger(product, latency),
        .fixed = p[P_PROLOGUE] + bm * bn * g->y_element / (p[P_EPILOGUE] * share),
        .stream = (bn * g->w_element * weights_missed + bm * g->x_element * inputs_missed) /
                  (p[P_STREAM] * share),
        .bound = latency >= product ? ROOF_BOUND_LATENCY
                 : compute > feed   ? ROOF_BOUND_COMPUTE
                                    : ROOF_BOUND_OPERANDS};
}

static double gemm_time(struct roof_expected *out, const struct product *g, const double *p)
{
    const double room = p[P_L2_CAPACITY] * g->l2;
    const bool cold = isinf(g->working_set);
    const double weights_hit = cold ? 0 : l2_hit(g->working_set, room);
    const double inputs_hit = cold ? 0 : l2_hit(g->x + g->w + g->y, room);
    const double dram =
        (g->w * (1 - weights_hit) + (g->x + g->y) * (1 - inputs_hit)) / (g->bandwidth * p[P_DRAM]);
    const double step = 128 / larger(g->x_element, g->w_element);
    double best = ROOF_UNBOUNDED;
    for (size_t i = 0; i < COUNT(tiles); i++) {
        const struct tile_cost tile =
            cost_of_tile(g, p, tiles[i].m, tiles[i].n, 1 - weights_hit, 1 - inputs_hit);
        for (size_t j = 0; j < COUNT(splits); j++) {
            const double split = splits[j];
            const double blocks = tile.blocks * split;
            if (j > 0 && blocks > 2 * g->sms) {
                break;
            }
            const double full = blocks / g->sms;
            const double waves = (1 - p[P_WAVE]) * larger(full, 1) + p[P_WAVE] * up(full);
            const double depth = up(g->k / (split * step)) * step; /* of K, per block */
            const double on_sms = waves * (tile.fixed + depth * tile.per_k);
            const double memory = larger(dram, depth * tile.stream);
            double time = overlap(on_sms, memory, p[P_OVERLAP]);
            if (j > 0) {
                time +=
                    p[P_SPLIT] + split * g->batch * g->m * g->n * 8 / (p[P_REDUCE] * g->bandwidth);
            }
            if (time < best) {
                best = time;
                out->tiling =
                    (struct roof_tiling){.tile_m = tiles[i].m,
                                         .tile_n = tiles[i].n,
                                         .split_k = splits[j],
                                         .grid = blocks,
                                         .waves = waves,
                                         .utilisation = full / up(full),
                                         .l2_hit = weights_hit,
                                         .bound = memory > on_sms ? ROOF_BOUND_MEMORY : tile.bound};
            }
        }
    }
    out->tiled = true;
    out->bound = out->tiling.bound;
    return best;
}

/* The quantisation of the input, a kernel before the product: it reads 16 bits and writes the
 * input's format. */
static double quantize_time(const struct product *g, const double *p)
{
    const double bytes = g->batch * g->m * g->k * (2 + g->x_element);
    return larger(g->m * p[P_Q_ROW], bytes / (p[P_Q_RATE] * g->bandwidth));
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
    out->launch_s = p[P_LAUNCH];
    out->time_s = kernel;
    if (w->quantize_input != ROOF_QUANTIZE_NONE) {
        const double quantize = quantize_time(&g, p);
        out->launch_s += p[P_Q_LAUNCH];
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
