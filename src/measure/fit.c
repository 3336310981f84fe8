// SPDX-License-Identifier: MIT
#include "measure/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "measure/timing.h"
#include "predict/kernel.h"
#include "roofline/predict.h"

/* The number of folds; each row is left out in one of them. */
#define FOLDS 5
/* A parameter is accepted if the error falls by this share at least. */
#define GAIN 0.02
/* The factor by which the error of the plain formula counts more than that of a lender. */
#define PLAIN_HANDICAP 1.1
/* Parameters that few rows can determine, in any formula that has them. */
static const char *const telling[] = {
    "dram", "peak", "narrow_rows", "launch_clocks", "overlap", "quantize_launch_clocks", "link"};

/* The rows of one kernel and pair of formats, and what is being fitted to them. */
struct group {
    const struct roof_meter_row **row;
    size_t count;
    struct roof_hardware *hardware;
    struct roof_calibration trial; /* of the one fit below */
    struct roof_kernel_fit fit;
    const struct roof_parameter *parameter;
    size_t parameters;
};

/* --- errors -------------------------------------------------------------------------------- */

/* Returns the ratio of expected and measured time of a row; NAN without an expected time. */
static double ratio(struct group *g, const struct roof_meter_row *row)
{
    struct roof_prediction prediction;
    g->trial.fit = &g->fit;
    g->hardware->calibration = &g->trial;
    const enum roof_status status =
        roof_predict(&prediction, &row->task.workload, g->hardware, NULL);
    g->hardware->calibration = NULL;
    return status == ROOF_OK ? prediction.expected_s / row->time_s : ROOF_UNKNOWN;
}

/* Tells if a row belongs to a fold; all rows belong to fold FOLDS. */
static bool in_turn(size_t row, size_t turn)
{
    return turn == FOLDS || row % FOLDS == turn;
}

/* Returns the mean of |log ratio| over the rows of a fold, or over all others. */
static double error_of(struct group *g, size_t turn, bool others)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        const double error = in_turn(i, turn) == others && turn < FOLDS
                                 ? ROOF_UNKNOWN
                                 : fabs(log(ratio(g, g->row[i])));
        sum += isnan(error) ? 0 : error;
        count += isnan(error) ? 0 : 1;
    }
    return count == 0 ? 0 : sum / (double)count;
}

/* --- one fit ------------------------------------------------------------------------------- */

/* The last step of a search is 0.5%. */
#define HALVINGS 9

/* Moves the chosen parameters (bits) step by step, halving the steps, while the error of the rows
 * outside a fold falls. */
static void search(struct group *g, unsigned chosen, size_t turn)
{
    double best = error_of(g, turn, true);
    double step = 4;
    for (int halving = 0; halving < HALVINGS; halving++) {
        bool moved = true;
        for (int round = 0; moved && round < 20; round++) {
            moved = false;
            for (size_t i = 0; i < g->parameters; i++) {
                for (int way = 0; (chosen >> i & 1) != 0 && way < 2; way++) {
                    double *const value = &g->fit.parameter[i];
                    const double old = *value;
                    const double next = way == 0 ? old * step : old / step;
                    *value = fmin(fmax(next, g->parameter[i].min), g->parameter[i].max);
                    const double error = error_of(g, turn, true);
                    moved = moved || error < best;
                    *value = error < best ? *value : old;
                    best = error < best ? error : best;
                }
            }
        }
        step = sqrt(step);
    }
}

/* Returns the error on rows that are left out when the chosen parameters are fitted. */
static double validate(struct group *g, unsigned chosen)
{
    const struct roof_kernel_fit start = g->fit;
    double sum = 0;
    for (size_t turn = 0; turn < FOLDS; turn++) {
        search(g, chosen, turn);
        sum += error_of(g, turn, false);
        g->fit = start;
    }
    return sum / FOLDS;
}

