// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/search.h"

/* --- fitting ------------------------------------------------------------------------------- */

/* The errors of held-out rows. */
struct unseen {
    double error; /* weighted sum */
    double weight;
    double *ratio; /* measured / expected; owned */
    size_t count;
};

/* Adds the errors of the rows that are held out of the current fit. A row with sizes in two folds
 * has weight 1/2 in each. */
static void add_unseen(struct unseen *out, const struct search *s)
{
    const struct group *const g = &s->fitter->group[s->group];
    for (size_t i = g->first; i < g->first + g->rows; i++) {
        const struct row *const row = &s->fitter->row[i];
        if ((row->folds >> s->fold & 1) != 0) {
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
        fprintf(stderr, "roofline-calibrate: the model does not follow these rows; check that "
                        "measured_us is in microseconds, and check the sizes\n");
    }
}

/* A fit to all rows of a group, with the errors of held-out rows in each fold. */
struct candidate {
    struct roof_kernel_fit fit;
    struct unseen unseen;
};

/* Keeps the result of a search: a fit to all rows, or the errors of the held-out fold. */
static void keep_found(struct candidate *out, const struct search *s)
{
    if (s->fold < 0) {
        out->fit = s->known[0];
    } else {
        add_unseen(&out->unseen, s);
    }
}

/* Fits a group to all its rows and for each fold: without the optional parameters of calibrations,
 * and with them. Returns the number of candidates. */
static int find_candidates(struct candidate out[2], struct fitter *f, int group)
{
    struct search s;
    open_search(&s, f, group);
    const bool extensible = is_extensible(&s);
    for (s.fold = -1; s.fold < FOLDS; s.fold++) {
        run_search(&s); /* does not start from the fit to all rows */
        keep_found(&out[0], &s);
        if (extensible) {
            extend_search(&s);
            keep_found(&out[1], &s);
        }
    }
    return extensible ? 2 : 1;
}

/* Adds the fit of a candidate, with its error and its spread on held-out rows. */
static void add_fit(struct fitter *f, int group, const struct candidate *best)
{
    const struct unseen *const unseen = &best->unseen;
    struct roof_kernel_fit *const fit = &f->done[f->dones++];
    *fit = best->fit;
    qsort(unseen->ratio, unseen->count, sizeof *unseen->ratio, by_value);
    fit->rows = (int64_t)f->group[group].rows;
    fit->mape = fmin(unseen->error / unseen->weight, 100);
    fit->low = clamp(unseen->ratio[unseen->count / 10], 1e-3, 1);
    fit->high = clamp(unseen->ratio[unseen->count - 1 - unseen->count / 10], 1, 1e3);
    fit->lent = f->options->pool;
    fit->weights = f->group[group].weights;
    fit->one_format = fit->weights != ROOF_PRECISION_AUTO;
    fit->least_heads = f->group[group].least_heads;
    fit->own_kv_heads = f->group[group].own_kv_heads;
    report_fit(f, fit);
}

/* Fits a group. Optional parameters are kept if they lower the error on held-out rows. */
static enum roof_status fit_group(struct fitter *f, int group, struct roof_error *error)
{
    const size_t room = (size_t)FOLDS * f->rows;
    double *const ratio = malloc(2 * room * sizeof *ratio);
    if (ratio == NULL) {
        return roof_no_memory(error);
    }
    struct candidate candidate[2] = {{.unseen = {.ratio = ratio}},
                                     {.unseen = {.ratio = ratio + room}}};
    const int count = find_candidates(candidate, f, group);
    const struct unseen *const with = &candidate[1].unseen;
    const struct unseen *const without = &candidate[0].unseen;
    const bool better = count > 1 && with->error / with->weight < without->error / without->weight;
    add_fit(f, group, &candidate[better ? 1 : 0]);
    free(ratio);
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
            fprintf(stderr, "roofline-calibrate: %s %s %s: left out, since %zu rows are too few\n",
                    roof_kernel_name(g->kernel), roof_stack_name(g->stack),
                    roof_numerics_name(g->numerics), g->rows);
        }
    }
    return ROOF_OK;
}

/* --- lending ------------------------------------------------------------------------------- */

