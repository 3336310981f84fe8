// SPDX-License-Identifier: MIT
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/fitter.h"
#include "measure/fit.h"

/* Returns the relative error of the expected time of a row; NAN if there is none. */
static double error_of(struct fitter *f, const struct row *row,
                       const struct roof_calibration *calibration)
{
    struct roof_prediction p;
    struct roof_calibration own = *calibration;
    f->hardware->calibration = &own;
    const enum roof_status status = roof_predict(&p, &row->workload, f->hardware, NULL);
    f->hardware->calibration = NULL;
    return status == ROOF_OK ? fabs(p.expected_s / row->measured_s - 1) : ROOF_UNKNOWN;
}

/* Finds the first lender that measured a kernel for a pair of formats. */
static const struct roof_calibration *lender_of(const struct fitter *f, const struct group *g)
{
    for (int l = 0; l < f->lenders; l++) {
        const struct roof_calibration *const c = f->lender[l];
        for (size_t i = 0; i < c->count; i++) {
            if (c->fit[i].lent == NULL && c->fit[i].kernel == g->kernel &&
                c->fit[i].numerics == g->numerics) {
                return c;
            }
        }
    }
    return NULL;
}

/* Finds the rows of a group in a fixed order that mixes their sizes. Returns their number. */
static size_t mixed_rows(const struct row **out, const struct fitter *f, int group)
{
    const size_t count = f->group[group].rows;
    for (size_t i = 0; i < count; i++) {
        out[i] = &f->row[f->group[group].first + i];
    }
    uint64_t state = 1;
    for (size_t i = count; i > 1; i--) { /* Fisher-Yates shuffle */
        state = state * 6364136223846793005U + 1442695040888963407U;
        const size_t other = (size_t)(state >> 33) % i;
        const struct row *const last = out[i - 1];
        out[i - 1] = out[other];
        out[other] = last;
    }
    return count;
}

/* Fits a group to its first rows, and prints the errors in percent on the others: those of the
 * lender, and those of the fit. */
static enum roof_status judge_group(struct fitter *f, int group, const struct row **row,
                                    struct roof_meter_row *few, struct roof_error *error)
{
    const struct group *const g = &f->group[group];
    const struct roof_calibration *const lender = lender_of(f, g);
    const size_t count = mixed_rows(row, f, group);
    const size_t taken = (size_t)f->options->few;
    if (lender == NULL || count < 3 * taken) {
        return ROOF_OK; /* too few rows would remain to judge the fit */
    }
    for (size_t i = 0; i < taken; i++) {
        assert(row[i] != NULL);
        few[i] = (struct roof_meter_row){
            .task = {.probe = ROOF_PROBE_OPERATOR, .workload = row[i]->workload},
            .time_s = row[i]->measured_s};
    }
    const struct roof_measured measured = {.row = few, .count = taken};
    struct roof_fits fits;
    TRY(roof_fit_measured(&fits, &measured, f->hardware, lender, error));
    const struct roof_calibration own = {
        .id = f->hardware->id, .fit = fits.fit, .count = fits.count};
    double lent_sum = 0;
    double fitted_sum = 0;
    size_t rows = 0;
    for (size_t i = taken; i < count; i++) {
        const double lent = error_of(f, row[i], lender);
        const double fitted = error_of(f, row[i], &own);
        if (!isnan(lent + fitted)) { /* both are judged by the same rows */
            lent_sum += lent;
            fitted_sum += fitted;
            rows++;
        }
    }
    if (rows > 0) {
        printf("%s,%s,%s %" PRId64 "%s,%s,%s,%d,%zu,%.1f,%.1f\n", f->hardware->id,
               roof_kernel_name(g->kernel), roof_numerics_name(g->numerics), g->least_heads,
               g->own_kv_heads ? " own" : "", roof_stack_name(g->stack), lender->id,
               f->options->few, rows, 100 * lent_sum / (double)rows,
               100 * fitted_sum / (double)rows);
    }
    return ROOF_OK;
}

enum roof_status judge_few(struct fitter *f, struct roof_error *error)
{
    const struct row **const row = calloc(f->rows + 1, sizeof *row);
    struct roof_meter_row *const few = calloc((size_t)f->options->few, sizeof *few);
    enum roof_status status = row == NULL || few == NULL ? roof_no_memory(error) : ROOF_OK;
    if (status == ROOF_OK) {
        printf("hardware,kernel,numerics and heads,stack,lender,few,rows,lent,fitted\n");
    }
    for (int group = 0; group < f->groups && status == ROOF_OK; group++) {
        if (f->group[group].quantize == ROOF_QUANTIZE_NONE) {
            status = judge_group(f, group, row, few, error);
        }
    }
    free(row);
    free(few);
    return status;
}