/* Returns the bit of a parameter; 0 if the formula does not have it. */
static unsigned bit_of(const struct group *g, const char *key)
{
    for (size_t i = 0; i < g->parameters; i++) {
        if (strcmp(g->parameter[i].key, key) == 0) {
            return 1U << i;
        }
    }
    return 0;
}

/* Chooses parameters one by one, always the one that lowers the error the most, and writes down
 * which, and the error on rows that are left out. */
static void choose(struct group *g)
{
    unsigned chosen = 0;
    double best = validate(g, 0);
    g->fit.error_before = best;
    for (size_t round = 0; round < COUNT(telling); round++) {
        unsigned better = 0;
        double least = best * (1 - GAIN);
        for (size_t i = 0; i < COUNT(telling); i++) {
            const unsigned bit = bit_of(g, telling[i]);
            const double error = bit == 0 || (chosen & bit) != 0 ? best : validate(g, chosen | bit);
            better = error < least ? bit : better;
            least = error < least ? error : least;
        }
        if (better == 0) {
            break;
        }
        chosen |= better;
        best = least;
    }
    g->fit.moved = chosen;
    g->fit.error_after = best;
}

/* Fills in the band and the error of the fit by cross-validation. */
static enum roof_status judge(struct group *g, struct roof_error *error)
{
    const struct roof_kernel_fit start = g->fit;
    double *const measured = calloc(g->count, sizeof *measured);
    size_t count = 0;
    double sum = 0;
    if (measured == NULL) {
        return roof_no_memory(error);
    }
    for (size_t turn = 0; turn < FOLDS; turn++) {
        search(g, g->fit.moved, turn);
        for (size_t i = turn; i < g->count; i += FOLDS) {
            const double expected = ratio(g, g->row[i]);
            sum += isnan(expected) ? 0 : fabs(expected - 1);
            measured[count] = 1 / expected;
            count += isnan(expected) ? 0 : 1;
        }
        g->fit = start;
    }
    (void)roof_median(measured, count); /* it sorts */
    g->fit.low = count == 0 ? 1 : fmin(1, fmax(1e-3, measured[count / 10]));
    g->fit.high = count == 0 ? 1 : fmin(1e3, fmax(1, measured[count - 1 - count / 10]));
    g->fit.mape = count == 0 ? 0 : fmin(100, sum / (double)count);
    free(measured);
    return ROOF_OK;
}

/* --- where a fit begins -------------------------------------------------------------------- */

/* Finds the fits of a lender for a kernel, one for each stack that has its own. Returns how many.
 */
static size_t lent_fits(const struct roof_kernel_fit *out[ROOF_STACK_COUNT],
                        const struct roof_calibration *lender, enum roof_kernel kernel,
                        enum roof_numerics numerics)
{
    size_t count = 0;
    for (int stack = ROOF_STACK_BEST; lender != NULL && stack < ROOF_STACK_COUNT; stack++) {
        const struct roof_kernel_fit *const fit = roof_calibration_find(
            lender, kernel, (enum roof_stack)stack, numerics, ROOF_QUANTIZE_NONE);
        if (fit != NULL && (count == 0 || fit != out[count - 1])) {
            out[count++] = fit;
        }
    }
    return count;
}

/* Sets a parameter, within its limits, where the formula has it and the value is known. */
static void set(struct group *g, const char *key, double value)
{
    for (size_t i = 0; i < g->parameters; i++) {
        if (strcmp(g->parameter[i].key, key) == 0 && !isnan(value)) {
            g->fit.parameter[i] = fmin(fmax(value, g->parameter[i].min), g->parameter[i].max);
        }
    }
}

/* Returns the time of the launch probe; NAN if it was not measured. */
static double launch_s(const struct roof_measured *m)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->row[i].task.probe == ROOF_PROBE_LAUNCH) {
            return m->row[i].time_s;
        }
    }
    return ROOF_UNKNOWN;
}

