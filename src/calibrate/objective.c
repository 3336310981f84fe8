// SPDX-License-Identifier: MIT
#include <math.h>

#include "calibrate/search.h"

/* The weight of the distance from the start, which decides between equally good parameters. */
#define RIDGE 1e-4

bool is_share(const struct roof_parameter *p)
{
    return p->max == 1;
}

double to_scale(const struct roof_parameter *p, double value)
{
    return is_share(p) ? log(value / (1 - value)) : log(value);
}

double from_scale(const struct roof_parameter *p, double z)
{
    return is_share(p) ? 1 / (1 + exp(-z)) : exp(z);
}

double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

void try_parameters(struct search *s, const double *z)
{
    for (size_t i = 0; i < s->count; i++) {
        const double neutral = s->parameter[i].neutral;
        s->known[0].parameter[i] = s->without && !isnan(neutral) ? neutral
                                   : isnan(s->chosen[i]) ? from_scale(&s->parameter[i], z[i])
                                                         : s->chosen[i];
    }
}

double predict_row(const struct search *s, const struct row *row)
{
    struct roof_expected expected;
    roof_kernel_expect(&expected, &row->workload, &s->device[row->device], &row->work, row->rate,
                       row->bound_s);
    return expected.time_s;
}

bool is_fitted(const struct search *s, const struct row *row)
{
    return s->fold < 0 || (row->folds >> s->fold & 1) == 0;
}

/* Computes the mean relative error; a prediction that is too fast counts halfway between its error
 * and that of its inverse. */
double objective(unsigned count, const double *z, double *gradient, void *search)
{
    struct search *const s = search;
    double sum = 0;
    double rows = 0;
    double distance = 0;
    (void)gradient;
    try_parameters(s, z);
    for (unsigned i = 0; i < count; i++) {
        distance += (z[i] - s->start[i]) * (z[i] - s->start[i]);
    }
    const struct group *const g = &s->fitter->group[s->group];
    for (size_t i = g->first; i < g->first + g->rows; i++) {
        const struct row *const row = &s->fitter->row[i];
        if (!is_fitted(s, row)) {
            continue;
        }
        const double ratio = predict_row(s, row) / row->measured_s;
        const double error = fabs(ratio - 1);
        sum += ratio < 1 ? 0.5 * error + 0.5 * (1 / ratio - 1) : error;
        rows++;
    }
    return sum / rows + RIDGE * distance;
}

/* Finds the earlier fit of decode that a prefill builds on, because prefill is expected to take at
 * least as long; the kernel is ROOF_KERNEL_COUNT if there is none. */
static struct roof_kernel_fit decode_of(const struct fitter *f, const struct group *g)
{
    for (int i = 0; i < f->dones && g->kernel == ROOF_KERNEL_PREFILL; i++) {
        const struct roof_kernel_fit *const fit = &f->done[i];
        if (fit->kernel == ROOF_KERNEL_DECODE && fit->stack == g->stack &&
            fit->numerics == g->numerics && !fit->own_kv_heads) {
            return *fit;
        }
    }
    return (struct roof_kernel_fit){.kernel = ROOF_KERNEL_COUNT};
}

/* Returns the known launch time of a product. Times that include quantisation do not separate the
 * two launches, so the product's launch is that of the stack's 16-bit products, which are fitted
 * first. */
static double known_launch(const struct fitter *f, const struct group *g)
{
    for (int i = 0; i < f->dones && g->quantize != ROOF_QUANTIZE_NONE; i++) {
        const struct roof_kernel_fit *const fit = &f->done[i];
        if (g->kernel == ROOF_KERNEL_GEMM && fit->kernel == g->kernel && fit->stack == g->stack &&
            fit->numerics == ROOF_NUMERICS_16BIT) {
            return fit->parameter[0];
        }
    }
    return ROOF_UNKNOWN;
}

void open_search(struct search *s, const struct fitter *f, int group)
{
    *s = (struct search){.fitter = f, .group = group, .fold = -1};
    const struct group *const g = &f->group[group];
    s->launch = known_launch(f, g);
    s->parameter = roof_kernel_parameters(g->kernel, &s->count);
    s->known[0] = (struct roof_kernel_fit){.kernel = g->kernel,
                                           .stack = g->stack,
                                           .numerics = g->numerics,
                                           .quantize = g->quantize,
                                           .least_heads = g->least_heads,
                                           .own_kv_heads = g->own_kv_heads,
                                           .low = 1,
                                           .high = 1};
    s->known[1] = decode_of(f, g);
    s->calibration = (struct roof_calibration){.fit = s->known, .count = 2};
    for (int i = 0; i < f->devices; i++) {
        s->device[i] = *f->measured[i];
        s->device[i].calibration = &s->calibration;
    }
}
