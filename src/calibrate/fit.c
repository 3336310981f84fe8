// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/search.h"

/* --- fitting ------------------------------------------------------------------------------- */

/* The errors of rows that the fits did not see. */
struct unseen {
    double error; /* weighted sum */
    double weight;
    double *ratio; /* measured over expected; owned */
    size_t count;
};

/* Adds the errors of the rows that the fit under trial did not see. A row with sizes in two folds
 * counts half each time. */
static void add_unseen(struct unseen *out, const struct search *s)
{
    for (size_t i = 0; i < s->fitter->rows; i++) {
        const struct row *const row = &s->fitter->row[i];
        if (row->group == s->group && (row->folds >> s->fold & 1) != 0) {
            const double expected = predict_row(s, row);
            const double weight = (row->folds & (row->folds - 1)) != 0 ? 0.5 : 1;
            out->error += weight * fabs(expected / row->measured_s - 1);
            out->weight += weight;
            out->ratio[out->count++] = row->measured_s / expected;
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report_fit(const struct fitter *f, const struct roof_kernel_fit *fit)
{
    fprintf(stderr, "%s %s %s %s %s: %" PRId64 " rows, unseen sizes %.2f%%\n", f->hardware->id,
            roof_kernel_name(fit->kernel), roof_stack_name(fit->stack),
            roof_numerics_name(fit->numerics), roof_quantize_name(fit->quantize), fit->rows,
            100 * fit->mape);
    if (fit->mape > 0.8) {
        fprintf(stderr,
                "roofline-calibrate: the model does not follow these rows; is measured_us in "
                "microseconds, and are the sizes right?\n");
    }
}

/* Fits a group to all its rows, with the error and the spread on rows that each fold's fit did not
 * see. */
static enum roof_status fit_group(struct fitter *f, int group, struct roof_error *error)
{
    struct search s;
    struct unseen unseen = {.ratio = malloc((size_t)FOLDS * f->rows * sizeof *unseen.ratio)};
    if (unseen.ratio == NULL) {
        return roof_no_memory(error);
    }
    open_search(&s, f, group);
    run_search(&s);
    struct roof_kernel_fit all = s.known[0];
    for (s.fold = 0; s.fold < FOLDS; s.fold++) {
        run_search(&s); /* not from the fit that saw everything */
        add_unseen(&unseen, &s);
    }
    qsort(unseen.ratio, unseen.count, sizeof *unseen.ratio, by_value);
    all.rows = (int64_t)f->group[group].rows;
    all.mape = fmin(unseen.error / unseen.weight, 100);
    all.low = clamp(unseen.ratio[unseen.count / 10], 1e-3, 1);
    all.high = clamp(unseen.ratio[unseen.count - 1 - unseen.count / 10], 1, 1e3);
    all.lent = f->options->pool;
    free(unseen.ratio);
    f->done[f->dones++] = all;
    report_fit(f, &all);
    return ROOF_OK;
}

/* Fits the groups of a kernel in 16 bits, or the others. */
static enum roof_status fit_kernel(struct fitter *f, enum roof_kernel kernel, bool wide,
                                   struct roof_error *error)
{
    for (int i = 0; i < f->groups; i++) {
        const struct group *const g = &f->group[i];
        if (g->kernel != kernel || (g->numerics == ROOF_NUMERICS_16BIT) != wide) {
            continue;
        }
        if (g->rows >= LEAST_ROWS) {
            TRY(fit_group(f, i, error));
        } else {
            fprintf(stderr, "roofline-calibrate: %s %s %s: %zu rows are too few, left out\n",
                    roof_kernel_name(g->kernel), roof_stack_name(g->stack),
                    roof_numerics_name(g->numerics), g->rows);
        }
    }
    return ROOF_OK;
}

/* --- lending ------------------------------------------------------------------------------- */

/* Returns a kernel's share of the bandwidth; NULL if its model has none. */
static double *dram_of(struct roof_kernel_fit *fit)
{
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_kernel_parameters(fit->kernel, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameter[i].key, "dram") == 0) {
            return &fit->parameter[i];
        }
    }
    return NULL;
}

/* Lowers a kernel's share of the bandwidth to that of the device's own 16-bit products, if that is
 * known (not 0). */
static void limit_dram(struct roof_kernel_fit *fit, double most)
{
    double *const dram = dram_of(fit);
    if (most > 0 && dram != NULL) {
        *dram = fmin(most, *dram);
    }
}

/* Takes the fits of a lender for kinds of kernels that there are none of. */
static void borrow_from(struct fitter *f, const struct roof_calibration *lender, double most_dram)
{
    const int before = f->dones;
    for (size_t n = 0; n < lender->count; n++) {
        const struct roof_kernel_fit *const fit = &lender->fit[n];
        bool wanted = fit->lent == NULL && f->dones < GROUPS_MAX;
        for (int i = 0; i < before && wanted; i++) {
            wanted = f->done[i].kernel != fit->kernel || f->done[i].numerics != fit->numerics;
        }
        if (wanted) {
            struct roof_kernel_fit *const taken = &f->done[f->dones++];
            *taken = *fit;
            taken->lent = lender->id;
            limit_dram(taken, most_dram);
        }
    }
}

/* Adds a fit of every kind of kernel that the device has none of. */
static void borrow(struct fitter *f)
{
    const int fitted = f->dones;
    double dram = 0;
    for (int i = 0; i < fitted; i++) {
        if (f->done[i].kernel == ROOF_KERNEL_GEMM && f->done[i].numerics == ROOF_NUMERICS_16BIT) {
            dram = fmax(dram, *dram_of(&f->done[i]));
        }
    }
    for (int i = 0; i < fitted; i++) {
        if (f->done[i].rows < FEW_ROWS) {
            limit_dram(&f->done[i], dram);
        }
    }
    for (int k = 0; k < f->lenders; k++) {
        borrow_from(f, f->lender[k], dram);
    }
    fprintf(stderr, "%s: %d fits, %d lent\n", f->hardware->id, fitted, f->dones - fitted);
}

enum roof_status fit_groups(struct fitter *f, struct roof_error *error)
{
    for (int kernel = 0; kernel < ROOF_KERNEL_COUNT; kernel++) {
        /* Other fits build on those in 16 bits. */
        TRY(fit_kernel(f, (enum roof_kernel)kernel, true, error));
        TRY(fit_kernel(f, (enum roof_kernel)kernel, false, error));
    }
    borrow(f);
    return ROOF_OK;
}