/* Begins a fit with that of another device. */
static void begin_lent(struct group *g, const struct roof_kernel_fit *lent)
{
    g->fit = *lent;
    g->fit.lent = NULL;
    g->fit.moved = 0;
    g->fit.error_before = g->fit.error_after = 0;
    g->parameter = roof_fit_parameters(lent, &g->parameters);
}

/* Begins a fit with the plain formula at the device's own rates. */
static void begin_plain(struct group *g, const struct roof_measured *m)
{
    const size_t last = m->device.level_count < 2 ? 0 : m->device.level_count - 2;
    const double bandwidth = g->hardware->figure[ROOF_FIGURE_BANDWIDTH].value;
    double cache = ROOF_UNKNOWN;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        if (row->task.probe == ROOF_PROBE_READ &&
            row->task.bytes == roof_level_bytes(&m->device, last)) {
            cache = row->amount / row->time_s / bandwidth;
        }
    }
    g->fit = (struct roof_kernel_fit){.plain = true};
    g->parameter = roof_plain_parameters(&g->parameters);
    for (size_t i = 0; i < g->parameters; i++) {
        g->fit.parameter[i] = g->parameter[i].start;
    }
    set(g, "launch_clocks", launch_s(m) * g->hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value);
    set(g, "cache_rate", cache);
}

/* --- all kernels --------------------------------------------------------------------------- */

/* Collects the rows of a kernel and pair of formats, or of one format of weights among them (AUTO:
 * all). */
static void collect(struct group *g, const struct roof_measured *m, enum roof_kernel kernel,
                    enum roof_numerics numerics, enum roof_precision weights)
{
    g->count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        if (row->task.probe == ROOF_PROBE_OPERATOR &&
            roof_kernel_of(&row->task.workload) == kernel &&
            roof_workload_numerics(&row->task.workload) == numerics &&
            (weights == ROOF_PRECISION_AUTO || row->task.workload.formats.weights == weights)) {
            g->row[g->count++] = row;
        }
    }
}

/* Sets the kernel, stack and formats of a fit, by which the search finds it. */
static void name_fit(struct group *g, enum roof_kernel kernel, enum roof_numerics numerics)
{
    g->fit.kernel = kernel;
    g->fit.stack = ROOF_STACK_BEST;
    g->fit.numerics = numerics;
    g->fit.quantize = ROOF_QUANTIZE_NONE;
    g->fit.low = g->fit.high = 1;
    g->fit.rows = (int64_t)g->count;
}

/* Begins the fit of a group and chooses its parameters: of the stacks of the lender, the one with
 * the smallest error on rows that are left out, unless the plain formula is better by a tenth. Few
 * rows cannot show smaller differences, and the lender's formula also covers sizes that were not
 * measured. */
static void choose_form(struct group *g, enum roof_kernel kernel, enum roof_numerics numerics,
                        const struct roof_measured *m, const struct roof_calibration *lender)
{
    const struct roof_kernel_fit *lent[ROOF_STACK_COUNT];
    const size_t count = lent_fits(lent, lender, kernel, numerics);
    const bool few = g->count < ROOF_FIT_ROWS_MIN;
    begin_plain(g, m);
    name_fit(g, kernel, numerics);
    if (!few) {
        choose(g);
    }
    struct group best = *g;
    double least = g->fit.error_after * (count == 0 ? 1 : PLAIN_HANDICAP);
    for (size_t i = 0; i < count; i++) {
        begin_lent(g, lent[i]);
        name_fit(g, kernel, numerics);
        if (!few) {
            choose(g);
        }
        if (g->fit.error_after < least || (i == 0 && few)) {
            best = *g;
            least = g->fit.error_after;
        }
    }
    *g = best;
}

