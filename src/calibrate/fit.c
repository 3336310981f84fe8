// SPDX-License-Identifier: MIT
/*
 * roofline-calibrate: fits the parameters of the expected-time model to measured rows.
 *
 * Rows are those of roofline compare. Each combination of stack, formats and quantisation in them
 * gets parameters of its own, found by a subplex search (NLopt) that minimises the mean relative
 * error. Errors and bands are of rows that a fit did not see: sizes are dealt into folds, and a
 * fold's fit leaves out every row that has one of its sizes.
 *
 * Kernels that nobody measured on the device are lent by other devices (--lend): their parameters
 * are in clocks and in shares of a device's own figures. Where there are a few rows, only the
 * shares of bandwidth and peak are fitted to them and the rest is lent; and no lent share of the
 * bandwidth is above that of the device's own 16-bit products.
 */
#include <inttypes.h>
#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roofline/roofline.h"

#define FOLDS 5
#define GROUPS_MAX 256
#define SIZES_MAX 4096
#define RIDGE 1e-4
#define STARTS 2 /* besides the one that is named */
#define LEAST 5  /* rows below which a kernel is left out */
#define FEW 20   /* rows below which all but two parameters are lent */
#define LENDERS_MAX 8
#define DEVICES_MAX 16
#define DRAWS 300

/* A measured row. */
struct row {
    int device;
    struct roof_workload workload; /* resolved */
    double measured_s;
    struct roof_work work;
    double rate; /* FLOP/s, or bytes/s of a link */
    double ideal_s;
    int group;
    unsigned folds; /* bits: it is unseen in these */
};

/* What is fitted together. */
struct group {
    enum roof_kernel kernel;
    enum roof_stack stack;
    enum roof_numerics numerics;
    enum roof_quantize quantize;
    size_t rows;
};

struct fitter {
    struct roof_hardware *hardware; /* whose parameters are wanted */
    const char *name;               /* as it was given: an id or a file */
    struct roof_hardware *measured[DEVICES_MAX];
    int devices;
    const char *pool; /* --from, NULL: the device itself */
    struct row *row;
    size_t rows;
    size_t capacity;
    struct group group[GROUPS_MAX];
    int groups;
    struct roof_kernel_fit done[GROUPS_MAX];
    int dones;
    struct roof_calibration *lender[LENDERS_MAX];
    int lenders;
    struct sizes {
        int64_t size[SIZES_MAX]; /* that occur, sorted */
        int count;
    } of[ROOF_KERNEL_COUNT];
    bool failed;
};

/* One search. */
struct search {
    const struct fitter *fitter;
    struct roof_hardware device[DEVICES_MAX]; /* copies with the calibration under trial */
    struct roof_calibration calibration;
    struct roof_kernel_fit known[2]; /* under trial, and what it builds on */
    const struct roof_parameter *parameter;
    size_t count;
    int group;
    int fold; /* left out; -1: none */
    double start[ROOF_FIT_PARAMETERS_MAX];
    bool held;      /* all but bandwidth and peak stay at the start */
    bool near_peak; /* a row needs half as long for its FLOPs as for its bytes, or longer */
    bool uncached;  /* a row's bytes do not fit in the L2 */
    double launch;  /* of the stack's 16-bit products, where times have a quantisation too; NAN */
};

/* --- rows ---------------------------------------------------------------------------------- */

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    struct fitter *const f = context;
    for (int i = 0; i < f->devices; i++) {
        const bool given = f->measured[i] == f->hardware && strcmp(name, f->name) == 0;
        if (given || strcmp(name, f->measured[i]->id) == 0) {
            *out = f->measured[i];
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_UNSATISFIED, "another device");
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    (void)context;
    (void)out;
    (void)layout;
    return roof_error_set(error, ROOF_USAGE, "models are not fitted: %s", name);
}

static void on_bad(void *context, const struct roof_error *error)
{
    char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    ((struct fitter *)context)->failed = true;
    fprintf(stderr, "roofline-calibrate: %s\n", roof_error_line(message, sizeof message, error));
}