/* Returns the index of a parameter in a kernel's formula, or -1. */
static int place_of(const struct roof_kernel_fit *fit, const char *key)
{
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_fit_parameters(fit, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameter[i].key, key) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Returns a parameter of a kernel, or NULL if its formula does not have it. */
static double *parameter_of(struct roof_kernel_fit *fit, const char *key)
{
    const int place = place_of(fit, key);
    return place < 0 ? NULL : &fit->parameter[place];
}

/* Multiplies a parameter of a kernel, within its range. */
static void scale_parameter(struct roof_kernel_fit *fit, const char *key, double factor)
{
    size_t count = 0;
    const int place = place_of(fit, key);
    if (place >= 0) {
        const struct roof_parameter *const p = &roof_fit_parameters(fit, &count)[place];
        fit->parameter[place] = clamp(fit->parameter[place] * factor, p->min, p->max);
    }
}

/* Limits for lent kernels from the device's own products; 0: none was fitted. */
struct own {
    double dram;  /* upper limit from products in 16 bits */
    double power; /* lower limit from products in FP8 */
};

/* Limits a kernel's share of the bandwidth to that of the device's own 16-bit products, if known
 * (not 0). */
static void limit_dram(struct roof_kernel_fit *fit, double most)
{
    double *const dram = parameter_of(fit, "dram");
    if (most > 0 && dram != NULL) {
        *dram = fmin(most, *dram);
    }
}

/* Returns the bytes per clock that a device's memory delivers to an SM. */
static double bytes_per_clock(const struct roof_hardware *hardware)
{
    const struct roof_figure *const figure = hardware->figure;
    return figure[ROOF_FIGURE_BANDWIDTH].value /
           (figure[ROOF_FIGURE_SM_COUNT].value * figure[ROOF_FIGURE_BOOST_CLOCK].value);
}

/* Converts the rates of a vector kernel, which are shares of the lender's bandwidth, into shares of
 * the borrower's. These kernels are limited by the instruction issue of an SM, which is the same on
 * both, as long as the borrower's memory is fast enough. */
static void lend_per_sm(struct roof_kernel_fit *fit, double richer)
{
    if (roof_kernel_is_vector(fit->kernel) && !isnan(richer)) { /* SMs and clocks are known */
        scale_parameter(fit, "dram", richer);
        scale_parameter(fit, "l2_rate", richer);
    }
}

/* Raises the clock reduction of a lent int8 product under the power limit to at least that of the
 * device's own FP8 products, because both run on the same units. */
static void limit_power(struct roof_kernel_fit *fit, double least)
{
    double *const power = parameter_of(fit, "power");
    if (fit->kernel == ROOF_KERNEL_GEMM && fit->numerics == ROOF_NUMERICS_INT8 && power != NULL) {
        *power = fmax(least, *power);
    }
}

/* Tells whether a lender's kernel applies to a device. Those of TensorRT-LLM do not apply to other
 * vendors. For prompts through a state vLLM has different kernels on different architectures. */
static bool lends_to(const struct roof_hardware *device, const struct roof_hardware *lender,
                     const struct roof_kernel_fit *fit)
{
    const bool same_vendor = strcmp(lender->vendor, device->vendor) == 0;
    const size_t name = strcspn(lender->architecture, " ");
    const bool same_family = strncmp(lender->architecture, device->architecture, name) == 0;
    const bool own = fit->stack == ROOF_STACK_VLLM && (fit->kernel == ROOF_KERNEL_STATE_PREFILL ||
                                                       fit->kernel == ROOF_KERNEL_KIMI_PREFILL);
    return (same_vendor || fit->stack != ROOF_STACK_TRTLLM) && (same_family || !own);
}

/* Returns true if a device has a fit that is better than a lender's: one for the same kernel, or,
 * for attention of encoders, measured attention of prompts, which is closer than the encoder of
 * another device. */
static bool takes_place(const struct roof_kernel_fit *has, const struct roof_kernel_fit *lent)
{
    const bool encodes = lent->kernel == ROOF_KERNEL_ENCODER &&
                         has->kernel == ROOF_KERNEL_PREFILL && has->lent == NULL;
    return (has->kernel == lent->kernel || encodes) && has->numerics == lent->numerics;
}

/* Borrows the fits of a lender for missing kinds of kernels, or for one kernel. */
static enum roof_status borrow_from(struct fitter *f, int from_lender, const struct own *own,
                                    struct roof_error *error)
{
    const struct roof_calibration *const lender = f->lender[from_lender];
    const enum roof_kernel only = f->lends[from_lender];
    const int before = f->dones;
    struct roof_hardware *from = NULL;
    TRY(roof_hardware_load(&from, lender->id, NULL, error));
    const double richer = bytes_per_clock(from) / bytes_per_clock(f->hardware);
    for (size_t n = 0; n < lender->count; n++) {
        const struct roof_kernel_fit *const fit = &lender->fit[n];
        bool wanted = fit->lent == NULL && f->dones < GROUPS_MAX &&
                      lends_to(f->hardware, from, fit) &&
                      (only == ROOF_KERNEL_COUNT || fit->kernel == only);
        for (int i = 0; i < before && wanted; i++) {
            wanted = !takes_place(&f->done[i], fit);
        }
        if (wanted) {
            struct roof_kernel_fit *const taken = &f->done[f->dones++];
            *taken = *fit;
            taken->lent = lender->id;
            lend_per_sm(taken, richer);
            limit_dram(taken, own->dram);
            limit_power(taken, own->power);
        }
    }
    roof_hardware_free(from);
    return ROOF_OK;
}

/* Tells whether a row reads memory: it is cold, or what it touches exceeds the last cache of its
 * device. */
static bool reads_memory(const struct fitter *f, const struct row *row)
{
    const struct roof_figure *const figure = f->measured[row->device]->figure;
    const double last = figure[ROOF_FIGURE_LLC].value;
    double bytes = (double)row->workload.working_set;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        bytes = fmax(bytes, row->work.bytes[role]);
    }
    return row->workload.cache == ROOF_CACHE_COLD ||
           bytes > fmax(isnan(last) ? 0 : last, figure[ROOF_FIGURE_L2].value);
}

