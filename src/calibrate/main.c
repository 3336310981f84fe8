// SPDX-License-Identifier: MIT
/*
 * roofline-calibrate: fits the parameters of the expected-time model to measured rows.
 *
 * Rows are those of roofline compare. Each combination of stack, formats and quantisation in them
 * gets parameters of its own, found by a subplex search (NLopt) that minimises the mean relative
 * error. Errors and bands are of rows that a fit did not see: sizes are dealt into folds, and a
 * fold's fit leaves out every row that has one of its sizes.
 */
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

/* A measured row. */
struct row {
    struct roof_workload workload; /* resolved */
    double measured_s;
    double flops;
    double peak;
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
    struct roof_hardware *hardware;
    struct row *row;
    size_t rows;
    size_t capacity;
    struct group group[GROUPS_MAX];
    int groups;
    struct roof_kernel_fit done[GROUPS_MAX];
    int dones;
    struct sizes {
        int64_t size[SIZES_MAX]; /* that occur, sorted */
        int count;
    } of[ROOF_KERNEL_COUNT];
    const char *only; /* the device's id */
    bool failed;
};

/* One search. */
struct search {
    const struct fitter *fitter;
    struct roof_hardware hardware; /* a copy with the calibration under trial */
    struct roof_calibration calibration;
    struct roof_kernel_fit known[2]; /* under trial, and what it builds on */
    const struct roof_parameter *parameter;
    size_t count;
    int group;
    int fold; /* left out; -1: none */
    double start[ROOF_FIT_PARAMETERS_MAX];
};

/* --- rows ---------------------------------------------------------------------------------- */

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    struct fitter *const f = context;
    if (strcmp(name, f->only) != 0) {
        return roof_error_set(error, ROOF_UNSATISFIED, "another device");
    }
    *out = f->hardware;
    return ROOF_OK;
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 struct roof_error *error)
{
    (void)context;
    (void)out;
    return roof_error_set(error, ROOF_USAGE, "models are not fitted: %s", name);
}

static void on_bad(void *context, const struct roof_error *error)
{
    char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    ((struct fitter *)context)->failed = true;
    fprintf(stderr, "roofline-calibrate: %s\n", roof_error_line(message, sizeof message, error));
}

/* The sizes by which a kernel's rows are dealt: a fold leaves out whole ones. */
static int sizes_of(int64_t out[2], const struct roof_workload *w)
{
    const bool gemm = roof_kernel_of(w) == ROOF_KERNEL_GEMM;
    out[0] = gemm ? w->shape.n : w->shape.heads;
    out[1] = w->shape.k;
    return gemm ? 2 : 1;
}

static void add_size(struct sizes *s, int64_t size)
{
    int at = 0;
    while (at < s->count && s->size[at] < size) {
        at++;
    }
    if (s->count == SIZES_MAX || (at < s->count && s->size[at] == size)) {
        return;
    }
    memmove(&s->size[at + 1], &s->size[at], (size_t)(s->count - at) * sizeof s->size[0]);
    s->size[at] = size;
    s->count++;
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
    if (g.kernel == ROOF_KERNEL_COUNT || g.stack == ROOF_STACK_BEST ||
        g.numerics == ROOF_NUMERICS_COUNT || isnan(p->peak_flops_per_s)) {
        return ROOF_OK;
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
            return roof_error_set(error, ROOF_MEMORY, "out of memory");
        }
        f->row = grown;
        f->capacity = capacity;
    }
    f->group[at].rows++;
    f->row[f->rows++] = (struct row){.workload = *w,
                                     .measured_s = compared->measured_s,
                                     .flops = p->flops,
                                     .peak = p->peak_flops_per_s,
                                     .ideal_s = p->time_s,
                                     .group = at};
    int64_t size[2];
    for (int i = sizes_of(size, w); i > 0; i--) {
        add_size(&f->of[g.kernel], size[i - 1]);
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
    roof_kernel_expect(&expected, &row->workload, &s->hardware, row->flops, row->peak,
                       row->ideal_s);
    return expected.time_s;
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
        if (row->group != s->group || (s->fold >= 0 && (row->folds >> s->fold & 1) != 0)) {
            continue;
        }
        const double ratio = predict(s, row) / row->measured_s;
        const double error = fabs(ratio - 1);
        sum += ratio < 1 ? 0.5 * error + 0.5 * (1 / ratio - 1) : error;
        rows++;
    }
    return sum / rows + RIDGE * distance;
}