/* One number for several sizes (Fibonacci hashing). */
static int64_t mixed(int64_t a, int64_t b)
{
    return (int64_t)((((uint64_t)a + (uint64_t)b) * 0x9e3779b97f4a7c15U ^ (uint64_t)b) >> 1);
}

/* In the order of the first, as other sizes are, and then in any. */
static int64_t ordered(int64_t first, int64_t others)
{
    return (int64_t)(((uint64_t)first << 40 | (uint64_t)others >> 23) & INT64_MAX);
}

/* The sizes by which a kernel's rows are dealt: a fold leaves out whole ones. */
static int sizes_of(int64_t out[2], const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    switch (roof_kernel_of(w)) {
    case ROOF_KERNEL_GEMM:
        out[0] = s->n;
        out[1] = s->k;
        return 2;
    case ROOF_KERNEL_BMM:
        out[0] = s->batch;
        return 1;
    case ROOF_KERNEL_DECODE:
    case ROOF_KERNEL_PREFILL:
    case ROOF_KERNEL_MLA_DECODE:
    case ROOF_KERNEL_MLA_PREFILL:
        out[0] = s->heads;
        return 1;
    case ROOF_KERNEL_MOE: /* the model */
        out[0] = ordered(s->hidden, mixed(mixed(s->intermediate, s->experts), s->top_k));
        return 1;
    case ROOF_KERNEL_ALL_REDUCE:
    case ROOF_KERNEL_ONE_SHOT:
    case ROOF_KERNEL_ALL_GATHER:
    case ROOF_KERNEL_REDUCE_SCATTER:
    case ROOF_KERNEL_ALL_TO_ALL: /* two octaves */
        out[0] = (int64_t)(log2((double)s->elements) / 2);
        return 1;
    case ROOF_KERNEL_ROPE:
        out[0] = mixed(s->heads, s->head_dim);
        return 1;
    default:
        out[0] = s->hidden;
        return 1;
    }
}

static bool add_size(struct sizes *s, int64_t size)
{
    int at = 0;
    while (at < s->count && s->size[at] < size) {
        at++;
    }
    if (at < s->count && s->size[at] == size) {
        return true;
    }
    if (s->count == SIZES_MAX) {
        return false;
    }
    memmove(&s->size[at + 1], &s->size[at], (size_t)(s->count - at) * sizeof s->size[0]);
    s->size[at] = size;
    s->count++;
    return true;
}

static unsigned fold_of(const struct sizes *s, int64_t size)
{
    int at = 0;
    while (s->size[at] < size) {
        at++;
    }
    return 1U << (at % FOLDS);
}

static enum roof_status on_row(void *context, const struct roof_compared *compared,
                               struct roof_error *error)
{
    struct fitter *const f = context;
    const struct roof_prediction *const p = compared->prediction;
    const struct roof_workload *const w = &p->workload;
    struct group g = {.kernel = roof_kernel_of(w),
                      .stack = (enum roof_stack)w->stack,
                      .numerics = roof_workload_numerics(w),
                      .quantize = (enum roof_quantize)w->quantize_input};
    const bool collective = roof_operator_row(w->op)->kind == ROOF_KIND_COLLECTIVE;
    const double rate = collective ? p->link.bytes_per_s : p->peak_flops_per_s;
    const struct roof_figure *const figure = compared->hardware->figure;
    if (g.kernel == ROOF_KERNEL_COUNT || g.numerics == ROOF_NUMERICS_COUNT || isnan(rate) ||
        isnan(figure[ROOF_FIGURE_SM_COUNT].value) || isnan(figure[ROOF_FIGURE_L2].value) ||
        isnan(figure[ROOF_FIGURE_BOOST_CLOCK].value)) {
        return ROOF_OK; /* the models need all of these */
    }
    int at = 0;
    while (at < f->groups &&
           (f->group[at].kernel != g.kernel || f->group[at].stack != g.stack ||
            f->group[at].numerics != g.numerics || f->group[at].quantize != g.quantize)) {
        at++;
    }
    if (at == GROUPS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "too many kinds of kernels");
    }
    if (at == f->groups) {
        f->group[f->groups++] = g;
    }
    if (f->rows == f->capacity) {
        const size_t capacity = f->capacity == 0 ? 4096 : 2 * f->capacity;
        struct row *const grown = realloc(f->row, capacity * sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        f->row = grown;
        f->capacity = capacity;
    }
    int device = 0;
    while (f->measured[device] != compared->hardware) {
        device++;
    }
    f->group[at].rows++;
    f->row[f->rows++] = (struct row){.device = device,
                                     .workload = *w,
                                     .measured_s = compared->measured_s,
                                     .work = p->part[0].work,
                                     .rate = rate,
                                     .ideal_s = p->time_s,
                                     .group = at};
    int64_t size[2];
    for (int i = sizes_of(size, w); i > 0; i--) {
        if (!add_size(&f->of[g.kernel], size[i - 1])) {
            return roof_error_set(error, ROOF_USAGE, "more than %d sizes of %s", SIZES_MAX,
                                  roof_kernel_name(g.kernel));
        }
    }
    return ROOF_OK;
}