/* Tells whether the rows of a pair of formats show the bandwidth of memory in products. */
static bool shows_bandwidth(const struct fitter *f, enum roof_numerics numerics)
{
    for (int i = 0; i < f->groups; i++) {
        const struct group *const g = &f->group[i];
        for (size_t n = g->first; n < g->first + g->rows; n++) {
            if (g->kernel == ROOF_KERNEL_GEMM && g->numerics == numerics &&
                reads_memory(f, &f->row[n])) {
                return true;
            }
        }
    }
    return false;
}

/* Returns the highest or lowest value of a parameter among the device's own products in a pair of
 * formats; 0 if there are none. */
static double extreme_of(struct fitter *f, int fitted, enum roof_numerics numerics, const char *key,
                         bool highest)
{
    double found = 0;
    for (int i = 0; i < fitted; i++) {
        const double *const value = parameter_of(&f->done[i], key);
        if (f->done[i].kernel == ROOF_KERNEL_GEMM && f->done[i].numerics == numerics &&
            value != NULL) {
            found = found == 0 || (*value > found) == highest ? *value : found;
        }
    }
    return found;
}

/* Adds a fit for every missing kind of kernel. */
static enum roof_status borrow(struct fitter *f, struct roof_error *error)
{
    const int fitted = f->dones;
    const bool kept = f->options->kept != NULL; /* then there are no rows */
    const bool shown = kept || shows_bandwidth(f, ROOF_NUMERICS_16BIT);
    const struct own own = {.dram = shown ? extreme_of(f, fitted, ROOF_NUMERICS_16BIT, "dram", true)
                                          : 0,
                            .power = extreme_of(f, fitted, ROOF_NUMERICS_FP8, "power", false)};
    for (int i = 0; i < fitted; i++) {
        if (f->done[i].rows < FEW_ROWS) {
            limit_dram(&f->done[i], own.dram);
        }
    }
    for (int k = 0; k < f->lenders; k++) {
        TRY(borrow_from(f, k, &own, error));
    }
    fprintf(stderr, "%s: %d fits, %d lent\n", f->hardware->id, fitted, f->dones - fitted);
    return ROOF_OK;
}

/* Sorts fits by kernel and formats, as in a loaded file. */
static void sort_fits(struct fitter *f)
{
    for (int i = 1; i < f->dones; i++) {
        const struct roof_kernel_fit fit = f->done[i];
        int at = i;
        while (at > 0 &&
               (f->done[at - 1].kernel > fit.kernel || (f->done[at - 1].kernel == fit.kernel &&
                                                        f->done[at - 1].numerics > fit.numerics))) {
            f->done[at] = f->done[at - 1];
            at--;
        }
        f->done[at] = fit;
    }
}

enum roof_status fit_groups(struct fitter *f, struct roof_error *error)
{
    for (int kernel = 0; kernel < ROOF_KERNEL_COUNT; kernel++) {
        /* Other fits build on those in 16 bits. */
        TRY(fit_kernel(f, (enum roof_kernel)kernel, true, error));
        TRY(fit_kernel(f, (enum roof_kernel)kernel, false, error));
    }
    sort_fits(f);
    return borrow(f, error);
}

enum roof_status keep_fits(struct fitter *f, struct roof_error *error)
{
    TRY(roof_calibration_load(&f->kept, f->hardware, f->options->kept, NULL, error));
    for (size_t i = 0; i < f->kept->count && f->dones < GROUPS_MAX; i++) {
        if (f->kept->fit[i].lent == NULL) {
            f->done[f->dones++] = f->kept->fit[i];
        }
    }
    return borrow(f, error);
}