static void run_search(struct search *s, double *z, int evaluations)
{
    double low[ROOF_FIT_PARAMETERS_MAX] = {0};
    double high[ROOF_FIT_PARAMETERS_MAX] = {0};
    static const double steps[] = {0.3, 0.2, 0.1};
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_parameter *const p = &s->parameter[i];
        low[i] = to_scale(p, p->min);
        high[i] = to_scale(p, share(p) ? 0.995 : p->max);
        if (p->min == p->max) { /* common to all: the search must not move it */
            low[i] = high[i] = z[i] = to_scale(p, p->min);
        }
    }
    for (size_t round = 0; round < sizeof steps / sizeof *steps; round++) {
        double step[ROOF_FIT_PARAMETERS_MAX] = {0};
        double value = 0;
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

static void open_search(struct search *s, const struct fitter *f, int group)
{
    *s = (struct search){.fitter = f, .group = group, .fold = -1, .hardware = *f->hardware};
    const struct group *const g = &f->group[group];
    s->parameter = roof_kernel_parameters(g->kernel, &s->count);
    s->known[0] = (struct roof_kernel_fit){.kernel = g->kernel,
                                           .stack = g->stack,
                                           .numerics = g->numerics,
                                           .quantize = g->quantize,
                                           .low = 1,
                                           .high = 1};
    for (size_t i = 0; i < s->count; i++) {
        s->start[i] = to_scale(&s->parameter[i], s->parameter[i].start);
    }
    s->known[1] = decode_of(f, g);
    s->calibration = (struct roof_calibration){.fit = s->known, .count = 2};
    s->hardware.calibration = &s->calibration;
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

static bool fit_group(struct roof_text *out, struct fitter *f, int group, int evaluations)
{
    const struct group *const g = &f->group[group];
    struct search s;
    double z[ROOF_FIT_PARAMETERS_MAX] = {0};
    double error = 0;
    double weight = 0;
    size_t count = 0;
    double *const residual = malloc((size_t)FOLDS * f->rows * sizeof *residual);
    if (residual == NULL) {
        return false;
    }
    open_search(&s, f, group);
    memcpy(z, s.start, sizeof z);
    run_search(&s, z, evaluations);
    const struct roof_kernel_fit all = s.known[0];
    f->done[f->dones++] = all;
    for (s.fold = 0; s.fold < FOLDS; s.fold++) {
        double there[ROOF_FIT_PARAMETERS_MAX] = {0};
        memcpy(there, s.start, sizeof there); /* not from the fit that saw everything */
        run_search(&s, there, evaluations);
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
    static const char *const stacks[ROOF_STACK_COUNT] = {"best", "trtllm", "vllm", "sglang"};
    static const char *const quantize[ROOF_QUANTIZE_COUNT] = {"none", "static", "dynamic", "block"};
    roof_text_printf(out,
                     "    {\"kernel\": \"%s\", \"stack\": \"%s\", \"numerics\": \"%s\", "
                     "\"quantize_input\": \"%s\", \"rows\": %zu,\n     \"mape\": ",
                     roof_kernel_name(g->kernel), stacks[g->stack], roof_numerics_name(g->numerics),
                     quantize[g->quantize], g->rows);
    put_rounded(out, error / weight);
    roof_text_put(out, ", \"low\": ");
    put_rounded(out, clamp(residual[count / 10], 1e-3, 1));
    roof_text_put(out, ", \"high\": ");
    put_rounded(out, clamp(residual[count - 1 - count / 10], 1, 1e3));
    roof_text_put(out, ",\n     \"parameters\": {");
    for (size_t i = 0; i < s.count; i++) {
        roof_text_printf(out, "%s\"%s\": ", i == 0 ? "" : ", ", s.parameter[i].key);
        put_rounded(out, all.parameter[i]);
    }
    roof_text_put(out, "}}");
    fprintf(stderr, "%s %s %s %s %s: %zu rows, unseen sizes %.2f%%\n", f->only,
            roof_kernel_name(g->kernel), stacks[g->stack], roof_numerics_name(g->numerics),
            quantize[g->quantize], g->rows, 100 * error / weight);
    free(residual);
    return true;
}

static int usage(void)
{
    fputs("usage: roofline-calibrate FILE.csv --hardware ID -o FILE.json [--attribution TEXT]...\n"
          "       [--evaluations N]\n"
          "\n"
          "Fits the parameters of the expected time to measured rows (the columns of roofline\n"
          "compare, with stack); use the result with roofline ... --calibration FILE.json.\n"
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
    int evaluations = 1200;
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if ((strcmp(argv[i], "--hardware") == 0 || strcmp(argv[i], "-H") == 0) && more) {
            hardware = argv[++i];
        } else if (strcmp(argv[i], "-o") == 0 && more) {
            output = argv[++i];
        } else if (strcmp(argv[i], "--attribution") == 0 && more && attributions < 16) {
            attribution[attributions++] = argv[++i];
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
    struct fitter f = {.only = hardware};
    const struct roof_compare_calls calls = {
        .context = &f, .hardware = on_hardware, .model = on_model, .row = on_row, .bad = on_bad};
    roof_scenario_init(&base);
    enum roof_status status = roof_hardware_load(&f.hardware, hardware, NULL, &error);
    if (status == ROOF_OK) {
        status = roof_compare(&comparison, input, &base, hardware, NULL, &calls, &error);
    }
    if (status == ROOF_OK && f.rows == 0) {
        status = roof_error_set(&error, ROOF_INVALID, "no rows of %s with a stack", hardware);
    }
    for (size_t i = 0; i < f.rows && status == ROOF_OK; i++) {
        const struct sizes *const sizes = &f.of[roof_kernel_of(&f.row[i].workload)];
        int64_t size[2];
        for (int k = sizes_of(size, &f.row[i].workload); k > 0; k--) {
            f.row[i].folds |= fold_of(sizes, size[k - 1]);
        }
    }
    roof_text_printf(&text,
                     "{\n  \"schema\": \"roofline/calibration/1\",\n  \"hardware\": \"%s\",\n"
                     "  \"attributions\": [",
                     hardware);
    for (int i = 0; i < attributions; i++) {
        roof_text_printf(&text, "%s\"%s\"", i == 0 ? "" : ", ", attribution[i]);
    }
    roof_text_put(&text, "],\n  \"fits\": [\n");
    for (int i = 0; i < f.groups * ROOF_KERNEL_COUNT && status == ROOF_OK; i++) {
        const int g = i % f.groups; /* kernels in their order */
        if ((int)f.group[g].kernel != i / f.groups) {
            continue;
        }
        roof_text_put(&text, f.dones == 0 ? "" : ",\n");
        status = fit_group(&text, &f, g, evaluations)
                     ? ROOF_OK
                     : roof_error_set(&error, ROOF_MEMORY, "out of memory");
    }
    roof_text_put(&text, "\n  ]\n}\n");
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
    roof_hardware_free(f.hardware);
    free(f.row);
    return status == ROOF_USAGE     ? 2
           : status == ROOF_INVALID ? 3
           : status != ROOF_OK      ? 4
           : f.failed               ? 3
                                    : 0;
}