/* --- the search ---------------------------------------------------------------------------- */

/* Parameters are searched on a scale without ends: log, and for shares of 1 the logit. */
static bool share(const struct roof_parameter *p)
{
    return p->max == 1;
}

static double to_scale(const struct roof_parameter *p, double value)
{
    return share(p) ? log(value / (1 - value)) : log(value);
}

static double from_scale(const struct roof_parameter *p, double z)
{
    return share(p) ? 1 / (1 + exp(-z)) : exp(z);
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void put_parameters(struct search *s, const double *z)
{
    for (size_t i = 0; i < s->count; i++) {
        s->known[0].parameter[i] = from_scale(&s->parameter[i], z[i]);
    }
}

static double predict(const struct search *s, const struct row *row)
{
    struct roof_expected expected;
    roof_kernel_expect(&expected, &row->workload, &s->device[row->device], &row->work, row->rate,
                       row->ideal_s);
    return expected.time_s;
}

/* Whether a row is of the group, and not of the fold that is left out. */
static bool fitted(const struct search *s, const struct row *row)
{
    return row->group == s->group && (s->fold < 0 || (row->folds >> s->fold & 1) == 0);
}

/* Mean relative error; a prediction that is too fast counts between that and its inverse. */
static double objective(unsigned count, const double *z, double *gradient, void *data)
{
    struct search *const s = data;
    double sum = 0;
    double rows = 0;
    double distance = 0;
    (void)gradient;
    put_parameters(s, z);
    for (unsigned i = 0; i < count; i++) {
        distance += (z[i] - s->start[i]) * (z[i] - s->start[i]);
    }
    for (size_t i = 0; i < s->fitter->rows; i++) {
        const struct row *const row = &s->fitter->row[i];
        if (!fitted(s, row)) {
            continue;
        }
        const double ratio = predict(s, row) / row->measured_s;
        const double error = fabs(ratio - 1);
        sum += ratio < 1 ? 0.5 * error + 0.5 * (1 / ratio - 1) : error;
        rows++;
    }
    return sum / rows + RIDGE * distance;
}

/* What a few rows tell nothing of: all but bandwidth and peak, and those where they are far from
 * them. */
static bool held(const struct search *s, const struct roof_parameter *p)
{
    const bool told =
        strcmp(p->key, "peak") == 0 ? s->near_peak : strcmp(p->key, "dram") == 0 && s->uncached;
    return s->held && !told;
}

/* What no fit may move: common values, figures of the device, what is lent, and the launch of
 * quantised products. */
static double pinned(const struct search *s, const struct roof_parameter *p, double start)
{
    if (held(s, p)) {
        return from_scale(p, start);
    }
    if (!isnan(s->launch) && strcmp(p->key, "launch_clocks") == 0) {
        return s->launch;
    }
    if (s->known[0].kernel == ROOF_KERNEL_MLA_DECODE && strcmp(p->key, "tile_rows") == 0) {
        return roof_matrix_rows(s->fitter->hardware->architecture);
    }
    return p->min == p->max ? p->min : ROOF_UNKNOWN;
}

/* Subplex rounds of ever smaller steps from z, which receives the best; what is minimised, there.
 */
static double search_from(struct search *s, double *z, const double *low, const double *high,
                          int evaluations)
{
    static const double steps[] = {0.3, 0.2, 0.1};
    double value = HUGE_VAL;
    for (size_t round = 0; round < sizeof steps / sizeof *steps; round++) {
        double step[ROOF_FIT_PARAMETERS_MAX] = {0};
        nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, (unsigned)s->count);
        for (size_t i = 0; i < s->count; i++) {
            step[i] = steps[round];
            z[i] = clamp(z[i], low[i], high[i]);
        }
        nlopt_set_lower_bounds(opt, low);
        nlopt_set_upper_bounds(opt, high);
        nlopt_set_min_objective(opt, objective, s);
        nlopt_set_maxeval(opt, evaluations);
        nlopt_set_ftol_rel(opt, 1e-5);
        nlopt_set_initial_step(opt, step);
        (void)nlopt_optimize(opt, z, &value);
        nlopt_destroy(opt);
    }
    return value;
}