static enum roof_status fit_group(struct roof_fits *out, struct group *g, enum roof_kernel kernel,
                                  enum roof_numerics numerics, enum roof_precision weights,
                                  const struct roof_measured *m,
                                  const struct roof_calibration *lender, struct roof_error *error)
{
    choose_form(g, kernel, numerics, m, lender);
    TRY(judge(g, error));
    search(g, g->fit.moved, FOLDS);
    g->fit.one_format = weights != ROOF_PRECISION_AUTO;
    g->fit.weights = weights;
    if (out->count < ROOF_FITS_MAX) {
        out->fit[out->count++] = g->fit;
    }
    return ROOF_OK;
}

/* Tells if the rows of a group have several formats of weights whose kernels are far from each
 * other: blocks of less than 8 bits on a CPU, which are unpacked differently, and fp32 and tf32 on
 * a GPU, which run on different units. */
static bool has_several(const struct group *g, const struct roof_measured *m,
                        enum roof_numerics numerics)
{
    bool several = false;
    for (size_t i = 1; i < g->count; i++) {
        several = several || g->row[i]->task.workload.formats.weights !=
                                 g->row[0]->task.workload.formats.weights;
    }
    return several &&
           (numerics == ROOF_NUMERICS_32BIT || (m->device.host && numerics == ROOF_NUMERICS_W4A16));
}

/* Fits the rows of a kernel and pair of formats: together, or each format of weights on its own. */
static enum roof_status fit_kernel(struct roof_fits *out, struct group *g, enum roof_kernel kernel,
                                   enum roof_numerics numerics, const struct roof_measured *m,
                                   const struct roof_calibration *lender, struct roof_error *error)
{
    collect(g, m, kernel, numerics, ROOF_PRECISION_AUTO);
    if (g->count == 0) {
        return ROOF_OK;
    }
    if (!has_several(g, m, numerics)) {
        return fit_group(out, g, kernel, numerics, ROOF_PRECISION_AUTO, m, lender, error);
    }
    for (int format = ROOF_PRECISION_AUTO + 1; format < ROOF_PRECISION_COUNT; format++) {
        collect(g, m, kernel, numerics, (enum roof_precision)format);
        TRY(g->count == 0 ? ROOF_OK
                          : fit_group(out, g, kernel, numerics, (enum roof_precision)format, m,
                                      lender, error));
    }
    return ROOF_OK;
}

/* Adds the fits of the lender for kernels that were not measured. */
static void add_lent(struct roof_fits *out, const struct roof_calibration *lender)
{
    for (size_t i = 0; lender != NULL && i < lender->count; i++) {
        bool own = false;
        for (size_t j = 0; j < out->count && !own; j++) {
            own = out->fit[j].lent == NULL && out->fit[j].kernel == lender->fit[i].kernel &&
                  out->fit[j].numerics == lender->fit[i].numerics;
        }
        if (!own && out->count < ROOF_FITS_MAX) {
            out->fit[out->count] = lender->fit[i];
            out->fit[out->count].lent =
                lender->fit[i].lent == NULL ? lender->id : lender->fit[i].lent;
            out->count++;
        }
    }
}

enum roof_status roof_fit_measured(struct roof_fits *out, const struct roof_measured *measured,
                                   struct roof_hardware *hardware,
                                   const struct roof_calibration *lender, struct roof_error *error)
{
    struct group g = {.hardware = hardware, .trial = {.id = hardware->id, .count = 1}};
    enum roof_status status = ROOF_OK;
    *out = (struct roof_fits){.count = 0};
    g.row = calloc(measured->count + 1, sizeof *g.row);
    if (g.row == NULL) {
        return roof_no_memory(error);
    }
    for (int kernel = 0; kernel < ROOF_KERNEL_COUNT; kernel++) {
        for (int numerics = 0; numerics < ROOF_NUMERICS_COUNT && status == ROOF_OK; numerics++) {
            status = fit_kernel(out, &g, (enum roof_kernel)kernel, (enum roof_numerics)numerics,
                                measured, lender, error);
        }
    }
    free(g.row);
    add_lent(out, lender);
    return status;
}