/* Uniform in -1..1, the same in every run. */
static double draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* The ends of the search, of no width where a parameter is pinned, to which z and the start go. */
static void set_limits(struct search *s, double *z, double *low, double *high)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_parameter *const p = &s->parameter[i];
        low[i] = to_scale(p, p->min);
        high[i] = to_scale(p, share(p) ? 0.995 : p->max);
        const double fixed = pinned(s, p, s->start[i]);
        if (!isnan(fixed)) {
            low[i] = high[i] = z[i] = s->start[i] = to_scale(p, fixed);
        }
    }
}

/* From the parameters of each lender's kernels of the kind. */
static bool search_lent(struct search *s, double *z, int evaluations)
{
    const struct fitter *const f = s->fitter;
    const struct group *const g = &f->group[s->group];
    double low[ROOF_FIT_PARAMETERS_MAX] = {0};
    double high[ROOF_FIT_PARAMETERS_MAX] = {0};
    double best = HUGE_VAL;
    s->held = true;
    s->near_peak = s->uncached = false;
    for (size_t i = 0; i < f->rows; i++) {
        const struct row *const row = &f->row[i];
        const double l2 = f->measured[row->device]->figure[ROOF_FIGURE_L2].value;
        double bytes = 0;
        for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
            bytes += row->work.bytes[role];
        }
        if (fitted(s, row)) {
            s->near_peak = s->near_peak || row->work.flops / row->rate > row->ideal_s / 2;
            s->uncached = s->uncached || bytes > 1.5 * l2;
        }
    }
    for (int k = 0; k < f->lenders && best == HUGE_VAL; k++) {
        for (size_t n = 0; n < f->lender[k]->count; n++) {
            const struct roof_kernel_fit *const fit = &f->lender[k]->fit[n];
            double there[ROOF_FIT_PARAMETERS_MAX] = {0};
            if (fit->kernel != g->kernel || fit->numerics != g->numerics) {
                continue;
            }
            for (size_t i = 0; i < s->count; i++) {
                s->start[i] = there[i] = to_scale(&s->parameter[i], fit->parameter[i]);
            }
            set_limits(s, there, low, high);
            const double found = search_from(s, there, low, high, evaluations);
            if (found < best) {
                best = found;
                memcpy(z, there, sizeof there);
            }
        }
    }
    s->held = best < HUGE_VAL;
    return s->held;
}

/* From the start that the parameters name, and from the best of random points around it. */
static void search_all(struct search *s, double *z, int evaluations)
{
    double low[ROOF_FIT_PARAMETERS_MAX] = {0};
    double high[ROOF_FIT_PARAMETERS_MAX] = {0};
    double other[STARTS][ROOF_FIT_PARAMETERS_MAX] = {{0}};
    double value[STARTS];
    uint64_t state = 88172645463325252U;
    for (size_t i = 0; i < s->count; i++) {
        z[i] = s->start[i] = to_scale(&s->parameter[i], s->parameter[i].start);
    }
    set_limits(s, z, low, high);
    for (int k = 0; k < STARTS; k++) {
        value[k] = HUGE_VAL;
    }
    for (int n = 0; n < DRAWS; n++) {
        double point[ROOF_FIT_PARAMETERS_MAX] = {0};
        for (size_t i = 0; i < s->count; i++) {
            point[i] = clamp(s->start[i] + 2 * (draw(&state) + draw(&state)), low[i], high[i]);
        }
        const double here = objective((unsigned)s->count, point, NULL, s);
        int at = STARTS;
        while (at > 0 && here < value[at - 1]) {
            at--;
        }
        if (at < STARTS) {
            memmove(&value[at + 1], &value[at], (size_t)(STARTS - 1 - at) * sizeof *value);
            memmove(&other[at + 1], &other[at], (size_t)(STARTS - 1 - at) * sizeof *other);
            value[at] = here;
            memcpy(other[at], point, sizeof point);
        }
    }
    double best = search_from(s, z, low, high, evaluations);
    for (int k = 0; k < STARTS; k++) {
        const double found = search_from(s, other[k], low, high, evaluations);
        if (found < best) {
            best = found;
            memcpy(z, other[k], sizeof other[k]);
        }
    }
}

/* Leaves what it found under trial. */
static void run_search(struct search *s, int evaluations)
{
    double z[ROOF_FIT_PARAMETERS_MAX] = {0};
    if (s->fitter->group[s->group].rows >= FEW || !search_lent(s, z, evaluations)) {
        search_all(s, z, evaluations);
    }
    put_parameters(s, z);
}

/* Prefill is expected to take no less than decode, whose fit is there first; one of COUNT if not.
 */
static struct roof_kernel_fit decode_of(const struct fitter *f, const struct group *g)
{
    for (int i = 0; i < f->dones && g->kernel == ROOF_KERNEL_PREFILL; i++) {
        const struct roof_kernel_fit *const fit = &f->done[i];
        if (fit->kernel == ROOF_KERNEL_DECODE && fit->stack == g->stack &&
            fit->numerics == g->numerics) {
            return *fit;
        }
    }
    return (struct roof_kernel_fit){.kernel = ROOF_KERNEL_COUNT};
}

/* Times of a product and the quantisation before it do not tell two launches apart: the product's
 * is that of the stack's 16-bit products, whose fit is there first. */
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

static void open_search(struct search *s, const struct fitter *f, int group)
{
    *s = (struct search){.fitter = f, .group = group, .fold = -1};
    const struct group *const g = &f->group[group];
    s->launch = known_launch(f, g);
    s->parameter = roof_kernel_parameters(g->kernel, &s->count);
    s->known[0] = (struct roof_kernel_fit){.kernel = g->kernel,
                                           .stack = g->stack,
                                           .numerics = g->numerics,
                                           .quantize = g->quantize,
                                           .low = 1,
                                           .high = 1};
    s->known[1] = decode_of(f, g);
    s->calibration = (struct roof_calibration){.fit = s->known, .count = 2};
    for (int i = 0; i < f->devices; i++) {
        s->device[i] = *f->measured[i];
        s->device[i].calibration = &s->calibration;
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --- results ------------------------------------------------------------------------------- */

/* Rounded to six digits, so that a file does not change with the last bit of a library. */
static void put_rounded(struct roof_text *out, double value)
{
    char digits[32];
    double rounded = value;
    snprintf(digits, sizeof digits, "%.5e", value);
    (void)sscanf(digits, "%lf", &rounded);
    roof_text_number(out, rounded);
}

static const char *const quantize_names[ROOF_QUANTIZE_COUNT] = {"none", "static", "dynamic",
                                                                "block"};

static void put_fit(struct roof_text *out, const struct roof_kernel_fit *fit)
{
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_kernel_parameters(fit->kernel, &count);
    roof_text_printf(out,
                     "    {\"kernel\": \"%s\", \"stack\": \"%s\", \"numerics\": \"%s\", "
                     "\"quantize_input\": \"%s\", \"rows\": %" PRId64 ",\n     ",
                     roof_kernel_name(fit->kernel), roof_stack_name(fit->stack),
                     roof_numerics_name(fit->numerics), quantize_names[fit->quantize], fit->rows);
    if (fit->lent != NULL) {
        roof_text_printf(out, "\"lent\": \"%s\", ", fit->lent);
    }
    roof_text_put(out, "\"mape\": ");
    put_rounded(out, fit->mape);
    roof_text_put(out, ", \"low\": ");
    put_rounded(out, fit->low);
    roof_text_put(out, ", \"high\": ");
    put_rounded(out, fit->high);
    roof_text_put(out, ",\n     \"parameters\": {");
    for (size_t i = 0; i < count; i++) {
        roof_text_printf(out, "%s\"%s\": ", i == 0 ? "" : ", ", parameter[i].key);
        put_rounded(out, fit->parameter[i]);
    }
    roof_text_put(out, "}}");
}

/* The fit of a group to all its rows, with the error and the spread on those that each fold's fit
 * did not see. */
static bool fit_group(struct fitter *f, int group, int evaluations)
{
    struct search s;
    double error = 0;
    double weight = 0;
    size_t count = 0;
    double *const residual = malloc((size_t)FOLDS * f->rows * sizeof *residual);
    if (residual == NULL) {
        return false;
    }
    open_search(&s, f, group);
    run_search(&s, evaluations);
    struct roof_kernel_fit all = s.known[0];
    for (s.fold = 0; s.fold < FOLDS; s.fold++) {
        run_search(&s, evaluations); /* not from the fit that saw everything */
        for (size_t i = 0; i < f->rows; i++) {
            const struct row *const row = &f->row[i];
            if (row->group == group && (row->folds >> s.fold & 1) != 0) {
                const double expected = predict(&s, row);
                const double share_of_row = (row->folds & (row->folds - 1)) != 0 ? 0.5 : 1;
                error += share_of_row * fabs(expected / row->measured_s - 1);
                weight += share_of_row;
                residual[count++] = row->measured_s / expected;
            }
        }
    }
    qsort(residual, count, sizeof *residual, by_value);
    all.rows = (int64_t)f->group[group].rows;
    all.mape = fmin(error / weight, 100);
    all.low = clamp(residual[count / 10], 1e-3, 1);
    all.high = clamp(residual[count - 1 - count / 10], 1, 1e3);
    all.lent = f->pool;
    f->done[f->dones++] = all;
    fprintf(stderr, "%s %s %s %s %s: %" PRId64 " rows, unseen sizes %.2f%%\n", f->hardware->id,
            roof_kernel_name(all.kernel), roof_stack_name(all.stack),
            roof_numerics_name(all.numerics), quantize_names[all.quantize], all.rows,
            100 * all.mape);
    free(residual);
    if (all.mape > 0.8) {
        fprintf(stderr,
                "roofline-calibrate: the model does not follow these rows; is measured_us in "
                "microseconds, and are the sizes right?\n");
    }
    return true;
}

/* A kernel's share of the bandwidth; NULL if its model has none. */
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

/* A fit of every kind of kernel that the device has none of. */
static void borrow(struct fitter *f)
{
    const int own = f->dones;
    double dram = 0;
    for (int i = 0; i < own; i++) {
        const struct roof_kernel_fit *const fit = &f->done[i];
        if (fit->kernel == ROOF_KERNEL_GEMM && fit->numerics == ROOF_NUMERICS_16BIT) {
            dram = fmax(dram, *dram_of(&f->done[i]));
        }
    }
    for (int i = 0; i < own && dram > 0; i++) {
        if (f->done[i].rows < FEW && dram_of(&f->done[i]) != NULL) {
            *dram_of(&f->done[i]) = fmin(dram, *dram_of(&f->done[i]));
        }
    }
    for (int k = 0; k < f->lenders; k++) {
        const int before = f->dones;
        for (size_t n = 0; n < f->lender[k]->count; n++) {
            const struct roof_kernel_fit *const fit = &f->lender[k]->fit[n];
            bool wanted = fit->lent == NULL && f->dones < GROUPS_MAX;
            for (int i = 0; i < before && wanted; i++) {
                wanted = f->done[i].kernel != fit->kernel || f->done[i].numerics != fit->numerics;
            }
            if (wanted) {
                struct roof_kernel_fit *const taken = &f->done[f->dones++];
                *taken = *fit;
                taken->lent = f->lender[k]->id;
                if (dram > 0 && dram_of(taken) != NULL) {
                    *dram_of(taken) = fmin(dram, *dram_of(taken));
                }
            }
        }
    }
    fprintf(stderr, "%s: %d fits, %d lent\n", f->hardware->id, own, f->dones - own);
}

/* The devices whose rows are fitted. */
static enum roof_status load_measured(struct fitter *f, struct roof_error *error)
{
    char id[128];
    enum roof_status status = ROOF_OK;
    if (f->pool == NULL) {
        f->measured[f->devices++] = f->hardware;
        return ROOF_OK;
    }
    for (const char *at = f->pool; *at != '\0' && status == ROOF_OK;) {
        const size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof id || f->devices == DEVICES_MAX) {
            return roof_error_set(error, ROOF_USAGE, "--from takes 1 to %d device ids",
                                  DEVICES_MAX);
        }
        memcpy(id, at, length);
        id[length] = '\0';
        status = roof_hardware_load(&f->measured[f->devices], id, NULL, error);
        f->devices += status == ROOF_OK ? 1 : 0;
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return status;
}

/* Where a fold would leave out most rows of a group, every fifth row is left out instead. */
static void deal_small_groups(struct fitter *f)
{
    size_t out[GROUPS_MAX][FOLDS] = {{0}};
    size_t nth[GROUPS_MAX] = {0};
    for (size_t i = 0; i < f->rows; i++) {
        for (int fold = 0; fold < FOLDS; fold++) {
            out[f->row[i].group][fold] += f->row[i].folds >> fold & 1;
        }
    }
    for (size_t i = 0; i < f->rows; i++) {
        const int g = f->row[i].group;
        for (int fold = 0; fold < FOLDS; fold++) {
            if (3 * out[g][fold] > 2 * f->group[g].rows) {
                f->row[i].folds = 1U << nth[g]++ % FOLDS;
                break;
            }
        }
    }
}

static int usage(void)
{
    fputs("usage: roofline-calibrate FILE.csv --hardware ID -o FILE.json [--from ID,...]\n"
          "       [--lend FILE.json]... [--attribution TEXT]... [--evaluations N]\n"
          "\n"
          "Fits the parameters of the expected time to measured rows (the columns of roofline\n"
          "compare, with stack); use the result with roofline ... --calibration FILE.json.\n"
          "--from fits the rows of these devices, together, instead of the device's own.\n"
          "--lend takes kernels that have no rows from the calibration of another device.\n"
          "--attribution is kept in the result: a line without \" and \\.\n"
          "--evaluations bounds each of the three rounds of a search (default 1200).\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *input = NULL;
    const char *hardware = NULL;
    const char *output = NULL;
    const char *attribution[16];
    int attributions = 0;
    const char *lent[LENDERS_MAX];
    int lenders = 0;
    int evaluations = 1200;
    struct fitter f = {.rows = 0};
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if ((strcmp(argv[i], "--hardware") == 0 || strcmp(argv[i], "-H") == 0) && more) {
            hardware = argv[++i];
        } else if (strcmp(argv[i], "-o") == 0 && more) {
            output = argv[++i];
        } else if (strcmp(argv[i], "--attribution") == 0 && more && attributions < 16) {
            attribution[attributions++] = argv[++i];
            if (strpbrk(argv[i], "\"\\\n") != NULL) {
                return usage(); /* it goes into JSON as it is */
            }
        } else if (strcmp(argv[i], "--from") == 0 && more) {
            f.pool = argv[++i];
        } else if (strcmp(argv[i], "--lend") == 0 && more && lenders < LENDERS_MAX) {
            lent[lenders++] = argv[++i];
        } else if (strcmp(argv[i], "--evaluations") == 0 && more) {
            evaluations = (int)strtol(argv[++i], NULL, 10);
        } else if (argv[i][0] != '-' && input == NULL) {
            input = argv[i];
        } else {
            return usage();
        }
    }
    if (input == NULL || hardware == NULL || output == NULL || evaluations < 1) {
        return usage();
    }
    struct roof_error error = {0};
    struct roof_comparison comparison = {.bad = 0};
    struct roof_scenario base;
    struct roof_text text = ROOF_TEXT_INIT;
    const struct roof_compare_calls calls = {
        .context = &f, .hardware = on_hardware, .model = on_model, .row = on_row, .bad = on_bad};
    roof_scenario_init(&base);
    f.name = hardware;
    enum roof_status status = roof_hardware_load(&f.hardware, hardware, NULL, &error);
    if (status == ROOF_OK) {
        status = load_measured(&f, &error);
    }
    if (status == ROOF_OK) {
        status = roof_compare(&comparison, input, &base, hardware, NULL, &calls, &error);
    }
    for (int i = 0; i < lenders && status == ROOF_OK; i++) {
        status = roof_calibration_load(&f.lender[i], f.hardware, lent[i], NULL, &error);
        f.lenders += status == ROOF_OK ? 1 : 0;
    }
    if (status == ROOF_OK && f.rows == 0) {
        status = roof_error_set(&error, ROOF_INVALID, "no rows of %s that can be fitted", hardware);
    }
    for (size_t i = 0; i < f.rows && status == ROOF_OK; i++) {
        const struct sizes *const sizes = &f.of[roof_kernel_of(&f.row[i].workload)];
        int64_t size[2];
        for (int k = sizes_of(size, &f.row[i].workload); k > 0; k--) {
            f.row[i].folds |= fold_of(sizes, size[k - 1]);
        }
    }
    deal_small_groups(&f);
    roof_text_printf(&text,
                     "{\n  \"schema\": \"roofline/calibration/1\",\n  \"hardware\": \"%s\",\n"
                     "  \"attributions\": [",
                     status == ROOF_OK ? f.hardware->id : "");
    for (int i = 0; i < attributions; i++) {
        roof_text_printf(&text, "%s\"%s\"", i == 0 ? "" : ", ", attribution[i]);
    }
    roof_text_put(&text, "],\n  \"fits\": [\n");
    for (int i = 0; i < 2 * f.groups * ROOF_KERNEL_COUNT && status == ROOF_OK; i++) {
        const int g = i % f.groups; /* kernels in their order, of each the 16-bit ones first */
        const int kernel = i / f.groups / 2;
        const bool wide = f.group[g].numerics == ROOF_NUMERICS_16BIT;
        if ((int)f.group[g].kernel != kernel || wide == (i / f.groups % 2 == 1)) {
            continue;
        }
        if (f.group[g].rows < LEAST) {
            fprintf(stderr, "roofline-calibrate: %s %s %s: %zu rows are too few, left out\n",
                    roof_kernel_name(f.group[g].kernel), roof_stack_name(f.group[g].stack),
                    roof_numerics_name(f.group[g].numerics), f.group[g].rows);
            continue;
        }
        status = fit_group(&f, g, evaluations)
                     ? ROOF_OK
                     : roof_error_set(&error, ROOF_MEMORY, "out of memory");
    }
    if (status == ROOF_OK) {
        borrow(&f);
    }
    for (int i = 0; i < f.dones; i++) {
        roof_text_put(&text, i == 0 ? "" : ",\n");
        put_fit(&text, &f.done[i]);
    }
    roof_text_put(&text, "\n  ]\n}\n");
    if (status == ROOF_OK && text.failed) {
        status = roof_error_set(&error, ROOF_MEMORY, "out of memory");
    }
    if (status == ROOF_OK) {
        FILE *const file = fopen(output, "w");
        const bool written = file != NULL &&
                             fwrite(text.data, 1, text.length, file) == text.length &&
                             fclose(file) == 0;
        status = written ? ROOF_OK : roof_error_at(&error, ROOF_IO, output, 0, 0, "cannot write");
    }
    if (status != ROOF_OK) {
        char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
        fprintf(stderr, "roofline-calibrate: %s\n",
                roof_error_line(message, sizeof message, &error));
    }
    roof_text_free(&text);
    roof_comparison_free(&comparison);
    for (int i = 0; i < f.lenders; i++) {
        roof_calibration_free(f.lender[i]);
    }
    for (int i = 0; i < f.devices; i++) {
        if (f.measured[i] != f.hardware) {
            roof_hardware_free(f.measured[i]);
        }
    }
    roof_hardware_free(f.hardware);
    free(f.row);
    return status == ROOF_USAGE     ? 2
           : status == ROOF_INVALID ? 3
           : status != ROOF_OK      ? 4
           : f.failed               ? 3
                                    : 0;
}
